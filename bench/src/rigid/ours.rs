//! Our engine, through a scene file.

use super::{
    engine::{Engine, Trouble},
    plan::{Moment, Plan, Solid},
};
use anyhow::{Context, Result};
use glam::DVec3;
use std::{collections::HashMap, fmt::Write};
use trocar_collide::rigid::Detector;
use trocar_math::{Pose, rotation};
use trocar_scene::{Input, Scene, Simulation, event::Happening};

/// How it solves.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    pub solver: &'static str,
    /// m.
    pub tolerance: f64,
    pub threads: usize,
}

/// Our engine with a plan in it.
pub struct Ours {
    simulation: Simulation,
    input: Input,
    /// Of each thing: its look, or nothing if it never moves.
    looks: Vec<Option<usize>>,
    start: Vec<Moment>,
    trouble: Trouble,
}

impl Ours {
    pub fn new(plan: &Plan, setting: Setting) -> Result<Self> {
        Self::of(plan, &text(plan, setting)?, setting.threads)
    }

    /// The same with stacks carried from below after so many sweeps (B92).
    pub fn carried(plan: &Plan, setting: Setting, sweeps: u32) -> Result<Self> {
        let world = format!("[world]\nshock = {sweeps}");
        let text = text(plan, setting)?.replacen("[world]", &world, 1);
        Self::of(plan, &text, setting.threads)
    }

    /// The same with another detector (B76).
    pub fn detected(
        plan: &Plan,
        setting: Setting,
        detector: &'static dyn Detector,
    ) -> Result<Self> {
        let mut ours = Self::new(plan, setting)?;
        ours.simulation.set_detector(detector);
        Ok(ours)
    }

    fn of(plan: &Plan, text: &str, threads: usize) -> Result<Self> {
        let scene = Scene::from_text("bench.toml", text)?;
        let simulation = Simulation::new(&scene, threads)?;
        let looks = simulation.model().looks.iter().enumerate();
        let places: HashMap<&str, usize> = looks.map(|(k, l)| (l.name.as_str(), k)).collect();
        let find = |i: usize| places.get(name(i).as_str()).copied();
        let looks = plan
            .things
            .iter()
            .enumerate()
            .map(|(i, t)| match t.mass {
                Some(_) => find(i).map(Some).context("a body is missing"),
                None => Ok(None),
            })
            .collect::<Result<_>>()?;
        Ok(Self {
            input: simulation.idle_input(),
            simulation,
            looks,
            start: plan.start(),
            trouble: Trouble::default(),
        })
    }
}

impl Engine for Ours {
    fn step(&mut self) {
        let report = self.simulation.step(&self.input);
        self.trouble.halvings += report.halvings;
        self.trouble.redundant = self.trouble.redundant.max(report.aim.redundant);
        let bad = |h: &Happening| matches!(h, Happening::Quarantined { .. });
        self.trouble.quarantines += report.events.iter().filter(|e| bad(&e.what)).count() as u32;
    }

    fn look(&self, moments: &mut Vec<Moment>) {
        moments.clone_from(&self.start);
        for (moment, look) in moments.iter_mut().zip(&self.looks) {
            let Some(look) = look else { continue };
            let look = &self.simulation.model().looks[*look];
            let (matter, node) = look.at;
            let nodes = &self.simulation.state().nodes[matter.index()];
            let i = node as usize;
            let turn = nodes.orientation[i] * look.frame.rotation.conjugate();
            moment.pose = Pose::new(nodes.position[i] - turn * look.frame.position, turn);
            moment.velocity = nodes.velocity[i];
            moment.spin = nodes.spin[i];
        }
    }

    fn contacts(&self) -> usize {
        self.simulation.report().contacts
    }

    fn trouble(&self) -> Trouble {
        self.trouble
    }
}

fn name(thing: usize) -> String {
    format!("thing {thing}")
}

/// The scene file.
pub fn text(plan: &Plan, setting: Setting) -> Result<String> {
    let list = |v: DVec3| format!("[{:?}, {:?}, {:?}]", v.x, v.y, v.z);
    let mut text = format!(
        "trocar = 1\n[world]\nstep = {:?}\nreach = 10000.0\nsolver = \"{}\"\ntolerance = {:?}\niterations = 10000\nsleep = {}\n",
        plan.step, setting.solver, setting.tolerance, plan.sleep
    );
    for (i, thing) in plan.things.iter().enumerate() {
        let form = match thing.solid {
            Solid::Box(half) => format!("{{ box = {} }}", list(half)),
            Solid::Ball(radius) => format!("{{ ball = {radius:?} }}"),
        };
        let motion = match thing.mass {
            Some(mass) => format!("mass = {mass:?}"),
            None => "motion = \"static\"".into(),
        };
        writeln!(
            text,
            "[[body]]\nname = \"{}\"\nform = {form}\n{motion}\nposition = {}\nrotation = {}\nvelocity = {}\nspin = {}\n\
             friction = [{:?}, {:?}]\ncollide = {}",
            name(i),
            list(thing.pose.position),
            list(rotation::to_scaled_axis(thing.pose.rotation)),
            list(thing.velocity),
            list(thing.spin),
            plan.friction,
            plan.friction,
            plan.collide,
        )?;
    }
    for joint in &plan.joints {
        let on = |thing: usize, at: DVec3| {
            format!("{{ body = \"{}\", at = {} }}", name(thing), list(at))
        };
        let a = match joint.a {
            Some(a) => on(a, joint.at_a),
            None => format!("{{ world = {} }}", list(joint.at_a)),
        };
        writeln!(
            text,
            "[[joint]]\nkind = \"ball\"\na = {a}\nb = {}",
            on(joint.b, joint.at_b)
        )?;
    }
    Ok(text)
}

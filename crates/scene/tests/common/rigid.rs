//! Scenes of rigid bodies as text, and what tests ask of them.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use super::simulation;
use glam::{DQuat, DVec3};
use std::fmt::Write;
use trocar_dynamics::{Anchor, Local, MatterId, joint::Kind};
use trocar_math::{angle, real};
use trocar_scene::{Input, Scene, Simulation, StepReport};

/// A scene's text: first what the world says.
pub fn world(says: &str) -> String {
    format!("trocar = 1\n[world]\n{says}\n")
}

/// A body called `name` at a place; the rest as it says.
pub fn body(text: &mut String, name: &str, position: DVec3, says: &str) {
    let DVec3 { x, y, z } = position;
    writeln!(
        text,
        "[[body]]\nname = \"{name}\"\nposition = [{x:?}, {y:?}, {z:?}]\n{says}"
    )
    .unwrap();
}

/// A joint as it says.
pub fn joint(text: &mut String, says: &str) {
    writeln!(text, "[[joint]]\n{says}").unwrap();
}

/// A vector as a scene file writes it.
pub fn vector(v: DVec3) -> String {
    format!("[{:?}, {:?}, {:?}]", v.x, v.y, v.z)
}

/// A simulation of rigid bodies.
pub struct Rig {
    pub simulation: Simulation,
    pub input: Input,
}

impl Rig {
    pub fn new(text: &str) -> Self {
        Self::with_threads(text, 1)
    }

    pub fn with_threads(text: &str, threads: usize) -> Self {
        let scene = Scene::from_text("test.toml", text).unwrap_or_else(|e| panic!("{e}"));
        Self::of(&scene, threads)
    }

    pub fn of(scene: &Scene, threads: usize) -> Self {
        let simulation = simulation(scene, threads);
        let input = simulation.idle_input();
        Self { simulation, input }
    }

    /// One step; nothing may go bad.
    pub fn step(&mut self) -> StepReport {
        let report = self.simulation.step(&self.input).clone();
        assert!(
            report.events.is_empty(),
            "at {} s: {:?}",
            self.time(),
            report.events
        );
        report
    }

    /// Some seconds, and what is to be looked at after every step.
    pub fn watch(&mut self, seconds: f64, mut look: impl FnMut(&Self, &StepReport)) {
        for _ in 0..(seconds / self.input.dt).round() as usize {
            let report = self.step();
            look(self, &report);
        }
    }

    /// Some seconds.
    pub fn run(&mut self, seconds: f64) {
        self.watch(seconds, |_, _| {});
    }

    pub fn time(&self) -> f64 {
        self.simulation.state().time
    }

    /// Matter and node of a body or particle.
    pub fn at(&self, name: &str) -> (MatterId, usize) {
        let model = self.simulation.model();
        if let Some(look) = model.looks.iter().find(|l| l.name == name) {
            return (look.at.0, look.at.1 as usize);
        }
        let bodies = model.bodies.unwrap();
        let k = model.particles.iter().position(|p| p == name);
        let k = k.unwrap_or_else(|| panic!("there is no {name}"));
        (bodies, model.start[bodies.index()].frames() + k)
    }

    /// Where its centre of mass is.
    pub fn position(&self, name: &str) -> DVec3 {
        let (m, i) = self.at(name);
        self.simulation.state().nodes[m.index()].position[i]
    }

    pub fn velocity(&self, name: &str) -> DVec3 {
        let (m, i) = self.at(name);
        self.simulation.state().nodes[m.index()].velocity[i]
    }

    pub fn orientation(&self, name: &str) -> DQuat {
        let (m, i) = self.at(name);
        self.simulation.state().nodes[m.index()].orientation[i]
    }

    pub fn spin(&self, name: &str) -> DVec3 {
        let (m, i) = self.at(name);
        self.simulation.state().nodes[m.index()].spin[i]
    }

    /// Where a point of a body's own frame is.
    pub fn point(&self, name: &str, at: DVec3) -> DVec3 {
        self.position(name) + self.orientation(name) * at
    }

    pub fn energy(&self) -> f64 {
        self.simulation.energy().total()
    }

    /// Momentum, and angular momentum about the origin, of all that is not prescribed.
    pub fn momentum(&self) -> (DVec3, DVec3) {
        let model = self.simulation.model();
        let (mut linear, mut angular) = (DVec3::ZERO, DVec3::ZERO);
        for (m, nodes) in self.simulation.state().nodes.iter().enumerate() {
            if model.matters[m].is_prescribed() {
                continue;
            }
            let masses = model.matters[m].masses();
            for (i, mass) in masses.mass().iter().enumerate() {
                let p = masses.node_velocity(nodes, i) * *mass;
                linear += p;
                angular += nodes.position[i].cross(p);
                if let Some(q) = nodes.orientation.get(i) {
                    let inertia = masses.rigid()[i].inertia.unwrap_or_default();
                    angular += *q * (inertia * (q.conjugate() * nodes.spin[i]));
                }
            }
        }
        (linear, angular)
    }
}

impl Rig {
    /// How far the worst base joint that is about points is off, m: seen in poses, not in what the solver says. Guides have tests of their own.
    pub fn gap(&self) -> f64 {
        self.off()[0]
    }

    /// How far the worst base joint that is about turning is off, rad, likewise.
    pub fn tilt(&self) -> f64 {
        self.off()[1]
    }

    fn off(&self) -> [f64; 2] {
        let simulation = &self.simulation;
        let turn = |anchor: &Anchor| match anchor.at {
            Local::Frame(node, _) => {
                simulation.state().nodes[anchor.matter.index()].orientation[node as usize]
            }
            _ => DQuat::IDENTITY,
        };
        let place = |anchor: &Anchor| match anchor.at {
            Local::Frame(node, offset) => {
                let nodes = &simulation.state().nodes[anchor.matter.index()];
                let i = node as usize;
                nodes.position[i] + nodes.orientation[i] * offset
            }
            Local::Node(node) => {
                simulation.state().nodes[anchor.matter.index()].position[node as usize]
            }
            _ => panic!("{anchor:?} is on a tissue"),
        };
        let mut worst = [0.0_f64; 2];
        for base in simulation.model().joints.iter().flat_map(|j| &j.bases) {
            let between = || place(&base.b) - place(&base.a);
            let (a, b) = (turn(&base.a), turn(&base.b));
            let off = match &base.kind {
                Kind::Point => between().length(),
                Kind::Line(axis) => between().reject_from_normalized(a * *axis).length(),
                Kind::Plane(normal) => between().dot(a * *normal).abs(),
                Kind::Distance(length) => (between().length() - length).abs(),
                Kind::Orientation(held) => {
                    let turned = b * (a * *held).conjugate();
                    2.0 * real::atan2(turned.xyz().length(), turned.w.abs())
                }
                Kind::Axis(x, y) => angle(a * *x, b * *y),
                Kind::Angle(x, y, held) => (angle(a * *x, b * *y) - held).abs(),
                Kind::Curve(..) | Kind::Sheet(..) | Kind::Velocity | Kind::Spin => 0.0,
            };
            let which = &mut worst[usize::from(base.kind.is_rotational())];
            *which = which.max(off);
        }
        worst
    }

    /// Where a point is that the scene file speaks of.
    pub fn point_of_file(&self, name: &str, at: DVec3) -> DVec3 {
        let model = self.simulation.model();
        let look = model.looks.iter().find(|l| l.name == name).unwrap();
        self.point(name, look.frame.local(at))
    }
}

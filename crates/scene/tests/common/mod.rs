//! What several promises need: scenes, hands, and a look at every number.

// Every test file is a program of its own and uses only some of this.
#![allow(dead_code)]

pub mod rigid;

use glam::DVec3;
use std::path::PathBuf;
use trocar_scene::{Input, Scene, Simulation, event::Happening};
use trocar_tools::Handle;

/// The folder of the scenes that all share.
pub fn scenes() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes"))
}

pub fn gallbladder() -> Scene {
    Scene::load(scenes().join("gallbladder.toml")).unwrap_or_else(|e| panic!("{e}"))
}

pub fn simulation(scene: &Scene, threads: usize) -> Simulation {
    Simulation::new(scene, threads).unwrap_or_else(|e| panic!("{e}"))
}

/// A simulation of a scene given as text.
pub fn built(text: &str) -> Simulation {
    let scene = Scene::from_text("test.toml", text).unwrap_or_else(|e| panic!("{e}"));
    simulation(&scene, 1)
}

/// The handle that puts the tip of `tool` at a point.
pub fn handle_to(simulation: &Simulation, tool: usize, point: DVec3, jaw: f64) -> Handle {
    let grasper = &simulation.model().tools[tool].grasper;
    let local = grasper.trocar.local(point);
    Handle {
        yaw: trocar_math::real::atan2(local.x, local.z),
        pitch: trocar_math::real::atan2(local.y, trocar_math::real::hypot(local.x, local.z)),
        depth: local.length() - grasper.jaw_length,
        roll: 0.0,
        jaw,
    }
}

/// Holds the tip of tool 0 at `point` for some seconds; returns what happened.
pub fn go(simulation: &mut Simulation, point: DVec3, jaw: f64, seconds: f64) -> Vec<Happening> {
    let mut input = simulation.idle_input();
    input.handles[0] = handle_to(simulation, 0, point, jaw);
    let mut events = Vec::new();
    for _ in 0..(seconds / input.dt).round() as usize {
        simulation.step(&input);
        events.extend(simulation.report().events.iter().map(|e| e.what.clone()));
    }
    events
}

/// Where the gall bladder is pushed and gripped.
pub const FUNDUS: DVec3 = DVec3::new(-0.032, -0.016, 0.016);

/// Inputs of an operation on the gall bladder, a step each: approach, push, grasp, lift, release, retreat.
pub fn operation(simulation: &Simulation) -> Vec<Input> {
    let lifted = DVec3::new(-0.036, -0.012, 0.034);
    let course = [
        (DVec3::new(-0.035, 0.02, 0.06), 1.0, 0.3),
        (FUNDUS, 1.0, 0.5),
        (FUNDUS, 0.0, 0.3),
        (lifted, 0.0, 0.5),
        (lifted, 1.0, 0.2),
        (DVec3::new(-0.05, 0.08, 0.1), 1.0, 0.4),
    ];
    let mut input = simulation.idle_input();
    let mut inputs = Vec::new();
    for (point, jaw, seconds) in course {
        let from = input.handles[0].to_array();
        let to = handle_to(simulation, 0, point, jaw).to_array();
        let steps = (seconds / input.dt).round() as usize;
        for k in 1..=steps {
            // A hand moves evenly for most of the time and then waits.
            let fraction = (k as f64 / (0.8 * steps as f64)).min(1.0);
            let [yaw, pitch, depth, roll, jaw] =
                std::array::from_fn(|i| from[i] + (to[i] - from[i]) * fraction);
            input.handles[0] = Handle {
                yaw,
                pitch,
                depth,
                roll,
                jaw,
            };
            inputs.push(input.clone());
        }
    }
    inputs
}

/// A scene of nine groups and more than 4000 nodes, so that threads share the work: five sheets, one with a body and a
/// particle tied to it, an organ, a duct, and three graspers.
pub fn theatre() -> Scene {
    let mut text = String::from("trocar = 1\nname = \"Theatre\"\n[world]\nstep = 0.002\n");
    for k in 0..5 {
        let (x, y) = (f64::from(k) * 0.15 - 0.3, -0.01 * f64::from(k));
        // Every other one is held at an edge; the rest lie on their shape memory.
        let fixed = if k % 2 == 0 { "[{ ring = 0 }]" } else { "[]" };
        text += &format!(
            "[[sheet]]\nname = \"sheet {k}\"\norigin = [{x}, {y}, -0.05]\nu = [0, 0, 0.1]\nv = [0.1, 0, 0]\n\
             rows = 30\ncolumns = 30\nfixed = {fixed}\n\
             material = {{ mass = 0.0002, damping = 0.02, stiffness = 30, memory = {} }}\n",
            4.0 + f64::from(k)
        );
    }
    text += "[[organ]]\nname = \"organ\"\npath = [[-0.3, -0.2, 0], [-0.2, -0.2, 0]]\nradii = [[0.02, 0.02]]\n\
             rings = 12\naround = 12\nfixed = [{ ring = 0 }]\n\
             material = { mass = 0.0005, damping = 0.1, stiffness = 60, memory = 10 }\n\
             [[pipe]]\nname = \"duct\"\npath = [[0.2, -0.2, 0], [0.3, -0.2, 0]]\nradii = [[0.01, 0.01]]\n\
             rings = 10\naround = 10\nfixed = [{ ring = 0 }, { ring = 9 }]\n\
             material = { mass = 0.0005, damping = 0.1, stiffness = 60, memory = 10, centre_stiffness = 50, brace = 0.01 }\n\
             [[body]]\nname = \"box\"\ncollide = false\nmass = 0.02\nhalf_extents = [0.01, 0.01, 0.01]\nposition = [-0.2, -0.01, 0.05]\n\
             [[particle]]\nname = \"bead\"\nmass = 0.005\nposition = [-0.2, -0.05, 0.05]\n\
             [[tie]]\na = { tissue = \"sheet 0\", node = 899 }\nb = { body = \"box\", at = [0, 0.01, 0] }\n\
             [[tie]]\na = { body = \"box\", at = [0, -0.01, 0] }\nb = { particle = \"bead\" }\nlength = 0.03\n";
    for (k, x) in [(0, -0.25), (1, -0.1), (2, 0.05)] {
        text += &format!(
            "[[instrument]]\nname = \"grasper {k}\"\ntrocar = [{x}, 0.15, 0.05]\ntarget = [{x}, 0.0, 0.0]\ndepth = 0.12\n"
        );
    }
    Scene::from_text("theatre.toml", &text).unwrap_or_else(|e| panic!("{e}"))
}

/// An input for the theatre in which every hand swings, dips and snaps.
pub fn busy(simulation: &Simulation, step: usize) -> Input {
    let mut input = simulation.idle_input();
    let t = step as f64 * input.dt;
    for (k, handle) in input.handles.iter_mut().enumerate() {
        let (s, c) = trocar_math::real::sin_cos(t * (6.0 + k as f64));
        handle.yaw = 0.15 * s;
        handle.pitch = 0.1 * c - 0.05;
        handle.depth = 0.14 - 0.02 * c;
        handle.roll = 0.3 * s;
        handle.jaw = 0.5 + 0.5 * c;
    }
    input
}

/// True if every number of the state is finite and within `reach` (m) of the origin.
pub fn is_sound(simulation: &Simulation, reach: f64) -> bool {
    let forces = (0..simulation.model().tools.len()).all(|t| {
        simulation.force(t).is_finite()
            && simulation
                .handle(t)
                .to_array()
                .iter()
                .all(|x| x.is_finite())
    });
    simulation.state().time.is_finite()
        && forces
        && simulation.state().nodes.iter().all(|n| {
            n.position
                .iter()
                .all(|p| p.is_finite() && p.abs().max_element() <= reach)
                && n.velocity.iter().all(|v| v.is_finite())
                && n.spin.iter().all(|v| v.is_finite())
                && n.orientation
                    .iter()
                    .all(|q| q.is_finite() && (q.length() - 1.0).abs() < 1e-6)
        })
}

/// Greatest distance of any node of matter `m` from where it started, m.
pub fn largest_displacement(simulation: &Simulation, m: usize) -> f64 {
    let (now, start) = (
        &simulation.state().nodes[m].position,
        &simulation.model().start[m].position,
    );
    now.iter()
        .zip(start)
        .map(|(a, b)| a.distance(*b))
        .fold(0.0, f64::max)
}

/// Random numbers that are the same in every run.
pub struct Dice(pub u64);

impl Dice {
    /// The next number (SplitMix64).
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

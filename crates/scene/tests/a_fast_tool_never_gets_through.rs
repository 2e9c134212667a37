//! However fast an instrument goes, a thin sheet in its way is pushed and never passed through (K96).

mod common;

use common::{built, handle_to, is_sound};
use glam::DVec3;
use trocar_collide::segment_triangle;
use trocar_scene::Simulation;
use trocar_tools::Handle;

/// How a tool is built: radii of shaft and jaws, m, and the length of the jaws, m.
const TOOLS: [(&str, [f64; 3]); 2] = [
    ("grasper", [2.5e-3, 1.5e-3, 0.02]),
    ("needle of 0.5 mm", [2.5e-4, 2.5e-4, 5e-3]),
];

/// Open jaws hold nothing, rad.
const OPEN: f64 = 0.7;

/// A sheet of 9 cm with cells of 3 mm, held at its rim, and a tool 3 cm above it.
fn scene(speed: f64, [shaft, jaw, length]: [f64; 3]) -> Simulation {
    built(&format!(
        "trocar = 1\n[world]\nstep = 0.002\ngravity = [0, 0, 0]\n\
         [[sheet]]\nname = \"sheet\"\norigin = [-0.045, 0, -0.045]\nu = [0, 0, 0.09]\nv = [0.09, 0, 0]\n\
         rows = 31\ncolumns = 31\n\
         fixed = [{{ within = {{ centre = [-0.545, 0, 0], radius = 0.502 }} }}, {{ within = {{ centre = [0.545, 0, 0], radius = 0.502 }} }}]\n\
         material = {{ mass = 0.0001, damping = 0.02, stiffness = 60, memory = 1 }}\n\
         [[instrument]]\nname = \"tool\"\ntrocar = [0, 0.15, 0]\ntarget = [0, 0, 0]\ndepth = {depth:?}\njaw = 0.7\n\
         speed = {speed:?}\nshaft_radius = {shaft:?}\njaw_radius = {jaw:?}\njaw_length = {length:?}\n\
         jaws = [0, 1]\n",
        depth = 0.12 - length,
    ))
}

/// How far the tool is through the sheet: the number of triangles that its axes pierce, and the least distance of an axis
/// from the sheet as a part of its radius.
fn through(simulation: &Simulation) -> (usize, f64) {
    let model = simulation.model();
    let tool = &model.tools[0];
    let capsules = tool
        .grasper
        .capsules(&tool.grasper.poses(&simulation.handle(0)));
    let tissue = &model.tissues[0];
    let positions = &simulation.state().nodes[tissue.matter.index()].position;
    let (mut pierced, mut nearest) = (0, f64::INFINITY);
    for t in &tissue.triangles {
        let corners = t.map(|n| positions[n as usize]);
        for capsule in &capsules {
            let pair = segment_triangle(capsule.a, capsule.b, corners);
            pierced += usize::from(pair.distance_squared == 0.0);
            nearest = nearest.min(pair.distance_squared.sqrt() / capsule.radius);
        }
    }
    (pierced, nearest)
}

/// Sends the hand to each place in turn, and looks at every step. A triangle that is drawn tight over the tool may slide onto
/// its axis; then it is off it again after `patience` steps.
fn drive(simulation: &mut Simulation, way: &[(Handle, u32)], patience: u32, what: &str) {
    let mut input = simulation.idle_input();
    let mut since = 0;
    for (leg, (handle, steps)) in way.iter().enumerate() {
        input.handles[0] = *handle;
        for step in 0..*steps {
            simulation.step(&input);
            let place = format!("{what}, leg {leg}, step {step}");
            assert!(is_sound(simulation, 0.6), "{place}");
            let (pierced, _) = through(simulation);
            since = if pierced == 0 { 0 } else { since + 1 };
            assert!(since <= patience, "{place}: {pierced} triangles");
        }
    }
}

#[test]
fn straight_down_at_any_speed() {
    for (name, sizes) in TOOLS {
        for speed in [1.0, 10.0, 100.0] {
            let mut simulation = scene(speed, sizes);
            // Between the nodes of a cell, 12 mm deep.
            let down = handle_to(&simulation, 0, DVec3::new(0.001, -0.012, 0.0013), OPEN);
            drive(
                &mut simulation,
                &[(down, 100)],
                0,
                &format!("{name}, {speed} m/s"),
            );
            let (_, nearest) = through(&simulation);
            assert!(
                nearest > 0.9,
                "{name}, {speed} m/s: {nearest} of its radius"
            );
            let deepest = |s: &Simulation| {
                let positions = &s.state().nodes[s.model().tissues[0].matter.index()].position;
                positions.iter().fold(0.0_f64, |low, p| low.min(p.y))
            };
            assert!(deepest(&simulation) < -0.010, "{name}, {speed} m/s");
        }
    }
}

/// Down, then to and fro under the sheet's own level as fast as it goes, up and down again, all while the sheet still swings.
#[test]
fn to_and_fro_at_any_speed() {
    for (name, sizes) in TOOLS {
        for speed in [1.0, 10.0, 100.0] {
            let mut simulation = scene(speed, sizes);
            let to = |x: f64, y: f64, z: f64| handle_to(&simulation, 0, DVec3::new(x, y, z), OPEN);
            let way = [
                (to(0.0, -0.008, 0.0), 20),
                (to(0.012, -0.008, 0.004), 10),
                (to(-0.012, -0.006, 0.004), 10),
                (to(0.0, 0.02, 0.0), 7),
                (to(0.007, -0.01, -0.009), 20),
                (to(-0.007, -0.01, 0.009), 80),
            ];
            // The grasper is thick enough for cells of 3 mm; the needle is not.
            let patience = if sizes[0] > 1e-3 { 0 } else { 1 };
            drive(
                &mut simulation,
                &way,
                patience,
                &format!("{name}, {speed} m/s"),
            );
        }
    }
}

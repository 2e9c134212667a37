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

/// The other way round: a free sheet is flung at a needle, at a thin plate and at a rod that stand still, and does not get past them.
#[test]
fn a_flung_sheet_is_caught_by_what_stands_still() {
    // In the way, 1 cm below the sheet; all of the sheet that is above it must stay there.
    let obstacles = [
        (
            "needle",
            "[[instrument]]\nname = \"tool\"\ntrocar = [-0.15, -0.01, 0]\ntarget = [0, -0.01, 0]\ndepth = 0.2\ndepths = [0.05, 0.3]\njaw = 0\n\
             shaft_radius = 0.00025\njaw_radius = 0.00025\njaw_length = 0.005\njaws = [0, 1]\n",
        ),
        (
            "plate",
            "[[body]]\nname = \"plate\"\nmotion = \"static\"\nposition = [0, -0.0105, 0]\nform = { box = [0.04, 0.0005, 0.04] }\n",
        ),
        (
            "rod",
            "[[body]]\nname = \"rod\"\nmotion = \"static\"\nposition = [0, -0.0105, 0]\nform = { box = [0.1, 0.0005, 0.0005] }\n",
        ),
    ];
    for (name, obstacle) in obstacles {
        // A needle catches faster ones, too; what lies flat on a plate of a millimetre stops in one substep or not at all.
        let fast = if name == "needle" { 30.0 } else { 10.0 };
        for speed in [0.5, 1.5, 3.0, fast] {
            for step in [0.002, 0.01] {
                let mut simulation = built(&format!(
                    "trocar = 1\n[world]\nstep = {step}\ngravity = [0, 0, 0]\n\
                     [[sheet]]\nname = \"sheet\"\norigin = [-0.015, 0, -0.015]\nu = [0, 0, 0.03]\nv = [0.03, 0, 0]\nrows = 11\ncolumns = 11\n\
                     material = {{ mass = 0.0001, damping = 0.002, stiffness = 60 }}\n{obstacle}"
                ));
                let matter = simulation.model().tissues[0].matter;
                simulation.tamper(matter, |nodes| nodes.velocity.fill(DVec3::Y * -speed));
                let input = simulation.idle_input();
                let steps = (0.03 / (speed * step)).max(4.0) as usize;
                for k in 0..steps {
                    simulation.step(&input);
                    assert!(is_sound(&simulation, 2.0), "{name}, {speed} m/s, step {k}");
                }
                let positions = &simulation.state().nodes[matter.index()].position;
                // Above a plate is all of it, above a needle or a rod what lies over its middle.
                let middle = positions
                    .iter()
                    .filter(|p| name == "plate" || p.z.abs() < 1e-9);
                let lowest = middle.map(|p| p.y).fold(f64::INFINITY, f64::min);
                assert!(
                    lowest > -0.0112,
                    "{name}, {speed} m/s in steps of {step} s: {lowest} m"
                );
            }
        }
    }
}

/// What rests when a step begins and is struck within it is looked for with the speed that it has then: a ball hits another, which was far from the sheet, and drives it at it.
#[test]
fn a_ball_that_is_struck_within_a_step_is_caught() {
    let ball = |name: &str, height: f64, speed: f64| {
        format!(
            "[[body]]\nname = \"{name}\"\nposition = [0.0005, {height:?}, 0.0003]\nvelocity = [0, {speed:?}, 0]\n\
             form = {{ ball = 0.003 }}\nmass = 0.0005\nrestitution = 1\nfriction = [0, 0]\n"
        )
    };
    for speed in [3.0, 5.0, 8.0] {
        for step in [0.005, 0.01] {
            let mut simulation = built(&format!(
                "trocar = 1\n[world]\nstep = {step}\ngravity = [0, 0, 0]\n\
                 [[sheet]]\nname = \"sheet\"\norigin = [-0.02, 0, -0.02]\nu = [0, 0, 0.04]\nv = [0.04, 0, 0]\nrows = 21\ncolumns = 21\n\
                 fixed = [{{ within = {{ centre = [-0.52, 0, 0], radius = 0.501 }} }}, {{ within = {{ centre = [0.52, 0, 0], radius = 0.501 }} }}]\n\
                 material = {{ mass = 0.0001, damping = 0.02, stiffness = 200 }}\n{}{}",
                ball("struck", 0.009, 0.0),
                ball("striker", 0.016, -speed),
            ));
            let bodies = simulation.model().bodies.unwrap().index();
            let tissue = simulation.model().tissues[0].clone();
            let input = simulation.idle_input();
            for k in 0..(0.02 / step) as usize {
                simulation.step(&input);
                assert!(is_sound(&simulation, 2.0), "{speed} m/s, step {k}");
            }
            let state = simulation.state();
            // Below the struck ball there is sheet, wherever both have gone.
            let nodes = &state.nodes[tissue.matter.index()].position;
            let at = state.nodes[bodies].position[0];
            let below = DVec3::new(at.x, at.y - 1.0, at.z);
            let above = DVec3::new(at.x, at.y + 1.0, at.z);
            let meets = |end: DVec3| {
                tissue.triangles.iter().any(|t| {
                    let corners = t.map(|n| nodes[n as usize]);
                    segment_triangle(at, end, corners).distance_squared == 0.0
                })
            };
            let what = format!("{speed} m/s in steps of {step} s: at {at}");
            assert!(meets(below) && !meets(above), "{what}");
        }
    }
}

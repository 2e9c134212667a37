//! A pull draws a point to its target with a bounded force (K149): it arrives, balances what resists it, and can't make a scene
//! unstable, whatever is asked of it.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::{built, is_sound};
use glam::DVec3;
use proptest::{prelude::*, test_runner::Config};
use std::sync::{Mutex, OnceLock, PoisonError};
use trocar_dynamics::{Anchor, Local, MatterId};
use trocar_scene::{Input, Pull, Simulation, event::Happening};

/// A sheet of nodes that only their shape memory holds.
const MEMORY: &str = r#"trocar = 1
[[sheet]]
name = "sheet"
origin = [0, 0, 0]
u = [0.02, 0, 0]
v = [0, 0, 0.02]
rows = 3
columns = 3
fixed = [{ nodes = [0] }]
material = { mass = 0.001, damping = 0.05, stiffness = 0, memory = 4, gravity = false }
"#;

/// A bit of everything that can be pulled on.
const ALL: &str = r#"trocar = 1
[[organ]]
name = "organ"
path = [[0, 0, 0], [0.05, 0, 0], [0.1, 0, 0]]
radii = [[0.02, 0.02]]
rings = 6
around = 8
fixed = [{ ring = 0 }]
material = { mass = 0.0005, damping = 0.1, stiffness = 60, memory = 10 }
[[pipe]]
name = "pipe"
path = [[0.1, 0, 0], [0.2, 0, 0]]
radii = [[0.01, 0.01]]
rings = 5
around = 8
material = { mass = 0.0002, damping = 0.05, stiffness = 30, memory = 5, centre_stiffness = 20, bending = 0.01, brace = 0.01 }
[[couple]]
master = { tissue = "organ", ring = 5 }
slave = { tissue = "pipe", ring = 0 }
[[sheet]]
name = "sheet"
origin = [-0.1, -0.1, 0]
u = [0.1, 0, 0]
v = [0, 0, 0.1]
rows = 5
columns = 5
fixed = [{ ring = 0 }, { ring = 4, axes = [1, 0, 1] }]
material = { mass = 0.001, damping = 0.1, stiffness = 20, memory = 5 }
[[body]]
name = "box"
mass = 0.02
half_extents = [0.01, 0.01, 0.01]
position = [0.2, -0.05, 0]
[[particle]]
name = "bead"
mass = 0.005
position = [0.2, -0.1, 0]
[[tie]]
a = { body = "box", at = [0, -0.01, 0] }
b = { particle = "bead" }
length = 0.04
[[tie]]
a = { body = "box", at = [0, 0.01, 0] }
b = { tissue = "pipe", at = [0.2, -0.01, 0] }
"#;

fn matter(simulation: &Simulation, name: &str) -> MatterId {
    let names = &simulation.model().names;
    MatterId(names.iter().position(|n| n == name).unwrap() as u32)
}

/// Pulls for some seconds.
fn pull(simulation: &mut Simulation, anchor: Anchor, target: DVec3, force: f64, seconds: f64) {
    let mut input = simulation.idle_input();
    input.pulls = vec![Pull {
        anchor,
        target,
        force,
    }];
    for _ in 0..(seconds / input.dt) as usize {
        simulation.step(&input);
    }
}

#[test]
fn against_a_spring_the_force_balances() {
    let mut simulation = built(MEMORY);
    let anchor = Anchor::node(matter(&simulation, "sheet"), 4);
    let rest = simulation.point(&anchor).unwrap();
    // Cut by its greatest force: x = F/k.
    pull(&mut simulation, anchor, rest + DVec3::Y * 0.5, 0.02, 3.0);
    let moved = simulation.point(&anchor).unwrap() - rest;
    assert!((moved - DVec3::Y * 0.02 / 4.0).length() < 1e-6, "{moved}");
    // Strong enough: it is where it was drawn to.
    let target = rest + DVec3::new(3e-3, 0.0, -2e-3);
    pull(&mut simulation, anchor, target, 1.0, 2.0);
    assert!(simulation.point(&anchor).unwrap().distance(target) < 1e-9);
    // Let go, it returns.
    let input = simulation.idle_input();
    for _ in 0..3000 {
        simulation.step(&input);
    }
    assert!(simulation.point(&anchor).unwrap().distance(rest) < 1e-6);
}

#[test]
fn a_point_inside_a_triangle_is_drawn_as_well() {
    let mut simulation = built(MEMORY);
    let tissue = simulation.model().tissues[0].clone();
    let anchor = Anchor {
        matter: tissue.matter,
        at: Local::Triangle(tissue.triangles[3], [0.2, 0.5, 0.3]),
    };
    let target = simulation.point(&anchor).unwrap() + DVec3::Y * 4e-3;
    pull(&mut simulation, anchor, target, 1.0, 2.0);
    assert!(simulation.point(&anchor).unwrap().distance(target) < 1e-9);
}

#[test]
fn bodies_are_carried_if_the_force_is_more_than_their_weight() {
    let text = "trocar = 1\n[[body]]\nname = \"box\"\nmass = 0.1\nhalf_extents = [0.01, 0.02, 0.03]\nposition = [0, 0, 0]\n\
                [[particle]]\nname = \"bead\"\nmass = 0.01\nposition = [0.3, 0, 0]\n";
    let mut simulation = built(text);
    let bodies = simulation.model().bodies.unwrap();
    let (box_, bead) = (
        Anchor::frame(bodies, 0, DVec3::ZERO),
        Anchor::node(bodies, 1),
    );
    let mut input = simulation.idle_input();
    let targets = [DVec3::new(0.05, 0.08, -0.02), DVec3::new(0.2, 0.1, 0.0)];
    input.pulls = vec![
        Pull {
            anchor: box_,
            target: targets[0],
            force: 3.0,
        },
        Pull {
            anchor: bead,
            target: targets[1],
            force: 3.0,
        },
    ];
    // It does not overshoot: the way to the target only grows shorter.
    let mut left = f64::INFINITY;
    for _ in 0..1000 {
        simulation.step(&input);
        let now = simulation.point(&box_).unwrap().distance(targets[0]);
        assert!(now < left + 1e-4, "{now} {left}");
        left = now;
    }
    for (anchor, target) in [(box_, targets[0]), (bead, targets[1])] {
        assert!(simulation.point(&anchor).unwrap().distance(target) < 1e-6);
    }
    // Half a newton does not hold a tenth of a kilogram.
    input.pulls[0].force = 0.5;
    for _ in 0..500 {
        simulation.step(&input);
    }
    assert!(simulation.point(&box_).unwrap().y < targets[0].y - 0.5);
}

#[test]
fn a_copy_is_pulled_by_its_leader_and_what_is_fixed_not_at_all() {
    let mut simulation = built(ALL);
    let hyper = simulation.model().hypers[0];
    let slave = Anchor::node(hyper.slave.0, hyper.slave.1);
    let master = Anchor::node(hyper.master.0, hyper.master.1);
    let target = simulation.point(&slave).unwrap() + DVec3::new(0.0, 0.01, 0.005);
    pull(&mut simulation, slave, target, 20.0, 0.5);
    assert!(simulation.point(&master).unwrap().distance(target) < 2e-3);
    assert_eq!(simulation.point(&slave), simulation.point(&master));

    let (mut pulled, mut left) = (built(ALL), built(ALL));
    let organ = matter(&pulled, "organ");
    let bad = [
        Anchor::node(organ, 1),
        Anchor::world(DVec3::ZERO),
        Anchor::node(organ, 100_000),
        Anchor::node(MatterId(77), 0),
        Anchor::frame(organ, 3, DVec3::ZERO),
        Anchor::frame(organ, 0, DVec3::splat(f64::NAN)),
        Anchor {
            matter: organ,
            at: Local::Triangle([1, 2, 3], [5.0, -3.0, -1.0]),
        },
        Anchor {
            matter: organ,
            at: Local::Triangle([1, 2, 3], [f64::NAN; 3]),
        },
    ];
    let mut input = pulled.idle_input();
    input.pulls = bad
        .iter()
        .map(|anchor| Pull {
            anchor: *anchor,
            target: DVec3::ONE,
            force: 5.0,
        })
        .collect();
    let good = Anchor::node(organ, 30);
    for (target, force) in [
        (DVec3::NAN, 1.0),
        (DVec3::ONE, f64::NAN),
        (DVec3::ONE, -1.0),
        (DVec3::ONE, 0.0),
    ] {
        input.pulls.push(Pull {
            anchor: good,
            target,
            force,
        });
    }
    let idle = left.idle_input();
    for _ in 0..50 {
        pulled.step(&input);
        left.step(&idle);
        assert_eq!(pulled.hash(), left.hash());
    }
}

/// One simulation for all cases, at rest.
fn shared() -> &'static Mutex<(Simulation, Vec<u8>)> {
    static SHARED: OnceLock<Mutex<(Simulation, Vec<u8>)>> = OnceLock::new();
    SHARED.get_or_init(|| {
        let mut simulation = built(ALL);
        let input = simulation.idle_input();
        for _ in 0..500 {
            simulation.step(&input);
        }
        let rest = simulation.snapshot();
        Mutex::new((simulation, rest))
    })
}

fn any_number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -0.5..0.5,
        1 => -1e3..1e3,
        1 => Just(1e300),
        1 => Just(-f64::MAX),
        1 => Just(f64::NAN),
        1 => Just(f64::INFINITY),
    ]
}

fn any_point() -> impl Strategy<Value = DVec3> {
    prop_oneof![
        3 => [-0.5..0.5, -0.5..0.5, -0.5..0.5].prop_map(DVec3::from_array),
        1 => [any_number(), any_number(), any_number()].prop_map(DVec3::from_array),
    ]
}

fn any_anchor() -> impl Strategy<Value = Anchor> {
    let local = prop_oneof![
        (0..70_u32).prop_map(Local::Node),
        (0..7_u32, any_point()).prop_map(|(z, at)| Local::Frame(z, at * 0.1)),
        ([0..70_u32, 0..70_u32, 0..70_u32], 0.0..1.0, 0.0..1.0).prop_map(
            |(nodes, a, b): (_, f64, f64)| {
                Local::Triangle(nodes, [a * b, a * (1.0 - b), 1.0 - a])
            }
        ),
    ];
    (0..7_u32, local).prop_map(|(m, at)| Anchor {
        matter: MatterId(m),
        at,
    })
}

fn any_pulls(force: f64) -> impl Strategy<Value = Vec<Pull>> {
    let one = (any_anchor(), any_point(), 0.0..force).prop_map(|(anchor, target, force)| Pull {
        anchor,
        target,
        force,
    });
    prop::collection::vec(one, 0..5)
}

proptest! {
    #![proptest_config(Config { cases: 48, failure_persistence: None, ..Config::default() })]

    /// Up to what a strong hand pulls, nothing goes bad.
    #[test]
    fn any_pulls_leave_it_stable(moves in prop::collection::vec((any_pulls(10.0), 1..80_usize), 1..6)) {
        let mut guard = shared().lock().unwrap_or_else(PoisonError::into_inner);
        let (simulation, rest) = &mut *guard;
        simulation.restore(rest).unwrap();
        for (pulls, times) in moves {
            let input = Input { pulls, ..simulation.idle_input() };
            for _ in 0..times {
                let report = simulation.step(&input);
                for event in &report.events {
                    let bad = matches!(event.what, Happening::Quarantined { .. });
                    prop_assert!(!bad, "{} under {:?}", event.what, input.pulls);
                }
                prop_assert!(is_sound(simulation, 20.0));
            }
        }
        // Left alone it comes back: nothing was wound up.
        let input = simulation.idle_input();
        for _ in 0..500 {
            simulation.step(&input);
        }
        prop_assert!(is_sound(simulation, 1.0));
    }

    /// Any force and any step: at worst something is put back to rest.
    #[test]
    fn any_force_at_any_step_leaves_numbers_sound(
        moves in prop::collection::vec((any_pulls(1e12), any_number(), 1..40_usize), 1..6),
    ) {
        let mut guard = shared().lock().unwrap_or_else(PoisonError::into_inner);
        let (simulation, rest) = &mut *guard;
        simulation.restore(rest).unwrap();
        for (pulls, dt, times) in moves {
            let input = Input { pulls, dt, ..simulation.idle_input() };
            for _ in 0..times {
                simulation.step(&input);
                prop_assert!(is_sound(simulation, 1e4));
            }
        }
    }
}

/// A link on a hinge, drawn against a wall (B57): the wall and the hinge hold, the hand gives way.
#[test]
fn a_jointed_body_is_dragged_to_a_wall_and_no_farther() {
    let text = "trocar = 1\n[world]\nstep = 0.002\n\
        [[body]]\nname = \"wall\"\nmotion = \"static\"\nposition = [0.3, -0.2, 0]\nhalf_extents = [0.05, 0.5, 0.5]\n\
        [[body]]\nname = \"upper\"\nmass = 0.3\nposition = [0, -0.1, 0]\nhalf_extents = [0.02, 0.1, 0.02]\n\
        [[body]]\nname = \"lower\"\nmass = 0.2\nposition = [0, -0.3, 0]\nhalf_extents = [0.02, 0.1, 0.02]\n\
        [[joint]]\nkind = \"ball\"\nb = { body = \"upper\" }\na = {}\nat = [0, 0, 0]\n\
        [[joint]]\nkind = \"hinge\"\na = { body = \"upper\" }\nb = { body = \"lower\" }\nat = [0, -0.2, 0]\naxis = [0, 0, 1]\n";
    let mut simulation = built(text);
    let bodies = simulation.model().bodies.unwrap();
    let tip = |at: f64| Anchor::frame(bodies, 1, DVec3::Y * at);
    let joint = [
        Anchor::frame(bodies, 0, DVec3::new(0.0, -0.1, 0.0)),
        Anchor::frame(bodies, 1, DVec3::new(0.0, 0.1, 0.0)),
    ];
    let force = 20.0;
    let mut input = simulation.idle_input();
    input.pulls.push(Pull {
        anchor: tip(-0.1),
        target: DVec3::new(0.6, -0.25, 0.0),
        force,
    });
    let tolerance = simulation.model().rules.tolerance;
    let mut fastest = 0.0_f64;
    for k in 0..1500 {
        let before = simulation.state().nodes[bodies.index()].velocity[1];
        simulation.step(&input);
        let after = simulation.state().nodes[bodies.index()].velocity[1];
        fastest = fastest.max(after.length());
        let [a, b] = joint.map(|x| simulation.point(&x).unwrap());
        let apart = a.distance(b);
        assert!(
            apart <= 4.0 * tolerance,
            "step {k}: the hinge is {apart} m apart"
        );
        // What the hand gives in a step is no more than its force.
        let given = (after.length() - before.length()) * 0.2 / input.dt;
        assert!(k < 20 || given < 3.0 * force, "step {k}: {given} N");
        let corner = simulation.point(&Anchor::frame(bodies, 1, DVec3::new(0.02, -0.1, 0.0)));
        let deep = corner.unwrap().x - 0.25;
        assert!(deep < 5e-4, "step {k}: {deep} m inside the wall");
    }
    let end = simulation.point(&tip(-0.1)).unwrap();
    assert!(end.x > 0.18, "it reached the wall: {end}");
    let rest = simulation.state().nodes[bodies.index()].velocity[1].length();
    assert!(rest < 0.02, "it rests there: {rest} m/s");
    assert!(fastest < 3.0, "never thrown: {fastest} m/s");
}

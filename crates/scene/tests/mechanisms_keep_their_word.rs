//! Mechanisms do what their closed forms say: guides do no work (B41, B43, B48), motors, absorbers and followers give what
//! they have and no more (B49, B53–B56), loops move alike however they are solved (B69), what is redundant is counted (B68),
//! and what is scattered or spoilt comes back (B95, B96).

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::{
    Dice, is_sound,
    rigid::{Rig, body, joint, vector, world},
};
use glam::DVec3;
use trocar_dynamics::{Anchor, Nodes, Pull};
use trocar_math::real;
use trocar_scene::{Event, event::Happening};

const G: f64 = 9.81;

/// Spoils something of a body.
type Damage = fn(&mut Nodes, usize);

/// What may go bad with a body while a scene runs.
const DAMAGES: [(&str, Damage); 5] = [
    ("velocity", |n, i| n.velocity[i].x = f64::NAN),
    ("position", |n, i| n.position[i].y = f64::NAN),
    ("orientation", |n, i| n.orientation[i].w = f64::NAN),
    ("spin", |n, i| n.spin[i].z = f64::NAN),
    ("far away", |n, i| n.position[i].x = f64::INFINITY),
];
const SOLVERS: [&str; 4] = ["auto", "iterative", "system", "graph"];

/// A bead on a guide: what carries it, where it starts and how fast, and how far a point is off the guide.
struct Guide {
    says: &'static str,
    start: DVec3,
    velocity: DVec3,
    off: fn(DVec3) -> f64,
    /// True if its bend is the same on both sides of every point: then energy is kept to second order.
    smooth: bool,
}

const GUIDES: &[Guide] = &[
    Guide {
        says: "kind = \"curve\"\naxis = [0, 0, 1]\ncurve = { circle = 0.5 }",
        start: DVec3::new(0.3, 0.4, 0.0),
        velocity: DVec3::ZERO,
        off: |p| real::hypot(p.truncate().length() - 0.5, p.z),
        smooth: true,
    },
    Guide {
        says: "kind = \"curve\"\naxis = [1, 0, 0]\ncurve = { helix = [0.2, 0.3] }",
        start: DVec3::new(0.0, 0.2, 0.0),
        velocity: DVec3::ZERO,
        // Climbs 0.3 m in a turn about x; where it begins is seen at the start.
        off: |p| real::hypot(p.y, p.z) - 0.2,
        smooth: true,
    },
    Guide {
        says: "kind = \"surface\"\nsurface = { sphere = 0.5 }",
        start: DVec3::new(0.3, 0.4, 0.0),
        velocity: DVec3::new(0.0, 0.0, 1.0),
        off: |p| p.length() - 0.5,
        smooth: true,
    },
    Guide {
        says: "kind = \"surface\"\naxis = [1, 0, 0]\nsurface = { cylinder = 0.5 }",
        start: DVec3::new(0.0, 0.3, 0.4),
        velocity: DVec3::new(0.3, 0.0, 0.0),
        off: |p| real::hypot(p.y, p.z) - 0.5,
        smooth: true,
    },
    Guide {
        says: "kind = \"surface\"\naxis = [0, 1, 0]\nsurface = { torus = [0.5, 0.2] }",
        start: DVec3::new(0.7, 0.0, 0.0),
        velocity: DVec3::new(0.0, 0.0, 1.0),
        off: |p| real::hypot(real::hypot(p.x, p.z) - 0.5, p.y) - 0.2,
        smooth: true,
    },
    Guide {
        says: "kind = \"curve\"\ncurve = { loop = [[0.5, 0, 0], [0, 0.5, 0], [-0.5, 0, 0.1], [0, -0.5, 0]] }",
        start: DVec3::new(0.5, 0.0, 0.0),
        velocity: DVec3::ZERO,
        // No closed form; what the solver says of it has to do.
        off: |_| 0.0,
        smooth: false,
    },
];

/// T06: energy is kept to second order and no bead leaves its guide, be it a particle or a body.
#[test]
fn guides_do_no_work() {
    for guide in GUIDES {
        for solid in [false, true] {
            let run = |step: f64| {
                let mut text = world(&format!("step = {step:?}\ntolerance = 1e-10"));
                let (at, v) = (vector(guide.start), vector(guide.velocity));
                let bead = if solid {
                    body(
                        &mut text,
                        "bead",
                        guide.start,
                        &format!("mass = 0.2\nform = {{ ball = 0.02 }}\nvelocity = {v}"),
                    );
                    "body = \"bead\", at = [0, 0, 0]"
                } else {
                    text += &format!(
                        "[[particle]]\nname = \"bead\"\nmass = 0.2\nposition = {at}\nvelocity = {v}\n"
                    );
                    "particle = \"bead\""
                };
                joint(
                    &mut text,
                    &format!(
                        "{}\na = {{ world = [0, 0, 0] }}\nb = {{ {bead} }}",
                        guide.says
                    ),
                );
                let mut rig = Rig::new(&text);
                // A helix begins where its own frame says; the first step puts the bead on it.
                rig.step();
                let start = rig.energy();
                let mut worst = 0.0_f64;
                rig.watch(1.6, |rig, report| {
                    assert!(report.aim.converged, "{}: {:?}", guide.says, report.aim);
                    let p = rig.position("bead");
                    let off = (guide.off)(p);
                    assert!(off.abs() < 1e-9, "{}: {off} at {p}", guide.says);
                    worst = worst.max((rig.energy() - start).abs());
                });
                worst / (0.2 * G * 0.5)
            };
            let (coarse, fine) = (run(0.002), run(0.001));
            println!("{} {solid}: {coarse} and {fine}", guide.says);
            assert!(fine < 5e-3, "{}: {fine}", guide.says);
            if guide.smooth {
                assert!(
                    fine < 0.35 * coarse + 1e-9,
                    "{}: {coarse} and {fine}",
                    guide.says
                );
            }
        }
    }
}

/// B48: what slides on a circle without turning swings like a bead, whatever its moments are.
#[test]
fn a_slider_on_a_circle_swings_like_a_bead_and_does_not_turn() {
    let mut text = world("step = 0.001");
    let start = DVec3::new(0.3, -0.4, 0.0);
    text += &format!(
        "[[particle]]\nname = \"bead\"\nmass = 0.1\nposition = {}\n",
        vector(start)
    );
    body(
        &mut text,
        "box",
        start,
        "mass = 3\nhalf_extents = [0.02, 0.1, 0.3]\nrotation = [0.4, 0.2, -0.3]\ncollide = false",
    );
    for (kind, b) in [
        ("curve", "particle = \"bead\""),
        ("curve_slider", "body = \"box\", at = [0, 0, 0]"),
    ] {
        joint(
            &mut text,
            &format!(
                "kind = \"{kind}\"\na = {{ world = [0, 0, 0] }}\nb = {{ {b} }}\naxis = [0, 0, 1]\ncurve = {{ circle = 0.5 }}"
            ),
        );
    }
    let mut rig = Rig::new(&text);
    let turn = rig.orientation("box");
    rig.watch(3.0, |rig, _| {
        let apart = rig.position("bead").distance(rig.position("box"));
        assert!(apart < 1e-6, "{apart} at {} s", rig.time());
        assert!(rig.orientation("box").dot(turn).abs() > 1.0 - 1e-12);
    });
    assert!(rig.position("box").distance(start) > 1e-3, "it swings");
}

/// B46, B49: a lift. Strong enough, it reaches its floor; too weak, it gives all it has and sinks with the rest.
#[test]
fn a_linear_motor_gives_what_it_has() {
    let lift = |most: f64| {
        let mut text = world("step = 0.002");
        body(
            &mut text,
            "cabin",
            DVec3::ZERO,
            "mass = 2\nhalf_extents = [0.1, 0.1, 0.1]",
        );
        joint(
            &mut text,
            &format!(
                "kind = \"slider\"\na = {{ world = [0, 0, 0] }}\nb = {{ body = \"cabin\" }}\nat = [0, 0, 0]\naxis = [0, 1, 0]\n\
                 drive = {{ pid = {{ place = 0.3, proportional = 200, integral = 150, differential = 60, most = {most:?} }} }}"
            ),
        );
        Rig::new(&text)
    };
    let mut rig = lift(40.0);
    let mut before = 0.0;
    let mut strongest = 0.0_f64;
    rig.watch(8.0, |rig, _| {
        let now = rig.velocity("cabin").y;
        strongest = strongest.max((2.0 * ((now - before) / 0.002 + G)).abs());
        before = now;
    });
    assert!(strongest <= 40.0 * (1.0 + 1e-6), "{strongest} N");
    assert!(strongest > 39.0, "it never needs its force: {strongest} N");
    let high = rig.position("cabin").y;
    assert!((high - 0.3).abs() < 1e-3, "{high}");

    let mut rig = lift(10.0);
    rig.run(0.5);
    let ideal = -0.5 * (G - 5.0) * 0.25;
    let sunk = rig.position("cabin").y;
    // Drives act at the start of a substep: 5 m/s² are early by half of 2 ms, for half a second.
    let early = 5.0 * 0.5 * 0.001;
    assert!((sunk - ideal - early).abs() < 1e-5, "{sunk} for {ideal}");
}

/// B53: slider and damped spring are the damped oscillator, the better the shorter the step.
#[test]
fn a_shock_absorber_is_a_damped_oscillator() {
    let (m, k, d) = (2.0_f64, 200.0_f64, 4.0_f64);
    let worst = |step: f64| {
        let mut text = world(&format!("step = {step:?}"));
        body(
            &mut text,
            "wheel",
            DVec3::ZERO,
            "mass = 2\nhalf_extents = [0.05, 0.05, 0.05]",
        );
        joint(
            &mut text,
            &format!(
                "kind = \"slider\"\na = {{ world = [0, 0, 0] }}\nb = {{ body = \"wheel\" }}\nat = [0, 0, 0]\naxis = [0, 1, 0]\n\
                 drive = {{ spring = {{ stiffness = {k:?}, damping = {d:?} }} }}"
            ),
        );
        let mut rig = Rig::new(&text);
        let (sag, decay) = (m * G / k, d / (2.0 * m));
        let rate = (k / m - decay * decay).sqrt();
        let mut worst = 0.0_f64;
        rig.watch(2.0, |rig, _| {
            let t = rig.time();
            let (s, c) = real::sin_cos(rate * t);
            // From rest at zero about the place of balance.
            let ideal = -sag + sag * real::exp(-decay * t) * (c + decay / rate * s);
            worst = worst.max((rig.position("wheel").y - ideal).abs() / sag);
        });
        worst
    };
    let (coarse, fine) = (worst(0.001), worst(0.0005));
    println!("off by {coarse} and {fine} of the amplitude");
    assert!(fine < 0.6 * coarse && fine < 0.02, "{coarse} and {fine}");
}

/// B54: a body that moves with its leader as long as nothing is in the way; the wall wins.
#[test]
fn a_velocity_follower_goes_along_until_it_meets_a_wall() {
    let mut text = world("step = 0.002\ngravity = [0, 0, 0]");
    body(
        &mut text,
        "wall",
        DVec3::X * 0.5,
        "motion = \"static\"\nhalf_extents = [0.1, 1, 1]",
    );
    body(
        &mut text,
        "leader",
        DVec3::new(0.0, 0.5, 0.0),
        "motion = \"kinematic\"\nhalf_extents = [0.01, 0.01, 0.01]\nvelocity = [0.4, 0, 0]\ncollide = false",
    );
    body(
        &mut text,
        "box",
        DVec3::ZERO,
        "mass = 2\nhalf_extents = [0.1, 0.1, 0.1]",
    );
    joint(
        &mut text,
        "kind = \"composed\"\na = { body = \"leader\", at = [0, 0, 0] }\nb = { body = \"box\", at = [0, 0, 0] }\nbases = [\"velocity\"]\nstrength = 4",
    );
    let mut rig = Rig::new(&text);
    let (mut before, mut reached, mut farthest) = (0.0, false, 0.0_f64);
    rig.watch(3.0, |rig, _| {
        let (x, v) = (rig.position("box").x, rig.velocity("box").x);
        if x < 0.29 {
            // Two newtons for each kilogram.
            assert!((v - before) / 0.002 <= 2.0 + 1e-6, "{v} after {before}");
            reached |= (v - 0.4).abs() < 1e-9;
        }
        farthest = farthest.max(x);
        before = v;
    });
    assert!(reached, "it never goes along");
    assert!(farthest < 0.3 + 1e-4, "it goes into the wall: {farthest}");
    // What follower and wall leave to each other is a hundredth of the leader's speed.
    let v = rig.velocity("box");
    assert!(v.length() < 4e-3, "{v}");
    let slid = rig.position("box").reject_from(DVec3::X).length();
    assert!(slid < 1e-3, "it slides along the wall: {slid}");
    assert!(rig.position("leader").x > 1.0, "the leader goes on");
}

/// B55: the same for turning.
#[test]
fn a_spin_follower_turns_along_with_the_torque_it_has() {
    let mut text = world("step = 0.002\ngravity = [0, 0, 0]");
    body(
        &mut text,
        "leader",
        DVec3::Y,
        "motion = \"kinematic\"\nhalf_extents = [0.01, 0.01, 0.01]\nspin = [0, 3, 0]\ncollide = false",
    );
    body(
        &mut text,
        "wheel",
        DVec3::ZERO,
        "mass = 2\nform = { cylinder = { half_length = 0.05, radius = 0.2 } }",
    );
    joint(
        &mut text,
        "kind = \"composed\"\na = { body = \"leader\", at = [0, 0, 0] }\nb = { body = \"wheel\", at = [0, 0, 0] }\nbases = [\"spin\"]\nstrength = 0.08",
    );
    let mut rig = Rig::new(&text);
    // ½ m r² = 0.04 kg·m²: two rad/s².
    rig.watch(3.0, |rig, _| {
        let ideal = (2.0 * rig.time()).min(3.0);
        let spin = rig.spin("wheel").y;
        assert!(
            (spin - ideal).abs() < 5e-3,
            "{spin} for {ideal} at {} s",
            rig.time()
        );
    });
    assert!(rig.velocity("wheel").length() < 1e-9, "it does not follow");
}

/// Planks between two banks, each joined to the next at both of its ends: 96 rows on 90 degrees of freedom, of which a flat
/// chain of 15 links between two fixed ends has 13 left.
fn bridge(says: &str) -> String {
    let mut text = world(&format!("step = 0.005\ntolerance = 1e-9\n{says}"));
    let count = 15;
    let at = |i: f64| {
        let u = i / f64::from(count) * 2.0 - 1.0;
        DVec3::new(1.4 * u, -0.4 * (1.0 - u * u), 0.0)
    };
    for i in 0..count {
        let middle = (at(f64::from(i)) + at(f64::from(i + 1))) * 0.5;
        body(
            &mut text,
            &format!("plank {i}"),
            middle,
            "mass = 1\nhalf_extents = [0.08, 0.01, 0.3]\ncollide = false",
        );
    }
    for i in 0..=count {
        for z in [-0.3, 0.3] {
            let end = at(f64::from(i)) + DVec3::Z * z;
            let side = |k: i32| match (0..count).contains(&k) {
                true => format!("body = \"plank {k}\""),
                false => format!("world = {}", vector(end)),
            };
            // Something that moves comes second.
            let (a, b) = if i == count { (i, i - 1) } else { (i - 1, i) };
            joint(
                &mut text,
                &format!(
                    "kind = \"ball\"\na = {{ {} }}\nb = {{ {} }}\nat = {}",
                    side(a),
                    side(b),
                    vector(end)
                ),
            );
        }
    }
    text
}

fn positions(rig: &Rig) -> Vec<DVec3> {
    let bodies = rig.simulation.model().bodies.unwrap();
    rig.simulation.state().nodes[bodies.index()]
        .position
        .clone()
}

/// T11, B68: however it is solved, the bridge sags alike; and what is said twice is counted.
#[test]
fn a_suspension_bridge_sags_alike_and_its_redundancy_is_counted() {
    let mut found: Vec<Vec<DVec3>> = Vec::new();
    for solver in SOLVERS {
        // Gravity askew, or it would hang as it is.
        let mut rig = Rig::new(&bridge(&format!(
            "solver = \"{solver}\"\niterations = 10000\ngravity = [5, -8, 0]"
        )));
        let start = positions(&rig);
        rig.watch(0.3, |rig, report| {
            assert!(
                report.aim.error < 1e-7,
                "{solver}: {} at {} s",
                report.aim.error,
                rig.time()
            );
            assert_eq!(report.aim.redundant, 96 - (90 - 13), "{solver}");
        });
        found.push(positions(&rig));
        let moved = |a: &[DVec3], b: &[DVec3]| {
            let pairs = a.iter().zip(b);
            pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
        };
        assert!(moved(&start, &found[0]) > 0.005, "it stands still");
        let apart = moved(&found[0], found.last().unwrap());
        assert!(apart < 1e-6, "{solver} is {apart} m from {}", SOLVERS[0]);
    }
}

/// A tree in which every link carries two more, its bodies thrown about and turned at random.
fn scattered(count: usize, says: &str, dice: &mut Dice) -> String {
    let mut number = || dice.below(2001) as f64 / 1000.0 - 1.0;
    let mut text = world(&format!("reach = 100\n{says}"));
    for i in 0..count {
        let place = DVec3::new(number(), number(), number());
        let turn = DVec3::new(number(), number(), number()) * 2.0;
        let says = format!(
            "mass = 0.5\nhalf_extents = [0.1, 0.03, 0.03]\ncollide = false\nrotation = {}",
            vector(turn)
        );
        body(&mut text, &format!("link {i}"), place, &says);
        let a = match i {
            0 => "world = [0, 0, 0]".to_string(),
            _ => format!("body = \"link {}\", at = [0.1, 0, 0]", (i - 1) / 2),
        };
        joint(
            &mut text,
            &format!(
                "kind = \"ball\"\na = {{ {a} }}\nb = {{ body = \"link {i}\", at = [-0.1, 0, 0] }}\nstrength = 300"
            ),
        );
    }
    text
}

/// T19: 127 joints, each body anywhere within a metre of nowhere, and no joint stronger than 300 N.
#[test]
fn a_scattered_tree_of_127_joints_puts_itself_together() {
    let text = scattered(127, "step = 0.005\ngravity = [0, 0, 0]", &mut Dice(19));
    let mut rig = Rig::new(&text);
    assert!(rig.gap() > 1.0, "it is not torn");
    let mut together = None;
    for step in 0..2000 {
        rig.step();
        assert!(is_sound(&rig.simulation, 100.0), "step {step}");
        let open = rig.gap();
        if open > 1e-9 {
            together = None;
        } else if together.is_none() {
            together = Some(step);
        }
        if together.is_some_and(|t| step > t + 200) {
            break;
        }
    }
    println!("together after {together:?} steps");
    assert!(together.is_some(), "still open by {} m", rig.gap());
}

/// B94: where a whip cracks, substeps are halved and counted, and nothing is gained or torn.
#[test]
fn a_cracking_whip_is_halved_and_counted() {
    let mut text = world("reach = 2000\nstep = 0.01\nsolver = \"graph\"\ntolerance = 1e-6");
    for i in 0..25 {
        let x = 0.5 + f64::from(i);
        body(
            &mut text,
            &format!("link {i}"),
            DVec3::X * x,
            "mass = 1\nhalf_extents = [0.5, 0.05, 0.05]\ncollide = false",
        );
        let a = match i {
            0 => "world = [0, 0, 0]".into(),
            _ => format!("body = \"link {}\", at = [0.5, 0, 0]", i - 1),
        };
        joint(
            &mut text,
            &format!(
                "kind = \"ball\"\na = {{ {a} }}\nb = {{ body = \"link {i}\", at = [-0.5, 0, 0] }}"
            ),
        );
    }
    let mut rig = Rig::new(&text);
    let start = rig.energy();
    let scale = 25.0 * G * 12.5;
    let (mut halvings, mut worst, mut gained) = (0, 0.0_f64, 0.0_f64);
    rig.watch(12.0, |rig, report| {
        halvings += report.halvings;
        worst = worst.max(report.aim.error);
        gained = gained.max((rig.energy() - start) / scale);
    });
    println!("{halvings} halvings, error {worst}, gains {gained}");
    assert!(halvings > 0, "nothing had to be halved");
    assert!(worst <= 1e-6, "{worst}");
    assert!(gained < 0.01, "{gained}");
}

/// What a hand or a bad number does to a link of a chain: it is told, nothing panics, and the chain is whole again.
#[test]
fn a_chain_with_a_bad_link_comes_back() {
    let mut text = world("step = 0.005");
    for i in 0..8 {
        body(
            &mut text,
            &format!("link {i}"),
            DVec3::X * (0.1 + 0.2 * f64::from(i)),
            "mass = 0.5\nhalf_extents = [0.1, 0.02, 0.02]\ncollide = false",
        );
        let a = match i {
            0 => "world = [0, 0, 0]".into(),
            _ => format!("body = \"link {}\", at = [0.1, 0, 0]", i - 1),
        };
        joint(
            &mut text,
            &format!(
                "kind = \"ball\"\na = {{ {a} }}\nb = {{ body = \"link {i}\", at = [-0.1, 0, 0] }}"
            ),
        );
    }
    for solver in SOLVERS {
        let text = text.replace(
            "step = 0.005",
            &format!("step = 0.005\niterations = 2000\nsolver = \"{solver}\""),
        );
        // Infinite forces, and places that are none.
        let mut rig = Rig::new(&text);
        let (matter, node) = rig.at("link 5");
        let anchor = Anchor::frame(matter, node as u32, DVec3::X * 0.1);
        for (target, force) in [
            (DVec3::Y * 3.0, f64::INFINITY),
            (DVec3::Y * 3.0, 1e300),
            (DVec3::NAN, 10.0),
            (DVec3::INFINITY, 10.0),
            (DVec3::Y * 3.0, f64::NAN),
            (DVec3::Y * 3.0, -5.0),
        ] {
            rig.input.pulls = vec![Pull {
                anchor,
                target,
                force,
            }];
            for _ in 0..20 {
                rig.simulation.step(&rig.input);
                assert!(is_sound(&rig.simulation, 1e3), "{solver}: {target} {force}");
            }
        }
        rig.input.pulls.clear();
        for _ in 0..400 {
            rig.simulation.step(&rig.input);
        }
        let error = rig.simulation.report().aim.error;
        assert!(error < 1e-8, "{solver}: still open by {error}");

        // A pose or a motion that is no number.
        for (what, damage) in DAMAGES {
            let mut rig = Rig::new(&text);
            rig.run(0.3);
            rig.simulation.tamper(matter, |n| damage(n, node));
            rig.simulation.step(&rig.input);
            let told = rig.simulation.report().events.iter();
            let quarantined = |e: &Event| matches!(e.what, Happening::Quarantined { .. });
            assert!(
                told.clone().any(quarantined),
                "{solver}, {what}: nobody was told"
            );
            for _ in 0..200 {
                rig.simulation.step(&rig.input);
                assert!(is_sound(&rig.simulation, 1e3), "{solver}, {what}");
            }
            let error = rig.simulation.report().aim.error;
            assert!(error < 1e-8, "{solver}, {what}: still open by {error}");
        }
    }
}

/// A comb of 100 000 bodies, told by a scene: it loads, and a step is solved.
#[test]
fn a_scene_of_100_000_bodies_loads_and_steps() {
    let mut text = world("reach = 10000\nstep = 0.005");
    for i in 0..100_000 {
        let at = DVec3::new(0.05 * f64::from(i % 100), 0.0, 0.05 * f64::from(i / 100));
        body(
            &mut text,
            &format!("b{i}"),
            at,
            "mass = 0.1\nhalf_extents = [0.02, 0.02, 0.02]\ncollide = false",
        );
        let a = match i {
            0 => "world = [0, 0, 0]".to_string(),
            _ if i % 100 == 0 => format!("body = \"b{}\"", i - 100),
            _ => format!("body = \"b{}\"", i - 1),
        };
        let at = vector(at);
        joint(
            &mut text,
            &format!("kind = \"ball\"\na = {{ {a} }}\nb = {{ body = \"b{i}\" }}\nat = {at}"),
        );
    }
    let mut rig = Rig::new(&text);
    let report = rig.step();
    assert!(report.aim.error <= 1e-9, "{}", report.aim.error);
    assert!(rig.gap() <= 1e-9);
    assert!(is_sound(&rig.simulation, 1e4));
}

/// A point of a uniform Catmull-Rom spline, by the pyramid of Barry and Goldman: another way than the engine's.
fn spline_point(p: [DVec3; 4], t: f64) -> DVec3 {
    let a1 = p[0] * -t + p[1] * (t + 1.0);
    let a2 = p[1] * (1.0 - t) + p[2] * t;
    let a3 = p[2] * (2.0 - t) + p[3] * (t - 1.0);
    let b1 = a1 * (0.5 * (1.0 - t)) + a2 * (0.5 * (t + 1.0));
    let b2 = a2 * (0.5 * (2.0 - t)) + a3 * (0.5 * t);
    b1 * (1.0 - t) + b2 * t
}

/// Distance from a point to a row of points joined by straight lines, m.
fn off_line(line: &[DVec3], p: DVec3) -> f64 {
    let pairs = line.windows(2).map(|w| {
        let along = w[1] - w[0];
        let t = ((p - w[0]).dot(along) / along.length_squared()).clamp(0.0, 1.0);
        p.distance(w[0] + along * t)
    });
    pairs.fold(f64::INFINITY, f64::min)
}

fn bead_on(curve: &str, start: DVec3) -> Rig {
    let mut text = world("step = 0.001\ntolerance = 1e-10");
    text += &format!(
        "[[particle]]\nname = \"bead\"\nmass = 0.2\nposition = {}\n",
        vector(start)
    );
    joint(
        &mut text,
        &format!(
            "kind = \"curve\"\na = {{ world = [0, 0, 0] }}\nb = {{ particle = \"bead\" }}\ncurve = {curve}"
        ),
    );
    Rig::new(&text)
}

/// B41: a bead goes all the way round a closed spline and never leaves it.
#[test]
fn a_bead_stays_on_a_closed_spline() {
    let points = [
        DVec3::new(0.5, 0.0, 0.0),
        DVec3::new(0.0, 0.5, 0.0),
        DVec3::new(-0.5, 0.0, 0.1),
        DVec3::new(0.0, -0.5, 0.0),
    ];
    let line: Vec<DVec3> = (0..=8000)
        .map(|k| {
            let (i, t) = (k / 2000, f64::from(k % 2000) / 2000.0);
            let at = |j: i32| points[(i + j).rem_euclid(4) as usize];
            spline_point([at(-1), at(0), at(1), at(2)], t)
        })
        .collect();
    let curve = "{ loop = [[0.5, 0, 0], [0, 0.5, 0], [-0.5, 0, 0.1], [0, -0.5, 0]] }";
    let mut rig = bead_on(curve, points[0]);
    let (mut step, mut lowest, mut leftmost) = (0, 0.0_f64, 0.0_f64);
    rig.watch(1.5, |rig, _| {
        let p = rig.position("bead");
        (lowest, leftmost) = (lowest.min(p.y), leftmost.min(p.x));
        step += 1;
        if step % 20 == 0 {
            // The line between two samples is off the curve by its bend, some 1e-8 m.
            let off = off_line(&line, p);
            assert!(off < 1e-7, "{off} m at {p}");
        }
    });
    assert!(lowest < -0.49 && leftmost < -0.4, "it hardly moves");
}

/// B41: beyond the last point of an open one it goes straight on, in the direction in which it came, and falls as on a slope.
#[test]
fn a_bead_runs_straight_on_beyond_the_end_of_a_spline() {
    let points = [
        DVec3::new(0.0, 0.0, 0.0),
        DVec3::new(0.3, -0.1, 0.0),
        DVec3::new(0.5, -0.4, 0.1),
    ];
    let [first, second, last] = points;
    let ends = [first * 2.0 - second, last * 2.0 - second];
    let line: Vec<DVec3> = (0..=4000)
        .map(|k| {
            let t = f64::from(k % 2000) / 2000.0;
            match k / 2000 {
                0 => spline_point([ends[0], first, second, last], t),
                1 => spline_point([first, second, last, ends[1]], t),
                _ => last,
            }
        })
        .collect();
    let mut rig = bead_on(
        "{ through = [[0, 0, 0], [0.3, -0.1, 0], [0.5, -0.4, 0.1]] }",
        first,
    );
    let along = (last - second).normalize();
    let (mut beyond, mut speeds) = (0, Vec::new());
    rig.watch(1.0, |rig, _| {
        let p = rig.position("bead");
        let past = (p - last).dot(along);
        if past > 1e-3 {
            beyond += 1;
            let off = (p - last).reject_from_normalized(along).length();
            assert!(off < 1e-9, "{off} m beyond the end");
            speeds.push(rig.velocity("bead").dot(along));
        } else if past < 0.0 {
            let off = off_line(&line, p);
            assert!(off < 1e-7, "{off} m at {p}");
        }
    });
    assert!(beyond > 200, "it was beyond the end for {beyond} steps");
    let rate = (speeds[beyond - 1] - speeds[0]) / (0.001 * (beyond - 1) as f64);
    assert!((rate - G * -along.y).abs() < 1e-6, "{rate} m/s²");
}

/// Thousands of bodies on one: as one system of impulses each would answer to each other. That is left to sweeps, whatever was wished for, before it
/// takes all the memory there is; along the graph it is a tree.
#[test]
fn a_star_is_no_system() {
    let count = if std::env::var_os("TROCAR_LONG").is_some() {
        100_000
    } else {
        2000
    };
    for solver in ["system", "graph"] {
        let mut text = world(&format!(
            "reach = 10000\nstep = 0.005\niterations = 4\nsolver = \"{solver}\""
        ));
        let says = "mass = 0.1\nform = { ball = 0.02 }\ncollide = false";
        body(
            &mut text,
            "hub",
            DVec3::ZERO,
            "mass = 1000\nform = { ball = 1 }\ncollide = false",
        );
        let mut spokes = String::new();
        for k in 0..count {
            let (sin, cos) = real::sin_cos(0.001 * f64::from(k));
            let place = DVec3::new(cos, 0.0, sin);
            body(&mut text, &format!("{k}"), place * 1.2, says);
            let at = vector(place);
            joint(
                &mut spokes,
                &format!(
                    "kind = \"hinge\"\naxis = [0, 1, 0]\na = {{ body = \"hub\" }}\nb = {{ body = \"{k}\" }}\nat = {at}"
                ),
            );
        }
        text += &spokes;
        let mut rig = Rig::new(&text);
        let report = rig.simulation.step(&rig.input).clone();
        assert!(is_sound(&rig.simulation, 1e4), "{solver}");
        let tangled = u32::from(solver == "system");
        assert_eq!(report.methods.tangled, tangled, "{:?}", report.methods);
    }
}

/// One body on thousands of rods to the world: its elimination would join each of them to each other.
#[test]
fn a_body_on_thousands_of_rods_is_swept() {
    let count = if std::env::var_os("TROCAR_LONG").is_some() {
        100_000
    } else {
        6000
    };
    let mut text = world("reach = 10000\nstep = 0.005\niterations = 4\nsolver = \"graph\"");
    body(
        &mut text,
        "hub",
        DVec3::ZERO,
        "mass = 1000\nform = { ball = 1 }\ncollide = false",
    );
    for k in 0..count {
        let (sin, cos) = real::sin_cos(0.001 * f64::from(k));
        let at = vector(DVec3::new(cos, 0.0, sin) * 2.0);
        joint(
            &mut text,
            &format!(
                "kind = \"distance\"\na = {{ world = {at} }}\nb = {{ body = \"hub\", at = [0, 0, 0] }}"
            ),
        );
    }
    let mut rig = Rig::new(&text);
    let report = rig.simulation.step(&rig.input).clone();
    assert!(is_sound(&rig.simulation, 1e4));
    assert_eq!(report.methods.tangled, 1, "{:?}", report.methods);
}

/// 100 000 bodies on the general way: a comb of hinges, and a net of ball joints that is all loops. Both load and step, and say how they were
/// solved.
#[test]
fn a_comb_of_hinges_and_a_net_load_and_step() {
    let long = std::env::var_os("TROCAR_LONG").is_some();
    let side: usize = if long { 316 } else { 60 };
    for (kind, net) in [("hinge", false), ("ball", true)] {
        let mut text = world("reach = 10000\nstep = 0.005\niterations = 4");
        let place = |i: usize, j: usize| DVec3::new(0.05 * i as f64, 0.0, 0.05 * j as f64);
        let mut link = String::new();
        for j in 0..side {
            for i in 0..side {
                let name = format!("{i} {j}");
                let says = "mass = 0.1\nhalf_extents = [0.02, 0.02, 0.02]\ncollide = false";
                body(&mut text, &name, place(i, j), says);
                let mut hold = |a: String, at: DVec3| {
                    let at = vector(at);
                    joint(
                        &mut link,
                        &format!(
                            "kind = \"{kind}\"\naxis = [0, 0, 1]\na = {{ {a} }}\nb = {{ body = \"{name}\" }}\nat = {at}"
                        ),
                    );
                };
                let half = DVec3::new(0.025, 0.0, 0.0);
                let across = DVec3::new(0.0, 0.0, 0.025);
                match (i, j) {
                    (0, 0) => hold("world = [0, 0, 0]".into(), DVec3::ZERO),
                    (0, _) => hold(format!("body = \"0 {}\"", j - 1), place(i, j) - across),
                    _ => {
                        hold(format!("body = \"{} {j}\"", i - 1), place(i, j) - half);
                        if net && j > 0 {
                            hold(format!("body = \"{i} {}\"", j - 1), place(i, j) - across);
                        }
                    }
                }
            }
        }
        text += &link;
        let mut rig = Rig::new(&text);
        let report = rig.simulation.step(&rig.input).clone();
        let methods = report.methods;
        println!("{kind}: {methods:?}, {:?}", report.aim);
        assert!(is_sound(&rig.simulation, 1e4), "{kind}");
        assert!(report.events.is_empty(), "{kind}: {:?}", report.events);
        assert_eq!(methods.graph + methods.tangled, 1, "{kind}: {methods:?}");
        if !net {
            assert!(report.aim.converged, "{kind}: {:?}", report.aim);
            assert!(rig.gap().max(rig.tilt()) <= 1e-8, "{kind}: {}", rig.gap());
        }
    }
}

//! A joint takes the freedom it says it takes and no other (B30–B56): it holds to its tolerance, keeps momentum, and what it
//! leaves free can be driven, sprung, damped and stopped as closed forms say.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::{
    Dice,
    rigid::{Rig, body, joint, vector, world},
};
use glam::{DQuat, DVec3};
use trocar_math::{real, rotation};

const G: f64 = 9.81;

/// Random numbers from -1 to 1.
fn number(dice: &mut Dice) -> f64 {
    (dice.next() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

fn any(dice: &mut Dice) -> DVec3 {
    DVec3::new(number(dice), number(dice), number(dice))
}

/// Where the joints of the tests are, and how they lie.
const AT: DVec3 = DVec3::new(0.1, 0.2, -0.1);
const AXIS: DVec3 = DVec3::new(0.48, 0.6, 0.64);
const ACROSS: DVec3 = DVec3::new(0.8, 0.0, -0.6);

/// What the joints take away: their name, what else they say, and the freedom left.
const KINDS: &[(&str, &str, usize)] = &[
    ("ball", "", 3),
    ("hinge", "", 1),
    ("hinge_by_axis", "", 1),
    ("slider", "", 1),
    ("universal", "second", 2),
    ("fixed", "", 0),
    ("fixed_by_points", "", 0),
    ("rail", "", 4),
    ("plane", "", 5),
    ("curve", "curve = { circle = 0.1 }", 4),
    ("curve", "curve = { helix = [0.1, 0.05] }", 4),
    (
        "curve",
        "curve = { loop = [[0, 0.1, 0], [0.1, 0, 0], [0, -0.1, 0.05], [-0.1, 0, 0]] }",
        4,
    ),
    ("curve_slider", "curve = { circle = 0.1 }", 1),
    ("surface", "surface = { sphere = 0.1 }", 5),
    ("surface", "surface = { cylinder = 0.1 }", 5),
    ("surface", "surface = { torus = [0.07, 0.03] }", 5),
    ("distance", "", 5),
    ("composed", "bases = [\"t3\"]", 3),
    ("composed", "bases = [\"t2\"]", 4),
    ("composed", "bases = [\"t1\"]", 5),
    ("composed", "bases = [\"r3\"]", 3),
    ("composed", "bases = [\"r2\"]", 4),
    ("composed", "bases = [\"r1\"]", 5),
    ("composed", "bases = [\"t3\", \"r1\"]", 2),
    ("composed", "bases = [\"t1\", \"r3\"]", 2),
    ("composed", "bases = [\"velocity\"]", 3),
    ("composed", "bases = [\"spin\"]", 3),
];

/// Poses of the two bodies at the start.
struct Start {
    place: [DVec3; 2],
    turn: [DVec3; 2],
}

impl Start {
    fn new(dice: &mut Dice) -> Self {
        Self {
            place: [AT + any(dice) * 0.1, AT + any(dice) * 0.1],
            turn: [any(dice), any(dice)],
        }
    }
}

/// Two free bodies with a joint, moving at random at a given speed.
fn pair(kind: &str, says: &str, start: &Start, speed: f64, dice: &mut Dice, step: f64) -> Rig {
    let mut text = world(&format!(
        "step = {step:?}\ngravity = [0, 0, 0]\ntolerance = 5e-10"
    ));
    for (k, name) in ["a", "b"].into_iter().enumerate() {
        let says = format!(
            "mass = {:?}\nhalf_extents = [0.03, 0.05, 0.08]\ncollide = false\nrotation = {}\nvelocity = {}\nspin = {}",
            0.3 + 0.4 * k as f64,
            vector(start.turn[k]),
            vector(any(dice) * speed),
            vector(any(dice) * speed * 10.0),
        );
        body(&mut text, name, start.place[k], &says);
    }
    let at = |k: usize, point: DVec3| {
        let turn = rotation::from_scaled_axis(start.turn[k]);
        vector(turn.conjugate() * (point - start.place[k]))
    };
    // What slides on something starts on it.
    let own = match kind {
        "curve" if says.contains("loop") => AT + DVec3::Y * 0.1,
        "curve" if says.contains("helix") => AT + AXIS.any_orthonormal_vector() * 0.1,
        "curve" | "curve_slider" | "surface" => AT + ACROSS * 0.1,
        "distance" => AT + ACROSS * 0.15,
        _ => AT,
    };
    let more = if says == "second" {
        format!("second_axis = {}", vector(ACROSS))
    } else {
        says.to_string()
    };
    joint(
        &mut text,
        &format!(
            "kind = \"{kind}\"\na = {{ body = \"a\", at = {} }}\nb = {{ body = \"b\", at = {} }}\naxis = {}\n{more}",
            at(0, AT),
            at(1, own),
            vector(AXIS)
        ),
    );
    Rig::new(&text)
}

/// The pose of b seen from a: turn, and place of the joint's point of b.
fn seen(rig: &Rig, start: &Start) -> (DQuat, DVec3) {
    let turned = |k: usize| rotation::from_scaled_axis(start.turn[k]).conjugate();
    let [a, b] = [0, 1].map(|k| turned(k) * (AT - start.place[k]));
    let q = rig.orientation("a").conjugate();
    (
        q * rig.orientation("b"),
        q * (rig.point("b", b) - rig.point("a", a)),
    )
}

/// How b moves against a at the joint's point, in a's frame.
fn twist(rig: &Rig, start: &Start) -> [f64; 6] {
    let q = rig.orientation("a").conjugate();
    let spin = rig.spin("b") - rig.spin("a");
    let at = rig.point(
        "a",
        rotation::from_scaled_axis(start.turn[0]).conjugate() * (AT - start.place[0]),
    );
    let moves = |name: &str| rig.velocity(name) + rig.spin(name).cross(at - rig.position(name));
    let (v, w) = (q * (moves("b") - moves("a")), q * spin * 0.1);
    [v.x, v.y, v.z, w.x, w.y, w.z]
}

/// Rank of some vectors, the greatest taken first.
fn rank(mut rows: Vec<[f64; 6]>) -> usize {
    let size = |r: &[f64; 6]| r.iter().map(|x| x * x).sum::<f64>().sqrt();
    let first = rows.iter().map(size).fold(0.0, f64::max);
    for found in 0..6 {
        let best = rows
            .iter()
            .copied()
            .fold([0.0; 6], |b, r| if size(&r) > size(&b) { r } else { b });
        if size(&best) < 1e-4 * first {
            return found;
        }
        let unit = best.map(|x| x / size(&best));
        for row in &mut rows {
            let along: f64 = row.iter().zip(unit).map(|(x, u)| x * u).sum();
            for (x, u) in row.iter_mut().zip(unit) {
                *x -= along * u;
            }
        }
    }
    6
}

#[test]
fn every_joint_leaves_as_much_freedom_as_it_says() {
    for (kind, says, left) in KINDS {
        let start = Start::new(&mut Dice(5));
        let mut dice = Dice(17);
        let mut rows = Vec::new();
        for _ in 0..14 {
            // Slow, so that the joint stands as it did at the start.
            let mut rig = pair(kind, says, &start, 1e-4, &mut dice, 1e-4);
            rig.step();
            rows.push(twist(&rig, &start));
        }
        if *left == 0 {
            let size = rows.iter().flatten().fold(0.0_f64, |s, x| s.max(x.abs()));
            assert!(size < 1e-7, "{kind} moves at {size}");
        } else {
            assert_eq!(rank(rows), *left, "{kind} {says}");
        }
    }
}

#[test]
fn every_joint_holds_and_keeps_momentum_and_energy() {
    for (kind, says, _) in KINDS {
        for seed in 0..3 {
            let mut dice = Dice(seed);
            let start = Start::new(&mut dice);
            let mut rig = pair(kind, says, &start, 0.5, &mut dice, 0.002);
            let what = format!("{kind} {says}, seed {seed}");
            let (p, l) = rig.momentum();
            rig.step();
            let energy = rig.energy();
            let mut worst = 0.0_f64;
            rig.watch(0.6, |rig, report| {
                worst = worst.max(report.aim.error);
                assert!(
                    report.aim.converged,
                    "{what}: error {} at {} s",
                    report.aim.error,
                    rig.time()
                );
                assert_eq!(report.aim.redundant, 0, "{what}");
            });
            assert!(worst <= 1e-9, "{what}: {worst}");
            let (q, k) = rig.momentum();
            assert!(p.distance(q) < 1e-12, "{what}: {p} to {q}");
            // What holds velocities alone lets its points drift apart, and so the levers of its two impulses.
            let turns = if says.contains("velocity") {
                1e-3
            } else {
                1e-9
            };
            assert!(l.distance(k) < turns, "{what}: {l} to {k}");
            let kept = rig.energy() / energy;
            assert!(
                (kept - 1.0).abs() < 0.02,
                "{what}: keeps {kept} of its energy"
            );
        }
    }
}

/// Looks at poses, not at what the solver says.
#[test]
fn what_a_joint_holds_stands_where_it_stood() {
    for seed in 0..4 {
        let mut dice = Dice(100 + seed);
        let start = Start::new(&mut dice);
        let run = |kind: &str, says: &str, dice: &mut Dice| {
            let mut rig = pair(kind, says, &start, 0.5, dice, 0.002);
            let before = seen(&rig, &start);
            rig.run(0.4);
            (before, seen(&rig, &start))
        };
        let turn = rotation::from_scaled_axis(start.turn[0]).conjugate();
        let (axis, across) = (turn * AXIS, turn * ACROSS);
        for kind in [
            "ball",
            "hinge",
            "hinge_by_axis",
            "universal",
            "fixed",
            "fixed_by_points",
        ] {
            let says = if kind == "universal" { "second" } else { "" };
            let ((q0, _), (q, r)) = run(kind, says, &mut dice);
            assert!(r.length() < 1e-9, "{kind}: {r}");
            let carried = q * q0.conjugate();
            match kind {
                // What it turns about stays; the turn is about nothing else.
                "hinge" | "hinge_by_axis" => {
                    assert!((carried * axis).distance(axis) < 1e-7, "{kind}")
                }
                "universal" => assert!((carried * across).dot(axis).abs() < 1e-8),
                "fixed" | "fixed_by_points" => assert!(carried.xyz().length() < 1e-7, "{kind}"),
                _ => assert!(carried.xyz().length() > 1e-3, "{kind} does not turn"),
            }
        }
        let ((q0, _), (q, r)) = run("slider", "", &mut dice);
        assert!(q.dot(q0).abs() > 1.0 - 1e-15, "it turns");
        assert!(
            r.reject_from(axis).length() < 1e-9 && r.length() > 1e-3,
            "{r}"
        );
        let (_, (_, r)) = run("rail", "", &mut dice);
        assert!(
            r.reject_from(axis).length() < 1e-9 && r.length() > 1e-3,
            "{r}"
        );
        let (_, (_, r)) = run("plane", "", &mut dice);
        assert!(r.dot(axis).abs() < 1e-9 && r.length() > 1e-3, "{r}");
    }
}

/// Two links under gravity, the first from the world.
fn two_links(kind: &str) -> Rig {
    let mut text = world("step = 0.002");
    for k in 0..2 {
        let at = DVec3::X * (0.1 + 0.2 * f64::from(k));
        body(
            &mut text,
            &format!("link {k}"),
            at,
            "mass = 0.5\nhalf_extents = [0.1, 0.02, 0.03]",
        );
        let (a, x) = if k == 0 {
            ("world = [0, 0, 0]".to_string(), 0.0)
        } else {
            ("body = \"link 0\"".to_string(), 0.2)
        };
        joint(
            &mut text,
            &format!(
                "kind = \"{kind}\"\na = {{ {a} }}\nb = {{ body = \"link {k}\" }}\nat = [{x}, 0, 0]\naxis = [0, 0.2, 1]"
            ),
        );
    }
    Rig::new(&text)
}

#[test]
fn both_hinges_swing_alike_and_both_fixtures_hold_alike() {
    for [one, other] in [["hinge", "hinge_by_axis"], ["fixed", "fixed_by_points"]] {
        let (mut one, mut other) = (two_links(one), two_links(other));
        for _ in 0..500 {
            one.step();
            other.step();
            for name in ["link 0", "link 1"] {
                let (a, b) = (one.position(name), other.position(name));
                assert!(a.distance(b) < 1e-6, "{a} and {b} at {} s", one.time());
                assert!(one.orientation(name).dot(other.orientation(name)).abs() > 1.0 - 1e-10);
            }
        }
    }
}

/// A compound pendulum against its closed form: T = 2π √(I/(m g d)).
#[test]
fn a_hinge_swings_with_the_period_of_a_pendulum() {
    let mut text = world("step = 0.002");
    let (sin, cos) = real::sin_cos(0.02);
    body(
        &mut text,
        "bob",
        DVec3::new(0.5 * sin, -0.5 * cos, 0.0),
        "mass = 2\nform = { ball = 0.1 }\nrotation = [0, 0, 0.02]",
    );
    joint(
        &mut text,
        "kind = \"hinge\"\na = { world = [0, 0, 0] }\nb = { body = \"bob\" }\nat = [0, 0, 0]\naxis = [0, 0, 1]",
    );
    let mut rig = Rig::new(&text);
    let inertia = 2.0 * 0.25 + 0.4 * 2.0 * 0.01;
    let period = std::f64::consts::TAU * (inertia / (2.0 * G * 0.5)).sqrt();
    let measured = period_of(&mut rig, |rig| rig.position("bob").x, 8.0 * period);
    assert!(
        (measured / period - 1.0).abs() < 1e-3,
        "{measured} for {period}"
    );
}

/// Time between passages of zero upwards, s.
fn period_of(rig: &mut Rig, value: impl Fn(&Rig) -> f64, seconds: f64) -> f64 {
    let mut passages = Vec::new();
    let mut before = value(rig);
    rig.watch(seconds, |rig, _| {
        let now = value(rig);
        if before < 0.0 && now >= 0.0 {
            passages.push(rig.time() - rig.input.dt * now / (now - before));
        }
        before = now;
    });
    (passages[passages.len() - 1] - passages[0]) / (passages.len() - 1) as f64
}

#[test]
fn a_bead_swings_on_a_circle() {
    let mut text = world("step = 0.001");
    text += "[[particle]]\nname = \"bead\"\nmass = 0.1\nposition = [0.5, 0, 0]\n";
    joint(
        &mut text,
        "kind = \"curve\"\na = { world = [0, 0, 0] }\nb = { particle = \"bead\" }\naxis = [0, 0, 1]\ncurve = { circle = 0.5 }",
    );
    let mut rig = Rig::new(&text);
    let scale = 0.1 * G * 0.5;
    rig.watch(5.0, |rig, report| {
        assert!(report.aim.error <= 1e-9);
        let p = rig.position("bead");
        assert!((p.length() - 0.5).abs() < 1e-9 && p.z.abs() < 1e-9, "{p}");
        assert!(
            (rig.energy() / scale).abs() < 5e-3,
            "{} at {} s",
            rig.energy() / scale,
            rig.time()
        );
    });
}

#[test]
fn a_bead_slides_down_a_helix() {
    let (radius, pitch) = (0.2, 0.3);
    let mut text = world("step = 0.001");
    let start = DVec3::Y.any_orthonormal_vector() * radius;
    text += &format!(
        "[[particle]]\nname = \"bead\"\nmass = 0.1\nposition = {}\n",
        vector(start)
    );
    joint(
        &mut text,
        &format!(
            "kind = \"curve\"\na = {{ world = [0, 0, 0] }}\nb = {{ particle = \"bead\" }}\naxis = [0, 1, 0]\ncurve = {{ helix = [{radius}, {pitch}] }}"
        ),
    );
    let mut rig = Rig::new(&text);
    let climb = pitch / std::f64::consts::TAU;
    let square = climb * climb / (climb * climb + radius * radius);
    rig.watch(1.5, |rig, report| {
        assert!(report.aim.error <= 1e-9);
        let fallen = -rig.position("bead").y;
        let ideal = 0.5 * G * square * rig.time() * rig.time();
        assert!(
            (fallen - ideal).abs() < 2e-3 * ideal.max(0.01),
            "{fallen} for {ideal} at {} s",
            rig.time()
        );
    });
}

/// A conical pendulum: v² = g r sin θ tan θ keeps its height.
#[test]
fn a_ball_circles_in_a_sphere_at_its_height() {
    let (r, theta) = (0.5, 0.7);
    let (sin, cos) = real::sin_cos(theta);
    let v = (G * r * sin * sin / cos).sqrt();
    let mut text = world("step = 0.001");
    let at = DVec3::new(r * sin, -r * cos, 0.0);
    body(
        &mut text,
        "ball",
        at,
        &format!("mass = 0.2\nform = {{ ball = 0.02 }}\nvelocity = [0, 0, {v:?}]"),
    );
    joint(
        &mut text,
        "kind = \"surface\"\na = { world = [0, 0, 0] }\nb = { body = \"ball\", at = [0, 0, 0] }\nsurface = { sphere = 0.5 }",
    );
    let mut rig = Rig::new(&text);
    rig.watch(4.0, |rig, report| {
        assert!(report.aim.error <= 1e-9);
        let p = rig.position("ball");
        assert!((p.length() - r).abs() < 1e-9);
        assert!((p.y - at.y).abs() < 2e-3 * r, "{p} at {} s", rig.time());
    });
}

/// A wheel on a hinge from the world, moment about the axis 0.5 m r², with a drive and whatever else.
fn wheel(says: &str, step: f64) -> Rig {
    let mut text = world(&format!("step = {step:?}\ngravity = [0, 0, 0]"));
    body(
        &mut text,
        "wheel",
        DVec3::ZERO,
        "mass = 2\nform = { cylinder = { half_length = 0.05, radius = 0.2 } }",
    );
    joint(
        &mut text,
        &format!(
            "kind = \"hinge\"\na = {{ world = [0, 0, 0] }}\nb = {{ body = \"wheel\" }}\nat = [0, 0, 0]\naxis = [0, 1, 0]\n{says}"
        ),
    );
    Rig::new(&text)
}

const MOMENT: f64 = 0.5 * 2.0 * 0.04;

/// How far it has turned about y, rad, within half a turn.
fn turn(rig: &Rig, name: &str) -> f64 {
    let q = rig.orientation(name);
    2.0 * real::atan2(q.y, q.w)
}

#[test]
fn controllers_reach_what_they_are_told_with_the_force_they_have() {
    let mut rig = wheel(
        "drive = { pid = { place = 1.2, proportional = 4, integral = 2, differential = 0.6, most = 0.5 } }",
        0.002,
    );
    let mut before = DVec3::ZERO;
    rig.watch(10.0, |rig, _| {
        let now = rig.spin("wheel");
        let torque = (now - before).length() / 0.002 * MOMENT;
        assert!(torque <= 0.5 * (1.0 + 1e-6), "{torque} N·m");
        before = now;
    });
    assert!(
        (turn(&rig, "wheel") - 1.2).abs() < 1e-3,
        "{}",
        turn(&rig, "wheel")
    );

    let mut rig = wheel(
        "drive = { pid = { speed = -3, proportional = 0.5, integral = 0.5, most = 0.2 } }",
        0.002,
    );
    rig.watch(10.0, |rig, _| {
        assert!(rig.spin("wheel").length() <= 0.2 / MOMENT * rig.time() + 1e-9)
    });
    assert!(
        (rig.spin("wheel").y + 3.0).abs() < 1e-3,
        "{}",
        rig.spin("wheel")
    );

    let mut rig = wheel(
        "drive = { servo = { target = -2, stiffness = 5, damping = 0.8, most = 0.3 } }",
        0.002,
    );
    rig.watch(8.0, |rig, _| {
        assert!(rig.spin("wheel").length() <= 0.3 / MOMENT * rig.time() + 1e-9)
    });
    assert!(
        (turn(&rig, "wheel") + 2.0).abs() < 1e-4,
        "{}",
        turn(&rig, "wheel")
    );
}

#[test]
fn a_motor_accelerates_with_its_greatest_force_and_then_holds_its_speed() {
    let mut rig = wheel("drive = { speed = { target = 5, most = 0.1 } }", 0.002);
    rig.watch(4.0, |rig, _| {
        let ideal = (0.1 / MOMENT * rig.time()).min(5.0);
        assert!(
            (rig.spin("wheel").y - ideal).abs() < 1e-6,
            "{} for {ideal} at {} s",
            rig.spin("wheel").y,
            rig.time()
        );
    });
    // A constant torque.
    let mut rig = wheel("drive = { force = -0.1 }", 0.002);
    rig.run(1.0);
    assert!(
        (rig.spin("wheel").y + 0.1 / MOMENT).abs() < 1e-6,
        "{}",
        rig.spin("wheel")
    );
}

#[test]
fn friction_in_a_joint_brings_it_to_rest_and_holds_it() {
    let mut text = world("step = 0.002");
    body(
        &mut text,
        "box",
        DVec3::ZERO,
        "mass = 2\nhalf_extents = [0.1, 0.1, 0.1]\nvelocity = [1, 0, 0]",
    );
    joint(
        &mut text,
        "kind = \"slider\"\na = { world = [0, 0, 0] }\nb = { body = \"box\" }\nat = [0, 0, 0]\naxis = [1, 0, 0]\ndrive = { speed = { target = 0, most = 2 } }",
    );
    let mut rig = Rig::new(&text);
    rig.run(3.0);
    // v²/2a
    assert!(
        (rig.position("box").x - 0.5).abs() < 2e-3,
        "{}",
        rig.position("box")
    );
    assert!(rig.velocity("box").length() < 1e-9);
}

/// Drives act on both sides: what turns one turns the other back.
#[test]
fn drives_between_free_bodies_keep_momentum() {
    for drive in [
        "{ pid = { place = 1, proportional = 4, integral = 1, differential = 0.6, most = 0.5 } }",
        "{ speed = { target = 5, most = 0.1 } }",
        "{ servo = { target = 1, stiffness = 5, damping = 0.1, most = 0.5 } }",
        "{ spring = { rest = 0.5, stiffness = 3 } }",
        "{ force = 0.1 }",
    ] {
        for kind in ["hinge", "hinge_by_axis", "slider"] {
            let mut text = world("step = 0.002\ngravity = [0, 0, 0]");
            body(
                &mut text,
                "a",
                DVec3::new(-0.1, 0.0, 0.0),
                "mass = 1\nhalf_extents = [0.1, 0.05, 0.02]\ncollide = false",
            );
            body(
                &mut text,
                "b",
                DVec3::new(0.1, 0.05, 0.0),
                "mass = 2\nhalf_extents = [0.05, 0.08, 0.1]\ncollide = false",
            );
            joint(
                &mut text,
                &format!(
                    "kind = \"{kind}\"\na = {{ body = \"a\" }}\nb = {{ body = \"b\" }}\nat = [0, 0, 0]\naxis = [0, 0.6, 0.8]\ndrive = {drive}"
                ),
            );
            let mut rig = Rig::new(&text);
            rig.run(0.5);
            let (p, l) = rig.momentum();
            assert!(
                p.length() < 1e-12 && l.length() < 1e-9,
                "{kind} {drive}: {p} {l}"
            );
            assert!(
                rig.velocity("a").length() + rig.spin("a").length() > 1e-3,
                "{kind} {drive} drives nothing"
            );
        }
    }
}

/// A car in the air: sliders, steering hinges and motors in a row. Its motors give all they have and never reach their speed.
#[test]
fn motors_at_their_limit_do_not_throw_a_mechanism_apart() {
    for (target, most) in [(-32.0, 1.5), (-1e4, 1.5), (-32.0, 0.01), (-1.0, 100.0)] {
        let mut text = world("step = 0.005\ngravity = [0, 0, 0]");
        body(
            &mut text,
            "car",
            DVec3::ZERO,
            "mass = 10\nhalf_extents = [0.26, 0.045, 0.11]\ncollide = false",
        );
        for (k, (x, z)) in [(0.17, 0.15), (0.17, -0.15), (-0.17, 0.15), (-0.17, -0.15)]
            .into_iter()
            .enumerate()
        {
            let (inner, outer) = (DVec3::new(x, -0.08, 0.8 * z), DVec3::new(x, -0.08, z));
            let small = "mass = 0.3\nhalf_extents = [0.02, 0.02, 0.02]\ncollide = false";
            body(&mut text, &format!("hub {k}"), inner, small);
            body(&mut text, &format!("knuckle {k}"), inner, small);
            let wheel = "rotation = [1.5707963, 0, 0]\nmass = 0.6\nform = { cylinder = { half_length = 0.025, radius = 0.07 } }\ncollide = false";
            body(&mut text, &format!("wheel {k}"), outer, wheel);
            let drive = format!("drive = {{ speed = {{ target = {target:?}, most = {most:?} }} }}");
            for (kind, a, b, at, axis, more) in [
                (
                    "slider",
                    "car".to_string(),
                    format!("hub {k}"),
                    inner,
                    "[0, 1, 0]",
                    "",
                ),
                (
                    "hinge",
                    format!("hub {k}"),
                    format!("knuckle {k}"),
                    inner,
                    "[0, 1, 0]",
                    "",
                ),
                (
                    "hinge",
                    format!("knuckle {k}"),
                    format!("wheel {k}"),
                    outer,
                    "[0, 0, 1]",
                    &drive,
                ),
            ] {
                joint(
                    &mut text,
                    &format!(
                        "kind = \"{kind}\"\na = {{ body = \"{a}\" }}\nb = {{ body = \"{b}\" }}\nat = {}\naxis = {axis}\n{more}",
                        vector(at)
                    ),
                );
            }
        }
        let mut rig = Rig::new(&text);
        rig.watch(0.3, |rig, report| {
            assert!(
                report.aim.error <= 1e-9,
                "{target}, {most}: {} at {} s",
                report.aim.error,
                rig.time()
            );
        });
        let (p, l) = rig.momentum();
        assert!(
            p.length() < 1e-9 && l.length() < 1e-8,
            "{target}, {most}: {p} {l}"
        );
    }
}

/// A mass on a slider with a spring.
fn oscillator(spring: &str, gravity: f64, step: f64, start: &str) -> Rig {
    let mut text = world(&format!("step = {step:?}\ngravity = [{gravity:?}, 0, 0]"));
    body(
        &mut text,
        "mass",
        DVec3::ZERO,
        &format!("mass = 2\nhalf_extents = [0.05, 0.05, 0.05]\n{start}"),
    );
    joint(
        &mut text,
        &format!(
            "kind = \"slider\"\na = {{ world = [0, 0, 0] }}\nb = {{ body = \"mass\" }}\nat = [0, 0, 0]\naxis = [1, 0, 0]\ndrive = {{ spring = {spring} }}"
        ),
    );
    Rig::new(&text)
}

#[test]
fn a_spring_swings_at_the_root_of_stiffness_over_mass() {
    let mut rig = oscillator(
        "{ rest = 0, stiffness = 200 }",
        0.0,
        0.001,
        "velocity = [1, 0, 0]",
    );
    let period = std::f64::consts::TAU * 0.1;
    let measured = period_of(&mut rig, |rig| rig.position("mass").x, 6.0 * period);
    assert!(
        (measured / period - 1.0).abs() < 2e-3,
        "{measured} for {period}"
    );
    let kept = rig
        .velocity("mass")
        .x
        .abs()
        .max(rig.position("mass").x.abs() * 10.0);
    println!("amplitude after six periods: {kept}");
    assert!(kept > 0.6 && kept < 1.001, "{kept}");
    // It hangs where force and weight balance, whatever the step.
    for step in [0.002, 0.02] {
        let mut rig = oscillator(
            "{ rest = 0.1, stiffness = 200, damping = 20 }",
            9.81,
            step,
            "",
        );
        rig.run(4.0);
        let ideal = 0.1 + 2.0 * G / 200.0;
        assert!(
            (rig.position("mass").x - ideal).abs() < 1e-6,
            "{} for {ideal}",
            rig.position("mass").x
        );
    }
}

#[test]
fn a_spring_as_stiff_as_steel_is_stable_at_any_step() {
    let mut rig = oscillator(
        "{ rest = 0, stiffness = 1e9, damping = 10 }",
        9.81,
        0.02,
        "velocity = [1, 0, 0]",
    );
    rig.watch(2.0, |rig, _| {
        assert!(
            rig.position("mass").length() < 0.05,
            "{}",
            rig.position("mass")
        )
    });
    assert!(rig.velocity("mass").length() < 1.001);
}

#[test]
fn a_damper_takes_speed_exponentially() {
    let mut rig = oscillator(
        "{ stiffness = 0, damping = 4 }",
        0.0,
        0.001,
        "velocity = [1, 0, 0]",
    );
    rig.run(1.0);
    let ideal = real::exp(-2.0);
    assert!(
        (rig.velocity("mass").x / ideal - 1.0).abs() < 5e-3,
        "{} for {ideal}",
        rig.velocity("mass").x
    );
}

#[test]
fn a_free_joint_is_a_spring_between_two_points() {
    let mut text = world("step = 0.001\ngravity = [0, 0, 0]");
    body(
        &mut text,
        "a",
        DVec3::new(-0.2, 0.0, 0.0),
        "mass = 1\nhalf_extents = [0.02, 0.02, 0.02]",
    );
    body(
        &mut text,
        "b",
        DVec3::new(0.2, 0.0, 0.0),
        "mass = 3\nhalf_extents = [0.02, 0.02, 0.02]",
    );
    joint(
        &mut text,
        "kind = \"free\"\na = { body = \"a\", at = [0, 0, 0] }\nb = { body = \"b\", at = [0, 0, 0] }\ndrive = { spring = { rest = 0.35, stiffness = 300 } }",
    );
    let mut rig = Rig::new(&text);
    // Reduced mass 0.75 kg.
    let period = std::f64::consts::TAU * (0.75_f64 / 300.0).sqrt();
    let measured = period_of(
        &mut rig,
        |rig| rig.position("b").x - rig.position("a").x - 0.35,
        6.0 * period,
    );
    assert!(
        (measured / period - 1.0).abs() < 2e-3,
        "{measured} for {period}"
    );
    assert!(rig.momentum().0.length() < 1e-12);
}

/// A pendulum with stops: thrown against one, it rests on it as long as it is driven there and leaves it at once after.
#[test]
fn stops_hold_and_do_not_stick() {
    for kind in ["hinge", "hinge_by_axis"] {
        let mut text = world("step = 0.002");
        body(
            &mut text,
            "bob",
            DVec3::new(0.0, -0.5, 0.0),
            "mass = 1\nhalf_extents = [0.05, 0.05, 0.05]\nvelocity = [2, 0, 0]\nspin = [0, 0, 4]",
        );
        joint(
            &mut text,
            &format!(
                "kind = \"{kind}\"\na = {{ world = [0, 0, 0] }}\nb = {{ body = \"bob\" }}\nat = [0, 0, 0]\naxis = [0, 0, 1]\nrange = [-0.1, 0.3]"
            ),
        );
        let mut rig = Rig::new(&text);
        let (mut low, mut high) = (0.0_f64, 0.0_f64);
        rig.watch(3.0, |rig, _| {
            let p = rig.position("bob");
            let angle = real::atan2(p.x, -p.y);
            low = low.min(angle);
            high = high.max(angle);
        });
        assert!((high - 0.3).abs() < 1e-5, "{kind}: stops at {high}");
        assert!((low + 0.1).abs() < 1e-5, "{kind}: comes back to {low}");
    }
    // A slider falls to its lower stop and stays.
    let mut text = world("step = 0.002");
    body(
        &mut text,
        "box",
        DVec3::ZERO,
        "mass = 1\nhalf_extents = [0.05, 0.05, 0.05]",
    );
    joint(
        &mut text,
        "kind = \"slider\"\na = { world = [0, 0, 0] }\nb = { body = \"box\" }\nat = [0, 0, 0]\naxis = [0, 1, 0]\nrange = [-0.2, 0.1]",
    );
    let mut rig = Rig::new(&text);
    rig.run(2.0);
    assert!(
        (rig.position("box").y + 0.2).abs() < 1e-6,
        "{}",
        rig.position("box")
    );
    assert!(rig.velocity("box").length() < 1e-6);
    // A ball joint's swing.
    let mut text = world("step = 0.002");
    body(
        &mut text,
        "bob",
        DVec3::new(0.0, 0.3, 0.0),
        "mass = 1\nhalf_extents = [0.05, 0.1, 0.05]\nspin = [1, 0, 0.5]",
    );
    joint(
        &mut text,
        "kind = \"ball\"\na = { world = [0, 0, 0] }\nb = { body = \"bob\" }\nat = [0, 0, 0]\naxis = [0, 1, 0]\nrange = [0, 0.5]",
    );
    let mut rig = Rig::new(&text);
    let mut most = 0.0_f64;
    rig.watch(3.0, |rig, _| {
        let up = rig.orientation("bob") * DVec3::Y;
        most = most.max(real::acos(up.y.min(1.0)));
        assert!(rig.point("bob", DVec3::new(0.0, -0.3, 0.0)).length() < 1e-8);
    });
    assert!((most - 0.5).abs() < 1e-4, "{most}");
    // A rope: a free joint with a greatest length.
    let mut text = world("step = 0.002");
    body(
        &mut text,
        "bob",
        DVec3::new(0.1, 0.0, 0.0),
        "mass = 1\nform = { ball = 0.05 }",
    );
    joint(
        &mut text,
        "kind = \"free\"\na = { world = [0, 0, 0] }\nb = { body = \"bob\", at = [0, 0, 0] }\nrange = [0, 0.4]",
    );
    let mut rig = Rig::new(&text);
    let mut farthest = 0.0_f64;
    rig.watch(3.0, |rig, _| {
        farthest = farthest.max(rig.position("bob").length())
    });
    assert!((farthest - 0.4).abs() < 1e-5, "{farthest}");
}

#[test]
fn a_joint_too_weak_for_its_load_gives_way_with_all_its_strength() {
    let mut text = world("step = 0.002");
    body(
        &mut text,
        "box",
        DVec3::ZERO,
        "mass = 2\nhalf_extents = [0.05, 0.05, 0.05]",
    );
    joint(
        &mut text,
        "kind = \"ball\"\na = { world = [0, 0, 0] }\nb = { body = \"box\" }\nat = [0, 0, 0]\nstrength = 12",
    );
    let mut rig = Rig::new(&text);
    rig.run(0.5);
    // In the first step it still holds: half of g h is less than it can bear.
    let ideal = -(G - 6.0) * 0.5;
    assert!(
        (rig.velocity("box").y - ideal).abs() < 1e-2,
        "{} for {ideal}",
        rig.velocity("box").y
    );
    // And holds what it can.
    let mut rig = Rig::new(&text.replace("strength = 12", "strength = 20"));
    rig.run(1.0);
    assert!(rig.position("box").length() < 1e-8);
}

/// A hand draws a jointed arm against a wall: the wall and the joint win.
#[test]
fn a_follower_stops_at_a_wall_and_joints_hold() {
    let mut text = world("step = 0.002\ngravity = [0, 0, 0]");
    body(
        &mut text,
        "wall",
        DVec3::new(0.5, 0.0, 0.0),
        "motion = \"static\"\nhalf_extents = [0.1, 1, 1]",
    );
    body(
        &mut text,
        "hand",
        DVec3::new(0.0, 0.0, 0.0),
        "motion = \"kinematic\"\nhalf_extents = [0.01, 0.01, 0.01]\ncollide = false\nvelocity = [0.5, 0, 0]",
    );
    body(
        &mut text,
        "box",
        DVec3::ZERO,
        "mass = 1\nhalf_extents = [0.05, 0.05, 0.05]\nfriction = [0, 0]",
    );
    body(
        &mut text,
        "tail",
        DVec3::new(-0.2, 0.0, 0.0),
        "mass = 1\nhalf_extents = [0.1, 0.02, 0.02]",
    );
    joint(
        &mut text,
        "kind = \"ball\"\na = { body = \"hand\" }\nb = { body = \"box\" }\nat = [0, 0, 0]\nstrength = 20",
    );
    joint(
        &mut text,
        "kind = \"ball\"\na = { body = \"box\" }\nb = { body = \"tail\" }\nat = [-0.1, 0, 0]",
    );
    let mut rig = Rig::new(&text);
    rig.watch(3.0, |rig, _| {
        assert!(
            rig.position("box").x < 0.3505,
            "{} at {} s",
            rig.position("box"),
            rig.time()
        );
        let gap = rig
            .point("box", DVec3::new(-0.1, 0.0, 0.0))
            .distance(rig.point("tail", DVec3::new(0.1, 0.0, 0.0)));
        assert!(gap < 1e-8, "the joint opens by {gap} m at {} s", rig.time());
        // The hand never draws harder than it may (B56).
        let drawn = rig.simulation.joint_force(0).unwrap().held;
        assert!(
            drawn <= 20.0 * (1.0 + 1e-9),
            "{drawn} N at {} s",
            rig.time()
        );
    });
    let drawn = rig.simulation.joint_force(0).unwrap().held;
    assert!(
        (drawn - 20.0).abs() < 1e-6,
        "against the wall it draws with all it has: {drawn} N"
    );
    assert!(rig.position("box").x > 0.34, "{}", rig.position("box"));
}

#[test]
fn a_mouse_draws_a_jointed_arm_against_a_wall() {
    let mut text = world("step = 0.002");
    body(
        &mut text,
        "wall",
        DVec3::new(0.5, 0.0, 0.0),
        "motion = \"static\"\nhalf_extents = [0.1, 1, 1]\nfriction = [0, 0]",
    );
    for k in 0..3 {
        body(
            &mut text,
            &format!("link {k}"),
            DVec3::new(0.0, 0.3 - 0.2 * f64::from(k), 0.0),
            "mass = 0.5\nhalf_extents = [0.03, 0.1, 0.03]\nfriction = [0, 0]",
        );
        let (a, y) = if k == 0 {
            ("world = [0, 0.4, 0]".to_string(), 0.4)
        } else {
            (
                format!("body = \"link {}\"", k - 1),
                0.4 - 0.2 * f64::from(k),
            )
        };
        joint(
            &mut text,
            &format!(
                "kind = \"ball\"\na = {{ {a} }}\nb = {{ body = \"link {k}\" }}\nat = [0, {y:?}, 0]"
            ),
        );
    }
    let mut rig = Rig::new(&text);
    let (matter, node) = rig.at("link 2");
    rig.input.pulls = vec![trocar_scene::Pull {
        anchor: trocar_dynamics::Anchor::frame(matter, node as u32, DVec3::ZERO),
        target: DVec3::new(1.5, 0.2, 0.0),
        force: 50.0,
    }];
    rig.watch(3.0, |rig, report| {
        assert!(
            report.aim.error < 1e-5,
            "{} at {} s",
            report.aim.error,
            rig.time()
        );
        for k in 0..3 {
            let (p, q) = (
                rig.position(&format!("link {k}")),
                rig.orientation(&format!("link {k}")),
            );
            let reach = [0.03, 0.1, 0.03]
                .iter()
                .zip([DVec3::X, DVec3::Y, DVec3::Z])
                .map(|(h, a)| (q * a).x.abs() * h)
                .sum::<f64>();
            assert!(
                p.x + reach < 0.401,
                "link {k} is {} m in the wall at {} s",
                p.x + reach - 0.4,
                rig.time()
            );
        }
    });
}

/// A sheet that nothing holds, with a body on it.
fn on_a_sheet(kind: &str, a: &str, at: &str, more: &str) -> Rig {
    let mut text = world("step = 0.001\ngravity = [0, 0, 0]");
    text += "[[sheet]]\nname = \"sheet\"\norigin = [0, 0, 0]\nu = [0.1, 0, 0]\nv = [0, 0, 0.1]\nrows = 5\ncolumns = 5\n\
             material = { mass = 0.002, damping = 0, stiffness = 30, memory = 0 }\n";
    body(
        &mut text,
        "box",
        DVec3::new(0.06, 0.05, 0.05),
        "mass = 0.05\nhalf_extents = [0.01, 0.01, 0.02]\nvelocity = [0.1, 0.3, 0.05]\nspin = [1, 2, 3]",
    );
    joint(
        &mut text,
        &format!(
            "kind = \"{kind}\"\na = {{ body = \"box\"{a} }}\nb = {{ tissue = \"sheet\", {at} }}\nat = [0.06, 0, 0.05]\naxis = [0, 1, 0]\n{more}"
        ),
    );
    Rig::new(&text)
}

#[test]
fn joints_between_bodies_and_tissue_hold_and_keep_momentum() {
    let (node, place) = ("node = 12", "at = [0.06, 0, 0.05]");
    let centre = ", at = [0, 0, 0]";
    for (kind, a, at, more) in [
        ("distance", "", node, ""),
        ("distance", centre, place, ""),
        ("ball", "", place, ""),
        ("ball", ", at = [-0.01, -0.05, 0]", node, ""),
        ("rail", "", place, ""),
        ("plane", "", place, ""),
        ("surface", centre, place, "surface = { sphere = 0.05 }"),
    ] {
        let mut rig = on_a_sheet(kind, a, at, more);
        let (p, l) = rig.momentum();
        let what = format!("{kind} {at}");
        rig.step();
        rig.watch(1.0, |rig, report| {
            assert!(
                report.aim.error <= 1e-9,
                "{what}: {} at {} s",
                report.aim.error,
                rig.time()
            );
        });
        let (q, k) = rig.momentum();
        assert!(p.distance(q) < 1e-10, "{what}: {p} to {q}");
        assert!(l.distance(k) < 1e-6, "{what}: {l} to {k}");
    }
}

#[test]
fn what_a_kinematic_wheel_carries_moves_with_its_rim() {
    // The velocity after a step is that of the rim where it is then, not where it was.
    let mut text = world("step = 0.01\ngravity = [0, 0, 0]");
    body(
        &mut text,
        "wheel",
        DVec3::ZERO,
        "motion = \"kinematic\"\nhalf_extents = [0.5, 0.5, 0.1]\ncollide = false\nspin = [0, 0, 10]",
    );
    body(
        &mut text,
        "bead",
        DVec3::X * 0.5,
        "mass = 1\nhalf_extents = [0.01, 0.01, 0.01]\ncollide = false\nvelocity = [0, 5, 0]\nspin = [0, 0, 10]",
    );
    joint(
        &mut text,
        "kind = \"ball\"\na = { body = \"wheel\" }\nb = { body = \"bead\" }\nat = [0.5, 0, 0]",
    );
    let mut rig = Rig::new(&text);
    rig.watch(0.5, |rig, _| {
        let (p, v) = (rig.position("bead"), rig.velocity("bead"));
        let rim = (DVec3::Z * 10.0).cross(p);
        assert!(v.distance(rim) < 1e-6, "{v} instead of {rim}");
    });
}

//! A global-dynamic object (K55): a body with mass, inertia, damping, and springs to where it starts moves as the closed form of its oscillator says; what springs
//! draw gains no energy; what makes no sense is refused at its place.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::rigid::{Rig, body, joint, world};
use glam::DVec3;
use trocar_math::{real, rotation};
use trocar_scene::{Insight, Scene, Views};

/// How m ẍ + d ẋ + k x = 0 goes on from x = 0 with speed 1: place and speed after `t` seconds.
fn oscillator(m: f64, d: f64, k: f64, t: f64) -> f64 {
    let a = d / (2.0 * m);
    let square = k / m - a * a;
    let w = square.abs().sqrt();
    if square > 0.0 {
        real::exp(-a * t) * real::sin_cos(w * t).0 / w
    } else {
        (real::exp((w - a) * t) - real::exp((-w - a) * t)) / (2.0 * w)
    }
}

/// The farthest a held body comes from its closed form: its place, m, and its turn, rad.
fn error(step: f64, [d, k, turn_d, turn_k]: [f64; 4], axis: usize) -> [f64; 2] {
    let (mass, inertia) = (0.2, [3e-4, 5e-4, 4e-4]);
    let mut text = world(&format!("step = {step:?}\ngravity = [0, 0, 0]"));
    let (mut velocity, mut spin) = ([0.0; 3], [0.0; 3]);
    (velocity[axis], spin[axis]) = (0.1, 2.0);
    let at = DVec3::new(0.03, -0.02, 0.05);
    body(
        &mut text,
        "held",
        at,
        &format!(
            "mass = {mass:?}\nform = {{ ball = 0.02 }}\ninertia = {inertia:?}\nvelocity = {velocity:?}\nspin = {spin:?}\n\
             damping = {d:?}\nrest_stiffness = {k:?}\nturn_damping = {turn_d:?}\nrest_torsion = {turn_k:?}"
        ),
    );
    let mut rig = Rig::new(&text);
    let mut worst = [0.0_f64; 2];
    rig.watch(1.5, |rig, _| {
        let t = rig.time();
        let mut along = DVec3::ZERO;
        along[axis] = 1.0;
        let place = at + along * (0.1 * oscillator(mass, d, k, t));
        worst[0] = worst[0].max(rig.position("held").distance(place));
        let turn = rotation::to_scaled_axis(rig.orientation("held"));
        let wanted = along * (2.0 * oscillator(inertia[axis], turn_d, turn_k, t));
        worst[1] = worst[1].max(turn.distance(wanted));
    });
    worst
}

#[test]
fn it_swings_and_creeps_as_its_oscillator_does() {
    for axis in 0..3 {
        // Damped weakly, and beyond the critical 2 √(mk).
        for constants in [[0.1, 20.0, 2e-4, 0.05], [8.0, 20.0, 2e-2, 0.05]] {
            let [long, short] = [1e-3, 2.5e-4].map(|h| error(h, constants, axis));
            for (long, short) in long.into_iter().zip(short) {
                assert!(long > 0.0 && short < 3e-3, "{constants:?} {long} {short}");
                // First order: a quarter of the step, a quarter of the error.
                assert!(
                    (long / short - 4.0).abs() < 0.5,
                    "{constants:?} {long} {short}"
                );
            }
        }
    }
}

#[test]
fn without_damping_nothing_is_gained_or_lost() {
    let mut text = world("step = 0.002\ngravity = [0, -9.81, 0]");
    body(
        &mut text,
        "held",
        DVec3::ZERO,
        "mass = 0.1\nform = { ball = 0.01 }\ncollide = false\nvelocity = [0.2, 0, 0.1]\nspin = [3, 1, 2]\nrest_stiffness = 40\nrest_torsion = 1e-3",
    );
    // Springs to a point in space, on a body off its centre and on a particle.
    body(
        &mut text,
        "hung",
        DVec3::X,
        "mass = 0.1\nhalf_extents = [0.02, 0.01, 0.01]\ncollide = false\nspin = [0, 0, 2]",
    );
    text += r#"[[particle]]
name = "bead"
mass = 0.05
position = [2, 0, 0]
velocity = [0.3, 0, 0]
[[element]]
a = { body = "hung", at = [0.02, 0, 0] }
b = { world = [1.02, 0.1, 0] }
answer = { stiffness = 30 }
[[element]]
a = { particle = "bead" }
b = { world = [2, 0.1, 0] }
answer = { stiffness = 20 }
"#;
    let mut rig = Rig::new(&text);
    let start = rig.simulation.energy().total();
    let (mut least, mut most) = (f64::MAX, f64::MIN);
    // The last two of forty seconds, some hundred swings later, against the first two.
    let mut spread = |rig: &mut Rig| {
        (least, most) = (f64::MAX, f64::MIN);
        rig.watch(2.0, |rig, _| {
            let energy = rig.simulation.energy().total();
            (least, most) = (least.min(energy), most.max(energy));
        });
        (least, most)
    };
    let first = spread(&mut rig);
    rig.run(36.0);
    let last = spread(&mut rig);
    let size = 0.05;
    assert!((start - first.0).abs() < size, "{start} {first:?}");
    assert!((last.0 - first.0).abs() < 0.05 * size, "{first:?} {last:?}");
    assert!((last.1 - first.1).abs() < 0.05 * size, "{first:?} {last:?}");
}

#[test]
fn it_comes_to_rest_where_weight_and_spring_are_in_balance_and_shows_it() {
    let mut text = world("step = 0.002");
    body(
        &mut text,
        "held",
        DVec3::ZERO,
        "mass = 0.1\nform = { ball = 0.01 }\ndamping = 1\nturn_damping = 1e-3\nrest_stiffness = 50",
    );
    let mut rig = Rig::new(&text);
    rig.run(4.0);
    let sunk = 0.1 * 9.81 / 50.0;
    assert!(rig.position("held").distance(DVec3::NEG_Y * sunk) < 1e-7);
    let mut insight = Insight::default();
    let wanted = Views {
        elements: true,
        ..Views::default()
    };
    rig.simulation.insight(wanted, &mut insight);
    assert_eq!(insight.elements.len(), 1);
    assert!((insight.elements[0].force - 0.981).abs() < 1e-4);
    let elastic = rig.simulation.energy().elastic;
    assert!((elastic / (0.5 * 50.0 * sunk * sunk) - 1.0).abs() < 1e-4);
}

/// Damping acts beside joints, too: a hinge holds, and the door swings as J φ̈ + d φ̇ + k φ says about it.
#[test]
fn a_damped_door_on_a_hinge_swings_as_the_closed_form() {
    let (m, half, d, k, spin) = (0.3, 0.1, 0.01, 0.2, 1.0);
    let mut text = world("step = 0.0005\ngravity = [0, 0, 0]");
    body(
        &mut text,
        "door",
        DVec3::X * half,
        &format!(
            "mass = {m:?}\nhalf_extents = [{half:?}, 0.2, 0.01]\nspin = [0, {spin:?}, 0]\nvelocity = [0, 0, {:?}]\n\
             turn_damping = {d:?}\nrest_torsion = {k:?}",
            -spin * half
        ),
    );
    joint(
        &mut text,
        "kind = \"hinge\"\na = { body = \"door\" }\nb = { world = [0, 0, 0] }\nat = [0, 0, 0]\naxis = [0, 1, 0]",
    );
    let mut rig = Rig::new(&text);
    // About the hinge: that of a box, and m s² more.
    let inertia = m / 3.0 * (half * half + 0.01 * 0.01) + m * half * half;
    rig.watch(2.0, |rig, _| {
        let turn = rotation::to_scaled_axis(rig.orientation("door"));
        let wanted = spin * oscillator(inertia, d, k, rig.time());
        assert!(
            (turn.y - wanted).abs() < 2e-3,
            "{} s: {turn} {wanted}",
            rig.time()
        );
        assert!(rig.gap() < 1e-6, "{}", rig.gap());
    });
}

#[test]
fn what_makes_no_sense_is_refused() {
    let refused = |says: &str| {
        let mut text = world("");
        body(
            &mut text,
            "thing",
            DVec3::ZERO,
            &format!("form = {{ ball = 0.01 }}\n{says}"),
        );
        let scene = Scene::from_text("test.toml", &text).unwrap();
        let error = trocar_scene::Simulation::new(&scene, 1).err();
        error.map(|e| e.to_string()).unwrap_or_default()
    };
    assert_eq!(refused("mass = 1\ndamping = 2"), "");
    for (says, why) in [
        ("mass = 1\ndamping = -1", "its damping is -1"),
        ("mass = 1\nturn_damping = nan", "its turn_damping is NaN"),
        (
            "mass = 1\nrest_stiffness = inf",
            "its rest_stiffness is inf",
        ),
        ("mass = 1\nrest_torsion = -0.1", "its rest_torsion is -0.1"),
        ("mass = 1\ninertia = [1, 1, 0]", "each must be positive"),
        ("mass = 1\ninertia = [1, -1, 1]", "each must be positive"),
        (
            "motion = \"static\"\nrest_stiffness = 1",
            "for bodies that move by what acts on them",
        ),
        // Too stiff for any number of substeps.
        ("mass = 1e-6\nrest_stiffness = 1e8", "substeps"),
    ] {
        let said = refused(says);
        assert!(said.contains(why), "{says}: {said}");
    }
}

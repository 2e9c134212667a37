//! What a joint says it bears is what hangs on it, however it is solved, at rest and in motion, held, driven or at its stop.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::rigid::{Rig, body, joint, world};
use glam::DVec3;
use trocar_math::real;
use trocar_scene::JointForce;

const G: f64 = 9.81;
const SOLVERS: [&str; 4] = ["auto", "iterative", "system", "graph"];

fn force(rig: &Rig, k: usize) -> JointForce {
    rig.simulation.joint_force(k).unwrap()
}

/// A chain of three, 1 kg each, hangs straight down: the k-th joint bears all below it. Alone it is solved as a tree.
#[test]
fn a_chain_at_rest_weighs_what_it_weighs() {
    for solver in SOLVERS {
        for (lengthwise, kind) in [(false, "ball"), (true, "ball"), (false, "hinge_by_axis")] {
            let mut text = world(&format!(
                "step = 0.005\nsolver = \"{solver}\"\niterations = 2000"
            ));
            // Swings so fast for its step, if its links are short, that bonds pull along mean arms.
            let half = if lengthwise { 0.001 } else { 0.1 };
            for k in 0..3 {
                let place = DVec3::Y * (-half * (2 * k + 1) as f64);
                let says = "mass = 1\ninertia = [0.001, 0.001, 0.001]\ncollide = false\nhalf_extents = [0.01, 0.01, 0.01]";
                body(&mut text, &format!("{k}"), place, says);
            }
            for k in 0..3 {
                let a = match k {
                    0 => "world = [0, 0, 0]".into(),
                    _ => format!("body = \"{}\"", k - 1),
                };
                let at = format!("[0, {:?}, 0]", -half * 2.0 * f64::from(k));
                joint(
                    &mut text,
                    &format!(
                        "kind = \"{kind}\"\na = {{ {a} }}\nb = {{ body = \"{k}\" }}\nat = {at}\naxis = [0, 0, 1]"
                    ),
                );
            }
            let mut rig = Rig::new(&text);
            rig.watch(0.2, |rig, _| {
                for k in 0..3 {
                    let (held, weight) = (force(rig, k).held, (3 - k) as f64 * G);
                    let close = (held - weight).abs() < 1e-5 * weight;
                    assert!(
                        close,
                        "{solver} {kind} {half}: {k} bears {held}, not {weight} N"
                    );
                }
            });
        }
    }
}

/// A pendulum's string bears m (g cos φ + v²/l), at any moment: to second order, since it is a mean over the substep.
#[test]
fn a_pendulum_pulls_as_its_closed_form_says() {
    for solver in SOLVERS {
        let worst = |step: f64| {
            let mut text = world(&format!("step = {step:?}\nsolver = \"{solver}\""));
            text += "[[particle]]\nname = \"bob\"\nmass = 0.5\nposition = [0.8, 0, 0]\n";
            joint(
                &mut text,
                "kind = \"distance\"\na = { world = [0, 0, 0] }\nb = { particle = \"bob\" }\nlength = 0.8",
            );
            let mut rig = Rig::new(&text);
            let mut before = (rig.position("bob"), rig.velocity("bob"));
            let mut worst = 0.0_f64;
            rig.watch(0.8, |rig, _| {
                let now = (rig.position("bob"), rig.velocity("bob"));
                // In the middle of the step.
                let (p, v) = ((before.0 + now.0) * 0.5, (before.1 + now.1) * 0.5);
                let pull = 0.5 * (-p.y / p.length() * G + v.length_squared() / 0.8);
                worst = worst.max((force(rig, 0).held - pull).abs());
                before = now;
            });
            worst
        };
        let (coarse, fine) = (worst(0.004), worst(0.002));
        assert!(
            coarse < 0.02 && fine < 0.4 * coarse,
            "{solver}: {coarse}, {fine} N"
        );
    }
}

/// A velocity follower has no memory of a place, and is named first: its row is still its own.
#[test]
fn bases_are_told_apart_in_any_order() {
    for bases in ["[\"spin\", \"t3\"]", "[\"t3\", \"spin\"]"] {
        let mut text = world("step = 0.002");
        // Its centre of mass is 0.1 m beside the point: the joint bears its weight and keeps it from turning.
        let says = "mass = 2\nform = { ball = 0.05 }\ncollide = false";
        body(&mut text, "box", DVec3::X * 0.1, says);
        joint(
            &mut text,
            &format!(
                "kind = \"composed\"\nbases = {bases}\na = {{ world = [0, 0, 0] }}\nb = {{ body = \"box\" }}\nat = [0, 0, 0]"
            ),
        );
        let mut rig = Rig::new(&text);
        rig.run(0.1);
        let JointForce { held, turned, .. } = force(&rig, 0);
        assert!((held - 2.0 * G).abs() < 1e-3 * G, "{bases}: {held} N");
        assert!((turned - 0.2 * G).abs() < 1e-3 * G, "{bases}: {turned} N·m");
    }
}

/// A lever that lies on its stop, and one that a servo holds: m g l in either case, and m g in the hinge.
#[test]
fn stops_and_drives_say_what_they_hold() {
    let lever = |says: &str| {
        let mut text = world("step = 0.002");
        let form = "mass = 1.5\nhalf_extents = [0.2, 0.01, 0.01]\ncollide = false";
        body(&mut text, "lever", DVec3::X * 0.2, form);
        joint(
            &mut text,
            &format!(
                "kind = \"hinge\"\naxis = [0, 0, 1]\na = {{ world = [0, 0, 0] }}\nb = {{ body = \"lever\" }}\nat = [0, 0, 0]\n{says}"
            ),
        );
        let mut rig = Rig::new(&text);
        rig.run(2.0);
        let position = rig.position("lever");
        (force(&rig, 0), 1.5 * G * position.x)
    };
    let (stopped, moment) = lever("range = [0, 1]");
    assert_eq!(stopped.driven, 0.0);
    assert!(
        (stopped.stopped - moment).abs() < 1e-4 * moment,
        "{stopped:?}, {moment}"
    );
    assert!((stopped.held - 1.5 * G).abs() < 0.5 * G, "{stopped:?}");
    let (driven, moment) =
        lever("drive = { servo = { target = 0, stiffness = 200, damping = 20, most = 50 } }");
    assert!(
        (driven.driven - moment).abs() < 1e-3 * moment,
        "{driven:?}, {moment}"
    );
    // One that gives way bears what it has, not what it should have.
    let (weak, _) = lever("strength = 5");
    assert!(weak.held <= 5.0 * (1.0 + 1e-9), "{weak:?}");
    assert!(real::hypot(weak.held, 0.0) > 4.0, "{weak:?}");
}

/// What is restored knows what its joints bore, be they asleep or not.
#[test]
fn a_snapshot_knows_what_joints_bear() {
    for sleep in [true, false] {
        let mut text = world(&format!("step = 0.005\nsleep = {sleep}"));
        for k in 0..3 {
            let says = "mass = 1\nhalf_extents = [0.02, 0.1, 0.02]\ncollide = false";
            body(
                &mut text,
                &format!("{k}"),
                DVec3::Y * -(0.1 + 0.2 * f64::from(k)),
                says,
            );
            let a = match k {
                0 => "world = [0, 0, 0]".into(),
                _ => format!("body = \"{}\"", k - 1),
            };
            let at = format!("[0, {:?}, 0]", -0.2 * f64::from(k));
            joint(
                &mut text,
                &format!("kind = \"ball\"\na = {{ {a} }}\nb = {{ body = \"{k}\" }}\nat = {at}"),
            );
        }
        let mut rig = Rig::new(&text);
        rig.run(2.0);
        let mut other = Rig::new(&text);
        other
            .simulation
            .restore(&rig.simulation.snapshot())
            .unwrap();
        for k in 0..3 {
            let weight = (3 - k) as f64 * G;
            assert!((force(&rig, k).held - weight).abs() < 1e-4 * weight);
            assert_eq!(force(&other, k), force(&rig, k), "{sleep}: {k}");
        }
    }
}

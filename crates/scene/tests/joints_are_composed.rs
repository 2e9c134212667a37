//! Joints composed of base joints at any places (B52), and limits and drives of whatever is measured between two things (B25).

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::rigid::{Rig, body, joint, world};
use glam::{DQuat, DVec3};
use trocar_scene::Scene;

const LIMB: &str = "mass = 0.7\nhalf_extents = [0.15, 0.02, 0.03]\ncollide = false";

/// One limb on the world, joined as it says, after some seconds: where it is and how it stands.
fn moved(says: &str, spin: &str) -> (DVec3, DQuat) {
    let mut text = world("step = 0.002");
    body(
        &mut text,
        "limb",
        DVec3::X * 0.15,
        &format!("{LIMB}\nspin = {spin}"),
    );
    joint(
        &mut text,
        &format!("{says}\na = {{ world = [0, 0, 0] }}\nb = {{ body = \"limb\" }}"),
    );
    let mut rig = Rig::new(&text);
    rig.run(0.7);
    (rig.position("limb"), rig.orientation("limb"))
}

/// The mechanical joints made by hand go the same way as those there are names for.
#[test]
fn composed_of_the_same_bases_they_move_alike() {
    let here = "at = [0, 0, 0]\naxis = [0, 0.6, 0.8]";
    let pairs = [
        ("ball", "bases = [\"t3\"]".to_owned()),
        // Two points on the axis, and a point and the axis.
        (
            "hinge",
            "bases = [\"t3\", { base = \"t2\", at = [0, 0.06, 0.08] }]".to_owned(),
        ),
        ("hinge_by_axis", "bases = [\"t3\", \"r2\"]".to_owned()),
        ("slider", "bases = [\"t2\", \"r3\"]".to_owned()),
        // Three points.
        (
            "fixed",
            "bases = [\"t3\", { base = \"t2\", at = [0, 0.06, 0.08] }, { base = \"t1\", at = [0.1, 0, 0], axis = [0, 0.8, -0.6] }]"
                .to_owned(),
        ),
        (
            "plane",
            "bases = [{ base = \"t1\", axis = [0, 0.6, 0.8] }]".to_owned(),
        ),
    ];
    for (kind, bases) in pairs {
        for spin in ["[0, 0, 0]", "[0, 0.6, 0.8]"] {
            let named = moved(&format!("kind = \"{kind}\"\n{here}"), spin);
            let made = moved(&format!("kind = \"composed\"\n{bases}\n{here}"), spin);
            let apart = named.0.distance(made.0).max(named.1.angle_between(made.1));
            assert!(apart < 1e-6, "{kind}, {spin}: {apart}");
        }
    }
}

/// A shoulder: a ball joint whose swing is limited, and beside it a limit of its twist. Neither is passed, both are reached.
#[test]
fn a_ball_joint_has_limits_of_swing_and_of_twist() {
    let mut text = world("step = 0.002");
    body(
        &mut text,
        "arm",
        DVec3::X * 0.15,
        &format!("{LIMB}\nspin = [9, 0, 0]"),
    );
    let ends = "a = { world = [0, 0, 0] }\nb = { body = \"arm\" }\nat = [0, 0, 0]";
    joint(
        &mut text,
        &format!("kind = \"ball\"\nrange = [0, 0.8]\n{ends}"),
    );
    joint(
        &mut text,
        &format!("kind = \"free\"\nmeasure = \"turn\"\nrange = [-0.5, 0.5]\n{ends}"),
    );
    let mut rig = Rig::new(&text);
    let (mut swing, mut twist) = (0.0_f64, 0.0_f64);
    rig.watch(2.0, |rig, _| {
        let q = rig.orientation("arm");
        swing = swing.max(trocar_math::angle(DVec3::X, q * DVec3::X));
        // The turn that is left once the axis is swung back.
        let back = DQuat::from_rotation_arc(q * DVec3::X, DVec3::X);
        twist = twist.max(trocar_math::angle(back * q * DVec3::Y, DVec3::Y));
    });
    assert!((0.79..0.801).contains(&swing), "{swing} rad");
    assert!((0.49..0.501).contains(&twist), "{twist} rad");
}

/// Whatever a composed joint leaves free can be driven: here a cylinder joint, along its axis and about it.
#[test]
fn a_composed_joint_is_driven() {
    let mut text = world("step = 0.002\ngravity = [0, 0, 0]");
    body(&mut text, "limb", DVec3::X * 0.15, LIMB);
    let ends =
        "a = { world = [0, 0, 0] }\nb = { body = \"limb\" }\nat = [0, 0, 0]\naxis = [1, 0, 0]";
    let servo = |target: f64| {
        format!(
            "drive = {{ servo = {{ target = {target}, stiffness = 50, damping = 8, most = 20 }} }}"
        )
    };
    joint(
        &mut text,
        &format!(
            "kind = \"composed\"\nbases = [\"t2\", \"r2\"]\nmeasure = \"slide\"\n{}\n{ends}",
            servo(0.05)
        ),
    );
    joint(
        &mut text,
        &format!(
            "kind = \"free\"\nmeasure = \"turn\"\n{}\n{ends}",
            servo(1.2)
        ),
    );
    let mut rig = Rig::new(&text);
    rig.run(4.0);
    assert!(
        (rig.position("limb").x - 0.2).abs() < 1e-4,
        "{}",
        rig.position("limb")
    );
    let turned = trocar_math::angle(rig.orientation("limb") * DVec3::Y, DVec3::Y);
    assert!((turned - 1.2).abs() < 1e-4, "{turned} rad");
}

#[test]
fn what_can_not_be_measured_is_refused() {
    let cases = [
        (
            "kind = \"ball\"\nmeasure = \"distance\"\nrange = [0, 1]",
            "nothing to limit",
        ),
        ("kind = \"fixed\"\nrange = [0, 1]", "nothing to limit"),
        (
            "kind = \"fixed\"\nmeasure = \"turn\"\nrange = [0, 1]",
            "nothing to limit",
        ),
        (
            "kind = \"composed\"\nbases = [\"t3\"]\nrange = [0, 1]",
            "does not say what",
        ),
        (
            "kind = \"plane\"\ndrive = { force = 1 }",
            "does not say what",
        ),
        (
            "kind = \"hinge\"\nmeasure = \"turn\"",
            "neither limited nor driven",
        ),
        (
            "kind = \"composed\"\nbases = [{ base = \"t3\", at = [nan, 0, 0] }]",
            "at",
        ),
        (
            "kind = \"composed\"\nbases = [{ base = \"t2\", axis = [0, 0, 0] }]",
            "no direction",
        ),
        ("kind = \"composed\"\nbases = [{ base = \"t9\" }]", "bases"),
    ];
    for (says, complaint) in cases {
        let mut text = world("step = 0.002");
        body(&mut text, "limb", DVec3::X * 0.15, LIMB);
        joint(
            &mut text,
            &format!("{says}\na = {{ world = [0, 0, 0] }}\nb = {{ body = \"limb\" }}"),
        );
        let error = Scene::from_text("test.toml", &text)
            .and_then(|scene| trocar_scene::Simulation::new(&scene, 1).map(|_| ()))
            .unwrap_err()
            .to_string();
        assert!(error.contains(complaint), "{says}: {error}");
    }
}

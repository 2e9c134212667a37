//! A forceps made of rigid parts and joints takes the gall bladder, lifts it and holds it, by friction alone.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::{rigid::Rig, scenes};
use glam::DVec3;
use trocar_scene::Scene;

fn forceps() -> Rig {
    let scene = Scene::load(scenes().join("forceps.toml")).unwrap_or_else(|e| panic!("{e}"));
    Rig::of(&scene, 1)
}

/// Node of the gall bladder between the jaws, nearest to their middle.
fn held_node(rig: &Rig) -> usize {
    let middle = between(rig);
    let nodes = bladder(rig);
    (0..nodes.len())
        .min_by(|a, b| {
            let distance = |n: &usize| nodes[*n].distance_squared(middle);
            distance(a).total_cmp(&distance(b))
        })
        .unwrap()
}

fn between(rig: &Rig) -> DVec3 {
    0.5 * (rig.position("upper jaw") + rig.position("lower jaw"))
}

fn bladder(rig: &Rig) -> &[DVec3] {
    let model = rig.simulation.model();
    let tissue = model
        .tissues
        .iter()
        .find(|t| t.name == "gall bladder")
        .unwrap();
    &rig.simulation.state().nodes[tissue.matter.index()].position[tissue.first as usize..]
}

fn drive(rig: &Rig, name: &str) -> f64 {
    let names = &rig.simulation.model().joint_names;
    let k = names.iter().position(|n| n == name).unwrap();
    rig.simulation.joint_force(k).unwrap().driven
}

#[test]
fn it_lifts_the_gall_bladder_and_holds_it() {
    let mut rig = forceps();
    let scene = rig.simulation.scene_hash();
    // Open, around the fundus, closed.
    rig.run(2.4);
    let node = held_node(&rig);
    let (jaws, held) = (between(&rig), bladder(&rig)[node]);
    assert!(
        jaws.distance(held) < 0.012,
        "{held} lies between the jaws at {jaws}"
    );
    rig.run(1.9);
    let lifted = between(&rig).y - jaws.y;
    assert!(lifted > 0.02, "the jaws rose {lifted} m");
    let rose = bladder(&rig)[node].y - held.y;
    assert!(rose > 0.8 * lifted, "it rose {rose} m of {lifted} m");
    // It stays where it is in the jaws.
    let (jaws, held) = (between(&rig), bladder(&rig)[node]);
    let mut farthest = 0.0_f64;
    let (mut lift, mut closing) = (0.0, [0.0; 2]);
    let mut steps = 0.0;
    rig.watch(2.2, |rig, _| {
        let way = (bladder(rig)[node] - held) - (between(rig) - jaws);
        farthest = farthest.max(way.length());
        lift += drive(rig, "lift");
        closing[0] += drive(rig, "upper hinge");
        closing[1] += drive(rig, "lower hinge");
        steps += 1.0;
        // Servos keep to what they have.
        assert!(drive(rig, "upper hinge").abs() <= 0.12 + 1e-9);
        assert!(drive(rig, "lift").abs() <= 20.0 + 1e-9);
    });
    assert!(farthest < 3e-3, "it slipped {farthest} m");
    // The forceps itself weighs 0.78 N; the rest is what it lifts.
    assert!(lift / steps > 1.5, "{} N", lift / steps);
    println!(
        "lift {:.2} N, hinges {:.3} and {:.3} N·m",
        lift / steps,
        closing[0] / steps,
        closing[1] / steps
    );
    assert_eq!(scene, rig.simulation.scene_hash());
}

#[test]
fn two_runs_are_the_same_to_the_bit_and_a_snapshot_goes_on_exactly() {
    let (mut one, mut other) = (forceps(), forceps());
    one.run(2.2);
    other.run(2.1);
    let kept = other.simulation.snapshot();
    let mut third = forceps();
    third.simulation.restore(&kept).unwrap();
    for rig in [&mut other, &mut third] {
        rig.run(0.1);
        assert_eq!(one.simulation.hash(), rig.simulation.hash());
    }
    assert!(
        one.simulation.report().contacts > 10,
        "it was a test of contact"
    );
}

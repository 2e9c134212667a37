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
#[ignore]
fn look() {
    let mut rig = forceps();
    let mut next = 0.0;
    while rig.time() < 7.0 {
        rig.step();
        if rig.time() >= next {
            next += if rig.time() > 1.98 && rig.time() < 2.2 {
                0.004
            } else {
                0.2
            };
            let n = held_node(&rig);
            let r = rig.simulation.report();
            let mut insight = trocar_scene::Insight::default();
            rig.simulation.insight(
                trocar_scene::Views {
                    contacts: true,
                    ..Default::default()
                },
                &mut insight,
            );
            let most = insight.contacts.iter().map(|c| c.force).fold(0.0, f64::max);
            let sum = insight.contacts.iter().map(|c| c.force).sum::<f64>();
            let fastest = rig
                .simulation
                .state()
                .nodes
                .iter()
                .flat_map(|n| &n.velocity)
                .map(|v| v.length())
                .fold(0.0, f64::max);
            println!(
                "   most {most:.3} sum {sum:.3} fastest {fastest:.3} jaws v {:.3} {:.3} spin {:.2} {:.2}",
                rig.velocity("upper jaw").length(),
                rig.velocity("lower jaw").length(),
                rig.spin("upper jaw").y,
                rig.spin("lower jaw").y
            );
            println!(
                "{:.2} jaws {:.4} node {n} {:.4} contacts {} drives {:.3} {:.3} lift {:.3} subs {} halv {} conv {} it {} err {:.1e}",
                rig.time(),
                between(&rig),
                bladder(&rig)[n],
                r.contacts,
                drive(&rig, "upper hinge"),
                drive(&rig, "lower hinge"),
                drive(&rig, "lift"),
                r.substeps,
                r.halvings,
                r.aim.converged,
                r.aim.iterations,
                r.aim.error,
            );
        }
    }
}

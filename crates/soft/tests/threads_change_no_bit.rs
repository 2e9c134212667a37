//! A net is worked on four nodes at a time and by any number of threads; none of it shows in the result.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::{MATERIAL, REST, noise, organ};
use glam::{DQuat, DVec3};
use trocar_dynamics::{Crew, Lock, Matter, Nodes, Point};
use trocar_soft::{Element, Law, Material, Net};

/// An organ of several chunks, with dampers beside some springs, a tail that does not fill four lanes, and locks of
/// all kinds here and there.
fn organ_with_everything() -> Net {
    let material = Material {
        stiffness: 12.0,
        gravity: true,
        ..MATERIAL
    };
    let mut parts = organ(95, 91, &material).parts();
    let dampers: Vec<Element> = parts
        .elements
        .iter()
        .step_by(2)
        .map(|e| Element {
            law: Law::damper(0.003),
            ..*e
        })
        .collect();
    parts.elements.extend(dampers);
    parts.nodes[40].lock = Lock::Fixed;
    parts.nodes[4001].lock = Lock::Axes(DVec3::new(0.0, 1.0, 0.5), DQuat::IDENTITY);
    Net::new(parts).unwrap()
}

fn moving(net: &Net) -> Nodes {
    let mut nodes = common::shaken(net, 1e-4, 9);
    for (i, v) in nodes.velocity.iter_mut().enumerate() {
        let s = 3 * i as u64;
        *v = DVec3::new(noise(s), noise(s + 1), noise(s + 2)) * 0.1;
    }
    nodes.spin[0] = DVec3::new(0.4, -1.0, 2.0);
    nodes
}

#[test]
fn of_forces_and_motion() {
    let net = organ_with_everything();
    let h = 0.5 * net.stable_step();
    let run = |crew: Option<&Crew>| {
        let mut nodes = moving(&net);
        for _ in 0..5 {
            match crew {
                Some(crew) => net.force_by(&mut nodes, &REST, crew),
                None => net.force(&mut nodes, &REST),
            }
            net.plan(&mut nodes, h);
            assert!(match crew {
                Some(crew) => net.advance_by(&mut nodes, h, crew),
                None => net.advance(&mut nodes, h),
            });
        }
        nodes
    };
    let alone = run(None);
    assert_ne!(alone.position, net.rest().position);
    for threads in [1, 2, 3, 7] {
        assert_eq!(alone, run(Some(&Crew::new(threads))), "{threads} threads");
    }
}

#[test]
fn what_is_previewed_is_what_comes_to_the_last_bit() {
    let net = organ_with_everything();
    let h = 0.5 * net.stable_step();
    let mut nodes = moving(&net);
    net.force(&mut nodes, &REST);
    net.plan(&mut nodes, h);
    let previewed: Vec<DVec3> = (0..nodes.len() as u32)
        .map(|node| {
            let offset = DVec3::ZERO;
            net.preview(&nodes, &Point { node, offset }, h)
        })
        .collect();
    assert!(net.advance(&mut nodes, h));
    assert_eq!(previewed, nodes.position);
}

#[test]
fn numbers_that_are_none_and_nodes_that_run_away_are_noticed_wherever_they_are() {
    let net = organ_with_everything();
    let h = 0.5 * net.stable_step();
    let crew = Crew::new(2);
    for node in [1, 2, 2047, 2048, 4700, net.rest().len() - 1] {
        for bad in [f64::NAN, f64::INFINITY, 1e9] {
            let mut nodes = moving(&net);
            net.force(&mut nodes, &REST);
            net.plan(&mut nodes, h);
            nodes.velocity[node].y = bad / h;
            assert!(!net.advance_by(&mut nodes, h, &crew), "{node}: {bad}");
        }
    }
}

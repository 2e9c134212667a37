//! A net or a membrane is worked on four nodes at a time and by any number of threads; none of it shows in the result.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::{MATERIAL, REST, noise, organ};
use glam::{DQuat, DVec3};
use trocar_dynamics::{Crew, Lock, Matter, Nodes, Point};
use trocar_mesh::primitive::HexagonalShape;
use trocar_mesh::sheet::{Kind, Sheet};
use trocar_soft::membrane::tear::{Aim, Algorithm, Lengths, TearSettings, Thresholds};
use trocar_soft::membrane::{Bending, Material as MembraneMaterial, Membrane, MembraneParts};
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
            net.plan(&mut nodes, h, None);
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
    net.plan(&mut nodes, h, None);
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
            net.plan(&mut nodes, h, None);
            nodes.velocity[node].y = bad / h;
            assert!(!net.advance_by(&mut nodes, h, &crew), "{node}: {bad}");
        }
    }
}

/// A membrane of several shares, torn through all of them, so that parts stray.
fn torn_membrane(material: MembraneMaterial, bending: Bending) -> (Membrane, Nodes) {
    let shape = HexagonalShape {
        rows: 90,
        columns: 80,
        edge: 0.5e-3,
    };
    let sheet = Sheet::new(&shape.surface().unwrap()).unwrap();
    let mut parts = MembraneParts::new(sheet, material);
    parts.bending = bending;
    parts.prestress = 0.97;
    parts.gravity = true;
    parts.damping = 20.0;
    parts.tearing = Some(TearSettings {
        algorithm: Algorithm::Continuous,
        thresholds: Thresholds {
            tip: 1.0,
            edge: 2.0,
            inner: 3.0,
            fastest: 2.0,
        },
        lengths: Lengths::of_edge(shape.edge),
    });
    let mut membrane = Membrane::new(parts).unwrap();
    let mut nodes = membrane.rest();
    let way = Aim::Toward(DVec3::new(0.2, 1.0, 0.0));
    let mut node = Some(membrane.sheet().node_at(30));
    for _ in 0..150 {
        let Some(at) = node else { break };
        membrane.tear_at(&mut nodes, at, 0.3e-3, way).unwrap();
        let sheet = membrane.sheet();
        node = sheet.nodes().find(|n| sheet.kind(*n) == Some(Kind::Tip));
    }
    for (n, p) in nodes.position.iter_mut().enumerate() {
        let n = 3 * n as u64;
        *p += DVec3::new(noise(n), noise(n + 1), noise(n + 2)) * 2e-5;
    }
    (membrane, nodes)
}

#[test]
fn of_membranes_torn_or_not() {
    let springs = MembraneMaterial::Springs {
        stiffness: 6500.0,
        mass: 0.01,
    };
    let field = MembraneMaterial::Sheet {
        stiffness: 7500.0,
        poisson: 0.3,
        density: 40.0,
    };
    for (material, bending) in [
        (springs, Bending::None),
        (springs, Bending::Springs { stiffness: 650.0 }),
        (field, Bending::Hinges { rigidity: 1e-5 }),
    ] {
        let (membrane, start) = torn_membrane(material, bending);
        let h = 0.5 * membrane.stable_step();
        let run = |membrane: &Membrane, crew: Option<&Crew>| {
            let mut nodes = start.clone();
            for _ in 0..5 {
                match crew {
                    Some(crew) => membrane.force_by(&mut nodes, &REST, crew),
                    None => membrane.force(&mut nodes, &REST),
                }
                assert!(match crew {
                    Some(crew) => membrane.advance_by(&mut nodes, h, crew),
                    None => membrane.advance(&mut nodes, h),
                });
            }
            nodes
        };
        let alone = run(&membrane, None);
        for threads in [1, 2, 3] {
            let crew = Crew::new(threads);
            assert_eq!(alone, run(&membrane, Some(&crew)), "{threads} threads");
        }
        // Nor does it show that it was stored and taken up again.
        let fresh = torn_membrane(material, bending).0;
        let again = fresh.from_record(membrane.record()).unwrap();
        assert_eq!(alone, run(&again, None));
        // Every share and every stray adds what it should: forces are minus the slope of the energy.
        let mut nodes = start.clone();
        membrane.force(&mut nodes, &REST);
        let (weight, step) = (membrane.masses().mass(), 1e-9);
        let near = membrane.event().nodes.iter().map(|n| n.slot());
        for n in near.chain((0..nodes.len()).step_by(331)) {
            let energy = |by: f64| {
                let mut there = start.clone();
                there.position[n].z += by;
                membrane.elastic_energy(&there)
            };
            let slope = (energy(step) - energy(-step)) / (2.0 * step);
            let force = nodes.force[n].z - weight[n] * REST.gravity.z;
            let live = membrane.sheet().has_live_node(n);
            assert!(
                !live || (force + slope).abs() < 1e-3,
                "{n}: {force} {slope}"
            );
        }
    }
}

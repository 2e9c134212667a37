//! A net or a membrane is worked on four nodes at a time and by any number of threads; none of it shows in the result.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::{
    MATERIAL, REST, noise, organ,
    random::{Dice, law},
};
use glam::{DQuat, DVec3};
use trocar_dynamics::{Crew, Integrator, Lock, MassNode, Matter, MatterId, Nodes, Point, Stages};
use trocar_mesh::primitive::HexagonalShape;
use trocar_mesh::sheet::{Kind, Sheet};
use trocar_soft::membrane::tear::{Aim, Algorithm, Lengths, TearSettings, Thresholds};
use trocar_soft::membrane::{Bending, Material as MembraneMaterial, Membrane, MembraneParts};
use trocar_soft::{
    Element, Input, Law, Material, Net, NetParts, NodeFlags, Plastic,
    global::Sight,
    stability::{Gauge, critical_step},
};

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
    // Some yield when they are shaken.
    for element in parts.elements.iter_mut().step_by(3) {
        if element.law.input == Input::Distance {
            element.law.plastic = Some(Plastic {
                yield_strain: 0.001,
                hardening: 0.1,
                most: 0.5,
            });
        }
    }
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

/// The same by another integrator, or on a ground that some of it has sunk into.
fn organs() -> impl Iterator<Item = Net> {
    let heights = organ_with_everything().rest().position.clone();
    let mean = heights.iter().map(|p| p.y).sum::<f64>() / heights.len() as f64;
    let grounds = [None, Some(mean)].into_iter();
    grounds.flat_map(|ground| {
        Integrator::ALL.into_iter().map(move |integrator| {
            let mut parts = organ_with_everything().parts();
            parts.integrator = integrator;
            parts.ground = ground;
            Net::new(parts).unwrap()
        })
    })
}

/// Short enough for any scheme for a few substeps, s.
const STEP: f64 = 1e-5;

/// All forces of a substep, as a group gathers them.
fn gather(net: &Net, nodes: &mut [Nodes; 1], h: f64, crew: Option<&Crew>) {
    let evaluate = |nodes: &mut [Nodes], _: f64| match crew {
        Some(crew) => net.force_by(&mut nodes[0], &REST, crew),
        None => net.force(&mut nodes[0], &REST),
    };
    let masses = |_| Some(net.masses());
    Stages::default().gather(&masses, nodes, h, crew, evaluate, |_| ());
}

#[test]
fn of_forces_and_motion_by_any_scheme_on_any_ground() {
    for net in organs() {
        let h = STEP;
        let run = |crew: Option<&Crew>| {
            let mut nodes = [moving(&net)];
            for _ in 0..3 {
                gather(&net, &mut nodes, h, crew);
                net.plan(&mut nodes[0], h, crew);
                assert!(match crew {
                    Some(crew) => net.advance_by(&mut nodes[0], h, crew),
                    None => net.advance(&mut nodes[0], h),
                });
            }
            nodes
        };
        let alone = run(None);
        assert_ne!(alone[0].position, net.rest().position);
        assert!(alone[0].flow.iter().any(|f| *f != 0.0));
        if let Some(ground) = net.masses().ground() {
            let below = |nodes: &Nodes| nodes.position.iter().filter(|p| p.y < ground).count();
            // Those that are fixed stay where they are.
            let (before, after) = (below(net.rest()), below(&alone[0]));
            assert!(before > 1000 && after <= 2, "{before} {after}");
        }
        for threads in [1, 2, 7] {
            assert_eq!(alone, run(Some(&Crew::new(threads))), "{threads} threads");
        }
    }
}

#[test]
fn what_is_previewed_is_what_comes_to_the_last_bit() {
    for net in organs() {
        let h = STEP;
        let mut nodes = [moving(&net)];
        gather(&net, &mut nodes, h, None);
        let [mut nodes] = nodes;
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
}

/// Elements side by side, crossing chunks, with any law, in any order: blocks must leave out none of them, and count none twice.
#[test]
fn blocks_add_up_to_all_elements() {
    for seed in 0..12 {
        let mut dice = Dice(seed);
        let mut parts = organ_with_everything().parts();
        let count = parts.nodes.len();
        for _ in 0..400 {
            let a = 1 + dice.below(count - 40) as u32;
            // Rows of parallel ones, some of them twice.
            let (by, length) = (1 + dice.below(30) as u32, dice.below(9) as u32);
            let law = law(&mut dice, 20.0, 1e-3);
            for k in 0..length {
                let twice = 1 + usize::from(dice.once_in(5));
                let ends = if dice.once_in(3) {
                    [a + k + by, a + k]
                } else {
                    [a + k, a + k + by]
                };
                let element = Element {
                    nodes: ends,
                    rest_length: dice.between(0.5e-3, 2e-3),
                    law,
                };
                let sound = ends.iter().all(|n| (*n as usize) < count);
                parts
                    .elements
                    .extend((0..twice).filter(|_| sound).map(|_| element));
            }
        }
        if dice.once_in(2) {
            for i in (1..parts.elements.len()).rev() {
                parts.elements.swap(i, dice.below(i + 1));
            }
        }
        let net = Net::new(parts).unwrap();
        let mut nodes = moving(&net);
        nodes.force.fill(DVec3::ZERO);
        let mut expected = nodes.force.clone();
        for (i, element) in net.elements().enumerate() {
            let [a, b] = element.nodes.map(|n| n as usize);
            let between = match element.law.input {
                Input::Distance => nodes.position[a] - nodes.position[b],
                Input::Velocity => {
                    let velocity = |n| net.masses().node_velocity(&nodes, n);
                    velocity(a) - velocity(b)
                }
            };
            let force = between.normalize_or_zero() * -net.tension(&nodes, i, 0.0);
            expected[a] += force;
            expected[b] -= force;
        }
        net.element_forces(&mut nodes, 0.0);
        let error = nodes.force.iter().zip(&expected);
        let error = error.map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        let greatest = expected.iter().map(|f| f.length()).fold(0.0, f64::max);
        assert!(error < 1e-12 * greatest, "{error} of {greatest} N");
        steps_are_gauged_alike(&net, nodes);
    }
}

/// How long a substep may be is the same whoever looks, and what one finds who goes through all elements.
fn steps_are_gauged_alike(net: &Net, nodes: Nodes) {
    let matter: &dyn Matter = net;
    let sight = Sight {
        matter: |_: MatterId| matter,
        slot: &[0],
    };
    let mut nodes = [nodes];
    let mut bound = |crew: Option<&Crew>| {
        let mut gauge = Gauge::default();
        gauge.bound(&|_| Some(net), &mut nodes, (&[], &[]), &sight, (0.0, crew))
    };
    let alone = bound(None);
    for threads in [2, 3] {
        assert_eq!(alone.to_bits(), bound(Some(&Crew::new(threads))).to_bits());
    }
    let [nodes] = nodes;
    let plainly = plain_bound(net, &nodes);
    assert!((alone / plainly - 1.0).abs() < 1e-9, "{alone} {plainly}");
}

/// How long a substep may be by one loop over all elements, as the gauge says of itself: MESD, a father of all, linear shape memory.
fn plain_bound(net: &Net, nodes: &Nodes) -> f64 {
    let masses = net.masses();
    let mut sums: Vec<[f64; 2]> = (0..nodes.len()).map(|i| [net.memory(i), 0.0]).collect();
    let mut bound = f64::INFINITY;
    let children = (0..nodes.len()).filter(|i| net.father(*i) == Some(0));
    let held = children
        .clone()
        .map(|i| net.memory(i) * nodes.position[i].distance_squared(nodes.position[0]));
    let held: f64 = held.sum();
    if let Some(inertia) = masses.rigid()[0].inertia
        && masses.lock(0) != Lock::Fixed
    {
        let damping = masses.rigid()[0].damping;
        bound = critical_step(inertia.min_element(), damping, 2.0 * held);
    }
    let given: f64 = children.map(|i| net.memory(i)).sum();
    sums[0][0] += given;
    for (i, e) in net.elements().enumerate() {
        let [a, b] = e.nodes.map(|n| n as usize);
        let velocity = |n| masses.node_velocity(nodes, n);
        let speed = velocity(a).distance(velocity(b));
        let slopes = match e.law.input {
            Input::Distance => {
                let length = nodes.position[a].distance(nodes.position[b]);
                // What has no length to speak of counts as if it had a centimetre.
                let built = if e.rest_length < 1e-4 {
                    0.01
                } else {
                    e.rest_length
                };
                let near = 0.1 * length.max(built);
                if !e.law.is_plain() {
                    bound = bound.min(near / speed.max(1e-12));
                }
                let flow = nodes.flow.get(i).copied().unwrap_or(0.0);
                let tension = |more: f64| e.law.tension(length - e.rest_length - flow + more);
                let (short, now, long) = (tension(-near), tension(0.0), tension(near));
                let slope = ((long - now) / near).max((now - short) / near);
                match e.law.is_plain() {
                    true => [e.law.constant, 0.0],
                    false => [slope.max(long / length.max(near)).max(0.0), 0.0],
                }
            }
            Input::Velocity => {
                let near = 0.1 * speed.max(1e-3);
                let more = e.law.tension(speed + near);
                let slope = (more - e.law.tension(speed)) / near;
                [0.0, slope.max(more / (speed + near)).max(0.0)]
            }
        };
        for n in [a, b] {
            sums[n] = [sums[n][0] + slopes[0], sums[n][1] + slopes[1]];
        }
    }
    let moved = sums.iter().enumerate();
    let moved = moved.filter(|(i, _)| masses.lock(*i) != Lock::Fixed);
    let steps = moved.map(|(i, [stiffness, drag])| {
        let damping = masses.resistance()[i] - 2.0 * drag;
        critical_step(masses.mass()[i], damping, 2.0 * stiffness)
    });
    steps.fold(bound, f64::min)
}

/// Layers whose elements all lead from one chunk to another: rows of them end where a chunk does.
#[test]
fn elements_between_chunks_alone_are_all_worked_out() {
    for (count, apart) in [(2100_usize, 1050_usize), (10_000, 5000), (9001, 2250)] {
        let points: Vec<DVec3> = (0..count)
            .map(|i| DVec3::new(i as f64, noise(i as u64), 2.0 * noise(7 * i as u64)) * 1e-3)
            .collect();
        let elements = (0..count - apart).map(|i| Element {
            nodes: [i as u32, (i + apart) as u32],
            rest_length: 0.5 * apart as f64 * 1e-3,
            law: Law::spring(3.0),
        });
        let net = Net::new(NetParts {
            nodes: vec![MassNode::point(1e-3); count],
            flags: vec![NodeFlags::default(); count],
            memory: vec![0.0; count],
            elements: elements.collect(),
            points,
            ..NetParts::default()
        })
        .unwrap();
        let mut nodes = net.rest().clone();
        net.element_forces(&mut nodes, 0.0);
        let mut expected = vec![DVec3::ZERO; count];
        for (i, e) in net.elements().enumerate() {
            let [a, b] = e.nodes.map(|n| n as usize);
            let along = (nodes.position[a] - nodes.position[b]).normalize();
            let force = along * -net.tension(&nodes, i, 0.0);
            expected[a] += force;
            expected[b] -= force;
        }
        for (force, expected) in nodes.force.iter().zip(&expected) {
            assert!(force.distance(*expected) < 1e-12);
        }
    }
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

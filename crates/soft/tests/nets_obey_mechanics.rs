//! Closed forms and conservation laws.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::{MATERIAL, REST, boxed, noise, organ, pipe, shaken, sheet, step};
use glam::{DMat3, DVec3};
use trocar_dynamics::{
    Anchor, Field, Lock, MassNode, Matter, MatterId, Nodes, Point, masses::Brake,
};
use trocar_soft::{
    Base, Element, Global, Hyper, Law, Link, Material, Net, NetParts, NodeFlags, Plastic,
    global::{End, Sight},
    hyper,
};

fn points(points: &[DVec3], nodes: Vec<MassNode>, elements: Vec<Element>) -> Net {
    Net::new(NetParts {
        points: points.to_vec(),
        flags: vec![NodeFlags::default(); nodes.len()],
        memory: vec![0.0; nodes.len()],
        nodes,
        elements,
        gravity: true,
        mobile: true,
        ..NetParts::default()
    })
    .unwrap()
}

fn momentum(net: &dyn Matter, nodes: &Nodes) -> (DVec3, DVec3) {
    let mut sum = (DVec3::ZERO, DVec3::ZERO);
    for (i, m) in net.masses().mass().iter().enumerate() {
        sum.0 += nodes.velocity[i] * *m;
        sum.1 += nodes.position[i].cross(nodes.velocity[i] * *m);
    }
    sum
}

#[test]
fn a_free_net_without_fathers_and_damping_keeps_its_momentum() {
    let net = sheet(
        6,
        6,
        &Material {
            damping: 0.0,
            memory: 0.0,
            ..MATERIAL
        },
    );
    let mut nodes = [shaken(&net, 0.002, 5)];
    for (i, v) in nodes[0].velocity.iter_mut().enumerate() {
        *v = DVec3::new(noise(i as u64), noise(i as u64 + 99), 0.3);
    }
    let before = momentum(&net, &nodes[0]);
    let nets = boxed(net);
    for _ in 0..2000 {
        assert!(step(&nets, &mut nodes, &[], &REST, 1e-3));
    }
    let after = momentum(&*nets[0], &nodes[0]);
    assert!(
        (after.0 - before.0).length() < 1e-14,
        "{} {}",
        before.0,
        after.0
    );
    assert!(
        (after.1 - before.1).length() < 1e-13,
        "{} {}",
        before.1,
        after.1
    );
}

#[test]
fn forces_on_surface_and_central_nodes_sum_to_zero() {
    let quadratic = Material {
        base: Base::Quadratic,
        memory_base: Base::Quadratic,
        ..MATERIAL
    };
    for net in [
        organ(8, 6, &MATERIAL),
        pipe(6, 8, &MATERIAL),
        organ(8, 6, &quadratic),
    ] {
        let mut nodes = shaken(&net, 0.003, 11);
        net.force(&mut nodes, &REST);
        let largest = nodes.force.iter().map(|f| f.length()).fold(0.0, f64::max);
        let sum: DVec3 = nodes.force.iter().sum();
        assert!(
            largest > 1e-6 && sum.length() < 1e-13 * largest * nodes.len() as f64,
            "{sum}"
        );
    }
}

#[test]
fn shape_memory_exerts_no_moment_in_sum() {
    // Springs and memory are central forces; without torsion their moments cancel as well.
    let material = Material {
        torsion: 0.0,
        twist: 0.02,
        ..MATERIAL
    };
    // Rings of a pipe that are turned along its axis push against it.
    for net in [organ(8, 6, &material), pipe(6, 8, &material)] {
        let mut nodes = shaken(&net, 0.003, 17);
        net.force(&mut nodes, &REST);
        let moment: DVec3 = nodes
            .position
            .iter()
            .zip(&nodes.force)
            .map(|(p, f)| p.cross(*f))
            .sum::<DVec3>()
            + nodes.torque.iter().sum::<DVec3>();
        // On a child the memory acts at the base position as well as at the node: the couple is
        // what remains of δ × F, zero because F is along δ.
        assert!(moment.length() < 1e-15, "{moment}");
    }
}

#[test]
fn a_spring_swings_with_the_period_of_theory() {
    let (m, k): (f64, f64) = (0.002, 1.2);
    let net = points(
        &[DVec3::ZERO, DVec3::X * 0.1],
        vec![
            MassNode {
                lock: Lock::Fixed,
                ..MassNode::point(m)
            },
            MassNode::point(m),
        ],
        vec![Element {
            nodes: [0, 1],
            rest_length: 0.1,
            law: Law::spring(k),
        }],
    );
    let mut nodes = [net.rest().clone()];
    nodes[0].position[1].x += 1e-3;
    let nets = boxed(net);
    let (h, mut time, mut crossings) = (1e-5, 0.0, Vec::new());
    while crossings.len() < 5 {
        let before = nodes[0].position[1].x - 0.1;
        step(&nets, &mut nodes, &[], &REST, h);
        time += h;
        let after = nodes[0].position[1].x - 0.1;
        if before * after < 0.0 {
            crossings.push(time - h * after / (after - before));
        }
    }
    let period = (crossings[4] - crossings[0]) / 2.0;
    let theory = std::f64::consts::TAU * (m / k).sqrt();
    assert!((period / theory - 1.0).abs() < 1e-6, "{period} {theory}");
}

/// Solves A x = b by elimination with pivoting.
fn dense_solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let pivot = (k..n)
            .max_by(|i, j| a[*i][k].abs().total_cmp(&a[*j][k].abs()))
            .unwrap();
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..n {
            let f = a[i][k] / a[k][k];
            let row = a[k].clone();
            for (x, y) in a[i].iter_mut().zip(row).skip(k) {
                *x -= f * y;
            }
            b[i] -= f * b[k];
        }
    }
    for k in (0..n).rev() {
        b[k] = (b[k] - (k + 1..n).map(|j| a[k][j] * b[j]).sum::<f64>()) / a[k][k];
    }
    b
}

/// Equilibrium by Newton's method with a dense matrix of differences.
fn equilibrium(net: &Net, field: &Field, free: &[usize]) -> Vec<DVec3> {
    let mut nodes = net.rest().clone();
    let force = |nodes: &mut Nodes| -> Vec<f64> {
        net.force(nodes, field);
        free.iter()
            .flat_map(|i| nodes.force[*i].to_array())
            .collect()
    };
    for _ in 0..50 {
        let f = force(&mut nodes);
        if f.iter().fold(0.0_f64, |m, x| m.max(x.abs())) < 1e-15 {
            break;
        }
        let n = f.len();
        let mut matrix = vec![vec![0.0; n]; n];
        for column in 0..n {
            let e = 1e-7;
            let mut moved = nodes.clone();
            moved.position[free[column / 3]][column % 3] += e;
            let ahead = force(&mut moved);
            moved.position[free[column / 3]][column % 3] -= 2.0 * e;
            let back = force(&mut moved);
            for row in 0..n {
                matrix[row][column] = (back[row] - ahead[row]) / (2.0 * e);
            }
        }
        let x = dense_solve(matrix, f);
        for (k, x) in x.iter().enumerate() {
            nodes.position[free[k / 3]][k % 3] += x;
        }
    }
    nodes.position
}

#[test]
fn a_hanging_net_comes_to_rest_where_a_dense_solve_says() {
    let mut net = sheet(
        5,
        5,
        &Material {
            memory: 0.4,
            gravity: true,
            damping: 0.05,
            mass: 0.0005,
            ..MATERIAL
        },
    );
    for corner in [0, 4] {
        net.fix(corner).unwrap();
    }
    let free: Vec<usize> = (0..25).filter(|i| ![0, 4].contains(i)).collect();
    let field = Field {
        time: 0.0,
        gravity: DVec3::new(0.0, -9.81, 0.0),
    };
    let expected = equilibrium(&net, &field, &free);
    let mut nodes = [net.rest().clone()];
    let nets = boxed(net);
    for _ in 0..20_000 {
        assert!(step(&nets, &mut nodes, &[], &field, 5e-3));
    }
    let sag = nodes[0].position[22].y;
    assert!(sag < -1e-3, "it does hang: {sag}");
    for (is, should) in nodes[0].position.iter().zip(expected) {
        assert!((*is - should).length() < 1e-9, "{is} {should}");
    }
}

#[test]
fn a_locked_axis_does_not_move_and_a_fixed_node_stays_whatever_its_father_does() {
    let mut net = organ(6, 6, &MATERIAL);
    net.fix(9).unwrap();
    let fixed = net.rest().position[9];
    let mut nodes = [net.rest().clone()];
    nodes[0].velocity[0] = DVec3::new(0.1, 0.2, 0.3);
    nodes[0].spin[0] = DVec3::new(1.0, 3.0, 0.0);
    let nets = boxed(net);
    for _ in 0..200 {
        step(&nets, &mut nodes, &[], &REST, 2e-3);
        assert_eq!(nodes[0].position[9], fixed);
    }
}

#[test]
fn responses_of_a_net_are_derivatives_of_its_integrator() {
    let net = organ(6, 6, &MATERIAL);
    let mut nodes = shaken(&net, 0.003, 23);
    nodes.spin[0] = DVec3::new(1.0, -2.0, 0.5);
    let h = 4e-3;
    net.force(&mut nodes, &REST);
    net.plan(&mut nodes, h, None);
    let at = |node| Point {
        node,
        offset: DVec3::ZERO,
    };
    for (a, b) in [(5, 5), (5, 6), (5, 0), (0, 5), (0, 0)] {
        let column = |axis: DVec3| {
            let moved = |e: f64| {
                let mut pushed = nodes.clone();
                net.push(&mut pushed, &at(b), axis * e, h);
                net.preview(&pushed, &at(a), h)
            };
            (moved(1e-5) - moved(-1e-5)) / 2e-5
        };
        let measured = DMat3::from_cols(column(DVec3::X), column(DVec3::Y), column(DVec3::Z));
        let response = net.response(&nodes, &at(a), &at(b), h);
        let error = (response - measured)
            .to_cols_array()
            .iter()
            .fold(0.0_f64, |m, x| m.max(x.abs()));
        assert!(error < 1e-7, "{a} {b} {error}");
    }
}

#[test]
fn hyper_nodes_stay_together_and_pass_their_force_on() {
    let mut a = sheet(
        4,
        4,
        &Material {
            damping: 0.0,
            memory: 0.0,
            ..MATERIAL
        },
    );
    let mut b = a.clone();
    // The last row of one is the first of the other.
    let hypers: Vec<Hyper> = (0..4)
        .map(|i| Hyper {
            master: (MatterId(0), 12 + i),
            slave: (MatterId(1), i),
            factor: 1.0,
        })
        .collect();
    for h in &hypers {
        hyper::mark(h, MatterId(0), &mut a);
        hyper::mark(h, MatterId(1), &mut b);
    }
    let mut nodes = [a.rest().clone(), b.rest().clone()];
    for p in &mut nodes[1].position {
        *p += DVec3::Z * 0.1;
    }
    nodes[0].velocity[0] = DVec3::new(0.3, 0.5, 0.0);
    nodes[1].velocity[15] = DVec3::new(-0.4, 0.0, 0.2);
    let slaves: Vec<u32> = hypers.iter().map(|h| h.slave.1).collect();
    let nets: Vec<Box<dyn Matter>> = vec![Box::new(a), Box::new(b)];
    // A slave has no mass of its own.
    let total = |nodes: &[Nodes]| -> DVec3 {
        let mut sum = DVec3::ZERO;
        for (n, nodes) in nodes.iter().enumerate() {
            for (i, v) in nodes.velocity.iter().enumerate() {
                if n == 0 || !slaves.contains(&(i as u32)) {
                    sum += *v * 0.002;
                }
            }
        }
        sum
    };
    let before = total(&nodes);
    for _ in 0..1000 {
        assert!(step(&nets, &mut nodes, &hypers, &REST, 2e-3));
        for h in &hypers {
            assert_eq!(
                nodes[0].position[h.master.1 as usize],
                nodes[1].position[h.slave.1 as usize]
            );
        }
    }
    assert!((total(&nodes) - before).length() < 1e-14);
}

#[test]
fn a_damped_pipe_that_follows_another_keeps_momentum() {
    // Nothing is damped against the world: only children against their central nodes.
    let material = Material {
        centre_damping: 0.0,
        centre_mass: 0.02,
        ..MATERIAL
    };
    let (rings, around) = (5, 6);
    let mut a = pipe(rings, around, &material);
    let mut b = a.clone();
    let frames = a.rest().frames();
    let ring = |r: usize, k: usize| (frames + r * around + k) as u32;
    let hypers: Vec<Hyper> = (0..around)
        .map(|k| Hyper {
            master: (MatterId(0), ring(rings - 1, k)),
            slave: (MatterId(1), ring(0, k)),
            factor: 1.0,
        })
        .collect();
    for h in &hypers {
        hyper::mark(h, MatterId(0), &mut a);
        hyper::mark(h, MatterId(1), &mut b);
    }
    let mut nodes = [a.rest().clone(), b.rest().clone()];
    for p in &mut nodes[1].position {
        *p += DVec3::X * 0.06;
    }
    // One pipe runs along its axis, so that nothing turns, and draws the other behind it.
    nodes[0].velocity[..frames].fill(DVec3::X * -0.1);
    // Mass of a father is its own and that of all it carries, so each node counts with its own velocity.
    let masses = [a.masses().mass().to_vec(), b.masses().mass().to_vec()];
    let total = |nodes: &[Nodes]| -> f64 {
        let mut sum = 0.0;
        for (n, (nodes, masses)) in nodes.iter().zip(&masses).enumerate() {
            for (i, (v, mass)) in nodes.velocity.iter().zip(masses).enumerate() {
                let copies = n == 1 && hypers.iter().any(|h| h.slave.1 as usize == i);
                sum += if copies { 0.0 } else { v.x * mass };
            }
        }
        sum
    };
    let before = total(&nodes);
    let nets: Vec<Box<dyn Matter>> = vec![Box::new(a), Box::new(b)];
    // Three seconds in steps of h: by what part momentum changed at most.
    let change = |h: f64| {
        let mut nodes = nodes.clone();
        let (mut moved, mut change) = (0.0_f64, 0.0_f64);
        for _ in 0..(3.0 / h) as usize {
            assert!(step(&nets, &mut nodes, &hypers, &REST, h));
            moved = moved.max(nodes[1].velocity[0].length());
            change = change.max((total(&nodes) / before - 1.0).abs());
        }
        assert!(moved > 0.02, "the other is drawn: {moved} m/s");
        change
    };
    // Damping within a family is solved with the reaction on the father in it, and a copy is in no family: nothing is lost, at any step.
    for h in [1e-3, 2.5e-4] {
        let lost = change(h);
        assert!(lost < 1e-11, "{lost} of the momentum at {h} s");
    }
}

#[test]
fn nonsense_is_refused_with_the_place() {
    let node = || vec![MassNode::point(1.0), MassNode::point(1.0)];
    let build = |element: Element| {
        Net::new(NetParts {
            points: vec![DVec3::ZERO, DVec3::X],
            nodes: node(),
            flags: vec![NodeFlags::default(); 2],
            memory: vec![0.0; 2],
            elements: vec![element],
            ..NetParts::default()
        })
    };
    let good = Element {
        nodes: [0, 1],
        rest_length: 1.0,
        law: Law::spring(1.0),
    };
    assert!(build(good).is_ok());
    assert!(
        build(Element {
            nodes: [0, 2],
            ..good
        })
        .is_err()
    );
    assert!(
        build(Element {
            nodes: [1, 1],
            ..good
        })
        .is_err()
    );
    assert!(
        build(Element {
            rest_length: f64::NAN,
            ..good
        })
        .is_err()
    );
    assert!(
        build(Element {
            law: Law::spring(-1.0),
            ..good
        })
        .is_err()
    );
}

#[test]
fn an_organ_falls_like_a_stone() {
    let net = organ(
        8,
        6,
        &Material {
            gravity: true,
            damping: 0.01,
            centre_damping: 0.0,
            ..MATERIAL
        },
    );
    let mut nodes = [net.rest().clone()];
    let nets = boxed(net);
    let field = Field {
        time: 0.0,
        gravity: DVec3::new(0.0, -9.81, 0.0),
    };
    let (h, steps) = (1e-3, 2000);
    for _ in 0..steps {
        assert!(step(&nets, &mut nodes, &[], &field, h));
    }
    let speed = nets[0].masses().node_velocity(&nodes[0], 7).y;
    let stone = -9.81 * h * f64::from(steps);
    assert!((speed / stone - 1.0).abs() < 1e-3, "{speed} {stone}");
}

#[test]
fn an_organ_on_a_stalk_comes_to_rest_however_light_its_centre() {
    for centre_mass in [0.001, 0.03, 0.3] {
        let material = Material {
            mass: 0.0004,
            damping: 0.06,
            stiffness: 24.0,
            memory: 3.0,
            centre_mass,
            centre_damping: 0.2,
            turn_damping: 0.0,
            torsion: 0.0,
            twist: 0.0,
            gravity: true,
            ..MATERIAL
        };
        let mut net = organ(8, 8, &material);
        for node in [1, 2, 3, 65] {
            net.fix(node).unwrap();
        }
        let bounds = trocar_soft::stability::bounds(&[&net], &[]);
        let mut nodes = [net.rest().clone()];
        let nets = boxed(net);
        let field = Field {
            time: 0.0,
            gravity: DVec3::new(0.0, -9.81, 0.0),
        };
        let h = bounds.safe.min(2e-3);
        assert!(h > 2e-4, "{bounds:?}");
        let speed = |nodes: &Nodes| {
            nodes
                .velocity
                .iter()
                .map(|v| v.length())
                .fold(0.0, f64::max)
        };
        let mut peak = 0.0_f64;
        for _ in 0..(20.0 / h) as usize {
            assert!(step(&nets, &mut nodes, &[], &field, h));
            peak = peak.max(speed(&nodes[0]));
        }
        // A flutter would have grown instead.
        let left = speed(&nodes[0]) / peak;
        assert!(
            left < 0.05,
            "{centre_mass}: {left} of {peak} m/s, {bounds:?}"
        );
    }
}

#[test]
fn a_free_node_inside_bears_its_neighbours_without_being_seen() {
    // Four surface nodes around an F-node (K22): it has mass and elements, but no place in the surface.
    let corners = [DVec3::X, DVec3::Y, DVec3::Z, -DVec3::ONE].map(|p| p * 0.02);
    let mut flags = vec![NodeFlags::default(); 5];
    flags[4].set(NodeFlags::FREE, true);
    let mut positions = corners.to_vec();
    positions.push(DVec3::ZERO);
    let spring = |i: u32| Element {
        nodes: [i, 4],
        rest_length: corners[i as usize].length(),
        law: Law::spring(5.0),
    };
    let mut nodes: Vec<MassNode> = (0..5)
        .map(|_| MassNode {
            damping: 0.01,
            ..MassNode::point(0.001)
        })
        .collect();
    for node in &mut nodes[..4] {
        node.lock = Lock::Fixed;
    }
    let net = Net::new(NetParts {
        points: positions,
        nodes,
        flags,
        memory: vec![0.0; 5],
        elements: (0..4).map(spring).collect(),
        triangles: vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]],
        ..NetParts::default()
    })
    .unwrap();
    assert!(net.flags(4).has(NodeFlags::FREE) && net.triangles().iter().flatten().all(|n| *n != 4));
    let mut nodes = [net.rest().clone()];
    nodes[0].position[4] = DVec3::new(0.004, -0.003, 0.002);
    let nets = boxed(net);
    for _ in 0..5000 {
        assert!(step(&nets, &mut nodes, &[], &REST, 2e-3));
    }
    assert!(
        nodes[0].position[4].length() < 1e-6,
        "its elements bring it back: {}",
        nodes[0].position[4]
    );
}

#[test]
fn the_present_bound_counts_dampers_at_the_speeds_they_have() {
    // At rest a quadratic damper has no slope at all; the faster its ends, the shorter the substep must be.
    let net = Net::new(NetParts {
        points: vec![DVec3::ZERO, DVec3::X],
        nodes: vec![MassNode::point(0.001); 2],
        flags: vec![NodeFlags::default(); 2],
        memory: vec![0.0; 2],
        elements: vec![Element {
            nodes: [0, 1],
            rest_length: 0.0,
            law: Law::damper(0.5).squared(),
        }],
        ..NetParts::default()
    })
    .unwrap();
    let mut moving = [net.rest().clone()];
    moving[0].velocity = vec![DVec3::Z * 2.0, DVec3::Z * -2.0];
    let mut gauge = trocar_soft::stability::Gauge::default();
    let sight = Sight {
        matter: |_| &net as &dyn Matter,
        slot: &[0],
    };
    let mut bound = |nodes: &mut [Nodes; 1]| {
        gauge.bound(&|_| Some(&net), nodes, (&[], &[]), &sight, (0.0, None))
    };
    let (rest, now) = (bound(&mut [net.rest().clone()]), bound(&mut moving));
    assert!(now < 0.01 * rest, "{now} {rest}");
    let speed_after = |h: f64| {
        let mut nodes = moving.clone();
        step(&boxed(net.clone()), &mut nodes, &[], &REST, h);
        nodes[0].velocity[0].length()
    };
    assert!(speed_after(now) < 2.0 && speed_after(4.0 * now) > 2.0);
}

#[test]
fn the_present_bound_counts_elements_to_other_things() {
    // A node of mass m on a quadratic spring k to a fixed point, stretched by s: its slope is 2 k s there.
    let net = points(&[DVec3::ZERO], vec![MassNode::point(0.001)], Vec::new());
    let ends = [End::On(Anchor::node(MatterId(0), 0)), End::At(DVec3::X)];
    let tie = Global::link(ends, Link::new(0.1, Law::spring(50.0).squared()));
    let mut gauge = trocar_soft::stability::Gauge::default();
    let sight = Sight {
        matter: |_| &net as &dyn Matter,
        slot: &[0],
    };
    let mut bound = |at: f64| {
        let mut nodes = [net.rest().clone()];
        nodes[0].position[0] = DVec3::X * (1.0 - at);
        let ties = std::slice::from_ref(&tie);
        gauge.bound(
            &|_| Some(&net),
            &mut nodes,
            (&[], ties),
            &sight,
            (0.0, None),
        )
    };
    let exact = |stretch: f64| 2.0 * (0.001 / (2.0 * 50.0 * stretch)).sqrt();
    for stretch in [0.1, 0.4, 1.6] {
        let found = bound(0.1 + stretch);
        assert!(
            found < exact(stretch) && found > 0.5 * exact(stretch),
            "{stretch}: {found}, exact {}",
            exact(stretch)
        );
    }
}

/// Energy, momentum and angular momentum of a net.
fn kept(net: &Net, nodes: &Nodes) -> (f64, DVec3, DVec3) {
    let energy = net.kinetic_energy(nodes) + net.elastic_energy(nodes, 0.0);
    let (push, mut turn) = momentum(net, nodes);
    for (z, rigid) in net.masses().rigid().iter().enumerate() {
        let q = nodes.orientation[z];
        turn += q * (rigid.inertia.unwrap() * (q.conjugate() * nodes.spin[z]));
    }
    (energy, push, turn)
}

#[test]
fn a_net_with_fathers_keeps_energy_and_momentum_without_damping_and_momentum_with_it() {
    // Uneven and quadratic memory, fathers of fathers; nothing is tied to the world.
    let loose = Material {
        centre_damping: 0.0,
        turn_damping: 0.0,
        torsion: 0.0,
        twist: 0.0,
        bending: 0.0,
        damping: 0.0,
        ..MATERIAL
    };
    let mut nets = Vec::new();
    for memory_base in [Base::Linear, Base::Quadratic] {
        for nested in [false, true] {
            for damped in [false, true] {
                let mut net = pipe(6, 8, &loose);
                net.change(|parts| {
                    parts.memory_base = memory_base;
                    for (i, node) in parts.nodes.iter_mut().enumerate() {
                        parts.memory[i] *= 1.0 + 0.9 * noise(i as u64);
                        node.mass *= 1.0 + 0.5 * noise(i as u64 + 77);
                        if damped {
                            node.damping = 0.05;
                        }
                        if let Some(rigid) = &mut node.rigid {
                            rigid.damping = if damped { 1e-6 } else { 0.0 };
                        }
                        if i == 0 {
                            // Against the world nothing is damped.
                            node.damping = 0.0;
                            node.rigid.as_mut().unwrap().damping = 0.0;
                        }
                    }
                    if nested {
                        for z in 1..parts.frames.len() {
                            parts.nodes[z].father = Some(z as u32 / 2);
                            parts.memory[z] = 2.0;
                        }
                    } else {
                        for z in 1..parts.frames.len() {
                            parts.nodes[z].damping = 0.0;
                            parts.nodes[z].rigid.as_mut().unwrap().damping = 0.0;
                        }
                    }
                })
                .unwrap();
                nets.push((net, damped));
            }
        }
    }
    for (k, (net, damped)) in nets.into_iter().enumerate() {
        let mut nodes = [shaken(&net, 0.001, 5)];
        for (i, v) in nodes[0].velocity.iter_mut().enumerate() {
            *v = DVec3::new(noise(i as u64), noise(i as u64 + 99), 0.3) * 0.05;
        }
        for (z, w) in nodes[0].spin.iter_mut().enumerate() {
            *w = DVec3::new(noise(z as u64 + 5), 2.0, noise(z as u64 + 9));
        }
        let before = kept(&net, &nodes[0]);
        let like = net.clone();
        let nets = boxed(net);
        let mut energies = [f64::INFINITY, 0.0_f64];
        for _ in 0..4000 {
            assert!(step(&nets, &mut nodes, &[], &REST, 5e-4));
            let now = kept(&like, &nodes[0]);
            energies = [energies[0].min(now.0), energies[1].max(now.0)];
            let drift = (now.1 - before.1).length();
            assert!(drift < 1e-13, "net {k}: {drift} of momentum {}", before.1);
            let drift = (now.2 - before.2).length();
            assert!(
                drift < 1e-5 * before.2.length(),
                "net {k}: {drift} of angular momentum {}",
                before.2
            );
        }
        let [least, most] = energies.map(|e| e / before.0);
        if damped {
            assert!(most < 1.001 && least < 0.9, "net {k}: {least} to {most}");
        } else {
            assert!(least > 0.99 && most < 1.01, "net {k}: {least} to {most}");
        }
    }
}

#[test]
fn a_damper_from_a_child_to_a_fixed_point_only_takes_energy() {
    let loose = Material {
        centre_damping: 0.0,
        turn_damping: 0.0,
        torsion: 0.0,
        twist: 0.0,
        damping: 0.0,
        ..MATERIAL
    };
    let net = organ(6, 6, &loose);
    let node = 9;
    let ends = [
        End::On(Anchor::node(MatterId(0), node)),
        End::At(net.rest().position[node as usize]),
    ];
    let tie = Global::link(ends, Link::new(0.0, Law::damper(0.3)));
    let sight = Sight {
        matter: |_| &net as &dyn Matter,
        slot: &[0],
    };
    let mut nodes = [shaken(&net, 0.002, 5)];
    nodes[0].velocity[0] = DVec3::new(0.1, 0.2, 0.3);
    nodes[0].spin[0] = DVec3::new(1.0, 3.0, 0.0);
    let energy = |nodes: &Nodes| net.kinetic_energy(nodes) + net.elastic_energy(nodes, 0.0);
    let start = energy(&nodes[0]);
    let mut least = start;
    for _ in 0..20_000 {
        net.force(&mut nodes[0], &REST);
        tie.apply(&sight, &mut nodes, 0.0);
        net.masses()
            .brake(&mut nodes[0], 5e-4, Brake::Implicit(1.0));
        net.plan(&mut nodes[0], 5e-4, None);
        assert!(net.advance(&mut nodes[0], 5e-4));
        let now = energy(&nodes[0]);
        // An explicit scheme breathes by parts of a hundred; it does not gain.
        assert!(now < 1.02 * least, "{now} J after {least} J");
        least = least.min(now);
    }
    assert!(least < 0.2 * start, "{least} of {start} J are left");
}

#[test]
fn what_yields_at_a_copy_yields_by_where_its_leader_is() {
    let plastic = Plastic::new(0.1, 0.0);
    let rest_length = 0.01;
    let mut leads = points(&[DVec3::X * 0.01], vec![MassNode::point(1.0)], vec![]);
    let mut follows = points(
        &[DVec3::X * 0.01, DVec3::ZERO],
        vec![
            // So light that on its own it would be drawn back at once.
            MassNode::point(1e-5),
            MassNode {
                lock: Lock::Fixed,
                ..MassNode::point(1.0)
            },
        ],
        vec![Element {
            nodes: [0, 1],
            rest_length,
            law: Law {
                plastic: Some(plastic),
                ..Law::spring(20.0)
            },
        }],
    );
    let pair = Hyper {
        master: (MatterId(0), 0),
        slave: (MatterId(1), 0),
        factor: 1.0,
    };
    hyper::mark(&pair, MatterId(0), &mut leads);
    hyper::mark(&pair, MatterId(1), &mut follows);
    let mut nodes = [leads.rest().clone(), follows.rest().clone()];
    nodes[0].velocity[0] = DVec3::X * 0.5;
    let nets: Vec<Box<dyn Matter>> = vec![Box::new(leads), Box::new(follows)];
    let mut flow = 0.0;
    for _ in 0..20 {
        assert!(step(&nets, &mut nodes, &[pair], &REST, 1e-3));
        let stretch = nodes[0].position[0].length() - rest_length;
        flow = plastic.settled(stretch, flow, rest_length);
        assert_eq!(nodes[1].flow[0], flow);
    }
    assert!(flow > 0.004, "{flow}");
}

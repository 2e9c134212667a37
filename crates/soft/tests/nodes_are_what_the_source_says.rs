//! Nodes and what holds them in shape: kinds, shape memory of one's own, inertia, three classes of motion, rest, and steps that are short enough (K19–K27,
//! K46, K47, K68, K70).

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::{MATERIAL, REST, organ, pipe, sheet, step};
use glam::{DQuat, DVec3};
use trocar_dynamics::{Field, Integrator, Lock, MassNode, Matter, Nodes, Rigid};
use trocar_math::{Pose, real, rotation};
use trocar_soft::{
    Base, Material, Net, NetError, NetParts, NodeFlags, OwnMemory, primitive, stability,
};

/// A frame at the origin and three points around it, whose memory is linear, quadratic, and linear towards a place of its own (K25).
fn remembering(father: Option<u32>) -> NetParts {
    let points = vec![DVec3::X * 0.1, DVec3::Y * 0.1, DVec3::Z * 0.1];
    let mut nodes = vec![MassNode::body(0.2, DVec3::splat(1e-3))];
    nodes.extend(points.iter().map(|_| MassNode {
        father,
        ..MassNode::point(0.01)
    }));
    NetParts {
        frames: vec![Pose::default()],
        points,
        nodes,
        flags: vec![NodeFlags::default(); 4],
        memory: vec![0.0, 5.0, 300.0, 7.0],
        own_memory: vec![
            OwnMemory {
                node: 2,
                base: Base::Quadratic,
                place: None,
            },
            OwnMemory {
                node: 3,
                base: Base::Linear,
                place: Some(DVec3::new(0.02, 0.0, 0.1)),
            },
        ],
        mobile: true,
        ..NetParts::default()
    }
}

#[test]
fn each_node_has_a_shape_memory_of_its_own() {
    for father in [None, Some(0)] {
        let net = Net::new(remembering(father)).unwrap();
        let mut nodes = net.rest().clone();
        // The father has moved and turned; what belongs to it is drawn to where that has taken its places.
        let pose = Pose::new(
            DVec3::new(0.01, -0.02, 0.03),
            rotation::from_scaled_axis(DVec3::new(0.3, -0.5, 0.8)),
        );
        (nodes.position[0], nodes.orientation[0]) = (pose.position, pose.rotation);
        let shift = DVec3::new(0.004, 0.003, 0.0);
        let places = [DVec3::X * 0.1, DVec3::Y * 0.1, DVec3::new(0.02, 0.0, 0.1)];
        let places = places.map(|p| match father {
            Some(_) => pose.point(p),
            None => p,
        });
        for (i, place) in places.iter().enumerate() {
            nodes.position[i + 1] = *place + shift;
        }
        net.force(&mut nodes, &REST);
        for (i, wanted) in [-shift * 5.0, -shift * (300.0 * 0.005), -shift * 7.0]
            .into_iter()
            .enumerate()
        {
            assert!(
                nodes.force[i + 1].distance(wanted) < 1e-14,
                "{father:?} {i}"
            );
        }
        let energy = 0.5 * (5.0 + 7.0) * 25e-6 + 300.0 / 3.0 * 0.005 * 25e-6;
        assert!((net.elastic_energy(&nodes, 0.0) - energy).abs() < 1e-15);
        // A net that is changed while it moves keeps it.
        let mut changed = net.clone();
        changed.change(|parts| parts.gravity = true).unwrap();
        assert_eq!(changed.memory_base(2), Base::Quadratic);
        assert_eq!(
            changed.base_position(&nodes, 3),
            net.base_position(&nodes, 3)
        );
        assert!(stability::bounds(&[&net], &[]).safe > 0.0);
    }
}

#[test]
fn a_shape_memory_of_no_node_or_of_no_place_is_refused() {
    for (node, place) in [
        (9, None),
        (2, Some(DVec3::ZERO)),
        (1, Some(DVec3::splat(f64::NAN))),
    ] {
        let mut parts = remembering(None);
        parts.own_memory.push(OwnMemory {
            node,
            base: Base::Linear,
            place,
        });
        assert!(Net::new(parts).is_err(), "{node} {place:?}");
    }
    let mut parts = remembering(None);
    parts.own_memory[0].place = Some(DVec3::INFINITY);
    assert!(matches!(Net::new(parts), Err(NetError::Node(2, _))));
}

/// K27: none, of a box by mass, given.
#[test]
fn a_central_node_turns_by_its_inertia_or_not_at_all() {
    // A box of half edges a, b, c: m (b² + c²)/3, and so on.
    let half = DVec3::new(0.03, 0.02, 0.05);
    let corners = [-1.0, 1.0].map(|s| half * s);
    let made = MATERIAL.frame(&Pose::default(), corners.into_iter());
    let square = half * half;
    let wanted = DVec3::new(
        square.y + square.z,
        square.z + square.x,
        square.x + square.y,
    ) * (MATERIAL.centre_mass / 3.0);
    let automatic = made.rigid.unwrap().inertia.unwrap();
    assert!(automatic.distance(wanted) < 1e-15);
    let given = DVec3::new(1e-3, 2e-3, 4e-3);
    for inertia in [None, Some(automatic), Some(given)] {
        let net = Net::new(NetParts {
            frames: vec![Pose::default()],
            nodes: vec![MassNode {
                rigid: Some(Rigid {
                    inertia,
                    ..Rigid::default()
                }),
                ..MassNode::point(0.2)
            }],
            flags: vec![NodeFlags::default()],
            memory: vec![0.0],
            mobile: true,
            ..NetParts::default()
        })
        .unwrap();
        for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
            let mut nodes = net.rest().clone();
            net.force(&mut nodes, &REST);
            nodes.torque[0] = axis * 1e-4;
            net.plan(&mut nodes, 1e-3, None);
            assert!(net.advance(&mut nodes, 1e-3));
            let spin = inertia.map_or(DVec3::ZERO, |j| axis * 1e-7 / j);
            assert!(nodes.spin[0].distance(spin) < 1e-12, "{inertia:?} {axis}");
            assert_eq!(nodes.orientation[0] == DQuat::IDENTITY, inertia.is_none());
        }
    }
}

/// Steps of a net with a steady push on some of its nodes.
fn pushed(net: &Net, push: &[(usize, DVec3)], seconds: f64) -> Nodes {
    let matters: Vec<Box<dyn Matter>> = vec![Box::new(net.clone())];
    let mut nodes = vec![net.rest().clone()];
    let h = 0.5 * stability::bounds(&[net], &[]).safe;
    for _ in 0..(seconds / h) as usize {
        // What is pushed gets the momentum of the push at the start of each substep.
        for (node, force) in push {
            nodes[0].velocity[*node] += *force * (h / net.masses().mass()[*node]);
        }
        assert!(step(&matters, &mut nodes, &[], &REST, h));
    }
    nodes.remove(0)
}

fn shifts(net: &Net, nodes: &Nodes) -> Vec<f64> {
    let both = nodes.position.iter().zip(&net.rest().position);
    both.map(|(a, b)| a.distance(*b)).collect()
}

/// K46: one net shows local deformation, partial displacement and global motion, each where it is asked for.
#[test]
fn a_pipe_is_dented_bent_and_carried_away() {
    let (rings, around) = (9, 10);
    let material = Material {
        memory: 20.0,
        stiffness: 5.0,
        centre_stiffness: 5.0,
        ..MATERIAL
    };
    let net = pipe(rings, around, &material);
    let first = rings;
    let surface = |ring: usize, k: usize| first + ring * around + k;
    // It is pinched at two nodes of a ring: they move, the centre between them and the ends hardly do.
    let inwards = net.rest().position[4] - net.rest().position[surface(4, 0)];
    let pinch = inwards.normalize() * 0.01;
    let pinched = [(surface(4, 0), pinch), (surface(4, 5), -pinch)];
    let dent = shifts(&net, &pushed(&net, &pinched, 0.3));
    let at = dent[surface(4, 0)];
    assert!(at > 1e-4 && dent[4] < 0.01 * at, "{at} {}", dent[4]);
    assert!(
        dent[surface(8, 5)] < 0.05 * at,
        "{at} {}",
        dent[surface(8, 5)]
    );
    // A centre is pushed: its ring comes along as a whole, the ends less.
    let part = shifts(&net, &pushed(&net, &[(4, DVec3::Y * -0.1)], 0.3));
    let ring: Vec<f64> = (0..around).map(|k| part[surface(4, k)]).collect();
    let (least, most) = ring
        .iter()
        .fold((f64::MAX, 0.0_f64), |(a, b), x| (a.min(*x), b.max(*x)));
    assert!(least > 0.7 * most && most > 1e-3, "{ring:?}");
    assert!(part[surface(0, 0)] < 0.5 * most, "{part:?}");
    // All are pushed by their mass: the whole pipe goes, and keeps its shape.
    let all: Vec<(usize, DVec3)> = (0..net.rest().len())
        .map(|i| (i, DVec3::X * net.masses().mass()[i]))
        .collect();
    let gone = pushed(&net, &all, 0.3);
    let far = shifts(&net, &gone);
    assert!(far.iter().all(|s| *s > 1e-3), "{far:?}");
    let apart =
        |nodes: &Nodes| nodes.position[surface(0, 0)].distance(nodes.position[surface(8, 5)]);
    assert!((apart(&gone) / apart(net.rest()) - 1.0).abs() < 0.05);
}

/// K70: what the primitives make is at rest, and stays so to the last bit that rounding leaves.
#[test]
fn nets_start_at_rest_and_stay_there() {
    let nets = [
        organ(9, 12, &MATERIAL),
        pipe(7, 10, &MATERIAL),
        sheet(8, 8, &MATERIAL),
    ];
    for net in nets {
        let mut nodes = net.rest().clone();
        assert!(
            nodes
                .velocity
                .iter()
                .chain(&nodes.spin)
                .all(|v| *v == DVec3::ZERO)
        );
        net.force(&mut nodes, &REST);
        let most = nodes.force.iter().chain(&nodes.torque);
        let most = most.fold(0.0_f64, |m, f| m.max(f.length()));
        assert!(most < 1e-14, "{most}");
        let still = shifts(&net, &pushed(&net, &[], 1.0));
        assert!(still.iter().all(|s| *s < 1e-12), "{still:?}");
    }
    // Pre-tension is no rest, and is seen as forces at the start.
    let tight = sheet(
        8,
        8,
        &Material {
            shorten: 0.2,
            ..MATERIAL
        },
    );
    let mut nodes = tight.rest().clone();
    tight.force(&mut nodes, &REST);
    assert!(nodes.force.iter().any(|f| f.length() > 1e-4));
}

/// K68: a tenth of the shortest time constant follows the closed form within a few per cent; the error shrinks with the step.
#[test]
fn a_tenth_of_the_time_constant_is_short_enough() {
    for (m, d, k) in [(0.01, 0.02, 4.0), (0.002, 0.3, 4.0)] {
        let [short, _] = stability::time_constants(m, d, k);
        let net = Net::new(NetParts {
            points: vec![DVec3::ZERO],
            nodes: vec![MassNode {
                damping: d,
                ..MassNode::point(m)
            }],
            flags: vec![NodeFlags::default()],
            memory: vec![k],
            ..NetParts::default()
        })
        .unwrap();
        assert!((stability::bounds(&[&net], &[]).time_constant - short).abs() < 1e-15);
        let exact = |t: f64| -> f64 {
            let a = d / (2.0 * m);
            let square = a * a - k / m;
            let w = square.abs().sqrt();
            if square < 0.0 {
                let (sin, cos) = real::sin_cos(w * t);
                real::exp(-a * t) * (cos + a / w * sin)
            } else {
                let [slow, fast] = [w - a, -w - a].map(|rate| real::exp(rate * t));
                0.5 * (slow + fast + a / w * (slow - fast))
            }
        };
        // Ten time constants long.
        let error = |h: f64| {
            let mut nodes = net.rest().clone();
            nodes.position[0] = DVec3::X * 1e-3;
            let mut worst = 0.0_f64;
            for n in 1..=(10.0 * short / h) as usize {
                let field = Field { time: 0.0, ..REST };
                net.force(&mut nodes, &field);
                net.plan(&mut nodes, h, None);
                net.advance(&mut nodes, h);
                worst = worst.max((nodes.position[0].x / 1e-3 - exact(n as f64 * h)).abs());
            }
            worst
        };
        let (coarse, tenth, fine) = (error(short), error(short / 10.0), error(short / 40.0));
        assert!(tenth < 0.1 && coarse > 3.0 * tenth, "{coarse} {tenth}");
        assert!(
            (tenth / fine - 4.0).abs() < 0.8,
            "first order: {tenth} {fine}"
        );
    }
}

/// K19–K24: frames have an orientation and come first, points have none; both move by their mass and damping, and not along what is locked.
#[test]
fn kinds_and_locks_are_told_apart() {
    let mut parts = primitive::organ(&common::organ_tube(5, 6), &MATERIAL);
    let free = parts.points.len();
    parts.points.push(DVec3::new(0.04, 0.0, 0.0));
    parts.nodes.push(MassNode {
        damping: 0.4,
        ..MassNode::point(0.004)
    });
    parts.memory.push(0.0);
    parts.flags.push(NodeFlags::FREE);
    parts.nodes[3].lock = Lock::Fixed;
    parts.nodes[4].lock = Lock::Axes(DVec3::new(1.0, 0.0, 0.5), DQuat::IDENTITY);
    let net = Net::new(parts).unwrap();
    let (masses, inner) = (net.masses(), 1 + free);
    assert_eq!((masses.frames(), masses.len()), (1, inner + 1));
    assert!(net.flags(inner).has(NodeFlags::FREE) && !net.flags(1).has(NodeFlags::FREE));
    assert!(
        net.triangles()
            .iter()
            .flatten()
            .all(|n| (1..inner as u32).contains(n))
    );
    let mut nodes = net.rest().clone();
    let h = 1e-3;
    nodes.force.fill(DVec3::ZERO);
    for i in [3, 4, inner] {
        nodes.force[i] = DVec3::ONE;
    }
    masses.plan(&mut nodes, h, None);
    assert!(masses.advance(&mut nodes, h));
    let moved = |i: usize| nodes.position[i] - net.rest().position[i];
    // The damping of what has a father acts within its family, and is a force here.
    let (own, inside) = (h * h / MATERIAL.mass, h * h / (0.004 + 0.4 * h));
    assert_eq!(moved(3), DVec3::ZERO);
    assert!(moved(4).distance(DVec3::new(1.0, 0.0, 0.5) * own) < 1e-12);
    assert!(moved(inner).distance(DVec3::ONE * inside) < 1e-12);
}

/// K24, (3.67) and (3.68): a gain scales the way and not the velocity, so that what a partly locked node does at an instant does not depend on the step.
#[test]
fn a_gain_scales_the_way_and_not_the_velocity() {
    let (m, d, f, b) = (0.004, 0.06, 0.3, 0.25);
    let mut parts = NetParts {
        points: vec![DVec3::ZERO],
        nodes: vec![MassNode {
            damping: d,
            lock: Lock::Axes(DVec3::new(b, 0.0, 1.0), DQuat::IDENTITY),
            ..MassNode::point(m)
        }],
        flags: vec![NodeFlags::default()],
        memory: vec![0.0],
        mobile: true,
        ..NetParts::default()
    };
    for integrator in [Integrator::Mesd, Integrator::Midpoint] {
        parts.integrator = integrator;
        let net = Net::new(parts.clone()).unwrap();
        let way = |h: f64| {
            let mut nodes = net.rest().clone();
            for _ in 0..(0.2 / h).round() as usize {
                nodes.force[0] = DVec3::splat(f);
                net.plan(&mut nodes, h, None);
                assert!(net.advance(&mut nodes, h));
            }
            assert_eq!(nodes.velocity[0].y, 0.0);
            let (whole, part) = (nodes.velocity[0].z, nodes.velocity[0].x);
            assert!((part / whole - 1.0).abs() < 1e-12, "{part} {whole}");
            let energy = 0.5 * m * (b * part * part + whole * whole);
            assert!((net.kinetic_energy(&nodes) / energy - 1.0).abs() < 1e-12);
            nodes.position[0]
        };
        // x(t) = f/d (t − m/d (1 − exp(−d t/m))), of which b is let through.
        let (t, tau) = (0.2, m / d);
        let exact = f / d * (t - tau * (1.0 - real::exp(-t / tau)));
        let errors = [1e-3, 5e-4].map(|h| {
            let moved = way(h);
            assert!((moved.x / moved.z - b).abs() < 1e-12 && moved.y == 0.0);
            moved.z / exact - 1.0
        });
        assert!(errors[0].abs() < 0.01, "{errors:?}");
        assert!((errors[0] / errors[1]).abs() > 1.8, "{errors:?}");
    }
}

/// K67 with K24: what is held back stands on the ground as well, and its velocity is that by which it got there.
#[test]
fn what_is_partly_locked_stands_on_the_ground() {
    for b in [1.0, 0.5, 0.1] {
        let net = Net::new(NetParts {
            points: vec![DVec3::Y * 0.01],
            nodes: vec![MassNode {
                lock: Lock::Axes(DVec3::new(1.0, b, 1.0), DQuat::IDENTITY),
                ..MassNode::point(0.002)
            }],
            flags: vec![NodeFlags::default()],
            memory: vec![0.0],
            mobile: true,
            ground: Some(0.0),
            ..NetParts::default()
        })
        .unwrap();
        let (mut nodes, h) = (net.rest().clone(), 1e-3);
        for _ in 0..400 {
            let before = nodes.position[0].y;
            nodes.force[0] = DVec3::NEG_Y * 0.02;
            net.plan(&mut nodes, h, None);
            assert!(net.advance(&mut nodes, h));
            let moved = (nodes.position[0].y - before) / h;
            let velocity = net.masses().node_velocity(&nodes, 0).y;
            assert!((moved - velocity).abs() < 1e-9, "{b}: {moved} {velocity}");
        }
        assert_eq!(nodes.position[0].y, 0.0, "{b}");
    }
}

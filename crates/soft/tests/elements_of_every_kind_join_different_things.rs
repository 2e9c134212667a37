//! Between different things there is every kind of element that a net has (K53): what bends, turns back and yields, against closed forms and finite differences.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use glam::{DQuat, DVec3};
use std::f64::consts::PI;
use trocar_dynamics::{Anchor, Bodies, Field, Lock, MassNode, Matter, MatterId, Nodes, Turning};
use trocar_math::{Pose, rotation};
use trocar_soft::{
    Global, Law, Link, Net, NetParts, NodeFlags, Plastic,
    global::{End, Flow, Sight},
    stability::{self, Gauge},
};

const REST: Field = Field {
    time: 0.0,
    gravity: DVec3::ZERO,
};

fn frame(body: u32, arm: DVec3) -> End {
    End::On(Anchor::frame(MatterId(0), body, arm))
}

/// Bodies of these moments of inertia (kg·m²), 10 g each, at these places, turned at random.
fn bodies(moments: &[f64], places: &[DVec3]) -> (Bodies, [Nodes; 1]) {
    let parts: Vec<MassNode> = moments
        .iter()
        .map(|j| MassNode::body(0.01, DVec3::splat(*j)))
        .collect();
    let mut bodies = Bodies::new(&parts, Turning::default()).unwrap();
    (0..parts.len()).for_each(|i| bodies.draw(i));
    let turned = |i: usize| rotation::from_scaled_axis(DVec3::new(0.3, -0.8, 0.5) * i as f64);
    let frames: Vec<(DVec3, DQuat)> = (0..).zip(places).map(|(i, p)| (*p, turned(i))).collect();
    (bodies, [Nodes::at_rest(&frames, &[])])
}

fn sight<'a>(bodies: &'a Bodies) -> Sight<'a, impl Fn(MatterId) -> &'a dyn Matter> {
    Sight {
        matter: move |_| bodies as &dyn Matter,
        slot: &[0],
    }
}

fn feel(bodies: &Bodies, element: &Global, nodes: &mut [Nodes; 1]) {
    bodies.force(&mut nodes[0], &REST);
    element.apply(&sight(bodies), nodes, 0.0);
}

fn step(bodies: &Bodies, element: &mut Global, nodes: &mut [Nodes; 1], h: f64) {
    feel(bodies, element, nodes);
    bodies.plan(&mut nodes[0], h, None);
    assert!(bodies.advance(&mut nodes[0], h));
    element.settle(&sight(bodies), nodes);
}

/// How long it takes from one passage through 0 upwards to the next, on the mean of many.
fn period(mut value: impl FnMut() -> f64, h: f64, steps: usize) -> f64 {
    let (mut last, mut passed) = (value(), Vec::new());
    for i in 1..steps {
        let now = value();
        if last < 0.0 && now >= 0.0 {
            passed.push((i as f64 - now / (now - last)) * h);
        }
        last = now;
    }
    assert!(passed.len() > 4, "{} passages", passed.len());
    (passed[passed.len() - 1] - passed[0]) / (passed.len() - 1) as f64
}

#[test]
fn torsion_is_the_gradient_of_its_energy_and_turns_both_the_same() {
    let (bodies, start) = bodies(&[1e-6, 3e-6], &[DVec3::ZERO, DVec3::X * 0.1]);
    let rest = [start[0].orientation[0], start[0].orientation[1]];
    let arm = DVec3::new(0.01, 0.0, 0.02);
    let torsion = Global::torsion([frame(0, arm), frame(1, DVec3::ZERO)], 0.02, rest);
    assert_eq!(torsion.objection(), None);
    let energy = |nodes: &[Nodes; 1]| torsion.energy(&sight(&bodies), nodes, 0.0);
    let mut nodes = start.clone();
    feel(&bodies, &torsion, &mut nodes);
    assert!(nodes[0].torque.iter().all(|t| t.length() < 1e-15));
    // Both turned together, nothing is to be turned back.
    let whole = rotation::from_scaled_axis(DVec3::new(1.0, 0.4, -0.2));
    nodes[0]
        .orientation
        .iter_mut()
        .for_each(|q| *q = whole * *q);
    feel(&bodies, &torsion, &mut nodes);
    assert!(nodes[0].torque.iter().all(|t| t.length() < 1e-15));
    // One of them turned farther: its torque is the slope of the energy, the other's is the opposite, and nobody is pushed.
    nodes[0].orientation[0] =
        rotation::from_scaled_axis(DVec3::new(-0.3, 0.9, 0.6)) * nodes[0].orientation[0];
    feel(&bodies, &torsion, &mut nodes);
    let torque = nodes[0].torque.clone();
    assert!(torque[0].length() > 0.01 && (torque[0] + torque[1]).length() < 1e-15);
    assert!(nodes[0].force.iter().all(|f| *f == DVec3::ZERO));
    for (body, torque) in torque.iter().enumerate() {
        for way in [DVec3::X, DVec3::Y, DVec3::Z] {
            let [ahead, back] = [1e-6, -1e-6].map(|by| {
                let mut turned = nodes.clone();
                turned[0].orientation[body] =
                    rotation::from_scaled_axis(way * by) * nodes[0].orientation[body];
                energy(&turned)
            });
            let wrong = (ahead - back) / 2e-6 + torque.dot(way);
            assert!(wrong.abs() < 1e-8, "{body} {way}: {wrong}");
        }
    }
}

#[test]
fn torsion_swings_two_bodies_against_each_other_with_their_period() {
    // I₁ I₂ / (I₁ + I₂) on k; against the world, I₁ alone.
    let (k, [i, j]) = (0.02, [1e-6, 3e-6]);
    for (other, inertia) in [(true, i * j / (i + j)), (false, i)] {
        let (bodies, mut nodes) = bodies(&[i, j], &[DVec3::ZERO, DVec3::X * 0.1]);
        let rest = [nodes[0].orientation[0], nodes[0].orientation[1]];
        let to = if other {
            frame(1, DVec3::ZERO)
        } else {
            End::At(DVec3::Z)
        };
        let mut torsion = Global::torsion([frame(0, DVec3::ZERO), to], k, rest);
        // About an axis of both: they are balls.
        nodes[0].orientation[0] = rotation::from_scaled_axis(DVec3::Z * 0.2) * rest[0];
        let exact = 2.0 * PI * (inertia / k).sqrt();
        let h = exact / 400.0;
        let found = period(
            || {
                step(&bodies, &mut torsion, &mut nodes, h);
                let [a, b] = [0, 1].map(|z| nodes[0].orientation[z] * rest[z].conjugate());
                rotation::to_scaled_axis(b.conjugate() * a).z
            },
            h,
            4000,
        );
        assert!((found / exact - 1.0).abs() < 1e-3, "{found} {exact}");
    }
}

#[test]
fn a_bend_over_three_bodies_swings_with_its_period_and_keeps_momentum() {
    // On a straight line the middle gets −(k/L) s with s = 2 u_k − u_i − u_j, so that s″ = −3 k s/(L m).
    let (k, arm, m) = (0.05, 0.02, 0.01);
    let places = [-1.0, 0.0, 1.0].map(|x| DVec3::X * (arm * x));
    let (bodies, mut nodes) = bodies(&[1e-6; 3], &places);
    let ends = [0, 1, 2].map(|i| frame(i, DVec3::ZERO));
    let mut bend = Global::bend(ends, k, places);
    assert_eq!(bend.objection(), None);
    nodes[0].position[1].y += 1e-4;
    let exact = 2.0 * PI * (arm * m / (3.0 * k)).sqrt();
    let h = exact / 400.0;
    let found = period(
        || {
            step(&bodies, &mut bend, &mut nodes, h);
            let [i, k, j] = [0, 1, 2].map(|n| nodes[0].position[n].y);
            2.0 * k - i - j
        },
        h,
        4000,
    );
    assert!((found / exact - 1.0).abs() < 2e-3, "{found} {exact}");
    let momentum: DVec3 = nodes[0].velocity.iter().map(|v| *v * m).sum();
    assert!(momentum.length() < 1e-15, "{momentum}");
    let turning = |n: usize| nodes[0].position[n].cross(nodes[0].velocity[n] * m);
    let turning: DVec3 = (0..3).map(turning).sum();
    assert!(turning.length() < 1e-12, "{turning}");
}

#[test]
fn what_yields_stays_longer_by_what_the_closed_form_says_and_forgets_when_told() {
    let plastic = Plastic::new(0.1, 0.5);
    let law = Law {
        plastic: Some(plastic),
        ..Law::spring(50.0)
    };
    let (bodies, mut nodes) = bodies(&[1e-6], &[DVec3::X * 0.02]);
    let ends = [frame(0, DVec3::ZERO), End::At(DVec3::ZERO)];
    let mut link = Global::link(ends, Link::new(0.02, law));
    assert_eq!(link.objection(), None);
    // Drawn to 25 mm, 5 mm farther than at rest: (5 − 2)/1.5 = 2 mm of it stay.
    nodes[0].position[0] = DVec3::X * 0.025;
    link.settle(&sight(&bodies), &nodes);
    assert!((link.flow().flown - 0.002).abs() < 1e-15);
    feel(&bodies, &link, &mut nodes);
    assert!((nodes[0].force[0].x + 50.0 * 0.003).abs() < 1e-12);
    nodes[0].position[0] = DVec3::X * 0.022;
    feel(&bodies, &link, &mut nodes);
    assert!(nodes[0].force[0].length() < 1e-12);
    // Told to forget, it draws all the way back and does not yield on it.
    link.forget_flow(&sight(&bodies), &nodes);
    for mm in [22.0, 21.0, 20.5, 20.0] {
        nodes[0].position[0] = DVec3::X * (mm * 1e-3);
        link.settle(&sight(&bodies), &nodes);
        assert_eq!(link.flow().flown, 0.0, "{mm}");
    }
    // What can't yield remembers nothing.
    let mut stiff = Global::link(ends, Link::new(0.02, Law::spring(50.0)));
    stiff.resume_flow(Flow {
        flown: 0.001,
        spared: 0.0,
    });
    assert_eq!(stiff.flow(), Flow::default());
}

#[test]
fn a_spring_that_yields_loses_energy_and_never_gains_any() {
    let law = Law {
        plastic: Some(Plastic::new(0.05, 0.2)),
        ..Law::spring(50.0)
    };
    let (bodies, mut nodes) = bodies(&[1e-6], &[DVec3::X * 0.02]);
    let ends = [frame(0, DVec3::ZERO), End::At(DVec3::ZERO)];
    let mut link = Global::link(ends, Link::new(0.02, law));
    nodes[0].velocity[0] = DVec3::X * 0.5;
    let energy = |link: &Global, nodes: &[Nodes; 1]| {
        0.005 * nodes[0].velocity[0].length_squared() + link.energy(&sight(&bodies), nodes, 0.0)
    };
    let start = energy(&link, &nodes);
    let mut quarters = [0.0_f64; 4];
    for i in 0..4000 {
        step(&bodies, &mut link, &mut nodes, 1e-4);
        let now = energy(&link, &nodes);
        quarters[i / 1000] = quarters[i / 1000].max(now);
    }
    assert!(quarters[0] <= 1.02 * start, "{quarters:?} {start}");
    assert!(
        quarters.windows(2).all(|q| q[1] <= 1.02 * q[0]),
        "{quarters:?}"
    );
    assert!(quarters[3] < 0.5 * start, "{quarters:?} {start}");
}

/// KB9: how long a substep may be for bodies that turn and bend is below what they bear, and not far below.
#[test]
fn the_present_bound_counts_torsion_and_bends_on_bodies() {
    let places = [-1.0, 0.0, 1.0].map(|x| DVec3::X * (0.02 * x));
    let (bodies, mut nodes) = bodies(&[1e-6; 3], &places);
    let rest = [nodes[0].orientation[0], nodes[0].orientation[1]];
    let twist = Global::torsion([frame(0, DVec3::ZERO), frame(1, DVec3::ZERO)], 0.02, rest);
    let bend = Global::bend([0, 1, 2].map(|i| frame(i, DVec3::ZERO)), 0.05, places);
    // Two balls against each other; three points of s″ = −3 k s/(L m).
    let exact = [
        stability::critical_step(0.5e-6, 0.0, 0.02),
        stability::critical_step(0.02 * 0.01 / 3.0, 0.0, 0.05),
    ];
    for (element, exact) in [twist, bend].iter().zip(exact) {
        let joined = (&[][..], std::slice::from_ref(element));
        let net = |_| None::<&trocar_soft::Net>;
        let sight = sight(&bodies);
        let found = Gauge::default().bound(&net, &mut nodes, joined, &sight, (0.0, None));
        assert!(found < exact && found > 0.2 * exact, "{found} {exact}");
    }
}

/// What is locked stays where it is, but turns there: in a net as among bodies, by torsion and by what pulls at an arm.
#[test]
fn the_present_bound_counts_what_turns_where_it_is_locked() {
    let locked = MassNode {
        lock: Lock::Fixed,
        ..MassNode::body(0.01, DVec3::splat(1e-6))
    };
    let ends = |arm| [frame(0, arm), End::At(DVec3::X * 0.02)];
    let arm = DVec3::Y * 0.01;
    let law = Law::spring(100.0);
    let elements = [
        Global::torsion(ends(DVec3::ZERO), 0.02, [DQuat::IDENTITY; 2]),
        Global::link(ends(arm), Link::new(0.01 * 5.0_f64.sqrt(), law)),
    ];
    // A torsion of 0.02 N·m/rad; a spring that meets its arm at an angle whose cosine is −1/√5, so that it turns by its part across.
    let stiffness = [0.02, 100.0 * 0.01 * 0.01 * 0.8];
    let bodies = Bodies::new(&[locked], Turning::default()).unwrap();
    let net = alone(locked);
    for (element, stiffness) in elements.iter().zip(stiffness) {
        let exact = stability::critical_step(1e-6, 0.0, stiffness);
        let joined = (&[][..], std::slice::from_ref(element));
        for matter in [&bodies as &dyn Matter, &net] {
            let any: &dyn std::any::Any = matter;
            let of = |_| any.downcast_ref::<Net>();
            let sight = Sight {
                matter: |_| matter,
                slot: &[0],
            };
            let mut nodes = [Nodes::at_rest(&[(DVec3::ZERO, DQuat::IDENTITY)], &[])];
            let found = Gauge::default().bound(&of, &mut nodes, joined, &sight, (0.0, None));
            assert!(
                found < exact && found > 0.2 * exact,
                "{element:?}, net {}: {found} {exact}",
                of(0).is_some()
            );
        }
    }
}

/// A net of a single node.
fn alone(node: MassNode) -> Net {
    let frames = match node.rigid {
        Some(_) => vec![Pose::IDENTITY],
        None => Vec::new(),
    };
    Net::new(NetParts {
        points: vec![DVec3::ZERO; 1 - frames.len()],
        frames,
        nodes: vec![node],
        flags: vec![NodeFlags::default()],
        memory: vec![0.0],
        mobile: true,
        ..NetParts::default()
    })
    .unwrap()
}

/// KB9: a place does not move, so an element to one counts once. A linear one is at its very bound then; of one that stiffens a part is left out.
#[test]
fn the_present_bound_of_what_only_a_place_holds_is_its_own() {
    let net = alone(MassNode::point(0.01));
    let ends = [
        End::On(Anchor::node(MatterId(0), 0)),
        End::At(DVec3::X * 0.01),
    ];
    let sight = Sight {
        matter: |_| &net as &dyn Matter,
        slot: &[0],
    };
    let present = |element: &Global, x: f64| {
        let joined = (&[][..], std::slice::from_ref(element));
        let mut nodes = [net.rest().clone()];
        nodes[0].position[0].x = x;
        Gauge::default().bound(&|_| Some(&net), &mut nodes, joined, &sight, (0.0, None))
    };
    let linear = Global::link(ends, Link::new(0.01, Law::spring(50.0)));
    let exact = stability::critical_step(0.01, 0.0, 50.0);
    assert!((present(&linear, -0.01) / exact - 1.0).abs() < 1e-12);
    let damper = Global::link(ends, Link::new(0.0, Law::damper(2.0)));
    let exact = stability::critical_step(0.01, -2.0, 0.0);
    assert!((present(&damper, -0.01) / exact - 1.0).abs() < 1e-12);
    let stiffening = Global::link(ends, Link::new(0.01, Law::spring(5000.0).squared()));
    for stretch in [0.01, 0.02, 0.1] {
        let exact = stability::critical_step(0.01, 0.0, 1e4 * stretch);
        let found = present(&stiffening, -stretch);
        assert!(
            found < 0.9 * exact && found > 0.7 * exact,
            "{stretch}: {found} {exact}"
        );
    }
}

/// What torsion leads to and is not looked at may turn the other way: the bound is that of twice the constant.
#[test]
fn torsion_to_what_is_not_looked_at_counts_twice() {
    let net = alone(MassNode::body(0.01, DVec3::splat(1e-6)));
    let safe = |to: End| {
        let torsion = Global::torsion([frame(0, DVec3::ZERO), to], 0.02, [DQuat::IDENTITY; 2]);
        stability::bounds_with(&[&net], &[], &[torsion]).safe
    };
    let (still, away) = (safe(End::At(DVec3::X)), safe(End::Away(DVec3::X)));
    assert!(
        (still / away - 2.0_f64.sqrt()).abs() < 0.02,
        "{still} {away}"
    );
}

#[test]
fn what_has_no_direction_is_not_turned_and_what_has_no_arms_does_not_bend() {
    let node = End::On(Anchor::node(MatterId(0), 0));
    let turned = |ends| Global::torsion(ends, 1.0, [DQuat::IDENTITY; 2]).objection();
    assert!(
        turned([node, End::At(DVec3::ZERO)])
            .unwrap()
            .contains("central nodes")
    );
    assert!(turned([End::At(DVec3::X), End::At(DVec3::ZERO)]).is_some());
    assert!(turned([frame(0, DVec3::ZERO), node]).is_some());
    assert!(turned([frame(0, DVec3::ZERO), End::At(DVec3::ZERO)]).is_none());
    for constant in [-1.0, f64::NAN, f64::INFINITY] {
        let ends = [frame(0, DVec3::ZERO), End::At(DVec3::ZERO)];
        assert!(
            Global::torsion(ends, constant, [DQuat::IDENTITY; 2])
                .objection()
                .is_some()
        );
    }
    let flat = [DVec3::ZERO, DVec3::ZERO, DVec3::X];
    let ends = [0, 1, 2].map(|i| frame(i, DVec3::ZERO));
    assert!(
        Global::bend(ends, 1.0, flat)
            .objection()
            .unwrap()
            .contains("either side")
    );
    // Nor does it do harm where the law is all but singular.
    let line = [DVec3::NEG_X, DVec3::ZERO, DVec3::X];
    let (bodies, mut nodes) = bodies(&[1e-6; 3], &flat);
    feel(&bodies, &Global::bend(ends, 1.0, line), &mut nodes);
    assert!(nodes[0].force.iter().all(|f| f.is_finite()));
}

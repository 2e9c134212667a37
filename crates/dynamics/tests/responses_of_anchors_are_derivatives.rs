//! What a solver works with, anchors of every kind on matter of every kind, answers an impulse as its
//! `response` and `mobility` say: checked by finite differences.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use glam::{DMat3, DQuat, DVec3};
use trocar_dynamics::{
    Anchor, Bodies, Cast, Field, Kinematic, Local, MassNode, Matter, MatterId, Nodes, Turning,
};
use trocar_math::rotation;

const BODIES: MatterId = MatterId(1);
const POINTS: MatterId = MatterId(2);

fn world() -> (Vec<Box<dyn Matter>>, Vec<Nodes>) {
    let bodies = Bodies::new(
        &[
            MassNode::body(0.4, DVec3::new(1e-3, 2e-3, 4e-4)),
            MassNode::body(0.2, DVec3::new(3e-4, 2e-4, 4e-4)),
        ],
        Turning::default(),
    );
    let points: Vec<MassNode> = (1..=5)
        .map(|i| MassNode::point(0.01 * f64::from(i)))
        .collect();
    let turned = rotation::from_scaled_axis(DVec3::new(0.3, 0.8, -0.5));
    let mut matters: Vec<Box<dyn Matter>> = vec![Box::new(Kinematic::default())];
    matters.push(Box::new(bodies.unwrap()));
    matters.push(Box::new(Bodies::new(&points, Turning::default()).unwrap()));
    let mut nodes = vec![
        Nodes::at_rest(&[(DVec3::ZERO, DQuat::IDENTITY)], &[]),
        Nodes::at_rest(&[(DVec3::X, turned), (DVec3::Y, turned * turned)], &[]),
        Nodes::at_rest(
            &[],
            &[DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z, DVec3::ONE],
        ),
    ];
    nodes[0].ahead[0].orientation = DQuat::IDENTITY;
    nodes[1].spin = vec![DVec3::new(3.0, -5.0, 1.0), DVec3::new(0.5, 2.0, 9.0)];
    (matters, nodes)
}

/// Pairs of anchors: every kind at least once, also two on the same matter and on shared nodes.
fn pairs() -> Vec<(Anchor, Anchor)> {
    let triangle = |nodes, weights| Anchor {
        matter: POINTS,
        at: Local::Triangle(nodes, weights),
    };
    let inside = Anchor {
        matter: POINTS,
        at: Local::Tetrahedron([0, 1, 2, 4], [0.1, 0.2, 0.3, 0.4]),
    };
    let corner = Anchor::frame(BODIES, 0, DVec3::new(0.1, -0.2, 0.05));
    vec![
        (
            Anchor::world(DVec3::new(1.0, 2.0, 3.0)),
            Anchor::node(POINTS, 3),
        ),
        (Anchor::world(DVec3::ZERO), corner),
        (corner, Anchor::frame(BODIES, 1, DVec3::new(0.0, 0.1, 0.1))),
        (corner, Anchor::frame(BODIES, 0, DVec3::new(-0.1, 0.0, 0.0))),
        (corner, triangle([0, 1, 2], [0.2, 0.3, 0.5])),
        (inside, corner),
        (
            triangle([0, 1, 2], [0.2, 0.3, 0.5]),
            triangle([2, 1, 3], [0.6, 0.3, 0.1]),
        ),
        (inside, Anchor::node(POINTS, 4)),
    ]
}

fn largest(m: DMat3) -> f64 {
    m.to_cols_array()
        .iter()
        .fold(0.0, |most, x| x.abs().max(most))
}

#[test]
fn for_anchors_of_every_kind() {
    let (matters, mut nodes) = world();
    let (slot, h) = ([0, 1, 2], 0.01);
    for (matter, nodes) in matters.iter().zip(&mut nodes) {
        matter.force(
            nodes,
            &Field {
                time: 0.0,
                gravity: DVec3::new(0.0, -9.81, 0.0),
            },
        );
        matter.plan(nodes, h, None);
    }
    for (a, b) in pairs() {
        // By how much the two come apart, ahead and in velocity, when pushed apart.
        let pushed = |impulse: DVec3| -> (DVec3, DVec3) {
            let mut nodes = nodes.clone();
            let mut cast = Cast {
                matters: &matters,
                slot: &slot,
                nodes: &mut nodes,
            };
            let (a, b) = (cast.support(&a), cast.support(&b));
            cast.push(&a, &b, impulse, h);
            (
                cast.preview(&b, h) - cast.preview(&a, h),
                cast.velocity(&b) - cast.velocity(&a),
            )
        };
        let e = 1e-5;
        let column = |axis: DVec3| {
            let (ahead, back) = (pushed(axis * e), pushed(axis * -e));
            (
                (ahead.0 - back.0) / (2.0 * e),
                (ahead.1 - back.1) / (2.0 * e),
            )
        };
        let columns = [DVec3::X, DVec3::Y, DVec3::Z].map(column);
        let matrix = |of: fn(&(DVec3, DVec3)) -> DVec3| {
            DMat3::from_cols(of(&columns[0]), of(&columns[1]), of(&columns[2]))
        };
        let mut copy = nodes.clone();
        let cast = Cast {
            matters: &matters,
            slot: &slot,
            nodes: &mut copy,
        };
        let (sa, sb) = (cast.support(&a), cast.support(&b));
        let response = largest(cast.response(&sa, &sb, h) - matrix(|c| c.0));
        let mobility = largest(cast.mobility(&sa, &sb) - matrix(|c| c.1));
        assert!(
            response < 1e-6 && mobility < 1e-6,
            "{a:?} {b:?}: {response} {mobility}"
        );
    }
}

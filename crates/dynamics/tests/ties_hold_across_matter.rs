//! The seam of the engine: a tie between any two kinds of matter keeps its points together to
//! 1e-9 m and passes momentum on without loss.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use glam::{DQuat, DVec3};
use trocar_dynamics::{
    Anchor, Bodies, Bonds, Budget, Cast, Field, Kinematic, MassNode, Matter, MatterId, Nodes, Tie,
    Turning,
    anchor::Support,
    solve::{self, Solver, Touches},
};

struct World {
    matters: Vec<Box<dyn Matter>>,
    nodes: Vec<Nodes>,
    ties: Vec<Tie>,
    gravity: DVec3,
}

impl World {
    /// World, a set of rigid bodies, a set of particles.
    fn new(gravity: DVec3) -> Self {
        let bodies = Bodies::new(
            &[
                MassNode::body(0.4, DVec3::new(1e-3, 2e-3, 4e-4)),
                MassNode::body(0.2, DVec3::new(3e-4, 2e-4, 4e-4)),
            ],
            Turning::default(),
        )
        .unwrap();
        let particles = Bodies::new(
            &[MassNode::point(0.1), MassNode::point(0.05)],
            Turning::default(),
        )
        .unwrap();
        Self {
            matters: vec![
                Box::new(Kinematic::default()),
                Box::new(bodies),
                Box::new(particles),
            ],
            nodes: vec![
                Nodes::at_rest(&[(DVec3::ZERO, DQuat::IDENTITY)], &[]),
                Nodes::at_rest(
                    &[
                        (DVec3::new(0.1, 0.0, 0.0), DQuat::IDENTITY),
                        (DVec3::new(0.3, 0.0, 0.0), DQuat::IDENTITY),
                    ],
                    &[],
                ),
                Nodes::at_rest(&[], &[DVec3::new(0.4, 0.0, 0.0), DVec3::new(0.4, 0.1, 0.0)]),
            ],
            ties: Vec::new(),
            gravity,
        }
    }

    fn step(&mut self, h: f64) {
        let slot = [0, 1, 2];
        let field = Field {
            time: 0.0,
            gravity: self.gravity,
        };
        for (matter, nodes) in self.matters.iter().zip(&mut self.nodes) {
            matter.force(nodes, &field);
            matter.plan(nodes, h, None);
        }
        self.nodes[0].ahead[0].orientation = DQuat::IDENTITY;
        let budget = Budget {
            iterations: 2000,
            ..Budget::default()
        };
        let mut cast = Cast {
            matters: &self.matters,
            slot: &slot,
            nodes: &mut self.nodes,
        };
        let mut solver = Solver::default();
        let outcome = solve::aim(
            &mut cast,
            &mut Bonds {
                ties: &mut self.ties,
                joints: &mut [],
                version: 0,
            },
            &mut Touches::default(),
            h,
            &budget,
            &mut solver,
        );
        assert!(outcome.converged, "{outcome:?}");
        for (matter, nodes) in self.matters.iter().zip(cast.nodes.iter_mut()) {
            assert!(matter.advance(nodes, h));
        }
        let mut bonds = Bonds {
            ties: &mut self.ties,
            joints: &mut [],
            version: 0,
        };
        assert!(
            solve::correct(
                &mut cast,
                &mut bonds,
                &mut Touches::default(),
                &budget,
                &mut solver
            )
            .converged
        );
    }

    fn gap(&mut self, tie: usize) -> DVec3 {
        let slot = [0, 1, 2];
        let cast = Cast {
            matters: &self.matters,
            slot: &slot,
            nodes: &mut self.nodes,
        };
        let tie = &self.ties[tie];
        cast.position(&Support::of(&tie.b)) - cast.position(&Support::of(&tie.a))
    }

    fn momentum(&self) -> (DVec3, DVec3) {
        let mut sum = (DVec3::ZERO, DVec3::ZERO);
        for (matter, nodes) in self.matters.iter().zip(&self.nodes).skip(1) {
            for (i, mass) in matter.masses().mass().iter().enumerate() {
                let p = nodes.velocity[i] * *mass;
                sum.0 += p;
                sum.1 += nodes.position[i].cross(p);
            }
            for (z, rigid) in matter.masses().rigid().iter().enumerate() {
                let inertia = rigid.inverse_inertia(nodes.orientation[z]).inverse();
                sum.1 += inertia * nodes.spin[z];
            }
        }
        sum
    }
}

const BODIES: MatterId = MatterId(1);
const PARTICLES: MatterId = MatterId(2);

/// A body on a body, a particle on the second body, a particle at a distance from that one.
fn chain() -> Vec<Tie> {
    vec![
        Tie::point(
            Anchor::frame(BODIES, 0, DVec3::new(0.1, 0.0, 0.0)),
            Anchor::frame(BODIES, 1, DVec3::new(-0.1, 0.0, 0.0)),
        ),
        Tie::point(
            Anchor::frame(BODIES, 1, DVec3::new(0.1, 0.0, 0.0)),
            Anchor::node(PARTICLES, 0),
        ),
        Tie::distance(Anchor::node(PARTICLES, 0), Anchor::node(PARTICLES, 1), 0.1),
    ]
}

#[test]
fn a_free_chain_of_bodies_and_particles_keeps_its_momentum_and_its_joints() {
    let mut world = World::new(DVec3::ZERO);
    world.ties = chain();
    world.nodes[1].velocity[0] = DVec3::new(0.1, 0.5, 0.2);
    world.nodes[1].spin[1] = DVec3::new(1.0, 2.0, 6.0);
    world.nodes[2].velocity[1] = DVec3::new(0.0, 0.0, 1.5);
    let before = world.momentum();
    for _ in 0..2000 {
        world.step(1e-3);
        assert!(world.gap(0).length() < 1e-9);
        assert!(world.gap(1).length() < 1e-9);
        assert!((world.gap(2).length() - 0.1).abs() < 1e-9);
    }
    let after = world.momentum();
    assert!(
        (after.0 - before.0).length() < 1e-12,
        "linear {} {}",
        before.0,
        after.0
    );
    assert!(
        (after.1 - before.1).length() < 1e-9,
        "angular {} {}",
        before.1,
        after.1
    );
}

#[test]
fn a_pendulum_on_the_world_swings_with_the_period_of_theory() {
    let mut world = World::new(DVec3::new(0.0, -9.81, 0.0));
    // A point mass on a rod of 0.4 m, released at a small angle.
    let angle = 0.02;
    let (s, c) = trocar_math::real::sin_cos(angle);
    world.nodes[2].position[0] = DVec3::new(0.4 * s, -0.4 * c, 0.0);
    world.ties = vec![Tie::distance(
        Anchor::world(DVec3::ZERO),
        Anchor::node(PARTICLES, 0),
        0.4,
    )];
    let (h, mut time, mut crossings) = (1e-3, 0.0, Vec::new());
    while crossings.len() < 5 {
        let before = world.nodes[2].position[0].x;
        world.step(h);
        time += h;
        let after = world.nodes[2].position[0].x;
        if before.signum() != after.signum() {
            crossings.push(time - h * after / (after - before));
        }
    }
    let period = (crossings[4] - crossings[0]) / 2.0;
    let theory =
        2.0 * std::f64::consts::PI * (0.4_f64 / 9.81).sqrt() * (1.0 + angle * angle / 16.0);
    assert!((period / theory - 1.0).abs() < 1e-4, "{period} {theory}");
}

#[test]
fn a_tie_between_two_fixed_points_gives_up_instead_of_dividing_by_zero() {
    let mut world = World::new(DVec3::ZERO);
    world.ties = vec![Tie::point(
        Anchor::world(DVec3::ZERO),
        Anchor::world(DVec3::X),
    )];
    let slot = [0, 1, 2];
    world.nodes[0].ahead[0].orientation = DQuat::IDENTITY;
    let mut cast = Cast {
        matters: &world.matters,
        slot: &slot,
        nodes: &mut world.nodes,
    };
    let outcome = solve::aim(
        &mut cast,
        &mut Bonds {
            ties: &mut world.ties,
            joints: &mut [],
            version: 0,
        },
        &mut Touches::default(),
        1e-3,
        &Budget::default(),
        &mut Solver::default(),
    );
    assert!(!outcome.converged && outcome.error == 1.0);
    assert!(world.ties[0].impulse == DVec3::ZERO);
}

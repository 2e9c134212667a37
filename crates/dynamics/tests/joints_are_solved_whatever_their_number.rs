//! Joints alone, without a scene: velocities are right after one correction, a solve that starts from the last one's impulses
//! needs fewer sweeps, and a graph of a hundred thousand bodies is solved in one go.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use glam::{DQuat, DVec3};
use trocar_dynamics::{
    Anchor, Bodies, Bonds, Budget, Cast, Field, Joint, Kinematic, MassNode, Matter, MatterId,
    Method, Nodes, Outcome, Turning,
    joint::{Kind, Side},
    solve::{self, Solver, Touches},
};

const WORLD: MatterId = MatterId::WORLD;
const BODIES: MatterId = MatterId(1);

struct Bench {
    matters: Vec<Box<dyn Matter>>,
    nodes: Vec<Nodes>,
    joints: Vec<Joint>,
    solver: Solver,
    gravity: DVec3,
}

impl Bench {
    fn new(places: &[DVec3], joints: Vec<Joint>) -> Self {
        let mass = MassNode::body(0.5, DVec3::new(2e-4, 1.8e-3, 1.9e-3));
        let bodies = Bodies::new(&vec![mass; places.len()], Turning::Momentum).unwrap();
        let frames: Vec<(DVec3, DQuat)> = places.iter().map(|p| (*p, DQuat::IDENTITY)).collect();
        Self {
            matters: vec![Box::new(Kinematic::default()), Box::new(bodies)],
            nodes: vec![
                Nodes::at_rest(&[(DVec3::ZERO, DQuat::IDENTITY)], &[]),
                Nodes::at_rest(&frames, &[]),
            ],
            joints,
            solver: Solver::default(),
            gravity: DVec3::Y * -9.81,
        }
    }

    /// A horizontal chain of links of 0.2 m from the world.
    fn chain(count: usize) -> Self {
        let places: Vec<DVec3> = (0..count)
            .map(|i| DVec3::X * (0.1 + 0.2 * i as f64))
            .collect();
        let end = |i: usize, x: f64| Anchor::frame(BODIES, i as u32, DVec3::X * x);
        let joints = (0..count)
            .map(|i| {
                Joint::ball(
                    if i == 0 {
                        Anchor::world(DVec3::ZERO)
                    } else {
                        end(i - 1, 0.1)
                    },
                    end(i, -0.1),
                )
            })
            .collect();
        Self::new(&places, joints)
    }

    fn step(&mut self, h: f64, budget: &Budget) -> (Outcome, Outcome) {
        let field = Field {
            time: 0.0,
            gravity: self.gravity,
        };
        for (matter, nodes) in self.matters.iter().zip(&mut self.nodes) {
            matter.force(nodes, &field);
            matter.plan(nodes, h, None);
        }
        self.nodes[0].ahead[0].orientation = DQuat::IDENTITY;
        let mut cast = Cast {
            matters: &self.matters,
            slot: &[0, 1],
            nodes: &mut self.nodes,
        };
        let mut bonds = Bonds {
            ties: &mut [],
            joints: &mut self.joints,
            version: 0,
        };
        let aim = solve::aim(
            &mut cast,
            &mut bonds,
            &mut Touches::default(),
            h,
            budget,
            &mut self.solver,
        );
        for (matter, nodes) in self.matters.iter().zip(cast.nodes.iter_mut()) {
            assert!(matter.advance(nodes, h));
        }
        let correct = solve::correct(
            &mut cast,
            &mut bonds,
            &mut Touches::default(),
            budget,
            &mut self.solver,
        );
        (aim, correct)
    }

    fn correct(&mut self, budget: &Budget) -> Outcome {
        let mut cast = Cast {
            matters: &self.matters,
            slot: &[0, 1],
            nodes: &mut self.nodes,
        };
        let mut bonds = Bonds {
            ties: &mut [],
            joints: &mut self.joints,
            version: 0,
        };
        solve::correct(
            &mut cast,
            &mut bonds,
            &mut Touches::default(),
            budget,
            &mut self.solver,
        )
    }

    fn momentum(&self) -> (DVec3, DVec3) {
        let (mut linear, mut angular) = (DVec3::ZERO, DVec3::ZERO);
        let masses = self.matters[1].masses();
        let nodes = &self.nodes[1];
        for (i, mass) in masses.mass().iter().enumerate() {
            let p = nodes.velocity[i] * *mass;
            let (q, inertia) = (nodes.orientation[i], masses.rigid()[i].inertia.unwrap());
            linear += p;
            angular += nodes.position[i].cross(p) + q * (inertia * (q.conjugate() * nodes.spin[i]));
        }
        (linear, angular)
    }
}

/// T03: for one base joint between two bodies that move at random, one correction is enough.
#[test]
fn one_correction_makes_a_base_joint_right() {
    let axis = DVec3::new(0.48, 0.6, 0.64);
    let across = DVec3::new(0.8, 0.0, -0.6);
    for method in [Method::Iterative, Method::System, Method::Graph] {
        for kind in [
            Kind::Point,
            Kind::Line(axis),
            Kind::Plane(axis),
            Kind::Orientation(DQuat::IDENTITY),
            Kind::Axis(axis, axis),
            Kind::Angle(axis, across, std::f64::consts::FRAC_PI_2),
            Kind::Velocity,
            Kind::Spin,
        ] {
            let a = Anchor::frame(BODIES, 0, DVec3::new(0.05, 0.02, -0.01));
            let b = Anchor::frame(BODIES, 1, DVec3::new(-0.05, 0.02, -0.01));
            let joint = Joint::free().with(a, b, kind.clone());
            let mut bench = Bench::new(&[DVec3::ZERO, DVec3::X * 0.1], vec![joint]);
            bench.nodes[1].velocity = vec![DVec3::new(1.0, -2.0, 0.5), DVec3::new(-0.3, 0.7, 1.1)];
            bench.nodes[1].spin = vec![DVec3::new(3.0, -1.0, 2.0), DVec3::new(-2.0, 4.0, 0.5)];
            let (p, l) = bench.momentum();
            let budget = Budget {
                method,
                iterations: 1,
                ..Budget::default()
            };
            println!("{method:?} {kind:?}");
            let first = bench.correct(&budget);
            assert!(first.error < 1e-12, "{method:?} {kind:?}: {first:?}");
            let (q, k) = bench.momentum();
            assert!(
                p.distance(q) < 1e-14 && l.distance(k) < 1e-14,
                "{method:?} {kind:?}: {p} to {q}, {l} to {k}"
            );
            // And there is nothing left to do.
            let before = bench.nodes[1].velocity.clone();
            bench.correct(&budget);
            assert!(
                before
                    .iter()
                    .zip(&bench.nodes[1].velocity)
                    .all(|(a, b)| a.distance(*b) < 1e-12)
            );
        }
    }
}

/// T22: fewer sweeps, the same result.
#[test]
fn a_warm_start_saves_sweeps() {
    let run = |warm: f64| {
        let mut bench = Bench::chain(20);
        let budget = Budget {
            method: Method::Iterative,
            iterations: 20_000,
            position: 1e-7,
            velocity: 1e-6,
            warm,
            ..Budget::default()
        };
        let mut sweeps = 0;
        for _ in 0..60 {
            let (aim, _) = bench.step(0.005, &budget);
            assert!(aim.converged, "{aim:?}");
            sweeps += aim.iterations;
        }
        (sweeps, bench.nodes[1].position.clone())
    };
    let ((cold, one), (warm, other)) = (run(0.0), run(1.0));
    println!("{cold} sweeps cold, {warm} warm");
    assert!(
        f64::from(warm) < 0.8 * f64::from(cold),
        "{cold} sweeps cold, {warm} warm"
    );
    let apart = one
        .iter()
        .zip(&other)
        .map(|(a, b)| a.distance(*b))
        .fold(0.0, f64::max);
    assert!(apart < 1e-4, "{apart}");
}

/// T22: cut short, warm starts do not wind anything up.
#[test]
fn a_warm_start_that_is_cut_short_stays_bounded() {
    let mut bench = Bench::chain(20);
    let budget = Budget {
        method: Method::Iterative,
        iterations: 1,
        ..Budget::default()
    };
    for step in 0..2000 {
        bench.step(0.005, &budget);
        let far = bench.nodes[1]
            .position
            .iter()
            .fold(0.0_f64, |f, p| f.max(p.length()));
        assert!(far < 8.0, "{far} m at step {step}");
    }
}

/// T10: a comb of a hundred thousand bodies.
#[test]
fn a_hundred_thousand_joints_are_solved() {
    let count = 100_000;
    let at = |i: usize| DVec3::new(0.2 * (i % 100) as f64, 0.0, 0.2 * (i / 100) as f64);
    let places: Vec<DVec3> = (0..count).map(at).collect();
    let joints = (0..count)
        .map(|i| {
            let parent = match i % 100 {
                0 if i == 0 => None,
                0 => Some(i - 100),
                _ => Some(i - 1),
            };
            let a = parent.map_or(Anchor::world(DVec3::ZERO), |p| {
                Anchor::frame(BODIES, p as u32, at(i) - at(p))
            });
            Joint::ball(a, Anchor::frame(BODIES, i as u32, DVec3::ZERO))
        })
        .collect();
    let mut bench = Bench::new(&places, joints);
    for method in [Method::Auto, Method::Graph] {
        let budget = Budget {
            method,
            ..Budget::default()
        };
        let (aim, correct) = bench.step(0.002, &budget);
        assert!(aim.converged, "{method:?}: {aim:?}");
        assert!(correct.error < 1e-6, "{method:?}: {correct:?}");
    }
    assert!(bench.nodes[1].position.iter().all(|p| p.is_finite()));
}

/// A ring of hinges has more rows than freedom; none of the methods gives up.
#[test]
fn redundant_rows_are_counted() {
    let side = |i: u32, offset: DVec3| Side {
        anchor: Anchor::frame(BODIES, i, offset),
        axes: DQuat::IDENTITY,
    };
    for method in [Method::System, Method::Graph, Method::Auto] {
        // The same hinge three times.
        let ground = Side {
            anchor: Anchor::world(DVec3::ZERO),
            axes: DQuat::IDENTITY,
        };
        let joints = (0..3)
            .map(|_| Joint::hinge(ground, side(0, DVec3::Y * 0.2), 0.2))
            .collect();
        let mut bench = Bench::new(&[DVec3::Y * -0.2], joints);
        bench.nodes[1].spin[0] = DVec3::X * 3.0;
        bench.nodes[1].velocity[0] = (DVec3::X * 3.0).cross(DVec3::Y * -0.2);
        for _ in 0..100 {
            let (aim, _) = bench.step(
                0.002,
                &Budget {
                    method,
                    ..Budget::default()
                },
            );
            assert!(aim.converged, "{method:?}: {aim:?}");
            assert_eq!(aim.redundant, 10, "{method:?}");
        }
        assert_eq!(WORLD, MatterId(0));
    }
}

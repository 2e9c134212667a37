//! Our solvers without a scene around them: what a substep can be told that a scene file can't.

use super::{
    engine::Engine,
    plan::{GRAVITY, Moment, Plan},
};
use anyhow::{Result, anyhow};
use glam::{DQuat, DVec3};
use trocar_dynamics::{
    Anchor, Bodies, Bonds, Budget, Cast, Field, Joint, Kinematic, MassNode, Matter, MatterId,
    Nodes, Outcome, Turning,
    solve::{self, Solver, Touches},
};
use trocar_math::Pose;

const BODIES: MatterId = MatterId(1);

/// Bodies and ball joints of a plan.
pub struct Direct {
    matters: Vec<Box<dyn Matter>>,
    nodes: Vec<Nodes>,
    joints: Vec<Joint>,
    solver: Solver,
    step: f64,
    pub budget: Budget,
    /// What the last step achieved.
    pub outcome: Outcome,
}

impl Direct {
    pub fn new(plan: &Plan, budget: Budget) -> Result<Self> {
        let mut masses = Vec::new();
        for thing in &plan.things {
            let mass = thing.mass.ok_or_else(|| anyhow!("a body stands still"))?;
            masses.push(MassNode::body(mass, thing.solid.inertia() * mass));
        }
        let bodies = Bodies::new(&masses, Turning::default())
            .map_err(|e| anyhow!("body {}: {}", e.node, e.reason))?;
        let frames: Vec<(DVec3, DQuat)> = plan
            .things
            .iter()
            .map(|t| (t.pose.position, t.pose.rotation))
            .collect();
        let mut nodes = Nodes::at_rest(&frames, &[]);
        for (i, thing) in plan.things.iter().enumerate() {
            nodes.velocity[i] = thing.velocity;
            nodes.spin[i] = thing.spin;
        }
        let mut world = Nodes::at_rest(&[(DVec3::ZERO, DQuat::IDENTITY)], &[]);
        world.ahead[0].orientation = DQuat::IDENTITY;
        let joints = plan.joints.iter().map(|joint| {
            let a = match joint.a {
                Some(a) => Anchor::frame(BODIES, a as u32, joint.at_a),
                None => Anchor::world(joint.at_a),
            };
            Joint::ball(a, Anchor::frame(BODIES, joint.b as u32, joint.at_b))
        });
        Ok(Self {
            matters: vec![Box::new(Kinematic::default()), Box::new(bodies)],
            nodes: vec![world, nodes],
            joints: joints.collect(),
            solver: Solver::default(),
            step: plan.step,
            budget,
            outcome: Outcome::default(),
        })
    }
}

impl Engine for Direct {
    fn step(&mut self) {
        let (h, budget) = (self.step, self.budget);
        let field = Field {
            time: 0.0,
            gravity: GRAVITY,
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
        let touches = &mut Touches::default();
        let solver = &mut self.solver;
        self.outcome = solve::aim(&mut cast, &mut bonds, touches, h, &budget, solver);
        for (matter, nodes) in self.matters.iter().zip(cast.nodes.iter_mut()) {
            matter.advance(nodes, h);
        }
        if budget.correct {
            solve::correct(&mut cast, &mut bonds, touches, &budget, solver);
        }
    }

    fn look(&self, moments: &mut Vec<Moment>) {
        let nodes = &self.nodes[1];
        moments.clear();
        moments.extend((0..nodes.len()).map(|i| Moment {
            pose: Pose::new(nodes.position[i], nodes.orientation[i]),
            velocity: nodes.velocity[i],
            spin: nodes.spin[i],
        }));
    }
}

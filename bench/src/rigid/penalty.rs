//! Contacts by damped springs (B101): what the thesis' contacts are better than.

use super::{
    engine::Engine,
    finder::Finder,
    plan::{GRAVITY, Moment, Plan},
};
use anyhow::Result;
use glam::{DMat3, DVec3};
use trocar_math::rotation;

/// Of each point of contact, N/m and N·s/m.
const STIFFNESS: f64 = 1e5;
const DAMPING: f64 = 100.0;

/// Slower than this, m/s, friction grows with the sliding: there is no spring for it to stick to.
const CREEP: f64 = 1e-2;

/// Bodies that push each other by how deep they overlap, by the symplectic Euler method in short substeps.
pub struct Penalty {
    plan: Plan,
    substeps: u32,
    moments: Vec<Moment>,
    finder: Finder,
    /// Force and moment on each, N and N·m.
    forces: Vec<[DVec3; 2]>,
}

impl Penalty {
    pub fn new(plan: &Plan, substeps: u32) -> Result<Self> {
        Ok(Self {
            substeps,
            moments: plan.start(),
            finder: Finder::new(plan)?,
            forces: vec![[DVec3::ZERO; 2]; plan.things.len()],
            plan: plan.clone(),
        })
    }

    fn push(&mut self) {
        self.forces.fill([DVec3::ZERO; 2]);
        let poses = &self.finder.poses;
        for (manifold, points) in self.finder.contacts.iter() {
            let pair = [manifold.pair.a as usize, manifold.pair.b as usize];
            for point in points.iter().filter(|p| p.gap < 0.0) {
                let ends = [poses[pair[0]].point(point.a), poses[pair[1]].point(point.b)];
                let middle = 0.5 * (ends[0] + ends[1]);
                let arms = pair.map(|c| middle - poses[c].position);
                let velocity = |k: usize| {
                    let m = &self.moments[pair[k]];
                    m.velocity + m.spin.cross(arms[k])
                };
                let n = manifold.normal;
                let u = velocity(1) - velocity(0);
                let closing = n.dot(u);
                let pressed = (-STIFFNESS * point.gap - DAMPING * closing).max(0.0);
                let slip = u - n * closing;
                let rub = slip * (self.plan.friction * pressed / slip.length().max(CREEP));
                let force = n * pressed - rub;
                for (k, sign) in [(0, -1.0), (1, 1.0)] {
                    let [push, twist] = &mut self.forces[pair[k]];
                    *push += force * sign;
                    *twist += arms[k].cross(force * sign);
                }
            }
        }
    }

    fn go(&mut self, h: f64) {
        let all = self.moments.iter_mut().zip(&self.plan.things);
        for ((now, thing), [push, twist]) in all.zip(&self.forces) {
            let Some(mass) = thing.mass else { continue };
            let moments = thing.solid.inertia() * mass;
            let axes = DMat3::from_quat(now.pose.rotation);
            let along = |own: DVec3| axes * DMat3::from_diagonal(own) * axes.transpose();
            let (inertia, inverse) = (along(moments), along(moments.recip()));
            now.velocity += (GRAVITY + *push / mass) * h;
            now.spin += inverse * (*twist + (inertia * now.spin).cross(now.spin)) * h;
            now.pose.position += now.velocity * h;
            let turn = rotation::from_scaled_axis(now.spin * h);
            now.pose.rotation = (turn * now.pose.rotation).normalize();
        }
    }
}

impl Engine for Penalty {
    fn step(&mut self) {
        let h = self.plan.step / f64::from(self.substeps);
        for _ in 0..self.substeps {
            self.finder.find(&self.moments);
            self.push();
            self.go(h);
        }
    }

    fn look(&self, moments: &mut Vec<Moment>) {
        moments.clone_from(&self.moments);
    }

    fn contacts(&self) -> usize {
        self.finder.contacts.points.len()
    }
}

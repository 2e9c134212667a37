//! What the thesis compares itself with, written plainly: Lagrange multipliers with a dense factorisation (B98), the same in
//! linear time after Baraff (B99), both with Baumgarte's stabilisation (B100), and penalty forces (B101).

use super::{
    baraff::{Parts, Six, Tree},
    engine::{Engine, Runner, race},
    ours::{Ours, Setting},
    plan::{GRAVITY, Moment, Plan},
};
use crate::{measure::Effort, row::Row};
use anyhow::Result;
use glam::{DMat3, DQuat, DVec3};
use std::time::Duration;
use trocar_math::Pose;

/// How joints are kept.
#[derive(Clone, Copy, Debug)]
pub enum Keep {
    /// By multipliers: C″ + 2 `rate` C′ + `rate`² C = 0, `rate` in 1/s. With rate 0, gaps stay.
    Multipliers { rate: f64 },
    /// By the same multipliers, found along the tree.
    Tree { rate: f64 },
    /// By damped springs: N/m and N·s/m.
    Penalty { stiffness: f64, damping: f64 },
}

/// Rows.
pub fn baselines(effort: Effort) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let ways = [
        (
            "multipliers, dense (B98)",
            Keep::Multipliers { rate: 0.0 },
            1,
        ),
        ("multipliers, Baraff (B99)", Keep::Tree { rate: 0.0 }, 1),
        (
            "multipliers, Baumgarte 5/s (B100)",
            Keep::Multipliers { rate: 5.0 },
            1,
        ),
        (
            "multipliers, Baumgarte 50/s (B100)",
            Keep::Multipliers { rate: 50.0 },
            1,
        ),
        (
            "penalty 1 kN/m (B101)",
            Keep::Penalty {
                stiffness: 1e3,
                damping: 1.0,
            },
            1,
        ),
        (
            "penalty 100 kN/m in 20 substeps (B101)",
            Keep::Penalty {
                stiffness: 1e5,
                damping: 10.0,
            },
            20,
        ),
    ];
    for (case, plan) in [
        ("rigid/baseline chain of 10, 5 s", Plan::chain(10)),
        ("rigid/baseline tree of 31, 5 s", Plan::tree(31)),
    ] {
        eprintln!("{case}");
        let mut runners = Vec::new();
        for solver in ["graph", "iterative"] {
            let setting = Setting {
                solver,
                tolerance: 1e-6,
                threads: 1,
            };
            let ours = Box::new(Ours::new(&plan, setting)?);
            runners.push(Runner::new(format!("{solver} 1e-6"), ours, &plan));
        }
        for (name, keep, substeps) in ways {
            runners.push(Runner::new(
                name,
                Box::new(Plain::new(&plan, keep, substeps)),
                &plan,
            ));
        }
        let steps = (5.0 / plan.step).round() as usize;
        race(
            case,
            &plan,
            &mut runners,
            steps,
            Duration::from_secs(effort.repeats(60, 10) as u64),
        );
        let ours = runners[0].summary(1e-6).median;
        for runner in &runners {
            let name = &runner.name;
            let cut = match runner.times.len() {
                n if runner.burst => format!(", burst after {n} steps"),
                n if n < steps => format!(", first {n} steps"),
                _ => String::new(),
            };
            let scale = plan.energy_scale() / 100.0;
            let step = Row::new(
                case,
                &format!("{name}: step{cut}"),
                runner.summary(1e-6),
                "µs",
            );
            rows.push(step.against("graph 1e-6", ours));
            rows.push(Row::single(
                case,
                &format!("{name}: joint gap, at most"),
                runner.gap * 1e3,
                "mm",
            ));
            rows.push(Row::single(
                case,
                &format!("{name}: energy drift, at most"),
                runner.drift() / scale,
                "%",
            ));
        }
    }
    Ok(rows)
}

/// Motion and change of motion of one body.
#[derive(Clone, Copy, Debug, Default)]
struct Rate {
    velocity: DVec3,
    turn: DQuat,
    acceleration: DVec3,
    spin: DVec3,
}

/// Bodies in all six coordinates, by the classical Runge-Kutta method.
pub struct Plain {
    plan: Plan,
    keep: Keep,
    substeps: u32,
    moments: Vec<Moment>,
    rates: [Vec<Rate>; 4],
    stage: Vec<Moment>,
    matrix: Vec<f64>,
    right: Vec<f64>,
    tree: Option<Tree>,
    /// What a stage is told of the bodies and joints; kept so that no step allocates.
    inverse: Vec<(f64, DMat3)>,
    masses: Vec<(f64, DMat3)>,
    arms: Vec<[DVec3; 2]>,
    forces: Vec<Six>,
    pushes: Vec<[f64; 3]>,
}

impl Plain {
    pub fn new(plan: &Plan, keep: Keep, substeps: u32) -> Self {
        let rates = vec![Rate::default(); plan.things.len()];
        let rows = match keep {
            Keep::Multipliers { .. } => 3 * plan.joints.len(),
            _ => 0,
        };
        let tree = match keep {
            Keep::Tree { .. } => Tree::new(plan),
            _ => None,
        };
        Self {
            tree,
            inverse: Vec::new(),
            masses: Vec::new(),
            arms: Vec::new(),
            forces: Vec::new(),
            pushes: Vec::new(),
            plan: plan.clone(),
            keep,
            substeps,
            moments: plan.start(),
            rates: std::array::from_fn(|_| rates.clone()),
            stage: plan.start(),
            matrix: vec![0.0; rows * rows],
            right: vec![0.0; rows],
        }
    }

    /// Changes of `self.stage`.
    fn rate(&mut self, stage: usize) {
        let Self {
            stage: state,
            rates,
            inverse,
            masses,
            plan,
            ..
        } = self;
        let rates = &mut rates[stage];
        inverse.clear();
        masses.clear();
        for (i, rate) in rates.iter_mut().enumerate() {
            let (now, thing) = (&state[i], &plan.things[i]);
            let mass = thing.mass.unwrap_or(f64::INFINITY);
            let moments = thing.solid.inertia() * mass;
            let axes = DMat3::from_quat(now.pose.rotation);
            let along = |own: DVec3| axes * DMat3::from_diagonal(own) * axes.transpose();
            let (inertia, inverse_inertia) = (along(moments), along(moments.recip()));
            masses.push((mass, inertia));
            inverse.push((1.0 / mass, inverse_inertia));
            let w = now.spin;
            *rate = Rate {
                velocity: now.velocity,
                turn: DQuat::from_xyzw(w.x, w.y, w.z, 0.0) * now.pose.rotation * 0.5,
                acceleration: GRAVITY,
                spin: inverse_inertia * (inertia * w).cross(w),
            };
        }
        match self.keep {
            Keep::Penalty { stiffness, damping } => {
                for joint in &self.plan.joints {
                    let (gap, closing) = gap(&self.stage, joint);
                    let force = -(gap * stiffness + closing * damping);
                    push(rates, &self.stage, &self.inverse, joint, force);
                }
            }
            Keep::Multipliers { rate } => self.multiply(stage, rate),
            Keep::Tree { rate } => self.climb(stage, rate),
        }
    }

    /// Accelerations of everything at once: H (a, λ) = (F, J′ v + 2 rate C′ + rate² C), eliminated along the tree.
    fn climb(&mut self, stage: usize, rate: f64) {
        let Self {
            stage: state,
            rates,
            tree: Some(tree),
            masses,
            arms,
            forces,
            pushes,
            plan,
            ..
        } = self
        else {
            return;
        };
        arms.clear();
        pushes.clear();
        for joint in &plan.joints {
            let (gap, closing) = gap(state, joint);
            let mut right = closing * (2.0 * rate) + gap * (rate * rate);
            let mut arm = [DVec3::ZERO; 2];
            for (body, at, sign) in sides(joint) {
                let (r, w) = (state[body].pose.rotation * at, state[body].spin);
                right += w.cross(w.cross(r)) * sign;
                arm[usize::from(sign < 0.0)] = r;
            }
            arms.push(arm);
            pushes.push(right.to_array());
        }
        forces.clear();
        for ((mass, inertia), now) in masses.iter().zip(state.iter()) {
            let (force, torque) = (GRAVITY * *mass, (*inertia * now.spin).cross(now.spin));
            forces.push([force.x, force.y, force.z, torque.x, torque.y, torque.z]);
        }
        tree.factor(&Parts { masses, arms });
        tree.solve(forces, pushes);
        for (rate, found) in rates[stage].iter_mut().zip(&*forces) {
            rate.acceleration = DVec3::from_slice(found);
            rate.spin = DVec3::from_slice(&found[3..]);
        }
    }

    /// Adds what keeps the joints: (J M⁻¹ Jᵀ) λ = -(J a + J′ v) - 2 rate C′ - rate² C, all of it as a dense matrix.
    fn multiply(&mut self, stage: usize, rate: f64) {
        let (state, rates) = (&self.stage, &mut self.rates[stage]);
        let inverse = &self.inverse;
        let joints = &self.plan.joints;
        let rows = 3 * joints.len();
        for (k, joint) in joints.iter().enumerate() {
            let (gap, closing) = gap(state, joint);
            let speeding = |body: usize, at: DVec3| {
                let r = state[body].pose.rotation * at;
                let w = state[body].spin;
                rates[body].acceleration + rates[body].spin.cross(r) + w.cross(w.cross(r))
            };
            let a = joint.a.map_or(DVec3::ZERO, |a| speeding(a, joint.at_a));
            let right =
                -(a - speeding(joint.b, joint.at_b)) - closing * (2.0 * rate) - gap * (rate * rate);
            self.right[3 * k..3 * k + 3].copy_from_slice(&right.to_array());
            for (l, other) in joints.iter().enumerate() {
                let mut block = DMat3::ZERO;
                for (body, at, sign) in sides(joint) {
                    for (body_too, at_too, sign_too) in sides(other) {
                        if body == body_too {
                            let [r, s] = [at, at_too].map(|p| cross(state[body].pose.rotation * p));
                            let (mass, inertia) = inverse[body];
                            let response =
                                DMat3::from_diagonal(DVec3::splat(mass)) - r * inertia * s;
                            block += response * (sign * sign_too);
                        }
                    }
                }
                for row in 0..3 {
                    for column in 0..3 {
                        self.matrix[(3 * k + row) * rows + 3 * l + column] = block.col(column)[row];
                    }
                }
            }
        }
        solve(&mut self.matrix, &mut self.right);
        for (k, joint) in joints.iter().enumerate() {
            let force = DVec3::from_slice(&self.right[3 * k..3 * k + 3]);
            push(rates, state, inverse, joint, force);
        }
    }

    /// `self.stage` = start + h × the rates of a stage.
    fn go(&mut self, from: usize, h: f64) {
        for (i, rate) in self.rates[from].iter().enumerate() {
            self.stage[i] = moved(&self.moments[i], rate, h);
        }
    }
}

impl Engine for Plain {
    fn step(&mut self) {
        let h = self.plan.step / f64::from(self.substeps);
        for _ in 0..self.substeps {
            self.stage.clone_from(&self.moments);
            self.rate(0);
            self.go(0, h / 2.0);
            self.rate(1);
            self.go(1, h / 2.0);
            self.rate(2);
            self.go(2, h);
            self.rate(3);
            for i in 0..self.moments.len() {
                let [a, b, c, d] = [0, 1, 2, 3].map(|k| self.rates[k][i]);
                let sum = Rate {
                    velocity: (a.velocity + (b.velocity + c.velocity) * 2.0 + d.velocity) / 6.0,
                    turn: (a.turn + (b.turn + c.turn) * 2.0 + d.turn) * (1.0 / 6.0),
                    acceleration: (a.acceleration
                        + (b.acceleration + c.acceleration) * 2.0
                        + d.acceleration)
                        / 6.0,
                    spin: (a.spin + (b.spin + c.spin) * 2.0 + d.spin) / 6.0,
                };
                self.moments[i] = moved(&self.moments[i], &sum, h);
            }
        }
    }

    fn look(&self, moments: &mut Vec<Moment>) {
        moments.clone_from(&self.moments);
    }
}

/// The state `h` seconds on.
fn moved(now: &Moment, rate: &Rate, h: f64) -> Moment {
    Moment {
        pose: Pose::new(
            now.pose.position + rate.velocity * h,
            (now.pose.rotation + rate.turn * h).normalize(),
        ),
        velocity: now.velocity + rate.acceleration * h,
        spin: now.spin + rate.spin * h,
    }
}

/// The bodies of a joint, where it holds them and in which direction.
fn sides(joint: &super::plan::Ball) -> impl Iterator<Item = (usize, DVec3, f64)> {
    let a = joint.a.map(|a| (a, joint.at_a, 1.0));
    a.into_iter().chain([(joint.b, joint.at_b, -1.0)])
}

/// C = a - b and its change, m and m/s.
fn gap(state: &[Moment], joint: &super::plan::Ball) -> (DVec3, DVec3) {
    let mut gap = (
        if joint.a.is_none() {
            joint.at_a
        } else {
            DVec3::ZERO
        },
        DVec3::ZERO,
    );
    for (body, at, sign) in sides(joint) {
        let now = &state[body];
        let r = now.pose.rotation * at;
        gap.0 += (now.pose.position + r) * sign;
        gap.1 += (now.velocity + now.spin.cross(r)) * sign;
    }
    gap
}

/// A force at a joint, on a; on b its opposite.
fn push(
    rates: &mut [Rate],
    state: &[Moment],
    inverse: &[(f64, DMat3)],
    joint: &super::plan::Ball,
    force: DVec3,
) {
    for (body, at, sign) in sides(joint) {
        let (mass, inertia) = inverse[body];
        let r = state[body].pose.rotation * at;
        rates[body].acceleration += force * (sign * mass);
        rates[body].spin += inertia * r.cross(force * sign);
    }
}

fn cross(v: DVec3) -> DMat3 {
    trocar_math::rotation::skew(v)
}

/// Solves a dense system in place, with partial pivoting; the solution replaces the right side.
fn solve(matrix: &mut [f64], right: &mut [f64]) {
    let n = right.len();
    for k in 0..n {
        let size = |row: usize| matrix[row * n + k].abs();
        let pivot = (k..n)
            .max_by(|a, b| size(*a).total_cmp(&size(*b)))
            .unwrap_or(k);
        if pivot != k {
            for column in k..n {
                matrix.swap(k * n + column, pivot * n + column);
            }
            right.swap(k, pivot);
        }
        let (upper, lower) = matrix.split_at_mut((k + 1) * n);
        let row = &upper[k * n..];
        for (i, other) in lower.chunks_exact_mut(n).enumerate() {
            let factor = other[k] / row[k];
            for column in k..n {
                other[column] -= factor * row[column];
            }
            right[k + 1 + i] -= factor * right[k];
        }
    }
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|c| matrix[k * n + c] * right[c]).sum();
        right[k] = (right[k] - known) / matrix[k * n + k];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dense_system_is_solved() {
        let mut matrix = vec![0.0, 2.0, 1.0, 3.0, 1.0, 0.0, 1.0, 0.0, 4.0];
        let mut right = vec![7.0, 5.0, 13.0];
        solve(&mut matrix, &mut right);
        for (x, wanted) in right.iter().zip([1.0, 2.0, 3.0]) {
            assert!((x - wanted).abs() < 1e-12, "{right:?}");
        }
    }

    /// Both ways to the same multipliers.
    #[test]
    fn the_tree_moves_as_the_dense_system_does() {
        for rate in [0.0, 20.0] {
            let mut plan = Plan::thesis_tree(15);
            plan.step = 0.005;
            let mut dense = Plain::new(&plan, Keep::Multipliers { rate }, 1);
            let mut tree = Plain::new(&plan, Keep::Tree { rate }, 1);
            for _ in 0..200 {
                dense.step();
                tree.step();
            }
            for (a, b) in dense.moments.iter().zip(&tree.moments) {
                let apart = a.pose.position.distance(b.pose.position);
                assert!(apart < 1e-8, "{apart}");
            }
        }
    }

    #[test]
    fn multipliers_keep_energy_in_short_steps() {
        let mut plan = Plan::chain(3);
        plan.step = 1e-3;
        let mut plain = Plain::new(&plan, Keep::Multipliers { rate: 0.0 }, 1);
        let start = plan.energy(&plan.start());
        for _ in 0..300 {
            plain.step();
        }
        let drift = (plan.energy(&plain.moments) - start).abs();
        assert!(drift < 1e-4 * plan.energy_scale(), "{drift}");
        assert!(plan.gap(&plain.moments) < 1e-6);
    }
}

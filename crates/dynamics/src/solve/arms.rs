//! The arms that bonds pull along.
//!
//! An impulse at the start of the substep that acts where things are, and the velocity correction at its end that acts where they
//! then are, are together a symplectic scheme: it keeps energy, as long as no bond under load makes its bodies swing faster than
//! about once in three substeps. Beyond that it gains energy without end. There bonds pull along the mean of their arms, at the start
//! and once more at the end, which does no work however long the substep is (an energy-momentum scheme); only the velocity
//! correction after it costs some energy. Momentum is kept either way.

use super::{
    Workspace,
    component::{Component, Method},
    larger,
    mover::{Level, Movers},
    plan::{Plan, What},
    pushed,
};
use glam::{DMat3, DVec3};
use trocar_math::rotation::outer;

/// (hω)² of the swinging under load that the arms of the start are trusted with; by linear theory it would be 4.
pub(super) const SLOW_SWING: f64 = 0.5;

/// (hω)² of a body's swinging about an `arm` (m) that is pulled with the impulse `pull` (N·s) at the start of each substep of `h`
/// seconds, and as much at its end. `nimble` is its inverse inertia, 1/(kg·m²).
#[inline]
pub(super) fn swing(nimble: &DMat3, arm: DVec3, pull: f64, h: f64) -> f64 {
    let square = arm.length_squared();
    if square == 0.0 {
        return 0.0;
    }
    // The mean over the two axes across the arm.
    let along = arm.dot(*nimble * arm) / square;
    let across = 0.5 * (nimble.x_axis.x + nimble.y_axis.y + nimble.z_axis.z - along);
    2.0 * h * pull * square.sqrt() * across
}

impl Workspace {
    /// True if a component's bonds should pull along mean arms. Bonds that may give way, and all that hangs on anything but
    /// bodies and particles moved by forces alone, never do.
    pub(super) fn needs_middle(&self, component: &Component, h: f64) -> bool {
        let Self {
            plan,
            movers,
            state,
            ..
        } = self;
        if !component.movers.iter().all(|m| movers[*m].plain) {
            return false;
        }
        let mut fast = false;
        for b in &component.blocks {
            let block = &plan.blocks[*b as usize];
            let What::Bases(first, count) = block.what else {
                continue;
            };
            let bases = first as usize..first as usize + count as usize;
            if !state.strength[bases.clone()]
                .iter()
                .all(|s| s.is_infinite())
            {
                return false;
            }
            let mut row = block.row;
            for tied in &plan.tied[bases] {
                let rows = tied.kind.rows();
                let impulses = &plan.impulse[row..row + rows];
                row += rows;
                if tied.kind.is_rotational() || fast {
                    continue;
                }
                let sum = impulses.iter().zip(&tied.along);
                let pull = sum.fold(DVec3::ZERO, |s, (i, a)| s + *a * *i).length();
                let ends = tied.a.parts().iter().chain(tied.b.parts());
                fast |= ends.fold(false, |fast, (m, offset, weight)| {
                    let mover = &movers[*m];
                    let arm = mover.orientation * *offset;
                    fast || swing(&mover.inverse_inertia, arm, pull * weight, h) > SLOW_SWING
                });
            }
        }
        fast
    }

    /// Brings the arms of a component's bonds up to date, and with them what its movers are due. Returns how far their motion
    /// lags behind, m or rad.
    pub(super) fn follow(&mut self, component: &Component, h: f64) -> f64 {
        let Self { plan, movers, .. } = self;
        plan.aim_rows_middle(&component.blocks, movers);
        for m in &component.movers {
            movers[*m].due = [DVec3::ZERO; 2];
        }
        for b in &component.blocks {
            let block = &plan.blocks[*b as usize];
            for part in &plan.parts[block.parts.clone()] {
                let (push, twist) = pushed(&plan.jacobian, part, &plan.impulse[block.range()]);
                let due = &mut movers[part.mover].due;
                due[0] += push;
                due[1] += twist;
            }
        }
        let lags = component.movers.iter().map(|m| movers[*m].lag(h));
        lags.fold(0.0, larger)
    }

    /// Works out what bonds add to the inertia of a component's movers: an impulse p on an arm r that turns by δθ at the end gets
    /// another moment, ½ (r pᵀ − p·r) δθ, since it acts along the mean of the arms. `exact`, or made symmetric.
    pub(super) fn stiffen(&mut self, component: &Component, h: f64, exact: bool) {
        let Self { plan, movers, .. } = self;
        for m in &component.movers {
            movers[*m].stiffness = DMat3::ZERO;
        }
        for b in &component.blocks {
            let block = &plan.blocks[*b as usize];
            let What::Bases(first, count) = block.what else {
                continue;
            };
            let mut row = block.row;
            for tied in &plan.tied[first as usize..first as usize + count as usize] {
                let rows = tied.kind.rows();
                let impulses = &plan.impulse[row..row + rows];
                row += rows;
                if tied.kind.is_rotational() {
                    continue;
                }
                let sum = impulses.iter().zip(&tied.along);
                let impulse = sum.fold(DVec3::ZERO, |s, (i, a)| s + *a * *i);
                for (ends, sign) in [(&tied.a, -0.5 * h), (&tied.b, 0.5 * h)] {
                    for (m, offset, weight) in ends.parts() {
                        let mover = &mut movers[*m];
                        let (p, r) = (impulse * (sign * weight), mover.ahead_orientation * *offset);
                        // What is pressed together would seem lighter than it is; rounds are surer without that.
                        if mover.freedom == 6 && p.dot(r) > 0.0 {
                            mover.stiffness +=
                                DMat3::from_diagonal(DVec3::splat(p.dot(r))) - outer(r, p);
                        }
                    }
                }
            }
        }
        for m in &component.movers {
            let mover = &mut movers[*m];
            let stiffness = mover.stiffness;
            mover.stiffness = if exact {
                stiffness * mover.turning()
            } else {
                (stiffness + stiffness.transpose()) * 0.5
            };
        }
        if component.method == Some(Method::System) {
            for m in &component.movers {
                let mover = &mut movers[*m];
                let felt = (mover.inertia + mover.stiffness).inverse();
                mover.felt = if felt.is_finite() {
                    felt
                } else {
                    mover.inverse_inertia
                };
            }
        }
    }

    /// After the last round: movers get exactly what their bonds owe them, and what they will get once more at the end of the
    /// substep is kept.
    pub(super) fn finish(&mut self, h: f64, tolerance: f64) {
        let level = Level::Position(h);
        let mut components = std::mem::take(&mut self.plan.components);
        self.again.clear();
        if components.iter().any(|c| c.mean) {
            self.again.resize(self.plan.movers, [DVec3::ZERO; 2]);
        }
        for component in &mut components {
            component.again = false;
        }
        for component in components.iter_mut().filter(|c| c.mean) {
            let settled = component.progress.error <= tolerance && !component.sweeps();
            if !settled || component.movers.iter().any(|m| self.movers[*m].dirty) {
                self.movers.refresh(&component.movers, level);
                self.follow(component, h);
            }
            for m in &component.movers {
                let mover = &mut self.movers[*m];
                let [push, twist] = mover.lack();
                mover.bind(push, twist);
            }
            self.movers.refresh(&component.movers, level);
            if component.progress.error > tolerance {
                // Impulses that are not right must not be given twice.
                continue;
            }
            component.again = true;
            if !component.is_controlled {
                for m in &component.movers {
                    self.again[*m as usize] = self.movers[*m].due;
                }
                continue;
            }
            for b in &component.blocks {
                let block = &self.plan.blocks[*b as usize];
                if block.is_of_control() {
                    continue;
                }
                for part in &self.plan.parts[block.parts.clone()] {
                    let impulses = &self.plan.impulse[block.range()];
                    let (push, twist) = pushed(&self.plan.jacobian, part, impulses);
                    let again = &mut self.again[part.mover as usize];
                    again[0] += push;
                    again[1] += twist;
                }
            }
        }
        self.plan.components = components;
    }

    /// Gives all movers what their bonds pulled with once more.
    pub(super) fn pull_again(&mut self) {
        for (m, [push, twist]) in self.again.iter().enumerate() {
            if (*push, *twist) != (DVec3::ZERO, DVec3::ZERO) {
                let mover = &mut self.movers[m as u32];
                mover.push(*push, *twist);
                mover.refresh(Level::Velocity);
            }
        }
    }

    /// Brings the arms of one block up to date; its movers get what that changes.
    pub(super) fn follow_one(&mut self, b: usize, level: Level) {
        let Self { plan, movers, .. } = self;
        let take = |plan: &Plan, movers: &mut Movers, sign: f64| {
            let block = &plan.blocks[b];
            for part in &plan.parts[block.parts.clone()] {
                let (push, twist) = pushed(&plan.jacobian, part, &plan.impulse[block.range()]);
                movers[part.mover].bind(push * sign, twist * sign);
            }
        };
        take(plan, movers, -1.0);
        plan.aim_rows_middle(&[b as u32], movers);
        take(plan, movers, 1.0);
        for part in &plan.parts[plan.blocks[b].parts.clone()] {
            movers[part.mover].refresh(level);
        }
    }
}

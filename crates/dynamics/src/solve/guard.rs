//! What guards a solve: joints do no work, and what seems to is not believed.

use super::{
    Level, Outcome, Workspace,
    component::Component,
    plan::{Plan, What},
    plan_ends,
    round::{MOST_HALVINGS, MOST_ROUNDS},
};
use glam::DVec3;

/// Joints that give bodies more than this part of the energy they have in one substep have been solved wrongly.
const MOST_GAIN: f64 = 0.05;

/// Energy that torn joints may add in one substep, as a part of what there is.
const GAIN: f64 = 0.02;

/// Sweeps of the last resort.
const LAST_SWEEPS: u32 = 8;

/// Energy that bonds seem to have given to bodies in a substep, and the most of it that is believed, J. Joints do no work: where
/// they seem to, the rounds have found another way to put the points together than the one the bodies would take.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gain {
    given: f64,
    most: f64,
}

impl Gain {
    /// A body whose bonds pull along the arms of the start: the energy it had and has with their impulses, and what its weight would
    /// give it from rest, J.
    #[inline]
    pub fn add(&mut self, [had, has]: [f64; 2], fall: f64) {
        self.given += has - had;
        self.most += MOST_GAIN * had + fall;
    }

    /// One whose bonds pull along mean arms: the energy it had and will have at the end, and what its weight does on its way, J.
    #[inline]
    pub fn add_mean(&mut self, [had, has]: [f64; 2], work: f64) {
        self.given += has - had - work;
        self.most += MOST_GAIN * (had + work.abs());
    }

    /// True if it can't be; `worked`: something may have done work.
    pub fn is_wild(&self, worked: bool) -> bool {
        self.given.is_nan() || (!worked && self.given > self.most)
    }
}

/// Kinetic energy of bodies whose velocities are made right, J: the most they may have, and what they would.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Throw {
    most: f64,
    has: f64,
}

impl Throw {
    /// A body of some mass (kg) and sum of principal moments (kg·m²), with its energy before and after, where what leads it has the
    /// squares of speed and spin `led`.
    #[inline]
    pub fn add(&mut self, [before, after]: [f64; 2], (mass, turning): (f64, f64), led: [f64; 2]) {
        self.most += 4.0 * before + 50.0 * (mass * led[0] + turning * led[1]);
        self.has += after;
    }

    /// True if they could only be made right by throwing what is led somewhere it can't go, like a chain that is pulled straight.
    pub fn is_thrown(&self) -> bool {
        self.has.is_nan() || self.has > self.most
    }
}

impl Workspace {
    /// Finds out which components something presses on.
    pub(super) fn feel(&mut self) {
        let Self {
            plan,
            press,
            contacts,
            ..
        } = self;
        for component in &mut plan.components {
            (component.pressed, component.on_tissue) = (false, false);
        }
        for m in press.shared() {
            if let Some(c) = plan.component_of(m) {
                plan.components[c].pressed = true;
            }
        }
        for touching in contacts {
            for (m, ..) in touching.a.parts().iter().chain(touching.b.parts()) {
                if let Some(c) = plan.component_of(*m) {
                    plan.components[c].pressed = true;
                    plan.components[c].on_tissue = true;
                }
            }
        }
    }

    /// Forgets what the last substep found out: nothing of it may steer what comes now.
    pub(super) fn forget(&mut self) {
        self.contacts.clear();
        self.again.clear();
        for component in &mut self.plan.components {
            component.lost = false;
            component.allowed = None;
        }
    }

    /// Shows every joint that the last substep had to give up: its component led nowhere. One that comes of several base joints is
    /// shown more than once.
    pub fn see_lost(&self, mut see: impl FnMut(u32)) {
        let lost = self.plan.components.iter().filter(|c| c.lost);
        for b in lost.flat_map(|c| &c.blocks) {
            self.plan.see_joints(*b, &mut see);
        }
    }

    /// Shows every joint that has rows which others already determine, likewise.
    pub fn see_redundant(&self, mut see: impl FnMut(u32)) {
        let Plan {
            components, blocks, ..
        } = &self.plan;
        for component in components {
            component.see_redundant(blocks, |b| self.plan.see_joints(b, &mut see));
        }
    }

    /// The least error that any round found, of the component where it is greatest.
    pub(super) fn best(&self) -> f64 {
        let tried = self
            .plan
            .components
            .iter()
            .filter(|c| c.progress.rounds > 0);
        tried.fold(0.0, |most, c| most.max(c.progress.best))
    }

    /// Error of what is left as it is: bonds that gave way, m or rad.
    pub(super) fn torn(&self) -> f64 {
        let mut greatest = 0.0_f64;
        for component in &self.plan.components {
            if !component.progress.gave_way && !component.lost {
                continue;
            }
            for b in &component.blocks {
                let What::Bases(first, count) = self.plan.blocks[*b as usize].what else {
                    continue;
                };
                for tied in &self.plan.tied[first as usize..first as usize + count as usize] {
                    let error = DVec3::from_array(tied.error(&self.movers));
                    greatest = greatest.max(error.length());
                }
            }
        }
        greatest
    }

    /// The last resort for components whose rounds lead nowhere in a substep as short as it gets: what their bonds gave them
    /// is taken back, and a few sweeps draw the points together, no faster than `speed` (m/s or rad/s), as far as they let
    /// themselves be drawn. Bonds that contradict each other then come apart instead of throwing what hangs on them (B95).
    pub(super) fn draw_together(&mut self, h: f64, speed: f64) {
        let level = Level::Position(h);
        let mut components = std::mem::take(&mut self.plan.components);
        for component in components.iter_mut().filter(|c| c.lost) {
            for m in &component.movers {
                let mover = &mut self.movers[*m];
                let [push, twist] = mover.given;
                mover.bind(-push, -twist);
                mover.mean = false;
                mover.refresh(level);
                if let Some(again) = self.again.get_mut(*m as usize) {
                    *again = [DVec3::ZERO; 2];
                }
            }
            component.mean = false;
            component.again = false;
            for b in &component.blocks {
                let block = &self.plan.blocks[*b as usize];
                self.plan.impulse[block.range()].fill(0.0);
                self.state.masked[block.range()].fill(block.is_of_control() || block.of_velocity);
            }
            self.plan.aim_rows_now(&component.blocks, &self.movers);
            component.factorise_singles(&self.rows(false), &self.movers);
            self.find_targets(component, level, speed);
            for _ in 0..LAST_SWEEPS {
                let (mut at, mut first) = (0, 0);
                for k in 0..component.blocks.len() {
                    let b = component.blocks[k] as usize;
                    let block = self.plan.blocks[b].clone();
                    if block.is_of_control() || block.of_velocity {
                        at += block.rows;
                        first += block.rows * block.rows;
                        continue;
                    }
                    for part in &self.plan.parts[block.parts.clone()] {
                        self.movers[part.mover].refresh(level);
                    }
                    self.look(b, level);
                    let wrong = &mut self.state.wrong[block.range()];
                    for (w, target) in wrong.iter_mut().zip(&self.targets[at..]) {
                        *w -= target;
                    }
                    at += block.rows;
                    let wanted = component.solve_single(k, first, &self.rows(false));
                    self.give(b, &wanted[..block.rows]);
                    first += block.rows * block.rows;
                }
            }
            self.movers.refresh(&component.movers, level);
        }
        self.plan.components = components;
        self.press.take_shared(&self.movers);
    }

    /// What may stay wrong with the rows of a component at the end of the substep: what is wrong now, less what `speed` brings.
    fn find_targets(&mut self, component: &Component, level: Level, speed: f64) {
        for m in &component.movers {
            self.movers[*m].stand_still();
        }
        self.targets.clear();
        for b in &component.blocks {
            self.look(*b as usize, level);
            let wrong = &self.state.wrong[self.plan.blocks[*b as usize].range()];
            let fast = wrong.iter().map(|w| w * w).sum::<f64>().sqrt();
            let left = if fast > speed {
                1.0 - speed / fast
            } else {
                0.0
            };
            self.targets.extend(wrong.iter().map(|w| w * left));
        }
        self.movers.refresh(&component.movers, level);
    }

    /// Leaves components as they were whose velocities could only be made right by throwing them. What their bonds pulled with once more
    /// they keep, unless it is that what throws them. Contacts throw what they like.
    pub(super) fn restrain(&mut self) {
        let Self {
            plan,
            movers,
            again,
            ..
        } = self;
        let tried = plan.components.iter();
        for component in tried.filter(|c| c.progress.rounds > 0 && !c.pressed) {
            let led = component.held.iter().flat_map(|b| {
                let what = plan.blocks[*b as usize].what;
                plan_ends(&plan.tied, what).filter(|m| movers[*m].freedom == 0)
            });
            let (speed, spin) = led.fold((0.0_f64, 0.0_f64), |(speed, spin), m| {
                let mover = &movers[m];
                let fastest = spin.max(mover.spin.length_squared());
                (speed.max(mover.velocity.length_squared()), fastest)
            });
            let (mut all, mut without) = (Throw::default(), Throw::default());
            for m in &component.movers {
                let mover = &movers[*m];
                let still = mover.kinetic_with([DVec3::ZERO; 2]);
                let pulled = again.get(*m as usize).copied().unwrap_or_default();
                let i = &mover.inertia;
                let heavy = (mover.mass.x_axis.x, i.x_axis.x + i.y_axis.y + i.z_axis.z);
                let led = [speed, spin];
                all.add(
                    [still, mover.kinetic_with([mover.push, mover.twist])],
                    heavy,
                    led,
                );
                without.add([still, mover.kinetic_with(pulled)], heavy, led);
            }
            if all.is_thrown() {
                for b in &component.blocks {
                    plan.impulse[plan.blocks[*b as usize].range()].fill(0.0);
                }
                for m in &component.movers {
                    movers[*m].forget();
                    if let (false, Some([push, twist])) =
                        (without.is_thrown(), again.get(*m as usize))
                    {
                        movers[*m].push(*push, *twist);
                        movers[*m].refresh(Level::Velocity);
                    }
                }
            }
        }
    }

    /// Takes out of torn components what the force that draws them together gave them: they would fly past each other for
    /// ever. Slowing all relative motion down alike keeps every joint that holds, and the momentum along a line.
    pub(super) fn govern(&mut self) {
        let Self { plan, movers, .. } = self;
        for component in &mut plan.components {
            let Some(allowed) = component.allowed.take() else {
                continue;
            };
            movers.refresh(&component.movers, Level::Velocity);
            let (mut has, mut mass, mut momentum) = (0.0, 0.0, DVec3::ZERO);
            for m in &component.movers {
                let mover = &movers[*m];
                has += mover.kinetic();
                mass += mover.mass.x_axis.x;
                momentum += mover.velocity * mover.mass.x_axis.x;
            }
            if has <= allowed * (1.0 + GAIN) {
                continue;
            }
            let drift = if !component.held.is_empty() {
                DVec3::ZERO
            } else {
                momentum / mass
            };
            let common = 0.5 * mass * drift.length_squared();
            let slow = ((allowed - common).max(0.0) / (has - common))
                .sqrt()
                .min(1.0)
                - 1.0;
            for m in &component.movers {
                let mover = &mut movers[*m];
                let push = (mover.velocity - drift) * slow;
                let (push, twist) = (mover.mass * push, mover.inertia * (mover.spin * slow));
                mover.push(push, twist);
            }
        }
    }

    /// Says what came of the rounds.
    pub(super) fn judge(&mut self, outcome: &mut Outcome, level: Level, tolerance: f64) {
        for component in &mut self.plan.components {
            let sweeps = component.sweeps();
            let p = &mut component.progress;
            outcome.redundant += component.redundant as u32;
            if level != Level::Velocity {
                component.allowed = None;
                component.lost = false;
            }
            if p.rounds == 0 {
                continue;
            }
            // What gives way or is pressed can't be right; only if it is led astray would a shorter substep help.
            let beyond = |most: f64| p.error.is_nan() || p.error > most;
            let torn = p.gave_way || component.pressed;
            let astray = beyond(tolerance) && (!torn || beyond(2.0 * p.first));
            p.settled = !beyond(tolerance);
            // Where the budget ended the rounds, what they have is taken; a shorter substep would cost more of them.
            let led_nowhere = p.rounds >= MOST_ROUNDS || p.halvings >= MOST_HALVINGS;
            let failed =
                astray && !outcome.converged && (beyond(p.first) || (!sweeps && led_nowhere));
            outcome.failed |= failed;
            if let Level::Position(h) = level {
                let (mut gain, mut allowed) = (Gain::default(), 0.0);
                let (mut plain, mut whirled) = (true, false);
                for m in &component.movers {
                    let mover = &self.movers[*m];
                    let (energies, fall) = mover.given_energy(h);
                    if component.mean {
                        let has = mover.energy_ahead(self.again[*m as usize], h);
                        gain.add_mean([energies[0], has], mover.allowance() - energies[0]);
                    } else {
                        gain.add(energies, fall);
                    }
                    allowed += mover.allowance();
                    plain &= mover.plain;
                    whirled |= mover.is_whirled();
                }
                // What has given way is drawn together by a force, and that does work; sweeps cut short leave repairs to do;
                // and tissue that is pressed together gives back what it was pressed with.
                let unfinished = component.mean && sweeps && !p.settled;
                let worked = component.driven || p.gave_way || component.on_tissue;
                let wild = plain && (whirled || gain.is_wild(worked || unfinished));
                outcome.wild |= wild;
                component.lost = failed || wild;
                // Contacts take energy, but only they know how much.
                let alone = plain && !component.driven && !component.pressed;
                component.allowed = (alone && p.gave_way && !component.lost).then_some(allowed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_gains_more_than_it_may_is_wild_unless_something_works() {
        let mut gain = Gain::default();
        gain.add([10.0, 10.4], 0.0);
        assert!(!gain.is_wild(false));
        gain.add([0.0, 0.2], 0.0);
        assert!(gain.is_wild(false) && !gain.is_wild(true));
        // Its weight explains it.
        let mut fallen = Gain::default();
        fallen.add_mean([0.0, 3.0], 3.0);
        assert!(!fallen.is_wild(false));
        fallen.add_mean([0.0, f64::NAN], 0.0);
        assert!(fallen.is_wild(true));
    }

    #[test]
    fn what_is_led_may_have_the_energy_of_what_leads_it() {
        let mut throw = Throw::default();
        throw.add([1.0, 4.5], (2.0, 0.1), [0.0, 0.0]);
        assert!(throw.is_thrown());
        let mut led = Throw::default();
        led.add([1.0, 4.5], (2.0, 0.1), [0.1, 0.0]);
        assert!(!led.is_thrown());
    }
}

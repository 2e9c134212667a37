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
pub(super) const MOST_GAIN: f64 = 0.05;

/// Energy that torn joints may add in one substep, as a part of what there is.
const GAIN: f64 = 0.02;

/// Sweeps of the last resort.
const LAST_SWEEPS: u32 = 8;

impl Workspace {
    /// Forgets what the last substep found out: nothing of it may steer what comes now.
    pub(super) fn forget(&mut self) {
        self.contacts.clear();
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

    /// Leaves components as they were whose velocities could only be made right by throwing them: what is led somewhere it
    /// can't go, like a chain that is pulled straight.
    pub(super) fn restrain(&mut self) {
        if self.is_pressed() {
            return;
        }
        let Self { plan, movers, .. } = self;
        for component in plan.components.iter().filter(|c| c.progress.rounds > 0) {
            let led = component.held.iter().flat_map(|b| {
                let what = plan.blocks[*b as usize].what;
                plan_ends(&plan.tied, what).filter(|m| movers[*m].freedom == 0)
            });
            let (speed, spin) = led.fold((0.0_f64, 0.0_f64), |(speed, spin), m| {
                let mover = &movers[m];
                let fastest = spin.max(mover.spin.length_squared());
                (speed.max(mover.velocity.length_squared()), fastest)
            });
            let (mut had, mut has) = (0.0, 0.0);
            for m in &component.movers {
                let mover = &movers[*m];
                let (before, after, mass) = mover.kinetics();
                let turning =
                    mover.inertia.x_axis.x + mover.inertia.y_axis.y + mover.inertia.z_axis.z;
                had += 4.0 * before + 50.0 * (mass * speed + turning * spin);
                has += after;
            }
            if has.is_nan() || has > had {
                for m in &component.movers {
                    movers[*m].forget();
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
            let torn = p.gave_way || self.press.is_shared() || !self.contacts.is_empty();
            let astray = beyond(tolerance) && (!torn || beyond(2.0 * p.first));
            p.settled = !beyond(tolerance);
            // Where the budget ended the rounds, what they have is taken; a shorter substep would cost more of them.
            let led_nowhere = p.rounds >= MOST_ROUNDS || p.halvings >= MOST_HALVINGS;
            let failed =
                astray && !outcome.converged && (beyond(p.first) || (!sweeps && led_nowhere));
            outcome.failed |= failed;
            if let Level::Position(h) = level {
                // Joints do no work. Where they seem to, the rounds have found another way to put the points together than
                // the one the bodies would take.
                let (mut given, mut most, mut allowed) = (0.0, 0.0, 0.0);
                let (mut plain, mut whirled) = (true, false);
                for m in &component.movers {
                    let mover = &self.movers[*m];
                    let (energy, [had, fall]) = mover.given_energy(h);
                    if component.mean {
                        let work = mover.allowance() - had;
                        given += mover.energy_ahead(self.again[*m as usize], h) - had - work;
                        most += MOST_GAIN * (had + work.abs());
                    } else {
                        given += energy;
                        most += MOST_GAIN * had + fall;
                    }
                    allowed += mover.allowance();
                    plain &= mover.plain;
                    whirled |= mover.is_whirled();
                }
                // What has given way is drawn together by a force, and that does work; sweeps cut short leave repairs to do;
                // and tissue that is pressed together gives back what it was pressed with.
                let unfinished = component.mean && sweeps && !p.settled;
                let worked = component.driven || p.gave_way || !self.contacts.is_empty();
                let gained = given.is_nan() || (!worked && !unfinished && given > most);
                let wild = plain && (whirled || gained);
                outcome.wild |= wild;
                component.lost = failed || wild;
                // Contacts take energy, but only they know how much.
                let untouched = self.press.is_empty() && self.contacts.is_empty();
                let alone = plain && !component.driven && untouched;
                component.allowed = (alone && p.gave_way && !component.lost).then_some(allowed);
            }
        }
    }
}

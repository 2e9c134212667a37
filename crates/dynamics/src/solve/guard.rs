//! What guards a solve: joints do no work, and what seems to is not believed.

use super::{Level, Outcome, Workspace, component::Method, plan_ends, push_part};
use glam::DVec3;

/// Joints that give bodies more than this part of the energy they have in one substep have been solved wrongly.
const MOST_GAIN: f64 = 0.05;

/// Energy that joints may seem to add in one substep, as a part of what there is: that much comes and goes.
const GAIN: f64 = 0.02;

impl Workspace {
    /// Goes back to the impulses that came nearest; returns the error that is left.
    pub(super) fn go_back(&mut self, level: Level) -> f64 {
        let mut greatest = 0.0_f64;
        let mut components = std::mem::take(&mut self.plan.components);
        for component in components.iter_mut().filter(|c| c.progress.rounds > 0) {
            let mut at = 0;
            for b in &component.blocks {
                let block = &self.plan.blocks[*b as usize];
                let n = block.rows;
                let mut back = [0.0; 6];
                let now = &self.plan.impulse[block.range()];
                for (to, (kept, now)) in back.iter_mut().zip(component.kept[at..].iter().zip(now)) {
                    *to = kept - now;
                }
                at += n;
                for (i, g) in self.plan.impulse[block.range()].iter_mut().zip(&back) {
                    *i += g;
                }
                for part in &self.plan.parts[block.parts.clone()] {
                    push_part(&mut self.movers, &self.plan.jacobian, part, &back[..n]);
                }
            }
            self.movers.refresh(&component.movers, level);
            greatest = greatest.max(component.progress.best);
        }
        self.plan.components = components;
        greatest
    }

    /// Leaves components as they were whose velocities could only be made right by throwing them: what is led somewhere it
    /// can't go, like a chain that is pulled straight.
    pub(super) fn restrain(&mut self) {
        if self.is_pressed() {
            return;
        }
        let Self { plan, movers, .. } = self;
        for component in plan.components.iter().filter(|c| c.progress.rounds > 0) {
            let led = component.blocks.iter().flat_map(|b| {
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

    /// Takes energy out of components that gained some by being solved in too long a substep: joints do no work. Slowing
    /// all relative motion down alike keeps every joint and the momentum along a line.
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
            let drift = if component.grounded {
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
            let p = &mut component.progress;
            outcome.redundant += component.redundant as u32;
            if p.rounds == 0 {
                continue;
            }
            // What gives way or is pressed can't be right; only if it is led astray would a shorter substep help.
            let beyond = |most: f64| p.error.is_nan() || p.error > most;
            let torn = p.gave_way || self.press.is_shared() || !self.contacts.is_empty();
            let astray = beyond(tolerance) && (!torn || beyond(2.0 * p.first));
            let sweeps = !matches!(component.method, Some(Method::Graph | Method::System));
            if level != Level::Velocity {
                component.allowed = None;
            }
            p.settled = !beyond(tolerance);
            outcome.failed |= astray && !outcome.converged && (!sweeps || beyond(p.first));
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
                outcome.wild |= plain && (whirled || gained);
                // Contacts take energy, but only they know how much.
                let untouched = self.press.is_empty() && self.contacts.is_empty();
                let alone = plain && !component.driven && untouched;
                component.allowed = alone.then_some(allowed);
            }
        }
    }
}

//! Trying the scheme itself: whether a small disturbance grows.

use super::probe::{NOWHERE, Probe, rough};
use crate::global::Sight;
use glam::DVec3;
use trocar_dynamics::{Integrator, Matter, MatterId, Nodes};
use trocar_math::rotation;

/// For how long a group is tried, s.
const TRIAL: f64 = 4.0;

/// What grows in steps so many times shorter than the guess grows in any.
const SHORTER: usize = 64;

/// The speed it is disturbed with, m/s: so slow that nodes move by less than a thousandth of any cell, and a million times faster than rounding
/// lets them tremble.
const SMALL: f64 = 1e-7;

impl Probe<'_> {
    /// The stiffest mode gives a bound; whether it is the right one is then tried: bending, and hyper nodes that give back less than
    /// they feel, make the matrix unsymmetric, so that a swinging mode may be the first to grow. Also says whether one grows at any step.
    ///
    /// In short steps most schemes do as mechanics does, and nothing swings up by itself. What grows at any step all the same gives way to
    /// a load that it was built under, as a column does that buckles; it finds another shape, and the stiffest mode is what bounds the step.
    /// Two schemes do otherwise: without damping the midpoint scheme gains energy at any step, and without mass what dampers do to a
    /// velocity is done to it anew in every substep, however short. Nodes without fathers tell that by themselves ([`safe_step`]).
    pub(super) fn exact_step(&mut self) -> (f64, bool) {
        let mode = self.critical_step();
        let mut schemes = self.nets.iter().map(|net| net.masses().integrator());
        if schemes.any(|i| i != Integrator::Mesd) {
            let guess = self.scheme_step(&self.stiffest).min(mode).min(1.0);
            let swings = self.nets.iter().any(|net| {
                let scheme = net.masses().integrator();
                net.masses().has_families()
                    && matches!(scheme, Integrator::QuasiDynamic(_) | Integrator::Midpoint)
            });
            return match self.searched_step(guess) {
                (short, true) if !swings || self.straying(short, 20_000) < 1.2 => (guess, false),
                found => found,
            };
        }
        // A system that nothing excites is stable; a second is longer than any step.
        let high = if mode.is_finite() { mode } else { 1.0 };
        let trial = 0.99 * high;
        // Seconds of simulated time, so that what grows slowly is seen as well; less for what is large.
        let large = self.unknowns.len() > 20_000;
        let most = if large { 150 } else { 20_000 };
        let steps = |h: f64| ((TRIAL / h) as usize).clamp(1200, 20_000).min(most);
        if !self.grows(trial, steps(trial)) {
            return (mode, false);
        }
        // What the step causes goes away with it; what goes on growing is in the nets.
        if !large && self.grows(trial / 8.0, (8 * steps(trial)).min(most)) {
            return (mode, false);
        }
        let (mut low, mut high) = (0.0, high);
        while high - low > 2e-3 * high {
            let middle = 0.5 * (low + high);
            if self.grows(middle, 1200.min(most)) {
                high = middle;
            } else {
                low = middle;
            }
        }
        (low, false)
    }

    /// The step at which a small disturbance begins to grow, looked for from `guess` on, s; and whether it does at any.
    fn searched_step(&mut self, guess: f64) -> (f64, bool) {
        let large = self.unknowns.len() > 20_000;
        let steps = if large { 150 } else { 2400 };
        let (mut low, mut high) = (0.0, guess.max(1e-5));
        if self.grows(high, steps) {
            // What the step causes goes away with it. Short steps need many, or they would end before anything has swung.
            let (least, most) = (high / SHORTER as f64, if large { 150 } else { 20_000 });
            let (mut short, mut more) = (high, steps);
            while low == 0.0 {
                short *= 0.5;
                more = (2 * more).min(most);
                if short < least {
                    // It does so at any step.
                    return (short, true);
                }
                if self.grows(short, more) {
                    high = short;
                } else {
                    low = short;
                }
            }
        } else {
            while !self.grows(high, steps) {
                low = high;
                high *= 1.25;
                if high > 1.0 {
                    return (low, false);
                }
            }
        }
        while high - low > 2e-3 * high {
            let middle = 0.5 * (low + high);
            *(if self.grows(middle, steps) {
                &mut high
            } else {
                &mut low
            }) = middle;
        }
        (low, false)
    }

    /// True if a small disturbance grows in `steps` substeps of `h` under the scheme itself.
    ///
    /// What floats freely drifts and turns evenly, and what was built under tension is then drawn aside more and more: that grows with a power of time,
    /// by the same factor in twice as many substeps, once what else there was has died away. What swings up grows by the square of it, and again.
    fn grows(&mut self, h: f64, mut steps: usize) -> bool {
        let mut once = self.growth(h, steps);
        if once <= 1.2 {
            return false;
        }
        for _ in 0..2 {
            steps *= 2;
            let twice = if once.is_infinite() {
                once
            } else {
                self.growth(h, steps)
            };
            if twice.is_finite() && twice <= once * once.sqrt() {
                return false;
            }
            once = twice;
        }
        true
    }

    /// By what factor a small disturbance grows from the second quarter of `steps` substeps of `h` to the last; infinite if beyond all
    /// measure, 0 if it has died away.
    fn growth(&mut self, h: f64, steps: usize) -> f64 {
        // A net that was built under tension, or is driven, would move off; only what comes of the disturbance counts.
        let still = self.start();
        self.disturb();
        // Drifting as a whole is no growth, so speeds are compared, not places; and their greatest
        // values in the second and the last quarter, because modes beat against each other.
        let mut quarters = Quarters::default();
        let mut first = 0.0;
        for step in 0..steps {
            let mut work = std::mem::take(&mut self.work);
            let sound = self.substep(&mut work, &still, h);
            self.work = work;
            let speed = speed(&self.work, None);
            if !sound || speed > 1e5 * SMALL {
                return f64::INFINITY;
            }
            quarters.take(speed, step, steps);
            if step == 0 {
                first = self.tension(&still);
            }
        }
        // The modified Runge-Kutta scheme creeps away from rest and stands still where its stage feels no force: no speed tells of that.
        if first > 0.0 && self.tension(&still) > 1e4 * first {
            return f64::INFINITY;
        }
        quarters.growth()
    }

    /// The forces and torques of everything as it is now against `still`, N; torques as if at arms of a centimetre.
    fn tension(&mut self, still: &[(Vec<DVec3>, Vec<DVec3>)]) -> f64 {
        self.feel();
        let apart = |a: &[DVec3], b: &[DVec3]| {
            let both = a.iter().zip(b);
            both.map(|(a, b)| a.distance_squared(*b)).sum::<f64>()
        };
        let shares = self.work.iter().zip(still);
        shares
            .map(|(nodes, (force, torque))| {
                apart(&nodes.force, force) + 1e4 * apart(&nodes.torque, torque)
            })
            .sum::<f64>()
            .sqrt()
    }

    /// [`growth`](Self::growth) of what tells a disturbed net from one that is not, both left to move as they do. What was built under
    /// compression and floats freely turns over if forces are taken from it that do not turn with it; here none are.
    fn straying(&mut self, h: f64, steps: usize) -> f64 {
        let mut still = self.start();
        for (force, torque) in &mut still {
            force.fill(DVec3::ZERO);
            torque.fill(DVec3::ZERO);
        }
        let mut other = self.work.clone();
        self.disturb();
        let mut work = std::mem::take(&mut self.work);
        let mut quarters = Quarters::default();
        for step in 0..steps {
            let sound = self.substep(&mut work, &still, h) && self.substep(&mut other, &still, h);
            let speed = speed(&work, Some(&other));
            if !sound || speed > 1e5 * SMALL {
                self.work = work;
                return f64::INFINITY;
            }
            quarters.take(speed, step, steps);
        }
        self.work = work;
        quarters.growth()
    }

    /// Everything at rest; returns the forces and torques there.
    fn start(&mut self) -> Vec<(Vec<DVec3>, Vec<DVec3>)> {
        for (net, nodes) in self.nets.iter().zip(&mut self.work) {
            nodes.copy_from(net.rest());
        }
        self.feel();
        let felt = self.work.iter();
        felt.map(|nodes| (nodes.force.clone(), nodes.torque.clone()))
            .collect()
    }

    fn disturb(&mut self) {
        for (i, u) in self.unknowns.iter().enumerate() {
            let nodes = &mut self.work[u.net];
            let list = if u.turns {
                &mut nodes.spin
            } else {
                &mut nodes.velocity
            };
            list[u.node] = rough(i) * SMALL;
            // What has no mass forgets how it moved, so it is disturbed where it is.
            let without_mass = matches!(
                self.nets[u.net].masses().integrator(),
                Integrator::QuasiDynamic(_)
            );
            if without_mass && u.turns {
                let turn = rotation::from_scaled_axis(rough(i) * 1e-2 * SMALL);
                nodes.orientation[u.node] = turn * nodes.orientation[u.node];
            } else if without_mass {
                nodes.position[u.node] += rough(i) * 1e-2 * SMALL;
            }
        }
    }

    /// One substep of `h` seconds by the scheme itself, without the forces `still`. False if a number goes bad.
    fn substep(&mut self, work: &mut [Nodes], still: &[(Vec<DVec3>, Vec<DVec3>)], h: f64) -> bool {
        let (nets, hypers, globals) = (self.nets, self.hypers, self.globals);
        let slot: Vec<u32> = (0..nets.len() as u32).collect();
        let sight = Sight {
            matter: |m: MatterId| nets[m.index()] as &dyn Matter,
            slot: &slot,
        };
        let masses = |m: MatterId| nets[m.index()].masses();
        self.stages.gather(
            &|k| Some(nets[k].masses()),
            work,
            h,
            None,
            |work, _| {
                for (net, nodes) in nets.iter().zip(work.iter_mut()) {
                    net.force(nodes, &NOWHERE);
                }
                globals.iter().for_each(|g| g.apply(&sight, work, 0.0));
                for (nodes, (force, torque)) in work.iter_mut().zip(still) {
                    let forces = nodes.force.iter_mut().zip(force);
                    forces.for_each(|(f, s)| *f -= *s);
                    let torques = nodes.torque.iter_mut().zip(torque);
                    torques.for_each(|(t, s)| *t -= *s);
                }
                hypers.iter().for_each(|x| x.give_back(work, &slot));
            },
            |work| hypers.iter().for_each(|x| x.copy(masses, work, &slot)),
        );
        for (net, nodes) in nets.iter().zip(work.iter_mut()) {
            net.plan(nodes, h, None);
            if !net.advance(nodes, h) {
                return false;
            }
        }
        hypers.iter().for_each(|x| x.copy(masses, work, &slot));
        for (net, nodes) in nets.iter().zip(work) {
            net.settle(nodes);
        }
        true
    }
}

/// The greatest speeds in the second and in the last quarter of a trial.
#[derive(Default)]
struct Quarters {
    early: f64,
    late: f64,
}

impl Quarters {
    fn take(&mut self, speed: f64, step: usize, steps: usize) {
        match 4 * step / steps {
            1 => self.early = self.early.max(speed),
            3 => self.late = self.late.max(speed),
            _ => {}
        }
    }

    fn growth(&self) -> f64 {
        // What has come to rest to rounding does not grow.
        if self.late > 1e-5 * SMALL {
            self.late / self.early.max(1e-300)
        } else {
            0.0
        }
    }
}

/// How fast all nodes move together, against those of `other` if there are any.
fn speed(work: &[Nodes], other: Option<&[Nodes]>) -> f64 {
    let square = |list: &[DVec3], other: Option<&[DVec3]>| {
        let of = |i: usize| other.map_or(DVec3::ZERO, |o| o[i]);
        let list = list.iter().enumerate();
        list.map(|(i, v)| (*v - of(i)).length_squared())
            .sum::<f64>()
    };
    let shares = work.iter().enumerate().map(|(k, n)| {
        let other = other.map(|o| &o[k]);
        square(&n.velocity, other.map(|o| &o.velocity[..]))
            + 1e-4 * square(&n.spin, other.map(|o| &o.spin[..]))
    });
    shares.sum::<f64>().sqrt()
}

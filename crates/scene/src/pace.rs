//! How simulated time passes in a recording, reckoned without simulating it.

use crate::{
    Input, Simulation, attributes, command::EARLY, parameter::SLOW_MOTION, simulation::usable_step,
};
use std::ops::RangeInclusive;

/// What decides how long the steps of a scene are. Only what a change of a material does to the longest step is not known: that takes a simulation.
pub(crate) struct Pace {
    /// The scene's own step and its longest, s.
    usual: f64,
    longest: f64,
    /// At the start.
    slow_motion: f64,
    /// The parameter that changes it, and what it takes.
    slowness: Option<(u32, RangeInclusive<f64>)>,
    /// When commands set parameters, s, in order, and what each does to slow motion, one after the other.
    sets: Vec<(f64, Vec<Slow>)>,
}

/// What is asked of slow motion.
#[derive(Clone, Copy)]
enum Slow {
    /// This factor.
    By(f64),
    /// On, by the scene's own factor, or off.
    Is(bool),
}

/// A moment of a recording.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Moment {
    /// Simulated time, s.
    pub time: f64,
    slow_motion: f64,
    /// How many of the commands that set something have been done.
    done: usize,
}

impl Pace {
    /// Of a simulation at its start.
    pub fn new(simulation: &Simulation) -> Self {
        let model = simulation.model();
        let mut listed = simulation.parameters().iter().enumerate();
        let found = listed.find(|(_, p)| p.group == "world" && p.name == SLOW_MOTION);
        let slowness = found.map(|(k, p)| (k as u32, p.least..=p.greatest));
        let index = slowness.as_ref().map(|s| s.0);
        let sets = simulation.commands.iter();
        let sets = sets.filter(|c| !c.set.is_empty() || !c.flags.is_empty());
        let sets = sets.map(|command| {
            let set = command.set.iter();
            let set = set.filter(|change| Some(change.parameter) == index);
            let set = set.map(|change| Slow::By(change.value));
            let flags = command.flags.iter();
            let flags = flags.filter_map(|(of, flags)| attributes::slow_motion(of, flags));
            (command.at, set.chain(flags.map(Slow::Is)).collect())
        });
        Self {
            usual: model.step,
            longest: model.longest_step(),
            slow_motion: model.slow_motion,
            sets: sets.collect(),
            slowness,
        }
    }

    /// The start.
    pub fn start(&self) -> Moment {
        Moment {
            time: 0.0,
            slow_motion: self.slow_motion,
            done: 0,
        }
    }

    /// The moment `count` steps with the same input after `moment`.
    pub fn after(&self, mut moment: Moment, input: &Input, count: usize) -> Moment {
        let mut left = count;
        while left > 0 {
            for change in &input.changes {
                if let Some((index, range)) = &self.slowness
                    && *index == change.parameter
                    && range.contains(&change.value)
                {
                    moment.slow_motion = change.value;
                }
            }
            let wall = usable_step(input.dt, self.usual);
            let step = (wall * moment.slow_motion).min(self.longest);
            // Steps before the one in which the next command falls.
            let before = self.sets.get(moment.done).map_or(left, |(at, _)| {
                let whole = (at - moment.time + EARLY) / step;
                (whole.max(0.0) as usize).min(left)
            });
            moment.time += step * before as f64;
            left -= before;
            if left == 0 {
                break;
            }
            // That one is cut to the scene's own step; should the command fall after its end, so is the next.
            moment.time += step.min(self.usual);
            left -= 1;
            while let Some((at, slow)) = self.sets.get(moment.done)
                && *at < moment.time - EARLY
            {
                let slowed = slow
                    .iter()
                    .fold(moment.slow_motion, |now, s| self.slowed(now, *s));
                moment.slow_motion = slowed;
                moment.done += 1;
            }
        }
        moment
    }

    /// Slow motion after something was asked of it.
    fn slowed(&self, now: f64, slow: Slow) -> f64 {
        match slow {
            Slow::By(factor) => factor,
            Slow::Is(false) => 1.0,
            Slow::Is(true) if now < 1.0 => now,
            // As the scene begins; without a factor there, the bit is refused.
            Slow::Is(true) => self.slow_motion,
        }
    }
}

//! What engines have in common, and how they are run beside each other.

use super::plan::{Moment, Plan};
use crate::measure::{Summary, progress};
use std::time::{Duration, Instant};

/// What an engine says went wrong.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trouble {
    /// Substeps halved.
    pub halvings: u32,
    /// Rows of constraints that others already determine.
    pub redundant: u32,
    /// How often bad numbers were put back to rest.
    pub quarantines: u32,
}

/// Something that can be stepped.
pub trait Engine {
    /// One step.
    fn step(&mut self);
    /// Writes where everything is.
    fn look(&self, moments: &mut Vec<Moment>);
    /// Points of contact in the last step.
    fn contacts(&self) -> usize {
        0
    }
    /// What went wrong so far.
    fn trouble(&self) -> Trouble {
        Trouble::default()
    }
}

/// An engine and what was seen of it.
pub struct Runner {
    pub name: String,
    engine: Box<dyn Engine>,
    /// s of each step.
    pub times: Vec<f64>,
    /// Worst gap of a joint, m.
    pub gap: f64,
    /// Greatest energy gained, J; and lost.
    pub gained: f64,
    pub lost: f64,
    /// True if it stopped being finite.
    pub burst: bool,
    spent: Duration,
    start: f64,
    moments: Vec<Moment>,
}

impl Runner {
    pub fn new(name: impl Into<String>, engine: Box<dyn Engine>, plan: &Plan) -> Self {
        Self {
            name: name.into(),
            engine,
            times: Vec::new(),
            gap: 0.0,
            gained: 0.0,
            lost: 0.0,
            burst: false,
            spent: Duration::ZERO,
            start: plan.energy(&plan.start()),
            moments: Vec::new(),
        }
    }

    /// One step; then `watch` may look at it, off the clock.
    pub fn step(&mut self, plan: &Plan) {
        let began = Instant::now();
        self.engine.step();
        let took = began.elapsed();
        self.spent += took;
        self.times.push(took.as_secs_f64());
        self.engine.look(&mut self.moments);
        let (gap, energy) = (plan.gap(&self.moments), plan.energy(&self.moments));
        if !(gap.is_finite() && energy.is_finite()) {
            self.burst = true;
            return;
        }
        self.gap = self.gap.max(gap);
        self.gained = self.gained.max(energy - self.start);
        self.lost = self.lost.max(self.start - energy);
    }

    /// What went wrong.
    pub fn trouble(&self) -> Trouble {
        self.engine.trouble()
    }

    /// Time of a step, in units of `unit` seconds.
    pub fn summary(&self, unit: f64) -> Summary {
        Summary::of(self.times.iter().map(|t| t / unit))
    }

    /// Greatest change of energy, J.
    pub fn drift(&self) -> f64 {
        self.gained.max(self.lost)
    }
}

/// Steps of one engine before it is another's turn: enough to have its own memory warm again.
pub const TURN: usize = 25;

/// Runs all for `steps` steps in turns, each at most for `patience`.
pub fn race(label: &str, plan: &Plan, runners: &mut [Runner], steps: usize, patience: Duration) {
    let rounds = steps.div_ceil(TURN);
    let bar = progress(label, rounds);
    for round in 0..rounds {
        let count = runners.len();
        for k in 0..count {
            let k = if round % 2 == 0 { k } else { count - 1 - k };
            let runner = &mut runners[k];
            for _ in 0..TURN.min(steps - round * TURN) {
                if runner.burst || runner.spent > patience {
                    break;
                }
                runner.step(plan);
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
}

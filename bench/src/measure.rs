//! Repeats, and what is said about them.

use indicatif::{ProgressBar, ProgressStyle};
use std::hint::black_box;
use std::time::{Duration, Instant};
use trocar_dynamics::Crew;
use trocar_math::statistics::quantile;

/// How much trouble is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Enough to see whether something broke.
    Quick,
    /// Enough to quote.
    Full,
}

impl Effort {
    /// `full`, or `quick`.
    pub fn repeats(self, full: usize, quick: usize) -> usize {
        match self {
            Self::Full => full,
            Self::Quick => quick,
        }
    }
}

/// What many repeats gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Half lie below.
    pub median: f64,
    /// A quarter lies below the first, a quarter above the second.
    pub quartiles: [f64; 2],
    /// One in a hundred lies above.
    pub p99: f64,
    /// The greatest.
    pub max: f64,
    /// How many there were.
    pub count: usize,
}

impl Summary {
    /// Of these values; zeros if there are none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let at = |fraction| quantile(&values, fraction);
        Self {
            median: at(0.5),
            quartiles: [at(0.25), at(0.75)],
            p99: at(0.99),
            max: at(1.0),
            count: values.len(),
        }
    }
}

/// How long `job` takes, s.
pub fn time(job: impl FnOnce()) -> f64 {
    let began = Instant::now();
    job();
    began.elapsed().as_secs_f64()
}

/// Runs jobs in turn, so that whatever else the machine does falls on all of them alike. Each returns
/// what it measured of itself; the result has one list for each, in which index r is round r. Every
/// second round runs backwards, so that none always profits from the one before it.
pub fn interleave(
    label: &str,
    rounds: usize,
    jobs: &mut [&mut dyn FnMut() -> f64],
) -> Vec<Vec<f64>> {
    let progress = progress(label, rounds);
    let mut samples = vec![Vec::with_capacity(rounds); jobs.len()];
    for round in 0..rounds {
        for k in 0..jobs.len() {
            let job = if round % 2 == 0 {
                k
            } else {
                jobs.len() - 1 - k
            };
            samples[job].push(jobs[job]());
        }
        progress.inc(1);
    }
    progress.finish_and_clear();
    samples
}

/// Waits until threads that a job before had called have gone to sleep: while they still look out for work they slow down who works alone.
pub fn hush() {
    std::thread::sleep(Duration::from_millis(3));
}

/// Has a crew, or whoever calls, at work for half a millisecond, so that it is as awake as in the middle of a simulation: to be called from sleep takes longer than a short job.
pub fn rouse(crew: Option<&Crew>) {
    let mut chores = [0.0_f64; 64];
    Crew::spread(crew, &mut chores, 1, |_, chores| {
        // Some ten microseconds of roots that wait for each other.
        for chore in chores {
            *chore = (0..1500).fold(2.0, |x: f64, _| black_box(x).sqrt() + 1.0);
        }
    });
    black_box(&chores);
}

/// A bar on standard error, if that is a terminal.
pub fn progress(label: &str, rounds: usize) -> ProgressBar {
    let bar = ProgressBar::new(rounds as u64).with_message(label.to_string());
    let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} {eta}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_has_the_quantiles_of_its_values() {
        let summary = Summary::of((0..=100).rev().map(f64::from));
        assert_eq!(summary.median, 50.0);
        assert_eq!(summary.quartiles, [25.0, 75.0]);
        assert_eq!(
            (summary.p99, summary.max, summary.count),
            (99.0, 100.0, 101)
        );
        assert_eq!(Summary::of([3.0, 1.0]).median, 2.0);
        assert_eq!(Summary::of([]).count, 0);
    }

    #[test]
    fn jobs_take_turns_forwards_and_backwards() {
        let turn = std::cell::Cell::new(0.0);
        let next = || {
            turn.set(turn.get() + 1.0);
            turn.get()
        };
        let (mut a, mut b) = (next, next);
        let samples = interleave("", 3, &mut [&mut a, &mut b]);
        assert_eq!(samples, [[1.0, 4.0, 5.0], [2.0, 3.0, 6.0]]);
    }
}

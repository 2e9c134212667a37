//! How long substeps are that follow the state.

use serde::{Deserialize, Serialize};

/// Substeps become longer again only after the state has allowed it for so long, s of simulated time.
const PATIENCE: f64 = 1.0;

/// The length of substeps that follow the state (KB9): shorter as soon as the state asks for it, longer only when it has allowed that for a
/// second.
///
/// A scheme of fixed steps swings an undamped spring for ever; one whose step is chosen anew from each state does not go back the way it came, and
/// gains a little in every swing, however short its steps are. With patience whatever swings faster than that has one and the same
/// step all the way.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tempo {
    /// No substep is longer, s.
    longest: f64,
    /// The least that any state asked for since then, s.
    least: f64,
    /// When that was last asked for, s.
    since: f64,
}

impl Default for Tempo {
    fn default() -> Self {
        Self {
            longest: f64::INFINITY,
            least: f64::INFINITY,
            since: 0.0,
        }
    }
}

impl Tempo {
    /// Takes note of the bound of a state as a [gauge](super::Gauge) finds it, s, and gives how long the next substep may be, s; `exact` is the bound for small motion about
    /// rest, of which a part is left out: on it a mode neither grows nor dies.
    pub fn follow(&mut self, bound: f64, exact: f64) -> f64 {
        let bound = bound.min(0.9 * exact);
        self.least = self.least.min(bound);
        self.longest.min(bound)
    }

    /// A step has ended at `time` s.
    pub fn pass(&mut self, time: f64) {
        if self.least <= self.longest || time - self.since > PATIENCE {
            (self.longest, self.least, self.since) = (self.least, f64::INFINITY, time);
        }
    }

    /// True if it may have come about by `time` s.
    pub fn is_sound(&self, time: f64) -> bool {
        self.longest >= 0.0 && self.least >= 0.0 && (0.0..=time).contains(&self.since)
    }

    /// Its numbers, for a hash.
    pub fn numbers(&self) -> [f64; 3] {
        [self.longest, self.least, self.since]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shorter_at_once_and_longer_after_a_second() {
        let mut tempo = Tempo::default();
        assert_eq!(tempo.follow(0.004, 1.0), 0.004);
        assert_eq!(tempo.follow(0.001, 1.0), 0.001);
        tempo.pass(1.0);
        for k in 0..10 {
            // What allows more changes nothing yet.
            assert_eq!(tempo.follow(0.002 + 0.001 * f64::from(k), 1.0), 0.001);
            tempo.pass(1.1 + 0.1 * f64::from(k));
        }
        // The least of that second, not the last.
        tempo.pass(2.01);
        assert_eq!(tempo.follow(0.1, 1.0), 0.002);
        assert!(tempo.is_sound(2.01) && !tempo.is_sound(2.0));
    }
}

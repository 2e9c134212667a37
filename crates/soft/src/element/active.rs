//! Active elements: driven by a function of time (K44), as a muscle is, or a vessel that pulsates.

use super::Law;
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;
use trocar_math::real;

/// A function of time without unit. All of them are continuous.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Signal {
    /// mean + amplitude · sin(2π (rate t + phase)).
    Sine {
        /// About which it swings.
        mean: f64,
        /// How far it swings.
        amplitude: f64,
        /// Hz, ≥ 0.
        rate: f64,
        /// In turns.
        phase: f64,
    },
    /// From 0 to 1 and back, again and again: a heart beat. Straight lines.
    Pulse {
        /// When the first begins, s.
        start: f64,
        /// From one beginning to the next, s, at least rise + hold + fall.
        period: f64,
        /// How long it rises, s, > 0.
        rise: f64,
        /// How long it stays, s, ≥ 0.
        hold: f64,
        /// How long it falls, s, > 0.
        fall: f64,
    },
    /// Straight lines through points (time in s, value), constant before the first and after the last.
    Table(Vec<[f64; 2]>),
}

/// The largest number of a signal, and the greatest force that drives: beyond it, sums and products would sooner or later be none.
const LARGEST: f64 = 1e9;

impl Signal {
    /// The value at `time` s.
    pub fn at(&self, time: f64) -> f64 {
        match self {
            Self::Sine {
                mean,
                amplitude,
                rate,
                phase,
            } => {
                // Whole turns are taken off first: the sine of a large angle is a poor one.
                let turns = rate * time + phase;
                mean + amplitude * real::sin(TAU * (turns - turns.floor()))
            }
            Self::Pulse {
                start,
                period,
                rise,
                hold,
                fall,
            } => {
                let since = time - start;
                if since < 0.0 {
                    return 0.0;
                }
                let t = since - (since / period).floor() * period;
                (t / rise)
                    .min((rise + hold + fall - t) / fall)
                    .clamp(0.0, 1.0)
            }
            Self::Table(points) => {
                let after = points.partition_point(|p| p[0] <= time);
                match (
                    after.checked_sub(1).and_then(|i| points.get(i)),
                    points.get(after),
                ) {
                    (Some(a), Some(b)) => a[1] + (b[1] - a[1]) * ((time - a[0]) / (b[0] - a[0])),
                    (Some(a), None) => a[1],
                    (None, Some(b)) => b[1],
                    (None, None) => 0.0,
                }
            }
        }
    }

    /// The greatest absolute value it ever has.
    pub fn peak(&self) -> f64 {
        let [least, greatest] = self.range();
        least.abs().max(greatest.abs())
    }

    /// The least and the greatest value it ever has.
    pub fn range(&self) -> [f64; 2] {
        match self {
            Self::Sine {
                mean, amplitude, ..
            } => [mean - amplitude.abs(), mean + amplitude.abs()],
            Self::Pulse { .. } => [0.0, 1.0],
            Self::Table(points) => {
                let values = || points.iter().map(|p| p[1]);
                let least = values().reduce(f64::min).unwrap_or(0.0);
                [least, values().reduce(f64::max).unwrap_or(0.0)]
            }
        }
    }

    /// Why it can't be used, if it can't.
    pub fn objection(&self) -> Option<&'static str> {
        match self {
            Self::Sine {
                mean,
                amplitude,
                rate,
                phase,
            } => {
                let sound = [mean, amplitude, rate, phase]
                    .iter()
                    .all(|x| x.abs() <= LARGEST);
                (!sound || *rate < 0.0)
                    .then_some("a sine needs numbers no larger than 1e9 and a rate of at least 0")
            }
            Self::Pulse {
                start,
                period,
                rise,
                hold,
                fall,
            } => {
                let sound = [start, period, rise, hold, fall]
                    .iter()
                    .all(|x| x.abs() <= LARGEST);
                if !sound || *hold < 0.0 || *period < rise + hold + fall {
                    return Some("a pulse must fit into its period");
                }
                (*rise <= 0.0 || *fall <= 0.0).then_some(
                    "a pulse that jumps is discontinuous (K38); give rise and fall some time",
                )
            }
            Self::Table(points) => {
                let sound = points.as_flattened().iter().all(|x| x.abs() <= LARGEST);
                if points.is_empty() || !sound {
                    return Some(
                        "a table of points needs numbers no larger than 1e9, and at least one point",
                    );
                }
                (!points.is_sorted_by(|a, b| a[0] < b[0])).then_some(
                    "the times of a table must ascend: a jump would be discontinuous (K38)",
                )
            }
        }
    }
}

/// What a signal does to an element.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Drive {
    /// Adds so many newtons of tension for every unit of the signal: a muscle, against any load.
    Force(f64),
    /// Makes the rest length longer by so much of itself for every unit of the signal: −0.2 contracts by a fifth, a
    /// positive one widens a vessel whose rings are driven.
    Length(f64),
    /// Makes the constant of its law greater by so much of itself for every unit of the signal: a muscle stiffens as it contracts. Limits of
    /// the force stay what they are.
    Stiffness(f64),
}

/// What an element is made into by what drives it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Driven {
    /// Its rest length times this.
    pub length: f64,
    /// The constant of its law times this.
    pub stiffness: f64,
    /// N of tension beside what its law says.
    pub tension: f64,
}

impl Driven {
    /// An element that nothing drives.
    pub const NOT: Self = Self {
        length: 1.0,
        stiffness: 1.0,
        tension: 0.0,
    };

    /// A law with another constant.
    pub fn law(&self, law: &Law) -> Law {
        Law {
            constant: law.constant * self.stiffness,
            ..*law
        }
    }
}

impl Drive {
    /// What a signal of this value does.
    pub fn by(self, value: f64) -> Driven {
        match self {
            Self::Force(newtons) => Driven {
                tension: newtons * value,
                ..Driven::NOT
            },
            Self::Length(part) => Driven {
                length: 1.0 + part * value,
                ..Driven::NOT
            },
            Self::Stiffness(part) => Driven {
                stiffness: 1.0 + part * value,
                ..Driven::NOT
            },
        }
    }

    /// The most of each that a signal ever does, of forces and lengths to either side.
    pub fn extremes(self, signal: &Signal) -> Driven {
        match self {
            Self::Force(newtons) => Driven {
                tension: newtons.abs() * signal.peak(),
                ..Driven::NOT
            },
            Self::Length(part) => Driven {
                length: 1.0 + part.abs() * signal.peak(),
                ..Driven::NOT
            },
            Self::Stiffness(_) => {
                let [a, b] = signal.range().map(|value| self.by(value).stiffness);
                Driven {
                    stiffness: a.max(b),
                    ..Driven::NOT
                }
            }
        }
    }

    /// Why a signal can't drive an element with this constant this way, if it can't.
    pub fn objection(self, signal: &Signal, constant: f64) -> Option<&'static str> {
        let ends = signal.range().map(|value| self.by(value));
        let (sound, objection) = match self {
            Self::Force(_) => (
                ends.iter().all(|d| d.tension.abs() <= LARGEST),
                "the force that drives it must be no larger than 1e9 N",
            ),
            Self::Length(part) => (
                part.abs() * signal.peak() < 1.0,
                "what drives its rest length must be finite and leave it some of that",
            ),
            // What pushes away what it ought to draw would fall over at any step.
            Self::Stiffness(_) => (
                ends.iter()
                    .all(|d| d.stiffness >= 0.0 && (d.stiffness * constant).is_finite()),
                "what drives its constant must be finite and never make it negative",
            ),
        };
        (!sound).then_some(objection)
    }
}

/// Drives an element.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Active {
    /// Which element.
    pub element: u32,
    /// Which signal.
    pub signal: u32,
    /// What it does.
    pub drive: Drive,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sine_swings_about_its_mean_however_late_it_is() {
        let sine = Signal::Sine {
            mean: 0.5,
            amplitude: 0.25,
            rate: 2.0,
            phase: 0.25,
        };
        for turn in [0.0, 1.0, 1e6] {
            for (t, value) in [(0.0, 0.75), (0.125, 0.5), (0.25, 0.25), (0.375, 0.5)] {
                assert!((sine.at(turn + t) - value).abs() < 1e-9);
            }
        }
        assert_eq!(sine.peak(), 0.75);
    }

    #[test]
    fn a_pulse_rises_holds_falls_and_comes_again() {
        let pulse = Signal::Pulse {
            start: 1.0,
            period: 0.8,
            rise: 0.1,
            hold: 0.2,
            fall: 0.4,
        };
        assert_eq!(pulse.objection(), None);
        for beat in [0.0, 3.0, 100.0] {
            for (t, value) in [(0.0, 0.0), (0.05, 0.5), (0.2, 1.0), (0.5, 0.5), (0.75, 0.0)] {
                assert!(
                    (pulse.at(1.0 + 0.8 * beat + t) - value).abs() < 1e-9,
                    "{beat} {t}"
                );
            }
        }
        assert_eq!(pulse.at(0.3), 0.0);
    }

    #[test]
    fn a_table_is_joined_by_lines_and_goes_on_at_its_ends() {
        let table = Signal::Table(vec![[0.0, 1.0], [1.0, 3.0], [1.5, -1.0]]);
        for (t, value) in [
            (-1.0, 1.0),
            (0.0, 1.0),
            (0.5, 2.0),
            (1.0, 3.0),
            (1.25, 1.0),
            (9.0, -1.0),
        ] {
            assert_eq!(table.at(t), value);
        }
        assert_eq!(table.peak(), 3.0);
        assert_eq!(table.range(), [-1.0, 3.0]);
    }

    #[test]
    fn the_most_a_drive_does_is_the_most_it_does_at_any_time() {
        let signals = [
            Signal::Sine {
                mean: 0.4,
                amplitude: -0.5,
                rate: 3.0,
                phase: 0.1,
            },
            Signal::Pulse {
                start: 0.0,
                period: 0.5,
                rise: 0.1,
                hold: 0.1,
                fall: 0.2,
            },
            Signal::Table(vec![[0.0, -0.2], [0.3, 0.9], [0.7, -0.6]]),
        ];
        for signal in signals {
            for drive in [
                Drive::Force(-2.0),
                Drive::Length(0.4),
                Drive::Stiffness(0.8),
                Drive::Stiffness(-0.9),
            ] {
                assert_eq!(drive.objection(&signal, 4.0), None);
                let most = drive.extremes(&signal);
                let mut seen = Driven::NOT;
                for i in 0..10_000 {
                    let now = drive.by(signal.at(f64::from(i) * 1e-4));
                    seen.tension = seen.tension.max(now.tension.abs());
                    seen.length = seen.length.max(now.length);
                    seen.stiffness = seen.stiffness.max(now.stiffness);
                    assert!(now.stiffness >= 0.0 && now.length > 0.0);
                }
                assert!((seen.tension - most.tension).abs() < 2e-3);
                assert!(seen.length <= most.length + 1e-12);
                let near = (seen.stiffness - most.stiffness).abs();
                assert!(near < 1e-3, "{signal:?} {drive:?}: {seen:?} {most:?}");
            }
        }
        // Below 0 it would push away what it ought to draw.
        let pulse = Signal::Table(vec![[0.0, 0.0], [1.0, 1.0]]);
        assert_eq!(Drive::Stiffness(-1.0).objection(&pulse, 4.0), None);
        assert!(Drive::Stiffness(-1.01).objection(&pulse, 4.0).is_some());
        assert_eq!(Drive::Stiffness(20.0).objection(&pulse, 4.0), None);
        for part in [f64::NAN, f64::INFINITY, 1e308] {
            assert!(Drive::Stiffness(part).objection(&pulse, 4.0).is_some());
        }
        assert!(Drive::Length(f64::NAN).objection(&pulse, 4.0).is_some());
        assert!(Drive::Force(f64::INFINITY).objection(&pulse, 4.0).is_some());
    }

    #[test]
    fn what_jumps_is_refused() {
        let pulse = |rise, period| Signal::Pulse {
            start: 0.0,
            period,
            rise,
            hold: 0.1,
            fall: 0.1,
        };
        assert!(pulse(0.0, 1.0).objection().unwrap().contains("K38"));
        assert!(pulse(0.1, 0.2).objection().is_some());
        assert!(
            Signal::Table(vec![[0.0, 0.0], [0.0, 1.0]])
                .objection()
                .unwrap()
                .contains("K38")
        );
        assert!(Signal::Table(vec![]).objection().is_some());
        let sine = Signal::Sine {
            mean: 0.0,
            amplitude: f64::NAN,
            rate: 1.0,
            phase: 0.0,
        };
        assert!(sine.objection().is_some());
    }
}

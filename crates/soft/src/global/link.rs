//! Springs and dampers between points of different matter.

use super::Present;
use crate::element::{self, Drive, Driven, Input, Law, Signal};
use glam::DVec3;

/// An end as it moves: position (m) and velocity (m/s).
pub(super) type Moving = (DVec3, DVec3);

/// A spring or damper between two points of anything, of any law that elements inside a net have.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Length at which it is at rest, m, ≥ 0.
    pub rest_length: f64,
    /// Its law.
    pub law: Law,
    /// What drives it (K44).
    pub drive: Option<(Signal, Drive)>,
    /// What it remembers of having yielded.
    pub flow: Flow,
}

/// What an element that yields remembers (see [`Plastic`](element::Plastic)).
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Flow {
    /// How far it has flown, m.
    pub flown: f64,
    /// Up to where it does not yield on its way back, m.
    pub spared: f64,
}

impl Flow {
    /// Both as numbers.
    pub fn numbers(&self) -> [f64; 2] {
        [self.flown, self.spared]
    }
}

impl Link {
    /// One of this length (m) and law that nothing drives.
    pub fn new(rest_length: f64, law: Law) -> Self {
        Self {
            rest_length,
            law,
            drive: None,
            flow: Flow::default(),
        }
    }

    /// Rest length (m) with what it has flown, law and added tension (N) at `time` s.
    fn driven(&self, time: f64) -> (f64, Law, f64) {
        let drive = self.drive.as_ref();
        let driven = drive.map_or(Driven::NOT, |(signal, drive)| drive.by(signal.at(time)));
        let rest = self.rest_length * driven.length + self.flow.flown;
        (rest, driven.law(&self.law), driven.tension)
    }

    /// The most that it is ever driven to be.
    fn extremes(&self) -> Driven {
        let drive = self.drive.as_ref();
        drive.map_or(Driven::NOT, |(signal, drive)| drive.extremes(signal))
    }

    /// The same, as stiff for good as it is ever driven to be.
    pub(super) fn stiffened(&self) -> Self {
        let lasts = |drive: &(Signal, Drive)| !matches!(drive.1, Drive::Stiffness(_));
        Self {
            law: self.extremes().law(&self.law),
            drive: self.drive.clone().filter(lasts),
            ..self.clone()
        }
    }

    /// A linear one without a length that is as stiff in every direction as this one ever is.
    pub(super) fn stiffest(&self) -> Self {
        let slope = self.slope();
        let law = match self.law.input {
            Input::Distance => Law::spring(slope),
            Input::Velocity => Law::damper(slope),
        };
        Self::new(0.0, law)
    }

    /// Its tension, N: positive draws its ends together.
    pub(super) fn tension(&self, [(a, v), (b, w)]: [Moving; 2], time: f64) -> f64 {
        match self.law.input {
            Input::Distance => {
                let (rest, law, bias) = self.driven(time);
                law.tension(a.distance(b) - rest) + bias
            }
            Input::Velocity => {
                let along = (b - a).normalize_or_zero();
                element::damper_force(v - w, &self.law).dot(along)
            }
        }
    }

    /// Force on its first end, N; the other takes the opposite.
    pub(super) fn force(&self, ends: [Moving; 2], time: f64) -> DVec3 {
        let [(a, v), (b, w)] = ends;
        match self.law.input {
            Input::Distance => (b - a).normalize_or_zero() * self.tension(ends, time),
            Input::Velocity => element::damper_force(v - w, &self.law),
        }
    }

    /// Energy of a spring, J; of a damper none.
    pub(super) fn energy(&self, [(a, _), (b, _)]: [Moving; 2], time: f64) -> f64 {
        if self.law.input == Input::Velocity {
            return 0.0;
        }
        let (rest, law, bias) = self.driven(time);
        let stretch = a.distance(b) - rest;
        law.energy(stretch) + bias * stretch
    }

    /// Greatest slope along or across it: N/m of a spring, N·s/m of a damper.
    pub(super) fn slope(&self) -> f64 {
        let most = self.extremes();
        match self.law.input {
            Input::Velocity => self.law.damping(),
            Input::Distance => {
                let law = most.law(&self.law);
                law.spring_slope(self.rest_length, most.length, most.tension)
            }
        }
    }

    /// True if its slope depends neither on length, speed nor time.
    pub(super) fn is_even(&self) -> bool {
        self.law.is_plain() && self.drive.is_none()
    }

    /// How it answers now, within the part `near` of its length or speed to either side (KB9); `even` if that never changes.
    pub(super) fn present(
        &self,
        [(a, v), (b, w)]: [Moving; 2],
        (time, near): (f64, f64),
        even: bool,
    ) -> Present {
        let speed = (v - w).length();
        match self.law.input {
            Input::Distance => {
                let (rest, _, bias) = self.driven(time);
                // How stiff it is driven to be may change within the step.
                let law = self.extremes().law(&self.law);
                let length = a.distance(b);
                let window = Law::window(near, length, rest);
                let tension = |more: f64| law.tension(length - rest + more) + bias;
                let tensions @ [short, _, long] = [-window, 0.0, window].map(tension);
                Present {
                    slope: match self.is_even() {
                        true => self.law.constant,
                        false => Law::present_slope(length, window, tensions),
                    },
                    pull: short.abs().max(long.abs()),
                    turn: 0.0,
                    step: match even {
                        true => f64::INFINITY,
                        false => window / speed.max(1e-12),
                    },
                }
            }
            Input::Velocity => {
                // Slower than a millimetre a second nothing is told apart.
                let fast = speed + near * speed.max(1e-3);
                let slope = (self.law.tension(fast) - self.law.tension(speed)) / (fast - speed);
                let across = self.law.tension(fast) / fast;
                Present {
                    slope: slope.max(across).max(0.0),
                    pull: 0.0,
                    turn: 0.0,
                    step: f64::INFINITY,
                }
            }
        }
    }

    /// Lets it flow if it yields, its ends being `length` m apart.
    pub(super) fn settle(&mut self, length: f64) {
        if let Some(plastic) = self.law.plastic {
            let Flow { flown, spared } = self.flow;
            let stretch = length - self.rest_length;
            let (flown, spared) = plastic.eased(stretch, flown, self.rest_length, spared);
            self.flow = Flow { flown, spared };
        }
    }

    /// Has it forget what it has flown; on its way back from where it is it is spared, or it would yield at once.
    pub(super) fn forget(&mut self, length: f64) {
        if self.law.plastic.is_some() {
            self.flow = Flow {
                flown: 0.0,
                spared: length - self.rest_length,
            };
        }
    }

    /// Why it can't be used, if it can't.
    pub(super) fn objection(&self) -> Option<&'static str> {
        if !(self.rest_length >= 0.0 && self.rest_length.is_finite()) {
            return Some("its rest length must be at least 0 and finite");
        }
        if let Some((signal, drive)) = &self.drive {
            if self.law.input == Input::Velocity {
                return Some("a driven damper would be discontinuous at rest (K38)");
            }
            if self.law.plastic.is_some() {
                return Some(
                    "an element yields or is driven, not both; use two, one after the other (K37)",
                );
            }
            let objection = || drive.objection(signal, self.law.constant);
            if let Some(objection) = signal.objection().or_else(objection) {
                return Some(objection);
            }
        }
        self.law.objection()
    }
}

//! Global elements: between points of different matter, or a point of matter and one that is fixed in space (K53, K57).
//!
//! They know every law that elements inside a net know, except that they do not yield: what yields remembers, and memory
//! belongs to a net. Both ends may be on anything: a node, a point of a surface, a body. What a slave of a hyper
//! node is given it hands on to its master, as it does with all forces.

use crate::element::{self, Drive, Driven, Input, Law, Signal};
use glam::DVec3;
use trocar_dynamics::{Anchor, Local, Matter, MatterId, Nodes, anchor::Support};

/// An end of a global element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum End {
    /// On matter.
    On(Anchor),
    /// Fixed in space, m.
    At(DVec3),
}

/// An element between two points of anything.
#[derive(Clone, Debug, PartialEq)]
pub struct Global {
    /// Its ends.
    pub ends: [End; 2],
    /// Length at which it is at rest, m, ≥ 0.
    pub rest_length: f64,
    /// Its law.
    pub law: Law,
    /// What drives it (K44).
    pub drive: Option<(Signal, Drive)>,
}

/// How an element answers as it is now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Present {
    /// Along or across it, whichever is more: N/m of a spring, N·s/m of a damper.
    pub slope: f64,
    /// The force of a spring, either way, N; of a damper 0.
    pub pull: f64,
    /// Step in which its ends stay near, s.
    pub step: f64,
}

/// The matter that global elements look at: all of it by name, the shares of the state, and where each one's is.
pub struct Sight<'a, F: Fn(MatterId) -> &'a dyn Matter> {
    /// A matter by its name.
    pub matter: F,
    /// For every matter the place of its share.
    pub slot: &'a [u32],
}

impl<'a, F: Fn(MatterId) -> &'a dyn Matter> Sight<'a, F> {
    /// Position and velocity of an end.
    fn see(&self, end: &End, nodes: &[Nodes]) -> (DVec3, DVec3) {
        let anchor = match end {
            End::At(point) => return (*point, DVec3::ZERO),
            End::On(anchor) => anchor,
        };
        let mut sum = (DVec3::ZERO, DVec3::ZERO);
        for (m, at, weight) in Support::of(anchor).parts() {
            let share = &nodes[self.slot[m.index()] as usize];
            let matter = (self.matter)(*m);
            sum.0 += matter.position(share, at) * *weight;
            sum.1 += matter.velocity(share, at) * *weight;
        }
        sum
    }

    /// Adds a force (N) to what an end rests on; matter whose motion is prescribed does not feel it.
    pub fn pull(&self, end: &End, nodes: &mut [Nodes], force: DVec3) {
        let End::On(anchor) = end else { return };
        if (self.matter)(anchor.matter).is_prescribed() {
            return;
        }
        for (m, at, weight) in Support::of(anchor).parts() {
            let share = &mut nodes[self.slot[m.index()] as usize];
            let i = at.node as usize;
            share.force[i] += force * *weight;
            if let Some(q) = share.orientation.get(i) {
                share.torque[i] += (*q * at.offset).cross(force * *weight);
            }
        }
    }
}

impl Global {
    /// Rest length (m), law and added tension (N) at `time` s.
    fn driven(&self, time: f64) -> (f64, Law, f64) {
        let drive = self.drive.as_ref();
        let driven = drive.map_or(Driven::NOT, |(signal, drive)| drive.by(signal.at(time)));
        let rest = self.rest_length * driven.length;
        (rest, driven.law(&self.law), driven.tension)
    }

    /// The most that it is ever driven to be.
    fn extremes(&self) -> Driven {
        let drive = self.drive.as_ref();
        drive.map_or(Driven::NOT, |(signal, drive)| drive.extremes(signal))
    }

    /// The same element, as stiff for good as it is ever driven to be.
    pub(crate) fn stiffened(&self) -> Self {
        let lasts = |drive: &(Signal, Drive)| !matches!(drive.1, Drive::Stiffness(_));
        Self {
            law: self.extremes().law(&self.law),
            drive: self.drive.clone().filter(lasts),
            ..self.clone()
        }
    }

    /// Where its ends are, m, and its tension, N: positive draws them together.
    pub fn look<'a, F: Fn(MatterId) -> &'a dyn Matter>(
        &self,
        sight: &Sight<'a, F>,
        nodes: &[Nodes],
        time: f64,
    ) -> (DVec3, DVec3, f64) {
        let [(a, v), (b, w)] = [0, 1].map(|k| sight.see(&self.ends[k], nodes));
        let tension = match self.law.input {
            Input::Distance => {
                let (rest, law, bias) = self.driven(time);
                law.tension(a.distance(b) - rest) + bias
            }
            Input::Velocity => {
                let along = (b - a).normalize_or_zero();
                element::damper_force(v - w, &self.law).dot(along)
            }
        };
        (a, b, tension)
    }

    /// Adds its forces to both ends.
    pub fn apply<'a, F: Fn(MatterId) -> &'a dyn Matter>(
        &self,
        sight: &Sight<'a, F>,
        nodes: &mut [Nodes],
        time: f64,
    ) {
        let force = match self.law.input {
            Input::Distance => {
                let (a, b, tension) = self.look(sight, nodes, time);
                (b - a).normalize_or_zero() * tension
            }
            Input::Velocity => {
                let [v, w] = [0, 1].map(|k| sight.see(&self.ends[k], nodes).1);
                element::damper_force(v - w, &self.law)
            }
        };
        sight.pull(&self.ends[0], nodes, force);
        sight.pull(&self.ends[1], nodes, -force);
    }

    /// Energy of a spring, J; of a damper none.
    pub fn energy<'a, F: Fn(MatterId) -> &'a dyn Matter>(
        &self,
        sight: &Sight<'a, F>,
        nodes: &[Nodes],
        time: f64,
    ) -> f64 {
        if self.law.input == Input::Velocity {
            return 0.0;
        }
        let [a, b] = [0, 1].map(|k| sight.see(&self.ends[k], nodes).0);
        let (rest, law, bias) = self.driven(time);
        let stretch = a.distance(b) - rest;
        law.energy(stretch) + bias * stretch
    }

    /// Greatest slope along or across it: N/m of a spring, N·s/m of a damper.
    pub fn slope(&self) -> f64 {
        let most = self.extremes();
        match self.law.input {
            Input::Velocity => self.law.damping(),
            Input::Distance => {
                let law = most.law(&self.law);
                law.spring_slope(self.rest_length, most.length, most.tension)
            }
        }
    }

    /// True if what it does to a substep depends on nothing: neither length, speed nor time. At the end of an arm of a body it does: its pull turns that.
    pub fn is_even(&self) -> bool {
        let arm = |end: &End| matches!(end, End::On(Anchor { at: Local::Frame(_, arm), .. }) if *arm != DVec3::ZERO);
        self.law.is_plain() && self.drive.is_none() && !self.ends.iter().any(arm)
    }

    /// Its slope as it is now, within the part `near` of its length or speed to either side, and the step in which its ends do not move
    /// farther than that against each other (KB9).
    pub fn present<'a, F: Fn(MatterId) -> &'a dyn Matter>(
        &self,
        sight: &Sight<'a, F>,
        nodes: &[Nodes],
        time: f64,
        near: f64,
    ) -> Present {
        let [(a, v), (b, w)] = [0, 1].map(|k| sight.see(&self.ends[k], nodes));
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
                    slope: match self.law.is_plain() && self.drive.is_none() {
                        true => self.law.constant,
                        false => Law::present_slope(length, window, tensions),
                    },
                    pull: short.abs().max(long.abs()),
                    step: match self.is_even() {
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
                    step: f64::INFINITY,
                }
            }
        }
    }

    /// Why it can't be used, if it can't.
    pub fn objection(&self) -> Option<&'static str> {
        if self.law.plastic.is_some() {
            return Some("an element between different things does not yield");
        }
        if !(self.rest_length >= 0.0 && self.rest_length.is_finite()) {
            return Some("its rest length must be at least 0 and finite");
        }
        if let Some((signal, drive)) = &self.drive {
            if self.law.input == Input::Velocity {
                return Some("a driven damper would be discontinuous at rest (K38)");
            }
            let objection = || drive.objection(signal, self.law.constant);
            if let Some(objection) = signal.objection().or_else(objection) {
                return Some(objection);
            }
        }
        self.law.objection()
    }
}

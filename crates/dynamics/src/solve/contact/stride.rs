//! How sweeps go on: a conjugate gradient method with two sweeps, there and back, as its step.

use super::{Press, slab::Slab};
use glam::{DMat3, DVec3};

/// Shorter strides than this are none.
const TOO_FAR: f64 = 0.9;

/// Ways nearer to parallel than this (the square of the sine) are one.
const PARALLEL: f64 = 1e-9;

/// Longer strides than this are made of rounding errors.
const LONGEST: f64 = 1e4;

/// What the ways of a body's motion are reckoned with.
#[derive(Clone, Copy, Debug)]
pub struct Trail {
    pub mass: f64,
    pub inertia: DMat3,
    pub steps: [Step; 2],
    /// True if joints act on it, or on something it touches, directly or through others. It takes no strides, and counts as
    /// if it had no mass in what they are reckoned from.
    pub joined: bool,
}

impl Trail {
    /// What momentum a motion is, linear and angular.
    fn momentum(&self, motion: [DVec3; 2]) -> [DVec3; 2] {
        [motion[0] * self.mass, self.inertia * motion[1]]
    }
}

/// Products of motions over all bodies of a slab, each twice the kinetic energy that two have in common, J: of the way d of the
/// last two sweeps, the way w before, and the motion v at their start.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sums {
    dd: f64,
    dw: f64,
    ww: f64,
    vd: f64,
    vw: f64,
    vv: f64,
}

impl Sums {
    pub fn of(slab: &Slab) -> Self {
        let mut sums = Self::default();
        let product = |a: &[DVec3; 2], b: &[DVec3; 2]| a[0].dot(b[0]) + a[1].dot(b[1]);
        for (body, trail) in slab.bodies.iter().zip(&slab.trails) {
            let [one, two] = &trail.steps;
            let d = [body.velocity - one.from, body.spin - two.from];
            let w = [one.way, two.way];
            let v = [one.from, two.from];
            let [by_d, by_w, by_v] = [d, w, v].map(|motion| trail.momentum(motion));
            sums.dd += product(&d, &by_d);
            sums.dw += product(&d, &by_w);
            sums.ww += product(&w, &by_w);
            sums.vd += product(&d, &by_v);
            sums.vw += product(&w, &by_v);
            sums.vv += product(&v, &by_v);
        }
        sums
    }

    fn add(&mut self, other: &Self) {
        self.dd += other.dd;
        self.dw += other.dw;
        self.ww += other.ww;
        self.vd += other.vd;
        self.vw += other.vw;
        self.vv += other.vv;
    }
}

/// Where a motion or an impulse was before the last two sweeps, and the way it went there from where the sweeps before
/// had left it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Step {
    pub left: DVec3,
    pub from: DVec3,
    pub way: DVec3,
}

/// How far to go on: along the way of the last two sweeps, and along that before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stride {
    on: f64,
    again: f64,
}

/// What to do before the next two sweeps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next {
    /// Start from where the last ones ended.
    Stay,
    /// Start from farther on.
    On(Stride),
    /// Start from where those before the last ones ended: the last stride was none of use.
    Back,
}

/// What is known of the ways gone so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pace {
    /// What the way before does towards the goals, J; none if there is none.
    gain: Option<f64>,
    /// What all impulses do towards their goals at the start of the last two sweeps, J, but for a constant.
    towards: f64,
    /// What was to be made least, at the end of the two sweeps before, J.
    least: f64,
    /// What all impulses did towards their goals then, J.
    left: f64,
}

impl Step {
    #[inline(always)]
    pub fn go_on(&mut self, at: &mut DVec3, next: Next) {
        match next {
            Next::Stay => {
                self.way = DVec3::ZERO;
                self.left = *at;
            }
            Next::On(Stride { on, again }) => {
                self.left = *at;
                self.way = (*at - self.from) * on + self.way * again;
                *at = self.from + self.way;
            }
            Next::Back => {
                self.way = DVec3::ZERO;
                *at = self.left;
            }
        }
        self.from = *at;
    }
}

impl Press {
    /// What to do before the next two sweeps.
    ///
    /// With every point pushing, the impulses λ sought are where f = ½ λᵀAλ − gᵀλ is least, with A λ the velocities they
    /// make and g those that are wanted: the kinetic energy of the bodies less the work of the goals. Of all
    /// λ + a d + b w, with d the change of the last two sweeps and w the way gone before them, the least f is where
    /// a (d, d) + b (d, w) = −(v, d) + g d and a (d, w) + b (w, w) = −(v, w) + g w: sums over bodies of momentum times
    /// velocity.
    pub(super) fn next(&mut self) -> Next {
        if self.sweeps < 3 {
            return Next::Stay;
        }
        let (mut sums, mut gain) = (Sums::default(), self.far_tally.gain);
        for slab in &self.slabs[..self.active] {
            gain += slab.points().map(|points| points.tally.gain).sum::<f64>();
            sums.add(&slab.sums);
        }
        let Sums {
            dd,
            dw,
            ww,
            vd,
            vw,
            vv,
        } = sums;
        let before = self.pace;
        let least = 0.5 * (vv + dd) + vd - before.towards - gain;
        if before.gain.is_some() && least > before.least {
            // Other points push there than here, and the way here said nothing about the way on.
            self.pace = Pace {
                gain: None,
                towards: before.left,
                ..before
            };
            return Next::Back;
        }
        self.pace = Pace {
            gain: None,
            towards: before.towards + gain,
            least,
            left: before.towards + gain,
        };
        let falls = gain - vd;
        let mut stride = Stride {
            on: falls / dd,
            again: 0.0,
        };
        let determinant = dd * ww - dw * dw;
        if let (Some(way), true) = (before.gain, determinant > PARALLEL * dd * ww) {
            let along = way - vw;
            stride = Stride {
                on: (falls * ww - along * dw) / determinant,
                again: (along * dd - falls * dw) / determinant,
            };
        }
        // Sweeps alone never go too far; where it looks as if they did, they have put right what a stride did.
        let sound = (TOO_FAR..LONGEST).contains(&stride.on) && stride.again.abs() < LONGEST;
        if !sound {
            return Next::Stay;
        }
        let way = stride.on * gain + stride.again * before.gain.unwrap_or(0.0);
        self.pace.gain = Some(way);
        self.pace.towards = before.towards + way;
        Next::On(stride)
    }

    /// After the last sweep: undoes the last stride if it was none of use.
    pub fn finish(&mut self) {
        if self.sweeps < 3 || self.pace.gain.is_none() {
            return;
        }
        let mut least = -self.pace.towards - self.far_tally.gain;
        for slab in &self.slabs[..self.active] {
            least -= slab.points().map(|points| points.tally.gain).sum::<f64>();
            for (body, trail) in slab.bodies.iter().zip(&slab.trails) {
                let [momentum, turning] = trail.momentum([body.velocity, body.spin]);
                least += 0.5 * (body.velocity.dot(momentum) + body.spin.dot(turning));
            }
        }
        if least <= self.pace.least {
            return;
        }
        for slab in &mut self.slabs[..self.active] {
            slab.go_on(Next::Back);
        }
        let far = self.far.iter_mut().zip(&mut self.far_steps);
        for ((_, _, spot), step) in far.filter(|((_, _, spot), _)| !spot.joined) {
            step.go_on(&mut spot.impulse, Next::Back);
        }
    }
}

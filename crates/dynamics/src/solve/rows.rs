//! What a base joint measures and along what it pushes: one row for each degree of freedom it takes.
//!
//! Errors are side b minus side a; a positive impulse along a row pushes b along it, and a against it.

use super::{
    ends::Ends,
    mover::{Movers, When},
};
use crate::joint::{Coordinate, Kind};
use glam::DVec3;
use trocar_math::{angle, rotation};

/// A base joint made ready.
#[derive(Clone, Debug)]
pub struct Tied {
    pub a: Ends,
    pub b: Ends,
    pub kind: Kind,
    /// The rows' directions now: what impulses act along, or axes about which they turn.
    pub along: [DVec3; 3],
    /// Where on a the impulse acts, if not at a's own point.
    pub acts_at: Option<DVec3>,
    /// Where a curve's foot was.
    pub foot: f64,
}

/// Two directions that make a right-handed frame with `axis`.
fn across(axis: DVec3) -> (DVec3, DVec3) {
    let y = axis.any_orthonormal_vector();
    (y, axis.cross(y))
}

impl Tied {
    pub fn new(a: Ends, b: Ends, kind: Kind) -> Self {
        Self {
            a,
            b,
            kind,
            along: [DVec3::ZERO; 3],
            acts_at: None,
            foot: 0.0,
        }
    }

    /// Works out the rows' directions now, and where on a the impulse acts: on a rail or a plane it is the foot of b, or the
    /// two impulses would turn what they act on.
    pub fn aim_rows(&mut self, movers: &Movers) {
        let (along, acts_at, foot) = self.directions(movers, When::Now);
        (self.along, self.acts_at, self.foot) = (along, acts_at, foot);
    }

    /// The rows' directions, where on a they act if not at a's own point, and where a curve's foot is.
    pub fn directions(&self, movers: &Movers, when: When) -> ([DVec3; 3], Option<DVec3>, f64) {
        if when == When::Middle {
            return self.middle(movers);
        }
        let place = |e: &Ends| e.place(movers, when);
        let turned = |e: &Ends, v: DVec3| movers[e.frame()].turned(v, when);
        let one = |d: DVec3| [d, DVec3::ZERO, DVec3::ZERO];
        let two = |y: DVec3, z: DVec3| [y, z, DVec3::ZERO];
        match &self.kind {
            Kind::Point | Kind::Velocity | Kind::Orientation(_) | Kind::Spin => {
                (DVec3::AXES, None, self.foot)
            }
            Kind::Line(axis) => {
                let (y, z) = across(*axis);
                let axis = turned(&self.a, *axis);
                let (a, b) = (place(&self.a), place(&self.b));
                let foot = a + axis * axis.dot(b - a);
                let rows = two(turned(&self.a, y), turned(&self.a, z));
                (rows, Some(foot), self.foot)
            }
            Kind::Plane(normal) => {
                let n = turned(&self.a, *normal);
                let (a, b) = (place(&self.a), place(&self.b));
                (one(n), Some(b - n * n.dot(b - a)), self.foot)
            }
            Kind::Curve(curve, pose) => {
                let frame = movers[self.a.frame()].pose(when);
                let foot = curve.foot(pose.local(frame.local(place(&self.b))), self.foot);
                let (y, z) = match when {
                    When::Now => across(frame.rotation * (pose.rotation * foot.direction)),
                    // Seen in the rows of the start: they turn little, and any others might jump.
                    _ => (self.along[0], self.along[1]),
                };
                let at = frame.point(pose.point(foot.point));
                (two(y, z), Some(at), foot.parameter)
            }
            Kind::Sheet(sheet, pose) => {
                let frame = movers[self.a.frame()].pose(when);
                let foot = sheet.foot(pose.local(frame.local(place(&self.b))));
                let n = frame.rotation * (pose.rotation * foot.direction);
                let at = frame.point(pose.point(foot.point));
                (one(n), Some(at), self.foot)
            }
            Kind::Distance(_) => {
                // Two anchors on one point have no direction; any one leaves it.
                let apart = place(&self.b) - place(&self.a);
                (one(apart.normalize_or(DVec3::X)), None, self.foot)
            }
            Kind::Axis(x, _) => {
                let (y, z) = across(*x);
                (two(turned(&self.a, y), turned(&self.a, z)), None, self.foot)
            }
            Kind::Angle(x, y, _) => {
                let (x, y) = (turned(&self.a, *x), turned(&self.b, *y));
                let z = x.cross(y).try_normalize();
                let z = z.unwrap_or_else(|| x.any_orthonormal_vector());
                (one(z), None, self.foot)
            }
        }
    }

    /// The mean of what it is now and what it will be.
    fn middle(&self, movers: &Movers) -> ([DVec3; 3], Option<DVec3>, f64) {
        let (along, at, foot) = self.directions(movers, When::Ahead);
        let along = std::array::from_fn(|k| (self.along[k] + along[k]) * 0.5);
        (along, between(self.acts_at, at), foot)
    }

    /// By how much each row will be wrong at the end of the substep: m or rad.
    #[inline]
    pub fn error(&self, movers: &Movers) -> [f64; 3] {
        match &self.kind {
            Kind::Point => (self.b.ahead(movers) - self.a.ahead(movers)).to_array(),
            Kind::Line(axis) => {
                let q = movers[self.a.frame()].ahead_orientation;
                let apart = q.conjugate() * (self.b.ahead(movers) - self.a.ahead(movers));
                let (y, z) = across(*axis);
                [y.dot(apart), z.dot(apart), 0.0]
            }
            Kind::Plane(normal) => {
                let n = movers[self.a.frame()].ahead_orientation * *normal;
                let apart = self.b.ahead(movers) - self.a.ahead(movers);
                [n.dot(apart), 0.0, 0.0]
            }
            Kind::Curve(curve, pose) => {
                let frame = &movers[self.a.frame()];
                let b = self.b.ahead(movers);
                let local = frame.ahead_orientation.conjugate() * (b - frame.ahead);
                let foot = curve.foot(pose.local(local), self.foot);
                let off = b - frame.point_ahead(pose.point(foot.point));
                // Seen in the rows of the start: they turn little, and any others might jump.
                [self.along[0].dot(off), self.along[1].dot(off), 0.0]
            }
            Kind::Sheet(sheet, pose) => {
                let frame = &movers[self.a.frame()];
                let b = self.b.ahead(movers);
                let local = pose.local(frame.ahead_orientation.conjugate() * (b - frame.ahead));
                let foot = sheet.foot(local);
                [foot.direction.dot(local - foot.point), 0.0, 0.0]
            }
            Kind::Distance(length) => {
                let apart = self.b.ahead(movers) - self.a.ahead(movers);
                [apart.length() - length, 0.0, 0.0]
            }
            Kind::Orientation(rest) => {
                let a = movers[self.a.frame()].ahead_orientation * *rest;
                let b = movers[self.b.frame()].ahead_orientation;
                rotation::to_scaled_axis(b * a.conjugate()).to_array()
            }
            Kind::Axis(x1, x2) => {
                let q = movers[self.a.frame()].ahead_orientation;
                let other = q.conjugate() * (movers[self.b.frame()].ahead_orientation * *x2);
                let (y, z) = across(*x1);
                let turn = x1.cross(other);
                // If they point against each other any axis across will do.
                let turn = turn.normalize_or(if x1.dot(other) < 0.0 { y } else { DVec3::ZERO })
                    * angle(*x1, other);
                [y.dot(turn), z.dot(turn), 0.0]
            }
            Kind::Angle(x, y, rest) => {
                let x = movers[self.a.frame()].ahead_orientation * *x;
                let y = movers[self.b.frame()].ahead_orientation * *y;
                [angle(x, y) - rest, 0.0, 0.0]
            }
            Kind::Velocity | Kind::Spin => [0.0; 3],
        }
    }
}

fn between(now: Option<DVec3>, ahead: Option<DVec3>) -> Option<DVec3> {
    Some((now? + ahead?) * 0.5)
}

/// A coordinate made ready.
#[derive(Clone, Copy, Debug)]
pub struct Dial {
    pub a: Ends,
    pub b: Ends,
    pub coordinate: Coordinate,
    /// Along or about what it grows, now.
    pub along: DVec3,
    /// Where on a its force acts, if not at a's own point.
    pub acts_at: Option<DVec3>,
}

impl Dial {
    /// Works out along what it grows now, and where on a its force acts.
    pub fn aim_row(&mut self, movers: &Movers) {
        (self.along, self.acts_at) = self.direction(movers, When::Now);
    }

    pub fn direction(&self, movers: &Movers, when: When) -> (DVec3, Option<DVec3>) {
        if when == When::Middle {
            let (along, at) = self.direction(movers, When::Ahead);
            return ((self.along + along) * 0.5, between(self.acts_at, at));
        }
        let place = |e: &Ends| e.place(movers, when);
        let turned = |e: &Ends, v: DVec3| movers[e.frame()].turned(v, when);
        match self.coordinate {
            Coordinate::Turn { axis, .. } => (turned(&self.a, axis[0]), None),
            Coordinate::Twist { axis, .. } => {
                let axes = [turned(&self.a, axis[0]), turned(&self.b, axis[1])];
                (twist_axis(axes), None)
            }
            Coordinate::Slide(axis) => (turned(&self.a, axis), Some(place(&self.b))),
            Coordinate::Distance => {
                let apart = place(&self.b) - place(&self.a);
                (apart.normalize_or(DVec3::X), None)
            }
            Coordinate::Swing(x, y) => {
                let (x, y) = (turned(&self.a, x), turned(&self.b, y));
                let z = x.cross(y).try_normalize();
                (z.unwrap_or_else(|| x.any_orthonormal_vector()), None)
            }
        }
    }

    pub fn is_rotational(&self) -> bool {
        self.coordinate.is_angle()
    }

    /// Its value. A turn is counted on from `near`.
    pub fn value(&self, movers: &Movers, when: When, near: f64) -> f64 {
        let turned = |e: &Ends, v: DVec3| movers[e.frame()].turned(v, when);
        let place = |e: &Ends| e.place(movers, when);
        match self.coordinate {
            Coordinate::Turn { axis, zero } => {
                let to = turned(&self.b, zero[1]);
                angle_about(turned(&self.a, axis[0]), turned(&self.a, zero[0]), to, near)
            }
            Coordinate::Twist { axis, zero } => {
                let axes = [turned(&self.a, axis[0]), turned(&self.b, axis[1])];
                let to = turned(&self.b, zero[1]);
                let to = to - twist_axis(axes) * axes[0].dot(to);
                angle_about(axes[0], turned(&self.a, zero[0]), to, near)
            }
            Coordinate::Slide(axis) => turned(&self.a, axis).dot(place(&self.b) - place(&self.a)),
            Coordinate::Distance => place(&self.b).distance(place(&self.a)),
            Coordinate::Swing(x, y) => angle(turned(&self.a, x), turned(&self.b, y)),
        }
    }
}

/// The angle about `axis` from one direction across it to another, of all that are the same the nearest to `near`.
fn angle_about(axis: DVec3, from: DVec3, to: DVec3, near: f64) -> f64 {
    let value = trocar_math::real::atan2(axis.dot(from.cross(to)), from.dot(to));
    let turn = std::f64::consts::TAU;
    value + turn * trocar_math::real::floor((near - value) / turn + 0.5)
}

/// What a twist grows along, for each rad about it: the shortest swing from the one axis to the other leaves it as it is. Where they are opposite there are
/// many such swings, and the first axis has to do.
fn twist_axis([a, b]: [DVec3; 2]) -> DVec3 {
    let apart = 1.0 + a.dot(b);
    if apart > 1e-6 { (a + b) / apart } else { a }
}

//! Joints: what two pieces of matter may still do against each other.
//!
//! Six base joints (B30–B35) each take one, two or three degrees of freedom. Every mechanical joint is a few of them between
//! the same two sides; [`Joint::with`] composes new ones (B52). What a joint leaves free can be measured, limited and driven:
//! see [`Control`].

mod control;
mod guide;
mod hold;

pub use control::{Control, Coordinate, Drive, Memory, Target};
pub use guide::{Curve, Foot, Sheet};

use crate::{Anchor, Local, solve::larger};
use glam::{DQuat, DVec3};
use serde::Serialize;
use trocar_math::Pose;

/// One side of a joint: its point, and its axes in the frame of the body it is on. The x axis is the joint's own: what a
/// hinge turns about, what a slider slides along.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Side {
    /// The joint's point.
    pub anchor: Anchor,
    /// The joint's axes, in the frame of the anchor's node.
    pub axes: DQuat,
}

impl Side {
    /// A point without axes of its own: those of its body.
    pub fn at(anchor: Anchor) -> Self {
        Self {
            anchor,
            axes: DQuat::IDENTITY,
        }
    }

    fn x(&self) -> DVec3 {
        self.axes * DVec3::X
    }

    /// The point `along` the joint's axis, m; only for a side that has axes.
    fn shifted(&self, along: DVec3) -> Anchor {
        match self.anchor.at {
            Local::Frame(node, offset) => {
                Anchor::frame(self.anchor.matter, node, offset + self.axes * along)
            }
            _ => self.anchor,
        }
    }
}

/// What a base joint takes away: of places (B21), or of velocities alone (B22). Axes of side a are fixed to a, those of side b to b; all of unit length.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// All three translations in a point (B30: T3).
    Point,
    /// Two translations: b stays on a line through a (B31: T2, B40).
    Line(DVec3),
    /// One translation: b stays on a plane through a (B32: T1, B42).
    Plane(DVec3),
    /// b stays on a curve that a carries (B41); the pose puts the curve into a's frame.
    Curve(Box<Curve>, Pose),
    /// b stays on a surface that a carries (B43).
    Sheet(Box<Sheet>, Pose),
    /// The two points stay at this distance, m, > 0.
    Distance(f64),
    /// All three rotations: b's orientation is a's, then this one (B33: R3).
    Orientation(DQuat),
    /// Two rotations: an axis of a and one of b stay the same (B34: R2).
    Axis(DVec3, DVec3),
    /// One rotation: an axis of a and one of b keep this angle, rad, strictly between 0 and π (B35: R1).
    Angle(DVec3, DVec3, f64),
    /// b's point moves as fast as a's; says nothing of where they are (B54).
    Velocity,
    /// b turns as fast as a; says nothing of how they stand (B55).
    Spin,
}

impl Kind {
    /// How many degrees of freedom it takes.
    pub fn rows(&self) -> usize {
        match self {
            Self::Point | Self::Orientation(_) | Self::Velocity | Self::Spin => 3,
            Self::Line(_) | Self::Curve(..) | Self::Axis(..) => 2,
            Self::Plane(_) | Self::Sheet(..) | Self::Distance(_) | Self::Angle(..) => 1,
        }
    }

    /// True if it holds only velocities.
    pub fn is_of_velocity(&self) -> bool {
        matches!(self, Self::Velocity | Self::Spin)
    }

    /// True if it is about turning, not about points.
    pub fn is_rotational(&self) -> bool {
        matches!(
            self,
            Self::Orientation(_) | Self::Axis(..) | Self::Angle(..) | Self::Spin
        )
    }

    /// True if side a must have an orientation.
    pub fn needs_axes(&self) -> bool {
        !matches!(self, Self::Point | Self::Distance(_) | Self::Velocity)
    }
}

/// A base joint between two points.
#[derive(Clone, Debug, PartialEq)]
pub struct Base {
    /// One side; it carries lines, planes, curves.
    pub a: Anchor,
    /// The other side.
    pub b: Anchor,
    /// What is taken away.
    pub kind: Kind,
}

/// A joint of one or more base joints between the same two sides, with controls of what it leaves free.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// Its base joints.
    pub bases: Vec<Base>,
    /// What limits, drives or springs it.
    pub controls: Vec<Control>,
    /// Greatest force of a base joint, N (N·m for one about turning); infinite if it never gives way. What would need more
    /// misses its tolerance and is repaired later (B56, B95).
    pub strength: f64,
    /// What the next substep starts from.
    pub memory: Memory,
    /// True while all that it joins sleeps: it is then as if it were not there, but it remembers.
    pub asleep: bool,
    /// True while it has let go: it is then as if it were not there. Whoever opens or closes it has the plan made anew.
    pub open: bool,
    /// How b's node stood in the frame of a's when it last took hold; none if it holds as it was written.
    pub caught: Option<Pose>,
}

impl Joint {
    /// A joint that takes nothing away yet.
    pub fn free() -> Self {
        Self {
            bases: Vec::new(),
            controls: Vec::new(),
            strength: f64::INFINITY,
            memory: Memory::default(),
            asleep: false,
            open: false,
            caught: None,
        }
    }

    /// The same joint with one more base joint (B52).
    pub fn with(mut self, a: Anchor, b: Anchor, kind: Kind) -> Self {
        self.bases.push(Base { a, b, kind });
        self
    }

    /// The same joint with one more control.
    pub fn controlled(mut self, control: Control) -> Self {
        self.controls.push(control);
        self
    }

    /// The same joint, giving way beyond `strength` N. A ball joint becomes a follower by it: it draws b to a, and other joints and contacts win
    /// against it (B56).
    pub fn giving_way(mut self, strength: f64) -> Self {
        self.strength = strength;
        self
    }

    /// Ball joint (B39); the only one, with [`distance`](Self::distance), for a point of a tissue.
    pub fn ball(a: Anchor, b: Anchor) -> Self {
        Self::free().with(a, b, Kind::Point)
    }

    /// A rod of `length` m with a ball joint at each end.
    pub fn distance(a: Anchor, b: Anchor, length: f64) -> Self {
        Self::free().with(a, b, Kind::Distance(length))
    }

    /// Ball on a straight rail along a's x axis (B40).
    pub fn ball_on_rail(a: Side, b: Anchor) -> Self {
        Self::free().with(a.anchor, b, Kind::Line(a.x()))
    }

    /// Ball on a plane across a's x axis (B42).
    pub fn ball_on_plane(a: Side, b: Anchor) -> Self {
        Self::free().with(a.anchor, b, Kind::Plane(a.x()))
    }

    /// Ball on a curve in a's axes (B41).
    pub fn ball_on_curve(a: Side, b: Anchor, curve: Curve) -> Self {
        let pose = guide_pose(&a);
        Self::free().with(a.anchor, b, Kind::Curve(Box::new(curve), pose))
    }

    /// Ball on a surface in a's axes (B43).
    pub fn ball_on_sheet(a: Side, b: Anchor, sheet: Sheet) -> Self {
        let pose = guide_pose(&a);
        Self::free().with(a.anchor, b, Kind::Sheet(Box::new(sheet), pose))
    }

    /// Hinge about the x axes, of two points on the axis `lever` m apart (B44, variant B).
    pub fn hinge(a: Side, b: Side, lever: f64) -> Self {
        let along = DVec3::X * lever;
        Self::ball(a.anchor, b.anchor).with(a.shifted(along), b.shifted(along), Kind::Line(a.x()))
    }

    /// Hinge about the x axes, of a point and a common axis (B44, variant A).
    pub fn hinge_by_axis(a: Side, b: Side) -> Self {
        Self::ball(a.anchor, b.anchor).with(a.anchor, b.anchor, Kind::Axis(a.x(), b.x()))
    }

    /// Slider along a's x axis (B47).
    pub fn slider(a: Side, b: Side) -> Self {
        Self::ball_on_rail(a, b.anchor).with(a.anchor, b.anchor, upright(&a, &b))
    }

    /// Slider along a curve in a's axes; it does not turn with the curve (B48).
    pub fn slider_on_curve(a: Side, b: Side, curve: Curve) -> Self {
        Self::ball_on_curve(a, b.anchor, curve).with(a.anchor, b.anchor, upright(&a, &b))
    }

    /// Universal joint: a's x axis and b's y axis stay across each other (B50).
    pub fn universal(a: Side, b: Side) -> Self {
        let right = std::f64::consts::FRAC_PI_2;
        let cross = Kind::Angle(a.x(), b.axes * DVec3::Y, right);
        Self::ball(a.anchor, b.anchor).with(a.anchor, b.anchor, cross)
    }

    /// Both sides move as one (B51).
    pub fn fixed(a: Side, b: Side) -> Self {
        Self::ball(a.anchor, b.anchor).with(a.anchor, b.anchor, upright(&a, &b))
    }

    /// The same of three points `lever` m apart (B51, second variant).
    pub fn fixed_by_points(a: Side, b: Side, lever: f64) -> Self {
        let (x, y) = (DVec3::X * lever, DVec3::Y * lever);
        Self::hinge(a, b, lever).with(
            a.shifted(y),
            b.shifted(y),
            Kind::Plane((a.axes * x.cross(y)).normalize_or(DVec3::Z)),
        )
    }

    /// Both anchors of every base joint and control.
    pub fn anchors(&self) -> impl Iterator<Item = [Anchor; 2]> + '_ {
        let bases = self.bases.iter().map(|b| [b.a, b.b]);
        bases.chain(self.controls.iter().map(|c| [c.a, c.b]))
    }

    /// True if what it remembers may be what it is to remember: as much as it has rows, and all of it numbers.
    pub fn can_remember(&self, memory: &Memory, most: f64) -> bool {
        let fresh = *memory == Memory::default();
        let counts = memory.impulses.len() == self.rows() + 2 * self.controls.len()
            && memory.load.len() == memory.impulses.len()
            && memory.feet.len() == self.bases.len()
            && memory.controls.len() == self.controls.len();
        let number = |x: &f64| x.is_nan() || x.abs() < 1e9;
        fresh
            || (counts
                && memory.impulses.iter().all(|x| x.abs() <= most)
                && memory.load.iter().all(|x| x.abs() <= 10.0 * most)
                && memory.feet.iter().all(number)
                && memory
                    .controls
                    .iter()
                    .all(|c| c[0].abs() < 1e9 && c[1].abs() < 1e12 && number(&c[2]))
                && (0.0..=1.0).contains(&memory.h))
    }

    /// Makes room for what it has to remember.
    pub(crate) fn remember(&mut self) {
        let rows = self.rows() + 2 * self.controls.len();
        let memory = &mut self.memory;
        memory.impulses.resize(rows, 0.0);
        memory.load.resize(rows, 0.0);
        memory.feet.resize(self.bases.len(), f64::NAN);
        // A controller that has seen nothing yet knows no speed.
        memory
            .controls
            .resize(self.controls.len(), [0.0, 0.0, f64::NAN]);
    }

    /// True if something of it does work: it has a drive, or it makes velocities follow.
    pub fn is_driven(&self) -> bool {
        self.controls.iter().any(|c| c.drive.is_some())
            || self.bases.iter().any(|b| b.kind.is_of_velocity())
    }

    /// True if one of its stops pushed in the last substep.
    pub fn is_at_a_stop(&self) -> bool {
        let of_controls = self.memory.impulses.get(self.rows()..).unwrap_or_default();
        of_controls.chunks(2).any(|c| c[0] != 0.0)
    }

    /// What it bears, as a mean over its last substep; nothing if it has had none yet.
    pub fn force(&self) -> JointForce {
        let mut force = JointForce::default();
        let h = self.memory.h;
        if h <= 0.0 || self.open {
            return force;
        }
        let mut rows = self.memory.load.iter();
        for base in &self.bases {
            let square: f64 = rows.by_ref().take(base.kind.rows()).map(|x| x * x).sum();
            let most = if base.kind.is_rotational() {
                &mut force.turned
            } else {
                &mut force.held
            };
            *most = larger(*most, square.sqrt() / h);
        }
        for _ in &self.controls {
            force.stopped += rows.next().unwrap_or(&0.0) / h;
            force.driven += rows.next().unwrap_or(&0.0) / h;
        }
        force
    }

    /// Number of degrees of freedom its base joints take.
    pub fn rows(&self) -> usize {
        self.bases.iter().map(|b| b.kind.rows()).sum()
    }
}

/// What a joint bears.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct JointForce {
    /// Greatest force by which one of its base joints holds, N.
    pub held: f64,
    /// Greatest moment by which one of its base joints holds, N·m.
    pub turned: f64,
    /// What drives it: N along a line, N·m about an axis.
    pub driven: f64,
    /// What its stop holds, likewise.
    pub stopped: f64,
}

/// Where a guide lies in the frame of the node that carries it.
fn guide_pose(side: &Side) -> Pose {
    match side.anchor.at {
        Local::Frame(_, offset) => Pose::new(offset, side.axes),
        _ => Pose::new(DVec3::ZERO, side.axes),
    }
}

/// b's orientation in a's when the axes of both sides agree.
fn upright(a: &Side, b: &Side) -> Kind {
    Kind::Orientation((a.axes * b.axes.conjugate()).normalize())
}

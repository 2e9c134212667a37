//! What may touch a surface, and how it moves.

use crate::{
    closest::SegmentPair,
    grid::Grid,
    rigid::Piece,
    sweep::{self, Impact, Moving},
    tree::Reach,
};
use glam::DVec3;
use std::sync::Arc;
use trocar_math::{Bounds, Pose};

/// A segment with a hull around it (K89, K90).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capsule {
    /// One end of the axis, m.
    pub a: DVec3,
    /// The other end, m.
    pub b: DVec3,
    /// Radius of the hull, m.
    pub radius: f64,
}

impl Capsule {
    /// The box around it.
    pub fn bounds(&self) -> Bounds {
        Bounds::of([self.a, self.b]).grown(self.radius)
    }

    /// A point of its axis, 0 ≤ `along` ≤ 1.
    pub fn axis(&self, along: f64) -> DVec3 {
        self.a.lerp(self.b, along)
    }
}

/// What may touch a surface.
#[derive(Clone, Debug)]
pub enum Hull {
    /// A capsule, or a ball.
    Capsule(Capsule),
    /// All that lies below a plane: a point of it (m), and the unit normal out of it.
    Below(DVec3, DVec3),
    /// Something else that is convex.
    Convex(Piece),
    /// A body of any form with its distance grid, and where it is.
    Grid(Arc<Grid>, Pose),
}

/// Something that may touch a surface, and how far it and the surface may move towards each other before the question is
/// asked again, m.
#[derive(Clone, Debug)]
pub struct Probe {
    /// What it is.
    pub hull: Hull,
    /// m.
    pub margin: f64,
    /// How it moves until then, if that is known.
    pub ahead: Option<Ahead>,
}

/// The motion of a probe until the question is asked again. With it, what lies farther away than `watch` is touched only
/// if the two meet on their way, and where they meet; without it, everything within the margin is, as if the two went
/// straight at each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ahead {
    /// Where it goes.
    pub way: Way,
    /// What is nearer than this to its hull is touched in any case, m: tissue does not go where it seems to.
    pub watch: f64,
}

/// Where a probe goes until the question is asked again. One of another kind than its hull says nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Way {
    /// How far the ends of a capsule's axis go, m.
    Axis([DVec3; 2]),
    /// The pose with which a convex piece, or a body with a grid, ends.
    Pose(Pose),
}

impl Ahead {
    /// Where the capsule first meets a triangle whose corners go `ways` (m), if their nearest points of now are those of `first`. Not certain counts: to
    /// touch too much costs little.
    pub(super) fn meets(
        &self,
        capsule: &Capsule,
        first: &SegmentPair,
        corners: [DVec3; 3],
        ways: [DVec3; 3],
    ) -> Option<Impact> {
        let Way::Axis(way) = self.way else {
            return None;
        };
        let axis = [(capsule.a, way[0]), (capsule.b, way[1])];
        let axis = axis.map(|(from, way)| Moving { from, way });
        sweep::capsule_triangle_from(
            axis,
            moving(corners, ways),
            capsule.radius,
            sweep::TOLERANCE,
            Some(first),
        )
    }
}

/// A triangle whose corners go `ways` (m).
pub(super) fn moving(corners: [DVec3; 3], ways: [DVec3; 3]) -> [Moving; 3] {
    [0, 1, 2].map(|k| Moving {
        from: corners[k],
        way: ways[k],
    })
}

impl Probe {
    /// False if something of it is no finite number: where it is, how large it is, where it goes or how far it is watched. What it touches nobody can tell.
    pub fn is_placed(&self) -> bool {
        let at = |pose: &Pose| pose.position.is_finite() && pose.rotation.is_finite();
        let there = match &self.hull {
            Hull::Capsule(Capsule { a, b, radius }) => {
                a.is_finite() && b.is_finite() && radius.is_finite()
            }
            Hull::Below(point, normal) => point.is_finite() && normal.is_finite(),
            Hull::Convex(piece) => at(piece.pose()),
            Hull::Grid(_, pose) => at(pose),
        };
        let goes = self.ahead.is_none_or(|ahead| {
            let way = match ahead.way {
                Way::Axis(way) => way.iter().all(|w| w.is_finite()),
                Way::Pose(end) => at(&end),
            };
            way && !ahead.watch.is_nan()
        });
        there && goes && !self.margin.is_nan()
    }

    /// The box around all it may touch.
    pub fn bounds(&self) -> Bounds {
        match &self.hull {
            Hull::Capsule(capsule) => capsule.bounds().grown(self.margin),
            Hull::Below(..) => Bounds {
                low: DVec3::NEG_INFINITY,
                high: DVec3::INFINITY,
            },
            Hull::Convex(piece) => piece.bounds().grown(self.margin),
            Hull::Grid(grid, pose) => grid.bounds_at(pose).grown(self.margin),
        }
    }
}

/// A probe that looks for what it may touch.
pub(super) struct Reaching<'a> {
    probe: &'a Probe,
    own: Bounds,
    /// How much farther than its margin it looks, m.
    room: f64,
    /// Of a capsule: one over the way from one end of its axis to the other, 1/m.
    inverse: DVec3,
}

impl<'a> Reaching<'a> {
    /// One that looks `room` (m) farther than its margin.
    pub fn new(probe: &'a Probe, room: f64) -> Self {
        Self {
            probe,
            room,
            // What is no number may reach anything.
            own: probe.bounds().grown(room).certain(),
            inverse: match &probe.hull {
                Hull::Capsule(capsule) => (capsule.b - capsule.a).recip(),
                _ => DVec3::ZERO,
            },
        }
    }

    /// True if it may touch something in a box.
    pub fn may_touch(&self, other: &Bounds) -> bool {
        self.own.overlaps(other) && self.reaches(other)
    }
}

impl Reach for Reaching<'_> {
    fn bounds(&self) -> Bounds {
        self.own
    }

    #[inline]
    fn reaches(&self, other: &Bounds) -> bool {
        match &self.probe.hull {
            Hull::Below(point, normal) => {
                let lowest = DVec3::select(normal.cmpge(DVec3::ZERO), other.low, other.high);
                let height = (lowest - *point).dot(*normal);
                height.is_nan() || height <= self.probe.margin + self.room
            }
            // The box around a shaft that lies across the axes is nearly empty. So the axis is cut to what is between the sides of the other box,
            // grown by what it may reach and a hair for rounding, on one axis after the other: nothing may be left.
            Hull::Capsule(capsule) => {
                let reach = capsule.radius + self.probe.margin + self.room;
                let grown = other.grown(reach * (1.0 + 1e-9) + 1e-12);
                let one = (grown.low - capsule.a) * self.inverse;
                let two = (grown.high - capsule.a) * self.inverse;
                let (mut from, mut to) = (0.0_f64, 1.0_f64);
                for k in 0..3 {
                    // An axis along which it does not go gives infinite numbers, or at the very side none, which count for nothing here.
                    from = from.max(one[k].min(two[k]));
                    to = to.min(one[k].max(two[k]));
                }
                from <= to
            }
            Hull::Convex(_) | Hull::Grid(..) => true,
        }
    }
}

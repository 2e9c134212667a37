//! What ties or touches two anchors.

use crate::{Anchor, MatterId};
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// What a tie keeps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum TieKind {
    /// Both anchors at the same point (B30: T3).
    Point,
    /// Both anchors at this distance, m, > 0.
    Distance(f64),
}

/// Keeps two anchors together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tie {
    /// One end.
    pub a: Anchor,
    /// The other end.
    pub b: Anchor,
    /// What is kept.
    pub kind: TieKind,
    /// Impulse of the last substep on `b`, N·s; the next one starts from it.
    pub impulse: DVec3,
    /// How long that substep was, s; 0 if there was none.
    pub h: f64,
}

impl Tie {
    /// Both anchors at the same point.
    pub fn point(a: Anchor, b: Anchor) -> Self {
        Self {
            a,
            b,
            kind: TieKind::Point,
            impulse: DVec3::ZERO,
            h: 0.0,
        }
    }

    /// Both anchors at a distance of `length` m.
    pub fn distance(a: Anchor, b: Anchor, length: f64) -> Self {
        Self {
            kind: TieKind::Distance(length),
            ..Self::point(a, b)
        }
    }
}

/// Keeps a point of tissue on the outside of a hull or a body (K108), with Coulomb friction (B88, B89).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// On the hull's axis, or any other point fixed to it. With friction it must be where `b` is now: a pair of impulses
    /// that act at two places would turn what they push.
    pub a: Anchor,
    /// On the tissue.
    pub b: Anchor,
    /// From the hull to the tissue, unit length.
    pub normal: DVec3,
    /// How far `b` has to stay from `a` along the normal, m: the hull's radius if `a` is on its axis.
    pub distance: f64,
    /// Coefficient of friction: the static one if the point does not slide at the start of the substep, else the dynamic one.
    pub friction: f64,
    /// Greatest speed at which an overlap is undone, m/s.
    pub recovery: f64,
    /// How far the surface yields, m/N. What lies between two bodies can't be outside both; without this nothing would bound
    /// what they push it with.
    pub give: f64,
    /// Impulse on `b` along the normal, N·s, ≥ 0: what a solve starts from, and what it found.
    pub impulse: f64,
    /// Impulse of friction on `b`, across the normal, N·s, likewise.
    pub rub: DVec3,
}

impl Contact {
    /// The whole impulse on `b`, N·s.
    pub fn total(&self) -> DVec3 {
        self.normal * self.impulse + self.rub
    }
}

/// A point where two rigid bodies touch or are about to: they may part, but not come nearer, neither in place nor, at a blow, in speed (B23, B24).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyContact {
    /// The bodies: matter and node.
    pub a: (MatterId, u32),
    /// The other one.
    pub b: (MatterId, u32),
    /// The point in the frame of each, m.
    pub at: [DVec3; 2],
    /// The point in the frame of the first body, whatever stands for it, m.
    pub seat: DVec3,
    /// From the centre of each to the point, along the world's axes, m. A body rolls on and leaves the point where it is.
    pub arms: [DVec3; 2],
    /// From a to b, unit length.
    pub normal: DVec3,
    /// How far they are apart along the normal, m; negative if they overlap.
    pub gap: f64,
    /// Coefficient of friction: the static one if the point does not slide at the start of the substep, else the dynamic one.
    pub friction: f64,
    /// Part of the speed of a blow that it springs back with, 0 to 1.
    pub restitution: f64,
    /// Greatest speed at which an overlap is undone, m/s.
    pub recovery: f64,
    /// Speed along the normal that velocities are corrected to, m/s: 0 but for a blow.
    pub rebound: f64,
    /// Impulse on b, N·s: what a solve starts from, and what it found.
    pub impulse: DVec3,
    /// What correcting velocities adds to it, likewise.
    pub relief: DVec3,
    /// Both together, N·s.
    pub total: DVec3,
    /// Impulse on b of the blow that began the substep, N·s; none if it was no blow. In `total` it is not.
    pub blow: DVec3,
}

/// Draws a point of matter to a place in the world: the mouse that pulls (K149, B7, B57).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pull {
    /// What is pulled.
    pub anchor: Anchor,
    /// Where to, m.
    pub target: DVec3,
    /// Greatest force, N, > 0.
    pub force: f64,
}

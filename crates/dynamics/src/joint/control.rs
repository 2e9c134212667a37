//! What a joint leaves free, measured, limited and driven (B25, B45, B46, B49, B53).

use crate::Anchor;
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// A number that says how two sides stand to each other. Axes of unit length, each in the frame of its own side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Coordinate {
    /// How far b has turned about an axis, rad; it goes on counting after a full turn.
    Turn {
        /// What it turns about, on a and on b.
        axis: [DVec3; 2],
        /// Where zero is: directions across the axis, on a and on b.
        zero: [DVec3; 2],
    },
    /// The same between axes that need not be the same: what is left once that of b is swung onto that of a the shortest way.
    Twist {
        /// What it turns about, on a and on b.
        axis: [DVec3; 2],
        /// Where zero is: directions across the axis, on a and on b.
        zero: [DVec3; 2],
    },
    /// How far b's point is from a's along an axis of a, m.
    Slide(DVec3),
    /// How far the points are from each other, m.
    Distance,
    /// Angle between an axis of a and one of b, rad, from 0 to π.
    Swing(DVec3, DVec3),
}

impl Coordinate {
    /// True if it is measured in rad and driven by N·m; else m and N.
    pub fn is_angle(&self) -> bool {
        matches!(
            self,
            Self::Turn { .. } | Self::Twist { .. } | Self::Swing(..)
        )
    }
}

/// What a controller is to reach.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// A place: rad or m.
    Place(f64),
    /// A speed: rad/s or m/s.
    Speed(f64),
}

/// What drives a coordinate. Forces in N along a line, N·m about an axis; they act on both sides, opposite.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Drive {
    /// A constant force (B45, B49).
    Force(f64),
    /// Holds a speed with at most so much force. With speed 0 this is dry friction in the joint.
    Speed {
        /// rad/s or m/s.
        target: f64,
        /// Greatest force, ≥ 0.
        most: f64,
    },
    /// Servo: a damped spring to a place with at most so much force (B53).
    Servo {
        /// rad or m.
        target: f64,
        /// N/m or N·m/rad, > 0.
        stiffness: f64,
        /// N·s/m or N·m·s/rad, ≥ 0.
        damping: f64,
        /// Greatest force, ≥ 0.
        most: f64,
    },
    /// A damped spring (B53). Solved with the joints, so any stiffness is stable at any step.
    Spring {
        /// Where it rests, rad or m.
        rest: f64,
        /// N/m or N·m/rad, ≥ 0.
        stiffness: f64,
        /// N·s/m or N·m·s/rad, ≥ 0.
        damping: f64,
    },
    /// A controller with proportional, integral and differential part, once in a substep (B46).
    Pid {
        /// What to reach.
        target: Target,
        /// Force for each rad or m of error (for a speed: for each rad/s or m/s).
        proportional: f64,
        /// Force for each unit of error and second.
        integral: f64,
        /// Force for each unit of error a second.
        differential: f64,
        /// Greatest force, ≥ 0.
        most: f64,
    },
}

/// Limits and drive of one coordinate of a joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Control {
    /// One side.
    pub a: Anchor,
    /// The other side.
    pub b: Anchor,
    /// What is measured between them.
    pub coordinate: Coordinate,
    /// Where it stops: least and greatest (B25).
    pub range: Option<[f64; 2]>,
    /// What drives it.
    pub drive: Option<Drive>,
}

impl Control {
    /// Measures a coordinate and leaves it alone.
    pub fn new(a: Anchor, b: Anchor, coordinate: Coordinate) -> Self {
        Self {
            a,
            b,
            coordinate,
            range: None,
            drive: None,
        }
    }

    /// The same with stops.
    pub fn between(mut self, least: f64, greatest: f64) -> Self {
        self.range = Some([least, greatest]);
        self
    }

    /// The same with a drive.
    pub fn driven(mut self, drive: Drive) -> Self {
        self.drive = Some(drive);
        self
    }
}

/// What a joint remembers from one substep to the next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// Impulses of the last substep: all rows of the base joints, then stop and drive of each control. N·s or N·m·s.
    pub impulses: Vec<f64>,
    /// All that was given in the last substep, likewise; what blows took is not in it.
    pub load: Vec<f64>,
    /// Where a curve's foot was, for each base joint.
    pub feet: Vec<f64>,
    /// Of each control its value, what its controller has summed up, and the value it last saw.
    pub controls: Vec<[f64; 3]>,
    /// Length of the last substep, s.
    pub h: f64,
}

impl Memory {
    /// Becomes as `other`, without allocating if it has been as large before.
    pub fn copy_from(&mut self, other: &Self) {
        self.impulses.clone_from(&other.impulses);
        self.load.clone_from(&other.load);
        self.feet.clone_from(&other.feet);
        self.controls.clone_from(&other.controls);
        self.h = other.h;
    }
}

//! A rigid placement: rotation and position.

use crate::rotation;
use glam::{DQuat, DVec3};
use serde::{Deserialize, Serialize};

/// Where a frame is: its origin (m) and its orientation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pose {
    /// Origin of the frame, m.
    pub position: DVec3,
    /// Orientation: takes vectors of the frame to vectors of the world.
    pub rotation: DQuat,
}

impl Default for Pose {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl Pose {
    /// The world's own frame.
    pub const IDENTITY: Self = Self {
        position: DVec3::ZERO,
        rotation: DQuat::IDENTITY,
    };

    /// A frame at `position` with `rotation`.
    pub fn new(position: DVec3, rotation: DQuat) -> Self {
        Self { position, rotation }
    }

    /// A point of the frame, in the world.
    pub fn point(&self, local: DVec3) -> DVec3 {
        self.position + self.rotation * local
    }

    /// A point of the world, in the frame.
    pub fn local(&self, point: DVec3) -> DVec3 {
        self.rotation.conjugate() * (point - self.position)
    }

    /// First `inner`, then `self`.
    pub fn compose(&self, inner: &Self) -> Self {
        Self::new(self.point(inner.position), self.rotation * inner.rotation)
    }

    /// Between `self` (at 0) and `end` (at 1): positions on a line, orientations by constant turn.
    pub fn interpolate(&self, end: &Self, fraction: f64) -> Self {
        let turn = rotation::to_scaled_axis(end.rotation * self.rotation.conjugate());
        Self::new(
            self.position + (end.position - self.position) * fraction,
            (rotation::from_scaled_axis(turn * fraction) * self.rotation).normalize(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Pose {
        Pose::new(
            DVec3::new(0.1, -2.0, 3.0),
            rotation::from_scaled_axis(DVec3::new(0.4, 0.5, -2.0)),
        )
    }

    #[test]
    fn local_inverts_point() {
        let p = DVec3::new(1.0, 2.0, 3.0);
        assert!((sample().local(sample().point(p)) - p).length() < 1e-14);
    }

    #[test]
    fn composing_is_applying_one_after_the_other() {
        let p = DVec3::new(1.0, 2.0, 3.0);
        let both = sample().compose(&sample());
        assert!((both.point(p) - sample().point(sample().point(p))).length() < 1e-14);
    }

    #[test]
    fn interpolation_meets_both_ends_and_turns_evenly() {
        let end = Pose::new(
            DVec3::X,
            rotation::from_scaled_axis(DVec3::new(1.0, 1.0, 0.0)),
        );
        let p = DVec3::new(0.3, 0.2, 0.1);
        let at = |f: f64| sample().interpolate(&end, f).point(p);
        assert!((at(0.0) - sample().point(p)).length() < 1e-14);
        assert!((at(1.0) - end.point(p)).length() < 1e-14);
        let turned = |a: f64, b: f64| {
            let (a, b) = (sample().interpolate(&end, a), sample().interpolate(&end, b));
            rotation::to_scaled_axis(b.rotation * a.rotation.conjugate()).length()
        };
        assert!((turned(0.0, 0.25) - turned(0.25, 0.5)).abs() < 1e-14);
    }
}

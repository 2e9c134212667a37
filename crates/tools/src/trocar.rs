//! The way through a trocar: what every instrument that pivots in the wall of the body shares.

use glam::DVec3;
use trocar_math::{Pose, rotation};

/// Reach of a degree of freedom that has no end.
pub(crate) const ENDLESS: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

/// The frame of a trocar at `position` (m) that looks at `target`: z points inwards, y is as near to `up` as can be.
pub fn looking(position: DVec3, target: DVec3, up: DVec3) -> Pose {
    let axis = (target - position).normalize_or(DVec3::Z);
    Pose::new(position, rotation::from_z_axis(axis, up.cross(axis)))
}

/// The frame at `depth` (m) on a shaft that swings about its trocar by `yaw` and `pitch` (rad): z along the shaft, not yet
/// rolled about it.
pub fn shaft(trocar: &Pose, yaw: f64, pitch: f64, depth: f64) -> Pose {
    let swing =
        rotation::from_axis_angle(DVec3::Y, yaw) * rotation::from_axis_angle(DVec3::X, -pitch);
    let direction = trocar.rotation * swing;
    Pose::new(trocar.position + direction * DVec3::Z * depth, direction)
}

/// How far a shaft whose tip is `length` m inside may swing in `dt` seconds (rad), if its tip moves with `speed` (m/s).
/// Near the trocar a small motion would be a large swing; there it is judged as if it were 5 cm inside.
pub(crate) fn swing(speed: f64, length: f64, dt: f64) -> f64 {
    speed / length.max(0.05) * dt
}

/// `wish` within `reach`. A number that is not finite keeps its place `now`.
pub(crate) fn reachable<const N: usize>(
    wish: [f64; N],
    now: [f64; N],
    reach: [[f64; 2]; N],
) -> [f64; N] {
    std::array::from_fn(|i| {
        let value = if wish[i].is_finite() { wish[i] } else { now[i] };
        value.clamp(reach[i][0], reach[i][1])
    })
}

/// From `now` towards `wish`, each number by `most` at most.
pub(crate) fn towards<const N: usize>(now: [f64; N], wish: [f64; N], most: [f64; N]) -> [f64; N] {
    std::array::from_fn(|i| now[i] + (wish[i] - now[i]).clamp(-most[i], most[i]))
}

/// True if every limit is a least and a greatest finite value, in that order.
pub(crate) fn are_limits(limits: &[[f64; 2]]) -> bool {
    limits
        .iter()
        .all(|[a, b]| a <= b && a.is_finite() && b.is_finite())
}

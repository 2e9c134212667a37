//! Triangles without area are segments and points.

use glam::{DVec2, DVec3};
use trocar_math::orient2d;

/// What a triangle is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shape {
    Point(DVec3),
    /// Its outermost corners, in the order of [`before`].
    Segment([DVec3; 2]),
    Triangle([DVec3; 3]),
}

impl Shape {
    pub(super) fn new(corners: &[DVec3; 3]) -> Self {
        if AXES.iter().any(|axis| area(corners, *axis) != 0) {
            return Self::Triangle(*corners);
        }
        let mut sorted = *corners;
        sorted.sort_by(|p, q| order(*p, *q));
        if sorted[0] == sorted[2] {
            Self::Point(sorted[0])
        } else {
            Self::Segment([sorted[0], sorted[2]])
        }
    }
}

/// Coordinates, of which one is left out.
pub(super) const AXES: [usize; 3] = [0, 1, 2];

/// `p` seen along `axis`.
pub(super) fn along(p: DVec3, axis: usize) -> DVec2 {
    match axis {
        0 => DVec2::new(p.y, p.z),
        1 => DVec2::new(p.z, p.x),
        _ => DVec2::new(p.x, p.y),
    }
}

/// Whether three points go round against the clock (1), with it (-1) or are on a line (0), seen along `axis`. Exact.
pub(super) fn area([a, b, c]: &[DVec3; 3], axis: usize) -> i8 {
    orient2d(along(*a, axis), along(*b, axis), along(*c, axis))
}

/// An order that is, for points on a line, their order along it. Zeros of both signs are the same.
pub(super) fn order(p: DVec3, q: DVec3) -> std::cmp::Ordering {
    let compare = |a: f64, b: f64| a.partial_cmp(&b).unwrap_or(std::cmp::Ordering::Equal);
    compare(p.x, q.x)
        .then(compare(p.y, q.y))
        .then(compare(p.z, q.z))
}

/// True if three points are on a line. Exact.
pub(super) fn in_line(corners: &[DVec3; 3]) -> bool {
    AXES.iter().all(|axis| area(corners, *axis) == 0)
}

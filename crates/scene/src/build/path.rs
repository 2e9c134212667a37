//! Curves that are drawn on membranes, along which they are to be torn.

use glam::DVec3;
use trocar_mesh::sheet::Sheet;

/// A curve that is drawn on a membrane where it lies at rest, along which it is to be torn.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// What it is.
    pub curve: Curve,
    /// How wide it is drawn, m.
    pub width: f64,
    /// Red, green, blue.
    pub colour: [f64; 3],
}

/// A curve.
#[derive(Clone, Debug, PartialEq)]
pub enum Curve {
    /// All points at a distance (m) from a middle.
    Circle(DVec3, f64),
    /// Straight from point to point, m.
    Line(Vec<DVec3>),
}

impl Path {
    /// Points of it, evenly: of a circle where it lies on the sheet, whose plane or bulge it is in.
    pub fn samples(&self, count: usize, sheet: &Sheet) -> Vec<DVec3> {
        match &self.curve {
            Curve::Circle(middle, radius) => {
                // A circle on a sheet goes around the mean of the normals near its middle.
                let normal = sheet.triangles().fold(DVec3::ZERO, |sum, t| {
                    let [a, b, c] = sheet.rest_corners(t);
                    sum + (b - a).cross(c - a)
                });
                let (x, y) = normal.normalize_or(DVec3::Z).any_orthonormal_pair();
                let nodes: Vec<DVec3> = sheet.nodes().map(|n| sheet.rest(n)).collect();
                let about = |k: usize| {
                    let turn = std::f64::consts::TAU * k as f64 / count as f64;
                    let (sin, cos) = trocar_math::real::sin_cos(turn);
                    let out = x * cos + y * sin;
                    // On a bulge the ring is not in the plane of its middle: the nearest node says how far below.
                    let flat = *middle + out * *radius;
                    let far = |p: &&DVec3| p.distance_squared(flat);
                    let nearest = nodes.iter().min_by(|a, b| far(a).total_cmp(&far(b)));
                    let drop =
                        nearest.map_or(0.0, |p| (*p - *middle).dot(normal.normalize_or_zero()));
                    let drop = drop.clamp(-*radius, *radius);
                    let wide = (radius * radius - drop * drop).max(0.0).sqrt();
                    *middle + out * wide + normal.normalize_or_zero() * drop
                };
                (0..count).map(about).collect()
            }
            Curve::Line(points) => {
                let lengths = points.windows(2).map(|ends| ends[0].distance(ends[1]));
                let whole: f64 = lengths.clone().sum();
                let at = |k: usize| {
                    let mut left = whole * (k as f64 + 0.5) / count as f64;
                    for ends in points.windows(2) {
                        let length = ends[0].distance(ends[1]);
                        if left <= length {
                            return ends[0].lerp(ends[1], left / length.max(1e-300));
                        }
                        left -= length;
                    }
                    points[points.len() - 1]
                };
                (0..count).map(at).collect()
            }
        }
    }

    /// How far a point at rest is from it, m.
    pub fn distance(&self, point: DVec3) -> f64 {
        match &self.curve {
            Curve::Circle(middle, radius) => (point.distance(*middle) - radius).abs(),
            Curve::Line(points) => {
                let parts = points
                    .windows(2)
                    .map(|ends| segment(point, ends[0], ends[1]));
                parts.fold(f64::INFINITY, f64::min)
            }
        }
    }
}

/// Distance of a point from a straight line between two others, m.
pub(crate) fn segment(point: DVec3, a: DVec3, b: DVec3) -> f64 {
    let along = b - a;
    let part = (point - a).dot(along) / along.length_squared().max(1e-300);
    point.distance(a + along * part.clamp(0.0, 1.0))
}

//! Where a ray meets something: what a finger on the picture points at.

use glam::DVec3;

/// How far along the ray (m, `direction` of unit length) it meets a triangle from either side, and the barycentric weights of
/// the point. (Möller & Trumbore 1997: the ray and the triangle's sides as one system of three equations.)
pub fn triangle(origin: DVec3, direction: DVec3, [a, b, c]: [DVec3; 3]) -> Option<(f64, [f64; 3])> {
    let (u, v) = (b - a, c - a);
    let across = direction.cross(v);
    let determinant = u.dot(across);
    let from = origin - a;
    let other = from.cross(u);
    let (y, z) = (from.dot(across), direction.dot(other));
    let inverse = determinant.recip();
    let (y, z, distance) = (y * inverse, z * inverse, v.dot(other) * inverse);
    // A triangle seen edge on, or without area, has no determinant: every comparison with what comes of it fails.
    let inside = inverse.is_finite() && y >= 0.0 && z >= 0.0 && y + z <= 1.0 && distance >= 0.0;
    inside.then(|| (distance, [(1.0 - y - z).max(0.0), y, z]))
}

/// How far along the ray it meets a box about the origin with these half extents, all in the box's frame. From inside: its wall.
pub fn cuboid(origin: DVec3, direction: DVec3, half: DVec3) -> Option<f64> {
    let (mut enter, mut leave) = (f64::NEG_INFINITY, f64::INFINITY);
    for axis in 0..3 {
        let (o, d, h) = (origin[axis], direction[axis], half[axis]);
        if d == 0.0 {
            if o.abs() > h {
                return None;
            }
            continue;
        }
        let (one, other) = ((-h - o) / d, (h - o) / d);
        enter = enter.max(one.min(other));
        leave = leave.min(one.max(other));
    }
    let distance = if enter >= 0.0 { enter } else { leave };
    (enter <= leave && distance >= 0.0 && distance.is_finite()).then_some(distance)
}

/// How far along the ray it meets a ball; from inside: 0.
pub fn ball(origin: DVec3, direction: DVec3, centre: DVec3, radius: f64) -> Option<f64> {
    let from = origin - centre;
    let along = from.dot(direction);
    let under = along * along - from.length_squared() + radius * radius;
    if under < 0.0 {
        return None;
    }
    let root = under.sqrt();
    (root - along >= 0.0).then(|| (-along - root).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORNERS: [DVec3; 3] = [
        DVec3::new(0.0, 0.0, 1.0),
        DVec3::new(1.0, 0.0, 1.0),
        DVec3::new(0.0, 1.0, 1.5),
    ];

    #[test]
    fn a_ray_through_a_point_of_a_triangle_finds_it() {
        for weights in [[0.2, 0.3, 0.5], [0.9, 0.05, 0.05], [1.0, 0.0, 0.0]] {
            let point: DVec3 = CORNERS.iter().zip(weights).map(|(c, w)| *c * w).sum();
            for origin in [DVec3::new(0.3, -2.0, -1.0), DVec3::new(0.1, 0.1, 9.0)] {
                // A hair inside, so that rounding can't put it outside.
                let inner = point.lerp(CORNERS.iter().sum::<DVec3>() / 3.0, 1e-9);
                let direction = (inner - origin).normalize();
                let (distance, found) = triangle(origin, direction, CORNERS).unwrap();
                assert!((origin + direction * distance - inner).length() < 1e-12);
                let back: DVec3 = CORNERS.iter().zip(found).map(|(c, w)| *c * w).sum();
                assert!((back - inner).length() < 1e-12);
                assert_eq!(triangle(origin, -direction, CORNERS), None);
            }
        }
        assert_eq!(triangle(DVec3::new(2.0, 2.0, 0.0), DVec3::Z, CORNERS), None);
        let flat = [DVec3::ZERO, DVec3::X, DVec3::X * 2.0];
        assert_eq!(triangle(DVec3::new(0.5, 0.0, -1.0), DVec3::Z, flat), None);
    }

    #[test]
    fn boxes_and_balls_are_met_from_outside_and_inside() {
        let half = DVec3::new(1.0, 2.0, 3.0);
        assert_eq!(cuboid(DVec3::Z * -5.0, DVec3::Z, half), Some(2.0));
        assert_eq!(cuboid(DVec3::ZERO, DVec3::Y, half), Some(2.0));
        assert_eq!(cuboid(DVec3::X * 1.5, DVec3::Z, half), None);
        assert_eq!(cuboid(DVec3::Z * 5.0, DVec3::Z, half), None);
        assert_eq!(ball(DVec3::Z * -5.0, DVec3::Z, DVec3::ZERO, 1.0), Some(4.0));
        assert_eq!(ball(DVec3::ZERO, DVec3::Z, DVec3::ZERO, 1.0), Some(0.0));
        assert_eq!(ball(DVec3::Z * 5.0, DVec3::Z, DVec3::ZERO, 1.0), None);
        assert_eq!(ball(DVec3::X * 1.1, DVec3::Z, DVec3::ZERO, 1.0), None);
    }
}

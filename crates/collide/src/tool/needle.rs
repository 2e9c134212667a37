//! A capsule against one triangle, after Weber (W127–W131).

use crate::{Capsule, closest};
use glam::DVec3;

/// A needle in a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sunk {
    /// Where on the axis, from 0 to 1.
    pub along: f64,
    /// Where on the triangle.
    pub weights: [f64; 3],
    /// Whether the axis goes through the triangle.
    pub pierced: bool,
    /// How far the triangle has to go, m: what is missing to the radius, or the radius and all of the way back.
    pub depth: f64,
    /// The shortest way out for the triangle, unit length.
    pub normal: DVec3,
}

/// How deep a needle is in a triangle (W128–W131): the nearest pair of an end over the face or the axis and a side, of those that lie apart. The point of
/// piercing is not one of them, as the way out does not depend on it; so depth and direction are continuous while an end goes through. None if they do not touch.
pub fn sunk(needle: &Capsule, t: [DVec3; 3]) -> Option<Sunk> {
    let face = (t[1] - t[0]).cross(t[2] - t[0]);
    let pierced = closest::segment_triangle(needle.a, needle.b, t).distance_squared == 0.0;
    let mut best: Option<(f64, f64, [f64; 3])> = None;
    let mut consider = |along: f64, weights: [f64; 3]| {
        let distance = needle.axis(along).distance(closest::point(t, weights));
        if best.is_none_or(|b| distance < b.0) {
            best = Some((distance, along, weights));
        }
    };
    for (along, end) in [(0.0, needle.a), (1.0, needle.b)] {
        consider(along, closest::on_triangle(end, t));
    }
    for (i, j) in [(0, 1), (1, 2), (2, 0)] {
        let (along, s) = closest::segment_segment(needle.a, needle.b, t[i], t[j]);
        let mut weights = [0.0; 3];
        weights[i] = 1.0 - s;
        weights[j] = s;
        consider(along, weights);
    }
    let (distance, along, weights) = best?;
    let depth = if pierced {
        needle.radius + distance
    } else {
        needle.radius - distance
    };
    // What is no number touches: it must not be taken for clear.
    if depth < 0.0 {
        return None;
    }
    let apart = closest::point(t, weights) - needle.axis(along);
    let out = if pierced { -apart } else { apart };
    Some(Sunk {
        along,
        weights,
        pierced,
        depth,
        // An end that lies in the triangle has no way to it; then along the face, away from the rest of the needle.
        normal: out.try_normalize().unwrap_or_else(|| {
            let rest = needle.axis(1.0 - along) - needle.axis(along);
            (face * -face.dot(rest).signum()).normalize_or(DVec3::Y)
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CELL: [DVec3; 3] = [
        DVec3::ZERO,
        DVec3::new(0.0, 0.0, 3e-3),
        DVec3::new(3e-3, 0.0, 0.0),
    ];

    fn needle(tip: f64) -> Capsule {
        let at = DVec3::new(1e-3, tip, 1e-3);
        Capsule {
            a: at + DVec3::Y * 1e-3,
            b: at,
            radius: 2e-4,
        }
    }

    #[test]
    fn depth_and_way_out_go_on_while_the_tip_goes_through() {
        let mut before: Option<Sunk> = None;
        for k in 0..60 {
            let tip = 2.5e-4 - f64::from(k) * 1e-5;
            let found = sunk(&needle(tip), CELL);
            assert_eq!(found.is_some(), tip <= 2e-4, "{tip}");
            if let Some(now) = found {
                assert!((now.depth - (2e-4 - tip)).abs() < 1e-12, "{tip}: {now:?}");
                assert!((now.normal + DVec3::Y).length() < 1e-6, "{tip}: {now:?}");
                assert_eq!(now.pierced, tip <= 0.0, "{tip}");
                assert!(before.is_none_or(|b| now.depth > b.depth));
                before = Some(now);
            }
        }
    }

    #[test]
    fn what_just_touches_touches() {
        let t = [DVec3::ZERO, DVec3::Z, DVec3::X];
        let at = DVec3::new(0.25, 0.25, 0.25);
        let touching = |radius: f64| {
            let needle = Capsule {
                a: at + DVec3::Y,
                b: at,
                radius,
            };
            sunk(&needle, t)
        };
        let found = touching(0.25).unwrap();
        assert_eq!((found.depth, found.normal), (0.0, -DVec3::Y));
        assert_eq!(touching(0.25_f64.next_down()), None);
    }

    #[test]
    fn a_needle_without_length_or_radius_is_a_ball_or_a_line() {
        let ball = Capsule {
            a: DVec3::new(1e-3, 1e-4, 1e-3),
            b: DVec3::new(1e-3, 1e-4, 1e-3),
            radius: 2e-4,
        };
        assert!((sunk(&ball, CELL).unwrap().depth - 1e-4).abs() < 1e-12);
        let line = Capsule {
            radius: 0.0,
            ..needle(-1e-4)
        };
        let found = sunk(&line, CELL).unwrap();
        assert!(found.pierced && (found.depth - 1e-4).abs() < 1e-12);
        assert_eq!(
            sunk(
                &Capsule {
                    radius: 0.0,
                    ..needle(1e-4)
                },
                CELL
            ),
            None
        );
    }
}

//! A capsule against one triangle, after Weber (W127–W131).

use crate::{
    Capsule,
    closest::{self, LEAST_SINE_SQUARED},
};
use glam::DVec3;
use trocar_math::{Four, f64x4, four::LANES};

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
    sunk_among(needle, t, [true; 3])
}

/// [`sunk`] in a triangle of a sheet, whose side k runs from corner k to corner k + 1 and is `open` if nothing lies beyond it. A sheet that is pierced
/// gets out over the needle's ends or over a rim, never over a side within it: the way there would only lead into the next triangle.
pub fn sunk_among(needle: &Capsule, t: [DVec3; 3], open: [bool; 3]) -> Option<Sunk> {
    let face = (t[1] - t[0]).cross(t[2] - t[0]);
    let pierced = closest::pierces(needle.a, needle.b, t);
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
        if pierced && !open[i] {
            continue;
        }
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

/// How far a triangle that is pierced has to go to get out over one end of the needle, the first or the other: for those who know which end came through it, however far it has gone
/// since. None if it is not pierced.
pub fn sunk_over(needle: &Capsule, t: [DVec3; 3], first: bool) -> Option<Sunk> {
    if !closest::pierces(needle.a, needle.b, t) {
        return None;
    }
    let (along, end) = if first {
        (0.0, needle.a)
    } else {
        (1.0, needle.b)
    };
    let weights = closest::on_triangle(end, t);
    let out = end - closest::point(t, weights);
    Some(Sunk {
        along,
        weights,
        pierced: true,
        depth: needle.radius + out.length(),
        normal: out.try_normalize()?,
    })
}

/// What a needle needs to judge four triangles at once.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    from: Four,
    along: Four,
    /// 1 over the square of the axis' length; 0 without length.
    inverse: f64x4,
    radius: f64x4,
}

impl Reach {
    /// Of a needle.
    pub fn new(needle: &Capsule) -> Self {
        let along = needle.b - needle.a;
        let square = along.length_squared();
        Self {
            from: Four::splat(needle.a),
            along: Four::splat(along),
            inverse: f64x4::splat(if square > 0.0 { 1.0 / square } else { 0.0 }),
            // A rounding more: what just touches touches.
            radius: f64x4::splat(needle.radius * (1.0 + 1e-9)),
        }
    }

    /// Which of four triangles the needle may touch, a bit for each: those whose plane it comes near, and the ball around whose corners. What is no
    /// number may.
    #[inline(always)]
    pub fn may_touch(&self, [a, b, c]: [Four; 3]) -> u32 {
        let dot = |u: Four, v: Four| u.x * v.x + u.y * v.y + u.z * v.z;
        let normal = (b - a).cross(c - a);
        let (here, there) = (self.from - a, self.from + self.along - a);
        let (one, two) = (dot(normal, here), dot(normal, there));
        // Both ends on one side, and the nearer of them farther than the radius from the plane.
        let nearer = one.abs().fast_min(two.abs());
        let area = dot(normal, normal);
        let beyond = nearer * nearer - self.radius * self.radius * area;
        // What is nearly a line has a normal of rounding alone, and its plane tells nothing.
        let spanned = (b - a).length_squared() * (c - a).length_squared();
        let even = area - f64x4::splat(LEAST_SINE_SQUARED) * spanned;
        let third = f64x4::splat(1.0 / 3.0);
        let middle = (a + b + c).times(third);
        let size = (a - middle)
            .length_squared()
            .fast_max((b - middle).length_squared())
            .fast_max((c - middle).length_squared());
        let part = dot(middle - self.from, self.along) * self.inverse;
        let part = part.fast_max(f64x4::ZERO).fast_min(f64x4::splat(1.0));
        let apart = (self.from + self.along.times(part) - middle).length();
        let gap = (apart - self.radius - size.sqrt()).to_array();
        let (side, beyond) = ((one * two).to_array(), beyond.to_array());
        let even = even.to_array();
        let clear = |k: usize| gap[k] > 0.0 || (side[k] > 0.0 && beyond[k] > 0.0 && even[k] > 0.0);
        (0..LANES).fold(0, |bits, k| bits | (u32::from(!clear(k)) << k))
    }
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
    fn what_is_passed_over_four_at_a_time_does_not_touch() {
        let noise = |seed: u32| {
            let mut z = u64::from(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            (z >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        };
        let point = |k: u32| DVec3::new(noise(3 * k), noise(3 * k + 1), noise(3 * k + 2));
        let (mut passed, mut touching) = (0, 0);
        for case in 0..2000 {
            let at = |k: u32| point(16 * case + k);
            let needle = Capsule {
                a: at(0),
                b: if case % 7 == 0 {
                    at(0)
                } else {
                    at(0) + at(1) * 0.3
                },
                radius: 0.05 + 0.2 * f64::from(case % 3),
            };
            let triangles: [[DVec3; 3]; 4] = std::array::from_fn(|k| {
                let k = 3 * k as u32;
                [at(2 + k), at(3 + k), at(4 + k)]
            });
            let corner = |k: usize| {
                let [p, q, r, s] = &triangles;
                Four::of(&p[k], &q[k], &r[k], &s[k])
            };
            let bits = Reach::new(&needle).may_touch([corner(0), corner(1), corner(2)]);
            for (k, triangle) in triangles.into_iter().enumerate() {
                let touches = sunk(&needle, triangle).is_some();
                assert!(!touches || bits & (1 << k) != 0, "{case} {k}");
                passed += usize::from(bits & (1 << k) == 0);
                touching += usize::from(touches);
            }
        }
        assert!(passed > 2000 && touching > 500, "{passed} {touching}");
        // Corners on one line but for rounding: their plane tells nothing.
        let mut touching = 0;
        for case in 2000..6000 {
            let at = |k: u32| point(16 * case + k);
            let needle = Capsule {
                a: at(0),
                b: at(0) + at(1) * 0.3,
                radius: 0.3,
            };
            let mut line = [at(2), at(2) + at(3), at(2) + at(3) * at(4).x];
            line.rotate_left(case as usize % 3);
            let touches = sunk(&needle, line).is_some();
            let bits = Reach::new(&needle).may_touch(line.map(Four::splat));
            assert!(!touches || bits == 15, "{case}");
            touching += usize::from(touches);
        }
        assert!(touching > 100, "{touching}");
        let nowhere = Four::splat(DVec3::NAN);
        let bits = Reach::new(&needle(0.0)).may_touch([nowhere; 3]);
        assert_eq!(bits, 15);
    }

    #[test]
    fn a_sheet_gets_out_over_the_tip_and_not_into_its_next_triangle() {
        // Near a side, deeper than that side is away.
        let at = DVec3::new(5e-5, -1e-4, 1e-3);
        let needle = Capsule {
            a: at + DVec3::Y * 1e-3,
            b: at,
            radius: 2e-4,
        };
        let over_the_side = sunk(&needle, CELL).unwrap();
        assert!(over_the_side.pierced && over_the_side.normal.y.abs() < 1e-9);
        let over_the_tip = sunk_among(&needle, CELL, [false; 3]).unwrap();
        assert!((over_the_tip.normal + DVec3::Y).length() < 1e-9);
        assert!((over_the_tip.depth - 3e-4).abs() < 1e-12);
    }

    #[test]
    fn what_is_pierced_gets_out_over_the_end_that_is_asked_for() {
        // Through by three quarters of its length, so that the upper end is the nearer one.
        let deep = needle(-7.5e-4);
        let nearer = sunk_among(&deep, CELL, [false; 3]).unwrap();
        assert!((nearer.normal - DVec3::Y).length() < 1e-9 && nearer.along == 0.0);
        let [upper, lower] = [true, false].map(|first| sunk_over(&deep, CELL, first).unwrap());
        assert_eq!(upper, nearer);
        assert!((lower.normal + DVec3::Y).length() < 1e-9 && lower.along == 1.0);
        assert!((lower.depth - 9.5e-4).abs() < 1e-12, "{lower:?}");
        assert_eq!(sunk_over(&needle(1e-4), CELL, false), None);
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

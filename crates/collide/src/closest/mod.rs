//! Closest points: the mathematics, one pair of primitives each.

mod four;

use glam::DVec3;

pub use four::{FourPairs, LEAST_SINE_SQUARED, segment_triangles};
pub(crate) use four::{Question, dot, lerp};

/// Closest points of a segment and something else.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SegmentPair {
    /// Where on the first segment, from 0 to 1.
    pub along: f64,
    /// Barycentric weights on the triangle, or of the two ends of the other segment (third is 0).
    pub weights: [f64; 3],
    /// Square of the distance, m².
    pub distance_squared: f64,
}

/// Parameter in [0, 1] of the point of segment `a`–`b` that is closest to `p` (K92, without the
/// square root). A segment without length is its first point.
#[inline]
pub fn on_segment(p: DVec3, a: DVec3, b: DVec3) -> f64 {
    let ab = b - a;
    let length_squared = ab.length_squared();
    if length_squared == 0.0 {
        return 0.0;
    }
    ((p - a).dot(ab) / length_squared).clamp(0.0, 1.0)
}

/// Squared sine of the angle below which segments count as parallel: the point where their lines are nearest is then lost in
/// rounding, and an end is as near to a part in 10⁷ of their length.
const PARALLEL: f64 = 1e-14;

/// Parameters in [0, 1] of the closest points of segments `a0`–`a1` and `b0`–`b1`.
pub fn segment_segment(a0: DVec3, a1: DVec3, b0: DVec3, b1: DVec3) -> (f64, f64) {
    let (d, e, r) = (a1 - a0, b1 - b0, a0 - b0);
    let (dd, ee, de) = (d.length_squared(), e.length_squared(), d.dot(e));
    let (dr, er) = (d.dot(r), e.dot(r));
    if ee == 0.0 {
        return (on_segment(b0, a0, a1), 0.0);
    }
    let denominator = dd * ee - de * de;
    if denominator <= PARALLEL * dd * ee {
        return parallel(a0, a1, b0, b1);
    }
    let mut s = ((de * er - ee * dr) / denominator).clamp(0.0, 1.0);
    let mut t = (de * s + er) / ee;
    if !(0.0..=1.0).contains(&t) {
        t = t.clamp(0.0, 1.0);
        s = if dd > 0.0 {
            ((de * t - dr) / dd).clamp(0.0, 1.0)
        } else {
            0.0
        };
    }
    (s, t)
}

/// Nearest points of segments that are parallel as far as can be told: one of them is an end. The first of equals.
#[cold]
fn parallel(a0: DVec3, a1: DVec3, b0: DVec3, b1: DVec3) -> (f64, f64) {
    let candidates = [
        (0.0, on_segment(a0, b0, b1)),
        (1.0, on_segment(a1, b0, b1)),
        (on_segment(b0, a0, a1), 0.0),
        (on_segment(b1, a0, a1), 1.0),
    ];
    let mut best = (candidates[0], f64::INFINITY);
    for (s, t) in candidates {
        let distance = a0.lerp(a1, s).distance_squared(b0.lerp(b1, t));
        if distance < best.1 {
            best = ((s, t), distance);
        }
    }
    best.0
}

/// Barycentric weights of the point of triangle `t` that is closest to `p`.
pub fn on_triangle(p: DVec3, t: [DVec3; 3]) -> [f64; 3] {
    if let Some(weights) = over_face(p, t) {
        return weights;
    }
    // Outside the triangle, or the triangle has no area: the closest of its sides.
    let mut best = ([1.0, 0.0, 0.0], f64::INFINITY);
    for (i, j) in [(0, 1), (1, 2), (2, 0)] {
        let s = on_segment(p, t[i], t[j]);
        let distance = t[i].lerp(t[j], s).distance_squared(p);
        if distance < best.1 {
            let mut weights = [0.0; 3];
            weights[i] = 1.0 - s;
            weights[j] = s;
            best = (weights, distance);
        }
    }
    best.0
}

/// Whether segment `a`–`b` goes through triangle `t`.
pub fn pierces(a: DVec3, b: DVec3, t: [DVec3; 3]) -> bool {
    piercing(a, b, t).is_some()
}

/// Barycentric weights of the foot of `p` on the plane of `t`, if it is in the triangle.
#[inline]
fn over_face(p: DVec3, t: [DVec3; 3]) -> Option<[f64; 3]> {
    let (ab, ac) = (t[1] - t[0], t[2] - t[0]);
    let normal = ab.cross(ac);
    let area = normal.length_squared();
    let part = 1.0 / area;
    let ap = p - t[0];
    let v = ap.cross(ac).dot(normal) * part;
    let w = ab.cross(ap).dot(normal) * part;
    (area > 0.0 && v >= 0.0 && w >= 0.0 && v + w <= 1.0).then_some([1.0 - v - w, v, w])
}

/// Closest points of segment `a`–`b` and triangle `t`. If the segment pierces the triangle, the
/// distance is zero.
pub fn segment_triangle(a: DVec3, b: DVec3, t: [DVec3; 3]) -> SegmentPair {
    if let Some((along, weights)) = piercing(a, b, t) {
        return SegmentPair {
            along,
            weights,
            distance_squared: 0.0,
        };
    }
    // Otherwise the closest pair is an end over the face, or the segment and a side. (An end that is nearest to a side is among the latter.)
    let mut best = SegmentPair {
        along: 0.0,
        weights: [1.0, 0.0, 0.0],
        distance_squared: f64::INFINITY,
    };
    for (along, p) in [(0.0, a), (1.0, b)] {
        let Some(weights) = over_face(p, t) else {
            continue;
        };
        let distance_squared = point(t, weights).distance_squared(p);
        if distance_squared < best.distance_squared {
            best = SegmentPair {
                along,
                weights,
                distance_squared,
            };
        }
    }
    for (i, j) in [(0, 1), (1, 2), (2, 0)] {
        let (along, s) = segment_segment(a, b, t[i], t[j]);
        let distance_squared = a.lerp(b, along).distance_squared(t[i].lerp(t[j], s));
        if distance_squared < best.distance_squared {
            let mut weights = [0.0; 3];
            weights[i] = 1.0 - s;
            weights[j] = s;
            best = SegmentPair {
                along,
                weights,
                distance_squared,
            };
        }
    }
    best
}

/// The point of a triangle with the given weights.
#[inline]
pub fn point(t: [DVec3; 3], weights: [f64; 3]) -> DVec3 {
    t[0] * weights[0] + t[1] * weights[1] + t[2] * weights[2]
}

fn piercing(a: DVec3, b: DVec3, t: [DVec3; 3]) -> Option<(f64, [f64; 3])> {
    let normal = (t[1] - t[0]).cross(t[2] - t[0]);
    let (from, to) = (normal.dot(a - t[0]), normal.dot(b - t[0]));
    // Not by their product: of two that are all but zero it is zero.
    let beside = (from > 0.0 && to > 0.0) || (from < 0.0 && to < 0.0);
    if beside || from == to {
        return None;
    }
    let along = from / (from - to);
    over_face(a.lerp(b, along), t).map(|weights| (along, weights))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use trocar_math::{Four, f64x4};

    /// A million in the long run.
    fn cases() -> u32 {
        if std::env::var_os("TROCAR_LONG").is_some() {
            1_000_000
        } else {
            2000
        }
    }

    fn vector() -> impl Strategy<Value = DVec3> {
        // Small integers make parallel, touching and degenerate cases common.
        prop_oneof![
            prop::array::uniform3(-1.0..1.0).prop_map(DVec3::from_array),
            prop::array::uniform3(-2..3_i32).prop_map(|v| DVec3::from_array(v.map(f64::from))),
        ]
    }

    /// The least distance found on a grid, never below the true one.
    fn sampled(a: DVec3, b: DVec3, t: [DVec3; 3]) -> f64 {
        let n = 24;
        let mut best = f64::INFINITY;
        for i in 0..=n {
            let p = a.lerp(b, f64::from(i) / f64::from(n));
            best = best.min(point(t, on_triangle(p, t)).distance(p));
        }
        best
    }

    /// Both ends are on one side of the plane by so little that the product of their heights is zero. Found by a fuzzer.
    #[test]
    fn what_is_all_but_in_the_plane_does_not_pierce_what_it_does_not_reach() {
        let (a, b) = (DVec3::ZERO, DVec3::new(0.0, 0.0, -1.125));
        let hair = DVec3::new(1.2e-316, 0.091796875, 0.033203125);
        let t = [
            DVec3::new(0.0, 0.0625, 0.0),
            DVec3::new(0.0, 0.0, 0.0625),
            hair,
        ];
        let pair = segment_triangle(a, b, t);
        assert!(!pierces(a, b, t) && pair.along == 0.0, "{pair:?}");
        assert!((pair.distance_squared.sqrt() - 0.0625 * 0.5_f64.sqrt()).abs() < 1e-12);
        let range = f64x4::splat(1.0);
        let four = segment_triangles(a, b, t.map(Four::splat), range).unwrap();
        assert_eq!(four.along.to_array(), [pair.along; 4]);
        assert_eq!(four.distance_squared.to_array(), [pair.distance_squared; 4]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(cases()))]

        #[test]
        fn no_point_of_a_triangle_is_closer(p in vector(), t in prop::array::uniform3(vector())) {
            let weights = on_triangle(p, t);
            prop_assert!(weights.iter().all(|w| (-1e-12..=1.0 + 1e-12).contains(w)));
            let best = point(t, weights).distance(p);
            for i in 0..=10 {
                for j in 0..=(10 - i) {
                    let (u, v) = (f64::from(i) / 10.0, f64::from(j) / 10.0);
                    prop_assert!(best <= point(t, [1.0 - u - v, u, v]).distance(p) + 1e-9);
                }
            }
        }

        #[test]
        fn a_segment_and_a_triangle_are_as_close_as_sampling_says(
            a in vector(), b in vector(), t in prop::array::uniform3(vector()),
        ) {
            let pair = segment_triangle(a, b, t);
            let distance = pair.distance_squared.sqrt();
            let stated = a.lerp(b, pair.along).distance(point(t, pair.weights));
            prop_assert!((stated - distance).abs() < 1e-7, "{stated} {distance}");
            let sampled = sampled(a, b, t);
            prop_assert!(distance <= sampled + 1e-9);
            prop_assert!(distance >= sampled - (b - a).length() / 24.0 - 1e-9);
        }

        #[test]
        fn four_at_a_time_have_the_bits_of_one(
            a in vector(), b in vector(), corners in prop::array::uniform12(vector()), range in 0.0..3.0_f64,
        ) {
            let lane = |k: usize| [corners[k], corners[4 + k], corners[8 + k]];
            let lanes = [0, 4, 8].map(|k| Four::of(&corners[k], &corners[k + 1], &corners[k + 2], &corners[k + 3]));
            let found = segment_triangles(a, b, lanes, f64x4::splat(range));
            for k in 0..4 {
                let one = segment_triangle(a, b, lane(k));
                let Some(four) = &found else {
                    prop_assert!(one.distance_squared.sqrt() > range);
                    continue;
                };
                let same = SegmentPair {
                    along: four.along.to_array()[k],
                    weights: four.weights.map(|w| w.to_array()[k]),
                    distance_squared: four.distance_squared.to_array()[k],
                };
                prop_assert_eq!(same, one);
            }
        }

        /// Corners on one line but for rounding: their plane tells nothing.
        #[test]
        fn near_lines_are_not_passed_over(
            a in vector(), b in vector(), p in vector(), d in vector(), part in -1.0..2.0_f64, first in 0..3_usize,
        ) {
            let mut t = [p, p + d, p + d * part];
            t.rotate_left(first);
            let one = segment_triangle(a, b, t);
            let range = one.distance_squared.sqrt() * (1.0 + 1e-12) + 1e-15;
            let found = segment_triangles(a, b, t.map(Four::splat), f64x4::splat(range));
            prop_assert!(found.is_some(), "at {range} m");
        }

        #[test]
        fn segments_are_as_close_as_sampling_says(
            a in vector(), b in vector(), c in vector(), d in vector(),
        ) {
            let (s, t) = segment_segment(a, b, c, d);
            let best = a.lerp(b, s).distance(c.lerp(d, t));
            for i in 0..=20 {
                let p = a.lerp(b, f64::from(i) / 20.0);
                prop_assert!(best <= c.lerp(d, on_segment(p, c, d)).distance(p) + 1e-7);
            }
        }
    }
}

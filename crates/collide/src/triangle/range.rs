//! Sizes of coordinates for which determinants are exact.

use glam::DVec3;

/// Beyond these, products of three leave the range of numbers, or lose bits in it.
const LEAST: f64 = 1e-75;
const MOST: f64 = 1e75;

/// The power of two that is the greatest below [`MOST`].
const TOP: i32 = 248;

/// What a pair was multiplied by to fit: two factors, as one may be too great for a number.
pub(super) struct Scale([f64; 2]);

impl Scale {
    /// As it was before.
    pub(super) fn undo(&self, p: DVec3) -> DVec3 {
        p / self.0[0] / self.0[1]
    }
}

/// True if a plane across an axis keeps a pair apart, however far: what can be told where sizes do not [fit](fitted). Nothing is told of what is no number.
pub(super) fn far_apart(a: &[DVec3; 3], b: &[DVec3; 3]) -> bool {
    let box_of = |t: &[DVec3; 3]| (t[0].min(t[1]).min(t[2]), t[0].max(t[1]).max(t[2]));
    let ((low_a, high_a), (low_b, high_b)) = (box_of(a), box_of(b));
    let known = !a.iter().chain(b).any(|p| p.is_nan());
    known && (high_a.cmplt(low_b) | high_b.cmplt(low_a)).any()
}

fn fits(p: &DVec3) -> bool {
    let size = p.abs();
    let ok = |x: f64| x == 0.0 || (LEAST..=MOST).contains(&x);
    ok(size.x) && ok(size.y) && ok(size.z)
}

/// The pair in sizes for which determinants are exact: itself if it fits, which nearly all do, else times a power of two, which
/// rounds nothing. None if a coordinate is no number, or the greatest and the least are too far from each other: then nobody can tell.
pub(super) fn fitted(
    a: &[DVec3; 3],
    b: &[DVec3; 3],
) -> Option<([DVec3; 3], [DVec3; 3], Option<Scale>)> {
    if a.iter().chain(b).all(fits) {
        return Some((*a, *b, None));
    }
    scaled(a, b)
}

#[cold]
fn scaled(a: &[DVec3; 3], b: &[DVec3; 3]) -> Option<([DVec3; 3], [DVec3; 3], Option<Scale>)> {
    let (mut most, mut least) = (0.0_f64, f64::INFINITY);
    for p in a.iter().chain(b) {
        if !p.is_finite() {
            return None;
        }
        most = most.max(p.abs().max_element());
        let sizes = p.abs().to_array().into_iter().filter(|x| *x > 0.0);
        least = sizes.fold(least, f64::min);
    }
    // Of the smallest numbers the exponent is lower than the bits say; they get another factor.
    let exponent = |x: f64| (x.to_bits() >> 52) as i32 - 1023;
    let tiny = power(200);
    let level = if most < f64::MIN_POSITIVE {
        exponent(most * tiny) - 200
    } else {
        exponent(most)
    };
    let up = TOP - level;
    let scale = Scale([power(up / 2), power(up - up / 2)]);
    // What is too small would become nothing, and nothing fits.
    if least * scale.0[0] * scale.0[1] < LEAST {
        return None;
    }
    let [a, b] = [a, b].map(|t| t.map(|p| p * scale.0[0] * scale.0[1]));
    a.iter().chain(&b).all(fits).then_some((a, b, Some(scale)))
}

/// Two to the power of a number from -1022 to 1023.
fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_bring_all_sizes_within_reach_and_back() {
        let shape = [
            DVec3::ZERO,
            DVec3::new(1.0, 0.5, 0.0),
            DVec3::new(0.25, 1.0, 3.0),
        ];
        for size in [
            5e-324 * 65_536.0,
            1e-300,
            1e-100,
            1e-74,
            1.0,
            1e74,
            1e100,
            5e307,
        ] {
            let t = shape.map(|p| p * size);
            let (a, b, scale) = fitted(&t, &t).unwrap();
            assert_eq!(a, b);
            assert!(a.iter().all(fits), "{size}: {a:?}");
            let back = a.map(|p| scale.as_ref().map_or(p, |s| s.undo(p)));
            assert_eq!(back, t, "{size}");
        }
        let mixed = [DVec3::ZERO, DVec3::splat(1e200), DVec3::splat(1e-200)];
        assert!(fitted(&mixed, &mixed).is_none());
        assert!(fitted(&shape, &[DVec3::NAN; 3]).is_none());
        assert!(fitted(&shape, &[DVec3::INFINITY; 3]).is_none());
    }
}

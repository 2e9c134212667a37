//! On which side a point lies, decided exactly.
//!
//! The sign of a determinant of coordinates, as if it were worked out with real numbers: floating point first, with a bound of
//! its error, and sums without rounding (Shewchuk's expansions) only where that can't tell. So there is no tolerance to choose, and answers
//! about the same points never contradict each other. Only sums and products: the same on every machine.
//!
//! Holds as long as products of three differences neither overflow nor lose their last bits to underflow: for coordinates
//! that are 0 or between 10⁻⁷⁵ and 10⁷⁵ in size.

use glam::{DVec2, DVec3};
use robust::{Coord, Coord3D};

/// Half the distance from 1 to the next number: what one rounding may change, relative to the result.
pub const ROUNDING: f64 = f64::EPSILON / 2.0;

/// A determinant of three vectors with a greatest coordinate of 1 each is the sum of six products. Each has three rounded differences
/// in it and is rounded four to five times more, so 6 · 8 roundings bound the error; the rest is for the rounding of the bound.
pub const TRIPLE_ERROR: f64 = 50.0 * ROUNDING;

/// Below this the bound itself may have lost bits.
pub const LEAST_ERROR: f64 = f64::MIN_POSITIVE;

/// The sign of `value`: -1, 0 or 1.
#[inline(always)]
pub fn sign(value: f64) -> i8 {
    i8::from(value > 0.0) - i8::from(value < 0.0)
}

/// Where `d` lies from the plane through `a`, `b` and `c`: 1 on the side to which (b − a) × (c − a) points, -1 on the
/// other, 0 in the plane. Exact.
#[inline]
pub fn orient3d(a: DVec3, b: DVec3, c: DVec3, d: DVec3) -> i8 {
    let (u, v, w) = (b - a, c - a, d - a);
    let value = u.cross(v).dot(w);
    let size = |x: DVec3| x.abs().max_element();
    let error = TRIPLE_ERROR * (size(u) * size(v) * size(w)) + LEAST_ERROR;
    if value > error {
        1
    } else if -value > error {
        -1
    } else {
        orient3d_slow(a, b, c, d)
    }
}

/// [`orient3d`] for those who know already that floating point can't tell.
#[cold]
pub fn orient3d_slow(a: DVec3, b: DVec3, c: DVec3, d: DVec3) -> i8 {
    if let Some(value) = unrounded(a, b, c, d) {
        return sign(value);
    }
    let coordinates = |p: DVec3| Coord3D {
        x: p.x,
        y: p.y,
        z: p.z,
    };
    // There it is positive if seen from `d` the others go round clockwise.
    -sign(robust::orient3d(
        coordinates(a),
        coordinates(b),
        coordinates(c),
        coordinates(d),
    ))
}

/// The determinant, if nothing was rounded on the way to it: so it is where singular placements are given and not computed, with common corners, whole
/// numbers, planes along the axes. Costs a tenth of sums without rounding.
fn unrounded(a: DVec3, b: DVec3, c: DVec3, d: DVec3) -> Option<f64> {
    let (u, v, w) = (b - a, c - a, d - a);
    let lost =
        lost_in_difference(b, a, u) + lost_in_difference(c, a, v) + lost_in_difference(d, a, w);
    let (plus, minus) = (
        [u.y * v.z, u.z * v.x, u.x * v.y],
        [u.z * v.y, u.x * v.z, u.y * v.x],
    );
    let normal = DVec3::from(plus) - DVec3::from(minus);
    let terms = normal * w;
    let sum = terms.x + terms.y;
    // What a product has lost; fused, so that it is exact.
    let off = |x: f64, y: f64, product: f64| x.mul_add(y, -product).abs();
    let lost =
        lost + DVec3::new(
            off(u.y, v.z, plus[0]),
            off(u.z, v.x, plus[1]),
            off(u.x, v.y, plus[2]),
        ) + DVec3::new(
            off(u.z, v.y, minus[0]),
            off(u.x, v.z, minus[1]),
            off(u.y, v.x, minus[2]),
        ) + lost_in_difference(plus.into(), minus.into(), normal)
            + DVec3::new(
                off(normal.x, w.x, terms.x),
                off(normal.y, w.y, terms.y),
                off(normal.z, w.z, terms.z),
            );
    let value = sum + terms.z;
    let last = DVec3::new(terms.x, sum, 0.0);
    let lost = lost
        + lost_in_difference(
            last,
            DVec3::new(-terms.y, -terms.z, 0.0),
            DVec3::new(sum, value, 0.0),
        );
    (lost == DVec3::ZERO).then_some(value)
}

/// The size of what rounding has taken from a − b (Knuth).
#[inline(always)]
fn lost_in_difference(a: DVec3, b: DVec3, difference: DVec3) -> DVec3 {
    let part = a - difference;
    ((a - (difference + part)) + (part - b)).abs()
}

/// Where `c` lies from the line through `a` and `b`: 1 to the left, -1 to the right, 0 on it. Exact.
#[inline]
pub fn orient2d(a: DVec2, b: DVec2, c: DVec2) -> i8 {
    let (u, v) = (a - c, b - c);
    let (plus, minus) = (u.x * v.y, u.y * v.x);
    // Two products with two rounded differences each, rounded once each and once together: less than five roundings of their sizes.
    let error = 5.0 * ROUNDING * (plus.abs() + minus.abs()) + LEAST_ERROR;
    let value = plus - minus;
    if value.abs() > error {
        sign(value)
    } else {
        orient2d_slow(a, b, c)
    }
}

#[cold]
fn orient2d_slow(a: DVec2, b: DVec2, c: DVec2) -> i8 {
    let (u, v) = (a - c, b - c);
    let lost = |a: DVec2, difference: DVec2| {
        let part = a - difference;
        (a - (difference + part)) + (part - c)
    };
    let (plus, minus) = (u.x * v.y, u.y * v.x);
    let off = DVec2::new(u.x.mul_add(v.y, -plus), u.y.mul_add(v.x, -minus));
    // If nothing was rounded, the products can be compared as they are.
    if lost(a, u) == DVec2::ZERO && lost(b, v) == DVec2::ZERO && off == DVec2::ZERO {
        return sign(plus - minus);
    }
    let coordinates = |p: DVec2| Coord { x: p.x, y: p.y };
    sign(robust::orient2d(
        coordinates(a),
        coordinates(b),
        coordinates(c),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Whole numbers are exact in i128.
    fn exact(a: DVec3, b: DVec3, c: DVec3, d: DVec3) -> i8 {
        let whole = |p: DVec3| p.to_array().map(|x| x as i128);
        let [a, b, c, d] = [a, b, c, d].map(whole);
        let from = |p: [i128; 3]| [0, 1, 2].map(|i| p[i] - a[i]);
        let (u, v, w) = (from(b), from(c), from(d));
        let minor = |i: usize, j: usize| u[i] * v[j] - u[j] * v[i];
        (minor(1, 2) * w[0] + minor(2, 0) * w[1] + minor(0, 1) * w[2]).signum() as i8
    }

    fn whole(size: i64) -> impl Strategy<Value = DVec3> {
        prop::array::uniform3(-size..=size).prop_map(|p| DVec3::from(p.map(|x| x as f64)))
    }

    proptest! {
        #[test]
        fn sides_are_those_of_whole_numbers(
            [a, b, c, d] in prop::array::uniform4(whole(3)),
            [e, f, g, h] in prop::array::uniform4(whole(1 << 37)),
        ) {
            prop_assert_eq!(orient3d(a, b, c, d), exact(a, b, c, d));
            prop_assert_eq!(orient3d(e, f, g, h), exact(e, f, g, h));
            // A point a hair off the plane, at a size where a determinant in floating point is noise.
            let near = a * 1e9;
            let (f, g) = (near + b, near + c);
            for d in [f + g - near, f + g - near + DVec3::X] {
                prop_assert_eq!(orient3d(near, f, g, d), exact(near, f, g, d));
            }
        }

        #[test]
        fn two_points_that_change_places_change_the_side(
            [a, b, c, d] in prop::array::uniform4(prop::array::uniform3(-1.0_f64..1.0).prop_map(DVec3::from)),
            weights in prop::array::uniform2(-1.0_f64..1.0),
        ) {
            let inside = a + (b - a) * weights[0] + (c - a) * weights[1];
            for d in [d, inside] {
                let side = orient3d(a, b, c, d);
                prop_assert_eq!(orient3d(b, a, c, d), -side);
                prop_assert_eq!(orient3d(a, b, d, c), -side);
                prop_assert_eq!(orient3d(b, c, a, d), side);
            }
            let flat = |p: DVec3| p.truncate();
            prop_assert_eq!(
                orient2d(flat(a), flat(b), flat(inside)),
                -orient2d(flat(b), flat(a), flat(inside))
            );
        }
    }
}

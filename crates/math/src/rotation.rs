//! Rotations: exponential map, its logarithm and its derivative.

use crate::real;
use glam::{DMat3, DQuat, DVec3};

/// Below this angle (rad) the closed forms lose digits and their series are exact to rounding.
const SMALL: f64 = 1e-4;

/// The matrix of the cross product: `skew(a) * b == a × b`.
pub fn skew(a: DVec3) -> DMat3 {
    DMat3::from_cols(
        DVec3::new(0.0, a.z, -a.y),
        DVec3::new(-a.z, 0.0, a.x),
        DVec3::new(a.y, -a.x, 0.0),
    )
}

/// The matrix `a bᵀ`.
pub fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// Angle between two vectors in rad, in [0, π]; accurate near 0 and near π, where the arc cosine
/// is not. Zero if either vector is zero.
pub fn angle(a: DVec3, b: DVec3) -> f64 {
    real::atan2(a.cross(b).length(), a.dot(b))
}

/// Rotation by `angle` rad about the unit vector `axis`.
pub fn from_axis_angle(axis: DVec3, angle: f64) -> DQuat {
    let (s, c) = real::sin_cos(0.5 * angle);
    let v = axis * s;
    DQuat::from_xyzw(v.x, v.y, v.z, c)
}

/// Sine and cosine of half of `angle` rad; quick for the small turns of a step.
#[inline]
pub fn half_sin_cos(angle: f64) -> (f64, f64) {
    let half = 0.5 * angle;
    let x = half * half;
    if x > 2.5e-4 {
        return real::sin_cos(half);
    }
    // Below about 0.03 rad so many terms are exact to rounding.
    let sine = half * (1.0 - x * (1.0 / 6.0 - x * (1.0 / 120.0 - x * (1.0 / 5_040.0))));
    let cosine = 1.0 - x * (1.0 / 2.0 - x * (1.0 / 24.0 - x * (1.0 / 720.0)));
    (sine, cosine)
}

/// Rotation about `v` by |v| rad: the exponential map.
#[inline]
pub fn from_scaled_axis(v: DVec3) -> DQuat {
    let angle2 = v.length_squared();
    if angle2 < 0.0625 {
        // Below a quarter of a radian fewer terms are exact to rounding.
        let x = 0.25 * angle2;
        let s = SINE[1..].iter().fold(0.0, |s, c| c - s * x);
        let c = COSINE[1..].iter().fold(0.0, |s, c| c - s * x);
        let w = v * (0.5 * s);
        return DQuat::from_xyzw(w.x, w.y, w.z, c);
    }
    if angle2 < 1.0 {
        // Both series in (|v|/2)², to rounding below one radian: a step's turn, and no root or division.
        let x = 0.25 * angle2;
        let mut s = 1.0 / 1_307_674_368_000.0;
        for c in SINE {
            s = c - s * x;
        }
        let mut c = 1.0 / 87_178_291_200.0;
        for k in COSINE {
            c = k - c * x;
        }
        let w = v * (0.5 * s);
        return DQuat::from_xyzw(w.x, w.y, w.z, c);
    }
    let angle = angle2.sqrt();
    from_axis_angle(v / angle, angle)
}

/// Rotation about `v` by 2 atan(|v|/2) rad: the Cayley map. The mean of a vector before and after it, crossed with `v`, is
/// the difference.
#[inline]
pub fn cayley(v: DVec3) -> DQuat {
    let half = v * 0.5;
    let c = 1.0 / (1.0 + half.length_squared()).sqrt();
    let w = half * c;
    DQuat::from_xyzw(w.x, w.y, w.z, c)
}

/// 1/(2k+1)! for k from 6 down to 0; the series of sin x / x alternates them.
const SINE: [f64; 7] = [
    1.0 / 6_227_020_800.0,
    1.0 / 39_916_800.0,
    1.0 / 362_880.0,
    1.0 / 5_040.0,
    1.0 / 120.0,
    1.0 / 6.0,
    1.0,
];

/// 1/(2k)! for k from 6 down to 0; the series of cos x alternates them.
const COSINE: [f64; 7] = [
    1.0 / 479_001_600.0,
    1.0 / 3_628_800.0,
    1.0 / 40_320.0,
    1.0 / 720.0,
    1.0 / 24.0,
    1.0 / 2.0,
    1.0,
];

/// The vector v with |v| ≤ π that [`from_scaled_axis`] turns into `q` (or into −q, the same
/// rotation).
pub fn to_scaled_axis(q: DQuat) -> DVec3 {
    let q = if q.w < 0.0 { -q } else { q };
    let v = DVec3::new(q.x, q.y, q.z);
    let s = v.length();
    if s < 0.5 * SMALL {
        // a/sin(a/2) with a = 2·asin(s): 2 + s²/3 + …
        return v * (2.0 + s * s / 3.0);
    }
    v * (2.0 * real::atan2(s, q.w) / s)
}

/// Derivative of the exponential map: turning by `v + δ` is turning by `v` and then by
/// `left_jacobian(v) · δ`, to first order in δ.
pub fn left_jacobian(v: DVec3) -> DMat3 {
    let angle2 = v.length_squared();
    let angle = angle2.sqrt();
    let (b, c) = if angle < SMALL {
        (0.5 - angle2 / 24.0, 1.0 / 6.0 - angle2 / 120.0)
    } else {
        let (s, co) = real::sin_cos(angle);
        ((1.0 - co) / angle2, (angle - s) / (angle2 * angle))
    };
    let k = skew(v);
    DMat3::IDENTITY + k * b + k * k * c
}

/// The rotation that takes `z` to the unit vector `axis`, its x axis as near to `x` as can be.
pub fn from_z_axis(axis: DVec3, x: DVec3) -> DQuat {
    let side = x - axis * x.dot(axis);
    let side = if side.length_squared() > 1e-12 {
        side.normalize()
    } else {
        axis.any_orthonormal_vector()
    };
    DQuat::from_mat3(&DMat3::from_cols(side, axis.cross(side), axis)).normalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cayley_map_moves_vectors_by_their_mean() {
        let (v, r) = (DVec3::new(0.7, -0.2, 1.1), DVec3::new(0.3, 2.0, -1.0));
        let turned = cayley(v) * r;
        assert!((turned - r - v.cross((r + turned) * 0.5)).length() < 1e-15);
    }

    const SAMPLES: [DVec3; 5] = [
        DVec3::ZERO,
        DVec3::new(1e-6, -2e-6, 1e-6),
        DVec3::new(9e-5, 0.0, 2e-5),
        DVec3::new(0.3, -1.2, 0.7),
        DVec3::new(1.5, 1.5, -1.5),
    ];

    #[test]
    fn logarithm_inverts_exponential() {
        for v in SAMPLES {
            assert!(
                (to_scaled_axis(from_scaled_axis(v)) - v).length() < 1e-13 * (1.0 + v.length())
            );
        }
    }

    #[test]
    fn exponential_is_a_unit_quaternion_on_both_sides_of_the_series() {
        for v in SAMPLES {
            assert!((from_scaled_axis(v).length() - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn left_jacobian_is_the_derivative_of_the_exponential() {
        for v in SAMPLES {
            for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
                let e = 1e-6;
                let ahead = from_scaled_axis(v + axis * e) * from_scaled_axis(v).conjugate();
                let back = from_scaled_axis(v - axis * e) * from_scaled_axis(v).conjugate();
                let measured = (to_scaled_axis(ahead) - to_scaled_axis(back)) / (2.0 * e);
                assert!((left_jacobian(v) * axis - measured).length() < 1e-8);
            }
        }
    }

    #[test]
    fn angles_near_zero_and_pi_keep_their_digits() {
        let a = DVec3::X;
        assert!((angle(a, DVec3::new(1.0, 1e-9, 0.0)) - 1e-9).abs() < 1e-20);
        let almost = DVec3::new(-1.0, 1e-9, 0.0);
        assert!((std::f64::consts::PI - angle(a, almost) - 1e-9).abs() < 1e-15);
    }

    #[test]
    fn a_frame_from_its_z_axis_is_right_handed_even_when_x_is_parallel() {
        for x in [DVec3::X, DVec3::Z] {
            let q = from_z_axis(DVec3::Z, x);
            assert!((q * DVec3::Z - DVec3::Z).length() < 1e-15);
            assert!((q.length() - 1.0).abs() < 1e-15);
        }
    }
}

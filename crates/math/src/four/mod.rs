//! Four vectors at a time, a lane for each.
//!
//! Only sums, products, quotients and square roots, in the order in which `glam` makes them: the same bits with and without vector
//! instructions, and the same as one vector at a time.

mod lanes;

use glam::{DMat3, DVec3};
pub use lanes::{flat, spread, unflat};
use std::ops::{Add, AddAssign, Sub, SubAssign};
pub use wide::f64x4;

/// How many.
pub const LANES: usize = 4;

/// The coordinates of four vectors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Four {
    /// Their x.
    pub x: f64x4,
    /// Their y.
    pub y: f64x4,
    /// Their z.
    pub z: f64x4,
}

impl Four {
    /// Zeros.
    pub const ZERO: Self = Self {
        x: f64x4::ZERO,
        y: f64x4::ZERO,
        z: f64x4::ZERO,
    };

    /// The same vector four times.
    #[inline(always)]
    pub fn splat(v: DVec3) -> Self {
        Self {
            x: f64x4::splat(v.x),
            y: f64x4::splat(v.y),
            z: f64x4::splat(v.z),
        }
    }

    /// Neighbours in memory.
    #[inline(always)]
    pub fn load(list: &[DVec3; LANES]) -> Self {
        Self::parted(flat(list))
    }

    /// Of twelve coordinates as they lie in memory.
    #[inline(always)]
    pub fn parted(parts: [f64x4; 3]) -> Self {
        let [x, y, z] = lanes::parted(parts);
        Self { x, y, z }
    }

    /// The twelve coordinates as they lie in memory.
    #[inline(always)]
    pub fn flat(self) -> [f64x4; 3] {
        lanes::together([self.x, self.y, self.z])
    }

    /// Any four. References, because an array of vectors that lie apart would be written to memory and read again across its
    /// parts, which waits.
    #[inline(always)]
    pub fn of(a: &DVec3, b: &DVec3, c: &DVec3, d: &DVec3) -> Self {
        let [x, y, z] = lanes::gathered(a, b, c, d);
        Self { x, y, z }
    }

    /// To neighbours in memory.
    #[inline(always)]
    pub fn store(self, list: &mut [DVec3; LANES]) {
        unflat(self.flat(), list);
    }

    /// One after the other.
    #[inline(always)]
    pub fn vectors(self) -> [DVec3; LANES] {
        let (x, y, z) = (self.x.to_array(), self.y.to_array(), self.z.to_array());
        [
            DVec3::new(x[0], y[0], z[0]),
            DVec3::new(x[1], y[1], z[1]),
            DVec3::new(x[2], y[2], z[2]),
            DVec3::new(x[3], y[3], z[3]),
        ]
    }

    /// The squares of their lengths.
    #[inline(always)]
    pub fn length_squared(self) -> f64x4 {
        self.x * self.x + self.y * self.y + self.z * self.z
    }

    /// Their lengths.
    #[inline(always)]
    pub fn length(self) -> f64x4 {
        self.length_squared().sqrt()
    }

    /// Each times its factor.
    #[inline(always)]
    pub fn times(self, factor: f64x4) -> Self {
        Self {
            x: self.x * factor,
            y: self.y * factor,
            z: self.z * factor,
        }
    }

    /// `matrix` times each.
    #[inline(always)]
    pub fn turned(self, matrix: &DMat3) -> Self {
        let row = |x: f64, y: f64, z: f64| {
            f64x4::splat(x) * self.x + f64x4::splat(y) * self.y + f64x4::splat(z) * self.z
        };
        let (a, b, c) = (matrix.x_axis, matrix.y_axis, matrix.z_axis);
        Self {
            x: row(a.x, b.x, c.x),
            y: row(a.y, b.y, c.y),
            z: row(a.z, b.z, c.z),
        }
    }

    /// Cross products.
    #[inline(always)]
    pub fn cross(self, other: Self) -> Self {
        Self {
            x: self.y * other.z - other.y * self.z,
            y: self.z * other.x - other.z * self.x,
            z: self.x * other.y - other.x * self.y,
        }
    }

    /// Their sum: (a + b) + (c + d).
    #[inline(always)]
    pub fn sum(self) -> DVec3 {
        let [a, b, c, d] = self.vectors();
        (a + b) + (c + d)
    }
}

impl Add for Four {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self {
            x: self.x + other.x,
            y: self.y + other.y,
            z: self.z + other.z,
        }
    }
}

impl Sub for Four {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self {
            x: self.x - other.x,
            y: self.y - other.y,
            z: self.z - other.z,
        }
    }
}

impl AddAssign for Four {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for Four {
    #[inline(always)]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_at_a_time_give_the_bits_of_one_at_a_time() {
        let list: Vec<DVec3> = (0..8)
            .map(|i| DVec3::new(0.1, 0.7, -0.3) * (1.0 + f64::from(i)) + DVec3::splat(1.0 / 3.0))
            .collect();
        let a = Four::of(&list[5], &list[0], &list[3], &list[6]);
        let b = Four::load(list[4..].try_into().unwrap());
        let matrix = DMat3::from_cols(list[0], list[3], list[7]);
        let one = [5, 0, 3, 6].map(|i: usize| list[i]);
        for i in 0..LANES {
            let (u, v) = (one[i], list[4 + i]);
            assert_eq!(a.vectors()[i], u);
            assert_eq!((a + b).vectors()[i], u + v);
            assert_eq!((a - b).vectors()[i], u - v);
            assert_eq!(a.cross(b).vectors()[i], u.cross(v));
            assert_eq!(a.turned(&matrix).vectors()[i], matrix * u);
            assert_eq!(a.length().to_array()[i], u.length());
            assert_eq!(a.times(b.x).vectors()[i], u * v.x);
        }
        assert_eq!(a.sum(), (one[0] + one[1]) + (one[2] + one[3]));
        let mut out = [DVec3::ZERO; LANES];
        a.store(&mut out);
        assert_eq!(out, one);
        assert_eq!(Four::splat(list[2]).vectors(), [list[2]; LANES]);
    }
}

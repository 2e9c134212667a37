//! How twelve coordinates in memory become three times four lanes and back.
//!
//! Nothing is worked out here, so the instructions can't show in any result: they are named because compilers write arrays of vectors to
//! memory and read them again across their parts, which waits. Where there is no AVX2 the same is said plainly.

use super::LANES;
use glam::DVec3;
use wide::f64x4;

#[cfg(all(target_arch = "x86_64", target_feature = "avx2"))]
mod named {
    use super::{DVec3, LANES, f64x4};
    use std::{arch::x86_64::*, mem::transmute};

    // Three f64 without gaps: four neighbours are twelve coordinates.
    const _: () = assert!(size_of::<[DVec3; LANES]>() == 12 * size_of::<f64>());

    #[inline(always)]
    fn ours(lanes: __m256d) -> f64x4 {
        // SAFETY: both are four f64 and nothing else.
        unsafe { transmute(lanes) }
    }

    #[inline(always)]
    fn theirs(lanes: f64x4) -> __m256d {
        // SAFETY: as above.
        unsafe { transmute(lanes) }
    }

    /// Twelve coordinates as they lie in memory.
    #[inline(always)]
    pub fn flat(list: &[DVec3; LANES]) -> [f64x4; 3] {
        let first: *const f64 = std::ptr::from_ref(list).cast();
        // SAFETY: twelve f64 are there, and loads need no alignment. AVX2 is there: this module is left out otherwise.
        unsafe {
            [
                ours(_mm256_loadu_pd(first)),
                ours(_mm256_loadu_pd(first.add(4))),
                ours(_mm256_loadu_pd(first.add(8))),
            ]
        }
    }

    /// Twelve coordinates to memory.
    #[inline(always)]
    pub fn unflat(parts: [f64x4; 3], list: &mut [DVec3; LANES]) {
        let first: *mut f64 = std::ptr::from_mut(list).cast();
        // SAFETY: there is room for twelve f64, any bits are some, and stores need no alignment.
        unsafe {
            _mm256_storeu_pd(first, theirs(parts[0]));
            _mm256_storeu_pd(first.add(4), theirs(parts[1]));
            _mm256_storeu_pd(first.add(8), theirs(parts[2]));
        }
    }

    /// x₀ y₀ z₀ x₁ | y₁ z₁ x₂ y₂ | z₂ x₃ y₃ z₃ to x, y, z: every lane is at a place of its own in one of the three, so that blends, which
    /// are cheap, collect them, and one permutation puts them in order.
    #[inline(always)]
    pub fn parted(parts: [f64x4; 3]) -> [f64x4; 3] {
        let [a, b, c] = parts.map(theirs);
        // SAFETY: AVX2 is there: this module is left out otherwise.
        unsafe {
            let x = _mm256_blend_pd::<0b0100>(_mm256_blend_pd::<0b0010>(a, c), b);
            let y = _mm256_blend_pd::<0b0100>(_mm256_blend_pd::<0b0010>(b, a), c);
            let z = _mm256_blend_pd::<0b0100>(_mm256_blend_pd::<0b0010>(c, b), a);
            [
                ours(_mm256_permute4x64_pd::<0b01_10_11_00>(x)),
                ours(_mm256_permute_pd::<0b0101>(y)),
                ours(_mm256_permute4x64_pd::<0b11_00_01_10>(z)),
            ]
        }
    }

    /// The other way.
    #[inline(always)]
    pub fn together(parts: [f64x4; 3]) -> [f64x4; 3] {
        let [x, y, z] = parts.map(theirs);
        // SAFETY: as above.
        unsafe {
            let x = _mm256_permute4x64_pd::<0b01_10_11_00>(x);
            let y = _mm256_permute_pd::<0b0101>(y);
            let z = _mm256_permute4x64_pd::<0b11_00_01_10>(z);
            [
                ours(_mm256_blend_pd::<0b0100>(
                    _mm256_blend_pd::<0b0010>(x, y),
                    z,
                )),
                ours(_mm256_blend_pd::<0b0100>(
                    _mm256_blend_pd::<0b0010>(y, z),
                    x,
                )),
                ours(_mm256_blend_pd::<0b0100>(
                    _mm256_blend_pd::<0b0010>(z, x),
                    y,
                )),
            ]
        }
    }

    /// A number for each of four neighbours, where its coordinates lie.
    #[inline(always)]
    pub fn spread(numbers: f64x4) -> [f64x4; 3] {
        let numbers = theirs(numbers);
        // SAFETY: as above.
        unsafe {
            [
                ours(_mm256_permute4x64_pd::<0b01_00_00_00>(numbers)),
                ours(_mm256_permute4x64_pd::<0b10_10_01_01>(numbers)),
                ours(_mm256_permute4x64_pd::<0b11_11_11_10>(numbers)),
            ]
        }
    }

    /// Vectors that lie anywhere, as x, y, z.
    #[inline(always)]
    pub fn gathered(a: &DVec3, b: &DVec3, c: &DVec3, d: &DVec3) -> [f64x4; 3] {
        let at = |v: &DVec3| std::ptr::from_ref(v).cast::<f64>();
        // SAFETY: two f64 are read where three are, and loads need no alignment.
        unsafe {
            let two = |v: &DVec3| _mm_loadu_pd(at(v));
            let ac = _mm256_insertf128_pd::<1>(_mm256_castpd128_pd256(two(a)), two(c));
            let bd = _mm256_insertf128_pd::<1>(_mm256_castpd128_pd256(two(b)), two(d));
            [
                ours(_mm256_unpacklo_pd(ac, bd)),
                ours(_mm256_unpackhi_pd(ac, bd)),
                f64x4::new([a.z, b.z, c.z, d.z]),
            ]
        }
    }
}

#[cfg(not(all(target_arch = "x86_64", target_feature = "avx2")))]
mod named {
    pub use super::plain::*;
}

pub use named::{flat, gathered, parted, spread, together, unflat};

/// The same, plainly.
#[cfg(any(test, not(all(target_arch = "x86_64", target_feature = "avx2"))))]
mod plain {
    use super::{DVec3, LANES, f64x4};

    /// Twelve coordinates as they lie in memory.
    pub fn flat([a, b, c, d]: &[DVec3; LANES]) -> [f64x4; 3] {
        [
            f64x4::new([a.x, a.y, a.z, b.x]),
            f64x4::new([b.y, b.z, c.x, c.y]),
            f64x4::new([c.z, d.x, d.y, d.z]),
        ]
    }

    /// Twelve coordinates to memory.
    pub fn unflat(parts: [f64x4; 3], list: &mut [DVec3; LANES]) {
        let [a, b, c] = parts.map(f64x4::to_array);
        *list = [
            DVec3::new(a[0], a[1], a[2]),
            DVec3::new(a[3], b[0], b[1]),
            DVec3::new(b[2], b[3], c[0]),
            DVec3::new(c[1], c[2], c[3]),
        ];
    }

    pub fn parted(parts: [f64x4; 3]) -> [f64x4; 3] {
        let [a, b, c] = parts.map(f64x4::to_array);
        [
            f64x4::new([a[0], a[3], b[2], c[1]]),
            f64x4::new([a[1], b[0], b[3], c[2]]),
            f64x4::new([a[2], b[1], c[0], c[3]]),
        ]
    }

    pub fn together(parts: [f64x4; 3]) -> [f64x4; 3] {
        let [x, y, z] = parts.map(f64x4::to_array);
        [
            f64x4::new([x[0], y[0], z[0], x[1]]),
            f64x4::new([y[1], z[1], x[2], y[2]]),
            f64x4::new([z[2], x[3], y[3], z[3]]),
        ]
    }

    /// A number for each of four neighbours, where its coordinates lie.
    pub fn spread(numbers: f64x4) -> [f64x4; 3] {
        let [a, b, c, d] = numbers.to_array();
        [
            f64x4::new([a, a, a, b]),
            f64x4::new([b, b, c, c]),
            f64x4::new([c, d, d, d]),
        ]
    }

    pub fn gathered(a: &DVec3, b: &DVec3, c: &DVec3, d: &DVec3) -> [f64x4; 3] {
        [
            f64x4::new([a.x, b.x, c.x, d.x]),
            f64x4::new([a.y, b.y, c.y, d.y]),
            f64x4::new([a.z, b.z, c.z, d.z]),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::{named, plain};
    use glam::DVec3;

    #[test]
    fn named_instructions_do_what_is_said_plainly() {
        let list = [1.0, 4.0, 7.0, 10.0].map(|x| DVec3::new(x, x + 1.0, x + 2.0));
        let flat = plain::flat(&list);
        assert_eq!(named::flat(&list), flat);
        let parted = plain::parted(flat);
        assert_eq!(named::parted(flat), parted);
        assert_eq!(plain::together(parted), flat);
        assert_eq!(named::together(parted), flat);
        let numbers = wide::f64x4::new([3.0, 5.0, 7.0, 9.0]);
        assert_eq!(named::spread(numbers), plain::spread(numbers));
        let [a, b, c, d] = &list;
        assert_eq!(plain::gathered(a, b, c, d), parted);
        assert_eq!(named::gathered(a, b, c, d), parted);
        let mut back = [DVec3::ZERO; 4];
        named::unflat(flat, &mut back);
        assert_eq!(back, list);
        let mut back = [DVec3::ZERO; 4];
        plain::unflat(flat, &mut back);
        assert_eq!(back, list);
    }
}

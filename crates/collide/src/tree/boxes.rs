//! Boxes of single precision, one and eight at a time.
//!
//! Coordinates are rounded to the nearest number of single precision, which keeps their order: what is not greater before is not greater
//! after. So boxes that overlap do so after rounding, too, and nothing has to be rounded outwards as long as rounded boxes are only
//! compared, and joined, with rounded ones.

use super::MAX_COORDINATE;
use glam::DVec3;
use trocar_math::{Bounds, fetch};
use wide::{f32x4, f32x8};

/// How many boxes stand side by side.
pub(super) const LANES: usize = 8;

/// A box along the axes, m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Box32 {
    pub low: [f32; 3],
    pub high: [f32; 3],
}

impl Box32 {
    /// With nothing in it.
    pub const EMPTY: Self = Self {
        low: [f32::INFINITY; 3],
        high: [f32::NEG_INFINITY; 3],
    };

    /// With everything in it: twice as far as a node may be. Not infinite, or it would meet the empty box.
    pub const ALL: Self = Self {
        low: [-2e30; 3],
        high: [2e30; 3],
    };

    #[inline(always)]
    pub fn new(low: DVec3, high: DVec3) -> Self {
        Self {
            low: low.as_vec3().to_array(),
            high: high.as_vec3().to_array(),
        }
    }

    #[inline(always)]
    pub fn of(corners: &[DVec3; 3]) -> Self {
        let [a, b, c] = *corners;
        let far = (a.abs() + b.abs() + c.abs()).max_element();
        if far > MAX_COORDINATE || (a + b + c).is_nan() {
            // Least and greatest would pass over a corner that is nowhere, and what is too far away would be infinite.
            return Self::within_all(&Bounds::of(*corners));
        }
        Self::new(a.min(b).min(c), a.max(b).max(c))
    }

    /// Without limits where those of `bounds` are no numbers, and nowhere infinite: all that is farther away than a node may be is at the rim, and so near everything else there.
    pub fn within_all(bounds: &Bounds) -> Self {
        let Bounds { low, high } = bounds.certain();
        let [least, most] = [Self::ALL.low, Self::ALL.high].map(|k| DVec3::splat(k[0].into()));
        Self::new(low.clamp(least, most), high.clamp(least, most))
    }

    /// In double precision, and larger by what rounding may have hidden; without limits from the rim on.
    pub fn outside(&self) -> Bounds {
        // Half a unit in the last place of what is not so small that there are none.
        let more = |x: f64| f64::from(f32::EPSILON) * x.abs() + 1e-40;
        let (low, high) = (self.low.map(f64::from), self.high.map(f64::from));
        let [least, most] = [Self::ALL.low[0], Self::ALL.high[0]].map(f64::from);
        let beyond = |is: bool, otherwise, x| if is { otherwise } else { x };
        Bounds {
            low: DVec3::from(low.map(|x| beyond(x <= least, f64::NEG_INFINITY, x - more(x)))),
            high: DVec3::from(high.map(|x| beyond(x >= most, f64::INFINITY, x + more(x)))),
        }
    }

    #[inline(always)]
    pub fn overlaps(&self, other: &Self) -> bool {
        (0..3).all(|k| self.low[k] <= other.high[k] && other.low[k] <= self.high[k])
    }

    /// Its longest side, m.
    #[inline(always)]
    pub fn width(&self) -> f32 {
        let [x, y, z] = [0, 1, 2].map(|k| self.high[k] - self.low[k]);
        x.max(y).max(z)
    }

    #[inline(always)]
    pub fn join(&self, other: &Self) -> Self {
        let least = |a: f32, b: f32| if a < b { a } else { b };
        let greatest = |a: f32, b: f32| if a > b { a } else { b };
        Self {
            low: [0, 1, 2].map(|k| least(self.low[k], other.low[k])),
            high: [0, 1, 2].map(|k| greatest(self.high[k], other.high[k])),
        }
    }

    /// Larger by `margin` (m) on every side, and by what rounding of both this and another box may hide.
    pub fn grown(&self, margin: f32) -> Self {
        if margin == 0.0 {
            return *self;
        }
        // Each box is off by half a unit in the last place, of its own coordinates, and so are the margin and the sum. Where they are near
        // each other theirs are alike; where not, nothing depends on it.
        let more = |x: f32| margin + 4.0 * f32::EPSILON * (x.abs() + margin);
        Self {
            low: self.low.map(|x| x - more(x)),
            high: self.high.map(|x| x + more(x)),
        }
    }

    pub fn centre(&self, axis: usize) -> f32 {
        0.5 * (self.low[axis] + self.high[axis])
    }
}

/// Eight boxes, a lane each.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(super) struct Lanes {
    low: [[f32; LANES]; 3],
    high: [[f32; LANES]; 3],
}

impl Lanes {
    pub const EMPTY: Self = Self {
        low: [[f32::INFINITY; LANES]; 3],
        high: [[f32::NEG_INFINITY; LANES]; 3],
    };

    /// Begins to bring them near: two rows are a line of the cache.
    pub fn fetch(&self) {
        [&self.low[0], &self.low[2], &self.high[1]]
            .into_iter()
            .for_each(fetch);
    }

    #[inline(always)]
    pub fn set(&mut self, lane: usize, one: &Box32) {
        for k in 0..3 {
            self.low[k][lane] = one.low[k];
            self.high[k][lane] = one.high[k];
        }
    }

    #[inline(always)]
    pub fn get(&self, lane: usize) -> Box32 {
        Box32 {
            low: [0, 1, 2].map(|k| self.low[k][lane]),
            high: [0, 1, 2].map(|k| self.high[k][lane]),
        }
    }

    /// The box around all.
    #[inline(always)]
    pub fn whole(&self) -> Box32 {
        // Four lanes and four, two and two, one and one.
        let fold = |list: &[f32; LANES], pick: fn(f32x4, f32x4) -> f32x4| {
            let [a, b, c, d, e, f, g, h] = *list;
            let four = pick(f32x4::new([a, b, c, d]), f32x4::new([e, f, g, h]));
            let [a, b, c, d] = four.to_array();
            let two = pick(four, f32x4::new([c, d, a, b]));
            let [a, b, c, d] = two.to_array();
            pick(two, f32x4::new([b, a, d, c])).to_array()[0]
        };
        Box32 {
            low: [0, 1, 2].map(|k| fold(&self.low[k], f32x4::fast_min)),
            high: [0, 1, 2].map(|k| fold(&self.high[k], f32x4::fast_max)),
        }
    }

    /// Every box that is there larger by `margin` (m), as [`Box32::grown`] does it.
    pub fn grow(&mut self, margin: f32) {
        let [margin, part] = [margin, 4.0 * f32::EPSILON].map(f32x8::splat);
        let all = f32x8::splat(f32::INFINITY);
        for k in 0..3 {
            let (low, high) = (f32x8::new(self.low[k]), f32x8::new(self.high[k]));
            let more = |x: f32x8| margin + part * (x.abs() + margin);
            // An empty box would be no number afterwards.
            let there = low.simd_lt(all);
            self.low[k] = there.bitselect(low - more(low), low).to_array();
            self.high[k] = there.bitselect(high + more(high), high).to_array();
        }
    }

    /// A bit for every lane that shares a point with `one`.
    #[inline(always)]
    pub fn overlapping(&self, one: &Box32) -> u32 {
        let splat = f32x8::splat;
        let load = f32x8::new;
        let axis = |k: usize| {
            load(self.low[k]).simd_le(splat(one.high[k]))
                & splat(one.low[k]).simd_le(load(self.high[k]))
        };
        (axis(0) & axis(1) & axis(2)).to_bitmask()
    }

    /// The lane, among those of `mask`, whose surface grows least if it takes `one` in.
    pub fn least_growth(&self, mask: u32, one: &Box32) -> Option<usize> {
        let load = f32x8::new;
        let mut size = [f32x8::ZERO; 3];
        let mut grown = [f32x8::ZERO; 3];
        for k in 0..3 {
            let (low, high) = (load(self.low[k]), load(self.high[k]));
            size[k] = high - low;
            grown[k] =
                high.fast_max(f32x8::splat(one.high[k])) - low.fast_min(f32x8::splat(one.low[k]));
        }
        let surface = |[x, y, z]: [f32x8; 3]| x * y + y * z + z * x;
        let growth = (surface(grown) - surface(size)).to_array();
        let surface = surface(size).to_array();
        let key = |lane: &usize| (growth[*lane], surface[*lane]);
        (0..LANES)
            .filter(|lane| mask & (1 << lane) != 0)
            .min_by(|a, b| {
                let ((ga, sa), (gb, sb)) = (key(a), key(b));
                ga.total_cmp(&gb).then(sa.total_cmp(&sb))
            })
    }
}

/// Not smaller than `margin`, as far as that matters: no two nodes are further apart than 2·10³⁰ m along an axis.
#[inline(always)]
pub(super) fn rounded_up(margin: f64) -> f32 {
    let near = margin.min(4e30) as f32;
    if f64::from(near) < margin.min(4e30) {
        near.next_up()
    } else {
        near
    }
}

/// The set bits, lowest first.
#[inline(always)]
pub(super) fn bits(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (bit < 32).then_some(bit as usize)
    })
}

//! Axis-aligned boxes.

use glam::DVec3;

/// A box along the axes, m. Empty until something is added.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Least corner.
    pub low: DVec3,
    /// Greatest corner.
    pub high: DVec3,
}

impl Bounds {
    /// The box with nothing in it.
    pub const EMPTY: Self = Self {
        low: DVec3::INFINITY,
        high: DVec3::NEG_INFINITY,
    };

    /// The smallest box around `points`.
    pub fn of(points: impl IntoIterator<Item = DVec3>) -> Self {
        let mut bounds = Self::EMPTY;
        points.into_iter().for_each(|p| bounds.add(p));
        bounds
    }

    /// Grows to hold `point`. Along an axis on which that is no number it may be anywhere: there the box is without limits from then on.
    pub fn add(&mut self, point: DVec3) {
        let unknown = point.is_nan_mask();
        let low = DVec3::select(unknown, DVec3::NEG_INFINITY, point);
        let high = DVec3::select(unknown, DVec3::INFINITY, point);
        self.low = self.low.min(low);
        self.high = self.high.max(high);
    }

    /// The same box, but without limits wherever a side of it is no number.
    pub fn certain(&self) -> Self {
        let pick = |side: DVec3, otherwise| DVec3::select(side.is_nan_mask(), otherwise, side);
        Self {
            low: pick(self.low, DVec3::NEG_INFINITY),
            high: pick(self.high, DVec3::INFINITY),
        }
    }

    /// Grows by `margin` (m) on every side.
    pub fn grown(&self, margin: f64) -> Self {
        Self {
            low: self.low - margin,
            high: self.high + margin,
        }
    }

    /// True if the two boxes share a point.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.low.cmple(other.high).all() && other.low.cmple(self.high).all()
    }

    /// Edge lengths, m.
    pub fn size(&self) -> DVec3 {
        self.high - self.low
    }

    /// Middle of the box.
    pub fn centre(&self) -> DVec3 {
        0.5 * (self.low + self.high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_that_touch_overlap_and_the_empty_one_never_does() {
        let a = Bounds::of([DVec3::ZERO, DVec3::ONE]);
        let b = Bounds::of([DVec3::ONE, DVec3::splat(2.0)]);
        assert!(a.overlaps(&b) && b.overlaps(&a));
        assert!(!a.overlaps(&b.grown(-0.1)));
        assert!(!a.overlaps(&Bounds::EMPTY));
        assert_eq!(a.centre(), DVec3::splat(0.5));
        assert_eq!(b.size(), DVec3::ONE);
    }

    #[test]
    fn what_is_no_number_never_makes_a_box_smaller() {
        let (deep, far) = (DVec3::ZERO, DVec3::splat(5.0));
        for points in [
            [deep, DVec3::NAN, far],
            [DVec3::NAN, deep, far],
            [deep, far, DVec3::NAN],
        ] {
            let all = Bounds::of(points);
            assert_eq!(all.low, DVec3::NEG_INFINITY);
            assert_eq!(all.high, DVec3::INFINITY);
        }
        let along = Bounds::of([deep, DVec3::new(1.0, f64::NAN, 2.0)]);
        assert_eq!(along.low, DVec3::new(0.0, f64::NEG_INFINITY, 0.0));
        assert_eq!(along.high, DVec3::new(1.0, f64::INFINITY, 2.0));
        let grown = Bounds::of([deep, far]).grown(f64::NAN);
        assert!(grown.certain().overlaps(&Bounds::of([DVec3::splat(-9.0)])));
        assert_eq!(Bounds::EMPTY.certain(), Bounds::EMPTY);
    }
}

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

    /// Grows to hold `point`.
    pub fn add(&mut self, point: DVec3) {
        self.low = self.low.min(point);
        self.high = self.high.max(point);
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
}

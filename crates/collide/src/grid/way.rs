//! Where a moving point first comes into a body (F43): what is fast is not only looked at where it ends.

use super::{Grid, STEEPEST};
use glam::DVec3;
use trocar_math::Bounds;

/// The least step along the way, in cells.
const LEAST: f64 = 1.0 / 32.0;

impl Grid {
    /// The part of the straight way `from` one place `to` another (body's frame, m) after which a point is in the body; nothing if it never is, or if a place is
    /// no number. 0 if it starts there. As many steps as the way inside the grid's box is long, in 32nds of a cell, at most; what it only grazes, less
    /// deep than such a step leads, need not be seen.
    pub fn enters(&self, from: DVec3, to: DVec3) -> Option<f64> {
        self.first(from, to, 0.0, 0.0)
    }

    /// The same of a way that is never farther `aside` (m, far less than a cell) from the straight one, nothing of which is left out: a point is taken to be in the body as soon as it is so near
    /// that no step is small enough to be sure.
    pub(crate) fn comes_near(&self, from: DVec3, to: DVec3, aside: f64) -> Option<f64> {
        let near = -STEEPEST * (aside + LEAST * self.cell);
        self.first(from, to, near, aside)
    }

    /// The part of a way after which a point is at least so deep, if nothing of it is deeper than what a step leads to.
    fn first(&self, from: DVec3, to: DVec3, least: f64, aside: f64) -> Option<f64> {
        let way = to - from;
        let length = way.length();
        if !length.is_finite() {
            return None;
        }
        let inside = |p: DVec3| self.at(p).map(|at| at.depth);
        let (mut at, end) = within(&self.bounds(), from, way)?;
        loop {
            // Of what is not known it is known that it is a cell or more outside.
            let depth = inside(from + way * at).unwrap_or(-STEEPEST * self.cell);
            if depth >= least {
                return Some(at);
            }
            if at >= end {
                return None;
            }
            let step = (-depth / STEEPEST - aside).max(LEAST * self.cell);
            // A way of no length has come to its end. One so long that a step of it is nothing beside it goes on all the same.
            at = (at + step / length).max(at.next_up()).min(end);
        }
    }
}

/// The parts of a way between which it is in a box.
fn within(bounds: &Bounds, from: DVec3, way: DVec3) -> Option<(f64, f64)> {
    let (mut first, mut last) = (0.0_f64, 1.0_f64);
    for k in 0..3 {
        if way[k] == 0.0 {
            if from[k] < bounds.low[k] || from[k] > bounds.high[k] {
                return None;
            }
            continue;
        }
        let one = (bounds.low[k] - from[k]) / way[k];
        let two = (bounds.high[k] - from[k]) / way[k];
        first = first.max(one.min(two));
        last = last.min(one.max(two));
    }
    (first <= last).then_some((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_however_long_comes_to_its_end() {
        let corners = [0, 1, 2, 3].map(|k| {
            let [x, y] = [f64::from(k & 1), f64::from(k >> 1)];
            DVec3::new(x, y, if k == 1 || k == 2 { 1.0 } else { 0.0 }) * 0.1
        });
        let triangles = [[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]];
        let grid = Grid::new(&corners, &triangles, 0.005).unwrap();
        let middle = corners.iter().sum::<DVec3>() / 4.0;
        let mut met = 0;
        for far in [1.0, 1e6, 1e12, 1e13, 1e15, 1e300] {
            for way in [DVec3::X, DVec3::new(0.3, -0.8, 0.5), DVec3::NEG_Z] {
                let (from, to) = (middle - way * far, middle + way * far);
                met += usize::from(grid.enters(from, to).is_some());
                let _ = grid.comes_near(from, to, 1e-4);
            }
        }
        assert!(met >= 6, "{met}");
    }
}

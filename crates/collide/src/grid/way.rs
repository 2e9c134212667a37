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
            // A way of no length has come to its end.
            at = (at + step / length).min(end);
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

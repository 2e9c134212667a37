//! Broad phase: which pairs may touch at all (B73).

use glam::DVec3;
use trocar_math::{Bounds, nearly_sorted};

/// Two colliders, by index; `a` is the lower one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pair {
    /// The lower index.
    pub a: u32,
    /// The higher index.
    pub b: u32,
}

impl Pair {
    /// Of two different indices in any order.
    pub fn new(i: u32, j: u32) -> Self {
        Self {
            a: i.min(j),
            b: i.max(j),
        }
    }
}

/// Sweep and prune along the axis on which the boxes are spread furthest, in strips along the second.
///
/// Keeps the order of the last step, which is nearly the order of this one, so that sorting costs O(n). Only the time
/// depends on it: the pairs found, and their order, do not. The strips keep the sweep short where a heap is as broad as
/// it is long: without them each box would meet all those beside it.
#[derive(Clone, Debug, Default)]
pub struct Broad {
    /// Colliders in the order of the lower ends of their boxes.
    order: Vec<u32>,
    /// The boxes of all strips, each strip in that order: the sweep reads memory forwards.
    entries: Vec<Entry>,
    /// Where each strip starts in `entries`; later, where the pairs of each collider start.
    starts: Vec<u32>,
    /// Pairs as they are found.
    found: Vec<Pair>,
}

/// A box in a strip; x along the sweep, y across the strips.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    low: DVec3,
    high: DVec3,
    index: u32,
    /// The first strip it is in.
    strip: u32,
}

/// How space is divided along one axis.
#[derive(Clone, Copy, Debug)]
struct Strips {
    from: f64,
    width: f64,
    count: u32,
}

impl Strips {
    /// Twice as wide as the boxes are on average, and not many more than there are boxes.
    fn new(bounds: &[Bounds], axis: usize) -> Self {
        let (mut low, mut high, mut sum, mut count) =
            (f64::INFINITY, f64::NEG_INFINITY, 0.0, 0_u32);
        for one in bounds {
            let (from, to) = (one.low[axis], one.high[axis]);
            if (to - from).is_finite() {
                (low, high) = (low.min(from), high.max(to));
                sum += to - from;
                count += 1;
            }
        }
        let width = (2.0 * sum).max(8.0 * (high - low)) / f64::from(count);
        if width > 0.0 && width.is_finite() {
            Self {
                from: low,
                width,
                count: ((high - low) / width) as u32 + 1,
            }
        } else {
            Self {
                from: 0.0,
                width: 1.0,
                count: 1,
            }
        }
    }

    /// Which strip `at` (m) is in; those beyond the ends belong to the last ones.
    fn of(&self, at: f64) -> u32 {
        // Conversion saturates, so that nothing is below 0.
        (((at - self.from) / self.width) as u32).min(self.count - 1)
    }
}

impl Broad {
    /// Makes room for so many boxes and pairs, so that no update asks for memory.
    pub(crate) fn reserve(&mut self, boxes: usize, pairs: usize) {
        // There is at most one strip for eight boxes; most are in few of them.
        let strips = boxes / 8 + 1;
        let reserve = |now: usize, most: usize| most.saturating_sub(now);
        self.order.reserve(reserve(self.order.len(), boxes));
        let entries = boxes * strips.min(8);
        self.entries.reserve(reserve(self.entries.len(), entries));
        self.starts
            .reserve(reserve(self.starts.len(), boxes.max(strips) + 2));
        self.found.reserve(reserve(self.found.len(), pairs));
    }

    /// Writes all pairs of overlapping `bounds` that `keep` agrees to into `pairs`, in ascending order. `keep` gets the
    /// lower index first; it is where static bodies, sleeping ones and neighbours in a joint are left out.
    ///
    /// A box without limits (a half space) overlaps with everything. One that is not a number overlaps with nothing.
    pub fn update(
        &mut self,
        bounds: &[Bounds],
        keep: impl FnMut(u32, u32) -> bool,
        pairs: &mut Vec<Pair>,
    ) {
        let axes = axes_by_spread(bounds);
        self.sort(bounds, axes[0]);
        let strips = Strips::new(bounds, axes[1]);
        self.fill(bounds, axes, &strips);
        self.sweep(strips.count, keep);
        self.collect(bounds.len(), pairs);
    }

    /// Puts every box into each strip it touches.
    fn fill(&mut self, bounds: &[Bounds], axes: [usize; 3], strips: &Strips) {
        let turned = |v: DVec3| DVec3::new(v[axes[0]], v[axes[1]], v[axes[2]]);
        let range = |one: &Bounds| {
            let bad = one.low.is_nan() || one.high.is_nan();
            let (first, last) = (strips.of(one.low[axes[1]]), strips.of(one.high[axes[1]]));
            if bad { 0..0 } else { first..last + 1 }
        };
        self.starts.clear();
        self.starts.resize(strips.count as usize + 1, 0);
        for one in bounds {
            for strip in range(one) {
                self.starts[strip as usize + 1] += 1;
            }
        }
        for strip in 1..self.starts.len() {
            self.starts[strip] += self.starts[strip - 1];
        }
        let total = self.starts[strips.count as usize] as usize;
        self.entries.clear();
        self.entries.resize(total, Entry::default());
        for &index in &self.order {
            let one = &bounds[index as usize];
            let range = range(one);
            let entry = Entry {
                low: turned(one.low),
                high: turned(one.high),
                index,
                strip: range.start,
            };
            for strip in range {
                let at = &mut self.starts[strip as usize];
                self.entries[*at as usize] = entry;
                *at += 1;
            }
        }
    }

    /// Finds the pairs of every strip. Filling has moved each start to the end of its strip.
    fn sweep(&mut self, strips: u32, mut keep: impl FnMut(u32, u32) -> bool) {
        self.found.clear();
        let mut start = 0;
        for strip in 0..strips {
            let end = self.starts[strip as usize] as usize;
            let entries = &self.entries[start..end];
            start = end;
            for (at, one) in entries.iter().enumerate() {
                for other in &entries[at + 1..] {
                    if other.low.x > one.high.x {
                        break;
                    }
                    // Not `||`: four guesses about the next branch cost more than four comparisons.
                    let apart = (other.low.y > one.high.y)
                        | (one.low.y > other.high.y)
                        | (other.low.z > one.high.z)
                        | (one.low.z > other.high.z);
                    // Two that share several strips are found in the first of them.
                    if apart || one.strip.max(other.strip) != strip {
                        continue;
                    }
                    let pair = Pair::new(one.index, other.index);
                    if keep(pair.a, pair.b) {
                        self.found.push(pair);
                    }
                }
            }
        }
    }

    /// Sorts what was found: by counting for a, by comparing for the few b of each.
    fn collect(&mut self, count: usize, pairs: &mut Vec<Pair>) {
        self.starts.clear();
        self.starts.resize(count + 1, 0);
        for pair in &self.found {
            self.starts[pair.a as usize + 1] += 1;
        }
        for a in 1..self.starts.len() {
            self.starts[a] += self.starts[a - 1];
        }
        pairs.clear();
        pairs.resize(self.found.len(), Pair { a: 0, b: 0 });
        for &pair in &self.found {
            let at = &mut self.starts[pair.a as usize];
            pairs[*at as usize] = pair;
            *at += 1;
        }
        let mut start = 0;
        for &end in &self.starts[..count] {
            pairs[start..end as usize].sort_unstable();
            start = end as usize;
        }
    }

    /// Puts the colliders in order.
    fn sort(&mut self, bounds: &[Bounds], axis: usize) {
        let count = bounds.len();
        if self.order.len() != count {
            self.order.clear();
            self.order.extend(0..count as u32);
        }
        let low = |i: u32| bounds[i as usize].low[axis];
        nearly_sorted(&mut self.order, |i, j| low(*i).total_cmp(&low(*j)));
    }
}

/// The axes in the order of how much the middles of the boxes vary along them, most first.
fn axes_by_spread(bounds: &[Bounds]) -> [usize; 3] {
    let (mut sum, mut squares, mut count) = (DVec3::ZERO, DVec3::ZERO, 0.0);
    for one in bounds {
        let middle = one.centre();
        if middle.is_finite() {
            sum += middle;
            squares += middle * middle;
            count += 1.0;
        }
    }
    let variance = squares * count - sum * sum;
    let mut axes = [0, 1, 2];
    axes.sort_by(|&i, &j| variance[j].total_cmp(&variance[i]));
    axes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn brute_force(bounds: &[Bounds]) -> Vec<Pair> {
        let mut pairs = Vec::new();
        for a in 0..bounds.len() as u32 {
            for b in a + 1..bounds.len() as u32 {
                if bounds[a as usize].overlaps(&bounds[b as usize]) {
                    pairs.push(Pair { a, b });
                }
            }
        }
        pairs
    }

    fn boxes() -> impl Strategy<Value = Vec<Bounds>> {
        let one = (
            prop::array::uniform3(-5.0..5.0_f64),
            prop::array::uniform3(0.0..2.0_f64),
        )
            .prop_map(|(low, size)| Bounds {
                low: DVec3::from_array(low),
                high: DVec3::from_array(low) + DVec3::from_array(size),
            });
        prop::collection::vec(one, 0..60)
    }

    proptest! {
        #[test]
        fn finds_what_trying_all_pairs_finds_whatever_came_before(
            first in boxes(),
            second in boxes(),
            plane in any::<bool>(),
        ) {
            let mut second = second;
            if plane {
                second.push(Bounds { low: DVec3::NEG_INFINITY, high: DVec3::INFINITY });
            }
            let (mut broad, mut pairs) = (Broad::default(), Vec::new());
            for bounds in [&first, &second, &first, &second] {
                broad.update(bounds, |_, _| true, &mut pairs);
                prop_assert_eq!(&pairs, &brute_force(bounds));
            }
        }
    }

    #[test]
    fn the_filter_sees_the_lower_index_first_and_bad_boxes_are_alone() {
        let unit = Bounds::of([DVec3::ZERO, DVec3::ONE]);
        let bad = Bounds {
            low: DVec3::NAN,
            high: DVec3::NAN,
        };
        let (mut broad, mut pairs) = (Broad::default(), Vec::new());
        let keep = |a, b| {
            assert!(a < b);
            (a, b) != (0, 2)
        };
        broad.update(&[unit, bad, unit, unit], keep, &mut pairs);
        assert_eq!(pairs, [Pair::new(0, 3), Pair::new(3, 2)]);
    }
}

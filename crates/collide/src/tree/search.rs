//! All pairs of triangles that touch, of two trees or of one with itself.

use super::{
    Box32, IS_LEAF, LEAF, NONE, Tree, TreeError,
    boxes::{Lanes, bits, rounded_up},
};
use crate::triangle;
use glam::DVec3;
use trocar_math::{Alone, Workers};

/// Into how many parts a search is cut, about: enough for several threads to end together, and few enough to be nothing beside the
/// search. It must not depend on the number of threads.
const PARTS: usize = 64;

/// A tree and where its nodes are: the positions (m) of its last refit.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// The tree.
    pub tree: &'a Tree,
    /// Of its nodes.
    pub positions: &'a [DVec3],
}

impl Side<'_> {
    /// Where a node is, m. One without a position is nowhere, and may touch anything; a refit would have refused so few.
    #[inline(always)]
    pub(crate) fn place(&self, node: u32) -> DVec3 {
        let place = self.positions.get(node as usize);
        place.copied().unwrap_or(DVec3::NAN)
    }
}

/// Memory for searches. Once it is warm, it does not grow.
#[derive(Clone, Debug, Default)]
pub struct Search {
    parts: Vec<Part>,
    /// Children of the two trees still to be compared.
    open: Vec<[u32; 2]>,
    next: Vec<[u32; 2]>,
    pairs: Vec<[u32; 2]>,
    broken: Option<TreeError>,
}

/// A share of a search.
#[derive(Clone, Debug, Default)]
struct Part {
    stack: Vec<[u32; 2]>,
    pairs: Vec<[u32; 2]>,
    tests: usize,
    /// The least node of a pair found that is at no place.
    lost: Option<u32>,
    /// Of the last leaf of each tree; kept only to be written over.
    held: Facets,
    other: Facets,
}

impl Search {
    /// All pairs of a triangle of `a` and one of `b` that have a point in common, in ascending order. Exact; depends on
    /// triangles and positions alone, not on how the trees came about.
    pub fn between(&mut self, a: Side<'_>, b: Side<'_>) -> &[[u32; 2]] {
        self.between_by(a, b, &Alone)
    }

    /// [`between`](Self::between) with help.
    pub fn between_by(&mut self, a: Side<'_>, b: Side<'_>, workers: &impl Workers) -> &[[u32; 2]] {
        self.near_by(a, b, 0.0, triangle::touch, workers)
    }

    /// All pairs of a triangle of `a` and one of `b` whose boxes come within `margin` (m, ≥ 0) of each other along every axis and that `keep`
    /// wants, in ascending order.
    pub fn near_by(
        &mut self,
        a: Side<'_>,
        b: Side<'_>,
        margin: f64,
        keep: impl Fn(&[DVec3; 3], &[DVec3; 3]) -> bool + Sync,
        workers: &impl Workers,
    ) -> &[[u32; 2]] {
        let walk = Walk {
            a,
            b,
            alone: false,
            margin: rounded_up(margin),
            keep: |_: [u32; 2], s: &[DVec3; 3], t: &[DVec3; 3]| keep(s, t),
        };
        self.run(&walk, workers)
    }

    /// All pairs of triangles of one surface that have a point in common and no corner, in ascending order, the lower one first.
    pub fn within(&mut self, a: Side<'_>) -> &[[u32; 2]] {
        self.within_by(a, 0.0, triangle::touch, &Alone)
    }

    /// All pairs of triangles of one surface without a common corner whose boxes come within `margin` (m, ≥ 0) of each other along every
    /// axis and that `keep` wants, in ascending order, the lower one first.
    pub fn within_by(
        &mut self,
        a: Side<'_>,
        margin: f64,
        keep: impl Fn(&[DVec3; 3], &[DVec3; 3]) -> bool + Sync,
        workers: &impl Workers,
    ) -> &[[u32; 2]] {
        let keep = |_: [u32; 2], s: &[DVec3; 3], t: &[DVec3; 3]| keep(s, t);
        self.pairs_within_by(a, margin, keep, workers)
    }

    /// [`within_by`](Self::within_by) with a `keep` that is told the numbers of the triangles, too.
    pub fn pairs_within_by(
        &mut self,
        a: Side<'_>,
        margin: f64,
        keep: impl Fn([u32; 2], &[DVec3; 3], &[DVec3; 3]) -> bool + Sync,
        workers: &impl Workers,
    ) -> &[[u32; 2]] {
        let walk = Walk {
            a,
            b: a,
            alone: true,
            margin: rounded_up(margin),
            keep,
        };
        self.run(&walk, workers)
    }

    /// What the last search could not know: there were fewer positions than nodes, or one of a pair that it found has a corner that is at no place. Such
    /// a pair may touch or not; others are right. (A whole tree with such nodes says so when it is refitted.)
    pub fn broken(&self) -> Option<TreeError> {
        self.broken
    }

    /// How many pairs of triangles the last search looked at closely.
    pub fn tests(&self) -> usize {
        self.parts.iter().map(|p| p.tests).sum()
    }

    fn run<K: Fn([u32; 2], &[DVec3; 3], &[DVec3; 3]) -> bool + Sync>(
        &mut self,
        walk: &Walk<'_, K>,
        workers: &impl Workers,
    ) -> &[[u32; 2]] {
        self.pairs.clear();
        self.divide(walk);
        workers.each(&mut self.parts, |part| walk.finish(part));
        for part in &self.parts {
            self.pairs.extend_from_slice(&part.pairs);
        }
        let lost = self.parts.iter().filter_map(|p| p.lost).min();
        let few = |side: &Side<'_>| {
            let (positions, nodes) = (side.positions.len(), side.tree.node_count());
            (positions < nodes).then_some(TreeError::TooFewPositions { positions, nodes })
        };
        self.broken = few(&walk.a)
            .or_else(|| few(&walk.b))
            .or(lost.map(|node| TreeError::NoPlace { node }));
        // One comparison of one number, not of two lists.
        self.pairs
            .sort_unstable_by_key(|[a, b]| u64::from(*a) << 32 | u64::from(*b));
        &self.pairs
    }

    /// Goes down, level by level, until there is enough to share out, and does so.
    fn divide<K: Fn([u32; 2], &[DVec3; 3], &[DVec3; 3]) -> bool + Sync>(
        &mut self,
        walk: &Walk<'_, K>,
    ) {
        self.open.clear();
        for part in &mut self.parts {
            part.stack.clear();
            part.pairs.clear();
            part.tests = 0;
            part.lost = None;
        }
        let roots = [walk.a.tree.root, walk.b.tree.root];
        if !roots.contains(&NONE) {
            self.open.push(roots);
        }
        while self.open.len() < PARTS {
            self.next.clear();
            let mut deeper = false;
            for pair in &self.open {
                if walk.is_last(*pair) {
                    self.next.push(*pair);
                } else {
                    walk.descend(*pair, &mut self.next);
                    deeper = true;
                }
            }
            std::mem::swap(&mut self.open, &mut self.next);
            if !deeper {
                break;
            }
        }
        let share = self.open.len().div_ceil(PARTS).max(1);
        let count = self.open.len().div_ceil(share);
        if self.parts.len() < count {
            self.parts.resize_with(count, Part::default);
        }
        for (part, open) in self.parts.iter_mut().zip(self.open.chunks(share)) {
            part.stack.extend_from_slice(open);
        }
    }
}

/// What a search looks for.
struct Walk<'a, K> {
    a: Side<'a>,
    b: Side<'a>,
    /// Both are the same: every pair once, and no neighbours.
    alone: bool,
    margin: f32,
    keep: K,
}

impl<K: Fn([u32; 2], &[DVec3; 3], &[DVec3; 3]) -> bool + Sync> Walk<'_, K> {
    fn is_last(&self, [a, b]: [u32; 2]) -> bool {
        a & b & IS_LEAF != 0
    }

    /// Adds the pairs of children that are near enough, of a pair that is not of two leaves.
    #[inline(always)]
    fn descend(&self, [a, b]: [u32; 2], out: &mut Vec<[u32; 2]>) {
        let (of_a, of_b) = (self.a.tree, self.b.tree);
        if a & IS_LEAF != 0 {
            let branch = &of_b.branches[b as usize];
            let one = of_a.leaf_box(a & !IS_LEAF).grown(self.margin);
            out.extend(bits(branch.boxes.overlapping(&one)).map(|j| [a, branch.children[j]]));
            return;
        }
        if b & IS_LEAF != 0 {
            let branch = &of_a.branches[a as usize];
            let one = of_b.leaf_box(b & !IS_LEAF).grown(self.margin);
            out.extend(bits(branch.boxes.overlapping(&one)).map(|i| [branch.children[i], b]));
            return;
        }
        let (left, right) = (&of_a.branches[a as usize], &of_b.branches[b as usize]);
        let same = self.alone && a == b;
        for i in bits(left.occupied()) {
            let one = left.boxes.get(i).grown(self.margin);
            let mut mask = right.boxes.overlapping(&one);
            if same {
                // Each pair once, and each child with itself.
                mask &= u32::MAX << i;
            }
            out.extend(bits(mask).map(|j| [left.children[i], right.children[j]]));
        }
    }

    fn finish(&self, part: &mut Part) {
        part.held.leaf = NONE;
        while let Some(pair) = part.stack.pop() {
            if self.is_last(pair) {
                self.leaves(pair, part);
            } else {
                self.descend(pair, &mut part.stack);
            }
        }
    }

    /// Two leaves. Those of `a` come in a row, so that its triangles are fetched once for all of them.
    fn leaves(&self, [a, b]: [u32; 2], part: &mut Part) {
        let Part {
            pairs,
            tests,
            lost,
            held,
            other,
            ..
        } = part;
        if held.leaf != a {
            held.load(&self.a, a);
        }
        let near_b = self.b.tree.leaf_box(b & !IS_LEAF).grown(self.margin);
        let of_a = held.boxes.overlapping(&near_b);
        if of_a == 0 {
            return;
        }
        other.load(&self.b, b);
        let same = self.alone && a == b;
        for i in bits(of_a) {
            let one = held.boxes.get(i).grown(self.margin);
            let mut mask = other.boxes.overlapping(&one);
            if same {
                mask &= u32::MAX << (i + 1);
            }
            for j in bits(mask) {
                let pair = [held.triangles[i], other.triangles[j]];
                if self.alone && self.neighbours(pair) {
                    continue;
                }
                *tests += 1;
                if (self.keep)(pair, &held.corners[i], &other.corners[j]) {
                    if !(held.corners[i].iter().chain(&other.corners[j])).all(|p| p.is_finite()) {
                        *lost = self.lost(pair).into_iter().chain(*lost).min();
                    }
                    let swap = self.alone && pair[0] > pair[1];
                    pairs.push(if swap { [pair[1], pair[0]] } else { pair });
                }
            }
        }
    }

    /// The least corner of two triangles that is at no place.
    #[cold]
    fn lost(&self, pair: [u32; 2]) -> Option<u32> {
        let of = |side: &Side<'_>, t: u32| {
            let corners = side.tree.triangles[t as usize].into_iter();
            corners.filter(|n| !side.place(*n).is_finite()).min()
        };
        let both = [of(&self.a, pair[0]), of(&self.b, pair[1])];
        both.into_iter().flatten().min()
    }

    /// True for triangles with a common corner.
    fn neighbours(&self, pair: [u32; 2]) -> bool {
        let [a, b] = pair.map(|t| self.a.tree.triangles[t as usize]);
        a.iter().any(|n| b.contains(n))
    }
}

/// The triangles of a leaf, fetched.
#[derive(Clone, Debug)]
struct Facets {
    leaf: u32,
    triangles: [u32; LEAF],
    corners: [[DVec3; 3]; LEAF],
    boxes: Lanes,
}

impl Default for Facets {
    fn default() -> Self {
        Self {
            leaf: NONE,
            triangles: [NONE; LEAF],
            corners: [[DVec3::ZERO; 3]; LEAF],
            boxes: Lanes::EMPTY,
        }
    }
}

impl Facets {
    #[inline(always)]
    fn load(&mut self, side: &Side<'_>, child: u32) {
        self.leaf = child;
        self.boxes = Lanes::EMPTY;
        let leaf = &side.tree.leaves[(child & !IS_LEAF) as usize];
        self.triangles = leaf.triangles;
        for (lane, triangle) in leaf.triangles().iter().enumerate() {
            let nodes = side.tree.triangles[*triangle as usize];
            let corners = nodes.map(|n| side.place(n));
            self.boxes.set(lane, &Box32::of(&corners));
            self.corners[lane] = corners;
        }
    }
}

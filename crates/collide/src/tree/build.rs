//! Building a tree anew.

use super::{
    BUNDLE, Branch, Bundle, IS_LEAF, LEAF, Leaf, MAX_TRIANGLE, NONE, Ring, Tree, TreeError,
    boxes::LANES,
};
use glam::DVec3;
use std::ops::Range;

/// Triangles that a leaf gets: one less than it could hold, so that the first edit of a place finds room.
const FILL: usize = LEAF - 1;

/// A triangle that looks for its place: three times its middle, m, and its number.
#[derive(Clone, Copy)]
struct Item {
    middle: [f32; 3],
    triangle: u32,
}

impl Tree {
    /// Over `triangles`, numbered from 0, whose corners are at `positions` (m). Depends on nothing but these.
    ///
    /// Triangles without area, triangles that occur twice and edges with any number of triangles are all right. A corner that does not
    /// exist, or a node of a triangle that is not at a finite place, is refused.
    pub fn new(triangles: &[[u32; 3]], positions: &[DVec3]) -> Result<Self, TreeError> {
        if triangles.len() > MAX_TRIANGLE as usize {
            return Err(TreeError::TooManyTriangles {
                triangle: MAX_TRIANGLE + 1,
            });
        }
        let numbered = triangles.iter().enumerate().map(|(i, t)| (i as u32, *t));
        match Self::over(numbered, positions) {
            (tree, Ok(())) => Ok(tree),
            (_, Err(error)) => Err(error),
        }
    }

    /// Over triangles that have numbers already, ascending ones. If a node is nowhere there is a tree all the same, whose boxes around it hold everything. Empty if
    /// a corner does not exist.
    pub fn over(
        triangles: impl Iterator<Item = (u32, [u32; 3])> + Clone,
        positions: &[DVec3],
    ) -> (Self, Result<(), TreeError>) {
        let mut tree = Self::default();
        let mut outcome = Ok(());
        let mut items = Vec::with_capacity(triangles.size_hint().0);
        for (triangle, corners) in triangles.clone() {
            match check(triangle, &corners, positions) {
                Err(error @ TreeError::NoPlace { .. }) => outcome = outcome.and(Err(error)),
                Err(error) => return (tree, Err(error)),
                Ok(()) => {}
            }
            let [a, b, c] = corners.map(|n| positions[n as usize]);
            items.push(Item {
                middle: (a + b + c).as_vec3().to_array(),
                triangle,
            });
            let last = corners.iter().max().map_or(0, |n| *n as usize + 1);
            tree.nodes = tree.nodes.max(last);
        }
        let slots = items.last().map_or(0, |item| item.triangle as usize + 1);
        tree.triangles.resize(slots, [0; 3]);
        tree.homes.resize(slots, NONE);
        tree.count = items.len();
        for (triangle, corners) in triangles {
            tree.triangles[triangle as usize] = corners;
        }
        if !items.is_empty() {
            tree.root = tree.grow(&mut items, NONE);
            outcome = tree.refit(positions).and(outcome);
        }
        (tree, outcome)
    }

    /// A child over `items`.
    fn grow(&mut self, items: &mut [Item], parent: u32) -> u32 {
        let leaves = items.len().div_ceil(FILL);
        if leaves == 1 {
            return self.grow_leaf(items, parent);
        }
        // Children as large as they can be with all branches below them full: there are as few branches as possible.
        let mut unit = 1;
        while unit * LANES < leaves {
            unit *= LANES;
        }
        let branch = self.new_branch(parent);
        let mut groups = [(); LANES].map(|()| 0..0);
        let count = leaves.div_ceil(unit);
        divide(items, 0, &mut groups[..count]);
        for (lane, group) in groups[..count].iter().enumerate() {
            let child = self.grow(&mut items[group.clone()], branch);
            self.branches[branch as usize].children[lane] = child;
        }
        branch
    }

    /// A leaf, or if there are too many corners, a branch with several.
    fn grow_leaf(&mut self, items: &mut [Item], parent: u32) -> u32 {
        let mut ring = Ring::EMPTY;
        let fits = items
            .iter()
            .all(|item| ring.add(&self.triangles[item.triangle as usize]));
        if fits {
            let leaf = self.new_leaf(parent);
            for item in items.iter() {
                self.put(leaf, item.triangle);
            }
            return leaf | IS_LEAF;
        }
        let branch = self.new_branch(parent);
        let mut groups = [0..0, 0..0];
        divide(items, 0, &mut groups);
        for (lane, group) in groups.into_iter().enumerate() {
            let child = self.grow_leaf(&mut items[group], branch);
            self.branches[branch as usize].children[lane] = child;
        }
        branch
    }

    pub(super) fn new_branch(&mut self, parent: u32) -> u32 {
        if let Some(branch) = self.free_branches.pop() {
            self.branches[branch as usize] = Branch::new(parent, self.travel);
            return branch;
        }
        self.branches.push(Branch::new(parent, self.travel));
        self.branches.len() as u32 - 1
    }

    pub(super) fn new_leaf(&mut self, parent: u32) -> u32 {
        let empty = Leaf {
            parent,
            ..Leaf::EMPTY
        };
        if let Some(leaf) = self.free_leaves.pop() {
            self.leaves[leaf as usize] = empty;
            *self.ring_mut(leaf) = Ring::EMPTY;
            return leaf;
        }
        let leaf = self.leaves.len();
        self.leaves.push(empty);
        if leaf.is_multiple_of(BUNDLE) {
            self.bundles.push(Bundle::default());
        }
        let bundle = &mut self.bundles[leaf / BUNDLE];
        bundle.rings.push(Ring::EMPTY);
        bundle.boxes.push(super::Box32::EMPTY);
        leaf as u32
    }

    pub(super) fn ring_mut(&mut self, leaf: u32) -> &mut Ring {
        &mut self.bundles[leaf as usize / BUNDLE].rings[leaf as usize % BUNDLE]
    }

    /// Puts a triangle into a leaf; false if there is no room.
    pub(super) fn put(&mut self, leaf: u32, triangle: u32) -> bool {
        let corners = self.triangles[triangle as usize];
        let at = leaf as usize;
        if self.leaves[at].count as usize == LEAF || !self.ring_mut(leaf).add(&corners) {
            return false;
        }
        let count = self.leaves[at].count;
        self.leaves[at].triangles[count as usize] = triangle;
        self.leaves[at].count += 1;
        self.homes[triangle as usize] = leaf;
        true
    }
}

/// Refuses a triangle whose corners do not exist or are nowhere.
pub(super) fn check(
    triangle: u32,
    corners: &[u32; 3],
    positions: &[DVec3],
) -> Result<(), TreeError> {
    exist(triangle, corners, positions.len())?;
    let nowhere = |n: &&u32| !super::refit::is_place(positions[**n as usize]);
    match corners.iter().find(nowhere) {
        Some(node) => Err(TreeError::NoPlace { node: *node }),
        None => Ok(()),
    }
}

/// Refuses a triangle with a corner beyond the `nodes` that there are.
pub(crate) fn exist(triangle: u32, corners: &[u32; 3], nodes: usize) -> Result<(), TreeError> {
    match corners.iter().position(|n| *n as usize >= nodes) {
        None => Ok(()),
        Some(corner) => Err(TreeError::NoSuchNode {
            triangle,
            corner,
            node: corners[corner],
            nodes,
        }),
    }
}

/// Cuts `items` into as many groups as there are `groups`, of about the same size (which differ by one at most), by halving across
/// the longer side (H60, H61: the median keeps the tree balanced). `first` is where items begin.
fn divide(items: &mut [Item], first: usize, groups: &mut [Range<usize>]) {
    let count = groups.len();
    if count == 1 {
        groups[0] = first..first + items.len();
        return;
    }
    let left = count / 2;
    let at = items.len() * left / count;
    let axis = longest_axis(items);
    let key = |item: &Item| (item.middle[axis], item.triangle);
    items.select_nth_unstable_by(at, |a, b| {
        let (a, b) = (key(a), key(b));
        a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
    });
    let (low, high) = items.split_at_mut(at);
    let (low_groups, high_groups) = groups.split_at_mut(left);
    divide(low, first, low_groups);
    divide(high, first + at, high_groups);
}

fn longest_axis(items: &[Item]) -> usize {
    let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
    for item in items {
        for k in 0..3 {
            low[k] = low[k].min(item.middle[k]);
            high[k] = high[k].max(item.middle[k]);
        }
    }
    let size = [0, 1, 2].map(|k| high[k] - low[k]);
    // The first of equals.
    (0..3).fold(0, |best, k| if size[k] > size[best] { k } else { best })
}

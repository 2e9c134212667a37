//! Trees of boxes over triangles that deform, tear and are cut.
//!
//! [`Tree`] is the one to take. Eight boxes of single precision stand side by side in a branch, so that one is compared with eight at a time; up
//! to eight triangles are in a leaf, which keeps the list of their corners, each once: triangles of a patch share most of them, so that
//! refitting reads less than half of the three positions a triangle has, and stores one box for all eight. Before triangles are compared, each has
//! its own box compared, again eight at a time: of the pairs that Huang's leaves leave over, a tenth. Edits work
//! as in an R-tree: triangles enter where boxes grow least, and what is full is divided, up to the root, so that every path stays short
//! without ever building anew.
//!
//! [`hybrid::Hybrid`] is Huang's binary tree of spheres above and boxes below (H54–H65), with plain trees of spheres and of boxes as its extremes.
//! `cargo xtask bench collide/huang` measures all of them.
//!
//! Trees only know what triangles there are and where their boxes were at the last refit; positions belong to the
//! caller, who passes the same ones to the refit and to the [`Search`].

mod boxes;
pub(crate) mod build;
mod edit;
#[cfg(test)]
pub(crate) mod edit_cost;
mod error;
pub mod hybrid;
mod reach;
mod refit;
mod search;

pub use edit::Change;
pub use error::TreeError;
pub use reach::Reach;
pub use search::{Search, Side};

use boxes::{Box32, Lanes};
use trocar_math::{Bounds, fetch};

/// Most triangles in a leaf.
const LEAF: usize = 8;

/// Most corners of the triangles in a leaf. Eight triangles of a patch have ten; five without common corners have fifteen.
const CORNERS: usize = 15;

/// How many leaves are in a bundle, which one thread refits.
const BUNDLE: usize = 256;

/// No child, no parent, no leaf.
const NONE: u32 = u32::MAX;

/// Marks the number of a child as that of a leaf.
const IS_LEAF: u32 = 1 << 31;

/// The greatest number that a triangle may have.
pub const MAX_TRIANGLE: u32 = (1 << 28) - 1;

/// Coordinates beyond this (m) can't be told from infinite ones in single precision.
const MAX_COORDINATE: f64 = 1e30;

/// A tree of boxes over triangles.
#[derive(Clone, Debug)]
pub struct Tree {
    /// By number; those that are in no leaf are not there.
    triangles: Vec<[u32; 3]>,
    /// The leaf in which each triangle is, or [`NONE`].
    homes: Vec<u32>,
    branches: Vec<Branch>,
    leaves: Vec<Leaf>,
    bundles: Vec<Bundle>,
    free_branches: Vec<u32>,
    free_leaves: Vec<u32>,
    /// Leaves to be fitted at the end of an edit.
    stale: Vec<u32>,
    /// A branch, a leaf with its mark, or [`NONE`].
    root: u32,
    /// One more than the greatest corner.
    nodes: usize,
    count: usize,
    /// How far any node may have moved since the beginning, m; as far as somebody has [told](Tree::moved).
    travel: f64,
    /// The travel when each leaf was fitted. Empty until a [look](Tree::reached) fits some and not others.
    fitted: Vec<f64>,
    /// The box around each branch that has leaves alone, of the refit that is being made: what threads hand on to the one that goes up from there.
    crowns: Vec<Option<Box32>>,
}

impl Default for Tree {
    fn default() -> Self {
        Self {
            triangles: Vec::new(),
            homes: Vec::new(),
            branches: Vec::new(),
            leaves: Vec::new(),
            bundles: Vec::new(),
            free_branches: Vec::new(),
            free_leaves: Vec::new(),
            stale: Vec::new(),
            root: NONE,
            nodes: 0,
            count: 0,
            travel: 0.0,
            fitted: Vec::new(),
            crowns: Vec::new(),
        }
    }
}

/// Up to eight children.
#[derive(Clone, Copy, Debug)]
struct Branch {
    boxes: Lanes,
    children: [u32; boxes::LANES],
    parent: u32,
    /// The travel at which its boxes are right: what is below is within them, grown by the travel since.
    since: f64,
}

impl Branch {
    fn new(parent: u32, since: f64) -> Self {
        Self {
            boxes: Lanes::EMPTY,
            children: [NONE; boxes::LANES],
            parent,
            since,
        }
    }

    /// Begins to bring it near.
    fn fetch(&self) {
        self.boxes.fetch();
        fetch(&self.children);
    }

    /// A bit for every lane with a child.
    fn occupied(&self) -> u32 {
        let bit = |(lane, child): (usize, &u32)| u32::from(*child != NONE) << lane;
        self.children.iter().enumerate().map(bit).sum()
    }
}

/// What does not change when nodes move.
#[derive(Clone, Copy, Debug)]
struct Leaf {
    triangles: [u32; LEAF],
    count: u32,
    parent: u32,
    /// It is in the list of those to be fitted.
    stale: bool,
}

impl Leaf {
    const EMPTY: Self = Self {
        triangles: [NONE; LEAF],
        count: 0,
        parent: NONE,
        stale: false,
    };

    fn triangles(&self) -> &[u32] {
        &self.triangles[..self.count as usize]
    }
}

/// The corners of a leaf's triangles, each once: one line of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Ring {
    nodes: [u32; CORNERS],
    count: u32,
}

impl Ring {
    const EMPTY: Self = Self {
        nodes: [0; CORNERS],
        count: 0,
    };

    /// Adds the corners of a triangle; false, and nothing is changed, if there is no room.
    fn add(&mut self, corners: &[u32; 3]) -> bool {
        let before = self.count;
        for corner in corners {
            if self.nodes().contains(corner) {
                continue;
            }
            if self.count as usize == CORNERS {
                self.count = before;
                return false;
            }
            self.nodes[self.count as usize] = *corner;
            self.count += 1;
        }
        true
    }

    fn nodes(&self) -> &[u32] {
        &self.nodes[..self.count as usize]
    }
}

/// What is read and written when nodes move, of [`BUNDLE`] leaves.
#[derive(Clone, Debug, Default)]
struct Bundle {
    rings: Vec<Ring>,
    boxes: Vec<Box32>,
    /// A node that is not a number or too far away.
    bad: Option<u32>,
}

impl Tree {
    /// How many triangles it has.
    pub fn len(&self) -> usize {
        self.count
    }

    /// True if it has no triangle.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The corners of a triangle, if it is there.
    pub fn triangle(&self, triangle: u32) -> Option<[u32; 3]> {
        let at = triangle as usize;
        (*self.homes.get(at)? != NONE).then(|| self.triangles[at])
    }

    /// One more than the greatest corner there has been: how many positions it wants. It does not fall when triangles go.
    pub fn node_count(&self) -> usize {
        self.nodes
    }

    /// A box around everything, as of the last refit, m. Not smaller than it is.
    pub fn bounds(&self) -> Bounds {
        if self.is_empty() {
            return Bounds::EMPTY;
        }
        self.box_of(self.root).outside()
    }

    /// How many boxes are on the longest way from the root to a leaf.
    pub fn depth(&self) -> usize {
        fn below(tree: &Tree, child: u32) -> usize {
            if child == NONE || child & IS_LEAF != 0 {
                return usize::from(child != NONE);
            }
            let children = tree.branches[child as usize].children;
            let depths = children.iter().map(|c| below(tree, *c));
            1 + depths.max().unwrap_or(0)
        }
        below(self, self.root)
    }

    /// Calls `found` with every triangle whose box shares a point with `bounds`, and with others that share a leaf with them: leaves are given
    /// as a whole.
    pub fn overlapping(&self, bounds: &Bounds, mut found: impl FnMut(u32)) {
        fn visit(tree: &Tree, child: u32, one: &Box32, found: &mut impl FnMut(u32)) {
            if child & IS_LEAF != 0 {
                let leaf = &tree.leaves[(child & !IS_LEAF) as usize];
                leaf.triangles().iter().for_each(|t| found(*t));
                return;
            }
            let branch = &tree.branches[child as usize];
            for lane in boxes::bits(branch.boxes.overlapping(one) & branch.occupied()) {
                visit(tree, branch.children[lane], one, found);
            }
        }
        if self.root != NONE {
            visit(self, self.root, &Box32::within_all(bounds), &mut found);
        }
    }

    /// A box around what is below a child, wherever it has moved.
    fn box_of(&self, child: u32) -> Box32 {
        if child == NONE {
            return Box32::EMPTY;
        }
        let (one, since) = if child & IS_LEAF != 0 {
            let leaf = child & !IS_LEAF;
            let since = self.fitted.get(leaf as usize);
            (self.leaf_box(leaf), since.map_or(self.travel, |s| *s))
        } else {
            let branch = &self.branches[child as usize];
            (branch.boxes.whole(), branch.since)
        };
        let stale = self.travel - since;
        if stale.is_finite() {
            one.grown(boxes::rounded_up(stale))
        } else {
            Box32::ALL
        }
    }

    #[inline(always)]
    fn leaf_box(&self, leaf: u32) -> Box32 {
        self.bundles[leaf as usize / BUNDLE].boxes[leaf as usize % BUNDLE]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;

    #[test]
    fn leaves_of_a_sheet_list_few_more_corners_than_triangles() {
        let at = |r: u32, c: u32| r * 101 + c;
        let squares = (0..100).flat_map(|r| (0..100).map(move |c| (r, c)));
        let triangles: Vec<[u32; 3]> = squares
            .flat_map(|(r, c)| {
                let [p, q, s, t] = [at(r, c), at(r, c + 1), at(r + 1, c + 1), at(r + 1, c)];
                [[p, q, s], [p, s, t]]
            })
            .collect();
        let nodes = (0..=100).flat_map(|r| (0..=100).map(move |c| (r, c)));
        let positions: Vec<DVec3> = nodes
            .map(|(r, c): (u32, u32)| DVec3::new(f64::from(r), f64::from(c), 0.0))
            .collect();
        let tree = Tree::new(&triangles, &positions).expect("a sound mesh");
        let rings = tree.bundles.iter().flat_map(|b| &b.rings);
        let corners: u32 = rings.map(|r| r.count).sum();
        let share = f64::from(corners) / triangles.len() as f64;
        assert!(share < 1.5, "{share}");
        // Nearly all lanes of branches are used, and leaves are nearly full.
        assert!(tree.leaves.len() < triangles.len() / 6);
        assert!(tree.branches.len() < tree.leaves.len() / 5);
    }
}

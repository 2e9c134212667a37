//! What is near one thing, in a tree of which only that part is kept up to date.
//!
//! A box was right at some time; since then no node has moved farther than the surface's *travel* since that time, so grown by that much it
//! still holds everything. A look fits the leaves whose grown boxes it reaches, and no others: a leaf 3 cm away is fitted again when the
//! surface has travelled 3 cm. (Fitting all of 100 000 triangles for every frame would cost more than all the rest.) Which triangles are given
//! depends on what was fitted before only as far as leaves are given as a whole; whoever asks judges each by where it is.

use super::{
    BUNDLE, Box32, IS_LEAF, NONE, Tree,
    boxes::{bits, rounded_up},
};
use glam::DVec3;
use trocar_math::Bounds;

/// A leaf that is reached only because the surface has travelled more than this part of its width since somebody looked is far away: all leaves beside
/// it are fitted with it, as they would be next, and one after the other each costs as much as all of them together.
const LONG_AGO: f32 = 0.5;

/// What looks for what is near it.
pub trait Reach {
    /// A box around all it reaches, m.
    fn bounds(&self) -> Bounds;

    /// False if it reaches nothing in a box that overlaps [its own](Self::bounds).
    fn reaches(&self, bounds: &Bounds) -> bool;
}

impl Tree {
    /// Lets the next [looks](Self::reached) know that no node has moved farther than this (m, finite) since the last refit or call; if that
    /// is not known, [`refit`](Self::refit) instead. [`Search`](super::Search) wants a refit in any case.
    pub fn moved(&mut self, far: f64) {
        // The next greater number, as the sum may be rounded down; however small the way beside the travel so far.
        if far > 0.0 {
            self.travel = (self.travel + far).next_up();
        }
    }

    /// Calls `found` with every triangle that `by` may reach, and with others that share a leaf with them. `positions` (m) are those of now: what has been
    /// [`moved`](Self::moved) counts. Where nodes are nowhere, boxes hold everything.
    pub fn reached(&mut self, by: &impl Reach, positions: &[DVec3], mut found: impl FnMut(u32)) {
        // Those that came since are fitted when they are first reached.
        self.fitted.resize(self.leaves.len(), f64::NEG_INFINITY);
        let own = Box32::within_all(&by.bounds());
        if self.root == NONE {
            return;
        }
        if self.root & IS_LEAF == 0 {
            self.visit(self.root, (by, &own), positions, &mut found);
            return;
        }
        let leaf = self.root & !IS_LEAF;
        let one = self.fresh(leaf, positions);
        if one.overlaps(&own) && by.reaches(&one.outside()) {
            self.leaves[leaf as usize]
                .triangles()
                .iter()
                .for_each(|t| found(*t));
        }
    }

    /// Calls `found` with every triangle that `by` may reach where its box was when it was last fitted, and with others that share a leaf with them. For
    /// surfaces that nobody has told to have [`moved`](Self::moved) since the last refit.
    pub fn reached_then(&self, by: &impl Reach, mut found: impl FnMut(u32)) {
        fn look(
            tree: &Tree,
            child: u32,
            (by, own): (&impl Reach, &Box32),
            found: &mut impl FnMut(u32),
        ) {
            if child & IS_LEAF != 0 {
                let leaf = &tree.leaves[(child & !IS_LEAF) as usize];
                leaf.triangles().iter().for_each(|t| found(*t));
                return;
            }
            let branch = &tree.branches[child as usize];
            for lane in bits(branch.boxes.overlapping(own) & branch.occupied()) {
                if by.reaches(&branch.boxes.get(lane).outside()) {
                    look(tree, branch.children[lane], (by, own), found);
                }
            }
        }
        if self.root != NONE {
            let own = Box32::within_all(&by.bounds());
            look(self, self.root, (by, &own), &mut found);
        }
    }

    /// Goes through a branch; returns the box around it as it is now, if it reached anything in it and knows more than before.
    fn visit(
        &mut self,
        branch: u32,
        (by, own): (&impl Reach, &Box32),
        positions: &[DVec3],
        found: &mut impl FnMut(u32),
    ) -> Option<Box32> {
        let at = branch as usize;
        let node = &mut self.branches[at];
        let stale = rounded_up(self.travel - node.since);
        if stale > 0.0 {
            node.boxes.grow(stale);
            node.since = self.travel;
        }
        let children = node.children;
        let mask = node.boxes.overlapping(own) & node.occupied();
        let mut hit = false;
        for lane in bits(mask) {
            let bounds = self.branches[at].boxes.get(lane);
            if !by.reaches(&bounds.outside()) {
                continue;
            }
            hit = true;
            let child = children[lane];
            if child & IS_LEAF == 0 {
                if let Some(one) = self.visit(child, (by, own), positions, found) {
                    self.branches[at].boxes.set(lane, &one);
                }
                continue;
            }
            let leaf = child & !IS_LEAF;
            let one = self.fresh(leaf, positions);
            self.branches[at].boxes.set(lane, &one);
            if one.overlaps(own) && by.reaches(&one.outside()) {
                self.leaves[leaf as usize]
                    .triangles()
                    .iter()
                    .for_each(|t| found(*t));
            } else if stale > LONG_AGO * one.width() {
                self.fresh_all(branch, positions);
            }
        }
        hit.then(|| self.branches[at].boxes.whole())
    }

    /// Fits all leaves of a branch.
    fn fresh_all(&mut self, branch: u32, positions: &[DVec3]) {
        let at = branch as usize;
        for (lane, child) in self.branches[at].children.into_iter().enumerate() {
            if child != NONE && child & IS_LEAF != 0 {
                let one = self.fresh(child & !IS_LEAF, positions);
                self.branches[at].boxes.set(lane, &one);
            }
        }
    }

    /// The box of a leaf as it is now.
    fn fresh(&mut self, leaf: u32, positions: &[DVec3]) -> Box32 {
        let at = leaf as usize;
        let bundle = &mut self.bundles[at / BUNDLE];
        let one = &mut bundle.boxes[at % BUNDLE];
        if self.fitted[at] != self.travel {
            self.fitted[at] = self.travel;
            *one = bundle.rings[at % BUNDLE]
                .fit(positions)
                .unwrap_or(Box32::ALL);
        }
        *one
    }

    /// Shows every box: how many levels are below it, where what is in it may be, and whether `marks` has marked a triangle in it.
    pub fn see_boxes(
        &self,
        mut marks: impl FnMut(u32) -> bool,
        mut see: impl FnMut(usize, &Bounds, bool),
    ) {
        fn look(
            tree: &Tree,
            child: u32,
            marks: &mut impl FnMut(u32) -> bool,
            see: &mut impl FnMut(usize, &Bounds, bool),
        ) -> (usize, bool) {
            let (mut level, mut marked) = (0, false);
            if child & IS_LEAF != 0 {
                let leaf = &tree.leaves[(child & !IS_LEAF) as usize];
                marked = leaf.triangles().iter().any(|t| marks(*t));
            } else {
                for below in tree.branches[child as usize].children {
                    if below != NONE {
                        let (levels, mark) = look(tree, below, marks, see);
                        (level, marked) = (level.max(levels + 1), marked | mark);
                    }
                }
            }
            see(level, &tree.box_of(child).outside(), marked);
            (level, marked)
        }
        if self.root != NONE {
            look(self, self.root, &mut marks, &mut see);
        }
    }
}

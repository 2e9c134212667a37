//! Boxes after nodes have moved.

use super::{
    BUNDLE, Box32, Branch, Bundle, IS_LEAF, MAX_COORDINATE, NONE, Ring, Tree, TreeError,
    boxes::{LANES, rounded_up},
};
use glam::DVec3;
use trocar_math::{Alone, Workers, f64x4};

/// Into how many parts branches are shared out at most, and how many are in one at least.
const GROVES: usize = 64;
const LEAST_GROVE: usize = 32;

/// True for finite places not too far away.
pub(super) fn is_place(position: DVec3) -> bool {
    position.abs().cmple(DVec3::splat(MAX_COORDINATE)).all()
}

impl Tree {
    /// Fits all boxes to `positions` (m) by node.
    ///
    /// Always conservative: each box holds what is below it, exactly as it is now; none is kept because it changed little, as in the
    /// source (H65), where triangles stick out of such boxes and contacts go unseen. If a node is nowhere (see [`TreeError`]), it is named, and the
    /// boxes around it hold everything: what touches its triangles' neighbours is still found.
    pub fn refit(&mut self, positions: &[DVec3]) -> Result<(), TreeError> {
        self.refit_by(positions, &Alone)
    }

    /// [`refit`](Self::refit) with help.
    pub fn refit_by(
        &mut self,
        positions: &[DVec3],
        workers: &impl Workers,
    ) -> Result<(), TreeError> {
        if positions.len() < self.nodes {
            return Err(TreeError::TooFewPositions {
                positions: positions.len(),
                nodes: self.nodes,
            });
        }
        workers.each(&mut self.bundles, |bundle| bundle.refit(positions));
        self.fitted.fill(self.travel);
        self.close_leaves(workers);
        self.close(self.root);
        match self.bundles.iter().find_map(|b| b.bad) {
            Some(node) => Err(TreeError::NoPlace { node }),
            None => Ok(()),
        }
    }

    /// Fits all boxes of branches that are those of leaves, which nearly all are, and the boxes around branches that have leaves alone.
    fn close_leaves(&mut self, workers: &impl Workers) {
        let Self {
            branches,
            bundles,
            crowns,
            travel,
            ..
        } = self;
        let fit = |branch: &mut Branch| {
            branch.since = *travel;
            let mut inner = false;
            for lane in 0..LANES {
                let child = branch.children[lane];
                inner |= child & IS_LEAF == 0;
                if child != NONE && child & IS_LEAF != 0 {
                    let leaf = (child & !IS_LEAF) as usize;
                    let one = &bundles[leaf / BUNDLE].boxes[leaf % BUNDLE];
                    branch.boxes.set(lane, one);
                }
            }
            (!inner).then(|| branch.boxes.whole())
        };
        crowns.resize(branches.len(), None);
        let size = branches.len().div_ceil(GROVES).max(LEAST_GROVE);
        let mut groves = [const { None }; GROVES];
        let parts = branches.chunks_mut(size).zip(crowns.chunks_mut(size));
        for (grove, part) in groves.iter_mut().zip(parts) {
            *grove = Some(part);
        }
        let count = groves.iter().flatten().count();
        workers.each(&mut groves[..count], |grove| {
            let Some((branches, crowns)) = grove else {
                return;
            };
            for (branch, crown) in branches.iter_mut().zip(crowns.iter_mut()) {
                *crown = fit(branch);
            }
        });
    }

    /// Fits the boxes of a child and all below it to those of the branches that have leaves; returns the box around it.
    fn close(&mut self, child: u32) -> Box32 {
        if child == NONE || child & IS_LEAF != 0 {
            return self.box_of(child);
        }
        let at = child as usize;
        if let Some(one) = self.crowns[at] {
            return one;
        }
        for lane in 0..LANES {
            let below = self.branches[at].children[lane];
            if below & IS_LEAF == 0 {
                let one = self.close(below);
                self.branches[at].boxes.set(lane, &one);
            }
        }
        self.branches[at].boxes.whole()
    }

    /// Fits a leaf and what is above it.
    pub(super) fn refit_leaf(&mut self, leaf: u32, positions: &[DVec3]) {
        let ring = *self.ring_mut(leaf);
        let one = ring.fit(positions).unwrap_or(Box32::ALL);
        self.set_leaf_box(leaf, one);
        self.lift(leaf | IS_LEAF, self.leaves[leaf as usize].parent, one);
    }

    /// The box of a leaf as it is now.
    pub(super) fn set_leaf_box(&mut self, leaf: u32, one: Box32) {
        let at = leaf as usize;
        self.bundles[at / BUNDLE].boxes[at % BUNDLE] = one;
        if let Some(fitted) = self.fitted.get_mut(at) {
            *fitted = self.travel;
        }
    }

    /// Tells a branch the box of one of its children as it is now, and those above it, until nothing changes. A branch that is behind the
    /// surface's travel keeps the old box, too: it may still hold others below the same child.
    pub(super) fn lift(&mut self, mut child: u32, mut parent: u32, mut one: Box32) {
        while parent != NONE {
            let branch = &mut self.branches[parent as usize];
            let Some(lane) = branch.children.iter().position(|c| *c == child) else {
                return;
            };
            let before = branch.boxes.get(lane);
            let stale = self.travel - branch.since;
            if stale > 0.0 {
                one = before.join(&one);
            } else if before == one {
                return;
            }
            branch.boxes.set(lane, &one);
            one = branch.boxes.whole().grown(rounded_up(stale));
            (child, parent) = (parent, branch.parent);
        }
    }
}

impl Bundle {
    fn refit(&mut self, positions: &[DVec3]) {
        self.bad = None;
        for (ring, one) in self.rings.iter().zip(&mut self.boxes) {
            *one = match ring.fit(positions) {
                Some(fit) => fit,
                None => {
                    let bad = |n: &&u32| !is_place(positions[**n as usize]);
                    self.bad = ring.nodes().iter().find(bad).copied().or(self.bad);
                    Box32::ALL
                }
            };
        }
    }
}

impl Ring {
    /// The box around its nodes; none if one is nowhere.
    #[inline(always)]
    pub(super) fn fit(&self, positions: &[DVec3]) -> Option<Box32> {
        let mut low = f64x4::splat(f64::INFINITY);
        let mut high = f64x4::splat(f64::NEG_INFINITY);
        // Zero as long as all are finite: comparisons alone would pass over what is not a number.
        let mut poison = f64x4::ZERO;
        for node in self.nodes() {
            let at = *node as usize;
            // Four neighbours in memory are one load; the fourth is not looked at.
            let place = match positions.get(at..at + 2) {
                Some([p, next]) => f64x4::new([p.x, p.y, p.z, next.x]),
                _ => {
                    let p = positions.get(at)?;
                    f64x4::new([p.x, p.y, p.z, p.z])
                }
            };
            low = low.fast_min(place);
            high = high.fast_max(place);
            poison = place.mul_add(f64x4::ZERO, poison);
        }
        let [low, high, poison] = [low, high, poison].map(|v| {
            let [x, y, z, _] = v.to_array();
            DVec3::new(x, y, z)
        });
        let near = low.min_element() >= -MAX_COORDINATE && high.max_element() <= MAX_COORDINATE;
        let fits = poison == DVec3::ZERO && near;
        (fits || self.count == 0).then(|| Box32::new(low, high))
    }
}

//! Triangles that come, go and change, at a cost that depends on how many of them do.

use super::{
    BUNDLE, Box32, IS_LEAF, LEAF, Leaf, MAX_TRIANGLE, NONE, Ring, Tree, TreeError, boxes::LANES,
    build::check,
};
use glam::DVec3;
use trocar_math::fetch;

/// So many times the triangles there are, and so many more, may be the number of a new one: it takes 16 bytes for each.
const SPREAD: usize = 4;
const ROOM: usize = 1 << 16;

/// What becomes of a triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its number; it may be new.
    pub triangle: u32,
    /// Its corners from now on; none if it is gone.
    pub corners: Option<[u32; 3]>,
}

impl Tree {
    /// Makes changes, one after the other. `positions` (m) by node are those of the last refit, and of all new nodes. If one of them is refused,
    /// none is made. To take away what is not there is no error. Numbers go on about where they end: one far beyond those there have been is refused,
    /// as room would have to be made for all in between.
    pub fn edit(&mut self, changes: &[Change], positions: &[DVec3]) -> Result<(), TreeError> {
        check_changes(changes, (self.nodes, self.triangles.len()), positions)?;
        self.fetch(changes, positions);
        // Where the last one went.
        let mut near = NONE;
        for change in changes {
            match change.corners {
                None => self.take(change.triangle),
                Some(corners) if self.replace(change.triangle, corners) => {}
                Some(corners) => {
                    self.take(change.triangle);
                    self.enter(change.triangle, corners);
                    if !self.join(near, change.triangle) {
                        self.give(change.triangle, positions);
                    }
                    near = self.homes[change.triangle as usize];
                }
            }
        }
        // Neighbours change together, so that each leaf is fitted once for several of them.
        while let Some(leaf) = self.stale.pop() {
            self.leaves[leaf as usize].stale = false;
            if self.leaves[leaf as usize].count > 0 {
                self.gather(leaf);
                self.refit_leaf(leaf, positions);
            }
        }
        Ok(())
    }

    /// Begins to bring near what changes will read. In a large tree little of it is, and one after the other each would be waited for.
    fn fetch(&self, changes: &[Change], positions: &[DVec3]) {
        let homes = || {
            let home = |change: &Change| self.homes.get(change.triangle as usize).copied();
            let found = changes.iter().filter_map(home).filter(|home| *home != NONE);
            found.map(|home| home as usize)
        };
        for leaf in homes() {
            let bundle = &self.bundles[leaf / BUNDLE];
            fetch(&self.leaves[leaf]);
            fetch(&bundle.rings[leaf % BUNDLE]);
            fetch(&bundle.boxes[leaf % BUNDLE]);
        }
        let mut last = usize::MAX;
        for leaf in homes() {
            if std::mem::replace(&mut last, leaf) == leaf {
                continue;
            }
            let of = &self.leaves[leaf];
            if let Some(branch) = self.branches.get(of.parent as usize) {
                branch.fetch();
            }
            of.triangles()
                .iter()
                .for_each(|t| fetch(&self.triangles[*t as usize]));
            let ring = &self.bundles[leaf / BUNDLE].rings[leaf % BUNDLE];
            let places = ring.nodes().iter();
            places
                .filter_map(|n| positions.get(*n as usize))
                .for_each(fetch);
        }
    }

    /// Gives a triangle other corners where it is, if it keeps one of them and there is room: then it is not far from where it was.
    fn replace(&mut self, triangle: u32, corners: [u32; 3]) -> bool {
        let at = triangle as usize;
        let Some(leaf) = self.homes.get(at).copied().filter(|home| *home != NONE) else {
            return false;
        };
        let old = self.triangles[at];
        if !corners.iter().any(|n| old.contains(n)) {
            return false;
        }
        self.triangles[at] = corners;
        self.mark(leaf);
        if !self.ring_mut(leaf).add(&corners) && !self.gather(leaf) {
            self.triangles[at] = old;
            return false;
        }
        self.count_nodes(&corners);
        true
    }

    /// To be fitted before anybody looks.
    fn mark(&mut self, leaf: u32) {
        if !std::mem::replace(&mut self.leaves[leaf as usize].stale, true) {
            self.stale.push(leaf);
        }
    }

    /// Lists the corners of a leaf's triangles anew; false if there are too many.
    fn gather(&mut self, leaf: u32) -> bool {
        let mut ring = Ring::EMPTY;
        let of = self.leaves[leaf as usize];
        let fits = of
            .triangles()
            .iter()
            .all(|t| ring.add(&self.triangles[*t as usize]));
        if fits {
            *self.ring_mut(leaf) = ring;
        }
        fits
    }

    fn count_nodes(&mut self, corners: &[u32; 3]) {
        let last = corners.iter().max().map_or(0, |n| *n as usize + 1);
        self.nodes = self.nodes.max(last);
    }

    /// Takes a triangle out of its leaf, and what is empty then out of the tree.
    fn take(&mut self, triangle: u32) {
        let Some(home) = self.homes.get_mut(triangle as usize) else {
            return;
        };
        let leaf = std::mem::replace(home, NONE);
        if leaf == NONE {
            return;
        }
        self.count -= 1;
        let of = &mut self.leaves[leaf as usize];
        let count = of.count as usize;
        if let Some(k) = of.triangles().iter().position(|t| *t == triangle) {
            of.triangles.copy_within(k + 1..count, k);
            of.count -= 1;
        }
        if of.count > 0 {
            self.mark(leaf);
            return;
        }
        let parent = of.parent;
        // Refits go over all rings: the corners of one that is free may be gone, or no numbers.
        *self.ring_mut(leaf) = Ring::EMPTY;
        self.free_leaves.push(leaf);
        self.remove(leaf | IS_LEAF, parent);
    }

    fn empty(&mut self, leaf: u32) {
        let parent = self.leaves[leaf as usize].parent;
        self.leaves[leaf as usize] = Leaf {
            parent,
            ..Leaf::EMPTY
        };
        *self.ring_mut(leaf) = Ring::EMPTY;
    }

    /// Takes a child from its branch, and the branch from its own if nothing is left.
    fn remove(&mut self, mut child: u32, mut parent: u32) {
        loop {
            if parent == NONE {
                self.root = NONE;
                return;
            }
            let branch = &mut self.branches[parent as usize];
            if let Some(lane) = branch.children.iter().position(|c| *c == child) {
                branch.children[lane] = NONE;
                branch.boxes.set(lane, &Box32::EMPTY);
            }
            if branch.occupied() != 0 {
                let above = branch.parent;
                self.lift(parent, above, self.box_of(parent));
                return;
            }
            self.free_branches.push(parent);
            (child, parent) = (parent, branch.parent);
        }
    }

    /// Lists a triangle that is in no leaf yet.
    fn enter(&mut self, triangle: u32, corners: [u32; 3]) {
        let at = triangle as usize;
        if at >= self.triangles.len() {
            self.triangles.resize(at + 1, [0; 3]);
            self.homes.resize(at + 1, NONE);
        }
        self.triangles[at] = corners;
        self.count += 1;
        self.count_nodes(&corners);
    }

    /// Puts a triangle into a leaf if it has an edge in common with those there, and there is room: what is added is mostly added side by side, and no
    /// other leaf can be much nearer.
    fn join(&mut self, leaf: u32, triangle: u32) -> bool {
        if leaf == NONE || self.leaves[leaf as usize].count == 0 {
            return false;
        }
        let corners = self.triangles[triangle as usize];
        let ring = self.ring_mut(leaf);
        let shared = corners.iter().filter(|n| ring.nodes().contains(n));
        let joined = shared.count() >= 2 && self.put(leaf, triangle);
        if joined {
            self.mark(leaf);
        }
        joined
    }

    /// Puts a triangle where boxes grow least.
    fn give(&mut self, triangle: u32, positions: &[DVec3]) {
        if self.root == NONE {
            let leaf = self.new_leaf(NONE);
            self.root = leaf | IS_LEAF;
            self.put(leaf, triangle);
            self.mark(leaf);
            return;
        }
        let corners = self.triangles[triangle as usize];
        let one = Box32::of(&corners.map(|n| positions[n as usize]));
        let mut child = self.root;
        while child & IS_LEAF == 0 {
            let branch = &self.branches[child as usize];
            let best = branch.boxes.least_growth(branch.occupied(), &one);
            child = branch.children[best.unwrap_or(0)];
        }
        let leaf = child & !IS_LEAF;
        let room = self.put(leaf, triangle);
        // Corners of triangles that are gone may take the room.
        let stale = self.leaves[leaf as usize].stale;
        if room || (stale && self.gather(leaf) && self.put(leaf, triangle)) {
            self.mark(leaf);
        } else {
            self.halve(leaf, triangle, positions);
        }
    }

    /// Makes two leaves of a full one and one more triangle.
    fn halve(&mut self, leaf: u32, triangle: u32, positions: &[DVec3]) {
        let old = self.leaves[leaf as usize];
        let mut all = [(0.0, NONE); LEAF + 1];
        let mut boxes = [Box32::EMPTY; LEAF + 1];
        let count = old.count as usize + 1;
        let given = old.triangles().iter().copied().chain([triangle]);
        for (k, t) in given.enumerate() {
            all[k].1 = t;
            boxes[k] = Box32::of(&self.triangles[t as usize].map(|n| positions[n as usize]));
        }
        let axis = spread_axis(&boxes[..count]);
        for (k, one) in boxes[..count].iter().enumerate() {
            all[k].0 = one.centre(axis);
        }
        let all = &mut all[..count];
        all.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let new = self.new_leaf(old.parent);
        self.empty(leaf);
        // At most five go into each, so that their corners have room.
        for (k, (_, t)) in all.iter().enumerate() {
            self.put(if k < count / 2 { leaf } else { new }, *t);
        }
        self.refit_leaf(leaf, positions);
        let one = self.ring_mut(new).fit(positions).unwrap_or(Box32::ALL);
        self.set_leaf_box(new, one);
        self.add(new | IS_LEAF, one, leaf | IS_LEAF, old.parent);
    }

    /// Adds a child beside another one; a full branch is halved, and so on upwards.
    fn add(&mut self, mut child: u32, mut one: Box32, mut beside: u32, mut parent: u32) {
        loop {
            if parent == NONE {
                // There are two roots now.
                let root = self.new_branch(NONE);
                for (lane, c) in [beside, child].into_iter().enumerate() {
                    let whole = self.box_of(c);
                    self.branches[root as usize].children[lane] = c;
                    self.branches[root as usize].boxes.set(lane, &whole);
                    self.set_parent(c, root);
                }
                self.root = root;
                return;
            }
            let branch = &mut self.branches[parent as usize];
            let above = branch.parent;
            if let Some(lane) = branch.children.iter().position(|c| *c == NONE) {
                branch.children[lane] = child;
                branch.boxes.set(lane, &one);
                self.set_parent(child, parent);
                self.lift(parent, above, self.box_of(parent));
                return;
            }
            let new = self.halve_branch(parent, child, one);
            self.lift(parent, above, self.box_of(parent));
            (child, one) = (new, self.box_of(new));
            (beside, parent) = (parent, above);
        }
    }

    /// Makes two branches of a full one and one more child; returns the new one, which has no parent yet.
    fn halve_branch(&mut self, branch: u32, child: u32, one: Box32) -> u32 {
        let old = self.branches[branch as usize];
        let mut all = [(0.0, NONE, one); LANES + 1];
        for (lane, entry) in all[..LANES].iter_mut().enumerate() {
            *entry = (0.0, old.children[lane], old.boxes.get(lane));
        }
        all[LANES].1 = child;
        let boxes = all.map(|(_, _, one)| one);
        let axis = spread_axis(&boxes);
        for entry in &mut all {
            entry.0 = entry.2.centre(axis);
        }
        all.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let new = self.new_branch(NONE);
        self.branches[branch as usize] = super::Branch::new(old.parent, old.since);
        self.branches[new as usize].since = old.since;
        let half = all.len() / 2;
        for (k, (_, child, one)) in all.into_iter().enumerate() {
            let (to, lane) = if k < half {
                (branch, k)
            } else {
                (new, k - half)
            };
            self.branches[to as usize].children[lane] = child;
            self.branches[to as usize].boxes.set(lane, &one);
            self.set_parent(child, to);
        }
        new
    }

    fn set_parent(&mut self, child: u32, parent: u32) {
        if child & IS_LEAF != 0 {
            self.leaves[(child & !IS_LEAF) as usize].parent = parent;
        } else {
            self.branches[child as usize].parent = parent;
        }
    }
}

/// Refuses changes of a tree that wants positions for so many nodes and has known so many triangles, if one of them can't be made.
pub(super) fn check_changes(
    changes: &[Change],
    (nodes, triangles): (usize, usize),
    positions: &[DVec3],
) -> Result<(), TreeError> {
    if positions.len() < nodes {
        return Err(TreeError::TooFewPositions {
            positions: positions.len(),
            nodes,
        });
    }
    let known = triangles + changes.len();
    for Change { triangle, corners } in changes {
        let triangle = *triangle;
        if triangle > MAX_TRIANGLE {
            return Err(TreeError::TooManyTriangles { triangle });
        }
        if let Some(corners) = corners {
            if triangle as usize > SPREAD * known + ROOM {
                return Err(TreeError::Sparse { triangle, known });
            }
            check(triangle, corners, positions)?;
        }
    }
    Ok(())
}

/// The axis along which the middles of boxes are spread furthest.
fn spread_axis(boxes: &[Box32]) -> usize {
    let spread = [0, 1, 2].map(|axis| {
        let range = boxes.iter().map(|b| b.centre(axis));
        range.clone().fold(f32::NEG_INFINITY, f32::max) - range.fold(f32::INFINITY, f32::min)
    });
    (0..3).fold(0, |best, k| if spread[k] > spread[best] { k } else { best })
}

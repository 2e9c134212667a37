//! Triangles that come, go and change, at a cost that depends on how many of them do (H97).

use super::{Hybrid, NONE, Node, Split};
use crate::tree::{Change, TreeError, edit::check_changes};
use glam::DVec3;
use trocar_math::Bounds;

/// A node is divided anew if one child has so much more than its half: what grew in one place would become a long chain.
const LOPSIDED: f64 = 0.75;

impl Hybrid {
    /// Makes changes, one after the other. `positions` (m) by node are those of the last refit, and of all new nodes. If one of them is refused,
    /// none is made. To take away what is not there is no error.
    pub fn edit(&mut self, changes: &[Change], positions: &[DVec3]) -> Result<(), TreeError> {
        check_changes(changes, (self.places, self.triangles.len()), positions)?;
        for change in changes {
            self.take(change.triangle, positions);
            if let Some(corners) = change.corners {
                self.give(change.triangle, corners, positions);
            }
        }
        Ok(())
    }

    /// Takes a triangle out of its leaf. A leaf that has none then goes, and its sibling takes their parent's place.
    fn take(&mut self, triangle: u32, positions: &[DVec3]) {
        let Some(home) = self.homes.get_mut(triangle as usize) else {
            return;
        };
        let leaf = std::mem::replace(home, NONE);
        if leaf == NONE {
            return;
        }
        let of = &mut self.leaves[leaf as usize];
        of.triangles.retain(|t| *t != triangle);
        let (node, empty) = (of.node, of.triangles.is_empty());
        self.count(node, -1);
        if !empty {
            self.lift(node, positions);
            return;
        }
        let parent = self.nodes[node as usize].parent;
        if parent == NONE {
            // There is nothing any more.
            self.nodes.clear();
            self.leaves.clear();
            self.free_leaves.clear();
            self.free_pairs.clear();
            return;
        }
        self.free_leaves.push(leaf);
        let first = self.nodes[parent as usize].first;
        let sibling = if node == first { first + 1 } else { first };
        let moved = self.nodes[sibling as usize];
        let place = &mut self.nodes[parent as usize];
        (place.first, place.is_leaf) = (moved.first, moved.is_leaf);
        if moved.is_leaf {
            self.leaves[moved.first as usize].node = parent;
        } else {
            for child in [moved.first, moved.first + 1] {
                self.nodes[child as usize].parent = parent;
            }
        }
        self.free_pairs.push(first);
        if self.set_bounds(parent, moved.bounds) {
            self.lift_above(parent);
        }
    }

    /// Puts a triangle where boxes grow least.
    fn give(&mut self, triangle: u32, corners: [u32; 3], positions: &[DVec3]) {
        let at = triangle as usize;
        if at >= self.triangles.len() {
            self.triangles.resize(at + 1, [0; 3]);
            self.homes.resize(at + 1, NONE);
        }
        self.triangles[at] = corners;
        let last = corners.iter().max().map_or(0, |n| *n as usize + 1);
        self.places = self.places.max(last);
        if self.nodes.is_empty() {
            self.nodes.push(Node::new(NONE));
            self.regrow(0, 0, vec![triangle], positions);
            return;
        }
        let one = Bounds::of(corners.map(|n| positions[n as usize]));
        let (mut node, mut level) = (0, 0);
        // The highest node that has become too uneven to go on like that. Half lay on each side, so that as many had to come since as it costs.
        let mut uneven = None;
        let even = self.rules.split == Split::Median;
        while !self.nodes[node as usize].is_leaf {
            let first = self.nodes[node as usize].first;
            let [a, b] = [0, 1].map(|k| growth(&self.nodes[(first + k) as usize].bounds, &one));
            let child = first + u32::from(b < a);
            let [whole, part] = [node, child].map(|n| f64::from(self.nodes[n as usize].count + 1));
            if even
                && uneven.is_none()
                && part > LOPSIDED * whole
                && whole > 4.0 * self.rules.leaf as f64
            {
                uneven = Some((node, level));
            }
            (node, level) = (child, level + 1);
        }
        let leaf = self.nodes[node as usize].first;
        self.leaves[leaf as usize].triangles.push(triangle);
        self.homes[at] = leaf;
        self.count(node, 1);
        let full = self.nodes[node as usize].count as usize > self.rules.leaf;
        if !full || level + 1 >= self.rules.levels {
            self.lift(node, positions);
            return;
        }
        let (top, level) = uneven.unwrap_or((node, level));
        let mut triangles = Vec::with_capacity(self.nodes[top as usize].count as usize);
        self.fell(top, &mut triangles);
        self.regrow(top, level, triangles, positions);
    }

    /// Divides triangles anew below a node that has nothing below it.
    fn regrow(&mut self, at: u32, level: u32, triangles: Vec<u32>, positions: &[DVec3]) {
        let mut items = self.items(triangles, positions);
        self.grow(at, level, &mut items, positions);
        self.refit_below(at, positions, &mut None);
        self.lift_above(at);
    }

    /// Fits a leaf's node and those above it, up to where nothing changes (H65).
    fn lift(&mut self, node: u32, positions: &[DVec3]) {
        if self.refit_leaf(node, positions, &mut None) {
            self.lift_above(node);
        }
    }

    fn lift_above(&mut self, mut node: u32) {
        loop {
            node = self.nodes[node as usize].parent;
            if node == NONE || !self.set_bounds(node, self.joined(node)) {
                return;
            }
        }
    }

    /// One more or one less below a node and all above it.
    fn count(&mut self, mut node: u32, more: i32) {
        while node != NONE {
            let of = &mut self.nodes[node as usize];
            of.count = of.count.saturating_add_signed(more);
            node = of.parent;
        }
    }
}

/// How much surface a box gains if it takes another in, halved.
fn growth(old: &Bounds, new: &Bounds) -> f64 {
    let surface = |size: DVec3| size.x * size.y + size.y * size.z + size.z * size.x;
    let low = old.low.min(new.low);
    let high = old.high.max(new.high);
    surface(high - low) - surface(old.size())
}

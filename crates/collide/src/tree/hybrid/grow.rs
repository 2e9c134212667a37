//! Dividing triangles among nodes, from above (H59).

use super::{Axis, Hybrid, Leaf, NONE, Node, Split};
use glam::DVec3;
use trocar_math::Bounds;

/// A triangle that looks for its place: three times its middle, m, and its number.
#[derive(Clone, Copy)]
pub(super) struct Item {
    middle: DVec3,
    triangle: u32,
}

impl Hybrid {
    /// Triangles, in the order of their numbers.
    pub(super) fn items(&self, mut triangles: Vec<u32>, positions: &[DVec3]) -> Vec<Item> {
        triangles.sort_unstable();
        let item = |triangle: u32| Item {
            middle: self.corners_of(triangle, positions).iter().sum(),
            triangle,
        };
        triangles.into_iter().map(item).collect()
    }

    fn corners_of(&self, triangle: u32, positions: &[DVec3]) -> [DVec3; 3] {
        self.triangles[triangle as usize].map(|n| positions[n as usize])
    }

    /// Puts `items` below a node that has nothing below it, at a level.
    pub(super) fn grow(&mut self, at: u32, level: u32, items: &mut [Item], positions: &[DVec3]) {
        self.nodes[at as usize].count = items.len() as u32;
        let deep = level + 1 >= self.rules.levels;
        let cut = if items.len() <= self.rules.leaf || deep {
            0
        } else {
            self.divide(items, positions)
        };
        if cut == 0 || cut == items.len() {
            let leaf = self.new_leaf(at);
            for item in &*items {
                self.leaves[leaf as usize].triangles.push(item.triangle);
                self.homes[item.triangle as usize] = leaf;
            }
            let node = &mut self.nodes[at as usize];
            (node.first, node.is_leaf) = (leaf, true);
            return;
        }
        let child = Node::new(at);
        let first = self.new_pair(child);
        let node = &mut self.nodes[at as usize];
        (node.first, node.is_leaf) = (first, false);
        let (low, high) = items.split_at_mut(cut);
        self.grow(first, level + 1, low, positions);
        self.grow(first + 1, level + 1, high, positions);
    }

    fn new_leaf(&mut self, node: u32) -> u32 {
        if let Some(leaf) = self.free_leaves.pop() {
            self.leaves[leaf as usize].node = node;
            return leaf;
        }
        self.leaves.push(Leaf {
            node,
            triangles: Vec::with_capacity(self.rules.leaf.min(64)),
        });
        self.leaves.len() as u32 - 1
    }

    fn new_pair(&mut self, node: Node) -> u32 {
        if let Some(first) = self.free_pairs.pop() {
            self.nodes[first as usize..first as usize + 2].fill(node);
            return first;
        }
        self.nodes.extend([node, node]);
        self.nodes.len() as u32 - 2
    }

    /// Sorts triangles into two groups; says how many come first.
    fn divide(&self, items: &mut [Item], positions: &[DVec3]) -> usize {
        let axis = match self.rules.axis {
            Axis::Extent => Bounds::of(items.iter().map(|item| item.middle))
                .size()
                .max_position(),
            Axis::Variance => {
                let mean = items.iter().map(|item| item.middle).sum::<DVec3>() / items.len() as f64;
                let square = |item: &Item| (item.middle - mean) * (item.middle - mean);
                items.iter().map(square).sum::<DVec3>().max_position()
            }
            Axis::Volume => {
                let volume = |some: &[Item]| {
                    let corners = some
                        .iter()
                        .map(|item| self.corners_of(item.triangle, positions));
                    let size = Bounds::of(corners.flatten()).size();
                    size.x * size.y * size.z
                };
                let volumes = [0, 1, 2].map(|axis| {
                    let cut = self.cut(items, axis);
                    match items.split_at(cut) {
                        // One of them would have everything.
                        ([], _) | (_, []) => f64::INFINITY,
                        (low, high) => volume(low) + volume(high),
                    }
                });
                DVec3::from(volumes).min_position()
            }
        };
        self.cut(items, axis)
    }

    /// Sorts triangles into two groups across an axis; says how many come first.
    fn cut(&self, items: &mut [Item], axis: usize) -> usize {
        let at = |item: &Item| item.middle[axis];
        let compare =
            |a: &Item, b: &Item| at(a).total_cmp(&at(b)).then(a.triangle.cmp(&b.triangle));
        match self.rules.split {
            Split::Median => {
                let half = items.len() / 2;
                items.select_nth_unstable_by(half, compare);
                half
            }
            Split::Mean => {
                let mean = items.iter().map(at).sum::<f64>() / items.len() as f64;
                items.sort_unstable_by(compare);
                items.partition_point(|item| at(item) < mean)
            }
        }
    }

    /// Takes everything away below a node; its triangles are left in `out`.
    pub(super) fn fell(&mut self, at: u32, out: &mut Vec<u32>) {
        let node = self.nodes[at as usize];
        if node.is_leaf {
            let leaf = &mut self.leaves[node.first as usize];
            leaf.node = NONE;
            out.append(&mut leaf.triangles);
            self.free_leaves.push(node.first);
        } else {
            self.fell(node.first, out);
            self.fell(node.first + 1, out);
            self.free_pairs.push(node.first);
        }
    }
}

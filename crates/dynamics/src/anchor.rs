//! Points on matter.

use glam::DVec3;
use serde::{Deserialize, Serialize};

/// Names a piece of matter: its index in the model and in [`State::nodes`](crate::State).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct MatterId(pub u32);

impl MatterId {
    /// The world: matter that never moves, always the first.
    pub const WORLD: Self = Self(0);

    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A node, or a point fixed to a node that has an orientation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Index of the node in its matter.
    pub node: u32,
    /// Where the point is in the node's frame, m. Zero for a node without orientation.
    pub offset: DVec3,
}

/// A point on any matter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Anchor {
    /// What it is on.
    pub matter: MatterId,
    /// Where on it.
    pub at: Local,
}

/// Where a point is on its matter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Local {
    /// A node.
    Node(u32),
    /// A point fixed to a node with an orientation: index, and offset in its frame (m).
    Frame(u32, DVec3),
    /// On a surface triangle: three nodes and barycentric weights that sum to 1.
    Triangle([u32; 3], [f64; 3]),
    /// In a tetrahedron: four nodes and barycentric weights that sum to 1.
    Tetrahedron([u32; 4], [f64; 4]),
}

impl Anchor {
    /// A fixed point of the world, m.
    pub fn world(point: DVec3) -> Self {
        Self {
            matter: MatterId::WORLD,
            at: Local::Frame(0, point),
        }
    }

    /// A node of `matter`.
    pub fn node(matter: MatterId, node: u32) -> Self {
        Self {
            matter,
            at: Local::Node(node),
        }
    }

    /// A point fixed to a frame of `matter`, at `offset` (m) in that frame.
    pub fn frame(matter: MatterId, node: u32, offset: DVec3) -> Self {
        Self {
            matter,
            at: Local::Frame(node, offset),
        }
    }
}

/// The nodes an anchor rests on, with their weights: what a solver works with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Support {
    count: usize,
    parts: [(MatterId, Point, f64); 4],
}

impl Support {
    /// The nodes of `anchor`, as written, all on its matter.
    pub fn of(anchor: &Anchor) -> Self {
        let mut support = Self::none(anchor.matter);
        match anchor.at {
            Local::Node(node) => support.add(anchor.matter, node, DVec3::ZERO, 1.0),
            Local::Frame(node, offset) => support.add(anchor.matter, node, offset, 1.0),
            Local::Triangle(nodes, weights) => {
                for (node, weight) in nodes.into_iter().zip(weights) {
                    support.add(anchor.matter, node, DVec3::ZERO, weight);
                }
            }
            Local::Tetrahedron(nodes, weights) => {
                for (node, weight) in nodes.into_iter().zip(weights) {
                    support.add(anchor.matter, node, DVec3::ZERO, weight);
                }
            }
        }
        support
    }

    /// No node: what a push has as its other end when nothing takes the reaction.
    pub fn none(matter: MatterId) -> Self {
        Self {
            count: 0,
            parts: [(matter, Point::default(), 0.0); 4],
        }
    }

    fn add(&mut self, matter: MatterId, node: u32, offset: DVec3, weight: f64) {
        // A corner of weight zero bears nothing and would only cost time.
        if weight != 0.0 {
            self.parts[self.count] = (matter, Point { node, offset }, weight);
            self.count += 1;
        }
    }

    /// Matter, point and weight of each node.
    pub fn parts(&self) -> &[(MatterId, Point, f64)] {
        &self.parts[..self.count]
    }

    /// The same, to redirect a part to the node that leads it (K54).
    pub fn parts_mut(&mut self) -> &mut [(MatterId, Point, f64)] {
        &mut self.parts[..self.count]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_corner_without_weight_is_not_part_of_the_support() {
        let anchor = Anchor {
            matter: MatterId(3),
            at: Local::Triangle([7, 8, 9], [0.25, 0.0, 0.75]),
        };
        let nodes: Vec<_> = Support::of(&anchor)
            .parts()
            .iter()
            .map(|p| (p.1.node, p.2))
            .collect();
        assert_eq!(nodes, [(7, 0.25), (9, 0.75)]);
    }
}

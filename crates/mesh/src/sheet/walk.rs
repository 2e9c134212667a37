//! Ways through a sheet: around nodes, along rims, across tears.

use super::slots::NONE;
use super::{EdgeId, Kind, NodeId, Refusal, Sheet, TriangleId};

/// The next side of the same triangle, counter-clockwise.
#[inline]
pub(super) fn next(half: u32) -> u32 {
    if half % 3 == 2 { half - 2 } else { half + 1 }
}

/// The side before.
#[inline]
pub(super) fn previous(half: u32) -> u32 {
    if half.is_multiple_of(3) {
        half + 2
    } else {
        half - 1
    }
}

/// The half-edges that leave a node, counter-clockwise.
pub(super) struct Around<'a> {
    sheet: &'a Sheet,
    first: u32,
    at: u32,
}

impl Iterator for Around<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        let here = self.at;
        if here == NONE {
            return None;
        }
        let onward = self.sheet.opposite(previous(here));
        self.at = if onward == self.first { NONE } else { onward };
        Some(here)
    }
}

impl Sheet {
    #[inline]
    pub(super) fn origin(&self, half: u32) -> u32 {
        self.triangles.get(half / 3).nodes[(half % 3) as usize]
    }

    #[inline]
    pub(super) fn target(&self, half: u32) -> u32 {
        self.origin(next(half))
    }

    /// The corner across from a side.
    #[inline]
    pub(super) fn apex(&self, half: u32) -> u32 {
        self.origin(previous(half))
    }

    #[inline]
    pub(super) fn opposite(&self, half: u32) -> u32 {
        self.triangles.get(half / 3).opposite[(half % 3) as usize]
    }

    #[inline]
    pub(super) fn edge_of(&self, half: u32) -> u32 {
        self.triangles.get(half / 3).edges[(half % 3) as usize]
    }

    /// Half-edges that leave a node.
    #[inline]
    pub(super) fn around(&self, node: u32) -> Around<'_> {
        self.around_from(self.nodes.get(node).leaving)
    }

    /// The same from one of them: all of them if the node is inside, else from there on.
    #[inline]
    pub(super) fn around_from(&self, first: u32) -> Around<'_> {
        Around {
            sheet: self,
            first,
            at: first,
        }
    }

    #[inline]
    pub(super) fn is_on_rim(&self, node: u32) -> bool {
        self.opposite(self.nodes.get(node).leaving) == NONE
    }

    /// The two neighbours of a node along its rim: the one it leads to and the one that leads to it.
    pub(super) fn along_rim(&self, node: u32) -> Option<[u32; 2]> {
        let leaving = self.nodes.get(node).leaving;
        if self.opposite(leaving) != NONE {
            return None;
        }
        let last = self.around(node).last()?;
        Some([self.target(leaving), self.origin(previous(last))])
    }

    /// Whether two nodes were one.
    pub(super) fn are_siblings(&self, a: u32, b: u32) -> bool {
        a != b && self.ring(a).any(|n| n == b)
    }

    /// A node and all that were one with it.
    pub(super) fn ring(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let mut at = Some(node);
        std::iter::from_fn(move || {
            let here = at?;
            let onward = self.nodes.get(here).sibling;
            at = (onward != node).then_some(onward);
            Some(here)
        })
    }

    pub(super) fn kind_of(&self, node: u32) -> Kind {
        match self.along_rim(node) {
            None => Kind::Inner,
            Some([a, b]) if self.nodes.get(node).sibling == node && self.are_siblings(a, b) => {
                Kind::Tip
            }
            Some(_) => Kind::Edge,
        }
    }

    /// The half-edge from one node to another, if there is one.
    pub(super) fn half_between(&self, from: u32, to: u32) -> Option<u32> {
        self.around(from).find(|h| self.target(*h) == to)
    }

    /// The half-edge along the rim on the other side of the tear that this rim half-edge is a side of.
    pub(super) fn facing(&self, half: u32) -> Option<u32> {
        let (from, to) = (self.origin(half), self.target(half));
        self.ring(to).find_map(|start| {
            let across = self.nodes.get(start).leaving;
            let faces = across != half
                && self.opposite(across) == NONE
                && self.ring(from).any(|n| n == self.target(across));
            faces.then_some(across)
        })
    }

    /// What a node is to a tear; none if it is gone.
    pub fn kind(&self, node: NodeId) -> Option<Kind> {
        self.nodes.find(node).map(|n| self.kind_of(n))
    }

    /// The triangles around a node, counter-clockwise.
    pub fn triangles_around(&self, node: NodeId) -> impl Iterator<Item = TriangleId> + '_ {
        self.around(node.slot)
            .map(|half| self.triangles.id(half / 3))
    }

    /// The triangles around a node with their other two corners, counter-clockwise.
    pub fn fan(&self, node: NodeId) -> impl Iterator<Item = (TriangleId, NodeId, NodeId)> + '_ {
        self.around(node.slot).map(|half| {
            (
                self.triangles.id(half / 3),
                self.nodes.id(self.target(half)),
                self.nodes.id(self.apex(half)),
            )
        })
    }

    /// The edges at a node and those across from it, by triangle, counter-clockwise: the one on which a triangle begins, and the one that it has across. The last rim edge
    /// of a node, which only comes to it, is left out.
    pub fn spokes(&self, node: NodeId) -> impl Iterator<Item = (EdgeId, EdgeId)> + '_ {
        self.around(node.slot).map(|half| {
            let [spoke, across] = [half, next(half)].map(|h| self.edges.id(self.edge_of(h)));
            (spoke, across)
        })
    }

    /// The corners on both sides of an edge; none on a rim.
    pub fn apexes(&self, edge: EdgeId) -> Option<[NodeId; 2]> {
        let half = self.edges.get(edge.slot).half;
        let other = self.opposite(half);
        (other != NONE).then(|| [half, other].map(|h| self.nodes.id(self.apex(h))))
    }

    /// The edges at a node, counter-clockwise, with the node at the other end of each.
    pub fn edges_around(&self, node: NodeId) -> impl Iterator<Item = (EdgeId, NodeId)> + '_ {
        let rim = self.is_on_rim(node.slot);
        self.around(node.slot).flat_map(move |half| {
            let here = (self.edges.id(self.edge_of(half)), self.target(half));
            let back = previous(half);
            // The last rim edge of a node only comes to it.
            let last = (rim && self.opposite(back) == NONE)
                .then(|| (self.edges.id(self.edge_of(back)), self.origin(back)));
            std::iter::once(here)
                .chain(last)
                .map(|(edge, n)| (edge, self.nodes.id(n)))
        })
    }

    /// The two neighbours of a node along its rim: the one after and the one before it, the sheet on the left.
    pub fn rim_neighbours(&self, node: NodeId) -> Option<[NodeId; 2]> {
        Some(self.along_rim(node.slot)?.map(|n| self.nodes.id(n)))
    }

    /// Both sides of the tear that ends at a tip, from there on: pairs of nodes that were one. The last pair is that where the sides part, or where the tear's other tip comes next.
    pub fn flanks(&self, tip: NodeId) -> impl Iterator<Item = [NodeId; 2]> + '_ {
        let mut pair = [tip.slot; 2];
        std::iter::from_fn(move || {
            let [right, left] = pair.map(|n| self.along_rim(n));
            pair = [right?[0], left?[1]];
            self.are_siblings(pair[0], pair[1])
                .then(|| pair.map(|n| self.nodes.id(n)))
        })
    }

    /// Other nodes that were one with this before tears parted them: they share its rest position (W112).
    pub fn siblings(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.ring(node.slot).skip(1).map(|n| self.nodes.id(n))
    }

    /// The edge between two nodes.
    pub fn edge_between(&self, a: NodeId, b: NodeId) -> Result<EdgeId, Refusal> {
        let (from, to) = (self.find_node(a)?, self.find_node(b)?);
        let half = self
            .half_between(from, to)
            .or_else(|| self.half_between(to, from))
            .ok_or(Refusal::NotNeighbours(a, b))?;
        Ok(self.edges.id(self.edge_of(half)))
    }

    /// The edge across the tear that an edge is a side of; none if it is no side of a tear.
    pub fn facing_edge(&self, edge: EdgeId) -> Option<EdgeId> {
        let half = self.edges.get(edge.slot).half;
        if self.opposite(half) != NONE {
            return None;
        }
        let across = self.facing(half)?;
        Some(self.edges.id(self.edge_of(across)))
    }

    /// Pieces that share no node. Walks the whole sheet: for reports, not for every step.
    pub fn pieces(&self) -> usize {
        let mut seen = vec![false; self.triangles.len()];
        let (mut pieces, mut stack) = (0, Vec::new());
        for start in self.triangles.live() {
            if std::mem::replace(&mut seen[start as usize], true) {
                continue;
            }
            pieces += 1;
            stack.push(start);
            while let Some(t) = stack.pop() {
                for across in self.triangles.get(t).opposite {
                    if across != NONE && !std::mem::replace(&mut seen[across as usize / 3], true) {
                        stack.push(across / 3);
                    }
                }
            }
        }
        pieces
    }
}

//! The cuts and stitches that edits are made of. They check nothing, keep the journal, and leave a sound sheet only when an
//! edit has done all of them.

use super::event::{Blend, NodeStep};
use super::slots::NONE;
use super::walk::{next, previous};
use super::{Edge, Node, NodeId, Refusal, Sheet, Triangle, quality};
use glam::DVec3;

/// More parts than this are not named: half-edges must be numbers, too.
const MOST: usize = 1 << 30;

impl Sheet {
    pub(super) fn find_node(&self, node: NodeId) -> Result<u32, Refusal> {
        self.nodes.find(node).ok_or(Refusal::NoNode(node))
    }

    pub(super) fn room(&self) -> Result<(), Refusal> {
        if self.triangles.len().max(self.edges.len()) < MOST {
            return Ok(());
        }
        Err(Refusal::Full)
    }

    /// Whether a triangle with these corners is good enough, and looks to the same side as `normal`.
    pub(super) fn is_sound(&self, corners: [DVec3; 3], normal: DVec3) -> bool {
        let [a, b, c] = corners;
        (b - a).cross(c - a).dot(normal) > 0.0 && quality(corners) >= self.least_quality
    }

    /// Normal of a triangle at rest, of twice its area's length.
    pub(super) fn normal(&self, triangle: u32) -> DVec3 {
        let [a, b, c] = self.rest_of(triangle);
        (b - a).cross(c - a)
    }

    /// Glues two half-edges together, or makes one a rim, as `edge`.
    pub(super) fn attach(&mut self, half: u32, other: u32, edge: u32) {
        for (here, there) in [(half, other), (other, half)] {
            if here == NONE {
                continue;
            }
            let triangle = self.triangles.change(here / 3);
            triangle.opposite[here as usize % 3] = there;
            triangle.edges[here as usize % 3] = edge;
        }
        self.edges.change(edge).half = half.min(other);
    }

    pub(super) fn make_edge(&mut self) -> u32 {
        self.edges.make(Edge { half: NONE })
    }

    pub(super) fn make_triangle(&mut self, nodes: [u32; 3]) -> u32 {
        self.triangles.make(Triangle {
            nodes,
            opposite: [NONE; 3],
            edges: [NONE; 3],
        })
    }

    /// A node that is what `blend` says, its half-edge yet to be found.
    pub(super) fn make_node(&mut self, blend: &Blend) -> u32 {
        let mut node = self.blended(blend);
        node.leaving = NONE;
        let slot = self.nodes.make(node);
        self.nodes.change(slot).sibling = slot;
        self.steps.push(NodeStep::Made(self.nodes.id(slot), *blend));
        slot
    }

    /// Rest position, texture and numbers of a point between nodes.
    fn blended(&self, blend: &Blend) -> Node {
        let parts = blend.parts();
        let mut node = *self.nodes.get(parts[0].0.slot);
        if parts.len() > 1 {
            node.rest *= parts[0].1;
            node.texture *= parts[0].1;
            node.attributes = node.attributes.map(|a| a * parts[0].1);
            for (other, weight) in &parts[1..] {
                let other = self.nodes.get(other.slot);
                node.rest += other.rest * *weight;
                node.texture += other.texture * *weight;
                for (sum, a) in node.attributes.iter_mut().zip(other.attributes) {
                    *sum += a * weight;
                }
            }
        }
        node
    }

    /// Rest position of a point between nodes, m.
    pub(super) fn rest_at(&self, blend: &Blend) -> DVec3 {
        self.blended(blend).rest
    }

    /// Moves a node to a point between nodes and marks all that changes by it.
    pub(super) fn place(&mut self, node: u32, blend: &Blend) {
        let there = self.blended(blend);
        let here = self.nodes.change(node);
        here.rest = there.rest;
        here.texture = there.texture;
        here.attributes = there.attributes;
        self.steps
            .push(NodeStep::Moved(self.nodes.id(node), *blend));
        let first = self.nodes.get(node).leaving;
        let mut half = first;
        loop {
            self.triangles.change(half / 3);
            half = self.opposite(previous(half));
            if half == NONE || half == first {
                return;
            }
        }
    }

    /// Finds a node's half-edge anew, from any that leaves it.
    pub(super) fn settle(&mut self, node: u32, start: u32) {
        let mut half = start;
        loop {
            let across = self.opposite(half);
            if across == NONE {
                break;
            }
            half = next(across);
            if half == start {
                break;
            }
        }
        if self.nodes.get(node).leaving != half {
            self.nodes.change(node).leaving = half;
        }
    }

    /// Takes a node away.
    pub(super) fn drop_node(&mut self, node: u32) {
        self.leave_ring(node);
        self.steps.push(NodeStep::Removed(self.nodes.id(node)));
        self.nodes.free(node);
    }

    /// Puts `node` into the ring of `other`.
    pub(super) fn join_ring(&mut self, node: u32, other: u32) {
        let after = self.nodes.get(other).sibling;
        self.nodes.change(node).sibling = after;
        self.nodes.change(other).sibling = node;
    }

    fn leave_ring(&mut self, node: u32) {
        let after = self.nodes.get(node).sibling;
        if after == node {
            return;
        }
        if let Some(before) = self.ring(node).last() {
            self.nodes.change(before).sibling = after;
        }
        self.nodes.change(node).sibling = node;
    }

    /// If `node` now has a second fan of triangles, reached from the half-edge `second` that leaves it, and the first from
    /// `first`, gives the second to a node of its own.
    pub(super) fn part(&mut self, node: u32, first: u32, second: u32) {
        self.settle(node, first);
        if self.around(node).any(|half| half == second) {
            return;
        }
        let twin = self.make_node(&Blend::node(self.nodes.id(node)));
        self.join_ring(twin, node);
        self.settle(twin, second);
        let mut half = self.nodes.get(twin).leaving;
        while half != NONE {
            self.triangles.change(half / 3).nodes[half as usize % 3] = twin;
            half = self.opposite(previous(half));
        }
    }

    /// Parts the two triangles at an edge and whatever then hangs together by a node alone.
    pub(super) fn unglue(&mut self, edge: u32) {
        let half = self.edges.get(edge).half;
        let other = self.opposite(half);
        let (from, to) = (self.origin(half), self.target(half));
        self.attach(half, NONE, edge);
        let second = self.make_edge();
        self.attach(other, NONE, second);
        self.part(from, half, next(other));
        self.part(to, next(half), other);
    }

    /// Puts `middle` on a half-edge, and on the one across if there is one: two triangles out of each beside it.
    pub(super) fn divide(&mut self, half: u32, middle: u32) {
        let other = self.opposite(half);
        let edge = self.edge_of(half);
        let to = self.target(half);
        let apex = self.apex(half);
        let far_edge = self.make_edge();
        let onward = next(half);
        let (onward_opposite, onward_edge) = (self.opposite(onward), self.edge_of(onward));
        self.triangles.change(half / 3).nodes[next(half) as usize % 3] = middle;
        let new = 3 * self.make_triangle([middle, to, apex]);
        self.attach(new + 1, onward_opposite, onward_edge);
        let across = self.make_edge();
        self.attach(onward, new + 2, across);
        if other == NONE {
            self.attach(new, NONE, far_edge);
            self.attach(half, NONE, edge);
            self.settle(middle, new);
            self.settle(to, new + 1);
            return;
        }
        let other_apex = self.apex(other);
        let back = previous(other);
        let (back_opposite, back_edge) = (self.opposite(back), self.edge_of(back));
        self.triangles.change(other / 3).nodes[other as usize % 3] = middle;
        let far = 3 * self.make_triangle([to, middle, other_apex]);
        self.attach(far + 2, back_opposite, back_edge);
        let other_across = self.make_edge();
        self.attach(back, far + 1, other_across);
        self.attach(new, far, far_edge);
        self.attach(half, other, edge);
        self.settle(middle, new);
        self.settle(to, new + 1);
        self.settle(other_apex, far + 2);
    }
}

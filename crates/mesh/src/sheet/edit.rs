//! Edits of a sheet, each checked before it is done, all of them inside a transaction.

use super::event::Blend;
use super::slots::NONE;
use super::walk::{next, previous};
use super::{EdgeId, Event, Kind, NodeId, Refusal, Sheet, TriangleId};

/// A transaction at work. Get one from [`Sheet::edit`].
///
/// Each method either does its edit or says why not and changes nothing. The sheet it leads to may be looked at in between.
#[derive(Debug)]
pub struct Edit<'a> {
    pub(super) sheet: &'a mut Sheet,
}

/// A place in a transaction to go back to.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    nodes: usize,
    edges: usize,
    triangles: usize,
    steps: usize,
    holes: usize,
}

impl Sheet {
    /// Runs `work` as one transaction. If it returns an error, or if it leaves anything broken, the sheet is put back as it was, bit
    /// for bit; otherwise `event` says what happened.
    pub fn edit<T, E: From<Refusal>>(
        &mut self,
        event: &mut Event,
        work: impl FnOnce(&mut Edit<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.begin();
        event.clear();
        let done = work(&mut Edit { sheet: self });
        match done {
            Ok(value) => match self.check_touched() {
                Ok(()) => {
                    event.gather(self);
                    self.version += u64::from(!event.is_empty());
                    Ok(value)
                }
                Err(fault) => {
                    self.undo_to(Mark::START);
                    Err(Refusal::Broken(fault).into())
                }
            },
            Err(refusal) => {
                self.undo_to(Mark::START);
                Err(refusal)
            }
        }
    }

    fn begin(&mut self) {
        self.nodes.begin();
        self.edges.begin();
        self.triangles.begin();
        self.steps.clear();
        self.holes.clear();
    }

    fn undo_to(&mut self, mark: Mark) {
        self.nodes.undo_to(mark.nodes);
        self.edges.undo_to(mark.edges);
        self.triangles.undo_to(mark.triangles);
        self.steps.truncate(mark.steps);
        self.holes.truncate(mark.holes);
    }
}

impl Mark {
    const START: Self = Self {
        nodes: 0,
        edges: 0,
        triangles: 0,
        steps: 0,
        holes: 0,
    };
}

impl Edit<'_> {
    /// The sheet as the edits so far left it.
    pub fn sheet(&self) -> &Sheet {
        self.sheet
    }

    /// A place to go back to.
    pub fn mark(&self) -> Mark {
        Mark {
            nodes: self.sheet.nodes.mark(),
            edges: self.sheet.edges.mark(),
            triangles: self.sheet.triangles.mark(),
            steps: self.sheet.steps.len(),
            holes: self.sheet.holes.len(),
        }
    }

    /// Takes back everything since `mark`, bit for bit.
    pub fn undo_to(&mut self, mark: Mark) {
        self.sheet.undo_to(mark);
    }

    pub(super) fn node(&self, node: NodeId) -> Result<u32, Refusal> {
        self.sheet.find_node(node)
    }

    pub(super) fn edge(&self, edge: EdgeId) -> Result<u32, Refusal> {
        self.sheet.edges.find(edge).ok_or(Refusal::NoEdge(edge))
    }

    fn triangle(&self, triangle: TriangleId) -> Result<u32, Refusal> {
        self.sheet
            .triangles
            .find(triangle)
            .ok_or(Refusal::NoTriangle(triangle))
    }

    pub(super) fn degenerate(&self, triangle: u32) -> Refusal {
        Refusal::Degenerate(self.sheet.triangles.id(triangle))
    }

    /// A new node on an edge, `part` (0 to 1) of the way from its first end to its second.
    ///
    /// On the rim of a tear the side across is split as well, so that both go on facing each other (W112); the node made there is the
    /// sibling of the one returned. Inside: 1 node, 3 edges, 2 triangles more; on a tear 2, 4, 2; on another rim 1, 2, 1.
    pub fn split_edge(&mut self, edge: EdgeId, part: f64) -> Result<NodeId, Refusal> {
        let slot = self.edge(edge)?;
        self.sheet.room()?;
        if !(part > 0.0 && part < 1.0) {
            return Err(Refusal::OutOfRange);
        }
        let half = self.sheet.edges.get(slot).half;
        let across = match self.sheet.opposite(half) {
            NONE => self.sheet.facing(half),
            _ => None,
        };
        let [a, b] = self.sheet.ends(edge);
        let blend = Blend::between(a, b, part);
        let point = self.sheet.rest_at(&blend);
        let other = self.sheet.opposite(half);
        for h in [Some(half), (other != NONE).then_some(other), across]
            .into_iter()
            .flatten()
        {
            let s = &*self.sheet;
            let [from, to, apex] =
                [s.origin(h), s.target(h), s.apex(h)].map(|n| s.nodes.get(n).rest);
            let normal = s.normal(h / 3);
            if !s.is_sound([from, point, apex], normal) || !s.is_sound([point, to, apex], normal) {
                return Err(self.degenerate(h / 3));
            }
        }
        let middle = self.sheet.make_node(&blend);
        self.sheet.divide(half, middle);
        if let Some(across) = across {
            // Across the tear the same point lies between the siblings of the ends, whose values may differ.
            let s = &*self.sheet;
            let (from, to) = (s.origin(across), s.target(across));
            let blend = Blend::between(s.nodes.id(to), s.nodes.id(from), part);
            let twin = self.sheet.make_node(&blend);
            let rest = self.sheet.nodes.get(middle).rest;
            self.sheet.nodes.change(twin).rest = rest;
            self.sheet.divide(across, twin);
            self.sheet.join_ring(twin, middle);
        }
        Ok(self.sheet.nodes.id(middle))
    }

    /// A new node inside a triangle, at barycentric `weights`: 1 node, 3 edges, 2 triangles more.
    pub fn subdivide(
        &mut self,
        triangle: TriangleId,
        weights: [f64; 3],
    ) -> Result<NodeId, Refusal> {
        let t = self.triangle(triangle)?;
        self.sheet.room()?;
        let blend = Blend::inside(self.sheet.corners(triangle), weights)?;
        if weights.iter().any(|w| *w <= 0.0) {
            return Err(Refusal::OutOfRange);
        }
        let s = &mut *self.sheet;
        let point = s.rest_at(&blend);
        let [a, b, c] = s.rest_of(t);
        let normal = s.normal(t);
        if ![[a, b], [b, c], [c, a]]
            .iter()
            .all(|[x, y]| s.is_sound([*x, *y, point], normal))
        {
            return Err(self.degenerate(t));
        }
        let middle = s.make_node(&blend);
        let old = *s.triangles.get(t);
        let [a, b, c] = old.nodes;
        s.triangles.change(t).nodes = [a, b, middle];
        let second = 3 * s.make_triangle([b, c, middle]);
        let third = 3 * s.make_triangle([c, a, middle]);
        s.attach(second, old.opposite[1], old.edges[1]);
        s.attach(third, old.opposite[2], old.edges[2]);
        let spokes = [3 * t, second, third];
        for k in 0..3 {
            let edge = s.make_edge();
            s.attach(next(spokes[k]), previous(spokes[(k + 1) % 3]), edge);
        }
        s.settle(middle, previous(third));
        s.settle(a, 3 * t);
        s.settle(b, second);
        s.settle(c, third);
        Ok(s.nodes.id(middle))
    }

    /// Moves a node to barycentric `weights` in a triangle at rest (W46, W95, W100). Nodes on a rim stay, but for tips.
    pub fn snap(
        &mut self,
        node: NodeId,
        triangle: TriangleId,
        weights: [f64; 3],
    ) -> Result<(), Refusal> {
        self.triangle(triangle)?;
        let blend = Blend::inside(self.sheet.corners(triangle), weights)?;
        self.put(node, &blend)
    }

    /// Moves a node along one of its edges, by `part` (0 to 1) of it (W96).
    pub fn move_along(&mut self, node: NodeId, edge: EdgeId, part: f64) -> Result<(), Refusal> {
        self.node(node)?;
        self.edge(edge)?;
        let [a, b] = self.sheet.ends(edge);
        if !(part > 0.0 && part < 1.0) || (node != a && node != b) {
            return Err(Refusal::OutOfRange);
        }
        let other = if node == a { b } else { a };
        self.put(node, &Blend::between(node, other, part))
    }

    fn put(&mut self, node: NodeId, blend: &Blend) -> Result<(), Refusal> {
        let n = self.node(node)?;
        if self.sheet.kind_of(n) == Kind::Edge {
            return Err(Refusal::HoldsRim(node));
        }
        let point = self.sheet.rest_at(blend);
        self.star_allows(n, point, &[])?;
        self.sheet.place(n, blend);
        Ok(())
    }

    /// Whether every triangle around a node stays sound when the node is at `point`; triangles in `but` do not count.
    pub(super) fn star_allows(
        &self,
        node: u32,
        point: glam::DVec3,
        but: &[u32],
    ) -> Result<(), Refusal> {
        let s = &*self.sheet;
        for half in s.around(node).filter(|h| !but.contains(&(h / 3))) {
            let [b, c] = [s.target(half), s.apex(half)].map(|n| s.nodes.get(n).rest);
            if !s.is_sound([point, b, c], s.normal(half / 3)) {
                return Err(self.degenerate(half / 3));
            }
        }
        Ok(())
    }

    /// Turns the edge between two triangles into their figure's other diagonal (W103). The edge that goes and the one that comes
    /// have different names.
    pub fn flip(&mut self, edge: EdgeId) -> Result<EdgeId, Refusal> {
        let slot = self.edge(edge)?;
        let s = &mut *self.sheet;
        let half = s.edges.get(slot).half;
        let other = s.opposite(half);
        if other == NONE {
            return Err(Refusal::OnRim(edge));
        }
        let (from, to) = (s.origin(half), s.target(half));
        let (apex, other_apex) = (s.apex(half), s.apex(other));
        if s.half_between(apex, other_apex).is_some() || s.half_between(other_apex, apex).is_some()
        {
            return Err(Refusal::Joined(s.nodes.id(apex), s.nodes.id(other_apex)));
        }
        // A fold of more than a right angle at rest has no common plane to look at it in.
        let normal = s.normal(half / 3) + s.normal(other / 3);
        let [u, v, p, q] = [from, to, apex, other_apex].map(|n| s.nodes.get(n).rest);
        if !s.is_sound([p, u, q], normal) || !s.is_sound([q, v, p], normal) {
            return Err(Refusal::NotConvex(edge));
        }
        let sides = [previous(half), next(other), previous(other), next(half)]
            .map(|h| (s.opposite(h), s.edge_of(h)));
        let (t, r) = (half / 3, other / 3);
        s.triangles.change(t).nodes = [apex, from, other_apex];
        s.triangles.change(r).nodes = [other_apex, to, apex];
        // Sides that face each other across the figure must be glued by their new numbers.
        let halves = [3 * t, 3 * t + 1, 3 * r, 3 * r + 1];
        let old = [previous(half), next(other), previous(other), next(half)];
        for k in 0..4 {
            let (opposite, side) = sides[k];
            let opposite = match old.iter().position(|h| *h == opposite) {
                Some(j) => halves[j],
                None => opposite,
            };
            s.attach(halves[k], opposite, side);
        }
        s.edges.free(slot);
        let new = s.make_edge();
        s.attach(3 * t + 2, 3 * r + 2, new);
        s.settle(apex, 3 * t);
        s.settle(from, 3 * t + 1);
        s.settle(other_apex, 3 * r);
        s.settle(to, 3 * r + 1);
        Ok(s.edges.id(new))
    }

    /// Tears an edge open: its ends on a rim become two nodes each, its ends inside become tips (W106). An edge with both ends
    /// inside gets two nodes in its middle (W108), so that the hole has a width to open by.
    pub fn open(&mut self, edge: EdgeId) -> Result<(), Refusal> {
        let slot = self.edge(edge)?;
        self.sheet.room()?;
        if self.sheet.is_rim(edge) {
            return Err(Refusal::OnRim(edge));
        }
        let [a, b] = self.sheet.edge_ends(slot);
        if self.sheet.is_on_rim(a) || self.sheet.is_on_rim(b) {
            self.sheet.unglue(slot);
            return Ok(());
        }
        let [a, b] = self.sheet.ends(edge);
        let middle = self.split_edge(edge, 0.5)?;
        let halves = [
            self.sheet.edge_between(a, middle)?,
            self.sheet.edge_between(middle, b)?,
        ];
        self.split_node(middle, halves)
    }

    /// Parts a node inside the sheet, and the sheet along two of its edges.
    pub fn split_node(&mut self, node: NodeId, edges: [EdgeId; 2]) -> Result<(), Refusal> {
        let n = self.node(node)?;
        self.sheet.room()?;
        let mut slots = [NONE; 2];
        for (slot, edge) in slots.iter_mut().zip(edges) {
            *slot = self.edge(edge)?;
            let ends = self.sheet.edge_ends(*slot);
            if !ends.contains(&n) || edges[0] == edges[1] {
                return Err(Refusal::OutOfRange);
            }
            if self.sheet.is_rim(edge) {
                return Err(Refusal::OnRim(edge));
            }
        }
        if self.sheet.is_on_rim(n) {
            return Err(Refusal::HoldsRim(node));
        }
        self.sheet.unglue(slots[0]);
        self.sheet.unglue(slots[1]);
        Ok(())
    }

    /// Takes a triangle out (W118). The only edit that changes what the sheet covers.
    pub fn remove(&mut self, triangle: TriangleId) -> Result<(), Refusal> {
        let t = self.triangle(triangle)?;
        let s = &mut *self.sheet;
        s.holes.push(s.rest_of(t));
        // What leaves each corner in the triangles on both sides, if there are any.
        let mut beside = [[NONE; 2]; 3];
        let nodes = s.triangles.get(t).nodes;
        for k in 0..3 {
            let half = 3 * t + k;
            let (right, left) = (s.opposite(half), s.opposite(previous(half)));
            beside[k as usize] = [if right == NONE { NONE } else { next(right) }, left];
        }
        for half in 3 * t..3 * t + 3 {
            let (other, edge) = (s.opposite(half), s.edge_of(half));
            if other == NONE {
                s.edges.free(edge);
            } else {
                s.attach(other, NONE, edge);
            }
        }
        s.triangles.free(t);
        for (node, [right, left]) in nodes.into_iter().zip(beside) {
            match (right, left) {
                (NONE, NONE) => s.drop_node(node),
                (one, NONE) | (NONE, one) => s.settle(node, one),
                (right, left) => s.part(node, right, left),
            }
        }
        Ok(())
    }
}

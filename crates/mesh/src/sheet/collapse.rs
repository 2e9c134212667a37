//! Two nodes become one.

use super::edit::Edit;
use super::slots::NONE;
use super::walk::{next, previous};
use super::{Kind, NodeId, Refusal, Sheet};

/// Three points on a rim lie on a line if the middle one is off it by less than this part of the sides: rounding, no more.
const STRAIGHT: f64 = 1e-12;

impl Edit<'_> {
    /// Draws `gone` onto its neighbour `keep` (W97, W101): inside 1 node, 3 edges, 2 triangles less.
    ///
    /// What a node on a rim holds in place must stay, so there only a node in the straight middle of its rim may go, along
    /// it, with its sibling across a tear; and a tip onto a node inside.
    pub fn collapse(&mut self, gone: NodeId, keep: NodeId) -> Result<(), Refusal> {
        let (g, k) = (self.node(gone)?, self.node(keep)?);
        let edge = self.sheet.edge_between(gone, keep)?;
        if self.sheet.is_rim(edge) {
            return self.collapse_along_rim(gone, keep);
        }
        let on_rim = self.sheet.is_on_rim(k);
        match self.sheet.kind_of(g) {
            Kind::Inner => {}
            Kind::Tip if !on_rim => {}
            Kind::Tip => return Err(Refusal::Pinch(gone, keep)),
            Kind::Edge => return Err(Refusal::HoldsRim(gone)),
        }
        self.may_merge(g, k)?;
        self.sheet.merge(g, k);
        Ok(())
    }

    fn collapse_along_rim(&mut self, gone: NodeId, keep: NodeId) -> Result<(), Refusal> {
        let (g, k) = (gone.slot, keep.slot);
        let refusal = Refusal::HoldsRim(gone);
        let s = &*self.sheet;
        let [after, before] = s.along_rim(g).ok_or(refusal)?;
        if s.kind_of(g) == Kind::Tip {
            return Err(refusal);
        }
        let [x, y, z] = [before, g, after].map(|n| s.nodes.get(n).rest);
        let (one, two) = (y - x, z - y);
        let off = one.cross(two).length();
        if one.dot(two) <= 0.0 || off > STRAIGHT * one.length() * two.length() {
            return Err(refusal);
        }
        // The side across must lose the same node.
        let twin = match s.ring(g).count() {
            1 => None,
            2 => {
                let twin = s.nodes.get(g).sibling;
                let ends = s.along_rim(twin).ok_or(refusal)?;
                let faces = |n: u32, m: u32| s.ring(n).any(|sibling| sibling == m);
                if !faces(after, ends[1]) || !faces(before, ends[0]) {
                    return Err(refusal);
                }
                let onto = if k == after { ends[1] } else { ends[0] };
                Some((twin, onto))
            }
            _ => return Err(refusal),
        };
        self.may_merge(g, k)?;
        if let Some((twin, onto)) = twin {
            self.may_merge(twin, onto)?;
        }
        let mark = self.mark();
        self.sheet.merge(g, k);
        if let Some((twin, onto)) = twin {
            // The first may have changed what stands in the way of the second.
            if let Err(refusal) = self.may_merge(twin, onto) {
                self.undo_to(mark);
                return Err(refusal);
            }
            self.sheet.merge(twin, onto);
        }
        Ok(())
    }

    /// Whether the triangles around `g` allow it to become `k`.
    fn may_merge(&self, g: u32, k: u32) -> Result<(), Refusal> {
        let s = &*self.sheet;
        let halves = [s.half_between(g, k), s.half_between(k, g)];
        let mut beside = [NONE; 2];
        let mut shared = 0;
        for (slot, half) in beside.iter_mut().zip(halves) {
            if let Some(half) = half {
                *slot = half / 3;
                shared += 1;
            }
        }
        let pinch = Refusal::Pinch(s.nodes.id(g), s.nodes.id(k));
        let of_keep = |n: u32| s.half_between(k, n).is_some() || s.half_between(n, k).is_some();
        let mut common = 0;
        let mut count = |n: u32| common += usize::from(n != k && of_keep(n));
        let mut last = None;
        let mut fan = 0;
        for half in s.around(g) {
            count(s.target(half));
            last = Some(half);
            fan += 1;
        }
        if let Some(last) = last
            && s.is_on_rim(g)
        {
            count(s.origin(previous(last)));
        }
        if common != shared || fan <= shared {
            return Err(pinch);
        }
        self.star_allows(g, s.nodes.get(k).rest, &beside)
    }
}

impl Sheet {
    /// `g` becomes `k`, its neighbour.
    fn merge(&mut self, g: u32, k: u32) {
        let mut halves = [self.half_between(g, k), self.half_between(k, g)];
        // A half-edge of g that survives, to find k's fan from.
        let first = self.nodes.get(g).leaving;
        let beside = halves.map(|h| h.map_or(NONE, |h| h / 3));
        let mut survivor = first;
        let mut half = first;
        loop {
            if !beside.contains(&(half / 3)) {
                survivor = half;
                self.triangles.change(half / 3).nodes[half as usize % 3] = k;
            }
            half = self.opposite(previous(half));
            if half == NONE || half == first {
                break;
            }
        }
        let edge = halves.iter().flatten().next().map(|h| self.edge_of(*h));
        for half in halves.iter_mut().flatten() {
            let t = *half / 3;
            let apex = self.apex(*half);
            // Of the two sides at the apex, one leads to k and one to g; the triangles beyond them become neighbours.
            let (kept, lost) = if self.origin(*half) == k {
                (previous(*half), next(*half))
            } else {
                (next(*half), previous(*half))
            };
            let (one, two) = (self.opposite(kept), self.opposite(lost));
            let (stays, goes) = (self.edge_of(kept), self.edge_of(lost));
            self.attach(one.min(two), one.max(two), stays);
            self.edges.free(goes);
            self.triangles.free(t);
            let beyond = if two == NONE { one } else { two };
            let leaving = if self.origin(beyond) == apex {
                beyond
            } else {
                next(beyond)
            };
            self.settle(apex, leaving);
        }
        if let Some(edge) = edge {
            self.edges.free(edge);
        }
        self.settle(k, survivor);
        self.drop_node(g);
    }
}

//! The invariants W42–W45 and W112, near an edit after every transaction, and everywhere on demand.

use std::fmt;

use super::slots::NONE;
use super::walk::previous;
use super::{Kind, Sheet, quality};

/// What is broken in a sheet, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What does not hold.
    pub what: &'static str,
    /// The place of the node, edge or triangle.
    pub slot: u32,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.what, self.slot)
    }
}

fn demand(holds: bool, what: &'static str, slot: u32) -> Result<(), Fault> {
    if holds {
        return Ok(());
    }
    Err(Fault { what, slot })
}

impl Sheet {
    /// Checks every part. Walks the whole sheet: for tests and after loading.
    pub fn check(&self) -> Result<(), Fault> {
        let mut corners = vec![0; self.nodes.len()];
        for t in self.triangles.live() {
            self.check_triangle(t)?;
            for n in self.triangles.get(t).nodes {
                corners[n as usize] += 1;
            }
        }
        let mut sides = 0;
        for e in self.edges.live() {
            self.check_edge(e)?;
            sides += 1 + usize::from(self.opposite(self.edges.get(e).half) != NONE);
        }
        // W44: every side of every triangle is on exactly one edge.
        demand(
            sides == 3 * self.triangles.count(),
            "edges and sides do not match",
            0,
        )?;
        for n in self.nodes.live() {
            self.check_node(n)?;
            // W43: nothing hangs together by a node alone.
            demand(
                self.around(n).count() == corners[n as usize],
                "a second fan of triangles",
                n,
            )?;
        }
        Ok(())
    }

    /// Checks what the transaction at hand touched.
    pub(super) fn check_touched(&self) -> Result<(), Fault> {
        for touch in self.triangles.touched() {
            if self.triangles.is_live(touch.slot) {
                self.check_triangle(touch.slot)?;
            }
        }
        for touch in self.edges.touched() {
            if self.edges.is_live(touch.slot) {
                self.check_edge(touch.slot)?;
            }
        }
        for touch in self.nodes.touched() {
            if self.nodes.is_live(touch.slot) {
                self.check_node(touch.slot)?;
            }
        }
        Ok(())
    }

    fn check_triangle(&self, t: u32) -> Result<(), Fault> {
        let triangle = self.triangles.get(t);
        let [a, b, c] = triangle.nodes;
        demand(a != b && b != c && c != a, "a corner twice", t)?;
        for k in 0..3 {
            let half = 3 * t + k as u32;
            let (node, other, edge) = (triangle.nodes[k], triangle.opposite[k], triangle.edges[k]);
            demand(self.nodes.is_live(node), "a corner that is gone", t)?;
            demand(self.edges.is_live(edge), "a side that is gone", t)?;
            let named = self.edges.get(edge).half;
            demand(named == half || named == other, "a side of another edge", t)?;
            if other != NONE {
                demand(
                    self.triangles.is_live(other / 3)
                        && self.opposite(other) == half
                        && self.edge_of(other) == edge
                        && self.origin(other) == self.target(half)
                        && self.target(other) == node,
                    "a neighbour that is none",
                    t,
                )?;
            }
        }
        let quality = quality(self.rest_of(t));
        demand(quality >= 0.5 * self.least_quality, "no area", t)
    }

    fn check_edge(&self, e: u32) -> Result<(), Fault> {
        let half = self.edges.get(e).half;
        demand(
            half != NONE && self.triangles.is_live(half / 3) && self.edge_of(half) == e,
            "an edge without triangle",
            e,
        )
    }

    fn check_node(&self, n: u32) -> Result<(), Fault> {
        let node = self.nodes.get(n);
        demand(
            node.leaving != NONE
                && self.triangles.is_live(node.leaving / 3)
                && self.origin(node.leaving) == n,
            "a node without triangle",
            n,
        )?;
        demand(node.rest.is_finite(), "no place at rest", n)?;
        let (mut rims, mut previous_half) = (0, NONE);
        for half in self.around(n) {
            demand(self.origin(half) == n, "a fan of several nodes", n)?;
            rims += u32::from(self.opposite(half) == NONE);
            // An edge between the same two nodes a second time would be a fold without width.
            let target = self.target(half);
            let mut others = self.around(n).take_while(|h| *h != half);
            demand(
                others.all(|h| self.target(h) != target),
                "two edges between the same nodes",
                n,
            )?;
            previous_half = half;
        }
        let ends = u32::from(self.opposite(previous(previous_half)) == NONE);
        demand(rims == ends, "a rim that does not go on", n)?;
        if rims == 1 {
            demand(
                self.opposite(node.leaving) == NONE,
                "a fan that does not start at its rim",
                n,
            )?;
        }
        let mut ring = 0;
        for sibling in self.ring(n) {
            ring += 1;
            demand(
                ring <= 64 && self.nodes.is_live(sibling),
                "a sibling that is gone",
                n,
            )?;
            demand(
                self.nodes.get(sibling).rest == node.rest,
                "siblings apart at rest",
                n,
            )?;
            demand(
                sibling == n || self.is_on_rim(sibling),
                "a sibling inside the sheet",
                n,
            )?;
        }
        // W112: what looks like the end of a tear at rest is one.
        if rims == 1
            && ring == 1
            && let Some([a, b]) = self.along_rim(n)
            && self.nodes.get(a).rest == self.nodes.get(b).rest
        {
            demand(self.kind_of(n) == Kind::Tip, "a tip without twins", n)?;
        }
        Ok(())
    }
}

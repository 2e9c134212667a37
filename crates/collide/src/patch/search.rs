//! Finds the triangles near a tool at a cost that depends on the tool, not on the surface.
//!
//! A tree of boxes over clusters of triangles, of which only what is near is kept up to date. A box was right at some time; since then no
//! node has moved farther than the surface's *travel* since that time, so grown by that much it still holds
//! everything. A search refits the clusters whose grown boxes it reaches, and no others: a cluster 3 cm away is looked at again when the
//! surface has travelled 3 cm. (Refitting all of 100 000 triangles for every frame would cost more than all the rest.) What a
//! search finds does not depend on what was refitted before: triangles are judged by where they are now, and come out in the order of
//! their numbers.

use super::Probe;
use glam::DVec3;
use trocar_math::Bounds;

/// Most triangles in a cluster. Small enough that a cluster is about as wide as an instrument.
const CLUSTER: usize = 16;

/// A box, and the surface's travel when it was right, m.
#[derive(Clone, Copy, Debug)]
struct Node {
    bounds: Bounds,
    travel: f64,
}

const UNKNOWN: Node = Node {
    bounds: Bounds::EMPTY,
    travel: f64::NEG_INFINITY,
};

/// Which way a search goes through a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Down,
    /// From the children, whose boxes may be smaller now.
    Back,
}

/// The tree over a surface's triangles.
#[derive(Clone, Debug, Default)]
pub(super) struct Search {
    /// The tree: node 1 is the root, those below node i are 2 i and 2 i + 1; the leaves come last.
    nodes: Vec<Node>,
    leaves: usize,
    /// Triangles, leaf by leaf.
    order: Vec<u32>,
    /// Nodes of the surface in each leaf, each once, as ranges of `members`.
    first: Vec<u32>,
    members: Vec<u32>,
    /// How far any node of the surface may have moved since the beginning, m.
    travel: f64,
    stack: Vec<(usize, Way)>,
    /// A triangle whose corners are no numbers, found by the last search.
    broken: Option<u32>,
}

impl Search {
    /// Over triangles that are where `positions` says now.
    pub fn new(triangles: &[[u32; 3]], positions: &[DVec3]) -> Self {
        let mut leaves = 1;
        while triangles.len() > leaves * CLUSTER {
            leaves *= 2;
        }
        let mut order: Vec<u32> = (0..triangles.len() as u32).collect();
        let centres: Vec<DVec3> = triangles
            .iter()
            .map(|t| t.iter().map(|n| positions[*n as usize]).sum())
            .collect();
        halve(&mut order, leaves, &centres);
        let (mut first, mut members) = (vec![0], Vec::new());
        for leaf in 0..leaves {
            let own = &order[range(leaf, leaves, order.len())];
            let mut nodes: Vec<u32> = own.iter().flat_map(|t| triangles[*t as usize]).collect();
            nodes.sort_unstable();
            nodes.dedup();
            members.extend(nodes);
            first.push(members.len() as u32);
        }
        Self {
            nodes: vec![UNKNOWN; 2 * leaves],
            leaves,
            order,
            first,
            members,
            // As deep as the tree, and one more on each level.
            stack: Vec::with_capacity(64),
            ..Self::default()
        }
    }

    /// Whether it was made for a surface of so many triangles.
    pub fn is_for(&self, triangles: usize) -> bool {
        self.leaves > 0 && self.order.len() == triangles
    }

    /// No node has moved farther than this (m) since the last call. Infinity, or what is no number: nothing is known.
    pub fn moved(&mut self, far: f64) {
        if far.is_finite() {
            // The next greater number, as the sum may be rounded down; however small the way beside the travel so far.
            if far > 0.0 {
                self.travel = (self.travel + far).next_up();
            }
        } else {
            self.nodes.fill(UNKNOWN);
        }
    }

    /// A triangle whose corners are no numbers, if the last search met one.
    pub fn broken(&self) -> Option<u32> {
        self.broken
    }

    /// Forgets what the last search met.
    pub fn begin(&mut self) {
        self.broken = None;
    }

    /// Adds the triangles that a probe may touch to `near`, each with `number`, in ascending order.
    pub fn find(
        &mut self,
        probe: &Probe,
        number: u32,
        triangles: &[[u32; 3]],
        positions: &[DVec3],
        near: &mut Vec<(u32, u32)>,
    ) {
        let own = probe.bounds();
        let start = near.len();
        self.stack.clear();
        self.stack.push((1, Way::Down));
        while let Some((node, way)) = self.stack.pop() {
            if way == Way::Back {
                self.nodes[node] = self.joined(node);
                continue;
            }
            if !self.may_reach(node, probe, &own) {
                continue;
            }
            if node < self.leaves {
                self.stack.push((node, Way::Back));
                self.stack.push((2 * node + 1, Way::Down));
                self.stack.push((2 * node, Way::Down));
                continue;
            }
            let leaf = node - self.leaves;
            self.refit(leaf, positions);
            if !self.may_reach(node, probe, &own) {
                continue;
            }
            for t in &self.order[range(leaf, self.leaves, self.order.len())] {
                let corners = triangles[*t as usize].map(|n| positions[n as usize]);
                if corners.iter().any(|c| !c.is_finite()) {
                    self.broken.get_or_insert(*t);
                } else if probe.reaches(&own, &Bounds::of(corners)) {
                    near.push((number, *t));
                }
            }
        }
        near[start..].sort_unstable();
    }

    /// Shows each leaf's box that is known, and whether one of its triangles is in `near`, which is sorted.
    pub fn see(&self, near: &[(u32, u32)], mut see: impl FnMut(&Bounds, bool)) {
        let numbers = near.last().map_or(0, |pair| pair.0 + 1);
        for leaf in 0..self.leaves {
            let Node { bounds, travel } = self.nodes[self.leaves + leaf];
            let stale = self.travel - travel;
            if stale.is_finite() {
                let own = &self.order[range(leaf, self.leaves, self.order.len())];
                let is_near = |t: &u32| (0..numbers).any(|n| near.binary_search(&(n, *t)).is_ok());
                see(&bounds.grown(stale), own.iter().any(is_near));
            }
        }
    }

    fn may_reach(&self, node: usize, probe: &Probe, own: &Bounds) -> bool {
        let Node { bounds, travel } = self.nodes[node];
        let stale = self.travel - travel;
        !stale.is_finite() || probe.reaches(own, &bounds.grown(stale))
    }

    /// The box of a leaf as it is now.
    fn refit(&mut self, leaf: usize, positions: &[DVec3]) {
        let node = &mut self.nodes[self.leaves + leaf];
        if node.travel == self.travel {
            return;
        }
        let own = self.first[leaf] as usize..self.first[leaf + 1] as usize;
        let mut bounds = Bounds::EMPTY;
        let mut finite = true;
        for n in &self.members[own] {
            let p = positions[*n as usize];
            finite &= p.is_finite();
            bounds.add(p);
        }
        // What is no number may be anywhere.
        *node = if finite {
            Node {
                bounds,
                travel: self.travel,
            }
        } else {
            UNKNOWN
        };
    }

    /// The box around both children, for the present travel.
    fn joined(&self, node: usize) -> Node {
        let mut bounds = Bounds::EMPTY;
        for child in [2 * node, 2 * node + 1] {
            let child = &self.nodes[child];
            let stale = self.travel - child.travel;
            if !stale.is_finite() {
                return UNKNOWN;
            }
            let grown = child.bounds.grown(stale);
            bounds.low = bounds.low.min(grown.low);
            bounds.high = bounds.high.max(grown.high);
        }
        Node {
            bounds,
            travel: self.travel,
        }
    }
}

/// The triangles of a leaf, as places in the order.
fn range(leaf: usize, leaves: usize, triangles: usize) -> std::ops::Range<usize> {
    leaf * triangles / leaves..(leaf + 1) * triangles / leaves
}

/// Sorts triangles into leaves: halves them across their longest extent, and the halves again.
fn halve(order: &mut [u32], leaves: usize, centres: &[DVec3]) {
    if leaves == 1 {
        return;
    }
    let at = |t: &u32| centres[*t as usize];
    let size = Bounds::of(order.iter().map(at)).size();
    let axis = if size.x >= size.y && size.x >= size.z {
        0
    } else if size.y >= size.z {
        1
    } else {
        2
    };
    // About the places of `range`; leaves are what that says, however they are sorted.
    let middle = order.len() / 2;
    if middle > 0 {
        order.select_nth_unstable_by(middle, |a, b| {
            at(a)[axis].total_cmp(&at(b)[axis]).then(a.cmp(b))
        });
    }
    let (low, high) = order.split_at_mut(middle);
    halve(low, leaves / 2, centres);
    halve(high, leaves / 2, centres);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_ways_add_up_beside_a_great_travel_and_rest_costs_nothing() {
        let mut search = Search::default();
        search.moved(1.0);
        let before = search.travel;
        (0..1000).for_each(|_| search.moved(1e-17));
        assert!(search.travel - before >= 1e-14);
        let before = search.travel;
        search.moved(0.0);
        assert_eq!(search.travel, before);
    }
}

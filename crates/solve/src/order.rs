//! The order of elimination: leaves first, then least degree.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::freedom::Freedom;

/// An order of elimination and what it couples.
pub(crate) struct Elimination {
    /// Nodes, first to last: a node stands as close before the one it passes its block to as the tree allows.
    pub(crate) order: Vec<u32>,
    /// For each node its neighbours that are eliminated after it.
    pub(crate) later: Vec<Vec<u32>>,
    /// Pairs of nodes that only elimination made neighbours.
    pub(crate) fill: usize,
}

/// The graph that is left as nodes are eliminated.
struct Graph<'a> {
    sizes: &'a [u8],
    /// Neighbours, some of them already eliminated: to take them out at once would make a star quadratic.
    neighbours: Vec<Vec<u32>>,
    gone: Vec<bool>,
    /// How many neighbours a node still has, and their rows.
    degree: Vec<u32>,
    weight: Vec<u32>,
    mark: Vec<u32>,
    stamp: u32,
    fill: usize,
}

impl Graph<'_> {
    /// What the elimination of a node costs. A leaf costs nothing whatever its size, which is why trees have no fill-in.
    fn cost(&self, node: u32) -> u32 {
        if self.degree[node as usize] < 2 {
            0
        } else {
            self.weight[node as usize]
        }
    }

    /// Takes a node out and joins its neighbours to one another; returns them.
    fn eliminate(&mut self, node: u32) -> Vec<u32> {
        self.gone[node as usize] = true;
        let mut around = std::mem::take(&mut self.neighbours[node as usize]);
        around.retain(|&other| !self.gone[other as usize]);
        for &other in &around {
            self.degree[other as usize] -= 1;
            self.weight[other as usize] -= u32::from(self.sizes[node as usize]);
        }
        for (at, &a) in around.iter().enumerate() {
            self.join(a, &around[at + 1..]);
        }
        around
    }

    /// Makes `a` a neighbour of each of the others.
    fn join(&mut self, a: u32, others: &[u32]) {
        if others.is_empty() {
            return;
        }
        // Whichever is shorter is searched: the neighbours of `a`, which may be a hub, or those of the others.
        let theirs: usize = others
            .iter()
            .map(|&b| self.neighbours[b as usize].len())
            .sum();
        let hub = self.neighbours[a as usize].len() > theirs;
        if !hub {
            self.stamp += 1;
            let Self {
                neighbours,
                gone,
                mark,
                stamp,
                ..
            } = self;
            neighbours[a as usize].retain(|&other| {
                mark[other as usize] = *stamp;
                !gone[other as usize]
            });
        }
        for &b in others {
            let known = if hub {
                self.neighbours[b as usize].contains(&a)
            } else {
                self.mark[b as usize] == self.stamp
            };
            if !known {
                self.fill += 1;
                for (one, other) in [(a, b), (b, a)] {
                    self.neighbours[one as usize].push(other);
                    self.degree[one as usize] += 1;
                    self.weight[one as usize] += u32::from(self.sizes[other as usize]);
                }
            }
        }
    }
}

/// Orders the nodes. `neighbours` are sorted and without repetition; `None` if that would take more than
/// `most` products of blocks.
pub(crate) fn eliminate(
    sizes: &[u8],
    neighbours: Vec<Vec<u32>>,
    after: &[bool],
    most: usize,
) -> Option<Elimination> {
    let count = sizes.len();
    let mut freedom = Freedom::new(sizes, after, &neighbours);
    let weigh = |list: &Vec<u32>| {
        list.iter()
            .map(|&other| u32::from(sizes[other as usize]))
            .sum()
    };
    let mut graph = Graph {
        sizes,
        degree: neighbours.iter().map(|list| list.len() as u32).collect(),
        weight: neighbours.iter().map(weigh).collect(),
        neighbours,
        gone: vec![false; count],
        mark: vec![0; count],
        stamp: 0,
        fill: 0,
    };
    let mut queue: BinaryHeap<_> = (0..count as u32)
        .map(|node| Reverse((graph.cost(node), node)))
        .collect();
    let mut parked = vec![false; count];
    let mut woken = Vec::new();
    let mut order = Vec::with_capacity(count);
    let mut later = vec![Vec::new(); count];
    let mut products = 0;
    while let Some(Reverse((cost, node))) = queue.pop() {
        // An entry whose cost is out of date has a newer one beside it.
        if graph.gone[node as usize] || parked[node as usize] || cost != graph.cost(node) {
            continue;
        }
        if !freedom.may_go(node) {
            freedom.wait(node);
            parked[node as usize] = true;
            continue;
        }
        let degree = graph.degree[node as usize] as usize;
        products += degree * degree.saturating_sub(1) / 2;
        if products > most {
            return None;
        }
        let around = graph.eliminate(node);
        freedom.eliminate(node, &mut woken);
        for joint in woken.drain(..) {
            if std::mem::take(&mut parked[joint as usize]) {
                queue.push(Reverse((graph.cost(joint), joint)));
            }
        }
        for &other in &around {
            if !parked[other as usize] {
                queue.push(Reverse((graph.cost(other), other)));
            }
        }
        order.push(node);
        later[node as usize] = around;
    }
    debug_assert_eq!(order.len(), count, "every node is eliminated");
    Some(Elimination {
        order: descend(&order, &later),
        later,
        fill: graph.fill,
    })
}

/// The same elimination with each subtree in one piece: it couples the same pairs, and what is passed up is still at hand.
fn descend(order: &[u32], later: &[Vec<u32>]) -> Vec<u32> {
    const NONE: u32 = u32::MAX;
    let count = order.len();
    let mut rank = vec![0; count];
    for (at, &node) in order.iter().enumerate() {
        rank[node as usize] = at as u32;
    }
    // Lists of children by rank, each in ascending order; the roots are the children of `count`.
    let mut child = vec![NONE; count + 1];
    let mut sibling = vec![NONE; count];
    for at in (0..count).rev() {
        let above = later[order[at] as usize].iter();
        let above = above.map(|&node| rank[node as usize]).min();
        let above = above.unwrap_or(count as u32) as usize;
        sibling[at] = child[above];
        child[above] = at as u32;
    }
    // Parents first and the last child first, then turned round.
    let mut result = Vec::with_capacity(count);
    let mut stack = Vec::new();
    let push_children = |of: usize, stack: &mut Vec<u32>| {
        let mut at = child[of];
        while at != NONE {
            stack.push(at);
            at = sibling[at as usize];
        }
    };
    push_children(count, &mut stack);
    while let Some(at) = stack.pop() {
        result.push(order[at as usize]);
        push_children(at as usize, &mut stack);
    }
    result.reverse();
    result
}

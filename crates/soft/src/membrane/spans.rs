//! Which nodes' forces are gathered together.
//!
//! Nodes are cut into spans of neighbouring numbers. Whoever works on a span adds to the forces of its own nodes and to no others, so spans can be worked on by any thread, and
//! sums are the same to the last bit. A spring between two spans is worked out in each. Sheets are numbered along their rows, so that there are few of these; where there are
//! many (a mesh numbered at random), there is one span. Nodes that tears make belong to the last.

use std::ops::Range;
use trocar_dynamics::crew::even_share;

/// Nodes of a span, about: what they need is half of a common second-level cache, and their rim is thin.
const SPAN: usize = 2048;

/// There are never more spans.
const MOST_SPANS: usize = 64;

/// At most one spring in so many may lie between two spans: it is worked out twice.
const SELDOM: usize = 4;

/// The spans; see the [module](self).
#[derive(Clone, Debug)]
pub(super) struct Spans {
    /// Nodes of each but the last.
    size: usize,
    /// Where each ends.
    ends: Vec<usize>,
}

impl Default for Spans {
    fn default() -> Self {
        Self {
            size: usize::MAX,
            ends: vec![0],
        }
    }
}

impl Spans {
    /// Of so many nodes that are joined like this.
    pub(super) fn new(nodes: usize, joined: impl Iterator<Item = [u32; 2]>) -> Self {
        let size = even_share(nodes, SPAN, MOST_SPANS);
        let count = nodes.div_ceil(size).max(1);
        let mut spans = Self {
            size,
            ends: (1..=count).map(|k| k * size).collect(),
        };
        let (mut all, mut between) = (0, 0);
        for [a, b] in joined {
            all += 1;
            between += usize::from(spans.of(a) != spans.of(b));
        }
        if between * SELDOM > all {
            spans = Self::default();
        }
        spans.resize(nodes);
        spans
    }

    /// Follows the number of nodes.
    pub(super) fn resize(&mut self, nodes: usize) {
        if let Some(last) = self.ends.last_mut() {
            *last = nodes;
        }
    }

    /// Where each ends.
    pub(super) fn ends(&self) -> &[usize] {
        &self.ends
    }

    /// The span of a node.
    pub(super) fn of(&self, node: u32) -> usize {
        (node as usize / self.size).min(self.ends.len() - 1)
    }

    /// The nodes of a span.
    pub(super) fn nodes(&self, span: usize) -> Range<usize> {
        // The first of a single span is 0, however large it is.
        span.saturating_mul(self.size)..self.ends[span]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_is_in_one_span_and_new_ones_in_the_last() {
        let nodes = 3 * SPAN;
        let chain = (1..nodes as u32).map(|n| [n - 1, n]);
        let mut spans = Spans::new(nodes, chain);
        assert!(spans.ends.len() > 1);
        spans.resize(nodes + 10);
        let mut seen = 0;
        for span in 0..spans.ends.len() {
            for n in spans.nodes(span) {
                assert_eq!((n, spans.of(n as u32)), (seen, span));
                seen += 1;
            }
        }
        assert_eq!(seen, nodes + 10);
    }

    #[test]
    fn what_is_small_or_numbered_at_random_is_one_span() {
        let chain = |nodes: u32| (1..nodes).map(|n| [n - 1, n]);
        assert_eq!(Spans::new(1000, chain(1000)).ends(), [1000]);
        let far = (0..10_000).map(|n| [n, (n * 3779) % 10_000]);
        let spans = Spans::new(10_000, far);
        assert_eq!((spans.ends(), spans.of(9999)), (&[10_000][..], 0));
        assert_eq!(spans.nodes(0), 0..10_000);
        assert_eq!(Spans::new(0, chain(1)).ends(), [0]);
    }
}

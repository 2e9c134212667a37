//! Huang's tree: spheres above, spheres and boxes in the middle, boxes below (H54–H65).
//!
//! Two children to a node, in double precision. With no upper levels it is a tree of boxes, with upper levels only one of spheres: the two it was
//! compared with. Kept to measure and to compare with [`Tree`](super::Tree). A sphere is cheaper to test than a
//! box, but it is drawn around the box and so is never tighter.

mod carry;
mod edit;
mod grow;

use super::{NONE, TreeError, build::check, refit::is_place};
use glam::DVec3;
use trocar_math::Bounds;

/// How many levels from the root on use what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiers {
    /// Levels of spheres.
    pub upper: u32,
    /// Levels below them with both.
    pub middle: u32,
}

impl Tiers {
    /// A plain tree of spheres.
    pub const SPHERES: Self = Self {
        upper: u32::MAX,
        middle: 0,
    };
    /// A plain tree of boxes.
    pub const BOXES: Self = Self {
        upper: 0,
        middle: 0,
    };
    /// As for the liver of the source.
    pub const LIVER: Self = Self {
        upper: 3,
        middle: 3,
    };
    /// As for the instrument of the source.
    pub const TOOL: Self = Self {
        upper: 2,
        middle: 2,
    };

    #[inline(always)]
    fn of(&self, level: u32) -> Tier {
        if level < self.upper {
            Tier::Upper
        } else if level < self.upper.saturating_add(self.middle) {
            Tier::Middle
        } else {
            Tier::Lower
        }
    }
}

/// Across which axis a node is divided (H60).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Axis {
    /// The one on which the middles of its triangles are spread furthest.
    #[default]
    Extent,
    /// The one on which their variance is greatest.
    Variance,
    /// The one for which the boxes of both halves together have the least volume.
    Volume,
}

/// Where a node is divided along its axis (H61).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Split {
    /// At the mean of the middles: cheap, and perhaps not balanced.
    Mean,
    /// Where half lie on each side.
    #[default]
    Median,
}

/// How a tree is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// What its levels use.
    pub tiers: Tiers,
    /// Across what nodes are divided.
    pub axis: Axis,
    /// Where they are divided.
    pub split: Split,
    /// Most triangles in a leaf, 1 or more; the source has 10. What can't be divided stays in one leaf, however much it is (H62).
    pub leaf: usize,
    /// Most levels, 1 or more: what is left then stays in one leaf, too.
    pub levels: u32,
    /// By how much boxes of leaves are larger than needed, m, 0 or more: as long as its triangles stay within, a leaf keeps its box, and
    /// what is above it costs nothing (H65). Other than in the source a box that is kept always holds its triangles.
    pub slack: f64,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            tiers: Tiers::LIVER,
            axis: Axis::Extent,
            split: Split::Median,
            leaf: 10,
            levels: 32,
            slack: 0.0,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tier {
    Upper,
    Middle,
    Lower,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    bounds: Bounds,
    centre: DVec3,
    radius: f64,
    /// Whether the sphere holds the whole box. If not, each holds the triangles where they were, and a box that is kept for others would leave the sphere behind.
    round: bool,
    parent: u32,
    /// The first of two children, or the leaf.
    first: u32,
    is_leaf: bool,
    /// Triangles below.
    count: u32,
}

/// Triangles that are not divided any further.
#[derive(Clone, Debug, Default)]
struct Leaf {
    node: u32,
    triangles: Vec<u32>,
}

impl Node {
    fn new(parent: u32) -> Self {
        Self {
            bounds: Bounds::EMPTY,
            centre: DVec3::ZERO,
            radius: 0.0,
            round: true,
            parent,
            first: 0,
            is_leaf: true,
            count: 0,
        }
    }

    /// The sphere around its box, of which rounding takes nothing away.
    fn enclose(&mut self) {
        self.round = true;
        self.centre = self.bounds.centre();
        if !self.centre.is_finite() {
            (self.centre, self.radius) = (DVec3::ZERO, f64::INFINITY);
            return;
        }
        let radius = 0.5 * self.bounds.size().length();
        let size = radius + self.centre.abs().element_sum();
        self.radius = radius + 8.0 * f64::EPSILON * size;
    }

    /// Whether the volumes of two nodes share a point; which volumes depends on the tiers (H64).
    #[inline(always)]
    fn meets(&self, other: &Self, tiers: [Tier; 2]) -> bool {
        use Tier::{Lower, Upper};
        match tiers.into() {
            (Lower, Upper) => other.ball_meets_box(self),
            (Upper, Lower) => self.ball_meets_box(other),
            (Lower, _) | (_, Lower) => self.bounds.overlaps(&other.bounds),
            _ => {
                let reach = self.radius + other.radius;
                self.centre.distance_squared(other.centre) <= reach * reach
            }
        }
    }

    /// Distance from the middle of its sphere to the nearest point of a box (H56).
    #[inline(always)]
    fn ball_meets_box(&self, other: &Self) -> bool {
        let nearest = self.centre.clamp(other.bounds.low, other.bounds.high);
        self.centre.distance_squared(nearest) <= self.radius * self.radius
    }
}

/// What a search cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tests {
    /// Pairs of volumes.
    pub volumes: usize,
    /// Pairs of triangles.
    pub triangles: usize,
}

/// A binary tree of spheres and boxes over triangles.
#[derive(Clone, Debug)]
pub struct Hybrid {
    /// By number; those that are in no leaf are not there.
    triangles: Vec<[u32; 3]>,
    /// The leaf of each triangle, or [`NONE`].
    homes: Vec<u32>,
    /// The root first, if there is any triangle.
    nodes: Vec<Node>,
    leaves: Vec<Leaf>,
    free_pairs: Vec<u32>,
    free_leaves: Vec<u32>,
    /// One more than the greatest corner: how many positions it wants.
    places: usize,
    rules: Rules,
}

impl Hybrid {
    /// Over `triangles` whose corners are at `positions` (m).
    pub fn new(
        triangles: &[[u32; 3]],
        positions: &[DVec3],
        rules: Rules,
    ) -> Result<Self, TreeError> {
        for (i, corners) in triangles.iter().enumerate() {
            check(i as u32, corners, positions)?;
        }
        let greatest = triangles.iter().flatten().max();
        let mut tree = Self {
            triangles: triangles.to_vec(),
            homes: vec![NONE; triangles.len()],
            nodes: Vec::new(),
            leaves: Vec::new(),
            free_pairs: Vec::new(),
            free_leaves: Vec::new(),
            places: greatest.map_or(0, |n| *n as usize + 1),
            rules: Rules {
                leaf: rules.leaf.max(1),
                levels: rules.levels.max(1),
                slack: rules.slack.max(0.0),
                ..rules
            },
        };
        if !triangles.is_empty() {
            tree.nodes.push(Node::new(NONE));
            let mut items = tree.items((0..triangles.len() as u32).collect(), positions);
            tree.grow(0, 0, &mut items, positions);
            tree.refit(positions)?;
        }
        Ok(tree)
    }

    /// How many triangles it has.
    pub fn len(&self) -> usize {
        self.nodes.first().map_or(0, |root| root.count as usize)
    }

    /// True if it has no triangle.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fits all volumes to `positions` (m) by node. Returns how many changed: with a [slack](Rules::slack) those whose triangles stayed
    /// within keep theirs, and those above nothing that has changed are not looked at (H65).
    pub fn refit(&mut self, positions: &[DVec3]) -> Result<usize, TreeError> {
        if positions.len() < self.places {
            return Err(TreeError::TooFewPositions {
                positions: positions.len(),
                nodes: self.places,
            });
        }
        if self.is_empty() {
            return Ok(0);
        }
        let mut bad = None;
        let changed = self.refit_below(0, positions, &mut bad);
        match bad {
            Some(node) => Err(TreeError::NoPlace { node }),
            None => Ok(changed),
        }
    }

    /// Fits what is below a node and itself; says how many have changed. A node that is nowhere is left in `bad`, and what is around it holds everything.
    fn refit_below(&mut self, at: u32, positions: &[DVec3], bad: &mut Option<u32>) -> usize {
        let node = self.nodes[at as usize];
        if node.is_leaf {
            return usize::from(self.refit_leaf(at, positions, bad));
        }
        let below = self.refit_below(node.first, positions, bad)
            + self.refit_below(node.first + 1, positions, bad);
        if below == 0 {
            return 0;
        }
        below + usize::from(self.set_bounds(at, self.joined(at)))
    }

    /// Fits a leaf; true if its box has changed.
    fn refit_leaf(&mut self, at: u32, positions: &[DVec3], bad: &mut Option<u32>) -> bool {
        let old = self.nodes[at as usize];
        let leaf = &self.leaves[self.nodes[at as usize].first as usize];
        let mut tight = Bounds::EMPTY;
        for node in leaf
            .triangles
            .iter()
            .flat_map(|t| self.triangles[*t as usize])
        {
            match positions.get(node as usize).filter(|p| is_place(**p)) {
                Some(place) => tight.add(*place),
                None => {
                    tight.add(DVec3::NAN);
                    *bad = Some(node);
                }
            }
        }
        self.set_bounds(at, self.kept(&old, tight))
    }

    /// The old box of a leaf, if it holds the new `tight` one and is not much larger, and its sphere holds it; otherwise the new one with some slack.
    fn kept(&self, old: &Node, tight: Bounds) -> Bounds {
        let slack = self.rules.slack;
        let (round, old) = (old.round, old.bounds);
        if round && holds(&old, &tight) && holds(&tight.grown(2.0 * slack), &old) {
            old
        } else {
            tight.grown(slack)
        }
    }

    /// The box around those of a node's children.
    fn joined(&self, at: u32) -> Bounds {
        let first = self.nodes[at as usize].first as usize;
        let [a, b] = [0, 1].map(|k| self.nodes[first + k].bounds);
        Bounds {
            low: a.low.min(b.low),
            high: a.high.max(b.high),
        }
    }

    /// True if that is another box than before, or the sphere another.
    fn set_bounds(&mut self, at: u32, bounds: Bounds) -> bool {
        let node = &mut self.nodes[at as usize];
        if node.round && node.bounds == bounds {
            return false;
        }
        node.bounds = bounds;
        node.enclose();
        true
    }

    /// Writes all pairs of a triangle of this and one of `other` that touch, as `touch` says, into `out`, in ascending order. Of two nodes
    /// the larger one is opened; all triangles of two leaves are compared. A triangle of which a corner has no position may touch whatever is compared with it: of such pairs
    /// `touch` is not asked, and all are given. ([`refit`](Self::refit) refuses so few.)
    pub fn pairs(
        &self,
        positions: &[DVec3],
        (other, others): (&Self, &[DVec3]),
        touch: impl Fn(&[DVec3; 3], &[DVec3; 3]) -> bool,
        out: &mut Vec<[u32; 2]>,
    ) -> Tests {
        out.clear();
        let mut tests = Tests::default();
        let corners = |tree: &Self, t: u32, list: &[DVec3]| {
            let place = |n: u32| list.get(n as usize).copied();
            let [a, b, c] = tree.triangles[t as usize].map(place);
            Some([a?, b?, c?])
        };
        // Nodes and their levels.
        let mut stack = vec![([0_u32, 0_u32], [0_u32, 0_u32])];
        if self.is_empty() || other.is_empty() {
            stack.clear();
        }
        while let Some(([i, j], [k, l])) = stack.pop() {
            let (a, b) = (&self.nodes[i as usize], &other.nodes[j as usize]);
            tests.volumes += 1;
            if !a.meets(b, [self.rules.tiers.of(k), other.rules.tiers.of(l)]) {
                continue;
            }
            if !a.is_leaf && (b.is_leaf || a.radius >= b.radius) {
                stack.extend([a.first + 1, a.first].map(|i| ([i, j], [k + 1, l])));
            } else if !b.is_leaf {
                stack.extend([b.first + 1, b.first].map(|j| ([i, j], [k, l + 1])));
            } else {
                for s in self.triangles_of(a) {
                    let of_a = corners(self, *s, positions);
                    for t in other.triangles_of(b) {
                        let touches = match (of_a, corners(other, *t, others)) {
                            (Some(one), Some(two)) => touch(&one, &two),
                            _ => true,
                        };
                        if touches {
                            out.push([*s, *t]);
                        }
                    }
                }
                tests.triangles += a.count as usize * b.count as usize;
            }
        }
        out.sort_unstable();
        tests
    }

    fn triangles_of(&self, leaf: &Node) -> &[u32] {
        &self.leaves[leaf.first as usize].triangles
    }

    /// How many levels it has.
    pub fn levels(&self) -> u32 {
        fn below(tree: &Hybrid, at: u32) -> u32 {
            let node = &tree.nodes[at as usize];
            if node.is_leaf {
                return 1;
            }
            1 + below(tree, node.first).max(below(tree, node.first + 1))
        }
        if self.is_empty() { 0 } else { below(self, 0) }
    }
}

/// True if one box lies in another.
fn holds(outer: &Bounds, inner: &Bounds) -> bool {
    outer.low.cmple(inner.low).all() && inner.high.cmple(outer.high).all()
}

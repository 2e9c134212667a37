//! Huang's tree: spheres above, spheres and boxes in the middle, boxes below (H54–H65).
//!
//! Two children to a node, in double precision. With no upper levels it is a tree of boxes, with upper levels only one of spheres: the two it was
//! compared with. Kept to measure and to compare with [`Tree`](super::Tree); it can't be edited. A sphere is cheaper to test than a
//! box, but it is drawn around the box and so is never tighter.

use super::{TreeError, build::check, refit::is_place};
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

/// Where a node is divided along the axis on which the middles of its triangles are spread furthest (H61).
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
    /// Where nodes are divided.
    pub split: Split,
    /// Most triangles in a leaf, 1 or more; the source has 10.
    pub leaf: usize,
    /// Most levels, 1 or more: what is left then stays in one leaf.
    pub levels: u32,
    /// By how much boxes of leaves are larger than needed, m, 0 or more: as long as its triangles stay within, a leaf keeps its box, and
    /// what is above it costs nothing (H65). Other than in the source a box that is kept always holds its triangles.
    pub slack: f64,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            tiers: Tiers::LIVER,
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
    tier: Tier,
    /// The first of two children, or the first triangle of a leaf in `order`.
    first: u32,
    /// Triangles of a leaf; 0 for others.
    count: u32,
}

impl Node {
    /// The sphere around its box, of which rounding takes nothing away.
    fn enclose(&mut self) {
        self.centre = self.bounds.centre();
        let radius = 0.5 * self.bounds.size().length();
        let size = radius + self.centre.abs().element_sum();
        self.radius = radius + 8.0 * f64::EPSILON * size;
    }

    /// Whether the volumes of two nodes share a point; which volumes depends on the tiers (H64).
    #[inline(always)]
    fn meets(&self, other: &Self) -> bool {
        use Tier::{Lower, Upper};
        match (self.tier, other.tier) {
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
    triangles: Vec<[u32; 3]>,
    /// Triangles in the order of leaves.
    order: Vec<u32>,
    /// Children come after their parents.
    nodes: Vec<Node>,
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
        let mut tree = Self {
            triangles: triangles.to_vec(),
            order: (0..triangles.len() as u32).collect(),
            nodes: Vec::new(),
            rules: Rules {
                leaf: rules.leaf.max(1),
                levels: rules.levels.max(1),
                slack: rules.slack.max(0.0),
                ..rules
            },
        };
        if !triangles.is_empty() {
            let middle = |t: &[u32; 3]| t.iter().map(|n| positions[*n as usize]).sum::<DVec3>();
            let middles: Vec<DVec3> = triangles.iter().map(middle).collect();
            tree.nodes.push(tree.node(0));
            tree.grow(0, 0..triangles.len(), 0, &middles);
            tree.refit(positions)?;
        }
        Ok(tree)
    }

    fn node(&self, level: u32) -> Node {
        Node {
            bounds: Bounds::EMPTY,
            centre: DVec3::ZERO,
            radius: 0.0,
            tier: self.rules.tiers.of(level),
            first: 0,
            count: 0,
        }
    }

    fn grow(&mut self, at: usize, range: std::ops::Range<usize>, level: u32, middles: &[DVec3]) {
        let deep = level + 1 >= self.rules.levels;
        let cut = if range.len() <= self.rules.leaf || deep {
            0
        } else {
            self.divide(range.clone(), middles)
        };
        if cut == 0 || cut == range.len() {
            self.nodes[at].first = range.start as u32;
            self.nodes[at].count = range.len() as u32;
            return;
        }
        let first = self.nodes.len();
        self.nodes[at].first = first as u32;
        let child = self.node(level + 1);
        self.nodes.extend([child, child]);
        let middle = range.start + cut;
        self.grow(first, range.start..middle, level + 1, middles);
        self.grow(first + 1, middle..range.end, level + 1, middles);
    }

    /// Sorts a range into two; says how many come first.
    fn divide(&mut self, range: std::ops::Range<usize>, middles: &[DVec3]) -> usize {
        let order = &mut self.order[range];
        let spread = Bounds::of(order.iter().map(|t| middles[*t as usize])).size();
        let axis = spread.max_position();
        let at = |t: u32| middles[t as usize][axis];
        let compare = |a: &u32, b: &u32| at(*a).total_cmp(&at(*b)).then(a.cmp(b));
        match self.rules.split {
            Split::Median => {
                let half = order.len() / 2;
                order.select_nth_unstable_by(half, compare);
                half
            }
            Split::Mean => {
                let mean = order.iter().map(|t| at(*t)).sum::<f64>() / order.len() as f64;
                order.sort_unstable_by(compare);
                order.partition_point(|t| at(*t) < mean)
            }
        }
    }

    /// Fits all volumes to `positions` (m) by node. Returns how many changed: with a [slack](Rules::slack) those whose triangles stayed
    /// within keep theirs.
    pub fn refit(&mut self, positions: &[DVec3]) -> Result<usize, TreeError> {
        let slack = self.rules.slack;
        let mut changed = 0;
        for at in (0..self.nodes.len()).rev() {
            let node = self.nodes[at];
            let old = node.bounds;
            let new = if node.count > 0 {
                let range = node.first as usize..(node.first + node.count) as usize;
                let tight = leaf_bounds(&self.triangles, &self.order[range], positions)?;
                if holds(&old, &tight) && holds(&tight.grown(2.0 * slack), &old) {
                    old
                } else {
                    tight.grown(slack)
                }
            } else {
                let [a, b] = [0, 1].map(|k| self.nodes[node.first as usize + k].bounds);
                Bounds {
                    low: a.low.min(b.low),
                    high: a.high.max(b.high),
                }
            };
            if new != old {
                changed += 1;
                self.nodes[at].bounds = new;
                self.nodes[at].enclose();
            }
        }
        Ok(changed)
    }

    /// Writes all pairs of a triangle of this and one of `other` that touch, as `touch` says, into `out`, in ascending order. Of two nodes
    /// the larger one is opened; all triangles of two leaves are compared.
    pub fn pairs(
        &self,
        positions: &[DVec3],
        (other, others): (&Self, &[DVec3]),
        touch: impl Fn(&[DVec3; 3], &[DVec3; 3]) -> bool,
        out: &mut Vec<[u32; 2]>,
    ) -> Tests {
        out.clear();
        let mut tests = Tests::default();
        let mut stack = vec![[0_u32, 0_u32]];
        if self.nodes.is_empty() || other.nodes.is_empty() {
            stack.clear();
        }
        while let Some([i, j]) = stack.pop() {
            let (a, b) = (&self.nodes[i as usize], &other.nodes[j as usize]);
            tests.volumes += 1;
            if !a.meets(b) {
                continue;
            }
            if a.count == 0 && (b.count > 0 || a.radius >= b.radius) {
                stack.extend([[a.first + 1, j], [a.first, j]]);
            } else if b.count == 0 {
                stack.extend([[i, b.first + 1], [i, b.first]]);
            } else {
                for s in self.triangles_of(a) {
                    let of_a = self.triangles[*s as usize].map(|n| positions[n as usize]);
                    for t in other.triangles_of(b) {
                        let of_b = other.triangles[*t as usize].map(|n| others[n as usize]);
                        if touch(&of_a, &of_b) {
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
        &self.order[leaf.first as usize..(leaf.first + leaf.count) as usize]
    }

    /// How many levels it has.
    pub fn levels(&self) -> u32 {
        let mut level = vec![1; self.nodes.len()];
        for (at, node) in self.nodes.iter().enumerate() {
            if node.count == 0 {
                level[node.first as usize] = level[at] + 1;
                level[node.first as usize + 1] = level[at] + 1;
            }
        }
        level.into_iter().max().unwrap_or(0)
    }
}

/// True if one box lies in another.
fn holds(outer: &Bounds, inner: &Bounds) -> bool {
    outer.low.cmple(inner.low).all() && inner.high.cmple(outer.high).all()
}

fn leaf_bounds(
    triangles: &[[u32; 3]],
    leaf: &[u32],
    positions: &[DVec3],
) -> Result<Bounds, TreeError> {
    let mut bounds = Bounds::EMPTY;
    for (t, corner) in leaf.iter().flat_map(|t| {
        triangles[*t as usize]
            .iter()
            .enumerate()
            .map(move |c| (t, c))
    }) {
        let (k, node) = corner;
        let Some(position) = positions.get(*node as usize) else {
            return Err(TreeError::NoSuchNode {
                triangle: *t,
                corner: k,
                node: *node,
                nodes: positions.len(),
            });
        };
        if !is_place(*position) {
            return Err(TreeError::NoPlace { node: *node });
        }
        bounds.add(*position);
    }
    Ok(bounds)
}

//! What a transaction did, and how to follow it.

use glam::DVec3;

use super::{EdgeId, NodeId, Refusal, Sheet, TriangleId, area};

/// A point between up to three nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blend {
    parts: [(NodeId, f64); 3],
    count: usize,
}

impl Blend {
    /// A node itself.
    pub fn node(node: NodeId) -> Self {
        Self {
            parts: [(node, 1.0), (node, 0.0), (node, 0.0)],
            count: 1,
        }
    }

    /// `part` of the way from `a` to `b`.
    pub fn between(a: NodeId, b: NodeId, part: f64) -> Self {
        Self {
            parts: [(a, 1.0 - part), (b, part), (a, 0.0)],
            count: 2,
        }
    }

    /// Barycentric `weights` in a triangle: none below zero, in sum 1.
    pub fn inside([a, b, c]: [NodeId; 3], weights: [f64; 3]) -> Result<Self, Refusal> {
        let [x, y, z] = weights;
        let sum = x + y + z;
        if !weights.iter().all(|w| *w >= 0.0) || !(sum - 1.0).abs().le(&1e-6) {
            return Err(Refusal::OutOfRange);
        }
        Ok(Self {
            parts: [(a, x / sum), (b, y / sum), (c, z / sum)],
            count: 3,
        })
    }

    /// The nodes and their weights.
    pub fn parts(&self) -> &[(NodeId, f64)] {
        &self.parts[..self.count]
    }

    /// A value at this point, from those of all nodes by place.
    pub fn of<T>(&self, values: &[T]) -> T
    where
        T: Copy + std::ops::Mul<f64, Output = T> + std::ops::Add<Output = T>,
    {
        let value = |k: usize| values[self.parts[k].0.slot()];
        if self.count == 1 {
            return value(0);
        }
        let two = value(0) * self.parts[0].1 + value(1) * self.parts[1].1;
        if self.count == 2 {
            return two;
        }
        two + value(2) * self.parts[2].1
    }
}

/// How a node came, moved or went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NodeStep {
    /// It is new, and was this before.
    Made(NodeId, Blend),
    /// It is now where this was.
    Moved(NodeId, Blend),
    /// It is gone.
    Removed(NodeId),
}

/// A triangle as it was before a transaction that changed it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OldTriangle {
    /// Its name; it may still be there, with other corners.
    pub triangle: TriangleId,
    /// Where its corners lay at rest, m.
    pub rest: [DVec3; 3],
}

/// A point on a sheet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SheetAnchor {
    /// The triangle it is on.
    pub triangle: TriangleId,
    /// Its barycentric weights.
    pub weights: [f64; 3],
}

/// What became of an anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Followed {
    /// It is where it was.
    Same,
    /// It is on another triangle or has other weights, at the same place at rest.
    Moved,
    /// What carried it is gone.
    Lost,
}

/// What a transaction did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Event {
    /// How nodes came, moved and went, in order: each step is meant on what the steps before it left.
    pub steps: Vec<NodeStep>,
    /// Triangles that went or changed, as they were.
    pub before: Vec<OldTriangle>,
    /// Triangles that came or changed.
    pub after: Vec<TriangleId>,
    /// Corners at rest of what was taken out, m.
    pub holes: Vec<[DVec3; 3]>,
    /// Edges that went.
    pub edges_gone: Vec<EdgeId>,
    /// Edges that came, or have other ends, sides or rest lengths.
    pub edges: Vec<EdgeId>,
    /// Nodes that came, moved, or have other neighbours.
    pub nodes: Vec<NodeId>,
}

impl Event {
    /// Whether nothing happened.
    pub fn is_empty(&self) -> bool {
        self.before.is_empty() && self.after.is_empty() && self.steps.is_empty()
    }

    /// Makes it say that nothing happened; keeps its memory.
    pub fn clear(&mut self) {
        self.steps.clear();
        self.before.clear();
        self.after.clear();
        self.holes.clear();
        self.edges_gone.clear();
        self.edges.clear();
        self.nodes.clear();
    }

    pub(super) fn gather(&mut self, sheet: &Sheet) {
        self.steps.extend_from_slice(&sheet.steps);
        self.holes.extend_from_slice(&sheet.holes);
        for touch in sheet.triangles.touched() {
            if let Some(old) = touch.before {
                let mut triangle: TriangleId = sheet.triangles.id(touch.slot);
                triangle.age = touch.age;
                self.before.push(OldTriangle {
                    triangle,
                    rest: old.nodes.map(|n| sheet.nodes.before(n).rest),
                });
            }
            if sheet.triangles.is_live(touch.slot) {
                let triangle = sheet.triangles.id(touch.slot);
                self.after.push(triangle);
                self.edges.extend(sheet.sides(triangle));
                self.nodes.extend(sheet.corners(triangle));
            }
        }
        for touch in sheet.edges.touched() {
            let mut edge: EdgeId = sheet.edges.id(touch.slot);
            if sheet.edges.is_live(touch.slot) {
                self.edges.push(edge);
            }
            if touch.before.is_some() && touch.age != edge.age {
                edge.age = touch.age;
                self.edges_gone.push(edge);
            }
        }
        for touch in sheet.nodes.touched() {
            if sheet.nodes.is_live(touch.slot) {
                self.nodes.push(sheet.nodes.id(touch.slot));
            }
        }
        self.edges.sort_unstable_by_key(|edge| edge.order());
        self.edges.dedup();
        self.nodes.sort_unstable_by_key(|node| node.order());
        self.nodes.dedup();
    }

    /// Lets a list over nodes follow: new and moved nodes get the blend of what they came from. `vacant` fills places that
    /// were not there.
    pub fn carry<T>(&self, sheet: &Sheet, values: &mut Vec<T>, vacant: T)
    where
        T: Copy + std::ops::Mul<f64, Output = T> + std::ops::Add<Output = T>,
    {
        if values.len() < sheet.node_slots() {
            values.resize(sheet.node_slots(), vacant);
        }
        for step in &self.steps {
            match step {
                NodeStep::Made(node, blend) | NodeStep::Moved(node, blend) => {
                    values[node.slot()] = blend.of(values);
                }
                NodeStep::Removed(_) => {}
            }
        }
    }

    /// Lets an anchor follow: it stays where it is at rest.
    pub fn follow(&self, sheet: &Sheet, anchor: &mut SheetAnchor) -> Followed {
        let Some(old) = self.before.iter().find(|t| t.triangle == anchor.triangle) else {
            return Followed::Same;
        };
        // Where others are alike or lie upon each other, as on what is curved, the triangle itself knows best.
        if sheet.has_triangle(old.triangle) {
            if sheet.rest_corners(old.triangle) == old.rest {
                return Followed::Same;
            }
        } else if self.holes.contains(&old.rest) {
            return Followed::Lost;
        }
        let Some(found) = self.find(sheet, at(old.rest, anchor.weights)) else {
            return Followed::Lost;
        };
        *anchor = found;
        Followed::Moved
    }

    /// Where a point of the sheet as it was, given by its place at rest (m), is among the triangles that came or changed; none if it was on what
    /// was taken out. It must have been on a triangle that went or changed.
    pub fn find(&self, sheet: &Sheet, place: DVec3) -> Option<SheetAnchor> {
        let mut best = None;
        let mut most = f64::NEG_INFINITY;
        for triangle in &self.after {
            let (weights, score) = fit(place, sheet.rest_corners(*triangle));
            if score > most {
                most = score;
                best = Some((*triangle, weights));
            }
        }
        // On what was taken out, or at least rather there than on what is left.
        if self.holes.iter().any(|hole| fit(place, *hole).1 > most) {
            return None;
        }
        let (triangle, weights) = best?;
        let inside = weights.map(|w| w.max(0.0));
        let sum: f64 = inside.iter().sum();
        Some(SheetAnchor {
            triangle,
            weights: inside.map(|w| w / sum),
        })
    }
}

/// Barycentric weights of a point in a triangle, and how well it fits there: how far inside it is, less how far off the
/// plane, both in parts of the triangle's size.
fn fit(point: DVec3, corners: [DVec3; 3]) -> ([f64; 3], f64) {
    let (weights, height) = weights_of(point, corners);
    let [x, y, z] = weights;
    let size = (2.0 * area(corners)).sqrt();
    (weights, x.min(y).min(z) - height.abs() / size)
}

/// The point of a triangle at barycentric weights, m.
pub(super) fn at([a, b, c]: [DVec3; 3], [x, y, z]: [f64; 3]) -> DVec3 {
    a * x + b * y + c * z
}

/// Barycentric weights of a point's foot on the plane of a triangle, and its height above it, m.
fn weights_of(point: DVec3, [a, b, c]: [DVec3; 3]) -> ([f64; 3], f64) {
    let normal = (b - a).cross(c - a);
    let square = normal.length_squared();
    let share = |u: DVec3, v: DVec3| (u - point).cross(v - point).dot(normal) / square;
    let weights = [share(b, c), share(c, a), share(a, b)];
    (weights, (point - a).dot(normal) / square.sqrt())
}

impl SheetAnchor {
    /// Where it lies at rest, m; none if its triangle is gone.
    pub fn rest(&self, sheet: &Sheet) -> Option<DVec3> {
        sheet
            .has_triangle(self.triangle)
            .then(|| at(sheet.rest_corners(self.triangle), self.weights))
    }

    /// Where it is in space, m, from the positions of all nodes by place; none if its triangle is gone.
    pub fn position(&self, sheet: &Sheet, positions: &[DVec3]) -> Option<DVec3> {
        sheet.has_triangle(self.triangle).then(|| {
            let corners = sheet.corners(self.triangle);
            at(corners.map(|n| positions[n.slot()]), self.weights)
        })
    }
}

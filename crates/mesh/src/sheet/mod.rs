//! A triangle sheet that can be torn: topology with checked, transactional edits (W42–W45, W80–W83, W112).
//!
//! A [`Sheet`] knows its nodes, edges and triangles and who is beside whom. Every node has a *rest position*: where it
//! lies in the sheet as it was made, whatever happens to it in space. All edits are done on rest positions (W114), and
//! keep what the rest positions cover: a torn sheet fits together again without a gap (W80).
//!
//! Edits run inside a transaction, [`Sheet::edit`]: all of them happen, or none. What happened comes back as an
//! [`Event`], by which whoever keeps something along with the sheet follows: lists over nodes ([`Event::carry`]) and
//! points on triangles ([`Event::follow`]).
//!
//! Each edit costs what its neighbourhood costs, however large the sheet is.
//!
//! ```
//! use glam::DVec3;
//! use trocar_mesh::primitive::SheetShape;
//! use trocar_mesh::sheet::{Event, Kind, Sheet};
//!
//! let shape = SheetShape { origin: DVec3::ZERO, u: DVec3::X, v: DVec3::Y, rows: 5, columns: 5 };
//! let surface = shape.surface()?;
//! let mut sheet = Sheet::new(&surface)?;
//! let (mut event, rim, inside) = (Event::default(), sheet.node_at(10), sheet.node_at(11));
//! sheet.edit(&mut event, |edit| {
//!     let edge = edit.sheet().edge_between(rim, inside)?;
//!     edit.open(edge)
//! })?;
//! assert_eq!(sheet.kind(inside), Some(Kind::Tip));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod build;
mod check;
mod collapse;
mod edit;
mod event;
mod id;
mod record;
mod refusal;
mod slots;
mod surgery;
pub mod trial;
mod walk;

pub use build::SheetError;
pub use check::Fault;
pub use edit::{Edit, Mark};
pub use event::{Blend, Event, Followed, NodeStep, OldTriangle, SheetAnchor};
pub use id::{EdgeId, EdgeKey, Id, NodeId, NodeKey, TriangleId, TriangleKey};
pub use record::SheetRecord;
pub use refusal::Refusal;

use glam::{DVec2, DVec3};
use serde::{Deserialize, Serialize};
use slots::{NONE, Slots};

/// Numbers of the user's own that every node carries.
pub const ATTRIBUTES: usize = 4;

/// A node as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Node {
    /// Where it lies in the sheet as it was made, m.
    rest: DVec3,
    texture: DVec2,
    attributes: [f64; ATTRIBUTES],
    /// A half-edge that leaves it; of a rim node the one along the rim, so that all its triangles follow counter-clockwise.
    leaving: u32,
    /// The next node that was one with this before a tear parted them, in a ring; itself if there is none.
    sibling: u32,
}

/// A triangle as it is stored. Side k runs from corner k to corner k + 1 and is half-edge 3 t + k.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Triangle {
    nodes: [u32; 3],
    /// The half-edge on the other side of each side, or [`NONE`] at a rim.
    opposite: [u32; 3],
    edges: [u32; 3],
}

/// An edge as it is stored: one of its half-edges.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Edge {
    half: u32,
}

/// What a node is to a tear (W89).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Triangles all around.
    Inner,
    /// On a rim.
    Edge,
    /// At the end of a tear: on a rim whose two sides lead to nodes that were one (W112).
    Tip,
}

/// A triangle sheet with checked topology; see the [module](self).
#[derive(Clone, Debug)]
pub struct Sheet {
    nodes: Slots<Node>,
    edges: Slots<Edge>,
    triangles: Slots<Triangle>,
    /// How nodes came, moved and went in the transaction at hand.
    steps: Vec<NodeStep>,
    /// Corners at rest of what was taken out in the transaction at hand.
    holes: Vec<[DVec3; 3]>,
    version: u64,
    least_quality: f64,
}

impl PartialEq for Sheet {
    /// Equal in every part, name and free place; what a transaction left behind does not count.
    fn eq(&self, other: &Self) -> bool {
        self.nodes == other.nodes
            && self.edges == other.edges
            && self.triangles == other.triangles
            && self.version == other.version
    }
}

impl Sheet {
    /// Counts every transaction that changed something: whoever keeps something that depends on the topology compares it.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Makes room for `nodes` more nodes and what comes with them (K79). A sheet that outgrows its room is moved to a larger one
    /// as a whole, once; until then an edit costs its neighbourhood alone.
    pub fn reserve(&mut self, nodes: usize) {
        self.nodes.reserve(nodes);
        self.edges.reserve(3 * nodes);
        self.triangles.reserve(2 * nodes);
    }

    /// The worst triangle that an edit may leave, as [`quality`] measures it.
    pub fn least_quality(&self) -> f64 {
        self.least_quality
    }

    /// Sets the worst triangle that an edit may leave; between 0 and 1, 10⁻⁶ unless told.
    pub fn set_least_quality(&mut self, quality: f64) {
        self.least_quality = quality.clamp(1e-12, 1.0);
    }

    /// Nodes there are.
    pub fn node_count(&self) -> usize {
        self.nodes.count()
    }

    /// Edges there are.
    pub fn edge_count(&self) -> usize {
        self.edges.count()
    }

    /// Triangles there are.
    pub fn triangle_count(&self) -> usize {
        self.triangles.count()
    }

    /// Length that a list over nodes must have to be indexed by [`Id::slot`].
    pub fn node_slots(&self) -> usize {
        self.nodes.len()
    }

    /// Length that a list over edges must have.
    pub fn edge_slots(&self) -> usize {
        self.edges.len()
    }

    /// Length that a list over triangles must have.
    pub fn triangle_slots(&self) -> usize {
        self.triangles.len()
    }

    /// The name of the node at a place; of a vertex of the surface it was made from, as long as it is there.
    pub fn node_at(&self, slot: usize) -> NodeId {
        self.nodes.id(slot as u32)
    }

    /// The name of the edge at a place.
    pub fn edge_at(&self, slot: usize) -> EdgeId {
        self.edges.id(slot as u32)
    }

    /// The name of the triangle at a place.
    pub fn triangle_at(&self, slot: usize) -> TriangleId {
        self.triangles.id(slot as u32)
    }

    /// Whether a node is there.
    pub fn has_node(&self, node: NodeId) -> bool {
        self.nodes.find(node).is_some()
    }

    /// Whether there is a node at a place: places of nodes that are gone are free.
    pub fn has_live_node(&self, slot: usize) -> bool {
        self.nodes.is_live(slot as u32)
    }

    /// What the node at a place is to a tear; none if the place is free.
    pub fn kind_at(&self, slot: usize) -> Option<Kind> {
        let live = self.has_live_node(slot);
        live.then(|| self.kind_of(slot as u32))
    }

    /// Whether an edge is there.
    pub fn has_edge(&self, edge: EdgeId) -> bool {
        self.edges.find(edge).is_some()
    }

    /// Whether a triangle is there.
    pub fn has_triangle(&self, triangle: TriangleId) -> bool {
        self.triangles.find(triangle).is_some()
    }

    /// All nodes, by place.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.nodes.live().map(|slot| self.nodes.id(slot))
    }

    /// All edges, by place.
    pub fn edges(&self) -> impl Iterator<Item = EdgeId> + '_ {
        self.edges.live().map(|slot| self.edges.id(slot))
    }

    /// All triangles, by place.
    pub fn triangles(&self) -> impl Iterator<Item = TriangleId> + '_ {
        self.triangles.live().map(|slot| self.triangles.id(slot))
    }

    /// Rest position of a node, m; of one that is gone, of whatever stands in its place.
    pub fn rest(&self, node: NodeId) -> DVec3 {
        self.nodes.get(node.slot).rest
    }

    /// Texture coordinates of a node.
    pub fn texture(&self, node: NodeId) -> DVec2 {
        self.nodes.get(node.slot).texture
    }

    /// The user's numbers of a node.
    pub fn attributes(&self, node: NodeId) -> [f64; ATTRIBUTES] {
        self.nodes.get(node.slot).attributes
    }

    /// The corners of a triangle, counter-clockwise.
    pub fn corners(&self, triangle: TriangleId) -> [NodeId; 3] {
        let corners = self.triangles.get(triangle.slot).nodes;
        corners.map(|n| self.nodes.id(n))
    }

    /// The sides of a triangle: side k runs from corner k to corner k + 1.
    pub fn sides(&self, triangle: TriangleId) -> [EdgeId; 3] {
        let edges = self.triangles.get(triangle.slot).edges;
        edges.map(|e| self.edges.id(e))
    }

    /// Rest positions of a triangle's corners, m.
    pub fn rest_corners(&self, triangle: TriangleId) -> [DVec3; 3] {
        self.rest_of(triangle.slot)
    }

    /// The two nodes of an edge.
    pub fn ends(&self, edge: EdgeId) -> [NodeId; 2] {
        let [a, b] = self.edge_ends(edge.slot);
        [self.nodes.id(a), self.nodes.id(b)]
    }

    /// Distance of an edge's ends at rest, m (W45).
    pub fn rest_length(&self, edge: EdgeId) -> f64 {
        let [a, b] = self.edge_ends(edge.slot);
        self.nodes.get(a).rest.distance(self.nodes.get(b).rest)
    }

    /// The triangles beside an edge: the one on the left of its first end's way to its second, and the other, if it is no rim.
    pub fn beside(&self, edge: EdgeId) -> (TriangleId, Option<TriangleId>) {
        let half = self.edges.get(edge.slot).half;
        let other = self.opposite(half);
        (
            self.triangles.id(half / 3),
            (other != NONE).then(|| self.triangles.id(other / 3)),
        )
    }

    /// Whether an edge has a triangle on one side only.
    pub fn is_rim(&self, edge: EdgeId) -> bool {
        self.opposite(self.edges.get(edge.slot).half) == NONE
    }

    /// Sum of the triangles' areas at rest, m²: no edit but a removal changes it (W80).
    pub fn rest_area(&self) -> f64 {
        self.triangles
            .live()
            .map(|t| area(self.rest_of(t)))
            .sum::<f64>()
    }

    fn rest_of(&self, triangle: u32) -> [DVec3; 3] {
        self.triangles
            .get(triangle)
            .nodes
            .map(|n| self.nodes.get(n).rest)
    }

    fn edge_ends(&self, edge: u32) -> [u32; 2] {
        let half = self.edges.get(edge).half;
        [self.origin(half), self.target(half)]
    }
}

/// Area of a triangle, m².
pub fn area([a, b, c]: [DVec3; 3]) -> f64 {
    0.5 * (b - a).cross(c - a).length()
}

/// Twice the area over the square of the longest side, in parts of what it is for an equilateral triangle: 1 at best, 0
/// without area.
pub fn quality([a, b, c]: [DVec3; 3]) -> f64 {
    let longest = (b - a)
        .length_squared()
        .max((c - b).length_squared())
        .max((a - c).length_squared());
    if longest == 0.0 {
        return 0.0;
    }
    (b - a).cross(c - a).length() / longest * (2.0 / 3.0_f64.sqrt())
}

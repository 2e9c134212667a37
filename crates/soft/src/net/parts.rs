//! What a net is made of, and whether that can be.

use super::NodeFlags;
use crate::element::{Active, Base, Element, Input, Signal};
use glam::DVec3;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use trocar_dynamics::{Integrator, Lock, MassNode, Nodes, masses::BadNode};
use trocar_math::Pose;

/// Bends at the middle node (K41).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bend {
    /// Neighbour, middle, neighbour.
    pub nodes: [u32; 3],
    /// N/rad, ≥ 0.
    pub constant: f64,
}

/// Turns a frame back to how it was built (K40).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Torsion {
    /// Which frame.
    pub frame: u32,
    /// N·m/rad, ≥ 0.
    pub constant: f64,
}

/// Turns an axis of a frame along the main axis of what it is part of: from one node to another (K40).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Twist {
    /// Which frame.
    pub frame: u32,
    /// Two nodes, different ones, from the first of which the main axis leads to the second; the frame may be one of them.
    pub along: [u32; 2],
    /// N·m/rad, ≥ 0.
    pub constant: f64,
}

/// Shape memory of a single node that is unlike that of the others (K25).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OwnMemory {
    /// Which node.
    pub node: u32,
    /// How it grows.
    pub base: Base,
    /// Where it draws the node while its father is as it was built, m; none: to where the node was built.
    pub place: Option<DVec3>,
}

/// All that a net is made of; frames first, then points.
#[derive(Clone, Debug, Default)]
pub struct NetParts {
    /// Where the frames (Z-nodes, K21) are at rest.
    pub frames: Vec<Pose>,
    /// Where the points (G-nodes K20, F-nodes K22) are at rest, m.
    pub points: Vec<DVec3>,
    /// Mass, damping, lock and father of every node.
    pub nodes: Vec<MassNode>,
    /// Flags of every node.
    pub flags: Vec<NodeFlags>,
    /// Shape-memory constant of every node, N/m or N/m², ≥ 0 (K25).
    pub memory: Vec<f64>,
    /// How the shape memory grows.
    pub memory_base: Base,
    /// Nodes whose shape memory is unlike that of the others; a node at most once.
    pub own_memory: Vec<OwnMemory>,
    /// The elements.
    pub elements: Vec<Element>,
    /// The bending elements.
    pub bends: Vec<Bend>,
    /// The torsion elements.
    pub torsions: Vec<Torsion>,
    /// Those that turn frames along a main axis.
    pub twists: Vec<Twist>,
    /// What drives active elements (K44).
    pub signals: Vec<Signal>,
    /// Which elements are driven; an element at most once.
    pub actives: Vec<Active>,
    /// The surface, over point nodes.
    pub triangles: Vec<[u32; 3]>,
    /// Gravity acts on it (K66).
    pub gravity: bool,
    /// Fathers feel their children's shape memory and move (K48); otherwise they stay.
    pub mobile: bool,
    /// By which scheme it moves (K59–K64).
    pub integrator: Integrator,
    /// Height below which none of its nodes goes, m (K67).
    pub ground: Option<f64>,
}

/// Why a net can't be built.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum NetError {
    /// A node is unsound.
    #[error("node {0}: {1}")]
    Node(usize, &'static str),
    /// An element is unsound.
    #[error("element {0}: {1}")]
    Element(usize, &'static str),
    /// A bending element is unsound.
    #[error("bending element {0}: {1}")]
    Bend(usize, &'static str),
    /// A torsion element is unsound.
    #[error("torsion element {0}: {1}")]
    Torsion(usize, &'static str),
    /// A triangle of the surface is unsound.
    #[error("triangle {0}: {1}")]
    Triangle(usize, &'static str),
    /// A signal is unsound.
    #[error("signal {0}: {1}")]
    Signal(usize, &'static str),
    /// Lists do not fit together.
    #[error("{0}")]
    Shape(&'static str),
}

impl From<BadNode> for NetError {
    fn from(bad: BadNode) -> Self {
        Self::Node(bad.node, bad.reason)
    }
}

/// The nodes as they move: fathers that are not mobile neither move nor turn.
pub(super) fn moving(parts: &NetParts) -> Vec<MassNode> {
    let mut nodes = parts.nodes.clone();
    if !parts.mobile {
        for node in &mut nodes {
            if let Some(rigid) = &mut node.rigid {
                node.lock = Lock::Fixed;
                rigid.inertia = None;
            }
        }
    }
    nodes
}

pub(super) fn check(parts: &NetParts, rest: &Nodes) -> Result<(), NetError> {
    let count = rest.len();
    let known = |nodes: &[u32]| nodes.iter().all(|n| (*n as usize) < count);
    for (i, position) in rest.position.iter().enumerate() {
        if !(position.is_finite() && parts.memory[i] >= 0.0 && parts.memory[i].is_finite()) {
            return Err(NetError::Node(
                i,
                "its position and its shape memory must be finite, the memory at least 0",
            ));
        }
    }
    for (i, e) in parts.elements.iter().enumerate() {
        if !known(&e.nodes) || e.nodes[0] == e.nodes[1] {
            return Err(NetError::Element(
                i,
                "it must join two different nodes of the net",
            ));
        }
        if !(e.rest_length >= 0.0 && e.rest_length.is_finite()) {
            return Err(NetError::Element(
                i,
                "its rest length must be at least 0 and finite",
            ));
        }
        if let Some(objection) = e.law.objection() {
            return Err(NetError::Element(i, objection));
        }
    }
    check_own_memory(parts, count)?;
    check_actives(parts)?;
    check_extended(parts, rest.frames(), count)?;
    for (i, t) in parts.triangles.iter().enumerate() {
        // The surface is made of points: whoever draws it or looks for contacts counts from the first of them.
        let points = t
            .iter()
            .all(|n| (rest.frames()..count).contains(&(*n as usize)));
        if !points || !different(*t) {
            return Err(NetError::Triangle(
                i,
                "its corners must be three different points of the net, not central nodes",
            ));
        }
    }
    Ok(())
}

/// True if no two of three nodes are the same.
fn different([a, b, c]: [u32; 3]) -> bool {
    a != b && b != c && c != a
}

/// Bending and torsion.
fn check_extended(parts: &NetParts, frames: usize, count: usize) -> Result<(), NetError> {
    let sound = |constant: f64| constant >= 0.0 && constant.is_finite();
    for (i, bend) in parts.bends.iter().enumerate() {
        let known = bend.nodes.iter().all(|n| (*n as usize) < count);
        if !known || !different(bend.nodes) {
            return Err(NetError::Bend(
                i,
                "it needs three different nodes of the net",
            ));
        }
        if !sound(bend.constant) {
            return Err(NetError::Bend(
                i,
                "its constant must be at least 0 and finite",
            ));
        }
    }
    for (i, torsion) in parts.torsions.iter().enumerate() {
        if torsion.frame as usize >= frames {
            return Err(NetError::Torsion(i, "it needs a central node of the net"));
        }
        if !sound(torsion.constant) {
            return Err(NetError::Torsion(
                i,
                "its constant must be at least 0 and finite",
            ));
        }
    }
    let rest = |n: u32| match n as usize {
        n if n < frames => parts.frames[n].position,
        n => parts.points[n - frames],
    };
    for (i, twist) in parts.twists.iter().enumerate() {
        let known = twist.along.iter().all(|n| (*n as usize) < count);
        if twist.frame as usize >= frames || !known {
            return Err(NetError::Torsion(i, "it needs nodes of the net"));
        }
        let [a, b] = twist.along.map(rest);
        if a == b {
            return Err(NetError::Torsion(
                i,
                "its main axis needs two nodes in different places",
            ));
        }
        if !sound(twist.constant) {
            return Err(NetError::Torsion(
                i,
                "its constant must be at least 0 and finite",
            ));
        }
    }
    Ok(())
}

fn check_own_memory(parts: &NetParts, count: usize) -> Result<(), NetError> {
    let mut seen = vec![false; count];
    for own in &parts.own_memory {
        let node = own.node as usize;
        let Some(seen) = seen.get_mut(node) else {
            return Err(NetError::Shape(
                "a shape memory of its own is of a node the net does not have",
            ));
        };
        if std::mem::replace(seen, true) || own.place.is_some_and(|p| !p.is_finite()) {
            return Err(NetError::Node(
                node,
                "it has one shape memory, and where that draws it must be finite",
            ));
        }
    }
    Ok(())
}

fn check_actives(parts: &NetParts) -> Result<(), NetError> {
    for (i, signal) in parts.signals.iter().enumerate() {
        if let Some(objection) = signal.objection() {
            return Err(NetError::Signal(i, objection));
        }
    }
    let mut driven = vec![false; parts.elements.len()];
    for active in &parts.actives {
        let e = active.element as usize;
        let Some(signal) = parts.signals.get(active.signal as usize) else {
            return Err(NetError::Element(
                e,
                "it is driven by a signal the net does not have",
            ));
        };
        let Some(law) = parts.elements.get(e).map(|x| x.law) else {
            return Err(NetError::Shape(
                "a signal drives an element the net does not have",
            ));
        };
        if std::mem::replace(&mut driven[e], true) {
            return Err(NetError::Element(
                e,
                "it is driven twice; use two elements side by side (K37)",
            ));
        }
        if law.input == Input::Velocity {
            return Err(NetError::Element(
                e,
                "a driven damper would be discontinuous at rest (K38); drive a spring beside it",
            ));
        }
        if law.plastic.is_some() {
            return Err(NetError::Element(
                e,
                "an element yields or is driven, not both; use two, one after the other (K37)",
            ));
        }
        if let Some(objection) = active.drive.objection(signal, law.constant) {
            return Err(NetError::Element(e, objection));
        }
    }
    Ok(())
}

//! The nodal net: masses joined by elements, with a memory of shape (K19–K26, K47–K51).

use crate::element::{self, Base, Element, Input, Law};
use glam::{DMat3, DQuat, DVec3};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use trocar_dynamics::{
    Field, Integrator, Lock, MassNode, Masses, Matter, MatterId, Nodes, masses::BadNode,
};
use trocar_math::Pose;

/// What a node is and what has been done to it (K26). The bits are those of the original, so that
/// its model files can be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeFlags(pub u32);

impl NodeFlags {
    /// Held by a grasper.
    pub const GRASPED: Self = Self(0x1);
    /// Held by a clip.
    pub const CLIPPED: Self = Self(0x2);
    /// On the lip of a partial cut.
    pub const CUT: Self = Self(0x4);
    /// On the lip of a complete cut.
    pub const DIVIDED: Self = Self(0x8);
    /// Fixed in space.
    pub const FIXED: Self = Self(0x10);
    /// Leads a node of another net.
    pub const MASTER: Self = Self(0x20);
    /// Copies a node of another net.
    pub const SLAVE: Self = Self(0x40);
    /// End of an element to another object.
    pub const GLOBAL_ELEMENT: Self = Self(0x80);
    /// Where a force is being applied by hand.
    pub const FORCE_INPUT: Self = Self(0x100);
    /// Belongs to a global-dynamic object.
    pub const GLOBAL_DYNAMIC: Self = Self(0x200);
    /// Without geometry: an F-node (K22).
    pub const FREE: Self = Self(0x400);
    /// Marked for cutting.
    pub const CUT_MARK: Self = Self(0x800);
    /// Instruments pass through it.
    pub const NOT_INTERACTIVE: Self = Self(0x1000);
    /// Coagulated.
    pub const COAGULATED: Self = Self(0x2000);
    /// First bit of the mark that rules of behaviour refer to; the bits above belong to it.
    pub const MANIPULATION_MARK: Self = Self(0x10000);

    /// True if all bits of `other` are set.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Sets or clears the bits of `other`.
    pub fn set(&mut self, other: Self, on: bool) {
        if on {
            self.0 |= other.0;
        } else {
            self.0 &= !other.0;
        }
    }
}

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
    /// The elements.
    pub elements: Vec<Element>,
    /// The bending elements.
    pub bends: Vec<Bend>,
    /// The torsion elements.
    pub torsions: Vec<Torsion>,
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
    /// Lists do not fit together.
    #[error("{0}")]
    Shape(&'static str),
}

impl From<BadNode> for NetError {
    fn from(bad: BadNode) -> Self {
        Self::Node(bad.node, bad.reason)
    }
}

/// Elements that share a law: a range of the element arrays.
#[derive(Clone, Debug)]
struct Run {
    law: Law,
    end: usize,
}

/// A nodal net.
#[derive(Clone, Debug)]
pub struct Net {
    /// Mass of a father: its own and that of all it carries.
    masses: Masses,
    /// Every node's own mass, kg: what gravity acts on.
    weights: Vec<f64>,
    /// Every frame's own moments of inertia, kg·m².
    inertias: Vec<DVec3>,
    flags: Vec<NodeFlags>,
    leaders: Vec<Option<(MatterId, u32)>>,
    /// Base position of every node, in its father's frame, or in the world (K25).
    base: Vec<DVec3>,
    memory: Vec<f64>,
    memory_base: Base,
    ends: Vec<[u32; 2]>,
    rest_length: Vec<f64>,
    runs: Vec<Run>,
    bends: Vec<(Bend, f64)>,
    torsions: Vec<Torsion>,
    triangles: Vec<[u32; 3]>,
    gravity: bool,
    mobile: bool,
    rest: Nodes,
    stable_step: f64,
}

impl Net {
    /// Checks the parts and puts them together.
    pub fn new(parts: NetParts) -> Result<Self, NetError> {
        let count = parts.nodes.len();
        if parts.frames.len() + parts.points.len() != count
            || parts.flags.len() != count
            || parts.memory.len() != count
        {
            return Err(NetError::Shape(
                "every node needs a position, flags and a shape memory",
            ));
        }
        let weights = parts.nodes.iter().map(|n| n.mass).collect();
        let rigid = parts.nodes.iter().filter_map(|n| n.rigid);
        let inertias = rigid.map(|r| r.inertia.unwrap_or_default()).collect();
        Masses::new(&parts.nodes)?;
        let mut masses = Masses::new(&carrying(&parts))?;
        masses.set_integrator(parts.integrator)?;
        masses.set_ground(parts.ground);
        if masses.frames() != parts.frames.len() {
            return Err(NetError::Shape(
                "every frame needs a rigid mass, and only frames do",
            ));
        }
        let frames: Vec<_> = parts
            .frames
            .iter()
            .map(|f| (f.position, f.rotation))
            .collect();
        let rest = Nodes::at_rest(&frames, &parts.points);
        check_parts(&parts, &rest)?;

        let base = (0..count)
            .map(|i| match masses.father(i) {
                Some(f) => parts.frames[f].local(rest.position[i]),
                None => rest.position[i],
            })
            .collect();
        let mut elements = parts.elements;
        // Runs of one law, in the order of the nodes: the loop over them has nothing to decide, and
        // walks through memory.
        let key = |law: &Law| {
            (
                law.input as u8,
                law.base as u8,
                law.constant.to_bits(),
                law.gain.map(f64::to_bits),
            )
        };
        elements.iter_mut().for_each(|e| e.nodes.sort_unstable());
        elements.sort_by_key(|e| (key(&e.law), e.nodes));
        let mut runs: Vec<Run> = Vec::new();
        for (i, element) in elements.iter().enumerate() {
            match runs.last_mut() {
                Some(run) if run.law == element.law => run.end = i + 1,
                _ => runs.push(Run {
                    law: element.law,
                    end: i + 1,
                }),
            }
        }
        let bends = parts
            .bends
            .iter()
            .map(|bend| {
                let [i, k, j] = bend.nodes.map(|n| rest.position[n as usize]);
                (*bend, element::bending_angle(k - i, k - j))
            })
            .collect();
        let mut net = Self {
            masses,
            weights,
            inertias,
            flags: parts.flags,
            leaders: vec![None; count],
            base,
            memory: parts.memory,
            memory_base: parts.memory_base,
            ends: elements.iter().map(|e| e.nodes).collect(),
            rest_length: elements.iter().map(|e| e.rest_length).collect(),
            runs,
            bends,
            torsions: parts.torsions,
            triangles: parts.triangles,
            gravity: parts.gravity,
            mobile: parts.mobile,
            rest,
            stable_step: f64::INFINITY,
        };
        net.stable_step = crate::stability::safe_step(&net, &|_| 0.0);
        Ok(net)
    }

    /// The nodes at rest, as built.
    pub fn rest(&self) -> &Nodes {
        &self.rest
    }

    /// The surface: triangles over nodes.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Number of connection elements, bending and torsion elements not counted.
    pub fn element_count(&self) -> usize {
        self.ends.len()
    }

    /// The connection elements, in the order they are worked on.
    pub fn elements(&self) -> impl Iterator<Item = Element> + '_ {
        self.laws().map(|(i, law)| Element {
            nodes: self.ends[i],
            rest_length: self.rest_length[i],
            law,
        })
    }

    fn laws(&self) -> impl Iterator<Item = (usize, Law)> + '_ {
        let mut start = 0;
        self.runs.iter().flat_map(move |run| {
            let range = start..run.end;
            start = run.end;
            range.map(|i| (i, run.law))
        })
    }

    /// The bending elements.
    pub fn bends(&self) -> impl Iterator<Item = &Bend> {
        self.bends.iter().map(|b| &b.0)
    }

    /// The bending elements and their angles at rest, rad.
    pub(crate) fn bends_at_rest(&self) -> impl Iterator<Item = (&Bend, f64)> {
        self.bends.iter().map(|(bend, rest)| (bend, *rest))
    }

    /// A node's own mass, kg: without what it carries.
    pub fn weight(&self, node: usize) -> f64 {
        self.weights[node]
    }

    /// A frame's own moments of inertia about its axes, kg·m².
    pub(crate) fn own_inertia(&self, frame: usize) -> DVec3 {
        self.inertias[frame]
    }

    /// True if gravity acts on it.
    pub fn falls(&self) -> bool {
        self.gravity
    }

    /// The orientation to which torsion turns a frame: as it was built, or as it was built into its father.
    pub(crate) fn reference(&self, nodes: &Nodes, z: usize) -> DQuat {
        let rest = self.rest.orientation[z];
        match self.masses.father(z) {
            Some(f) => nodes.orientation[f] * self.rest.orientation[f].conjugate() * rest,
            None => rest,
        }
    }

    /// The torsion elements.
    pub fn torsions(&self) -> &[Torsion] {
        &self.torsions
    }

    /// Shape-memory constant of a node, N/m or N/m².
    pub fn memory(&self, node: usize) -> f64 {
        self.memory[node]
    }

    /// How the shape memory grows.
    pub fn memory_base(&self) -> Base {
        self.memory_base
    }

    /// Flags of a node.
    pub fn flags(&self, node: usize) -> NodeFlags {
        self.flags[node]
    }

    /// Sets or clears flags of a node.
    pub fn set_flags(&mut self, node: usize, flags: NodeFlags, on: bool) {
        self.flags[node].set(flags, on);
    }

    /// Fixes a node in space (K56).
    pub fn fix(&mut self, node: usize) -> Result<(), NetError> {
        self.masses
            .set_lock(node, Lock::Fixed)
            .map_err(|reason| NetError::Node(node, reason))?;
        self.flags[node].set(NodeFlags::FIXED, true);
        Ok(())
    }

    /// Makes a node the copy of another one (K54).
    pub fn follow(&mut self, node: usize, leader: (MatterId, u32)) {
        self.leaders[node] = Some(leader);
        self.flags[node].set(NodeFlags::SLAVE, true);
    }

    /// Where a node's shape memory draws it, m.
    pub fn base_position(&self, nodes: &Nodes, node: usize) -> DVec3 {
        match self.masses.father(node) {
            Some(f) => nodes.position[f] + nodes.orientation[f] * self.base[node],
            None => self.base[node],
        }
    }

    /// The element block: forces of all springs and dampers.
    pub fn element_forces(&self, nodes: &mut Nodes) {
        let mut start = 0;
        for run in &self.runs {
            let range = start..run.end;
            start = run.end;
            let ends = &self.ends[range.clone()];
            match run.law.input {
                Input::Distance if run.law.is_plain() => {
                    let k = run.law.constant;
                    springs(nodes, ends, &self.rest_length[range], |apart, rest| {
                        element::plain_force(apart, rest, k)
                    });
                }
                Input::Distance => {
                    springs(nodes, ends, &self.rest_length[range], |apart, rest| {
                        element::spring_force(apart, rest, &run.law)
                    });
                }
                Input::Velocity => {
                    self.masses.carry_velocities(nodes);
                    for [i, j] in ends {
                        let (i, j) = (*i as usize, *j as usize);
                        let relative = nodes.carried[i] - nodes.carried[j];
                        let force = element::damper_force(relative, &run.law);
                        nodes.force[i] += force;
                        nodes.force[j] -= force;
                    }
                }
            }
        }
        for (bend, rest) in &self.bends {
            let [i, k, j] = bend.nodes.map(|n| n as usize);
            let (to_i, to_j) = (
                nodes.position[k] - nodes.position[i],
                nodes.position[k] - nodes.position[j],
            );
            let force = element::bending_force(to_i, to_j, bend.constant, *rest);
            nodes.force[k] += force;
            nodes.force[i] -= force * 0.5;
            nodes.force[j] -= force * 0.5;
        }
        for torsion in &self.torsions {
            let z = torsion.frame as usize;
            let reference = self.reference(nodes, z);
            let torque = element::torsion_torque(nodes.orientation[z], reference, torsion.constant);
            nodes.torque[z] += torque;
            if let Some(f) = self.masses.father(z) {
                nodes.torque[f] -= torque;
            }
        }
    }

    /// Shape memory of every node; fathers take what their children are given (K47, K49). A child's
    /// damping acts between it and its father, so the father takes that as well: without it the
    /// father answers too late, and an organ on a stalk flutters.
    fn memory_forces(&self, nodes: &mut Nodes) {
        // Frames come first, so a child may look its father up while the forces are written.
        let damping = self.masses.damping();
        let mut family = usize::MAX;
        let (mut origin, mut axes) = (DVec3::ZERO, DMat3::IDENTITY);
        let (mut pull, mut moment) = (DVec3::ZERO, DVec3::ZERO);
        for (i, constant) in self.memory.iter().enumerate() {
            let father = self.masses.father(i).unwrap_or(usize::MAX);
            if father != family {
                self.pull_father(nodes, family, pull, moment);
                (pull, moment) = (DVec3::ZERO, DVec3::ZERO);
                family = father;
                (origin, axes) = match nodes.orientation.get(father) {
                    Some(q) => (nodes.position[father], DMat3::from_quat(*q)),
                    None => (DVec3::ZERO, DMat3::IDENTITY),
                };
            }
            let arm = nodes.position[i] - origin;
            let force =
                element::memory_force(arm - axes * self.base[i], *constant, self.memory_base);
            nodes.force[i] += force;
            let given = force - nodes.velocity[i] * damping[i];
            pull -= given;
            moment -= arm.cross(given);
        }
        self.pull_father(nodes, family, pull, moment);
        for z in 0..nodes.frames() {
            if let Some(f) = self.masses.father(z) {
                nodes.torque[f] += nodes.spin[z] * self.masses.rigid()[z].damping;
            }
        }
    }

    fn pull_father(&self, nodes: &mut Nodes, father: usize, pull: DVec3, moment: DVec3) {
        if self.mobile && father < nodes.torque.len() {
            nodes.force[father] += pull;
            nodes.torque[father] += moment;
        }
    }
}

impl Matter for Net {
    fn masses(&self) -> &Masses {
        &self.masses
    }

    /// f = Σ f_VE + Σ f_children + f_O + m g (3.69); hyper nodes are added by whoever holds both nets.
    fn force(&self, nodes: &mut Nodes, field: &Field) {
        if self.gravity {
            for (force, mass) in nodes.force.iter_mut().zip(&self.weights) {
                *force = field.gravity * *mass;
            }
        } else {
            nodes.force.fill(DVec3::ZERO);
        }
        nodes.torque.fill(DVec3::ZERO);
        self.element_forces(nodes);
        self.memory_forces(nodes);
        if !self.mobile {
            let frames = nodes.frames();
            nodes.force[..frames].fill(DVec3::ZERO);
            nodes.torque.fill(DVec3::ZERO);
        }
    }

    fn stable_step(&self) -> f64 {
        self.stable_step
    }

    fn leader(&self, node: u32) -> Option<(MatterId, u32)> {
        self.leaders[node as usize]
    }
}

/// Adds the forces of springs. Their first nodes ascend, so what acts on one of them is summed in a
/// register and written once; writing it every time would make each spring wait for the last.
#[inline]
fn springs(
    nodes: &mut Nodes,
    ends: &[[u32; 2]],
    rest: &[f64],
    force: impl Fn(DVec3, f64) -> DVec3,
) {
    let Some([first, _]) = ends.first() else {
        return;
    };
    let positions = nodes.position.as_slice();
    let forces = nodes.force.as_mut_slice();
    let mut node = *first as usize;
    let (mut from, mut sum) = (positions[node], DVec3::ZERO);
    for ([i, j], rest) in ends.iter().zip(rest) {
        if *i as usize != node {
            forces[node] += sum;
            node = *i as usize;
            (from, sum) = (positions[node], DVec3::ZERO);
        }
        let f = force(from - positions[*j as usize], *rest);
        sum += f;
        forces[*j as usize] -= f;
    }
    forces[node] += sum;
}

/// The nodes as they move: a father carries its children, so its mass and inertia grow by theirs. Without
/// this an organ would fall faster than a stone, and one lighter than its own shell would flutter.
fn carrying(parts: &NetParts) -> Vec<MassNode> {
    let mut nodes = parts.nodes.clone();
    let frames = parts.frames.len();
    for i in (0..nodes.len()).rev() {
        let Some(f) = nodes[i].father.map(|f| f as usize) else {
            continue;
        };
        let position = if i < frames {
            parts.frames[i].position
        } else {
            parts.points[i - frames]
        };
        let arm = parts.frames[f].local(position);
        let square = arm * arm;
        let mass = nodes[i].mass;
        let carried = nodes[i].rigid.and_then(|r| r.inertia).unwrap_or_default();
        nodes[f].mass += mass;
        if let Some(inertia) = nodes[f].rigid.as_mut().and_then(|r| r.inertia.as_mut()) {
            *inertia += carried
                + DVec3::new(
                    square.y + square.z,
                    square.z + square.x,
                    square.x + square.y,
                ) * mass;
        }
    }
    nodes
}

fn check_parts(parts: &NetParts, rest: &Nodes) -> Result<(), NetError> {
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
        let numbers = [e.rest_length, e.law.constant, e.law.gain[0], e.law.gain[1]];
        if !known(&e.nodes) || e.nodes[0] == e.nodes[1] {
            return Err(NetError::Element(
                i,
                "it must join two different nodes of the net",
            ));
        }
        if numbers.iter().any(|x| !(*x >= 0.0 && x.is_finite())) {
            return Err(NetError::Element(
                i,
                "rest length, constant and gains must be at least 0 and finite",
            ));
        }
    }
    let bent = |b: &Bend| known(&b.nodes) && b.constant >= 0.0 && b.constant.is_finite();
    let turned = |t: &Torsion| {
        (t.frame as usize) < rest.frames() && t.constant >= 0.0 && t.constant.is_finite()
    };
    if !parts.bends.iter().all(bent) || !parts.torsions.iter().all(turned) {
        return Err(NetError::Shape(
            "bending and torsion need nodes of the net and constants of at least 0",
        ));
    }
    if !parts.triangles.iter().all(|t| known(t)) {
        return Err(NetError::Shape(
            "a triangle names a node the net does not have",
        ));
    }
    Ok(())
}

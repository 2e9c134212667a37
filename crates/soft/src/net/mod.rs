//! The nodal net: masses joined by elements, with a memory of shape (K19–K26, K47–K51). Elements deform it locally, fathers displace its parts,
//! and both let it move as a whole (K46).

mod change;
mod flags;
mod forces;
mod links;
mod parts;
mod present;
mod schedule;
mod sweep;

pub use change::Yielding;
pub use flags::NodeFlags;
pub use parts::{Bend, NetError, NetParts, OwnMemory, Torsion, Twist};
pub(crate) use present::Least;

use crate::element::{self, Active, Base, Drive, Element, Input};
use glam::{DQuat, DVec3};
use links::Links;
use schedule::Schedule;
use trocar_dynamics::{Lock, MassNode, Masses, MatterId, Nodes};

/// A nodal net.
#[derive(Clone, Debug)]
pub struct Net {
    /// Every node as it was built.
    own: Vec<MassNode>,
    masses: Masses,
    /// Every node's own mass, kg: what gravity acts on.
    weights: Vec<f64>,
    /// The frame whose motion each node's shape memory follows, as it was built.
    fathers: Vec<Option<u32>>,
    flags: Vec<NodeFlags>,
    leaders: Vec<Option<(MatterId, u32)>>,
    /// True if some node copies another: where it is, is known only when all nets have moved.
    copies: bool,
    /// Nodes that move copies of themselves along, and the mass of these, kg.
    loads: Vec<(usize, f64)>,
    /// Base position of every node, in its father's frame, or in the world (K25).
    base: Vec<DVec3>,
    memory: Vec<f64>,
    /// How it grows, of most nodes and of each.
    memory_base: Base,
    memory_bases: Vec<Base>,
    own_memory: Vec<OwnMemory>,
    links: Links,
    schedule: Schedule,
    families: forces::Families,
    /// True if no node has a lock: each moves by its velocity.
    unbound: bool,
    bends: Vec<(Bend, element::Bent)>,
    torsions: Vec<Torsion>,
    /// Each with the direction of its main axis at rest, in its frame.
    twists: Vec<(Twist, DVec3)>,
    triangles: Vec<[u32; 3]>,
    gravity: bool,
    /// Fathers move; otherwise they are held where they are, whatever pulls at them.
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
        let mut masses = Masses::new(&parts::moving(&parts))?;
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
        let mut rest = Nodes::at_rest(&frames, &parts.points);
        parts::check(&parts, &rest)?;

        let fathers: Vec<_> = parts.nodes.iter().map(|n| n.father).collect();
        let mut places = rest.position.clone();
        let mut memory_bases = vec![parts.memory_base; count];
        for own in &parts.own_memory {
            let node = own.node as usize;
            memory_bases[node] = own.base;
            places[node] = own.place.unwrap_or(places[node]);
        }
        let base = fathers.iter().zip(&places);
        let base = base
            .map(|(father, place)| match father {
                Some(f) => parts.frames[*f as usize].local(*place),
                None => *place,
            })
            .collect();
        let bends = parts
            .bends
            .iter()
            .map(|bend| {
                let [i, k, j] = bend.nodes.map(|n| rest.position[n as usize]);
                (*bend, element::Bent::new(k - i, k - j))
            })
            .collect();
        let twists = parts
            .twists
            .iter()
            .map(|twist| {
                let [a, b] = twist.along.map(|n| rest.position[n as usize]);
                let back = rest.orientation[twist.frame as usize].conjugate();
                (*twist, back * (b - a))
            })
            .collect();
        let links = Links::new(&parts);
        if !links.plastic.is_empty() {
            rest.flow = vec![0.0; links.len()];
        }
        let schedule = Schedule::new(count, &links);
        // Fixed in space is what can't move, whoever said so (K26, K56).
        let mut flags = parts.flags;
        for (i, flags) in flags.iter_mut().enumerate() {
            flags.set(NodeFlags::FIXED, masses.lock(i) == Lock::Fixed);
        }
        let mut net = Self {
            families: forces::Families::new(
                &fathers,
                &parts.memory,
                &memory_bases,
                &schedule.bounds,
            ),
            unbound: masses.moves_freely(),
            masses,
            fathers,
            weights: parts.nodes.iter().map(|n| n.mass).collect(),
            own: parts.nodes,
            flags,
            leaders: vec![None; count],
            copies: false,
            loads: Vec::new(),
            base,
            memory: parts.memory,
            memory_base: parts.memory_base,
            memory_bases,
            own_memory: parts.own_memory,
            links,
            schedule,
            bends,
            torsions: parts.torsions,
            twists,
            triangles: parts.triangles,
            gravity: parts.gravity,
            mobile: parts.mobile,
            rest,
            stable_step: f64::INFINITY,
        };
        net.stable_step =
            crate::stability::safe_step(&net, &|_| crate::stability::Added::default());
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
        self.links.len()
    }

    /// The connection elements, in the order they were built.
    pub fn elements(&self) -> impl Iterator<Item = Element> + '_ {
        (0..self.links.len()).map(|i| self.links.get(i))
    }

    /// A connection element.
    pub fn element(&self, i: usize) -> Element {
        self.links.get(i)
    }

    /// Tension (N) of a spring at `time` s, driven (K44) and flown as it is; positive draws its ends together. Of
    /// a damper, how much it resists.
    pub fn tension(&self, nodes: &Nodes, i: usize, time: f64) -> f64 {
        let law = self.links.law_of(i);
        match law.input {
            Input::Distance => {
                let (stretch, driven) = self.links.stretch(nodes, i, time);
                driven.law(&law).tension(stretch) + driven.tension
            }
            Input::Velocity => {
                let [a, b] = self.links.ends[i];
                let velocity = |n: u32| self.masses.node_velocity(nodes, n as usize);
                law.tension(velocity(a).distance(velocity(b)))
            }
        }
    }

    /// The same net with every element whose stiffness is driven as stiff as it ever is, for good; none if there is no such element.
    pub(crate) fn stiffened(&self) -> Option<Self> {
        let stiffens = |a: &Active| matches!(a.drive, Drive::Stiffness(_));
        if !self.links.actives.iter().any(stiffens) {
            return None;
        }
        let mut stiff = self.clone();
        let changed = stiff.change(|parts| {
            for active in parts.actives.iter().filter(|a| stiffens(a)) {
                let e = active.element as usize;
                parts.elements[e].law = self.links.extremes(e).law(&parts.elements[e].law);
            }
            parts.actives.retain(|a| !stiffens(a));
        });
        changed.ok().map(|()| stiff)
    }

    pub(crate) fn links_energy(&self, nodes: &Nodes, time: f64) -> f64 {
        self.links.energy(nodes, time)
    }

    /// Ends, input and greatest slope (N/m, N·s/m) of every connection element.
    pub(crate) fn slopes(&self) -> impl Iterator<Item = ([u32; 2], Input, f64)> + '_ {
        self.links.slopes()
    }

    /// The bending elements.
    pub fn bends(&self) -> impl Iterator<Item = &Bend> {
        self.bends.iter().map(|b| &b.0)
    }

    /// True if what it asks of a substep depends neither on lengths, speeds nor time: springs, dampers and shape memory are linear, nothing bends, twists, is driven, or turns a
    /// father from farther away.
    pub fn is_even(&self) -> bool {
        self.links.laws.iter().all(element::Law::is_plain)
            && self.links.actives.is_empty()
            && self.memory_bases.iter().all(|b| *b == Base::Linear)
            && self.bends.is_empty()
            && self.twists.is_empty()
            && self.fathers.iter().all(Option::is_none)
    }

    /// The bending elements and how they are at rest.
    pub fn bends_at_rest(&self) -> impl Iterator<Item = (&Bend, &element::Bent)> {
        self.bends.iter().map(|(bend, rest)| (bend, rest))
    }

    /// The frame that a node belongs to: its shape memory follows it (K48).
    pub fn father(&self, node: usize) -> Option<usize> {
        self.fathers[node].map(|f| f as usize)
    }

    /// A node's own mass, kg.
    pub fn weight(&self, node: usize) -> f64 {
        self.weights[node]
    }

    /// True if gravity acts on it.
    pub fn falls(&self) -> bool {
        self.gravity
    }

    /// The orientation to which torsion turns a frame: as it was built, or as it was built into its father.
    pub(crate) fn reference(&self, nodes: &Nodes, z: usize) -> DQuat {
        let rest = self.rest.orientation[z];
        match self.father(z) {
            Some(f) => nodes.orientation[f] * self.rest.orientation[f].conjugate() * rest,
            None => rest,
        }
    }

    /// What turns frames along a main axis, with that axis at rest as the frame sees it, m.
    pub fn twists(&self) -> &[(Twist, DVec3)] {
        &self.twists
    }

    /// The torsion elements.
    pub fn torsions(&self) -> &[Torsion] {
        &self.torsions
    }

    /// Shape-memory constant of a node, N/m or N/m².
    pub fn memory(&self, node: usize) -> f64 {
        self.memory[node]
    }

    /// How the shape memory of a node grows.
    pub fn memory_base(&self, node: usize) -> Base {
        self.memory_bases[node]
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
        self.own[node].lock = Lock::Fixed;
        self.unbound = false;
        self.flags[node].set(NodeFlags::FIXED, true);
        Ok(())
    }

    /// Makes a node the copy of another one (K54).
    pub fn follow(&mut self, node: usize, leader: (MatterId, u32)) {
        self.leaders[node] = Some(leader);
        self.copies = true;
        // Its leader moves it and knows nothing of its damping; a father that felt it would take momentum from nowhere.
        self.masses.leave_family(node);
        self.flags[node].set(NodeFlags::SLAVE, true);
    }

    /// Lets a node move the mass of a copy, kg, with its own (K54). The copy's weight is part of the force that it gives back.
    pub fn load(&mut self, node: usize, mass: f64) {
        self.loads.push((node, mass));
        self.masses.load(node, mass);
        // Heavier nodes only allow longer steps; the bound is that of the net as it moves all the same.
        self.stable_step =
            crate::stability::safe_step(self, &|_| crate::stability::Added::default());
    }

    /// Where a node's shape memory draws it, m: its place in its father's frame, wherever that has come to (K50).
    pub fn base_position(&self, nodes: &Nodes, node: usize) -> DVec3 {
        match self.father(node) {
            Some(f) => nodes.position[f] + nodes.orientation[f] * self.base[node],
            None => self.base[node],
        }
    }
}

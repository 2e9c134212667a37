//! Nets that are changed while they move (K13).

use super::{Net, NetError, NetParts};
use std::collections::BTreeMap;
use trocar_dynamics::Nodes;
use trocar_math::Pose;

impl Net {
    /// All that the net is made of, as it is now.
    pub fn parts(&self) -> NetParts {
        let frames = self.rest.frames();
        NetParts {
            frames: (0..frames)
                .map(|z| Pose::new(self.rest.position[z], self.rest.orientation[z]))
                .collect(),
            points: self.rest.position[frames..].to_vec(),
            nodes: self.own.clone(),
            flags: self.flags.clone(),
            memory: self.memory.clone(),
            memory_base: self.memory_base,
            own_memory: self.own_memory.clone(),
            elements: self.elements().collect(),
            bends: self.bends().copied().collect(),
            torsions: self.torsions.clone(),
            twists: self.twists.iter().map(|(twist, _)| *twist).collect(),
            signals: self.links.signals.clone(),
            actives: self.links.actives.clone(),
            triangles: self.triangles.clone(),
            gravity: self.gravity,
            mobile: self.mobile,
            integrator: self.masses.integrator(),
            ground: self.masses.ground(),
        }
    }

    /// Changes anything but how many nodes, frames and elements there are: masses, dampings, locks, memory, laws, rest lengths, what
    /// drives them. Everything that follows from it is found anew, the stable step among it. What can't be is refused, and
    /// then nothing has changed. Copies of nodes (K54) stay copies.
    ///
    /// A share of the state that belongs to the net must be [fitted](Self::fit) if an element yields now and none did before.
    pub fn change(&mut self, edit: impl FnOnce(&mut NetParts)) -> Result<(), NetError> {
        let mut parts = self.parts();
        edit(&mut parts);
        let same = parts.frames.len() == self.rest.frames()
            && parts.nodes.len() == self.own.len()
            && parts.elements.len() == self.links.len();
        if !same {
            return Err(NetError::Shape(
                "a net that moves keeps its number of nodes, frames and elements",
            ));
        }
        let mut changed = Self::new(parts)?;
        for (node, leader) in self.leaders.iter().enumerate() {
            if let Some(leader) = leader {
                changed.follow(node, *leader);
            }
        }
        for (node, mass) in &self.loads {
            changed.load(*node, *mass);
        }
        *self = changed;
        Ok(())
    }

    /// Gives a share of the state room for what the elements of this net remember: how far each has flown, m, in
    /// [`Nodes::flow`], in the order of [`elements`](Self::elements); nothing if none yields. The share comes from a net that `yielded` as
    /// [`yielding`](Self::yielding) said of it: what still yields between the same nodes keeps what it remembers.
    pub fn fit(&self, nodes: &mut Nodes, yielded: &[Yielding]) {
        let now = self.yielding();
        if nodes.flow.len() == self.rest.flow.len() && now == yielded {
            return;
        }
        let flown = |i: u32| nodes.flow.get(i as usize).copied().unwrap_or(0.0);
        let known: BTreeMap<_, _> = numbered(yielded).map(|(i, key)| (key, flown(i))).collect();
        let kept = |known: &BTreeMap<_, f64>| {
            let mut list = vec![0.0; self.rest.flow.len()];
            for (i, key) in numbered(&now) {
                list[i as usize] = known.get(&key).copied().unwrap_or(0.0);
            }
            list
        };
        if !nodes.spared.is_empty() {
            let spared = |i: u32| nodes.spared.get(i as usize).copied().unwrap_or(0.0);
            let known = numbered(yielded).map(|(i, key)| (key, spared(i))).collect();
            nodes.spared = kept(&known);
        }
        nodes.flow = kept(&known);
    }

    /// Has all elements forget how far they have flown: they draw back to the shape they were built with. What is drawn farther than it
    /// would yield at is spared on its way back ([`Plastic::eased`](crate::Plastic::eased)), or it would never get there.
    pub fn forget_flow(&self, nodes: &mut Nodes) {
        nodes.flow.fill(0.0);
        nodes.spared.clear();
        nodes.spared.resize(nodes.flow.len(), 0.0);
        for (i, ends) in self.yielding() {
            let [a, b] = ends.map(|n| nodes.position[n as usize]);
            if let Some(spared) = nodes.spared.get_mut(i as usize) {
                *spared = a.distance(b) - self.element(i as usize).rest_length;
            }
        }
    }

    /// The connection elements that yield.
    pub fn yielding(&self) -> Vec<Yielding> {
        if self.rest.flow.is_empty() {
            return Vec::new();
        }
        let elements = (0..).zip(self.elements());
        let yielding = elements.filter(|(_, e)| e.law.plastic.is_some());
        yielding.map(|(i, e)| (i, e.nodes)).collect()
    }
}

/// An element that yields: its number, and its nodes.
pub type Yielding = (u32, [u32; 2]);

/// The number of each; and its nodes, with which one between the same nodes it is.
fn numbered(list: &[Yielding]) -> impl Iterator<Item = (u32, ([u32; 2], u32))> {
    let mut counts = BTreeMap::new();
    list.iter().map(move |(i, nodes)| {
        let count = counts.entry(*nodes).or_insert(0);
        *count += 1;
        (*i, (*nodes, *count))
    })
}

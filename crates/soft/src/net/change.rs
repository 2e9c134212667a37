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
    /// [`Nodes::flow`], in the order of [`elements`](Self::elements); nothing if none yields. The share comes from a net whose elements had the `ends`
    /// ([`ends`](Self::ends)), in their order: what is still there between the same nodes keeps what it remembers.
    pub fn fit(&self, nodes: &mut Nodes, ends: &[[u32; 2]]) {
        let now = self.ends();
        if nodes.flow.len() == self.rest.flow.len() && now == ends {
            return;
        }
        let flown: BTreeMap<_, _> = numbered(ends).zip(&nodes.flow).collect();
        let kept = |key| flown.get(&key).map_or(0.0, |flow| **flow);
        let flow = numbered(&now).map(kept).take(self.rest.flow.len());
        let flow = flow.collect();
        nodes.flow = flow;
    }

    /// The nodes of every connection element.
    pub fn ends(&self) -> Vec<[u32; 2]> {
        self.elements().map(|e| e.nodes).collect()
    }
}

/// Each with its number among those between the same nodes.
fn numbered(ends: &[[u32; 2]]) -> impl Iterator<Item = ([u32; 2], u32)> {
    let mut counts = BTreeMap::new();
    ends.iter().map(move |ends| {
        let count = counts.entry(*ends).or_insert(0);
        *count += 1;
        (*ends, *count)
    })
}

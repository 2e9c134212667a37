//! The hash that proves two simulations the same.

use crate::Simulation;
use glam::DVec3;
use trocar_dynamics::{Anchor, Local};
use trocar_soft::Global;
use xxhash_rust::xxh3::Xxh3;

impl Simulation {
    /// A number that depends on every bit of what the next step reads.
    pub fn hash(&self) -> u64 {
        let mut hash = Hasher(Xxh3::new());
        hash.count(self.steps);
        hash.number(self.state.time);
        for nodes in &self.state.nodes {
            hash.vectors(&nodes.position);
            hash.vectors(&nodes.velocity);
            hash.vectors(&nodes.spin);
            hash.numbers(&nodes.flow);
            hash.numbers(&nodes.spared);
            for q in &nodes.orientation {
                hash.numbers(&q.to_array());
            }
        }
        for handle in &self.handles {
            hash.numbers(&handle.to_array());
        }
        if let Some(handle) = &self.endoscope {
            hash.numbers(&handle.to_array());
        }
        for (index, value) in self.changed() {
            hash.count(index as u64);
            hash.number(value);
        }
        for grip in &self.grips {
            hash.number(grip.jaw);
            hash.vectors(&[grip.load]);
            hash.count(u64::from(grip.armed));
            hash.count(grip.holds.len() as u64);
            for hold in &grip.holds {
                hash.number(hold.pull);
                hash.number(hold.tie.h);
                hash.vectors(&[hold.taken, hold.force, hold.tie.impulse]);
                hash.anchor(&hold.tie.a);
                hash.anchor(&hold.tie.b);
            }
        }
        for group in &self.groups {
            for tie in &group.ties[..group.scene_ties] {
                hash.vectors(&[tie.impulse]);
                hash.number(tie.h);
            }
            if !self.model.films.is_empty() {
                group.feet().for_each(|foot| hash.anchor(&foot));
            }
            for joint in &group.joints {
                hash.numbers(&joint.memory.impulses);
                hash.numbers(&joint.memory.feet);
                hash.number(joint.memory.h);
                joint.memory.controls.iter().for_each(|c| hash.numbers(c));
                if let Some(pose) = &joint.caught {
                    hash.vectors(&[pose.position]);
                    hash.numbers(&pose.rotation.to_array());
                }
            }
            if let Some(collisions) = &group.collisions {
                for given in &collisions.warm {
                    let (pair, part, point) = given.key;
                    for n in [pair, part, point].as_flattened() {
                        hash.count(u64::from(*n));
                    }
                    hash.vectors(&given.impulses);
                    hash.vectors(&[given.at]);
                    hash.number(given.h);
                }
                for rest in &collisions.rest {
                    hash.number(rest.calm);
                    hash.count(u64::from(rest.asleep));
                }
            }
            group.bad.iter().for_each(|n| hash.count(u64::from(*n)));
            let tempo = group.tempo();
            tempo.iter().for_each(|t| hash.numbers(&t.numbers()));
            for flow in group.globals().iter().map(Global::flow) {
                hash.numbers(&flow.numbers());
            }
            for warm in &group.warm {
                let (matter, probe, feature, nodes) = warm.key;
                for n in [matter.0, probe, feature].iter().chain(&nodes) {
                    hash.count(u64::from(*n));
                }
                hash.number(warm.impulse);
                hash.number(warm.h);
                hash.vectors(&[warm.rub]);
            }
            if let Some(folding) = &group.folding {
                folding.see(|bits| hash.count(bits));
            }
            for (capsule, triangle, side) in group.skins.iter().flat_map(|s| s.patch.sides()) {
                hash.count(u64::from(*capsule) << 32 | u64::from(*triangle));
                hash.number(f64::from(*side));
            }
        }
        for film in &self.model.films {
            if let Some(membrane) = self.model.membrane(film.matter) {
                membrane.see(|bits| hash.count(bits));
            }
        }
        self.tears
            .as_flattened()
            .iter()
            .for_each(|n| hash.count(*n));
        for work in self.groups.iter().flat_map(|g| &g.works) {
            work.see(|bits| hash.count(bits));
        }
        for stroke in &self.strokes {
            hash.numbers(&[stroke.open, stroke.jaw]);
            if let Some((pose, way)) = &stroke.bitten {
                hash.vectors(&[pose.position]);
                hash.numbers(&pose.rotation.to_array());
                hash.number(*way);
            }
        }
        for lead in &self.leads {
            hash.count(u64::from(lead.is_led) | u64::from(lead.is_taken) << 1);
            lead.hand.iter().for_each(|h| hash.numbers(&h.to_array()));
        }
        for follower in &self.followers {
            hash.anchor(&follower.named);
            hash.count(u64::from(follower.now.is_some()));
            follower.now.iter().for_each(|now| hash.anchor(now));
        }
        hash.0.digest()
    }
}

/// Puts numbers into a hash, bit for bit.
struct Hasher(Xxh3);

impl Hasher {
    fn count(&mut self, n: u64) {
        self.0.update(&n.to_le_bytes());
    }

    fn number(&mut self, x: f64) {
        self.count(x.to_bits());
    }

    fn numbers(&mut self, list: &[f64]) {
        list.iter().for_each(|x| self.number(*x));
    }

    fn vectors(&mut self, list: &[DVec3]) {
        list.iter().for_each(|v| self.numbers(&v.to_array()));
    }

    fn anchor(&mut self, anchor: &Anchor) {
        self.count(u64::from(anchor.matter.0));
        match anchor.at {
            Local::Node(node) => self.count(u64::from(node)),
            Local::Frame(node, offset) => {
                self.count(u64::from(node));
                self.vectors(&[offset]);
            }
            Local::Triangle(nodes, weights) => {
                nodes.iter().for_each(|n| self.count(u64::from(*n)));
                self.numbers(&weights);
            }
            Local::Tetrahedron(nodes, weights) => {
                nodes.iter().for_each(|n| self.count(u64::from(*n)));
                self.numbers(&weights);
            }
        }
    }
}

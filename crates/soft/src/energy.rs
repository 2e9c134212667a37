//! The energy of a net.
//!
//! Springs, shape memory and torsion are gradients of what is summed here, bending nearly so ([`element::bending_energy`]). A
//! net without dampers therefore keeps its energy, up to the error of the integrator, whether nodes have fathers or not.

use crate::{Net, element};
use glam::DVec3;
use trocar_dynamics::{Matter, Nodes};

impl Net {
    /// Energy of springs, shape memory, torsion and bending, J: what would be given back if nothing flew and what is
    /// driven stayed as it is at `time` s.
    pub fn elastic_energy(&self, nodes: &Nodes, time: f64) -> f64 {
        let at = |n: u32| nodes.position[n as usize];
        let mut energy = self.links_energy(nodes, time);
        for (bend, rest) in self.bends_at_rest() {
            let [i, k, j] = bend.nodes.map(at);
            energy += element::bending_energy(k - i, k - j, bend.constant, rest);
        }
        for torsion in self.torsions() {
            let z = torsion.frame as usize;
            let reference = self.reference(nodes, z);
            energy += element::torsion_energy(nodes.orientation[z], reference, torsion.constant);
        }
        for (twist, axis) in self.twists() {
            let [a, b] = twist.along.map(at);
            let axis = nodes.orientation[twist.frame as usize] * *axis;
            energy += element::twist_energy(axis, b - a, twist.constant);
        }
        for i in 0..nodes.len() {
            let apart = nodes.position[i] - self.base_position(nodes, i);
            energy += element::memory_energy(apart, self.memory(i), self.memory_base(i));
        }
        energy
    }

    /// Energy of motion, J: of every node's mass, and of the turning of frames. A node that copies
    /// another has none of its own: its mass moves with its leader's.
    pub fn kinetic_energy(&self, nodes: &Nodes) -> f64 {
        let masses = self.masses();
        let mut energy = 0.0;
        for i in 0..nodes.len() {
            if self.leader(i as u32).is_none() {
                energy += masses.kinetic_energy(nodes, i);
            }
            if let Some(inertia) = masses.rigid().get(i).and_then(|r| r.inertia) {
                let spin = nodes.orientation[i].conjugate() * nodes.spin[i];
                energy += 0.5 * (inertia * spin).dot(spin);
            }
        }
        energy
    }

    /// Energy of height, J, against the net at rest; `gravity` in m/s². Zero if gravity does not act on it.
    pub fn gravity_energy(&self, nodes: &Nodes, gravity: DVec3) -> f64 {
        if !self.falls() {
            return 0.0;
        }
        let rest = &self.rest().position;
        let moments = nodes.position.iter().zip(rest).enumerate();
        -moments
            .map(|(i, (now, then))| self.weight(i) * gravity.dot(*now - *then))
            .sum::<f64>()
    }
}

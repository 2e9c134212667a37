//! The energy of a scene.

use crate::Simulation;
use serde::Serialize;
use trocar_dynamics::MatterId;

/// Energy, J.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Energy {
    /// Of motion.
    pub kinetic: f64,
    /// Of height, against the start.
    pub gravity: f64,
    /// Of springs, shape memory, torsion, bending and what sticks, and of elements between different things.
    pub elastic: f64,
}

impl Energy {
    /// All of it, J.
    pub fn total(&self) -> f64 {
        self.kinetic + self.gravity + self.elastic
    }
}

impl Simulation {
    /// The energy of everything that moves. Ties, grips, pulls and instruments hold none.
    ///
    /// A scene of tissues and bodies without damping keeps it (see [`trocar_soft::energy`]).
    pub fn energy(&self) -> Energy {
        let mut energy = Energy::default();
        for (m, nodes) in self.state.nodes.iter().enumerate() {
            let matter = MatterId(m as u32);
            if let Some(net) = self.model.net(matter) {
                energy.kinetic += net.kinetic_energy(nodes);
                energy.gravity += net.gravity_energy(nodes, self.model.gravity);
                energy.elastic += net.elastic_energy(nodes, self.state.time);
            } else if let Some(membrane) = self.model.membrane(matter) {
                energy.kinetic += membrane.kinetic_energy(nodes);
                energy.gravity += membrane.gravity_energy(nodes, self.model.gravity);
                energy.elastic += membrane.elastic_energy(nodes);
            } else if !self.model.matters[m].is_prescribed() {
                let masses = self.model.matters[m].masses();
                let start = &self.model.start[m].position;
                for (i, mass) in masses.mass().iter().enumerate() {
                    let fallen = nodes.position[i] - start[i];
                    energy.kinetic += masses.kinetic_energy(nodes, i);
                    energy.gravity -= mass * self.model.gravity.dot(fallen);
                }
                if let Some(bodies) = self.model.bodies_of(matter) {
                    energy.elastic += bodies.elastic_energy(nodes);
                }
                for (z, rigid) in masses.rigid().iter().enumerate() {
                    let spin = nodes.orientation[z].conjugate() * nodes.spin[z];
                    energy.kinetic += 0.5 * (rigid.inertia.unwrap_or_default() * spin).dot(spin);
                }
            }
        }
        let sight = self.sight();
        for global in self.globals() {
            energy.elastic += global.energy(&sight, &self.state.nodes, self.state.time);
        }
        energy
    }
}

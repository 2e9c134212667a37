//! Forces and energy of a membrane.

use super::kernel::{hinge, spring, tension, tension_forces};
use super::{Bending, Material, Membrane};
use glam::DVec3;
use trocar_dynamics::{Field, Masses, Matter, Nodes};

impl Matter for Membrane {
    fn masses(&self) -> &Masses {
        &self.masses
    }

    fn force(&self, nodes: &mut Nodes, field: &Field) {
        let Nodes {
            position, force, ..
        } = nodes;
        force.fill(DVec3::ZERO);
        if self.gravity {
            for (n, f) in force.iter_mut().enumerate() {
                if self.live[n] {
                    *f = field.gravity * self.masses.mass()[n];
                }
            }
        }
        self.stretch(position, force);
        self.bend(position, force);
        self.hold(position, force);
    }

    fn stable_step(&self) -> f64 {
        self.stable_step
    }
}

impl Membrane {
    fn stretch(&self, position: &[DVec3], force: &mut [DVec3]) {
        match self.material {
            Material::Springs { .. } => {
                for s in &self.springs {
                    pull(s.ends, s.rest_length, s.stiffness, position, force);
                }
            }
            Material::Sheet {
                stiffness, poisson, ..
            } => {
                for (flat, corners) in self.flats.iter().zip(&self.corners) {
                    if flat.area == 0.0 {
                        continue;
                    }
                    let corners = corners.map(|n| n as usize);
                    let t = tension(flat, corners.map(|n| position[n]), stiffness, poisson);
                    if t.principal[0] == 0.0 {
                        continue;
                    }
                    for (n, f) in corners.into_iter().zip(tension_forces(flat, &t)) {
                        force[n] += f;
                    }
                }
            }
        }
    }

    fn bend(&self, position: &[DVec3], force: &mut [DVec3]) {
        match self.bending {
            Bending::None => {}
            Bending::Springs { stiffness } => {
                for bend in &self.bends.springs {
                    let rest = self.prestress * bend.rest_length;
                    pull(bend.nodes, rest, stiffness, position, force);
                }
            }
            Bending::Hinges { .. } => {
                for h in &self.hinges {
                    if h.stiffness == 0.0 {
                        continue;
                    }
                    let nodes = h.nodes.map(|n| n as usize);
                    let (bent, gradients) = hinge(nodes.map(|n| position[n]));
                    let moment = h.stiffness * (bent - h.rest_bend);
                    for (n, gradient) in nodes.into_iter().zip(gradients) {
                        force[n] -= gradient * moment;
                    }
                }
            }
        }
    }

    /// Homing (W65, M8): f = k (H − x).
    fn hold(&self, position: &[DVec3], force: &mut [DVec3]) {
        if self.adhesion.is_none() {
            return;
        }
        for (n, f) in force.iter_mut().enumerate() {
            let hold = self.homing.hold[n] * self.homing.left[n];
            if hold > 0.0 && self.live[n] {
                *f += (self.homing_position(n) - position[n]) * hold;
            }
        }
    }

    /// Energy of stretching, bending and sticking, J: what would be given back.
    pub fn elastic_energy(&self, nodes: &Nodes) -> f64 {
        let at = |n: u32| nodes.position[n as usize];
        let of_spring = |ends: [u32; 2], rest: f64, stiffness: f64| {
            let stretch = at(ends[0]).distance(at(ends[1])) - rest;
            0.5 * stiffness * stretch * stretch
        };
        let mut energy: f64 = match self.material {
            Material::Springs { .. } => self
                .springs
                .iter()
                .map(|s| of_spring(s.ends, s.rest_length, s.stiffness))
                .sum(),
            Material::Sheet {
                stiffness, poisson, ..
            } => self
                .flats
                .iter()
                .zip(&self.corners)
                .filter(|(flat, _)| flat.area > 0.0)
                .map(|(flat, corners)| {
                    flat.area * tension(flat, corners.map(at), stiffness, poisson).energy
                })
                .sum(),
        };
        energy += match self.bending {
            Bending::None => 0.0,
            Bending::Springs { stiffness } => self
                .bends
                .springs
                .iter()
                .map(|b| of_spring(b.nodes, self.prestress * b.rest_length, stiffness))
                .sum(),
            Bending::Hinges { .. } => self
                .hinges
                .iter()
                .filter(|h| h.stiffness > 0.0)
                .map(|h| {
                    let bent = hinge(h.nodes.map(at)).0 - h.rest_bend;
                    0.5 * h.stiffness * bent * bent
                })
                .sum(),
        };
        if self.adhesion.is_some() {
            for n in (0..nodes.len()).filter(|n| self.live[*n]) {
                let hold = self.homing.hold[n] * self.homing.left[n];
                let apart = nodes.position[n].distance_squared(self.homing_position(n));
                energy += 0.5 * hold * apart;
            }
        }
        energy
    }

    /// Shows every spring along an edge: both ends (m) and what it draws them together with (N). A film has none.
    pub fn see_springs(&self, nodes: &Nodes, mut see: impl FnMut(DVec3, DVec3, f64)) {
        for s in self.springs.iter().filter(|s| s.rest_length > 0.0) {
            let [a, b] = s.ends.map(|n| nodes.position[n as usize]);
            see(a, b, s.stiffness * (a.distance(b) - s.rest_length));
        }
    }

    /// Energy of height against where the sheet lies, J; none if gravity does not act on it.
    pub fn gravity_energy(&self, nodes: &Nodes, gravity: DVec3) -> f64 {
        if !self.gravity {
            return 0.0;
        }
        let live = (0..nodes.len()).filter(|n| self.live[*n]);
        live.map(|n| {
            let fallen = nodes.position[n] - self.sheet.rest(self.sheet.node_at(n));
            -self.masses.mass()[n] * gravity.dot(fallen)
        })
        .sum()
    }

    /// Energy of motion, J.
    pub fn kinetic_energy(&self, nodes: &Nodes) -> f64 {
        let moving = nodes
            .velocity
            .iter()
            .zip(self.masses.mass())
            .zip(&self.live);
        moving
            .filter(|(_, live)| **live)
            .map(|((v, m), _)| 0.5 * m * v.length_squared())
            .sum()
    }
}

#[inline]
fn pull(ends: [u32; 2], rest_length: f64, stiffness: f64, position: &[DVec3], force: &mut [DVec3]) {
    let [a, b] = ends.map(|n| n as usize);
    let (f, _) = spring(position[b] - position[a], rest_length, stiffness);
    force[a] += f;
    force[b] -= f;
}

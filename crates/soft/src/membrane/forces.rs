//! Forces and energy of a membrane.

use super::kernel::{hinge, spring, tension, tension_forces};
use super::{Bending, Hinge, Material, Membrane};
use glam::DVec3;
use trocar_dynamics::{Field, Masses, Matter, Nodes};
use trocar_math::{Four, f64x4, four::LANES};

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
        2.0 / self.crest.top().sqrt()
    }
}

impl Membrane {
    fn stretch(&self, position: &[DVec3], force: &mut [DVec3]) {
        match self.material {
            Material::Springs { .. } => {
                let (fours, rest) = self.springs.as_chunks::<LANES>();
                for [p, q, r, s] in fours {
                    let ends = [p.ends, q.ends, r.ends, s.ends];
                    let lengths = [p.rest_length, q.rest_length, r.rest_length, s.rest_length];
                    let stiffness = [p.stiffness, q.stiffness, r.stiffness, s.stiffness];
                    let (lengths, stiffness) = (f64x4::new(lengths), f64x4::new(stiffness));
                    pull_four(&ends, lengths, stiffness, position, force);
                }
                for s in rest {
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
                let (fours, rest) = self.bends.springs.as_chunks::<LANES>();
                let (scale, all) = (f64x4::splat(self.prestress), f64x4::splat(stiffness));
                for [p, q, r, s] in fours {
                    let ends = [p.nodes, q.nodes, r.nodes, s.nodes];
                    let lengths = [p.rest_length, q.rest_length, r.rest_length, s.rest_length];
                    pull_four(&ends, scale * f64x4::new(lengths), all, position, force);
                }
                for bend in rest {
                    let rest = self.prestress * bend.rest_length;
                    pull(bend.nodes, rest, stiffness, position, force);
                }
            }
            Bending::Hinges { .. } => {
                for h in &self.hinges {
                    if h.stiffness == 0.0 {
                        continue;
                    }
                    if h.is_flat() {
                        unbend(h, position, force);
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
                    if h.is_flat() {
                        return 0.5 * h.stiffness * bend_of(h, &nodes.position).length_squared();
                    }
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

/// Σ c x of a hinge that is flat at rest.
#[inline]
fn bend_of(hinge: &Hinge, position: &[DVec3]) -> DVec3 {
    let part = |k: usize| position[hinge.nodes[k] as usize] * hinge.slopes[k];
    (part(0) + part(1)) + (part(2) + part(3))
}

/// Forces of a hinge that is flat at rest, −k c Σ c x.
#[inline]
fn unbend(hinge: &Hinge, position: &[DVec3], force: &mut [DVec3]) {
    let moment = bend_of(hinge, position) * hinge.stiffness;
    for (n, slope) in hinge.nodes.into_iter().zip(hinge.slopes) {
        force[n as usize] -= moment * slope;
    }
}

/// [`pull`] of four springs. One without length pulls nowhere.
#[inline(always)]
fn pull_four(
    ends: &[[u32; 2]; LANES],
    rest_length: f64x4,
    stiffness: f64x4,
    position: &[DVec3],
    force: &mut [DVec3],
) {
    let [p, q, r, s] = ends;
    let at = |k: usize| {
        let at = |ends: &[u32; 2]| &position[ends[k] as usize];
        Four::of(at(p), at(q), at(r), at(s))
    };
    let apart = at(1) - at(0);
    let length = apart.length();
    let tension = stiffness * (length - rest_length);
    let pulls = apart.times(tension / length.fast_max(f64x4::splat(SHORTEST)));
    for ([a, b], pull) in ends.iter().zip(pulls.vectors()) {
        force[*a as usize] += pull;
        force[*b as usize] -= pull;
    }
}

/// Lengths below this, m, are none: so that nothing is divided by zero.
const SHORTEST: f64 = 1e-200;

#[inline]
fn pull(ends: [u32; 2], rest_length: f64, stiffness: f64, position: &[DVec3], force: &mut [DVec3]) {
    let [a, b] = ends.map(|n| n as usize);
    let (f, _) = spring(position[b] - position[a], rest_length, stiffness);
    force[a] += f;
    force[b] -= f;
}

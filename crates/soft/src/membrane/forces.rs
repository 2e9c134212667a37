//! Forces and energy of a membrane.

use super::division::Window;
use super::kernel::{hinge, spring, tension, tension_forces};
use super::{Bending, Hinge, Material, Membrane};
use glam::DVec3;
use trocar_dynamics::{Crew, Field, Masses, Matter, Nodes};
use trocar_math::f64x4;

/// Membranes with fewer nodes than this are not worth a second thread: handing work over costs microseconds.
const WORTH_A_CREW: usize = 4096;

impl Matter for Membrane {
    fn masses(&self) -> &Masses {
        &self.masses
    }

    fn force(&self, nodes: &mut Nodes, field: &Field) {
        self.gather(nodes, field, None);
    }

    fn force_by(&self, nodes: &mut Nodes, field: &Field, crew: &Crew) {
        self.gather(nodes, field, Some(crew));
    }

    fn stable_step(&self) -> f64 {
        2.0 / self.crest.top().sqrt()
    }

    fn advance_by(&self, nodes: &mut Nodes, h: f64, crew: &Crew) -> bool {
        self.masses.advance_by(nodes, h, crew)
    }
}

impl Membrane {
    /// [`Matter::force`] with the help of a crew, which changes no bit of the result: every [share](super::division::Share) sums up its own parts, every [span](super::spans) of nodes
    /// then its springs, its hinges and what the shares give it, in order.
    fn gather(&self, nodes: &mut Nodes, field: &Field, crew: Option<&Crew>) {
        let Nodes {
            position,
            force,
            lanes,
            ..
        } = nodes;
        let position = position.as_slice();
        let crew = crew.filter(|_| position.len() >= WORTH_A_CREW);
        let ends = match self.material {
            Material::Springs { .. } => &[],
            Material::Sheet { .. } => self.division.ends(),
        };
        lanes.resize(ends.last().copied().unwrap_or(0), f64x4::ZERO);
        Crew::parts(crew, lanes, ends, |k, lanes| {
            self.pull_share(k, position, lanes);
        });
        let lanes = lanes.as_slice();
        Crew::parts(crew, force, self.spans.ends(), |span, force| {
            let first = self.spans.nodes(span).start;
            if self.gravity || self.adhesion.is_some() || self.floor.is_some() {
                for (k, f) in force.iter_mut().enumerate() {
                    *f = self.own_force(first + k, position[first + k], field);
                }
            } else {
                force.fill(DVec3::ZERO);
            }
            self.woven.pull(span, first, position, force);
            self.woven_bends.pull(span, first, position, force);
            self.creases
                .unbend(span, first, position, &self.hinges, force);
            for (begin, given) in self.division.given(first..first + force.len(), lanes) {
                for (f, lane) in force[begin..].iter_mut().zip(given) {
                    let [x, y, z, _] = lane.to_array();
                    *f += DVec3::new(x, y, z);
                }
            }
        });
        self.pull_strays(position, force);
    }

    /// Tension of the triangles of a share, on the nodes of its window.
    fn pull_share(&self, k: usize, position: &[DVec3], lanes: &mut [f64x4]) {
        let share = self.division.share(k);
        let Material::Sheet {
            stiffness, poisson, ..
        } = self.material
        else {
            return;
        };
        lanes.fill(f64x4::ZERO);
        let window = Window {
            first: share.first() as u32,
            count: lanes.len() as u32,
        };
        let corners = share.triangles(&self.corners);
        for (flat, corners) in share.triangles(&self.flats).iter().zip(corners) {
            if flat.area == 0.0 {
                continue;
            }
            let Some(local) = window.locals(*corners) else {
                continue;
            };
            let places = corners.map(|n| position[n as usize]);
            let t = tension(flat, places, stiffness, poisson);
            if t.principal[0] == 0.0 {
                continue;
            }
            for (n, f) in local.into_iter().zip(tension_forces(flat, &t)) {
                lanes[n] += f64x4::new([f.x, f.y, f.z, 0.0]);
            }
        }
    }

    /// Forces of what tears have left outside the windows of all shares, in order of place.
    fn pull_strays(&self, position: &[DVec3], force: &mut [DVec3]) {
        let strays = self.division.strays();
        match self.material {
            Material::Springs { .. } => {
                for e in &strays.springs {
                    let s = &self.springs[*e as usize];
                    pull(s.ends, s.rest_length, s.stiffness, position, force);
                }
            }
            Material::Sheet {
                stiffness, poisson, ..
            } => {
                for t in strays.triangles.iter().map(|t| *t as usize) {
                    let (flat, corners) = (&self.flats[t], self.corners[t]);
                    let corners = corners.map(|n| n as usize);
                    let places = corners.map(|n| position[n]);
                    let t = tension(flat, places, stiffness, poisson);
                    for (n, f) in corners.into_iter().zip(tension_forces(flat, &t)) {
                        force[n] += f;
                    }
                }
            }
        }
        match self.bending {
            Bending::None => {}
            Bending::Springs { stiffness } => {
                for b in &strays.bends {
                    let b = &self.bends.springs[*b as usize];
                    let rest = self.prestress * b.rest_length;
                    pull(b.nodes, rest, stiffness, position, force);
                }
            }
            Bending::Hinges { .. } => {
                for e in &strays.hinges {
                    let h = &self.hinges[*e as usize];
                    for (n, f) in h.nodes.into_iter().zip(hinge_forces(h, position)) {
                        force[n as usize] += f;
                    }
                }
            }
        }
    }

    /// What acts on a node by itself: gravity, its homing (W65, M8), f = k (H − x), and the ground that it can't sink into.
    #[inline(always)]
    fn own_force(&self, node: usize, position: DVec3, field: &Field) -> DVec3 {
        let mut force = DVec3::ZERO;
        if (self.gravity || self.adhesion.is_some()) && self.live[node] {
            if self.gravity {
                force = field.gravity * self.masses.mass()[node];
            }
            let hold = self.homing.hold[node] * self.homing.left[node];
            if hold > 0.0 {
                force += (self.homing_position(node) - position) * hold;
            }
        }
        if self.live[node] {
            force += self.lifted(position).1;
        }
        force
    }

    /// What the ground does to a node that has sunk into it: the energy of that, J, and the force that lifts it, N.
    #[inline(always)]
    pub(super) fn lifted(&self, position: DVec3) -> (f64, DVec3) {
        let Some(floor) = &self.floor else {
            return (0.0, DVec3::ZERO);
        };
        let (depth, up) = floor.depth(self.ground.local(position));
        if depth <= 0.0 {
            return (0.0, DVec3::ZERO);
        }
        let push = floor.stiffness * depth;
        (0.5 * push * depth, self.ground.rotation * up * push)
    }

    /// Energy of stretching, bending, sticking and lying on the ground, J: what would be given back.
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
                .map(|b| {
                    let rest = self.prestress * b.rest_length;
                    of_spring(b.nodes, rest, stiffness)
                })
                .sum(),
            Bending::Hinges { .. } => self
                .hinges
                .iter()
                .filter(|h| h.stiffness > 0.0)
                .map(|h| hinge_energy(h, &nodes.position))
                .sum(),
        };
        if self.adhesion.is_some() {
            for n in (0..nodes.len()).filter(|n| self.live[*n]) {
                let hold = self.homing.hold[n] * self.homing.left[n];
                let apart = nodes.position[n].distance_squared(self.homing_position(n));
                energy += 0.5 * hold * apart;
            }
        }
        if self.floor.is_some() {
            for n in (0..nodes.len()).filter(|n| self.live[*n]) {
                energy += self.lifted(nodes.position[n]).0;
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

/// Energy of a hinge, J.
pub(super) fn hinge_energy(h: &Hinge, position: &[DVec3]) -> f64 {
    if h.is_flat() {
        return 0.5 * h.stiffness * bend_of(h, position).length_squared();
    }
    let bent = hinge(h.nodes.map(|n| position[n as usize])).0 - h.rest_bend;
    0.5 * h.stiffness * bent * bent
}

/// Σ c x of a hinge that is flat at rest.
#[inline]
fn bend_of(hinge: &Hinge, position: &[DVec3]) -> DVec3 {
    let part = |k: usize| position[hinge.nodes[k] as usize] * hinge.slopes[k];
    (part(0) + part(1)) + (part(2) + part(3))
}

/// Forces of a hinge on its nodes.
pub(super) fn hinge_forces(h: &Hinge, position: &[DVec3]) -> [DVec3; 4] {
    if h.is_flat() {
        let moment = bend_of(h, position) * h.stiffness;
        return h.slopes.map(|slope| moment * -slope);
    }
    straighten(h, position)
}

/// Forces of a hinge that is bent at rest, on its nodes.
fn straighten(h: &Hinge, position: &[DVec3]) -> [DVec3; 4] {
    let (bent, gradients) = hinge(h.nodes.map(|n| position[n as usize]));
    let moment = h.stiffness * (bent - h.rest_bend);
    gradients.map(|gradient| gradient * -moment)
}

/// Pull of one spring.
fn pull(ends: [u32; 2], rest_length: f64, stiffness: f64, position: &[DVec3], force: &mut [DVec3]) {
    let [a, b] = ends.map(|n| n as usize);
    let (f, _) = spring(position[b] - position[a], rest_length, stiffness);
    force[a] += f;
    force[b] -= f;
}

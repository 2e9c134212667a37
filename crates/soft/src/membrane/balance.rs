//! What an edit does to the energy: never more of it than before.
//!
//! An edit is made on rest positions, and places in space follow by barycentric weights. That alone may add energy nobody gave: the new triangles or springs are strained
//! otherwise than the old ones. So it is settled at once, by the first of these that suffices:
//!
//! 1. A spring at an edge that an edit has touched is as strong as the sheet beside it is wide: c · (A + A′) / (√¾ l²), at most c. On equilateral triangles that is c
//!    inside and c/2 on a rim, and a spring that is split or parted has no more energy than before. (In the source it would be doubled, W41.)
//! 2. Nodes that came or moved go on to where forces draw them, by steps that can't go too far.
//! 3. What moves near the edit is slowed against its mean velocity.
//! 4. What is left is owed, and taken out of the motion of the whole membrane as soon as there is any. (To weaken what was touched instead would turn tears aside.)

use super::forces::{hinge_energy, hinge_forces};
use super::kernel::{spring, tension, tension_forces};
use super::{Bending, Material, Membrane};
use glam::DVec3;
use trocar_dynamics::Nodes;
use trocar_mesh::sheet::{EdgeId, Event, NodeStep, TriangleId};

/// Steps of nodes that came or moved: most edits need one or two.
const STEPS: usize = 12;

/// How far they go at most, in parts of the size of a triangle: what holds against them, as a tool does, is not seen here.
const FARTHEST: f64 = 0.03;

/// Strain that is rounding of places. (In the tissue: a thousandth of an atom in a millimetre.)
const ROUNDING: f64 = 1e-9;

/// What an edit changed, by place, in order; and what energy it had.
#[derive(Clone, Debug, Default)]
pub(super) struct Patch {
    edges: Vec<usize>,
    triangles: Vec<usize>,
    nodes: Vec<usize>,
    bends: Vec<usize>,
    /// Nodes that came or moved and are free to, and the forces on them, N.
    loose: Vec<(usize, DVec3)>,
    before: Energy,
}

/// Energy of a patch, J.
#[derive(Clone, Copy, Debug, Default)]
struct Energy {
    /// Of stretching and bending.
    elastic: f64,
    /// Of sticking, and of lying on the ground.
    sticking: f64,
    moving: f64,
    /// Of a strain that is rounding.
    rounding: f64,
}

impl Energy {
    /// Adds the energy of a part, and that of a strain that is rounding.
    fn add(&mut self, (elastic, rounding): (f64, f64)) {
        self.elastic += elastic;
        self.rounding += rounding;
    }

    fn sum(&self) -> f64 {
        self.elastic + self.sticking + self.moving
    }
}

impl Patch {
    /// Nodes by place that came, moved, went, or have other neighbours.
    pub(super) fn touched(&self) -> impl Iterator<Item = usize> + '_ {
        self.nodes.iter().copied()
    }

    /// Adds a force to a node, if it is loose.
    fn push(&mut self, node: usize, force: DVec3) {
        if let Some((_, sum)) = self.loose.iter_mut().find(|(n, _)| *n == node) {
            *sum += force;
        }
    }
}

impl Membrane {
    /// Part of the material's constant that the spring of an edge has after an edit; areas and `length` (m) as they are for forces, scaled by the prestress.
    pub(super) fn strength_of(&self, edge: EdgeId, length: f64) -> f64 {
        let (one, two) = self.sheet.beside(edge);
        let of = |t: TriangleId| self.flats[t.slot()].area;
        let areas = of(one) + two.map_or(0.0, of);
        let strength = areas / (0.75_f64.sqrt() * length * length);
        // A regular sheet stays one.
        if strength > 1.0 - 1e-6 { 1.0 } else { strength }
    }

    /// Takes note of what an edit will change, and its energy, before anything has followed it.
    pub(super) fn begin_patch(&self, event: &Event, patch: &mut Patch, nodes: &Nodes) {
        let edges = event.edges.iter().chain(&event.edges_gone);
        let triangles = event.before.iter().map(|old| &old.triangle);
        patch.edges.clear();
        patch.edges.extend(edges.map(|e| e.slot()));
        patch.triangles.clear();
        patch
            .triangles
            .extend(triangles.chain(&event.after).map(|t| t.slot()));
        patch.nodes.clear();
        patch.nodes.extend(event.nodes.iter().map(|n| n.slot()));
        for step in &event.steps {
            let (NodeStep::Made(n, _) | NodeStep::Moved(n, _) | NodeStep::Removed(n)) = step;
            patch.nodes.push(n.slot());
        }
        for list in [&mut patch.edges, &mut patch.triangles, &mut patch.nodes] {
            list.sort_unstable();
            list.dedup();
        }
        patch.loose.clear();
        self.bends.around(&self.sheet, event, &mut patch.bends);
        patch.before = self.work_out::<false>(patch, nodes);
    }

    /// Settles the energy of an edit, when everything has followed it.
    pub(super) fn balance(&mut self, event: &Event, patch: &mut Patch, nodes: &mut Nodes) {
        for step in &event.steps {
            if let NodeStep::Made(n, _) | NodeStep::Moved(n, _) = step
                && self.sheet.has_node(*n)
                && !self.fixed[n.slot()]
                && !patch.loose.iter().any(|(known, _)| *known == n.slot())
            {
                patch.loose.push((n.slot(), DVec3::ZERO));
            }
        }
        self.bends.around(&self.sheet, event, &mut patch.bends);
        let now = self.work_out::<false>(patch, nodes);
        // Sums are rounded, too.
        let allowed = patch.before.sum() * (1.0 - 1e-14) + now.rounding;
        let mut excess = now.sum() - allowed;
        if excess > 0.0 && !patch.loose.is_empty() {
            self.keep_loose(patch);
            let mut part = self.work_out::<true>(patch, nodes).sum();
            for _ in 0..STEPS {
                for (n, force) in &patch.loose {
                    // The energy rises by no more than ½ Σ λ |x|² above what the forces say: half of what they promise is kept.
                    let node = self.sheet.node_at(*n);
                    let most = FARTHEST / STEPS as f64 * self.area_of(node).sqrt();
                    let way = *force / self.stiffness_at(node);
                    nodes.position[*n] += way.clamp_length_max(most);
                }
                let less = self.work_out::<true>(patch, nodes).sum();
                excess += less - part;
                part = less;
                if excess <= 0.0 {
                    break;
                }
            }
        }
        if excess <= 0.0 {
            return;
        }
        let touched = patch.nodes.iter().copied();
        self.debt += excess - slow_down(self, touched, nodes, excess);
    }

    /// Leaves of a patch the parts that loose nodes have a share in: the others do not change as those move.
    fn keep_loose(&self, patch: &mut Patch) {
        let Patch {
            loose,
            edges,
            triangles,
            bends,
            ..
        } = patch;
        let is_loose = |n: u32| loose.iter().any(|(known, _)| *known == n as usize);
        edges.retain(|e| {
            let of_spring = self
                .springs
                .get(*e)
                .is_some_and(|s| s.ends.into_iter().any(is_loose));
            of_spring
                || self
                    .hinges
                    .get(*e)
                    .is_some_and(|h| h.nodes.into_iter().any(is_loose))
        });
        triangles.retain(|t| {
            self.corners
                .get(*t)
                .is_some_and(|c| c.iter().any(|n| is_loose(*n)))
        });
        bends.retain(|b| self.bends.springs[*b].nodes.into_iter().any(is_loose));
    }

    /// Energy that edits have added and nothing has made up for yet, J.
    pub fn debt(&self) -> f64 {
        self.debt
    }

    /// Takes what is owed out of how nodes move against each other, half of it at most.
    pub(super) fn pay(&mut self, nodes: &mut Nodes) {
        if self.debt > 0.0 {
            let most = 0.5 * self.kinetic_energy(nodes);
            let paid = slow_down(self, 0..self.live.len(), nodes, self.debt.min(most));
            self.debt = (self.debt - paid).max(0.0);
        }
    }

    /// Energy of a patch; or, with the `FORCES` on its loose nodes, that of the parts that these have a share in.
    fn work_out<const FORCES: bool>(&self, patch: &mut Patch, nodes: &Nodes) -> Energy {
        let position = &nodes.position;
        let at = |n: u32| position[n as usize];
        patch.loose.iter_mut().for_each(|(_, f)| *f = DVec3::ZERO);
        let mut energy = Energy::default();
        let of_spring = |patch: &mut Patch, ends: [u32; 2], rest: f64, stiffness: f64| {
            let (force, pull) = spring(at(ends[1]) - at(ends[0]), rest, stiffness);
            if FORCES {
                patch.push(ends[0] as usize, force);
                patch.push(ends[1] as usize, -force);
            }
            let unseen = ROUNDING * rest;
            (
                0.5 * pull * pull / stiffness,
                0.5 * stiffness * unseen * unseen,
            )
        };
        for k in 0..patch.edges.len() {
            let e = patch.edges[k];
            let known = self.springs.get(e).filter(|s| s.stiffness > 0.0);
            if let Some(s) = known {
                energy.add(of_spring(patch, s.ends, s.rest_length, s.stiffness));
            }
            let known = self.hinges.get(e).filter(|h| h.stiffness > 0.0);
            if let Some(h) = known {
                energy.elastic += hinge_energy(h, position);
                if FORCES {
                    let forces = hinge_forces(h, position);
                    let nodes = h.nodes.into_iter().zip(forces);
                    nodes.for_each(|(n, f)| patch.push(n as usize, f));
                }
            }
        }
        if let Material::Sheet {
            stiffness, poisson, ..
        } = self.material
        {
            for k in 0..patch.triangles.len() {
                let t = patch.triangles[k];
                let Some(flat) = self.flats.get(t).filter(|f| f.area > 0.0) else {
                    continue;
                };
                let corners = self.corners[t];
                let pulled = tension(flat, corners.map(at), stiffness, poisson);
                let unseen = 0.5 * stiffness * ROUNDING * ROUNDING;
                energy.add((flat.area * pulled.energy, flat.area * unseen));
                if FORCES {
                    let forces = tension_forces(flat, &pulled);
                    let nodes = corners.into_iter().zip(forces);
                    nodes.for_each(|(n, f)| patch.push(n as usize, f));
                }
            }
        }
        if let Bending::Springs { stiffness } = self.bending {
            for k in 0..patch.bends.len() {
                let bend = self.bends.springs[patch.bends[k]];
                if bend.is_there() {
                    let rest = self.prestress * bend.rest_length;
                    energy.add(of_spring(patch, bend.nodes, rest, stiffness));
                }
            }
        }
        let count = if FORCES {
            patch.loose.len()
        } else {
            patch.nodes.len()
        };
        for k in 0..count {
            let n = if FORCES {
                patch.loose[k].0
            } else {
                patch.nodes[k]
            };
            if self.live.get(n) != Some(&true) || n >= self.masses.len() {
                continue;
            }
            let mass = self.masses.mass()[n];
            energy.moving += 0.5 * mass * nodes.velocity[n].length_squared();
            let hold = self.homing.hold[n] * self.homing.left[n];
            if hold > 0.0 {
                let home = self.homing_position(n) - position[n];
                energy.sticking += 0.5 * hold * home.length_squared();
                patch.push(n, home * hold);
            }
            let (pressed, lift) = self.lifted(position[n]);
            if pressed > 0.0 {
                energy.sticking += pressed;
                patch.push(n, lift);
            }
        }
        energy
    }
}

/// Takes up to `excess` J out of how some nodes move against each other; how much it was.
fn slow_down(
    membrane: &Membrane,
    of: impl Iterator<Item = usize> + Clone,
    nodes: &mut Nodes,
    excess: f64,
) -> f64 {
    let of = of.filter(|n| membrane.live[*n] && !membrane.fixed[*n]);
    let mass = membrane.masses.mass();
    let (sum, momentum) = of.clone().fold((0.0, DVec3::ZERO), |(sum, momentum), n| {
        (sum + mass[n], momentum + nodes.velocity[n] * mass[n])
    });
    let mean = momentum / f64::max(sum, f64::MIN_POSITIVE);
    let relative: f64 = of
        .clone()
        .map(|n| 0.5 * mass[n] * (nodes.velocity[n] - mean).length_squared())
        .sum();
    if relative <= 0.0 {
        return 0.0;
    }
    let taken = relative.min(excess);
    let left = (1.0 - taken / relative).sqrt();
    for n in of {
        nodes.velocity[n] = mean + (nodes.velocity[n] - mean) * left;
    }
    taken
}

//! How long a substep may be.
//!
//! Every part of the energy that is ½ k y², with y moved by node i by the gradient gᵢ, resists by x·K x = k (Σ gᵢ·xᵢ)² ≤ k S Σ |gᵢ| |xᵢ|²,
//! S = Σ |gᵢ|. So the greatest frequency is bounded by what meets at a node: ω² ≤ max Σ k S |gᵢ| / mᵢ. For springs that is 2 Σ c / m
//! whatever way they point: a bound for every configuration, and within a factor of two of the truth on a flat sheet.

use super::{Bending, Material, Membrane};
use glam::{DMat3, DVec3};
use trocar_dynamics::Nodes;
use trocar_math::{rotation::outer, symmetric::principal};
use trocar_mesh::sheet::NodeId;

/// Tension adds to the stiffness across itself. A sheet stretched by half as much again is far past tearing.
const STRETCH: f64 = 1.5;

impl Membrane {
    /// Shortens the stable step to what `nodes` allow. It never grows: what was torn may have been the stiffest part, but a bound that
    /// looks at the neighbourhood alone can't know.
    pub(super) fn tighten(&mut self, nodes: &[NodeId]) {
        for node in nodes {
            let mass = self.masses.mass()[node.slot()];
            let square = self.stiffness_at(*node) / mass;
            self.stable_step = self.stable_step.min(2.0 / square.sqrt());
        }
    }

    /// Σ k S |g| at a node, N/m.
    fn stiffness_at(&self, node: NodeId) -> f64 {
        let n = node.slot() as u32;
        let mut sum = self.homing.hold[node.slot()];
        match self.material {
            Material::Springs { stiffness, .. } => {
                sum += 2.0 * stiffness * self.sheet.edges_around(node).count() as f64;
            }
            Material::Sheet {
                stiffness, poisson, ..
            } => {
                for triangle in self.sheet.triangles_around(node) {
                    let flat = &self.flats[triangle.slot()];
                    let [b, c] = flat.gradients;
                    let slopes = [-(b + c), b, c].map(|g| g.length());
                    let corners = self.corners[triangle.slot()];
                    let own = corners
                        .iter()
                        .position(|k| *k == n)
                        .map_or(0.0, |k| slopes[k]);
                    let modulus = STRETCH * stiffness / (1.0 - poisson);
                    sum += flat.area * modulus * slopes.iter().sum::<f64>() * own;
                }
            }
        }
        match self.bending {
            Bending::None => {}
            Bending::Springs { stiffness } => {
                // Each node has at most as many as pairs reach it through its neighbours.
                let mut reached: Vec<_> = self
                    .sheet
                    .edges_around(node)
                    .flat_map(|(_, k)| self.sheet.edges_around(k).map(|(_, other)| other))
                    .collect();
                reached.sort_unstable();
                reached.dedup();
                sum += 2.0 * stiffness * reached.len() as f64;
            }
            Bending::Hinges { .. } => {
                let mine = self.sheet.fan(node).flat_map(|(t, ..)| self.sheet.sides(t));
                for edge in mine {
                    let hinge = &self.hinges[edge.slot()];
                    if hinge.stiffness == 0.0 {
                        continue;
                    }
                    let places = hinge
                        .nodes
                        .map(|k| self.sheet.rest(self.sheet.node_at(k as usize)));
                    let slopes = super::kernel::hinge(places).1.map(|g| g.length());
                    let own = hinge.nodes.iter().position(|k| *k == n);
                    let own = own.map_or(0.0, |k| slopes[k]);
                    sum += hinge.stiffness * slopes.iter().sum::<f64>() * own;
                }
            }
        }
        sum
    }

    /// The longest stable substep in the configuration at hand, s, for membranes of springs: 2 c (n nᵀ + (1 − l₀/l)(1 − n nᵀ)) of all
    /// springs at a node, its greatest principal value over the mass. On a flat sheet of equilateral triangles that is exact
    /// (6 c/m). For sheets, [`Matter::stable_step`](trocar_dynamics::Matter::stable_step).
    pub fn stable_step_now(&self, nodes: &Nodes) -> f64 {
        if matches!(self.material, Material::Sheet { .. }) {
            return self.stable_step;
        }
        let mut sums: Vec<_> = (0..nodes.len())
            .map(|n| DMat3::from_diagonal(DVec3::splat(self.homing.hold[n])))
            .collect();
        let mut add = |ends: [u32; 2], rest_length: f64, stiffness: f64| {
            let [a, b] = ends.map(|n| n as usize);
            let apart = nodes.position[b] - nodes.position[a];
            let length = apart.length();
            let along = apart.normalize_or_zero();
            let across = (1.0 - rest_length / length.max(1e-300)).max(0.0);
            let line = outer(along, along);
            let matrix = (line + (DMat3::IDENTITY - line) * across) * (2.0 * stiffness);
            sums[a] += matrix;
            sums[b] += matrix;
        };
        for s in self.springs.iter().filter(|s| s.stiffness > 0.0) {
            add(s.ends, s.rest_length, s.stiffness);
        }
        if let Bending::Springs { stiffness } = self.bending {
            for bend in &self.bends.springs {
                add(bend.nodes, self.prestress * bend.rest_length, stiffness);
            }
        }
        for h in self.hinges.iter().filter(|h| h.stiffness > 0.0) {
            let nodes_of = h.nodes.map(|n| n as usize);
            let slopes = super::kernel::hinge(nodes_of.map(|n| nodes.position[n])).1;
            let sum: f64 = slopes.iter().map(|g| g.length()).sum();
            for (n, slope) in nodes_of.into_iter().zip(slopes) {
                let part = h.stiffness * sum;
                // g gᵀ |g|⁻¹: across the sheet, where springs hardly act.
                let size = slope.length();
                if size > 0.0 {
                    sums[n] += outer(slope, slope) * (part / size);
                }
            }
        }
        let mut most = 0.0_f64;
        for (n, sum) in sums.iter().enumerate().filter(|(n, _)| self.live[*n]) {
            most = most.max(principal(sum).0.max_element() / self.masses.mass()[n]);
        }
        2.0 / most.sqrt()
    }

    /// Substeps that `dt` seconds need.
    pub fn substeps(&self, dt: f64, step: f64) -> u32 {
        // A tenth below the bound: on it a mode neither grows nor dies.
        let count = trocar_math::real::ceil(dt / (0.9 * step));
        count.clamp(1.0, 1e6) as u32
    }
}

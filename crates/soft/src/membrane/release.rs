//! What a tear sets free as it goes on.
//!
//! Tension at a tip grows without bound as triangles shrink, and a mean of it depends on them for long. The energy that is set free as the tip goes on does not: it is
//! gathered from all around the tip (Eshelby 1951), not from the triangles at the tip, which know it worst.

use super::kernel::{spring, tension, tension_forces};
use super::{Material, Membrane};
use glam::{DMat3, DVec3};
use trocar_dynamics::Nodes;
use trocar_mesh::sheet::{Kind, NodeId, TriangleId};

/// Tension within reach of a tip, on average, times √(2π reach) over the factor K of the field there: tension across the tear is K/√(2π r) cos θ/2 (1 + sin θ/2 sin 3θ/2)
/// (Irwin 1957), of which a mean with the weight 1 − (r/reach)² is (4/5π)·3 times (2/3 − 2/7)/(1/2 − 1/4) of K/√(2π reach).
const MEAN: f64 = 12.0 / (5.0 * std::f64::consts::PI) * (32.0 / 21.0);

/// What part of a tip's way goes along that is so far from it, of how far it looks. It fades late: those triangles count that are about as far from the tip as that.
fn fading(far: f64) -> f64 {
    let square = far * far;
    (1.0 - square * square).max(0.0)
}

/// For so many triangles and nodes around a tip there is room before one has looked.
const WIDE: usize = 1024;

/// What is around a tip.
#[derive(Clone, Debug, Default)]
pub(super) struct Surroundings {
    triangles: Vec<TriangleId>,
    corners: Vec<Corner>,
    /// Where triangles and nodes, by place, are in these lists; of those that are not, anything.
    triangle_index: Vec<u32>,
    corner_index: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Corner {
    place: u32,
    /// Part of the tip's way that it goes along.
    part: f64,
    /// Force of the tensions around it, N.
    force: DVec3,
    /// How what is around it is deformed, summed up by area, m².
    gradient: DMat3,
    area: f64,
}

impl Surroundings {
    /// Room for so many nodes and triangles.
    pub(super) fn reserve(&mut self, nodes: usize, triangles: usize) {
        let (triangles_known, corners_known) = (self.triangles.len(), self.corners.len());
        self.triangles
            .reserve_exact(triangles.saturating_sub(triangles_known).min(WIDE));
        self.corners
            .reserve_exact(nodes.saturating_sub(corners_known).min(WIDE));
        let known = self.triangle_index.len();
        self.triangle_index.resize(triangles.max(known), 0);
        let known = self.corner_index.len();
        self.corner_index.resize(nodes.max(known), 0);
    }

    /// Those within reach, as [`Membrane::look_around`] found them.
    pub(super) fn triangles(&self) -> impl Iterator<Item = TriangleId> + '_ {
        self.triangles.iter().copied()
    }

    /// Adds a triangle, if it is new.
    fn add(&mut self, triangle: TriangleId) -> bool {
        let index = &mut self.triangle_index[triangle.slot()];
        let known = self.triangles.get(*index as usize) == Some(&triangle);
        if !known {
            *index = self.triangles.len() as u32;
            self.triangles.push(triangle);
        }
        !known
    }

    /// Where in the list a node is: at its end from now on, if it was not.
    fn corner(&mut self, place: u32) -> usize {
        let index = &mut self.corner_index[place as usize];
        let known = self.corners.get(*index as usize);
        if known.is_none_or(|corner| corner.place != place) {
            *index = self.corners.len() as u32;
            self.corners.push(Corner {
                place,
                part: 0.0,
                force: DVec3::ZERO,
                gradient: DMat3::ZERO,
                area: 0.0,
            });
        }
        *index as usize
    }
}

impl Membrane {
    /// Stress of a tip, N/m: what the field of a tear that sets free as much energy bears on average within `reach` m.
    pub(super) fn released_stress(
        &self,
        nodes: &Nodes,
        tip: NodeId,
        reach: f64,
        around: &mut Surroundings,
    ) -> f64 {
        let modulus = match self.material {
            Material::Sheet { stiffness, .. } => stiffness,
            // That of the regular net.
            Material::Springs { stiffness, .. } => stiffness * 2.0 / 3.0_f64.sqrt(),
        };
        let release = self.release(nodes, tip, reach, around).length();
        MEAN * (release * modulus / (std::f64::consts::TAU * reach)).sqrt()
    }

    /// Energy that is set free for each length that a tip goes on, N, as a vector in the space of the rest positions: along it, it is most. As forces on bodies are minus the slope of the
    /// energy over their places, so is this over the tip's place in the sheet.
    ///
    /// The tip takes along what is around it, by parts q that fade out within `reach`; what then is held or pushed from outside, or moves, stays behind by its own force. With the tension P,
    /// the gradient F and the energy ψ for each area of every triangle, and R what the tensions at a node leave over,
    ///
    /// ```text
    /// G = Σ A (Fᵀ P − ψ) ∇q + Σ q Fᵀ R
    /// ```
    ///
    /// which in a sheet at rest does not depend on how far it looks.
    pub fn release_at(&self, nodes: &Nodes, tip: NodeId, reach: f64) -> DVec3 {
        self.release(nodes, tip, reach, &mut Surroundings::default())
    }

    pub(super) fn release(
        &self,
        nodes: &Nodes,
        tip: NodeId,
        reach: f64,
        around: &mut Surroundings,
    ) -> DVec3 {
        self.look_around(tip, reach, around);
        let mut release = DVec3::ZERO;
        for k in 0..around.triangles.len() {
            let slot = around.triangles[k].slot();
            let corners = self.corners[slot].map(|n| around.corner(n));
            let parts = corners.map(|k| around.corners[k].part);
            if parts == [0.0; 3] {
                continue;
            }
            let flat = &self.flats[slot];
            let places = self.corners[slot].map(|n| nodes.position[n as usize]);
            let [x, y] = flat.axes;
            let [f, g] = flat.gradient(places);
            let (energy, forces) = self.tension_forces(nodes, around.triangles[k]);
            let [b, c] = flat.gradients;
            let slope = b * (parts[1] - parts[0]) + c * (parts[2] - parts[0]);
            release -= (x * slope.x + y * slope.y) * energy;
            let gradient =
                DMat3::from_cols(f * x.x + g * y.x, f * x.y + g * y.y, f * x.z + g * y.z);
            for (corner, force) in corners.into_iter().zip(forces) {
                let corner = &mut around.corners[corner];
                let along = force * corner.part;
                release -= x * f.dot(along) + y * g.dot(along);
                corner.force += force;
                corner.gradient += gradient * flat.area;
                corner.area += flat.area;
            }
        }
        for corner in around.corners.iter().filter(|c| c.part > 0.0) {
            release += corner.gradient.transpose() * corner.force * (corner.part / corner.area);
        }
        // Nothing is set free by a tear that closes.
        if release.dot(self.behind(tip)) > 0.0 {
            DVec3::ZERO
        } else {
            release
        }
    }

    /// Along the tear that a tip has left behind it, at rest; of no definite length.
    pub(super) fn behind(&self, tip: NodeId) -> DVec3 {
        let here = self.sheet.rest(tip);
        let sides = self.sheet.rim_neighbours(tip).into_iter().flatten();
        sides
            .map(|n| (self.sheet.rest(n) - here).normalize_or_zero())
            .sum()
    }

    /// Finds the triangles within reach of a tip that hang together with it, and how far their corners go along.
    ///
    /// What lies on another rim stays where it is: drawn along it would give the sheet another shape, and what that sets free is not the tear's. Both sides of the tear itself go
    /// along, as far as it was torn.
    pub(super) fn look_around(&self, tip: NodeId, reach: f64, around: &mut Surroundings) {
        let here = self.sheet.rest(tip);
        let places = (self.sheet.triangle_slots(), self.sheet.node_slots());
        around.triangles.clear();
        around.corners.clear();
        around.reserve(places.1, places.0);
        for triangle in self.sheet.triangles_around(tip) {
            around.add(triangle);
        }
        let far = |place: u32| {
            let rest = self.sheet.rest(self.sheet.node_at(place as usize));
            rest.distance(here)
        };
        let mut next = 0;
        while let Some(triangle) = around.triangles.get(next).copied() {
            next += 1;
            let corners = self.corners[triangle.slot()];
            let distances = corners.map(far);
            for (place, distance) in corners.into_iter().zip(distances) {
                let corner = around.corner(place);
                let inner = self.kinds[place as usize] == Kind::Inner;
                around.corners[corner].part = if inner { fading(distance / reach) } else { 0.0 };
            }
            if distances.iter().any(|distance| *distance < reach) {
                for side in self.sheet.sides(triangle) {
                    let (one, two) = self.sheet.beside(side);
                    around.add(one);
                    if let Some(two) = two {
                        around.add(two);
                    }
                }
            }
        }
        let mut last = [tip; 2];
        for pair in self.sheet.flanks(tip) {
            // The last pair is on the rim from which it tore, too.
            for node in std::mem::replace(&mut last, pair) {
                let corner = around.corner(node.slot() as u32);
                around.corners[corner].part = fading(far(node.slot() as u32) / reach);
            }
            if far(pair[0].slot() as u32) >= reach {
                break;
            }
        }
        let corner = around.corner(tip.slot() as u32);
        around.corners[corner].part = 1.0;
    }

    /// Energy of the tension in a triangle, J, and its forces on the corners, N.
    fn tension_forces(&self, nodes: &Nodes, triangle: TriangleId) -> (f64, [DVec3; 3]) {
        let slot = triangle.slot();
        let corners = self.corners[slot];
        match self.material {
            Material::Sheet {
                stiffness, poisson, ..
            } => {
                let flat = &self.flats[slot];
                let places = corners.map(|n| nodes.position[n as usize]);
                let tension = tension(flat, places, stiffness, poisson);
                (flat.area * tension.energy, tension_forces(flat, &tension))
            }
            Material::Springs { .. } => {
                let (mut energy, mut forces) = (0.0, [DVec3::ZERO; 3]);
                for side in self.sheet.sides(triangle) {
                    let s = &self.springs[side.slot()];
                    let [from, to] = s.ends.map(|n| nodes.position[n as usize]);
                    let (pull, tension) = spring(to - from, s.rest_length, s.stiffness);
                    if tension <= 0.0 {
                        continue;
                    }
                    // Two triangles have a spring in common.
                    let share = if self.sheet.is_rim(side) { 1.0 } else { 0.5 };
                    energy += share * 0.5 * tension * tension / s.stiffness;
                    for (corner, force) in corners.iter().zip(&mut forces) {
                        if *corner == s.ends[0] {
                            *force += pull * share;
                        } else if *corner == s.ends[1] {
                            *force -= pull * share;
                        }
                    }
                }
                (energy, forces)
            }
        }
    }
}

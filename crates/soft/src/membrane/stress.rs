//! How much a node bears (W85, W88), and tearing by it.

use super::kernel::tension;
use super::tear::{Aim, Growth, Tear, search};
use super::{Material, Measure, Membrane};
use glam::{DMat3, DVec3};
use trocar_dynamics::Nodes;
use trocar_math::{rotation::outer, symmetric::principal};
use trocar_mesh::sheet::{Kind, NodeId, Refusal, TriangleId};

impl Membrane {
    /// Stress of every node by place, in the unit of its measure, as [`Membrane::tear`] last saw it.
    pub fn stress(&self) -> &[f64] {
        &self.stress
    }

    /// Measures the stress of all nodes.
    pub fn measure_stress(&mut self, nodes: &Nodes) {
        let mut stress = std::mem::take(&mut self.stress);
        stress.fill(0.0);
        match self.measure {
            Measure::Printed | Measure::Pulled => {
                let printed = self.measure == Measure::Printed;
                for s in self.springs.iter().filter(|s| s.stiffness > 0.0) {
                    let [a, b] = s.ends.map(|n| n as usize);
                    let stretch = nodes.position[a].distance(nodes.position[b]) - s.rest_length;
                    let stretch = if printed {
                        stretch.abs()
                    } else {
                        stretch.max(0.0)
                    };
                    let share = 0.5 * s.stiffness * stretch;
                    stress[a] += share;
                    stress[b] += share;
                }
            }
            Measure::Local | Measure::Tension { .. } => {
                // Springs of a shred are as stiff as any: over its own area alone their pull would grow without bound as it shrinks.
                let least = match (self.material, self.tearing) {
                    (Material::Springs { .. }, Some(tearing)) => {
                        0.5 * tearing.lengths.near * tearing.lengths.near
                    }
                    _ => 0.0,
                };
                let mut around = std::mem::take(&mut self.around);
                let mut found = std::mem::take(&mut self.found);
                around.clear();
                around.resize(stress.len(), (DMat3::ZERO, 0.0));
                for triangle in self.sheet.triangles() {
                    let area = self.flats[triangle.slot()].area;
                    let share = self.tension_of(nodes, triangle) * area;
                    for node in self.corners[triangle.slot()] {
                        let sum = &mut around[node as usize];
                        sum.0 += share;
                        sum.1 += area;
                    }
                }
                for (n, stress) in stress.iter_mut().enumerate().filter(|(n, _)| self.live[*n]) {
                    let far = self.kinds[n] == Kind::Tip && self.measure != Measure::Local;
                    *stress = if far {
                        greatest(&self.tension_near(nodes, self.sheet.node_at(n), &mut found))
                    } else {
                        let (sum, area) = around[n];
                        greatest(&(sum * (1.0 / area.max(least))))
                    };
                }
                self.around = around;
                self.found = found;
            }
        }
        self.stress = stress;
    }

    /// Tension around a node, N/m, in the space of the rest positions: the mean over its triangles by area, at a tip over those
    /// within reach.
    pub fn tension_at(&self, nodes: &Nodes, node: NodeId) -> DMat3 {
        self.tension_near(nodes, node, &mut Vec::new())
    }

    fn tension_near(&self, nodes: &Nodes, node: NodeId, found: &mut Vec<TriangleId>) -> DMat3 {
        let reach = match self.measure {
            Measure::Tension { reach } if self.kinds[node.slot()] == Kind::Tip => Some(reach),
            _ => None,
        };
        let (mut sum, mut area) = (DMat3::ZERO, 0.0);
        let here = self.sheet.rest(node);
        let middle = |triangle: TriangleId| {
            let [a, b, c] = self.sheet.rest_corners(triangle);
            (a + b + c) / 3.0
        };
        let mut take = |triangle: TriangleId| {
            // Less the farther away, so that a triangle more or less at the border of the reach hardly shows.
            let far = reach.map_or(0.0, |r| middle(triangle).distance_squared(here) / (r * r));
            let share = self.flats[triangle.slot()].area * (1.0 - far).max(0.01);
            sum += self.tension_of(nodes, triangle) * share;
            area += share;
        };
        match reach {
            None => self.sheet.triangles_around(node).for_each(take),
            Some(reach) => {
                found.clear();
                found.extend(self.sheet.triangles_around(node));
                let mut next = 0;
                while let Some(triangle) = found.get(next).copied() {
                    next += 1;
                    take(triangle);
                    for side in self.sheet.sides(triangle) {
                        let (one, two) = self.sheet.beside(side);
                        let other = if one == triangle { two } else { Some(one) };
                        let Some(other) = other.filter(|t| !found.contains(t)) else {
                            continue;
                        };
                        if middle(other).distance(here) < reach {
                            found.push(other);
                        }
                    }
                }
            }
        }
        if area > 0.0 { sum * (1.0 / area) } else { sum }
    }

    /// Tension in a triangle, N/m, in the space of the rest positions; without what is compressed.
    fn tension_of(&self, nodes: &Nodes, triangle: TriangleId) -> DMat3 {
        let at = |n: NodeId| nodes.position[n.slot()];
        let corners = self.sheet.corners(triangle);
        match self.material {
            Material::Sheet {
                stiffness, poisson, ..
            } => {
                let flat = &self.flats[triangle.slot()];
                let t = tension(flat, corners.map(at), stiffness, poisson);
                let [x, y] = flat.axes;
                (0..2).fold(DMat3::ZERO, |sum, k| {
                    let along = x * t.along[k].x + y * t.along[k].y;
                    sum + outer(along, along) * t.principal[k]
                })
            }
            Material::Springs { .. } => {
                // Virial of its three springs, each shared with the triangle across: Σ ½ f l n nᵀ / A.
                let sides = self.sheet.sides(triangle);
                let sum = sides.into_iter().fold(DMat3::ZERO, |sum, side| {
                    let spring = &self.springs[side.slot()];
                    let [a, b] = self.sheet.ends(side);
                    let stretch = (at(a).distance(at(b)) - spring.rest_length).max(0.0);
                    let along = (self.sheet.rest(b) - self.sheet.rest(a)).normalize_or_zero();
                    let share = if self.sheet.is_rim(side) { 1.0 } else { 0.5 };
                    let virial = spring.stiffness * stretch * spring.rest_length * share;
                    sum + outer(along, along) * virial
                });
                sum * (1.0 / self.flats[triangle.slot()].area)
            }
        }
    }

    /// Searches the node that fails and tears there (W90): at most one step of one tear (W113). None if nothing fails.
    ///
    /// [`Membrane::event`] then says what became of the sheet. A step that is refused, or that leaves all as it is, is no harm: the node that
    /// fails next has its turn, so that one that never can does not keep the others from tearing. If none can, what became of the first one
    /// is returned.
    pub fn tear(&mut self, nodes: &mut Nodes) -> Result<Option<Growth>, Refusal> {
        // Nobody is told twice what the last tear did.
        self.event.clear();
        let mut spared = std::mem::take(&mut self.spared);
        spared.clone_from(&self.fixed);
        let mut first = None;
        let mut found = self.failing(nodes);
        while let Some((node, length, aim)) = found {
            let growth = self.tear_at(nodes, node, length, aim);
            let idle = growth.is_err() || self.event.is_empty();
            if !idle {
                first = Some(growth);
                break;
            }
            first.get_or_insert(growth);
            spared[node.slot()] = true;
            found = self.worst(nodes, &spared);
        }
        self.spared = spared;
        self.pay(nodes);
        first.transpose()
    }

    /// The node that fails, how far the tear goes if it is a tip (m), and which way.
    pub fn failing(&mut self, nodes: &Nodes) -> Option<(NodeId, f64, Aim)> {
        self.tearing?;
        self.measure_stress(nodes);
        self.worst(nodes, &self.fixed)
    }

    /// [`failing`](Self::failing), without those that are spared, by the stress as last measured.
    fn worst(&self, nodes: &Nodes, spared: &[bool]) -> Option<(NodeId, f64, Aim)> {
        let settings = self.tearing?;
        let Self {
            sheet,
            stress,
            kinds,
            ..
        } = self;
        let node = search(sheet, stress, kinds, spared, &settings.thresholds)?;
        let aim = match self.measure {
            Measure::Printed | Measure::Pulled => Aim::Strain,
            Measure::Local | Measure::Tension { .. } => self.across(nodes, node),
        };
        Some((node, settings.length(self.stress[node.slot()]), aim))
    }

    /// Tears at a node, `length` m far if it is a tip: for tools that cut, and for paths that are given.
    pub fn tear_at(
        &mut self,
        nodes: &mut Nodes,
        node: NodeId,
        length: f64,
        aim: Aim,
    ) -> Result<Growth, Refusal> {
        self.event.clear();
        let settings = self.tearing.ok_or(Refusal::OutOfRange)?;
        let mut tear = Tear {
            sheet: &mut self.sheet,
            positions: &nodes.position,
            headings: &mut self.headings,
            lengths: settings.lengths,
            spared: &self.fixed,
        };
        let growth = tear.call(&mut self.event, settings.algorithm, node, length, aim)?;
        self.follow(nodes);
        Ok(growth)
    }

    /// Across the greatest tension around a node, in the sheet at rest (W86).
    fn across(&self, nodes: &Nodes, node: NodeId) -> Aim {
        let (values, axes) = principal(&self.tension_at(nodes, node));
        let most = (0..3)
            .max_by(|a, b| values[*a].total_cmp(&values[*b]))
            .unwrap_or(0);
        let along = axes * DVec3::AXES[most];
        let normal = self
            .sheet
            .triangles_around(node)
            .fold(DVec3::ZERO, |sum, t| {
                let [a, b, c] = self.sheet.rest_corners(t);
                sum + (b - a).cross(c - a)
            });
        Aim::Along(normal.cross(along).normalize_or_zero())
    }
}

/// The greatest principal value of a tension that acts in a plane: (tr T + √(2 T:T − (tr T)²))/2. Where a sheet is curved at
/// rest the triangles around a node share a plane only nearly, and so is this.
fn greatest(tension: &DMat3) -> f64 {
    let [x, y, z] = [tension.x_axis, tension.y_axis, tension.z_axis];
    let trace = x.x + y.y + z.z;
    let square = x.length_squared() + y.length_squared() + z.length_squared();
    0.5 * (trace + (2.0 * square - trace * trace).max(0.0).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_tension_in_a_plane_is_its_principal_value() {
        let (a, b) = (DVec3::new(0.6, 0.64, 0.48), DVec3::new(-0.8, 0.48, 0.36));
        assert!(a.dot(b).abs() < 1e-15);
        for (most, least) in [(3.0, 1.0), (2.0, 0.0), (1.5, 1.5)] {
            let tension = outer(a, a) * most + outer(b, b) * least;
            assert!((greatest(&tension) - most).abs() < 1e-7);
            assert!((principal(&tension).0.max_element() - most).abs() < 1e-12);
        }
    }
}

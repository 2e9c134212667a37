//! How much a node bears (W85, W88).

use super::kernel::tension;
use super::release::Surroundings;
use super::search::Suspects;
use super::tear::Aim;
use super::{Material, Measure, Membrane, Spring, Tensor};
use glam::{DMat3, DVec3};
use trocar_dynamics::Nodes;
use trocar_math::{f64x4, symmetric::principal};
use trocar_mesh::sheet::{Kind, NodeId, TriangleId};

/// Part with which a triangle at the border of a reach counts at least: there may be none within it.
const LEAST_PART: f64 = 0.01;

/// A tip's way across the greatest tension leads away from where energy is set free if the cosine between both is below this.
const ASTRAY: f64 = 0.5;

/// What the measure of stress needs beside the membrane: memory, and which nodes are above their threshold.
#[derive(Clone, Debug, Default)]
pub(super) struct Gauge {
    /// Tension and area summed up around every node.
    sums: Vec<Tensor>,
    /// Of every spring, by place: its pull times its length, N·m; of one that is pushed or not there nothing.
    virials: Vec<f64>,
    pub(super) around: Surroundings,
    pub(super) suspects: Suspects,
}

impl Gauge {
    /// Room for so many nodes, springs and triangles: all are measured when many are about to fail.
    pub fn reserve(&mut self, [nodes, springs, triangles]: [usize; 3]) {
        self.sums
            .reserve_exact(nodes.saturating_sub(self.sums.len()));
        let known = self.virials.len();
        self.virials.reserve_exact(springs.saturating_sub(known));
        self.around.reserve(nodes, triangles);
        self.suspects.reserve(nodes);
    }
}

impl Membrane {
    /// Stress of every node by place, in the unit of its measure, as [`Membrane::measure_stress`] or [`Membrane::tear`] last saw it. The latter measures by area
    /// only tips and who might fail; of all others it says nothing, 0.
    pub fn stress(&self) -> &[f64] {
        &self.stress
    }

    /// Stress of every node by place as it is now, in the unit of its measure, whether the membrane tears or not: for those who look on. Nothing is noted.
    pub fn stress_now(&self, nodes: &Nodes) -> Vec<f64> {
        let mut stress = vec![0.0; self.stress.len()];
        self.weigh(nodes, &mut stress, &mut Gauge::default());
        stress
    }

    /// Measures the stress of all nodes.
    pub fn measure_stress(&mut self, nodes: &Nodes) {
        let mut stress = std::mem::take(&mut self.stress);
        let mut gauge = std::mem::take(&mut self.gauge);
        self.weigh(nodes, &mut stress, &mut gauge);
        self.gauge = gauge;
        self.stress = stress;
    }

    /// Works out the stress of all nodes by place.
    pub(super) fn weigh(&self, nodes: &Nodes, stress: &mut [f64], gauge: &mut Gauge) {
        stress.fill(0.0);
        match self.measure {
            Measure::Printed | Measure::Pulled => {
                for s in self.springs.iter().filter(|s| s.stiffness > 0.0) {
                    let share = self.pull_of(nodes, s);
                    let [a, b] = s.ends.map(|n| n as usize);
                    stress[a] += share;
                    stress[b] += share;
                }
            }
            Measure::Local | Measure::Tension { .. } => {
                let least = self.least_area();
                let Gauge {
                    sums,
                    virials,
                    around,
                    ..
                } = gauge;
                sums.clear();
                sums.resize(stress.len(), [f64x4::ZERO; 2]);
                virials.clear();
                if let Material::Springs { .. } = self.material {
                    // Each is of two triangles, and its root takes long.
                    virials.extend(self.springs.iter().map(|s| virial_of(nodes, s)));
                }
                for triangle in self.sheet.triangles() {
                    let slot = triangle.slot();
                    let area = self.flats[slot].area;
                    let [mut straight, skew] = match self.material {
                        Material::Springs { .. } => self.virial(triangle, |e| virials[e]),
                        Material::Sheet { .. } => {
                            let tension = self.tension_of(nodes, triangle);
                            tension.map(|part| part * f64x4::splat(area))
                        }
                    };
                    straight += f64x4::new([0.0, 0.0, 0.0, area]);
                    for node in self.corners[slot] {
                        let sum = &mut sums[node as usize];
                        sum[0] += straight;
                        sum[1] += skew;
                    }
                }
                for (n, stress) in stress.iter_mut().enumerate().filter(|(n, _)| self.live[*n]) {
                    *stress = match self.reach_of(n) {
                        Some(reach) => {
                            self.released_stress(nodes, self.sheet.node_at(n), reach, around)
                        }
                        None => greatest(&sums[n]) / sums[n][0].to_array()[3].max(least),
                    };
                }
            }
        }
    }

    /// Stress of one node, from what is around it.
    pub(super) fn stress_at(&self, nodes: &Nodes, n: usize, around: &mut Surroundings) -> f64 {
        let node = self.sheet.node_at(n);
        if let Some(reach) = self.reach_of(n) {
            return self.released_stress(nodes, node, reach, around);
        }
        match self.measure {
            Measure::Printed | Measure::Pulled => {
                let springs = self.sheet.edges_around(node);
                let springs = springs.map(|(edge, _)| &self.springs[edge.slot()]);
                springs.map(|s| self.pull_of(nodes, s)).sum()
            }
            Measure::Local | Measure::Tension { .. } => {
                let (mut sum, mut area) = ([f64x4::ZERO; 2], 0.0);
                for triangle in self.sheet.triangles_around(node) {
                    let own = self.flats[triangle.slot()].area;
                    add(&mut sum, &self.tension_of(nodes, triangle), own);
                    area += own;
                }
                greatest(&sum) / area.max(self.least_area())
            }
        }
    }

    /// What a spring adds to the stress of its ends, N (W88): half its pull; where it counts, of its push, too.
    #[inline]
    fn pull_of(&self, nodes: &Nodes, spring: &Spring) -> f64 {
        let [a, b] = spring.ends.map(|n| nodes.position[n as usize]);
        let stretch = a.distance(b) - spring.rest_length;
        let stretch = match self.measure {
            Measure::Printed => stretch.abs(),
            _ => stretch.max(0.0),
        };
        0.5 * spring.stiffness * stretch
    }

    /// How far a node by place looks around, m; none if not beyond its own triangles.
    pub(super) fn reach_of(&self, n: usize) -> Option<f64> {
        match self.measure {
            Measure::Tension { reach } if self.kinds[n] == Kind::Tip => Some(reach),
            _ => None,
        }
    }

    /// Springs of a shred are as stiff as any: over its own area alone, m², their pull would grow without bound as it shrinks.
    fn least_area(&self) -> f64 {
        match (self.material, self.tearing) {
            (Material::Springs { .. }, Some(tearing)) => {
                0.5 * tearing.lengths.near * tearing.lengths.near
            }
            _ => 0.0,
        }
    }

    /// Tension around a node, N/m, in the space of the rest positions: the mean over its triangles by area, at a tip over those
    /// within reach, above all ahead of it.
    pub fn tension_at(&self, nodes: &Nodes, node: NodeId) -> DMat3 {
        matrix(&self.tension_near(nodes, node, &mut Surroundings::default()))
    }

    fn tension_near(&self, nodes: &Nodes, node: NodeId, around: &mut Surroundings) -> Tensor {
        let (mut sum, mut area) = ([f64x4::ZERO; 2], 0.0);
        let mut take = |triangle: TriangleId, part: f64| {
            let share = self.flats[triangle.slot()].area * part;
            add(&mut sum, &self.tension_of(nodes, triangle), share);
            area += share;
        };
        match self.reach_of(node.slot()) {
            None => {
                let triangles = self.sheet.triangles_around(node);
                triangles.for_each(|triangle| take(triangle, 1.0));
            }
            Some(reach) => {
                let here = self.sheet.rest(node);
                let behind = self.behind(node).normalize_or_zero();
                self.look_around(node, reach, around);
                for triangle in around.triangles() {
                    let [a, b, c] = self.sheet.rest_corners(triangle);
                    let way = (a + b + c) / 3.0 - here;
                    let far = way.length_squared() / (reach * reach);
                    // What lies behind has torn: how it is drawn, or pushed, says nothing of what is still to tear.
                    let ahead = 0.5 * (1.0 - behind.dot(way.normalize_or_zero()));
                    // Less the farther away, so that a triangle more or less at the border of the reach hardly shows.
                    take(triangle, ahead * (1.0 - far).max(LEAST_PART));
                }
            }
        }
        let scale = f64x4::splat(if area > 0.0 { 1.0 / area } else { 1.0 });
        sum.map(|part| part * scale)
    }

    /// Tension in a triangle, N/m, in the space of the rest positions; without what is compressed.
    fn tension_of(&self, nodes: &Nodes, triangle: TriangleId) -> Tensor {
        let at = |n: NodeId| nodes.position[n.slot()];
        let corners = self.sheet.corners(triangle);
        match self.material {
            Material::Sheet {
                stiffness, poisson, ..
            } => {
                let flat = &self.flats[triangle.slot()];
                let t = tension(flat, corners.map(at), stiffness, poisson);
                let [x, y] = flat.axes;
                (0..2).fold([f64x4::ZERO; 2], |mut sum, k| {
                    let along = x * t.along[k].x + y * t.along[k].y;
                    add(&mut sum, &dyad(along), t.principal[k]);
                    sum
                })
            }
            Material::Springs { .. } => {
                let virial = self.virial(triangle, |e| virial_of(nodes, &self.springs[e]));
                let scale = f64x4::splat(1.0 / self.flats[triangle.slot()].area);
                virial.map(|part| part * scale)
            }
        }
    }

    /// Virial of a triangle's three springs, N·m, each shared with the triangle across, from those of the springs by place: Σ ½ f l n nᵀ.
    fn virial(&self, triangle: TriangleId, of: impl Fn(usize) -> f64) -> Tensor {
        let mut sum = [f64x4::ZERO; 2];
        for side in self.sheet.sides(triangle) {
            let slot = side.slot();
            add(&mut sum, &self.lines[slot], of(slot));
        }
        sum
    }

    /// Across the greatest tension around a node, in the sheet at rest (W86). If that leads a tip away from where most energy is set free, the tension is not that of the tear, but of what presses on
    /// the sheet around its tip; then it goes where the energy is.
    pub(super) fn across(&mut self, nodes: &Nodes, node: NodeId) -> Aim {
        let mut around = std::mem::take(&mut self.gauge.around);
        let (values, axes) = principal(&matrix(&self.tension_near(nodes, node, &mut around)));
        let [free, behind] = match self.reach_of(node.slot()) {
            Some(reach) => [
                self.release(nodes, node, reach, &mut around),
                self.behind(node),
            ],
            None => [DVec3::ZERO; 2],
        };
        self.gauge.around = around;
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
        let along = normal.cross(along).normalize_or_zero();
        // As a tip would take it: onward.
        let onward = if along.dot(behind) > 0.0 {
            -along
        } else {
            along
        };
        if onward.dot(free) < ASTRAY * free.length() {
            return Aim::Toward(free);
        }
        Aim::Along(along)
    }
}

/// What a spring gives to the stress of the triangles beside it, N·m: its pull times its length at rest.
#[inline]
fn virial_of(nodes: &Nodes, spring: &Spring) -> f64 {
    let [a, b] = spring.ends.map(|n| nodes.position[n as usize]);
    let stretch = (a.distance(b) - spring.rest_length).max(0.0);
    spring.stiffness * stretch * spring.rest_length
}

/// n nᵀ.
pub(super) fn dyad(DVec3 { x, y, z }: DVec3) -> Tensor {
    [
        f64x4::new([x * x, y * y, z * z, 0.0]),
        f64x4::new([x * y, x * z, y * z, 0.0]),
    ]
}

/// Adds some times a tensor.
#[inline(always)]
fn add(sum: &mut Tensor, [straight, skew]: &Tensor, times: f64) {
    let times = f64x4::splat(times);
    sum[0] += *straight * times;
    sum[1] += *skew * times;
}

fn matrix([straight, skew]: &Tensor) -> DMat3 {
    let ([xx, yy, zz, _], [xy, xz, yz, _]) = (straight.to_array(), skew.to_array());
    DMat3::from_cols(
        DVec3::new(xx, xy, xz),
        DVec3::new(xy, yy, yz),
        DVec3::new(xz, yz, zz),
    )
}

/// The greatest principal value of a tension that acts in a plane: (tr T + √(2 T:T − (tr T)²))/2. Where a sheet is curved at
/// rest the triangles around a node share a plane only nearly, and so is this.
fn greatest([straight, skew]: &Tensor) -> f64 {
    let ([xx, yy, zz, _], [xy, xz, yz, _]) = (straight.to_array(), skew.to_array());
    let trace = xx + yy + zz;
    let square = xx * xx + yy * yy + zz * zz + 2.0 * (xy * xy + xz * xz + yz * yz);
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
            let mut tension = [f64x4::ZERO; 2];
            add(&mut tension, &dyad(a), most);
            add(&mut tension, &dyad(b), least);
            assert!((greatest(&tension) - most).abs() < 1e-7);
            let (values, _) = principal(&matrix(&tension));
            assert!((values.max_element() - most).abs() < 1e-12);
        }
    }
}

//! How much a node bears (W85, W88), and tearing by it.

use super::kernel::tension;
use super::tear::{Aim, Growth, Tear, TearSettings, Thresholds};
use super::{Material, Measure, Membrane, Spring, Tensor};
use glam::{DMat3, DVec3};
use trocar_dynamics::Nodes;
use trocar_math::{f64x4, symmetric::principal};
use trocar_mesh::sheet::{Kind, NodeId, Refusal, TriangleId};

/// What the measure of stress needs beside the membrane: memory, and which nodes are above a threshold.
#[derive(Clone, Debug, Default)]
pub(super) struct Gauge {
    /// Tension and area summed up around every node.
    around: Vec<Tensor>,
    /// Of every spring, by place: its pull times its length, N·m; of one that is pushed or not there nothing.
    virials: Vec<f64>,
    walk: Walk,
    /// Nodes by place, in order, whose stress is above the least threshold.
    hot: Vec<u32>,
    /// Nodes by place that look farther than their neighbours, and some that did.
    tips: Vec<u32>,
    /// Nodes whose stress an edit has changed.
    changed: Vec<u32>,
    /// Those that fail, in the order in which they have their turn: rank of the kind, excess, place.
    queue: Vec<(u8, f64, u32)>,
}

/// A walk over triangles that visits each once.
#[derive(Clone, Debug, Default)]
struct Walk {
    found: Vec<TriangleId>,
    /// Number of the walk that came by last, by place of the triangle.
    stamps: Vec<u32>,
    walks: u32,
}

impl Walk {
    /// Begins another one, over a sheet with so many places.
    fn begin(&mut self, places: usize) {
        self.found.clear();
        self.stamps.resize(places.max(self.stamps.len()), 0);
        if self.walks == u32::MAX {
            self.stamps.fill(0);
            self.walks = 0;
        }
        self.walks += 1;
    }

    /// Whether a triangle is visited for the first time.
    fn is_new(&mut self, triangle: TriangleId) -> bool {
        std::mem::replace(&mut self.stamps[triangle.slot()], self.walks) != self.walks
    }
}

impl Membrane {
    /// Stress of every node by place, in the unit of its measure, as [`Membrane::tear`] last saw it.
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
        gauge.tips.clear();
        if let Measure::Tension { .. } = self.measure {
            let tips = (0..stress.len()).filter(|n| self.live[*n] && self.looks_far(*n));
            gauge.tips.extend(tips.map(|n| n as u32));
        }
        gauge.hot.clear();
        if let Some(least) = self.least_threshold() {
            let above = stress.iter().enumerate().filter(|(_, s)| **s > least);
            gauge.hot.extend(above.map(|(n, _)| n as u32));
        }
        self.gauge = gauge;
        self.stress = stress;
    }

    /// Works out the stress of all nodes by place.
    fn weigh(&self, nodes: &Nodes, stress: &mut [f64], gauge: &mut Gauge) {
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
                    around,
                    virials,
                    walk,
                    ..
                } = gauge;
                around.clear();
                around.resize(stress.len(), [f64x4::ZERO; 2]);
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
                        let sum = &mut around[node as usize];
                        sum[0] += straight;
                        sum[1] += skew;
                    }
                }
                for (n, stress) in stress.iter_mut().enumerate().filter(|(n, _)| self.live[*n]) {
                    *stress = if self.looks_far(n) {
                        greatest(&self.tension_near(nodes, self.sheet.node_at(n), walk))
                    } else {
                        let area = around[n][0].to_array()[3];
                        greatest(&around[n]) / area.max(least)
                    };
                }
            }
        }
    }

    /// Measures the stress anew where the last edit has changed it: around what came, moved or has other neighbours, and at all tips, which look farther.
    /// It costs what the edit costs, however large the sheet is.
    fn measure_again(&mut self, nodes: &Nodes) {
        let mut gauge = std::mem::take(&mut self.gauge);
        let mut stress = std::mem::take(&mut self.stress);
        let Gauge {
            walk,
            hot,
            tips,
            changed,
            ..
        } = &mut gauge;
        changed.clear();
        for n in self.patch.touched() {
            changed.push(n as u32);
            if self.live[n] {
                let around = self.sheet.triangles_around(self.sheet.node_at(n));
                changed.extend(around.flat_map(|t| self.corners[t.slot()]));
            }
        }
        let made = changed.iter().filter(|n| self.looks_far(**n as usize));
        tips.extend(made);
        tips.sort_unstable();
        tips.dedup();
        changed.extend(tips.iter());
        changed.sort_unstable();
        changed.dedup();
        for n in changed.iter().map(|n| *n as usize) {
            stress[n] = match self.live[n] {
                true => self.stress_at(nodes, n, walk),
                false => 0.0,
            };
        }
        if let Some(least) = self.least_threshold() {
            hot.retain(|n| changed.binary_search(n).is_err());
            hot.extend(changed.iter().filter(|n| stress[**n as usize] > least));
            hot.sort_unstable();
        }
        self.gauge = gauge;
        self.stress = stress;
    }

    /// Stress of one node, from what is around it.
    fn stress_at(&self, nodes: &Nodes, n: usize, walk: &mut Walk) -> f64 {
        let node = self.sheet.node_at(n);
        match self.measure {
            Measure::Printed | Measure::Pulled => {
                let springs = self.sheet.edges_around(node);
                let springs = springs.map(|(edge, _)| &self.springs[edge.slot()]);
                springs.map(|s| self.pull_of(nodes, s)).sum()
            }
            Measure::Local | Measure::Tension { .. } if !self.looks_far(n) => {
                let (mut sum, mut area) = ([f64x4::ZERO; 2], 0.0);
                for triangle in self.sheet.triangles_around(node) {
                    let own = self.flats[triangle.slot()].area;
                    add(&mut sum, &self.tension_of(nodes, triangle), own);
                    area += own;
                }
                greatest(&sum) / area.max(self.least_area())
            }
            _ => greatest(&self.tension_near(nodes, node, walk)),
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

    /// Whether the stress of a node by place is measured over its reach.
    fn looks_far(&self, n: usize) -> bool {
        self.kinds[n] == Kind::Tip && matches!(self.measure, Measure::Tension { .. })
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

    /// The stress below which no node fails, whatever it is; none if it does not tear.
    fn least_threshold(&self) -> Option<f64> {
        let t = self.tearing?.thresholds;
        Some(t.tip.min(t.edge).min(t.inner))
    }

    /// Tension around a node, N/m, in the space of the rest positions: the mean over its triangles by area, at a tip over those
    /// within reach.
    pub fn tension_at(&self, nodes: &Nodes, node: NodeId) -> DMat3 {
        matrix(&self.tension_near(nodes, node, &mut Walk::default()))
    }

    fn tension_near(&self, nodes: &Nodes, node: NodeId, walk: &mut Walk) -> Tensor {
        let reach = match self.measure {
            Measure::Tension { reach } if self.kinds[node.slot()] == Kind::Tip => Some(reach),
            _ => None,
        };
        let (mut sum, mut area) = ([f64x4::ZERO; 2], 0.0);
        let here = self.sheet.rest(node);
        let middle = |triangle: TriangleId| {
            let [a, b, c] = self.sheet.rest_corners(triangle);
            (a + b + c) / 3.0
        };
        let mut take = |triangle: TriangleId| {
            // Less the farther away, so that a triangle more or less at the border of the reach hardly shows.
            let far = reach.map_or(0.0, |r| middle(triangle).distance_squared(here) / (r * r));
            let share = self.flats[triangle.slot()].area * (1.0 - far).max(0.01);
            add(&mut sum, &self.tension_of(nodes, triangle), share);
            area += share;
        };
        match reach {
            None => self.sheet.triangles_around(node).for_each(take),
            Some(reach) => {
                walk.begin(self.sheet.triangle_slots());
                for triangle in self.sheet.triangles_around(node) {
                    walk.is_new(triangle);
                    walk.found.push(triangle);
                }
                let mut next = 0;
                while let Some(triangle) = walk.found.get(next).copied() {
                    next += 1;
                    take(triangle);
                    for side in self.sheet.sides(triangle) {
                        let (one, two) = self.sheet.beside(side);
                        let other = if one == triangle { two } else { Some(one) };
                        if let Some(other) = other
                            && middle(other).distance(here) < reach
                            && walk.is_new(other)
                        {
                            walk.found.push(other);
                        }
                    }
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

    /// Searches the node that fails and tears there (W90): at most one step of one tear (W113). None if nothing fails.
    ///
    /// [`Membrane::event`] then says what became of the sheet. A step that is refused, or that leaves all as it is, is no harm: the node that
    /// fails next has its turn, so that one that never can does not keep the others from tearing. If none can, what became of the first one
    /// is returned.
    pub fn tear(&mut self, nodes: &mut Nodes) -> Result<Option<Growth>, Refusal> {
        if self.tearing.is_some() {
            self.measure_stress(nodes);
        }
        self.tear_worst(nodes)
    }

    /// [`Membrane::tear`] once more, right after one that tore and before anything has moved: what was measured then still holds but for the neighbourhood of
    /// that tear.
    pub fn tear_again(&mut self, nodes: &mut Nodes) -> Result<Option<Growth>, Refusal> {
        if self.tearing.is_some() {
            self.measure_again(nodes);
        }
        self.tear_worst(nodes)
    }

    /// Tears where the stress as last measured says.
    fn tear_worst(&mut self, nodes: &mut Nodes) -> Result<Option<Growth>, Refusal> {
        // Nobody is told twice what the last tear did.
        self.event.clear();
        let mut first = None;
        if let Some((node, length, aim)) = self.worst(nodes) {
            let growth = self.tear_at(nodes, node, length, aim);
            let idle = growth.is_err() || self.event.is_empty();
            first = Some(growth);
            if idle && let Some(other) = self.tear_next(nodes, node) {
                first = Some(other);
            }
        }
        self.pay(nodes);
        first.transpose()
    }

    /// Tears at whoever of those that fail can, after the `first` could not; none if nobody can. Each has one turn.
    fn tear_next(&mut self, nodes: &mut Nodes, first: NodeId) -> Option<Result<Growth, Refusal>> {
        let settings = self.tearing?;
        let mut queue = std::mem::take(&mut self.gauge.queue);
        queue.clear();
        for n in &self.gauge.hot {
            let slot = *n as usize;
            let failing = self.fails(slot, &settings.thresholds);
            if let Some((rank, excess)) = failing.filter(|_| slot != first.slot()) {
                queue.push((rank, excess, *n));
            }
        }
        queue.sort_unstable_by(|a, b| {
            let (ranks, excesses) = (a.0.cmp(&b.0), b.1.total_cmp(&a.1));
            ranks.then(excesses).then(a.2.cmp(&b.2))
        });
        let mut done = None;
        for (.., n) in &queue {
            let (node, length, aim) = self.turn_of(nodes, *n as usize, &settings);
            let growth = self.tear_at(nodes, node, length, aim);
            if growth.is_ok() && !self.event.is_empty() {
                done = Some(growth);
                break;
            }
        }
        self.gauge.queue = queue;
        done
    }

    /// The node that fails, how far the tear goes if it is a tip (m), and which way.
    pub fn failing(&mut self, nodes: &Nodes) -> Option<(NodeId, f64, Aim)> {
        self.tearing?;
        self.measure_stress(nodes);
        self.worst(nodes)
    }

    /// [`failing`](Self::failing) by the stress as last measured: of each kind the node that exceeds its threshold most; a tip before a
    /// rim node before one inside, whatever their stress (W90).
    fn worst(&mut self, nodes: &Nodes) -> Option<(NodeId, f64, Aim)> {
        let settings = self.tearing?;
        let mut best: Option<(u8, f64, usize)> = None;
        for slot in self.gauge.hot.iter().map(|n| *n as usize) {
            let Some((rank, excess)) = self.fails(slot, &settings.thresholds) else {
                continue;
            };
            let better = best
                .is_none_or(|(least, most, _)| rank < least || (rank == least && excess > most));
            if better {
                best = Some((rank, excess, slot));
            }
        }
        best.map(|(.., slot)| self.turn_of(nodes, slot, &settings))
    }

    /// Rank of the kind of a node by place, the first to fail at 0, and by how much it is above its threshold; none if it is not, or may not tear. Rim nodes
    /// with one triangle have nothing to tear (W107).
    fn fails(&self, slot: usize, thresholds: &Thresholds) -> Option<(u8, f64)> {
        let kind = self.kinds[slot];
        // What is held does not begin to tear; but a tear that has come to something that is held goes on beyond it.
        if (self.fixed[slot] && kind != Kind::Tip) || !self.live[slot] {
            return None;
        }
        let excess = self.stress[slot] - thresholds.of(kind);
        let rank = match kind {
            Kind::Tip => 0,
            Kind::Edge => 1,
            Kind::Inner => 2,
        };
        let node = self.sheet.node_at(slot);
        let tears = || kind != Kind::Edge || self.sheet.fan(node).nth(1).is_some();
        (excess > 0.0 && tears()).then_some((rank, excess))
    }

    /// A node by place that fails, how far, and which way.
    fn turn_of(
        &mut self,
        nodes: &Nodes,
        slot: usize,
        settings: &TearSettings,
    ) -> (NodeId, f64, Aim) {
        let node = self.sheet.node_at(slot);
        let aim = match self.measure {
            Measure::Printed | Measure::Pulled => Aim::Strain,
            Measure::Local | Measure::Tension { .. } => self.across(nodes, node),
        };
        (node, settings.length(self.stress[slot]), aim)
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
    fn across(&mut self, nodes: &Nodes, node: NodeId) -> Aim {
        let mut walk = std::mem::take(&mut self.gauge.walk);
        let (values, axes) = principal(&matrix(&self.tension_near(nodes, node, &mut walk)));
        self.gauge.walk = walk;
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

    #[test]
    fn after_a_tear_the_stress_is_that_of_the_whole_sheet_measured_anew() {
        use super::super::MembraneParts;
        use super::super::tear::{Algorithm, Lengths};
        use trocar_mesh::primitive::HexagonalShape;
        use trocar_mesh::sheet::Sheet;
        for measure in [
            Measure::Printed,
            Measure::Pulled,
            Measure::Local,
            Measure::Tension { reach: 1.2e-3 },
        ] {
            let sheet = Sheet::new(&HexagonalShape::STANDARD.surface().unwrap()).unwrap();
            let material = Material::Springs {
                stiffness: 6500.0,
                mass: 0.01,
            };
            let mut parts = MembraneParts::new(sheet, material);
            parts.measure = measure;
            let printed = matches!(measure, Measure::Printed | Measure::Pulled);
            let tip = if printed { 0.2 } else { 100.0 };
            parts.tearing = Some(TearSettings {
                algorithm: Algorithm::Continuous,
                thresholds: Thresholds {
                    tip,
                    edge: 3.0 * tip,
                    inner: 9.0 * tip,
                    fastest: 4.0 * tip,
                },
                lengths: Lengths::of_edge(0.5e-3),
            });
            let mut membrane = Membrane::new(parts).unwrap();
            let mut nodes = membrane.rest();
            // Drawn out unevenly, so that several nodes are above their thresholds.
            for p in &mut nodes.position {
                p.x += 0.08 * p.x + 9.0 * p.x * p.y;
            }
            assert!(membrane.tear(&mut nodes).unwrap().is_some());
            for _ in 0..40 {
                membrane.measure_again(&nodes);
                let mut whole = membrane.clone();
                whole.measure_stress(&nodes);
                let most = whole.stress.iter().copied().fold(0.0, f64::max);
                for n in 0..nodes.len() {
                    let off = (membrane.stress[n] - whole.stress[n]).abs();
                    assert!(off < 1e-12 * most, "{measure:?}: {off} at {n} of {most}");
                }
                assert_eq!(membrane.gauge.hot, whole.gauge.hot);
                let (one, two) = (membrane.worst(&nodes), whole.worst(&nodes));
                let (one, two) = (one.unwrap(), two.unwrap());
                assert_eq!(one.0, two.0);
                assert!((one.1 - two.1).abs() < 1e-12);
                assert!(membrane.gauge.hot.len() > 5);
                let torn = membrane.tear_worst(&mut nodes);
                assert!(torn.unwrap().is_some() && !membrane.event.is_empty());
            }
        }
    }
}

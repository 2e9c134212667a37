//! Which node fails (W90), and tearing there.
//!
//! Every frame asks all nodes, and nearly none is about to fail. So what bears a node is bounded first, by how far single springs or triangles are drawn; only where that says
//! that somebody might fail, and at tips, the stress is measured.

use super::kernel::greatest_square;
use super::stress::Gauge;
use super::tear::{Aim, Growth, Tear, TearSettings, Thresholds};
use super::{Material, Measure, Membrane};
use trocar_dynamics::Nodes;
use trocar_mesh::sheet::{EdgeId, Kind, NodeId, Refusal, TriangleId};

/// If more than one in so many nodes has to be measured, all are: together they cost less.
const MANY: usize = 4;

/// Bounds are drawn in by this part, which is more than rounding.
const ROUNDING: f64 = 1e-9;

/// Nodes by place that may be about to fail: memory of the search.
#[derive(Clone, Debug, Default)]
pub(super) struct Suspects {
    /// Those above their threshold, in order.
    hot: Vec<u32>,
    /// Those that look farther than their neighbours, and some that did.
    tips: Vec<u32>,
    /// Those to be measured.
    changed: Vec<u32>,
    /// By place: whether a node is among them, while they are gathered.
    listed: Vec<bool>,
    /// Those that fail, in the order in which they have their turn: rank of the kind, excess, place.
    queue: Vec<(u8, f64, u32)>,
}

impl Suspects {
    /// Room for so many nodes: who is about to fail may all come at once.
    pub fn reserve(&mut self, nodes: usize) {
        for list in [&mut self.hot, &mut self.tips, &mut self.changed] {
            list.reserve_exact(nodes.saturating_sub(list.len()));
        }
        self.listed.resize(nodes.max(self.listed.len()), false);
        let known = self.queue.len();
        self.queue.reserve_exact(nodes.saturating_sub(known));
    }

    /// Adds nodes to those to be measured, each once.
    fn list(&mut self, nodes: impl IntoIterator<Item = u32>) {
        for n in nodes {
            if !std::mem::replace(&mut self.listed[n as usize], true) {
                self.changed.push(n);
            }
        }
    }

    /// Puts those to be measured in order; their list is complete.
    fn sort(&mut self) {
        for n in &self.changed {
            self.listed[*n as usize] = false;
        }
        self.changed.sort_unstable();
    }
}

impl Membrane {
    /// Searches the nodes that are above their threshold. By a measure over areas, the stress of all others but tips is left at nothing.
    fn search(&mut self, nodes: &Nodes) {
        let mut gauge = std::mem::take(&mut self.gauge);
        let suspects = &mut gauge.suspects;
        suspects.hot.clear();
        suspects.tips.clear();
        suspects.changed.clear();
        let Some(settings) = self.tearing else {
            self.gauge = gauge;
            return;
        };
        let over_area = matches!(self.measure, Measure::Local | Measure::Tension { .. });
        suspects.reserve(self.live.len());
        let tips = (0..self.live.len()).filter(|n| self.live[*n] && self.kinds[*n] == Kind::Tip);
        suspects.list(tips.map(|n| n as u32));
        if let Measure::Tension { .. } = self.measure {
            suspects.tips.extend(&suspects.changed);
        }
        if over_area {
            self.suspect(nodes, &settings.thresholds, suspects);
        }
        suspects.sort();
        let mut stress = std::mem::take(&mut self.stress);
        if !over_area || suspects.changed.len() * MANY > self.live.len() {
            self.weigh(nodes, &mut stress, &mut gauge);
            let changed = &mut gauge.suspects.changed;
            changed.clear();
            changed.extend(0..stress.len() as u32);
        } else {
            stress.fill(0.0);
            let Gauge {
                around, suspects, ..
            } = &mut gauge;
            for n in &suspects.changed {
                stress[*n as usize] = self.stress_at(nodes, *n as usize, around);
            }
        }
        let Suspects { hot, changed, .. } = &mut gauge.suspects;
        let above = |n: &u32| self.is_hot(*n as usize, stress[*n as usize], &settings.thresholds);
        hot.extend(changed.iter().copied().filter(above));
        self.gauge = gauge;
        self.stress = stress;
    }

    /// Lists the nodes that bear more than what begins to tear at a rim, or may do so.
    ///
    /// The tension around a node is a mean over its triangles, and none of these bears more than the one that bears most. A triangle of springs bears no more than if all three
    /// pulled along one line: so one of them must be drawn beyond a third of that ([`Membrane::suspicious`]).
    fn suspect(&self, nodes: &Nodes, thresholds: &Thresholds, found: &mut Suspects) {
        match self.material {
            Material::Springs { .. } => {
                for (place, (s, square)) in self.springs.iter().zip(&self.suspicious).enumerate() {
                    let [a, b] = s.ends.map(|n| nodes.position[n as usize]);
                    if a.distance_squared(b) > *square {
                        let (one, two) = self.sheet.beside(self.sheet.edge_at(place));
                        let triangles = [Some(one), two].into_iter().flatten();
                        found.list(triangles.flat_map(|t| self.corners[t.slot()]));
                    }
                }
            }
            Material::Sheet {
                stiffness, poisson, ..
            } => {
                // The greater tension is at most that of a sheet drawn as far both ways.
                let modulus = stiffness * (1.0 + poisson.max(0.0)) / (1.0 - poisson * poisson);
                let most = 1.0 + thresholds.edge / modulus;
                let most = most * most * (1.0 - ROUNDING);
                for (flat, corners) in self.flats.iter().zip(&self.corners) {
                    if flat.area > 0.0 {
                        let places = corners.map(|n| nodes.position[n as usize]);
                        if greatest_square(flat, places) > most {
                            found.list(*corners);
                        }
                    }
                }
            }
        }
    }

    /// Finds out anew from which length on springs make suspicious.
    pub(super) fn suspect_springs(&mut self) {
        if let Material::Springs { .. } = self.material {
            for edge in self.sheet.edges() {
                self.suspicious[edge.slot()] = self.suspicious_square(edge);
            }
        }
    }

    /// Square of the length from which on the spring of an edge makes suspicious, m²: beyond every length where nothing tears.
    pub(super) fn suspicious_square(&self, edge: EdgeId) -> f64 {
        let spring = &self.springs[edge.slot()];
        let Some(settings) = self.tearing.filter(|_| spring.full > 0.0) else {
            return f64::INFINITY;
        };
        let (one, two) = self.sheet.beside(edge);
        let area = |t: TriangleId| self.flats[t.slot()].area;
        let least = two.map_or(area(one), |two| area(one).min(area(two)));
        let share = if two.is_some() { 0.5 } else { 1.0 };
        let stretch =
            settings.thresholds.edge * least / (3.0 * share * spring.full * spring.rest_length);
        let length = spring.rest_length + stretch;
        length * length * (1.0 - ROUNDING)
    }

    /// Searches once more where the last edit has changed the stress: around what came, moved or has other neighbours, and at all tips, which look farther.
    /// It costs what the edit costs, however large the sheet is.
    fn search_again(&mut self, nodes: &Nodes) {
        let Some(settings) = self.tearing else {
            return;
        };
        let mut gauge = std::mem::take(&mut self.gauge);
        let mut stress = std::mem::take(&mut self.stress);
        let Gauge {
            around, suspects, ..
        } = &mut gauge;
        suspects.changed.clear();
        suspects.reserve(self.live.len());
        for n in self.patch.touched() {
            suspects.list([n as u32]);
            if self.live[n] {
                let triangles = self.sheet.triangles_around(self.sheet.node_at(n));
                suspects.list(triangles.flat_map(|t| self.corners[t.slot()]));
            }
        }
        let mut tips = std::mem::take(&mut suspects.tips);
        let looks_far = |n: &&u32| self.reach_of(**n as usize).is_some();
        tips.extend(suspects.changed.iter().filter(looks_far));
        tips.sort_unstable();
        tips.dedup();
        suspects.list(tips.iter().copied());
        suspects.tips = tips;
        suspects.sort();
        let Suspects { hot, changed, .. } = suspects;
        for n in changed.iter().map(|n| *n as usize) {
            stress[n] = match self.live[n] {
                true => self.stress_at(nodes, n, around),
                false => 0.0,
            };
        }
        hot.retain(|n| changed.binary_search(n).is_err());
        let above = |n: &u32| self.is_hot(*n as usize, stress[*n as usize], &settings.thresholds);
        hot.extend(changed.iter().copied().filter(above));
        hot.sort_unstable();
        self.gauge = gauge;
        self.stress = stress;
    }

    /// Searches the node that fails and tears there (W90): at most one step of one tear (W113). None if nothing fails.
    ///
    /// [`Membrane::event`] then says what became of the sheet. A step that is refused, or that leaves all as it is, is no harm: the node that
    /// fails next has its turn, so that one that never can does not keep the others from tearing. If none can, what became of the first one
    /// is returned.
    pub fn tear(&mut self, nodes: &mut Nodes) -> Result<Option<Growth>, Refusal> {
        self.search(nodes);
        self.tear_worst(nodes)
    }

    /// [`Membrane::tear`] once more, right after one that tore and before anything has moved: what was measured then still holds but for the neighbourhood of
    /// that tear.
    pub fn tear_again(&mut self, nodes: &mut Nodes) -> Result<Option<Growth>, Refusal> {
        self.search_again(nodes);
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
        let mut queue = std::mem::take(&mut self.gauge.suspects.queue);
        queue.clear();
        for n in &self.gauge.suspects.hot {
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
        self.gauge.suspects.queue = queue;
        done
    }

    /// The node that fails, how far the tear goes if it is a tip (m), and which way.
    pub fn failing(&mut self, nodes: &Nodes) -> Option<(NodeId, f64, Aim)> {
        self.search(nodes);
        self.worst(nodes)
    }

    /// [`failing`](Self::failing) by the stress as last measured: of each kind the node that exceeds its threshold most; a tip before a
    /// rim node before one inside, whatever their stress (W90).
    fn worst(&mut self, nodes: &Nodes) -> Option<(NodeId, f64, Aim)> {
        let settings = self.tearing?;
        let mut best: Option<(u8, f64, usize)> = None;
        for slot in self.gauge.suspects.hot.iter().map(|n| *n as usize) {
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

    /// Whether a node by place is above its threshold under a stress.
    fn is_hot(&self, n: usize, stress: f64, thresholds: &Thresholds) -> bool {
        self.live[n] && stress > thresholds.of(self.kinds[n])
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
}

#[cfg(test)]
mod tests {
    use super::super::MembraneParts;
    use super::super::tear::{Algorithm, Lengths};
    use super::*;
    use glam::DVec3;
    use trocar_mesh::primitive::HexagonalShape;
    use trocar_mesh::sheet::Sheet;

    #[test]
    fn after_a_tear_the_stress_is_that_of_the_whole_sheet_measured_anew() {
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
                membrane.search_again(&nodes);
                let mut whole = membrane.clone();
                let stress = whole.stress_now(&nodes);
                let most = stress.iter().copied().fold(0.0, f64::max);
                for (n, now) in stress.iter().enumerate() {
                    let is_tip = membrane.live[n] && membrane.kinds[n] == Kind::Tip;
                    if is_tip || membrane.gauge.suspects.hot.contains(&(n as u32)) {
                        let off = (membrane.stress[n] - now).abs();
                        assert!(off < 1e-12 * most, "{measure:?}: {off} at {n} of {most}");
                    }
                }
                whole.search(&nodes);
                assert_eq!(membrane.gauge.suspects.hot, whole.gauge.suspects.hot);
                let (one, two) = (membrane.worst(&nodes), whole.worst(&nodes));
                let (one, two) = (one.unwrap(), two.unwrap());
                assert_eq!(one.0, two.0);
                assert!((one.1 - two.1).abs() < 1e-12);
                assert!(membrane.gauge.suspects.hot.len() > 5);
                let torn = membrane.tear_worst(&mut nodes);
                assert!(torn.unwrap().is_some() && !membrane.event.is_empty());
            }
        }
    }

    fn noise(seed: u64) -> f64 {
        let mut z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    #[test]
    fn nobody_who_fails_is_passed_over() {
        let materials = [
            Material::Springs {
                stiffness: 6500.0,
                mass: 0.01,
            },
            Material::Sheet {
                stiffness: 7500.0,
                poisson: 0.3,
                density: 40.0,
            },
            Material::Sheet {
                stiffness: 7500.0,
                poisson: 0.0,
                density: 40.0,
            },
        ];
        let (mut failed, mut few) = (0, 0);
        for case in 0..60 {
            let mut parts = MembraneParts::new(
                Sheet::new(&HexagonalShape::STANDARD.surface().unwrap()).unwrap(),
                materials[case % 3],
            );
            parts.prestress = [1.0, 0.97][case / 3 % 2];
            parts.measure = [Measure::Local, Measure::Tension { reach: 1.2e-3 }][case / 6 % 2];
            parts.tearing = Some(TearSettings {
                algorithm: Algorithm::Continuous,
                thresholds: Thresholds {
                    tip: 50.0,
                    edge: 1e5,
                    inner: 1e5,
                    fastest: 100.0,
                },
                lengths: Lengths::of_edge(0.5e-3),
            });
            let mut membrane = Membrane::new(parts).unwrap();
            let mut nodes = membrane.rest();
            // Torn a little, so that there are tips, twins and triangles of other sizes.
            let way = Aim::Toward(DVec3::new(noise(case as u64), 1.0, 0.0));
            let mut node = membrane.sheet.node_at(3 + case % 10);
            for _ in 0..9 {
                if let Ok(Growth::Started) = membrane.tear_at(&mut nodes, node, 1e-4, way) {
                    let tips = membrane.sheet.nodes();
                    let mut tips = tips.filter(|n| membrane.sheet.kind(*n) == Some(Kind::Tip));
                    node = tips.next().unwrap();
                }
            }
            // Drawn out along some way, more here than there, and shaken.
            let seed = 1000 * case as u64;
            let along = DVec3::new(noise(seed + 1), noise(seed + 2), 0.0).normalize();
            for (n, p) in nodes.position.iter_mut().enumerate() {
                let by = 0.05 * (1.0 + 200.0 * noise(seed) * p.x);
                let n = seed + 3 * n as u64;
                *p += along * (by * along.dot(*p));
                *p += DVec3::new(noise(n), noise(n + 1), noise(n + 2)) * 0.01e-3;
            }
            let stress = membrane.stress_now(&nodes);
            let most = (0..stress.len())
                .filter(|n| membrane.live[*n] && membrane.kinds[*n] != Kind::Tip)
                .fold(0.0, |most, n| f64::max(most, stress[n]));
            for part in [0.999, 0.9, 0.5, 0.2, 2.0] {
                let mut settings = *membrane.tearing().unwrap();
                settings.thresholds.edge = (part * most).max(50.0);
                settings.thresholds.inner = settings.thresholds.edge;
                membrane.set_tearing(Some(settings)).unwrap();
                membrane.search(&nodes);
                let fail = |n: &usize| membrane.is_hot(*n, stress[*n], &settings.thresholds);
                let expected: Vec<u32> = (0..stress.len()).filter(fail).map(|n| n as u32).collect();
                assert_eq!(membrane.gauge.suspects.hot, expected, "{case} {part}");
                failed += usize::from(expected.len() > 1);
                few += usize::from(membrane.gauge.suspects.changed.len() * MANY < stress.len());
            }
        }
        // Both ways to measure were gone, and there was something to be found.
        assert!(failed > 100 && few > 60 && few < 280, "{failed} {few}");
    }
}

//! Bending springs, kept right as the sheet changes (W63, W115): with them a piece that is pulled off stays spread out (W64).

use std::collections::{BTreeMap, BTreeSet};

use trocar_math::angle;
use trocar_mesh::sheet::{Event, Kind, NodeId, NodeStep, Sheet};

/// Two neighbours of a rim node are joined if the sheet between them turns by no more than this, rad: corners of an outline that bend
/// inwards have springs, too.
const WIDEST: f64 = 1.5 * std::f64::consts::PI;

/// The same where the rim is a tear: beyond straight on, a spring would bridge it.
const WIDEST_AT_TEAR: f64 = 1.05 * std::f64::consts::PI;

/// A bending spring: two nodes, by place, and their distance at rest, m.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Bend {
    pub(super) nodes: [u32; 2],
    pub(super) rest_length: f64,
}

impl Bend {
    pub(super) fn is_there(&self) -> bool {
        self.nodes[0] != self.nodes[1]
    }
}

/// Springs between nodes that have a neighbour in common and no triangle (M6).
#[derive(Clone, Debug, Default)]
pub(super) struct Bends {
    /// By place; [`Bend::is_there`] says where there is one.
    pub(super) springs: Vec<Bend>,
    /// Places where there is none. The first is taken first, so that they follow from the springs.
    holes: BTreeSet<usize>,
    /// Places that came or changed since [`Bends::follow`] was last asked to.
    pub(super) changed: Vec<usize>,
    /// Where each pair stands in the list, and how many nodes it has in its middle.
    places: BTreeMap<[u32; 2], (usize, u32)>,
    /// The pairs of each middle node, by place.
    of_middle: Vec<Vec<[u32; 2]>>,
    /// Springs at each node, by place.
    degree: Vec<u32>,
}

impl Bends {
    pub(super) fn new(sheet: &Sheet) -> Self {
        let mut bends = Self::default();
        for node in sheet.nodes() {
            bends.add(sheet, node);
        }
        bends
    }

    /// Springs at a node by place.
    pub(super) fn at(&self, node: usize) -> u32 {
        self.degree.get(node).copied().unwrap_or(0)
    }

    /// Springs there are.
    pub(super) fn count(&self) -> usize {
        self.springs.len() - self.holes.len()
    }

    /// The pairs in the order of their springs, the same node twice where there is none: sums depend on it, and it on how the sheet was torn.
    pub(super) fn order(&self) -> impl Iterator<Item = [u32; 2]> + '_ {
        self.springs.iter().map(|spring| spring.nodes)
    }

    /// Puts the springs into an order; false if that is not one of the same pairs.
    pub(super) fn reorder(&mut self, order: &[[u32; 2]]) -> bool {
        let mut springs = vec![Bend::default(); order.len()];
        let mut used = vec![false; self.springs.len()];
        let mut holes = BTreeSet::new();
        for (at, (spring, pair)) in springs.iter_mut().zip(order).enumerate() {
            if *pair == Bend::default().nodes {
                holes.insert(at);
                continue;
            }
            let Some((place, _)) = self.places.get(pair) else {
                return false;
            };
            if std::mem::replace(&mut used[*place], true) {
                return false;
            }
            *spring = self.springs[*place];
        }
        if springs.len() - holes.len() != self.count() {
            return false;
        }
        for (place, spring) in springs.iter().enumerate() {
            if let Some(entry) = self.places.get_mut(&spring.nodes) {
                entry.0 = place;
            }
        }
        (self.springs, self.holes) = (springs, holes);
        true
    }

    /// Places of the springs of all middles that an edit may have changed.
    pub(super) fn around(&self, sheet: &Sheet, event: &Event, places: &mut Vec<usize>) {
        places.clear();
        if self.of_middle.is_empty() {
            return;
        }
        let near = event.nodes.iter().filter(|n| sheet.has_node(**n));
        let mut middles: Vec<usize> = near
            .flat_map(|n| {
                let others = sheet.edges_around(*n).map(|(_, other)| other.slot());
                others.chain([n.slot()])
            })
            .collect();
        middles.extend(event.steps.iter().filter_map(|step| match step {
            NodeStep::Removed(node) => Some(node.slot()),
            _ => None,
        }));
        middles.sort_unstable();
        middles.dedup();
        let pairs = middles.into_iter().filter_map(|m| self.of_middle.get(m));
        let known = pairs.flatten().filter_map(|pair| self.places.get(pair));
        places.extend(known.map(|(place, _)| *place));
        places.sort_unstable();
        places.dedup();
    }

    /// Finds the pairs of all middles that an edit may have changed, anew, and adds all nodes to `touched` that may have other springs now.
    pub(super) fn follow(&mut self, sheet: &Sheet, event: &Event, touched: &mut Vec<NodeId>) {
        self.changed.clear();
        // Whether two nodes share a triangle also decides for middles one step away from what changed.
        let mut middles: Vec<NodeId> = event.nodes.clone();
        for node in &event.nodes {
            middles.extend(sheet.edges_around(*node).map(|(_, other)| other));
        }
        middles.sort_unstable();
        middles.dedup();
        for step in &event.steps {
            if let NodeStep::Removed(node) = step {
                self.take(node.slot());
            }
        }
        for middle in &middles {
            self.take(middle.slot());
        }
        for middle in &middles {
            self.add(sheet, *middle);
            touched.extend(sheet.edges_around(*middle).map(|(_, other)| other));
        }
        touched.extend(middles);
    }

    fn take(&mut self, middle: usize) {
        let Some(pairs) = self.of_middle.get_mut(middle) else {
            return;
        };
        for pair in std::mem::take(pairs) {
            let Some((place, middles)) = self.places.get_mut(&pair) else {
                continue;
            };
            *middles -= 1;
            if *middles > 0 {
                continue;
            }
            let place = *place;
            self.places.remove(&pair);
            pair.into_iter().for_each(|n| self.degree[n as usize] -= 1);
            self.springs[place] = Bend::default();
            self.holes.insert(place);
            self.changed.push(place);
        }
    }

    fn add(&mut self, sheet: &Sheet, middle: NodeId) {
        if self.degree.len() < sheet.node_slots() {
            self.degree.resize(sheet.node_slots(), 0);
        }
        let here = sheet.rest(middle);
        let fan: Vec<_> = sheet.fan(middle).collect();
        let closed = sheet.rim_neighbours(middle).is_none();
        // Neighbours in order, and how far the sheet turns from each to the next.
        let mut around: Vec<(NodeId, f64)> = fan
            .iter()
            .map(|(_, b, c)| (*b, angle(sheet.rest(*b) - here, sheet.rest(*c) - here)))
            .collect();
        if let (false, Some((_, _, last))) = (closed, fan.last()) {
            around.push((*last, f64::INFINITY));
        }
        let torn = sheet.kind(middle) == Some(Kind::Tip) || sheet.siblings(middle).next().is_some();
        let widest = if torn { WIDEST_AT_TEAR } else { WIDEST };
        let total: f64 = around.iter().map(|(_, turn)| turn).sum();
        let mut pairs = Vec::new();
        for i in 0..around.len() {
            let mut turned = 0.0;
            for j in i + 1..around.len() {
                turned += around[j - 1].1;
                let shorter = if closed {
                    turned.min(total - turned)
                } else {
                    turned
                };
                let (a, b) = (around[i].0, around[j].0);
                if shorter > widest || share_a_triangle(sheet, a, b) {
                    continue;
                }
                let (a, b) = if a.slot() < b.slot() { (a, b) } else { (b, a) };
                let rest_length = sheet.rest(a).distance(sheet.rest(b));
                let pair = [a.slot() as u32, b.slot() as u32];
                pairs.push(pair);
                let bend = Bend {
                    nodes: pair,
                    rest_length,
                };
                let (holes, springs) = (&mut self.holes, &mut self.springs);
                let entry = self.places.entry(pair).or_insert_with(|| {
                    pair.into_iter().for_each(|n| self.degree[n as usize] += 1);
                    let place = holes.pop_first().unwrap_or(springs.len());
                    if place == springs.len() {
                        springs.push(bend);
                    }
                    (place, 0)
                });
                entry.1 += 1;
                self.springs[entry.0] = bend;
                self.changed.push(entry.0);
            }
        }
        if self.of_middle.len() <= middle.slot() {
            self.of_middle.resize(sheet.node_slots(), Vec::new());
        }
        self.of_middle[middle.slot()] = pairs;
    }

    /// The pairs, in order, with their rest lengths.
    #[cfg(test)]
    pub(super) fn sorted(&self) -> Vec<([u32; 2], f64)> {
        let mut all: Vec<_> = self
            .springs
            .iter()
            .filter(|b| b.is_there())
            .map(|b| (b.nodes, b.rest_length))
            .collect();
        all.sort_unstable_by_key(|(pair, _)| *pair);
        all
    }
}

fn share_a_triangle(sheet: &Sheet, a: NodeId, b: NodeId) -> bool {
    sheet.fan(a).any(|(_, x, y)| x == b || y == b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::membrane::tear::{Aim, Algorithm, Lengths, Tear};
    use glam::DVec3;
    use trocar_mesh::primitive::HexagonalShape;

    #[test]
    fn the_standard_sheet_has_the_springs_of_the_source_and_a_torn_one_those_it_should() {
        let surface = HexagonalShape::STANDARD.surface().unwrap();
        let mut sheet = Sheet::new(&surface).unwrap();
        let mut bends = Bends::new(&sheet);
        assert_eq!(bends.springs.len(), 1923);

        for algorithm in [Algorithm::Continuous, Algorithm::PseudoContinuous] {
            let (mut event, mut headings) = (Event::default(), Vec::new());
            let mut positions = surface.positions.clone();
            positions.resize(sheet.node_slots(), DVec3::ZERO);
            let lengths = Lengths::of_edge(0.5e-3);
            let mut node = sheet
                .nodes()
                .find(|n| sheet.kind(*n) == Some(Kind::Edge) && sheet.fan(*n).count() == 3);
            let way = Aim::Toward(DVec3::new(0.8, 1.0, 0.0));
            let mut calls = 0;
            while let Some(at) = node {
                let mut tear = Tear {
                    sheet: &mut sheet,
                    positions: &positions,
                    headings: &mut headings,
                    lengths,
                    spared: &[],
                };
                tear.call(&mut event, algorithm, at, 0.2e-3, way).unwrap();
                event.carry(&sheet, &mut positions, DVec3::ZERO);
                bends.follow(&sheet, &event, &mut Vec::new());
                calls += 1;
                assert_eq!(
                    bends.sorted(),
                    Bends::new(&sheet).sorted(),
                    "{algorithm:?} {calls}"
                );
                for node in sheet.nodes() {
                    let slot = node.slot() as u32;
                    let live = bends.springs.iter().filter(|b| b.is_there());
                    let mine = live.filter(|b| b.nodes.contains(&slot));
                    assert_eq!(bends.at(node.slot()) as usize, mine.count());
                }
                // No spring bridges a tear: its ends would be one place at rest, or lie on both sides.
                let mut live = bends.springs.iter().filter(|b| b.is_there());
                assert!(live.all(|b| b.rest_length > 1e-9));
                node = sheet.nodes().find(|n| sheet.kind(*n) == Some(Kind::Tip));
            }
            assert!(calls > 10, "{calls}");
        }
    }
}

//! What goes on inside membranes: nodes, springs, and numbers of their nodes in false colours (W140).

use super::{ElementInsight, Insight, NodeInsight, NodeState, Views};
use crate::{Simulation, build::Tissue};
use trocar_dynamics::{Lock, Matter, Nodes};
use trocar_mesh::sheet::{Kind, NodeId};
use trocar_soft::membrane::{Material, Membrane};

/// A displacement that is shown in full colour is at least this, m: noise stays dark.
const LEAST_WAY: f64 = 1e-5;

/// Stress that is shown in full colour is at least that of this strain: noise stays dark.
const LEAST_STRAIN: f64 = 1e-6;

/// A triangle of a membrane and a number from 0 to 1 at each of its corners.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColourInsight {
    /// Where its corners are, m, and their numbers.
    pub corners: [(glam::DVec3, f64); 3],
}

/// Which number of the nodes is shown.
#[derive(Clone, Copy)]
enum Number {
    Stress,
    Displacement,
    Adhesion,
    Front,
}

impl Views {
    /// The first of those that are wanted: a surface has one colour at a time.
    fn number(&self) -> Option<Number> {
        let wanted = [
            (self.stress, Number::Stress),
            (self.displacement, Number::Displacement),
            (self.adhesion, Number::Adhesion),
            (self.front, Number::Front),
        ];
        wanted.iter().find(|w| w.0).map(|w| w.1)
    }
}

impl Simulation {
    /// Adds what is wanted of a membrane.
    pub(super) fn see_film(&self, tissue: &Tissue, wanted: Views, out: &mut Insight) {
        let Some(membrane) = self.model.membrane(tissue.matter) else {
            return;
        };
        let nodes = &self.state.nodes[tissue.matter.index()];
        let sheet = membrane.sheet();
        if wanted.nodes {
            let held = |n: usize| {
                let skins = self.groups.iter().flat_map(|g| &g.skins);
                let mut ours = skins.filter(|s| s.matter == tissue.matter);
                ours.any(|s| s.held.iter().any(|h| h.1 as usize == n))
            };
            let seen = sheet.nodes().map(|node| {
                let n = node.slot();
                let state = match membrane.masses().lock(n) {
                    _ if self.is_pulled(tissue.matter, n as u32) => NodeState::Pulled,
                    Lock::Fixed => NodeState::Fixed,
                    _ if held(n) => NodeState::Grasped,
                    _ => NodeState::Free,
                };
                let position = nodes.position[n];
                NodeInsight { position, state }
            });
            out.nodes.extend(seen);
        }
        if wanted.elements {
            membrane.see_springs(nodes, |a, b, force| {
                out.elements.push(ElementInsight { a, b, force });
            });
        }
        if wanted.normals {
            for node in sheet.nodes() {
                let normal = sheet
                    .triangles_around(node)
                    .fold(glam::DVec3::ZERO, |sum, t| {
                        let [a, b, c] = sheet.corners(t).map(|n| nodes.position[n.slot()]);
                        sum + (b - a).cross(c - a)
                    });
                let at = nodes.position[node.slot()];
                out.normals.push((at, normal.normalize_or_zero()));
            }
        }
        if let Some(number) = wanted.number() {
            let colours = Colours::of(membrane, nodes, number);
            let seen = sheet.triangles().map(|t| ColourInsight {
                corners: sheet.corners(t).map(|node| {
                    let value = colours.value(node).clamp(0.0, 1.0);
                    (nodes.position[node.slot()], value)
                }),
            });
            out.colours.extend(seen);
        }
    }
}

fn way(membrane: &Membrane, nodes: &Nodes, node: NodeId) -> f64 {
    nodes.position[node.slot()].distance(membrane.sheet().rest(node))
}

fn farthest(membrane: &Membrane, nodes: &Nodes) -> f64 {
    let ways = membrane.sheet().nodes();
    ways.map(|n| way(membrane, nodes, n))
        .fold(LEAST_WAY, f64::max)
}

/// What the colours of a membrane go by.
struct Colours<'a> {
    membrane: &'a Membrane,
    nodes: &'a Nodes,
    number: Number,
    stress: Vec<f64>,
    /// What is shown in full colour, where that depends on all nodes.
    most: f64,
}

impl<'a> Colours<'a> {
    fn of(membrane: &'a Membrane, nodes: &'a Nodes, number: Number) -> Self {
        // A step measures only those who might fail; all are when somebody looks.
        let stress = match number {
            Number::Stress => membrane.stress_now(nodes),
            _ => Vec::new(),
        };
        let most = match number {
            Number::Displacement => farthest(membrane, nodes),
            Number::Stress => {
                let (Material::Springs { stiffness, .. } | Material::Sheet { stiffness, .. }) =
                    membrane.material();
                stress
                    .iter()
                    .copied()
                    .fold(LEAST_STRAIN * stiffness, f64::max)
            }
            Number::Adhesion | Number::Front => 1.0,
        };
        Self {
            membrane,
            nodes,
            number,
            stress,
            most,
        }
    }

    fn value(&self, node: NodeId) -> f64 {
        let (membrane, n) = (self.membrane, node.slot());
        let sheet = membrane.sheet();
        let kind = sheet.kind(node).unwrap_or(Kind::Edge);
        match self.number {
            // How near it is to failing; without thresholds, to what bears most.
            Number::Stress => {
                let bears = membrane.tearing().map(|t| t.thresholds.of(kind));
                self.stress[n] / bears.unwrap_or(self.most)
            }
            Number::Displacement => way(membrane, self.nodes, node) / self.most,
            Number::Adhesion if membrane.sticks() => membrane.attachment(n),
            Number::Adhesion => 0.0,
            // Tips, then torn edges, then where it is coming off.
            Number::Front => {
                let sticks = membrane.sticks() && membrane.attachment(n) > 0.0;
                let beside_loose = || {
                    let mut around = sheet.edges_around(node);
                    around.any(|(_, other)| membrane.attachment(other.slot()) == 0.0)
                };
                match kind {
                    Kind::Tip => 1.0,
                    Kind::Edge if sheet.siblings(node).next().is_some() => 0.7,
                    _ if sticks && beside_loose() => 0.4,
                    _ => 0.0,
                }
            }
        }
    }
}

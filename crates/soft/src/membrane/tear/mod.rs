//! Tearing (W77–W119): where a membrane fails, which way, how far, and what becomes of the sheet.
//!
//! A tear is driven by stress and releases it (W78), by fractions of a millimetre and in any direction (W79, W83). Criteria and topology are apart (W84). [`direction`] says which way, [`TearSettings`] how far; [`search`] finds the node that
//! fails. A [`Tear`] then changes the sheet in one transaction, on rest positions alone (W114), and its event says what
//! became of everything else.

mod baseline;
mod continuous;
pub mod direction;
mod ends;
mod pseudo;
mod settings;

pub use direction::Aim;
pub use settings::{Algorithm, Lengths, SettingsError, TearSettings, Thresholds};

use glam::DVec3;
use trocar_mesh::sheet::{Event, Kind, NodeId, Refusal, Sheet};

/// What a call did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// A new tear.
    Started,
    /// A tear went on; its tip is now this node.
    Grew(NodeId),
    /// A tear reached a rim, or another tear.
    Ended,
    /// The sheet around the tip was only put in order.
    Held,
}

/// A sheet about to be torn.
#[derive(Debug)]
pub struct Tear<'a> {
    /// The sheet.
    pub sheet: &'a mut Sheet,
    /// Where its nodes are, m, by place.
    pub positions: &'a [DVec3],
    /// Where zippers under way lead, by place (W98).
    pub headings: &'a mut Vec<Option<NodeId>>,
    /// Lengths to go by.
    pub lengths: Lengths,
    /// Nodes, by place, that the tear leaves where they are, because something holds them; none beyond its end.
    pub spared: &'a [bool],
}

/// Whether a node is one of those that are left where they are.
fn is_spared(spared: &[bool], node: NodeId) -> bool {
    spared.get(node.slot()).copied().unwrap_or(false)
}

impl Tear<'_> {
    /// Tears at `node`, `length` m far if it is a tip (W91). `event` says what happened.
    pub fn call(
        &mut self,
        event: &mut Event,
        algorithm: Algorithm,
        node: NodeId,
        length: f64,
        aim: Aim,
    ) -> Result<Growth, Refusal> {
        let kind = self.sheet.kind(node).ok_or(Refusal::NoNode(node))?;
        match (algorithm, kind) {
            (Algorithm::EdgeBased, _) => self.along_least_stretched(event, node),
            (Algorithm::Perpendicular, _) => self.across_most_stretched(event, node),
            (Algorithm::Deletion, _) => self.delete(event, node),
            (Algorithm::Subdivision, _) => self.subdivide(event, node, aim),
            (_, Kind::Edge | Kind::Inner) => self.start(event, node, aim),
            (Algorithm::Continuous, Kind::Tip) => self.continuous(event, node, length, aim),
            (Algorithm::PseudoContinuous, Kind::Tip) => self.pseudo(event, node, length, aim),
        }
    }
}

/// The node that fails (W90): of each kind the one that exceeds its threshold most; a tip before a rim node before one inside,
/// whatever their stress. `stress` by place, what nodes are, and which ones never fail. Rim nodes with one triangle have nothing
/// to tear (W107).
pub fn search(
    sheet: &Sheet,
    stress: &[f64],
    kinds: &[Kind],
    spared: &[bool],
    thresholds: &Thresholds,
) -> Option<NodeId> {
    let least = thresholds.tip.min(thresholds.edge).min(thresholds.inner);
    let mut best = [(0.0, None); 3];
    for (slot, (stress, kind)) in stress.iter().zip(kinds).enumerate() {
        if *stress <= least || spared[slot] {
            continue;
        }
        let excess = stress - thresholds.of(*kind);
        let rank = match kind {
            Kind::Tip => 0,
            Kind::Edge => 1,
            Kind::Inner => 2,
        };
        if excess > best[rank].0 {
            let node = sheet.node_at(slot);
            if sheet.has_node(node) && (*kind != Kind::Edge || sheet.fan(node).nth(1).is_some()) {
                best[rank] = (excess, Some(node));
            }
        }
    }
    best.into_iter().find_map(|(_, node)| node)
}

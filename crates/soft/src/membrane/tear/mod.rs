//! Tearing (W77–W119): where a membrane fails, which way, how far, and what becomes of the sheet.
//!
//! A tear is driven by stress and releases it (W78), by fractions of a millimetre and in any direction (W79, W83). Criteria and topology are apart (W84). [`direction`] says which way, [`TearSettings`] how far; the membrane says
//! which node fails. A [`Tear`] then changes the sheet in one transaction, on rest positions alone (W114), and its event says what
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
            // A tip that is held stays where it is: the tear goes on as it would start there.
            (_, Kind::Tip) if is_spared(self.spared, node) => self.start(event, node, aim),
            (Algorithm::Continuous, Kind::Tip) => self.continuous(event, node, length, aim),
            (Algorithm::PseudoContinuous, Kind::Tip) => self.pseudo(event, node, length, aim),
        }
    }
}

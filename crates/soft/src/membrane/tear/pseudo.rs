//! Pseudo-continuous tearing (W95–W99): a node is snapped onto the way, and the edge to it opens like a zipper.

use super::direction::ray;
use super::ends::snap_onto;
use super::{Aim, Growth, Tear};
use trocar_mesh::sheet::{Edit, Event, Kind, NodeId, Refusal};

impl Tear<'_> {
    pub(super) fn pseudo(
        &mut self,
        event: &mut Event,
        tip: NodeId,
        length: f64,
        aim: Aim,
    ) -> Result<Growth, Refusal> {
        let heading = self.headings.get(tip.slot()).copied().flatten();
        let under_way = heading.filter(|far| self.sheet.edge_between(tip, *far).is_ok());
        let (growth, leads) = match under_way {
            Some(far) => self.sheet.edit(event, |edit| pull(edit, tip, far, length)),
            None => {
                let found = ray(self.sheet, self.positions, tip, aim).ok_or(Refusal::OutOfRange)?;
                let spared = self.spared;
                self.sheet.edit(event, |edit| {
                    let far = snap_onto(edit, &found, spared)?;
                    unzip(edit, tip, far, length)
                })
            }
        }?;
        self.headings.resize(self.sheet.node_slots(), None);
        // Only the tip under way remembers where it leads; whoever takes its place starts afresh.
        self.headings[tip.slot()] = None;
        if let Growth::Grew(now) = growth {
            self.headings[now.slot()] = leads;
        }
        Ok(growth)
    }
}

/// Begins a zipper from `tip` to `far`: the edge between them is split `length` m from the tip and opened up to there.
fn unzip(
    edit: &mut Edit<'_>,
    tip: NodeId,
    far: NodeId,
    length: f64,
) -> Result<(Growth, Option<NodeId>), Refusal> {
    let edge = edit.sheet().edge_between(tip, far)?;
    let whole = edit.sheet().rest_length(edge);
    if length < whole {
        let part = length / whole;
        let from_tip = edit.sheet().ends(edge)[0] == tip;
        let mark = edit.mark();
        // A first step too short for the triangles beside it is made longer.
        for part in [part, part.max(0.01), part.max(0.1)] {
            if let Ok(moving) = edit.split_edge(edge, if from_tip { part } else { 1.0 - part }) {
                let behind = edit.sheet().edge_between(tip, moving)?;
                edit.open(behind)?;
                return Ok((Growth::Grew(moving), Some(far)));
            }
            edit.undo_to(mark);
        }
    }
    let reaches_rim = edit.sheet().kind(far) != Some(Kind::Inner);
    edit.open(edge)?;
    Ok(if reaches_rim {
        (Growth::Ended, None)
    } else {
        (Growth::Grew(far), None)
    })
}

/// Draws the moving tip on towards `far`, and into it (W96, W97).
fn pull(
    edit: &mut Edit<'_>,
    tip: NodeId,
    far: NodeId,
    length: f64,
) -> Result<(Growth, Option<NodeId>), Refusal> {
    let edge = edit.sheet().edge_between(tip, far)?;
    let left = edit.sheet().rest_length(edge);
    if length < left && edit.move_along(tip, edge, length / left).is_ok() {
        return Ok((Growth::Grew(tip), Some(far)));
    }
    if edit.sheet().kind(far) == Some(Kind::Inner) {
        if edit.collapse(tip, far).is_err() {
            edit.open(edge)?;
        }
        return Ok((Growth::Grew(far), None));
    }
    // The far node parts, and the two that the tip becomes lie straight on the torn edge: they are not needed (W109).
    edit.open(edge)?;
    if let Some([next, _]) = edit.sheet().rim_neighbours(tip) {
        let mark = edit.mark();
        if edit.collapse(tip, next).is_err() {
            edit.undo_to(mark);
        }
    }
    Ok((Growth::Ended, None))
}

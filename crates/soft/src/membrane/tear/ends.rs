//! How tears start and end (W106–W111).

use super::direction::{Ray, ray};
use super::{Aim, Growth, Tear, is_spared};
use glam::DVec3;
use trocar_mesh::sheet::{Edit, Event, Kind, NodeId, Refusal};

/// Puts a node where a ray leaves its triangle: the nearer end of that side is snapped there, or the other one, or, where neither
/// may move, the side is split. The edge from the ray's start to that node then runs along the ray.
pub(super) fn snap_onto(
    edit: &mut Edit<'_>,
    ray: &Ray,
    spared: &[bool],
) -> Result<NodeId, Refusal> {
    let [b, c] = ray.side;
    let nearer = if ray.part <= 0.5 { [b, c] } else { [c, b] };
    for (k, node) in nearer.into_iter().enumerate() {
        let sheet = edit.sheet();
        let away = if node == b { ray.part } else { 1.0 - ray.part };
        if away < 1e-9 {
            return Ok(node);
        }
        // The farther one is only worth it when the ray runs about the middle.
        let stays = sheet.kind(node) != Some(Kind::Inner) || is_spared(spared, node);
        if stays || (k == 1 && away > 0.6) {
            continue;
        }
        let corners = sheet.corners(ray.triangle);
        let weights = corners.map(|corner| match corner {
            n if n == b => 1.0 - ray.part,
            n if n == c => ray.part,
            _ => 0.0,
        });
        let mark = edit.mark();
        if edit.snap(node, ray.triangle, weights).is_ok() {
            if fair_around(edit, node) {
                return Ok(node);
            }
            edit.undo_to(mark);
        }
    }
    let edge = edit.sheet().edge_between(b, c)?;
    let from_b = edit.sheet().ends(edge)[0] == b;
    edit.split_edge(edge, if from_b { ray.part } else { 1.0 - ray.part })
}

/// A snap that leaves a triangle worse than this is not worth the node it saves.
const FAIR: f64 = 0.1;

fn fair_around(edit: &Edit<'_>, node: NodeId) -> bool {
    let sheet = edit.sheet();
    sheet
        .triangles_around(node)
        .all(|t| trocar_mesh::sheet::quality(sheet.rest_corners(t)) > FAIR)
}

impl Tear<'_> {
    /// Starts a tear at a node on a rim or inside (W106–W108). What is too small to tear is left: a shred that opened by less would bear
    /// as much as before, and be cut smaller and smaller at one place.
    pub(super) fn start(
        &mut self,
        event: &mut Event,
        node: NodeId,
        aim: Aim,
    ) -> Result<Growth, Refusal> {
        let found = ray(self.sheet, self.positions, node, aim).ok_or(Refusal::OutOfRange)?;
        let (spared, least) = (self.spared, self.lengths.near.min(0.5 * self.lengths.most));
        let was_tip = self.sheet.kind(node) == Some(Kind::Tip);
        let (far, reaches_rim) = self.sheet.edit(event, |edit| {
            let far = snap_onto(edit, &found, spared)?;
            let sheet = edit.sheet();
            if sheet.rest(node).distance(sheet.rest(far)) < least {
                return Err(Refusal::OutOfRange);
            }
            let edge = edit.sheet().edge_between(node, far)?;
            let reaches_rim = edit.sheet().kind(far) != Some(Kind::Inner);
            edit.open(edge)?;
            Ok((far, reaches_rim))
        })?;
        Ok(match was_tip {
            true if reaches_rim => Growth::Ended,
            true => Growth::Grew(far),
            false => Growth::Started,
        })
    }
}

/// Ends a tear at what is nearer than `near` (m) in front of its tip: a rim node, another tip, a rim. True if it did.
pub(super) fn end_if_near(
    edit: &mut Edit<'_>,
    tip: NodeId,
    ahead: DVec3,
    near: f64,
) -> Result<bool, Refusal> {
    let sheet = edit.sheet();
    let here = sheet.rest(tip);
    let Some(behind) = sheet.rim_neighbours(tip) else {
        return Ok(false);
    };
    // Only what lies in front: nodes of the torn edge itself are near, too (M12).
    let in_front = |node: NodeId| (sheet.rest(node) - here).dot(ahead) > 0.0;
    let mut nearest: Option<(f64, NodeId)> = None;
    let mut rim: Option<(f64, [NodeId; 2], f64)> = None;
    for (triangle, b, c) in sheet.fan(tip) {
        for node in [b, c] {
            let distance = sheet.rest(node).distance(here);
            if distance < near
                && !behind.contains(&node)
                && sheet.kind(node) != Some(Kind::Inner)
                && in_front(node)
                && nearest.is_none_or(|(least, _)| distance < least)
            {
                nearest = Some((distance, node));
            }
        }
        let sides = sheet.sides(triangle);
        let across = sides.into_iter().find(|s| !sheet.ends(*s).contains(&tip));
        if across.is_some_and(|side| sheet.is_rim(side)) && (in_front(b) || in_front(c)) {
            let (from, to) = (sheet.rest(b), sheet.rest(c));
            let along = to - from;
            let part = (here - from).dot(along) / along.length_squared();
            let distance = (from + along * part.clamp(0.0, 1.0)).distance(here);
            let better = rim.is_none_or(|(least, ..)| distance < least);
            if distance < near && (0.05..=0.95).contains(&part) && better {
                rim = Some((distance, [b, c], part));
            }
        }
    }
    if let Some((_, node)) = nearest {
        let edge = edit.sheet().edge_between(tip, node)?;
        return Ok(!edit.sheet().is_rim(edge) && edit.open(edge).is_ok());
    }
    if let Some((_, [b, c], part)) = rim {
        let edge = edit.sheet().edge_between(b, c)?;
        let from_b = edit.sheet().ends(edge)[0] == b;
        let foot = edit.split_edge(edge, if from_b { part } else { 1.0 - part })?;
        let edge = edit.sheet().edge_between(tip, foot)?;
        edit.open(edge)?;
        return Ok(true);
    }
    Ok(false)
}

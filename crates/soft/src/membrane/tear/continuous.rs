//! Continuous tearing by progressive cutting (W100–W105): the tip moves through the sheet, and the triangles around it are kept in
//! shape by collapse, split and flip.

use super::direction::{Ray, ray};
use super::ends::end_if_near;
use super::{Aim, Growth, Lengths, Tear, is_spared};
use glam::DVec3;
use trocar_mesh::sheet::{Edit, Event, Kind, NodeId, Refusal, Sheet};

/// Rounds of collapse, split and flip after a move; what is not in order then is so after the next.
const ROUNDS: usize = 6;

/// Triangles that a tip goes through at most in a call: how far it tears must not depend on how small they are.
const LEGS: usize = 8;

/// A tip that may not go the whole way tries half of it, this often.
const HALVINGS: usize = 4;

/// Sides of a torn edge shorter than this part of the greatest are not split to please Delaunay: they would be split without end.
const SHORTEST_SPLIT: f64 = 0.7;

impl Tear<'_> {
    pub(super) fn continuous(
        &mut self,
        event: &mut Event,
        tip: NodeId,
        length: f64,
        aim: Aim,
    ) -> Result<Growth, Refusal> {
        let found = ray(self.sheet, self.positions, tip, aim).ok_or(Refusal::OutOfRange)?;
        let (lengths, spared) = (self.lengths, self.spared);
        self.sheet.edit(event, |edit| {
            let mut growth = Growth::Held;
            let (mut found, mut left) = (found, length);
            for leg in 0..LEGS {
                let mark = edit.mark();
                let way = found.point - edit.sheet().rest(tip);
                let reach = way.length();
                let within = (reach - lengths.gap) / reach;
                let gone = advance(edit, tip, &found, within.min(left / reach));
                match settle(edit, tip, way, &lengths, spared) {
                    Ok(true) => return Ok(Growth::Ended),
                    Ok(false) => {}
                    Err(refusal) if leg == 0 => return Err(refusal),
                    // What came before stays.
                    Err(_) => {
                        edit.undo_to(mark);
                        break;
                    }
                }
                if gone > 0.0 {
                    growth = Growth::Grew(tip);
                }
                left -= gone * reach;
                // It goes on where the side of a triangle was all that held it.
                if gone <= 0.0 || gone < within || left < lengths.least {
                    break;
                }
                // Nobody asks where nodes are that goes towards a point.
                match ray(edit.sheet(), &[], tip, Aim::Toward(way)) {
                    Some(next) => found = next,
                    None => break,
                }
            }
            Ok(growth)
        })
    }
}

/// Ends a tear where its tip has come near a rim, or puts the triangles around the tip in order; true if it has ended.
fn settle(
    edit: &mut Edit<'_>,
    tip: NodeId,
    way: DVec3,
    lengths: &Lengths,
    spared: &[bool],
) -> Result<bool, Refusal> {
    Ok(end_if_near(edit, tip, way, lengths.near)?
        || tidy(edit, tip, way, lengths, spared)? == Growth::Ended)
}

/// Moves a tip along its way through a triangle, by a part of it, or by less if it may not go so far; by which part it did.
fn advance(edit: &mut Edit<'_>, tip: NodeId, found: &Ray, mut part: f64) -> f64 {
    let [b, c] = found.side;
    let corners = edit.sheet().corners(found.triangle);
    if part > 0.0 {
        for _ in 0..=HALVINGS {
            let weights = corners.map(|corner| match corner {
                n if n == b => part * (1.0 - found.part),
                n if n == c => part * found.part,
                _ => 1.0 - part,
            });
            if edit.snap(tip, found.triangle, weights).is_ok() {
                return part;
            }
            part *= 0.5;
        }
    }
    0.0
}

/// Puts the triangles around a tip in order (M12, steps 2 to 4).
fn tidy(
    edit: &mut Edit<'_>,
    tip: NodeId,
    way: DVec3,
    lengths: &Lengths,
    spared: &[bool],
) -> Result<Growth, Refusal> {
    for _ in 0..ROUNDS {
        let mut changed = false;
        // Nodes too close become the tip (W101).
        while let Some(close) = close_to(edit.sheet(), tip, lengths.near, spared) {
            if edit.collapse(close, tip).is_err() {
                break;
            }
            changed = true;
        }
        changed |= split_behind(edit, tip, lengths);
        changed |= flip_around(edit, tip);
        if !changed {
            break;
        }
        if end_if_near(edit, tip, way, lengths.near)? {
            return Ok(Growth::Ended);
        }
    }
    Ok(Growth::Held)
}

fn close_to(sheet: &Sheet, tip: NodeId, near: f64, spared: &[bool]) -> Option<NodeId> {
    let here = sheet.rest(tip);
    sheet
        .fan(tip)
        .flat_map(|(_, b, c)| [b, c])
        .filter(|n| !is_spared(spared, *n))
        .find(|n| sheet.rest(*n).distance(here) < near && sheet.kind(*n) == Some(Kind::Inner))
}

/// Splits the two sides of the tear behind the tip where they are too long, or Delaunay is violated across the tear (W102).
fn split_behind(edit: &mut Edit<'_>, tip: NodeId, lengths: &Lengths) -> bool {
    let sheet = edit.sheet();
    let Some([one, _]) = sheet.rim_neighbours(tip) else {
        return false;
    };
    let length = sheet.rest(one).distance(sheet.rest(tip));
    let mut fan = sheet.fan(tip);
    let first = fan.next().map(|(_, _, apex)| apex);
    let last = fan.last().map(|(_, apex, _)| apex);
    let illegal = match (first, last) {
        (Some(p), Some(q)) if p != q => {
            let [a, b, p, q] = [tip, one, p, q].map(|n| sheet.rest(n));
            length > SHORTEST_SPLIT * lengths.side && opposite_sine([a, b], [p, q]).is_some()
        }
        _ => false,
    };
    if length <= lengths.side && !illegal {
        return false;
    }
    let Ok(edge) = sheet.edge_between(tip, one) else {
        return false;
    };
    edit.split_edge(edge, 0.5).is_ok()
}

/// Flips edges of the triangles around the tip that violate Delaunay, nowhere else (W103, W104).
fn flip_around(edit: &mut Edit<'_>, tip: NodeId) -> bool {
    let mut changed = false;
    for _ in 0..ROUNDS {
        let sheet = edit.sheet();
        // At least one triangle must stay on each side of the tip's tear.
        let splits = sheet.fan(tip).nth(2).is_some();
        let found = sheet
            .spokes(tip)
            .flat_map(|(spoke, across)| [splits.then_some(spoke), Some(across)])
            .flatten()
            .filter_map(|edge| Some((edge, excess(sheet, edge)?)))
            .max_by(|x, y| x.1.total_cmp(&y.1));
        let Some((edge, _)) = found else {
            break;
        };
        if edit.flip(edge).is_err() {
            break;
        }
        changed = true;
    }
    changed
}

/// How far an edge violates Delaunay; none if it does not, or is on a rim.
fn excess(sheet: &Sheet, edge: trocar_mesh::sheet::EdgeId) -> Option<f64> {
    let apexes = sheet.apexes(edge)?;
    opposite_sine(
        sheet.ends(edge).map(|n| sheet.rest(n)),
        apexes.map(|n| sheet.rest(n)),
    )
}

/// Minus the sine of the sum of the angles across an edge, if Delaunay is violated there: unfolded into a plane, each triangle's circle then holds the
/// other's apex.
fn opposite_sine([a, b]: [DVec3; 2], apexes: [DVec3; 2]) -> Option<f64> {
    let [(cos_y, sin_y, y), (cos_z, sin_z, z)] = apexes.map(|apex| {
        let (u, v) = (a - apex, b - apex);
        (
            u.dot(v),
            u.cross(v).length(),
            u.length_squared() * v.length_squared(),
        )
    });
    let sine = cos_y * sin_z + sin_y * cos_z;
    if sine >= 0.0 {
        // Most edges: their angles need not be measured out.
        return None;
    }
    let sine = sine / (y * z).sqrt();
    (sine < -1e-9).then_some(-sine)
}

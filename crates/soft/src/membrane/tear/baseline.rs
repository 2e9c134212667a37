//! Ways of tearing that others have used, to compare with (W116–W119).

use super::direction::ray;
use super::{Aim, Growth, Tear};
use glam::DVec3;
use trocar_mesh::sheet::{EdgeId, Event, Kind, NodeId, Refusal};

impl Tear<'_> {
    /// Now over rest length of an edge.
    fn ratio(&self, edge: EdgeId) -> f64 {
        let [a, b] = self.sheet.ends(edge).map(|n| self.positions[n.slot()]);
        a.distance(b) / self.sheet.rest_length(edge)
    }

    fn open_whole(
        &mut self,
        event: &mut Event,
        node: NodeId,
        edge: EdgeId,
    ) -> Result<Growth, Refusal> {
        let ends = self.sheet.ends(edge);
        let far = if ends[0] == node { ends[1] } else { ends[0] };
        let was_tip = self.sheet.kind(node) == Some(Kind::Tip);
        let reaches_rim = self.sheet.kind(far) != Some(Kind::Inner);
        self.sheet.edit(event, |edit| edit.open(edge))?;
        Ok(match (was_tip, reaches_rim) {
            (_, true) => Growth::Ended,
            (true, _) => Growth::Grew(far),
            (false, _) => Growth::Started,
        })
    }

    /// Opens the edge at a node that is stretched least (W116, M14).
    pub(super) fn along_least_stretched(
        &mut self,
        event: &mut Event,
        node: NodeId,
    ) -> Result<Growth, Refusal> {
        let edge = self
            .sheet
            .edges_around(node)
            .map(|(edge, _)| edge)
            .filter(|edge| !self.sheet.is_rim(*edge))
            .min_by(|x, y| self.ratio(*x).total_cmp(&self.ratio(*y)))
            .ok_or(Refusal::OutOfRange)?;
        self.open_whole(event, node, edge)
    }

    /// Opens the edge at a node that runs most nearly across its most stretched one (W117, M15).
    pub(super) fn across_most_stretched(
        &mut self,
        event: &mut Event,
        node: NodeId,
    ) -> Result<Growth, Refusal> {
        let edges = || self.sheet.edges_around(node);
        let way = |other: NodeId| -> DVec3 {
            (self.positions[other.slot()] - self.positions[node.slot()]).normalize_or_zero()
        };
        let most = edges()
            .max_by(|x, y| self.ratio(x.0).total_cmp(&self.ratio(y.0)))
            .map(|(_, other)| way(other))
            .ok_or(Refusal::OutOfRange)?;
        let edge = edges()
            .filter(|(edge, _)| !self.sheet.is_rim(*edge))
            .map(|(edge, other)| (edge, way(other).dot(most).abs()))
            .min_by(|x, y| x.1.total_cmp(&y.1))
            .map(|(edge, _)| edge)
            .ok_or(Refusal::OutOfRange)?;
        self.open_whole(event, node, edge)
    }

    /// Takes out the triangles at a node's most stretched edge (W118, M15): loses area, and is there to show it.
    pub(super) fn delete(&mut self, event: &mut Event, node: NodeId) -> Result<Growth, Refusal> {
        let edge = self
            .sheet
            .edges_around(node)
            .map(|(edge, _)| edge)
            .max_by(|x, y| self.ratio(*x).total_cmp(&self.ratio(*y)))
            .ok_or(Refusal::OutOfRange)?;
        let (one, two) = self.sheet.beside(edge);
        self.sheet.edit(event, |edit| {
            edit.remove(one)?;
            two.map_or(Ok(()), |two| edit.remove(two))
        })?;
        Ok(Growth::Started)
    }

    /// Cuts the way into the triangle in front, all through it (W119).
    pub(super) fn subdivide(
        &mut self,
        event: &mut Event,
        node: NodeId,
        aim: Aim,
    ) -> Result<Growth, Refusal> {
        let found = ray(self.sheet, self.positions, node, aim).ok_or(Refusal::OutOfRange)?;
        let was_tip = self.sheet.kind(node) == Some(Kind::Tip);
        let [b, c] = found.side;
        let (far, rim) = self.sheet.edit(event, |edit| {
            let side = edit.sheet().edge_between(b, c)?;
            let rim = edit.sheet().is_rim(side);
            let from_b = edit.sheet().ends(side)[0] == b;
            // Too near to a node to be split there: through the node.
            let far =
                match edit.split_edge(side, if from_b { found.part } else { 1.0 - found.part }) {
                    Ok(far) => far,
                    Err(_) if found.part < 0.5 => b,
                    Err(_) => c,
                };
            let rim = rim || edit.sheet().kind(far) != Some(Kind::Inner);
            let edge = edit.sheet().edge_between(node, far)?;
            edit.open(edge)?;
            Ok::<_, Refusal>((far, rim))
        })?;
        Ok(match (was_tip, rim) {
            (_, true) => Growth::Ended,
            (true, _) => Growth::Grew(far),
            (false, _) => Growth::Started,
        })
    }
}

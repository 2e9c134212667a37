//! Planes and convex pieces on the triangles of a surface.

use super::{
    AWRY, EDGE_ON, NO_AREA, Patch, Scene, Touch, bearing,
    probe::{Ahead, Probe, Way, moving},
};
use crate::{
    closest,
    rigid::{Meeting, Nearness, Piece},
    sweep::{self, Flight, Impact, Moving},
};
use glam::DVec3;
use trocar_math::Pose;

impl Patch {
    /// What is below a plane is pushed out of it at the corners: between them a triangle is flat, as the plane is.
    #[inline(never)]
    pub(super) fn touch_plane(
        &mut self,
        (c, t): (u32, u32),
        (point, normal): (DVec3, DVec3),
        margin: f64,
        positions: &[DVec3],
        out: &mut Vec<Touch>,
    ) {
        let nodes = self.triangles[t as usize];
        for (k, n) in nodes.into_iter().enumerate() {
            let corner = positions[n as usize];
            let height = (corner - point).dot(normal);
            if height > margin {
                continue;
            }
            let mut weights = [0.0; 3];
            weights[k] = 1.0;
            let touch = Touch {
                probe: c as usize,
                at: corner - normal * height,
                distance: 0.0,
                nodes,
                weights,
                normal,
                key: (0, bearing(nodes, weights)),
            };
            if self.is_new(&touch) {
                out.push(touch);
            }
        }
    }

    #[inline(never)]
    pub(super) fn touch_convex(
        &mut self,
        (c, t): (u32, u32),
        (piece, probe): (&Piece, &Probe),
        scene: &Scene<'_>,
        out: &mut Vec<Touch>,
    ) {
        let positions = scene.positions;
        let nodes = self.triangles[t as usize];
        let corners = nodes.map(|n| positions[n as usize]);
        let flight = match probe.ahead {
            Some(Ahead {
                way: Way::Pose(end),
                watch,
            }) => Some((end, watch, nodes.map(scene.way))),
            _ => None,
        };
        let swept = flight.map_or(0.0, |(_, _, ways)| {
            let squares = ways.iter().map(|w| w.length_squared());
            squares.fold(0.0, f64::max).sqrt()
        });
        let margin = probe.margin + swept;
        let face = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
        if face.length_squared() < NO_AREA {
            // It is its longest edge. What has that edge and an area sees all of it.
            if !self.is_borne(longest(corners).map(|k| nodes[k]), positions) {
                self.touch_sliver((c, nodes), piece, (corners, margin), out);
            }
            return;
        }
        let (p, q, normal) = match piece.nearest(corners, margin, &mut self.scratch) {
            Nearness::Near(p, q, normal) => (p, q, normal),
            Nearness::Far => return,
            // What can't be told may touch: what lies over the triangle does, from the side it was last seen on.
            Nearness::Unknown => {
                let middle = (corners[0] + corners[1] + corners[2]) / 3.0;
                let normal = (middle - piece.pose().position).normalize_or(DVec3::Y);
                (DVec3::NAN, middle, normal)
            }
        };
        let weights = closest::on_triangle(q, corners);
        let outward = self.outward(nodes, weights, positions);
        let along = outward.normalize_or(DVec3::Y).dot(normal);
        let (side, mut now) = self.side((c, t), along, along.abs() >= EDGE_ON);
        if along.abs() < EDGE_ON {
            // Met edge on, a triangle has no side that could have been left.
            now = side;
        }
        // What is farther away is touched only if the two meet on their way, and where they meet.
        if let Some((end, watch, ways)) = flight
            && side == now
            && (q - p).dot(normal) > watch
        {
            let impact = self.impact((piece, end), moving(corners, ways));
            let Some(impact) = impact else {
                return;
            };
            if impact.certain && impact.normal != DVec3::ZERO {
                let touch = swept_touch((c, nodes), (piece, end), (corners, ways), &impact);
                if self.is_new(&touch) {
                    out.push(touch);
                }
                return;
            }
        }
        let back = face.normalize_or(DVec3::Y) * -f64::from(side);
        let mut meetings = std::mem::take(&mut self.meetings);
        meetings.clear();
        let nearest = if side == now && self.looks_out(nodes, weights, -normal, positions) {
            // Where the nearest points are not known, only what lies over the triangle is.
            (p, q, if p.is_nan() { back } else { normal })
        } else {
            // It has come through: the way out is back to where it came from. Or it meets the triangle from the side, where
            // an edge seems a wall; but behind it the surface goes on, and what slides over the surface must not stumble
            // there. In both cases only what lies over the triangle itself touches it.
            (DVec3::NAN, q, back)
        };
        piece.meet(corners, nearest, margin, &mut self.scratch, &mut meetings);
        // Deeper than it is thick, it has long passed, or the surface is crumpled and has no side there.
        let deepest = -4.0 * piece.thickness();
        let near = |m: &&Meeting| (m.triangle - m.piece).dot(m.normal) >= deepest;
        for meeting in meetings.iter().filter(near) {
            let weights = closest::on_triangle(meeting.triangle, corners);
            let touch = Touch {
                probe: c as usize,
                at: meeting.piece,
                distance: 0.0,
                nodes,
                weights,
                normal: meeting.normal,
                key: (meeting.feature, bearing(nodes, weights)),
            };
            if self.is_new(&touch) {
                out.push(touch);
            }
        }
        self.meetings = meetings;
    }

    /// True if a triangle with an area has both of these nodes.
    fn is_borne(&self, [a, b]: [u32; 2], positions: &[DVec3]) -> bool {
        self.stars.around(a).any(|t| {
            let nodes = self.triangles[t as usize];
            let [p, q, r] = nodes.map(|n| positions[n as usize]);
            nodes.contains(&b) && (q - p).cross(r - p).length_squared() >= NO_AREA
        })
    }

    /// A triangle without area that nothing beside it stands for: the nearest point of the segment that it is. It has no sides, so that it is pushed away
    /// from where it is now.
    fn touch_sliver(
        &mut self,
        (c, nodes): (u32, [u32; 3]),
        piece: &Piece,
        (corners, margin): ([DVec3; 3], f64),
        out: &mut Vec<Touch>,
    ) {
        let [i, j] = longest(corners);
        let (from, to) = (corners[i], corners[j]);
        let (at, near, normal) = match piece.nearest([from, to, to], margin, &mut self.scratch) {
            Nearness::Near(p, q, normal) => (p, q, normal),
            Nearness::Far => return,
            Nearness::Unknown => {
                let middle = from.midpoint(to);
                let normal = (middle - piece.pose().position).normalize_or(DVec3::Y);
                (middle, middle, normal)
            }
        };
        let along = closest::on_segment(near, from, to);
        let mut weights = [0.0; 3];
        weights[i] = 1.0 - along;
        weights[j] += along;
        let touch = Touch {
            probe: c as usize,
            at,
            distance: 0.0,
            nodes,
            weights,
            normal,
            key: (SLIVER, bearing(nodes, weights)),
        };
        if self.is_new(&touch) {
            out.push(touch);
        }
    }

    /// When a piece on its way to a pose first meets a triangle.
    fn impact(&mut self, (piece, end): (&Piece, Pose), triangle: [Moving; 3]) -> Option<Impact> {
        let piece = piece.clone();
        let near = sweep::TOLERANCE;
        sweep::convex_triangle(
            &Flight { piece, end },
            triangle,
            near,
            near,
            &mut self.scratch,
        )
    }

    /// True if the unit vector `out` may lead from the surface at a point to something that touches it there from outside:
    /// no triangle around the point lies in its way.
    fn looks_out(
        &self,
        nodes: [u32; 3],
        weights: [f64; 3],
        out: DVec3,
        positions: &[DVec3],
    ) -> bool {
        let at = |n: u32| positions[n as usize];
        let bears = bearing(nodes, weights);
        if bears[2] != u32::MAX {
            let [a, b, c] = nodes.map(at);
            return (b - a).cross(c - a).normalize_or_zero().dot(out).abs() > 1.0 - AWRY;
        }
        self.stars.around(bears[0]).all(|t| {
            let others = self.triangles[t as usize];
            let edge = bears[1] != u32::MAX;
            if edge && !others.contains(&bears[1]) {
                return true;
            }
            let base = at(bears[0]);
            let along = if edge {
                (at(bears[1]) - base).normalize_or_zero()
            } else {
                DVec3::ZERO
            };
            let into = others.iter().filter(|n| !bears.contains(n)).map(|n| {
                let way = at(*n) - base;
                (way - along * along.dot(way)).normalize_or_zero()
            });
            into.fold(f64::NEG_INFINITY, |most, way| most.max(way.dot(out))) <= AWRY
        })
    }
}

/// The feature of a contact that is still to come.
const TO_COME: u32 = u32::MAX;

/// The feature of a contact with a triangle without area.
const SLIVER: u32 = u32::MAX - 1;

/// The ends of the longest edge of a triangle.
fn longest(corners: [DVec3; 3]) -> [usize; 2] {
    let edges = [[0, 1], [1, 2], [2, 0]];
    let length = |[i, j]: [usize; 2]| corners[i].distance_squared(corners[j]);
    edges.into_iter().fold(
        [0, 1],
        |best, e| if length(e) > length(best) { e } else { best },
    )
}

/// The points that will meet, where they are now.
fn swept_touch(
    (c, nodes): (u32, [u32; 3]),
    (piece, end): (&Piece, Pose),
    (corners, ways): ([DVec3; 3], [DVec3; 3]),
    impact: &Impact,
) -> Touch {
    let then = [0, 1, 2].map(|k| corners[k] + ways[k] * impact.time);
    let meeting = closest::point(then, impact.weights);
    let start = *piece.pose();
    let local = start.interpolate(&end, impact.time).local(meeting);
    Touch {
        probe: c as usize,
        at: start.point(local),
        distance: 0.0,
        nodes,
        weights: impact.weights,
        normal: impact.normal,
        key: (TO_COME, bearing(nodes, impact.weights)),
    }
}

//! The region in which two faces meet (B77).

use glam::DVec3;

use super::polygon::{Corner, Polygon};

/// What the edge of a clipped polygon lies on.
#[derive(Clone, Copy, Debug)]
enum Side {
    /// An edge of the incident face (its id).
    Incident(u32),
    /// A side of the reference face (its index).
    Reference(u32),
}

/// A corner of the clipped polygon, with the edge from it to the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    pub(super) at: DVec3,
    /// Ids of the features of the reference and of the incident face that meet here.
    pub(super) id: (u32, u32),
    side: Side,
}

/// Memory for clipping.
#[derive(Clone, Debug, Default)]
pub(super) struct Clip {
    cuts: Vec<Cut>,
    before: Vec<Cut>,
}

impl Clip {
    /// The part of the face `incident` that lies over `reference` (Sutherland and Hodgman 1974), both in one frame.
    ///
    /// What lies less than `slack` (m) outside counts as inside: a cube that stands flush on another keeps its own four
    /// corners, with the same names, while both tremble.
    pub(super) fn clip(&mut self, reference: &Polygon, incident: &Polygon, slack: f64) -> &[Cut] {
        self.cuts.clear();
        self.cuts.extend(incident.corners.iter().map(|c| Cut {
            at: c.at,
            id: (reference.face, c.vertex),
            side: Side::Incident(c.edge),
        }));
        let round = &reference.corners;
        for k in 0..round.len() {
            let (from, to) = (round[k].at, round[(k + 1) % round.len()].at);
            let outwards = (to - from).cross(reference.normal);
            // The corners of a hull's face may be joined by an edge of no length worth the name.
            let Some(outwards) = outwards.try_normalize() else {
                continue;
            };
            self.cut(
                reference,
                incident,
                k as u32,
                outwards,
                outwards.dot(from) + slack,
            );
            if self.cuts.is_empty() {
                break;
            }
        }
        &self.cuts
    }

    /// Keeps what lies below `offset` along `outwards`, the side `k` of `reference`.
    fn cut(
        &mut self,
        reference: &Polygon,
        incident: &Polygon,
        k: u32,
        outwards: DVec3,
        offset: f64,
    ) {
        std::mem::swap(&mut self.cuts, &mut self.before);
        self.cuts.clear();
        let Some(last) = self.before.last() else {
            return;
        };
        let mut one = *last;
        let mut one_out = one.at.dot(outwards) - offset;
        for &two in &self.before {
            let two_out = two.at.dot(outwards) - offset;
            if (one_out > 0.0) != (two_out > 0.0) {
                let at = one.at + (two.at - one.at) * (one_out / (one_out - two_out));
                let id = match one.side {
                    Side::Incident(edge) => (reference.corners[k as usize].edge, edge),
                    Side::Reference(other) => {
                        (between(&reference.corners, other, k), incident.face)
                    }
                };
                // Going out, the edge goes on along the side; coming in, along what it was on.
                let side = if two_out > 0.0 {
                    Side::Reference(k)
                } else {
                    one.side
                };
                self.cuts.push(Cut { at, id, side });
            }
            if two_out <= 0.0 {
                self.cuts.push(two);
            }
            (one, one_out) = (two, two_out);
        }
    }
}

/// Id of the corner at which the sides `i` and `k` meet.
fn between(corners: &[Corner], i: u32, k: u32) -> u32 {
    let (low, high) = (i.min(k), i.max(k));
    // Side n goes from corner n to corner n + 1; the last one ends at corner 0.
    let corner = if low == 0 && high as usize + 1 == corners.len() && corners.len() > 2 {
        0
    } else {
        high
    };
    corners[corner as usize].vertex
}

#[cfg(test)]
mod tests {
    use super::*;
    use trocar_math::{Pose, rotation};

    fn top(half: f64) -> Polygon {
        let mut polygon = Polygon::default();
        polygon.box_side(DVec3::splat(half), 1, false);
        polygon
    }

    fn bottom(half: f64, pose: Pose) -> Polygon {
        let mut polygon = Polygon::default();
        polygon.box_side(DVec3::splat(half), 1, true);
        polygon.place(&pose);
        polygon
    }

    #[test]
    fn every_point_of_a_region_has_a_name_of_its_own() {
        let mut clip = Clip::default();
        for (half, angle, count) in [
            (1.0, 0.0, 4),
            (1.0, 0.2, 8),
            (0.5, 0.4, 4),
            (3.0, 0.4, 4),
            (1.2, 0.785, 8),
        ] {
            let pose = Pose::new(
                DVec3::new(0.0, 2.0, 0.0),
                rotation::from_axis_angle(DVec3::Y, angle),
            );
            let cuts = clip.clip(&top(1.0), &bottom(half, pose), 1e-9);
            assert_eq!(cuts.len(), count, "{half} {angle}");
            let mut ids: Vec<_> = cuts.iter().map(|c| c.id).collect();
            ids.sort_unstable();
            ids.dedup();
            assert_eq!(ids.len(), count, "{half} {angle}");
        }
    }

    #[test]
    fn where_faces_do_not_overlap_nothing_is_left() {
        let away = Pose::new(DVec3::new(2.5, 2.0, 0.0), glam::DQuat::IDENTITY);
        let mut clip = Clip::default();
        assert!(clip.clip(&top(1.0), &bottom(1.0, away), 1e-9).is_empty());
    }
}

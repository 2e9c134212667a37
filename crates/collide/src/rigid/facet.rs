//! A convex piece of a rigid shape against one triangle of a surface that deforms.
//!
//! Such a triangle belongs to nobody's mesh: it is three points of this instant. The nearest points, or those of least
//! penetration, come from `parry`; the region in which a flat side and the triangle meet is clipped here, so that a box
//! rests on a sheet with its whole side, and nothing is allocated once warm.

use super::clip::Clip;
use super::polygon::{self, Corner, Polygon};
use super::shape::Shape;
use super::solid::{Solid, to_parry};
use glam::DVec3;
use parry3d_f64::query::epa::EPA;
use parry3d_f64::query::gjk::{self, CsoPoint, GJKResult, VoronoiSimplex};
use parry3d_f64::shape::{SupportMap, Triangle};
use trocar_math::{Bounds, Pose, real};

/// From here on (cosine) a side counts as lying flat: about 25 degrees. Tissue gives way until it does.
const FLAT: f64 = 0.9;

/// Corners of the polygon that stands for the end of a cylinder.
const ROUND: u32 = 12;

/// What lies less than this part of the piece's thickness beside a side counts as over it.
const SLACK: f64 = 1e-6;

/// A convex piece of a shape, where it is.
#[derive(Clone, Debug)]
pub struct Piece {
    shape: Shape,
    part: u32,
    pose: Pose,
}

/// What a piece is to a surface that deforms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// All points within `radius` of a segment; both ends in the world, m. A ball has no length.
    Capsule {
        /// One end.
        a: DVec3,
        /// The other.
        b: DVec3,
        /// m.
        radius: f64,
    },
    /// All that lies below a plane.
    Below {
        /// A point of the plane, m.
        point: DVec3,
        /// Out of it, unit length.
        normal: DVec3,
    },
    /// Something else that is convex.
    Convex,
    /// A surface. It has no inside, and is not asked about triangles.
    Surface,
}

/// A point at which a piece meets a triangle, or nearly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Meeting {
    /// On the piece, in the world, m.
    pub piece: DVec3,
    /// On the triangle's plane, in the world, m.
    pub triangle: DVec3,
    /// From the piece to the triangle, unit length.
    pub normal: DVec3,
    /// Which feature of the piece: the same from step to step while it meets the triangle.
    pub feature: u32,
}

/// How near a piece is to a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Nearness {
    /// Farther than was asked for; a direction that shows it was found.
    Far,
    /// It can't be told: something is no number, the iteration gave up, or it is not asked of such a piece. They may touch.
    Unknown,
    /// The nearest points of the piece and of the triangle (world, m), or those of least penetration, and the unit normal from the piece to the
    /// triangle.
    Near(DVec3, DVec3, DVec3),
}

/// Memory for such questions.
#[derive(Default)]
pub struct FacetScratch {
    simplex: VoronoiSimplex,
    epa: EPA,
    side: Polygon,
    facet: Polygon,
    clip: Clip,
}

impl std::fmt::Debug for FacetScratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FacetScratch")
    }
}

impl Clone for FacetScratch {
    /// Memory is not worth copying.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Shape {
    /// Of how many convex pieces it is made.
    pub fn piece_count(&self) -> u32 {
        self.parts().len() as u32
    }

    /// One of its pieces, when the shape is at `pose`.
    pub fn piece(&self, part: u32, pose: &Pose) -> Piece {
        Piece {
            shape: self.clone(),
            part,
            pose: self.parts()[part as usize].pose(pose),
        }
    }
}

impl Piece {
    fn solid(&self) -> &Solid {
        &self.shape.parts()[self.part as usize].solid
    }

    /// The box around it, m.
    pub fn bounds(&self) -> Bounds {
        self.solid().bounds(&self.pose)
    }

    /// Where its frame is.
    pub fn pose(&self) -> &Pose {
        &self.pose
    }

    /// The same piece with its frame elsewhere.
    pub fn placed(&self, pose: Pose) -> Self {
        Self {
            shape: self.shape.clone(),
            part: self.part,
            pose,
        }
    }

    /// No point of it is farther from the origin of its frame than this, m.
    pub fn reach(&self) -> f64 {
        let local = self.solid().bounds(&Pose::IDENTITY);
        local.low.abs().max(local.high.abs()).length()
    }

    /// How far it reaches along a unit vector in the world, m. None if it is not [`Kind::Convex`].
    pub fn height(&self, along: DVec3) -> Option<f64> {
        let local = self.pose.rotation.conjugate() * along;
        let farthest = self.support()?.local_support_point(local);
        Some(self.pose.point(farthest).dot(along))
    }

    /// What it is.
    pub fn kind(&self) -> Kind {
        match self.solid() {
            Solid::Ball(ball) => Kind::Capsule {
                a: self.pose.position,
                b: self.pose.position,
                radius: ball.radius,
            },
            Solid::Capsule(capsule) => Kind::Capsule {
                a: self.pose.point(capsule.segment.a),
                b: self.pose.point(capsule.segment.b),
                radius: capsule.radius,
            },
            Solid::HalfSpace(plane) => Kind::Below {
                point: self.pose.position,
                normal: self.pose.rotation * plane.normal,
            },
            Solid::Mesh(_) => Kind::Surface,
            Solid::Box(_) | Solid::Cylinder(_) | Solid::Hull(_) => Kind::Convex,
        }
    }

    fn support(&self) -> Option<&dyn SupportMap> {
        match self.solid() {
            Solid::Box(s) => Some(s),
            Solid::Cylinder(s) => Some(s),
            Solid::Hull(s) => Some(s),
            _ => None,
        }
    }

    /// Half of its least extent, m.
    pub fn thickness(&self) -> f64 {
        self.shape.parts()[self.part as usize].thickness
    }

    /// How near the piece, which is [`Kind::Convex`], is to a triangle (world, m), if not farther than `margin` (m).
    pub fn nearest(
        &self,
        corners: [DVec3; 3],
        margin: f64,
        scratch: &mut FacetScratch,
    ) -> Nearness {
        let Some(support) = self.support() else {
            return Nearness::Unknown;
        };
        let [a, b, c] = corners.map(|p| self.pose.local(p));
        // `parry` panics at what is no number, and at squares that are none.
        let sound = |p: DVec3| p.length_squared().is_finite();
        if !(sound(a) && sound(b) && sound(c)) || margin.is_nan() {
            return Nearness::Unknown;
        }
        let triangle = Triangle::new(a, b, c);
        let place = to_parry(&Pose::IDENTITY);
        let start = (a + b + c).try_normalize().unwrap_or(DVec3::X);
        scratch
            .simplex
            .reset(CsoPoint::from_shapes(&place, support, &triangle, start));
        let simplex = &mut scratch.simplex;
        let found = match gjk::closest_points(&place, support, &triangle, margin, true, simplex) {
            GJKResult::ClosestPoints(p, q, normal) => Some((p, q, normal)),
            GJKResult::Intersection => {
                scratch
                    .epa
                    .closest_points(&place, support, &triangle, &scratch.simplex)
            }
            // It says so, too, when it is out of rounds. Then the direction does not part them.
            GJKResult::NoIntersection(way) => {
                let high = support.local_support_point(way).dot(way);
                let low = [a, b, c].map(|p| p.dot(way));
                let gap = low.into_iter().fold(f64::INFINITY, f64::min) - high;
                if gap >= margin {
                    return Nearness::Far;
                }
                None
            }
            GJKResult::Proximity(_) => None,
        };
        match found {
            Some((p, q, normal)) if p.is_finite() && q.is_finite() && normal.is_normalized() => {
                Nearness::Near(
                    self.pose.point(p),
                    self.pose.point(q),
                    self.pose.rotation * normal,
                )
            }
            _ => Nearness::Unknown,
        }
    }

    /// Adds where the piece meets a triangle to `out`: the corners of the region if a side of it lies on the triangle or
    /// over it within `margin` (m), else one point. `normal` and the points `p` and `q` are those that
    /// [`nearest`](Self::nearest) found, or of somebody who knows better which way out there is; if `p` is no number, that one
    /// point is left out.
    pub fn meet(
        &self,
        corners: [DVec3; 3],
        (p, q, normal): (DVec3, DVec3, DVec3),
        margin: f64,
        scratch: &mut FacetScratch,
        out: &mut Vec<Meeting>,
    ) {
        let first = out.len();
        let thickness = self.thickness();
        let FacetScratch {
            side, facet, clip, ..
        } = scratch;
        facet.triangle(corners, normal);
        let has_side = side.toward(self.solid(), self.pose.rotation.conjugate() * normal);
        side.place(&self.pose);
        let flat = [side.normal.dot(normal), -facet.normal.dot(normal)];
        // A cylinder on its side touches along a line, which nothing can lie over.
        let can_bear = side.corners.len() > 2;
        let on_side = can_bear && flat[0] >= flat[1];
        if has_side && flat[usize::from(!on_side)] >= FLAT {
            let (reference, incident) = if on_side {
                (&*side, &*facet)
            } else {
                (&*facet, &*side)
            };
            let (up, base) = (reference.normal, reference.corners[0].at);
            for cut in clip.clip(reference, incident, SLACK * thickness) {
                let gap = (cut.at - base).dot(up);
                if gap > margin {
                    continue;
                }
                let below = cut.at - up * gap;
                out.push(if on_side {
                    Meeting {
                        piece: below,
                        triangle: cut.at,
                        normal: up,
                        feature: cut.id.0,
                    }
                } else {
                    Meeting {
                        piece: cut.at,
                        triangle: below,
                        normal: -up,
                        feature: cut.id.1,
                    }
                });
            }
        }
        if out.len() == first && p.is_finite() {
            out.push(Meeting {
                piece: p,
                triangle: q,
                normal,
                feature: 0,
            });
        }
    }
}

impl Polygon {
    /// A triangle that faces against `towards`.
    fn triangle(&mut self, corners: [DVec3; 3], towards: DVec3) {
        let [a, b, c] = corners;
        let normal = (b - a).cross(c - a).normalize_or_zero();
        let turned = normal.dot(towards) > 0.0;
        let corners = if turned { [a, c, b] } else { [a, b, c] };
        self.corners.clear();
        self.corners
            .extend(corners.into_iter().enumerate().map(|(k, at)| Corner {
                at,
                vertex: polygon::vertex(k as u32),
                edge: polygon::edge(k as u32),
            }));
        self.normal = if turned { -normal } else { normal };
        self.face = polygon::face(0);
    }

    /// The side of a convex piece that looks most along `direction`, in its own frame: a face of a box or a hull, an end
    /// of a cylinder, or the line of its mantle, which has two corners. False if it has none.
    fn toward(&mut self, solid: &Solid, direction: DVec3) -> bool {
        let Solid::Cylinder(cylinder) = solid else {
            return self.find(solid, direction);
        };
        self.corners.clear();
        let leaning = DVec3::new(direction.x, 0.0, direction.z).length();
        if direction.y.abs() > leaning {
            let up = direction.y.signum();
            for k in 0..ROUND {
                // Counter-clockwise seen from outside.
                let angle = -up * std::f64::consts::TAU * f64::from(k) / f64::from(ROUND);
                let (s, c) = real::sin_cos(angle);
                self.corners.push(Corner {
                    at: DVec3::new(c, 0.0, s) * cylinder.radius
                        + DVec3::Y * (up * cylinder.half_height),
                    vertex: polygon::vertex(k),
                    edge: polygon::edge(k),
                });
            }
            self.normal = DVec3::Y * up;
            self.face = polygon::face(u32::from(up > 0.0));
        } else {
            let out = DVec3::new(direction.x, 0.0, direction.z) / leaning;
            for (k, up) in [-1.0, 1.0].into_iter().enumerate() {
                self.corners.push(Corner {
                    at: out * cylinder.radius + DVec3::Y * (up * cylinder.half_height),
                    vertex: polygon::vertex(ROUND + k as u32),
                    edge: polygon::edge(ROUND),
                });
            }
            self.normal = out;
            self.face = polygon::face(2);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rigid::Form;
    use trocar_math::rotation;

    fn meetings(form: &Form, pose: Pose, corners: [DVec3; 3]) -> Vec<Meeting> {
        let piece = Shape::new(form).unwrap().piece(0, &pose);
        let (mut scratch, mut out) = (FacetScratch::default(), Vec::new());
        if let Nearness::Near(p, q, normal) = piece.nearest(corners, 0.01, &mut scratch) {
            piece.meet(corners, (p, q, normal), 0.01, &mut scratch, &mut out);
        }
        out
    }

    /// Large, in the plane y = 0, facing up.
    const FLOOR: [DVec3; 3] = [
        DVec3::new(-5.0, 0.0, -5.0),
        DVec3::new(0.0, 0.0, 8.0),
        DVec3::new(5.0, 0.0, -5.0),
    ];

    #[test]
    fn a_box_on_a_large_triangle_rests_on_its_four_corners_and_on_a_small_one_on_all_of_it() {
        let form = Form::Box {
            half: DVec3::splat(0.1),
        };
        let small = FLOOR.map(|p| p * 0.005);
        for (lift, corners, count) in [(0.101, FLOOR, 4), (0.099, FLOOR, 4), (0.099, small, 3)] {
            let found = meetings(
                &form,
                Pose::new(DVec3::Y * lift, glam::DQuat::IDENTITY),
                corners,
            );
            assert_eq!(found.len(), count, "{found:?}");
            for m in &found {
                assert!((m.normal + DVec3::Y).length() < 1e-9, "{m:?}");
                let gap = (m.triangle - m.piece).dot(m.normal);
                assert!((gap - (lift - 0.1)).abs() < 1e-9, "{m:?}");
            }
        }
    }

    #[test]
    fn a_cylinder_rests_on_its_end_or_along_a_line_and_a_corner_on_itself() {
        let form = Form::Cylinder {
            half_height: 0.2,
            radius: 0.1,
        };
        let standing = Pose::new(DVec3::Y * 0.2005, glam::DQuat::IDENTITY);
        assert_eq!(meetings(&form, standing, FLOOR).len(), ROUND as usize);
        let down = rotation::from_axis_angle(DVec3::X, std::f64::consts::FRAC_PI_2);
        let lying = meetings(&form, Pose::new(DVec3::Y * 0.1005, down), FLOOR);
        let ends: Vec<f64> = lying.iter().map(|m| m.piece.z).collect();
        assert!(
            ends.iter().any(|z| (z - 0.2).abs() < 1e-6)
                && ends.iter().any(|z| (z + 0.2).abs() < 1e-6),
            "{lying:?}"
        );
        let cube = Form::Box {
            half: DVec3::splat(0.1),
        };
        let tipped = rotation::from_axis_angle(DVec3::new(1.0, 0.0, 1.0).normalize(), 0.955);
        let on_corner = meetings(&cube, Pose::new(DVec3::Y * 0.175, tipped), FLOOR);
        assert_eq!(on_corner.len(), 1, "{on_corner:?}");
    }

    #[test]
    fn what_can_not_be_told_is_not_called_far() {
        let cube = Shape::new(&Form::Box {
            half: DVec3::splat(0.1),
        })
        .unwrap();
        let ball = Shape::new(&Form::Ball { radius: 0.1 }).unwrap();
        let mut scratch = FacetScratch::default();
        let piece = cube.piece(0, &Pose::IDENTITY);
        let far = FLOOR.map(|p| p - DVec3::Y * 3.0);
        assert_eq!(piece.nearest(far, 0.1, &mut scratch), Nearness::Far);
        let near = piece.nearest(far, 5.0, &mut scratch);
        assert!(matches!(near, Nearness::Near(..)), "{near:?}");
        let lost = [FLOOR[0], DVec3::NAN, FLOOR[2]];
        let huge = FLOOR.map(|p| p * 1e200);
        let nowhere = cube.piece(0, &Pose::new(DVec3::NAN, glam::DQuat::IDENTITY));
        for (piece, corners, margin) in [
            (&piece, lost, 0.1),
            (&piece, huge, 0.1),
            (&piece, far, f64::NAN),
            (&nowhere, far, 0.1),
            (&ball.piece(0, &Pose::IDENTITY), far, 0.1),
        ] {
            let found = piece.nearest(corners, margin, &mut scratch);
            assert_eq!(found, Nearness::Unknown, "{corners:?}");
        }
    }

    #[test]
    fn a_triangle_without_area_is_no_danger() {
        let form = Form::Box {
            half: DVec3::splat(0.1),
        };
        let pose = Pose::new(DVec3::Y * 0.1001, glam::DQuat::IDENTITY);
        for corners in [
            [DVec3::ZERO; 3],
            [DVec3::ZERO, DVec3::X, DVec3::X * 2.0],
            [DVec3::X, DVec3::X, DVec3::Z],
        ] {
            for m in meetings(&form, pose, corners) {
                assert!(m.piece.is_finite() && m.triangle.is_finite() && m.normal.is_normalized());
            }
        }
    }
}

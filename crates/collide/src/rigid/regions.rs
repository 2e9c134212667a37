//! The whole region in which bodies touch (B77).

use glam::DVec3;
use parry3d_f64::query::details::NormalConstraints;
use parry3d_f64::query::details::{
    contact_manifold_ball_ball, contact_manifold_capsule_capsule, contact_manifold_convex_ball,
};
use parry3d_f64::query::epa::EPA;
use parry3d_f64::query::gjk::{self, CsoPoint, GJKResult, VoronoiSimplex};
use parry3d_f64::query::{ContactManifold, DefaultQueryDispatcher, PersistentQueryDispatcher};
use parry3d_f64::shape::{Cuboid, HalfSpace, SupportMap};
use trocar_math::Pose;

use super::Pair;
use super::boxes::{self, Axis};
use super::clip::Clip;
use super::contacts::{Contacts, Point};
use super::detect::{Detector, World};
use super::polygon::{self, Polygon};
use super::shape::Part;
use super::solid::{Mesh, Solid, to_parry};

/// How much better another feature must be before it is taken, as a part of the thinner body's thickness: a thousandth,
/// so that a stack of equal boxes keeps its features, and no depth is wrong by more than that.
const BIAS: f64 = 1e-3;

/// Points nearer to each other than this part of the thickness are one point.
const SAME: f64 = 1e-6;

/// Nearer than this part of the thickness, the line between the nearest points has no direction worth the name.
const TOUCHING: f64 = 1e-5;

/// From here on (cosine), a direction counts as that of a face: a quarter of a degree.
const ALIGNED: f64 = 0.999_99;

/// A thickness stands in for this many metres at most where it sets a tolerance: half spaces have no end.
const LARGE: f64 = 1.0;

/// A manifold of parry's that carries nothing of ours.
type Found = ContactManifold<(), ()>;

/// The whole contact region of each pair: every corner of the polygon in which polyhedra meet, with the normal by
/// feature case (B77, B78).
///
/// - face on anything: the normal of the face; its points are the corners of the region.
/// - edge on edge: their common normal, one point.
/// - edge or vertex on vertex: along the line between them, one point.
///
/// Pairs made of meshes and half spaces only have no contacts: neither has an inside or can move by itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Regions;

/// Memory for a detector, one a thread. Nothing in it outlives a call but the space.
#[derive(Default)]
pub struct Scratch {
    found: Found,
    reference: Polygon,
    incident: Polygon,
    clip: Clip,
    simplex: VoronoiSimplex,
    epa: EPA,
    triangles: Vec<u32>,
    sorted: Vec<Point>,
    /// All contacts of one pair, for those who want a choice of them.
    pub(super) pair: Contacts,
}

impl std::fmt::Debug for Scratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Scratch")
    }
}

/// Two convex parts, the second seen from the first.
#[derive(Clone, Copy)]
struct Meeting<'a> {
    a: &'a Part,
    b: &'a Part,
    /// Where b is in the frame of a.
    pose: Pose,
    /// m.
    margin: f64,
}

impl Meeting<'_> {
    /// The length that tolerances are parts of, m.
    fn scale(&self) -> f64 {
        self.a.thickness.min(self.b.thickness).min(LARGE)
    }
}

impl Detector for Regions {
    fn narrow(
        &self,
        world: &World<'_>,
        pairs: &[Pair],
        scratch: &mut Scratch,
        contacts: &mut Contacts,
    ) {
        for &pair in pairs {
            let (a, b) = (pair.a as usize, pair.b as usize);
            let (pose_a, pose_b) = (&world.poses[a], &world.poses[b]);
            let margin = world.margin(pair);
            let (parts_a, parts_b) = (world.shapes[a].parts(), world.shapes[b].parts());
            let several = parts_a.len() > 1 || parts_b.len() > 1;
            let start = contacts.manifolds.len();
            for part_a in parts_a {
                let at_a = part_a.pose(pose_a);
                let bounds = several.then(|| part_a.solid.bounds(&at_a).grown(margin));
                for part_b in parts_b {
                    let at_b = part_b.pose(pose_b);
                    if bounds.is_some_and(|box_| !box_.overlaps(&part_b.solid.bounds(&at_b))) {
                        continue;
                    }
                    let turn = at_a.rotation.conjugate();
                    let meeting = Meeting {
                        a: part_a,
                        b: part_b,
                        pose: Pose::new(
                            turn * (at_b.position - at_a.position),
                            turn * at_b.rotation,
                        ),
                        margin,
                    };
                    let from = contacts.manifolds.len();
                    scratch.meet(&meeting, pair, (part_a.first, part_b.first), contacts);
                    finish(contacts, from, &meeting, &at_a);
                }
            }
            if several {
                // The triangles of one mesh come once for each part of the other shape.
                contacts.sort_from(start, &mut scratch.sorted);
            }
        }
    }
}

/// Takes normals into the world and points into the frames of the shapes.
fn finish(contacts: &mut Contacts, from: usize, meeting: &Meeting<'_>, at_a: &Pose) {
    for manifold in &mut contacts.manifolds[from..] {
        manifold.normal = at_a.rotation * manifold.normal;
        let range = manifold.first as usize..(manifold.first + manifold.count) as usize;
        if let Some(place) = &meeting.a.place {
            contacts.points[range.clone()]
                .iter_mut()
                .for_each(|p| p.a = place.point(p.a));
        }
        if let Some(place) = &meeting.b.place {
            contacts.points[range]
                .iter_mut()
                .for_each(|p| p.b = place.point(p.b));
        }
    }
}

impl Scratch {
    /// Contacts of two parts; normals in the frame of the first.
    fn meet(&mut self, meeting: &Meeting<'_>, pair: Pair, part: (u32, u32), out: &mut Contacts) {
        let (a, b) = (&meeting.a.solid, &meeting.b.solid);
        match (a, b) {
            (Solid::Mesh(_) | Solid::HalfSpace(_), Solid::Mesh(_) | Solid::HalfSpace(_)) => {}
            (Solid::Mesh(mesh), _) => self.mesh(mesh, meeting, false, pair, part, out),
            (_, Solid::Mesh(mesh)) => self.mesh(mesh, meeting, true, pair, part, out),
            _ => {
                let first = out.points.len();
                if let Some(normal) = self.convex(meeting, out) {
                    out.close(pair, part, normal, first);
                }
            }
        }
    }

    /// Adds the points of two convex parts; gives the normal if there are any.
    fn convex(&mut self, meeting: &Meeting<'_>, out: &mut Contacts) -> Option<DVec3> {
        let (a, b) = (&meeting.a.solid, &meeting.b.solid);
        match (a, b) {
            (Solid::Box(one), Solid::Box(two)) => self.box_box(one, two, meeting, out),
            (Solid::HalfSpace(plane), _) => self.plane(plane, b, meeting, false, out),
            (_, Solid::HalfSpace(plane)) => self.plane(plane, a, meeting, true, out),
            _ => match (a.as_polyhedron(), b.as_polyhedron()) {
                (Some(one), Some(two)) => self.polyhedra(one, two, meeting, out),
                _ => self.round(meeting, out),
            },
        }
    }

    /// Boxes: separating axes, then the region of the faces.
    fn box_box(
        &mut self,
        one: &Cuboid,
        two: &Cuboid,
        meeting: &Meeting<'_>,
        out: &mut Contacts,
    ) -> Option<DVec3> {
        let (half_a, half_b) = (one.half_extents, two.half_extents);
        let pose = &meeting.pose;
        let bias = BIAS * meeting.scale();
        let turn = glam::DMat3::from_quat(pose.rotation);
        let found = match boxes::separation(half_a, half_b, pose, meeting.margin, bias)? {
            Axis::FaceA(axis, negative) => {
                self.reference.box_side(half_a, axis, negative);
                let down = turn.transpose() * -self.reference.normal;
                self.incident.find(&meeting.b.solid, down);
                self.incident.place(pose);
                self.region(meeting, false, out)
            }
            Axis::FaceB(axis, negative) => {
                self.reference.box_side(half_b, axis, negative);
                self.reference.place(pose);
                self.incident.find(&meeting.a.solid, -self.reference.normal);
                self.region(meeting, true, out)
            }
            Axis::Edges(normal, i, j) => {
                let (on_a, bits_a) = boxes::support_edge(half_a, i, normal);
                let (on_b, bits_b) = boxes::support_edge(half_b, j, turn.transpose() * -normal);
                let id = (
                    polygon::edge((i as u32) << 3 | bits_a),
                    polygon::edge((j as u32) << 3 | bits_b),
                );
                let edges = [(on_a, DVec3::AXES[i]), (pose.point(on_b), turn.col(j))];
                crossing(edges, [half_a[i], half_b[j]]).and_then(|[p, q]| {
                    let gap = (q - p).dot(normal);
                    (gap <= meeting.margin).then(|| {
                        out.points.push(Point {
                            a: p,
                            b: pose.local(q),
                            gap,
                            id,
                        });
                        normal
                    })
                })
            }
        };
        // Beside the prism over the face, or beyond the end of an edge: a corner or an edge meets a corner.
        found.or_else(|| {
            let (p, q, normal) = self.nearest(one, two, meeting)?;
            Some(self.single(p, q, normal, meeting, out))
        })
    }

    /// Polyhedra: the nearest points or the least penetration, then the region if a face is part of it.
    fn polyhedra(
        &mut self,
        one: &dyn SupportMap,
        two: &dyn SupportMap,
        meeting: &Meeting<'_>,
        out: &mut Contacts,
    ) -> Option<DVec3> {
        let (p, q, mut normal) = self.nearest(one, two, meeting)?;
        let gap = (q - p).dot(normal);
        if gap.abs() <= TOUCHING * meeting.scale() {
            normal = touching(one, two, meeting, (p, q), gap).unwrap_or(normal);
        }
        self.reference.find(&meeting.a.solid, normal);
        self.incident.find(
            &meeting.b.solid,
            meeting.pose.rotation.conjugate() * -normal,
        );
        self.incident.place(&meeting.pose);
        let align_a = self.reference.normal.dot(normal);
        let align_b = -self.incident.normal.dot(normal);
        let flipped = align_b > align_a + (1.0 - ALIGNED);
        if align_a.max(align_b) >= ALIGNED {
            if flipped {
                std::mem::swap(&mut self.reference, &mut self.incident);
            }
            if let Some(normal) = self.region(meeting, flipped, out) {
                return Some(normal);
            }
        }
        Some(self.single(p, q, normal, meeting, out))
    }

    /// The points of the incident face over the reference face; `flipped` if the reference is b's. Both in the frame of
    /// a, in which the normal (from a to b) is too.
    fn region(
        &mut self,
        meeting: &Meeting<'_>,
        flipped: bool,
        out: &mut Contacts,
    ) -> Option<DVec3> {
        let slack = SAME * meeting.scale();
        let normal = self.reference.normal;
        let base = self.reference.corners.first()?.at;
        let turn = glam::DMat3::from_quat(meeting.pose.rotation).transpose();
        let into_b = |p: DVec3| turn * (p - meeting.pose.position);
        let before = out.points.len();
        for cut in self.clip.clip(&self.reference, &self.incident, slack) {
            let gap = (cut.at - base).dot(normal);
            if gap > meeting.margin {
                continue;
            }
            let below = cut.at - normal * gap;
            out.points.push(if flipped {
                Point {
                    a: cut.at,
                    b: into_b(below),
                    gap,
                    id: (cut.id.1, cut.id.0),
                }
            } else {
                Point {
                    a: below,
                    b: into_b(cut.at),
                    gap,
                    id: cut.id,
                }
            });
        }
        (out.points.len() > before).then_some(if flipped { -normal } else { normal })
    }

    /// Nearest points (or those of least penetration) and the normal, all in the frame of a (B75).
    fn nearest(
        &mut self,
        one: &dyn SupportMap,
        two: &dyn SupportMap,
        meeting: &Meeting<'_>,
    ) -> Option<(DVec3, DVec3, DVec3)> {
        let pose = to_parry(&meeting.pose);
        let start = meeting.pose.position.try_normalize().unwrap_or(DVec3::X);
        self.simplex
            .reset(CsoPoint::from_shapes(&pose, one, two, start));
        match gjk::closest_points(&pose, one, two, meeting.margin, true, &mut self.simplex) {
            GJKResult::ClosestPoints(p, q, normal) => Some((p, q, normal)),
            // Without an answer the bodies touch in less than rounding: between their middles is as good as any.
            GJKResult::Intersection => self
                .epa
                .closest_points(&pose, one, two, &self.simplex)
                .filter(|(_, _, normal)| normal.is_finite())
                .or_else(|| {
                    let p = one.local_support_point(start);
                    let down = meeting.pose.rotation.conjugate() * -start;
                    let q = meeting.pose.point(two.local_support_point(down));
                    Some((p, q, start))
                }),
            GJKResult::NoIntersection(_) | GJKResult::Proximity(_) => None,
        }
    }

    /// One point nobody can name.
    fn single(
        &self,
        p: DVec3,
        q: DVec3,
        normal: DVec3,
        meeting: &Meeting<'_>,
        out: &mut Contacts,
    ) -> DVec3 {
        out.points.push(Point {
            a: p,
            b: meeting.pose.local(q),
            gap: (q - p).dot(normal),
            id: (0, 0),
        });
        normal
    }

    /// Something convex on a half space; `flipped` if the half space is b.
    fn plane(
        &mut self,
        plane: &HalfSpace,
        solid: &Solid,
        meeting: &Meeting<'_>,
        flipped: bool,
        out: &mut Contacts,
    ) -> Option<DVec3> {
        // The solid in the frame of the plane.
        let pose = if flipped {
            let turn = meeting.pose.rotation.conjugate();
            Pose::new(turn * -meeting.pose.position, turn)
        } else {
            meeting.pose
        };
        let down = pose.rotation.conjugate() * -plane.normal;
        let before = out.points.len();
        let mut touch = |on_solid: DVec3, id: u32| {
            let at = pose.point(on_solid);
            let gap = at.dot(plane.normal);
            if gap > meeting.margin {
                return;
            }
            let below = at - plane.normal * gap;
            let (a, b, id) = if flipped {
                (on_solid, below, (id, polygon::face(0)))
            } else {
                (below, on_solid, (polygon::face(0), id))
            };
            out.points.push(Point { a, b, gap, id });
        };
        match solid {
            Solid::Ball(ball) => touch(down * ball.radius, polygon::face(0)),
            Solid::Capsule(capsule) => {
                touch(
                    capsule.segment.a + down * capsule.radius,
                    polygon::vertex(0),
                );
                touch(
                    capsule.segment.b + down * capsule.radius,
                    polygon::vertex(1),
                );
            }
            Solid::Cylinder(cylinder) => {
                rim(cylinder.half_height, cylinder.radius, down, touch);
            }
            _ => {
                self.incident.find(solid, down);
                for corner in &self.incident.corners {
                    touch(corner.at, corner.vertex);
                }
            }
        }
        let normal = if flipped { down } else { plane.normal };
        (out.points.len() > before).then_some(normal)
    }

    /// Pairs with something round, by parry.
    fn round(&mut self, meeting: &Meeting<'_>, out: &mut Contacts) -> Option<DVec3> {
        let pose = to_parry(&meeting.pose);
        let (a, b) = (&meeting.a.solid, &meeting.b.solid);
        let margin = meeting.margin;
        forget(&mut self.found);
        let found = &mut self.found;
        match (a, b) {
            (Solid::Ball(one), Solid::Ball(two)) => {
                contact_manifold_ball_ball(&pose, one, two, margin, found);
            }
            (Solid::Capsule(one), Solid::Capsule(two)) => {
                contact_manifold_capsule_capsule(&pose, one, two, margin, found);
            }
            (_, Solid::Ball(ball)) => contact_manifold_convex_ball(
                &pose,
                a.as_parry(),
                ball,
                None,
                None,
                margin,
                found,
                false,
            ),
            (Solid::Ball(ball), _) => contact_manifold_convex_ball(
                &pose.inverse(),
                b.as_parry(),
                ball,
                None,
                None,
                margin,
                found,
                true,
            ),
            _ => {
                // All convex kinds are supported, so there is no error to report.
                let _ = DefaultQueryDispatcher.contact_manifold_convex_convex(
                    &pose,
                    a.as_parry(),
                    b.as_parry(),
                    None,
                    None,
                    margin,
                    found,
                );
            }
        }
        take(&self.found, meeting, false, out)
    }

    /// Something convex on a surface: a manifold for each triangle near it. `flipped` if the mesh is b.
    fn mesh(
        &mut self,
        mesh: &Mesh,
        meeting: &Meeting<'_>,
        flipped: bool,
        pair: Pair,
        part: (u32, u32),
        out: &mut Contacts,
    ) {
        let (solid, pose) = if flipped {
            let turn = meeting.pose.rotation.conjugate();
            let back = Pose::new(turn * -meeting.pose.position, turn);
            (&meeting.a.solid, back)
        } else {
            (&meeting.b.solid, meeting.pose)
        };
        let bounds = solid.bounds(&pose).grown(meeting.margin);
        self.triangles.clear();
        mesh.near(&bounds, |t| self.triangles.push(t));
        self.triangles.sort_unstable();
        let placed = to_parry(&pose);
        let back = pose.rotation.conjugate();
        for index in 0..self.triangles.len() {
            let triangle = self.triangles[index];
            let corners = mesh.triangles.triangle(triangle);
            let normals = mesh.normals[triangle as usize].as_ref();
            // Most triangles whose boxes overlap are still far away: their planes tell at once.
            let far = normals.is_some_and(|normals| {
                let height = (pose.position - corners.a).dot(normals.face);
                let towards = if height > 0.0 {
                    -normals.face
                } else {
                    normals.face
                };
                height.abs() - solid.extent(back * towards) > meeting.margin
            });
            if far {
                continue;
            }
            let normals = normals.map(|n| n as &dyn NormalConstraints);
            forget(&mut self.found);
            // All convex kinds are supported, so there is no error to report.
            let _ = DefaultQueryDispatcher.contact_manifold_convex_convex(
                &placed,
                &corners,
                solid.as_parry(),
                normals,
                None,
                meeting.margin,
                &mut self.found,
            );
            let first = out.points.len();
            if let Some(normal) = take(&self.found, meeting, flipped, out) {
                let part = if flipped {
                    (part.0, part.1 + triangle)
                } else {
                    (part.0 + triangle, part.1)
                };
                out.close(pair, part, normal, first);
            }
        }
    }
}

/// The normal of two polyhedra that just touch in `p` and `q` (in the frame of a): of the faces at these points, the one
/// that keeps them furthest apart. Nothing if none does nearly as well as `gap` (m) says: then edges or corners meet.
fn touching(
    one: &dyn SupportMap,
    two: &dyn SupportMap,
    meeting: &Meeting<'_>,
    (p, q): (DVec3, DVec3),
    gap: f64,
) -> Option<DVec3> {
    let pose = &meeting.pose;
    let back = pose.rotation.conjugate();
    let near = TOUCHING * meeting.scale();
    let (mut best, mut most) = (None, gap - near);
    polygon::for_faces(&meeting.a.solid, |normal, on_face| {
        if (p - on_face).dot(normal) >= -near {
            let lowest = pose.point(two.local_support_point(back * -normal));
            let apart = (lowest - on_face).dot(normal);
            if apart > most {
                (best, most) = (Some(normal), apart);
            }
        }
    });
    let on_b = pose.local(q);
    polygon::for_faces(&meeting.b.solid, |normal, on_face| {
        if (on_b - on_face).dot(normal) >= -near {
            let lowest = pose.local(one.local_support_point(pose.rotation * -normal));
            let apart = (lowest - on_face).dot(normal);
            // A rounding error better is no better: the first keeps what both could have.
            if apart > most + SAME * near {
                (best, most) = (Some(-(pose.rotation * normal)), apart);
            }
        }
    });
    best
}

/// The points of a cylinder along y that may rest on a plane in direction `down`: four of the lower rim, and the lowest
/// of both rims if it leans. The four stand still in its frame, so that an upright one keeps its contacts.
fn rim(half_height: f64, radius: f64, down: DVec3, mut touch: impl FnMut(DVec3, u32)) {
    let end = if down.y > 0.0 {
        half_height
    } else {
        -half_height
    };
    let leaning = DVec3::new(down.x, 0.0, down.z);
    // Lying flat it rests on two lines' ends; the four would stand in the way of rolling.
    if down.y.abs() > BIAS {
        for (k, side) in [DVec3::X, DVec3::Z, DVec3::NEG_X, DVec3::NEG_Z]
            .into_iter()
            .enumerate()
        {
            touch(side * radius + DVec3::Y * end, polygon::vertex(k as u32));
        }
    }
    if leaning.length() > BIAS {
        let lowest = leaning.normalize() * radius;
        touch(lowest - DVec3::Y * half_height, polygon::edge(0));
        touch(lowest + DVec3::Y * half_height, polygon::edge(1));
    }
}

/// The points nearest to each other of two edges, given as middle and unit direction with half lengths; nothing if one
/// of them is at an end.
fn crossing(edges: [(DVec3, DVec3); 2], half: [f64; 2]) -> Option<[DVec3; 2]> {
    let [(p, u), (q, v)] = edges;
    let (across, between) = (u.dot(v), q - p);
    let square = 1.0 - across * across;
    let s = (between.dot(u) - across * between.dot(v)) / square;
    let t = (across * between.dot(u) - between.dot(v)) / square;
    (s.abs() <= half[0] && t.abs() <= half[1]).then_some([p + u * s, q + v * t])
}

/// Makes parry start afresh: an old manifold would be moved along instead of computed.
fn forget(found: &mut Found) {
    found.points.clear();
    found.local_n1 = DVec3::ZERO;
    found.local_n2 = DVec3::ZERO;
}

/// Adds parry's points within the margin, without doubles; gives the normal in the frame of a if there are any.
/// `swapped` if parry's first is our b.
fn take(found: &Found, meeting: &Meeting<'_>, swapped: bool, out: &mut Contacts) -> Option<DVec3> {
    let near = SAME * meeting.scale();
    let first = out.points.len();
    for contact in &found.points {
        if contact.dist > meeting.margin {
            continue;
        }
        let mut point = Point {
            a: contact.local_p1,
            b: contact.local_p2,
            gap: contact.dist,
            id: (contact.fid1.0, contact.fid2.0),
        };
        if swapped {
            point = Point {
                a: point.b,
                b: point.a,
                gap: point.gap,
                id: (point.id.1, point.id.0),
            };
        }
        let double = |other: &&mut Point| {
            other.id == point.id || other.a.distance_squared(point.a) <= near * near
        };
        // Of two, the name of the first and the depth of the deeper: at a rim, a named point may be the shallower.
        match out.points[first..].iter_mut().find(double) {
            None => out.points.push(point),
            Some(other) if point.gap < other.gap => {
                *other = Point {
                    id: other.id,
                    ..point
                };
            }
            Some(_) => {}
        }
    }
    let normal = if swapped {
        found.local_n2
    } else {
        found.local_n1
    };
    (out.points.len() > first).then_some(normal)
}

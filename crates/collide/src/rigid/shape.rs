//! A form, checked and made ready.

use std::sync::Arc;

use glam::DVec3;
use parry3d_f64::query::Ray;
use parry3d_f64::shape::{
    Ball, Capsule, ConvexPolyhedron, Cuboid, Cylinder, HalfSpace, TriMesh, TriMeshFlags,
};
use trocar_math::{Bounds, Pose, rotation::outer, symmetric};

use super::form::{Form, MAX_POINTS, MAX_SIZE, MIN_SIZE, ShapeError};
use super::solid::{Mesh, Solid, to_parry};
use crate::tree::Tree;

/// How far from 1 the length of a quaternion may be.
const UNIT: f64 = 1e-6;

/// A form that has been checked. Cheap to clone: all clones share one geometry.
#[derive(Clone)]
pub struct Shape {
    inner: Arc<Inner>,
}

struct Inner {
    parts: Vec<Part>,
    radius: f64,
    thickness: f64,
    can_be_dynamic: bool,
}

/// One piece in its place.
pub(super) struct Part {
    /// Its place in the shape, if that is not the origin.
    pub(super) place: Option<Pose>,
    pub(super) solid: Solid,
    pub(super) thickness: f64,
    /// Number of its first piece among all of the shape: each triangle of a mesh is one, anything else is one as a whole.
    pub(super) first: u32,
}

/// The point of a shape nearest to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    /// On the surface, in the world, m.
    pub point: DVec3,
    /// Whether the other point lies inside.
    pub inside: bool,
}

impl std::fmt::Debug for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shape")
            .field("parts", &self.inner.parts.len())
            .field("radius", &self.inner.radius)
            .finish()
    }
}

impl Shape {
    /// Checks `form` and makes it ready.
    pub fn new(form: &Form) -> Result<Self, ShapeError> {
        let mut parts = Vec::new();
        match form {
            Form::Compound(list) => {
                for (index, (pose, form)) in list.iter().enumerate() {
                    if matches!(form, Form::Compound(_)) {
                        return Err(ShapeError::Nested { part: index });
                    }
                    let place = checked_pose(pose, index)?;
                    let place = (place != Pose::IDENTITY).then_some(place);
                    parts.push(Part::new(place, form)?);
                }
            }
            form => parts.push(Part::new(None, form)?),
        }
        if parts.is_empty() {
            return Err(ShapeError::Empty);
        }
        let mut first = 0;
        for part in &mut parts {
            part.first = first;
            first += match &part.solid {
                Solid::Mesh(mesh) => mesh.triangles.indices().len() as u32,
                _ => 1,
            };
        }
        let reach =
            |part: &Part| part.place.map_or(0.0, |p| p.position.length()) + part.solid.radius();
        Ok(Self {
            inner: Arc::new(Inner {
                radius: parts.iter().map(reach).fold(0.0, f64::max),
                thickness: parts.iter().map(|p| p.thickness).fold(f64::MAX, f64::min),
                can_be_dynamic: parts
                    .iter()
                    .all(|p| !matches!(p.solid, Solid::Mesh(_) | Solid::HalfSpace(_))),
                parts,
            }),
        })
    }

    pub(super) fn parts(&self) -> &[Part] {
        &self.inner.parts
    }

    /// Whether a body of this shape may move by itself: no part of it is a mesh or a half space.
    pub fn can_be_dynamic(&self) -> bool {
        self.inner.can_be_dynamic
    }

    /// Greatest distance of a point of it from the origin of its frame, m (at most that; exact for simple shapes about
    /// the origin). Infinite for half spaces.
    pub fn radius(&self) -> f64 {
        self.inner.radius
    }

    /// Half of the least extent of its thinnest part, m: moving less than that in a step, it passes through nothing
    /// unnoticed. Zero for meshes, infinite for half spaces.
    pub fn thickness(&self) -> f64 {
        self.inner.thickness
    }

    /// The way a point of it can make at most in `seconds`, m, at `speed` of the origin (m/s) and `spin` (rad/s): the
    /// margin to look ahead with.
    pub fn reach(&self, speed: f64, spin: f64, seconds: f64) -> f64 {
        let turning = if spin == 0.0 {
            0.0
        } else {
            spin * self.radius()
        };
        (speed + turning) * seconds
    }

    /// The box along the world's axes around it, m.
    pub fn bounds(&self, pose: &Pose) -> Bounds {
        let mut all = Bounds::EMPTY;
        for part in self.parts() {
            let bounds = part.solid.bounds(&part.pose(pose));
            all.low = all.low.min(bounds.low);
            all.high = all.high.max(bounds.high);
        }
        all
    }

    /// How far a ray from `origin` goes before it meets the shape, in lengths of `direction`; 0 from inside. Meshes are
    /// met from both sides.
    pub fn ray(&self, pose: &Pose, origin: DVec3, direction: DVec3) -> Option<f64> {
        let ray = Ray::new(origin, direction);
        self.parts()
            .iter()
            .filter_map(|part| {
                let place = to_parry(&part.pose(pose));
                part.solid.as_parry().cast_ray(&place, &ray, f64::MAX, true)
            })
            .min_by(f64::total_cmp)
    }

    /// The point of the surface nearest to `point`. Inside a compound, the nearest of the surfaces of its parts.
    pub fn closest(&self, pose: &Pose, point: DVec3) -> Nearest {
        let mut best = Nearest {
            point: DVec3::NAN,
            inside: false,
        };
        let mut least = f64::INFINITY;
        let mut inside = false;
        for part in self.parts() {
            let place = to_parry(&part.pose(pose));
            let found = part.solid.as_parry().project_point(&place, point, false);
            inside |= found.is_inside;
            let distance = found.point.distance_squared(point);
            if distance < least {
                least = distance;
                best.point = found.point;
            }
        }
        best.inside = inside;
        best
    }

    /// The surfaces of its hulls and meshes, in its frame: corners (m) and triangles facing outwards, one pair a part.
    /// To measure mass, and to draw what collides.
    pub fn surfaces(&self) -> Vec<(Vec<DVec3>, Vec<[u32; 3]>)> {
        self.parts()
            .iter()
            .filter_map(|part| {
                let (mut points, triangles) = match &part.solid {
                    Solid::Hull(hull) => (hull.points().to_vec(), hull_triangles(hull)),
                    Solid::Mesh(mesh) => (
                        mesh.triangles.vertices().to_vec(),
                        mesh.triangles.indices().to_vec(),
                    ),
                    _ => return None,
                };
                if let Some(place) = &part.place {
                    points.iter_mut().for_each(|p| *p = place.point(*p));
                }
                Some((points, triangles))
            })
            .collect()
    }
}

/// Every face as a fan.
fn hull_triangles(hull: &ConvexPolyhedron) -> Vec<[u32; 3]> {
    let mut triangles = Vec::new();
    for face in hull.faces() {
        let first = face.first_vertex_or_edge as usize;
        let corners =
            &hull.vertices_adj_to_face()[first..first + face.num_vertices_or_edges as usize];
        for pair in corners[1..].windows(2) {
            triangles.push([corners[0], pair[0], pair[1]]);
        }
    }
    triangles
}

impl Part {
    fn new(place: Option<Pose>, form: &Form) -> Result<Self, ShapeError> {
        let solid = solid(form)?;
        let thickness = solid.thickness();
        Ok(Self {
            place,
            solid,
            thickness,
            first: 0,
        })
    }

    /// Where it is when the shape is at `pose`.
    pub(super) fn pose(&self, pose: &Pose) -> Pose {
        self.place.map_or(*pose, |place| pose.compose(&place))
    }
}

fn checked_pose(pose: &Pose, part: usize) -> Result<Pose, ShapeError> {
    let length = pose.rotation.length();
    // A comparison with NaN is false.
    let fine =
        pose.position.abs().cmple(DVec3::splat(MAX_SIZE)).all() && (length - 1.0).abs() <= UNIT;
    if !fine {
        return Err(ShapeError::Pose { part });
    }
    Ok(Pose::new(pose.position, pose.rotation.normalize()))
}

fn size(name: &'static str, value: f64) -> Result<f64, ShapeError> {
    if (MIN_SIZE..=MAX_SIZE).contains(&value) {
        Ok(value)
    } else {
        Err(ShapeError::Size { name, value })
    }
}

fn check_points(points: &[DVec3]) -> Result<(), ShapeError> {
    let bad = |p: &DVec3| !p.abs().cmple(DVec3::splat(MAX_SIZE)).all();
    match points.iter().position(bad) {
        Some(index) => Err(ShapeError::Point {
            index,
            at: points[index],
        }),
        None => Ok(()),
    }
}

fn solid(form: &Form) -> Result<Solid, ShapeError> {
    Ok(match form {
        Form::Ball { radius } => Solid::Ball(Ball::new(size("radius", *radius)?)),
        Form::Box { half } => {
            for edge in half.to_array() {
                size("half edge", edge)?;
            }
            Solid::Box(Cuboid::new(*half))
        }
        Form::Capsule {
            half_length,
            radius,
        } => Solid::Capsule(Capsule::new_y(
            size("half length", *half_length)?,
            size("radius", *radius)?,
        )),
        Form::Cylinder {
            half_height,
            radius,
        } => Solid::Cylinder(Cylinder::new(
            size("half height", *half_height)?,
            size("radius", *radius)?,
        )),
        Form::Hull { points } => Solid::Hull(hull(points)?),
        Form::Mesh {
            vertices,
            triangles,
        } => Solid::Mesh(Box::new(mesh(vertices, triangles)?)),
        Form::HalfSpace { normal } => match normal.try_normalize() {
            Some(unit) if normal.is_finite() => Solid::HalfSpace(HalfSpace::new(unit)),
            _ => return Err(ShapeError::Normal { normal: *normal }),
        },
        // Compounds are taken apart before.
        Form::Compound(_) => return Err(ShapeError::Nested { part: 0 }),
    })
}

fn hull(points: &[DVec3]) -> Result<ConvexPolyhedron, ShapeError> {
    if !(4..=MAX_POINTS).contains(&points.len()) {
        return Err(ShapeError::Count {
            count: points.len(),
        });
    }
    check_points(points)?;
    let middle = points.iter().sum::<DVec3>() / points.len() as f64;
    let spread = points
        .iter()
        .map(|&p| outer(p - middle, p - middle))
        .sum::<glam::DMat3>();
    // The extent along the axis of least spread: not quite the thickness, but zero if and only if that is.
    let (_, axes) = symmetric::principal(&spread);
    let along = points.iter().map(|&p| (p - middle).dot(axes * DVec3::X));
    let (low, high) = along.fold((f64::MAX, f64::MIN), |(l, h), d| (l.min(d), h.max(d)));
    let longest = Bounds::of(points.iter().copied()).size().max_element();
    let thickness = high - low;
    if thickness < MIN_SIZE.max(1e-9 * longest) {
        return Err(ShapeError::Flat { thickness });
    }
    // parry asserts where points nearly coincide; what comes from a file must not end the program.
    let points = points.to_vec();
    std::panic::catch_unwind(|| ConvexPolyhedron::from_convex_hull(&points))
        .ok()
        .flatten()
        .ok_or(ShapeError::Hull)
}

pub(super) fn mesh(vertices: &[DVec3], triangles: &[[u32; 3]]) -> Result<Mesh, ShapeError> {
    if triangles.is_empty() {
        return Err(ShapeError::Empty);
    }
    check_points(vertices)?;
    for (triangle, corners) in triangles.iter().enumerate() {
        if let Some(&vertex) = corners.iter().find(|&&v| v as usize >= vertices.len()) {
            return Err(ShapeError::MissingVertex {
                triangle,
                vertex,
                count: vertices.len(),
            });
        }
        let [a, b, c] = corners.map(|v| vertices[v as usize]);
        let area = 0.5 * (b - a).cross(c - a).length();
        if area <= MIN_SIZE * MIN_SIZE {
            return Err(ShapeError::Degenerate { triangle });
        }
    }
    // Without the neighbours' normals, a box sliding over a flat floor would stumble at every edge.
    let triangles = TriMesh::with_flags(
        vertices.to_vec(),
        triangles.to_vec(),
        TriMeshFlags::FIX_INTERNAL_EDGES,
    )
    .map_err(|error| ShapeError::Mesh {
        reason: error.to_string(),
    })?;
    let normals = (0..triangles.indices().len() as u32)
        .map(|index| triangles.triangle_normal_constraints(index))
        .collect();
    // Vertices may have been joined: the tree is over those that are left.
    let tree =
        Tree::new(triangles.indices(), triangles.vertices()).map_err(|error| ShapeError::Mesh {
            reason: error.to_string(),
        })?;
    Ok(Mesh {
        triangles,
        normals,
        tree,
    })
}

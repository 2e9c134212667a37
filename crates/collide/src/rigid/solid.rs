//! The convex pieces and surfaces shapes are made of, as `parry` knows them.

use glam::DVec3;
use parry3d_f64::shape::{
    Ball, Capsule, ConvexPolyhedron, Cuboid, Cylinder, HalfSpace, Shape as ParryShape, SupportMap,
    TriMesh, TrianglePseudoNormals,
};
use trocar_math::{Bounds, Pose};

/// Our pose as parry's.
pub(super) fn to_parry(pose: &Pose) -> parry3d_f64::math::Pose {
    parry3d_f64::math::Pose::from_parts(pose.position, pose.rotation)
}

/// A piece of a shape.
pub(super) enum Solid {
    Ball(Ball),
    Box(Cuboid),
    Capsule(Capsule),
    Cylinder(Cylinder),
    Hull(ConvexPolyhedron),
    HalfSpace(HalfSpace),
    Mesh(Box<Mesh>),
}

/// A surface.
pub(super) struct Mesh {
    pub(super) triangles: TriMesh,
    /// For each triangle the directions in which it and its edges may push, from which its plane follows too. Computed
    /// once: it costs more than most of the contacts do.
    pub(super) normals: Vec<Option<TrianglePseudoNormals>>,
}

impl Solid {
    /// How far it reaches along the unit vector `direction`, both in its own frame, m.
    pub(super) fn extent(&self, direction: DVec3) -> f64 {
        match self {
            Self::Ball(s) => s.radius,
            Self::Box(s) => s.half_extents.dot(direction.abs()),
            Self::Capsule(s) => s.segment.b.dot(direction).abs() + s.radius,
            Self::Cylinder(s) => s.local_support_point(direction).dot(direction),
            Self::Hull(s) => s.local_support_point(direction).dot(direction),
            Self::HalfSpace(_) | Self::Mesh(_) => f64::INFINITY,
        }
    }

    pub(super) fn as_parry(&self) -> &dyn ParryShape {
        match self {
            Self::Ball(s) => s,
            Self::Box(s) => s,
            Self::Capsule(s) => s,
            Self::Cylinder(s) => s,
            Self::Hull(s) => s,
            Self::HalfSpace(s) => s,
            Self::Mesh(s) => &s.triangles,
        }
    }

    /// For boxes and hulls, whose contact regions are polygons.
    pub(super) fn as_polyhedron(&self) -> Option<&dyn SupportMap> {
        match self {
            Self::Box(s) => Some(s),
            Self::Hull(s) => Some(s),
            _ => None,
        }
    }

    /// The smallest box along the world's axes, m.
    pub(super) fn bounds(&self, pose: &Pose) -> Bounds {
        match self {
            Self::Ball(ball) => Bounds {
                low: pose.position - ball.radius,
                high: pose.position + ball.radius,
            },
            Self::Box(cuboid) => {
                let turn = glam::DMat3::from_quat(pose.rotation);
                let half = turn.x_axis.abs() * cuboid.half_extents.x
                    + turn.y_axis.abs() * cuboid.half_extents.y
                    + turn.z_axis.abs() * cuboid.half_extents.z;
                Bounds {
                    low: pose.position - half,
                    high: pose.position + half,
                }
            }
            Self::HalfSpace(_) => Bounds {
                low: DVec3::NEG_INFINITY,
                high: DVec3::INFINITY,
            },
            _ => {
                let aabb = self.as_parry().compute_aabb(&to_parry(pose));
                Bounds {
                    low: aabb.mins,
                    high: aabb.maxs,
                }
            }
        }
    }

    /// Greatest distance of a point from the origin of the piece, m; infinite for half spaces.
    pub(super) fn radius(&self) -> f64 {
        let furthest = |points: &[DVec3]| {
            points
                .iter()
                .map(|p| p.length_squared())
                .fold(0.0, f64::max)
                .sqrt()
        };
        match self {
            Self::Ball(s) => s.radius,
            Self::Box(s) => s.half_extents.length(),
            Self::Capsule(s) => s.segment.b.length() + s.radius,
            Self::Cylinder(s) => (s.half_height * s.half_height + s.radius * s.radius).sqrt(),
            Self::Hull(s) => furthest(s.points()),
            Self::HalfSpace(_) => f64::INFINITY,
            Self::Mesh(s) => furthest(s.triangles.vertices()),
        }
    }

    /// Half of its least extent, m: what it may move in a step without passing through another. Zero for surfaces,
    /// infinite for half spaces.
    pub(super) fn thickness(&self) -> f64 {
        match self {
            Self::Ball(s) => s.radius,
            Self::Box(s) => s.half_extents.min_element(),
            Self::Capsule(s) => s.radius,
            Self::Cylinder(s) => s.half_height.min(s.radius),
            // Across the nearest pair of a face and the corner furthest behind it.
            Self::Hull(s) => {
                0.5 * s
                    .faces()
                    .iter()
                    .map(|face| {
                        let along = s.points().iter().map(|p| p.dot(face.normal));
                        let (low, high) =
                            along.fold((f64::MAX, f64::MIN), |(l, h), d| (l.min(d), h.max(d)));
                        high - low
                    })
                    .fold(f64::MAX, f64::min)
            }
            Self::HalfSpace(_) => f64::INFINITY,
            Self::Mesh(_) => 0.0,
        }
    }
}

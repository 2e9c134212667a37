//! The convex pieces and surfaces shapes are made of, as `parry` knows them.

use glam::DVec3;
use parry3d_f64::shape::{
    Ball, Capsule, ConvexPolyhedron, Cuboid, Cylinder, HalfSpace, Shape as ParryShape, SupportMap,
    TriMesh, TrianglePseudoNormals,
};
use trocar_math::{Bounds, Pose};

use crate::tree::Tree;

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
    /// Over the triangles, in the frame of the part.
    pub(super) tree: Tree,
}

impl Mesh {
    /// Calls `found` with every triangle whose box shares a point with `bounds` (m, in the frame of the part), once each; in an order that depends on
    /// the triangles alone.
    pub(super) fn near(&self, bounds: &Bounds, mut found: impl FnMut(u32)) {
        let (vertices, triangles) = (self.triangles.vertices(), self.triangles.indices());
        self.tree.overlapping(bounds, |t| {
            // Leaves are given as a whole.
            let corners = triangles[t as usize].map(|n| vertices[n as usize]);
            if Bounds::of(corners).overlaps(bounds) {
                found(t);
            }
        });
    }
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

#[cfg(test)]
mod tests {
    use super::super::shape::mesh;
    use super::*;
    use parry3d_f64::bounding_volume::Aabb;
    use std::path::Path;
    use trocar_math::real;

    /// A number from -1 to 1, always the same for the same seed.
    fn any(seed: u32) -> f64 {
        real::sin(f64::from(seed) * 78.233 + 12.9898 * real::sin(f64::from(seed)))
    }

    fn place(seed: u32) -> DVec3 {
        DVec3::new(any(seed), any(seed + 1), any(seed + 2))
    }

    /// What comparing all boxes gives, and what parry's own tree gives.
    fn finds_all(mesh: &Mesh, bounds: &Bounds) -> usize {
        let (vertices, triangles) = (mesh.triangles.vertices(), mesh.triangles.indices());
        let all: Vec<u32> = (0..triangles.len() as u32)
            .filter(|t| {
                let corners = triangles[*t as usize].map(|n| vertices[n as usize]);
                Bounds::of(corners).overlaps(bounds)
            })
            .collect();
        let mut found = Vec::new();
        mesh.near(bounds, |t| found.push(t));
        found.sort_unstable();
        assert_eq!(found, all, "{bounds:?}");
        // Parry's may give more: its own boxes are rounded.
        let aabb = Aabb::new(bounds.low, bounds.high);
        let theirs: Vec<u32> = mesh.triangles.bvh().intersect_aabb(&aabb).collect();
        assert!(all.iter().all(|t| theirs.contains(t)), "{bounds:?}");
        found.len()
    }

    fn boxes_of_all_sizes(mesh: &Mesh, size: f64) -> usize {
        let around = Bounds::of(mesh.triangles.vertices().iter().copied());
        let (centre, half) = (around.centre(), 0.5 * around.size());
        let mut found = 0;
        for k in 0..200 {
            let at = centre + half * 1.2 * place(7 * k);
            let half = size / f64::from(1_u32 << (k % 12));
            let bounds = Bounds { low: at, high: at }.grown(half);
            found += finds_all(mesh, &bounds);
        }
        // A box that ends exactly where a triangle begins shares a point with it.
        for (k, corner) in mesh.triangles.vertices().iter().enumerate().step_by(97) {
            let high = *corner;
            let low = high - size * 0.1 * (1.0 + any(k as u32).abs());
            assert!(finds_all(mesh, &Bounds { low, high }) > 0);
        }
        found
    }

    #[test]
    fn the_tree_of_a_mesh_finds_what_comparing_all_boxes_finds() {
        for count in [1, 7, 8, 9, 300, 2000_u32] {
            let corner = |n: u32| place(n) * 0.1 + place(n / 3 * 3 + 5) * 2.0;
            let vertices: Vec<DVec3> = (0..3 * count).map(|n| corner(11 * n)).collect();
            let triangles: Vec<[u32; 3]> =
                (0..count).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
            let found = boxes_of_all_sizes(&mesh(&vertices, &triangles).unwrap(), 3.0);
            assert!(found > count as usize, "{count}: {found}");
        }
    }

    #[test]
    fn the_tree_of_an_organ_finds_what_comparing_all_boxes_finds() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/parts");
        for name in ["liver.obj", "colon.obj"] {
            let surface = trocar_mesh::read(folder.join(name)).unwrap();
            let mesh = mesh(&surface.positions, &surface.triangles).unwrap();
            let size = Bounds::of(surface.positions).size().max_element();
            let found = boxes_of_all_sizes(&mesh, size);
            assert!(found > surface.triangles.len(), "{name}: {found}");
        }
    }
}

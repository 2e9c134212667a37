//! Faces of boxes and hulls as polygons whose corners and edges have names.

use glam::DVec3;
use parry3d_f64::shape::{ConvexPolyhedron, Cuboid};
use trocar_math::Pose;

use super::solid::Solid;

/// The kinds of features, in the two highest bits of an id. 0 is a point nobody can name.
const VERTEX: u32 = 0b01 << 30;
const EDGE: u32 = 0b10 << 30;
const FACE: u32 = 0b11 << 30;

/// Id of corner `index`.
pub(super) fn vertex(index: u32) -> u32 {
    VERTEX | index
}

/// Id of edge `index`.
pub(super) fn edge(index: u32) -> u32 {
    EDGE | index
}

/// Id of face `index`.
pub(super) fn face(index: u32) -> u32 {
    FACE | index
}

/// A corner of a face and the edge from it to the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Corner {
    pub(super) at: DVec3,
    /// Id.
    pub(super) vertex: u32,
    /// Id.
    pub(super) edge: u32,
}

/// A face of a convex polyhedron.
#[derive(Clone, Debug, Default)]
pub(super) struct Polygon {
    pub(super) corners: Vec<Corner>,
    /// Unit, outwards.
    pub(super) normal: DVec3,
    /// Id.
    pub(super) face: u32,
}

/// Calls `visit` with the outward unit normal of every face of `solid` and a point on it.
pub(super) fn for_faces(solid: &Solid, mut visit: impl FnMut(DVec3, DVec3)) {
    match solid {
        Solid::Box(cuboid) => {
            for axis in DVec3::AXES {
                let at = axis * cuboid.half_extents;
                visit(axis, at);
                visit(-axis, -at);
            }
        }
        Solid::Hull(hull) => {
            for face in hull.faces() {
                let first = hull.vertices_adj_to_face()[face.first_vertex_or_edge as usize];
                visit(face.normal, hull.points()[first as usize]);
            }
        }
        _ => {}
    }
}

impl Polygon {
    /// The face of `solid` that looks most along `direction`. False, and nothing, if it has no faces.
    pub(super) fn find(&mut self, solid: &Solid, direction: DVec3) -> bool {
        match solid {
            Solid::Box(cuboid) => self.box_face(cuboid, direction),
            Solid::Hull(hull) => self.hull_face(hull, direction),
            _ => return false,
        }
        true
    }

    fn box_face(&mut self, cuboid: &Cuboid, direction: DVec3) {
        let size = direction.abs();
        let axis = if size.x >= size.y && size.x >= size.z {
            0
        } else if size.y >= size.z {
            1
        } else {
            2
        };
        self.box_side(cuboid.half_extents, axis, direction[axis] < 0.0);
    }

    /// Side `axis` of a box, the one below if `negative`. Corner ids have a bit for each axis, set where it is positive.
    pub(super) fn box_side(&mut self, half: DVec3, axis: usize, negative: bool) {
        let (next, last) = ((axis + 1) % 3, (axis + 2) % 3);
        let sign = if negative { -1.0 } else { 1.0 };
        // Counter-clockwise seen from outside.
        let round = if negative {
            [(1, 1), (1, 0), (0, 0), (0, 1)]
        } else {
            [(1, 1), (0, 1), (0, 0), (1, 0)]
        };
        let name = |(u, v): (u32, u32)| u32::from(!negative) << axis | u << next | v << last;
        self.corners.clear();
        for k in 0..4 {
            let (here, there) = (name(round[k]), name(round[(k + 1) % 4]));
            let mut at = DVec3::ZERO;
            at[axis] = sign * half[axis];
            at[next] = if round[k].0 == 1 {
                half[next]
            } else {
                -half[next]
            };
            at[last] = if round[k].1 == 1 {
                half[last]
            } else {
                -half[last]
            };
            self.corners.push(Corner {
                at,
                vertex: vertex(here),
                edge: edge(here.min(there) << 3 | here.max(there)),
            });
        }
        self.normal = DVec3::AXES[axis] * sign;
        self.face = face(2 * axis as u32 + u32::from(negative));
    }

    fn hull_face(&mut self, hull: &ConvexPolyhedron, direction: DVec3) {
        let (mut best, mut most) = (0, f64::NEG_INFINITY);
        for (index, face) in hull.faces().iter().enumerate() {
            let along = face.normal.dot(direction);
            if along > most {
                (best, most) = (index, along);
            }
        }
        let found = &hull.faces()[best];
        let first = found.first_vertex_or_edge as usize;
        let range = first..first + found.num_vertices_or_edges as usize;
        let vertices = &hull.vertices_adj_to_face()[range.clone()];
        let edges = &hull.edges_adj_to_face()[range];
        self.corners.clear();
        self.corners
            .extend(vertices.iter().zip(edges).map(|(&v, &e)| Corner {
                at: hull.points()[v as usize],
                vertex: vertex(v),
                edge: edge(e),
            }));
        self.normal = found.normal;
        self.face = face(best as u32);
    }

    /// Moves it into the frame in which its own frame is at `pose`.
    pub(super) fn place(&mut self, pose: &Pose) {
        let turn = glam::DMat3::from_quat(pose.rotation);
        for corner in &mut self.corners {
            corner.at = pose.position + turn * corner.at;
        }
        self.normal = turn * self.normal;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sides_of_a_box_go_round_outwards_and_share_corners_and_edges() {
        let half = DVec3::new(1.0, 2.0, 3.0);
        let mut corners = std::collections::BTreeMap::<u32, Vec<DVec3>>::new();
        let mut edges = std::collections::BTreeMap::<u32, usize>::new();
        let mut polygon = Polygon::default();
        for axis in 0..3 {
            for negative in [false, true] {
                polygon.box_side(half, axis, negative);
                for k in 0..4 {
                    let [a, b, c] = [0, 1, 2].map(|i| polygon.corners[(k + i) % 4].at);
                    assert!((b - a).cross(c - b).dot(polygon.normal) > 0.0);
                    assert_eq!(a.abs(), half);
                    let corner = polygon.corners[k];
                    corners.entry(corner.vertex).or_default().push(a);
                    *edges.entry(corner.edge).or_default() += 1;
                }
            }
        }
        assert_eq!(corners.len(), 8);
        assert!(
            corners
                .values()
                .all(|at| at.len() == 3 && at.iter().all(|p| *p == at[0]))
        );
        assert_eq!(edges.len(), 12);
        assert!(edges.values().all(|&n| n == 2));
    }
}

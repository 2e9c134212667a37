//! What a body is to collisions, as somebody writes it down.

use glam::DVec3;
use serde::{Deserialize, Serialize};
use trocar_math::Pose;

/// The thinnest a shape may be, m. The tolerances of the geometry below are absolute and of this order squared.
pub const MIN_SIZE: f64 = 1e-6;

/// The furthest from its frame a shape may reach, m.
pub const MAX_SIZE: f64 = 1e6;

/// The most corners of a hull. Its faces are searched one by one.
pub const MAX_POINTS: usize = 4096;

/// What a body is to collisions (B79): separate from how it looks. Lengths in m, in the frame of the body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Form {
    /// A ball about the origin.
    Ball {
        /// m.
        radius: f64,
    },
    /// A box about the origin.
    Box {
        /// Half of its edges, m.
        half: DVec3,
    },
    /// All points within `radius` of a segment along y.
    Capsule {
        /// Half the length of the segment, m.
        half_length: f64,
        /// m.
        radius: f64,
    },
    /// A cylinder about the origin, along y.
    Cylinder {
        /// m.
        half_height: f64,
        /// m.
        radius: f64,
    },
    /// The smallest convex thing around some points.
    Hull {
        /// m; four of them at least, not in one plane.
        points: Vec<DVec3>,
    },
    /// A surface of any form, open or closed, that pushes to the side its triangles face. It has no inside, so nothing
    /// made of it can move by itself ([`Shape::can_be_dynamic`](super::Shape::can_be_dynamic)), and two of them never
    /// touch.
    Mesh {
        /// m.
        vertices: Vec<DVec3>,
        /// Counter-clockwise seen from the side that pushes.
        triangles: Vec<[u32; 3]>,
    },
    /// Everything below the plane through the origin. For what stands still.
    HalfSpace {
        /// Points out of it; need not have length 1.
        normal: DVec3,
    },
    /// Several forms, rigidly joined. They may overlap.
    Compound(Vec<(Pose, Form)>),
}

/// Why a form is no shape.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ShapeError {
    /// A length is not a number, not positive, or out of all proportion.
    #[error("{name} is {value} m, but must lie between {MIN_SIZE:e} and {MAX_SIZE:e}")]
    Size {
        /// What it is.
        name: &'static str,
        /// What it was, m.
        value: f64,
    },
    /// A point is not finite or too far away.
    #[error("point {index} is at {at}, but coordinates must lie within ±{MAX_SIZE:e}")]
    Point {
        /// Which one, from 0.
        index: usize,
        /// Where it claims to be, m.
        at: DVec3,
    },
    /// A normal that points nowhere.
    #[error("the normal is {normal}; it must be finite and not zero")]
    Normal {
        /// What it was.
        normal: DVec3,
    },
    /// A pose that is none.
    #[error("the pose of part {part} is not a finite position with a unit quaternion")]
    Pose {
        /// Which part, from 0.
        part: usize,
    },
    /// Too few or too many points for a hull.
    #[error(
        "a hull of {count} points; it needs 4 to {MAX_POINTS}: simplify it, or use a box or a mesh"
    )]
    Count {
        /// How many there are.
        count: usize,
    },
    /// All points of a hull lie in a plane, on a line or in one place.
    #[error(
        "the hull is flat: {thickness} m thick; give it a thickness of {MIN_SIZE:e} m at least"
    )]
    Flat {
        /// How thick it is, m.
        thickness: f64,
    },
    /// The hull could not be built.
    #[error("no convex hull was found; remove points that nearly coincide")]
    Hull,
    /// A mesh or compound with nothing in it.
    #[error("there are no triangles or parts")]
    Empty,
    /// A triangle names a vertex that does not exist.
    #[error("triangle {triangle} uses vertex {vertex}, but there are only {count} vertices")]
    MissingVertex {
        /// Which triangle, from 0.
        triangle: usize,
        /// The vertex it names.
        vertex: u32,
        /// How many there are.
        count: usize,
    },
    /// A triangle without area.
    #[error("triangle {triangle} has no area; repair the mesh")]
    Degenerate {
        /// Which triangle, from 0.
        triangle: usize,
    },
    /// The mesh could not be made ready.
    #[error("the mesh can't be used: {reason}; repair it")]
    Mesh {
        /// What is wrong with it.
        reason: String,
    },
    /// A compound with a compound inside.
    #[error("part {part} is a compound itself; list its parts instead")]
    Nested {
        /// Which part, from 0.
        part: usize,
    },
}

//! Distances and contacts between capsules and deforming triangles.
//!
//! Kernels are free functions on points; [`Patch`] keeps what depends on a surface's topology and finds
//! what a capsule may touch.

pub mod closest;
pub mod patch;
pub mod ray;

pub use closest::{SegmentPair, on_segment, on_triangle, segment_segment, segment_triangle};
pub use patch::{Capsule, Patch, Touch};

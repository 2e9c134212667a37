//! Distances and contacts: capsules and rigid bodies on deforming triangles, rigid bodies on each other.
//!
//! Kernels are free functions on points; [`Patch`] keeps what depends on a surface's topology and finds
//! what a capsule or a body may touch. [`sweep`] says when things that move first meet, [`grid`] how deep a point is in a body that keeps
//! its form. Rigid bodies have a module of their own, [`rigid`].

pub mod closest;
pub mod grid;
pub mod patch;
pub mod ray;
pub mod rigid;
pub mod sweep;
pub mod tool;

pub use closest::{SegmentPair, on_segment, on_triangle, segment_segment, segment_triangle};
pub use patch::{Ahead, Capsule, Hull, Patch, Probe, Touch};

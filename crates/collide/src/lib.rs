//! Distances and contacts: capsules and rigid bodies on deforming triangles, rigid bodies on each other.
//!
//! Whether [triangles](triangle) touch is decided exactly; [trees](tree) of boxes find which of two deforming surfaces do, [`fold`] where a
//! surface touches itself, and [`near`] which of many things may touch at all. Kernels are free functions on points; [`Patch`] keeps what depends on a surface's topology and finds
//! what a capsule or a body may touch. Rigid bodies have a module of their own, [`rigid`].

pub mod closest;
pub mod fold;
pub mod near;
pub mod patch;
pub mod ray;
pub mod rigid;
pub mod tree;
pub mod triangle;

pub use closest::{SegmentPair, on_segment, on_triangle, segment_segment, segment_triangle};
pub use patch::{Capsule, Hull, Patch, Probe, Touch};

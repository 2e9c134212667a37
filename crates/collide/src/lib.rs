//! Distances and contacts: capsules and rigid bodies on deforming triangles, rigid bodies on each other.
//!
//! Whether [triangles](triangle) touch is decided exactly; [trees](tree) of boxes find which of two deforming surfaces do, [`fold`]
//! where a surface touches itself, [`torn`] lets all of them follow a sheet that tears, and [`near`] says which of many things may touch at all. [`Patch`] keeps what depends on a surface's
//! topology and finds what a [tool] or a body may touch; [`sweep`] says when things that move first meet, [`grid`] how deep
//! a point is in a body that keeps its form. Kernels are free functions on points. Rigid bodies have a module of their own, [`rigid`].

pub mod closest;
pub mod fold;
pub mod grid;
pub mod near;
pub mod patch;
pub mod ray;
pub mod rigid;
pub mod sweep;
pub mod tool;
pub mod torn;
pub mod tree;
pub mod triangle;

pub use closest::{SegmentPair, on_segment, on_triangle, segment_segment, segment_triangle};
pub use patch::{Ahead, Capsule, Hull, Patch, Probe, Touch, Way};

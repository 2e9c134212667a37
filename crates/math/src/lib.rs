//! Vectors, poses, rotations and small statistics, the same bits on every machine.
//!
//! `glam` gives the vectors. This crate adds what the engine needs on top of them, with every
//! transcendental function taken from one place ([`real`]), so that a recording made on one
//! computer replays on another.

pub mod bounds;
pub mod fetch;
pub mod four;
pub mod orient;
pub mod pose;
pub mod real;
pub mod rotation;
pub mod sets;
pub mod sort;
pub mod statistics;
pub mod symmetric;
pub mod workers;

pub use bounds::Bounds;
pub use fetch::fetch;
pub use four::{Dozen, Four, f64x4};
pub use orient::{orient2d, orient3d};
pub use pose::Pose;
pub use rotation::{angle, skew};
pub use sets::Sets;
pub use sort::nearly_sorted;
pub use workers::{Alone, Workers};

//! Instruments: kinematics through a trocar, and what their effectors do to tissue.

pub mod grasper;
pub mod grip;

pub use grasper::{Grasper, Handle, Limits, Part};
pub use grip::{Grip, Hold};

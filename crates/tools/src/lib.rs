//! Instruments: kinematics through a trocar, and what their effectors do to tissue.

pub mod endoscope;
pub mod grasper;
pub mod grip;
pub mod membrane;
pub mod trocar;

pub use endoscope::{Endoscope, EndoscopeHandle, EndoscopeLimits, Eye};
pub use grasper::{End, Grasper, Handle, Limits, Part};
pub use grip::{Grip, Hold};

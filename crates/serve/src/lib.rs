//! x
pub mod wire;

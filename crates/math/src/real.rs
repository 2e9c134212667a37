//! Real functions with the same result on every platform.
//!
//! The standard library forwards these to the system's C library, which differs between systems
//! and versions. `libm` is compiled with us, so the bits are ours. (`sqrt` needs no such care:
//! IEEE 754 fixes its result.)

pub use libm::{
    acos, asin, atan, atan2, ceil, cos, exp, expm1, floor, hypot, log as ln, pow, sin, tan,
};

/// Sine and cosine of `angle` (rad).
pub fn sin_cos(angle: f64) -> (f64, f64) {
    libm::sincos(angle)
}

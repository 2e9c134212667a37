//! Sparse block factorisations for bodies and joints.
//!
//! A multibody system at rest or in motion is a symmetric indefinite matrix
//!
//! ```text
//! H = | M  -Cᵀ |      M  inertia, one block of a body
//!     | -C  -Γ |      C  one block row of a joint, Γ its compliance (zero for a rigid joint)
//! ```
//!
//! whose blocks have one to six rows. [`Pattern`] holds what depends on the topology: an order of elimination that gives
//! trees no fill-in, and where each block is stored. [`Factor`] holds the numbers: `L D Lᵀ` without square roots, so
//! that the signs in `D` may differ. [`Skew`] does the same where the numbers are not symmetric; [`small`] for one block alone.

mod factor;
mod freedom;
mod order;
mod pattern;
mod skew;
pub mod small;

pub use factor::Factor;
pub use pattern::{Pattern, Place};
pub use skew::Skew;

/// The most rows that a node may have: the freedoms of a rigid body.
pub const LARGEST: usize = 6;

/// Calls `$body` with the constant `$n` equal to `$size`, which lies in `1..=LARGEST`: every kernel is compiled for every size.
macro_rules! for_size {
    ($size:expr, $n:ident => $body:expr) => {
        match $size {
            1 => {
                const $n: usize = 1;
                $body
            }
            2 => {
                const $n: usize = 2;
                $body
            }
            3 => {
                const $n: usize = 3;
                $body
            }
            4 => {
                const $n: usize = 4;
                $body
            }
            5 => {
                const $n: usize = 5;
                $body
            }
            6 => {
                const $n: usize = 6;
                $body
            }
            size => unreachable!("a block of {size} rows"),
        }
    };
}
pub(crate) use for_size;

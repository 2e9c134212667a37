//! The JSON half of the protocol between the server and the page. `web/src/wire.ts` is made of these files:
//! `cargo xtask wire` writes it, and a test compares it.
//!
//! Lengths in m, angles in radians unless said otherwise, times in s. Colours are sRGB, 0 to 1.

mod api;
mod client;
mod scene;
mod socket;
#[cfg(test)]
mod typescript;

pub use api::*;
pub use client::*;
pub use scene::*;
pub use socket::*;

/// Version of the protocol: this half, [`frame`](crate::frame) and [`insight`](crate::insight).
pub const PROTOCOL: u32 = 4;

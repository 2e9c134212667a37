//! `cargo xtask wire`: the page's protocol types, made from the Rust ones.

use anyhow::Result;

use crate::step::{cargo, succeed};

/// Runs the tests of the server in the mode in which they write what they otherwise compare.
pub fn wire() -> Result<()> {
    succeed(cargo(["test", "--package", "trocar-serve"]).env("TROCAR_UPDATE", "1"))
}

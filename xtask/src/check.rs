//! `cargo xtask check`: the quick one before a commit.

use anyhow::Result;

use crate::step::{Steps, cargo};

/// Format, lints, tests of the workspace; neither the page nor the browser.
pub fn check() -> Result<()> {
    let mut steps = Steps::begin();
    style(&mut steps)?;
    steps.command("tests", cargo(["test", "--workspace"]))?;
    steps.end();
    Ok(())
}

/// Format and lints.
pub fn style(steps: &mut Steps) -> Result<()> {
    steps.command("format", cargo(["fmt", "--all", "--check"]))?;
    // As an argument of Clippy: RUSTFLAGS would replace the flags in .cargo/config.toml.
    steps.command(
        "lints",
        cargo([
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ]),
    )
}

//! `cargo xtask check`: the quick one before a commit.

use std::process::Command;

use anyhow::Result;

use crate::step::{Steps, cargo};

/// Format, lints, tests of the workspace; neither the page nor the browser.
pub fn check() -> Result<()> {
    let mut steps = Steps::begin();
    style(&mut steps)?;
    steps.command("tests", tests())?;
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

/// All Rust tests. Property tests draw the same cases every time, so that a change is judged by itself; the long run
/// draws new ones.
pub fn tests() -> Command {
    let mut tests = cargo(["test", "--workspace"]);
    tests.env("PROPTEST_RNG_SEED", "4177");
    tests
}

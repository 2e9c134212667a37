//! `cargo xtask bench`: the headline numbers.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;

use crate::step::{cargo, hand_on};

/// What `bench` may be told.
#[derive(Args)]
pub struct Options {
    /// Only these benches.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Write the rows to this file, too.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Fewer repeats.
    #[arg(long)]
    quick: bool,
    /// Fail on an unmet aim.
    #[arg(long)]
    strict: bool,
}

/// Runs the bench program. Returns its exit code.
pub fn bench(options: &Options) -> Result<u8> {
    let mut command = cargo([
        "run",
        "--release",
        "--quiet",
        "--package",
        "trocar-bench",
        "--",
    ]);
    command.args(&options.names);
    if let Some(file) = &options.json {
        command.arg("--json").arg(std::path::absolute(file)?);
    }
    if options.quick {
        command.arg("--quick");
    }
    if options.strict {
        command.arg("--strict");
    }
    hand_on(&mut command)
}

//! `trocar serve`: the page on which one operates.

use anyhow::Result;
use clap::Args;
use std::{path::PathBuf, process::ExitCode};

/// What `serve` may be told.
#[derive(Args)]
pub struct Options {
    /// The scene file. Default: the gall bladder that is built in.
    #[arg(long)]
    scene: Option<PathBuf>,
    /// Port on 127.0.0.1; 0 takes any that is free.
    #[arg(long, default_value_t = 4177)]
    port: u16,
    /// Folder for recordings; it is made if it does not exist. Default: nothing is recorded.
    #[arg(long)]
    data_dir: Option<PathBuf>,
    /// Open the page in the browser.
    #[arg(long)]
    open: bool,
    /// Threads the step may use.
    #[arg(long, default_value_t = 1)]
    threads: usize,
}

/// Serves until it is interrupted.
pub fn run(_options: &Options) -> Result<ExitCode> {
    Ok(ExitCode::SUCCESS)
}

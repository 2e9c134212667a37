//! `trocar backup`: profiles, results and recordings in one file.

use anyhow::Result;
use clap::Args;
use std::{path::PathBuf, process::ExitCode};

/// What `backup` may be told.
#[derive(Args)]
pub struct Options {
    /// The folder that was given to `trocar serve --data-dir`; it may be in use.
    #[arg(long)]
    data_dir: PathBuf,
    /// The tar file to write; it must not exist yet.
    file: PathBuf,
}

/// Writes the backup.
pub fn run(options: &Options) -> Result<ExitCode> {
    let saved = crate::wait_for(trocar_train::records::backup(
        &options.data_dir,
        &options.file,
    ))??;
    crate::print(&format!(
        "wrote {}: {} profile(s), {} result(s), {} recording(s)",
        options.file.display(),
        saved.profiles,
        saved.results,
        saved.recordings
    ))?;
    if saved.missing > 0 {
        eprintln!(
            "note: {} result(s) name a recording that is not there",
            saved.missing
        );
    }
    Ok(ExitCode::SUCCESS)
}

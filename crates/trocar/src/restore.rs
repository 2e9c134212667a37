//! `trocar restore`: a backup back into a folder.

use anyhow::Result;
use clap::Args;
use std::{path::PathBuf, process::ExitCode};

/// What `restore` may be told.
#[derive(Args)]
pub struct Options {
    /// The tar file that `trocar backup` wrote.
    file: PathBuf,
    /// The folder to restore into; it is made if it does not exist.
    #[arg(long)]
    data_dir: PathBuf,
    /// Restore even if there is something in the folder; that is moved aside, not deleted.
    #[arg(long)]
    replace: bool,
}

/// Restores the backup.
pub fn run(options: &Options) -> Result<ExitCode> {
    let restored = crate::wait_for(trocar_train::records::restore(
        &options.file,
        &options.data_dir,
        options.replace,
    ))??;
    let saved = restored.saved;
    crate::print(&format!(
        "restored {}: {} profile(s), {} result(s), {} recording(s)",
        options.data_dir.display(),
        saved.profiles,
        saved.results,
        saved.recordings
    ))?;
    if let Some(aside) = restored.aside {
        crate::print(&format!("what was there is now in {}", aside.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

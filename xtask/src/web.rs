//! The page: its packages and its build.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::book;
use crate::need;
use crate::step::{root, succeed};

/// The folder of the page.
pub fn folder() -> PathBuf {
    root().join("web")
}

/// Builds the page into `web/dist`, with the book beside it in `book/`: the server then shows both.
pub fn build() -> Result<()> {
    install()?;
    succeed(npm()?.args(["run", "--silent", "build"]))?;
    book::build(&folder().join("dist").join("book"))
}

/// Installs the packages that the lock file names, unless they are there already.
pub fn install() -> Result<()> {
    need::node()?;
    let lock = fs::read(folder().join("package-lock.json"))
        .context("web/package-lock.json can't be read")?;
    // A copy of the lock file that the packages were installed from: simpler than a hash, and never wrong.
    let stamp = folder().join("node_modules").join(".trocar-lock");
    if fs::read(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    succeed(npm()?.args(["ci", "--no-audit", "--no-fund"]))?;
    fs::write(&stamp, lock).with_context(|| format!("{} can't be written", stamp.display()))
}

/// A call of npm in the page's folder.
pub fn npm() -> Result<Command> {
    let mut command = Command::new(need::npm()?);
    command.current_dir(folder());
    Ok(command)
}

//! `cargo xtask run`: the trainer, from a fresh checkout to the open page.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;
use clap::Args;

use crate::step::{cargo, succeed, trocar};
use crate::web;

/// What `run` may be told.
#[derive(Args)]
pub struct Options {
    /// Don't open the page in the browser.
    #[arg(long)]
    no_open: bool,
    /// The port to listen on, at 127.0.0.1.
    #[arg(long)]
    port: Option<u16>,
    /// Where the trainer keeps its records.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// The scene to show.
    #[arg(long, value_name = "FILE")]
    scene: Option<PathBuf>,
}

/// Builds the page and the program, and runs it until it ends. Returns its exit code.
pub fn run(options: &Options) -> Result<u8> {
    web::build()?;
    // After the page: the program embeds it.
    succeed(&mut cargo(["build", "--release", "--package", "trocar"]))?;
    become_it(&mut serve(options))
}

fn serve(options: &Options) -> Command {
    let mut command = Command::new(trocar("release"));
    command.arg("serve");
    if let Some(port) = options.port {
        command.arg("--port").arg(port.to_string());
    }
    if let Some(folder) = &options.data_dir {
        command.arg("--data-dir").arg(folder);
    }
    if let Some(scene) = &options.scene {
        command.arg("--scene").arg(scene);
    }
    if !options.no_open {
        command.arg("--open");
    }
    command
}

/// The program takes the place of this process, so that signals and the exit code are its own.
#[cfg(unix)]
fn become_it(command: &mut Command) -> Result<u8> {
    use std::os::unix::process::CommandExt;

    use anyhow::Context;

    let error = command.exec();
    Err(error).with_context(|| {
        format!(
            "{} could not be started",
            command.get_program().to_string_lossy()
        )
    })
}

/// Ctrl-C reaches both processes; this one waits for the other.
#[cfg(not(unix))]
fn become_it(command: &mut Command) -> Result<u8> {
    crate::step::hand_on(command)
}

//! Steps: commands that are announced, timed, and stop the task when they fail.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// The folder of the workspace.
pub fn root() -> PathBuf {
    // Cargo gives the folder of this crate at run time, too; the compiled-in one is for calls without Cargo.
    let here = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    here.parent()
        .map_or_else(|| here.clone(), Path::to_path_buf)
}

/// Where Cargo puts what it builds.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| root().join("target"), |folder| root().join(folder))
}

/// The `trocar` program as built with `profile` ("debug" or "release").
pub fn trocar(profile: &str) -> PathBuf {
    target()
        .join(profile)
        .join(format!("trocar{}", std::env::consts::EXE_SUFFIX))
}

/// A call of Cargo in the workspace: the same Cargo that runs this task.
pub fn cargo<I, S>(arguments: I) -> Command
where
    I: IntoIterator<Item = S>,
    S: AsRef<OsStr>,
{
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root()).args(arguments);
    // What `cargo xtask` is told about this crate must not reach the crates that it builds.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            command.env_remove(name);
        }
    }
    command
}

/// The steps of one task, with the time they took.
pub struct Steps {
    began: Instant,
    done: Vec<(String, Duration)>,
    skipped: Vec<String>,
}

impl Steps {
    /// Begins a task.
    pub fn begin() -> Self {
        Self {
            began: Instant::now(),
            done: Vec::new(),
            skipped: Vec::new(),
        }
    }

    /// Runs a command as a step.
    pub fn command(&mut self, name: &str, mut command: Command) -> Result<()> {
        self.step(name, || succeed(&mut command))
    }

    /// Runs anything as a step.
    pub fn step(&mut self, name: &str, work: impl FnOnce() -> Result<()>) -> Result<()> {
        println!("\n=== {name}");
        let began = Instant::now();
        work().with_context(|| format!("“{name}” failed"))?;
        let took = began.elapsed();
        println!("=== {name}: ok, {:.1} s", took.as_secs_f64());
        self.done.push((name.to_owned(), took));
        Ok(())
    }

    /// Says aloud that a step was left out, and why.
    pub fn skip(&mut self, name: &str, reason: &str) {
        println!("\n=== {name}: SKIPPED, {reason}");
        self.skipped.push(name.to_owned());
    }

    /// Prints what was done.
    pub fn end(self) {
        println!();
        for (name, took) in &self.done {
            println!("  ok {:7.1} s  {name}", took.as_secs_f64());
        }
        for name in &self.skipped {
            println!("  --  skipped  {name}");
        }
        let skipped = match self.skipped.len() {
            0 => String::new(),
            count => format!(", {count} skipped"),
        };
        println!(
            "{} steps passed{skipped} in {:.0} s",
            self.done.len(),
            self.began.elapsed().as_secs_f64()
        );
    }
}

/// Runs a command, and fails unless it succeeds.
pub fn succeed(command: &mut Command) -> Result<()> {
    let status = start(command)?;
    if !status.success() {
        bail!("{} ended with {status}", line(command));
    }
    Ok(())
}

/// Runs a command, and hands on its exit code.
pub fn hand_on(command: &mut Command) -> Result<u8> {
    let status = start(command)?;
    Ok(code(status))
}

/// The exit code of a finished process, as a shell would give it.
fn code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return u8::try_from(128 + signal).unwrap_or(u8::MAX);
    }
    status
        .code()
        .and_then(|code| u8::try_from(code).ok())
        .unwrap_or(1)
}

fn start(command: &mut Command) -> Result<ExitStatus> {
    command
        .status()
        .with_context(|| format!("{} could not be started", line(command)))
}

fn line(command: &Command) -> String {
    let mut line = command.get_program().to_string_lossy().into_owned();
    for argument in command.get_args() {
        line.push(' ');
        line.push_str(&argument.to_string_lossy());
    }
    line
}

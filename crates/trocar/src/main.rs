//! The `trocar` program: simulate, check, replay, score, keep records, and serve the page.

mod backup;
mod builtin;
mod check;
mod exercise;
mod export;
mod machine;
mod mesh;
mod progress;
mod replay;
mod report;
mod restore;
mod score;
mod serve;
mod simulate;

use clap::{Parser, Subcommand};
use std::process::ExitCode;
use tracing_subscriber::EnvFilter;

/// Trocar, an open surgical simulator: a real-time soft-tissue engine, and a page to operate in.
///
/// A training aid: not a validated assessment, not a medical device.
#[derive(Parser)]
#[command(version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve the page on which one operates.
    Serve(serve::Options),
    /// Run a scene without a page, as fast as it goes.
    Simulate(simulate::Options),
    /// Check a scene: what it says, how stiff it is, what a step will cost.
    Check(check::Options),
    /// Run a recording again and, if asked, prove that it gives the same result.
    Replay(replay::Options),
    /// Describe a mesh and make it ready to be a tissue: repaired, scaled, coarser, its nodes in order.
    Mesh(mesh::Options),
    /// Print the JSON Schema of scene files, for editors.
    Schema,
    /// Check exercise files, or print their JSON Schema.
    Exercise(exercise::Options),
    /// Score a recorded operation again, from its recording.
    Score(score::Options),
    /// Write profiles, results and recordings into one file.
    Backup(backup::Options),
    /// Put a backup back into a folder.
    Restore(restore::Options),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    if let Err(missing) = machine::check() {
        eprintln!("trocar: {missing}");
        return ExitCode::from(2);
    }
    let filter = EnvFilter::try_from_env("TROCAR_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_target(false)
        .init();
    let done = match &cli.command {
        Command::Serve(options) => serve::run(options),
        Command::Simulate(options) => simulate::run(options),
        Command::Check(options) => check::run(options),
        Command::Replay(options) => replay::run(options),
        Command::Mesh(options) => mesh::run(options),
        Command::Schema => schema(),
        Command::Exercise(options) => exercise::run(options),
        Command::Score(options) => score::run(options),
        Command::Backup(options) => backup::run(options),
        Command::Restore(options) => restore::run(options),
    };
    match done {
        Ok(code) => code,
        Err(error) => {
            // The whole chain on one line each: the outermost says what failed, the innermost why.
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn schema() -> anyhow::Result<ExitCode> {
    let schema = trocar_scene::file::schema();
    print(&serde_json::to_string_pretty(&schema)?)?;
    Ok(ExitCode::SUCCESS)
}

/// Waits for something that goes on by itself.
fn wait_for<T>(future: impl Future<Output = T>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    Ok(runtime.block_on(future))
}

/// Prints to standard output; whoever closes it early has read enough.
fn print(text: &str) -> anyhow::Result<()> {
    use std::io::Write;
    match writeln!(std::io::stdout().lock(), "{text}") {
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        done => Ok(done?),
    }
}

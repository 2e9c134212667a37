//! One door for everything a developer does: `cargo xtask run | test | check | bench | fuzz | book | web | wire`.

mod bench;
mod book;
mod check;
mod fuzz;
mod need;
mod run;
mod step;
mod test;
mod web;
mod wire;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    about = "One door for everything a developer does."
)]
struct Door {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Builds the page and the program, starts the trainer on 127.0.0.1 and opens the page.
    Run(run::Options),
    /// Everything: format, lints, documentation, unit, property, scene, web and browser tests.
    Test(test::Options),
    /// The quick one before a commit: format, lints, tests of the workspace.
    Check,
    /// The headline numbers.
    Bench(bench::Options),
    /// Throws inputs at readers, triangles and trees that find their own way into the code.
    Fuzz(fuzz::Options),
    /// Builds the book from `docs/` into `target/book`.
    Book,
    /// Builds the page only.
    Web,
    /// Writes the page's protocol types anew from the Rust ones.
    Wire,
}

fn main() -> ExitCode {
    let outcome = match Door::parse().task {
        Task::Run(options) => run::run(&options),
        Task::Test(options) => test::test(&options).map(|()| 0),
        Task::Check => check::check().map(|()| 0),
        Task::Bench(options) => bench::bench(&options),
        Task::Fuzz(options) => fuzz::fuzz(&options).map(|()| 0),
        Task::Book => book::book().map(|()| 0),
        Task::Web => web::build().map(|()| 0),
        Task::Wire => wire::wire().map(|()| 0),
    };
    match outcome {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

//! `cargo xtask test`: everything.

use std::process::Command;

use anyhow::Result;
use clap::Args;

use crate::step::{Steps, cargo, succeed, trocar};
use crate::{check, fuzz, need, web};

/// How long each target is fuzzed in the long run, s.
const FUZZING: u32 = 120;

/// What `test` may be told.
#[derive(Args)]
pub struct Options {
    /// Also the long run, in release: a million cases of the geometric property tests, and two minutes of each fuzzer.
    #[arg(long)]
    long: bool,
}

/// Runs everything; the first failure ends it.
pub fn test(options: &Options) -> Result<()> {
    // First of all, so that what is missing is said before ten minutes have passed.
    let node = need::node()?;
    let browser = need::chromium()?;

    let mut steps = Steps::begin();
    steps.step("web packages", web::install)?;
    steps.command("web format and lints", npm(["run", "--silent", "lint"])?)?;
    steps.command("web types", npm(["run", "--silent", "types"])?)?;
    steps.command("web tests", npm(["run", "--silent", "test"])?)?;
    // Before Cargo: the program embeds the page.
    steps.step("web build and book", web::build)?;

    check::style(&mut steps)?;
    steps.command("tests", check::tests())?;
    if options.long {
        let mut long = cargo(["test", "--workspace", "--release"]);
        long.env("TROCAR_LONG", "1");
        steps.command("long tests", long)?;
        fuzz::all(&mut steps, FUZZING)?;
    }
    let mut documentation = cargo(["doc", "--workspace", "--no-deps"]);
    documentation.env("RUSTDOCFLAGS", "-D warnings");
    steps.command("documentation", documentation)?;
    dependencies(&mut steps)?;

    // The tests have built the program, with the page in it. It is started with records of its own.
    let mut operate = Command::new(&node);
    operate
        .current_dir(web::folder())
        .arg("test/browser/operate.mjs")
        .arg(trocar("debug"))
        .env("CHROMIUM", &browser);
    steps.command("browser test", operate)?;
    steps.end();
    Ok(())
}

/// Licences, bans and advisories of what we depend on.
fn dependencies(steps: &mut Steps) -> Result<()> {
    if !need::has_cargo("deny") {
        steps.skip(
            "licences",
            "cargo-deny is not installed (`cargo install --locked cargo-deny`)",
        );
        steps.skip("advisories", "for the same reason");
        return Ok(());
    }
    steps.command(
        "licences",
        cargo(["deny", "check", "licenses", "bans", "sources"]),
    )?;
    // The advisories live on the network; without it, that is no fault of ours.
    if succeed(&mut cargo(["deny", "fetch", "db"])).is_err() {
        steps.skip("advisories", "their database can't be reached");
        return Ok(());
    }
    steps.command("advisories", cargo(["deny", "check", "advisories"]))
}

fn npm<const N: usize>(arguments: [&str; N]) -> Result<Command> {
    let mut command = web::npm()?;
    command.args(arguments);
    Ok(command)
}

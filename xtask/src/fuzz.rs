//! `cargo xtask fuzz`: inputs that find their own way into the code.
//!
//! What `cargo fuzz` does, without having to install it and with a stable compiler: coverage is counted by flags that every compiler has. Its
//! sanitizers are not, but hardly any code here is unsafe.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::step::{Steps, cargo, root, succeed, target};

/// What there is to fuzz; each is a program in `fuzz/targets`.
const NAMES: [&str; 8] = [
    "grid_file",
    "triangles",
    "tree_edits",
    "sweeps",
    "folds",
    "near",
    "sheet_edits",
    "patches",
];

/// What `fuzz` may be told.
#[derive(Args)]
pub struct Options {
    /// Only these: grid_file, triangles, tree_edits, sweeps, folds, near, sheet_edits, patches.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// How long for each.
    #[arg(long, default_value_t = 60)]
    seconds: u32,
}

/// Fuzzes; fails on the first input that breaks something, and says in which file it is.
pub fn fuzz(options: &Options) -> Result<()> {
    if let Some(name) = options.names.iter().find(|n| !NAMES.contains(&n.as_str())) {
        bail!("there is no “{name}” to fuzz: {}", NAMES.join(", "));
    }
    let chosen = |name: &&str| options.names.is_empty() || options.names.iter().any(|n| n == name);
    let mut steps = Steps::begin();
    run(
        &mut steps,
        NAMES.into_iter().filter(chosen),
        options.seconds,
    )?;
    steps.end();
    Ok(())
}

/// All of them, as steps.
pub fn all(steps: &mut Steps, seconds: u32) -> Result<()> {
    run(steps, NAMES.into_iter(), seconds)
}

fn run<'a>(steps: &mut Steps, names: impl Iterator<Item = &'a str>, seconds: u32) -> Result<()> {
    for name in names {
        steps.step(&format!("fuzz {name}"), || one(name, seconds))?;
    }
    Ok(())
}

fn one(name: &str, seconds: u32) -> Result<()> {
    let folder = target().join("fuzz");
    // What was interesting stays for the next time.
    let corpus = folder.join("corpus").join(name);
    std::fs::create_dir_all(&corpus)?;
    let mut command = cargo(["run", "--release", "--quiet", "--locked"]);
    command
        .arg("--manifest-path")
        .arg(root().join("fuzz/Cargo.toml"))
        .arg("--target-dir")
        .arg(&folder)
        // With it, build scripts and macros are built without the flags.
        .args(["--target", &host()?, "--bin", name, "--"])
        .arg(&corpus)
        .arg(format!("-max_total_time={seconds}"))
        .arg(artifacts(&folder, name)?)
        .args(["-timeout=20", "-print_final_stats=1"])
        .env("RUSTFLAGS", flags());
    succeed(&mut command)
}

/// Where an input is put that breaks something.
fn artifacts(folder: &Path, name: &str) -> Result<String> {
    let found = folder.join("broken").join(name);
    std::fs::create_dir_all(&found)?;
    Ok(format!("-artifact_prefix={}/", found.display()))
}

/// Counts which edges of the code are taken, and shows the fuzzer what numbers are compared with.
fn flags() -> String {
    let mut flags = vec![
        "-Cpasses=sancov-module",
        "-Cllvm-args=-sanitizer-coverage-level=4",
        "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
        "-Cllvm-args=-sanitizer-coverage-pc-table",
        "-Cllvm-args=-sanitizer-coverage-trace-compares",
        "--cfg=fuzzing",
    ];
    // These flags replace those of .cargo/config.toml.
    if cfg!(target_arch = "x86_64") {
        flags.push("-Ctarget-cpu=x86-64-v3");
    }
    flags.join(" ")
}

/// The kind of machine that the compiler builds for.
fn host() -> Result<String> {
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let said = Command::new(compiler).arg("-vV").output()?;
    let said = String::from_utf8_lossy(&said.stdout);
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host
        .context("`rustc -vV` does not say its host")?
        .to_owned())
}

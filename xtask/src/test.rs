//! `cargo xtask test`: everything.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::step::{Steps, cargo, root, succeed, target, trocar};
use crate::{check, need, web};

/// A server that has said nothing for this long won't.
const PATIENCE: Duration = Duration::from_secs(60);

/// What `test` may be told.
#[derive(Args)]
pub struct Options {
    /// Also the long run, in release: a million cases of the geometric property tests.
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
    steps.command("web build", npm(["run", "--silent", "build"])?)?;

    check::style(&mut steps)?;
    steps.command("tests", check::tests())?;
    if options.long {
        let mut long = cargo(["test", "--workspace", "--release"]);
        long.env("TROCAR_LONG", "1");
        steps.command("long tests", long)?;
    }
    let mut documentation = cargo(["doc", "--workspace", "--no-deps"]);
    documentation.env("RUSTDOCFLAGS", "-D warnings");
    steps.command("documentation", documentation)?;
    dependencies(&mut steps)?;

    steps.command("the program", cargo(["build", "--package", "trocar"]))?;
    steps.step("browser test", || {
        let server = Server::start()?;
        let mut smoke = Command::new(&node);
        smoke
            .current_dir(web::folder())
            .arg("test/smoke.mjs")
            .arg(&server.address)
            .env("CHROMIUM", &browser);
        succeed(&mut smoke)
    })?;
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

/// The real server, on a port of its own choice and with records of its own; gone when dropped.
struct Server {
    process: Child,
    address: String,
    records: PathBuf,
}

impl Server {
    fn start() -> Result<Self> {
        let records = target().join(format!("browser-test-{}", std::process::id()));
        std::fs::create_dir_all(&records)
            .with_context(|| format!("{} can't be made", records.display()))?;
        let mut process = Command::new(trocar("debug"))
            .args(["serve", "--port", "0", "--data-dir"])
            .arg(&records)
            .current_dir(root())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .context("the server could not be started")?;
        let said = process.stdout.take();
        let mut server = Self {
            process,
            address: String::new(),
            records,
        };
        server.address = listen(said.context("the server has no output")?)?;
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.records);
    }
}

/// Waits for the server's address, and goes on reading so that the server never blocks on a full pipe.
fn listen(output: impl std::io::Read + Send + 'static) -> Result<String> {
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            println!("{line}");
            if let Some(address) = address(&line) {
                let _ = tell.send(address);
            }
        }
    });
    match told.recv_timeout(PATIENCE) {
        Ok(address) => Ok(address),
        Err(mpsc::RecvTimeoutError::Disconnected) => bail!("the server ended before it listened"),
        Err(mpsc::RecvTimeoutError::Timeout) => bail!(
            "the server did not say within {} s where it listens",
            PATIENCE.as_secs()
        ),
    }
}

/// The address in the line `listening on http://127.0.0.1:PORT`.
fn address(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("listening on ")?;
    let address = rest.split_whitespace().next()?;
    address.starts_with("http://").then(|| address.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{address, listen};

    #[test]
    fn the_address_is_read_from_the_servers_line() {
        assert_eq!(
            address("listening on http://127.0.0.1:4711").as_deref(),
            Some("http://127.0.0.1:4711")
        );
        assert_eq!(
            address("trocar: listening on http://127.0.0.1:1/ (Ctrl-C ends)").as_deref(),
            Some("http://127.0.0.1:1/")
        );
        assert_eq!(address("warming up"), None);
    }

    #[test]
    fn a_server_that_ends_early_is_a_clear_error() {
        let error = listen(&b"no such scene\n"[..]).unwrap_err();
        assert_eq!(error.to_string(), "the server ended before it listened");
    }
}

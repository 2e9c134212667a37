//! What must be on the machine, and how to get it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Result, bail};

/// The page is built with Vite 8, which wants this Node.
const NODE: (u32, u32) = (20, 19);

/// Node, as a command.
pub fn node() -> Result<PathBuf> {
    let Some(node) = find("node") else {
        bail!(
            "Node is missing: install Node {}.{} or later from nodejs.org or your packages",
            NODE.0,
            NODE.1
        );
    };
    let said = Command::new(&node).arg("--version").output()?.stdout;
    let said = String::from_utf8_lossy(&said).trim().to_owned();
    match version(&said) {
        Some(found) if found >= NODE => Ok(node),
        _ => bail!(
            "Node is {said}, but {}.{} or later is needed: install it from nodejs.org or your packages",
            NODE.0,
            NODE.1
        ),
    }
}

/// npm, as a command.
pub fn npm() -> Result<PathBuf> {
    match find("npm") {
        Some(npm) => Ok(npm),
        None => {
            bail!("npm is missing: install it together with Node from nodejs.org or your packages")
        }
    }
}

/// A browser for the browser test. Installs Debian's Chromium where that is possible without a question.
pub fn chromium() -> Result<PathBuf> {
    if let Some(named) = std::env::var_os("CHROMIUM") {
        let named = PathBuf::from(named);
        if named.is_file() {
            return Ok(named);
        }
        bail!("CHROMIUM names {}, which is no file", named.display());
    }
    if let Some(browser) = find_chromium() {
        return Ok(browser);
    }
    if let Some(mut apt) = apt_get() {
        println!("Chromium is missing: installing it with apt-get");
        // A stale list of packages is the usual reason for a failing install, and a failing update is no reason not to try.
        let _ = apt("update");
        let _ = apt("install");
        if let Some(browser) = find_chromium() {
            return Ok(browser);
        }
    }
    bail!(
        "Chromium is missing: install it (Debian, Ubuntu: `sudo apt-get install chromium`), or name a Chromium or Chrome in CHROMIUM"
    );
}

/// Whether Cargo has this subcommand, such as `deny`.
pub fn has_cargo(subcommand: &str) -> bool {
    find(&format!("cargo-{subcommand}")).is_some() || cargo_home_has(subcommand)
}

fn cargo_home_has(subcommand: &str) -> bool {
    let Some(home) = std::env::var_os("CARGO_HOME") else {
        return false;
    };
    Path::new(&home)
        .join("bin")
        .join(format!(
            "cargo-{subcommand}{}",
            std::env::consts::EXE_SUFFIX
        ))
        .is_file()
}

fn find_chromium() -> Option<PathBuf> {
    let by_name = [
        "chromium",
        "chromium-browser",
        "google-chrome",
        "google-chrome-stable",
        "chrome",
    ];
    let by_place = [
        "/Applications/Chromium.app/Contents/MacOS/Chromium",
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        r"C:\Program Files\Google\Chrome\Application\chrome.exe",
        r"C:\Program Files (x86)\Google\Chrome\Application\chrome.exe",
        r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
    ];
    by_name.iter().find_map(|name| find(name)).or_else(|| {
        by_place
            .iter()
            .map(PathBuf::from)
            .find(|path| path.is_file())
    })
}

/// apt-get with the right to install and without questions, or nothing.
fn apt_get() -> Option<impl FnMut(&str) -> bool> {
    let apt = find("apt-get")?;
    let root = quiet(Command::new("id").arg("-u")).is_some_and(|said| said.trim() == "0");
    if !root && quiet(Command::new("sudo").args(["-n", "true"])).is_none() {
        return None;
    }
    Some(move |verb: &str| {
        let mut command = if root {
            Command::new(&apt)
        } else {
            Command::new("sudo")
        };
        if !root {
            command
                .args(["-n", "env", "DEBIAN_FRONTEND=noninteractive"])
                .arg(&apt);
        }
        command
            .env("DEBIAN_FRONTEND", "noninteractive")
            .args(["-y", "-q", verb]);
        if verb == "install" {
            command.args(["--no-install-recommends", "chromium"]);
        }
        command.status().is_ok_and(|status| status.success())
    })
}

/// What a command prints, if it succeeds.
fn quiet(command: &mut Command) -> Option<String> {
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Looks a program up in PATH. On Windows npm is a script, `npm.cmd`, which must be named in full to be started.
fn find(name: &str) -> Option<PathBuf> {
    let endings: &[&str] = if cfg!(windows) {
        &[".exe", ".cmd"]
    } else {
        &[""]
    };
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .flat_map(|folder| {
            endings
                .iter()
                .map(move |ending| folder.join(format!("{name}{ending}")))
        })
        .find(|file| file.is_file())
}

/// Major and minor of what `node --version` prints: `v20.20.2`.
fn version(said: &str) -> Option<(u32, u32)> {
    let mut parts = said.strip_prefix('v')?.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn versions_of_node_compare_by_number() {
        assert_eq!(version("v20.20.2"), Some((20, 20)));
        assert!(version("v9.11.0") < version("v20.19.0"));
        assert_eq!(version("twenty"), None);
    }
}

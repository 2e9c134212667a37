//! `trocar serve`: the page on which one operates.

use crate::builtin;
use anyhow::{Context, Result};
use clap::Args;
use std::{
    net::Ipv4Addr,
    path::{Path, PathBuf},
    process::ExitCode,
};
use trocar_scene::Scene;
use trocar_serve::{Server, wire::NewOperation};

/// What `serve` may be told.
#[derive(Args)]
pub struct Options {
    /// A scene file: adds it to the Lab and opens the Lab with it.
    #[arg(long, value_name = "FILE")]
    scene: Option<PathBuf>,
    /// A folder with more scenes for the Lab.
    #[arg(long, value_name = "DIR")]
    scenes: Vec<PathBuf>,
    /// A folder with more exercises.
    #[arg(long, value_name = "DIR")]
    exercises: Vec<PathBuf>,
    /// Port on 127.0.0.1; 0 takes any that is free.
    #[arg(long, default_value_t = 4177)]
    port: u16,
    /// Folder for profiles, results and recordings; it is made if it does not exist. Default: that of this user.
    #[arg(long, value_name = "DIR", conflicts_with = "keep_nothing")]
    data_dir: Option<PathBuf>,
    /// Keep nothing: profiles and results are gone when the program ends, and nothing is recorded.
    #[arg(long)]
    keep_nothing: bool,
    /// Open the page in the browser.
    #[arg(long)]
    open: bool,
    /// Threads each simulation may use.
    #[arg(long, default_value_t = 1)]
    threads: usize,
}

/// Serves until it is interrupted.
pub fn run(options: &Options) -> Result<ExitCode> {
    let mut catalogue = builtin::catalogue();
    let mut problems = Vec::new();
    for folder in &options.scenes {
        problems.extend(catalogue.read_scenes(folder));
    }
    for folder in &options.exercises {
        problems.extend(catalogue.read_exercises(folder));
    }
    for problem in problems {
        tracing::warn!("left out: {problem}");
    }
    let lab = match &options.scene {
        None => None,
        Some(path) => {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            Some(catalogue.add_scene(&stem, Scene::load(path)?))
        }
    };
    let settings = trocar_serve::Options {
        address: (Ipv4Addr::LOCALHOST, options.port).into(),
        data_dir: data_dir(options)?,
        threads: options.threads.clamp(1, 256),
        ..trocar_serve::Options::new(catalogue)
    };
    let mut failed = None;
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(trocar_serve::serve(settings, |server| {
            failed = announce(server, lab, options.open).err();
        }))?;
    match failed {
        None => Ok(ExitCode::SUCCESS),
        Some(error) => Err(error),
    }
}

/// Says where the page is, and opens it if that is wanted.
fn announce(server: &Server, lab: Option<String>, open: bool) -> Result<()> {
    let page = format!("http://{}", server.address());
    // Scripts and tests read the address from this line.
    crate::print(&format!("listening on {page}"))?;
    let page = match lab {
        None => page,
        Some(scene) => {
            let operation = server
                .open(NewOperation::Lab { scene })
                .map_err(anyhow::Error::msg)?;
            let page = format!("{page}/lab/{}", operation.id);
            crate::print(&format!("the scene is at {page}"))?;
            page
        }
    };
    if open && let Err(error) = open::that_detached(&page) {
        tracing::warn!("the browser can't be opened ({error}); open {page} yourself");
    }
    Ok(())
}

/// Where to keep things; none if nothing is kept.
fn data_dir(options: &Options) -> Result<Option<PathBuf>> {
    if options.keep_nothing {
        return Ok(None);
    }
    let folder = match &options.data_dir {
        Some(folder) => folder.clone(),
        None => default_data_dir(|name| std::env::var_os(name).map(PathBuf::from)).context(
            "this system names no folder for data\n  Name one with --data-dir, or use --keep-nothing.",
        )?,
    };
    tracing::info!(
        "profiles, results and recordings are in {}",
        folder.display()
    );
    Ok(Some(folder))
}

/// The folder in which programs of this user keep data, as each system wants it.
fn default_data_dir(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    // A relative path would depend on where the program is started; the XDG rules say to ignore it.
    let absolute = |name: &str| variable(name).filter(|p| p.is_absolute());
    let home = |inside: &str| absolute("HOME").map(|home| home.join(inside));
    let base = if cfg!(windows) {
        absolute("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        home("Library/Application Support")
    } else {
        absolute("XDG_DATA_HOME").or_else(|| home(".local/share"))
    };
    base.map(|base| base.join(Path::new("trocar")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn data_is_kept_where_the_system_wants_it() {
        let with = |pairs: &[(&str, &str)]| {
            default_data_dir(|name| {
                let found = pairs.iter().find(|p| p.0 == name);
                found.map(|p| PathBuf::from(p.1))
            })
        };
        let home = ("HOME", "/home/ann");
        let trocar = |path: &str| Some(PathBuf::from(path));
        assert_eq!(with(&[home]), trocar("/home/ann/.local/share/trocar"));
        assert_eq!(
            with(&[home, ("XDG_DATA_HOME", "/data")]),
            trocar("/data/trocar")
        );
        assert_eq!(
            with(&[home, ("XDG_DATA_HOME", "data")]),
            trocar("/home/ann/.local/share/trocar")
        );
        assert_eq!(with(&[]), None);
    }
}

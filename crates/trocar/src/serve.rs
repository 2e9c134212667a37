//! `trocar serve`: the page on which one operates.

use crate::builtin;
use anyhow::Result;
use clap::Args;
use std::{net::Ipv4Addr, path::PathBuf, process::ExitCode};
use trocar_scene::Scene;

/// What `serve` may be told.
#[derive(Args)]
pub struct Options {
    /// The scene file. Default: the gall bladder that is built in.
    #[arg(long)]
    scene: Option<PathBuf>,
    /// Port on 127.0.0.1; 0 takes any that is free.
    #[arg(long, default_value_t = 4177)]
    port: u16,
    /// Folder for recordings; it is made if it does not exist. Default: nothing is recorded.
    #[arg(long)]
    data_dir: Option<PathBuf>,
    /// Open the page in the browser.
    #[arg(long)]
    open: bool,
    /// Threads the step may use.
    #[arg(long, default_value_t = 1)]
    threads: usize,
}

/// Serves until it is interrupted.
pub fn run(options: &Options) -> Result<ExitCode> {
    let scene = match &options.scene {
        Some(path) => Scene::load(path)?,
        None => builtin::gall_bladder()?,
    };
    let settings = trocar_serve::Options {
        address: (Ipv4Addr::LOCALHOST, options.port).into(),
        data_dir: options.data_dir.clone(),
        threads: options.threads.clamp(1, 256),
        ..trocar_serve::Options::new(scene)
    };
    let open = options.open;
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?
        .block_on(trocar_serve::serve(settings, |address| {
            let page = format!("http://{address}");
            // Scripts and tests read the address from this line.
            if let Err(error) = crate::print(&format!("listening on {page}")) {
                tracing::warn!("the address can't be printed: {error}");
            }
            if open && let Err(error) = open::that_detached(&page) {
                tracing::warn!("the browser can't be opened ({error}); open {page} yourself");
            }
        }))?;
    Ok(ExitCode::SUCCESS)
}

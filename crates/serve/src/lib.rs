//! The server: several operations against the clock, their page, their WebSockets and their records.
//!
//! [`serve`] runs until Ctrl-C; [`Server`] runs inside another program, for tests and benches. The protocol is in
//! [`wire`] (JSON), [`frame`] and [`insight`] (binary).
//!
//! ```text
//!           ┌─ an operation ────────────────────────────────────────────────────────────────────┐
//! page ── handle ──▶ session ──▶ desk ──▶ conductor: step, step, frame ──▶ triple buffer ──▶ relay ──▶ sessions ──▶ pages
//!           │                                 │  └── blocks ──▶ recorder ──▶ file                │
//!           └─────────────────────────────────┴────── deeds ──▶ clerk ─────▶ records ────────────┘
//! ```
//!
//! A conductor's thread never waits for anybody: it reads the latest wishes from the desk, leaves the newest frame in
//! the triple buffer, and what is to be kept in queues.

mod api;
mod binary;
mod catalogue;
mod clerk;
mod conductor;
mod describe;
mod desk;
pub mod frame;
mod guard;
mod house;
pub mod insight;
mod operation;
mod outlet;
mod pace;
mod page;
mod play;
mod priority;
mod recorder;
#[cfg(test)]
mod sample;
mod server;
mod session;
pub mod wire;

pub use binary::BinaryError;
pub use catalogue::Catalogue;
pub use server::Server;

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    time::Duration,
};
use thiserror::Error;
use trocar_scene::Scene;
use trocar_train::RecordsError;

/// What to serve, and where.
#[derive(Clone, Debug)]
pub struct Options {
    /// The scenes and exercises.
    pub catalogue: Catalogue,
    /// Where to listen; port 0 takes a free one. Default: 127.0.0.1, any port.
    pub address: SocketAddr,
    /// Where profiles, results and recordings are kept. Default: nothing is kept.
    pub data_dir: Option<PathBuf>,
    /// Threads of each simulation, at least 1. Default: 1.
    pub threads: usize,
    /// An operation that everybody has left ends after this time; one to which nobody came, after twice of it.
    /// Default: 30 s.
    pub grace: Duration,
    /// A page that does not take a message in this time is given up. Default: 10 s.
    pub patience: Duration,
}

impl Options {
    /// To serve these with everything else as usual.
    pub fn new(catalogue: Catalogue) -> Self {
        Self {
            catalogue,
            address: (Ipv4Addr::LOCALHOST, 0).into(),
            data_dir: None,
            threads: 1,
            grace: Duration::from_secs(30),
            patience: Duration::from_secs(10),
        }
    }

    /// To serve one scene, as the Lab's `scene`.
    pub fn of_scene(scene: Scene) -> Self {
        Self::new(Catalogue::of_scene(scene))
    }
}

/// Why the server can't run, and what to do about it.
#[derive(Debug, Error)]
pub enum ServeError {
    /// Profiles and results can't be kept.
    #[error(transparent)]
    Records(#[from] RecordsError),
    /// The address can't be used.
    #[error("can't listen on {address}: {cause}\n  {}", remedy(address, cause))]
    Bind {
        /// Which address.
        address: SocketAddr,
        /// Why.
        cause: io::Error,
    },
    /// The address stands for all networks.
    #[error(
        "{address} would listen on every network, but without accounts anybody could operate\n  \
         Use 127.0.0.1, or the address that this machine has in the network you trust."
    )]
    Everywhere {
        /// Which address.
        address: SocketAddr,
    },
    /// The system gives no thread.
    #[error(
        "a thread can't be started: {0}\n  Close other programs, or raise the limit on threads."
    )]
    Thread(io::Error),
    /// The system does not tell us about Ctrl-C.
    #[error("can't wait for Ctrl-C: {0}\n  Start the server from a terminal.")]
    Signal(io::Error),
    /// It ended by itself.
    #[error(
        "the server has ended by a fault of the program\n  \
         Start it again; please report the lines printed above."
    )]
    Ended,
}

impl ServeError {
    fn bind(address: SocketAddr, cause: io::Error) -> Self {
        Self::Bind { address, cause }
    }
}

fn remedy(address: &SocketAddr, cause: &io::Error) -> String {
    match cause.kind() {
        io::ErrorKind::AddrInUse => format!(
            "Another program uses port {}, perhaps another Trocar: stop it, or choose another port (0 takes a free one).",
            address.port()
        ),
        io::ErrorKind::PermissionDenied => "Choose a port from 1024 on.".into(),
        io::ErrorKind::AddrNotAvailable => {
            format!(
                "{} is no address of this machine: use 127.0.0.1.",
                address.ip()
            )
        }
        _ => "Choose another address or port.".into(),
    }
}

/// Serves until Ctrl-C (or, on Unix, SIGTERM). `ready` is called once, when pages can be opened.
pub async fn serve(options: Options, ready: impl FnOnce(&Server)) -> Result<(), ServeError> {
    let server = Server::start(options)?;
    ready(&server);
    let told = told_to_stop().await;
    server.stop();
    told.map_err(ServeError::Signal)
}

#[cfg(unix)]
async fn told_to_stop() -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        told = tokio::signal::ctrl_c() => told,
        _ = terminate.recv() => Ok(()),
    }
}

#[cfg(not(unix))]
async fn told_to_stop() -> io::Result<()> {
    tokio::signal::ctrl_c().await
}

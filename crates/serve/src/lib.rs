//! The server: a simulation against the clock, its page and its WebSocket.
//!
//! [`serve`] runs until Ctrl-C; [`Server`] runs inside another program, for tests and benches. The protocol is in
//! [`wire`] (JSON) and [`frame`] (binary).
//!
//! ```text
//! page ── handle ──▶ session ──▶ desk ──▶ conductor: step, step, frame ──▶ triple buffer ──▶ relay ──▶ sessions ──▶ pages
//! ```
//!
//! The conductor's thread never waits for anybody: it reads the latest wishes from the desk, and leaves the newest
//! frame in the triple buffer.

mod conductor;
mod describe;
mod desk;
pub mod frame;
mod guard;
mod pace;
mod page;
mod recorder;
#[cfg(test)]
mod sample;
mod server;
mod session;
pub mod wire;

pub use server::Server;

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
};
use thiserror::Error;
use trocar_scene::{Scene, SceneError};

/// What to serve, and where.
#[derive(Clone, Debug)]
pub struct Options {
    /// The scene.
    pub scene: Scene,
    /// Where to listen; port 0 takes a free one. Default: 127.0.0.1, any port.
    pub address: SocketAddr,
    /// Where recordings are kept, in its folder `recordings`. Default: nothing is kept.
    pub data_dir: Option<PathBuf>,
    /// Threads of the simulation, at least 1. Default: 1.
    pub threads: usize,
}

impl Options {
    /// To serve this scene with everything else as usual.
    pub fn new(scene: Scene) -> Self {
        Self {
            scene,
            address: (Ipv4Addr::LOCALHOST, 0).into(),
            data_dir: None,
            threads: 1,
        }
    }
}

/// Why the server can't run, and what to do about it.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The scene is wrong.
    #[error(transparent)]
    Scene(#[from] SceneError),
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
    /// Recordings can't be kept.
    #[error("recordings can't be written to {}: {cause}\n  Name a folder that you may write to.", path.display())]
    DataDir {
        /// Where.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// The system gives no thread.
    #[error(
        "a thread can't be started: {0}\n  Close other programs, or raise the limit on threads."
    )]
    Thread(io::Error),
    /// The system does not tell us about Ctrl-C.
    #[error("can't wait for Ctrl-C: {0}\n  Start the server from a terminal.")]
    Signal(io::Error),
    /// The simulation ended by itself.
    #[error(
        "the simulation has ended by a fault of the program\n  \
         Start it again; please report the scene and the lines printed above."
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

/// Serves a scene until Ctrl-C (or, on Unix, SIGTERM). `ready` is called once, with the address, when pages can be
/// opened.
pub async fn serve(options: Options, ready: impl FnOnce(SocketAddr)) -> Result<(), ServeError> {
    let server = Server::start(options)?;
    ready(server.address());
    let ended = tokio::select! {
        told = told_to_stop() => told.map_err(ServeError::Signal),
        () = server.failed() => Err(ServeError::Ended),
    };
    server.stop();
    ended
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

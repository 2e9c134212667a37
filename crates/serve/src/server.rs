//! The server: a simulation, its page and its WebSocket, in this process.

use crate::{
    Options, ServeError,
    conductor::Conductor,
    describe, guard, page,
    recorder::Recorder,
    session::{self, Hall},
    wire::{PROTOCOL, Role, ServerMessage},
};
use axum::{
    Json, Router,
    body::Bytes,
    extract::{State, WebSocketUpgrade},
    http::{StatusCode, Uri},
    middleware,
    response::{IntoResponse, Response},
    routing::get,
    serve::ListenerExt,
};
use std::{
    net::SocketAddr,
    sync::{Arc, atomic::AtomicBool, mpsc},
    time::Duration,
};
use tokio::{
    net::TcpListener,
    runtime::Runtime,
    sync::{Semaphore, watch},
};
use trocar_scene::Simulation;

/// Threads that talk to clients. They do little: frames are encoded elsewhere, once.
const WORKERS: usize = 2;

/// How long connections are given to end when the server stops.
const PATIENCE: Duration = Duration::from_secs(3);

/// A running server. It has threads of its own, so it can be used with or without an async runtime; dropping it
/// stops it.
pub struct Server {
    address: SocketAddr,
    hall: Arc<Hall>,
    closing: watch::Sender<bool>,
    /// Dropped before the runtime: it completes the recording.
    conductor: Option<Conductor>,
    runtime: Option<Runtime>,
}

impl Server {
    /// Builds the scene, binds the address and starts to serve.
    pub fn start(options: Options) -> Result<Self, ServeError> {
        let simulation = Simulation::new(&options.scene, options.threads.max(1))?;
        let recorder = Recorder::new(options.scene, options.data_dir.as_deref())?;
        let listener = bind(options.address)?;
        let address = listener
            .local_addr()
            .map_err(|source| ServeError::bind(options.address, source))?;
        if !page::is_built() {
            tracing::warn!("the page is not built in; run `cargo xtask web` and build again");
        }

        let description = Box::new(describe::scene(simulation.model()));
        let instruments = description.instruments.len();
        let name = description.name.clone();
        let hello = [Role::Controller, Role::Viewer].map(|role| {
            ServerMessage::Hello {
                protocol: PROTOCOL,
                role,
                scene: description.clone(),
            }
            .to_json()
            .into()
        });
        let (conductor, show) = Conductor::start(simulation, recorder)?;
        let (frame_sender, frames) = watch::channel(Bytes::new());
        let (closing, closes) = watch::channel(false);
        let hall = Arc::new(Hall {
            desk: Arc::clone(&show.desk),
            frames,
            events: show.events.clone(),
            closing: closes.clone(),
            hello,
            instruments,
            seats: Arc::new(Semaphore::new(session::SEATS)),
            controlled: AtomicBool::new(false),
        });
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(WORKERS)
            .thread_name("serve")
            .enable_all()
            .build()
            .map_err(ServeError::Thread)?;
        runtime.spawn(show.relay(frame_sender));
        let handle = runtime.handle().clone();
        // A server before anything else can fail: it knows how to end, even inside another runtime.
        let server = Self {
            address,
            hall: Arc::clone(&hall),
            closing,
            conductor: Some(conductor),
            runtime: Some(runtime),
        };
        let inside = handle.enter();
        let listener =
            TcpListener::from_std(listener).map_err(|source| ServeError::bind(address, source))?;
        drop(inside);
        handle.spawn(listen(listener, router(hall, name, address), closes));
        Ok(server)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Tells every page that it is over, completes the recording and ends all threads.
    pub fn stop(mut self) {
        self.end(PATIENCE);
    }

    /// Returns when the simulation has ended by itself, which it only does by a fault.
    pub(crate) async fn failed(&self) {
        let mut frames = self.hall.frames.clone();
        while frames.changed().await.is_ok() {}
    }

    fn end(&mut self, patience: Duration) {
        self.closing.send_replace(true);
        let Some(runtime) = self.runtime.take() else {
            return;
        };
        let (done, wait) = mpsc::channel();
        let seats = Arc::clone(&self.hall.seats);
        runtime.spawn(async move {
            let _ = seats.acquire_many(session::SEATS as u32).await;
            let _ = done.send(());
        });
        let _ = wait.recv_timeout(patience);
        self.conductor = None;
        // Not the one that waits: this may be called from inside another runtime.
        runtime.shutdown_background();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end(Duration::from_millis(200));
    }
}

fn bind(address: SocketAddr) -> Result<std::net::TcpListener, ServeError> {
    if address.ip().is_unspecified() {
        return Err(ServeError::Everywhere { address });
    }
    if !address.ip().is_loopback() {
        tracing::warn!(
            "{address} can be reached by others, and there are no accounts: anybody who can reach it may operate"
        );
    }
    let listener =
        std::net::TcpListener::bind(address).map_err(|source| ServeError::bind(address, source))?;
    listener
        .set_nonblocking(true)
        .map_err(|source| ServeError::bind(address, source))?;
    Ok(listener)
}

async fn listen(listener: TcpListener, router: Router, mut closing: watch::Receiver<bool>) {
    // Frames and handles are small and late if the system waits for more of them.
    let listener = listener.tap_io(|io| {
        if let Err(error) = io.set_nodelay(true) {
            tracing::debug!("a connection will be slow to answer: {error}");
        }
    });
    let closed = async move {
        let _ = closing.wait_for(|c| *c).await;
    };
    if let Err(error) = axum::serve(listener, router)
        .with_graceful_shutdown(closed)
        .await
    {
        tracing::error!("the server has stopped: {error}");
    }
}

fn router(hall: Arc<Hall>, scene: String, address: SocketAddr) -> Router {
    let health = {
        let hall = Arc::clone(&hall);
        move || {
            let alive = hall.is_alive();
            let status = if alive {
                StatusCode::OK
            } else {
                StatusCode::INTERNAL_SERVER_ERROR
            };
            let word = if alive {
                "ok"
            } else {
                "the simulation has ended"
            };
            let body = serde_json::json!({ "status": word, "scene": scene, "protocol": PROTOCOL });
            async move { (status, Json(body)) }
        }
    };
    Router::new()
        .route(guard::SOCKET, get(open))
        .route("/api/health", get(health))
        .fallback(|uri: Uri| async move { page::file(uri.path()) })
        .with_state(hall)
        .layer(middleware::from_fn_with_state(
            guard::Names::of(address),
            guard::check,
        ))
}

async fn open(State(hall): State<Arc<Hall>>, upgrade: WebSocketUpgrade) -> Response {
    let Ok(permit) = Arc::clone(&hall.seats).try_acquire_owned() else {
        return (StatusCode::SERVICE_UNAVAILABLE, "All seats are taken.\n").into_response();
    };
    upgrade
        .max_message_size(session::MAX_READ)
        .max_frame_size(session::MAX_READ)
        .on_upgrade(move |socket| session::run(socket, hall, permit))
}

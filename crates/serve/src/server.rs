//! The server: operations, their page and their WebSockets, in this process.

use crate::{
    Options, ServeError, api, guard,
    house::House,
    page, priority,
    wire::{NewOperation, OperationInfo},
};
use axum::{Router, http::Uri, middleware};
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use std::{
    future::Future,
    net::SocketAddr,
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};
use tokio::{
    io::AsyncWriteExt,
    net::{TcpListener, TcpStream},
    runtime::{Handle, Runtime},
    sync::{Semaphore, watch},
    time::timeout,
};
use trocar_train::Records;

/// Threads that talk to clients. They do little: frames are encoded elsewhere, once.
const WORKERS: usize = 2;

/// How long operations and connections are given to end when the server stops.
const PATIENCE: Duration = Duration::from_secs(5);

/// Most connections at a time that have not become WebSockets.
const CONNECTIONS: usize = 128;

/// A client that has not sent the head of its request after this time is not waited for.
const HEAD: Duration = Duration::from_secs(10);

/// A running server. It has threads of its own, so it can be used with or without an async runtime; dropping it
/// stops it.
pub struct Server {
    address: SocketAddr,
    house: Arc<House>,
    closing: watch::Sender<bool>,
    runtime: Option<Runtime>,
}

impl Server {
    /// Opens the records, binds the address and starts to serve.
    pub fn start(options: Options) -> Result<Self, ServeError> {
        let listener = bind(options.address)?;
        let address = listener
            .local_addr()
            .map_err(|source| ServeError::bind(options.address, source))?;
        if !page::is_built() {
            tracing::warn!("the page is not built in; run `cargo xtask web` and build again");
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(WORKERS)
            .thread_name("serve")
            .enable_all()
            .build()
            .map_err(ServeError::Thread)?;
        let handle = runtime.handle().clone();
        let folder = options.data_dir.clone();
        let records = wait(&handle, async move {
            match folder {
                Some(folder) => Records::open(&folder).await,
                None => Records::in_memory().await,
            }
        });
        let (closing, closes) = watch::channel(false);
        let records = match records {
            Some(Ok(records)) => records,
            failed => {
                // Not the one that waits: this may be called from inside another runtime.
                runtime.shutdown_background();
                return Err(match failed {
                    Some(Err(error)) => error.into(),
                    _ => ServeError::Ended,
                });
            }
        };
        let house = Arc::new(House::new(options, records, closes.clone()));
        // A server before anything else can fail: it knows how to end, even inside another runtime.
        let server = Self {
            address,
            house: Arc::clone(&house),
            closing,
            runtime: Some(runtime),
        };
        let inside = handle.enter();
        let listener =
            TcpListener::from_std(listener).map_err(|source| ServeError::bind(address, source))?;
        drop(inside);
        handle.spawn(Arc::clone(&house).tidy());
        // So that the first who asks does not wait. If the system gives no thread, they do.
        let scenes = Arc::clone(&house);
        let look_ahead = move || {
            priority::lower();
            scenes.scenes();
        };
        let _ = thread::Builder::new()
            .name("gallery".into())
            .spawn(look_ahead);
        handle.spawn(listen(listener, router(house, address), closes));
        Ok(server)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Opens an operation, as `POST /api/operations` does. The error is a sentence.
    pub fn open(&self, new: NewOperation) -> Result<OperationInfo, String> {
        let Some(runtime) = &self.runtime else {
            return Err("the server has ended".into());
        };
        let house = Arc::clone(&self.house);
        let opened = wait(runtime.handle(), async move { house.open(new).await });
        match opened {
            Some(opened) => opened.map_err(|refusal| refusal.problem.error),
            None => Err("the server has ended".into()),
        }
    }

    /// The address of an operation's WebSocket.
    pub fn socket(&self, operation: &OperationInfo) -> String {
        format!("ws://{}/ws/{}", self.address, operation.id)
    }

    /// Tells every page that it is over, keeps what was done and ends all threads.
    pub fn stop(mut self) {
        self.end(PATIENCE);
    }

    fn end(&mut self, patience: Duration) {
        self.closing.send_replace(true);
        let Some(runtime) = self.runtime.take() else {
            return;
        };
        let (done, wait) = mpsc::channel();
        let house = Arc::clone(&self.house);
        runtime.spawn(async move {
            house.close().await;
            let all = crate::house::SEATS as u32;
            let _ = house.seats.acquire_many(all).await;
            let _ = done.send(());
        });
        if wait.recv_timeout(patience).is_err() {
            tracing::warn!("some connections or operations did not end in time");
        }
        // Not the one that waits: this may be called from inside another runtime.
        runtime.shutdown_background();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end(Duration::from_secs(1));
    }
}

/// Runs `work` on the runtime and waits for it, even from inside another one; none if it panics.
fn wait<T: Send + 'static>(
    runtime: &Handle,
    work: impl Future<Output = T> + Send + 'static,
) -> Option<T> {
    let (tell, told) = mpsc::channel();
    runtime.spawn(async move {
        let _ = tell.send(work.await);
    });
    told.recv().ok()
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

/// Takes connections until the server closes.
async fn listen(listener: TcpListener, router: Router, mut closing: watch::Receiver<bool>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = closing.wait_for(|c| *c) => return,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Mostly too many open files: it passes when some connections end.
                tracing::warn!("a connection can't be taken: {error}");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        // Frames and handles are small and late if the system waits for more of them.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!("a connection will be slow to answer: {error}");
        }
        match Arc::clone(&places).try_acquire_owned() {
            Err(_) => {
                tokio::spawn(turn_away(stream));
            }
            Ok(place) => {
                let service = TowerToHyperService::new(router.clone());
                tokio::spawn(async move {
                    // A connection that becomes a WebSocket ends here, and has a seat instead.
                    let served = http1::Builder::new()
                        .timer(TokioTimer::new())
                        .header_read_timeout(HEAD)
                        .serve_connection(TokioIo::new(stream), service)
                        .with_upgrades()
                        .await;
                    if let Err(error) = served {
                        tracing::debug!("a connection has ended: {error}");
                    }
                    drop(place);
                });
            }
        }
    }
}

/// For one connection too many.
async fn turn_away(mut stream: TcpStream) {
    let text = "{\"error\":\"Too many connections. Close another page first.\"}";
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}",
        text.len()
    );
    let _ = timeout(Duration::from_secs(1), stream.write_all(answer.as_bytes())).await;
}

fn router(house: Arc<House>, address: SocketAddr) -> Router {
    api::router()
        .fallback(|uri: Uri| async move { page::file(uri.path()) })
        .with_state(house)
        .layer(middleware::from_fn_with_state(
            guard::Names::of(address),
            guard::check,
        ))
}

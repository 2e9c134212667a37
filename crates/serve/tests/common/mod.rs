//! A server with a small scene and a small exercise, and clients that speak its protocol.
// Each test file uses some of it; and what fails here fails the test.
#![allow(dead_code, clippy::unwrap_used)]

use futures_util::{SinkExt, StreamExt};
use serde::de::DeserializeOwned;
use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    path::PathBuf,
    time::Duration,
};
use tempfile::TempDir;
use tokio::{net, time::timeout};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async,
    tungstenite::{Error, Message},
};
use trocar_scene::Scene;
use trocar_serve::{
    Catalogue, Options, Server,
    frame::{self, Frame},
    insight::{self, InsightMessage},
    wire::{
        NewOperation, OperationInfo, Parameter, Profile, Replay, Role, SceneDescription,
        ServerMessage, StepBound, Task,
    },
};

/// Long enough for a very busy machine; only a fault takes so long.
pub const PATIENCE: Duration = Duration::from_secs(60);

pub const SCENE: &str = include_str!("scene.toml");
pub const EXERCISE: &str = include_str!("exercise.toml");

/// With the small scene as `bench-top`, and the exercise `be-there`.
pub fn catalogue() -> Catalogue {
    let mut catalogue = Catalogue::default();
    let problems = catalogue.add_files(&[
        ("exercises/be-there.toml", EXERCISE.as_bytes()),
        ("scenes/bench-top.toml", SCENE.as_bytes()),
    ]);
    assert!(problems.is_empty(), "{problems:?}");
    catalogue
}

/// A running server, the folder of its data, and an operation in its Lab.
pub struct Theatre {
    pub server: Server,
    pub folder: TempDir,
    pub operation: OperationInfo,
}

impl Theatre {
    /// With the small scene in the Lab.
    pub fn open() -> Self {
        Self::start(Options::new(catalogue()), "bench-top")
    }

    /// With this scene in the Lab.
    pub fn open_with(text: &str) -> Self {
        let scene = Scene::from_text("bench top.toml", text).unwrap();
        Self::start(Options::of_scene(scene), "scene")
    }

    pub fn start(options: Options, scene: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(Options {
            data_dir: Some(folder.path().join("data")),
            ..options
        })
        .unwrap();
        let scene = scene.to_string();
        let operation = server.open(NewOperation::Lab { scene }).unwrap();
        Self {
            server,
            folder,
            operation,
        }
    }

    pub fn recordings(&self) -> Vec<PathBuf> {
        let folder = self.folder.path().join("data/recordings");
        let files = std::fs::read_dir(folder).unwrap();
        let mut files: Vec<_> = files.map(|f| f.unwrap().path()).collect();
        files.sort();
        files
    }

    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// A client of the Lab's operation that has been greeted.
    pub async fn enter(&self) -> Client {
        self.enter_at(&self.operation, "").await
    }

    /// A client of any operation that has been greeted.
    pub async fn enter_at(&self, operation: &OperationInfo, query: &str) -> Client {
        let url = format!("{}{query}", self.server.socket(operation));
        Client::enter(&url).await
    }

    /// Sends bytes as they are and gives all of the answer, or of its beginning if the connection stays open.
    pub fn ask(&self, request: &str) -> String {
        ask(self.address(), request)
    }

    /// The answer to a GET for `path` with further header lines.
    pub fn get(&self, path: &str, headers: &str) -> String {
        let address = self.address();
        self.ask(&format!(
            "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{headers}\r\n"
        ))
    }

    /// The status of an answer, and its body.
    pub fn call(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        call(self.address(), method, path, body)
    }

    /// What is at `path`.
    pub fn read<T: DeserializeOwned>(&self, path: &str) -> T {
        let (status, body) = self.call("GET", path, "");
        assert_eq!(status, 200, "{path}: {body}");
        serde_json::from_str(&body).unwrap()
    }

    pub fn profile(&self, name: &str) -> Profile {
        let body = format!(r#"{{"name":"{name}"}}"#);
        let (status, body) = self.call("POST", "/api/profiles", &body);
        assert_eq!(status, 201, "{body}");
        serde_json::from_str(&body).unwrap()
    }

    /// Opens the exercise.
    pub fn exercise(&self, level: &str, profile: &Profile) -> OperationInfo {
        let body = format!(
            r#"{{"kind":"exercise","exercise":"be-there","level":"{level}","profile":{}}}"#,
            profile.id
        );
        let (status, body) = self.call("POST", "/api/operations", &body);
        assert_eq!(status, 201, "{body}");
        serde_json::from_str(&body).unwrap()
    }
}

pub fn ask(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

pub fn call(address: SocketAddr, method: &str, path: &str, body: &str) -> (u16, String) {
    let answer = ask(
        address,
        &format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nOrigin: http://{address}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ),
    );
    let status = answer.split(' ').nth(1).and_then(|s| s.parse().ok());
    let body = answer.split_once("\r\n\r\n").map_or("", |a| a.1);
    (status.unwrap_or(0), body.to_string())
}

pub struct Client {
    socket: WebSocketStream<MaybeTlsStream<net::TcpStream>>,
    pub role: Role,
    pub operation: Box<OperationInfo>,
    pub scene: Box<SceneDescription>,
    pub parameters: Vec<Parameter>,
    pub bounds: Vec<StepBound>,
    pub task: Option<Task>,
    pub replay: Option<Replay>,
}

/// Something from the server. Few of them live at a time.
#[allow(clippy::large_enum_variant)]
#[derive(Debug)]
pub enum Received {
    Shown(Box<Frame>),
    Seen(Box<InsightMessage>),
    Said(ServerMessage),
    Closed,
}

impl Client {
    /// Comes in and is greeted.
    pub async fn enter(url: &str) -> Self {
        let (mut socket, _) = connect_async(url).await.unwrap();
        let Received::Said(ServerMessage::Hello {
            protocol,
            role,
            operation,
            scene,
            parameters,
            bounds,
            task,
            flags: _,
            replay,
        }) = receive(&mut socket).await
        else {
            panic!("the first message is a hello");
        };
        assert_eq!(protocol, 4);
        Self {
            socket,
            role,
            operation,
            scene,
            parameters,
            bounds,
            task,
            replay,
        }
    }

    pub async fn receive(&mut self) -> Received {
        receive(&mut self.socket).await
    }

    /// The next frame.
    pub async fn frame(&mut self) -> Frame {
        self.frame_where(|_| true).await
    }

    /// The next frame that is as wanted.
    pub async fn frame_where(&mut self, wanted: impl Fn(&Frame) -> bool) -> Frame {
        let search = async {
            loop {
                match self.receive().await {
                    Received::Shown(frame) if wanted(&frame) => return *frame,
                    Received::Said(ServerMessage::Error { message }) => panic!("{message}"),
                    Received::Closed => panic!("closed"),
                    _ => {}
                }
            }
        };
        timeout(PATIENCE, search).await.expect("no such frame")
    }

    /// The next message that is as wanted.
    pub async fn said<T>(&mut self, wanted: impl Fn(ServerMessage) -> Option<T>) -> T {
        let search = async {
            loop {
                match self.receive().await {
                    Received::Said(message) => {
                        if let Some(found) = wanted(message) {
                            return found;
                        }
                    }
                    Received::Closed => panic!("closed without a word"),
                    _ => {}
                }
            }
        };
        timeout(PATIENCE, search).await.expect("no such message")
    }

    /// The next complaint, whatever comes before it.
    pub async fn complaint(&mut self) -> String {
        self.said(|m| match m {
            ServerMessage::Error { message } => Some(message),
            _ => None,
        })
        .await
    }

    /// How it ended: result, score, passed, problem.
    pub async fn finished(&mut self) -> (Option<i64>, f64, bool, Option<String>) {
        self.said(|m| match m {
            ServerMessage::Finished {
                result,
                score,
                passed,
                problem,
            } => Some((result, score, passed, problem)),
            _ => None,
        })
        .await
    }

    /// Reads until the server closes, and gives its last complaint.
    pub async fn last_words(&mut self) -> Option<String> {
        let mut last = None;
        loop {
            match self.receive().await {
                Received::Said(ServerMessage::Error { message }) => last = Some(message),
                Received::Closed => return last,
                _ => {}
            }
        }
    }

    pub async fn send(&mut self, message: Message) -> Result<(), Error> {
        timeout(PATIENCE, self.socket.send(message))
            .await
            .expect("the server does not read")
    }

    pub async fn say(&mut self, text: impl Into<String>) {
        self.send(Message::Text(text.into().into())).await.unwrap();
    }

    /// A message without fields.
    pub async fn order(&mut self, kind: &str) {
        self.say(format!(r#"{{"type":"{kind}"}}"#)).await;
    }

    pub async fn steer(&mut self, sequence: u32, yaw: f64, depth: f64) {
        self.say(handle(sequence, 0, yaw, depth)).await;
    }

    pub async fn leave(mut self) {
        let _ = self.socket.close(None).await;
        while let Some(Ok(_)) = self.socket.next().await {}
    }
}

async fn receive(socket: &mut WebSocketStream<MaybeTlsStream<net::TcpStream>>) -> Received {
    loop {
        let message = timeout(PATIENCE, socket.next())
            .await
            .expect("the server is silent");
        return match message {
            Some(Ok(Message::Binary(bytes))) if bytes.starts_with(b"TRI7") => {
                Received::Seen(Box::new(insight::decode(&bytes).unwrap()))
            }
            Some(Ok(Message::Binary(bytes))) => {
                Received::Shown(Box::new(frame::decode(&bytes).unwrap()))
            }
            Some(Ok(Message::Text(text))) => Received::Said(serde_json::from_str(&text).unwrap()),
            Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => continue,
            Some(Ok(Message::Close(_)) | Err(_)) | None => Received::Closed,
        };
    }
}

pub fn handle(sequence: u32, instrument: u32, yaw: f64, depth: f64) -> String {
    format!(
        r#"{{"type":"handle","sequence":{sequence},"instrument":{instrument},"yaw":{yaw},"pitch":0.0,"depth":{depth},"roll":0.0,"jaw":0.7}}"#
    )
}

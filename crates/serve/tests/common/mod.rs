//! A server with a small scene, and clients that speak its protocol.
// Each test file uses some of it; and what fails here fails the test.
#![allow(dead_code, clippy::unwrap_used)]

use futures_util::{SinkExt, StreamExt};
use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
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
    Options, Server,
    frame::{self, Frame},
    wire::{Role, SceneDescription, ServerMessage},
};

/// Long enough for a very busy machine; only a fault takes so long.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A running server, and the folder its scene and its data are in.
pub struct Theatre {
    pub server: Server,
    pub folder: TempDir,
}

impl Theatre {
    pub fn open() -> Self {
        Self::open_with(include_str!("scene.toml"))
    }

    pub fn open_with(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let scene = Scene::from_text("bench top.toml", text).unwrap();
        let options = Options {
            data_dir: Some(folder.path().join("data")),
            ..Options::new(scene)
        };
        Self {
            server: Server::start(options).unwrap(),
            folder,
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// A client that has been greeted.
    pub async fn enter(&self) -> Client {
        let (socket, _) = connect_async(format!("ws://{}/ws", self.address()))
            .await
            .unwrap();
        let mut client = Client {
            socket,
            role: Role::Viewer,
            scene: None,
        };
        let Received::Said(ServerMessage::Hello {
            protocol,
            role,
            scene,
        }) = client.receive().await
        else {
            panic!("the first message is a hello");
        };
        assert_eq!(protocol, 1);
        client.role = role;
        client.scene = Some(scene);
        client
    }

    /// Sends bytes as they are and gives all of the answer, or of its beginning if the connection stays open.
    pub fn ask(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(self.address()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// The answer to a GET for `path` with further header lines.
    pub fn get(&self, path: &str, headers: &str) -> String {
        let address = self.address();
        self.ask(&format!(
            "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{headers}\r\n"
        ))
    }
}

pub struct Client {
    socket: WebSocketStream<MaybeTlsStream<net::TcpStream>>,
    pub role: Role,
    pub scene: Option<Box<SceneDescription>>,
}

/// Something from the server.
#[derive(Debug)]
pub enum Received {
    Shown(Box<Frame>),
    Said(ServerMessage),
    Closed,
}

impl Client {
    pub async fn receive(&mut self) -> Received {
        loop {
            let message = timeout(PATIENCE, self.socket.next())
                .await
                .expect("the server is silent");
            return match message {
                Some(Ok(Message::Binary(bytes))) => {
                    Received::Shown(Box::new(frame::decode(&bytes).unwrap()))
                }
                Some(Ok(Message::Text(text))) => {
                    Received::Said(serde_json::from_str(&text).unwrap())
                }
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => continue,
                Some(Ok(Message::Close(_)) | Err(_)) | None => Received::Closed,
            };
        }
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
                    Received::Shown(_) | Received::Said(ServerMessage::Event { .. }) => {}
                    other => panic!("{other:?}"),
                }
            }
        };
        timeout(PATIENCE, search).await.expect("no such frame")
    }

    /// The next complaint, whatever comes before it.
    pub async fn complaint(&mut self) -> String {
        loop {
            match self.receive().await {
                Received::Said(ServerMessage::Error { message }) => return message,
                Received::Closed => panic!("closed without a word"),
                _ => {}
            }
        }
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

    pub async fn steer(&mut self, sequence: u32, yaw: f64, depth: f64) {
        self.say(handle(sequence, 0, yaw, depth)).await;
    }

    pub async fn leave(mut self) {
        let _ = self.socket.close(None).await;
        while let Some(Ok(_)) = self.socket.next().await {}
    }
}

pub fn handle(sequence: u32, instrument: u32, yaw: f64, depth: f64) -> String {
    format!(
        r#"{{"type":"handle","sequence":{sequence},"instrument":{instrument},"yaw":{yaw},"pitch":0.0,"depth":{depth},"roll":0.0,"jaw":0.7}}"#
    )
}

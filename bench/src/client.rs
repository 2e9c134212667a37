//! Clients of a server on this machine, as a page is one.

use anyhow::{Context, Result, bail, ensure};
use futures_util::{SinkExt, StreamExt};
use std::{collections::VecDeque, time::Duration};
use tokio::{
    net::TcpStream,
    time::{Instant, sleep_until, timeout},
};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async, tungstenite::Message};
use trocar_math::real;
use trocar_serve::{
    frame::MAGIC,
    wire::{ClientMessage, Handle, Role, ServerMessage},
};

/// Between two messages. Not a multiple of a frame: the messages fall on all phases of it.
pub const BETWEEN: Duration = Duration::from_millis(37);

/// Frames in a second, as the server wants.
pub const RATE: f64 = 60.0;

/// A server that says nothing for so long won't say anything any more.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a client noted.
#[derive(Debug, Default)]
pub struct Heard {
    /// From each message to its frame.
    pub waits: Vec<Duration>,
    /// From each frame to the next.
    pub gaps: Vec<Duration>,
    /// How many frames came, and how many did not.
    pub frames: usize,
    pub dropped: u32,
    /// On the clock, and in the simulation, s.
    pub seconds: f64,
    pub simulated: f64,
}

/// A connection.
pub struct Client {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    /// How the first instrument is held.
    handle: Handle,
}

/// What a client looks at in a frame; a page has a graphics card for the rest.
struct Seen {
    at: Instant,
    number: u32,
    sequence: u32,
    time: f64,
}

impl Client {
    /// Comes in, and must have this role.
    pub async fn enter(socket: &str, wanted: Role) -> Result<Self> {
        let query = match wanted {
            Role::Controller => "",
            Role::Viewer => "?watch=1",
        };
        let (mut socket, _) = connect_async(format!("{socket}{query}")).await?;
        // As a browser does: a small message is not held back.
        if let MaybeTlsStream::Plain(stream) = socket.get_ref() {
            stream.set_nodelay(true)?;
        }
        let first = timeout(PATIENCE, socket.next()).await?;
        let Some(Message::Text(text)) = first.transpose()? else {
            bail!("the server does not begin with a hello");
        };
        let ServerMessage::Hello { role, scene, .. } = serde_json::from_str(&text)? else {
            bail!("the server does not begin with a hello");
        };
        ensure!(role == wanted, "somebody else holds the instruments");
        let instrument = scene
            .instruments
            .first()
            .context("there is no instrument")?;
        Ok(Self {
            handle: instrument.handle,
            socket,
        })
    }

    /// The next frame, and when it was there.
    async fn frame(&mut self) -> Result<Seen> {
        loop {
            let message = timeout(PATIENCE, self.socket.next()).await?;
            let at = Instant::now();
            match message.context("the server has gone")?? {
                Message::Binary(bytes) => return seen(at, &bytes),
                Message::Text(text) => {
                    if let ServerMessage::Error { message } = serde_json::from_str(&text)? {
                        bail!("the server says: {message}");
                    }
                }
                Message::Close(_) => bail!("the server has closed"),
                _ => {}
            }
        }
    }

    /// Looks on for a time.
    pub async fn listen(&mut self, long: Duration) -> Result<Heard> {
        let mut watch = Watch::begin(self.frame().await?);
        let end = watch.began + long;
        while watch.last.at < end {
            let seen = self.frame().await?;
            watch.see(seen);
        }
        Ok(watch.end())
    }

    async fn say(&mut self, sequence: u32) -> Result<()> {
        // A hand that goes round slowly, away from any tissue.
        let swing = 0.1 * real::sin(0.05 * f64::from(sequence));
        let Handle {
            pitch,
            depth,
            roll,
            jaw,
            ..
        } = self.handle;
        let message = ClientMessage::Handle {
            sequence,
            instrument: 0,
            yaw: self.handle.yaw + swing,
            pitch,
            depth,
            roll,
            jaw,
        };
        let text = serde_json::to_string(&message)?;
        Ok(self.socket.send(Message::text(text)).await?)
    }

    /// Sends `count` messages and waits for the frames of all; `done` is called for each.
    pub async fn talk(&mut self, count: usize, done: impl Fn()) -> Result<Heard> {
        let mut waits = Vec::new();
        let mut pending = VecDeque::new();
        let mut watch = Watch::begin(self.frame().await?);
        let mut sent = 0;
        while waits.len() < count {
            let due = watch.began + BETWEEN * (sent + 1);
            tokio::select! {
                // The clock first: otherwise a frame that is already there would delay a message.
                biased;
                () = sleep_until(due), if (sent as usize) < count => {
                    sent += 1;
                    pending.push_back((sent, Instant::now()));
                    self.say(sent).await?;
                }
                next = self.frame() => {
                    let seen = next?;
                    while let Some((_, then)) = pending.pop_front_if(|p| p.0 <= seen.sequence) {
                        waits.push(seen.at - then);
                        done();
                    }
                    watch.see(seen);
                }
            }
        }
        Ok(Heard {
            waits,
            ..watch.end()
        })
    }
}

/// The head of a frame.
fn seen(at: Instant, bytes: &[u8]) -> Result<Seen> {
    let word = |at: usize| bytes.get(at..).and_then(|b| b.first_chunk());
    let number = |at: usize| word(at).map(|b| u32::from_le_bytes(*b));
    let time: Option<&[u8; 8]> = bytes.get(16..).and_then(|b| b.first_chunk());
    match (number(0), number(4), number(8), time) {
        (Some(MAGIC), Some(number), Some(sequence), Some(time)) => Ok(Seen {
            at,
            number,
            sequence,
            time: f64::from_le_bytes(*time),
        }),
        _ => bail!("this is no frame"),
    }
}

/// What is noted about frames.
struct Watch {
    began: Instant,
    last: Seen,
    heard: Heard,
}

impl Watch {
    fn begin(first: Seen) -> Self {
        Self {
            began: first.at,
            last: first,
            heard: Heard::default(),
        }
    }

    fn see(&mut self, seen: Seen) {
        self.heard.frames += 1;
        self.heard.gaps.push(seen.at - self.last.at);
        let missed = seen.number.wrapping_sub(self.last.number).wrapping_sub(1);
        self.heard.dropped += missed;
        self.heard.simulated += seen.time - self.last.time;
        self.last = seen;
    }

    fn end(mut self) -> Heard {
        self.heard.seconds = (self.last.at - self.began).as_secs_f64();
        self.heard
    }
}

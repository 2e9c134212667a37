//! From a hand's movement to the first frame that shows it: a client on loopback, and the real server as it is.

use crate::{
    measure::{Effort, Summary, progress},
    row::Row,
};
use anyhow::{Context, Result, bail};
use futures_util::{SinkExt, StreamExt};
use std::{collections::VecDeque, path::Path, time::Duration};
use tokio::{
    net::TcpStream,
    time::{Instant, sleep_until, timeout},
};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async, tungstenite::Message};
use trocar_math::real;
use trocar_scene::Scene;
use trocar_serve::{
    Options, Server,
    frame::{self, Frame},
    wire::{ClientMessage, Handle, Role, ServerMessage},
};

/// Between two messages. Not a multiple of a frame: the messages fall on all phases of it.
const BETWEEN: Duration = Duration::from_millis(37);

/// Until everything runs evenly.
const SETTLE: Duration = Duration::from_secs(1);

/// A server that says nothing for so long won't say anything any more.
const PATIENCE: Duration = Duration::from_secs(10);

/// Frames in a second, as the server wants.
const RATE: f64 = 60.0;

/// What we want: the slowest of a hundred, ms.
const AIM: f64 = 25.0;

/// All rows.
pub fn latency(effort: Effort) -> Result<Vec<Row>> {
    let messages = effort.repeats(400, 80);
    eprintln!(
        "mesd/latency: {messages} messages, {} ms apart",
        BETWEEN.as_millis()
    );
    let scene = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenes/gallbladder.toml");
    let server = Server::start(Options::new(Scene::load(scene)?))?;
    // The client has a thread of its own, as a browser would.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let heard = runtime.block_on(async {
        let mut client = Client::enter(&server).await?;
        client.listen(SETTLE).await?;
        client.talk(messages).await
    })?;
    server.stop();

    let case = "loopback client";
    let waits = Summary::of(heard.waits.iter().map(|w| w.as_secs_f64() * 1e3));
    let between = 1e3 / RATE;
    let median = Row::new(case, "input to frame, median", waits, "ms");
    let p99 = Row::single(case, "input to frame, p99", waits.p99, "ms").below(AIM);
    let greatest = Row::single(case, "input to frame, greatest", waits.max, "ms");
    let rate = heard.frames as f64 / heard.seconds;
    Ok(vec![
        median.against("time between frames", between),
        p99,
        greatest,
        // A hundredth less would be the grid of the clock; frames that are lost are counted apart.
        Row::single(case, "frames received", rate, "1/s").at_least(0.99 * RATE),
        Row::single(case, "frames dropped", f64::from(heard.dropped), "").at_most(0.0),
        Row::new(
            case,
            "between frames",
            Summary::of(heard.gaps.iter().map(|g| g.as_secs_f64() * 1e3)),
            "ms",
        )
        .against("time between frames", between),
        Row::single(
            case,
            "simulated per second",
            heard.simulated / heard.seconds,
            "s",
        ),
    ])
}

/// What a client noted.
#[derive(Default)]
struct Heard {
    /// From each message to its frame.
    waits: Vec<Duration>,
    /// From each frame to the next.
    gaps: Vec<Duration>,
    frames: usize,
    dropped: u32,
    /// On the clock, and in the simulation, s.
    seconds: f64,
    simulated: f64,
}

struct Client {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    /// How the first instrument is held.
    handle: Handle,
}

impl Client {
    /// Comes in as the controller.
    async fn enter(server: &Server) -> Result<Self> {
        let (mut socket, _) = connect_async(format!("ws://{}/ws", server.address())).await?;
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
        if role != Role::Controller {
            bail!("somebody else holds the instruments");
        }
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
    async fn frame(&mut self) -> Result<(Instant, Frame)> {
        loop {
            let message = timeout(PATIENCE, self.socket.next()).await?;
            let now = Instant::now();
            match message.context("the server has gone")?? {
                Message::Binary(bytes) => return Ok((now, frame::decode(&bytes)?)),
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

    async fn listen(&mut self, long: Duration) -> Result<()> {
        let end = Instant::now() + long;
        while self.frame().await?.0 < end {}
        Ok(())
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

    /// Sends `count` messages and waits for the frames of all.
    async fn talk(&mut self, count: usize) -> Result<Heard> {
        let bar = progress("mesd/latency", count);
        let mut heard = Heard::default();
        let mut pending = VecDeque::new();
        let (began, first) = self.frame().await?;
        let (mut last, mut number, mut time) = (began, first.head.number, first.time);
        let mut sent = 0;
        while heard.waits.len() < count {
            let due = began + BETWEEN * (sent + 1);
            tokio::select! {
                // The clock first: otherwise a frame that is already there would delay a message.
                biased;
                () = sleep_until(due), if (sent as usize) < count => {
                    sent += 1;
                    pending.push_back((sent, Instant::now()));
                    self.say(sent).await?;
                }
                next = self.frame() => {
                    let (now, frame) = next?;
                    heard.frames += 1;
                    heard.gaps.push(now - last);
                    heard.dropped += frame.head.number.wrapping_sub(number).wrapping_sub(1);
                    heard.simulated += frame.time - time;
                    (last, number, time) = (now, frame.head.number, frame.time);
                    while let Some((_, then)) =
                        pending.pop_front_if(|p| p.0 <= frame.head.input_sequence)
                    {
                        heard.waits.push(now - then);
                        bar.inc(1);
                    }
                }
            }
        }
        bar.finish_and_clear();
        heard.seconds = (last - began).as_secs_f64();
        Ok(heard)
    }
}

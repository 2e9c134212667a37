//! One connection of a page: what it sends is checked, what it misses is skipped.

use crate::{
    conductor::Shown,
    desk::{Order, Ray},
    operation::{Operation, Seat},
    wire::{ClientMessage, OperationKind, Role, ServerMessage, Vector},
};
use axum::{
    body::Bytes,
    extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, close_code},
};
use futures_util::{
    SinkExt, StreamExt,
    stream::{SplitSink, SplitStream},
};
use glam::DVec3;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::{
    sync::{OwnedSemaphorePermit, broadcast, mpsc, watch},
    time::{MissedTickBehavior, interval, timeout},
};
use trocar_scene::Views;
use trocar_tools::{EndoscopeHandle, Handle};

/// Longest message of a client, bytes.
pub const MAX_MESSAGE: usize = 4 << 10;

/// What is read of a message before the connection is given up, bytes. More than [`MAX_MESSAGE`], so that whoever
/// sends too much is told so and does not just see the connection break, as whoever sends more than this may.
pub const MAX_READ: usize = 64 << 10;

/// Messages a client may send in a second, and at once.
const MESSAGES: f64 = 240.0;

/// A client is asked for a sign of life this often, and given up if none came for so long.
const PING: Duration = Duration::from_secs(10);
const SILENCE: Duration = Duration::from_secs(30);

/// How long a client that was told to go is listened to, so that it gets to read why.
const FAREWELL: Duration = Duration::from_secs(1);

/// Short complaints that may wait for a client; more are dropped.
const NOTES: usize = 8;

/// Why a connection ends.
enum End {
    /// The client left, or can't be reached.
    Gone,
    /// The client broke the rules; it is told how.
    Refused(String),
    /// The operation or the server ended.
    Over(&'static str),
}

/// What a connection comes for.
pub struct Visit {
    /// Which operation.
    pub operation: Arc<Operation>,
    /// It takes the instruments if they are free, and does not only look on.
    pub operating: bool,
    /// A client that does not take one message in this time is given up.
    pub patience: Duration,
    /// True when the server closes.
    pub closing: watch::Receiver<bool>,
    /// For its seat.
    pub permit: OwnedSemaphorePermit,
}

impl Visit {
    /// Serves the connection until it ends.
    pub async fn run(self, socket: WebSocket) {
        let (sink, mut stream) = socket.split();
        let mut voice = Voice {
            sink,
            patience: self.patience,
        };
        let (note, notes) = mpsc::channel(NOTES);
        let end = {
            let seat = Seat::take(self.operation, self.operating);
            // Whether this connection asked for insight.
            let curious = AtomicBool::new(false);
            tokio::select! {
                end = voice.speak(&seat, &curious, self.closing, notes) => end,
                end = listen(&mut stream, &seat, &curious, note) => end,
            }
        };
        part(voice.sink, stream, end).await;
        // Only now: a server that stops waits until all of these are back.
        drop(self.permit);
    }
}

/// Tells a client why its connection ends.
async fn part(
    mut sink: SplitSink<WebSocket, Message>,
    mut stream: SplitStream<WebSocket>,
    end: End,
) {
    let (message, code, reason) = match end {
        End::Gone => return,
        End::Refused(message) => (message, close_code::POLICY, "refused"),
        End::Over(reason) => (reason.to_string(), close_code::AWAY, "over"),
    };
    tracing::debug!("connection closed: {message}");
    let close = CloseFrame {
        code,
        reason: reason.into(),
    };
    let farewell = async {
        sink.send(complaint(message)).await?;
        sink.send(Message::Close(Some(close))).await?;
        // A socket closed with unread data would be reset, and the client would lose what we said.
        while let Some(Ok(_)) = stream.next().await {}
        Ok::<_, axum::Error>(())
    };
    let _ = timeout(FAREWELL, farewell).await;
}

fn complaint(message: String) -> Message {
    Message::Text(ServerMessage::Error { message }.to_json().into())
}

/// Says to a client what there is to say.
struct Voice {
    sink: SplitSink<WebSocket, Message>,
    patience: Duration,
}

impl Voice {
    /// Sends what there is to see. While one frame is on its way newer ones replace each other, so a slow client loses
    /// frames and nobody waits for it.
    async fn speak(
        &mut self,
        seat: &Seat,
        curious: &AtomicBool,
        mut closing: watch::Receiver<bool>,
        mut notes: mpsc::Receiver<Message>,
    ) -> End {
        let (first, mut messages) = seat.hello();
        let mut shown = seat.operation.shown.clone();
        // What is there already is new to this client.
        shown.mark_changed();
        let mut ping = interval(PING);
        ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ping.reset();
        for text in first {
            if let Err(end) = self.send(Message::Text(text)).await {
                return end;
            }
        }
        loop {
            let next = tokio::select! {
                // Words first: they are few, and must not be lost behind frames.
                biased;
                _ = closing.wait_for(|c| *c) => return End::Over("the server has been stopped"),
                Some(note) = notes.recv() => Next::One(note),
                message = messages.recv() => match message {
                    Ok(text) => Next::One(Message::Text(text)),
                    // It was too slow for some of them; how it ended is never lost.
                    Err(broadcast::error::RecvError::Lagged(_)) => {
                        match seat.operation.outlet.enter().0.finished {
                            Some(finished) => Next::One(Message::Text(finished.to_json().into())),
                            None => continue,
                        }
                    }
                    Err(broadcast::error::RecvError::Closed) => {
                        return End::Over(seat.operation.farewell());
                    }
                },
                changed = shown.changed() => match changed {
                    Ok(()) => Next::Frame(shown.borrow_and_update().clone()),
                    Err(_) => return End::Over(seat.operation.farewell()),
                },
                _ = ping.tick() => Next::One(Message::Ping(Bytes::new())),
            };
            let sent = match next {
                Next::One(message) => self.send(message).await,
                Next::Frame(Shown { frame, insight }) => {
                    if frame.is_empty() {
                        continue;
                    }
                    let sent = self.send(Message::Binary(frame)).await;
                    if sent.is_ok() && !insight.is_empty() && curious.load(Ordering::Relaxed) {
                        self.send(Message::Binary(insight)).await
                    } else {
                        sent
                    }
                }
            };
            if let Err(end) = sent {
                return end;
            }
        }
    }

    async fn send(&mut self, message: Message) -> Result<(), End> {
        match timeout(self.patience, self.sink.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(End::Gone),
            Err(_) => Err(End::Refused(
                "the page does not read what it is sent".into(),
            )),
        }
    }
}

enum Next {
    One(Message),
    Frame(Shown),
}

/// Does what the client says, as long as it keeps to the rules.
async fn listen(
    stream: &mut SplitStream<WebSocket>,
    seat: &Seat,
    curious: &AtomicBool,
    notes: mpsc::Sender<Message>,
) -> End {
    let mut allowance = Allowance::new(Instant::now());
    loop {
        let message = match timeout(SILENCE, stream.next()).await {
            Err(_) => return End::Refused("no sign of life from the page".into()),
            Ok(None) => return End::Gone,
            Ok(Some(Err(error))) => return End::Refused(format!("this can't be read: {error}")),
            Ok(Some(Ok(message))) => message,
        };
        if !allowance.spend(Instant::now()) {
            return End::Refused(format!(
                "more than {MESSAGES} messages a second are too many"
            ));
        }
        let text: Utf8Bytes = match message {
            Message::Text(text) => text,
            Message::Binary(_) => {
                return End::Refused("messages to the server are JSON, not binary".into());
            }
            Message::Ping(_) | Message::Pong(_) => continue,
            Message::Close(_) => return End::Gone,
        };
        if text.len() > MAX_MESSAGE {
            return End::Refused(format!("a message has at most {MAX_MESSAGE} bytes"));
        }
        let message = match ClientMessage::parse(&text, &seat.operation.extent) {
            Err(problem) => return End::Refused(problem),
            Ok(message) => message,
        };
        // A mistake, not an attack: it is told, unless the client has not even read the last time.
        if let Err(mistake) = obey(seat, curious, message) {
            let _ = notes.try_send(complaint(mistake.into()));
        }
    }
}

/// Does what a client says, or tells why not.
fn obey(seat: &Seat, curious: &AtomicBool, message: ClientMessage) -> Result<(), &'static str> {
    let operation = &seat.operation;
    let desk = &operation.desk;
    let kind = operation.info.kind;
    let only = |allowed: bool, mistake| if allowed { Ok(()) } else { Err(mistake) };
    if let ClientMessage::Watch {
        nodes,
        elements,
        contacts,
        forces,
        anchors,
        frames,
        normals,
        boxes,
        depths,
        stress,
        displacement,
        adhesion,
        front,
    } = message
    {
        only(
            kind != OperationKind::Exercise,
            "in an exercise the inside is not shown",
        )?;
        let views = Views {
            nodes,
            elements,
            contacts,
            forces,
            anchors,
            frames,
            normals,
            boxes,
            depths,
            stress,
            displacement,
            adhesion,
            front,
        };
        curious.store(views != Views::default(), Ordering::Relaxed);
        seat.watch(views);
        return Ok(());
    }
    only(
        seat.role == Role::Controller,
        "somebody else holds the instruments; this page only looks on",
    )?;
    let in_lab = only(
        kind == OperationKind::Lab,
        "that can be done in the Lab only",
    );
    let in_replay = only(
        kind == OperationKind::Replay,
        "that can be done in a replay only",
    );
    match message {
        ClientMessage::Handle {
            sequence,
            instrument,
            yaw,
            pitch,
            depth,
            roll,
            jaw,
        } => desk.steer(
            instrument as usize,
            sequence,
            Handle {
                yaw,
                pitch,
                depth,
                roll,
                jaw,
            },
        ),
        ClientMessage::Endoscope {
            sequence,
            yaw,
            pitch,
            depth,
            roll,
            horizon,
            zoom,
        } => desk.look(
            sequence,
            EndoscopeHandle {
                yaw,
                pitch,
                depth,
                roll,
                horizon,
                zoom,
            },
        ),
        ClientMessage::Pause {} => desk.pause(true),
        ClientMessage::Resume {} => desk.pause(false),
        ClientMessage::Restart {} => desk.order(Order::Restart),
        ClientMessage::Finish {} => {
            only(
                kind == OperationKind::Exercise,
                "that can be done in an exercise only",
            )?;
            desk.order(Order::Finish);
        }
        ClientMessage::Grab { origin, direction } => {
            in_lab?;
            desk.order(Order::Grab(ray(origin, direction)));
        }
        ClientMessage::Drag { origin, direction } => {
            in_lab?;
            desk.order(Order::Drag(ray(origin, direction)));
        }
        ClientMessage::Drop {} => {
            in_lab?;
            desk.order(Order::Drop);
        }
        ClientMessage::Change { parameter, value } => {
            in_lab?;
            desk.order(Order::Change(parameter, value));
        }
        ClientMessage::Flags { tissue, word } => {
            in_lab?;
            desk.order(Order::Flags(tissue, word));
        }
        ClientMessage::Seek { time } => {
            in_replay?;
            desk.order(Order::Seek(time));
        }
        ClientMessage::Speed { factor } => {
            only(
                kind != OperationKind::Exercise,
                "in an exercise time runs as it does",
            )?;
            desk.run_at(factor);
        }
        ClientMessage::Watch { .. } => {}
    }
    Ok(())
}

fn ray(origin: Vector, direction: Vector) -> Ray {
    Ray {
        origin: origin.into(),
        // It was checked to have a length.
        direction: DVec3::from(direction).normalize_or(DVec3::Z),
    }
}

/// How many messages a client may still send: a bucket that fills with time.
struct Allowance {
    left: f64,
    last: Instant,
}

impl Allowance {
    fn new(now: Instant) -> Self {
        Self {
            left: MESSAGES,
            last: now,
        }
    }

    /// Takes one; false if there is none.
    fn spend(&mut self, now: Instant) -> bool {
        let passed = now.saturating_duration_since(self.last).as_secs_f64();
        self.last = now;
        self.left = (self.left + passed * MESSAGES).min(MESSAGES) - 1.0;
        self.left >= 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_at_its_usual_pace_is_never_stopped_and_a_flood_soon() {
        let began = Instant::now();
        let mut usual = Allowance::new(began);
        assert!((0..10_000).all(|i| usual.spend(began + Duration::from_millis(10 * i))));
        let mut flood = Allowance::new(began);
        let allowed = (0..10_000)
            .take_while(|i| flood.spend(began + Duration::from_micros(100 * i)))
            .count();
        assert!((240..300).contains(&allowed), "{allowed}");
    }
}

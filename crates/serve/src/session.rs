//! One connection of a page: what it sends is checked, what it misses is skipped.

use crate::{
    desk::Desk,
    wire::{ClientMessage, Role, ServerMessage},
};
use axum::{
    body::Bytes,
    extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, close_code},
};
use futures_util::{
    SinkExt, StreamExt,
    stream::{SplitSink, SplitStream},
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, broadcast, mpsc, watch},
    time::{MissedTickBehavior, interval, timeout},
};

/// Most connections at a time.
pub const SEATS: usize = 64;

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

/// A client that does not take one message in this time is given up.
const SEND: Duration = Duration::from_secs(10);

/// How long a client that was told to go is listened to, so that it gets to read why.
const FAREWELL: Duration = Duration::from_secs(1);

/// Short complaints that may wait for a client; more are dropped.
const NOTES: usize = 8;

/// What all connections share.
pub struct Hall {
    /// Where wishes are left.
    pub desk: Arc<Desk>,
    /// The newest frame.
    pub frames: watch::Receiver<Bytes>,
    /// What happens.
    pub events: broadcast::Sender<Utf8Bytes>,
    /// True when the server closes.
    pub closing: watch::Receiver<bool>,
    /// The first message for controllers and for viewers.
    pub hello: [Utf8Bytes; 2],
    /// How many instruments there are.
    pub instruments: usize,
    /// Free seats.
    pub seats: Arc<Semaphore>,
    /// Somebody holds the instruments.
    pub controlled: AtomicBool,
}

impl Hall {
    /// False once the simulation has ended.
    pub fn is_alive(&self) -> bool {
        self.frames.has_changed().is_ok()
    }
}

/// Why a connection ends.
enum End {
    /// The client left, or can't be reached.
    Gone,
    /// The client broke the rules; it is told how.
    Refused(String),
    /// The simulation or the server ended.
    Over(&'static str),
}

/// A place in the hall: whoever comes while nobody holds the instruments takes them. When that one leaves, no viewer
/// is surprised with them: the next to come takes them.
struct Seat {
    hall: Arc<Hall>,
    role: Role,
}

impl Seat {
    fn take(hall: Arc<Hall>) -> Self {
        let taken = hall.controlled.swap(true, Ordering::AcqRel);
        if !taken {
            hall.desk.change_hands();
        }
        hall.desk.enter();
        Self {
            hall,
            role: if taken {
                Role::Viewer
            } else {
                Role::Controller
            },
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.hall.desk.leave();
        if self.role == Role::Controller {
            self.hall.controlled.store(false, Ordering::Release);
        }
    }
}

/// Serves one connection until it ends.
pub async fn run(socket: WebSocket, hall: Arc<Hall>, permit: OwnedSemaphorePermit) {
    let (mut sink, mut stream) = socket.split();
    let (note, notes) = mpsc::channel(NOTES);
    let end = {
        let seat = Seat::take(hall);
        tokio::select! {
            end = speak(&mut sink, &seat, notes) => end,
            end = listen(&mut stream, &seat, note) => end,
        }
    };
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
    // Only now: a server that stops waits until all of these are back.
    drop(permit);
}

fn complaint(message: String) -> Message {
    Message::Text(ServerMessage::Error { message }.to_json().into())
}

/// Sends what there is to see. While one frame is on its way newer ones replace each other, so a slow client loses
/// frames and nobody waits for it.
async fn speak(
    sink: &mut SplitSink<WebSocket, Message>,
    seat: &Seat,
    mut notes: mpsc::Receiver<Message>,
) -> End {
    let hall = &seat.hall;
    let mut events = hall.events.subscribe();
    let mut frames = hall.frames.clone();
    let mut closing = hall.closing.clone();
    let mut ping = interval(PING);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut message = Message::Text(hall.hello[usize::from(seat.role == Role::Viewer)].clone());
    // The newest frame there is, even if it is old: a paused simulation is seen at once.
    frames.mark_changed();
    loop {
        match timeout(SEND, sink.send(message)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) | Err(_) => return End::Gone,
        }
        message = loop {
            tokio::select! {
                changed = frames.changed() => {
                    if changed.is_err() {
                        return End::Over("the simulation has ended");
                    }
                    let frame = frames.borrow_and_update().clone();
                    if !frame.is_empty() {
                        break Message::Binary(frame);
                    }
                }
                event = events.recv() => match event {
                    Ok(text) => break Message::Text(text),
                    // It was too slow for some of them; it goes on with those that are left.
                    Err(broadcast::error::RecvError::Lagged(_)) => {}
                    Err(broadcast::error::RecvError::Closed) => return End::Over("the simulation has ended"),
                },
                Some(note) = notes.recv() => break note,
                _ = closing.wait_for(|c| *c) => return End::Over("the server has been stopped"),
                _ = ping.tick() => break Message::Ping(Bytes::new()),
            }
        };
    }
}

/// Does what the client says, as long as it keeps to the rules.
async fn listen(
    stream: &mut SplitStream<WebSocket>,
    seat: &Seat,
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
        let text = match message {
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
        match ClientMessage::parse(&text, seat.hall.instruments) {
            Err(problem) => return End::Refused(problem),
            Ok(message) if seat.role == Role::Controller => obey(&seat.hall.desk, message),
            Ok(_) => {
                // A mistake, not an attack: it is told, unless it has not even read the last time.
                let text = "somebody else holds the instruments; this page only looks on";
                let _ = notes.try_send(complaint(text.into()));
            }
        }
    }
}

fn obey(desk: &Desk, message: ClientMessage) {
    match message {
        ClientMessage::Handle {
            sequence,
            instrument,
            yaw,
            pitch,
            depth,
            roll,
            jaw,
        } => {
            let handle = trocar_tools::Handle {
                yaw,
                pitch,
                depth,
                roll,
                jaw,
            };
            desk.steer(instrument as usize, sequence, handle);
        }
        ClientMessage::Pause {} => desk.pause(true),
        ClientMessage::Resume {} => desk.pause(false),
        ClientMessage::Restart {} => desk.restart(),
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

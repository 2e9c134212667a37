//! Where an operation tells what happens: to the pages that are there, and to those that come later.

use crate::wire::{
    FlagWord, Marker, NoticeKind, Parameter, Replay, ServerMessage, StepBound, Task,
};
use axum::extract::ws::Utf8Bytes;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::broadcast;

/// How many messages a viewer may be behind before it loses some.
const MESSAGES: usize = 64;

/// What a page is told when it comes.
#[derive(Clone, Debug, Default)]
pub struct Now {
    /// What can be changed.
    pub parameters: Vec<Parameter>,
    /// How long substeps may be.
    pub bounds: Vec<StepBound>,
    /// Attribute bits of the nets.
    pub flags: Vec<FlagWord>,
    /// What is to be done.
    pub task: Option<Task>,
    /// What is seen again.
    pub replay: Option<Replay>,
    /// Which run of the exercise this is.
    pub run: u32,
    /// How it ended, once it has.
    pub finished: Option<ServerMessage>,
}

/// Where an operation tells what happens. Clones tell the same pages.
#[derive(Clone)]
pub struct Outlet {
    messages: broadcast::Sender<Utf8Bytes>,
    now: Arc<Mutex<Now>>,
}

impl Outlet {
    /// An outlet that tells whoever comes `now`.
    pub fn new(now: Now) -> Self {
        let (messages, _) = broadcast::channel(MESSAGES);
        Self {
            messages,
            now: Arc::new(Mutex::new(now)),
        }
    }

    /// Tells all who are there.
    pub fn tell(&self, message: &ServerMessage) {
        // It fails only when nobody listens.
        let _ = self.messages.send(message.to_json().into());
    }

    /// Tells that something happened.
    pub fn event(&self, time: f64, kind: NoticeKind, text: impl Into<String>) {
        let text = text.into();
        self.tell(&ServerMessage::Event { time, kind, text });
    }

    /// Tells that something happened.
    pub fn mark(&self, Marker { time, kind, text }: Marker) {
        self.tell(&ServerMessage::Event { time, kind, text });
    }

    /// Notes what whoever comes later has to know.
    pub fn note(&self, change: impl FnOnce(&mut Now)) {
        change(&mut self.now.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Tells how run `run` has ended, unless another has begun meanwhile.
    pub fn finish(&self, run: u32, finished: ServerMessage) {
        let mut is_current = false;
        self.note(|now| {
            is_current = now.run == run;
            if is_current {
                now.finished = Some(finished.clone());
            }
        });
        if is_current {
            self.tell(&finished);
        }
    }

    /// What a page is told when it comes, and all that follows.
    pub fn enter(&self) -> (Now, broadcast::Receiver<Utf8Bytes>) {
        // Listening first: what changes in between is told twice, never lost.
        let messages = self.messages.subscribe();
        let now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        (now.clone(), messages)
    }
}

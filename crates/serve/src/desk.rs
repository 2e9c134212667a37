//! Where connections leave what they want, and the conductor finds it before every step. The latest wish wins, so
//! nothing queues up.

use std::{
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use trocar_tools::Handle;

/// The desk.
#[derive(Debug)]
pub struct Desk {
    wishes: Mutex<Wishes>,
    changed: Condvar,
    start: Vec<Handle>,
}

#[derive(Debug)]
struct Wishes {
    handles: Vec<Handle>,
    /// Of the latest handle, and of the latest one a step has used.
    sequence: u32,
    used: u32,
    paused: bool,
    restart: bool,
    closing: bool,
    watching: usize,
}

/// What the conductor is to do in this turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Orders {
    /// Time stands still.
    pub paused: bool,
    /// Go back to the start first.
    pub restart: bool,
    /// End.
    pub closing: bool,
    /// Somebody is there.
    pub watched: bool,
}

impl Desk {
    /// For instruments that are held like this at the start.
    pub fn new(start: Vec<Handle>) -> Self {
        Self {
            wishes: Mutex::new(Wishes {
                handles: start.clone(),
                sequence: 0,
                used: 0,
                paused: false,
                restart: false,
                closing: false,
                watching: 0,
            }),
            changed: Condvar::new(),
            start,
        }
    }

    /// The hand holds this instrument here. An instrument that does not exist is ignored.
    pub fn steer(&self, instrument: usize, sequence: u32, handle: Handle) {
        let mut wishes = self.lock();
        if let Some(wish) = wishes.handles.get_mut(instrument) {
            *wish = handle;
            wishes.sequence = sequence;
        }
    }

    /// Time stands still, or goes on.
    pub fn pause(&self, paused: bool) {
        self.lock().paused = paused;
        self.changed.notify_all();
    }

    /// Back to the start; the instruments, too.
    pub fn restart(&self) {
        let mut wishes = self.lock();
        wishes.restart = true;
        wishes.handles.clone_from(&self.start);
        self.changed.notify_all();
    }

    /// Another hand takes the instruments, and counts from the start.
    pub fn change_hands(&self) {
        let mut wishes = self.lock();
        wishes.sequence = 0;
        wishes.used = 0;
    }

    /// Somebody came.
    pub fn enter(&self) {
        self.lock().watching += 1;
        self.changed.notify_all();
    }

    /// Somebody left.
    pub fn leave(&self) {
        self.lock().watching -= 1;
    }

    /// It is over.
    pub fn close(&self) {
        self.lock().closing = true;
        self.changed.notify_all();
    }

    /// What to do in this turn; a restart is told once.
    pub fn orders(&self) -> Orders {
        let mut wishes = self.lock();
        Orders {
            paused: wishes.paused,
            restart: std::mem::take(&mut wishes.restart),
            closing: wishes.closing,
            watched: wishes.watching > 0,
        }
    }

    /// Takes the handles for a step that is made at once.
    pub fn take(&self, handles: &mut Vec<Handle>) {
        let mut wishes = self.lock();
        handles.clone_from(&wishes.handles);
        wishes.used = wishes.sequence;
    }

    /// Sequence of the latest handle that a step has used.
    pub fn used(&self) -> u32 {
        self.lock().used
    }

    /// Waits, but not if something other than a handle changes.
    pub fn rest(&self, seen: &Orders, longest: Duration) {
        let same = |w: &mut Wishes| {
            !w.restart && !w.closing && w.paused == seen.paused && (w.watching > 0) == seen.watched
        };
        // A poisoned lock guards plain numbers, each of them right at any time.
        drop(self.changed.wait_timeout_while(self.lock(), longest, same));
    }

    fn lock(&self) -> MutexGuard<'_, Wishes> {
        self.wishes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handle(yaw: f64) -> Handle {
        Handle {
            yaw,
            ..Handle::default()
        }
    }

    #[test]
    fn the_latest_handle_wins_and_is_acknowledged_once_used() {
        let desk = Desk::new(vec![handle(0.0), handle(1.0)]);
        let mut handles = Vec::new();
        desk.steer(0, 4, handle(0.2));
        desk.steer(0, 5, handle(0.3));
        desk.steer(9, 6, handle(0.4));
        assert_eq!(desk.used(), 0);
        desk.take(&mut handles);
        assert_eq!((handles, desk.used()), (vec![handle(0.3), handle(1.0)], 5));
        desk.change_hands();
        assert_eq!(desk.used(), 0);
    }

    #[test]
    fn a_restart_brings_the_instruments_back_and_is_told_once() {
        let desk = Desk::new(vec![handle(0.0)]);
        desk.steer(0, 1, handle(0.5));
        desk.restart();
        assert!(desk.orders().restart && !desk.orders().restart);
        let mut handles = Vec::new();
        desk.take(&mut handles);
        assert_eq!(handles, [handle(0.0)]);
    }

    #[test]
    fn a_rest_ends_when_something_changes() {
        let desk = Desk::new(Vec::new());
        let seen = desk.orders();
        std::thread::scope(|s| {
            s.spawn(|| desk.rest(&seen, Duration::from_secs(600)));
            desk.enter();
        });
        assert!(desk.orders().watched);
        desk.leave();
        assert!(!desk.orders().watched);
    }
}

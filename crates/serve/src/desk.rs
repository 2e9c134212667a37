//! Where connections leave what they want (K85), and the conductor finds it before every step. The latest wish wins, so
//! nothing queues up.

use glam::DVec3;
use std::{
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use trocar_scene::{Input, Simulation, Views};
use trocar_tools::{EndoscopeHandle, Handle};

/// Orders that may wait. A conductor takes them all in every turn; whoever gives more is not a hand.
const MAX_ORDERS: usize = 256;

/// The desk.
#[derive(Debug)]
pub struct Desk {
    wishes: Mutex<Wishes>,
    changed: Condvar,
    start: (Vec<Handle>, Option<EndoscopeHandle>),
}

#[derive(Debug)]
struct Wishes {
    handles: Vec<Handle>,
    endoscope: Option<EndoscopeHandle>,
    /// Of the latest handle, and of the latest one a step has used.
    sequence: u32,
    used: u32,
    /// A hand has moved since the start.
    moved: bool,
    paused: bool,
    speed: f64,
    orders: Vec<Order>,
    closing: bool,
    watching: usize,
    views: Views,
}

/// A line of sight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ray {
    /// Where it begins, m.
    pub origin: DVec3,
    /// Which way it goes, unit length.
    pub direction: DVec3,
}

/// Something to be done once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Order {
    /// Back to the start.
    Restart,
    /// End the exercise.
    Finish,
    /// Take hold of what is there.
    Grab(Ray),
    /// Pull it there.
    Drag(Ray),
    /// Let go.
    Drop,
    /// Change a parameter.
    Change(u32, f64),
    /// Give a net, counted from 0, or all of them other attribute bits.
    Flags(Option<u32>, u32),
    /// Go to this time, s.
    Seek(f64),
}

/// What the conductor is to do in this turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Orders {
    /// Time stands still.
    pub paused: bool,
    /// How fast it runs otherwise.
    pub speed: f64,
    /// To be done first.
    pub orders: Vec<Order>,
    /// End.
    pub closing: bool,
    /// Somebody is there.
    pub watched: bool,
    /// What somebody wants to see of the inside.
    pub views: Views,
}

impl Desk {
    /// For what `simulation` has, held as it is now.
    pub fn new(simulation: &Simulation, paused: bool) -> Self {
        let idle = simulation.idle_input();
        Self {
            wishes: Mutex::new(Wishes {
                handles: idle.handles.clone(),
                endoscope: idle.endoscope,
                sequence: 0,
                used: 0,
                moved: false,
                paused,
                speed: 1.0,
                orders: Vec::new(),
                closing: false,
                watching: 0,
                views: Views::default(),
            }),
            changed: Condvar::new(),
            start: (idle.handles, idle.endoscope),
        }
    }

    /// The hand holds this instrument here. An instrument that does not exist is ignored.
    pub fn steer(&self, instrument: usize, sequence: u32, handle: Handle) {
        let mut wishes = self.lock();
        if let Some(wish) = wishes.handles.get_mut(instrument) {
            *wish = handle;
            wishes.sequence = sequence;
            wishes.moved = true;
        }
    }

    /// The hand holds the endoscope here; ignored if there is none.
    pub fn look(&self, sequence: u32, handle: EndoscopeHandle) {
        let mut wishes = self.lock();
        if wishes.endoscope.is_some() {
            wishes.endoscope = Some(handle);
            wishes.sequence = sequence;
            wishes.moved = true;
        }
    }

    /// Time stands still, or goes on.
    pub fn pause(&self, paused: bool) {
        self.lock().paused = paused;
        self.changed.notify_all();
    }

    /// Time runs this fast.
    pub fn run_at(&self, speed: f64) {
        self.lock().speed = speed;
        self.changed.notify_all();
    }

    /// Something is to be done once.
    pub fn order(&self, order: Order) {
        let mut wishes = self.lock();
        if order == Order::Restart {
            wishes.handles.clone_from(&self.start.0);
            wishes.endoscope = self.start.1;
            wishes.moved = false;
        }
        // What the next one overtakes need not be done.
        let overtakes = match (wishes.orders.last(), order) {
            (Some(Order::Drag(_)), Order::Drag(_)) | (Some(Order::Seek(_)), Order::Seek(_)) => true,
            (Some(Order::Change(a, _)), Order::Change(b, _)) => *a == b,
            _ => false,
        };
        if overtakes {
            wishes.orders.pop();
        }
        if wishes.orders.len() < MAX_ORDERS {
            wishes.orders.push(order);
        }
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

    /// How many are there.
    pub fn watching(&self) -> usize {
        self.lock().watching
    }

    /// What somebody wants to see of the inside.
    pub fn watch(&self, views: Views) {
        self.lock().views = views;
    }

    /// It is over.
    pub fn close(&self) {
        self.lock().closing = true;
        self.changed.notify_all();
    }

    /// What to do in this turn; what is to be done once is told once.
    pub fn orders(&self) -> Orders {
        let mut wishes = self.lock();
        Orders {
            paused: wishes.paused,
            speed: wishes.speed,
            orders: std::mem::take(&mut wishes.orders),
            closing: wishes.closing,
            watched: wishes.watching > 0,
            views: wishes.views,
        }
    }

    /// Takes the hands for a step that is made at once. True if one has moved since the start.
    pub fn take(&self, input: &mut Input) -> bool {
        let mut wishes = self.lock();
        input.handles.clone_from(&wishes.handles);
        input.endoscope = wishes.endoscope;
        wishes.used = wishes.sequence;
        wishes.moved
    }

    /// Sequence of the latest handle that a step has used.
    pub fn used(&self) -> u32 {
        self.lock().used
    }

    /// Waits, but not if something other than a handle changes.
    pub fn rest(&self, seen: &Orders, longest: Duration) {
        let same = |w: &mut Wishes| {
            w.orders.is_empty()
                && !w.closing
                && w.paused == seen.paused
                && w.speed == seen.speed
                && (w.watching > 0) == seen.watched
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
    use crate::sample;

    fn handle(yaw: f64) -> Handle {
        Handle {
            yaw,
            ..Handle::default()
        }
    }

    fn desk() -> (Desk, Input) {
        let simulation = sample::simulation();
        (Desk::new(&simulation, false), simulation.idle_input())
    }

    #[test]
    fn the_latest_handle_wins_and_is_acknowledged_once_used() {
        let (desk, mut input) = desk();
        assert!(!desk.take(&mut input));
        desk.steer(0, 4, handle(0.2));
        desk.steer(0, 5, handle(0.3));
        desk.steer(9, 6, handle(0.4));
        assert_eq!(desk.used(), 0);
        assert!(desk.take(&mut input));
        assert_eq!((input.handles, desk.used()), (vec![handle(0.3)], 5));
        desk.change_hands();
        assert_eq!(desk.used(), 0);
    }

    #[test]
    fn a_restart_brings_the_instruments_back_and_is_told_once() {
        let (desk, mut input) = desk();
        let start = input.clone();
        desk.steer(0, 1, handle(0.5));
        desk.order(Order::Restart);
        assert_eq!(desk.orders().orders, [Order::Restart]);
        assert!(desk.orders().orders.is_empty());
        assert!(!desk.take(&mut input));
        assert_eq!(input, start);
    }

    #[test]
    fn what_is_overtaken_does_not_queue_up() {
        let (desk, _) = desk();
        let ray = |x| Ray {
            origin: DVec3::ZERO,
            direction: DVec3::new(x, 0.0, 1.0),
        };
        desk.order(Order::Grab(ray(0.0)));
        for i in 0..1000 {
            desk.order(Order::Drag(ray(f64::from(i))));
        }
        desk.order(Order::Drop);
        for i in 0..1000 {
            desk.order(Order::Change(3, f64::from(i)));
        }
        assert_eq!(
            desk.orders().orders,
            [
                Order::Grab(ray(0.0)),
                Order::Drag(ray(999.0)),
                Order::Drop,
                Order::Change(3, 999.0)
            ]
        );
        for i in 0..10_000 {
            desk.order(Order::Change(i, 0.0));
        }
        assert_eq!(desk.orders().orders.len(), MAX_ORDERS);
    }

    #[test]
    fn a_rest_ends_when_something_changes() {
        let (desk, _) = desk();
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

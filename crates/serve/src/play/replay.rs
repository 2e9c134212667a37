//! An operation seen again.
//!
//! To go back, a player needs a moment from which it can go forwards. A second player, the scout, runs ahead on a
//! thread of its own, as fast as it goes, and remembers such moments; when it has come to the end it takes the place
//! of the first. Until then, going far forwards takes its time, in which frames still come.

use super::Play;
use crate::{desk::Order, outlet::Outlet, priority, wire::NoticeKind};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, TryRecvError, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};
use trocar_scene::{Player, Simulation};

/// How long one turn may go on seeking.
const TURN: Duration = Duration::from_millis(8);

/// An operation seen again.
pub struct Replaying {
    player: Player,
    outlet: Outlet,
    /// Where it is to be, in steps.
    target: Option<usize>,
    scout: Option<Scout>,
    /// It has been said that the replay differs.
    told: bool,
}

/// Runs ahead; dropping it stops it.
struct Scout {
    arrived: Receiver<Player>,
    stop: Arc<AtomicBool>,
}

impl Scout {
    /// Sends `player` to its end.
    fn send(mut player: Player) -> std::io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let (tell, arrived) = sync_channel(1);
        let stopped = Arc::clone(&stop);
        let run = move || {
            priority::lower();
            while !stopped.load(Ordering::Relaxed) {
                if player.advance().is_none() {
                    let _ = tell.send(player);
                    return;
                }
            }
        };
        thread::Builder::new().name("scout".into()).spawn(run)?;
        Ok(Self { arrived, stop })
    }
}

impl Drop for Scout {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

impl Replaying {
    /// Plays what `player` has; `scout` is another player of the same recording.
    pub fn new(player: Player, scout: Player, outlet: Outlet) -> Self {
        let scout = Scout::send(scout)
            .inspect_err(|error| tracing::warn!("seeking will be slow: {error}"))
            .ok();
        Self {
            player,
            outlet,
            target: None,
            scout,
            told: false,
        }
    }

    /// The scout's player knows the way to everywhere.
    fn relieve(&mut self) {
        let Some(scout) = &self.scout else { return };
        match scout.arrived.try_recv() {
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => self.scout = None,
            Ok(mut player) => {
                let position = self.player.position();
                player.seek(position);
                self.player = player;
                self.scout = None;
                self.compare();
            }
        }
    }

    /// Tells once that what is seen is not what was recorded.
    fn compare(&mut self) {
        let Some(step) = self.player.differs().filter(|_| !self.told) else {
            return;
        };
        self.told = true;
        let time = self.player.time_of(step as usize);
        self.outlet.note(|now| {
            if let Some(replay) = &mut now.replay {
                replay.differs_at = Some(time);
            }
        });
        let text = format!(
            "From {time:.2} s on this replay differs from what was recorded: another build of the program made it."
        );
        self.outlet.event(time, NoticeKind::Error, text);
    }

    fn seek(&mut self, time: f64) {
        let target = self.player.step_at(time);
        if target < self.player.position() || self.scout.is_none() {
            // From a moment that is remembered: no more than a second of steps, or a few.
            self.player.seek(target);
            self.target = None;
        } else {
            self.target = Some(target);
        }
    }
}

impl Play for Replaying {
    fn simulation(&self) -> &Simulation {
        self.player.simulation()
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Restart => self.seek(0.0),
            Order::Seek(time) => self.seek(time),
            _ => {}
        }
    }

    fn step(&mut self, _: f64) -> bool {
        if self.target.is_some() {
            return false;
        }
        let stepped = self.player.advance().is_some();
        self.compare();
        stepped
    }

    fn turn(&mut self) -> bool {
        self.relieve();
        if let Some(target) = self.target {
            let began = Instant::now();
            if self.scout.is_none() {
                self.player.seek(target);
            }
            while self.player.position() < target && began.elapsed() < TURN {
                if self.player.advance().is_none() {
                    break;
                }
            }
            if self.player.position() >= target.min(self.player.steps()) {
                self.target = None;
            }
            self.compare();
        }
        self.target.is_some()
    }

    fn is_at_end(&self) -> bool {
        self.target.is_none() && self.player.position() >= self.player.steps()
    }
}

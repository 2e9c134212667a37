//! The conductor: an operation on its own thread, against the clock; whoever draws reads what it leaves, and neither waits for the other (K83).
//!
//! One turn makes at most one step and at most one frame, so a step that takes long delays a frame by no more than
//! itself, and a handle that arrives is used by the very next step. Whatever the machine can't keep up with is lost
//! by [`Pace`], never queued.

use crate::{
    desk::{Desk, Orders},
    frame::{self, Head},
    insight,
    pace::{Gauge, Metronome, Pace, Thrift},
    play::Play,
};
use axum::body::Bytes;
use std::{
    io,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};
use tokio::sync::watch;
use trocar_scene::{Insight, Views};

/// How long to rest when nobody is there; somebody who comes ends it.
const NOBODY: Duration = Duration::from_secs(1);

/// Insight is shown with every so many frames: it is large, and only looked at.
const INSIGHT_FRAMES: u32 = 2;

/// Starts to run `play`, until its desk is closed. Time stands still while nobody watches.
pub fn start(play: Box<dyn Play>, desk: Arc<Desk>) -> io::Result<Show> {
    let (picture, pictures) = triple_buffer::triple_buffer(&Picture::default());
    let (ring, bell) = watch::channel(0);
    let mut conductor = Conductor {
        pace: Pace::new(play.simulation().model().step, 0.0),
        play,
        desk,
        began: Instant::now(),
        gauge: Gauge::default(),
        thrift: Thrift::default(),
        running: false,
        metronome: Metronome::default(),
        frames: 0,
        insight: Insight::default(),
        picture,
        ring,
    };
    thread::Builder::new()
        .name("conductor".into())
        .spawn(move || conductor.run())?;
    Ok(Show { pictures, bell })
}

/// What is seen at one moment, as messages. The insight is empty if nobody asked for it.
#[derive(Clone, Debug, Default)]
struct Picture {
    frame: Vec<u8>,
    insight: Vec<u8>,
}

/// The same, to be shared by all who look.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// The frame.
    pub frame: Bytes,
    /// The insight that belongs to it; empty if there is none.
    pub insight: Bytes,
}

/// What a conductor shows.
pub struct Show {
    pictures: triple_buffer::Output<Picture>,
    bell: watch::Receiver<u32>,
}

impl Show {
    /// Hands every new frame on to any number of viewers, until the operation ends. A frame is copied once, here;
    /// the viewers share it, and who is late finds the newest.
    pub async fn relay(mut self, shown: watch::Sender<Shown>) {
        while self.bell.changed().await.is_ok() {
            let picture = self.pictures.read();
            shown.send_replace(Shown {
                frame: Bytes::copy_from_slice(&picture.frame),
                insight: Bytes::copy_from_slice(&picture.insight),
            });
        }
    }
}

/// Everything the thread owns.
struct Conductor {
    play: Box<dyn Play>,
    desk: Arc<Desk>,
    began: Instant,
    pace: Pace,
    gauge: Gauge,
    thrift: Thrift,
    running: bool,
    metronome: Metronome,
    frames: u32,
    insight: Insight,
    picture: triple_buffer::Input<Picture>,
    ring: watch::Sender<u32>,
}

impl Conductor {
    fn run(&mut self) {
        loop {
            let orders = self.desk.orders();
            if orders.closing {
                break;
            }
            for order in &orders.orders {
                self.play.obey(*order);
            }
            // What has passed belongs to what was ordered then, not now.
            let passed = self.pace.pass(self.now(), self.running, orders.speed);
            self.gauge.pass(passed);
            self.play.pass(passed.wall);
            self.running = orders.watched && !orders.paused && !self.play.is_over();
            if self.running && self.pace.take() {
                self.step();
            }
            let busy = self.play.turn();
            if self.metronome.beat(self.now()) {
                self.show(&orders);
            }
            if !busy {
                self.rest(&orders);
            }
        }
        self.play.close();
    }

    /// Seconds since the beginning.
    fn now(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    fn step(&mut self) {
        let began = Instant::now();
        if self.play.step(self.thrift.part()) {
            let cost = began.elapsed().as_secs_f64();
            let simulation = self.play.simulation();
            let (step, timings) = (simulation.model().step, &simulation.report().timings);
            self.gauge.step(step, cost, timings);
            self.thrift.step(self.pace.room(), cost, timings);
        }
    }

    fn show(&mut self, orders: &Orders) {
        self.frames = self.frames.wrapping_add(1);
        self.play.show();
        let (step_cost, stage_costs) = self.gauge.costs();
        let at_end = self.play.is_at_end();
        let still = orders.paused || self.play.is_over() || at_end;
        let head = Head {
            number: self.frames,
            input_sequence: self.desk.used(),
            paused: orders.paused || self.play.is_over(),
            slow: !still && self.gauge.is_slow(),
            at_end,
            rate: if still { 0.0 } else { self.gauge.rate() as f32 },
            step_cost,
            stage_costs,
        };
        let simulation = self.play.simulation();
        let picture = self.picture.input_buffer_mut();
        frame::encode(&mut picture.frame, &head, simulation);
        picture.insight.clear();
        if orders.views != Views::default() && self.frames.is_multiple_of(INSIGHT_FRAMES) {
            simulation.insight(orders.views, &mut self.insight);
            insight::encode(&mut picture.insight, self.frames, &self.insight);
        }
        self.picture.publish();
        self.ring.send_replace(self.frames);
    }

    fn rest(&self, orders: &Orders) {
        let mut seconds = self.metronome.wait(self.now());
        if self.running {
            seconds = seconds.min(self.pace.wait());
        }
        let longest = if orders.watched {
            Duration::from_secs_f64(seconds)
        } else {
            NOBODY
        };
        if !longest.is_zero() {
            self.desk.rest(orders, longest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        desk::Order,
        frame::{Frame, decode},
        outlet::{Now, Outlet},
        play::Lab,
        sample,
    };
    use trocar_tools::Handle;

    /// A scene of the Lab that runs until it is dropped.
    struct Running {
        desk: Arc<Desk>,
        show: Show,
        outlet: Outlet,
    }

    impl Running {
        fn start() -> Self {
            let simulation = sample::simulation();
            let desk = Arc::new(Desk::new(&simulation, false));
            let outlet = Outlet::new(Now::default());
            let lab = Lab::new(simulation, Arc::clone(&desk), outlet.clone());
            let show = start(Box::new(lab), Arc::clone(&desk)).unwrap();
            Self { desk, show, outlet }
        }

        /// Waits for a frame that is as wanted; long enough for a very busy machine.
        fn frame(&mut self, wanted: impl Fn(&Frame) -> bool) -> Frame {
            let began = Instant::now();
            loop {
                if let Ok(frame) = decode(&self.show.pictures.read().frame)
                    && wanted(&frame)
                {
                    return frame;
                }
                assert!(began.elapsed() < Duration::from_secs(60), "no such frame");
                thread::sleep(Duration::from_millis(2));
            }
        }
    }

    impl Drop for Running {
        fn drop(&mut self) {
            self.desk.close();
        }
    }

    #[test]
    fn time_waits_for_the_first_viewer() {
        let mut running = Running::start();
        let first = running.frame(|f| f.head.number > 0);
        assert_eq!(first.time, 0.0);
        running.desk.enter();
        running.frame(|f| f.time > 0.05);
        running.desk.leave();
    }

    #[test]
    fn it_pauses_goes_on_and_restarts() {
        let mut running = Running::start();
        running.desk.enter();
        let desk = Arc::clone(&running.desk);
        let wish = Handle {
            yaw: 0.3,
            depth: 0.06,
            jaw: 0.7,
            ..Handle::default()
        };
        desk.steer(0, 9, wish);
        let moved = running.frame(|f| f.instruments[0].handle[0] > 0.299);
        assert_eq!(moved.head.input_sequence, 9);
        desk.pause(true);
        let paused = running.frame(|f| f.head.paused);
        let later = running.frame(|f| f.head.number > paused.head.number + 3);
        assert_eq!((later.time, later.head.rate), (paused.time, 0.0));
        desk.order(Order::Restart);
        let again = running.frame(|f| f.time == 0.0);
        assert!(again.head.paused);
        assert_eq!(again.instruments[0].handle[0], 0.0);
        desk.pause(false);
        let on = running.frame(|f| f.time > 0.02);
        assert_eq!(on.instruments[0].handle[0], 0.0);
    }

    #[test]
    fn insight_is_shown_to_those_who_ask() {
        let mut running = Running::start();
        running.desk.enter();
        running.frame(|f| f.head.number > 4);
        assert!(running.show.pictures.read().insight.is_empty());
        running.desk.watch(Views {
            nodes: true,
            ..Views::default()
        });
        let began = Instant::now();
        loop {
            let picture = running.show.pictures.read();
            if !picture.insight.is_empty() {
                let insight = insight::decode(&picture.insight).unwrap();
                assert!(!insight.nodes.is_empty() && insight.elements.is_empty());
                assert_eq!(insight.number, decode(&picture.frame).unwrap().head.number);
                break;
            }
            assert!(began.elapsed() < Duration::from_secs(60), "no insight");
            thread::sleep(Duration::from_millis(2));
        }
    }

    #[test]
    fn closing_it_ends_the_thread_and_hangs_up() {
        let running = Running::start();
        let (_, mut messages) = running.outlet.enter();
        let mut bell = running.show.bell.clone();
        drop(running);
        let began = Instant::now();
        while bell.has_changed().is_ok() {
            assert!(began.elapsed() < Duration::from_secs(60), "it goes on");
            bell.mark_unchanged();
            thread::sleep(Duration::from_millis(2));
        }
        assert!(messages.try_recv().is_err());
    }
}

//! The conductor: a simulation on its own thread, against the clock.
//!
//! One turn makes at most one step and at most one frame, so a step that takes long delays a frame by no more than
//! itself, and a handle that arrives is used by the very next step. Whatever the machine can't keep up with is lost
//! by [`Pace`], never queued.

use crate::{
    ServeError,
    desk::{Desk, Orders},
    frame::{self, Head},
    pace::{Gauge, Metronome, Pace},
    recorder::Recorder,
    wire::ServerMessage,
};
use axum::{body::Bytes, extract::ws::Utf8Bytes};
use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};
use tokio::sync::{broadcast, watch};
use trocar_scene::{Input, Simulation};

/// How many events a viewer may be behind before it loses some.
const EVENTS: usize = 64;

/// How long to rest when nobody is there; somebody who comes ends it.
const NOBODY: Duration = Duration::from_secs(1);

/// A simulation that runs. Dropping it ends the thread and completes the recording.
pub struct Conductor {
    desk: Arc<Desk>,
    thread: Option<thread::JoinHandle<()>>,
}

/// What the conductor shows.
pub struct Show {
    /// Where to leave wishes.
    pub desk: Arc<Desk>,
    /// What happens, as JSON for the viewers.
    pub events: broadcast::Sender<Utf8Bytes>,
    pictures: triple_buffer::Output<Vec<u8>>,
    bell: watch::Receiver<u32>,
}

impl Conductor {
    /// Starts to run `simulation`. Time stands still while nobody watches.
    pub fn start(simulation: Simulation, recorder: Recorder) -> Result<(Self, Show), ServeError> {
        let desk = Arc::new(Desk::new(
            simulation.model().tools.iter().map(|t| t.start).collect(),
        ));
        let (picture, pictures) = triple_buffer::triple_buffer(&Vec::new());
        let (ring, bell) = watch::channel(0);
        let (events, _) = broadcast::channel(EVENTS);
        let show = Show {
            desk: Arc::clone(&desk),
            events: events.clone(),
            pictures,
            bell,
        };
        let mut performance = Performance {
            input: simulation.idle_input(),
            pace: Pace::new(simulation.model().step, 0.0),
            simulation,
            recorder,
            desk: Arc::clone(&desk),
            began: Instant::now(),
            gauge: Gauge::default(),
            running: false,
            metronome: Metronome::default(),
            frames: 0,
            picture,
            ring,
            events,
        };
        let thread = thread::Builder::new()
            .name("conductor".into())
            .spawn(move || performance.run())
            .map_err(ServeError::Thread)?;
        let conductor = Self {
            desk,
            thread: Some(thread),
        };
        Ok((conductor, show))
    }
}

impl Drop for Conductor {
    fn drop(&mut self) {
        self.desk.close();
        if self.thread.take().is_some_and(|t| t.join().is_err()) {
            tracing::error!("the simulation's thread has panicked");
        }
    }
}

impl Show {
    /// Hands every new frame on to any number of viewers, until the simulation ends. A frame is copied once, here;
    /// the viewers share it, and who is late finds the newest.
    pub async fn relay(mut self, frames: watch::Sender<Bytes>) {
        while self.bell.changed().await.is_ok() {
            frames.send_replace(Bytes::copy_from_slice(self.pictures.read()));
        }
    }
}

/// Everything the thread owns.
struct Performance {
    simulation: Simulation,
    input: Input,
    recorder: Recorder,
    desk: Arc<Desk>,
    began: Instant,
    pace: Pace,
    gauge: Gauge,
    running: bool,
    metronome: Metronome,
    frames: u32,
    picture: triple_buffer::Input<Vec<u8>>,
    ring: watch::Sender<u32>,
    events: broadcast::Sender<Utf8Bytes>,
}

impl Performance {
    fn run(&mut self) {
        loop {
            let orders = self.desk.orders();
            if orders.closing {
                break;
            }
            if orders.restart {
                self.restart();
            }
            // What has passed belongs to what was ordered then, not now.
            self.gauge.pass(self.pace.pass(self.now(), self.running));
            self.running = orders.watched && !orders.paused;
            if self.running && self.pace.take() {
                self.step();
            }
            if self.metronome.beat(self.now()) {
                self.show(&orders);
            }
            self.rest(&orders);
        }
        self.finish_recording();
    }

    /// Seconds since the beginning.
    fn now(&self) -> f64 {
        self.began.elapsed().as_secs_f64()
    }

    fn step(&mut self) {
        self.desk.take(&mut self.input.handles);
        let began = Instant::now();
        let report = self.simulation.step(&self.input);
        self.gauge.step(
            self.input.dt,
            began.elapsed().as_secs_f64(),
            &report.timings,
        );
        for event in &report.events {
            tell(&self.events, event.time, event.what.to_string());
        }
        if let Err(error) = self.recorder.step(&self.input, &self.simulation) {
            tracing::error!("this operation is not recorded any more: {error}");
            tell(
                &self.events,
                self.simulation.state().time,
                format!("Not recorded any more: {error}"),
            );
        }
    }

    fn restart(&mut self) {
        self.finish_recording();
        self.simulation.restart();
    }

    fn finish_recording(&mut self) {
        if let Err(error) = self.recorder.finish() {
            tracing::error!("the end of the recording is lost: {error}");
            tell(
                &self.events,
                self.simulation.state().time,
                format!("The end of the recording is lost: {error}"),
            );
        }
    }

    fn show(&mut self, orders: &Orders) {
        self.frames = self.frames.wrapping_add(1);
        let (step_cost, stage_costs) = self.gauge.costs();
        let head = Head {
            number: self.frames,
            input_sequence: self.desk.used(),
            paused: orders.paused,
            slow: !orders.paused && self.gauge.is_slow(),
            rate: if orders.paused {
                0.0
            } else {
                self.gauge.rate() as f32
            },
            step_cost,
            stage_costs,
        };
        frame::encode(self.picture.input_buffer_mut(), &head, &self.simulation);
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

fn tell(events: &broadcast::Sender<Utf8Bytes>, time: f64, text: String) {
    // It fails only when nobody listens.
    let _ = events.send(ServerMessage::Event { time, text }.to_json().into());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{frame::decode, sample};
    use trocar_tools::Handle;

    /// Waits for a frame that is as wanted; long enough for a very busy machine.
    fn await_frame(show: &mut Show, wanted: impl Fn(&frame::Frame) -> bool) -> frame::Frame {
        let began = Instant::now();
        loop {
            if let Ok(frame) = decode(show.pictures.read())
                && wanted(&frame)
            {
                return frame;
            }
            assert!(began.elapsed() < Duration::from_secs(60), "no such frame");
            thread::sleep(Duration::from_millis(2));
        }
    }

    fn start() -> (Conductor, Show) {
        let recorder = Recorder::new(sample::scene(), None).unwrap();
        Conductor::start(sample::simulation(), recorder).unwrap()
    }

    #[test]
    fn time_waits_for_the_first_viewer() {
        let (_conductor, mut show) = start();
        let first = await_frame(&mut show, |f| f.head.number > 0);
        assert_eq!(first.time, 0.0);
        show.desk.enter();
        await_frame(&mut show, |f| f.time > 0.05);
        show.desk.leave();
    }

    #[test]
    fn it_pauses_goes_on_and_restarts() {
        let (_conductor, mut show) = start();
        show.desk.enter();
        let desk = Arc::clone(&show.desk);
        let wish = Handle {
            yaw: 0.3,
            depth: 0.06,
            jaw: 0.7,
            ..Handle::default()
        };
        desk.steer(0, 9, wish);
        let moved = await_frame(&mut show, |f| f.instruments[0].handle[0] > 0.299);
        assert_eq!(moved.head.input_sequence, 9);
        desk.pause(true);
        let paused = await_frame(&mut show, |f| f.head.paused);
        let later = await_frame(&mut show, |f| f.head.number > paused.head.number + 3);
        assert_eq!((later.time, later.head.rate), (paused.time, 0.0));
        desk.restart();
        let again = await_frame(&mut show, |f| f.time == 0.0);
        assert!(again.head.paused);
        assert_eq!(again.instruments[0].handle[0], 0.0);
        desk.pause(false);
        let on = await_frame(&mut show, |f| f.time > 0.02);
        assert_eq!(on.instruments[0].handle[0], 0.0);
    }

    #[test]
    fn dropping_it_ends_the_thread_and_hangs_up() {
        let (conductor, show) = start();
        drop(conductor);
        assert!(show.bell.has_changed().is_err());
    }
}

//! An exercise: a run that is watched, recorded, scored and kept.

use super::Play;
use crate::{
    clerk::{Completed, Deed},
    describe,
    desk::{Desk, Order},
    outlet::Outlet,
    recorder::{self, Recorder},
    wire::{NoticeKind, ServerMessage, Task},
};
use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};
use tokio::sync::mpsc;
use trocar_scene::{Input, Simulation, event::Happening, recording::BUILD};
use trocar_train::{Ending, Exercise, Run, TrainError, records::NewResult};

/// Least time between two tasks that are told.
const TASK: Duration = Duration::from_millis(50);

/// What is operated, by whom, and where that is kept.
pub struct Book {
    /// The exercise.
    pub exercise: Arc<Exercise>,
    /// Index of the level.
    pub level: usize,
    /// Who operates.
    pub profile: i64,
    /// Folder of the recordings; none if nothing is kept.
    pub recordings: Option<PathBuf>,
    /// Part of the names of the recordings that no other operation has.
    pub operation: String,
}

/// An exercise that is operated.
pub struct Exercising {
    book: Book,
    simulation: Simulation,
    input: Input,
    desk: Arc<Desk>,
    outlet: Outlet,
    deeds: mpsc::UnboundedSender<Deed>,
    /// None once it is over.
    run: Option<Run>,
    /// None before the first step, or if nothing is recorded.
    recorder: Option<Recorder>,
    begun: bool,
    moved: bool,
    runs: u32,
    /// On the clock and simulated, s, of this run.
    wall: f64,
    task: Option<Task>,
    told: Instant,
}

impl Exercising {
    /// An exercise at its start; what is to be kept goes to `deeds`.
    pub fn new(
        book: Book,
        simulation: Simulation,
        desk: Arc<Desk>,
        outlet: Outlet,
        deeds: mpsc::UnboundedSender<Deed>,
    ) -> Result<Self, TrainError> {
        let run = Run::new(Arc::clone(&book.exercise), book.level, &simulation)?;
        let task = describe::task(run.task());
        outlet.note(|now| now.task = Some(task.clone()));
        Ok(Self {
            book,
            input: simulation.idle_input(),
            simulation,
            desk,
            outlet,
            deeds,
            run: Some(run),
            recorder: None,
            begun: false,
            moved: false,
            runs: 0,
            wall: 0.0,
            task: Some(task),
            told: Instant::now(),
        })
    }

    /// The first step: from now on there is a result, and a recording if one can be kept.
    fn begin(&mut self) {
        self.begun = true;
        let exercise = &self.book.exercise;
        let level = &exercise.levels[self.book.level];
        let mut file = None;
        let mut permission = None;
        if let Some(folder) = &self.book.recordings {
            // A clock before 1970 is wrong, and as good as any other name.
            let seconds = SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |t| t.as_secs());
            let name = format!(
                "{}-{}-{seconds}-{}-{}.trocrec",
                plain(&exercise.id),
                plain(&level.name),
                self.book.operation,
                self.runs
            );
            let attachments = exercise.attachments(self.book.level);
            match Recorder::start(folder.join(&name), &level.scene, &attachments) {
                Ok((recorder, permit)) => {
                    self.recorder = Some(recorder);
                    permission = Some(permit);
                    file = Some(name);
                }
                Err(error) => self.complain(format!("Not recorded: {error}")),
            }
        }
        let result = NewResult {
            profile: self.book.profile,
            exercise: exercise.id.clone(),
            exercise_title: exercise.title.clone(),
            level: level.name.clone(),
            level_title: level.title.clone(),
            recording: file,
            build: BUILD.into(),
        };
        self.tell_clerk(Deed::Begin { result, permission });
    }

    /// Ends the run, and has it kept. Pages are told unless they have gone on already.
    fn end(&mut self, ending: Ending, tell: bool) {
        let Some(run) = self.run.take() else { return };
        let recording = self.recorder.take().map(Recorder::finish);
        if self.begun {
            self.keep(run, ending, recording, tell);
        }
        self.begun = false;
    }

    fn keep(&self, run: Run, ending: Ending, recording: Option<recorder::Outcome>, tell: bool) {
        if !self.moved && !tell {
            self.tell_clerk(Deed::Discard { recording });
            return;
        }
        let simulated = self.simulation.state().time;
        self.tell_clerk(Deed::Complete(Box::new(Completed {
            performance: run.finish(ending),
            realtime: if self.wall > 0.0 {
                simulated / self.wall
            } else {
                1.0
            },
            recording,
            tell: tell.then_some(self.runs),
        })));
    }

    fn tell_clerk(&self, deed: Deed) {
        // It fails only when the server ends.
        let _ = self.deeds.send(deed);
    }

    /// It ends where it is seen to end: time stands still until a restart.
    fn finish(&mut self, ending: Ending) {
        self.tell_task(true);
        if !self.begun && self.run.take().is_some() {
            // Without a single step there is nothing to score.
            let finished = ServerMessage::Finished {
                result: None,
                score: 0.0,
                passed: false,
                problem: Some("Nothing was done, so nothing is kept.".into()),
            };
            self.outlet.finish(self.runs, finished);
        }
        self.end(ending, true);
        self.desk.pause(true);
    }

    fn restart(&mut self) {
        self.end(Ending::GivenUp, false);
        self.simulation.restart();
        self.input = self.simulation.idle_input();
        (self.wall, self.moved) = (0.0, false);
        self.runs += 1;
        match Run::new(
            Arc::clone(&self.book.exercise),
            self.book.level,
            &self.simulation,
        ) {
            Ok(run) => self.run = Some(run),
            // It was right before, and nothing of it has changed.
            Err(error) => self.complain(format!("It can't be begun again: {error}")),
        }
        self.outlet.note(|now| {
            now.run = self.runs;
            now.finished = None;
        });
        self.tell_task(true);
    }

    fn tell_task(&mut self, at_once: bool) {
        let Some(run) = &self.run else { return };
        if !at_once && self.told.elapsed() < TASK {
            return;
        }
        let task = describe::task(run.task());
        if self.task.as_ref() == Some(&task) {
            return;
        }
        self.told = Instant::now();
        self.outlet.note(|now| now.task = Some(task.clone()));
        self.outlet
            .tell(&ServerMessage::Task { task: task.clone() });
        self.task = Some(task);
    }

    fn complain(&self, text: String) {
        tracing::error!("{text}");
        let time = self.simulation.state().time;
        self.outlet.event(time, NoticeKind::Error, text);
    }
}

impl Play for Exercising {
    fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Restart => self.restart(),
            Order::Finish => self.finish(Ending::GivenUp),
            _ => {}
        }
    }

    fn step(&mut self, part: f64) -> bool {
        if self.run.is_none() {
            return false;
        }
        if !self.begun {
            self.begin();
        }
        self.moved |= self.desk.take(&mut self.input);
        self.input.iterations = self.simulation.iterations(part);
        self.simulation.step(&self.input);
        if let Some(recorder) = &mut self.recorder
            && let Err(error) = recorder.step(&self.input, &self.simulation)
        {
            self.complain(format!("Not recorded any more: {error}"));
        }
        let report = self.simulation.report();
        for event in &report.events {
            // What a hand did is judged by the run; what the program did is not its fault.
            if let Happening::Quarantined { .. } = event.what {
                self.outlet
                    .event(event.time, NoticeKind::Error, event.what.to_string());
            }
        }
        let mut ending = None;
        if let Some(run) = &mut self.run {
            run.observe(&self.simulation, report);
            for notice in run.notices() {
                self.outlet.mark(describe::notice(notice));
            }
            ending = run.ending();
        }
        if let Some(ending) = ending {
            self.finish(ending);
        }
        true
    }

    fn pass(&mut self, wall: f64) {
        self.wall += wall;
    }

    fn show(&mut self) {
        self.tell_task(false);
    }

    fn is_over(&self) -> bool {
        self.run.is_none()
    }

    fn close(&mut self) {
        self.end(Ending::BrokenOff, false);
    }
}

/// As part of a file's name on any system.
fn plain(name: &str) -> String {
    let plain = |c: char| match c {
        c if c.is_ascii_alphanumeric() || c == '-' || c == '_' => c,
        _ => '-',
    };
    name.chars().take(48).map(plain).collect()
}

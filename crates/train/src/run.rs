//! Watches one operation: goals one after the other, hints, and what is counted on the way.

mod hint;
mod tally;
mod target;

use crate::{
    Ending, Exercise, Level, Marker, Notice, NoticeKind, Performance, TrainError,
    exercise::{Aim, Limits},
    file::Trigger,
    score,
    signal::{self, Sample, Sampler},
    task::{Mark, MarkKind, MarkState, Task},
    trace::RATE,
};
use glam::DVec3;
use hint::Hints;
use std::sync::Arc;
use tally::Tally;
use target::Target;
use trocar_scene::{Simulation, StepReport, event::Happening};

/// What left a target by this much of its radius has to be held anew; nearer, the time only stands still, so that a tremor at
/// the edge does not undo what was done.
const LEFT: f64 = 1.5;

/// A force that fell below this share of its limit may exceed it anew; otherwise a tremor about the limit would be many events.
const CALM: f64 = 0.9;

/// Watches one operation. Deterministic: the same recording gives the same score.
pub struct Run {
    exercise: Arc<Exercise>,
    level: usize,
    tool: usize,
    sampler: Sampler,
    samples: Vec<Sample>,
    targets: Vec<Target>,
    reached: Vec<bool>,
    /// The goal of kind grasp whose tissue is held.
    secured: Option<usize>,
    /// How long the current goal has been held, s.
    held: f64,
    /// Middle of what is held, m.
    grip: Option<DVec3>,
    /// The jaws were ready to take something.
    armed: bool,
    above_force: bool,
    above_stretch: bool,
    tally: Tally,
    hints: Hints,
    notices: Vec<Notice>,
    events: Vec<Marker>,
    ended: Option<Ending>,
}

impl Run {
    /// Starts watching `simulation`, which must be of the level's scene.
    pub fn new(
        exercise: Arc<Exercise>,
        level: usize,
        simulation: &Simulation,
    ) -> Result<Self, TrainError> {
        let Some(chosen) = exercise.levels.get(level) else {
            return Err(TrainError::NoLevel {
                exercise: exercise.title.clone(),
                level: level.to_string(),
            });
        };
        if chosen.scene.bundle.hash() != simulation.scene_hash() {
            return Err(TrainError::Unfit(format!(
                "level \"{}\" is operated in the scene \"{}\", not in \"{}\"",
                chosen.name,
                chosen.scene.name(),
                simulation.model().name
            )));
        }
        let model = simulation.model();
        let unknown = |what: &str, name: &str| {
            TrainError::Unfit(format!("there is no {what} called \"{name}\""))
        };
        let tool = model
            .tools
            .iter()
            .position(|t| t.name == exercise.instrument)
            .ok_or_else(|| unknown("instrument", &exercise.instrument))?;
        let tissue = match &exercise.tissue {
            None => None,
            Some(name) => Some(
                model
                    .tissues
                    .iter()
                    .find(|t| t.name == *name)
                    .ok_or_else(|| unknown("tissue", name))?,
            ),
        };
        let mut targets = Vec::new();
        for goal in &chosen.goals {
            let target =
                Target::new(&goal.aim, simulation).map_err(|name| unknown("tissue", &name))?;
            targets.push(target);
        }
        let mut run = Self {
            tool,
            sampler: Sampler::new(simulation, tool, tissue),
            samples: Vec::new(),
            reached: vec![false; targets.len()],
            targets,
            secured: None,
            held: 0.0,
            grip: None,
            armed: simulation.grip(tool).armed,
            above_force: false,
            above_stretch: false,
            tally: Tally::new(chosen.goals.len()),
            hints: Hints::new(&exercise.hints),
            notices: Vec::new(),
            events: Vec::new(),
            ended: None,
            exercise,
            level,
        };
        run.look_around(simulation);
        run.begin(simulation);
        Ok(run)
    }

    /// To be called after every step. Once the operation has ended, nothing more counts.
    pub fn observe(&mut self, simulation: &Simulation, report: &StepReport) {
        if self.ended.is_some() {
            return;
        }
        let mut fresh = std::mem::take(&mut self.samples);
        self.sampler.step(simulation, |sample| fresh.push(sample));
        for sample in fresh.drain(..) {
            if self.ended.is_none() {
                self.look_around(simulation);
                self.take(simulation, &sample);
            }
        }
        self.samples = fresh;
        for event in &report.events {
            if self.ended.is_none() {
                self.hear(simulation, &event.what);
            }
        }
        let grip = simulation.grip(self.tool);
        if self.armed && !grip.armed && grip.is_empty() {
            self.trigger(Trigger::Missed);
        }
        self.armed = grip.armed;
        // Tissue that became unstable is lost without anybody's fault.
        if self.secured.is_some() && grip.is_empty() {
            self.lose(simulation);
        }
        if self.ended.is_none()
            && let Some(limit) = self.chosen().time_limit
            && self.sampler.elapsed() >= limit
        {
            self.say(NoticeKind::Info, "The time is up.".into());
            self.ended = Some(Ending::TimeUp);
        }
    }

    /// Messages since the last call.
    pub fn notices(&mut self) -> std::vec::Drain<'_, Notice> {
        self.notices.drain(..)
    }

    /// What is to be done now.
    pub fn task(&self) -> Task {
        let level = self.chosen();
        let goals = level.goals.len();
        let current = self.current();
        let goal = current.map(|g| &level.goals[g]);
        let hold = goal.map_or(0.0, |g| g.aim.hold());
        let part = if hold > 0.0 { self.held / hold } else { 0.0 };
        let done = self.reached.iter().filter(|r| **r).count() as f64;
        let elapsed = self.sampler.elapsed();
        Task {
            goal: current.unwrap_or(goals),
            goals,
            title: goal.map_or_else(|| "Done".into(), |g| g.title.clone()),
            instruction: goal.map_or_else(String::new, |g| g.instruction.clone()),
            progress: ((done + part) / goals as f64).min(1.0),
            hold_left: (self.held > 0.0).then(|| (hold - self.held).max(0.0)),
            elapsed,
            time_left: level.time_limit.map(|t| (t - elapsed).max(0.0)),
            force_limit: self.limits().force,
            marks: self.marks(),
        }
    }

    /// How it ended by itself; none while it goes on.
    pub fn ending(&self) -> Option<Ending> {
        self.ended
    }

    /// Ends it and computes the score. What it ended by itself stays.
    pub fn finish(self, ending: Ending) -> Performance {
        let all = self.reached.iter().all(|r| *r);
        let ending = match self.ended.unwrap_or(ending) {
            // What is not complete can't have been completed.
            Ending::Completed if !all => Ending::GivenUp,
            ending => ending,
        };
        // What was reached once is not undone by a drop later.
        let reached = self.tally.goals_reached();
        let share = reached as f64 / self.reached.len() as f64;
        let seconds = self.sampler.elapsed();
        let level = &self.exercise.levels[self.level];
        let measures = self.tally.measures(share, seconds);
        let score = score::score(&level.score, &measures, share);
        Performance {
            ending,
            score: score.total,
            passed: ending == Ending::Completed && score.total >= level.pass_mark,
            pass_mark: level.pass_mark,
            reached,
            goals: self.reached.len(),
            parts: score.parts,
            measures,
            advice: score.advice,
            praise: score.praise,
            trace: self.tally.trace,
            events: self.events,
            seconds,
        }
    }

    fn chosen(&self) -> &Level {
        &self.exercise.levels[self.level]
    }

    /// The goal that is worked on.
    fn current(&self) -> Option<usize> {
        self.reached.iter().position(|r| !r)
    }

    fn limits(&self) -> Limits {
        self.current()
            .map_or_else(Limits::default, |g| self.chosen().goals[g].limits)
    }

    /// Finds where things are now.
    fn look_around(&mut self, simulation: &Simulation) {
        for target in &mut self.targets {
            target.follow(simulation);
        }
        let holds = &simulation.grip(self.tool).holds;
        let sum: DVec3 = holds
            .iter()
            .map(|h| signal::position(simulation.state(), &h.tie.b))
            .sum();
        self.grip = (!holds.is_empty()).then(|| sum / holds.len() as f64);
    }

    /// Begins the current goal.
    fn begin(&mut self, simulation: &Simulation) {
        self.held = 0.0;
        let Some(index) = self.current() else {
            return;
        };
        let (tip, _) = signal::tip(simulation, self.tool);
        let way = self.targets[index].way(simulation, tip, self.grip);
        self.tally.begin(index, way);
        // What is held already need not be grasped again.
        if matches!(self.chosen().goals[index].aim, Aim::Grasp { .. }) && self.grip.is_some() {
            self.grasped(simulation);
        }
    }

    /// Takes in a sample.
    fn take(&mut self, simulation: &Simulation, sample: &Sample) {
        let limits = self.limits();
        let goal = self.current();
        let still = self.held > 0.0;
        self.tally.take(sample, goal, limits, still);
        self.watch_limits(sample, limits);
        let Some(index) = goal else { return };
        let level = &self.exercise.levels[self.level];
        let hold = level.goals[index].aim.hold();
        let Some((distance, reach)) =
            self.targets[index].distance(simulation, sample.tip, self.grip)
        else {
            // What has to be in the target is not there at all.
            self.held = 0.0;
            return;
        };
        let within = sample.force <= limits.force.unwrap_or(f64::INFINITY)
            && sample.stretch <= limits.stretch.unwrap_or(f64::INFINITY);
        self.tally.inside(distance <= reach);
        if distance <= reach {
            // Held means held without violence.
            if within {
                self.held += 1.0 / RATE;
            }
        } else if distance > LEFT * reach && self.held > 0.0 {
            self.held = 0.0;
            self.trigger(Trigger::LeftTarget);
        }
        if self.held > 0.0 && hold > 0.0 && self.targets[index].is_ball() {
            self.tally.steady.push(distance);
        }
        // Half a sample is rounding.
        if distance <= reach && within && self.held + 0.5 / RATE >= hold {
            self.reach(simulation, index);
        }
    }

    fn watch_limits(&mut self, sample: &Sample, limits: Limits) {
        let force = limits.force.unwrap_or(f64::INFINITY);
        if sample.force > force && !self.above_force {
            self.above_force = true;
            let text = format!("{:.1} N, more than {force:.1} N", sample.force);
            self.events.push(Marker {
                time: sample.time,
                kind: NoticeKind::Error,
                text,
            });
        } else if sample.force < CALM * force {
            self.above_force = false;
        }
        let stretch = limits.stretch.unwrap_or(f64::INFINITY);
        if sample.stretch > stretch && !self.above_stretch {
            self.above_stretch = true;
            let percent = 100.0 * sample.stretch;
            self.events.push(Marker {
                time: sample.time,
                kind: NoticeKind::Error,
                text: format!(
                    "stretched by {percent:.0} %, more than {:.0} %",
                    100.0 * stretch
                ),
            });
        } else if sample.stretch < CALM * stretch {
            self.above_stretch = false;
        }
        let idle = tally::is_idle(sample, self.held > 0.0) && self.current().is_some();
        for (when, is) in [
            (Trigger::Force, sample.force > force),
            (
                Trigger::NearForce,
                sample.force > 0.8 * force && sample.force <= force,
            ),
            (Trigger::Stretch, sample.stretch > stretch),
            (Trigger::OutOfView, !sample.seen),
            (Trigger::Idle, idle),
        ] {
            let goal = self.current().map(|g| self.chosen().goals[g].id.clone());
            let said = self.hints.condition(when, is, sample.time, goal.as_deref());
            self.say_hints(sample.time, said);
        }
    }

    /// Takes in what happened.
    fn hear(&mut self, simulation: &Simulation, what: &Happening) {
        let own = match what {
            Happening::Grasped { instrument, .. }
            | Happening::Released { instrument }
            | Happening::Slipped { instrument }
            | Happening::TornOut { instrument } => *instrument == self.exercise.instrument,
            _ => false,
        };
        if !own {
            return;
        }
        let goal = self.current().map(|g| self.chosen().goals[g].aim.clone());
        match (what, goal) {
            (Happening::Grasped { .. }, Some(Aim::Grasp { .. })) => {
                self.look_around(simulation);
                self.grasped(simulation);
            }
            (
                Happening::Released { .. },
                Some(Aim::Release {
                    force, speed, ball, ..
                }),
            ) if self.secured.is_some() => {
                let carried = self
                    .current()
                    .and_then(|g| self.targets[g].carried(self.grip));
                let inside = match (ball, carried) {
                    (None, _) => true,
                    (Some(_), None) => false,
                    (Some(ball), Some((at, _))) => at.distance(ball.centre) <= ball.radius,
                };
                let (had, moved) = self.tally.last();
                let rough = if !inside {
                    Some("in the wrong place".to_string())
                } else if had > force.unwrap_or(f64::INFINITY) {
                    Some(format!("with a pull of {had:.1} N"))
                } else if moved > speed.unwrap_or(f64::INFINITY) {
                    Some(format!("while moving at {:.0} mm/s", 1e3 * moved))
                } else {
                    None
                };
                match (rough, self.current()) {
                    (None, Some(index)) => {
                        self.secured = None;
                        self.tally.released(had, moved);
                        self.reach(simulation, index);
                    }
                    (how, _) => {
                        let text = format!("Let go {}.", how.unwrap_or_default());
                        self.drop(simulation, Trigger::Dropped, text);
                    }
                }
            }
            (Happening::Released { .. }, _) if self.secured.is_some() => {
                self.drop(simulation, Trigger::Dropped, "Let go too early.".into());
            }
            (Happening::Slipped { .. }, _) if self.secured.is_some() => {
                let text = "The tissue slipped out of the jaws.".into();
                self.drop(simulation, Trigger::Slipped, text);
            }
            (Happening::TornOut { .. }, _) => {
                self.tally.tears += 1;
                let text = "Tissue tore out of the jaws.".to_string();
                if self.secured.is_some() && simulation.grip(self.tool).is_empty() {
                    self.drop(simulation, Trigger::TornOut, text);
                } else {
                    self.say(NoticeKind::Error, text);
                    self.trigger(Trigger::TornOut);
                }
            }
            _ => {}
        }
    }

    /// Something is held while a goal wants something to be: is it the right thing at the right place?
    fn grasped(&mut self, simulation: &Simulation) {
        let Some(index) = self.current() else { return };
        let taken = self.targets[index].taken(simulation, self.tool);
        match taken {
            Ok(distance) => {
                self.secured = Some(index);
                self.tally.grasps.extend(distance);
                self.reach(simulation, index);
            }
            Err(why) => {
                self.tally.misgrasps += 1;
                self.say(NoticeKind::Error, why);
                self.trigger(Trigger::Misgrasped);
            }
        }
    }

    fn reach(&mut self, simulation: &Simulation, index: usize) {
        self.reached[index] = true;
        self.tally.reach(index);
        let title = self.chosen().goals[index].title.clone();
        self.say(NoticeKind::Goal, title);
        if self.current().is_none() {
            self.held = 0.0;
            self.ended = Some(Ending::Completed);
        } else {
            self.begin(simulation);
        }
    }

    /// Tissue that was held as asked was lost by the trainee's fault.
    fn drop(&mut self, simulation: &Simulation, trigger: Trigger, text: String) {
        self.tally.drops += 1;
        self.say(NoticeKind::Error, text);
        self.trigger(trigger);
        self.lose(simulation);
    }

    /// What was held is no longer: it has to be taken again.
    fn lose(&mut self, simulation: &Simulation) {
        if let Some(index) = self.secured.take() {
            self.reached[index] = false;
            self.grip = None;
            self.begin(simulation);
        }
    }

    /// Tells the trainee, and marks it in the plots.
    fn say(&mut self, kind: NoticeKind, text: String) {
        self.notices.push(Notice {
            time: self.sampler.elapsed(),
            kind,
            text: text.clone(),
        });
        self.mark(kind, text);
    }

    fn mark(&mut self, kind: NoticeKind, text: String) {
        self.events.push(Marker {
            time: self.sampler.elapsed(),
            kind,
            text,
        });
    }

    fn trigger(&mut self, when: Trigger) {
        let time = self.sampler.elapsed();
        let goal = self.current().map(|g| self.chosen().goals[g].id.clone());
        let said = self.hints.event(when, time, goal.as_deref());
        self.say_hints(time, said);
    }

    fn say_hints(&mut self, time: f64, said: Vec<String>) {
        self.notices.extend(said.into_iter().map(|text| Notice {
            time,
            kind: NoticeKind::Hint,
            text,
        }));
    }

    /// The marks of the goal that is worked on and of the one after it.
    fn marks(&self) -> Vec<Mark> {
        let Some(now) = self.current() else {
            return Vec::new();
        };
        let goals = &self.chosen().goals;
        let next = (now + 1..goals.len()).find(|g| !self.reached[*g]);
        let mut marks = Vec::new();
        for (index, state) in [(Some(now), MarkState::Now), (next, MarkState::Next)] {
            let Some(index) = index else { continue };
            let state = if index == now && self.held > 0.0 {
                MarkState::Reached
            } else {
                state
            };
            let label = goals[index].title.clone();
            marks.extend(self.targets[index].mark(state, label));
        }
        // An arrow from what is carried to where it has to go.
        if let Some((from, ball)) = self.targets[now].carried(self.grip)
            && from.distance(ball.centre) > ball.radius
        {
            let way = ball.centre - from;
            marks.push(Mark {
                kind: MarkKind::Arrow,
                position: from.to_array(),
                normal: way.normalize_or(DVec3::Y).to_array(),
                radius: way.length() - ball.radius,
                state: MarkState::Now,
                label: String::new(),
            });
        }
        marks
    }
}

//! What a scene does at set times (K13, K146), and model reset (K122).

use crate::{
    Change, Event, Scene, SceneError, Simulation,
    attributes::{self, Flags},
    build::{Model, timed_course, timed_pushes},
    event::Happening,
    lead::Course,
    load::Key,
    parameter::Parameter,
};
use glam::DVec3;
use std::ops::Range;
use trocar_dynamics::{Anchor, Matter, MatterId, Pull};
use trocar_soft::{Global, global::Sight};

/// A sum of steps misses a round number by rounding; this much earlier counts as in time, s.
pub(crate) const EARLY: f64 = 1e-9;

/// Something that is done at a set time.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    /// When, s of simulated time. It is done before the step in which that time falls.
    pub at: f64,
    /// Parameters that get another value.
    pub set: Vec<Change>,
    /// Tissues that get other attribute bits, by name.
    pub flags: Vec<(String, Flags)>,
    /// Everything goes back to where it began.
    pub reset: bool,
    /// What forgets how far it has yielded.
    pub unyield: Vec<Yielding>,
    /// A point that is pushed.
    pub push: Option<Push>,
    /// A point that is drawn along a way.
    pub draw: Option<Draw>,
    /// An instrument that is led.
    pub course: Option<Course>,
}

/// Something that yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yielding {
    /// A tissue, and the elements that lead from it to other things.
    Tissue(MatterId),
    /// An element between things, by its number.
    Element(usize),
}

/// What yields by a name: that of a tissue, or "element 0" for the first `[[element]]`, as parameters are called. A tissue goes first.
fn yielding(model: &Model, name: &str) -> Option<Yielding> {
    if let Some(tissue) = model.tissues.iter().find(|t| t.name == name) {
        let matter = tissue.matter;
        let joins = |g: &Global| g.anchors().any(|a| a.matter == matter);
        let yields = !model.start[matter.index()].flow.is_empty()
            || model.globals.iter().any(|g| g.yields() && joins(g));
        return yields.then_some(Yielding::Tissue(matter));
    }
    let mut elements = model.globals.iter().enumerate();
    let found = elements.find(|(i, g)| g.yields() && name == format!("element {i}"));
    found.map(|(i, _)| Yielding::Element(i))
}

/// A point that is pushed, by what force (N), and until when (s).
pub type Push = (Anchor, DVec3, f64);

/// A point that is drawn along a way, as if a hand held it.
#[derive(Clone, Debug, PartialEq)]
pub struct Draw {
    /// Which point.
    pub anchor: Anchor,
    /// Points of the way, m.
    pub way: Vec<DVec3>,
    /// Until when, s.
    pub until: f64,
    /// Greatest force, N.
    pub force: f64,
}

/// Where one is on a way when `part` (0 to 1) of the time is over: the whole way at one speed, m.
pub(crate) fn on_way(way: &[DVec3], part: f64) -> DVec3 {
    let lengths = way.windows(2).map(|ends| ends[0].distance(ends[1]));
    let mut left = part.clamp(0.0, 1.0) * lengths.clone().sum::<f64>();
    for (ends, length) in way.windows(2).zip(lengths) {
        if left <= length && length > 0.0 {
            return ends[0].lerp(ends[1], left / length);
        }
        left -= length;
    }
    way.last().copied().unwrap_or_default()
}

impl Command {
    /// The point that it acts on, if it does on one.
    pub(crate) fn on(&self) -> Option<Anchor> {
        let pushed = self.push.map(|p| p.0);
        pushed.or(self.draw.as_ref().map(|d| d.anchor))
    }
}

/// All commands of a scene, in the order of their times.
pub(crate) fn commands(
    scene: &Scene,
    model: &Model,
    parameters: &[Parameter],
) -> Result<Vec<Command>, SceneError> {
    let mut commands = Vec::new();
    for source in &scene.sources {
        for (i, spec) in source.file.command.iter().enumerate() {
            let wrong = |key: &'static str, problem: String, remedy: &str| {
                let at = [Key::Name("command"), Key::Index(i), Key::Name(key)];
                source.error(&at, problem, remedy)
            };
            if !(spec.at >= 0.0 && spec.at.is_finite()) {
                let problem = format!("{} is no time", spec.at);
                return Err(wrong(
                    "at",
                    problem,
                    "Give seconds from the start, at least 0.",
                ));
            }
            let mut set = Vec::new();
            for s in &spec.set {
                let found = parameters
                    .iter()
                    .position(|p| p.group == s.of && p.name == s.what);
                let Some(p) = found else {
                    let known: Vec<&str> = parameters
                        .iter()
                        .filter(|p| p.group == s.of)
                        .map(|p| p.name.as_str())
                        .collect();
                    let remedy = match known.is_empty() {
                        true => "Name \"world\", a tissue or an instrument.".to_string(),
                        false => format!("It has: {}.", known.join(", ")),
                    };
                    let problem = format!("there is no parameter \"{}\" of \"{}\"", s.what, s.of);
                    return Err(wrong("set", problem, &remedy));
                };
                if let Some(reason) = parameters[p].objection(s.to) {
                    let problem = format!("{}: {}: {reason}", s.of, s.what);
                    return Err(wrong("set", problem, "Choose another value."));
                }
                set.push(Change {
                    parameter: p as u32,
                    value: s.to,
                });
            }
            let mut flags = Vec::new();
            // As it will be by then, as far as the command itself says it.
            let mut wished = parameters.to_vec();
            let note = |wished: &mut [Parameter], changes: &[Change]| {
                for change in changes {
                    wished[change.parameter as usize].value = change.value;
                }
            };
            note(&mut wished, &set);
            for f in &spec.flags {
                let flag = match (f.word, &f.token, f.on) {
                    (Some(word), None, None) => Flags::Word(word),
                    (None, Some(token), Some(on)) => Flags::Token(token.clone(), on),
                    _ => {
                        let problem = "bits are a word, or a token that is on or off".to_string();
                        return Err(wrong("flags", problem, "Give `word`, or `token` and `on`."));
                    }
                };
                // What can't be said now can't be said then.
                let changes = attributes::changes(model, &wished, &f.of, &flag)
                    .map_err(|problem| wrong("flags", problem, "Correct the bits."))?;
                note(&mut wished, &changes);
                flags.push((f.of.clone(), flag));
            }
            let mut unyield = Vec::new();
            for name in &spec.unyield {
                let Some(what) = yielding(model, name) else {
                    let problem = format!(
                        "there is no tissue called \"{name}\" that yields, and no such element"
                    );
                    let remedy = "Name a tissue whose material or elements have `yields`, or such an element by its number: \"element 0\" is the first.";
                    return Err(wrong("unyield", problem, remedy));
                };
                unyield.push(what);
            }
            let course = timed_course(model, source, i, spec)?;
            let (push, draw) = timed_pushes(model, source, i, spec)?;
            let acts = push.is_some() || draw.is_some() || course.is_some();
            let says = !set.is_empty() || !flags.is_empty();
            if !says && unyield.is_empty() && !spec.reset && !acts {
                let problem = "the command does nothing".to_string();
                return Err(wrong(
                    "at",
                    problem,
                    "Give `set`, `flags`, `reset`, `unyield`, `push`, `pull` or `instrument`.",
                ));
            }
            commands.push(Command {
                at: spec.at,
                set,
                flags,
                reset: spec.reset,
                unyield,
                push,
                draw,
                course,
            });
        }
    }
    commands.sort_by(|a, b| a.at.total_cmp(&b.at));
    Ok(commands)
}

impl Simulation {
    /// Times that belong to a step of `dt` s from now.
    fn window(&self, dt: f64) -> Range<f64> {
        self.state.time - EARLY..self.state.time + dt - EARLY
    }

    /// A step of `dt` s, cut to the scene's own if parameters are set in it: what was stable before may need shorter steps
    /// then, but never shorter than that, for such changes are refused. It is cut before they are made, so that each is made once.
    pub(crate) fn step_with_commands(&self, dt: f64) -> f64 {
        let window = self.window(dt);
        let mut due = self.commands.iter().filter(|c| window.contains(&c.at));
        if due.any(|c| !c.set.is_empty() || !c.flags.is_empty()) {
            dt.min(self.model.step)
        } else {
            dt
        }
    }

    /// What a command sets, and what its bits say when all before them has been done. Bits that can't be are told of.
    fn all_changes(&mut self, command: &Command) -> Vec<Change> {
        let mut changes = command.set.clone();
        if command.flags.is_empty() {
            return changes;
        }
        let mut wished = self.parameters.clone();
        let mut noted = 0;
        for (of, flags) in &command.flags {
            for change in &changes[noted..] {
                wished[change.parameter as usize].value = change.value;
            }
            noted = changes.len();
            match attributes::changes(&self.model, &wished, of, flags) {
                Ok(more) => changes.extend(more),
                Err(reason) => self.happened(Happening::Refused {
                    parameter: format!("{of}: flags"),
                    reason,
                }),
            }
        }
        changes
    }

    /// Does what is due in a step of `dt` seconds. It depends on the time alone, so a restored snapshot goes on as the first run did.
    pub(crate) fn command(&mut self, dt: f64) {
        if self.commands.is_empty() {
            return;
        }
        let Range {
            start: from,
            end: to,
        } = self.window(dt);
        let commands = std::mem::take(&mut self.commands);
        self.pushes.clear();
        for command in &commands {
            if (from..to).contains(&command.at) {
                if command.reset {
                    self.reset();
                }
                for what in &command.unyield {
                    self.unyield(*what);
                }
                let changes = self.all_changes(command);
                self.change(&changes);
            }
        }
        // Only now: a reset mends membranes, and what is pushed is found on them as they are.
        for command in &commands {
            if let Some((anchor, force, until)) = command.push
                && command.at < to
                && from < until
                && let Some(anchor) = self.followed(&anchor)
            {
                self.pushes.push((anchor, force));
            }
        }
        self.commands = commands;
    }

    /// Adds what commands pull at in a step of `dt` seconds to what the hand does: where it is to be at the end of it.
    pub(crate) fn draw(&mut self, dt: f64) {
        let commands = std::mem::take(&mut self.commands);
        let Range { start, end } = self.window(dt);
        for command in &commands {
            if let Some(draw) = &command.draw
                && command.at < end
                && start < draw.until
                && let Some(anchor) = self.followed(&draw.anchor)
            {
                let part = (self.state.time + dt - command.at) / (draw.until - command.at);
                self.pulls.push(Pull {
                    anchor,
                    target: on_way(&draw.way, part),
                    force: draw.force,
                });
            }
        }
        self.commands = commands;
    }

    /// Has a tissue and the elements that lead from it to other things, or one such element, forget that they yielded.
    fn unyield(&mut self, what: Yielding) {
        if let Yielding::Tissue(matter) = what
            && let Some(net) = self.model.net(matter)
        {
            net.forget_flow(&mut self.state.nodes[matter.index()]);
        }
        let matters = &self.model.matters;
        let sight = Sight {
            matter: |m: MatterId| -> &dyn Matter { &*matters[m.index()] },
            slot: &self.everywhere,
        };
        for group in &mut self.groups {
            group.forget_flow(&self.model, what, &sight, &self.state.nodes);
        }
    }

    /// Everything back to where it began, and nothing is held any more. Parameters stay as they are, and time goes on (K122).
    pub fn reset(&mut self) {
        let (time, steps) = (self.state.time, self.steps);
        let (handles, endoscope) = (self.handles.clone(), self.endoscope);
        let (pulls, events) = (
            std::mem::take(&mut self.pulls),
            std::mem::take(&mut self.report.events),
        );
        self.rewind();
        (self.state.time, self.steps) = (time, steps);
        self.rest_on_grounds(time);
        (self.handles, self.endoscope) = (handles, endoscope);
        (self.pulls, self.report.events) = (pulls, events);
        self.report.events.push(Event {
            time,
            what: Happening::Reset,
        });
    }
}

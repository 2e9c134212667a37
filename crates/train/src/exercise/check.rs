//! Checks on what an exercise file says, with errors that say where.

mod goal;

use super::{Aim, Goal, Limits, ScorePart};
use crate::{
    file::{ExerciseFile, GoalFile, GoalKind, LevelFile, LimitsFile},
    measure::{Better, Measure},
    place::{Key, Page},
};
use goal::GoalCheck;
use std::path::{Component, Path};
use trocar_scene::{Scene, SceneError};

/// More goals than this are no exercise.
const MAX_GOALS: usize = 100;

/// Checks what does not depend on a level.
pub fn exercise(page: &Page<'_>, file: &ExerciseFile) -> Result<(), SceneError> {
    if file.trocar != 1 {
        return Err(page.error(
            &["trocar".into()],
            format!("this is version {} of the format", file.trocar),
            "This program reads version 1; a newer program may read it.",
        ));
    }
    for (key, empty) in [
        ("title", file.title.trim().is_empty()),
        ("instructions", file.instructions.is_empty()),
        ("goal", file.goal.is_empty()),
        ("part", file.part.is_empty()),
        ("level", file.level.is_empty()),
    ] {
        if empty {
            return Err(page.error(
                &[key.into()],
                format!("`{key}` is empty"),
                "An exercise has a title, instructions, goals, parts of the score and levels.",
            ));
        }
    }
    if file.goal.len() > MAX_GOALS {
        return Err(page.error(
            &["goal".into()],
            format!("there are more than {MAX_GOALS} goals"),
            "Make several exercises of it.",
        ));
    }
    unique(page, "goal", "id", file.goal.iter().map(|g| g.id.as_str()))?;
    unique(
        page,
        "level",
        "name",
        file.level.iter().map(|l| l.name.as_str()),
    )?;
    for (i, part) in file.part.iter().enumerate() {
        if file.part[..i].iter().any(|p| p.measure == part.measure) {
            return Err(page.error(
                &["part".into(), i.into(), "measure".into()],
                format!("{} is scored twice", part.measure.title()),
                "Every measure makes one part at most.",
            ));
        }
    }
    for (i, hint) in file.hint.iter().enumerate() {
        let at = |key| [Key::Name("hint"), Key::Index(i), Key::Name(key)];
        if !(hint.after >= 0.0 && hint.after.is_finite()) {
            return Err(page.error(&at("after"), "`after` must be at least 0", "Correct it."));
        }
        if !(hint.every >= 1.0 && hint.every.is_finite()) {
            return Err(page.error(
                &at("every"),
                format!("a hint every {} s", hint.every),
                "Nobody can read faster than once a second: use 1 or more.",
            ));
        }
        if let Some(goal) = &hint.goal
            && !file.goal.iter().any(|g| g.id == *goal)
        {
            return Err(no_goal(page, &at("goal"), goal));
        }
    }
    for (i, level) in file.level.iter().enumerate() {
        for (k, id) in level.skip.iter().enumerate() {
            if !file.goal.iter().any(|g| g.id == *id) {
                let at = ["level".into(), i.into(), "skip".into(), k.into()];
                return Err(no_goal(page, &at, id));
            }
        }
        for id in level.goal.keys() {
            let at = ["level".into(), i.into(), "goal".into(), id.as_str().into()];
            if !file.goal.iter().any(|g| g.id == *id) {
                return Err(no_goal(page, &at, id));
            }
            if level.skip.contains(id) {
                return Err(page.error(
                    &at,
                    format!("the goal \"{id}\" is left out at this level"),
                    "Remove what is said about it, or take it out of `skip`.",
                ));
            }
        }
        for measure in level.part.keys() {
            if !file.part.iter().any(|p| p.measure == *measure) {
                return Err(page.error(
                    &["level".into(), i.into(), "part".into(), measure.id().into()],
                    format!("{} is no part of the score", measure.title()),
                    "Add a [[part]] for it, or remove this.",
                ));
            }
        }
    }
    Ok(())
}

/// A scene lies in the exercise's folder or in one beside it.
pub fn scene_path(page: &Page<'_>, at: &[Key<'_>], scene: &str) -> Result<(), SceneError> {
    let mut ups = 0;
    let mut names = 0;
    let fits = !scene.contains('\\')
        && Path::new(scene).components().all(|part| match part {
            Component::Normal(_) => {
                names += 1;
                true
            }
            Component::CurDir => true,
            Component::ParentDir => {
                ups += 1;
                names == 0 && ups <= 1
            }
            Component::RootDir | Component::Prefix(_) => false,
        })
        && names > 0;
    if fits {
        return Ok(());
    }
    Err(page.error(
        at,
        format!("\"{scene}\" does not lead to a scene near this file"),
        "Name a scene in this file's folder or in one beside it, such as \"../scenes/gallbladder.toml\".",
    ))
}

fn unique<'a>(
    page: &Page<'_>,
    table: &str,
    key: &str,
    names: impl Iterator<Item = &'a str>,
) -> Result<(), SceneError> {
    let mut seen: Vec<&str> = Vec::new();
    for (i, name) in names.enumerate() {
        let at = [table.into(), i.into(), key.into()];
        // They become parts of addresses and file names.
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || !name.chars().all(plain) {
            return Err(page.error(
                &at,
                format!("\"{name}\" can't be a {key}"),
                "Use letters, digits, - and _.",
            ));
        }
        if seen.contains(&name) {
            return Err(page.error(
                &at,
                format!("there are two called \"{name}\""),
                format!("Every {table} has a {key} of its own."),
            ));
        }
        seen.push(name);
    }
    Ok(())
}

fn no_goal(page: &Page<'_>, at: &[Key<'_>], id: &str) -> SceneError {
    page.error(
        at,
        format!("there is no goal \"{id}\""),
        "Use the id of a [[goal]].",
    )
}

/// Checks one level and puts together what the exercise and the level say.
pub struct Checker<'a> {
    /// The exercise's text.
    pub page: &'a Page<'a>,
    /// What it says.
    pub file: &'a ExerciseFile,
    /// The level.
    pub level: &'a LevelFile,
    /// Which one it is.
    pub index: usize,
}

impl Checker<'_> {
    /// An error at a place of the level if that says something there, else at a place of the exercise.
    fn error(
        &self,
        level: Option<&[Key<'_>]>,
        exercise: &[Key<'_>],
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> SceneError {
        let own: Vec<Key<'_>>;
        let at = match level {
            Some(inner) => {
                let mut path = vec![Key::Name("level"), Key::Index(self.index)];
                path.extend_from_slice(inner);
                own = path;
                &own[..]
            }
            None => exercise,
        };
        self.page.error(at, problem, remedy)
    }

    /// Everything that is named is in the scene.
    pub fn names(&self, scene: &Scene) -> Result<(), SceneError> {
        let files = || scene.sources.iter().map(|s| &s.file);
        let tissue = |name: &str| {
            files().any(|f| {
                f.organ.iter().chain(&f.pipe).any(|t| t.name == name)
                    || f.sheet.iter().any(|t| t.name == name)
            })
        };
        let lacks = |at: &[Key<'_>], kind: &str, name: &str| {
            self.page.error(
                at,
                format!(
                    "the scene of level \"{}\" ({}) has no {kind} called \"{name}\"",
                    self.level.name,
                    scene.name()
                ),
                "Check the name.",
            )
        };
        let instrument = &self.file.instrument;
        if !files().any(|f| f.instrument.iter().any(|i| i.name == *instrument)) {
            return Err(lacks(&["instrument".into()], "instrument", instrument));
        }
        if let Some(name) = &self.file.tissue
            && !tissue(name)
        {
            return Err(lacks(&["tissue".into()], "tissue", name));
        }
        for (i, goal) in self.file.goal.iter().enumerate() {
            if self.level.skip.contains(&goal.id) {
                continue;
            }
            if let Some(name) = &goal.tissue
                && !tissue(name)
            {
                return Err(lacks(
                    &["goal".into(), i.into(), "tissue".into()],
                    "tissue",
                    name,
                ));
            }
            if goal.kind == GoalKind::Look && !files().any(|f| f.endoscope.is_some()) {
                return Err(lacks(
                    &["goal".into(), i.into()],
                    "endoscope",
                    "[endoscope]",
                ));
            }
        }
        Ok(())
    }

    /// Score from which it is passed.
    pub fn pass_mark(&self) -> Result<f64, SceneError> {
        let mark = self.level.pass_mark.unwrap_or(self.file.pass_mark);
        // A pass mark of 0 would pass whoever does nothing.
        if mark > 0.0 && mark <= 100.0 {
            return Ok(mark);
        }
        let key = ["pass_mark".into()];
        Err(self.error(
            self.level.pass_mark.map(|_| &key[..]),
            &key,
            format!("a pass mark of {mark} is out of range"),
            "It lies above 0 and at most at 100.",
        ))
    }

    /// Time after which it ends.
    pub fn time_limit(&self) -> Result<Option<f64>, SceneError> {
        let limit = self.level.time_limit.or(self.file.time_limit);
        let key = ["time_limit".into()];
        match limit {
            Some(t) if !(t > 0.0 && t <= 86_400.0) => Err(self.error(
                self.level.time_limit.map(|_| &key[..]),
                &key,
                format!("a time limit of {t} s is out of range"),
                "It is in seconds, more than 0 and at most a day.",
            )),
            limit => Ok(limit),
        }
    }

    /// The goals of the level.
    pub fn goals(&self) -> Result<Vec<Goal>, SceneError> {
        let mut goals: Vec<Goal> = Vec::new();
        for (index, goal) in self.file.goal.iter().enumerate() {
            if self.level.skip.contains(&goal.id) {
                continue;
            }
            let goal = GoalCheck {
                checker: self,
                goal,
                index,
                change: self.level.goal.get(&goal.id),
            }
            .goal()?;
            let holds = |g: &Goal| matches!(g.aim, Aim::Grasp { .. });
            let lets_go = |g: &Goal| matches!(g.aim, Aim::Release { .. });
            let before = goals.iter().rev().find(|g| holds(g) || lets_go(g));
            let needs = matches!(
                goal.aim,
                Aim::Carry { what: None, .. } | Aim::Release { .. }
            );
            if needs && !before.is_some_and(holds) {
                return Err(self.page.error(
                    &["goal".into(), index.into()],
                    format!("nothing is held when \"{}\" begins", goal.id),
                    "Put a goal of kind \"grasp\" before it, at every level.",
                ));
            }
            goals.push(goal);
        }
        if goals.is_empty() {
            return Err(self.error(
                Some(&["skip".into()]),
                &[],
                "no goal is left",
                "Leave at least one.",
            ));
        }
        Ok(goals)
    }

    fn limits(&self, goal: &GoalFile, index: usize) -> Result<Limits, SceneError> {
        let change = self.level.goal.get(&goal.id).map(|c| c.limits);
        // The nearest word counts: the level's on the goal, the goal's, the level's, the exercise's.
        let words = [
            change,
            Some(goal.limits),
            Some(self.level.limits),
            Some(self.file.limits),
        ];
        let pick = |key: &'static str, of: fn(&LimitsFile) -> Option<f64>| {
            let found = words
                .iter()
                .enumerate()
                .find_map(|(k, w)| Some((k, of(w.as_ref()?)?)));
            let Some((k, value)) = found else {
                return Ok(None);
            };
            if value > 0.0 && value.is_finite() {
                return Ok(Some(value));
            }
            let limits = [Key::Name("limits"), Key::Name(key)];
            let of_goal = [Key::Name("goal"), Key::Name(&goal.id), limits[0], limits[1]];
            let in_goal = [Key::Name("goal"), Key::Index(index), limits[0], limits[1]];
            let (level, exercise): (Option<&[Key<'_>]>, &[Key<'_>]) = match k {
                0 => (Some(&of_goal), &[]),
                1 => (None, &in_goal),
                2 => (Some(&limits), &[]),
                _ => (None, &limits),
            };
            Err(self.error(
                level,
                exercise,
                format!("a limit of {value} is out of range"),
                "A limit is more than 0; leave it out if there is none.",
            ))
        };
        Ok(Limits {
            force: pick("force", |l| l.force)?,
            stretch: pick("stretch", |l| l.stretch)?.map(|percent| 0.01 * percent),
        })
    }

    /// The parts of the score, scaled to 100 points.
    pub fn score(&self) -> Result<Vec<ScorePart>, SceneError> {
        let mut parts = Vec::new();
        for (index, part) in self.file.part.iter().enumerate() {
            let change = self
                .level
                .part
                .get(&part.measure)
                .copied()
                .unwrap_or_default();
            let wrong = |key: &'static str, changed: bool, problem: String, remedy: &str| {
                let level = [
                    Key::Name("part"),
                    Key::Name(part.measure.id()),
                    Key::Name(key),
                ];
                let exercise = [Key::Name("part"), Key::Index(index), Key::Name(key)];
                self.error(changed.then_some(&level[..]), &exercise, problem, remedy)
            };
            let (points, costs) = match (part.points, part.costs) {
                (Some(p), None) => (change.points.unwrap_or(p), false),
                (None, Some(c)) => (change.costs.unwrap_or(c), true),
                _ => {
                    return Err(wrong(
                        "points",
                        false,
                        format!(
                            "{} neither gives nor costs points, or both",
                            part.measure.title()
                        ),
                        "Give one of `points` and `costs`.",
                    ));
                }
            };
            let foreign = if costs { change.points } else { change.costs };
            if foreign.is_some() {
                return Err(wrong(
                    if costs { "points" } else { "costs" },
                    true,
                    "the part is of the other kind".into(),
                    "A level changes the number, not whether points are got or lost.",
                ));
            }
            if !(points > 0.0 && points <= 100.0) {
                return Err(wrong(
                    if costs { "costs" } else { "points" },
                    change.points.or(change.costs).is_some(),
                    format!("{points} points are out of range"),
                    "Use more than 0 and at most 100.",
                ));
            }
            let best = change.best.unwrap_or(part.best);
            let worst = change.worst.unwrap_or(part.worst);
            let ordered = match part.measure.better() {
                Better::Less => best < worst,
                Better::More => best > worst,
            };
            if !(best.is_finite() && worst.is_finite() && ordered) {
                let less = part.measure.better() == Better::Less;
                return Err(wrong(
                    "best",
                    change.best.or(change.worst).is_some(),
                    format!("best is {best} and worst is {worst}"),
                    if less {
                        "Less is better here: `best` must be less than `worst`."
                    } else {
                        "More is better here: `best` must be more than `worst`."
                    },
                ));
            }
            let unlimited = match part.measure {
                Measure::TimeOverForce => Some(("force", self.has_limit(|l| l.force))),
                Measure::TimeOverStretch => Some(("stretch", self.has_limit(|l| l.stretch))),
                _ => None,
            };
            if let Some((limit, false)) = unlimited {
                return Err(wrong(
                    "measure",
                    false,
                    format!("there is no limit of {limit} to exceed"),
                    "Give one in [limits].",
                ));
            }
            let stretch = matches!(
                part.measure,
                Measure::GreatestStretch | Measure::TimeOverStretch
            );
            if stretch && self.file.tissue.is_none() {
                return Err(wrong(
                    "measure",
                    false,
                    "no tissue's stretch is measured".into(),
                    "Name it: `tissue = \"…\"` at the top.",
                ));
            }
            parts.push(ScorePart {
                measure: part.measure,
                points,
                costs,
                best,
                worst,
                advice: part.advice.clone(),
            });
        }
        let sum: f64 = parts.iter().filter(|p| !p.costs).map(|p| p.points).sum();
        if sum <= 0.0 {
            return Err(self.page.error(
                &["part".into()],
                "no part gives points",
                "Give `points` to at least one.",
            ));
        }
        for part in parts.iter_mut().filter(|p| !p.costs) {
            part.points *= 100.0 / sum;
        }
        Ok(parts)
    }

    fn has_limit(&self, of: fn(&LimitsFile) -> Option<f64>) -> bool {
        let goals = self.file.goal.iter().map(|g| &g.limits);
        let changes = self.level.goal.values().map(|c| &c.limits);
        goals
            .chain(changes)
            .chain([&self.file.limits, &self.level.limits])
            .any(|l| of(l).is_some())
    }
}

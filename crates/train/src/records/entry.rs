//! Profiles and results as they are read and written.

use crate::{Ending, Marker, Measured, Part, Performance, Trace};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Somebody who trains.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    /// Its number.
    pub id: i64,
    /// Its name, unique ignoring case.
    pub name: String,
    /// When it was made, s since 1970.
    pub created: i64,
    /// How many results it has.
    pub results: i64,
    /// When the last of them was begun, s since 1970.
    pub last: Option<i64>,
}

/// A result to be begun.
#[derive(Clone, Debug)]
pub struct NewResult {
    /// Whose it is.
    pub profile: i64,
    /// Short name of the exercise.
    pub exercise: String,
    /// Its title.
    pub exercise_title: String,
    /// Short name of the level.
    pub level: String,
    /// Its title.
    pub level_title: String,
    /// File name of the recording in the folder `recordings`.
    pub recording: Option<String>,
    /// The build that steps it.
    pub build: String,
}

/// How far a result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultState {
    /// The operation goes on.
    Running,
    /// It was ended and scored.
    Done,
    /// The program ended before it was.
    BrokenOff,
}

/// A result in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResultRow {
    /// Its number.
    pub id: i64,
    /// Whose it is.
    pub profile: i64,
    /// Short name of the exercise.
    pub exercise: String,
    /// Its title.
    pub exercise_title: String,
    /// Short name of the level.
    pub level: String,
    /// Its title.
    pub level_title: String,
    /// When it was begun, s since 1970.
    pub begun: i64,
    /// How far it is.
    pub state: ResultState,
    /// How the operation ended.
    pub ending: Option<Ending>,
    /// The score, 0 to 100.
    pub score: Option<f64>,
    /// True if it was passed.
    pub passed: bool,
    /// Simulated length, s.
    pub seconds: Option<f64>,
    /// Simulated seconds in a second, over the whole operation.
    pub realtime: Option<f64>,
    /// File name of the recording.
    pub recording: Option<String>,
    /// The build that stepped it.
    pub build: String,
    /// What was measured, by the names of the measures; empty until it is done.
    pub values: BTreeMap<String, f64>,
}

/// A result with all that is known about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResultDetail {
    /// What the lists show.
    #[serde(flatten)]
    pub row: ResultRow,
    /// Whose it is.
    pub profile_name: String,
    /// Score needed to pass.
    pub pass_mark: Option<f64>,
    /// Goals reached.
    pub reached: usize,
    /// Goals there were.
    pub goals: usize,
    /// The parts of the score.
    pub parts: Vec<Part>,
    /// All that was measured.
    pub measures: Vec<Measured>,
    /// What to do better.
    pub advice: Vec<String>,
    /// What was good.
    pub praise: Vec<String>,
    /// What happened when.
    pub events: Vec<Marker>,
    /// Signals over time.
    pub trace: Trace,
}

/// What is kept of a result as JSON.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Detail {
    /// See [`ResultDetail`].
    pub pass_mark: Option<f64>,
    /// See [`ResultDetail`].
    pub reached: usize,
    /// See [`ResultDetail`].
    pub goals: usize,
    /// See [`ResultDetail`].
    pub parts: Vec<Part>,
    /// See [`ResultDetail`].
    pub measures: Vec<Measured>,
    /// See [`ResultDetail`].
    pub advice: Vec<String>,
    /// See [`ResultDetail`].
    pub praise: Vec<String>,
    /// See [`ResultDetail`].
    pub events: Vec<Marker>,
}

impl Detail {
    /// What is kept of a performance.
    pub fn of(p: &Performance) -> Self {
        Self {
            pass_mark: Some(p.pass_mark),
            reached: p.reached,
            goals: p.goals,
            parts: p.parts.clone(),
            measures: p.measures.clone(),
            advice: p.advice.clone(),
            praise: p.praise.clone(),
            events: p.events.clone(),
        }
    }
}

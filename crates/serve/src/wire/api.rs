//! What the server answers to HTTP requests below `/api`. Errors are [`Problem`]s with a status of 4xx or 5xx.

use super::Marker;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
#[cfg(test)]
use ts_rs::TS;

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct Problem {
    /// A sentence for the user.
    pub error: String,
}

/// `GET /api/health`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct Health {
    /// `ok`.
    pub status: String,
    /// Version of the protocol.
    pub protocol: u32,
    /// Version of the program.
    pub version: String,
    /// False: nothing outlasts the program.
    pub keeps: bool,
    /// How many operations run.
    pub operations: u32,
}

/// A level of an exercise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct LevelInfo {
    /// Its name.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// What makes it easy or hard.
    pub about: String,
    /// For `/api/scenes/{id}`.
    pub scene: String,
    /// From this score on it is passed, 0 to 100.
    pub pass_mark: f64,
    /// How long one has.
    pub time_limit: Option<f64>,
    /// What is to be done, one after another.
    pub goals: Vec<String>,
}

/// A part of a score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct PartInfo {
    /// What it is called.
    pub title: String,
    /// Most points it can give; 0 for an error.
    pub most: f64,
    /// What an error can cost, % of the points got; 0 for other parts.
    pub cost: f64,
    /// What is measured.
    pub measure: String,
    /// How.
    pub formula: String,
    /// In this unit.
    pub unit: String,
}

/// An exercise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct ExerciseInfo {
    /// Its name.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// What it is.
    pub about: String,
    /// What it trains.
    pub skills: Vec<String>,
    /// What to know before.
    pub instructions: Vec<String>,
    /// What the score is made of.
    pub parts: Vec<PartInfo>,
    /// From easy to hard.
    pub levels: Vec<LevelInfo>,
}

/// A scene of the Lab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct SceneInfo {
    /// For `/api/scenes/{id}`.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it is, in a sentence.
    pub about: String,
    /// How many tissues it has.
    pub tissues: u32,
    /// How many nodes.
    pub nodes: u32,
    /// How many elements.
    pub elements: u32,
    /// How many instruments.
    pub instruments: u32,
}

/// Somebody who trains here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct Profile {
    /// Its number.
    pub id: i64,
    /// Its name.
    pub name: String,
    /// Unix time, s.
    pub created: i64,
    /// How many results it has.
    pub results: i64,
    /// Unix time of the last of them, s.
    pub last: Option<i64>,
}

/// `POST /api/profiles` and `PATCH /api/profiles/{id}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(TS))]
pub struct NewProfile {
    /// Its name.
    pub name: String,
}

/// `POST /api/operations`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[cfg_attr(test, derive(TS))]
pub enum NewOperation {
    /// An exercise that is scored.
    Exercise {
        /// Which exercise.
        exercise: String,
        /// Which level.
        level: String,
        /// For whom.
        profile: i64,
    },
    /// A scene to play with.
    Lab {
        /// Which scene.
        scene: String,
    },
    /// An operation seen again.
    Replay {
        /// Of which result.
        result: i64,
    },
}

/// What an operation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(TS))]
pub enum OperationKind {
    /// An exercise that is scored.
    Exercise,
    /// A scene to play with.
    Lab,
    /// An operation seen again.
    Replay,
}

/// An operation that runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct OperationInfo {
    /// For `/ws/{id}`.
    pub id: String,
    /// What it is.
    pub kind: OperationKind,
    /// What it is called.
    pub title: String,
    /// The exercise or the scene; of a replay, the exercise.
    pub subject: String,
    /// The level of the exercise.
    pub level: Option<String>,
    /// The name of who operates.
    pub profile: Option<String>,
    /// Replay: of this result.
    pub result: Option<i64>,
    /// People who look on, the controller included.
    pub watching: u32,
    /// Somebody holds the instruments.
    pub controlled: bool,
}

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(TS))]
pub enum Ending {
    /// All goals are reached.
    Completed,
    /// There was no time left.
    TimeUp,
    /// The trainee ended it.
    GivenUp,
    /// The server or the connection ended it.
    BrokenOff,
    /// Not yet.
    Running,
}

/// A result in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct ResultRow {
    /// Its number.
    pub id: i64,
    /// Whose it is.
    pub profile: i64,
    /// Whose it is, by name.
    pub profile_name: String,
    /// Of which exercise.
    pub exercise: String,
    /// What that is called.
    pub exercise_title: String,
    /// At which level.
    pub level: String,
    /// What that is called.
    pub level_title: String,
    /// Unix time, s.
    pub started: i64,
    /// How it ended.
    pub ending: Ending,
    /// 0 to 100; none if it was not scored.
    pub score: Option<f64>,
    /// Good enough.
    pub passed: bool,
    /// How long it took, simulated time.
    pub seconds: f64,
    /// It can be seen again.
    pub has_recording: bool,
    /// What was measured, by the names of the measures; missing if it was not scored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub values: Option<BTreeMap<String, f64>>,
}

/// Which values of a measure are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(TS))]
pub enum Better {
    /// Small ones.
    Less,
    /// Large ones.
    More,
}

/// What was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct Measured {
    /// Its name.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// The value.
    pub value: f64,
    /// Its unit.
    pub unit: String,
    /// How it is computed.
    pub formula: String,
    /// Which values are better.
    pub better: Better,
}

/// A part of a score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct Part {
    /// Its name.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// Points reached; below 0 for an error.
    pub points: f64,
    /// Most points it can give; 0 for an error.
    pub most: f64,
    /// What an error can cost, % of the points got; 0 for other parts.
    pub cost: f64,
    /// The measure it is made of.
    pub measure: String,
    /// Its value.
    pub value: f64,
    /// Its unit.
    pub unit: String,
    /// From this value on there are all points.
    pub best: f64,
    /// From this value on there are none.
    pub worst: f64,
    /// What to do better.
    pub advice: Option<String>,
}

/// What was sampled during an operation; all columns have the same length.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct Trace {
    /// Simulated time.
    pub time: Vec<f32>,
    /// The tip of the instrument.
    pub x: Vec<f32>,
    /// The tip of the instrument.
    pub y: Vec<f32>,
    /// The tip of the instrument.
    pub z: Vec<f32>,
    /// Speed of the tip, m/s.
    pub speed: Vec<f32>,
    /// Force at the tip, N.
    pub force: Vec<f32>,
    /// Greatest stretch of the tissue, as a part of its length.
    pub stretch: Vec<f32>,
    /// 1 while the tip is seen.
    pub in_view: Vec<u8>,
    /// 1 while something is held.
    pub holding: Vec<u8>,
    /// Which goal was next.
    pub goal: Vec<u8>,
}

/// A result with everything about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct ResultDetail {
    /// As in a list.
    #[serde(flatten)]
    pub row: ResultRow,
    /// What the score is made of.
    pub parts: Vec<Part>,
    /// What was measured.
    pub measures: Vec<Measured>,
    /// What to do better.
    pub advice: Vec<String>,
    /// What was good.
    pub praise: Vec<String>,
    /// What happened.
    pub events: Vec<Marker>,
    /// What was sampled.
    pub trace: Trace,
    /// Simulated seconds per second; below about 0.97 the machine was too slow for an honest time.
    pub realtime: f64,
    /// Made by this build of the program, so that a replay shows just what happened.
    pub same_build: bool,
}

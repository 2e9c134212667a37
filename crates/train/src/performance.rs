//! What came out of an operation.

use crate::{
    measure::{Measure, Measured},
    trace::Trace,
};
use serde::{Deserialize, Serialize};

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// Every goal was reached.
    Completed,
    /// The time was up.
    TimeUp,
    /// The trainee gave up.
    GivenUp,
    /// The program ended, or the connection was lost.
    BrokenOff,
}

/// What kind of message or event it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoticeKind {
    /// Something worth knowing.
    Info,
    /// A goal was reached.
    Goal,
    /// How to do better.
    Hint,
    /// Something went wrong.
    Error,
}

/// A message to the trainee.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Notice {
    /// When, s from the start.
    pub time: f64,
    /// What kind.
    pub kind: NoticeKind,
    /// What it says.
    pub text: String,
}

/// An event to be marked in the plots.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Marker {
    /// When, s from the start.
    pub time: f64,
    /// What kind.
    pub kind: NoticeKind,
    /// What happened.
    pub text: String,
}

/// A part of the score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// The measure it rests on.
    pub id: Measure,
    /// Its name for people.
    pub title: String,
    /// Points got; below 0 for an error that costs points.
    pub points: f64,
    /// Most points that can be got; 0 for an error.
    pub most: f64,
    /// What an error costs at most, in % of the points got; 0 for other parts.
    pub cost: f64,
    /// The measure's value; none if there was nothing to measure.
    pub value: Option<f64>,
    /// Its unit.
    pub unit: String,
    /// Value that gets all points, or costs none.
    pub best: f64,
    /// Value that gets none, or costs all.
    pub worst: f64,
    /// What to do better; none if no points were lost.
    pub advice: Option<String>,
}

/// What came out of an operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Performance {
    /// How it ended.
    pub ending: Ending,
    /// The score, 0 to 100.
    pub score: f64,
    /// True if it was completed with at least the pass mark.
    pub passed: bool,
    /// Score needed to pass.
    pub pass_mark: f64,
    /// Goals reached.
    pub reached: usize,
    /// Goals there were.
    pub goals: usize,
    /// The parts of the score.
    pub parts: Vec<Part>,
    /// All that was measured.
    pub measures: Vec<Measured>,
    /// What to do better, what cost most first.
    pub advice: Vec<String>,
    /// What was good.
    pub praise: Vec<String>,
    /// Signals over time.
    pub trace: Trace,
    /// What happened when.
    pub events: Vec<Marker>,
    /// Simulated length, s.
    pub seconds: f64,
}

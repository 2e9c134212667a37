//! What is to be done now, and what is shown of it in the scene.

use serde::Serialize;

/// How a mark is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkKind {
    /// A transparent ball: bring something into it.
    Ball,
    /// A ring around a point.
    Ring,
    /// An arrow from `position` along `normal`.
    Arrow,
    /// A spot on a surface whose normal is `normal`.
    Spot,
}

/// How far a mark's goal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkState {
    /// Its turn comes next.
    Next,
    /// Its turn is now.
    Now,
    /// It is reached, or just being held.
    Reached,
}

/// Something to be shown in the scene.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mark {
    /// How it is drawn.
    pub kind: MarkKind,
    /// Where, m.
    pub position: [f64; 3],
    /// Which way it faces or points; a unit vector.
    pub normal: [f64; 3],
    /// How large, m; an arrow's length.
    pub radius: f64,
    /// How far its goal is.
    pub state: MarkState,
    /// A word or two.
    pub label: String,
}

/// What is to be done now.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Task {
    /// Which goal, counted from 0; `goals` once all are reached.
    pub goal: usize,
    /// How many there are.
    pub goals: usize,
    /// The goal in a few words.
    pub title: String,
    /// What to do.
    pub instruction: String,
    /// How much of the exercise is done, 0 to 1.
    pub progress: f64,
    /// How long it still has to be held, s, while it is.
    pub hold_left: Option<f64>,
    /// Time since the start, s.
    pub elapsed: f64,
    /// Time left, s.
    pub time_left: Option<f64>,
    /// Greatest force now allowed, N.
    pub force_limit: Option<f64>,
    /// What is shown in the scene.
    pub marks: Vec<Mark>,
}

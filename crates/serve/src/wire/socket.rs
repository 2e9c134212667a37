//! What the server says on a WebSocket.

use super::{OperationInfo, SceneDescription, Vector};
use serde::{Deserialize, Serialize};
#[cfg(test)]
use ts_rs::TS;

/// What a connection may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(TS))]
pub enum Role {
    /// Holds the instruments, pauses, resumes, restarts.
    Controller,
    /// Looks on.
    Viewer,
}

/// A number of the scene that can be changed while it runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct Parameter {
    /// `world`, or the name of a tissue or an instrument.
    pub group: String,
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// What it does.
    pub about: String,
    /// The least value.
    pub least: f64,
    /// The greatest value.
    pub greatest: f64,
    /// The value now.
    pub value: f64,
    /// The value in the scene.
    pub start: f64,
    /// What its values 0, 1, 2 … mean; empty if it is a number.
    pub choices: Vec<String>,
}

/// How long the substeps of tissues that hang together may be, s; null if nothing bounds them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct StepBound {
    /// Their names.
    pub tissues: String,
    /// A bound that holds in every configuration; substeps keep to it unless they adapt to the state.
    pub safe: Option<f64>,
    /// The bound for small motion about rest.
    pub exact: Option<f64>,
    /// Kuhn's own estimate.
    pub kuhn: Option<f64>,
    /// The shortest time constant of a node.
    pub time_constant: Option<f64>,
}

/// Attribute bits of a tissue that is a nodal net.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct FlagWord {
    /// The name of the tissue.
    pub tissue: String,
    /// Its bits now.
    pub word: u32,
}

/// What a mark is drawn as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(TS))]
pub enum MarkKind {
    /// A ball.
    Ball,
    /// A ring around the normal.
    Ring,
    /// An arrow along the normal.
    Arrow,
    /// A spot on a surface.
    Spot,
}

/// How far one is with a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(TS))]
pub enum MarkState {
    /// It comes later.
    Next,
    /// It is the goal now.
    Now,
    /// It has been reached.
    Reached,
}

/// Something of the task that is shown in the scene.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct Mark {
    /// What it is drawn as.
    pub kind: MarkKind,
    /// Where.
    pub position: Vector,
    /// Which way it points.
    pub normal: Vector,
    /// How large.
    pub radius: f64,
    /// How far one is with it.
    pub state: MarkState,
    /// What is written beside it.
    pub label: String,
}

/// What is to be done now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct Task {
    /// Which goal, counted from 0; as many as there are when all are reached.
    pub goal: u32,
    /// How many goals there are.
    pub goals: u32,
    /// What it is called.
    pub title: String,
    /// What to do.
    pub instruction: String,
    /// 0 to 1, of this goal.
    pub progress: f64,
    /// How long something still has to be held.
    pub hold_left: Option<f64>,
    /// Simulated time since the start.
    pub elapsed: f64,
    /// How long there is still time.
    pub time_left: Option<f64>,
    /// The greatest force one should use, N.
    pub force_limit: Option<f64>,
    /// What is shown in the scene.
    pub marks: Vec<Mark>,
}

/// What somebody is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(TS))]
pub enum NoticeKind {
    /// Something happened.
    Info,
    /// A goal was reached.
    Goal,
    /// What to do.
    Hint,
    /// A mistake.
    Error,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct Marker {
    /// When, in simulated time.
    pub time: f64,
    /// What kind.
    pub kind: NoticeKind,
    /// What.
    pub text: String,
}

/// An operation that is seen again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct Replay {
    /// How long it is.
    pub duration: f64,
    /// The first time that differs from the recording, as far as it has been played.
    pub differs_at: Option<f64>,
    /// Recorded by this build of the program.
    pub same_build: bool,
    /// Recorded to its end.
    pub complete: bool,
    /// What happened.
    pub events: Vec<Marker>,
}

/// What the server says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[cfg_attr(test, derive(TS))]
pub enum ServerMessage {
    /// The first message of a connection.
    Hello {
        /// Version of the protocol.
        protocol: u32,
        /// What this connection may do.
        role: Role,
        /// Which operation this is.
        operation: Box<OperationInfo>,
        /// The scene.
        scene: Box<SceneDescription>,
        /// What can be changed; in the Lab.
        parameters: Vec<Parameter>,
        /// How long substeps may be; in the Lab.
        bounds: Vec<StepBound>,
        /// Attribute bits of its nets; in the Lab.
        flags: Vec<FlagWord>,
        /// What is to be done; in an exercise.
        task: Option<Task>,
        /// What is seen again; in a replay.
        replay: Option<Replay>,
    },
    /// The client did something wrong.
    Error {
        /// What.
        message: String,
    },
    /// Something happened in the simulation.
    Event {
        /// When, in simulated time.
        time: f64,
        /// What kind.
        kind: NoticeKind,
        /// What.
        text: String,
    },
    /// The task has changed; at most 20 times a second.
    Task {
        /// The task.
        task: Task,
    },
    /// A parameter has changed, or was refused and has not.
    Parameters {
        /// All of them.
        parameters: Vec<Parameter>,
        /// How long substeps may be now.
        bounds: Vec<StepBound>,
        /// Attribute bits of all nets now.
        flags: Vec<FlagWord>,
    },
    /// What the mouse has taken hold of.
    Picked {
        /// The name of it; null if nothing is there.
        name: Option<String>,
    },
    /// The exercise is over.
    Finished {
        /// The number of its result, if it is kept.
        result: Option<i64>,
        /// 0 to 100.
        score: f64,
        /// Good enough.
        passed: bool,
        /// Why it, or its recording, could not be kept.
        problem: Option<String>,
    },
}

impl ServerMessage {
    /// As JSON.
    pub fn to_json(&self) -> String {
        // Only strings and numbers, in vectors and structs: they can always be written.
        serde_json::to_string(self).unwrap_or_default()
    }
}

//! What an exercise file may say. Lengths in metres, times in seconds, forces in newtons, angles in degrees, stretch in
//! percent; what is said about a measure, in the measure's own unit.

use crate::measure::Measure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Three numbers: a point.
pub type Vector = [f64; 3];

/// An exercise.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExerciseFile {
    /// Version of the format: 1.
    pub trocar: u32,
    /// What the exercise is called.
    pub title: String,
    /// What it is about, in a sentence or two.
    pub about: String,
    /// What it trains.
    #[serde(default)]
    pub skills: Vec<String>,
    /// The scene file, relative to this file, in its folder or in one beside it ("../scenes/…").
    pub scene: String,
    /// The instrument that is watched, by its name in the scene.
    pub instrument: String,
    /// The tissue whose stretch is measured, by its name in the scene. Default: none is.
    #[serde(default)]
    pub tissue: Option<String>,
    /// What the trainee reads before the start, a paragraph each.
    pub instructions: Vec<String>,
    /// Time after which the exercise ends, s, > 0. Default: none.
    #[serde(default)]
    pub time_limit: Option<f64>,
    /// Score from which the exercise is passed if it was completed, 0 to 100. Default: 60.
    #[serde(default = "pass_mark")]
    pub pass_mark: f64,
    /// What must not be exceeded.
    #[serde(default)]
    pub limits: LimitsFile,
    /// What is to be done, in order.
    pub goal: Vec<GoalFile>,
    /// What is said when something goes wrong.
    #[serde(default)]
    pub hint: Vec<HintFile>,
    /// What the score is made of.
    pub part: Vec<PartFile>,
    /// The levels, easiest first; one or more.
    pub level: Vec<LevelFile>,
}

fn pass_mark() -> f64 {
    60.0
}

/// The JSON Schema of exercise files.
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(ExerciseFile)
}

/// What must not be exceeded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LimitsFile {
    /// Greatest force at the tip, N, > 0. Default: none.
    #[serde(default)]
    pub force: Option<f64>,
    /// Greatest stretch of the tissue's surface, %, > 0; 50 is half as long again as at rest. Default: none.
    #[serde(default)]
    pub stretch: Option<f64>,
}

/// What kind of goal it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GoalKind {
    /// Take hold of `tissue`; with `at` and `radius`: inside that spot of it.
    Grasp,
    /// Bring what is held, or the point `at` of `tissue`, into the ball `centre`, `radius`, and keep it there for `hold`.
    Carry,
    /// Bring the tip into the ball `centre`, `radius`, or within `radius` of the point `at` of `tissue`, or of all of
    /// `tissue`, for `hold`.
    Touch,
    /// Open the jaws with a force below `force` and a speed below `speed`; with `centre` and `radius`: when what is held, or
    /// the point `at` of `tissue`, is inside that ball.
    Release,
    /// Keep `centre`, or the point `at` of `tissue`, within `angle` of the middle of the endoscope's picture for `hold`.
    Look,
}

/// Something to be done. Which keys a goal may have depends on its `kind`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GoalFile {
    /// Its name for levels to refer to, unique in the exercise.
    pub id: String,
    /// What kind of goal it is.
    pub kind: GoalKind,
    /// A few words.
    pub title: String,
    /// What to do, while it is being done.
    pub instruction: String,
    /// A tissue, by its name in the scene.
    #[serde(default)]
    pub tissue: Option<String>,
    /// A point of the tissue: the closest one of its surface at rest, m. It follows the tissue.
    #[serde(default)]
    pub at: Option<Vector>,
    /// A point in space, m.
    #[serde(default)]
    pub centre: Option<Vector>,
    /// Radius of the spot or of the ball, m, > 0.
    #[serde(default)]
    pub radius: Option<f64>,
    /// How long it has to last, s, ≥ 0. Default: 0.
    #[serde(default)]
    pub hold: Option<f64>,
    /// Greatest force when letting go, N, > 0. Default: any.
    #[serde(default)]
    pub force: Option<f64>,
    /// Greatest speed of the tip when letting go, m/s, > 0. Default: any.
    #[serde(default)]
    pub speed: Option<f64>,
    /// Greatest angle from the middle of the picture, degrees, > 0.
    #[serde(default)]
    pub angle: Option<f64>,
    /// What must not be exceeded while this goal is worked on; what is not given here holds for the whole exercise.
    #[serde(default)]
    pub limits: LimitsFile,
}

/// When a hint is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// What was held slipped out of the jaws.
    Slipped,
    /// Tissue tore out of the jaws.
    TornOut,
    /// The jaws were opened before the goal was reached, or too roughly.
    Dropped,
    /// The jaws closed on nothing.
    Missed,
    /// The jaws took the wrong tissue or the wrong place.
    Misgrasped,
    /// The force is above its limit.
    Force,
    /// The force is above four fifths of its limit.
    NearForce,
    /// The stretch is above its limit.
    Stretch,
    /// The tip is not seen.
    OutOfView,
    /// Nothing moves though something is to be done.
    Idle,
    /// What has to be held in the target left it.
    LeftTarget,
}

/// What is said when something goes wrong.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HintFile {
    /// When it is said.
    pub when: Trigger,
    /// What is said.
    pub text: String,
    /// A condition has to last this long, s, ≥ 0. Default: 0.
    #[serde(default)]
    pub after: f64,
    /// It is said again after this time at the earliest, s, ≥ 1. Default: 8.
    #[serde(default = "every")]
    pub every: f64,
    /// Only while this goal is worked on. Default: always.
    #[serde(default)]
    pub goal: Option<String>,
}

fn every() -> f64 {
    8.0
}

/// A part of the score: a measure, and which of its values are good and bad. Give one of `points` and `costs`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartFile {
    /// The measure.
    pub measure: Measure,
    /// Weight of the part, > 0. The weights of all parts are scaled to 100 points.
    #[serde(default)]
    pub points: Option<f64>,
    /// Or what an error costs at most, in % of the points got, > 0.
    #[serde(default)]
    pub costs: Option<f64>,
    /// Value that gets all points, or costs none, in the measure's unit.
    pub best: f64,
    /// Value that gets no points, or costs all.
    pub worst: f64,
    /// What to do better, after the sentence that gives the numbers. Default: what fits the measure.
    #[serde(default)]
    pub advice: Option<String>,
}

/// A level of the exercise. What it does not say is as in the exercise.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LevelFile {
    /// Its short name, such as "easy", unique in the exercise.
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// What makes it different, in a sentence.
    #[serde(default)]
    pub about: String,
    /// Another scene file, as in the exercise.
    #[serde(default)]
    pub scene: Option<String>,
    /// Goals that are left out, by their ids.
    #[serde(default)]
    pub skip: Vec<String>,
    /// Time after which it ends, s, > 0.
    #[serde(default)]
    pub time_limit: Option<f64>,
    /// Score from which it is passed, 0 to 100.
    #[serde(default)]
    pub pass_mark: Option<f64>,
    /// What must not be exceeded.
    #[serde(default)]
    pub limits: LimitsFile,
    /// What is different about goals, by their ids.
    #[serde(default)]
    pub goal: BTreeMap<String, GoalChange>,
    /// What is different about parts of the score, by their measures.
    #[serde(default)]
    pub part: BTreeMap<Measure, PartChange>,
}

/// Numbers of a goal that a level changes.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GoalChange {
    /// See the goal.
    #[serde(default)]
    pub at: Option<Vector>,
    /// See the goal.
    #[serde(default)]
    pub centre: Option<Vector>,
    /// See the goal.
    #[serde(default)]
    pub radius: Option<f64>,
    /// See the goal.
    #[serde(default)]
    pub hold: Option<f64>,
    /// See the goal.
    #[serde(default)]
    pub force: Option<f64>,
    /// See the goal.
    #[serde(default)]
    pub speed: Option<f64>,
    /// See the goal.
    #[serde(default)]
    pub angle: Option<f64>,
    /// See the goal.
    #[serde(default)]
    pub limits: LimitsFile,
}

/// Numbers of a part of the score that a level changes.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartChange {
    /// See the part.
    #[serde(default)]
    pub points: Option<f64>,
    /// See the part.
    #[serde(default)]
    pub costs: Option<f64>,
    /// See the part.
    #[serde(default)]
    pub best: Option<f64>,
    /// See the part.
    #[serde(default)]
    pub worst: Option<f64>,
}

//! What a scene file may say of what goes through a trocar: instruments and the endoscope.

use super::{Vector, one};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an instrument does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum InstrumentKind {
    /// Two jaws that hold what is between them.
    #[default]
    Grasper,
    /// A thin tip, straight or bent, that pushes membranes, rubs on them, holds and tears them; a blunt tip to everything else.
    Needle,
    /// Fine jaws that hold points of membranes where they took them; a grasper to everything else.
    Forceps,
    /// Two blades that cut membranes as they close, and take nothing away. To everything else they are blunt.
    Scissors,
}

/// From a depth on, membranes stick to a needle until they are torn off.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StickSpec {
    /// Depth in the needle from which a triangle sticks, m, ≥ 0.
    pub beyond: f64,
    /// Force along the needle's skin that tears it off, N, > 0.
    pub limit: f64,
}

/// An instrument that goes through a trocar.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Instrument {
    /// Its name, unique in the scene.
    pub name: String,
    /// What it does. Default: grasper.
    #[serde(default)]
    pub kind: InstrumentKind,
    /// Where it passes through the wall of the body, m.
    pub trocar: Vector,
    /// What it points at when yaw and pitch are 0, m.
    pub target: Vector,
    /// Depth at the start: from the trocar to the hinge, m.
    pub depth: f64,
    /// Jaw angle at the start, rad. Default: 0.7, or the greatest if that is less.
    #[serde(default)]
    pub jaw: Option<f64>,
    /// Radius of the shaft, m. Default: 0.0025.
    #[serde(default = "shaft_radius")]
    pub shaft_radius: f64,
    /// Length of a jaw, a blade or a needle's tip, m. Default: 0.02.
    #[serde(default = "jaw_length")]
    pub jaw_length: f64,
    /// Radius of its hull, m. Default: 0.0015.
    #[serde(default = "jaw_radius")]
    pub jaw_radius: f64,
    /// Least and greatest yaw, rad. Default: [-1, 1].
    #[serde(default = "swing")]
    pub yaw: [f64; 2],
    /// Least and greatest pitch, rad. Default: [-1, 1].
    #[serde(default = "swing")]
    pub pitch: [f64; 2],
    /// Least and greatest depth, m. Default: [0.02, 0.3].
    #[serde(default = "depths")]
    pub depths: [f64; 2],
    /// Least and greatest jaw angle, rad. Default: [0, 1].
    #[serde(default = "jaws")]
    pub jaws: [f64; 2],
    /// How fast its tip follows the hand at most, m/s. Default: 1.
    #[serde(default = "one")]
    pub speed: f64,
    /// Angle at which a needle's tip leaves the shaft, rad, -1.5 to 1.5. Default: 0, straight.
    #[serde(default)]
    pub bend: Option<f64>,
    /// How firmly a needle pushes membranes and forceps hold each point of them, N/m, > 0. Default: the stiffness of the membrane.
    #[serde(default)]
    pub stiffness: Option<f64>,
    /// Lets membranes stick to a needle from a depth on. Left out: they stick within the cone of `friction`.
    #[serde(default)]
    pub stick: Option<StickSpec>,
    /// How much pull the jaws hold, N. Default: 8.
    #[serde(default = "grip_force")]
    pub grip_force: f64,
    /// Static and dynamic coefficient of friction, ≥ 0; that of a pair is the geometric mean. It counts against bodies, and
    /// against tissues that give their own. Default: 0.3 and 0.25.
    #[serde(default = "smooth")]
    pub friction: [f64; 2],
}

fn smooth() -> [f64; 2] {
    [0.3, 0.25]
}

fn shaft_radius() -> f64 {
    2.5e-3
}
fn jaw_length() -> f64 {
    0.02
}
fn jaw_radius() -> f64 {
    1.5e-3
}
fn swing() -> [f64; 2] {
    [-1.0, 1.0]
}
fn depths() -> [f64; 2] {
    [0.02, 0.3]
}
fn jaws() -> [f64; 2] {
    [0.0, 1.0]
}
fn grip_force() -> f64 {
    8.0
}

/// An endoscope that goes through a trocar. It touches nothing.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndoscopeSpec {
    /// Where it passes through the wall of the body, m.
    pub trocar: Vector,
    /// What its shaft points at when yaw and pitch are 0, m.
    pub target: Vector,
    /// Depth at the start: from the trocar to the lens, m.
    pub depth: f64,
    /// Angle between the shaft and where it looks, degrees, 0 to 70. Default: 0.
    #[serde(default)]
    pub optics: f64,
    /// Whole angle of the round picture at zoom 1, degrees, 5 to 140. Default: 70.
    #[serde(default = "round_field")]
    pub field_of_view: f64,
    /// Least and greatest zoom, 1 to 20. Default: [1, 3].
    #[serde(default = "zooms")]
    pub zoom: [f64; 2],
    /// Radius of the shaft, m. Default: 0.005.
    #[serde(default = "scope_radius")]
    pub radius: f64,
    /// Least and greatest yaw, rad. Default: [-1, 1].
    #[serde(default = "swing")]
    pub yaw: [f64; 2],
    /// Least and greatest pitch, rad. Default: [-1, 1].
    #[serde(default = "swing")]
    pub pitch: [f64; 2],
    /// Least and greatest depth, m. Default: [0.02, 0.3].
    #[serde(default = "depths")]
    pub depths: [f64; 2],
    /// How fast its lens follows the hand at most, m/s. Default: 0.5.
    #[serde(default = "scope_speed")]
    pub speed: f64,
}

fn round_field() -> f64 {
    70.0
}
fn zooms() -> [f64; 2] {
    [1.0, 3.0]
}
fn scope_radius() -> f64 {
    5e-3
}
fn scope_speed() -> f64 {
    0.5
}

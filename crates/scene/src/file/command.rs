//! What a scene does at set times.

use super::{AnchorSpec, Vector};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something that is done at a set time, as if somebody did it from outside: give one or more of `set`, `flags`, `reset`, `unyield`, `push`, `pull`, `instrument`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandSpec {
    /// When, s of simulated time, ≥ 0. What is due in a step is done before it.
    pub at: f64,
    /// Parameters that get another value.
    #[serde(default)]
    pub set: Vec<SetSpec>,
    /// Attribute bits of tissues that become others (Kuhn's `eladyn_geo_def`).
    #[serde(default)]
    pub flags: Vec<FlagSpec>,
    /// Everything back to where it began; parameters stay as they are, and the time goes on.
    #[serde(default)]
    pub reset: bool,
    /// Tissues, by name, that forget how far they and the elements between them and other things have yielded, or single elements between things, as "element 0" for the first: they draw back to the shape they had, without yielding on the way. What is drawn farther meanwhile yields from there.
    #[serde(default)]
    pub unyield: Vec<String>,
    /// A force (N) on a point of something, until `until`.
    #[serde(default)]
    pub push: Option<Vector>,
    /// Points (m) along which a point of something is drawn from `at` to `until` at one speed, as if a hand held it; one or more.
    #[serde(default)]
    pub pull: Option<Vec<Vector>>,
    /// The greatest force of a pull, N, above 0, at most 1000. Default: 10.
    #[serde(default)]
    pub force: Option<f64>,
    /// On what it pushes, or at what it pulls.
    #[serde(default)]
    pub on: Option<AnchorSpec>,
    /// How long it pushes, pulls or leads: until this time, s.
    #[serde(default)]
    pub until: Option<f64>,
    /// An instrument, by name, that is led from `at` to `until` by `tip`, `jaw`, `roll`; never faster than it can go, and only as long as no hand moves it. It then
    /// stays where it is.
    #[serde(default)]
    pub instrument: Option<String>,
    /// Points (m) along which its tip goes at one speed; one or more.
    #[serde(default)]
    pub tip: Option<Vec<Vector>>,
    /// Jaw angles, rad, evenly spread over the time; one or more. Left out: they stay as they are.
    #[serde(default)]
    pub jaw: Option<Vec<f64>>,
    /// Turns about its shaft, likewise.
    #[serde(default)]
    pub roll: Option<Vec<f64>>,
}

/// Attribute bits of a tissue; give `word`, or `token` and `on`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlagSpec {
    /// The name of a tissue, or "ALL".
    pub of: String,
    /// All its bits, as in `flags` of a material.
    #[serde(default)]
    pub word: Option<u32>,
    /// One bit, by its token: "GRAV", "QDYN".
    #[serde(default)]
    pub token: Option<String>,
    /// Whether that is set.
    #[serde(default)]
    pub on: Option<bool>,
}

/// A parameter and its new value.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetSpec {
    /// "world", the name of a tissue or an instrument, or "joint" or "body" and a name.
    pub of: String,
    /// The parameter, as the lab names it: "stiffness", "gravity y", "integrator".
    pub what: String,
    /// Its new value; of a choice the number of it, counted from 0.
    pub to: f64,
}

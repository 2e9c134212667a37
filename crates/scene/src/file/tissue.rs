//! What a scene file may say of tissues.

use super::{
    EditSpec, Look, Vector, YieldSpec,
    element::{ones, unlimited},
    one, up,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A tissue in the shape of a tube along a path: closed at both ends as an organ, open as a pipe.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TubeTissue {
    /// Its name, unique in the scene.
    pub name: String,
    /// Points its centre line goes through, m; two or more.
    pub path: Vec<Vector>,
    /// Half width and half height at each point of the path, m; or one pair for all.
    pub radii: Vec<[f64; 2]>,
    /// Which way is up at the start of the path. Default: [0, 1, 0].
    #[serde(default = "up")]
    pub up: Vector,
    /// Rings of nodes along the path, 2 or more.
    pub rings: usize,
    /// Nodes in a ring, 3 or more.
    pub around: usize,
    /// Moves the whole tissue, m. Default: not.
    #[serde(default)]
    pub position: Vector,
    /// Turns the whole tissue about the origin before it is moved: the axis of the turn, its length the angle
    /// in rad. Default: not.
    #[serde(default)]
    pub rotation: Vector,
    /// What it is made of.
    pub material: MaterialSpec,
    /// What is different from what this shape makes of it.
    #[serde(default)]
    pub edit: EditSpec,
    /// Nodes that are fixed in space.
    #[serde(default)]
    pub fixed: Vec<Select>,
    /// Colour: red, green, blue from 0 to 1.
    #[serde(default = "flesh")]
    pub colour: Vector,
    /// What its surface looks like. Default: plain.
    #[serde(default)]
    pub look: Look,
}

/// A tissue in the shape of a flat sheet.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SheetTissue {
    /// Its name, unique in the scene.
    pub name: String,
    /// One corner, m.
    pub origin: Vector,
    /// From that corner along the rows, m.
    pub u: Vector,
    /// From that corner along the columns, m.
    pub v: Vector,
    /// Rows of nodes, 2 or more.
    pub rows: usize,
    /// Nodes in a row, 2 or more.
    pub columns: usize,
    /// Moves the whole tissue, m. Default: not.
    #[serde(default)]
    pub position: Vector,
    /// Turns the whole tissue about the origin before it is moved: the axis of the turn, its length the angle
    /// in rad. Default: not.
    #[serde(default)]
    pub rotation: Vector,
    /// What it is made of.
    pub material: MaterialSpec,
    /// What is different from what this shape makes of it.
    #[serde(default)]
    pub edit: EditSpec,
    /// Nodes that are fixed in space. `ring` selects a row.
    #[serde(default)]
    pub fixed: Vec<Select>,
    /// Colour: red, green, blue from 0 to 1.
    #[serde(default = "flesh")]
    pub colour: Vector,
    /// What its surface looks like. Default: plain.
    #[serde(default)]
    pub look: Look,
}

pub(super) fn flesh() -> Vector {
    [0.78, 0.36, 0.33]
}

/// How springs and shape memory answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LawSpec {
    /// Force grows with the displacement; constants in N/m.
    #[default]
    Linear,
    /// Force grows with its square; constants in N/m².
    Quadratic,
}

/// Which neighbours of the net springs join.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NetSpec {
    /// Along the edges of the cells only; shears without resistance.
    A,
    /// And along one diagonal.
    B,
    /// And along both diagonals.
    #[default]
    C,
}

/// By which scheme a tissue moves. All but the quasi-dynamic and the weighted one converge to the same motion for short
/// substeps; they differ in how long a substep may be and how much it costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IntegratorName {
    /// Explicit force, implicit damping: the method of the source, and the longest substeps.
    #[default]
    Mesd,
    /// As if nothing had mass: velocity is force divided by damping. Every node must be damped.
    QuasiDynamic,
    /// Runge-Kutta of two stages, with implicit damping.
    ModifiedRungeKutta,
    /// Heun, with implicit damping.
    ModifiedHeun,
    /// Euler-Cauchy: explicit force, explicit damping.
    Euler,
    /// Runge-Kutta of two stages, with explicit damping.
    RungeKutta,
    /// Heun, with explicit damping.
    Heun,
    /// MESD whose new velocity is only approached, by `velocity_weight`.
    Weighted,
    /// MESD's velocity, but the mean of old and new moves the nodes. It needs damping.
    Midpoint,
}

impl IntegratorName {
    /// All of them, in the order of the engine's own list.
    pub const ALL: [Self; 9] = [
        Self::Mesd,
        Self::QuasiDynamic,
        Self::ModifiedRungeKutta,
        Self::ModifiedHeun,
        Self::Euler,
        Self::RungeKutta,
        Self::Heun,
        Self::Weighted,
        Self::Midpoint,
    ];
}

/// What a tissue is made of. Every node and element of it gets the same constants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MaterialSpec {
    /// Mass of a surface node, kg, > 0.
    pub mass: f64,
    /// Damping of a surface node, N·s/m, ≥ 0.
    pub damping: f64,
    /// Springs between surface nodes, N/m or N/m², ≥ 0.
    pub stiffness: f64,
    /// Law of those springs. Default: linear.
    #[serde(default)]
    pub law: LawSpec,
    /// Gain of those springs when shorter and when longer than at rest, ≥ 0. Default: [1, 1]; [0, 1] bears
    /// tension only.
    #[serde(default = "ones")]
    pub gain: [f64; 2],
    /// Dead zones of those springs when shorter and when longer than at rest, m. Default: [0, 0].
    #[serde(default)]
    pub dead: [f64; 2],
    /// Greatest push and greatest pull of those springs, N; `inf` for none. Default: none.
    #[serde(default = "unlimited")]
    pub limit: [f64; 2],
    /// Those springs are shorter at rest than built by this part, 0 to below 1: pre-tension. Default: 0.
    #[serde(default)]
    pub shorten: f64,
    /// Those springs yield, and remember it.
    #[serde(default)]
    pub yields: Option<YieldSpec>,
    /// Which neighbours those springs join: "a", "b" or "c". Default: "c".
    #[serde(default)]
    pub net: NetSpec,
    /// Shape memory: what draws a node back to its place, N/m or N/m², ≥ 0. Default: 0.
    #[serde(default)]
    pub memory: f64,
    /// Law of the shape memory. Default: linear.
    #[serde(default)]
    pub memory_law: LawSpec,
    /// Mass of a central node, kg, > 0. Default: 0.05. Sheets have none.
    #[serde(default = "centre_mass")]
    pub centre_mass: f64,
    /// Damping of a central node, N·s/m, ≥ 0. Default: 0.5.
    #[serde(default = "centre_damping")]
    pub centre_damping: f64,
    /// Rotational damping of a central node, N·m·s/rad, ≥ 0. Default: 0.0005.
    #[serde(default = "turn_damping")]
    pub turn_damping: f64,
    /// Springs between the central nodes of a pipe, N/m, ≥ 0. Default: 0.
    #[serde(default)]
    pub centre_stiffness: f64,
    /// Torsion of a central node against how it was built, N·m/rad, ≥ 0. Default: 0.
    #[serde(default)]
    pub torsion: f64,
    /// Torsion of a pipe's central nodes against the pipe's own axis, N·m/rad, ≥ 0: rings stay across it however it bends. Default: 0, none.
    #[serde(default)]
    pub twist: f64,
    /// Bending of a pipe at its central nodes, N/rad, ≥ 0. Default: 0, none.
    #[serde(default)]
    pub bending: f64,
    /// Dampers from ring to ring of a pipe, N·s/m, ≥ 0. Default: 0, none.
    #[serde(default)]
    pub brace: f64,
    /// Static and dynamic coefficient of friction, ≥ 0; that of a pair is the geometric mean. Left out: 0.4 and 0.3 with
    /// bodies, and instruments slip on it.
    #[serde(default)]
    pub friction: Option<[f64; 2]>,
    /// How thick it is to itself and to other tissues with a thickness, m, > 0: parts that share no corner stay this far apart (of two tissues, the
    /// mean). Less than an edge of its triangles. Left out: it passes through itself and other tissues.
    #[serde(default)]
    pub contact_thickness: Option<f64>,
    /// By which scheme it moves. Default: mesd.
    #[serde(default)]
    pub integrator: IntegratorName,
    /// Factor of the velocity in quasi-dynamics, above 0, at most 1. Default: 1.
    #[serde(default = "one")]
    pub quasi_factor: f64,
    /// Weight of the new velocity in the weighted scheme, above 0, at most 1. Default: 0.5.
    #[serde(default = "half")]
    pub velocity_weight: f64,
    /// Height of the ground, m: none of its nodes goes below. Left out: no ground.
    #[serde(default)]
    pub ground: Option<f64>,
    /// Whether that ground acts; without `ground` it lies at 0. Default: true if `ground` is given.
    #[serde(default)]
    pub on_ground: Option<bool>,
    /// Gravity acts on it. Default: true.
    #[serde(default = "yes")]
    pub gravity: bool,
    /// Its central nodes feel the nodes they carry, and move; otherwise they stay where they are. Default: true.
    #[serde(default = "yes")]
    pub mobile: bool,
    /// Instruments and bodies touch and grasp it; otherwise they pass through. Default: true.
    #[serde(default = "yes")]
    pub touchable: bool,
    /// Its `bending` acts. Default: true.
    #[serde(default = "yes")]
    pub bends: bool,
    /// Kuhn's attribute bits, in the place of `gravity`, `mobile`, `on_ground`, `touchable`, `bends` and `integrator`.
    #[serde(default)]
    pub flags: Option<FlagsSpec>,
    /// Force at which a grasped point tears out of the instrument, N, > 0. Default: 2.
    #[serde(default = "bears")]
    pub bears: f64,
    /// Where its constants were measured: a paper, a data set. Left out: nowhere, they are guesses.
    #[serde(default)]
    pub source: Option<String>,
}

/// Attribute bits of a tissue: the word, or the tokens of those that are set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum FlagsSpec {
    /// 0x10 its centres move, 0x40 gravity, 0x80 ground, 0x400 not touchable, 0x10000 no bending, 0x200 steps of a set length, as they always are; 0x100 quasi-dynamic, 0x2000 MESD, 0x4000 weighted,
    /// 0x100000 midpoint, 0x200000 and 0x400000 modified Runge-Kutta and Heun.
    Word(u32),
    /// MOVE, GRAV, GROUND, INTER, NOBEND, CALC_TIME; QDYN, CALC_NORM, CALC_KUHN, CALC_I, CALC_II, CALC_III.
    Tokens(Vec<String>),
}

impl MaterialSpec {
    /// The height below which none of its nodes goes, m; none if there is no ground, or it does not act.
    pub fn floor(&self) -> Option<f64> {
        match self.on_ground {
            None => self.ground,
            Some(false) => None,
            Some(true) => Some(self.ground.unwrap_or(0.0)),
        }
    }
}

fn centre_mass() -> f64 {
    0.05
}
fn centre_damping() -> f64 {
    0.5
}
fn turn_damping() -> f64 {
    5e-4
}
fn half() -> f64 {
    0.5
}
pub(super) fn yes() -> bool {
    true
}
fn bears() -> f64 {
    2.0
}

/// Selects nodes of a tissue; give one of `ring`, `nodes`, `within`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Select {
    /// All nodes of this ring, counted from 0; its central node too, in a pipe.
    #[serde(default)]
    pub ring: Option<usize>,
    /// These surface nodes, counted from 0.
    #[serde(default)]
    pub nodes: Option<Vec<u32>>,
    /// All surface nodes inside this ball.
    #[serde(default)]
    pub within: Option<Ball>,
    /// How freely they move along the tissue's own axes, from 0 (locked) to 1 (free). Default: [0, 0, 0], fixed.
    #[serde(default)]
    pub axes: Vector,
}

/// A ball.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ball {
    /// Its centre, m.
    pub centre: Vector,
    /// Its radius, m, > 0.
    pub radius: f64,
}

/// Nodes of something; give a tissue with one of `ring`, `nodes`, `centres`, or a membrane with `nodes` or `at`, or with neither for the points nearest to the
/// other side; or a body, or points in space.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ring {
    /// Name of the tissue.
    #[serde(default)]
    pub tissue: Option<String>,
    /// Which ring of an organ or a pipe, or row of a sheet, counted from 0.
    #[serde(default)]
    pub ring: Option<usize>,
    /// These surface nodes, counted from 0.
    #[serde(default)]
    pub nodes: Option<Vec<u32>>,
    /// These central nodes, counted from 0.
    #[serde(default)]
    pub centres: Option<Vec<u32>>,
    /// A body that leads: the slaves are tied to it where they are.
    #[serde(default)]
    pub body: Option<String>,
    /// Points on a membrane, m: those of its surface nearest to these.
    #[serde(default)]
    pub at: Option<Vec<Vector>>,
    /// Points in space that lead, m; as many as there are slaves, which are moved there and stay.
    #[serde(default)]
    pub world: Option<Vec<Vector>>,
}

/// Nodes of two tissues that move as one (hyper nodes), or nodes that a body holds. Slaves are moved onto their masters when the
/// scene is built. Central nodes that follow go where their masters go and turn as they like.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Couple {
    /// The nodes that lead.
    pub master: Ring,
    /// The nodes that follow; as many. Rings are paired so that they fit best, nodes in the order given.
    pub slave: Ring,
    /// How much of the slave's force the master takes, 0 to 1. Default: 1; less loses momentum. A body takes all, and a central node gives all.
    #[serde(default = "one")]
    pub force_factor: f64,
}

//! What a scene file may say of membranes.

use super::{Ball, Look, Vector, one};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A thin sheet that may stick to what is below it, peel off, fold and tear. Its shape is one of `hexagonal`, `sheet`, `disc`, `mesh`; it is made of
/// `springs` or of a `film`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MembraneTissue {
    /// Its name, unique in the scene.
    pub name: String,
    /// A rectangle of equilateral triangles in the plane z = 0, one corner at the origin.
    #[serde(default)]
    pub hexagonal: Option<HexagonalSpec>,
    /// A rectangle of rows and columns.
    #[serde(default)]
    pub sheet: Option<FlatSpec>,
    /// A round sheet about the z axis, flat or part of a sphere.
    #[serde(default)]
    pub disc: Option<DiscSpec>,
    /// A mesh file (STL, OBJ, PLY, OFF, VTK, VTU, MSH), relative to this file and inside its folder: one open sheet.
    #[serde(default)]
    pub mesh: Option<String>,
    /// Every triangle is cut into four, so many times, 0 to 4, to see whether results depend on the mesh: what is given for every node (`mass`, `node`, `floor`) is shared out among more of them, a tear looks
    /// and goes as far as before unless `reach`, `least` and `most` say otherwise, and nodes keep their numbers. Default: 0.
    #[serde(default)]
    pub refine: u32,
    /// Scales the mesh; 0.001 for a file in millimetres. Default: 1.
    #[serde(default = "one")]
    pub scale: f64,
    /// Moves the whole membrane, m. Default: not.
    #[serde(default)]
    pub position: Vector,
    /// Turns the whole membrane about the origin before it is moved: the axis of the turn, its length the angle in rad. Default: not.
    #[serde(default)]
    pub rotation: Vector,
    /// Every edge is a spring, every node has the same mass.
    #[serde(default)]
    pub springs: Option<SpringsSpec>,
    /// A sheet that can be pulled but not pushed, the same whatever its mesh (a tension field).
    #[serde(default)]
    pub film: Option<FilmSpec>,
    /// What resists bending. Default: nothing.
    #[serde(default)]
    pub bending: Option<BendingSpec>,
    /// Rate at which motion dies out, 1/s, ≥ 0. Default: 5.
    #[serde(default = "damping")]
    pub damping: f64,
    /// Everything is this much smaller at rest than it lies, above 0; below 1 it is under tension. Default: 1.
    #[serde(default = "one")]
    pub prestress: f64,
    /// How it sticks to what is below it. Default: not.
    #[serde(default)]
    pub adhesion: Option<AdhesionSpec>,
    /// Lets a flap that is folded over lie flat: springs that are compressed where it comes off go slack, and are back after this time, s, > 0. Only
    /// for `springs` without bending. Default: not.
    #[serde(default)]
    pub fold_support: Option<f64>,
    /// How it tears. Default: not.
    #[serde(default)]
    pub tearing: Option<TearingSpec>,
    /// Cuts that it has from the start: points (m) along each, two or more. Each goes along the edges nearest to it.
    #[serde(default)]
    pub slit: Vec<Vec<Vector>>,
    /// A curve that is drawn on it, along which it is to be torn: the report says how far tears are from it.
    #[serde(default)]
    pub path: Option<PathSpec>,
    /// Nodes that are fixed in space.
    #[serde(default)]
    pub fixed: Vec<MembraneSelect>,
    /// Gravity acts on it. Default: false; it is light.
    #[serde(default)]
    pub gravity: bool,
    /// Static and dynamic coefficient of friction, each multiplied with that of what touches it, and the root taken. Left out:
    /// instruments slip, bodies rub at 0.4 and 0.3.
    #[serde(default)]
    pub friction: Option<[f64; 2]>,
    /// How thick it is to itself and to other tissues with a thickness, m, > 0: parts that share no corner stay this far apart (of two tissues, the
    /// mean). Less than an edge of its triangles. Left out: it passes through itself and other tissues.
    #[serde(default)]
    pub contact_thickness: Option<f64>,
    /// Force at which a grasped point slips out of the jaws, N, above 0, at most 1000. Default: 1000, none does.
    #[serde(default = "bears")]
    pub bears: f64,
    /// Where its constants were measured. Left out: they are guesses.
    #[serde(default)]
    pub source: Option<String>,
    /// Colour: red, green, blue from 0 to 1.
    #[serde(default = "pale")]
    pub colour: Vector,
    /// What its surface looks like. Default: plain.
    #[serde(default)]
    pub look: Look,
}

fn bears() -> f64 {
    1e3
}

fn damping() -> f64 {
    5.0
}

fn pale() -> Vector {
    [0.85, 0.72, 0.55]
}

/// A rectangle of equilateral triangles. Default: the source's test sheet, 367 nodes and 660 triangles.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HexagonalSpec {
    /// Rows of nodes, 2 or more. Default: 21.
    pub rows: usize,
    /// Nodes of the first row and every second after it, 1 or more; the others have one more. Default: 17.
    pub columns: usize,
    /// Length of every edge, m, > 0. Default: 0.0005.
    pub edge: f64,
}

impl Default for HexagonalSpec {
    fn default() -> Self {
        Self {
            rows: 21,
            columns: 17,
            edge: 0.5e-3,
        }
    }
}

/// A rectangle of rows and columns.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlatSpec {
    /// From one corner, the origin, along the rows, m.
    pub u: Vector,
    /// From there along the columns, m.
    pub v: Vector,
    /// Rows of nodes, 2 or more.
    pub rows: usize,
    /// Nodes in a row, 2 or more.
    pub columns: usize,
}

/// A round sheet.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiscSpec {
    /// From the middle to the rim along the sheet, m, > 0.
    pub radius: f64,
    /// Rings of nodes around its middle, 1 or more; the k-th has 6 k.
    pub rings: usize,
    /// Radius of the sphere about the origin that it is a part of, m: its middle is at +z. Left out: it is flat, its middle at the origin.
    #[serde(default)]
    pub sphere: Option<f64>,
}

/// Every edge a spring, every node of the same mass.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SpringsSpec {
    /// Constant of every spring, N/m, > 0.
    pub stiffness: f64,
    /// Mass of every node, kg.
    pub mass: f64,
}

/// A thin sheet that wrinkles instead of being pushed together.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FilmSpec {
    /// Young's modulus times thickness, N/m, > 0.
    pub stiffness: f64,
    /// Poisson's ratio, 0 to 0.5. Default: 0.3.
    #[serde(default = "poisson")]
    pub poisson: f64,
    /// Mass for each area, kg/m², > 0.
    pub density: f64,
}

fn poisson() -> f64 {
    0.3
}

/// What resists bending; give one of `springs`, `rigidity`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BendingSpec {
    /// Springs between the neighbours of a node, N/m, > 0.
    #[serde(default)]
    pub springs: Option<f64>,
    /// Flexural rigidity E t³ / 12 (1 − ν²), N·m, > 0: the angle at every edge resists.
    #[serde(default)]
    pub rigidity: Option<f64>,
}

/// How a membrane sticks; give one of `node`, `area`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdhesionSpec {
    /// Hold of every node, N/m, > 0.
    #[serde(default)]
    pub node: Option<f64>,
    /// Hold for each area, N/m³, > 0: peeling then does not depend on the mesh.
    #[serde(default)]
    pub area: Option<f64>,
    /// Distance from where it sticks at which a node begins to come off, m, > 0.
    pub distance: f64,
    /// Time in which a node that comes off loses its hold, s, > 0. Default: 0.1.
    #[serde(default = "release")]
    pub release: f64,
    /// A body of prescribed motion that it sticks to and moves with, by name. Left out: what does not move.
    #[serde(default)]
    pub ground: Option<String>,
    /// What has come off can't sink below where the membrane lay: force on a node for each depth below the ball or plane that its shape is a part of, N/m, above 0, at
    /// most 1e6. Left out: it can.
    #[serde(default)]
    pub floor: Option<f64>,
    /// Nodes that have come off from the start.
    #[serde(default)]
    pub loose: Vec<MembraneSelect>,
}

fn release() -> f64 {
    0.1
}

/// Selects nodes of a membrane; give one of `rim`, `nodes`, `within`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MembraneSelect {
    /// All nodes on its outer rim.
    #[serde(default)]
    pub rim: bool,
    /// These nodes, counted from 0.
    #[serde(default)]
    pub nodes: Option<Vec<u32>>,
    /// All nodes inside this ball.
    #[serde(default)]
    pub within: Option<Ball>,
}

/// How tears go through the triangles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AlgorithmName {
    /// The tip moves freely.
    #[default]
    Continuous,
    /// A node is snapped onto the way, and the edge to it opens like a zipper.
    PseudoContinuous,
    /// To compare: the whole edge that is stretched least opens.
    EdgeBased,
    /// To compare: the whole edge across the most stretched one opens.
    Perpendicular,
    /// To compare: triangles are taken out.
    Deletion,
    /// To compare: the way is cut into the triangles as it comes.
    Subdivision,
}

/// How stress is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MeasureName {
    /// Half the force of all springs at a node, N, pushed ones included.
    Printed,
    /// The same without what is pushed, N.
    Pulled,
    /// The greatest principal tension, N/m; at a tip what a tear that sets free as much energy bears on average within `reach`.
    Tension,
}

/// How a membrane tears. Thresholds are in N for `printed` and `pulled`, in N/m for `tension`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TearingSpec {
    /// How tears go through the triangles. Default: continuous.
    #[serde(default)]
    pub algorithm: AlgorithmName,
    /// How stress is measured. Default: tension.
    #[serde(default = "tension")]
    pub measure: MeasureName,
    /// How far a tip looks around for its tension, m, > 0. Default: twice the mean edge.
    #[serde(default)]
    pub reach: Option<f64>,
    /// Stress above which a tear goes on, > 0.
    pub tip: f64,
    /// Stress above which a rim tears, at least `tip`.
    pub edge: f64,
    /// Stress above which it tears inside, at least `edge`.
    pub inner: f64,
    /// Stress at a tip from which it runs as fast as it can, above `tip`.
    pub fastest: f64,
    /// The least way of a tip at a time, m. Default: 0.002 of the mean edge.
    #[serde(default)]
    pub least: Option<f64>,
    /// The greatest. Default: 0.6 of the mean edge.
    #[serde(default)]
    pub most: Option<f64>,
    /// How far a tip stays away from the side in front of it, m. Default: 0.02 of the mean edge.
    #[serde(default)]
    pub gap: Option<f64>,
    /// Nodes nearer to a tip are drawn onto it, and tears nearer to a rim end there, m. Default: 0.3 of the mean edge.
    #[serde(default)]
    pub near: Option<f64>,
    /// Longer sides of a torn edge are split, m. Default: the mean edge.
    #[serde(default)]
    pub side: Option<f64>,
    /// How often it may tear in a step, 1 to 100. Default: 1.
    #[serde(default = "once")]
    pub calls: u32,
}

fn tension() -> MeasureName {
    MeasureName::Tension
}

fn once() -> u32 {
    1
}

/// A curve drawn on a membrane where it lies at rest; give one of `circle`, `points`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PathSpec {
    /// A circle on the membrane: all points at this distance from a middle.
    #[serde(default)]
    pub circle: Option<Ball>,
    /// A line through these points, m; two or more, at most 32.
    #[serde(default)]
    pub points: Option<Vec<Vector>>,
    /// How wide it is drawn, m, > 0. Default: 0.0001.
    #[serde(default = "width")]
    pub width: f64,
    /// Colour: red, green, blue from 0 to 1. Default: black.
    #[serde(default)]
    pub colour: Vector,
}

fn width() -> f64 {
    1e-4
}

//! What a scene file may say. All quantities in SI units: metres, kilograms, seconds, newtons, radians.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Three numbers: a point or a direction.
pub type Vector = [f64; 3];

/// A scene.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SceneFile {
    /// Version of the format: 1.
    pub trocar: u32,
    /// What the scene is called.
    #[serde(default)]
    pub name: String,
    /// What it shows, in a sentence or two.
    #[serde(default)]
    pub about: String,
    /// Other scene files whose contents are added to this one. Paths are relative to this file and stay
    /// inside its folder.
    #[serde(default)]
    pub include: Vec<String>,
    /// Gravity and the step.
    #[serde(default)]
    pub world: Option<World>,
    /// Where one looks from.
    #[serde(default)]
    pub camera: Option<Camera>,
    /// Closed tissues with one central node (gall bladder, kidney, …).
    #[serde(default)]
    pub organ: Vec<TubeTissue>,
    /// Open tubes with a central node in every ring (ducts, vessels, bowel).
    #[serde(default)]
    pub pipe: Vec<TubeTissue>,
    /// Open sheets without central nodes (connective tissue, membranes).
    #[serde(default)]
    pub sheet: Vec<SheetTissue>,
    /// Rings of two tissues that move as one (hyper nodes).
    #[serde(default)]
    pub couple: Vec<Couple>,
    /// Rigid boxes.
    #[serde(default)]
    pub body: Vec<Body>,
    /// Point masses.
    #[serde(default)]
    pub particle: Vec<Particle>,
    /// Ties between two points.
    #[serde(default)]
    pub tie: Vec<TieSpec>,
    /// Instruments.
    #[serde(default)]
    pub instrument: Vec<Instrument>,
    /// What is only seen: organs and vessels that do not move.
    #[serde(default)]
    pub scenery: Vec<Scenery>,
}

/// The JSON Schema of scene files.
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(SceneFile)
}

/// Gravity and the step.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct World {
    /// Gravity, m/s². Default: [0, -9.81, 0]; y is up.
    pub gravity: Vector,
    /// Length of a step, s, between 0.0001 and 0.05. Default: 0.002.
    pub step: f64,
}

impl Default for World {
    fn default() -> Self {
        Self {
            gravity: [0.0, -9.81, 0.0],
            step: 0.002,
        }
    }
}

/// Where one looks from.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Camera {
    /// The eye, m.
    pub eye: Vector,
    /// What it looks at, m.
    pub target: Vector,
    /// Which way is up in the picture. Default: [0, 1, 0].
    #[serde(default = "up")]
    pub up: Vector,
    /// Height of the view, degrees, between 5 and 150. Default: 50.
    #[serde(default = "field_of_view")]
    pub field_of_view: f64,
}

fn up() -> Vector {
    [0.0, 1.0, 0.0]
}

fn field_of_view() -> f64 {
    50.0
}

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
    /// Nodes that are fixed in space.
    #[serde(default)]
    pub fixed: Vec<Select>,
    /// Colour: red, green, blue from 0 to 1.
    #[serde(default = "flesh")]
    pub colour: Vector,
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
    /// Nodes that are fixed in space. `ring` selects a row.
    #[serde(default)]
    pub fixed: Vec<Select>,
    /// Colour: red, green, blue from 0 to 1.
    #[serde(default = "flesh")]
    pub colour: Vector,
}

fn flesh() -> Vector {
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

/// What a tissue is made of. Every node and element of it gets the same constants.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
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
    #[serde(default = "gain")]
    pub gain: [f64; 2],
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
    /// Bending of a pipe at its central nodes, N/rad, ≥ 0. Default: 0, none.
    #[serde(default)]
    pub bending: f64,
    /// Dampers from ring to ring of a pipe, N·s/m, ≥ 0. Default: 0, none.
    #[serde(default)]
    pub brace: f64,
    /// Gravity acts on it. Default: true.
    #[serde(default = "yes")]
    pub gravity: bool,
    /// Force at which a grasped point tears out of the instrument, N, > 0. Default: 2.
    #[serde(default = "bears")]
    pub bears: f64,
}

fn gain() -> [f64; 2] {
    [1.0; 2]
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
fn yes() -> bool {
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

/// A ring of a tissue.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ring {
    /// Name of the organ or pipe.
    pub tissue: String,
    /// Which ring, counted from 0.
    pub ring: usize,
}

/// Two rings that move as one. The slave's ring is moved onto the master's when the scene is built.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Couple {
    /// The ring that leads.
    pub master: Ring,
    /// The ring that follows; with as many nodes.
    pub slave: Ring,
    /// How much of the slave's force the master takes, 0 to 1. Default: 1; less loses momentum.
    #[serde(default = "one")]
    pub force_factor: f64,
}

fn one() -> f64 {
    1.0
}

/// A rigid box.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Body {
    /// Its name, unique in the scene.
    pub name: String,
    /// Mass, kg, > 0.
    pub mass: f64,
    /// Half of its edges, m, > 0.
    pub half_extents: Vector,
    /// Centre, m.
    pub position: Vector,
    /// Orientation: the axis of a turn, its length the angle in rad. Default: none.
    #[serde(default)]
    pub rotation: Vector,
    /// Velocity, m/s. Default: at rest.
    #[serde(default)]
    pub velocity: Vector,
    /// Angular velocity, rad/s. Default: at rest.
    #[serde(default)]
    pub spin: Vector,
    /// Colour: red, green, blue from 0 to 1.
    #[serde(default = "steel")]
    pub colour: Vector,
}

fn steel() -> Vector {
    [0.62, 0.66, 0.72]
}

/// A point mass.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Particle {
    /// Its name, unique in the scene.
    pub name: String,
    /// Mass, kg, > 0.
    pub mass: f64,
    /// Position, m.
    pub position: Vector,
    /// Velocity, m/s. Default: at rest.
    #[serde(default)]
    pub velocity: Vector,
}

/// A point on something; give one of `world`, `body`, `particle`, `tissue`.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnchorSpec {
    /// A fixed point, m.
    #[serde(default)]
    pub world: Option<Vector>,
    /// A body, by name; with `at` in its frame.
    #[serde(default)]
    pub body: Option<String>,
    /// A particle, by name.
    #[serde(default)]
    pub particle: Option<String>,
    /// A tissue, by name; with `node`, or with `at`: the closest point of its surface at rest.
    #[serde(default)]
    pub tissue: Option<String>,
    /// A surface node of the tissue, counted from 0.
    #[serde(default)]
    pub node: Option<u32>,
    /// A point: in the body's frame, or in the world for a tissue, m.
    #[serde(default)]
    pub at: Option<Vector>,
}

/// Keeps two points together, or at a distance.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TieSpec {
    /// One point.
    pub a: AnchorSpec,
    /// The other point.
    pub b: AnchorSpec,
    /// Distance to keep, m, > 0. Left out: the points are kept together.
    #[serde(default)]
    pub length: Option<f64>,
}

/// What an instrument does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum InstrumentKind {
    /// Two jaws that hold what is between them.
    #[default]
    Grasper,
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
    /// Jaw angle at the start, rad. Default: 0.7.
    #[serde(default = "jaw")]
    pub jaw: f64,
    /// Radius of the shaft, m. Default: 0.0025.
    #[serde(default = "shaft_radius")]
    pub shaft_radius: f64,
    /// Length of a jaw, m. Default: 0.02.
    #[serde(default = "jaw_length")]
    pub jaw_length: f64,
    /// Radius of a jaw's hull, m. Default: 0.0015.
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
    /// How much pull the jaws hold, N. Default: 8.
    #[serde(default = "grip_force")]
    pub grip_force: f64,
}

fn jaw() -> f64 {
    0.7
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

/// Something that is only seen: a mesh from a file, or a tube.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenery {
    /// Its name, unique in the scene.
    pub name: String,
    /// A mesh file (STL, OBJ, PLY, OFF, VTK, VTU, MSH), relative to this file and inside its folder.
    #[serde(default)]
    pub mesh: Option<String>,
    /// Or a tube, closed at both ends.
    #[serde(default)]
    pub tube: Option<SceneryTube>,
    /// Moves the mesh, m. Default: not.
    #[serde(default)]
    pub position: Vector,
    /// Scales the mesh; 0.001 for a file in millimetres. Default: 1.
    #[serde(default = "one")]
    pub scale: f64,
    /// Colour: red, green, blue from 0 to 1.
    #[serde(default = "liver")]
    pub colour: Vector,
    /// Opacity, 0 to 1. Default: 1.
    #[serde(default = "one")]
    pub opacity: f64,
}

fn liver() -> Vector {
    [0.45, 0.16, 0.13]
}

/// A tube that is only seen.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SceneryTube {
    /// Points its centre line goes through, m; two or more.
    pub path: Vec<Vector>,
    /// Half width and half height at each point of the path, m; or one pair for all.
    pub radii: Vec<[f64; 2]>,
    /// Rings along the path. Default: 24.
    #[serde(default = "scenery_rings")]
    pub rings: usize,
    /// Nodes in a ring. Default: 24.
    #[serde(default = "scenery_rings")]
    pub around: usize,
}

fn scenery_rings() -> usize {
    24
}

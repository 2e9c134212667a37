//! What a scene file may say, as text (K77): what matters as a net, what matters less as a body, as scenery or as places in space (K58). All quantities in SI units: metres, kilograms, seconds, newtons, radians.

mod command;
mod element;
mod membrane;
mod rigid;
mod tissue;
mod trocar;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use command::{CommandSpec, FlagSpec, SetSpec};
pub use element::{
    ActiveSpec, AnswerSpec, BendSpec, CentreName, CentreSpec, DrivenSpec, EditSpec, ElementSpec,
    FreeNodeSpec, GlobalSpec, InertiaName, InertiaSpec, NetTissue, NodeName, NodeSpec, PulseSpec,
    SignalSpec, SineSpec, SurfaceTissue, TorsionSpec, WhichSprings, YieldSpec,
};
pub use membrane::{
    AdhesionSpec, AlgorithmName, BendingSpec, DiscSpec, FilmSpec, FlatSpec, HexagonalSpec,
    MeasureName, MembraneSelect, MembraneTissue, PathSpec, SpringsSpec, TearingSpec,
};
pub use rigid::{
    BaseName, BaseSpec, BaseThere, Body, CurveSpec, DriveSpec, FormSpec, GridSpec, JointKind,
    JointSpec, Measure, MeshSpec, Motion, PartSpec, Particle, PidSpec, RodSpec, ServoSpec,
    SpeedSpec, SpringSpec, SurfaceSpec, Timed,
};
pub use tissue::{
    Ball, Couple, FlagsSpec, IntegratorName, LawSpec, MaterialSpec, NetSpec, Ring, Select,
    SheetTissue, TubeTissue,
};
pub use trocar::{EndoscopeSpec, Instrument, InstrumentKind, StickSpec};

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
    /// The endoscope; with it no camera is needed.
    #[serde(default)]
    pub endoscope: Option<EndoscopeSpec>,
    /// Closed tissues with one central node (gall bladder, kidney, …).
    #[serde(default)]
    pub organ: Vec<TubeTissue>,
    /// Open tubes with a central node in every ring (ducts, vessels, bowel).
    #[serde(default)]
    pub pipe: Vec<TubeTissue>,
    /// Open sheets without central nodes (connective tissue, membranes).
    #[serde(default)]
    pub sheet: Vec<SheetTissue>,
    /// Tissues of their own nodes, neighbours and facets.
    #[serde(default)]
    pub net: Vec<NetTissue>,
    /// Tissues in the shape of closed meshes.
    #[serde(default)]
    pub surface: Vec<SurfaceTissue>,
    /// Thin sheets that stick, peel, fold and tear.
    #[serde(default)]
    pub membrane: Vec<MembraneTissue>,
    /// Nodes of two tissues that move as one (hyper nodes).
    #[serde(default)]
    pub couple: Vec<Couple>,
    /// Elements between different things.
    #[serde(default)]
    pub element: Vec<GlobalSpec>,
    /// Functions of time that drive elements.
    #[serde(default)]
    pub signal: Vec<SignalSpec>,
    /// What is done at set times.
    #[serde(default)]
    pub command: Vec<CommandSpec>,
    /// Rigid bodies.
    #[serde(default)]
    pub body: Vec<Body>,
    /// Point masses.
    #[serde(default)]
    pub particle: Vec<Particle>,
    /// Ties between two points.
    #[serde(default)]
    pub tie: Vec<TieSpec>,
    /// Joints between two things.
    #[serde(default)]
    pub joint: Vec<JointSpec>,
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
    /// How joints are solved. Default: auto, the best for each set of joints that hang together.
    pub solver: SolverName,
    /// Error at which a joint is right, m or rad, between 1e-12 and 0.01. Default: 5e-10.
    pub tolerance: f64,
    /// Relative velocity at which a joint is right, m/s or rad/s, between 1e-12 and 1. Default: twice the tolerance.
    pub velocity_tolerance: Option<f64>,
    /// Velocities of joints and contacts are made right after each substep, too. Without it a step is cheaper and less
    /// exact. Default: true.
    pub correct_velocities: bool,
    /// Order of a substep: 2, 4 or 6. Above 2 its impulses are worked out five or nine times on the way, wherever joints alone
    /// act on bodies, without contacts, drives, dampers or stops. Default: 2.
    pub order: u32,
    /// Sweeps over all constraints in a substep at most. Default: 60.
    pub iterations: u32,
    /// Sweeps over the contacts of bodies in a substep at most. Default: 80, and fewer for heaps of thousands of contacts, down to 8.
    pub sweeps: Option<u32>,
    /// Sweeps end when none moves the point of a contact by more than this in a substep, m, between 1e-12 and 0.01. Default: 1e-9.
    pub contact_tolerance: f64,
    /// The same for velocities after a substep, m/s, between 1e-12 and 1. Default: 1e-6.
    pub contact_velocity_tolerance: f64,
    /// Sweeps after which stacks are carried from below, as if nothing could push down what bears it: cheaper, but what is
    /// below does not feel what is above. Default: 0, never.
    pub shock: u32,
    /// How bodies turn. Default: momentum.
    pub turning: TurningName,
    /// Bodies at rest sleep until something touches them. Default: true.
    pub sleep: bool,
    /// Slow motion: how much of each step's time passes in the scene, above 0, at most 1. Hands move as fast as ever.
    /// Default: 1.
    pub slow_motion: f64,
    /// Substeps follow the state: as many as the tissue's springs as they are, and if they are not linear the speed of their ends, have asked for within the last second, instead
    /// of as many as any state may. Default: false.
    pub adaptive: bool,
    /// Coordinates beyond this, m, are refused; at most 10000. Default: 10.
    pub reach: f64,
}

/// How joints are solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SolverName {
    /// The best for each set of joints that hang together.
    #[default]
    Auto,
    /// One joint after the other, again and again.
    Iterative,
    /// One sparse linear system of all impulses.
    System,
    /// Along the graph of bodies and joints: linear in their number for trees.
    Graph,
}

/// How bodies turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TurningName {
    /// Angular momentum is carried over exactly.
    #[default]
    Momentum,
    /// The classical scheme of fourth order.
    RungeKutta,
}

impl Default for World {
    fn default() -> Self {
        Self {
            gravity: [0.0, -9.81, 0.0],
            step: 0.002,
            solver: SolverName::Auto,
            tolerance: 5e-10,
            velocity_tolerance: None,
            correct_velocities: true,
            order: 2,
            iterations: 60,
            sweeps: None,
            contact_tolerance: 1e-9,
            contact_velocity_tolerance: 1e-6,
            shock: 0,
            turning: TurningName::Momentum,
            sleep: true,
            slow_motion: 1.0,
            adaptive: false,
            reach: 10.0,
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

/// What the surface of something looks like. It has no part in the simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Look {
    /// Its colour, nothing else.
    #[default]
    Plain,
    /// Liver.
    Liver,
    /// Gall bladder.
    GallBladder,
    /// A duct.
    Duct,
    /// A vein.
    Vein,
    /// An artery.
    Artery,
    /// Fat.
    Fat,
    /// Bowel.
    Bowel,
    /// Peritoneum.
    Peritoneum,
    /// A thin membrane.
    Membrane,
    /// Muscle.
    Muscle,
    /// Steel.
    Steel,
    /// Plastic.
    Plastic,
}

fn one() -> f64 {
    1.0
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
    /// A node of the tissue: a surface node, counted from 0 with added ones after them, or `{ centre = 0 }`, a central one.
    #[serde(default)]
    pub node: Option<NodeName>,
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
    /// What its surface looks like. Default: plain.
    #[serde(default)]
    pub look: Look,
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

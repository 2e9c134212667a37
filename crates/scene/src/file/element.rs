//! What a scene file may say of single elements and nodes of tissues, of what joins different things, and of what drives them.

use super::{AnchorSpec, LawSpec, Vector};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How an element answers; give one of `stiffness` (a spring), `damping` (a damper) and `bits` (as Kuhn's model files write it).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerSpec {
    /// A spring, N/m or N/m², ≥ 0.
    #[serde(default)]
    pub stiffness: Option<f64>,
    /// A damper, N·s/m or N·s²/m², ≥ 0.
    #[serde(default)]
    pub damping: Option<f64>,
    /// Linear or quadratic. Default: linear.
    #[serde(default)]
    pub law: LawSpec,
    /// Gain when shorter and when longer than at rest, ≥ 0. Default: [1, 1].
    #[serde(default = "ones")]
    pub gain: [f64; 2],
    /// Dead zones when shorter and when longer than at rest, m: there it does not answer. Default: [0, 0].
    #[serde(default)]
    pub dead: [f64; 2],
    /// Greatest push and greatest pull, N; `inf` for none. [0, inf] bears tension only. Default: none.
    #[serde(default = "unlimited")]
    pub limit: [f64; 2],
    /// Points (stretch in m, what the law is given in its place), ascending: any piecewise linear transform, in the place of
    /// gains and dead zones.
    #[serde(default)]
    pub pieces: Vec<[f64; 2]>,
    /// It yields, and remembers it.
    #[serde(default)]
    pub yields: Option<YieldSpec>,
    /// Kuhn's type bits, in the place of all else but `yields`: 0x1 linear, 0x2 quadratic, 0x10 pulls only, 0x20 pushes only, 0x40 and 0x80
    /// dead zone when longer and when shorter, 0x100 damper, 0x1000 and 0x2000 limited pull and push.
    #[serde(default)]
    pub bits: Option<u32>,
    /// The constant k of such an element, ≥ 0.
    #[serde(default)]
    pub constant: Option<f64>,
    /// Its one parameter: m (m/s) of dead zones, N of limits. Default: 0.
    #[serde(default)]
    pub parameter: Option<f64>,
}

/// Nothing said; `law` wants one of the three.
impl Default for AnswerSpec {
    fn default() -> Self {
        Self {
            stiffness: None,
            damping: None,
            law: LawSpec::default(),
            gain: ones(),
            dead: [0.0; 2],
            limit: unlimited(),
            pieces: Vec::new(),
            yields: None,
            bits: None,
            constant: None,
            parameter: None,
        }
    }
}

/// How a spring yields.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct YieldSpec {
    /// Strain at which it begins, as a part of the rest length, ≥ 0.
    pub strain: f64,
    /// Hardening, ≥ 0; 0 flows on under a constant force. Default: 0.
    #[serde(default)]
    pub hardening: f64,
    /// So much of its rest length it flows at most, from 0 to below 1. Default: 0.5.
    #[serde(default = "half")]
    pub most: f64,
}

pub(super) fn ones() -> [f64; 2] {
    [1.0; 2]
}
pub(super) fn unlimited() -> [f64; 2] {
    [f64::INFINITY; 2]
}
fn half() -> f64 {
    0.5
}

/// A function of time that drives elements; give one of `sine`, `pulse`, `table`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignalSpec {
    /// Its name.
    pub name: String,
    /// It swings.
    #[serde(default)]
    pub sine: Option<SineSpec>,
    /// From 0 to 1 and back, again and again: a heart beat.
    #[serde(default)]
    pub pulse: Option<PulseSpec>,
    /// Straight lines through points: time in s, ascending, and value.
    #[serde(default)]
    pub table: Vec<[f64; 2]>,
}

/// mean + amplitude · sin(2π (rate t + phase)).
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SineSpec {
    /// About which it swings. Default: 0.
    #[serde(default)]
    pub mean: f64,
    /// How far it swings. Default: 1.
    #[serde(default = "super::one")]
    pub amplitude: f64,
    /// Hz, ≥ 0.
    pub rate: f64,
    /// In turns. Default: 0.
    #[serde(default)]
    pub phase: f64,
}

/// From 0 to 1 and back in straight lines.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PulseSpec {
    /// When the first begins, s. Default: 0.
    #[serde(default)]
    pub start: f64,
    /// From one beginning to the next, s.
    pub period: f64,
    /// How long it rises, s, > 0.
    pub rise: f64,
    /// How long it stays, s. Default: 0.
    #[serde(default)]
    pub hold: f64,
    /// How long it falls, s, > 0.
    pub fall: f64,
}

/// What drives an element; give one of `force`, `length`, `stiffness`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ActiveSpec {
    /// Name of the signal.
    pub signal: String,
    /// So many newtons of tension for each unit of the signal: a muscle.
    #[serde(default)]
    pub force: Option<f64>,
    /// The rest length grows by so much of itself for each unit of the signal; −0.2 contracts by a fifth.
    #[serde(default)]
    pub length: Option<f64>,
    /// The constant of its law grows by so much of itself for each unit of the signal, and never falls below 0; 2 makes it three times as stiff.
    #[serde(default)]
    pub stiffness: Option<f64>,
}

/// A node of a tissue: a surface node, counted from 0, or a central one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum NodeName {
    /// A surface node, counted from 0; nodes that were added come after them.
    Surface(u32),
    /// A central node.
    Central(CentreName),
}

/// A central node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CentreName {
    /// Which one, counted from 0.
    pub centre: u32,
}

/// An element inside a tissue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ElementSpec {
    /// One end.
    pub a: NodeName,
    /// The other end.
    pub b: NodeName,
    /// How it answers.
    pub answer: AnswerSpec,
    /// Length at rest, m. Left out: as far as its ends are apart.
    #[serde(default)]
    pub rest_length: Option<f64>,
    /// By what part it is shorter at rest than that, 0 to 1: pre-tension. Default: 0.
    #[serde(default)]
    pub shorten: f64,
    /// What drives it.
    #[serde(default)]
    pub drive: Option<ActiveSpec>,
}

/// An element between points of different things, or a point and a place in space; give one of `answer` (a spring or damper), `bend` and `torsion`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GlobalSpec {
    /// One end.
    pub a: AnchorSpec,
    /// The other end. Left out: the place where `a` is when the scene begins; what bends needs it.
    #[serde(default)]
    pub b: Option<AnchorSpec>,
    /// How a spring or damper answers.
    #[serde(default)]
    pub answer: Option<AnswerSpec>,
    /// Keeps the angle at `middle` between `a` and `b`, N/rad, ≥ 0. Any one of the three may be all that moves.
    #[serde(default)]
    pub bend: Option<f64>,
    /// The point that bends.
    #[serde(default)]
    pub middle: Option<AnchorSpec>,
    /// Turns `a`, a body or central node, back to how it stands in `b`, another such or a place in space, when the scene begins, N·m/rad, ≥ 0.
    #[serde(default)]
    pub torsion: Option<f64>,
    /// Length at rest of a spring, m. Left out: as far as its ends are apart.
    #[serde(default)]
    pub rest_length: Option<f64>,
    /// By what part it is shorter at rest than that, 0 to 1. Default: 0.
    #[serde(default)]
    pub shorten: f64,
    /// What drives it.
    #[serde(default)]
    pub drive: Option<ActiveSpec>,
}

/// Elements that are driven together; all of them, or those `around` or `along`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DrivenSpec {
    /// Which of the springs of the surface. Default: all.
    #[serde(default)]
    pub which: WhichSprings,
    /// Those of these rings (rows of a sheet) only, first and last. Default: all.
    #[serde(default)]
    pub rings: Option<[usize; 2]>,
    /// What drives them.
    pub drive: ActiveSpec,
}

/// Which springs of a surface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WhichSprings {
    /// All.
    #[default]
    All,
    /// Those within a ring (a row of a sheet).
    Around,
    /// Those from ring to ring, straight on.
    Along,
}

/// What of a tissue is different from what its shape makes of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EditSpec {
    /// Central nodes that are added, of regions of an organ for instance; they are counted after those that the shape has. Their `position` is in the tissue's
    /// own frame; their `father` is the name of an added one, or the number of any.
    pub add_centres: Vec<CentreSpec>,
    /// Nodes that are added, without geometry; they are counted after those of the surface.
    pub add_nodes: Vec<FreeNodeSpec>,
    /// Nodes that are different.
    pub nodes: Vec<NodeSpec>,
    /// Elements that are added; two between the same nodes act side by side.
    pub elements: Vec<ElementSpec>,
    /// Elements that are left out, as pairs of nodes.
    pub without_elements: Vec<[NodeName; 2]>,
    /// Surface nodes that are left out, with their elements and triangles; others keep their numbers in this file.
    pub without_nodes: Vec<u32>,
    /// Springs of the surface that are driven.
    pub driven: Vec<DrivenSpec>,
    /// Elements that bend: each keeps the angle at a node.
    pub bends: Vec<BendSpec>,
    /// Elements that twist: each turns a central node back to how it was built.
    pub torsions: Vec<TorsionSpec>,
}

/// Keeps the angle at a node between two others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BendSpec {
    /// A neighbour, the node that bends, the other neighbour.
    pub nodes: [NodeName; 3],
    /// N/rad, ≥ 0.
    pub stiffness: f64,
}

/// Turns a central node back to how it was built.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TorsionSpec {
    /// Which one, counted from 0.
    pub centre: u32,
    /// N·m/rad, ≥ 0.
    pub stiffness: f64,
    /// Two central nodes, counted from 0: it is then turned along the line from the first to the second, as it was built, instead of back to how it stood.
    /// Default: none.
    #[serde(default)]
    pub along: Option<[u32; 2]>,
}

impl EditSpec {
    /// True if the signal of this name drives any of it.
    pub fn is_driven_by(&self, signal: &str) -> bool {
        let single = self.elements.iter().filter_map(|e| e.drive.as_ref());
        let together = self.driven.iter().map(|d| &d.drive);
        single.chain(together).any(|drive| drive.signal == signal)
    }
}

/// A node without geometry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FreeNodeSpec {
    /// Where it is, in the tissue's own frame, m.
    pub position: Vector,
    /// Mass, kg. Left out: that of a surface node.
    #[serde(default)]
    pub mass: Option<f64>,
    /// Damping, N·s/m. Left out: that of a surface node.
    #[serde(default)]
    pub damping: Option<f64>,
    /// Shape memory, N/m or N/m². Default: 0.
    #[serde(default)]
    pub memory: f64,
    /// The central node that carries it. Left out: none.
    #[serde(default)]
    pub father: Option<u32>,
}

/// What resists the turning of a central node: moments about its axes, kg·m², "box" or "none".
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum InertiaSpec {
    /// Moments of inertia about its axes, kg·m².
    Moments(Vector),
    /// One of two.
    Named(InertiaName),
}

/// What resists the turning of a central node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum InertiaName {
    /// The moments of a box around what it carries.
    Box,
    /// It does not turn.
    None,
}

/// What is different about a node; what is left out stays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeSpec {
    /// Which node.
    pub node: NodeName,
    /// The central node that it belongs to, counted from 0, added ones after those of the shape; −1: none. Left out: as the shape says. Not of added nodes, which
    /// have a `father` of their own.
    #[serde(default)]
    pub father: Option<i64>,
    /// Where it is, in the tissue's own frame, m. Springs at it that are at rest stay so.
    #[serde(default)]
    pub position: Option<Vector>,
    /// Mass, kg.
    #[serde(default)]
    pub mass: Option<f64>,
    /// Damping, N·s/m.
    #[serde(default)]
    pub damping: Option<f64>,
    /// Rotational damping of a central node, N·m·s/rad.
    #[serde(default)]
    pub turn_damping: Option<f64>,
    /// What resists the turning of a central node: moments about its axes, kg·m²; "box", of a box around what it carries; or "none", and it does
    /// not turn.
    #[serde(default)]
    pub inertia: Option<InertiaSpec>,
    /// Shape memory, N/m or N/m².
    #[serde(default)]
    pub memory: Option<f64>,
    /// Law of its shape memory.
    #[serde(default)]
    pub memory_law: Option<LawSpec>,
    /// Where its shape memory draws it, in the tissue's own frame, m. Left out: to where it is.
    #[serde(default)]
    pub base: Option<Vector>,
    /// How freely it moves along the tissue's axes, 0 to 1.
    #[serde(default)]
    pub axes: Option<Vector>,
    /// Whether instruments and bodies touch the triangles at it; if not, they pass through. Left out: they do.
    #[serde(default)]
    pub touchable: Option<bool>,
    /// The mark that rules of behaviour refer to, 0 to 65535.
    #[serde(default)]
    pub mark: Option<u16>,
    /// It is marked for cutting.
    #[serde(default)]
    pub cut_mark: Option<bool>,
    /// A clip is on it when the scene begins.
    #[serde(default)]
    pub clipped: Option<bool>,
    /// It is on the lip of a cut that goes part of the way.
    #[serde(default)]
    pub cut: Option<bool>,
    /// It is on the lip of a cut that goes all the way.
    #[serde(default)]
    pub divided: Option<bool>,
    /// It was coagulated.
    #[serde(default)]
    pub coagulated: Option<bool>,
    /// Kuhn's attribute bits, in the place of all these and of `touchable` and `mark`: 0x2 clipped, 0x4 cut, 0x8 divided, 0x800 marked for cutting, 0x1000 not touchable,
    /// 0x2000 coagulated, 0x10000 and above the mark. All else tells what a node is or what is being done to it, and is not for a file to say.
    #[serde(default)]
    pub bits: Option<u32>,
}

/// A tissue of its own nodes, neighbours and facets.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NetTissue {
    /// Its name, unique in the scene.
    pub name: String,
    /// Where its surface nodes are, m.
    pub points: Vec<Vector>,
    /// Texture coordinates of the surface nodes; none, or a pair for each.
    #[serde(default)]
    pub texture: Vec<[f64; 2]>,
    /// Triangles over the surface nodes.
    #[serde(default)]
    pub facets: Vec<[u32; 3]>,
    /// Springs by the material, as pairs of surface nodes. Left out: along the edges of the facets.
    #[serde(default)]
    pub springs: Option<Vec<[u32; 2]>>,
    /// Central nodes.
    #[serde(default)]
    pub centres: Vec<CentreSpec>,
    /// For each surface node its central node; none, or one entry for each (−1: none).
    #[serde(default)]
    pub fathers: Vec<i64>,
    /// Moves the whole tissue, m. Default: not.
    #[serde(default)]
    pub position: Vector,
    /// Turns the whole tissue about the origin before it is moved: the axis of the turn, its length the angle in rad.
    #[serde(default)]
    pub rotation: Vector,
    /// What it is made of.
    pub material: super::MaterialSpec,
    /// What is different.
    #[serde(default)]
    pub edit: EditSpec,
    /// Nodes that are fixed in space.
    #[serde(default)]
    pub fixed: Vec<super::Select>,
    /// Colour: red, green, blue from 0 to 1.
    #[serde(default = "super::tissue::flesh")]
    pub colour: Vector,
    /// What its surface looks like. Default: plain.
    #[serde(default)]
    pub look: super::Look,
}

/// A central node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CentreSpec {
    /// What others call it: `father` names it. Left out: its number.
    #[serde(default)]
    pub name: Option<String>,
    /// Where it is, m.
    pub position: Vector,
    /// The central node that carries it, by name or number as text. Left out: none.
    #[serde(default)]
    pub father: Option<String>,
    /// Mass, kg. Left out: the material's.
    #[serde(default)]
    pub mass: Option<f64>,
    /// Moments of inertia about its axes, kg·m². Left out: of a box around what it carries.
    #[serde(default)]
    pub inertia: Option<Vector>,
    /// Shape memory towards its father, N/m or N/m². Default: 0.
    #[serde(default)]
    pub memory: f64,
}

/// A tissue in the shape of a closed mesh.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SurfaceTissue {
    /// Its name, unique in the scene.
    pub name: String,
    /// A closed mesh (STL, OBJ, PLY, OFF, VTK, VTU, MSH), relative to this file and inside its folder.
    pub mesh: String,
    /// Scales the mesh; 0.001 for a file in millimetres. Default: 1.
    #[serde(default = "super::one")]
    pub scale: f64,
    /// Nodes at most: a finer mesh is made coarser, where it is least curved first. Default: 1500.
    #[serde(default = "most_nodes")]
    pub most_nodes: usize,
    /// Mass of a square metre of its surface, kg/m²; the masses of nodes follow their share of it.
    #[serde(default)]
    pub surface_density: Option<f64>,
    /// Mass of a cubic metre, kg/m³: what it weighs is shared among its nodes and its centres. Left out with
    /// `surface_density`: the material's mass for each node.
    #[serde(default)]
    pub density: Option<f64>,
    /// Central nodes, each the father of what is nearest to it, 1 to 64; more than one hang on one that carries all. Default: 1.
    #[serde(default = "one_centre")]
    pub centres: usize,
    /// Springs across each edge, from one opposite corner to the other, too: it shears and folds less. Default: true.
    #[serde(default = "super::tissue::yes")]
    pub cross_links: bool,
    /// Moves the whole tissue, m. Default: not.
    #[serde(default)]
    pub position: Vector,
    /// Turns the whole tissue about the origin before it is moved: the axis of the turn, its length the angle in rad.
    #[serde(default)]
    pub rotation: Vector,
    /// What it is made of.
    pub material: super::MaterialSpec,
    /// What is different.
    #[serde(default)]
    pub edit: EditSpec,
    /// Nodes that are fixed in space.
    #[serde(default)]
    pub fixed: Vec<super::Select>,
    /// Colour: red, green, blue from 0 to 1.
    #[serde(default = "super::tissue::flesh")]
    pub colour: Vector,
    /// What its surface looks like. Default: plain.
    #[serde(default)]
    pub look: super::Look,
}

fn most_nodes() -> usize {
    1500
}
fn one_centre() -> usize {
    1
}

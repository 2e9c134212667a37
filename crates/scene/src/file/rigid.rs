//! Rigid bodies, particles, and the joints between them.

use super::{AnchorSpec, Vector, one};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether and how a body moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Motion {
    /// By what acts on it.
    #[default]
    Dynamic,
    /// Not at all.
    Static,
    /// At its `velocity` and `spin` for ever, whatever is in its way.
    Kinematic,
}

/// What a body is to collisions, and where its mass is.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FormSpec {
    /// A ball of this radius, m.
    Ball(f64),
    /// A box with these half edges, m.
    Box(Vector),
    /// A rod with round ends, along y.
    Capsule(RodSpec),
    /// A cylinder along y.
    Cylinder(RodSpec),
    /// The convex hull of these points, m.
    Hull(Vec<Vector>),
    /// A closed mesh from a file. Dynamic bodies collide as its convex hull, others as it is.
    Mesh(MeshSpec),
    /// All that lies against this direction from the body's position; static bodies only.
    HalfSpace(Vector),
    /// Several forms in one body.
    Compound(Vec<PartSpec>),
}

impl FormSpec {
    /// The mesh files it names.
    pub fn meshes(&self) -> Vec<&String> {
        match self {
            Self::Mesh(mesh) => vec![&mesh.file],
            Self::Compound(parts) => parts.iter().flat_map(|p| p.form.meshes()).collect(),
            _ => Vec::new(),
        }
    }
}

/// A rod along y.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RodSpec {
    /// Half of its length without round ends, m.
    pub half_length: f64,
    /// m.
    pub radius: f64,
}

/// A mesh from a file.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeshSpec {
    /// Relative to this file and inside its folder.
    pub file: String,
    /// 0.001 for a file in millimetres. Default: 1.
    #[serde(default = "one")]
    pub scale: f64,
}

/// The distance grid of a body (F12–F20).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GridSpec {
    /// Edge of a cell, m, > 0: about a third of what is thinnest of the body.
    pub cell: f64,
}

/// A part of a compound.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartSpec {
    /// What it is; no compound again.
    pub form: FormSpec,
    /// Where in the body, m. Default: its origin.
    #[serde(default)]
    pub position: Vector,
    /// How it is turned: an axis, its length the angle in rad. Default: not.
    #[serde(default)]
    pub rotation: Vector,
}

/// A rigid body.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Body {
    /// Its name, unique in the scene.
    pub name: String,
    /// Mass, kg, > 0. A dynamic body needs this or `density`.
    #[serde(default)]
    pub mass: Option<f64>,
    /// Density, kg/m³, > 0.
    #[serde(default)]
    pub density: Option<f64>,
    /// Principal moments of inertia about its own axes through its centre of mass, kg·m², > 0. Default: those of its form.
    #[serde(default)]
    pub inertia: Option<Vector>,
    /// Viscous damping of its motion, N·s/m, ≥ 0. Default: 0.
    #[serde(default)]
    pub damping: f64,
    /// Viscous damping of its turning, N·m·s/rad, ≥ 0. Default: 0.
    #[serde(default)]
    pub turn_damping: f64,
    /// Spring that draws its centre of mass back to where it starts, N/m, ≥ 0. Default: 0, none.
    #[serde(default)]
    pub rest_stiffness: f64,
    /// Spring that turns it back to how it starts, N·m/rad, ≥ 0. Default: 0, none.
    #[serde(default)]
    pub rest_torsion: f64,
    /// Half of its edges, m: short for `form = { box = … }`.
    #[serde(default)]
    pub half_extents: Option<Vector>,
    /// What it is to collisions, and where its mass is.
    #[serde(default)]
    pub form: Option<FormSpec>,
    /// A distance grid, with which tissue touches a body whose form is a closed mesh. Default: none; tissue then meets a dynamic body's convex hull, and of others
    /// each triangle.
    #[serde(default)]
    pub grid: Option<GridSpec>,
    /// Whether and how it moves. Default: dynamic.
    #[serde(default)]
    pub motion: Motion,
    /// Its origin, m.
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
    /// Static and dynamic coefficient of friction, ≥ 0; those of a pair are the geometric mean. Default: 0.6 and 0.5.
    #[serde(default = "friction")]
    pub friction: [f64; 2],
    /// Elasticity, 0 to 1; a pair springs back with the product. Default: 0.
    #[serde(default)]
    pub restitution: f64,
    /// False if nothing touches it. Default: true.
    #[serde(default = "yes")]
    pub collide: bool,
    /// Colour: red, green, blue from 0 to 1.
    #[serde(default = "steel")]
    pub colour: Vector,
}

fn friction() -> [f64; 2] {
    [0.6, 0.5]
}

fn yes() -> bool {
    true
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

/// What a joint takes away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JointKind {
    /// Both points stay together.
    Ball,
    /// They turn about `axis`.
    Hinge,
    /// The same, kept by a point and an axis instead of by two points.
    HingeByAxis,
    /// b slides along `axis` of a without turning.
    Slider,
    /// `axis` of a and `second_axis` of b stay across each other.
    Universal,
    /// Both move as one.
    Fixed,
    /// The same, kept by three points.
    FixedByPoints,
    /// b's point stays on the line along `axis`.
    Rail,
    /// b's point stays on the plane across `axis`.
    Plane,
    /// b's point stays on `curve`.
    Curve,
    /// b slides on `curve` without turning.
    CurveSlider,
    /// b's point stays on `surface`.
    Surface,
    /// The points stay at `length`.
    Distance,
    /// Takes nothing: for a spring, a damper or a stop between two points.
    Free,
    /// What `bases` says.
    Composed,
}

/// A base joint, to compose others of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BaseName {
    /// Takes all translations of the point.
    T3,
    /// Takes two: the point stays on the line along `axis`.
    T2,
    /// Takes one: the point stays on the plane across `axis`.
    T1,
    /// Takes all rotations.
    R3,
    /// Takes two: what is left turns about `axis`.
    R2,
    /// Takes one: `axis` of a and `second_axis` of b keep their angle.
    R1,
    /// b's point moves as fast as a's.
    Velocity,
    /// b turns as fast as a.
    Spin,
}

/// A base joint of a composed one.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "one of `bases` is a name (`t3`, `t2`, `t1`, `r3`, `r2`, `r1`, `velocity`, `spin`) or a table like { base = \"t2\", at = [0, 0.1, 0] }"
)]
pub enum BaseSpec {
    /// At the joint's own place, along its own axes.
    Here(BaseName),
    /// Somewhere else, or along others.
    There(BaseThere),
}

/// A base joint with a place or axes of its own.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BaseThere {
    /// What it takes.
    pub base: BaseName,
    /// Where it is at the start, m. Default: where the joint is.
    #[serde(default)]
    pub at: Option<Vector>,
    /// Its axis at the start. Default: that of the joint.
    #[serde(default)]
    pub axis: Option<Vector>,
    /// Its second axis at the start. Default: that of the joint; any if it has an axis of its own.
    #[serde(default)]
    pub second_axis: Option<Vector>,
}

/// What is measured between the two sides of a joint, to be limited and driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// How far b has turned about `axis`, rad.
    Turn,
    /// How far b's point is from a's along `axis` of a, m.
    Slide,
    /// Angle between `axis` of a and `axis` of b, rad, from 0 to π.
    Swing,
    /// How far the points are from each other, m.
    Distance,
}

/// A curve, in metres, about the joint's point.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum CurveSpec {
    /// A circle of this radius about `axis`.
    Circle(f64),
    /// A helix about `axis`: radius, and how far one turn climbs.
    Helix([f64; 2]),
    /// A smooth curve through points, from the joint's point and along the world's axes.
    Through(Vec<Vector>),
    /// The same, running back to its first point.
    Loop(Vec<Vector>),
}

/// A surface, in metres, about the joint's point.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SurfaceSpec {
    /// A sphere of this radius.
    Sphere(f64),
    /// A cylinder of this radius about `axis`.
    Cylinder(f64),
    /// A ring about `axis`: radius of the ring, and of its tube.
    Torus([f64; 2]),
}

/// A target: a number, or times and numbers.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Timed {
    /// The same at all times.
    Always(f64),
    /// Points of [time in s, target], times ascending: straight from one to the next, constant before the first and after
    /// the last.
    Points(Vec<[f64; 2]>),
}

/// What drives a joint along what it leaves free: N and m, or N·m and rad.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum DriveSpec {
    /// A constant force.
    Force(f64),
    /// Holds a speed; with speed 0 this is friction in the joint.
    Speed(SpeedSpec),
    /// Draws to a place.
    Servo(ServoSpec),
    /// A damped spring.
    Spring(SpringSpec),
    /// A controller.
    Pid(PidSpec),
}

/// Holds a speed.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SpeedSpec {
    /// rad/s or m/s; or a list of [time in s, target].
    pub target: Timed,
    /// Greatest force, ≥ 0.
    pub most: f64,
}

/// Draws to a place.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServoSpec {
    /// rad or m; or a list of [time in s, target].
    pub target: Timed,
    /// N·m/rad or N/m, > 0.
    pub stiffness: f64,
    /// N·m·s/rad or N·s/m, ≥ 0. Default: 0.
    #[serde(default)]
    pub damping: f64,
    /// Greatest force, ≥ 0.
    pub most: f64,
}

/// A damped spring.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SpringSpec {
    /// Where it rests, rad or m. Default: 0.
    #[serde(default)]
    pub rest: f64,
    /// N·m/rad or N/m, ≥ 0.
    pub stiffness: f64,
    /// N·m·s/rad or N·s/m, ≥ 0. Default: 0.
    #[serde(default)]
    pub damping: f64,
}

/// A controller with proportional, integral and differential part.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PidSpec {
    /// Place to reach, rad or m; give this or `speed`.
    #[serde(default)]
    pub place: Option<f64>,
    /// Speed to reach, rad/s or m/s.
    #[serde(default)]
    pub speed: Option<f64>,
    /// Force for each unit of error.
    pub proportional: f64,
    /// Force for each unit of error and second. Default: 0.
    #[serde(default)]
    pub integral: f64,
    /// Force for each unit of error a second, with a `place` only. Default: 0.
    #[serde(default)]
    pub differential: f64,
    /// Greatest force, ≥ 0.
    pub most: f64,
}

/// A joint between two things.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JointSpec {
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// What it takes away.
    pub kind: JointKind,
    /// One side; it carries rails, planes, curves. `at` may be left out if the joint has one.
    pub a: AnchorSpec,
    /// The other side.
    pub b: AnchorSpec,
    /// Where the joint is at the start, m.
    #[serde(default)]
    pub at: Option<Vector>,
    /// Its axis at the start. Default: [1, 0, 0].
    #[serde(default = "x")]
    pub axis: Vector,
    /// A second axis at the start, across the first; for a universal joint. Default: any.
    #[serde(default)]
    pub second_axis: Option<Vector>,
    /// Distance to keep, m.
    #[serde(default)]
    pub length: Option<f64>,
    /// What b's point stays on.
    #[serde(default)]
    pub curve: Option<CurveSpec>,
    /// What b's point stays on.
    #[serde(default)]
    pub surface: Option<SurfaceSpec>,
    /// Base joints of a composed one.
    #[serde(default)]
    pub bases: Vec<BaseSpec>,
    /// What `range` and `drive` act on. Default: the angle of a hinge, the way of a slider or rail, the length of a free joint, the swing of
    /// a ball or universal joint.
    #[serde(default)]
    pub measure: Option<Measure>,
    /// Where it stops: least and greatest of what is measured.
    #[serde(default)]
    pub range: Option<[f64; 2]>,
    /// What drives it.
    #[serde(default)]
    pub drive: Option<DriveSpec>,
    /// Greatest force it holds, N or N·m. Default: it never gives way.
    #[serde(default)]
    pub strength: Option<f64>,
    /// True or false if it can be opened and closed while the scene runs, and whether it holds at the start; then it is between bodies, or a
    /// body and the world, on no curve or surface, and 0 lies in its `range`. Closed again, it takes hold of both as they stand. Default: it holds, always.
    #[serde(default)]
    pub held: Option<bool>,
    /// True if the two sides may also touch while it holds. Default: false.
    #[serde(default)]
    pub collide: bool,
}

fn x() -> Vector {
    [1.0, 0.0, 0.0]
}

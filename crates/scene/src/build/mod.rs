//! From what a scene file says to matter: the model of a simulation.

mod answer;
mod backdrops;
mod bodies;
mod bridge;
mod check;
mod connect;
mod couple;
mod demand;
mod edit;
mod elements;
mod explicit;
mod eyes;
mod families;
mod film;
mod form;
mod instruments;
mod joints;
mod material;
pub mod membrane;
pub(crate) mod path;
mod remake;
mod ties;
mod tissue;

use crate::{
    Bundle, attributes,
    file::{Camera, InstrumentKind, Look, SolverName, TurningName, World},
    load::{Key, Scene, SceneError, Source},
    simulation::MAX_ITERATIONS,
};
use glam::{DQuat, DVec3};
use std::{collections::BTreeMap, sync::Arc};
use trocar_collide::{Patch, grid::Grid, rigid::Shape, tree::TreeError};
use trocar_dynamics::{
    Anchor, Budget, Joint, Kinematic, Local, Matter, MatterId, Method, Nodes, Tie, Turning,
};
use trocar_math::{Pose, rotation};
use trocar_mesh::Surface;
use trocar_soft::{Global, Hyper, Net, NodeFlags, StepBounds};
use trocar_tools::{Endoscope, EndoscopeHandle, Grasper, Handle};

use bridge::Bridge;
pub(crate) use check::MOST_THICKNESS;
pub(crate) use demand::level;
pub use demand::{Demand, MANY_SUBSTEPS};
pub(crate) use elements::timed_pushes;
pub(crate) use instruments::timed_course;
pub use membrane::Film;
pub(crate) use membrane::Retuned;
pub use path::{Curve, Path};
pub(crate) use remake::{Original, Wish};

/// More substeps than this in one step are refused: the scene could not run.
pub const MAX_SUBSTEPS: u32 = 1000;

/// The longest step, s. A longer one is cut to it.
pub const MAX_STEP: f64 = 0.05;

/// A tissue of the model.
#[derive(Clone, Debug)]
pub struct Tissue {
    /// Its name.
    pub name: String,
    /// Its matter.
    pub matter: MatterId,
    /// Its colour.
    pub colour: [f64; 3],
    /// What its surface looks like.
    pub look: Look,
    /// Where its constants were measured; none if they are guesses.
    pub source: Option<String>,
    /// Force at which a grasped point tears out, N.
    pub bears: f64,
    /// Static and dynamic coefficient of friction; none if it does not say.
    pub friction: Option<[f64; 2]>,
    /// How thick it is to itself and to others, m; none if it passes through them.
    pub contact_thickness: Option<f64>,
    /// Instruments and bodies touch it.
    pub touchable: bool,
    /// Index of its first surface node; central nodes come before.
    pub first: u32,
    /// Place of each central node of the file among the nodes; empty if it is the same.
    pub centres: Vec<u32>,
    /// Its surface, over all its nodes.
    pub triangles: Vec<[u32; 3]>,
    /// Counts the edits of its surface since it was built: 0 while it is whole.
    pub edits: u32,
    /// Connection elements.
    pub elements: usize,
    /// Texture coordinates of its surface nodes; empty if it has none of its own (K75).
    pub texture: Vec<[f64; 2]>,
}

/// An instrument of the model.
#[derive(Clone, Debug)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// Its matter.
    pub matter: MatterId,
    /// What it does.
    pub kind: InstrumentKind,
    /// Its build.
    pub grasper: Grasper,
    /// Where the hand holds it at the start.
    pub start: Handle,
    /// Static and dynamic coefficient of friction.
    pub friction: [f64; 2],
    /// How firmly it pushes or holds membranes, N/m; none if as they are themselves.
    pub stiffness: Option<f64>,
    /// Depth (m) from which membranes stick to it, and the force (N) that tears them off; none if they stick by friction.
    pub stick: Option<[f64; 2]>,
}

/// Where a drive is to be, and when.
#[derive(Clone, Debug, PartialEq)]
pub struct Timetable {
    /// Which joint.
    pub joint: usize,
    /// Which of its controls.
    pub control: usize,
    /// Time (s, ascending) and target (rad, m, rad/s or m/s).
    pub points: Vec<[f64; 2]>,
}

/// A joint that can be opened and closed while the scene runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latch {
    /// Which joint.
    pub joint: usize,
    /// The colliders that do not touch while it holds, the lower one first; none if they may.
    pub apart: Option<(u32, u32)>,
}

impl Timetable {
    /// The target at a time, s: straight from point to point; before the first that of the first, after the last that of
    /// the last.
    pub fn at(&self, time: f64) -> f64 {
        let next = self.points.partition_point(|p| p[0] <= time);
        match (
            next.checked_sub(1).and_then(|i| self.points.get(i)),
            self.points.get(next),
        ) {
            (Some([t0, a]), Some([t1, b])) => a + (b - a) * ((time - t0) / (t1 - t0)),
            (Some([_, only]), None) | (None, Some([_, only])) => *only,
            (None, None) => 0.0,
        }
    }
}

/// The endoscope of the model.
#[derive(Clone, Debug)]
pub struct Scope {
    /// Its build.
    pub endoscope: Endoscope,
    /// Where the hand holds it at the start.
    pub start: EndoscopeHandle,
}

/// How a body looks.
#[derive(Clone, Debug)]
pub struct BodyLook {
    /// Its name.
    pub name: String,
    /// Its matter and node.
    pub at: (MatterId, u32),
    /// Where its own frame lies in the one its scene file speaks of.
    pub frame: Pose,
    /// Its surface in its own frame.
    pub surface: Surface,
    /// Its colour.
    pub colour: [f64; 3],
}

/// What a body is to collisions.
#[derive(Clone, Debug)]
pub struct Collider {
    /// Its matter and node.
    pub at: (MatterId, u32),
    /// Its shape, in the node's frame.
    pub shape: Shape,
    /// Its distance grid in that frame, if tissue touches it by one.
    pub grid: Option<Arc<Grid>>,
    /// Static and dynamic coefficient of friction.
    pub friction: [f64; 2],
    /// Elasticity, 0 to 1.
    pub restitution: f64,
}

/// What is only seen.
#[derive(Clone, Debug)]
pub struct Backdrop {
    /// Its name.
    pub name: String,
    /// Its surface.
    pub surface: Surface,
    /// Its colour.
    pub colour: [f64; 3],
    /// What its surface looks like.
    pub look: Look,
    /// Its opacity.
    pub opacity: f64,
}

/// Matter that is connected, and how long its substeps may be.
#[derive(Clone, Debug)]
pub struct Connected {
    /// The matter, in ascending order.
    pub members: Vec<MatterId>,
    /// Bounds on its substep.
    pub bounds: StepBounds,
}

/// What does not move: the matter of a scene, and how it is joined. Only a change of parameters changes it.
pub struct Model {
    /// The scene's name.
    pub name: String,
    /// Gravity, m/s².
    pub gravity: DVec3,
    /// Length of a step, s.
    pub step: f64,
    /// How much of a step's time passes in the scene, above 0, at most 1 (K63).
    pub slow_motion: f64,
    /// Substeps follow the state (KB9).
    pub adaptive: bool,
    /// Where one looks from.
    pub camera: Camera,
    /// The endoscope, if the scene has one. It is no matter: it touches nothing.
    pub endoscope: Option<Scope>,
    /// All matter: the world, the instruments, the bodies, the tissues.
    pub matters: Vec<Box<dyn Matter>>,
    /// Name of each matter.
    pub names: Vec<String>,
    /// State at the start.
    pub start: Vec<Nodes>,
    /// The instruments.
    pub tools: Vec<Tool>,
    /// The tissues; membranes come last.
    pub tissues: Vec<Tissue>,
    /// The membranes.
    pub films: Vec<Film>,
    /// The matter that holds bodies whose motion is prescribed, if there are any.
    pub fixtures: Option<MatterId>,
    /// Velocity and spin of each of them.
    pub courses: Vec<(DVec3, DVec3)>,
    /// The matter that holds bodies and particles, if there are any.
    pub bodies: Option<MatterId>,
    /// How the bodies look: those that go their own way first.
    pub looks: Vec<BodyLook>,
    /// What instruments and bodies are to collisions.
    pub colliders: Vec<Collider>,
    /// Pairs of colliders that do not collide, in ascending order.
    pub apart: Vec<(u32, u32)>,
    /// Colliders and tissues that do not collide, likewise.
    pub apart_from_tissue: Vec<(u32, MatterId)>,
    /// How joints and contacts are solved.
    pub rules: Rules,
    /// Names of the particles; their nodes come after those of the bodies.
    pub particles: Vec<String>,
    /// What is only seen.
    pub backdrops: Vec<Backdrop>,
    /// Ties of the scene.
    pub ties: Vec<Tie>,
    /// Joints of the scene.
    pub joints: Vec<Joint>,
    /// Those of them that can be opened and closed.
    pub latches: Vec<Latch>,
    /// Their names.
    pub joint_names: Vec<String>,
    /// Drives of joints whose target changes with time.
    pub timetables: Vec<Timetable>,
    /// Hyper nodes of the scene.
    pub hypers: Vec<Hyper>,
    /// Elements between different things.
    pub globals: Vec<Global>,
    /// Connected matter.
    pub groups: Vec<Connected>,
    /// The scene files, with materials as they are now: what tissues are made of anew when one changes.
    plan: Scene,
    /// Where each body stands in `looks` and each particle in `particles`: joints name them, and there may be many.
    by_name: BTreeMap<String, usize>,
    /// What the scene says, as far as it can be changed.
    original: Original,
}

/// How joints and contacts of a scene are solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// How joints are solved.
    pub method: Method,
    /// Error at which a joint is right, m or rad.
    pub tolerance: f64,
    /// Relative velocity at which it is right, m/s or rad/s (B29).
    pub velocity_tolerance: f64,
    /// True if velocities are made right, too (B70).
    pub correct_velocities: bool,
    /// Order of a substep where joints alone act (B72): 2, 4 or 6.
    pub order: u32,
    /// Sweeps over all constraints at most.
    pub iterations: u32,
    /// Sweeps over the contacts of bodies at most; none says how many are worth their time.
    pub sweeps: Option<u32>,
    /// Way and velocity by which a sweep over contacts may still change things at the end, m and m/s (B4, B29).
    pub contact_tolerances: [f64; 2],
    /// Sweeps after which stacks are carried from below; 0 if never.
    pub shock: u32,
    /// How bodies turn.
    pub turning: Turning,
    /// True if bodies at rest sleep.
    pub sleep: bool,
}

impl Rules {
    fn new(world: &World) -> Self {
        Self {
            method: match world.solver {
                SolverName::Auto => Method::Auto,
                SolverName::Iterative => Method::Iterative,
                SolverName::System => Method::System,
                SolverName::Graph => Method::Graph,
            },
            tolerance: world.tolerance,
            velocity_tolerance: world.velocity_tolerance.unwrap_or(2.0 * world.tolerance),
            correct_velocities: world.correct_velocities,
            order: world.order,
            iterations: world.iterations,
            sweeps: world.sweeps,
            contact_tolerances: [world.contact_tolerance, world.contact_velocity_tolerance],
            shock: world.shock,
            turning: match world.turning {
                TurningName::Momentum => Turning::Momentum,
                TurningName::RungeKutta => Turning::RungeKutta,
            },
            sleep: world.sleep,
        }
    }

    /// How hard a step tries that may make so many sweeps over all constraints (B3). Fewer than the scene says, and there are as many times
    /// fewer over the contacts of bodies.
    pub(crate) fn budget(&self, iterations: u32) -> Budget {
        let usual = Budget::default();
        let iterations = iterations.clamp(1, MAX_ITERATIONS);
        let part = (f64::from(iterations) / f64::from(self.iterations)).min(1.0);
        let fewer = |count: u32| (f64::from(count) * part).ceil() as u32;
        Budget {
            iterations,
            sweeps: fewer(self.sweeps.unwrap_or(usual.sweeps)),
            work: match self.sweeps {
                Some(_) => usize::MAX,
                None => (usual.work as f64 * part) as usize,
            },
            least: fewer(usual.least),
            shock: self.shock,
            position: self.tolerance,
            velocity: self.velocity_tolerance,
            press: self.contact_tolerances[0],
            slip: self.contact_tolerances[1],
            correct: self.correct_velocities,
            method: self.method,
            ..usual
        }
    }
}

/// An item of a scene file and where it stands.
struct Item<'a, T> {
    source: &'a Source,
    index: usize,
    item: &'a T,
}

impl Model {
    /// How many nodes some matter has at the start.
    pub(crate) fn nodes_of(&self, matters: &[MatterId]) -> usize {
        matters.iter().map(|m| self.start[m.index()].len()).sum()
    }

    /// Checks a scene and makes matter of it.
    pub fn build(scene: &Scene) -> Result<Self, SceneError> {
        let spelled = attributes::spelled_out(scene)?;
        let scene = &*spelled;
        check::scene(scene)?;
        let world = only(scene, "world", |s| s.file.world)?.unwrap_or_default();
        let mut model = Self {
            name: scene.name().into(),
            gravity: world.gravity.into(),
            step: world.step,
            slow_motion: world.slow_motion,
            adaptive: world.adaptive,
            camera: eyes::default_camera(),
            endoscope: None,
            matters: vec![Box::new(Kinematic::default())],
            names: vec!["world".into()],
            start: vec![Nodes::at_rest(&[(DVec3::ZERO, DQuat::IDENTITY)], &[])],
            tools: Vec::new(),
            tissues: Vec::new(),
            films: Vec::new(),
            fixtures: None,
            courses: Vec::new(),
            bodies: None,
            looks: Vec::new(),
            colliders: Vec::new(),
            apart: Vec::new(),
            apart_from_tissue: Vec::new(),
            by_name: BTreeMap::new(),
            rules: Rules::new(&world),
            particles: Vec::new(),
            backdrops: Vec::new(),
            ties: Vec::new(),
            joints: Vec::new(),
            latches: Vec::new(),
            joint_names: Vec::new(),
            timetables: Vec::new(),
            hypers: Vec::new(),
            globals: Vec::new(),
            groups: Vec::new(),
            plan: Scene {
                bundle: Bundle::default(),
                sources: scene.sources.clone(),
                // Tissues of meshes are made anew from them; nothing else is.
                meshes: if scene.sources.iter().any(|s| {
                    let films = &s.file.membrane;
                    !s.file.surface.is_empty() || films.iter().any(|m| m.mesh.is_some())
                }) {
                    scene.meshes.clone()
                } else {
                    Vec::new()
                },
            },
            original: Original::default(),
        };
        check_world(scene, &world)?;
        model.add_eyes(scene)?;
        model.add_tools(scene)?;
        model.add_fixtures(scene)?;
        model.add_bodies(scene, model.rules.turning)?;
        let looks = model.looks.iter().map(|l| &l.name).enumerate();
        let named = looks.chain(model.particles.iter().enumerate());
        model.by_name = named.map(|(i, name)| (name.clone(), i)).collect();
        let bridges = model.add_tissues(scene)?;
        model.add_membranes(scene)?;
        model.look_over(scene)?;
        model.check_starts(scene)?;
        model.add_bridges(&bridges)?;
        model.add_ties(scene)?;
        model.add_elements(scene)?;
        model.add_joints(scene)?;
        model.add_backdrops(scene)?;
        model.connect();
        model.check_substeps(scene)?;
        model.note_original();
        Ok(model)
    }

    /// Number of matters whose motion is prescribed; they come first.
    pub fn prescribed(&self) -> usize {
        1 + self.tools.len() + usize::from(self.fixtures.is_some())
    }

    /// Where a body whose motion is prescribed is at a time, s.
    pub fn fixture(&self, node: usize, time: f64) -> Pose {
        let Some(matter) = self.fixtures else {
            return Pose::IDENTITY;
        };
        let start = pose(&self.start[matter.index()], node);
        let (velocity, spin) = self.courses[node];
        if velocity == DVec3::ZERO && spin == DVec3::ZERO {
            return start;
        }
        Pose::new(
            start.position + velocity * time,
            (rotation::from_scaled_axis(spin * time) * start.rotation).normalize(),
        )
    }

    /// True if there is such a point: its matter, its nodes and its weights make sense.
    pub fn has(&self, anchor: &Anchor) -> bool {
        let nodes = self.start.get(anchor.matter.index());
        nodes.is_some_and(|nodes| self.has_among(anchor, nodes.len()))
    }

    /// The same if its matter has `count` nodes: a membrane has more and fewer.
    pub(crate) fn has_among(&self, anchor: &Anchor, count: usize) -> bool {
        let Some(nodes) = self.start.get(anchor.matter.index()) else {
            return false;
        };
        let known = |list: &[u32]| list.iter().all(|n| (*n as usize) < count);
        let weighed = |list: &[f64]| {
            list.iter().all(|w| (-1e-9..=1.0 + 1e-9).contains(w))
                && (list.iter().sum::<f64>() - 1.0).abs() < 1e-9
        };
        match anchor.at {
            Local::Node(n) => known(&[n]),
            Local::Frame(n, offset) => {
                (n as usize) < nodes.frames() && offset.length() <= check::MAX_COORDINATE
            }
            Local::Triangle(corners, weights) => known(&corners) && weighed(&weights),
            Local::Tetrahedron(corners, weights) => known(&corners) && weighed(&weights),
        }
    }

    /// The longest step that can be taken in stable substeps, s.
    pub fn longest_step(&self) -> f64 {
        self.groups
            .iter()
            .map(|g| self.bounds_now(g).safe * f64::from(MAX_SUBSTEPS))
            .fold(MAX_STEP, f64::min)
    }

    /// True if every tissue says where its constants were measured: only then does a force mean newtons.
    pub fn is_calibrated(&self) -> bool {
        self.tissues.iter().all(|t| t.source.is_some())
    }

    fn add(&mut self, name: &str, matter: Box<dyn Matter>, start: Nodes) -> MatterId {
        self.matters.push(matter);
        self.names.push(name.into());
        self.start.push(start);
        MatterId(self.matters.len() as u32 - 1)
    }

    /// Adds all nets; returns the couples that wait for membranes.
    fn add_tissues<'a>(&mut self, scene: &'a Scene) -> Result<Vec<Bridge<'a>>, SceneError> {
        let drafts = tissue::drafts(scene, self.matters.len() as u32)?;
        let mut nets: Vec<Net> = Vec::new();
        for (i, draft) in drafts.list.iter().enumerate() {
            let matter = MatterId((self.matters.len() + i) as u32);
            nets.push(draft.net(matter, &drafts)?);
        }
        self.hypers = drafts.hypers;
        let tied = drafts.tied;
        for (draft, net) in drafts.list.into_iter().zip(nets) {
            let start = net.rest().clone();
            let (triangles, elements) = (net.triangles().to_vec(), net.element_count());
            let matter = self.add(&draft.name, Box::new(net), start);
            self.tissues.push(Tissue {
                name: draft.name,
                matter,
                colour: draft.colour,
                look: draft.look,
                source: draft.source,
                bears: draft.bears,
                friction: draft.friction,
                contact_thickness: draft.contact_thickness,
                touchable: draft.touchable,
                first: draft.parts.frames.len() as u32,
                triangles,
                edits: 0,
                elements,
                texture: draft.texture,
                centres: draft.centres.iter().map(|z| *z as u32).collect(),
            });
        }
        for (check, body, matter, node) in &drafts.held {
            self.hold(check, body, (*matter, *node))?;
        }
        for pair in tied {
            let [leads, follows] = [pair.master, pair.slave].map(|end| self.node_anchor(end));
            self.ties.push(Tie::point(leads, follows));
        }
        Ok(drafts.bridges)
    }

    /// Triangles of a tissue that instruments and bodies touch, with their numbers: those without a node that they pass through.
    pub(crate) fn touchable(&self, tissue: &Tissue) -> impl Iterator<Item = (u32, [u32; 3])> {
        let net = self.net(tissue.matter);
        let passes = move |n: &u32| {
            net.is_some_and(|net| net.flags(*n as usize).has(NodeFlags::NOT_INTERACTIVE))
        };
        let triangles = (0..).zip(tissue.triangles.iter().copied());
        triangles.filter(move |(_, t)| !t.iter().any(passes))
    }

    /// The surface of a tissue, as instruments and bodies meet it. Triangles of membranes have the numbers that their sheets give them, which last
    /// through tears.
    pub(crate) fn patch(&self, matter: MatterId) -> Result<Patch, TreeError> {
        let nodes = self.matters[matter.index()].masses().len();
        if let Some(membrane) = self.membrane(matter) {
            return Patch::over(membrane::numbered(membrane.sheet()), nodes);
        }
        let tissue = self.tissues.iter().find(|t| t.matter == matter);
        let triangles = tissue.into_iter().flat_map(|t| self.touchable(t));
        Patch::over(triangles, nodes)
    }

    /// The net of a matter, if it is one.
    pub(crate) fn net(&self, matter: MatterId) -> Option<&Net> {
        let any: &dyn std::any::Any = &**self.matters.get(matter.index())?;
        any.downcast_ref()
    }
}

/// How many substeps a step of `dt` needs (K82).
pub fn substeps(dt: f64, stable: f64) -> u32 {
    let count = trocar_math::real::ceil(dt / stable);
    if count > 1e9 {
        u32::MAX
    } else {
        (count as u32).max(1)
    }
}

/// All items of one kind, in the order of the files.
fn items<'a, T: 'a>(
    scene: &'a Scene,
    of: impl Fn(&'a Source) -> &'a Vec<T> + 'a,
) -> impl Iterator<Item = Item<'a, T>> + 'a {
    scene.sources.iter().flat_map(move |source| {
        of(source)
            .iter()
            .enumerate()
            .map(move |(index, item)| Item {
                source,
                index,
                item,
            })
    })
}

/// The one value of its kind; the main file's word counts if included files say it too.
fn only<T>(
    scene: &Scene,
    name: &'static str,
    of: impl Fn(&Source) -> Option<T>,
) -> Result<Option<T>, SceneError> {
    let mut found = scene.sources.iter().filter(|s| of(s).is_some());
    let (first, second) = (found.next(), found.next());
    if let (Some(first), Some(second)) = (first, second)
        && of(scene.main()).is_none()
    {
        return Err(second.error(
            &[Key::Name(name)],
            format!("{} says [{name}] too", first.name),
            "Say it in one of them, or in the main file.",
        ));
    }
    Ok(of(scene.main()).or_else(|| first.and_then(of)))
}

fn check_world(scene: &Scene, world: &World) -> Result<(), SceneError> {
    let at = |key: &'static str| [Key::Name("world"), Key::Name(key)];
    let says = |s: &&Source| s.file.world.is_some();
    let source = scene
        .sources
        .iter()
        .rev()
        .find(says)
        .unwrap_or(scene.main());
    if !(1e-4..=0.05).contains(&world.step) {
        return Err(source.error(
            &at("step"),
            format!("a step of {} s is out of range", world.step),
            "Choose between 0.0001 and 0.05 s.",
        ));
    }
    if !(0.01..=1.0).contains(&world.slow_motion) {
        return Err(source.error(
            &at("slow_motion"),
            format!("slow motion by {} is out of range", world.slow_motion),
            "Choose between 0.01 and 1; 1 is the speed of the room.",
        ));
    }
    let velocity_tolerance = world.velocity_tolerance.unwrap_or(1.0);
    for (key, tolerance, most) in [
        ("tolerance", world.tolerance, 0.01),
        ("velocity_tolerance", velocity_tolerance, 1.0),
        ("contact_tolerance", world.contact_tolerance, 0.01),
        (
            "contact_velocity_tolerance",
            world.contact_velocity_tolerance,
            1.0,
        ),
    ] {
        if !(1e-12..=most).contains(&tolerance) {
            return Err(source.error(
                &at(key),
                format!("a {} of {tolerance} is out of range", key.replace('_', " ")),
                format!("Choose between 1e-12 and {most}."),
            ));
        }
    }
    if !matches!(world.order, 2 | 4 | 6) {
        return Err(source.error(
            &at("order"),
            format!("there are no substeps of order {}", world.order),
            "Choose 2, 4 or 6.",
        ));
    }
    if world.order > 2 && !world.correct_velocities {
        return Err(source.error(
            &at("order"),
            "a substep of higher order needs right velocities",
            "Leave `correct_velocities` true, or choose order 2.",
        ));
    }
    if world.order > 4 && world.turning == TurningName::RungeKutta {
        return Err(source.error(
            &at("order"),
            "bodies that turn by `runge_kutta` do so to order 4",
            "Choose `turning = \"momentum\"`, or order 4.",
        ));
    }
    let sweeps = world.sweeps.unwrap_or(1);
    for (key, count) in [("iterations", world.iterations), ("sweeps", sweeps)] {
        if !(1..=MAX_ITERATIONS).contains(&count) {
            return Err(source.error(
                &at(key),
                format!("{count} {key} are out of range"),
                format!("Choose between 1 and {MAX_ITERATIONS}."),
            ));
        }
    }
    if world.shock > MAX_ITERATIONS {
        return Err(source.error(
            &at("shock"),
            format!("{} sweeps are out of range", world.shock),
            format!("Choose at most {MAX_ITERATIONS}, or 0 for never."),
        ));
    }
    let gravity = DVec3::from(world.gravity);
    if !(gravity.is_finite() && gravity.length() <= 100.0) {
        return Err(source.error(
            &at("gravity"),
            "gravity is out of range",
            "On earth it is [0, -9.81, 0] m/s².",
        ));
    }
    Ok(())
}

/// The pose of a frame in a share of state.
pub fn pose(nodes: &Nodes, frame: usize) -> Pose {
    Pose::new(nodes.position[frame], nodes.orientation[frame])
}

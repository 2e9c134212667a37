//! From what a scene file says to matter: the model of a simulation.

mod check;
mod tissue;

use crate::{
    file::{AnchorSpec, Camera, Scenery, World},
    load::{Key, Scene, SceneError, Source},
};
use check::Checker;
use glam::{DQuat, DVec3};
use tissue::Draft;
use trocar_collide::on_triangle;
use trocar_dynamics::{Anchor, Bodies, Kinematic, Local, MassNode, Matter, MatterId, Nodes, Tie};
use trocar_math::{Pose, rotation};
use trocar_mesh::{Surface, primitive::TubeShape};
use trocar_soft::{Hyper, Net, StepBounds, hyper, stability};
use trocar_tools::{Grasper, Handle, Limits, grasper};

/// More substeps than this in one step are refused: the scene could not run.
pub const MAX_SUBSTEPS: u32 = 1000;

/// A tissue of the model.
#[derive(Clone, Debug)]
pub struct Tissue {
    /// Its name.
    pub name: String,
    /// Its matter.
    pub matter: MatterId,
    /// Its colour.
    pub colour: [f64; 3],
    /// Force at which a grasped point tears out, N.
    pub bears: f64,
    /// Index of its first surface node; central nodes come before.
    pub first: u32,
    /// Its surface, over all its nodes.
    pub triangles: Vec<[u32; 3]>,
    /// Connection elements.
    pub elements: usize,
}

/// An instrument of the model.
#[derive(Clone, Debug)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// Its matter.
    pub matter: MatterId,
    /// Its build.
    pub grasper: Grasper,
    /// Where the hand holds it at the start.
    pub start: Handle,
}

/// How a body looks.
#[derive(Clone, Debug)]
pub struct BodyLook {
    /// Its name.
    pub name: String,
    /// Half of its edges, m.
    pub half_extents: [f64; 3],
    /// Its colour.
    pub colour: [f64; 3],
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

/// What does not change during a simulation.
pub struct Model {
    /// The scene's name.
    pub name: String,
    /// Gravity, m/s².
    pub gravity: DVec3,
    /// Length of a step, s.
    pub step: f64,
    /// Where one looks from.
    pub camera: Camera,
    /// All matter: the world, the instruments, the bodies, the tissues.
    pub matters: Vec<Box<dyn Matter>>,
    /// Name of each matter.
    pub names: Vec<String>,
    /// State at the start.
    pub start: Vec<Nodes>,
    /// The instruments.
    pub tools: Vec<Tool>,
    /// The tissues.
    pub tissues: Vec<Tissue>,
    /// The matter that holds bodies and particles, if there are any.
    pub bodies: Option<MatterId>,
    /// How the bodies look, in the order of their nodes.
    pub looks: Vec<BodyLook>,
    /// What is only seen.
    pub backdrops: Vec<Backdrop>,
    /// Ties of the scene.
    pub ties: Vec<Tie>,
    /// Hyper nodes of the scene.
    pub hypers: Vec<Hyper>,
    /// Connected matter.
    pub groups: Vec<Connected>,
}

/// An item of a scene file and where it stands.
struct Item<'a, T> {
    source: &'a Source,
    index: usize,
    item: &'a T,
}

impl Model {
    /// Checks a scene and makes matter of it.
    pub fn build(scene: &Scene) -> Result<Self, SceneError> {
        check::scene(scene)?;
        let world = only(scene, "world", |s| s.file.world)?.unwrap_or_default();
        let mut model = Self {
            name: scene.name().into(),
            gravity: world.gravity.into(),
            step: world.step,
            camera: only(scene, "camera", |s| s.file.camera)?.unwrap_or(default_camera()),
            matters: vec![Box::new(Kinematic::default())],
            names: vec!["world".into()],
            start: vec![Nodes::at_rest(&[(DVec3::ZERO, DQuat::IDENTITY)], &[])],
            tools: Vec::new(),
            tissues: Vec::new(),
            bodies: None,
            looks: Vec::new(),
            backdrops: Vec::new(),
            ties: Vec::new(),
            hypers: Vec::new(),
            groups: Vec::new(),
        };
        check_world(scene, &world)?;
        check_camera(scene, &model.camera)?;
        model.add_tools(scene)?;
        model.add_bodies(scene)?;
        model.add_tissues(scene)?;
        model.add_ties(scene)?;
        model.add_backdrops(scene)?;
        model.connect();
        model.check_substeps(scene)?;
        Ok(model)
    }

    /// Number of matters whose motion is prescribed; they come first.
    pub fn prescribed(&self) -> usize {
        1 + self.tools.len()
    }

    fn add(&mut self, name: &str, matter: Box<dyn Matter>, start: Nodes) -> MatterId {
        self.matters.push(matter);
        self.names.push(name.into());
        self.start.push(start);
        MatterId(self.matters.len() as u32 - 1)
    }

    fn add_tools(&mut self, scene: &Scene) -> Result<(), SceneError> {
        for Item {
            source,
            index,
            item,
        } in items(scene, |s| &s.file.instrument)
        {
            let check = Checker {
                source,
                table: "instrument",
                index,
            };
            check.points(&[item.trocar], "trocar")?;
            check.points(&[item.target], "target")?;
            if DVec3::from(item.trocar).distance(item.target.into()) < 1e-6 {
                return Err(check.error(
                    &["target".into()],
                    "the instrument's trocar and target are the same point",
                    "Let it point at something inside the body.",
                ));
            }
            check.size(item.shaft_radius, "shaft_radius")?;
            check.size(item.jaw_length, "jaw_length")?;
            check.size(item.jaw_radius, "jaw_radius")?;
            check.size(item.depths[1], "depths")?;
            let grasper = Grasper {
                trocar: Grasper::looking(item.trocar.into(), item.target.into(), DVec3::Y),
                shaft_radius: item.shaft_radius,
                jaw_length: item.jaw_length,
                jaw_radius: item.jaw_radius,
                limits: Limits {
                    yaw: item.yaw,
                    pitch: item.pitch,
                    depth: item.depths,
                    jaw: item.jaws,
                },
                speed: item.speed,
                turn_speed: 6.0,
                capture_angle: 0.4 * item.jaws[1],
                release_angle: 0.6 * item.jaws[1],
                grip_force: item.grip_force,
            };
            grasper.check().map_err(|problem| {
                check.error(&[], problem, "Correct the instrument's numbers.")
            })?;
            let wish = Handle {
                depth: item.depth,
                jaw: item.jaw,
                ..Handle::default()
            };
            let start = grasper.reachable(&wish, &wish);
            if start != wish {
                return Err(check.error(
                    &["depth".into()],
                    "depth or jaw at the start is beyond the instrument's reach",
                    "Bring them within `depths` and `jaws`.",
                ));
            }
            let frames = grasper.poses(&start).map(|p| (p.position, p.rotation));
            let matter = self.add(
                &item.name,
                Box::new(Kinematic::default()),
                Nodes::at_rest(&frames, &[]),
            );
            debug_assert_eq!(frames.len(), grasper::PARTS);
            self.tools.push(Tool {
                name: item.name.clone(),
                matter,
                grasper,
                start,
            });
        }
        Ok(())
    }

    fn add_bodies(&mut self, scene: &Scene) -> Result<(), SceneError> {
        let (mut nodes, mut frames, mut motions) = (Vec::new(), Vec::new(), Vec::new());
        let mut checks = Vec::new();
        for Item {
            source,
            index,
            item,
        } in items(scene, |s| &s.file.body)
        {
            let check = Checker {
                source,
                table: "body",
                index,
            };
            check.points(&[item.position], "position")?;
            check.mass(item.mass, &["mass".into()])?;
            check.share(&item.colour, "colour")?;
            for half in item.half_extents {
                check.size(half, "half_extents")?;
                if half < check::LEAST_EXTENT {
                    return Err(check.error(
                        &["half_extents".into()],
                        format!("a half extent of {half:?} m is too small"),
                        "Use a particle for what has no size.",
                    ));
                }
            }
            check.finite(
                &[item.rotation, item.velocity, item.spin],
                "rotation, velocity and spin",
            )?;
            let square = DVec3::from(item.half_extents) * DVec3::from(item.half_extents);
            let inertia = DVec3::new(
                square.y + square.z,
                square.z + square.x,
                square.x + square.y,
            );
            nodes.push(MassNode::body(item.mass, inertia * (item.mass / 3.0)));
            frames.push((
                item.position.into(),
                rotation::from_scaled_axis(item.rotation.into()),
            ));
            motions.push((DVec3::from(item.velocity), DVec3::from(item.spin)));
            self.looks.push(BodyLook {
                name: item.name.clone(),
                half_extents: item.half_extents,
                colour: item.colour,
            });
            checks.push(check);
        }
        let mut points = Vec::new();
        for Item {
            source,
            index,
            item,
        } in items(scene, |s| &s.file.particle)
        {
            let check = Checker {
                source,
                table: "particle",
                index,
            };
            check.points(&[item.position], "position")?;
            check.mass(item.mass, &["mass".into()])?;
            check.finite(&[item.velocity], "velocity")?;
            nodes.push(MassNode::point(item.mass));
            points.push(item.position.into());
            motions.push((item.velocity.into(), DVec3::ZERO));
            checks.push(check);
        }
        if nodes.is_empty() {
            return Ok(());
        }
        let mut start = Nodes::at_rest(&frames, &points);
        for (i, (velocity, spin)) in motions.into_iter().enumerate() {
            start.velocity[i] = velocity;
            if i < frames.len() {
                start.spin[i] = spin;
            }
        }
        let bodies = Bodies::new(&nodes).map_err(|bad| {
            checks[bad.node].error(&[], bad.reason, "Correct its mass or its half extents.")
        })?;
        self.bodies = Some(self.add("bodies", Box::new(bodies), start));
        Ok(())
    }

    fn add_tissues(&mut self, scene: &Scene) -> Result<(), SceneError> {
        let mut drafts: Vec<Draft<'_>> = Vec::new();
        for item in items(scene, |s| &s.file.organ) {
            drafts.push(Draft::organ(&item)?);
        }
        for item in items(scene, |s| &s.file.pipe) {
            drafts.push(Draft::pipe(&item)?);
        }
        for item in items(scene, |s| &s.file.sheet) {
            drafts.push(Draft::sheet(&item)?);
        }
        let first = self.matters.len() as u32;
        let mut pairs = Vec::new();
        for item in items(scene, |s| &s.file.couple) {
            let new = tissue::couple(&item, &mut drafts, first)?;
            let led = |n| pairs.iter().any(|p: &Hyper| p.slave == n);
            let leads = |n| pairs.iter().any(|p: &Hyper| p.master == n);
            // A copy of a copy would lag behind and give its force to the wrong node.
            if new
                .iter()
                .any(|p| led(p.slave) || leads(p.slave) || led(p.master))
            {
                let check = Checker {
                    source: item.source,
                    table: "couple",
                    index: item.index,
                };
                return Err(check.error(
                    &["slave".into()],
                    "a ring follows one other ring, and what follows does not lead",
                    "Let one ring lead all that are joined to it.",
                ));
            }
            pairs.extend(new);
        }
        let mut nets: Vec<Net> = Vec::new();
        for draft in &drafts {
            nets.push(draft.net()?);
        }
        for pair in &pairs {
            let [a, b] = [pair.master.0, pair.slave.0].map(|m| m.index() - first as usize);
            let mut slave = nets[b].clone();
            hyper::mark(pair, &mut nets[a], &mut slave);
            nets[b] = slave;
        }
        self.hypers = pairs;
        for (draft, net) in drafts.iter().zip(nets) {
            let start = net.rest().clone();
            let (triangles, elements) = (net.triangles().to_vec(), net.element_count());
            let matter = self.add(&draft.name, Box::new(net), start);
            self.tissues.push(Tissue {
                name: draft.name.clone(),
                matter,
                colour: draft.colour,
                bears: draft.bears,
                first: draft.parts.frames.len() as u32,
                triangles,
                elements,
            });
        }
        Ok(())
    }

    fn add_ties(&mut self, scene: &Scene) -> Result<(), SceneError> {
        for Item {
            source,
            index,
            item,
        } in items(scene, |s| &s.file.tie)
        {
            let check = Checker {
                source,
                table: "tie",
                index,
            };
            let a = self.anchor(scene, &check, "a", &item.a)?;
            let b = self.anchor(scene, &check, "b", &item.b)?;
            if a == b {
                return Err(check.error(
                    &["b".into()],
                    "both ends are the same point",
                    "Name two different points.",
                ));
            }
            if a.matter == MatterId::WORLD && b.matter == MatterId::WORLD {
                return Err(check.error(
                    &["b".into()],
                    "both ends are fixed in the world",
                    "Tie something that moves.",
                ));
            }
            self.ties.push(match item.length {
                None => Tie::point(a, b),
                Some(length) => {
                    check.size(length, "length")?;
                    Tie::distance(a, b, length)
                }
            });
        }
        Ok(())
    }

    fn anchor(
        &self,
        scene: &Scene,
        check: &Checker<'_>,
        key: &'static str,
        spec: &AnchorSpec,
    ) -> Result<Anchor, SceneError> {
        let wrong = |problem: String, remedy: &str| check.error(&[key.into()], problem, remedy);
        let unknown = |kind: &str, name: &str| {
            wrong(
                format!("there is no {kind} called \"{name}\""),
                "Check the name.",
            )
        };
        let named = [
            spec.world.is_some(),
            spec.body.is_some(),
            spec.particle.is_some(),
            spec.tissue.is_some(),
        ];
        if named.iter().filter(|x| **x).count() != 1 {
            return Err(wrong(
                "a point is on one thing".into(),
                "Give exactly one of `world`, `body`, `particle`, `tissue`.",
            ));
        }
        if let Some(point) = spec.world {
            check.points(&[point], key)?;
            return Ok(Anchor::world(point.into()));
        }
        let bodies = self.bodies.unwrap_or(MatterId::WORLD);
        if let Some(name) = &spec.body {
            let node = self
                .looks
                .iter()
                .position(|b| b.name == *name)
                .ok_or_else(|| unknown("body", name))?;
            let at = spec.at.unwrap_or_default();
            check.points(&[at], key)?;
            return Ok(Anchor::frame(bodies, node as u32, at.into()));
        }
        if let Some(name) = &spec.particle {
            let node = items(scene, |s| &s.file.particle)
                .position(|p| p.item.name == *name)
                .ok_or_else(|| unknown("particle", name))?;
            return Ok(Anchor::node(bodies, (self.looks.len() + node) as u32));
        }
        let name = spec.tissue.as_deref().unwrap_or_default();
        let tissue = self
            .tissues
            .iter()
            .find(|t| t.name == name)
            .ok_or_else(|| unknown("tissue", name))?;
        let start = &self.start[tissue.matter.index()];
        match (spec.node, spec.at) {
            (Some(node), None) => {
                let index = tissue.first as usize + node as usize;
                if index >= start.len() {
                    let most = start.len() - 1 - tissue.first as usize;
                    return Err(wrong(
                        format!("{name} has no node {node}"),
                        &format!("Its surface nodes are 0 to {most}."),
                    ));
                }
                Ok(Anchor::node(tissue.matter, index as u32))
            }
            (None, Some(at)) => {
                check.points(&[at], key)?;
                Ok(Anchor {
                    matter: tissue.matter,
                    at: nearest(tissue, start, at.into()),
                })
            }
            _ => Err(wrong(
                "a point on a tissue is a node or a place".into(),
                "Give either `node` or `at`.",
            )),
        }
    }

    fn add_backdrops(&mut self, scene: &Scene) -> Result<(), SceneError> {
        for Item {
            source,
            index,
            item,
        } in items(scene, |s| &s.file.scenery)
        {
            let check = Checker {
                source,
                table: "scenery",
                index,
            };
            check.positive(item.scale, "scale")?;
            check.share(&item.colour, "colour")?;
            check.share(&[item.opacity], "opacity")?;
            check.points(&[item.position], "position")?;
            let mut surface = backdrop(scene, &check, item)?;
            for p in &mut surface.positions {
                *p = *p * item.scale + DVec3::from(item.position);
            }
            let extent = surface
                .positions
                .iter()
                .map(|p| p.abs().max_element())
                .fold(0.0, f64::max);
            if extent > check::MAX_COORDINATE {
                return Err(check.error(
                    &["scale".into()],
                    format!("the mesh reaches {extent:.0} m from the origin"),
                    "Trocar measures in metres; a mesh in millimetres needs scale = 0.001.",
                ));
            }
            self.backdrops.push(Backdrop {
                name: item.name.clone(),
                surface,
                colour: item.colour,
                opacity: item.opacity,
            });
        }
        Ok(())
    }

    /// Finds connected matter and its bounds.
    fn connect(&mut self) {
        let first = self.prescribed();
        let mut leader: Vec<usize> = (0..self.matters.len()).collect();
        fn find(leader: &[usize], mut i: usize) -> usize {
            while leader[i] != i {
                i = leader[i];
            }
            i
        }
        let ends = self
            .ties
            .iter()
            .map(|t| (t.a.matter.index(), t.b.matter.index()));
        let ends = ends.chain(
            self.hypers
                .iter()
                .map(|h| (h.master.0.index(), h.slave.0.index())),
        );
        for (a, b) in ends.filter(|(a, b)| *a >= first && *b >= first) {
            let (a, b) = (find(&leader, a), find(&leader, b));
            leader[a.max(b)] = a.min(b);
        }
        for root in first..self.matters.len() {
            let members: Vec<MatterId> = (root..self.matters.len())
                .filter(|i| find(&leader, *i) == root)
                .map(|i| MatterId(i as u32))
                .collect();
            if !members.is_empty() {
                let bounds = self.bounds(&members);
                self.groups.push(Connected { members, bounds });
            }
        }
    }

    fn bounds(&self, members: &[MatterId]) -> StepBounds {
        let nets: Vec<(MatterId, &Net)> = members
            .iter()
            .filter_map(|m| {
                let any: &dyn std::any::Any = &*self.matters[m.index()];
                Some((*m, any.downcast_ref::<Net>()?))
            })
            .collect();
        let local = |m: MatterId| {
            nets.iter()
                .position(|n| n.0 == m)
                .map(|i| MatterId(i as u32))
        };
        let hypers: Vec<Hyper> = self
            .hypers
            .iter()
            .filter_map(|h| {
                Some(Hyper {
                    master: (local(h.master.0)?, h.master.1),
                    slave: (local(h.slave.0)?, h.slave.1),
                    factor: h.factor,
                })
            })
            .collect();
        let nets: Vec<&Net> = nets.iter().map(|n| n.1).collect();
        stability::bounds(&nets, &hypers)
    }

    fn check_substeps(&self, scene: &Scene) -> Result<(), SceneError> {
        for group in &self.groups {
            let substeps = substeps(self.step, group.bounds.safe);
            if substeps > MAX_SUBSTEPS || group.bounds.flutters {
                let names: Vec<&str> = group
                    .members
                    .iter()
                    .map(|m| self.names[m.index()].as_str())
                    .collect();
                // The stiffest member is to blame; bodies alone need no substeps.
                let member = group
                    .members
                    .iter()
                    .min_by(|a, b| {
                        let bound = |m: &MatterId| self.matters[m.index()].stable_step();
                        bound(a).total_cmp(&bound(b))
                    })
                    .and_then(|m| check::find(scene, &self.names[m.index()]));
                let (source, table, index) = member.unwrap_or((scene.main(), "world", 0));
                let at = |key| {
                    [
                        Key::Name(table),
                        Key::Index(index),
                        Key::Name("material"),
                        Key::Name(key),
                    ]
                };
                let names = names.join(", ");
                return Err(if group.bounds.flutters {
                    source.error(
                        &at("damping"),
                        format!("{names} would swing up by itself at any step: its central nodes are damped, its surface hardly"),
                        "Raise `damping`, or lower `centre_damping` and `turn_damping`.",
                    )
                } else {
                    source.error(
                        &at("stiffness"),
                        format!(
                            "{names} would need {substeps} substeps in every step of {} s",
                            self.step
                        ),
                        "Make its springs softer, its nodes heavier or its damping greater.",
                    )
                });
            }
        }
        Ok(())
    }
}

/// How many substeps a step of `dt` needs.
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

fn check_camera(scene: &Scene, camera: &Camera) -> Result<(), SceneError> {
    let at = |key: &'static str| [Key::Name("camera"), Key::Name(key)];
    let says = |s: &&Source| s.file.camera.is_some();
    let source = scene
        .sources
        .iter()
        .rev()
        .find(says)
        .unwrap_or(scene.main());
    for (key, point) in [("eye", camera.eye), ("target", camera.target)] {
        if !point.iter().all(|x| x.abs() <= check::MAX_COORDINATE) {
            return Err(source.error(
                &at(key),
                format!("the camera's {key} is out of range"),
                "Trocar measures in metres: 85 mm is 0.085.",
            ));
        }
    }
    let along = DVec3::from(camera.target) - DVec3::from(camera.eye);
    let up = DVec3::from(camera.up);
    // Where the view has no direction, or none is up, there is no picture.
    if !(up.is_finite() && along.cross(up.normalize_or_zero()).length() > 1e-6) {
        return Err(source.error(
            &at("eye"),
            "eye, target and up do not span a view",
            "Look at a point other than the eye, and not straight along up.",
        ));
    }
    if !(5.0..=150.0).contains(&camera.field_of_view) {
        return Err(source.error(
            &at("field_of_view"),
            format!("a view of {} degrees is out of range", camera.field_of_view),
            "Choose between 5 and 150 degrees.",
        ));
    }
    Ok(())
}

fn default_camera() -> Camera {
    Camera {
        eye: [0.0, 0.12, 0.22],
        target: [0.0; 3],
        up: [0.0, 1.0, 0.0],
        field_of_view: 50.0,
    }
}

fn backdrop(scene: &Scene, check: &Checker<'_>, item: &Scenery) -> Result<Surface, SceneError> {
    match (&item.mesh, &item.tube) {
        (Some(mesh), None) => scene
            .mesh(check.source, mesh)
            .cloned()
            .ok_or_else(|| check.error(&["mesh".into()], "the mesh was not read", "")),
        (None, Some(tube)) => {
            let shape = TubeShape {
                path: tube.path.iter().map(|p| DVec3::from(*p)).collect(),
                radii: tube.radii.clone(),
                up: DVec3::Y,
                rings: tube.rings,
                around: tube.around,
            };
            let tube = shape
                .organ()
                .map_err(|e| tissue::shape_error(check, &["tube".into()], &e))?;
            Ok(tube.surface)
        }
        _ => Err(check.error(
            &[],
            "scenery is a mesh or a tube",
            "Give either `mesh` or `tube`.",
        )),
    }
}

fn nearest(tissue: &Tissue, start: &Nodes, point: DVec3) -> Local {
    let mut best = (f64::INFINITY, Local::Node(tissue.first));
    for t in &tissue.triangles {
        let corners = t.map(|n| start.position[n as usize]);
        let weights = on_triangle(point, corners);
        let distance = trocar_collide::closest::point(corners, weights).distance_squared(point);
        if distance < best.0 {
            best = (distance, Local::Triangle(*t, weights));
        }
    }
    best.1
}

/// The pose of a frame in a share of state.
pub fn pose(nodes: &Nodes, frame: usize) -> Pose {
    Pose::new(nodes.position[frame], nodes.orientation[frame])
}

//! Tissues of a scene, on their way to nets.

use super::{Item, check::Checker, items};
use crate::{
    file::{
        Couple, IntegratorName, LawSpec, Look, MaterialSpec, NetSpec, Ring, Select, SheetTissue,
        TubeTissue,
    },
    load::{Key, Scene, SceneError},
};
use glam::DVec3;
use std::ops::Range;
use trocar_dynamics::{Integrator, Lock, MatterId};
use trocar_math::{Pose, rotation};
use trocar_mesh::primitive::{ShapeError, SheetShape, TubeShape};
use trocar_soft::{Base, Hyper, Material, Net, NetKind, NetParts, NodeFlags, hyper, primitive};

/// A tissue whose nodes may still be moved.
pub struct Draft<'a> {
    check: Checker<'a>,
    pub name: String,
    pub parts: NetParts,
    pub colour: [f64; 3],
    pub look: Look,
    pub source: Option<String>,
    pub bears: f64,
    pub friction: Option<[f64; 2]>,
    /// Rings, or rows of a sheet: nodes in each, and how many there are.
    around: usize,
    rings: usize,
    selected: &'a [Select],
    /// The tissue's own frame in the world (K52).
    frame: Pose,
}

impl<'a> Draft<'a> {
    /// A closed tissue.
    pub fn organ(item: &Item<'a, TubeTissue>) -> Result<Self, SceneError> {
        let check = Checker {
            source: item.source,
            table: "organ",
            index: item.index,
        };
        check.share(&item.item.colour, "colour")?;
        let material = material(&check, &item.item.material)?;
        let tube = tube_shape(&check, item.item)?
            .organ()
            .map_err(|e| shape_error(&check, &[], &e))?;
        Self::tube(check, item.item, primitive::organ(&tube, &material))
    }

    /// An open tube.
    pub fn pipe(item: &Item<'a, TubeTissue>) -> Result<Self, SceneError> {
        let check = Checker {
            source: item.source,
            table: "pipe",
            index: item.index,
        };
        check.share(&item.item.colour, "colour")?;
        let material = material(&check, &item.item.material)?;
        let tube = tube_shape(&check, item.item)?
            .pipe()
            .map_err(|e| shape_error(&check, &[], &e))?;
        Self::tube(check, item.item, primitive::pipe(&tube, &material))
    }

    fn tube(check: Checker<'a>, item: &'a TubeTissue, parts: NetParts) -> Result<Self, SceneError> {
        let frame = frame(&check, item.position, item.rotation)?;
        Ok(Self {
            check,
            name: item.name.clone(),
            parts: placed(parts, &frame),
            frame,
            colour: item.colour,
            look: item.look,
            source: item.material.source.clone(),
            bears: item.material.bears,
            friction: item.material.friction,
            around: item.around,
            rings: item.rings,
            selected: &item.fixed,
        })
    }

    /// An open sheet.
    pub fn sheet(item: &Item<'a, SheetTissue>) -> Result<Self, SceneError> {
        let spec = item.item;
        let check = Checker {
            source: item.source,
            table: "sheet",
            index: item.index,
        };
        check.share(&spec.colour, "colour")?;
        let material = material(&check, &spec.material)?;
        check.points(&[spec.origin], "origin")?;
        check.points(&[spec.u], "u")?;
        check.points(&[spec.v], "v")?;
        let shape = SheetShape {
            origin: spec.origin.into(),
            u: spec.u.into(),
            v: spec.v.into(),
            rows: spec.rows,
            columns: spec.columns,
        };
        let surface = shape.surface().map_err(|e| shape_error(&check, &[], &e))?;
        let edges = shape
            .lattice_edges()
            .map_err(|e| shape_error(&check, &[], &e))?;
        let frame = frame(&check, spec.position, spec.rotation)?;
        Ok(Self {
            check,
            name: spec.name.clone(),
            parts: placed(primitive::sheet(&surface, &edges, &material), &frame),
            frame,
            colour: spec.colour,
            look: spec.look,
            source: spec.material.source.clone(),
            bears: spec.material.bears,
            friction: spec.material.friction,
            around: spec.columns,
            rings: spec.rows,
            selected: &spec.fixed,
        })
    }

    /// The surface nodes of a ring, as indices of points.
    fn ring(&self, ring: usize) -> Option<Range<usize>> {
        (ring < self.rings).then(|| ring * self.around..(ring + 1) * self.around)
    }

    /// Central nodes of which there is one for each ring.
    fn ring_frame(&self, ring: usize) -> Option<usize> {
        (self.parts.frames.len() == self.rings).then_some(ring)
    }

    /// Indices of the nodes that are fixed, and how (K24, K56).
    fn fixed(&self) -> Result<Vec<(usize, Lock)>, SceneError> {
        let first = self.parts.frames.len();
        let mut fixed = Vec::new();
        for (i, select) in self.selected.iter().enumerate() {
            let at = [Key::Name("fixed"), Key::Index(i)];
            let mut nodes = Vec::new();
            let lock = if select.axes == [0.0; 3] {
                Lock::Fixed
            } else {
                self.check.share(&select.axes, "fixed")?;
                Lock::Axes(select.axes.into(), self.frame.rotation)
            };
            match (select.ring, &select.nodes, select.within) {
                (Some(ring), None, None) => {
                    let range = self.ring(ring).ok_or_else(|| {
                        let last = self.rings - 1;
                        self.check.error(
                            &at,
                            format!("there is no ring {ring}"),
                            format!("Rings are counted from 0 to {last}."),
                        )
                    })?;
                    nodes.extend(range.map(|v| first + v));
                    nodes.extend(self.ring_frame(ring));
                }
                (None, Some(list), None) => {
                    for node in list {
                        let index = first + *node as usize;
                        if index >= self.parts.nodes.len() {
                            let last = self.parts.points.len() - 1;
                            return Err(self.check.error(
                                &at,
                                format!("there is no node {node}"),
                                format!("Surface nodes are counted from 0 to {last}."),
                            ));
                        }
                        nodes.push(index);
                    }
                }
                (None, None, Some(ball)) => {
                    self.check.points(&[ball.centre], "fixed")?;
                    if !(ball.radius > 0.0 && ball.radius.is_finite()) {
                        return Err(self.check.error(
                            &at,
                            format!("the ball's radius is {}; it must be positive", ball.radius),
                            "Correct the number.",
                        ));
                    }
                    for (v, p) in self.parts.points.iter().enumerate() {
                        if p.distance(ball.centre.into()) <= ball.radius {
                            nodes.push(first + v);
                        }
                    }
                    if nodes.is_empty() {
                        return Err(self.check.error(
                            &at,
                            "no node lies inside this ball",
                            "Move it or make it larger.",
                        ));
                    }
                }
                _ => {
                    return Err(self.check.error(
                        &at,
                        "a selection is one of `ring`, `nodes`, `within`",
                        "Give exactly one of them.",
                    ));
                }
            }
            fixed.extend(nodes.into_iter().map(|n| (n, lock)));
        }
        Ok(fixed)
    }

    /// The net, its fixed nodes fixed; `matter` is its own name in `hypers`.
    pub fn net(&self, matter: MatterId, hypers: &[Hyper]) -> Result<Net, SceneError> {
        let mut parts = self.parts.clone();
        for (node, lock) in self.fixed()? {
            parts.nodes[node].lock = lock;
            parts.flags[node].set(NodeFlags::FIXED, lock == Lock::Fixed);
        }
        let mut net = Net::new(parts).map_err(|e| {
            self.check
                .error(&[], e.to_string(), "Correct the tissue's numbers.")
        })?;
        for pair in hypers {
            hyper::mark(pair, matter, &mut net);
        }
        Ok(net)
    }

    /// Moves a surface node and with it the rest lengths of its elements.
    fn place(&mut self, point: usize, position: DVec3) {
        self.parts.points[point] = position;
        let first = self.parts.frames.len();
        let moved = (first + point) as u32;
        let at = |parts: &NetParts, n: u32| {
            let n = n as usize;
            if n < first {
                parts.frames[n].position
            } else {
                parts.points[n - first]
            }
        };
        for i in 0..self.parts.elements.len() {
            let [a, b] = self.parts.elements[i].nodes;
            if (a == moved || b == moved) && self.parts.elements[i].rest_length > 0.0 {
                self.parts.elements[i].rest_length =
                    at(&self.parts, a).distance(at(&self.parts, b));
            }
        }
    }
}

fn frame(check: &Checker<'_>, position: [f64; 3], turn: [f64; 3]) -> Result<Pose, SceneError> {
    check.points(&[position], "position")?;
    check.finite(&[turn], "rotation")?;
    Ok(Pose::new(
        position.into(),
        rotation::from_scaled_axis(turn.into()),
    ))
}

/// The parts, built in a frame of their own, where that frame is in the world.
fn placed(mut parts: NetParts, frame: &Pose) -> NetParts {
    for z in &mut parts.frames {
        *z = frame.compose(z);
    }
    for p in &mut parts.points {
        *p = frame.point(*p);
    }
    parts
}

/// All tissues of a scene, their rings coupled; the first will be matter `first`.
pub fn drafts(scene: &Scene, first: u32) -> Result<(Vec<Draft<'_>>, Vec<Hyper>), SceneError> {
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
    let mut pairs = Vec::new();
    for item in items(scene, |s| &s.file.couple) {
        let new = couple(&item, &mut drafts, first)?;
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
    Ok((drafts, pairs))
}

/// The material of tissue `index` of a scene, counted as in [`drafts`].
pub fn material_of(scene: &Scene, index: usize) -> Option<&MaterialSpec> {
    let organs = items(scene, |s| &s.file.organ).map(|i| &i.item.material);
    let pipes = items(scene, |s| &s.file.pipe).map(|i| &i.item.material);
    let sheets = items(scene, |s| &s.file.sheet).map(|i| &i.item.material);
    organs.chain(pipes).chain(sheets).nth(index)
}

/// Writes the material of tissue `index`.
pub fn set_material(scene: &mut Scene, index: usize, material: &MaterialSpec) {
    let mut left = index;
    let mut visit = |place: &mut MaterialSpec| {
        if left == 0 {
            place.clone_from(material);
        }
        left = left.wrapping_sub(1);
    };
    let files = &mut scene.sources;
    for s in files.iter_mut() {
        s.file.organ.iter_mut().for_each(|x| visit(&mut x.material));
    }
    for s in files.iter_mut() {
        s.file.pipe.iter_mut().for_each(|x| visit(&mut x.material));
    }
    for s in files.iter_mut() {
        s.file.sheet.iter_mut().for_each(|x| visit(&mut x.material));
    }
}

/// Couples two rings (K54): moves the slave's nodes onto the master's and pairs them.
fn couple(
    item: &Item<'_, Couple>,
    drafts: &mut [Draft<'_>],
    first: u32,
) -> Result<Vec<Hyper>, SceneError> {
    let check = Checker {
        source: item.source,
        table: "couple",
        index: item.index,
    };
    let find = |ring: &Ring, key: &'static str| -> Result<(usize, Range<usize>), SceneError> {
        let wrong = |problem: String| {
            check.error(
                &[key.into()],
                problem,
                "Name an organ or pipe and one of its rings.",
            )
        };
        let draft = drafts
            .iter()
            .position(|d| d.name == ring.tissue)
            .ok_or_else(|| wrong(format!("there is no tissue called \"{}\"", ring.tissue)))?;
        let range = drafts[draft]
            .ring(ring.ring)
            .ok_or_else(|| wrong(format!("{} has no ring {}", ring.tissue, ring.ring)))?;
        Ok((draft, range))
    };
    let couple = item.item;
    let (a, master) = find(&couple.master, "master")?;
    let (b, slave) = find(&couple.slave, "slave")?;
    if a == b || master.len() != slave.len() {
        return Err(check.error(
            &["slave".into()],
            format!("the rings have {} and {} nodes", master.len(), slave.len()),
            "Couple rings of two different tissues with equally many nodes.",
        ));
    }
    if !(0.0..=1.0).contains(&couple.force_factor) {
        return Err(check.error(
            &["force_factor".into()],
            "the factor lies between 0 and 1",
            "1 keeps momentum.",
        ));
    }
    let masters: Vec<DVec3> = master.clone().map(|v| drafts[a].parts.points[v]).collect();
    let slaves: Vec<DVec3> = slave.clone().map(|v| drafts[b].parts.points[v]).collect();
    let pairs = hyper::matching(&masters, &slaves);
    let (before, after) = (drafts[a].parts.frames.len(), drafts[b].parts.frames.len());
    let mut hypers = Vec::new();
    for (j, i) in pairs.into_iter().enumerate() {
        drafts[b].place(slave.start + j, masters[i]);
        hypers.push(Hyper {
            master: (
                MatterId(first + a as u32),
                (before + master.start + i) as u32,
            ),
            slave: (MatterId(first + b as u32), (after + slave.start + j) as u32),
            factor: couple.force_factor,
        });
    }
    Ok(hypers)
}

fn tube_shape(check: &Checker<'_>, item: &TubeTissue) -> Result<TubeShape, SceneError> {
    check.points(&item.path, "path")?;
    for r in item.radii.iter().flatten() {
        check.size(*r, "radii")?;
    }
    check.finite(&[item.up], "up")?;
    Ok(TubeShape {
        path: item.path.iter().map(|p| DVec3::from(*p)).collect(),
        radii: item.radii.clone(),
        up: item.up.into(),
        rings: item.rings,
        around: item.around,
    })
}

/// An error of a shape, at the key it is about.
pub fn shape_error(check: &Checker<'_>, at: &[Key], error: &ShapeError) -> SceneError {
    let (key, remedy) = match error {
        ShapeError::TooFew { what, least, .. } => (*what, format!("Give at least {least}.")),
        ShapeError::TooManyNodes { .. } if check.table == "sheet" => {
            ("rows", "Use fewer nodes.".into())
        }
        ShapeError::TooManyNodes { .. } => ("rings", "Use fewer nodes.".into()),
        ShapeError::RadiusCount { .. } | ShapeError::BadRadius { .. } => {
            ("radii", "Correct the radii.".into())
        }
        ShapeError::PathLength { .. }
        | ShapeError::PathStandsStill { .. }
        | ShapeError::Folded { .. } => ("path", "Correct the path.".into()),
        ShapeError::FlatSheet { .. } => ("v", "Turn one of the sides.".into()),
        ShapeError::NotFinite { what, .. } => (*what, "Correct the number.".into()),
    };
    let mut place = at.to_vec();
    place.push(Key::Name(key));
    check.error(&place, error.to_string(), remedy)
}

fn material(check: &Checker<'_>, spec: &MaterialSpec) -> Result<Material, SceneError> {
    let at = |key: &'static str| [Key::Name("material"), Key::Name(key)];
    check.mass(spec.mass, &at("mass"))?;
    check.mass(spec.centre_mass, &at("centre_mass"))?;
    if !(spec.bears > 0.0 && spec.bears <= 1e3) {
        return Err(check.error(
            &at("bears"),
            format!(
                "bears is {:?}; it must be positive, at most 1000",
                spec.bears
            ),
            "It is a force in N.",
        ));
    }
    if spec.source.as_ref().is_some_and(|s| s.trim().is_empty()) {
        return Err(check.error(
            &at("source"),
            "the source is empty",
            "Say where the constants were measured, or leave it out.",
        ));
    }
    if let Some(friction) = spec.friction {
        check.friction(friction, &at("friction"))?;
    }
    let constants = [
        ("damping", spec.damping),
        ("stiffness", spec.stiffness),
        ("memory", spec.memory),
        ("centre_damping", spec.centre_damping),
        ("turn_damping", spec.turn_damping),
        ("centre_stiffness", spec.centre_stiffness),
        ("torsion", spec.torsion),
        ("bending", spec.bending),
        ("brace", spec.brace),
        ("gain", spec.gain[0]),
        ("gain", spec.gain[1]),
    ];
    for (key, value) in constants {
        if !(0.0..=1e9).contains(&value) {
            return Err(check.error(
                &at(key),
                format!("{key} is {value:?}; it must be at least 0, at most 1e9"),
                "Correct the number.",
            ));
        }
    }
    let base = |law| match law {
        LawSpec::Linear => Base::Linear,
        LawSpec::Quadratic => Base::Quadratic,
    };
    Ok(Material {
        mass: spec.mass,
        damping: spec.damping,
        stiffness: spec.stiffness,
        base: base(spec.law),
        gain: spec.gain,
        net: match spec.net {
            NetSpec::A => NetKind::A,
            NetSpec::B => NetKind::B,
            NetSpec::C => NetKind::C,
        },
        memory: spec.memory,
        memory_base: base(spec.memory_law),
        centre_mass: spec.centre_mass,
        centre_damping: spec.centre_damping,
        turn_damping: spec.turn_damping,
        centre_stiffness: spec.centre_stiffness,
        torsion: spec.torsion,
        bending: spec.bending,
        brace: spec.brace,
        gravity: spec.gravity,
        integrator: integrator(check, spec)?,
        ground: spec.ground,
    })
}

/// The scheme a material names, if it can work.
fn integrator(check: &Checker<'_>, spec: &MaterialSpec) -> Result<Integrator, SceneError> {
    for (key, value) in [
        ("quasi_factor", spec.quasi_factor),
        ("velocity_weight", spec.velocity_weight),
    ] {
        if !(value > 0.0 && value <= 1.0) {
            return Err(check.error(
                &[Key::Name("material"), Key::Name(key)],
                format!("{key} is {value:?}; it must be above 0, at most 1"),
                "Correct the number.",
            ));
        }
    }
    if let Some(ground) = spec.ground
        && !ground.is_finite()
    {
        return Err(check.error(
            &[Key::Name("material"), Key::Name("ground")],
            "the height of the ground must be finite",
            "Correct the number.",
        ));
    }
    if spec.integrator == IntegratorName::QuasiDynamic && spec.damping == 0.0 {
        return Err(check.error(
            &[Key::Name("material"), Key::Name("damping")],
            "quasi-dynamics divides by the damping, which is 0",
            "Give it a damping, or another integrator.",
        ));
    }
    Ok(match spec.integrator {
        IntegratorName::Mesd => Integrator::Mesd,
        IntegratorName::QuasiDynamic => Integrator::QuasiDynamic(spec.quasi_factor),
        IntegratorName::ModifiedRungeKutta => Integrator::ModifiedRungeKutta,
        IntegratorName::ModifiedHeun => Integrator::ModifiedHeun,
        IntegratorName::Euler => Integrator::Euler,
        IntegratorName::RungeKutta => Integrator::RungeKutta,
        IntegratorName::Heun => Integrator::Heun,
        IntegratorName::Weighted => Integrator::Weighted(spec.velocity_weight),
        IntegratorName::Midpoint => Integrator::Midpoint,
    })
}

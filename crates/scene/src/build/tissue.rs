//! Tissues of a scene, on their way to nets.

use super::{
    Item,
    answer::{self, Signals},
    bridge::{Bridge, bridge, is_bridge},
    check::Checker,
    couple,
    explicit::without_area,
    items,
    material::material,
};
use crate::{
    file::{EditSpec, Look, MaterialSpec, Select, SheetTissue, TubeTissue},
    load::{Key, Scene, SceneError},
};
use glam::DVec3;
use std::ops::Range;
use trocar_dynamics::{Lock, Matter, MatterId};
use trocar_math::{Pose, rotation};
use trocar_mesh::primitive::{ShapeError, SheetShape, TubeShape};
use trocar_soft::{Element, Hyper, Material, Net, NetParts, hyper, primitive};

/// What all kinds of tissue say.
pub struct Common<'a> {
    pub name: &'a str,
    pub position: [f64; 3],
    pub rotation: [f64; 3],
    pub material: &'a MaterialSpec,
    pub fixed: &'a [Select],
    pub colour: [f64; 3],
    pub look: Look,
}

/// A tissue whose nodes may still be moved.
pub struct Draft<'a> {
    pub(super) check: Checker<'a>,
    pub name: String,
    pub parts: NetParts,
    pub colour: [f64; 3],
    pub look: Look,
    pub source: Option<String>,
    pub bears: f64,
    pub friction: Option<[f64; 2]>,
    pub contact_thickness: Option<f64>,
    pub touchable: bool,
    /// Rings, or rows of a sheet: nodes in each, and how many there are.
    around: usize,
    rings: usize,
    selected: &'a [Select],
    /// The tissue's own frame in the world (K52).
    pub(super) frame: Pose,
    /// What it is made of.
    pub(super) material: Material,
    /// Place of each central node of the file among the frames; empty if it is the same.
    pub(super) centres: Vec<usize>,
    /// How many central nodes its shape has, without those that were added.
    shape_centres: usize,
    /// Texture coordinates of the surface nodes, if it has any.
    pub texture: Vec<[f64; 2]>,
    /// Central nodes of which the file says how they resist turning.
    pub(super) turning: Vec<usize>,
    /// Nodes that were left out: they are still counted, but nothing moves them.
    pub(super) left_out: Vec<usize>,
}

impl<'a> Draft<'a> {
    /// The same with what is different about it.
    fn edited(mut self, edit: &EditSpec, signals: &Signals) -> Result<Self, SceneError> {
        self.edit(edit, signals)?;
        Ok(self)
    }

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
        let parts = primitive::organ(&tube, &material);
        Self::tube(check, item.item, parts, material)
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
        let parts = primitive::pipe(&tube, &material);
        Self::tube(check, item.item, parts, material)
    }

    fn tube(
        check: Checker<'a>,
        item: &'a TubeTissue,
        parts: NetParts,
        material: Material,
    ) -> Result<Self, SceneError> {
        let common = Common {
            name: &item.name,
            position: item.position,
            rotation: item.rotation,
            material: &item.material,
            fixed: &item.fixed,
            colour: item.colour,
            look: item.look,
        };
        let mut draft = Self::of(check, parts, common, material)?;
        (draft.around, draft.rings) = (item.around, item.rings);
        Ok(draft)
    }

    /// A tissue of these parts, built in its own frame.
    pub(super) fn of(
        check: Checker<'a>,
        parts: NetParts,
        common: Common<'a>,
        material: Material,
    ) -> Result<Self, SceneError> {
        let frame = frame(&check, common.position, common.rotation)?;
        let parts = NetParts {
            mobile: common.material.mobile,
            ..parts
        };
        Ok(Self {
            check,
            name: common.name.into(),
            shape_centres: parts.frames.len(),
            parts: placed(parts, &frame),
            frame,
            material,
            colour: common.colour,
            look: common.look,
            source: common.material.source.clone(),
            bears: common.material.bears,
            friction: common.material.friction,
            contact_thickness: common.material.contact_thickness,
            touchable: common.material.touchable,
            around: 0,
            rings: 0,
            selected: common.fixed,
            centres: Vec::new(),
            texture: Vec::new(),
            turning: Vec::new(),
            left_out: Vec::new(),
        })
    }

    /// One that is not made, in the place that others are counted by.
    fn absent<T>(
        item: &Item<'a, T>,
        table: &'static str,
        name: &'a str,
        spec: &'a MaterialSpec,
    ) -> Result<Self, SceneError> {
        let check = Checker {
            source: item.source,
            table,
            index: item.index,
        };
        let material = material(&check, spec)?;
        let common = Common {
            name,
            position: [0.0; 3],
            rotation: [0.0; 3],
            material: spec,
            fixed: &[],
            colour: [0.0; 3],
            look: Look::default(),
        };
        Self::of(check, NetParts::default(), common, material)
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
        let common = Common {
            name: &spec.name,
            position: spec.position,
            rotation: spec.rotation,
            material: &spec.material,
            fixed: &spec.fixed,
            colour: spec.colour,
            look: spec.look,
        };
        let parts = primitive::sheet(&surface, &edges, &material);
        let mut draft = Self::of(check, parts, common, material)?;
        (draft.around, draft.rings) = (spec.columns, spec.rows);
        Ok(draft)
    }

    /// The frame of a central node, as the file counts them.
    pub(super) fn centre(&self, centre: usize) -> Option<usize> {
        match self.centres.get(centre) {
            Some(frame) => Some(*frame),
            None => (self.centres.is_empty() && centre < self.parts.frames.len()).then_some(centre),
        }
    }

    /// Ring and place in it of a surface node; none for poles, and where there are no rings.
    pub(super) fn ring_of(&self, point: usize) -> Option<(usize, usize)> {
        let ring = point.checked_div(self.around)?;
        (ring < self.rings).then_some((ring, point % self.around))
    }

    /// Where a node is at rest, m.
    pub(super) fn at(&self, node: u32) -> DVec3 {
        let (node, first) = (node as usize, self.parts.frames.len());
        match self.parts.frames.get(node) {
            Some(frame) => frame.position,
            None => self.parts.points[node - first],
        }
    }

    /// The surface nodes of a ring, as indices of points.
    pub(super) fn ring(&self, ring: usize) -> Option<Range<usize>> {
        (ring < self.rings).then(|| ring * self.around..(ring + 1) * self.around)
    }

    /// Central nodes of which there is one for each ring.
    fn ring_frame(&self, ring: usize) -> Option<usize> {
        let one_each = self.shape_centres == self.rings;
        one_each.then(|| self.centre(ring)).flatten()
    }

    /// Indices of the nodes that are fixed, and how (K24, K56).
    pub(super) fn fixed(&self) -> Result<Vec<(usize, Lock)>, SceneError> {
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
                        let last = self.rings.saturating_sub(1);
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

    /// The net, its fixed nodes fixed; `matter` is its own name among `all`.
    pub fn net(&self, matter: MatterId, all: &Drafts<'_>) -> Result<Net, SceneError> {
        let mut parts = self.parts.clone();
        for (node, lock) in self.fixed()? {
            parts.nodes[node].lock = lock;
        }
        for node in &self.left_out {
            parts.nodes[*node].lock = Lock::Fixed;
        }
        self.check_areas(&parts)?;
        let mut net = Net::new(parts).map_err(|e| {
            self.check
                .error(&[], e.to_string(), "Correct the tissue's numbers.")
        })?;
        self.check_ground(&net)?;
        for pair in &all.hypers {
            hyper::mark(pair, matter, &mut net);
        }
        for ((_, node), mass) in all.loads.iter().filter(|load| load.0.0 == matter) {
            net.load(*node as usize, *mass);
        }
        Ok(net)
    }

    /// Triangles without area have no normal, and whatever touches them would not be pushed anywhere: neither those that were given, nor those that
    /// edits and couples have left.
    fn check_areas(&self, parts: &NetParts) -> Result<(), SceneError> {
        // Triangles lie between points; frames come before these.
        let first = parts.frames.len() as u32;
        let own = parts.triangles.iter();
        let own: Vec<[u32; 3]> = own.map(|t| t.map(|n| n - first)).collect();
        let Some(flat) = without_area(&parts.points, &own) else {
            return Ok(());
        };
        let [a, b, c] = own[flat];
        Err(self.check.error(
            &[],
            format!(
                "facet {flat} of {}, of nodes {a}, {b} and {c}, has no area",
                self.name
            ),
            "Move one of its nodes, or couple it elsewhere.",
        ))
    }

    /// The ground lifts what is below it within one substep, and so would throw what starts there.
    fn check_ground(&self, net: &Net) -> Result<(), SceneError> {
        // Less than anyone sees; turned tissue that lies on the ground is below it by rounding.
        const ROUNDING: f64 = 1e-9;
        let Some(ground) = net.masses().ground() else {
            return Ok(());
        };
        let heights = net.rest().position.iter().map(|p| p.y).enumerate();
        let below = heights.filter(|(i, y)| *y < ground - ROUNDING && net.masses().can_rise(*i));
        match below.map(|(_, y)| y).reduce(f64::min) {
            None => Ok(()),
            Some(lowest) => Err(self.check.error(
                &[Key::Name("material"), Key::Name("ground")],
                format!(
                    "{} starts below its ground: its lowest free node is at {lowest} m, the ground at {ground} m",
                    self.name
                ),
                "Move the tissue up, lower the ground, or fix the nodes below it.",
            )),
        }
    }

    /// Moves nodes, all at once, and with them the rest lengths of their elements: each stays the same part of how far
    /// its ends are apart, whatever the material or its own description made it.
    pub(super) fn place_nodes(&mut self, moves: &[(usize, DVec3)]) {
        let first = self.parts.frames.len();
        let apart = |draft: &Self, e: &Element| draft.at(e.nodes[0]).distance(draft.at(e.nodes[1]));
        // Measured before any node moves: one that passes over its neighbour's old place must not lose its length.
        let moved = |e: &Element| {
            let is = |n: u32| moves.iter().any(|m| m.0 == n as usize);
            e.nodes.iter().any(|n| is(*n))
        };
        let before: Vec<(usize, f64)> = (self.parts.elements.iter().enumerate())
            .filter(|(_, e)| e.rest_length > 0.0 && moved(e))
            .map(|(i, e)| (i, apart(self, e)))
            .collect();
        for (node, position) in moves {
            match node.checked_sub(first) {
                Some(point) => self.parts.points[point] = *position,
                None => self.parts.frames[*node].position = *position,
            }
        }
        for (i, was) in before {
            let is = apart(self, &self.parts.elements[i]);
            // Ends that lay in one place give no ratio; the length that was written for them stays.
            if was > 0.0 {
                self.parts.elements[i].rest_length *= is / was;
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

/// The tissues of a scene, and how they are joined to each other and to bodies.
pub struct Drafts<'a> {
    /// In the order of their matter.
    pub list: Vec<Draft<'a>>,
    /// Nodes that copy others.
    pub hypers: Vec<Hyper>,
    /// Nodes that lead, and the mass that each of their copies adds to theirs, kg.
    pub loads: Vec<((MatterId, u32), f64)>,
    /// Central nodes that follow others: ties hold them together.
    pub tied: Vec<Hyper>,
    /// Nodes that bodies hold: the body's name, the net's matter, and the node.
    pub held: Vec<(Checker<'a>, &'a str, MatterId, u32)>,
    /// Couples with membranes.
    pub bridges: Vec<Bridge<'a>>,
}

/// All tissues of a scene, coupled; the first will be matter `first`.
pub fn drafts(scene: &Scene, first: u32) -> Result<Drafts<'_>, SceneError> {
    drafts_of(scene, first, &|_| true)
}

/// The same, but only the tissues that are `wanted` by their names, and those coupled to them, are made; in the place of others are empty ones.
pub fn drafts_of<'a>(
    scene: &'a Scene,
    first: u32,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Drafts<'a>, SceneError> {
    let signals = answer::signals(scene)?;
    let joins = |item: &Item<'a, crate::file::Couple>| {
        let ends = [&item.item.master, &item.item.slave];
        ends.map(|ring| ring.tissue.as_deref().unwrap_or_default())
    };
    let asked = |name: &str| {
        let couples = || items(scene, |s| &s.file.couple);
        let beside = |ends: [&str; 2]| ends.contains(&name) && ends.iter().any(|e| wanted(e));
        wanted(name) || couples().any(|item| beside(joins(&item)))
    };
    let mut list: Vec<Draft<'_>> = Vec::new();
    for item in items(scene, |s| &s.file.organ) {
        list.push(match asked(&item.item.name) {
            true => Draft::organ(&item)?.edited(&item.item.edit, &signals)?,
            false => Draft::absent(&item, "organ", &item.item.name, &item.item.material)?,
        });
    }
    for item in items(scene, |s| &s.file.pipe) {
        list.push(match asked(&item.item.name) {
            true => Draft::pipe(&item)?.edited(&item.item.edit, &signals)?,
            false => Draft::absent(&item, "pipe", &item.item.name, &item.item.material)?,
        });
    }
    for item in items(scene, |s| &s.file.sheet) {
        list.push(match asked(&item.item.name) {
            true => Draft::sheet(&item)?.edited(&item.item.edit, &signals)?,
            false => Draft::absent(&item, "sheet", &item.item.name, &item.item.material)?,
        });
    }
    for item in items(scene, |s| &s.file.net) {
        list.push(match asked(&item.item.name) {
            true => Draft::net_tissue(&item)?.edited(&item.item.edit, &signals)?,
            false => Draft::absent(&item, "net", &item.item.name, &item.item.material)?,
        });
    }
    for item in items(scene, |s| &s.file.surface) {
        list.push(match asked(&item.item.name) {
            true => Draft::surface(scene, &item)?.edited(&item.item.edit, &signals)?,
            false => Draft::absent(&item, "surface", &item.item.name, &item.item.material)?,
        });
    }
    let mut drafts = Drafts {
        list,
        hypers: Vec::new(),
        loads: Vec::new(),
        tied: Vec::new(),
        held: Vec::new(),
        bridges: Vec::new(),
    };
    for item in items(scene, |s| &s.file.couple) {
        // A couple of a tissue that is only there for another's sake moves none of the nodes they share, unless it takes them to a place.
        let ends = joins(&item);
        if is_bridge(scene, item.item) {
            // A membrane may have several nets on it, of which only some are made.
            let absent = |name: &str| drafts.list.iter().any(|d| d.name == name) && !asked(name);
            if !ends.iter().any(|name| absent(name)) {
                bridge(scene, &item, &mut drafts, first)?;
            }
            continue;
        }
        let placed = item.item.master.world.is_some() && asked(ends[1]);
        let other = !ends.iter().all(|name| known(&drafts, name));
        if placed || other || ends.iter().any(|name| wanted(name)) {
            couple::couple(&item, &mut drafts, first)?;
        }
    }
    Ok(drafts)
}

fn known(drafts: &Drafts<'_>, name: &str) -> bool {
    name.is_empty() || drafts.list.iter().any(|d| d.name == name)
}

/// The material of tissue `index` of a scene, counted as in [`drafts`].
pub fn material_of(scene: &Scene, index: usize) -> Option<&MaterialSpec> {
    let organs = items(scene, |s| &s.file.organ).map(|i| &i.item.material);
    let pipes = items(scene, |s| &s.file.pipe).map(|i| &i.item.material);
    let sheets = items(scene, |s| &s.file.sheet).map(|i| &i.item.material);
    let nets = items(scene, |s| &s.file.net).map(|i| &i.item.material);
    let surfaces = items(scene, |s| &s.file.surface).map(|i| &i.item.material);
    let all = organs
        .chain(pipes)
        .chain(sheets)
        .chain(nets)
        .chain(surfaces);
    let mut all = all;
    all.nth(index)
}

/// What is different about tissue `index`.
pub fn edit_of(scene: &Scene, index: usize) -> Option<&EditSpec> {
    let organs = items(scene, |s| &s.file.organ).map(|i| &i.item.edit);
    let pipes = items(scene, |s| &s.file.pipe).map(|i| &i.item.edit);
    let sheets = items(scene, |s| &s.file.sheet).map(|i| &i.item.edit);
    let nets = items(scene, |s| &s.file.net).map(|i| &i.item.edit);
    let surfaces = items(scene, |s| &s.file.surface).map(|i| &i.item.edit);
    let mut all = organs
        .chain(pipes)
        .chain(sheets)
        .chain(nets)
        .chain(surfaces);
    all.nth(index)
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
    for s in files.iter_mut() {
        s.file.net.iter_mut().for_each(|x| visit(&mut x.material));
    }
    for s in files.iter_mut() {
        let list = s.file.surface.iter_mut();
        list.for_each(|x| visit(&mut x.material));
    }
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
        ShapeError::TooManyNodes { .. } if matches!(check.table, "sheet" | "membrane") => {
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
        ShapeError::NoDisc { .. } => ("radius", "Correct the radius.".into()),
        ShapeError::NotFinite { what, .. } => (*what, "Correct the number.".into()),
    };
    let mut place = at.to_vec();
    place.push(Key::Name(key));
    check.error(&place, error.to_string(), remedy)
}

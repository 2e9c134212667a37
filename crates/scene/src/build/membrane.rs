//! Membranes of a scene: from what the file says to sheets that tear.

use super::{Item, Model, Tissue, check::Checker, items, tissue::shape_error};
use crate::{
    file::{
        AdhesionSpec, AlgorithmName, MeasureName, MembraneSelect, MembraneTissue, PathSpec,
        TearingSpec,
    },
    load::{Key, Scene, SceneError},
};
use glam::DVec3;
use trocar_dynamics::MatterId;
use trocar_math::{Pose, rotation};
use trocar_mesh::{
    Surface,
    primitive::{DiscShape, HexagonalShape, SheetShape},
    sheet::{Event, NodeId, Sheet, SheetError},
};
use trocar_soft::membrane::{
    Adhesion, Bending, Hold, Material, Measure, Membrane, MembraneError, MembraneParts,
    tear::{Algorithm, Lengths, SettingsError, TearSettings, Thresholds},
};

/// Most points of a curve that is drawn on a membrane.
const MOST_POINTS: usize = 32;

/// Most calls of tear in a step.
const MOST_CALLS: u32 = 100;

/// Edges shorter than this on average, m, are no tissue; most likely the unit is wrong.
const LEAST_EDGE: f64 = 1e-6;

/// A membrane of the model, beside what it has in common with other tissues.
#[derive(Clone, Debug)]
pub struct Film {
    /// Which tissue it is.
    pub tissue: usize,
    /// Its matter.
    pub matter: MatterId,
    /// The body of prescribed motion that it sticks to, by its node; none if that does not move.
    pub ground: Option<u32>,
    /// How often it may tear in a step.
    pub calls: u32,
    /// Mean length of its edges as it was built, m.
    pub edge: f64,
    /// The curve that is drawn on it.
    pub path: Option<Path>,
    /// Ends at rest of the edges that were open from the start, m.
    pub slits: Vec<[DVec3; 2]>,
    /// As the scene has it.
    pub(crate) whole: Membrane,
}

/// A curve that is drawn on a membrane where it lies at rest, along which it is to be torn.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// What it is.
    pub curve: Curve,
    /// How wide it is drawn, m.
    pub width: f64,
    /// Red, green, blue.
    pub colour: [f64; 3],
}

/// A curve.
#[derive(Clone, Debug, PartialEq)]
pub enum Curve {
    /// All points at a distance (m) from a middle.
    Circle(DVec3, f64),
    /// Straight from point to point, m.
    Line(Vec<DVec3>),
}

impl Path {
    /// Points of it, evenly: of a circle where it lies on the sheet, whose plane or bulge it is in.
    pub fn samples(&self, count: usize, sheet: &Sheet) -> Vec<DVec3> {
        match &self.curve {
            Curve::Circle(middle, radius) => {
                // A circle on a sheet goes around the mean of the normals near its middle.
                let normal = sheet.triangles().fold(DVec3::ZERO, |sum, t| {
                    let [a, b, c] = sheet.rest_corners(t);
                    sum + (b - a).cross(c - a)
                });
                let (x, y) = normal.normalize_or(DVec3::Z).any_orthonormal_pair();
                let nodes: Vec<DVec3> = sheet.nodes().map(|n| sheet.rest(n)).collect();
                let about = |k: usize| {
                    let turn = std::f64::consts::TAU * k as f64 / count as f64;
                    let (sin, cos) = trocar_math::real::sin_cos(turn);
                    let out = x * cos + y * sin;
                    // On a bulge the ring is not in the plane of its middle: the nearest node says how far below.
                    let flat = *middle + out * *radius;
                    let far = |p: &&DVec3| p.distance_squared(flat);
                    let nearest = nodes.iter().min_by(|a, b| far(a).total_cmp(&far(b)));
                    let drop =
                        nearest.map_or(0.0, |p| (*p - *middle).dot(normal.normalize_or_zero()));
                    let drop = drop.clamp(-*radius, *radius);
                    let wide = (radius * radius - drop * drop).max(0.0).sqrt();
                    *middle + out * wide + normal.normalize_or_zero() * drop
                };
                (0..count).map(about).collect()
            }
            Curve::Line(points) => {
                let lengths = points.windows(2).map(|ends| ends[0].distance(ends[1]));
                let whole: f64 = lengths.clone().sum();
                let at = |k: usize| {
                    let mut left = whole * (k as f64 + 0.5) / count as f64;
                    for ends in points.windows(2) {
                        let length = ends[0].distance(ends[1]);
                        if left <= length {
                            return ends[0].lerp(ends[1], left / length.max(1e-300));
                        }
                        left -= length;
                    }
                    points[points.len() - 1]
                };
                (0..count).map(at).collect()
            }
        }
    }

    /// How far a point at rest is from it, m.
    pub fn distance(&self, point: DVec3) -> f64 {
        match &self.curve {
            Curve::Circle(middle, radius) => (point.distance(*middle) - radius).abs(),
            Curve::Line(points) => {
                let parts = points
                    .windows(2)
                    .map(|ends| segment(point, ends[0], ends[1]));
                parts.fold(f64::INFINITY, f64::min)
            }
        }
    }
}

/// Distance of a point from a straight line between two others, m.
pub(crate) fn segment(point: DVec3, a: DVec3, b: DVec3) -> f64 {
    let along = b - a;
    let part = (point - a).dot(along) / along.length_squared().max(1e-300);
    point.distance(a + along * part.clamp(0.0, 1.0))
}

impl Model {
    /// The membrane of a matter, if it is one.
    pub fn membrane(&self, matter: MatterId) -> Option<&Membrane> {
        let any: &dyn std::any::Any = &**self.matters.get(matter.index())?;
        any.downcast_ref()
    }

    pub(crate) fn membrane_mut(&mut self, matter: MatterId) -> Option<&mut Membrane> {
        let any: &mut dyn std::any::Any = &mut **self.matters.get_mut(matter.index())?;
        any.downcast_mut()
    }

    /// The longest substep that the membranes among `members` bear as they are now, s: a tenth below their bound, on which a mode neither
    /// grows nor dies.
    pub(crate) fn film_step(&self, members: &[MatterId]) -> f64 {
        let films = members.iter().filter_map(|m| self.membrane(*m));
        films
            .map(|film| 0.9 * trocar_dynamics::Matter::stable_step(film))
            .fold(f64::INFINITY, f64::min)
    }

    pub(super) fn add_membranes(&mut self, scene: &Scene) -> Result<(), SceneError> {
        for item in items(scene, |s| &s.file.membrane) {
            let (check, spec) = (checker(&item), item.item);
            let built = build(scene, &check, spec, self.step)?;
            let ground = match spec.adhesion.as_ref().and_then(|a| a.ground.as_ref()) {
                None => None,
                Some(name) => Some(self.ground_of(&check, name)?),
            };
            let path = match &spec.path {
                None => None,
                Some(path) => Some(path_of(&check, path)?),
            };
            let start = built.membrane.rest();
            let whole = built.membrane;
            let edge = built.edge;
            let elements = whole.sheet().edge_count() + whole.bending_springs();
            let tissue = self.tissues.len();
            let matter = self.add(&spec.name, Box::new(whole.clone()), start);
            let mut film = Film {
                tissue,
                matter,
                ground,
                calls: spec.tearing.map_or(1, |t| t.calls),
                edge,
                path,
                slits: built.slits,
                whole,
            };
            let triangles = numbered(film.whole.sheet()).map(|(_, t)| t).collect();
            self.tissues.push(Tissue {
                name: spec.name.clone(),
                matter,
                colour: spec.colour,
                look: spec.look,
                source: spec.source.clone(),
                bears: spec.bears,
                friction: spec.friction,
                contact_thickness: spec.contact_thickness,
                first: 0,
                centres: Vec::new(),
                triangles,
                edits: 0,
                elements,
                texture: Vec::new(),
            });
            self.expect_tools(&mut film);
            self.films.push(film);
        }
        Ok(())
    }

    /// What the files say of a membrane now.
    pub(crate) fn film_spec(&self, film: usize) -> Option<&MembraneTissue> {
        let item = items(self.plan(), |s| &s.file.membrane).nth(film)?;
        Some(item.item)
    }

    /// A membrane with other numbers, whole and as it is now; the reason why not, if it can't be.
    pub(crate) fn retune(&self, film: usize, spec: MembraneTissue) -> Result<Retuned, String> {
        let item = items(self.plan(), |s| &s.file.membrane).nth(film);
        let item = item.ok_or("there is no such membrane")?;
        let built = build(self.plan(), &checker(&item), &spec, self.step).map_err(|e| e.problem)?;
        let mut whole = built.membrane;
        let before = &self.films[film];
        whole.expect_tools(self.tool_stiffness(before, &whole));
        let now = self.membrane(before.matter).unwrap_or(&before.whole);
        let now = whole
            .from_record(
                now.record()
                    .retuned(before.whole.material(), whole.material()),
            )
            .map_err(|e| e.to_string())?;
        let step = [&whole, &now].map(|m| 0.9 * trocar_dynamics::Matter::stable_step(m));
        let substeps = super::substeps(self.step, step[0].min(step[1]));
        if substeps > super::MAX_SUBSTEPS {
            return Err(format!("it would need {substeps} substeps in every step"));
        }
        Ok(Retuned {
            film,
            spec,
            whole,
            now,
        })
    }

    /// Takes over a membrane with other numbers; which matter it is.
    pub(crate) fn take_retuned(&mut self, new: Retuned) -> MatterId {
        let film = &mut self.films[new.film];
        film.calls = new.spec.tearing.map_or(1, |t| t.calls);
        film.whole = new.whole;
        let matter = film.matter;
        self.matters[matter.index()] = Box::new(new.now);
        let tissue = &mut self.tissues[film.tissue];
        (tissue.bears, tissue.friction) = (new.spec.bears, new.spec.friction);
        let lists = self.plan.sources.iter_mut().map(|s| &mut s.file.membrane);
        if let Some(place) = lists.flatten().nth(new.film) {
            *place = new.spec;
        }
        matter
    }

    /// Instruments push and hold a membrane: its substeps have to bear that.
    fn expect_tools(&mut self, film: &mut Film) {
        let stiffness = self.tool_stiffness(film, &film.whole);
        film.whole.expect_tools(stiffness);
        self.matters[film.matter.index()] = Box::new(film.whole.clone());
    }

    /// The node of a body of prescribed motion.
    fn ground_of(&self, check: &Checker<'_>, name: &str) -> Result<u32, SceneError> {
        let look = self.looks.iter().find(|look| look.name == name);
        match look {
            Some(look) if Some(look.at.0) == self.fixtures => Ok(look.at.1),
            Some(_) => Err(check.error(
                &["adhesion".into(), "ground".into()],
                format!("{name} moves by itself: what sticks to it would have to pull it"),
                "Give it `motion = \"kinematic\"` or `\"static\"`.",
            )),
            None => Err(check.error(
                &["adhesion".into(), "ground".into()],
                format!("there is no body called \"{name}\""),
                "Check the name.",
            )),
        }
    }

    /// Puts a membrane back to how the scene has it.
    pub(crate) fn mend(&mut self, film: usize) {
        let film = &mut self.films[film];
        let m = film.matter.index();
        let tissue = &mut self.tissues[film.tissue];
        let rest = film.whole.rest();
        let shown = std::mem::take(&mut tissue.triangles);
        list_triangles(film.whole.sheet(), &mut tissue.triangles);
        if shown != tissue.triangles || self.start[m].position != rest.position {
            // Never the same number for another surface: whoever looks on compares numbers.
            tissue.edits += 1;
        }
        self.matters[m] = Box::new(film.whole.clone());
        self.start[m] = rest;
    }
}

/// The corners of a sheet's triangles.
pub(crate) fn list_triangles(sheet: &Sheet, triangles: &mut Vec<[u32; 3]>) {
    triangles.clear();
    triangles.extend(numbered(sheet).map(|(_, corners)| corners));
}

/// The triangles of a sheet, by number, and their corners.
pub(crate) fn numbered(sheet: &Sheet) -> impl Iterator<Item = (u32, [u32; 3])> {
    let corners = |t| sheet.corners(t).map(|n| n.slot() as u32);
    sheet
        .triangles()
        .map(move |t| (t.slot() as u32, corners(t)))
}

fn checker<'a>(item: &Item<'a, MembraneTissue>) -> Checker<'a> {
    Checker {
        source: item.source,
        table: "membrane",
        index: item.index,
    }
}

/// A membrane with other numbers.
pub(crate) struct Retuned {
    /// Which one.
    pub film: usize,
    spec: MembraneTissue,
    /// As the scene has it.
    pub whole: Membrane,
    now: Membrane,
}

struct Built {
    membrane: Membrane,
    edge: f64,
    slits: Vec<[DVec3; 2]>,
}

fn build(
    scene: &Scene,
    check: &Checker<'_>,
    spec: &MembraneTissue,
    step: f64,
) -> Result<Built, SceneError> {
    check.share(&spec.colour, "colour")?;
    check.positive(spec.bears, "bears")?;
    if spec.bears > 1e3 {
        let problem = format!("bears is {:?}; it must be at most 1000", spec.bears);
        return Err(check.error(&["bears".into()], problem, "It is a force in N."));
    }
    if spec.source.as_ref().is_some_and(|s| s.trim().is_empty()) {
        return Err(check.error(
            &["source".into()],
            "the source is empty",
            "Say where the constants were measured, or leave it out.",
        ));
    }
    if let Some(friction) = spec.friction {
        check.friction(friction, &["friction".into()])?;
    }
    if let Some(thickness) = spec.contact_thickness {
        check.thickness(thickness, &["contact_thickness".into()])?;
    }
    let (mut surface, shape) = surface(scene, check, spec)?;
    check.points(&[spec.position], "position")?;
    check.finite(&[spec.rotation], "rotation")?;
    let turn = rotation::from_scaled_axis(spec.rotation.into());
    let frame = Pose::new(spec.position.into(), turn);
    for p in &mut surface.positions {
        *p = frame.point(*p);
    }
    let places: Vec<[f64; 3]> = surface.positions.iter().map(|p| p.to_array()).collect();
    check.points(&places, shape)?;
    let mut sheet = Sheet::new(&surface).map_err(|e| {
        let remedy = match &e {
            SheetError::Surface(inner) => inner.remedy(),
            _ => {
                "A membrane is a sheet: at most two triangles at an edge, all facing the same way."
            }
        };
        check.error(&[shape.into()], e.to_string(), remedy)
    })?;
    // Selected before it is cut: nodes are counted as the shape has them.
    let fixed = selected(check, "fixed", &sheet, &spec.fixed)?;
    let loose = match &spec.adhesion {
        Some(adhesion) => selected(check, "adhesion", &sheet, &adhesion.loose)?,
        None => Vec::new(),
    };
    let slits = cut(check, &mut sheet, &spec.slit)?;
    let edge = sheet.edges().map(|e| sheet.rest_length(e)).sum::<f64>() / sheet.edge_count() as f64;
    if edge.is_nan() || edge < LEAST_EDGE {
        let problem = format!("its edges are {edge:e} m long on average");
        return Err(check.error(&[shape.into()], problem, "Trocar measures in metres."));
    }
    let mut parts = MembraneParts::new(sheet, material(check, spec)?);
    parts.bending = bending(check, spec)?;
    parts.damping = spec.damping;
    parts.prestress = spec.prestress;
    parts.gravity = spec.gravity;
    parts.fixed = with_siblings(&parts.sheet, &fixed);
    if let Some(adhesion) = &spec.adhesion {
        parts.adhesion = Some(sticking(check, adhesion, step)?);
    }
    if let Some(back) = spec.fold_support {
        check.positive(back, "fold_support")?;
        parts.fold_support = Some((step / back).min(1.0));
    }
    if let Some(tearing) = &spec.tearing {
        let (measure, settings) = tears(check, tearing, edge)?;
        parts.measure = measure;
        parts.tearing = Some(settings);
    }
    let loose = with_siblings(&parts.sheet, &loose);
    let mut membrane = Membrane::new(parts).map_err(|e| membrane_error(check, spec, &e))?;
    for n in loose {
        membrane.set_attachment(membrane.sheet().node_at(n), 0.0);
    }
    Ok(Built {
        membrane,
        edge,
        slits,
    })
}

/// Its surface in its own frame, and the key that says what it is.
fn surface(
    scene: &Scene,
    check: &Checker<'_>,
    spec: &MembraneTissue,
) -> Result<(Surface, &'static str), SceneError> {
    let given = [
        spec.hexagonal.is_some(),
        spec.sheet.is_some(),
        spec.disc.is_some(),
        spec.mesh.is_some(),
    ];
    if given.iter().filter(|g| **g).count() != 1 {
        return Err(check.error(
            &[],
            "a membrane has one shape",
            "Give exactly one of `hexagonal`, `sheet`, `disc`, `mesh`.",
        ));
    }
    if let Some(mesh) = &spec.mesh {
        check.size(spec.scale, "scale")?;
        let mut surface = scene
            .mesh(check.source, mesh)
            .cloned()
            .ok_or_else(|| check.error(&["mesh".into()], "the mesh was not read", ""))?;
        for p in &mut surface.positions {
            *p *= spec.scale;
        }
        return Ok((surface, "mesh"));
    }
    if spec.scale != 1.0 {
        let problem = "only a mesh can be scaled";
        return Err(check.error(&["scale".into()], problem, "Give its size in metres."));
    }
    let (made, key) = if let Some(of) = &spec.hexagonal {
        let shape = HexagonalShape {
            rows: of.rows,
            columns: of.columns,
            edge: of.edge,
        };
        (shape.surface(), "hexagonal")
    } else if let Some(of) = &spec.sheet {
        let shape = SheetShape {
            origin: DVec3::ZERO,
            u: of.u.into(),
            v: of.v.into(),
            rows: of.rows,
            columns: of.columns,
        };
        (shape.surface(), "sheet")
    } else {
        let of = spec.disc.unwrap_or(crate::file::DiscSpec {
            radius: 0.0,
            rings: 0,
            sphere: None,
        });
        let shape = DiscShape {
            radius: of.radius,
            rings: of.rings,
            bulge: of.sphere,
        };
        (shape.surface(), "disc")
    };
    let surface = made.map_err(|e| shape_error(check, &[key.into()], &e))?;
    Ok((surface, key))
}

fn material(check: &Checker<'_>, spec: &MembraneTissue) -> Result<Material, SceneError> {
    match (spec.springs, spec.film) {
        (Some(springs), None) => {
            check.mass(springs.mass, &["springs".into(), "mass".into()])?;
            Ok(Material::Springs {
                stiffness: springs.stiffness,
                mass: springs.mass,
            })
        }
        (None, Some(film)) => Ok(Material::Sheet {
            stiffness: film.stiffness,
            poisson: film.poisson,
            density: film.density,
        }),
        _ => Err(check.error(
            &[],
            "a membrane is made of one thing",
            "Give exactly one of `springs`, `film`.",
        )),
    }
}

fn bending(check: &Checker<'_>, spec: &MembraneTissue) -> Result<Bending, SceneError> {
    let Some(bending) = spec.bending else {
        return Ok(Bending::None);
    };
    match (bending.springs, bending.rigidity) {
        (Some(stiffness), None) => Ok(Bending::Springs { stiffness }),
        (None, Some(rigidity)) => Ok(Bending::Hinges { rigidity }),
        _ => Err(check.error(
            &["bending".into()],
            "bending is resisted in one way",
            "Give either `springs` or `rigidity`.",
        )),
    }
}

fn sticking(check: &Checker<'_>, spec: &AdhesionSpec, step: f64) -> Result<Adhesion, SceneError> {
    let hold = match (spec.node, spec.area) {
        (Some(node), None) => Hold::Node(node),
        (None, Some(area)) => Hold::Area(area),
        _ => {
            return Err(check.error(
                &["adhesion".into()],
                "a membrane is held in one way",
                "Give either `node` or `area`.",
            ));
        }
    };
    if !(spec.release > 0.0 && spec.release.is_finite()) {
        let problem = format!("release is {:?}; it must be positive", spec.release);
        let at = ["adhesion".into(), "release".into()];
        return Err(check.error(&at, problem, "It is a time in s."));
    }
    Ok(Adhesion {
        hold,
        distance: spec.distance,
        decrement: (step / spec.release).min(1.0),
    })
}

fn tears(
    check: &Checker<'_>,
    spec: &TearingSpec,
    edge: f64,
) -> Result<(Measure, TearSettings), SceneError> {
    if !(1..=MOST_CALLS).contains(&spec.calls) {
        let problem = format!("{} calls in a step are out of range", spec.calls);
        let at = ["tearing".into(), "calls".into()];
        return Err(check.error(&at, problem, "Choose between 1 and 100."));
    }
    if spec.reach.is_some() && spec.measure != MeasureName::Tension {
        let at = ["tearing".into(), "reach".into()];
        let problem = "only tension is measured within a reach";
        return Err(check.error(
            &at,
            problem,
            "Leave it out, or choose `measure = \"tension\"`.",
        ));
    }
    let measure = match spec.measure {
        MeasureName::Printed => Measure::Printed,
        MeasureName::Pulled => Measure::Pulled,
        MeasureName::Tension => Measure::Tension {
            reach: spec.reach.unwrap_or(2.0 * edge),
        },
    };
    let usual = Lengths::of_edge(edge);
    let settings = TearSettings {
        algorithm: match spec.algorithm {
            AlgorithmName::Continuous => Algorithm::Continuous,
            AlgorithmName::PseudoContinuous => Algorithm::PseudoContinuous,
            AlgorithmName::EdgeBased => Algorithm::EdgeBased,
            AlgorithmName::Perpendicular => Algorithm::Perpendicular,
            AlgorithmName::Deletion => Algorithm::Deletion,
            AlgorithmName::Subdivision => Algorithm::Subdivision,
        },
        thresholds: Thresholds {
            tip: spec.tip,
            edge: spec.edge,
            inner: spec.inner,
            fastest: spec.fastest,
        },
        lengths: Lengths {
            least: spec.least.unwrap_or(usual.least),
            most: spec.most.unwrap_or(usual.most),
            gap: spec.gap.unwrap_or(usual.gap),
            near: spec.near.unwrap_or(usual.near),
            side: spec.side.unwrap_or(usual.side),
        },
    };
    Ok((measure, settings))
}

fn path_of(check: &Checker<'_>, spec: &PathSpec) -> Result<Path, SceneError> {
    let wrong = |key: &'static str, problem: String, remedy: &str| {
        check.error(&["path".into(), key.into()], problem, remedy)
    };
    check.share(&spec.colour, "path")?;
    if !(spec.width > 0.0 && spec.width.is_finite()) {
        let problem = format!("width is {:?}; it must be positive", spec.width);
        return Err(wrong("width", problem, "It is a length in m."));
    }
    let curve = match (&spec.circle, &spec.points) {
        (Some(circle), None) => {
            check.points(&[circle.centre], "path")?;
            if !(circle.radius > 0.0 && circle.radius.is_finite()) {
                let problem = format!("a circle of {:?} m is none", circle.radius);
                return Err(wrong("circle", problem, "Give it a radius."));
            }
            Curve::Circle(circle.centre.into(), circle.radius)
        }
        (None, Some(points)) => {
            check.points(points, "path")?;
            if !(2..=MOST_POINTS).contains(&points.len()) {
                let problem = format!("a line has 2 to {MOST_POINTS} points, not {}", points.len());
                return Err(wrong("points", problem, "Leave some out."));
            }
            Curve::Line(points.iter().map(|p| DVec3::from(*p)).collect())
        }
        _ => {
            let (problem, remedy) = ("a curve is one thing", "Give either `circle` or `points`.");
            return Err(check.error(&["path".into()], problem, remedy));
        }
    };
    Ok(Path {
        curve,
        width: spec.width,
        colour: spec.colour,
    })
}

/// Places of selected nodes.
fn selected(
    check: &Checker<'_>,
    key: &'static str,
    sheet: &Sheet,
    selects: &[MembraneSelect],
) -> Result<Vec<usize>, SceneError> {
    let mut all = Vec::new();
    for (i, select) in selects.iter().enumerate() {
        let wrong = |problem: String, remedy: &str| {
            let at = match key {
                "adhesion" => vec![Key::Name(key), Key::Name("loose"), Key::Index(i)],
                _ => vec![Key::Name(key), Key::Index(i)],
            };
            check.error(&at, problem, remedy)
        };
        let before = all.len();
        match (select.rim, &select.nodes, &select.within) {
            (true, None, None) => {
                let rim = |n: &NodeId| sheet.rim_neighbours(*n).is_some();
                all.extend(sheet.nodes().filter(rim).map(|n| n.slot()));
            }
            (false, Some(nodes), None) => {
                for n in nodes {
                    if *n as usize >= sheet.node_slots() {
                        let problem = format!("there is no node {n}");
                        let remedy = format!("Nodes are 0 to {}.", sheet.node_slots() - 1);
                        return Err(wrong(problem, &remedy));
                    }
                    all.push(*n as usize);
                }
            }
            (false, None, Some(ball)) => {
                let centre = DVec3::from(ball.centre);
                let inside = |n: &NodeId| sheet.rest(*n).distance(centre) < ball.radius;
                all.extend(sheet.nodes().filter(inside).map(|n| n.slot()));
            }
            _ => {
                let problem = "a selection is one of `rim`, `nodes`, `within`";
                return Err(wrong(problem.into(), "Give exactly one of them."));
            }
        }
        if all.len() == before {
            return Err(wrong(
                "the selection selects no node".into(),
                "Correct it, or leave it out.",
            ));
        }
    }
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

/// Places of nodes, and of those that a cut made of them.
fn with_siblings(sheet: &Sheet, places: &[usize]) -> Vec<usize> {
    let nodes = places.iter().map(|n| sheet.node_at(*n));
    let mut all: Vec<usize> = nodes
        .flat_map(|n| std::iter::once(n).chain(sheet.siblings(n)))
        .map(|n| n.slot())
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Opens the edges along cuts; where they lie.
fn cut(
    check: &Checker<'_>,
    sheet: &mut Sheet,
    slits: &[Vec<[f64; 3]>],
) -> Result<Vec<[DVec3; 2]>, SceneError> {
    let mut cuts = Vec::new();
    let mut event = Event::default();
    for (i, slit) in slits.iter().enumerate() {
        let wrong = |problem: String, remedy: &str| {
            check.error(&["slit".into(), Key::Index(i)], problem, remedy)
        };
        check.points(slit, "slit")?;
        if slit.len() < 2 {
            let problem = format!("a cut has two points or more, not {}", slit.len());
            return Err(wrong(problem, "Give where it begins and where it ends."));
        }
        // The way along edges is found before anything is opened: then nodes part.
        let nearest = |point: DVec3| {
            let far = |n: &NodeId| sheet.rest(*n).distance_squared(point);
            sheet.nodes().min_by(|a, b| far(a).total_cmp(&far(b)))
        };
        let mut way: Vec<DVec3> = Vec::new();
        for ends in slit.windows(2) {
            let (from, to) = (DVec3::from(ends[0]), DVec3::from(ends[1]));
            let (Some(mut at), Some(goal)) = (nearest(from), nearest(to)) else {
                break;
            };
            way.push(sheet.rest(at));
            while at != goal {
                let left = sheet.rest(at).distance(sheet.rest(goal));
                let nearer = sheet.edges_around(at).map(|(_, other)| other);
                let nearer =
                    nearer.filter(|n| sheet.rest(*n).distance(sheet.rest(goal)) < left - 1e-12);
                let off = |n: &NodeId| segment(sheet.rest(*n), from, to);
                let Some(next) = nearer.min_by(|a, b| off(a).total_cmp(&off(b))) else {
                    let (problem, remedy) = ("the cut does not lie on the membrane", "Move it.");
                    return Err(wrong(problem.into(), remedy));
                };
                at = next;
                way.push(sheet.rest(at));
            }
        }
        way.dedup();
        if way.len() < 2 {
            let problem = "the cut is shorter than an edge".to_string();
            return Err(wrong(problem, "Make it longer, or the triangles smaller."));
        }
        for ends in way.windows(2) {
            // Nodes that were parted lie at the same place at rest; the edge between them is still one.
            let edge = sheet.edges().find(|e| {
                let [a, b] = sheet.ends(*e).map(|n| sheet.rest(n));
                !sheet.is_rim(*e) && ([a, b] == [ends[0], ends[1]] || [b, a] == [ends[0], ends[1]])
            });
            let Some(edge) = edge else {
                let problem = "the cut runs along a rim or an earlier cut".to_string();
                return Err(wrong(problem, "Move it inside."));
            };
            sheet
                .edit(&mut event, |edit| edit.open(edge))
                .map_err(|e| wrong(e.to_string(), "Move the cut."))?;
            cuts.push([ends[0], ends[1]]);
        }
    }
    Ok(cuts)
}

fn membrane_error(check: &Checker<'_>, spec: &MembraneTissue, error: &MembraneError) -> SceneError {
    let material = if spec.springs.is_some() {
        "springs"
    } else {
        "film"
    };
    let at: Vec<Key> = match error {
        MembraneError::Number(name, ..) => match *name {
            "stiffness" | "mass" | "density" | "poisson" => vec![material.into(), (*name).into()],
            "bending stiffness" => vec!["bending".into(), "springs".into()],
            "rigidity" => vec!["bending".into(), "rigidity".into()],
            "hold" if spec.adhesion.as_ref().is_some_and(|a| a.node.is_some()) => {
                vec!["adhesion".into(), "node".into()]
            }
            "hold" => vec!["adhesion".into(), "area".into()],
            "distance" => vec!["adhesion".into(), "distance".into()],
            "decrement" => vec!["adhesion".into(), "release".into()],
            "reach" => vec!["tearing".into(), "reach".into()],
            other => vec![other.into()],
        },
        MembraneError::Fold => vec!["fold_support".into()],
        MembraneError::Measure => vec!["tearing".into(), "measure".into()],
        MembraneError::Tearing(SettingsError::Thresholds) => vec!["tearing".into(), "tip".into()],
        MembraneError::Tearing(SettingsError::Lengths) => vec!["tearing".into(), "least".into()],
        MembraneError::Fixed(_) => vec!["fixed".into()],
        MembraneError::Mass(..) => vec![material.into()],
    };
    check.error(&at, error.to_string(), "Correct the numbers.")
}

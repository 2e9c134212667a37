//! What the file says of a membrane, as parts that it is built of.

use super::{
    check::Checker,
    path::{Curve, Path, segment},
    tissue::shape_error,
};
use crate::{
    file::{
        AdhesionSpec, AlgorithmName, MeasureName, MembraneSelect, MembraneTissue, PathSpec,
        TearingSpec,
    },
    load::{Key, Scene, SceneError},
};
use glam::DVec3;
use trocar_math::{Pose, rotation};
use trocar_mesh::{
    Surface,
    primitive::{DiscShape, HexagonalShape, SheetShape},
    sheet::{Event, NodeId, Sheet, SheetError},
};
use trocar_soft::membrane::{
    Adhesion, Bending, Floor, FloorShape, Hold, Material, Measure, Membrane, MembraneError,
    MembraneParts,
    tear::{Algorithm, Lengths, SettingsError, TearSettings, Thresholds},
};

/// Most points of a curve that is drawn on a membrane.
const MOST_POINTS: usize = 32;

/// Most calls of tear in a step.
const MOST_CALLS: u32 = 100;

/// Triangles are divided at most so many times.
const MOST_REFINED: u32 = 4;

/// Divided triangles there are at most.
const MOST_DIVIDED: usize = 1_000_000;

/// Edges shorter than this on average, m, are no tissue; most likely the unit is wrong.
const LEAST_EDGE: f64 = 1e-6;

/// A membrane, the mean length of its edges (m), and the ends at rest of those that are open from the start.
pub(super) struct Built {
    pub(super) membrane: Membrane,
    pub(super) edge: f64,
    pub(super) slits: Vec<[DVec3; 2]>,
}

/// Builds one, or says what is wrong with what the file has.
pub(super) fn build(
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
    let divided = divide(check, spec, &mut surface)?;
    let spec = &shared_out(spec);
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
    let fixed = selected(check, "fixed", (&sheet, &divided), &spec.fixed)?;
    let loose = match &spec.adhesion {
        Some(adhesion) => selected(check, "adhesion", (&sheet, &divided), &adhesion.loose)?,
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
        if let Some(stiffness) = adhesion.floor {
            parts.floor = Some(floor(check, spec, &frame, stiffness)?);
        }
    }
    if let Some(back) = spec.fold_support {
        check.positive(back, "fold_support")?;
        parts.fold_support = Some((step / back).min(1.0));
    }
    if let Some(tearing) = &spec.tearing {
        let (measure, settings) = tears(check, tearing, (edge, spec.refine))?;
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

/// Edges that were cut in the middle, and the number of the first of their middles: the others follow it in their order.
struct Divided {
    first: usize,
    edges: Vec<[u32; 2]>,
}

/// Cuts the triangles of a surface into four as often as the file says. Gives the edges that were cut each time.
fn divide(
    check: &Checker<'_>,
    spec: &MembraneTissue,
    surface: &mut Surface,
) -> Result<Vec<Divided>, SceneError> {
    let triangles = surface
        .triangles
        .len()
        .saturating_mul(1 << (2 * spec.refine.min(MOST_REFINED)));
    if spec.refine > MOST_REFINED || triangles > MOST_DIVIDED {
        let problem = format!(
            "{} triangles can't be divided {} times",
            surface.triangles.len(),
            spec.refine
        );
        let remedy =
            format!("Divide at most {MOST_REFINED} times, into at most {MOST_DIVIDED} triangles.");
        return Err(check.error(&["refine".into()], problem, remedy));
    }
    let sphere = spec.disc.and_then(|disc| disc.sphere);
    let mut divided = Vec::new();
    for _ in 0..spec.refine {
        let (first, edges) = (surface.positions.len(), surface.edges());
        *surface = surface.quartered();
        // What lies on a sphere goes on doing so.
        if let Some(radius) = sphere {
            for p in &mut surface.positions[first..] {
                *p = p.normalize_or(DVec3::Z) * radius;
            }
        }
        divided.push(Divided { first, edges });
    }
    Ok(divided)
}

/// The same membrane with what is given for every node as it is for each of those that its divided triangles have.
fn shared_out(spec: &MembraneTissue) -> MembraneTissue {
    let share = 1.0 / f64::from(1_u32 << (2 * spec.refine.min(MOST_REFINED)));
    let mut spec = spec.clone();
    if let Some(springs) = &mut spec.springs {
        springs.mass *= share;
    }
    if let Some(adhesion) = &mut spec.adhesion {
        for number in [&mut adhesion.node, &mut adhesion.floor]
            .into_iter()
            .flatten()
        {
            *number *= share;
        }
    }
    spec
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

/// The ground as something to lie on: the ball or the plane that the shape is a part of.
fn floor(
    check: &Checker<'_>,
    spec: &MembraneTissue,
    frame: &Pose,
    stiffness: f64,
) -> Result<Floor, SceneError> {
    let at = ["adhesion".into(), "floor".into()];
    if !(stiffness > 0.0 && stiffness <= 1e6) {
        let problem = format!("floor is {stiffness:?}; it must be above 0 and at most 1e6");
        return Err(check.error(&at, problem, "It is a force for each depth, N/m."));
    }
    if spec.mesh.is_some() {
        let problem = "only the ground below a disc, a hexagonal sheet or a sheet is known";
        let remedy = "Leave `floor` out for a mesh.";
        return Err(check.error(&at, problem, remedy));
    }
    let shape = match spec.disc.and_then(|disc| disc.sphere) {
        Some(radius) => FloorShape::Ball {
            centre: frame.position,
            radius,
        },
        None => {
            let sheet = spec.sheet.as_ref();
            let across = sheet.map(|of| DVec3::from(of.u).cross(of.v.into()));
            FloorShape::Plane {
                point: frame.position,
                normal: frame.rotation * across.unwrap_or(DVec3::Z),
            }
        }
    };
    Ok(Floor { shape, stiffness })
}

fn tears(
    check: &Checker<'_>,
    spec: &TearingSpec,
    (edge, refine): (f64, u32),
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
    // What a tear sees and how far it goes is a matter of the sheet, not of how finely its triangles were divided.
    let whole = edge * f64::from(1_u32 << refine.min(MOST_REFINED));
    let measure = match spec.measure {
        MeasureName::Printed => Measure::Printed,
        MeasureName::Pulled => Measure::Pulled,
        MeasureName::Tension => Measure::Tension {
            reach: spec.reach.unwrap_or(2.0 * whole),
        },
    };
    let (usual, before) = (Lengths::of_edge(edge), Lengths::of_edge(whole));
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
            least: spec.least.unwrap_or(before.least),
            most: spec.most.unwrap_or(before.most),
            gap: spec.gap.unwrap_or(usual.gap),
            near: spec.near.unwrap_or(usual.near),
            side: spec.side.unwrap_or(usual.side),
        },
    };
    Ok((measure, settings))
}

pub(super) fn path_of(check: &Checker<'_>, spec: &PathSpec) -> Result<Path, SceneError> {
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
    (sheet, divided): (&Sheet, &[Divided]),
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
                // Of an edge with both ends among them the middle, too.
                for Divided { first, edges } in divided {
                    all[before..].sort_unstable();
                    let known = all[before..].to_vec();
                    let has = |n: &u32| known.binary_search(&(*n as usize)).is_ok();
                    let cut = edges
                        .iter()
                        .enumerate()
                        .filter(|(_, ends)| ends.iter().all(has));
                    all.extend(cut.map(|(k, _)| first + k));
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
        MembraneError::Floor => vec!["adhesion".into(), "floor".into()],
        MembraneError::Fold => vec!["fold_support".into()],
        MembraneError::Measure => vec!["tearing".into(), "measure".into()],
        MembraneError::Tearing(SettingsError::Thresholds) => vec!["tearing".into(), "tip".into()],
        MembraneError::Tearing(SettingsError::Lengths) => vec!["tearing".into(), "least".into()],
        MembraneError::Fixed(_) => vec!["fixed".into()],
        MembraneError::Mass(..) => vec![material.into()],
    };
    check.error(&at, error.to_string(), "Correct the numbers.")
}

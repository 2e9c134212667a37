//! What became of a membrane, measured: how far it tore, how well a tear kept to its way, how smooth its edges are.

use crate::{Simulation, build::Film, build::path::segment};
use glam::DVec3;
use serde::Serialize;
use trocar_mesh::sheet::{EdgeId, NodeId, Sheet};

/// Samples along a curve that is drawn on a membrane.
const SAMPLES: usize = 360;

/// A membrane, measured. Lengths and areas are those at rest.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Torn {
    /// Its name.
    pub membrane: String,
    /// Steps of tears so far.
    pub tears: u64,
    /// Bites of scissors so far.
    pub cuts: u64,
    /// Changes of its triangles so far, cuts it had from the start included.
    pub edits: u64,
    /// Triangles, and how many it had whole.
    pub triangles: [usize; 2],
    /// Mean length of its edges when it was whole, m: what results may depend on and should not.
    pub mean_edge: f64,
    /// Pieces that share no edge.
    pub pieces: usize,
    /// Length of all tears and cuts, m.
    pub length: f64,
    /// Its area at rest in parts of what it was whole (W80): 1 if nothing was taken out and it is flat at rest. On one that is curved, triangles that edits lay otherwise over the same
    /// place change it a little.
    pub area: f64,
    /// Part of its area that still sticks; none if it never did.
    pub attached: Option<f64>,
    /// How far a tear turns from one side to the next, rad: the mean and the greatest.
    pub turns: [f64; 2],
    /// How well its tears keep to the curve that is drawn on it; none if there is no curve, or no tear.
    pub path: Option<PathError>,
}

/// How well tears keep to a curve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PathError {
    /// Mean distance of the tears from it, m; cuts from the start do not count.
    pub mean: f64,
    /// The greatest, m.
    pub worst: f64,
    /// Part of the curve that has a tear beside it, nearer than the mean edge of the whole sheet.
    pub done: f64,
}

impl Simulation {
    /// Measures every membrane. It walks all of them: for reports, not for every step.
    pub fn torn(&self) -> Vec<Torn> {
        let films = self.model.films.iter().zip(&self.tears);
        films
            .filter_map(|(film, tears)| self.torn_film(film, *tears))
            .collect()
    }

    fn torn_film(&self, film: &Film, [tears, cuts]: [u64; 2]) -> Option<Torn> {
        let membrane = self.model.membrane(film.matter)?;
        let (sheet, whole) = (membrane.sheet(), film.whole.sheet());
        let sides = torn_sides(sheet);
        let length = sides.iter().fold(0.0, |sum, e| sum + sheet.rest_length(*e));
        let (mut held, mut all) = (0.0, 0.0);
        for triangle in sheet.triangles() {
            let area = trocar_mesh::sheet::area(sheet.rest_corners(triangle));
            let corners = sheet.corners(triangle);
            let left: f64 = corners.iter().map(|n| membrane.attachment(n.slot())).sum();
            held += area * left / 3.0;
            all += area;
        }
        Some(Torn {
            membrane: self.model.names[film.matter.index()].clone(),
            tears,
            cuts,
            edits: sheet.version(),
            triangles: [sheet.triangle_count(), whole.triangle_count()],
            mean_edge: film.edge,
            pieces: sheet.pieces(),
            length,
            area: all / whole.rest_area(),
            attached: membrane.sticks().then_some(held / all.max(1e-300)),
            turns: turns(sheet, &sides),
            path: path_error(film, sheet, &sides),
        })
    }
}

/// The sides of tears: of each pair that faces each other across a tear the first.
fn torn_sides(sheet: &Sheet) -> Vec<EdgeId> {
    let torn = |e: &EdgeId| sheet.facing_edge(*e).is_some_and(|other| *e < other);
    sheet.edges().filter(torn).collect()
}

/// How far tears turn where two of their sides meet, rad: mean and greatest.
fn turns(sheet: &Sheet, sides: &[EdgeId]) -> [f64; 2] {
    let (mut sum, mut most, mut count) = (0.0, 0.0_f64, 0);
    for side in sides {
        // The next side along the rim from either end; each meeting is seen from both, which changes no mean.
        let [a, b] = sheet.ends(*side);
        for (from, at) in [(a, b), (b, a)] {
            let Some(next) = beyond(sheet, from, at) else {
                continue;
            };
            let (come, go) = (
                sheet.rest(at) - sheet.rest(from),
                sheet.rest(next) - sheet.rest(at),
            );
            let turn = trocar_math::angle(come, go);
            sum += turn;
            most = most.max(turn);
            count += 1;
        }
    }
    [sum / f64::from(count.max(1)), most]
}

/// The node after `at` along a tear that comes from `from`; none at a tip and where the tear meets another rim.
fn beyond(sheet: &Sheet, from: NodeId, at: NodeId) -> Option<NodeId> {
    if sheet.kind(at) == Some(trocar_mesh::sheet::Kind::Tip) {
        return None;
    }
    let neighbours = sheet.rim_neighbours(at)?;
    let next = neighbours.into_iter().find(|n| *n != from)?;
    let edge = sheet.edge_between(at, next).ok()?;
    sheet.facing_edge(edge).map(|_| next)
}

fn path_error(film: &Film, sheet: &Sheet, sides: &[EdgeId]) -> Option<PathError> {
    let path = film.path.as_ref()?;
    let whole = film.whole.sheet();
    let edges = whole.edges().map(|e| whole.rest_length(e)).sum::<f64>();
    let near = edges / whole.edge_count().max(1) as f64;
    // Sides of a slit that was there from the start, and what it tore on by itself: they lie within an edge of the slit, and nearer to it than to the path. Where the two
    // meet, as where a circle closes, sides belong to the path.
    let is_cut = |[a, b]: [DVec3; 2]| {
        let own = path.distance(0.5 * (a + b));
        let on = |cut: &[DVec3; 2]| {
            let far = |p: DVec3| segment(p, cut[0], cut[1]);
            far(a).max(far(b)) < near && far(0.5 * (a + b)) < own
        };
        film.slits.iter().any(on)
    };
    let (mut sum, mut length, mut worst) = (0.0, 0.0, 0.0_f64);
    let mut places = Vec::new();
    for side in sides {
        let [a, b] = sheet.ends(*side).map(|n| sheet.rest(n));
        if is_cut([a, b]) {
            continue;
        }
        // Simpson's rule: ends and middle of a side that may cross the curve.
        let [at_a, at_b] = [a, b].map(|p| path.distance(p));
        let middle = path.distance(0.5 * (a + b));
        sum += a.distance(b) * (at_a + 4.0 * middle + at_b) / 6.0;
        length += a.distance(b);
        worst = worst.max(at_a).max(at_b);
        places.push([a, b]);
    }
    if places.is_empty() {
        return None;
    }
    let samples = path.samples(SAMPLES, whole);
    let beside = |p: &&DVec3| places.iter().any(|[a, b]| segment(**p, *a, *b) < near);
    let done = samples.iter().filter(beside).count();
    Some(PathError {
        mean: sum / length,
        worst,
        done: done as f64 / samples.len().max(1) as f64,
    })
}

#[cfg(test)]
mod tests {
    use crate::{Scene, Simulation};
    use glam::DVec3;
    use trocar_mesh::sheet::Kind;
    use trocar_soft::membrane::tear::Aim;

    /// A tear along a row of nodes, beside a line that is drawn 0.2 mm above it over two thirds of the sheet.
    #[test]
    fn a_tear_beside_a_line_is_as_far_from_it_as_it_is() {
        let text = "trocar = 1\n[world]\ngravity = [0.0, 0.0, 0.0]\nstep = 0.005\n\
            [[membrane]]\nname = \"sheet\"\nhexagonal = {}\nposition = [-0.00425, -0.004330127018922193, 0.0]\n\
            springs = { stiffness = 6500, mass = 0.01 }\n\
            path = { points = [[-0.006, 0.0002, 0.0], [0.006, 0.0002, 0.0]] }\n\
            tearing = { tip = 1e5, edge = 2e5, inner = 4e5, fastest = 5e5 }\n";
        let scene = Scene::from_text("test.toml", text).unwrap();
        let mut simulation = Simulation::new(&scene, 1).unwrap();
        assert_eq!(simulation.torn()[0].path, None);
        let matter = simulation.model.films[0].matter;
        let nodes = &mut simulation.state.nodes[matter.index()];
        let membrane = simulation.model.membrane_mut(matter).unwrap();
        let sheet = membrane.sheet();
        let rim = |n: &trocar_mesh::sheet::NodeId| sheet.kind(*n) == Some(Kind::Edge);
        // Row 10 lies at y = 0; its first node is on the rim on the left.
        let start = sheet.nodes().filter(rim).find(|n| {
            let p = sheet.rest(*n);
            p.y.abs() < 1e-9 && p.x < 0.0
        });
        let mut node = start.unwrap();
        let from = sheet.rest(node).x;
        let mut to = from;
        while to < 0.001 {
            let way = Aim::Toward(DVec3::X);
            membrane.tear_at(nodes, node, 0.21e-3, way).unwrap();
            let sheet = membrane.sheet();
            let tip = sheet.nodes().find(|n| sheet.kind(*n) == Some(Kind::Tip));
            node = tip.unwrap();
            to = sheet.rest(node).x;
        }
        let torn = &simulation.torn()[0];
        let path = torn.path.unwrap();
        assert!((path.mean - 2e-4).abs() < 1e-9, "{path:?}");
        assert!((path.worst - 2e-4).abs() < 1e-9, "{path:?}");
        // Beside the line from half a millimetre (less what it is above) before the start to as much behind the tip.
        let ahead = (0.5e-3_f64 * 0.5e-3 - 2e-4 * 2e-4).sqrt();
        let done = (to - from + 2.0 * ahead) / 0.012;
        assert!((path.done - done).abs() < 0.005, "{path:?} {done}");
        assert!((torn.length - (to - from)).abs() < 1e-9, "{torn:?}");
        // Straight on, all the way.
        assert!(torn.turns[1] < 1e-6, "{torn:?}");
        assert!((torn.area - 1.0).abs() < 1e-12);
        assert_eq!(torn.pieces, 1);
    }
}

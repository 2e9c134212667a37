//! Weber's run-time test (Table 5.1): the standard sheet, a notch in the middle of its upper rim, left and right rims drawn apart
//! a little each frame, one tear call a frame at most.

use crate::{
    measure::{Effort, Summary},
    row::Row,
};
use anyhow::{Context, Result, bail};
use glam::DVec3;
use std::time::Instant;
use trocar_dynamics::{Field, Matter, Nodes};
use trocar_mesh::primitive::HexagonalShape;
use trocar_mesh::sheet::{Kind, NodeId, Sheet};
use trocar_soft::membrane::tear::{Aim, Algorithm, Lengths, TearSettings, Thresholds};
use trocar_soft::membrane::{Material, Measure, Membrane, MembraneParts};

/// His machine.
const MACHINE: &str = "Weber 2009, Core 2 Quad 2.5 GHz";

const MIDDLE: f64 = 4.25e-3;

/// What is torn.
struct Scene {
    membrane: Membrane,
    nodes: Nodes,
    /// Nodes that are drawn outwards, and to which side.
    held: Vec<(NodeId, f64)>,
}

/// The sheet with its notch, ready to be pulled; the nodes that are drawn to the left and to the right.
fn scene(algorithm: Algorithm, measure: Measure, tip: f64) -> Result<Scene> {
    let shape = HexagonalShape::STANDARD;
    let sheet = Sheet::new(&shape.surface()?)?;
    let side = |n: &NodeId| {
        let x = sheet.rest(*n).x;
        (!(0.3e-3..=8.2e-3).contains(&x)).then_some((*n, (x - MIDDLE).signum()))
    };
    let held: Vec<_> = sheet.nodes().filter_map(|n| side(&n)).collect();
    let top = 20.0 * 0.75_f64.sqrt() * shape.edge;
    let start = sheet
        .nodes()
        .filter(|n| (sheet.rest(*n).y - top).abs() < 1e-9)
        .min_by(|a, b| {
            let off = |n: &NodeId| (sheet.rest(*n).x - MIDDLE).abs();
            off(a).total_cmp(&off(b))
        })
        .context("the sheet has an upper rim")?;
    let settings = TearSettings {
        algorithm: Algorithm::Subdivision,
        thresholds: Thresholds {
            tip,
            edge: 100.0 * tip,
            inner: 1000.0 * tip,
            fastest: 4.0 * tip,
        },
        lengths: Lengths {
            least: 1e-6,
            most: 0.3e-3,
            ..Lengths::of_edge(shape.edge)
        },
    };
    let mut parts = MembraneParts::new(
        sheet,
        Material::Springs {
            stiffness: 6500.0,
            mass: 0.01,
        },
    );
    parts.fixed = held.iter().map(|(n, _)| n.slot()).collect();
    parts.measure = measure;
    parts.damping = 100.0;
    parts.tearing = Some(settings);
    let mut membrane = Membrane::new(parts)?;
    let mut nodes = membrane.rest();
    // Two edges deep, straight down.
    let down = Aim::Toward(-DVec3::Y);
    membrane.tear_at(&mut nodes, start, 1.0, down)?;
    let tip = tip_of(&membrane).context("the notch has a tip")?;
    membrane.tear_at(&mut nodes, tip, 1.0, down)?;
    membrane.set_tearing(Some(TearSettings {
        algorithm,
        ..settings
    }))?;
    Ok(Scene {
        membrane,
        nodes,
        held,
    })
}

fn tip_of(membrane: &Membrane) -> Option<NodeId> {
    let sheet = membrane.sheet();
    sheet.nodes().find(|n| sheet.kind(*n) == Some(Kind::Tip))
}

/// What a tear from the notch to the lower rim took.
#[derive(Default)]
struct Taken {
    searches: Vec<f64>,
    edits: Vec<f64>,
    grown: f64,
    off: f64,
}

fn tear(algorithm: Algorithm, measure: Measure, tip: f64) -> Result<Taken> {
    let Scene {
        mut membrane,
        mut nodes,
        held,
    } = scene(algorithm, measure, tip)?;
    let first = membrane.sheet().triangle_count();
    let field = Field {
        time: 0.0,
        gravity: DVec3::ZERO,
    };
    let frame = 0.033;
    let mut taken = Taken::default();
    for _ in 0..4000 {
        for (node, side) in &held {
            nodes.position[node.slot()].x += 2e-6 * side;
        }
        let substeps = membrane.substeps(frame, membrane.stable_step_now(&nodes));
        for _ in 0..substeps {
            membrane.force(&mut nodes, &field);
            membrane.advance(&mut nodes, frame / f64::from(substeps));
        }
        let began = Instant::now();
        let failing = membrane.failing(&nodes);
        let searched = began.elapsed().as_secs_f64();
        let Some((node, length, aim)) = failing else {
            continue;
        };
        let began = Instant::now();
        let done = membrane.tear_at(&mut nodes, node, length, aim);
        let edited = began.elapsed().as_secs_f64();
        if done.is_ok() {
            taken.searches.push(searched);
            taken.edits.push(edited);
        }
        if membrane.sheet().pieces() > 1 {
            let sheet = membrane.sheet();
            taken.grown = sheet.triangle_count() as f64 - first as f64;
            taken.off = sheet
                .nodes()
                .filter(|n| sheet.siblings(*n).next().is_some())
                .map(|n| (sheet.rest(n).x - MIDDLE).abs())
                .fold(0.0, f64::max);
            return Ok(taken);
        }
    }
    bail!("{algorithm:?} does not come to an end");
}

/// A way to tear, and what Weber measured of it: mean and greatest time of a call (ms), calls of a tear.
struct Way {
    name: &'static str,
    algorithm: Algorithm,
    measure: Measure,
    threshold: f64,
    printed: Option<[f64; 3]>,
}

const WAYS: [Way; 4] = [
    Way {
        name: "edge-based",
        algorithm: Algorithm::EdgeBased,
        measure: Measure::Printed,
        threshold: 0.35,
        printed: Some([0.071, 0.105, 18.0]),
    },
    Way {
        name: "pseudo-continuous",
        algorithm: Algorithm::PseudoContinuous,
        measure: Measure::Printed,
        threshold: 0.35,
        printed: Some([0.017, 0.183, 344.0]),
    },
    Way {
        name: "continuous",
        algorithm: Algorithm::Continuous,
        measure: Measure::Printed,
        threshold: 0.35,
        printed: Some([0.074, 0.245, 324.0]),
    },
    Way {
        name: "continuous, by tension",
        algorithm: Algorithm::Continuous,
        measure: Measure::Tension { reach: 1.2e-3 },
        threshold: 330.0,
        printed: Some([0.074, 0.245, 324.0]),
    },
];

/// Time per call of every way, search and edit apart; calls, growth and path of a tear.
pub fn tears(effort: Effort) -> Result<Vec<Row>> {
    let repeats = effort.repeats(5, 2);
    let mut rows = Vec::new();
    for way in &WAYS {
        let mut runs = Vec::new();
        for _ in 0..repeats {
            runs.push(tear(way.algorithm, way.measure, way.threshold)?);
        }
        // Every run does the same: the least time of each call is what it costs without what the machine did beside.
        let least = |of: fn(&Taken) -> &Vec<f64>| -> Vec<f64> {
            let calls = of(&runs[0]).len();
            (0..calls)
                .map(|k| {
                    runs.iter()
                        .map(|r| 1e6 * of(r)[k])
                        .fold(f64::INFINITY, f64::min)
                })
                .collect()
        };
        let (searches, edits) = (least(|t| &t.searches), least(|t| &t.edits));
        let calls = edits.len();
        let mean = |times: &[f64]| times.iter().sum::<f64>() / calls as f64;
        let worst = edits
            .iter()
            .zip(&searches)
            .map(|(e, s)| e + s)
            .fold(0.0, f64::max);
        let both = mean(&edits) + mean(&searches);
        let mut total = Row::single(way.name, "a call, mean", both, "µs");
        let mut greatest = Row::single(way.name, "a call, worst", worst, "µs").below(1000.0);
        let mut count = Row::single(way.name, "calls of a tear", calls as f64, "");
        if let Some([mean, most, calls]) = way.printed {
            total = total.against(MACHINE, 1e3 * mean).below(1e3 * mean);
            greatest = greatest.against(MACHINE, 1e3 * most);
            count = count.against(MACHINE, calls);
        }
        rows.extend([total, greatest, count]);
        rows.push(Row::new(
            way.name,
            "  of it the search",
            Summary::of(searches),
            "µs",
        ));
        rows.push(Row::new(
            way.name,
            "  of it the edit",
            Summary::of(edits),
            "µs",
        ));
        rows.push(Row::single(
            way.name,
            "triangles more after it",
            runs[0].grown,
            "",
        ));
        rows.push(Row::single(
            way.name,
            "farthest from straight",
            1e3 * runs[0].off,
            "mm",
        ));
    }
    Ok(rows)
}

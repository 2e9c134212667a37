//! Weber's run-time test (Table 5.1): the standard sheet, a notch in the middle of its upper rim, left and right rims drawn apart
//! a little each frame, one tear call a frame at most.

use super::set::{FRAME, MACHINE, SPRINGS, STILL, tearing, tip_of};
use crate::{
    measure::{Effort, Summary},
    row::Row,
};
use anyhow::{Context, Result, bail};
use glam::DVec3;
use std::time::Instant;
use trocar_dynamics::{Matter, Nodes};
use trocar_mesh::primitive::HexagonalShape;
use trocar_mesh::sheet::{NodeId, Sheet};
use trocar_soft::membrane::tear::{Aim, Algorithm, TearSettings};
use trocar_soft::membrane::{Measure, Membrane, MembraneParts};

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
    let settings = tearing(Algorithm::Subdivision, tip);
    let mut parts = MembraneParts::new(sheet, SPRINGS);
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

/// What a tear from the notch to the lower rim took.
#[derive(Default)]
struct Taken {
    searches: Vec<f64>,
    edits: Vec<f64>,
    grown: f64,
    off: f64,
    /// It came to the lower rim.
    through: bool,
}

/// Tears from the notch to the lower rim, if it comes there; `pull` is how far both sides are drawn outwards in a frame, m.
fn tear(way: &Way, pull: f64) -> Result<Taken> {
    let Scene {
        mut membrane,
        mut nodes,
        held,
    } = scene(way.algorithm, way.measure, way.threshold)?;
    let first = membrane.sheet().triangle_count();
    let mut taken = Taken::default();
    for _ in 0..6000 {
        for (node, side) in &held {
            nodes.position[node.slot()].x += pull * side;
        }
        let substeps = membrane.substeps(FRAME, membrane.stable_step_now(&nodes));
        for _ in 0..substeps {
            membrane.force(&mut nodes, &STILL);
            if !membrane.advance(&mut nodes, FRAME / f64::from(substeps)) {
                bail!("{:?}: the sheet left the world", way.algorithm);
            }
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
            taken.through = true;
            break;
        }
    }
    let sheet = membrane.sheet();
    taken.grown = sheet.triangle_count() as f64 - first as f64;
    let torn = sheet
        .nodes()
        .filter(|n| sheet.siblings(*n).next().is_some());
    taken.off = torn
        .map(|n| (sheet.rest(n).x - MIDDLE).abs())
        .fold(0.0, f64::max);
    Ok(taken)
}

/// A way to tear, and what Weber measured of it: mean and greatest time of a call (ms), calls of 100 tears and all of their time (ms).
struct Way {
    name: &'static str,
    algorithm: Algorithm,
    measure: Measure,
    threshold: f64,
    printed: Option<[f64; 4]>,
}

const WAYS: [Way; 7] = [
    Way {
        name: "edge-based",
        algorithm: Algorithm::EdgeBased,
        measure: Measure::Printed,
        threshold: 0.35,
        printed: Some([0.071, 0.105, 1800.0, 128.03]),
    },
    Way {
        name: "pseudo-continuous",
        algorithm: Algorithm::PseudoContinuous,
        measure: Measure::Printed,
        threshold: 0.35,
        printed: Some([0.017, 0.183, 34399.0, 573.22]),
    },
    Way {
        name: "continuous",
        algorithm: Algorithm::Continuous,
        measure: Measure::Printed,
        threshold: 0.35,
        printed: Some([0.074, 0.245, 32448.0, 2386.90]),
    },
    Way {
        name: "continuous, by tension",
        algorithm: Algorithm::Continuous,
        measure: Measure::Tension { reach: 1.2e-3 },
        threshold: 330.0,
        printed: Some([0.074, 0.245, 32448.0, 2386.90]),
    },
    Way {
        name: "across the most stretched (W117)",
        algorithm: Algorithm::Perpendicular,
        measure: Measure::Printed,
        threshold: 0.35,
        printed: None,
    },
    Way {
        name: "deletion (W118)",
        algorithm: Algorithm::Deletion,
        measure: Measure::Printed,
        threshold: 0.35,
        printed: None,
    },
    Way {
        name: "pure subdivision (W119)",
        algorithm: Algorithm::Subdivision,
        measure: Measure::Printed,
        threshold: 0.35,
        printed: None,
    },
];

/// Time per call of every way, search and edit apart, and of 100 tears; growth and path of a tear.
pub fn tears(effort: Effort) -> Result<Vec<Row>> {
    // Slightly varied, as there.
    let runs = effort.repeats(100, 5);
    let mut rows = Vec::new();
    let mut straight = Vec::new();
    for way in &WAYS {
        let case = format!("B1 {}", way.name);
        let (mut searches, mut edits) = (Vec::new(), Vec::new());
        let (mut grown, mut off, mut through) = (0.0, 0.0_f64, 0.0);
        for run in 0..runs {
            let pull = 2e-6 * (1.0 + 0.2 * run as f64 / 100.0);
            // Every call twice: the lesser time is what it costs without what the machine did beside.
            let (one, two) = (tear(way, pull)?, tear(way, pull)?);
            let least = |a: &[f64], b: &[f64]| -> Vec<f64> {
                a.iter().zip(b).map(|(a, b)| 1e6 * a.min(*b)).collect()
            };
            searches.extend(least(&one.searches, &two.searches));
            edits.extend(least(&one.edits, &two.edits));
            grown += one.grown / runs as f64;
            off = off.max(one.off);
            through += f64::from(u8::from(one.through)) / runs as f64;
        }
        let calls = edits.len();
        let both: Vec<f64> = edits.iter().zip(&searches).map(|(e, s)| e + s).collect();
        let worst = both.iter().copied().fold(0.0, f64::max);
        let sum: f64 = both.iter().sum();
        let hundred = 100.0 / runs as f64;
        // A tear that goes across the most stretched spring turns aside, and its slack tip may stop: of what Weber rejects, this is why.
        let came = Row::single(&case, "part of the tears that came through", through, "");
        rows.push(match way.printed {
            Some(_) => came.at_least(1.0),
            None => came,
        });
        let mut mean = Row::single(&case, "a call, mean", sum / calls as f64, "µs");
        let mut greatest = Row::single(&case, "a call, worst", worst, "µs").below(1000.0);
        let mut count = Row::single(&case, "calls of 100 tears", hundred * calls as f64, "");
        let mut total = Row::single(&case, "all calls of 100 tears", hundred * 1e-3 * sum, "ms");
        if let Some([printed, most, calls, all]) = way.printed {
            mean = mean.against(MACHINE, 1e3 * printed).below(1e3 * printed);
            greatest = greatest.against(MACHINE, 1e3 * most);
            // Of the same order of magnitude, where a tear does not end with the length of a few edges.
            count = count.against(MACHINE, calls);
            total = total.against(MACHINE, all);
        }
        rows.extend([mean, greatest, count, total]);
        rows.push(Row::new(
            &case,
            "  of a call the search",
            Summary::of(searches),
            "µs",
        ));
        rows.push(Row::new(
            &case,
            "  of a call the edit",
            Summary::of(edits),
            "µs",
        ));
        rows.push(Row::single(&case, "triangles more after a tear", grown, ""));
        rows.push(Row::single(
            &case,
            "farthest from straight",
            1e3 * off,
            "mm",
        ));
        straight.push(off);
    }
    // In the thesis continuous tears run straight through, and edges lead others astray.
    let case = "B1 off straight";
    for (metric, k) in [
        ("continuous : edge-based", 2),
        ("continuous, by tension : edge-based", 3),
    ] {
        rows.push(Row::single(case, metric, straight[k] / straight[0], "").at_most(1.0));
    }
    Ok(rows)
}

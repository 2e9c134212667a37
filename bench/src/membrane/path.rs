//! Where tears go and what they make: a circle torn out by forceps (B2), a sheet torn to fragments (B3), and the triangles of a straight cut (B4).

use super::set::{FRAME, MIDDLE, WEBER, frame, nearest, parts, tearing, tip_of, torn};
use crate::{measure::Effort, row::Row};
use anyhow::{Context, Result, anyhow, bail};
use glam::{DQuat, DVec3};
use trocar_math::{Pose, rotation};
use trocar_mesh::primitive::{HexagonalShape, SheetShape};
use trocar_mesh::sheet::{Event, Kind, NodeId, NodeStep, Sheet};
use trocar_soft::membrane::tear::{Aim, Algorithm, Growth, Lengths, Tear};
use trocar_soft::membrane::{Measure, Membrane};
use trocar_tools::membrane::{Forceps, ForcepsParts, Travel};

/// Circles, fragments and cuts.
pub fn paths(effort: Effort) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let mut circles = Vec::new();
    for (name, algorithm) in [
        ("edge-based", Algorithm::EdgeBased),
        ("pseudo-continuous", Algorithm::PseudoContinuous),
        ("continuous", Algorithm::Continuous),
    ] {
        circles.push(circle(name, algorithm, 1, &mut rows)?);
    }
    // In the thesis by eye: edge-based poor, pseudo-continuous clearly better, continuous best.
    let [edges, pseudo, continuous] = circles[..] else {
        bail!("there are three ways");
    };
    let case = "B2 a circle of 2.4 mm";
    for (metric, less, more) in [
        (
            "off the circle, continuous : pseudo-continuous",
            continuous.off,
            pseudo.off,
        ),
        (
            "off the circle, continuous : edge-based",
            continuous.off,
            edges.off,
        ),
        (
            "turns, continuous : pseudo-continuous",
            continuous.turn,
            pseudo.turn,
        ),
        (
            "turns, pseudo-continuous : edge-based",
            pseudo.turn,
            edges.turn,
        ),
    ] {
        rows.push(Row::single(case, metric, less / more, "").below(1.0));
    }
    if effort == Effort::Full {
        circle(
            "continuous, edges half as long",
            Algorithm::Continuous,
            2,
            &mut rows,
        )?;
    }
    fragments(&mut rows)?;
    growth(&mut rows)?;
    Ok(rows)
}

/// Tension at a tip from which on the sheet tears, N/m.
const CIRCLE: f64 = 250.0;

/// Radius of the circle that is to be torn out, m.
const RADIUS: f64 = 2.4e-3;

/// Where the hand pulls, from the way it wants the tear to run: inwards, and a little back where the tear is outside.
fn pull(tip: DVec3) -> (DVec3, DVec3) {
    let arm = tip - MIDDLE;
    let radial = arm.normalize_or(DVec3::X);
    let tangent = DVec3::Z.cross(radial);
    let turn = (2.0 * (arm.length() - RADIUS) / 0.5e-3).clamp(-0.8, 0.8);
    let way = rotation::from_scaled_axis(DVec3::Z * turn) * tangent;
    (way, DVec3::Z.cross(way))
}

/// How a circle came out.
#[derive(Clone, Copy)]
struct Circle {
    /// Mean way of its torn edge off the circle, mm.
    off: f64,
    /// Mean turn at a node of it, degrees.
    turn: f64,
}

/// B2: a scripted hand with forceps takes the flap beside the tip, draws it inwards, and takes hold anew when the tear has come on.
fn circle(name: &str, algorithm: Algorithm, refine: usize, rows: &mut Vec<Row>) -> Result<Circle> {
    let edge = 0.5e-3 / refine as f64;
    // As large as the standard sheet, whatever its edges.
    let shape = HexagonalShape {
        rows: 20 * refine + 1,
        columns: 17 * refine,
        edge,
    };
    let mut parts = parts(shape, true)?;
    parts.measure = Measure::Tension { reach: 1.2e-3 };
    parts.damping = 60.0;
    parts.tearing = Some(tearing(Algorithm::Subdivision, CIRCLE));
    let start = nearest(&parts.sheet, MIDDLE + DVec3::X * RADIUS, Kind::Inner)?;
    let mut membrane = Membrane::new(parts)?;
    let mut nodes = membrane.rest();
    // A slit of a millimetre along the circle.
    let first = membrane.sheet().rest(start);
    membrane.tear_at(&mut nodes, start, 1.0, Aim::Toward(pull(first).0))?;
    let front = |membrane: &Membrane| {
        let sheet = membrane.sheet();
        let ahead = |n: &NodeId| (sheet.rest(*n) - first).dot(pull(first).0);
        sheet
            .nodes()
            .filter(|n| sheet.kind(*n) == Some(Kind::Tip))
            .max_by(|a, b| ahead(a).total_cmp(&ahead(b)))
    };
    let mut tip = front(&membrane).context("the slit has a tip")?;
    while membrane.sheet().rest(tip).distance(first) < 1e-3 {
        let way = Aim::Toward(pull(membrane.sheet().rest(tip)).0);
        membrane.tear_at(&mut nodes, tip, 1.0, way)?;
        tip = front(&membrane).context("the slit has a tip")?;
    }
    membrane.set_tearing(Some(tearing(algorithm, CIRCLE)))?;
    let mut forceps = Forceps::new(ForcepsParts {
        axis: [DVec3::X * -0.2e-3, DVec3::X * 0.2e-3],
        reach: 0.3e-3,
        stiffness: 6500.0,
        slip: f64::INFINITY,
        bears: f64::INFINITY,
    })
    .map_err(|why| anyhow!(why))?;
    membrane.expect_tools(forceps.added_stiffness());
    let area = membrane.sheet().rest_area();
    let mut hand: Option<(Pose, DVec3)> = None;
    let (mut calls, mut frames) = (0_u32, 0_u32);
    while membrane.sheet().pieces() < 2 && frames < 4000 {
        let here = membrane.sheet().rest(tip);
        let (_, inwards) = pull(here);
        let far = hand.is_none_or(|(_, since)| since.distance(here) > 0.4e-3);
        let from = match hand {
            Some((pose, _)) if !far => pose,
            _ => {
                // Beside the tip, well inside: taken nearer to it, or steered harder, a flap tears by the grip, and the ways rank otherwise.
                let place = nodes.position[tip.slot()] + inwards * 0.8e-3;
                let pose = Pose::new(place, DQuat::IDENTITY);
                forceps.open();
                forceps.close(&membrane, &nodes, &pose);
                hand = Some((pose, here));
                pose
            }
        };
        let to = Pose::new(from.position + inwards * 0.01e-3, from.rotation);
        let travel = Travel {
            from,
            to,
            dt: FRAME,
        };
        forceps.begin(travel);
        frame(&membrane, &mut nodes, None, |nodes, part, _| {
            forceps.act(&membrane, nodes, part);
        });
        hand = hand.map(|(_, since)| (to, since));
        frames += 1;
        let Ok(Some(growth)) = membrane.tear(&mut nodes) else {
            continue;
        };
        calls += 1;
        forceps.follow(&membrane);
        if let Growth::Grew(now) = growth
            && membrane.sheet().rest(now).distance(here) < 1e-3
        {
            tip = now;
        }
        if membrane.sheet().kind(tip) != Some(Kind::Tip) {
            let Some(other) = tip_of(&membrane) else {
                break;
            };
            tip = other;
        }
    }
    let sheet = membrane.sheet();
    let off: Vec<f64> = torn(sheet)
        .map(|p| 1e3 * (p.distance(MIDDLE) - RADIUS).abs())
        .collect();
    let case = format!("B2 a circle of 2.4 mm, {name}");
    let mean = off.iter().sum::<f64>() / off.len().max(1) as f64;
    let worst = off.iter().copied().fold(0.0, f64::max);
    rows.push(Row::single(&case, "off the circle, mean", mean, "mm"));
    rows.push(Row::single(&case, "off the circle, worst", worst, "mm"));
    let turn = roughness(sheet);
    rows.push(Row::single(
        &case,
        "  turn at a node of the torn edge, mean",
        turn,
        "°",
    ));
    rows.push(Row::single(&case, "  frames", f64::from(frames), ""));
    rows.push(Row::single(&case, "  calls", f64::from(calls), ""));
    rows.push(Row::single(&case, "pieces", sheet.pieces() as f64, "").at_least(2.0));
    let lost = (sheet.rest_area() / area - 1.0).abs();
    rows.push(Row::single(&case, "part of the area lost", lost, "").below(1e-9));
    Ok(Circle { off: mean, turn })
}

/// Mean angle by which torn edges turn from side to side, degrees: of a circle in chords of half a millimetre 12°, of a chain of edges 60° and more.
fn roughness(sheet: &Sheet) -> f64 {
    let (mut sum, mut count) = (0.0, 0_u32);
    for node in sheet.nodes() {
        if sheet.siblings(node).next().is_none() {
            continue;
        }
        let Some([next, previous]) = sheet.rim_neighbours(node) else {
            continue;
        };
        let here = sheet.rest(node);
        sum += trocar_math::angle(here - sheet.rest(previous), sheet.rest(next) - here);
        count += 1;
    }
    (sum / f64::from(count.max(1))).to_degrees()
}

/// B3: torn to 48 fragments, as in the thesis, by tears that go on, turn and start anywhere.
fn fragments(rows: &mut Vec<Row>) -> Result<()> {
    let mut sheet = Sheet::new(&HexagonalShape::STANDARD.surface()?)?;
    let area = sheet.rest_area();
    let counts = |s: &Sheet| [s.node_count(), s.edge_count(), s.triangle_count()];
    let start = counts(&sheet);
    let mut positions: Vec<DVec3> = sheet.nodes().map(|n| sheet.rest(n)).collect();
    let (mut headings, mut event) = (Vec::new(), Event::default());
    let mut seed = 1_u64;
    let mut dice = |n: usize| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % n
    };
    let mut ways: Vec<DVec3> = Vec::new();
    let mut deleted = [0_usize; 3];
    for call in 0..200_000 {
        if call % 16 == 0 && sheet.pieces() >= 48 {
            break;
        }
        let tips: Vec<NodeId> = sheet
            .nodes()
            .filter(|n| sheet.kind(*n) == Some(Kind::Tip))
            .collect();
        let node = if tips.is_empty() {
            let all: Vec<NodeId> = sheet.nodes().collect();
            all[dice(all.len())]
        } else {
            tips[dice(tips.len())]
        };
        ways.resize(sheet.node_slots() + 8, DVec3::ZERO);
        if ways[node.slot()] == DVec3::ZERO {
            let (x, y) = (dice(201) as f64 - 100.0, dice(201) as f64 - 99.5);
            ways[node.slot()] = DVec3::new(x, y, 0.0).normalize();
        }
        let way = ways[node.slot()];
        let mut tear = Tear {
            sheet: &mut sheet,
            positions: &positions,
            headings: &mut headings,
            lengths: Lengths::of_edge(0.5e-3),
            spared: &[],
        };
        let done = tear.call(
            &mut event,
            Algorithm::Continuous,
            node,
            0.15e-3,
            Aim::Along(way),
        );
        if done.is_err() {
            ways[node.slot()] = DVec3::ZERO;
            continue;
        }
        event.carry(&sheet, &mut positions, DVec3::ZERO);
        deleted[0] += event
            .steps
            .iter()
            .filter(|s| matches!(s, NodeStep::Removed(_)))
            .count();
        deleted[1] += event.edges_gone.len();
        let gone = |t: &&trocar_mesh::sheet::OldTriangle| !sheet.has_triangle(t.triangle);
        deleted[2] += event.before.iter().filter(gone).count();
    }
    let end = counts(&sheet);
    let case = "B3 torn to fragments, continuous";
    let pieces = sheet.pieces();
    rows.push(Row::single(case, "pieces", pieces as f64, "").against(WEBER, 48.0));
    for (k, (what, printed)) in [
        ("nodes", [708.0, 413.0, 72.0]),
        ("springs", [1424.0, 614.0, 216.0]),
        ("triangles", [764.0, 248.0, 144.0]),
    ]
    .into_iter()
    .enumerate()
    {
        let made = end[k] + deleted[k] - start[k];
        let numbers = [end[k], made, deleted[k]];
        for ((name, value), printed) in ["at the end", "made", "taken away"]
            .into_iter()
            .zip(numbers)
            .zip(printed)
        {
            let metric = format!("{what} {name}");
            rows.push(Row::single(case, &metric, value as f64, "").against(WEBER, printed));
        }
    }
    // Every fragment is a disc: V − E + F of each is 1.
    let euler = end[0] as f64 - end[1] as f64 + end[2] as f64;
    let off = (euler - pieces as f64).abs();
    rows.push(Row::single(case, "V − E + F less pieces", off, "").at_most(0.0));
    let lost = (sheet.rest_area() / area - 1.0).abs();
    rows.push(Row::single(case, "part of the area lost", lost, "").below(1e-9));
    Ok(())
}

/// B4: a slanted cut through 50 triangles.
fn growth(rows: &mut Vec<Row>) -> Result<()> {
    let surface = SheetShape {
        origin: DVec3::ZERO,
        u: DVec3::X * 2.5e-3,
        v: DVec3::Y * 2.5e-3,
        rows: 6,
        columns: 6,
    }
    .surface()?;
    for (name, algorithm, length, printed) in [
        ("continuous", Algorithm::Continuous, 0.1e-3, Some(10.0)),
        (
            "pseudo-continuous",
            Algorithm::PseudoContinuous,
            0.1e-3,
            None,
        ),
        ("pure subdivision", Algorithm::Subdivision, 1.0, Some(62.0)),
    ] {
        let mut sheet = Sheet::new(&surface)?;
        let mut positions = surface.positions.clone();
        let (mut headings, mut event) = (Vec::new(), Event::default());
        let mut node = nearest(&sheet, DVec3::new(0.5e-3, 0.0, 0.0), Kind::Edge)?;
        for _ in 0..500 {
            let mut tear = Tear {
                sheet: &mut sheet,
                positions: &positions,
                headings: &mut headings,
                lengths: Lengths::of_edge(0.57e-3),
                spared: &[],
            };
            let way = Aim::Toward(DVec3::new(0.41, 1.0, 0.0));
            let growth = tear.call(&mut event, algorithm, node, length, way)?;
            event.carry(&sheet, &mut positions, DVec3::ZERO);
            if growth == Growth::Ended {
                break;
            }
            let tips = sheet.nodes().find(|n| sheet.kind(*n) == Some(Kind::Tip));
            let Some(tip) = tips else {
                break;
            };
            node = tip;
        }
        let case = format!("B4 a cut through 50 triangles, {name}");
        let grown = sheet.triangle_count() as f64 - 50.0;
        let row = Row::single(&case, "triangles more", grown, "");
        rows.push(match printed {
            Some(printed) => row
                .against("Nienhuys, in Weber 2009", printed)
                .at_most(printed),
            None => row,
        });
    }
    Ok(())
}

//! What is done to the membranes on a retina (B14): a needle that is drawn along one rips it across its way, and forceps tear a hole into another and take it off in large pieces.

use super::module::tore;
use super::set::{FRAME, MIDDLE, WEBER, at, cystotome, deep, frame, parts, torn};
use crate::row::Row;
use anyhow::{Result, anyhow};
use glam::{DQuat, DVec3};
use trocar_math::Pose;
use trocar_mesh::primitive::HexagonalShape;
use trocar_mesh::sheet::{Kind, Sheet};
use trocar_soft::membrane::tear::{Algorithm, Lengths, TearSettings, Thresholds};
use trocar_soft::membrane::{Adhesion, Bending, Hold, Measure, Membrane};
use trocar_tools::membrane::{Forceps, ForcepsParts, Travel};

/// Tear calls in a frame at most: brittle as it is, it goes on tearing until its tips bear what they can.
const CALLS: usize = 8;

/// The standard sheet on a retina, its rim held, that bends and tears inside, too: its thresholds lie close together.
fn membrane(hold: f64, thresholds: Thresholds) -> Result<Membrane> {
    let mut parts = parts(HexagonalShape::STANDARD, true)?;
    parts.bending = Bending::Springs { stiffness: 65.0 };
    parts.adhesion = Some(Adhesion {
        hold: Hold::Node(hold),
        distance: 0.15e-3,
        decrement: 0.25,
    });
    parts.damping = 100.0;
    parts.measure = Measure::Tension { reach: 1.2e-3 };
    parts.tearing = Some(TearSettings {
        algorithm: Algorithm::Continuous,
        thresholds,
        lengths: Lengths::of_edge(0.5e-3),
    });
    Ok(Membrane::new(parts)?)
}

/// Tears, at most so often, and tells whoever holds on.
fn tears(
    membrane: &mut Membrane,
    nodes: &mut trocar_dynamics::Nodes,
    mut follow: impl FnMut(&Membrane),
) -> usize {
    let mut count = 0;
    while count < CALLS {
        let done = match count {
            0 => membrane.tear(nodes),
            _ => membrane.tear_again(nodes),
        };
        if !tore(&done) {
            break;
        }
        follow(membrane);
        count += 1;
    }
    count
}

/// Both.
pub fn retina() -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    rip(&mut rows)?;
    holes(&mut rows)?;
    Ok(rows)
}

/// Mean turn of the torn edges against a direction, degrees, by their length: 90 runs across it.
fn slant(sheet: &Sheet, way: DVec3) -> f64 {
    let (mut sum, mut length) = (0.0, 0.0);
    for node in sheet
        .nodes()
        .filter(|n| sheet.siblings(*n).next().is_some())
    {
        if let Some([next, _]) = sheet.rim_neighbours(node) {
            let side = sheet.rest(next) - sheet.rest(node);
            let turn = trocar_math::angle(side, way).to_degrees();
            sum += turn.min(180.0 - turn) * side.length();
            length += side.length();
        }
    }
    sum / f64::max(length, f64::MIN_POSITIVE)
}

/// A tip that sticks is pressed into the sheet and drawn along it. With thresholds far from these it slips over the sheet, or cuts along its way: it shows that a rip across can be had, not that it always is.
fn rip(rows: &mut Vec<Row>) -> Result<()> {
    let thresholds = Thresholds {
        tip: 250.0,
        edge: 600.0,
        inner: 600.0,
        fastest: 750.0,
    };
    let mut membrane = membrane(200.0, thresholds)?;
    let mut nodes = membrane.rest();
    let mut needle = cystotome(1.2, deep(30.0))?;
    membrane.expect_tools(needle.added_stiffness());
    let area = membrane.sheet().rest_area();
    let mut calls = 0;
    // Down by a quarter of a millimetre, then two millimetres along x.
    let pose = |k: u32| {
        let along = f64::from(k.saturating_sub(20)) / 100.0;
        let down = f64::from(k.min(20)) / 20.0;
        at(3.0 + 2.0 * along, 4.33, 0.49 - 0.25 * down)
    };
    for k in 0..120 {
        let travel = Travel {
            from: pose(k),
            to: pose(k + 1),
            dt: FRAME,
        };
        needle.begin(&membrane, &nodes, travel);
        frame(&membrane, &mut nodes, None, |nodes, part, h| {
            needle.act(&membrane, nodes, part, h);
        });
        membrane.detach(&nodes);
        calls += tears(&mut membrane, &mut nodes, |m| needle.follow(m));
    }
    let sheet = membrane.sheet();
    let case = "B14 a retina's membrane ripped by a tip";
    rows.push(Row::single(case, "calls that tore", calls as f64, "").at_least(1.0));
    let length: Vec<DVec3> = torn(sheet).collect();
    let across = length.iter().map(|p| p.y);
    let [low, high] = [
        across.clone().fold(f64::INFINITY, f64::min),
        across.fold(f64::NEG_INFINITY, f64::max),
    ];
    rows.push(Row::single(case, "the rip, across the way", 1e3 * (high - low), "mm").at_least(0.5));
    let turn = slant(sheet, DVec3::X);
    rows.push(Row::single(case, "  its edge against the way, mean", turn, "°").at_least(60.0));
    let lost = (sheet.rest_area() / area - 1.0).abs();
    rows.push(Row::single(case, "part of the area lost", lost, "").below(1e-9));
    Ok(())
}

/// Forceps close on the middle and draw it up until a hole comes, and on; then the rest is taken off from the hole.
fn holes(rows: &mut Vec<Row>) -> Result<()> {
    let thresholds = Thresholds {
        tip: 500.0,
        edge: 1200.0,
        inner: 1200.0,
        fastest: 1500.0,
    };
    let mut membrane = membrane(60.0, thresholds)?;
    let mut nodes = membrane.rest();
    let mut forceps = Forceps::new(ForcepsParts {
        axis: [DVec3::X * -0.3e-3, DVec3::X * 0.3e-3],
        reach: 0.3e-3,
        stiffness: 6500.0,
        slip: f64::INFINITY,
        bears: f64::INFINITY,
    })
    .map_err(|why| anyhow!(why))?;
    membrane.expect_tools(forceps.added_stiffness());
    let area = membrane.sheet().rest_area();
    let mut hole = None;
    let still = |p: DVec3| Pose::new(p, DQuat::IDENTITY);
    // First at the middle, then beside it, each time upwards and aside.
    for (grip, place) in [MIDDLE, MIDDLE + DVec3::new(1.6e-3, 0.8e-3, 0.0)]
        .into_iter()
        .enumerate()
    {
        let sheet = membrane.sheet();
        let nearest = super::set::nearest(sheet, place, Kind::Inner)?;
        let from = nodes.position[nearest.slot()];
        forceps.close(&membrane, &nodes, &still(from));
        let aside = [DVec3::X, DVec3::NEG_X][grip] * 2e-3;
        for k in 0..240_u32 {
            let at = |k: u32| {
                let part = f64::from(k) / 240.0;
                still(from + DVec3::Z * (6e-3 * part) + aside * part)
            };
            forceps.begin(Travel {
                from: at(k),
                to: at(k + 1),
                dt: FRAME,
            });
            frame(&membrane, &mut nodes, None, |nodes, part, _| {
                forceps.act(&membrane, nodes, part);
            });
            membrane.detach(&nodes);
            let torn = tears(&mut membrane, &mut nodes, |m| forceps.follow(m));
            if torn > 0 && hole.is_none() {
                hole = Some(k);
            }
        }
        forceps.open();
    }
    let case = "B14 a membrane grown onto a retina, drawn up";
    let sheet = membrane.sheet();
    let frames = hole.map_or(f64::INFINITY, f64::from);
    rows.push(Row::single(case, "frames until a hole tears", frames, "").at_most(240.0));
    let pieces = sheet.pieces() as f64;
    let row = Row::single(case, "pieces, of what stays and what comes off", pieces, "");
    rows.push(row.against(WEBER, 3.0));
    let off = sheet
        .nodes()
        .filter(|n| membrane.attachment(n.slot()) == 0.0);
    let part = off.count() as f64 / sheet.node_count() as f64;
    rows.push(Row::single(case, "part that came off", part, "").at_least(0.2));
    let lost = (sheet.rest_area() / area - 1.0).abs();
    rows.push(Row::single(case, "part of the area lost", lost, "").below(1e-9));
    Ok(())
}

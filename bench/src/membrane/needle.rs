//! Weber's tests of the needle: what it costs (Figs 6.9–6.11), how far it drags a strip (Figs 6.18–6.20), how it opens a slit (Figs 6.21, 6.22),
//! and how the cost of a frame grows with the sheet.

use crate::{
    measure::{Effort, Summary},
    row::Row,
};
use anyhow::{Context, Result, anyhow};
use glam::{DQuat, DVec3};
use std::time::Instant;
use trocar_dynamics::{Field, Matter, Nodes};
use trocar_math::Pose;
use trocar_mesh::primitive::HexagonalShape;
use trocar_mesh::sheet::{Kind, NodeId, Sheet};
use trocar_soft::membrane::tear::{Aim, Algorithm, Lengths, TearSettings, Thresholds};
use trocar_soft::membrane::{Material, Measure, Membrane, MembraneParts};
use trocar_tools::membrane::{Needle, NeedleParts, Stick, Travel};

const MACHINE: &str = "Weber 2009, Core 2 Quad 2.5 GHz";

const FRAME: f64 = 0.033;

const STILL: Field = Field {
    time: 0.0,
    gravity: DVec3::ZERO,
};

const SPRINGS: Material = Material::Springs {
    stiffness: 6500.0,
    mass: 0.01,
};

/// The source's: 0.2 mm, 0.98 mm with its caps.
fn cystotome(friction: f64, stick: Stick) -> Result<Needle> {
    Needle::new(NeedleParts {
        axis: [DVec3::Z * 0.29e-3, DVec3::Z * -0.29e-3],
        radius: 0.2e-3,
        stiffness: 6500.0,
        friction,
        stick,
    })
    .map_err(|why| anyhow!(why))
}

/// Sticks from 0.04 mm, up to 3 N.
const STANDARD: Stick = Stick::Deep {
    beyond: 0.04e-3,
    limit: 3.0,
};

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::new(DVec3::new(x, y, z) * 1e-3, DQuat::IDENTITY)
}

fn built(shape: HexagonalShape, held: bool) -> Result<Membrane> {
    let sheet = Sheet::new(&shape.surface()?)?;
    let mut parts = MembraneParts::new(sheet, SPRINGS);
    if held {
        let on_rim = |n: &NodeId| parts.sheet.kind(*n) != Some(Kind::Inner);
        parts.fixed = parts
            .sheet
            .nodes()
            .filter(on_rim)
            .map(|n| n.slot())
            .collect();
    }
    parts.damping = 50.0;
    Ok(Membrane::new(parts)?)
}

/// What some frames took: of the needle alone and of all, s; triangles looked at in all substeps.
#[derive(Default)]
struct Taken {
    needle: Vec<f64>,
    all: Vec<f64>,
    looked: usize,
}

/// Drags a needle through `frames` frames along `way`.
fn drag(
    membrane: &Membrane,
    nodes: &mut Nodes,
    needle: &mut Needle,
    way: [Pose; 2],
    frames: u32,
) -> Taken {
    let substeps = membrane.substeps(FRAME, membrane.stable_step());
    let h = FRAME / f64::from(substeps);
    let mut taken = Taken::default();
    for frame in 0..frames {
        let pose = |k: u32| way[0].interpolate(&way[1], f64::from(k) / f64::from(frames));
        let (from, to) = (pose(frame), pose(frame + 1));
        let began = Instant::now();
        let mut own = 0.0;
        let travel = Travel {
            from,
            to,
            dt: FRAME,
        };
        needle.begin(membrane, nodes, travel);
        own += began.elapsed().as_secs_f64();
        for k in 1..=substeps {
            membrane.force(nodes, &STILL);
            let part = f64::from(k) / f64::from(substeps);
            let acting = Instant::now();
            needle.act(membrane, nodes, part, h);
            own += acting.elapsed().as_secs_f64();
            taken.looked += needle.counts()[0];
            membrane.advance(nodes, h);
        }
        taken.needle.push(own);
        taken.all.push(began.elapsed().as_secs_f64());
    }
    taken
}

/// Costs of the needle on strips and sheets, its drag and its tears, and of frames from a thousand to a hundred thousand triangles.
pub fn needles(effort: Effort) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    costs(effort, &mut rows)?;
    growth(effort, &mut rows)?;
    strips(&mut rows)?;
    slits(&mut rows)?;
    Ok(rows)
}

/// B5 and B6: every triangle in the narrow phase.
fn costs(effort: Effort, rows: &mut Vec<Row>) -> Result<()> {
    let frames = effort.repeats(100, 20) as u32;
    // 342, 640 and 10 032 triangles; the source's time for each, ms a frame.
    for (name, rows_of, columns, printed) in [
        ("a strip of 342 triangles", 9, 20, 5.0),
        ("660 triangles", 20, 17, 9.9),
        ("10 k triangles", 75, 67, 150.0),
    ] {
        let shape = HexagonalShape {
            rows: rows_of,
            columns,
            edge: 0.5e-3,
        };
        let mut membrane = built(shape, true)?;
        let mut needle = cystotome(1.2, STANDARD)?;
        membrane.expect_tools(needle.added_stiffness());
        let mut nodes = membrane.rest();
        // No triangle is passed over beforehand, as in the source.
        needle.set_margin(1.0);
        let middle = 0.5e3 * shape.edge * 0.75_f64.sqrt() * f64::from(rows_of as u32);
        let way = [at(1.0, middle, 0.4), at(6.0, middle, 0.35)];
        let taken = drag(&membrane, &mut nodes, &mut needle, way, frames);
        let each = 1e9 * taken.needle.iter().sum::<f64>() / taken.looked.max(1) as f64;
        let of_frame = taken.needle.iter().map(|s| 1e3 * s);
        let row = Row::new(name, "the needle, a frame", Summary::of(of_frame), "ms");
        rows.push(row.against(MACHINE, printed).below(printed));
        rows.push(
            Row::single(name, "  each near triangle and substep", each, "ns")
                .against(MACHINE, 600.0)
                .at_most(60.0),
        );
    }
    Ok(())
}

/// Whole frames with a needle at work, from a thousand triangles to a hundred thousand, one thread.
fn growth(effort: Effort, rows: &mut Vec<Row>) -> Result<()> {
    for (name, rows_of, columns) in [
        ("1 k triangles", 24, 21),
        ("5 k triangles", 53, 48),
        ("20 k triangles", 106, 95),
        ("100 k triangles", 240, 210),
    ] {
        let shape = HexagonalShape {
            rows: rows_of,
            columns,
            edge: 0.5e-3,
        };
        let mut membrane = built(shape, true)?;
        let mut needle = cystotome(1.2, STANDARD)?;
        membrane.expect_tools(needle.added_stiffness());
        let mut nodes = membrane.rest();
        let way = [at(2.0, 4.0, 0.4), at(3.0, 4.3, 0.35)];
        let frames = effort.repeats(20, 4) as u32;
        let taken = drag(&membrane, &mut nodes, &mut needle, way, frames);
        let all = Summary::of(taken.all.iter().map(|s| 1e3 * s));
        let own = Summary::of(taken.needle.iter().map(|s| 1e3 * s));
        let row = Row::new(name, "a frame of 33 ms with a needle", all, "ms");
        rows.push(if rows_of == 106 {
            row.at_most(8.0)
        } else {
            row
        });
        rows.push(Row::new(name, "  of it the needle", own, "ms"));
    }
    Ok(())
}

/// B8: how far a needle that sweeps over a free strip of 132 triangles drags it.
fn strips(rows: &mut Vec<Row>) -> Result<()> {
    for (name, friction, printed) in [("frictionless", 0.0, 0.058), ("μ = 1.2", 1.2, 0.55)] {
        let shape = HexagonalShape {
            rows: 4,
            columns: 17,
            edge: 0.5e-3,
        };
        let mut membrane = built(shape, false)?;
        let mut needle = cystotome(friction, Stick::Never)?;
        membrane.expect_tools(needle.added_stiffness());
        let mut nodes = membrane.rest();
        // Down onto it, along, and up again: on an arc, as there.
        let poses = [at(2.5, 0.87, 0.6), at(4.25, 0.87, 0.45), at(6.0, 0.87, 0.6)];
        for pair in poses.windows(2) {
            let way = [pair[0], pair[1]];
            drag(&membrane, &mut nodes, &mut needle, way, 50);
        }
        let rest = membrane.rest();
        let moved = nodes.position.iter().zip(&rest.position);
        let mean = moved.map(|(p, q)| p.x - q.x).sum::<f64>() / nodes.len() as f64;
        let case = format!("a strip swept over, {name}");
        rows.push(Row::single(&case, "mean way along", 1e3 * mean, "mm").against(MACHINE, printed));
    }
    Ok(())
}

/// B10: a needle pushed from a slit's tip to the other side.
fn slits(rows: &mut Vec<Row>) -> Result<()> {
    for (name, algorithm) in [
        ("pseudo-continuous", Algorithm::PseudoContinuous),
        ("continuous", Algorithm::Continuous),
    ] {
        let sheet = Sheet::new(&HexagonalShape::STANDARD.surface()?)?;
        let middle = DVec3::new(4.25e-3, 0.0, 0.0);
        let start = sheet
            .nodes()
            .min_by(|a, b| {
                let off = |n: &NodeId| sheet.rest(*n).distance(middle);
                off(a).total_cmp(&off(b))
            })
            .context("the sheet has nodes")?;
        let mut parts = MembraneParts::new(sheet, SPRINGS);
        let held = |n: &NodeId| *n != start && parts.sheet.kind(*n) != Some(Kind::Inner);
        parts.fixed = parts.sheet.nodes().filter(held).map(|n| n.slot()).collect();
        parts.measure = Measure::Tension { reach: 1.2e-3 };
        parts.damping = 60.0;
        let settings = |algorithm| TearSettings {
            algorithm,
            thresholds: Thresholds {
                tip: 100.0,
                edge: 1e5,
                inner: 1e6,
                fastest: 400.0,
            },
            lengths: Lengths {
                least: 1e-6,
                most: 0.3e-3,
                ..Lengths::of_edge(0.5e-3)
            },
        };
        parts.tearing = Some(settings(Algorithm::Subdivision));
        let mut membrane = Membrane::new(parts)?;
        let mut nodes = membrane.rest();
        let up = Aim::Toward(DVec3::Y);
        let tip_of = |membrane: &Membrane| {
            let sheet = membrane.sheet();
            sheet.nodes().find(|n| sheet.kind(*n) == Some(Kind::Tip))
        };
        membrane.tear_at(&mut nodes, start, 1.0, up)?;
        for _ in 0..3 {
            let tip = tip_of(&membrane).context("the slit has a tip")?;
            membrane.tear_at(&mut nodes, tip, 1.0, up)?;
        }
        membrane.set_tearing(Some(settings(algorithm)))?;
        let sticks = Stick::Deep {
            beyond: 0.04e-3,
            limit: 30.0,
        };
        let mut needle = cystotome(1.2, sticks)?;
        membrane.expect_tools(needle.added_stiffness());
        let first = membrane.sheet().rest(tip_of(&membrane).context("a tip")?) * 1e3;
        let (area, mut times) = (membrane.sheet().rest_area(), Vec::new());
        for k in 0..200 {
            let y = |k: u32| first.y - 0.6 + 0.02 * f64::from(k);
            let way = [at(first.x, y(k), 0.0), at(first.x, y(k + 1), 0.0)];
            let began = Instant::now();
            drag(&membrane, &mut nodes, &mut needle, way, 1);
            if membrane.tear(&mut nodes).is_ok_and(|done| done.is_some()) {
                needle.follow(&membrane);
            }
            times.push(1e3 * began.elapsed().as_secs_f64());
        }
        let sheet = membrane.sheet();
        let torn = || {
            sheet
                .nodes()
                .filter(|n| sheet.siblings(*n).next().is_some())
        };
        let far = torn().map(|n| 1e3 * sheet.rest(n).y).fold(0.0, f64::max);
        let off = torn()
            .map(|n| (1e3 * sheet.rest(n).x - first.x).abs())
            .fold(0.0, f64::max);
        let case = format!("a needle in a slit, {name}");
        rows.push(Row::single(
            &case,
            "opened by 3.4 mm of way beyond the tip",
            far - first.y,
            "mm",
        ));
        rows.push(Row::single(&case, "farthest from straight", off, "mm"));
        let lost = (sheet.rest_area() / area - 1.0).abs();
        rows.push(Row::single(&case, "part of the area lost", lost, "").below(1e-9));
        rows.push(Row::new(&case, "a frame with its tear", Summary::of(times), "ms").below(33.0));
    }
    Ok(())
}

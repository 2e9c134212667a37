//! Weber's tests of the needle: what it costs (Figs 6.9–6.11), how far it drags a strip (Figs 6.18–6.20), how it opens a slit (Figs 6.21, 6.22),
//! and how the cost of a frame grows with the sheet.

use super::plain::Naive;
use super::set::{
    FRAME, MACHINE, STILL, at, counted, cystotome, deep, hundred_thousand, nearest, parts, tearing,
    tip_of, torn, twenty_thousand,
};
use crate::{
    measure::{Effort, Summary, time},
    row::Row,
};
use anyhow::{Context, Result, ensure};
use glam::DVec3;
use std::time::Instant;
use trocar_dynamics::{Crew, Matter, Nodes};
use trocar_math::{Pose, real};
use trocar_mesh::primitive::HexagonalShape;
use trocar_mesh::sheet::{Kind, NodeId, Sheet};
use trocar_soft::membrane::tear::{Aim, Algorithm};
use trocar_soft::membrane::{Bending, Measure, Membrane, MembraneParts};
use trocar_tools::membrane::{Needle, Stick, Travel};

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
    crew: Option<&Crew>,
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
            match crew {
                Some(crew) => membrane.force_by(nodes, &STILL, crew),
                None => membrane.force(nodes, &STILL),
            }
            let part = f64::from(k) / f64::from(substeps);
            let acting = Instant::now();
            needle.act(membrane, nodes, part, h);
            own += acting.elapsed().as_secs_f64();
            taken.looked += needle.counts()[0];
            match crew {
                Some(crew) => membrane.advance_by(nodes, h, crew),
                None => membrane.advance(nodes, h),
            };
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
    // The source's time for each, ms a frame.
    let mut line = Vec::new();
    for (name, shape, printed) in [
        ("B5 a strip of 342 triangles", counted(19, 10, 342)?, 5.0),
        ("B6 105 triangles", counted(8, 8, 105)?, 1.6),
        ("B6 330 triangles", counted(11, 17, 330)?, 5.0),
        ("B6 660 triangles", counted(21, 17, 660)?, 9.9),
        ("B6 2160 triangles", counted(49, 23, 2160)?, 33.0),
        ("B6 5 k triangles", counted(54, 48, 5_035)?, 75.0),
        ("B6 10 k triangles", counted(49, 105, 10_032)?, 150.0),
    ] {
        let mut membrane = Membrane::new(parts(shape, true)?)?;
        let mut needle = cystotome(1.2, deep(3.0))?;
        membrane.expect_tools(needle.added_stiffness());
        let mut nodes = membrane.rest();
        // No triangle is passed over beforehand, as in the source.
        needle.set_margin(1.0);
        let middle = 0.5e3 * shape.edge * 0.75_f64.sqrt() * (shape.rows - 1) as f64;
        let way = [at(0.5, middle, 0.4), at(3.3, middle, 0.35)];
        let taken = drag(&membrane, &mut nodes, &mut needle, way, frames, None);
        let each = 1e9 * taken.needle.iter().sum::<f64>() / taken.looked.max(1) as f64;
        let of_frame = Summary::of(taken.needle.iter().map(|s| 1e3 * s));
        line.push([membrane.sheet().triangle_count() as f64, of_frame.median]);
        let row = Row::new(name, "the needle, a frame", of_frame, "ms");
        rows.push(row.against(MACHINE, printed).below(printed));
        rows.push(
            Row::single(name, "  each near triangle and substep", each, "ns")
                .against(MACHINE, 600.0)
                .at_most(60.0),
        );
    }
    // A line, as there; its slope by least squares through the origin.
    let [of_both, of_one] = line
        .iter()
        .fold([0.0, 0.0], |[xy, xx], [x, y]| [xy + x * y, xx + x * x]);
    let case = "B6 from 105 to 10 k triangles";
    let slope = 1e3 * of_both / of_one;
    let row = Row::single(case, "a frame for each triangle", slope, "µs");
    rows.push(row.against(MACHINE, 15.0).below(15.0));
    Ok(())
}

/// Whole frames with a needle at work, from a thousand triangles to a hundred thousand, with one thread and with two; the middle one with every
/// way of bending.
fn growth(effort: Effort, rows: &mut Vec<Row>) -> Result<()> {
    let crew = Crew::new(2);
    let (springs, hinges) = (
        Bending::Springs { stiffness: 650.0 },
        Bending::Hinges { rigidity: 1e-5 },
    );
    let twenty = twenty_thousand()?;
    for (name, shape, bending, aim) in [
        ("1 k triangles", counted(25, 21, 984)?, Bending::None, None),
        (
            "5 k triangles",
            counted(54, 48, 5_035)?,
            Bending::None,
            None,
        ),
        ("20 k triangles", twenty, Bending::None, Some(8.0)),
        (
            "20 k triangles, bending springs",
            twenty,
            springs,
            Some(16.0),
        ),
        ("20 k triangles, hinges", twenty, hinges, Some(33.0)),
        ("100 k triangles", hundred_thousand()?, Bending::None, None),
    ] {
        let mut membrane = slit_sheet(shape, bending)?;
        let way = [at(2.0, 4.0, 0.4), at(3.0, 4.3, 0.35)];
        let frames = effort.repeats(20, 4) as u32;
        let needle = cystotome(1.2, deep(3.0))?;
        membrane.expect_tools(needle.added_stiffness());
        let substeps = membrane.substeps(FRAME, membrane.stable_step());
        let mut plain = Naive::new(&membrane, bending);
        // In turn, so that whatever else the machine does falls on all alike.
        let (mut alone, mut both) = (Taken::default(), Taken::default());
        let (mut naive, mut search) = (Vec::new(), Vec::new());
        let mut runs = [(None, &mut alone), (Some(&crew), &mut both)].map(|(crew, taken)| {
            (
                crew,
                taken,
                membrane.copy_with_room(),
                membrane.rest(),
                needle.clone(),
            )
        });
        for k in 0..frames {
            let pose = |k: u32| way[0].interpolate(&way[1], f64::from(k) / f64::from(frames));
            for (crew, taken, membrane, nodes, needle) in &mut runs {
                let leg = [pose(k), pose(k + 1)];
                let one = drag(membrane, nodes, needle, leg, 1, *crew);
                taken.needle.extend(one.needle);
                // Once a frame: who is about to fail, of all nodes and at the tips of two slits. Nobody does, so that all frames are of one sheet.
                let began = Instant::now();
                let torn = membrane.tear(nodes)?;
                let took = began.elapsed().as_secs_f64();
                ensure!(torn.is_none(), "{name}: it tears");
                taken.all.extend(one.all.iter().map(|all| all + took));
                if crew.is_none() {
                    search.push(took);
                }
            }
            naive.push(time(|| plain.frame(FRAME, substeps)));
        }
        let in_ms = |times: &[f64]| Summary::of(times.iter().map(|s| 1e3 * s));
        let (one, two, naive) = (in_ms(&alone.all), in_ms(&both.all), in_ms(&naive));
        let row = Row::new(
            name,
            "a frame of 33 ms with a needle and a search",
            one,
            "ms",
        );
        let row = row.against("a plain loop over all parts, no needle", naive.median);
        rows.push(match aim {
            Some(aim) => row.at_most(aim),
            None => row,
        });
        let own = in_ms(&alone.needle);
        rows.push(Row::new(name, "  of it the needle", own, "ms"));
        let row = Row::new(name, "  the search for what tears", in_ms(&search), "ms");
        rows.push(row.against("the frame", one.median));
        let row = Row::new(name, "  with two threads", two, "ms");
        rows.push(row.against("one thread", one.median));
        rows.push(Row::single(name, "  substeps", f64::from(substeps), ""));
        let each =
            1e6 * one.median / f64::from(substeps) / membrane.sheet().triangle_count() as f64;
        rows.push(Row::single(name, "  each triangle and substep", each, "ns"));
    }
    Ok(())
}

/// A sheet with its rim held and two slits of three edges, that would tear at thresholds of which it stays far below.
fn slit_sheet(shape: HexagonalShape, bending: Bending) -> Result<Membrane> {
    let mut parts = parts(shape, true)?;
    parts.bending = bending;
    parts.measure = Measure::Tension { reach: 1.2e-3 };
    parts.tearing = Some(tearing(Algorithm::Subdivision, 5e3));
    let starts = [DVec3::new(2e-3, 2.5e-3, 0.0), DVec3::new(3.5e-3, 5e-3, 0.0)];
    let starts = starts.map(|place| nearest(&parts.sheet, place, Kind::Inner));
    let mut membrane = Membrane::new(parts)?;
    let mut nodes = membrane.rest();
    for start in starts {
        let mut node = start?;
        for _ in 0..3 {
            let before = membrane.sheet().rest(node);
            membrane.tear_at(&mut nodes, node, 0.5e-3, Aim::Toward(DVec3::X))?;
            let sheet = membrane.sheet();
            let ahead = |n: &NodeId| (sheet.rest(*n) - before).x;
            let near = |n: &NodeId| sheet.rest(*n).distance(before) < 1e-3;
            let tips = sheet.nodes().filter(|n| sheet.kind(*n) == Some(Kind::Tip));
            node = tips
                .filter(near)
                .max_by(|a, b| ahead(a).total_cmp(&ahead(b)))
                .context("the slit has a tip")?;
        }
    }
    Ok(membrane)
}

/// B8: how far a needle that sweeps over a free strip of 132 triangles drags it.
fn strips(rows: &mut Vec<Row>) -> Result<()> {
    let mut ways = Vec::new();
    for (name, friction, printed) in [("frictionless", 0.0, 0.058), ("μ = 1.2", 1.2, 0.55)] {
        let mut parts = parts(HexagonalShape::STRIP, false)?;
        parts.damping = 20.0;
        let mut membrane = Membrane::new(parts)?;
        let mut needle = cystotome(friction, Stick::Never)?;
        membrane.expect_tools(needle.added_stiffness());
        let rest = membrane.rest();
        let mut nodes = membrane.rest();
        // Down into it by 0.3 mm, along, and up again: on a circle, as there.
        let middle = 1e3 * rest.position.iter().sum::<DVec3>() / rest.len() as f64;
        let pose = |k: u32| {
            let turn = -1.2 + 2.4 * f64::from(k) / 100.0;
            let (x, z) = (real::sin(turn), 1.0 - real::cos(turn));
            at(middle.x + 3.5 * x, middle.y, 0.49 - 0.3 + 3.5 * z)
        };
        for k in 0..100 {
            let way = [pose(k), pose(k + 1)];
            drag(&membrane, &mut nodes, &mut needle, way, 1, None);
        }
        let moved = nodes.position.iter().zip(&rest.position);
        let mean = 1e3 * moved.map(|(p, q)| p.x - q.x).sum::<f64>() / nodes.len() as f64;
        let case = format!("B8 a strip swept over, {name}");
        rows.push(Row::single(&case, "mean way along", mean, "mm").against(MACHINE, printed));
        ways.push(mean);
    }
    let row = Row::single(
        "B8 a strip swept over",
        "μ = 1.2 : frictionless",
        ways[1] / ways[0],
        "",
    );
    rows.push(row.against(MACHINE, 9.5).at_least(9.5));
    Ok(())
}

/// Tension at a tip from which on the slit of B10 goes on, N/m.
const SLIT: f64 = 250.0;

/// B10: a needle pushed from a slit's tip to the other side.
fn slits(rows: &mut Vec<Row>) -> Result<()> {
    let mut straight = Vec::new();
    for (name, algorithm) in [
        ("pseudo-continuous", Algorithm::PseudoContinuous),
        ("continuous", Algorithm::Continuous),
    ] {
        let sheet = Sheet::new(&HexagonalShape::STANDARD.surface()?)?;
        let start = nearest(&sheet, DVec3::new(4.25e-3, 0.0, 0.0), Kind::Edge)?;
        let mut parts = MembraneParts::new(sheet, super::set::SPRINGS);
        let held = |n: &NodeId| *n != start && parts.sheet.kind(*n) != Some(Kind::Inner);
        parts.fixed = parts.sheet.nodes().filter(held).map(|n| n.slot()).collect();
        parts.measure = Measure::Tension { reach: 1.2e-3 };
        parts.damping = 60.0;
        parts.tearing = Some(tearing(Algorithm::Subdivision, SLIT));
        let mut membrane = Membrane::new(parts)?;
        let mut nodes = membrane.rest();
        let up = Aim::Toward(DVec3::Y);
        membrane.tear_at(&mut nodes, start, 1.0, up)?;
        for _ in 0..3 {
            let tip = tip_of(&membrane).context("the slit has a tip")?;
            membrane.tear_at(&mut nodes, tip, 1.0, up)?;
        }
        membrane.set_tearing(Some(tearing(algorithm, SLIT)))?;
        let mut needle = cystotome(1.2, deep(30.0))?;
        membrane.expect_tools(needle.added_stiffness());
        let first = membrane.sheet().rest(tip_of(&membrane).context("a tip")?) * 1e3;
        let (area, mut times) = (membrane.sheet().rest_area(), Vec::new());
        for k in 0..200 {
            let y = |k: u32| first.y - 0.6 + 0.02 * f64::from(k);
            let way = [at(first.x, y(k), 0.0), at(first.x, y(k + 1), 0.0)];
            let began = Instant::now();
            drag(&membrane, &mut nodes, &mut needle, way, 1, None);
            if membrane.tear(&mut nodes).is_ok_and(|done| done.is_some()) {
                needle.follow(&membrane);
            }
            times.push(1e3 * began.elapsed().as_secs_f64());
        }
        let sheet = membrane.sheet();
        let far = torn(sheet).map(|p| 1e3 * p.y).fold(0.0, f64::max);
        let off = torn(sheet)
            .map(|p| (1e3 * p.x - first.x).abs())
            .fold(0.0, f64::max);
        let case = format!("B10 a needle in a slit, {name}");
        let opened = Row::single(
            &case,
            "opened by 3.4 mm of way beyond the tip",
            far - first.y,
            "mm",
        );
        rows.push(opened.at_least(2.5));
        // An edge is half a millimetre.
        rows.push(Row::single(&case, "farthest from straight", off, "mm").at_most(0.5));
        straight.push(off);
        let lost = (sheet.rest_area() / area - 1.0).abs();
        rows.push(Row::single(&case, "part of the area lost", lost, "").below(1e-9));
        rows.push(Row::new(&case, "a frame with its tear", Summary::of(times), "ms").below(33.0));
    }
    // In the thesis the continuous one is the smoother.
    let case = "B10 a needle in a slit";
    let metric = "off straight, continuous : pseudo-continuous";
    rows.push(Row::single(case, metric, straight[1] / straight[0], "").at_most(1.0));
    Ok(())
}

//! What an edit costs on 660 triangles and on 100 thousand: random edits of a sheet, each a transaction of its own, and calls of a tear that runs through a membrane.

use super::set::{SPRINGS, hundred_thousand, tearing, tip_of};
use crate::{measure::Effort, row::Row};
use anyhow::{Context, Result, bail};
use glam::DVec3;
use std::time::Instant;
use trocar_mesh::primitive::HexagonalShape;
use trocar_mesh::sheet::{Edit, Event, Refusal, Sheet, TriangleId};
use trocar_soft::membrane::tear::{Aim, Algorithm};
use trocar_soft::membrane::{Membrane, MembraneParts};

/// A sequence of numbers that depends on its seed alone (SplitMix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }
}

/// Where edits are made.
#[derive(Clone, Copy, PartialEq)]
enum Where {
    /// In the neighbourhood of one place, as tears do: what they need is in the processor's memory.
    Together,
    /// Anywhere: in a large sheet every one waits for the machine's memory.
    Anywhere,
}

/// One random edit of any kind, around the triangle `place` or anywhere.
fn attempt(dice: &mut Dice, edit: &mut Edit<'_>, place: Option<TriangleId>) -> Result<(), Refusal> {
    let sheet = edit.sheet();
    let mut triangle = sheet.triangle_at(dice.below(sheet.triangle_slots()));
    if let Some(place) = place {
        // Some steps away from it.
        triangle = place;
        for _ in 0..8 {
            let side = sheet.sides(triangle)[dice.below(3)];
            let (one, two) = sheet.beside(side);
            triangle = two.filter(|t| *t != triangle).unwrap_or(one);
        }
    }
    if !sheet.has_triangle(triangle) {
        return Err(Refusal::OutOfRange);
    }
    let edge = sheet.sides(triangle)[dice.below(3)];
    let node = sheet.corners(triangle)[0];
    let part = 0.2 + 0.006 * dice.below(100) as f64;
    let weights = [0.5 * part, 0.5, 0.5 - 0.5 * part];
    match dice.below(6) {
        0 => edit.split_edge(edge, part).map(|_| ()),
        1 => edit.subdivide(triangle, weights).map(|_| ()),
        2 => edit.snap(node, triangle, weights),
        3 => {
            let [a, b] = sheet.ends(edge);
            edit.collapse(a, b)
        }
        4 => edit.flip(edge).map(|_| ()),
        _ => edit.open(edge),
    }
}

/// Attempts for each edit that is to be done; most are done at the first.
const PATIENCE: usize = 50;

/// Seconds that each of `count` edits took that were done, not refused. Where a place has been cut to pieces too small for any edit it goes on at the next.
fn run(start: &Sheet, count: usize, places: Where) -> Result<Vec<f64>> {
    let mut sheet = start.clone();
    sheet.reserve(2 * count);
    let (mut event, mut dice) = (Event::default(), Dice(1));
    let mut times = Vec::with_capacity(count);
    let mut place = start.triangle_at(start.triangle_slots() / 2);
    let mut refused = 0;
    for _ in 0..PATIENCE * count {
        if refused == PATIENCE || !sheet.has_triangle(place) {
            // From whatever stands there now, or the next that is there.
            let slots = sheet.triangle_slots();
            let from = place.slot() + usize::from(refused == PATIENCE);
            let there = |slot: &usize| sheet.has_triangle(sheet.triangle_at(slot % slots));
            let next = (from..from + slots).find(there);
            place = sheet.triangle_at(next.context("no triangle is left")? % slots);
            refused = 0;
        }
        let near = (places == Where::Together).then_some(place);
        let began = Instant::now();
        let done = sheet.edit(&mut event, |edit| attempt(&mut dice, edit, near));
        let took = began.elapsed().as_secs_f64();
        if done.is_ok() {
            times.push(took);
            refused = 0;
        } else {
            refused += 1;
        }
        if times.len() == count {
            return Ok(times);
        }
    }
    bail!("only {} of {count} edits could be done", times.len());
}

/// Mean and worst of an edit, on a small sheet and a large one, together and anywhere.
pub fn edits(effort: Effort) -> Result<Vec<Row>> {
    let rounds = effort.repeats(15, 3);
    let count = 400;
    let mut rows = Vec::new();
    let small = Sheet::new(&HexagonalShape::STANDARD.surface()?)?;
    let large = Sheet::new(&hundred_thousand()?.surface()?)?;
    for (places, name) in [
        (Where::Together, "edits in one place"),
        (Where::Anywhere, "edits anywhere"),
    ] {
        let mut means = Vec::new();
        // Every run does the same edits, so the least time of each edit is what it costs without what the machine did beside. Large and small in turn.
        let mut least = [run(&small, count, places)?, run(&large, count, places)?];
        for _ in 1..rounds {
            for (least, sheet) in least.iter_mut().zip([&small, &large]) {
                for (least, took) in least.iter_mut().zip(run(sheet, count, places)?) {
                    *least = least.min(took);
                }
            }
        }
        for (times, size) in least.iter().zip(["660 triangles", "100 k triangles"]) {
            let case = format!("{size}, {name}");
            let mean = 1e6 * times.iter().sum::<f64>() / count as f64;
            let worst = 1e6 * times.iter().copied().fold(0.0, f64::max);
            means.push(mean);
            rows.push(Row::single(&case, "an edit, mean", mean, "µs").at_most(5.0));
            rows.push(Row::single(&case, "an edit, worst", worst, "µs").at_most(50.0));
        }
        let [small, large] = means[..] else {
            bail!("there are two sheets");
        };
        let case = format!("100 k triangles, {name}");
        let row = Row::single(
            &case,
            "an edit, in edits of the small sheet",
            large / small,
            "",
        );
        // Work that grew with the sheet would cost a hundred times as much. Anywhere, the large one waits for memory, and that is not work.
        rows.push(row.at_most(if places == Where::Together { 1.1 } else { 2.0 }));
    }
    rows.extend(calls(effort)?);
    Ok(rows)
}

/// How far a tear goes in a call, m: as far as the source's went on average.
const GROWTH: f64 = 0.024e-3;

/// Calls of a tear: through less than half of the standard sheet.
const CALLS: usize = 150;

/// Seconds that the edit of each call took of a tear that runs into an evenly stretched membrane, slanting so that it follows no row of edges: the sheet, all that follows
/// from it, and the balance of energy.
fn run_through(shape: HexagonalShape, algorithm: Algorithm) -> Result<Vec<f64>> {
    let sheet = Sheet::new(&shape.surface()?)?;
    let mut parts = MembraneParts::new(sheet, SPRINGS);
    parts.tearing = Some(tearing(algorithm, 1.0));
    let mut membrane = Membrane::new(parts)?;
    let mut nodes = membrane.rest();
    nodes.position.iter_mut().for_each(|p| p.x *= 1.03);
    let way = Aim::Toward(DVec3::new(0.23, 1.0, 0.0));
    let start = membrane.sheet().node_at(shape.columns / 2);
    membrane.tear_at(&mut nodes, start, GROWTH, way)?;
    let mut times = Vec::with_capacity(CALLS);
    for _ in 0..CALLS {
        let tip = tip_of(&membrane).context("the tear has a tip")?;
        let began = Instant::now();
        let done = membrane.tear_at(&mut nodes, tip, GROWTH, way);
        times.push(began.elapsed().as_secs_f64());
        done?;
    }
    Ok(times)
}

/// Mean and worst of the edit of a call, on a small sheet and a large one.
fn calls(effort: Effort) -> Result<Vec<Row>> {
    let rounds = effort.repeats(15, 3);
    let mut rows = Vec::new();
    let shapes = [HexagonalShape::STANDARD, hundred_thousand()?];
    for (algorithm, name) in [
        (Algorithm::Continuous, "continuous"),
        (Algorithm::PseudoContinuous, "pseudo-continuous"),
    ] {
        let mut least = shapes.map(|_| vec![f64::INFINITY; CALLS]);
        for _ in 0..rounds {
            for (least, shape) in least.iter_mut().zip(shapes) {
                for (least, took) in least.iter_mut().zip(run_through(shape, algorithm)?) {
                    *least = least.min(took);
                }
            }
        }
        for (times, size) in least.iter().zip(["660 triangles", "100 k triangles"]) {
            let case = format!("{size}, calls of a {name} tear");
            let mean = 1e6 * times.iter().sum::<f64>() / CALLS as f64;
            let worst = 1e6 * times.iter().copied().fold(0.0, f64::max);
            rows.push(Row::single(&case, "the edit of a call, mean", mean, "µs").at_most(5.0));
            rows.push(Row::single(&case, "the edit of a call, worst", worst, "µs").at_most(50.0));
        }
        let mean = |times: &[f64]| times.iter().sum::<f64>();
        rows.push(
            Row::single(
                &format!("100 k triangles, calls of a {name} tear"),
                "the edit of a call, in those of the small sheet",
                mean(&least[1]) / mean(&least[0]),
                "",
            )
            .at_most(1.1),
        );
    }
    Ok(rows)
}

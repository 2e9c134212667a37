//! Random edits of a sheet, each a transaction of its own: what one costs on 660 triangles and on 100 thousand.

use crate::{measure::Effort, row::Row};
use anyhow::{Result, bail};
use std::time::Instant;
use trocar_mesh::primitive::HexagonalShape;
use trocar_mesh::sheet::{Edit, Event, Refusal, Sheet};

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

/// One random edit of any kind.
fn attempt(dice: &mut Dice, edit: &mut Edit<'_>) -> Result<(), Refusal> {
    let sheet = edit.sheet();
    let triangle = sheet.triangle_at(dice.below(sheet.triangle_slots()));
    let edge = sheet.edge_at(dice.below(sheet.edge_slots()));
    if !sheet.has_triangle(triangle) || !sheet.has_edge(edge) {
        return Err(Refusal::OutOfRange);
    }
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

/// Seconds that each of `count` edits took that were done, not refused.
fn run(start: &Sheet, count: usize) -> Vec<f64> {
    let mut sheet = start.clone();
    sheet.reserve(2 * count);
    let (mut event, mut dice) = (Event::default(), Dice(1));
    let mut times = Vec::with_capacity(count);
    while times.len() < count {
        let began = Instant::now();
        let done = sheet.edit(&mut event, |edit| attempt(&mut dice, edit));
        let took = began.elapsed().as_secs_f64();
        if done.is_ok() {
            times.push(took);
        }
    }
    times
}

/// Mean and worst of an edit, on a small sheet and a large one.
pub fn edits(effort: Effort) -> Result<Vec<Row>> {
    let rounds = effort.repeats(15, 5);
    let count = 400;
    let sheets = [
        ("660 triangles", HexagonalShape::STANDARD),
        (
            "100 k triangles",
            HexagonalShape {
                rows: 240,
                columns: 210,
                edge: 0.5e-3,
            },
        ),
    ];
    let mut rows = Vec::new();
    let mut means = Vec::new();
    for (case, shape) in sheets {
        let sheet = Sheet::new(&shape.surface()?)?;
        // Every run does the same edits, so the least time of each edit is what it costs without what the machine did beside.
        let mut least = run(&sheet, count);
        for _ in 1..rounds {
            for (least, took) in least.iter_mut().zip(run(&sheet, count)) {
                *least = least.min(took);
            }
        }
        let mean = 1e6 * least.iter().sum::<f64>() / count as f64;
        let worst = 1e6 * least.iter().copied().fold(0.0, f64::max);
        means.push(mean);
        rows.push(Row::single(case, "an edit, mean", mean, "µs").at_most(5.0));
        rows.push(Row::single(case, "an edit, worst", worst, "µs").at_most(50.0));
    }
    let [small, large] = means[..] else {
        bail!("there are two sheets");
    };
    // Cold memory costs the large sheet something; work that grew with the sheet would cost a hundred times as much.
    rows.push(
        Row::single(
            "100 k triangles",
            "an edit, in edits of the small sheet",
            large / small,
            "",
        )
        .at_most(1.5),
    );
    Ok(rows)
}

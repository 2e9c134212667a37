//! Ten triangles change, as where scissors close.

use super::{meshes::organ, pairs::SIZES};
use crate::{
    measure::{Effort, Summary, interleave, time},
    row::Row,
};
use anyhow::Result;
use glam::DVec3;
use std::hint::black_box;
use trocar_collide::tree::{Change, Tree};

/// What we want of an edit, µs.
const AIM: f64 = 5.0;

/// How many edits are timed together: one alone is too short for the clock.
const BATCH: usize = 50;

/// Rows.
pub fn edit(effort: Effort) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (around, count) in SIZES.into_iter().chain([(700, 350)]) {
        let mesh = organ(around, count, DVec3::splat(0.1));
        let positions = &mesh.frames[0];
        let mut tree = Tree::new(&mesh.triangles, positions)?;
        let case = format!("collide/edit, {} triangles", mesh.triangles.len());
        // Two triangles with a common edge get the other diagonal: five pairs side by side, at places all over the surface.
        let mut triangles = mesh.triangles.clone();
        let mut place = 0;
        let mut edits: Vec<Vec<Change>> = Vec::new();
        let mut job = || {
            edits.clear();
            for _ in 0..BATCH {
                place = (place + 7919) % (triangles.len() / 10);
                edits.push(flip(&mut triangles, place * 10));
            }
            let seconds = time(|| {
                for changes in &edits {
                    let _ = black_box(tree.edit(changes, positions));
                }
            });
            seconds * 1e6 / BATCH as f64
        };
        let mut build = || time(|| drop(Tree::new(&mesh.triangles, positions))) * 1e6;
        let rounds = effort.repeats(40, 8);
        let samples = interleave("collide/edit", rounds, &mut [&mut job, &mut build]);
        let build = Summary::of(samples[1].iter().copied()).median;
        let spread = Summary::of(samples[0].iter().copied());
        rows.push(
            Row::new(&case, "10 triangles replaced", spread, "µs")
                .against("building anew", build)
                .at_most(AIM),
        );
        let (taken, added) = come_and_go(&mut tree, &triangles, positions, rounds);
        for (what, spread) in [("taken away", taken), ("added where they were", added)] {
            let what = format!("10 triangles {what}");
            rows.push(Row::new(&case, &what, spread, "µs").against("building anew", build));
        }
        let depth = tree.depth() as f64;
        rows.push(Row::single(
            &case,
            "boxes from root to leaf after all edits",
            depth,
            "",
        ));
    }
    Ok(rows)
}

/// µs to take ten triangles away, and to add them again: plain changes, which find no triangle in whose place they could go.
fn come_and_go(
    tree: &mut Tree,
    triangles: &[[u32; 3]],
    positions: &[DVec3],
    rounds: usize,
) -> (Summary, Summary) {
    let mut place = 0;
    let (mut taken, mut added) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let mut edits = Vec::with_capacity(BATCH);
        for _ in 0..BATCH {
            place = (place + 7919) % (triangles.len() / 10);
            edits.push(place * 10..place * 10 + 10);
        }
        for (present, times) in [(false, &mut taken), (true, &mut added)] {
            let changes: Vec<Vec<Change>> = edits
                .iter()
                .map(|range| {
                    let change = |t: usize| Change {
                        triangle: t as u32,
                        corners: present.then(|| triangles[t]),
                    };
                    range.clone().map(change).collect()
                })
                .collect();
            let seconds = time(|| {
                for changes in &changes {
                    let _ = black_box(tree.edit(changes, positions));
                }
            });
            times.push(seconds * 1e6 / BATCH as f64);
        }
    }
    (Summary::of(taken), Summary::of(added))
}

/// Ten triangles from `first` on lose a corner to their neighbour: it need not be a good surface, only a changed one.
fn flip(triangles: &mut [[u32; 3]], first: usize) -> Vec<Change> {
    let mut changes = Vec::with_capacity(10);
    for k in (first..first + 10).step_by(2) {
        let (a, b) = (triangles[k], triangles[k + 1]);
        triangles[k] = [a[0], a[1], b[2]];
        triangles[k + 1] = [b[0], b[1], a[2]];
        for t in [k, k + 1] {
            changes.push(Change {
                triangle: t as u32,
                corners: Some(triangles[t]),
            });
        }
    }
    changes
}

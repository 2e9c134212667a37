//! Ten triangles change, as where scissors close.

use super::{
    meshes::{Mesh, organ, starred},
    pairs::SIZES,
};
use crate::{
    measure::{Effort, Summary, interleave, time},
    row::Row,
};
use anyhow::Result;
use glam::DVec3;
use std::hint::black_box;
use trocar_collide::{
    Ahead, Capsule, Hull, Patch, Probe, Way,
    tree::{Change, Tree},
};
use trocar_math::Alone;

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
        let mut triangles = mesh.triangles.clone();
        let mut job = replace(&mut triangles, |changes| {
            let _ = black_box(tree.edit(changes, positions));
        });
        // What tools look into: its tree, its corners and the sides that it remembers.
        let mut patch = Patch::new(mesh.triangles.clone(), positions.len())?;
        // The first edit makes its tree.
        patch.edit(&[], positions)?;
        let mut of_patch = mesh.triangles.clone();
        let mut patched = replace(&mut of_patch, |changes| {
            let _ = black_box(patch.edit(changes, positions));
        });
        let mut build = || time(|| drop(Tree::new(&mesh.triangles, positions))) * 1e6;
        let rounds = effort.repeats(40, 8);
        let jobs: &mut [&mut dyn FnMut() -> f64] = &mut [&mut job, &mut build, &mut patched];
        let samples = interleave("collide/edit", rounds, jobs);
        let build = Summary::of(samples[1].iter().copied()).median;
        for (what, k) in [
            ("10 triangles replaced", 0),
            ("10 triangles of a patch replaced", 2),
        ] {
            let spread = Summary::of(samples[k].iter().copied());
            rows.push(
                Row::new(&case, what, spread, "µs")
                    .against("building anew", build)
                    .at_most(AIM),
            );
        }
        drop((job, patched));
        let (taken, added) = come_and_go(&mut tree, &triangles, positions, rounds);
        for (what, spread) in [("taken away", taken), ("added where they were", added)] {
            let what = format!("10 triangles {what}");
            rows.push(
                Row::new(&case, &what, spread, "µs")
                    .against("building anew", build)
                    .at_most(AIM),
            );
        }
        let depth = tree.depth() as f64;
        rows.push(Row::single(
            &case,
            "boxes from root to leaf after all edits",
            depth,
            "",
        ));
        rows.push(beside_tool(&case, &mesh, rounds)?);
        let mesh = starred(&mesh);
        let case = format!(
            "collide/edit, {} triangles, 12 around most nodes",
            mesh.triangles.len()
        );
        rows.push(beside_tool(&case, &mesh, rounds)?);
    }
    Ok(rows)
}

/// Ten triangles of a surface change beside a needle that touches it, as when it is torn: new ones inherit from old ones on which side the needle is, and then the edit is made. What a frame asks
/// anyway, how far nodes have moved, what is near and what is touched, comes before each batch, at another place of the surface, and is not part of it.
fn beside_tool(case: &str, mesh: &Mesh, rounds: usize) -> Result<Row> {
    let mut triangles = mesh.triangles.clone();
    let mut patch = Patch::new(triangles.clone(), mesh.frames[0].len())?;
    let (mut place, mut out, mut times) = (0, Vec::new(), Vec::new());
    let (mut near, mut held) = (0, 0);
    for (round, positions) in (0..rounds).zip(mesh.frames.iter().cycle()) {
        place = (place + 7919) % (triangles.len() / 10 - BATCH);
        let [a, b, c] = triangles[10 * (place + BATCH / 2)].map(|n| positions[n as usize]);
        let (at, out_of_it) = (
            (a + b + c) / 3.0,
            (a - DVec3::splat(0.1)).normalize_or(DVec3::Y),
        );
        let probes = [Probe {
            hull: Hull::Capsule(Capsule {
                a: at + out_of_it * 0.05,
                b: at + out_of_it * 2e-4,
                radius: 5e-4,
            }),
            margin: 1.5e-3,
            ahead: Some(Ahead {
                way: Way::Axis([out_of_it * -2e-4; 2]),
                watch: 1e-3,
            }),
        }];
        let (moved, _) = patch.follow_by(positions, &[], &Alone);
        patch.gather(&probes, positions, moved);
        for _ in 0..2 {
            patch.touches(&probes, positions, &|_| DVec3::ZERO, &mut out);
        }
        near += patch.near_nodes().count() / 3;
        held += patch.sides().len();
        let edits: Vec<(Vec<Change>, Vec<[u32; 2]>)> = (0..BATCH)
            .map(|k| {
                let changes = flip(&mut triangles, 10 * (place + k));
                let pair = |two: &[Change]| match two {
                    [one, other] => [
                        [one.triangle, other.triangle],
                        [other.triangle, one.triangle],
                    ],
                    _ => [[0; 2]; 2],
                };
                let origins = changes.chunks(2).flat_map(pair).collect();
                (changes, origins)
            })
            .collect();
        let seconds = time(|| {
            for (changes, origins) in &edits {
                patch.inherit(origins);
                let _ = black_box(patch.edit(changes, positions));
            }
        });
        // The first time everything is new to the caches and to memory.
        if round > 0 {
            times.push(seconds * 1e6 / BATCH as f64);
        }
    }
    let metric = format!(
        "10 triangles of a patch replaced beside a needle, with what they inherit; {} near, {} sides",
        near / rounds.max(1),
        held / rounds.max(1)
    );
    Ok(Row::new(case, &metric, Summary::of(times), "µs").at_most(AIM))
}

/// Gives the µs that an edit takes. Two triangles with a common edge get the other diagonal: five pairs side by side, at places all over the surface.
fn replace<'a>(
    triangles: &'a mut [[u32; 3]],
    mut edit: impl FnMut(&[Change]) + 'a,
) -> impl FnMut() -> f64 + 'a {
    let mut place = 0;
    let mut edits: Vec<Vec<Change>> = Vec::new();
    move || {
        edits.clear();
        for _ in 0..BATCH {
            place = (place + 7919) % (triangles.len() / 10);
            edits.push(flip(triangles, place * 10));
        }
        let seconds = time(|| edits.iter().for_each(|changes| edit(changes)));
        seconds * 1e6 / BATCH as f64
    }
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
        // Neighbours in a fan have the third corner in common, and get the other diagonal.
        (triangles[k], triangles[k + 1]) = match a[2] == b[2] {
            true => ([a[0], a[1], b[1]], [a[0], b[1], a[2]]),
            false => ([a[0], a[1], b[2]], [b[0], b[1], a[2]]),
        };
        for t in [k, k + 1] {
            changes.push(Change {
                triangle: t as u32,
                corners: Some(triangles[t]),
            });
        }
    }
    changes
}

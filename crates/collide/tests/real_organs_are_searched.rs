//! Meshes of real organs, which other projects made: trees, folds, patches and grids over them say what comparing all with all says.
//!
//! They are not part of this project: where their folder is missing, this says so and checks nothing.

// What helps a test may unwrap as a test may; clippy only knows the latter.
#![allow(clippy::unwrap_used)]

use glam::DVec3;
use std::{io::Write, path::Path};
use trocar_collide::{
    Capsule, Hull, Patch, Probe,
    fold::Folds,
    grid::Grid,
    segment_triangle,
    tree::{Search, Side, Tree},
    triangle::touch,
};
use trocar_math::{real, rotation};
use trocar_mesh::{Surface, read};

/// The surfaces that can be read, with their names, scaled to 10 cm about the origin; or nothing, said aloud.
fn organs() -> Vec<(String, Surface)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/meshes");
    let Ok(entries) = folder.read_dir() else {
        // Past the test's own output, which nobody sees of a test that passes.
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED: {} is missing, so no real organ was searched",
            folder.display()
        );
        return Vec::new();
    };
    let mut files: Vec<_> = entries.map(|e| e.unwrap().path()).collect();
    files.sort();
    let mut organs = Vec::new();
    for path in files
        .iter()
        .filter(|p| p.extension().is_some_and(|e| e != "md"))
    {
        let Ok(mut surface) = read(path) else {
            continue;
        };
        surface.repair();
        let Some(bounds) = surface.bounds() else {
            continue;
        };
        let (middle, size) = (0.5 * (bounds.min + bounds.max), bounds.diagonal());
        for p in &mut surface.positions {
            *p = (*p - middle) * (0.1 / size);
        }
        let name = path.file_name().and_then(|n| n.to_str()).unwrap();
        organs.push((name.to_string(), surface));
    }
    // Where the folder is, what is in it is read: a reader that refuses them would leave nothing to test.
    assert!(
        organs.len() >= LEAST_ORGANS,
        "{} of {} can be read",
        organs.len(),
        files.len()
    );
    organs
}

/// How many of the surfaces can be read at least.
const LEAST_ORGANS: usize = 8;

fn corners(surface: &Surface, positions: &[DVec3], t: u32) -> [DVec3; 3] {
    surface.triangles[t as usize].map(|n| positions[n as usize])
}

/// Squeezed and twisted a little more with every frame.
fn deformed(surface: &Surface, frame: u32) -> Vec<DVec3> {
    let k = f64::from(frame);
    let place = |p: &DVec3| {
        let twist = rotation::from_scaled_axis(DVec3::Y * (3.0 * k * p.y));
        twist * *p + DVec3::X * 2e-3 * real::sin(80.0 * p.z + k)
    };
    surface.positions.iter().map(place).collect()
}

#[test]
fn pairs_of_an_organ_and_its_twisted_twin() {
    for (name, surface) in organs() {
        let mut tree = Tree::new(&surface.triangles, &surface.positions).unwrap();
        let fixed = Tree::new(&surface.triangles, &surface.positions).unwrap();
        let (mut search, mut folds) = (Search::default(), Folds::default());
        let mut random = 1_u64;
        for frame in 1..4 {
            let positions = deformed(&surface, frame);
            tree.refit(&positions).unwrap();
            let (a, b) = (
                Side {
                    tree: &tree,
                    positions: &positions,
                },
                Side {
                    tree: &fixed,
                    positions: &surface.positions,
                },
            );
            let found = search.between(a, b).to_vec();
            assert!(!found.is_empty(), "{name}");
            for [s, t] in &found {
                let pair = [
                    corners(&surface, &positions, *s),
                    corners(&surface, &surface.positions, *t),
                ];
                assert!(touch(&pair[0], &pair[1]));
            }
            // Some triangles against all others.
            for _ in 0..30 {
                random = random
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                let s = (random >> 33) as u32 % surface.triangles.len() as u32;
                let own = corners(&surface, &positions, s);
                let all = (0..surface.triangles.len() as u32)
                    .filter(|t| touch(&own, &corners(&surface, &surface.positions, *t)));
                let of_s = found.iter().filter(|p| p[0] == s).map(|p| p[1]);
                assert!(all.eq(of_s), "{name}: triangle {s}, frame {frame}");
            }
            // Contacts with itself: every pair that goes through itself is one.
            let within = search.within(a).to_vec();
            let list = folds.update(a, 1e-4).to_vec();
            let nodes_of = |t: u32| surface.triangles[t as usize];
            let beside = |s: u32, t: u32| nodes_of(s).iter().any(|n| nodes_of(t).contains(n));
            for [s, t] in within {
                // On the triangle itself or on one that shares the edge or the corner that is through.
                let told = list.iter().any(|fold| {
                    let [p, q] = fold.spots.map(|spot| spot.triangle);
                    (beside(p, s) && beside(q, t)) || (beside(p, t) && beside(q, s))
                });
                assert!(told, "{name}: {s} through {t}, frame {frame}");
            }
            assert!(list.is_sorted_by(|f, g| f.feature < g.feature));
        }
        eprintln!("{name}: {} triangles searched", surface.triangles.len());
    }
}

#[test]
fn a_needle_over_an_organ() {
    for (name, surface) in organs() {
        let mut patch = Patch::new(surface.triangles.clone(), surface.positions.len()).unwrap();
        for frame in 0..6 {
            let positions = deformed(&surface, frame % 3);
            let tip = positions[(frame as usize * 7919) % positions.len()];
            let needle = Capsule {
                a: tip * 3.0,
                b: tip,
                radius: 5e-4,
            };
            let probes = [Probe {
                hull: Hull::Capsule(needle),
                margin: 1e-3,
                ahead: None,
            }];
            let moved = patch.follow(&positions);
            let count = patch.gather(&probes, &positions, moved);
            let mut out = Vec::new();
            patch.touches(&probes, &positions, &|_| DVec3::ZERO, &mut out);
            let near = |t: &u32| {
                let pair = segment_triangle(needle.a, needle.b, corners(&surface, &positions, *t));
                pair.distance_squared.sqrt() <= 1.5e-3
            };
            let expected = (0..surface.triangles.len() as u32).filter(near).count();
            assert!(
                count >= expected && expected > 0,
                "{name}: {count} of {expected}"
            );
            assert!(!out.is_empty() && out.len() <= expected, "{name}");
        }
    }
}

#[test]
fn grids_of_closed_organs() {
    let (mut closed, mut made) = (0, 0);
    for (name, surface) in organs() {
        if !surface.topology().is_closed() || surface.triangles.len() > 20_000 {
            continue;
        }
        closed += 1;
        let grid = match Grid::new(&surface.positions, &surface.triangles, 3e-3) {
            Ok(grid) => grid,
            Err(error) => {
                eprintln!("{name}: REFUSED: {error}");
                continue;
            }
        };
        made += 1;
        // Nodes of the surface itself are at no depth, up to what the grid says it may be wrong by.
        for p in surface.positions.iter().step_by(37) {
            let depth = grid.at(*p).map_or(0.0, |d| d.depth);
            assert!(depth.abs() <= grid.error(), "{name}: {depth}");
        }
        // And points below the middle of a triangle are as deep as they are: nowhere wrong by more than half the diagonal of a cell, as no distance grows faster than the way.
        let mut judged = 0;
        for t in surface.triangles.iter().step_by(61) {
            let [a, b, c] = t.map(|n| surface.positions[n as usize]);
            let inward = -(b - a).cross(c - a).normalize_or_zero();
            let p = (a + b + c) / 3.0 + inward * 4e-3;
            let away = |t: &[u32; 3]| {
                let corners = t.map(|n| surface.positions[n as usize]);
                segment_triangle(p, p, corners).distance_squared
            };
            let nearest = surface
                .triangles
                .iter()
                .map(away)
                .fold(f64::INFINITY, f64::min);
            let Some(found) = grid.at(p) else { continue };
            judged += u32::from(found.depth > 0.0);
            let wrong = (found.depth.abs() - nearest.sqrt()).abs();
            assert!(wrong <= 0.87 * grid.cell(), "{name}: {found:?}, {nearest}");
        }
        assert!(judged > 0, "{name}");
        let again = Grid::from_bytes(&grid.to_bytes()).unwrap();
        assert_eq!(again.to_bytes(), grid.to_bytes(), "{name}");
        eprintln!("{name}: a grid of {} values", grid.len());
    }
    assert!(closed == 0 || made > 0, "all of {closed} were refused");
}

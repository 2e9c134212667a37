//! Numbers of every kind, huge, tiny, infinite and none at all, and bytes of every kind: nothing panics, nothing hangs, and what can't be told is never told as "no contact".

// What helps a test may unwrap as a test may; clippy only knows the latter.
#![allow(clippy::unwrap_used)]

use glam::{DQuat, DVec3};
use proptest::prelude::*;
use std::sync::Arc;
use trocar_collide::{
    Ahead, Capsule, Hull, Patch, Probe, Way,
    grid::Grid,
    rigid::{Form, Shape},
    sweep::{self, Moving},
    tree::{Change, Search, Side, Tree},
    triangle,
};
use trocar_math::Pose;

/// A million in the long run.
fn cases() -> u32 {
    if std::env::var_os("TROCAR_LONG").is_some() {
        1_000_000
    } else {
        2000
    }
}

/// Any number, often a special one.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -1.0..1.0_f64,
        2 => (-3..4_i32).prop_map(f64::from),
        1 => any::<f64>(),
        1 => prop::sample::select(vec![0.0, -0.0, 1e-300, -1e300, f64::INFINITY, f64::NAN, f64::MIN_POSITIVE]),
    ]
}

fn point() -> impl Strategy<Value = DVec3> {
    prop::array::uniform3(number()).prop_map(DVec3::from_array)
}

fn moving() -> impl Strategy<Value = Moving> {
    (point(), point()).prop_map(|(from, way)| Moving { from, way })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn triangles(a in prop::array::uniform3(point()), b in prop::array::uniform3(point())) {
        let (one, other) = (triangle::touch(&a, &b), triangle::touch(&b, &a));
        // Exact, and so the same from both sides, within the sizes that it promises.
        let fits = |p: &DVec3| p.to_array().iter().all(|x| *x == 0.0 || (1e-75..=1e75).contains(&x.abs()));
        if a.iter().chain(&b).all(fits) {
            prop_assert_eq!(one, other);
        }
        // What is no number may touch anything, unless it lies apart along an axis along which all are numbers.
        let all = |axis: usize| a.iter().chain(&b).all(|p| !p[axis].is_nan());
        let apart = |axis: usize| {
            let of = |t: &[DVec3; 3]| t.map(|p| p[axis]);
            let (p, q) = (of(&a), of(&b));
            let gap = |p: [f64; 3], q: [f64; 3]| p.into_iter().fold(f64::NEG_INFINITY, f64::max) < q.into_iter().fold(f64::INFINITY, f64::min);
            gap(p, q) || gap(q, p)
        };
        if a.iter().chain(&b).any(|p| p.is_nan()) && !(0..3).any(|k| all(k) && apart(k)) {
            prop_assert!(one && other, "{:?} {:?}", a, b);
        }
        prop_assert_eq!(triangle::contact(&a, &b).exists(), one);
        prop_assert_eq!(triangle::contact(&b, &a).exists(), other);
    }

    /// Sizes beyond those that determinants can do with change nothing, as powers of two do not round.
    #[test]
    fn triangles_of_all_sizes(
        a in prop::array::uniform3(prop::array::uniform3(-4..5_i32)), b in prop::array::uniform3(prop::array::uniform3(-4..5_i32)),
        power in -1000..1000_i32,
    ) {
        let whole = |t: [[i32; 3]; 3]| t.map(|p| DVec3::from(p.map(f64::from)));
        let (a, b) = (whole(a), whole(b));
        let scale = f64::from_bits(((power + 1023) as u64) << 52);
        let scaled = |t: [DVec3; 3]| t.map(|p| p * scale);
        let (p, q) = (scaled(a), scaled(b));
        prop_assert_eq!(triangle::touch(&p, &q), triangle::touch(&a, &b));
        let kind = |contact: triangle::Contact| std::mem::discriminant(&contact);
        prop_assert_eq!(kind(triangle::contact(&p, &q)), kind(triangle::contact(&a, &b)));
    }

    #[test]
    fn sweeps(axis in prop::array::uniform2(moving()), t in prop::array::uniform3(moving()), radius in 0.0..0.5_f64) {
        let found = sweep::capsule_triangle(axis, t, radius, 1e-7);
        let finite = axis.iter().chain(&t).all(|m| m.from.is_finite() && m.way.is_finite());
        // What is no number may be anywhere.
        prop_assert!(finite || found.is_some());
        if let Some(impact) = found {
            prop_assert!((0.0..=1.0).contains(&impact.time), "{:?}", impact);
        } else if finite {
            // Not at the start, in the middle or at the end.
            for time in [0.0, 0.5, 1.0] {
                let [p, q] = axis.map(|m| m.at(time));
                let pair = trocar_collide::segment_triangle(p, q, t.map(|m| m.at(time)));
                // Below the distance only as far as rounding of such numbers goes.
                let size = axis.iter().chain(&t).map(|m| m.at(time).length()).fold(1.0, f64::max);
                let distance = pair.distance_squared.sqrt();
                prop_assert!(distance.is_nan() || distance >= radius - 1e-9 * size, "{} {}", distance, radius);
            }
        }
    }

    #[test]
    fn edits_of_trees_and_patches(
        positions in prop::collection::vec(point(), 1..20),
        triangles in prop::collection::vec(prop::array::uniform3(0..20_u32), 0..40),
        edits in prop::collection::vec((0..60_u32, prop::option::of(prop::array::uniform3(0..24_u32))), 0..20),
        tip in point(), way in point(),
    ) {
        let changes: Vec<Change> = edits.iter().map(|(triangle, corners)| Change { triangle: *triangle, corners: *corners }).collect();
        let there = |t: &[u32; 3]| t.iter().all(|n| (*n as usize) < positions.len());
        let patch = Patch::new(triangles.clone(), positions.len());
        prop_assert_eq!(patch.is_ok(), triangles.iter().all(there));
        if let Ok(mut tree) = Tree::new(&triangles, &positions) {
            let before = tree.len();
            if tree.edit(&changes, &positions).is_err() {
                prop_assert_eq!(tree.len(), before);
            }
            let mut search = Search::default();
            let found = search.within(Side { tree: &tree, positions: &positions }).to_vec();
            // With a node less, it says so; and what has that node may touch: nothing that was found is missing.
            let fewer = &positions[..positions.len() - 1];
            let then = search.within(Side { tree: &tree, positions: fewer }).to_vec();
            let few = tree.node_count() > fewer.len();
            prop_assert_eq!(search.broken().is_some(), few);
            for pair in found.iter().filter(|_| few) {
                prop_assert!(then.contains(pair), "{:?}", pair);
            }
        }
        if let Ok(mut patch) = patch {
            let probes = [Probe {
                hull: Hull::Capsule(Capsule { a: DVec3::Y, b: tip, radius: 0.1 }),
                margin: 0.5,
                ahead: Some(Ahead { way: Way::Axis([way, way]), watch: 1e-3 }),
            }];
            let mut out = Vec::new();
            for _ in 0..2 {
                let moved = patch.follow(&positions);
                patch.gather(&probes, &positions, moved);
                patch.touches(&probes, &positions, &|_| DVec3::ZERO, &mut out);
                let _refused_or_not = patch.edit(&changes, &positions);
            }
        }
    }

    /// Whatever a tool is: one that is nowhere is named, also if it is only then that it comes to be nowhere; nobody takes for apart what can't be told.
    #[test]
    fn tools_at_no_place(kind in 0..4_usize, [a, b, c] in prop::array::uniform3(point()), sizes in prop::array::uniform3(number()), knows: bool, later: bool) {
        let [radius, margin, watch] = sizes;
        let pose = |p: DVec3| Pose::new(p, DQuat::IDENTITY);
        let (hull, way, placed) = match kind {
            0 => (Hull::Capsule(Capsule { a, b, radius }), Way::Axis([c, a]), a.is_finite() && b.is_finite() && radius.is_finite()),
            1 => (Hull::Below(a, b), Way::Pose(pose(c)), a.is_finite() && b.is_finite()),
            2 => {
                let cube = Shape::new(&Form::Box { half: DVec3::splat(0.2) }).unwrap();
                (Hull::Convex(cube.piece(0, &pose(a))), Way::Pose(pose(c)), a.is_finite())
            }
            _ => (Hull::Grid(Arc::new(tetrahedron()), pose(a)), Way::Pose(pose(c)), a.is_finite()),
        };
        let ahead = knows.then_some(Ahead { way, watch });
        let probe = Probe { hull, margin, ahead };
        let sound = Probe { hull: Hull::Capsule(Capsule { a: DVec3::Y, b: DVec3::Y * 2.0, radius: 0.1 }), margin: 0.1, ahead: None };
        let goes = !knows || c.is_finite() && !watch.is_nan();
        let placed = placed && goes && !margin.is_nan();
        prop_assert_eq!(probe.is_placed(), placed);
        let positions = [DVec3::ZERO, DVec3::X, DVec3::Z];
        let mut patch = Patch::new(vec![[0, 1, 2]], 3).unwrap();
        let mut out = Vec::new();
        let probes = [sound.clone(), probe];
        let lost = (!placed).then_some(1);
        if later {
            patch.gather(&[sound.clone(), sound.clone()], &positions, f64::INFINITY);
            prop_assert_eq!(patch.lost(), None);
        } else {
            patch.gather(&probes, &positions, f64::INFINITY);
            prop_assert_eq!(patch.lost(), lost);
        }
        patch.touches(&probes, &positions, &|_| DVec3::ZERO, &mut out);
        prop_assert_eq!(patch.lost(), lost);
        // Of those that nobody wants nobody asks.
        patch.gather_some(&probes, |c| c == 0, &positions, 0.0);
        patch.touches(&probes, &positions, &|_| DVec3::ZERO, &mut out);
        prop_assert_eq!(patch.lost(), None);
    }

    #[test]
    fn files_of_grids(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(Grid::from_bytes(&bytes).is_err());
        let named: Vec<u8> = b"TROCGRD1".iter().copied().chain(bytes).collect();
        prop_assert!(Grid::from_bytes(&named).is_err());
    }
}

fn tetrahedron() -> Grid {
    let positions = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
    let triangles = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
    Grid::new(&positions, &triangles, 0.25).unwrap()
}

#[test]
fn every_byte_of_a_grid_counts() {
    let whole = tetrahedron().to_bytes();
    assert!(Grid::from_bytes(&whole).is_ok());
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        assert!(Grid::from_bytes(&bytes).is_err(), "byte {at}");
        assert!(Grid::from_bytes(&whole[..at]).is_err(), "cut at {at}");
    }
}

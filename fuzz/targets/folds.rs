//! A surface that moves and is edited: a contact for every node that is near a face, by comparing all with all, also on its way; what is nowhere is
//! reported.

#![no_main]

use arbitrary::Arbitrary;
use glam::DVec3;
use libfuzzer_sys::fuzz_target;
use trocar_collide::{
    closest,
    fold::{Ahead, Folds},
    tree::{Side, Tree},
};
use trocar_math::{Alone, Bounds};

#[derive(Arbitrary, Debug)]
struct Case {
    places: Vec<[i8; 3]>,
    triangles: Vec<[u8; 3]>,
    frames: Vec<Frame>,
    thickness: u8,
}

#[derive(Arbitrary, Debug)]
struct Frame {
    moves: Vec<(u8, [i8; 3])>,
    ways: Vec<[i8; 3]>,
    lost: Option<u8>,
}

fn place(p: [i8; 3]) -> DVec3 {
    DVec3::from(p.map(|x| f64::from(x) / 16.0))
}

fuzz_target!(|case: Case| {
    let mut positions: Vec<DVec3> = case.places.iter().take(24).copied().map(place).collect();
    if positions.is_empty() {
        return;
    }
    let count = positions.len();
    let triangle = |t: &[u8; 3]| t.map(|n| u32::from(n) % count as u32);
    let triangles: Vec<[u32; 3]> = case.triangles.iter().take(24).map(triangle).collect();
    let Ok(mut tree) = Tree::new(&triangles, &positions) else {
        return;
    };
    let thickness = f64::from(case.thickness % 16 + 1) / 64.0;
    let mut folds = Folds::default();
    for frame in case.frames.iter().take(4) {
        for (node, to) in frame.moves.iter().take(8) {
            positions[usize::from(*node) % count] = place(*to);
        }
        let ways: Vec<DVec3> = frame.ways.iter().take(count).copied().map(place).collect();
        let mut now = positions.clone();
        if let Some(lost) = frame.lost {
            now[usize::from(lost) % count].y = f64::NAN;
        }
        let refitted = tree.refit(&now);
        let side = Side {
            tree: &tree,
            positions: &now,
        };
        let ahead = Ahead {
            ways: &ways,
            thickness,
        };
        folds.look_ahead_by(side, thickness, ahead, &Alone);
        let found = folds.find_ahead(side, thickness, Some(ahead)).to_vec();
        assert!(found.is_sorted_by(|f, g| f.feature < g.feature));
        let apart = |s: &[u32; 3], t: &[u32; 3]| !s.iter().any(|n| t.contains(n));
        if refitted.is_err() {
            let lost = |t: &[u32; 3]| t.iter().any(|n| now[*n as usize].is_nan());
            // What is apart along an axis on which all is known is apart.
            let around = |t: &[u32; 3]| Bounds::of(t.map(|n| now[n as usize]));
            let untold = |s: &[u32; 3], t: &[u32; 3]| {
                lost(s) && apart(s, t) && around(s).grown(thickness).overlaps(&around(t))
            };
            if triangles
                .iter()
                .any(|s| triangles.iter().any(|t| untold(s, t)))
            {
                assert!(folds.broken().is_some());
            }
            if let Some(pair) = folds.broken() {
                let [s, t] = pair.map(|t| triangles[t as usize]);
                assert!((lost(&s) || lost(&t)) && apart(&s, &t));
            }
            continue;
        }
        assert_eq!(folds.broken(), None);
        let within =
            |some: &[u32], all: &[u32]| some.iter().all(|n| *n == u32::MAX || all.contains(n));
        for (s, t) in triangles
            .iter()
            .flat_map(|s| triangles.iter().map(move |t| (s, t)))
        {
            if !apart(s, t) {
                continue;
            }
            for node in s {
                for time in [0.0, 0.25, 0.5, 0.75, 1.0] {
                    let at = |n: u32| {
                        let way = ways.get(n as usize).copied().unwrap_or_default();
                        now[n as usize] + way * time
                    };
                    let corners = t.map(at);
                    let near = closest::point(corners, closest::on_triangle(at(*node), corners));
                    let met = found.iter().any(|f| {
                        let (a, b) = (&f.feature.a, &f.feature.b);
                        (within(a, &[*node]) && within(b, t))
                            || (within(b, &[*node]) && within(a, t))
                    });
                    assert!(
                        near.distance(at(*node)) >= thickness || met,
                        "{node} {t:?} {time}"
                    );
                }
            }
        }
    }
});

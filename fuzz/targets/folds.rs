//! A surface that moves and is edited: a contact for every node that is near a face and every edge that is near an edge, by comparing all with all, also on its way; what goes on keeps its number,
//! through edits as well, and no number is used twice; what is nowhere is reported.

#![no_main]

use arbitrary::Arbitrary;
use glam::DVec3;
use libfuzzer_sys::fuzz_target;
use trocar_collide::{
    closest,
    fold::{Ahead, Feature, Fold, Folds},
    tree::{Change, Side, Tree},
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
    /// A node that is torn in two: some of its triangles have a new one at the same place from then on.
    torn: Option<(u8, u8)>,
    changes: Vec<(u8, Option<[u8; 3]>)>,
}

const EDGES: [[usize; 2]; 3] = [[0, 1], [1, 2], [2, 0]];

/// Edits the surface, and has contacts follow.
fn edit(
    frame: &Frame,
    (tree, folds): (&mut Tree, &mut Folds),
    triangles: &mut Vec<Option<[u32; 3]>>,
    positions: &mut Vec<DVec3>,
) {
    let mut changes = Vec::new();
    let mut split = None;
    if let Some((node, which)) = frame.torn
        && positions.len() < 40
    {
        let node = u32::from(node) % positions.len() as u32;
        let new = positions.len() as u32;
        positions.push(positions[node as usize]);
        split = Some((node, new));
        for (t, corners) in triangles.iter_mut().enumerate() {
            if let Some(corners) = corners.as_mut().filter(|c| c.contains(&node))
                && which >> (t % 8) & 1 != 0
            {
                *corners = corners.map(|n| if n == node { new } else { n });
            }
        }
        let torn = |t: &Option<[u32; 3]>| t.is_some_and(|t| t.contains(&new));
        let torn = (0..).zip(triangles.iter()).filter(|(_, t)| torn(t));
        changes.extend(torn.map(|(triangle, corners)| Change {
            triangle,
            corners: *corners,
        }));
    }
    for (t, corners) in frame.changes.iter().take(3) {
        let at = usize::from(*t) % (triangles.len() + 1);
        let count = positions.len() as u32;
        let corners = corners.map(|c| c.map(|n| u32::from(n) % count));
        if at == triangles.len() {
            triangles.push(None);
        }
        triangles[at] = corners;
        changes.push(Change {
            triangle: at as u32,
            corners,
        });
    }
    if tree.edit(&changes, positions).is_err() {
        panic!("a sound edit is refused");
    }
    // What has become of the nodes on one side of a contact: they are where its triangle is, if that has them.
    let side = |nodes: &[u32], triangle: u32| {
        let corners = triangles[triangle as usize]?;
        let known = nodes.iter().filter(|n| **n != u32::MAX);
        let now = known.map(|n| match split {
            _ if corners.contains(n) => Some(*n),
            Some((node, new)) if node == *n && corners.contains(&new) => Some(new),
            _ => None,
        });
        now.collect::<Option<Vec<u32>>>()
    };
    let remap = |fold: &Fold| {
        let a = side(&fold.feature.a, fold.spots[0].triangle)?;
        Feature::new(&a, &side(&fold.feature.b, fold.spots[1].triangle)?)
    };
    let before = folds.folds().to_vec();
    let mut lost = Vec::new();
    folds.follow(remap, |fold| lost.push(fold.id));
    let kept = folds.folds();
    assert!(kept.is_sorted_by(|f, g| f.feature < g.feature));
    assert_eq!(kept.len() + lost.len(), before.len());
    for old in &before {
        let now = kept.iter().find(|f| f.id == old.id);
        assert_eq!(now.is_none(), lost.contains(&old.id));
        if let Some(now) = now {
            assert_eq!(Some(now.feature), remap(old));
        } else if let Some(feature) = remap(old) {
            // Only if it has become one with another that goes on.
            assert!(kept.iter().any(|f| f.feature == feature));
        }
    }
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
    let mut slots: Vec<Option<[u32; 3]>> = triangles.iter().copied().map(Some).collect();
    let Ok(mut tree) = Tree::new(&triangles, &positions) else {
        return;
    };
    let thickness = f64::from(case.thickness % 16 + 1) / 64.0;
    let mut folds = Folds::default();
    for frame in case.frames.iter().take(4) {
        edit(frame, (&mut tree, &mut folds), &mut slots, &mut positions);
        let triangles: Vec<[u32; 3]> = slots.iter().copied().flatten().collect();
        let count = positions.len();
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
        let (kept, next) = (folds.folds().to_vec(), folds.memory().1);
        folds.look_ahead_by(side, thickness, ahead, &Alone);
        let found = folds.find_ahead(side, thickness, Some(ahead)).to_vec();
        assert!(found.is_sorted_by(|f, g| f.feature < g.feature));
        for (k, fold) in found.iter().enumerate() {
            match kept.iter().find(|f| f.feature == fold.feature) {
                Some(old) => assert_eq!(fold.id, old.id),
                None => assert!(fold.id >= next && fold.id < folds.memory().1),
            }
            assert!(found[..k].iter().all(|other| other.id != fold.id));
        }
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
                let [s, t] = pair.map(|t| slots[t as usize].unwrap_or_default());
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
            // Edges across each other: what comes within a thickness between their ends is a contact of them, or on the way one that was there before it.
            for ([i, j], [k, l]) in EDGES.into_iter().flat_map(|e| EDGES.map(|f| (e, f))) {
                let (e, f) = ([s[i], s[j]], [t[k], t[l]]);
                for time in [0.0, 0.25, 0.5, 0.75, 1.0] {
                    let at = |n: u32| {
                        let way = ways.get(n as usize).copied().unwrap_or_default();
                        now[n as usize] + way * time
                    };
                    let ([p, q], [r, u]) = (e.map(at), f.map(at));
                    let (along, across) = closest::segment_segment(p, q, r, u);
                    let far = p.lerp(q, along).distance(r.lerp(u, across));
                    let inner = |x: f64| x > 1e-6 && x < 1.0 - 1e-6;
                    if far >= thickness * (1.0 - 1e-9) || !(inner(along) && inner(across)) {
                        continue;
                    }
                    let met = found.iter().any(|fold| {
                        let (a, b) = (&fold.feature.a, &fold.feature.b);
                        let has = |a: &[u32], b: &[u32]| {
                            if time == 0.0 {
                                let both = fold.feature.a[1] != u32::MAX && fold.feature.b[2] == u32::MAX;
                                return both && within(a, &e) && within(b, &f);
                            }
                            (within(a, &e) && within(b, t)) || (within(a, s) && within(b, &f))
                        };
                        has(a, b) || has(b, a)
                    });
                    assert!(met, "{e:?} {f:?} {time}");
                }
            }
        }
    }
});

//! An edit of a surface touches what it changes, whatever the size of the mesh and however many triangles are around its nodes: counted, not timed.

use super::*;
use crate::tree::{Change, edit_cost};

/// A square of `n` by `n` fans, each of twelve triangles about a middle; in their corners eight come together.
fn fans(n: u32) -> (Vec<[u32; 3]>, Vec<DVec3>) {
    // Fans lie side by side, four places wide; not every place is a node of one.
    let m = 4 * n + 1;
    let at = |r: u32, c: u32| r * m + c;
    let rim = [
        (0, 0),
        (0, 1),
        (0, 3),
        (0, 4),
        (1, 4),
        (3, 4),
        (4, 4),
        (4, 3),
        (4, 1),
        (4, 0),
        (3, 0),
        (1, 0),
    ];
    let blocks = (0..n).flat_map(|r| (0..n).map(move |c| (4 * r, 4 * c)));
    let triangles = blocks
        .flat_map(|(r, c)| {
            (0..12).map(move |k| {
                let [(p, q), (s, t)] = [rim[k], rim[(k + 1) % 12]];
                [at(r + 2, c + 2), at(r + p, c + q), at(r + s, c + t)]
            })
        })
        .collect();
    let places = (0..m).flat_map(|r| (0..m).map(move |c| (r, c)));
    let height = |r: u32, c: u32| f64::from(r * c % 7) * 0.1;
    let positions = places.map(|(r, c)| DVec3::new(f64::from(r), f64::from(c), height(r, c)));
    (triangles, positions.collect())
}

/// How many stars and blocks of them, triangles, leaves and branches are not what they were.
fn touched(before: &Patch, after: &Patch) -> [usize; 5] {
    let [stars, blocks] = after.stars.touched(&before.stars);
    let all = before.triangles.len().max(after.triangles.len());
    let triangle = |patch: &Patch, k: usize| patch.triangles.get(k).copied();
    let triangles = (0..all).filter(|k| triangle(before, *k) != triangle(after, *k));
    let trees = [before, after].map(|patch| patch.tree.as_ref().unwrap());
    let [leaves, branches] = edit_cost::touched(trees[0], trees[1]);
    [stars, blocks, triangles.count(), leaves, branches]
}

#[test]
fn ten_triangles_of_large_stars_touch_as_much_in_a_large_mesh_as_in_a_small_one() {
    let mut most = Vec::new();
    for n in [8, 24, 72] {
        let (triangles, mut positions) = fans(n);
        let new = positions.len() as u32;
        positions.push(DVec3::splat(0.5));
        let mut patch = Patch::new(triangles.clone(), positions.len()).unwrap();
        patch.gather(&[], &positions, f64::INFINITY);
        let mut worst = [0; 5];
        for start in 0..20 {
            let first = start * (triangles.len() / 21);
            let some = first as u32..first as u32 + 10;
            let count = triangles.len() as u32;
            // The middle of each is another, as when something tears; or they go; or copies of them come.
            for kind in 0..3 {
                let change = |t: u32| {
                    let [a, b, c] = triangles[t as usize];
                    let (triangle, corners) = match kind {
                        0 => (t, Some([new, b, c])),
                        1 => (t, None),
                        _ => (count + t - some.start, Some([a, b, c])),
                    };
                    Change { triangle, corners }
                };
                let changes: Vec<Change> = some.clone().map(change).collect();
                let mut edited = patch.clone();
                edited.edit(&changes, &positions).unwrap();
                let now = touched(&patch, &edited);
                worst = std::array::from_fn(|k| worst[k].max(now[k]));
            }
        }
        let [stars, blocks, changed, leaves, _] = worst;
        // Two middles at most, the new node, and the rims of both.
        assert!(stars <= 3 + 12 && changed == 10, "{n}: {worst:?}");
        // Of large stars there are those middles, the new node and corners of squares; each has a block or two.
        assert!((1..=16).contains(&blocks), "{n}: {worst:?}");
        assert!(leaves <= 20, "{n}: {worst:?}");
        most.push(worst);
    }
    let [small, .., large] = most.as_slice() else {
        return;
    };
    assert!((0..4).all(|k| large[k] <= 2 * small[k]), "{most:?}");
}

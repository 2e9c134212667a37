//! An edit touches what it changes, whatever the size of the mesh: counted, not timed.

use super::*;
use glam::DVec3;

fn sheet(n: u32) -> (Vec<[u32; 3]>, Vec<DVec3>) {
    let at = |r: u32, c: u32| r * (n + 1) + c;
    let squares = (0..n).flat_map(|r| (0..n).map(move |c| (r, c)));
    let triangles = squares
        .flat_map(|(r, c)| {
            let [p, q, s, t] = [at(r, c), at(r, c + 1), at(r + 1, c + 1), at(r + 1, c)];
            [[p, q, s], [p, s, t]]
        })
        .collect();
    let nodes = (0..=n).flat_map(|r| (0..=n).map(move |c| (r, c)));
    let positions = nodes
        .map(|(r, c)| DVec3::new(f64::from(r), f64::from(c), f64::from(r * c % 7) * 0.1))
        .collect();
    (triangles, positions)
}

/// How many leaves and branches are not what they were.
pub(crate) fn touched(before: &Tree, after: &Tree) -> [usize; 2] {
    let leaf = |tree: &Tree, k: usize| {
        let leaf = tree.leaves.get(k)?;
        let ring = tree.bundles.get(k / BUNDLE)?.rings.get(k % BUNDLE)?;
        Some((
            leaf.triangles,
            leaf.parent,
            ring.nodes().to_vec(),
            tree.leaf_box(k as u32),
        ))
    };
    let branch = |tree: &Tree, k: usize| {
        let branch = tree.branches.get(k)?;
        let boxes = [0, 1, 2, 3, 4, 5, 6, 7].map(|lane| branch.boxes.get(lane));
        Some((branch.children, branch.parent, boxes))
    };
    let leaves = before.leaves.len().max(after.leaves.len());
    let branches = before.branches.len().max(after.branches.len());
    [
        (0..leaves)
            .filter(|k| leaf(before, *k) != leaf(after, *k))
            .count(),
        (0..branches)
            .filter(|k| branch(before, *k) != branch(after, *k))
            .count(),
    ]
}

#[test]
fn ten_triangles_touch_as_many_leaves_in_a_large_mesh_as_in_a_small_one() {
    let mut most = Vec::new();
    for n in [16, 64, 200] {
        let (triangles, mut positions) = sheet(n);
        let tree = Tree::new(&triangles, &positions).unwrap();
        let mut worst = [0, 0];
        for start in 0..40 {
            let first = start * (triangles.len() / 41);
            let some = first as u32..first as u32 + 10;
            // A corner of each goes to a new node at the same place, as when something tears; or they go; or copies of them come.
            let new = positions.len() as u32;
            positions.push(positions[triangles[first][0] as usize] + DVec3::Z * 0.01);
            let count = triangles.len() as u32;
            for kind in 0..3 {
                let changes: Vec<Change> = some
                    .clone()
                    .map(|t| {
                        let [a, b, c] = triangles[t as usize];
                        match kind {
                            0 => Change {
                                triangle: t,
                                corners: Some([new, b, c]),
                            },
                            1 => Change {
                                triangle: t,
                                corners: None,
                            },
                            _ => Change {
                                triangle: count + t - some.start,
                                corners: Some([a, b, c]),
                            },
                        }
                    })
                    .collect();
                let mut edited = tree.clone();
                edited.edit(&changes, &positions).unwrap();
                let [leaves, branches] = touched(&tree, &edited);
                worst = [worst[0].max(leaves), worst[1].max(branches)];
            }
        }
        // Ten triangles are in ten leaves at most, each of which may be divided; above each are as many branches as the tree is deep.
        assert!(worst[0] <= 20, "{n}: {worst:?}");
        assert!(worst[1] <= 20 * tree.depth(), "{n}: {worst:?}");
        most.push(worst[0]);
    }
    assert!(most[2] <= 2 * most[0], "{most:?}");
}

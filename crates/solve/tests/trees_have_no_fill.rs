//! A tree costs what its nodes cost, a loop only what lies along it.

use proptest::prelude::*;
use trocar_solve::Pattern;

/// Bodies and joints; a joint to the ground has one body.
fn pattern(bodies: usize, joints: &[Vec<u32>]) -> Pattern {
    let mut sizes = vec![6; bodies];
    let mut after = vec![false; bodies];
    let mut edges = Vec::new();
    for (at, ends) in joints.iter().enumerate() {
        sizes.push([3, 5, 1, 6][at % 4]);
        after.push(true);
        edges.extend(ends.iter().map(|&end| (end, (bodies + at) as u32)));
    }
    Pattern::new(&sizes, &edges, &after)
}

fn tree(bodies: u32, parent: impl Fn(u32) -> u32) -> Vec<Vec<u32>> {
    (1..bodies).map(|body| vec![parent(body), body]).collect()
}

proptest! {
    #[test]
    fn random_trees(parents in prop::collection::vec(any::<u32>(), 0..200), ground in any::<Option<u32>>()) {
        let bodies = parents.len() as u32 + 1;
        let mut joints = tree(bodies, |body| parents[body as usize - 1] % body);
        joints.extend(ground.map(|body| vec![body % bodies]));
        prop_assert_eq!(pattern(bodies as usize, &joints).fill(), 0);
    }

    /// Through the ground these are loops: each body on the way between two of them may couple its joints.
    #[test]
    fn trees_with_several_grounds(
        parents in prop::collection::vec(any::<u32>(), 0..200),
        grounds in prop::collection::vec(any::<u32>(), 2..5),
    ) {
        let bodies = parents.len() as u32 + 1;
        let mut joints = tree(bodies, |body| parents[body as usize - 1] % body);
        joints.extend(grounds.iter().map(|body| vec![body % bodies]));
        let fill = pattern(bodies as usize, &joints).fill();
        prop_assert!(fill <= 10 * joints.len(), "{}", fill);
    }
}

#[test]
fn a_ring_fills_in_a_few_blocks_for_each_body() {
    for bodies in [3_u32, 10, 100, 1000] {
        let joints: Vec<_> = (0..bodies)
            .map(|body| vec![body, (body + 1) % bodies])
            .collect();
        let fill = pattern(bodies as usize, &joints).fill();
        assert!(fill <= 3 * bodies as usize, "{bodies}: {fill}");
    }
}

#[test]
fn a_star_has_no_fill() {
    for rays in [1000, 50_000] {
        assert_eq!(pattern(rays as usize, &tree(rays, |_| 0)).fill(), 0);
    }
}

#[test]
fn a_tree_of_a_hundred_thousand_nodes_is_laid_out() {
    let joints = tree(50_000, |body| (body - 1) / 2);
    let pattern = pattern(50_000, &joints);
    assert_eq!((pattern.fill(), pattern.nodes()), (0, 99_999));
}

#[test]
fn a_motor_beside_each_hinge_costs_one_block() {
    let mut sizes = vec![6; 50];
    let mut edges = Vec::new();
    for body in 0..50 {
        for rows in [5, 1] {
            let joint = sizes.len() as u32;
            sizes.push(rows);
            edges.push((body, joint));
            edges.extend((body > 0).then(|| (body - 1, joint)));
        }
    }
    let after: Vec<bool> = (0..sizes.len()).map(|node| node >= 50).collect();
    assert_eq!(Pattern::new(&sizes, &edges, &after).fill(), 50);
}

#[test]
fn too_much_fill_is_refused() {
    // One body, all joints to the ground: each is coupled to each.
    let edges: Vec<_> = (1..=100).map(|joint| (0, joint)).collect();
    let mut after = vec![true; 101];
    after[0] = false;
    assert!(Pattern::within(&[3; 101], &edges, &after, 1000).is_none());
    assert_eq!(Pattern::new(&[3; 101], &edges, &after).fill(), 100 * 99 / 2);
}

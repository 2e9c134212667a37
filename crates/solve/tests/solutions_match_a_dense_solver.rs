//! The sparse factorisation solves what a dense one with pivoting solves, and what is redundant it drops.

mod dense;

use dense::{System, random};
use proptest::prelude::*;
use trocar_solve::Pattern;

/// A chain of `bodies` with ball joints, from the ground if `grounded`.
fn chain(bodies: u32, grounded: bool) -> System {
    let mut system = System::of_bodies(&vec![6; bodies as usize]);
    if grounded {
        system.join(3, &[0]);
    }
    for body in 1..bodies {
        system.join(3, &[body - 1, body]);
    }
    system
}

/// Random bodies and joints: each body has a parent or none, and `extra` joints close loops. No body has more rows of
/// joints than it has freedoms of its own to give, so that no row is redundant.
fn graph(seed: u64, bodies: u32, extra: u32, grounds: u32) -> System {
    let mut next = random(seed);
    let mut below = move |limit: u32| ((next() + 1.0) * 0.5 * f64::from(limit)) as u32 % limit;
    let sizes: Vec<u8> = (0..bodies).map(|_| [3, 6][below(2) as usize]).collect();
    let mut system = System::of_bodies(&sizes);
    let mut spare: u32 = sizes.iter().map(|&size| u32::from(size)).sum();
    let pairs = (1..bodies).map(|body| (body, true));
    let loops = (0..extra + grounds).map(|at| (at, false));
    for (at, tree) in pairs.chain(loops) {
        let a = if tree { at } else { below(bodies) };
        let b = if tree { below(at) } else { below(bodies) };
        let ends = if !tree && at >= extra {
            vec![a]
        } else if a == b {
            continue;
        } else {
            vec![a, b]
        };
        let room = ends
            .iter()
            .map(|&end| sizes[end as usize])
            .min()
            .unwrap_or(1);
        let rows = 1 + below(u32::from(room)) as u8;
        if tree || spare > u32::from(rows) + 6 {
            system.join(if tree { rows.min(2) } else { 1 }, &ends);
            spare -= u32::from(if tree { rows.min(2) } else { 1 });
        }
    }
    system
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn random_mechanisms(seed in any::<u64>(), bodies in 1_u32..14, extra in 0_u32..6, grounds in 0_u32..4) {
        let system = graph(seed, bodies, extra, grounds);
        system.check(seed, 1e-10)?;
    }

    /// With compliance any order is sound, whatever the graph.
    #[test]
    fn random_quasi_definite_matrices(
        seed in any::<u64>(),
        sizes in prop::collection::vec(1_u8..=6, 1..20),
        edges in prop::collection::vec((0_u32..20, 0_u32..20), 0..50),
    ) {
        let system = System::quasi_definite(seed, &sizes, &edges);
        system.check(seed, 1e-10)?;
    }

    /// As joints alone are, once their bodies are worked into them.
    #[test]
    fn random_definite_matrices(
        seed in any::<u64>(),
        sizes in prop::collection::vec(1_u8..=6, 1..20),
        edges in prop::collection::vec((0_u32..20, 0_u32..20), 0..50),
    ) {
        let system = System::definite(&sizes, &edges);
        system.check(seed, 1e-10)?;
    }
}

#[test]
fn a_chain_held_at_both_ends_has_no_redundant_row() {
    for bodies in 2..30 {
        let mut system = chain(bodies, true);
        system.join(3, &[bodies - 1]);
        system.check(u64::from(bodies), 1e-9).unwrap();
    }
}

#[test]
fn a_chain_welded_at_its_root_has_no_redundant_row() {
    let mut system = System::of_bodies(&[6; 4]);
    system.join(6, &[0]);
    for body in 1..4 {
        system.join(6, &[body - 1, body]);
    }
    assert_eq!(system.pattern().fill(), 0);
    system.check(3, 1e-9).unwrap();
}

#[test]
fn the_same_joint_twice_is_redundant_once() {
    for rows in 1..=6 {
        let mut system = chain(6, true);
        system.join(rows, &[2, 4]);
        system.repeat_last_joint();
        let found = system.solve(11);
        assert_eq!(found.redundant, usize::from(rows), "{rows} rows");
        assert!(found.solution.iter().all(|value| value.is_finite()));
        assert!(found.residual < 1e-9, "{}", found.residual);
    }
}

#[test]
fn nothing_and_one_node() {
    let empty = System::of_bodies(&[]);
    assert_eq!(empty.pattern().rows(), 0);
    empty.check(1, 1e-12).unwrap();
    for size in 1..=6 {
        System::of_bodies(&[size]).check(1, 1e-12).unwrap();
    }
    // A joint without any body is all redundant.
    let mut alone = System::of_bodies(&[]);
    alone.join(3, &[]);
    let found = alone.solve(1);
    assert_eq!((found.redundant, found.solution), (3, vec![0.0; 3]));
}

#[test]
fn the_same_numbers_give_the_same_bits() {
    let system = graph(5, 12, 4, 2);
    assert_eq!(system.solve(7).solution, system.solve(7).solution);
    let (first, second) = (system.pattern(), system.pattern());
    assert!((0..first.nodes()).all(|node| first.offset(node) == second.offset(node)));
}

#[test]
#[should_panic(expected = "unknowns")]
fn a_node_of_seven_rows_is_refused() {
    Pattern::new(&[7], &[], &[false]);
}

//! Rods hung on ball joints, whose rows are dependent on one rod alone and independent together.

use trocar_solve::{Factor, Pattern};

/// Half a rod from its centre to its end; rods go up and down, so that no line of them is straight.
fn half(rod: usize) -> [f64; 3] {
    [0.5, 0.1 + 0.07 * (rod % 3) as f64, 0.03 * (rod % 5) as f64]
}

/// Velocity of a point at `arm` from a rigid body's centre, by the body's velocity and spin: `[1, -arm×]`.
fn point(arm: [f64; 3], sign: f64) -> [f64; 18] {
    let [x, y, z] = arm.map(|value| value * sign);
    let s = sign;
    [
        [s, 0.0, 0.0, 0.0, z, -y],
        [0.0, s, 0.0, -z, 0.0, x],
        [0.0, 0.0, s, y, -x, 0.0],
    ]
    .concat()
    .try_into()
    .expect("3 by 6")
}

/// Rods end to end, joint `i` before rod `i` and one after the last: to the ground, or to one another in a ring.
fn hang(rods: usize, ring: bool) -> (usize, f64) {
    let joints = if ring { rods } else { rods + 1 };
    let mut sizes = vec![6; rods];
    sizes.extend(vec![3; joints]);
    let after: Vec<bool> = (0..rods + joints).map(|node| node >= rods).collect();
    let mut blocks = Vec::new();
    for rod in 0..rods {
        let arm = half(rod);
        blocks.push((rods + rod, rod, point(arm.map(|value| -value), 1.0)));
        blocks.push((rods + (rod + 1) % joints, rod, point(arm, -1.0)));
    }
    let edges: Vec<_> = blocks
        .iter()
        .map(|block| (block.0 as u32, block.1 as u32))
        .collect();
    let pattern = Pattern::new(&sizes, &edges, &after);
    let mut factor = Factor::default();
    factor.fit(&pattern);
    for rod in 0..rods {
        for k in 0..6 {
            factor.diagonal_mut(&pattern, rod)[7 * k] = if k < 3 { 1.0 } else { 0.1 };
        }
    }
    for (joint, rod, values) in &blocks {
        factor.set(pattern.place(*joint, *rod).expect("a block"), values);
    }
    let redundant = factor.factor(&pattern, &vec![1.0; pattern.rows()], 1e-9);
    let mut x = vec![0.0; pattern.rows()];
    for rod in 0..rods {
        x[pattern.offset(rod) + 2] = -9.81;
    }
    factor.solve(&pattern, &mut x);
    // What the joints let through.
    let mut slip = vec![[0.0; 3]; joints];
    for (joint, rod, values) in &blocks {
        for (row, slip) in values.chunks_exact(6).zip(&mut slip[joint - rods]) {
            let x = &x[pattern.range(*rod)];
            *slip += row.iter().zip(x).map(|(a, b)| a * b).sum::<f64>();
        }
    }
    let worst = slip
        .as_flattened()
        .iter()
        .fold(0.0, |worst: f64, slip| worst.max(slip.abs()));
    (redundant, worst)
}

#[test]
fn between_two_walls() {
    for rods in 2..40 {
        let (redundant, slip) = hang(rods, false);
        assert_eq!(redundant, 0, "{rods} rods");
        assert!(slip < 1e-9, "{rods} rods slip {slip}");
    }
}

#[test]
fn in_a_ring() {
    for rods in 3..40 {
        let (redundant, slip) = hang(rods, true);
        assert_eq!(redundant, 0, "{rods} rods");
        assert!(slip < 1e-9, "{rods} rods slip {slip}");
    }
}

/// Along one rod its two joints say the same, and only that is dropped.
#[test]
fn one_rod_between_two_walls() {
    let (redundant, slip) = hang(1, false);
    assert_eq!(redundant, 1);
    assert!(slip < 1e-12);
}

//! A surface that is torn and cut at random, and moves: its patch, changed triangle by triangle, finds and remembers what one made anew does.
// What helps a test may unwrap as a test may; clippy only knows the latter.
#![allow(clippy::unwrap_used)]

use glam::DVec3;
use trocar_collide::{
    Capsule, Hull, Patch, Probe, Touch,
    tree::{Change, TreeError},
};
use trocar_math::real;

/// Numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides
    }

    fn part(&mut self) -> f64 {
        self.roll(1 << 20) as f64 / f64::from(1 << 20)
    }
}

fn sheet(n: u32) -> (Vec<[u32; 3]>, Vec<DVec3>) {
    let at = |i: u32| DVec3::new(f64::from(i % n), 0.0, f64::from(i / n)) * 3e-3;
    let mut triangles = Vec::new();
    for r in 0..n - 1 {
        for c in 0..n - 1 {
            let a = r * n + c;
            triangles.push([a, a + n, a + 1]);
            triangles.push([a + 1, a + n, a + n + 1]);
        }
    }
    (triangles, (0..n * n).map(at).collect())
}

fn probes(dice: &mut Dice, width: f64) -> Vec<Probe> {
    let mut place = || DVec3::new(dice.part(), 0.05 - 0.1 * dice.part(), dice.part()) * width;
    let hull = |a: DVec3, b: DVec3| Probe {
        hull: Hull::Capsule(Capsule { a, b, radius: 1e-3 }),
        margin: 2e-3,
        ahead: None,
    };
    let (a, b, c) = (place(), place(), place());
    vec![hull(a, b), hull(c, c), hull(c, c + DVec3::Y * 0.02)]
}

/// What a fresh patch over the triangles that are left finds, in the numbers of the old one.
fn fresh(slots: &[Option<[u32; 3]>], positions: &[DVec3], probes: &[Probe]) -> (usize, Vec<Touch>) {
    let left = slots.iter().flatten().copied().collect();
    let mut patch = Patch::new(left, positions.len()).unwrap();
    let mut out = Vec::new();
    let pairs = patch.gather(probes, positions, f64::INFINITY);
    patch.touches(probes, positions, &|_| DVec3::ZERO, &mut out);
    (pairs, out)
}

fn run(seed: u64, frames: u32) -> usize {
    let mut dice = Dice(seed);
    let n = 24;
    let width = f64::from(n) * 3e-3;
    let (triangles, mut plain) = sheet(n);
    let mut patch = Patch::new(triangles.clone(), plain.len()).unwrap();
    let mut slots: Vec<Option<[u32; 3]>> = triangles.into_iter().map(Some).collect();
    let mut found = 0;
    for frame in 0..frames {
        let phase = f64::from(frame) * 0.1;
        let positions: Vec<DVec3> = plain
            .iter()
            .map(|p| *p + DVec3::Y * 2e-3 * real::sin(60.0 * p.x + 50.0 * p.z + phase))
            .collect();
        let moved = patch.follow(&positions);
        let mut changes = Vec::new();
        for _ in 0..dice.roll(6) {
            let triangle = dice.roll(slots.len() + 2);
            let corners = match (slots.get(triangle).copied().flatten(), dice.roll(4)) {
                (Some(_), 0) => None,
                // Torn off at a corner, a hair aside.
                (Some(mut corners), 1 | 2) => {
                    corners[dice.roll(3)] = dice.roll(plain.len()) as u32;
                    Some(corners)
                }
                (Some(corners), _) => Some(corners),
                (None, _) => {
                    let base = dice.roll(plain.len() - 1) as u32;
                    Some([base, base + 1, dice.roll(plain.len()) as u32])
                }
            };
            if triangle >= slots.len() {
                slots.resize(triangle + 1, None);
            }
            slots[triangle] = corners;
            changes.push(Change {
                triangle: triangle as u32,
                corners,
            });
        }
        let tools = probes(&mut dice, width);
        // Before or after anybody has looked where nodes are now.
        let before = patch.gather(&tools, &positions, moved);
        assert!(before <= 3 * slots.len());
        patch.edit(&changes, &positions).unwrap();
        let moved = patch.follow(&positions);
        let pairs = patch.gather(&tools, &positions, moved);
        let (expected, touches) = fresh(&slots, &positions, &tools);
        assert_eq!(pairs, expected, "seed {seed}, frame {frame}");
        patch.set_sides(&[]);
        let mut out = Vec::new();
        patch.touches(&tools, &positions, &|_| DVec3::ZERO, &mut out);
        assert_eq!(out, touches, "seed {seed}, frame {frame}");
        found += out.len();
        // Nodes come, too, and are put elsewhere.
        plain.push(DVec3::new(dice.part(), 0.0, dice.part()) * width);
        if frame % 7 == 0 {
            let node = dice.roll(plain.len());
            plain[node] = DVec3::new(dice.part(), 0.0, dice.part()) * width;
        }
    }
    found
}

#[test]
fn whatever_is_torn() {
    let long = std::env::var_os("TROCAR_LONG").is_some();
    let found: usize = (1..if long { 2000 } else { 40 })
        .map(|seed| run(seed, 40))
        .sum();
    assert!(found > 1000, "{found}");
}

#[test]
fn a_side_goes_on_with_the_parts_of_a_triangle() {
    let positions = [
        DVec3::ZERO,
        DVec3::Z * 0.01,
        DVec3::X * 0.01,
        DVec3::new(0.005, 0.0, 0.005),
    ];
    let mut patch = Patch::new(vec![[0, 1, 2]], 3).unwrap();
    let needle = |height: f64| {
        let tip = DVec3::new(0.003, height, 0.002);
        [Probe {
            hull: Hull::Capsule(Capsule {
                a: tip + DVec3::Y * 0.05,
                b: tip,
                radius: 1e-3,
            }),
            margin: 1e-3,
            ahead: None,
        }]
    };
    let mut out = Vec::new();
    let mut look = |patch: &mut Patch, height: f64, nodes: usize| {
        let positions = &positions[..nodes];
        let moved = patch.follow(positions);
        patch.gather(&needle(height), positions, moved);
        patch.touches(&needle(height), positions, &|_| DVec3::ZERO, &mut out);
        out.clone()
    };
    assert_eq!(look(&mut patch, 5e-4, 3).len(), 1);
    // Cut in two below the needle, which then goes through.
    patch.inherit(&[[1, 0]]);
    let halves = [[0, 1, 3], [0, 3, 2]];
    let changes = [0, 1].map(|k| Change {
        triangle: k,
        corners: Some(halves[k as usize]),
    });
    patch.edit(&changes, &positions).unwrap();
    assert_eq!(patch.sides(), [(0, 0, 1), (0, 1, 1)]);
    let through = look(&mut patch, -5e-4, 4);
    assert!(!through.is_empty());
    assert!(through.iter().any(|t| t.normal.y < -0.99), "{through:?}");
    // Gone, it is forgotten; what comes in its place has no past.
    let gone = Change {
        triangle: 1,
        corners: None,
    };
    patch.edit(&[gone], &positions).unwrap();
    assert!(patch.sides().iter().all(|s| s.1 == 0));
    assert_eq!(patch.triangles().count(), 1);
}

#[test]
fn what_makes_no_sense_is_refused_and_changes_nothing() {
    let missing = TreeError::NoSuchNode {
        triangle: 1,
        corner: 2,
        node: 3,
        nodes: 3,
    };
    assert_eq!(
        Patch::new(vec![[0, 1, 2], [0, 1, 3]], 3).unwrap_err(),
        missing
    );
    let (triangles, positions) = sheet(4);
    let mut patch = Patch::new(triangles, positions.len()).unwrap();
    let before: Vec<[u32; 3]> = patch.triangles().collect();
    let good = Change {
        triangle: 0,
        corners: None,
    };
    let bad = Change {
        triangle: 1,
        corners: Some([0, 1, 99]),
    };
    assert!(patch.edit(&[good, bad], &positions).is_err());
    assert!(patch.triangles().eq(before));
    let mut lost = positions.clone();
    lost[5] = DVec3::NAN;
    let onto = Change {
        triangle: 1,
        corners: Some([0, 1, 5]),
    };
    assert_eq!(
        patch.edit(&[onto], &lost),
        Err(TreeError::NoPlace { node: 5 })
    );
}

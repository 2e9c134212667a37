//! Where a surface touches itself is found, known again in the next frame, and followed through edits.

use glam::DVec3;
use proptest::prelude::*;
use trocar_collide::{
    closest,
    fold::{Ahead, Feature, Fold, Folds},
    tree::{Change, Side, Tree},
};

/// Two square sheets of `n` by `n`, 1 cm to a square, in one surface; nodes of the second from `(n + 1)²` on.
fn sheets(n: u32) -> Vec<[u32; 3]> {
    let mut triangles = Vec::new();
    for base in [0, (n + 1) * (n + 1)] {
        let at = |r, c| base + r * (n + 1) + c;
        for (r, c) in (0..n).flat_map(|r| (0..n).map(move |c| (r, c))) {
            triangles.push([at(r, c), at(r, c + 1), at(r + 1, c + 1)]);
            triangles.push([at(r, c), at(r + 1, c + 1), at(r + 1, c)]);
        }
    }
    triangles
}

/// The second sheet lies `gap` (m) over the first, shifted by a third of a square and turned a little.
fn place(n: u32, gap: f64) -> Vec<DVec3> {
    let nodes = (0..=n).flat_map(|r| (0..=n).map(move |c| (r, c)));
    let sheet: Vec<DVec3> = nodes
        .map(|(r, c)| DVec3::new(f64::from(r), f64::from(c), 0.0) * 0.01)
        .collect();
    let above = |p: &DVec3| DVec3::new(p.x + 0.1 * p.y + 0.0033, p.y - 0.1 * p.x + 0.0027, gap);
    sheet
        .iter()
        .copied()
        .chain(sheet.iter().map(above))
        .collect()
}

#[test]
fn what_is_grown_together_does_not_touch_and_all_else_does() {
    let n = 6;
    let triangles = sheets(n);
    let half = 2 * n * n;
    // The second sheet is tilted through the first about the middle.
    let mut positions = place(n, 0.0);
    for p in &mut positions[((n + 1) * (n + 1)) as usize..] {
        p.z = 0.4 * (p.x - 0.03);
    }
    let tree = Tree::new(&triangles, &positions).unwrap();
    let surface = Side {
        tree: &tree,
        positions: &positions,
    };
    let mut folds = Folds::default();
    let pairs = |folds: &Folds| -> Vec<[u32; 2]> {
        let spots = folds.folds().iter().map(|f| f.spots.map(|s| s.triangle));
        spots.map(|[s, t]| [s.min(t), s.max(t)]).collect()
    };
    folds.update(surface, 0.001);
    let before = pairs(&folds);
    let through = |pair: &[u32; 2]| {
        let [s, t] = pair.map(|t| triangles[t as usize].map(|n| positions[n as usize]));
        trocar_collide::triangle::touch(&s, &t)
    };
    assert!(before.iter().any(through) && before.iter().any(|p| !through(p)));
    // Wanted of one half of the first sheet alone.
    let wanted = |pair: [u32; 2]| pair[0] < half / 2;
    let joined = folds.join(surface, wanted);
    assert!(joined > 0);
    let mut after = Folds::default();
    after.join(surface, wanted);
    after.update(surface, 0.001);
    let after = pairs(&after);
    assert!(after.iter().all(|p| !(wanted(*p) && through(p))));
    // All that the other half had it has; and what both showed it shows alone.
    let rest = |list: &[[u32; 2]]| list.iter().filter(|p| !wanted(**p)).count();
    assert!(rest(&after) >= rest(&before));
    assert!(after.iter().any(|p| !wanted(*p) && through(p)));
}

#[test]
fn a_sheet_over_a_sheet_is_touched_once_by_each_node_over_it() {
    let n = 6;
    let triangles = sheets(n);
    let positions = place(n, 0.001);
    let tree = Tree::new(&triangles, &positions).unwrap();
    let mut folds = Folds::default();
    let found = folds
        .update(
            Side {
                tree: &tree,
                positions: &positions,
            },
            0.002,
        )
        .to_vec();
    let second = (n + 1) * (n + 1);
    for node in second..2 * second {
        let p = positions[node as usize];
        let inside = p.x > 0.0 && p.y > 0.0 && p.x < 0.06 && p.y < 0.06;
        let faces = found
            .iter()
            .filter(|f| f.feature.a == [node, u32::MAX] && f.feature.b[2] != u32::MAX);
        assert_eq!(faces.count(), usize::from(inside), "{node} at {p}");
    }
    for fold in &found {
        // Between the sheets, as far apart as they are (more beside a border), and at the places that the spots say.
        let beside = fold.side == 0 && fold.distance > 0.001 && fold.distance <= 0.002;
        assert!(beside || (fold.distance - 0.001).abs() < 1e-12, "{fold:?}");
        let at = fold.spots.map(|s| {
            let corners = triangles[s.triangle as usize].map(|n| positions[n as usize]);
            closest::point(corners, s.weights)
        });
        assert!(
            (at[0] - at[1] - fold.normal * fold.distance).length() < 1e-12,
            "{fold:?}"
        );
    }
}

#[test]
fn what_gets_through_is_led_back_and_keeps_its_number() {
    let n = 5;
    let triangles = sheets(n);
    let start = place(n, 0.001);
    let mut tree = Tree::new(&triangles, &start).unwrap();
    let mut folds = Folds::default();
    let before = folds
        .update(
            Side {
                tree: &tree,
                positions: &start,
            },
            0.002,
        )
        .to_vec();
    // The upper sheet is pressed through the lower one.
    let through = place(n, -0.0005);
    tree.refit(&through).unwrap();
    let after = folds
        .update(
            Side {
                tree: &tree,
                positions: &through,
            },
            0.002,
        )
        .to_vec();
    let mut known = 0;
    for fold in after.iter().filter(|f| f.side != 0) {
        let old = before.iter().find(|f| f.feature == fold.feature).unwrap();
        assert_eq!(old.id, fold.id);
        assert!((fold.distance + 0.0005).abs() < 1e-12 && fold.normal.dot(old.normal) > 0.99);
        known += 1;
    }
    assert!(known > 20);
    // It slides on behind the sheet to other faces, and is still known to be on the wrong side.
    let mut slid = through.clone();
    for step in 1..=8 {
        for p in &mut slid[36..] {
            p.x += 0.001;
        }
        tree.refit(&slid).unwrap();
        let now = folds.update(
            Side {
                tree: &tree,
                positions: &slid,
            },
            0.002,
        );
        let faces = now
            .iter()
            .filter(|f| f.feature.b[2] != u32::MAX && f.feature.a[0] >= 36);
        assert!(faces.clone().count() > 5);
        for fold in faces {
            assert!(fold.distance < 0.0, "step {step}: {fold:?}");
        }
    }
}

#[test]
fn numbers_go_through_an_edit() {
    let n = 4;
    let mut triangles = sheets(n);
    let mut positions = place(n, 0.001);
    let mut tree = Tree::new(&triangles, &positions).unwrap();
    let mut folds = Folds::default();
    let before = folds
        .update(
            Side {
                tree: &tree,
                positions: &positions,
            },
            0.002,
        )
        .to_vec();
    // Node 12 of the lower sheet is torn in two: triangles on one side of it get the new one.
    let new = positions.len() as u32;
    positions.push(positions[12]);
    let mut changes = Vec::new();
    for (k, t) in triangles.iter_mut().enumerate() {
        let right = t.iter().map(|n| positions[*n as usize].x).sum::<f64>() > 3.0 * positions[12].x;
        if t.contains(&12) && right {
            t.iter_mut().filter(|n| **n == 12).for_each(|n| *n = new);
            changes.push(Change {
                triangle: k as u32,
                corners: Some(*t),
            });
        }
    }
    tree.edit(&changes, &positions).unwrap();
    let exists = |nodes: &[u32]| {
        triangles
            .iter()
            .any(|t| nodes.iter().all(|n| *n == u32::MAX || t.contains(n)))
    };
    let renamed = |nodes: &[u32]| -> Vec<u32> {
        let kept: Vec<u32> = nodes.iter().copied().filter(|n| *n != u32::MAX).collect();
        let moved = kept
            .iter()
            .map(|n| if *n == 12 { new } else { *n })
            .collect();
        if exists(&kept) { kept } else { moved }
    };
    let mut lost = 0;
    folds.follow(
        |f| Feature::new(&renamed(&f.feature.a), &renamed(&f.feature.b)),
        |_| lost += 1,
    );
    let after = folds
        .update(
            Side {
                tree: &tree,
                positions: &positions,
            },
            0.002,
        )
        .to_vec();
    assert_eq!(lost, 0);
    // Every contact of before is there, under its number; only nodes of the tear may have more.
    for old in &before {
        let same: Vec<_> = after.iter().filter(|f| f.id == old.id).collect();
        assert_eq!(same.len(), 1, "{old:?}");
        assert!(same[0].normal.dot(old.normal) > 0.99);
    }
    for fold in after
        .iter()
        .filter(|f| !before.iter().any(|b| b.id == f.id))
    {
        let torn = |n: &u32| [12, new].contains(n);
        assert!(
            fold.feature.a.iter().any(torn) || fold.feature.b.iter().any(torn),
            "{fold:?}"
        );
    }
    // Features that are gone are told.
    let gone = after.len();
    folds.follow(|_| None, |_| lost += 1);
    assert!(folds.folds().is_empty() && lost == gone);
}

#[test]
fn what_is_remembered_elsewhere_goes_on_the_same() {
    let n = 4;
    let triangles = sheets(n);
    let positions = place(n, 0.001);
    let mut tree = Tree::new(&triangles, &positions).unwrap();
    let mut folds = Folds::default();
    folds.update(
        Side {
            tree: &tree,
            positions: &positions,
        },
        0.002,
    );
    let mut other = Folds::default();
    let (list, next) = folds.memory();
    other.remember(list, next);
    let through = place(n, -0.0004);
    tree.refit(&through).unwrap();
    let fresh = Tree::new(&triangles, &through).unwrap();
    let one = folds.update(
        Side {
            tree: &tree,
            positions: &through,
        },
        0.002,
    );
    // A tree of another history gives the same.
    let two = other.update(
        Side {
            tree: &fresh,
            positions: &through,
        },
        0.002,
    );
    assert_eq!(one, two);
    assert!(!one.is_empty());
}

/// More of them in the long run.
fn cases() -> u32 {
    match std::env::var_os("TROCAR_LONG") {
        Some(_) => 2000,
        None => 32,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn no_near_node_is_missed(seed: u64, thickness in 0.0005_f64..0.004) {
        let n = 4;
        let triangles = sheets(n);
        let mut state = seed | 1;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) as f64 / (1_u64 << 30) as f64 - 1.0) * 0.004
        };
        let mut positions = place(n, 0.002);
        positions.iter_mut().for_each(|p| *p += DVec3::new(next(), next(), next()));
        let tree = Tree::new(&triangles, &positions).unwrap();
        let mut folds = Folds::default();
        let found = folds.update(Side { tree: &tree, positions: &positions }, thickness);
        for (node, p) in (0..).zip(&positions) {
            let own: Vec<&[u32; 3]> = triangles.iter().filter(|t| t.contains(&node)).collect();
            for t in &triangles {
                // Some triangle of the node is no neighbour of this one.
                if own.iter().all(|o| o.iter().any(|n| t.contains(n))) {
                    continue;
                }
                let corners = t.map(|n| positions[n as usize]);
                let weights = closest::on_triangle(*p, corners);
                if closest::point(corners, weights).distance(*p) < thickness {
                    let held: Vec<u32> = (0..3).filter(|k| weights[*k] > 0.0).map(|k| t[k]).collect();
                    let feature = Feature::new(&[node], &held).unwrap();
                    prop_assert!(found.iter().any(|f| f.feature == feature), "{:?}", feature);
                }
            }
        }
        // Edges that are nearest to each other between their ends.
        let mut across = 0;
        for (one, other) in pairs_of_edges(&triangles) {
            let [p, q] = one.map(|n| positions[n as usize]);
            let [r, s] = other.map(|n| positions[n as usize]);
            let (x, y) = closest::segment_segment(p, q, r, s);
            let inner = |x: f64| x > 0.0 && x < 1.0;
            if inner(x) && inner(y) && p.lerp(q, x).distance(r.lerp(s, y)) < thickness {
                let feature = Feature::new(&one, &other).unwrap();
                prop_assert!(found.iter().any(|f| f.feature == feature), "{:?}", feature);
                across += 1;
            }
        }
        prop_assert!(across > 0 || thickness < 0.002);
        prop_assert_eq!(folds.broken(), None);
    }

    /// Sheets that go far in one look, each node its own way: whatever comes within the thickness at any of many times on the way is a contact.
    #[test]
    fn nothing_that_will_meet_is_missed(seed: u64, speed in 0.0_f64..0.2, all: bool) {
        let n = 3;
        let triangles = sheets(n);
        let mut state = seed | 1;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / (1_u64 << 30) as f64 - 1.0
        };
        let mut vector = |size: f64| DVec3::new(next(), next(), next()) * size;
        let mut positions = place(n, 0.02);
        positions.iter_mut().for_each(|p| *p += vector(0.002));
        let tree = Tree::new(&triangles, &positions).unwrap();
        let thickness = 0.001;
        let whole = vector(0.1);
        let ways: Vec<DVec3> = (0..positions.len())
            .map(|k| whole + vector(0.01) - if k < positions.len() / 2 { DVec3::ZERO } else { DVec3::Z * speed })
            .collect();
        // Nodes that have no way stand still.
        let said = if all { ways.len() } else { ways.len() / 2 };
        let ways: Vec<DVec3> = (0..).zip(ways).map(|(k, way)| if k < said { way } else { DVec3::ZERO }).collect();
        let ahead = Ahead { ways: &ways[..said], thickness };
        let side = Side { tree: &tree, positions: &positions };
        let mut folds = Folds::default();
        folds.look_ahead_by(side, thickness, ahead, &trocar_math::Alone);
        let found = folds.find_ahead(side, thickness, Some(ahead)).to_vec();
        prop_assert_eq!(folds.broken(), None);
        let within = |some: &[u32], all: &[u32]| some.iter().all(|n| *n == u32::MAX || all.contains(n));
        let known = |one: &[u32], other: &[u32]| {
            found.iter().any(|f| {
                let (a, b) = (&f.feature.a, &f.feature.b);
                (within(a, one) && within(b, other)) || (within(a, other) && within(b, one))
            })
        };
        let times = 200;
        for time in 0..=times {
            let share = f64::from(time) / f64::from(times);
            let at = |n: u32| positions[n as usize] + ways[n as usize] * share;
            for node in 0..positions.len() as u32 {
                let own: Vec<&[u32; 3]> = triangles.iter().filter(|t| t.contains(&node)).collect();
                for t in &triangles {
                    if own.iter().all(|o| o.iter().any(|n| t.contains(n))) {
                        continue;
                    }
                    let corners = t.map(at);
                    let near = closest::point(corners, closest::on_triangle(at(node), corners));
                    prop_assert!(
                        near.distance(at(node)) >= thickness || known(&[node], t),
                        "{} {:?} at {}", node, t, share
                    );
                }
            }
            for (one, other) in pairs_of_edges(&triangles) {
                let ([p, q], [r, s]) = (one.map(at), other.map(at));
                let (x, y) = closest::segment_segment(p, q, r, s);
                if p.lerp(q, x).distance(r.lerp(s, y)) >= thickness {
                    continue;
                }
                // Where they meet at an end, that end meets a face of the other first.
                let faces = |edge: [u32; 2]| triangles.iter().filter(move |t| edge.iter().all(|n| t.contains(n)));
                let met = known(&one, &other)
                    || faces(other).any(|t| one.iter().any(|n| known(&[*n], t)))
                    || faces(one).any(|t| other.iter().any(|n| known(&[*n], t)));
                prop_assert!(met, "{:?} {:?} at {}", one, other, share);
            }
        }
        // Along its normal each of them comes from where it is now.
        for fold in &found {
            let spot = |k: usize, share: f64| {
                let nodes = triangles[fold.spots[k].triangle as usize];
                closest::point(nodes.map(|n| positions[n as usize] + ways[n as usize] * share), fold.spots[k].weights)
            };
            if !fold.feature.is_pierced() {
                let now = (spot(0, 0.0) - spot(1, 0.0)).dot(fold.normal);
                prop_assert!((now - fold.distance).abs() < 1e-9, "{:?} {}", fold, now);
            }
        }
    }
}

/// All pairs of edges of two triangles that share no corner, each once.
fn pairs_of_edges(triangles: &[[u32; 3]]) -> Vec<([u32; 2], [u32; 2])> {
    let mut edges: Vec<[u32; 2]> = triangles
        .iter()
        .flat_map(|[a, b, c]| [[*a, *b], [*b, *c], [*c, *a]])
        .map(|[a, b]| [a.min(b), a.max(b)])
        .collect();
    edges.sort_unstable();
    edges.dedup();
    let has = |edge: [u32; 2]| {
        let with = move |t: &&[u32; 3]| edge.iter().all(|n| t.contains(n));
        triangles.iter().filter(with)
    };
    let mut pairs = Vec::new();
    for (k, one) in edges.iter().enumerate() {
        for other in &edges[k + 1..] {
            let apart = |s: &[u32; 3], t: &[u32; 3]| !s.iter().any(|n| t.contains(n));
            if has(*one).any(|s| has(*other).any(|t| apart(s, t))) {
                pairs.push((*one, *other));
            }
        }
    }
    pairs
}

/// A closed hollow ball flung at another, far farther than its triangles are large: the nearest of what will meet is told, from outside. And its own walls, which stay as far
/// from each other as they are, are no contact.
#[test]
fn hollow_balls_that_are_flung_at_each_other_are_met_outside() {
    let (points, faces) = hollow();
    let count = points.len() as u32;
    let triangles: Vec<[u32; 3]> = faces
        .iter()
        .copied()
        .chain(faces.iter().map(|t| t.map(|n| n + count)))
        .collect();
    let positions: Vec<DVec3> = points
        .iter()
        .copied()
        .chain(points.iter().map(|p| *p + DVec3::new(0.3, 0.002, 0.001)))
        .collect();
    let tree = Tree::new(&triangles, &positions).unwrap();
    let side = Side {
        tree: &tree,
        positions: &positions,
    };
    let fly = DVec3::new(-0.5, 0.0, 0.0);
    let mut ways = vec![DVec3::ZERO; positions.len()];
    ways[count as usize..].fill(fly);
    let thickness = 0.0005;
    for (ways, met) in [(&ways, true), (&vec![fly; positions.len()], false)] {
        let ahead = Ahead { ways, thickness };
        let mut folds = Folds::default();
        folds.look_ahead_by(side, thickness, ahead, &trocar_math::Alone);
        let found = folds.find_ahead(side, thickness, Some(ahead)).to_vec();
        assert_eq!(!found.is_empty(), met);
        for fold in &found {
            let own = |n: u32| n < count;
            let both = own(fold.feature.a[0]) != own(fold.feature.b[0]);
            assert!(both, "{fold:?}");
        }
        // Those that face each other are pushed apart.
        let facing = found.iter().filter(|f| f.normal.x.abs() > 0.9);
        let mut outward = 0;
        for fold in facing {
            let first = f64::from(if fold.feature.a[0] < count { -1 } else { 1 });
            let start = fold.spots.map(|s| {
                let corners = triangles[s.triangle as usize].map(|n| positions[n as usize]);
                closest::point(corners, s.weights).x
            });
            if (start[0] - start[1]).abs() < 0.21 {
                assert!(fold.normal.x * first > 0.0, "{fold:?}");
                outward += 1;
            }
        }
        assert!(!met || outward > 0);
    }
}

/// A ball of radius 0.05 m about the origin, of eight faces divided three times.
fn hollow() -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let mut points = vec![
        DVec3::X,
        DVec3::NEG_X,
        DVec3::Y,
        DVec3::NEG_Y,
        DVec3::Z,
        DVec3::NEG_Z,
    ];
    let mut faces = Vec::new();
    for x in [0, 1] {
        for y in [2, 3] {
            for z in [4, 5] {
                faces.push([x, y, z]);
            }
        }
    }
    for _ in 0..3 {
        let mut finer = Vec::new();
        for [a, b, c] in faces {
            let mut middle = |i: u32, j: u32| {
                let at = (points[i as usize] + points[j as usize]).normalize();
                let known = points.iter().position(|p| p.distance(at) < 1e-9);
                known.unwrap_or_else(|| {
                    points.push(at);
                    points.len() - 1
                }) as u32
            };
            let (p, q, r) = (middle(a, b), middle(b, c), middle(c, a));
            finer.extend([[a, p, r], [p, b, q], [r, q, c], [p, q, r]]);
        }
        faces = finer;
    }
    points.iter_mut().for_each(|p| *p *= 0.05);
    (points, faces)
}

/// Two opposite walls of a closed organ are pressed flat onto each other and on through each other: what lay over the other wall is led back there.
#[test]
fn opposite_walls_of_a_hollow_organ_stay_on_their_sides() {
    let (round, triangles) = hollow();
    // Opposite nodes lie over each other; one wall goes a little askew, so that they lie over faces.
    let pressed = |height: f64| -> Vec<DVec3> {
        let flat = |p: &DVec3| {
            let aside = if p.z > 0.0 { 0.0017 } else { 0.0 };
            DVec3::new(p.x + aside, p.y - 0.7 * aside, p.z * height / 0.05)
        };
        round.iter().map(flat).collect()
    };
    let mut tree = Tree::new(&triangles, &round).unwrap();
    let mut folds = Folds::default();
    let thickness = 0.002;
    let mut before = Vec::new();
    for height in [0.05, 0.01, 0.0008, 0.0004, 0.0001, -0.0001, -0.0004] {
        let positions = pressed(height);
        tree.refit(&positions).unwrap();
        let side = Side {
            tree: &tree,
            positions: &positions,
        };
        let found = folds.update(side, thickness).to_vec();
        // Faces in the middle of a wall, where walls lie flat on each other.
        let over: Vec<_> = found
            .iter()
            .filter(|f| f.feature.b[2] != u32::MAX && !f.feature.is_pierced())
            .filter(|f| positions[f.feature.a[0] as usize].truncate().length() < 0.03)
            .filter(|f| {
                let nodes = triangles[f.spots[1].triangle as usize];
                let upper = |n: u32| round[n as usize].z > 0.0;
                nodes.iter().all(|n| upper(*n) != upper(f.feature.a[0]))
            })
            .copied()
            .collect();
        assert!((height > 0.005) == over.is_empty(), "{height}");
        for fold in &over {
            // Out of the upper wall is up, whatever lies above now.
            let up = round[fold.feature.a[0] as usize].z.signum();
            assert!(fold.normal.z * up > 0.5, "{height}: {fold:?}");
            assert!(fold.distance * height > 0.0, "{height}: {fold:?}");
        }
        if height.abs() < 0.0002 {
            // Most of those that were near stay what they were, under their numbers.
            let kept = over
                .iter()
                .filter(|f| before.contains(&(f.id, f.feature)))
                .count();
            assert!(kept > over.len() / 2 && kept > 20, "{height}: {kept}");
        }
        before = over.iter().map(|f| (f.id, f.feature)).collect();
    }
}

/// Triangles without area, some that are listed twice and edges with more than two triangles hide nothing and make no contact that is no number.
#[test]
fn surfaces_that_are_none_are_told_as_well() {
    let n = 6;
    let (sound, positions) = (sheets(n), place(n, 0.001));
    let thickness = 0.002;
    let found = |triangles: &[[u32; 3]], positions: &[DVec3]| {
        let tree = Tree::new(triangles, positions).unwrap();
        let side = Side {
            tree: &tree,
            positions,
        };
        let mut folds = Folds::default();
        let found = folds.update(side, thickness).to_vec();
        assert_eq!(folds.broken(), None);
        for fold in &found {
            assert!(
                fold.distance.is_finite() && fold.normal.is_finite(),
                "{fold:?}"
            );
        }
        assert!(found.is_sorted_by(|f, g| f.feature < g.feature));
        found
    };
    let features = |list: &[Fold]| -> Vec<Feature> { list.iter().map(|f| f.feature).collect() };
    let whole = features(&found(&sound, &positions));
    assert!(whole.len() > 40);
    // Listed twice: the same contacts, each once.
    let mut twice = sound.clone();
    twice.extend_from_slice(&sound[10..30]);
    twice.extend(sound[40..50].iter().map(|[a, b, c]| [*b, *c, *a]));
    assert_eq!(features(&found(&twice, &positions)), whole);
    // Points and threads in both sheets.
    let mut thin = sound.clone();
    thin.extend([[8, 8, 8], [8, 8, 9], [60, 60, 61], [8, 9, 10], [57, 58, 59]]);
    let with_thin = features(&found(&thin, &positions));
    assert!(whole.iter().all(|f| with_thin.contains(f)));
    // A fin on an inner edge of the lower sheet, which then has three triangles, stands through the upper one.
    let mut finned = (sound.clone(), positions.clone());
    let tip = finned.1.len() as u32;
    let [a, b] = [24, 25];
    finned
        .1
        .push(0.5 * (positions[a] + positions[b]) + DVec3::Z * 0.01);
    finned.0.push([a as u32, b as u32, tip]);
    let with_fin = found(&finned.0, &finned.1);
    let has = features(&with_fin);
    assert!(whole.iter().all(|f| has.contains(f)));
    let through = with_fin.iter().filter(|f| f.feature.is_pierced());
    assert!(through.clone().count() >= 2);
    assert!(
        through
            .clone()
            .all(|f| f.feature.a[1] == tip || f.feature.b.contains(&tip))
    );
}

#[test]
fn no_surface_has_no_contacts() {
    let tree = Tree::new(&[], &[]).unwrap();
    let none = Side {
        tree: &tree,
        positions: &[],
    };
    let mut folds = Folds::default();
    assert!(folds.update(none, 0.001).is_empty());
    let ahead = Ahead {
        ways: &[],
        thickness: 0.001,
    };
    assert_eq!(
        folds.look_ahead_by(none, 0.001, ahead, &trocar_math::Alone),
        0
    );
    assert!(folds.find_ahead(none, 0.001, Some(ahead)).is_empty());
    assert_eq!(folds.join(none, |_| true), 0);
    assert_eq!(
        (folds.crossings(none), folds.pairs(), folds.broken()),
        (0, 0, None)
    );
}

/// A node that is nowhere may touch anything: that is said, and hides nothing.
#[test]
fn what_is_no_number_is_reported() {
    let n = 4;
    let triangles = sheets(n);
    let mut positions = place(n, 0.001);
    let mut tree = Tree::new(&triangles, &positions).unwrap();
    let mut folds = Folds::default();
    let side = |tree| Side {
        tree,
        positions: &positions,
    };
    let whole = folds.update(side(&tree), 0.002).to_vec();
    assert_eq!(folds.broken(), None);
    positions[30].z = f64::NAN;
    assert!(tree.refit(&positions).is_err());
    let side = Side {
        tree: &tree,
        positions: &positions,
    };
    let found = folds.update(side, 0.002).to_vec();
    let pair = folds.broken().unwrap();
    assert!(pair.iter().any(|t| triangles[*t as usize].contains(&30)));
    let has = |f: &trocar_collide::fold::Fold| {
        let nodes = f.spots.map(|s| triangles[s.triangle as usize]);
        nodes.as_flattened().contains(&30)
    };
    for fold in whole.iter().filter(|f| !has(f)) {
        assert!(found.iter().any(|f| f.id == fold.id), "{fold:?}");
    }
    // So does a way that is none.
    let sound = place(n, 0.001);
    tree.refit(&sound).unwrap();
    let mut ways = vec![DVec3::ZERO; sound.len()];
    ways[7].x = f64::INFINITY;
    let ahead = Ahead {
        ways: &ways,
        thickness: 0.0005,
    };
    let side = Side {
        tree: &tree,
        positions: &sound,
    };
    folds.look_ahead_by(side, 0.0005, ahead, &trocar_math::Alone);
    folds.find_ahead(side, 0.0005, Some(ahead));
    assert!(folds.broken().is_some());
}

#[test]
fn an_edge_through_a_face_is_found_however_far_its_ends_are() {
    // A large face in the plane z = 0, and a thin triangle that stands through its middle.
    let triangles = [[0, 1, 2], [3, 4, 5]];
    let place = |tip: f64| {
        [
            DVec3::new(-1.0, -1.0, 0.0),
            DVec3::new(1.0, -1.0, 0.0),
            DVec3::new(0.0, 1.0, 0.0),
            DVec3::new(0.0, 0.0, tip),
            DVec3::new(-0.01, 0.0, tip + 0.5),
            DVec3::new(0.01, 0.0, tip + 0.5),
        ]
    };
    let edges = |found: &[trocar_collide::fold::Fold]| -> Vec<Feature> {
        let pierced = found.iter().filter(|f| f.feature.is_pierced());
        pierced.map(|f| f.feature).collect()
    };
    let both = [[3, 4], [3, 5]].map(|a| Feature { a, b: [0, 1, 2] });
    // First seen when it is through already: what is longer says which side is right.
    for (tip, up) in [(-0.1, 1.0), (-0.4, -1.0)] {
        let positions = place(tip);
        let tree = Tree::new(&triangles, &positions).unwrap();
        let mut folds = Folds::default();
        let side = Side {
            tree: &tree,
            positions: &positions,
        };
        let found = folds.update(side, 0.002);
        assert_eq!(edges(found), both);
        for fold in found {
            assert_eq!(fold.normal, DVec3::Z * up);
            let at = fold.spots.map(|s| {
                let corners = triangles[s.triangle as usize].map(|n| positions[n as usize]);
                closest::point(corners, s.weights)
            });
            assert!(at[0].distance(at[1]) < 1e-12 && at[0].z.abs() < 1e-12);
        }
    }
    // Seen before it went through: it comes from above, however deep it is now, and its tip is not forgotten.
    let start = place(0.001);
    let mut tree = Tree::new(&triangles, &start).unwrap();
    let mut folds = Folds::default();
    let tip = Feature {
        a: [3, u32::MAX],
        b: [0, 1, 2],
    };
    let mut id = None;
    for deep in [0.001, -0.05, -0.2, -0.4] {
        let positions = place(deep);
        tree.refit(&positions).unwrap();
        let side = Side {
            tree: &tree,
            positions: &positions,
        };
        let found = folds.update(side, 0.002);
        assert_eq!(edges(found).is_empty(), deep > 0.0);
        assert!(found.iter().all(|f| f.normal == DVec3::Z), "{found:?}");
        let own = found.iter().find(|f| f.feature == tip).unwrap();
        assert!((own.distance - deep).abs() < 1e-12, "{own:?}");
        assert_eq!(*id.get_or_insert(own.id), own.id);
    }
    // Out on the other side, nothing is pierced, and nothing is near.
    let gone = place(-0.6);
    tree.refit(&gone).unwrap();
    let side = Side {
        tree: &tree,
        positions: &gone,
    };
    assert!(folds.update(side, 0.002).is_empty());
}

/// One look with room serves many frames, also with other numbers: the same contacts under the same ids as from a look in every frame.
#[test]
fn one_look_serves_many_frames() {
    let n = 5;
    let triangles = sheets(n);
    let gaps = [0.003, 0.0025, 0.0019, 0.001, 0.0002, -0.0004, 0.0006];
    let start = place(n, gaps[0]);
    let mut tree = Tree::new(&triangles, &start).unwrap();
    let kept = tree.clone();
    let (mut once, mut always) = (Folds::default(), Folds::default());
    let pairs = once.look_by(
        Side {
            tree: &kept,
            positions: &start,
        },
        0.002 + 0.004,
        &trocar_math::Alone,
    );
    assert!(pairs > 0 && pairs == once.pairs());
    let mut seen = 0;
    for gap in gaps {
        let positions = place(n, gap);
        tree.refit(&positions).unwrap();
        let side = |tree| Side {
            tree,
            positions: &positions,
        };
        let expected = always.update(side(&tree), 0.002).to_vec();
        assert_eq!(once.find(side(&kept), 0.002), expected, "{gap}");
        seen += expected.len();
    }
    assert!(seen > 100, "{seen}");
    // Numbers with a gap between the two sheets: what is remembered goes on.
    let (nodes, count) = ((n + 1) * (n + 1), 2 * n * n);
    let node = |k: u32| if k < nodes { k } else { k + 100 };
    let triangle = |t: u32| if t < count { t } else { t + 50 };
    let numbered = (0..).zip(&triangles);
    let moved: Vec<(u32, [u32; 3])> = numbered
        .map(|(t, corners)| (triangle(t), corners.map(node)))
        .collect();
    let last = place(n, -0.0003);
    let mut spread = vec![DVec3::ZERO; 2 * nodes as usize + 100];
    for (k, p) in last.iter().enumerate() {
        spread[node(k as u32) as usize] = *p;
    }
    tree.refit(&last).unwrap();
    let expected = always
        .update(
            Side {
                tree: &tree,
                positions: &last,
            },
            0.002,
        )
        .to_vec();
    once.renumber(node, triangle);
    let (other, sound) = Tree::over(moved.into_iter(), &spread);
    sound.unwrap();
    let surface = Side {
        tree: &other,
        positions: &spread,
    };
    let found = once.update(surface, 0.002);
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(&expected) {
        assert_eq!((a.id, a.side, a.distance), (b.id, b.side, b.distance));
        assert_eq!(a.normal, b.normal);
    }
}

//! Trees find exactly the pairs that comparing all with all finds, however the surface is deformed and edited.

use glam::DVec3;
use proptest::prelude::*;
use trocar_collide::{
    Capsule, Hull, Patch, Probe,
    tree::{
        Change, Search, Side, Tree, TreeError,
        hybrid::{Axis, Hybrid, Rules, Split, Tiers},
    },
    triangle::touch,
};
use trocar_math::{Alone, Bounds, Pose, Workers};

/// A crumpled sheet of `rows` by `columns` squares, and loose triangles.
fn sheet(rows: u32, columns: u32) -> Vec<[u32; 3]> {
    let at = |r, c| r * (columns + 1) + c;
    let squares = (0..rows).flat_map(|r| (0..columns).map(move |c| (r, c)));
    squares
        .flat_map(|(r, c)| {
            let [p, q, s, t] = [at(r, c), at(r, c + 1), at(r + 1, c + 1), at(r + 1, c)];
            [[p, q, s], [p, s, t]]
        })
        .collect()
}

/// Numbers that are always the same.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / (1_u64 << 30) as f64 - 1.0
    }

    fn below(&mut self, count: usize) -> usize {
        ((self.next() + 1.0) * 0.5 * count as f64) as usize % count.max(1)
    }

    fn point(&mut self) -> DVec3 {
        DVec3::new(self.next(), self.next(), self.next())
    }
}

/// Where the nodes of a sheet are, crumpled by `rough`, m.
fn crumple(rows: u32, columns: u32, rough: f64, random: &mut Random) -> Vec<DVec3> {
    let nodes = (0..=rows).flat_map(|r| (0..=columns).map(move |c| (r, c)));
    nodes
        .map(|(r, c)| {
            let flat = DVec3::new(f64::from(r), f64::from(c), 0.0) * 0.01;
            let wave = DVec3::Z * 0.01 * (f64::from(r % 7) * f64::from(c % 5) * 0.1);
            DVec3::splat(0.1) + flat + wave + random.point() * rough
        })
        .collect()
}

fn corners(t: [u32; 3], positions: &[DVec3]) -> [DVec3; 3] {
    t.map(|n| positions[n as usize])
}

type List = Vec<(u32, [u32; 3])>;

fn brute_between(a: &List, pa: &[DVec3], b: &List, pb: &[DVec3]) -> Vec<[u32; 2]> {
    let mut out = Vec::new();
    for (i, s) in a {
        for (j, t) in b {
            if touch(&corners(*s, pa), &corners(*t, pb)) {
                out.push([*i, *j]);
            }
        }
    }
    out.sort_unstable();
    out
}

fn brute_within(a: &List, pa: &[DVec3]) -> Vec<[u32; 2]> {
    let mut out = Vec::new();
    for (k, (i, s)) in a.iter().enumerate() {
        for (j, t) in &a[k + 1..] {
            let neighbours = s.iter().any(|n| t.contains(n));
            if !neighbours && touch(&corners(*s, pa), &corners(*t, pa)) {
                out.push([*i.min(j), *i.max(j)]);
            }
        }
    }
    out.sort_unstable();
    out
}

fn listed(triangles: &[[u32; 3]]) -> List {
    (0..).zip(triangles.iter().copied()).collect()
}

/// Two helpers, the last part first: whatever the order, the result must be the same.
struct Backwards;

impl Workers for Backwards {
    fn each<T: Send>(&self, items: &mut [T], work: impl Fn(&mut T) + Sync) {
        let (a, b) = items.split_at_mut(items.len() / 3);
        std::thread::scope(|scope| {
            scope.spawn(|| b.iter_mut().rev().for_each(&work));
            a.iter_mut().rev().for_each(&work);
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if std::env::var_os("TROCAR_LONG").is_some() { 2000 } else { 48 }))]

    #[test]
    fn under_random_deformation(
        [r, c, s, d] in prop::array::uniform4(1_u32..13),
        seed: u64,
        rough in prop::sample::select(vec![0.0, 0.002, 0.02]),
    ) {
        let mut random = Random(seed);
        let (a, b) = (sheet(r, c), sheet(s, d));
        let mut pa = crumple(r, c, rough, &mut random);
        let mut pb = crumple(s, d, rough, &mut random);
        let mut tree_a = Tree::new(&a, &pa).unwrap();
        let mut tree_b = Tree::new(&b, &pb).unwrap();
        let mut search = Search::default();
        for _ in 0..3 {
            let sides = (Side { tree: &tree_a, positions: &pa }, Side { tree: &tree_b, positions: &pb });
            let wanted = brute_between(&listed(&a), &pa, &listed(&b), &pb);
            prop_assert_eq!(search.between(sides.0, sides.1), &wanted[..]);
            prop_assert_eq!(search.between_by(sides.0, sides.1, &Backwards), &wanted[..]);
            prop_assert_eq!(search.within(sides.0), &brute_within(&listed(&a), &pa)[..]);
            pa.iter_mut().for_each(|p| *p += random.point() * 0.004);
            pb = crumple(s, d, 0.01, &mut random);
            tree_a.refit_by(&pa, &Backwards).unwrap();
            tree_b.refit(&pb).unwrap();
        }
    }

    #[test]
    fn under_random_edits(
        [r, c] in prop::array::uniform2(1_u32..10),
        seed: u64,
        cut in 1_usize..200,
        bias in 0_usize..5,
    ) {
        let mut random = Random(seed);
        let start = sheet(r, c);
        let mut positions = crumple(r, c, 0.005, &mut random);
        let mut tree = Tree::new(&start, &positions).unwrap();
        let mut list: Vec<Option<[u32; 3]>> = start.iter().copied().map(Some).collect();
        let mut search = Search::default();
        for round in 0..4 {
            let mut changes = Vec::new();
            for _ in 0..cut {
                let corners = match random.below(5) {
                    k if k < bias => None,
                    // Some are far apart, some without area, some twice.
                    _ => Some([0; 3].map(|_| random.below(positions.len()) as u32)),
                };
                let triangle = random.below(list.len() + 5);
                if triangle >= list.len() {
                    list.resize(triangle + 1, None);
                }
                list[triangle] = corners;
                changes.push(Change { triangle: triangle as u32, corners });
            }
            tree.edit(&changes, &positions).unwrap();
            let there: List = (0..).zip(&list).filter_map(|(i, t)| t.map(|t| (i, t))).collect();
            prop_assert_eq!(tree.len(), there.len());
            for (i, t) in &there {
                prop_assert_eq!(tree.triangle(*i), Some(*t));
            }
            prop_assert_eq!(search.within(Side { tree: &tree, positions: &positions }), &brute_within(&there, &positions)[..], "round {}", round);
            // The same after a refit with the same positions, and after another deformation.
            tree.refit(&positions).unwrap();
            prop_assert_eq!(search.within(Side { tree: &tree, positions: &positions }), &brute_within(&there, &positions)[..]);
            positions.iter_mut().for_each(|p| *p += random.point() * 0.002);
            tree.refit(&positions).unwrap();
            let all: Vec<u32> = there.iter().map(|(i, _)| *i).collect();
            let mut found = Vec::new();
            tree.overlapping(&tree.bounds(), |t| found.push(t));
            found.sort_unstable();
            prop_assert_eq!(found, all);
        }
    }

    #[test]
    fn with_spheres_and_boxes_in_any_number_of_levels(
        [r, c, s, d] in prop::array::uniform4(1_u32..12),
        seed: u64,
        [upper, middle] in prop::array::uniform2(0_u32..8),
        leaf in 1_usize..12,
        levels in 1_u32..12,
        mean: bool,
        axis in prop::sample::select(vec![Axis::Extent, Axis::Variance, Axis::Volume]),
        slack in prop::sample::select(vec![0.0, 0.001, 0.01]),
    ) {
        let mut random = Random(seed);
        let (a, b) = (sheet(r, c), sheet(s, d));
        let mut pa = crumple(r, c, 0.01, &mut random);
        let pb = crumple(s, d, 0.01, &mut random);
        let split = if mean { Split::Mean } else { Split::Median };
        let rules = Rules { tiers: Tiers { upper, middle }, axis, split, leaf, levels, slack };
        let mut tree_a = Hybrid::new(&a, &pa, rules).unwrap();
        let tree_b = Hybrid::new(&b, &pb, Rules { tiers: Tiers::TOOL, ..rules }).unwrap();
        prop_assert!(tree_a.levels() <= levels);
        let mut out = Vec::new();
        // Small steps, in which boxes are kept, must not lose anything.
        for _ in 0..6 {
            tree_a.pairs(&pa, (&tree_b, &pb), touch, &mut out);
            prop_assert_eq!(&out, &brute_between(&listed(&a), &pa, &listed(&b), &pb));
            pa.iter_mut().for_each(|p| *p += random.point() * 0.0004);
            tree_a.refit(&pa).unwrap();
        }
    }

    #[test]
    fn with_spheres_and_boxes_under_random_edits(
        [r, c] in prop::array::uniform2(1_u32..9),
        seed: u64,
        [upper, middle] in prop::array::uniform2(0_u32..6),
        [leaf, cut] in [1_usize..12, 1_usize..120],
        levels in 1_u32..14,
        bias in 0_usize..6,
        mean: bool,
        slack in prop::sample::select(vec![0.0, 0.001, 0.01]),
    ) {
        let mut random = Random(seed);
        let start = sheet(r, c);
        let mut positions = crumple(r, c, 0.005, &mut random);
        let split = if mean { Split::Mean } else { Split::Median };
        let rules = Rules { tiers: Tiers { upper, middle }, split, leaf, levels, slack, ..Rules::default() };
        let mut tree = Hybrid::new(&start, &positions, rules).unwrap();
        let tool = sheet(4, 4);
        let at = crumple(4, 4, 0.01, &mut random);
        let other = Hybrid::new(&tool, &at, Rules { tiers: Tiers::TOOL, ..rules }).unwrap();
        let mut list: Vec<Option<[u32; 3]>> = start.iter().copied().map(Some).collect();
        let mut out = Vec::new();
        for round in 0..4 {
            let mut changes = Vec::new();
            for _ in 0..cut {
                let corners = (random.below(6) >= bias).then(|| [0; 3].map(|_| random.below(positions.len()) as u32));
                let triangle = random.below(list.len() + 5);
                if triangle >= list.len() {
                    list.resize(triangle + 1, None);
                }
                list[triangle] = corners;
                changes.push(Change { triangle: triangle as u32, corners });
            }
            tree.edit(&changes, &positions).unwrap();
            let there: List = (0..).zip(&list).filter_map(|(i, t)| t.map(|t| (i, t))).collect();
            prop_assert_eq!(tree.len(), there.len());
            prop_assert!(tree.levels() <= levels);
            for _ in 0..2 {
                tree.pairs(&positions, (&other, &at), touch, &mut out);
                prop_assert_eq!(&out, &brute_between(&there, &positions, &listed(&tool), &at), "round {}", round);
                positions.iter_mut().for_each(|p| *p += random.point() * 0.0005);
                tree.refit(&positions).unwrap();
            }
        }
        // All of it goes, and comes again.
        let gone: Vec<Change> = (0..list.len() as u32).map(|triangle| Change { triangle, corners: None }).collect();
        tree.edit(&gone, &positions).unwrap();
        prop_assert!(tree.is_empty() && tree.levels() == 0);
        let back: Vec<Change> = (0..).zip(&start).map(|(triangle, t)| Change { triangle, corners: Some(*t) }).collect();
        tree.edit(&back, &positions).unwrap();
        tree.pairs(&positions, (&other, &at), touch, &mut out);
        prop_assert_eq!(&out, &brute_between(&listed(&start), &positions, &listed(&tool), &at));
    }

    #[test]
    fn with_spheres_and_boxes_that_are_carried_along(
        [r, c] in prop::array::uniform2(1_u32..9),
        seed: u64,
        [upper, middle] in prop::array::uniform2(0_u32..6),
        turn in prop::array::uniform3(-3.0_f64..3.0),
    ) {
        let mut random = Random(seed);
        let (tool, tissue) = (sheet(r, c), sheet(6, 6));
        let (at, there) = (crumple(r, c, 0.01, &mut random), crumple(6, 6, 0.01, &mut random));
        let rules = Rules { tiers: Tiers { upper, middle }, leaf: 3, ..Rules::default() };
        let rest = Hybrid::new(&tool, &at, rules).unwrap();
        let other = Hybrid::new(&tissue, &there, rules).unwrap();
        let mut carried = rest.clone();
        let mut out = Vec::new();
        for k in 0..3 {
            let rotation = trocar_math::rotation::from_scaled_axis(DVec3::from(turn) * f64::from(k));
            let pose = Pose::new(there[17] - rotation * at[0], rotation);
            carried.carry(&rest, &pose);
            let places: Vec<DVec3> = at.iter().map(|p| pose.point(*p)).collect();
            carried.pairs(&places, (&other, &there), touch, &mut out);
            prop_assert_eq!(&out, &brute_between(&listed(&tool), &places, &listed(&tissue), &there));
        }
        // A body that is nowhere may be anywhere.
        carried.carry(&rest, &Pose::new(DVec3::NAN, glam::DQuat::IDENTITY));
        let tests = carried.pairs(&at, (&other, &there), |_, _| true, &mut out);
        prop_assert_eq!(tests.triangles, tool.len() * tissue.len());
    }

    #[test]
    fn with_spheres_and_boxes_that_deform_and_are_edited_where_they_were_carried(
        [r, c] in prop::array::uniform2(1_u32..6),
        seed: u64,
        [upper, middle] in prop::array::uniform2(0_u32..6),
        leaf in 1_usize..4,
        turn in prop::array::uniform3(-3.0_f64..3.0),
        slack in prop::sample::select(vec![0.0, 0.003, 0.01, 0.03]),
        edits in 0_usize..3,
    ) {
        let mut random = Random(seed);
        let tool = sheet(r, c);
        let at = crumple(r, c, 0.003, &mut random);
        let rules = Rules { tiers: Tiers { upper, middle }, leaf, slack, ..Rules::default() };
        let rest = Hybrid::new(&tool, &at, rules).unwrap();
        let mut carried = rest.clone();
        let mut out = Vec::new();
        // Splinters at some nodes: what touches there can be missed, as nothing else is near.
        let splinters = |places: &[DVec3]| {
            let of = |p: &DVec3| [*p, *p + DVec3::X * 1e-5, *p + DVec3::Y * 1e-5];
            let there: Vec<DVec3> = places.iter().step_by(3).flat_map(of).collect();
            let list: Vec<[u32; 3]> = (0..there.len() as u32 / 3).map(|k| [3 * k, 3 * k + 1, 3 * k + 2]).collect();
            let tree = Hybrid::new(&list, &there, Rules { slack: 0.0, leaf: 1, ..rules }).unwrap();
            (tree, list, there)
        };
        for _ in 0..3 {
            let rotation = trocar_math::rotation::from_scaled_axis(DVec3::from(turn) + random.point());
            let pose = Pose::new(random.point(), rotation);
            carried.carry(&rest, &pose);
            let mut places: Vec<DVec3> = at.iter().map(|p| pose.point(*p)).collect();
            let mut list: Vec<Option<[u32; 3]>> = tool.iter().copied().map(Some).collect();
            for round in 0..3 {
                let changes: Vec<Change> = (0..edits).map(|_| {
                    let corners = (random.below(4) > 0).then(|| [0; 3].map(|_| random.below(at.len()) as u32));
                    Change { triangle: random.below(list.len()) as u32, corners }
                }).collect();
                if edits > 0 {
                    carried.edit(&changes, &places).unwrap();
                    changes.iter().for_each(|c| list[c.triangle as usize] = c.corners);
                }
                // As far as boxes with a slack may let them, some nodes in some rounds.
                for p in &mut places {
                    *p += random.point() * slack * [0.0, 0.5, 1.5][random.below(3)];
                }
                if round > 0 || edits == 0 {
                    carried.refit(&places).unwrap();
                } else {
                    places = at.iter().map(|p| pose.point(*p)).collect();
                }
                let now: List = (0..).zip(&list).filter_map(|(i, t)| t.map(|t| (i, t))).collect();
                let (other, few, there) = splinters(&places);
                carried.pairs(&places, (&other, &there), touch, &mut out);
                prop_assert_eq!(&out, &brute_between(&now, &places, &listed(&few), &there), "round {}", round);
            }
        }
    }

    #[test]
    fn with_a_margin(seed: u64, margin in 0.0_f64..0.01) {
        let mut random = Random(seed);
        let (a, b) = (sheet(5, 5), sheet(4, 6));
        let pa = crumple(5, 5, 0.005, &mut random);
        let pb: Vec<DVec3> = crumple(4, 6, 0.005, &mut random).into_iter().map(|p| p + DVec3::Z * 0.02).collect();
        let (tree_a, tree_b) = (Tree::new(&a, &pa).unwrap(), Tree::new(&b, &pb).unwrap());
        let mut search = Search::default();
        let sides = (Side { tree: &tree_a, positions: &pa }, Side { tree: &tree_b, positions: &pb });
        let found = search.near_by(sides.0, sides.1, margin, |_, _| true, &Alone).to_vec();
        for (i, s) in listed(&a) {
            for (j, t) in listed(&b) {
                let bounds = Bounds::of(corners(s, &pa)).grown(margin);
                if bounds.overlaps(&Bounds::of(corners(t, &pb))) {
                    prop_assert!(found.binary_search(&[i, j]).is_ok());
                }
            }
        }
    }

    #[test]
    fn whatever_is_thrown_at_them(
        triangles in prop::collection::vec(prop::array::uniform3(0_u32..12), 0..40),
        places in prop::collection::vec(prop::array::uniform3(prop_oneof![
            4 => (-3_i32..4).prop_map(f64::from),
            1 => prop::sample::select(vec![f64::NAN, f64::INFINITY, -1e300, 1e31, 1e-300]),
        ]), 0..12),
        edits in prop::collection::vec((0_u32..60, prop::option::of(prop::array::uniform3(0_u32..13))), 0..20),
    ) {
        // Either it is refused, with the place named, or it finds what there is.
        let positions: Vec<DVec3> = places.into_iter().map(DVec3::from).collect();
        match Tree::new(&triangles, &positions) {
            Err(TreeError::NoSuchNode { triangle, corner, node, nodes }) => {
                prop_assert_eq!(triangles[triangle as usize][corner], node);
                prop_assert!(node as usize >= nodes);
            }
            Err(TreeError::NoPlace { node }) => {
                let size = positions[node as usize].abs();
                prop_assert!(size.is_nan() || size.max_element() > 1e30);
            }
            Err(other) => prop_assert!(false, "{}", other),
            Ok(mut tree) => {
                let mut search = Search::default();
                let found = search.within(Side { tree: &tree, positions: &positions });
                prop_assert_eq!(found, &brute_within(&listed(&triangles), &positions)[..]);
                let before = tree.len();
                let changes: Vec<Change> = edits.iter().map(|(triangle, corners)| Change { triangle: *triangle, corners: *corners }).collect();
                if tree.edit(&changes, &positions).is_err() {
                    prop_assert_eq!(tree.len(), before);
                }
                search.within(Side { tree: &tree, positions: &positions });
            }
        }
    }
}

#[test]
fn a_node_that_goes_bad_is_named_and_hides_nothing() {
    let triangles = sheet(20, 20);
    let mut random = Random(7);
    let mut positions = crumple(20, 20, 0.001, &mut random);
    let mut tree = Tree::new(&triangles, &positions).unwrap();
    positions[33] = DVec3::new(0.1, f64::NAN, 0.1);
    assert_eq!(tree.refit(&positions), Err(TreeError::NoPlace { node: 33 }));
    // A needle that touches a triangle beside it is still found.
    let needle = vec![[0, 1, 2]];
    let [a, b, c] = corners(triangles[70], &positions);
    let middle = (a + b + c) / 3.0;
    assert!(middle.is_finite());
    let at = [
        middle - DVec3::Z,
        middle + DVec3::Z,
        middle + DVec3::new(1e-4, 0.0, 1.0),
    ];
    let other = Tree::new(&needle, &at).unwrap();
    let mut search = Search::default();
    let found = search.between(
        Side {
            tree: &tree,
            positions: &positions,
        },
        Side {
            tree: &other,
            positions: &at,
        },
    );
    assert!(found.contains(&[70, 0]), "{found:?}");
    // Boxes that hold everything meet no place in the tree where nothing is, whatever the margin.
    let side = Side {
        tree: &tree,
        positions: &positions,
    };
    for margin in [0.0, 1.0, 1e300] {
        search.within_by(side, margin, |_, _| false, &Alone);
        assert!(search.tests() > 0);
    }
    // Nor does a triangle that is too large for the numbers of boxes, to both sides.
    positions[33] = DVec3::splat(-1e300);
    positions[34] = DVec3::splat(1e300);
    assert!(tree.refit(&positions).is_err());
    let side = Side {
        tree: &tree,
        positions: &positions,
    };
    let pairs = search.within_by(side, 0.0, |_, _| true, &Alone);
    let all = triangles.len() as u32;
    assert!(!pairs.is_empty() && pairs.iter().flatten().all(|t| *t < all));
    let nowhere = trocar_math::Bounds {
        low: DVec3::NAN,
        high: DVec3::NAN,
    };
    let mut met = 0;
    tree.overlapping(&nowhere, |_| met += 1);
    assert_eq!(met, triangles.len(), "what is no box may be anywhere");
}

#[test]
fn many_edits_in_one_place_keep_ways_short() {
    // Triangles along a line, one after the other: the worst order for a tree that only grows.
    let positions: Vec<DVec3> = (0..20_000)
        .map(|i| DVec3::new(f64::from(i) * 1e-3, f64::from(i % 2), 0.0))
        .collect();
    let mut tree = Tree::default();
    for i in 0..19_998 {
        let change = Change {
            triangle: i,
            corners: Some([i, i + 1, i + 2]),
        };
        tree.edit(&[change], &positions).unwrap();
    }
    // Branches are at least half full: log₄ of the leaves, which hold four or more.
    assert!(tree.depth() <= 8, "{}", tree.depth());
    for i in 0..19_998 {
        tree.edit(
            &[Change {
                triangle: i,
                corners: None,
            }],
            &positions,
        )
        .unwrap();
    }
    assert!(tree.is_empty() && tree.depth() == 0);
    assert_eq!(tree.bounds(), Bounds::EMPTY);
}

#[test]
fn many_edits_in_one_place_keep_ways_short_with_spheres_and_boxes() {
    let positions: Vec<DVec3> = (0..5_000)
        .map(|i| DVec3::new(f64::from(i) * 1e-3, f64::from(i % 2), 0.0))
        .collect();
    let mut tree = Hybrid::new(&[], &positions, Rules::default()).unwrap();
    for i in 0..4_998 {
        let change = Change {
            triangle: i,
            corners: Some([i, i + 1, i + 2]),
        };
        tree.edit(&[change], &positions).unwrap();
    }
    // A thousand leaves or fewer, none of which lies in a part of less than a quarter: log of 1000 with base 4/3, were all as uneven as can be.
    assert!(tree.levels() <= 24, "{}", tree.levels());
}

#[test]
fn a_node_that_goes_bad_is_named_and_hides_nothing_from_spheres_and_boxes() {
    let triangles = sheet(12, 12);
    let mut positions = crumple(12, 12, 0.001, &mut Random(7));
    let mut needle = Hybrid::new(&[[0, 1, 2]], &positions[..3], Rules::default()).unwrap();
    for tiers in [Tiers::SPHERES, Tiers::BOXES, Tiers::LIVER] {
        let rules = Rules {
            tiers,
            ..Rules::default()
        };
        let mut tree = Hybrid::new(&triangles, &positions, rules).unwrap();
        let sound = std::mem::replace(&mut positions[33], DVec3::NAN);
        assert_eq!(tree.refit(&positions), Err(TreeError::NoPlace { node: 33 }));
        // What is right beside it is still found, wherever the other is.
        let at = corners(triangles[0], &positions);
        needle.refit(&at).unwrap();
        let mut out = Vec::new();
        tree.pairs(&positions, (&needle, &at), touch, &mut out);
        assert!(out.contains(&[0, 0]), "{out:?}");
        positions[33] = sound;
        assert!(tree.refit(&positions).is_ok());
        let (fewer, nodes) = (positions.len() - 1, positions.len());
        let refused = TreeError::TooFewPositions {
            positions: fewer,
            nodes,
        };
        assert_eq!(tree.refit(&positions[..fewer]), Err(refused));
        // Who asks all the same is told what may touch, and nothing else is hidden; on either side.
        tree.pairs(&positions, (&tree, &positions), touch, &mut out);
        let all = out.clone();
        let last = fewer as u32;
        let broken = |t: u32| triangles[t as usize].contains(&last);
        let both = [
            (&positions[..fewer], &positions[..]),
            (&positions[..], &positions[..fewer]),
        ];
        for (k, (a, b)) in both.into_iter().enumerate() {
            tree.pairs(a, (&tree, b), touch, &mut out);
            assert!(all.iter().all(|pair| out.contains(pair)), "{tiers:?}");
            let more: Vec<_> = out.iter().filter(|pair| !all.contains(pair)).collect();
            assert!(!more.is_empty(), "{tiers:?}");
            assert!(more.iter().all(|pair| broken(pair[k])), "{tiers:?}");
        }
    }
}

/// Farther away than a node may be a refit says so; but what touches there is found all the same, and so is what a tool touches.
#[test]
fn what_is_too_far_away_still_touches_there() {
    let triangles = sheet(4, 4);
    let mut random = Random(5);
    let flat = crumple(4, 4, 0.005, &mut random);
    for scale in [1e28, 1e29, 1e30, 1e31, 1e32, 1e60] {
        for aside in [DVec3::ZERO, DVec3::X, -DVec3::splat(40.0)] {
            let far: Vec<DVec3> = flat.iter().map(|p| (*p + aside) * scale).collect();
            let near = vec![DVec3::ZERO; far.len()];
            let mut tree = Tree::new(&triangles, &near).unwrap();
            let fits = far.iter().all(|p| p.abs().max_element() <= 1e30);
            assert_eq!(tree.refit(&far).is_ok(), fits, "{scale:e} {aside}");
            let side = Side {
                tree: &tree,
                positions: &far,
            };
            let mut search = Search::default();
            let list = listed(&triangles);
            let expected = brute_between(&list, &far, &list, &far);
            assert!(expected.len() >= triangles.len());
            assert_eq!(
                search.between(side, side),
                expected,
                "{scale:e} times {aside}"
            );
            assert_eq!(search.within(side), brute_within(&list, &far));
            let mut patch = Patch::new(triangles.clone(), far.len()).unwrap();
            let probes = [Probe {
                hull: Hull::Capsule(Capsule {
                    a: far[12],
                    b: far[12] + DVec3::Y * scale,
                    radius: 0.01 * scale,
                }),
                margin: 0.0,
                ahead: None,
            }];
            patch.gather(&probes, &near, f64::INFINITY);
            for moved in [40.0 * scale, f64::INFINITY] {
                patch.gather(&probes, &far, moved);
                let mut near: Vec<u32> = patch.near_nodes().collect();
                near.sort_unstable();
                assert!(near.contains(&12), "{scale:e} times {aside}: {near:?}");
            }
        }
    }
}

#[test]
fn empty_trees_touch_nothing() {
    let (empty, one) = (
        Tree::new(&[], &[]).unwrap(),
        [DVec3::ZERO, DVec3::X, DVec3::Y],
    );
    let tree = Tree::new(&[[0, 1, 2]], &one).unwrap();
    let mut search = Search::default();
    let (e, t) = (
        Side {
            tree: &empty,
            positions: &[],
        },
        Side {
            tree: &tree,
            positions: &one,
        },
    );
    assert!(search.between(e, t).is_empty() && search.between(t, e).is_empty());
    assert!(search.within(e).is_empty() && search.within(t).is_empty());
    assert_eq!(search.between(t, t), [[0, 0]]);
}

/// A box that is turned and boxed again has corners outside the sphere around it, and a slack would have it kept for what has come there.
#[test]
fn a_box_that_was_carried_is_not_kept_for_what_its_sphere_does_not_hold() {
    let flat = |x: f64, y: f64| DVec3::new(x, y, 0.0);
    let at = [-0.001, 0.001].map(|x| flat(x, -0.001));
    let at = [at[0], at[1], flat(0.001, 0.001), flat(-0.001, 0.001)];
    let rules = Rules {
        tiers: Tiers::SPHERES,
        slack: 0.01,
        ..Rules::default()
    };
    let rest = Hybrid::new(&[[0, 1, 2], [0, 2, 3]], &at, rules).unwrap();
    let rotation = trocar_math::rotation::from_scaled_axis(DVec3::Z * std::f64::consts::FRAC_PI_4);
    let mut carried = rest.clone();
    carried.carry(&rest, &Pose::new(DVec3::ZERO, rotation));
    let corner = DVec3::new(0.0155, 0.0155, 0.0099);
    let [a, b, c, _] = at.map(|p| rotation * p);
    let places = [a, b, c, corner];
    carried.refit(&places).unwrap();
    let there = [corner, corner + DVec3::X * 1e-4, corner + DVec3::Y * 1e-4];
    let tight = Rules {
        slack: 0.0,
        ..rules
    };
    let other = Hybrid::new(&[[0, 1, 2]], &there, tight).unwrap();
    let mut out = Vec::new();
    carried.pairs(&places, (&other, &there), touch, &mut out);
    assert_eq!(out, [[1, 0]]);
}

#[test]
fn a_slack_saves_refits_and_none_makes_them_tight() {
    let triangles = sheet(20, 20);
    let mut random = Random(3);
    let mut positions = crumple(20, 20, 0.001, &mut random);
    let mut changed = [0.0, 0.001].map(|slack| {
        let rules = Rules {
            slack,
            ..Rules::default()
        };
        (Hybrid::new(&triangles, &positions, rules).unwrap(), 0)
    });
    for _ in 0..10 {
        positions
            .iter_mut()
            .for_each(|p| *p += random.point() * 1e-5);
        for (tree, count) in &mut changed {
            *count += tree.refit(&positions).unwrap();
        }
    }
    assert!(
        changed[0].1 > 10 * 100 && changed[1].1 == 0,
        "{} {}",
        changed[0].1,
        changed[1].1
    );
}

#[test]
fn too_few_positions_are_refused() {
    let positions = [DVec3::ZERO, DVec3::X, DVec3::Y];
    let mut tree = Tree::new(&[[0, 1, 2]], &positions).unwrap();
    let error = tree.refit(&positions[..2]);
    assert_eq!(
        error,
        Err(TreeError::TooFewPositions {
            positions: 2,
            nodes: 3
        })
    );
    let change = Change {
        triangle: 0,
        corners: None,
    };
    assert_eq!(tree.edit(&[change], &positions[..2]), error);
    assert_eq!(tree.len(), 1);
    // A search with fewer positions than the tree was fitted to does not fail, and finds nothing there.
    let mut search = Search::default();
    let short = Side {
        tree: &tree,
        positions: &positions[..2],
    };
    // Who asks all the same is told what may touch, and that nobody can tell.
    assert!(!search.between(short, short).is_empty());
    assert!(matches!(
        search.broken(),
        Some(TreeError::TooFewPositions { .. })
    ));
}

#[test]
fn nodes_that_no_triangle_has_any_more_may_be_nowhere() {
    let triangles = sheet(8, 8);
    let mut positions = crumple(8, 8, 0.001, &mut Random(3));
    let mut tree = Tree::new(&triangles, &positions).unwrap();
    let gone: Vec<Change> = (0..64)
        .map(|triangle| Change {
            triangle,
            corners: None,
        })
        .collect();
    tree.edit(&gone, &positions).unwrap();
    for (node, position) in positions.iter_mut().enumerate() {
        let used = triangles[64..].iter().flatten();
        if !used.clone().any(|n| *n as usize == node) {
            *position = DVec3::NAN;
        }
    }
    assert!(positions.iter().any(|p| p.is_nan()));
    assert_eq!(tree.refit(&positions), Ok(()));
}

#[test]
fn one_triangle_with_a_great_number_is_refused_and_not_room_for_millions_made() {
    let positions = [DVec3::ZERO, DVec3::X, DVec3::Y];
    let mut tree = Tree::new(&[[0, 1, 2]], &positions).unwrap();
    let change = |triangle| Change {
        triangle,
        corners: Some([0, 1, 2]),
    };
    let far = trocar_collide::tree::MAX_TRIANGLE;
    let refused = tree.edit(&[change(1), change(far)], &positions);
    assert!(matches!(refused, Err(TreeError::Sparse { triangle, .. }) if triangle == far));
    assert_eq!(tree.len(), 1);
    // To take away what is not there is no error, whatever its number.
    let gone = Change {
        triangle: far,
        corners: None,
    };
    assert_eq!(tree.edit(&[gone, change(1000)], &positions), Ok(()));
    assert_eq!(tree.len(), 2);
}

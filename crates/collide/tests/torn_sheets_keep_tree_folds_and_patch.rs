//! A sheet that is split, collapsed, flipped, opened and cut at random keeps its tree, its patch and its contacts with itself: they find what those made anew
//! find, and contacts whose place is still there keep their numbers.

// What helps a test may unwrap as a test may; clippy only knows the latter.
#![allow(clippy::unwrap_used)]

use glam::DVec3;
use trocar_collide::{
    Capsule, Hull, Patch, Probe,
    fold::{Fold, Folds},
    torn::{Share, Torn, follow_folds},
    tree::{Search, Side, Tree},
};
use trocar_mesh::{
    primitive::SheetShape,
    sheet::{Edit, Event, Refusal, Sheet},
};

/// Numbers that depend on the seed alone.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn part(&mut self) -> f64 {
        (self.next() >> 21) as f64 / (1_u64 << 32) as f64
    }

    fn weights(&mut self) -> [f64; 3] {
        let [a, b, c] = [0.05 + self.part(), 0.05 + self.part(), 0.05 + self.part()];
        [a, b, c].map(|w| w / (a + b + c))
    }
}

fn any<T>(dice: &mut Dice, of: impl Iterator<Item = T>) -> T {
    let mut all: Vec<T> = of.collect();
    let at = dice.below(all.len());
    all.swap_remove(at)
}

fn try_edit(dice: &mut Dice, edit: &mut Edit<'_>) -> Result<(), Refusal> {
    let sheet = edit.sheet();
    let node = any(dice, sheet.nodes());
    let edge = any(dice, sheet.edges());
    let triangle = any(dice, sheet.triangles());
    match dice.below(8) {
        0 => edit.split_edge(edge, dice.part()).map(|_| ()),
        1 => edit.subdivide(triangle, dice.weights()).map(|_| ()),
        2 => {
            let own = any(dice, sheet.triangles_around(node));
            edit.snap(node, own, dice.weights())
        }
        3 => {
            let [a, b] = sheet.ends(edge);
            edit.collapse(a, b).map(|_| ())
        }
        4 => edit.flip(edge).map(|_| ()),
        5 => edit.open(edge),
        6 => edit.remove(triangle),
        _ => {
            let spokes: Vec<_> = sheet.edges_around(node).map(|e| e.0).collect();
            let [one, other] = [0; 2].map(|_| spokes[dice.below(spokes.len())]);
            edit.split_node(node, [one, other])
        }
    }
}

/// A square of 5 cm, folded over itself at a distance of a millimetre, that breathes a little.
fn place(rest: DVec3, frame: u32) -> DVec3 {
    let breath = 1e-4 * f64::from(frame % 7);
    if rest.x <= 0.5 {
        DVec3::new(0.05 * rest.x, 0.05 * rest.y, breath)
    } else {
        DVec3::new(0.05 * (1.02 - rest.x), 0.05 * rest.y + 7e-4, 1e-3 - breath)
    }
}

fn fresh(sheet: &Sheet, positions: &[DVec3]) -> (Vec<u32>, Tree) {
    let numbers: Vec<u32> = sheet.triangles().map(|t| t.slot() as u32).collect();
    let triangles: Vec<[u32; 3]> = sheet
        .triangles()
        .map(|t| sheet.corners(t).map(|n| n.slot() as u32))
        .collect();
    (numbers, Tree::new(&triangles, positions).unwrap())
}

fn keys(folds: &[Fold]) -> Vec<trocar_collide::fold::Feature> {
    folds.iter().map(|f| f.feature).collect()
}

/// How many contacts there were, how many went on through an edit, and how many did so as parts of what they had been.
fn run(seed: u64, edits: u32) -> [usize; 3] {
    let mut dice = Dice(seed);
    let surface = SheetShape {
        origin: DVec3::ZERO,
        u: DVec3::X,
        v: DVec3::Y,
        rows: 8,
        columns: 8,
    }
    .surface()
    .unwrap();
    let mut sheet = Sheet::new(&surface).unwrap();
    sheet.set_least_quality(1e-2);
    let mut positions: Vec<DVec3> = surface.positions.iter().map(|p| place(*p, 0)).collect();
    let (_, mut tree) = fresh(&sheet, &positions);
    let triangles = sheet
        .triangles()
        .map(|t| sheet.corners(t).map(|n| n.slot() as u32));
    let mut patch = Patch::new(triangles.collect(), positions.len()).unwrap();
    let (mut folds, mut search, mut torn) = (Folds::default(), Search::default(), Torn::default());
    let mut event = Event::default();
    let mut tally = [0; 3];
    for frame in 0..edits {
        for node in sheet.nodes() {
            positions[node.slot()] = place(sheet.rest(node), frame);
        }
        tree.refit(&positions).unwrap();
        let moved = patch.follow(&positions);
        patch.gather(&[], &positions, moved);
        let surface = Side {
            tree: &tree,
            positions: &positions,
        };
        let before = folds.update(surface, 1.5e-3).to_vec();
        tally[0] += before.len();
        if sheet
            .edit(&mut event, |edit| try_edit(&mut dice, edit))
            .is_err()
        {
            continue;
        }
        event.carry(&sheet, &mut positions, DVec3::ZERO);
        torn.read(&event, &sheet);
        assert!(torn.changes().is_sorted_by(|a, b| a.triangle < b.triangle));
        torn.tree(&mut tree, &positions).unwrap();
        torn.patch(&mut patch, &positions).unwrap();
        let mut lost = Vec::new();
        follow_folds(&mut folds, (&event, &sheet), Share::WHOLE, |fold| {
            lost.push(fold.id)
        });

        // The tree is that of the sheet as it is now.
        assert_eq!(
            tree.len(),
            sheet.triangle_count(),
            "seed {seed}, edit {frame}"
        );
        for triangle in sheet.triangles() {
            let corners = sheet.corners(triangle).map(|n| n.slot() as u32);
            assert_eq!(tree.triangle(triangle.slot() as u32), Some(corners));
        }
        assert_eq!(patch.triangles().count(), sheet.triangle_count());
        let (numbers, anew) = fresh(&sheet, &positions);
        let (mine, new) = (
            Side {
                tree: &tree,
                positions: &positions,
            },
            Side {
                tree: &anew,
                positions: &positions,
            },
        );
        let mut expected: Vec<[u32; 2]> = (search.within(new).iter())
            .map(|pair| pair.map(|t| numbers[t as usize]))
            .map(|[a, b]| [a.min(b), a.max(b)])
            .collect();
        expected.sort_unstable();
        assert_eq!(search.within(mine), expected, "seed {seed}, edit {frame}");

        // So is the patch.
        let at = DVec3::new(0.05 * dice.part(), 0.05 * dice.part(), 5e-4);
        let probes = [Probe {
            hull: Hull::Capsule(Capsule {
                a: at + DVec3::Z * 0.02,
                b: at,
                radius: 1e-3,
            }),
            margin: 1e-3,
            ahead: None,
        }];
        let moved = patch.follow(&positions);
        let near = patch.gather(&probes, &positions, moved);
        let list = sheet
            .triangles()
            .map(|t| sheet.corners(t).map(|n| n.slot() as u32));
        let mut other = Patch::new(list.collect(), positions.len()).unwrap();
        assert_eq!(near, other.gather(&probes, &positions, f64::INFINITY));

        // Contacts go on: those that stay have their numbers, and the update finds what one without a past finds.
        let after = folds.update(mine, 1.5e-3).to_vec();
        let mut blank = Folds::default();
        let found = keys(blank.update(new, 1.5e-3));
        assert!(found.iter().all(|f| after.iter().any(|g| g.feature == *f)));
        for old in &before {
            if let Some(same) = after.iter().find(|f| f.id == old.id) {
                tally[1] += 1;
                tally[2] += usize::from(same.feature != old.feature);
                assert!(!lost.contains(&old.id));
            }
            let same = after.iter().find(|f| f.feature == old.feature);
            let gone = event.before.iter().any(|t| {
                old.spots
                    .iter()
                    .any(|s| s.triangle as usize == t.triangle.slot())
            });
            if let (Some(same), false) = (same, gone) {
                assert_eq!(same.id, old.id, "seed {seed}, edit {frame}: {old:?}");
            }
        }
    }
    tally
}

#[test]
fn whatever_the_sheet_goes_through() {
    let long = std::env::var_os("TROCAR_LONG").is_some();
    let (runs, edits) = if long { (500, 2000) } else { (6, 120) };
    let mut sum = [0; 3];
    for seed in 1..=runs {
        let tally = run(seed * 0x9e37_79b9, edits);
        (0..3).for_each(|k| sum[k] += tally[k]);
    }
    let [all, kept, as_parts] = sum;
    assert!(all > 5_000 && kept > 2_000 && as_parts > 10, "{sum:?}");
}

//! Huang's two tables (2016): triangle tests alone (4.1), and trees with triangle tests as an instrument is pushed into a liver (4.2),
//! here as a full factorial: he changed tree and test together.

use super::{
    baseline::{improved, moller, original},
    meshes::{lattice, tool},
};
use crate::{
    measure::{Effort, Summary, interleave, time},
    row::Row,
};
use anyhow::{Result, ensure};
use glam::DVec3;
use std::{cell::RefCell, hint::black_box};
use trocar_collide::{
    tree::{
        Search, Side, Tree,
        hybrid::{Hybrid, Rules, Tests, Tiers},
    },
    triangle::{
        contact,
        suite::{Kind, PAIRS},
        touch,
    },
};
use trocar_math::Alone;

type Test = fn(&[DVec3; 3], &[DVec3; 3]) -> bool;

const TESTS: [(&str, Test); 4] = [
    ("exact", touch),
    ("Möller", moller),
    ("original projection", original),
    ("improved projection", improved),
];

/// What Huang's improvement gained, and we want of the exact test.
const GAIN: f64 = 1.7;

/// Rows of both tables.
pub fn huang(effort: Effort) -> Result<Vec<Row>> {
    let mut rows = suite(effort)?;
    rows.extend(liver(effort)?);
    Ok(rows)
}

/// Table 4.1: the forty pairs again and again; and pairs as a tree leaves them over, few of which touch.
fn suite(effort: Effort) -> Result<Vec<Row>> {
    let forty: Vec<[[DVec3; 3]; 2]> = PAIRS.iter().map(|p| p.corners()).collect();
    // As they come from a scene: in no special placement, and in an order that can't be guessed.
    let mut random = Random(1);
    let mut near = |_| {
        let a = [0; 3].map(|_| random.point());
        let shift = random.point() * 0.7;
        [a, [0; 3].map(|_| random.point() + shift)]
    };
    let scene: Vec<[[DVec3; 3]; 2]> = (0..4096).map(&mut near).collect();
    let mut rows = Vec::new();
    for (name, test) in TESTS {
        let wrong = PAIRS.iter().filter(|p| {
            let [a, b] = p.corners();
            test(&a, &b) != (p.kind != Kind::None)
        });
        let wrong = wrong.count();
        ensure!(
            name != "exact" || wrong == 0,
            "the exact test decides {wrong} of forty pairs wrongly"
        );
        let case = "collide/huang, Table 4.1, forty singular pairs";
        let metric = format!("{name}: decided wrongly");
        rows.push(Row::single(case, &metric, wrong as f64, ""));
    }
    for (case, pairs) in [
        ("collide/huang, Table 4.1, forty singular pairs", &forty),
        ("collide/huang, Table 4.1, random pairs", &scene),
    ] {
        // Each test is compiled into a loop of its own, as it is into trees.
        let mut exact = || all(pairs, touch);
        let mut by_moller = || all(pairs, moller);
        let mut by_original = || all(pairs, original);
        let mut by_improved = || all(pairs, improved);
        let mut kinds = || all(pairs, |a, b| contact(a, b).exists());
        // A million pairs in ten rounds.
        let samples = interleave(
            "collide/huang",
            effort.repeats(30, 10),
            &mut [
                &mut exact,
                &mut by_moller,
                &mut by_original,
                &mut by_improved,
                &mut kinds,
            ],
        );
        let of = |k: usize| Summary::of(samples[k].iter().copied());
        for (k, (name, _)) in TESTS.iter().enumerate().skip(1) {
            let limit = match k {
                2 => of(k).median / GAIN,
                _ => of(k).median,
            };
            let row = Row::new(
                case,
                &format!("exact test of a pair, beside {name}"),
                of(0),
                "ns",
            )
            .against(name, of(k).median);
            // The improved test as printed is no aim: it does not decide exactly.
            rows.push(if k < 3 { row.at_most(limit) } else { row });
        }
        rows.push(
            Row::new(
                case,
                "exact test, with kind and places of the contact",
                of(4),
                "ns",
            )
            .against("exact, whether they touch", of(0).median),
        );
    }
    Ok(rows)
}

/// ns that a test takes of a pair: of about a hundred thousand, the same ones again and again.
fn all(pairs: &[[[DVec3; 3]; 2]], test: impl Fn(&[DVec3; 3], &[DVec3; 3]) -> bool) -> f64 {
    let repeats = 100_000 / pairs.len();
    let took = time(|| {
        for _ in 0..repeats {
            for [a, b] in black_box(pairs) {
                black_box(test(a, b));
            }
        }
    });
    took * 1e9 / (repeats * pairs.len()) as f64
}

/// Pairs that touch, as in the table.
const TABLE: [usize; 8] = [0, 32, 97, 279, 534, 733, 925, 1106];

/// Frames per second in the table with hybrid tree and improved test.
const PRINTED: [f64; 8] = [263.2, 260.3, 253.6, 217.9, 163.2, 129.4, 89.6, 53.2];

/// Table 4.2.
fn liver(effort: Effort) -> Result<Vec<Row>> {
    let (liver_triangles, liver) = lattice(9, DVec3::splat(0.1));
    let (tool_triangles, shape) = tool();
    let start = DVec3::new(0.1, 0.1, 0.1 + 0.06);
    let at = |depth: f64| -> Vec<DVec3> {
        shape
            .iter()
            .map(|p| *p + start - DVec3::new(0.0, 0.0013, 1.0) * depth)
            .collect()
    };
    let tree = Tree::new(&liver_triangles, &liver)?;
    let fast = RefCell::new((Tree::new(&tool_triangles, &at(0.0))?, Search::default()));
    // Down its path: where it has as many pairs as in the table, or the most there are.
    let mut counts = Vec::new();
    for k in 0..400 {
        let depth = f64::from(k) * 0.00025;
        let mut fast = fast.borrow_mut();
        let (tool, search) = &mut *fast;
        let positions = at(depth);
        tool.refit(&positions)?;
        let sides = [(&tree, &liver), (&*tool, &positions)];
        let [a, b] = sides.map(|(tree, positions)| Side { tree, positions });
        counts.push((search.between(a, b).len(), depth));
    }
    let rules = |tiers| Rules {
        tiers,
        ..Rules::default()
    };
    let mut rows = Vec::new();
    let trees = [
        ("spheres", Tiers::SPHERES, Tiers::SPHERES),
        ("boxes", Tiers::BOXES, Tiers::BOXES),
        ("hybrid", Tiers::LIVER, Tiers::TOOL),
    ];
    let mut built = Vec::new();
    for (name, of_liver, of_tool) in trees {
        let a = Hybrid::new(&liver_triangles, &liver, rules(of_liver))?;
        let b = Hybrid::new(&tool_triangles, &at(0.0), rules(of_tool))?;
        built.push((name, a, RefCell::new(b)));
    }
    for (wanted, printed) in TABLE.into_iter().zip(PRINTED) {
        let nearest = counts
            .iter()
            .min_by_key(|(count, _)| count.abs_diff(wanted));
        let Some((count, depth)) = nearest else {
            continue;
        };
        let positions = at(*depth);
        let case = format!("collide/huang, Table 4.2, {count} pairs ({wanted} printed)");
        rows.extend(push(
            &case,
            (&tree, &liver),
            &fast,
            &built,
            &positions,
            printed,
            effort,
        )?);
    }
    Ok(rows)
}

type Built = (&'static str, Hybrid, RefCell<Hybrid>);

/// One depth: the instrument's tree is refitted, and all pairs are found, by every tree with every test.
fn push(
    case: &str,
    (tree, liver): (&Tree, &Vec<DVec3>),
    fast: &RefCell<(Tree, Search)>,
    built: &[Built],
    positions: &[DVec3],
    printed: f64,
    effort: Effort,
) -> Result<Vec<Row>> {
    let depth = Depth {
        tree,
        liver,
        fast,
        positions,
        out: RefCell::new(Vec::new()),
    };
    let wanted = depth.ours(touch);
    let compared = fast.borrow().1.tests() as f64;
    let mut rows = vec![Row::single(case, "ours: triangles compared", compared, "")];
    for tree in built {
        let tests = depth.theirs(tree, touch);
        ensure!(
            *depth.out.borrow() == wanted,
            "{} finds other pairs",
            tree.0
        );
        for (what, count) in [("volumes", tests.volumes), ("triangles", tests.triangles)] {
            let metric = format!("{}: {what} compared", tree.0);
            rows.push(Row::single(case, &metric, count as f64, ""));
        }
    }
    let mut names = Vec::new();
    for (test, _) in TESTS {
        names.push(format!("ours, {test}"));
        names.extend(built.iter().map(|tree| format!("{}, {test}", tree.0)));
    }
    // In the order of the names. Each test is compiled into each tree.
    let mut jobs: Vec<Box<dyn FnMut() -> f64 + '_>> = Vec::new();
    depth.jobs(&mut jobs, built, touch);
    depth.jobs(&mut jobs, built, moller);
    depth.jobs(&mut jobs, built, original);
    depth.jobs(&mut jobs, built, improved);
    let mut list: Vec<&mut dyn FnMut() -> f64> = Vec::new();
    for job in &mut jobs {
        list.push(&mut **job);
    }
    let samples = interleave("collide/huang", effort.repeats(60, 7), &mut list);
    let of = |k: usize| Summary::of(samples[k].iter().map(|s| s * 1e6));
    // Where our tree leaves no triangles to compare, it does the same with every test: those are the same measurement four times.
    let others = (1..names.len()).filter(|k| compared > 0.0 || k % (built.len() + 1) != 0);
    let best = others.map(|k| of(k).median).fold(f64::INFINITY, f64::min);
    for (k, name) in names.iter().enumerate() {
        let row = Row::new(case, &format!("{name}: refit and all pairs"), of(k), "µs");
        rows.push(match k {
            0 => row
                .against("Huang's whole frame, i3-2100", 1e6 / printed)
                .at_most(best),
            _ => row.against("ours, exact", of(0).median),
        });
    }
    Ok(rows)
}

/// An instrument in a liver.
struct Depth<'a> {
    tree: &'a Tree,
    liver: &'a [DVec3],
    fast: &'a RefCell<(Tree, Search)>,
    positions: &'a [DVec3],
    out: RefCell<Vec<[u32; 2]>>,
}

impl Depth<'_> {
    fn ours(&self, test: impl Fn(&[DVec3; 3], &[DVec3; 3]) -> bool + Sync) -> Vec<[u32; 2]> {
        let mut fast = self.fast.borrow_mut();
        let (tool, search) = &mut *fast;
        let _ = tool.refit(self.positions);
        let a = Side {
            tree: self.tree,
            positions: self.liver,
        };
        let b = Side {
            tree: tool,
            positions: self.positions,
        };
        black_box(search.near_by(a, b, 0.0, test, &Alone)).to_vec()
    }

    fn theirs(
        &self,
        (_, of_liver, of_tool): &Built,
        test: impl Fn(&[DVec3; 3], &[DVec3; 3]) -> bool,
    ) -> Tests {
        let mut tool = of_tool.borrow_mut();
        let _ = tool.refit(self.positions);
        let mut out = self.out.borrow_mut();
        of_liver.pairs(self.liver, (&tool, self.positions), test, &mut out)
    }

    /// One test with every tree.
    fn jobs<'b>(
        &'b self,
        jobs: &mut Vec<Box<dyn FnMut() -> f64 + 'b>>,
        built: &'b [Built],
        test: impl Fn(&[DVec3; 3], &[DVec3; 3]) -> bool + Sync + Copy + 'b,
    ) {
        jobs.push(Box::new(move || time(|| drop(black_box(self.ours(test))))));
        for tree in built {
            jobs.push(Box::new(move || {
                time(|| {
                    black_box(self.theirs(tree, test));
                })
            }));
        }
    }
}

/// Numbers that are always the same.
pub(super) struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as f64 / (1_u64 << 30) as f64 - 1.0
    }

    pub fn point(&mut self) -> DVec3 {
        DVec3::new(self.next(), self.next(), self.next())
    }
}

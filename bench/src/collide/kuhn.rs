//! Kuhn's instrument test (1997) beside the swept one: how often a shaft that goes through a sheet is overlooked, and how often one is seen that is not there.
//!
//! Both are asked once a step, as in a simulation: Kuhn's three levels with plausibility on the nodes at the end of the step (K89–K102), the sweep on the triangles
//! along all of it. What happens is told by looking at the triangles at many times in between.
//!
//! Nodes are 2 mm apart. A needle of 0.5 mm is thinner than that, so that most of what it touches lies between nodes, where a test of nodes sees nothing: its figures tell what comes of
//! the spacing as much as what comes of the test. Every step stands for itself: the list of nodes that were touched in the step before, which his test goes on with (K93–K105), is empty.

use crate::{
    measure::{Effort, Summary, time},
    row::Row,
};
use anyhow::Result;
use glam::DVec3;
use trocar_collide::{
    Capsule, segment_triangle,
    sweep::{self, Moving},
    tool::{
        interaction::{Family, Instrument, Interactions, Kind, Rule, Rules},
        kuhn::Test,
    },
};

/// Nodes along a side of the sheet, and how far they are apart, m.
const NODES: u32 = 16;
const CELL: f64 = 2e-3;

/// How often is looked along a step for what happens in it.
const LOOKS: u32 = 400;

/// What comes as near as this to touching, or to not touching, is counted for nobody, m.
const DOUBT: f64 = 2e-5;

/// A flat sheet that faces up, with one father below.
struct Sheet {
    nodes: Vec<DVec3>,
    normals: Vec<DVec3>,
    fathers: Vec<u32>,
    centre: [DVec3; 1],
    triangles: Vec<[u32; 3]>,
}

impl Sheet {
    fn new() -> Self {
        let side = NODES + 1;
        let at = |i: u32| DVec3::new(f64::from(i % side), 0.0, f64::from(i / side)) * CELL;
        let nodes: Vec<DVec3> = (0..side * side).map(at).collect();
        let mut triangles = Vec::new();
        for (r, c) in (0..NODES).flat_map(|r| (0..NODES).map(move |c| (r, c))) {
            let a = r * side + c;
            triangles.push([a, a + side, a + 1]);
            triangles.push([a + 1, a + side, a + side + 1]);
        }
        let half = 0.5 * f64::from(NODES) * CELL;
        Self {
            normals: vec![DVec3::Y; nodes.len()],
            fathers: vec![0; nodes.len()],
            centre: [DVec3::new(half, -half, half)],
            nodes,
            triangles,
        }
    }

    fn corners(&self) -> impl Iterator<Item = [DVec3; 3]> {
        self.triangles
            .iter()
            .map(|t| t.map(|n| self.nodes[n as usize]))
    }

    /// How near the axis comes to the sheet, m.
    fn distance(&self, shaft: &Capsule) -> f64 {
        let squares = self
            .corners()
            .map(|t| segment_triangle(shaft.a, shaft.b, t).distance_squared);
        squares.fold(f64::INFINITY, f64::min).sqrt()
    }
}

/// What each test said of many steps.
#[derive(Default)]
struct Tally {
    /// Steps in which they touch, and in which they do not.
    touching: u32,
    clear: u32,
    /// Of these, what Kuhn's test and the sweep said wrongly.
    overlooked: [u32; 2],
    imagined: [u32; 2],
    /// Of one step each, µs.
    times: [Vec<f64>; 2],
}

/// Rows for a needle and a shaft, at the speed of a hand and faster.
pub fn kuhn(effort: Effort) -> Result<Vec<Row>> {
    let sheet = Sheet::new();
    let mut rows = Vec::new();
    for (name, radius) in [("a shaft of 5 mm", 2.5e-3), ("a needle of 0.5 mm", 2.5e-4)] {
        for way in [5e-4, 2e-3, 1e-2] {
            let tally = run(&sheet, radius, way, effort.repeats(1000, 200));
            rows.extend(tell(name, way, &tally));
        }
    }
    Ok(rows)
}

/// Straight steps of length `way` (m) from places above the sheet where nothing touches, mostly downwards.
fn run(sheet: &Sheet, radius: f64, way: f64, steps: usize) -> Tally {
    let mut random = super::huang::Random(7);
    let mut tally = Tally::default();
    let inward = Rule {
        flags: Test::Direction as u16,
        thresholds: [0.4; 6],
    };
    let rules = Rules {
        shaft: [inward; 2],
        ..Rules::default()
    };
    let half = 0.5 * f64::from(NODES) * CELL;
    for _ in 0..steps {
        let aside = random.point() * (0.5 * half);
        let height = radius + 0.5 * (1.0 + random.next()) * way;
        let tip = DVec3::new(half + aside.x, height, half + aside.z);
        // Somewhat inclined: its tip meets the sheet first.
        let lean = DVec3::new(0.3 * random.next(), 1.0, 0.3 * random.next()).normalize();
        let from = Capsule {
            a: tip + lean * 0.05,
            b: tip,
            radius,
        };
        let go = DVec3::new(0.5 * random.next(), -1.0, 0.5 * random.next()).normalize() * way;
        let at = |time: f64| Capsule {
            a: from.a + go * time,
            b: from.b + go * time,
            radius,
        };
        if sheet.distance(&from) <= radius + DOUBT {
            continue;
        }
        let looks = (1..=LOOKS).map(|k| sheet.distance(&at(f64::from(k) / f64::from(LOOKS))));
        let gap = looks.fold(f64::INFINITY, f64::min) - radius;
        if gap.abs() < DOUBT {
            continue;
        }
        let touching = gap < 0.0;
        let to = at(1.0);
        // Its jaws are far up the shaft, where they touch nothing.
        let away = Capsule { b: to.a, ..to };
        let instrument = Instrument {
            shaft: to,
            jaws: [away; 2],
            effects: [DVec3::Y, -DVec3::Y],
        };
        let family = Family {
            nodes: &sheet.nodes,
            normals: &sheet.normals,
            fathers: &sheet.fathers,
            centres: &sheet.centre,
            neighbours: &[],
            passes: &[],
        };
        let mut interactions = Interactions::new(sheet.nodes.len());
        let mut said = [false; 2];
        tally.times[0].push(
            1e6 * time(|| {
                let found = interactions.update(&instrument, &family, &rules, Kind::default());
                said[0] = !found.is_empty();
            }),
        );
        let axis = [from.a, from.b].map(|from| Moving { from, way: go });
        tally.times[1].push(
            1e6 * time(|| {
                said[1] = sheet.corners().any(|t| {
                    let still = t.map(Moving::still);
                    sweep::capsule_triangle(axis, still, radius, sweep::TOLERANCE).is_some()
                });
            }),
        );
        tally.touching += u32::from(touching);
        tally.clear += u32::from(!touching);
        for (k, said) in said.into_iter().enumerate() {
            tally.overlooked[k] += u32::from(touching && !said);
            tally.imagined[k] += u32::from(!touching && said);
        }
    }
    tally
}

fn tell(name: &str, way: f64, tally: &Tally) -> Vec<Row> {
    let case = format!("collide/kuhn, {name}, {} mm a step", way * 1e3);
    let part = |count: u32, of: u32| 100.0 * f64::from(count) / f64::from(of.max(1));
    let percent = |what: &str, counts: [u32; 2], of: u32| {
        Row::single(&case, what, part(counts[1], of), "%")
            .against("Kuhn 1997", part(counts[0], of))
            .at_most(0.0)
    };
    let [theirs, ours] = [0, 1].map(|k| Summary::of(tally.times[k].iter().copied()));
    vec![
        Row::single(&case, "steps that touch", f64::from(tally.touching), ""),
        Row::single(&case, "steps that do not", f64::from(tally.clear), ""),
        percent(
            "swept: of those that touch, overlooked",
            tally.overlooked,
            tally.touching,
        ),
        percent(
            "swept: of those that do not, imagined",
            tally.imagined,
            tally.clear,
        ),
        Row::new(&case, "swept: all triangles of a sheet of 512", ours, "µs")
            .against("Kuhn 1997, all nodes", theirs.median),
    ]
}

//! A needle dragged over a sheet of 342 to 100 000 triangles (Weber's figures 6.9 and 6.10).

use crate::measure::{Effort, Summary, interleave, time};
use crate::row::Row;
use anyhow::Result;
use glam::DVec3;
use std::hint::black_box;
use trocar_collide::{Ahead, Capsule, Hull, Patch, Probe, Way, segment_triangle};
use trocar_math::{Alone, real};

/// Edge of a cell, m.
const CELL: f64 = 3e-3;

/// How far tissue moves in a frame, m: 10 cm/s at 500 frames a second.
const MOTION: f64 = 2e-4;

/// How far nodes are from where they were at the start at most, m: they swing by a millimetre.
const SWING: f64 = 2e-3;

/// How far the needle goes until the next look, m: down into the sheet.
const AHEAD: DVec3 = DVec3::new(2e-4, -8e-4, 0.0);

/// What is nearer to it than this touches in any case then, m.
const WATCH: f64 = 2e-4;

/// How far a needle goes until the next look as scenes have it, and what touches in any case, m: four radii. Together its margin.
const STEP: DVec3 = DVec3::new(2e-4, 0.0, 0.0);
const WATCHED: f64 = 1e-3;

/// Substeps in a frame: near triangles are gathered once, and looked at in each of them, as in a scene.
const SUBSTEPS: u32 = 8;

/// Frames that are averaged, as the tree is not asked in every one.
const BLOCK: usize = 10;

/// Weber's slope: 0.6 µs for each triangle and substep.
const WEBER: f64 = 600.0;

/// A sheet that waves, of about so many triangles.
struct Sheet {
    patch: Patch,
    plain: Vec<DVec3>,
    positions: Vec<DVec3>,
    /// How far nodes go in a substep, m.
    ways: Vec<DVec3>,
    substep: u32,
    middle: DVec3,
    kind: Kind,
    /// Nodes that move.
    moving: Vec<u32>,
}

/// How a needle is dragged.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Its way is known, as in scenes, and all of the sheet moves.
    Usual,
    /// Likewise, but the sheet moves only where the needle may come: what moves everywhere else in a large one takes the place of the needle's own numbers, and of its code, in the
    /// caches.
    Calm,
    /// Nothing is known but where it is.
    Unknown,
}

/// How far from the middle a calm sheet moves, m.
const AROUND: f64 = 0.02;

impl Sheet {
    fn new(triangles: usize, kind: Kind) -> Result<Self> {
        let n = ((triangles as f64 / 2.0).sqrt().round() as u32).max(2);
        let at = |i: u32| DVec3::new(f64::from(i % (n + 1)), 0.0, f64::from(i / (n + 1))) * CELL;
        let positions: Vec<DVec3> = (0..(n + 1) * (n + 1)).map(at).collect();
        let mut list = Vec::new();
        for r in 0..n {
            for c in 0..n {
                let a = r * (n + 1) + c;
                list.push([a, a + n + 1, a + 1]);
                list.push([a + 1, a + n + 1, a + n + 2]);
            }
        }
        // A node, so that the needle meets the same triangles in the same places whatever the size.
        let middle = DVec3::new(1.0, 0.0, 1.0) * (f64::from(n / 2) * CELL);
        let moves = |i: &u32| kind != Kind::Calm || at(*i).distance(middle) < AROUND;
        Ok(Self {
            moving: (0..(n + 1) * (n + 1)).filter(moves).collect(),
            patch: Patch::new(list, positions.len())?,
            plain: positions.clone(),
            middle,
            ways: vec![DVec3::ZERO; positions.len()],
            positions,
            substep: 0,
            kind,
        })
    }

    /// A substep: moves nodes, by at most `MOTION` in a frame, and the needle on; not part of what is measured.
    fn advance(&mut self) -> Probe {
        self.substep += 1;
        let frame = f64::from(self.substep) / f64::from(SUBSTEPS);
        let phase = frame * 0.2;
        for i in self.moving.iter().map(|i| *i as usize) {
            let (p, q) = (&mut self.positions[i], &self.plain[i]);
            let before = p.y;
            p.y = 1e-3 * real::sin((q.x - self.middle.x) * 40.0 + phase);
            self.ways[i].y = p.y - before;
        }
        // To and fro over 2 cm, as a hand moves: 0.2 mm a frame.
        let aside = 0.01 * real::sin(frame * 0.02);
        let tip = self.middle + DVec3::new(aside, 0.5e-3, 0.3 * aside);
        Probe {
            hull: Hull::Capsule(Capsule {
                a: tip + DVec3::new(0.01, 0.02, 0.0),
                b: tip,
                radius: 2.5e-4,
            }),
            margin: STEP.x + WATCHED,
            ahead: (self.kind != Kind::Unknown).then_some(Ahead {
                way: Way::Axis([STEP; 2]),
                watch: WATCHED,
            }),
        }
    }
}

/// The benches of needles: whose way is known, as that of all instruments in scenes, and of which nothing is known but where they are.
pub fn needle(effort: Effort) -> Result<Vec<Row>> {
    // A narrow phase is hardly longer than it takes to read the clock twice.
    let reading = Summary::of((0..10_000).map(|_| time(|| ())));
    let mut rows = vec![Row::single(
        "collide/needle",
        "two readings of the clock, taken off below",
        reading.median * 1e9,
        "ns",
    )];
    for kind in [Kind::Usual, Kind::Calm, Kind::Unknown] {
        rows.extend(frames(effort, kind, reading.median)?);
    }
    rows.extend(plain(&mut Sheet::new(1000, Kind::Unknown)?, effort));
    Ok(rows)
}

/// Frames on sheets of all sizes; `reading` is how long it takes to read the clock twice, s.
fn frames(effort: Effort, kind: Kind, reading: f64) -> Result<Vec<Row>> {
    let time = |job: &mut dyn FnMut()| (time(job) - reading).max(0.0);
    let which = match kind {
        Kind::Usual => "",
        Kind::Calm => ", at rest elsewhere",
        Kind::Unknown => ", its way not known",
    };
    let mut rows = Vec::new();
    let sizes = [342, 1000, 10_000, 100_000];
    let mut sheets = sizes
        .iter()
        .map(|n| Sheet::new(*n, kind))
        .collect::<Result<Vec<_>>>()?;
    let mut out = Vec::new();
    // Warm: the tree is made, every cluster looked at once.
    for sheet in &mut sheets {
        let probe = sheet.advance();
        sheet.patch.gather(
            std::slice::from_ref(&probe),
            &sheet.positions,
            f64::INFINITY,
        );
    }
    let rounds = effort.repeats(4000, 600);
    let mut times = vec![[const { Vec::new() }; 7]; sizes.len()];
    let (mut near, mut follow) = (vec![0; sizes.len()], Vec::new());
    // A block of one size after the other: to go from one to the next with every frame would fill the caches of a small sheet with a large one.
    for turn in 0..rounds / BLOCK * sizes.len() {
        let (round, k) = (turn / sizes.len(), turn % sizes.len());
        let k = if round % 2 == 0 {
            k
        } else {
            sizes.len() - 1 - k
        };
        // In every other block of a size somebody asks in each substep whether what was gathered still holds, which looks at every node and takes the place of what the next substep needs in the caches.
        let asks = round % 4 >= 2;
        for _ in 0..BLOCK {
            let sheet = &mut sheets[k];
            let mut probe = sheet.advance();
            let probes = std::slice::from_ref(&probe);
            let (patch, positions) = (&mut sheet.patch, &sheet.positions);
            let way = |n: u32| sheet.ways[n as usize];
            let mut count = 0;
            patch.drifted(SWING);
            let search = time(&mut || count = patch.gather(probes, positions, MOTION));
            let mut narrow = time(&mut || patch.touches(probes, positions, &way, &mut out));
            black_box(&out);
            let first = narrow;
            let mut strayed = 0.0;
            for _ in 1..SUBSTEPS {
                probe = sheet.advance();
                let probes = std::slice::from_ref(&probe);
                let (patch, positions) = (&mut sheet.patch, &sheet.positions);
                let way = |n: u32| sheet.ways[n as usize];
                if asks {
                    strayed += time(&mut || {
                        black_box(patch.strayed(positions, &sheet.ways, &Alone));
                    });
                }
                narrow += time(&mut || patch.touches(probes, positions, &way, &mut out));
                black_box(&out);
            }
            near[k] += count;
            if !asks {
                times[k][4].push(search * 1e6);
                times[k][0].push((search + narrow) * 1e6);
                let each = 1e9 / (SUBSTEPS as usize * count.max(1)) as f64;
                times[k][1].push(narrow * each);
                times[k][5].push((search + first) * 1e6);
            }
            let (patch, positions) = (&mut sheet.patch, &sheet.positions);
            let asked = time(&mut || {
                black_box(patch.follow_by(positions, &sheet.ways, &Alone));
            });
            let column = if asks { 6 } else { 2 };
            times[k][column].push((search + narrow + asked + strayed) * 1e6);
            if k + 1 == sizes.len() {
                follow.push(asked * 1e6);
            }
            // The same where the last substep has left all, on a way down into the sheet: what it meets there is swept.
            let swept = Probe {
                ahead: Some(Ahead {
                    way: Way::Axis([AHEAD; 2]),
                    watch: WATCH,
                }),
                ..probe
            };
            let probes = std::slice::from_ref(&swept);
            patch.drifted(SWING);
            let took = time(&mut || {
                black_box(patch.gather(probes, positions, MOTION));
                patch.touches(probes, positions, &|_| DVec3::ZERO, &mut out);
            });
            black_box(&out);
            times[k][3].push(took * 1e6);
        }
    }
    let blocks = |list: &[f64]| {
        let mean = |block: &[f64]| block.iter().sum::<f64>() / block.len() as f64;
        Summary::of(list.chunks_exact(BLOCK).map(mean))
    };
    let frames: Vec<Summary> = times.iter().map(|t| blocks(&t[0])).collect();
    let firsts: Vec<Summary> = times.iter().map(|t| blocks(&t[5])).collect();
    for (k, n) in sizes.iter().enumerate() {
        let case = format!("collide/needle {n} triangles{which}");
        let mean = near[k] as f64 / rounds as f64;
        rows.push(Row::single(&case, "near triangles, mean", mean, ""));
        let looks = sheets[k].patch.looks() as f64 / rounds as f64;
        rows.push(Row::single(
            &case,
            "looks into the tree for each frame",
            looks,
            "",
        ));
        let search = blocks(&times[k][4]);
        rows.push(Row::new(&case, "search alone", search, "µs"));
        let metric = format!("a frame: search, and narrow phase of {SUBSTEPS} substeps");
        rows.push(Row::new(&case, &metric, frames[k], "µs"));
        let metric = "search and narrow phase of one substep";
        rows.push(Row::new(&case, metric, firsts[k], "µs"));
        for (column, what) in [
            (2, "a frame, and how far nodes moved"),
            (
                6,
                "a frame, and how far nodes moved until it and until each later substep",
            ),
            (3, "search and narrow phase of one substep, with sweeps"),
        ] {
            let spread = blocks(&times[k][column]);
            rows.push(Row::new(&case, what, spread, "µs"));
        }
        let narrow = Summary::of(times[k][1].iter().copied());
        rows.push(
            Row::new(
                &case,
                "narrow phase for each near triangle and substep",
                narrow,
                "ns",
            )
            .against("Weber 2009", WEBER)
            .at_most(60.0),
        );
    }
    let case = &format!("collide/needle 100000 triangles{which}");
    for (metric, all) in [
        ("frame over that at 1000", &frames),
        (
            "search and narrow phase of one substep over that at 1000",
            &firsts,
        ),
    ] {
        let ratio = all[3].median / all[1].median;
        rows.push(Row::single(case, metric, ratio, "").at_most(1.2));
    }
    // What a caller pays who does not know how far nodes moved; scenes do not. It looks at every node, and so grows with the surface: no aim, but to be seen beside those that have one.
    for (column, metric) in [
        (2, "frame, and how far nodes moved, over that at 1000"),
        (
            6,
            "frame, and how far nodes moved until it and until each later substep, over that at 1000",
        ),
    ] {
        let [small, large] = [1, 3].map(|k| blocks(&times[k][column]).median);
        rows.push(Row::single(case, metric, large / small, ""));
    }
    let follow = Summary::of(follow);
    rows.push(Row::new(
        case,
        "finding out how far nodes moved, if nobody knows",
        follow,
        "µs",
    ));
    Ok(rows)
}

/// All triangles in the narrow phase, as in the source.
fn plain(sheet: &mut Sheet, effort: Effort) -> Vec<Row> {
    let probe = sheet.advance();
    let Hull::Capsule(capsule) = probe.hull else {
        return Vec::new();
    };
    let triangles: Vec<[u32; 3]> = sheet.patch.triangles().collect();
    let positions = &sheet.positions;
    let mut every = || {
        let took = time(|| {
            for t in &triangles {
                let corners = t.map(|n| positions[n as usize]);
                black_box(segment_triangle(capsule.a, capsule.b, corners));
            }
        });
        took * 1e9 / triangles.len() as f64
    };
    let samples = interleave("needle", effort.repeats(500, 50), &mut [&mut every]);
    let summary = Summary::of(samples[0].iter().copied());
    let case = "collide/needle 1000 triangles";
    vec![
        Row::new(case, "nearest points of needle and triangle", summary, "ns")
            .against("Weber 2009", WEBER),
    ]
}

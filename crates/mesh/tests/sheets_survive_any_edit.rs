//! Random edits never break a sheet: its invariants hold (W42–W45, W112), what it covers stays (W80), a refused or rolled-back
//! transaction leaves every bit as it was, and what is kept along with the sheet follows.

// What helps a test may unwrap as a test may; clippy only knows the latter.
#![allow(clippy::unwrap_used)]

use glam::{DVec2, DVec3};
use trocar_mesh::Surface;
use trocar_mesh::primitive::SheetShape;
use trocar_mesh::sheet::{
    Edit, Event, Followed, Kind, NodeStep, Refusal, Sheet, SheetAnchor, TriangleId,
};

/// A sequence of numbers that depends on its seed alone (SplitMix64).
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// Between 0 and 1.
    fn part(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn weights(&mut self) -> [f64; 3] {
        let [a, b, c] = [0.02 + self.part(), 0.02 + self.part(), 0.02 + self.part()];
        [a, b, c].map(|w| w / (a + b + c))
    }
}

fn square(rows: usize) -> Surface {
    SheetShape {
        origin: DVec3::ZERO,
        u: DVec3::X,
        v: DVec3::Y,
        rows,
        columns: rows,
    }
    .surface()
    .unwrap()
}

/// A sheet whose texture and first attributes say where a node lies at rest: they must go on doing so.
fn marked(surface: &Surface) -> Sheet {
    let mut sheet = Sheet::new(surface).unwrap();
    let textures: Vec<_> = surface
        .positions
        .iter()
        .map(|p| DVec2::new(2.0 * p.x - 1.0, 3.0 * p.y))
        .collect();
    let attributes: Vec<_> = surface
        .positions
        .iter()
        .map(|p| [p.x + p.y, 4.0 - p.x, 0.0, 1.0])
        .collect();
    sheet.set_textures(&textures).unwrap();
    sheet.set_attributes(&attributes).unwrap();
    sheet
}

fn live<T: Copy>(dice: &mut Dice, of: impl Iterator<Item = T>) -> T {
    let all: Vec<_> = of.collect();
    all[dice.below(all.len())]
}

/// The kinds of edit that are tried.
const EDITS: usize = 9;

/// One random edit.
fn try_edit(dice: &mut Dice, edit: &mut Edit<'_>, kind: usize) -> Result<(), Refusal> {
    let sheet = edit.sheet();
    let node = live(dice, sheet.nodes());
    let edge = live(dice, sheet.edges());
    let triangle = live(dice, sheet.triangles());
    match kind {
        0 => edit.split_edge(edge, dice.part()).map(|_| ()),
        1 => edit.subdivide(triangle, dice.weights()).map(|_| ()),
        2 => {
            // Mostly into a triangle of its own, where it has a chance.
            let around: Vec<_> = sheet.triangles_around(node).collect();
            let own = around[dice.below(around.len())];
            let into = if dice.below(8) == 0 { triangle } else { own };
            edit.snap(node, into, dice.weights())
        }
        3 => {
            let (edge, _) = live(dice, sheet.edges_around(node));
            edit.move_along(node, edge, dice.part())
        }
        4 | 5 => {
            let [a, b] = sheet.ends(edge);
            let (gone, keep) = if dice.below(2) == 0 { (a, b) } else { (b, a) };
            edit.collapse(gone, keep)
        }
        6 => edit.flip(edge).map(|_| ()),
        7 => edit.open(edge),
        _ => {
            let spokes: Vec<_> = sheet.edges_around(node).map(|e| e.0).collect();
            let one = spokes[dice.below(spokes.len())];
            edit.split_node(node, [one, spokes[dice.below(spokes.len())]])
        }
    }
}

fn anchors(dice: &mut Dice, sheet: &Sheet, count: usize) -> Vec<(SheetAnchor, DVec3)> {
    (0..count)
        .map(|_| {
            let anchor = SheetAnchor {
                triangle: live(dice, sheet.triangles()),
                weights: dice.weights(),
            };
            (anchor, anchor.rest(sheet).unwrap())
        })
        .collect()
}

/// What came of a run.
#[derive(Default, Debug)]
struct Tally {
    done: [usize; EDITS],
    refused: [usize; EDITS],
}

/// Random edits on a sheet that is held near its first size; every invariant after every one.
fn run(seed: u64, edits: usize) -> Tally {
    let mut dice = Dice(seed);
    let first = marked(&square(6));
    let mut sheet = first.clone();
    sheet.set_least_quality(1e-4);
    let mut event = Event::default();
    let mut tally = Tally::default();
    let mut live_anchors = anchors(&mut dice, &sheet, 100);
    // Positions in space: a shear, so that they follow linearly from the rest positions.
    let space = |p: DVec3| DVec3::new(p.x, p.y + 0.5 * p.x, 2.0 * p.x - p.y);
    let mut positions: Vec<_> = sheet.nodes().map(|n| space(sheet.rest(n))).collect();

    for step in 0..edits {
        if sheet.triangle_count() > 250 || sheet.pieces() > 20 {
            // Torn and cut to shreds; begin again.
            sheet = first.clone();
            sheet.set_least_quality(1e-4);
            live_anchors = anchors(&mut dice, &sheet, 100);
            positions = sheet.nodes().map(|n| space(sheet.rest(n))).collect();
        }
        let kind = dice.below(EDITS);
        let kinds: Vec<_> = sheet.nodes().map(|n| (n, sheet.kind(n))).collect();
        let before = sheet.clone();
        // Some transactions are given up after their work is done.
        let give_up = dice.below(6) == 0;
        let result = sheet.edit(&mut event, |edit| {
            try_edit(&mut dice, edit, kind)?;
            if give_up {
                return Err(Refusal::OutOfRange);
            }
            Ok(())
        });
        if let Err(refusal) = result {
            assert!(
                !matches!(refusal, Refusal::Broken(_)),
                "seed {seed}, step {step}: {refusal}"
            );
            assert!(
                before == sheet,
                "seed {seed}, step {step}: kind {kind} was not taken back"
            );
            assert!(event.is_empty());
            tally.refused[kind] += 1;
            continue;
        }
        tally.done[kind] += 1;
        sheet
            .check()
            .unwrap_or_else(|fault| panic!("seed {seed}, step {step}, kind {kind}: {fault}"));
        assert!(
            (sheet.rest_area() - 1.0).abs() < 1e-9,
            "seed {seed}, step {step}, kind {kind}: area {}",
            sheet.rest_area()
        );
        assert_eq!(sheet.version(), before.version() + 1);

        // Only an opening makes or ends tips; all other edits leave every node what it was.
        if !(7..=8).contains(&kind) {
            for (node, was) in kinds {
                let now = sheet.kind(node);
                let took_over = kind == 4 || kind == 5;
                assert!(
                    now == was || now.is_none() || (took_over && was == Some(Kind::Inner)),
                    "seed {seed}, step {step}, kind {kind}: {node} was {was:?} and is {now:?}"
                );
            }
        }

        event.carry(&sheet, &mut positions, DVec3::ZERO);
        for node in sheet.nodes() {
            let rest = sheet.rest(node);
            let off = positions[node.slot()].distance(space(rest));
            assert!(
                off < 1e-9,
                "seed {seed}, step {step}: a node is off by {off}"
            );
            let texture = DVec2::new(2.0 * rest.x - 1.0, 3.0 * rest.y);
            assert!(sheet.texture(node).distance(texture) < 1e-9);
            let [sum, rest_of_four, _, one] = sheet.attributes(node);
            assert!((sum - rest.x - rest.y).abs() < 1e-9 && (one - 1.0).abs() < 1e-9);
            assert!((rest_of_four - 4.0 + rest.x).abs() < 1e-9);
        }
        for (anchor, rest) in &mut live_anchors {
            let followed = event.follow(&sheet, anchor);
            assert!(
                followed != Followed::Lost,
                "seed {seed}, step {step}, kind {kind}"
            );
            let now = anchor.rest(&sheet).unwrap();
            assert!(
                now.distance(*rest) < 1e-8,
                "seed {seed}, step {step}, kind {kind}: an anchor went from {rest} to {now}"
            );
        }
    }
    tally
}

#[test]
fn random_edits_break_nothing() {
    let long = std::env::var_os("TROCAR_LONG").is_some();
    let (runs, edits) = if long { (100, 10_000) } else { (10, 1_000) };
    let mut total = Tally::default();
    for seed in 0..runs {
        let tally = run(seed, edits);
        for k in 0..EDITS {
            total.done[k] += tally.done[k];
            total.refused[k] += tally.refused[k];
        }
    }
    println!("{total:?}");
    // Every kind of edit did happen, and often.
    let each = runs as usize * edits / EDITS;
    for (kind, done) in total.done.iter().enumerate() {
        assert!(
            *done > each / 50,
            "kind {kind} happened {done} times: {total:?}"
        );
    }
}

#[test]
fn a_mark_inside_a_transaction_can_be_gone_back_to() {
    let mut dice = Dice(7);
    let mut sheet = marked(&square(6));
    let mut event = Event::default();
    for _ in 0..300 {
        if sheet.triangle_count() > 250 {
            sheet = marked(&square(6));
        }
        let kind = dice.below(EDITS);
        let seed = dice.next();
        let mut once = sheet.clone();
        let mut twice = sheet.clone();
        let mut other = Event::default();
        let work = |edit: &mut Edit<'_>| {
            let _ = try_edit(&mut Dice(seed), edit, kind);
            Ok::<(), Refusal>(())
        };
        once.edit(&mut event, work).unwrap();
        twice
            .edit(&mut other, |edit| {
                work(edit)?;
                let mark = edit.mark();
                for k in 0..4 {
                    let _ = try_edit(&mut Dice(seed ^ k), edit, k as usize * 2);
                }
                edit.undo_to(mark);
                Ok::<(), Refusal>(())
            })
            .unwrap();
        assert!(once == twice);
        assert_eq!(event, other);
        sheet = once;
    }
}

#[test]
fn names_of_what_is_gone_are_refused() {
    let mut sheet = marked(&square(4));
    let mut event = Event::default();
    let inner = sheet.node_at(5);
    let triangle = sheet.triangles_around(inner).next().unwrap();
    let edge = sheet.sides(triangle)[0];
    let keep = sheet.fan(inner).next().unwrap().1;
    sheet.edit(&mut event, |e| e.collapse(inner, keep)).unwrap();
    assert!(event.steps.contains(&NodeStep::Removed(inner)));
    let before = sheet.clone();
    let refused: [Refusal; 2] = [
        sheet
            .edit(&mut event, |e| e.collapse(inner, inner))
            .unwrap_err(),
        sheet
            .edit(&mut event, |e| e.snap(inner, triangle, [0.2, 0.3, 0.5]))
            .unwrap_err(),
    ];
    assert_eq!(refused[0], Refusal::NoNode(inner));
    assert!(matches!(
        refused[1],
        Refusal::NoNode(_) | Refusal::NoTriangle(_)
    ));
    if !sheet.has_edge(edge) {
        assert_eq!(
            sheet.edit(&mut event, |e| e.flip(edge)),
            Err(Refusal::NoEdge(edge))
        );
    }
    assert!(before == sheet);
}

#[test]
fn nonsense_is_refused_with_a_reason() {
    let mut sheet = marked(&square(4));
    let mut event = Event::default();
    let before = sheet.clone();
    let inner = sheet.node_at(5);
    let corner = sheet.node_at(0);
    let triangle: TriangleId = sheet.triangles_around(inner).next().unwrap();
    let edge = sheet.edges_around(inner).next().unwrap().0;
    let rim = sheet.edge_between(corner, sheet.node_at(1)).unwrap();
    for part in [0.0, 1.0, -0.5, f64::NAN, f64::INFINITY] {
        let got = sheet.edit(&mut event, |e| e.split_edge(edge, part));
        assert_eq!(got, Err(Refusal::OutOfRange), "{part}");
    }
    for weights in [
        [0.5, 0.6, -0.1],
        [1.0, 1.0, 1.0],
        [f64::NAN, 0.5, 0.5],
        [1.0, 0.0, 0.0],
    ] {
        let got = sheet.edit(&mut event, |e| e.subdivide(triangle, weights));
        assert_eq!(got, Err(Refusal::OutOfRange), "{weights:?}");
    }
    assert_eq!(
        sheet.edit(&mut event, |e| e.open(rim)),
        Err(Refusal::OnRim(rim))
    );
    assert_eq!(
        sheet.edit(&mut event, |e| e.flip(rim).map(|_| ())),
        Err(Refusal::OnRim(rim))
    );
    let off = sheet.edit(&mut event, |e| e.snap(corner, triangle, [0.4, 0.3, 0.3]));
    assert_eq!(off, Err(Refusal::HoldsRim(corner)));
    // A corner of the outline can't be drawn along its rim: the sheet would lose area.
    let beside = sheet.node_at(1);
    let along = sheet.edit(&mut event, |e| e.collapse(corner, beside));
    assert_eq!(along, Err(Refusal::HoldsRim(corner)));
    assert!(before == sheet);
}

#[test]
fn taking_out_triangle_by_triangle_ends_with_nothing() {
    for seed in 0..20 {
        let mut dice = Dice(seed);
        let mut sheet = marked(&square(5));
        let mut event = Event::default();
        let mut kept = anchors(&mut dice, &sheet, 50);
        let mut left = sheet.rest_area();
        while sheet.triangle_count() > 0 {
            let out = live(&mut dice, sheet.triangles());
            let gone = trocar_mesh::sheet::area(sheet.rest_corners(out));
            sheet.edit(&mut event, |e| e.remove(out)).unwrap();
            sheet.check().unwrap();
            left -= gone;
            assert!((sheet.rest_area() - left).abs() < 1e-12);
            // Anchors on it are told; all others stay.
            kept.retain_mut(|(anchor, rest)| {
                let on_it = anchor.triangle == out;
                let followed = event.follow(&sheet, anchor);
                assert_eq!(followed == Followed::Lost, on_it);
                if !on_it {
                    assert!(anchor.rest(&sheet).unwrap().distance(*rest) < 1e-12);
                }
                !on_it
            });
        }
        assert!(kept.is_empty());
        assert_eq!((sheet.node_count(), sheet.edge_count()), (0, 0));
        assert_eq!(sheet.pieces(), 0);
    }
}

#[test]
fn a_closed_and_curved_surface_survives_them_too() {
    let long = std::env::var_os("TROCAR_LONG").is_some();
    let surface = trocar_mesh::primitive::TubeShape {
        path: vec![DVec3::ZERO, DVec3::new(0.2, 0.0, 0.5), DVec3::Z],
        radii: vec![[0.2, 0.2], [0.3, 0.25], [0.2, 0.2]],
        up: DVec3::Y,
        rings: 6,
        around: 8,
    }
    .organ()
    .unwrap()
    .surface;
    for seed in 0..if long { 50 } else { 5 } {
        let mut dice = Dice(1000 + seed);
        let mut sheet = Sheet::new(&surface).unwrap();
        assert!(sheet.nodes().all(|n| sheet.kind(n) == Some(Kind::Inner)));
        sheet.set_least_quality(1e-3);
        let mut event = Event::default();
        let mut kept = anchors(&mut dice, &sheet, 30);
        let mut done = 0;
        for step in 0..600 {
            let kind = dice.below(EDITS + 1);
            let before = sheet.clone();
            let removed = kind == EDITS && sheet.triangle_count() > 20;
            let result = sheet.edit(&mut event, |edit| {
                if removed {
                    let out = live(&mut dice, edit.sheet().triangles());
                    return edit.remove(out);
                }
                try_edit(&mut dice, edit, kind.min(EDITS - 1))
            });
            match result {
                Ok(()) => done += 1,
                Err(refusal) => {
                    assert!(
                        !matches!(refusal, Refusal::Broken(_)),
                        "{seed} {step}: {refusal}"
                    );
                    assert!(before == sheet);
                }
            }
            sheet
                .check()
                .unwrap_or_else(|fault| panic!("seed {seed}, step {step}, kind {kind}: {fault}"));
            // On a curved surface flips change the shape a little; an anchor stays on the sheet, near where it was.
            kept.retain_mut(|(anchor, _)| {
                let followed = event.follow(&sheet, anchor);
                assert!(followed != Followed::Lost || removed);
                assert!(followed == Followed::Lost || anchor.rest(&sheet).is_some());
                followed != Followed::Lost
            });
        }
        assert!(done > 100, "{done}");
    }
}

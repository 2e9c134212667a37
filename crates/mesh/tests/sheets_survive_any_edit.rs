//! Random edits never break a sheet: its invariants hold (W42–W45, W112), what it covers stays (W80), a refused or rolled-back
//! transaction leaves every bit as it was, and what is kept along with the sheet follows.

// What helps a test may unwrap as a test may; clippy only knows the latter.
#![allow(clippy::unwrap_used)]

use glam::{DVec2, DVec3};
use trocar_mesh::Surface;
use trocar_mesh::primitive::SheetShape;
use trocar_mesh::sheet::trial::{Choices, EDITS, attempt, trial};
use trocar_mesh::sheet::{
    Edit, Event, Followed, NodeStep, Refusal, Sheet, SheetAnchor, TriangleId,
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

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
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

/// One random edit.
fn try_edit(dice: &mut Dice, edit: &mut Edit<'_>, kind: usize) -> Result<(), Refusal> {
    let bytes = dice.bytes(40);
    attempt(&mut Choices::new(&bytes), edit, kind)
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

#[test]
fn random_edits_break_nothing() {
    // A million edits in the long run; each takes about 15 bytes.
    let long = std::env::var_os("TROCAR_LONG").is_some();
    let (runs, edits) = if long { (100, 10_000) } else { (12, 1_000) };
    let (mut done, mut refused) = ([0; EDITS], [0; EDITS]);
    for seed in 0..runs {
        let bytes = Dice(seed).bytes(15 * edits);
        let tally = trial(&bytes).unwrap_or_else(|what| panic!("seed {seed}: {what}"));
        for k in 0..EDITS {
            done[k] += tally.done[k];
            refused[k] += tally.refused[k];
        }
    }
    println!("done {done:?}, refused {refused:?}");
    let all = done.iter().chain(&refused).sum::<usize>();
    assert!(all >= runs as usize * edits, "{all}");
    // Every kind of edit did happen, and often.
    let each = runs as usize * edits / EDITS;
    for (kind, done) in done.iter().enumerate() {
        assert!(*done > each / 50, "kind {kind} happened {done} times");
    }
}

#[test]
fn what_the_long_run_found_does_not_come_back() {
    // On a curved sheet, torn so that others lie where a triangle is taken out: its anchors went to them.
    trial(&Dice(2).bytes(15 * 10_000)).unwrap();
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

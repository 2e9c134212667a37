//! Which of many things may touch before anybody looks again (W39, W57).
//!
//! Boxes are made larger by as far as each thing may move until the next look, so that the broad phase runs once for many substeps, or frames,
//! of the narrow one. Whoever leaves its larger box earlier, because it was faster than it said, is noticed, and pairs are found anew: at no
//! time is a pair missing that touches.

use crate::rigid::{Broad, Pair};
use trocar_math::Bounds;

/// Something that may touch others: a tissue, a tool, a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thing {
    /// Where it is, m.
    pub bounds: Bounds,
    /// How fast any point of it moves at most, m/s; 0 or more. What is no number, here as in the others, may be anything: such a thing is
    /// near to all.
    pub speed: f64,
    /// How near others may come to it before they count, m; 0 or more.
    pub margin: f64,
}

/// Pairs of things that may touch, kept for as long as they are right.
#[derive(Clone, Debug, Default)]
pub struct Near {
    broad: Broad,
    /// Where each thing may be until the next look.
    reach: Vec<Bounds>,
    pairs: Vec<Pair>,
    looks: u64,
    /// How often the last look was right afterwards.
    served: u64,
    /// For so many looks more no room is given.
    close: u32,
}

/// Where everything moves too fast for a look to last, room only costs: for so many looks none is given then, before it is tried again.
const CLOSE_LOOKS: u32 = 16;

impl Near {
    /// The pairs of `things`, in ascending order, that may come as near as their margins within `ahead` (s) of the last look and that `keep`
    /// wants. Looks again only if something is where it was not expected, or the number of things has changed.
    ///
    /// What `keep` says of a pair must not change between looks; [`forget`](Self::forget) if it does.
    pub fn update(
        &mut self,
        things: &[Thing],
        ahead: f64,
        keep: impl FnMut(u32, u32) -> bool,
    ) -> &[Pair] {
        if !self.holds(things) {
            self.look(things, ahead, keep);
        }
        &self.pairs
    }

    /// The pairs of `bounds` (m) that may overlap, in ascending order: those that do, see [`overlap`], and some that nearly do. It looks for them only when a
    /// box has left the room that it was given: `room` (m, 0 or more) on every side. A box of which a side is no number is without limits there, so that it
    /// is near to all. What `lasting` says of a pair must not change between looks.
    ///
    /// `left` is true if a box has left its room, see [`leaves`](Self::leaves): whoever makes boxes with many threads asks there.
    pub fn of_bounds(
        &mut self,
        bounds: &[Bounds],
        left: bool,
        room: impl Fn(usize) -> f64,
        lasting: impl FnMut(u32, u32) -> bool,
    ) -> &[Pair] {
        if self.reach.len() == bounds.len() && !left {
            self.served += 1;
        } else {
            if self.close > 0 {
                self.close -= 1;
            } else if self.served == 0 && !self.reach.is_empty() {
                self.close = CLOSE_LOOKS;
            }
            let close = self.close > 0;
            self.served = 0;
            self.looks += 1;
            self.reach.clear();
            let reach = |(k, one): (usize, &Bounds)| match close {
                true => one.certain(),
                false => one.grown(room(k)).certain(),
            };
            self.reach.extend(bounds.iter().enumerate().map(reach));
            self.broad.update(&self.reach, lasting, &mut self.pairs);
        }
        &self.pairs
    }

    /// True if the `k`-th box has left the room that [`of_bounds`](Self::of_bounds) gave it, or has none.
    #[inline]
    pub fn leaves(&self, k: usize, bounds: &Bounds) -> bool {
        let one = bounds.certain();
        let within =
            |reach: &Bounds| reach.low.cmple(one.low).all() && one.high.cmple(reach.high).all();
        !self.reach.get(k).is_some_and(within)
    }

    /// Makes room for so many things and pairs, so that no update asks for memory.
    pub fn reserve(&mut self, things: usize, pairs: usize) {
        self.broad.reserve(things, pairs);
        self.reach.reserve(things.saturating_sub(self.reach.len()));
        self.pairs.reserve(pairs.saturating_sub(self.pairs.len()));
    }

    /// Has the next update look again.
    pub fn forget(&mut self) {
        self.reach.clear();
    }

    /// How often it has looked.
    pub fn looks(&self) -> u64 {
        self.looks
    }

    /// True if every thing, with its margin, is within its larger box.
    fn holds(&self, things: &[Thing]) -> bool {
        let within = |(thing, reach): (&Thing, &Bounds)| {
            let now = thing.bounds.grown(thing.margin).certain();
            reach.low.cmple(now.low).all() && now.high.cmple(reach.high).all()
        };
        !self.reach.is_empty()
            && self.reach.len() == things.len()
            && things.iter().zip(&self.reach).all(within)
    }

    fn look(&mut self, things: &[Thing], ahead: f64, keep: impl FnMut(u32, u32) -> bool) {
        self.looks += 1;
        self.reach.clear();
        let reach = |t: &Thing| {
            // Not `max` alone, which would take what is no number for 0.
            let far = t.speed * ahead;
            let far = if far < 0.0 { 0.0 } else { far };
            t.bounds.grown(t.margin + far).certain()
        };
        self.reach.extend(things.iter().map(reach));
        self.broad.update(&self.reach, keep, &mut self.pairs);
    }
}

/// True if the two of a pair overlap; a box of which a side is no number is without limits there.
#[inline]
pub fn overlap(bounds: &[Bounds], pair: &Pair) -> bool {
    let [a, b] = [pair.a, pair.b].map(|k| bounds[k as usize].certain());
    a.overlaps(&b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;
    use proptest::prelude::*;

    fn thing(at: DVec3, size: f64, speed: f64) -> Thing {
        Thing {
            bounds: Bounds::of([at - size, at + size]),
            speed,
            margin: 0.002,
        }
    }

    fn brute(things: &[Thing]) -> Vec<Pair> {
        let mut pairs = Vec::new();
        let grown = |k: usize| things[k].bounds.grown(things[k].margin);
        for i in 0..things.len() {
            for j in i + 1..things.len() {
                if grown(i).overlaps(&grown(j)) {
                    pairs.push(Pair::new(i as u32, j as u32));
                }
            }
        }
        pairs
    }

    fn left(near: &Near, bounds: &[Bounds]) -> bool {
        (0..).zip(bounds).any(|(k, one)| near.leaves(k, one))
    }

    proptest! {
        #[test]
        fn no_pair_is_missing_even_if_things_are_faster_than_they_said(
            places in prop::collection::vec((prop::array::uniform3(-0.2_f64..0.2), 0.001_f64..0.05), 2..25),
            speed in 0.0_f64..0.2,
            hurry in 0.5_f64..3.0,
            seed: u64,
        ) {
            let mut state = seed | 1;
            let mut next = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) as f64 / (1_u64 << 30) as f64 - 1.0
            };
            let mut places: Vec<(DVec3, f64)> = places.into_iter().map(|(p, s)| (DVec3::from(p), s)).collect();
            let ways: Vec<DVec3> = places.iter().map(|_| DVec3::new(next(), next(), next()).normalize_or_zero()).collect();
            let mut near = Near::default();
            for _ in 0..30 {
                let things: Vec<Thing> = places.iter().map(|(p, s)| thing(*p, *s, speed)).collect();
                let found = near.update(&things, 0.05, |_, _| true);
                prop_assert!(found.is_sorted());
                for pair in brute(&things) {
                    prop_assert!(found.contains(&pair), "{:?}", pair);
                }
                for (place, way) in places.iter_mut().zip(&ways) {
                    place.0 += *way * speed * hurry * 0.01;
                }
            }
        }
    }

    /// Boxes that wander and jump, some of them lost for a while: the pairs are always those that a broad phase finds that looks every time.
    #[test]
    fn overlaps_are_those_of_a_look_every_time() {
        let mut state = 7_u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / (1_u64 << 30) as f64 - 1.0
        };
        let mut places: Vec<DVec3> = (0..60)
            .map(|_| DVec3::new(next(), next(), next()) * 0.1)
            .collect();
        let (mut near, mut broad) = (Near::default(), Broad::default());
        let (mut found, mut expected) = (Vec::<Pair>::new(), Vec::new());
        let mut total = 0;
        for frame in 0..400_u32 {
            let calm = frame % 100 < 50;
            for place in &mut places {
                *place += DVec3::new(next(), next(), next()) * if calm { 1e-5 } else { 2e-3 };
            }
            let lost = frame % 40 < 3;
            let bounds: Vec<Bounds> = places
                .iter()
                .enumerate()
                .map(|(k, p)| match k {
                    3 if lost => Bounds {
                        low: DVec3::NAN,
                        high: *p,
                    },
                    5 => Bounds {
                        low: DVec3::NEG_INFINITY,
                        high: *p,
                    },
                    _ => Bounds::of([*p - 0.02, *p + 0.02]),
                })
                .collect();
            let asleep = |k: u32| (k + frame / 9).is_multiple_of(4);
            let lasting = |a: u32, b: u32| !(a + b).is_multiple_of(5);
            let now = |a: u32, b: u32| !(asleep(a) && asleep(b));
            found.clear();
            let left = left(&near, &bounds);
            let wide = near.of_bounds(&bounds, left, |_| 1e-3, lasting).iter();
            found.extend(wide.filter(|p| overlap(&bounds, p) && now(p.a, p.b)));
            // What is no number may be anywhere.
            let bounds: Vec<Bounds> = bounds.iter().map(Bounds::certain).collect();
            broad.update(&bounds, |a, b| lasting(a, b) && now(a, b), &mut expected);
            assert_eq!(found, expected, "frame {frame}");
            total += found.len();
        }
        assert!(
            total > 1000 && near.looks() < 300,
            "{total} {}",
            near.looks()
        );
    }

    #[test]
    fn what_is_no_number_is_near_to_all() {
        let good = thing(DVec3::X, 0.01, 0.1);
        let lost = thing(DVec3::NAN, 0.01, 0.1);
        let broken = Thing {
            bounds: Bounds {
                low: DVec3::new(0.0, f64::NAN, 0.0),
                high: DVec3::ONE,
            },
            ..good
        };
        let slow = Thing {
            speed: f64::NAN,
            ..thing(DVec3::ZERO, 0.01, 0.0)
        };
        for bad in [lost, broken, slow] {
            let mut near = Near::default();
            let found = near.update(&[good, bad], 0.01, |_, _| true);
            assert_eq!(found, [Pair::new(0, 1)], "{bad:?}");
            // The same for boxes, whether there was a look before or not, and whatever room is given.
            let mut near = Near::default();
            let apart = thing(DVec3::splat(9.0), 0.01, 0.0).bounds;
            for (bounds, room, wanted) in [
                ([good.bounds, apart], 0.0, 0),
                ([good.bounds, bad.bounds.grown(bad.speed)], 0.0, 1),
                ([good.bounds, apart], f64::NAN, 0),
                ([good.bounds, bad.bounds.grown(bad.speed)], f64::NAN, 1),
            ] {
                let left = left(&near, &bounds);
                let wide = near.of_bounds(&bounds, left, |_| room, |_, _| true).iter();
                let found = wide.filter(|p| overlap(&bounds, p)).count();
                assert_eq!(found, wanted, "{bounds:?}");
            }
        }
    }

    #[test]
    fn it_looks_as_seldom_as_speeds_allow_and_not_at_all_at_rest() {
        let mut near = Near::default();
        let mut at = 0.0;
        for step in 0..100 {
            let things = [
                thing(DVec3::X * at, 0.01, 0.1),
                thing(DVec3::X * 0.2, 0.01, 0.0),
            ];
            let found = near.update(&things, 0.01, |_, _| true).len();
            // They touch when the first has come 0.176 m.
            assert!(found == 1 || at < 0.176, "step {step}");
            at += 0.1 * 0.001;
        }
        // Once in ten steps of 1 ms at the speed it told, and rounding.
        assert!((9..=12).contains(&near.looks()), "{}", near.looks());
        let rest = [thing(DVec3::ZERO, 0.01, 0.0); 3];
        near.forget();
        let before = near.looks();
        for _ in 0..100 {
            assert_eq!(
                near.update(&rest, 0.01, |a, b| a + b != 2),
                [Pair::new(0, 1), Pair::new(1, 2)]
            );
        }
        assert_eq!(near.looks(), before + 1);
        assert!(near.update(&[], 0.01, |_, _| true).is_empty());
    }
}

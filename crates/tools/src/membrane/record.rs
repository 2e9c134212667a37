//! What tools remember of a membrane, as plain data: for snapshots and hashes.

use super::forceps::Home;
use super::needle::{Held, Leap};
use super::{Forceps, Needle};
use glam::DVec3;
use serde::{Deserialize, Serialize};
use trocar_mesh::sheet::SheetAnchor;
use trocar_soft::membrane::Membrane;

/// Nothing is remembered farther from a tool than this, m.
const FARTHEST: f64 = 1.0;

/// No substep is longer than this, s.
const LONGEST: f64 = 1.0;

/// What a needle remembers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NeedleRecord {
    /// Length of its last substep, s.
    last: f64,
    /// Whether it has leapt over something.
    leap: Leap,
    /// Triangles, by place in ascending order, and what it remembers of each.
    held: Vec<(u32, Held)>,
}

/// A point that forceps hold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Point {
    triangle: u32,
    weights: [f64; 3],
    place: DVec3,
    share: f64,
}

/// What forceps hold, and whether they are amid the sheet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ForcepsRecord {
    held: Vec<Point>,
    amid: bool,
}

impl Needle {
    /// What it remembers between two frames.
    pub fn record(&self) -> NeedleRecord {
        NeedleRecord {
            last: self.last,
            leap: self.leap,
            held: self.remembered().collect(),
        }
    }

    /// Triangles of which it remembers something. Of the others nothing is read again.
    fn remembered(&self) -> impl Iterator<Item = (u32, Held)> + '_ {
        let candidates = self.near.candidates.iter();
        let held = candidates.map(|c| (c.triangle.slot() as u32, c.held));
        held.filter(|(_, held)| *held != Held::default())
    }

    /// Shows every number of it that the next frame reads.
    pub fn see(&self, mut see: impl FnMut(u64)) {
        see(self.last.to_bits());
        see(self.leap as u64);
        for (triangle, held) in self.remembered() {
            see(u64::from(triangle));
            let known = [held.stuck.is_some(), held.side.is_some(), held.slides];
            known.into_iter().for_each(|is| see(u64::from(is)));
            if let Some((weights, place)) = held.stuck {
                see_all(&mut see, &[&weights, &place.to_array()]);
            }
            if let Some(side) = held.side {
                see_all(
                    &mut see,
                    &[&side.weights, &side.out.to_array(), &[side.along]],
                );
                see(u64::from(side.passed));
            }
        }
    }

    /// Whether a record fits a membrane, wherever it came from.
    pub fn can_resume(membrane: &Membrane, record: &NeedleRecord) -> bool {
        let sound = |(triangle, held): &(u32, Held)| {
            let stuck = held
                .stuck
                .is_none_or(|(weights, place)| are_weights(weights) && place.length() <= FARTHEST);
            let side = held.side.is_none_or(|side| {
                are_weights(side.weights)
                    && (side.out.length() - 1.0).abs() < 1e-6
                    && (0.0..=1.0).contains(&side.along)
            });
            is_triangle(membrane, *triangle) && stuck && side
        };
        (0.0..=LONGEST).contains(&record.last)
            && record.held.is_sorted_by(|a, b| a.0 < b.0)
            && record.held.iter().all(sound)
    }

    /// Takes up what it remembered; only what [fits](Self::can_resume).
    pub fn resume(&mut self, membrane: &Membrane, record: &NeedleRecord) {
        self.forget();
        self.last = record.last;
        self.leap = record.leap;
        self.near.resume(membrane, &record.held);
    }
}

impl Forceps {
    /// What they hold.
    pub fn record(&self) -> ForcepsRecord {
        let held = self.homes.iter().map(|home| Point {
            triangle: home.anchor.triangle.slot() as u32,
            weights: home.anchor.weights,
            place: home.place,
            share: home.share,
        });
        ForcepsRecord {
            held: held.collect(),
            amid: self.amid,
        }
    }

    /// Shows every number of it that the next frame reads.
    pub fn see(&self, mut see: impl FnMut(u64)) {
        see(u64::from(self.amid));
        for home in &self.homes {
            see(home.anchor.triangle.slot() as u64);
            let place = home.place.to_array();
            see_all(&mut see, &[&home.anchor.weights, &place, &[home.share]]);
        }
    }

    /// Whether a record fits a membrane, wherever it came from.
    pub fn can_resume(membrane: &Membrane, record: &ForcepsRecord) -> bool {
        let holds_nothing = record.held.is_empty();
        (record.amid || holds_nothing)
            && record.held.iter().all(|held| {
                is_triangle(membrane, held.triangle)
                    && are_weights(held.weights)
                    && held.place.length() <= FARTHEST
                    && held.share > 0.0
                    && held.share <= 1.0
            })
    }

    /// Takes up what they held; only what [fits](Self::can_resume).
    pub fn resume(&mut self, membrane: &Membrane, record: &ForcepsRecord) {
        self.open();
        self.amid = record.amid;
        let sheet = membrane.sheet();
        self.homes.extend(record.held.iter().map(|held| Home {
            anchor: SheetAnchor {
                triangle: sheet.triangle_at(held.triangle as usize),
                weights: held.weights,
            },
            place: held.place,
            share: held.share,
        }));
    }
}

fn see_all(see: &mut impl FnMut(u64), lists: &[&[f64]]) {
    let numbers = lists.iter().flat_map(|list| list.iter());
    numbers.for_each(|x| see(x.to_bits()));
}

fn is_triangle(membrane: &Membrane, slot: u32) -> bool {
    let (sheet, slot) = (membrane.sheet(), slot as usize);
    slot < sheet.triangle_slots() && sheet.has_triangle(sheet.triangle_at(slot))
}

fn are_weights(weights: [f64; 3]) -> bool {
    // Also false for what is no number.
    weights.iter().all(|w| (-1e-9..=1.0 + 1e-9).contains(w))
        && (weights.iter().sum::<f64>() - 1.0).abs() < 1e-6
}

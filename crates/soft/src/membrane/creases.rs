//! Hinges as the force loop reads them: four at a time.
//!
//! As with [springs](super::weave), four hinges whose nodes are neighbours in number at each of their corners are a strip, and strips one after the other a row. What is left, or bent at rest, is *loose* and
//! worked out by itself. Seats belong to places in the list for good; what a tear puts to a place is worked out there if it has the same nodes, and else among the [strays](super::division).
//!
//! A [span](super::spans) adds to the forces of its own nodes only: a hinge over several spans is worked out in each.

use super::Hinge;
use super::forces::hinge_forces;
use super::spans::Spans;
use super::weave::{FEWEST, Parts, ROW, TILE, fours, fours_mut, take, times};
use glam::DVec3;
use std::ops::Range;
use trocar_math::{
    f64x4,
    four::{LANES, flat, spread},
};

/// No seat.
const NONE: u32 = u32::MAX;

/// Marks seats of loose hinges.
const LOOSE: u32 = 1 << 31;

/// Strips one after the other.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// The first node at each corner.
    nodes: [u32; 4],
    /// Which corners are the span's own.
    own: [bool; 4],
    /// The first of its strips.
    begin: u32,
    count: u32,
}

/// By how much each node of four hinges bends them, times the roots of their constants, √N: corner by corner. Zeros where there is none.
type Strip = [[f64; LANES]; 4];

/// A hinge that is worked out by itself.
#[derive(Clone, Copy, Debug)]
struct Loose {
    place: u32,
    is_there: bool,
}

/// Rows and loose hinges of a span.
#[derive(Clone, Debug)]
struct Run {
    rows: Range<usize>,
    loose: Range<usize>,
}

/// Where the hinge of a place is worked out.
#[derive(Clone, Copy, Debug)]
struct Seats {
    /// The nodes that it had when the membrane was built, as [`arranged`].
    nodes: [u32; 4],
    /// Lanes of strips, or loose ones: in each span that it has nodes in.
    seats: [u32; 4],
}

/// A hinge as a span sees it.
#[derive(Clone, Copy)]
struct Seen {
    place: usize,
    nodes: [u32; 4],
    own: [bool; 4],
}

impl Seen {
    /// How far the other corners are from the first, in number.
    fn shape(&self) -> [i64; 3] {
        [1, 2, 3].map(|k| i64::from(self.nodes[k]) - i64::from(self.nodes[0]))
    }
}

/// Nodes and slopes of a hinge in an order that does not depend on how its edge was drawn. For a flat one any order will do: it is bent by Σ c x.
fn arranged(hinge: &Hinge) -> ([u32; 4], [f64; 4]) {
    let (mut nodes, mut slopes) = (hinge.nodes, hinge.slopes);
    for (k, l) in [(0, 1), (2, 3)] {
        if nodes[k] > nodes[l] {
            nodes.swap(k, l);
            slopes.swap(k, l);
        }
    }
    (nodes, slopes)
}

/// Strips and loose ones of a list of hinges; see the [module](self).
#[derive(Clone, Debug, Default)]
pub(super) struct Creases {
    rows: Vec<Row>,
    strips: Vec<Strip>,
    loose: Vec<Loose>,
    /// By span.
    runs: Vec<Run>,
    /// By place.
    seats: Vec<Seats>,
}

impl Creases {
    /// Seats for these hinges, by place. Nobody sits there yet.
    pub(super) fn new(spans: &Spans, hinges: &[Hinge]) -> Self {
        if hinges.iter().all(|h| h.stiffness == 0.0) {
            return Self::default();
        }
        let mut flat = vec![Vec::new(); spans.ends().len()];
        let mut curved = flat.clone();
        let mut creases = Self::default();
        for (place, hinge) in hinges.iter().enumerate() {
            let (nodes, _) = arranged(hinge);
            creases.seats.push(Seats {
                nodes,
                seats: [NONE; 4],
            });
            if hinge.stiffness == 0.0 {
                continue;
            }
            let of = nodes.map(|n| spans.of(n));
            for (k, span) in of.into_iter().enumerate() {
                // In each span once.
                if !of[..k].contains(&span) {
                    let own = of.map(|other| other == span);
                    let list = if hinge.is_flat() {
                        &mut flat
                    } else {
                        &mut curved
                    };
                    list[span].push(Seen { place, nodes, own });
                }
            }
        }
        let last = spans.ends().last().copied().unwrap_or(0);
        for (span, (flat, curved)) in flat.into_iter().zip(curved).enumerate() {
            let ends = [spans.nodes(span).end, last];
            let run = creases.add_run(flat, curved, ends);
            creases.runs.push(run);
        }
        creases
    }

    /// Makes rows of flat hinges; all others are loose. `ends` are where the nodes of the span end, and all.
    fn add_run(
        &mut self,
        mut seen: Vec<Seen>,
        mut loose: Vec<Seen>,
        [own_end, end]: [usize; 2],
    ) -> Run {
        let begin = (self.rows.len(), self.loose.len());
        seen.sort_by_key(|s| (s.own, s.shape(), s.nodes[0]));
        let mut strips: Vec<Vec<Seen>> = Vec::new();
        for row in seen.chunk_by(|a, b| (a.own, a.shape()) == (b.own, b.shape())) {
            let mut row = row;
            while let Some(first) = row.first().copied() {
                let count = row.partition_point(|s| s.nodes[0] < first.nodes[0] + LANES as u32);
                let (some, others) = row.split_at(count);
                let fits = first.nodes.into_iter().zip(first.own).all(|(n, own)| {
                    let end = if own { own_end } else { end };
                    n as usize + LANES <= end
                });
                if count >= FEWEST && fits {
                    strips.push(some.to_vec());
                    row = others;
                } else {
                    loose.push(first);
                    row = &row[1..];
                }
            }
        }
        strips.sort_by_key(|s| (s[0].nodes[0] / TILE, s[0].own, s[0].shape(), s[0].nodes[0]));
        for some in strips {
            let Seen { nodes, own, .. } = some[0];
            for s in some {
                let lane = (s.nodes[0] - nodes[0]) as usize;
                self.take(s.place, (LANES * self.strips.len() + lane) as u32);
            }
            match self.rows[begin.0..].last_mut() {
                Some(row) if row.goes_on(nodes, own) => row.count += 1,
                _ => self.rows.push(Row {
                    nodes,
                    own,
                    begin: self.strips.len() as u32,
                    count: 1,
                }),
            }
            self.strips.push([[0.0; LANES]; 4]);
        }
        loose.sort_by_key(|s| s.place);
        for s in loose {
            self.take(s.place, self.loose.len() as u32 | LOOSE);
            self.loose.push(Loose {
                place: s.place as u32,
                is_there: false,
            });
        }
        Run {
            rows: begin.0..self.rows.len(),
            loose: begin.1..self.loose.len(),
        }
    }

    fn take(&mut self, place: usize, seat: u32) {
        let seats = &mut self.seats[place].seats;
        if let Some(free) = seats.iter_mut().find(|seat| **seat == NONE) {
            *free = seat;
        }
    }

    /// Puts a hinge to a place; false if its seat is elsewhere, and somebody else has to work it out.
    pub(super) fn set(&mut self, place: usize, hinge: &Hinge) -> bool {
        let is_there = hinge.stiffness > 0.0;
        let Some(at) = self.seats.get(place).copied() else {
            return !is_there;
        };
        let (nodes, slopes) = arranged(hinge);
        let seats = || at.seats.into_iter().filter(|seat| *seat != NONE);
        let borne = |seat: u32| hinge.is_flat() || seat & LOOSE != 0;
        let fits = is_there && nodes == at.nodes && seats().next().is_some() && seats().all(borne);
        let root = hinge.stiffness.sqrt();
        for seat in seats() {
            if seat & LOOSE != 0 {
                self.loose[(seat & !LOOSE) as usize].is_there = fits;
                continue;
            }
            let strip = &mut self.strips[seat as usize / LANES];
            for (corner, slope) in strip.iter_mut().zip(slopes) {
                corner[seat as usize % LANES] = if fits { slope * root } else { 0.0 };
            }
        }
        fits == is_there
    }

    /// Adds the forces of the hinges of a span to those of its nodes, the first of which is `first`.
    pub(super) fn unbend(
        &self,
        span: usize,
        first: usize,
        position: &[DVec3],
        hinges: &[Hinge],
        force: &mut [DVec3],
    ) {
        let Some(run) = self.runs.get(span) else {
            return;
        };
        let mut bent = [[f64x4::ZERO; 3]; ROW];
        for row in &self.rows[run.rows.clone()] {
            let (begin, count) = (row.begin as usize, row.count as usize);
            let strips = &self.strips[begin..begin + count];
            let [a, b, c, d] = row.nodes;
            let ends = fours(position, a, count)
                .iter()
                .zip(fours(position, b, count));
            let apexes = fours(position, c, count)
                .iter()
                .zip(fours(position, d, count));
            let corners = ends.zip(apexes).zip(strips);
            for ((((a, b), (c, d)), strip), bent) in corners.zip(&mut bent) {
                let [i, j, k, l] = strip;
                *bent = sum(sum(part(a, i), part(b, j)), sum(part(c, k), part(d, l)));
            }
            // One corner after the other: those of one strip overlap with those of the next, and to read across what two stores have just written takes long.
            for corner in (0..4).filter(|k| row.own[*k]) {
                let node = row.nodes[corner] - first as u32;
                let slots = fours_mut(force, node, count).iter_mut();
                for ((slot, strip), bent) in slots.zip(strips).zip(&bent) {
                    take(slot, times(*bent, spread(f64x4::new(strip[corner]))));
                }
            }
        }
        let there = self.loose[run.loose.clone()].iter().filter(|l| l.is_there);
        for hinge in there.map(|l| &hinges[l.place as usize]) {
            for (n, f) in hinge.nodes.into_iter().zip(hinge_forces(hinge, position)) {
                if let Some(own) = force.get_mut((n as usize).wrapping_sub(first)) {
                    *own += f;
                }
            }
        }
    }
}

impl Row {
    /// Whether a strip that begins at these nodes comes after its last.
    fn goes_on(&self, nodes: [u32; 4], own: [bool; 4]) -> bool {
        let far = LANES as u32 * self.count;
        nodes == self.nodes.map(|n| n + far) && own == self.own && self.count < ROW as u32
    }
}

/// What the nodes at a corner give to the bend of four hinges: c x.
#[inline(always)]
fn part(nodes: &[DVec3; LANES], slopes: &[f64; LANES]) -> Parts {
    times(flat(nodes), spread(f64x4::new(*slopes)))
}

#[inline(always)]
fn sum([a, b, c]: Parts, [d, e, f]: Parts) -> Parts {
    [a + d, b + e, c + f]
}

#[cfg(test)]
mod tests {
    use super::super::{Bending, Material, Membrane, MembraneParts};
    use super::*;
    use trocar_mesh::primitive::HexagonalShape;
    use trocar_mesh::sheet::Sheet;

    #[test]
    fn rows_unbend_as_hinges_do_whether_they_are_there_or_not() {
        let shape = HexagonalShape {
            rows: 61,
            columns: 60,
            edge: 0.5e-3,
        };
        let sheet = Sheet::new(&shape.surface().unwrap()).unwrap();
        let material = Material::Springs {
            stiffness: 6500.0,
            mass: 0.01,
        };
        let mut parts = MembraneParts::new(sheet, material);
        parts.bending = Bending::Hinges { rigidity: 1e-5 };
        let membrane = Membrane::new(parts).unwrap();
        let (spans, mut hinges) = (&membrane.spans, membrane.hinges.clone());
        assert!(spans.ends().len() > 1);
        let mut creases = membrane.creases.clone();
        let seated = creases.strips.len() * LANES;
        assert!(creases.loose.len() * 10 < seated, "{seated} in strips");
        let mut positions = membrane.rest().position;
        for (n, p) in positions.iter_mut().enumerate() {
            let n = n as f64;
            *p += DVec3::new((n * 0.37) % 1.0, (n * 0.61) % 1.0, (n * 0.83) % 1.0) * 1e-4;
        }
        let check = |creases: &Creases, hinges: &[Hinge], without: &[usize]| {
            let mut forces = vec![DVec3::ZERO; positions.len()];
            let mut expected = forces.clone();
            for span in 0..spans.ends().len() {
                let own = spans.nodes(span);
                let first = own.start;
                creases.unbend(span, first, &positions, hinges, &mut forces[own]);
            }
            for (place, h) in hinges.iter().enumerate() {
                if h.stiffness > 0.0 && !without.contains(&place) {
                    for (n, f) in h.nodes.into_iter().zip(hinge_forces(h, &positions)) {
                        expected[n as usize] += f;
                    }
                }
            }
            let most = expected.iter().map(|f| f.length()).fold(0.0, f64::max);
            for (f, e) in forces.iter().zip(&expected) {
                assert!((*f - *e).length() < 1e-12 * most, "{f} {e}");
            }
        };
        check(&creases, &hinges, &[]);
        // Gone, elsewhere, or bent at rest: a strip gives it back.
        for place in (0..hinges.len()).step_by(97) {
            let whole = hinges[place];
            if whole.stiffness == 0.0 {
                continue;
            }
            hinges[place] = Hinge::default();
            assert!(creases.set(place, &hinges[place]));
            if place % 5 == 0 {
                check(&creases, &hinges, &[]);
            }
            hinges[place] = whole;
            hinges[place].nodes.swap(0, 2);
            assert!(!creases.set(place, &hinges[place]));
            if place % 5 == 0 {
                check(&creases, &hinges, &[place]);
            }
            // A strip knows flat ones only.
            hinges[place] = whole;
            hinges[place].slopes = [0.0; 4];
            hinges[place].rest_bend = 0.1;
            let seats = creases.seats[place].seats.into_iter();
            let loose = seats.filter(|s| *s != NONE).all(|s| s & LOOSE != 0);
            assert_eq!(creases.set(place, &hinges[place]), loose);
            if place % 5 == 0 {
                let without = if loose { vec![] } else { vec![place] };
                check(&creases, &hinges, &without);
            }
            // Drawn the other way it is the same.
            hinges[place] = whole;
            hinges[place].nodes.swap(0, 1);
            hinges[place].slopes.swap(0, 1);
            assert!(creases.set(place, &hinges[place]));
        }
        check(&creases, &hinges, &[]);
    }
}

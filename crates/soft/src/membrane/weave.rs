//! Springs as the force loop reads them: four at a time.
//!
//! Four that join neighbours in number to neighbours in number are a *strip*: what they read and write lies side by side, nothing has to be gathered. Sheets are numbered along
//! their rows, and made of little else; a strip at the end of a row may lack a spring. What is left makes *stars*: up to four that have a node in common, their *hub*. Which springs go together is
//! found when the membrane is built; a seat then belongs to the place of a spring in its list, for good. What a tear puts to that place is worked out there if it
//! joins the same nodes, or in a star if it ends at the same hub, and is as stiff as all the others; else among the [strays](super::division). So who is added to whom first depends on how the
//! membrane was built and what became of it, and on nothing else.
//!
//! A spring between two [spans](super::spans) has a seat in each, where only the force on the span's own node is wanted.

use super::spans::Spans;
use glam::DVec3;
use std::ops::Range;
use trocar_math::{
    Four, f64x4,
    four::{LANES, flat, spread, unflat},
};

/// Squares of lengths below this, m², are none: so that nothing is divided by zero.
const SHORTEST: f64 = 1e-200;

/// No seat.
const NONE: u32 = u32::MAX;

/// A strip has so many springs at least: fewer are better off in a star.
pub(super) const FEWEST: usize = 3;

/// Rows that begin at so many neighbouring nodes are worked on one length after the other before the next nodes are: so many that nobody waits for a sum that was just
/// written, so few that all of it stays in the first-level cache.
pub(super) const TILE: u32 = 128;

/// Strips that a row has at most: enough to keep a processor busy, few enough for the first-level cache.
pub(super) const ROW: usize = 32;

/// Nobody waits for what was written so many strips ago.
const LONG: u32 = 8;

/// Strips one after the other: from neighbours in number to neighbours in number. Nodes are counted from the first of the span, others as [`Run`] says.
#[derive(Clone, Copy, Debug)]
struct Row {
    node: u32,
    other: u32,
    /// The first of its strips.
    begin: u32,
    count: u32,
}

/// Length at rest, m, of a spring that is not there.
const MISSING: f64 = f64::INFINITY;

/// Up to four springs at a hub: 64 bytes, as memory is read. Nodes are counted from the first of the span, others as [`Run`] says.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Star {
    rest_length: [f64; LANES],
    /// The other ends; the hub itself where there is no spring.
    others: [u32; LANES],
    hub: u32,
}

/// Rows and stars of a span, by place.
#[derive(Clone, Debug, Default)]
struct Run {
    rows: Range<usize>,
    stars: Range<usize>,
}

/// Where the spring of a place is worked out.
#[derive(Clone, Copy, Debug)]
struct Seats {
    /// The nodes that it joined when the membrane was built, the lower first.
    ends: [u32; 2],
    /// Strip or star, and lane: see [`seat`]. The second only if it lies between two spans.
    seats: [u32; 2],
}

/// A spring as a span sees it.
#[derive(Clone, Copy)]
struct Seen {
    place: usize,
    node: u32,
    other: u32,
}

impl Seen {
    /// How far the other end is, in number.
    fn length(&self) -> i64 {
        i64::from(self.other) - i64::from(self.node)
    }
}

/// A spring: both ends, its length at rest, m, and its constant, N/m.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strand {
    pub(super) ends: [u32; 2],
    pub(super) rest_length: f64,
    pub(super) stiffness: f64,
}

/// Strips and stars of a list of springs; see the [module](self).
#[derive(Clone, Debug, Default)]
pub(super) struct Weave {
    rows: Vec<Row>,
    /// Lengths at rest of the springs of all strips, m; [`MISSING`] where there is none.
    strips: Vec<[f64; LANES]>,
    stars: Vec<Star>,
    /// Constant of all their springs, N/m.
    stiffness: f64,
    /// Of each span those within it, whose other ends are counted from its first node; and those between it and others, counted from the first of all.
    runs: Vec<[Run; 2]>,
    /// By place.
    seats: Vec<Seats>,
}

const STAR: u32 = 1 << 31;

/// A lane of a strip or of a star.
fn seat(block: usize, lane: usize, of: u32) -> u32 {
    (LANES * block + lane) as u32 | of
}

impl Weave {
    /// Seats for springs of a constant (N/m) with these ends, by place. Nobody sits there yet.
    pub(super) fn new(stiffness: f64, spans: &Spans, springs: &[Option<[u32; 2]>]) -> Self {
        let mut seen = vec![[Vec::new(), Vec::new()]; spans.ends().len()];
        for (place, ends) in springs.iter().enumerate() {
            let Some([a, b]) = *ends else { continue };
            let (of_a, of_b) = (spans.of(a), spans.of(b));
            let (node, other) = (a.min(b), a.max(b));
            if of_a == of_b {
                seen[of_a][0].push(Seen { place, node, other });
                continue;
            }
            for (span, node, other) in [(of_a, a, b), (of_b, b, a)] {
                seen[span][1].push(Seen { place, node, other });
            }
        }
        let nobody = |ends: &Option<[u32; 2]>| Seats {
            ends: ends.map_or([NONE; 2], |[a, b]| [a.min(b), a.max(b)]),
            seats: [NONE; 2],
        };
        let mut weave = Self {
            stiffness,
            seats: springs.iter().map(nobody).collect(),
            ..Self::default()
        };
        let last = spans.ends().last().copied().unwrap_or(0);
        for (span, [within, between]) in seen.into_iter().enumerate() {
            let nodes = spans.nodes(span);
            let run = [
                weave.add_run(within, nodes.start, [nodes.clone(), nodes.clone()], true),
                weave.add_run(between, 0, [nodes, 0..last], false),
            ];
            weave.runs.push(run);
        }
        weave
    }

    /// Makes strips of four neighbours, then stars. The two ends are among `nodes`, others are counted from `far`; `both` ends may be hubs.
    fn add_run(
        &mut self,
        mut seen: Vec<Seen>,
        far: usize,
        nodes: [Range<usize>; 2],
        both: bool,
    ) -> Run {
        let begin = (self.rows.len(), self.stars.len());
        let (near, far) = (nodes[0].start as u32, far as u32);
        seen.sort_by_key(|s| (s.length(), s.node));
        let mut strips: Vec<Vec<Seen>> = Vec::new();
        let mut rest: Vec<Seen> = Vec::new();
        for row in seen.chunk_by(|a, b| a.length() == b.length()) {
            let mut row = row;
            while let Some(first) = row.first().copied() {
                let count = row.partition_point(|s| s.node < first.node + LANES as u32);
                let (some, others) = row.split_at(count);
                let inside = |n: u32, nodes: &Range<usize>| n as usize + LANES <= nodes.end;
                let fits = inside(first.node, &nodes[0]) && inside(first.other, &nodes[1]);
                if count >= FEWEST && fits {
                    strips.push(some.to_vec());
                    row = others;
                } else {
                    rest.push(first);
                    row = &row[1..];
                }
            }
        }
        strips.sort_by_key(|s| (s[0].node / TILE, s[0].length(), s[0].node));
        for some in strips {
            let (node, other) = (some[0].node, some[0].other);
            for s in some {
                self.take(
                    s.place,
                    seat(self.strips.len(), (s.node - node) as usize, 0),
                );
            }
            let (node, other) = (node - near, other - far);
            match self.rows[begin.0..].last_mut() {
                Some(row) if row.goes_on([node, other]) => row.count += 1,
                _ => self.rows.push(Row {
                    node,
                    other,
                    begin: self.strips.len() as u32,
                    count: 1,
                }),
            }
            self.strips.push([MISSING; LANES]);
        }
        for (hub, some) in stars(&rest, near, both) {
            for (lane, place) in some.into_iter().enumerate() {
                self.take(place, seat(self.stars.len(), lane, STAR));
            }
            self.stars.push(Star {
                rest_length: [0.0; LANES],
                others: [hub - far; LANES],
                hub: hub - near,
            });
        }
        Run {
            rows: begin.0..self.rows.len(),
            stars: begin.1..self.stars.len(),
        }
    }

    fn take(&mut self, place: usize, seat: u32) {
        let seats = &mut self.seats[place].seats;
        let free = usize::from(seats[0] != NONE);
        seats[free] = seat;
    }

    /// Leaves all seats empty.
    pub(super) fn clear(&mut self, spans: &Spans) {
        (0..self.seats.len()).for_each(|place| {
            self.set(spans, place, None);
        });
    }

    /// Puts a spring to a place, or none; false if its seat is elsewhere, and somebody else has to work it out.
    pub(super) fn set(&mut self, spans: &Spans, place: usize, strand: Option<Strand>) -> bool {
        let Some(at) = self.seats.get(place).copied() else {
            return strand.is_none();
        };
        let fitting = strand.filter(|s| s.stiffness == self.stiffness);
        let fitting = fitting.filter(|s| self.fits(spans, &at, s.ends));
        let first = spans.nodes(spans.of(at.ends[0])).start as u32;
        for (k, seat) in at.seats.into_iter().enumerate().filter(|s| s.1 != NONE) {
            let (block, lane) = ((seat & !STAR) as usize / LANES, seat as usize % LANES);
            if seat & STAR == 0 {
                self.strips[block][lane] = fitting.map_or(MISSING, |s| s.rest_length);
                continue;
            }
            let star = &mut self.stars[block];
            // Within a span all nodes are counted from its first.
            let (near, far) = match at.seats[1] {
                NONE => (first, first),
                _ => (spans.nodes(spans.of(at.ends[k])).start as u32, 0),
            };
            let hub = star.hub + near;
            let other = fitting.map_or(hub, |s| other_end(s.ends, hub).unwrap_or(hub));
            star.others[lane] = other - far;
            star.rest_length[lane] = fitting.map_or(0.0, |s| s.rest_length);
        }
        fitting.is_some() == strand.is_some()
    }

    /// Whether a spring between these nodes can be worked out at seats.
    fn fits(&self, spans: &Spans, at: &Seats, ends: [u32; 2]) -> bool {
        let [a, b] = at.ends;
        match at.seats {
            [NONE, _] => false,
            [seat, NONE] if seat & STAR != 0 => {
                let span = spans.of(a);
                let first = spans.nodes(span).start as u32;
                let hub = self.stars[(seat & !STAR) as usize / LANES].hub + first;
                other_end(ends, hub).is_some_and(|other| spans.of(other) == span)
            }
            _ => ends == [a, b] || ends == [b, a],
        }
    }

    /// Adds the pulls of the springs of a span to the forces of its nodes: f = c (l − l₀) along each (W32, M2). One without length pulls nowhere.
    pub(super) fn pull(&self, span: usize, first: usize, position: &[DVec3], force: &mut [DVec3]) {
        let Some([within, between]) = self.runs.get(span) else {
            return;
        };
        let near = &position[first..first + force.len()];
        let rows = |run: &Run| Rows {
            rows: &self.rows[run.rows.clone()],
            strips: &self.strips,
            stiffness: self.stiffness,
        };
        rows(within).pull::<true>([near, near], force);
        rows(between).pull::<false>([near, position], force);
        let stars = |run: &Run| &self.stars[run.stars.clone()];
        pull_stars::<true>(stars(within), self.stiffness, [near, near], force);
        pull_stars::<false>(stars(between), self.stiffness, [near, position], force);
    }
}

impl Row {
    /// Whether its other ends come so long after those at which it begins that none of its strips waits for what another has written.
    fn is_long(&self) -> bool {
        self.other >= self.node + LANES as u32 * self.count.max(LONG)
    }

    /// Whether a strip that begins at these nodes comes after its last.
    fn goes_on(&self, ends: [u32; 2]) -> bool {
        let far = LANES as u32 * self.count;
        ends == [self.node + far, self.other + far] && self.count < ROW as u32
    }
}

/// The other of two ends; none if `one` is neither.
fn other_end(ends: [u32; 2], one: u32) -> Option<u32> {
    match ends {
        [hub, other] | [other, hub] if hub == one => Some(other),
        _ => None,
    }
}

/// Makes stars: hub and places of the springs of each, in order of the hubs. If `both` ends may be hubs, four at a hub as long as some hub has four left, then of what there is.
fn stars(springs: &[Seen], first: u32, both: bool) -> Vec<(u32, Vec<usize>)> {
    let highest = springs.iter().map(|s| match both {
        true => s.node.max(s.other),
        false => s.node,
    });
    let count = highest.max().map_or(0, |n| (n - first) as usize + 1);
    let mut around: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (k, s) in springs.iter().enumerate() {
        around[(s.node - first) as usize].push(k);
        if both {
            around[(s.other - first) as usize].push(k);
        }
    }
    let mut stars = Vec::new();
    let mut taken = vec![false; springs.len()];
    for least in [LANES, 1] {
        for (hub, around) in around.iter_mut().enumerate() {
            around.retain(|k| !taken[*k]);
            while around.len() >= least {
                let star: Vec<_> = around.drain(..around.len().min(LANES)).collect();
                star.iter().for_each(|k| taken[*k] = true);
                let places = star.into_iter().map(|k| springs[k].place).collect();
                stars.push((first + hub as u32, places));
            }
        }
    }
    stars.sort_by_key(|(hub, _)| *hub);
    stars
}

/// Twelve coordinates of four vectors.
pub(super) type Parts = [f64x4; 3];

/// By what vectors with these squares of their lengths are multiplied: c (l − l₀)/l.
#[inline(always)]
fn factors(square: f64x4, rest_length: f64x4, stiffness: f64x4) -> f64x4 {
    // Root and quotient at the same time, instead of dividing by the root: both take long.
    let square = square.fast_max(f64x4::splat(SHORTEST));
    let quotient = stiffness / square;
    let length = square.sqrt();
    (length - rest_length) * (length * quotient)
}

/// Rows of strips of springs with one constant, N/m.
struct Rows<'a> {
    rows: &'a [Row],
    strips: &'a [[f64; LANES]],
    stiffness: f64,
}

impl Rows<'_> {
    /// Adds pulls to forces. `BOTH` if the other ends are nodes of the span, too.
    #[inline(always)]
    fn pull<const BOTH: bool>(&self, [near, far]: [&[DVec3]; 2], force: &mut [DVec3]) {
        let stiffness = f64x4::splat(self.stiffness);
        let mut pulls = [[f64x4::ZERO; 3]; ROW];
        for row in self.rows {
            let (begin, count) = (row.begin as usize, row.count as usize);
            let strips = self.strips[begin..begin + count].iter();
            let ends = fours(near, row.node, count).iter();
            let ends = ends.zip(fours(far, row.other, count)).zip(strips);
            if !BOTH {
                let own = fours_mut(force, row.node, count).iter_mut();
                for (((here, there), rest), own) in ends.zip(own) {
                    add(own, pull_of(here, there, rest, stiffness));
                }
                continue;
            }
            if row.is_long() {
                let (before, after) = force.split_at_mut(row.other as usize);
                let own = fours_mut(before, row.node, count).iter_mut();
                let both = own.zip(fours_mut(after, 0, count));
                for (((here, there), rest), (own, other)) in ends.zip(both) {
                    let pull = pull_of(here, there, rest, stiffness);
                    add(own, pull);
                    take(other, pull);
                }
                continue;
            }
            // One side after the other: the other ends of one strip are those at which the next begins, shifted, and to read across what two stores have just written
            // takes long.
            let own = fours_mut(force, row.node, count).iter_mut();
            for ((((here, there), rest), own), pull) in ends.zip(own).zip(&mut pulls) {
                *pull = pull_of(here, there, rest, stiffness);
                add(own, *pull);
            }
            let others = fours_mut(force, row.other, count).iter_mut();
            for (other, pull) in others.zip(&pulls) {
                take(other, *pull);
            }
        }
    }
}

/// Pulls of a strip on the nodes `here` towards those `there`, with lengths at rest, m.
#[inline(always)]
fn pull_of(
    here: &[DVec3; LANES],
    there: &[DVec3; LANES],
    rest: &[f64; LANES],
    stiffness: f64x4,
) -> Parts {
    let ([a, b, c], [d, e, f]) = (flat(here), flat(there));
    let apart = [d - a, e - b, f - c];
    let Four { x, y, z } = Four::parted(times(apart, apart));
    let rest = f64x4::new(*rest);
    let is_there = rest.simd_lt(f64x4::splat(MISSING));
    let factors = factors(x + y + z, rest, stiffness) & is_there;
    times(apart, spread(factors))
}

#[inline(always)]
fn add(forces: &mut [DVec3; LANES], [a, b, c]: Parts) {
    let [x, y, z] = flat(forces);
    unflat([x + a, y + b, z + c], forces);
}

#[inline(always)]
pub(super) fn take(forces: &mut [DVec3; LANES], [a, b, c]: Parts) {
    let [x, y, z] = flat(forces);
    unflat([x - a, y - b, z - c], forces);
}

/// Adds the pulls of stars to forces; likewise.
#[inline(always)]
fn pull_stars<const BOTH: bool>(
    stars: &[Star],
    stiffness: f64,
    [near, far]: [&[DVec3]; 2],
    force: &mut [DVec3],
) {
    let stiffness = f64x4::splat(stiffness);
    for star in stars {
        let [i, j, k, l] = star.others.map(|n| n as usize);
        let hub = star.hub as usize;
        let apart = Four::of(&far[i], &far[j], &far[k], &far[l]) - Four::splat(near[hub]);
        let rest_length = f64x4::new(star.rest_length);
        let factors = factors(apart.length_squared(), rest_length, stiffness);
        let [a, b, c, d] = apart.times(factors).vectors();
        if BOTH {
            force[i] -= a;
            force[j] -= b;
            force[k] -= c;
            force[l] -= d;
        }
        force[hub] += (a + b) + (c + d);
    }
}

#[inline(always)]
pub(super) fn times([x, y, z]: Parts, [a, b, c]: Parts) -> Parts {
    [x * a, y * b, z * c]
}

/// So many times four neighbours.
#[inline(always)]
pub(super) fn fours(list: &[DVec3], first: u32, count: usize) -> &[[DVec3; LANES]] {
    let first = first as usize;
    list[first..first + LANES * count].as_chunks().0
}

#[inline(always)]
pub(super) fn fours_mut(list: &mut [DVec3], first: u32, count: usize) -> &mut [[DVec3; LANES]] {
    let first = first as usize;
    list[first..first + LANES * count].as_chunks_mut().0
}

#[cfg(test)]
mod tests {
    use super::super::kernel::spring;
    use super::*;

    fn place(n: u32) -> DVec3 {
        let n = f64::from(n);
        DVec3::new((n * 0.37) % 1.0, (n * 0.61) % 1.0, (n * 0.83) % 1.0)
    }

    /// Forces on nodes by the woven springs.
    fn pulled(weave: &Weave, spans: &Spans, nodes: u32) -> Vec<DVec3> {
        let positions: Vec<_> = (0..nodes).map(place).collect();
        let mut forces = vec![DVec3::ZERO; positions.len()];
        for span in 0..spans.ends().len() {
            let own = spans.nodes(span);
            weave.pull(span, own.start, &positions, &mut forces[own]);
        }
        forces
    }

    const STIFFNESS: f64 = 3.0;

    fn strand(ends: [u32; 2]) -> Strand {
        Strand {
            ends,
            rest_length: 0.4,
            stiffness: STIFFNESS,
        }
    }

    fn check(weave: &Weave, spans: &Spans, nodes: u32, springs: &[Option<[u32; 2]>]) {
        let mut expected = vec![DVec3::ZERO; nodes as usize];
        for s in springs.iter().flatten().map(|ends| strand(*ends)) {
            let [a, b] = s.ends;
            let (force, _) = spring(place(b) - place(a), s.rest_length, s.stiffness);
            expected[a as usize] += force;
            expected[b as usize] -= force;
        }
        for (force, expected) in pulled(weave, spans, nodes).iter().zip(&expected) {
            assert!((*force - *expected).length() < 1e-12 * (1.0 + expected.length()));
        }
    }

    fn woven(spans: &Spans, springs: &[Option<[u32; 2]>]) -> Weave {
        let mut weave = Weave::new(STIFFNESS, spans, springs);
        for (at, ends) in springs.iter().enumerate() {
            assert!(weave.set(spans, at, ends.map(strand)));
        }
        weave
    }

    #[test]
    fn woven_springs_pull_as_springs_do_wherever_they_sit() {
        // Every node joined to the next and to two that are farther, some to others as if at random.
        let nodes = 5000_u32;
        let joined = |n: u32| [1, 7, 11 + n % 5].map(|step| [n, (n + step) % nodes]);
        let mut springs: Vec<_> = (0..nodes).flat_map(joined).map(Some).collect();
        springs[13] = None;
        let spans = Spans::new(nodes as usize, springs.iter().flatten().copied());
        assert!(spans.ends().len() > 1);
        let mut weave = woven(&spans, &springs);
        check(&weave, &spans, nodes, &springs);
        assert!(weave.strips.len() * LANES > springs.len() / 2);
        // Gone, somewhere else, or weaker: a strip gives its spring back; where there was none is no seat.
        let is_star = |weave: &Weave, at: usize| weave.seats[at].seats[0] & STAR != 0;
        let in_strip = (20..).find(|at| !is_star(&weave, *at)).unwrap();
        let ends = springs[in_strip].unwrap();
        springs[in_strip] = None;
        assert!(weave.set(&spans, in_strip, None));
        check(&weave, &spans, nodes, &springs);
        assert!(!weave.set(&spans, in_strip, Some(strand([ends[0], ends[1] + 1]))));
        check(&weave, &spans, nodes, &springs);
        let weaker = Strand {
            stiffness: 0.5 * STIFFNESS,
            ..strand(ends)
        };
        assert!(!weave.set(&spans, in_strip, Some(weaker)));
        check(&weave, &spans, nodes, &springs);
        springs[in_strip] = Some([ends[1], ends[0]]);
        assert!(weave.set(&spans, in_strip, springs[in_strip].map(strand)));
        check(&weave, &spans, nodes, &springs);
        assert!(!weave.set(&spans, 13, Some(strand([1, 2]))) && weave.set(&spans, 13, None));
        // In a star it may lead elsewhere as long as it ends at its hub.
        let within = |weave: &Weave, at: usize| weave.seats[at].seats[1] == NONE;
        let in_star = (20..).find(|at| is_star(&weave, *at) && within(&weave, *at));
        let in_star = in_star.unwrap();
        let star = (weave.seats[in_star].seats[0] & !STAR) as usize / LANES;
        let span = spans.of(springs[in_star].unwrap()[0]);
        let hub = weave.stars[star].hub + spans.nodes(span).start as u32;
        springs[in_star] = Some([hub + 3, hub]);
        assert!(weave.set(&spans, in_star, springs[in_star].map(strand)));
        check(&weave, &spans, nodes, &springs);
        springs[in_star] = None;
        assert!(!weave.set(&spans, in_star, Some(strand([hub + 1, hub + 2]))));
        check(&weave, &spans, nodes, &springs);
        // Between two spans it is worked out in both or in none.
        let across = (20..).find(|at| !within(&weave, *at)).unwrap();
        let ends = springs[across].unwrap();
        springs[across] = None;
        assert!(!weave.set(&spans, across, Some(strand([ends[0], ends[0] + 1]))));
        check(&weave, &spans, nodes, &springs);
        springs[across] = Some(ends);
        assert!(weave.set(&spans, across, Some(strand(ends))));
        check(&weave, &spans, nodes, &springs);
        weave.clear(&spans);
        let still = pulled(&weave, &spans, nodes);
        assert!(still.iter().all(|f| *f == DVec3::ZERO));
    }

    #[test]
    fn springs_without_any_order_are_stars() {
        let nodes = 300_u32;
        let joined = |n: u32| [n * n % 97, n * n % 89 + 100].map(|o| [n, o]);
        let springs = (0..nodes).flat_map(joined);
        let apart = |ends: &[u32; 2]| ends[0] != ends[1];
        let springs: Vec<_> = springs.filter(apart).map(Some).collect();
        let spans = Spans::new(nodes as usize, springs.iter().flatten().copied());
        let weave = woven(&spans, &springs);
        assert!(weave.strips.len() < weave.stars.len() / 10);
        check(&weave, &spans, nodes, &springs);
    }

    #[test]
    fn an_empty_seat_pulls_nowhere_however_stiff_the_others_are() {
        // Three springs at a hub: the fourth seat stays empty. And three side by side, likewise.
        for springs in [[[0, 1], [0, 2], [0, 3]], [[0, 4], [1, 5], [2, 6]]] {
            let (rest_length, stiffness) = (0.4, 1e12);
            let springs = springs.map(Some);
            let spans = Spans::new(8, springs.iter().flatten().copied());
            let mut weave = Weave::new(stiffness, &spans, &springs);
            assert_eq!(weave.stars.len() + weave.strips.len(), 1);
            let mut expected = [DVec3::ZERO; 8];
            for (at, ends) in springs.iter().flatten().enumerate() {
                let strand = Strand {
                    ends: *ends,
                    rest_length,
                    stiffness,
                };
                assert!(weave.set(&spans, at, Some(strand)));
                let [a, b] = *ends;
                let (force, _) = spring(place(b) - place(a), rest_length, stiffness);
                expected[a as usize] += force;
                expected[b as usize] -= force;
            }
            for (force, expected) in pulled(&weave, &spans, 8).iter().zip(&expected) {
                let off = (*force - *expected).length();
                assert!(off < 1e-12 * stiffness, "{force} {expected}");
            }
        }
    }
}

//! Springs as the force loop reads them: up to four that have a node in common, their *hub*, are worked out together.
//!
//! A star of four fetches five nodes instead of eight and writes as many, and its roots and quotients are made four at a time. Which springs make a star is
//! found when the membrane is built; a seat in it then belongs to the place of a spring in its list, for good. What a tear puts to that place is worked out there if it
//! ends at the same hub and is as stiff as all the others; else among the [strays](super::division). So who is added to whom first depends on how the membrane was built and what became of
//! it, and on nothing else.

use super::division::Lane;
use std::ops::Range;
use trocar_math::{f64x4, four::LANES};

/// Squares of lengths below this, m², are none: so that nothing is divided by zero. Not the least number there is: a constant divided by it must stay finite, as an empty
/// seat multiplies the quotient by nought.
const SHORTEST: f64 = 1e-200;

/// No seat.
const NONE: u32 = u32::MAX;

/// Up to four springs at a hub: 64 bytes, as memory is read. Nodes are counted from the first of the window.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Star {
    rest_length: [f64; LANES],
    /// The other ends; the hub itself where there is no spring.
    others: [u32; LANES],
    hub: u32,
}

/// A spring: both ends, counted from the first node of its window, its length at rest, m, and its constant, N/m.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strand {
    pub(super) ends: [u32; 2],
    pub(super) rest_length: f64,
    pub(super) stiffness: f64,
}

/// The stars of a list of springs; see the [module](self).
#[derive(Clone, Debug, Default)]
pub(super) struct Weave {
    stars: Vec<Star>,
    /// Constant of all their springs, N/m.
    stiffness: f64,
    /// Where the stars of each share end.
    ends: Vec<usize>,
    /// Which lane of which star the spring at each place has.
    seats: Vec<u32>,
}

impl Weave {
    /// Seats for springs of a constant (N/m) with these ends, by place, each in the window of its share; `shares` are the places that each has. Nobody sits
    /// there yet.
    pub(super) fn new(
        stiffness: f64,
        shares: impl Iterator<Item = Range<usize>>,
        springs: &[Option<[u32; 2]>],
    ) -> Self {
        let mut weave = Self {
            stiffness,
            seats: vec![NONE; springs.len()],
            ..Self::default()
        };
        for places in shares {
            let from = places.start.min(springs.len());
            weave.add_share(from, &springs[from..places.end.min(springs.len())]);
        }
        weave
    }

    /// Makes the stars of the springs from a place on: four at a hub as long as some hub has four left, then of what there is, in order of the hubs.
    fn add_share(&mut self, from: usize, springs: &[Option<[u32; 2]>]) {
        let nodes = springs.iter().flatten().flatten().max();
        let mut around: Vec<Vec<usize>> = vec![Vec::new(); nodes.map_or(0, |n| *n as usize + 1)];
        for (place, ends) in springs.iter().enumerate() {
            for n in ends.iter().flatten() {
                around[*n as usize].push(place);
            }
        }
        let mut stars: Vec<(u32, Vec<usize>)> = Vec::new();
        let mut taken = vec![false; springs.len()];
        for least in [LANES, 1] {
            for (hub, around) in around.iter_mut().enumerate() {
                around.retain(|place| !taken[*place]);
                while around.len() >= least {
                    let star: Vec<_> = around.drain(..around.len().min(LANES)).collect();
                    star.iter().for_each(|place| taken[*place] = true);
                    stars.push((hub as u32, star));
                }
            }
        }
        stars.sort_by_key(|(hub, _)| *hub);
        for (hub, places) in stars {
            for (lane, place) in places.into_iter().enumerate() {
                self.seats[from + place] = (LANES * self.stars.len() + lane) as u32;
            }
            self.stars.push(Star {
                rest_length: [0.0; LANES],
                hub,
                others: [hub; LANES],
            });
        }
        self.ends.push(self.stars.len());
    }

    /// Star and lane of the spring at a place.
    fn seat(&self, place: usize) -> Option<(usize, usize)> {
        let seat = self.seats.get(place).filter(|seat| **seat != NONE)?;
        let seat = *seat as usize;
        Some((seat / LANES, seat % LANES))
    }

    /// Leaves all seats empty.
    pub(super) fn clear(&mut self) {
        (0..self.seats.len()).for_each(|place| {
            self.set(place, None);
        });
    }

    /// Puts a spring to a place, or none; false if its seat is elsewhere, and somebody else has to work it out.
    pub(super) fn set(&mut self, place: usize, strand: Option<Strand>) -> bool {
        let Some((star, lane)) = self.seat(place) else {
            return strand.is_none();
        };
        let of = &mut self.stars[star];
        let seat = strand.and_then(|s| match s.ends {
            _ if s.stiffness != self.stiffness => None,
            [hub, other] | [other, hub] if hub == of.hub => Some((other, s.rest_length)),
            _ => None,
        });
        (of.others[lane], of.rest_length[lane]) = seat.unwrap_or((of.hub, 0.0));
        seat.is_some() == strand.is_some()
    }

    /// Adds the pulls of the springs of a share to the forces of its window: f = c (l − l₀) along each (W32, M2). One without length pulls nowhere.
    pub(super) fn pull(&self, share: usize, lanes: &mut [Lane]) {
        let end = self.ends.get(share).copied().unwrap_or(0);
        let start = share.checked_sub(1).map_or(0, |before| self.ends[before]);
        let (stiffness, shortest) = (f64x4::splat(self.stiffness), f64x4::splat(SHORTEST));
        for star in &self.stars[start..end] {
            // Written out: a closure for each of four is not always taken apart by the compiler, and then costs more than the springs.
            let [a, b, c, d] = star.others;
            let [a, b, c, d] = [a as usize, b as usize, c as usize, d as usize];
            let hub = star.hub as usize;
            let here = lanes[hub][0];
            let (i, j, k, l) = (
                lanes[a][0] - here,
                lanes[b][0] - here,
                lanes[c][0] - here,
                lanes[d][0] - here,
            );
            // Root and quotient at the same time, instead of dividing by the root: both take long.
            let square = squares(i, j, k, l).fast_max(shortest);
            let quotient = stiffness / square;
            let length = square.sqrt();
            let factors = (length - f64x4::new(star.rest_length)) * (length * quotient);
            let [f, g, h, m] = factors.to_array();
            let (i, j, k, l) = (
                i * f64x4::splat(f),
                j * f64x4::splat(g),
                k * f64x4::splat(h),
                l * f64x4::splat(m),
            );
            lanes[a][1] -= i;
            lanes[b][1] -= j;
            lanes[c][1] -= k;
            lanes[d][1] -= l;
            lanes[hub][1] += (i + j) + (k + l);
        }
    }
}

/// x² + y² + z² of four vectors whose last coordinate is 0: sums of neighbours, which take half the instructions that turning them into rows of coordinates does.
#[inline(always)]
fn squares(a: f64x4, b: f64x4, c: f64x4, d: f64x4) -> f64x4 {
    let pair = |a: f64x4, b: f64x4| {
        let (a, b) = ((a * a).to_array(), (b * b).to_array());
        let sum = f64x4::new([a[0], b[0], a[2], b[2]]) + f64x4::new([a[1], b[1], a[3], b[3]]);
        sum.to_array()
    };
    let (p, q) = (pair(a, b), pair(c, d));
    f64x4::new([p[0], p[1], q[0], q[1]]) + f64x4::new([p[2], p[3], q[2], q[3]])
}

#[cfg(test)]
mod tests {
    use super::super::kernel::spring;
    use super::*;
    use glam::DVec3;

    fn place(n: u32) -> DVec3 {
        let n = f64::from(n);
        DVec3::new((n * 0.37) % 1.0, (n * 0.61) % 1.0, (n * 0.83) % 1.0)
    }

    /// Forces on nodes by the woven springs.
    fn pulled(weave: &Weave, nodes: u32) -> Vec<DVec3> {
        let wide = |v: DVec3| f64x4::new([v.x, v.y, v.z, 0.0]);
        let mut lanes: Vec<Lane> = (0..nodes).map(|n| [wide(place(n)), f64x4::ZERO]).collect();
        (0..weave.ends.len()).for_each(|share| weave.pull(share, &mut lanes));
        lanes
            .iter()
            .map(|lane| DVec3::from_slice(&lane[1].to_array()[..3]))
            .collect()
    }

    #[test]
    fn woven_springs_pull_as_springs_do_wherever_they_sit() {
        // Every node joined to the next and to two that are farther.
        let nodes = 50_u32;
        let joined = |n: u32| [1, 7, 11].map(|step| [n, (n + step) % nodes]);
        let mut springs: Vec<_> = (0..nodes).flat_map(joined).map(Some).collect();
        springs[13] = None;
        let stiffness = 3.0;
        let mut weave = Weave::new(stiffness, [0..75, 75..usize::MAX].into_iter(), &springs);
        assert_eq!(weave.ends.len(), 2);
        let full = weave.stars.len() * LANES;
        assert!(springs.len() * 10 > full * 6, "{full} seats");
        let strand = |ends: [u32; 2]| Strand {
            ends,
            rest_length: 0.4,
            stiffness,
        };
        for (at, ends) in springs.iter().enumerate() {
            assert!(weave.set(at, ends.map(strand)));
        }
        let check = |weave: &Weave, springs: &[Option<[u32; 2]>]| {
            let mut expected = vec![DVec3::ZERO; nodes as usize];
            for s in springs.iter().flatten().map(|ends| strand(*ends)) {
                let [a, b] = s.ends;
                let (force, _) = spring(place(b) - place(a), s.rest_length, s.stiffness);
                expected[a as usize] += force;
                expected[b as usize] -= force;
            }
            for (force, expected) in pulled(weave, nodes).iter().zip(&expected) {
                assert!((*force - *expected).length() < 1e-12 * (1.0 + expected.length()));
            }
        };
        check(&weave, &springs);
        // Led elsewhere: kept if it still ends at its hub, else given back; one that was none has no seat.
        let (star, _) = weave.seat(20).unwrap();
        let hub = weave.stars[star].hub;
        springs[20] = Some([(hub + 3) % nodes, hub]);
        assert!(weave.set(20, springs[20].map(strand)));
        check(&weave, &springs);
        assert!(!weave.set(20, Some(strand([(hub + 1) % nodes, (hub + 2) % nodes]))));
        assert!(!weave.set(13, Some(strand([1, 2]))) && weave.set(13, None));
        springs[20] = None;
        check(&weave, &springs);
        // One that has become weaker is not for here.
        let weaker = Strand {
            stiffness: 0.5 * stiffness,
            ..strand([(hub + 3) % nodes, hub])
        };
        assert!(!weave.set(20, Some(weaker)));
        check(&weave, &springs);
        weave.clear();
        assert!(pulled(&weave, nodes).iter().all(|f| *f == DVec3::ZERO));
    }

    #[test]
    fn an_empty_seat_pulls_nowhere_however_stiff_the_others_are() {
        // Three springs at a hub: the fourth seat stays empty.
        let (rest_length, stiffness) = (0.4, 1e12);
        let springs = [[0, 1], [0, 2], [0, 3]].map(Some);
        let mut weave = Weave::new(stiffness, std::iter::once(0..usize::MAX), &springs);
        assert_eq!(weave.stars.len(), 1);
        for (at, ends) in springs.iter().enumerate() {
            let strand = ends.map(|ends| Strand {
                ends,
                rest_length,
                stiffness,
            });
            assert!(weave.set(at, strand));
        }
        let mut expected = [DVec3::ZERO; 4];
        for n in 1..4 {
            let (force, _) = spring(place(n) - place(0), rest_length, stiffness);
            expected[0] += force;
            expected[n as usize] -= force;
        }
        for (force, expected) in pulled(&weave, 4).iter().zip(&expected) {
            let off = (*force - *expected).length();
            assert!(off < 1e-12 * stiffness, "{force} {expected}");
        }
    }
}

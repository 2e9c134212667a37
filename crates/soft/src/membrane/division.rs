//! How the work of a substep on triangles is shared out.
//!
//! The triangles of a membrane are cut into shares of neighbouring places. A share adds up forces on the nodes that its parts had when the membrane was
//! built, its *window*, in memory of its own; nodes then collect from the windows they are in, in order. So shares can be worked on by any thread, and sums are the same to
//! the last bit. Places follow the numbers of nodes, so that windows hardly overlap; where they do (a mesh numbered at random), there is one share.
//!
//! Tears make parts whose nodes are in no window of theirs, or springs that fit none of their [seats](super::weave). These *strays* are worked out at the end, one by one. Windows depend on how the membrane was built, strays
//! on what it became: nothing on threads or on the order of tears.

use std::ops::Range;
use trocar_dynamics::crew::even_share;

/// Nodes of a share, about: what they need is half of a common second-level cache, and their rim is thin.
const SHARE: usize = 2048;

/// There are never more shares.
const MOST_SHARES: usize = 64;

/// Windows may take this many times the nodes there are.
const WIDEST: usize = 2;

/// Parts that are worked out together.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Share {
    nodes: Range<usize>,
    triangles: Range<usize>,
}

impl Share {
    /// All there is, and whatever comes.
    const ALL: Self = Self {
        nodes: 0..usize::MAX,
        triangles: 0..usize::MAX,
    };

    /// The first node of its window.
    pub(super) fn first(&self) -> usize {
        self.nodes.start
    }

    /// Its part of a list over triangles.
    pub(super) fn triangles<'a, T>(&self, list: &'a [T]) -> &'a [T] {
        cut(list, &self.triangles)
    }
}

fn cut<'a, T>(list: &'a [T], range: &Range<usize>) -> &'a [T] {
    &list[range.start.min(list.len())..range.end.min(list.len())]
}

/// The nodes that a share writes to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    pub(super) first: u32,
    pub(super) count: u32,
}

impl Window {
    /// Places of nodes counted from the first; none if one of them is outside.
    #[inline(always)]
    pub(super) fn locals<const N: usize>(&self, nodes: [u32; N]) -> Option<[usize; N]> {
        let locals = nodes.map(|n| n.wrapping_sub(self.first));
        let inside = locals.iter().all(|n| *n < self.count);
        inside.then(|| locals.map(|n| n as usize))
    }
}

/// Parts outside their windows, by place, in order.
#[derive(Debug, Default)]
pub(super) struct Strays {
    pub(super) springs: Vec<u32>,
    pub(super) hinges: Vec<u32>,
    pub(super) triangles: Vec<u32>,
    pub(super) bends: Vec<u32>,
}

impl Clone for Strays {
    /// With the room that the lists have: a copy must not allocate where the first would not.
    fn clone(&self) -> Self {
        let copy = |list: &Vec<u32>| {
            let mut copy = Vec::with_capacity(list.capacity());
            copy.extend_from_slice(list);
            copy
        };
        Self {
            springs: copy(&self.springs),
            hinges: copy(&self.hinges),
            triangles: copy(&self.triangles),
            bends: copy(&self.bends),
        }
    }
}

/// No node.
pub(super) const NOBODY: u32 = u32::MAX;

/// The nodes of all parts, by place.
#[derive(Clone, Debug, Default)]
pub(super) struct PartsOf {
    pub(super) springs: Vec<[u32; 2]>,
    pub(super) hinges: Vec<[u32; 4]>,
    pub(super) triangles: Vec<[u32; 3]>,
    pub(super) bends: Vec<[u32; 2]>,
}

/// A kind of part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Spring,
    Hinge,
    Triangle,
    Bend,
}

/// The shares; see the [module](self).
#[derive(Clone, Debug)]
pub(super) struct Division {
    shares: Vec<Share>,
    /// Where the lanes of each share end.
    ends: Vec<usize>,
    strays: Strays,
}

impl Default for Division {
    fn default() -> Self {
        Self {
            shares: vec![Share::ALL],
            ends: vec![0],
            strays: Strays::default(),
        }
    }
}

impl Division {
    /// Of a membrane with so many nodes whose parts have these; [`NOBODY`] where there is none.
    pub(super) fn new(nodes: usize, parts: &PartsOf) -> Self {
        let mut division = Self::default();
        let count = nodes.div_ceil(even_share(nodes, SHARE, MOST_SHARES));
        if count > 1 {
            let size = |all: usize| all.div_ceil(count).max(1);
            let triangles = size(parts.triangles.len());
            let share = |k: usize| {
                let part = |size: usize| k * size..(k + 1) * size;
                let all = hull(cut(&parts.triangles, &part(triangles)));
                let (low, high) = all.fold((usize::MAX, 0), |(low, high), n| {
                    (low.min(n as usize), high.max(n as usize + 1))
                });
                Share {
                    nodes: low.min(high)..high,
                    triangles: part(triangles),
                }
            };
            let shares: Vec<Share> = (0..count).map(share).collect();
            if shares.iter().map(|s| s.nodes.len()).sum::<usize>() <= WIDEST * nodes {
                division.shares = shares;
            }
        }
        division.size(nodes);
        division
    }

    /// Follows the number of nodes.
    pub(super) fn size(&mut self, nodes: usize) {
        self.ends.clear();
        let mut end = 0;
        for share in &self.shares {
            end += share.nodes.end.min(nodes) - share.nodes.start.min(nodes);
            self.ends.push(end);
        }
    }

    /// Where the lanes of each share end.
    pub(super) fn ends(&self) -> &[usize] {
        &self.ends
    }

    pub(super) fn share(&self, k: usize) -> &Share {
        &self.shares[k]
    }

    pub(super) fn strays(&self) -> &Strays {
        &self.strays
    }

    /// What shares give to a stretch of nodes: for each that does, where in the stretch it begins, and its lanes.
    pub(super) fn given<'a, T>(
        &'a self,
        span: Range<usize>,
        lanes: &'a [T],
    ) -> impl Iterator<Item = (usize, &'a [T])> {
        let begins = std::iter::once(&0).chain(&self.ends);
        let windows = self.shares.iter().zip(begins).zip(&self.ends);
        windows.filter_map(move |((share, begin), end)| {
            let first = share.nodes.start;
            let from = first.max(span.start);
            let to = (first + (end - begin)).min(span.end);
            let lanes = lanes.get(begin + from - first..begin + to.max(from) - first)?;
            (from < to).then_some((from - span.start, lanes))
        })
    }

    /// Whether the triangle at a place has all of its corners in its window.
    fn holds(&self, slot: usize, corners: [u32; 3]) -> bool {
        let share = match &self.shares[..] {
            [all] => Some(all),
            shares => shares.get(slot / shares[0].triangles.len()),
        };
        let inside = |n: &u32| share.is_some_and(|s| s.nodes.contains(&(*n as usize)));
        corners.iter().all(inside)
    }

    /// Takes note of the corners that a triangle has now; none if it is gone.
    pub(super) fn place_triangle(&mut self, slot: usize, corners: Option<[u32; 3]>) {
        let is_stray = corners.is_some_and(|corners| !self.holds(slot, corners));
        self.set_stray(Kind::Triangle, slot, is_stray);
    }

    /// Takes note of whether a part is outside its window.
    pub(super) fn set_stray(&mut self, kind: Kind, slot: usize, is_stray: bool) {
        let strays = match kind {
            Kind::Spring => &mut self.strays.springs,
            Kind::Hinge => &mut self.strays.hinges,
            Kind::Triangle => &mut self.strays.triangles,
            Kind::Bend => &mut self.strays.bends,
        };
        let slot = slot as u32;
        match (strays.binary_search(&slot), is_stray) {
            (Err(at), true) => strays.insert(at, slot),
            (Ok(at), false) => {
                strays.remove(at);
            }
            _ => {}
        }
    }

    /// Room for so many springs among the strays.
    pub(super) fn make_room(&mut self, springs: usize) {
        let strays = &mut self.strays.springs;
        strays.reserve(springs.saturating_sub(strays.len()));
    }

    /// Forgets all strays: their parts are placed anew.
    pub(super) fn forget_strays(&mut self) {
        let Strays {
            springs,
            hinges,
            triangles,
            bends,
        } = &mut self.strays;
        for list in [springs, hinges, triangles, bends] {
            list.clear();
        }
    }
}

fn hull<const N: usize>(parts: &[[u32; N]]) -> impl Iterator<Item = u32> + '_ {
    let all = parts.iter().flatten().copied();
    all.filter(|n| *n != NOBODY)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of nodes with something between neighbours.
    fn chain(nodes: u32) -> PartsOf {
        PartsOf {
            triangles: (1..nodes).map(|n| [n - 1, n, n]).collect(),
            ..PartsOf::default()
        }
    }

    #[test]
    fn every_part_is_in_a_window_until_a_tear_takes_it_elsewhere() {
        let nodes = 3 * SHARE as u32;
        let parts = chain(nodes);
        let mut division = Division::new(nodes as usize, &parts);
        assert_eq!(division.shares.len(), 4);
        for (slot, corners) in parts.triangles.iter().enumerate() {
            division.place_triangle(slot, Some(*corners));
        }
        assert!(division.strays.triangles.is_empty());
        // Windows overlap by the one node that two shares have in common, and nodes collect from all they are in.
        let lanes: Vec<u32> = vec![1; division.ends.last().copied().unwrap_or(0)];
        assert_eq!(lanes.len(), nodes as usize + 3);
        let mut given = vec![0; nodes as usize];
        for (begin, lanes) in division.given(0..given.len(), &lanes) {
            given[begin..]
                .iter_mut()
                .zip(lanes)
                .for_each(|(g, l)| *g += l);
        }
        assert_eq!(given.iter().filter(|g| **g == 2).count(), 3);
        assert!(given.iter().all(|g| *g >= 1));
        // Elsewhere, on a node that was made since, back, and gone.
        division.place_triangle(7, Some([6, 7, nodes - 1]));
        division.place_triangle(nodes as usize + 5, Some([6, 7, nodes]));
        assert_eq!(division.strays.triangles, [7, nodes + 5]);
        division.place_triangle(7, Some([7, 8, 8]));
        division.place_triangle(nodes as usize + 5, None);
        assert!(division.strays.triangles.is_empty());
        // Room that was made stays, in copies and when all are forgotten.
        division.make_room(1000);
        let mut copy = division.clone();
        copy.forget_strays();
        assert!(copy.strays.springs.capacity() >= 1000);
    }

    #[test]
    fn what_is_small_or_numbered_at_random_is_one_share() {
        let one = Division::new(1000, &chain(1000));
        assert_eq!((one.shares.len(), one.ends()), (1, &[1000][..]));
        let mut wild = chain(10_000);
        let half = wild.triangles.len() / 2;
        for k in (0..half).step_by(2) {
            wild.triangles.swap(k, half + k);
        }
        assert_eq!(Division::new(10_000, &wild).shares.len(), 1);
    }
}

//! Which triangles are around a node, in a surface that is torn and cut.

use super::GONE;

/// So many triangles around a node have room beside each other; six or so are usual. With their number, half a line of the cache.
const ROOM: usize = 7;

/// The triangles around each node, in ascending order whatever came first. To change a triangle costs as much as there are
/// triangles around its corners.
#[derive(Clone, Debug, Default)]
pub(super) struct Stars {
    nodes: Vec<Star>,
    /// Node and triangle of what found no room, sorted.
    more: Vec<(u32, u32)>,
}

/// Around one node: the first of them, and how many there are in all.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
struct Star {
    triangles: [u32; ROOM],
    count: u32,
}

impl Stars {
    pub fn new(triangles: &[[u32; 3]], nodes: usize) -> Self {
        let mut stars = Self {
            nodes: vec![Star::default(); nodes],
            more: Vec::new(),
        };
        let there = |(_, corners): &(usize, &[u32; 3])| **corners != GONE;
        for (t, corners) in triangles.iter().enumerate().filter(there) {
            for node in corners {
                let star = &mut stars.nodes[*node as usize];
                match star.triangles.get_mut(star.count as usize) {
                    Some(place) => *place = t as u32,
                    None => stars.more.push((*node, t as u32)),
                }
                star.count += 1;
            }
        }
        stars.more.sort_unstable();
        stars
    }

    /// The triangles around a node; one that has it twice is there twice.
    #[inline]
    pub fn around(&self, node: u32) -> impl Iterator<Item = u32> {
        let (near, far) = match self.nodes.get(node as usize) {
            None => (&[][..], &[][..]),
            Some(star) if star.count as usize <= ROOM => {
                (&star.triangles[..star.count as usize], &[][..])
            }
            Some(star) => {
                let from = self.more.partition_point(|m| m.0 < node);
                let count = star.count as usize - ROOM;
                (&star.triangles[..], &self.more[from..from + count])
            }
        };
        near.iter().copied().chain(far.iter().map(|m| m.1))
    }

    /// Makes room for so many nodes.
    pub fn extend(&mut self, nodes: usize) {
        self.nodes
            .resize(nodes.max(self.nodes.len()), Star::default());
    }

    /// Takes a triangle in.
    pub fn add(&mut self, triangle: u32, corners: [u32; 3]) {
        for node in corners {
            let star = &mut self.nodes[node as usize];
            let mut carried = triangle;
            for place in &mut star.triangles[..ROOM.min(star.count as usize)] {
                if *place > carried {
                    std::mem::swap(place, &mut carried);
                }
            }
            match star.triangles.get_mut(star.count as usize) {
                Some(place) => *place = carried,
                None => {
                    let key = (node, carried);
                    let at = self.more.partition_point(|m| *m < key);
                    self.more.insert(at, key);
                }
            }
            star.count += 1;
        }
    }

    /// Takes a triangle out, if it is there.
    pub fn remove(&mut self, triangle: u32, corners: [u32; 3]) {
        for node in corners {
            let star = &mut self.nodes[node as usize];
            let count = star.count as usize;
            let near = &mut star.triangles[..ROOM.min(count)];
            if let Some(k) = near.iter().position(|t| *t == triangle) {
                near.copy_within(k + 1.., k);
                if count > ROOM {
                    let first = self.more.partition_point(|m| m.0 < node);
                    near[ROOM - 1] = self.more.remove(first).1;
                }
                star.count -= 1;
            } else if let Ok(k) = self.more.binary_search(&(node, triangle)) {
                self.more.remove(k);
                star.count -= 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Few nodes, so that many triangles are around each.
        #[test]
        fn edits_leave_what_building_anew_gives(
            mut triangles in prop::collection::vec(prop::array::uniform3(0..6_u32), 0..30),
            edits in prop::collection::vec((0..30_usize, prop::array::uniform3(0..8_u32)), 0..30),
        ) {
            let mut stars = Stars::new(&triangles, 6);
            stars.extend(8);
            for (at, corners) in edits {
                if at < triangles.len() {
                    stars.remove(at as u32, triangles[at]);
                    triangles[at] = corners;
                    stars.add(at as u32, corners);
                } else {
                    stars.add(triangles.len() as u32, corners);
                    triangles.push(corners);
                }
            }
            let fresh = Stars::new(&triangles, 8);
            for node in 0..9 {
                let (a, b): (Vec<_>, Vec<_>) =
                    (stars.around(node).collect(), fresh.around(node).collect());
                prop_assert_eq!(&a, &b);
                let corners = triangles.as_flattened().iter();
                prop_assert_eq!(a.len(), corners.filter(|n| **n == node).count());
            }
        }
    }
}

//! Which triangles are around a node, in a surface that is torn and cut.

use super::GONE;
use trocar_math::fetch;

/// So many triangles around a node have room beside each other; six or so are usual. With their number, their other corners fill a line of the cache.
const ROOM: usize = 7;

/// The triangles around each node, in ascending order whatever came first. To change a triangle costs as much as there are
/// triangles around its corners.
#[derive(Clone, Debug, Default)]
pub(super) struct Stars {
    nodes: Vec<Star>,
    /// Node and triangle of what found no room, and its other corners; sorted.
    more: Vec<(u32, Ray)>,
}

/// A triangle around a node: its number, and its other corners in the order in which they go round it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Ray {
    triangle: u32,
    others: [u32; 2],
}

/// Around one node: the first of them, and how many there are in all. What is asked for in every step is in one line of the cache, without a way through the list
/// of triangles.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
struct Star {
    others: [[u32; 2]; ROOM],
    count: u32,
    triangles: [u32; ROOM],
}

impl Star {
    fn ray(&self, k: usize) -> Ray {
        Ray {
            triangle: self.triangles[k],
            others: self.others[k],
        }
    }

    fn set(&mut self, k: usize, ray: Ray) {
        self.triangles[k] = ray.triangle;
        self.others[k] = ray.others;
    }

    /// How many have room here.
    fn len(&self) -> usize {
        ROOM.min(self.count as usize)
    }
}

/// A triangle as each of its corners sees it, in ascending order.
fn rays(triangle: u32, [a, b, c]: [u32; 3]) -> [(u32, Ray); 3] {
    let mut list = [(a, [b, c]), (b, [c, a]), (c, [a, b])]
        .map(|(node, others)| (node, Ray { triangle, others }));
    list.sort_unstable();
    list
}

impl Stars {
    pub fn new(triangles: &[[u32; 3]], nodes: usize) -> Self {
        let mut stars = Self {
            nodes: vec![Star::default(); nodes],
            more: Vec::new(),
        };
        let there = |(_, corners): &(usize, &[u32; 3])| **corners != GONE;
        for (t, corners) in triangles.iter().enumerate().filter(there) {
            for (node, ray) in rays(t as u32, *corners) {
                let star = &mut stars.nodes[node as usize];
                match star.len() {
                    ROOM => stars.more.push((node, ray)),
                    free => star.set(free, ray),
                }
                star.count += 1;
            }
        }
        stars.more.sort_unstable();
        stars
    }

    /// What found no room beside a node.
    fn beyond(&self, node: u32, star: &Star) -> &[(u32, Ray)] {
        if star.count as usize <= ROOM {
            return &[];
        }
        let from = self.more.partition_point(|m| m.0 < node);
        &self.more[from..from + star.count as usize - ROOM]
    }

    /// The triangles around a node; one that has it twice is there twice.
    #[inline]
    pub fn around(&self, node: u32) -> impl Iterator<Item = u32> {
        let star = self.nodes.get(node as usize);
        star.into_iter().flat_map(move |star| {
            let near = star.triangles[..star.len()].iter().copied();
            near.chain(self.beyond(node, star).iter().map(|m| m.1.triangle))
        })
    }

    /// The same triangles by their other corners, in the order in which they go round.
    #[inline]
    pub fn others(&self, node: u32) -> impl Iterator<Item = [u32; 2]> {
        let star = self.nodes.get(node as usize);
        star.into_iter().flat_map(move |star| {
            let near = star.others[..star.len()].iter().copied();
            near.chain(self.beyond(node, star).iter().map(|m| m.1.others))
        })
    }

    /// Begins to bring near what is around a node.
    #[inline]
    pub fn fetch(&self, node: u32) {
        if let Some(star) = self.nodes.get(node as usize) {
            fetch(star);
        }
    }

    /// Makes room for so many nodes.
    pub fn extend(&mut self, nodes: usize) {
        self.nodes
            .resize(nodes.max(self.nodes.len()), Star::default());
    }

    /// Takes a triangle in.
    pub fn add(&mut self, triangle: u32, corners: [u32; 3]) {
        for (node, ray) in rays(triangle, corners) {
            let star = &mut self.nodes[node as usize];
            let mut carried = ray;
            for k in 0..star.len() {
                let here = star.ray(k);
                if here > carried {
                    star.set(k, carried);
                    carried = here;
                }
            }
            match star.len() {
                ROOM => {
                    let key = (node, carried);
                    let at = self.more.partition_point(|m| *m < key);
                    self.more.insert(at, key);
                }
                free => star.set(free, carried),
            }
            star.count += 1;
        }
    }

    /// Takes a triangle out, if it is there.
    pub fn remove(&mut self, triangle: u32, corners: [u32; 3]) {
        for node in corners {
            let star = &mut self.nodes[node as usize];
            let near = star.len();
            let found = (0..near).find(|k| star.triangles[*k] == triangle);
            if let Some(found) = found {
                for k in found + 1..near {
                    star.set(k - 1, star.ray(k));
                }
                if star.count as usize > ROOM {
                    let first = self.more.partition_point(|m| m.0 < node);
                    star.set(ROOM - 1, self.more.remove(first).1);
                }
                star.count -= 1;
                continue;
            }
            let beyond = |m: &(u32, Ray)| (m.0, m.1.triangle) == (node, triangle);
            let first = self
                .more
                .partition_point(|m| (m.0, m.1.triangle) < (node, triangle));
            if self.more.get(first).is_some_and(beyond) {
                self.more.remove(first);
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
                let others: Vec<_> = stars.others(node).collect();
                prop_assert_eq!(&others, &fresh.others(node).collect::<Vec<_>>());
                for (t, [p, q]) in a.iter().zip(others) {
                    let [x, y, z] = triangles[*t as usize];
                    prop_assert!([[x, y, z], [y, z, x], [z, x, y]].contains(&[node, p, q]));
                }
                let corners = triangles.as_flattened().iter();
                prop_assert_eq!(a.len(), corners.filter(|n| **n == node).count());
            }
        }
    }
}

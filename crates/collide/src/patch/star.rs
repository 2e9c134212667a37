//! Which triangles are around a node, in a surface that is torn and cut.

use super::GONE;

/// So many triangles around a node have room beside each other; six or so are usual. With their number, half a line of the cache.
const ROOM: usize = 7;

/// Around a node with more than [`ROOM`] the first so many stand there, and in the last place which block goes on.
const FIRST: usize = ROOM - 1;

/// So many triangles have room in a block: with their number and the next block a line of the cache.
const WIDE: usize = 14;

/// For so many nodes and blocks more there is room, and for a quarter of those there are.
const SPARE: usize = 64;

/// The block that is none.
const END: u32 = u32::MAX;

/// The triangles around each node, in ascending order whatever came first. To change a triangle costs as much as there are
/// triangles around its corners, however many other nodes have many.
#[derive(Clone, Debug)]
pub(super) struct Stars {
    nodes: Vec<Star>,
    /// What found no room.
    blocks: Vec<Block>,
    /// The first of those that nobody has, one leading to the next.
    free: u32,
}

/// Around one node: all of them, or the first and the block that goes on; and how many there are in all.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(32))]
struct Star {
    triangles: [u32; ROOM],
    count: u32,
}

/// Some triangles around a node, ascending; never none.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
struct Block {
    triangles: [u32; WIDE],
    count: u32,
    next: u32,
}

impl Block {
    fn new(next: u32) -> Self {
        Self {
            triangles: [0; WIDE],
            count: 0,
            next,
        }
    }

    fn there(&self) -> &[u32] {
        &self.triangles[..self.count as usize]
    }

    /// Whether a triangle belongs here or before, in a block that is followed by others.
    fn reaches(&self, triangle: u32) -> bool {
        self.there().last().is_some_and(|last| triangle <= *last)
    }

    fn insert(&mut self, triangle: u32) {
        let at = self.there().partition_point(|t| *t <= triangle);
        let count = self.count as usize;
        self.triangles.copy_within(at..count, at + 1);
        self.triangles[at] = triangle;
        self.count += 1;
    }

    fn remove(&mut self, at: usize) -> u32 {
        let gone = self.triangles[at];
        self.triangles.copy_within(at + 1..self.count as usize, at);
        self.count -= 1;
        gone
    }
}

impl Default for Stars {
    fn default() -> Self {
        Self {
            nodes: Vec::new(),
            blocks: Vec::new(),
            free: END,
        }
    }
}

impl Stars {
    pub fn new(triangles: &[[u32; 3]], nodes: usize) -> Self {
        let mut stars = Self {
            nodes: vec![Star::default(); nodes],
            ..Self::default()
        };
        // Node and triangle of what finds no room.
        let mut more = Vec::new();
        let there = |(_, corners): &(usize, &[u32; 3])| **corners != GONE;
        for (t, corners) in triangles.iter().enumerate().filter(there) {
            for node in corners {
                let star = &mut stars.nodes[*node as usize];
                match star.triangles.get_mut(star.count as usize) {
                    Some(place) => *place = t as u32,
                    None => more.push((*node, t as u32)),
                }
                star.count += 1;
            }
        }
        more.sort_unstable();
        for of_node in more.chunk_by(|a, b| a.0 == b.0) {
            let Some((node, _)) = of_node.first() else {
                continue;
            };
            let star = &mut stars.nodes[*node as usize];
            let last = std::mem::replace(&mut star.triangles[FIRST], stars.blocks.len() as u32);
            let mut block = Block::new(END);
            block.insert(last);
            for (_, triangle) in of_node {
                if block.count as usize == WIDE {
                    block.next = stars.blocks.len() as u32 + 1;
                    stars.blocks.push(block);
                    block = Block::new(END);
                }
                block.insert(*triangle);
            }
            stars.blocks.push(block);
        }
        // What tears make has room, so that no edit moves all of them in memory.
        stars.nodes.reserve_exact(nodes / 4 + SPARE);
        let blocks = stars.blocks.len();
        stars.blocks.reserve_exact(blocks / 4 + SPARE);
        stars
    }

    /// The triangles around a node; one that has it twice is there twice.
    #[inline]
    pub fn around(&self, node: u32) -> impl Iterator<Item = u32> {
        let (near, mut next) = match self.nodes.get(node as usize) {
            None => (&[][..], END),
            Some(star) if star.count as usize <= ROOM => {
                (&star.triangles[..star.count as usize], END)
            }
            Some(star) => (&star.triangles[..FIRST], star.triangles[FIRST]),
        };
        let blocks = std::iter::from_fn(move || {
            let block = self.blocks.get(next as usize)?;
            next = block.next;
            Some(block.there())
        });
        near.iter().chain(blocks.flatten()).copied()
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
            let count = star.count as usize;
            star.count += 1;
            let first = if count > ROOM { FIRST } else { count };
            let mut carried = triangle;
            for place in &mut star.triangles[..first] {
                if *place > carried {
                    std::mem::swap(place, &mut carried);
                }
            }
            if let Some(place) = star.triangles.get_mut(count) {
                *place = carried;
                continue;
            }
            let last = star.triangles[FIRST];
            if count > ROOM {
                self.add_below(last, carried);
                continue;
            }
            let block = self.new_block(END);
            self.nodes[node as usize].triangles[FIRST] = block;
            let block = &mut self.blocks[block as usize];
            block.insert(last);
            block.insert(carried);
        }
    }

    /// Puts a triangle where it belongs among those of a block and the following ones.
    fn add_below(&mut self, mut block: u32, triangle: u32) {
        loop {
            let at = &self.blocks[block as usize];
            if at.next == END || at.reaches(triangle) {
                break;
            }
            block = at.next;
        }
        if self.blocks[block as usize].count as usize == WIDE {
            let after = self.new_block(self.blocks[block as usize].next);
            let at = &mut self.blocks[block as usize];
            let half = at.triangles;
            (at.count, at.next) = (WIDE as u32 / 2, after);
            let here = at.reaches(triangle);
            let other = &mut self.blocks[after as usize];
            for triangle in &half[WIDE / 2..] {
                other.insert(*triangle);
            }
            if !here {
                block = after;
            }
        }
        self.blocks[block as usize].insert(triangle);
    }

    fn new_block(&mut self, next: u32) -> u32 {
        let block = self.free;
        match self.blocks.get_mut(block as usize) {
            Some(place) => {
                self.free = place.next;
                *place = Block::new(next);
                block
            }
            None => {
                self.blocks.push(Block::new(next));
                self.blocks.len() as u32 - 1
            }
        }
    }

    /// Takes a triangle out, if it is there.
    pub fn remove(&mut self, triangle: u32, corners: [u32; 3]) {
        for node in corners {
            let star = &mut self.nodes[node as usize];
            let count = star.count as usize;
            let beyond = star.triangles[FIRST];
            let first = if count > ROOM { FIRST } else { count };
            let near = &mut star.triangles[..first];
            if let Some(k) = near.iter().position(|t| *t == triangle) {
                near.copy_within(k + 1.., k);
                star.count -= 1;
                if count > ROOM {
                    let last = self.take(node, None, 0);
                    self.nodes[node as usize].triangles[FIRST - 1] = last;
                }
            } else if count > ROOM
                && let Some((before, at)) = self.find(beyond, triangle)
            {
                self.nodes[node as usize].count -= 1;
                self.take(node, before, at);
            } else {
                continue;
            }
            // As many as have room beside each other stand there.
            if count == ROOM + 1 {
                let last = self.take(node, None, 0);
                self.nodes[node as usize].triangles[FIRST] = last;
            }
        }
    }

    /// Where a triangle is among those of a block and the following ones: the block before, if there is one, and the place in it.
    fn find(&self, mut block: u32, triangle: u32) -> Option<(Option<u32>, usize)> {
        let mut before = None;
        while let Some(at) = self.blocks.get(block as usize) {
            if at.reaches(triangle) {
                let place = at.there().binary_search(&triangle).ok()?;
                return Some((before, place));
            }
            (before, block) = (Some(block), at.next);
        }
        None
    }

    /// Takes the triangle at a place of the block after one of a node's, or of its first. A block that has none then is free.
    fn take(&mut self, node: u32, before: Option<u32>, at: usize) -> u32 {
        let link = match before {
            Some(before) => &mut self.blocks[before as usize].next,
            None => &mut self.nodes[node as usize].triangles[FIRST],
        };
        let block = *link;
        let next = self.blocks[block as usize].next;
        let gone = self.blocks[block as usize].remove(at);
        if self.blocks[block as usize].count == 0 {
            match before {
                Some(before) => self.blocks[before as usize].next = next,
                None => self.nodes[node as usize].triangles[FIRST] = next,
            }
            self.blocks[block as usize].next = self.free;
            self.free = block;
        }
        gone
    }

    /// How many nodes, and how many blocks, are not what they were.
    #[cfg(test)]
    pub fn touched(&self, before: &Self) -> [usize; 2] {
        fn changed<T: PartialEq>(a: &[T], b: &[T]) -> usize {
            let all = a.len().max(b.len());
            (0..all).filter(|k| a.get(*k) != b.get(*k)).count()
        }
        [
            changed(&self.nodes, &before.nodes),
            changed(&self.blocks, &before.blocks),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Fans of `valence` triangles about a middle of their own each.
    fn fans(count: u32, valence: u32) -> Vec<[u32; 3]> {
        let fan = |f: u32| {
            let first = f * (valence + 1);
            let rim = move |k: u32| first + 1 + k % valence;
            (0..valence).map(move |k| [first, rim(k), rim(k + 1)])
        };
        (0..count).flat_map(fan).collect()
    }

    #[test]
    fn an_edit_touches_the_stars_of_its_corners_however_many_others_are_large() {
        for valence in [8, 20, 300] {
            for count in [10, 1000] {
                let triangles = fans(count, valence);
                let nodes = (count * (valence + 1)) as usize;
                let stars = Stars::new(&triangles, nodes);
                let blocks = stars.blocks.len();
                let mut edited = stars.clone();
                // Out of the fifth fan, one by one, and in again by other numbers.
                let some = 4 * valence..4 * valence + 8;
                for t in some.clone() {
                    edited.remove(t, triangles[t as usize]);
                }
                for (k, t) in some.clone().enumerate() {
                    edited.add(triangles.len() as u32 + k as u32, triangles[t as usize]);
                }
                let [changed, places] = edited.touched(&stars);
                assert!(changed <= 10, "{valence}, {count}: {changed}");
                // Those of one node, and those that are divided.
                let most = (valence as usize).div_ceil(WIDE) + 2;
                assert!(places <= most, "{valence}, {count}: {places}");
                assert!(edited.blocks.len() <= blocks + 2);
                // Room that was given back is used again.
                for _ in 0..100 {
                    for (k, t) in some.clone().enumerate() {
                        let new = triangles.len() as u32 + k as u32;
                        edited.remove(new, triangles[t as usize]);
                        edited.add(t, triangles[t as usize]);
                        edited.remove(t, triangles[t as usize]);
                        edited.add(new, triangles[t as usize]);
                    }
                }
                let most = blocks + (valence as usize).div_ceil(WIDE) + 1;
                assert!(edited.blocks.len() <= most, "{valence}, {count}");
            }
        }
    }

    #[test]
    fn one_node_of_all_triangles_keeps_their_order() {
        let mut stars = Stars::new(&[], 3);
        for t in (0..500).step_by(2).chain((1..500).rev().step_by(2)) {
            stars.add(t, [0, 1, 2]);
        }
        assert!(stars.around(1).eq(0..500));
        for t in (0..500).filter(|t| t % 7 != 3) {
            stars.remove(t, [0, 1, 2]);
        }
        assert!(stars.around(1).eq((3..500).step_by(7)));
        assert!(stars.around(3).next().is_none());
        for t in 0..500 {
            stars.remove(t, [0, 1, 2]);
        }
        assert!(stars.around(2).next().is_none());
        let blocks = stars.blocks.len();
        for t in 0..200 {
            stars.add(t, [2, 0, 1]);
        }
        assert!(stars.around(0).eq(0..200));
        assert_eq!(stars.blocks.len(), blocks, "given back");
    }

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

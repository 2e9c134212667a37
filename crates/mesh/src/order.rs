//! The order of vertices: neighbours near each other in memory (K77).

use crate::Surface;
use std::collections::VecDeque;

impl Surface {
    /// Numbers its vertices anew so that those of an edge are near each other, after Cuthill and McKee: whoever goes through edges or triangles then
    /// finds most of what it needs in its cache. Triangles follow in the order of their lowest vertex. Returns for each vertex its old number.
    ///
    /// Vertices that no triangle uses come last. Corners beyond the vertices stay where they point.
    pub fn put_in_order(&mut self) -> Vec<u32> {
        let count = self.positions.len();
        let edges = self.edges();
        let edges = edges
            .iter()
            .filter(|e| e.iter().all(|v| (*v as usize) < count));
        let mut neighbours = vec![Vec::new(); count];
        for [a, b] in edges {
            neighbours[*a as usize].push(*b);
            neighbours[*b as usize].push(*a);
        }
        let degree: Vec<usize> = neighbours.iter().map(Vec::len).collect();
        for list in &mut neighbours {
            list.sort_unstable_by_key(|v| (degree[*v as usize], *v));
        }
        let mut walk = Walk {
            neighbours: &neighbours,
            seen: vec![0; count],
            round: 0,
        };
        let mut order: Vec<u32> = Vec::with_capacity(count);
        let mut placed = vec![false; count];
        for start in 0..count as u32 {
            if placed[start as usize] || degree[start as usize] == 0 {
                continue;
            }
            // From the farthest of the farthest on: what is long is gone through from one end to the other.
            let end = walk.from(start).last().copied().unwrap_or(start);
            let first = walk.from(end).last().copied().unwrap_or(end);
            let part = walk.from(first);
            part.iter().for_each(|v| placed[*v as usize] = true);
            order.extend(part);
        }
        order.extend((0..count as u32).filter(|v| degree[*v as usize] == 0));
        let mut new = vec![0; count];
        for (to, from) in (0..).zip(&order) {
            new[*from as usize] = to;
        }
        self.positions = order.iter().map(|v| self.positions[*v as usize]).collect();
        for vertex in self.triangles.as_flattened_mut() {
            *vertex = new.get(*vertex as usize).copied().unwrap_or(*vertex);
        }
        self.triangles
            .sort_by_key(|t| t.iter().min().copied().unwrap_or_default());
        order
    }

    /// How far the numbers of an edge's vertices are apart, on average.
    pub fn edge_reach(&self) -> f64 {
        let edges = self.edges();
        let apart = edges.iter().map(|[a, b]| f64::from(a.abs_diff(*b)));
        apart.sum::<f64>() / edges.len().max(1) as f64
    }
}

/// Goes through what hangs together, breadth first.
struct Walk<'a> {
    neighbours: &'a [Vec<u32>],
    /// Of each vertex: in which round it was last seen.
    seen: Vec<u32>,
    round: u32,
}

impl Walk<'_> {
    fn from(&mut self, start: u32) -> Vec<u32> {
        self.round += 1;
        let (mut found, mut queue) = (Vec::new(), VecDeque::from([start]));
        self.seen[start as usize] = self.round;
        while let Some(vertex) = queue.pop_front() {
            found.push(vertex);
            for next in &self.neighbours[vertex as usize] {
                if std::mem::replace(&mut self.seen[*next as usize], self.round) != self.round {
                    queue.push_back(*next);
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;
    use proptest::prelude::*;

    /// A strip of two rows, its vertices numbered by `shuffle`.
    fn strip(length: u32, shuffle: &[u32]) -> Surface {
        let at = |row: u32, k: u32| shuffle[(row * length + k) as usize];
        let mut positions = vec![DVec3::ZERO; 2 * length as usize];
        let mut triangles = Vec::new();
        for row in 0..2 {
            for k in 0..length {
                positions[at(row, k) as usize] = DVec3::new(f64::from(k), f64::from(row), 0.0);
            }
        }
        for k in 1..length {
            triangles.push([at(0, k - 1), at(0, k), at(1, k)]);
            triangles.push([at(0, k - 1), at(1, k), at(1, k - 1)]);
        }
        Surface {
            positions,
            triangles,
        }
    }

    /// What is there, whatever its numbers are.
    fn corners(surface: &Surface) -> Vec<[[u64; 3]; 3]> {
        let place = |v: u32| surface.positions[v as usize].to_array().map(f64::to_bits);
        let mut all: Vec<_> = surface.triangles.iter().map(|t| t.map(place)).collect();
        all.sort_unstable();
        all
    }

    proptest! {
        #[test]
        fn the_surface_stays_and_neighbours_come_together(
            shuffle in Just((0..200_u32).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            let mut surface = strip(100, &shuffle);
            let (before, old) = (corners(&surface), surface.positions.clone());
            let order = surface.put_in_order();
            prop_assert_eq!(corners(&surface), before);
            for (now, was) in surface.positions.iter().zip(&order) {
                prop_assert_eq!(*now, old[*was as usize]);
            }
            // Two rows side by side: nothing has to be farther away than the next two.
            prop_assert!(surface.edge_reach() < 2.5, "{}", surface.edge_reach());
            prop_assert!(strip(100, &shuffle).edge_reach() > 20.0);
            let again = surface.clone();
            surface.put_in_order();
            prop_assert!(surface.edge_reach() <= 1.1 * again.edge_reach());
        }
    }

    #[test]
    fn parts_lone_vertices_and_bad_corners_are_kept() {
        let mut surface = Surface {
            positions: (0..8).map(|k| DVec3::splat(f64::from(k))).collect(),
            triangles: vec![[5, 1, 3], [6, 2, 7], [0, 1, 99]],
        };
        let order = surface.put_in_order();
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..8).collect::<Vec<_>>());
        assert_eq!(order[7], 4, "nothing uses it");
        assert_eq!(surface.triangles.len(), 3);
        assert!(surface.triangles.as_flattened().contains(&99));
        Surface::default().put_in_order();
    }
}

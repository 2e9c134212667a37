//! Fewer triangles, where they are least missed: edges collapse in the order of the error it makes (quadrics after Garland and
//! Heckbert), so that nodes stay dense where a surface is curved and become sparse where it is flat (K29).

use crate::Surface;
use glam::{DMat3, DVec3};
use std::{
    cmp::Ordering,
    collections::{BTreeSet, BinaryHeap},
};

/// The sum of squared distances from planes: xᵀ A x − 2 b·x + c.
#[derive(Clone, Copy, Debug, Default)]
struct Quadric {
    a: DMat3,
    b: DVec3,
    c: f64,
}

impl Quadric {
    /// That of a plane through `point` with unit `normal`, weighed by `area`.
    fn plane(point: DVec3, normal: DVec3, area: f64) -> Self {
        let d = normal.dot(point);
        let outer = DMat3::from_cols(normal * normal.x, normal * normal.y, normal * normal.z);
        Self {
            a: outer * area,
            b: normal * (d * area),
            c: d * d * area,
        }
    }

    fn zero() -> Self {
        Self {
            a: DMat3::ZERO,
            b: DVec3::ZERO,
            c: 0.0,
        }
    }

    fn add(&self, other: &Self) -> Self {
        Self {
            a: self.a + other.a,
            b: self.b + other.b,
            c: self.c + other.c,
        }
    }

    fn at(&self, x: DVec3) -> f64 {
        (x.dot(self.a * x) - 2.0 * self.b.dot(x) + self.c).max(0.0)
    }

    /// Where it is least, if that is one point and not a line or a plane.
    fn least(&self) -> Option<DVec3> {
        let size = self.a.x_axis.x + self.a.y_axis.y + self.a.z_axis.z;
        let det = self.a.determinant();
        (det.abs() > 1e-9 * size * size * size).then(|| self.a.inverse() * self.b)
    }
}

/// A collapse that may be made: cheapest first, then by its vertices, so that the order is the same everywhere.
#[derive(Clone, Copy, PartialEq)]
struct Collapse {
    cost: f64,
    ends: [u32; 2],
    /// How often its ends had been changed when it was judged.
    age: [u32; 2],
    to: DVec3,
}

impl Eq for Collapse {}

impl Ord for Collapse {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.cost.total_cmp(&self.cost)).then_with(|| other.ends.cmp(&self.ends))
    }
}

impl PartialOrd for Collapse {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

struct Work {
    position: Vec<DVec3>,
    triangles: Vec<Option<[u32; 3]>>,
    /// Triangles at each vertex.
    around: Vec<Vec<u32>>,
    quadric: Vec<Quadric>,
    age: Vec<u32>,
    left: usize,
}

impl Work {
    fn new(surface: &Surface) -> Self {
        let count = surface.positions.len();
        let mut work = Self {
            position: surface.positions.clone(),
            triangles: surface.triangles.iter().copied().map(Some).collect(),
            around: vec![Vec::new(); count],
            quadric: vec![Quadric::zero(); count],
            age: vec![0; count],
            left: 0,
        };
        for (t, triangle) in surface.triangles.iter().enumerate() {
            let [a, b, c] = triangle.map(|v| surface.positions[v as usize]);
            let normal = (b - a).cross(c - a);
            let area = 0.5 * normal.length();
            let quadric = Quadric::plane(a, normal.normalize_or_zero(), area);
            for v in triangle {
                work.around[*v as usize].push(t as u32);
                work.quadric[*v as usize] = work.quadric[*v as usize].add(&quadric);
            }
        }
        work.left = work.around.iter().filter(|a| !a.is_empty()).count();
        work
    }

    fn neighbours(&self, v: u32) -> BTreeSet<u32> {
        let at = self.around[v as usize].iter();
        let corners = at.filter_map(|t| self.triangles[*t as usize]).flatten();
        corners.filter(|n| *n != v).collect()
    }

    fn judge(&self, [a, b]: [u32; 2]) -> Collapse {
        let (i, j) = (a as usize, b as usize);
        let quadric = self.quadric[i].add(&self.quadric[j]);
        let middle = (self.position[i] + self.position[j]) * 0.5;
        let length = self.position[i].distance(self.position[j]);
        // A point far off the edge is the answer to a badly posed question.
        let best = quadric.least().filter(|p| p.distance(middle) < length);
        let to = best.unwrap_or(middle);
        Collapse {
            // Of equally flat edges the shortest goes first, so that triangles stay well shaped.
            cost: quadric.at(to) + 1e-4 * (length * length) * (length * length),
            ends: [a, b],
            age: [self.age[i], self.age[j]],
            to,
        }
    }

    /// True if the surface stays a surface without the edge, and no triangle turns over.
    fn may(&self, collapse: &Collapse) -> bool {
        let [a, b] = collapse.ends;
        let (around_a, around_b) = (self.neighbours(a), self.neighbours(b));
        if around_a.intersection(&around_b).count() != 2 || around_a.union(&around_b).count() < 5 {
            return false;
        }
        let turns = |v: u32, other: u32| {
            let of = self.around[v as usize].iter();
            of.filter_map(|t| self.triangles[*t as usize])
                .filter(|t| !t.contains(&other))
                .any(|t| {
                    let at = |v: u32| self.position[v as usize];
                    let moved = |n: u32| if n == v { collapse.to } else { at(n) };
                    let normal = |[a, b, c]: [DVec3; 3]| (b - a).cross(c - a);
                    let (before, after) = (normal(t.map(at)), normal(t.map(moved)));
                    after.dot(before) < 0.2 * after.length() * before.length()
                        || after.length() < 1e-3 * before.length()
                })
        };
        !turns(a, b) && !turns(b, a)
    }

    fn collapse(&mut self, collapse: &Collapse) {
        let [a, b] = collapse.ends;
        let (i, j) = (a as usize, b as usize);
        self.position[i] = collapse.to;
        self.quadric[i] = self.quadric[i].add(&self.quadric[j]);
        for t in std::mem::take(&mut self.around[j]) {
            let Some(corners) = self.triangles[t as usize] else {
                continue;
            };
            if corners.contains(&a) {
                self.triangles[t as usize] = None;
                continue;
            }
            self.triangles[t as usize] = Some(corners.map(|v| if v == b { a } else { v }));
            self.around[i].push(t);
        }
        let triangles = &self.triangles;
        for v in self.around[i]
            .iter()
            .filter_map(|t| triangles[*t as usize])
            .flatten()
            .collect::<BTreeSet<u32>>()
        {
            let list = &mut self.around[v as usize];
            list.retain(|t| self.triangles[*t as usize].is_some());
            self.age[v as usize] += 1;
        }
        self.around[i].retain(|t| self.triangles[*t as usize].is_some());
        self.left -= 1;
    }
}

impl Surface {
    /// The same shape with at most `most` vertices, if it can be had without making it something else: a closed manifold
    /// surface stays one. Vertices stay dense where it is curved.
    pub fn coarsened(&self, most: usize) -> Self {
        let mut work = Work::new(self);
        let mut heap: BinaryHeap<Collapse> = BinaryHeap::new();
        for [a, b] in self.edges() {
            heap.push(work.judge([a, b]));
        }
        while work.left > most.max(4) {
            let Some(next) = heap.pop() else { break };
            let now = next.ends.map(|v| work.age[v as usize]);
            let gone = next
                .ends
                .iter()
                .any(|v| work.around[*v as usize].is_empty());
            if gone || now != next.age {
                continue;
            }
            if !work.may(&next) {
                continue;
            }
            work.collapse(&next);
            let a = next.ends[0];
            let near = work.neighbours(a);
            for n in &near {
                for m in work.neighbours(*n) {
                    // Edges around the change are judged anew; each once.
                    if m > *n || !near.contains(&m) {
                        heap.push(work.judge([*n.min(&m), *n.max(&m)]));
                    }
                }
            }
        }
        let mut new = vec![u32::MAX; work.position.len()];
        let mut surface = Self::default();
        for triangle in work.triangles.iter().flatten() {
            let corners = triangle.map(|v| {
                if new[v as usize] == u32::MAX {
                    new[v as usize] = surface.positions.len() as u32;
                    surface.positions.push(work.position[v as usize]);
                }
                new[v as usize]
            });
            surface.triangles.push(corners);
        }
        surface
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitive::TubeShape;

    fn organ() -> Surface {
        let shape = TubeShape {
            path: vec![DVec3::ZERO, DVec3::X * 0.05, DVec3::X * 0.1],
            radii: vec![[0.02, 0.03]],
            up: DVec3::Y,
            rings: 30,
            around: 40,
        };
        shape.organ().unwrap().surface
    }

    #[test]
    fn a_closed_surface_stays_one_and_keeps_its_volume() {
        let fine = organ();
        for most in [600, 200, 60] {
            let coarse = fine.coarsened(most);
            let topology = coarse.topology();
            assert!(topology.is_closed() && topology.is_manifold() && topology.is_oriented());
            assert_eq!(topology.euler(), 2);
            assert!(coarse.positions.len() <= most, "{topology}");
            let ratio = coarse.volume() / fine.volume();
            assert!((0.93..1.07).contains(&ratio), "{most}: {ratio}");
        }
    }

    #[test]
    fn nodes_stay_where_it_is_curved() {
        // A plate with a hump: flat for most of it, curved in the middle.
        let hump = |x: f64, y: f64| 0.3 * (1.0 - 9.0 * (x * x + y * y)).max(0.0);
        let mut fine = Surface::default();
        let n = 40_u32;
        for k in 0..n * n {
            let (x, y) = (f64::from(k % n), f64::from(k / n));
            let (x, y) = (x / 19.5 - 1.0, y / 19.5 - 1.0);
            fine.positions.push(DVec3::new(x, y, hump(x, y)));
        }
        for k in (0..n * (n - 1)).filter(|k| k % n != n - 1) {
            fine.triangles.push([k, k + 1, k + n]);
            fine.triangles.push([k + 1, k + n + 1, k + n]);
        }
        let coarse = fine.coarsened(300);
        assert!(coarse.positions.len() <= 300);
        let inside = |p: &&DVec3| p.x * p.x + p.y * p.y < 1.0 / 9.0;
        let curved = |s: &Surface| {
            let count = s.positions.iter().filter(inside).count();
            count as f64 / s.positions.len() as f64
        };
        let (before, after) = (curved(&fine), curved(&coarse));
        assert!(after > 2.0 * before, "{after} after {before}");
    }

    #[test]
    fn what_is_coarse_enough_stays_as_it_is() {
        let fine = organ();
        assert_eq!(fine.coarsened(10_000).triangles.len(), fine.triangles.len());
    }
}

//! What a detector finds.

use glam::DVec3;

use super::Pair;

/// One point at which two bodies touch, or nearly (B78).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// On body a, in a's frame, m.
    pub a: DVec3,
    /// On body b, in b's frame, m.
    pub b: DVec3,
    /// Distance along the normal, m; negative where they overlap.
    pub gap: f64,
    /// The features of a and of b that meet: the same from step to step while they do, unique within the manifold.
    pub id: (u32, u32),
}

/// All points at which one convex part of a body touches one of another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Manifold {
    /// Who touches whom.
    pub pair: Pair,
    /// The pieces of a and b. Pieces are counted through all parts of a shape: each triangle of a mesh is one, any other part is one.
    pub part: (u32, u32),
    /// Unit, in the world, from a to b.
    pub normal: DVec3,
    /// Index of its first point in [`Contacts::points`].
    pub first: u32,
    /// How many points it has; at least 1.
    pub count: u32,
}

/// The contacts of many pairs. Keeps its memory when cleared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contacts {
    /// Sorted by pair and part if the pairs were.
    pub manifolds: Vec<Manifold>,
    /// The points of all manifolds, in their order.
    pub points: Vec<Point>,
}

impl Contacts {
    /// Sorts the manifolds from `start` on by their parts, and their points with them; `room` is memory for it.
    pub(super) fn sort_from(&mut self, start: usize, room: &mut Vec<Point>) {
        let some = &mut self.manifolds[start..];
        if some.is_sorted_by_key(|m| m.part) {
            return;
        }
        let first = some.iter().map(|m| m.first).min().unwrap_or(0) as usize;
        some.sort_unstable_by_key(|m| m.part);
        room.clear();
        for manifold in some {
            let from = manifold.first as usize;
            manifold.first = (first + room.len()) as u32;
            room.extend_from_slice(&self.points[from..from + manifold.count as usize]);
        }
        self.points[first..].copy_from_slice(room);
    }

    /// Forgets all contacts.
    pub fn clear(&mut self) {
        self.manifolds.clear();
        self.points.clear();
    }

    /// The points of `manifold`.
    pub fn points_of(&self, manifold: &Manifold) -> &[Point] {
        &self.points[manifold.first as usize..(manifold.first + manifold.count) as usize]
    }

    /// Every manifold with its points.
    pub fn iter(&self) -> impl Iterator<Item = (&Manifold, &[Point])> {
        self.manifolds.iter().map(|m| (m, self.points_of(m)))
    }

    /// Adds the contacts of `other` behind these: puts together what several threads found.
    pub fn append(&mut self, other: &Self) {
        let offset = self.points.len() as u32;
        self.points.extend_from_slice(&other.points);
        self.manifolds
            .extend(other.manifolds.iter().map(|m| Manifold {
                first: m.first + offset,
                ..*m
            }));
    }

    /// Makes a manifold of the points from `first` on, sorted by their features; nothing if there are none.
    pub(super) fn close(&mut self, pair: Pair, part: (u32, u32), normal: DVec3, first: usize) {
        let count = self.points.len() - first;
        if count == 0 {
            return;
        }
        self.points[first..].sort_unstable_by_key(|p| p.id);
        self.manifolds.push(Manifold {
            pair,
            part,
            normal,
            first: first as u32,
            count: count as u32,
        });
    }
}

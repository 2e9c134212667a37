//! What will meet before anybody looks again: nodes and faces, edges and edges that go straight (F43).
//!
//! Surfaces that go farther in a substep than their triangles are large are near each other neither before nor after it. So each pair is swept along
//! its way, and what will come within a thickness is a contact before it has.

use super::{
    Feature, Fold, SWEPT, Spot,
    features::{EDGES, borne},
};
use crate::{
    closest,
    sweep::{self, Impact, Moving},
    tree::Side,
};
use glam::DVec3;
use trocar_math::Bounds;

/// Where the nodes of a surface go in the time that is looked ahead.
#[derive(Clone, Copy, Debug)]
pub struct Ahead<'a> {
    /// The way of each node, m. One that has none stands still.
    pub ways: &'a [DVec3],
    /// How near features have to come on their way to count, m.
    pub thickness: f64,
}

impl Ahead<'_> {
    pub(super) fn way(&self, node: u32) -> DVec3 {
        self.ways.get(node as usize).copied().unwrap_or_default()
    }

    /// The middle of the ways of so many nodes, and how much any two may differ at most, m. A surface that flies as a whole comes no nearer to itself.
    pub(super) fn spread(&self, nodes: usize) -> (DVec3, f64) {
        let still = (self.ways.len() < nodes).then_some(DVec3::ZERO);
        let all = Bounds::of(self.ways.iter().copied().chain(still));
        if all.low.cmpgt(all.high).any() {
            return (DVec3::ZERO, 0.0);
        }
        (all.centre(), all.size().length())
    }

    /// A box around a triangle on all its way, seen by somebody who goes along with `mean` (m).
    pub(super) fn around(&self, nodes: [u32; 3], corners: &[DVec3; 3], mean: DVec3) -> Bounds {
        let ends = [0, 1, 2].map(|k| corners[k] + (self.way(nodes[k]) - mean));
        Bounds::of(corners.iter().copied().chain(ends))
    }
}

/// Adds what will meet in a pair of triangles. False if nobody can tell, as something is no number.
pub(super) fn meetings_of(
    pair: [u32; 2],
    surface: Side<'_>,
    (ahead, mean): (&Ahead<'_>, DVec3),
    out: &mut Vec<Fold>,
) -> bool {
    let [Some(s), Some(t)] = pair.map(|t| surface.tree.triangle(t)) else {
        return true;
    };
    let corners = [s, t].map(|t| t.map(|n| surface.place(n)));
    let boxes = [0, 1].map(|k| ahead.around([s, t][k], &corners[k], mean));
    let near = ahead.thickness * (1.0 + 1e-9) + sweep::TOLERANCE;
    if !boxes[0].grown(near).overlaps(&boxes[1]) {
        return true;
    }
    // Who goes along with the middle sees the shortest ways, and the least rounding.
    let moving = |nodes: [u32; 3], corners: [DVec3; 3]| {
        [0, 1, 2].map(|k| Moving {
            from: corners[k],
            way: ahead.way(nodes[k]) - mean,
        })
    };
    let [one, other] = [0, 1].map(|k| moving([s, t][k], corners[k]));
    let meet = Meet {
        ahead,
        surface,
        nodes: [s, t],
        ways: [one, other],
        pair,
    };
    meet.find(out)
}

struct Meet<'a> {
    ahead: &'a Ahead<'a>,
    surface: Side<'a>,
    nodes: [[u32; 3]; 2],
    ways: [[Moving; 3]; 2],
    pair: [u32; 2],
}

impl Meet<'_> {
    fn find(&self, out: &mut Vec<Fold>) -> bool {
        let (radius, tolerance) = (self.ahead.thickness, sweep::TOLERANCE);
        let mut told = true;
        for side in 0..2 {
            let (one, other) = (self.ways[side], self.ways[1 - side]);
            let around = self.around(&other);
            for (k, point) in one.into_iter().enumerate() {
                if !around.overlaps(&path(&[point])) {
                    continue;
                }
                let Some(impact) = sweep::point_triangle(point, other, radius, tolerance) else {
                    continue;
                };
                let mut own = [0.0; 3];
                own[k] = 1.0;
                told &= impact.certain;
                self.add([side, 1 - side], [own, impact.weights], &impact, out);
            }
        }
        let [one, other] = self.ways;
        for (i, j) in EDGES {
            let around = self.around(&[one[i], one[j]]);
            for (k, l) in EDGES {
                let edges = ([one[i], one[j]], [other[k], other[l]]);
                // Most are not near each other at any time.
                if !around.overlaps(&path(&edges.1)) {
                    continue;
                }
                let found = sweep::edge_edge(edges.0, edges.1, radius, tolerance);
                let Some(impact) = found else {
                    continue;
                };
                let mut weights = [[0.0; 3]; 2];
                (weights[0][i], weights[0][j]) = (1.0 - impact.along, impact.along);
                (weights[1][k], weights[1][l]) = (impact.weights[0], impact.weights[1]);
                told &= impact.certain;
                // Ends are nodes, which have had their turn.
                let inner = |w: [f64; 3]| w.iter().filter(|w| **w > 0.0).count() == 2;
                if !impact.certain || weights.into_iter().all(inner) {
                    self.add([0, 1], weights, &impact, out);
                }
            }
        }
        told
    }

    /// A box around points on all their way, larger by as much as others may come near.
    fn around(&self, points: &[Moving]) -> Bounds {
        let near = self.ahead.thickness * (1.0 + 1e-9) + sweep::TOLERANCE;
        path(points).grown(near)
    }

    /// Adds points that will meet, of the triangles in this order.
    fn add(&self, order: [usize; 2], weights: [[f64; 3]; 2], impact: &Impact, out: &mut Vec<Fold>) {
        let normal = -impact.normal;
        if normal == DVec3::ZERO || !normal.is_finite() {
            return;
        }
        let mut spots = [0, 1].map(|k| Spot {
            triangle: self.pair[order[k]],
            weights: weights[k],
        });
        let Some((feature, swapped)) = borne(order.map(|k| self.nodes[k]), &spots) else {
            return;
        };
        let [p, q] =
            [0, 1].map(|k| closest::point(self.ways[order[k]].map(|m| m.from), weights[k]));
        let distance = (p - q).dot(normal);
        let normal = if swapped { -normal } else { normal };
        if swapped {
            spots.swap(0, 1);
        }
        let then = |n: u32| self.surface.place(n) + self.ahead.way(n) * impact.time;
        out.push(Fold {
            id: SWEPT,
            feature,
            spots,
            normal,
            distance,
            side: side_of(&feature, normal, then),
        });
    }
}

/// A box around points on all their way. Without limits where something is no number.
fn path(points: &[Moving]) -> Bounds {
    Bounds::of(points.iter().flat_map(|m| [m.from, m.from + m.way]))
}

/// On which side of its feature's own direction a way out points, with nodes where `then` says; 0 if it has none.
fn side_of(feature: &Feature, normal: DVec3, then: impl Fn(u32) -> DVec3) -> i8 {
    match feature.direction(then) {
        None => 0,
        Some(direction) if direction.dot(normal) < 0.0 => -1,
        Some(_) => 1,
    }
}

//! What is near in a pair of triangles.

use super::{Feature, Fold, NONE, Spot};
use crate::{
    closest,
    tree::{Side, Tree},
    triangle,
};
use glam::DVec3;

/// What a pair of triangles looks at, a bit each: corners of the first with the second, corners of the second with the first, edges with edges. Others that have the same
/// node or edge look at the rest.
pub(super) type Owned = u16;

/// All of it.
pub(super) const ALL: Owned = (1 << 15) - 1;

/// That a pair may look at something: the nodes of both, its triangles, the pair and the bit. The first of those with the same nodes does, which is the one that the
/// features of all of them would be told of.
pub(super) type Claim = ([u64; 2], [u32; 2], u32, u8);

/// Shares out what is to be looked at among pairs: a node is in six triangles, and an edge in two.
pub(super) fn share_out(
    pairs: &[[u32; 2]],
    tree: &Tree,
    claims: &mut Vec<Claim>,
    owned: &mut Vec<Owned>,
) {
    let joined = |a: u32, b: u32| u64::from(a) << 32 | u64::from(b);
    let edge = |t: [u32; 3], (i, j): (usize, usize)| joined(t[i].min(t[j]), t[i].max(t[j]));
    claims.clear();
    owned.clear();
    owned.resize(pairs.len(), 0);
    for (at, pair) in (0..).zip(pairs) {
        let [Some(s), Some(t)] = pair.map(|t| tree.triangle(t)) else {
            continue;
        };
        let swapped = [pair[1], pair[0]];
        for k in 0..3 {
            let node = |n: u32, of: [u32; 2]| [joined(NONE, n), joined(NONE, of[1])];
            claims.push((node(s[k], *pair), *pair, at, k as u8));
            claims.push((node(t[k], swapped), swapped, at, 3 + k as u8));
        }
        for (i, one) in EDGES.into_iter().enumerate() {
            for (j, other) in EDGES.into_iter().enumerate() {
                let (e, f) = (edge(s, one), edge(t, other));
                let bit = (6 + 3 * i + j) as u8;
                claims.push(if e <= f {
                    ([e, f], *pair, at, bit)
                } else {
                    ([f, e], swapped, at, bit)
                });
            }
        }
    }
    claims.sort_unstable();
    let mut last = None;
    for (key, _, pair, bit) in claims.iter() {
        if last != Some(*key) {
            owned[*pair as usize] |= 1 << bit;
        }
        last = Some(*key);
    }
}

/// Adds what is near in a pair of triangles, of what it owns. False if nobody can tell, as a corner is no number.
pub(super) fn features_of(
    (pair, owned): ([u32; 2], Owned),
    surface: Side<'_>,
    thickness: f64,
    out: &mut Vec<Fold>,
) -> bool {
    let [Some(s), Some(t)] = pair.map(|t| surface.tree.triangle(t)) else {
        return true;
    };
    let corners = |t: [u32; 3]| t.map(|n| surface.place(n));
    let (at_s, at_t) = (corners(s), corners(t));
    if !at_s.iter().chain(&at_t).all(|p| p.is_finite()) {
        return false;
    }
    // Of the pairs that a look leaves over for some time most are far apart at any one.
    let near = thickness * (1.0 + 1e-9);
    let around = [at_s, at_t].map(|t| around(&t, near));
    if !overlap(around[0], extent(&at_t)) || lie_apart(at_s, at_t, near) {
        return true;
    }
    let owns = |bit: usize| owned >> bit & 1 != 0;
    for ((one, at_one, this), (other, at_other, that), first) in [
        ((s, at_s, pair[0]), (t, at_t, pair[1]), 0),
        ((t, at_t, pair[1]), (s, at_s, pair[0]), 3),
    ] {
        // Most corners of one are not near the other.
        let [low, high] = around[usize::from(first == 0)];
        for k in 0..3 {
            let p = at_one[k];
            if !owns(first + k) || p.cmplt(low).any() || p.cmpgt(high).any() {
                continue;
            }
            let weights = closest::on_triangle(at_one[k], at_other);
            let mut own = [0.0; 3];
            own[k] = 1.0;
            let spots = [
                Spot {
                    triangle: this,
                    weights: own,
                },
                Spot {
                    triangle: that,
                    weights,
                },
            ];
            add(([one, other], [at_one, at_other]), spots, thickness, out);
        }
    }
    for (e, (i, j)) in EDGES.into_iter().enumerate() {
        let edge = [at_s[i].min(at_s[j]) - near, at_s[i].max(at_s[j]) + near];
        if owned >> (6 + 3 * e) & 7 == 0 || !overlap(edge, extent(&at_t)) {
            continue;
        }
        for (f, (k, l)) in EDGES.into_iter().enumerate() {
            let other = [at_t[k].min(at_t[l]), at_t[k].max(at_t[l])];
            if !owns(6 + 3 * e + f) || !overlap(edge, other) {
                continue;
            }
            let (along, other) = closest::segment_segment(at_s[i], at_s[j], at_t[k], at_t[l]);
            let inner = |x: f64| x > 0.0 && x < 1.0;
            // Ends are nodes, which have had their turn.
            if !(inner(along) && inner(other)) {
                continue;
            }
            let mut weights = [[0.0; 3]; 2];
            (weights[0][i], weights[0][j]) = (1.0 - along, along);
            (weights[1][k], weights[1][l]) = (1.0 - other, other);
            let spot = |side: usize| Spot {
                triangle: pair[side],
                weights: weights[side],
            };
            add(([s, t], [at_s, at_t]), [spot(0), spot(1)], thickness, out);
        }
    }
    if triangle::touch(&at_s, &at_t) {
        pierce(([s, t], [at_s, at_t]), pair, out);
        pierce(([t, s], [at_t, at_s]), [pair[1], pair[0]], out);
    }
    true
}

/// The least and the greatest corner of a box around a triangle.
fn extent(&[a, b, c]: &[DVec3; 3]) -> [DVec3; 2] {
    [a.min(b).min(c), a.max(b).max(c)]
}

/// The same, larger by `more` (m).
fn around(t: &[DVec3; 3], more: f64) -> [DVec3; 2] {
    let [low, high] = extent(t);
    [low - more, high + more]
}

fn overlap([low, high]: [DVec3; 2], other: [DVec3; 2]) -> bool {
    low.cmple(other[1]).all() && other[0].cmple(high).all()
}

/// True if two triangles are seen to lie farther than `far` (m) apart along the line between their middles, across one of their sides, or above one of them. Never
/// wrongly, as nothing is nearer than it seems along a line. In a flat sheet all that share no corner do, and nobody need work out their nearest points.
pub(super) fn lie_apart(s: [DVec3; 3], t: [DVec3; 3], far: f64) -> bool {
    let middle = |t: [DVec3; 3]| (t[0] + t[1] + t[2]) / 3.0;
    let along = |axis: DVec3| {
        let [p, q] = [s, t].map(|corners| corners.map(|c| c.dot(axis)));
        let gap = |p: [f64; 3], q: [f64; 3]| q[0].min(q[1]).min(q[2]) - p[0].max(p[1]).max(p[2]);
        let gap = gap(p, q).max(gap(q, p));
        gap > 0.0 && gap * gap > far * far * axis.length_squared()
    };
    if along(middle(t) - middle(s)) {
        return true;
    }
    [s, t].into_iter().any(|[a, b, c]| {
        let up = (b - a).cross(c - a);
        along(up)
            || [b - a, c - b, a - c]
                .into_iter()
                .any(|e| along(e.cross(up)))
    })
}

/// How far beside a face, in parts of its size, an edge may go through its plane: rounding, as it is known that the triangles touch.
const BESIDE: f64 = 1e-9;

/// Adds each edge of the first triangle that goes through the second one.
fn pierce(
    (nodes, [one, other]): ([[u32; 3]; 2], [[DVec3; 3]; 2]),
    pair: [u32; 2],
    out: &mut Vec<Fold>,
) {
    let [a, b, c] = other;
    let Some(up) = (b - a).cross(c - a).try_normalize() else {
        return;
    };
    let size = (b - a).length().max((c - a).length());
    for (i, j) in EDGES {
        let heights = [one[i], one[j]].map(|p| (p - a).dot(up));
        let crosses = |from: f64, to: f64| from < 0.0 && to > 0.0;
        if !(crosses(heights[0], heights[1]) || crosses(heights[1], heights[0])) {
            continue;
        }
        let along = heights[0] / (heights[0] - heights[1]);
        let at = one[i].lerp(one[j], along);
        let weights = closest::on_triangle(at, other);
        if closest::point(other, weights).distance(at) > BESIDE * size {
            continue;
        }
        let Some(feature) = Feature::new(&[nodes[0][i], nodes[0][j]], &nodes[1]) else {
            continue;
        };
        let mut own = [0.0; 3];
        (own[i], own[j]) = (1.0 - along, along);
        // It came from where most of it is, unless somebody knows better.
        let up = if heights[0] + heights[1] < 0.0 {
            -up
        } else {
            up
        };
        out.push(Fold {
            id: 0,
            feature,
            spots: [
                Spot {
                    triangle: pair[0],
                    weights: own,
                },
                Spot {
                    triangle: pair[1],
                    weights,
                },
            ],
            normal: up,
            distance: 0.0,
            side: 0,
        });
    }
}

pub(super) const EDGES: [(usize, usize); 3] = [(0, 1), (1, 2), (2, 0)];

/// Adds the contact of two spots if they are near enough.
fn add(
    (nodes, corners): ([[u32; 3]; 2], [[DVec3; 3]; 2]),
    mut spots: [Spot; 2],
    thickness: f64,
    out: &mut Vec<Fold>,
) {
    let [p, q] = [0, 1].map(|side| closest::point(corners[side], spots[side].weights));
    let distance = p.distance(q);
    if distance > thickness {
        return;
    }
    let Some((feature, swapped)) = borne(nodes, &spots) else {
        return;
    };
    let mut normal = (p - q) / distance.max(f64::MIN_POSITIVE);
    if swapped {
        spots.swap(0, 1);
        normal = -normal;
    }
    out.push(Fold {
        id: 0,
        feature,
        spots,
        normal,
        distance,
        side: 0,
    });
}

/// The feature of two spots, made of the nodes that have weight, and whether the second of them is its first.
pub(super) fn borne(nodes: [[u32; 3]; 2], spots: &[Spot; 2]) -> Option<(Feature, bool)> {
    let mut held = [[NONE; 3]; 2];
    let mut count = [0; 2];
    for side in 0..2 {
        for (node, weight) in nodes[side].iter().zip(spots[side].weights) {
            if weight > 0.0 {
                held[side][count[side]] = *node;
                count[side] += 1;
            }
        }
    }
    let feature = Feature::new(&held[0][..count[0]], &held[1][..count[1]])?;
    let swapped = !held[0][..count[0]].contains(&feature.a[0]);
    Some((feature, swapped))
}

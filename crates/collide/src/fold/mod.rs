//! A surface that touches itself: folds of a sheet, walls of a hollow organ.
//!
//! [`Folds`] finds where parts of a surface that have no corner in common come within a thickness of each other: a node over a face, an edge across
//! an edge, and at borders a node beside an edge or a node. Each contact is two [`Spot`]s, a triangle and weights, so that it can be
//! tied to what moves the surface; and it has a number that it keeps as long as the same features are near each other, frame after
//! frame and through edits. With the number goes the side from which one came to the other, so that what has got through is known to
//! be on the wrong side and is led back to where it came from.
//!
//! Where triangles go through each other (decided exactly), the edge and the face that it goes through are a contact, too, however far away the edge's ends
//! are; and what is known to be on the wrong side stays known while they do.
//!
//! Triangles with a common corner never count. A thickness greater than the distance between nodes two edges apart would find contacts in a
//! flat sheet.

mod ahead;
mod features;

use crate::{
    closest,
    tree::{Search, Side},
    triangle,
};
use glam::DVec3;
use trocar_math::{Alone, Workers};

pub use ahead::Ahead;
use features::{Claim, Owned};

/// No node.
const NONE: u32 = u32::MAX;

/// In place of a side, as long as it is not known which of two contacts stays.
const CHANGED: i8 = 2;

/// What is nearer than this part of the thickness when it is first seen is flush: rounding alone says on which side it lies.
const FLUSH: f64 = 1e-6;

/// In place of a number, of a contact that is still to come.
const SWEPT: u64 = u64::MAX;

/// A point of a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spot {
    /// The triangle.
    pub triangle: u32,
    /// Weights of its corners; their sum is 1.
    pub weights: [f64; 3],
}

/// Which features of the surface touch: nodes of the one and of the other in ascending order, [`u32::MAX`] where there are fewer. A node (1)
/// with a node, edge or face (1, 2, 3), an edge with an edge (2, 2), or an edge with the face it goes through (2, 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Feature {
    /// Nodes of the one.
    pub a: [u32; 2],
    /// Nodes of the other.
    pub b: [u32; 3],
}

impl Feature {
    /// Of these nodes, one or two here and one to three there, in any order; none if there are others, or one is on both sides.
    pub fn new(a: &[u32], b: &[u32]) -> Option<Self> {
        let common = a.iter().any(|n| b.contains(n));
        let known = matches!((a.len(), b.len()), (1, 1..=3) | (2, 2..=3));
        if common || !known {
            return None;
        }
        let mut feature = Self {
            a: [NONE; 2],
            b: [NONE; 3],
        };
        feature.a[..a.len()].copy_from_slice(a);
        feature.b[..b.len()].copy_from_slice(b);
        feature.a.sort_unstable();
        feature.b.sort_unstable();
        // Of two alike, the one with the lower node comes first.
        let alike = a.len() == b.len();
        if alike && feature.b[..2] < feature.a[..] {
            let a = feature.a;
            feature.a.copy_from_slice(&feature.b[..2]);
            feature.b[..2].copy_from_slice(&a);
        }
        Some(feature)
    }

    /// Whether it is an edge and the face it goes through.
    pub fn is_pierced(&self) -> bool {
        self.a[1] != NONE && self.b[2] != NONE
    }

    /// A direction that belongs to it, from nodes in their order: out of a face, or across two edges. None for others.
    fn direction(&self, at: impl Fn(u32) -> DVec3) -> Option<DVec3> {
        let [p, q, r] = self.b;
        let normal = if r != NONE {
            (at(q) - at(p)).cross(at(r) - at(p))
        } else if self.a[1] != NONE {
            (at(self.a[1]) - at(self.a[0])).cross(at(q) - at(p))
        } else {
            return None;
        };
        normal.try_normalize()
    }
}

/// Where a surface touches itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fold {
    /// Its own for as long as it lasts; never used again.
    pub id: u64,
    /// What touches.
    pub feature: Feature,
    /// The nearest points, of `feature.a` and of `feature.b`.
    pub spots: [Spot; 2],
    /// From the second point to the first, as it was when they met, or as it will be if they are still to meet: the way out. Length 1, or 0 if there is none.
    pub normal: DVec3,
    /// Between the points along the normal, m. Negative if the one has got through the other; 0 where an edge goes through a face.
    pub distance: f64,
    /// 1 or -1: on which side of the feature's own direction the first point belongs; 0 if it has none.
    pub side: i8,
}

/// The contacts of a surface with itself.
#[derive(Clone, Debug, Default)]
pub struct Folds {
    search: Search,
    /// Triangles that may touch until the next look.
    pairs: Vec<[u32; 2]>,
    /// Those that never count, in ascending order.
    joined: Vec<[u32; 2]>,
    /// What each of them looks at.
    owned: Vec<Owned>,
    claims: Vec<Claim>,
    /// As they are found, and their order.
    found: Vec<Fold>,
    order: Vec<Place>,
    /// In the order of features.
    folds: Vec<Fold>,
    before: Vec<Fold>,
    next: u64,
    broken: Option<[u32; 2]>,
}

impl Folds {
    /// Finds all contacts of features within `thickness` (m) of each other. `surface` has the positions of its last refit.
    pub fn update(&mut self, surface: Side<'_>, thickness: f64) -> &[Fold] {
        self.update_by(surface, thickness, &Alone)
    }

    /// [`update`](Self::update) with help.
    pub fn update_by(
        &mut self,
        surface: Side<'_>,
        thickness: f64,
        workers: &impl Workers,
    ) -> &[Fold] {
        self.look_by(surface, thickness, workers);
        self.find(surface, thickness)
    }

    /// Looks for triangles that come within `reach` (m) of each other; [`find`](Self::find) looks at no others. `surface` has the positions of its last
    /// refit. Returns how many pairs there are.
    pub fn look_by(&mut self, surface: Side<'_>, reach: f64, workers: &impl Workers) -> usize {
        // What lies apart farther than that, as most triangles of a flat sheet do, is looked at by nobody until the next time.
        let far = reach * (1.0 + 1e-9);
        let near = |s: &[DVec3; 3], t: &[DVec3; 3]| !features::lie_apart(*s, *t, far);
        let found = self.search.within_by(surface, reach, near, workers);
        self.pairs.clear();
        self.pairs.extend(apart(found, &self.joined));
        features::share_out(&self.pairs, surface.tree, &mut self.claims, &mut self.owned);
        self.pairs.len()
    }

    /// Looks for triangles that come within `reach` (m) of each other on their way; what [`find_ahead`](Self::find_ahead) is to find in one time of looking ahead. `surface` has the
    /// positions of its last refit. Returns how many pairs there are.
    pub fn look_ahead_by(
        &mut self,
        surface: Side<'_>,
        reach: f64,
        ahead: Ahead<'_>,
        workers: &impl Workers,
    ) -> usize {
        let (mean, spread) = ahead.spread(surface.positions.len());
        let near = |pair: [u32; 2], s: &[DVec3; 3], t: &[DVec3; 3]| {
            let around = |t: u32, corners: &[DVec3; 3]| {
                let nodes = surface.tree.triangle(t).unwrap_or([NONE; 3]);
                ahead.around(nodes, corners, mean)
            };
            around(pair[0], s)
                .grown(reach)
                .overlaps(&around(pair[1], t))
        };
        // What differs by no number may come from anywhere.
        let margin = if spread.is_nan() {
            f64::INFINITY
        } else {
            reach + spread
        };
        let found = self.search.pairs_within_by(surface, margin, near, workers);
        self.pairs.clear();
        self.pairs.extend(apart(found, &self.joined));
        // It serves once: to share out would cost more than it saves.
        self.owned.clear();
        self.owned.resize(self.pairs.len(), features::ALL);
        self.pairs.len()
    }

    /// From now on those pairs of triangles never count that go through each other as `surface` is now, if `wanted` says so, the lower one first: what is grown together has no
    /// side to be on. Numbers are those that `surface` has: an edit of such triangles wants another call. So does [`renumber`](Self::renumber), with the surface that has the new
    /// numbers, whether before or after it: it leaves these pairs alone.
    pub fn join(&mut self, surface: Side<'_>, wanted: impl Fn([u32; 2]) -> bool) -> usize {
        self.joined.clear();
        let touching = self.search.within(surface).iter().copied();
        self.joined.extend(touching.filter(|pair| wanted(*pair)));
        self.pairs.clear();
        self.owned.clear();
        self.joined.len()
    }

    /// The first pair of triangles of the last look that could not be judged, as a corner or its way is no number: whether they touch nobody can tell. All others were.
    pub fn broken(&self) -> Option<[u32; 2]> {
        self.broken
    }

    /// The pairs of triangles that the last look has left.
    pub fn near(&self) -> &[[u32; 2]] {
        &self.pairs
    }

    /// How many of them have a point in common, exactly, where nodes are now (H10). Those of which nobody can tell count.
    pub fn crossings(&self, surface: Side<'_>) -> usize {
        let corners = |t: u32| {
            let nodes = surface.tree.triangle(t)?;
            Some(nodes.map(|n| surface.place(n)))
        };
        let cross = |pair: &&[u32; 2]| match pair.map(corners) {
            [Some(a), Some(b)] => triangle::touch(&a, &b),
            // One that is gone crosses nothing.
            _ => false,
        };
        self.pairs.iter().filter(cross).count()
    }

    /// How many pairs of triangles the last look has left.
    pub fn pairs(&self) -> usize {
        self.pairs.len()
    }

    /// All contacts of features within `thickness` (m) of each other, among the triangles of the last look; so that is to be asked for as much more than
    /// the thickness as two points may come nearer to each other until the next one. (W57: a search once, what is near many times.) What is found does not depend on how
    /// much more it was. Of the tree only the triangles count, so that no refit is needed.
    pub fn find(&mut self, surface: Side<'_>, thickness: f64) -> &[Fold] {
        self.find_ahead(surface, thickness, None)
    }

    /// [`find`](Self::find), and what will come as near as `ahead` says on its way: a contact between the points that will meet, with the normal that it
    /// will have there, and the distance along it that there is now.
    pub fn find_ahead(
        &mut self,
        surface: Side<'_>,
        thickness: f64,
        ahead: Option<Ahead<'_>>,
    ) -> &[Fold] {
        std::mem::swap(&mut self.folds, &mut self.before);
        self.found.clear();
        self.broken = None;
        let mean = ahead.map_or(DVec3::ZERO, |ahead| ahead.spread(surface.positions.len()).0);
        for (pair, owned) in self.pairs.iter().zip(&self.owned) {
            let part = (*pair, *owned);
            let mut told = features::features_of(part, surface, thickness, &mut self.found);
            if let Some(ahead) = &ahead
                && told
            {
                told = ahead::meetings_of(*pair, surface, (ahead, mean), &mut self.found);
            }
            if !told {
                self.broken = self.broken.or(Some(*pair));
            }
        }
        // What has got through farther than a thickness, and is still pierced, is not forgotten.
        for old in self.before.iter().filter(|f| f.side != 0) {
            if let Some(fold) = still_pierced(old, surface) {
                self.found.push(fold);
            }
        }
        // Several triangles may show the same feature: the first of them has it. Those found now, whose number is not known yet, come before those kept, and
        // what is there before what is to come.
        self.order.clear();
        let places = (0..).zip(&self.found).map(|(at, fold)| place(fold, at));
        self.order.extend(places);
        self.order.sort_unstable();
        self.order.dedup_by_key(|place| place.0);
        self.folds.clear();
        let found = &self.found;
        let sorted = self.order.iter().map(|place| found[place.3 as usize]);
        self.folds.extend(sorted);
        for k in 0..self.folds.len() {
            let fold = self.known(self.folds[k], surface, FLUSH * thickness);
            self.folds[k] = fold;
        }
        &self.folds
    }

    /// What was found last, in the order of features.
    pub fn folds(&self) -> &[Fold] {
        &self.folds
    }

    /// All that the next update depends on: the contacts, and the next free number.
    pub fn memory(&self) -> (&[Fold], u64) {
        (&self.folds, self.next)
    }

    /// Takes up what another one [remembered](Self::memory).
    pub fn remember(&mut self, folds: &[Fold], next: u64) {
        self.folds.clear();
        self.folds.extend_from_slice(folds);
        self.folds.sort_unstable_by_key(|f| f.feature);
        self.next = next;
    }

    /// Goes along with an edit of the surface: `remap` says what has become of a contact's feature, or that it is gone. The contacts keep their numbers;
    /// those whose features are gone are told to `lost`. Spots are of the old surface until the next update.
    pub fn follow(
        &mut self,
        mut remap: impl FnMut(&Fold) -> Option<Feature>,
        mut lost: impl FnMut(&Fold),
    ) {
        self.folds.retain_mut(|fold| match remap(fold) {
            Some(feature) => {
                if fold.feature != feature {
                    // Its own direction depends on the order of its nodes, so that the side is found anew from the normal.
                    fold.side = CHANGED;
                }
                fold.feature = feature;
                true
            }
            None => {
                lost(fold);
                false
            }
        });
        // Of two that have become one, the one that was there stays, else the older.
        self.folds
            .sort_unstable_by_key(|f| (f.feature, f.side == CHANGED, f.id));
        self.folds.dedup_by(|later, first| {
            let same = later.feature == first.feature;
            if same {
                lost(later);
            }
            same
        });
        for fold in self.folds.iter_mut().filter(|f| f.side == CHANGED) {
            fold.side = 0;
        }
    }

    /// Gives nodes and triangles of contacts other numbers, in the same order. Pairs that never count have the numbers of the last [`join`](Self::join).
    pub fn renumber(&mut self, node: impl Fn(u32) -> u32, triangle: impl Fn(u32) -> u32) {
        for fold in &mut self.folds {
            let Feature { a, b } = &mut fold.feature;
            for n in a.iter_mut().chain(b).filter(|n| **n != NONE) {
                *n = node(*n);
            }
            for spot in &mut fold.spots {
                spot.triangle = triangle(spot.triangle);
            }
        }
        self.pairs.clear();
        self.owned.clear();
    }

    /// The contact with number and side: those it had, or new ones. What is nearer than `flush` (m) has no side of its own yet.
    fn known(&mut self, mut fold: Fold, surface: Side<'_>, flush: f64) -> Fold {
        let old = self
            .before
            .binary_search_by_key(&fold.feature, |f| f.feature)
            .ok()
            .map(|k| self.before[k]);
        let swept = fold.id == SWEPT;
        fold.id = old.map_or(self.next, |f| f.id);
        self.next += u64::from(old.is_none());
        let Some(direction) = fold.feature.direction(|n| surface.place(n)) else {
            if fold.distance < flush {
                let known = old.map(|f| f.normal).filter(|n| *n != DVec3::ZERO);
                fold.normal = known
                    .or_else(|| facing(&fold, surface))
                    .unwrap_or(fold.normal);
            }
            return fold;
        };
        if swept {
            // It belongs to where it comes from; unless it is known to have got through before.
            match old {
                Some(old) if old.side == -fold.side => {
                    let [p, q] = fold.spots.map(|spot| at(&spot, surface));
                    fold.side = old.side;
                    fold.normal = direction * f64::from(fold.side);
                    fold.distance = (p - q).dot(fold.normal);
                }
                _ => {}
            }
            return fold;
        }
        // From the second point to the first, along the feature's own direction.
        let along = fold.distance * fold.normal.dot(direction);
        let as_was = |normal: DVec3| if direction.dot(normal) < 0.0 { -1 } else { 1 };
        // An edge in a face is at no distance, but most of it is on one side.
        let now = if fold.feature.is_pierced() {
            as_was(fold.normal)
        } else if along < 0.0 {
            -1
        } else {
            1
        };
        fold.side = match old {
            Some(old) if old.side != 0 => old.side,
            Some(old) => as_was(old.normal),
            None => {
                let beside = self.normal_beside(&fold);
                let lies = || match is_flush(&fold, surface, flush) {
                    true => facing(&fold, surface),
                    false => None,
                };
                beside.or_else(lies).map_or(now, as_was)
            }
        };
        fold.normal = direction * f64::from(fold.side);
        fold.distance = along * f64::from(fold.side);
        fold
    }

    /// The way out for a node that has got through a neighbouring face before and slides on behind it; and for an edge that goes through a face,
    /// if it went through one beside it, or one of its ends was near.
    fn normal_beside(&self, fold: &Fold) -> Option<DVec3> {
        let Feature { a, b } = fold.feature;
        let shares = |f: &&Fold| f.feature.b.iter().any(|n| *n != NONE && b.contains(n));
        let of = |a: [u32; 2]| {
            let first = self.before.partition_point(|f| f.feature.a < a);
            let all = self.before[first..].iter();
            all.take_while(move |f| f.feature.a == a).filter(shares)
        };
        if a[1] == NONE {
            return of(a).find(|f| f.distance < 0.0).map(|f| f.normal);
        }
        if !fold.feature.is_pierced() {
            return None;
        }
        let known = |f: &&Fold| f.side != 0 && f.feature.b[2] != NONE;
        of(a)
            .chain(of([a[0], NONE]))
            .chain(of([a[1], NONE]))
            .find(known)
            .map(|f| f.normal)
    }
}

/// Those of `pairs` that are not among `joined`; both ascend.
fn apart<'a>(pairs: &'a [[u32; 2]], joined: &'a [[u32; 2]]) -> impl Iterator<Item = [u32; 2]> + 'a {
    let mut rest = joined;
    pairs.iter().copied().filter(move |pair| {
        let passed = rest.iter().take_while(|other| *other < pair).count();
        rest = &rest[passed..];
        rest.first() != Some(pair)
    })
}

/// Where a contact comes: by its feature, then by how it was found and by its triangles; and which one it is.
type Place = ([u64; 3], u8, u64, u32);

/// The [`Place`] of a contact: numbers that compare as the feature does, only faster.
fn place(fold: &Fold, at: u32) -> Place {
    let Feature { a, b } = fold.feature;
    let joined = |a: u32, b: u32| u64::from(a) << 32 | u64::from(b);
    let rank = 2 * u8::from(fold.id == SWEPT) + u8::from(fold.side != 0);
    let [one, other] = fold.spots.map(|s| s.triangle);
    let feature = [joined(a[0], a[1]), joined(b[0], b[1]), b[2].into()];
    (feature, rank, joined(one, other), at)
}

/// Where a spot is, m.
fn at(spot: &Spot, surface: Side<'_>) -> DVec3 {
    let nodes = surface.tree.triangle(spot.triangle);
    nodes.map_or(DVec3::NAN, |nodes| {
        closest::point(nodes.map(|n| surface.place(n)), spot.weights)
    })
}

/// True if rounding alone says on which side of the other the one of a new contact lies: it is nearer than `flush` (m), all of it that would tell.
fn is_flush(fold: &Fold, surface: Side<'_>, flush: f64) -> bool {
    if !fold.feature.is_pierced() {
        return fold.distance < flush;
    }
    let foot = at(&fold.spots[1], surface);
    let height = |n: u32| (surface.place(n) - foot).dot(fold.normal).abs();
    fold.feature.a.into_iter().all(|n| height(n) < flush)
}

/// The way out of a contact whose sides lie flush, from how its triangles face: surfaces that face each other touch with their outer sides, and of two that face the same way the later
/// one lies on the outer side of the earlier. All contacts between the two say the same. None if a triangle has no area.
fn facing(fold: &Fold, surface: Side<'_>) -> Option<DVec3> {
    let outward = |spot: &Spot| {
        let [a, b, c] = surface
            .tree
            .triangle(spot.triangle)?
            .map(|n| surface.place(n));
        (b - a).cross(c - a).try_normalize()
    };
    let [one, other] = [outward(&fold.spots[0])?, outward(&fold.spots[1])?];
    let later = fold.spots[0].triangle > fold.spots[1].triangle;
    Some(if one.dot(other) < 0.0 || later {
        other
    } else {
        -one
    })
}

/// A contact as it is now, if the triangles that showed it go through each other.
fn still_pierced(old: &Fold, surface: Side<'_>) -> Option<Fold> {
    let [s, t] = old.spots.map(|spot| surface.tree.triangle(spot.triangle));
    let nodes = [s?, t?];
    let Feature { a, b } = old.feature;
    let has = |nodes: [u32; 3], n: &u32| *n == NONE || nodes.contains(n);
    // An edge is found in its face again as long as it is there; and after an edit triangles may be others.
    if old.feature.is_pierced()
        || !(a.iter().all(|n| has(nodes[0], n)) && b.iter().all(|n| has(nodes[1], n)))
    {
        return None;
    }
    let corners = nodes.map(|t| t.map(|n| surface.place(n)));
    if !triangle::touch(&corners[0], &corners[1]) {
        return None;
    }
    let place = |side: usize, node: u32| nodes[side].iter().position(|n| *n == node);
    let mut spots = old.spots;
    if a[1] == NONE {
        let node = corners[0][place(0, a[0])?];
        spots[1].weights = closest::on_triangle(node, corners[1]);
    } else {
        let [i, j] = [place(0, a[0])?, place(0, a[1])?];
        let [k, l] = [place(1, b[0])?, place(1, b[1])?];
        let ([p, q], [r, s]) = (
            [corners[0][i], corners[0][j]],
            [corners[1][k], corners[1][l]],
        );
        let (along, other) = closest::segment_segment(p, q, r, s);
        for spot in &mut spots {
            spot.weights = [0.0; 3];
        }
        (spots[0].weights[i], spots[0].weights[j]) = (1.0 - along, along);
        (spots[1].weights[k], spots[1].weights[l]) = (1.0 - other, other);
    }
    let [p, q] = [0, 1].map(|side| closest::point(corners[side], spots[side].weights));
    let distance = p.distance(q);
    // What is no number touches, but nobody can tell where.
    if !distance.is_finite() {
        return None;
    }
    let normal = (p - q) / distance.max(f64::MIN_POSITIVE);
    Some(Fold {
        spots,
        normal,
        distance,
        ..*old
    })
}

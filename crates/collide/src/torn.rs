//! A sheet that tears keeps its tree, its patch and its contacts with itself.
//!
//! [`Sheet`]s say in an [`Event`] what a transaction did, in names that outlive what they name; trees and patches know triangles and nodes by their places
//! in lists. [`Torn`] translates. Triangles and nodes have the numbers of their slots.

use crate::{
    Patch, closest,
    fold::{Feature, Fold, Folds, Spot},
    tree::{Change, Tree, TreeError},
};
use glam::DVec3;
use trocar_mesh::sheet::{Event, Followed, NodeStep, Sheet, SheetAnchor};

/// No node.
const NONE: u32 = u32::MAX;

/// What an [`Event`] of a sheet means for those that know it by numbers. Kept only for its memory.
#[derive(Clone, Debug, Default)]
pub struct Torn {
    changes: Vec<Change>,
    origins: Vec<[u32; 2]>,
}

impl Torn {
    /// Reads what happened; `sheet` is as it is afterwards.
    pub fn read(&mut self, event: &Event, sheet: &Sheet) {
        let Self { changes, origins } = self;
        changes.clear();
        origins.clear();
        for old in &event.before {
            let slot = old.triangle.slot();
            if !sheet.has_triangle(sheet.triangle_at(slot)) {
                changes.push(Change {
                    triangle: slot as u32,
                    corners: None,
                });
            }
        }
        let as_it_is = |triangle| Change {
            triangle: triangle_number(triangle),
            corners: Some(sheet.corners(triangle).map(|n| n.slot() as u32)),
        };
        changes.extend(event.after.iter().map(|t| as_it_is(*t)));
        // What is around a node that was put elsewhere is not where it was, although it has the same corners.
        for step in &event.steps {
            if let NodeStep::Made(node, _) | NodeStep::Moved(node, _) = step
                && sheet.has_node(*node)
            {
                changes.extend(sheet.triangles_around(*node).map(as_it_is));
            }
        }
        changes.sort_unstable_by_key(|c| c.triangle);
        changes.dedup_by_key(|c| c.triangle);
        for triangle in &event.after {
            if event.before.iter().any(|old| old.triangle == *triangle) {
                continue;
            }
            let [a, b, c] = sheet.rest_corners(*triangle);
            let middle = (a + b + c) / 3.0;
            let off = |rest: [DVec3; 3]| {
                closest::point(rest, closest::on_triangle(middle, rest)).distance_squared(middle)
            };
            let from = (event.before.iter()).min_by(|s, t| off(s.rest).total_cmp(&off(t.rest)));
            origins.extend(
                from.map(|from| [triangle_number(*triangle), triangle_number(from.triangle)]),
            );
        }
    }

    /// What becomes of triangles, each once, in ascending order.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Pairs of a triangle that is new and the one that was where it is.
    pub fn origins(&self) -> &[[u32; 2]] {
        &self.origins
    }

    /// The same with the numbers of a larger surface, into `out`, which is cleared first.
    pub fn changes_within(&self, share: Share, out: &mut Vec<Change>) {
        let moved = |change: &Change| Change {
            triangle: change.triangle + share.triangles[0],
            corners: change.corners.map(|t| t.map(|n| n + share.nodes[0])),
        };
        out.clear();
        out.extend(self.changes.iter().map(moved));
    }

    /// Lets a tree follow. `positions` (m) are those of now, of all slots.
    pub fn tree(&self, tree: &mut Tree, positions: &[DVec3]) -> Result<(), TreeError> {
        tree.edit(&self.changes, positions)
    }

    /// Lets a patch follow, with what it remembers of sides.
    pub fn patch(&self, patch: &mut Patch, positions: &[DVec3]) -> Result<(), TreeError> {
        patch.inherit(&self.origins);
        patch.edit(&self.changes, positions)
    }
}

fn triangle_number(triangle: trocar_mesh::sheet::TriangleId) -> u32 {
    triangle.slot() as u32
}

/// The numbers that a sheet's nodes and triangles have in a surface of which it is a part: the first, and one more than the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Of its nodes.
    pub nodes: [u32; 2],
    /// Of its triangles.
    pub triangles: [u32; 2],
}

impl Share {
    /// Of a sheet that is all of it.
    pub const WHOLE: Self = Self {
        nodes: [0, NONE],
        triangles: [0, NONE],
    };

    fn has_node(&self, node: u32) -> bool {
        (self.nodes[0]..self.nodes[1]).contains(&node)
    }
}

/// Lets contacts of a sheet with itself, and with others of the same surface, follow: those whose features are still there stay, others go on with the part of the
/// feature on which their point lies now, under the same number. What has lost its feature is told to `lost`.
pub fn follow_folds(
    folds: &mut Folds,
    (event, sheet): (&Event, &Sheet),
    share: Share,
    lost: impl FnMut(&Fold),
) {
    folds.follow(
        |fold| {
            let a = part(&fold.feature.a, &fold.spots[0], (event, sheet), share)?;
            let b = part(&fold.feature.b, &fold.spots[1], (event, sheet), share)?;
            let count = |nodes: &[u32]| nodes.iter().filter(|n| **n != NONE).count();
            Feature::new(&a[..count(&a)], &b[..count(&b)])
        },
        lost,
    );
}

/// What has become of one side of a contact: the same nodes, or those that bear its point now; [`NONE`] last.
fn part(
    nodes: &[u32],
    spot: &Spot,
    (event, sheet): (&Event, &Sheet),
    share: Share,
) -> Option<[u32; 3]> {
    let mut own = [NONE; 3];
    let known = nodes.iter().filter(|n| **n != NONE);
    let mut count = 0;
    for (place, n) in own.iter_mut().zip(known) {
        *place = *n;
        count += 1;
    }
    if !share.has_node(own[0]) {
        return Some(own);
    }
    let [first, _] = share.nodes;
    let there = |n: u32| {
        let slot = (n - first) as usize;
        let node = sheet.node_at(slot);
        let other = |s: &NodeStep| matches!(s, NodeStep::Made(m, _) if m.slot() == slot);
        (sheet.has_node(node) && !event.steps.iter().any(other)).then_some(node)
    };
    let edge = |a: u32, b: u32| match (there(a), there(b)) {
        (Some(a), Some(b)) => sheet.edge_between(a, b).ok(),
        _ => None,
    };
    let still = match own[..count] {
        [a] => there(a).is_some(),
        [a, b] => edge(a, b).is_some(),
        [a, b, c] => edge(a, b).is_some_and(|e| {
            let (one, other) = sheet.beside(e);
            let has = |t| {
                sheet
                    .corners(t)
                    .iter()
                    .any(|n| n.slot() as u32 + first == c)
            };
            has(one) || other.is_some_and(has)
        }),
        _ => false,
    };
    if still {
        return Some(own);
    }
    // A node that is gone has no part that could go on.
    if count < 2 {
        return None;
    }
    let slot = spot.triangle.checked_sub(share.triangles[0])?;
    let mut old = event.before.iter();
    let before = old.find(|old| triangle_number(old.triangle) == slot);
    let mut anchor = SheetAnchor {
        triangle: match before {
            Some(old) => old.triangle,
            None => sheet.triangle_at(slot as usize),
        },
        weights: spot.weights,
    };
    if event.follow(sheet, &mut anchor) == Followed::Lost || !sheet.has_triangle(anchor.triangle) {
        return None;
    }
    let mut corners =
        [0, 1, 2].map(|k| (anchor.weights[k], sheet.corners(anchor.triangle)[k].slot()));
    corners.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut found = [NONE; 3];
    for (place, (_, slot)) in found.iter_mut().zip(&corners[..count]) {
        *place = *slot as u32 + first;
    }
    Some(found)
}

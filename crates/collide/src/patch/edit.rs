//! A surface that is torn or cut: what changes, and no more.

use super::{GONE, Patch, grow};
use crate::tree::{Change, TreeError};
use glam::DVec3;

impl Patch {
    /// Makes changes of triangles, one after the other, at a cost that depends on how many they are. `positions` (m) by node are those
    /// of now; nodes may have come. If one change is refused, none is made. What is remembered of a triangle that stays there, stays.
    ///
    /// Nodes that were put elsewhere, not moved, count as moved for [`gather`](Self::gather), unless all triangles around them are among the changes.
    pub fn edit(&mut self, changes: &[Change], positions: &[DVec3]) -> Result<(), TreeError> {
        let tree = match &mut self.tree {
            Some(tree) => tree,
            None => {
                let nodes = self.triangles.iter().filter(|t| **t != GONE).flatten();
                let nodes = nodes.max().map_or(0, |n| *n as usize + 1);
                let too_few = TreeError::TooFewPositions {
                    positions: positions.len(),
                    nodes,
                };
                let tree = grow(&self.triangles, positions).ok_or(too_few)?;
                self.tree.insert(tree)
            }
        };
        tree.edit(changes, positions)?;
        let last = changes.iter().filter(|c| c.corners.is_some());
        let slots = last.map(|c| c.triangle as usize + 1).max().unwrap_or(0);
        let slots = slots.max(self.triangles.len());
        self.triangles.resize(slots, GONE);
        self.stars.extend(positions.len());
        if !self.followed.is_empty() && self.followed.len() < positions.len() {
            let known = self.followed.len();
            self.followed.extend_from_slice(&positions[known..]);
        }
        if !self.fitted.is_empty() && self.fitted.len() < positions.len() {
            let known = self.fitted.len();
            self.fitted.extend_from_slice(&positions[known..]);
        }
        for change in changes {
            let Some(slot) = self.triangles.get_mut(change.triangle as usize) else {
                continue;
            };
            let before = std::mem::replace(slot, change.corners.unwrap_or(GONE));
            if before != GONE {
                self.stars.remove(change.triangle, before);
            }
            if let Some(corners) = change.corners {
                self.stars.add(change.triangle, corners);
            }
        }
        // Boxes around a node hold it where it is now if all triangles around it were fitted anew; then it has not moved since.
        for n in changes.iter().filter_map(|c| c.corners).flatten() {
            let changed = |t: u32| changes.iter().any(|c| c.triangle == t);
            if let Some(before) = self.followed.get_mut(n as usize)
                && *before != positions[n as usize]
                && self.stars.around(n).all(changed)
            {
                *before = positions[n as usize];
                if let Some(then) = self.fitted.get_mut(n as usize) {
                    *then = positions[n as usize];
                }
            }
        }
        self.looks.edit();
        let Self {
            triangles,
            near,
            near_corners,
            sides,
            ..
        } = self;
        // What was inherited may be of a triangle that has not come.
        let there = |t: u32| triangles.get(t as usize).is_some_and(|c| *c != GONE);
        near.retain(|pair| there(pair.1));
        near_corners.clear();
        near_corners.extend(near.iter().map(|pair| triangles[pair.1 as usize]));
        sides.retain(|side| there(side.1));
        Ok(())
    }

    /// Lets triangles that will be new take over from others which side of them probes came from: pairs of the new one and the one of which it
    /// was a part. To be called before the [`edit`](Self::edit) that makes them.
    pub fn inherit(&mut self, origins: &[[u32; 2]]) {
        let known = self.sides.len();
        for k in 0..known {
            let (probe, triangle, side) = self.sides[k];
            for [new, from] in origins {
                if *from == triangle && new != from {
                    self.sides.push((probe, *new, side));
                }
            }
        }
        // What was remembered of a number that is used again is about another triangle.
        let mut at = 0;
        self.sides.retain(|side| {
            at += 1;
            at > known
                || !origins
                    .iter()
                    .any(|[new, from]| *new == side.1 && new != from)
        });
        self.sides.sort_unstable();
        self.sides.dedup_by_key(|s| (s.0, s.1));
    }
}

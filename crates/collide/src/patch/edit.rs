//! A surface that is torn or cut: what changes, and no more.

use super::{GONE, Patch, grow};
use crate::tree::{Change, TreeError};
use glam::DVec3;
use std::ops::Range;

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
        self.mend_near(changes);
        Ok(())
    }

    /// What is near, and what is remembered of sides, after changes: nothing of what is gone. Both ascend by probe and triangle, so that of many pairs only those are looked at that have changed.
    fn mend_near(&mut self, changes: &[Change]) {
        let Self {
            triangles,
            near,
            near_corners,
            sides,
            inherited,
            ..
        } = self;
        // What was inherited may be of a triangle that has not come.
        let corners = |t: u32| triangles.get(t as usize).copied().unwrap_or(GONE);
        if FEW * changes.len() > near.len() + sides.len() {
            near.retain(|pair| corners(pair.1) != GONE);
            near_corners.clear();
            near_corners.extend(near.iter().map(|pair| corners(pair.1)));
            sides.retain(|side| corners(side.1) != GONE);
            inherited.clear();
            return;
        }
        let mut gone = false;
        for range in by_probe(near, |pair| pair.0) {
            for change in changes {
                let found = near[range.clone()].binary_search_by_key(&change.triangle, |p| p.1);
                if let Ok(k) = found {
                    near_corners[range.start + k] = corners(change.triangle);
                    gone |= corners(change.triangle) == GONE;
                }
            }
        }
        if gone {
            near.retain(|pair| corners(pair.1) != GONE);
            near_corners.retain(|corners| *corners != GONE);
        }
        let lost = by_probe(sides, |side| side.0).any(|range| {
            let of_probe = &sides[range];
            let lost = |change: &Change| {
                let found = of_probe.binary_search_by_key(&change.triangle, |s| s.1);
                corners(change.triangle) == GONE && found.is_ok()
            };
            changes.iter().any(lost)
        });
        let lost = lost || inherited.iter().any(|side| corners(side.1) == GONE);
        inherited.clear();
        if lost {
            sides.retain(|side| corners(side.1) != GONE);
        }
    }

    /// Lets triangles that will be new take over from others which side of them probes came from: pairs of the new one and the one of which it
    /// was a part. To be called before the [`edit`](Self::edit) that makes them.
    pub fn inherit(&mut self, origins: &[[u32; 2]]) {
        let Self {
            sides, inherited, ..
        } = self;
        let changed = || origins.iter().filter(|[new, from]| new != from);
        // Until the edit comes it is kept: a triangle may not come.
        let known = inherited.len();
        for range in by_probe(sides, |side| side.0) {
            let of_probe = &sides[range];
            for [new, from] in changed() {
                // All are read before one is written: some are parts of what others have been.
                let first = of_probe.partition_point(|s| s.1 < *from);
                if let Some((probe, _, side)) = of_probe.get(first).filter(|s| s.1 == *from) {
                    inherited.push((*probe, *new, *side));
                }
            }
        }
        let inherited = &mut inherited[known..];
        inherited.sort_unstable();
        // What was remembered of a number that is used again is about another triangle.
        let mut again = false;
        let mut start = 0;
        while let Some(range) = of_probe(sides, start, |side| side.0) {
            start = range.end;
            let of_one = &mut sides[range];
            for [new, _] in changed() {
                if let Ok(k) = of_one.binary_search_by_key(new, |s| s.1) {
                    // No side, until it is known whether it has another now.
                    of_one[k].2 = 0;
                    again = true;
                }
            }
        }
        // Of several that are told of one, the least is the last.
        for side in inherited.iter().rev() {
            let key = (side.0, side.1);
            match sides.binary_search_by_key(&key, |s| (s.0, s.1)) {
                Ok(k) => sides[k] = *side,
                Err(k) => sides.insert(k, *side),
            }
        }
        if again {
            sides.retain(|side| side.2 != 0);
        }
    }
}

/// So many times as many pairs as changes have to be there for each change to be looked for among them.
const FEW: usize = 8;

/// Where those of each probe are in a list that ascends by probe.
fn by_probe<T>(list: &[T], probe: impl Fn(&T) -> u32) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let range = of_probe(list, start, &probe)?;
        start = range.end;
        Some(range)
    })
}

/// Where those of one probe are, of which the first is at `start`.
fn of_probe<T>(list: &[T], start: usize, probe: impl Fn(&T) -> u32) -> Option<Range<usize>> {
    let first = probe(list.get(start)?);
    let count = list[start..].partition_point(|other| probe(other) <= first);
    Some(start..start + count)
}

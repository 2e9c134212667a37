//! Fast things that pass others by.

use super::{BODIES, Collisions, WATCH};
use crate::build::Model;
use glam::DVec3;
use trocar_collide::rigid::{Motion, time_of_impact};
use trocar_dynamics::{Crew, MatterId, Nodes};
use trocar_math::{Pose, rotation};

/// Whoever goes farther in a substep than this part of what it is thick is looked at: it could pass an edge beside which it began.
const SWEPT: f64 = 0.5;

/// Who turns farther than this in a substep, rad, has no way that could be followed.
const MOST_TURN: f64 = 3.0;

impl Collisions {
    /// Leaves out the contacts of fast bodies with what they miss in this substep of `h` seconds. Contacts are found as far ahead as a
    /// body goes, and hold it back from the plane between the points that are nearest at the start; who flies past an edge would be stopped
    /// there by nothing.
    ///
    /// Only who meets nothing at all flies on like that. What strikes something is turned aside, and nobody knows yet where to: all
    /// its contacts stay.
    pub(super) fn leave_out_misses<'n>(
        &mut self,
        model: &Model,
        share: &(impl Fn(MatterId) -> &'n Nodes + Sync),
        h: f64,
        crew: Option<&Crew>,
    ) {
        let fall = model.gravity * h;
        let mut misses = std::mem::take(&mut self.misses);
        misses.fast.resize(model.colliders.len(), false);
        Crew::spread(crew, &mut misses.fast, BODIES, |first, some| {
            for (c, fast) in (first..).zip(some) {
                let (matter, i) = (model.colliders[c].at.0, model.colliders[c].at.1 as usize);
                let moves = matter == self.bodies && !self.rest[i].asleep;
                *fast = moves && {
                    let way = (share(matter).velocity[i] + fall).length() * h;
                    let thick = self.bounds[c].size().min_element() - 2.0 * self.margins[c];
                    way > SWEPT * thick
                };
            }
        });
        if !misses.fast.contains(&true) {
            self.misses = misses;
            return;
        }
        let motion = |c: usize| {
            let (matter, i) = (model.colliders[c].at.0, model.colliders[c].at.1 as usize);
            let (nodes, start) = (share(matter), self.poses[c]);
            let falls = matter == self.bodies && !self.rest[i].asleep;
            let velocity = nodes.velocity[i] + if falls { fall } else { DVec3::ZERO };
            let turn = nodes.spin[i] * h;
            let end = Pose::new(
                start.position + velocity * h,
                rotation::from_scaled_axis(turn) * start.rotation,
            );
            (turn.length() < MOST_TURN).then_some(Motion { start, end })
        };
        let is_miss = |pair: [u32; 2]| {
            let [a, b] = pair.map(|c| c as usize);
            let (Some(one), Some(other)) = (motion(a), motion(b)) else {
                return false;
            };
            let (shapes, near) = (&self.shapes, 2.0 * WATCH);
            time_of_impact(&shapes[a], &one, &shapes[b], &other, near).is_none()
        };
        let fast = &misses.fast;
        let mut chunks = std::mem::take(&mut self.chunks);
        let used = &mut chunks[..self.used];
        Crew::spread(crew, used, 1, |_, some| {
            for chunk in some {
                chunk.missed.clear();
                chunk.struck.clear();
                // Two bodies have one way past each other, however many contacts they may have; those of a pair come together.
                let mut known = None;
                let mut passes = |pair: [u32; 2]| match known {
                    Some((last, miss)) if last == pair => miss,
                    _ => {
                        let miss = is_miss(pair);
                        known = Some((pair, miss));
                        miss
                    }
                };
                for (m, (manifold, points)) in chunk.contacts.iter().enumerate() {
                    let pair = [manifold.pair.a, manifold.pair.b];
                    if !pair.iter().any(|c| fast[*c as usize]) {
                        continue;
                    }
                    let far = points.iter().all(|p| p.gap > 2.0 * WATCH);
                    if far && passes(pair) {
                        chunk.missed.push((m, pair));
                    } else {
                        chunk.struck.extend(pair);
                    }
                }
            }
        });
        misses.struck.clear();
        misses.struck.resize(model.colliders.len(), false);
        for c in used.iter().flat_map(|chunk| &chunk.struck) {
            misses.struck[*c as usize] = true;
        }
        let aside = |c: &u32| fast[*c as usize] && misses.struck[*c as usize];
        for chunk in used {
            // From the last on, so that those before keep their places.
            for (m, pair) in chunk.missed.iter().rev() {
                if !pair.iter().any(aside) {
                    chunk.contacts.manifolds.remove(*m);
                }
            }
        }
        self.chunks = chunks;
        self.misses = misses;
    }
}

/// Memory for it.
#[derive(Default)]
pub(super) struct Misses {
    /// Of each collider: whether it goes far, and whether it meets something on its way.
    fast: Vec<bool>,
    struck: Vec<bool>,
}

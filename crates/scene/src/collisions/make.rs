//! Contacts made of what detection has found.

use super::{Collisions, Given, Key, is_awake};
use crate::build::{Collider, Model};
use glam::DVec3;
use trocar_collide::rigid::{Manifold, Point};
use trocar_dynamics::{BodyContact, Crew, MatterId, Nodes, solve::growth};

/// Faster than this, m/s, a point slides.
const SLIDING: f64 = 5e-4;

/// Friction that is below this part of its limit holds a point.
const HELD: f64 = 0.99;

/// Greatest speed at which an overlap is undone, m/s.
const RECOVERY: f64 = 1.0;

impl Collisions {
    /// Makes contacts of what was found; those that go on start from their impulses.
    pub(super) fn collect<'n>(
        &mut self,
        model: &Model,
        share: &(impl Fn(MatterId) -> &'n Nodes + Sync),
        crew: Option<&Crew>,
    ) {
        let (bodies, rest) = (self.bodies, &self.rest);
        let awake = |c: u32| is_awake(model, bodies, rest, c);
        Crew::spread(crew, &mut self.chunks[..self.used], 1, |_, some| {
            for chunk in some {
                chunk.keys.clear();
                chunk.awake.clear();
                for (manifold, points) in chunk.contacts.iter() {
                    let pair = [manifold.pair.a, manifold.pair.b];
                    if pair.into_iter().any(awake) {
                        let part: [u32; 2] = manifold.part.into();
                        let keys = points.iter().map(|point| (pair, part, point.id.into()));
                        chunk.keys.extend(keys);
                        if !points.is_empty() && chunk.awake.last() != Some(&pair) {
                            chunk.awake.push(pair);
                        }
                    }
                }
            }
        });
        self.ends.clear();
        let mut end = 0;
        for chunk in &self.chunks[..self.used] {
            end += chunk.keys.len();
            self.ends.push(end);
        }
        // What is left of the last substep is written over.
        let mut list = std::mem::take(&mut self.list);
        list.resize(end, BLANK);
        Crew::parts(crew, &mut list, &self.ends, |k, some| {
            self.collect_chunk(model, share, k, some);
        });
        self.list = list;
    }

    /// Makes the contacts of one chunk.
    fn collect_chunk<'n>(
        &self,
        model: &Model,
        share: &impl Fn(MatterId) -> &'n Nodes,
        k: usize,
        list: &mut [BodyContact],
    ) {
        let keys = &self.chunks[k].keys;
        let Some(first) = keys.first() else { return };
        let before = |w: &Given| (w.key.0, w.key.1) < (first.0, first.1);
        let mut old = &self.warm[self.warm.partition_point(before)..];
        let mut at = 0;
        let (mut penetration, mut slip, mut springy) = (0.0_f64, 0.0_f64, false);
        for (manifold, points) in self.chunks[k].contacts.iter() {
            let pair = [manifold.pair.a, manifold.pair.b];
            if !pair.into_iter().any(|c| self.is_awake(model, c)) {
                continue;
            }
            let new = at..at + points.len();
            at = new.end;
            let (list, keys) = (&mut list[new.clone()], &keys[new]);
            let maker = Maker::new(self, model, share, manifold);
            for (to, point) in list.iter_mut().zip(points) {
                *to = maker.contact(point);
            }
            let part: [u32; 2] = manifold.part.into();
            let skip = old.iter().take_while(|w| (w.key.0, w.key.1) < (pair, part));
            old = &old[skip.count()..];
            let same = old
                .iter()
                .take_while(|w| (w.key.0, w.key.1) == (pair, part));
            for given in same {
                old = &old[1..];
                pass_on(given, self.h, list, keys, points);
            }
            for (contact, point) in list.iter().zip(points) {
                penetration = penetration.max(-contact.gap);
                springy |= contact.restitution > 0.0;
                let pressed = contact.impulse.dot(contact.normal);
                let rub = contact.impulse - contact.normal * pressed;
                let hold = HELD * contact.friction * pressed;
                if pressed > 0.0 && rub.length_squared() < hold * hold {
                    slip = slip.max(maker.slip(maker.ends(point)));
                }
            }
        }
        self.found.add(penetration, slip.sqrt(), springy);
    }
}

/// Makes contacts of the points of one manifold.
struct Maker<'a, 'n> {
    collisions: &'a Collisions,
    pair: [usize; 2],
    sides: [&'a Collider; 2],
    nodes: [&'n Nodes; 2],
    normal: DVec3,
    friction: [f64; 2],
}

impl<'a, 'n> Maker<'a, 'n> {
    fn new(
        collisions: &'a Collisions,
        model: &'a Model,
        share: &impl Fn(MatterId) -> &'n Nodes,
        manifold: &Manifold,
    ) -> Self {
        let pair = [manifold.pair.a, manifold.pair.b].map(|c| c as usize);
        let sides = pair.map(|c| &model.colliders[c]);
        Self {
            collisions,
            pair,
            sides,
            nodes: sides.map(|side| share(side.at.0)),
            normal: manifold.normal,
            friction: [0, 1].map(|k| (sides[0].friction[k] * sides[1].friction[k]).sqrt()),
        }
    }

    /// Where the point is on each body, m.
    fn ends(&self, point: &Point) -> [DVec3; 2] {
        let poses = &self.collisions.poses;
        [
            poses[self.pair[0]].point(point.a),
            poses[self.pair[1]].point(point.b),
        ]
    }

    /// Square of how fast the ends of a point slide on each other, m²/s².
    fn slip(&self, ends: [DVec3; 2]) -> f64 {
        let velocity = |k: usize| {
            let (nodes, i) = (self.nodes[k], self.sides[k].at.1 as usize);
            nodes.velocity[i] + nodes.spin[i].cross(ends[k] - nodes.position[i])
        };
        let (u, n) = (velocity(1) - velocity(0), self.normal);
        (u - n * n.dot(u)).length_squared()
    }

    fn contact(&self, point: &Point) -> BodyContact {
        let Collisions {
            bodies,
            rest,
            poses,
            ..
        } = self.collisions;
        let (pair, sides) = (self.pair, self.sides);
        let at = [point.a, point.b];
        let ends = self.ends(point);
        // Both feel it at one and the same place, or friction would turn them both.
        let middle = 0.5 * (ends[0] + ends[1]);
        let mut contact = BodyContact {
            a: sides[0].at,
            b: sides[1].at,
            at,
            seat: point.a,
            arms: pair.map(|c| middle - poses[c].position),
            normal: self.normal,
            gap: point.gap,
            friction: self.friction[usize::from(self.slip(ends) > SLIDING * SLIDING)],
            restitution: sides[0].restitution * sides[1].restitution,
            recovery: RECOVERY,
            ..BLANK
        };
        // What sleeps is as fixed as the world.
        for (k, side) in sides.iter().enumerate() {
            let (matter, node) = side.at;
            if matter == *bodies && rest[node as usize].asleep {
                contact.arms[k] = middle;
                *[&mut contact.a, &mut contact.b][k] = (MatterId::WORLD, 0);
                contact.at[k] = ends[k];
            }
        }
        contact
    }
}

/// A contact of nothing with nothing.
const BLANK: BodyContact = BodyContact {
    a: (MatterId::WORLD, 0),
    b: (MatterId::WORLD, 0),
    at: [DVec3::ZERO; 2],
    seat: DVec3::ZERO,
    arms: [DVec3::ZERO; 2],
    normal: DVec3::ZERO,
    gap: 0.0,
    friction: 0.0,
    restitution: 0.0,
    recovery: 0.0,
    rebound: 0.0,
    impulse: DVec3::ZERO,
    relief: DVec3::ZERO,
    total: DVec3::ZERO,
    blow: DVec3::ZERO,
};

/// Gives an impulse of the last substep to the point that goes on in this one of `h` seconds, or, if it is gone, to the nearest one: a face that turns
/// a little has other corners, but bears the same weight.
fn pass_on(given: &Given, h: f64, list: &mut [BodyContact], keys: &[Key], points: &[Point]) {
    let to = keys.iter().position(|k| *k == given.key).or_else(|| {
        let distance = |k: &usize| points[*k].a.distance_squared(given.at);
        (0..points.len()).min_by(|i, j| distance(i).total_cmp(&distance(j)))
    });
    if let Some(to) = to {
        let growth = growth(given.h, h);
        list[to].impulse += given.impulses[0] * growth;
        list[to].relief += given.impulses[1] * growth;
    }
}

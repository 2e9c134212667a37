//! Where rigid bodies touch: detection, what contacts remember, and which bodies sleep.

use crate::build::{Collider, Model, pose};
use glam::DVec3;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use trocar_collide::near::Near;
use trocar_collide::rigid::{
    Contacts, Detector, Manifold, Pair, Point, Regions, Scratch, Shape, World,
};
use trocar_dynamics::{BodyContact, Crew, Joint, MatterId, Nodes, solve::growth};
use trocar_math::{Bounds, Pose};

/// Contacts this near (m, from each body) are watched: they rest without coming and going.
const WATCH: f64 = 2.5e-4;

/// Nothing is looked for farther than this, m, however fast it moves.
const FARTHEST: f64 = 5.0;

/// For so many substeps at a constant speed pairs that may touch are found at once, and so large a part of its size may a body move in any case.
const AHEAD: f64 = 8.0;
const TREMBLES: f64 = 0.02;

/// Greatest speed at which an overlap is undone, m/s.
const RECOVERY: f64 = 1.0;

/// Slower than this, m/s and rad/s, a body counts as resting.
const CALM: [f64; 2] = [0.01, 0.1];

/// Faster than this, m/s and rad/s, a body is under way: what sleeps where it comes wakes with all that leans on it. What
/// is slower only trembles, and wakes what it touches, but nobody behind: a heap has always some that tremble.
const BRISK: [f64; 2] = [0.05, 0.5];

/// Faster than this, m/s, a point slides.
const SLIDING: f64 = 5e-4;

/// What has been calm for less than this, s, wakes what it meets or leaves.
const STIR: f64 = 0.1;

/// Nearer than this, m, bodies lean on each other: if one wakes, so does the other.
const NEAR: f64 = 1e-4;

/// What rests this long, s, sleeps.
const DOZE: f64 = 0.5;

/// So many pairs are handed to a thread at once. The cut shows in nothing but time.
const CHUNK: usize = 256;

/// Which point of contact it is: colliders, parts, features.
pub type Key = ([u32; 2], [u32; 2], [u32; 2]);

/// What a point of contact was given in the last substep.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Given {
    /// Which point.
    pub key: Key,
    /// Where it was, in the frame of its first body, m.
    pub at: DVec3,
    /// Impulses of `aim` and of `correct`, N·s.
    pub impulses: [DVec3; 2],
    /// How long the substep was, s: a weight presses for as long as it is.
    pub h: f64,
}

/// How a body rests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rest {
    /// For how long it has been calm on something still, s.
    pub calm: f64,
    /// True if it sleeps.
    pub asleep: bool,
}

impl Rest {
    /// Of what has been woken: by something under way it is as if it had just moved itself; else it may soon sleep again.
    fn woken(by: Stir) -> Self {
        Self {
            calm: if by == Stir::Brisk { 0.0 } else { STIR },
            asleep: false,
        }
    }
}

/// How much a body moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stir {
    /// It rests, awake or asleep.
    Calm,
    /// It has moved a little, not long ago.
    Trembles,
    /// It is under way, or is pushed by what is.
    Brisk,
}

impl Stir {
    fn of(rest: &Rest, nodes: &Nodes, i: usize) -> Self {
        if rest.asleep || rest.calm >= STIR {
            return Self::Calm;
        }
        let brisk = nodes.velocity[i].length() > BRISK[0] || nodes.spin[i].length() > BRISK[1];
        if brisk { Self::Brisk } else { Self::Trembles }
    }
}

/// A stretch of pairs and what was found there.
#[derive(Default)]
struct Chunk {
    pairs: (usize, usize),
    scratch: Scratch,
    contacts: Contacts,
}

/// The contacts of all rigid bodies of a scene.
pub struct Collisions {
    /// Contacts of the last substep.
    pub list: Vec<BodyContact>,
    /// Impulses of the last substep: what goes on starts from them.
    pub warm: Vec<Given>,
    /// How each dynamic body rests.
    pub rest: Vec<Rest>,
    /// Who finds where bodies touch (B76).
    pub detector: &'static dyn Detector,
    bodies: MatterId,
    shapes: Vec<Shape>,
    /// Bodies that joints, ties or drives hold: they do not sleep.
    busy: Vec<bool>,
    keys: Vec<Key>,
    /// Where the contacts of each chunk end.
    ends: Vec<usize>,
    poses: Vec<Pose>,
    margins: Vec<f64>,
    bounds: Vec<Bounds>,
    near_bodies: Near,
    pairs: Vec<Pair>,
    chunks: Vec<Chunk>,
    /// So many of the chunks are in use.
    used: usize,
    /// How much each body moves in this substep, or will be moved.
    stirs: Vec<Stir>,
    leader: Vec<u32>,
    /// Of each body: the least time for which one that it pushes has been calm, s.
    near: Vec<f64>,
    /// Of each set of bodies that push each other: whether something still bears it.
    borne: Vec<bool>,
    /// Memory for [`keep`](Self::keep).
    spare: Vec<Given>,
    /// Length of the substep, s.
    h: f64,
}

impl Collisions {
    /// The boxes around bodies in the last substep, and the pairs of them that overlap.
    pub fn search(&self) -> (&[Bounds], &[Pair]) {
        (&self.bounds, &self.pairs)
    }

    /// Of a model that has bodies which may touch; none if it has none.
    pub fn new(model: &Model) -> Option<Self> {
        let bodies = model.bodies?;
        if !model.colliders.iter().any(|c| c.at.0 == bodies) {
            return None;
        }
        let frames = model.start[bodies.index()].frames();
        let mut busy = vec![!model.rules.sleep; frames];
        let ends = model.joints.iter().flat_map(Joint::anchors).flatten();
        for anchor in ends.chain(model.ties.iter().flat_map(|t| [t.a, t.b])) {
            if let (true, trocar_dynamics::Local::Frame(n, _)) =
                (anchor.matter == bodies, anchor.at)
            {
                busy[n as usize] = true;
            }
        }
        Some(Self {
            list: Vec::new(),
            warm: Vec::new(),
            rest: vec![Rest::default(); frames],
            detector: &Regions,
            bodies,
            shapes: model.colliders.iter().map(|c| c.shape.clone()).collect(),
            busy,
            keys: Vec::new(),
            ends: Vec::new(),
            poses: Vec::new(),
            margins: Vec::new(),
            bounds: Vec::new(),
            near_bodies: Near::default(),
            pairs: Vec::new(),
            chunks: Vec::new(),
            used: 0,
            stirs: Vec::new(),
            leader: Vec::new(),
            near: Vec::new(),
            borne: Vec::new(),
            spare: Vec::new(),
            h: 0.0,
        })
    }

    /// True if a node of the bodies' matter sleeps.
    pub fn is_asleep(&self, node: usize) -> bool {
        self.rest.get(node).is_some_and(|r| r.asleep)
    }

    /// Wakes a body.
    pub fn wake(&mut self, node: usize) {
        if let Some(rest) = self.rest.get_mut(node) {
            *rest = Rest::default();
        }
    }

    /// Wakes all bodies.
    pub fn wake_all(&mut self) {
        self.rest.fill(Rest::default());
    }

    /// Wakes a body and all that touched it in the last substep.
    pub fn wake_around(&mut self, model: &Model, node: usize) {
        self.wake(node);
        let it = (self.bodies, node as u32);
        for key in &self.keys {
            let sides = key.0.map(|c| model.colliders[c as usize].at);
            if sides.contains(&it) {
                for (_, other) in sides.iter().filter(|side| side.0 == self.bodies) {
                    self.rest[*other as usize] = Rest::default();
                }
            }
        }
    }

    /// Finds the contacts at the start of a substep of `h` seconds, near enough to be reached in it. `share` gives the
    /// nodes of a matter.
    pub fn detect<'n>(
        &mut self,
        model: &Model,
        share: impl Fn(MatterId) -> &'n Nodes + Sync,
        h: f64,
        crew: Option<&Crew>,
    ) {
        self.sense(model, &share, h, crew, false);
        self.h = h;
        if !self.rest.iter().any(|rest| rest.asleep) {
            // There is nobody to be woken.
            return self.collect(model, &share, crew);
        }
        self.stirs.clear();
        let nodes = share(self.bodies);
        let rests = self.rest.iter().enumerate();
        self.stirs
            .extend(rests.map(|(i, rest)| Stir::of(rest, nodes, i)));
        if let Some(by) = self.rouse(model, &share, h) {
            // Nobody has looked yet at what those that woke lean on.
            self.sense(model, &share, h, crew, by == Stir::Brisk);
            self.rouse(model, &share, h);
        }
        self.collect(model, &share, crew);
    }

    /// Looks where bodies touch; with `all`, also where both of them sleep, as if they did not.
    fn sense<'n>(
        &mut self,
        model: &Model,
        share: &(impl Fn(MatterId) -> &'n Nodes + Sync),
        h: f64,
        crew: Option<&Crew>,
        all: bool,
    ) {
        let fall = model.gravity.length() * h;
        let count = model.colliders.len();
        let (bodies, rest) = (self.bodies, &self.rest);
        self.poses.resize(count, Pose::IDENTITY);
        Crew::spread(crew, &mut self.poses, CHUNK, |first, some| {
            for (to, collider) in some.iter_mut().zip(&model.colliders[first..]) {
                *to = pose(share(collider.at.0), collider.at.1 as usize);
            }
        });
        self.margins.resize(count, 0.0);
        Crew::spread(crew, &mut self.margins, CHUNK, |first, some| {
            for (to, collider) in some.iter_mut().zip(&model.colliders[first..]) {
                let (matter, i) = (collider.at.0, collider.at.1 as usize);
                let nodes = share(matter);
                let moves = all || matter != bodies || !rest[i].asleep;
                let reach = if moves {
                    let speed = nodes.velocity[i].length() + fall;
                    collider.shape.reach(speed, nodes.spin[i].length(), h)
                } else {
                    0.0
                };
                *to = WATCH + reach.min(FARTHEST);
            }
        });
        let world = World {
            shapes: &self.shapes,
            poses: &self.poses,
            margins: &self.margins,
        };
        self.bounds.resize(count, Bounds::EMPTY);
        Crew::spread(crew, &mut self.bounds, CHUNK, |first, some| {
            for (k, to) in some.iter_mut().enumerate() {
                *to = world.bound(first + k);
            }
        });
        // What no impulse moves, moves others if it has a course; two of it never meet.
        let still = |c: u32| model.colliders[c as usize].at.0 != self.bodies;
        let awake = |c: u32| is_awake(model, self.bodies, &self.rest, c);
        let lasting =
            |a: u32, b: u32| !(still(a) && still(b)) && model.apart.binary_search(&(a, b)).is_err();
        let now = |a: u32, b: u32| all || awake(a) || awake(b);
        // As far as each goes in some substeps, and by a part of its size that it trembles within (W39).
        let (bounds, margins) = (&self.bounds, &self.margins);
        let room = |c: usize| {
            let size = bounds[c].size().max_element();
            let trembles = if size.is_finite() {
                TREMBLES * size
            } else {
                0.0
            };
            AHEAD * (margins[c] - WATCH) + trembles
        };
        self.near_bodies
            .overlapping(bounds, room, lasting, now, &mut self.pairs);
        let count = self.pairs.len().div_ceil(CHUNK);
        self.used = count;
        if self.chunks.len() < count {
            self.chunks.resize_with(count, Chunk::default);
        }
        let pairs = &self.pairs;
        let chunks = &mut self.chunks[..count];
        for (k, chunk) in chunks.iter_mut().enumerate() {
            chunk.pairs = (k * CHUNK, ((k + 1) * CHUNK).min(pairs.len()));
        }
        let detector = self.detector;
        let narrow = |_: usize, chunk: &mut Chunk| {
            chunk.contacts.clear();
            let (from, to) = chunk.pairs;
            detector.narrow(
                &world,
                &pairs[from..to],
                &mut chunk.scratch,
                &mut chunk.contacts,
            );
        };
        match crew {
            Some(crew) => crew.each(chunks, narrow),
            None => chunks.iter_mut().for_each(|c| narrow(0, c)),
        }
    }

    /// Wakes what sleeps where something that stirs touches it or may reach it in this substep of `h` seconds, and, if that is under
    /// way, all that leans on it: for as long as it sleeps it is as fixed as the world, and a blow to it would make momentum
    /// out of nothing. What is awake but calm wakes nobody, or a heap would never come to rest; but it passes a blow on.
    /// Returns what stirred most of all that woke something.
    fn rouse<'n>(
        &mut self,
        model: &Model,
        share: &impl Fn(MatterId) -> &'n Nodes,
        h: f64,
    ) -> Option<Stir> {
        let fall = model.gravity.length() * h;
        let mut woke = None;
        let mut again = true;
        while again {
            again = false;
            for chunk in &self.chunks[..self.used] {
                for (manifold, points) in chunk.contacts.iter() {
                    let pair = [manifold.pair.a, manifold.pair.b].map(|c| c as usize);
                    let sides = pair.map(|c| model.colliders[c].at);
                    let stirs = sides.map(|(matter, node)| match matter == self.bodies {
                        true => self.stirs[node as usize],
                        false if is_led(model, matter, node) => Stir::Brisk,
                        false => Stir::Calm,
                    });
                    let (from, to) = match stirs[0].cmp(&stirs[1]) {
                        Ordering::Greater => (stirs[0], sides[1]),
                        Ordering::Less => (stirs[1], sides[0]),
                        Ordering::Equal => continue,
                    };
                    if to.0 != self.bodies {
                        continue;
                    }
                    let velocity = |k: usize, at: DVec3| {
                        let (nodes, i) = (share(sides[k].0), sides[k].1 as usize);
                        let arm = self.poses[pair[k]].point(at) - nodes.position[i];
                        nodes.velocity[i] + nodes.spin[i].cross(arm)
                    };
                    let rest = &mut self.rest[to.1 as usize];
                    let hit = |point: &Point| {
                        let u = velocity(1, point.b) - velocity(0, point.a);
                        let closing = -manifold.normal.dot(u);
                        let reached = if closing.is_nan() {
                            // What went bad is put back, and must not spoil others before.
                            false
                        } else if rest.asleep {
                            point.gap <= NEAR + (closing.max(0.0) + fall) * h
                        } else {
                            closing > CALM[0] && point.gap <= closing * h
                        };
                        let brisk = from == Stir::Brisk || closing > BRISK[0];
                        reached.then_some(if brisk { Stir::Brisk } else { Stir::Trembles })
                    };
                    let Some(by) = points.iter().filter_map(hit).max() else {
                        continue;
                    };
                    let stirs = &mut self.stirs[to.1 as usize];
                    let mut becomes = by;
                    if rest.asleep {
                        *rest = Rest::woken(by);
                        woke = woke.max(Some(by));
                        if by == Stir::Trembles {
                            becomes = Stir::Calm;
                        }
                    }
                    if becomes > *stirs {
                        *stirs = becomes;
                        again = true;
                    }
                }
            }
        }
        woke
    }

    /// Makes contacts of what was found; those that go on start from their impulses.
    fn collect<'n>(
        &mut self,
        model: &Model,
        share: &(impl Fn(MatterId) -> &'n Nodes + Sync),
        crew: Option<&Crew>,
    ) {
        self.keys.clear();
        self.ends.clear();
        for chunk in &self.chunks[..self.used] {
            for (manifold, points) in chunk.contacts.iter() {
                let pair = [manifold.pair.a, manifold.pair.b];
                if pair.into_iter().any(|c| self.is_awake(model, c)) {
                    let part: [u32; 2] = manifold.part.into();
                    let keys = points.iter().map(|point| (pair, part, point.id.into()));
                    self.keys.extend(keys);
                }
            }
            self.ends.push(self.keys.len());
        }
        // What is left of the last substep is written over.
        let mut list = std::mem::take(&mut self.list);
        list.resize(self.keys.len(), BLANK);
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
        let start = self.ends[k] - list.len();
        let keys = &self.keys[start..self.ends[k]];
        let Some(first) = keys.first() else { return };
        let before = |w: &Given| (w.key.0, w.key.1) < (first.0, first.1);
        let mut old = &self.warm[self.warm.partition_point(before)..];
        let mut at = 0;
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
        }
    }

    /// True if a collider is on a body that does not sleep, or on something that is led.
    fn is_awake(&self, model: &Model, collider: u32) -> bool {
        is_awake(model, self.bodies, &self.rest, collider)
    }

    /// True if these may be the impulses and rests of this scene.
    pub fn can_take(&self, warm: &[Given], rest: &[Rest], most: f64) -> bool {
        let known = self.shapes.len();
        warm.is_sorted_by(|a, b| a.key <= b.key)
            && warm.iter().all(|given| {
                given.key.0.iter().all(|c| (*c as usize) < known)
                    && given.at.is_finite()
                    && (0.0..=1e3).contains(&given.h)
                    && given.impulses.iter().all(|i| i.length() <= most)
            })
            && rest.len() == self.rest.len()
            && rest.iter().all(|r| (0.0..1e12).contains(&r.calm))
            && rest
                .iter()
                .zip(&self.busy)
                .all(|(r, busy)| !(r.asleep && *busy))
    }

    /// Keeps the impulses found for the next substep, and of what sleeps those it fell asleep with: when it wakes, it bears what it
    /// bore.
    pub fn keep(&mut self, model: &Model) {
        let mut kept = std::mem::take(&mut self.spare);
        kept.clear();
        let asleep = |g: &&Given| !g.key.0.iter().any(|c| self.is_awake(model, *c));
        let mut old = self.warm.iter().filter(asleep).peekable();
        let found = self.keys.iter().zip(&self.list);
        for (key, c) in found.filter(|(_, c)| c.impulse != DVec3::ZERO) {
            while let Some(given) = old.next_if(|g| g.key < *key) {
                kept.push(*given);
            }
            kept.push(Given {
                key: *key,
                at: c.seat,
                impulses: [c.impulse, c.relief],
                h: self.h,
            });
        }
        kept.extend(old);
        self.spare = std::mem::replace(&mut self.warm, kept);
    }

    /// After a step of `dt` seconds: what has rested long enough, with all it pushes, sleeps; what is touched by something that
    /// moves wakes. What nothing still bears is not at rest, however slowly it floats.
    pub fn settle(&mut self, model: &Model, nodes: &mut Nodes, dt: f64) {
        let frames = self.rest.len();
        if self.busy.iter().all(|busy| *busy) {
            // Nobody ever sleeps.
            return;
        }
        for (i, rest) in self.rest.iter_mut().enumerate() {
            let still = nodes.velocity[i].length() < CALM[0] && nodes.spin[i].length() < CALM[1];
            rest.calm = match (still && !self.busy[i], rest.asleep) {
                (_, true) => rest.calm,
                (true, false) => rest.calm + dt,
                (false, false) => 0.0,
            };
        }
        self.leader.clear();
        self.leader.extend(0..frames as u32);
        self.near.clear();
        self.near.resize(frames, f64::INFINITY);
        self.borne.clear();
        self.borne.resize(frames, false);
        for (key, contact) in self.keys.iter().zip(&self.list) {
            let [a, b] = key.0.map(|c| model.colliders[c as usize].at);
            let own = |x: (MatterId, u32)| (x.0 == self.bodies).then_some(x.1);
            let pushed = contact.total != DVec3::ZERO;
            match (own(a), own(b)) {
                (Some(a), Some(b)) => {
                    for (one, other) in [(a, b), (b, a)].map(|(a, b)| (a as usize, b as usize)) {
                        let stirs = Stir::of(&self.rest[one], nodes, one);
                        if stirs > Stir::Calm && self.rest[other].asleep {
                            self.rest[other] = Rest::woken(stirs);
                        }
                        if pushed && !self.rest[other].asleep {
                            self.near[one] = self.near[one].min(self.rest[other].calm);
                        }
                    }
                    if pushed {
                        let (a, b) = (find(&mut self.leader, a), find(&mut self.leader, b));
                        self.leader[a.max(b) as usize] = a.min(b);
                    }
                }
                // What a moving fixture carries does not sleep, and what it meets wakes.
                (Some(n), None) | (None, Some(n)) => {
                    let fixture = if own(a).is_some() { b } else { a };
                    if is_led(model, fixture.0, fixture.1) {
                        self.rest[n as usize] = Rest::default();
                    } else if pushed {
                        self.borne[n as usize] = true;
                    }
                }
                _ => {}
            }
        }
        for i in 0..frames {
            let root = find(&mut self.leader, i as u32) as usize;
            // What sleeps bears as the world does.
            self.borne[root] |= self.borne[i] || self.rest[i].asleep;
        }
        for i in 0..frames {
            let root = find(&mut self.leader, i as u32) as usize;
            let rest = &mut self.rest[i];
            if rest.asleep {
                continue;
            }
            if !self.borne[root] {
                rest.calm = 0.0;
            } else if rest.calm.min(self.near[i]) >= DOZE {
                rest.asleep = true;
                nodes.velocity[i] = DVec3::ZERO;
                nodes.spin[i] = DVec3::ZERO;
            }
        }
    }
}

/// The set that `i` belongs to: its lowest member.
fn find(leader: &mut [u32], mut i: u32) -> u32 {
    while leader[i as usize] != i {
        leader[i as usize] = leader[leader[i as usize] as usize];
        i = leader[i as usize];
    }
    i
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

    /// True if the ends of a point slide on each other.
    fn slides(&self, ends: [DVec3; 2]) -> bool {
        let velocity = |k: usize| {
            let (nodes, i) = (self.nodes[k], self.sides[k].at.1 as usize);
            nodes.velocity[i] + nodes.spin[i].cross(ends[k] - nodes.position[i])
        };
        let (u, n) = (velocity(1) - velocity(0), self.normal);
        (u - n * n.dot(u)).length_squared() > SLIDING * SLIDING
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
        let ends = [0, 1].map(|k| poses[pair[k]].point(at[k]));
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
            friction: self.friction[usize::from(self.slides(ends))],
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

/// True if what no impulse moves is led along a course. An instrument may move at any time.
fn is_led(model: &Model, matter: MatterId, node: u32) -> bool {
    Some(matter) != model.fixtures || model.courses[node as usize] != (DVec3::ZERO, DVec3::ZERO)
}

/// True if a collider is on a body that does not sleep, or on something that is led.
fn is_awake(model: &Model, bodies: MatterId, rest: &[Rest], collider: u32) -> bool {
    let (matter, node) = model.colliders[collider as usize].at;
    match matter == bodies {
        true => !rest[node as usize].asleep,
        false => is_led(model, matter, node),
    }
}

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

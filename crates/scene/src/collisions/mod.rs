//! Where rigid bodies touch: detection, what contacts remember, and which bodies sleep.

mod make;
mod miss;
mod rest;

pub use rest::Rest;

use crate::build::{Model, pose};
use glam::DVec3;
use miss::Misses;
use rest::{Islands, Stir};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use trocar_collide::{
    near::{Near, overlap},
    rigid::{Contacts, Detector, Pair, Regions, Scratch, Shape, World},
};
use trocar_dynamics::{BodyContact, Crew, MatterId, Nodes, crew::even_share};
use trocar_math::{Bounds, Pose, Sets};

/// Contacts this near (m, from each body) are watched: they rest without coming and going.
pub const WATCH: f64 = 2.5e-4;

/// Nothing is looked for farther than this, m, however fast it moves.
const FARTHEST: f64 = 5.0;

/// For so many substeps at a constant speed pairs that may touch are found at once, and so large a part of its size may a body move in any case.
const AHEAD: f64 = 8.0;
const TREMBLES: f64 = 0.02;

/// So many pairs, and so many bodies, are handed to a thread at once. The cut shows in nothing but time.
const CHUNK: usize = 64;
const BODIES: usize = 64;

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

impl Given {
    fn new(key: Key, contact: &BodyContact, h: f64) -> Self {
        Self {
            key,
            at: contact.seat,
            impulses: [contact.impulse, contact.relief],
            h,
        }
    }
}

/// A stretch of pairs and what was found there.
#[derive(Default)]
struct Chunk {
    /// Those of its pairs that may touch now.
    pairs: Vec<Pair>,
    scratch: Scratch,
    contacts: Contacts,
    /// Pairs that touch, but for those of sleepers.
    awake: Vec<[u32; 2]>,
    /// Of its manifolds those that are passed by, with their colliders; and colliders that fast things strike or are struck by.
    missed: Vec<(usize, [u32; 2])>,
    struck: Vec<u32>,
    /// Which points of contact they are, but for those between sleepers.
    keys: Vec<Key>,
    /// Impulses to be kept.
    kept: Vec<Given>,
    /// Colliders that touched in the last substep, and whether they pushed each other.
    touching: Vec<([u32; 2], bool)>,
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
    /// What rests and wakes together.
    islands: Islands,
    /// True if somebody fell asleep or woke since anybody asked.
    turned: bool,
    /// Where the contacts of each chunk end.
    ends: Vec<usize>,
    poses: Vec<Pose>,
    margins: Vec<f64>,
    bounds: Vec<Bounds>,
    near_bodies: Near,
    chunks: Vec<Chunk>,
    /// So many of the chunks are in use.
    used: usize,
    /// How much each body moves in this substep, or will be moved.
    stirs: Vec<Stir>,
    /// Who has been woken in this substep.
    woken: Vec<bool>,
    /// Bodies that push each other.
    sets: Sets,
    /// Of each body: the least time for which one that it pushes has been calm, s.
    near: Vec<f64>,
    /// Of each set of bodies that push each other: whether something still bears it.
    borne: Vec<bool>,
    /// Velocity and spin of each body at the start of the step.
    before: Vec<[DVec3; 2]>,
    /// Memory for [`keep`](Self::keep), and for what is asked of [`touching`](Self::touching).
    spare: Vec<Given>,
    touched: Vec<([u32; 2], bool)>,
    misses: Misses,
    /// What was found at the start of this substep, and how many bodies are too fast to be looked for as far as they go in it.
    found: Found,
    too_fast: u32,
    /// Pairs of colliders that joints which can let go keep apart in this substep, sorted.
    held: Vec<(u32, u32)>,
    /// Length of the substep, s.
    h: f64,
}

/// What detection measures of contacts, gathered by any number of threads: the greatest of each, as the bits of a number that is not
/// negative, which are in the same order as the numbers.
#[derive(Default)]
struct Found {
    penetration: AtomicU64,
    slip: AtomicU64,
    /// True if a point may spring back.
    springy: AtomicBool,
}

impl Found {
    /// Takes in what a thread has measured.
    fn add(&self, penetration: f64, slip: f64, springy: bool) {
        self.springy.fetch_or(springy, Ordering::Relaxed);
        self.penetration
            .fetch_max(penetration.to_bits(), Ordering::Relaxed);
        self.slip.fetch_max(slip.to_bits(), Ordering::Relaxed);
    }
}

impl Collisions {
    /// Colliders that touched in the last substep, and whether they pushed each other.
    fn touching(&self) -> impl Iterator<Item = ([u32; 2], bool)> + '_ {
        let used = self.used.min(self.ends.len());
        let chunks = self.chunks[..used].iter();
        chunks.flat_map(|chunk| chunk.touching.iter().copied())
    }

    /// The boxes around bodies in the last substep, and the pairs of them that overlap.
    pub fn search(&self) -> (&[Bounds], impl Iterator<Item = &Pair>) {
        let chunks = self.chunks[..self.used].iter();
        (&self.bounds, chunks.flat_map(|chunk| &chunk.pairs))
    }

    /// Of a model that has bodies which may touch; none if it has none.
    pub fn new(model: &Model) -> Option<Self> {
        let bodies = model.bodies?;
        if !model.colliders.iter().any(|c| c.at.0 == bodies) {
            return None;
        }
        let frames = model.start[bodies.index()].frames();
        let islands = Islands::new(model, bodies, frames);
        Some(Self {
            list: Vec::new(),
            warm: Vec::new(),
            rest: vec![Rest::default(); frames],
            detector: &Regions,
            bodies,
            shapes: model.colliders.iter().map(|c| c.shape.clone()).collect(),
            islands,
            turned: false,
            ends: Vec::new(),
            poses: Vec::new(),
            margins: Vec::new(),
            bounds: Vec::new(),
            near_bodies: Near::default(),
            chunks: Vec::new(),
            used: 0,
            stirs: Vec::new(),
            woken: Vec::new(),
            sets: Sets::default(),
            near: Vec::new(),
            borne: Vec::new(),
            before: Vec::new(),
            spare: Vec::new(),
            touched: Vec::new(),
            misses: Misses::default(),
            found: Found::default(),
            too_fast: 0,
            held: Vec::with_capacity(model.latches.len()),
            h: 0.0,
        })
    }

    /// The greatest overlap of two bodies at the start of this substep, m, as their shapes and poses have it. 0 if none overlap.
    pub fn penetration(&self) -> f64 {
        f64::from_bits(self.found.penetration.load(Ordering::Relaxed))
    }

    /// The greatest speed across the normal at the start of this substep, m/s, of points that friction held in the last one: it is what
    /// sweeps have left.
    pub fn slip(&self) -> f64 {
        f64::from_bits(self.found.slip.load(Ordering::Relaxed))
    }

    /// True if one of the points of this substep may spring back.
    pub fn is_springy(&self) -> bool {
        self.found.springy.load(Ordering::Relaxed)
    }

    /// Tells the bodies that touch something in this substep and do not sleep, some of them more than once.
    pub fn see_touching(&self, model: &Model, mut see: impl FnMut(u32)) {
        for pair in self.chunks[..self.used].iter().flat_map(|c| &c.awake) {
            for (matter, node) in pair.map(|c| model.colliders[c as usize].at) {
                if matter == self.bodies && !self.rest[node as usize].asleep {
                    see(node);
                }
            }
        }
    }

    /// Bodies that go farther in this substep than contacts are looked for, 5 m: they may pass through others.
    pub fn too_fast(&self) -> u32 {
        self.too_fast
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
        self.h = h;
        self.found = Found::default();
        self.too_fast = 0;
        if !(0..model.colliders.len() as u32).any(|c| self.is_awake(model, c)) {
            // All sleep, and nothing comes to wake them.
            return self.forget();
        }
        self.sense(model, &share, h, crew, false);
        if !self.rest.iter().any(|rest| rest.asleep) {
            // There is nobody to be woken.
            return self.collect(model, &share, crew);
        }
        self.stirs.clear();
        let nodes = share(self.bodies);
        let rests = self.rest.iter().enumerate();
        self.stirs
            .extend(rests.map(|(i, rest)| Stir::of(rest, nodes, i)));
        self.woken.clear();
        self.woken.resize(self.rest.len(), false);
        if let Some(by) = self.rouse(model, &share, h) {
            // Nobody has looked yet at what those that woke lean on.
            self.sense(model, &share, h, crew, by == Stir::Brisk);
            self.rouse(model, &share, h);
        }
        self.collect(model, &share, crew);
    }

    /// Forgets where bodies touched.
    pub fn forget(&mut self) {
        self.used = 0;
        self.ends.clear();
        self.list.clear();
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
        Crew::spread(crew, &mut self.poses, BODIES, |first, some| {
            for (to, collider) in some.iter_mut().zip(&model.colliders[first..]) {
                *to = pose(share(collider.at.0), collider.at.1 as usize);
            }
        });
        self.margins.resize(count, 0.0);
        Crew::spread(crew, &mut self.margins, BODIES, |first, some| {
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
        let farthest = |margin: &&f64| **margin >= WATCH + FARTHEST;
        self.too_fast = self.margins.iter().filter(farthest).count() as u32;
        let world = World {
            shapes: &self.shapes,
            poses: &self.poses,
            margins: &self.margins,
        };
        self.bounds.resize(count, Bounds::EMPTY);
        let (near, left) = (&self.near_bodies, AtomicBool::new(false));
        Crew::spread(crew, &mut self.bounds, BODIES, |first, some| {
            let mut leaves = false;
            for (k, to) in (first..).zip(some) {
                *to = world.bound(k);
                leaves |= near.leaves(k, to);
            }
            left.fetch_or(leaves, Ordering::Relaxed);
        });
        let left = left.into_inner();
        // What no impulse moves, moves others if it has a course; two of it never meet.
        let still = |c: u32| model.colliders[c as usize].at.0 != self.bodies;
        let awake = |c: u32| is_awake(model, self.bodies, &self.rest, c);
        let lasting =
            |a: u32, b: u32| !(still(a) && still(b)) && model.apart.binary_search(&(a, b)).is_err();
        // What a joint that can let go holds now does not touch what it holds it to.
        let latches = model.latches.iter();
        let closed = latches.filter(|latch| !model.joints[latch.joint].open);
        self.held.clear();
        self.held.extend(closed.filter_map(|latch| latch.apart));
        self.held.sort_unstable();
        let held = |a: u32, b: u32| self.held.binary_search(&(a, b)).is_ok();
        let now = |a: u32, b: u32| (all || awake(a) || awake(b)) && !held(a, b);
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
        let wide = self.near_bodies.of_bounds(bounds, left, room, lasting);
        let share_out = even_share(wide.len(), CHUNK, usize::MAX);
        let count = wide.len().div_ceil(share_out);
        self.used = count;
        if self.chunks.len() < count {
            self.chunks.resize_with(count, Chunk::default);
        }
        let chunks = &mut self.chunks[..count];
        let detector = self.detector;
        let narrow = |k: usize, chunk: &mut Chunk| {
            let from = k * share_out;
            let some = &wide[from..wide.len().min(from + share_out)];
            chunk.pairs.clear();
            let near = some.iter().filter(|p| overlap(bounds, p) && now(p.a, p.b));
            chunk.pairs.extend(near);
            chunk.contacts.clear();
            detector.narrow(
                &world,
                &chunk.pairs,
                &mut chunk.scratch,
                &mut chunk.contacts,
            );
        };
        match crew {
            Some(crew) => crew.each(chunks, narrow),
            None => (0..).zip(chunks).for_each(|(k, c)| narrow(k, c)),
        }
        self.leave_out_misses(model, share, h, crew);
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
            && self.islands.can_rest(rest)
    }

    /// Keeps the impulses found for the next substep, and of what sleeps those it fell asleep with: when it wakes, it bears what it
    /// bore.
    pub fn keep(&mut self, model: &Model, crew: Option<&Crew>) {
        let (list, ends, h) = (&self.list, &self.ends, self.h);
        // Nothing was found if all that could be there sleeps.
        let used = self.used.min(ends.len());
        Crew::spread(crew, &mut self.chunks[..used], 1, |k, some| {
            for chunk in some {
                let from = if k == 0 { 0 } else { ends[k - 1] };
                chunk.keep(&list[from..ends[k]], h);
            }
        });
        let mut kept = std::mem::take(&mut self.spare);
        kept.clear();
        let chunks = self.chunks[..used].iter();
        if self.rest.iter().any(|rest| rest.asleep) {
            let asleep = |g: &&Given| !g.key.0.iter().any(|c| self.is_awake(model, *c));
            let mut old = self.warm.iter().filter(asleep).peekable();
            for new in chunks.flat_map(|chunk| &chunk.kept) {
                while let Some(given) = old.next_if(|g| g.key < new.key) {
                    kept.push(*given);
                }
                kept.push(*new);
            }
            kept.extend(old);
        } else {
            chunks.for_each(|chunk| kept.extend_from_slice(&chunk.kept));
        }
        self.spare = std::mem::replace(&mut self.warm, kept);
    }
}

impl Chunk {
    /// Keeps the impulses of its `contacts`, and who of its pairs pushes each other.
    fn keep(&mut self, contacts: &[BodyContact], h: f64) {
        self.kept.clear();
        self.touching.clear();
        for (key, contact) in self.keys.iter().zip(contacts) {
            let pushes = contact.total != DVec3::ZERO;
            match self.touching.last_mut() {
                Some((pair, pushing)) if *pair == key.0 => *pushing |= pushes,
                _ => self.touching.push((key.0, pushes)),
            }
            if contact.impulse != DVec3::ZERO {
                self.kept.push(Given::new(*key, contact, h));
            }
        }
    }
}

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

//! Which bodies rest, sleep and wake.

use super::{Collisions, is_led};
use crate::build::Model;
use glam::DVec3;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use trocar_collide::rigid::Point;
use trocar_dynamics::{Anchor, Bodies, Joint, Local, MatterId, Nodes, joint::Kind};
use trocar_math::Sets;
use trocar_soft::Global;

/// Slower than this, m/s and rad/s, a body counts as resting.
const CALM: [f64; 2] = [0.01, 0.1];

/// What hangs swings on, however slowly. It rests if it is slower than this, m/s and rad/s, and is not about to be faster: at a turning point
/// it stands still, but is drawn back with more than this, m/s² and rad/s². A pendulum of a metre then hangs within a millimetre of where it would
/// end.
const STEADY: [f64; 2] = [0.001, 0.01];
const UNDRAWN: [f64; 2] = [0.01, 0.1];

/// Faster than this, m/s and rad/s, a body is under way: what sleeps where it comes wakes with all that leans on it. What
/// is slower only trembles, and wakes what it touches, but nobody behind: a heap has always some that tremble.
const BRISK: [f64; 2] = [0.05, 0.5];

/// What has been calm for less than this, s, wakes what it meets or leaves.
const STIR: f64 = 0.1;

/// Nearer than this, m, bodies lean on each other: if one wakes, so does the other.
const NEAR: f64 = 1e-4;

/// What rests this long, s, sleeps.
const DOZE: f64 = 0.5;

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
pub enum Stir {
    /// It rests, awake or asleep.
    Calm,
    /// It has moved a little, not long ago.
    Trembles,
    /// It is under way, or is pushed by what is.
    Brisk,
}

impl Stir {
    pub fn of(rest: &Rest, nodes: &Nodes, i: usize) -> Self {
        if rest.asleep || rest.calm >= STIR {
            return Self::Calm;
        }
        let brisk = nodes.velocity[i].length() > BRISK[0] || nodes.spin[i].length() > BRISK[1];
        if brisk { Self::Brisk } else { Self::Trembles }
    }
}

/// Bodies that joints join rest together, sleep together and wake together: what one of them does, joints do to the others.
pub struct Islands {
    /// Of each body the next one of its island, in a ring; itself if nothing is joined to it.
    next: Vec<u32>,
    /// Of each body the lowest one of its island.
    first: Vec<u32>,
    /// True if a joint holds a point of it to something that never moves; true if one does so with a body of its island.
    hung: Vec<bool>,
    hangs: Vec<bool>,
    /// True if a tie, a drive or something that is led may move it or one of its island at any time: it does not sleep.
    busy: Vec<bool>,
}

impl Islands {
    /// The islands of a model's `bodies`.
    pub fn new(model: &Model, bodies: MatterId, count: usize) -> Self {
        let mut sets = Sets::of(count);
        let mut busy = vec![!model.rules.sleep; count];
        let mut hung = vec![false; count];
        let body = |anchor: &Anchor| match anchor.at {
            Local::Frame(n, _) if anchor.matter == bodies => Some(n),
            _ => None,
        };
        let still = |anchor: &Anchor| {
            let node = match anchor.at {
                Local::Frame(n, _) | Local::Node(n) => n,
                _ => return false,
            };
            anchor.matter == MatterId::WORLD || !is_led(model, anchor.matter, node)
        };
        for joint in &model.joints {
            let anchors = || joint.anchors().flatten();
            let all_known = anchors().all(|a| body(&a).is_some() || still(&a));
            let stirs = !all_known || joint.controls.iter().any(|c| c.drive.is_some());
            // A rope that is slack bears nothing, nor does what only keeps from turning; along a rail it may roll on.
            let bears = joint.bases.iter().any(|b| b.kind == Kind::Point);
            let hangs = bears && !joint.open && anchors().any(|a| body(&a).is_none());
            let mut last = None;
            for n in anchors().filter_map(|a| body(&a)) {
                busy[n as usize] |= stirs;
                hung[n as usize] |= hangs;
                if let Some(other) = last.replace(n) {
                    sets.join(n, other);
                }
            }
        }
        for n in model
            .ties
            .iter()
            .flat_map(|t| [t.a, t.b])
            .filter_map(|a| body(&a))
        {
            busy[n as usize] = true;
        }
        // Springs draw without asking who sleeps.
        let pulled = model.globals.iter().flat_map(Global::anchors);
        for n in pulled.filter_map(body) {
            busy[n as usize] = true;
        }
        for hold in model.bodies_of(bodies).map_or(&[][..], Bodies::holds) {
            busy[hold.body as usize] = true;
        }
        let first: Vec<u32> = (0..count as u32).map(|i| sets.lowest(i)).collect();
        let mut next: Vec<u32> = (0..count as u32).collect();
        let mut hangs = hung.clone();
        for i in 0..count {
            let lowest = first[i] as usize;
            if lowest != i {
                next.swap(lowest, i);
                busy[lowest] |= busy[i];
                hangs[lowest] |= hangs[i];
            }
        }
        for i in 0..count {
            busy[i] = busy[first[i] as usize];
            hangs[i] = hangs[first[i] as usize];
        }
        Self {
            next,
            first,
            hung,
            hangs,
            busy,
        }
    }

    /// The bodies of the island of `node`, from it on.
    fn of(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let next = move |i: &usize| Some(self.next[*i] as usize).filter(|i| *i != node);
        std::iter::successors(Some(node), next)
    }

    /// True if bodies may rest like this: none sleeps that can't, and islands sleep as a whole.
    pub fn can_rest(&self, rest: &[Rest]) -> bool {
        rest.iter().enumerate().all(|(i, r)| {
            let together = r.asleep == rest[self.first[i] as usize].asleep;
            together && !(r.asleep && self.busy[i])
        })
    }
}

impl Collisions {
    /// True if everybody sleeps, and nothing comes to wake them.
    pub fn is_at_rest(&self, model: &Model) -> bool {
        (0..model.colliders.len() as u32).all(|c| !self.is_awake(model, c))
            && self.rest.iter().all(|rest| rest.asleep)
    }

    /// Takes note of how bodies move before a step: who hangs may stand still and yet be about to swing.
    pub fn note(&mut self, nodes: &Nodes) {
        self.before.clear();
        let motions = nodes.velocity.iter().zip(&nodes.spin);
        self.before.extend(motions.map(|(v, w)| [*v, *w]));
    }

    /// True if a node of the bodies' matter sleeps.
    pub fn is_asleep(&self, node: usize) -> bool {
        self.rest.get(node).is_some_and(|r| r.asleep)
    }

    /// True if since the last time it was asked somebody fell asleep or woke.
    pub fn has_turned(&mut self) -> bool {
        std::mem::take(&mut self.turned)
    }

    /// True if nothing can happen at a joint: all bodies that it joins sleep.
    pub fn rests(&self, joint: &Joint) -> bool {
        let ends = || {
            joint
                .anchors()
                .flatten()
                .filter(|a| a.matter == self.bodies)
        };
        let sleeps = |anchor: Anchor| match anchor.at {
            Local::Frame(n, _) => self.is_asleep(n as usize),
            _ => false,
        };
        ends().next().is_some() && ends().all(sleeps)
    }

    /// Takes over how bodies rest, as [`can_take`](Self::can_take) allows.
    pub fn take_rest(&mut self, rest: Vec<Rest>) {
        self.rest = rest;
        self.turned = true;
    }

    /// Wakes a body and its island.
    pub fn wake(&mut self, node: usize) {
        if node < self.rest.len() {
            self.stir(node, Rest::default());
        }
    }

    /// Lets a body rest like this, and its island if that sleeps.
    fn stir(&mut self, node: usize, how: Rest) {
        if self.rest[node].asleep {
            self.turned = true;
            for i in self.islands.of(node) {
                self.rest[i] = how;
            }
        }
        self.rest[node] = how;
    }

    /// Finds out anew who hangs on what; after joints were opened or closed.
    pub fn rejoin(&mut self, model: &Model) {
        self.islands = Islands::new(model, self.bodies, self.rest.len());
    }

    /// Wakes all bodies.
    pub fn wake_all(&mut self) {
        self.turned |= self.rest.iter().any(|rest| rest.asleep);
        self.rest.fill(Rest::default());
    }

    /// Wakes a body and all that touched it in the last substep.
    pub fn wake_around(&mut self, model: &Model, node: usize) {
        self.wake(node);
        let bodies = self.bodies;
        let it = (bodies, node as u32);
        // What was found in this substep, whether anybody has kept it yet or not.
        for chunk in 0..self.used.min(self.ends.len()) {
            for k in 0..self.chunks[chunk].keys.len() {
                let sides = self.chunks[chunk].keys[k].0;
                let sides = sides.map(|c| model.colliders[c as usize].at);
                if sides.contains(&it) {
                    for (_, other) in sides.iter().filter(|side| side.0 == bodies) {
                        self.wake(*other as usize);
                    }
                }
            }
        }
    }
    /// Wakes what sleeps where something that stirs touches it or may reach it in this substep of `h` seconds, and, if that is under
    /// way, all that leans on it: for as long as it sleeps it is as fixed as the world, and a blow to it would make momentum
    /// out of nothing. What is awake but calm wakes nobody, or a heap would never come to rest; but it passes a blow on.
    /// Returns what stirred most of all that woke something.
    pub(super) fn rouse<'n>(
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
                    let node = to.1 as usize;
                    // What trembled against it may have woken it a moment ago: a blow finds it as it was.
                    let asleep = self.rest[node].asleep || self.woken[node];
                    let hit = |point: &Point| {
                        let u = velocity(1, point.b) - velocity(0, point.a);
                        let closing = -manifold.normal.dot(u);
                        let reached = if closing.is_nan() {
                            // What went bad is put back, and must not spoil others before.
                            false
                        } else if asleep {
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
                    let mut becomes = by;
                    if asleep {
                        self.turned = true;
                        woke = woke.max(Some(by));
                        if by == Stir::Trembles {
                            becomes = Stir::Calm;
                        }
                    }
                    // What strikes one strikes all that are joined to it.
                    for i in self.islands.of(node) {
                        if asleep && (by == Stir::Brisk || self.rest[i].asleep) {
                            self.rest[i] = Rest::woken(by);
                        }
                        self.woken[i] |= asleep;
                        if becomes > self.stirs[i] {
                            self.stirs[i] = becomes;
                            again = true;
                        }
                    }
                }
            }
        }
        woke
    }

    /// After a step of `dt` seconds: what has rested long enough, with all it pushes, sleeps; what is touched by something that
    /// moves wakes. What nothing still bears is not at rest, however slowly it floats.
    pub fn settle(&mut self, model: &Model, nodes: &mut Nodes, dt: f64) {
        let (frames, bodies) = (self.rest.len(), self.bodies);
        if self.islands.busy.iter().all(|busy| *busy) {
            // Nobody ever sleeps.
            return;
        }
        let slow =
            |[v, w]: [DVec3; 2], most: [f64; 2]| v.length() < most[0] && w.length() < most[1];
        for (i, rest) in self.rest.iter_mut().enumerate() {
            let motion = [nodes.velocity[i], nodes.spin[i]];
            let still = if self.islands.hangs[i] {
                let [v, w] = self.before.get(i).copied().unwrap_or(motion);
                let drawn = [(motion[0] - v) / dt, (motion[1] - w) / dt];
                slow(motion, STEADY) && slow(drawn, UNDRAWN)
            } else {
                slow(motion, CALM)
            };
            rest.calm = match (still && !self.islands.busy[i], rest.asleep) {
                (_, true) => rest.calm,
                (true, false) => rest.calm + dt,
                (false, false) => 0.0,
            };
        }
        self.sets.part(frames);
        self.near.clear();
        self.near.resize(frames, f64::INFINITY);
        self.borne.clear();
        self.borne.resize(frames, false);
        let mut touched = std::mem::take(&mut self.touched);
        touched.clear();
        touched.extend(self.touching());
        for (pair, pushed) in touched.iter().copied() {
            let [a, b] = pair.map(|c| model.colliders[c as usize].at);
            let own = |x: (MatterId, u32)| (x.0 == bodies).then_some(x.1);
            match (own(a), own(b)) {
                (Some(a), Some(b)) => {
                    for (one, other) in [(a, b), (b, a)].map(|(a, b)| (a as usize, b as usize)) {
                        let stirs = Stir::of(&self.rest[one], nodes, one);
                        if stirs > Stir::Calm && self.rest[other].asleep {
                            self.stir(other, Rest::woken(stirs));
                        }
                        if pushed && !self.rest[other].asleep {
                            self.near[one] = self.near[one].min(self.rest[other].calm);
                        }
                    }
                    if pushed {
                        self.sets.join(a, b);
                    }
                }
                // What a moving fixture carries does not sleep, and what it meets wakes.
                (Some(n), None) | (None, Some(n)) => {
                    let fixture = if own(a).is_some() { b } else { a };
                    if is_led(model, fixture.0, fixture.1) {
                        self.wake(n as usize);
                    } else if pushed {
                        self.borne[n as usize] = true;
                    }
                }
                _ => {}
            }
        }
        self.touched = touched;
        for i in 0..frames {
            self.sets.join(self.islands.first[i], i as u32);
        }
        for i in 0..frames {
            let root = self.sets.lowest(i as u32) as usize;
            // What sleeps bears as the world does.
            self.borne[root] |= self.borne[i] || self.islands.hung[i] || self.rest[i].asleep;
        }
        for i in 0..frames {
            if self.rest[i].asleep || self.islands.first[i] as usize != i {
                continue;
            }
            let root = self.sets.lowest(i as u32) as usize;
            let (rest, near) = (&self.rest, &self.near);
            let is_calm = |i: usize| rest[i].calm.min(near[i]) >= DOZE;
            let sleeps = self.borne[root] && self.islands.of(i).all(is_calm);
            for i in self.islands.of(i) {
                if !self.borne[root] {
                    self.rest[i].calm = 0.0;
                } else if sleeps {
                    self.turned = true;
                    self.rest[i].asleep = true;
                    nodes.velocity[i] = DVec3::ZERO;
                    nodes.spin[i] = DVec3::ZERO;
                }
            }
        }
    }
}

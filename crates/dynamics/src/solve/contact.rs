//! Contacts between rigid bodies: non-penetration and Coulomb friction at every point of every pair (B80–B92).
//!
//! Each point is solved as a whole, its normal and its friction together, against all others in turn. The bodies are cut
//! into slabs; points inside different slabs share no body, so threads may work on them at the same time. The cut depends
//! on where the bodies are and on nothing else: any number of threads gives the same bits.

use super::mover::{Level, Movers, NONE};
use crate::{BodyContact, Cast, Crew};
use glam::{DMat3, DVec3};
use trocar_math::skew;

/// So many points are worth a slab of their own.
const POINTS_A_SLAB: usize = 192;

/// Most slabs: more would be all border.
const MOST_SLABS: usize = 8;

/// Share of an overlap that is undone in one substep. The rest follows: undone at once, it would be a blow.
const RECOVERY: f64 = 0.05;

/// Overlap that is left alone, m: it keeps resting contacts from coming and going.
const SLOP: f64 = 1e-5;

/// Shorter strides than this are none.
const TOO_FAR: f64 = 0.9;

/// Ways nearer to parallel than this (the square of the sine) are one.
const PARALLEL: f64 = 1e-12;

/// A body as the sweeps see it: how it moves, and how it answers.
#[derive(Clone, Copy, Debug)]
struct Body {
    velocity: DVec3,
    spin: DVec3,
    inverse_mass: f64,
    inverse_inertia: DMat3,
    mover: u32,
}

/// Which body of which slab; of neither if nothing moves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    slab: u32,
    body: u32,
}

const STILL: Place = Place {
    slab: NONE,
    body: NONE,
};

/// A point of contact made ready.
#[derive(Clone, Copy, Debug)]
struct Spot {
    a: u32,
    b: u32,
    arms: [DVec3; 2],
    normal: DVec3,
    /// How b should move against a at the point, as far as that is up to what can be moved, if the point sticks.
    goal: DVec3,
    /// Change of their velocity against each other for an impulse, and its inverse.
    answer: DMat3,
    inverse: DMat3,
    /// Impulse for each m/s along the normal, and across it where the point answers most.
    firmness: [f64; 2],
    /// Velocity for each N·s where the point answers most.
    softness: f64,
    friction: f64,
    impulse: DVec3,
    /// What of it is not yet in the bodies' motion.
    start: DVec3,
    /// Which contact it is.
    index: u32,
}

/// What the ways of a body's motion are reckoned with.
#[derive(Clone, Copy, Debug)]
struct Trail {
    mass: f64,
    inertia: DMat3,
    steps: [Step; 2],
}

impl Trail {
    /// Twice the kinetic energy that two motions have in common.
    fn product(&self, a: &[DVec3; 2], b: &[DVec3; 2]) -> f64 {
        self.mass * a[0].dot(b[0]) + a[1].dot(self.inertia * b[1])
    }
}

/// Where a motion or an impulse was before the last two sweeps, and the way it went there from where the sweeps before
/// had left it.
#[derive(Clone, Copy, Debug, Default)]
struct Step {
    left: DVec3,
    from: DVec3,
    way: DVec3,
}

/// Bodies of one stretch of space, and the points between them; then those with the next stretch.
#[derive(Debug, Default)]
struct Slab {
    bodies: Vec<Body>,
    trails: Vec<Trail>,
    inside: Vec<Spot>,
    border: Vec<Spot>,
    inside_steps: Vec<Step>,
    border_steps: Vec<Step>,
    /// Square of the greatest change of velocity in a sweep.
    worst: f64,
    /// What the changes of impulses since the last look do towards their goals, J.
    gain: f64,
}

/// How far to go on: along the way of the last two sweeps, and along that before.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stride {
    on: f64,
    again: f64,
}

/// What to do before the next two sweeps.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Next {
    /// Start from where the last ones ended.
    Stay,
    /// Start from farther on.
    On(Stride),
    /// Start from where those before the last ones ended: the last stride was none of use.
    Back,
}

/// What is known of the ways gone so far.
#[derive(Clone, Copy, Debug, Default)]
struct Pace {
    /// What the way before does towards the goals, J; none if there is none.
    gain: Option<f64>,
    /// What all impulses do towards their goals at the start of the last two sweeps, J, but for a constant.
    towards: f64,
    /// What was to be made least, at the end of the two sweeps before, J.
    least: f64,
    /// What all impulses did towards their goals then, J.
    left: f64,
}

/// Memory for the contacts of rigid bodies.
#[derive(Debug, Default)]
pub struct Press {
    slabs: Vec<Slab>,
    /// Points between slabs that are not neighbours: few, and swept alone.
    far: Vec<(Place, Place, Spot)>,
    far_steps: Vec<Step>,
    far_gain: f64,
    pace: Pace,
    place: Vec<Place>,
    order: Vec<(f64, u32)>,
    /// Movers that joints act on too, with their motion without any impulse.
    shared: Vec<(u32, DVec3, DVec3)>,
    /// Movers before this one are those that joints and tissue act on too.
    others: usize,
    count: usize,
    sweeps: u32,
}

impl Press {
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Makes all contacts ready. Movers that are there already are those that joints and tissue act on.
    pub fn begin(
        &mut self,
        movers: &mut Movers,
        cast: &Cast<'_>,
        contacts: &[BodyContact],
        level: Level,
    ) {
        self.others = movers.len();
        self.sweeps = 0;
        self.count = contacts.len();
        self.far.clear();
        self.pace = Pace::default();
        self.shared.clear();
        self.place.clear();
        for slab in &mut self.slabs {
            slab.bodies.clear();
            slab.trails.clear();
            slab.inside.clear();
            slab.border.clear();
        }
        if contacts.is_empty() {
            return;
        }
        for contact in contacts {
            for (matter, node) in [contact.a, contact.b] {
                movers.of(cast, matter, node, level);
            }
        }
        self.cut(movers, contacts, cast, level);
        for (index, contact) in contacts.iter().enumerate() {
            self.add(movers, cast, contact, index, level);
        }
        for slab in &mut self.slabs {
            slab.inside_steps.clear();
            slab.inside_steps
                .resize(slab.inside.len(), Step::default());
            slab.border_steps.clear();
            slab.border_steps
                .resize(slab.border.len(), Step::default());
        }
        self.far_steps.clear();
        self.far_steps.resize(self.far.len(), Step::default());
    }

    /// Cuts the bodies into slabs across the axis along which they are spread farthest.
    fn cut(
        &mut self,
        movers: &mut Movers,
        contacts: &[BodyContact],
        cast: &Cast<'_>,
        level: Level,
    ) {
        self.place.resize(movers.len(), STILL);
        let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        self.order.clear();
        for contact in contacts {
            for (matter, node) in [contact.a, contact.b] {
                let m = movers.of(cast, matter, node, level);
                let mover = &movers[m];
                if mover.freedom > 0 && self.place[m as usize] == STILL {
                    self.place[m as usize].slab = 0;
                    low = low.min(mover.position);
                    high = high.max(mover.position);
                    self.order.push((0.0, m));
                }
            }
        }
        let spread = high - low;
        let axis = (0..3).fold(0, |best, k| if spread[k] > spread[best] { k } else { best });
        for (x, m) in &mut self.order {
            *x = movers[*m].position[axis];
        }
        self.order
            .sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let slabs = (contacts.len() / POINTS_A_SLAB).clamp(1, MOST_SLABS);
        if self.slabs.len() < slabs {
            self.slabs.resize_with(slabs, Slab::default);
        }
        self.slabs.truncate(slabs);
        let each = self.order.len().div_ceil(slabs).max(1);
        for (k, (_, m)) in self.order.iter().enumerate() {
            let slab = (k / each) as u32;
            let mover = &movers[*m];
            let bodies = &mut self.slabs[slab as usize].bodies;
            self.place[*m as usize] = Place {
                slab,
                body: bodies.len() as u32,
            };
            let (velocity, spin) = mover.course(level);
            if (*m as usize) < self.others {
                let (push, turn) = mover.pushed();
                self.shared.push((*m, velocity - push, spin - turn));
            }
            bodies.push(Body {
                velocity,
                spin,
                inverse_mass: mover.answer.x_axis.x,
                inverse_inertia: mover.inverse_inertia,
                mover: *m,
            });
            self.slabs[slab as usize].trails.push(Trail {
                mass: mover.answer.x_axis.x.recip(),
                inertia: mover.inertia,
                steps: [Step::default(); 2],
            });
        }
    }

    fn add(
        &mut self,
        movers: &mut Movers,
        cast: &Cast<'_>,
        contact: &BodyContact,
        index: usize,
        level: Level,
    ) {
        let sides = [contact.a, contact.b].map(|(m, n)| movers.of(cast, m, n, level));
        let mut answer = DMat3::ZERO;
        let mut drift = DVec3::ZERO;
        let mut arms = [DVec3::ZERO; 2];
        for (k, m) in sides.iter().enumerate() {
            let mover = &movers[*m];
            let arm = contact.arms[k];
            arms[k] = arm;
            if self.place[*m as usize] == STILL {
                let (velocity, spin) = mover.course(level);
                let sign = if k == 0 { -1.0 } else { 1.0 };
                drift += (velocity + spin.cross(arm)) * sign;
            } else {
                let cross = skew(arm);
                answer += DMat3::from_diagonal(DVec3::splat(mover.answer.x_axis.x))
                    - cross * mover.inverse_inertia * cross;
            }
        }
        let inverse = answer.inverse();
        if !inverse.is_finite() {
            return;
        }
        let target = match level {
            Level::Velocity => contact.rebound,
            Level::Position(h) if contact.gap >= -SLOP => -contact.gap.max(0.0) / h,
            Level::Position(h) => (-contact.gap - SLOP) * RECOVERY / h,
        };
        let n = contact.normal;
        let along = n.dot(answer * n);
        // Sum and product of the two answers across the normal give the greater one.
        let sum = answer.x_axis.x + answer.y_axis.y + answer.z_axis.z - along;
        let product = answer.determinant() * n.dot(inverse * n);
        let most = 0.5 * (sum + (sum * sum - 4.0 * product).max(0.0).sqrt());
        let [a, b] = sides.map(|m| self.place[m as usize]);
        let target = target.min(contact.recovery.max(contact.rebound));
        let spot = Spot {
            firmness: [1.0 / along, 1.0 / most],
            softness: along.max(most),
            a: a.body,
            b: b.body,
            arms,
            normal: contact.normal,
            goal: n * target - drift,
            answer,
            inverse,
            friction: contact.friction,
            impulse: contact.impulse,
            start: match level {
                Level::Position(_) => contact.impulse,
                Level::Velocity => contact.relief,
            },
            index: index as u32,
        };
        match (a, b) {
            (STILL, STILL) => {}
            (one, STILL) | (STILL, one) => self.slabs[one.slab as usize].inside.push(spot),
            (a, b) if a.slab == b.slab => self.slabs[a.slab as usize].inside.push(spot),
            (a, b) if a.slab + 1 == b.slab => self.slabs[a.slab as usize].border.push(spot),
            (a, b) if b.slab + 1 == a.slab => {
                self.slabs[b.slab as usize].border.push(spot.turned());
            }
            (a, b) => self.far.push((a, b, spot)),
        }
    }

    /// Starts from the impulses the contacts had.
    pub fn warm(&mut self) {
        for k in 0..self.slabs.len() {
            let (slab, next) = pair(&mut self.slabs, k);
            for spot in &slab.inside {
                spot.push(&mut slab.bodies, spot.start);
            }
            if let Some(next) = next {
                for spot in &slab.border {
                    spot.push_across(&mut slab.bodies, &mut next.bodies, spot.start);
                }
            }
        }
        for (a, b, spot) in &self.far {
            push_far(&mut self.slabs, *a, *b, spot, spot.start);
        }
    }

    /// One sweep over all points; returns the greatest change of velocity it made, m/s.
    ///
    /// Every two sweeps, there and back, are a step of a conjugate gradient method (after Silcowitz, Niebe and Erleben
    /// 2010): the next two start as far along the way of these and of those before as is best for all points together. So
    /// a push gets through a high stack, and a heavy body finds that it stands on a light one, in as many sweeps as there
    /// are bodies, where sweeps alone would take the square of that, or as many as one is heavier than the other. A sweep
    /// has the last word: no impulse pulls, and none is beyond friction.
    pub fn sweep(&mut self, crew: Option<&Crew>) -> f64 {
        self.sweeps += 1;
        // Back and forth: a push travels through a stack both ways.
        let forwards = self.sweeps % 2 == 1;
        // What joints do to bodies is none of the ways gone here.
        let strides = forwards && !self.is_shared();
        let next = match strides {
            true => self.next(),
            false => Next::Stay,
        };
        let inside = |slab: &mut Slab| {
            if strides {
                slab.go_on(next);
            }
            slab.worst = 0.0;
            let Slab {
                bodies,
                inside,
                worst,
                gain,
                ..
            } = slab;
            each(inside, forwards, |spot| {
                let (wrong, does) = spot.solve(bodies);
                *worst = worst.max(wrong);
                *gain += does;
            });
        };
        let across = |slabs: &mut [Slab]| {
            if let [one, next] = slabs {
                let Slab {
                    bodies,
                    border,
                    worst,
                    gain,
                    ..
                } = one;
                each(border, forwards, |spot| {
                    let (wrong, does) = spot.solve_across(bodies, &mut next.bodies);
                    *worst = worst.max(wrong);
                    *gain += does;
                });
            }
        };
        match crew {
            Some(crew) if self.slabs.len() > 1 => {
                crew.each(&mut self.slabs, |_, slab| inside(slab));
                for first in [0, 1] {
                    let mut pairs: [&mut [Slab]; MOST_SLABS] = std::array::from_fn(|_| &mut [][..]);
                    let mut count = 0;
                    for (to, pair) in pairs.iter_mut().zip(self.slabs[first..].chunks_mut(2)) {
                        *to = pair;
                        count += 1;
                    }
                    crew.each(&mut pairs[..count], |_, pair| across(pair));
                }
            }
            _ => {
                self.slabs.iter_mut().for_each(inside);
                for first in [0, 1] {
                    let first = first.min(self.slabs.len());
                    self.slabs[first..].chunks_mut(2).for_each(across);
                }
            }
        }
        let mut worst = self.slabs.iter().fold(0.0_f64, |w, s| w.max(s.worst));
        if strides {
            self.far_gain = 0.0;
        }
        for k in 0..self.far.len() {
            let (a, b, mut spot) = self.far[k];
            if strides {
                self.far_steps[k].go_on(&mut spot.impulse, next);
            }
            let u = motion(
                &self.slabs[b.slab as usize].bodies[b.body as usize],
                spot.arms[1],
            ) - motion(
                &self.slabs[a.slab as usize].bodies[a.body as usize],
                spot.arms[0],
            );
            let (change, wrong) = spot.impulse_for(u);
            spot.impulse += change;
            push_far(&mut self.slabs, a, b, &spot, change);
            self.far_gain += spot.goal.dot(change);
            self.far[k].2 = spot;
            worst = worst.max(wrong);
        }
        worst.sqrt()
    }

    /// What to do before the next two sweeps.
    ///
    /// With every point pushing, the impulses λ sought are where f = ½ λᵀAλ − gᵀλ is least, with A λ the velocities they
    /// make and g those that are wanted: the kinetic energy of the bodies less the work of the goals. Of all
    /// λ + a d + b w, with d the change of the last two sweeps and w the way gone before them, the least f is where
    /// a (d, d) + b (d, w) = −(v, d) + g d and a (d, w) + b (w, w) = −(v, w) + g w: sums over bodies of momentum times
    /// velocity.
    fn next(&mut self) -> Next {
        if self.sweeps < 3 {
            return Next::Stay;
        }
        let (mut dd, mut dw, mut ww, mut vd, mut vw, mut vv) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
        let mut gain = self.far_gain;
        for slab in &self.slabs {
            gain += slab.gain;
            for (body, trail) in slab.bodies.iter().zip(&slab.trails) {
                let [one, two] = &trail.steps;
                let d = &[body.velocity - one.from, body.spin - two.from];
                let w = &[one.way, two.way];
                let v = &[one.from, two.from];
                dd += trail.product(d, d);
                dw += trail.product(d, w);
                ww += trail.product(w, w);
                vd += trail.product(v, d);
                vw += trail.product(v, w);
                vv += trail.product(v, v);
            }
        }
        let before = self.pace;
        let least = 0.5 * (vv + dd) + vd - before.towards - gain;
        if before.gain.is_some() && least > before.least {
            // Other points push there than here, and the way here said nothing about the way on.
            self.pace = Pace {
                gain: None,
                towards: before.left,
                ..before
            };
            return Next::Back;
        }
        self.pace = Pace {
            gain: None,
            towards: before.towards + gain,
            least,
            left: before.towards + gain,
        };
        let falls = gain - vd;
        let mut stride = Stride {
            on: falls / dd,
            again: 0.0,
        };
        let determinant = dd * ww - dw * dw;
        if let (Some(way), true) = (before.gain, determinant > PARALLEL * dd * ww) {
            let along = way - vw;
            stride = Stride {
                on: (falls * ww - along * dw) / determinant,
                again: (along * dd - falls * dw) / determinant,
            };
        }
        // Sweeps alone never go too far; where it looks as if they did, they have put right what a stride did.
        if !(stride.on > TOO_FAR && stride.on.is_finite() && stride.again.is_finite()) {
            return Next::Stay;
        }
        let way = stride.on * gain + stride.again * before.gain.unwrap_or(0.0);
        self.pace.gain = Some(way);
        self.pace.towards = before.towards + way;
        Next::On(stride)
    }

    /// After the last sweep: undoes the last stride if it was none of use.
    pub fn finish(&mut self) {
        if self.is_shared() || self.sweeps < 3 || self.pace.gain.is_none() {
            return;
        }
        let mut least = -self.pace.towards - self.far_gain;
        for slab in &self.slabs {
            least -= slab.gain;
            for (body, trail) in slab.bodies.iter().zip(&slab.trails) {
                let v = &[body.velocity, body.spin];
                least += 0.5 * trail.product(v, v);
            }
        }
        if least <= self.pace.least {
            return;
        }
        for slab in &mut self.slabs {
            slab.go_on(Next::Back);
        }
        for ((_, _, spot), step) in self.far.iter_mut().zip(&mut self.far_steps) {
            step.go_on(&mut spot.impulse, Next::Back);
        }
    }

    /// Puts the impulses found into the contacts.
    pub fn store(&self, contacts: &mut [BodyContact]) {
        for slab in &self.slabs {
            for spot in &slab.inside {
                contacts[spot.index as usize].impulse = spot.impulse;
            }
            for spot in &slab.border {
                let contact = &mut contacts[spot.index as usize];
                // A point that was turned round for the border is turned back.
                let sign = if spot.normal == contact.normal {
                    1.0
                } else {
                    -1.0
                };
                contact.impulse = spot.impulse * sign;
            }
        }
        for (_, _, spot) in &self.far {
            contacts[spot.index as usize].impulse = spot.impulse;
        }
    }

    /// Gives the motion of all bodies, but those that others act on too, to their movers.
    pub fn give(&self, movers: &mut Movers, level: Level) {
        let own = |b: &&Body| b.mover as usize >= self.others;
        for body in self.slabs.iter().flat_map(|s| &s.bodies).filter(own) {
            let mover = &mut movers[body.mover];
            let (velocity, spin) = mover.course(level);
            let (push, twist) = (
                (body.velocity - velocity) / body.inverse_mass,
                mover.inertia * (body.spin - spin),
            );
            if push != DVec3::ZERO || twist != DVec3::ZERO {
                mover.push(push, twist);
            }
        }
    }

    /// Gives the motion of bodies that joints act on too to their movers.
    pub fn give_shared(&self, movers: &mut Movers) {
        for (m, velocity, spin) in &self.shared {
            let place = self.place[*m as usize];
            let body = &self.slabs[place.slab as usize].bodies[place.body as usize];
            let mover = &mut movers[*m];
            mover.push = (body.velocity - *velocity) / body.inverse_mass;
            mover.twist = mover.inertia * (body.spin - *spin);
            mover.dirty = true;
        }
    }

    /// Takes over what joints did to them.
    pub fn take_shared(&mut self, movers: &Movers) {
        for (m, velocity, spin) in &self.shared {
            let place = self.place[*m as usize];
            let body = &mut self.slabs[place.slab as usize].bodies[place.body as usize];
            let (push, turn) = movers[*m].pushed();
            body.velocity = *velocity + push;
            body.spin = *spin + turn;
        }
    }

    /// True if joints act on bodies that touch something.
    pub fn is_shared(&self) -> bool {
        !self.shared.is_empty()
    }
}

impl Slab {
    /// Does what is to be done before the next two sweeps.
    fn go_on(&mut self, next: Next) {
        self.gain = 0.0;
        for (body, trail) in self.bodies.iter_mut().zip(&mut self.trails) {
            trail.steps[0].go_on(&mut body.velocity, next);
            trail.steps[1].go_on(&mut body.spin, next);
        }
        let inside = self.inside.iter_mut().zip(&mut self.inside_steps);
        let border = self.border.iter_mut().zip(&mut self.border_steps);
        for (spot, step) in inside.chain(border) {
            step.go_on(&mut spot.impulse, next);
        }
    }
}

impl Step {
    #[inline(always)]
    fn go_on(&mut self, at: &mut DVec3, next: Next) {
        match next {
            Next::Stay => {
                self.way = DVec3::ZERO;
                self.left = *at;
            }
            Next::On(Stride { on, again }) => {
                self.left = *at;
                self.way = (*at - self.from) * on + self.way * again;
                *at = self.from + self.way;
            }
            Next::Back => {
                self.way = DVec3::ZERO;
                *at = self.left;
            }
        }
        self.from = *at;
    }
}

/// Calls `work` with every spot, first to last or last to first.
#[inline]
fn each(spots: &mut [Spot], forwards: bool, mut work: impl FnMut(&mut Spot)) {
    if forwards {
        spots.iter_mut().for_each(&mut work);
    } else {
        spots.iter_mut().rev().for_each(&mut work);
    }
}

fn pair(slabs: &mut [Slab], k: usize) -> (&mut Slab, Option<&mut Slab>) {
    let (one, rest) = slabs[k..].split_at_mut(1);
    (&mut one[0], rest.first_mut())
}

fn push_far(slabs: &mut [Slab], a: Place, b: Place, spot: &Spot, impulse: DVec3) {
    push(
        &mut slabs[a.slab as usize].bodies[a.body as usize],
        spot.arms[0],
        -impulse,
    );
    push(
        &mut slabs[b.slab as usize].bodies[b.body as usize],
        spot.arms[1],
        impulse,
    );
}

/// Velocity of a point of a body.
#[inline(always)]
fn motion(body: &Body, arm: DVec3) -> DVec3 {
    body.velocity + body.spin.cross(arm)
}

#[inline(always)]
fn push(body: &mut Body, arm: DVec3, impulse: DVec3) {
    body.velocity += impulse * body.inverse_mass;
    body.spin += body.inverse_inertia * arm.cross(impulse);
}

impl Spot {
    /// The same seen from the other side.
    fn turned(self) -> Self {
        Self {
            a: self.b,
            b: self.a,
            arms: [self.arms[1], self.arms[0]],
            normal: -self.normal,
            goal: -self.goal,
            impulse: -self.impulse,
            start: -self.start,
            ..self
        }
    }

    #[inline(always)]
    fn push(&self, bodies: &mut [Body], impulse: DVec3) {
        if self.a != NONE {
            push(&mut bodies[self.a as usize], self.arms[0], -impulse);
        }
        if self.b != NONE {
            push(&mut bodies[self.b as usize], self.arms[1], impulse);
        }
    }

    fn push_across(&self, ours: &mut [Body], theirs: &mut [Body], impulse: DVec3) {
        push(&mut ours[self.a as usize], self.arms[0], -impulse);
        push(&mut theirs[self.b as usize], self.arms[1], impulse);
    }

    /// Makes this point right; returns the square of how wrong it was, m²/s², and what that does towards its goal, J.
    #[inline]
    fn solve(&mut self, bodies: &mut [Body]) -> (f64, f64) {
        let mut u = DVec3::ZERO;
        if self.b != NONE {
            u += motion(&bodies[self.b as usize], self.arms[1]);
        }
        if self.a != NONE {
            u -= motion(&bodies[self.a as usize], self.arms[0]);
        }
        let (change, wrong) = self.impulse_for(u);
        self.impulse += change;
        self.push(bodies, change);
        (wrong, self.goal.dot(change))
    }

    #[inline]
    fn solve_across(&mut self, ours: &mut [Body], theirs: &mut [Body]) -> (f64, f64) {
        let u = motion(&theirs[self.b as usize], self.arms[1])
            - motion(&ours[self.a as usize], self.arms[0]);
        let (change, wrong) = self.impulse_for(u);
        self.impulse += change;
        self.push_across(ours, theirs, change);
        (wrong, self.goal.dot(change))
    }

    /// The change of impulse on b that makes this point right if what can be moved moves it at `u` against a, and the square
    /// of how wrong it was, m²/s².
    ///
    /// What would stop all motion is asked for first. If friction can hold it, the point sticks (B88: while |pₜ| ≤ μ pₙ).
    /// Else the normal impulse is made right, never to pull, and friction takes a step against the sliding that is left, cut
    /// at its limit (B89): where it comes to rest, friction is against the sliding and at its limit, or sliding has
    /// stopped.
    #[inline(always)]
    fn impulse_for(&self, u: DVec3) -> (DVec3, f64) {
        let n = self.normal;
        let lack = self.goal - u;
        let wanted = self.impulse + self.inverse * lack;
        let along = n.dot(wanted);
        let across = wanted - n * along;
        let hold = self.friction * along;
        let new = if along > 0.0 && across.length_squared() <= hold * hold {
            wanted
        } else {
            let before = n.dot(self.impulse);
            let pressed = (before + n.dot(lack) * self.firmness[0]).max(0.0);
            let lack = lack - self.answer * (n * (pressed - before));
            let rub = self.impulse - n * before + (lack - n * n.dot(lack)) * self.firmness[1];
            n * pressed + rub.clamp_length_max(self.friction * pressed)
        };
        let change = new - self.impulse;
        (
            change,
            change.length_squared() * (self.softness * self.softness),
        )
    }
}

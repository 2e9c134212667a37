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

/// Share of an overlap that is undone in one substep. The rest follows: undone at once, it would be a blow. With a quarter of
/// it a high tower would lean faster than its joints are put right, with twice as much they would tremble.
const RECOVERY: f64 = 0.1;

/// An overlap deeper than this, m, comes from a blow, not from a weight; what is beyond it is undone faster.
const DEEP: f64 = 1e-3;
const DEEP_RECOVERY: f64 = 0.2;

/// Overlap that is left alone, m: it keeps resting contacts from coming and going.
const SLOP: f64 = 1e-5;

/// Sweeps times points that are worth their time in a solve, and sweeps that are worth theirs for any number of points.
const WORK: usize = 64_000;
const LEAST: u32 = 10;

/// Sweeps over each level when what is below is carried.
const CARRYING: u32 = 6;

/// Shorter strides than this are none.
const TOO_FAR: f64 = 0.9;

/// Ways nearer to parallel than this (the square of the sine) are one.
const PARALLEL: f64 = 1e-9;

/// Longer strides than this are made of rounding errors.
const LONGEST: f64 = 1e4;

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

/// A symmetric matrix in few bytes. Sweeps read far more than they reckon, and how far a sweep goes need not be known to the
/// last digit: where it ends is where the velocities are right, and these are.
#[derive(Clone, Copy, Debug)]
struct Symmetric {
    diagonal: [f32; 3],
    /// yz, zx, xy.
    rest: [f32; 3],
}

impl Symmetric {
    const ZERO: Self = Self {
        diagonal: [0.0; 3],
        rest: [0.0; 3],
    };

    fn new(m: &DMat3) -> Self {
        Self {
            diagonal: [m.x_axis.x as f32, m.y_axis.y as f32, m.z_axis.z as f32],
            rest: [m.y_axis.z as f32, m.z_axis.x as f32, m.x_axis.y as f32],
        }
    }

    #[inline(always)]
    fn times(&self, v: DVec3) -> DVec3 {
        let [xx, yy, zz] = self.diagonal.map(f64::from);
        let [yz, zx, xy] = self.rest.map(f64::from);
        DVec3::new(
            xx * v.x + xy * v.y + zx * v.z,
            xy * v.x + yy * v.y + yz * v.z,
            zx * v.x + yz * v.y + zz * v.z,
        )
    }
}

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
    answer: Symmetric,
    inverse: Symmetric,
    /// Impulse for each m/s along the normal, and across it where the point answers most.
    firmness: [f32; 2],
    /// Velocity for each N·s where the point answers most.
    softness: f32,
    friction: f64,
    impulse: DVec3,
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
    /// So many of them are in use. The others are empty, and keep their memory for when there are more points again.
    active: usize,
    /// Points between slabs that are not neighbours: few, and swept alone.
    far: Vec<(Place, Place, Spot)>,
    far_steps: Vec<Step>,
    far_gain: f64,
    pace: Pace,
    shock: Shock,
    place: Vec<Place>,
    order: Vec<(f64, u32)>,
    /// Movers that joints act on too, with their motion without any impulse.
    shared: Vec<(u32, DVec3, DVec3)>,
    /// Movers before this one are those that joints and tissue act on too.
    others: usize,
    count: usize,
    sweeps: u32,
}

/// Which list of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum List {
    Inside,
    Border,
    Far,
}

/// A point on the way upwards: its bodies, and the level at which it is made right.
#[derive(Clone, Copy, Debug)]
struct Lift {
    at: (u32, List, u32),
    a: u32,
    b: u32,
    pushes: bool,
    level: u32,
}

/// Memory for carrying what is below.
#[derive(Debug, Default)]
struct Shock {
    /// Those of all slabs.
    bodies: Vec<Body>,
    levels: Vec<u32>,
    lifts: Vec<Lift>,
    raised: Vec<Spot>,
}

impl Shock {
    fn gather(&mut self, slabs: &[Slab], far: &[(Place, Place, Spot)]) {
        self.bodies.clear();
        self.lifts.clear();
        let mut firsts = [0_u32; MOST_SLABS + 1];
        for (k, slab) in slabs.iter().enumerate() {
            self.bodies.extend_from_slice(&slab.bodies);
            firsts[k + 1] = self.bodies.len() as u32;
        }
        let mut add = |at: (u32, List, u32), spot: &Spot, slabs: [u32; 2]| {
            let flat = |body: u32, slab: u32| match body {
                NONE => NONE,
                body => firsts[slab as usize] + body,
            };
            self.lifts.push(Lift {
                at,
                a: flat(spot.a, slabs[0]),
                b: flat(spot.b, slabs[1]),
                pushes: spot.impulse != DVec3::ZERO,
                level: NONE,
            });
        };
        for (k, slab) in (0..).zip(slabs) {
            for (i, spot) in (0..).zip(&slab.inside) {
                add((k, List::Inside, i), spot, [k, k]);
            }
            for (i, spot) in (0..).zip(&slab.border) {
                add((k, List::Border, i), spot, [k, k + 1]);
            }
        }
        for (i, (a, b, spot)) in (0..).zip(far) {
            add((0, List::Far, i), spot, [a.slab, b.slab]);
        }
    }

    /// Numbers the levels from what is fixed upwards, and puts the points in their order.
    fn number(&mut self) {
        self.levels.clear();
        self.levels.resize(self.bodies.len(), NONE);
        let of = |levels: &[u32], body: u32| match body {
            NONE => 0,
            body => levels[body as usize],
        };
        for level in 0..NONE {
            let mut found = false;
            for lift in self.lifts.iter().filter(|l| l.pushes) {
                for (below, above) in [(lift.a, lift.b), (lift.b, lift.a)] {
                    if of(&self.levels, below) == level && of(&self.levels, above) == NONE {
                        self.levels[above as usize] = level + 1;
                        found = true;
                    }
                }
            }
            if !found {
                break;
            }
        }
        for lift in &mut self.lifts {
            lift.level = of(&self.levels, lift.a).max(of(&self.levels, lift.b));
        }
        self.lifts.sort_unstable_by_key(|l| (l.level, l.at));
    }

    /// The point with what is below its level fixed.
    fn freeze(&self, spot: &Spot, lift: &Lift) -> Spot {
        let mut frozen = Spot {
            a: lift.a,
            b: lift.b,
            ..*spot
        };
        let mut answer = DMat3::ZERO;
        for (body, arm, sign) in [
            (&mut frozen.a, spot.arms[0], 1.0),
            (&mut frozen.b, spot.arms[1], -1.0),
        ] {
            if *body == NONE {
                continue;
            }
            let it = &self.bodies[*body as usize];
            if self.levels[*body as usize] < lift.level {
                frozen.goal += motion(it, arm) * sign;
                *body = NONE;
            } else {
                let cross = skew(arm);
                answer += DMat3::from_diagonal(DVec3::splat(it.inverse_mass))
                    - cross * it.inverse_inertia * cross;
            }
        }
        frozen.answers(&answer);
        frozen
    }
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
        self.active = 0;
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
        for slab in &mut self.slabs[..self.active] {
            slab.inside_steps.clear();
            slab.inside_steps.resize(slab.inside.len(), Step::default());
            slab.border_steps.clear();
            slab.border_steps.resize(slab.border.len(), Step::default());
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
        self.active = slabs;
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
        let target = match level {
            Level::Velocity => contact.rebound,
            Level::Position(h) if contact.gap >= -SLOP => -contact.gap.max(0.0) / h,
            Level::Position(h) => {
                let deep = (-contact.gap - DEEP).max(0.0);
                (RECOVERY * (-contact.gap - SLOP) + DEEP_RECOVERY * deep) / h
            }
        };
        let n = contact.normal;
        let [a, b] = sides.map(|m| self.place[m as usize]);
        let target = target.min(contact.recovery.max(contact.rebound));
        let mut spot = Spot {
            a: a.body,
            b: b.body,
            arms,
            normal: contact.normal,
            goal: n * target - drift,
            answer: Symmetric::ZERO,
            inverse: Symmetric::ZERO,
            firmness: [0.0; 2],
            softness: 0.0,
            friction: contact.friction,
            impulse: contact.impulse,
            index: index as u32,
        };
        if !spot.answers(&answer) {
            return;
        }
        // What of the impulse is not yet in the bodies' motion.
        let start = match level {
            Level::Position(_) => contact.impulse,
            Level::Velocity => contact.relief,
        };
        if start != DVec3::ZERO {
            push_far(&mut self.slabs, a, b, &spot, start);
        }
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

    /// How many sweeps are worth their time, of `most` asked for: all for a few points, fewer for a heap of thousands, which
    /// has other ways to hold than a tower has.
    pub fn budget(&self, most: u32) -> u32 {
        let worth = WORK / self.count.max(1);
        most.min((worth as u32).max(LEAST))
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
        let slabs = &mut self.slabs[..self.active];
        match crew {
            Some(crew) if slabs.len() > 1 => {
                crew.each(slabs, |_, slab| inside(slab));
                for first in [0, 1] {
                    let mut pairs: [&mut [Slab]; MOST_SLABS] = std::array::from_fn(|_| &mut [][..]);
                    let mut count = 0;
                    for (to, pair) in pairs.iter_mut().zip(slabs[first..].chunks_mut(2)) {
                        *to = pair;
                        count += 1;
                    }
                    crew.each(&mut pairs[..count], |_, pair| across(pair));
                }
            }
            _ => {
                slabs.iter_mut().for_each(inside);
                for first in [0, 1] {
                    let first = first.min(slabs.len());
                    slabs[first..].chunks_mut(2).for_each(across);
                }
            }
        }
        let mut worst = slabs.iter().fold(0.0_f64, |w, s| w.max(s.worst));
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
            if spot.is_idle(u) {
                self.far[k].2 = spot;
                continue;
            }
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
        for slab in &self.slabs[..self.active] {
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
        let sound = (TOO_FAR..LONGEST).contains(&stride.on) && stride.again.abs() < LONGEST;
        if !sound {
            return Next::Stay;
        }
        let way = stride.on * gain + stride.again * before.gain.unwrap_or(0.0);
        self.pace.gain = Some(way);
        self.pace.towards = before.towards + way;
        Next::On(stride)
    }

    /// Carries what is below (B92; Guendelman, Bridson and Fedkiw 2003): body by body from what is fixed upwards, each is made
    /// right against what it stands on as if that could not be moved. So nothing sinks into what bears it, however few
    /// sweeps there were; but what a body does to those below it is lost, and with it momentum.
    ///
    /// A body's level is the number of contacts between it and what is fixed. Bodies of one level that lean on each other
    /// are made right together. What stands on nothing is left as it is.
    pub fn carry(&mut self) {
        if self.is_shared() {
            return;
        }
        // The last stride is no longer to be judged.
        self.pace = Pace::default();
        let mut shock = std::mem::take(&mut self.shock);
        shock.gather(&self.slabs[..self.active], &self.far);
        shock.number();
        let (mut from, count) = (0, shock.lifts.len());
        while from < count && shock.lifts[from].level != NONE {
            let level = shock.lifts[from].level;
            let to = from + shock.lifts[from..].partition_point(|l| l.level == level);
            shock.raised.clear();
            for k in from..to {
                let lift = shock.lifts[k];
                let spot = shock.freeze(self.spot(lift.at), &lift);
                shock.raised.push(spot);
            }
            for pass in 0..CARRYING {
                each(&mut shock.raised, pass % 2 == 0, |spot| {
                    spot.solve(&mut shock.bodies);
                });
            }
            for (k, spot) in (from..to).zip(&shock.raised) {
                self.spot_mut(shock.lifts[k].at).impulse = spot.impulse;
            }
            from = to;
        }
        let mut bodies = shock.bodies.iter();
        for slab in &mut self.slabs[..self.active] {
            for (to, from) in slab.bodies.iter_mut().zip(&mut bodies) {
                *to = *from;
            }
        }
        self.shock = shock;
    }

    fn spot(&self, (slab, list, k): (u32, List, u32)) -> &Spot {
        match list {
            List::Inside => &self.slabs[slab as usize].inside[k as usize],
            List::Border => &self.slabs[slab as usize].border[k as usize],
            List::Far => &self.far[k as usize].2,
        }
    }

    fn spot_mut(&mut self, (slab, list, k): (u32, List, u32)) -> &mut Spot {
        match list {
            List::Inside => &mut self.slabs[slab as usize].inside[k as usize],
            List::Border => &mut self.slabs[slab as usize].border[k as usize],
            List::Far => &mut self.far[k as usize].2,
        }
    }

    /// After the last sweep: undoes the last stride if it was none of use.
    pub fn finish(&mut self) {
        if self.is_shared() || self.sweeps < 3 || self.pace.gain.is_none() {
            return;
        }
        let mut least = -self.pace.towards - self.far_gain;
        for slab in &self.slabs[..self.active] {
            least -= slab.gain;
            for (body, trail) in slab.bodies.iter().zip(&slab.trails) {
                let v = &[body.velocity, body.spin];
                least += 0.5 * trail.product(v, v);
            }
        }
        if least <= self.pace.least {
            return;
        }
        for slab in &mut self.slabs[..self.active] {
            slab.go_on(Next::Back);
        }
        for ((_, _, spot), step) in self.far.iter_mut().zip(&mut self.far_steps) {
            step.go_on(&mut spot.impulse, Next::Back);
        }
    }

    /// Puts the impulses found into the contacts.
    pub fn store(&self, contacts: &mut [BodyContact]) {
        for slab in &self.slabs[..self.active] {
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
        for body in self.slabs[..self.active]
            .iter()
            .flat_map(|s| &s.bodies)
            .filter(own)
        {
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

/// Gives an impulse to the bodies of a point that can be moved, wherever they are.
fn push_far(slabs: &mut [Slab], a: Place, b: Place, spot: &Spot, impulse: DVec3) {
    for (place, arm, impulse) in [(a, spot.arms[0], -impulse), (b, spot.arms[1], impulse)] {
        if place != STILL {
            let body = &mut slabs[place.slab as usize].bodies[place.body as usize];
            push(body, arm, impulse);
        }
    }
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
    /// Takes over how it answers; false if that has no inverse.
    fn answers(&mut self, answer: &DMat3) -> bool {
        let inverse = answer.inverse();
        let n = self.normal;
        let along = n.dot(*answer * n);
        // Sum and product of the two answers across the normal give the greater one.
        let sum = answer.x_axis.x + answer.y_axis.y + answer.z_axis.z - along;
        let product = answer.determinant() * n.dot(inverse * n);
        let most = 0.5 * (sum + (sum * sum - 4.0 * product).max(0.0).sqrt());
        self.answer = Symmetric::new(answer);
        self.inverse = Symmetric::new(&inverse);
        self.firmness = [(1.0 / along) as f32, (1.0 / most) as f32];
        self.softness = along.max(most) as f32;
        inverse.is_finite()
    }

    /// The same seen from the other side.
    fn turned(self) -> Self {
        Self {
            a: self.b,
            b: self.a,
            arms: [self.arms[1], self.arms[0]],
            normal: -self.normal,
            goal: -self.goal,
            impulse: -self.impulse,
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
        if self.is_idle(u) {
            return (0.0, 0.0);
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
        if self.is_idle(u) {
            return (0.0, 0.0);
        }
        let (change, wrong) = self.impulse_for(u);
        self.impulse += change;
        self.push_across(ours, theirs, change);
        (wrong, self.goal.dot(change))
    }

    /// True if nothing is to be done: it does not push, and moves apart fast enough.
    #[inline(always)]
    fn is_idle(&self, u: DVec3) -> bool {
        self.impulse == DVec3::ZERO && self.normal.dot(self.goal - u) <= 0.0
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
        let wanted = self.impulse + self.inverse.times(lack);
        let along = n.dot(wanted);
        let across = wanted - n * along;
        let hold = self.friction * along;
        let new = if along > 0.0 && across.length_squared() <= hold * hold {
            wanted
        } else {
            let before = n.dot(self.impulse);
            let pressed = (before + n.dot(lack) * f64::from(self.firmness[0])).max(0.0);
            let lack = lack - self.answer.times(n * (pressed - before));
            let rub =
                self.impulse - n * before + (lack - n * n.dot(lack)) * f64::from(self.firmness[1]);
            n * pressed + rub.clamp_length_max(self.friction * pressed)
        };
        let change = new - self.impulse;
        let softness = f64::from(self.softness);
        (change, change.length_squared() * (softness * softness))
    }
}

//! Carrying stacks from below.

use super::{
    List, Place, Press, Seat, Slab,
    slab::MOST_SLABS,
    spot::{Body, Spot, motion},
    stride::Pace,
    twins::{Hall, Two, answers, two},
};
use crate::solve::mover::NONE;
use glam::DVec3;

/// Sweeps over each level when what is below is carried.
const CARRYING: u32 = 6;

/// A point on the way upwards: its bodies, and the level at which it is made right.
#[derive(Clone, Copy, Debug)]
pub struct Lift {
    at: Seat,
    a: u32,
    b: u32,
    pushes: bool,
    level: u32,
}

/// Memory for carrying what is below.
#[derive(Debug, Default)]
pub struct Shock {
    /// Those of all slabs.
    bodies: Vec<Body>,
    levels: Vec<u32>,
    lifts: Vec<Lift>,
    raised: Vec<Spot>,
    /// Bodies in the order in which their levels are found; and of each body where those begin that push it.
    queue: Vec<u32>,
    firsts: Vec<u32>,
    nexts: Vec<u32>,
}

impl Shock {
    pub fn gather(&mut self, slabs: &[Slab], far: &[(Place, Place, Spot)]) {
        self.bodies.clear();
        self.lifts.clear();
        let mut firsts = [0_u32; MOST_SLABS + 1];
        for (k, slab) in slabs.iter().enumerate() {
            self.bodies.extend_from_slice(&slab.bodies);
            firsts[k + 1] = self.bodies.len() as u32;
        }
        let mut add = |at: Seat, spot: &Spot, places: [u32; 2]| {
            if spot.joined {
                return;
            }
            let flat = |body: u32, first: u32| match body {
                NONE => NONE,
                body => first + body,
            };
            self.lifts.push(Lift {
                at,
                a: flat(spot.a, places[0]),
                b: flat(spot.b, places[1]),
                pushes: spot.impulse != DVec3::ZERO,
                level: NONE,
            });
        };
        for (k, slab) in slabs.iter().enumerate() {
            let at = |list: List, i: u32| (k as u32, list, i);
            for (i, spot) in (0..).zip(&slab.inside.spots) {
                add(at(List::Inside, i), spot, [firsts[k]; 2]);
            }
            for (side, points) in (0..).zip(&slab.border) {
                let first = |k: usize| match side {
                    1 => firsts[k] + slabs[k].split as u32,
                    _ => firsts[k],
                };
                for (i, spot) in (0..).zip(&points.spots) {
                    add(at(List::Border(side), i), spot, [first(k), first(k + 1)]);
                }
            }
        }
        for (i, (a, b, spot)) in (0..).zip(far) {
            let places = [a.slab, b.slab].map(|slab| firsts[slab as usize]);
            add((0, List::Far, i), spot, places);
        }
    }

    /// Numbers the levels from what is fixed upwards, and puts the points in their order.
    pub fn number(&mut self) {
        self.levels.clear();
        self.levels.resize(self.bodies.len(), NONE);
        let of = |levels: &[u32], body: u32| match body {
            NONE => 0,
            body => levels[body as usize],
        };
        // Breadth first. Of each body the points that push it, one list after the other; those that push against what is fixed are
        // where it begins.
        self.firsts.clear();
        self.firsts.resize(self.bodies.len() + 1, 0);
        self.queue.clear();
        let pushing = || self.lifts.iter().filter(|l| l.pushes);
        for lift in pushing() {
            for (body, other) in [(lift.a, lift.b), (lift.b, lift.a)] {
                if body == NONE {
                    continue;
                }
                self.firsts[body as usize + 1] += 1;
                if other == NONE && self.levels[body as usize] == NONE {
                    self.levels[body as usize] = 1;
                    self.queue.push(body);
                }
            }
        }
        for k in 1..self.firsts.len() {
            self.firsts[k] += self.firsts[k - 1];
        }
        self.nexts.clear();
        self.nexts
            .resize(self.firsts.last().map_or(0, |n| *n as usize), NONE);
        // Filled from the back, so that the lists begin in the end where the counts say.
        for lift in pushing() {
            for (body, other) in [(lift.a, lift.b), (lift.b, lift.a)] {
                if body != NONE {
                    let end = &mut self.firsts[body as usize + 1];
                    *end -= 1;
                    self.nexts[*end as usize] = other;
                }
            }
        }
        let mut done = 0;
        while let Some(below) = self.queue.get(done).copied() {
            done += 1;
            let level = self.levels[below as usize] + 1;
            let first = self.firsts[below as usize + 1] as usize;
            let last = match self.firsts.get(below as usize + 2) {
                Some(next) => *next as usize,
                None => self.nexts.len(),
            };
            for above in &self.nexts[first..last] {
                if *above != NONE && self.levels[*above as usize] == NONE {
                    self.levels[*above as usize] = level;
                    self.queue.push(*above);
                }
            }
        }
        for lift in &mut self.lifts {
            lift.level = of(&self.levels, lift.a).max(of(&self.levels, lift.b));
        }
        self.lifts.sort_unstable_by_key(|l| (l.level, l.at));
    }

    /// The point with what is below its level fixed.
    pub fn freeze(&self, spot: &Spot, lift: &Lift) -> Spot {
        let mut frozen = Spot {
            a: lift.a,
            b: lift.b,
            ..*spot
        };
        let mut moved = [Body::STILL; 2];
        let ends = [(&mut frozen.a, 1.0), (&mut frozen.b, -1.0)];
        for (k, (body, sign)) in ends.into_iter().enumerate() {
            if *body == NONE {
                continue;
            }
            let it = &self.bodies[*body as usize];
            if self.levels[*body as usize] < lift.level {
                frozen.goal += motion(it, spot.arm(k)) * sign;
                *body = NONE;
            } else {
                moved[k] = *it;
            }
        }
        let [a, b] = moved;
        let (m, n) = (a.inverse_inertia, b.inverse_inertia);
        let mut inverse_inertia = [Two::ZERO; 6];
        for (k, to) in inverse_inertia.iter_mut().enumerate() {
            *to = two(m[k], n[k]);
        }
        let inverse_mass = two(a.inverse_mass, b.inverse_mass);
        frozen.answers(&answers(inverse_mass, &inverse_inertia, &spot.arms));
        frozen
    }
}

impl Press {
    /// Carries what is below (B92; Guendelman, Bridson and Fedkiw 2003): body by body from what is fixed upwards, each is made
    /// right against what it stands on as if that could not be moved. So nothing sinks into what bears it, however few
    /// sweeps there were; but what a body does to those below it is lost, and with it momentum.
    ///
    /// A body's level is the number of contacts between it and what is fixed. Bodies of one level that lean on each other
    /// are made right together. What stands on nothing is left as it is, and so is what leans on bodies that joints act on too.
    pub fn carry(&mut self) {
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
                Hall::One(&mut shock.bodies).make_right(&mut shock.raised, pass % 2 == 0);
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
}

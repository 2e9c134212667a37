//! Bodies and points of one stretch of space.

use super::{
    Body, Place, STILL, Spot, Step,
    spot::push,
    stride::{Next, Sums, Trail},
};
use crate::Crew;
use glam::DVec3;

/// Most slabs: more would be all border.
pub const MOST_SLABS: usize = 8;

/// Bodies of one stretch of space, and the points between them; then those with the next stretch.
#[derive(Debug, Default)]
pub struct Slab {
    pub bodies: Vec<Body>,
    pub trails: Vec<Trail>,
    /// Which movers its bodies are.
    pub movers: Vec<u32>,
    pub inside: Vec<Spot>,
    pub border: Vec<Spot>,
    pub inside_steps: Vec<Step>,
    pub border_steps: Vec<Step>,
    /// Which entries its points are made of, and how many points these have.
    pub inside_of: Vec<u32>,
    pub border_of: Vec<u32>,
    pub points: [u32; 2],
    pub tally: Tally,
    /// As the last sweep back has left it.
    pub sums: Sums,
}

/// What sweeps have done.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Square of the greatest change of velocity in a sweep, m²/s².
    pub worst: f64,
    /// What the changes of impulses since the last stride do towards their goals, J.
    pub gain: f64,
}

impl Tally {
    /// Takes in what [`Spot::solve`] says it has done.
    #[inline(always)]
    pub fn add(&mut self, spot: &Spot, (wrong, gain): (f64, f64)) {
        self.worst = self.worst.max(wrong);
        if !spot.joined {
            self.gain += gain;
        }
    }
}

impl Slab {
    /// Empties it, but keeps its memory.
    pub fn clear(&mut self) {
        self.bodies.clear();
        self.trails.clear();
        self.movers.clear();
        self.inside.clear();
        self.border.clear();
        self.inside_of.clear();
        self.border_of.clear();
        self.points = [0; 2];
    }

    /// Does with its points, too, what is to be done before the next two sweeps.
    pub fn go_on(&mut self, next: Next) {
        self.go_on_bodies(next);
        let inside = self.inside.iter_mut().zip(&mut self.inside_steps);
        let border = self.border.iter_mut().zip(&mut self.border_steps);
        for (spot, step) in inside.chain(border).filter(|(spot, _)| !spot.joined) {
            step.go_on(&mut spot.impulse, next);
        }
    }

    /// Does with its bodies what is to be done before the next two sweeps. Points do it when they are swept next.
    pub fn go_on_bodies(&mut self, next: Next) {
        self.tally.gain = 0.0;
        let alone = self.bodies.iter_mut().zip(&mut self.trails);
        for (body, trail) in alone.filter(|(_, trail)| !trail.joined) {
            trail.steps[0].go_on(&mut body.velocity, next);
            trail.steps[1].go_on(&mut body.spin, next);
        }
    }
}

/// Which way slabs are gone through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Course {
    There,
    Back,
}

/// What is done to slabs and to the borders between them.
pub struct Round<I, B> {
    pub inside: I,
    pub border: B,
}

impl<I: Fn(&mut Slab) + Sync, B: Fn(&mut Slab, &mut Slab) + Sync> Round<I, B> {
    /// Goes through all slabs, as a tree: there, both halves of them first, in the same way, and then the border between the
    /// halves; back, the same backwards. No two halves share a body, so each may be a thread's own from its first slab to
    /// its last, and threads wait for each other at the few borders only that lie between their shares. How many shares
    /// there are shows in nothing but time.
    pub fn run(&self, slabs: &mut [Slab], course: Course, crew: Option<&Crew>) {
        let threads = crew.map_or(1, Crew::threads);
        let levels = threads.next_power_of_two().trailing_zeros();
        let levels = levels.min(MOST_SLABS.trailing_zeros());
        match (crew, course) {
            (Some(crew), Course::There) if levels > 0 => {
                self.shares(slabs, levels, crew, |share| self.alone(share, course));
                for level in (0..levels).rev() {
                    self.shares(slabs, level, crew, |share| self.between(share));
                }
            }
            (Some(crew), Course::Back) if levels > 0 => {
                for level in 0..levels {
                    self.shares(slabs, level, crew, |share| self.between(share));
                }
                self.shares(slabs, levels, crew, |share| self.alone(share, course));
            }
            _ => self.alone(slabs, course),
        }
    }

    /// The same on this thread alone.
    fn alone(&self, slabs: &mut [Slab], course: Course) {
        if let [slab] = slabs {
            return (self.inside)(slab);
        }
        if slabs.is_empty() {
            return;
        }
        if course == Course::Back {
            self.between(slabs);
        }
        let (one, other) = halves(slabs);
        self.alone(one, course);
        self.alone(other, course);
        if course == Course::There {
            self.between(slabs);
        }
    }

    /// The border between the halves.
    fn between(&self, slabs: &mut [Slab]) {
        if let (Some(one), Some(next)) = {
            let (one, other) = halves(slabs);
            (one.last_mut(), other.first_mut())
        } {
            (self.border)(one, next);
        }
    }

    /// Does `work` on the shares that so many levels of halving make.
    fn shares(
        &self,
        slabs: &mut [Slab],
        levels: u32,
        crew: &Crew,
        work: impl Fn(&mut [Slab]) + Sync,
    ) {
        let mut shares: [&mut [Slab]; MOST_SLABS] = std::array::from_fn(|_| &mut [][..]);
        shares[0] = slabs;
        for level in 0..levels {
            for k in (0..1 << level).rev() {
                let (one, other) = halves(std::mem::take(&mut shares[k]));
                (shares[2 * k], shares[2 * k + 1]) = (one, other);
            }
        }
        crew.each(&mut shares[..1 << levels], |_, share| work(share));
    }
}

/// Two halves, the first no smaller.
fn halves(slabs: &mut [Slab]) -> (&mut [Slab], &mut [Slab]) {
    let middle = slabs.len().div_ceil(2);
    slabs.split_at_mut(middle)
}

/// Gives an impulse to the bodies of a point that can be moved, wherever they are.
pub fn push_far(slabs: &mut [Slab], a: Place, b: Place, spot: &Spot, impulse: DVec3) {
    for (place, arm, impulse) in [(a, spot.arm(0), -impulse), (b, spot.arm(1), impulse)] {
        if place != STILL {
            let body = &mut slabs[place.slab as usize].bodies[place.body as usize];
            push(body, arm, impulse);
        }
    }
}

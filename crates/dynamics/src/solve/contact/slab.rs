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
    pub inside: Vec<Spot>,
    pub border: Vec<Spot>,
    pub inside_steps: Vec<Step>,
    pub border_steps: Vec<Step>,
    /// Which entries its points are made of.
    pub inside_of: Vec<u32>,
    pub border_of: Vec<u32>,
    /// Square of the greatest change of velocity in a sweep.
    pub worst: f64,
    /// What the changes of impulses since the last look do towards their goals, J.
    pub gain: f64,
    pub sums: Sums,
}

impl Slab {
    /// Empties it, but keeps its memory.
    pub fn clear(&mut self) {
        self.bodies.clear();
        self.trails.clear();
        self.inside.clear();
        self.border.clear();
        self.inside_steps.clear();
        self.border_steps.clear();
        self.inside_of.clear();
        self.border_of.clear();
    }

    /// Does what is to be done before the next two sweeps.
    pub fn go_on(&mut self, next: Next) {
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

/// Does `work` on every slab.
pub fn in_slabs(slabs: &mut [Slab], crew: Option<&Crew>, work: impl Fn(&mut Slab) + Sync) {
    match crew {
        Some(crew) => crew.each(slabs, |_, slab| work(slab)),
        None => slabs.iter_mut().for_each(work),
    }
}

/// Does `work` on every slab and the next one, first on every other pair, then on the rest: no two of them share a body.
pub fn in_pairs(
    slabs: &mut [Slab],
    crew: Option<&Crew>,
    work: impl Fn(&mut Slab, &mut Slab) + Sync,
) {
    let work = |pair: &mut [Slab]| {
        if let [one, next] = pair {
            work(one, next);
        }
    };
    for first in [0, 1] {
        let first = first.min(slabs.len());
        let pairs = slabs[first..].chunks_exact_mut(2);
        match crew {
            Some(crew) => {
                let mut some: [&mut [Slab]; MOST_SLABS] = std::array::from_fn(|_| &mut [][..]);
                let mut count = 0;
                for (to, pair) in some.iter_mut().zip(pairs) {
                    *to = pair;
                    count += 1;
                }
                crew.each(&mut some[..count], |_, pair| work(pair));
            }
            None => pairs.for_each(work),
        }
    }
}

/// Gives an impulse to the bodies of a point that can be moved, wherever they are.
pub fn push_far(slabs: &mut [Slab], a: Place, b: Place, spot: &Spot, impulse: DVec3) {
    for (place, arm, impulse) in [(a, spot.arms[0], -impulse), (b, spot.arms[1], impulse)] {
        if place != STILL {
            let body = &mut slabs[place.slab as usize].bodies[place.body as usize];
            push(body, arm, impulse);
        }
    }
}

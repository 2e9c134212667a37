//! Sweeps over all points.

use super::{
    Press, Slab, Spot,
    slab::{in_pairs, in_slabs, push_far},
    spot::motion,
    stride::Next,
};
use crate::Crew;

impl Press {
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
            true => self.next(crew),
            false => Next::Stay,
        };
        let slabs = &mut self.slabs[..self.active];
        let crew = crew.filter(|_| slabs.len() > 1);
        in_slabs(slabs, crew, |slab| {
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
        });
        in_pairs(slabs, crew, |one, next| {
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
        });
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
}

/// Calls `work` with every spot, first to last or last to first.
#[inline]
pub fn each(spots: &mut [Spot], forwards: bool, mut work: impl FnMut(&mut Spot)) {
    if forwards {
        spots.iter_mut().for_each(&mut work);
    } else {
        spots.iter_mut().rev().for_each(&mut work);
    }
}

//! Sweeps over all points.

use super::{
    Press, Slab,
    slab::{Course, Points, Round, Tally, push_far},
    spot::motion,
    stride::{Next, Pace, Sums},
    twins::Hall,
};
use crate::Crew;

impl Press {
    /// One sweep over all points; returns the greatest change of velocity it made, m/s.
    ///
    /// Every two sweeps, there and back, are a step of a conjugate gradient method (after Silcowitz, Niebe and Erleben
    /// 2010): the next two start as far along the way of these and of those before as is best for all points together. So
    /// a push gets through a high stack, and a heavy body finds that it stands on a light one, in as many sweeps as there
    /// are bodies, where sweeps alone would take the square of that, or as many as one is heavier than the other. A sweep
    /// has the last word: no impulse pulls, and none is beyond friction. Bodies that joints act on too, and all that lean on
    /// them, are swept without strides: what joints do is none of the ways gone here.
    pub fn sweep(&mut self, crew: Option<&Crew>) -> f64 {
        self.sweeps += 1;
        let left = self.left;
        // Back and forth: a push travels through a stack both ways.
        let forwards = self.sweeps % 2 == 1;
        let next = match forwards && !left {
            true => self.next(),
            false => Next::Stay,
        };
        if forwards {
            self.far_tally.gain = 0.0;
            let far = self.far.iter_mut().zip(&mut self.far_steps);
            for ((_, _, spot), step) in far.filter(|((_, _, spot), _)| !spot.joined) {
                step.go_on(&mut spot.impulse, next);
            }
        } else {
            // First what was last on the way there: bodies are then left by their own slabs.
            self.sweep_far();
        }
        let stride = (forwards && !left).then_some(next);
        let slabs = &mut self.slabs[..self.active];
        let crew = crew.filter(|_| slabs.len() > 1);
        let sweep = |points: &mut Points, mut hall: Hall<'_>| {
            let spots = (&mut points.spots[..], &mut points.steps[..]);
            hall.sweep(spots, forwards, (stride, left), &mut points.tally);
        };
        let inside = |slab: &mut Slab| {
            if let Some(next) = stride {
                slab.go_on_bodies(next);
            }
            let Slab { bodies, inside, .. } = slab;
            sweep(inside, Hall::One(bodies));
            if !forwards {
                // Whoever had it in hand knows it best: what comes after it is the next two sweeps.
                slab.sums = Sums::of(slab);
            }
        };
        for points in slabs.iter_mut().flat_map(Slab::points_mut) {
            points.tally.worst = 0.0;
        }
        let course = if forwards {
            Course::There
        } else {
            Course::Back
        };
        let round = Round {
            inside,
            border: sweep,
        };
        round.run(slabs, course, crew);
        let tallies = slabs.iter().flat_map(Slab::points);
        let worst = tallies.fold(0.0_f64, |w, points| w.max(points.tally.worst));
        if forwards {
            self.sweep_far();
        }
        worst.max(self.far_tally.worst).sqrt()
    }

    /// Points that joints have no part in have had their sweeps: rounds with joints may go on without them.
    pub fn leave_others(&mut self) {
        if !self.left {
            self.finish();
            self.pace = Pace::default();
            self.left = true;
        }
    }

    /// The same over the points between slabs that are not neighbours.
    fn sweep_far(&mut self) {
        let mut tally = Tally {
            worst: 0.0,
            ..self.far_tally
        };
        for k in 0..self.far.len() {
            let (a, b, mut spot) = self.far[k];
            if self.left && !spot.joined {
                continue;
            }
            let u = motion(
                &self.slabs[b.slab as usize].bodies[b.body as usize],
                spot.arm(1),
            ) - motion(
                &self.slabs[a.slab as usize].bodies[a.body as usize],
                spot.arm(0),
            );
            if spot.is_idle(u) {
                continue;
            }
            let (change, wrong) = spot.impulse_for(u);
            spot.impulse += change;
            push_far(&mut self.slabs, a, b, &spot, change);
            tally.add(&spot, (wrong, spot.goal.dot(change)));
            self.far[k].2 = spot;
        }
        self.far_tally = tally;
    }
}

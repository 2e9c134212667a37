//! Points, which are many, four at a time and on several threads.
//!
//! A point is moved by its own numbers alone, so in which order and by whom does not show. The arithmetic is that of
//! [`Masses::next_point`], operation by operation: what was previewed is what comes, to the last bit.

use super::{Masses, WORLD_RADIUS};
use crate::{Crew, Nodes, crew::even_share};
use glam::DVec3;
use trocar_math::{Dozen, f64x4, four::LANES};

/// Points that a thread takes at once, at least: some microseconds of work.
const SPAN: usize = 2048;

/// Fewer points than this are not worth a second thread: they move in the time it takes to call one.
const WORTH_A_CREW: usize = 8192;

/// There are never more spans: they stand on the stack.
const MOST_SPANS: usize = 64;

/// Neighbouring points, and what is written of them.
#[derive(Default)]
struct Span<'a> {
    /// The first of them, counted from the first node.
    first: usize,
    a: &'a mut [DVec3],
    b: &'a mut [DVec3],
    unsound: bool,
}

/// Works on two lists over points, the first of which is node `frames`, a span after the other or spread over a crew. True if
/// all of it was sound.
fn spread(
    frames: usize,
    (a, b): (&mut [DVec3], &mut [DVec3]),
    crew: Option<&Crew>,
    work: impl Fn(usize, &mut [DVec3], &mut [DVec3]) -> bool + Sync,
) -> bool {
    let size = even_share(a.len(), SPAN, MOST_SPANS);
    let Some(crew) = crew.filter(|c| c.threads() > 1 && a.len() >= WORTH_A_CREW) else {
        return work(frames, a, b);
    };
    let count = a.len().div_ceil(size);
    let (mut a, mut b) = (a.chunks_mut(size), b.chunks_mut(size));
    let mut spans: [Span<'_>; MOST_SPANS] = std::array::from_fn(|k| Span {
        first: frames + k * size,
        a: a.next().unwrap_or_default(),
        b: b.next().unwrap_or_default(),
        unsound: false,
    });
    let spans = &mut spans[..count];
    crew.each(spans, |_, span| {
        span.unsound = !work(span.first, span.a, span.b);
    });
    spans.iter().all(|s| !s.unsound)
}

/// Whether numbers stay within the world.
struct Extent {
    sum: Dozen,
    most: Dozen,
}

impl Extent {
    #[inline(always)]
    fn take(&mut self, position: Dozen, velocity: Dozen) {
        // Any NaN or infinity makes the sum one; the extent catches runaway numbers.
        self.sum = self.sum + (position + velocity);
        self.most = self.most.with(position, |most, p| most.fast_max(p.abs()));
    }

    fn is_sound(&self) -> bool {
        let [a, b, c] = self.most.0;
        let most = a.fast_max(b).fast_max(c).to_array();
        let [a, b, c] = self.sum.0;
        let sum = (a + b + c).to_array().iter().sum::<f64>();
        sum.is_finite() && most.iter().all(|m| *m < WORLD_RADIUS)
    }
}

impl Masses {
    /// Moves all points by `h` seconds under MESD, without a ground.
    pub(super) fn move_points(&self, nodes: &mut Nodes, h: f64, crew: Option<&Crew>) -> bool {
        let frames = self.rigid.len();
        let Nodes {
            position,
            velocity,
            force,
            ..
        } = nodes;
        let lists = (&mut position[frames..], &mut velocity[frames..]);
        let force = &*force;
        spread(frames, lists, crew, |first, position, velocity| {
            let mut extent = Extent {
                sum: Dozen::ZERO,
                most: Dozen::ZERO,
            };
            self.move_span(first, position, velocity, force, h, &mut extent);
            extent.is_sound()
        })
    }

    fn move_span(
        &self,
        begin: usize,
        position: &mut [DVec3],
        velocity: &mut [DVec3],
        force: &[DVec3],
        h: f64,
        extent: &mut Extent,
    ) {
        let end = begin + position.len();
        let (positions, last_positions) = position.as_chunks_mut::<LANES>();
        let (velocities, last_velocities) = velocity.as_chunks_mut::<LANES>();
        let (forces, _) = force[begin..end].as_chunks::<LANES>();
        let (masses, _) = self.mass[begin..end].as_chunks::<LANES>();
        let (dampings, _) = self.resistance[begin..end].as_chunks::<LANES>();
        let (gains, _) = self.gain[begin..end].as_chunks::<LANES>();
        let (step, steps) = (f64x4::splat(h), Dozen::each(f64x4::splat(h)));
        let nodes = positions.iter_mut().zip(velocities).zip(forces);
        let nodes = nodes.zip(masses).zip(dampings).zip(gains).enumerate();
        for (k, (((((position, velocity), force), mass), damping), gain)) in nodes {
            let mass = f64x4::new(*mass);
            let slowed = f64x4::splat(1.0) / (mass + f64x4::new(*damping) * step);
            let old = Dozen::load(position);
            let carried = Dozen::load(velocity).times(Dozen::each(mass));
            let pushed = carried + Dozen::load(force).times(steps);
            let mut own = pushed.times(Dozen::each(slowed));
            let mut next = old + own.times(steps);
            if *gain != [0; LANES] {
                (next, own) = self.lock_four(begin + k * LANES, old, next, own);
            }
            extent.take(next, own);
            next.store(position);
            own.store(velocity);
        }
        let done = end - last_positions.len();
        for (k, (position, velocity)) in last_positions.iter_mut().zip(last_velocities).enumerate()
        {
            let i = done + k;
            let next = self.next_velocity_of(i, *velocity, force[i], h);
            let place = self.locked(i, *position, *position + next * h, next);
            (*position, *velocity) = place;
            extent.take(
                Dozen::load(&[place.0; LANES]),
                Dozen::load(&[place.1; LANES]),
            );
        }
    }

    /// The locks of four neighbours.
    #[cold]
    fn lock_four(&self, i: usize, old: Dozen, next: Dozen, own: Dozen) -> (Dozen, Dozen) {
        let vectors = |dozen: Dozen| {
            let mut list = [DVec3::ZERO; LANES];
            dozen.store(&mut list);
            list
        };
        let (old, mut next, mut own) = (vectors(old), vectors(next), vectors(own));
        for k in 0..LANES {
            (next[k], own[k]) = self.locked(i + k, old[k], next[k], own[k]);
        }
        (Dozen::load(&next), Dozen::load(&own))
    }

    /// The velocities of all points, what their locks leave of them, to [`Nodes::carried`].
    pub(super) fn carry_points(&self, nodes: &mut Nodes, crew: Option<&Crew>) {
        let frames = self.rigid.len();
        let Nodes {
            velocity, carried, ..
        } = nodes;
        let velocity = &*velocity;
        let lists = (&mut carried[frames..], &mut [][..]);
        spread(frames, lists, crew, |first, carried, _| {
            let own = &velocity[first..first + carried.len()];
            carried.copy_from_slice(own);
            let gains = &self.gain[first..first + own.len()];
            for (k, _) in gains.iter().enumerate().filter(|(_, g)| **g != 0) {
                carried[k] = self.gained(first + k, own[k]);
            }
            true
        });
    }
}

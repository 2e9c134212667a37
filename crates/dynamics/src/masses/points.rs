//! Points, which are many, four at a time and on several threads.
//!
//! A point is moved by its own numbers alone, so in which order and by whom does not show. The arithmetic is that of
//! [`Masses::next_of`], operation by operation: what was previewed is what comes, to the last bit.

use super::{Masses, Pushed, STILL, WORLD_RADIUS};
use crate::{Crew, Integrator, Nodes, crew::even_share, integrator::Coefficients};
use glam::DVec3;
use trocar_math::{
    f64x4,
    four::{LANES, flat, spread, unflat},
};

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
fn spread_over(
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
    sum: Parts,
    most: Parts,
}

impl Extent {
    #[inline(always)]
    fn take(&mut self, position: Parts, velocity: Parts) {
        // Any NaN or infinity makes the sum one; the extent catches runaway numbers.
        for k in 0..3 {
            self.sum[k] += position[k] + velocity[k];
            self.most[k] = self.most[k].fast_max(position[k].abs());
        }
    }

    fn is_sound(&self) -> bool {
        let most = self.most.map(f64x4::to_array);
        let most = most.as_flattened().iter().fold(0.0, |a: f64, b| a.max(*b));
        let [x, y, z] = self.sum;
        (x + y + z).reduce_add().is_finite() && most < WORLD_RADIUS
    }
}

/// What moves a span.
struct Way<'a> {
    force: &'a [DVec3],
    /// The forces of the first stage; none if there was none.
    first_force: &'a [DVec3],
    scheme: Integrator,
    h: f64,
}

/// True if some of four neighbours would be below a height, m.
#[inline(always)]
fn is_below(parts: Parts, height: f64) -> bool {
    // Where their y lie. Bits of whole vectors: to look at single lanes would take the vectors apart for everybody.
    let [a, b, c] = parts;
    let below = |part: f64x4, places: u32| part.simd_lt(f64x4::splat(height)).to_bitmask() & places;
    below(a, 0b0010) | below(b, 0b1001) | below(c, 0b0100) != 0
}

/// [`super::stilled`] of four; what is no number stays it.
#[inline(always)]
fn stilled(speed: f64x4) -> f64x4 {
    speed & !speed.abs().simd_lt(f64x4::splat(STILL))
}

/// Coordinates of four neighbours as they lie in memory.
type Parts = [f64x4; 3];

/// What `of` makes of each two. (Written out: what goes over arrays of vectors is not always taken apart by the compiler, and then costs more than all the rest.)
#[inline(always)]
fn each([a, b, c]: Parts, [d, e, f]: Parts, of: impl Fn(f64x4, f64x4) -> f64x4) -> Parts {
    [of(a, d), of(b, e), of(c, f)]
}

#[inline(always)]
fn add(a: Parts, b: Parts) -> Parts {
    each(a, b, |a, b| a + b)
}

#[inline(always)]
fn times(a: Parts, b: Parts) -> Parts {
    each(a, b, |a, b| a * b)
}

/// How four neighbours move by a scheme that is not plain: the numbers of [`Coefficients`] where their coordinates lie.
#[derive(Clone, Copy)]
struct Pace {
    gain: Parts,
    /// Shares of new and old velocity and of the first force in the way.
    drift: [Parts; 3],
}

impl Pace {
    fn new(scheme: Integrator, mass: &[f64; LANES], damping: &[f64; LANES], h: f64) -> Self {
        let all: [_; LANES] = std::array::from_fn(|k| scheme.coefficients(mass[k], damping[k], h));
        let of = |number: fn(&Coefficients, f64) -> f64| {
            spread(f64x4::new(std::array::from_fn(|k| number(&all[k], h))))
        };
        Self {
            gain: of(|c, _| c.gain),
            drift: [of(|c, _| c.new), of(|c, _| c.old), of(|c, h| c.lead * h)],
        }
    }
}

impl Masses {
    /// Moves all points by `h` seconds, as long as none drifts by the mean of old and new velocity.
    pub(super) fn move_points(
        &self,
        nodes: &mut Nodes,
        h: f64,
        scheme: Integrator,
        crew: Option<&Crew>,
    ) -> bool {
        let frames = self.rigid.len();
        let Nodes {
            position,
            velocity,
            force,
            first,
            ..
        } = nodes;
        let lists = (&mut position[frames..], &mut velocity[frames..]);
        let (force, first_force) = (&*force, first.0.as_slice());
        spread_over(frames, lists, crew, |first, position, velocity| {
            let range = first..first + position.len();
            let way = Way {
                force: &force[range.clone()],
                first_force: first_force.get(range).unwrap_or_default(),
                scheme,
                h,
            };
            if scheme.is_plain() {
                self.move_span::<true>(first, position, velocity, &way)
            } else {
                self.move_span::<false>(first, position, velocity, &way)
            }
        })
    }

    fn move_span<const PLAIN: bool>(
        &self,
        begin: usize,
        position: &mut [DVec3],
        velocity: &mut [DVec3],
        way: &Way<'_>,
    ) -> bool {
        let &Way {
            force,
            first_force,
            scheme,
            h,
        } = way;
        let mut extent = Extent {
            sum: [f64x4::ZERO; 3],
            most: [f64x4::ZERO; 3],
        };
        let end = begin + position.len();
        let (positions, last_positions) = position.as_chunks_mut::<LANES>();
        let (velocities, last_velocities) = velocity.as_chunks_mut::<LANES>();
        let (forces, last_forces) = force.as_chunks::<LANES>();
        let (first_forces, last_first) = first_force.as_chunks::<LANES>();
        let (masses, _) = self.mass[begin..end].as_chunks::<LANES>();
        let (dampings, _) = self.resistance[begin..end].as_chunks::<LANES>();
        let (gains, _) = self.gain[begin..end].as_chunks::<LANES>();
        let step = f64x4::splat(h);
        // Neighbours are mostly alike, and then their numbers are those of the last.
        let mut known: Option<(&[f64; LANES], &[f64; LANES], Pace)> = None;
        let nodes = positions.iter_mut().zip(velocities).zip(forces);
        let nodes = nodes.zip(masses).zip(dampings).zip(gains).enumerate();
        for (k, (((((position, velocity), force), mass), damping), gain)) in nodes {
            let (old, before) = (flat(position), flat(velocity));
            let masses = f64x4::new(*mass);
            let momentum = times(before, spread(masses));
            let pushed = each(momentum, flat(force), |p, f| p + f * step);
            let (own, drift);
            if PLAIN {
                let slowed = f64x4::splat(1.0) / (masses + f64x4::new(*damping) * step);
                own = each(pushed, spread(slowed), |p, slowed| stilled(p * slowed));
                drift = own;
            } else {
                if !known.is_some_and(|(m, d, _)| m == mass && d == damping) {
                    known = Some((mass, damping, Pace::new(scheme, mass, damping, h)));
                }
                let Some((_, _, pace)) = &known else { continue };
                own = each(pushed, pace.gain, |p, gain| stilled(p * gain));
                let [new, share, lead] = pace.drift;
                let led = first_forces.get(k).map_or([f64x4::ZERO; 3], flat);
                let way = add(times(own, new), times(before, share));
                drift = add(way, times(led, lead));
            }
            let next = each(old, drift, |x, v| x + v * step);
            if *gain != [0; LANES] || self.ground.is_some_and(|g| is_below(next, g)) {
                // Written to memory here: as vectors that may come from either way, those of the others would be taken apart, too.
                let (next, own) = self.hold_four(begin + k * LANES, [old, next, own], h);
                extent.take(next, own);
                unflat(next, position);
                unflat(own, velocity);
                continue;
            }
            extent.take(next, own);
            unflat(next, position);
            unflat(own, velocity);
        }
        let done = end - last_positions.len();
        for (k, (position, velocity)) in last_positions.iter_mut().zip(last_velocities).enumerate()
        {
            let pushed = Pushed {
                position: *position,
                velocity: *velocity,
                force: last_forces[k],
                first: last_first.get(k).copied().unwrap_or_default(),
            };
            let (next, own) = self.next_of(done + k, &pushed, h, scheme, |new, _| new);
            (*position, *velocity) = (next, own);
            let here = |v: DVec3| [v.x, v.y, v.z].map(f64x4::splat);
            extent.take(here(next), here(own));
        }
        extent.is_sound()
    }

    /// What locks and the ground leave of the way of four neighbours from `old` to `next`, and of their velocity `own`.
    #[cold]
    fn hold_four(&self, i: usize, [old, next, own]: [Parts; 3], h: f64) -> (Parts, Parts) {
        let vectors = |parts: Parts| {
            let mut list = [DVec3::ZERO; LANES];
            unflat(parts, &mut list);
            list
        };
        let (old, mut next, mut own) = (vectors(old), vectors(next), vectors(own));
        for k in 0..LANES {
            (next[k], own[k]) = self.held(i + k, old[k], next[k], own[k], h);
        }
        (flat(&next), flat(&own))
    }

    /// The velocities of all points, what their locks leave of them, to [`Nodes::carried`].
    pub(super) fn carry_points(&self, nodes: &mut Nodes, crew: Option<&Crew>) {
        let frames = self.rigid.len();
        let Nodes {
            velocity, carried, ..
        } = nodes;
        let velocity = &*velocity;
        let lists = (&mut carried[frames..], &mut [][..]);
        spread_over(frames, lists, crew, |first, carried, _| {
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

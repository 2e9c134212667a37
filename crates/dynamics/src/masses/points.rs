//! Points, which are many, four at a time and on several threads.
//!
//! A point is moved by its own numbers and its father's alone, so in which order and by whom does not show. The arithmetic is that of
//! [`Masses::next_point`], operation by operation: what was previewed is what comes, to the last bit.

use super::{Carrier, Masses, WORLD_RADIUS};
use crate::{Crew, Nodes, crew::even_share};
use glam::DVec3;
use trocar_math::{Four, f64x4, four::LANES};

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
    sum: Four,
    most: Four,
}

impl Extent {
    #[inline(always)]
    fn take(&mut self, position: Four, velocity: Four) {
        // Any NaN or infinity makes the sum one; the extent catches runaway numbers.
        self.sum += position + velocity;
        self.most = Four {
            x: self.most.x.fast_max(position.x.abs()),
            y: self.most.y.fast_max(position.y.abs()),
            z: self.most.z.fast_max(position.z.abs()),
        };
    }

    fn is_sound(&self) -> bool {
        let most = self
            .most
            .vectors()
            .into_iter()
            .fold(DVec3::ZERO, DVec3::max);
        self.sum.sum().is_finite() && most.max_element() < WORLD_RADIUS
    }
}

impl Masses {
    /// Parts of `first .. first + count` with one father each: where it begins and ends, and the father.
    fn families_within(
        &self,
        first: usize,
        count: usize,
    ) -> impl Iterator<Item = (usize, usize, u32)> + '_ {
        let from = self.families.partition_point(|f| f.0 <= first);
        let mut start = first;
        self.families[from..]
            .iter()
            .take_while(move |_| count > 0)
            .map(move |(end, father)| {
                let begin = start;
                start = (*end).min(first + count);
                (begin, start, *father)
            })
            .take_while(|(begin, end, _)| begin < end)
    }

    /// Moves all points by `h` seconds under MESD, without a ground.
    pub(super) fn move_points(&self, nodes: &mut Nodes, h: f64, crew: Option<&Crew>) -> bool {
        let frames = self.rigid.len();
        let Nodes {
            position,
            velocity,
            force,
            ahead,
            ..
        } = nodes;
        let (origins, position) = position.split_at_mut(frames);
        let lists = (position, &mut velocity[frames..]);
        let (origins, force, ahead) = (&*origins, &*force, &*ahead);
        spread(frames, lists, crew, |first, position, velocity| {
            let mut extent = Extent {
                sum: Four::ZERO,
                most: Four::ZERO,
            };
            for (begin, end, father) in self.families_within(first, position.len()) {
                let carrier = Carrier::of(origins, ahead, father);
                let range = begin - first..end - first;
                let position = &mut position[range.clone()];
                let velocity = &mut velocity[range];
                self.move_family(begin, position, velocity, force, &carrier, h, &mut extent);
            }
            extent.is_sound()
        })
    }

    #[allow(
        clippy::too_many_arguments,
        reason = "a family is three lists, its father and the step"
    )]
    fn move_family(
        &self,
        begin: usize,
        position: &mut [DVec3],
        velocity: &mut [DVec3],
        force: &[DVec3],
        carrier: &Carrier,
        h: f64,
        extent: &mut Extent,
    ) {
        let end = begin + position.len();
        let (positions, last_positions) = position.as_chunks_mut::<LANES>();
        let (velocities, last_velocities) = velocity.as_chunks_mut::<LANES>();
        let (forces, _) = force[begin..end].as_chunks::<LANES>();
        let (masses, _) = self.mass[begin..end].as_chunks::<LANES>();
        let (dampings, _) = self.damping[begin..end].as_chunks::<LANES>();
        let (gains, _) = self.gain[begin..end].as_chunks::<LANES>();
        let step = f64x4::splat(h);
        let (from, shift) = (Four::splat(carrier.from), Four::splat(carrier.shift));
        let nodes = positions.iter_mut().zip(velocities).zip(forces);
        let nodes = nodes.zip(masses).zip(dampings).zip(gains).enumerate();
        for (k, (((((position, velocity), force), mass), damping), gain)) in nodes {
            let mass = f64x4::new(*mass);
            let slowed = f64x4::splat(1.0) / (mass + f64x4::new(*damping) * step);
            let old = Four::load(position);
            let pushed = Four::load(velocity).times(mass) + Four::load(force).times(step);
            let own = pushed.times(slowed);
            let (mut next, mut own) = match &carrier.turn {
                None => (old + own.times(step), own),
                Some(turn) => (
                    shift + (old - from + own.times(step)).turned(turn),
                    own.turned(turn),
                ),
            };
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
            let place = self.carried_to(i, *position, next, next, h, carrier);
            (*position, *velocity) = place;
            extent.take(Four::splat(place.0), Four::splat(place.1));
        }
    }

    /// The locks of four neighbours.
    #[cold]
    fn lock_four(&self, i: usize, old: Four, next: Four, own: Four) -> (Four, Four) {
        let (old, mut next, mut own) = (old.vectors(), next.vectors(), own.vectors());
        for k in 0..LANES {
            (next[k], own[k]) = self.locked(i + k, old[k], next[k], own[k]);
        }
        (Four::load(&next), Four::load(&own))
    }

    /// The velocities of all points with what carries them, to [`Nodes::carried`]; those of frames must be there already.
    pub(super) fn carry_points(&self, nodes: &mut Nodes, crew: Option<&Crew>) {
        let frames = self.rigid.len();
        let spins = |nodes: &Nodes, f: usize| self.frame_spin(nodes, f);
        // Read before the lists are split; most nets have few families.
        let mut carried = std::mem::take(&mut nodes.carried);
        let (fathers, points) = carried.split_at_mut(frames);
        let (fathers, nodes_read) = (&*fathers, &*nodes);
        spread(frames, (points, &mut []), crew, |first, carried, _| {
            for (begin, end, father) in self.families_within(first, carried.len()) {
                let f = father as usize;
                let (origin, velocity, spin) = match fathers.get(f) {
                    Some(velocity) => (nodes_read.position[f], *velocity, spins(nodes_read, f)),
                    None => (DVec3::ZERO, DVec3::ZERO, DVec3::ZERO),
                };
                let carried = &mut carried[begin - first..end - first];
                let (fours, rest) = carried.as_chunks_mut::<LANES>();
                let (positions, _) = nodes_read.position[begin..end].as_chunks::<LANES>();
                let (velocities, _) = nodes_read.velocity[begin..end].as_chunks::<LANES>();
                let (gains, _) = self.gain[begin..end].as_chunks::<LANES>();
                let nodes = fours.iter_mut().zip(positions).zip(velocities).zip(gains);
                for (k, (((carried, position), own), gain)) in nodes.enumerate() {
                    let arm = Four::load(position) - Four::splat(origin);
                    let whole = Four::load(own) + Four::splat(velocity);
                    (whole + Four::splat(spin).cross(arm)).store(carried);
                    if *gain != [0; LANES] {
                        for (lane, v) in carried.iter_mut().enumerate() {
                            *v = self.gained(begin + k * LANES + lane, *v);
                        }
                    }
                }
                let done = end - rest.len();
                for (k, carried) in rest.iter_mut().enumerate() {
                    let i = done + k;
                    let arm = nodes_read.position[i] - origin;
                    let whole = nodes_read.velocity[i] + velocity + spin.cross(arm);
                    *carried = self.gained(i, whole);
                }
            }
            true
        });
        nodes.carried = carried;
    }
}

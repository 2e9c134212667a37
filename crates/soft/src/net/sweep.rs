//! Works out blocks of elements, four lanes at a time.
//!
//! Only additions, products, quotients and square roots in a fixed order: the same bits with and without vector instructions.

use super::{
    links::Links,
    schedule::{Run, Schedule},
};
use crate::element::{Base, Driven, Input, Law, NO_LENGTH};
use glam::DVec3;
use std::ops::Range;
use trocar_math::{Four, f64x4, four::LANES};

/// What elements read.
pub(super) struct View<'a> {
    pub position: &'a [DVec3],
    /// What locks leave of it.
    pub velocity: &'a [DVec3],
    /// How far each element has flown, m; empty if none yields.
    pub flow: &'a [f64],
    /// s.
    pub time: f64,
}

/// Adds the forces of a run to those of its chunk, whose first node is `first`.
pub(super) fn sweep(
    schedule: &Schedule,
    links: &Links,
    run: &Run,
    view: &View<'_>,
    first: usize,
    force: &mut [DVec3],
) {
    let law = &links.laws[run.kind.law as usize];
    let driven = match run.kind.drive {
        Some(active) => links.driven(active, view.time),
        None => Driven::NOT,
    };
    let chunk = first..first + force.len();
    let all = (view.position, view.velocity);
    let near = (&all.0[chunk.clone()], &all.1[chunk]);
    let work = Work {
        schedule,
        run,
        view,
        near,
        far: if run.kind.both { near } else { all },
    };
    let plain = law.is_plain() && run.kind.drive.is_none();
    let shaped = Shaped { law, driven };
    match (law.input, law.linear_damping(), plain, run.kind.damped) {
        (Input::Velocity, Some(gain), ..) => work.each(force, &Drag { gain }),
        (Input::Velocity, None, ..) => work.each(force, &ShapedDrag { law }),
        (Input::Distance, _, true, false) => work.each(force, &Spring),
        (Input::Distance, _, true, true) => work.each(force, &Damped(Spring)),
        (Input::Distance, _, false, false) => work.each(force, &shaped),
        (Input::Distance, _, false, true) => work.each(force, &Damped(shaped)),
    }
}

struct Work<'a> {
    schedule: &'a Schedule,
    run: &'a Run,
    view: &'a View<'a>,
    /// Positions and velocities of the chunk.
    near: (&'a [DVec3], &'a [DVec3]),
    /// Those among which the other ends are counted.
    far: (&'a [DVec3], &'a [DVec3]),
}

/// A block of four elements of a node, as far as it is known before roots and quotients.
#[derive(Clone, Copy)]
struct Block {
    rest: f64x4,
    constant: f64x4,
    damping: f64x4,
    /// How far the node is from the other ends, m.
    apart: Four,
    /// How fast it moves against them, m/s.
    relative: Four,
    /// The square of the length of what the kernel measures.
    square: f64x4,
    /// Which block of the schedule it is.
    index: usize,
}

/// The mathematics of a block.
trait Kernel {
    /// True if it asks for positions, true if it asks for velocities. It measures the first that it asks for.
    const ASKS: [bool; 2];

    /// Forces on the node, a lane for each element, N. Inlined always: handed over in memory, four forces cost more than they
    /// do to work out.
    fn forces(&self, block: &Block, work: &Work<'_>) -> Four;
}

/// So many blocks are worked out before their forces are added: nothing that waits for what another has just written stands in the way.
const BATCH: usize = 16;

impl Work<'_> {
    #[inline(always)]
    fn each(&self, force: &mut [DVec3], kernel: &impl Kernel) {
        match self.run.uniform {
            Some([constant, damping]) => {
                let constants = (f64x4::splat(constant), f64x4::splat(damping));
                self.batches(force, kernel, |_| constants);
            }
            None => {
                let (constant, damping) = (&self.schedule.constant, &self.schedule.damping);
                self.batches(force, kernel, |b| {
                    (f64x4::new(constant[b]), f64x4::new(damping[b]))
                });
            }
        }
    }

    #[inline(always)]
    fn batches<K: Kernel>(
        &self,
        force: &mut [DVec3],
        kernel: &K,
        constants: impl Fn(usize) -> (f64x4, f64x4),
    ) {
        let mut batch = [Four::ZERO; BATCH];
        let (mut begin, last) = (self.run.blocks.start, self.run.blocks.end);
        while begin < last {
            let end = last.min(begin + BATCH);
            // Each block is finished when the next has been fetched: roots and quotients take long, and would be waited for.
            let mut fetched = self.fetch::<K>(begin, constants(begin));
            for (b, forces) in (begin + 1..end).zip(&mut batch) {
                let next = self.fetch::<K>(b, constants(b));
                *forces = kernel.forces(&fetched, self);
                fetched = next;
            }
            batch[end - begin - 1] = kernel.forces(&fetched, self);
            self.add(begin..end, &batch, force);
            begin = end;
        }
    }

    /// All of a block but roots and quotients.
    #[inline(always)]
    fn fetch<K: Kernel>(&self, index: usize, (constant, damping): (f64x4, f64x4)) -> Block {
        let schedule = self.schedule;
        let (node, other) = (schedule.node[index] as usize, &schedule.other[index]);
        let between = |near: &[DVec3], far: &[DVec3]| Four::splat(near[node]) - at(far, other);
        let apart = if K::ASKS[0] {
            between(self.near.0, self.far.0)
        } else {
            Four::ZERO
        };
        let relative = if K::ASKS[1] {
            between(self.near.1, self.far.1)
        } else {
            Four::ZERO
        };
        let measured = if K::ASKS[0] { apart } else { relative };
        Block {
            rest: f64x4::new(schedule.rest[index]),
            constant,
            damping,
            apart,
            relative,
            square: measured.length_squared(),
            index,
        }
    }

    /// Adds the forces of blocks.
    #[inline(always)]
    fn add(&self, blocks: Range<usize>, batch: &[Four; BATCH], force: &mut [DVec3]) {
        let ends = self.schedule.node[blocks.clone()].iter();
        let ends = ends.zip(&self.schedule.other[blocks]).zip(batch);
        for ((node, [i, j, k, l]), forces) in ends {
            let [a, b, c, d] = forces.vectors();
            if self.run.kind.both {
                force[*i as usize] -= a;
                force[*j as usize] -= b;
                force[*k as usize] -= c;
                force[*l as usize] -= d;
            }
            force[*node as usize] += (a + b) + (c + d);
        }
    }
}

#[inline(always)]
fn at(list: &[DVec3], [a, b, c, d]: &[u32; LANES]) -> Four {
    let (a, b) = (&list[*a as usize], &list[*b as usize]);
    let (c, d) = (&list[*c as usize], &list[*d as usize]);
    Four::of(a, b, c, d)
}

/// Plain springs: k (l₀/l − 1) (x₁ − x₂).
struct Spring;

impl Kernel for Spring {
    const ASKS: [bool; 2] = [true, false];

    #[inline(always)]
    fn forces(&self, block: &Block, _: &Work<'_>) -> Four {
        // Without a length there is no direction; any factor times zero is zero.
        let length = block.square.sqrt().fast_max(f64x4::splat(NO_LENGTH));
        let factor = block.constant * (block.rest / length - f64x4::splat(1.0));
        block.apart.times(factor)
    }
}

/// Springs with a linear damper beside each: F − c (v₁ − v₂).
struct Damped<K>(K);

impl<K: Kernel> Kernel for Damped<K> {
    const ASKS: [bool; 2] = [true, true];

    #[inline(always)]
    fn forces(&self, block: &Block, work: &Work<'_>) -> Four {
        self.0.forces(block, work) - block.relative.times(block.damping)
    }
}

/// Linear dampers alone.
struct Drag {
    gain: f64,
}

impl Kernel for Drag {
    const ASKS: [bool; 2] = [false, true];

    #[inline(always)]
    fn forces(&self, block: &Block, _: &Work<'_>) -> Four {
        let damping = block.constant * f64x4::splat(-self.gain);
        block.relative.times(damping)
    }
}

/// Springs of any law: −F(l − l₀ − s) r.
struct Shaped<'a> {
    law: &'a Law,
    driven: Driven,
}

impl Kernel for Shaped<'_> {
    const ASKS: [bool; 2] = [true, false];

    #[inline(always)]
    fn forces(&self, block: &Block, work: &Work<'_>) -> Four {
        let length = block.square.sqrt();
        let mut stretch = length - block.rest * f64x4::splat(self.driven.length);
        if self.law.plastic.is_some() {
            let flow = |e: u32| work.view.flow.get(e as usize).copied().unwrap_or(0.0);
            stretch -= f64x4::new(work.schedule.source[block.index].map(flow));
        }
        let constant = block.constant * f64x4::splat(self.driven.stiffness);
        let pull = tension(self.law, constant, stretch) + f64x4::splat(self.driven.tension);
        let length = length.fast_max(f64x4::splat(NO_LENGTH));
        block.apart.times(-pull / length)
    }
}

/// Dampers of any law.
struct ShapedDrag<'a> {
    law: &'a Law,
}

impl Kernel for ShapedDrag<'_> {
    const ASKS: [bool; 2] = [false, true];

    #[inline(always)]
    fn forces(&self, block: &Block, _: &Work<'_>) -> Four {
        let speed = block.square.sqrt();
        let tension = tension(self.law, block.constant, speed);
        let speed = speed.fast_max(f64x4::splat(NO_LENGTH));
        block.relative.times(-tension / speed)
    }
}

/// [`Law::tension`] of four elements with a constant each.
#[inline(always)]
fn tension(law: &Law, constant: f64x4, e: f64x4) -> f64x4 {
    let zero = f64x4::ZERO;
    let x = match &law.pieces {
        Some(pieces) => f64x4::new(e.to_array().map(|e| pieces.at(e))),
        None => {
            // One of the two is zero.
            let pulled = (e - f64x4::splat(law.dead[1])).fast_max(zero) * f64x4::splat(law.gain[1]);
            let pushed = (e + f64x4::splat(law.dead[0])).fast_min(zero) * f64x4::splat(law.gain[0]);
            pulled + pushed
        }
    };
    let force = match law.base {
        Base::Linear => constant * x,
        Base::Quadratic => constant * x * x.abs(),
    };
    force
        .fast_max(f64x4::splat(-law.limit[0]))
        .fast_min(f64x4::splat(law.limit[1]))
}

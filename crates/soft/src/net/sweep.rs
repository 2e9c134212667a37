//! Works out blocks of elements, four lanes at a time.
//!
//! Every element is a vector times a factor, less a relative velocity times a constant. A batch of blocks goes through one stage after the other: vectors and the squares of their
//! lengths; factors, which take roots and quotients; forces; sums. In each, no block waits for another, so that many are worked on at once; in one go a block would be as long as all
//! that a processor looks ahead, and its root would be waited for.
//!
//! Only additions, products, quotients and square roots in a fixed order: the same bits with and without vector instructions.

use super::{
    links::Links,
    schedule::{Run, Schedule},
};
use crate::element::{Base, Driven, Input, Law, NO_LENGTH};
use glam::DVec3;
use trocar_math::{
    Four, f64x4,
    four::{self, LANES, flat, unflat},
};

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
    match (law.input, law.linear_damping(), plain) {
        (Input::Velocity, Some(gain), _) => work.each(force, &Drag { gain }),
        (Input::Velocity, None, _) => work.each(force, &ShapedDrag { law }),
        (Input::Distance, _, true) => work.each(force, &Spring),
        (Input::Distance, _, false) => work.each(force, &shaped),
    }
}

/// Coordinates of four vectors, laid out as a [`Shape`] wants them.
type Parts = [f64x4; 3];

struct Work<'a> {
    schedule: &'a Schedule,
    run: &'a Run,
    view: &'a View<'a>,
    /// Positions and velocities of the chunk.
    near: (&'a [DVec3], &'a [DVec3]),
    /// Those among which the other ends are counted.
    far: (&'a [DVec3], &'a [DVec3]),
}

/// What is known of a block when factors are asked for.
struct Block {
    rest: f64x4,
    constant: f64x4,
    /// The square of the length of what the kernel measures.
    square: f64x4,
    /// Which block of the schedule it is.
    index: usize,
}

/// The mathematics of a block.
trait Kernel {
    /// True if it measures velocities, otherwise positions.
    const VELOCITY: bool;

    /// By what the vector is multiplied that leads from the other end to the one at which an element begins, or by what the velocity of this against
    /// that is, to give the force on this, N/m or N·s/m.
    fn factor(&self, block: &Block, work: &Work<'_>) -> f64x4;
}

/// Blocks that go through a stage before the next: enough to keep a processor busy, few enough for the first-level cache.
const BATCH: usize = 16;

impl Work<'_> {
    #[inline(always)]
    fn each(&self, force: &mut [DVec3], kernel: &impl Kernel) {
        match (self.run.kind.strip, self.run.kind.damped) {
            (true, true) => self.alike::<Strip, true>(force, kernel),
            (true, false) => self.alike::<Strip, false>(force, kernel),
            (false, true) => self.alike::<Star, true>(force, kernel),
            (false, false) => self.alike::<Star, false>(force, kernel),
        }
    }

    #[inline(always)]
    fn alike<S: Shape, const DAMPED: bool>(&self, force: &mut [DVec3], kernel: &impl Kernel) {
        match self.run.uniform {
            Some([constant, damping]) => {
                let (constant, damping) = (f64x4::splat(constant), f64x4::splat(damping));
                self.batches::<S, DAMPED>(force, kernel, |_| constant, |_| [damping; 3]);
            }
            None => {
                let (constant, damping) = (&self.schedule.constant, &self.schedule.damping);
                self.batches::<S, DAMPED>(
                    force,
                    kernel,
                    |b| f64x4::new(constant[b]),
                    |b| S::spread(f64x4::new(damping[b])),
                );
            }
        }
    }

    #[inline(always)]
    fn batches<S: Shape, const DAMPED: bool>(
        &self,
        force: &mut [DVec3],
        kernel: &impl Kernel,
        constant: impl Fn(usize) -> f64x4,
        damping: impl Fn(usize) -> Parts,
    ) {
        let mut vectors = [[f64x4::ZERO; 3]; BATCH];
        let mut factors = [f64x4::ZERO; BATCH];
        let Schedule {
            node, other, rest, ..
        } = self.schedule;
        let last = self.run.blocks.end;
        for begin in self.run.blocks.clone().step_by(BATCH) {
            let blocks = begin..last.min(begin + BATCH);
            let (nodes, others) = (&node[blocks.clone()], &other[blocks.clone()]);
            let ends = || nodes.iter().zip(others);
            let rests = rest[blocks.clone()].iter();
            let of_each = ends().zip(blocks.clone()).zip(rests);
            let of_each = of_each.zip(&mut vectors).zip(&mut factors);
            for (((((n, o), index), rest), vector), factor) in of_each {
                *vector = self.between::<S>(measures(kernel), *n, o);
                let block = Block {
                    rest: f64x4::new(*rest),
                    constant: constant(index),
                    square: S::square(*vector),
                    index,
                };
                *factor = kernel.factor(&block, self);
            }
            let of_each = ends().zip(blocks).zip(&factors).zip(&mut vectors);
            for ((((n, o), index), factor), vector) in of_each {
                *vector = times(*vector, S::spread(*factor));
                if DAMPED {
                    let relative = self.between::<S>(true, *n, o);
                    let [x, y, z] = times(relative, damping(index));
                    *vector = [vector[0] - x, vector[1] - y, vector[2] - z];
                }
            }
            S::add(nodes, others, &vectors, force, self.run.kind.both);
        }
    }

    /// From the other ends of a block to those at which it begins: positions, or velocities.
    #[inline(always)]
    fn between<S: Shape>(&self, velocity: bool, node: u32, other: &[u32; LANES]) -> Parts {
        if velocity {
            S::between(self.near.1, node, self.far.1, other)
        } else {
            S::between(self.near.0, node, self.far.0, other)
        }
    }
}

const fn measures<K: Kernel>(_: &K) -> bool {
    K::VELOCITY
}

#[inline(always)]
fn times([x, y, z]: Parts, [a, b, c]: Parts) -> Parts {
    [x * a, y * b, z * c]
}

/// Where the ends of a block are, and how it is laid out.
trait Shape {
    /// What `near` says of the ends at which its elements begin, less what `far` says of the others.
    fn between(near: &[DVec3], node: u32, far: &[DVec3], other: &[u32; LANES]) -> Parts;

    /// The squares of the lengths of vectors.
    fn square(vectors: Parts) -> f64x4;

    /// A number for each vector, where its coordinates are.
    fn spread(numbers: f64x4) -> Parts;

    /// Adds the forces of blocks to the ends at which they begin, and takes them from the others if `both` are asked for.
    fn add(
        nodes: &[u32],
        others: &[[u32; LANES]],
        forces: &[Parts],
        force: &mut [DVec3],
        both: bool,
    );
}

/// All begin at one node. Coordinates are apart: x, y, z.
struct Star;

impl Shape for Star {
    #[inline(always)]
    fn between(near: &[DVec3], node: u32, far: &[DVec3], other: &[u32; LANES]) -> Parts {
        let Four { x, y, z } = Four::splat(near[node as usize]) - at(far, other);
        [x, y, z]
    }

    #[inline(always)]
    fn square([x, y, z]: Parts) -> f64x4 {
        Four { x, y, z }.length_squared()
    }

    #[inline(always)]
    fn spread(numbers: f64x4) -> Parts {
        [numbers; 3]
    }

    #[inline(always)]
    fn add(
        nodes: &[u32],
        others: &[[u32; LANES]],
        forces: &[Parts],
        force: &mut [DVec3],
        both: bool,
    ) {
        for ((node, [i, j, k, l]), [x, y, z]) in nodes.iter().zip(others).zip(forces) {
            let (x, y, z) = (*x, *y, *z);
            let [a, b, c, d] = Four { x, y, z }.vectors();
            if both {
                force[*i as usize] -= a;
                force[*j as usize] -= b;
                force[*k as usize] -= c;
                force[*l as usize] -= d;
            }
            force[*node as usize] += (a + b) + (c + d);
        }
    }
}

/// Neighbours in number at either end. Coordinates are as they lie in memory.
struct Strip;

impl Shape for Strip {
    #[inline(always)]
    fn between(near: &[DVec3], node: u32, far: &[DVec3], other: &[u32; LANES]) -> Parts {
        let [a, b, c] = flat(neighbours(near, node));
        let [d, e, f] = flat(neighbours(far, other[0]));
        [a - d, b - e, c - f]
    }

    #[inline(always)]
    fn square(vectors: Parts) -> f64x4 {
        let Four { x, y, z } = Four::parted(times(vectors, vectors));
        x + y + z
    }

    #[inline(always)]
    fn spread(numbers: f64x4) -> Parts {
        four::spread(numbers)
    }

    /// One side after the other: of one length, nodes at which blocks begin are all different, and so are the other ends; but one block's other ends may be
    /// those at which the next begins, shifted, and to read across what two stores have just written takes long.
    #[inline(always)]
    fn add(
        nodes: &[u32],
        others: &[[u32; LANES]],
        forces: &[Parts],
        force: &mut [DVec3],
        both: bool,
    ) {
        for (node, [a, b, c]) in nodes.iter().zip(forces) {
            let slot = neighbours_mut(force, *node);
            let [x, y, z] = flat(slot);
            unflat([x + *a, y + *b, z + *c], slot);
        }
        if both {
            for (other, [a, b, c]) in others.iter().zip(forces) {
                let slot = neighbours_mut(force, other[0]);
                let [x, y, z] = flat(slot);
                unflat([x - *a, y - *b, z - *c], slot);
            }
        }
    }
}

#[inline(always)]
fn neighbours(list: &[DVec3], first: u32) -> &[DVec3; LANES] {
    let first = first as usize;
    &list[first..first + LANES].as_chunks().0[0]
}

#[inline(always)]
fn neighbours_mut(list: &mut [DVec3], first: u32) -> &mut [DVec3; LANES] {
    let first = first as usize;
    &mut list[first..first + LANES].as_chunks_mut().0[0]
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
    const VELOCITY: bool = false;

    #[inline(always)]
    fn factor(&self, block: &Block, _: &Work<'_>) -> f64x4 {
        // Without a length there is no direction; any factor times zero is zero.
        let length = block.square.sqrt().fast_max(f64x4::splat(NO_LENGTH));
        block.constant * (block.rest / length - f64x4::splat(1.0))
    }
}

/// Linear dampers alone.
struct Drag {
    gain: f64,
}

impl Kernel for Drag {
    const VELOCITY: bool = true;

    #[inline(always)]
    fn factor(&self, block: &Block, _: &Work<'_>) -> f64x4 {
        block.constant * f64x4::splat(-self.gain)
    }
}

/// Springs of any law: −F(l − l₀ − s) r.
struct Shaped<'a> {
    law: &'a Law,
    driven: Driven,
}

impl Kernel for Shaped<'_> {
    const VELOCITY: bool = false;

    #[inline(always)]
    fn factor(&self, block: &Block, work: &Work<'_>) -> f64x4 {
        let length = block.square.sqrt();
        let mut stretch = length - block.rest * f64x4::splat(self.driven.length);
        if self.law.plastic.is_some() {
            let flow = |e: u32| work.view.flow.get(e as usize).copied().unwrap_or(0.0);
            stretch -= f64x4::new(work.schedule.source[block.index].map(flow));
        }
        let constant = block.constant * f64x4::splat(self.driven.stiffness);
        let pull = tension(self.law, constant, stretch) + f64x4::splat(self.driven.tension);
        -pull / length.fast_max(f64x4::splat(NO_LENGTH))
    }
}

/// Dampers of any law.
struct ShapedDrag<'a> {
    law: &'a Law,
}

impl Kernel for ShapedDrag<'_> {
    const VELOCITY: bool = true;

    #[inline(always)]
    fn factor(&self, block: &Block, _: &Work<'_>) -> f64x4 {
        let speed = block.square.sqrt();
        let tension = tension(self.law, block.constant, speed);
        -tension / speed.fast_max(f64x4::splat(NO_LENGTH))
    }
}

/// [`Law::tension`] of four elements with a constant each.
#[inline(always)]
pub(super) fn tension(law: &Law, constant: f64x4, e: f64x4) -> f64x4 {
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

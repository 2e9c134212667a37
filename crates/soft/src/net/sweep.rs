//! Works out blocks of elements, four at a time.
//!
//! Only additions, products, quotients and square roots in a fixed order: the same bits with and without vector instructions.

use super::{
    links::Links,
    schedule::{Block, LANES, Run, Schedule},
};
use crate::element::{Base, Input, Law, NO_LENGTH};
use glam::DVec3;
use wide::f64x4;

/// What elements read.
pub(super) struct View<'a> {
    pub position: &'a [DVec3],
    /// With all that carries a node; empty if no element asks for it.
    pub velocity: &'a [DVec3],
    /// How far each element has flown, m; empty if none yields.
    pub flow: &'a [f64],
    /// s.
    pub time: f64,
}

/// Three coordinates of four vectors.
#[derive(Clone, Copy)]
struct Four {
    x: f64x4,
    y: f64x4,
    z: f64x4,
}

impl Four {
    /// From the vectors at `other` to the one at `node`.
    #[inline(always)]
    fn between(list: &[DVec3], node: u32, other: [u32; LANES]) -> Self {
        let from = list[node as usize];
        let [a, b, c, d] = other.map(|n| list[n as usize]);
        Self {
            x: f64x4::splat(from.x) - f64x4::new([a.x, b.x, c.x, d.x]),
            y: f64x4::splat(from.y) - f64x4::new([a.y, b.y, c.y, d.y]),
            z: f64x4::splat(from.z) - f64x4::new([a.z, b.z, c.z, d.z]),
        }
    }

    #[inline(always)]
    fn length(self) -> f64x4 {
        (self.x * self.x + self.y * self.y + self.z * self.z).sqrt()
    }

    #[inline(always)]
    fn times(self, factor: f64x4) -> Self {
        Self {
            x: self.x * factor,
            y: self.y * factor,
            z: self.z * factor,
        }
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Self {
            x: self.x + other.x,
            y: self.y + other.y,
            z: self.z + other.z,
        }
    }

    #[inline(always)]
    fn vectors(self) -> [DVec3; LANES] {
        let (x, y, z) = (self.x.to_array(), self.y.to_array(), self.z.to_array());
        std::array::from_fn(|i| DVec3::new(x[i], y[i], z[i]))
    }
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
    let (scale, bias) = match run.kind.drive {
        Some(active) => links.driven(active, view.time),
        None => (1.0, 0.0),
    };
    let work = Work {
        blocks: &schedule.blocks[run.blocks.clone()],
        damping: &schedule.damping[run.blocks.clone()],
        source: &schedule.source[run.blocks.clone()],
        view,
        first,
        both: run.kind.both,
    };
    match (law.input, run.kind.damped) {
        (Input::Velocity, _) => match law.linear_damping() {
            Some(gain) => work.each(force, |i, block| work.drag(i, block, gain)),
            None => work.each(force, |_, block| work.shaped_drag(block, law)),
        },
        (Input::Distance, false) if law.is_plain() && run.kind.drive.is_none() => {
            work.each(force, |_, block| work.spring(block));
        }
        (Input::Distance, true) if law.is_plain() && run.kind.drive.is_none() => {
            work.each(force, |i, block| {
                work.spring(block).plus(work.beside(i, block))
            });
        }
        (Input::Distance, false) => {
            work.each(force, |i, block| work.shaped(i, block, law, scale, bias));
        }
        (Input::Distance, true) => work.each(force, |i, block| {
            work.shaped(i, block, law, scale, bias)
                .plus(work.beside(i, block))
        }),
    }
}

struct Work<'a> {
    blocks: &'a [Block],
    damping: &'a [[f64; LANES]],
    source: &'a [[u32; LANES]],
    view: &'a View<'a>,
    first: usize,
    both: bool,
}

impl Work<'_> {
    #[inline(always)]
    fn each(&self, force: &mut [DVec3], of: impl Fn(usize, &Block) -> Four) {
        if self.both {
            for (i, block) in self.blocks.iter().enumerate() {
                let [a, b, c, d] = of(i, block).vectors();
                for (other, f) in block.other.iter().zip([a, b, c, d]) {
                    force[*other as usize - self.first] -= f;
                }
                force[block.node as usize - self.first] += (a + b) + (c + d);
            }
        } else {
            for (i, block) in self.blocks.iter().enumerate() {
                let [a, b, c, d] = of(i, block).vectors();
                force[block.node as usize - self.first] += (a + b) + (c + d);
            }
        }
    }

    /// Plain springs: k (l₀/l − 1) (x₁ − x₂).
    #[inline(always)]
    fn spring(&self, block: &Block) -> Four {
        let apart = Four::between(self.view.position, block.node, block.other);
        // Without a length there is no direction; any factor times zero is zero.
        let length = apart.length().fast_max(f64x4::splat(NO_LENGTH));
        let factor =
            f64x4::new(block.constant) * (f64x4::new(block.rest) / length - f64x4::splat(1.0));
        apart.times(factor)
    }

    /// Linear dampers beside springs: −c (v₁ − v₂).
    #[inline(always)]
    fn beside(&self, i: usize, block: &Block) -> Four {
        let relative = Four::between(self.view.velocity, block.node, block.other);
        relative.times(-f64x4::new(self.damping[i]))
    }

    /// Linear dampers alone.
    #[inline(always)]
    fn drag(&self, _: usize, block: &Block, gain: f64) -> Four {
        let relative = Four::between(self.view.velocity, block.node, block.other);
        relative.times(f64x4::new(block.constant) * f64x4::splat(-gain))
    }

    /// Springs of any law: −F(l − l₀ − s) r.
    #[inline(always)]
    fn shaped(&self, i: usize, block: &Block, law: &Law, scale: f64, bias: f64) -> Four {
        let apart = Four::between(self.view.position, block.node, block.other);
        let length = apart.length();
        let mut stretch = length - f64x4::new(block.rest) * f64x4::splat(scale);
        if law.plastic.is_some() {
            let flow = |e: u32| self.view.flow.get(e as usize).copied().unwrap_or(0.0);
            stretch -= f64x4::new(self.source[i].map(flow));
        }
        let tension = tension(law, f64x4::new(block.constant), stretch) + f64x4::splat(bias);
        apart.times(-tension / length.fast_max(f64x4::splat(NO_LENGTH)))
    }

    /// Dampers of any law.
    #[inline(always)]
    fn shaped_drag(&self, block: &Block, law: &Law) -> Four {
        let relative = Four::between(self.view.velocity, block.node, block.other);
        let speed = relative.length();
        let tension = tension(law, f64x4::new(block.constant), speed);
        relative.times(-tension / speed.fast_max(f64x4::splat(NO_LENGTH)))
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

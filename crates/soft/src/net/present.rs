//! What elements ask of a substep as they are now (KB9), a chunk of nodes at a time as forces are gathered.

use super::{Net, schedule::Run, sweep::tension};
use crate::element::{Driven, Input, LEAST_LENGTH, LEAST_REACH, Law};
use glam::DVec3;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use trocar_dynamics::{Crew, Nodes};
use trocar_math::{Four, f64x4, four::LANES};

/// The least of several steps, whoever found it: the order in which they are told does not show.
#[derive(Debug)]
pub(crate) struct Least(AtomicU64);

impl Default for Least {
    fn default() -> Self {
        Self(AtomicU64::new(f64::INFINITY.to_bits()))
    }
}

impl Least {
    /// Takes a step, s; what is no number says nothing, what is below 0 counts as 0.
    pub fn take(&self, step: f64) {
        let step = f64::INFINITY.min(step).max(0.0);
        // Numbers that are not negative are in the order of their bits.
        self.0.fetch_min(step.to_bits(), Relaxed);
    }

    /// The least of all, s; infinite if there was none.
    pub fn get(&self) -> f64 {
        f64::from_bits(self.0.load(Relaxed))
    }
}

/// Nodes and what they are compared with.
struct Now<'a> {
    nodes: &'a Nodes,
    time: f64,
    /// How far a spring may be from where it is looked at, as a part of its length.
    near: f64,
}

impl Net {
    /// Adds the stiffness (N/m) and the damping (N·s/m) of all elements at `time` s to those of their nodes, at the lengths and speeds they have now and the part `near` of them to either
    /// side; takes the steps in which no ends of a spring whose stiffness depends on its length move farther than that against each other. The velocities must have been carried.
    pub(crate) fn present_slopes(
        &self,
        nodes: &Nodes,
        time: f64,
        near: f64,
        (sums, least): (&mut [[f64; 2]], &Least),
        crew: Option<&Crew>,
    ) {
        let now = Now { nodes, time, near };
        let crew = crew.filter(|_| self.is_worth_a_crew());
        let ends = &self.schedule.bounds[1..];
        Crew::parts(crew, sums, ends, |c, sums| {
            let mut bound = f64::INFINITY;
            for run in &self.schedule.runs[self.schedule.chunks[c].clone()] {
                bound = bound.min(self.present_run(run, self.schedule.bounds[c], &now, sums));
            }
            least.take(bound);
        });
    }

    /// A run of the chunk whose first node is `first`, four elements at a time.
    fn present_run(&self, run: &Run, first: usize, now: &Now<'_>, sums: &mut [[f64; 2]]) -> f64 {
        let (links, schedule) = (&self.links, &self.schedule);
        let own = &links.laws[run.kind.law as usize];
        let seen = Seen {
            law: own,
            driven: match run.kind.drive {
                Some(active) => links.driven(active, now.time),
                None => Driven::NOT,
            },
            // As stiff as it is ever driven to be: it may become so within the step.
            stiffest: match run.kind.drive {
                Some(active) => links.most_driven(active).stiffness,
                None => 1.0,
            },
            plain: own.is_plain() && run.kind.drive.is_none(),
            near: f64x4::splat(now.near),
        };
        let mut bound = f64x4::splat(f64::INFINITY);
        for b in run.blocks.clone() {
            let (node, other) = (schedule.node[b] as usize, &schedule.other[b]);
            let (position, carried) = (&now.nodes.position, &now.nodes.carried);
            let from = if run.kind.both { first } else { 0 };
            let apart = |list: &[DVec3]| {
                let begin = match run.kind.strip {
                    true => Four::load(&list[first + node..].as_chunks().0[0]),
                    false => Four::splat(list[first + node]),
                };
                let [p, q, r, s] = other.map(|o| &list[from + o as usize]);
                (begin - Four::of(p, q, r, s)).length()
            };
            let constant = f64x4::new(schedule.constant[b]);
            let slopes = match own.input {
                Input::Velocity => [f64x4::ZERO, seen.drag(constant, apart(carried))],
                Input::Distance => {
                    let flow = |e: u32| now.nodes.flow.get(e as usize).copied().unwrap_or(0.0);
                    let rest = f64x4::new(schedule.rest[b]);
                    let flown = match own.plastic {
                        Some(_) => f64x4::new(schedule.source[b].map(flow)),
                        None => f64x4::ZERO,
                    };
                    let length = apart(position);
                    let window = seen.window(length, rest);
                    if !seen.plain {
                        let speed = apart(carried).fast_max(f64x4::splat(1e-12));
                        bound = bound.fast_min(window / speed);
                    }
                    let stiffness = seen.spring(constant, length, (rest, flown), window);
                    [stiffness, f64x4::new(schedule.damping[b])]
                }
            };
            let [stiffness, drag] = slopes.map(|s| s.to_array());
            for lane in 0..LANES {
                // An empty lane repeats the first.
                if lane > 0 && schedule.source[b][0] == schedule.source[b][lane] {
                    continue;
                }
                let begin = node + lane * usize::from(run.kind.strip);
                let end = run.kind.both.then_some(other[lane] as usize);
                for node in std::iter::once(begin).chain(end) {
                    sums[node][0] += stiffness[lane];
                    sums[node][1] += drag[lane];
                }
            }
        }
        bound.to_array().into_iter().fold(f64::INFINITY, f64::min)
    }
}

/// Elements of one law, four at a time.
struct Seen<'a> {
    law: &'a Law,
    driven: Driven,
    /// The constant of the law times this.
    stiffest: f64,
    plain: bool,
    /// How far a spring may be from where it is looked at, as a part of its length.
    near: f64x4,
}

impl Seen<'_> {
    /// [`Law::window`] of four.
    fn window(&self, length: f64x4, rest: f64x4) -> f64x4 {
        let none = rest.simd_lt(f64x4::splat(LEAST_LENGTH));
        let built = none.bitselect(f64x4::splat(LEAST_REACH), rest);
        self.near * length.fast_max(built)
    }

    /// Stiffness of springs of so much length and rest length, as far as they have flown, within a window (all m) to either side, N/m: [`Law::present_slope`] of
    /// four.
    fn spring(
        &self,
        constant: f64x4,
        length: f64x4,
        (rest, flown): (f64x4, f64x4),
        window: f64x4,
    ) -> f64x4 {
        if self.plain {
            // Along its line at any length; across it a tension holds with k (l − l₀)/l, which is never more.
            return constant;
        }
        let constant = constant * f64x4::splat(self.stiffest);
        let stretch = length - rest * f64x4::splat(self.driven.length) - flown;
        let tension = |more: f64x4| {
            tension(self.law, constant, stretch + more) + f64x4::splat(self.driven.tension)
        };
        let (short, held, long) = (tension(-window), tension(f64x4::ZERO), tension(window));
        let slope = (long - held).fast_max(held - short) / window;
        let across = long / length.fast_max(window);
        slope.fast_max(across).fast_max(f64x4::ZERO)
    }

    /// The slope of dampers at the speed (m/s) their ends have, N·s/m.
    fn drag(&self, constant: f64x4, speed: f64x4) -> f64x4 {
        // Slower than a millimetre a second nothing is told apart.
        let near = self.near * speed.fast_max(f64x4::splat(1e-3));
        let tension = |speed: f64x4| tension(self.law, constant, speed);
        let more = tension(speed + near);
        let slope = (more - tension(speed)) / near;
        // Across the direction of motion a force F resists with F/v.
        slope.fast_max(more / (speed + near)).fast_max(f64x4::ZERO)
    }
}

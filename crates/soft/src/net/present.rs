//! What elements ask of a substep as they are now (KB9), a chunk of nodes at a time as forces are gathered.

use super::{Net, schedule::Run};
use crate::element::{Input, Law};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use trocar_dynamics::{Crew, Nodes};

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

    /// A run of the chunk whose first node is `first`.
    fn present_run(&self, run: &Run, first: usize, now: &Now<'_>, sums: &mut [[f64; 2]]) -> f64 {
        let own = &self.links.laws[run.kind.law as usize];
        let plain = own.is_plain() && run.kind.drive.is_none();
        let mut bound = f64::INFINITY;
        self.lanes(run, |lane| {
            let other = if run.kind.both {
                first + lane.other
            } else {
                lane.other
            };
            let law = Law {
                constant: lane.constant,
                ..*own
            };
            let ends = [first + lane.node, other];
            let slopes = match law.input {
                Input::Velocity => [0.0, now.drag(&law, ends)],
                Input::Distance => {
                    let (stiffness, step) = self.present_spring(&law, plain, &lane, ends, now);
                    bound = bound.min(step);
                    [stiffness, lane.damping]
                }
            };
            let others = run.kind.both.then_some(lane.other);
            for node in std::iter::once(lane.node).chain(others) {
                sums[node][0] += slopes[0];
                sums[node][1] += slopes[1];
            }
        });
        bound
    }

    /// Stiffness of a spring, N/m, and the step in which its ends move no farther than they may, s.
    fn present_spring(
        &self,
        law: &Law,
        plain: bool,
        lane: &Lane,
        [a, b]: [usize; 2],
        now: &Now<'_>,
    ) -> (f64, f64) {
        let nodes = now.nodes;
        let length = nodes.position[a].distance(nodes.position[b]);
        let window = Law::window(now.near, length, lane.rest);
        if plain {
            let tension = |more: f64| law.constant * (length - lane.rest + more);
            let across = tension(window) / length.max(window);
            // It is as stiff at any length, however fast that changes.
            return (law.constant.max(across), f64::INFINITY);
        }
        let (stretch, driven) = self.links.stretch(nodes, lane.element, now.time);
        // As stiff as it is ever driven to be: it may become so within the step.
        let law = self.links.extremes(lane.element).law(law);
        let tension = |more: f64| law.tension(stretch + more) + driven.tension;
        let tensions = [-window, 0.0, window].map(tension);
        let speed = nodes.carried[a].distance(nodes.carried[b]);
        let slope = Law::present_slope(length, window, tensions);
        (slope, window / speed.max(1e-12))
    }

    /// Every element of a run.
    fn lanes(&self, run: &Run, mut take: impl FnMut(Lane)) {
        let schedule = &self.schedule;
        for b in run.blocks.clone() {
            let first = schedule.node[b] as usize;
            for (lane, other) in schedule.other[b].iter().enumerate() {
                let (other, node) = (*other as usize, first + lane * usize::from(run.kind.strip));
                let source = schedule.source[b][lane] as usize;
                // An empty lane repeats the first.
                if lane > 0 && schedule.source[b][0] as usize == source {
                    continue;
                }
                take(Lane {
                    node,
                    other,
                    element: source,
                    rest: schedule.rest[b][lane],
                    constant: schedule.constant[b][lane],
                    damping: schedule.damping[b][lane],
                });
            }
        }
    }
}

/// An element of a block.
struct Lane {
    /// Counted from the first node of the chunk.
    node: usize,
    /// As the block counts it.
    other: usize,
    element: usize,
    rest: f64,
    constant: f64,
    damping: f64,
}

impl Now<'_> {
    /// The slope of a damper at the speed its ends have, N·s/m.
    fn drag(&self, law: &Law, [a, b]: [usize; 2]) -> f64 {
        let speed = self.nodes.carried[a].distance(self.nodes.carried[b]);
        // Slower than a millimetre a second nothing is told apart.
        let near = self.near * speed.max(1e-3);
        let slope = (law.tension(speed + near) - law.tension(speed)) / near;
        // Across the direction of motion a force F resists with F/v.
        let across = law.tension(speed + near) / (speed + near);
        slope.max(across).max(0.0)
    }
}

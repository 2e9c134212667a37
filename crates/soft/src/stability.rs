//! How long a substep may be (K69).
//!
//! The MESD scheme on M ẍ + D ẋ + K x = 0 is stable as long as h² K ≤ 4 M + 2 h D (both sides as
//! quadratic forms; explicit dampers C between nodes count as −C in D): written for an eigenvector with mass m, damping d and stiffness k that is
//!
//! ```text
//! h = ( d + √(d² + 4 m k) ) / k
//! ```
//!
//! Other integrators have bounds of their own ([`Integrator::critical_step`]); nets of different ones may hang together, so
//! the bound of a group that is not all MESD is found by trying the scheme itself, from the guess that its stiffest mode
//! gives.
//!
//! The bound printed in the source (3.96) has 2mk instead of 4mk: it takes the old velocity for an
//! input and is stricter than need be.

use crate::{
    Global, Hyper, Net, element,
    global::{End, Sight},
};
use glam::{DQuat, DVec3};
use trocar_dynamics::{
    Field, Integrator, Lock, Matter, MatterId, Nodes, Stages, anchor::Support, integrator::Mode,
    masses::Brake,
};
use trocar_math::rotation;

/// For how long a group is tried, s.
const TRIAL: f64 = 4.0;

/// What grows in steps so many times shorter than the guess grows in any.
const SHORTER: usize = 64;

/// The speed it is disturbed with, m/s: so slow that nodes move by less than a thousandth of any cell, and a million times faster than rounding
/// lets them tremble.
const SMALL: f64 = 1e-7;

/// Bounds on the substep of a group of coupled nets, s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepBounds {
    /// The exact bound for small motion about rest, from the stiffest mode and the integrators of the nets.
    pub exact: f64,
    /// A bound that holds in every configuration: linear springs of any direction; quadratic ones up to twice their
    /// rest length and at least a centimetre, quadratic memory up to a centimetre; children half as far again from their fathers as built.
    pub safe: f64,
    /// The author's own estimate (3.96), a node at a time.
    pub kuhn: f64,
    /// True if the nets swing up by themselves at any step: so does what is not damped by schemes that need damping. No step is short
    /// enough then.
    pub flutters: bool,
}

/// The exact bound of one mode, s; infinite if nothing can excite it. `mass` kg, `stiffness` N/m.
/// `damping` N·s/m is the node's own, implicit damping *minus* that of dampers between nodes, which
/// act explicitly and so narrow the bound.
pub fn critical_step(mass: f64, damping: f64, stiffness: f64) -> f64 {
    step_bound(mass, damping, stiffness, 4.0)
}

/// The printed bound (3.96) of one node, s.
pub fn kuhn_step(mass: f64, damping: f64, stiffness: f64) -> f64 {
    step_bound(mass, damping, stiffness, 2.0)
}

/// The positive root of h² k = f m + 2 h d (f = 4 or 2).
fn step_bound(mass: f64, damping: f64, stiffness: f64, factor: f64) -> f64 {
    let root = (damping * damping + factor * mass * stiffness.max(0.0)).sqrt();
    // Two forms of the same root; each avoids the difference of equal numbers.
    if damping < 0.0 {
        factor * mass / (root - damping)
    } else if stiffness > 0.0 {
        (damping + root) / stiffness
    } else {
        f64::INFINITY
    }
}

/// Stiffness at every node: sums over its elements of their greatest slopes, its shape memory and that of its children.
fn node_stiffness(net: &Net) -> Vec<f64> {
    let mut sum: Vec<f64> = (0..net.masses().len())
        .map(|i| match net.memory_base() {
            element::Base::Linear => net.memory(i),
            element::Base::Quadratic => 2.0 * net.memory(i) * element::LEAST_REACH,
        })
        .collect();
    pass_on_to_fathers(net, &mut sum);
    for (ends, input, stiffness) in net.slopes() {
        if input == element::Input::Distance {
            ends.iter().for_each(|n| sum[*n as usize] += stiffness);
        }
    }
    for bend in net.bends() {
        let [i, k, j] = bend.nodes.map(|n| net.rest().position[n as usize]);
        let spacing = k.distance(i).min(k.distance(j));
        let stiffness = element::bending_stiffness(bend.constant, spacing);
        bend.nodes
            .iter()
            .for_each(|n| sum[*n as usize] += stiffness);
    }
    sum
}

/// Adds the shape memory of nodes, which `sum` has, to that of their fathers: it draws at both.
fn pass_on_to_fathers(net: &Net, sum: &mut [f64]) {
    for i in 0..sum.len() {
        if let Some(f) = net.father(i) {
            // Children come after their fathers: nothing has been passed on to this one yet.
            sum[f] += sum[i];
        }
    }
}

/// What coupled nets, and elements that lead to other things, add to a node.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Added {
    /// N/m.
    pub stiffness: f64,
    /// Of dampers, N·s/m.
    pub drag: f64,
}

/// A bound for every configuration: a row of the stiffness matrix can't sum to more than twice the
/// springs at its node, nor one of the dampers to more than twice theirs (Gershgorin). `extra` is what is added to a node.
pub fn safe_step(net: &Net, extra: &dyn Fn(usize) -> Added) -> f64 {
    let masses = net.masses();
    let mut damping = masses.damping().to_vec();
    for (ends, input, damper) in net.slopes() {
        if input == element::Input::Velocity {
            ends.iter()
                .for_each(|n| damping[*n as usize] -= 2.0 * damper);
        }
    }
    let stiffness = node_stiffness(net);
    let integrator = masses.integrator();
    (0..masses.len()).fold(f64::INFINITY, |bound, i| {
        let extra = extra(i);
        let stiffness = 2.0 * (stiffness[i] + extra.stiffness);
        let damping = damping[i] - 2.0 * extra.drag;
        let mass = masses.mass()[i];
        bound.min(if integrator == Integrator::Mesd {
            critical_step(mass, damping, stiffness)
        } else {
            integrator.critical_step(&Mode {
                mass,
                damping: masses.damping()[i],
                drag: masses.damping()[i] - damping,
                stiffness,
            })
        })
    })
}

/// The author's estimate for a net, s: every node alone, its neighbours at rest.
fn kuhn_bound(net: &Net) -> f64 {
    let masses = net.masses();
    node_stiffness(net)
        .iter()
        .enumerate()
        .fold(f64::INFINITY, |bound, (i, k)| {
            bound.min(kuhn_step(masses.mass()[i], masses.damping()[i], *k))
        })
}

/// All bounds of a group of nets coupled by `hypers`. In the hypers, a matter's id is its index in
/// `nets`, so a group is judged without the rest of the scene.
pub fn bounds(nets: &[&Net], hypers: &[Hyper]) -> StepBounds {
    bounds_with(nets, hypers, &[])
}

/// [`bounds`] of nets that `globals` join as well, to each other and to fixed points.
pub fn bounds_with(nets: &[&Net], hypers: &[Hyper], globals: &[Global]) -> StepBounds {
    let added = added(nets, hypers, globals);
    let (exact, flutters) = Probe::new(nets, hypers, globals).exact_step();
    let safe = nets
        .iter()
        .zip(&added)
        .map(|(net, added)| safe_step(net, &|i| added[i]))
        .fold(f64::INFINITY, f64::min);
    StepBounds {
        exact,
        // The rows of fathers, which carry others, are judged as a whole: at rest, and as stiff as they can become. A scheme that swings up a
        // node left alone swings up the net, too.
        safe: safe
            .min(0.9 * exact)
            .min(stiffest_step(nets, hypers, globals)),
        kuhn: nets
            .iter()
            .map(|net| kuhn_bound(net))
            .fold(f64::INFINITY, f64::min),
        flutters: flutters || safe == 0.0,
    }
}

/// For every node of every net what copies of it and elements to other things add.
fn added(nets: &[&Net], hypers: &[Hyper], globals: &[Global]) -> Vec<Vec<Added>> {
    let mut added: Vec<Vec<Added>> = nets
        .iter()
        .map(|net| vec![Added::default(); net.masses().len()])
        .collect();
    for g in globals {
        for end in &g.ends {
            let End::On(anchor) = end else { continue };
            for (matter, at, weight) in Support::of(anchor).parts() {
                let node = added
                    .get_mut(matter.index())
                    .and_then(|net| net.get_mut(at.node as usize));
                let Some(node) = node else { continue };
                match g.law.input {
                    element::Input::Distance => node.stiffness += weight.abs() * g.slope(),
                    element::Input::Velocity => node.drag += weight.abs() * g.slope(),
                }
            }
        }
    }
    // A copy hands on all it feels.
    for h in hypers {
        let ((net, node), (from, copy)) = (h.master, h.slave);
        let slave = nets[from.index()];
        let own = node_stiffness(slave)[copy as usize];
        let dampers = slave
            .slopes()
            .filter(|(ends, input, _)| *input == element::Input::Velocity && ends.contains(&copy));
        let drag: f64 = dampers.map(|x| x.2).sum();
        let more = added[from.index()][copy as usize];
        let to = &mut added[net.index()][node as usize];
        to.stiffness += h.factor * (own + more.stiffness);
        to.drag += h.factor * (drag + more.drag);
    }
    added
}

/// How many times farther than they were built children may be from their father, along the way they were built.
const FARTHER: f64 = 1.5;

/// The bound of nets with fathers as stiff as they can become, s; infinite if there are no fathers.
///
/// Rows of a father's children tell nothing of the father, and the exact bound only tells of rest. So every element is replaced by a linear one of
/// its greatest slope that acts alike along and across (a spring of no length). As quadratic forms these are above the elements in any
/// configuration. Memory holds a father against turning by Σ k b·r, where b is how far a child was built from it and r how far it is now: so far as
/// [`FARTHER`] says that is counted as well. What grows at any step then is no reason to refuse: no configuration is as stiff everywhere at once; its
/// stiffest mode alone is asked.
fn stiffest_step(nets: &[&Net], hypers: &[Hyper], globals: &[Global]) -> f64 {
    if nets.iter().all(|net| net.masses().frames() == 0) {
        return f64::INFINITY;
    }
    let linear = |law: element::Law, slope: f64| match law.input {
        element::Input::Distance => element::Law::spring(slope),
        element::Input::Velocity => element::Law::damper(slope),
    };
    let stiff: Option<Vec<Net>> = nets
        .iter()
        .map(|net| {
            let slopes: Vec<f64> = net.slopes().map(|x| x.2).collect();
            let mut stiff = (*net).clone();
            let changed = stiff.change(|parts| {
                for (e, slope) in parts.elements.iter_mut().zip(slopes) {
                    e.law = linear(e.law, slope);
                    e.rest_length = 0.0;
                }
                parts.actives.clear();
                // What explicit damping of children takes grows with the square of how far they are.
                let explicit = parts.integrator.predictor() == Integrator::Euler;
                let farther = if explicit { FARTHER * FARTHER } else { FARTHER };
                for rigid in parts.nodes.iter_mut().filter_map(|n| n.rigid.as_mut()) {
                    // As much stiffer against turning as lighter.
                    rigid.inertia = rigid.inertia.map(|i| i / farther);
                    rigid.damping /= farther;
                }
                if parts.memory_base == element::Base::Quadratic {
                    parts.memory_base = element::Base::Linear;
                    let memory = parts.memory.iter_mut();
                    memory.for_each(|m| *m *= 2.0 * element::LEAST_REACH);
                }
            });
            changed.ok().map(|()| stiff)
        })
        .collect();
    let Some(stiff) = stiff else {
        return f64::INFINITY;
    };
    let stiff: Vec<&Net> = stiff.iter().collect();
    let globals: Vec<Global> = globals
        .iter()
        .map(|g| Global {
            law: linear(g.law, g.slope()),
            rest_length: 0.0,
            drive: None,
            ends: g.ends,
        })
        .collect();
    let mut probe = Probe::new(&stiff, hypers, &globals);
    match probe.exact_step() {
        (_, true) => probe.mode_step(),
        (step, false) => step,
    }
}

/// How far a spring may be from where its stiffness was looked at, as a part of its length, and how far its ends may move against
/// each other in a substep.
const NEAR: f64 = 0.1;

/// Finds how long a substep may be as things are now (KB9): from the slopes of the springs at their present lengths, a tenth of
/// them to either side, and from how fast their ends move against each other. It depends on the state alone.
#[derive(Debug, Default)]
pub struct Gauge {
    /// Stiffness at every node of every share, N/m.
    sums: Vec<Vec<f64>>,
    /// Damping between nodes at every node of every share, N·s/m.
    drags: Vec<Vec<f64>>,
}

impl Gauge {
    /// The bound of coupled nets at `time` s, s. `net` gives the net of each of `nodes`, none for other matter; `sight` says where a matter's
    /// share is. Elements between different things count at their ends on nets, at their lengths now.
    pub fn bound<'a, 'b, F: Fn(MatterId) -> &'b dyn Matter>(
        &mut self,
        net: &impl Fn(usize) -> Option<&'a Net>,
        nodes: &mut [Nodes],
        (hypers, globals): (&[Hyper], &[Global]),
        sight: &Sight<'b, F>,
        time: f64,
    ) -> f64 {
        let slot = sight.slot;
        let mut bound = f64::INFINITY;
        self.sums.resize_with(nodes.len(), Vec::new);
        self.drags.resize_with(nodes.len(), Vec::new);
        for (k, nodes) in nodes.iter_mut().enumerate() {
            if let Some(net) = net(k) {
                bound = bound.min(present_stiffness(net, nodes, time, &mut self.sums[k]));
                present_drag(net, nodes, &mut self.drags[k]);
            } else {
                self.sums[k].clear();
                self.drags[k].clear();
            }
        }
        for g in globals {
            let now = g.present(sight, nodes, time, NEAR);
            bound = bound.min(now.step);
            let sums = match g.law.input {
                element::Input::Distance => &mut self.sums,
                element::Input::Velocity => &mut self.drags,
            };
            for end in &g.ends {
                let End::On(anchor) = end else { continue };
                for (matter, at, weight) in Support::of(anchor).parts() {
                    let share = &mut sums[slot[matter.index()] as usize];
                    if let Some(sum) = share.get_mut(at.node as usize) {
                        *sum += weight.abs() * now.slope;
                    }
                }
            }
        }
        for h in hypers {
            let at =
                |(matter, node): (MatterId, u32)| (slot[matter.index()] as usize, node as usize);
            let ((a, i), (b, j)) = (at(h.master), at(h.slave));
            for sums in [&mut self.sums, &mut self.drags] {
                let more = sums[b].get(j).map_or(0.0, |k| h.factor * k);
                if let Some(sum) = sums[a].get_mut(i) {
                    *sum += more;
                }
            }
        }
        for k in 0..nodes.len() {
            let Some(masses) = net(k).map(|n| n.masses()) else {
                continue;
            };
            let scheme = masses.integrator();
            for (i, stiffness) in self.sums[k].iter().enumerate() {
                let (mass, damping) = (masses.mass()[i], masses.damping()[i]);
                let drag = 2.0 * self.drags[k].get(i).copied().unwrap_or(0.0);
                bound = bound.min(match scheme {
                    Integrator::QuasiDynamic(factor) => damping / (factor * stiffness),
                    // The stage of a classical scheme is as strict as its Euler step.
                    Integrator::Euler | Integrator::RungeKutta | Integrator::Heun => {
                        critical_step(mass, -damping - drag, 2.0 * stiffness)
                    }
                    Integrator::Midpoint => damping / stiffness,
                    // Damping against a father that moves along is none.
                    _ => critical_step(mass, masses.resistance()[i] - drag, 2.0 * stiffness),
                });
            }
        }
        bound
    }
}

/// Writes the stiffness at every node as the net is now; returns the step in which no spring's ends move farther than
/// [`NEAR`] of its length, s.
fn present_stiffness(net: &Net, nodes: &mut Nodes, time: f64, sums: &mut Vec<f64>) -> f64 {
    let masses = net.masses();
    masses.carry_velocities(nodes, None);
    sums.clear();
    sums.extend((0..nodes.len()).map(|i| match net.memory_base() {
        element::Base::Linear => net.memory(i),
        element::Base::Quadratic => {
            let apart = nodes.position[i].distance(net.base_position(nodes, i));
            2.0 * net.memory(i) * (apart + 1e-3)
        }
    }));
    let mut bound = turning_step(net, nodes, sums);
    pass_on_to_fathers(net, sums);
    for (i, e) in net.elements().enumerate() {
        if e.law.input != element::Input::Distance {
            continue;
        }
        let [a, b] = e.nodes.map(|n| n as usize);
        let length = nodes.position[a].distance(nodes.position[b]);
        let near = NEAR * length.max(e.rest_length).max(1e-6);
        let speed = (nodes.carried[a] - nodes.carried[b]).length();
        bound = bound.min(near / speed.max(1e-12));
        let (stretch, bias) = net.stretch(nodes, i, time);
        let tension = |more: f64| e.law.tension(stretch + more) + bias;
        let (short, now, long) = (tension(-near), tension(0.0), tension(near));
        let slope = ((long - now) / near).max((now - short) / near);
        // Across its line a spring under tension holds like a string.
        let across = long / length.max(1e-6);
        let stiffness = slope.max(across).max(0.0);
        sums[a] += stiffness;
        sums[b] += stiffness;
    }
    for bend in net.bends() {
        let [i, k, j] = bend.nodes.map(|n| nodes.position[n as usize]);
        let spacing = k.distance(i).min(k.distance(j));
        let stiffness = element::bending_stiffness(bend.constant, spacing);
        bend.nodes
            .iter()
            .for_each(|n| sums[*n as usize] += stiffness);
    }
    bound
}

/// The step in which no father turns too far under the shape memory of its children, whose stiffnesses (N/m) are `memory`, s. Torsion
/// of a frame counts, too.
fn turning_step(net: &Net, nodes: &Nodes, memory: &[f64]) -> f64 {
    let rigid = net.masses().rigid();
    let mut bound = f64::INFINITY;
    for (z, rigid) in rigid.iter().enumerate() {
        let Some(inertia) = rigid.inertia else {
            continue;
        };
        let children = (z + 1..nodes.len()).filter(|i| net.father(*i) == Some(z));
        let held: f64 = children
            .map(|i| memory[i] * (nodes.position[i] - nodes.position[z]).length_squared())
            .sum();
        let turned = net.torsions().iter();
        let turned: f64 = turned
            .filter(|t| t.frame as usize == z || net.father(t.frame as usize) == Some(z))
            .map(|t| t.constant)
            .sum();
        let least = inertia.min_element();
        bound = bound.min(critical_step(least, rigid.damping, 2.0 * (held + turned)));
    }
    bound
}

/// Writes the damping between nodes at every node, N·s/m: the slopes of all dampers at the speeds their ends have now, a tenth more or
/// less. The velocities must have been carried.
fn present_drag(net: &Net, nodes: &Nodes, drags: &mut Vec<f64>) {
    drags.clear();
    drags.resize(nodes.len(), 0.0);
    for e in net.elements() {
        if e.law.input != element::Input::Velocity {
            continue;
        }
        let [a, b] = e.nodes.map(|n| n as usize);
        let speed = (nodes.carried[a] - nodes.carried[b]).length();
        // Slower than a millimetre a second nothing is told apart.
        let near = NEAR * speed.max(1e-3);
        let slope = (e.law.tension(speed + near) - e.law.tension(speed)) / near;
        // Across the direction of motion a force F resists with F/v.
        let across = e.law.tension(speed + near) / (speed + near);
        let drag = slope.max(across).max(0.0);
        drags[a] += drag;
        drags[b] += drag;
    }
}

/// Small motions of a group about rest: shifts of all nodes and turns of all frames.
struct Probe<'a> {
    nets: &'a [&'a Net],
    hypers: &'a [Hyper],
    globals: &'a [Global],
    work: Vec<Nodes>,
    stages: Stages,
    /// The stiffest mode found.
    stiffest: Mode,
    /// What each unknown is: mass or moments of inertia, damping, and how far it may move.
    unknowns: Vec<Unknown>,
}

struct Unknown {
    net: usize,
    node: usize,
    turns: bool,
    /// Along the axes of its lock, or moments about those of its frame; none by a scheme without mass.
    mass: DVec3,
    /// Against the world; what acts within families is none of its own.
    damping: f64,
    /// How freely it moves along the axes of a frame, 0 to 1 (K24).
    gains: DVec3,
    axes: DQuat,
}

/// An axis with the gain b moves by v' = b (m v + h f)/(m + d h), x' = x + h v'. That is stable as long as
/// h² k ≤ 2 (m + d h)/b + 2 m: as if its mass were m (1 + 1/b)/2 and its damping d/b. A locked axis has neither.
impl Unknown {
    /// The force or torque on it.
    fn of(&self, nodes: &Nodes) -> DVec3 {
        if self.turns {
            nodes.torque[self.node]
        } else {
            nodes.force[self.node]
        }
    }

    /// Mass along the three axes of the lock, each times the square of `x` there; locked axes count for nothing.
    fn heavy(&self, x: DVec3) -> f64 {
        let along = self.axes.conjugate() * x;
        let open = |k: &usize| self.gains[*k] > 0.0;
        let of = |k: usize| 0.5 * (1.0 + 1.0 / self.gains[k]) * self.mass[k] * along[k] * along[k];
        (0..3).filter(open).map(of).sum()
    }

    /// `x` along the three axes of the lock, divided by their gains; nothing along locked ones.
    fn freed(&self, x: DVec3) -> DVec3 {
        let along = self.axes.conjugate() * x;
        let open = |k: usize| {
            if self.gains[k] > 0.0 {
                along[k] / self.gains[k]
            } else {
                0.0
            }
        };
        self.axes * DVec3::new(open(0), open(1), open(2))
    }

    /// (4 M + 2 h D)⁻¹ `pushed`, where D is its own damping.
    fn yields(&self, pushed: DVec3, h: f64) -> DVec3 {
        let along = self.axes.conjugate() * pushed;
        let damped = self.mass + DVec3::splat(self.damping * h);
        let held = damped * 2.0 + self.gains * self.mass * 2.0;
        self.axes * (along * self.gains / held.max(DVec3::splat(1e-300)))
    }
}

impl<'a> Probe<'a> {
    fn new(nets: &'a [&'a Net], hypers: &'a [Hyper], globals: &'a [Global]) -> Self {
        let mut unknowns = Vec::new();
        for (n, net) in nets.iter().enumerate() {
            let masses = net.masses();
            // Without mass what moves by q f/d is damped as if by d/q.
            let (heavy, factor) = match masses.integrator() {
                Integrator::QuasiDynamic(factor) => (0.0, factor),
                _ => (1.0, 1.0),
            };
            for i in 0..masses.len() {
                let own = f64::from(u8::from(masses.father(i).is_none())) / factor;
                let slave = hypers
                    .iter()
                    .any(|h| (h.slave.0.index(), h.slave.1 as usize) == (n, i));
                if slave || masses.lock(i) == Lock::Fixed {
                    continue;
                }
                let (gains, axes) = match masses.lock(i) {
                    Lock::Axes(gains, axes) => (gains, axes),
                    _ => (DVec3::ONE, DQuat::IDENTITY),
                };
                unknowns.push(Unknown {
                    net: n,
                    node: i,
                    turns: false,
                    mass: DVec3::splat(masses.mass()[i]) * heavy,
                    damping: masses.damping()[i] * own,
                    gains,
                    axes,
                });
                if let Some(rigid) = masses.rigid().get(i)
                    && let Some(inertia) = rigid.inertia
                {
                    unknowns.push(Unknown {
                        net: n,
                        node: i,
                        turns: true,
                        mass: inertia * heavy,
                        damping: masses.turn_damping()[i] * own,
                        gains: DVec3::ONE,
                        axes: net.rest().orientation[i],
                    });
                }
            }
        }
        Self {
            nets,
            hypers,
            globals,
            work: nets.iter().map(|net| net.rest().clone()).collect(),
            stages: Stages::default(),
            stiffest: Mode {
                mass: 1.0,
                damping: 0.0,
                drag: 0.0,
                stiffness: 0.0,
            },
            unknowns,
        }
    }

    /// The stiffest mode gives a bound; whether it is the right one is then tried: bending, and hyper nodes that give back less than
    /// they feel, make the matrix unsymmetric, so that a swinging mode may be the first to grow. Also says whether one grows at any step.
    ///
    /// In short steps most schemes do as mechanics does, and nothing swings up by itself. What grows at any step all the same gives way to
    /// a load that it was built under, as a column does that buckles; it finds another shape, and the stiffest mode is what bounds the step.
    /// Two schemes do otherwise: without damping the midpoint scheme gains energy at any step, and without mass what dampers do to a
    /// velocity is done to it anew in every substep, however short. Nodes without fathers tell that by themselves ([`safe_step`]).
    fn exact_step(&mut self) -> (f64, bool) {
        let mode = self.critical_step();
        let mut schemes = self.nets.iter().map(|net| net.masses().integrator());
        if schemes.any(|i| i != Integrator::Mesd) {
            let guess = self.scheme_step(&self.stiffest).min(mode).min(1.0);
            let swings = self.nets.iter().any(|net| {
                let scheme = net.masses().integrator();
                net.masses().has_families()
                    && matches!(scheme, Integrator::QuasiDynamic(_) | Integrator::Midpoint)
            });
            return match self.searched_step(guess) {
                (short, true) if !swings || self.straying(short, 20_000) < 1.2 => (guess, false),
                found => found,
            };
        }
        // A system that nothing excites is stable; a second is longer than any step.
        let high = if mode.is_finite() { mode } else { 1.0 };
        let trial = 0.99 * high;
        // Seconds of simulated time, so that what grows slowly is seen as well; less for what is large.
        let large = self.unknowns.len() > 20_000;
        let most = if large { 150 } else { 20_000 };
        let steps = |h: f64| ((TRIAL / h) as usize).clamp(1200, 20_000).min(most);
        if !self.grows(trial, steps(trial)) {
            return (mode, false);
        }
        // What the step causes goes away with it; what goes on growing is in the nets.
        if !large && self.grows(trial / 8.0, (8 * steps(trial)).min(most)) {
            return (mode, false);
        }
        let (mut low, mut high) = (0.0, high);
        while high - low > 2e-3 * high {
            let middle = 0.5 * (low + high);
            if self.grows(middle, 1200.min(most)) {
                high = middle;
            } else {
                low = middle;
            }
        }
        (low, false)
    }

    /// The step at which a small disturbance begins to grow, looked for from `guess` on, s; and whether it does at any.
    fn searched_step(&mut self, guess: f64) -> (f64, bool) {
        let large = self.unknowns.len() > 20_000;
        let steps = if large { 150 } else { 2400 };
        let (mut low, mut high) = (0.0, guess.max(1e-5));
        if self.grows(high, steps) {
            // What the step causes goes away with it. Short steps need many, or they would end before anything has swung.
            let (least, most) = (high / SHORTER as f64, if large { 150 } else { 20_000 });
            let (mut short, mut more) = (high, steps);
            while low == 0.0 {
                short *= 0.5;
                more = (2 * more).min(most);
                if short < least {
                    // It does so at any step.
                    return (short, true);
                }
                if self.grows(short, more) {
                    high = short;
                } else {
                    low = short;
                }
            }
        } else {
            while !self.grows(high, steps) {
                low = high;
                high *= 1.25;
                if high > 1.0 {
                    return (low, false);
                }
            }
        }
        while high - low > 2e-3 * high {
            let middle = 0.5 * (low + high);
            *(if self.grows(middle, steps) {
                &mut high
            } else {
                &mut low
            }) = middle;
        }
        (low, false)
    }

    /// True if a small disturbance grows in `steps` substeps of `h` under the scheme itself.
    ///
    /// What floats freely drifts and turns evenly, and what was built under tension is then drawn aside more and more: that grows with a power of time,
    /// by the same factor in twice as many substeps, once what else there was has died away. What swings up grows by the square of it, and again.
    fn grows(&mut self, h: f64, mut steps: usize) -> bool {
        let mut once = self.growth(h, steps);
        if once <= 1.2 {
            return false;
        }
        for _ in 0..2 {
            steps *= 2;
            let twice = if once.is_infinite() {
                once
            } else {
                self.growth(h, steps)
            };
            if twice.is_finite() && twice <= once * once.sqrt() {
                return false;
            }
            once = twice;
        }
        true
    }

    /// By what factor a small disturbance grows from the second quarter of `steps` substeps of `h` to the last; infinite if beyond all
    /// measure, 0 if it has died away.
    fn growth(&mut self, h: f64, steps: usize) -> f64 {
        // A net that was built under tension, or is driven, would move off; only what comes of the disturbance counts.
        let still = self.start();
        self.disturb();
        // Drifting as a whole is no growth, so speeds are compared, not places; and their greatest
        // values in the second and the last quarter, because modes beat against each other.
        let mut quarters = Quarters::default();
        let mut first = 0.0;
        for step in 0..steps {
            let mut work = std::mem::take(&mut self.work);
            let sound = self.substep(&mut work, &still, h);
            self.work = work;
            let speed = speed(&self.work, None);
            if !sound || speed > 1e5 * SMALL {
                return f64::INFINITY;
            }
            quarters.take(speed, step, steps);
            if step == 0 {
                first = self.tension(&still);
            }
        }
        // The modified Runge-Kutta scheme creeps away from rest and stands still where its stage feels no force: no speed tells of that.
        if first > 0.0 && self.tension(&still) > 1e4 * first {
            return f64::INFINITY;
        }
        quarters.growth()
    }

    /// The forces and torques of everything as it is now against `still`, N; torques as if at arms of a centimetre.
    fn tension(&mut self, still: &[(Vec<DVec3>, Vec<DVec3>)]) -> f64 {
        self.feel();
        let apart = |a: &[DVec3], b: &[DVec3]| {
            let both = a.iter().zip(b);
            both.map(|(a, b)| a.distance_squared(*b)).sum::<f64>()
        };
        let shares = self.work.iter().zip(still);
        shares
            .map(|(nodes, (force, torque))| {
                apart(&nodes.force, force) + 1e4 * apart(&nodes.torque, torque)
            })
            .sum::<f64>()
            .sqrt()
    }

    /// Works out all forces where everything is now; copies do not hand on theirs.
    fn feel(&mut self) {
        let nets = self.nets;
        let slot: Vec<u32> = (0..nets.len() as u32).collect();
        let sight = Sight {
            matter: |m: MatterId| nets[m.index()] as &dyn Matter,
            slot: &slot,
        };
        for (net, nodes) in nets.iter().zip(&mut self.work) {
            net.force(nodes, &NOWHERE);
        }
        let globals = self.globals.iter();
        globals.for_each(|g| g.apply(&sight, &mut self.work, 0.0));
    }

    /// [`growth`](Self::growth) of what tells a disturbed net from one that is not, both left to move as they do. What was built under
    /// compression and floats freely turns over if forces are taken from it that do not turn with it; here none are.
    fn straying(&mut self, h: f64, steps: usize) -> f64 {
        let mut still = self.start();
        for (force, torque) in &mut still {
            force.fill(DVec3::ZERO);
            torque.fill(DVec3::ZERO);
        }
        let mut other = self.work.clone();
        self.disturb();
        let mut work = std::mem::take(&mut self.work);
        let mut quarters = Quarters::default();
        for step in 0..steps {
            let sound = self.substep(&mut work, &still, h) && self.substep(&mut other, &still, h);
            let speed = speed(&work, Some(&other));
            if !sound || speed > 1e5 * SMALL {
                self.work = work;
                return f64::INFINITY;
            }
            quarters.take(speed, step, steps);
        }
        self.work = work;
        quarters.growth()
    }

    /// Everything at rest; returns the forces and torques there.
    fn start(&mut self) -> Vec<(Vec<DVec3>, Vec<DVec3>)> {
        for (net, nodes) in self.nets.iter().zip(&mut self.work) {
            nodes.copy_from(net.rest());
        }
        self.feel();
        let felt = self.work.iter();
        felt.map(|nodes| (nodes.force.clone(), nodes.torque.clone()))
            .collect()
    }

    fn disturb(&mut self) {
        for (i, u) in self.unknowns.iter().enumerate() {
            let nodes = &mut self.work[u.net];
            let list = if u.turns {
                &mut nodes.spin
            } else {
                &mut nodes.velocity
            };
            list[u.node] = rough(i) * SMALL;
            // What has no mass forgets how it moved, so it is disturbed where it is.
            let without_mass = matches!(
                self.nets[u.net].masses().integrator(),
                Integrator::QuasiDynamic(_)
            );
            if without_mass && u.turns {
                let turn = rotation::from_scaled_axis(rough(i) * 1e-2 * SMALL);
                nodes.orientation[u.node] = turn * nodes.orientation[u.node];
            } else if without_mass {
                nodes.position[u.node] += rough(i) * 1e-2 * SMALL;
            }
        }
    }

    /// One substep of `h` seconds by the scheme itself, without the forces `still`. False if a number goes bad.
    fn substep(&mut self, work: &mut [Nodes], still: &[(Vec<DVec3>, Vec<DVec3>)], h: f64) -> bool {
        let (nets, hypers, globals) = (self.nets, self.hypers, self.globals);
        let slot: Vec<u32> = (0..nets.len() as u32).collect();
        let sight = Sight {
            matter: |m: MatterId| nets[m.index()] as &dyn Matter,
            slot: &slot,
        };
        let masses = |m: MatterId| nets[m.index()].masses();
        self.stages.gather(
            &|k| Some(nets[k].masses()),
            work,
            h,
            |work, _| {
                for (net, nodes) in nets.iter().zip(work.iter_mut()) {
                    net.force(nodes, &NOWHERE);
                }
                globals.iter().for_each(|g| g.apply(&sight, work, 0.0));
                for (nodes, (force, torque)) in work.iter_mut().zip(still) {
                    let forces = nodes.force.iter_mut().zip(force);
                    forces.for_each(|(f, s)| *f -= *s);
                    let torques = nodes.torque.iter_mut().zip(torque);
                    torques.for_each(|(t, s)| *t -= *s);
                }
                hypers.iter().for_each(|x| x.give_back(work, &slot));
            },
            |work| hypers.iter().for_each(|x| x.copy(masses, work, &slot)),
        );
        for (net, nodes) in nets.iter().zip(work.iter_mut()) {
            net.plan(nodes, h);
            if !net.advance(nodes, h) {
                return false;
            }
        }
        hypers.iter().for_each(|x| x.copy(masses, work, &slot));
        for (net, nodes) in nets.iter().zip(work) {
            net.settle(nodes);
        }
        true
    }

    /// Forces and torques on all unknowns when they are displaced by `shifted · x` from rest and move
    /// with `moving · x`.
    fn force(&mut self, x: &[DVec3], shifted: f64, moving: f64) -> Vec<DVec3> {
        let mut shift: Vec<Vec<DVec3>> = self
            .nets
            .iter()
            .map(|n| vec![DVec3::ZERO; n.masses().len()])
            .collect();
        let mut turn = shift.clone();
        for (unknown, x) in self.unknowns.iter().zip(x) {
            let list = if unknown.turns { &mut turn } else { &mut shift };
            list[unknown.net][unknown.node] = *x * shifted;
            let nodes = &mut self.work[unknown.net];
            let list = if unknown.turns {
                &mut nodes.spin
            } else {
                &mut nodes.velocity
            };
            list[unknown.node] = *x * moving;
        }
        for (n, net) in self.nets.iter().enumerate() {
            place(net, &mut self.work[n], &shift[n], &turn[n]);
        }
        for h in self.hypers {
            let position = self.work[h.master.0.index()].position[h.master.1 as usize];
            self.work[h.slave.0.index()].position[h.slave.1 as usize] = position;
        }
        self.feel();
        let slot: Vec<u32> = (0..self.nets.len() as u32).collect();
        for h in self.hypers {
            h.give_back(&mut self.work, &slot);
        }
        let unknowns = self.unknowns.iter();
        unknowns.map(|u| u.of(&self.work[u.net])).collect()
    }

    /// Minus the derivative of the forces along `x`, by central differences: K x, or C x of the dampers.
    fn slope(&mut self, x: &[DVec3], shifted: f64, moving: f64) -> Vec<DVec3> {
        let ahead = self.force(x, shifted, moving);
        let back = self.force(x, -shifted, -moving);
        let scale = 2.0 * (shifted + moving);
        ahead
            .iter()
            .zip(&back)
            .map(|(a, b)| (*b - *a) / scale)
            .collect()
    }

    /// D x of all damping but that of dampers, N·s/m times what `x` is.
    fn damped(&mut self, x: &[DVec3]) -> Vec<DVec3> {
        if self.nets.iter().any(|net| net.masses().has_families()) {
            self.clear();
            for (u, x) in self.unknowns.iter().zip(x) {
                let nodes = &mut self.work[u.net];
                (if u.turns {
                    &mut nodes.spin
                } else {
                    &mut nodes.velocity
                })[u.node] = *x;
            }
            for (net, nodes) in self.nets.iter().zip(&mut self.work) {
                net.masses().brake(nodes, 0.0, Brake::Explicit);
            }
        } else {
            self.clear();
        }
        let both = self.unknowns.iter().zip(x);
        both.map(|(u, x)| {
            let bonds = match self.nets[u.net].masses().integrator() {
                Integrator::QuasiDynamic(factor) => u.of(&self.work[u.net]) / factor,
                _ => u.of(&self.work[u.net]),
            };
            *x * u.damping - bonds
        })
        .collect()
    }

    /// True if the scheme of a net takes its damping at the start of a substep: it narrows the step then.
    fn damps_explicitly(&self, net: usize) -> bool {
        self.nets[net].masses().integrator().predictor() == Integrator::Euler
    }

    /// Turns what is pushed with `x` into (4 M + 2 h D)⁻¹ x. What families share of D is eliminated as their substeps do it: with half
    /// the step (M + h D/2) v' = h f/2.
    fn yield_to(&mut self, x: &mut [DVec3], h: f64) {
        self.clear();
        for (u, x) in self.unknowns.iter().zip(x.iter()) {
            let nodes = &mut self.work[u.net];
            (if u.turns {
                &mut nodes.torque
            } else {
                &mut nodes.force
            })[u.node] = *x;
        }
        for (net, nodes) in self.nets.iter().zip(&mut self.work) {
            let masses = net.masses();
            match masses.integrator() {
                Integrator::QuasiDynamic(factor) => {
                    masses.brake(nodes, h, Brake::Massless(factor));
                }
                i if i.predictor() == Integrator::Euler => {}
                _ => masses.brake(nodes, 0.5 * h, Brake::Implicit(1.0)),
            }
        }
        for (u, x) in self.unknowns.iter().zip(x) {
            let (masses, felt) = (self.nets[u.net].masses(), u.of(&self.work[u.net]));
            *x = match masses.integrator() {
                // 2 h D/q x = f, where children are damped by as much as others once their fathers are known.
                Integrator::QuasiDynamic(factor) => {
                    let damping = match u.turns {
                        true => masses.turn_damping()[u.node],
                        false => masses.damping()[u.node],
                    };
                    u.axes
                        * (u.gains * (u.axes.conjugate() * felt))
                        * (factor / (2.0 * h * damping))
                }
                i if i.predictor() == Integrator::Euler => u.yields(felt, 0.0),
                _ => u.yields(felt, h),
            };
        }
    }

    /// What the stiffest mode says of the step, by all schemes there are, s.
    fn mode_step(&self) -> f64 {
        let mode = Mode {
            drag: 0.0,
            ..self.stiffest
        };
        self.scheme_step(&mode)
            .min(critical_step(mode.mass, mode.damping, mode.stiffness))
    }

    /// The least step of a mode by the schemes that are not like MESD; infinite if there are none. Without mass (4 M + 2 h D is 2 h D then)
    /// MESD's formula holds as well.
    fn scheme_step(&self, mode: &Mode) -> f64 {
        let schemes = self.nets.iter().map(|net| net.masses().integrator());
        schemes
            .filter(|i| !matches!(i, Integrator::Mesd | Integrator::QuasiDynamic(_)))
            .map(|i| i.critical_step(mode))
            .fold(f64::INFINITY, f64::min)
    }

    /// Everything at rest, and no forces.
    fn clear(&mut self) {
        for (net, nodes) in self.nets.iter().zip(&mut self.work) {
            nodes.copy_from(net.rest());
            nodes.force.fill(DVec3::ZERO);
            nodes.torque.fill(DVec3::ZERO);
        }
    }

    /// Finds the stiffest mode by power iteration: each round applies (4M + 2hD)⁻¹ (h² K + 2h C) and takes
    /// the step at which the present shape would be on the edge of stability.
    fn critical_step(&mut self) -> f64 {
        if self.unknowns.is_empty() {
            return f64::INFINITY;
        }
        // Small against any cell, large against rounding.
        const SCALE: f64 = 1e-7;
        // Any start will do that is not orthogonal to the stiffest mode; this one is rough.
        let start = self.unknowns.iter().enumerate();
        let mut x: Vec<DVec3> = start
            .map(|(i, u)| u.axes * (u.gains * (u.axes.conjugate() * rough(i))))
            .collect();
        let damped = self.nets.iter().any(|net| has_dampers(net))
            || self
                .globals
                .iter()
                .any(|g| g.law.input == element::Input::Velocity);
        let rounds = if self.unknowns.len() > 20_000 {
            60
        } else {
            400
        };
        let mut step = f64::INFINITY;
        for round in 0..rounds {
            let pull = self.slope(&x, SCALE, 0.0);
            let mut drag = if damped {
                self.slope(&x, 0.0, SCALE)
            } else {
                vec![DVec3::ZERO; x.len()]
            };
            let held = self.damped(&x);
            let (mut mass, mut damping, mut own, mut stiffness) = (0.0, 0.0, 0.0, 0.0);
            let mut between = 0.0;
            for (i, u) in self.unknowns.iter().enumerate() {
                let (heavy, damped) = (u.heavy(x[i]), u.freed(x[i]).dot(held[i]));
                mass += heavy;
                own += damped;
                between += x[i].dot(drag[i]);
                stiffness += x[i].dot(pull[i]);
                if self.damps_explicitly(u.net) {
                    damping -= damped;
                    drag[i] += held[i];
                } else {
                    damping += damped;
                }
            }
            damping -= between;
            self.stiffest = Mode {
                mass,
                damping: own,
                drag: between,
                stiffness,
            };
            let next = critical_step(mass, damping, stiffness);
            if round > 30 && (next - step).abs() < 1e-7 * next {
                return next;
            }
            step = next;
            if !step.is_finite() {
                // Nothing resists this shape: look at the mode the forces point to instead.
                step = 1.0;
            }
            for (x, (pull, drag)) in x.iter_mut().zip(pull.iter().zip(&drag)) {
                *x = *pull * (step * step) + *drag * (2.0 * step);
            }
            self.yield_to(&mut x, step);
            let size = x.iter().map(|x| x.length_squared()).sum::<f64>().sqrt();
            if size == 0.0 || !size.is_finite() {
                return f64::INFINITY;
            }
            x.iter_mut().for_each(|x| *x /= size);
        }
        step
    }
}

fn has_dampers(net: &Net) -> bool {
    net.slopes()
        .any(|(_, input, _)| input == element::Input::Velocity)
}

/// A field without gravity, at no special time.
const NOWHERE: Field = Field {
    time: 0.0,
    gravity: DVec3::ZERO,
};

/// The greatest speeds in the second and in the last quarter of a trial.
#[derive(Default)]
struct Quarters {
    early: f64,
    late: f64,
}

impl Quarters {
    fn take(&mut self, speed: f64, step: usize, steps: usize) {
        match 4 * step / steps {
            1 => self.early = self.early.max(speed),
            3 => self.late = self.late.max(speed),
            _ => {}
        }
    }

    fn growth(&self) -> f64 {
        // What has come to rest to rounding does not grow.
        if self.late > 1e-5 * SMALL {
            self.late / self.early.max(1e-300)
        } else {
            0.0
        }
    }
}

/// How fast all nodes move together, against those of `other` if there are any.
fn speed(work: &[Nodes], other: Option<&[Nodes]>) -> f64 {
    let square = |list: &[DVec3], other: Option<&[DVec3]>| {
        let of = |i: usize| other.map_or(DVec3::ZERO, |o| o[i]);
        let list = list.iter().enumerate();
        list.map(|(i, v)| (*v - of(i)).length_squared())
            .sum::<f64>()
    };
    let shares = work.iter().enumerate().map(|(k, n)| {
        let other = other.map(|o| &o[k]);
        square(&n.velocity, other.map(|o| &o.velocity[..]))
            + 1e-4 * square(&n.spin, other.map(|o| &o.spin[..]))
    });
    shares.sum::<f64>().sqrt()
}

/// A vector that depends on `i` alone and has a share of every mode.
fn rough(i: usize) -> DVec3 {
    // Whatever has a pattern misses modes with another one; bits that are stirred well (SplitMix64) have none.
    let stirred = |k: u64| {
        let mut x = (3 * i as u64 + k + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((x ^ (x >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    DVec3::new(stirred(0), stirred(1), stirred(2))
}

/// Puts the nodes of a net where shifts and turns take them.
fn place(net: &Net, nodes: &mut Nodes, shift: &[DVec3], turn: &[DVec3]) {
    let rest = net.rest();
    for i in 0..rest.len() {
        nodes.position[i] = rest.position[i] + shift[i];
        if i < rest.frames() {
            nodes.orientation[i] = rotation::from_scaled_axis(turn[i]) * rest.orientation[i];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_of_one_oscillator_are_the_printed_and_the_exact_formula() {
        let (m, d, k) = (0.002, 0.2, 9.8);
        assert!((critical_step(m, d, k) - 0.0555).abs() < 5e-5);
        assert!((kuhn_step(m, d, k) - 0.0491).abs() < 5e-5);
        assert_eq!(critical_step(m, d, 0.0), f64::INFINITY);
        // A damper alone: |m − h c| ≤ m.
        assert!((critical_step(m, -0.5, 0.0) - 2.0 * m / 0.5).abs() < 1e-15);
    }
}

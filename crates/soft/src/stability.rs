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
use glam::DVec3;
use trocar_dynamics::{
    Field, Integrator, Matter, Nodes, Point, Stages, anchor::Support, integrator::Mode,
};
use trocar_math::rotation;

/// For how long a group is tried, s.
const TRIAL: f64 = 4.0;

/// Bounds on the substep of a group of coupled nets, s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepBounds {
    /// The exact bound for small motion about rest, from the stiffest mode and the integrators of the nets.
    pub exact: f64,
    /// A bound that holds in every configuration: linear springs of any direction; quadratic ones up to twice their
    /// rest length and at least a centimetre, quadratic memory up to a centimetre; fathers as they are at rest.
    pub safe: f64,
    /// The author's own estimate (3.96), a node at a time.
    pub kuhn: f64,
    /// True if the nets swing up by themselves at any step: their fathers are damped so much more than their children
    /// that they answer too late. No step is short enough then.
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

/// Stiffness at every node: sums over its elements of their greatest slopes, and its shape memory.
fn node_stiffness(net: &Net) -> Vec<f64> {
    let mut sum: Vec<f64> = (0..net.masses().len())
        .map(|i| match net.memory_base() {
            element::Base::Linear => net.memory(i),
            element::Base::Quadratic => 2.0 * net.memory(i) * element::LEAST_REACH,
        })
        .collect();
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

/// A bound for every configuration: a row of the stiffness matrix can't sum to more than twice the
/// springs at its node, nor one of the dampers to more than twice theirs (Gershgorin). `extra` is
/// stiffness that coupled nets add to a node, N/m.
pub fn safe_step(net: &Net, extra: &dyn Fn(usize) -> f64) -> f64 {
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
        let stiffness = 2.0 * (stiffness[i] + extra(i));
        let mass = masses.mass()[i];
        bound.min(if integrator == Integrator::Mesd {
            critical_step(mass, damping[i], stiffness)
        } else {
            integrator.critical_step(&Mode {
                mass,
                damping: masses.damping()[i],
                drag: masses.damping()[i] - damping[i],
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
    let stiffness: Vec<Vec<f64>> = nets.iter().map(|net| node_stiffness(net)).collect();
    let extra = |net: usize, node: usize| -> f64 {
        hypers
            .iter()
            .filter(|h| (h.master.0.index(), h.master.1 as usize) == (net, node))
            .map(|h| h.factor * stiffness[h.slave.0.index()][h.slave.1 as usize])
            .sum()
    };
    let joined = |net: usize, node: usize| -> f64 {
        let ends = globals.iter().flat_map(|g| g.ends.map(|end| (g, end)));
        ends.filter_map(|(g, end)| match end {
            End::On(anchor) if anchor.matter.index() == net => Some((g, Support::of(&anchor))),
            _ => None,
        })
        .flat_map(|(g, support)| {
            let ours = |p: &&(trocar_dynamics::MatterId, Point, f64)| p.1.node as usize == node;
            let weight: f64 = support.parts().iter().filter(ours).map(|p| p.2).sum();
            // Dampers are judged by the exact bound.
            let spring = g.law.input == element::Input::Distance;
            (spring && weight != 0.0).then(|| weight.abs() * g.slope())
        })
        .sum()
    };
    let extra = |net: usize, node: usize| extra(net, node) + joined(net, node);
    let (exact, flutters) = Probe::new(nets, hypers, globals).exact_step();
    let safe = nets
        .iter()
        .enumerate()
        .map(|(n, net)| safe_step(net, &|i| extra(n, i)))
        .fold(f64::INFINITY, f64::min);
    StepBounds {
        exact,
        // The rows of fathers, which carry others, are judged by the exact bound. A scheme that swings up a node left
        // alone swings up the net, too.
        safe: safe.min(0.9 * exact),
        kuhn: nets
            .iter()
            .map(|net| kuhn_bound(net))
            .fold(f64::INFINITY, f64::min),
        flutters: flutters || safe == 0.0,
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
    /// The bound of coupled nets at `time` s, s. `net` gives the net of each of `nodes`, none for other matter; `slot` says where a matter's
    /// share is.
    pub fn bound<'a>(
        &mut self,
        net: &impl Fn(usize) -> Option<&'a Net>,
        nodes: &mut [Nodes],
        hypers: &[Hyper],
        slot: &[u32],
        time: f64,
    ) -> f64 {
        let mut bound = f64::INFINITY;
        self.sums.resize_with(nodes.len(), Vec::new);
        self.drags.resize_with(nodes.len(), Vec::new);
        for (k, nodes) in nodes.iter_mut().enumerate() {
            if let Some(net) = net(k) {
                bound = bound.min(present_stiffness(net, nodes, time, &mut self.sums[k]));
                present_drag(net, nodes, &mut self.drags[k]);
            }
        }
        for h in hypers {
            let at = |(matter, node): (trocar_dynamics::MatterId, u32)| {
                (slot[matter.index()] as usize, node as usize)
            };
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
                    _ => critical_step(mass, damping - drag, 2.0 * stiffness),
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
    let mut bound = f64::INFINITY;
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
    /// What each unknown is: mass or moment of inertia, damping, and how far it may move.
    unknowns: Vec<Unknown>,
}

struct Unknown {
    net: usize,
    node: usize,
    turns: bool,
    mass: f64,
    damping: f64,
}

impl<'a> Probe<'a> {
    fn new(nets: &'a [&'a Net], hypers: &'a [Hyper], globals: &'a [Global]) -> Self {
        let mut unknowns = Vec::new();
        for (n, net) in nets.iter().enumerate() {
            let masses = net.masses();
            for i in 0..masses.len() {
                let slave = hypers
                    .iter()
                    .any(|h| (h.slave.0.index(), h.slave.1 as usize) == (n, i));
                if slave || masses.lock(i) == trocar_dynamics::Lock::Fixed {
                    continue;
                }
                unknowns.push(Unknown {
                    net: n,
                    node: i,
                    turns: false,
                    mass: masses.mass()[i],
                    damping: masses.damping()[i],
                });
                if let Some(rigid) = masses.rigid().get(i)
                    && let Some(inertia) = rigid.inertia
                {
                    unknowns.push(Unknown {
                        net: n,
                        node: i,
                        turns: true,
                        // The least moment about any axis is the strictest.
                        mass: inertia.min_element(),
                        damping: rigid.damping,
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

    /// The stiffest mode gives a bound; whether it is the right one is then tried. Fathers feel their
    /// children's memory but not what pulls at the children, so the matrix of a net with fathers is not
    /// symmetric, and a swinging mode may be the first to grow. Also says whether one grows at any step.
    fn exact_step(&mut self) -> (f64, bool) {
        let mode = self.critical_step();
        let schemes = self.nets.iter().map(|net| net.masses().integrator());
        if let Some(guess) = schemes
            .filter(|i| *i != Integrator::Mesd)
            .map(|i| i.critical_step(&self.stiffest))
            .reduce(f64::min)
        {
            return self.searched_step(guess.min(mode).min(1.0));
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
        let short = trial / 8.0;
        if !large && self.grows(short, (8 * steps(trial)).min(most)) {
            return (mode, true);
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
            // What the step causes goes away with it.
            let mut short = high;
            while low == 0.0 {
                short *= 0.5;
                if short < 1e-6 {
                    // It does so at any step.
                    return (short, true);
                }
                if self.grows(short, steps) {
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
    fn grows(&mut self, h: f64, steps: usize) -> bool {
        let field = Field {
            time: 0.0,
            gravity: DVec3::ZERO,
        };
        let slot: Vec<u32> = (0..self.nets.len() as u32).collect();
        let nets = self.nets;
        for (net, nodes) in nets.iter().zip(&mut self.work) {
            nodes.copy_from(net.rest());
        }
        // A net that was built under tension, or is driven, would move off; only what comes of the disturbance counts.
        let globals = self.globals;
        let sight = Sight {
            matter: |m: trocar_dynamics::MatterId| nets[m.index()] as &dyn Matter,
            slot: &slot,
        };
        for (net, nodes) in nets.iter().zip(&mut self.work) {
            net.force(nodes, &field);
        }
        globals
            .iter()
            .for_each(|g| g.apply(&sight, &mut self.work, 0.0));
        let still: Vec<(Vec<DVec3>, Vec<DVec3>)> = self
            .work
            .iter()
            .map(|nodes| (nodes.force.clone(), nodes.torque.clone()))
            .collect();
        for (i, u) in self.unknowns.iter().enumerate() {
            let nodes = &mut self.work[u.net];
            let list = if u.turns {
                &mut nodes.spin
            } else {
                &mut nodes.velocity
            };
            list[u.node] = rough(i) * 1e-9;
            // What has no mass forgets how it moved, so it is disturbed where it is.
            let without_mass = matches!(
                nets[u.net].masses().integrator(),
                Integrator::QuasiDynamic(_)
            );
            if without_mass && u.turns {
                let turn = rotation::from_scaled_axis(rough(i) * 1e-9);
                nodes.orientation[u.node] = turn * nodes.orientation[u.node];
            } else if without_mass {
                nodes.position[u.node] += rough(i) * 1e-9;
            }
        }
        // Drifting as a whole is no growth, so speeds are compared, not places; and their greatest
        // values in the second and the last quarter, because modes beat against each other.
        let (mut early, mut late) = (0.0_f64, 0.0_f64);
        for step in 0..steps {
            let hypers = self.hypers;
            self.stages.gather(
                &|k| Some(nets[k].masses()),
                &mut self.work,
                h,
                |work, _| {
                    for (net, nodes) in nets.iter().zip(work.iter_mut()) {
                        net.force(nodes, &field);
                    }
                    globals.iter().for_each(|g| g.apply(&sight, work, 0.0));
                    for (nodes, (force, torque)) in work.iter_mut().zip(&still) {
                        let forces = nodes.force.iter_mut().zip(force);
                        forces.for_each(|(f, s)| *f -= *s);
                        let torques = nodes.torque.iter_mut().zip(torque);
                        torques.for_each(|(t, s)| *t -= *s);
                    }
                    hypers.iter().for_each(|x| x.give_back(work, &slot));
                },
                |work| {
                    let masses = |m: trocar_dynamics::MatterId| nets[m.index()].masses();
                    hypers.iter().for_each(|x| x.copy(masses, work, &slot));
                },
            );
            for (net, nodes) in nets.iter().zip(&mut self.work) {
                net.plan(nodes, h);
                if !net.advance(nodes, h) {
                    return true;
                }
            }
            let masses = |m: trocar_dynamics::MatterId| nets[m.index()].masses();
            self.hypers
                .iter()
                .for_each(|x| x.copy(masses, &mut self.work, &slot));
            let speed = self.speed();
            if speed > 1e-3 {
                return true;
            }
            match 4 * step / steps {
                1 => early = early.max(speed),
                3 => late = late.max(speed),
                _ => {}
            }
        }
        // What has come to rest to rounding does not grow.
        late > 1.2 * early && late > 1e-13
    }

    fn speed(&self) -> f64 {
        let square = |list: &[DVec3]| list.iter().map(|v| v.length_squared()).sum::<f64>();
        let sum: f64 = self
            .work
            .iter()
            .map(|n| square(&n.velocity) + 1e-4 * square(&n.spin))
            .sum();
        sum.sqrt()
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
        let field = Field {
            time: 0.0,
            gravity: DVec3::ZERO,
        };
        let nets = self.nets;
        for (net, nodes) in nets.iter().zip(&mut self.work) {
            net.force(nodes, &field);
        }
        let slot: Vec<u32> = (0..nets.len() as u32).collect();
        let sight = Sight {
            matter: |m: trocar_dynamics::MatterId| nets[m.index()] as &dyn Matter,
            slot: &slot,
        };
        for g in self.globals {
            g.apply(&sight, &mut self.work, 0.0);
        }
        for h in self.hypers {
            h.give_back(&mut self.work, &slot);
        }
        self.unknowns
            .iter()
            .map(|u| {
                let nodes = &self.work[u.net];
                if u.turns {
                    nodes.torque[u.node]
                } else {
                    nodes.force[u.node]
                }
            })
            .collect()
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

    /// Finds the stiffest mode by power iteration: each round applies (4M + 2hD)⁻¹ (h² K + 2h C) and takes
    /// the step at which the present shape would be on the edge of stability.
    fn critical_step(&mut self) -> f64 {
        if self.unknowns.is_empty() {
            return f64::INFINITY;
        }
        // Small against any cell, large against rounding.
        const SCALE: f64 = 1e-7;
        // Any start will do that is not orthogonal to the stiffest mode; this one is rough.
        let mut x: Vec<DVec3> = (0..self.unknowns.len()).map(rough).collect();
        let damped = self.nets.iter().any(|net| {
            net.elements()
                .any(|e| e.law.input == element::Input::Velocity)
        }) || self
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
            let drag = if damped {
                self.slope(&x, 0.0, SCALE)
            } else {
                vec![DVec3::ZERO; x.len()]
            };
            let (mut mass, mut damping, mut own, mut stiffness) = (0.0, 0.0, 0.0, 0.0);
            for (i, u) in self.unknowns.iter().enumerate() {
                mass += u.mass * x[i].length_squared();
                own += u.damping * x[i].length_squared();
                damping += u.damping * x[i].length_squared() - x[i].dot(drag[i]);
                stiffness += x[i].dot(pull[i]);
            }
            self.stiffest = Mode {
                mass,
                damping: own,
                drag: own - damping,
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
            for (i, u) in self.unknowns.iter().enumerate() {
                let pushed = pull[i] * (step * step) + drag[i] * (2.0 * step);
                x[i] = pushed / (4.0 * u.mass + 2.0 * step * u.damping);
            }
            let size = x.iter().map(|x| x.length_squared()).sum::<f64>().sqrt();
            if size == 0.0 || !size.is_finite() {
                return f64::INFINITY;
            }
            x.iter_mut().for_each(|x| *x /= size);
        }
        step
    }
}

/// A vector that depends on `i` alone and has a share of every mode.
fn rough(i: usize) -> DVec3 {
    let s = if i.is_multiple_of(2) { 1.0 } else { -1.0 };
    DVec3::new(
        s,
        0.3 - s * ((i * 7) % 11) as f64 / 11.0,
        ((i * 5) % 13) as f64 / 13.0 - 0.5,
    )
}

/// Puts a net where its own shifts and turns, passed on from father to child, take it.
fn place(net: &Net, nodes: &mut Nodes, shift: &[DVec3], turn: &[DVec3]) {
    let rest = net.rest();
    let masses = net.masses();
    for i in 0..masses.len() {
        let own = rest.position[i] + shift[i];
        let father = masses.father(i);
        nodes.position[i] = match father {
            _ if masses.lock(i) == trocar_dynamics::Lock::Fixed => rest.position[i],
            None => own,
            Some(f) => {
                let turned = nodes.orientation[f] * rest.orientation[f].conjugate();
                nodes.position[f] + turned * (own - rest.position[f])
            }
        };
        if i < rest.frames() {
            let own = rotation::from_scaled_axis(turn[i]) * rest.orientation[i];
            nodes.orientation[i] = match father {
                None => own,
                Some(f) => nodes.orientation[f] * rest.orientation[f].conjugate() * own,
            };
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

//! How long a substep may be as things are now.

use super::{critical_step, rows::pass_on_to_fathers};
use crate::{
    Global, Hyper, Net, element,
    global::{End, Sight},
};
use trocar_dynamics::{Integrator, Matter, MatterId, Nodes, anchor::Support};

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
    sums.extend((0..nodes.len()).map(|i| match net.memory_base(i) {
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
        let (stretch, law, bias) = net.stiffest(nodes, i, time);
        let tension = |more: f64| law.tension(stretch + more) + bias;
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
    for (twist, _) in net.twists() {
        let [a, b] = twist.along.map(|n| n as usize);
        let square = nodes.position[a].distance_squared(nodes.position[b]);
        let stiffness = element::TWIST_MEMBERS * twist.constant / square.max(1e-12);
        sums[a] += stiffness;
        sums[b] += stiffness;
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
        let twists = net.twists().iter().filter(|(t, _)| t.frame as usize == z);
        let twisted: f64 = twists.map(|(t, _)| t.constant).sum();
        let turned = turned + element::TWIST_MEMBERS * twisted;
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

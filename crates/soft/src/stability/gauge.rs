//! How long a substep may be as things are now.

use super::critical_step;
use crate::{
    Global, Hyper, Net, element,
    global::{Present, Sight},
    net::Least,
};
use trocar_dynamics::{
    Bodies, Crew, Integrator, Lock, Masses, Matter, MatterId, Nodes, Point, anchor::Support,
};
use trocar_math::rotation;

/// How far a spring may be from where its stiffness was looked at, as a part of its length, and how far its ends may move against
/// each other in a substep.
const NEAR: f64 = 0.1;

/// Finds how long a substep may be as things are now (KB9): from the slopes of the springs at their present lengths, a tenth of
/// them to either side, and, where slopes depend on lengths, from how fast their ends move against each other. It depends on the state alone.
#[derive(Debug, Default)]
pub struct Gauge {
    /// Stiffness (N/m) and damping between nodes (N·s/m) at every node of every net. Of bodies and membranes, as far as elements lead to them, both
    /// over what moves there: 1/s² and 1/s.
    sums: Vec<Vec<[f64; 2]>>,
    /// What turns each frame of every net back, N·m/rad, and damps its turning, N·m·s/rad.
    turns: Vec<Vec<[f64; 2]>>,
    lasting: f64,
}

/// Where stiffness and damping stand in a sum.
const STIFFNESS: usize = 0;
const DRAG: usize = 1;

/// So much shorter than their bound is what bodies are given, and what is not even: on it a mode neither grows nor dies.
const SHORTER: f64 = 0.9;

/// Nodes that a thread takes at once.
const SPAN: usize = 4096;

impl Gauge {
    /// The bound of coupled nets at `time` s, s. `net` gives the net of each of `nodes`, none for other matter; `sight` says where a matter's
    /// share is. Elements between different things count at all their ends, at their lengths now. A crew may help.
    pub fn bound<'a, 'b, F: Fn(MatterId) -> &'b dyn Matter>(
        &mut self,
        net: &impl Fn(usize) -> Option<&'a Net>,
        nodes: &mut [Nodes],
        (hypers, globals): (&[Hyper], &[Global]),
        sight: &Sight<'b, F>,
        (time, crew): (f64, Option<&Crew>),
    ) -> f64 {
        let slot = sight.slot;
        let (least, lasting) = (Least::default(), Least::default());
        self.sums.resize_with(nodes.len(), Vec::new);
        self.turns.resize_with(nodes.len(), Vec::new);
        for (k, nodes) in nodes.iter_mut().enumerate() {
            let (sums, turns) = (&mut self.sums[k], &mut self.turns[k]);
            sums.clear();
            if let Some(net) = net(k) {
                net.masses().carry_velocities(nodes, crew);
                remember(net, nodes, sums);
                turn_back(net, nodes, sums, turns);
                pass_on_to_fathers(net, sums);
                net.present_slopes(nodes, time, NEAR, (sums, &lasting), crew);
                extended_slopes(net, nodes, sums);
            }
        }
        for g in globals {
            let now = g.present(sight, nodes, time, NEAR);
            lasting.take(now.step);
            let kind = if g.damps() { DRAG } else { STIFFNESS };
            let share = share_of(g);
            for anchor in g.anchors() {
                for (matter, at, weight) in Support::of(anchor).parts() {
                    let place = slot[matter.index()] as usize;
                    let sums = &mut self.sums[place];
                    if net(place).is_none() {
                        let matter = (sight.matter)(*matter);
                        if matter.is_prescribed() {
                            continue;
                        }
                        begin_rates(matter, sums);
                        if let Some(sum) = sums.get_mut(at.node as usize) {
                            sum[kind] += 2.0 * weight * weight * rate(matter.masses(), at, &now);
                        }
                    } else if let Some(sum) = sums.get_mut(at.node as usize) {
                        sum[kind] += share * weight.abs() * now.slope;
                        if let Some(turn) = self.turns[place].get_mut(at.node as usize) {
                            turn[kind] += share * weight.abs() * turning(at, &now);
                        }
                    }
                }
            }
        }
        for h in hypers {
            let at =
                |(matter, node): (MatterId, u32)| (slot[matter.index()] as usize, node as usize);
            let ((a, i), (b, j)) = (at(h.master), at(h.slave));
            let more = self.sums[b]
                .get(j)
                .map_or([0.0; 2], |s| s.map(|s| h.factor * s));
            if let Some(sum) = self.sums[a].get_mut(i) {
                *sum = [sum[0] + more[0], sum[1] + more[1]];
            }
        }
        for (k, sums) in self.sums.iter_mut().enumerate() {
            let Some(masses) = net(k).map(|n| n.masses()) else {
                let rates = sums
                    .iter()
                    .map(|r| critical_step(1.0, -r[DRAG], r[STIFFNESS]));
                least.take(SHORTER * rates.fold(f64::INFINITY, f64::min));
                continue;
            };
            least.take(turning_step(masses, &self.turns[k]));
            Crew::spread(crew, sums, SPAN, |first, sums| {
                let steps = (first..)
                    .zip(sums)
                    .map(|(i, sum)| node_step(masses, i, *sum));
                least.take(steps.fold(f64::INFINITY, f64::min));
            });
        }
        self.lasting = lasting.get();
        least.get().min(self.lasting)
    }

    /// How long it takes the ends of some spring whose stiffness depends on its length to move as far as was looked at, at the speed they had when last asked, s. No substep is longer; when half of it
    /// has passed one should look again.
    pub fn lasting(&self) -> f64 {
        self.lasting
    }
}

/// The part of its slope that an element counts with at a node of a net, where all is doubled for what moves against each other. A point fixed in space does not move: an
/// element to one counts half, as in the rows of the fixed bound, if no arm makes it turn and shift its other end at once. What draws evenly is in the bound for rest as it
/// is here, and a part of that is left out anyway; of what stiffens and turns it is left out here.
fn share_of(global: &Global) -> f64 {
    match global.is_lone() && !global.has_arm() {
        true if global.is_even() && global.turning() == 0.0 => 0.5,
        true => 0.5 / (SHORTER * SHORTER),
        false => 1.0,
    }
}

/// The step that a node allows with so much stiffness (N/m) and damping (N·s/m) around it, s. What nothing moves may be as light as it likes.
fn node_step(masses: &Masses, i: usize, [stiffness, drag]: [f64; 2]) -> f64 {
    if masses.lock(i) == Lock::Fixed {
        return f64::INFINITY;
    }
    let (mass, damping, drag) = (masses.mass()[i], masses.damping()[i], 2.0 * drag);
    match masses.integrator() {
        Integrator::QuasiDynamic(factor) => damping / (factor * stiffness),
        // The stage of a classical scheme is as strict as its Euler step.
        Integrator::Euler | Integrator::RungeKutta | Integrator::Heun => {
            critical_step(mass, -damping - drag, 2.0 * stiffness)
        }
        Integrator::Midpoint => damping / stiffness,
        // Damping against a father that moves along is none.
        _ => critical_step(mass, masses.resistance()[i] - drag, 2.0 * stiffness),
    }
}

/// What turns back the frame that a point belongs to, N·m/rad, or of a damper brakes its turning, N·m·s/rad.
fn turning(at: &Point, now: &Present) -> f64 {
    let arm = at.offset.length();
    now.slope * arm * arm + now.pull * arm + now.turn
}

/// How fast an element makes what a point belongs to swing, 1/s², or of a damper brake, 1/s. It turns a body by its arm, and by its pull as well: at the end
/// of an arm of r m a pull of F N holds like a pendulum's weight, with F r N·m/rad. What is locked stays where it is, but may turn there.
fn rate(masses: &Masses, at: &Point, now: &Present) -> f64 {
    let i = at.node as usize;
    let inertia = masses.rigid().get(i).and_then(|r| r.inertia);
    let turn = inertia.map_or(0.0, |j| turning(at, now) / j.min_element());
    match masses.lock(i) {
        Lock::Fixed => turn,
        _ => now.slope / masses.mass()[i] + turn,
    }
}

/// Begins the rates of matter that is no net, if they have not begun: with what holds bodies at their places, and what membranes have of their own.
fn begin_rates(matter: &dyn Matter, rates: &mut Vec<[f64; 2]>) {
    let masses = matter.masses();
    if rates.len() == masses.len() {
        return;
    }
    let own = matter.stable_step();
    rates.resize(masses.len(), [4.0 / (own * own), 0.0]);
    let any: &dyn std::any::Any = matter;
    for hold in any.downcast_ref::<Bodies>().map_or(&[][..], Bodies::holds) {
        let i = hold.body as usize;
        let inertia = masses.rigid().get(i).and_then(|r| r.inertia);
        rates[i][STIFFNESS] += hold.stiffness / masses.mass()[i]
            + inertia.map_or(0.0, |j| hold.torsion / j.min_element());
    }
}

/// Begins with what the shape memory of every node has, and no damping.
fn remember(net: &Net, nodes: &Nodes, sums: &mut Vec<[f64; 2]>) {
    sums.extend((0..nodes.len()).map(|i| {
        let stiffness = match net.memory_base(i) {
            element::Base::Linear => net.memory(i),
            element::Base::Quadratic => {
                let apart = nodes.position[i].distance(net.base_position(nodes, i));
                2.0 * net.memory(i) * (apart + 1e-3)
            }
        };
        [stiffness, 0.0]
    }));
}

/// Lets fathers feel the shape memory of their children, who come after them.
fn pass_on_to_fathers(net: &Net, sums: &mut [[f64; 2]]) {
    for i in 0..sums.len() {
        if let Some(f) = net.father(i) {
            sums[f][STIFFNESS] += sums[i][STIFFNESS];
        }
    }
}

/// Adds what bends and turns.
fn extended_slopes(net: &Net, nodes: &Nodes, sums: &mut [[f64; 2]]) {
    for (bend, rest) in net.bends_at_rest() {
        let [i, k, j] = bend.nodes.map(|n| nodes.position[n as usize]);
        let spacing = k.distance(i).min(k.distance(j)).max(rest.shortest());
        let stiffness = element::bending_stiffness(bend.constant, spacing);
        for n in bend.nodes {
            sums[n as usize][STIFFNESS] += stiffness;
        }
    }
    for (twist, axis) in net.twists() {
        let ends = twist.along.map(|n| n as usize);
        let main = nodes.position[ends[1]] - nodes.position[ends[0]];
        let (length, rest) = (main.length(), axis.length());
        let apart = rotation::angle(nodes.orientation[twist.frame as usize] * *axis, main);
        let now = element::twist_stiffness_now(twist.constant, length, rest, apart);
        let stiffness = element::TWIST_MEMBERS * now;
        for end in ends {
            sums[end][STIFFNESS] += stiffness;
        }
    }
}

/// Begins with what turns the frames of a net back: the shape memory of their children, which is all that `sums` hold, and torsion.
fn turn_back(net: &Net, nodes: &Nodes, sums: &[[f64; 2]], turns: &mut Vec<[f64; 2]>) {
    turns.clear();
    turns.resize(net.masses().rigid().len(), [0.0; 2]);
    for (i, sum) in sums.iter().enumerate() {
        if let Some(z) = net.father(i) {
            turns[z][STIFFNESS] +=
                sum[STIFFNESS] * nodes.position[i].distance_squared(nodes.position[z]);
        }
    }
    for torsion in net.torsions() {
        let z = torsion.frame as usize;
        turns[z][STIFFNESS] += torsion.constant;
        if let Some(f) = net.father(z) {
            turns[f][STIFFNESS] += torsion.constant;
        }
    }
    for (twist, _) in net.twists() {
        turns[twist.frame as usize][STIFFNESS] += element::TWIST_MEMBERS * twist.constant;
    }
}

/// The step in which no frame turns too far, s. What is locked turns all the same, where it is.
fn turning_step(masses: &Masses, turns: &[[f64; 2]]) -> f64 {
    let frames = masses.rigid().iter().zip(turns);
    let steps = frames.filter_map(|(rigid, [stiffness, drag])| {
        let least = rigid.inertia?.min_element();
        let damping = rigid.damping - 2.0 * drag;
        Some(critical_step(least, damping, 2.0 * stiffness))
    });
    steps.fold(f64::INFINITY, f64::min)
}

//! Bounds from single rows of the matrices: they hold in every configuration.

use super::critical_step;
use crate::{
    Global, Hyper, Net,
    element::{self, Bent},
    net::{Bend, Twist},
};
use glam::DVec3;
use trocar_dynamics::{Integrator, Lock, Matter, anchor::Support, integrator::Mode};

/// Stiffness of a node's shape memory, N/m; a quadratic one within the reach that nodes are sure to have.
fn memory_stiffness(net: &Net, i: usize) -> f64 {
    match net.memory_base(i) {
        element::Base::Linear => net.memory(i),
        element::Base::Quadratic => 2.0 * net.memory(i) * element::LEAST_REACH,
    }
}

/// Greatest stiffness of a bending element, N/m: with its arms as short as they count.
fn bend_stiffness(bend: &Bend, rest: &Bent) -> f64 {
    element::bending_stiffness(bend.constant, rest.shortest())
}

/// Greatest stiffness of a torsion element about the main axis for the nodes along which it leads, N/m; `axis` is the main axis at rest, m.
fn twist_stiffness(twist: &Twist, axis: DVec3) -> f64 {
    element::TWIST_MEMBERS * element::twist_stiffness(twist.constant, axis.length())
}

/// Stiffness at every node: sums over its elements of their greatest slopes, its shape memory and that of its children.
pub(super) fn node_stiffness(net: &Net) -> Vec<f64> {
    let mut sum: Vec<f64> = (0..net.masses().len())
        .map(|i| memory_stiffness(net, i))
        .collect();
    pass_on_to_fathers(net, &mut sum);
    for (ends, input, stiffness) in net.slopes() {
        if input == element::Input::Distance {
            ends.iter().for_each(|n| sum[*n as usize] += stiffness);
        }
    }
    for (bend, rest) in net.bends_at_rest() {
        let stiffness = bend_stiffness(bend, rest);
        bend.nodes
            .iter()
            .for_each(|n| sum[*n as usize] += stiffness);
    }
    for (twist, axis) in net.twists() {
        let [a, b] = twist.along.map(|n| n as usize);
        let stiffness = twist_stiffness(twist, *axis);
        sum[a] += stiffness;
        sum[b] += stiffness;
    }
    sum
}

/// What of a net asks for the shortest substeps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stiffest {
    /// A connection element, by its number, and the nodes it joins.
    Element(usize, [u32; 2]),
    /// The shape memory of a node.
    Memory(u32),
    /// A bending element, by its number, and the node in its middle.
    Bend(usize, u32),
    /// A torsion element, by its number, and its frame.
    Torsion(usize, u32),
    /// One about the main axis, by its number, and its frame.
    Twist(usize, u32),
}

/// What is stiffest for the lighter of its ends, and its rate, 1/s²; none if nothing is stiff. Of dampers the square of their rate counts. What nothing
/// can move does not count, however light it is.
pub fn stiffest(net: &Net) -> Option<(Stiffest, f64)> {
    let masses = net.masses();
    let lightest = |nodes: &[u32]| {
        let free = nodes.iter().map(|n| *n as usize);
        let free = free.filter(|n| masses.lock(*n) != Lock::Fixed);
        let mass = free.map(|n| masses.mass()[n]);
        mass.fold(f64::INFINITY, f64::min)
    };
    let elements = net.slopes().enumerate().map(|(i, (ends, input, slope))| {
        let rate = slope / lightest(&ends);
        let rate = match input {
            element::Input::Distance => rate,
            element::Input::Velocity => rate * rate,
        };
        (Stiffest::Element(i, ends), rate)
    });
    let memories = (0..masses.len()).map(|i| {
        let node = i as u32;
        let rate = memory_stiffness(net, i) / lightest(&[node]);
        (Stiffest::Memory(node), rate)
    });
    let bends = net.bends_at_rest().enumerate().map(|(i, (bend, rest))| {
        let rate = bend_stiffness(bend, rest) / lightest(&bend.nodes);
        (Stiffest::Bend(i, bend.nodes[1]), rate)
    });
    // A frame turns by its least moment of inertia; without one, nothing swings.
    let turning = |frame: u32, constant: f64| {
        let rigid = masses.rigid().get(frame as usize);
        let moments = rigid.and_then(|rigid| rigid.inertia);
        moments.map_or(0.0, |j| constant / j.min_element())
    };
    let torsions = net.torsions().iter().enumerate().map(|(i, torsion)| {
        let rate = turning(torsion.frame, torsion.constant);
        (Stiffest::Torsion(i, torsion.frame), rate)
    });
    let twists = net.twists().iter().enumerate().map(|(i, (twist, axis))| {
        let along = twist_stiffness(twist, *axis) / lightest(&twist.along);
        let rate = along.max(turning(twist.frame, twist.constant));
        (Stiffest::Twist(i, twist.frame), rate)
    });
    let all = elements.chain(memories).chain(bends).chain(torsions);
    let all = all.chain(twists).filter(|x| x.1 > 0.0);
    all.max_by(|a, b| a.1.total_cmp(&b.1))
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
    // What nothing moves may be as light as it likes.
    let moved = (0..masses.len()).filter(|i| masses.lock(*i) != Lock::Fixed);
    moved.fold(f64::INFINITY, |bound, i| {
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

/// For every node of every net what copies of it and elements to other things add.
pub(super) fn added(nets: &[&Net], hypers: &[Hyper], globals: &[Global]) -> Vec<Vec<Added>> {
    let mut added: Vec<Vec<Added>> = nets
        .iter()
        .map(|net| vec![Added::default(); net.masses().len()])
        .collect();
    for g in globals {
        // Rows count what moves against each other twice; a point fixed in space does not move.
        let slope = if g.is_lone() { 0.5 } else { 1.0 } * g.slope();
        for anchor in g.anchors() {
            for (matter, at, weight) in Support::of(anchor).parts() {
                let node = added
                    .get_mut(matter.index())
                    .and_then(|net| net.get_mut(at.node as usize));
                let Some(node) = node else { continue };
                match g.damps() {
                    false => node.stiffness += weight.abs() * slope,
                    true => node.drag += weight.abs() * slope,
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

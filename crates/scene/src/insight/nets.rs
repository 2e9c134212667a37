//! Nodes and elements of nets, and what holds bodies, as they are shown.

use super::{ElementInsight, Insight, NodeState};
use crate::Simulation;
use trocar_dynamics::{Bodies, Lock, Matter, Nodes};
use trocar_soft::{Element, Net, NodeFlags, element};

pub(super) fn state(net: &Net, nodes: &Nodes, i: usize, flags: NodeFlags) -> NodeState {
    match net.masses().lock(i) {
        _ if flags.has(NodeFlags::FORCE_INPUT) => NodeState::Pulled,
        Lock::Fixed => NodeState::Fixed,
        _ if flags.has(NodeFlags::GRASPED) => NodeState::Grasped,
        _ if flags.has(NodeFlags::COAGULATED) => NodeState::Coagulated,
        _ if flags.has(NodeFlags::DIVIDED) => NodeState::Cut,
        _ if flags.has(NodeFlags::CUT) => NodeState::Cut,
        _ if flags.has(NodeFlags::CLIPPED) => NodeState::Clipped,
        _ if flags.has(NodeFlags::CUT_MARK) => NodeState::Marked,
        _ if flags.has(NodeFlags::SLAVE) => NodeState::Hyper,
        _ if flags.has(NodeFlags::GLOBAL_ELEMENT) => NodeState::Joined,
        _ if flags.has(NodeFlags::GLOBAL_DYNAMIC) => NodeState::Joined,
        _ if flags.has(NodeFlags::MASTER) => NodeState::Leader,
        _ if flags.has(NodeFlags::NOT_INTERACTIVE) => NodeState::Passive,
        Lock::Axes(..) => NodeState::Locked,
        Lock::Free if i < nodes.frames() => NodeState::Centre,
        Lock::Free if flags.has(NodeFlags::FREE) => NodeState::Inner,
        Lock::Free => NodeState::Free,
    }
}

pub(super) fn element(
    net: &Net,
    nodes: &Nodes,
    i: usize,
    e: &Element,
    time: f64,
) -> ElementInsight {
    let [a, b] = e.nodes.map(|n| nodes.position[n as usize]);
    let force = match e.law.input {
        element::Input::Distance => net.tension(nodes, i, time),
        // A damper acts along the relative velocity; what it draws along the line is seen.
        element::Input::Velocity => {
            let [v, w] = e
                .nodes
                .map(|n| net.masses().node_velocity(nodes, n as usize));
            element::damper_force(v - w, &e.law).dot((b - a).normalize_or_zero())
        }
    };
    ElementInsight { a, b, force }
}

/// The bending elements of a net, each as two lines from its middle to its neighbours. Their force is what each neighbour takes, N: positive pushes
/// the middle away from the line between them.
pub(super) fn see_bends(net: &Net, nodes: &Nodes, out: &mut Insight) {
    for (bend, rest) in net.bends_at_rest() {
        let [i, k, j] = bend.nodes.map(|n| nodes.position[n as usize]);
        let [one, other] = element::bending_shares(k - i, k - j, bend.constant, rest);
        for (a, b, force) in [(i, k, one), (k, j, other)] {
            out.elements.push(ElementInsight { a, b, force });
        }
    }
}

impl Simulation {
    /// The springs that hold bodies at their places (K55).
    pub(super) fn see_holds(&self, out: &mut Insight) {
        let Some(matter) = self.model.bodies else {
            return;
        };
        let nodes = &self.state.nodes[matter.index()];
        for hold in self.model.bodies_of(matter).map_or(&[][..], Bodies::holds) {
            let (a, b) = (hold.place.position, nodes.position[hold.body as usize]);
            let force = hold.stiffness * a.distance(b);
            out.elements.push(ElementInsight { a, b, force });
        }
    }
}

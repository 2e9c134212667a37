//! The state of a simulation: plain data that can be copied, stored and hashed.

use crate::{
    masses::{Sums, Twist},
    rigid::Motion,
};
use glam::{DQuat, DVec3};
use serde::{Deserialize, Serialize};
use trocar_math::f64x4;

/// Everything that moves, at one time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Simulated time, s.
    pub time: f64,
    /// One share for each piece of matter, indexed by [`MatterId`](crate::MatterId).
    pub nodes: Vec<Nodes>,
}

/// One matter's share of the state, a structure of arrays (K78: what dynamics alone needs is apart from what is drawn and touched).
///
/// The first `orientation.len()` nodes have an orientation: they are rigid bodies (K21: Z-nodes),
/// called *frames*. The nodes after them are points. A share of its own for each matter lets it
/// grow when torn and be advanced on its own thread without moving anybody else's data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Nodes {
    /// Position in the world, m.
    pub position: Vec<DVec3>,
    /// Velocity, m/s, before a lock lets a part of it through ([`Masses::node_velocity`](crate::Masses::node_velocity)).
    pub velocity: Vec<DVec3>,
    /// Orientation of each frame.
    pub orientation: Vec<DQuat>,
    /// Angular velocity of each frame, rad/s, along the world's axes.
    pub spin: Vec<DVec3>,
    /// What elements that yield remember: how far each has flown, m. Empty if none does.
    pub flow: Vec<f64>,
    /// Up to which stretch (below 0: to which pressure) each of them does not yield since they were made to forget that, m, and 0 if it is as
    /// usual again; empty if nobody made them.
    pub spared: Vec<f64>,
    /// Forces gathered in this substep, N. Written by `force`, read by `aim` and `advance`.
    #[serde(skip)]
    pub force: Vec<DVec3>,
    /// Torques gathered in this substep on each frame, N·m.
    #[serde(skip)]
    pub torque: Vec<DVec3>,
    /// Velocity of each node, what its lock leaves of it, m/s; for elements that need it.
    #[serde(skip)]
    pub carried: Vec<DVec3>,
    /// What families of nodes hand their fathers, force (N) and moment (N·m); whoever needs it sizes it.
    #[serde(skip)]
    pub pulls: Vec<[DVec3; 2]>,
    /// Forces in lanes of their own, for matter that gathers them in several places; whoever needs it sizes it.
    #[serde(skip)]
    pub lanes: Vec<f64x4>,
    /// How fathers and children are damped against each other; [`Masses::brake`](crate::Masses::brake) sizes it.
    #[serde(skip)]
    pub twists: Vec<Twist>,
    /// What the points of each family hand their father of that; sized likewise.
    #[serde(skip)]
    pub sums: Vec<Sums>,
    /// Nodes that touch something in this substep, or that an element pulls at. They drift by their new velocity, so that what
    /// rests on something is at rest when the substep ends, and what hangs on a spring gains no energy.
    #[serde(skip)]
    pub touching: Vec<bool>,
    /// Force and torque at the start of the substep, for integrators that move by it as well as by the sum of their stages;
    /// empty for all others.
    #[serde(skip)]
    pub first: (Vec<DVec3>, Vec<DVec3>),
    /// Where each frame will be at the end of the substep, as planned after `force` and kept
    /// up to date by every push.
    #[serde(skip)]
    pub ahead: Vec<Motion>,
}

impl Nodes {
    /// Nodes at rest (K70): `frames` first, then `points`.
    pub fn at_rest(frames: &[(DVec3, DQuat)], points: &[DVec3]) -> Self {
        let mut nodes = Self {
            position: frames
                .iter()
                .map(|f| f.0)
                .chain(points.iter().copied())
                .collect(),
            velocity: vec![DVec3::ZERO; frames.len() + points.len()],
            orientation: frames.iter().map(|f| f.1).collect(),
            spin: vec![DVec3::ZERO; frames.len()],
            ..Self::default()
        };
        nodes.make_ready();
        nodes
    }

    /// Room for so many more points, so that growing by them moves nothing.
    pub fn reserve(&mut self, more: usize) {
        for list in [
            &mut self.position,
            &mut self.velocity,
            &mut self.force,
            &mut self.carried,
        ] {
            list.reserve_exact(more);
        }
        self.touching.reserve_exact(more);
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// True if there is no node.
    pub fn is_empty(&self) -> bool {
        self.position.is_empty()
    }

    /// Number of nodes that have an orientation.
    pub fn frames(&self) -> usize {
        self.orientation.len()
    }

    /// Sizes what is not stored; needed after a share was read from a snapshot.
    pub fn make_ready(&mut self) {
        self.force.resize(self.position.len(), DVec3::ZERO);
        self.carried.resize(self.position.len(), DVec3::ZERO);
        self.torque.resize(self.orientation.len(), DVec3::ZERO);
        self.touching.resize(self.position.len(), false);
        self.ahead.resize(self.orientation.len(), Motion::default());
    }

    /// True if the stored arrays fit together; a snapshot that fails this is refused.
    pub fn is_consistent(&self) -> bool {
        self.velocity.len() == self.position.len()
            && self.spin.len() == self.orientation.len()
            && self.orientation.len() <= self.position.len()
    }

    /// Copies the stored arrays of `other`, which has the same sizes, without allocating.
    pub fn copy_from(&mut self, other: &Self) {
        self.position.clone_from(&other.position);
        self.velocity.clone_from(&other.velocity);
        self.orientation.clone_from(&other.orientation);
        self.spin.clone_from(&other.spin);
        self.flow.clone_from(&other.flow);
        self.spared.clone_from(&other.spared);
        self.make_ready();
    }
}

//! Rigid bodies and free particles.

use crate::{Field, MassNode, Masses, Matter, Nodes, Turning, masses::BadNode};
use glam::DVec3;

/// A set of rigid bodies (frames) and free particles (points) that only gravity and what they
/// are tied to or touched by can move.
#[derive(Clone, Debug)]
pub struct Bodies {
    masses: Masses,
}

impl Bodies {
    /// Bodies first, then particles.
    pub fn new(nodes: &[MassNode], turning: Turning) -> Result<Self, BadNode> {
        let mut masses = Masses::new(nodes)?.drifting_exactly();
        masses.set_turning(turning);
        Ok(Self { masses })
    }
}

impl Matter for Bodies {
    fn masses(&self) -> &Masses {
        &self.masses
    }

    fn force(&self, nodes: &mut Nodes, field: &Field) {
        for (force, mass) in nodes.force.iter_mut().zip(self.masses.mass()) {
            *force = field.gravity * *mass;
        }
        nodes.torque.fill(DVec3::ZERO);
    }
}

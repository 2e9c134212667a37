//! Matter whose numbers went bad.

use super::{Group, Stage};
use crate::works::Work;
use glam::DVec3;
use trocar_dynamics::{Anchor, Masses, MatterId, Nodes, Point, anchor::Support, joint::Memory};
use trocar_soft::{Global, global::Flow};

/// Matter that went bad this often is frozen.
pub(super) const PATIENCE: u32 = 3;

impl Group {
    /// Puts a member whose numbers went bad back to rest.
    pub(super) fn quarantine(&mut self, stage: &Stage<'_>, k: usize) {
        let m = self.members[k];
        let nodes = &mut self.nodes[stage.slot[m.index()] as usize];
        if Some(m) == stage.model.bodies {
            // Bodies do not hang together as a net does: only those that went bad are put back.
            let start = &stage.model.start[m.index()];
            for i in 0..nodes.len() {
                if !is_sound(nodes, i) {
                    put_back(nodes, start, i);
                    build_anew(&mut self.globals, m, Some(i));
                    if let Some(collisions) = &mut self.collisions {
                        // What leant on it leans on nothing now.
                        collisions.wake_around(stage.model, i);
                    }
                }
            }
        } else {
            nodes.copy_from(&stage.model.start[m.index()]);
            freeze(nodes);
            build_anew(&mut self.globals, m, None);
            self.bad[k] += 1;
        }
        if let Some(collisions) = &mut self.collisions {
            collisions.warm.clear();
            for contact in &mut collisions.list {
                (contact.impulse, contact.relief) = (DVec3::ZERO, DVec3::ZERO);
            }
        }
        if let Some(folding) = &mut self.folding {
            folding.forget();
        }
        if !self.fallen.contains(&m) {
            self.fallen.push(m);
        }
        // What threw it must not throw it again.
        for tie in &mut self.ties {
            if tie.a.matter == m || tie.b.matter == m {
                tie.impulse = DVec3::ZERO;
            }
        }
        for joint in &mut self.joints {
            if joint.anchors().flatten().any(|a| a.matter == m) {
                joint.memory = Memory::default();
            }
        }
        self.warm.retain(|w| w.key.0 != m);
        let works = self.works.iter_mut().filter(|w| w.matter == m);
        works.for_each(Work::forget);
    }

    /// True if a member has been frozen.
    pub fn is_frozen(&self, matter: MatterId) -> bool {
        self.members
            .iter()
            .zip(&self.bad)
            .any(|(m, bad)| *m == matter && *bad >= PATIENCE)
    }
}

/// True if a node's numbers are numbers and it is still in the world.
fn is_sound(nodes: &Nodes, i: usize) -> bool {
    let mut sum = nodes.position[i] + nodes.velocity[i];
    if let (Some(q), Some(spin)) = (nodes.orientation.get(i), nodes.spin.get(i)) {
        sum += *spin + q.xyz() * q.w;
    }
    sum.is_finite() && Masses::is_in_world(nodes.position[i])
}

/// Has elements forget that they were drawn out on the way to what was put back: a node of a matter, or all of it.
fn build_anew(globals: &mut [Global], matter: MatterId, node: Option<usize>) {
    let is_back = |(m, at, _): &(MatterId, Point, f64)| {
        *m == matter && node.is_none_or(|i| i == at.node as usize)
    };
    let ends = |anchor: &Anchor| Support::of(anchor).parts().iter().any(is_back);
    for global in globals.iter_mut().filter(|g| g.anchors().any(ends)) {
        global.resume_flow(Flow::default());
    }
}

/// Puts a node back where it started, at rest.
fn put_back(nodes: &mut Nodes, start: &Nodes, i: usize) {
    nodes.position[i] = start.position[i];
    nodes.velocity[i] = DVec3::ZERO;
    nodes.force[i] = DVec3::ZERO;
    if i < nodes.frames() {
        nodes.orientation[i] = start.orientation[i];
        nodes.spin[i] = DVec3::ZERO;
        nodes.torque[i] = DVec3::ZERO;
    }
}

/// Takes all motion and force out of a share.
pub(super) fn freeze(nodes: &mut Nodes) {
    nodes.velocity.fill(DVec3::ZERO);
    nodes.spin.fill(DVec3::ZERO);
    nodes.force.fill(DVec3::ZERO);
    nodes.torque.fill(DVec3::ZERO);
}

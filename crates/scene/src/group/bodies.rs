//! Rigid bodies: where they touch and strike each other, and which of them sleep.

use super::{Group, Stage, Sub, led::feel_both};
use crate::collisions::WATCH;
use glam::DVec3;
use trocar_dynamics::{
    BodyContact, Bonds, Cast, Joint, Local, MatterId,
    solve::{self, Touches},
};
use trocar_soft::Global;

impl Group {
    /// Contacts of rigid bodies; what strikes another rebounds.
    pub(super) fn detect_bodies(&mut self, stage: &Stage<'_>, sub: Sub) {
        let Some(collisions) = &mut self.collisions else {
            return;
        };
        for pull in stage.pulls {
            if let (true, Local::Frame(node, _) | Local::Node(node)) = (
                Some(pull.anchor.matter) == stage.model.bodies,
                pull.anchor.at,
            ) {
                collisions.wake(node as usize);
            }
        }
        // What an element or a command pulls at does not sleep.
        let pulled = self.globals.iter().flat_map(Global::anchors);
        let pushed = stage.pushes.iter().map(|p| &p.0);
        for anchor in pulled.chain(pushed) {
            if let (true, Local::Frame(node, _) | Local::Node(node)) =
                (Some(anchor.matter) == stage.model.bodies, anchor.at)
            {
                collisions.wake(node as usize);
            }
        }
        let nodes = &self.nodes;
        let share = |m: MatterId| &nodes[stage.slot[m.index()] as usize];
        collisions.detect(stage.model, share, sub.h, stage.crew);
        self.penetration = self.penetration.max(collisions.penetration());
        self.slip = self.slip.max(collisions.slip());
        self.too_fast = self.too_fast.max(collisions.too_fast());
        self.rest_joints();
        let Some(collisions) = &mut self.collisions else {
            return;
        };
        if let Some(bodies) = stage.model.bodies {
            let touching = &mut self.nodes[stage.slot[bodies.index()] as usize].touching;
            touching.fill(false);
            collisions.see_touching(stage.model, |node| touching[node as usize] = true);
        }
        if collisions.is_springy() {
            let mut cast = Cast {
                matters: &stage.model.matters,
                slot: stage.slot,
                nodes: &mut self.nodes,
            };
            // The speed that falling through the watched gap would give (B81), or two substeps of gravity.
            let g = stage.model.gravity.length();
            let slow = (2.0 * g * WATCH).sqrt().max(2.0 * g * sub.h);
            let blows = solve::rebound(
                &mut cast,
                &mut Bonds {
                    ties: &mut self.ties,
                    joints: &mut self.joints,
                    version: self.version,
                },
                &mut Touches {
                    tissue: &mut [],
                    bodies: &mut collisions.list,
                    crew: stage.crew,
                },
                (sub.h, slow),
                &stage.budget,
                &mut self.solver,
            );
            self.blows_left = self.blows_left.max(blows.left);
            // Felt at once: if the substep is halved, its halves find no blow any more.
            let struck = |c: &&BodyContact| c.blow != DVec3::ZERO;
            for contact in collisions.list.iter().filter(struck) {
                self.blows += 1;
                feel_both(
                    &mut self.reactions,
                    &self.poses,
                    stage,
                    contact,
                    contact.blow,
                );
            }
        }
    }

    /// Bodies that elements pull at drift by their new velocity: by the mean of old and new they would swing up.
    pub(super) fn stir_pulled(&mut self, stage: &Stage<'_>) {
        let Some(bodies) = stage.model.bodies else {
            return;
        };
        for anchor in self.globals.iter().flat_map(Global::anchors) {
            if anchor.matter == bodies
                && let Local::Frame(node, _) | Local::Node(node) = anchor.at
            {
                self.nodes[stage.slot[bodies.index()] as usize].touching[node as usize] = true;
            }
        }
    }

    /// Bodies that touch tissue do not sleep, and drift by their new velocity.
    pub(super) fn stir_bodies(&mut self, stage: &Stage<'_>) {
        let Some(bodies) = stage.model.bodies else {
            return;
        };
        let touching = &mut self.nodes[stage.slot[bodies.index()] as usize].touching;
        for contact in &self.contacts {
            if let (true, Local::Frame(node, _)) = (contact.a.matter == bodies, contact.a.at) {
                touching[node as usize] = true;
                if let Some(collisions) = &mut self.collisions {
                    collisions.wake(node as usize);
                }
            }
        }
        self.rest_joints();
    }

    /// Joints whose bodies all sleep are left out until one wakes.
    fn rest_joints(&mut self) {
        let Some(collisions) = &mut self.collisions else {
            return;
        };
        if !collisions.has_turned() {
            return;
        }
        for joint in &mut self.joints {
            joint.asleep = collisions.rests(joint);
        }
    }

    /// True if it is bodies alone, and all of them sleep through this step: nothing is to be done then.
    pub(super) fn sleeps_on(&mut self, stage: &Stage<'_>) -> bool {
        let (Some(collisions), Some(bodies)) = (&mut self.collisions, stage.model.bodies) else {
            return false;
        };
        let nodes = &mut self.nodes[stage.slot[bodies.index()] as usize];
        let pulled =
            !(stage.pulls.is_empty() && stage.pushes.is_empty() && self.globals.is_empty());
        let alone = self.members == [bodies] && self.ties.is_empty() && self.hypers.is_empty();
        // Particles never sleep.
        let alone = alone && nodes.frames() == nodes.len();
        if pulled || !alone || !stage.model.tools.is_empty() || !collisions.is_at_rest(stage.model)
        {
            collisions.note(nodes);
            return false;
        }
        collisions.forget();
        nodes.touching.fill(false);
        true
    }

    /// After the step: which bodies sleep.
    pub fn settle(&mut self, stage: &Stage<'_>) {
        if let (Some(collisions), Some(bodies)) = (&mut self.collisions, stage.model.bodies) {
            // What joints could not put together is not at rest, however still it is.
            let lost = self.lost.iter().map(|k| &stage.model.joints[*k as usize]);
            for anchor in lost.flat_map(Joint::anchors).flatten() {
                if let (true, Local::Frame(node, _)) = (anchor.matter == bodies, anchor.at) {
                    collisions.wake(node as usize);
                }
            }
            let nodes = &mut self.nodes[stage.slot[bodies.index()] as usize];
            collisions.settle(stage.model, nodes, stage.dt);
        }
    }
}

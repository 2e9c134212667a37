//! Impulses: what ties, joints, contacts and the mouse do.

use super::{
    Group, Stage, Sub,
    led::{feel, feel_both},
    quarantine::PATIENCE,
    skin::can_move,
};
use crate::{build::Model, probes::Warm};
use glam::DVec3;
use trocar_dynamics::{
    Anchor, Bonds, Budget, Cast, Local, Lock, MatterId, Outcome, Point,
    solve::{self, Touches, larger},
};

/// A substep whose joints can't be solved is halved at most so often.
const MOST_HALVINGS: u32 = 6;

impl Group {
    /// Impulses that put ties together and contacts on their hulls at the end of the substep. The mouse pulls before them: it
    /// needs the plan that `force` ends with, and whatever it does, ties and contacts must hold after it. An error (that of the
    /// joints, m) if they can't be solved in a substep this long; all is then as before.
    pub(super) fn aim(&mut self, stage: &Stage<'_>, sub: Sub) -> Result<(), f64> {
        let first = self.nodes.len() - self.members.len();
        if !stage.pulls.is_empty() {
            self.before
                .resize_with(self.members.len(), Default::default);
            for (kept, nodes) in self.before.iter_mut().zip(&self.nodes[first..]) {
                kept.0.clone_from(&nodes.velocity);
                kept.1.clone_from(&nodes.spin);
            }
        }
        let mut cast = Cast {
            matters: &stage.model.matters,
            slot: stage.slot,
            nodes: &mut self.nodes,
        };
        for pull in stage.pulls {
            let mine = |(m, bad): (&MatterId, &u32)| *m == pull.anchor.matter && *bad < PATIENCE;
            if !self.members.iter().zip(&self.bad).any(mine)
                || !can_be_pulled(stage.model, &pull.anchor)
            {
                continue;
            }
            let support = cast.support(&pull.anchor);
            let free = |(m, at, weight): &(MatterId, Point, f64)| {
                let masses = stage.model.matters[m.index()].masses();
                (masses.lock(at.node as usize) != Lock::Fixed, *weight)
            };
            if can_move(support.parts().iter().map(free)) {
                solve::pull(&mut cast, pull, &support, sub.h);
            }
        }
        let outcome = solve::aim(
            &mut cast,
            &mut Bonds {
                ties: &mut self.ties,
                joints: &mut self.joints,
                version: self.version,
            },
            &mut Touches {
                tissue: &mut self.contacts,
                bodies: self.collisions.as_mut().map_or(&mut [], |c| &mut c.list),
                crew: stage.crew,
            },
            sub.h,
            &Budget {
                // Once or twice may be chance.
                before: if sub.depth < 3 {
                    f64::INFINITY
                } else {
                    sub.error
                },
                may_fail: sub.depth < MOST_HALVINGS,
                ..stage.budget
            },
            &mut self.solver,
        );
        if outcome.refused {
            if !stage.pulls.is_empty() {
                for (kept, nodes) in self.before.iter().zip(&mut self.nodes[first..]) {
                    nodes.velocity.clone_from(&kept.0);
                    nodes.spin.clone_from(&kept.1);
                }
            }
            self.go_back_with_works();
            self.aim.wild |= outcome.wild;
            return Err(outcome.error);
        }
        self.feel_works(stage, sub);
        worst(&mut self.aim, &outcome);
        let Self {
            lost,
            redundant,
            joint_index,
            solver,
            ..
        } = self;
        let of_model = |joint: u32| joint_index[joint as usize] as u32;
        solver.see_lost(|joint| lost.push(of_model(joint)));
        if outcome.redundant > 0 {
            solver.see_redundant(|joint| redundant.push(of_model(joint)));
        }
        // One that comes of several base joints is shown more than once, and so is what is found in many substeps.
        for list in [lost, redundant] {
            list.sort_unstable();
            list.dedup();
        }
        self.warm.clear();
        let found = self.keys.iter().zip(&self.contacts);
        self.warm.extend(found.map(|(key, contact)| Warm {
            key: *key,
            impulse: contact.impulse,
            rub: contact.rub,
            h: sub.h,
        }));
        self.warm.sort_unstable_by_key(|w| w.key);
        // What the tools feel is the sum of the impulses they gave.
        let pushed = self.contacts.iter().map(|c| (c.a, -c.total()));
        let pulled = self.ties[self.scene_ties..]
            .iter()
            .map(|t| (t.a, -t.impulse));
        for (anchor, impulse) in pushed.chain(pulled).filter(|x| x.1 != DVec3::ZERO) {
            feel(&mut self.reactions, &self.poses, stage, &anchor, impulse);
        }
        Ok(())
    }

    /// Relative velocities of ties.
    pub(super) fn correct(&mut self, stage: &Stage<'_>) {
        let free = self.ties.is_empty() && self.joints.is_empty() && self.collisions.is_none();
        if free {
            return;
        }
        let mut cast = Cast {
            matters: &stage.model.matters,
            slot: stage.slot,
            nodes: &mut self.nodes,
        };
        let mut bonds = Bonds {
            ties: &mut self.ties,
            joints: &mut self.joints,
            version: self.version,
        };
        let outcome = solve::correct(
            &mut cast,
            &mut bonds,
            &mut Touches {
                tissue: &mut [],
                bodies: self.collisions.as_mut().map_or(&mut [], |c| &mut c.list),
                crew: stage.crew,
            },
            &stage.budget,
            &mut self.solver,
        );
        worst(&mut self.correct, &outcome);
        if let Some(collisions) = &mut self.collisions {
            collisions.keep(stage.model, stage.crew);
            if !stage.model.tools.is_empty() {
                for contact in collisions.list.iter().filter(|c| c.total != DVec3::ZERO) {
                    let (reactions, total) = (&mut self.reactions, contact.total);
                    feel_both(reactions, &self.poses, stage, contact, total);
                }
            }
        }
        // Between here and the next `advance` nobody looks at velocities again.
        for k in 0..self.members.len() {
            let nodes = &self.nodes[stage.slot[self.members[k].index()] as usize];
            let sum: DVec3 = nodes.velocity.iter().chain(&nodes.spin).sum();
            if !sum.is_finite() {
                self.quarantine(stage, k);
            }
        }
    }
}

/// True if the anchor exists and is something one can get hold of: a point of a surface, a node, a point of a body. Beside
/// a tissue's central node there is nothing to pull at, only a lever as long as somebody makes it.
fn can_be_pulled(model: &Model, anchor: &Anchor) -> bool {
    let lever = matches!(anchor.at, Local::Frame(_, offset) if offset != DVec3::ZERO);
    model.has(anchor) && !(lever && model.tissues.iter().any(|t| t.matter == anchor.matter))
}

pub(super) fn worst(all: &mut Outcome, new: &Outcome) {
    all.iterations = all.iterations.max(new.iterations);
    all.error = larger(all.error, new.error);
    all.converged &= new.converged;
    all.redundant = all.redundant.max(new.redundant);
    all.failed |= new.failed;
    all.wild |= new.wild;
}

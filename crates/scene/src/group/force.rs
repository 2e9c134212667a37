//! Forces: what is known before anything is solved.

use super::{
    Group, Stage, Sub, each_member,
    quarantine::{PATIENCE, freeze},
};
use glam::DVec3;
use trocar_dynamics::{Field, MatterId, Nodes, joint::Drive};
use trocar_soft::global::{End, Sight};

impl Group {
    /// Drives with a timetable aim at where they are to be at the end of the substep: a function of time alone.
    fn steer(&mut self, stage: &Stage<'_>, sub: Sub) {
        let time = stage.time + sub.to * stage.dt;
        for (joint, timetable) in &self.timetables {
            let control = &mut self.joints[*joint].controls[timetable.control];
            if let Some(Drive::Servo { target, .. } | Drive::Speed { target, .. }) =
                &mut control.drive
            {
                *target = timetable.at(time);
            }
        }
    }

    /// Forces on every node, hyper nodes included; of integrators with two stages both, as [`Stages`] says.
    pub(super) fn force(&mut self, stage: &Stage<'_>, sub: Sub) {
        self.steer(stage, sub);
        let time = stage.time + sub.from * stage.dt;
        let field = Field {
            time,
            gravity: stage.model.gravity,
        };
        let (matters, slot) = (&stage.model.matters, stage.slot);
        let (members, bad, hypers) = (&self.members, &self.bad, &self.hypers);
        let globals = &self.globals;
        let sight = Sight {
            matter: |m: MatterId| &*matters[m.index()],
            slot,
        };
        let resting = self.collisions.as_ref().map(|c| &c.rest);
        let evaluate = |nodes: &mut [Nodes], after: f64| {
            let field = Field {
                time: field.time + after,
                ..field
            };
            let first = nodes.len() - members.len();
            each_member(stage, members, &mut nodes[first..], |k, nodes, crew| {
                let matter = &matters[members[k].index()];
                match crew {
                    Some(crew) => matter.force_by(nodes, &field, crew),
                    None => matter.force(nodes, &field),
                }
                if bad[k] >= PATIENCE {
                    freeze(nodes);
                }
                if let (Some(rest), true) = (resting, Some(members[k]) == stage.model.bodies) {
                    for (i, _) in rest.iter().enumerate().filter(|r| r.1.asleep) {
                        nodes.velocity[i] = DVec3::ZERO;
                        nodes.spin[i] = DVec3::ZERO;
                        nodes.force[i] = DVec3::ZERO;
                        nodes.torque[i] = DVec3::ZERO;
                    }
                }
            });
            for global in globals {
                global.apply(&sight, nodes, field.time);
            }
            for (anchor, force) in stage.pushes {
                if members.contains(&anchor.matter) {
                    sight.pull(&End::On(*anchor), nodes, *force);
                }
            }
            for hyper in hypers {
                hyper.give_back(nodes, slot);
            }
        };
        let first = self.nodes.len() - members.len();
        let masses = |share: usize| {
            let member = members.get(share.checked_sub(first)?)?;
            Some(matters[member.index()].masses())
        };
        let of = |m: MatterId| matters[m.index()].masses();
        let copy = |nodes: &mut [Nodes]| hypers.iter().for_each(|h| h.copy(of, nodes, slot));
        self.stages
            .gather(&masses, &mut self.nodes, sub.h, stage.crew, evaluate, copy);
        self.act_works(stage, sub);
        for m in &self.members {
            let nodes = &mut self.nodes[stage.slot[m.index()] as usize];
            stage.model.matters[m.index()].plan(nodes, sub.h, stage.crew);
        }
    }
}

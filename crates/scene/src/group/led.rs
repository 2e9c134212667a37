//! What is led: instruments by hands, fixtures by their courses; and what instruments feel.

use super::{Group, Stage};
use glam::DVec3;
use trocar_dynamics::{Anchor, BodyContact, Kinematic, Local};
use trocar_math::Pose;
use trocar_tools::{Handle, grasper::PARTS};

/// The motion of an instrument in this step.
#[derive(Clone, Copy, Debug)]
pub struct Motion {
    /// Where the hand had it at the start.
    pub from: Handle,
    /// Where the hand has it at the end.
    pub to: Handle,
}

impl Motion {
    pub(super) fn at(&self, fraction: f64) -> Handle {
        let mix = |a: f64, b: f64| a + (b - a) * fraction;
        Handle {
            yaw: mix(self.from.yaw, self.to.yaw),
            pitch: mix(self.from.pitch, self.to.pitch),
            depth: mix(self.from.depth, self.to.depth),
            roll: mix(self.from.roll, self.to.roll),
            jaw: mix(self.from.jaw, self.to.jaw),
        }
    }
}

impl Group {
    /// Puts the hulls of all tools where they are at `from` (a fraction of the step); returns how far any
    /// point of them moves until `to`.
    pub(super) fn place_tools(&mut self, stage: &Stage<'_>, from: f64, to: f64) -> f64 {
        self.capsules.clear();
        self.ahead.clear();
        self.poses.clear();
        let mut motion = 0.0_f64;
        for (tool, moves) in stage.model.tools.iter().zip(stage.motions) {
            let poses = tool.grasper.poses(&moves.at(from));
            let capsules = tool.grasper.capsules(&poses);
            let ahead = tool.grasper.capsules(&tool.grasper.poses(&moves.at(to)));
            for (a, b) in capsules.iter().zip(&ahead) {
                motion = motion.max(a.a.distance(b.a)).max(a.b.distance(b.b));
            }
            self.capsules.extend(capsules);
            self.ahead.extend(ahead);
            self.poses.push(poses);
        }
        motion
    }

    /// Bodies whose motion is prescribed go their way.
    pub(super) fn lead_fixtures(&mut self, stage: &Stage<'_>, from: f64, to: f64, h: f64) {
        let Some(fixtures) = stage.model.fixtures else {
            return;
        };
        let at = |node: usize, fraction: f64| {
            stage.model.fixture(node, stage.time + fraction * stage.dt)
        };
        let nodes = &mut self.nodes[fixtures.index()];
        for node in 0..nodes.frames() {
            Kinematic::lead_one(nodes, node, &at(node, from), &at(node, to), h);
        }
    }
}

/// Adds an impulse (N·s) on an anchor to what the instrument it is on feels at its tip; nothing if it is on none.
pub(super) fn feel(
    reactions: &mut [DVec3],
    poses: &[[Pose; PARTS]],
    stage: &Stage<'_>,
    anchor: &Anchor,
    impulse: DVec3,
) {
    let tools = &stage.model.tools;
    let tool = tools.iter().position(|t| t.matter == anchor.matter);
    if let (Some(t), Local::Frame(part, offset)) = (tool, anchor.at) {
        let at = poses[t][part as usize].point(offset);
        reactions[t] += tools[t].grasper.at_tip(&poses[t][0], impulse, at) / stage.dt;
    }
}

/// Adds the impulse of a contact of bodies to what instruments at either end of it feel.
pub(super) fn feel_both(
    reactions: &mut [DVec3],
    poses: &[[Pose; PARTS]],
    stage: &Stage<'_>,
    contact: &BodyContact,
    impulse: DVec3,
) {
    for (k, (matter, part), sign) in [(0, contact.a, -1.0), (1, contact.b, 1.0)] {
        let anchor = Anchor::frame(matter, part, contact.at[k]);
        feel(reactions, poses, stage, &anchor, impulse * sign);
    }
}

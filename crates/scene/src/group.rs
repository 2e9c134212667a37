//! Matter that is connected: what is stepped together, on one thread.

use crate::{
    build::{Model, substeps},
    report::Clock,
};
use glam::DVec3;
use trocar_collide::{Capsule, Patch, Touch};
use trocar_dynamics::{
    Anchor, Budget, Cast, Contact, Field, Kinematic, Local, Lock, Masses, MatterId, Nodes, Outcome,
    Point, Pull, State, Tie,
    solve::{self, Workspace},
};
use trocar_math::Pose;
use trocar_soft::Hyper;
use trocar_tools::{Handle, grasper::PARTS};

/// Tissue this near (m) to a hull is watched although the tool alone would not reach it in the substep:
/// tissue moves as well.
const WATCH: f64 = 1e-3;

/// Matter that went bad this often is frozen.
const PATIENCE: u32 = 3;

/// Least share of free corners, of the sum of squared weights, for a touched point to be pushed: they then move at most
/// about five times as far as the point.
const LEAST_SHARE: f64 = 0.05;

/// The surface of a tissue, as instruments meet it.
pub struct Skin {
    /// Whose it is.
    pub matter: MatterId,
    /// The surface.
    pub patch: Patch,
    /// Tool and node of everything held; closed jaws do not push what they hold.
    pub held: Vec<(usize, u32)>,
}

/// A contact of the last substep: its tissue, capsule and triangle, and its impulse (N·s). A contact that goes on
/// starts from it; without that, contacts that share nodes would take many sweeps to agree anew.
pub type Warm = (MatterId, u32, [u32; 3], f64);

/// The motion of an instrument in this step.
#[derive(Clone, Copy, Debug)]
pub struct Motion {
    /// Where the hand had it at the start.
    pub from: Handle,
    /// Where the hand has it at the end.
    pub to: Handle,
}

impl Motion {
    fn at(&self, fraction: f64) -> Handle {
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

/// One substep.
#[derive(Clone, Copy, Debug)]
pub struct Sub {
    /// Which one.
    index: u32,
    /// Of how many.
    count: u32,
    /// Its length, s.
    pub h: f64,
}

/// What all groups read during a step.
pub struct Stage<'a> {
    /// The model.
    pub model: &'a Model,
    /// Place of each matter in its group.
    pub slot: &'a [u32],
    /// How the instruments move.
    pub motions: &'a [Motion],
    /// What the mouse pulls on.
    pub pulls: &'a [Pull],
    /// Length of the step, s.
    pub dt: f64,
    /// Simulated time at the start of the step, s.
    pub time: f64,
    /// How hard to solve.
    pub budget: Budget,
}

/// Connected matter with all that acts on it.
pub struct Group {
    /// The matter, in ascending order.
    pub members: Vec<MatterId>,
    /// How often each member went bad.
    pub bad: Vec<u32>,
    /// Members that went bad in this step.
    pub fallen: Vec<MatterId>,
    /// Surfaces instruments can touch.
    pub skins: Vec<Skin>,
    /// Ties: the scene's first, then what is held.
    pub ties: Vec<Tie>,
    /// How many of the ties are the scene's.
    pub scene_ties: usize,
    /// Force at each instrument's tip, N, summed over the step.
    pub reactions: Vec<DVec3>,
    /// Time spent in each stage.
    pub clock: Clock,
    /// Worst outcome of `aim` in this step.
    pub aim: Outcome,
    /// Worst outcome of `correct` in this step.
    pub correct: Outcome,
    /// Length of the last substep, s.
    pub h: f64,
    /// Contacts of the last substep.
    pub warm: Vec<Warm>,
    hypers: Vec<Hyper>,
    stable: f64,
    /// Shares of state: those of prescribed matter first, then the members', lent for the step.
    nodes: Vec<Nodes>,
    contacts: Vec<Contact>,
    keys: Vec<(MatterId, u32, [u32; 3])>,
    touches: Vec<Touch>,
    capsules: Vec<Capsule>,
    poses: Vec<[Pose; PARTS]>,
    workspace: Workspace,
}

impl Group {
    /// The group of `connected` matter of a model.
    pub fn new(model: &Model, connected: &crate::build::Connected) -> Self {
        let within = |m: MatterId| connected.members.contains(&m);
        let ties: Vec<Tie> = model
            .ties
            .iter()
            .filter(|t| within(t.a.matter) || within(t.b.matter))
            .copied()
            .collect();
        let skins = model
            .tissues
            .iter()
            .filter(|t| within(t.matter))
            .map(|t| Skin {
                matter: t.matter,
                patch: Patch::new(
                    t.triangles.clone(),
                    model.matters[t.matter.index()].masses().len(),
                ),
                held: Vec::new(),
            })
            .collect();
        let mut nodes: Vec<Nodes> = model.start[..model.prescribed()].to_vec();
        nodes[0].ahead[0].orientation = nodes[0].orientation[0];
        nodes.resize_with(model.prescribed() + connected.members.len(), Nodes::default);
        Self {
            bad: vec![0; connected.members.len()],
            fallen: Vec::with_capacity(connected.members.len()),
            members: connected.members.clone(),
            skins,
            scene_ties: ties.len(),
            ties,
            reactions: vec![DVec3::ZERO; model.tools.len()],
            clock: Clock::start(),
            aim: Outcome::default(),
            correct: Outcome::default(),
            h: model.step,
            hypers: model
                .hypers
                .iter()
                .filter(|h| within(h.master.0))
                .copied()
                .collect(),
            stable: connected.bounds.safe,
            nodes,
            warm: Vec::new(),
            contacts: Vec::new(),
            keys: Vec::new(),
            touches: Vec::new(),
            capsules: Vec::new(),
            poses: Vec::new(),
            workspace: Workspace::default(),
        }
    }

    /// Takes over a new bound on the substep, s.
    pub fn set_stable(&mut self, stable: f64) {
        self.stable = stable;
    }

    /// Takes the members' shares out of the state for the step.
    pub fn borrow(&mut self, state: &mut State) {
        let first = self.nodes.len() - self.members.len();
        for (k, m) in self.members.iter().enumerate() {
            self.nodes[first + k] = std::mem::take(&mut state.nodes[m.index()]);
        }
    }

    /// Puts them back.
    pub fn give_back(&mut self, state: &mut State) {
        let first = self.nodes.len() - self.members.len();
        for (k, m) in self.members.iter().enumerate() {
            state.nodes[m.index()] = std::mem::take(&mut self.nodes[first + k]);
        }
    }

    /// Number of contacts in the last substep.
    pub fn contacts(&self) -> usize {
        self.contacts.len()
    }

    /// Shows each contact of the last substep and its force, N.
    pub fn see_contacts(&self, mut see: impl FnMut(&Contact, f64)) {
        for contact in &self.contacts {
            see(contact, contact.impulse / self.h);
        }
    }

    /// How many substeps a step of `dt` takes.
    pub fn substep_count(&self, dt: f64) -> u32 {
        substeps(dt, self.stable).min(crate::build::MAX_SUBSTEPS)
    }

    /// Which triangles instruments may touch in this step.
    pub fn gather(&mut self, stage: &Stage<'_>) {
        self.reactions.fill(DVec3::ZERO);
        self.aim = Outcome {
            converged: true,
            ..Outcome::default()
        };
        self.correct = self.aim;
        self.fallen.clear();
        self.clock = Clock::start();
        let reach = self.place_tools(stage, 0.0, 1.0) + 2.0 * WATCH;
        let first = self.nodes.len() - self.members.len();
        for skin in &mut self.skins {
            let slot = stage.slot[skin.matter.index()] as usize;
            debug_assert!(slot >= first);
            skin.patch
                .gather(&self.capsules, &self.nodes[slot].position, reach);
        }
    }

    /// Puts the hulls of all tools where they are at `from` (a fraction of the step); returns how far any
    /// point of them moves until `to`.
    fn place_tools(&mut self, stage: &Stage<'_>, from: f64, to: f64) -> f64 {
        self.capsules.clear();
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
            self.poses.push(poses);
        }
        motion
    }

    /// The substeps of this step.
    pub fn substeps(&self, dt: f64) -> impl Iterator<Item = Sub> + use<> {
        let count = self.substep_count(dt);
        (0..count).map(move |index| Sub {
            index,
            count,
            h: dt / f64::from(count),
        })
    }

    /// Contacts at the start of the substep, watched as far as the tools move in it.
    pub fn detect(&mut self, stage: &Stage<'_>, sub: Sub) {
        self.h = sub.h;
        let (from, to) = (
            f64::from(sub.index) / f64::from(sub.count),
            f64::from(sub.index + 1) / f64::from(sub.count),
        );
        let motion = self.place_tools(stage, from, to);
        for (t, (tool, moves)) in stage.model.tools.iter().zip(stage.motions).enumerate() {
            let ahead = tool.grasper.poses(&moves.at(to));
            Kinematic::lead(
                &mut self.nodes[tool.matter.index()],
                &self.poses[t],
                &ahead,
                sub.h,
            );
        }
        self.contacts.clear();
        self.keys.clear();
        for skin in &mut self.skins {
            // What is frozen can't give way, so no force could be right.
            let frozen = |(m, bad): (&MatterId, &u32)| *m == skin.matter && *bad >= PATIENCE;
            if self.members.iter().zip(&self.bad).any(frozen) {
                continue;
            }
            let positions = &self.nodes[stage.slot[skin.matter.index()] as usize].position;
            skin.patch
                .touches(&self.capsules, positions, motion + WATCH, &mut self.touches);
            for touch in &self.touches {
                let (tool, part) = (touch.capsule / PARTS, touch.capsule % PARTS);
                // Between jaws that hold a tissue there is no way out for it: they would push it against
                // each other. The shaft pushes all but what it carries.
                let of_tool = |held: &&(usize, u32)| held.0 == tool;
                let carries = |held: &(usize, u32)| part > 0 || touch.nodes.contains(&held.1);
                if skin.held.iter().filter(of_tool).any(carries) {
                    continue;
                }
                let masses = stage.model.matters[skin.matter.index()].masses();
                if !yields(masses, touch) {
                    continue;
                }
                let capsule = &self.capsules[touch.capsule];
                let offset = self.poses[tool][part].local(capsule.axis(touch.along));
                let key = (skin.matter, touch.capsule as u32, touch.nodes);
                let before = self
                    .warm
                    .binary_search_by(|w| (w.0, w.1, w.2).cmp(&key))
                    .ok()
                    .map(|i| self.warm[i].3);
                self.keys.push(key);
                self.contacts.push(Contact {
                    a: Anchor::frame(stage.model.tools[tool].matter, part as u32, offset),
                    b: Anchor {
                        matter: skin.matter,
                        at: Local::Triangle(touch.nodes, touch.weights),
                    },
                    normal: touch.normal,
                    distance: capsule.radius,
                    impulse: before.unwrap_or(0.0),
                });
            }
        }
    }

    /// Forces on every node, hyper nodes included.
    pub fn force(&mut self, stage: &Stage<'_>, sub: Sub) {
        let time = stage.time + f64::from(sub.index) * sub.h;
        let field = Field {
            time,
            gravity: stage.model.gravity,
        };
        for (k, m) in self.members.iter().enumerate() {
            let nodes = &mut self.nodes[stage.slot[m.index()] as usize];
            stage.model.matters[m.index()].force(nodes, &field);
            if self.bad[k] >= PATIENCE {
                freeze(nodes);
            }
        }
        for hyper in &self.hypers {
            hyper.give_back(&mut self.nodes, stage.slot);
        }
        for m in &self.members {
            stage.model.matters[m.index()]
                .plan(&mut self.nodes[stage.slot[m.index()] as usize], sub.h);
        }
    }

    /// Impulses that put ties together and contacts on their hulls at the end of the substep. The mouse pulls before them: it
    /// needs the plan that `force` ends with, and whatever it does, ties and contacts must hold after it.
    pub fn aim(&mut self, stage: &Stage<'_>, sub: Sub) {
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
            &mut self.ties,
            &mut self.contacts,
            sub.h,
            &stage.budget,
            &mut self.workspace,
        );
        worst(&mut self.aim, &outcome);
        self.warm.clear();
        let found = self.keys.iter().zip(&self.contacts);
        self.warm
            .extend(found.map(|((m, c, t), contact)| (*m, *c, *t, contact.impulse)));
        self.warm.sort_unstable_by_key(|w| (w.0, w.1, w.2));
        // What the tools feel is the sum of the impulses they gave.
        let pushed = self.contacts.iter().map(|c| (c.a, c.normal * -c.impulse));
        let pulled = self.ties[self.scene_ties..]
            .iter()
            .map(|t| (t.a, -t.impulse));
        for (anchor, impulse) in pushed.chain(pulled).filter(|x| x.1 != DVec3::ZERO) {
            let Local::Frame(part, offset) = anchor.at else {
                continue;
            };
            let Some(t) = stage
                .model
                .tools
                .iter()
                .position(|t| t.matter == anchor.matter)
            else {
                continue;
            };
            let poses = &self.poses[t];
            let at = poses[part as usize].point(offset);
            self.reactions[t] +=
                stage.model.tools[t].grasper.at_tip(&poses[0], impulse, at) / stage.dt;
        }
    }

    /// Everything moves once.
    pub fn advance(&mut self, stage: &Stage<'_>, sub: Sub) {
        for k in 0..self.members.len() {
            if self.bad[k] >= PATIENCE {
                continue;
            }
            let m = self.members[k].index();
            let nodes = &mut self.nodes[stage.slot[m] as usize];
            if !stage.model.matters[m].advance(nodes, sub.h) {
                self.quarantine(stage, k);
            }
        }
        let masses = |m: MatterId| stage.model.matters[m.index()].masses();
        for hyper in &self.hypers {
            hyper.copy(masses, &mut self.nodes, stage.slot);
        }
        for tool in &stage.model.tools {
            let nodes = &mut self.nodes[tool.matter.index()];
            stage.model.matters[tool.matter.index()].advance(nodes, sub.h);
        }
    }

    /// Relative velocities of ties.
    pub fn correct(&mut self, stage: &Stage<'_>) {
        if self.ties.is_empty() {
            return;
        }
        let mut cast = Cast {
            matters: &stage.model.matters,
            slot: stage.slot,
            nodes: &mut self.nodes,
        };
        let outcome = solve::correct(&mut cast, &self.ties, &stage.budget, &mut self.workspace);
        worst(&mut self.correct, &outcome);
        // Between here and the next `advance` nobody looks at velocities again.
        for k in 0..self.members.len() {
            let nodes = &self.nodes[stage.slot[self.members[k].index()] as usize];
            let sum: DVec3 = nodes.velocity.iter().chain(&nodes.spin).sum();
            if !sum.is_finite() {
                self.quarantine(stage, k);
            }
        }
    }

    /// Puts a member whose numbers went bad back to rest.
    fn quarantine(&mut self, stage: &Stage<'_>, k: usize) {
        let m = self.members[k];
        let nodes = &mut self.nodes[stage.slot[m.index()] as usize];
        nodes.copy_from(&stage.model.start[m.index()]);
        freeze(nodes);
        self.bad[k] += 1;
        self.fallen.push(m);
        // What threw it must not throw it again.
        for tie in &mut self.ties {
            if tie.a.matter == m || tie.b.matter == m {
                tie.impulse = DVec3::ZERO;
            }
        }
        self.warm.retain(|w| w.0 != m);
    }

    /// True if a member has been frozen.
    pub fn is_frozen(&self, matter: MatterId) -> bool {
        self.members
            .iter()
            .zip(&self.bad)
            .any(|(m, bad)| *m == matter && *bad >= PATIENCE)
    }
}

/// True if a touched point can be moved.
fn yields(masses: &Masses, touch: &Touch) -> bool {
    let corners = touch.nodes.iter().zip(touch.weights);
    can_move(corners.map(|(n, weight)| (masses.lock(*n as usize) != Lock::Fixed, weight)))
}

/// True if a point can be moved by moving the free ones of its nodes about as far. Of each node: whether it is free, and its
/// weight. Next to a fixed corner a free one has so small a share that to move the point a millimetre it would be flung a
/// metre; there the point counts as fixed, and what can't be moved is not pushed.
fn can_move(nodes: impl Iterator<Item = (bool, f64)>) -> bool {
    let (mut share, mut all) = (0.0, 0.0);
    for (free, weight) in nodes {
        all += weight * weight;
        if free {
            share += weight * weight;
        }
    }
    share > LEAST_SHARE * all
}

/// True if the anchor exists and is something one can get hold of: a point of a surface, a node, a point of a body. Beside
/// a tissue's central node there is nothing to pull at, only a lever as long as somebody makes it.
fn can_be_pulled(model: &Model, anchor: &Anchor) -> bool {
    let lever = matches!(anchor.at, Local::Frame(_, offset) if offset != DVec3::ZERO);
    model.has(anchor) && !(lever && model.tissues.iter().any(|t| t.matter == anchor.matter))
}

/// Takes all motion and force out of a share.
fn freeze(nodes: &mut Nodes) {
    nodes.velocity.fill(DVec3::ZERO);
    nodes.spin.fill(DVec3::ZERO);
    nodes.force.fill(DVec3::ZERO);
    nodes.torque.fill(DVec3::ZERO);
}

fn worst(all: &mut Outcome, new: &Outcome) {
    all.iterations = all.iterations.max(new.iterations);
    all.error = all.error.max(new.error);
    all.converged &= new.converged;
}

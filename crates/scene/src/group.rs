//! Matter that is connected: what is stepped together, on one thread.

mod order;

use crate::{
    build::{Model, Timetable, substeps},
    collisions::Collisions,
    file::InstrumentKind,
    insight::{BoxInsight, Insight},
    probes::{Key, Place, Probes, WATCH, Warm},
    report::{Clock, Stage as Lap},
    works::Work,
};
use glam::DVec3;
use trocar_collide::{Capsule, Patch, Touch, tree::TreeError};
use trocar_dynamics::{
    Anchor, BodyContact, Bonds, Budget, Cast, Contact, Crew, Field, Joint, Kinematic, Local, Lock,
    Masses, MatterId, Nodes, Outcome, Point, Pull, Stages, State, Tie,
    joint::{Drive, Memory},
    solve::{self, Solver, Touches},
};
use trocar_math::Pose;
use trocar_soft::{
    Global, Hyper, StepBounds,
    global::{End, Sight},
    stability::Gauge,
};
use trocar_tools::{Handle, grasper::PARTS};

/// No hand leads an instrument faster than this, m/s; what is flung by one that is led slower needs no closer look.
const HAND: f64 = 2.0;

/// Contacts need not be looked at more often than once on this way, m.
const LEAST_LOOK: f64 = 1e-4;

/// A substep whose joints can't be solved is halved at most so often.
const MOST_HALVINGS: u32 = 6;

/// Matter that went bad this often is frozen.
const PATIENCE: u32 = 3;

/// Friction of a tissue with bodies if it does not say: wet, but held by an instrument's teeth.
const TISSUE_FRICTION: [f64; 2] = [0.4, 0.3];

/// Least share of free corners, of the sum of squared weights, for a touched point to be pushed: they then move at most
/// about five times as far as the point.
const LEAST_SHARE: f64 = 0.05;

/// A hull that touches nothing.
const NOWHERE: Capsule = Capsule {
    a: DVec3::splat(1e6),
    b: DVec3::splat(1e6),
    radius: LEAST_LOOK,
};

/// The surface of a tissue, as instruments and bodies meet it.
pub struct Skin {
    /// Whose it is.
    pub matter: MatterId,
    /// The surface.
    pub patch: Patch,
    /// Static and dynamic coefficient of friction; none if it does not say.
    pub friction: Option<[f64; 2]>,
    /// Tool and node of everything held; closed jaws do not push what they hold.
    pub held: Vec<(usize, u32)>,
}

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
    /// Where it begins and ends, as fractions of the step.
    from: f64,
    pub(crate) to: f64,
    /// Its length, s.
    pub h: f64,
    /// How often it was halved.
    depth: u32,
    /// What error its joints had when it was twice as long, m.
    error: f64,
}

impl Sub {
    fn halves(&self, error: f64) -> [Self; 2] {
        let middle = 0.5 * (self.from + self.to);
        let (h, depth) = (0.5 * self.h, self.depth + 1);
        [(self.from, middle), (middle, self.to)].map(|(from, to)| Self {
            from,
            to,
            h,
            depth,
            error,
        })
    }
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
    /// What timed commands push, and by what force, N.
    pub pushes: &'a [(Anchor, DVec3)],
    /// Length of the step, s.
    pub dt: f64,
    /// Simulated time at the start of the step, s.
    pub time: f64,
    /// How hard to solve.
    pub budget: Budget,
    /// Threads for the contacts and nets of a large group; none if they work on other groups.
    pub crew: Option<&'a Crew>,
}

/// Connected matter with all that acts on it.
pub struct Group {
    /// The matter, in ascending order.
    pub members: Vec<MatterId>,
    /// How often each member went bad.
    pub bad: Vec<u32>,
    /// Members that went bad in this step.
    pub fallen: Vec<MatterId>,
    /// Surfaces that instruments and bodies can touch.
    pub skins: Vec<Skin>,
    /// Ties: the scene's first, then what is held.
    pub ties: Vec<Tie>,
    /// How many of the ties are the scene's.
    pub scene_ties: usize,
    /// Joints of the scene.
    pub joints: Vec<Joint>,
    /// Which ones of the model they are.
    pub joint_index: Vec<usize>,
    /// Changes whenever what is tied to what does.
    pub version: u64,
    /// Substeps that were halved in this step because joints could not be solved.
    pub halvings: u32,
    /// Points at which bodies struck each other and sprang back in this step.
    pub blows: u32,
    /// Joints that were given up in this step, by their index in the model: they contradict each other.
    pub lost: Vec<u32>,
    /// Joints with rows that others already determine, likewise.
    pub redundant: Vec<u32>,
    /// Where its rigid bodies touch.
    pub collisions: Option<Collisions>,
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
    /// What may touch its surfaces.
    pub probes: Probes,
    /// What needles and forceps do to its membranes.
    pub works: Vec<Work>,
    /// Drives whose target changes: which joint, and how.
    timetables: Vec<(usize, Timetable)>,
    hypers: Vec<Hyper>,
    globals: Vec<Global>,
    stable: f64,
    /// The longest substep that its membranes bear as they are now, s.
    films: f64,
    /// Shares of state: those of prescribed matter first, then the members', lent for the step.
    pub(crate) nodes: Vec<Nodes>,
    contacts: Vec<Contact>,
    keys: Vec<Key>,
    touches: Vec<Touch>,
    capsules: Vec<Capsule>,
    /// Where the hulls of the tools are at the end of the substep.
    ahead: Vec<Capsule>,
    /// How far instruments and tissue near them move in this step, m. Between two looks at contacts they must not go farther than what is
    /// watched: a sheet that is flung about the tip otherwise folds through it. Tissue counts only where instruments may be faster than hands, and up to
    /// their speed: what is pressed against something fixed is all the faster the shorter the substeps are, and would never be looked at
    /// often enough.
    approach: f64,
    poses: Vec<[Pose; PARTS]>,
    /// True if all its surfaces are those of membranes.
    only_films: bool,
    solver: Solver,
    stages: Stages,
    gauge: Gauge,
    /// The exact bound at rest, s, if substeps follow the state (KB9).
    adaptive: Option<f64>,
    /// Substeps of the last step.
    count: u32,
    /// How many the state asked for.
    wanted: u32,
    /// Velocities and spins before the mouse pulled.
    before: Vec<(Vec<DVec3>, Vec<DVec3>)>,
    /// Memory for substeps of higher order.
    start: order::Start,
}

impl Group {
    /// The group of `connected` matter of a model.
    pub fn new(model: &Model, connected: &crate::build::Connected) -> Result<Self, TreeError> {
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
            .map(|t| {
                let nodes = model.matters[t.matter.index()].masses().len();
                Ok(Skin {
                    matter: t.matter,
                    patch: Patch::new(model.touchable(t), nodes)?,
                    friction: t.friction,
                    held: Vec::new(),
                })
            })
            .collect::<Result<_, _>>()?;
        let within_joint = |j: &Joint| j.anchors().flatten().any(|a| within(a.matter));
        let (mut timetables, mut joint_index) = (Vec::new(), Vec::new());
        for (k, joint) in model.joints.iter().enumerate() {
            if within_joint(joint) {
                let ours = model.timetables.iter().filter(|t| t.joint == k);
                timetables.extend(ours.map(|t| (joint_index.len(), t.clone())));
                joint_index.push(k);
            }
        }
        let mut nodes: Vec<Nodes> = model.start[..model.prescribed()].to_vec();
        nodes[0].ahead[0].orientation = nodes[0].orientation[0];
        nodes.resize_with(model.prescribed() + connected.members.len(), Nodes::default);
        Ok(Self {
            bad: vec![0; connected.members.len()],
            fallen: Vec::with_capacity(connected.members.len()),
            members: connected.members.clone(),
            skins,
            scene_ties: ties.len(),
            ties,
            joints: joint_index
                .iter()
                .map(|k| model.joints[*k].clone())
                .collect(),
            joint_index,
            version: 0,
            halvings: 0,
            blows: 0,
            lost: Vec::new(),
            redundant: Vec::new(),
            collisions: Collisions::new(model).filter(|_| model.bodies.is_some_and(within)),
            reactions: vec![DVec3::ZERO; model.tools.len()],
            clock: Clock::start(),
            aim: Outcome::default(),
            correct: Outcome::default(),
            h: model.step,
            hypers: hypers_within(model, within),
            globals: globals_within(model, within),
            stable: connected.bounds.safe,
            films: model.film_step(&connected.members),
            nodes,
            warm: Vec::new(),
            probes: Probes::new(model, model.bodies.is_some_and(within), PARTS),
            works: model.works(&connected.members),
            timetables,
            contacts: Vec::new(),
            keys: Vec::new(),
            touches: Vec::new(),
            capsules: Vec::new(),
            ahead: Vec::new(),
            approach: 0.0,
            poses: Vec::new(),
            only_films: connected.members.iter().all(|m| model.net(*m).is_none()),
            solver: Solver::default(),
            stages: Stages::default(),
            gauge: Gauge::default(),
            adaptive: model.adaptive.then_some(connected.bounds.exact),
            count: 0,
            wanted: 0,
            before: Vec::new(),
            start: order::Start::default(),
        })
    }

    /// Has the joints looked at anew: what is tied to what has changed.
    pub fn replan(&mut self) {
        self.version += 1;
    }

    /// Takes over new bounds on the substep, and what joins its members.
    pub fn renew(&mut self, model: &Model, bounds: &StepBounds) {
        self.replan();
        self.stable = bounds.safe;
        self.adaptive = self.adaptive.map(|_| bounds.exact);
        let within = |m: MatterId| self.members.contains(&m);
        let (hypers, mut globals) = (hypers_within(model, within), globals_within(model, within));
        // Tears have moved some of their ends.
        for (new, old) in globals.iter_mut().zip(&self.globals) {
            new.ends = old.ends;
        }
        (self.hypers, self.globals) = (hypers, globals);
    }

    /// Elements between different things, where they end by now.
    pub fn globals(&self) -> &[Global] {
        &self.globals
    }

    /// Where ties, joints and elements of the scene end, always in the same order.
    pub fn feet(&self) -> impl Iterator<Item = Anchor> + '_ {
        let ties = self.ties[..self.scene_ties].iter();
        let joints = self.joints.iter().flat_map(Joint::anchors);
        let globals = self.globals.iter().flat_map(|g| g.ends);
        let pulled = globals.filter_map(|end| match end {
            End::On(anchor) => Some(anchor),
            End::At(_) => None,
        });
        let joined = ties.map(|t| [t.a, t.b]).chain(joints).flatten();
        joined.chain(pulled)
    }

    /// The same, to be moved.
    pub fn each_foot(&mut self, mut show: impl FnMut(&mut Anchor)) {
        for tie in &mut self.ties[..self.scene_ties] {
            show(&mut tie.a);
            show(&mut tie.b);
        }
        for joint in &mut self.joints {
            for base in &mut joint.bases {
                show(&mut base.a);
                show(&mut base.b);
            }
            for control in &mut joint.controls {
                show(&mut control.a);
                show(&mut control.b);
            }
        }
        for end in self.globals.iter_mut().flat_map(|g| &mut g.ends) {
            if let End::On(anchor) = end {
                show(anchor);
            }
        }
    }

    /// Takes over how long substeps may be now that membranes have changed.
    pub fn note_films(&mut self, model: &Model) {
        self.films = model.film_step(&self.members);
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
        self.contacts.len() + self.body_contacts().len() + self.touched_by_needles()
    }

    /// Contacts of bodies in the last substep.
    pub fn body_contacts(&self) -> &[BodyContact] {
        self.collisions.as_ref().map_or(&[], |c| &c.list)
    }

    /// Shows each contact of the last substep, and how long that was, s.
    pub fn see_contacts(&self, mut see: impl FnMut(&Contact, f64)) {
        for contact in &self.contacts {
            see(contact, self.h);
        }
        for contact in self.body_contacts() {
            let [a, b] = [(contact.a, 0), (contact.b, 1)]
                .map(|((matter, node), k)| Anchor::frame(matter, node, contact.at[k]));
            let total = contact.total + contact.blow;
            let impulse = contact.normal.dot(total);
            let shown = Contact {
                a,
                b,
                normal: contact.normal,
                distance: 0.0,
                friction: contact.friction,
                recovery: contact.recovery,
                give: 0.0,
                impulse,
                rub: total - contact.normal * impulse,
            };
            see(&shown, self.h);
        }
    }

    /// Adds what the search for contacts looked at in the last step.
    pub fn see_search(&self, insight: &mut Insight) {
        let (boxes, search) = (&mut insight.boxes, &mut insight.search);
        search.probes += self.probes.list.len() as u32;
        search.contacts += self.contacts.len() as u32;
        for skin in &self.skins {
            let from = boxes.len();
            skin.patch.see_boxes(|level, bounds, is_near| {
                if level == 0 {
                    boxes.push(BoxInsight::new(bounds, is_near));
                }
            });
            search.boxes += (boxes.len() - from) as u32;
            search.pairs += skin.patch.pairs() as u32;
        }
        if let Some(collisions) = &self.collisions {
            let (bounds, pairs) = collisions.search();
            let from = boxes.len();
            boxes.extend(bounds.iter().map(|b| BoxInsight::new(b, false)));
            for i in pairs.iter().flat_map(|p| [p.a, p.b]) {
                boxes[from + i as usize].is_near = true;
            }
            search.body_pairs += pairs.len() as u32;
            search.contacts += collisions.list.len() as u32;
        }
    }

    /// Substeps of the last step, before any was halved.
    pub fn substep_count(&self) -> u32 {
        self.count
    }

    /// Substeps that the state asked for, if that is more than are taken; else 0.
    pub fn substeps_short(&self) -> u32 {
        self.wanted.saturating_sub(crate::build::MAX_SUBSTEPS)
    }

    /// How many substeps a step of `dt` takes: as many as any state may need, or as this one does (KB9).
    fn count_substeps(&mut self, stage: &Stage<'_>) -> u32 {
        let bound = match self.adaptive {
            None => self.stable,
            Some(exact) => {
                let first = self.nodes.len() - self.members.len();
                let members = &self.members;
                let net = |share: usize| {
                    let member = members.get(share.checked_sub(first)?)?;
                    stage.model.net(*member)
                };
                let matters = &stage.model.matters;
                let sight = Sight {
                    matter: |m: MatterId| &*matters[m.index()],
                    slot: stage.slot,
                };
                let joined = (self.hypers.as_slice(), self.globals.as_slice());
                let now = self
                    .gauge
                    .bound(&net, &mut self.nodes, joined, &sight, stage.time);
                now.min(0.9 * exact)
            }
        };
        // A thin tool is looked at more often: on the way of its own radius tissue can't get past its axis.
        let near = self.capsules.iter().filter(|c| **c != NOWHERE);
        let radii = near.map(|c| c.radius);
        let least = radii.fold(WATCH, f64::min).max(LEAST_LOOK);
        let looks = trocar_math::real::ceil(self.approach / least) as u32;
        let needles = self.works.iter().map(|w| w.substeps).fold(1, u32::max);
        let looks = looks.max(needles);
        self.wanted = substeps(stage.dt, bound.min(self.films)).max(looks);
        self.wanted.min(crate::build::MAX_SUBSTEPS)
    }

    /// Which triangles instruments and bodies may touch in this step.
    pub fn gather(&mut self, stage: &Stage<'_>) {
        self.reactions.fill(DVec3::ZERO);
        self.aim = Outcome::RIGHT;
        self.correct = self.aim;
        self.fallen.clear();
        self.halvings = 0;
        self.blows = 0;
        self.lost.clear();
        self.redundant.clear();
        self.clock = Clock::start();
        self.approach = 0.0;
        if self.skins.is_empty() {
            return;
        }
        // Tissue that is pushed goes as far as what pushes it, and as far as it goes by itself.
        let motion = self.place_tools(stage, 0.0, 1.0);
        let reach = match self.only_films {
            true => 2.0 * motion,
            false => 2.0 * motion + 2.0 * WATCH,
        };
        self.lead_fixtures(stage, 0.0, 1.0, stage.dt);
        let nodes = &self.nodes;
        let share = |m: MatterId| &nodes[stage.slot[m.index()] as usize];
        self.probes.place(
            stage.model,
            (&self.capsules, &self.ahead),
            (reach, self.only_films),
            share,
            stage.dt,
        );
        for probe in &mut self.probes.list {
            probe.margin = match (self.only_films, &probe.ahead) {
                (true, Some(ahead)) => probe.margin + ahead.watch,
                _ => probe.margin.max(reach),
            };
        }
        let first = self.nodes.len() - self.members.len();
        for skin in &mut self.skins {
            let slot = stage.slot[skin.matter.index()] as usize;
            debug_assert!(slot >= first);
            let nodes = &self.nodes[slot];
            let moved = skin.patch.follow(&nodes.position);
            let near = skin.patch.gather(&self.probes.list, &nodes.position, moved);
            if near > 0 {
                let speeds = stage.model.tools.iter().map(|t| t.grasper.speed);
                let fastest = speeds.fold(0.0, f64::max);
                let mut tissue = 0.0_f64;
                if fastest > HAND {
                    let masses = stage.model.matters[skin.matter.index()].masses();
                    let speed = |n: u32| masses.node_velocity(nodes, n as usize).length();
                    tissue = skin.patch.near_nodes().map(speed).fold(0.0, f64::max);
                }
                let flung = tissue.min(fastest) * stage.dt;
                self.approach = self.approach.max(motion + flung);
            }
        }
        self.mend_skins(stage);
        self.begin_works(stage);
    }

    /// Puts tissues back whose nodes are no numbers where something could touch them, before they are looked at in substeps.
    fn mend_skins(&mut self, stage: &Stage<'_>) {
        for s in 0..self.skins.len() {
            let skin = &self.skins[s];
            let own = |m: &MatterId| *m == skin.matter;
            if let (Some(_), Some(k)) = (skin.patch.broken(), self.members.iter().position(own)) {
                self.quarantine(stage, k);
                let skin = &mut self.skins[s];
                let positions = &self.nodes[stage.slot[skin.matter.index()] as usize].position;
                let moved = skin.patch.follow(positions);
                skin.patch.gather(&self.probes.list, positions, moved);
            }
        }
    }

    /// Puts the hulls of all tools where they are at `from` (a fraction of the step); returns how far any
    /// point of them moves until `to`.
    fn place_tools(&mut self, stage: &Stage<'_>, from: f64, to: f64) -> f64 {
        self.capsules.clear();
        self.ahead.clear();
        self.poses.clear();
        let mut motion = 0.0_f64;
        for (tool, moves) in stage.model.tools.iter().zip(stage.motions) {
            let poses = tool.grasper.poses(&moves.at(from));
            let capsules = tool.grasper.capsules(&poses);
            let ahead = tool.grasper.capsules(&tool.grasper.poses(&moves.at(to)));
            let unseen = self.only_films && tool.kind == InstrumentKind::Needle;
            for (part, (a, b)) in capsules.into_iter().zip(ahead).enumerate() {
                // A needle's tip works membranes by forces; nobody need look for what it touches otherwise.
                if unseen && part > 0 {
                    self.capsules.push(NOWHERE);
                    self.ahead.push(NOWHERE);
                    continue;
                }
                motion = motion.max(a.a.distance(b.a)).max(a.b.distance(b.b));
                self.capsules.push(a);
                self.ahead.push(b);
            }
            self.poses.push(poses);
        }
        motion
    }

    /// All substeps of this step.
    pub fn step(&mut self, stage: &Stage<'_>) {
        let count = self.count_substeps(stage);
        self.count = count;
        for index in 0..count {
            self.substep(
                stage,
                Sub {
                    from: f64::from(index) / f64::from(count),
                    to: f64::from(index + 1) / f64::from(count),
                    h: stage.dt / f64::from(count),
                    depth: 0,
                    error: f64::INFINITY,
                },
            );
        }
        self.settle(stage);
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

    /// One substep; or its two halves, if its joints lead nowhere (B94).
    fn substep(&mut self, stage: &Stage<'_>, sub: Sub) {
        self.detect(stage, sub);
        self.clock.lap(Lap::Detect);
        if self.link(stage, sub) {
            return;
        }
        self.force(stage, sub);
        self.clock.lap(Lap::Force);
        let solved = self.aim(stage, sub);
        self.clock.lap(Lap::Aim);
        if let Err(error) = solved {
            self.halvings += 1;
            let halves = sub.halves(error);
            return halves
                .into_iter()
                .for_each(|half| self.substep(stage, half));
        }
        self.advance(stage, sub);
        self.clock.lap(Lap::Advance);
        self.correct(stage);
        self.clock.lap(Lap::Correct);
    }

    /// Contacts at the start of the substep, watched as far as the tools move in it.
    fn detect(&mut self, stage: &Stage<'_>, sub: Sub) {
        self.h = sub.h;
        let (from, to) = (sub.from, sub.to);
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
        self.lead_fixtures(stage, sub.from, sub.to, sub.h);
        self.detect_bodies(stage, sub);
        self.stir_pulled(stage);
        self.contacts.clear();
        self.keys.clear();
        if self.skins.is_empty() {
            return;
        }
        let nodes = &self.nodes;
        let share = |m: MatterId| &nodes[stage.slot[m.index()] as usize];
        self.probes.place(
            stage.model,
            (&self.capsules, &self.ahead),
            (motion, self.only_films),
            share,
            sub.h,
        );
        for skin in &mut self.skins {
            // What is frozen can't give way, so no force could be right.
            let frozen = |(m, bad): (&MatterId, &u32)| *m == skin.matter && *bad >= PATIENCE;
            if self.members.iter().zip(&self.bad).any(frozen) {
                continue;
            }
            let nodes = share(skin.matter);
            let masses = stage.model.matters[skin.matter.index()].masses();
            let way = |n: u32| masses.node_velocity(nodes, n as usize) * sub.h;
            skin.patch
                .touches(&self.probes.list, &nodes.position, &way, &mut self.touches);
            if self.contacts.capacity() - self.contacts.len() < self.touches.len() {
                // For a few times as many: what slides on has more of them before long.
                let room = 2 * self.touches.capacity();
                self.contacts.reserve(room);
                self.keys.reserve(room);
                self.warm
                    .reserve((self.contacts.len() + room).saturating_sub(self.warm.len()));
            }
            for touch in &self.touches {
                let tool = self.probes.tool(touch.probe, PARTS);
                if let Some((tool, part)) = tool {
                    // Between jaws that hold a tissue there is no way out for it: they would push it against
                    // each other. The shaft pushes all but what it carries.
                    let of_tool = |held: &&(usize, u32)| held.0 == tool;
                    let carries = |held: &(usize, u32)| part > 0 || touch.nodes.contains(&held.1);
                    if skin.held.iter().filter(of_tool).any(carries) {
                        continue;
                    }
                    // Of a membrane a needle's tip is a matter of forces, and closing blades are to cut it, not to push it away.
                    if part > 0 && stage.model.membrane(skin.matter).is_some() {
                        let moves = &stage.motions[tool];
                        match stage.model.tools[tool].kind {
                            InstrumentKind::Needle => continue,
                            InstrumentKind::Scissors if moves.to.jaw < moves.from.jaw => continue,
                            _ => {}
                        }
                    }
                }
                if self.probes.is_apart(stage.model, touch.probe, skin.matter) {
                    continue;
                }
                let (owner, friction) = self.probes.owner(stage.model, touch.probe, PARTS);
                let moves = Some(owner.0) == stage.model.bodies;
                if !moves && !yields(masses, touch) {
                    continue;
                }
                // A tissue that does not say how it rubs lets instruments slip, as it always has.
                let of_skin = skin.friction.unwrap_or(match tool {
                    Some(_) => [0.0; 2],
                    None => TISSUE_FRICTION,
                });
                let friction = [0, 1].map(|k| (friction[k] * of_skin[k]).sqrt());
                let mut contact = match tool {
                    Some((tool, part)) if friction[0] == 0.0 => Contact {
                        a: Anchor::frame(owner.0, owner.1, self.poses[tool][part].local(touch.at)),
                        b: Anchor {
                            matter: skin.matter,
                            at: Local::Triangle(touch.nodes, touch.weights),
                        },
                        normal: touch.normal,
                        distance: touch.distance,
                        friction: 0.0,
                        recovery: stage.budget.recovery,
                        give: 0.0,
                        impulse: 0.0,
                        rub: DVec3::ZERO,
                    },
                    _ => {
                        let corners = touch.nodes.iter().zip(touch.weights);
                        let sum = |of: &dyn Fn(usize) -> DVec3| {
                            let weighed = corners.clone().map(|(n, w)| of(*n as usize) * w);
                            weighed.fold(DVec3::ZERO, |sum, x| sum + x)
                        };
                        let place = Place {
                            touch,
                            tissue: skin.matter,
                            point: sum(&|i| nodes.position[i]),
                            velocity: sum(&|i| masses.node_velocity(nodes, i)),
                        };
                        place.contact(owner, share(owner.0), friction, sub.h, tool.is_none())
                    }
                };
                let key = (skin.matter, touch.probe as u32, touch.key.0, touch.key.1);
                if let Ok(i) = self.warm.binary_search_by(|w| w.key.cmp(&key)) {
                    let warm = &self.warm[i];
                    // A tool goes its own way, and a faster hand has shorter substeps: what keeps tissue off it is a matter of that way,
                    // not of weight. Made larger with the substep, it flung tissue that was crushed against fixed nodes.
                    let growth = match tool {
                        Some(_) => 1.0,
                        None => solve::growth(warm.h, sub.h),
                    };
                    contact.impulse = warm.impulse * growth;
                    contact.rub = warm.rub * growth;
                }
                self.keys.push(key);
                self.contacts.push(contact);
            }
        }
        self.stir_bodies(stage);
    }

    /// Bodies that elements pull at drift by their new velocity: by the mean of old and new they would swing up.
    fn stir_pulled(&mut self, stage: &Stage<'_>) {
        let Some(bodies) = stage.model.bodies else {
            return;
        };
        for end in self.globals.iter().flat_map(|g| g.ends) {
            if let End::On(anchor) = end
                && anchor.matter == bodies
                && let Local::Frame(node, _) | Local::Node(node) = anchor.at
            {
                self.nodes[stage.slot[bodies.index()] as usize].touching[node as usize] = true;
            }
        }
    }

    /// Bodies that touch tissue do not sleep, and drift by their new velocity.
    fn stir_bodies(&mut self, stage: &Stage<'_>) {
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
        let mut changed = false;
        for joint in &mut self.joints {
            let rests = collisions.rests(joint);
            changed |= std::mem::replace(&mut joint.asleep, rests) != rests;
        }
        if changed {
            self.replan();
        }
    }

    /// Bodies whose motion is prescribed go their way.
    fn lead_fixtures(&mut self, stage: &Stage<'_>, from: f64, to: f64, h: f64) {
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

    /// Contacts of rigid bodies; what strikes another rebounds.
    fn detect_bodies(&mut self, stage: &Stage<'_>, sub: Sub) {
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
        let pulled = self.globals.iter().flat_map(|g| g.ends);
        let pushed = stage.pushes.iter().map(|p| End::On(p.0));
        for end in pulled.chain(pushed) {
            if let End::On(anchor) = end
                && let (true, Local::Frame(node, _) | Local::Node(node)) =
                    (Some(anchor.matter) == stage.model.bodies, anchor.at)
            {
                collisions.wake(node as usize);
            }
        }
        let nodes = &self.nodes;
        let share = |m: MatterId| &nodes[stage.slot[m.index()] as usize];
        collisions.detect(stage.model, share, sub.h, stage.crew);
        self.rest_joints();
        let Some(collisions) = &mut self.collisions else {
            return;
        };
        if let Some(bodies) = stage.model.bodies {
            let touching = &mut self.nodes[stage.slot[bodies.index()] as usize].touching;
            touching.fill(false);
            for (matter, node) in collisions.list.iter().flat_map(|c| [c.a, c.b]) {
                if matter == bodies {
                    touching[node as usize] = true;
                }
            }
        }
        if collisions.list.iter().any(|c| c.restitution > 0.0) {
            let mut cast = Cast {
                matters: &stage.model.matters,
                slot: stage.slot,
                nodes: &mut self.nodes,
            };
            // The speed that falling through the watched gap would give (B81), or a substep of gravity.
            let g = stage.model.gravity.length();
            let slow = (2.0 * g * 1e-4).sqrt().max(2.0 * g * sub.h);
            solve::rebound(
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
    fn force(&mut self, stage: &Stage<'_>, sub: Sub) {
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
            for (k, m) in members.iter().enumerate() {
                let nodes = &mut nodes[slot[m.index()] as usize];
                match stage.crew {
                    Some(crew) => matters[m.index()].force_by(nodes, &field, crew),
                    None => matters[m.index()].force(nodes, &field),
                }
                if bad[k] >= PATIENCE {
                    freeze(nodes);
                }
                if let (Some(rest), true) = (resting, Some(*m) == stage.model.bodies) {
                    for (i, _) in rest.iter().enumerate().filter(|r| r.1.asleep) {
                        nodes.velocity[i] = DVec3::ZERO;
                        nodes.spin[i] = DVec3::ZERO;
                        nodes.force[i] = DVec3::ZERO;
                        nodes.torque[i] = DVec3::ZERO;
                    }
                }
            }
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
            .gather(&masses, &mut self.nodes, sub.h, evaluate, copy);
        self.act_works(stage, sub);
        for m in &self.members {
            stage.model.matters[m.index()]
                .plan(&mut self.nodes[stage.slot[m.index()] as usize], sub.h);
        }
    }

    /// Impulses that put ties together and contacts on their hulls at the end of the substep. The mouse pulls before them: it
    /// needs the plan that `force` ends with, and whatever it does, ties and contacts must hold after it. An error (that of the
    /// joints, m) if they can't be solved in a substep this long; all is then as before.
    fn aim(&mut self, stage: &Stage<'_>, sub: Sub) -> Result<(), f64> {
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

    /// Everything moves once.
    fn advance(&mut self, stage: &Stage<'_>, sub: Sub) {
        for k in 0..self.members.len() {
            if self.bad[k] >= PATIENCE {
                continue;
            }
            let m = self.members[k].index();
            let nodes = &mut self.nodes[stage.slot[m] as usize];
            let matter = &stage.model.matters[m];
            let sound = match stage.crew {
                Some(crew) => matter.advance_by(nodes, sub.h, crew),
                None => matter.advance(nodes, sub.h),
            };
            if !sound {
                self.quarantine(stage, k);
            }
        }
        let masses = |m: MatterId| stage.model.matters[m.index()].masses();
        for hyper in &self.hypers {
            hyper.copy(masses, &mut self.nodes, stage.slot);
        }
        for (m, _) in (self.members.iter().zip(&self.bad)).filter(|(_, bad)| **bad < PATIENCE) {
            let nodes = &mut self.nodes[stage.slot[m.index()] as usize];
            stage.model.matters[m.index()].settle(nodes);
        }
        for tool in &stage.model.tools {
            let nodes = &mut self.nodes[tool.matter.index()];
            stage.model.matters[tool.matter.index()].advance(nodes, sub.h);
        }
        if let Some(fixtures) = stage.model.fixtures {
            let nodes = &mut self.nodes[fixtures.index()];
            stage.model.matters[fixtures.index()].advance(nodes, sub.h);
        }
    }

    /// Relative velocities of ties.
    fn correct(&mut self, stage: &Stage<'_>) {
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
            collisions.keep(stage.model);
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

    /// Puts a member whose numbers went bad back to rest.
    fn quarantine(&mut self, stage: &Stage<'_>, k: usize) {
        let m = self.members[k];
        let nodes = &mut self.nodes[stage.slot[m.index()] as usize];
        if Some(m) == stage.model.bodies {
            // Bodies do not hang together as a net does: only those that went bad are put back.
            let start = &stage.model.start[m.index()];
            for i in 0..nodes.len() {
                if !is_sound(nodes, i) {
                    put_back(nodes, start, i);
                    if let Some(collisions) = &mut self.collisions {
                        // What leant on it leans on nothing now.
                        collisions.wake_around(stage.model, i);
                    }
                }
            }
        } else {
            nodes.copy_from(&stage.model.start[m.index()]);
            freeze(nodes);
            self.bad[k] += 1;
        }
        if let Some(collisions) = &mut self.collisions {
            collisions.warm.clear();
            for contact in &mut collisions.list {
                (contact.impulse, contact.relief) = (DVec3::ZERO, DVec3::ZERO);
            }
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

/// Adds an impulse (N·s) on an anchor to what the instrument it is on feels at its tip; nothing if it is on none.
fn feel(
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
fn feel_both(
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

/// True if a node's numbers are numbers and it is still in the world.
fn is_sound(nodes: &Nodes, i: usize) -> bool {
    let mut sum = nodes.position[i] + nodes.velocity[i];
    if let (Some(q), Some(spin)) = (nodes.orientation.get(i), nodes.spin.get(i)) {
        sum += *spin + q.xyz() * q.w;
    }
    sum.is_finite() && Masses::is_in_world(nodes.position[i])
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
    all.redundant = all.redundant.max(new.redundant);
    all.failed |= new.failed;
    all.wild |= new.wild;
}

/// Copies whose masters are `within` a group; copies and masters always are in one.
fn hypers_within(model: &Model, within: impl Fn(MatterId) -> bool) -> Vec<Hyper> {
    let all = model.hypers.iter();
    all.filter(|h| within(h.master.0)).copied().collect()
}

/// Elements with an end `within` a group.
fn globals_within(model: &Model, within: impl Fn(MatterId) -> bool) -> Vec<Global> {
    let ours = |g: &&Global| {
        g.ends
            .iter()
            .any(|e| matches!(e, End::On(a) if within(a.matter)))
    };
    model.globals.iter().filter(ours).cloned().collect()
}

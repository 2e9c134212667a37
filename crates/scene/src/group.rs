//! Matter that is connected: what is stepped together, on one thread; groups are spread over threads (K84).

mod bodies;
mod fold;
mod force;
mod impulse;
mod led;
mod order;
mod quarantine;
mod sight;
mod skin;

pub use led::Motion;
pub use skin::{Amid, Skin};

use crate::{
    build::{MAX_SUBSTEPS, Model, Timetable, pose, substeps},
    collisions::Collisions,
    command::Yielding,
    folds::Folding,
    probes::{Key, Probes, WATCH, Warm},
    report::{Clock, Stage as Lap},
    simulation::{WORTH_SHARING, is_most},
    works::Work,
};
use glam::DVec3;
use led::NOWHERE;
use quarantine::PATIENCE;
use std::sync::atomic::{AtomicBool, Ordering};
use trocar_collide::{Capsule, Touch, tree::TreeError};
use trocar_dynamics::{
    Anchor, Budget, Contact, Crew, Joint, Local, Matter, MatterId, Nodes, Outcome, Pull, Stages,
    State, Tie,
    solve::{Methods, Solver},
};
use trocar_math::Pose;
use trocar_soft::{
    Global, Hyper, StepBounds,
    global::{End, Flow, Sight},
    stability::{Gauge, Tempo},
};
use trocar_tools::grasper::PARTS;

/// Contacts need not be looked at more often than once on this way, m.
const LEAST_LOOK: f64 = 1e-4;

/// So many substeps are taken before somebody looks again how long they may be, at most: a blow may change that at any time.
const MOST_BLIND: u32 = 4;

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

/// Substeps of one length, one after the other.
struct Plan {
    /// Where the first begins, as a fraction of the step; the last one ends with the step.
    from: f64,
    count: u32,
    done: u32,
}

impl Plan {
    /// A step of `count` substeps.
    fn new(count: u32) -> Self {
        Self {
            from: 0.0,
            count,
            done: 0,
        }
    }

    /// What is left of it from a fraction of the step on, in `count` substeps.
    fn rest(&self, from: f64, count: u32) -> Self {
        Self {
            from,
            ..Self::new(count)
        }
    }

    /// The next substep of a step of `dt` s.
    fn next(&mut self, dt: f64) -> Option<Sub> {
        (self.done < self.count).then(|| {
            let part = |n: u32| match n == self.count {
                true => 1.0,
                false => self.from + (1.0 - self.from) * (f64::from(n) / f64::from(self.count)),
            };
            let (from, to) = (part(self.done), part(self.done + 1));
            self.done += 1;
            Sub {
                from,
                to,
                h: (1.0 - self.from) * dt / f64::from(self.count),
                depth: 0,
                error: f64::INFINITY,
            }
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
    /// Of each member: whether its numbers were sound when it last moved.
    sound: Vec<AtomicBool>,
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
    /// Points that still struck each other when no more passes were made, in the substep with most of them.
    pub blows_left: u32,
    /// Greatest overlap of two bodies at the start of a substep, m.
    pub penetration: f64,
    /// Greatest slip of a point that friction held at the start of a substep, m/s.
    pub slip: f64,
    /// Bodies that went farther in a substep than contacts are looked for, in the one with most of them.
    pub too_fast: u32,
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
    /// Its tissues that touch themselves and each other.
    pub folding: Option<Folding>,
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
    /// How far nodes of each skin moved since the last step, m.
    moved: Vec<f64>,
    poses: Vec<[Pose; PARTS]>,
    /// True if all its surfaces are those of membranes.
    only_films: bool,
    solver: Solver,
    stages: Stages,
    gauge: Gauge,
    /// The exact bound at rest, s, if substeps follow the state (KB9).
    adaptive: Option<f64>,
    /// How long they are then.
    tempo: Tempo,
    /// True if how long they may be changes within a step: something in it is not linear.
    uneven: bool,
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
                Ok(Skin {
                    matter: t.matter,
                    patch: model.patch(t.matter)?,
                    friction: t.friction,
                    touchable: t.touchable,
                    held: Vec::new(),
                    amid: Vec::new(),
                    speed: f64::INFINITY,
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
        let globals = globals_within(model, within);
        Ok(Self {
            bad: vec![0; connected.members.len()],
            sound: connected.members.iter().map(|_| true.into()).collect(),
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
            blows_left: 0,
            penetration: 0.0,
            slip: 0.0,
            too_fast: 0,
            lost: Vec::new(),
            redundant: Vec::new(),
            collisions: Collisions::new(model).filter(|_| model.bodies.is_some_and(within)),
            reactions: vec![DVec3::ZERO; model.tools.len()],
            clock: Clock::start(),
            aim: Outcome::default(),
            correct: Outcome::default(),
            h: model.step,
            hypers: hypers_within(model, within),
            uneven: is_uneven(model, &connected.members, &globals),
            globals,
            stable: connected.bounds.safe,
            films: model.film_step(&connected.members),
            nodes,
            warm: Vec::new(),
            probes: Probes::new(model, model.bodies.is_some_and(within), PARTS),
            works: model.works(&connected.members),
            folding: Folding::new(model, within),
            timetables,
            contacts: Vec::new(),
            keys: Vec::new(),
            touches: Vec::new(),
            capsules: Vec::new(),
            ahead: Vec::new(),
            approach: 0.0,
            moved: Vec::new(),
            poses: Vec::new(),
            only_films: connected.members.iter().all(|m| model.net(*m).is_none()),
            solver: Solver::default(),
            stages: Stages::default(),
            gauge: Gauge::default(),
            adaptive: model.adaptive.then_some(connected.bounds.exact),
            tempo: Tempo::default(),
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

    /// Has its `k`-th joint take hold of its sides as they stand.
    pub fn take_hold(&mut self, k: usize, model: &Model, state: &State) {
        let node = |anchor: Anchor| match anchor.at {
            Local::Frame(n, _) => Some(pose(&state.nodes[anchor.matter.index()], n as usize)),
            _ => None,
        };
        let sides = self.joints[k].anchors().next().map(|sides| sides.map(node));
        if let Some([Some(a), Some(b)]) = sides {
            let turn = a.rotation.conjugate();
            let stands = Pose::new(turn * (b.position - a.position), turn * b.rotation);
            self.catch(k, model, &stands);
        }
    }

    /// Has its `k`-th joint take hold of its sides as they stood: that of b in the frame of a's.
    pub fn catch(&mut self, k: usize, model: &Model, stands: &Pose) {
        self.joints[k].catch(&model.joints[self.joint_index[k]], stands);
    }

    /// Takes over new bounds on the substep, and what joins its members.
    pub fn renew(&mut self, model: &Model, bounds: &StepBounds) {
        self.replan();
        self.stable = bounds.safe;
        self.adaptive = self.adaptive.map(|_| bounds.exact);
        let within = |m: MatterId| self.members.contains(&m);
        let (hypers, mut globals) = (hypers_within(model, within), globals_within(model, within));
        // Tears have moved some of their ends, and some have yielded.
        for (new, old) in globals.iter_mut().zip(&self.globals) {
            new.ends_mut().copy_from_slice(old.ends());
            new.resume_flow(old.flow());
        }
        (self.hypers, self.globals) = (hypers, globals);
        self.uneven = is_uneven(model, &self.members, &self.globals);
    }

    /// Lets substeps follow the state from now on, or not (KB9).
    pub fn adapt(&mut self, follows: bool, bounds: &StepBounds) {
        self.adaptive = follows.then_some(bounds.exact);
        self.tempo = Tempo::default();
    }

    /// How long its substeps are, if they follow the state.
    pub fn tempo(&self) -> Option<Tempo> {
        self.adaptive.map(|_| self.tempo)
    }

    /// Goes on at a tempo it once had.
    pub fn resume_tempo(&mut self, tempo: Option<Tempo>) {
        self.tempo = tempo.unwrap_or_default();
    }

    /// Elements between different things, where they end by now.
    pub fn globals(&self) -> &[Global] {
        &self.globals
    }

    /// Has elements between a tissue and other things, or one of the model's elements between things, forget that they yielded.
    pub fn forget_flow<'a, F: Fn(MatterId) -> &'a dyn Matter>(
        &mut self,
        model: &Model,
        what: Yielding,
        sight: &Sight<'a, F>,
        nodes: &[Nodes],
    ) {
        // Its elements are those of the model that end on its members, in the same order.
        let (members, globals) = (&self.members, &mut self.globals);
        let within = |g: &Global| g.anchors().any(|a| members.contains(&a.matter));
        let ours = model.globals.iter().enumerate().filter(|(_, g)| within(g));
        for ((i, _), global) in ours.zip(globals) {
            let meant = match what {
                Yielding::Tissue(matter) => global.anchors().any(|a| a.matter == matter),
                Yielding::Element(number) => i == number,
            };
            if meant {
                global.forget_flow(sight, nodes);
            }
        }
    }

    /// Goes on with what elements between things once remembered.
    pub fn resume_flows(&mut self, flows: impl IntoIterator<Item = Flow>) {
        for (global, flow) in self.globals.iter_mut().zip(flows) {
            global.resume_flow(flow);
        }
    }

    /// Where ties, joints and elements of the scene end, always in the same order; but for joints between bodies, which never tear off.
    pub fn feet(&self) -> impl Iterator<Item = Anchor> + '_ {
        let ties = self.ties[..self.scene_ties].iter();
        let joints = self.joints.iter().filter(|j| !j.is_framed());
        let joints = joints.flat_map(Joint::anchors);
        let pulled = self.globals.iter().flat_map(Global::anchors).copied();
        let joined = ties.map(|t| [t.a, t.b]).chain(joints).flatten();
        joined.chain(pulled)
    }

    /// The same, to be moved.
    pub fn each_foot(&mut self, mut show: impl FnMut(&mut Anchor)) {
        for tie in &mut self.ties[..self.scene_ties] {
            show(&mut tie.a);
            show(&mut tie.b);
        }
        for joint in self.joints.iter_mut().filter(|j| !j.is_framed()) {
            for base in &mut joint.bases {
                show(&mut base.a);
                show(&mut base.b);
            }
            for control in &mut joint.controls {
                show(&mut control.a);
                show(&mut control.b);
            }
        }
        let ends = self.globals.iter_mut().flat_map(|g| g.ends_mut());
        ends.filter_map(End::anchor_mut).for_each(show);
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

    /// Which way its joints were solved in the last substep.
    pub fn methods(&self) -> Methods {
        self.solver.methods()
    }

    /// Substeps of the last step, before any was halved.
    pub fn substep_count(&self) -> u32 {
        self.count
    }

    /// Substeps that the state asked for, if that is more than are taken; else 0.
    pub fn substeps_short(&self) -> u32 {
        self.wanted.saturating_sub(MAX_SUBSTEPS)
    }

    /// How long a substep may be that begins at `time` s: as long as any state bears, or as this one does (KB9).
    fn longest_substep(&mut self, stage: &Stage<'_>, time: f64) -> f64 {
        let Some(exact) = self.adaptive else {
            return self.stable.min(self.films);
        };
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
        let when = (time, stage.crew);
        let nodes = &mut self.nodes;
        let now = self.gauge.bound(&net, nodes, joined, &sight, when);
        self.tempo.follow(now, exact).min(self.films)
    }

    /// How often contacts must be looked at in this step.
    fn looks(&self) -> u32 {
        // A thin tool is looked at more often: on the way of its own radius tissue can't get past its axis.
        let near = self.capsules.iter().filter(|c| **c != NOWHERE);
        let radii = near.map(|c| c.radius);
        let least = radii.fold(WATCH, f64::min).max(LEAST_LOOK);
        let looks = trocar_math::real::ceil(self.approach / least) as u32;
        let needles = self.works.iter().map(|w| w.substeps).fold(1, u32::max);
        looks.max(needles)
    }

    /// All substeps of this step.
    pub fn step(&mut self, stage: &Stage<'_>) {
        let looks = self.looks();
        let longest = self.longest_substep(stage, stage.time);
        self.wanted = substeps(stage.dt, longest).max(looks);
        let mut plan = Plan::new(self.wanted.min(MAX_SUBSTEPS));
        self.count = plan.count;
        if self.sleeps_on(stage) {
            return;
        }
        self.count = 0;
        // Time and substeps since somebody looked how long these may be.
        let (mut passed, mut blind) = (0.0, 0);
        while let Some(sub) = plan.next(stage.dt) {
            self.substep(stage, sub);
            self.count += 1;
            passed += sub.h;
            blind += 1;
            let lasts = passed + sub.h <= 0.5 * self.gauge.lasting() && blind < MOST_BLIND;
            if self.adaptive.is_some() && self.uneven && !lasts && sub.to < 1.0 {
                (passed, blind) = (0.0, 0);
                let longest = self.longest_substep(stage, stage.time + sub.to * stage.dt);
                if longest < sub.h {
                    let more = substeps((1.0 - sub.to) * stage.dt, longest);
                    self.wanted = self.wanted.max(self.count.saturating_add(more));
                    let left = MAX_SUBSTEPS.saturating_sub(self.count).max(1);
                    plan = plan.rest(sub.to, more.min(left));
                }
            }
        }
        if self.adaptive.is_some() {
            self.tempo.pass(stage.time + stage.dt);
        }
        self.settle(stage);
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

    /// Everything moves once.
    fn advance(&mut self, stage: &Stage<'_>, sub: Sub) {
        let (members, bad, sound) = (&self.members, &self.bad, &self.sound);
        let first = self.nodes.len() - members.len();
        each_member(
            stage,
            members,
            &mut self.nodes[first..],
            |k, nodes, crew| {
                let matter = &stage.model.matters[members[k].index()];
                let is_sound = bad[k] >= PATIENCE
                    || match crew {
                        Some(crew) => matter.advance_by(nodes, sub.h, crew),
                        None => matter.advance(nodes, sub.h),
                    };
                sound[k].store(is_sound, Ordering::Relaxed);
            },
        );
        for k in 0..self.members.len() {
            if !self.sound[k].load(Ordering::Relaxed) {
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
        let sight = Sight {
            matter: |m: MatterId| &*stage.model.matters[m.index()],
            slot: stage.slot,
        };
        for global in &mut self.globals {
            global.settle(&sight, &self.nodes);
        }
    }
}

/// Does `work` on the shares of all members: spread over threads if they are of a kind, one after the other if one has most of the work, which then has
/// the threads for itself.
fn each_member(
    stage: &Stage<'_>,
    members: &[MatterId],
    shares: &mut [Nodes],
    work: impl Fn(usize, &mut Nodes, Option<&Crew>) + Sync,
) {
    let sizes = members.iter().map(|m| stage.model.start[m.index()].len());
    let most = sizes.max().unwrap_or(0);
    let all = stage.model.nodes_of(members);
    match stage.crew {
        Some(crew) if all > WORTH_SHARING && !is_most(most, all) => {
            crew.each(shares, |k, nodes| work(k, nodes, None));
        }
        crew => (0..)
            .zip(shares)
            .for_each(|(k, nodes)| work(k, nodes, crew)),
    }
}

/// Copies whose masters are `within` a group; copies and masters always are in one.
fn hypers_within(model: &Model, within: impl Fn(MatterId) -> bool) -> Vec<Hyper> {
    let all = model.hypers.iter();
    all.filter(|h| within(h.master.0)).copied().collect()
}

/// True if stiffness or damping of members, or of elements between things, depends on the state.
fn is_uneven(model: &Model, members: &[MatterId], globals: &[Global]) -> bool {
    let mut nets = members.iter().filter_map(|m| model.net(*m));
    nets.any(|net| !net.is_even()) || globals.iter().any(|g| !g.is_even())
}

/// Elements with an end `within` a group.
fn globals_within(model: &Model, within: impl Fn(MatterId) -> bool) -> Vec<Global> {
    let ours = |g: &&Global| g.anchors().any(|a| within(a.matter));
    model.globals.iter().filter(ours).cloned().collect()
}

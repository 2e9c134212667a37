//! The simulation and its step.

use crate::{
    Change, Event, Parameter, Scene, SceneError, StepReport,
    build::{MAX_STEP, Model, pose},
    command::{self, Command},
    event::Happening,
    file::InstrumentKind,
    films::Follower,
    group::{Amid, Group, Motion, Stage as GroupStage},
    lead::Lead,
    parameter::{self, Subject},
    report::{Clock, Stage},
};
use glam::DVec3;
use serde::{Deserialize, Serialize};
use trocar_collide::{torn::Torn, tree::TreeError};
use trocar_dynamics::{Anchor, Crew, JointForce, Local, Matter, MatterId, Nodes, Pull, State};
use trocar_math::Pose;
use trocar_soft::{Global, Net, NodeFlags, global::Sight};
use trocar_tools::{
    EndoscopeHandle, Eye, Grip, Handle,
    grasper::PARTS,
    grip::{Failure, Zone},
    membrane::Stroke,
};

/// Fewer nodes than this are stepped by one thread; waking another would cost more than it saves.
pub(crate) const WORTH_SHARING: usize = 4000;

/// True if one of several does so much of the work that the others could not keep a second thread busy meanwhile.
pub(crate) fn is_most(one: usize, all: usize) -> bool {
    10 * one > 6 * all
}

/// With more bodies than this that may touch, a step spends its time on their contacts: threads share those.
const CROWDED: usize = 128;

/// With more joints than this, likewise: threads share the trees that they make.
const JOINTED: usize = 256;

/// Most sweeps in one solve. A hand-written or damaged input that asks for more would never return.
pub const MAX_ITERATIONS: u32 = 10_000;

/// Everything a step is given. Together with the scene, all that a replay needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// Length of the step, s.
    pub dt: f64,
    /// Sweeps over all ties and contacts at most.
    pub iterations: u32,
    /// Where the hands hold the instruments.
    pub handles: Vec<Handle>,
    /// Where the hand holds the endoscope; none leaves it where it is.
    pub endoscope: Option<EndoscopeHandle>,
    /// What the mouse pulls on.
    pub pulls: Vec<Pull>,
    /// Parameters to change before the step.
    pub changes: Vec<Change>,
}

/// A running scene.
pub struct Simulation {
    pub(crate) model: Model,
    scene_hash: u64,
    pub(crate) state: State,
    pub(crate) steps: u64,
    pub(crate) handles: Vec<Handle>,
    pub(crate) endoscope: Option<EndoscopeHandle>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) subjects: Vec<Subject>,
    /// What is done at set times.
    pub(crate) commands: Vec<Command>,
    /// What commands push in this step.
    pub(crate) pushes: Vec<(Anchor, DVec3)>,
    /// What was pulled on in the last step.
    pub(crate) pulls: Vec<Pull>,
    /// Points of membranes that hands and commands name: the scene's own first, always; then those that are pulled at.
    pub(crate) followers: Vec<Follower>,
    /// The scene's own, as it names them.
    pub(crate) lasting: Vec<Anchor>,
    /// Memory for what a tear means to surfaces.
    pub(crate) torn: Torn,
    /// How often each membrane has torn, and how often it was cut.
    pub(crate) tears: Vec<[u64; 2]>,
    pub(crate) motions: Vec<Motion>,
    pub(crate) grips: Vec<Grip>,
    /// How far scissors have closed, by instrument; others have one that cuts nothing.
    pub(crate) strokes: Vec<Stroke>,
    /// Who leads each instrument, hand or command.
    pub(crate) leads: Vec<Lead>,
    /// Points of membranes that forceps held before this step, by instrument.
    pub(crate) had: Vec<usize>,
    forces: Vec<DVec3>,
    pub(crate) groups: Vec<Group>,
    slot: Vec<u32>,
    /// Where the share of each matter is in the whole state: at its own index.
    pub(crate) everywhere: Vec<u32>,
    crew: Crew,
    /// The longest step that can be taken in stable substeps, s.
    pub(crate) longest: f64,
    pub(crate) report: StepReport,
}

impl Simulation {
    /// Builds the scene's matter; it will be stepped by at most `threads` threads (≥ 1).
    pub fn new(scene: &Scene, threads: usize) -> Result<Self, SceneError> {
        let model = Model::build(scene)?;
        let prescribed = model.prescribed() as u32;
        let mut slot: Vec<u32> = (0..model.matters.len() as u32).collect();
        for group in &model.groups {
            for (k, m) in group.members.iter().enumerate() {
                slot[m.index()] = prescribed + k as u32;
            }
        }
        let groups = groups(&model).map_err(|e| scene.bundle.refused(&e))?;
        let (parameters, subjects) = parameter::list(&model);
        let mut simulation = Self {
            scene_hash: scene.bundle.hash(),
            state: State::default(),
            steps: 0,
            handles: Vec::new(),
            endoscope: None,
            commands: command::commands(scene, &model, &parameters)?,
            pushes: Vec::new(),
            parameters,
            subjects,
            pulls: Vec::new(),
            followers: Vec::new(),
            lasting: Vec::new(),
            tears: Vec::new(),
            torn: Torn::default(),
            motions: Vec::new(),
            grips: Vec::new(),
            strokes: Vec::new(),
            leads: Vec::new(),
            had: vec![0; model.tools.len()],
            forces: vec![DVec3::ZERO; model.tools.len()],
            groups,
            slot,
            everywhere: (0..model.matters.len() as u32).collect(),
            crew: Crew::new(threads),
            longest: model.longest_step(),
            report: StepReport::default(),
            model,
        };
        simulation.lasting = Self::named(&simulation.model, &simulation.commands);
        simulation.rewind();
        Ok(simulation)
    }

    /// Back to the start, with the scene's own parameters.
    pub fn restart(&mut self) {
        let way = self.way_to(&[]);
        // The scene has been built with these values, so they can't be refused.
        let _ = self.assume(&way);
        self.rewind();
    }

    /// Back to the start, with parameters as they are.
    pub(crate) fn rewind(&mut self) {
        self.mend_films();
        self.state = State {
            time: 0.0,
            nodes: self.model.start.clone(),
        };
        self.make_room_for_tears();
        self.steps = 0;
        self.handles = self.model.tools.iter().map(|t| t.start).collect();
        self.endoscope = self.model.endoscope.as_ref().map(|s| s.start);
        self.pulls.clear();
        self.motions = self
            .handles
            .iter()
            .map(|h| Motion { from: *h, to: *h })
            .collect();
        self.grips = self
            .handles
            .iter()
            .map(|_| Grip {
                armed: true,
                ..Grip::default()
            })
            .collect();
        self.strokes = self.handles.iter().map(|h| Stroke::at(h.jaw)).collect();
        self.leads = vec![Lead::default(); self.handles.len()];
        self.forces.fill(DVec3::ZERO);
        // What could be made once can be made again: edits of single things add no triangles.
        if let Ok(groups) = groups(&self.model) {
            self.groups = groups;
        }
        self.close_latches();
        self.mark_held();
        self.report = StepReport::default();
    }

    /// Has another detector find where bodies touch (B76): to compare. Scenes use
    /// [`Regions`](trocar_collide::rigid::Regions), and snapshots do not tell.
    pub fn set_detector(&mut self, detector: &'static dyn trocar_collide::rigid::Detector) {
        for collisions in self.groups.iter_mut().filter_map(|g| g.collisions.as_mut()) {
            collisions.detector = detector;
        }
    }

    /// One simulated step. Deterministic; allocates nothing once warm, unless something is grasped or tears.
    pub fn step(&mut self, input: &Input) -> &StepReport {
        let mut clock = Clock::start();
        self.report.events.clear();
        self.change(&input.changes);
        let wall = usable_step(input.dt, self.model.step);
        // Hands live in the time of the room, tissue in that of the scene (K63).
        let dt = self.step_with_commands((wall * self.model.slow_motion).min(self.longest));
        self.command(dt);
        self.script(dt);
        self.follow(input, wall.min(self.longest));
        self.draw(dt);
        self.place_grounds(self.state.time + dt);
        self.lend();
        clock.lap(Stage::Input);

        // Many bodies touch each other in one group, or one group has most of the nodes: there the threads are wanted inside.
        let sizes = || {
            self.groups
                .iter()
                .map(|group| self.model.nodes_of(&group.members))
        };
        let (nodes, most) = sizes().fold((0, 0), |(sum, most), n| (sum + n, most.max(n)));
        let large = nodes > WORTH_SHARING;
        let crowded = self.model.colliders.len() > CROWDED
            || self.model.joints.len() > JOINTED
            || (large && is_most(most, nodes));
        let stage = GroupStage {
            model: &self.model,
            slot: &self.slot,
            motions: &self.motions,
            pulls: &self.pulls,
            pushes: &self.pushes,
            dt,
            time: self.state.time,
            budget: self.model.rules.budget(input.iterations),
            crew: (crowded && self.crew.threads() > 1).then_some(&self.crew),
        };
        let step_group = |group: &mut Group| {
            group.gather(&stage);
            group.clock.lap(Stage::Broad);
            group.step(&stage);
        };
        if stage.crew.is_none() && large {
            self.crew
                .each(&mut self.groups, |_, group| step_group(group));
        } else {
            self.groups.iter_mut().for_each(step_group);
        }

        clock.resume();
        self.edit(dt);
        clock.lap(Stage::Edit);
        self.observe(dt);
        clock.lap(Stage::Observe);
        for group in &self.groups {
            clock.add(group.clock.timings());
        }
        self.report.timings = *clock.timings();
        &self.report
    }

    /// A part (above 0, at most 1) of the sweeps that the scene allows in a step; at least one.
    pub fn iterations(&self, part: f64) -> u32 {
        let most = self.model.rules.iterations;
        ((f64::from(most) * part).ceil() as u32).clamp(1, most)
    }

    /// The step's usual input: the scene's step, and the hands where they are.
    pub fn idle_input(&self) -> Input {
        Input {
            dt: self.model.step,
            iterations: self.model.rules.iterations,
            handles: self.handles.clone(),
            endoscope: self.endoscope,
            pulls: Vec::new(),
            changes: Vec::new(),
        }
    }

    /// Instruments follow their handles.
    fn follow(&mut self, input: &Input, dt: f64) {
        self.pulls.clone_from(&input.pulls);
        self.follow_pulls();
        if let (Some(scope), Some(now)) = (&self.model.endoscope, &mut self.endoscope) {
            let wish = input.endoscope.unwrap_or(*now);
            *now = scope.endoscope.follow(now, &wish, dt);
        }
        for (t, tool) in self.model.tools.iter().enumerate() {
            let from = self.handles[t];
            let hand = input.handles.get(t).unwrap_or(&from);
            let hand = tool.grasper.reachable(hand, &from);
            let wish = self.leads[t].wish(&hand, &from);
            let to = tool.grasper.follow(&from, &wish, dt);
            self.motions[t] = Motion { from, to };
            self.handles[t] = to;
            self.grips[t].squeeze(to.jaw);
        }
        self.squeeze_films();
    }

    /// Gives every group its shares of the state, and the ties of what is held.
    fn lend(&mut self) {
        for t in 0..self.had.len() {
            self.had[t] = self.held_in_films(t);
        }
        for group in &mut self.groups {
            group.borrow(&mut self.state);
            group.ties.truncate(group.scene_ties);
            for grip in &self.grips {
                let held = grip
                    .holds
                    .iter()
                    .filter(|h| group.members.contains(&h.tie.b.matter));
                group.ties.extend(held.map(|h| h.tie));
            }
        }
    }

    /// Takes the shares back; then grasps, releases and quarantines.
    fn edit(&mut self, dt: f64) {
        self.forces.fill(DVec3::ZERO);
        for group in &mut self.groups {
            group.give_back(&mut self.state);
            // What matter that went bad did to an instrument is no force.
            if group.fallen.is_empty() {
                for (force, reaction) in self.forces.iter_mut().zip(&group.reactions) {
                    *force += *reaction;
                }
            }
            // In the same order as they were lent.
            let mut ties = group.ties[group.scene_ties..].iter();
            for grip in &mut self.grips {
                for hold in grip
                    .holds
                    .iter_mut()
                    .filter(|h| group.members.contains(&h.tie.b.matter))
                {
                    if let Some(tie) = ties.next() {
                        hold.tie.impulse = tie.impulse;
                        hold.tie.h = tie.h;
                        hold.force = tie.impulse / group.h;
                    }
                }
            }
            for m in &group.fallen {
                // What lies at rest again is no longer where it was held.
                for grip in &mut self.grips {
                    grip.holds.retain(|hold| hold.tie.b.matter != *m);
                }
                self.report.events.push(Event {
                    time: self.state.time,
                    what: Happening::Quarantined {
                        matter: self.model.names[m.index()].clone(),
                        frozen: group.is_frozen(*m),
                    },
                });
            }
        }
        if self.groups.iter().any(|g| !g.fallen.is_empty()) {
            self.mark_held();
        }
        self.clear_films();
        self.cut_films();
        self.work_films();
        for t in 0..self.model.tools.len() {
            self.edit_grip(t, dt);
        }
    }

    fn edit_grip(&mut self, t: usize, dt: f64) {
        let tool = &self.model.tools[t];
        if !matches!(tool.kind, InstrumentKind::Grasper | InstrumentKind::Forceps) {
            return;
        }
        let jaw = self.handles[t].jaw;
        let had = self.had[t];
        let held = self.held_in_films(t);
        let mut happened = None;
        if jaw > tool.grasper.release_angle {
            self.grips[t].armed = true;
            if held > 0 || !self.grips[t].is_empty() {
                happened = Some(Happening::Released {
                    instrument: tool.name.clone(),
                });
                self.grips[t].let_go();
                self.open_films(t);
            }
        } else if held > 0 || had > 0 || !self.grips[t].is_empty() {
            let tissues = &self.model.tissues;
            let bears = |m: MatterId| {
                tissues
                    .iter()
                    .find(|x| x.matter == m)
                    .map_or(f64::INFINITY, |x| x.bears)
            };
            let instrument = || tool.name.clone();
            happened = self.grips[t]
                .strain(dt, tool.grasper.grip_force, bears)
                .map(|f| match f {
                    Failure::Slipped => Happening::Slipped {
                        instrument: instrument(),
                    },
                    Failure::TornOut => Happening::TornOut {
                        instrument: instrument(),
                    },
                });
            if held == 0 && had > 0 {
                happened = Some(Happening::Slipped {
                    instrument: instrument(),
                });
            } else if held != had && happened.is_none() {
                self.mark_held();
            }
        } else if self.grips[t].armed && jaw < tool.grasper.capture_angle {
            self.grips[t].armed = false;
            happened = self.capture(t);
        }
        if let Some(what) = happened {
            self.mark_held();
            self.report.events.push(Event {
                time: self.state.time,
                what,
            });
        }
    }

    fn capture(&mut self, t: usize) -> Option<Happening> {
        let tool = &self.model.tools[t];
        let shaft = tool.grasper.poses(&self.handles[t])[0];
        let zone = Zone::new(&tool.grasper, shaft, self.handles[t].jaw);
        let mut most = (0, MatterId::WORLD);
        let fine = tool.kind == InstrumentKind::Forceps;
        for skin in self.groups.iter().flat_map(|g| &g.skins) {
            // Forceps hold membranes in another way.
            if !skin.touchable || fine && self.model.membrane(skin.matter).is_some() {
                continue;
            }
            let positions = &self.state.nodes[skin.matter.index()].position;
            let holds = zone.capture(tool.matter, skin.matter, &skin.patch, positions);
            if holds.len() > most.0 {
                most = (holds.len(), skin.matter);
            }
            self.grips[t].holds.extend(holds);
        }
        self.grips[t].jaw = self.handles[t].jaw;
        let films = self.close_films(t, &shaft);
        if films.0 > most.0 {
            most = films;
        }
        (most.0 > 0).then(|| Happening::Grasped {
            instrument: self.model.tools[t].name.clone(),
            tissue: self.model.names[most.1.index()].clone(),
            points: self.held(t),
        })
    }

    /// Tells surfaces and nets what is held.
    pub(crate) fn mark_held(&mut self) {
        self.groups.iter_mut().for_each(Group::replan);
        for group in &mut self.groups {
            for skin in &mut group.skins {
                skin.held.clear();
                skin.amid.clear();
                if let Some(membrane) = self.model.membrane(skin.matter) {
                    let works = group.works.iter().filter(|w| w.matter == skin.matter);
                    for work in works {
                        work.see_held(membrane, &mut skin.held);
                        if work.is_amid() {
                            skin.amid.push(Amid {
                                tool: work.tool,
                                overlap: true,
                            });
                        }
                    }
                }
            }
        }
        for skin in self.groups.iter_mut().flat_map(|g| &mut g.skins) {
            for (t, grip) in self.grips.iter().enumerate() {
                for hold in grip.holds.iter().filter(|h| h.tie.b.matter == skin.matter) {
                    match hold.tie.b.at {
                        Local::Node(n) => skin.held.push((t, n)),
                        Local::Triangle(nodes, _) => skin.held.extend(nodes.map(|n| (t, n))),
                        _ => {}
                    }
                }
            }
            let any: &mut dyn std::any::Any = &mut *self.model.matters[skin.matter.index()];
            if let Some(net) = any.downcast_mut::<Net>() {
                for n in 0..self.model.start[skin.matter.index()].len() {
                    let held = skin.held.iter().any(|h| h.1 as usize == n);
                    net.set_flags(n, NodeFlags::GRASPED, held);
                }
            }
        }
    }

    /// What is told to the outside.
    fn observe(&mut self, dt: f64) {
        self.state.time += dt;
        self.steps += 1;
        for (tool, handle) in self.model.tools.iter().zip(&self.handles) {
            let poses = tool.grasper.poses(handle);
            let nodes = &mut self.state.nodes[tool.matter.index()];
            for (z, pose) in poses.iter().enumerate() {
                nodes.position[z] = pose.position;
                nodes.orientation[z] = pose.rotation;
            }
        }
        if let Some(fixtures) = self.model.fixtures {
            for node in 0..self.model.courses.len() {
                let now = self.model.fixture(node, self.state.time);
                let nodes = &mut self.state.nodes[fixtures.index()];
                nodes.position[node] = now.position;
                nodes.orientation[node] = now.rotation;
            }
        }
        let report = &mut self.report;
        report.substeps = 0;
        report.substeps_short = 0;
        report.halvings = 0;
        report.blows = 0;
        report.blows_left = 0;
        report.penetration = 0.0;
        report.slip = 0.0;
        report.too_fast = 0;
        report.contacts = 0;
        report.lost_joints.clear();
        report.redundant_joints.clear();
        report.methods = Default::default();
        report.aim = trocar_dynamics::Outcome::RIGHT;
        report.correct = report.aim;
        for group in &self.groups {
            report.substeps = report.substeps.max(group.substep_count());
            report.substeps_short = report.substeps_short.max(group.substeps_short());
            report.contacts += group.contacts();
            for (all, one) in [
                (&mut report.aim, &group.aim),
                (&mut report.correct, &group.correct),
            ] {
                all.join(one);
            }
            report.halvings += group.halvings;
            report.blows += group.blows;
            report.blows_left += group.blows_left;
            report.penetration = report.penetration.max(group.penetration);
            report.slip = report.slip.max(group.slip);
            report.too_fast += group.too_fast;
            report.methods.add(&group.methods());
            report.lost_joints.extend_from_slice(&group.lost);
            report.redundant_joints.extend_from_slice(&group.redundant);
        }
    }

    /// How elements between different things see the whole state: every matter's share is at its own place.
    pub(crate) fn sight<'a>(&'a self) -> Sight<'a, impl Fn(MatterId) -> &'a dyn Matter> {
        Sight {
            matter: move |m: MatterId| &*self.model.matters[m.index()],
            slot: &self.everywhere,
        }
    }

    /// Elements between different things, where they end by now.
    pub(crate) fn globals(&self) -> impl Iterator<Item = &Global> + '_ {
        self.groups.iter().flat_map(|g| g.globals())
    }

    /// What does not change.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// A number that names the scene: it changes with any byte of its files.
    pub fn scene_hash(&self) -> u64 {
        self.scene_hash
    }

    /// What moves.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Steps made.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// What the last step did.
    pub fn report(&self) -> &StepReport {
        &self.report
    }

    /// Where instrument `t`'s handle is now.
    pub fn handle(&self, t: usize) -> Handle {
        self.handles[t]
    }

    /// Where the endoscope's handle is now; none if the scene has no endoscope.
    pub fn endoscope(&self) -> Option<EndoscopeHandle> {
        self.endoscope
    }

    /// What the endoscope sees from there.
    pub fn eye(&self) -> Option<Eye> {
        let scope = self.model.endoscope.as_ref()?;
        Some(scope.endoscope.eye(&self.endoscope?))
    }

    /// Where its shaft and jaws are.
    pub fn poses(&self, t: usize) -> [Pose; PARTS] {
        std::array::from_fn(|part| {
            pose(&self.state.nodes[self.model.tools[t].matter.index()], part)
        })
    }

    /// Force on its tip in the last step, N.
    pub fn force(&self, t: usize) -> DVec3 {
        self.forces[t]
    }

    /// What a joint of the scene bore in the last substep; none if there is no such joint.
    pub fn joint_force(&self, joint: usize) -> Option<JointForce> {
        self.groups.iter().find_map(|group| {
            let place = group.joint_index.binary_search(&joint).ok()?;
            Some(group.joints[place].force())
        })
    }

    /// What it holds by ties: everything but what forceps hold of membranes.
    pub fn grip(&self, t: usize) -> &Grip {
        &self.grips[t]
    }

    /// Points that it holds, of whatever.
    pub fn held(&self, t: usize) -> usize {
        self.grips[t].holds.len() + self.held_in_films(t)
    }

    pub(crate) fn parts(&self) -> (&State, u64, &[Handle], &[Grip], &[Group]) {
        (
            &self.state,
            self.steps,
            &self.handles,
            &self.grips,
            &self.groups,
        )
    }

    pub(crate) fn resume(
        &mut self,
        state: State,
        steps: u64,
        handles: Vec<Handle>,
        endoscope: Option<EndoscopeHandle>,
        grips: Vec<Grip>,
    ) {
        self.rewind();
        self.state = state;
        self.state.nodes.iter_mut().for_each(Nodes::make_ready);
        self.steps = steps;
        self.handles = handles;
        self.endoscope = endoscope;
        self.grips = grips;
        self.mark_held();
    }

    /// What was pulled at in the last step, by hands and commands, where it is by now.
    pub fn pulled(&self) -> &[Pull] {
        &self.pulls
    }

    /// Spoils a matter's numbers; only tests want to.
    #[doc(hidden)]
    pub fn spoil(&mut self, matter: MatterId, node: usize) {
        self.state.nodes[matter.index()].velocity[node].x = f64::NAN;
    }

    /// Changes a matter's share of the state in any way; likewise.
    #[doc(hidden)]
    pub fn tamper(&mut self, matter: MatterId, damage: impl FnOnce(&mut Nodes)) {
        damage(&mut self.state.nodes[matter.index()]);
    }
}

/// All groups of a model, as they start.
fn groups(model: &Model) -> Result<Vec<Group>, TreeError> {
    model.groups.iter().map(|g| Group::new(model, g)).collect()
}

/// A step that can be taken: `wish` if it is sound, else the nearest one that is.
pub(crate) fn usable_step(wish: f64, usual: f64) -> f64 {
    if wish.is_finite() && wish > 0.0 {
        wish.clamp(1e-6, MAX_STEP)
    } else {
        usual
    }
}

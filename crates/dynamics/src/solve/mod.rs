//! Impulses at the start of a substep that make its end right (B26, B27).
//!
//! Everything that ties two points is cut into blocks of rows ([`plan`]); blocks that share a node are a component, solved
//! together by the method that suits it ([`component`]); contacts are swept between its rounds.

mod component;
mod contact;
mod mover;
mod plan;
mod pull;
mod rows;
mod touch;

use crate::{
    BodyContact, Cast, Contact, Crew, Joint, Tie,
    joint::{Drive, Target},
};
use component::{Component, Progress, Rows};
use contact::Press;
use glam::{DMat3, DVec3};
use mover::{Level, Movers, When};
use plan::{Owner, Plan, What};
use serde::{Deserialize, Serialize};
use touch::Touching;

pub use component::Method;
pub use pull::pull;

/// How hard a solve tries.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// Sweeps over all constraints at most, ≥ 1.
    pub iterations: u32,
    /// Position error at which a joint is right, m or rad.
    pub position: f64,
    /// Velocity error at which a joint is right, m/s or rad/s.
    pub velocity: f64,
    /// Depth at which a contact is right, m.
    pub depth: f64,
    /// Depth at which contacts of bodies are right, m.
    pub press: f64,
    /// Velocity at which contacts of bodies are right, m/s.
    pub slip: f64,
    /// Sweeps over contacts of bodies at most, where no joint asks for more.
    pub sweeps: u32,
    /// Speed at which something found inside a hull is put out of it, m/s. Keeps a deep first
    /// contact from being answered with a blow.
    pub recovery: f64,
    /// How joints are solved.
    pub method: Method,
    /// Part of the last substep's impulses that a solve starts from, 0 to 1 (B97).
    pub warm: f64,
    /// True if velocities are made right too (B70).
    pub correct: bool,
    /// True if a solve that fails leaves everything as it was, for a shorter substep to be tried (B94).
    pub may_fail: bool,
    /// What error a substep twice as long had, m. An error that is the same in a shorter one contradicts itself, and no
    /// substep is short enough.
    pub before: f64,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            iterations: 60,
            position: 5e-10,
            velocity: 1e-9,
            depth: 1e-6,
            press: 1e-9,
            slip: 1e-6,
            sweeps: 40,
            recovery: 0.5,
            method: Method::Auto,
            warm: 1.0,
            correct: true,
            may_fail: false,
            before: f64::INFINITY,
        }
    }
}

/// What a solve achieved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Sweeps made.
    pub iterations: u32,
    /// Greatest error left, in the unit of what was solved.
    pub error: f64,
    /// True if every constraint is within its tolerance.
    pub converged: bool,
    /// Rows that others already determine: constraints without effect of their own.
    pub redundant: u32,
    /// True if the rounds led away from the solution: a shorter substep is needed.
    pub failed: bool,
    /// True if the solution would be another way than bodies take: it gains energy, or they turn too far. Only a shorter
    /// substep helps.
    pub wild: bool,
    /// True if for either reason nothing was done.
    pub refused: bool,
}

/// What ties things together.
pub struct Bonds<'a> {
    /// Ties.
    pub ties: &'a mut [Tie],
    /// Joints.
    pub joints: &'a mut [Joint],
    /// Another number whenever a tie or joint came, went or changed its anchors.
    pub version: u64,
}

/// A direct method that needs more rounds than this needs a shorter substep.
const MOST_ROUNDS: u32 = 16;

/// Rounds that joints have after the last sweep over contacts at most.
const LAST_ROUNDS: u32 = 6;

/// A round of a direct method should leave no more than this part of the error, else its matrix is made anew.
const SLOW: f64 = 0.3;

/// Joints that give bodies more than this part of the energy they have in one substep have been solved wrongly.
const MOST_GAIN: f64 = 0.05;

/// Energy that joints may seem to add in one substep, as a part of what there is: that much comes and goes.
const GAIN: f64 = 0.02;

/// Errors that differ by less than this part are the same.
const SAME: f64 = 0.05;

/// Part of the impulses kept for the next substep if sweeps were cut short: what is left of them are repairs, and repairing
/// twice gains energy.
const HALF_DONE: f64 = 0.5;

/// A round that made things worse is taken back by halves at most so often.
const MOST_HALVINGS: u32 = 5;

/// Memory for a solve.
#[derive(Debug, Default)]
pub struct Workspace {
    movers: Movers,
    plan: Plan,
    state: RowState,
    contacts: Vec<Touching>,
    press: Press,
    /// Rows that have no more to give: the first, and how many.
    spent: Vec<(usize, usize)>,
    /// Contacts of bodies that are in play, and which ones they are.
    some: Vec<BodyContact>,
    which: Vec<u32>,
}

/// What changes in the rows during a solve.
#[derive(Debug, Default)]
struct RowState {
    /// As a velocity.
    wrong: Vec<f64>,
    /// Give of a row, as a velocity for each N·s.
    compliance: Vec<f64>,
    masked: Vec<bool>,
    /// Least and greatest impulse.
    bounds: Vec<[f64; 2]>,
    /// Of rows of a drive: where its coordinate should be.
    goal: Vec<Goal>,
    /// Greatest impulse of each base joint.
    strength: Vec<f64>,
}

/// What a drive's row asks for: `value + give · impulse = place`, in m or rad.
#[derive(Clone, Copy, Debug, Default)]
struct Goal {
    place: f64,
    give: f64,
}

impl Workspace {
    /// Reads everything of this instant.
    fn begin(&mut self, cast: &Cast<'_>, bonds: &Bonds<'_>, level: Level) {
        let key = (&*bonds.ties, &*bonds.joints, bonds.version);
        self.plan.update(&mut self.movers, cast, key, level);
        self.movers.read(cast, level);
        let rows = self.plan.rows;
        let state = &mut self.state;
        state.wrong.clear();
        state.wrong.resize(rows, 0.0);
        state.compliance.clear();
        state.compliance.resize(rows, 0.0);
        state.masked.clear();
        state.masked.resize(rows, false);
        state.bounds.clear();
        state
            .bounds
            .resize(rows, [f64::NEG_INFINITY, f64::INFINITY]);
        state.goal.clear();
        state.goal.resize(rows, Goal::default());
        for (tied, owner) in self.plan.tied.iter_mut().zip(&self.plan.owners) {
            if let Owner::Base { joint, base, .. } = owner {
                let feet = &bonds.joints[*joint as usize].memory.feet;
                tied.foot = feet.get(*base as usize).copied().unwrap_or(f64::NAN);
            }
        }
        self.plan.aim_rows(&self.movers);
    }
}

/// What touches what.
#[derive(Default)]
pub struct Touches<'a> {
    /// Hulls and tissue.
    pub tissue: &'a mut [Contact],
    /// Rigid bodies.
    pub bodies: &'a mut [BodyContact],
    /// Threads to sweep them with.
    pub crew: Option<&'a Crew>,
}

/// Finds the impulses that put all tied anchors together, and all touching points on their hulls,
/// at the end of a substep of `h` seconds. All matter must have been planned with the same `h`.
pub fn aim(
    cast: &mut Cast<'_>,
    bonds: &mut Bonds<'_>,
    touches: &mut Touches<'_>,
    h: f64,
    budget: &Budget,
    workspace: &mut Workspace,
) -> Outcome {
    let level = Level::Position(h);
    workspace.begin(cast, bonds, level);
    workspace.load(bonds, h, budget);
    workspace.touch(cast, touches.tissue, h, budget);
    let Workspace { press, movers, .. } = workspace;
    press.begin(movers, cast, touches.bodies, level);
    press.warm();
    let mut outcome = Outcome::default();
    workspace.start_rounds();
    loop {
        workspace.share(level);
        let tied = workspace.round(level, budget.position, budget.method);
        let touched = workspace.sweep_contacts(touches.tissue, level, budget);
        let pressed = workspace.sweep_bodies(touches.crew) * h;
        outcome.error = tied.max(touched).max(pressed);
        outcome.converged =
            tied <= budget.position && touched <= budget.depth && pressed <= budget.press;
        let alone = touches.tissue.is_empty() && workspace.press.is_empty();
        let enough = outcome.iterations >= budget.iterations
            || (workspace.plan.rows == 0
                && touches.tissue.is_empty()
                && outcome.iterations >= budget.sweeps);
        if outcome.converged || enough || (alone && workspace.is_stuck()) {
            break;
        }
        outcome.iterations += 1;
    }
    if workspace.press.is_shared() && !outcome.converged {
        // Joints have the last word: what is left is better left to contacts, which only push.
        workspace.share(level);
        for _ in 0..LAST_ROUNDS {
            outcome.error = workspace.round(level, budget.position, budget.method);
            if outcome.error <= budget.position {
                break;
            }
        }
        workspace.press.take_shared(&workspace.movers);
    }
    workspace.judge(&mut outcome, level, budget.position);
    let gives_way = |c: &Component| c.progress.gave_way;
    outcome.converged &= !workspace.plan.components.iter().any(gives_way);
    let same = (outcome.error / budget.before - 1.0).abs() < SAME;
    let worth = outcome.wild || (outcome.failed && !same);
    outcome.refused = budget.may_fail && worth;
    if worth && !outcome.refused {
        // As short as it gets, and still astray: the best there was will do. It is never worse than what was started from.
        outcome.error = workspace.go_back(level);
    }
    if !outcome.refused {
        workspace.share(level);
        workspace.press.give(&mut workspace.movers, level);
        workspace.press.store(touches.bodies);
        workspace.movers.write(cast, h);
        workspace.store(bonds, h);
    }
    outcome
}

/// Takes the relative velocity out of every tie and joint after the substep (B27), and out of every contact that pushed: what
/// an overlap was undone with is not to be kept as speed.
pub fn correct(
    cast: &mut Cast<'_>,
    bonds: &mut Bonds<'_>,
    touches: &mut Touches<'_>,
    budget: &Budget,
    workspace: &mut Workspace,
) -> Outcome {
    let mut some = std::mem::take(&mut workspace.some);
    some.clear();
    workspace.which.clear();
    for (i, contact) in touches.bodies.iter_mut().enumerate() {
        contact.total = contact.impulse;
        if contact.impulse != DVec3::ZERO {
            let total = contact.impulse + contact.relief;
            let pulls = total.dot(contact.normal) <= 0.0;
            let relief = if pulls { DVec3::ZERO } else { contact.relief };
            some.push(BodyContact {
                impulse: contact.impulse + relief,
                relief,
                ..*contact
            });
            workspace.which.push(i as u32);
        }
        contact.relief = DVec3::ZERO;
    }
    let outcome = workspace.correct(cast, bonds, &mut some, touches.crew, budget);
    for (i, contact) in workspace.which.iter().zip(&some) {
        let kept = &mut touches.bodies[*i as usize];
        kept.total = contact.impulse;
        kept.relief = kept.total - kept.impulse;
    }
    workspace.some = some;
    outcome
}

/// Lets bodies that strike each other rebound, at the start of a substep of `h` seconds (B81–B85). Contacts that close
/// faster than `slow` m/s are blows. Each pass resolves those alone that are blows in it: so a blow travels through a row
/// of balls, instead of being spread over all of them. Returns the number of passes.
pub fn rebound(
    cast: &mut Cast<'_>,
    bonds: &mut Bonds<'_>,
    touches: &mut Touches<'_>,
    (h, slow): (f64, f64),
    budget: &Budget,
    workspace: &mut Workspace,
) -> u32 {
    let mut passes = 0;
    let mut some = std::mem::take(&mut workspace.some);
    while passes < MOST_PASSES {
        some.clear();
        for contact in &*touches.bodies {
            let speed = closing(cast, contact);
            if contact.restitution > 0.0 && speed > slow && contact.gap <= speed * h {
                some.push(BodyContact {
                    rebound: speed * contact.restitution,
                    impulse: DVec3::ZERO,
                    relief: DVec3::ZERO,
                    ..*contact
                });
            }
        }
        if some.is_empty() {
            break;
        }
        passes += 1;
        workspace.correct(cast, bonds, &mut some, touches.crew, budget);
    }
    workspace.some = some;
    passes
}

/// How fast the points of a contact come nearer, m/s.
fn closing(cast: &Cast<'_>, contact: &BodyContact) -> f64 {
    let velocity = |(matter, node): (crate::MatterId, u32), offset: DVec3| {
        let nodes = &cast.nodes[cast.slot[matter.index()] as usize];
        let at = crate::Point { node, offset };
        cast.matters[matter.index()].velocity(nodes, &at)
    };
    let u = velocity(contact.b, contact.at[1]) - velocity(contact.a, contact.at[0]);
    -contact.normal.dot(u)
}

/// More passes than this through a row of blows, and what is left is treated as resting.
const MOST_PASSES: u32 = 64;

impl Workspace {
    /// Makes velocities right: of ties, joints and the given contacts.
    fn correct(
        &mut self,
        cast: &mut Cast<'_>,
        bonds: &mut Bonds<'_>,
        contacts: &mut [BodyContact],
        crew: Option<&Crew>,
        budget: &Budget,
    ) -> Outcome {
        let level = Level::Velocity;
        self.begin(cast, bonds, level);
        self.load_velocity(bonds);
        self.press.begin(&mut self.movers, cast, contacts, level);
        self.press.warm();
        let mut outcome = Outcome::default();
        self.start_rounds();
        loop {
            self.share(level);
            outcome.error = self.round(level, budget.velocity, budget.method);
            let pressed = self.sweep_bodies(crew);
            outcome.converged = outcome.error <= budget.velocity && pressed <= budget.slip;
            let enough = outcome.iterations >= budget.iterations
                || (self.plan.rows == 0 && outcome.iterations >= budget.sweeps);
            if outcome.converged || enough || (self.press.is_empty() && self.is_stuck()) {
                break;
            }
            outcome.iterations += 1;
        }
        self.judge(&mut outcome, level, budget.velocity);
        self.restrain();
        self.govern();
        self.share(level);
        self.press.give(&mut self.movers, level);
        self.press.store(contacts);
        self.movers.write(cast, 0.0);
        outcome
    }

    /// Goes back to the impulses that came nearest; returns the error that is left.
    fn go_back(&mut self, level: Level) -> f64 {
        let mut greatest = 0.0_f64;
        let mut components = std::mem::take(&mut self.plan.components);
        for component in components.iter_mut().filter(|c| c.progress.rounds > 0) {
            let mut at = 0;
            for b in &component.blocks {
                let block = &self.plan.blocks[*b as usize];
                let n = block.rows;
                let mut back = [0.0; 6];
                let now = &self.plan.impulse[block.range()];
                for (to, (kept, now)) in back.iter_mut().zip(component.kept[at..].iter().zip(now)) {
                    *to = kept - now;
                }
                at += n;
                for (i, g) in self.plan.impulse[block.range()].iter_mut().zip(&back) {
                    *i += g;
                }
                for part in &self.plan.parts[block.parts.clone()] {
                    push_part(&mut self.movers, &self.plan.jacobian, part, &back[..n]);
                }
            }
            self.movers.refresh(&component.movers, level);
            greatest = greatest.max(component.progress.best);
        }
        self.plan.components = components;
        greatest
    }

    /// Leaves components as they were whose velocities could only be made right by throwing them: what is led somewhere it
    /// can't go, like a chain that is pulled straight.
    fn restrain(&mut self) {
        let Self {
            plan,
            movers,
            press,
            ..
        } = self;
        if press.is_shared() {
            return;
        }
        for component in plan.components.iter().filter(|c| c.progress.rounds > 0) {
            let led = component.blocks.iter().flat_map(|b| {
                let what = plan.blocks[*b as usize].what;
                plan_ends(&plan.tied, what).filter(|m| movers[*m].freedom == 0)
            });
            let led = led.map(|m| movers[m].velocity.length_squared());
            let led = led.fold(0.0_f64, f64::max);
            let (mut had, mut has) = (0.0, 0.0);
            for m in &component.movers {
                let (before, after, mass) = movers[*m].kinetics();
                had += 4.0 * before + 50.0 * mass * led;
                has += after;
            }
            if has.is_nan() || has > had {
                for m in &component.movers {
                    movers[*m].forget();
                }
            }
        }
    }

    /// Takes energy out of components that gained some by being solved in too long a substep: joints do no work. Slowing
    /// all relative motion down alike keeps every joint and the momentum along a line.
    fn govern(&mut self) {
        let Self { plan, movers, .. } = self;
        for component in &mut plan.components {
            let Some(allowed) = component.allowed.take() else {
                continue;
            };
            movers.refresh(&component.movers, Level::Velocity);
            let (mut has, mut mass, mut momentum) = (0.0, 0.0, DVec3::ZERO);
            for m in &component.movers {
                let mover = &movers[*m];
                has += mover.kinetic();
                mass += mover.mass.x_axis.x;
                momentum += mover.velocity * mover.mass.x_axis.x;
            }
            if has <= allowed * (1.0 + GAIN) {
                continue;
            }
            let drift = if component.grounded {
                DVec3::ZERO
            } else {
                momentum / mass
            };
            let common = 0.5 * mass * drift.length_squared();
            let slow = ((allowed - common).max(0.0) / (has - common))
                .sqrt()
                .min(1.0)
                - 1.0;
            for m in &component.movers {
                let mover = &mut movers[*m];
                let push = (mover.velocity - drift) * slow;
                let (push, twist) = (mover.mass * push, mover.inertia * (mover.spin * slow));
                mover.push(push, twist);
            }
        }
    }

    /// Tells joints and tissue what contacts did to bodies they share.
    fn share(&mut self, level: Level) {
        if self.press.is_shared() {
            self.press.give_shared(&mut self.movers);
            self.movers.refresh_all(level);
        }
    }

    /// One sweep over the contacts of bodies; returns the greatest change of velocity, m/s.
    fn sweep_bodies(&mut self, crew: Option<&Crew>) -> f64 {
        if self.press.is_empty() {
            return 0.0;
        }
        self.press.take_shared(&self.movers);
        self.press.sweep(crew)
    }
}

impl Workspace {
    /// Starts from the impulses of the last substep, and makes drives and stops ready.
    fn load(&mut self, bonds: &mut Bonds<'_>, h: f64, budget: &Budget) {
        let Self {
            movers,
            plan,
            state,
            ..
        } = self;
        state.strength.clear();
        for block in &plan.blocks {
            let range = block.range();
            match block.what {
                What::Bases(first, count) => {
                    let mut row = block.row;
                    for k in first as usize..first as usize + count as usize {
                        let rows = plan.tied[k].kind.rows();
                        let impulse = &mut plan.impulse[row..row + rows];
                        match plan.owners[k] {
                            Owner::Tie(t) => {
                                let tie = &bonds.ties[t as usize];
                                let along = &plan.tied[k].along;
                                for (i, a) in impulse.iter_mut().zip(along) {
                                    *i = tie.impulse.dot(*a) * budget.warm;
                                }
                                state.strength.push(f64::INFINITY);
                            }
                            Owner::Base { joint, memory, .. } => {
                                let joint = &mut bonds.joints[joint as usize];
                                joint.remember();
                                let kept = &joint.memory.impulses[memory as usize..];
                                for (i, m) in impulse.iter_mut().zip(kept) {
                                    *i = m * budget.warm;
                                }
                                state.strength.push(joint.strength * h);
                            }
                        }
                        if block.of_velocity {
                            impulse.fill(0.0);
                            state.masked[row..row + rows].fill(true);
                        }
                        row += rows;
                    }
                }
                What::Stop(k) | What::Drive(k) => {
                    let knob = &mut plan.knobs[k as usize];
                    let joint = &mut bonds.joints[knob.joint as usize];
                    let c = knob.control as usize;
                    joint.remember();
                    let control = joint.controls[c];
                    let kept = joint.memory.controls[c];
                    knob.value = knob.dial.value(movers, When::Now, kept[0]);
                    knob.memory = kept;
                    let row = block.row;
                    let place = joint.rows() + 2 * c;
                    if let What::Stop(_) = block.what {
                        plan.impulse[row] = joint.memory.impulses[place] * budget.warm;
                        continue;
                    }
                    let warm = joint.memory.impulses[place + 1] * budget.warm;
                    let Some(drive) = control.drive else { continue };
                    let mut memory = kept;
                    let (goal, most, given) = drive_row(drive, knob.value, &mut memory, h);
                    knob.memory = memory;
                    state.bounds[row] = [-most, most];
                    match given {
                        Some(force) => {
                            plan.impulse[row] = force;
                            state.masked[row] = true;
                        }
                        None => {
                            plan.impulse[row] = warm.clamp(-most, most);
                            state.goal[row] = goal;
                            state.compliance[row] = goal.give / h;
                        }
                    }
                }
            }
            for part in &plan.parts[block.parts.clone()] {
                push_part(movers, &plan.jacobian, part, &plan.impulse[range.clone()]);
            }
        }
    }

    /// Velocities start from no impulse; stops that pushed in `aim` still count.
    fn load_velocity(&mut self, bonds: &Bonds<'_>) {
        let Self { plan, state, .. } = self;
        state.strength.clear();
        state.strength.resize(plan.tied.len(), f64::INFINITY);
        plan.impulse.fill(0.0);
        for block in &plan.blocks {
            let row = block.row;
            match block.what {
                What::Bases(first, count) => {
                    // A joint that may give way has what `aim` has left of its strength.
                    for k in first as usize..first as usize + count as usize {
                        if let Owner::Base { joint, memory, .. } = plan.owners[k] {
                            let joint = &bonds.joints[joint as usize];
                            let memory = memory as usize;
                            let rows = plan.tied[k].kind.rows();
                            let used = joint.memory.impulses.get(memory..memory + rows);
                            let used = used.unwrap_or_default().iter().map(|x| x * x).sum::<f64>();
                            if joint.strength.is_finite() {
                                let left = joint.strength * joint.memory.h - used.sqrt();
                                state.strength[k] = left.max(0.0);
                            }
                        }
                    }
                }
                What::Drive(_) => state.masked[row] = true,
                What::Stop(k) => {
                    let knob = &plan.knobs[k as usize];
                    let joint = &bonds.joints[knob.joint as usize];
                    let place = joint.rows() + 2 * knob.control as usize;
                    let pushed = joint.memory.impulses.get(place).copied().unwrap_or(0.0);
                    if pushed > 0.0 {
                        state.bounds[row] = [0.0, f64::INFINITY];
                    } else if pushed < 0.0 {
                        state.bounds[row] = [f64::NEG_INFINITY, 0.0];
                    } else {
                        state.bounds[row] = [0.0, 0.0];
                        state.masked[row] = true;
                    }
                }
            }
        }
    }

    fn start_rounds(&mut self) {
        let Self { plan, movers, .. } = self;
        for component in &mut plan.components {
            component.progress = Progress::default();
            // What drives or leads does work.
            component.driven = component.blocks.iter().any(|b| {
                let what = plan.blocks[*b as usize].what;
                matches!(what, What::Drive(_))
                    || plan_ends(&plan.tied, what).any(|m| {
                        movers[m].freedom == 0
                            && (movers[m].velocity, movers[m].spin) != (DVec3::ZERO, DVec3::ZERO)
                    })
            });
            component.grounded = component.blocks.iter().any(|b| {
                let what = plan.blocks[*b as usize].what;
                plan_ends(&plan.tied, what).any(|m| movers[m].freedom == 0)
            });
        }
    }

    /// One round over all components; returns the greatest error it found.
    fn round(&mut self, level: Level, tolerance: f64, wish: Method) -> f64 {
        let mut greatest = 0.0_f64;
        for b in 0..self.plan.dead.len() {
            let b = self.plan.dead[b] as usize;
            greatest = greatest.max(self.look(b, level));
        }
        let mut components = std::mem::take(&mut self.plan.components);
        for component in &mut components {
            greatest = greatest.max(self.round_of(component, level, tolerance, wish));
        }
        self.plan.components = components;
        greatest
    }

    fn round_of(
        &mut self,
        component: &mut Component,
        level: Level,
        tolerance: f64,
        wish: Method,
    ) -> f64 {
        self.movers.refresh(&component.movers, level);
        let mut error = 0.0_f64;
        for b in &component.blocks {
            let block = &self.plan.blocks[*b as usize];
            let before = self.state.masked[block.row];
            let bounded = !matches!(block.what, What::Bases(..));
            error = error.max(self.look(*b as usize, level));
            let row = self.plan.blocks[*b as usize].row;
            component.progress.stale |= bounded && before != self.state.masked[row];
        }
        if error < component.progress.best {
            component.progress.best = error;
            component.kept.clear();
            for b in &component.blocks {
                let rows = self.plan.blocks[*b as usize].range();
                component.kept.extend_from_slice(&self.plan.impulse[rows]);
            }
        }
        if error <= tolerance {
            component.progress.error = error;
            return error;
        }
        let mut progress = component.progress;
        if progress.rounds == 0 {
            progress.first = error;
        }
        progress.rounds += 1;
        // A round that gains little has an old matrix: things have turned since.
        let slow = progress.rounds > 2 && error > SLOW * progress.error && !component.sweeps();
        if progress.stale || slow {
            if progress.stale {
                // Other rows are in play: what the last round left does not compare.
                progress.error = f64::INFINITY;
            }
            progress.stale = false;
            if level != Level::Velocity && component.method(wish) == Method::Graph {
                self.plan.aim_rows_ahead(&component.blocks, &self.movers);
            }
            component.factorise(&self.rows(level), &self.movers, wish);
        }
        if component.sweeps() {
            progress.error = error;
            component.progress = progress;
            self.sweep(component, level, tolerance);
            return error;
        }
        let worse = error.is_nan() || error >= progress.error;
        if worse && progress.halvings < MOST_HALVINGS && progress.rounds > 1 {
            progress.halvings += 1;
            let last = std::mem::take(&mut component.last);
            let mut at = 0;
            for b in &component.blocks {
                let n = self.plan.blocks[*b as usize].rows;
                let mut back = [0.0; 6];
                for (k, l) in back.iter_mut().zip(&last[at..at + n]) {
                    *k = -0.5 * l;
                }
                self.give(*b as usize, &back[..n]);
                at += n;
            }
            component.last = last;
            component.last.iter_mut().for_each(|l| *l *= 0.5);
        } else {
            progress.halvings = 0;
            progress.error = error;
            let mut last = std::mem::take(&mut component.last);
            last.clear();
            let Self {
                movers,
                plan,
                state,
                ..
            } = self;
            let Plan {
                blocks,
                parts,
                jacobian,
                impulse,
                tied,
                ..
            } = plan;
            let spent = &mut self.spent;
            spent.clear();
            let rows = Rows {
                blocks,
                parts,
                jacobian,
                ahead: &[],
                wrong: &state.wrong,
                compliance: &state.compliance,
                masked: &state.masked,
            };
            component.solve(&rows, |_, wanted| last.extend_from_slice(wanted));
            // Rows that have no more to give are held there first; the others were reckoned with what these can't give.
            let mut cut = false;
            for only_cut in [true, false] {
                let mut at = 0;
                for b in &component.blocks {
                    let block = &blocks[*b as usize];
                    let n = block.rows;
                    let wanted = &mut last[at..at + n];
                    at += n;
                    let mut given = [0.0; 6];
                    given[..n].copy_from_slice(wanted);
                    let here = bounded(
                        block,
                        tied,
                        (&state.bounds, &state.strength),
                        impulse,
                        &mut given,
                        |rows| spent.push(rows),
                    );
                    if only_cut && !here {
                        continue;
                    }
                    cut |= here;
                    wanted.copy_from_slice(&given[..n]);
                    for (i, g) in impulse[block.range()].iter_mut().zip(&given) {
                        *i += g;
                    }
                    for part in &parts[block.parts.clone()] {
                        push_part(movers, jacobian, part, &given[..n]);
                    }
                }
                if cut {
                    progress.gave_way |= !spent.is_empty();
                    progress.stale = true;
                    break;
                }
            }
            component.last = last;
            // What gives way is held at its strength, and the rest solved with it there.
            for (row, count) in self.spent.drain(..) {
                self.state.masked[row..row + count].fill(true);
                progress.stale = true;
            }
        }
        component.progress = progress;
        self.movers.refresh(&component.movers, level);
        error
    }

    /// One impulse for each block in turn (B59).
    fn sweep(&mut self, component: &mut Component, level: Level, tolerance: f64) {
        let mut first = 0;
        for k in 0..component.blocks.len() {
            let b = component.blocks[k] as usize;
            let (n, range) = (self.plan.blocks[b].rows, self.plan.blocks[b].parts.clone());
            for p in range {
                let mover = &mut self.movers[self.plan.parts[p].mover];
                if mover.dirty {
                    mover.refresh(level);
                }
            }
            let before = self.state.masked[self.plan.blocks[b].row];
            let error = self.look(b, level);
            let masked = self.state.masked[self.plan.blocks[b].row];
            if before != masked {
                component.progress.stale = true;
            } else if error > tolerance {
                let wanted = component.solve_single(k, first, &self.rows(level));
                component.progress.gave_way |= self.give(b, &wanted[..n]);
            }
            first += n * n;
        }
    }

    fn rows(&self, level: Level) -> Rows<'_> {
        Rows {
            blocks: &self.plan.blocks,
            parts: &self.plan.parts,
            jacobian: &self.plan.jacobian,
            ahead: match level {
                Level::Velocity => &[],
                Level::Position(_) => &self.plan.ahead,
            },
            wrong: &self.state.wrong,
            compliance: &self.state.compliance,
            masked: &self.state.masked,
        }
    }

    /// Gives a block so much more impulse, as far as its bounds allow; true if they did not.
    fn give(&mut self, b: usize, wanted: &[f64]) -> bool {
        let Self {
            movers,
            plan,
            state,
            ..
        } = self;
        let mut given = [0.0; 6];
        given[..wanted.len()].copy_from_slice(wanted);
        let block = &plan.blocks[b];
        let masked = &mut state.masked;
        let cut = bounded(
            block,
            &plan.tied,
            (&state.bounds, &state.strength),
            &plan.impulse,
            &mut given,
            |(row, count)| masked[row..row + count].fill(true),
        );
        for (i, g) in plan.impulse[block.range()].iter_mut().zip(&given) {
            *i += g;
        }
        for part in &plan.parts[block.parts.clone()] {
            push_part(movers, &plan.jacobian, part, &given[..wanted.len()]);
        }
        cut
    }

    /// Works out what is wrong with a block's rows; returns the greatest error.
    fn look(&mut self, b: usize, level: Level) -> f64 {
        let Self {
            movers,
            plan,
            state,
            ..
        } = self;
        let block = &plan.blocks[b];
        let row = block.row;
        match (block.what, level) {
            (What::Bases(first, count), Level::Position(h)) => {
                if block.of_velocity {
                    return 0.0;
                }
                let mut greatest = 0.0_f64;
                let mut row = row;
                for tied in &plan.tied[first as usize..first as usize + count as usize] {
                    let n = tied.kind.rows();
                    if state.masked[row] {
                        row += n;
                        continue;
                    }
                    let error = tied.error(movers);
                    let mut square = 0.0;
                    for (w, e) in state.wrong[row..row + n].iter_mut().zip(error) {
                        *w = e / h;
                        square += e * e;
                    }
                    greatest = greatest.max(square);
                    row += n;
                }
                greatest.sqrt()
            }
            (What::Bases(..), Level::Velocity) => {
                rates(block, &plan.parts, &plan.jacobian, movers, &mut state.wrong);
                plan.still_rates(b, movers, &mut state.wrong);
                let rows = block.range().filter(|r| !state.masked[*r]);
                let square: f64 = rows.map(|r| state.wrong[r] * state.wrong[r]).sum();
                square.sqrt()
            }
            (What::Stop(k), Level::Position(h)) => {
                let knob = &plan.knobs[k as usize];
                let value = knob.dial.value(movers, When::Ahead, knob.value);
                let impulse = plan.impulse[row];
                let [low, high] = plan.ranges[k as usize];
                let (error, bounds) = if impulse > 0.0 || (impulse == 0.0 && value < low) {
                    (value - low, [0.0, f64::INFINITY])
                } else if impulse < 0.0 || value > high {
                    (value - high, [f64::NEG_INFINITY, 0.0])
                } else {
                    (0.0, [0.0, 0.0])
                };
                state.bounds[row] = bounds;
                state.masked[row] = bounds == [0.0, 0.0];
                state.wrong[row] = error / h;
                error.abs()
            }
            (What::Stop(_), Level::Velocity) => {
                let bounds = state.bounds[row];
                if bounds == [0.0, 0.0] {
                    return 0.0;
                }
                rates(block, &plan.parts, &plan.jacobian, movers, &mut state.wrong);
                plan.still_rates(b, movers, &mut state.wrong);
                let rate = state.wrong[row];
                let leaving = if bounds[0] == 0.0 { rate } else { -rate };
                let free = leaving > 0.0 && plan.impulse[row] == 0.0;
                state.masked[row] = free;
                if free { 0.0 } else { rate.abs() }
            }
            (What::Drive(k), Level::Position(h)) => {
                if state.masked[row] && state.goal[row].give == 0.0 && state.goal[row].place == 0.0
                {
                    return 0.0;
                }
                let knob = &plan.knobs[k as usize];
                let goal = state.goal[row];
                let impulse = plan.impulse[row];
                let value = knob.dial.value(movers, When::Ahead, knob.value);
                let error = value + goal.give * impulse - goal.place;
                let [least, most] = state.bounds[row];
                // At its strongest and still not there: more is not to be had.
                let spent = (impulse >= most && error < 0.0) || (impulse <= least && error > 0.0);
                state.masked[row] = spent;
                state.wrong[row] = error / h;
                if spent { 0.0 } else { error.abs() }
            }
            (What::Drive(_), Level::Velocity) => 0.0,
        }
    }

    /// True if no component would get better by more rounds.
    fn is_stuck(&self) -> bool {
        self.plan.components.iter().all(|c| {
            let p = &c.progress;
            !c.sweeps() && (p.rounds >= MOST_ROUNDS || p.halvings >= MOST_HALVINGS)
                || !p.error.is_finite()
                || p.rounds == 0
        })
    }

    /// Says what came of the rounds.
    fn judge(&mut self, outcome: &mut Outcome, level: Level, tolerance: f64) {
        for component in &mut self.plan.components {
            let p = &mut component.progress;
            outcome.redundant += component.redundant as u32;
            if p.rounds == 0 {
                continue;
            }
            // What gives way or is pressed can't be right; only if it is led astray would a shorter substep help.
            let beyond = |most: f64| p.error.is_nan() || p.error > most;
            let torn = p.gave_way || self.press.is_shared();
            let astray = beyond(tolerance) && (!torn || beyond(2.0 * p.first));
            let sweeps = !matches!(component.method, Some(Method::Graph | Method::System));
            if level != Level::Velocity {
                component.allowed = None;
            }
            p.settled = !beyond(tolerance);
            outcome.failed |= astray && !outcome.converged && (!sweeps || beyond(p.first));
            if let Level::Position(h) = level {
                // Joints do no work. Where they seem to, the rounds have found another way to put the points together than
                // the one the bodies would take.
                let (mut given, mut most, mut allowed) = (0.0, 0.0, 0.0);
                let (mut plain, mut whirled) = (true, false);
                for m in &component.movers {
                    let mover = &self.movers[*m];
                    let (energy, [had, fall]) = mover.given_energy(h);
                    given += energy;
                    most += MOST_GAIN * had + fall;
                    allowed += mover.allowance();
                    plain &= mover.plain;
                    whirled |= mover.is_whirled();
                }
                let gained = !component.driven && (given.is_nan() || given > most);
                outcome.wild |= plain && (whirled || gained);
                // Contacts take energy, but only they know how much.
                let alone = plain && !component.driven && self.press.is_empty();
                component.allowed = alone.then_some(allowed);
            }
        }
    }

    /// Keeps the impulses for the next substep.
    fn store(&mut self, bonds: &mut Bonds<'_>, h: f64) {
        let Self { movers, plan, .. } = self;
        for component in &plan.components {
            if component.blocks.len() > 1 && component.sweeps() && !component.progress.settled {
                for b in &component.blocks {
                    let rows = plan.blocks[*b as usize].range();
                    plan.impulse[rows].iter_mut().for_each(|i| *i *= HALF_DONE);
                }
            }
        }
        for block in &plan.blocks {
            match block.what {
                What::Bases(first, count) => {
                    let mut row = block.row;
                    for k in first as usize..first as usize + count as usize {
                        let tied = &plan.tied[k];
                        let rows = tied.kind.rows();
                        let impulse = &plan.impulse[row..row + rows];
                        match plan.owners[k] {
                            Owner::Tie(t) => {
                                let sum = impulse.iter().zip(&tied.along);
                                bonds.ties[t as usize].impulse =
                                    sum.fold(DVec3::ZERO, |s, (i, a)| s + *a * *i);
                            }
                            Owner::Base {
                                joint,
                                memory,
                                base,
                            } => {
                                let joint = &mut bonds.joints[joint as usize];
                                let memory = memory as usize;
                                joint.memory.impulses[memory..memory + rows]
                                    .copy_from_slice(impulse);
                                joint.memory.feet[base as usize] = tied.foot;
                                joint.memory.h = h;
                            }
                        }
                        row += rows;
                    }
                }
                What::Stop(k) | What::Drive(k) => {
                    let knob = &plan.knobs[k as usize];
                    let joint = &mut bonds.joints[knob.joint as usize];
                    let c = knob.control as usize;
                    let drive = usize::from(matches!(block.what, What::Drive(_)));
                    let place = joint.rows() + 2 * c + drive;
                    joint.memory.impulses[place] = plan.impulse[block.row];
                    let value = knob.dial.value(movers, When::Ahead, knob.value);
                    joint.memory.controls[c] = [value, knob.memory[1], knob.memory[2]];
                }
            }
        }
    }
}

/// The movers at the ends of a block's base joints.
fn plan_ends(tied: &[rows::Tied], what: What) -> impl Iterator<Item = u32> + '_ {
    let tied = match what {
        What::Bases(first, count) => &tied[first as usize..first as usize + count as usize],
        _ => &[],
    };
    let ends = tied
        .iter()
        .flat_map(|t| t.a.parts().iter().chain(t.b.parts()));
    ends.map(|p| p.0)
}

/// What a drive asks of its row in a substep of `h` seconds: where to, its greatest impulse, and the impulse itself if
/// that is known beforehand. `memory` is that of its control.
fn drive_row(drive: Drive, value: f64, memory: &mut [f64; 3], h: f64) -> (Goal, f64, Option<f64>) {
    let spring = |rest: f64, stiffness: f64, damping: f64, most: f64| {
        // Force at the end of the substep: −k (x′ − r) − d (x′ − x)/h.
        let firmness = h * stiffness + damping;
        if firmness <= 0.0 {
            return (Goal::default(), 0.0, Some(0.0));
        }
        let goal = Goal {
            place: rest + damping * (value - rest) / firmness,
            give: 1.0 / firmness,
        };
        (goal, most * h, None)
    };
    match drive {
        Drive::Force(force) => (Goal::default(), force.abs() * h, Some(force * h)),
        Drive::Speed { target, most } => {
            let place = value + target * h;
            (Goal { place, give: 0.0 }, most * h, None)
        }
        Drive::Servo {
            target,
            stiffness,
            damping,
            most,
        } => spring(target, stiffness, damping, most),
        Drive::Spring {
            rest,
            stiffness,
            damping,
        } => spring(rest, stiffness, damping, f64::INFINITY),
        Drive::Pid {
            target,
            proportional,
            integral,
            differential,
            most,
        } => {
            // memory: value at the end of the last substep, sum of errors, last error.
            let rate = if memory[2].is_nan() {
                0.0
            } else {
                (value - memory[2]) / h
            };
            let (error, slope) = match target {
                Target::Place(place) => (place - value, -rate),
                Target::Speed(speed) => (speed - rate, 0.0),
            };
            let sum = memory[1] + error * h;
            let force = proportional * error + integral * sum + differential * slope;
            let held = force.clamp(-most, most);
            // What the motor can't give is not summed up: it would have to be undone later.
            if held == force {
                memory[1] = sum;
            }
            memory[2] = value;
            (Goal::default(), most * h, Some(held * h))
        }
    }
}

/// Shortens `given` so that the block's impulses stay in bounds when it is added. True if anything was cut; `spend` is
/// told the first row and the number of rows of a base joint that has no more to give.
#[inline]
fn bounded(
    block: &plan::Block,
    tied: &[rows::Tied],
    (bounds, strength): (&[[f64; 2]], &[f64]),
    impulse: &[f64],
    given: &mut [f64; 6],
    mut spend: impl FnMut((usize, usize)),
) -> bool {
    let mut cut = false;
    match block.what {
        What::Bases(first, count) => {
            let mut r = 0;
            for k in first as usize..first as usize + count as usize {
                let rows = tied[k].kind.rows();
                if strength[k].is_finite() {
                    let now = &impulse[block.row + r..block.row + r + rows];
                    let sum = now.iter().zip(&given[r..]).map(|(now, more)| now + more);
                    let length = sum.map(|x| x * x).sum::<f64>().sqrt();
                    if length > strength[k] {
                        cut = true;
                        spend((block.row + r, rows));
                        let part = strength[k] / length;
                        for i in 0..rows {
                            given[r + i] = (now[i] + given[r + i]) * part - now[i];
                        }
                    }
                }
                r += rows;
            }
        }
        What::Stop(_) | What::Drive(_) => {
            let [least, most] = bounds[block.row];
            let now = impulse[block.row];
            let next = (now + given[0]).clamp(least, most);
            cut = next != now + given[0];
            given[0] = next - now;
        }
    }
    cut
}

/// Gives a part's mover the impulses of its block.
#[inline]
fn push_part(movers: &mut Movers, jacobian: &[f64], part: &plan::Part, impulses: &[f64]) {
    let (first, width) = (part.first as usize, part.width as usize);
    let rows = jacobian[first..first + impulses.len() * width].chunks_exact(width);
    let (mut push, mut twist) = (DVec3::ZERO, DVec3::ZERO);
    for (row, impulse) in rows.zip(impulses) {
        push += DVec3::from_slice(row) * *impulse;
        if let Some(moment) = row.get(3..6) {
            twist += DVec3::from_slice(moment) * *impulse;
        }
    }
    movers[part.mover].push(push, twist);
}

/// How fast a block's rows change by what its free movers do.
fn rates(
    block: &plan::Block,
    parts: &[plan::Part],
    jacobian: &[f64],
    movers: &Movers,
    wrong: &mut [f64],
) {
    let wrong = &mut wrong[block.range()];
    wrong.fill(0.0);
    for part in &parts[block.parts.clone()] {
        let (first, width) = (part.first as usize, part.width as usize);
        let mover = &movers[part.mover];
        let rows = jacobian[first..first + block.rows * width].chunks_exact(width);
        for (w, row) in wrong.iter_mut().zip(rows) {
            *w += DVec3::from_slice(row).dot(mover.velocity);
            if let Some(moment) = row.get(3..6) {
                *w += DVec3::from_slice(moment).dot(mover.spin);
            }
        }
    }
}

/// The inverse of a response, restricted to the directions that can move: between a fixed point and
/// a node locked along an axis the response is singular, and no impulse must appear there.
fn inverted(response: DMat3) -> DMat3 {
    let scale = response
        .to_cols_array()
        .iter()
        .fold(0.0_f64, |s, x| s.max(x.abs()));
    if scale == 0.0 {
        return DMat3::ZERO;
    }
    let inverse = (response * (1.0 / scale)).inverse() * (1.0 / scale);
    let determinant = (response * (1.0 / scale)).determinant();
    if determinant.abs() > 1e-9 && inverse.is_finite() {
        return inverse;
    }
    // Damped normal equations: exact to 1e-12 in the directions that move, zero in the others.
    let unit = response * (1.0 / scale);
    let normal = unit.transpose() * unit + DMat3::from_diagonal(DVec3::splat(1e-12));
    normal.inverse() * unit.transpose() * (1.0 / scale)
}

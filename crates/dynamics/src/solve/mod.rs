//! Impulses at the start of a substep that make its end right (B26, B27).
//!
//! Everything that ties two points is cut into blocks of rows ([`plan`]); blocks that share a node are a component, solved
//! together by the method that suits it ([`component`]); contacts are swept between its rounds.

mod arms;
mod component;
mod contact;
mod drive;
mod ends;
mod forest;
mod guard;
mod memory;
mod methods;
mod mover;
mod plan;
mod pull;
mod round;
mod rows;
mod touch;

use crate::{BodyContact, Cast, Contact, Crew, Joint, Tie};
use component::Component;
use contact::{LEAST, Press, Task, WORK};
use drive::Goal;
use forest::Forest;
use glam::DVec3;
use mover::{Level, Movers};
use plan::{Plan, What};
use serde::{Deserialize, Serialize};
use touch::Touching;

pub use component::Method;
pub use memory::growth;
pub use methods::Methods;
pub use pull::pull;

/// How hard a solve tries: it may stop at any time with a usable result (B3), and says what error is left.
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
    /// Sweeps times points of contact that are worth their time: heaps of thousands get fewer sweeps.
    pub work: usize,
    /// Sweeps that are worth their time for any number of points.
    pub least: u32,
    /// Sweeps after which stacks are carried from below (B92); 0 if they never are.
    pub shock: u32,
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
            sweeps: 80,
            work: WORK,
            least: LEAST,
            shock: 0,
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

/// Rounds that joints have after the last sweep over contacts at most.
const LAST_ROUNDS: u32 = 8;

/// Errors that differ by less than this part are the same.
const SAME: f64 = 0.05;

impl Outcome {
    /// What comes of nothing to solve: all is right.
    pub const RIGHT: Self = Self {
        iterations: 0,
        error: 0.0,
        converged: true,
        redundant: 0,
        failed: false,
        wild: false,
        refused: false,
    };

    /// Takes in what came of another part of the same solve.
    pub fn join(&mut self, other: &Self) {
        self.iterations = self.iterations.max(other.iterations);
        self.error = larger(self.error, other.error);
        self.converged &= other.converged;
        self.redundant += other.redundant;
        self.failed |= other.failed;
        self.wild |= other.wild;
        self.refused |= other.refused;
    }
}

/// Solves everything that ties or touches the matter of a group; keeps memory for it.
#[derive(Debug, Default)]
pub struct Solver {
    /// Trees that are solved apart while they can be.
    forest: Forest,
    /// All else; it knows the trees, too.
    room: Workspace,
}

impl Solver {
    /// Finds out which trees are solved apart now.
    fn choose(
        &mut self,
        cast: &Cast<'_>,
        bonds: &Bonds<'_>,
        touches: &Touches<'_>,
        budget: &Budget,
    ) {
        let Self { forest, room } = self;
        if forest.update(cast, bonds) {
            room.sections.clone_from(&forest.sections);
            room.idle.clone_from(&forest.idle);
            room.plan.expire();
            // Room for all of them is made now: when something touches a tree or wakes in the middle of an operation, it is there.
            room.begin(cast, bonds, Level::Velocity);
            room.start_rounds(Level::Velocity, budget.method, false);
        }
        forest.choose(cast, bonds.joints, touches, budget);
        room.idle.copy_from_slice(&forest.idle);
    }

    /// Tells the joints that the last [`aim`] gave up. Trees that lead nowhere are left to the general way before that.
    pub fn see_lost(&self, see: impl FnMut(u32)) {
        self.room.see_lost(see);
    }

    /// Tells the joints that have rows which others already determine: without effect of their own. Which of several that hold the same
    /// thing it is, is chance.
    pub fn see_redundant(&self, see: impl FnMut(u32)) {
        self.room.see_redundant(see);
    }
}

/// Memory for a solve.
#[derive(Debug, Default)]
struct Workspace {
    /// Of each joint its section of the plan, and of each section but the first whether it sleeps or is solved elsewhere now.
    sections: Vec<u32>,
    idle: Vec<bool>,
    movers: Movers,
    plan: Plan,
    state: RowState,
    contacts: Vec<Touching>,
    press: Press,
    /// Rows held at their bounds in a round: which of the component's, and what they get.
    spent: Vec<(usize, f64)>,
    /// Of the rows of a component that is drawn together: what may stay wrong, as a velocity.
    targets: Vec<f64>,
    /// What each mover of the plan will get from its bonds once more at the end of the substep.
    again: Vec<[DVec3; 2]>,
    /// Contacts of bodies that strike each other, and which ones of all they are.
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

impl RowState {
    /// Makes all rows those of the plan, with nothing known of them.
    fn clear(&mut self, plan: &mut Plan) {
        let endless = [f64::NEG_INFINITY, f64::INFINITY];
        self.masked.clear();
        self.masked.resize(plan.rows, false);
        if std::mem::take(&mut plan.fresh) {
            self.wrong.clear();
            self.wrong.resize(plan.rows, 0.0);
            self.compliance.clear();
            self.compliance.resize(plan.rows, 0.0);
            self.bounds.clear();
            self.bounds.resize(plan.rows, endless);
            self.goal.clear();
            self.goal.resize(plan.rows, Goal::default());
        }
        // Only these ever differ from row to row.
        for block in plan.controls.iter().map(|b| &plan.blocks[*b as usize]) {
            self.compliance[block.row] = 0.0;
            self.bounds[block.row] = endless;
            self.goal[block.row] = Goal::default();
        }
    }
}

impl Workspace {
    /// Reads everything of this instant.
    fn begin(&mut self, cast: &Cast<'_>, bonds: &Bonds<'_>, level: Level) {
        let key = (&*bonds.ties, &*bonds.joints, bonds.version, &*self.sections);
        self.plan.update(&mut self.movers, cast, key, level);
        self.plan.rest(self.idle.iter().copied());
        for m in self.plan.still_movers() {
            self.movers[*m].read(cast, level);
        }
        for run in self.plan.live_movers() {
            self.movers.read(run, cast, level);
        }
        self.state.clear(&mut self.plan);
        // What comes late must not allocate.
        self.spent.clear();
        self.spent.reserve(self.plan.rows);
        self.targets.clear();
        self.targets.reserve(self.plan.rows);
        let more = self.plan.movers.saturating_sub(self.again.len());
        self.again.reserve(more);
        self.plan.recall_feet(bonds.joints);
        self.plan.aim_rows(&self.movers);
    }
}

/// What touches what.
#[derive(Default)]
pub struct Touches<'a> {
    /// Hulls or bodies, and tissue.
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
    solver: &mut Solver,
) -> Outcome {
    solver.choose(cast, bonds, touches, budget);
    let Solver { forest, .. } = solver;
    let mut outcome = forest.aim(cast, bonds.joints, (h, budget), touches.crew);
    if !outcome.refused {
        outcome.join(&aim_in(cast, bonds, touches, h, budget, &mut solver.room));
    }
    if !outcome.refused {
        solver.forest.write(cast, bonds.joints, h);
    }
    outcome
}

fn aim_in(
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
    workspace.start_rounds(level, budget.method, budget.may_fail);
    workspace.touch(cast, touches.tissue, h, budget);
    let Workspace { press, movers, .. } = workspace;
    let crew = touches.crew;
    press.begin(movers, cast, (touches.bodies, Task::Aim), level, crew);
    workspace.feel();
    let sweeps = workspace.press.budget(budget).min(shock(budget));
    let mut outcome = Outcome::default();
    // Bonds and contacts of bodies that have none in common go on until they are done, each by their own measure.
    let coupled = workspace.press.is_shared();
    let most = if coupled { budget.iterations } else { sweeps };
    let (mut tied, mut touched, mut all_touch, mut pressed) = (0.0, 0.0, true, 0.0);
    let (mut bound, mut swept) = (false, false);
    loop {
        workspace.share(level);
        if !bound {
            tied = workspace.round(level, budget.position);
            (touched, all_touch) = workspace.sweep_contacts(touches.tissue, level);
        }
        if !swept {
            if coupled && outcome.iterations > sweeps {
                workspace.press.leave_others();
            }
            pressed = workspace.sweep_bodies(touches.crew) * h;
        }
        outcome.error = larger(larger(tied, touched), pressed);
        let (held, still) = (
            tied <= budget.position && all_touch,
            pressed <= budget.press,
        );
        outcome.converged = held && still;
        let alone = touches.tissue.is_empty() && !coupled;
        let enough = outcome.iterations >= budget.iterations;
        let stuck = alone && workspace.is_stuck(budget.position);
        bound = enough || stuck || (held && !coupled);
        swept = outcome.iterations >= most || (still && !coupled);
        if outcome.converged || (bound && swept) {
            break;
        }
        outcome.iterations += 1;
        let moved = (!bound && touched > 0.0) || (coupled && pressed > 0.0);
        if moved {
            workspace.unsettle();
        }
    }
    workspace.press.finish();
    if budget.shock > 0 {
        workspace.press.carry();
    }
    if workspace.is_pressed() && !outcome.converged {
        // Joints have the last word: what is left is better left to contacts, which only push.
        workspace.share(level);
        workspace.renew();
        for _ in 0..LAST_ROUNDS {
            tied = workspace.round(level, budget.position);
            outcome.iterations += 1;
            if tied <= budget.position {
                break;
            }
        }
        // What contacts lacked they still lack.
        outcome.error = larger(larger(tied, touched), pressed);
        outcome.converged = tied <= budget.position && all_touch && pressed <= budget.press;
        workspace.press.take_shared(&workspace.movers);
    }
    workspace.finish(h, budget.position);
    workspace.judge(&mut outcome, level, budget.position);
    let gives_way = |c: &Component| c.progress.gave_way;
    outcome.converged &= !workspace.plan.components.iter().any(gives_way);
    let astray = outcome.wild || outcome.failed;
    if astray {
        outcome.error = workspace.best();
    }
    // As short as it gets, or no better for being shorter: it contradicts itself.
    let same = (outcome.error / budget.before - 1.0).abs() < SAME;
    outcome.refused = astray && budget.may_fail && !same;
    if outcome.refused {
        workspace.forget();
    }
    if astray && !outcome.refused {
        workspace.draw_together(h, budget.recovery);
        outcome.converged = false;
    }
    outcome.error = larger(outcome.error, workspace.torn());
    if !outcome.refused {
        workspace.share(level);
        workspace.press.give(&mut workspace.movers, level, crew);
        workspace.press.store(touches.bodies, Task::Aim, crew);
        workspace.write(cast, h);
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
    solver: &mut Solver,
) -> Outcome {
    let mut outcome = solver
        .forest
        .correct(cast, bonds.joints, budget, touches.crew);
    outcome.join(&solver.room.correct(
        cast,
        bonds,
        (touches.bodies, Task::Correct),
        touches.crew,
        budget,
    ));
    outcome
}

/// Lets bodies that strike each other rebound, at the start of a substep of `h` seconds (B81–B85). Contacts that close
/// faster than `slow` m/s are blows. Each pass resolves those alone that are blows in it: so a blow travels through a row
/// of balls, instead of being spread over all of them. What each contact gets is added to its `blow`. Nothing goes on for ever: what
/// is still a blow after as many passes as are worth their time is left to [`aim`], which stops it, and counted.
pub fn rebound(
    cast: &mut Cast<'_>,
    bonds: &mut Bonds<'_>,
    touches: &mut Touches<'_>,
    (h, slow): (f64, f64),
    budget: &Budget,
    solver: &mut Solver,
) -> Blows {
    // Blows halve no substep; trees that nothing touches have no part in them.
    let patient = Budget {
        may_fail: true,
        before: f64::INFINITY,
        ..*budget
    };
    solver.choose(cast, bonds, touches, &patient);
    let workspace = &mut solver.room;
    workspace.forget();
    let mut blows = Blows::default();
    let mut some = std::mem::take(&mut workspace.some);
    let mut which = std::mem::take(&mut workspace.which);
    loop {
        some.clear();
        which.clear();
        for (i, contact) in (0..).zip(&*touches.bodies) {
            let speed = closing(cast, contact);
            if contact.restitution > 0.0 && speed > slow && contact.gap <= speed * h {
                some.push(BodyContact {
                    rebound: speed * contact.restitution,
                    ..*contact
                });
                which.push(i);
            }
        }
        // A long row is passed through by a few blows at a time.
        let most = if some.len() <= FEW {
            MOST_PASSES_OF_FEW
        } else {
            MOST_PASSES
        };
        if some.is_empty() || blows.passes >= most {
            blows.left = some.len() as u32;
            break;
        }
        blows.passes += 1;
        let struck = (&mut some[..], Task::Rebound);
        let outcome = workspace.correct(cast, bonds, struck, touches.crew, budget);
        blows.error = blows.error.max(outcome.error);
        for (contact, i) in some.iter().zip(&which) {
            touches.bodies[*i as usize].blow = contact.blow;
        }
    }
    workspace.some = some;
    workspace.which = which;
    blows
}

/// What came of the blows at the start of a substep.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Blows {
    /// Passes that were made.
    pub passes: u32,
    /// Contacts that still were blows after the last one; 0 if all were answered.
    pub left: u32,
    /// Greatest error of velocity that a pass left, m/s or rad/s.
    pub error: f64,
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

/// Sweeps at most before stacks are carried from below.
fn shock(budget: &Budget) -> u32 {
    match budget.shock {
        0 => u32::MAX,
        sweeps => sweeps,
    }
}

/// After more passes than this what is left is treated as resting: through a heap, and through a row in which so few points strike at a
/// time.
const MOST_PASSES: u32 = 64;
const MOST_PASSES_OF_FEW: u32 = 1024;
const FEW: usize = 8;

impl Workspace {
    /// Makes velocities right: of ties, joints and the given contacts; after a substep, when what bonds pulled with along mean arms
    /// has been given once more, or for blows.
    fn correct(
        &mut self,
        cast: &mut Cast<'_>,
        bonds: &mut Bonds<'_>,
        (contacts, task): (&mut [BodyContact], Task),
        crew: Option<&Crew>,
        budget: &Budget,
    ) -> Outcome {
        let again = task == Task::Correct;
        let level = Level::Velocity;
        self.begin(cast, bonds, level);
        if again {
            self.pull_again();
        }
        self.load_velocity(bonds);
        self.press
            .begin(&mut self.movers, cast, (contacts, task), level, crew);
        self.feel();
        // What is left wrong here the next substep makes right.
        let sweeps = self.press.budget(budget).div_ceil(2).min(shock(budget));
        let mut outcome = Outcome::default();
        self.start_rounds(level, budget.method, false);
        let coupled = self.press.is_shared();
        let most = if coupled { budget.iterations } else { sweeps };
        // What strikes is answered by joints in any case.
        let mut bound = !budget.correct && again;
        let (mut swept, mut tied, mut pressed) = (false, 0.0, 0.0);
        loop {
            self.share(level);
            if !bound {
                tied = self.round(level, budget.velocity);
            }
            if !swept {
                if coupled && outcome.iterations > sweeps {
                    self.press.leave_others();
                }
                pressed = self.sweep_bodies(crew);
            }
            let (held, still) = (tied <= budget.velocity, pressed <= budget.slip);
            outcome.error = larger(tied, pressed);
            outcome.converged = held && still;
            let enough = outcome.iterations >= budget.iterations;
            let stuck = !coupled && self.is_stuck(budget.velocity);
            let idle = !budget.correct && again;
            bound = idle || enough || stuck || (held && !coupled);
            swept = outcome.iterations >= most || (still && !coupled);
            if outcome.converged || (bound && swept) {
                break;
            }
            outcome.iterations += 1;
            if coupled && pressed > 0.0 {
                self.unsettle();
            }
        }
        self.press.finish();
        if budget.shock > 0 {
            self.press.carry();
        }
        self.judge(&mut outcome, level, budget.velocity);
        self.restrain();
        if again {
            self.govern();
        }
        self.share(level);
        self.press.give(&mut self.movers, level, crew);
        self.press.store(contacts, task, crew);
        self.write(cast, 0.0);
        if again {
            self.add_loads(bonds, |_| 0.0);
        }
        outcome
    }

    /// Gives the nodes of all that took part what was found.
    fn write(&self, cast: &mut Cast<'_>, h: f64) {
        let others = self.plan.movers..self.movers.len();
        for run in self.plan.live_movers().chain([others]) {
            self.movers.write(run, cast, h);
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

/// What the impulses of its block give a part's mover: impulse and angular impulse.
#[inline]
fn pushed(jacobian: &[f64], part: &plan::Part, impulses: &[f64]) -> (DVec3, DVec3) {
    let (first, width) = (part.first as usize, part.width as usize);
    let rows = jacobian[first..first + impulses.len() * width].chunks_exact(width);
    let (mut push, mut twist) = (DVec3::ZERO, DVec3::ZERO);
    for (row, impulse) in rows.zip(impulses) {
        push += DVec3::from_slice(row) * *impulse;
        if let Some(moment) = row.get(3..6) {
            twist += DVec3::from_slice(moment) * *impulse;
        }
    }
    (push, twist)
}

/// Gives a part's mover the impulses of its block.
#[inline]
fn push_part(movers: &mut Movers, jacobian: &[f64], part: &plan::Part, impulses: &[f64]) {
    let (push, twist) = pushed(jacobian, part, impulses);
    movers[part.mover].bind(push, twist);
}

/// The larger one; not a number if either is none: what is unknown is not right.
#[inline]
pub fn larger(a: f64, b: f64) -> f64 {
    if b > a || b.is_nan() { b } else { a }
}

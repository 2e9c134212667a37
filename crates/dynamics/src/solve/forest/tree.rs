//! Rounds of one tree of ball joints: the same method as for any other joints ([`round`](super::super::round),
//! [`arms`](super::super::arms)), on data that is made for it.

use super::{
    super::{
        Budget, Outcome,
        arms::{SLOW_SWING, swing},
        guard::{Gain, Throw},
        larger,
        round::{MOST_HALVINGS, MOST_ROUNDS},
    },
    limb::{Body, Change, Course, Hold, Limb, NONE, Pivot, Role, cross_times},
};
use crate::{Cast, Joint, MatterId, Nodes, Point, Turning};
use glam::{DMat3, DVec3};
use trocar_math::rotation::outer;

/// Rounds at most in which velocities are made right; one does it, up to rounding.
const VELOCITY_ROUNDS: u32 = 3;

/// Part of the tolerance beyond which a limb is put right in a round that is about a few of them, and beyond which a limb goes along with its
/// parent: what is left of both is seen at the next look.
const WORTH: f64 = 0.25;
const FELT: f64 = 0.1;

/// What hangs on a limb that is wrong by more than so many tolerances works, too: it would go too far along an old chord. What it goes along by
/// fades from limb to limb, by this factor of its square.
const NEAR: f64 = 100.0;
const FADES: f64 = 0.25;

/// A round is about a few limbs if they and all that they hang on are no more than this part of the tree.
const FEW: f64 = 0.75;

/// What a second round with the matrix of the first one is taken to leave of an error in a tree that is at least so many limbs deep. What the first one
/// left says nothing about that, since most of it was the weight of a substep, which no matrix misses; and what the matrix misses adds up along
/// a chain, until such a round makes things worse.
const SECOND_PACE: f64 = 0.2;
const LONG: usize = 50;

/// How errors are taken to answer to a change of motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    /// Along the arms that bonds pull along.
    Secant,
    /// As they do at the end of the substep.
    Exact,
}

/// Bodies held together by ball joints without a loop, parents before their children.
#[derive(Debug, Default)]
pub struct Tree {
    pub matter: MatterId,
    pub limbs: Vec<Limb>,
    /// What the first limb hangs on, if it hangs on anything: a point that no impulse moves.
    pub root: Option<(MatterId, Point)>,
    /// True if it is solved apart in this substep.
    pub apart: bool,
    /// What came of the last solve.
    pub outcome: Outcome,
    /// Most limbs one after another.
    depth: usize,
    bodies: Vec<Body>,
    courses: Vec<Course>,
    holds: Vec<Hold>,
    pivots: Vec<Pivot>,
    changes: Vec<Change>,
    /// What each limb does in this round. Large trees have always some that whip, and need more rounds than most: those are about them.
    roles: Vec<Role>,
    /// Squares of how far the points of each joint are apart and how far each body's motion lags behind, m² or rad².
    wrong: Vec<[f64; 2]>,
    /// Of each limb the square of how far it may go in the next round, m² or rad².
    sway: Vec<f64>,
    /// Where the root is or will be, and how it moves now.
    peg: DVec3,
    led: DVec3,
    /// True if the root moves or turns: then it does work.
    driven: bool,
    /// True if bonds pull along mean arms, at the start and once more at the end of the substep.
    mean: bool,
    again: bool,
}

impl Tree {
    /// Makes room, and reads what does not change.
    pub fn prepare(&mut self, cast: &Cast<'_>) {
        let masses = cast.matters[self.matter.index()].masses();
        self.bodies = self
            .limbs
            .iter()
            .map(|limb| {
                let node = limb.node as usize;
                let moments = masses.rigid()[node].inertia.unwrap_or(DVec3::ONE);
                Body {
                    mass: masses.mass()[node],
                    light: 1.0 / masses.mass()[node],
                    moments,
                    agile: moments.recip(),
                    split: crate::rigid::Split::of(moments),
                    ..Body::default()
                }
            })
            .collect();
        let count = self.limbs.len();
        self.courses = vec![Course::default(); count];
        self.holds = vec![Hold::default(); count];
        self.pivots = vec![Pivot::NOTHING; count];
        self.changes = vec![Change::default(); count];
        self.roles = vec![Role::Renews; count];
        self.wrong = vec![[0.0; 2]; count];
        self.sway = vec![0.0; count];
        let mut depths: Vec<usize> = Vec::with_capacity(count);
        for limb in &self.limbs {
            let above = depths.get(limb.parent as usize).copied().unwrap_or(0);
            depths.push(above + 1);
        }
        self.depth = depths.into_iter().max().unwrap_or(0);
    }

    /// True if it can be solved as a tree at this instant.
    pub fn is_ready(&self, cast: &Cast<'_>, joints: &[Joint]) -> bool {
        let masses = cast.matters[self.matter.index()].masses();
        let nodes = &cast.nodes[cast.slot[self.matter.index()] as usize];
        self.limbs.iter().zip(&self.bodies).all(|(limb, body)| {
            let i = limb.node as usize;
            let rigid = &masses.rigid()[i];
            let joint = joints.get(limb.joint as usize);
            masses.is_free(i)
                && masses.mass()[i] == body.mass
                && rigid.inertia == Some(body.moments)
                && rigid.damping == 0.0
                && rigid.turning == Turning::Momentum
                && nodes.torque[i] == DVec3::ZERO
                && joint.is_none_or(|j| j.strength.is_infinite())
        })
    }

    /// Finds the impulses that put all points together at the end of a substep of `h` seconds; [`write`](Self::write) gives them.
    pub fn aim(&mut self, cast: &Cast<'_>, joints: &[Joint], h: f64, budget: &Budget) -> Outcome {
        self.begin(cast, joints, h);
        let mut outcome = Outcome::default();
        let (mut last, mut best, mut halvings) = (f64::INFINITY, f64::INFINITY, 0);
        let (mut rounds, mut first) = (0, f64::INFINITY);
        let most = MOST_ROUNDS.min(budget.iterations);
        loop {
            let error = self.look(h);
            best = error.min(best);
            outcome.converged = error <= budget.position;
            outcome.error = error;
            if outcome.converged || rounds >= most || halvings >= MOST_HALVINGS {
                break;
            }
            if rounds == 0 {
                first = error;
            }
            rounds += 1;
            outcome.iterations += 1;
            let worse = error.is_nan() || error >= last;
            if worse && rounds > 1 {
                halvings += 1;
                self.take_back_half();
                continue;
            }
            halvings = 0;
            // A matrix that would take more than two further rounds is old: things have turned since.
            let pace = match rounds {
                2 if self.depth >= LONG => SECOND_PACE,
                _ => error / last,
            };
            let mut renewed = rounds == 1;
            if rounds > 1 {
                renewed = self.share_out(budget.position, budget.position / (pace * pace));
                // What a secant left is too large to tell who needs it.
                if rounds == 2 && renewed {
                    self.renew_workers();
                }
            }
            // Far from the solution the mean arms on both sides are the better guess: they are a secant, not a tangent.
            let anew = renewed.then_some(match self.mean && rounds == 1 {
                true => Answer::Secant,
                false => Answer::Exact,
            });
            if let Some(answer) = anew {
                self.weigh(h, answer == Answer::Exact);
            }
            last = error;
            self.solve(anew, h, budget.position);
        }
        // Where the budget ended the rounds, what they have is taken; a shorter substep would cost more of them.
        let stopped = rounds < MOST_ROUNDS && halvings < MOST_HALVINGS && outcome.error <= first;
        outcome.failed = !outcome.converged && !stopped;
        self.finish();
        // Impulses that are not right must not be given twice.
        self.again = self.mean && outcome.converged;
        outcome.wild = self.is_wild(h);
        outcome.refused = outcome.failed || outcome.wild;
        if outcome.refused {
            outcome.error = best;
            self.again = false;
        }
        outcome
    }

    /// Reads this instant, and starts from bodies that go on as they move.
    fn begin(&mut self, cast: &Cast<'_>, joints: &[Joint], h: f64) {
        let nodes = &cast.nodes[cast.slot[self.matter.index()] as usize];
        self.driven = false;
        if let Some((matter, point)) = &self.root {
            let (kind, share) = (
                &cast.matters[matter.index()],
                &cast.nodes[cast.slot[matter.index()] as usize],
            );
            self.peg = kind.preview(share, point, h);
            let node = point.node as usize;
            let still = |v: Option<&DVec3>| v.is_none_or(|v| *v == DVec3::ZERO);
            self.driven = !still(share.velocity.get(node)) || !still(share.spin.get(node));
        }
        self.mean = false;
        self.roles.fill(Role::Renews);
        for (i, limb) in self.limbs.iter().enumerate() {
            let node = limb.node as usize;
            let body = &mut self.bodies[i];
            body.read(nodes, node);
            body.force = nodes.force[node];
            body.drift = (nodes.ahead[node].position - body.position) / h;
            let course = &mut self.courses[i];
            // Velocities are right already: to go on with them is nearer to the truth than the impulses of the last substep.
            course.velocity = body.velocity;
            course.spin = body.spin;
            let Some(joint) = joints.get(limb.joint as usize) else {
                continue;
            };
            let warm = super::super::memory::growth(joint.memory.h, h) * limb.side;
            let hold = &mut self.holds[i];
            hold.impulse = DVec3::from_slice(&joint.memory.impulses) * warm;
            let pull = hold.impulse.length();
            hold.start[0] = self.bodies[i].axes * limb.own;
            if let Some(parent) = self.bodies.get(limb.parent as usize) {
                hold.start[1] = parent.axes * limb.other;
                self.mean |= swing(&nimble(parent), limb.other, pull, h) > SLOW_SWING;
            }
            self.mean |= swing(&nimble(&self.bodies[i]), limb.own, pull, h) > SLOW_SWING;
        }
    }

    /// Works out where all end by what is known so far; returns the greatest error, m or rad.
    fn look(&mut self, h: f64) -> f64 {
        let mean = self.mean;
        for (i, limb) in self.limbs.iter().enumerate() {
            let moved = self.roles[i] != Role::Rests;
            if moved {
                let course = &mut self.courses[i];
                course.follow(&self.bodies[i], mean, h);
                course.due = [DVec3::ZERO; 2];
            }
            let leads = match self.roles.get(limb.parent as usize) {
                Some(role) => *role != Role::Rests,
                None => false,
            };
            // What moves, or what hangs on it, is nowhere else than it was.
            if limb.joint == NONE || !(moved || leads) {
                continue;
            }
            let hold = &mut self.holds[i];
            let own = &mut self.courses[i];
            if moved {
                hold.end[0] = own.axes * limb.own;
                own.due[0] += hold.impulse;
                own.due[1] += hold.arm(0, mean).cross(hold.impulse);
            }
            let point = own.position + hold.end[0];
            hold.apart = point
                - match self.courses.get_mut(limb.parent as usize) {
                    Some(parent) => {
                        if leads {
                            hold.end[1] = parent.axes * limb.other;
                            parent.due[0] -= hold.impulse;
                            parent.due[1] -= hold.arm(1, mean).cross(hold.impulse);
                        }
                        parent.position + hold.end[1]
                    }
                    None => self.peg,
                };
            self.wrong[i][0] = hold.apart.length_squared();
        }
        let bodies = self.courses.iter_mut().zip(&self.bodies);
        let mut greatest = 0.0_f64;
        for ((course, body), (wrong, role)) in bodies.zip(self.wrong.iter_mut().zip(&self.roles)) {
            // No joint of one that rests has changed what it pulls with: that takes two that move.
            if *role != Role::Rests {
                wrong[1] = course.compare(body, h);
            }
            greatest = larger(larger(greatest, wrong[0]), wrong[1]);
        }
        greatest.sqrt()
    }

    /// Says who works in the next round: limbs that are wrong by a good part of `tolerance` and all that they hang on; or all, if they are not
    /// few. Those that are wrong by more than `stale` are eliminated anew, and all that they hang on; true if any is.
    fn share_out(&mut self, tolerance: f64, stale: f64) -> bool {
        let (worth, near) = (tolerance * WORTH, tolerance * NEAR);
        let (mut count, mut renewed) = (0, 0);
        for i in 0..self.limbs.len() {
            let [apart, lag] = self.wrong[i];
            let wrong = apart.max(lag);
            let above = self.sway.get(self.limbs[i].parent as usize);
            let along = above.map_or(0.0, |sway| sway * FADES);
            self.sway[i] = wrong.max(along);
            let works = wrong > worth * worth || along > near * near;
            self.roles[i] = match works {
                true if wrong.max(along) > stale * stale => Role::Renews,
                true => Role::Works,
                false => Role::Rests,
            };
        }
        for i in (0..self.limbs.len()).rev() {
            let role = self.roles[i];
            if role.works() {
                count += 1;
                renewed += u32::from(role == Role::Renews);
                if let Some(parent) = self.roles.get_mut(self.limbs[i].parent as usize) {
                    *parent = role.max(*parent);
                }
            }
        }
        let few = FEW * self.limbs.len() as f64;
        if f64::from(renewed) > few {
            self.roles.fill(Role::Renews);
        } else if f64::from(count) > few {
            for role in &mut self.roles {
                *role = Role::Works.max(*role);
            }
        }
        renewed > 0
    }

    /// All that work are eliminated anew.
    fn renew_workers(&mut self) {
        for role in self.roles.iter_mut().filter(|r| r.works()) {
            *role = Role::Renews;
        }
    }

    /// Weighs every limb that is eliminated anew, alone; with what bonds add to inertia in a substep of `h` seconds if they pull along mean
    /// arms: as a body turns, they pull along others. `exactly`: finds how each turns, too.
    fn weigh(&mut self, h: f64, exactly: bool) {
        let mean = self.mean;
        let add = |pivot: &mut Pivot, impulse: DVec3, arm: DVec3| {
            let p = impulse * (0.5 * h);
            let along = p.dot(arm);
            // What is pressed together would seem lighter than it is; rounds are surer without that.
            if along > 0.0 {
                pivot.turn += DMat3::from_diagonal(DVec3::splat(along)) - outer(arm, p);
            }
        };
        for (i, limb) in self.limbs.iter().enumerate() {
            let renews = self.roles[i] == Role::Renews;
            if renews {
                self.pivots[i].weigh(&self.bodies[i], limb.is_leaf);
                if exactly {
                    self.courses[i].find_turning(&self.bodies[i], mean, h);
                }
            }
            if !mean || limb.joint == NONE {
                continue;
            }
            let hold = &self.holds[i];
            if renews {
                add(&mut self.pivots[i], hold.impulse, hold.end[0]);
            }
            let parent = limb.parent as usize;
            if self.roles.get(parent) == Some(&Role::Renews) {
                add(&mut self.pivots[parent], -hold.impulse, hold.end[1]);
            }
        }
    }

    /// Eliminates a limb as if errors answered along the arms that bonds pull along.
    #[inline]
    fn eliminate(&mut self, i: usize) {
        let limb = &self.limbs[i];
        let (before, rest) = self.pivots.split_at_mut(i);
        let pivot = &mut rest[0];
        if self.mean {
            pivot.d += (pivot.turn + pivot.turn.transpose()) * 0.5;
        }
        pivot.d += self.bodies[i].inertia();
        if limb.joint == NONE {
            pivot.free(true);
        } else {
            let parent = before.get_mut(limb.parent as usize);
            pivot.symmetric(self.holds[i].arms(self.mean), parent);
        }
    }

    /// Eliminates a limb, if that is to be done anew, with errors that answer as they do at the end of the substep.
    #[inline]
    fn eliminate_exactly(&mut self, i: usize) {
        let mean = self.mean;
        let limb = &self.limbs[i];
        let (before, rest) = self.pivots.split_at_mut(i);
        let pivot = &mut rest[0];
        let hold = &self.holds[i];
        if self.roles[i] != Role::Renews {
            // What hangs on one that is renewed weighs what it weighed.
            if self.roles.get(limb.parent as usize) == Some(&Role::Renews) {
                pivot.lean(hold.arm(1, mean), &mut before[limb.parent as usize]);
            }
            return;
        }
        let turning = &self.courses[i].turning;
        if mean {
            // What it is stiffened by answers to how it turns.
            pivot.d += pivot.turn * *turning;
        }
        pivot.d += self.bodies[i].inertia();
        if limb.joint == NONE {
            pivot.free(false);
            return;
        }
        let own = cross_times(-hold.end[0], turning);
        let other = match self.courses.get(limb.parent as usize) {
            Some(parent) => cross_times(-hold.end[1], &parent.turning),
            None => DMat3::ZERO,
        };
        let parent = before.get_mut(limb.parent as usize);
        pivot.exact(hold.arms(mean), [own, other], parent);
    }

    /// From the leaves to the root (B65): eliminates limbs anew, if it is said how, and finds with what those that work pull on their parents, from
    /// what is to be given to each. Errors apart count `rate` times. One way through memory does both: that is what large trees cost.
    fn ascend(&mut self, anew: Option<Answer>, rate: f64) {
        let mean = self.mean;
        for i in (0..self.limbs.len()).rev() {
            match anew {
                Some(Answer::Secant) => self.eliminate(i),
                Some(Answer::Exact) => self.eliminate_exactly(i),
                None => {}
            }
            if !self.roles[i].works() {
                self.changes[i] = Change::default();
                continue;
            }
            let hold = &self.holds[i];
            let (before, rest) = self.changes.split_at_mut(i);
            let change = &mut rest[0];
            self.pivots[i].gather(change, hold.apart * rate);
            if let Some(parent) = before.get_mut(self.limbs[i].parent as usize) {
                parent.shift -= change.impulse;
                parent.turn -= hold.arm(1, mean).cross(change.impulse);
            }
        }
    }

    /// Finds how motions and impulses change in a substep of `h` seconds, and changes them.
    fn solve(&mut self, anew: Option<Answer>, h: f64, tolerance: f64) {
        let all = self.changes.iter_mut().zip(&self.courses);
        for ((change, course), _) in all.zip(&self.roles).filter(|(_, role)| role.works()) {
            [change.shift, change.turn] = course.lack;
        }
        self.ascend(anew, 1.0 / h);
        self.descend(tolerance * FELT / h);
    }

    /// From the root to the leaves: how each body that works changes its motion; and changes it. What hangs on one that changes its motion by
    /// more than `felt` (m/s or rad/s) follows it.
    fn descend(&mut self, felt: f64) {
        let mean = self.mean;
        for i in 0..self.limbs.len() {
            let (before, rest) = self.changes.split_at_mut(i);
            let above = self.limbs[i].parent as usize;
            let parent = before.get(above);
            let change = &mut rest[0];
            if !self.roles[i].works() && self.roles.get(above) == Some(&Role::Rests) {
                continue;
            }
            self.pivots[i].scatter(change, parent.map(|p| (p.shift, p.turn)));
            if self.roles[i].works() {
                self.courses[i].change(change);
                self.holds[i].impulse += change.impulse;
                continue;
            }
            // Whoever stays behind must not be missed by what it hangs on, either, which may be far lighter.
            let on = &self.bodies[above];
            let twist = on.spun(self.holds[i].arm(1, mean).cross(change.impulse));
            let missed = (change.impulse * on.light)
                .length_squared()
                .max(twist.length_squared());
            let moved = change
                .shift
                .length_squared()
                .max(change.turn.length_squared());
            if missed.max(moved) > felt * felt {
                self.roles[i] = Role::Follows;
                self.courses[i].change(change);
                self.holds[i].impulse += change.impulse;
            } else {
                *change = Change::default();
            }
        }
    }

    /// Takes half of the last round back; then all are looked at.
    fn take_back_half(&mut self) {
        self.roles.fill(Role::Works);
        for ((course, hold), change) in self
            .courses
            .iter_mut()
            .zip(&mut self.holds)
            .zip(&mut self.changes)
        {
            change.shift *= 0.5;
            change.turn *= 0.5;
            change.impulse *= 0.5;
            course.velocity -= change.shift;
            course.spin -= change.turn;
            hold.impulse -= change.impulse;
        }
    }

    /// Bodies get exactly what their bonds owe them: momentum is kept to rounding, and the last look has seen where they end.
    fn finish(&mut self) {
        for (course, body) in self.courses.iter_mut().zip(&self.bodies) {
            course.finish(body);
        }
    }

    /// True if the solution is another way than the bodies would take: joints do no work.
    fn is_wild(&self, h: f64) -> bool {
        let (mut gain, mut whirled) = (Gain::default(), false);
        for (course, body) in self.courses.iter().zip(&self.bodies) {
            let had = body.energy(body.velocity, body.spin);
            let push = course.due[0] * body.light;
            if self.mean {
                let work = body.force.dot(course.position - body.position);
                let velocity = body.velocity + push * 2.0 + body.force * (h * body.light);
                let spin = course.last_spin + course.spun(body, course.due[1]);
                let local = course.axes.transpose() * spin;
                let turning = local.dot(body.moments * local);
                let has = 0.5 * (body.mass * velocity.length_squared() + turning);
                gain.add_mean([had, has], work);
            } else {
                let fall = (body.drift - body.velocity) * 2.0;
                let has = body.energy(body.velocity + push, course.spin);
                gain.add([had, has], body.energy(fall, DVec3::ZERO));
            }
            whirled |= course.is_whirled(body, self.mean);
        }
        whirled || gain.is_wild(self.driven)
    }

    /// Gives all nodes what was found, and lets the joints remember it.
    pub fn write(&self, cast: &mut Cast<'_>, joints: &mut [Joint], h: f64) {
        let nodes = &mut cast.nodes[cast.slot[self.matter.index()] as usize];
        for (i, limb) in self.limbs.iter().enumerate() {
            let (node, course, body) = (limb.node as usize, &self.courses[i], &self.bodies[i]);
            let push = course.due[0] * body.light;
            nodes.velocity[node] += push;
            nodes.spin[node] = course.spin;
            let ahead = &mut nodes.ahead[node];
            ahead.velocity += push;
            ahead.position = course.position;
            ahead.orientation = course.orientation;
            ahead.spin = course.last_spin;
            if let Some(joint) = joints.get_mut(limb.joint as usize) {
                let impulse = self.holds[i].impulse * limb.side;
                joint.memory.impulses.copy_from_slice(&impulse.to_array());
                joint.memory.h = h;
                let times = if self.again { 2.0 } else { 1.0 };
                let given = impulse * times;
                joint.memory.load.copy_from_slice(&given.to_array());
            }
        }
    }

    /// Makes room in the joints for what they have to remember.
    pub fn remember(&self, joints: &mut [Joint]) {
        for limb in &self.limbs {
            if let Some(joint) = joints.get_mut(limb.joint as usize) {
                joint.remember();
            }
        }
    }

    /// Makes velocities right at the end of the substep (B27), after what bonds pulled with along mean arms has been given once
    /// more; [`write_velocities`](Self::write_velocities) gives them.
    pub fn correct(&mut self, cast: &Cast<'_>, budget: &Budget) -> Outcome {
        let again = std::mem::take(&mut self.again);
        self.roles.fill(Role::Renews);
        self.read_velocities(&cast.nodes[cast.slot[self.matter.index()] as usize], again);
        let still = self.root.as_ref().map(|(matter, point)| {
            let share = &cast.nodes[cast.slot[matter.index()] as usize];
            let spin = share.spin.get(point.node as usize).copied();
            (
                cast.matters[matter.index()].velocity(share, point),
                spin.unwrap_or_default(),
            )
        });
        let (speed, spin) = still.unwrap_or_default();
        self.led = speed;
        let mut outcome = if budget.correct {
            self.make_even(budget.velocity)
        } else {
            Outcome::RIGHT
        };
        let led = [speed, spin];
        if self.is_thrown(led, |course, _| [course.velocity, course.spin]) {
            outcome.converged = false;
            // What bonds pulled with once more is kept, unless it is that what throws.
            let pulled = |course: &Course, body: &Body| match again {
                true => course.pulled_again(body),
                false => [body.velocity, body.spin],
            };
            let kept = !self.is_thrown(led, pulled);
            self.holds.iter_mut().for_each(|h| h.impulse = DVec3::ZERO);
            for (course, body) in self.courses.iter_mut().zip(&self.bodies) {
                [course.velocity, course.spin] = match kept {
                    true => pulled(course, body),
                    false => [body.velocity, body.spin],
                };
            }
        }
        outcome
    }

    /// Gives all nodes the velocities that were found.
    pub fn write_velocities(&self, cast: &mut Cast<'_>, joints: &mut [Joint]) {
        let nodes = &mut cast.nodes[cast.slot[self.matter.index()] as usize];
        let limbs = self.limbs.iter().zip(&self.holds);
        for ((limb, hold), course) in limbs.zip(&self.courses) {
            nodes.velocity[limb.node as usize] = course.velocity;
            nodes.spin[limb.node as usize] = course.spin;
            if let Some(joint) = joints.get_mut(limb.joint as usize) {
                let given = (hold.impulse * limb.side).to_array();
                let load = joint.memory.load.iter_mut();
                load.zip(given).for_each(|(l, g)| *l += g);
            }
        }
    }

    /// Finds the velocities nearest to those there are at which no two points of a joint part.
    fn make_even(&mut self, tolerance: f64) -> Outcome {
        let mut outcome = Outcome::default();
        loop {
            outcome.error = self.part();
            outcome.converged = outcome.error <= tolerance;
            if outcome.converged || outcome.iterations >= VELOCITY_ROUNDS {
                return outcome;
            }
            let anew = (outcome.iterations == 0).then_some(Answer::Secant);
            if anew.is_some() {
                self.weigh(0.0, false);
            }
            outcome.iterations += 1;
            self.changes.fill(Change::default());
            self.ascend(anew, 1.0);
            self.descend(0.0);
        }
    }

    fn read_velocities(&mut self, nodes: &Nodes, again: bool) {
        for i in 0..self.limbs.len() {
            let limb = &self.limbs[i];
            let body = &mut self.bodies[i];
            body.read(nodes, limb.node as usize);
            let course = &mut self.courses[i];
            [course.velocity, course.spin] = match again {
                true => course.pulled_again(body),
                false => [body.velocity, body.spin],
            };
            let hold = &mut self.holds[i];
            hold.impulse = DVec3::ZERO;
            hold.start[0] = body.axes * limb.own;
            if let Some(parent) = self.bodies.get(limb.parent as usize) {
                hold.start[1] = parent.axes * limb.other;
            }
        }
        self.mean = false;
    }

    /// How fast the points of each joint part; returns the fastest, m/s.
    fn part(&mut self) -> f64 {
        let mut greatest = 0.0_f64;
        for (i, limb) in self.limbs.iter().enumerate() {
            if limb.joint == NONE {
                continue;
            }
            let hold = &mut self.holds[i];
            let at = |course: &Course, arm: DVec3| course.velocity + course.spin.cross(arm);
            let other = match self.courses.get(limb.parent as usize) {
                Some(parent) => at(parent, hold.start[1]),
                None => self.led,
            };
            hold.apart = at(&self.courses[i], hold.start[0]) - other;
            greatest = larger(greatest, hold.apart.length_squared());
        }
        greatest.sqrt()
    }

    /// True if bodies would be thrown by the velocities that `of` says, where the root moves and turns as given.
    fn is_thrown(
        &self,
        [speed, spin]: [DVec3; 2],
        of: impl Fn(&Course, &Body) -> [DVec3; 2],
    ) -> bool {
        let mut throw = Throw::default();
        let led = [speed.length_squared(), spin.length_squared()];
        for (course, body) in self.courses.iter().zip(&self.bodies) {
            let [velocity, spin] = of(course, body);
            let energies = [
                body.energy(body.velocity, body.spin),
                body.energy(velocity, spin),
            ];
            throw.add(energies, (body.mass, body.moments.element_sum()), led);
        }
        throw.is_thrown()
    }
}

/// The inverse inertia of a body along its own axes, 1/(kg·m²).
#[inline]
fn nimble(body: &Body) -> DMat3 {
    DMat3::from_diagonal(body.agile)
}

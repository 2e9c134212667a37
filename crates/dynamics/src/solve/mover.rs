//! The nodes that take part in a solve, as working copies.
//!
//! A solve looks at a few nodes very often. So it copies what it needs of them, works on the copies, and gives the sum
//! of all impulses back at the end.

use crate::{
    Cast, Crew, Lock, MatterId, Rigid,
    rigid::{Split, turning},
};
use glam::{DMat3, DQuat, DVec3};
use std::ops::Range;
use trocar_math::{Pose, skew};

/// So many movers are made room for at once.
const MOST_RESERVED: usize = 4096;

/// So many are handed to a thread at once. It shows in nothing but time.
pub const BODIES: usize = 64;

/// No mover.
pub const NONE: u32 = u32::MAX;

/// What a solve makes right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Level {
    /// Where things will be after so many seconds (B26).
    Position(f64),
    /// How fast they move now (B27).
    Velocity,
}

/// How far a body in a joint may turn in one substep, 0.6 rad, or 1 rad if its bonds pull along mean arms: cosine of half
/// the angle.
pub(super) const LEAST_COSINE: [f64; 2] = [0.955, 0.878];

/// At the start of the substep, or at its end as it is planned; or the mean of what is at the one and at the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    Now,
    Middle,
    Ahead,
}

/// A working copy of a node.
#[derive(Clone, Copy, Debug)]
pub struct Mover {
    /// Which node it is.
    pub matter: MatterId,
    pub node: u32,
    /// Unknowns it has in a linear system: 6 if it moves and turns, 3 if it moves, 0 if nothing moves it.
    pub freedom: u8,
    /// True if its numbers changed since the last refresh.
    pub dirty: bool,
    /// True if nothing but forces and impulses moves it.
    pub plain: bool,
    /// Where it is.
    pub position: DVec3,
    pub orientation: DQuat,
    /// How it moves now, with all impulses so far, carried motion included.
    pub velocity: DVec3,
    pub spin: DVec3,
    /// Where it will be.
    pub ahead: DVec3,
    pub ahead_orientation: DQuat,
    /// Both orientations as matrices: every arm is turned by them, again and again.
    now: DMat3,
    then: DMat3,
    /// How a small change of spin turns it at the end of the substep, for each second of it.
    turning: DMat3,
    ahead_spin: DVec3,
    /// Change of `velocity` (or of `ahead`, for each second of the substep) for an impulse, 1/kg; and its inverse.
    pub answer: DMat3,
    pub mass: DMat3,
    /// World inverse inertia and inertia.
    pub inverse_inertia: DMat3,
    pub inertia: DMat3,
    /// All impulses so far, N·s and N·m·s.
    pub push: DVec3,
    pub twist: DVec3,
    /// What bonds have given it of that, and what they should have by the impulses of their rows.
    pub given: [DVec3; 2],
    pub due: [DVec3; 2],
    /// True if bonds pull it along the mean of their arms at the start and at the end of the substep.
    pub mean: bool,
    /// What its bonds add to its inertia: as it turns, they pull along other arms.
    pub stiffness: DMat3,
    /// The inverse of both together, symmetric.
    pub felt: DMat3,
    /// As it would go without any of them.
    before: Before,
}

#[derive(Clone, Copy, Debug, Default)]
struct Before {
    velocity: DVec3,
    spin: DVec3,
    ahead: DVec3,
    rigid: Rigid,
    torque: DVec3,
    force: DVec3,
}

impl Mover {
    fn new(matter: MatterId, node: u32) -> Self {
        Self {
            matter,
            node,
            freedom: 0,
            dirty: false,
            plain: false,
            position: DVec3::ZERO,
            orientation: DQuat::IDENTITY,
            velocity: DVec3::ZERO,
            spin: DVec3::ZERO,
            ahead: DVec3::ZERO,
            ahead_orientation: DQuat::IDENTITY,
            now: DMat3::IDENTITY,
            then: DMat3::IDENTITY,
            turning: DMat3::IDENTITY,
            ahead_spin: DVec3::ZERO,
            answer: DMat3::ZERO,
            mass: DMat3::ZERO,
            inverse_inertia: DMat3::ZERO,
            inertia: DMat3::ZERO,
            push: DVec3::ZERO,
            twist: DVec3::ZERO,
            given: [DVec3::ZERO; 2],
            due: [DVec3::ZERO; 2],
            mean: false,
            stiffness: DMat3::ZERO,
            felt: DMat3::ZERO,
            before: Before::default(),
        }
    }

    /// Reads its node at this instant, in place: there are many of them, and they are large.
    pub fn read(&mut self, cast: &Cast<'_>, level: Level) {
        let kind = &*cast.matters[self.matter.index()];
        let nodes = &cast.nodes[cast.slot[self.matter.index()] as usize];
        let i = self.node as usize;
        let frame = i < nodes.orientation.len();
        let was_free = std::mem::take(&mut self.freedom);
        self.dirty = false;
        self.mean = false;
        self.stiffness = DMat3::ZERO;
        self.push = DVec3::ZERO;
        self.twist = DVec3::ZERO;
        self.given = [DVec3::ZERO; 2];
        self.due = [DVec3::ZERO; 2];
        self.position = nodes.position[i];
        self.velocity = nodes.velocity[i];
        self.ahead = nodes.position[i];
        if frame {
            self.orientation = nodes.orientation[i];
            self.spin = nodes.spin[i];
            self.now = DMat3::from_quat(self.orientation);
            self.set_ahead(nodes.ahead[i].orientation);
        }
        if let Level::Position(h) = level {
            self.ahead = match nodes.ahead.get(i) {
                Some(ahead) => ahead.position,
                None => kind.preview(
                    nodes,
                    &crate::Point {
                        node: self.node,
                        offset: DVec3::ZERO,
                    },
                    h,
                ),
            };
        }
        if !kind.is_prescribed() {
            self.read_masses(cast, level, frame);
        }
        self.before.velocity = self.velocity;
        self.before.spin = self.spin;
        self.before.ahead = self.ahead;
        if self.freedom < was_free {
            // It is held now: nothing of how it answered may stay.
            *self = Self::new(self.matter, self.node);
            self.read(cast, level);
        }
    }

    fn read_masses(&mut self, cast: &Cast<'_>, level: Level, frame: bool) {
        let nodes = &cast.nodes[cast.slot[self.matter.index()] as usize];
        let masses = cast.matters[self.matter.index()].masses();
        let i = self.node as usize;
        self.plain = masses.is_free(i);
        self.before.force = nodes.force[i];
        let lock = masses.lock(i);
        let light = match level {
            Level::Position(h) => masses.reach(i, h) / h,
            Level::Velocity => 1.0 / masses.mass()[i],
        };
        if lock != Lock::Free {
            self.velocity = masses.node_velocity(nodes, i);
        }
        match lock {
            Lock::Free => {
                self.answer = DMat3::from_diagonal(DVec3::splat(light));
                self.mass = DMat3::from_diagonal(DVec3::splat(1.0 / light));
                self.freedom = 3;
            }
            Lock::Fixed => {}
            Lock::Axes(gains, axes) => {
                let r = DMat3::from_quat(axes);
                // A locked axis answers as if it bore a million times the mass.
                let felt = gains.max(DVec3::splat(1e-6));
                self.answer = *masses.gain(i) * light;
                self.mass = r * DMat3::from_diagonal((felt * light).recip()) * r.transpose();
                self.freedom = 3;
            }
        }
        if !frame {
            return;
        }
        let rigid = masses.rigid_now(nodes, i);
        self.before.rigid = rigid;
        self.before.torque = nodes.torque[i];
        self.plain &= self.before.torque == DVec3::ZERO && rigid.damping == 0.0;
        if let Some(inertia) = rigid.inertia {
            let r = self.now;
            let t = r.transpose();
            self.inverse_inertia = r * scaled_rows(inertia.recip(), t);
            self.inertia = r * scaled_rows(inertia, t);
            self.felt = self.inverse_inertia;
            self.freedom = 6;
        }
    }

    #[inline]
    fn set_ahead(&mut self, orientation: DQuat) {
        self.ahead_orientation = orientation;
        self.then = DMat3::from_quat(orientation);
    }

    /// Where a point fixed to it is, and will be.
    #[inline]
    pub fn point(&self, offset: DVec3) -> DVec3 {
        self.position + self.now * offset
    }

    #[inline]
    pub fn point_ahead(&self, offset: DVec3) -> DVec3 {
        self.ahead + self.then * offset
    }

    /// A direction fixed to it, along the world's axes.
    #[inline]
    pub fn turned(&self, direction: DVec3, when: When) -> DVec3 {
        match when {
            When::Now => self.now * direction,
            When::Ahead => self.then * direction,
            When::Middle => (self.now * direction + self.then * direction) * 0.5,
        }
    }

    #[inline]
    pub fn place(&self, when: When) -> DVec3 {
        match when {
            When::Now => self.position,
            When::Ahead => self.ahead,
            When::Middle => (self.position + self.ahead) * 0.5,
        }
    }

    /// Its pose now, or else ahead.
    pub fn pose(&self, when: When) -> Pose {
        match when {
            When::Now => Pose::new(self.position, self.orientation),
            _ => Pose::new(self.ahead, self.ahead_orientation),
        }
    }

    /// What a moment that looks at the end of the substep is to a small change of spin. Valid after
    /// [`look_back`](Self::look_back).
    #[inline]
    pub fn looking_back(&self, moment: DVec3) -> DVec3 {
        self.turning.transpose() * moment
    }

    /// How a small change of spin turns what it carries at the end of the substep, for each second of it. Valid after
    /// [`look_back`](Self::look_back).
    pub fn turning(&self) -> DMat3 {
        self.turning
    }

    /// Takes from its bonds what lets it go on as it moves now for `h` seconds.
    pub fn go_on(&mut self, h: f64) {
        let push = self.mass * (self.velocity - (self.ahead - self.position) / h);
        self.bind(push, DVec3::ZERO);
    }

    /// Works out how it turns in the `h` seconds of the substep, for [`looking_back`](Self::looking_back). What carries it or damps
    /// it is left out.
    pub fn look_back(&mut self, h: f64) {
        let before = &self.before;
        let (Some(moments), 6) = (before.rigid.inertia, self.freedom) else {
            return;
        };
        if self.mean {
            let spin = before.spin + self.inverse_inertia * self.twist;
            self.turning = turning(&Split::of(moments), moments, self.now, spin, (true, h));
        } else {
            // Bonds that may give way throw bodies about; there the exact derivative leads farther astray than this, which
            // stays near one.
            let q = self.free_turn();
            let turn = skew(q.xyz() * if q.w < 0.0 { -2.0 } else { 2.0 });
            self.turning = DMat3::IDENTITY + turn * 0.5 + turn * turn * (1.0 / 6.0);
        }
    }

    /// How it turns in the substep by what is known so far.
    #[inline]
    pub fn free_turn(&self) -> DQuat {
        if self.freedom == 6 {
            self.ahead_orientation * self.orientation.conjugate()
        } else {
            DQuat::IDENTITY
        }
    }

    /// Shows it at the end of the substep where it is now, until it is refreshed.
    pub fn stand_still(&mut self) {
        self.ahead = self.position;
        self.set_ahead(self.orientation);
        self.dirty = true;
    }

    /// True if it turns farther in the substep than what is reckoned for it can be trusted.
    pub fn is_whirled(&self) -> bool {
        let least = LEAST_COSINE[usize::from(self.mean)];
        self.orientation.dot(self.ahead_orientation).abs() < least
    }

    /// Kinetic energy it would have with these impulses and no others, J.
    pub fn kinetic_with(&self, [push, twist]: [DVec3; 2]) -> f64 {
        let velocity = self.before.velocity + self.answer * push;
        let spin = self.before.spin + self.inverse_inertia * twist;
        0.5 * (velocity.dot(self.mass * velocity) + spin.dot(self.inertia * spin))
    }

    /// Takes all impulses back.
    pub fn forget(&mut self) {
        self.push = DVec3::ZERO;
        self.twist = DVec3::ZERO;
        self.refresh(Level::Velocity);
    }

    /// Kinetic energy now, J.
    pub fn kinetic(&self) -> f64 {
        let (v, w) = (self.velocity, self.spin);
        0.5 * (v.dot(self.mass * v) + w.dot(self.inertia * w))
    }

    /// Kinetic energy it had before all impulses, and what its weight adds to it on its way, J.
    pub fn allowance(&self) -> f64 {
        let (v, w) = (self.before.velocity, self.before.spin);
        0.5 * (v.dot(self.mass * v) + w.dot(self.inertia * w))
            + self.before.force.dot(self.ahead - self.position)
    }

    /// How it moves: now, or on average over the substep.
    pub fn course(&self, level: Level) -> (DVec3, DVec3) {
        match level {
            Level::Velocity => (self.velocity, self.spin),
            Level::Position(h) => {
                let twist = self.twist + self.before.torque * (0.5 * h);
                (
                    (self.ahead - self.position) / h,
                    self.before.spin + self.inverse_inertia * twist,
                )
            }
        }
    }

    /// Kinetic energy before and after all impulses at the start of the substep, J; and what its weight would give it from rest.
    pub fn given_energy(&self, h: f64) -> ([f64; 2], f64) {
        let (push, turn) = self.pushed();
        let (velocity, spin) = (self.before.velocity, self.before.spin);
        let fall = ((self.before.ahead - self.position) / h - velocity) * 2.0;
        let of = |v: DVec3, w: DVec3| 0.5 * (v.dot(self.mass * v) + w.dot(self.inertia * w));
        let had = of(velocity, spin);
        let has = of(velocity + push, spin + turn);
        ([had, has], of(fall, DVec3::ZERO))
    }

    /// What impulses have changed of that.
    pub fn pushed(&self) -> (DVec3, DVec3) {
        (self.answer * self.push, self.inverse_inertia * self.twist)
    }

    /// Takes an impulse and an angular impulse of its bonds.
    #[inline]
    pub fn bind(&mut self, impulse: DVec3, moment: DVec3) {
        self.given[0] += impulse;
        self.given[1] += moment;
        self.push(impulse, moment);
    }

    /// Kinetic energy it will have at the end of the substep if it gets `more` there, J.
    pub fn energy_ahead(&self, more: [DVec3; 2], h: f64) -> f64 {
        let push = self.push + self.before.force * h + more[0];
        let velocity = self.before.velocity + self.answer * push;
        let spin = match self.before.rigid.inertia {
            Some(inertia) => {
                let q = self.ahead_orientation;
                self.ahead_spin + q * ((q.conjugate() * more[1]) / inertia)
            }
            None => DVec3::ZERO,
        };
        let turning = self.before.rigid.inertia.map_or(0.0, |inertia| {
            let w = self.ahead_orientation.conjugate() * spin;
            w.dot(inertia * w)
        });
        0.5 * (velocity.dot(self.mass * velocity) + turning)
    }

    /// What its bonds still owe it, N·s and N·m·s.
    #[inline]
    pub fn lack(&self) -> [DVec3; 2] {
        [self.due[0] - self.given[0], self.due[1] - self.given[1]]
    }

    /// How far its motion lags behind what its bonds should have given it by the end of the substep, m or rad.
    #[inline]
    pub fn lag(&self, h: f64) -> f64 {
        let lack = self.lack();
        let (shift, turn) = (self.answer * lack[0], self.inverse_inertia * lack[1]);
        shift.length_squared().max(turn.length_squared()).sqrt() * h
    }

    /// Takes an impulse and an angular impulse.
    #[inline]
    pub fn push(&mut self, impulse: DVec3, moment: DVec3) {
        self.push += impulse;
        self.twist += moment;
        self.dirty = true;
    }

    /// Works out its motion with the impulses it has had.
    #[inline]
    pub fn refresh(&mut self, level: Level) {
        self.dirty = false;
        let change = self.answer * self.push;
        let turned = self.inverse_inertia * self.twist;
        match level {
            Level::Velocity => {
                self.velocity = self.before.velocity + change;
                self.spin = self.before.spin + turned;
            }
            Level::Position(h) => {
                self.ahead = self.before.ahead + change * h;
                if self.freedom == 6 {
                    let before = &self.before;
                    let (q, spin) = (self.orientation, before.spin + turned);
                    let (orientation, spin) = if self.mean {
                        before.rigid.turned_in_bonds(q, spin, before.torque, h)
                    } else {
                        before.rigid.turned(q, spin, before.torque, h)
                    };
                    self.ahead_spin = spin;
                    self.set_ahead(orientation);
                }
            }
        }
    }
}

/// diag(`scale`) · `m`.
#[inline]
fn scaled_rows(scale: DVec3, m: DMat3) -> DMat3 {
    DMat3::from_cols(m.x_axis * scale, m.y_axis * scale, m.z_axis * scale)
}

/// All movers of a solve.
#[derive(Debug, Default)]
pub struct Movers {
    /// Those that take part, and after them others that once did: they are large, and many come back at every instant.
    list: Vec<Mover>,
    /// The nodes of those that take part. Movers are large and lie in the caches of many threads; whoever goes through all of them alone should not have to
    /// look at them.
    ids: Vec<(MatterId, u32)>,
    /// For each share and node its mover, or [`NONE`].
    of: Vec<Vec<u32>>,
}

impl std::ops::Index<u32> for Movers {
    type Output = Mover;
    #[inline]
    fn index(&self, i: u32) -> &Mover {
        &self.list[i as usize]
    }
}

impl std::ops::IndexMut<u32> for Movers {
    #[inline]
    fn index_mut(&mut self, i: u32) -> &mut Mover {
        &mut self.list[i as usize]
    }
}

impl Movers {
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Forgets all movers from `count` on.
    pub fn truncate(&mut self, cast: &Cast<'_>, count: usize) {
        for (matter, node) in self.ids.drain(count.min(self.ids.len())..) {
            let slot = cast.slot[matter.index()] as usize;
            if let Some(place) = self
                .of
                .get_mut(slot)
                .and_then(|of| of.get_mut(node as usize))
            {
                *place = NONE;
            }
        }
    }

    /// The mover of a node; it is read now if it takes part for the first time.
    pub fn of(&mut self, cast: &Cast<'_>, matter: MatterId, node: u32, level: Level) -> u32 {
        let count = self.len();
        let m = self.enlist(cast, matter, node);
        if self.len() > count {
            self.read_from(count, cast, level, None);
        }
        m
    }

    /// The same as [`of`](Self::of), but whoever asks has to read it.
    pub fn enlist(&mut self, cast: &Cast<'_>, matter: MatterId, node: u32) -> u32 {
        let slot = cast.slot[matter.index()] as usize;
        if self.of.len() <= slot {
            self.of.resize_with(slot + 1, Vec::new);
        }
        let of = &mut self.of[slot];
        if of.len() <= node as usize {
            of.resize(cast.nodes[slot].len().max(node as usize + 1), NONE);
            // Contacts bring any of them; none may allocate in the middle of an operation.
            self.list.reserve(of.len().min(MOST_RESERVED));
            self.ids.reserve(of.len().min(MOST_RESERVED));
        }
        if of[node as usize] == NONE {
            of[node as usize] = self.ids.len() as u32;
            self.ids.push((matter, node));
        }
        of[node as usize]
    }

    /// Reads all from `first` on, whether they have taken part before or not.
    pub fn read_from(&mut self, first: usize, cast: &Cast<'_>, level: Level, crew: Option<&Crew>) {
        let ids = &self.ids;
        if self.list.len() < ids.len() {
            let (matter, node) = ids[ids.len() - 1];
            self.list.resize(ids.len(), Mover::new(matter, node));
        }
        let ids = &ids[first..];
        let list = &mut self.list[first..first + ids.len()];
        Crew::spread(crew, list, BODIES, |k, some| {
            for (mover, id) in some.iter_mut().zip(&ids[k..]) {
                if (mover.matter, mover.node) != *id {
                    // Nothing of another node may stay.
                    *mover = Mover::new(id.0, id.1);
                }
                mover.read(cast, level);
            }
        });
    }

    /// All movers from `first` on.
    pub fn all_from(&mut self, first: usize) -> &mut [Mover] {
        let count = self.len();
        &mut self.list[first..count]
    }

    /// Reads some movers anew.
    pub fn read(&mut self, which: Range<usize>, cast: &Cast<'_>, level: Level) {
        for mover in &mut self.list[which] {
            mover.read(cast, level);
        }
    }

    /// Gives the nodes of some movers the impulses that these have had.
    pub fn write(&self, which: Range<usize>, cast: &mut Cast<'_>, h: f64) {
        for mover in &self.list[which] {
            if mover.push == DVec3::ZERO && mover.twist == DVec3::ZERO && !mover.mean {
                continue;
            }
            let nodes = &mut cast.nodes[cast.slot[mover.matter.index()] as usize];
            let masses = cast.matters[mover.matter.index()].masses();
            let (i, spin) = (mover.node as usize, mover.inverse_inertia * mover.twist);
            if h > 0.0 && mover.freedom == 6 && !mover.dirty && masses.is_free(i) {
                // Its end has been worked out already.
                nodes.velocity[i] += mover.push / masses.mass()[i];
                nodes.spin[i] += spin;
                let ahead = &mut nodes.ahead[i];
                ahead.velocity += mover.push / masses.mass()[i];
                ahead.position = mover.ahead;
                ahead.orientation = mover.ahead_orientation;
                ahead.spin = mover.ahead_spin;
            } else {
                masses.kick(nodes, i, mover.push, spin, h);
            }
        }
    }

    /// Works out where all that were pushed will be.
    pub fn refresh_all(&mut self, level: Level) {
        let count = self.len();
        let all = &mut self.list[..count];
        for mover in all.iter_mut().filter(|m| m.dirty) {
            mover.refresh(level);
        }
    }

    /// Works out where all of `which` that were pushed will be.
    #[inline]
    pub fn refresh(&mut self, which: &[u32], level: Level) {
        for m in which {
            let mover = &mut self.list[*m as usize];
            if mover.dirty {
                mover.refresh(level);
            }
        }
    }
}

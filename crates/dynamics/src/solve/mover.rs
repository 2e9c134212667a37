//! The nodes that take part in a solve, as working copies.
//!
//! A solve looks at a few nodes very often. So it copies what it needs of them, works on the copies, and gives the sum
//! of all impulses back at the end.

use crate::{Cast, Lock, MatterId, Rigid, anchor::Support};
use glam::{DMat3, DQuat, DVec3};
use trocar_math::Pose;

/// So many movers are made room for at once.
const MOST_RESERVED: usize = 4096;

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

/// How far a body in a joint may turn in one substep, 0.6 rad: cosine of half the angle.
const LEAST_COSINE: f64 = 0.955;

/// At the start of the substep, or at its end as it is planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    Now,
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
    /// As it would go without any of them.
    before: Before,
}

#[derive(Clone, Copy, Debug, Default)]
struct Before {
    velocity: DVec3,
    spin: DVec3,
    /// Its own spin, without what carries it.
    own_spin: DVec3,
    ahead: DVec3,
    rigid: Rigid,
    torque: DVec3,
    force: DVec3,
    /// What carries it turns it by this; none for nearly all.
    carry: Option<DQuat>,
}

impl Mover {
    fn read(cast: &Cast<'_>, matter: MatterId, node: u32, level: Level) -> Self {
        let kind = &*cast.matters[matter.index()];
        let nodes = &cast.nodes[cast.slot[matter.index()] as usize];
        let i = node as usize;
        let frame = i < nodes.orientation.len();
        let mut mover = Self {
            matter,
            node,
            freedom: 0,
            dirty: false,
            plain: false,
            position: nodes.position[i],
            orientation: DQuat::IDENTITY,
            velocity: nodes.velocity[i],
            spin: DVec3::ZERO,
            ahead: nodes.position[i],
            ahead_orientation: DQuat::IDENTITY,
            ahead_spin: DVec3::ZERO,
            answer: DMat3::ZERO,
            mass: DMat3::ZERO,
            inverse_inertia: DMat3::ZERO,
            inertia: DMat3::ZERO,
            push: DVec3::ZERO,
            twist: DVec3::ZERO,
            before: Before::default(),
        };
        if frame {
            mover.orientation = nodes.orientation[i];
            mover.spin = nodes.spin[i];
            mover.ahead_orientation = nodes.ahead[i].orientation;
        }
        if let Level::Position(h) = level {
            mover.ahead = match nodes.ahead.get(i) {
                Some(ahead) => ahead.position,
                None => kind.preview(
                    nodes,
                    &crate::Point {
                        node,
                        offset: DVec3::ZERO,
                    },
                    h,
                ),
            };
        }
        if !kind.is_prescribed() {
            mover.read_masses(cast, level, frame);
        }
        mover.before.velocity = mover.velocity;
        mover.before.spin = mover.spin;
        mover.before.ahead = mover.ahead;
        mover
    }

    fn read_masses(&mut self, cast: &Cast<'_>, level: Level, frame: bool) {
        let nodes = &cast.nodes[cast.slot[self.matter.index()] as usize];
        let masses = cast.matters[self.matter.index()].masses();
        let i = self.node as usize;
        self.plain = masses.is_free(i);
        self.before.force = nodes.force[i];
        let lock = masses.lock(i);
        let father = masses.father(i);
        let light = match level {
            Level::Position(h) => masses.reach(i, h) / h,
            Level::Velocity => 1.0 / masses.mass()[i],
        };
        if father.is_some() || lock != Lock::Free {
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
        if let (Some(f), Level::Position(_)) = (father, level) {
            self.answer = nodes.ahead[f].turn * self.answer;
        }
        if !frame {
            return;
        }
        let rigid = masses.rigid()[i];
        self.before.own_spin = self.spin;
        self.before.rigid = rigid;
        self.before.torque = nodes.torque[i];
        self.plain &= self.before.torque == DVec3::ZERO && rigid.damping == 0.0;
        if let Some(inertia) = rigid.inertia {
            let r = DMat3::from_quat(self.orientation);
            let t = r.transpose();
            self.inverse_inertia = r * scaled_rows(inertia.recip(), t);
            self.inertia = r * scaled_rows(inertia, t);
            self.freedom = 6;
        }
        if let Some(f) = father {
            self.spin = masses.frame_spin(nodes, i);
            if level != Level::Velocity {
                self.before.carry = Some(DQuat::from_mat3(&nodes.ahead[f].turn));
            }
        }
    }

    /// Where a point fixed to it is, and will be.
    #[inline]
    pub fn point(&self, offset: DVec3) -> DVec3 {
        self.position + self.orientation * offset
    }

    #[inline]
    pub fn point_ahead(&self, offset: DVec3) -> DVec3 {
        self.ahead + self.ahead_orientation * offset
    }

    #[inline]
    pub fn turned(&self, when: When) -> DQuat {
        match when {
            When::Now => self.orientation,
            When::Ahead => self.ahead_orientation,
        }
    }

    pub fn pose(&self, when: When) -> Pose {
        match when {
            When::Now => Pose::new(self.position, self.orientation),
            When::Ahead => Pose::new(self.ahead, self.ahead_orientation),
        }
    }

    /// How much a small change of spin turns a moment that looks at the end of the substep: the transposed derivative of
    /// the turn, to the second order of the turn itself.
    #[inline]
    pub fn looking_back(&self, moment: DVec3) -> DVec3 {
        let q = self.ahead_orientation * self.orientation.conjugate();
        let turn = q.xyz() * if q.w < 0.0 { -2.0 } else { 2.0 };
        let once = turn.cross(moment);
        moment - once * 0.5 + turn.cross(once) * (1.0 / 6.0)
    }

    /// True if it turns farther in the substep than what is reckoned along straight lines can be trusted for.
    pub fn is_whirled(&self) -> bool {
        self.orientation.dot(self.ahead_orientation).abs() < LEAST_COSINE
    }

    /// Kinetic energy before and after all impulses, J, and its mass, kg.
    pub fn kinetics(&self) -> (f64, f64, f64) {
        let (push, turn) = self.pushed();
        let of = |v: DVec3, w: DVec3| 0.5 * (v.dot(self.mass * v) + w.dot(self.inertia * w));
        let (velocity, spin) = (self.before.velocity, self.before.spin);
        (
            of(velocity, spin),
            of(velocity + push, spin + turn),
            self.mass.x_axis.x,
        )
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
        let (v, w) = (self.before.velocity, self.before.own_spin);
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

    /// Kinetic energy that impulses have given it at the start of the substep, J; what it had before, and what its weight
    /// would give it from rest.
    pub fn given_energy(&self, h: f64) -> (f64, [f64; 2]) {
        let (push, turn) = self.pushed();
        let (velocity, spin) = (self.before.velocity, self.before.own_spin);
        let fall = ((self.before.ahead - self.position) / h - velocity) * 2.0;
        let of = |v: DVec3, w: DVec3| 0.5 * (v.dot(self.mass * v) + w.dot(self.inertia * w));
        let had = of(velocity, spin);
        let has = of(velocity + push, spin + turn);
        (has - had, [had, of(fall, DVec3::ZERO)])
    }

    /// What impulses have changed of that.
    pub fn pushed(&self) -> (DVec3, DVec3) {
        (self.answer * self.push, self.inverse_inertia * self.twist)
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
                    let (orientation, spin) = before.rigid.turned(
                        self.orientation,
                        before.own_spin + turned,
                        before.torque,
                        h,
                    );
                    self.ahead_spin = spin;
                    self.ahead_orientation = match before.carry {
                        None => orientation,
                        Some(carry) => carry * orientation,
                    };
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
    list: Vec<Mover>,
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
        self.list.len()
    }

    /// Forgets all movers from `count` on.
    pub fn truncate(&mut self, cast: &Cast<'_>, count: usize) {
        for mover in &self.list[count.min(self.list.len())..] {
            let slot = cast.slot[mover.matter.index()] as usize;
            if let Some(place) = self
                .of
                .get_mut(slot)
                .and_then(|of| of.get_mut(mover.node as usize))
            {
                *place = NONE;
            }
        }
        self.list.truncate(count);
    }

    /// The mover of a node; it is read now if it takes part for the first time.
    pub fn of(&mut self, cast: &Cast<'_>, matter: MatterId, node: u32, level: Level) -> u32 {
        let slot = cast.slot[matter.index()] as usize;
        if self.of.len() <= slot {
            self.of.resize_with(slot + 1, Vec::new);
        }
        let of = &mut self.of[slot];
        if of.len() <= node as usize {
            of.resize(cast.nodes[slot].len().max(node as usize + 1), NONE);
            // Contacts bring any of them; none may allocate in the middle of an operation.
            self.list.reserve(of.len().min(MOST_RESERVED));
        }
        if of[node as usize] == NONE {
            of[node as usize] = self.list.len() as u32;
            self.list.push(Mover::read(cast, matter, node, level));
        }
        of[node as usize]
    }

    /// Reads all movers anew.
    pub fn read(&mut self, cast: &Cast<'_>, level: Level) {
        for mover in &mut self.list {
            *mover = Mover::read(cast, mover.matter, mover.node, level);
        }
    }

    /// Gives every node the impulses its mover has had.
    pub fn write(&self, cast: &mut Cast<'_>, h: f64) {
        for mover in &self.list {
            if mover.push == DVec3::ZERO && mover.twist == DVec3::ZERO {
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
        for mover in self.list.iter_mut().filter(|m| m.dirty) {
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

/// A point as a weighted sum of points of movers.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    count: u8,
    parts: [(u32, DVec3, f64); 4],
}

impl Ends {
    pub fn new(movers: &mut Movers, cast: &Cast<'_>, support: &Support, level: Level) -> Self {
        let mut ends = Self {
            count: 0,
            parts: [(NONE, DVec3::ZERO, 0.0); 4],
        };
        for (matter, point, weight) in support.parts() {
            let mover = movers.of(cast, *matter, point.node, level);
            ends.parts[ends.count as usize] = (mover, point.offset, *weight);
            ends.count += 1;
        }
        ends
    }

    #[inline]
    pub fn parts(&self) -> &[(u32, DVec3, f64)] {
        &self.parts[..self.count as usize]
    }

    /// The mover whose frame the point is fixed to.
    #[inline]
    pub fn frame(&self) -> u32 {
        self.parts[0].0
    }

    #[inline]
    pub fn position(&self, movers: &Movers) -> DVec3 {
        if let [(m, offset, 1.0)] = self.parts() {
            return movers[*m].point(*offset);
        }
        self.parts()
            .iter()
            .fold(DVec3::ZERO, |sum, (m, offset, weight)| {
                sum + movers[*m].point(*offset) * *weight
            })
    }

    #[inline]
    pub fn ahead(&self, movers: &Movers) -> DVec3 {
        if let [(m, offset, 1.0)] = self.parts() {
            return movers[*m].point_ahead(*offset);
        }
        self.parts()
            .iter()
            .fold(DVec3::ZERO, |sum, (m, offset, weight)| {
                sum + movers[*m].point_ahead(*offset) * *weight
            })
    }

    #[inline]
    pub fn place(&self, movers: &Movers, when: When) -> DVec3 {
        match when {
            When::Now => self.position(movers),
            When::Ahead => self.ahead(movers),
        }
    }

    /// Pushes the point by `impulse`.
    #[inline]
    pub fn push(&self, movers: &mut Movers, impulse: DVec3) {
        for (m, offset, weight) in self.parts() {
            let mover = &mut movers[*m];
            if mover.freedom > 0 {
                let p = impulse * *weight;
                mover.push(p, (mover.orientation * *offset).cross(p));
            }
        }
    }

    /// How far the point answers along `n` to an impulse along `n`: change of velocity, or of place for each second.
    pub fn answer(&self, movers: &Movers, n: DVec3) -> f64 {
        self.parts().iter().fold(0.0, |sum, (m, offset, weight)| {
            let mover = &movers[*m];
            let moment = (mover.orientation * *offset).cross(n);
            let own = n.dot(mover.answer * n) + moment.dot(mover.inverse_inertia * moment);
            sum + own * weight * weight
        })
    }
}

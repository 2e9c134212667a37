//! Masses that move by the MESD scheme (K59), alone or in families (K48).
//!
//! Explicit force, implicit damping, the new velocity moves the node; nothing is iterated (K71):
//!
//! ```text
//! v' = (m v + h f) / (m + d h)        (3.67)
//! x' = x + B h v'                     (3.68)
//! ```
//!
//! B lets a part of the velocity through, the same part at any step: a node is as heavy along an axis with the gain b as if its mass were m/b. What moves
//! it, what others are damped against and what has energy is B v ([`node_velocity`](Masses::node_velocity)).
//!
//! A node with a father moves by its own velocity, too; it is damped against the father, which takes the reaction
//! ([`families`](Masses::brake)).
//! Rigid bodies and free particles are masses without damping and without fathers; they drift
//! by the mean of old and new velocity, which is exact under a constant force (2.2):
//!
//! ```text
//! x' = x + B h (v + v') / 2
//! ```
//!
//! unless they touch something: then the new velocity moves them, as it does nodes.

use crate::{
    Crew, Integrator, Nodes, Point, Rigid,
    rigid::{Motion, Turning},
};
pub use families::Brake;
use families::Families;
use glam::{DMat3, DQuat, DVec3};
use serde::{Deserialize, Serialize};
use trocar_math::skew;
pub use twist::{Sums, Twist};

/// No father.
const NONE: u32 = u32::MAX;

/// Farther than this from the origin (m) a node has left any scene.
const WORLD_RADIUS: f64 = 1e4;

/// What is slower than this (m/s) along an axis stands still along it: in the age of the universe it would not cross an atom. Whatever comes to rest, or spreads
/// through a flat sheet and is weaker by some powers of ten from node to node, would else end in numbers so small that processors take forty times as long for each.
const STILL: f64 = 1e-40;

/// A velocity along an axis, or 0 if that is none to speak of.
#[inline(always)]
fn stilled(speed: f64) -> f64 {
    if speed.abs() < STILL { 0.0 } else { speed }
}

/// So many frames are handed to a thread at once. It shows in nothing but time.
const FRAMES: usize = 64;

/// What the ground lifts that is held back more than this is lifted as if by this part of its velocity.
const LEAST_RISE: f64 = 1e-3;

/// Which axes of a node are locked (K24).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Lock {
    /// It moves freely.
    #[default]
    Free,
    /// It stays where it is (K56).
    Fixed,
    /// Gains from 0 (locked) to 1 (free) along the axes of a frame.
    Axes(DVec3, DQuat),
}

impl Lock {
    /// The matrix B that scales a displacement.
    fn gain(&self) -> DMat3 {
        self.along(|b| b)
    }

    /// What keeps a velocity from growing along axes that are locked for good.
    fn mask(&self) -> DMat3 {
        self.along(|b| f64::from(u8::from(b > 0.0)))
    }

    /// Each axis scaled by what `of` makes of its gain.
    fn along(&self, of: impl Fn(f64) -> f64) -> DMat3 {
        match *self {
            Self::Free => DMat3::IDENTITY,
            Self::Fixed => DMat3::ZERO,
            Self::Axes(gains, frame) => {
                let gains = gains.map(of);
                let r = DMat3::from_quat(frame);
                r * DMat3::from_diagonal(gains) * r.transpose()
            }
        }
    }
}

/// What one node is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassNode {
    /// Mass, kg, > 0.
    pub mass: f64,
    /// Viscous damping, N·s/m, ≥ 0 (K23): against the father, or against the world.
    pub damping: f64,
    /// Locked axes.
    pub lock: Lock,
    /// Index of the frame that it belongs to; must come before it.
    pub father: Option<u32>,
    /// What resists its turning; frames only.
    pub rigid: Option<Rigid>,
}

impl MassNode {
    /// A free point of `mass` kg.
    pub fn point(mass: f64) -> Self {
        Self {
            mass,
            damping: 0.0,
            lock: Lock::Free,
            father: None,
            rigid: None,
        }
    }

    /// A free rigid body of `mass` kg with principal moments `inertia` (kg·m²).
    pub fn body(mass: f64, inertia: DVec3) -> Self {
        Self {
            rigid: Some(Rigid {
                inertia: Some(inertia),
                ..Rigid::default()
            }),
            ..Self::point(mass)
        }
    }
}

/// Masses, dampings, locks and fathers of a set of nodes: frames first, then points.
#[derive(Clone, Debug, Default)]
pub struct Masses {
    mass: Vec<f64>,
    damping: Vec<f64>,
    /// What is left of `damping` for the node's own scheme: none where a father takes the reaction.
    resistance: Vec<f64>,
    father: Vec<u32>,
    lock: Vec<Lock>,
    /// For each node the index of its gain; 0 is the identity.
    gain: Vec<u8>,
    gains: Vec<DMat3>,
    masks: Vec<DMat3>,
    rigid: Vec<Rigid>,
    /// Rotational damping of each frame, N·m·s/rad; `rigid` has what is left of it for the frame's own scheme.
    turn_damping: Vec<f64>,
    /// True if no node has a father.
    alone: bool,
    /// Part of the old velocity in the drift: 0 for MESD, ½ for bodies.
    old: f64,
    /// Nodes that drift by their new velocity alone, whatever `old` says; empty if there are none.
    drawn: Vec<bool>,
    /// By which scheme the nodes move (K62).
    integrator: Integrator,
    /// Height, m, below which no node goes (K67); none if there is no ground.
    ground: Option<f64>,
    /// Points with fathers; those without are left out.
    families: Families,
}

/// Why a set of nodes can't be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadNode {
    /// Which node.
    pub node: usize,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl Masses {
    /// Checks and stores the nodes.
    pub fn new(nodes: &[MassNode]) -> Result<Self, BadNode> {
        let mut masses = Self {
            gains: vec![DMat3::IDENTITY, DMat3::ZERO],
            masks: vec![DMat3::IDENTITY, DMat3::ZERO],
            ..Self::default()
        };
        for (i, node) in nodes.iter().enumerate() {
            masses
                .add(node)
                .map_err(|reason| BadNode { node: i, reason })?;
        }
        masses.find_families();
        Ok(masses)
    }

    /// The same masses, drifting by the mean of old and new velocity: exact under a constant force (B16).
    pub fn drifting_exactly(mut self) -> Self {
        self.old = 0.5;
        self
    }

    /// Lets a node drift by its new velocity alone, as nodes of nets do. What a spring draws would gain energy in every substep by the mean of
    /// old and new: det = 1 + h²k/2m. By the new one it swings without gain or loss.
    pub fn set_drawn(&mut self, node: usize) {
        self.drawn.resize(self.len(), false);
        self.drawn[node] = true;
    }

    /// True if a node drifts by its new velocity alone.
    #[inline]
    fn is_drawn(&self, node: usize) -> bool {
        self.drawn.get(node).is_some_and(|d| *d)
    }

    /// Chooses by which scheme nodes move and frames turn (K59–K64).
    pub fn set_integrator(&mut self, integrator: Integrator) -> Result<(), BadNode> {
        let bad = |node, reason| Err(BadNode { node, reason });
        match integrator {
            Integrator::QuasiDynamic(factor) => {
                if !(factor > 0.0 && factor <= 1.0) {
                    return bad(0, "the factor of quasi-dynamics must be above 0, at most 1");
                }
                for i in 0..self.len() {
                    let turns = |r: &Rigid| r.inertia.is_some() && self.turn_damping[i] == 0.0;
                    if self.damping[i] == 0.0 || self.rigid.get(i).is_some_and(turns) {
                        return bad(i, "quasi-dynamics divides by the damping, which is 0 here");
                    }
                }
            }
            Integrator::Weighted(weight) if !(weight > 0.0 && weight <= 1.0) => {
                return bad(
                    0,
                    "the weight of the new velocity must be above 0, at most 1",
                );
            }
            _ => {}
        }
        self.integrator = integrator;
        for rigid in &mut self.rigid {
            rigid.integrator = integrator;
        }
        self.find_families();
        Ok(())
    }

    /// By which scheme nodes move.
    pub fn integrator(&self) -> Integrator {
        self.integrator
    }

    /// Lets no node go below the height `ground`, m (K67); none lets them.
    pub fn set_ground(&mut self, ground: Option<f64>) {
        self.ground = ground;
    }

    /// The height below which no node goes, m.
    pub fn ground(&self) -> Option<f64> {
        self.ground
    }

    /// A frame's resistance to turning as this substep sees it.
    #[inline]
    pub fn rigid_now(&self, nodes: &Nodes, frame: usize) -> Rigid {
        let mut rigid = self.rigid[frame];
        if let Some(first) = nodes.first.1.get(frame) {
            rigid.first = *first;
        }
        rigid
    }

    /// True if a place is one that something can be at.
    pub fn is_in_world(position: DVec3) -> bool {
        position.abs().max_element() < WORLD_RADIUS
    }

    /// Chooses how every frame turns (B19).
    pub fn set_turning(&mut self, turning: Turning) {
        for rigid in &mut self.rigid {
            rigid.turning = turning;
        }
    }

    fn add(&mut self, node: &MassNode) -> Result<(), &'static str> {
        if !(node.mass > 0.0 && node.mass.is_finite()) {
            return Err("its mass must be positive and finite");
        }
        if !(node.damping >= 0.0 && node.damping.is_finite()) {
            return Err("its damping must be at least 0 and finite");
        }
        if let Some(rigid) = node.rigid {
            if self.rigid.len() != self.mass.len() {
                return Err("frames must come before points");
            }
            let sound = rigid
                .inertia
                .is_none_or(|j| j.is_finite() && j.min_element() > 0.0);
            if !(sound && rigid.damping >= 0.0 && rigid.damping.is_finite()) {
                return Err("its moments of inertia must be positive and its damping at least 0");
            }
            self.rigid.push(rigid);
            self.turn_damping.push(rigid.damping);
        }
        if let Some(father) = node.father {
            let known = father as usize;
            if known >= self.mass.len() || known >= self.rigid.len() {
                return Err("its father must be a frame that comes before it");
            }
        }
        self.mass.push(node.mass);
        self.damping.push(node.damping);
        self.resistance.push(node.damping);
        self.father.push(node.father.unwrap_or(NONE));
        self.lock.push(Lock::Free);
        self.gain.push(0);
        self.set_lock(self.mass.len() - 1, node.lock)
    }

    /// Locks or frees the axes of a node.
    pub fn set_lock(&mut self, node: usize, lock: Lock) -> Result<(), &'static str> {
        if let Lock::Axes(gains, _) = lock
            && !gains.to_array().iter().all(|b| (0.0..=1.0).contains(b))
        {
            return Err("the gains of its axes must be between 0 (locked) and 1 (free)");
        }
        let gain = lock.gain();
        if !gain.is_finite() {
            return Err("the frame of its lock must be finite");
        }
        let index = self
            .gains
            .iter()
            .position(|g| *g == gain)
            .unwrap_or(self.gains.len());
        let code =
            u8::try_from(index).map_err(|_| "more than 256 different locks in one matter")?;
        if index == self.gains.len() {
            self.gains.push(gain);
            self.masks.push(lock.mask());
        }
        self.lock[node] = lock;
        self.gain[node] = code;
        Ok(())
    }

    /// Room for so many more points, so that growing by them moves nothing.
    pub fn reserve(&mut self, more: usize) {
        for list in [&mut self.mass, &mut self.damping, &mut self.resistance] {
            list.reserve_exact(more);
        }
        self.father.reserve_exact(more);
        self.lock.reserve_exact(more);
        self.gain.reserve_exact(more);
    }

    /// One more point, without a father: matter that is torn grows.
    pub fn grow(&mut self, node: &MassNode) -> Result<(), BadNode> {
        let i = self.mass.len();
        let point = MassNode {
            father: None,
            rigid: None,
            ..*node
        };
        self.add(&point)
            .map_err(|reason| BadNode { node: i, reason })
    }

    /// Gives a node without father and children another mass (kg) and damping (N·s/m): a body, or a node of torn matter that has less around it.
    pub fn set_mass(&mut self, node: usize, mass: f64, damping: f64) -> Result<(), BadNode> {
        let sound = mass > 0.0 && mass.is_finite() && damping >= 0.0 && damping.is_finite();
        if !sound {
            let reason = "its mass must be positive, its damping at least 0, and both finite";
            return Err(BadNode { node, reason });
        }
        self.mass[node] = mass;
        self.damping[node] = damping;
        self.resistance[node] = damping;
        Ok(())
    }

    /// Gives a frame moments of inertia that are so many times as great; points have none.
    pub fn scale_inertia(&mut self, node: usize, factor: f64) {
        if let Some(inertia) = self.rigid.get_mut(node).and_then(|r| r.inertia.as_mut()) {
            *inertia *= factor;
        }
    }

    /// Gives a frame another damping of its turning, N·m·s/rad; points have none.
    pub fn set_turn_damping(&mut self, node: usize, damping: f64) {
        if let Some(rigid) = self.rigid.get_mut(node) {
            rigid.damping = damping;
            self.turn_damping[node] = damping;
        }
    }

    /// Makes a node heavier by `mass` kg, which moves with it.
    pub fn load(&mut self, node: usize, mass: f64) {
        self.mass[node] += mass;
        // Its family is no longer as uniform as it was.
        self.find_families();
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.mass.len()
    }

    /// True if there is no node.
    pub fn is_empty(&self) -> bool {
        self.mass.is_empty()
    }

    /// True if no node has a lock: each moves by its velocity.
    pub fn moves_freely(&self) -> bool {
        self.gain.iter().all(|g| *g == 0)
    }

    /// Number of frames.
    pub fn frames(&self) -> usize {
        self.rigid.len()
    }

    /// Mass of each node, kg.
    pub fn mass(&self) -> &[f64] {
        &self.mass
    }

    /// Damping of each node, N·s/m: against its father, or against the world.
    pub fn damping(&self) -> &[f64] {
        &self.damping
    }

    /// Damping of each node against the world, which its own scheme takes care of, N·s/m.
    pub fn resistance(&self) -> &[f64] {
        &self.resistance
    }

    /// What resists the turning of each frame against the world.
    pub fn rigid(&self) -> &[Rigid] {
        &self.rigid
    }

    /// The lock of a node.
    pub fn lock(&self, node: usize) -> Lock {
        self.lock[node]
    }

    /// The frame that `node` belongs to.
    pub fn father(&self, node: usize) -> Option<usize> {
        let father = self.father[node];
        (father != NONE).then_some(father as usize)
    }

    /// Position of a point, m.
    pub fn position(&self, nodes: &Nodes, at: &Point) -> DVec3 {
        let i = at.node as usize;
        match nodes.orientation.get(i) {
            Some(q) => nodes.position[i] + *q * at.offset,
            None => nodes.position[i],
        }
    }

    /// Velocity of a point, m/s (v + ω × r).
    pub fn velocity(&self, nodes: &Nodes, at: &Point) -> DVec3 {
        let i = at.node as usize;
        let v = self.node_velocity(nodes, i);
        match nodes.orientation.get(i) {
            Some(q) => v + nodes.spin[i].cross(*q * at.offset),
            None => v,
        }
    }

    /// Energy of a node's way through space, J: ½ m v · B v.
    pub fn kinetic_energy(&self, nodes: &Nodes, i: usize) -> f64 {
        0.5 * self.mass[i] * nodes.velocity[i].dot(self.node_velocity(nodes, i))
    }

    /// Velocity of a node, m/s: what its lock leaves of it.
    #[inline]
    pub fn node_velocity(&self, nodes: &Nodes, i: usize) -> DVec3 {
        self.gained(i, nodes.velocity[i])
    }

    /// Writes the velocity of every node to [`Nodes::carried`], what its lock leaves of it; with the help of a crew, if one is free.
    pub fn carry_velocities(&self, nodes: &mut Nodes, crew: Option<&Crew>) {
        for z in 0..self.rigid.len() {
            nodes.carried[z] = self.node_velocity(nodes, z);
        }
        self.carry_points(nodes, crew);
    }

    /// Works out where every frame will be after `h` seconds.
    pub fn plan(&self, nodes: &mut Nodes, h: f64, crew: Option<&Crew>) {
        self.plan_by(nodes, h, self.integrator, crew);
    }

    fn plan_by(&self, nodes: &mut Nodes, h: f64, scheme: Integrator, crew: Option<&Crew>) {
        let mut ahead = std::mem::take(&mut nodes.ahead);
        let frames = &mut ahead[..self.rigid.len()];
        Crew::spread(crew, frames, FRAMES, |first, some| {
            for (z, next) in (first..).zip(some) {
                *next = self.frame_ahead(nodes, z, h, scheme);
            }
        });
        nodes.ahead = ahead;
    }

    /// How a frame will move, and where, after `h` seconds.
    fn frame_ahead(&self, nodes: &Nodes, z: usize, h: f64, scheme: Integrator) -> Motion {
        let pushed = Pushed::of(nodes, z);
        let velocity = self.next_velocity(z, &pushed, h, scheme);
        let mut rigid = self.rigid_now(nodes, z);
        if scheme != self.integrator {
            rigid.integrator = scheme;
        }
        let (orientation, spin) =
            rigid.turned(nodes.orientation[z], nodes.spin[z], nodes.torque[z], h);
        let mean = |next, old| self.mean(nodes, z, next, old);
        let way = self.drift(z, &pushed, velocity, h, scheme, mean) * h;
        let mut next = Motion {
            position: nodes.position[z] + self.gained(z, way),
            velocity,
            orientation,
            spin,
            turn: DMat3::IDENTITY,
        };
        next.velocity = self.kept(z, next.velocity);
        if let Some(ground) = self.ground
            && self.can_rise(z)
        {
            let h = h * self.rise(z);
            stand(ground, &mut next.position, &mut next.velocity, h);
        }
        next.turn = DMat3::from_quat(next.orientation * nodes.orientation[z].conjugate());
        next
    }

    /// Where a point will be after `h` seconds; valid after [`plan`](Self::plan) with the same `h`.
    pub fn preview(&self, nodes: &Nodes, at: &Point, h: f64) -> DVec3 {
        let i = at.node as usize;
        match nodes.ahead.get(i) {
            Some(frame) => frame.position + frame.orientation * at.offset,
            None => self.next_point(nodes, i, h, self.integrator).0,
        }
    }

    /// Moves everything by `h` seconds. False if a number is no longer finite or a node has left
    /// the world.
    pub fn advance(&self, nodes: &mut Nodes, h: f64) -> bool {
        self.move_all(nodes, h, self.integrator, None)
    }

    /// [`advance`](Self::advance) with the help of a crew; the result is the same to the last bit.
    pub fn advance_by(&self, nodes: &mut Nodes, h: f64, crew: &Crew) -> bool {
        self.move_all(nodes, h, self.integrator, Some(crew))
    }

    fn move_all(&self, nodes: &mut Nodes, h: f64, scheme: Integrator, crew: Option<&Crew>) -> bool {
        let points = if self.old == 0.0 {
            self.move_points(nodes, h, scheme, crew)
        } else {
            self.move_points_by(nodes, h, scheme)
        };
        self.move_frames(nodes) && points
    }

    /// Moves all points, one after the other, by any scheme and by any part of their old velocity.
    fn move_points_by(&self, nodes: &mut Nodes, h: f64, scheme: Integrator) -> bool {
        // Any NaN or infinity makes the sum one; the extent catches runaway numbers.
        let (mut sum, mut extent) = (DVec3::ZERO, DVec3::ZERO);
        for i in self.rigid.len()..self.len() {
            let (position, velocity) = self.next_point(nodes, i, h, scheme);
            nodes.position[i] = position;
            nodes.velocity[i] = velocity;
            sum += position + velocity;
            extent = extent.max(position.abs());
        }
        sum.is_finite() && extent.max_element() < WORLD_RADIUS
    }

    /// Puts all frames where they were planned to be.
    fn move_frames(&self, nodes: &mut Nodes) -> bool {
        let (mut sum, mut extent) = (DVec3::ZERO, DVec3::ZERO);
        for z in 0..self.rigid.len() {
            let next = nodes.ahead[z];
            nodes.position[z] = next.position;
            nodes.velocity[z] = next.velocity;
            nodes.orientation[z] = next.orientation;
            nodes.spin[z] = next.spin;
            sum += next.position + next.velocity + next.spin;
            sum += next.orientation.xyz() * next.orientation.w;
            extent = extent.max(next.position.abs());
        }
        sum.is_finite() && extent.max_element() < WORLD_RADIUS
    }

    /// Moves everything `h` seconds ahead by the one-stage scheme that leads this one's second stage.
    pub(crate) fn lead(&self, nodes: &mut Nodes, h: f64, crew: Option<&Crew>) {
        let scheme = self.integrator.predictor();
        self.plan_by(nodes, h, scheme, crew);
        self.move_all(nodes, h, scheme, crew);
    }

    /// ∂ preview(`a`) / ∂ impulse(`b`), m/(N·s): the derivative of the scheme above. Within a substep an impulse moves the node it
    /// acts on alone: what families hand each other was settled before ([`brake`](Self::brake)).
    pub fn response(&self, nodes: &Nodes, a: &Point, b: &Point, h: f64) -> DMat3 {
        let i = b.node as usize;
        if a.node != b.node {
            return DMat3::ZERO;
        }
        let shift = self.gains[self.gain[i] as usize] * self.reach(i, h);
        if i >= self.rigid.len() {
            return shift;
        }
        let rigid = self.rigid_now(nodes, i);
        let (q, spin, torque) = (nodes.orientation[i], nodes.spin[i], nodes.torque[i]);
        let turn = rigid.turn_response(q, spin, torque, h) * skew(q * b.offset);
        shift - skew(nodes.ahead[i].orientation * a.offset) * turn
    }

    /// ∂ velocity(`a`) / ∂ impulse(`b`), 1/kg.
    pub fn mobility(&self, nodes: &Nodes, a: &Point, b: &Point) -> DMat3 {
        let i = b.node as usize;
        if a.node != b.node {
            return DMat3::ZERO;
        }
        let shift = self.gains[self.gain[i] as usize] * (1.0 / self.mass[i]);
        match self.rigid.get(i) {
            None => shift,
            Some(rigid) => {
                let q = nodes.orientation[i];
                let turn = rigid.inverse_inertia(q) * skew(q * b.offset);
                shift - skew(q * a.offset) * turn
            }
        }
    }

    /// An impulse on a point, N·s. `h` is the substep that was planned, 0 if none was.
    pub fn push(&self, nodes: &mut Nodes, at: &Point, impulse: DVec3, h: f64) {
        let i = at.node as usize;
        let spin = match self.rigid.get(i) {
            Some(rigid) => {
                let q = nodes.orientation[i];
                rigid.inverse_inertia(q) * (q * at.offset).cross(impulse)
            }
            None => DVec3::ZERO,
        };
        self.kick(nodes, i, impulse, spin, h);
    }

    /// True if nothing locks or damps a frame and it has no family.
    pub fn is_free(&self, i: usize) -> bool {
        self.alone
            && self.gain[i] == 0
            && self.damping[i] == 0.0
            && !self.is_drawn(i)
            && self.turn_damping.get(i).is_none_or(|d| *d == 0.0)
            && self.integrator == Integrator::Mesd
            && self.ground.is_none()
    }

    /// True if a substep with turned velocities takes all nodes back where they came from, as long as the forces on them are the
    /// same everywhere: nothing is carried, locked or damped, and all drift by the mean of old and new velocity.
    pub fn is_reversible(&self) -> bool {
        self.old == 0.5
            && (0..self.len()).all(|i| self.is_free(i))
            && self.rigid.iter().all(|r| r.damping == 0.0)
    }

    /// Adds the impulse `push` (N·s) to a node's velocity and `spin` (rad/s) to its spin. `h` is the substep that was
    /// planned, 0 if none was.
    pub fn kick(&self, nodes: &mut Nodes, i: usize, push: DVec3, spin: DVec3, h: f64) {
        nodes.velocity[i] += push / self.mass[i];
        if i < self.rigid.len() {
            nodes.spin[i] += spin;
            if h > 0.0 {
                nodes.ahead[i] = self.frame_ahead(nodes, i, h, self.integrator);
            }
        }
    }

    /// New velocity before it is locked (3.67).
    #[inline(always)]
    fn next_velocity(&self, i: usize, pushed: &Pushed, h: f64, scheme: Integrator) -> DVec3 {
        let m = self.mass[i];
        let gain = if scheme.is_plain() {
            1.0 / (m + self.resistance[i] * h)
        } else {
            scheme.coefficients(m, self.resistance[i], h).gain
        };
        let DVec3 { x, y, z } = (pushed.velocity * m + pushed.force * h) * gain;
        DVec3::new(stilled(x), stilled(y), stilled(z))
    }

    /// The velocity a node moves by when it will have `next`; `plain` says which, of a plain scheme, when it is told `next` and the velocity now.
    #[inline(always)]
    fn drift(
        &self,
        i: usize,
        pushed: &Pushed,
        next: DVec3,
        h: f64,
        scheme: Integrator,
        plain: impl Fn(DVec3, DVec3) -> DVec3,
    ) -> DVec3 {
        if scheme.is_plain() {
            return plain(next, pushed.velocity);
        }
        let c = scheme.coefficients(self.mass[i], self.resistance[i], h);
        next * c.new + pushed.velocity * c.old + pushed.first * (c.lead * h)
    }

    /// The mean of old and new velocity, as far as a node drifts by it.
    #[inline(always)]
    fn mean(&self, nodes: &Nodes, i: usize, next: DVec3, old: DVec3) -> DVec3 {
        if nodes.touching.get(i).is_some_and(|t| *t) || self.is_drawn(i) {
            return next;
        }
        next + (old - next) * self.old
    }

    /// How far an impulse moves a node of its own in `h` seconds, m/(N·s).
    #[inline]
    pub fn reach(&self, i: usize, h: f64) -> f64 {
        let m = self.mass[i];
        if !self.integrator.is_plain() {
            let c = self.integrator.coefficients(m, self.resistance[i], h);
            return h * (c.new * c.gain + c.old / m);
        }
        let new = h / (m + self.resistance[i] * h);
        if self.is_drawn(i) {
            return new;
        }
        new + (h / m - new) * self.old
    }

    /// The matrix that scales a node's displacement.
    #[inline]
    pub fn gain(&self, i: usize) -> &DMat3 {
        &self.gains[self.gain[i] as usize]
    }

    /// New position and velocity of a point (3.68).
    #[inline(always)]
    fn next_point(&self, nodes: &Nodes, i: usize, h: f64, scheme: Integrator) -> (DVec3, DVec3) {
        let mean = |next, old| self.mean(nodes, i, next, old);
        self.next_of(i, &Pushed::of(nodes, i), h, scheme, mean)
    }

    /// New position and velocity of a point that moves and is pushed so.
    #[inline(always)]
    fn next_of(
        &self,
        i: usize,
        pushed: &Pushed,
        h: f64,
        scheme: Integrator,
        plain: impl Fn(DVec3, DVec3) -> DVec3,
    ) -> (DVec3, DVec3) {
        let velocity = self.next_velocity(i, pushed, h, scheme);
        let drift = self.drift(i, pushed, velocity, h, scheme, plain);
        let position = pushed.position;
        self.held(i, position, position + drift * h, velocity, h)
    }

    /// What its lock and the ground leave of a point's way from `position` to `next`, and of its velocity.
    #[inline(always)]
    fn held(
        &self,
        i: usize,
        position: DVec3,
        next: DVec3,
        velocity: DVec3,
        h: f64,
    ) -> (DVec3, DVec3) {
        let (mut next, mut velocity) = self.locked(i, position, next, velocity);
        if let Some(ground) = self.ground
            && self.can_rise(i)
        {
            stand(ground, &mut next, &mut velocity, h * self.rise(i));
        }
        (next, velocity)
    }

    /// What the lock of a point leaves of its way from `position` to `next`; and its velocity, which the lock has not scaled (3.68).
    #[inline(always)]
    fn locked(&self, i: usize, position: DVec3, next: DVec3, velocity: DVec3) -> (DVec3, DVec3) {
        match self.gain[i] {
            0 => (next, velocity),
            code => {
                let gain = self.gains[code as usize];
                let mask = self.masks[code as usize];
                (position + gain * (next - position), mask * velocity)
            }
        }
    }

    /// True if the lock of a node lets it move upwards, so that the ground may lift it.
    #[inline]
    pub fn can_rise(&self, i: usize) -> bool {
        match self.gain[i] {
            0 => true,
            // A turned lock that holds the vertical leaves the rounding of its frame.
            code => self.gains[code as usize].y_axis.y > 1e-9,
        }
    }

    /// How much of a velocity moves it upwards.
    fn rise(&self, i: usize) -> f64 {
        self.gain(i).y_axis.y.clamp(LEAST_RISE, 1.0)
    }

    /// `v` without what is along locked axes.
    #[inline]
    fn kept(&self, i: usize, v: DVec3) -> DVec3 {
        match self.gain[i] {
            0 => v,
            code => self.masks[code as usize] * v,
        }
    }

    #[inline]
    fn gained(&self, i: usize, v: DVec3) -> DVec3 {
        match self.gain[i] {
            0 => v,
            code => self.gains[code as usize] * v,
        }
    }
}

/// Where a node is, how it moves and what pushes it.
struct Pushed {
    position: DVec3,
    velocity: DVec3,
    force: DVec3,
    /// The force of the first stage.
    first: DVec3,
}

impl Pushed {
    #[inline(always)]
    fn of(nodes: &Nodes, i: usize) -> Self {
        Self {
            position: nodes.position[i],
            velocity: nodes.velocity[i],
            force: nodes.force[i],
            first: nodes.first.0.get(i).copied().unwrap_or_default(),
        }
    }
}

/// Keeps a node above the ground (K67). Its velocity becomes the one by which it got there, so that it neither sinks on
/// nor rebounds.
#[inline]
fn stand(ground: f64, position: &mut DVec3, velocity: &mut DVec3, h: f64) {
    if position.y < ground {
        velocity.y += (ground - position.y) / h;
        position.y = ground;
    }
}

mod families;
mod points;
#[cfg(test)]
mod tests;
mod twist;

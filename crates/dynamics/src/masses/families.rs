//! Families: nodes that belong to a frame, their father (K48), and are damped against it.
//!
//! A node of mass m, damping d and velocity w at the arm r from its father feels
//!
//! ```text
//! f_d = d (c − w),   c = V + ω × r
//! ```
//!
//! and its father takes −f_d and the moment −r × f_d, so that momentum is kept. (The source damps a child's velocity *relative* to its father
//! and lets nobody feel the reaction, nor the child its father's acceleration: such families gain energy from nowhere.) With the
//! damping at the new time, as MESD has it (3.67), children and father are one system
//!
//! ```text
//! (m + h d) w' − h d c' = m w + h f        for every child
//! (M V' …)  + h d Σ (c' − w') = M V + h F   for their father, moments likewise
//! ```
//!
//! A child gives w' = w* + g (c' − w*)/m with w* = w + h f/m and g = h d m/(m + h d), which leaves six equations for each father. Fathers
//! of fathers make a tree, eliminated from its leaves (6×6 blocks, never more). The impulse g (c' − w*) is then a force like any
//! other, and nodes move on their own: what ties, contacts and joints do later in the substep needs to know of no family.

use super::{Lock, Masses, NONE};
use crate::{Integrator, Nodes};
use glam::{DMat3, DVec3};
use std::ops::Range;
use trocar_math::{Four, f64x4, four::LANES, rotation::outer, skew};

/// Consecutive points with one father.
#[derive(Clone, Debug)]
pub(super) struct Family {
    nodes: Range<usize>,
    father: usize,
}

/// At which time families are damped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Brake {
    /// At the end of the substep, with this share of the damping: stable however strong it is.
    Implicit(f64),
    /// As nodes move now.
    Explicit,
    /// Without mass: a node moves by q f/d against its father; q is the factor.
    Massless(f64),
}

impl Integrator {
    /// How it damps families once its forces are known; not at all if its stages did.
    pub(crate) fn brake(self) -> Option<Brake> {
        match self {
            Self::Mesd | Self::ModifiedRungeKutta | Self::Weighted(_) | Self::Midpoint => {
                Some(Brake::Implicit(1.0))
            }
            // v' = a₂ (v + h (f₁ + f₂)/2m), where f₁ has been damped by the predictor.
            Self::ModifiedHeun => Some(Brake::Implicit(0.5)),
            Self::Euler | Self::RungeKutta => Some(Brake::Explicit),
            Self::Heun => None,
            Self::QuasiDynamic(factor) => Some(Brake::Massless(factor)),
        }
    }
}

/// Six equations of a frame: matrix, right-hand side, and what came out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Twist {
    block: Block,
    /// Inverse of the block, with what holds the frame to its own father.
    inverse: Block,
    /// Momentum (N·s) and angular momentum (N·m·s).
    given: [DVec3; 2],
    /// Sums over the children alone: Σ g, Σ g r, Σ g (r² − r rᵀ), Σ g w*, Σ g r × w*.
    children: Sums,
    /// Velocity (m/s) and spin (rad/s) at the end of the substep.
    found: [DVec3; 2],
}

impl Twist {
    fn add(&mut self, sums: &Sums) {
        let Block { a, b, c } = &mut self.block;
        *a += DMat3::from_diagonal(DVec3::splat(sums.weight));
        *b -= skew(sums.arm);
        *c += sums.square;
        self.given[0] += sums.push;
        self.given[1] += sums.moment;
        let all = &mut self.children;
        all.weight += sums.weight;
        all.arm += sums.arm;
        all.square += sums.square;
        all.push += sums.push;
        all.moment += sums.moment;
    }
}

/// A symmetric matrix of 3×3 blocks: [[a, b], [bᵀ, c]].
#[derive(Clone, Copy, Debug, PartialEq)]
struct Block {
    a: DMat3,
    b: DMat3,
    c: DMat3,
}

/// Zero; a matrix by default is one.
impl Default for Block {
    fn default() -> Self {
        Self {
            a: DMat3::ZERO,
            b: DMat3::ZERO,
            c: DMat3::ZERO,
        }
    }
}

impl Block {
    /// The inverse on the directions in which a frame moves and turns; zero on the others.
    fn inverse(&self, moves: bool, turns: bool) -> Self {
        let mut inverse = Self::default();
        match (moves, turns) {
            (false, false) => {}
            (true, false) => inverse.a = self.a.inverse(),
            (false, true) => inverse.c = self.c.inverse(),
            (true, true) => {
                let c = self.c.inverse();
                let across = self.b * c;
                inverse.a = (self.a - across * self.b.transpose()).inverse();
                inverse.b = -(inverse.a * across);
                inverse.c = c - across.transpose() * inverse.b;
            }
        }
        inverse
    }

    fn times(&self, [x, y]: [DVec3; 2]) -> [DVec3; 2] {
        [self.a * x + self.b * y, self.b.transpose() * x + self.c * y]
    }
}

/// What a father needs to know of its children.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sums {
    weight: f64,
    arm: DVec3,
    square: DMat3,
    push: DVec3,
    moment: DVec3,
}

impl Default for Sums {
    fn default() -> Self {
        Self {
            weight: 0.0,
            arm: DVec3::ZERO,
            square: DMat3::ZERO,
            push: DVec3::ZERO,
            moment: DVec3::ZERO,
        }
    }
}

impl Sums {
    /// A child at `arm` that holds its father with `weight`.
    fn hold(&mut self, weight: f64, arm: DVec3) {
        self.weight += weight;
        self.arm += arm * weight;
        let square = DMat3::from_diagonal(DVec3::splat(arm.dot(arm))) - outer(arm, arm);
        self.square += square * weight;
    }

    /// Impulse (N·s) and its moment (N·m·s) that the children give a father that will move with `velocity` and `spin`.
    fn pull(&self, [velocity, spin]: [DVec3; 2]) -> [DVec3; 2] {
        [
            self.push - velocity * self.weight - spin.cross(self.arm),
            self.moment - self.arm.cross(velocity) - self.square * spin,
        ]
    }
}

impl Masses {
    /// Who belongs to whom, and what is left of the damping for each node's own scheme.
    pub(super) fn find_families(&mut self) {
        self.alone = self.father.iter().all(|f| *f == NONE);
        self.families.clear();
        // Without mass there is nothing to solve for: v = q f/d stays the scheme of children as well.
        let massless = matches!(self.integrator, Integrator::QuasiDynamic(_));
        for i in 0..self.len() {
            let bound = self.father[i] != NONE && !massless;
            self.resistance[i] = if bound { 0.0 } else { self.damping[i] };
            if let Some(rigid) = self.rigid.get_mut(i) {
                rigid.damping = if bound { 0.0 } else { self.turn_damping[i] };
            } else if self.father[i] != NONE {
                let father = self.father[i] as usize;
                match self.families.last_mut() {
                    Some(f) if f.father == father && f.nodes.end == i => f.nodes.end = i + 1,
                    _ => self.families.push(Family {
                        nodes: i..i + 1,
                        father,
                    }),
                }
            }
        }
    }

    /// True if some node has a father.
    pub fn has_families(&self) -> bool {
        !self.alone
    }

    /// Takes a node out of its family: it is damped against the world, and its father does not feel it.
    pub fn leave_family(&mut self, node: usize) {
        if std::mem::replace(&mut self.father[node], NONE) != NONE {
            self.find_families();
        }
    }

    /// Rotational damping of each frame, N·m·s/rad: against its father, or against the world.
    pub fn turn_damping(&self) -> &[f64] {
        &self.turn_damping
    }

    /// Adds what damps families in a substep of `h` seconds to their forces and torques, which must be known otherwise.
    pub fn brake(&self, nodes: &mut Nodes, h: f64, brake: Brake) {
        if self.alone {
            return;
        }
        match brake {
            Brake::Implicit(share) => self.brake_implicitly(nodes, h, share),
            Brake::Explicit => self.brake_explicitly(nodes),
            Brake::Massless(factor) => self.brake_without_mass(nodes, factor),
        }
    }

    /// What a frame can do: move, turn.
    fn freedom(&self, z: usize) -> [bool; 2] {
        [self.lock[z] != Lock::Fixed, self.rigid[z].inertia.is_some()]
    }

    fn brake_implicitly(&self, nodes: &mut Nodes, h: f64, share: f64) {
        let mut twists = std::mem::take(&mut nodes.twists);
        twists.clear();
        twists.extend((0..self.rigid.len()).map(|z| self.alone_twist(nodes, z, h)));
        for family in &self.families {
            let sums = self.sum_family(nodes, family, h, share);
            twists[family.father].add(&sums);
        }
        self.solve_twists(nodes, &mut twists, h * share);
        for z in 0..twists.len() {
            let found = twists[z].found;
            let [push, moment] = twists[z].children.pull(found);
            nodes.force[z] += push / h;
            nodes.torque[z] += moment / h;
            if let Some((f, arm, [velocity, spin])) = self.carrier(nodes, &twists, z) {
                let [k, t] = [self.damping[z], self.turn_damping[z]].map(|d| d * share);
                let (push, turn) = ((velocity - found[0]) * k, (spin - found[1]) * t);
                nodes.force[z] += push;
                nodes.torque[z] += turn;
                nodes.force[f] -= push;
                nodes.torque[f] -= arm.cross(push) + turn;
            }
        }
        for family in &self.families {
            self.brake_family(nodes, family, h, share, twists[family.father].found);
        }
        nodes.twists = twists;
    }

    /// A frame's father, its arm from it, and how the father will move there.
    fn carrier(
        &self,
        nodes: &Nodes,
        twists: &[Twist],
        z: usize,
    ) -> Option<(usize, DVec3, [DVec3; 2])> {
        let f = self.father(z)?;
        let arm = nodes.position[z] - nodes.position[f];
        let [velocity, spin] = twists[f].found;
        Some((f, arm, [velocity + spin.cross(arm), spin]))
    }

    /// Solves the equations of all frames, held to their fathers by their damping for `h` seconds: from the leaves to the roots and back.
    fn solve_twists(&self, nodes: &Nodes, twists: &mut [Twist], h: f64) {
        for z in (0..twists.len()).rev() {
            let [moves, turns] = self.freedom(z);
            let Some(f) = self.father(z) else {
                twists[z].inverse = twists[z].block.inverse(moves, turns);
                continue;
            };
            let [k, t] = [self.damping[z], self.turn_damping[z]].map(|d| h * d);
            let mut block = twists[z].block;
            block.a += DMat3::from_diagonal(DVec3::splat(k));
            block.c += DMat3::from_diagonal(DVec3::splat(t));
            let inverse = block.inverse(moves, turns);
            twists[z].inverse = inverse;
            let given = inverse.times(twists[z].given);
            let arm = nodes.position[z] - nodes.position[f];
            let cross = skew(arm);
            // G − G A⁻¹ G, seen from the father: it moves the point by V + ω × r.
            let one = DMat3::IDENTITY;
            let (sa, sb, sc) = (
                (one - inverse.a * k) * k,
                inverse.b * (-k * t),
                (one - inverse.c * t) * t,
            );
            let father = &mut twists[f];
            let lever = sb - sa * cross;
            father.block.a += sa;
            father.block.b += lever;
            father.block.c += sc - sb.transpose() * cross + cross * lever;
            father.given[0] += given[0] * k;
            father.given[1] += arm.cross(given[0] * k) + given[1] * t;
        }
        for z in 0..twists.len() {
            let mut given = twists[z].given;
            if let Some((_, _, [velocity, spin])) = self.carrier(nodes, twists, z) {
                given[0] += velocity * (h * self.damping[z]);
                given[1] += spin * (h * self.turn_damping[z]);
            }
            let [velocity, spin] = twists[z].inverse.times(given);
            // Along a locked axis nobody is dragged.
            twists[z].found = [self.gained(z, velocity), spin];
        }
    }

    /// The equations of a frame without a family.
    fn alone_twist(&self, nodes: &Nodes, z: usize, h: f64) -> Twist {
        let (mass, rigid) = (self.mass[z], &self.rigid[z]);
        let r = DMat3::from_quat(nodes.orientation[z]);
        let inertia = rigid.inertia.unwrap_or_default();
        let inertia = r * DMat3::from_diagonal(inertia) * r.transpose();
        Twist {
            block: Block {
                a: DMat3::from_diagonal(DVec3::splat(mass + h * self.resistance[z])),
                b: DMat3::ZERO,
                c: inertia + DMat3::from_diagonal(DVec3::splat(h * rigid.damping)),
            },
            given: [
                nodes.velocity[z] * mass + nodes.force[z] * h,
                inertia * nodes.spin[z] + nodes.torque[z] * h,
            ],
            ..Twist::default()
        }
    }

    /// g and w* of a child.
    #[inline(always)]
    fn loose(&self, nodes: &Nodes, i: usize, h: f64, share: f64) -> (f64, DVec3) {
        let (mass, drag) = (self.mass[i], h * share * self.damping[i]);
        match self.gain[i] {
            // What is fixed gives way to nothing, as if it had all mass there is.
            1 => (drag, DVec3::ZERO),
            _ => (
                drag * mass / (mass + drag),
                self.gained(i, nodes.velocity[i] + nodes.force[i] * (h / mass)),
            ),
        }
    }

    fn sum_family(&self, nodes: &Nodes, family: &Family, h: f64, share: f64) -> Sums {
        let range = family.nodes.clone();
        let origin = nodes.position[family.father];
        let (mut weight, mut diagonal, mut off) = (f64x4::splat(0.0), Four::ZERO, Four::ZERO);
        let (mut arms, mut push, mut moment) = (Four::ZERO, Four::ZERO, Four::ZERO);
        let mut sums = Sums::default();
        let mut one = |i: usize| {
            let (g, loose) = self.loose(nodes, i, h, share);
            let arm = nodes.position[i] - origin;
            sums.hold(g, arm);
            sums.push += loose * g;
            sums.moment += arm.cross(loose * g);
        };
        let (positions, rest) = nodes.position[range.clone()].as_chunks::<LANES>();
        let (velocities, _) = nodes.velocity[range.clone()].as_chunks::<LANES>();
        let (forces, _) = nodes.force[range.clone()].as_chunks::<LANES>();
        let (masses, _) = self.mass[range.clone()].as_chunks::<LANES>();
        let (dampings, _) = self.damping[range.clone()].as_chunks::<LANES>();
        let (gains, _) = self.gain[range.clone()].as_chunks::<LANES>();
        let lists = positions.iter().zip(velocities).zip(forces);
        let lists = lists.zip(masses).zip(dampings).zip(gains).enumerate();
        for (k, (((((position, velocity), force), mass), damping), gain)) in lists {
            if *gain != [0; LANES] {
                let first = range.start + k * LANES;
                (first..first + LANES).for_each(&mut one);
                continue;
            }
            let mass = f64x4::new(*mass);
            let drag = f64x4::new(*damping) * f64x4::splat(h * share);
            let g = drag * mass / (mass + drag);
            let arm = Four::load(position) - Four::splat(origin);
            let loose = Four::load(velocity) + Four::load(force).times(f64x4::splat(h) / mass);
            let (held, given) = (arm.times(g), loose.times(g));
            weight += g;
            arms += held;
            diagonal += Four {
                x: held.x * arm.x,
                y: held.y * arm.y,
                z: held.z * arm.z,
            };
            off += Four {
                x: held.y * arm.z,
                y: held.z * arm.x,
                z: held.x * arm.y,
            };
            push += given;
            moment += arm.cross(given);
        }
        (range.end - rest.len()..range.end).for_each(&mut one);
        let (s, o) = (diagonal.sum(), off.sum());
        sums.weight += weight.reduce_add();
        sums.arm += arms.sum();
        sums.square += DMat3::from_cols(
            DVec3::new(s.y + s.z, -o.z, -o.y),
            DVec3::new(-o.z, s.z + s.x, -o.x),
            DVec3::new(-o.y, -o.x, s.x + s.y),
        );
        sums.push += push.sum();
        sums.moment += moment.sum();
        sums
    }

    /// Adds g (c' − w*)/h to the children of a father that will move with `velocity` and `spin`.
    fn brake_family(
        &self,
        nodes: &mut Nodes,
        family: &Family,
        h: f64,
        share: f64,
        [velocity, spin]: [DVec3; 2],
    ) {
        let range = family.nodes.clone();
        let origin = nodes.position[family.father];
        let (fours, rest) = nodes.force[range.clone()].as_chunks_mut::<LANES>();
        let (positions, _) = nodes.position[range.clone()].as_chunks::<LANES>();
        let (velocities, _) = nodes.velocity[range.clone()].as_chunks::<LANES>();
        let (masses, _) = self.mass[range.clone()].as_chunks::<LANES>();
        let (dampings, _) = self.damping[range.clone()].as_chunks::<LANES>();
        let (gains, _) = self.gain[range.clone()].as_chunks::<LANES>();
        let rest = rest.len();
        let lists = fours.iter_mut().zip(positions).zip(velocities);
        let lists = lists.zip(masses).zip(dampings).zip(gains);
        for (((((force, position), w), mass), damping), gain) in lists {
            // What a lock holds is not moved by a force.
            if *gain != [0; LANES] {
                continue;
            }
            let mass = f64x4::new(*mass);
            let drag = f64x4::new(*damping) * f64x4::splat(h * share);
            let g = drag * mass / (mass + drag);
            let arm = Four::load(position) - Four::splat(origin);
            let carried = Four::splat(velocity) + Four::splat(spin).cross(arm);
            let felt = Four::load(force);
            let loose = Four::load(w) + felt.times(f64x4::splat(h) / mass);
            (felt + (carried - loose).times(g / f64x4::splat(h))).store(force);
        }
        let mut one = |i: usize| {
            let (g, loose) = self.loose(nodes, i, h, share);
            let carried = velocity + spin.cross(nodes.position[i] - origin);
            nodes.force[i] += (carried - loose) * (g / h);
        };
        for (k, _) in gains.iter().enumerate().filter(|(_, g)| **g != [0; LANES]) {
            let first = range.start + k * LANES;
            (first..first + LANES).for_each(&mut one);
        }
        (range.end - rest..range.end).for_each(&mut one);
    }

    fn brake_explicitly(&self, nodes: &mut Nodes) {
        for i in 0..self.len() {
            let Some(f) = self.father(i) else { continue };
            let arm = nodes.position[i] - nodes.position[f];
            let carried = self.node_velocity(nodes, f) + nodes.spin[f].cross(arm);
            let push = (carried - self.node_velocity(nodes, i)) * self.damping[i];
            nodes.force[i] += push;
            nodes.force[f] -= push;
            nodes.torque[f] -= arm.cross(push);
            if let Some(damping) = self.turn_damping.get(i) {
                let turn = (nodes.spin[f] - nodes.spin[i]) * *damping;
                nodes.torque[i] += turn;
                nodes.torque[f] -= turn;
            }
        }
    }

    /// Without mass a child moves by q f/d against its father, so d times that, q f, is what the father feels of it; what is fixed holds
    /// its father back by its damping. Forces become such that the scheme, v = q f/d, moves everything as the equations say.
    fn brake_without_mass(&self, nodes: &mut Nodes, factor: f64) {
        let mut twists = std::mem::take(&mut nodes.twists);
        twists.clear();
        twists.extend((0..self.rigid.len()).map(|z| {
            let root = f64::from(u8::from(self.father[z] == NONE));
            let mut twist = Twist::default();
            twist.block.a = DMat3::from_diagonal(DVec3::splat(root * self.damping[z]));
            twist.block.c = DMat3::from_diagonal(DVec3::splat(root * self.turn_damping[z]));
            twist.given = [nodes.force[z] * factor, nodes.torque[z] * factor];
            twist
        }));
        for family in &self.families {
            let origin = nodes.position[family.father];
            for i in family.nodes.clone() {
                let arm = nodes.position[i] - origin;
                let mut sums = Sums::default();
                if self.gain[i] == 1 {
                    sums.hold(self.damping[i], arm);
                } else {
                    sums.push = nodes.force[i] * factor;
                    sums.moment = arm.cross(sums.push);
                }
                twists[family.father].add(&sums);
            }
        }
        self.solve_twists(nodes, &mut twists, 1.0);
        for (z, twist) in twists.iter().enumerate() {
            let [velocity, spin] = twist.found;
            nodes.force[z] = velocity * (self.damping[z] / factor);
            nodes.torque[z] = spin * (self.turn_damping[z] / factor);
        }
        for family in &self.families {
            let origin = nodes.position[family.father];
            let [velocity, spin] = twists[family.father].found;
            for i in family.nodes.clone() {
                let carried = velocity + spin.cross(nodes.position[i] - origin);
                nodes.force[i] += carried * (self.damping[i] / factor);
            }
        }
        nodes.twists = twists;
    }
}

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
//! A child gives w' = w* + g (c' − w*)/m with w* = w + h f/m and g = h d m/(m + h d), which leaves six equations for each father. Along an axis
//! that is locked to the part b (K24), where b w' moves it, they are w' = w* + g (c' − b w*)/m and g = h d m/(m + b h d): what can't give way holds
//! its father by all of its damping. A father's own lock is part of its equations likewise. Fathers
//! of fathers make a tree, eliminated from its leaves (6×6 blocks, never more). The impulse g (c' − b w*) is then a force like any
//! other, and nodes move on their own: what ties, contacts and joints do later in the substep needs to know of no family.
//!
//! Points are summed over in stretches of a fixed size, so that several threads may do it and no number of them changes a bit.

use super::{
    Lock, Masses, NONE,
    twist::{Hold, Sums, Twist},
};
use crate::{Crew, Integrator, Nodes, crew::even_share};
use glam::{DMat3, DVec3};
use std::ops::Range;
use trocar_math::{Four, f64x4, four::LANES, skew};

/// Points of a stretch, at least: some microseconds of work.
const STRETCH: usize = 2048;

/// There are never more stretches.
const MOST_STRETCHES: usize = 64;

/// Fewer points than this are not worth a second thread.
const WORTH_A_CREW: usize = 8192;

/// Consecutive points of a stretch with one father.
#[derive(Clone, Debug)]
pub(super) struct Family {
    nodes: Range<usize>,
    father: usize,
    /// Mass and damping, if they are the same for all: then nothing is divided for each.
    uniform: Option<[f64; 2]>,
}

/// All families, and where one thread hands over to the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Families {
    list: Vec<Family>,
    /// The first family, and the first node, of the next stretch, for each.
    family_ends: Vec<usize>,
    node_ends: Vec<usize>,
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

/// A substep of `h` seconds with this `share` of the damping.
#[derive(Clone, Copy)]
struct Substep {
    h: f64,
    share: f64,
}

impl Substep {
    /// g and h/m of four free children.
    #[inline(always)]
    fn constants(self, mass: f64x4, damping: f64x4) -> [f64x4; 2] {
        let drag = damping * f64x4::splat(self.h * self.share);
        [drag * mass / (mass + drag), f64x4::splat(self.h) / mass]
    }
}

/// What is read of the nodes.
#[derive(Clone, Copy)]
struct Reading<'a> {
    position: &'a [DVec3],
    velocity: &'a [DVec3],
}

impl Masses {
    /// Who belongs to whom, and what is left of the damping for each node's own scheme.
    pub(super) fn find_families(&mut self) {
        self.alone = self.father.iter().all(|f| *f == NONE);
        // Without mass there is nothing to solve for: v = q f/d stays the scheme of children as well.
        let massless = matches!(self.integrator, Integrator::QuasiDynamic(_));
        let frames = self.rigid.len();
        for i in 0..self.len() {
            let bound = self.father[i] != NONE && !massless;
            self.resistance[i] = if bound { 0.0 } else { self.damping[i] };
            if i < frames {
                self.rigid[i].damping = if bound { 0.0 } else { self.turn_damping[i] };
            }
        }
        let mut families = Families::default();
        let size = even_share(self.len() - frames, STRETCH, MOST_STRETCHES);
        for first in (frames..self.len()).step_by(size) {
            let end = (first + size).min(self.len());
            let begin = families.list.len();
            for i in (first..end).filter(|i| self.father[*i] != NONE) {
                let father = self.father[i] as usize;
                let own = [self.mass[i], self.damping[i]];
                match families.list[begin..].last_mut() {
                    Some(f) if f.father == father && f.nodes.end == i => {
                        f.nodes.end = i + 1;
                        f.uniform = f.uniform.filter(|all| *all == own);
                    }
                    _ => families.list.push(Family {
                        nodes: i..i + 1,
                        father,
                        uniform: Some(own),
                    }),
                }
            }
            families.family_ends.push(families.list.len());
            families.node_ends.push(end);
        }
        self.families = families;
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
        self.brake_by(nodes, h, brake, None);
    }

    /// [`brake`](Self::brake) with the help of a crew, if one is free; the result is the same to the last bit.
    pub fn brake_by(&self, nodes: &mut Nodes, h: f64, brake: Brake, crew: Option<&Crew>) {
        if self.alone {
            return;
        }
        let crew = crew.filter(|_| self.len() - self.rigid.len() >= WORTH_A_CREW);
        match brake {
            Brake::Implicit(share) => self.brake_implicitly(nodes, Substep { h, share }, crew),
            Brake::Explicit => self.brake_explicitly(nodes),
            Brake::Massless(factor) => self.brake_without_mass(nodes, factor),
        }
    }

    /// √B of a node's lock; none if it has none.
    fn root_of_lock(&self, i: usize) -> Option<DMat3> {
        match self.lock[i] {
            Lock::Free => None,
            Lock::Fixed => Some(DMat3::ZERO),
            Lock::Axes(gains, frame) => {
                let (r, root) = (DMat3::from_quat(frame), gains.map(f64::sqrt));
                Some(r * DMat3::from_diagonal(root) * r.transpose())
            }
        }
    }

    fn brake_implicitly(&self, nodes: &mut Nodes, substep: Substep, crew: Option<&Crew>) {
        let Substep { h, share } = substep;
        let mut twists = std::mem::take(&mut nodes.twists);
        twists.clear();
        twists.extend((0..self.rigid.len()).map(|z| self.alone_twist(nodes, z, substep)));
        let mut sums = std::mem::take(&mut nodes.sums);
        sums.resize(self.families.list.len(), Sums::default());
        let Families {
            list,
            family_ends,
            node_ends,
        } = &self.families;
        let begin = |ends: &[usize], k: usize| if k == 0 { 0 } else { ends[k - 1] };
        let seen = &*nodes;
        Crew::parts(crew, &mut sums, family_ends, |k, sums| {
            let families = list[begin(family_ends, k)..].iter();
            for (family, sum) in families.zip(sums) {
                *sum = self.sum_family(seen, family, substep);
            }
        });
        for (family, sum) in list.iter().zip(&sums) {
            twists[family.father].add(sum);
        }
        nodes.sums = sums;
        self.solve_twists(nodes, &mut twists);
        for z in 0..twists.len() {
            let [push, moment] = twists[z].pull();
            nodes.force[z] += push / h;
            nodes.torque[z] += moment / h;
            if let Some((f, arm, [velocity, spin])) = self.carrier(nodes, &twists, z) {
                let found = twists[z].found;
                let [k, t] = [self.damping[z], self.turn_damping[z]].map(|d| d * share);
                let (push, turn) = ((velocity - found[0]) * k, (spin - found[1]) * t);
                nodes.force[z] += push;
                nodes.torque[z] += turn;
                nodes.force[f] -= push;
                nodes.torque[f] -= arm.cross(push) + turn;
            }
        }
        let reading = Reading {
            position: &nodes.position,
            velocity: &nodes.velocity,
        };
        Crew::parts(crew, &mut nodes.force, node_ends, |k, force| {
            let first = begin(node_ends, k);
            for family in &list[begin(family_ends, k)..family_ends[k]] {
                let (from, to) = (family.nodes.start - first, family.nodes.end - first);
                let found = twists[family.father].found;
                self.brake_family(&reading, family, &mut force[from..to], substep, found);
            }
        });
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

    /// Solves the equations of all frames and of their bonds to their fathers: from the leaves to the roots and back.
    fn solve_twists(&self, nodes: &Nodes, twists: &mut [Twist]) {
        for z in (0..twists.len()).rev() {
            let twist = &twists[z];
            let turns = self.rigid[z].inertia.is_some();
            let inverse = twist.block.inverse(twist.own, self.root_of_lock(z), turns);
            let given = inverse.times(twist.given);
            let [k, t] = twist.bond;
            twists[z].inverse = inverse;
            let Some(f) = self.father(z) else { continue };
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
                let [k, t] = twists[z].bond;
                given[0] += velocity * k;
                given[1] += spin * t;
            }
            twists[z].found = twists[z].inverse.times(given);
        }
    }

    /// The equations of a frame without what belongs to it.
    fn alone_twist(&self, nodes: &Nodes, z: usize, Substep { h, share }: Substep) -> Twist {
        let (mass, rigid) = (self.mass[z], &self.rigid[z]);
        let r = DMat3::from_quat(nodes.orientation[z]);
        let inertia = rigid.inertia.unwrap_or_default();
        let inertia = r * DMat3::from_diagonal(inertia) * r.transpose();
        let mut twist = Twist {
            own: mass + h * self.resistance[z],
            given: [
                nodes.velocity[z] * mass + nodes.force[z] * h,
                inertia * nodes.spin[z] + nodes.torque[z] * h,
            ],
            ..Twist::default()
        };
        twist.block.c = inertia + DMat3::from_diagonal(DVec3::splat(h * rigid.damping));
        if self.father[z] != NONE {
            let [k, t] = [self.damping[z], self.turn_damping[z]].map(|d| h * share * d);
            twist.bond = [k, t];
            twist.block.a = DMat3::from_diagonal(DVec3::splat(k));
            twist.block.c += DMat3::from_diagonal(DVec3::splat(t));
        }
        twist
    }

    /// How a child that moves with `velocity` under `force` holds its father, and b w*.
    fn loose(
        &self,
        i: usize,
        velocity: DVec3,
        force: DVec3,
        Substep { h, share }: Substep,
    ) -> (Hold, DVec3) {
        let (mass, drag) = (self.mass[i], h * share * self.damping[i]);
        let held = |gain: f64| drag * mass / (mass + gain * drag);
        let hold = match self.lock[i] {
            Lock::Free => Hold::Even(held(1.0)),
            Lock::Fixed => Hold::Even(drag),
            Lock::Axes(gains, frame) => {
                let r = DMat3::from_quat(frame);
                Hold::Axes(r * DMat3::from_diagonal(gains.map(held)) * r.transpose())
            }
        };
        (hold, self.gained(i, velocity + force * (h / mass)))
    }

    fn sum_family(&self, nodes: &Nodes, family: &Family, substep: Substep) -> Sums {
        match family.uniform {
            Some([mass, damping]) => {
                let all = substep.constants(f64x4::splat(mass), f64x4::splat(damping));
                self.sum_fours(nodes, family, substep, |_| all)
            }
            None => {
                let (masses, _) = self.mass[family.nodes.clone()].as_chunks::<LANES>();
                let (dampings, _) = self.damping[family.nodes.clone()].as_chunks::<LANES>();
                self.sum_fours(nodes, family, substep, |k| {
                    substep.constants(f64x4::new(masses[k]), f64x4::new(dampings[k]))
                })
            }
        }
    }

    #[inline(always)]
    fn sum_fours(
        &self,
        nodes: &Nodes,
        family: &Family,
        substep: Substep,
        constants: impl Fn(usize) -> [f64x4; 2],
    ) -> Sums {
        let range = family.nodes.clone();
        let origin = nodes.position[family.father];
        let (mut weight, mut diagonal, mut off) = (f64x4::splat(0.0), Four::ZERO, Four::ZERO);
        let (mut arms, mut push, mut moment) = (Four::ZERO, Four::ZERO, Four::ZERO);
        let mut sums = Sums::default();
        let mut one = |i: usize| {
            let (hold, loose) = self.loose(i, nodes.velocity[i], nodes.force[i], substep);
            let arm = nodes.position[i] - origin;
            sums.hold(&hold, arm);
            sums.give(hold.times(loose), arm);
        };
        let (positions, rest) = nodes.position[range.clone()].as_chunks::<LANES>();
        let (velocities, _) = nodes.velocity[range.clone()].as_chunks::<LANES>();
        let (forces, _) = nodes.force[range.clone()].as_chunks::<LANES>();
        let (gains, _) = self.gain[range.clone()].as_chunks::<LANES>();
        let lists = positions.iter().zip(velocities).zip(forces);
        let lists = lists.zip(gains).enumerate();
        for (k, (((position, velocity), force), gain)) in lists {
            if *gain != [0; LANES] {
                let first = range.start + k * LANES;
                (first..first + LANES).for_each(&mut one);
                continue;
            }
            let [g, step] = constants(k);
            let arm = Four::load(position) - Four::splat(origin);
            let loose = Four::load(velocity) + Four::load(force).times(step);
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
        sums.block.a += DMat3::from_diagonal(DVec3::splat(weight.reduce_add()));
        sums.block.b -= skew(arms.sum());
        sums.block.c += DMat3::from_cols(
            DVec3::new(s.y + s.z, -o.z, -o.y),
            DVec3::new(-o.z, s.z + s.x, -o.x),
            DVec3::new(-o.y, -o.x, s.x + s.y),
        );
        sums.push += push.sum();
        sums.moment += moment.sum();
        sums
    }

    /// Adds g (c' − b w*)/h to the children of a father that will move as was found.
    fn brake_family(
        &self,
        reading: &Reading<'_>,
        family: &Family,
        force: &mut [DVec3],
        substep: Substep,
        found: [DVec3; 2],
    ) {
        match family.uniform {
            Some([mass, damping]) => {
                let all = substep.constants(f64x4::splat(mass), f64x4::splat(damping));
                self.brake_fours(reading, family, force, substep, found, |_| all);
            }
            None => {
                let (masses, _) = self.mass[family.nodes.clone()].as_chunks::<LANES>();
                let (dampings, _) = self.damping[family.nodes.clone()].as_chunks::<LANES>();
                self.brake_fours(reading, family, force, substep, found, |k| {
                    substep.constants(f64x4::new(masses[k]), f64x4::new(dampings[k]))
                });
            }
        }
    }

    #[inline(always)]
    fn brake_fours(
        &self,
        reading: &Reading<'_>,
        family: &Family,
        force: &mut [DVec3],
        substep: Substep,
        [velocity, spin]: [DVec3; 2],
        constants: impl Fn(usize) -> [f64x4; 2],
    ) {
        let range = family.nodes.clone();
        let origin = reading.position[family.father];
        let one = |i: usize, force: &mut DVec3| {
            let (hold, loose) = self.loose(i, reading.velocity[i], *force, substep);
            let carried = velocity + spin.cross(reading.position[i] - origin);
            *force += hold.times(carried - loose) / substep.h;
        };
        let (positions, _) = reading.position[range.clone()].as_chunks::<LANES>();
        let (velocities, _) = reading.velocity[range.clone()].as_chunks::<LANES>();
        let (gains, _) = self.gain[range.clone()].as_chunks::<LANES>();
        let (fours, rest) = force.as_chunks_mut::<LANES>();
        let done = range.end - rest.len();
        let lists = fours.iter_mut().zip(positions).zip(velocities);
        let lists = lists.zip(gains).enumerate();
        for (k, (((force, position), w), gain)) in lists {
            if *gain != [0; LANES] {
                let first = range.start + k * LANES;
                let four = force.iter_mut().enumerate();
                four.for_each(|(j, force)| one(first + j, force));
                continue;
            }
            let [g, step] = constants(k);
            let arm = Four::load(position) - Four::splat(origin);
            let carried = Four::splat(velocity) + Four::splat(spin).cross(arm);
            let felt = Four::load(force);
            let loose = Four::load(w) + felt.times(step);
            (felt + (carried - loose).times(g / f64x4::splat(substep.h))).store(force);
        }
        let rest = rest.iter_mut().enumerate();
        rest.for_each(|(j, force)| one(done + j, force));
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

    /// Without mass a child moves by b (q f/d + c) against its father, which then feels b q f of it, and along what is locked its damping: d (1 − b).
    /// Forces become such that the scheme, v = b q f/d, moves everything as the equations say.
    fn brake_without_mass(&self, nodes: &mut Nodes, factor: f64) {
        let mut twists = std::mem::take(&mut nodes.twists);
        twists.clear();
        twists.extend((0..self.rigid.len()).map(|z| {
            let (damping, turning) = (self.damping[z], self.turn_damping[z]);
            let mut twist = Twist {
                own: damping,
                given: [nodes.force[z] * factor, nodes.torque[z] * factor],
                ..Twist::default()
            };
            if self.father[z] != NONE {
                twist.bond = [damping, turning];
            }
            twist.block.c = DMat3::from_diagonal(DVec3::splat(turning));
            twist
        }));
        for family in &self.families.list {
            let origin = nodes.position[family.father];
            let mut sums = Sums::default();
            for i in family.nodes.clone() {
                let arm = nodes.position[i] - origin;
                if self.gain[i] != 0 {
                    let held = (DMat3::IDENTITY - *self.gain(i)) * self.damping[i];
                    sums.hold(&Hold::Axes(held), arm);
                }
                sums.give(self.gained(i, nodes.force[i] * factor), arm);
            }
            twists[family.father].add(&sums);
        }
        self.solve_twists(nodes, &mut twists);
        for z in 0..twists.len() {
            let [push, moment] = twists[z].pull();
            nodes.force[z] += push / factor;
            nodes.torque[z] += moment / factor;
            if let Some((f, arm, [velocity, spin])) = self.carrier(nodes, &twists, z) {
                let found = twists[z].found;
                let [k, t] = twists[z].bond.map(|d| d / factor);
                nodes.force[z] += velocity * k;
                nodes.torque[z] += spin * t;
                let push = (velocity - found[0]) * k;
                nodes.force[f] -= push;
                nodes.torque[f] -= arm.cross(push) + (spin - found[1]) * t;
            }
        }
        for family in &self.families.list {
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

//! The forces of a substep (3.69), a chunk of nodes at a time.

use super::{
    Net,
    schedule::{MOST_CHUNKS, Schedule},
    sweep::{View, sweep},
};
use crate::element::{self, Base};
use glam::{DMat3, DQuat, DVec3};
use std::ops::Range;
use trocar_dynamics::{Crew, Field, Masses, Matter, MatterId, Nodes};
use trocar_math::{Four, f64x4, four::LANES};

/// Nets with fewer nodes than this are not worth a second thread: handing work over costs microseconds.
const WORTH_A_CREW: usize = 4096;

/// Elements that may yield and that a thread takes at once.
const FLOW: usize = 4096;

/// Consecutive nodes of a chunk with one father, or with none, whose shape memory grows alike.
#[derive(Clone, Debug)]
struct Family {
    nodes: Range<usize>,
    father: Option<u32>,
    base: Base,
    /// True if anything comes of their shape memory.
    draws: bool,
}

/// Who belongs to whom, chunk by chunk.
#[derive(Clone, Debug, Default)]
pub(super) struct Families {
    list: Vec<Family>,
    /// Families of each chunk, as ranges of `list`.
    chunks: Vec<Range<usize>>,
}

impl Families {
    pub fn new(fathers: &[Option<u32>], memory: &[f64], bases: &[Base], bounds: &[usize]) -> Self {
        let mut families = Self::default();
        for chunk in bounds.windows(2) {
            let begin = families.list.len();
            for i in chunk[0]..chunk[1] {
                let father = fathers[i];
                let ours = &mut families.list[begin..];
                match ours.last_mut() {
                    Some(family) if family.father == father && family.base == bases[i] => {
                        family.nodes.end = i + 1;
                    }
                    _ => families.list.push(Family {
                        nodes: i..i + 1,
                        father,
                        base: bases[i],
                        draws: false,
                    }),
                }
            }
            for family in &mut families.list[begin..] {
                family.draws |= memory[family.nodes.clone()].iter().any(|m| *m > 0.0);
            }
            families.chunks.push(begin..families.list.len());
        }
        families
    }
}

/// What a chunk writes.
#[derive(Default)]
struct Share<'a> {
    force: &'a mut [DVec3],
    /// For each family what its father takes: force (N) and moment (N·m).
    pulls: &'a mut [[DVec3; 2]],
}

/// What all chunks read.
struct Reading<'a> {
    view: View<'a>,
    orientation: &'a [DQuat],
    gravity: DVec3,
    memory: bool,
}

impl Net {
    /// The element block: adds the forces of all elements at `time` s.
    pub fn element_forces(&self, nodes: &mut Nodes, time: f64) {
        self.chunks(nodes, time, None, None);
        self.extended_forces(nodes);
    }

    /// [`Matter::force`] with the help of a crew, which changes no bit of the result.
    fn gather(&self, nodes: &mut Nodes, field: &Field, crew: Option<&Crew>) {
        self.chunks(nodes, field.time, Some(field.gravity), crew);
        nodes.torque.fill(DVec3::ZERO);
        self.extended_forces(nodes);
        self.pull_fathers(nodes);
    }

    /// All chunks: elements alone, or with `gravity` (m/s²) everything a chunk knows of.
    fn chunks(&self, nodes: &mut Nodes, time: f64, gravity: Option<DVec3>, crew: Option<&Crew>) {
        let Schedule { bounds, .. } = &self.schedule;
        let carries = self.schedule.has_dampers && !self.unbound;
        if carries {
            self.masses.carry_velocities(nodes, crew);
        }
        // Grows once, in the first substep.
        nodes
            .pulls
            .resize(self.families.list.len(), [DVec3::ZERO; 2]);
        let Nodes {
            position,
            velocity,
            orientation,
            force,
            carried,
            flow,
            pulls,
            ..
        } = nodes;
        let reading = Reading {
            view: View {
                position,
                velocity: if carries { carried } else { velocity },
                flow,
                time,
            },
            orientation,
            gravity: gravity.unwrap_or_default(),
            memory: gravity.is_some(),
        };
        let mut forces = force.as_mut_slice();
        let mut chunks = bounds.windows(2).map(|chunk| chunk[1] - chunk[0]);
        let mut pulls = pulls.as_mut_slice();
        let mut families = self.families.chunks.iter();
        let mut shares: [Share<'_>; MOST_CHUNKS] = std::array::from_fn(|_| {
            let count = families.next().map_or(0, Range::len);
            let (ours, rest) = std::mem::take(&mut pulls).split_at_mut(count);
            pulls = rest;
            let count = chunks.next().unwrap_or(0);
            let (force, rest) = std::mem::take(&mut forces).split_at_mut(count);
            forces = rest;
            Share { force, pulls: ours }
        });
        let shares = &mut shares[..self.schedule.chunks.len()];
        let work = |c: usize, share: &mut Share<'_>| self.chunk(c, share, &reading);
        match crew {
            Some(crew) if self.is_worth_a_crew() => crew.each(shares, work),
            _ => shares.iter_mut().enumerate().for_each(|(c, s)| work(c, s)),
        }
    }

    /// True if it has work for more than one thread.
    pub(super) fn is_worth_a_crew(&self) -> bool {
        self.own.len() >= WORTH_A_CREW
    }

    /// One chunk: gravity, elements, shape memory.
    fn chunk(&self, c: usize, share: &mut Share<'_>, reading: &Reading<'_>) {
        let first = self.schedule.bounds[c];
        if reading.memory {
            if self.gravity {
                let weights = &self.weights[first..first + share.force.len()];
                for (force, mass) in share.force.iter_mut().zip(weights) {
                    *force = reading.gravity * *mass;
                }
            } else {
                share.force.fill(DVec3::ZERO);
            }
        }
        for run in &self.schedule.runs[self.schedule.chunks[c].clone()] {
            sweep(
                &self.schedule,
                &self.links,
                run,
                &reading.view,
                first,
                share.force,
            );
        }
        if reading.memory {
            let families = &self.families.list[self.families.chunks[c].clone()];
            let drawn = families.iter().zip(share.pulls.iter_mut());
            for (family, pull) in drawn.filter(|(family, _)| family.draws) {
                let begin = family.nodes.start - first;
                let force = &mut share.force[begin..begin + family.nodes.len()];
                *pull = self.memory_forces(family, force, reading);
            }
        }
    }

    /// Shape memory of the nodes of a family; returns what their father takes of it (K47, K49): as much the other way, and its moment. The
    /// force points along what it shortens, so that its moment about the father is the same at the node and at the base position.
    fn memory_forces(
        &self,
        family: &Family,
        force: &mut [DVec3],
        reading: &Reading<'_>,
    ) -> [DVec3; 2] {
        let range = family.nodes.clone();
        let father = family.father.map(|f| f as usize);
        let (origin, axes) = match father {
            Some(f) => (
                reading.view.position[f],
                DMat3::from_quat(reading.orientation[f]),
            ),
            None => (DVec3::ZERO, DMat3::IDENTITY),
        };
        let position = &reading.view.position[range.clone()];
        let (base, memory) = (&self.base[range.clone()], &self.memory[range]);
        let (mut pull, mut moment) = (Four::ZERO, Four::ZERO);
        let (fours, rest) = force.as_chunks_mut::<LANES>();
        let nodes = fours
            .iter_mut()
            .zip(position.as_chunks::<LANES>().0)
            .zip(base.as_chunks::<LANES>().0)
            .zip(memory.as_chunks::<LANES>().0);
        for (((force, position), base), memory) in nodes {
            let arm = Four::load(position) - Four::splat(origin);
            let base = Four::load(base);
            let base = if father.is_some() {
                base.turned(&axes)
            } else {
                base
            };
            let apart = arm - base;
            let constant = match family.base {
                Base::Linear => f64x4::new(*memory),
                Base::Quadratic => f64x4::new(*memory) * apart.length(),
            };
            let drawn = apart.times(-constant);
            (Four::load(force) + drawn).store(force);
            if father.is_some() {
                pull -= drawn;
                moment -= arm.cross(drawn);
            }
        }
        let (mut pull, mut moment) = (pull.sum(), moment.sum());
        let done = position.len() - rest.len();
        for (k, force) in rest.iter_mut().enumerate() {
            let i = done + k;
            let arm = position[i] - origin;
            let drawn = element::memory_force(arm - axes * base[i], memory[i], family.base);
            *force += drawn;
            pull -= drawn;
            moment -= arm.cross(drawn);
        }
        [pull, moment]
    }

    /// Hands the fathers what their families gave, chunk after chunk.
    fn pull_fathers(&self, nodes: &mut Nodes) {
        let pulls = self.families.list.iter().zip(&nodes.pulls);
        for (family, [pull, moment]) in pulls.filter(|(family, _)| family.draws) {
            if let Some(f) = family.father {
                nodes.force[f as usize] += *pull;
                nodes.torque[f as usize] += *moment;
            }
        }
    }

    /// Bending and torsion (K39–K41).
    fn extended_forces(&self, nodes: &mut Nodes) {
        for (bend, rest) in &self.bends {
            let [i, k, j] = bend.nodes.map(|n| n as usize);
            let (to_i, to_j) = (
                nodes.position[k] - nodes.position[i],
                nodes.position[k] - nodes.position[j],
            );
            let forces = element::bending_forces(to_i, to_j, bend.constant, rest);
            for (n, force) in [i, k, j].into_iter().zip(forces) {
                nodes.force[n] += force;
            }
        }
        for torsion in &self.torsions {
            let z = torsion.frame as usize;
            let reference = self.reference(nodes, z);
            let torque = element::torsion_torque(nodes.orientation[z], reference, torsion.constant);
            nodes.torque[z] += torque;
            if let Some(f) = self.father(z) {
                nodes.torque[f] -= torque;
            }
        }
        for (twist, axis) in &self.twists {
            let z = twist.frame as usize;
            let [a, b] = twist.along.map(|n| n as usize);
            let main = nodes.position[b] - nodes.position[a];
            let axis = nodes.orientation[z] * *axis;
            let (torque, force) = element::twist(axis, main, twist.constant);
            nodes.torque[z] += torque;
            nodes.force[b] += force;
            nodes.force[a] -= force;
        }
    }

    /// Frames and the torques (N·m) that torsion elements have on them, those about the main axis among them.
    pub fn torques<'a>(&'a self, nodes: &'a Nodes) -> impl Iterator<Item = (usize, DVec3)> + 'a {
        let torsions = self.torsions.iter().map(|torsion| {
            let z = torsion.frame as usize;
            let reference = self.reference(nodes, z);
            let torque = element::torsion_torque(nodes.orientation[z], reference, torsion.constant);
            (z, torque)
        });
        let twists = self.twists.iter().map(|(twist, axis)| {
            let z = twist.frame as usize;
            let [a, b] = twist.along.map(|n| nodes.position[n as usize]);
            let axis = nodes.orientation[z] * *axis;
            (z, element::twist(axis, b - a, twist.constant).0)
        });
        torsions.chain(twists)
    }

    /// Lets flow what yields (see [`Plastic`](element::Plastic)): once a substep, when everything has moved.
    fn let_flow(&self, nodes: &mut Nodes, crew: Option<&Crew>) {
        let Nodes {
            position,
            flow,
            spared,
            ..
        } = nodes;
        let yielding = |i: u32| {
            let i = i as usize;
            let plastic = self.links.laws[self.links.law[i] as usize].plastic?;
            let [a, b] = self.links.ends[i].map(|n| position[n as usize]);
            let rest = self.links.rest_length[i];
            Some((plastic, a.distance(b) - rest, rest))
        };
        let list = self.links.plastic.as_slice();
        if spared.is_empty() {
            let crew = crew.filter(|_| self.is_worth_a_crew());
            Crew::spread(crew, flow, FLOW, |first, flow| {
                let from = list.partition_point(|i| (*i as usize) < first);
                let to = list.partition_point(|i| (*i as usize) < first + flow.len());
                for i in &list[from..to] {
                    if let Some((plastic, stretch, rest)) = yielding(*i) {
                        let flow = &mut flow[*i as usize - first];
                        *flow = plastic.settled(stretch, *flow, rest);
                    }
                }
            });
            return;
        }
        for i in list {
            let k = *i as usize;
            if let (Some((plastic, stretch, rest)), Some(flow), Some(spared)) =
                (yielding(*i), flow.get_mut(k), spared.get_mut(k))
            {
                (*flow, *spared) = plastic.eased(stretch, *flow, rest, *spared);
            }
        }
    }
}

impl Matter for Net {
    fn masses(&self) -> &Masses {
        &self.masses
    }

    /// f = Σ f_VE + Σ f_children + f_O + m g (3.69, K65); hyper nodes are added by whoever holds both nets.
    fn force(&self, nodes: &mut Nodes, field: &Field) {
        self.gather(nodes, field, None);
    }

    fn force_by(&self, nodes: &mut Nodes, field: &Field, crew: &Crew) {
        self.gather(nodes, field, Some(crew));
    }

    fn stable_step(&self) -> f64 {
        self.stable_step
    }

    fn leader(&self, node: u32) -> Option<(MatterId, u32)> {
        self.leaders[node as usize]
    }

    fn advance(&self, nodes: &mut Nodes, h: f64) -> bool {
        let sound = self.masses.advance(nodes, h);
        if !self.copies {
            self.let_flow(nodes, None);
        }
        sound
    }

    fn advance_by(&self, nodes: &mut Nodes, h: f64, crew: &Crew) -> bool {
        let sound = self.masses.advance_by(nodes, h, crew);
        if !self.copies {
            self.let_flow(nodes, Some(crew));
        }
        sound
    }

    fn settle(&self, nodes: &mut Nodes) {
        if self.copies {
            self.let_flow(nodes, None);
        }
    }
}

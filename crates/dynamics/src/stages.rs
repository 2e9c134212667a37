//! Integrators of two stages (K61): forces at the start of a substep and again further on.
//!
//! A stage lies half a substep or a whole one ahead. *All* matter of a group goes there, each by the one-stage integrator
//! that leads its own (MESD for MESD, Euler-Cauchy for the classical schemes); nodes that copy others are copied again; then
//! forces are gathered as at the start. So a net of two stages that hangs on one of one stage sees it where it
//! will be by its own law.
//!
//! Ties, joints, contacts, grips and the mouse act by impulses at the start of the substep, found after all forces are known. A stage
//! does *not* see what they do in this substep, only what they did in those before. They in turn are judged by the end of the
//! substep with the forces of both stages held, so that they are as exact as with any other integrator.

use crate::{Crew, Integrator, Masses, Nodes, integrator::Coefficients, masses::Brake};
use glam::DVec3;

/// Memory for the stages of a group.
#[derive(Debug, Default)]
pub struct Stages {
    /// The shares as they were at the start.
    start: Vec<Nodes>,
}

impl Stages {
    /// Gathers the forces of a substep of `h` seconds.
    ///
    /// `masses` are those of each of `nodes`, none for matter that takes no part. `evaluate` writes all forces and torques of
    /// the shares as they are, so many seconds after the start; `copy` puts nodes that copy others where they belong. A crew may help.
    pub fn gather<'a>(
        &mut self,
        masses: &impl Fn(usize) -> Option<&'a Masses>,
        nodes: &mut [Nodes],
        h: f64,
        crew: Option<&Crew>,
        mut evaluate: impl FnMut(&mut [Nodes], f64),
        mut copy: impl FnMut(&mut [Nodes]),
    ) {
        evaluate(nodes, 0.0);
        let scheme = |k: usize| masses(k).map_or(Integrator::Mesd, Masses::integrator);
        if (0..nodes.len()).any(|k| scheme(k).stage().is_some()) {
            self.second(masses, nodes, (h, crew), &mut evaluate, &mut copy);
        }
        for (k, share) in nodes.iter_mut().enumerate() {
            if let Some(masses) = masses(k) {
                if let Some(brake) = scheme(k).brake() {
                    masses.brake_by(share, h, brake, crew);
                }
                carry_over(masses, scheme(k), share, h, crew);
            }
        }
    }

    /// The second stages, and their sums with the first.
    fn second<'a>(
        &mut self,
        masses: &impl Fn(usize) -> Option<&'a Masses>,
        nodes: &mut [Nodes],
        (h, crew): (f64, Option<&Crew>),
        evaluate: &mut impl FnMut(&mut [Nodes], f64),
        copy: &mut impl FnMut(&mut [Nodes]),
    ) {
        let scheme = |k: usize| masses(k).map_or(Integrator::Mesd, Masses::integrator);
        self.start.resize_with(nodes.len(), Nodes::default);
        for (kept, share) in self.start.iter_mut().zip(nodes.iter()) {
            keep(kept, share);
        }
        for part in [0.5, 1.0] {
            if !(0..nodes.len()).any(|k| scheme(k).stage() == Some(part)) {
                continue;
            }
            for (k, share) in nodes.iter_mut().enumerate() {
                let Some(masses) = masses(k) else { continue };
                if let Some(brake) = scheme(k).predictor().brake() {
                    masses.brake_by(share, part * h, brake, crew);
                }
                if part == 1.0 && scheme(k).stage() == Some(part) {
                    // A Heun scheme takes the mean of both stages, damped as each was.
                    self.start[k].force.copy_from_slice(&share.force);
                    self.start[k].torque.copy_from_slice(&share.torque);
                }
                carry_over(masses, scheme(k).predictor(), share, part * h, crew);
                // A bad number is found when everything moves.
                masses.lead(share, part * h, crew);
            }
            copy(nodes);
            evaluate(nodes, part * h);
            for (k, share) in nodes.iter_mut().enumerate() {
                let start = &mut self.start[k];
                let Some(masses) = masses(k) else { continue };
                if scheme(k) == Integrator::Heun && part == 1.0 {
                    masses.brake_by(share, h, Brake::Explicit, crew);
                }
                if scheme(k).stage() == Some(part) {
                    combine(masses, start, share, h, crew);
                }
                restore(share, start);
            }
        }
    }
}

/// Nodes that a thread takes at once.
const SPAN: usize = 2048;

/// The numbers of nodes one after the other: neighbours are mostly alike, and then nothing is divided for each.
struct Alike<'a> {
    masses: &'a Masses,
    scheme: Integrator,
    h: f64,
    /// Mass and damping of the last one, its numbers, and what it carries over.
    last: Option<([f64; 2], (Coefficients, f64))>,
}

impl<'a> Alike<'a> {
    fn new(masses: &'a Masses, scheme: Integrator, h: f64) -> Self {
        Self {
            masses,
            scheme,
            h,
            last: None,
        }
    }

    #[inline]
    fn of(&mut self, i: usize) -> (Coefficients, f64) {
        let own = [self.masses.mass()[i], self.masses.resistance()[i]];
        match self.last {
            Some((same, numbers)) if same == own => numbers,
            _ => {
                let c = self.scheme.coefficients(own[0], own[1], self.h);
                let numbers = (c, c.carried_over(own[0], self.h));
                self.last = Some((own, numbers));
                numbers
            }
        }
    }
}

/// Makes forces such that impulses count as forces do ([`crate::integrator::Coefficients::carried_over`]).
fn carry_over(masses: &Masses, scheme: Integrator, nodes: &mut Nodes, h: f64, crew: Option<&Crew>) {
    if scheme.is_plain() {
        return;
    }
    let Nodes {
        force, velocity, ..
    } = nodes;
    Crew::spread(crew, force, SPAN, |first, force| {
        let mut alike = Alike::new(masses, scheme, h);
        for ((i, force), velocity) in (first..).zip(force).zip(&velocity[first..]) {
            *force += *velocity * alike.of(i).1;
        }
    });
    for (z, rigid) in masses.rigid().iter().enumerate() {
        let Some(inertia) = rigid.inertia else {
            continue;
        };
        let q = nodes.orientation[z];
        let of = |i: f64| scheme.coefficients(i, rigid.damping, h).carried_over(i, h);
        let share = DVec3::new(of(inertia.x), of(inertia.y), of(inertia.z));
        nodes.torque[z] += q * (share * (q.conjugate() * nodes.spin[z]));
    }
}

fn keep(kept: &mut Nodes, share: &Nodes) {
    kept.position.clone_from(&share.position);
    kept.velocity.clone_from(&share.velocity);
    kept.orientation.clone_from(&share.orientation);
    kept.spin.clone_from(&share.spin);
    kept.flow.clone_from(&share.flow);
    kept.force.clone_from(&share.force);
    kept.torque.clone_from(&share.torque);
}

/// Everything as it was at the start, with the forces that `start` holds now.
fn restore(share: &mut Nodes, start: &Nodes) {
    share.position.copy_from_slice(&start.position);
    share.velocity.copy_from_slice(&start.velocity);
    share.orientation.copy_from_slice(&start.orientation);
    share.spin.copy_from_slice(&start.spin);
    share.flow.copy_from_slice(&start.flow);
    share.force.copy_from_slice(&start.force);
    share.torque.copy_from_slice(&start.torque);
}

/// Puts the forces of the start (in `start`) and of the stage (in `share`) together; the sum is left in `start`, and what
/// was there in `share.first`.
fn combine(masses: &Masses, start: &mut Nodes, share: &mut Nodes, h: f64, crew: Option<&Crew>) {
    let scheme = masses.integrator();
    share.first.0.clone_from(&start.force);
    share.first.1.clone_from(&start.torque);
    let stage = &share.force;
    Crew::spread(crew, &mut start.force, SPAN, |first, force| {
        let mut alike = Alike::new(masses, scheme, h);
        for ((i, force), stage) in (first..).zip(force).zip(&stage[first..]) {
            let c = alike.of(i).0;
            *force = *force * c.first + *stage * c.second;
        }
    });
    for (i, rigid) in masses.rigid().iter().enumerate() {
        let Some(inertia) = rigid.inertia else {
            continue;
        };
        // The shares of the forces depend on the moment about each axis of the body.
        let q = start.orientation[i];
        let (first, second) = (
            q.conjugate() * start.torque[i],
            q.conjugate() * share.torque[i],
        );
        let c = [inertia.x, inertia.y, inertia.z].map(|i| scheme.coefficients(i, rigid.damping, h));
        let shares = |get: fn(&Coefficients) -> f64| DVec3::new(get(&c[0]), get(&c[1]), get(&c[2]));
        start.torque[i] = q * (first * shares(|c| c.first) + second * shares(|c| c.second));
    }
}

//! Numbers of bodies that can be changed while a scene runs: how they rub and spring back, how heavy and how damped they are, and what holds them at
//! their places (K55).

use super::{Range, Subject, joint::Listed};
use crate::{Simulation, build::Model, collisions::Collisions};
use trocar_dynamics::BodyNumber;

/// With more bodies than this their numbers are not listed: nobody would find one among them.
const MOST_BODIES: usize = 64;

/// Numbers of all bodies that touch others, if they are few.
pub(super) fn bodies(model: &Model) -> Vec<Listed> {
    let mut list = Vec::new();
    if model.colliders.len() > MOST_BODIES {
        return list;
    }
    for (c, collider) in model.colliders.iter().enumerate() {
        let Some(look) = model.looks.iter().find(|l| l.at == collider.at) else {
            continue;
        };
        let [sticking, sliding] = collider.friction;
        for (k, (name, about, greatest, start)) in [
            (
                "static friction",
                "Coefficient until it slides; that of a pair is the geometric mean.",
                2.0,
                sticking,
            ),
            (
                "dynamic friction",
                "Coefficient while it slides, no greater than the static one.",
                2.0,
                sliding,
            ),
            (
                "restitution",
                "With how much of its speed it springs back; that of a pair is the product.",
                1.0,
                collider.restitution,
            ),
        ]
        .into_iter()
        .enumerate()
        {
            list.push(Listed {
                group: format!("body {}", look.name),
                name,
                unit: "",
                about,
                bounds: Range::Within(greatest).bounds(start),
                start,
                choices: &[],
                subject: Subject::Body(c, k),
            });
        }
    }
    list
}

/// What a body is by itself: the number, what it is called, its unit, what it does, and how far it goes.
const OWN: [(BodyNumber, &str, &str, &str, Range); 5] = [
    (
        BodyNumber::Mass,
        "mass",
        "kg",
        "How heavy it is; its moments of inertia grow with it.",
        Range::Tenfold,
    ),
    (
        BodyNumber::Damping,
        "damping",
        "N·s/m",
        "What its way through the air costs.",
        Range::UpTo(10.0),
    ),
    (
        BodyNumber::TurnDamping,
        "turn damping",
        "N·m·s/rad",
        "What turning costs.",
        Range::UpTo(0.1),
    ),
    (
        BodyNumber::HoldStiffness,
        "rest stiffness",
        "N/m",
        "What draws it back to its place.",
        Range::UpTo(1000.0),
    ),
    (
        BodyNumber::HoldTorsion,
        "rest torsion",
        "N·m/rad",
        "What turns it back to how it was.",
        Range::UpTo(10.0),
    ),
];

/// What bodies and particles that go their own way are by themselves, if they are few.
pub(super) fn own(model: &Model) -> Vec<Listed> {
    let mut list = Vec::new();
    let Some((matter, bodies)) = model.bodies.and_then(|m| Some((m, model.bodies_of(m)?))) else {
        return list;
    };
    let masses = trocar_dynamics::Matter::masses(bodies);
    if masses.len() > MOST_BODIES {
        return list;
    }
    for node in 0..masses.len() {
        let look = model.looks.iter().find(|l| l.at == (matter, node as u32));
        let particle = node.checked_sub(masses.frames());
        let group = match (look, particle.and_then(|p| model.particles.get(p))) {
            (Some(look), _) => format!("body {}", look.name),
            (None, Some(particle)) => format!("particle {particle}"),
            (None, None) => continue,
        };
        let hold = bodies.holds().iter().find(|h| h.body as usize == node);
        let rigid = masses.rigid().get(node);
        for (k, (number, name, unit, about, range)) in OWN.iter().enumerate() {
            let start = match number {
                BodyNumber::Mass => Some(masses.mass()[node]),
                // A particle has a mass, and that is all a file says of it.
                BodyNumber::Damping => rigid.map(|_| masses.damping()[node]),
                BodyNumber::TurnDamping => rigid.map(|r| r.damping),
                BodyNumber::HoldStiffness => hold.map(|h| h.stiffness),
                BodyNumber::HoldTorsion => hold.map(|h| h.torsion),
            };
            let Some(start) = start else { continue };
            list.push(Listed {
                group: group.clone(),
                name,
                unit,
                about,
                bounds: range.bounds(start),
                start,
                choices: &[],
                subject: Subject::Own(node, k),
            });
        }
    }
    list
}

impl Simulation {
    /// Why bodies can't have such values together; an error if so.
    pub(super) fn check_bodies(&self, values: &[(usize, f64)]) -> Result<(), String> {
        let of = |p: usize| match self.subjects[p] {
            Subject::Body(c, k) if k < 2 => Some((c, k)),
            _ => None,
        };
        for (c, _) in values.iter().filter_map(|(p, _)| of(*p)) {
            let mut friction = self.model.colliders[c].friction;
            for (p, value) in values {
                if let Some((_, k)) = of(*p).filter(|(other, _)| *other == c) {
                    friction[k] = *value;
                }
            }
            let [sticking, sliding] = friction;
            if sliding > sticking {
                return Err(format!(
                    "dynamic friction of {sliding} is greater than the static one of {sticking}"
                ));
            }
        }
        Ok(())
    }

    /// Gives a body that touches others a number: static friction, dynamic friction, restitution.
    pub(super) fn set_body(&mut self, collider: usize, number: usize, value: f64) {
        let collider = &mut self.model.colliders[collider];
        match number {
            0 | 1 => collider.friction[number] = value,
            _ => collider.restitution = value,
        }
        // What rested on a slope may slide now.
        self.wake_bodies();
    }

    /// Makes bodies as heavy, as damped and as held as `values` and all other parameters say; none if nothing of that is among them. They are
    /// always made from what the scene says, so that it does not matter what they were in between.
    pub(super) fn reweighed(
        &self,
        values: &[(usize, f64)],
    ) -> Option<Vec<(usize, BodyNumber, f64)>> {
        let own = |p: usize| matches!(self.subjects[p], Subject::Own(..));
        values.iter().any(|(p, _)| own(*p)).then(|| {
            let listed = self.parameters.iter().zip(&self.subjects).enumerate();
            let listed = listed.filter_map(|(p, (parameter, subject))| {
                let Subject::Own(node, k) = *subject else {
                    return None;
                };
                let wished = values.iter().rev().find(|v| v.0 == p).map(|v| v.1);
                let value = wished.unwrap_or(parameter.value);
                (value.to_bits() != parameter.start.to_bits()).then_some((node, OWN[k].0, value))
            });
            listed.collect()
        })
    }

    /// What rested may rest no longer.
    pub(super) fn wake_bodies(&mut self) {
        let touching = self.groups.iter_mut().filter_map(|g| g.collisions.as_mut());
        touching.for_each(Collisions::wake_all);
    }
}

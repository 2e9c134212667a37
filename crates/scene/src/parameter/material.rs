//! Numbers of materials, and what a material can be or do.

use super::Range;
use crate::file::{IntegratorName, LawSpec, MaterialSpec};

/// Which tissues have a number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tissues {
    /// All.
    All,
    /// Those with central nodes: organs and pipes.
    Carried,
    /// Pipes.
    Pipes,
}

/// A number of a material.
pub(super) struct Number {
    pub name: &'static str,
    pub unit: fn(&MaterialSpec) -> &'static str,
    pub about: &'static str,
    pub range: Range,
    pub tissues: Tissues,
    pub place: fn(&mut MaterialSpec) -> &mut f64,
}

fn spring_unit(material: &MaterialSpec) -> &'static str {
    of_law(material.law)
}

fn memory_unit(material: &MaterialSpec) -> &'static str {
    of_law(material.memory_law)
}

pub(super) fn of_law(law: LawSpec) -> &'static str {
    match law {
        LawSpec::Linear => "N/m",
        LawSpec::Quadratic => "N/m²",
    }
}

/// Every number of a material.
pub(super) const NUMBERS: [Number; 20] = [
    Number {
        name: "mass",
        unit: |_| "kg",
        about: "Mass of a surface node.",
        range: Range::Tenfold,
        tissues: Tissues::All,
        place: |m| &mut m.mass,
    },
    Number {
        name: "damping",
        unit: |_| "N·s/m",
        about: "Damping of a surface node.",
        range: Range::UpTo(1.0),
        tissues: Tissues::All,
        place: |m| &mut m.damping,
    },
    Number {
        name: "stiffness",
        unit: spring_unit,
        about: "Springs between surface nodes.",
        range: Range::UpTo(100.0),
        tissues: Tissues::All,
        place: |m| &mut m.stiffness,
    },
    Number {
        name: "gain when shorter",
        unit: |_| "",
        about: "Gain of those springs when shorter than at rest; 0 bears tension only.",
        range: Range::Within(4.0),
        tissues: Tissues::All,
        place: |m| &mut m.gain[0],
    },
    Number {
        name: "gain when longer",
        unit: |_| "",
        about: "Gain of those springs when longer than at rest.",
        range: Range::Within(4.0),
        tissues: Tissues::All,
        place: |m| &mut m.gain[1],
    },
    Number {
        name: "memory",
        unit: memory_unit,
        about: "What draws a surface node back to its place.",
        range: Range::UpTo(100.0),
        tissues: Tissues::All,
        place: |m| &mut m.memory,
    },
    Number {
        name: "centre mass",
        unit: |_| "kg",
        about: "Mass of a central node.",
        range: Range::Tenfold,
        tissues: Tissues::Carried,
        place: |m| &mut m.centre_mass,
    },
    Number {
        name: "centre damping",
        unit: |_| "N·s/m",
        about: "Damping of a central node.",
        range: Range::UpTo(5.0),
        tissues: Tissues::Carried,
        place: |m| &mut m.centre_damping,
    },
    Number {
        name: "turn damping",
        unit: |_| "N·m·s/rad",
        about: "Rotational damping of a central node.",
        range: Range::UpTo(5e-3),
        tissues: Tissues::Carried,
        place: |m| &mut m.turn_damping,
    },
    Number {
        name: "torsion",
        unit: |_| "N·m/rad",
        about: "What turns a central node back to how it was built.",
        range: Range::UpTo(0.1),
        tissues: Tissues::Carried,
        place: |m| &mut m.torsion,
    },
    Number {
        name: "twist",
        unit: |_| "N·m/rad",
        about: "What turns the rings of a pipe across its axis.",
        range: Range::UpTo(0.1),
        tissues: Tissues::Pipes,
        place: |m| &mut m.twist,
    },
    Number {
        name: "centre stiffness",
        unit: |_| "N/m",
        about: "Springs between the central nodes.",
        range: Range::UpTo(100.0),
        tissues: Tissues::Pipes,
        place: |m| &mut m.centre_stiffness,
    },
    Number {
        name: "bending",
        unit: |_| "N/rad",
        about: "What straightens it at its central nodes.",
        range: Range::UpTo(0.1),
        tissues: Tissues::Pipes,
        place: |m| &mut m.bending,
    },
    Number {
        name: "brace",
        unit: |_| "N·s/m",
        about: "Dampers from ring to ring.",
        range: Range::UpTo(0.1),
        tissues: Tissues::Pipes,
        place: |m| &mut m.brace,
    },
    Number {
        name: "bears",
        unit: |_| "N",
        about: "Force at which a grasped point tears out.",
        range: Range::Tenfold,
        tissues: Tissues::All,
        place: |m| &mut m.bears,
    },
    Number {
        name: "dead when shorter",
        unit: |_| "m",
        about: "Dead zone of the springs between surface nodes when shorter than at rest.",
        range: Range::UpTo(0.005),
        tissues: Tissues::All,
        place: |m| &mut m.dead[0],
    },
    Number {
        name: "dead when longer",
        unit: |_| "m",
        about: "Dead zone of those springs when longer than at rest.",
        range: Range::UpTo(0.005),
        tissues: Tissues::All,
        place: |m| &mut m.dead[1],
    },
    Number {
        name: "shorten",
        unit: |_| "",
        about: "By what part those springs are shorter at rest than built: pre-tension.",
        range: Range::Within(0.5),
        tissues: Tissues::All,
        place: |m| &mut m.shorten,
    },
    Number {
        name: "quasi factor",
        unit: |_| "",
        about: "Factor of the velocity, if it moves quasi-dynamically.",
        range: Range::Share,
        tissues: Tissues::All,
        place: |m| &mut m.quasi_factor,
    },
    Number {
        name: "velocity weight",
        unit: |_| "",
        about: "Weight of the new velocity, if it moves by the weighted scheme.",
        range: Range::Share,
        tissues: Tissues::All,
        place: |m| &mut m.velocity_weight,
    },
];

/// One of a few things that a material can be or do.
pub(crate) struct Choice {
    pub name: &'static str,
    pub about: &'static str,
    pub choices: &'static [&'static str],
    pub read: fn(&MaterialSpec) -> usize,
    pub write: fn(&mut MaterialSpec, usize),
}

pub(super) const LAWS: &[&str] = &["linear", "quadratic"];

/// So many of them are listed with the numbers; the others at the end of all, so that the numbers by which older recordings name parameters stay what they were.
pub(super) const OLD_CHOICES: usize = 4;

/// All of them; a [`Subject::Material`](super::Subject::Material) counts them after [`NUMBERS`].
pub(crate) const CHOICES: [Choice; 7] = [
    Choice {
        name: "gravity",
        about: "Gravity acts on it.",
        choices: &["no", "yes"],
        read: |m| usize::from(m.gravity),
        write: |m, k| m.gravity = k == 1,
    },
    Choice {
        name: "integrator",
        about: "By which scheme it moves.",
        choices: &[
            "MESD",
            "quasi-dynamic",
            "modified Runge-Kutta",
            "modified Heun",
            "Euler-Cauchy",
            "Runge-Kutta",
            "Heun",
            "weighted",
            "midpoint",
        ],
        read: |m| {
            let all = IntegratorName::ALL.iter();
            all.take_while(|i| **i != m.integrator).count()
        },
        write: |m, k| m.integrator = IntegratorName::ALL.get(k).copied().unwrap_or_default(),
    },
    Choice {
        name: "memory law",
        about: "How the shape memory grows; its constant counts in N/m or N/m².",
        choices: LAWS,
        read: |m| usize::from(m.memory_law == LawSpec::Quadratic),
        write: |m, k| m.memory_law = [LawSpec::Linear, LawSpec::Quadratic][k.min(1)],
    },
    Choice {
        name: "mobile",
        about: "Its central nodes feel the nodes they carry.",
        choices: &["no", "yes"],
        read: |m| usize::from(m.mobile),
        write: |m, k| m.mobile = k == 1,
    },
    Choice {
        name: "on ground",
        about: "None of its nodes goes below the height of its ground, or below 0 if it has none.",
        choices: &["no", "yes"],
        read: |m| usize::from(m.floor().is_some()),
        write: |m, k| m.on_ground = (m.ground.is_some() != (k == 1)).then_some(k == 1),
    },
    Choice {
        name: "touchable",
        about: "Instruments and bodies touch and grasp it; otherwise they pass through.",
        choices: &["no", "yes"],
        read: |m| usize::from(m.touchable),
        write: |m, k| m.touchable = k == 1,
    },
    Choice {
        name: "bends",
        about: "What straightens it at its central nodes acts.",
        choices: &["no", "yes"],
        read: |m| usize::from(m.bends),
        write: |m, k| m.bends = k == 1,
    },
];

/// Writes number `k` of a material.
pub(super) fn write(material: &mut MaterialSpec, k: usize, value: f64) {
    match (NUMBERS.get(k), choice(k)) {
        (Some(number), _) => *(number.place)(material) = value,
        (None, Some(choice)) => (choice.write)(material, value as usize),
        (None, None) => {}
    }
}

/// The choice that number `k` of a material is, if it is one.
pub(super) fn choice(k: usize) -> Option<&'static Choice> {
    CHOICES.get(k.checked_sub(NUMBERS.len())?)
}

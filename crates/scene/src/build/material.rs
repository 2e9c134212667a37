//! Materials of tissues, from what a scene file says.

use super::{answer, check::Checker};
use crate::{
    file::{IntegratorName, MaterialSpec, NetSpec},
    load::{Key, SceneError},
};
use trocar_dynamics::Integrator;
use trocar_soft::{Material, NetKind};

/// What a tissue is made of, if it can be.
pub(super) fn material(check: &Checker<'_>, spec: &MaterialSpec) -> Result<Material, SceneError> {
    let at = |key: &'static str| [Key::Name("material"), Key::Name(key)];
    check.mass(spec.mass, &at("mass"))?;
    check.mass(spec.centre_mass, &at("centre_mass"))?;
    if !(spec.bears > 0.0 && spec.bears <= 1e3) {
        return Err(check.error(
            &at("bears"),
            format!(
                "bears is {:?}; it must be positive, at most 1000",
                spec.bears
            ),
            "It is a force in N.",
        ));
    }
    if spec.source.as_ref().is_some_and(|s| s.trim().is_empty()) {
        return Err(check.error(
            &at("source"),
            "the source is empty",
            "Say where the constants were measured, or leave it out.",
        ));
    }
    if let Some(friction) = spec.friction {
        check.friction(friction, &at("friction"))?;
    }
    if let Some(thickness) = spec.contact_thickness {
        check.thickness(thickness, &at("contact_thickness"))?;
    }
    let constants = [
        ("damping", spec.damping),
        ("stiffness", spec.stiffness),
        ("memory", spec.memory),
        ("centre_damping", spec.centre_damping),
        ("turn_damping", spec.turn_damping),
        ("centre_stiffness", spec.centre_stiffness),
        ("torsion", spec.torsion),
        ("twist", spec.twist),
        ("bending", spec.bending),
        ("brace", spec.brace),
        ("gain", spec.gain[0]),
        ("gain", spec.gain[1]),
    ];
    for (key, value) in constants {
        if !(0.0..=1e9).contains(&value) {
            return Err(check.error(
                &at(key),
                format!("{key} is {value:?}; it must be at least 0, at most 1e9"),
                "Correct the number.",
            ));
        }
    }
    if !(0.0..1.0).contains(&spec.shorten) {
        return Err(check.error(
            &at("shorten"),
            format!(
                "shorten is {:?}; it must be at least 0, below 1",
                spec.shorten
            ),
            "Correct the number.",
        ));
    }
    let made = Material {
        mass: spec.mass,
        damping: spec.damping,
        stiffness: spec.stiffness,
        base: answer::base(spec.law),
        gain: spec.gain,
        dead: spec.dead,
        limit: spec.limit,
        shorten: spec.shorten,
        plastic: spec.yields.as_ref().map(answer::plastic),
        net: match spec.net {
            NetSpec::A => NetKind::A,
            NetSpec::B => NetKind::B,
            NetSpec::C => NetKind::C,
        },
        memory: spec.memory,
        memory_base: answer::base(spec.memory_law),
        centre_mass: spec.centre_mass,
        centre_damping: spec.centre_damping,
        turn_damping: spec.turn_damping,
        centre_stiffness: spec.centre_stiffness,
        torsion: spec.torsion,
        twist: spec.twist,
        bending: if spec.bends { spec.bending } else { 0.0 },
        brace: spec.brace,
        gravity: spec.gravity,
        integrator: integrator(check, spec)?,
        ground: spec.floor(),
    };
    match made.law().objection() {
        None => Ok(made),
        Some(objection) => Err(check.error(&at("stiffness"), objection, "Correct the law.")),
    }
}

/// The scheme a material names, if it can work.
fn integrator(check: &Checker<'_>, spec: &MaterialSpec) -> Result<Integrator, SceneError> {
    for (key, value) in [
        ("quasi_factor", spec.quasi_factor),
        ("velocity_weight", spec.velocity_weight),
    ] {
        if !(value > 0.0 && value <= 1.0) {
            return Err(check.error(
                &[Key::Name("material"), Key::Name(key)],
                format!("{key} is {value:?}; it must be above 0, at most 1"),
                "Correct the number.",
            ));
        }
    }
    if let Some(ground) = spec.ground
        && !ground.is_finite()
    {
        return Err(check.error(
            &[Key::Name("material"), Key::Name("ground")],
            "the height of the ground must be finite",
            "Correct the number.",
        ));
    }
    if spec.integrator == IntegratorName::QuasiDynamic && spec.damping == 0.0 {
        return Err(check.error(
            &[Key::Name("material"), Key::Name("damping")],
            "quasi-dynamics divides by the damping, which is 0",
            "Give it a damping, or another integrator.",
        ));
    }
    Ok(match spec.integrator {
        IntegratorName::Mesd => Integrator::Mesd,
        IntegratorName::QuasiDynamic => Integrator::QuasiDynamic(spec.quasi_factor),
        IntegratorName::ModifiedRungeKutta => Integrator::ModifiedRungeKutta,
        IntegratorName::ModifiedHeun => Integrator::ModifiedHeun,
        IntegratorName::Euler => Integrator::Euler,
        IntegratorName::RungeKutta => Integrator::RungeKutta,
        IntegratorName::Heun => Integrator::Heun,
        IntegratorName::Weighted => Integrator::Weighted(spec.velocity_weight),
        IntegratorName::Midpoint => Integrator::Midpoint,
    })
}

//! Laws of elements and what drives them, from what a scene file says.

use super::{Item, check::Checker, items};
use crate::{
    file::{ActiveSpec, AnswerSpec, LawSpec, SignalSpec, YieldSpec},
    load::{Key, Scene, SceneError},
};
use trocar_soft::{
    Base, Drive, Law, Pieces, Plastic, Signal,
    element::{KuhnElement, KuhnLaw},
};

/// The signals of a scene, by name.
pub type Signals = Vec<(String, Signal)>;

/// All signals of a scene.
pub fn signals(scene: &Scene) -> Result<Signals, SceneError> {
    let mut signals = Signals::new();
    for item in items(scene, |s| &s.file.signal) {
        let check = checker(&item);
        let spec = item.item;
        let wrong = |problem: String, remedy: &str| check.error(&[], problem, remedy);
        if signals.iter().any(|s| s.0 == spec.name) {
            return Err(wrong(
                format!("there are two signals called \"{}\"", spec.name),
                "Give them different names.",
            ));
        }
        let table = (!spec.table.is_empty()).then(|| Signal::Table(spec.table.clone()));
        let sine = spec.sine.map(|s| Signal::Sine {
            mean: s.mean,
            amplitude: s.amplitude,
            rate: s.rate,
            phase: s.phase,
        });
        let pulse = spec.pulse.map(|p| Signal::Pulse {
            start: p.start,
            period: p.period,
            rise: p.rise,
            hold: p.hold,
            fall: p.fall,
        });
        let mut given = [sine, pulse, table].into_iter().flatten();
        let (Some(signal), None) = (given.next(), given.next()) else {
            return Err(wrong(
                "a signal is one function of time".into(),
                "Give exactly one of `sine`, `pulse`, `table`.",
            ));
        };
        if let Some(objection) = signal.objection() {
            return Err(wrong(objection.into(), "Correct the numbers."));
        }
        signals.push((spec.name.clone(), signal));
    }
    Ok(signals)
}

fn checker<'a>(item: &Item<'a, SignalSpec>) -> Checker<'a> {
    Checker {
        source: item.source,
        table: "signal",
        index: item.index,
    }
}

/// How springs yield.
pub fn plastic(spec: &YieldSpec) -> Plastic {
    Plastic {
        yield_strain: spec.strain,
        hardening: spec.hardening,
        most: spec.most,
    }
}

/// The base function a law names.
pub fn base(law: LawSpec) -> Base {
    match law {
        LawSpec::Linear => Base::Linear,
        LawSpec::Quadratic => Base::Quadratic,
    }
}

/// The law a file gives an element; `at` is where it stands in its table.
pub fn law(check: &Checker<'_>, at: &[Key], spec: &AnswerSpec) -> Result<Law, SceneError> {
    let wrong = |problem: &str, remedy: &str| check.error(at, problem, remedy);
    if let Some(bits) = spec.bits {
        return read_bits(bits, spec).map_err(|(problem, remedy)| check.error(at, problem, remedy));
    }
    if spec.constant.is_some() || spec.parameter.is_some() {
        return Err(wrong(
            "`constant` and `parameter` belong to `bits`, and there are none",
            "Give `bits`, or `stiffness` or `damping` alone.",
        ));
    }
    let plain = match (spec.stiffness, spec.damping) {
        (Some(stiffness), None) => Law::spring(stiffness),
        (None, Some(damping)) => Law::damper(damping),
        _ => {
            return Err(wrong(
                "an element is a spring or a damper",
                "Give either `stiffness` or `damping`; for both, two elements.",
            ));
        }
    };
    let pieces = if spec.pieces.is_empty() {
        None
    } else {
        let points: Vec<(f64, f64)> = spec.pieces.iter().map(|p| (p[0], p[1])).collect();
        let pieces = Pieces::through(&points).ok_or_else(|| {
            wrong(
                "these pieces are no transform",
                "Give two to five points with ascending stretch; what comes out must be finite.",
            )
        })?;
        Some(pieces)
    };
    let law = Law {
        base: base(spec.law),
        gain: spec.gain,
        dead: spec.dead,
        limit: spec.limit,
        pieces,
        plastic: spec.yields.as_ref().map(plastic),
        ..plain
    };
    match law.objection() {
        None => Ok(law),
        Some(objection) => Err(wrong(objection, "Correct the law.")),
    }
}

/// The law that Kuhn's type bits tell (App. A.3), or what is wrong with them and the remedy.
fn read_bits(bits: u32, spec: &AnswerSpec) -> Result<Law, (String, &'static str)> {
    let plain = AnswerSpec {
        bits: spec.bits,
        constant: spec.constant,
        parameter: spec.parameter,
        yields: spec.yields,
        ..AnswerSpec::default()
    };
    let Some(constant) = spec.constant.filter(|_| *spec == plain) else {
        return Err((
            "type bits say what the law is, and `constant` how strong".into(),
            "Give `constant` and, for dead zones and limits, `parameter`; nothing else beside `yields`.",
        ));
    };
    let kuhn = KuhnLaw {
        kind: bits,
        constant,
        parameter: spec.parameter.unwrap_or(0.0),
    };
    let law = match kuhn.read() {
        Ok(KuhnElement::Link(law)) => Law {
            plastic: spec.yields.as_ref().map(plastic),
            ..law
        },
        Ok(KuhnElement::Torsion(_)) => {
            return Err((
                "these bits are of an element that twists one node".into(),
                "Write it under `edit.torsions`.",
            ));
        }
        Ok(KuhnElement::Bend(_)) => {
            return Err((
                "these bits are of an element that bends at one of three nodes".into(),
                "Write it under `edit.bends`.",
            ));
        }
        Err(error) => return Err((error.to_string(), "Correct the bits.")),
    };
    match law.objection() {
        None => Ok(law),
        Some(objection) => Err((objection.into(), "Correct the law.")),
    }
}

/// What drives an element: which of `signals`, and how.
pub fn drive(
    check: &Checker<'_>,
    at: &[Key],
    spec: &ActiveSpec,
    signals: &Signals,
) -> Result<(usize, Drive), SceneError> {
    let signal = signals.iter().position(|s| s.0 == spec.signal);
    let signal = signal.ok_or_else(|| {
        let problem = format!("there is no signal called \"{}\"", spec.signal);
        check.error(at, problem, "Check the name.")
    })?;
    let drive = match (spec.force, spec.length, spec.stiffness) {
        (Some(newtons), None, None) => Drive::Force(newtons),
        (None, Some(part), None) => Drive::Length(part),
        (None, None, Some(part)) => Drive::Stiffness(part),
        _ => {
            return Err(check.error(
                at,
                "a signal drives a force, a length or a stiffness",
                "Give one of `force`, `length`, `stiffness`; for more, elements side by side.",
            ));
        }
    };
    Ok((signal, drive))
}

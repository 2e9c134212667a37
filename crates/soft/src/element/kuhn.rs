//! Elements as the original writes them: a word of type bits, a constant and one parameter (App. A.3, App. B.2).

use super::{Base, Input, Law};
use thiserror::Error;

/// The type bits of a connection element.
pub mod bits {
    /// F = k Δx.
    pub const LINEAR: u32 = 0x0001;
    /// F = ±k Δx².
    pub const QUADRATIC: u32 = 0x0002;
    /// F = 0 for Δx ≤ 0.
    pub const PULL_ONLY: u32 = 0x0010;
    /// F = 0 for Δx > 0.
    pub const PUSH_ONLY: u32 = 0x0020;
    /// Dead zone in tension.
    pub const DEADZONE_P: u32 = 0x0040;
    /// Dead zone in compression.
    pub const DEADZONE_N: u32 = 0x0080;
    /// A damper.
    pub const VEL_FUNC: u32 = 0x0100;
    /// Torsion of a Z-node.
    pub const TORSION: u32 = 0x0200;
    /// Bending at a node.
    pub const BEND_EL: u32 = 0x0400;
    /// F ≤ z.
    pub const LIMITED_P: u32 = 0x1000;
    /// F ≥ −z.
    pub const LIMITED_N: u32 = 0x2000;
    /// All of them.
    pub const ALL: u32 = 0x37F3;
}
use bits::*;

/// An element's law as the original writes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KuhnLaw {
    /// Type bits.
    pub kind: u32,
    /// Constant k, in the unit that the type says.
    pub constant: f64,
    /// The one parameter z: m (m/s) for dead zones, N for limits.
    pub parameter: f64,
}

/// What such an element is here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KuhnElement {
    /// Between two nodes.
    Link(Law),
    /// Turns a frame back, N·m/rad (K40).
    Torsion(f64),
    /// Bends at a node, N/rad (K41).
    Bend(f64),
}

/// Why type bits can't be read, or a law can't be written in them.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum KuhnError {
    /// Bits that mean nothing.
    #[error("type {0:#06x} has bits that have no meaning")]
    Unknown(u32),
    /// Bits that contradict each other.
    #[error("type {0:#06x}: {1}")]
    Contradiction(u32, &'static str),
    /// A law that the bits can't tell.
    #[error("the original has no such law: {0}")]
    Unwritable(&'static str),
}

impl KuhnLaw {
    /// Reads it.
    ///
    /// Neither base bit means linear, as in the original's dampers. Dead zones and limits share the one parameter, although
    /// one is in metres and the other in newtons: as in the original, which advises two elements instead (K37).
    pub fn read(&self) -> Result<KuhnElement, KuhnError> {
        let kind = self.kind;
        if kind & !ALL != 0 {
            return Err(KuhnError::Unknown(kind));
        }
        let has = |bit: u32| kind & bit != 0;
        let no = |why| Err(KuhnError::Contradiction(kind, why));
        if has(LINEAR) && has(QUADRATIC) {
            return no("it is linear and quadratic");
        }
        if has(PULL_ONLY) && has(PUSH_ONLY) {
            return no("it bears neither tension nor compression");
        }
        if has(TORSION) || has(BEND_EL) {
            return match kind & !LINEAR {
                TORSION => Ok(KuhnElement::Torsion(self.constant)),
                BEND_EL => Ok(KuhnElement::Bend(self.constant)),
                _ => no("torsion and bending are linear and have no other bits"),
            };
        }
        let z = |bit: u32, or: f64| if has(bit) { self.parameter } else { or };
        let mut law = Law {
            input: if has(VEL_FUNC) {
                Input::Velocity
            } else {
                Input::Distance
            },
            base: if has(QUADRATIC) {
                Base::Quadratic
            } else {
                Base::Linear
            },
            dead: [z(DEADZONE_N, 0.0), z(DEADZONE_P, 0.0)],
            limit: [z(LIMITED_N, f64::INFINITY), z(LIMITED_P, f64::INFINITY)],
            ..Law::spring(self.constant)
        };
        if has(PULL_ONLY) {
            law = law.pulling();
        }
        if has(PUSH_ONLY) {
            law = law.pushing();
        }
        Ok(KuhnElement::Link(law))
    }
}

/// The law of a default spring: a positive constant is linear (N/m), a negative one quadratic (N/m²) (App. B.2).
pub fn signed_spring(constant: f64) -> Law {
    let law = Law::spring(constant.abs());
    if constant < 0.0 { law.squared() } else { law }
}

impl KuhnElement {
    /// Writes it, if the original can say it.
    pub fn write(&self) -> Result<KuhnLaw, KuhnError> {
        match self {
            Self::Torsion(constant) => Ok(plain(TORSION | LINEAR, *constant)),
            Self::Bend(constant) => Ok(plain(BEND_EL | LINEAR, *constant)),
            Self::Link(law) => write_link(law),
        }
    }
}

fn plain(kind: u32, constant: f64) -> KuhnLaw {
    KuhnLaw {
        kind,
        constant,
        parameter: 0.0,
    }
}

fn write_link(law: &Law) -> Result<KuhnLaw, KuhnError> {
    let no = |why| Err(KuhnError::Unwritable(why));
    if law.plastic.is_some() {
        return no("nothing yields there");
    }
    if law.pieces.is_some() || law.gain != [1.0; 2] {
        return no("its transform has no gains but 1");
    }
    let base = match law.base {
        Base::Linear => LINEAR,
        Base::Quadratic => QUADRATIC,
    };
    let mut written = plain(base, law.constant);
    if law.input == Input::Velocity {
        written.kind |= VEL_FUNC;
    }
    let mut parameters = Vec::new();
    for (bit, dead) in [(DEADZONE_N, law.dead[0]), (DEADZONE_P, law.dead[1])] {
        if dead > 0.0 {
            written.kind |= bit;
            parameters.push(dead);
        }
    }
    let sides = [(PULL_ONLY, LIMITED_N), (PUSH_ONLY, LIMITED_P)];
    for ((none, limited), limit) in sides.into_iter().zip(law.limit) {
        if limit == 0.0 {
            written.kind |= none;
        } else if limit.is_finite() {
            written.kind |= limited;
            parameters.push(limit);
        }
    }
    if parameters.windows(2).any(|p| p[0] != p[1]) {
        return no("its dead zones and limits share one parameter");
    }
    written.parameter = parameters.first().copied().unwrap_or(0.0);
    // What bears nothing at all contradicts itself there.
    written.read()?;
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The original's own chain (its pseudocode), written down once more.
    fn printed(law: &KuhnLaw, e: f64) -> f64 {
        let has = |bit: u32| law.kind & bit != 0;
        let z = law.parameter;
        let mut x = e;
        if has(DEADZONE_P) && x > 0.0 {
            x = (x - z).max(0.0);
        }
        if has(DEADZONE_N) && x < 0.0 {
            x = (x + z).min(0.0);
        }
        let mut f = law.constant * if has(QUADRATIC) { x * x.abs() } else { x };
        if has(PULL_ONLY) {
            f = f.max(0.0);
        }
        if has(PUSH_ONLY) {
            f = f.min(0.0);
        }
        if has(LIMITED_P) {
            f = f.min(z);
        }
        if has(LIMITED_N) {
            f = f.max(-z);
        }
        f
    }

    #[test]
    fn every_word_of_bits_is_read_as_printed_or_refused_and_written_back() {
        let (mut links, mut refused) = (0, 0);
        for kind in 0..=0x4000_u32 {
            let kuhn = KuhnLaw {
                kind,
                constant: 40.0,
                parameter: 0.011,
            };
            match kuhn.read() {
                Err(_) => refused += 1,
                Ok(KuhnElement::Link(law)) => {
                    links += 1;
                    for i in -40..=40 {
                        let e = f64::from(i) * 1e-3;
                        let (ours, theirs) = (law.tension(e), printed(&kuhn, e));
                        assert!(
                            (ours - theirs).abs() < 1e-15,
                            "{kind:#x} at {e}: {ours} {theirs}"
                        );
                    }
                    let again = KuhnElement::Link(law).write().unwrap();
                    assert_eq!(again.read(), kuhn.read(), "{kind:#x}");
                }
                Ok(other) => {
                    let again = other.write().unwrap();
                    assert_eq!(again.read(), Ok(other));
                    assert_eq!(again.kind, kind | LINEAR);
                }
            }
        }
        // 3 bases × 3 sides × 4 dead zones × 2 inputs × 4 limits.
        assert_eq!(links, 3 * 3 * 4 * 2 * 4);
        assert_eq!(links + refused + 4, 0x4001);
    }

    #[test]
    fn what_the_bits_cannot_say_is_refused_with_the_reason() {
        let law = |law: Law| KuhnElement::Link(law).write();
        let spring = Law::spring(1.0);
        assert!(
            law(Law {
                dead: [0.1, 0.2],
                ..spring
            })
            .is_err()
        );
        assert!(
            law(Law {
                gain: [1.0, 2.0],
                ..spring
            })
            .is_err()
        );
        assert!(law(spring.pulling().pushing()).is_err());
        let unknown = KuhnLaw {
            kind: 0x8,
            constant: 1.0,
            parameter: 0.0,
        };
        assert_eq!(unknown.read(), Err(KuhnError::Unknown(8)));
        assert_eq!(signed_spring(-3.0), Law::spring(3.0).squared());
        assert_eq!(signed_spring(3.0), Law::spring(3.0));
    }
}

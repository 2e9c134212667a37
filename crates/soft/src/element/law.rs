//! How an element between two nodes answers: input, transform, base function, limits (K31–K36, K38).

use super::{Pieces, Plastic};
use serde::{Deserialize, Serialize};

/// The stretch, m, up to which quadratic forces are judged at least: a centimetre, about the depth an instrument presses in.
pub(crate) const LEAST_REACH: f64 = 0.01;

/// The length, m, below which the line of a spring is not looked at closer: a tenth of a millimetre, less than nodes of tissue
/// are ever apart. A spring without any length would else resist without bound across its line.
pub(crate) const LEAST_LENGTH: f64 = 1e-4;

/// What an element measures between its two nodes (K32).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Input {
    /// Their distance: a spring.
    Distance,
    /// Their relative velocity: a damper.
    Velocity,
}

/// The base function of an element (K35).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Base {
    /// F = k Δe (3.33).
    #[default]
    Linear,
    /// F = ±k Δe², with the sign of Δe (3.34).
    Quadratic,
}

impl Base {
    /// Force for the transformed input `x`, for constant `k`.
    #[inline]
    pub fn force(self, k: f64, x: f64) -> f64 {
        match self {
            Self::Linear => k * x,
            Self::Quadratic => k * x * x.abs(),
        }
    }

    /// Work done against that force from 0 to `x`, for constant `k`.
    pub fn energy(self, k: f64, x: f64) -> f64 {
        match self {
            Self::Linear => 0.5 * k * x * x,
            Self::Quadratic => k * x * x * x.abs() / 3.0,
        }
    }

    /// Where that force is `force`, for constant `k` > 0.
    pub fn inverse(self, k: f64, force: f64) -> f64 {
        match self {
            Self::Linear => force / k,
            Self::Quadratic => (force.abs() / k).sqrt().copysign(force),
        }
    }
}

/// How an element answers.
///
/// ```text
/// e  = distance − l₀, or relative speed                                     (3.27, 3.28)
/// Δe = b₁ (e − z₁)₊ for e > 0,  −b₀ (−e − z₀)₊ for e ≤ 0, or by pieces     (3.31, 3.32)
/// F  = k Δe, or ±k Δe²                                                      (3.33, 3.34)
/// F  = min(max(F, −f₀), f₁)                                                 (3.35, 3.36)
/// ```
///
/// Pairs are for compression and tension, in this order. What can be written here is continuous, but for pieces that do
/// not meet and for dampers that act at rest: [`Law::objection`] finds those (K38).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Law {
    /// What is measured.
    pub input: Input,
    /// The base function.
    pub base: Base,
    /// Constant k: N/m or N/m² for springs, N·s/m or N·s²/m² for dampers. ≥ 0.
    pub constant: f64,
    /// Gain b of the input below and above the rest length (3.31). (1, 1) is the plain element,
    /// (0, 1) bears tension only. ≥ 0. A damper uses the second.
    pub gain: [f64; 2],
    /// Dead zones z below and above the rest length, m (m/s for a damper, which uses the second), ≥ 0 (K34).
    pub dead: [f64; 2],
    /// Greatest push and greatest pull, N, ≥ 0, infinite for none (K36). (0, ∞) bears tension only,
    /// (∞, 0) compression only. A damper uses the second.
    pub limit: [f64; 2],
    /// Any other piecewise linear transform (K33), in the place of gains and dead zones.
    pub pieces: Option<Pieces>,
    /// A spring that yields, and remembers it.
    pub plastic: Option<Plastic>,
}

impl Law {
    /// A linear spring of `stiffness` N/m.
    pub const fn spring(stiffness: f64) -> Self {
        Self {
            input: Input::Distance,
            base: Base::Linear,
            constant: stiffness,
            gain: [1.0; 2],
            dead: [0.0; 2],
            limit: [f64::INFINITY; 2],
            pieces: None,
            plastic: None,
        }
    }

    /// A linear damper of `damping` N·s/m.
    pub const fn damper(damping: f64) -> Self {
        Self {
            input: Input::Velocity,
            ..Self::spring(damping)
        }
    }

    /// The same law with a quadratic base function; the constant is then in N/m².
    pub const fn squared(self) -> Self {
        Self {
            base: Base::Quadratic,
            ..self
        }
    }

    /// The same law, for tension only.
    pub const fn pulling(self) -> Self {
        Self {
            limit: [0.0, self.limit[1]],
            ..self
        }
    }

    /// The same law, for compression only.
    pub const fn pushing(self) -> Self {
        Self {
            limit: [self.limit[0], 0.0],
            ..self
        }
    }

    /// True for Hooke's spring and the linear damper, which have a shorter kernel.
    pub fn is_plain(&self) -> bool {
        self.base == Base::Linear && self.gain == [1.0; 2] && self.has_no_frills()
    }

    /// True without dead zones, limits, pieces and yielding.
    fn has_no_frills(&self) -> bool {
        self.dead == [0.0; 2]
            && self.limit == [f64::INFINITY; 2]
            && self.pieces.is_none()
            && self.plastic.is_none()
    }

    /// The constant of a damper whose force is −c Δv, if it is one.
    pub fn linear_damping(&self) -> Option<f64> {
        let linear = self.input == Input::Velocity && self.base == Base::Linear;
        (linear && self.has_no_frills()).then_some(self.constant * self.gain[1])
    }

    /// What the base function is given for the input `e` (m or m/s): the second block.
    #[inline]
    pub fn transformed(&self, e: f64) -> f64 {
        match &self.pieces {
            Some(pieces) => pieces.at(e),
            None if e > 0.0 => (e - self.dead[1]).max(0.0) * self.gain[1],
            None => (e + self.dead[0]).min(0.0) * self.gain[0],
        }
    }

    /// The force for the input `e` (m or m/s), N: positive draws the ends together.
    #[inline]
    pub fn tension(&self, e: f64) -> f64 {
        let force = self.base.force(self.constant, self.transformed(e));
        force.max(-self.limit[0]).min(self.limit[1])
    }

    /// The work done against [`tension`](Self::tension) from 0 to `e`, J.
    pub fn energy(&self, e: f64) -> f64 {
        let Some(pieces) = &self.pieces else {
            return self.one_sided_energy(e);
        };
        // Exact on every interval on which the transform is one straight line.
        let mut energy = 0.0;
        let (mut from, sign) = (0.0, if e < 0.0 { -1.0 } else { 1.0 });
        while (e - from) * sign > 0.0 {
            let next = pieces.next_break(from, sign);
            let to = if (e - next) * sign > 0.0 { next } else { e };
            let (gain, shift) = pieces.line(0.5 * (from + to));
            energy += if gain == 0.0 {
                self.tension(to) * (to - from)
            } else {
                self.line_energy(gain * to + shift, gain)
                    - self.line_energy(gain * from + shift, gain)
            };
            from = to;
        }
        energy
    }

    fn one_sided_energy(&self, e: f64) -> f64 {
        self.line_energy(self.transformed(e), self.gain[usize::from(e > 0.0)])
    }

    /// ∫ F de where Δe = `x` grows from 0 by `gain` for every metre; beyond a limit F is constant.
    fn line_energy(&self, x: f64, gain: f64) -> f64 {
        if gain == 0.0 || self.constant == 0.0 {
            return 0.0;
        }
        let limit = self.limit[usize::from(x > 0.0)];
        if self.base.force(self.constant, x).abs() <= limit {
            return self.base.energy(self.constant, x) / gain;
        }
        let edge = self.base.inverse(self.constant, limit);
        (self.base.energy(self.constant, edge) + limit * (x.abs() - edge)) / gain
    }

    /// Greatest slope of a spring's force, N/m, while its length stays within twice the rest length.
    /// A quadratic spring has no greatest slope; this is what its stability is judged by, for a stretch of at least
    /// [`LEAST_REACH`]: one without a rest length is stretched too.
    pub fn stiffness(&self, rest_length: f64) -> f64 {
        let rest_length = rest_length.max(LEAST_REACH);
        let (gain, reach) = match &self.pieces {
            Some(pieces) => (
                pieces.greatest_gain(),
                pieces
                    .at(rest_length)
                    .abs()
                    .max(pieces.at(-rest_length).abs()),
            ),
            None => {
                let gain = self.gain[0].max(self.gain[1]);
                (gain, gain * rest_length)
            }
        };
        match self.base {
            Base::Linear => self.constant * gain,
            Base::Quadratic => 2.0 * self.constant * gain * reach,
        }
    }

    /// How far to either side of its length a spring is looked at as it is now, m: the part `near` of the longer of length and rest length (m). One that is built
    /// without a length counts as if it had [some](LEAST_REACH): it goes through its point again and again, and is no stiffer there.
    pub(crate) fn window(near: f64, length: f64, rest_length: f64) -> f64 {
        let built = match rest_length < LEAST_LENGTH {
            true => LEAST_REACH,
            false => rest_length,
        };
        near * length.max(built)
    }

    /// Greatest slope along or across a spring of a length (m) within `window` (m) to either side, N/m, from its tensions (N) there: shorter, as it is, longer.
    pub(crate) fn present_slope(length: f64, window: f64, [short, now, long]: [f64; 3]) -> f64 {
        let slope = ((long - now) / window).max((now - short) / window);
        // Across its line a spring under tension holds like a string.
        slope.max(long / length.max(window)).max(0.0)
    }

    /// Greatest slope of a spring, N/m, along its line or across it, whose rest length (m) a drive makes up to `longest` times as long, and
    /// which it draws by up to `bias` N. Across its line a tension F that is there without any stretch resists with F/l; l is
    /// taken as half of the rest length, as short as a muscle becomes.
    pub fn spring_slope(&self, rest_length: f64, longest: f64, bias: f64) -> f64 {
        let bias = bias + self.tension(0.0).abs();
        self.stiffness(rest_length * longest) + bias / (0.5 * rest_length).max(LEAST_LENGTH)
    }

    /// Greatest slope of a damper's force, N·s/m. A quadratic damper has no greatest slope; it is
    /// judged at 1 m/s, faster than a hand moves tissue.
    pub fn damping(&self) -> f64 {
        let (gain, reach) = match &self.pieces {
            Some(pieces) => (pieces.greatest_gain(), pieces.at(1.0).abs()),
            None => (self.gain[1], self.gain[1]),
        };
        match self.base {
            Base::Linear => self.constant * gain,
            Base::Quadratic => 2.0 * self.constant * gain * reach,
        }
    }

    /// Why this law can't be used, if it can't (K38).
    pub fn objection(&self) -> Option<&'static str> {
        let small = |x: &f64| *x >= 0.0 && x.is_finite();
        if !(small(&self.constant) && self.gain.iter().all(small)) {
            return Some("rest length, constant and gains must be at least 0 and finite");
        }
        if !self.dead.iter().all(small) {
            return Some("dead zones must be at least 0 and finite");
        }
        if !self.limit.iter().all(|x| *x >= 0.0) {
            return Some("limits of the force must be at least 0");
        }
        if let Some(plastic) = &self.plastic {
            if self.input == Input::Velocity {
                return Some("only springs yield, not dampers");
            }
            if let Some(objection) = plastic.objection() {
                return Some(objection);
            }
        }
        let pieces = self.pieces.as_ref()?;
        if let Some(objection) = pieces.objection() {
            return Some(objection);
        }
        if self.input == Input::Velocity && pieces.at(0.0) != 0.0 {
            return Some("a damper that acts at rest is discontinuous there: it has no direction");
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Work by the trapezoid rule: an independent sum.
    fn work(law: &Law, to: f64) -> f64 {
        let n = 200_000;
        let d = to / f64::from(n);
        (0..n)
            .map(|i| {
                let e = f64::from(i) * d;
                0.5 * (law.tension(e) + law.tension(e + d)) * d
            })
            .sum()
    }

    fn laws() -> Vec<Law> {
        let k = Law::spring(7.0);
        let plain = [
            k,
            Law {
                gain: [0.5, 2.0],
                ..k
            },
            Law {
                dead: [0.004, 0.01],
                ..k
            },
            Law {
                limit: [0.05, 0.11],
                ..k
            },
            Law {
                dead: [0.003, 0.002],
                limit: [0.02, 0.07],
                gain: [2.0, 3.0],
                ..k
            },
            k.pulling(),
            k.pushing(),
            Law {
                pieces: Some(
                    Pieces::through(&[(-0.01, -0.03), (0.0, 0.0), (0.01, 0.004), (0.02, 0.03)])
                        .unwrap(),
                ),
                ..k
            },
            Law {
                pieces: Some(
                    Pieces::through(&[(-0.01, 0.0), (0.0, 0.005), (0.01, 0.005), (0.02, 0.03)])
                        .unwrap(),
                ),
                limit: [0.0, 0.1],
                ..k
            },
        ];
        plain
            .iter()
            .flat_map(|l| {
                [
                    *l,
                    Law {
                        constant: 300.0,
                        ..l.squared()
                    },
                ]
            })
            .collect()
    }

    #[test]
    fn dead_zones_begin_at_the_rest_length_and_shift_what_lies_beyond() {
        let law = Law {
            dead: [0.01, 0.02],
            ..Law::spring(10.0)
        };
        for (e, force) in [
            (0.0, 0.0),
            (0.02, 0.0),
            (0.05, 0.3),
            (-0.01, 0.0),
            (-0.05, -0.4),
            (0.015, 0.0),
        ] {
            assert!((law.tension(e) - force).abs() < 1e-15, "{e}");
        }
        let square = law.squared();
        assert!((square.tension(0.05) - 10.0 * 0.03 * 0.03).abs() < 1e-15);
        assert!((square.tension(-0.05) + 10.0 * 0.04 * 0.04).abs() < 1e-15);
    }

    #[test]
    fn limits_clamp_the_force_and_make_elements_one_sided() {
        let law = Law {
            limit: [0.3, 0.2],
            ..Law::spring(10.0)
        };
        assert_eq!(
            [-1.0, -0.02, 0.01, 1.0].map(|e| law.tension(e)),
            [-0.3, -0.2, 0.1, 0.2]
        );
        let rope = Law::spring(10.0).pulling();
        assert_eq!([-0.5, 0.0, 0.5].map(|e| rope.tension(e)), [0.0, 0.0, 5.0]);
        let stop = Law::spring(10.0).pushing();
        assert_eq!([-0.5, 0.0, 0.5].map(|e| stop.tension(e)), [-5.0, 0.0, 0.0]);
    }

    #[test]
    fn energies_are_the_work_of_every_law() {
        for law in laws() {
            for e in [-0.05, -0.012, -0.002, 0.001, 0.011, 0.023, 0.06] {
                let (energy, work) = (law.energy(e), work(&law, e));
                assert!(
                    (energy - work).abs() < 1e-8,
                    "{law:?} at {e}: {energy} {work}"
                );
            }
            assert_eq!(law.energy(0.0), 0.0);
        }
    }

    #[test]
    fn every_law_is_continuous_and_no_steeper_than_it_says() {
        let rest = 0.06;
        for law in laws() {
            let most = law.stiffness(rest) * (1.0 + 1e-9);
            let d = 1e-6;
            for i in -60_000..60_000 {
                let e = f64::from(i) * d;
                let slope = (law.tension(e + d) - law.tension(e)) / d;
                assert!(
                    slope >= -1e-9 && slope <= most + 1e-9,
                    "{law:?} at {e}: {slope} of {most}"
                );
            }
        }
    }

    #[test]
    fn a_quadratic_spring_without_length_is_stiff_too() {
        let law = Law {
            gain: [0.5, 2.0],
            ..Law::spring(300.0).squared()
        };
        let most = law.stiffness(0.0);
        let d = 1e-6;
        let slope = (law.tension(LEAST_REACH) - law.tension(LEAST_REACH - d)) / d;
        assert!((slope / most - 1.0).abs() < 1e-3, "{slope} of {most}");
        assert_eq!(Law::spring(300.0).stiffness(0.0), 300.0);
    }

    #[test]
    fn a_tension_without_stretch_resists_across_the_line() {
        let law = Law::spring(50.0);
        assert_eq!(law.spring_slope(0.02, 1.0, 0.0), 50.0);
        assert!((law.spring_slope(0.02, 1.0, 0.3) - 80.0).abs() < 1e-12);
        // Two springs that differ by nothing anyone could see are judged alike, whoever holds them.
        let [none, little] = [0.0, 1e-9].map(|rest| law.spring_slope(rest, 1.0, 0.3));
        assert!(none == little && none.is_finite(), "{none} {little}");
    }

    #[test]
    fn what_is_discontinuous_is_refused() {
        let gap = [
            super::super::Piece {
                from: f64::NEG_INFINITY,
                gain: 1.0,
                shift: 0.0,
            },
            super::super::Piece {
                from: 0.01,
                gain: 1.0,
                shift: 0.002,
            },
        ];
        let gap = Law {
            pieces: Some(Pieces::new(&gap).unwrap()),
            ..Law::spring(1.0)
        };
        assert!(gap.objection().unwrap().contains("K38"));
        let pushed = Pieces::through(&[(-0.1, 0.0), (0.1, 0.1)]).unwrap();
        assert_eq!(
            Law {
                pieces: Some(pushed),
                ..Law::spring(1.0)
            }
            .objection(),
            None
        );
        let jump = Law {
            pieces: Some(pushed),
            ..Law::damper(1.0)
        };
        assert!(jump.objection().unwrap().contains("discontinuous"));
        let yielding = Some(Plastic::new(0.1, 0.0));
        assert!(
            Law {
                plastic: yielding,
                ..Law::damper(1.0)
            }
            .objection()
            .is_some()
        );
        assert!(
            Law {
                limit: [-0.1, 1.0],
                ..Law::spring(1.0)
            }
            .objection()
            .is_some()
        );
        assert!(
            Law {
                dead: [f64::NAN, 1.0],
                ..Law::spring(1.0)
            }
            .objection()
            .is_some()
        );
        assert!(
            Law {
                limit: [f64::NAN, 1.0],
                ..Law::spring(1.0)
            }
            .objection()
            .is_some()
        );
    }
}

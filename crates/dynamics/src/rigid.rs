//! The motion of one rigid body: a pure kernel and its derivative.

use crate::{Integrator, integrator::Coefficients};
use glam::{DMat3, DQuat, DVec3};
use serde::{Deserialize, Serialize};
use trocar_math::rotation::{self, outer};

/// How the free turn of a body is integrated (B19).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Turning {
    /// Turns about momentum, then about two axes of the body in turn: second order, symplectic, the same forwards and
    /// backwards. Angular momentum is kept to rounding and energy swings without drifting, however long it runs; balls, cubes and bodies
    /// with two equal moments turn exactly.
    #[default]
    Momentum,
    /// The classical Runge-Kutta scheme on Euler's equation and the quaternion: fourth order, drifts slowly.
    RungeKutta,
}

/// What resists the motion of a rigid body.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rigid {
    /// Principal moments of inertia, kg·m², about the axes of its frame. `None`: it never turns (K27).
    pub inertia: Option<DVec3>,
    /// Rotational damping, N·m·s/rad, taken at the new time (K23, K64).
    pub damping: f64,
    /// How it turns.
    pub turning: Turning,
    /// By which scheme torque and damping change its momentum, and its momentum its orientation (K64).
    pub integrator: Integrator,
    /// Torque at the start of the substep along the world's axes, N·m; for integrators that turn by it, too.
    pub first: DVec3,
}

/// How a body is placed and moves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Motion {
    /// Origin, m.
    pub position: DVec3,
    /// Velocity of the origin, m/s.
    pub velocity: DVec3,
    /// Orientation.
    pub orientation: DQuat,
    /// Angular velocity along the world's axes, rad/s.
    pub spin: DVec3,
    /// The turn of this substep, as a matrix: takes vectors of its start to its end.
    pub turn: DMat3,
}

impl Rigid {
    /// World inverse inertia at `orientation`, 1/(kg·m²).
    pub fn inverse_inertia(&self, orientation: DQuat) -> DMat3 {
        match self.inertia {
            Some(inertia) => conjugated(orientation, inertia.recip()),
            None => DMat3::ZERO,
        }
    }

    /// Orientation and spin after `h` seconds under `torque` (N·m).
    ///
    /// Torque acts at the start, damping is implicit as in the MESD scheme (3.67), and the free
    /// turn follows the spin at half the substep. Angular momentum in the world is carried over
    /// exactly, which a scheme in angles or without the gyroscopic term can't do.
    #[inline]
    pub fn turned(&self, orientation: DQuat, spin: DVec3, torque: DVec3, h: f64) -> (DQuat, DVec3) {
        match (self.inertia, self.turning) {
            (Some(inertia), Turning::RungeKutta) => {
                self.runge_kutta(inertia, orientation, spin, torque, h)
            }
            _ => self.turned_by(&rotation::from_scaled_axis, orientation, spin, torque, h),
        }
    }

    /// The same for a body in bonds that pull along the mean of their arms: it turns about its momentum by 2 atan(θ/2)
    /// instead of θ. Then every arm r moves by h ω × (r + r′)/2, so that what the bonds do to spin is what they do to
    /// places, and they do no work.
    #[inline]
    pub fn turned_in_bonds(
        &self,
        orientation: DQuat,
        spin: DVec3,
        torque: DVec3,
        h: f64,
    ) -> (DQuat, DVec3) {
        self.turned_by(&rotation::cayley, orientation, spin, torque, h)
    }

    #[inline(always)]
    fn turned_by(
        &self,
        about: &impl Fn(DVec3) -> DQuat,
        orientation: DQuat,
        spin: DVec3,
        torque: DVec3,
        h: f64,
    ) -> (DQuat, DVec3) {
        let Some(inertia) = self.inertia else {
            return (orientation, DVec3::ZERO);
        };
        if !self.integrator.is_plain() {
            let (next, driving) = self.momenta(inertia, orientation, spin, torque, h);
            let turn = Turn::of(&Split::of(inertia), driving, h, about);
            let end = unit(orientation * turn.rotation);
            // Momentum stays where it is in the world while the body turns under it.
            return (end, end * ((turn.rotation.conjugate() * next) / inertia));
        }
        let local = orientation.conjugate();
        let mut momentum = inertia * (local * spin);
        if torque != DVec3::ZERO {
            momentum += local * torque * h;
        }
        if self.damping > 0.0 {
            momentum /= DVec3::ONE + inertia.recip() * (self.damping * h);
        }
        let turn = Turn::of(&Split::of(inertia), momentum, h, about);
        let end = unit(orientation * turn.rotation);
        (end, end * (turn.momentum / inertia))
    }

    /// Numbers of the integrator about the three axes of the body.
    fn coefficients(&self, inertia: DVec3, h: f64) -> [Coefficients; 3] {
        [inertia.x, inertia.y, inertia.z].map(|i| self.integrator.coefficients(i, self.damping, h))
    }

    /// Angular momentum at the end of the substep, and the one by which the body turns in it, both in its frame at the start.
    fn momenta(
        &self,
        inertia: DVec3,
        orientation: DQuat,
        spin: DVec3,
        torque: DVec3,
        h: f64,
    ) -> (DVec3, DVec3) {
        let local = orientation.conjugate();
        let (momentum, torque, first) =
            (inertia * (local * spin), local * torque, local * self.first);
        let c = self.coefficients(inertia, h);
        let of = |get: fn(&Coefficients) -> f64| DVec3::new(get(&c[0]), get(&c[1]), get(&c[2]));
        let next = of(|c| c.gain) * inertia * (momentum + torque * h);
        let driving =
            of(|c| c.new) * next + of(|c| c.old) * momentum + of(|c| c.lead) * inertia * first * h;
        (next, driving)
    }

    /// Euler's equation (2.3) in the body's frame and the quaternion (2.4), by the classical scheme.
    fn runge_kutta(
        &self,
        inertia: DVec3,
        orientation: DQuat,
        spin: DVec3,
        torque: DVec3,
        h: f64,
    ) -> (DQuat, DVec3) {
        let rate = |q: DQuat, w: DVec3| {
            let turn = q * DQuat::from_xyzw(w.x, w.y, w.z, 0.0) * 0.5;
            let torque = q.conjugate() * torque - w * self.damping;
            (turn, (torque - w.cross(inertia * w)) / inertia)
        };
        let (q, w) = (orientation, orientation.conjugate() * spin);
        let at = |(dq, dw): (DQuat, DVec3), h: f64| (q + dq * h, w + dw * h);
        let k1 = rate(q, w);
        let (q2, w2) = at(k1, 0.5 * h);
        let k2 = rate(q2, w2);
        let (q3, w3) = at(k2, 0.5 * h);
        let k3 = rate(q3, w3);
        let (q4, w4) = at(k3, h);
        let k4 = rate(q4, w4);
        let end = (q + (k1.0 + k2.0 * 2.0 + k3.0 * 2.0 + k4.0) * (h / 6.0)).normalize();
        let w = w + (k1.1 + k2.1 * 2.0 + k3.1 * 2.0 + k4.1) * (h / 6.0);
        (end, end * w)
    }

    /// ∂ (turn at the end, rad) / ∂ (moment of an impulse at the start, N·m·s). That of [`Turning::RungeKutta`] is
    /// taken to be the same: it differs by the error of a substep.
    pub fn turn_response(&self, orientation: DQuat, spin: DVec3, torque: DVec3, h: f64) -> DMat3 {
        let Some(inertia) = self.inertia else {
            return DMat3::ZERO;
        };
        let r = DMat3::from_quat(orientation);
        if !self.integrator.is_plain() {
            let (_, driving) = self.momenta(inertia, orientation, spin, torque, h);
            let c = self.coefficients(inertia, h);
            let share = |c: Coefficients, i: f64| c.new * c.gain * i + c.old;
            let c = DVec3::new(
                share(c[0], inertia.x),
                share(c[1], inertia.y),
                share(c[2], inertia.z),
            );
            let response = turn_derivative(inertia, driving, h);
            return r * response * DMat3::from_diagonal(c) * r.transpose();
        }
        let damping = (DVec3::ONE + inertia.recip() * (self.damping * h)).recip();
        let local = orientation.conjugate();
        let momentum = (inertia * (local * spin) + local * torque * h) * damping;
        let response = turn_derivative(inertia, momentum, h);
        r * response * DMat3::from_diagonal(damping) * r.transpose()
    }
}

/// A free turn, seen from the body's frame at its start.
pub(crate) struct Turn {
    /// By which rotation.
    pub rotation: DQuat,
    /// Angular momentum in the body's frame at the end.
    pub momentum: DVec3,
}

/// Moments that differ by less than this part of themselves are equal.
const EQUAL: f64 = 1e-12;

/// How the turn of a body is split: about its momentum as if all moments were the middle one, and about the two other axes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Split {
    /// The axes of the two other moments.
    axes: [usize; 2],
    /// One over the middle moment, 1/(kg·m²).
    common: f64,
    /// By how much one over each other moment exceeds that.
    excess: [f64; 2],
}

impl Split {
    /// That of a body with the moments `inertia`, kg·m².
    #[inline]
    pub fn of(inertia: DVec3) -> Self {
        let DVec3 { x, y, z } = inertia;
        let middle = if (x <= y) == (y <= z) {
            1
        } else if (y <= x) == (x <= z) {
            0
        } else {
            2
        };
        let axes = [(middle + 1) % 3, (middle + 2) % 3];
        let common = 1.0 / inertia[middle];
        let excess = |k: usize| {
            let more = 1.0 / inertia[k] - common;
            if more.abs() < EQUAL * common {
                0.0
            } else {
                more
            }
        };
        Self {
            axes,
            common,
            excess: [excess(axes[0]), excess(axes[1])],
        }
    }
}

impl Turn {
    /// The turn of a body that is split as `split` and has the angular momentum `momentum` (N·m·s, along its axes) in `h`
    /// seconds.
    ///
    /// The energy ½ Σ Lᵢ²/Iᵢ is split into L²/2I₀ with the middle moment I₀, whose flow turns about L and commutes with all
    /// others, and ½ Lᵢ² (1/Iᵢ − 1/I₀) for the two other axes, whose flows turn about these axes. Each is exact; the
    /// two of the axes are composed symmetrically, half of one on either side of the other.
    /// `about` says how far to turn about momentum.
    #[inline(always)]
    pub fn of(split: &Split, momentum: DVec3, h: f64, about: impl Fn(DVec3) -> DQuat) -> Self {
        let Split {
            axes: [i, j],
            common,
            excess: [more_i, more_j],
        } = *split;
        let mut turn = Self {
            rotation: about(momentum * (common * h)),
            momentum,
        };
        let half = 0.5 * h;
        if more_j == 0.0 {
            turn.about(i, more_i * h);
        } else if more_i == 0.0 {
            turn.about(j, more_j * h);
        } else {
            turn.about(i, more_i * half);
            turn.about(j, more_j * h);
            turn.about(i, more_i * half);
        }
        turn
    }

    /// Turns on about its own axis `k`, by `rate` rad for each N·m·s of momentum there.
    #[inline]
    fn about(&mut self, k: usize, rate: f64) {
        let DQuat { x, y, z, w } = self.rotation;
        let m = self.momentum;
        // About one axis only two numbers mix, in the quaternion twice.
        match k {
            0 => {
                let Some(a) = HalfTurn::of(rate * m.x) else {
                    return;
                };
                let ((w, x), (z, y)) = (a.mix(w, x), a.mix(z, y));
                self.rotation = DQuat::from_xyzw(x, y, z, w);
                let (y, z) = a.back(m.y, m.z);
                self.momentum = DVec3::new(m.x, y, z);
            }
            1 => {
                let Some(a) = HalfTurn::of(rate * m.y) else {
                    return;
                };
                let ((w, y), (x, z)) = (a.mix(w, y), a.mix(x, z));
                self.rotation = DQuat::from_xyzw(x, y, z, w);
                let (z, x) = a.back(m.z, m.x);
                self.momentum = DVec3::new(x, m.y, z);
            }
            _ => {
                let Some(a) = HalfTurn::of(rate * m.z) else {
                    return;
                };
                let ((w, z), (y, x)) = (a.mix(w, z), a.mix(y, x));
                self.rotation = DQuat::from_xyzw(x, y, z, w);
                let (x, y) = a.back(m.x, m.y);
                self.momentum = DVec3::new(x, y, m.z);
            }
        }
    }
}

/// Sine and cosine of half an angle.
struct HalfTurn {
    sine: f64,
    cosine: f64,
}

impl HalfTurn {
    /// None for no turn at all.
    #[inline(always)]
    fn of(angle: f64) -> Option<Self> {
        if angle == 0.0 {
            return None;
        }
        let (sine, cosine) = rotation::half_sin_cos(angle);
        Some(Self { sine, cosine })
    }

    /// Two numbers of a quaternion after this turn is added on its right: the first loses what the second gains.
    #[inline(always)]
    fn mix(&self, a: f64, b: f64) -> (f64, f64) {
        (
            a * self.cosine - b * self.sine,
            b * self.cosine + a * self.sine,
        )
    }

    /// The numbers of a vector along the next two axes, seen after the whole turn.
    #[inline(always)]
    fn back(&self, a: f64, b: f64) -> (f64, f64) {
        let (s, c) = (
            2.0 * self.sine * self.cosine,
            1.0 - 2.0 * self.sine * self.sine,
        );
        (c * a + s * b, c * b - s * a)
    }
}

impl Turn {
    /// ∂ (turn, rad, in the body's frame at the start) / ∂ `momentum` of [`of`](Self::of). `about` gives the turn about a vector,
    /// and its own derivative.
    #[inline(always)]
    pub fn derivative(
        split: &Split,
        momentum: DVec3,
        h: f64,
        about: impl Fn(DVec3) -> (DQuat, DMat3),
    ) -> DMat3 {
        let Split {
            axes: [i, j],
            common,
            excess: [more_i, more_j],
        } = *split;
        let scaled = common * h;
        let (rotation, derivative) = about(momentum * scaled);
        let mut turned = derivative * scaled;
        if more_i == 0.0 || more_j == 0.0 {
            // One more turn at most, about an axis along which momentum is as it was.
            let (k, rate) = if more_j == 0.0 {
                (i, more_i * h)
            } else {
                (j, more_j * h)
            };
            let axis = DMat3::from_quat(rotation).col(k) * rate;
            *turned.col_mut(k) += axis;
            return turned;
        }
        let mut turn = Self { rotation, momentum };
        let mut carried = DMat3::IDENTITY;
        for (k, rate) in [
            (i, 0.5 * more_i * h),
            (j, more_j * h),
            (i, 0.5 * more_i * h),
        ] {
            let axis = DVec3::AXES[k];
            // How the angle of this turn answers, and then what is left of the momentum after it.
            let angle = carried.transpose() * axis * rate;
            turned += outer(turn.rotation * axis, angle);
            turn.about(k, rate);
            let back = rotation::from_scaled_axis(axis * (-rate * turn.momentum[k]));
            carried = DMat3::from_quat(back) * carried - outer(axis.cross(turn.momentum), angle);
        }
        turned
    }
}

/// ∂ (turn, rad, in the body's frame at the start) / ∂ `momentum` of a free turn.
fn turn_derivative(inertia: DVec3, momentum: DVec3, h: f64) -> DMat3 {
    let exponential = |v: DVec3| (rotation::from_scaled_axis(v), rotation::left_jacobian(v));
    Turn::derivative(&Split::of(inertia), momentum, h, exponential)
}

/// How a small change of `spin` at the start shows in the turn of `h` seconds of a body whose axes are `axes`, for each second.
/// `mean`: it turns as bodies do whose bonds pull along mean arms.
pub(crate) fn turning(
    split: &Split,
    moments: DVec3,
    axes: DMat3,
    spin: DVec3,
    (mean, h): (bool, f64),
) -> DMat3 {
    let momentum = moments * (axes.transpose() * spin);
    let local = if mean {
        Turn::derivative(split, momentum, h, |v| {
            let share = 1.0 / (1.0 + 0.25 * v.length_squared());
            let turn = (DMat3::IDENTITY + rotation::skew(v * 0.5)) * share;
            (rotation::cayley(v), turn)
        })
    } else {
        Turn::derivative(split, momentum, h, |v| {
            (rotation::from_scaled_axis(v), rotation::left_jacobian(v))
        })
    };
    let m = moments / h;
    let felt = DMat3::from_cols(local.x_axis * m.x, local.y_axis * m.y, local.z_axis * m.z);
    axes * felt * axes.transpose()
}

/// A quaternion that is a unit one up to rounding, made one to rounding: cheaper than a division by its length.
#[inline]
fn unit(q: DQuat) -> DQuat {
    q * (1.5 - 0.5 * q.length_squared())
}

/// The matrix `diagonal` of a body's frame, along the world's axes.
fn conjugated(orientation: DQuat, diagonal: DVec3) -> DMat3 {
    let r = DMat3::from_quat(orientation);
    r * DMat3::from_diagonal(diagonal) * r.transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOOK: Rigid = Rigid {
        inertia: Some(DVec3::new(0.2, 0.5, 0.9)),
        damping: 0.0,
        turning: Turning::Momentum,
        integrator: Integrator::Mesd,
        first: DVec3::ZERO,
    };

    fn tilted() -> DQuat {
        rotation::from_scaled_axis(DVec3::new(0.3, -0.4, 1.1))
    }

    fn momentum(q: DQuat, spin: DVec3) -> DVec3 {
        q * (BOOK.inertia.unwrap() * (q.conjugate() * spin))
    }

    #[test]
    fn a_free_spin_keeps_its_angular_momentum_and_nearly_its_energy() {
        let (mut q, mut w) = (tilted(), DVec3::new(3.0, 5.0, -2.0));
        let (l0, e0) = (momentum(q, w), 0.5 * momentum(q, w).dot(w));
        for _ in 0..10_000 {
            (q, w) = BOOK.turned(q, w, DVec3::ZERO, 1e-3);
        }
        assert!((momentum(q, w) - l0).length() < 1e-11 * l0.length());
        assert!((0.5 * momentum(q, w).dot(w) / e0 - 1.0).abs() < 1e-4);
    }

    #[test]
    fn energy_does_not_drift_at_a_coarse_step() {
        // Up to 0.3 rad a step, a quarter of an hour long.
        let (mut q, mut w) = (tilted(), DVec3::new(3.0, 5.0, -2.0));
        let energy = |q, w| 0.5 * momentum(q, w).dot(w);
        let e0 = energy(q, w);
        let (mut early, mut late) = (0.0_f64, 0.0_f64);
        for k in 0..20_000 {
            (q, w) = BOOK.turned(q, w, DVec3::ZERO, 0.05);
            let off = (energy(q, w) / e0 - 1.0).abs();
            let side = if k < 1000 { &mut early } else { &mut late };
            *side = side.max(off);
        }
        assert!(early < 0.02, "{early}");
        assert!(late < 1.05 * early, "{late} after {early}");
    }

    #[test]
    fn turning_back_undoes_a_turn() {
        let (q, w) = (tilted(), DVec3::new(3.0, 5.0, -2.0));
        let (q1, w1) = BOOK.turned(q, w, DVec3::ZERO, 0.1);
        let (q2, w2) = BOOK.turned(q1, -w1, DVec3::ZERO, 0.1);
        assert!(q2.dot(q).abs() > 1.0 - 1e-14);
        assert!((w2 + w).length() < 1e-12);
    }

    #[test]
    fn two_equal_moments_turn_exactly() {
        // The axis of a symmetric top goes round its momentum at |L|/I.
        let top = Rigid {
            inertia: Some(DVec3::new(0.3, 0.3, 0.8)),
            ..BOOK
        };
        let (q, w) = (tilted(), DVec3::new(3.0, 5.0, -2.0));
        let l = q * (DVec3::new(0.3, 0.3, 0.8) * (q.conjugate() * w));
        let (end, _) = top.turned(q, w, DVec3::ZERO, 0.2);
        let expected = rotation::from_scaled_axis(l / 0.3 * 0.2) * (q * DVec3::Z);
        assert!((end * DVec3::Z - expected).length() < 1e-13);
    }

    #[test]
    fn damping_follows_the_closed_form() {
        let rigid = Rigid {
            inertia: Some(DVec3::splat(0.5)),
            damping: 0.1,
            ..BOOK
        };
        let (mut q, mut w) = (DQuat::IDENTITY, DVec3::Z);
        for _ in 0..100 {
            (q, w) = rigid.turned(q, w, DVec3::ZERO, 0.01);
        }
        let expected = 1.0 / trocar_math::real::pow(1.0 + 0.1 * 0.01 / 0.5, 100.0);
        assert!((w.z - expected).abs() < 1e-13);
    }

    #[test]
    fn the_response_is_the_derivative_of_the_turn() {
        let schemes = Integrator::ALL.map(|i| (0.7, i));
        for (damping, integrator) in schemes.into_iter().chain([(0.0, Integrator::Mesd)]) {
            let rigid = Rigid {
                damping,
                integrator,
                first: DVec3::new(-2.0, 1.0, 0.5),
                ..BOOK
            };
            let (q, w, torque, h) = (
                tilted(),
                DVec3::new(3.0, 5.0, -2.0),
                DVec3::new(1.0, 0.0, -4.0),
                0.05,
            );
            let response = rigid.turn_response(q, w, torque, h);
            let reference = rigid.turned(q, w, torque, h).0;
            for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
                let e = 1e-6;
                let turned = |e: f64| {
                    let kicked = w + rigid.inverse_inertia(q) * axis * e;
                    rotation::to_scaled_axis(
                        rigid.turned(q, kicked, torque, h).0 * reference.conjugate(),
                    )
                };
                let measured = (turned(e) - turned(-e)) / (2.0 * e);
                assert!(
                    (response * axis - measured).length() < 1e-8,
                    "{response} {measured}"
                );
            }
        }
    }

    #[test]
    fn a_body_without_inertia_never_turns() {
        let rigid = Rigid {
            inertia: None,
            ..BOOK
        };
        let (q, w) = rigid.turned(tilted(), DVec3::ONE, DVec3::ONE, 0.1);
        assert_eq!((q, w), (tilted(), DVec3::ZERO));
    }
}

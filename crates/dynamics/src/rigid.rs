//! The motion of one rigid body: a pure kernel and its derivative.

use glam::{DMat3, DQuat, DVec3};
use serde::{Deserialize, Serialize};
use trocar_math::{rotation, skew};

/// How the free turn of a body is integrated (B19).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Turning {
    /// Follows the spin at half the substep and carries angular momentum over exactly: second order, and no drift of
    /// momentum however long it runs.
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

/// The intermediate values that the turn and its derivative share.
struct Spinning {
    /// Damped angular momentum of the substep, N·m·s.
    momentum: DVec3,
    /// Spin at the start, after torque and damping.
    start: DVec3,
    /// Spin at half the substep.
    middle: DVec3,
    /// World inverse inertia at the start, and at half the substep.
    inverse: [DMat3; 2],
    /// ∂ momentum / ∂ impulse moment: the damping, along the world's axes.
    damping: DMat3,
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
        let Some(inertia) = self.inertia else {
            return (orientation, DVec3::ZERO);
        };
        if self.turning == Turning::RungeKutta {
            return self.runge_kutta(inertia, orientation, spin, torque, h);
        }
        // All in the body's frame at the start, where inertia is three numbers.
        let local = orientation.conjugate();
        let inverse = inertia.recip();
        let mut momentum = inertia * (local * spin) + local * torque * h;
        if self.damping > 0.0 {
            momentum /= DVec3::ONE + inverse * (self.damping * h);
        }
        let half = rotation::from_scaled_axis(momentum * inverse * (0.5 * h));
        let middle = half * (inverse * (half.conjugate() * momentum));
        let turn = rotation::from_scaled_axis(middle * h);
        let end = unit(orientation * turn);
        (end, end * (inverse * (turn.conjugate() * momentum)))
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

    /// ∂ (turn at the end, rad) / ∂ (moment of an impulse at the start, N·m·s).
    pub fn turn_response(&self, orientation: DQuat, spin: DVec3, torque: DVec3, h: f64) -> DMat3 {
        let Some(s) = self.spinning(orientation, spin, torque, h) else {
            return DMat3::ZERO;
        };
        let [inverse, inverse_middle] = s.inverse;
        let half_turn = rotation::left_jacobian(s.start * (0.5 * h)) * inverse * (0.5 * h);
        let carried = inverse_middle * skew(s.momentum) - skew(s.middle);
        let middle = inverse_middle + carried * half_turn;
        rotation::left_jacobian(s.middle * h) * middle * s.damping * h
    }

    fn spinning(&self, orientation: DQuat, spin: DVec3, torque: DVec3, h: f64) -> Option<Spinning> {
        let inertia = self.inertia?;
        let damping = (DVec3::ONE + inertia.recip() * (self.damping * h)).recip();
        let local = orientation.conjugate();
        let momentum = orientation * ((inertia * (local * spin) + local * torque * h) * damping);
        let inverse = self.inverse_inertia(orientation);
        let start = inverse * momentum;
        let half = rotation::from_scaled_axis(start * (0.5 * h)) * orientation;
        let inverse_middle = self.inverse_inertia(half);
        Some(Spinning {
            momentum,
            start,
            middle: inverse_middle * momentum,
            inverse: [inverse, inverse_middle],
            damping: conjugated(orientation, damping),
        })
    }
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
        for damping in [0.0, 0.7] {
            let rigid = Rigid { damping, ..BOOK };
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

//! Connection elements (K30–K45): the mathematics of one element each.

mod active;
mod kuhn;
mod law;
mod pieces;
mod plastic;

pub use active::{Active, Drive, Driven, Signal};
pub use kuhn::{KuhnElement, KuhnError, KuhnLaw, bits, signed_spring};
pub use law::{Base, Input, Law};
pub(crate) use law::{LEAST_LENGTH, LEAST_REACH};
pub use pieces::{MOST_PIECES, Piece, Pieces};
pub use plastic::Plastic;

use glam::{DQuat, DVec3};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;
use trocar_math::{angle, rotation};

/// Shorter than this (m) an element has no direction, and so no force: a thousandth of a micron,
/// far below any cell of tissue.
pub(crate) const NO_LENGTH: f64 = 1e-12;

/// An element between two nodes (K30). Equal and opposite forces. Any number of them may join the same two nodes (K37).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Element {
    /// Indices of the nodes.
    pub nodes: [u32; 2],
    /// Length at which a spring is at rest, m, ≥ 0.
    pub rest_length: f64,
    /// Its law.
    pub law: Law,
}

impl Element {
    /// The same element, its rest length reduced by the part `reduction` of itself, from 0 to 1: l₀ = L (1 − r). It is
    /// under tension then where it was at rest (K43).
    pub fn shortened(self, reduction: f64) -> Self {
        Self {
            rest_length: self.rest_length * (1.0 - reduction),
            ..self
        }
    }
}

/// Tension of a spring of `length` m, N: F(Δe); positive draws its ends together.
#[inline]
pub fn spring_tension(length: f64, rest_length: f64, law: &Law) -> f64 {
    law.tension(length - rest_length)
}

/// Energy of a spring of `length` m, J: the integral of its tension from the rest length on.
pub fn spring_energy(length: f64, rest_length: f64, law: &Law) -> f64 {
    law.energy(length - rest_length)
}

/// Force (N) on the first node of a spring, `apart` = x₁ − x₂ (m): −F(Δe) r (3.27–3.37).
#[inline]
pub fn spring_force(apart: DVec3, rest_length: f64, law: &Law) -> DVec3 {
    let length = apart.length();
    if length < NO_LENGTH {
        return DVec3::ZERO;
    }
    apart * (-spring_tension(length, rest_length, law) / length)
}

/// Force (N) on the first node of a damper, `relative` = v₁ − v₂ (m/s). It acts along the relative
/// velocity (3.28, 3.30), so it keeps linear momentum but not angular momentum.
#[inline]
pub fn damper_force(relative: DVec3, law: &Law) -> DVec3 {
    if let Some(damping) = law.linear_damping() {
        return relative * -damping;
    }
    let speed = relative.length();
    if speed < NO_LENGTH {
        return DVec3::ZERO;
    }
    relative * (-law.tension(speed) / speed)
}

/// Force (N) that draws a node back to its base position (K25, K47, (3.44)), `apart` = u − u₀ (m).
/// `constant` in N/m or N/m².
#[inline]
pub fn memory_force(apart: DVec3, constant: f64, base: Base) -> DVec3 {
    match base {
        Base::Linear => apart * -constant,
        Base::Quadratic => apart * (-constant * apart.length()),
    }
}

/// Energy of a node's shape memory, J; its gradient is [`memory_force`].
pub fn memory_energy(apart: DVec3, constant: f64, base: Base) -> f64 {
    base.energy(constant, apart.length())
}

/// Torque (N·m) that turns a frame back to its reference orientation (K40, (3.39) with the
/// restoring sign), `constant` in N·m/rad.
pub fn torsion_torque(orientation: DQuat, reference: DQuat, constant: f64) -> DVec3 {
    rotation::to_scaled_axis(orientation * reference.conjugate()) * -constant
}

/// Energy of a torsion element, J; [`torsion_torque`] is its gradient for any turn, up to half of one.
pub fn torsion_energy(orientation: DQuat, reference: DQuat, constant: f64) -> f64 {
    let turn = rotation::to_scaled_axis(orientation * reference.conjugate());
    0.5 * constant * turn.length_squared()
}

/// Bends and twists fade where their arms are shorter than this part of what they are at rest: their slopes grow with one over the length, and over its
/// square, and no step would be short enough for nodes that are pressed together.
pub const FADES: f64 = 0.5;

/// By how much an element about the main axis fades whose arm is `part` of the length where it begins to: 1 from there on, of the order of its square near 0, and
/// with one slope, the second number, where both meet.
fn faded(part: f64) -> (f64, f64) {
    if part >= 1.0 {
        return (1.0, 0.0);
    }
    let square = part * part;
    (square * (2.0 - square), 4.0 * part * (1.0 - square))
}

/// Torque (N·m) that turns the main axis of a frame as it was built, `axis` (m), along the main axis `main` (m), `constant` in N·m/rad, and the force (N) on the node
/// that `main` leads to: the one that it comes from gets the opposite. Together they have the moment that the frame does not have, so that
/// angular momentum is kept. Where `main` is shorter than [`FADES`] says, both fade, and a force along it makes up for it.
pub fn twist(axis: DVec3, main: DVec3, constant: f64) -> (DVec3, DVec3) {
    let square = main.length_squared();
    let Some(about) = axis.cross(main).try_normalize() else {
        return (DVec3::ZERO, DVec3::ZERO);
    };
    let (reach, length) = (FADES * axis.length(), square.sqrt());
    let (part, slope) = faded(length / reach);
    let apart = angle(axis, main);
    let torque = about * (constant * apart * part);
    let along = main * (0.5 * constant * apart * apart * slope / (reach * length));
    (torque, main.cross(torque) / square - along)
}

/// Bounds from rows count two members of an element, and this has three, a frame and two nodes: so much stiffer it counts.
pub const TWIST_MEMBERS: f64 = 1.5;

/// Energy of such an element, J; [`twist`] is its gradient.
pub fn twist_energy(axis: DVec3, main: DVec3, constant: f64) -> f64 {
    let apart = angle(axis, main);
    let (part, _) = faded(main.length() / (FADES * axis.length()));
    0.5 * constant * apart * apart * part
}

/// Greatest slope of such an element for the nodes of its main axis, `length` m apart at rest, N/m, whatever their distance is, and turned by up to a
/// quarter of a turn. It is that of nodes close to each other, where what fades draws along the axis as well.
pub fn twist_stiffness(constant: f64, length: f64) -> f64 {
    let reach = FADES * length.max(NO_LENGTH);
    9.3 * constant / (reach * reach)
}

/// The same where the nodes are `length` m apart now, `rest` m at rest, and `apart` rad is between them and the frame.
pub fn twist_stiffness_now(constant: f64, length: f64, rest: f64, apart: f64) -> f64 {
    if length <= 1.1 * FADES * rest {
        return twist_stiffness(constant, rest);
    }
    // Along the circle 1, along the axis 0, both together the angle: the greatest principal value.
    (0.5 + (0.25 + apart * apart).sqrt()) * constant / (length * length)
}

/// How a bending element is built: what it rests at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bent {
    /// The angle between its arms, rad.
    pub angle: f64,
    /// How long its arms are, m.
    pub arms: [f64; 2],
}

impl Bent {
    /// With arms `to_i` = u_k − u_i and `to_j` = u_k − u_j, m.
    pub fn new(to_i: DVec3, to_j: DVec3) -> Self {
        Self {
            angle: bending_angle(to_i, to_j),
            arms: [to_i.length(), to_j.length()],
        }
    }

    /// The part of its force that it has with such arms (m): less where one is shorter than [`FADES`] says.
    fn part(&self, to_i: DVec3, to_j: DVec3) -> f64 {
        let part = |arm: DVec3, rest: f64| arm.length() / (FADES * rest.max(NO_LENGTH));
        (part(to_i, self.arms[0]).min(part(to_j, self.arms[1]))).min(1.0)
    }

    /// The shortest that its arms count for its stiffness, m.
    pub fn shortest(&self) -> f64 {
        FADES * self.arms[0].min(self.arms[1])
    }
}

/// The part of a bending element's force that its neighbour `i` takes, from 0 to 1; `j` takes the rest. It is that of a lever: the longer arm bears less, each half if they
/// are alike.
fn bending_lever(to_i: DVec3, to_j: DVec3) -> f64 {
    let (i, j) = (to_i.length(), to_j.length());
    j / (i + j).max(NO_LENGTH)
}

/// Forces (N) on neighbour `i`, the middle node `k` and neighbour `j` of a bending element: [`bending_force`] and its reactions (the printed law gives none), so that neither momentum nor angular
/// momentum is lost.
pub fn bending_forces(to_i: DVec3, to_j: DVec3, constant: f64, rest: &Bent) -> [DVec3; 3] {
    let force = bending_force(to_i, to_j, constant, rest);
    let lever = bending_lever(to_i, to_j);
    [force * -lever, force, force * (lever - 1.0)]
}

/// Force (N) on the middle node `k` of a bending element (K41, (3.40)).
///
/// `to_i` = u_k − u_i, `to_j` = u_k − u_j (m), `constant` in N/rad, `rest` how it was built.
/// The force acts along s = 2 (λ (u_k − u_i) + (1 − λ)(u_k − u_j)), with λ the lever of `i`: there it exerts no moment. With arms of one length that is the printed
/// 2u_k − u_i − u_j; with others the printed one lies all but along the line, and would push the middle to and fro instead of bending it back. On a straight line there is no direction to bend to, and the printed law jumps
/// from k (π − rest) to its opposite there unless it is straight at rest (K38). So where the line is bent less than half as much as at rest, the
/// force grows with |s| from nothing, in no place faster than [`bending_stiffness`] says. Nor does it where the arms are short: there it fades with
/// the shorter one.
pub fn bending_force(to_i: DVec3, to_j: DVec3, constant: f64, rest: &Bent) -> DVec3 {
    let lever = bending_lever(to_i, to_j);
    let s = (to_i * lever + to_j * (1.0 - lever)) * 2.0;
    let length = s.length();
    if length == 0.0 {
        return DVec3::ZERO;
    }
    let reach = fading_reach(to_i, to_j, rest.angle).max(length);
    let constant = constant * rest.part(to_i, to_j);
    s * (constant * (angle(to_i, to_j) - rest.angle) / reach)
}

/// What the neighbours of a bending element take of its force, N: positive pushes the middle away from the line between them.
pub fn bending_shares(to_i: DVec3, to_j: DVec3, constant: f64, rest: &Bent) -> [f64; 2] {
    let force = bending_force(to_i, to_j, constant, rest);
    let lever = bending_lever(to_i, to_j);
    let pushed = force.dot((to_i * lever + to_j * (1.0 - lever)).normalize_or_zero());
    [pushed * lever, pushed * (1.0 - lever)]
}

/// The length of the arms of a bending element, m: of different ones the harmonic mean, which is that of a pair alike that bends as easily.
fn bending_arm(to_i: DVec3, to_j: DVec3) -> f64 {
    2.0 * bending_lever(to_i, to_j) * to_i.length()
}

/// Below which |s| a bending element pushes less than its law says, m.
fn fading_reach(to_i: DVec3, to_j: DVec3, rest: f64) -> f64 {
    0.5 * bending_arm(to_i, to_j) * (PI - rest)
}

/// Energy of a bending element, J.
///
/// With arms of equal length L the force does the work ½ F ds along s = |2u_k − u_i − u_j| = 2 L sin(θ/2), θ = π − angle, so
/// that V = ½ k L ∫ (θ − θ₀) cos(θ/2) dθ, and ½ k L²/r ∫ (θ − θ₀) sin θ dθ below the reach r where it fades; k is less where the arms are short. The law has no energy in general: it depends
/// on the angle alone and yet acts along a line whose length depends on the arms as well, so the work of stretching them while bent is not counted. Arms of
/// different lengths count as their harmonic mean. Near a straight rest the error is of the second order in θ.
pub fn bending_energy(to_i: DVec3, to_j: DVec3, constant: f64, rest: &Bent) -> f64 {
    use trocar_math::real::{acos, cos, sin};
    let arm = bending_arm(to_i, to_j);
    let (bent, start) = (PI - angle(to_i, to_j), PI - rest.angle);
    let whole = |bent: f64| {
        2.0 * (bent - start) * sin(0.5 * bent) + 4.0 * (cos(0.5 * bent) - cos(0.5 * start))
    };
    // Where |s| is the reach: cos θ = 1 − 2 sin²(θ/2), and sin(θ/2) = r/2L.
    let half = 0.25 * start;
    let edge = acos(1.0 - 2.0 * half * half);
    let swept = if bent < edge {
        let below = |bent: f64| (start - bent) * cos(bent) + sin(bent);
        whole(edge) + (below(bent) - below(edge)) / (2.0 * half)
    } else {
        whole(bent)
    };
    0.5 * constant * rest.part(to_i, to_j) * arm * swept
}

/// Greatest slope of a bending element whose nodes are `spacing` m apart and no nearer, N/m. For a straight one the
/// force on the middle node is −(k/L)(2u_k − u_i − u_j).
pub fn bending_stiffness(constant: f64, spacing: f64) -> f64 {
    4.0 * constant / spacing.max(NO_LENGTH)
}

/// The angle at a node between its neighbours, rad; π on a straight line.
pub fn bending_angle(to_i: DVec3, to_j: DVec3) -> f64 {
    let angle = angle(to_i, to_j);
    // A line straight to rounding is straight: its bending force would have a random direction.
    if PI - angle < 1e-7 { PI } else { angle }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: DVec3, b: DVec3) -> bool {
        (a - b).length() < 1e-12
    }

    fn bent_at(angle: f64, arm: f64) -> Bent {
        Bent {
            angle,
            arms: [arm; 2],
        }
    }

    #[test]
    fn springs_follow_hooke_and_its_square() {
        let apart = DVec3::new(0.03, 0.0, 0.0);
        let linear = Law::spring(10.0);
        assert!(close(spring_force(apart, 0.02, &linear), DVec3::X * -0.1));
        assert!(close(spring_force(apart, 0.04, &linear), DVec3::X * 0.1));
        let square = Law {
            base: Base::Quadratic,
            ..linear
        };
        assert!(close(spring_force(apart, 0.02, &square), DVec3::X * -1e-3));
        assert!(close(spring_force(apart, 0.04, &square), DVec3::X * 1e-3));
        assert_eq!(spring_force(DVec3::ZERO, 0.04, &linear), DVec3::ZERO);
        // Shortened by a quarter it pulls where it was at rest (K43).
        let element = Element {
            nodes: [0, 1],
            rest_length: 0.03,
            law: linear,
        };
        let shortened = element.shortened(0.25);
        assert!(close(
            spring_force(apart, shortened.rest_length, &linear),
            DVec3::X * -0.075
        ));
    }

    #[test]
    fn gains_make_an_element_one_sided() {
        let rope = Law {
            gain: [0.0, 2.0],
            ..Law::spring(10.0)
        };
        assert_eq!(spring_force(DVec3::X * 0.01, 0.02, &rope), DVec3::ZERO);
        assert!(close(
            spring_force(DVec3::X * 0.03, 0.02, &rope),
            DVec3::X * -0.2
        ));
        assert_eq!(rope.stiffness(0.02), 20.0);
    }

    #[test]
    fn dampers_oppose_the_relative_velocity() {
        let relative = DVec3::new(0.0, 2.0, 0.0);
        assert!(close(
            damper_force(relative, &Law::damper(3.0)),
            DVec3::Y * -6.0
        ));
        let square = Law {
            base: Base::Quadratic,
            ..Law::damper(3.0)
        };
        assert!(close(damper_force(relative, &square), DVec3::Y * -12.0));
    }

    #[test]
    fn forces_of_springs_and_memory_are_gradients() {
        let apart = DVec3::new(0.02, -0.01, 0.03);
        for base in [Base::Linear, Base::Quadratic] {
            let law = Law {
                base,
                ..Law::spring(7.0)
            };
            let energy = |x: f64| match base {
                Base::Linear => 0.5 * 7.0 * x * x,
                Base::Quadratic => 7.0 * x * x * x.abs() / 3.0,
            };
            for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
                let e = 1e-7;
                let slope = |f: &dyn Fn(DVec3) -> f64| {
                    (f(apart + axis * e) - f(apart - axis * e)) / (2.0 * e)
                };
                let spring = slope(&|a| energy(a.length() - 0.03));
                assert!((spring + spring_force(apart, 0.03, &law).dot(axis)).abs() < 1e-8);
                let memory = slope(&|a| energy(a.length()));
                assert!((memory + memory_force(apart, 7.0, base).dot(axis)).abs() < 1e-8);
            }
        }
    }

    #[test]
    fn energies_are_the_work_of_the_forces() {
        let e = 1e-6;
        for base in [Base::Linear, Base::Quadratic] {
            for gain in [[1.0, 1.0], [0.5, 2.0], [0.0, 3.0]] {
                let law = Law {
                    base,
                    gain,
                    ..Law::spring(7.0)
                };
                for length in [0.011, 0.029, 0.031, 0.08] {
                    let slope = (spring_energy(length + e, 0.03, &law)
                        - spring_energy(length - e, 0.03, &law))
                        / (2.0 * e);
                    assert!((slope - spring_tension(length, 0.03, &law)).abs() < 1e-8);
                }
                assert_eq!(spring_energy(0.03, 0.03, &law), 0.0);
            }
            let apart = DVec3::new(0.02, -0.01, 0.03);
            for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
                let energy = |x: f64| memory_energy(apart + axis * x, 7.0, base);
                let slope = (energy(e) - energy(-e)) / (2.0 * e);
                assert!((slope + memory_force(apart, 7.0, base).dot(axis)).abs() < 1e-8);
            }
        }
        let reference = rotation::from_scaled_axis(DVec3::new(0.5, 0.1, -0.3));
        let turned = rotation::from_scaled_axis(DVec3::new(1.0, -1.4, 0.8)) * reference;
        for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
            let energy = |x: f64| {
                torsion_energy(
                    rotation::from_scaled_axis(axis * x) * turned,
                    reference,
                    5.0,
                )
            };
            let slope = (energy(e) - energy(-e)) / (2.0 * e);
            assert!((slope + torsion_torque(turned, reference, 5.0).dot(axis)).abs() < 1e-7);
        }
    }

    #[test]
    fn bending_energy_is_work_for_equal_arms_and_nearly_so_when_almost_straight() {
        let e = 1e-7;
        // Equal arms, the middle node moved along the bisector and the neighbours so that the arms stay as they are.
        for (bend, rest) in [
            (0.3, PI),
            (1.2, PI),
            (0.9, PI - 0.4),
            (0.1, PI - 0.4),
            (0.3, PI - 1.2),
        ] {
            let at = |bend: f64| {
                let (s, c) = trocar_math::real::sin_cos(0.5 * bend);
                (DVec3::new(c, s, 0.0) * 0.02, DVec3::new(-c, s, 0.0) * 0.02)
            };
            let energy = |bend: f64| {
                let (i, j) = at(bend);
                bending_energy(i, j, 2.0, &bent_at(rest, 0.02))
            };
            let slope = (energy(bend + e) - energy(bend - e)) / (2.0 * e);
            let (i, j) = at(bend);
            let force = bending_force(i, j, 2.0, &bent_at(rest, 0.02));
            let way =
                (at(bend + e).0 + at(bend + e).1 - at(bend - e).0 - at(bend - e).1) / (2.0 * e);
            assert!((slope + 0.5 * force.dot(way)).abs() < 1e-8, "{slope}");
        }
        // Any displacement of an almost straight one: the force, to the second order in the bend.
        let (i, j) = (DVec3::new(0.02, 1e-4, 0.0), DVec3::new(-0.02, 1e-4, 2e-5));
        let straight = bent_at(PI, 0.02);
        let force = bending_force(i, j, 2.0, &straight);
        for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
            let energy = |x: f64| bending_energy(i + axis * x, j + axis * x, 2.0, &straight);
            let slope = (energy(e) - energy(-e)) / (2.0 * e);
            assert!(
                (slope + force.dot(axis)).abs() < 0.01 * force.length(),
                "{axis}"
            );
        }
    }

    #[test]
    fn torsion_turns_back_from_any_side() {
        let reference = rotation::from_scaled_axis(DVec3::new(0.5, 0.1, -0.3));
        let turned = rotation::from_scaled_axis(DVec3::Z * 0.2) * reference;
        assert!(close(
            torsion_torque(turned, reference, 5.0),
            DVec3::Z * -1.0
        ));
    }

    /// K38: what is bent at rest has no jump where it is straight, and is in no place stiffer than it says.
    #[test]
    fn what_is_bent_at_rest_goes_through_straight_without_a_jump() {
        let (constant, rest, arm) = (2.0, PI - 0.8, 0.02);
        let at = |y: f64| {
            let (i, j) = (DVec3::new(arm, y, 0.0), DVec3::new(-arm, y, 0.0));
            bending_force(i, j, constant, &bent_at(rest, arm))
        };
        let most = bending_stiffness(constant, arm);
        let d = 1e-5;
        let mut y = -0.02;
        while y < 0.02 {
            let change = (at(y + d) - at(y)).length();
            assert!(change < 1.01 * most * d, "{y}: {change}");
            y += d;
        }
        // Either way it is bent, it is pushed on to where it rests, where the law is the printed one.
        let half = 0.5 * (PI - rest);
        let rests = arm * trocar_math::real::tan(half);
        assert!(at(0.1 * rests).y > 0.0 && at(-0.1 * rests).y < 0.0);
        assert!(at(rests).length() < 1e-9 && at(1.5 * rests).y < 0.0);
        let printed = constant * (PI - 2.0 * trocar_math::real::atan(0.7 * half) - rest);
        let force = at(arm * 0.7 * half);
        assert!((force.y - printed).abs() < 1e-9, "{} {printed}", force.y);
    }

    #[test]
    fn bending_straightens_and_exerts_neither_force_nor_moment_in_sum() {
        let (i, k, j) = (
            DVec3::new(-1.0, 0.1, 0.0),
            DVec3::new(0.0, 0.4, 0.0),
            DVec3::new(1.2, 0.0, 0.2),
        );
        let straight = bent_at(PI, 1.0);
        let [at_i, f, at_j] = bending_forces(k - i, k - j, 2.0, &straight);
        // Bent upwards at k: pushed down.
        assert!(f.y < 0.0);
        assert!((at_i + f + at_j).length() < 1e-15);
        let moment = k.cross(f) + i.cross(at_i) + j.cross(at_j);
        assert!(moment.length() < 1e-15);
        // Arms of whatever length, nearly straight: it is the gradient of its energy, and acts across the line.
        let (i, j) = (DVec3::X * -0.01, DVec3::X * 0.03);
        let rest = Bent::new(-i, -j);
        let at = |y: f64, z: f64| DVec3::new(0.0, y, z);
        let forces = bending_forces(at(1e-4, 0.0) - i, at(1e-4, 0.0) - j, 2.0, &rest);
        let energy = |k: DVec3, i: DVec3| bending_energy(k - i, k - j, 2.0, &rest);
        let e = 1e-8;
        let at_k = (energy(at(1e-4 + e, 0.0), i) - energy(at(1e-4 - e, 0.0), i)) / (2.0 * e);
        let up = DVec3::Y * e;
        let at_i = (energy(at(1e-4, 0.0), i + up) - energy(at(1e-4, 0.0), i - up)) / (2.0 * e);
        assert!(
            (forces[1].y / -at_k - 1.0).abs() < 1e-3,
            "{forces:?} {at_k}"
        );
        assert!(
            (forces[0].y / -at_i - 1.0).abs() < 1e-3,
            "{forces:?} {at_i}"
        );
        assert!(forces[1].x.abs() < 0.01 * forces[1].y.abs(), "{forces:?}");
        // Straight: nothing, and no singularity on the way there.
        assert_eq!(
            bending_force(DVec3::X, -DVec3::X, 2.0, &straight),
            DVec3::ZERO
        );
        let almost = bending_force(
            DVec3::new(1.0, 1e-9, 0.0),
            DVec3::new(-1.0, 1e-9, 0.0),
            2.0,
            &straight,
        );
        assert!((almost.length() - 2.0 * 2e-9).abs() < 1e-14, "{almost}");
    }

    /// Wherever the nodes of its main axis are, a twist is the gradient of its energy, has no jump, and is no stiffer than it says.
    #[test]
    fn a_twist_of_short_arms_fades_as_its_energy_says() {
        use trocar_math::real::{cos, sin};
        let (axis, constant, e) = (DVec3::Z * 0.02, 3.0, 1e-9);
        let most = twist_stiffness(constant, 0.02);
        for part in [1e-3, 0.05, 0.2, 0.35, 0.4999, 0.5001, 0.8, 1.5] {
            for apart in [1e-3, 0.3, 0.9, 1.5] {
                let main = DVec3::new(sin(apart), 0.0, cos(apart)) * (0.02 * part);
                let (torque, force) = twist(axis, main, constant);
                let mut slopes = [DVec3::ZERO; 3];
                for (way, slope) in [DVec3::X, DVec3::Y, DVec3::Z].into_iter().zip(&mut slopes) {
                    let energy = |x: f64| twist_energy(axis, main + way * x, constant);
                    let wrong = (energy(e) - energy(-e)) / (2.0 * e) + force.dot(way);
                    assert!(
                        wrong.abs() < 1e-4 * (1.0 + force.length()),
                        "{part} {apart}: {wrong}"
                    );
                    let [ahead, back] = [e, -e].map(|x| twist(axis, main + way * x, constant).1);
                    *slope = (back - ahead) / (2.0 * e);
                }
                // The greatest principal value of the slopes, by a few rounds of the power method.
                let slopes = glam::DMat3::from_cols_array_2d(&slopes.map(|s| s.to_array()));
                let shift = glam::DMat3::from_diagonal(DVec3::splat(most));
                let mut way = DVec3::new(0.7, 0.1, 0.6);
                for _ in 0..200 {
                    way = ((slopes + shift) * way).normalize();
                }
                let stiff = way.dot(slopes * way);
                assert!(stiff <= 1.001 * most, "{part} {apart}: {stiff} {most}");
                let now = twist_stiffness_now(constant, main.length(), 0.02, apart);
                assert!(stiff <= 1.001 * now, "{part} {apart}: {stiff} {now}");
                // What turns the frame is what turns the nodes.
                let moment = torque + main.cross(force);
                assert!(
                    moment.length() < 1e-9 * (1.0 + torque.length()),
                    "{part} {apart}"
                );
            }
        }
    }

    /// However short its arms are, a bending element is no stiffer than it says.
    #[test]
    fn a_bend_of_short_arms_fades() {
        let (constant, e) = (2.0, 1e-9);
        for rest in [PI, PI - 0.8] {
            let rest = bent_at(rest, 0.02);
            let most = 2.0 * bending_stiffness(constant, rest.shortest());
            for [one, other] in [
                [0.5, 0.5],
                [0.3, 0.3],
                [0.05, 0.05],
                [0.05, 1.0],
                [0.6, 0.01],
            ] {
                for bent in [0.01, 0.3, 0.6, 1.2, 2.0] {
                    let i = DVec3::X * (0.02 * one);
                    let j =
                        rotation::from_scaled_axis(DVec3::Z * bent) * DVec3::X * (-0.02 * other);
                    let way = DVec3::new(0.6, 0.7, 0.2).normalize() * e;
                    for (di, dj) in [(way, way), (way, DVec3::ZERO), (DVec3::ZERO, way)] {
                        let ahead = bending_force(i + di, j + dj, constant, &rest);
                        let back = bending_force(i - di, j - dj, constant, &rest);
                        let slope = (ahead - back).length() / (2.0 * e);
                        assert!(slope < most, "{one} {other} {bent}: {slope} {most}");
                    }
                }
            }
            // Half as long as it fades from: half the force.
            let arms = |part: f64| [1.0, -1.0].map(|x| DVec3::new(x, 1.0, 0.0) * (0.02 * part));
            let at = |part: f64| bending_force(arms(part)[0], arms(part)[1], constant, &rest);
            let edge = 0.5 / 2.0_f64.sqrt();
            assert!((at(0.5 * edge).length() - 0.5 * at(edge).length()).abs() < 1e-9);
            assert!((at(2.0 * edge) - at(edge)).length() < 1e-9);
        }
    }

    #[test]
    fn a_straight_line_is_straight_to_rounding() {
        assert_eq!(bending_angle(DVec3::X, DVec3::new(-1.0, 1e-9, 0.0)), PI);
        assert!(bending_angle(DVec3::X, DVec3::Y) < PI);
    }
}

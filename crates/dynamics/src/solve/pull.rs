//! Impulses of the mouse that pulls (K149).

use crate::{Cast, Pull, anchor::Support};
use glam::{DMat3, DVec3};
use trocar_math::real;

/// What is pulled covers all but 1/e of its way in this time, s: quick for a hand, slow for a substep.
const PULL_TIME: f64 = 0.03;

/// What is pulled is not drawn faster than this, m/s, however far away the target.
const PULL_SPEED: f64 = 2.0;

/// Gives what `support` rests on the impulse that brings it, at the end of a substep of `h` seconds, a part
/// 1 − exp(−h/τ) of its way from where it is to the target, but never more than `pull.force · h`. Returns the impulse, N·s.
///
/// The end is asked for, not a force: a force from a spring to the target would have to be weak for light nodes and would still
/// swing about; this moves the point as an instrument that holds it would, at a speed that dies out as it arrives. When the
/// cap cuts it, the point is drawn or braked by a constant force, which takes at most what it gave before. So it adds no
/// energy about the target, at any step.
///
/// All matter must have been planned with the same `h`; ties and contacts are solved after it, so that they still hold.
pub fn pull(cast: &mut Cast<'_>, pull: &Pull, support: &Support, h: f64) -> DVec3 {
    if !(pull.target.is_finite() && pull.force > 0.0) {
        return DVec3::ZERO;
    }
    let none = Support::none(pull.anchor.matter);
    let position = cast.position(support);
    let part = -real::expm1(-h / PULL_TIME);
    // Shortened before it is multiplied: the target may be as far as numbers reach.
    let farthest = PULL_SPEED * h / part;
    let way = (pull.target - position).clamp(DVec3::splat(-1e9), DVec3::splat(1e9));
    let way = way.clamp_length_max(farthest) * part;
    let lack = position + way - cast.preview(support, h);
    let impulse = inverted(cast.response(&none, support, h)) * lack;
    let most = pull.force.min(1e9) * h;
    let impulse = impulse.clamp_length_max(most);
    if impulse.is_finite() {
        cast.push(&none, support, impulse, h);
        impulse
    } else {
        DVec3::ZERO
    }
}

/// The inverse of a response, restricted to the directions that can move: between a fixed point and
/// a node locked along an axis the response is singular, and no impulse must appear there.
fn inverted(response: DMat3) -> DMat3 {
    let scale = response
        .to_cols_array()
        .iter()
        .fold(0.0_f64, |s, x| s.max(x.abs()));
    if scale == 0.0 {
        return DMat3::ZERO;
    }
    let inverse = (response * (1.0 / scale)).inverse() * (1.0 / scale);
    let determinant = (response * (1.0 / scale)).determinant();
    if determinant.abs() > 1e-9 && inverse.is_finite() {
        return inverse;
    }
    // Damped normal equations: exact to 1e-12 in the directions that move, zero in the others.
    let unit = response * (1.0 / scale);
    let normal = unit.transpose() * unit + DMat3::from_diagonal(DVec3::splat(1e-12));
    normal.inverse() * unit.transpose() * (1.0 / scale)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Anchor, Bodies, Field, Kinematic, MassNode, Matter, MatterId, Nodes, Turning};
    use glam::DQuat;

    /// A body and a particle, planned for a substep of `h`.
    fn planned(h: f64) -> (Vec<Box<dyn Matter>>, Vec<Nodes>) {
        let bodies = Bodies::new(
            &[
                MassNode::body(0.1, DVec3::new(1e-5, 2e-5, 3e-5)),
                MassNode::point(0.02),
            ],
            Turning::default(),
        )
        .unwrap();
        let mut nodes = Nodes::at_rest(&[(DVec3::ZERO, DQuat::IDENTITY)], &[DVec3::X]);
        nodes.velocity[1] = DVec3::new(0.3, -0.2, 0.1);
        let gravity = DVec3::Y * -9.81;
        bodies.force(&mut nodes, &Field { time: 0.0, gravity });
        bodies.plan(&mut nodes, h, None);
        let world = Nodes::at_rest(&[(DVec3::ZERO, DQuat::IDENTITY)], &[]);
        (
            vec![Box::new(Kinematic::default()), Box::new(bodies)],
            vec![world, nodes],
        )
    }

    #[test]
    fn the_end_of_the_substep_is_a_part_of_the_way_or_the_force_is_the_greatest() {
        let point = Anchor::node(MatterId(1), 1);
        let edge = Anchor::frame(MatterId(1), 0, DVec3::new(0.01, 0.0, 0.02));
        // A body's turn is met to the first order: in a long substep it turns too far for that.
        let cases = [
            (point, 1e-4, 1e-15),
            (point, 0.05, 1e-15),
            (edge, 1e-4, 1e-8),
            (edge, 2e-3, 1e-5),
        ];
        for (anchor, h, tolerance) in cases {
            let (matters, mut nodes) = planned(h);
            let mut cast = Cast {
                matters: &matters,
                slot: &[0, 1],
                nodes: &mut nodes,
            };
            let support = cast.support(&anchor);
            let from = cast.position(&support);
            let target = from + DVec3::new(0.003, 0.004, -0.001);
            let strong = Pull {
                anchor,
                target,
                force: 1e6,
            };
            pull(&mut cast, &strong, &support, h);
            let part = 1.0 - real::exp(-h / PULL_TIME);
            let error = cast.preview(&support, h) - from.lerp(target, part);
            assert!(error.length() < tolerance, "{h}: {error}");

            let (matters, mut nodes) = planned(h);
            let mut cast = Cast {
                matters: &matters,
                slot: &[0, 1],
                nodes: &mut nodes,
            };
            let weak = Pull {
                force: 1e-3,
                ..strong
            };
            let impulse = pull(&mut cast, &weak, &support, h);
            assert!((impulse.length() - 1e-3 * h).abs() < 1e-15);
        }
    }

    #[test]
    fn what_is_no_target_and_no_force_does_nothing() {
        let (matters, mut nodes) = planned(1e-3);
        let before = nodes.clone();
        let mut cast = Cast {
            matters: &matters,
            slot: &[0, 1],
            nodes: &mut nodes,
        };
        let anchor = Anchor::node(MatterId(1), 1);
        let support = cast.support(&anchor);
        let bad = [
            (DVec3::NAN, 1.0),
            (DVec3::INFINITY, 1.0),
            (DVec3::ONE, f64::NAN),
            (DVec3::ONE, -1.0),
        ];
        for (target, force) in bad {
            let asked = Pull {
                anchor,
                target,
                force,
            };
            assert_eq!(pull(&mut cast, &asked, &support, 1e-3), DVec3::ZERO);
        }
        let far = Pull {
            anchor,
            target: DVec3::splat(1e300),
            force: f64::INFINITY,
        };
        let impulse = pull(&mut cast, &far, &support, 1e-3);
        assert!(impulse.is_finite() && impulse.length() < 1.0, "{impulse}");
        assert_ne!(before, nodes);
    }
}

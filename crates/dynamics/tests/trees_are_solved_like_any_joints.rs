//! Trees of ball joints are solved in a room of their own. They must go the same way as in the general one, whatever their form, and
//! keep momentum to rounding.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::{BODIES, Body, Shop};
use glam::DVec3;
use trocar_dynamics::{Anchor, Budget, Joint, Method};
use trocar_math::rotation;

/// Numbers from −1 to 1, always the same ones.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as f64 / (1u64 << 30) as f64 - 1.0
    }

    fn vector(&mut self) -> DVec3 {
        DVec3::new(self.roll(), self.roll(), self.roll())
    }
}

/// A tree of `count` bodies of any form, turned any way, that moves as its joints allow. It hangs on the world or flies.
fn tree(dice: &mut Dice, count: usize, hangs: bool) -> Shop {
    let mut bodies: Vec<Body> = Vec::new();
    let mut joints = Vec::new();
    for i in 0..count {
        let moments = DVec3::splat(2e-3) + dice.vector() * 1.2e-3;
        // Every third has two equal moments, like a rod; some are balls.
        let moments = match i % 5 {
            0 => DVec3::new(moments.x * 0.1, moments.y, moments.y),
            1 => DVec3::splat(moments.x),
            _ => moments,
        };
        let turn = rotation::from_scaled_axis(dice.vector() * 2.0);
        let own = dice.vector() * 0.1;
        let parent = (i > 0).then(|| (((dice.roll() + 1.0) * 0.5 * i as f64) as usize).min(i - 1));
        let (point, other) = match parent {
            Some(p) => {
                let at = dice.vector() * 0.1;
                let point = bodies[p].place + bodies[p].turn * at;
                (point, Anchor::frame(BODIES, p as u32, at))
            }
            None => (DVec3::ZERO, Anchor::world(DVec3::ZERO)),
        };
        bodies.push(Body {
            mass: 0.5 + 0.3 * dice.roll(),
            moments,
            place: point - turn * own,
            turn,
        });
        if parent.is_none() && !hangs {
            continue;
        }
        let own = Anchor::frame(BODIES, i as u32, own);
        // Either may be side a.
        joints.push(if i % 2 == 0 {
            Joint::ball(other, own)
        } else {
            Joint::ball(own, other)
        });
    }
    let mut shop = Shop::new(&bodies, &[], joints);
    for i in 0..count {
        let (velocity, spin) = (dice.vector(), dice.vector() * 6.0);
        shop.state().velocity[i] = velocity;
        shop.state().spin[i] = spin;
    }
    shop.correct(&budget(Method::System));
    shop
}

fn budget(method: Method) -> Budget {
    Budget {
        position: 1e-12,
        velocity: 1e-12,
        iterations: 60,
        method,
        may_fail: true,
        ..Budget::default()
    }
}

#[test]
fn a_tree_goes_the_same_way_in_either_room() {
    let mut dice = Dice(7);
    let (mut apart, mut slow) = (0, 0);
    for (case, h) in (0..24).zip([0.01, 0.003, 0.001].into_iter().cycle()) {
        let count = 2 + case % 9;
        let hangs = case % 4 < 2;
        let mut own = tree(&mut dice, count, hangs);
        let mut general = Shop::new(&[], &[], Vec::new());
        for step in 0..6 {
            own.gravity = DVec3::Y * -9.81;
            // The same state and the same memory for both.
            let nodes = own.nodes.clone();
            let joints = own.joints.clone();
            let (aim, correct) = own.step(h, &budget(Method::Graph));
            std::mem::swap(&mut general.matters, &mut own.matters);
            let after = std::mem::replace(&mut own.nodes, nodes);
            general.gravity = own.gravity;
            general.nodes.clone_from(&own.nodes);
            general.joints = joints;
            let (other, _) = general.step(h, &budget(Method::System));
            std::mem::swap(&mut general.matters, &mut own.matters);
            own.nodes = after;
            assert!(correct.error < 1e-10, "{correct:?}");
            if aim.refused || other.refused || !other.converged {
                slow += 1;
                break;
            }
            apart += 1;
            let place = format!("tree {case} of {count}, step {step}");
            for i in 0..count {
                let (a, b) = (&own.nodes[1], &general.nodes[1]);
                let gap = a.position[i].distance(b.position[i]);
                assert!(gap < 1e-9, "{place}: {gap} m");
                let turn =
                    rotation::to_scaled_axis(a.orientation[i] * b.orientation[i].conjugate());
                assert!(turn.length() < 1e-8, "{place}: {turn}");
                let speed = a.velocity[i].distance(b.velocity[i]);
                assert!(speed < 1e-6, "{place}: {speed} m/s");
                let spin = a.spin[i].distance(b.spin[i]);
                assert!(spin < 1e-5, "{place}: {spin} rad/s");
            }
        }
    }
    assert!(
        apart > 80,
        "only {apart} substeps were compared, {slow} gave up"
    );
}

#[test]
fn a_tree_that_flies_keeps_its_momentum() {
    let mut dice = Dice(3);
    for count in [2, 5, 12] {
        let mut shop = tree(&mut dice, count, false);
        let (linear, angular) = shop.momentum();
        let mut budget = budget(Method::Graph);
        budget.position = 1e-6;
        for _ in 0..200 {
            let (aim, _) = shop.step(0.002, &budget);
            assert!(!aim.refused, "{aim:?}");
        }
        let (now, turning) = shop.momentum();
        assert!((now - linear).length() < 1e-12 * (1.0 + linear.length()));
        assert!(
            (turning - angular).length() < 1e-6 * (0.1 + angular.length()),
            "{turning} was {angular}"
        );
    }
}

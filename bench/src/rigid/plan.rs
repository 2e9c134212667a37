//! A scene that every engine can be given.

use glam::{DMat3, DQuat, DVec3};
use trocar_collide::rigid::{Form, Shape, ShapeError};
use trocar_math::{Pose, rotation};

/// Gravity, m/s².
pub const GRAVITY: DVec3 = DVec3::new(0.0, -9.81, 0.0);

/// What a thing is.
#[derive(Clone, Copy, Debug)]
pub enum Solid {
    /// A box with these half edges, m.
    Box(DVec3),
    /// A ball of this radius, m.
    Ball(f64),
}

impl Solid {
    /// For measuring how deep things overlap.
    pub fn shape(self) -> Result<Shape, ShapeError> {
        Shape::new(&match self {
            Self::Box(half) => Form::Box { half },
            Self::Ball(radius) => Form::Ball { radius },
        })
    }

    /// Its moments of inertia for a mass of 1 kg, m².
    pub fn inertia(self) -> DVec3 {
        match self {
            Self::Box(h) => {
                let s = h * h;
                DVec3::new(s.y + s.z, s.z + s.x, s.x + s.y) / 3.0
            }
            Self::Ball(radius) => DVec3::splat(0.4 * radius * radius),
        }
    }
}

/// A body.
#[derive(Clone, Copy, Debug)]
pub struct Thing {
    pub solid: Solid,
    /// kg; none if it stands still.
    pub mass: Option<f64>,
    pub pose: Pose,
    /// m/s.
    pub velocity: DVec3,
    /// rad/s.
    pub spin: DVec3,
}

/// A ball joint between a point of `a` (or of the world) and a point of `b`, each in its own frame.
#[derive(Clone, Copy, Debug)]
pub struct Ball {
    pub a: Option<usize>,
    pub at_a: DVec3,
    pub b: usize,
    pub at_b: DVec3,
}

/// The scene.
#[derive(Clone, Debug)]
pub struct Plan {
    pub things: Vec<Thing>,
    pub joints: Vec<Ball>,
    /// Length of a step, s.
    pub step: f64,
    /// Whether things touch.
    pub collide: bool,
    /// Coefficient of friction.
    pub friction: f64,
    /// Whether what rests sleeps.
    pub sleep: bool,
}

/// Where a thing is and how it moves.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    pub pose: Pose,
    pub velocity: DVec3,
    pub spin: DVec3,
}

impl Plan {
    /// Links of 0.2 m and 0.5 kg in a row along x, held at one end.
    pub fn chain(count: usize) -> Self {
        let mut plan = Self::linked();
        for i in 0..count {
            let parent = i.checked_sub(1);
            plan.link(parent, DVec3::X, [DVec3::new(0.1, 0.02, 0.02); 2], 0.5);
        }
        plan
    }

    /// Adds all of another plan, farther on than what there is by `shift`, once for each time it is done.
    pub fn join(&mut self, other: Self, shift: DVec3) {
        let (first, parts) = (self.things.len(), other.things.len());
        let shift = shift * (first / parts.max(1)) as f64;
        for mut thing in other.things {
            thing.pose.position += shift;
            self.things.push(thing);
        }
        for mut joint in other.joints {
            match &mut joint.a {
                Some(a) => *a += first,
                None => joint.at_a += shift,
            }
            joint.b += first;
            self.joints.push(joint);
        }
    }

    /// A binary tree of `count` links of 0.2 m and 0.5 kg that begins inclined by 45°.
    pub fn tree(count: usize) -> Self {
        let mut plan = Self::linked();
        let half = DVec3::new(0.1, 0.02, 0.02);
        plan.branch(count, DVec3::new(1.0, -1.0, 0.0), 0.4, |_| (half, 0.5));
        plan
    }

    /// The thesis' tree: bars of 0.1 m × 1.5^(height above the leaves) of 600 kg/m³, hanging, turning as a whole at 1 rad/s, and
    /// steps of 1/30 s. The thesis sets it turning by a torque of 10 N·m during the first step.
    pub fn thesis_tree(count: usize) -> Self {
        let mut plan = Self::linked();
        plan.step = 1.0 / 30.0;
        let deepest = (count + 1).ilog2() - 1;
        plan.branch(count, -DVec3::Y, 0.3, |depth| {
            let length = (depth..deepest).fold(0.1, |l, _| l * 1.5);
            (
                DVec3::new(length / 2.0, 0.02, 0.02),
                length * 0.04 * 0.04 * 600.0,
            )
        });
        for thing in &mut plan.things {
            thing.spin = DVec3::Y;
            thing.velocity = thing.spin.cross(thing.pose.position);
        }
        plan
    }

    fn linked() -> Self {
        Self {
            things: Vec::new(),
            joints: Vec::new(),
            step: 0.01,
            collide: false,
            friction: 0.0,
            sleep: false,
        }
    }

    /// Two children at the end of each parent, spread by `angle` to both sides, about one axis and the other in turn.
    fn branch(
        &mut self,
        count: usize,
        first: DVec3,
        angle: f64,
        bar: impl Fn(u32) -> (DVec3, f64),
    ) {
        for i in 0..count {
            let parent = i.checked_sub(1).map(|p| p / 2);
            let depth = (i + 1).ilog2();
            let (half, mass) = bar(depth);
            let before = depth.checked_sub(1).map_or(half, |d| bar(d).0);
            let along = match parent {
                None => first.normalize(),
                Some(p) => {
                    let axis = if depth % 2 == 0 { DVec3::Y } else { DVec3::Z };
                    let side = if i % 2 == 0 { angle } else { -angle };
                    self.things[p].pose.rotation * rotation::from_axis_angle(axis, side) * DVec3::X
                }
            };
            self.link(parent, along, [before, half], mass);
        }
    }

    /// A link along `along`, on the end of its parent.
    fn link(&mut self, parent: Option<usize>, along: DVec3, half: [DVec3; 2], mass: f64) {
        let turn = DQuat::from_rotation_arc(DVec3::X, along);
        let [end, start] = [DVec3::X * half[0].x, -DVec3::X * half[1].x];
        let at_a = if parent.is_some() { end } else { DVec3::ZERO };
        let at = parent.map_or(at_a, |p| self.things[p].pose.point(at_a));
        self.joints.push(Ball {
            a: parent,
            at_a,
            b: self.things.len(),
            at_b: start,
        });
        self.things.push(Thing {
            solid: Solid::Box(half[1]),
            mass: Some(mass),
            pose: Pose::new(at - turn * start, turn),
            velocity: DVec3::ZERO,
            spin: DVec3::ZERO,
        });
    }

    /// Adds a box or ball that falls.
    pub fn drop(&mut self, solid: Solid, mass: f64, pose: Pose) {
        self.things.push(Thing {
            solid,
            mass: Some(mass),
            pose,
            velocity: DVec3::ZERO,
            spin: DVec3::ZERO,
        });
    }

    /// Adds a box that stands still.
    pub fn fix(&mut self, half: DVec3, pose: Pose) {
        self.things.push(Thing {
            solid: Solid::Box(half),
            mass: None,
            pose,
            velocity: DVec3::ZERO,
            spin: DVec3::ZERO,
        });
    }

    /// Where all is at the start.
    pub fn start(&self) -> Vec<Moment> {
        let moment = |t: &Thing| Moment {
            pose: t.pose,
            velocity: t.velocity,
            spin: t.spin,
        };
        self.things.iter().map(moment).collect()
    }

    /// How far the sides of the worst joint are apart, m. Not a number if anything is.
    pub fn gap(&self, moments: &[Moment]) -> f64 {
        let mut worst = 0.0;
        for joint in &self.joints {
            let a = joint
                .a
                .map_or(joint.at_a, |a| moments[a].pose.point(joint.at_a));
            let gap = a.distance(moments[joint.b].pose.point(joint.at_b));
            if gap.is_nan() || gap > worst {
                worst = gap;
            }
            if worst.is_nan() {
                break;
            }
        }
        worst
    }

    /// Of motion and of height, J.
    pub fn energy(&self, moments: &[Moment]) -> f64 {
        let each = self.things.iter().zip(moments).map(|(thing, now)| {
            let mass = thing.mass.unwrap_or(0.0);
            let spin = now.pose.rotation.conjugate() * now.spin;
            let turning = DMat3::from_diagonal(thing.solid.inertia()) * spin;
            let motion = now.velocity.length_squared() + turning.dot(spin);
            mass * (0.5 * motion - GRAVITY.dot(now.pose.position))
        });
        each.sum()
    }

    /// What energy is measured in, J: everything hung up from the fixed end, lifted from there to its height.
    pub fn energy_scale(&self) -> f64 {
        let mut reach = vec![0.0; self.things.len()];
        let mut sum = 0.0;
        for joint in &self.joints {
            let before = joint.a.map_or(0.0, |a| reach[a]);
            reach[joint.b] = before + joint.at_a.length() + joint.at_b.length();
            sum += self.things[joint.b].mass.unwrap_or(0.0) * reach[joint.b];
        }
        sum * GRAVITY.length()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joints_are_closed_at_the_start() {
        for plan in [Plan::chain(10), Plan::tree(31), Plan::thesis_tree(31)] {
            let start = plan.start();
            assert!(plan.gap(&start) < 1e-12);
            assert_eq!(plan.joints.len(), plan.things.len());
        }
    }

    #[test]
    fn the_thesis_bars_grow_towards_the_top() {
        let plan = Plan::thesis_tree(127);
        let Solid::Box(first) = plan.things[0].solid else {
            panic!("a bar is a box");
        };
        assert!((2.0 * first.x - 1.14).abs() < 0.01, "{first}");
    }
}

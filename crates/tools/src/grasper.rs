//! The build of an instrument: a shaft that pivots about its trocar, and two jaws or a single tip (K89).

use crate::trocar;
use glam::DVec3;
use serde::{Deserialize, Serialize};
use std::f64::consts::FRAC_PI_2;
use trocar_collide::Capsule;
use trocar_math::{Pose, rotation};

/// Where the hand holds an instrument: the five degrees of freedom a trocar leaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Handle {
    /// Swing to the side, rad.
    pub yaw: f64,
    /// Swing up and down, rad.
    pub pitch: f64,
    /// From the trocar to the hinge of the jaws, m.
    pub depth: f64,
    /// Turn about the shaft, rad.
    pub roll: f64,
    /// Angle between the jaws, rad.
    pub jaw: f64,
}

impl Handle {
    /// As an array: yaw, pitch, depth, roll, jaw.
    pub fn to_array(self) -> [f64; 5] {
        [self.yaw, self.pitch, self.depth, self.roll, self.jaw]
    }

    fn from_array([yaw, pitch, depth, roll, jaw]: [f64; 5]) -> Self {
        Self {
            yaw,
            pitch,
            depth,
            roll,
            jaw,
        }
    }
}

/// How far each degree of freedom reaches: least and greatest value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Swing to the side, rad.
    pub yaw: [f64; 2],
    /// Swing up and down, rad.
    pub pitch: [f64; 2],
    /// Depth, m.
    pub depth: [f64; 2],
    /// Angle between the jaws, rad.
    pub jaw: [f64; 2],
}

/// The parts of an instrument, in the order of its frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Part {
    /// The shaft; its frame sits at the hinge, z along the shaft towards the tip.
    Shaft = 0,
    /// The first jaw; its frame sits at the hinge, z along the jaw.
    JawA = 1,
    /// The second jaw.
    JawB = 2,
}

/// Number of rigid parts of an instrument.
pub const PARTS: usize = 3;

/// What a shaft ends in.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum End {
    /// Two jaws that open and close.
    #[default]
    Jaws,
    /// One tip, as of a needle, that leaves the shaft at an angle (rad): a cystotome's is bent (W28). Both jaws have its frame.
    Tip(f64),
}

/// The build of a grasper, and of what is built like one: needle, forceps, scissors.
#[derive(Clone, Debug, PartialEq)]
pub struct Grasper {
    /// What its shaft ends in.
    pub end: End,
    /// Where it passes through the wall of the body, m; z of its frame points inwards at yaw = pitch = 0.
    pub trocar: Pose,
    /// Radius of the shaft, m.
    pub shaft_radius: f64,
    /// Length of a jaw or of the tip, m.
    pub jaw_length: f64,
    /// Radius of its hull, m.
    pub jaw_radius: f64,
    /// Reach of each degree of freedom.
    pub limits: Limits,
    /// How fast its tip follows the hand at most, m/s. A hand that jumps is followed at this speed,
    /// so that nothing is passed through.
    pub speed: f64,
    /// How fast it rolls and its jaws move at most, rad/s.
    pub turn_speed: f64,
    /// Jaw angle below which what lies between the jaws is held, rad.
    pub capture_angle: f64,
    /// Jaw angle above which what is held is let go, rad; greater than `capture_angle`.
    pub release_angle: f64,
    /// How much pull the closed jaws bear before what they hold slips, N.
    pub grip_force: f64,
}

impl Grasper {
    /// Brings a wish within the instrument's reach. A number that is not finite keeps its place.
    pub fn reachable(&self, wish: &Handle, now: &Handle) -> Handle {
        let l = &self.limits;
        let reach = [l.yaw, l.pitch, l.depth, trocar::ENDLESS, l.jaw];
        Handle::from_array(trocar::reachable(wish.to_array(), now.to_array(), reach))
    }

    /// Where the instrument is after `dt` seconds if the hand is at `wish`: all the way, or as far as
    /// its greatest speed allows.
    pub fn follow(&self, now: &Handle, wish: &Handle, dt: f64) -> Handle {
        let wish = self.reachable(wish, now);
        let swing = trocar::swing(self.speed, now.depth + self.jaw_length, dt);
        let turn = self.turn_speed * dt;
        let most = [swing, swing, self.speed * dt, turn, turn];
        Handle::from_array(trocar::towards(now.to_array(), wish.to_array(), most))
    }

    /// Where shaft and jaws are.
    pub fn poses(&self, handle: &Handle) -> [Pose; PARTS] {
        let Pose {
            position: hinge,
            rotation: direction,
        } = trocar::shaft(&self.trocar, handle.yaw, handle.pitch, handle.depth);
        let shaft = direction * rotation::from_axis_angle(DVec3::Z, handle.roll);
        let jaw = |sign: f64| {
            let angle = match self.end {
                End::Jaws => sign * 0.5 * handle.jaw,
                End::Tip(bend) => bend,
            };
            shaft * rotation::from_axis_angle(DVec3::X, angle)
        };
        [
            Pose::new(hinge, shaft),
            Pose::new(hinge, jaw(-1.0)),
            Pose::new(hinge, jaw(1.0)),
        ]
    }

    /// The hulls of shaft and jaws (K89), for poses of [`poses`](Self::poses).
    pub fn capsules(&self, poses: &[Pose; PARTS]) -> [Capsule; PARTS] {
        let jaw = |pose: &Pose| Capsule {
            a: pose.point(DVec3::Z * self.jaw_radius),
            b: pose.point(DVec3::Z * (self.jaw_length - self.jaw_radius)),
            radius: self.jaw_radius,
        };
        let hinge = poses[0].position;
        let second = match self.end {
            End::Jaws => jaw(&poses[2]),
            // A needle has no second jaw: its hull is hidden in the end of the shaft.
            End::Tip(_) => Capsule {
                a: hinge,
                b: hinge,
                radius: self.shaft_radius.min(self.jaw_radius),
            },
        };
        [
            Capsule {
                a: self.trocar.position,
                b: hinge,
                radius: self.shaft_radius,
            },
            jaw(&poses[1]),
            second,
        ]
    }

    /// The tip, between the jaws if there are two, m, from the pose of the shaft.
    pub fn tip(&self, shaft: &Pose) -> DVec3 {
        shaft.point(self.tip_in_shaft())
    }

    /// The same in the frame of the shaft, m.
    fn tip_in_shaft(&self) -> DVec3 {
        match self.end {
            End::Jaws => DVec3::Z * self.jaw_length,
            End::Tip(bend) => {
                rotation::from_axis_angle(DVec3::X, bend) * DVec3::Z * self.jaw_length
            }
        }
    }

    /// Where the hand has to be for the tip to be at `point` (m), rolled and opened as given (rad). Beyond its reach, or nearer to the trocar than the tip is long, as
    /// near as can be.
    pub fn handle_at(&self, point: DVec3, roll: f64, jaw: f64) -> Handle {
        let goal = self.trocar.local(point);
        let tip = rotation::from_axis_angle(DVec3::Z, roll) * self.tip_in_shaft();
        // In the frame of the trocar: goal = Ry(yaw) Rx(−pitch) (tip + depth z), and turning keeps lengths.
        let across = tip.x * tip.x + tip.y * tip.y;
        let along = (goal.length_squared() - across).max(0.0).sqrt();
        let arm = trocar_math::real::hypot(tip.y, along);
        let high = goal.y.clamp(-arm, arm);
        let level = (arm * arm - high * high).max(0.0).sqrt();
        let wish = Handle {
            yaw: trocar_math::real::atan2(goal.x, goal.z) - trocar_math::real::atan2(tip.x, level),
            pitch: trocar_math::real::atan2(high, level) - trocar_math::real::atan2(tip.y, along),
            depth: along - tip.z,
            roll,
            jaw,
        };
        self.reachable(&wish, &wish)
    }

    /// The part of `force` (N), acting at `at`, that has to be held at the tip: by balance of moments
    /// about the trocar across the shaft, undiminished along it (K103).
    pub fn at_tip(&self, shaft: &Pose, force: DVec3, at: DVec3) -> DVec3 {
        let axis = shaft.rotation * DVec3::Z;
        let arm = (at - self.trocar.position).dot(axis).max(0.0);
        let length = (self.tip(shaft) - self.trocar.position).length().max(1e-6);
        let along = axis * force.dot(axis);
        along + (force - along) * (arm / length)
    }

    /// True if every number makes sense; otherwise what is wrong.
    pub fn check(&self) -> Result<(), &'static str> {
        let sizes = [
            self.shaft_radius,
            self.jaw_length,
            self.jaw_radius,
            self.speed,
            self.turn_speed,
            self.grip_force,
        ];
        let l = &self.limits;
        if sizes.iter().any(|s| !(*s > 0.0 && s.is_finite())) {
            return Err("sizes, speeds and the grip force must be positive");
        }
        if 2.0 * self.jaw_radius >= self.jaw_length {
            return Err("a jaw or a tip must be longer than it is thick");
        }
        if !trocar::are_limits(&[l.yaw, l.pitch, l.depth, l.jaw]) {
            return Err("each limit is a least and a greatest value, in that order");
        }
        if l.pitch[0] <= -FRAC_PI_2 || l.pitch[1] >= FRAC_PI_2 || l.depth[0] < 0.0 || l.jaw[0] < 0.0
        {
            return Err("pitch stays within a quarter turn; depth and jaw are at least 0");
        }
        if !(self.capture_angle < self.release_angle
            && self.capture_angle > l.jaw[0]
            && self.release_angle < l.jaw[1])
        {
            return Err(
                "the capture angle lies below the release angle, both within the jaw's reach",
            );
        }
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub fn sample() -> Grasper {
        Grasper {
            end: End::Jaws,
            trocar: trocar::looking(DVec3::new(0.0, 0.2, 0.1), DVec3::ZERO, DVec3::Y),
            shaft_radius: 2.5e-3,
            jaw_length: 0.02,
            jaw_radius: 1.5e-3,
            limits: Limits {
                yaw: [-1.0, 1.0],
                pitch: [-1.0, 1.0],
                depth: [0.02, 0.3],
                jaw: [0.0, 1.0],
            },
            speed: 1.0,
            turn_speed: 6.0,
            capture_angle: 0.4,
            release_angle: 0.6,
            grip_force: 5.0,
        }
    }

    #[test]
    fn the_shaft_always_passes_through_the_trocar() {
        let g = sample();
        for (yaw, pitch, depth, roll) in [
            (0.0, 0.0, 0.1, 0.0),
            (0.4, -0.7, 0.25, 2.0),
            (-1.0, 1.0, 0.03, -5.0),
        ] {
            let [shaft, ..] = g.poses(&Handle {
                yaw,
                pitch,
                depth,
                roll,
                jaw: 0.3,
            });
            let back = shaft.point(DVec3::Z * -depth);
            assert!((back - g.trocar.position).length() < 1e-15);
        }
    }

    #[test]
    fn a_tip_is_put_where_it_shall_be_straight_or_bent_and_rolled() {
        for end in [End::Jaws, End::Tip(0.0), End::Tip(0.7), End::Tip(-1.2)] {
            let g = Grasper { end, ..sample() };
            for (k, roll) in [0.0, 0.8, -2.5, 3.0].into_iter().enumerate() {
                let point = DVec3::new(0.02, -0.01 * k as f64, 0.03 - 0.02 * k as f64);
                let handle = g.handle_at(point, roll, 0.3);
                let tip = g.tip(&g.poses(&handle)[0]);
                assert!(tip.distance(point) < 1e-12, "{end:?} {roll}: {tip}");
                assert_eq!((handle.roll, handle.jaw), (roll, 0.3));
            }
            // What it can't reach does no harm.
            let handle = g.handle_at(g.trocar.position, 0.0, 9.0);
            assert_eq!(g.reachable(&handle, &handle), handle);
        }
    }

    #[test]
    fn a_needle_has_one_tip_that_does_not_open() {
        let g = Grasper {
            end: End::Tip(0.5),
            ..sample()
        };
        let handle = |jaw: f64| Handle {
            depth: 0.1,
            jaw,
            ..Handle::default()
        };
        let poses = g.poses(&handle(0.0));
        assert_eq!(poses, g.poses(&handle(0.9)));
        assert_eq!(poses[1], poses[2]);
        let (shaft, tip) = (poses[0].rotation * DVec3::Z, poses[1].rotation * DVec3::Z);
        assert!((trocar_math::angle(shaft, tip) - 0.5).abs() < 1e-12);
        let [along, first, second] = g.capsules(&poses);
        let end = first.b + tip * first.radius;
        assert!(end.distance(g.tip(&poses[0])) < 1e-12);
        assert!(second.a == along.b && second.radius <= along.radius);
    }

    #[test]
    fn straight_ahead_it_points_at_its_target() {
        let g = sample();
        let length = g.trocar.position.length();
        let [shaft, ..] = g.poses(&Handle {
            depth: length,
            ..Handle::default()
        });
        assert!(shaft.position.length() < 1e-15);
    }

    #[test]
    fn the_jaws_open_by_the_jaw_angle_and_meet_when_closed() {
        let g = sample();
        let open = g.poses(&Handle {
            depth: 0.1,
            jaw: 0.8,
            ..Handle::default()
        });
        let (a, b) = (open[1].rotation * DVec3::Z, open[2].rotation * DVec3::Z);
        assert!((trocar_math::angle(a, b) - 0.8).abs() < 1e-12);
        let closed = g.poses(&Handle {
            depth: 0.1,
            ..Handle::default()
        });
        assert_eq!(closed[1], closed[2]);
    }

    #[test]
    fn a_hand_that_jumps_is_followed_at_the_greatest_speed() {
        let g = sample();
        let now = Handle {
            depth: 0.1,
            ..Handle::default()
        };
        let far = Handle {
            yaw: 900.0,
            pitch: -900.0,
            depth: 1e9,
            roll: f64::NAN,
            jaw: f64::INFINITY,
        };
        let next = g.follow(&now, &far, 0.002);
        let tips = [now, next].map(|h| g.tip(&g.poses(&h)[0]));
        assert!(tips[0].distance(tips[1]) <= 2.0 * 0.002 * g.speed);
        assert_eq!((next.roll, next.jaw), (0.0, 0.0));
        let mut at = now;
        for _ in 0..5000 {
            at = g.follow(&at, &far, 0.002);
        }
        assert_eq!((at.yaw, at.pitch, at.depth), (1.0, -1.0, 0.3));
    }

    #[test]
    fn a_force_half_way_along_the_shaft_counts_half_at_the_tip() {
        let g = sample();
        let [shaft, ..] = g.poses(&Handle {
            depth: 0.18,
            ..Handle::default()
        });
        let across = shaft.rotation * DVec3::X * 2.0;
        let middle = g.trocar.position.lerp(g.tip(&shaft), 0.5);
        assert!((g.at_tip(&shaft, across, middle) - across * 0.5).length() < 1e-12);
        let along = shaft.rotation * DVec3::Z;
        assert!((g.at_tip(&shaft, along, middle) - along).length() < 1e-12);
    }
}

//! The endoscope: a camera and a light on a shaft through a trocar (K132, K137).
//!
//! It is seen with and never in the way: it touches nothing, and nothing touches it. A real one is bent aside by the
//! camera hand before it presses on anything, and the trainee does not hold it.

use crate::trocar;
use glam::{DMat3, DQuat, DVec3};
use serde::{Deserialize, Serialize};
use std::f64::consts::FRAC_PI_2;
use trocar_math::{Pose, real, rotation};

/// Where the camera hand holds the endoscope.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EndoscopeHandle {
    /// Swing to the side, rad.
    pub yaw: f64,
    /// Swing up and down, rad.
    pub pitch: f64,
    /// From the trocar to the lens, m.
    pub depth: f64,
    /// The light cable: turns tilted optics about the shaft, rad. It does not turn the picture. At 0 the cable is up and the
    /// optics look down.
    pub roll: f64,
    /// The camera head: turns the picture, rad. At 0 the world's y is up in it; through a trocar that points almost straight
    /// down, the trocar's own.
    pub horizon: f64,
    /// How much larger things are shown, ≥ 1.
    pub zoom: f64,
}

impl Default for EndoscopeHandle {
    fn default() -> Self {
        Self {
            yaw: 0.0,
            pitch: 0.0,
            depth: 0.0,
            roll: 0.0,
            horizon: 0.0,
            zoom: 1.0,
        }
    }
}

impl EndoscopeHandle {
    /// As an array: yaw, pitch, depth, roll, horizon, zoom.
    pub fn to_array(self) -> [f64; 6] {
        [
            self.yaw,
            self.pitch,
            self.depth,
            self.roll,
            self.horizon,
            self.zoom,
        ]
    }

    /// From an array: yaw, pitch, depth, roll, horizon, zoom.
    pub fn from_array([yaw, pitch, depth, roll, horizon, zoom]: [f64; 6]) -> Self {
        Self {
            yaw,
            pitch,
            depth,
            roll,
            horizon,
            zoom,
        }
    }
}

/// How far each degree of freedom reaches: least and greatest value. Roll and horizon have no end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EndoscopeLimits {
    /// Swing to the side, rad.
    pub yaw: [f64; 2],
    /// Swing up and down, rad.
    pub pitch: [f64; 2],
    /// Depth, m.
    pub depth: [f64; 2],
    /// Zoom, ≥ 1.
    pub zoom: [f64; 2],
}

/// The build of an endoscope.
#[derive(Clone, Debug, PartialEq)]
pub struct Endoscope {
    /// Where it passes through the wall of the body, m; z of its frame points inwards at yaw = pitch = 0.
    pub trocar: Pose,
    /// Angle between the shaft and where it looks, rad: 0 to 70 degrees.
    pub optics: f64,
    /// Whole angle of the round picture at zoom 1, rad.
    pub field_of_view: f64,
    /// Reach of each degree of freedom.
    pub limits: EndoscopeLimits,
    /// How fast its lens follows the hand at most, m/s.
    pub speed: f64,
    /// How fast it rolls and the camera head turns at most, rad/s.
    pub turn_speed: f64,
    /// How fast it zooms at most, 1/s.
    pub zoom_speed: f64,
    /// Radius of the shaft, m; only seen.
    pub radius: f64,
}

/// What an endoscope sees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Eye {
    /// Where the lens is; it looks along −z, and y is up in the picture.
    pub pose: Pose,
    /// Whole angle of the round picture, after zoom, rad.
    pub field_of_view: f64,
}

/// Steepest optics, rad: 70 degrees.
pub const MAX_OPTICS: f64 = 70.0 * FRAC_PI_2 / 90.0;

/// A trocar that points up or down more steeply than the angle with this sine (60 degrees) has no horizon in front of it.
const STEEP: f64 = 0.87;

impl Endoscope {
    /// Brings a wish within reach. A number that is not finite keeps its place.
    pub fn reachable(&self, wish: &EndoscopeHandle, now: &EndoscopeHandle) -> EndoscopeHandle {
        let l = &self.limits;
        let reach = [
            l.yaw,
            l.pitch,
            l.depth,
            trocar::ENDLESS,
            trocar::ENDLESS,
            l.zoom,
        ];
        EndoscopeHandle::from_array(trocar::reachable(wish.to_array(), now.to_array(), reach))
    }

    /// Where it is after `dt` seconds if the hand is at `wish`: all the way, or as far as its greatest speed allows.
    pub fn follow(
        &self,
        from: &EndoscopeHandle,
        wish: &EndoscopeHandle,
        dt: f64,
    ) -> EndoscopeHandle {
        let wish = self.reachable(wish, from);
        let swing = trocar::swing(self.speed, from.depth, dt);
        let turn = self.turn_speed * dt;
        let most = [
            swing,
            swing,
            self.speed * dt,
            turn,
            turn,
            self.zoom_speed * dt,
        ];
        EndoscopeHandle::from_array(trocar::towards(from.to_array(), wish.to_array(), most))
    }

    /// What it sees from there.
    pub fn eye(&self, handle: &EndoscopeHandle) -> Eye {
        let shaft = self.shaft(handle);
        let rolled = shaft.rotation * rotation::from_axis_angle(DVec3::Z, handle.roll);
        let ahead = rolled * (rotation::from_axis_angle(DVec3::X, self.optics) * DVec3::Z);
        let own = self.trocar.rotation * DVec3::Y;
        // Looking down through a hole in the ceiling there is no horizon: the picture would spin about the vertical.
        let steep = (self.trocar.rotation * DVec3::Z).y.abs() > STEEP;
        let level = upright(ahead, if steep { own } else { DVec3::Y }, own);
        let turned = level * rotation::from_axis_angle(DVec3::Z, handle.horizon);
        let half = real::tan(0.5 * self.field_of_view) / handle.zoom.max(1.0);
        Eye {
            pose: Pose::new(shaft.position, turned.normalize()),
            field_of_view: 2.0 * real::atan2(half, 1.0),
        }
    }

    /// The frame at the end of its shaft: z along the shaft.
    pub fn shaft(&self, handle: &EndoscopeHandle) -> Pose {
        trocar::shaft(&self.trocar, handle.yaw, handle.pitch, handle.depth)
    }

    /// True if every number makes sense; otherwise what is wrong.
    pub fn check(&self) -> Result<(), &'static str> {
        let l = &self.limits;
        let sizes = [self.radius, self.speed, self.turn_speed, self.zoom_speed];
        if sizes.iter().any(|s| !(*s > 0.0 && s.is_finite())) {
            return Err("radius and speeds must be positive");
        }
        if !(0.0..=MAX_OPTICS).contains(&self.optics) {
            return Err("the optics look ahead or up to 70 degrees aside");
        }
        if !(0.05..=2.6).contains(&self.field_of_view) {
            return Err("the picture spans from 3 to 149 degrees");
        }
        if !trocar::are_limits(&[l.yaw, l.pitch, l.depth, l.zoom]) {
            return Err("each limit is a least and a greatest value, in that order");
        }
        if l.pitch[0] <= -FRAC_PI_2 || l.pitch[1] >= FRAC_PI_2 || l.depth[0] < 0.0 {
            return Err("pitch stays within a quarter turn; depth is at least 0");
        }
        if !(l.zoom[0] >= 1.0 && l.zoom[1] <= 20.0) {
            return Err("zoom lies between 1 and 20");
        }
        Ok(())
    }
}

/// The frame that looks along −z to `ahead`, with `up` up in the picture, or else `otherwise` if one looks along `up`.
fn upright(ahead: DVec3, up: DVec3, otherwise: DVec3) -> DQuat {
    let across = |v: DVec3| v - ahead * v.dot(ahead);
    let (first, second) = (across(up), across(otherwise));
    let up = if first.length_squared() > 1e-12 {
        first
    } else {
        second
    };
    let up = up.normalize_or(ahead.any_orthonormal_vector());
    let right = ahead.cross(up);
    DQuat::from_mat3(&DMat3::from_cols(right, up, -ahead)).normalize()
}

impl Eye {
    /// True if `point` lies in front of the lens and within the round picture. What stands between is not looked for.
    pub fn sees(&self, point: DVec3) -> bool {
        let local = self.pose.local(point);
        let aside = real::hypot(local.x, local.y);
        -local.z > 0.0 && aside <= -local.z * real::tan(0.5 * self.field_of_view)
    }

    /// Where it looks, unit length.
    pub fn direction(&self) -> DVec3 {
        self.pose.rotation * -DVec3::Z
    }

    /// Which way is up in the picture, unit length.
    pub fn up(&self) -> DVec3 {
        self.pose.rotation * DVec3::Y
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    fn sample(optics: f64) -> Endoscope {
        Endoscope {
            trocar: trocar::looking(DVec3::new(0.0, 0.1, 0.2), DVec3::ZERO, DVec3::Y),
            optics: optics.to_radians(),
            field_of_view: 70_f64.to_radians(),
            limits: EndoscopeLimits {
                yaw: [-1.0, 1.0],
                pitch: [-1.0, 1.0],
                depth: [0.02, 0.3],
                zoom: [1.0, 3.0],
            },
            speed: 0.5,
            turn_speed: 4.0,
            zoom_speed: 3.0,
            radius: 5e-3,
        }
    }

    fn held() -> EndoscopeHandle {
        EndoscopeHandle {
            yaw: 0.3,
            pitch: -0.2,
            depth: 0.1,
            ..EndoscopeHandle::default()
        }
    }

    #[test]
    fn straight_optics_look_along_the_shaft_and_rolling_changes_nothing() {
        let scope = sample(0.0);
        let eye = scope.eye(&held());
        let shaft = scope.shaft(&held());
        assert!((eye.direction() - shaft.rotation * DVec3::Z).length() < 1e-14);
        assert!((eye.pose.position - shaft.position).length() < 1e-15);
        for roll in [0.5, PI, -7.0] {
            let rolled = scope.eye(&EndoscopeHandle { roll, ..held() });
            assert!((rolled.direction() - eye.direction()).length() < 1e-14);
            assert!((rolled.up() - eye.up()).length() < 1e-14);
        }
    }

    #[test]
    fn the_lens_is_where_the_shaft_through_the_trocar_ends() {
        let scope = sample(30.0);
        let lens = scope.eye(&held()).pose.position;
        let back = lens - scope.shaft(&held()).rotation * DVec3::Z * 0.1;
        assert!((back - scope.trocar.position).length() < 1e-15);
    }

    #[test]
    fn a_half_turn_of_the_cable_looks_twice_the_tilt_elsewhere() {
        let scope = sample(30.0);
        let down = scope.eye(&held());
        let up = scope.eye(&EndoscopeHandle { roll: PI, ..held() });
        let apart = trocar_math::angle(down.direction(), up.direction());
        assert!((apart - 60_f64.to_radians()).abs() < 1e-12);
        // The cable is up at roll 0: it looks down.
        assert!(down.direction().y < up.direction().y);
        let shaft = scope.shaft(&held()).rotation * DVec3::Z;
        for k in 0..16 {
            let roll = f64::from(k) * 0.4;
            let eye = scope.eye(&EndoscopeHandle { roll, ..held() });
            let tilt = trocar_math::angle(eye.direction(), shaft);
            assert!((tilt - 30_f64.to_radians()).abs() < 1e-12);
        }
    }

    #[test]
    fn at_horizon_zero_the_worlds_y_is_up_whatever_the_hand_does() {
        let scope = sample(30.0);
        for (yaw, pitch, roll) in [
            (0.0, 0.0, 0.0),
            (0.8, -0.4, 1.0),
            (-1.0, 0.7, 3.0),
            (0.2, 0.1, -2.0),
        ] {
            let handle = EndoscopeHandle {
                yaw,
                pitch,
                roll,
                ..held()
            };
            let eye = scope.eye(&handle);
            let right = eye.pose.rotation * DVec3::X;
            assert!(right.y.abs() < 1e-14, "level");
            assert!(eye.up().y > 0.0, "not upside down");
            let turned = scope.eye(&EndoscopeHandle {
                horizon: 0.5,
                ..handle
            });
            assert!((turned.direction() - eye.direction()).length() < 1e-14);
            let by = trocar_math::angle(turned.up(), eye.up());
            assert!((by - 0.5).abs() < 1e-12);
        }
    }

    #[test]
    fn looking_straight_down_has_a_picture_too() {
        let mut scope = sample(0.0);
        scope.trocar = trocar::looking(DVec3::Y * 0.3, DVec3::ZERO, DVec3::Y);
        let mut last: Option<Eye> = None;
        for k in -100..=100 {
            let handle = EndoscopeHandle {
                yaw: 0.0,
                pitch: f64::from(k) * 1e-3,
                depth: 0.1,
                ..EndoscopeHandle::default()
            };
            let eye = scope.eye(&handle);
            assert!((eye.pose.rotation.length() - 1.0).abs() < 1e-12);
            assert!(eye.pose.rotation.is_finite());
            if let Some(last) = last {
                assert!(trocar_math::angle(last.up(), eye.up()) < 0.01, "{k}");
            }
            last = Some(eye);
        }
    }

    #[test]
    fn it_sees_what_a_projection_puts_inside_the_round_picture() {
        let scope = sample(30.0);
        let eye = scope.eye(&EndoscopeHandle {
            roll: 0.7,
            horizon: -0.4,
            zoom: 1.5,
            ..held()
        });
        // The columns of a projection matrix: depth, and offsets on the picture in units of its radius.
        let (right, up, ahead) = (eye.pose.rotation * DVec3::X, eye.up(), eye.direction());
        let focal = 1.0 / real::tan(0.5 * eye.field_of_view);
        let (mut seen, mut unseen) = (0, 0);
        for i in 0..20 {
            for j in 0..20 {
                for k in 0..20 {
                    let point = DVec3::new(f64::from(i), f64::from(j), f64::from(k)) * 0.02 - 0.2;
                    let from = point - eye.pose.position;
                    let depth = from.dot(ahead);
                    let (x, y) = (
                        focal * from.dot(right) / depth,
                        focal * from.dot(up) / depth,
                    );
                    let inside = depth > 0.0 && x * x + y * y <= 1.0;
                    assert_eq!(eye.sees(point), inside, "{point}");
                    if inside { seen += 1 } else { unseen += 1 }
                }
            }
        }
        assert!(seen > 100 && unseen > 100, "{seen} {unseen}");
        assert!(!eye.sees(eye.pose.position));
    }

    #[test]
    fn zoom_narrows_the_field_by_the_tangent() {
        let scope = sample(0.0);
        let wide = scope.eye(&held()).field_of_view;
        assert!((wide - scope.field_of_view).abs() < 1e-15);
        let near = scope.eye(&EndoscopeHandle {
            zoom: 2.5,
            ..held()
        });
        let ratio = real::tan(0.5 * wide) / real::tan(0.5 * near.field_of_view);
        assert!((ratio - 2.5).abs() < 1e-12);
    }

    #[test]
    fn a_hand_that_jumps_is_followed_at_the_greatest_speed() {
        let scope = sample(30.0);
        let now = held();
        let far = EndoscopeHandle {
            yaw: -40.0,
            pitch: 40.0,
            depth: 9.0,
            roll: f64::NAN,
            horizon: 100.0,
            zoom: f64::INFINITY,
        };
        let next = scope.follow(&now, &far, 0.002);
        let lenses = [now, next].map(|h| scope.eye(&h).pose.position);
        assert!(lenses[0].distance(lenses[1]) <= 2.0 * scope.speed * 0.002);
        assert_eq!((next.roll, next.zoom), (0.0, 1.0));
        assert!((next.horizon - scope.turn_speed * 0.002).abs() < 1e-15);
        let mut at = now;
        for _ in 0..5000 {
            at = scope.follow(&at, &far, 0.002);
        }
        assert_eq!((at.yaw, at.pitch, at.depth), (-1.0, 1.0, 0.3));
    }

    #[test]
    fn what_makes_no_sense_is_said() {
        assert_eq!(sample(30.0).check(), Ok(()));
        assert!(sample(80.0).check().is_err());
        let mut scope = sample(0.0);
        scope.limits.zoom = [0.5, 3.0];
        assert!(scope.check().is_err());
        scope = sample(0.0);
        scope.field_of_view = f64::NAN;
        assert!(scope.check().is_err());
    }
}

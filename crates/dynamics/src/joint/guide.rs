//! Curves and surfaces that guide a ball or a slider (B41, B43, B48).

use glam::DVec3;
use serde::{Deserialize, Serialize};
use trocar_math::real;

/// A curve with a tangent everywhere, in the frame of the body that carries it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Curve {
    /// A circle about the origin in the plane across `axis` (unit length).
    Circle {
        /// Across its plane.
        axis: DVec3,
        /// m, > 0.
        radius: f64,
    },
    /// A helix about `axis` (unit length) through the origin.
    Helix {
        /// What it winds about.
        axis: DVec3,
        /// m, > 0.
        radius: f64,
        /// How far one turn climbs, m.
        pitch: f64,
    },
    /// A smooth curve through points (a Catmull-Rom spline), two or more, no two in succession the same.
    Through {
        /// m.
        points: Vec<DVec3>,
        /// True if it runs back to its first point.
        closed: bool,
    },
}

/// A surface with a normal everywhere, in the frame of the body that carries it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sheet {
    /// A sphere about the origin.
    Sphere {
        /// m, > 0.
        radius: f64,
    },
    /// An endless cylinder about `axis` (unit length) through the origin.
    Cylinder {
        /// Its axis.
        axis: DVec3,
        /// m, > 0.
        radius: f64,
    },
    /// A ring about `axis` (unit length).
    Torus {
        /// Its axis.
        axis: DVec3,
        /// From the axis to the middle of the tube, m.
        radius: f64,
        /// Of the tube, m, < radius.
        tube: f64,
    },
}

/// Where something lies on a guide.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Foot {
    /// The nearest point, m.
    pub point: DVec3,
    /// Tangent of a curve or normal of a surface, unit length.
    pub direction: DVec3,
    /// Where on the curve that is; next time the search starts here.
    pub parameter: f64,
}

/// At so many places of each segment a curve is looked at for places where it turns back: where it goes on by less than this part of the
/// segment's length, or the other way than at the place before.
const LOOKS: u32 = 64;
const LEAST_PACE: f64 = 0.01;

impl Curve {
    /// Why this is no curve to slide on, if it is none.
    pub fn trouble(&self) -> Option<&'static str> {
        let unit = |axis: &DVec3| (axis.length() - 1.0).abs() < 1e-6;
        match self {
            Self::Circle { axis, radius } | Self::Helix { axis, radius, .. } => {
                let pitched = !matches!(self, Self::Helix { pitch, .. } if !pitch.is_finite());
                (!(unit(axis) && *radius > 0.0 && radius.is_finite() && pitched))
                    .then_some("its axis must have unit length and its radius be positive")
            }
            Self::Through { points, closed } => {
                let (least, few) = match closed {
                    true => (3, "a loop needs three or more points, all finite"),
                    false => (2, "it needs two or more points, all finite"),
                };
                if points.len() < least || !points.iter().all(|p| p.is_finite()) {
                    return Some(few);
                }
                let next = |i: usize| points.get(i + 1).unwrap_or(&points[0]);
                let segments = points.len() - usize::from(!closed);
                let chord = |i: usize| points[i].distance(*next(i));
                if (0..segments).any(|i| chord(i) < 1e-9) {
                    return Some("two points in succession are the same");
                }
                let mut before = self.at(0.0).1;
                let turns_back = (0..segments).any(|i| {
                    (0..=LOOKS).any(|k| {
                        let s = i as f64 + f64::from(k) / f64::from(LOOKS);
                        let last = std::mem::replace(&mut before, self.at(s).1);
                        before.length() < LEAST_PACE * chord(i) || before.dot(last) <= 0.0
                    })
                });
                turns_back
                    .then_some("it turns back on the spot: a bead there would not know where to go")
            }
        }
    }

    /// The point of the curve nearest to `point`. On a spline and a helix the search starts at `near`, so that it
    /// follows one strand past another; if that is no number, the nearest strand is looked for.
    pub fn foot(&self, point: DVec3, near: f64) -> Foot {
        let near = if near.is_nan() {
            self.nearest(point)
        } else {
            near
        };
        match self {
            Self::Circle { axis, radius } => {
                let out = (point - *axis * axis.dot(point))
                    .try_normalize()
                    .unwrap_or_else(|| axis.any_orthonormal_vector());
                Foot {
                    point: out * *radius,
                    direction: axis.cross(out),
                    parameter: 0.0,
                }
            }
            Self::Helix { .. } | Self::Through { .. } => self.search(point, near),
        }
    }

    /// The nearest of points all along the curve.
    fn nearest(&self, point: DVec3) -> f64 {
        let (first, count) = match self {
            Self::Circle { .. } => (0.0, 1),
            Self::Helix { axis, pitch, .. } if *pitch != 0.0 => {
                let turns = axis.dot(point) / pitch;
                ((turns - 1.0) * std::f64::consts::TAU, 128)
            }
            Self::Helix { .. } => (0.0, 64),
            Self::Through { points, .. } => (0.0, 10 * points.len() as u32),
        };
        (0..=count)
            .map(|k| first + 0.1 * f64::from(k))
            .map(|s| (self.at(s).0.distance_squared(point), s))
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map_or(0.0, |best| best.1)
    }

    /// Newton's method on (c(s) − p)·c′(s) = 0, each step held to a part of a turn or of a segment, with c″ left out where it
    /// would lead away from the foot.
    fn search(&self, point: DVec3, near: f64) -> Foot {
        let mut s = self.wrapped(near);
        for _ in 0..32 {
            let (c, d, dd) = self.at(s);
            let away = c - point;
            let slope = d.length_squared();
            let curved = slope + away.dot(dd);
            if slope == 0.0 {
                break;
            }
            let step = -away.dot(d) / if curved > 0.1 * slope { curved } else { slope };
            s = self.wrapped(s + step.clamp(-0.5, 0.5));
            if step.abs() < 1e-15 {
                break;
            }
        }
        let (c, d, _) = self.at(s);
        Foot {
            point: c,
            direction: d.normalize_or(DVec3::X),
            parameter: s,
        }
    }

    fn wrapped(&self, s: f64) -> f64 {
        match self {
            Self::Through { points, closed } => {
                let count = points.len() as f64;
                if *closed {
                    s - real::floor(s / count) * count
                } else {
                    // Beyond its ends the curve runs straight on.
                    s.clamp(-1e6, 1e6)
                }
            }
            _ => s,
        }
    }

    /// Point, first and second derivative.
    fn at(&self, s: f64) -> (DVec3, DVec3, DVec3) {
        match self {
            Self::Circle { axis, radius } => round(*axis, *radius, 0.0, s),
            Self::Helix {
                axis,
                radius,
                pitch,
            } => round(*axis, *radius, *pitch, s),
            Self::Through { points, closed } => spline(points, *closed, s),
        }
    }
}

fn round(axis: DVec3, radius: f64, pitch: f64, s: f64) -> (DVec3, DVec3, DVec3) {
    let (sin, cos) = real::sin_cos(s);
    let x = axis.any_orthonormal_vector();
    let y = axis.cross(x);
    let climb = pitch / std::f64::consts::TAU;
    let out = x * cos + y * sin;
    (
        out * radius + axis * (climb * s),
        (y * cos - x * sin) * radius + axis * climb,
        out * -radius,
    )
}

/// A cubic through `points`, its tangent at each the half way between its neighbours; straight beyond open ends.
fn spline(points: &[DVec3], closed: bool, s: f64) -> (DVec3, DVec3, DVec3) {
    let n = points.len() as i64;
    let point = |i: i64| {
        if closed {
            points[i.rem_euclid(n) as usize]
        } else if i < 0 {
            points[0] * 2.0 - points[1]
        } else if i >= n {
            points[n as usize - 1] * 2.0 - points[n as usize - 2]
        } else {
            points[i as usize]
        }
    };
    let segments = if closed { n } else { n - 1 };
    let i = (real::floor(s) as i64).clamp(0, segments - 1);
    let t = s - i as f64;
    let (a, b, c, d) = (point(i - 1), point(i), point(i + 1), point(i + 2));
    let at = |t: f64| {
        let (one, two) = ((c - a) * 0.5, (d - b) * 0.5);
        let square = (c - b) * 3.0 - one * 2.0 - two;
        let cube = (b - c) * 2.0 + one + two;
        (
            b + one * t + square * (t * t) + cube * (t * t * t),
            one + square * (2.0 * t) + cube * (3.0 * t * t),
            square * 2.0 + cube * (6.0 * t),
        )
    };
    let inside = t.clamp(0.0, 1.0);
    let (point, slope, bend) = at(inside);
    if inside == t {
        (point, slope, bend)
    } else {
        (point + slope * (t - inside), slope, DVec3::ZERO)
    }
}

impl Sheet {
    /// Why this is no surface to slide on, if it is none.
    pub fn trouble(&self) -> Option<&'static str> {
        let positive = |x: f64| x > 0.0 && x.is_finite();
        let unit = |axis: &DVec3| (axis.length() - 1.0).abs() < 1e-6;
        let sound = match self {
            Self::Sphere { radius } => positive(*radius),
            Self::Cylinder { axis, radius } => unit(axis) && positive(*radius),
            Self::Torus { axis, radius, tube } => {
                unit(axis) && positive(*radius) && positive(*tube) && tube < radius
            }
        };
        (!sound).then_some(
            "its axis must have unit length, its radii be positive, a tube thinner than its ring",
        )
    }

    /// The point of the surface nearest to `point`, and the outward normal there.
    pub fn foot(&self, point: DVec3) -> Foot {
        let (centre, radius, across) = match self {
            Self::Sphere { radius } => (DVec3::ZERO, *radius, DVec3::X),
            Self::Cylinder { axis, radius } => (
                *axis * axis.dot(point),
                *radius,
                axis.any_orthonormal_vector(),
            ),
            Self::Torus { axis, radius, tube } => {
                let out = (point - *axis * axis.dot(point))
                    .try_normalize()
                    .unwrap_or_else(|| axis.any_orthonormal_vector());
                (out * *radius, *tube, out)
            }
        };
        let direction = (point - centre).normalize_or(across);
        Foot {
            point: centre + direction * radius,
            direction,
            parameter: 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curves() -> [Curve; 4] {
        let points = vec![
            DVec3::ZERO,
            DVec3::new(1.0, 0.2, 0.0),
            DVec3::new(1.5, 1.0, 0.3),
            DVec3::new(0.2, 1.4, -0.2),
        ];
        [
            Curve::Circle {
                axis: DVec3::Z,
                radius: 0.7,
            },
            Curve::Helix {
                axis: DVec3::Y,
                radius: 0.3,
                pitch: 0.2,
            },
            Curve::Through {
                points: points.clone(),
                closed: false,
            },
            Curve::Through {
                points,
                closed: true,
            },
        ]
    }

    #[test]
    fn derivatives_are_those_of_the_curve() {
        for curve in curves() {
            for k in 0..30 {
                let (s, e) = (0.13 * f64::from(k) + 0.01, 1e-5);
                let (_, d, dd) = curve.at(s);
                let slope = (curve.at(s + e).0 - curve.at(s - e).0) / (2.0 * e);
                let bend = (curve.at(s + e).1 - curve.at(s - e).1) / (2.0 * e);
                // The bend of a spline jumps at its points.
                if (s - s.round()).abs() > 1e-3 {
                    assert!((d - slope).length() < 1e-8, "{curve:?} {s}");
                    assert!((dd - bend).length() < 1e-7, "{curve:?} {s}");
                }
            }
        }
    }

    #[test]
    fn a_foot_is_where_the_way_to_the_point_is_across_the_curve() {
        for curve in curves() {
            assert_eq!(curve.trouble(), None);
            for k in 0..30 {
                let s = 0.1 * f64::from(k);
                let (c, d, _) = curve.at(s);
                let beside = c + d.any_orthogonal_vector().normalize() * 0.02;
                let foot = curve.foot(beside, s);
                assert!((foot.point - beside).dot(foot.direction).abs() < 1e-12);
                assert!((foot.point - c).length() < 0.01, "{curve:?} {s}");
            }
        }
    }

    #[test]
    fn a_foot_on_a_surface_is_on_it_and_straight_below() {
        let sheets = [
            Sheet::Sphere { radius: 0.4 },
            Sheet::Cylinder {
                axis: DVec3::Z,
                radius: 0.2,
            },
            Sheet::Torus {
                axis: DVec3::Y,
                radius: 0.5,
                tube: 0.1,
            },
        ];
        for sheet in sheets {
            let point = DVec3::new(0.5, 0.13, -0.2);
            let foot = sheet.foot(point);
            assert!((point - foot.point).cross(foot.direction).length() < 1e-15);
            assert!((sheet.foot(foot.point).point - foot.point).length() < 1e-15);
        }
    }

    #[test]
    fn no_curve_without_length_and_no_surface_without_radius() {
        let twice = vec![DVec3::X, DVec3::X];
        let bad = [
            Curve::Circle {
                axis: DVec3::Z,
                radius: 0.0,
            },
            Curve::Through {
                points: twice,
                closed: false,
            },
            Curve::Through {
                points: vec![],
                closed: true,
            },
        ];
        assert!(bad.iter().all(|c| c.trouble().is_some()));
        assert!(Sheet::Sphere { radius: f64::NAN }.trouble().is_some());
    }
}

//! When two moving bodies first touch.

use glam::DVec3;
use parry3d_f64::math::Pose as Placed;
use parry3d_f64::query::details::closest_points_support_map_support_map_with_params;
use parry3d_f64::query::gjk::{GJKResult, VoronoiSimplex};
use parry3d_f64::query::{ClosestPoints, DefaultQueryDispatcher, QueryDispatcher};
use parry3d_f64::shape::Shape as ParryShape;
use trocar_math::{Bounds, Pose, rotation};

use super::Shape;
use super::solid::{Mesh, Solid, to_parry};

/// More steps than conservative advancement needs for anything that really hits.
const ROUNDS: usize = 128;

/// Rounding of a distance along a line, as a part of it.
const ROUNDING: f64 = 1e-9;

/// The way of a body through a step: positions on a line, orientations by constant turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// Where it starts.
    pub start: Pose,
    /// Where it would end.
    pub end: Pose,
}

impl Motion {
    /// Standing still.
    pub fn still(pose: Pose) -> Self {
        Self {
            start: pose,
            end: pose,
        }
    }

    /// That of a part whose place in the body is `place`.
    fn of(&self, place: Option<&Pose>) -> Path {
        Path {
            motion: *self,
            place: place.copied(),
        }
    }

    /// False where it is no number, or so far that squares are none.
    fn is_sound(&self) -> bool {
        [&self.start, &self.end].into_iter().all(|pose| {
            pose.position.length_squared().is_finite() && pose.rotation.length_squared().is_finite()
        })
    }

    /// Angle it turns by, rad.
    fn angle(&self) -> f64 {
        rotation::to_scaled_axis(self.end.rotation * self.start.rotation.conjugate()).length()
    }
}

/// The motion of a part of a body.
#[derive(Clone, Copy)]
struct Path {
    motion: Motion,
    place: Option<Pose>,
}

impl Path {
    /// Where it is after the part `at` of the way.
    fn at(&self, at: f64) -> Pose {
        let body = self.motion.start.interpolate(&self.motion.end, at);
        self.place.map_or(body, |place| body.compose(&place))
    }
}

/// The part of the way (0 to 1) after which `a` and `b` come within `distance` (m, above zero) of each other; nothing
/// if they never do. 0 if they are there already.
///
/// Conservative advancement (Mirtich 1996): the gap along the line between the nearest points can't close faster than
/// the bodies move along it plus what they turn, so that much of the way is free; go there and look again. Never late:
/// if it runs out of rounds, or can't tell how near they are, the answer is the place reached, which is before the impact: they may
/// meet there. So is 0 if a way is no number. Pairs of meshes and half spaces never touch.
pub fn time_of_impact(
    a: &Shape,
    motion_a: &Motion,
    b: &Shape,
    motion_b: &Motion,
    distance: f64,
) -> Option<f64> {
    if !a.can_be_dynamic() && !b.can_be_dynamic() {
        return None;
    }
    if !motion_a.is_sound() || !motion_b.is_sound() || distance.is_nan() {
        return Some(0.0);
    }
    let mut first: Option<f64> = None;
    for part_a in a.parts() {
        for part_b in b.parts() {
            let flight = Flight {
                a: motion_a.of(part_a.place.as_ref()),
                b: motion_b.of(part_b.place.as_ref()),
                turning_a: turning(motion_a, a),
                turning_b: turning(motion_b, b),
                way: (motion_b.end.position - motion_b.start.position)
                    - (motion_a.end.position - motion_a.start.position),
                distance,
            };
            let limit = first.unwrap_or(1.0);
            let hit = match (&part_a.solid, &part_b.solid) {
                (Solid::Mesh(mesh), solid) => flight.on_mesh(mesh, solid, limit),
                (solid, Solid::Mesh(mesh)) => flight.reversed().on_mesh(mesh, solid, limit),
                (one, two) => flight.convex(one.as_parry(), two.as_parry(), limit),
            };
            first = hit.or(first);
        }
    }
    first
}

/// The way that turning alone takes the furthest point of `shape`, m.
fn turning(motion: &Motion, shape: &Shape) -> f64 {
    match motion.angle() {
        0.0 => 0.0,
        angle => angle * shape.radius(),
    }
}

/// Two parts on their way.
#[derive(Clone, Copy)]
struct Flight {
    a: Path,
    b: Path,
    /// m.
    turning_a: f64,
    /// m.
    turning_b: f64,
    /// Of b relative to a, m.
    way: DVec3,
    /// At which they count as touching, m.
    distance: f64,
}

impl Flight {
    fn reversed(&self) -> Self {
        Self {
            a: self.b,
            b: self.a,
            turning_a: self.turning_b,
            turning_b: self.turning_a,
            way: -self.way,
            distance: self.distance,
        }
    }

    /// When two convex things meet, if that is before `limit`.
    fn convex(&self, a: &dyn ParryShape, b: &dyn ParryShape, limit: f64) -> Option<f64> {
        let turn = self.turning_a + self.turning_b;
        // What is further away than this can't be reached.
        let reach = self.way.length() + turn + self.distance;
        let mut at = 0.0;
        for _ in 0..ROUNDS {
            let (pose_a, pose_b) = (to_parry(&self.a.at(at)), to_parry(&self.b.at(at)));
            match nearest(&pose_a.inv_mul(&pose_b), a, b, reach) {
                Some(ClosestPoints::WithinMargin(p, q)) => {
                    let line = pose_b.transform_point(q) - pose_a.transform_point(p);
                    let gap = line.length();
                    if gap <= self.distance {
                        return Some(at);
                    }
                    // How much of the gap the whole way would close.
                    let closing = turn - self.way.dot(line) / gap;
                    // What parts them for certain: points of long and thin things are not quite the nearest.
                    let free = match (a.as_support_map(), b.as_support_map()) {
                        (Some(one), Some(two)) => {
                            let n = line / gap;
                            let low = two.support_point(&pose_b, -n);
                            gap.min((low - one.support_point(&pose_a, n)).dot(n))
                        }
                        _ => gap,
                    };
                    // To the middle of the shell, so that the next look finds the bodies inside it.
                    let step = free - 0.5 * self.distance;
                    let next = at + step / closing;
                    // Points that are none, or part nothing, tell nothing.
                    if closing.is_nan() || next.is_nan() || step <= 0.0 {
                        return Some(at);
                    }
                    if closing <= 0.0 || next >= limit {
                        return None;
                    }
                    at = next;
                }
                Some(ClosestPoints::Disjoint) => return None,
                Some(ClosestPoints::Intersecting) | None => return Some(at),
            }
        }
        Some(at)
    }

    /// When b meets one of the triangles of a, if that is before `limit`.
    fn on_mesh(&self, mesh: &Mesh, solid: &Solid, limit: f64) -> Option<f64> {
        let [start, end] = [0.0, 1.0].map(|at| {
            let (pose_a, pose_b) = (self.a.at(at), self.b.at(at));
            let turn = pose_a.rotation.conjugate();
            Pose::new(
                turn * (pose_b.position - pose_a.position),
                turn * pose_b.rotation,
            )
        });
        // Seen from a mesh that turns, the way is an arc; it leaves the straight one by less than this.
        let arc = self.a.motion.angle() * start.position.length().max(end.position.length());
        let (one, two) = (solid.bounds(&start), solid.bounds(&end));
        let grow = arc + self.turning_b + self.distance;
        let swept = Bounds {
            low: one.low.min(two.low) - grow,
            high: one.high.max(two.high) + grow,
        };
        // The earliest of all, in whatever order they come.
        let mut first = None;
        mesh.near(&swept, |t| {
            let triangle = mesh.triangles.triangle(t);
            let hit = self.convex(&triangle, solid.as_parry(), first.unwrap_or(limit));
            first = hit.or(first);
        });
        first
    }
}

/// The nearest points of two convex things no further apart than `reach` (m), each in its own frame; none if nobody can tell.
///
/// By GJK wherever both are bounded and not round: what parry has for boxes and triangles is quicker, but gives points
/// that are not always the nearest.
fn nearest(
    pose: &Placed,
    a: &dyn ParryShape,
    b: &dyn ParryShape,
    reach: f64,
) -> Option<ClosestPoints> {
    let (Some(one), Some(two)) = (a.as_support_map(), b.as_support_map()) else {
        return DefaultQueryDispatcher
            .closest_points(pose, a, b, reach)
            .ok();
    };
    if a.as_ball().is_some() || b.as_ball().is_some() {
        return DefaultQueryDispatcher
            .closest_points(pose, a, b, reach)
            .ok();
    }
    let simplex = &mut VoronoiSimplex::new();
    match closest_points_support_map_support_map_with_params(pose, one, two, reach, simplex, None) {
        GJKResult::ClosestPoints(p, q, _) => Some(ClosestPoints::WithinMargin(
            p,
            pose.inverse_transform_point(q),
        )),
        GJKResult::Intersection => Some(ClosestPoints::Intersecting),
        // It says so, too, when it is out of rounds. Then the direction does not part them.
        GJKResult::NoIntersection(way) => {
            let high = one.local_support_point(way).dot(way);
            let gap = two.support_point(pose, -way).dot(way) - high;
            (gap >= reach * (1.0 - ROUNDING)).then_some(ClosestPoints::Disjoint)
        }
        GJKResult::Proximity(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use glam::DQuat;

    use super::*;
    use crate::rigid::Form;

    fn shape(form: Form) -> Shape {
        Shape::new(&form).unwrap()
    }

    fn at(x: f64, y: f64, z: f64) -> Pose {
        Pose::new(DVec3::new(x, y, z), DQuat::IDENTITY)
    }

    #[test]
    fn a_bullet_hits_the_wall_where_the_sums_say() {
        let bullet = shape(Form::Ball { radius: 0.005 });
        let wall = shape(Form::Box {
            half: DVec3::new(0.001, 1.0, 1.0),
        });
        let flight = Motion {
            start: at(-1.0, 0.0, 0.0),
            end: at(3.0, 0.0, 0.0),
        };
        let hit = time_of_impact(
            &bullet,
            &flight,
            &wall,
            &Motion::still(Pose::IDENTITY),
            1e-6,
        )
        .unwrap();
        let exact = (1.0 - 0.006) / 4.0;
        assert!(hit <= exact && exact - hit < 1e-6, "{hit} {exact}");
        let miss = Motion {
            start: at(-1.0, 1.1, 0.0),
            end: at(3.0, 1.1, 0.0),
        };
        let still = Motion::still(Pose::IDENTITY);
        assert_eq!(time_of_impact(&bullet, &miss, &wall, &still, 1e-6), None);
    }

    #[test]
    fn planes_meshes_and_turning_bodies_are_met() {
        let plane = shape(Form::HalfSpace { normal: DVec3::Y });
        let floor = shape(Form::Mesh {
            vertices: vec![
                DVec3::new(-5.0, 0.0, -5.0),
                DVec3::new(5.0, 0.0, -5.0),
                DVec3::new(0.0, 0.0, 5.0),
            ],
            triangles: vec![[0, 2, 1]],
        });
        let rod = shape(Form::Box {
            half: DVec3::new(1.0, 0.01, 0.01),
        });
        // Lying 0.5 m above the floor, turning by a right angle: the tip comes down at sin θ = 0.49 or so.
        let quarter = rotation::from_axis_angle(DVec3::Z, std::f64::consts::FRAC_PI_2);
        let turning = Motion {
            start: at(0.0, 0.5, 0.0),
            end: Pose::new(DVec3::new(0.0, 0.5, 0.0), quarter),
        };
        for ground in [&plane, &floor] {
            let still = Motion::still(Pose::IDENTITY);
            let hit = time_of_impact(ground, &still, &rod, &turning, 1e-5).unwrap();
            let angle = hit * std::f64::consts::FRAC_PI_2;
            let (s, c) = trocar_math::real::sin_cos(angle);
            let lowest = 0.5 - s - 0.01 * c;
            assert!((0.0..=1.1e-5).contains(&lowest), "{lowest}");
        }
        let still = Motion::still(Pose::IDENTITY);
        assert_eq!(time_of_impact(&plane, &still, &floor, &still, 1e-3), None);
        let sunk = Motion::still(at(0.0, 0.005, 0.0));
        assert_eq!(time_of_impact(&plane, &still, &rod, &sunk, 1e-3), Some(0.0));
    }

    /// The middles of both come to the same place halfway, so that they meet, however flat, long, large or fast they are.
    #[test]
    fn what_meets_for_certain_is_never_said_to_miss() {
        let mut random = 7_u64;
        let mut dice = || {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (random >> 11) as f64 / (1_u64 << 53) as f64
        };
        for case in 0..4000 {
            // A hull is made of its points to within a part of its size, and must not be thinner than that.
            let span = if case % 4 == 3 { 3.0 } else { 7.0 };
            let mut size = || trocar_math::real::pow(10.0, 1.0 - span * dice());
            let forms = [0, 1].map(|_| {
                let [x, y, z] = [size(), size(), size()];
                match case % 4 {
                    0 => Form::Box {
                        half: DVec3::new(x, y, z),
                    },
                    1 => Form::Cylinder {
                        half_height: x,
                        radius: y,
                    },
                    2 => Form::Capsule {
                        half_length: x,
                        radius: y,
                    },
                    _ => Form::Hull {
                        points: (0..8)
                            .map(|k| {
                                let side =
                                    |bit: u32, s: f64| if k >> bit & 1 == 0 { s } else { -s };
                                DVec3::new(side(0, x), side(1, y), side(2, z))
                            })
                            .collect(),
                    },
                }
            });
            let [Ok(a), Ok(b)] = forms.map(|form| Shape::new(&form)) else {
                continue;
            };
            let mut flight = |still: bool| {
                let mut vector = || DVec3::new(dice(), dice(), dice()) * 2.0 - 1.0;
                let (way, turn) = (vector() * 3.0, vector() * 3.0);
                let rotation = rotation::from_scaled_axis(turn);
                let (start, end) = match still {
                    true => (rotation, rotation),
                    false => (rotation, rotation::from_scaled_axis(vector()) * rotation),
                };
                Motion {
                    start: Pose::new(-way, start),
                    end: Pose::new(way, end),
                }
            };
            let (one, other) = (flight(case % 8 < 4), flight(case % 8 < 4));
            let hit = time_of_impact(&a, &one, &b, &other, 1e-5);
            assert!(hit.is_some_and(|t| t <= 0.5), "case {case}: {hit:?}");
        }
    }

    /// Where nobody can tell, they may meet.
    #[test]
    fn what_is_no_number_may_meet() {
        let ball = shape(Form::Ball { radius: 0.005 });
        let cube = shape(Form::Box { half: DVec3::ONE });
        let floor = shape(Form::Mesh {
            vertices: vec![DVec3::X, DVec3::Z, DVec3::NEG_X],
            triangles: vec![[0, 1, 2]],
        });
        let still = Motion::still(at(0.0, 5.0, 0.0));
        for bad in [f64::NAN, f64::INFINITY, 1e300] {
            let flight = Motion {
                start: at(0.0, 0.0, 0.0),
                end: at(bad, 0.0, 0.0),
            };
            for (one, other) in [
                (&ball, &cube),
                (&cube, &ball),
                (&cube, &cube),
                (&floor, &cube),
            ] {
                for (a, b) in [(&flight, &still), (&still, &flight)] {
                    assert_eq!(time_of_impact(one, a, other, b, 1e-5), Some(0.0), "{bad}");
                }
            }
        }
    }
}

//! Joints.

use super::{Item, Latch, Model, Timetable, check::Checker, items};
use crate::{
    file::{
        AnchorSpec, BaseName, BaseSpec, CurveSpec, DriveSpec, JointKind, JointSpec, Measure,
        SurfaceSpec, Timed,
    },
    load::{Scene, SceneError},
};
use glam::{DMat3, DQuat, DVec3};
use trocar_dynamics::{
    Anchor, Joint, Local, MatterId,
    joint::{Control, Coordinate, Curve, Drive, Kind, Sheet, Side, Target},
};

/// Shortest lever of a joint that is kept by two points, m.
const LEAST_LEVER: f64 = 0.005;

impl Model {
    pub(super) fn add_joints(&mut self, scene: &Scene) -> Result<(), SceneError> {
        for Item {
            source,
            index,
            item,
        } in items(scene, |s| &s.file.joint)
        {
            let check = Checker {
                source,
                table: "joint",
                index,
            };
            let mut joint = self.joint(&check, item)?;
            self.check_sides(&check, &joint)?;
            if let Some(held) = item.held {
                if !joint.can_catch() {
                    return Err(check.error(
                        &["held".into()],
                        "only a joint between bodies, or a body and the world, can be opened and closed, and none on a curve or a surface",
                        "Leave `held` out.",
                    ));
                }
                let counts = |c: &Control| !matches!(c.coordinate, Coordinate::Distance);
                if let (Some([least, greatest]), true) =
                    (item.range, joint.controls.iter().any(counts))
                    && !(least <= 0.0 && 0.0 <= greatest)
                {
                    return Err(check.error(
                        &["range".into()],
                        "the range of a joint that can be opened and closed does not contain 0",
                        "It counts from where the joint takes hold: let 0 lie within it.",
                    ));
                }
                joint.open = !held;
                self.latches.push(Latch {
                    joint: self.joints.len(),
                    apart: (!item.collide).then(|| self.colliders_of(&joint)).flatten(),
                });
            } else if !item.collide
                && let Some(base) = joint.bases.first()
            {
                self.part(base.a, base.b);
            }
            if let Some(points) = timed(&check, item)? {
                self.timetables.push(Timetable {
                    joint: self.joints.len(),
                    control: 0,
                    points,
                });
            }
            self.joints.push(joint);
            self.joint_names.push(item.name.clone());
        }
        for t in 0..self.ties.len() {
            let (a, b) = (self.ties[t].a, self.ties[t].b);
            self.part(a, b);
        }
        self.apart.sort_unstable();
        self.apart.dedup();
        self.apart_from_tissue.sort_unstable();
        self.apart_from_tissue.dedup();
        Ok(())
    }

    /// The collider of what an anchor is on.
    fn collider(&self, anchor: Anchor) -> Option<u32> {
        let Local::Frame(node, _) = anchor.at else {
            return None;
        };
        // Colliders stand in the order of their matter and nodes.
        let place = self
            .colliders
            .binary_search_by_key(&(anchor.matter, node), |c| c.at);
        place.ok().map(|c| c as u32)
    }

    /// Those of a joint's sides, the lower one first.
    fn colliders_of(&self, joint: &Joint) -> Option<(u32, u32)> {
        let base = joint.bases.first()?;
        let [a, b] = [self.collider(base.a)?, self.collider(base.b)?];
        Some((a.min(b), a.max(b)))
    }

    /// What a joint joins does not collide: neither two bodies, nor a body and a tissue.
    fn part(&mut self, a: Anchor, b: Anchor) {
        let collider = |anchor: Anchor| self.collider(anchor);
        let first = self.matters.len() - self.tissues.len();
        let tissue = |anchor: Anchor| (anchor.matter.index() >= first).then_some(anchor.matter);
        match (collider(a), collider(b), tissue(a), tissue(b)) {
            (Some(a), Some(b), ..) => self.apart.push((a.min(b), a.max(b))),
            (Some(c), None, None, Some(t)) | (None, Some(c), Some(t), None) => {
                self.apart_from_tissue.push((c, t));
            }
            _ => {}
        }
    }

    fn check_sides(&self, check: &Checker<'_>, joint: &Joint) -> Result<(), SceneError> {
        let wrong = |problem: &str, remedy: &str| Err(check.error(&["b".into()], problem, remedy));
        let node = |anchor: &Anchor| match anchor.at {
            Local::Node(n) | Local::Frame(n, _) => Some((anchor.matter, n)),
            _ => None,
        };
        let ends = joint
            .bases
            .iter()
            .map(|b| (b.a, b.b, b.kind.needs_axes(), b.kind.is_rotational()))
            .chain(joint.controls.iter().map(|c| {
                let points = matches!(c.coordinate, Coordinate::Distance);
                (c.a, c.b, !points, c.coordinate.is_angle())
            }));
        for (a, b, axes, turning) in ends {
            if node(&a).is_some() && node(&a) == node(&b) {
                return wrong(
                    "both sides are the same thing",
                    "Join two different things.",
                );
            }
            if a.matter.index() < self.prescribed() && b.matter.index() < self.prescribed() {
                return wrong("neither side can move", "Join something that moves.");
            }
            let framed = |x: &Anchor| matches!(x.at, Local::Frame(..));
            if (axes && !framed(&a)) || (turning && !framed(&b)) {
                return wrong(
                    "a point of a tissue or a particle has no axes",
                    "Let `a` be a body or the world; at a point use a ball joint, a rail or a distance.",
                );
            }
        }
        Ok(())
    }

    /// The orientation of what an anchor is on, at the start; and the point, m.
    fn standing(&self, anchor: &Anchor) -> (DQuat, DVec3) {
        let start = &self.start[anchor.matter.index()];
        match anchor.at {
            Local::Frame(n, offset) => {
                let q = start.orientation[n as usize];
                (q, start.position[n as usize] + q * offset)
            }
            Local::Node(n) => (DQuat::IDENTITY, start.position[n as usize]),
            Local::Triangle(nodes, weights) => (
                DQuat::IDENTITY,
                nodes.iter().zip(weights).fold(DVec3::ZERO, |sum, (n, w)| {
                    sum + start.position[*n as usize] * w
                }),
            ),
            Local::Tetrahedron(nodes, weights) => (
                DQuat::IDENTITY,
                nodes.iter().zip(weights).fold(DVec3::ZERO, |sum, (n, w)| {
                    sum + start.position[*n as usize] * w
                }),
            ),
        }
    }

    /// The two sides of a joint, or of one of its base joints: where they are at the start, and with which axes.
    fn sides(
        &self,
        check: &Checker<'_>,
        (a, b): (&AnchorSpec, &AnchorSpec),
        (at, axis, second): (Option<[f64; 3]>, [f64; 3], Option<[f64; 3]>),
    ) -> Result<(Side, Side), SceneError> {
        if let Some(at) = at {
            check.points(&[at], "at")?;
        }
        let a = self.anchor_at(check, "a", a, at)?;
        let b = self.anchor_at(check, "b", b, at)?;
        let direction = |v: [f64; 3], key: &'static str| {
            DVec3::from(v)
                .try_normalize()
                .filter(|v| v.is_finite())
                .ok_or_else(|| {
                    check.error(&[key.into()], "this is no direction", "Give another axis.")
                })
        };
        let x = direction(axis, "axis")?;
        let y = match second {
            None => x.any_orthonormal_vector(),
            Some(second) => {
                let second = direction(second, "second_axis")?;
                (second - x * x.dot(second))
                    .try_normalize()
                    .ok_or_else(|| {
                        check.error(
                            &["second_axis".into()],
                            "both axes are the same",
                            "Give an axis across the first.",
                        )
                    })?
            }
        };
        let axes = DQuat::from_mat3(&DMat3::from_cols(x, y, x.cross(y))).normalize();
        let side = |anchor: Anchor| Side {
            anchor,
            axes: (self.standing(&anchor).0.conjugate() * axes).normalize(),
        };
        Ok((side(a), side(b)))
    }

    /// Composes a joint of what its `bases` say (B52).
    fn composed(
        &self,
        check: &Checker<'_>,
        spec: &JointSpec,
        here: (Side, Side),
    ) -> Result<Joint, SceneError> {
        let mut joint = Joint::free();
        for base in &spec.bases {
            let (name, (sa, sb)) = match base {
                BaseSpec::Here(name) => (name, here),
                BaseSpec::There(there) => {
                    // A place of its own goes before what the sides say.
                    let placed = |side: &AnchorSpec| match there.at {
                        Some(_) => AnchorSpec {
                            at: None,
                            node: None,
                            world: None,
                            ..side.clone()
                        },
                        None => side.clone(),
                    };
                    let (a, b) = (placed(&spec.a), placed(&spec.b));
                    let axis = there.axis.unwrap_or(spec.axis);
                    let second = match there.axis {
                        Some(_) => there.second_axis,
                        None => there.second_axis.or(spec.second_axis),
                    };
                    let place = (there.at.or(spec.at), axis, second);
                    (&there.base, self.sides(check, (&a, &b), place)?)
                }
            };
            let kind = match name {
                BaseName::T3 => Kind::Point,
                BaseName::T2 => Kind::Line(sa.axes * DVec3::X),
                BaseName::T1 => Kind::Plane(sa.axes * DVec3::X),
                BaseName::R3 => Kind::Orientation((sa.axes * sb.axes.conjugate()).normalize()),
                BaseName::R2 => Kind::Axis(sa.axes * DVec3::X, sb.axes * DVec3::X),
                BaseName::R1 => Kind::Angle(
                    sa.axes * DVec3::X,
                    sb.axes * DVec3::Y,
                    std::f64::consts::FRAC_PI_2,
                ),
                BaseName::Velocity => Kind::Velocity,
                BaseName::Spin => Kind::Spin,
            };
            joint = joint.with(sa.anchor, sb.anchor, kind);
        }
        Ok(joint)
    }

    fn joint(&self, check: &Checker<'_>, spec: &JointSpec) -> Result<Joint, SceneError> {
        let place = (spec.at, spec.axis, spec.second_axis);
        let (sa, sb) = self.sides(check, (&spec.a, &spec.b), place)?;
        let (a, b) = (sa.anchor, sb.anchor);
        let (pa, pb) = (self.standing(&a).1, self.standing(&b).1);
        // The second point of a hinge as far away as the bodies reach, so that a turn shows as well as a shift.
        let reach = |anchor: &Anchor| match anchor.at {
            Local::Frame(_, offset) if anchor.matter != MatterId::WORLD => offset.length(),
            _ => 0.0,
        };
        let lever = reach(&a).max(reach(&b)).max(LEAST_LEVER);
        let missing = |key: &'static str| {
            check.error(
                &["kind".into()],
                format!("this joint needs `{key}`"),
                format!("Give `{key}`."),
            )
        };
        let curve = || {
            let spec = spec.curve.as_ref().ok_or_else(|| missing("curve"))?;
            let (stands, _) = self.standing(&a);
            let curve = curve(spec, stands * sa.axes);
            match curve.trouble() {
                Some(trouble) => Err(check.error(&["curve".into()], trouble, "Correct it.")),
                None => Ok(curve),
            }
        };
        let joint = match spec.kind {
            JointKind::Ball => Joint::ball(a, b),
            JointKind::Hinge => Joint::hinge(sa, sb, lever),
            JointKind::HingeByAxis => Joint::hinge_by_axis(sa, sb),
            JointKind::Slider => Joint::slider(sa, sb),
            JointKind::Universal => Joint::universal(sa, sb),
            JointKind::Fixed => Joint::fixed(sa, sb),
            JointKind::FixedByPoints => Joint::fixed_by_points(sa, sb, lever),
            JointKind::Rail => Joint::ball_on_rail(sa, b),
            JointKind::Plane => Joint::ball_on_plane(sa, b),
            JointKind::Curve => Joint::ball_on_curve(sa, b, curve()?),
            JointKind::CurveSlider => Joint::slider_on_curve(sa, sb, curve()?),
            JointKind::Surface => {
                let spec = spec.surface.as_ref().ok_or_else(|| missing("surface"))?;
                let sheet = match spec {
                    SurfaceSpec::Sphere(radius) => Sheet::Sphere { radius: *radius },
                    SurfaceSpec::Cylinder(radius) => Sheet::Cylinder {
                        axis: DVec3::X,
                        radius: *radius,
                    },
                    SurfaceSpec::Torus([radius, tube]) => Sheet::Torus {
                        axis: DVec3::X,
                        radius: *radius,
                        tube: *tube,
                    },
                };
                if let Some(trouble) = sheet.trouble() {
                    return Err(check.error(&["surface".into()], trouble, "Correct it."));
                }
                Joint::ball_on_sheet(sa, b, sheet)
            }
            JointKind::Distance => {
                let length = spec.length.unwrap_or(pa.distance(pb));
                check.size(length, "length")?;
                Joint::distance(a, b, length)
            }
            JointKind::Free => Joint::free(),
            JointKind::Composed => {
                if spec.bases.is_empty() {
                    return Err(missing("bases"));
                }
                self.composed(check, spec, (sa, sb))?
            }
        };
        let joint = match spec.strength {
            None => joint,
            Some(strength) => {
                check.positive(strength, "strength")?;
                joint.giving_way(strength)
            }
        };
        self.controlled(check, spec, joint, (sa, sb))
    }

    /// Adds stops and drive.
    fn controlled(
        &self,
        check: &Checker<'_>,
        spec: &JointSpec,
        joint: Joint,
        (sa, sb): (Side, Side),
    ) -> Result<Joint, SceneError> {
        if spec.range.is_none() && spec.drive.is_none() {
            if spec.measure.is_some() {
                return Err(check.error(
                    &["measure".into()],
                    "what is measured is neither limited nor driven",
                    "Give a `range` or a `drive`, or leave `measure` out.",
                ));
            }
            if joint.bases.is_empty() {
                return Err(check.error(
                    &["kind".into()],
                    "a joint that takes nothing needs a range or a drive",
                    "Give one, or another kind.",
                ));
            }
            return Ok(joint);
        }
        let (xa, xb) = (sa.axes * DVec3::X, sb.axes * DVec3::X);
        let usual = match spec.kind {
            JointKind::Hinge | JointKind::HingeByAxis => Some(Measure::Turn),
            JointKind::Slider | JointKind::Rail => Some(Measure::Slide),
            JointKind::Free => Some(Measure::Distance),
            JointKind::Ball | JointKind::Universal => Some(Measure::Swing),
            _ => None,
        };
        let measured = spec.measure.or(usual);
        let together = matches!(
            spec.kind,
            JointKind::Ball | JointKind::Hinge | JointKind::HingeByAxis | JointKind::Universal
        );
        let fixed = match (spec.kind, measured) {
            (JointKind::Fixed | JointKind::FixedByPoints, _)
            | (JointKind::Slider | JointKind::CurveSlider, Some(Measure::Turn | Measure::Swing))
            | (JointKind::Distance, Some(Measure::Distance)) => true,
            (_, Some(Measure::Slide | Measure::Distance)) => together,
            _ => false,
        };
        let Some(measure) = measured.filter(|_| !fixed) else {
            let (problem, remedy) = match fixed {
                true => (
                    "this joint holds what is measured: there is nothing to limit or drive",
                    "Leave `range` and `drive` out, or use another kind.",
                ),
                false => (
                    "this joint does not say what to limit or drive",
                    "Give `measure`: \"turn\", \"slide\", \"swing\" or \"distance\".",
                ),
            };
            return Err(check.error(&["kind".into()], problem, remedy));
        };
        let zero = [sa.axes * DVec3::Y, sb.axes * DVec3::Y];
        let coordinate = match measure {
            // Hinges keep both axes the same.
            Measure::Turn if usual == Some(Measure::Turn) => Coordinate::Turn {
                axis: [xa, xb],
                zero,
            },
            Measure::Turn => Coordinate::Twist {
                axis: [xa, xb],
                zero,
            },
            Measure::Slide => Coordinate::Slide(xa),
            Measure::Swing => Coordinate::Swing(xa, xb),
            Measure::Distance => Coordinate::Distance,
        };
        let mut control = Control::new(sa.anchor, sb.anchor, coordinate);
        if let Some([least, greatest]) = spec.range {
            if !(least.is_finite() && greatest.is_finite() && least <= greatest) {
                return Err(check.error(
                    &["range".into()],
                    format!("a range from {least} to {greatest} is none"),
                    "Give the least first.",
                ));
            }
            control = control.between(least, greatest);
        }
        if let Some(spec) = &spec.drive {
            control = control.driven(drive(check, spec)?);
        }
        Ok(joint.controlled(control))
    }
}

fn curve(spec: &CurveSpec, axes: DQuat) -> Curve {
    // Points are along the world's axes; the joint's frame is turned.
    let through = |points: &[[f64; 3]], closed: bool| Curve::Through {
        points: points
            .iter()
            .map(|p| axes.conjugate() * DVec3::from(*p))
            .collect(),
        closed,
    };
    match spec {
        CurveSpec::Circle(radius) => Curve::Circle {
            axis: DVec3::X,
            radius: *radius,
        },
        CurveSpec::Helix([radius, pitch]) => Curve::Helix {
            axis: DVec3::X,
            radius: *radius,
            pitch: *pitch,
        },
        CurveSpec::Through(points) => through(points, false),
        CurveSpec::Loop(points) => through(points, true),
    }
}

/// The timetable of a joint's drive, if its target changes.
fn timed(check: &Checker<'_>, spec: &JointSpec) -> Result<Option<Vec<[f64; 2]>>, SceneError> {
    let target = match &spec.drive {
        Some(DriveSpec::Speed(s)) => &s.target,
        Some(DriveSpec::Servo(s)) => &s.target,
        _ => return Ok(None),
    };
    let Timed::Points(points) = target else {
        return Ok(None);
    };
    let rising = points.is_sorted_by(|a, b| a[0] < b[0]);
    let sound = |p: &[f64; 2]| (0.0..=1e9).contains(&p[0]) && p[1].abs() <= 1e12;
    if points.is_empty() || !rising || !points.iter().all(sound) {
        return Err(check.error(
            &["drive".into()],
            "a target that changes is a list of [time, target], times ascending from 0 on",
            "Sort its times, and let none be there twice.",
        ));
    }
    Ok(Some(points.clone()))
}

fn drive(check: &Checker<'_>, spec: &DriveSpec) -> Result<Drive, SceneError> {
    // What changes with time is at its first target to begin with.
    let first = |target: &Timed| match target {
        Timed::Always(target) => *target,
        Timed::Points(points) => points.first().map_or(0.0, |p| p[1]),
    };
    let (drive, numbers) = match spec {
        DriveSpec::Force(force) => (Drive::Force(*force), vec![force.abs()]),
        DriveSpec::Speed(s) => (
            Drive::Speed {
                target: first(&s.target),
                most: s.most,
            },
            vec![first(&s.target).abs(), s.most],
        ),
        DriveSpec::Servo(s) => (
            Drive::Servo {
                target: first(&s.target),
                stiffness: s.stiffness,
                damping: s.damping,
                most: s.most,
            },
            vec![first(&s.target).abs(), s.stiffness, s.damping, s.most],
        ),
        DriveSpec::Spring(s) => (
            Drive::Spring {
                rest: s.rest,
                stiffness: s.stiffness,
                damping: s.damping,
            },
            vec![s.rest.abs(), s.stiffness, s.damping],
        ),
        DriveSpec::Pid(p) => {
            let target = match (p.place, p.speed) {
                (Some(place), None) => Target::Place(place),
                (None, Some(speed)) => Target::Speed(speed),
                _ => {
                    return Err(check.error(
                        &["drive".into()],
                        "a controller has one target",
                        "Give either `place` or `speed`.",
                    ));
                }
            };
            if p.speed.is_some() && p.differential != 0.0 {
                return Err(check.error(
                    &["drive".into()],
                    "a controller of a speed has no differential part",
                    "Leave `differential` out, or give a `place` to reach.",
                ));
            }
            let (Target::Place(number) | Target::Speed(number)) = target;
            (
                Drive::Pid {
                    target,
                    proportional: p.proportional,
                    integral: p.integral,
                    differential: p.differential,
                    most: p.most,
                },
                vec![
                    number.abs(),
                    p.proportional,
                    p.integral,
                    p.differential,
                    p.most,
                ],
            )
        }
    };
    if numbers.iter().any(|x| !(0.0..=1e12).contains(x)) {
        return Err(check.error(
            &["drive".into()],
            "a number of the drive is negative or out of range",
            "Stiffness, damping and greatest force are 0 or more.",
        ));
    }
    Ok(drive)
}

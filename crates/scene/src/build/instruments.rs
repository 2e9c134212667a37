//! Instruments.

use super::{Collider, Item, Model, Tool, check::Checker, items};
use crate::{
    file::{CommandSpec, Instrument, InstrumentKind},
    lead::Course,
    load::{Scene, SceneError, Source},
};
use glam::DVec3;
use trocar_collide::{
    Capsule,
    rigid::{Form, Shape},
    segment_triangle,
};
use trocar_dynamics::{Kinematic, Nodes};
use trocar_math::{Pose, rotation};
use trocar_tools::{End, Grasper, Handle, Limits, grasper, trocar};

/// The greatest angle between a needle's tip and its shaft, rad.
const MOST_BEND: f64 = 1.5;

/// No command turns an instrument by more, rad.
const MOST_TURN: f64 = 100.0;

/// Jaw angle at the start if a scene does not say, rad.
const AJAR: f64 = 0.7;

impl Model {
    /// No instrument may start inside a membrane: there would be no way out for it but through it.
    pub(super) fn check_starts(&self, scene: &Scene) -> Result<(), SceneError> {
        let instruments = items(scene, |s| &s.file.instrument);
        for (Item { source, index, .. }, tool) in instruments.zip(&self.tools) {
            let hulls = tool.grasper.capsules(&tool.grasper.poses(&tool.start));
            for film in &self.films {
                let places = &self.start[film.matter.index()].position;
                let pierced = |triangle: &[u32; 3]| {
                    let corners = triangle.map(|n| places[n as usize]);
                    let apart = |c: &Capsule| segment_triangle(c.a, c.b, corners).distance_squared;
                    hulls.iter().any(|c| apart(c) == 0.0)
                };
                let tissue = &self.tissues[film.tissue];
                if tissue.triangles.iter().any(pierced) {
                    let check = Checker {
                        source,
                        table: "instrument",
                        index,
                    };
                    return Err(check.error(
                        &["depth".into()],
                        format!("the instrument starts inside {}", tissue.name),
                        "Draw it back, or let it come from elsewhere.",
                    ));
                }
            }
        }
        Ok(())
    }

    pub(super) fn add_tools(&mut self, scene: &Scene) -> Result<(), SceneError> {
        for Item {
            source,
            index,
            item,
        } in items(scene, |s| &s.file.instrument)
        {
            let check = Checker {
                source,
                table: "instrument",
                index,
            };
            check.points(&[item.trocar], "trocar")?;
            check.points(&[item.target], "target")?;
            if DVec3::from(item.trocar).distance(item.target.into()) < 1e-6 {
                return Err(check.error(
                    &["target".into()],
                    "the instrument's trocar and target are the same point",
                    "Let it point at something inside the body.",
                ));
            }
            check.size(item.shaft_radius, "shaft_radius")?;
            check.size(item.jaw_length, "jaw_length")?;
            check.size(item.jaw_radius, "jaw_radius")?;
            check.size(item.depths[1], "depths")?;
            check_effects(scene, &check, item)?;
            let grasper = Grasper {
                end: match item.kind {
                    InstrumentKind::Needle => End::Tip(item.bend.unwrap_or(0.0)),
                    _ => End::Jaws,
                },
                trocar: trocar::looking(item.trocar.into(), item.target.into(), DVec3::Y),
                shaft_radius: item.shaft_radius,
                jaw_length: item.jaw_length,
                jaw_radius: item.jaw_radius,
                limits: Limits {
                    yaw: item.yaw,
                    pitch: item.pitch,
                    depth: item.depths,
                    jaw: item.jaws,
                },
                speed: item.speed,
                turn_speed: 6.0,
                capture_angle: 0.4 * item.jaws[1],
                release_angle: 0.6 * item.jaws[1],
                grip_force: item.grip_force,
            };
            grasper.check().map_err(|problem| {
                check.error(&[], problem, "Correct the instrument's numbers.")
            })?;
            let wish = Handle {
                depth: item.depth,
                jaw: item.jaw.unwrap_or(AJAR.min(item.jaws[1])),
                ..Handle::default()
            };
            let start = grasper.reachable(&wish, &wish);
            if start != wish {
                return Err(check.error(
                    &["depth".into()],
                    "depth or jaw at the start is beyond the instrument's reach",
                    "Bring them within `depths` and `jaws`.",
                ));
            }
            let frames = grasper.poses(&start).map(|p| (p.position, p.rotation));
            let matter = self.add(
                &item.name,
                Box::new(Kinematic::default()),
                Nodes::at_rest(&frames, &[]),
            );
            debug_assert_eq!(frames.len(), grasper::PARTS);
            check.friction(item.friction, &["friction".into()])?;
            for (part, form) in forms(&grasper).into_iter().enumerate() {
                let shape = Shape::new(&form)
                    .map_err(|e| check.error(&[], e.to_string(), "Correct its sizes."))?;
                self.colliders.push(Collider {
                    at: (matter, part as u32),
                    shape,
                    grid: None,
                    friction: item.friction,
                    restitution: 0.0,
                });
            }
            self.tools.push(Tool {
                name: item.name.clone(),
                kind: item.kind,
                matter,
                grasper,
                start,
                friction: item.friction,
                stiffness: item.stiffness,
                stick: item.stick.map(|s| [s.beyond, s.limit]),
            });
        }
        Ok(())
    }
}

/// Where a timed command leads an instrument; none if it leads none.
pub(crate) fn timed_course(
    model: &Model,
    source: &Source,
    index: usize,
    spec: &CommandSpec,
) -> Result<Option<Course>, SceneError> {
    let check = Checker {
        source,
        table: "command",
        index,
    };
    let given = [
        ("tip", spec.tip.is_some()),
        ("jaw", spec.jaw.is_some()),
        ("roll", spec.roll.is_some()),
    ];
    let Some(name) = &spec.instrument else {
        return match given.iter().find(|g| g.1) {
            None => Ok(None),
            Some((key, _)) => Err(check.error(
                &[(*key).into()],
                format!("`{key}` leads an instrument, and none is named"),
                "Give `instrument`.",
            )),
        };
    };
    let Some(tool) = model.tools.iter().position(|t| t.name == *name) else {
        let problem = format!("there is no instrument called \"{name}\"");
        return Err(check.error(&["instrument".into()], problem, "Check the name."));
    };
    let wrong = |key: &'static str, problem: &str, remedy: &str| {
        Err(check.error(&[key.into()], problem, remedy))
    };
    if given.iter().all(|g| !g.1) {
        return wrong(
            "instrument",
            "the command does not say where the instrument goes",
            "Give `tip`, `jaw` or `roll`.",
        );
    }
    let Some(until) = spec.until.filter(|u| *u > spec.at && u.is_finite()) else {
        return wrong(
            "instrument",
            "an instrument is led until a time after it begins",
            "Give `until`.",
        );
    };
    let tip = spec.tip.clone().unwrap_or_default();
    check.points(&tip, "tip")?;
    for (key, values) in [("jaw", &spec.jaw), ("roll", &spec.roll)] {
        let values = values.as_deref().unwrap_or_default();
        if !values.iter().all(|x| x.abs() <= MOST_TURN) {
            return wrong(
                key,
                "an angle is out of range",
                "Angles are in rad, -100 to 100.",
            );
        }
    }
    for ((key, is_given), empty) in given.into_iter().zip([
        tip.is_empty(),
        spec.jaw.as_ref().is_some_and(Vec::is_empty),
        spec.roll.as_ref().is_some_and(Vec::is_empty),
    ]) {
        if is_given && empty {
            return wrong(key, "the list is empty", "Give one value or more.");
        }
    }
    Ok(Some(Course {
        tool,
        tip: tip.into_iter().map(DVec3::from).collect(),
        jaw: spec.jaw.clone().unwrap_or_default(),
        roll: spec.roll.clone().unwrap_or_default(),
        until,
    }))
}

/// What only some kinds have, and whether there is something for them to work on.
fn check_effects(scene: &Scene, check: &Checker<'_>, item: &Instrument) -> Result<(), SceneError> {
    use InstrumentKind::{Forceps, Needle, Scissors};
    let only = |key: &'static str, kinds: &str| {
        let problem = format!("only {kinds} have `{key}`");
        check.error(
            &[key.into()],
            problem,
            "Leave it out, or choose another `kind`.",
        )
    };
    if let Some(bend) = item.bend {
        if item.kind != Needle {
            return Err(only("bend", "needles"));
        }
        if !(-MOST_BEND..=MOST_BEND).contains(&bend) {
            let problem = format!("a tip can't be bent by {bend} rad");
            let remedy = format!("Choose between {} and {MOST_BEND}.", -MOST_BEND);
            return Err(check.error(&["bend".into()], problem, remedy));
        }
    }
    if let Some(stick) = &item.stick {
        if item.kind != Needle {
            return Err(only("stick", "needles"));
        }
        let sound = (0.0..=1.0).contains(&stick.beyond) && stick.limit > 0.0 && stick.limit <= 1e3;
        if !sound {
            return Err(check.error(
                &["stick".into()],
                "a membrane sticks from a depth of at least 0 on, up to a force above 0",
                "Give `beyond` in m, 0 to 1, and `limit` in N, above 0, at most 1000.",
            ));
        }
    }
    if let Some(stiffness) = item.stiffness {
        if !matches!(item.kind, Needle | Forceps) {
            return Err(only("stiffness", "needles and forceps"));
        }
        check.positive(stiffness, "stiffness")?;
    }
    let films = scene.sources.iter().any(|s| !s.file.membrane.is_empty());
    if item.kind == Scissors && !films {
        return Err(check.error(
            &["kind".into()],
            "scissors cut membranes, and the scene has none",
            "Add a [[membrane]], or choose another `kind`.",
        ));
    }
    Ok(())
}

/// The hulls of shaft and jaws, each in its own frame, as bodies meet them. The shaft is as long as it can reach into the
/// body; what of it is still outside touches nothing there.
fn forms(grasper: &Grasper) -> [Form; grasper::PARTS] {
    let along = |from: f64, to: f64, radius: f64| {
        let upright = rotation::from_axis_angle(DVec3::X, std::f64::consts::FRAC_PI_2);
        let pose = Pose::new(DVec3::Z * (0.5 * (from + to)), upright);
        let form = Form::Capsule {
            half_length: 0.5 * (to - from),
            radius,
        };
        Form::Compound(vec![(pose, form)])
    };
    let radius = grasper.jaw_radius;
    let jaw = along(radius, grasper.jaw_length - radius, radius);
    let second = match grasper.end {
        End::Jaws => jaw.clone(),
        // As in `Grasper::capsules`: hidden in the end of the shaft.
        End::Tip(_) => Form::Ball {
            radius: radius.min(grasper.shaft_radius),
        },
    };
    [
        along(-grasper.limits.depth[1], 0.0, grasper.shaft_radius),
        jaw,
        second,
    ]
}

//! Instruments.

use super::{Collider, Item, Model, Tool, check::Checker, items};
use crate::load::{Scene, SceneError};
use glam::DVec3;
use trocar_collide::rigid::{Form, Shape};
use trocar_dynamics::{Kinematic, Nodes};
use trocar_math::{Pose, rotation};
use trocar_tools::{Grasper, Handle, Limits, grasper, trocar};

impl Model {
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
            let grasper = Grasper {
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
                jaw: item.jaw,
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
                    friction: item.friction,
                    restitution: 0.0,
                });
            }
            self.tools.push(Tool {
                name: item.name.clone(),
                matter,
                grasper,
                start,
                friction: item.friction,
            });
        }
        Ok(())
    }
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
    [
        along(-grasper.limits.depth[1], 0.0, grasper.shaft_radius),
        jaw.clone(),
        jaw,
    ]
}

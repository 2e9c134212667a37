//! Instruments.

use super::{Item, Model, Tool, check::Checker, items};
use crate::load::{Scene, SceneError};
use glam::DVec3;
use trocar_dynamics::{Kinematic, Nodes};
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
            self.tools.push(Tool {
                name: item.name.clone(),
                matter,
                grasper,
                start,
            });
        }
        Ok(())
    }
}

//! Rigid bodies and particles.

use super::{
    BodyLook, Item, Model,
    check::{self, Checker},
    items,
};
use crate::load::{Scene, SceneError};
use glam::DVec3;
use trocar_dynamics::{Bodies, MassNode, Nodes};
use trocar_math::rotation;

impl Model {
    pub(super) fn add_bodies(&mut self, scene: &Scene) -> Result<(), SceneError> {
        let (mut nodes, mut frames, mut motions) = (Vec::new(), Vec::new(), Vec::new());
        let mut checks = Vec::new();
        for Item {
            source,
            index,
            item,
        } in items(scene, |s| &s.file.body)
        {
            let check = Checker {
                source,
                table: "body",
                index,
            };
            check.points(&[item.position], "position")?;
            check.mass(item.mass, &["mass".into()])?;
            check.share(&item.colour, "colour")?;
            for half in item.half_extents {
                check.size(half, "half_extents")?;
                if half < check::LEAST_EXTENT {
                    return Err(check.error(
                        &["half_extents".into()],
                        format!("a half extent of {half:?} m is too small"),
                        "Use a particle for what has no size.",
                    ));
                }
            }
            check.finite(
                &[item.rotation, item.velocity, item.spin],
                "rotation, velocity and spin",
            )?;
            let square = DVec3::from(item.half_extents) * DVec3::from(item.half_extents);
            let inertia = DVec3::new(
                square.y + square.z,
                square.z + square.x,
                square.x + square.y,
            );
            nodes.push(MassNode::body(item.mass, inertia * (item.mass / 3.0)));
            frames.push((
                item.position.into(),
                rotation::from_scaled_axis(item.rotation.into()),
            ));
            motions.push((DVec3::from(item.velocity), DVec3::from(item.spin)));
            self.looks.push(BodyLook {
                name: item.name.clone(),
                half_extents: item.half_extents,
                colour: item.colour,
            });
            checks.push(check);
        }
        let mut points = Vec::new();
        for Item {
            source,
            index,
            item,
        } in items(scene, |s| &s.file.particle)
        {
            let check = Checker {
                source,
                table: "particle",
                index,
            };
            check.points(&[item.position], "position")?;
            check.mass(item.mass, &["mass".into()])?;
            check.finite(&[item.velocity], "velocity")?;
            nodes.push(MassNode::point(item.mass));
            points.push(item.position.into());
            motions.push((item.velocity.into(), DVec3::ZERO));
            self.particles.push(item.name.clone());
            checks.push(check);
        }
        if nodes.is_empty() {
            return Ok(());
        }
        let mut start = Nodes::at_rest(&frames, &points);
        for (i, (velocity, spin)) in motions.into_iter().enumerate() {
            start.velocity[i] = velocity;
            if i < frames.len() {
                start.spin[i] = spin;
            }
        }
        let bodies = Bodies::new(&nodes).map_err(|bad| {
            checks[bad.node].error(&[], bad.reason, "Correct its mass or its half extents.")
        })?;
        self.bodies = Some(self.add("bodies", Box::new(bodies), start));
        Ok(())
    }
}

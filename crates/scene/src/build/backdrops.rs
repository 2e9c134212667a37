//! What is only seen.

use super::{
    Backdrop, Item, Model,
    check::{self, Checker},
    items, tissue,
};
use crate::{
    file::Scenery,
    load::{Scene, SceneError},
};
use glam::DVec3;
use trocar_mesh::{Surface, primitive::TubeShape};

impl Model {
    pub(super) fn add_backdrops(&mut self, scene: &Scene) -> Result<(), SceneError> {
        for Item {
            source,
            index,
            item,
        } in items(scene, |s| &s.file.scenery)
        {
            let check = Checker {
                source,
                table: "scenery",
                index,
            };
            check.positive(item.scale, "scale")?;
            check.share(&item.colour, "colour")?;
            check.share(&[item.opacity], "opacity")?;
            check.points(&[item.position], "position")?;
            let mut surface = backdrop(scene, &check, item)?;
            for p in &mut surface.positions {
                *p = *p * item.scale + DVec3::from(item.position);
            }
            let extent = surface
                .positions
                .iter()
                .map(|p| p.abs().max_element())
                .fold(0.0, f64::max);
            if extent > check::MAX_COORDINATE {
                return Err(check.error(
                    &["scale".into()],
                    format!("the mesh reaches {extent:.0} m from the origin"),
                    "Trocar measures in metres; a mesh in millimetres needs scale = 0.001.",
                ));
            }
            self.backdrops.push(Backdrop {
                name: item.name.clone(),
                surface,
                colour: item.colour,
                look: item.look,
                opacity: item.opacity,
            });
        }
        Ok(())
    }
}

fn backdrop(scene: &Scene, check: &Checker<'_>, item: &Scenery) -> Result<Surface, SceneError> {
    match (&item.mesh, &item.tube) {
        (Some(mesh), None) => scene
            .mesh(check.source, mesh)
            .cloned()
            .ok_or_else(|| check.error(&["mesh".into()], "the mesh was not read", "")),
        (None, Some(tube)) => {
            let shape = TubeShape {
                path: tube.path.iter().map(|p| DVec3::from(*p)).collect(),
                radii: tube.radii.clone(),
                up: DVec3::Y,
                rings: tube.rings,
                around: tube.around,
            };
            let tube = shape
                .organ()
                .map_err(|e| tissue::shape_error(check, &["tube".into()], &e))?;
            Ok(tube.surface)
        }
        _ => Err(check.error(
            &[],
            "scenery is a mesh or a tube",
            "Give either `mesh` or `tube`.",
        )),
    }
}

//! What a page is told about a scene before the first frame, and about exercises and results.

mod train;

pub use train::{exercise, marker, notice, profile, result_detail, result_row, task};

use crate::wire::{
    BodyDescription, CameraDescription, CircleDescription, EndoscopeDescription, EndoscopeHandle,
    EndoscopeLimits, FlagWord, InstrumentDescription, InstrumentKind, Limits, Look, Parameter,
    PathDescription, SceneDescription, SceneryDescription, StepBound, TissueDescription,
};
use glam::DVec3;
use trocar_dynamics::MatterId;
use trocar_scene::{
    Simulation, Stage,
    build::{Backdrop, Curve, Model, Scope, Tissue, Tool},
    file::InstrumentKind as Kind,
};
use trocar_tools::End;

/// How long a shaft is drawn, m: that of a laparoscopic instrument. Only what is inside the body touches anything.
const SHAFT_LENGTH: f64 = 0.35;

/// Describes a scene.
pub fn scene(simulation: &Simulation, about: &str) -> SceneDescription {
    let model = simulation.model();
    let camera = &model.camera;
    SceneDescription {
        name: model.name.clone(),
        about: about.into(),
        hash: format!("{:016x}", simulation.scene_hash()),
        calibrated: model.is_calibrated(),
        step: model.step,
        tissues: model.tissues.iter().map(|t| tissue(model, t)).collect(),
        scenery: model.backdrops.iter().map(scenery).collect(),
        bodies: model
            .looks
            .iter()
            .map(|look| BodyDescription {
                name: look.name.clone(),
                colour: look.colour,
                positions: flat(&look.surface.positions),
                triangles: look.surface.triangles.as_flattened().to_vec(),
            })
            .collect(),
        instruments: model.tools.iter().map(instrument).collect(),
        endoscope: model.endoscope.as_ref().map(endoscope),
        camera: CameraDescription {
            eye: camera.eye,
            target: camera.target,
            up: camera.up,
            field_of_view: camera.field_of_view,
        },
        stages: Stage::NAMES.map(String::from).to_vec(),
    }
}

/// What can be changed, with its values now.
pub fn parameters(simulation: &Simulation) -> Vec<Parameter> {
    let told = |p: &trocar_scene::Parameter| Parameter {
        group: p.group.clone(),
        name: p.name.clone(),
        unit: p.unit.into(),
        about: p.about.into(),
        least: p.least,
        greatest: p.greatest,
        value: p.value,
        start: p.start,
        choices: p.choices.iter().map(|c| (*c).into()).collect(),
    };
    simulation.parameters().iter().map(told).collect()
}

/// Attribute bits of the nets.
pub fn flags(simulation: &Simulation) -> Vec<FlagWord> {
    let told = |(tissue, word): (&str, u32)| FlagWord {
        tissue: tissue.into(),
        word,
    };
    simulation.flag_words().map(told).collect()
}

/// How long the substeps of tissues that hang together may be now.
pub fn bounds(simulation: &Simulation) -> Vec<StepBound> {
    let model = simulation.model();
    let mut told = Vec::new();
    for group in &model.groups {
        let tissue = |m: &MatterId| model.tissues.iter().find(|t| t.matter == *m);
        let names = group.members.iter().filter_map(tissue);
        let names: Vec<&str> = names.map(|t| t.name.as_str()).collect();
        let bounds = model.bounds_now(group);
        let finite = |s: f64| s.is_finite().then_some(s);
        if !names.is_empty() {
            told.push(StepBound {
                tissues: names.join(", "),
                safe: finite(bounds.safe),
                exact: finite(bounds.exact),
                kuhn: finite(bounds.kuhn),
                time_constant: finite(bounds.time_constant),
            });
        }
    }
    told
}

/// Only the surface: central nodes come first, have no triangles and are not sent.
fn tissue(model: &Model, tissue: &Tissue) -> TissueDescription {
    let surface = &model.start[tissue.matter.index()].position[tissue.first as usize..];
    TissueDescription {
        name: tissue.name.clone(),
        colour: tissue.colour,
        look: look(tissue.look),
        vertices: surface.len() as u32,
        triangles: tissue
            .triangles
            .as_flattened()
            .iter()
            .map(|n| n - tissue.first)
            .collect(),
        positions: flat(surface),
        path: model
            .films
            .iter()
            .find(|film| film.matter == tissue.matter)
            .and_then(|film| film.path.as_ref())
            .map(path),
    }
}

fn path(path: &trocar_scene::build::Path) -> PathDescription {
    let (circle, points) = match &path.curve {
        Curve::Circle(centre, radius) => {
            let (centre, radius) = (centre.to_array(), *radius);
            (Some(CircleDescription { centre, radius }), Vec::new())
        }
        Curve::Line(points) => (None, points.iter().map(|p| p.to_array()).collect()),
    };
    PathDescription {
        circle,
        points,
        width: path.width,
        colour: path.colour,
    }
}

fn scenery(backdrop: &Backdrop) -> SceneryDescription {
    SceneryDescription {
        name: backdrop.name.clone(),
        colour: backdrop.colour,
        look: look(backdrop.look),
        opacity: backdrop.opacity,
        positions: flat(&backdrop.surface.positions),
        triangles: backdrop.surface.triangles.as_flattened().to_vec(),
    }
}

fn look(look: trocar_scene::Look) -> Look {
    use trocar_scene::Look as Of;
    match look {
        Of::Plain => Look::Plain,
        Of::Liver => Look::Liver,
        Of::GallBladder => Look::GallBladder,
        Of::Duct => Look::Duct,
        Of::Vein => Look::Vein,
        Of::Artery => Look::Artery,
        Of::Fat => Look::Fat,
        Of::Bowel => Look::Bowel,
        Of::Peritoneum => Look::Peritoneum,
        Of::Membrane => Look::Membrane,
        Of::Muscle => Look::Muscle,
        Of::Steel => Look::Steel,
        Of::Plastic => Look::Plastic,
    }
}

fn instrument(tool: &Tool) -> InstrumentDescription {
    let grasper = &tool.grasper;
    let limits = &grasper.limits;
    InstrumentDescription {
        name: tool.name.clone(),
        kind: match tool.kind {
            Kind::Grasper => InstrumentKind::Grasper,
            Kind::Needle => InstrumentKind::Needle,
            Kind::Forceps => InstrumentKind::Forceps,
            Kind::Scissors => InstrumentKind::Scissors,
        },
        bend: match grasper.end {
            End::Jaws => 0.0,
            End::Tip(bend) => bend,
        },
        trocar: grasper.trocar.position.to_array(),
        shaft_radius: grasper.shaft_radius,
        shaft_length: SHAFT_LENGTH,
        jaw_length: grasper.jaw_length,
        jaw_radius: grasper.jaw_radius,
        limits: Limits {
            yaw: limits.yaw,
            pitch: limits.pitch,
            depth: limits.depth,
            jaw: limits.jaw,
        },
        handle: tool.start.into(),
    }
}

fn endoscope(scope: &Scope) -> EndoscopeDescription {
    let endoscope = &scope.endoscope;
    let limits = &endoscope.limits;
    let [yaw, pitch, depth, roll, horizon, zoom] = scope.start.to_array();
    EndoscopeDescription {
        trocar: endoscope.trocar.position.to_array(),
        radius: endoscope.radius,
        optics: endoscope.optics,
        field_of_view: endoscope.field_of_view,
        limits: EndoscopeLimits {
            yaw: limits.yaw,
            pitch: limits.pitch,
            depth: limits.depth,
            zoom: limits.zoom,
        },
        handle: EndoscopeHandle {
            yaw,
            pitch,
            depth,
            roll,
            horizon,
            zoom,
        },
    }
}

fn flat(points: &[DVec3]) -> Vec<f32> {
    points.iter().flat_map(|p| p.as_vec3().to_array()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn every_triangle_has_its_corners_among_the_vertices() {
        let simulation = sample::simulation();
        let scene = scene(&simulation, "A bench.");
        assert_eq!((scene.name.as_str(), scene.step), ("Bench top", 0.002));
        assert_eq!(scene.about, "A bench.");
        assert_eq!(scene.hash.len(), 16);
        let bag = &scene.tissues[0];
        assert_eq!(bag.positions.len(), 3 * bag.vertices as usize);
        assert!(bag.triangles.iter().all(|n| *n < bag.vertices));
        assert_eq!(bag.triangles.iter().min(), Some(&0));
        assert_eq!(bag.triangles.iter().max(), Some(&(bag.vertices - 1)));
        let table = &scene.scenery[0];
        assert!(
            table
                .triangles
                .iter()
                .all(|n| (*n as usize) < table.positions.len() / 3)
        );
        assert_eq!(scene.bodies[0].name, "block");
        assert_eq!(scene.instruments[0].handle.depth, 0.05);
        let scope = scene.endoscope.unwrap();
        assert_eq!((scope.handle.depth, scope.handle.zoom), (0.1, 1.0));
        assert!((scope.optics - 30f64.to_radians()).abs() < 1e-12);
        assert_eq!(scene.stages.len(), Stage::COUNT);
    }
}

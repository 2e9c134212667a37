//! Where one looks from: camera and endoscope.

use super::{Model, Scope, check, only, pose};
use crate::{
    file::{Camera, EndoscopeSpec},
    load::{Key, Scene, SceneError, Source},
};
use glam::DVec3;
use trocar_math::Bounds;
use trocar_tools::{Endoscope, EndoscopeHandle, EndoscopeLimits, trocar};

impl Model {
    /// Camera and endoscope. Without a camera one looks through the endoscope.
    pub(super) fn add_eyes(&mut self, scene: &Scene) -> Result<(), SceneError> {
        if let Some(spec) = only(scene, "endoscope", |s| s.file.endoscope)? {
            self.endoscope = Some(scope(scene, &spec)?);
        }
        if let Some(camera) = only(scene, "camera", |s| s.file.camera)? {
            self.camera = camera;
        } else if let Some(scope) = &self.endoscope {
            let eye = scope.endoscope.eye(&scope.start);
            self.camera = Camera {
                eye: eye.pose.position.to_array(),
                target: (eye.pose.position + eye.direction() * 0.1).to_array(),
                up: eye.up().to_array(),
                field_of_view: eye.field_of_view.to_degrees(),
            };
        }
        check_camera(scene, &self.camera)
    }

    /// If a scene does not say where one looks from: from where all that can move is seen.
    pub(super) fn look_over(&mut self, scene: &Scene) -> Result<(), SceneError> {
        if self.endoscope.is_some() || only(scene, "camera", |s| s.file.camera)?.is_some() {
            return Ok(());
        }
        let mut all = Bounds::EMPTY;
        for nodes in &self.start[self.prescribed()..] {
            nodes.position.iter().for_each(|p| all.add(*p));
        }
        for collider in &self.colliders {
            let (matter, node) = collider.at;
            if matter.index() >= self.prescribed() {
                let pose = pose(&self.start[matter.index()], node as usize);
                let bounds = collider.shape.bounds(&pose);
                all.add(bounds.low);
                all.add(bounds.high);
            }
        }
        let (middle, size) = (0.5 * (all.low + all.high), all.high - all.low);
        if !(middle.is_finite() && size.is_finite()) {
            return Ok(());
        }
        let usual = default_camera();
        let back = DVec3::from(usual.eye).normalize();
        let half = (0.5 * usual.field_of_view).to_radians();
        let radius = (0.5 * size.length()).max(LEAST_VIEW);
        let away = ROOM * radius / trocar_math::real::sin_cos(half).0;
        self.camera = Camera {
            eye: (middle + back * away).to_array(),
            target: middle.to_array(),
            ..usual
        };
        Ok(())
    }
}

/// A view of everything is of at least so much, m, and of so many times as much as there is.
const LEAST_VIEW: f64 = 0.02;
const ROOM: f64 = 1.6;

fn check_camera(scene: &Scene, camera: &Camera) -> Result<(), SceneError> {
    let at = |key: &'static str| [Key::Name("camera"), Key::Name(key)];
    let says = |s: &&Source| s.file.camera.is_some();
    let source = scene
        .sources
        .iter()
        .rev()
        .find(says)
        .unwrap_or(scene.main());
    for (key, point) in [("eye", camera.eye), ("target", camera.target)] {
        if !point.iter().all(|x| x.abs() <= check::MAX_COORDINATE) {
            return Err(source.error(
                &at(key),
                format!("the camera's {key} is out of range"),
                "Trocar measures in metres: 85 mm is 0.085.",
            ));
        }
    }
    let along = DVec3::from(camera.target) - DVec3::from(camera.eye);
    let up = DVec3::from(camera.up);
    // Where the view has no direction, or none is up, there is no picture.
    if !(up.is_finite() && along.cross(up.normalize_or_zero()).length() > 1e-6) {
        return Err(source.error(
            &at("eye"),
            "eye, target and up do not span a view",
            "Look at a point other than the eye, and not straight along up.",
        ));
    }
    if !(5.0..=150.0).contains(&camera.field_of_view) {
        return Err(source.error(
            &at("field_of_view"),
            format!("a view of {} degrees is out of range", camera.field_of_view),
            "Choose between 5 and 150 degrees.",
        ));
    }
    Ok(())
}

fn scope(scene: &Scene, spec: &EndoscopeSpec) -> Result<Scope, SceneError> {
    let says = |s: &&Source| s.file.endoscope.is_some();
    let source = scene
        .sources
        .iter()
        .rev()
        .find(says)
        .unwrap_or(scene.main());
    let wrong = |key: &'static str, problem: String, remedy: &str| {
        source.error(&[Key::Name("endoscope"), Key::Name(key)], problem, remedy)
    };
    for (key, point) in [("trocar", spec.trocar), ("target", spec.target)] {
        if !point.iter().all(|x| x.abs() <= check::MAX_COORDINATE) {
            return Err(wrong(
                key,
                format!("the endoscope's {key} is out of range"),
                "Trocar measures in metres: 85 mm is 0.085.",
            ));
        }
    }
    if DVec3::from(spec.trocar).distance(spec.target.into()) < 1e-6 {
        return Err(wrong(
            "target",
            "the endoscope's trocar and target are the same point".into(),
            "Let it point at something inside the body.",
        ));
    }
    if !(0.0..=70.0).contains(&spec.optics) {
        return Err(wrong(
            "optics",
            format!("optics of {:?} degrees do not exist", spec.optics),
            "Choose between 0 and 70 degrees; 0 and 30 are usual.",
        ));
    }
    if !(5.0..=140.0).contains(&spec.field_of_view) {
        return Err(wrong(
            "field_of_view",
            format!(
                "a picture of {:?} degrees is out of range",
                spec.field_of_view
            ),
            "Choose between 5 and 140 degrees; 70 is usual.",
        ));
    }
    let [least, most] = spec.zoom;
    if !(1.0 <= least && least <= most && most <= 20.0) {
        return Err(wrong(
            "zoom",
            format!("a zoom from {least:?} to {most:?} is out of range"),
            "Give the least and the greatest, between 1 and 20.",
        ));
    }
    for (key, value, greatest) in [("radius", spec.radius, 0.05), ("speed", spec.speed, 10.0)] {
        if !(value > 0.0 && value <= greatest) {
            return Err(wrong(
                key,
                format!("a {key} of {value:?} is out of range"),
                "It is positive; metres and seconds are meant.",
            ));
        }
    }
    if spec.depths[1] > check::MAX_COORDINATE {
        return Err(wrong(
            "depths",
            format!("a depth of {:?} m is out of range", spec.depths[1]),
            "Trocar measures in metres: 85 mm is 0.085.",
        ));
    }
    let endoscope = Endoscope {
        trocar: trocar::looking(spec.trocar.into(), spec.target.into(), DVec3::Y),
        optics: spec.optics.to_radians(),
        field_of_view: spec.field_of_view.to_radians(),
        limits: EndoscopeLimits {
            yaw: spec.yaw,
            pitch: spec.pitch,
            depth: spec.depths,
            zoom: spec.zoom,
        },
        speed: spec.speed,
        turn_speed: 4.0,
        zoom_speed: 3.0,
        radius: spec.radius,
    };
    endoscope.check().map_err(|problem| {
        let at = [Key::Name("endoscope")];
        source.error(&at, problem, "Correct the endoscope's numbers.")
    })?;
    let wish = EndoscopeHandle {
        depth: spec.depth,
        zoom: spec.zoom[0],
        ..EndoscopeHandle::default()
    };
    if endoscope.reachable(&wish, &wish) != wish {
        return Err(wrong(
            "depth",
            format!("the endoscope does not reach a depth of {:?} m", spec.depth),
            "Bring it within `depths`, and let `yaw` and `pitch` reach 0.",
        ));
    }
    Ok(Scope {
        endoscope,
        start: wish,
    })
}

/// Where one looks from if a scene does not say.
pub(super) fn default_camera() -> Camera {
    Camera {
        eye: [0.0, 0.12, 0.22],
        target: [0.0; 3],
        up: [0.0, 1.0, 0.0],
        field_of_view: 50.0,
    }
}

//! The endoscope follows its hand, is hashed, stored, replayed and put back; it touches nothing.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::{built, is_sound};
use glam::DVec3;
use trocar_scene::{
    Look, Scene,
    recording::{Attachment, Recording, Verdict, Writer},
};
use trocar_tools::EndoscopeHandle;

const SCENE: &str = r#"trocar = 1
[endoscope]
trocar = [0, 0.12, 0.2]
target = [0, 0, 0]
depth = 0.08
optics = 30
[[sheet]]
name = "sheet"
origin = [-0.05, 0, -0.05]
u = [0.1, 0, 0]
v = [0, 0, 0.1]
rows = 6
columns = 6
fixed = [{ ring = 0 }]
look = "peritoneum"
material = { mass = 0.001, damping = 0.05, stiffness = 40, source = "made up for this test" }
[[scenery]]
name = "vein"
look = "vein"
tube = { path = [[0, 0.1, 0], [0.1, 0.1, 0]], radii = [[0.01, 0.01]] }
"#;

fn hand(k: usize) -> EndoscopeHandle {
    let (s, c) = trocar_math::real::sin_cos(0.02 * k as f64);
    EndoscopeHandle {
        yaw: 0.3 * s,
        pitch: 0.2 * c - 0.2,
        depth: 0.1 + 0.02 * s,
        roll: 2.0 * s,
        horizon: 0.3 * c,
        zoom: 1.5 + 0.5 * s,
    }
}

#[test]
fn without_a_camera_one_looks_through_the_endoscope() {
    let simulation = built(SCENE);
    let (eye, camera) = (simulation.eye().unwrap(), simulation.model().camera);
    assert_eq!(camera.eye, eye.pose.position.to_array());
    assert!((camera.field_of_view - 70.0).abs() < 1e-9);
    let ahead = (DVec3::from(camera.target) - eye.pose.position).normalize();
    assert!((ahead - eye.direction()).length() < 1e-12);
    // 30 degrees down from a shaft that points at the origin.
    assert!(eye.sees(eye.pose.position + eye.direction() * 0.05));
    assert!(!eye.sees(eye.pose.position - eye.direction() * 0.05));
    let with = format!("{SCENE}[camera]\neye = [0, 0.1, 0.3]\ntarget = [0, 0, 0]\n");
    assert_eq!(built(&with).model().camera.eye, [0.0, 0.1, 0.3]);
}

#[test]
fn looks_and_sources_are_told() {
    let simulation = built(SCENE);
    let model = simulation.model();
    assert_eq!(model.tissues[0].look, Look::Peritoneum);
    assert_eq!(model.backdrops[0].look, Look::Vein);
    assert!(model.is_calibrated());
    let guessed = built(&SCENE.replace(", source = \"made up for this test\"", ""));
    assert!(!guessed.model().is_calibrated());
}

#[test]
fn it_follows_at_its_speed_and_a_restart_puts_it_back() {
    let mut simulation = built(SCENE);
    let start = simulation.endoscope().unwrap();
    let mut input = simulation.idle_input();
    assert_eq!(input.endoscope, Some(start));
    input.endoscope = Some(EndoscopeHandle {
        yaw: 0.8,
        depth: 0.15,
        ..start
    });
    let mut last = simulation.eye().unwrap().pose.position;
    for _ in 0..1000 {
        simulation.step(&input);
        let now = simulation.eye().unwrap().pose.position;
        assert!(now.distance(last) <= 1.5 * 0.5 * input.dt);
        last = now;
    }
    assert_eq!(simulation.endoscope(), input.endoscope);
    // No hand: it stays.
    input.endoscope = None;
    simulation.step(&input);
    assert_eq!(simulation.endoscope().unwrap().yaw, 0.8);
    input.endoscope = Some(EndoscopeHandle::from_array([f64::NAN; 6]));
    simulation.step(&input);
    assert_eq!(simulation.endoscope().unwrap().yaw, 0.8);
    simulation.restart();
    assert_eq!(simulation.endoscope(), Some(start));
}

#[test]
fn it_is_hashed_stored_and_replayed_and_touches_nothing() {
    let (mut moved, mut still) = (built(SCENE), built(SCENE));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("look.rec");
    let scene = trocar_scene::Scene::from_text("test.toml", SCENE).unwrap();
    let attached = [
        Attachment {
            name: "level".into(),
            bytes: b"easy".to_vec(),
        },
        Attachment {
            name: "empty".into(),
            bytes: Vec::new(),
        },
    ];
    let mut writer = Writer::create(&path, &scene, &attached).unwrap();
    let mut snapshot = Vec::new();
    for k in 0..400 {
        if k == 200 {
            snapshot = moved.snapshot();
        }
        let mut input = moved.idle_input();
        input.endoscope = Some(hand(k));
        moved.step(&input);
        writer.step(&input, &moved).unwrap();
        still.step(&still.idle_input());
        assert_ne!(moved.hash(), still.hash());
        assert_eq!(moved.state(), still.state());
    }
    writer.finish().unwrap();
    let recording = Recording::read(&path).unwrap();
    assert_eq!(recording.attachments, attached);
    assert_eq!(recording.attachment("level"), Some(&b"easy"[..]));
    assert_eq!(recording.attachment("nothing"), None);
    let verdict = recording.replay(&mut built(SCENE), |_| true);
    assert_eq!(verdict, Verdict::Same { checked: 400 });
    let mut resumed = built(SCENE);
    resumed.restore(&snapshot).unwrap();
    for k in 200..400 {
        let mut input = resumed.idle_input();
        input.endoscope = Some(hand(k));
        resumed.step(&input);
    }
    assert_eq!(resumed.hash(), moved.hash());
    assert!(is_sound(&resumed, 1.0));
}

/// All that moves is within the picture, at any size, beside a floor without end; a scene with nothing is seen as ever.
#[test]
fn a_scene_without_a_camera_is_seen_whole() {
    for size in [0.002, 0.1, 3.0] {
        let mut text = common::rigid::world("reach = 100");
        let floor = "motion = \"static\"\nform = { half_space = [0, 1, 0] }";
        common::rigid::body(&mut text, "floor", DVec3::ZERO, floor);
        let says = format!("mass = 1\nhalf_extents = [{size:?}, {size:?}, {size:?}]");
        let places = [DVec3::new(5.0, 1.0, 2.0), DVec3::new(5.0, 4.0, 2.0)].map(|p| p * size * 2.0);
        for (k, place) in places.iter().enumerate() {
            common::rigid::body(&mut text, &format!("{k}"), *place, &says);
        }
        let scene = Scene::from_text("test.toml", &text).unwrap_or_else(|e| panic!("{e}"));
        let simulation = common::simulation(&scene, 1);
        let camera = simulation.model().camera;
        let (eye, target) = (DVec3::from(camera.eye), DVec3::from(camera.target));
        for place in places {
            let angle = trocar_math::angle(target - eye, place - eye).to_degrees();
            assert!(angle + 2.0 < 0.5 * camera.field_of_view, "{size}: {angle}°");
            assert!(place.distance(eye) > 2.0 * size && place.distance(eye) < 40.0 * size);
        }
    }
    let scene = Scene::from_text("test.toml", "trocar = 1\n").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(
        common::simulation(&scene, 1).model().camera.eye,
        [0.0, 0.12, 0.22]
    );
}

//! A tissue has a frame of its own (K52): it can be placed as a whole, and its nodes can be locked along its axes.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use glam::DVec3;
use trocar_math::rotation;
use trocar_scene::{Scene, Simulation};

fn sheet(extra: &str, fixed: &str) -> Simulation {
    let text = format!(
        "trocar = 1\n[[sheet]]\nname = \"sheet\"\norigin = [0, 0, 0]\nu = [0.1, 0, 0]\nv = [0, 0, 0.1]\nrows = 5\ncolumns = 5\n\
         {extra}\nfixed = [{fixed}]\n[sheet.material]\nmass = 0.001\ndamping = 0.01\nstiffness = 5\n"
    );
    let scene = Scene::from_text("sheet.toml", &text).unwrap_or_else(|e| panic!("{e}"));
    Simulation::new(&scene, 1).unwrap_or_else(|e| panic!("{e}"))
}

fn positions(simulation: &Simulation) -> &[DVec3] {
    &simulation.state().nodes[simulation.model().tissues[0].matter.index()].position
}

#[test]
fn placed_as_a_whole() {
    let plain = sheet("", "");
    let moved = sheet("position = [0.1, 0.2, 0.3]\nrotation = [0, 0, 1.2]", "");
    let turn = rotation::from_scaled_axis(DVec3::Z * 1.2);
    for (p, q) in positions(&plain).iter().zip(positions(&moved)) {
        assert!((turn * *p + DVec3::new(0.1, 0.2, 0.3) - *q).length() < 1e-15);
    }
}

#[test]
fn locked_along_its_own_axes() {
    // Turned by 30° about z; its first row slides along the tissue's own x only.
    let angle = 0.5235987755982988;
    let mut simulation = sheet(
        &format!("rotation = [0, 0, {angle}]"),
        "{ ring = 0, axes = [1, 0, 0] }",
    );
    let before = positions(&simulation).to_vec();
    let input = simulation.idle_input();
    for _ in 0..500 {
        simulation.step(&input);
    }
    let axis = rotation::from_scaled_axis(DVec3::Z * angle) * DVec3::X;
    for (p, q) in before.iter().zip(positions(&simulation)).take(5) {
        let moved = *q - *p;
        assert!((moved - axis * moved.dot(axis)).length() < 1e-12, "{moved}");
        assert!(
            moved.dot(axis) < -1e-3,
            "it slides down along the axis: {moved}"
        );
    }
}

#[test]
fn half_a_lock_and_nonsense_are_refused() {
    let text = "trocar = 1\n[[sheet]]\nname = \"s\"\norigin = [0, 0, 0]\nu = [0.1, 0, 0]\nv = [0, 0, 0.1]\nrows = 5\ncolumns = 5\n\
                fixed = [{ ring = 0, axes = [2, 0, 0] }]\n[sheet.material]\nmass = 0.001\ndamping = 0.01\nstiffness = 5\n";
    let scene = Scene::from_text("s.toml", text).unwrap();
    let error = Simulation::new(&scene, 1).err().unwrap();
    assert_eq!(error.place.map(|p| p.0), Some(9), "{error}");
}

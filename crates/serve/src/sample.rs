//! A small scene for the tests of this crate.

use trocar_scene::{Scene, Simulation};

const TEXT: &str = include_str!("../tests/common/scene.toml");

pub fn scene() -> Scene {
    Scene::from_text("Bench top.toml", TEXT).unwrap()
}

pub fn simulation() -> Simulation {
    Simulation::new(&scene(), 1).unwrap()
}

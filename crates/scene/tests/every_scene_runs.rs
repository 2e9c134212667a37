//! Every scene of the house loads, builds and runs.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::{is_sound, scenes};
use std::path::{Path, PathBuf};
use trocar_scene::{Scene, Simulation, event::Happening};

/// Scenes that pages, books and benches speak of.
const WANTED: [&str; 20] = [
    "gallbladder",
    "joint-chain",
    "tree-127",
    "cradle",
    "four-bar",
    "slider-crank",
    "arm",
    "funnel",
    "funnel-1000",
    "wall",
    "forceps",
    "chain",
    "membrane-367",
    "peeling",
    "capsulorhexis",
    "capsulorhexis-forceps",
    "needle-sheet",
    "strip",
    "folding",
    "bowl",
];

/// Those that are joints above all: each of them is right after every step, and none is given up.
const MECHANISMS: [&str; 6] = [
    "joint-chain",
    "tree-127",
    "cradle",
    "four-bar",
    "slider-crank",
    "arm",
];

/// All scenes, by name.
fn all() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(scenes()).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "toml"));
    paths.sort();
    paths
}

fn name(path: &Path) -> &str {
    path.file_stem().and_then(|s| s.to_str()).unwrap_or("")
}

#[test]
fn no_scene_is_missing() {
    let found = all();
    for wanted in WANTED {
        assert!(
            found.iter().any(|path| name(path) == wanted),
            "{wanted} is missing"
        );
    }
}

/// In two halves, so that two tests can run at the same time.
#[test]
fn every_first_scene_loads_and_runs() {
    all().iter().step_by(2).for_each(|path| run(path));
}

#[test]
fn every_second_scene_loads_and_runs() {
    all().iter().skip(1).step_by(2).for_each(|path| run(path));
}

fn run(path: &Path) {
    let shown = path.display();
    let scene = Scene::load(path).unwrap_or_else(|e| panic!("{e}"));
    let mut simulation = Simulation::new(&scene, 1).unwrap_or_else(|e| panic!("{e}"));
    assert!(
        !scene.main().file.about.is_empty(),
        "{shown} says what it shows"
    );
    let mut input = simulation.idle_input();
    // Tissues that lie on each other take a hundred times as long as others; the long run has the patience.
    let patient = std::env::var_os("TROCAR_LONG").is_some();
    let steps = match name(path) {
        "folding" if !patient => 120,
        _ => 500,
    };
    for k in 0..steps {
        for (t, handle) in input.handles.iter_mut().enumerate() {
            let start = simulation.model().tools[t].start;
            let (s, c) = trocar_math::real::sin_cos(f64::from(k) * 0.02);
            handle.yaw = start.yaw + 0.1 * s;
            handle.depth = start.depth + 0.01 * s;
            handle.jaw = 0.5 + 0.5 * c;
        }
        simulation.step(&input);
        let report = simulation.report();
        if MECHANISMS.contains(&name(path)) {
            let right = report.aim.converged && report.lost_joints.is_empty();
            assert!(right, "{shown}, step {k}: {:?}", report.aim);
        }
        for event in &report.events {
            let bad = matches!(event.what, Happening::Quarantined { .. });
            assert!(!bad, "{shown}, step {k}: {}", event.what);
        }
    }
    assert!(is_sound(&simulation, 5.0), "{shown}");
    // The same again from the bundle alone.
    let again = Scene::from_bundle(&scene.bundle).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(again.bundle.hash(), scene.bundle.hash(), "{shown}");
}

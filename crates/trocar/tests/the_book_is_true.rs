//! What the book shows as a file can be used as it stands, and what it lists is all there is.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::{fs, path::Path};
use trocar_scene::{Scene, Simulation};
use trocar_train::{Exercise, Measure};

fn chapter(name: &str) -> String {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    fs::read_to_string(docs.join(name)).unwrap()
}

/// The first block of TOML that is a whole file.
fn whole_file(text: &str) -> &str {
    let blocks = text.split("```toml\n").skip(1);
    let mut files = blocks.map(|b| b.split("```").next().unwrap());
    files.find(|b| b.starts_with("trocar = 1")).unwrap()
}

#[test]
fn the_scene_and_the_exercise_of_the_book_run() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    };
    let scene = write("scenes/first.toml", whole_file(&chapter("scenes.md")));
    let exercise = write("exercises/touch.toml", whole_file(&chapter("exercises.md")));

    let mut simulation = Simulation::new(&Scene::load(scene).unwrap(), 1).unwrap();
    let input = simulation.idle_input();
    for _ in 0..500 {
        assert!(simulation.step(&input).events.is_empty());
    }
    let tissues = write("scenes/tissues.toml", whole_file(&chapter("tissues.md")));
    let mut simulation = Simulation::new(&Scene::load(tissues).unwrap(), 1).unwrap();
    let input = simulation.idle_input();
    let mut events = 0;
    for _ in 0..1600 {
        events += simulation.step(&input).events.len();
    }
    assert_eq!(events, 1, "its command, and nothing else");
    let exercise = Exercise::load(exercise).unwrap();
    assert_eq!(exercise.levels.len(), 2);
}

#[test]
fn every_measure_has_its_formula_in_the_book() {
    let scores = chapter("scores.md");
    for measure in Measure::ALL {
        assert!(
            scores.contains(&format!("| `{}` |", measure.id())),
            "docs/scores.md says nothing about {}",
            measure.id()
        );
    }
}

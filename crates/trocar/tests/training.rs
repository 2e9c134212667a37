//! Exercises, scores and records as the users of the command line meet them.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::Arc,
};
use trocar_scene::{Simulation, recording::Writer};
use trocar_train::{Ending, Exercise, Performance, Records, Run, records::NewResult};

fn trocar(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_trocar"))
        .args(arguments)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Standard output of a run that must succeed.
fn said(arguments: &[&str]) -> String {
    let output = trocar(arguments);
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        text(&output.stderr)
    );
    text(&output.stdout)
}

/// What a run that must fail complains of.
fn complained(arguments: &[&str]) -> String {
    let output = trocar(arguments);
    assert!(!output.status.success(), "{arguments:?} succeeded");
    text(&output.stderr)
}

fn exercise_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../exercises/grasp-and-lift.toml")
}

fn shown(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Waits half a second in the first level, recorded into `path`.
fn record(path: &Path) -> (Arc<Exercise>, Performance) {
    let exercise = Arc::new(Exercise::load(exercise_file()).unwrap());
    let scene = &exercise.levels[0].scene;
    let mut simulation = Simulation::new(scene, 1).unwrap();
    let mut run = Run::new(exercise.clone(), 0, &simulation).unwrap();
    let mut writer = Writer::create(path, scene, &exercise.attachments(0)).unwrap();
    let input = simulation.idle_input();
    for _ in 0..500 {
        simulation.step(&input);
        run.observe(&simulation, simulation.report());
        writer.step(&input, &simulation).unwrap();
    }
    writer.finish().unwrap();
    let performance = run.finish(Ending::GivenUp);
    (exercise, performance)
}

/// A data folder with a profile and a recorded result whose stored score is `off` by that much.
fn keep(folder: &Path, off: f64) -> PathBuf {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let records = Records::open(folder).await.unwrap();
        let profile = records.create_profile("Ada").await.unwrap();
        let path = records.recordings().join("one.trocrec");
        let (exercise, mut performance) = record(&path);
        let new = NewResult {
            profile: profile.id,
            exercise: exercise.id.clone(),
            exercise_title: exercise.title.clone(),
            level: exercise.levels[0].name.clone(),
            level_title: exercise.levels[0].title.clone(),
            recording: Some("one.trocrec".into()),
            build: "test".into(),
        };
        let id = records.begin(&new).await.unwrap();
        performance.score += off;
        records.complete(id, &performance, 1.0).await.unwrap();
        records.close().await;
        path
    })
}

#[test]
fn exercises_are_checked_and_described() {
    let out = said(&["exercise", "check", shown(&exercise_file())]);
    for part in [
        "Grasp and lift",
        "level       easy",
        "level       hard",
        "grasp gall bladder within 8 mm",
        "gives",
        "costs",
    ] {
        assert!(out.contains(part), "{part}: {out}");
    }
    let schema: serde_json::Value = serde_json::from_str(&said(&["exercise", "schema"])).unwrap();
    assert!(schema["properties"]["goal"].is_object());
}

#[test]
fn a_wrong_exercise_is_refused_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wrong.toml");
    let right = fs::read_to_string(exercise_file()).unwrap();
    fs::write(
        &path,
        right.replacen("kind = \"grasp\"", "kind = \"hug\"", 1),
    )
    .unwrap();
    let error = complained(&["exercise", "check", shown(&path)]);
    let line = right.lines().position(|l| l == "kind = \"grasp\"").unwrap() + 1;
    assert!(error.contains(&format!("wrong.toml:{line}:")), "{error}");
    assert!(complained(&["exercise", "check", "nowhere.toml"]).contains("nowhere.toml"));
}

#[test]
fn a_recording_is_scored_again_and_compared_with_what_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let path = keep(&folder.path().join("data"), 0.0);
    let output = trocar(&["score", shown(&path)]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let out = text(&output.stdout);
    assert!(
        out.contains("Grasp and lift, Easy: 0.0 of 100, not passed"),
        "{out}"
    );
    assert!(text(&output.stderr).contains("the stored score is the same"));
    let json: serde_json::Value =
        serde_json::from_str(&said(&["score", shown(&path), "--json"])).unwrap();
    assert_eq!(json["score"], 0.0);
    assert_eq!(json["ending"], "given_up");
    assert_eq!(json["trace"]["time"].as_array().unwrap().len(), 26);

    let path = keep(&folder.path().join("other"), 50.0);
    assert!(complained(&["score", shown(&path)]).contains("the stored score is 50"));
}

#[test]
fn what_is_no_recording_of_an_exercise_is_not_scored() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plain.trocrec");
    let exercise = Exercise::load(exercise_file()).unwrap();
    let writer = Writer::create(&path, &exercise.levels[0].scene, &[]).unwrap();
    writer.finish().unwrap();
    assert!(complained(&["score", shown(&path)]).contains("not of an exercise"));
    fs::write(folder.path().join("x"), b"garbage").unwrap();
    let error = complained(&["score", shown(&folder.path().join("x"))]);
    assert!(error.contains("not a Trocar recording"), "{error}");
}

#[test]
fn a_backup_restores_everything() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let recording = keep(&at("data"), 0.0);
    let out = said(&[
        "backup",
        "--data-dir",
        shown(&at("data")),
        shown(&at("b.tar")),
    ]);
    assert!(
        out.contains("1 profile(s), 1 result(s), 1 recording(s)"),
        "{out}"
    );
    let error = complained(&[
        "backup",
        "--data-dir",
        shown(&at("data")),
        shown(&at("b.tar")),
    ]);
    assert!(error.contains("not overwritten"), "{error}");
    said(&[
        "restore",
        shown(&at("b.tar")),
        "--data-dir",
        shown(&at("new")),
    ]);
    let copy = at("new").join("recordings/one.trocrec");
    assert_eq!(fs::read(&copy).unwrap(), fs::read(recording).unwrap());
    said(&["score", shown(&copy)]);
    let again = [
        "restore",
        shown(&at("b.tar")),
        "--data-dir",
        shown(&at("new")),
    ]
    .map(String::from);
    let again: Vec<&str> = again.iter().map(String::as_str).collect();
    assert!(complained(&again).contains("--replace"));
    let out = said(&[&again[..], &["--replace"]].concat());
    assert!(out.contains("what was there is now in"), "{out}");
    assert!(complained(&["backup", "--data-dir", "nowhere", "x.tar"]).contains("nowhere"));
}

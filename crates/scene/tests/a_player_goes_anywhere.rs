//! A recording can be played from any moment: what is seen there is what a straight replay shows.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::{Dice, built};
use glam::DVec3;
use std::{fs, path::Path, sync::OnceLock};
use trocar_dynamics::{Anchor, MatterId};
use trocar_scene::{
    Change, Input, Player, Pull, Scene, Simulation,
    recording::{Recording, Writer},
};
use trocar_tools::EndoscopeHandle;

const SCENE: &str = r#"trocar = 1
[endoscope]
trocar = [0, 0.12, 0.2]
target = [0, 0, 0]
depth = 0.08
[[sheet]]
name = "sheet"
origin = [-0.05, 0, -0.05]
u = [0.1, 0, 0]
v = [0, 0, 0.1]
rows = 8
columns = 8
fixed = [{ ring = 0 }]
material = { mass = 0.001, damping = 0.05, stiffness = 40, memory = 2 }
[[instrument]]
name = "grasper"
trocar = [0, 0.15, 0.1]
target = [0, 0, 0]
depth = 0.1
"#;

const STEPS: usize = 2600;

/// An input with a bit of everything; the pull, the changes and the step's length come and go.
fn input(simulation: &Simulation, k: usize) -> Input {
    let mut input = simulation.idle_input();
    let (s, c) = trocar_math::real::sin_cos(0.01 * k as f64);
    input.handles[0].yaw = 0.2 * s;
    input.handles[0].depth = 0.14 - 0.03 * c;
    input.handles[0].jaw = 0.5 + 0.5 * c;
    input.endoscope = Some(EndoscopeHandle {
        yaw: 0.1 * c,
        depth: 0.08,
        ..EndoscopeHandle::default()
    });
    if k % 300 < 100 {
        input.pulls.push(Pull {
            anchor: Anchor::node(MatterId(2), 30),
            target: DVec3::new(0.0, 0.03 * s, 0.0),
            force: 1.0,
        });
    }
    if k % 700 == 350 {
        input.changes.push(Change {
            parameter: 5,
            value: 30.0 + (k / 100) as f64,
        });
    }
    if k % 50 == 7 {
        input.dt = 0.003;
    }
    input
}

/// The recording's bytes, and the hash after each step, the start first.
fn recorded() -> &'static (Vec<u8>, Vec<u64>, Vec<f64>) {
    static DONE: OnceLock<(Vec<u8>, Vec<u64>, Vec<f64>)> = OnceLock::new();
    DONE.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("all.rec");
        let scene = Scene::from_text("test.toml", SCENE).unwrap();
        let mut simulation = built(SCENE);
        let mut writer = Writer::create(&path, &scene, &[]).unwrap();
        let (mut hashes, mut times) = (vec![simulation.hash()], vec![0.0]);
        for k in 0..STEPS {
            let input = input(&simulation, k);
            simulation.step(&input);
            writer.step(&input, &simulation).unwrap();
            hashes.push(simulation.hash());
            times.push(simulation.state().time);
        }
        writer.finish().unwrap();
        assert!(simulation.parameters()[5].value != simulation.parameters()[5].start);
        (fs::read(&path).unwrap(), hashes, times)
    })
}

fn read(bytes: &[u8]) -> Recording {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("some.rec");
    fs::write(&path, bytes).unwrap();
    Recording::read(Path::new(&path)).unwrap()
}

#[test]
fn seeking_anywhere_shows_what_a_straight_replay_shows() {
    let (bytes, hashes, times) = recorded();
    let mut player = Player::new(read(bytes), 1).unwrap();
    assert_eq!((player.steps(), player.position()), (STEPS, 0));
    assert_eq!(player.simulation().hash(), hashes[0]);
    assert!((player.duration() - times[STEPS]).abs() < 1e-9);
    let mut dice = Dice(11);
    let mut moments: Vec<usize> = (0..25).map(|_| dice.below(STEPS + 1)).collect();
    moments.extend([0, STEPS, 1, STEPS - 1, 1250, 1251, 1250, 0, STEPS + 1000]);
    for step in moments {
        player.seek(step);
        let step = step.min(STEPS);
        assert_eq!(player.position(), step);
        assert_eq!(player.simulation().hash(), hashes[step], "step {step}");
        assert_eq!(player.simulation().steps(), step as u64);
    }
    // And on from there.
    player.seek(2000);
    assert_eq!(player.next().map(|i| i.handles.len()), Some(1));
    for hash in &hashes[2001..] {
        assert!(player.advance().is_some());
        assert_eq!(player.simulation().hash(), *hash);
    }
    assert!(player.advance().is_none() && player.next().is_none());
    assert_eq!(player.differs(), None);
}

#[test]
fn times_and_steps_answer_each_other() {
    let (bytes, _, times) = recorded();
    let player = Player::new(read(bytes), 1).unwrap();
    for step in (0..=STEPS).step_by(37) {
        assert!((player.time_of(step) - times[step]).abs() < 1e-9, "{step}");
        assert_eq!(player.step_at(player.time_of(step)), step);
    }
    assert_eq!(player.step_at(-1.0), 0);
    assert_eq!(player.step_at(f64::NAN), 0);
    assert_eq!(player.step_at(1e9), STEPS);
    assert_eq!(player.time_of(usize::MAX), player.duration());
}

#[test]
fn a_recording_that_breaks_off_is_played_up_to_there() {
    let (bytes, hashes, _) = recorded();
    let recording = read(&bytes[..bytes.len() * 2 / 3]);
    assert!(!recording.complete);
    let mut player = Player::new(recording, 1).unwrap();
    let end = player.steps();
    assert!(end > 100 && end < STEPS);
    player.seek(usize::MAX);
    assert_eq!(
        (player.position(), player.simulation().hash()),
        (end, hashes[end])
    );
    assert!(player.advance().is_none());
    player.seek(end / 2);
    assert_eq!(player.simulation().hash(), hashes[end / 2]);
}

#[test]
fn an_empty_recording_is_played_at_once() {
    let (bytes, hashes, _) = recorded();
    let mut recording = read(bytes);
    recording.blocks.clear();
    let mut player = Player::new(recording, 1).unwrap();
    assert_eq!((player.steps(), player.duration()), (0, 0.0));
    assert!(player.advance().is_none());
    player.seek(10);
    assert_eq!(player.simulation().hash(), hashes[0]);
}

#[test]
fn a_recording_that_was_tampered_with_is_found_out_and_still_played() {
    let (bytes, _, _) = recorded();
    let mut recording = read(bytes);
    let block = &mut recording.blocks[1];
    let first = block.steps();
    block.inputs[0].0.handles[0].yaw += 0.1;
    let at = recording.blocks[0].steps() + 1;
    let mut player = Player::new(recording, 1).unwrap();
    player.seek(usize::MAX);
    assert!(first > 0 && player.position() == STEPS);
    assert_eq!(player.differs(), Some(at as u64));
    // A scene that can't be built is refused, not played.
    let mut recording = read(bytes);
    recording.scene.files[0].1 = b"trocar = 1\n[world]\nstep = 7\n".to_vec();
    assert!(Player::new(recording, 1).is_err());
}

#[test]
fn times_know_of_slow_motion_and_of_steps_that_commands_cut() {
    let text = r#"trocar = 1
[world]
step = 0.002
slow_motion = 0.8
[[sheet]]
name = "sheet"
origin = [0, 0, 0]
u = [0.05, 0, 0]
v = [0, 0, 0.05]
rows = 4
columns = 4
fixed = [{ ring = 0 }]
material = { mass = 0.001, damping = 0.05, stiffness = 20 }
[[command]]
at = 0.1
set = [{ of = "sheet", what = "damping", to = 0.1 }]
[[command]]
at = 0.2039
set = [{ of = "world", what = "slow motion", to = 1.0 }]
[[command]]
at = 0.205
set = [{ of = "sheet", what = "damping", to = 0.05 }]
[[command]]
at = 0.5
flags = [{ of = "ALL", token = "SLOWMOT", on = false }]
[[command]]
at = 0.55
flags = [{ of = "sheet", token = "GRAV", on = false }, { of = "ALL", word = 0x3200 }]
[[command]]
at = 0.6
set = [{ of = "world", what = "slow motion", to = 0.7 }]
flags = [{ of = "ALL", token = "SLOWMOT", on = true }]
"#;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("slow.rec");
    let scene = Scene::from_text("test.toml", text).unwrap();
    let mut simulation = built(text);
    let list = simulation.parameters();
    let slow = list.iter().position(|p| p.name == "slow motion").unwrap() as u32;
    let mut writer = Writer::create(&path, &scene, &[]).unwrap();
    let (mut times, mut cut) = (vec![0.0], 0);
    for k in 0..200 {
        let mut input = simulation.idle_input();
        input.dt = 0.005;
        if k == 120 {
            let (parameter, value) = (slow, 0.5);
            input.changes.push(Change { parameter, value });
        }
        simulation.step(&input);
        writer.step(&input, &simulation).unwrap();
        let time = simulation.state().time;
        cut += usize::from(((time - times[k]) - 0.002).abs() < 1e-12);
        times.push(time);
    }
    writer.finish().unwrap();
    assert!(cut >= 3, "commands cut {cut} steps");
    assert!(times[200] > 0.65, "all is done by {} s", times[200]);
    assert_eq!(simulation.parameters()[slow as usize].value, 0.7);
    let player = Player::new(Recording::read(&path).unwrap(), 1).unwrap();
    assert!((player.duration() - times[200]).abs() < 1e-9);
    for (step, time) in times.iter().enumerate() {
        assert!((player.time_of(step) - time).abs() < 1e-9, "{step}");
        assert_eq!(player.step_at(*time), step);
    }
}

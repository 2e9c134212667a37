//! What a scene does at set times (K13, K146), model reset (K122) and pushes (K149): all of it the same again in a replay.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::built;
use trocar_scene::{
    Scene, Simulation,
    event::Happening,
    recording::{Recording, Verdict, Writer},
};

const SCENE: &str = r#"trocar = 1
[[sheet]]
name = "sheet"
origin = [-0.05, 0, -0.05]
u = [0.1, 0, 0]
v = [0, 0, 0.1]
rows = 6
columns = 6
fixed = [{ ring = 0 }]
material = { mass = 0.001, damping = 0.05, stiffness = 40 }
[[command]]
at = 0.3
set = [{ of = "sheet", what = "stiffness", to = 80 }, { of = "world", what = "gravity y", to = -2 }]
[[command]]
at = 0.5
push = [0, 0.5, 0]
on = { tissue = "sheet", node = 33 }
until = 0.6
[[command]]
at = 0.8
reset = true
set = [{ of = "sheet", what = "integrator", to = 3 }]
[[command]]
at = 0
set = [{ of = "sheet", what = "damping", to = 0.1 }]
"#;

fn value(simulation: &Simulation, group: &str, name: &str) -> f64 {
    let list = simulation.parameters().iter();
    list.clone()
        .find(|p| p.group == group && p.name == name)
        .unwrap()
        .value
}

fn height(simulation: &Simulation) -> f64 {
    simulation.state().nodes[1].position[33].y
}

fn run(simulation: &mut Simulation, until: f64) -> Vec<(f64, Happening)> {
    let input = simulation.idle_input();
    let mut happened = Vec::new();
    while simulation.state().time < until - 1e-9 {
        let at = simulation.state().time;
        let report = simulation.step(&input);
        happened.extend(report.events.iter().map(|e| (at, e.what.clone())));
    }
    happened
}

#[test]
fn everything_is_done_at_its_time() {
    let mut simulation = built(SCENE);
    let first = run(&mut simulation, 0.3);
    assert_eq!(first.len(), 1, "{first:?}");
    assert_eq!(
        (
            value(&simulation, "sheet", "damping"),
            value(&simulation, "sheet", "stiffness")
        ),
        (0.1, 40.0)
    );
    let second = run(&mut simulation, 0.5);
    assert_eq!(second.len(), 2);
    assert!(
        second.iter().all(|e| (e.0 - 0.3).abs() < 0.0021),
        "{second:?}"
    );
    assert_eq!(value(&simulation, "sheet", "stiffness"), 80.0);
    let before = height(&simulation);
    run(&mut simulation, 0.6);
    assert!(height(&simulation) > before + 5e-3, "it was pushed up");
    let (pushed, mut insight) = (height(&simulation), Default::default());
    simulation.insight(
        trocar_scene::Views {
            nodes: true,
            ..Default::default()
        },
        &mut insight,
    );
    let pulled = trocar_scene::insight::NodeState::Pulled;
    assert_eq!(
        insight.nodes.iter().filter(|n| n.state == pulled).count(),
        1
    );
    run(&mut simulation, 0.7);
    assert!(height(&simulation) < pushed, "and then no longer");
    let last = run(&mut simulation, 0.802);
    assert!(last.iter().any(|e| e.1 == Happening::Reset), "{last:?}");
    assert!(height(&simulation).abs() < 1e-4, "back at the start");
    assert_eq!(
        value(&simulation, "sheet", "stiffness"),
        80.0,
        "parameters stay"
    );
    assert_eq!(value(&simulation, "sheet", "integrator"), 3.0);
    assert!(simulation.state().time > 0.8, "time goes on");
}

#[test]
fn a_replay_and_a_snapshot_know_the_commands() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.rec");
    let scene = Scene::from_text("test.toml", SCENE).unwrap();
    let mut simulation = built(SCENE);
    let mut writer = Writer::create(&path, &scene, &[]).unwrap();
    let input = simulation.idle_input();
    let mut kept = None;
    for k in 0..500 {
        if k == 280 {
            kept = Some(simulation.snapshot());
        }
        simulation.step(&input);
        writer.step(&input, &simulation).unwrap();
    }
    writer.finish().unwrap();
    let recording = Recording::read(&path).unwrap();
    let verdict = recording.replay(&mut built(SCENE), |_| true);
    assert_eq!(verdict, Verdict::Same { checked: 500 });
    // In the middle of the push.
    let mut again = built(SCENE);
    again.restore(&kept.unwrap()).unwrap();
    for _ in 280..500 {
        again.step(&input);
    }
    assert_eq!(again.hash(), simulation.hash());
}

#[test]
fn what_can_not_be_done_is_refused() {
    for (from, to, what) in [
        (
            "what = \"stiffness\", to = 80",
            "what = \"stiffnes\", to = 80",
            "It has: mass, damping",
        ),
        (
            "of = \"sheet\", what = \"stiffness\"",
            "of = \"shet\", what = \"stiffness\"",
            "a tissue or an instrument",
        ),
        ("to = 80", "to = 8000", "does not lie between"),
        ("to = 3", "to = 2.5", "one of 0 (MESD), 1 (quasi-dynamic)"),
        ("until = 0.6", "until = 0.4", "ends after it began"),
        ("until = 0.6\n", "", "until when"),
        ("at = 0.3", "at = -1", "no time"),
        (
            "reset = true\nset = [{ of = \"sheet\", what = \"integrator\", to = 3 }]",
            "",
            "does nothing",
        ),
    ] {
        let text = SCENE.replace(from, to);
        let made = Scene::from_text("test.toml", &text).and_then(|s| Simulation::new(&s, 1));
        let why = made.err().map(|e| e.to_string()).unwrap_or_default();
        assert!(why.contains(what), "{what}: {why}");
    }
}

#[test]
fn a_long_step_in_which_tissue_stiffens_is_taken_in_stable_substeps() {
    let text = SCENE[..SCENE.find("[[command]]").unwrap()].replace(
        "mass = 0.001, damping = 0.05, stiffness = 40",
        "mass = 0.00001, damping = 0.001, stiffness = 4000",
    ) + "[[command]]\nat = 0.33\nset = [{ of = \"sheet\", what = \"stiffness\", to = 40000 }]\n";
    let mut simulation = built(&text);
    let longest = simulation.model().longest_step();
    let mut input = simulation.idle_input();
    input.dt = longest;
    let (mut changes, mut shorter) = (0, false);
    while simulation.state().time < 0.6 {
        let before = simulation.state().time;
        let report = simulation.step(&input);
        let substeps = f64::from(report.substeps);
        changes += (report.events.iter())
            .filter(|e| matches!(e.what, Happening::Changed { .. }))
            .count();
        let bound = simulation.model().groups[0].bounds.safe;
        let substep = (simulation.state().time - before) / substeps;
        assert!(
            substep < 1.0001 * bound,
            "{before} s: {substep} of {bound} s"
        );
        shorter |= simulation.model().longest_step() < 0.9 * longest;
    }
    assert!(shorter && changes == 1, "{shorter}, {changes} changes");
}

//! Parameters can be changed while a scene runs (K13): what was changed acts, is hashed, stored and replayed; what a scene could
//! not be built of is refused with a reason and changes nothing.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::{built, busy, gallbladder, is_sound, simulation, theatre};
use std::time::Instant;
use trocar_math::real;
use trocar_scene::{
    Change, Scene, Simulation,
    event::Happening,
    recording::{Recording, Verdict, Writer},
};

/// A sheet held along one edge, an organ with a pipe, and a grasper.
const SCENE: &str = r#"trocar = 1
[world]
step = 0.002
[[sheet]]
name = "sheet"
origin = [-0.05, 0, -0.05]
u = [0.1, 0, 0]
v = [0, 0, 0.1]
rows = 6
columns = 6
fixed = [{ ring = 0 }]
material = { mass = 0.001, damping = 0.05, stiffness = 40 }
[[organ]]
name = "organ"
path = [[0.2, 0, 0], [0.25, 0, 0], [0.3, 0, 0]]
radii = [[0.02, 0.02]]
rings = 6
around = 8
fixed = [{ ring = 0 }]
material = { mass = 0.0005, damping = 0.1, stiffness = 60, memory = 10 }
[[pipe]]
name = "pipe"
path = [[0.3, 0, 0], [0.4, 0, 0]]
radii = [[0.01, 0.01]]
rings = 5
around = 8
material = { mass = 0.0002, damping = 0.05, stiffness = 30, memory = 5, centre_stiffness = 20 }
[[couple]]
master = { tissue = "organ", ring = 5 }
slave = { tissue = "pipe", ring = 0 }
[[instrument]]
name = "grasper"
trocar = [0, 0.15, 0.1]
target = [0, 0, 0]
depth = 0.1
"#;

/// The change of a parameter, by the names of its group and itself.
fn change(simulation: &Simulation, group: &str, name: &str, value: f64) -> Change {
    let list = simulation.parameters();
    let found = list.iter().position(|p| p.group == group && p.name == name);
    let parameter = found.unwrap_or_else(|| panic!("no parameter {group}: {name}")) as u32;
    Change { parameter, value }
}

fn value(simulation: &Simulation, group: &str, name: &str) -> f64 {
    let place = change(simulation, group, name, 0.0).parameter as usize;
    simulation.parameters()[place].value
}

/// One step with these changes; what happened.
fn step(simulation: &mut Simulation, changes: &[Change]) -> Vec<Happening> {
    let mut input = simulation.idle_input();
    input.changes = changes.to_vec();
    let report = simulation.step(&input);
    report.events.iter().map(|e| e.what.clone()).collect()
}

fn run(simulation: &mut Simulation, steps: usize) {
    let input = simulation.idle_input();
    for _ in 0..steps {
        simulation.step(&input);
    }
}

/// How far the free edge of the sheet hangs down, m.
fn sag(simulation: &Simulation) -> f64 {
    let tissues = &simulation.model().tissues;
    let sheet = tissues.iter().find(|t| t.name == "sheet").unwrap().matter;
    let nodes = &simulation.state().nodes[sheet.index()].position;
    nodes.iter().map(|p| -p.y).fold(0.0, f64::max)
}

#[test]
fn every_number_of_the_scene_is_listed_with_its_range() {
    let simulation = built(SCENE);
    let list = simulation.parameters();
    for p in list {
        assert!(p.least <= p.start && p.start <= p.greatest, "{p:?}");
        assert_eq!(p.value, p.start);
        assert!(!p.about.is_empty() && p.least.is_finite() && p.greatest.is_finite());
    }
    let of = |group: &str| list.iter().filter(|p| p.group == group).count();
    // Gravity along three axes, slow motion, and whether substeps follow the state.
    assert_eq!(of("world"), 5);
    // A sheet has no central nodes, an organ one, a pipe many.
    assert_eq!((of("sheet"), of("organ"), of("pipe")), (20, 25, 30));
    assert_eq!(of("couple 0"), 1);
    assert_eq!(of("grasper"), 2);
    assert_eq!(value(&simulation, "sheet", "stiffness"), 40.0);
    assert_eq!(value(&simulation, "pipe", "gravity"), 1.0);
}

#[test]
fn a_change_acts_and_is_told() {
    let mut soft = built(SCENE);
    let mut stiff = built(SCENE);
    let softer = change(&soft, "sheet", "stiffness", 4.0);
    let events = step(&mut soft, &[softer]);
    let told = Happening::Changed {
        parameter: "sheet: stiffness".into(),
        value: 4.0,
        choice: None,
    };
    assert_eq!(told.to_string(), "sheet: stiffness is now 4");
    assert_eq!(events, [told]);
    assert_eq!(value(&soft, "sheet", "stiffness"), 4.0);
    // Of a choice it is said what it means.
    let heun = change(&soft, "sheet", "integrator", 3.0);
    let events = step(&mut soft, &[heun]);
    assert_eq!(
        events[0].to_string(),
        "sheet: integrator is now modified Heun"
    );
    let back = change(&soft, "sheet", "integrator", 0.0);
    step(&mut soft, &[back]);
    step(&mut stiff, &[]);
    step(&mut stiff, &[]);
    // The same wish again is no change.
    assert_eq!(step(&mut soft, &[softer]), []);
    step(&mut stiff, &[]);
    step(&mut stiff, &[]);
    for simulation in [&mut soft, &mut stiff] {
        run(simulation, 2000);
    }
    assert!(
        sag(&soft) > 1.1 * sag(&stiff),
        "{} {}",
        sag(&soft),
        sag(&stiff)
    );
    assert_ne!(soft.hash(), stiff.hash());
    // Without gravity nothing stretches it any more.
    let stretched = soft.energy().elastic;
    let sheet = change(&soft, "sheet", "gravity", 0.0);
    let organ = change(&soft, "organ", "gravity", 0.0);
    let pipe = change(&soft, "pipe", "gravity", 0.0);
    step(&mut soft, &[sheet, organ, pipe]);
    run(&mut soft, 4000);
    let left = soft.energy().elastic;
    assert!(left < 0.1 * stretched, "{left} {stretched}");
}

#[test]
fn a_tissue_changed_on_the_way_is_the_tissue_of_a_scene_that_says_so() {
    let mut changed = built(SCENE);
    let list = [
        ("organ", "mass", 0.0011),
        ("organ", "memory", 21.0),
        ("organ", "centre mass", 0.1),
        ("pipe", "bending", 0.01),
        ("pipe", "brace", 0.02),
        ("pipe", "torsion", 0.003),
    ];
    let changes: Vec<Change> = list
        .iter()
        .map(|(group, name, value)| change(&changed, group, name, *value))
        .collect();
    assert_eq!(step(&mut changed, &changes).len(), changes.len());
    let text = SCENE
        .replace("mass = 0.0005", "mass = 0.0011, centre_mass = 0.1")
        .replace("memory = 10", "memory = 21")
        .replace(
            "centre_stiffness = 20",
            "centre_stiffness = 20, bending = 0.01, brace = 0.02, torsion = 0.003",
        );
    let mut written = built(&text);
    run(&mut written, 1);
    let bounds = |s: &Simulation| {
        s.model()
            .groups
            .iter()
            .map(|g| g.bounds)
            .collect::<Vec<_>>()
    };
    assert_eq!(bounds(&changed), bounds(&written));
    for _ in 0..200 {
        run(&mut changed, 1);
        run(&mut written, 1);
        assert_eq!(changed.state(), written.state());
    }
}

#[test]
fn what_a_scene_could_not_be_built_of_is_refused_and_changes_nothing() {
    let mut simulation = built(SCENE);
    let mut untouched = built(SCENE);
    let reason = |events: &[Happening]| match events {
        [Happening::Refused { parameter, reason }] => (parameter.clone(), reason.clone()),
        other => panic!("{other:?}"),
    };
    let many = simulation.parameters().len() as u32;
    let cases = [
        (change(&simulation, "sheet", "stiffness", -1.0), "between"),
        (
            change(&simulation, "sheet", "stiffness", f64::NAN),
            "between",
        ),
        (change(&simulation, "sheet", "mass", 0.0), "between"),
        (
            change(&simulation, "world", "gravity y", f64::INFINITY),
            "between",
        ),
        (
            change(&simulation, "sheet", "gravity", 0.5),
            "one of 0 (no), 1 (yes)",
        ),
        (
            Change {
                parameter: many,
                value: 1.0,
            },
            "parameters",
        ),
        (
            Change {
                parameter: u32::MAX,
                value: 1.0,
            },
            "parameters",
        ),
    ];
    for (wish, word) in cases {
        let (_, reason) = reason(&step(&mut simulation, &[wish]));
        assert!(reason.contains(word), "{reason}");
        run(&mut untouched, 1);
        assert_eq!(simulation.hash(), untouched.hash());
    }
}

/// Without damping the midpoint scheme swings up at any step.
#[test]
fn a_net_that_would_swing_up_is_refused_and_the_rest_of_the_wishes_granted() {
    let mut simulation = built(SCENE);
    let wishes = [
        change(&simulation, "organ", "integrator", 8.0),
        change(&simulation, "organ", "damping", 0.0),
        change(&simulation, "world", "gravity x", 1.0),
    ];
    let events = step(&mut simulation, &wishes);
    assert_eq!(events.len(), wishes.len());
    let refused: Vec<&Happening> = events
        .iter()
        .filter(|e| matches!(e, Happening::Refused { .. }))
        .collect();
    assert!(
        refused.iter().any(|e| e.to_string().contains("swing up")),
        "{events:?}"
    );
    assert_eq!(value(&simulation, "world", "gravity x"), 1.0);
    run(&mut simulation, 1000);
    assert!(is_sound(&simulation, 1.0));
}

#[test]
fn a_stiffer_tissue_gets_more_substeps() {
    let mut simulation = built(SCENE);
    run(&mut simulation, 1);
    let before = simulation.report().substeps;
    let wish = change(&simulation, "organ", "stiffness", 600.0);
    step(&mut simulation, &[wish]);
    assert!(simulation.report().substeps > before);
    run(&mut simulation, 500);
    assert!(is_sound(&simulation, 1.0));
    // Back again: as it was.
    let wish = change(&simulation, "organ", "stiffness", 60.0);
    step(&mut simulation, &[wish]);
    assert_eq!(simulation.report().substeps, before);
}

/// Told once when it happens, with the part that asks for it; also if it comes about little by little.
#[test]
fn what_comes_to_need_many_substeps_is_told_by_name() {
    let told = |events: &[Happening]| {
        let stiffened = events.iter().filter_map(|e| match e {
            Happening::Stiffened {
                group,
                before,
                substeps,
                part,
            } => Some((group.clone(), *before, *substeps, part.clone())),
            _ => None,
        });
        stiffened.collect::<Vec<_>>()
    };
    let stiff = SCENE.replace("step = 0.002", "step = 0.02");
    let stiff = stiff.replace(
        "mass = 0.0005, damping = 0.1",
        "mass = 0.0005, damping = 0.001",
    );
    let mut simulation = built(&stiff);
    run(&mut simulation, 1);
    let before = simulation.report().substeps;
    assert!((2..=20).contains(&before), "{before}");
    let wish = change(&simulation, "organ", "stiffness", 600.0);
    let events = told(&step(&mut simulation, &[wish]));
    let now = simulation.report().substeps;
    let [(group, then, count, part)] = &events[..] else {
        panic!("{events:?}");
    };
    assert!(group.contains("organ") && *then <= before && *count == now && now > 20);
    assert!(
        part.starts_with("element ") && part.contains(" of organ, between node "),
        "{part}"
    );
    // What stays as it is, or becomes softer, is not told again.
    for stiffness in [590.0, 60.0] {
        let wish = change(&simulation, "organ", "stiffness", stiffness);
        assert_eq!(told(&step(&mut simulation, &[wish])), []);
    }
    // Little by little: once on the way.
    let steps = (1..=6).map(|k| 60.0 + 90.0 * f64::from(k));
    let events = steps.flat_map(|stiffness| {
        let wish = change(&simulation, "organ", "stiffness", stiffness);
        told(&step(&mut simulation, &[wish]))
    });
    assert_eq!(events.count(), 1);
}

#[test]
fn snapshots_carry_what_was_changed_and_a_restart_forgets_it() {
    let mut first = built(SCENE);
    run(&mut first, 50);
    let plain = first.snapshot();
    let wishes = [
        change(&first, "pipe", "memory", 2.0),
        change(&first, "sheet", "mass", 0.002),
        change(&first, "world", "gravity y", -3.0),
        change(&first, "grasper", "speed", 0.2),
        change(&first, "organ", "bears", 0.5),
    ];
    assert_eq!(step(&mut first, &wishes).len(), 5);
    run(&mut first, 50);
    let snapshot = first.snapshot();
    let mut second = built(SCENE);
    second.restore(&snapshot).unwrap();
    assert_eq!(second.parameters(), first.parameters());
    for k in 0..1000 {
        assert_eq!(first.hash(), second.hash(), "{k}");
        run(&mut first, 1);
        run(&mut second, 1);
    }
    // To a snapshot of before, and on: as if nothing had been changed.
    second.restore(&plain).unwrap();
    let mut third = built(SCENE);
    third.restore(&plain).unwrap();
    run(&mut second, 100);
    run(&mut third, 100);
    assert_eq!(second.hash(), third.hash());
    first.restart();
    assert!(first.parameters().iter().all(|p| p.value == p.start));
    let mut fresh = built(SCENE);
    run(&mut first, 100);
    run(&mut fresh, 100);
    assert_eq!(first.hash(), fresh.hash());
}

#[test]
fn changes_are_recorded_and_replayed_the_same_on_any_number_of_threads() {
    let scene = theatre();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("changed.rec");
    let mut simulation = simulation(&scene, 1);
    let mut writer = Writer::create(&path, &scene, &[]).unwrap();
    let wishes = [
        change(&simulation, "sheet 1", "stiffness", 55.0),
        change(&simulation, "organ", "memory", 3.0),
        change(&simulation, "grasper 1", "grip force", 1.0),
        change(&simulation, "world", "gravity z", 4.0),
    ];
    for k in 0..120 {
        let mut input = busy(&simulation, k);
        if k % 30 == 10 {
            input.changes = vec![wishes[k / 30]];
        }
        simulation.step(&input);
        writer.step(&input, &simulation).unwrap();
    }
    writer.finish().unwrap();
    let recording = Recording::read(&path).unwrap();
    for threads in [1, 2] {
        let scene = Scene::from_bundle(&recording.scene).unwrap();
        let mut again = Simulation::new(&scene, threads).unwrap();
        let verdict = recording.replay(&mut again, |_| true);
        assert_eq!(verdict, Verdict::Same { checked: 120 });
        assert_eq!(again.parameters(), simulation.parameters());
    }
}

/// Prints what a slider costs; a test must not depend on the machine's speed.
#[test]
fn a_slider_can_be_drawn() {
    let mut simulation = simulation(&gallbladder(), 1);
    let mut worst = 0.0_f64;
    let start = value(&simulation, "gall bladder", "stiffness");
    for k in 1..=5 {
        let wish = change(
            &simulation,
            "gall bladder",
            "stiffness",
            start + f64::from(k),
        );
        let began = Instant::now();
        let events = step(&mut simulation, &[wish]);
        worst = worst.max(began.elapsed().as_secs_f64());
        assert!(
            matches!(events[..], [Happening::Changed { .. }]),
            "{events:?}"
        );
    }
    println!(
        "a change of the gall bladder's stiffness: {:.1} ms at most",
        1e3 * worst
    );
    assert!(is_sound(&simulation, 1.0));
}

/// A wheel that a motor turns, an arm that a servo holds, a mass on a spring, a link that gives way, and a box on a slope.
const MACHINES: &str = r#"trocar = 1
[world]
step = 0.005
[[body]]
name = "wheel"
form = { cylinder = { half_length = 0.01, radius = 0.1 } }
mass = 1
position = [0, 1, 0]
collide = false
[[joint]]
name = "motor"
kind = "hinge"
axis = [0, 1, 0]
a = { world = [0, 1, 0] }
b = { body = "wheel" }
drive = { speed = { target = 2, most = 1 } }
[[body]]
name = "arm"
form = { box = [0.1, 0.02, 0.02] }
mass = 0.5
position = [1.1, 1, 0]
collide = false
[[joint]]
name = "elbow"
kind = "hinge"
axis = [0, 0, 1]
a = { world = [1, 1, 0] }
b = { body = "arm", at = [-0.1, 0, 0] }
drive = { servo = { target = 0, stiffness = 200, damping = 20, most = 50 } }
[[body]]
name = "bob"
form = { ball = 0.05 }
mass = 1
position = [2, 1, 0]
collide = false
[[joint]]
kind = "slider"
axis = [0, 1, 0]
a = { world = [2, 1, 0] }
b = { body = "bob" }
drive = { spring = { rest = 0, stiffness = 100, damping = 20 } }
[[body]]
name = "weight"
form = { ball = 0.05 }
mass = 1
position = [3, 1, 0]
collide = false
[[joint]]
name = "thread"
kind = "ball"
strength = 20
a = { world = [3, 1, 0] }
b = { body = "weight" }
[[body]]
name = "slope"
motion = "static"
form = { box = [0.5, 0.05, 0.5] }
position = [4, 0, 0]
rotation = [0, 0, -0.3]
friction = [1, 1]
[[body]]
name = "box"
form = { box = [0.05, 0.05, 0.05] }
mass = 1
position = [4.02955, 0.09553, 0]
rotation = [0, 0, -0.3]
friction = [0.8, 0.7]
"#;

fn machines() -> Simulation {
    simulation(&Scene::from_text("test.toml", MACHINES).unwrap(), 1)
}

/// Position, velocity and spin of a body.
fn state_of(simulation: &Simulation, name: &str) -> [glam::DVec3; 3] {
    let look = simulation.model().looks.iter().find(|l| l.name == name);
    let (matter, node) = look.unwrap().at;
    let nodes = &simulation.state().nodes[matter.index()];
    let i = node as usize;
    [nodes.position[i], nodes.velocity[i], nodes.spin[i]]
}

#[test]
fn drives_are_changed_while_they_run() {
    let mut s = machines();
    run(&mut s, 400);
    let of = |s: &Simulation| {
        (
            state_of(s, "wheel")[2].y,
            state_of(s, "arm")[0],
            state_of(s, "bob")[0].y,
            state_of(s, "weight")[0].y,
        )
    };
    // A servo gives in to the weight by m g l / k, a spring by m g / k: 0.5 · 9.81 · 0.1 / 200 rad and 9.81 / 100 m.
    let (wheel, arm, bob, weight) = of(&s);
    assert!((wheel - 2.0).abs() < 1e-6, "{wheel}");
    assert!((arm.y - 1.0 + 2.4525e-3 * 0.1).abs() < 1e-6, "{arm}");
    assert!((bob - 1.0 + 0.0981).abs() < 1e-5, "{bob}");
    assert!((weight - 1.0).abs() < 1e-8, "{weight}");

    let changes = [
        change(&s, "joint motor", "target speed", -5.0),
        change(&s, "joint elbow", "target", 1.0),
        change(&s, "joint 2", "stiffness", 400.0),
        change(&s, "joint thread", "strength", 5.0),
    ];
    let told = step(&mut s, &changes);
    assert_eq!(told.len(), 4, "{told:?}");
    run(&mut s, 600);
    let (wheel, arm, bob, weight) = of(&s);
    assert!((wheel + 5.0).abs() < 1e-6, "{wheel}");
    // Its spring takes what is left: k (1 − φ) = m g l cos φ.
    let angle = real::atan2(arm.y - 1.0, arm.x - 1.0);
    let torque = 0.5 * 9.81 * 0.1 * real::cos(angle);
    assert!((200.0 * (1.0 - angle) - torque).abs() < 1e-4, "{angle}");
    assert!((bob - 1.0 + 9.81 / 400.0).abs() < 1e-5, "{bob}");
    // 5 N do not bear 9.81 N: it falls with the rest.
    assert!(weight < 0.0, "{weight}");

    // A snapshot brings the numbers back; so does a restart what the scene says.
    let hash = s.hash();
    let kept = s.snapshot();
    let mut other = machines();
    other.restore(&kept).unwrap();
    assert_eq!(other.hash(), hash);
    assert_eq!(value(&other, "joint motor", "target speed"), -5.0);
    run(&mut s, 50);
    run(&mut other, 50);
    assert_eq!(other.hash(), s.hash());
    s.restart();
    assert_eq!(value(&s, "joint motor", "target speed"), 2.0);
    run(&mut s, 400);
    let mut fresh = machines();
    run(&mut fresh, 400);
    assert_eq!(s.hash(), fresh.hash());
}

#[test]
fn a_motor_gives_no_more_than_it_may_now() {
    let mut s = machines();
    // 0.5 m r² = 5e-3 kg·m²: with 0.01 N·m it speeds up by 2 rad/s².
    let weak = change(&s, "joint motor", "greatest force", 0.01);
    step(&mut s, &[weak]);
    run(&mut s, 99);
    let spin = state_of(&s, "wheel")[2].y;
    assert!((spin - 1.0).abs() < 1e-6, "{spin}");
}

#[test]
fn what_rests_on_a_slope_slides_when_it_is_oiled() {
    let mut s = machines();
    run(&mut s, 400);
    let [_, resting, _] = state_of(&s, "box");
    assert!(resting.length() < 1e-6, "{resting}");
    let refused = change(&s, "body box", "dynamic friction", 0.9);
    let told = step(&mut s, &[refused]);
    assert!(matches!(told[..], [Happening::Refused { .. }]), "{told:?}");
    let oil = [
        change(&s, "body box", "static friction", 0.0),
        change(&s, "body box", "dynamic friction", 0.0),
    ];
    let [_, before, _] = state_of(&s, "box");
    let told = step(&mut s, &oil);
    assert_eq!(told.len(), 2, "{told:?}");
    run(&mut s, 39);
    // g sin 0.3 along the slope, for 0.2 s.
    let [_, after, _] = state_of(&s, "box");
    let expected = 9.81 * real::sin(0.3) * 0.2;
    let gained = (after - before).length();
    assert!((gained - expected).abs() < 0.02 * expected, "{gained}");
}

#[test]
fn a_command_changes_a_drive() {
    let text = format!(
        "{MACHINES}[[command]]\nat = 1\nset = [{{ of = \"joint motor\", what = \"target speed\", to = 3 }}]\n"
    );
    let mut s = simulation(&Scene::from_text("test.toml", &text).unwrap(), 1);
    run(&mut s, 199);
    assert!((state_of(&s, "wheel")[2].y - 2.0).abs() < 1e-6);
    run(&mut s, 100);
    assert!((state_of(&s, "wheel")[2].y - 3.0).abs() < 1e-6);
}

/// A body that springs hold at its place, and one that falls through thick air (K55).
const HELD: &str = r#"trocar = 1
[world]
step = 0.002
gravity = [0, -10, 0]
[[body]]
name = "held"
mass = 0.1
half_extents = [0.01, 0.01, 0.01]
position = [0, 0, 0]
damping = 2
turn_damping = 0.001
rest_stiffness = 50
rest_torsion = 0.1
[[body]]
name = "falls"
mass = 0.1
half_extents = [0.01, 0.01, 0.01]
position = [1, 0, 0]
damping = 0.5
[[particle]]
name = "bead"
mass = 0.01
position = [2, 0, 0]
"#;

#[test]
fn bodies_are_made_heavier_and_held_otherwise_while_they_move() {
    let mut simulation = built(HELD);
    let rests = |s: &Simulation| state_of(s, "held")[0].y;
    let speed = |s: &Simulation| state_of(s, "falls")[1].y;
    run(&mut simulation, 2000);
    // m g / k below its place.
    assert!(
        (rests(&simulation) + 0.02).abs() < 1e-4,
        "{}",
        rests(&simulation)
    );
    let heavy = change(&simulation, "body held", "mass", 0.2);
    let told = step(&mut simulation, &[heavy]);
    assert!(matches!(&told[..], [Happening::Changed { .. }]), "{told:?}");
    run(&mut simulation, 2000);
    assert!(
        (rests(&simulation) + 0.04).abs() < 1e-4,
        "{}",
        rests(&simulation)
    );
    let stiff = change(&simulation, "body held", "rest stiffness", 200.0);
    step(&mut simulation, &[stiff]);
    run(&mut simulation, 2000);
    assert!(
        (rests(&simulation) + 0.01).abs() < 1e-4,
        "{}",
        rests(&simulation)
    );
    // It falls as fast as its damping lets it: m g / d.
    let thick = change(&simulation, "body falls", "damping", 1.0);
    let mut falling = built(HELD);
    run(&mut falling, 1500);
    let before = speed(&falling);
    step(&mut falling, &[thick]);
    run(&mut falling, 1500);
    assert!(
        (before + 2.0).abs() < 0.02 && (speed(&falling) + 1.0).abs() < 0.02,
        "{before}, {}",
        speed(&falling)
    );
    // Turned by a slider it is as damped as if the file said so.
    let spun = HELD.replace(
        "turn_damping = 0.001",
        "turn_damping = DAMPED\nspin = [0, 3, 0]",
    );
    let (mut said, mut set) = (
        built(&spun.replace("DAMPED", "0.002")),
        built(&spun.replace("DAMPED", "0.001")),
    );
    let damp = change(&set, "body held", "turn damping", 0.002);
    step(&mut set, &[damp]);
    run(&mut said, 1);
    run(&mut said, 100);
    run(&mut set, 100);
    assert_eq!(state_of(&said, "held"), state_of(&set, "held"));
    // What was changed and changed back is as if nothing had been: a restored snapshot knows only what is.
    let slack = change(&simulation, "body held", "damping", 0.0);
    let damped = change(&simulation, "body held", "damping", 2.0);
    step(&mut simulation, &[slack]);
    step(&mut simulation, &[damped]);
    let mut again = built(HELD);
    again.restore(&simulation.snapshot()).unwrap();
    run(&mut simulation, 50);
    run(&mut again, 50);
    assert_eq!(simulation.hash(), again.hash());
    assert_eq!(value(&simulation, "particle bead", "mass"), 0.01);
    // Too stiff for the step is refused with the reason, and changes nothing.
    let text = HELD.replace("rest_stiffness = 50", "rest_stiffness = 5e7");
    let text = text.replacen("mass = 0.1", "mass = 0.0001", 1);
    let mut stiff = built(&text);
    let hash = stiff.hash();
    let stiffer = change(&stiff, "body held", "rest stiffness", 5e8);
    let told = step(&mut stiff, &[stiffer]);
    assert!(
        matches!(&told[..], [Happening::Refused { reason, .. }] if reason.contains("what draws held back to its place")),
        "{told:?}"
    );
    let mut other = built(&text);
    assert_eq!(other.hash(), hash);
    run(&mut other, 1);
    assert_eq!(other.hash(), stiff.hash());
}

/// What holds nodes along some axes is locked and freed again; that moves no other number to another place.
#[test]
fn axes_are_locked_and_freed_and_nothing_else_is_touched() {
    let text = SCENE.replacen(
        "fixed = [{ ring = 0 }]",
        "fixed = [{ ring = 0 }, { nodes = [35], axes = [0, 0, 1] }]",
        1,
    );
    let mut simulation = built(&text);
    let free = |s: &Simulation, value: f64| change(s, "sheet", "fixed 1 free along z", value);
    let lock = free(&simulation, 0.0);
    step(&mut simulation, &[lock]);
    run(&mut simulation, 20);
    let before: Vec<f64> = simulation.parameters().iter().map(|p| p.value).collect();
    let softer = change(&simulation, "organ", "law", 1.0);
    let told = step(&mut simulation, &[softer]);
    assert!(
        matches!(&told[..], [Happening::Changed { parameter, .. }] if parameter == "organ: law"),
        "{told:?}"
    );
    let after = simulation.parameters().iter().map(|p| p.value);
    let differ = after.zip(&before).filter(|(a, b)| a != *b).count();
    assert_eq!(differ, 1);
    let loose = free(&simulation, 1.0);
    step(&mut simulation, &[loose]);
    let mut again = built(&text);
    again.restore(&simulation.snapshot()).unwrap();
    run(&mut simulation, 30);
    run(&mut again, 30);
    assert_eq!(simulation.hash(), again.hash());
}

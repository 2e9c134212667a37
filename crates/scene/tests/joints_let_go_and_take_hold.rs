//! Joints with `held` let go and take hold again while things move (B51): what is let go moves freely, what is taken hold of stays as it stood,
//! and neither changes momentum.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::{
    built,
    rigid::{Rig, body, joint, world},
};
use glam::DVec3;
use trocar_scene::{Change, Scene, Simulation, event::Happening};

const BOX: &str = "mass = 1\nhalf_extents = [0.05, 0.05, 0.05]";

fn change(simulation: &Simulation, joint: &str, held: bool) -> Change {
    let list = simulation.parameters();
    let title = format!("joint {joint}");
    let found = list
        .iter()
        .position(|p| p.group == title && p.name == "held");
    Change {
        parameter: found.unwrap() as u32,
        value: f64::from(u8::from(held)),
    }
}

/// Opens or closes a joint with the next step.
fn set(rig: &mut Rig, joint: &str, held: bool) {
    let mut input = rig.simulation.idle_input();
    input.changes = vec![change(&rig.simulation, joint, held)];
    let report = rig.simulation.step(&input);
    let told = |h: &Happening| matches!(h, Happening::Changed { .. });
    assert!(report.events.iter().any(|e| told(&e.what)));
}

fn hung(held: bool) -> String {
    let mut text = world("step = 0.002\nreach = 100");
    body(&mut text, "box", DVec3::ZERO, BOX);
    let says = format!(
        "name = \"clamp\"\nkind = \"fixed\"\na = {{ world = [0, 0, 0] }}\nb = {{ body = \"box\" }}\nheld = {held}"
    );
    joint(&mut text, &says);
    text
}

#[test]
fn what_is_let_go_falls_and_what_is_caught_stays() {
    let mut rig = Rig::new(&hung(true));
    rig.run(0.2);
    assert!(rig.position("box").length() < 1e-9);
    set(&mut rig, "clamp", false);
    rig.run(0.298);
    // Free fall for 0.3 s.
    let fallen = 0.5 * 9.81 * 0.3 * 0.3;
    assert!((rig.position("box") + DVec3::Y * fallen).length() < 1e-9);
    set(&mut rig, "clamp", true);
    let caught = rig.position("box");
    rig.run(0.5);
    assert!(rig.velocity("box").length() < 1e-9);
    assert!(rig.position("box").distance(caught) < 1e-9);
    assert!(rig.simulation.report().lost_joints.is_empty());
}

#[test]
fn open_at_the_start_it_is_not_there() {
    let mut rig = Rig::new(&hung(false));
    rig.run(0.3);
    assert!((rig.position("box").y + 0.5 * 9.81 * 0.09).abs() < 1e-9);
    assert!(rig.simulation.joint_force(0).is_some());
    // Bodies go back to the start, and the joint, which is closed by now, holds them there.
    set(&mut rig, "clamp", true);
    rig.simulation.reset();
    rig.run(0.1);
    assert!(rig.position("box").length() < 1e-9);
}

/// Two that fly and spin without gravity, and meet no one.
fn flyers(kind: &str, more: &str) -> String {
    let mut text = world("step = 0.002\nreach = 100\ngravity = [0, 0, 0]");
    let says =
        "mass = 1\nhalf_extents = [0.05, 0.08, 0.1]\nvelocity = [0.3, 0, 0.1]\nspin = [1, 2, -0.5]";
    body(&mut text, "one", DVec3::ZERO, says);
    let says =
        "mass = 2\nhalf_extents = [0.1, 0.06, 0.05]\nvelocity = [-0.1, 0.2, 0]\nspin = [0, -1, 2]";
    body(&mut text, "two", DVec3::new(0.3, 0.1, 0.0), says);
    let says = format!(
        "name = \"clamp\"\nkind = \"{kind}\"\na = {{ body = \"one\" }}\nb = {{ body = \"two\" }}\nat = [0.1, 0, 0]\nheld = false\n{more}"
    );
    joint(&mut text, &says);
    text
}

#[test]
fn closing_keeps_momentum_for_every_kind_of_joint_and_solver() {
    for kind in [
        "fixed",
        "fixed_by_points",
        "hinge",
        "hinge_by_axis",
        "ball",
        "universal",
        "slider",
        "rail",
        "plane",
        "distance",
    ] {
        for solver in ["auto", "iterative", "system", "graph"] {
            let more = if kind == "distance" {
                "length = 0.2"
            } else {
                ""
            };
            let text =
                flyers(kind, more).replace("reach", &format!("solver = \"{solver}\"\nreach"));
            let mut rig = Rig::new(&text);
            rig.run(0.3);
            let (p, l) = rig.momentum();
            let energy = rig.energy();
            set(&mut rig, "clamp", true);
            rig.run(0.3);
            let (q, m) = rig.momentum();
            assert!(p.distance(q) < 1e-8, "{kind} {solver}: {p} {q}");
            assert!(l.distance(m) < 1e-5, "{kind} {solver}: {l} {m}");
            assert!(
                rig.energy() <= energy * (1.0 + 1e-6),
                "{kind} {solver}: {energy} {}",
                rig.energy()
            );
            assert!(
                rig.simulation.report().lost_joints.is_empty(),
                "{kind} {solver}"
            );
        }
    }
}

#[test]
fn a_weld_in_flight_keeps_how_both_stood() {
    let mut rig = Rig::new(&flyers("fixed", ""));
    rig.run(0.3);
    set(&mut rig, "clamp", true);
    let stands = |rig: &Rig| {
        let turn = rig.orientation("one").conjugate();
        (
            turn * (rig.position("two") - rig.position("one")),
            turn * rig.orientation("two"),
        )
    };
    let (place, turn) = stands(&rig);
    rig.watch(1.0, |rig, _| {
        let (p, q) = stands(rig);
        assert!(p.distance(place) < 1e-8, "{}", p.distance(place));
        assert!(q.angle_between(turn) < 1e-6);
    });
}

#[test]
fn they_touch_while_it_is_open_and_not_while_it_holds() {
    // The upper one stands on the lower one, two centimetres inside it while the joint holds them.
    let scene = |held: bool| {
        let mut text = world("step = 0.002\nreach = 100");
        let says = "motion = \"static\"\nform = { half_space = [0, 1, 0] }";
        body(&mut text, "floor", DVec3::ZERO, says);
        body(&mut text, "lower", DVec3::Y * 0.05, BOX);
        body(&mut text, "upper", DVec3::Y * 0.13, BOX);
        let says = format!(
            "name = \"clamp\"\nkind = \"fixed\"\na = {{ body = \"lower\" }}\nb = {{ body = \"upper\" }}\nat = [0, 0.09, 0]\nheld = {held}"
        );
        joint(&mut text, &says);
        text
    };
    let mut rig = Rig::new(&scene(true));
    rig.run(0.5);
    assert!((rig.position("upper").y - 0.13).abs() < 1e-4);
    set(&mut rig, "clamp", false);
    rig.run(2.0);
    assert!(
        (rig.position("upper").y - 0.15).abs() < 1e-3,
        "{}",
        rig.position("upper")
    );
}

#[test]
fn snapshots_threads_and_commands_agree() {
    let mut text = flyers("fixed", "");
    text.push_str("[[command]]\nat = 0.1\nset = [{ of = \"joint clamp\", what = \"held\", to = 1 }]\n[[command]]\nat = 0.4\nset = [{ of = \"joint clamp\", what = \"held\", to = 0 }]\n");
    let scene = Scene::from_text("flyers.toml", &text).unwrap();
    let mut all = [1, 2].map(|threads| Simulation::new(&scene, threads).unwrap());
    let input = all[0].idle_input();
    let mut kept = Vec::new();
    for step in 0..300 {
        let hashes = all.each_mut().map(|s| {
            s.step(&input);
            s.hash()
        });
        assert_eq!(hashes[0], hashes[1], "step {step}");
        if step % 60 == 0 {
            kept.push((all[0].snapshot(), step));
        }
    }
    let end = all[0].hash();
    // Forwards and backwards: whether it holds now must not matter.
    for (bytes, step) in kept.iter().chain(kept.iter().rev()) {
        all[1].restore(bytes).unwrap();
        (*step + 1..300).for_each(|_| {
            all[1].step(&input);
        });
        assert_eq!(all[1].hash(), end, "from step {step}");
    }
}

/// Let go without gravity it drifts on, however slowly: nothing bears it.
#[test]
fn what_is_let_go_does_not_sleep_in_mid_air() {
    let text = hung(true).replace("reach", "gravity = [0, 0, 0]\nreach");
    let mut rig = Rig::new(&text);
    set(&mut rig, "clamp", false);
    let (matter, node) = rig.at("box");
    rig.simulation
        .tamper(matter, |nodes| nodes.velocity[node] = DVec3::X * 5e-4);
    rig.run(2.0);
    assert!(
        (rig.position("box").x - 1e-3).abs() < 1e-5,
        "{}",
        rig.position("box")
    );
}

#[test]
fn ropes_that_hold_let_their_sides_touch() {
    // A rope that can be opened parts nobody, like any other rope: the one falls on the other and stays there.
    let mut text = world("step = 0.002\nreach = 100");
    let says = "motion = \"static\"\nhalf_extents = [0.2, 0.05, 0.2]";
    body(&mut text, "floor", DVec3::ZERO, says);
    body(&mut text, "box", DVec3::Y * 0.2, BOX);
    joint(
        &mut text,
        "name = \"rope\"\nkind = \"free\"\na = { body = \"floor\" }\nb = { body = \"box\" }\nrange = [0, 0.5]\nheld = true",
    );
    let mut rig = Rig::new(&text);
    rig.run(1.0);
    assert!(
        (rig.position("box").y - 0.1).abs() < 1e-3,
        "{}",
        rig.position("box")
    );
}

#[test]
fn what_could_only_be_closed_with_a_blow_is_refused() {
    let hinge = flyers("hinge", "range = [0.2, 0.5]");
    let ring = flyers("curve", "curve = { circle = 0.1 }");
    for (text, wanted) in [(hinge, "does not contain 0"), (ring, "none on a curve")] {
        let scene = Scene::from_text("flyers.toml", &text).unwrap();
        let Err(error) = Simulation::new(&scene, 1) else {
            panic!("it was built: {text}");
        };
        let error = error.to_string();
        assert!(error.contains(wanted), "{error}");
    }
}

#[test]
fn what_has_no_frame_can_not_be_let_go() {
    let text = r#"trocar = 1
[world]
step = 0.002
[[sheet]]
name = "sheet"
origin = [0, 0, 0]
u = [0.05, 0, 0]
v = [0, 0, 0.05]
rows = 3
columns = 3
material = { mass = 0.001, damping = 0.05, stiffness = 40 }
[[body]]
name = "box"
form = { box = [0.01, 0.01, 0.01] }
mass = 0.1
position = [0, 0.1, 0]
[[joint]]
kind = "ball"
a = { body = "box" }
b = { tissue = "sheet", node = 4 }
held = true
"#;
    let scene = Scene::from_text("sheet.toml", text).unwrap();
    let Err(error) = Simulation::new(&scene, 1) else {
        panic!("it was built");
    };
    let error = error.to_string();
    assert!(error.contains("can be opened and closed"), "{error}");
    // The same without it can be built.
    built(&text.replace("held = true\n", ""));
}

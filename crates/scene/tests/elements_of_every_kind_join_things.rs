//! `[[element]]` joins different things by every kind of element that a tissue has (K53): springs that yield, bends, torsion; and nodes tell what was done to them (K26).

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::{built, simulation};
use glam::DVec3;
use trocar_math::rotation;
use trocar_scene::{Change, Insight, Scene, Simulation, Views, insight::NodeState};
use trocar_soft::NodeFlags;

/// A pipe held at one end and a ball at the other, with what `elements` say between them.
fn duct(world: &str, elements: &str) -> String {
    format!(
        r#"trocar = 1
[world]
gravity = [0, 0, 0]
{world}
[[pipe]]
name = "duct"
path = [[0, 0, 0], [0, 0, 0.03], [0, 0, 0.06]]
radii = [[0.006, 0.006]]
rings = 7
around = 6
fixed = [{{ ring = 0 }}]
material = {{ mass = 0.0005, damping = 0.02, stiffness = 60, memory = 20, centre_mass = 0.002, centre_damping = 0.05, centre_stiffness = 60, turn_damping = 0.0001, torsion = 0.002 }}
[[body]]
name = "ball"
position = [0, 0, 0.09]
mass = 0.01
inertia = [1e-6, 1e-6, 1e-6]
form = {{ ball = 0.005 }}
collide = false
damping = 2
turn_damping = 0.00002
{elements}"#
    )
}

const ALL: &str = r#"
[[element]]
a = { body = "ball" }
b = { tissue = "duct", node = { centre = 6 } }
answer = { stiffness = 40, yields = { strain = 0.1, hardening = 0.5 } }
[[element]]
a = { tissue = "duct", node = { centre = 5 } }
middle = { tissue = "duct", node = { centre = 6 } }
b = { body = "ball" }
bend = 0.2
[[element]]
a = { body = "ball" }
b = { tissue = "duct", node = { centre = 6 } }
torsion = 0.002
"#;

const PUSHED: &str = r#"
[[command]]
at = 0
push = [0, 0, 0.2]
on = { body = "ball" }
until = 1.5
"#;

fn refused(text: &str) -> String {
    let scene = Scene::from_text("test.toml", text).unwrap_or_else(|e| panic!("{e}"));
    match Simulation::new(&scene, 1) {
        Ok(_) => panic!("nobody objects to\n{text}"),
        Err(error) => error.to_string(),
    }
}

fn run(simulation: &mut Simulation, seconds: f64) {
    let input = simulation.idle_input();
    for _ in 0..(seconds / input.dt).round() as usize {
        simulation.step(&input);
    }
}

/// Place and turn of the ball.
fn ball(simulation: &Simulation) -> (DVec3, DVec3) {
    let matter = simulation.model().bodies.unwrap();
    let nodes = &simulation.state().nodes[matter.index()];
    (
        nodes.position[0],
        rotation::to_scaled_axis(nodes.orientation[0]),
    )
}

/// How far the ball stays from where the duct's end is.
fn length(simulation: &Simulation) -> f64 {
    let matter = simulation.model().tissues[0].matter;
    let end = simulation.state().nodes[matter.index()].position[6];
    ball(simulation).0.distance(end)
}

#[test]
fn a_ball_that_was_drawn_too_far_stays_longer_and_comes_back_when_told() {
    let drawn = |yields: bool, then: &str| {
        let elements = match yields {
            true => ALL.to_owned(),
            false => ALL.replace(", yields = { strain = 0.1, hardening = 0.5 }", ""),
        };
        let mut simulation = built(&format!("{}{PUSHED}{then}", duct("", &elements)));
        run(&mut simulation, 4.0);
        length(&simulation) - 0.03
    };
    let (stays, back) = (drawn(true, ""), drawn(false, ""));
    // 0.2 N draw it by 3 mm to where it yields, at 0.12 N, and 6 mm farther along a slope of 40/3 N/m: (9 − 3)/1.5 = 4 mm stay.
    assert!(back.abs() < 1e-4, "{back}");
    assert!((stays - 0.004).abs() < 2e-4, "{stays}");
    let told = drawn(true, "[[command]]\nat = 2\nunyield = [\"duct\"]\n");
    assert!(told.abs() < 1e-4, "{told}");
    // A reset of the model forgets it as well (K122).
    let reset = drawn(true, "[[command]]\nat = 2\nreset = true\n");
    assert!(reset.abs() < 1e-4, "{reset}");
}

/// A push sideways bends and turns it; the bend and the torsion bring it back, and without them it stays turned and swings freely.
#[test]
fn bends_and_torsion_bring_it_back() {
    let pushed = PUSHED.replace("[0, 0, 0.2]", "[0.02, 0.03, 0]").replace(
        "{ body = \"ball\" }",
        "{ body = \"ball\", at = [0.004, 0, 0] }",
    );
    let after = |elements: &str| {
        let text = duct("", elements).replace("damping = 2", "damping = 0.2");
        let mut simulation = built(&format!("{text}{pushed}"));
        run(&mut simulation, 6.0);
        let (place, turn) = ball(&simulation);
        (place.truncate().length(), turn.length())
    };
    let (aside, turned) = after(ALL);
    assert!(aside < 1.5e-3 && turned < 1e-2, "{aside} {turned}");
    let parts: Vec<&str> = ALL.split("[[element]]").collect();
    let [_, link, bend, torsion] = parts[..] else {
        panic!()
    };
    let (aside, turned) = after(&format!("[[element]]{link}[[element]]{torsion}"));
    assert!(aside > 5e-3, "without a bend {aside}, {turned}");
    let (aside, turned) = after(&format!("[[element]]{link}[[element]]{bend}"));
    assert!(turned > 0.1, "without torsion {turned}, {aside}");
}

#[test]
fn a_snapshot_holds_what_has_yielded_and_threads_change_no_bit() {
    let text = format!("{}{PUSHED}", duct("adaptive = true", ALL));
    let scene = Scene::from_text("test.toml", &text).unwrap();
    let mut one = simulation(&scene, 1);
    let mut two = simulation(&scene, 2);
    run(&mut one, 0.4);
    run(&mut two, 0.4);
    assert_eq!(one.hash(), two.hash());
    let bytes = one.snapshot();
    let mut other = simulation(&scene, 1);
    let fresh = other.hash();
    other.restore(&bytes).unwrap();
    assert_eq!(other.hash(), one.hash());
    run(&mut one, 1.0);
    run(&mut other, 1.0);
    assert_eq!(other.hash(), one.hash());
    assert!(
        fresh != one.hash() && length(&one) > 0.031,
        "{}",
        length(&one)
    );
}

#[test]
fn energy_is_counted_and_not_gained() {
    // Nothing damps, and nothing yields.
    let loose = |text: String| {
        let mut text = text.replace(", yields = { strain = 0.1, hardening = 0.5 }", "");
        for (damps, not) in [
            ("damping = 0.02", "damping = 0"),
            ("centre_damping = 0.05", "centre_damping = 0"),
            ("turn_damping = 0.0001", "turn_damping = 0"),
            ("turn_damping = 0.00002", "turn_damping = 0"),
            ("damping = 2", "damping = 0"),
        ] {
            text = text.replace(damps, not);
        }
        text
    };
    let pushed = PUSHED
        .replace("[0, 0, 0.2]", "[0.02, 0.03, 0]")
        .replace(
            "{ body = \"ball\" }",
            "{ body = \"ball\", at = [0.004, 0, 0] }",
        )
        .replace("until = 1.5", "until = 0.05");
    let mut simulation = built(&loose(format!("{}{pushed}", duct("", ALL))));
    // The push is over then.
    run(&mut simulation, 0.06);
    let mut quarters = [0.0_f64; 4];
    let given = simulation.energy().total();
    for quarter in &mut quarters {
        for _ in 0..50 {
            run(&mut simulation, 0.01);
            *quarter = quarter.max(simulation.energy().total());
        }
    }
    let most = quarters.into_iter().fold(0.0, f64::max);
    assert!(
        given > 0.0 && most < 1.02 * given,
        "{quarters:?} of {given}"
    );
    assert!(quarters[3] > 0.95 * given, "{quarters:?} of {given}");
}

#[test]
fn they_are_seen_and_change_while_it_runs() {
    let sideways = PUSHED
        .replace("[0, 0, 0.2]", "[0.005, 0.005, 0.2]")
        .replace(
            "{ body = \"ball\" }",
            "{ body = \"ball\", at = [0.004, 0, 0] }",
        );
    let mut simulation = built(&format!("{}{sideways}", duct("", ALL)));
    run(&mut simulation, 0.4);
    let mut insight = Insight::default();
    let wanted = Views {
        elements: true,
        ..Views::default()
    };
    simulation.insight(wanted, &mut insight);
    // The spring, two lines of the bend; the ball and the duct's end are turned against each other.
    let (place, turn) = ball(&simulation);
    let at_ball = |p: &DVec3| p.distance(place) < 1e-12;
    let lines = insight
        .elements
        .iter()
        .filter(|e| at_ball(&e.a) || at_ball(&e.b));
    assert_eq!(lines.count(), 2);
    let torques: Vec<_> = insight.torques.iter().filter(|t| at_ball(&t.0)).collect();
    assert_eq!(torques.len(), 1);
    assert!(torques[0].1.length() > 1e-5 && turn.length() > 1e-3);
    let named = |name: &str| {
        let list = simulation.parameters();
        list.iter()
            .position(|p| p.name == name)
            .unwrap_or_else(|| panic!("{name}"))
    };
    let changes = [("bend stiffness", 0.1), ("torsion stiffness", 0.001)];
    let changes = changes.map(|(name, value)| Change {
        parameter: named(name) as u32,
        value,
    });
    let flown = simulation.hash();
    let mut input = simulation.idle_input();
    input.changes = changes.to_vec();
    simulation.step(&input);
    assert!(
        simulation.report().events.len() >= 2,
        "{:?}",
        simulation.report().events
    );
    assert_ne!(flown, simulation.hash());
    // What has yielded stays so when other numbers change.
    run(&mut simulation, 3.0);
    assert!(length(&simulation) > 0.031, "{}", length(&simulation));
}

#[test]
fn what_makes_no_sense_is_refused_at_its_place() {
    let of = |element: &str| format!("{}\n[[element]]\n{element}", duct("", ""));
    let ball = "a = { body = \"ball\" }\n";
    for (element, why) in [
        (
            "torsion = 0.1\na = { tissue = \"duct\", node = 3 }",
            "central nodes",
        ),
        (
            &format!("{ball}b = {{ tissue = \"duct\", node = 3 }}\ntorsion = 0.1"),
            "central nodes",
        ),
        (&format!("{ball}torsion = -1"), "at least 0"),
        (&format!("{ball}bend = 0.1"), "middle"),
        (
            &format!(
                "{ball}b = {{ tissue = \"duct\", node = 3 }}\nmiddle = {{ body = \"ball\" }}\nbend = 0.1"
            ),
            "either side",
        ),
        (
            &format!("{ball}torsion = 0.1\nanswer = {{ stiffness = 1 }}"),
            "Give one of",
        ),
        (ball, "Give one of"),
        (
            &format!("{ball}torsion = 0.1\nshorten = 0.5"),
            "only springs",
        ),
        (&format!("{ball}torsion = 1e9"), "element"),
        (&format!("{ball}torsion = nan"), "at least 0"),
    ] {
        let said = refused(&of(element));
        assert!(
            said.contains(why) && said.contains("test.toml"),
            "{element}: {said}"
        );
    }
    let driven = "[[signal]]\nname = \"beat\"\nsine = { amplitude = 1, rate = 1 }\n[[element]]\na = { body = \"ball\" }\n\
        b = { tissue = \"duct\", node = 3 }\nanswer = { stiffness = 3, yields = { strain = 0.1 } }\ndrive = { signal = \"beat\", force = 0.1 }";
    let said = refused(&format!("{}\n{driven}", duct("", "")));
    assert!(said.contains("not both"), "{said}");
}

#[test]
fn nodes_tell_what_was_done_to_them_and_a_command_may_do_it() {
    let text = duct("", "").replace(
        "[[body]]",
        "[pipe.edit]\nnodes = [{ node = 8, clipped = true }, { node = 9, cut = true, coagulated = false }, { node = 10, divided = true }, { node = 11, bits = 0x2006 }]\n[[body]]",
    );
    let text = format!(
        "{text}\n[[command]]\nat = 0.1\nset = [{{ of = \"duct\", what = \"node 9 coagulated\", to = 1 }}, {{ of = \"duct\", what = \"node 8 clipped\", to = 0 }}]\n"
    );
    let mut simulation = built(&text);
    let flags = |simulation: &Simulation, node: u32| simulation.flags(0, 7 + node).unwrap();
    assert!(flags(&simulation, 8).has(NodeFlags::CLIPPED));
    assert!(
        flags(&simulation, 9).has(NodeFlags::CUT)
            && !flags(&simulation, 9).has(NodeFlags::COAGULATED)
    );
    assert!(flags(&simulation, 10).has(NodeFlags::DIVIDED));
    assert_eq!(flags(&simulation, 11).0 & 0x200E, 0x2006);
    let count = |simulation: &Simulation| {
        let mut insight = Insight::default();
        let wanted = Views {
            nodes: true,
            ..Views::default()
        };
        simulation.insight(wanted, &mut insight);
        let of = |state| insight.nodes.iter().filter(|n| n.state == state).count();
        [
            of(NodeState::Clipped),
            of(NodeState::Cut),
            of(NodeState::Coagulated),
        ]
    };
    assert_eq!(count(&simulation), [1, 2, 1]);
    run(&mut simulation, 0.2);
    assert_eq!(count(&simulation), [0, 1, 2]);
    let bytes = simulation.snapshot();
    let mut other = built(&text);
    other.restore(&bytes).unwrap();
    assert_eq!(count(&other), [0, 1, 2]);
}

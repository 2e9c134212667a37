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
    let alone = drawn(true, "[[command]]\nat = 2\nunyield = [\"element 0\"]\n");
    assert!(alone.abs() < 1e-4, "{alone}");
    // A reset of the model forgets it as well (K122).
    let reset = drawn(true, "[[command]]\nat = 2\nreset = true\n");
    assert!(reset.abs() < 1e-4, "{reset}");
}

/// Balls on springs that yield, each to its own place in space, drawn out for a second and let go; then they lie 2 mm longer.
fn drawn_balls(more: &str) -> Simulation {
    let mut text = String::from("trocar = 1\n[world]\ngravity = [0, 0, 0]\n");
    for k in 0..3 {
        text += &format!(
            "[[body]]\nname = \"ball {k}\"\nposition = [{:?}, 0, 0.02]\nmass = 0.01\nform = {{ ball = 0.005 }}\ncollide = false\ndamping = 2\n\
             [[element]]\na = {{ body = \"ball {k}\" }}\nb = {{ world = [{:?}, 0, 0] }}\nanswer = {{ stiffness = 50, yields = {{ strain = 0.1, hardening = 0.5 }} }}\n\
             [[command]]\nat = 0\npush = [0, 0, 0.15]\non = {{ body = \"ball {k}\" }}\nuntil = 2\n",
            0.1 * f64::from(k),
            0.1 * f64::from(k)
        );
    }
    let mut simulation = built(&format!("{text}{more}"));
    run(&mut simulation, 4.0);
    simulation
}

/// What yields between bodies, or a body and space, forgets it by its number, and nobody else does.
#[test]
fn a_single_element_without_a_tissue_forgets_what_it_yielded() {
    let longer = |more: &str| {
        let simulation = drawn_balls(more);
        let bodies = simulation.model().bodies.unwrap();
        let nodes = &simulation.state().nodes[bodies.index()];
        [0, 1, 2].map(|k| nodes.position[k].z - 0.02)
    };
    // 0.15 N draw it by 2 mm to where it yields, at 0.1 N, and 3 mm farther along a slope of 50/3 N/m: (5 − 2)/1.5 = 2 mm stay.
    let stays = longer("");
    assert!(stays.iter().all(|s| (s - 0.002).abs() < 1e-4), "{stays:?}");
    let told = longer("[[command]]\nat = 3\nunyield = [\"element 1\"]\n");
    assert!(told[1].abs() < 1e-4, "{told:?}");
    assert_eq!([told[0], told[2]], [stays[0], stays[2]]);
    for name in ["element 3", "element 01", "ball 0"] {
        let text = format!(
            "{}[[command]]\nat = 3\nunyield = [\"{name}\"]\n",
            duct("", ALL)
        );
        let said = refused(&text);
        assert!(said.contains("yields") && said.contains(name), "{said}");
    }
    // The second one bends, and does not yield.
    let text = format!(
        "{}[[command]]\nat = 3\nunyield = [\"element 1\"]\n",
        duct("", ALL)
    );
    assert!(refused(&text).contains("element 1"));
}

/// Sheets that nothing damps, held by nothing, one beside the other, with so many points to a side.
fn sheets(world: &str, sides: &[usize]) -> String {
    let mut text = format!("trocar = 1\n[world]\ngravity = [0, 0, 0]\n{world}\n");
    for (k, side) in sides.iter().enumerate() {
        text += &format!(
            "[[sheet]]\nname = \"sheet {k}\"\norigin = [{:?}, 0, 0]\nu = [0.02, 0, 0]\nv = [0, 0, 0.02]\nrows = {side}\ncolumns = {side}\n\
             material = {{ mass = 0.001, damping = 0, stiffness = 40 }}\n",
            0.04 * k as f64
        );
    }
    text
}

/// Between two tissues an element may lead over what goes its own way: both are stepped together all the same.
#[test]
fn a_fixture_in_the_middle_joins_two_tissues_as_a_place_does() {
    for adaptive in ["", "adaptive = true"] {
        let ends = |middle: &str| {
            let text = sheets(adaptive, &[3, 7]);
            let text = format!(
                "{text}[[body]]\nname = \"post\"\nmotion = \"static\"\nposition = [0.03, 0, 0.01]\nform = {{ ball = 0.002 }}\n\
                 [[element]]\na = {{ tissue = \"sheet 0\", node = 8 }}\nmiddle = {{ {middle} }}\nb = {{ tissue = \"sheet 1\", node = 45 }}\nbend = 0.2\n\
                 [[command]]\nat = 0\npush = [0, 0.02, 0]\non = {{ tissue = \"sheet 0\", node = 8 }}\nuntil = 0.05\n"
            );
            let mut simulation = built(&text);
            assert_eq!(simulation.model().groups.len(), 1);
            run(&mut simulation, 0.3);
            let tissues = simulation.model().tissues.iter();
            let nodes =
                tissues.map(|t| simulation.state().nodes[t.matter.index()].position.clone());
            nodes.collect::<Vec<_>>()
        };
        let (post, place) = (ends("body = \"post\""), ends("world = [0.03, 0, 0.01]"));
        assert_eq!(post, place);
        assert!(post[1][45].y.abs() > 1e-4, "{}", post[1][45]);
    }
}

#[test]
fn a_bend_over_three_tissues_moves_all_of_them_and_keeps_momentum() {
    let text = sheets("", &[3, 4, 5])
        + "[[element]]\na = { tissue = \"sheet 0\", node = 4 }\nmiddle = { tissue = \"sheet 1\", node = 9 }\nb = { tissue = \"sheet 2\", node = 12 }\nbend = 0.2\n\
           [[command]]\nat = 0\npush = [0, 0.02, 0]\non = { tissue = \"sheet 1\", node = 9 }\nuntil = 0.05\n";
    let mut simulation = built(&text);
    assert_eq!(simulation.model().groups.len(), 1);
    run(&mut simulation, 0.2);
    let mut whole = DVec3::ZERO;
    for tissue in &simulation.model().tissues {
        let nodes = &simulation.state().nodes[tissue.matter.index()];
        let masses = simulation.model().matters[tissue.matter.index()]
            .masses()
            .mass();
        let own: DVec3 = nodes
            .velocity
            .iter()
            .zip(masses)
            .map(|(v, m)| *v * *m)
            .sum();
        assert!(own.length() > 1e-5, "{}: {own}", tissue.name);
        whole += own;
    }
    // 0.02 N for 0.05 s, to a step.
    assert!((whole.y - 0.001).abs() < 5e-5, "{whole}");
    assert!(whole.with_y(0.0).length() < 1e-9, "{whole}");
}

/// A point between two that are fixed has the force −(k/L) 2 u on it.
#[test]
fn a_bend_between_fixed_points_swings_its_middle_with_its_period() {
    let post = "[[body]]\nname = \"post\"\nmotion = \"static\"\nposition = [-0.02, 0, 0]\nform = { ball = 0.002 }\n";
    for end in ["world = [-0.02, 0, 0]", "body = \"post\""] {
        let text = format!(
            "trocar = 1\n[world]\ngravity = [0, 0, 0]\nstep = 0.001\n{post}[[particle]]\nname = \"bead\"\nposition = [0, 0, 0]\nmass = 0.01\n\
             [[element]]\na = {{ {end} }}\nmiddle = {{ particle = \"bead\" }}\nb = {{ world = [0.02, 0, 0] }}\nbend = 0.05\n\
             [[command]]\nat = 0\npush = [0, 0.005, 0]\non = {{ particle = \"bead\" }}\nuntil = 0.02\n"
        );
        let mut simulation = built(&text);
        let bodies = simulation.model().bodies.unwrap();
        let (mut passed, mut last) = (Vec::new(), 0.0);
        for _ in 0..3000 {
            run(&mut simulation, 0.001);
            let y = simulation.state().nodes[bodies.index()].position[0].y;
            if last < 0.0 && y >= 0.0 {
                passed.push(simulation.state().time - 0.001 * y / (y - last));
            }
            last = y;
        }
        let found = (passed[passed.len() - 1] - passed[0]) / (passed.len() - 1) as f64;
        let exact = std::f64::consts::TAU * (0.02_f64 * 0.01 / (2.0 * 0.05)).sqrt();
        assert!((found / exact - 1.0).abs() < 5e-3, "{found} {exact}");
    }
}

/// Two pipes side by side, whose ends turn each other.
#[test]
fn torsion_turns_the_central_nodes_of_two_tissues_against_each_other() {
    let first = duct("", "");
    let (start, end) = (
        first.find("[[pipe]]").unwrap(),
        first.find("[[body]]").unwrap(),
    );
    let other = first[start..end].replace("\"duct\"", "\"other\"").replace(
        "[[0, 0, 0], [0, 0, 0.03], [0, 0, 0.06]]",
        "[[0.05, 0, 0], [0.05, 0, 0.03], [0.05, 0, 0.06]]",
    );
    let element = "[[element]]\na = { tissue = \"duct\", node = { centre = 6 } }\nb = { tissue = \"other\", node = { centre = 6 } }\ntorsion = 0.002\n";
    let mut simulation = built(&format!("{first}{other}{element}"));
    let [duct, other] = [0, 1].map(|k| simulation.model().tissues[k].matter);
    let together = |g: &trocar_scene::build::Connected| {
        g.members.contains(&duct) && g.members.contains(&other)
    };
    assert!(simulation.model().groups.iter().any(together));
    let turned = rotation::from_scaled_axis(DVec3::Z * 0.5);
    simulation.tamper(duct, |nodes| {
        nodes.orientation[6] = turned * nodes.orientation[6]
    });
    let mut insight = Insight::default();
    let wanted = Views {
        elements: true,
        ..Views::default()
    };
    simulation.insight(wanted, &mut insight);
    let at =
        |matter: trocar_dynamics::MatterId| simulation.state().nodes[matter.index()].position[6];
    let torque = |place: DVec3| -> DVec3 {
        let here = insight
            .torques
            .iter()
            .filter(|t| t.0.distance(place) < 1e-12);
        here.map(|t| t.1)
            .find(|t| (t.length() - 0.001).abs() < 1e-9)
            .unwrap()
    };
    let (a, b) = (torque(at(duct)), torque(at(other)));
    assert!(
        (a + b).length() < 1e-15 && (a.z + 0.001).abs() < 1e-12,
        "{a} {b}"
    );
    run(&mut simulation, 0.01);
    let spin = simulation.state().nodes[other.index()].spin[6];
    assert!(spin.z > 1e-2, "{spin}");
}

/// What bodies bear by the fixed bound is below what swings them, and not far below; at that step nothing gains energy.
#[test]
fn the_fixed_bound_counts_bends_and_torsion_on_bodies() {
    let (m, j, arm) = (0.01_f64, 1e-6_f64, 0.02_f64);
    let elements = [
        (
            "a = { body = \"0\" }\nmiddle = { body = \"1\" }\nb = { body = \"2\" }\nbend = 2000",
            2.0 * (arm * m / (3.0 * 2000.0)).sqrt(),
            "push = [0, 1, 0]\non = { body = \"1\" }",
        ),
        (
            "a = { body = \"0\" }\nb = { body = \"1\" }\ntorsion = 2",
            2.0 * (0.5 * j / 2.0).sqrt(),
            "push = [0, 1, 0]\non = { body = \"1\", at = [0.001, 0, 0] }",
        ),
        (
            "a = { body = \"0\" }\ntorsion = 2",
            2.0 * (j / 2.0).sqrt(),
            "push = [0, 1, 0]\non = { body = \"0\", at = [0.001, 0, 0] }",
        ),
    ];
    for (element, exact, push) in elements {
        let mut text = String::from("trocar = 1\n[world]\ngravity = [0, 0, 0]\nstep = 0.002\n");
        for k in 0..3 {
            text += &format!(
                "[[body]]\nname = \"{k}\"\nposition = [{:?}, 0, 0]\nmass = {m}\ninertia = [{j:?}, {j:?}, {j:?}]\nform = {{ ball = 0.002 }}\ncollide = false\n",
                arm * f64::from(k)
            );
        }
        text += &format!("[[element]]\n{element}\n[[command]]\nat = 0\n{push}\nuntil = 0.001\n");
        let mut simulation = built(&text);
        let safe = simulation.model().groups[0].bounds.safe;
        assert!(
            safe < exact && safe > 0.2 * exact,
            "{safe} {exact}: {element}"
        );
        run(&mut simulation, 0.01);
        let given = simulation.energy().total();
        let mut most = 0.0_f64;
        for _ in 0..500 {
            run(&mut simulation, 0.002);
            most = most.max(simulation.energy().total());
        }
        assert!(
            given > 0.0 && most < 1.5 * given,
            "{given} {most}: {element}"
        );
    }
}

/// The net sees the body stand still and the body the net: together they may not be given more than both bear.
#[test]
fn torsion_between_a_central_node_and_a_body_is_within_what_both_bear() {
    for part in [0.3, 0.5, 0.57, 0.62, 0.68, 1.0, 2.0] {
        let (moment, body, constant): (f64, f64, f64) = (part * 1e-6, 1e-6, 0.02);
        let text = format!(
            r#"trocar = 1
[world]
gravity = [0, 0, 0]
[[net]]
name = "arm"
points = [[0, 0, 0], [0.02, 0, 0], [0.02, 0.02, 0]]
facets = [[0, 1, 2]]
centres = [{{ position = [0.02, 0.02, 0.01], mass = 0.01, inertia = [{moment:?}, {moment:?}, {moment:?}] }}]
material = {{ mass = 0.001, damping = 0, stiffness = 0.01, memory = 0, centre_damping = 0, turn_damping = 0 }}
[[body]]
name = "ball"
position = [0, 0, 0.1]
mass = 0.01
inertia = [{body:?}, {body:?}, {body:?}]
form = {{ ball = 0.005 }}
collide = false
[[element]]
a = {{ tissue = "arm", node = {{ centre = 0 }} }}
b = {{ body = "ball" }}
torsion = {constant}
"#
        );
        let simulation = built(&text);
        let safe = simulation.model().groups[0].bounds.safe;
        let exact = 2.0 * (moment * body / ((moment + body) * constant)).sqrt();
        assert!(safe < exact && safe > 0.4 * exact, "{part}: {safe} {exact}");
    }
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
        // Without `b` it would bend between `a` and the very same place.
        (
            &format!("{ball}middle = {{ tissue = \"duct\", node = {{ centre = 6 }} }}\nbend = 0.1"),
            "two other points",
        ),
        (
            "a = { world = [0, 0, 0] }\nmiddle = { world = [0, 0, 1] }\nb = { world = [0, 1, 1] }\nbend = 0.1",
            "must move",
        ),
        (
            "a = { world = [0, 0, 0] }\nb = { world = [0, 0, 1] }\nanswer = { stiffness = 1 }",
            "must move",
        ),
    ] {
        let said = refused(&of(element));
        assert!(
            said.contains(why) && said.contains("test.toml"),
            "{element}: {said}"
        );
    }
    // What stays where it is may turn there: it is to blame, at its own place.
    let element = "[[element]]\na = { tissue = \"duct\", node = { centre = 6 } }\ntorsion = 1e9\n";
    let edit = "[pipe.edit]\nnodes = [{ node = { centre = 6 }, axes = [0, 0, 0] }]\n[[body]]";
    let locked = duct("", element).replace("[[body]]", edit);
    let said = refused(&locked);
    let why = "the stiffest part is [[element]] 0";
    assert!(said.contains(why), "{said}");
    let line = duct("", "").lines().count() + 3;
    assert!(said.contains(&format!("test.toml:{line}:")), "{said}");
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

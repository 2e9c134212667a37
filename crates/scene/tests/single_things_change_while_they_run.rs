//! Laws, limits, the ground, signals, elements between things, copies, and nodes and elements that a file names can be changed while a scene runs
//! (K13): what was changed on the way is what a scene that says so has from its start.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::built;
use trocar_scene::{Change, Simulation, event::Happening};

/// Sheets that sag until springs are at their limit, yield, and nodes lie on the ground: whatever is changed must show.
const SCENE: &str = r#"trocar = 1
[world]
step = 0.002
[[signal]]
name = "beat"
sine = { rate = 2.0, amplitude = 0.5 }
[[signal]]
name = "ramp"
table = [[0.0, 0.0], [0.15, 1.0], [0.3, 0.4]]
[[sheet]]
name = "sheet"
origin = [0, 0.05, 0]
u = [0.05, 0, 0]
v = [0, 0, 0.05]
rows = 5
columns = 5
fixed = [{ ring = 0 }]
material = { mass = 0.001, damping = 0.05, stiffness = 40, limit = [inf, 0.03], yields = { strain = 0.2 }, ground = 0.03 }
[sheet.edit]
nodes = [{ node = 12, mass = 0.002, axes = [1, 1, 1] }, { node = 13, damping = 0.1 }]
elements = [
  { a = 0, b = 24, answer = { stiffness = 5 }, shorten = 0.1 },
  { a = 6, b = 18, answer = { stiffness = 3, pieces = [[-0.1, -0.1], [0, 0], [0.1, 0.2]] }, drive = { signal = "beat", force = 0.1 } },
  { a = 2, b = 22, answer = { stiffness = 4 }, shorten = 0.25, drive = { signal = "ramp", stiffness = 0.7 } },
]
[[sheet]]
name = "other"
origin = [0.06, 0.05, 0]
u = [0.05, 0, 0]
v = [0, 0, 0.05]
rows = 5
columns = 5
material = { mass = 0.001, damping = 0.05, stiffness = 40 }
[[couple]]
master = { tissue = "sheet", nodes = [24] }
slave = { tissue = "other", nodes = [20] }
[[element]]
a = { tissue = "other", node = 0 }
b = { world = [0.06, 0.1, 0] }
answer = { stiffness = 8 }
shorten = 0.2
[[element]]
a = { tissue = "other", node = 4 }
answer = { damping = 0.05 }
"#;

fn change(simulation: &Simulation, group: &str, name: &str, value: f64) -> Change {
    let list = simulation.parameters();
    let found = list.iter().position(|p| p.group == group && p.name == name);
    let known: Vec<String> = list
        .iter()
        .map(|p| format!("{}: {}", p.group, p.name))
        .collect();
    let parameter =
        found.unwrap_or_else(|| panic!("no parameter {group}: {name} among {known:#?}")) as u32;
    Change { parameter, value }
}

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

/// What is changed, by what in the file, and to what there.
const CHANGES: [(&str, &str, f64, &str, &str); 21] = [
    (
        "sheet",
        "law",
        1.0,
        "stiffness = 40, limit",
        "stiffness = 40, law = \"quadratic\", limit",
    ),
    ("sheet", "greatest pull", 0.02, "[inf, 0.03]", "[inf, 0.02]"),
    (
        "sheet",
        "greatest push",
        0.01,
        "[inf, 0.03]",
        "[0.01, 0.03]",
    ),
    (
        "sheet",
        "greatest pull",
        1000.0,
        "[inf, 0.03]",
        "[inf, inf]",
    ),
    (
        "sheet",
        "yield strain",
        0.05,
        "strain = 0.2",
        "strain = 0.05",
    ),
    ("sheet", "ground", 0.01, "ground = 0.03", "ground = 0.01"),
    (
        "sheet",
        "node 12 mass",
        0.004,
        "mass = 0.002",
        "mass = 0.004",
    ),
    (
        "sheet",
        "node 12 free along y",
        0.0,
        "axes = [1, 1, 1]",
        "axes = [1, 0, 1]",
    ),
    (
        "sheet",
        "node 13 damping",
        0.4,
        "damping = 0.1",
        "damping = 0.4",
    ),
    (
        "sheet",
        "element 0 stiffness",
        9.0,
        "stiffness = 5 }",
        "stiffness = 9 }",
    ),
    (
        "sheet",
        "element 0 shorten",
        0.3,
        "shorten = 0.1",
        "shorten = 0.3",
    ),
    (
        "sheet",
        "element 1 piece 2 gives",
        0.16,
        "[0.1, 0.2]",
        "[0.1, 0.16]",
    ),
    (
        "sheet",
        "element 1 drive force",
        0.3,
        "force = 0.1",
        "force = 0.3",
    ),
    (
        "element 0",
        "stiffness",
        3.0,
        "stiffness = 8",
        "stiffness = 3",
    ),
    ("element 1", "damping", 0.2, "damping = 0.05 }\n\"#", ""),
    (
        "couple 0",
        "force factor",
        0.5,
        "nodes = [20] }",
        "nodes = [20] }\nforce_factor = 0.5",
    ),
    (
        "signal beat",
        "amplitude",
        1.0,
        "amplitude = 0.5",
        "amplitude = 1.0",
    ),
    (
        "sheet",
        "element 2 drive stiffness",
        2.0,
        "stiffness = 0.7",
        "stiffness = 2.0",
    ),
    ("signal ramp", "time 1", 0.1, "[0.15, 1.0]", "[0.1, 1.0]"),
    ("signal ramp", "value 1", 0.5, "[0.15, 1.0]", "[0.15, 0.5]"),
    (
        "sheet",
        "on ground",
        0.0,
        "ground = 0.03",
        "ground = 0.03, on_ground = false",
    ),
];

#[test]
fn what_is_changed_at_the_start_is_what_a_scene_that_says_so_has() {
    for (group, name, value, from, to) in CHANGES {
        let text = match to {
            // The last damper of the file.
            "" => {
                let at = SCENE.rfind("damping = 0.05").unwrap();
                format!("{}damping = 0.2{}", &SCENE[..at], &SCENE[at + 14..])
            }
            _ => SCENE.replacen(from, to, 1),
        };
        assert_ne!(text, SCENE, "{name}");
        let (mut changed, mut written, mut plain) = (built(SCENE), built(&text), built(SCENE));
        let wish = change(&changed, group, name, value);
        let told = step(&mut changed, &[wish]);
        assert!(
            matches!(&told[..], [Happening::Changed { .. }]),
            "{group}: {name}: {told:?}"
        );
        step(&mut written, &[]);
        step(&mut plain, &[]);
        for _ in 0..3 {
            run(&mut changed, 60);
            run(&mut written, 60);
            run(&mut plain, 60);
            assert_eq!(
                changed.state().nodes,
                written.state().nodes,
                "{group}: {name}"
            );
        }
        assert!(
            changed.state().nodes != plain.state().nodes,
            "{group}: {name} = {value} does nothing here"
        );
    }
}

#[test]
fn back_again_and_snapshots_are_exact() {
    let (mut there, mut never) = (built(SCENE), built(SCENE));
    let wishes: Vec<Change> = CHANGES
        .iter()
        .filter(|c| c.1 != "greatest pull" || c.2 < 1.0)
        .map(|(group, name, value, ..)| change(&there, group, name, *value))
        .collect();
    // Nothing moves in no time: set and put back within two steps of which the first is undone.
    let start = there.snapshot();
    step(&mut there, &wishes);
    let middle = there.snapshot();
    run(&mut there, 50);
    let end = there.hash();
    let mut again = built(SCENE);
    again.restore(&middle).unwrap();
    run(&mut again, 50);
    assert_eq!(again.hash(), end, "a snapshot carries what was changed");
    there.restore(&start).unwrap();
    run(&mut there, 50);
    run(&mut never, 50);
    assert_eq!(there.hash(), never.hash(), "and what it was before");
}

#[test]
fn commands_reach_single_things_and_bad_wishes_are_refused() {
    let text = format!(
        "{SCENE}\n[[command]]\nat = 0.01\nset = [{{ of = \"signal beat\", what = \"rate\", to = 4 }}, \
         {{ of = \"couple 0\", what = \"force factor\", to = 0.25 }}]\n"
    );
    let mut simulation = built(&text);
    run(&mut simulation, 10);
    let of = |s: &Simulation, group: &str, name: &str| {
        s.parameters()[change(s, group, name, 0.0).parameter as usize].value
    };
    assert_eq!(of(&simulation, "signal beat", "rate"), 4.0);
    assert_eq!(of(&simulation, "couple 0", "force factor"), 0.25);
    let refused = |s: &mut Simulation, group: &str, name: &str, value: f64| {
        let before = of(s, group, name);
        let wish = change(s, group, name, value);
        let told = step(s, &[wish]);
        assert_eq!(of(s, group, name), before);
        match &told[..] {
            [Happening::Refused { reason, .. }] => reason.clone(),
            other => panic!("{group}: {name}: {other:?}"),
        }
    };
    let why = refused(&mut simulation, "sheet", "ground", 0.06);
    assert!(why.contains("lowest free node"), "{why}");
    let why = refused(&mut simulation, "signal ramp", "time 1", 0.4);
    assert!(why.contains("must ascend"), "{why}");
    let why = refused(&mut simulation, "sheet", "element 2 drive stiffness", -1.5);
    assert!(why.contains("negative"), "{why}");
    let why = refused(&mut simulation, "couple 0", "force factor", 1.5);
    assert!(why.contains("does not lie between"), "{why}");
    // What copies another node can't be locked while it runs, wholly or in part.
    let free = "material = { mass = 0.001, damping = 0.05, stiffness = 40 }\nedit = { nodes = [{ node = 20, axes = [1, 1, 1] }] }\n[[couple]]";
    let plain = "material = { mass = 0.001, damping = 0.05, stiffness = 40 }\n[[couple]]";
    let mut simulation = built(&SCENE.replace(plain, free));
    run(&mut simulation, 5);
    for gain in [0.0, 0.5] {
        let why = refused(&mut simulation, "other", "node 20 free along y", gain);
        assert!(why.contains("node 20 of other is locked"), "{why}");
    }
    run(&mut simulation, 5);
}

#[test]
fn what_would_do_nothing_is_not_offered() {
    let net = r#"trocar = 1
[[net]]
name = "net"
points = [[0, 0, 0], [0.02, 0, 0], [0, 0.02, 0], [0, 0, 0.02]]
facets = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
fathers = [0, 0, 1, 1]
centres = [{ position = [0.01, 0, 0] }, { position = [0, 0.01, 0.01] }]
material = { mass = 0.001, damping = 0.2, stiffness = 20, memory = 5 }
"#;
    let simulation = built(net);
    let names: Vec<&str> = simulation
        .parameters()
        .iter()
        .filter(|p| p.group == "net")
        .map(|p| p.name.as_str())
        .collect();
    assert!(names.contains(&"centre mass") && names.contains(&"greatest pull"));
    for idle in [
        "brace",
        "bending",
        "centre stiffness",
        "yield strain",
        "ground",
    ] {
        assert!(!names.contains(&idle), "{idle}");
    }
}

/// Where each matter stands in memory: what is made anew stands elsewhere.
fn places(simulation: &Simulation) -> Vec<*const ()> {
    let matters = simulation.model().matters.iter();
    matters.map(|m| std::ptr::from_ref(&**m).cast()).collect()
}

#[test]
fn a_change_makes_anew_what_it_must_and_nothing_else() {
    let mut simulation = built(SCENE);
    run(&mut simulation, 3);
    let index = |name: &str| {
        let names = &simulation.model().names;
        names.iter().position(|n| n == name).unwrap()
    };
    let (sheet, other) = (index("sheet"), index("other"));
    for (group, name, value, wanted) in [
        // What is no part of a net.
        ("sheet", "bears", 3.0, vec![]),
        ("element 0", "stiffness", 9.0, vec![]),
        ("sheet", "stiffness", 41.0, vec![sheet]),
        ("sheet", "gravity", 0.0, vec![sheet]),
        ("sheet", "element 0 stiffness", 6.0, vec![sheet]),
        ("signal beat", "rate", 3.0, vec![sheet]),
        // Who leads bears what follows.
        ("other", "mass", 0.0011, vec![sheet, other]),
        ("couple 0", "force factor", 0.5, vec![sheet]),
    ] {
        let before = places(&simulation);
        let wish = change(&simulation, group, name, value);
        let events = step(&mut simulation, &[wish]);
        assert!(
            !events
                .iter()
                .any(|e| matches!(e, Happening::Refused { .. })),
            "{group} {name}: {events:?}"
        );
        let after = places(&simulation);
        let made: Vec<usize> = (0..before.len())
            .filter(|m| before[*m] != after[*m])
            .collect();
        assert_eq!(made, wanted, "{group}: {name}");
    }
}

/// What has yielded keeps its shape when elements come and go before it.
#[test]
fn what_has_yielded_remembers_it_when_elements_come_and_go() {
    let text = r#"trocar = 1
[world]
gravity = [0, 0, 0]
[[pipe]]
name = "vessel"
path = [[0, 0, 0], [0.1, 0, 0]]
radii = [[0.01, 0.01]]
rings = 6
around = 6
fixed = [{ ring = 0 }]
material = { mass = 0.0005, damping = 0.05, stiffness = 40, memory = 1, centre_damping = 2, brace = 0.01 }
[pipe.edit]
elements = [
  { a = 0, b = 30, answer = { stiffness = 5, yields = { strain = 0.02 } } },
  { a = 24, b = 30, answer = { stiffness = 5, yields = { strain = 0.02 } } },
]
[[command]]
at = 0
push = [0.4, 0, 0]
on = { tissue = "vessel", node = 30 }
until = 0.5
"#;
    let mut simulation = built(text);
    run(&mut simulation, 100);
    let matter = simulation.model().tissues[0].matter;
    let flow = |s: &Simulation| s.state().nodes[matter.index()].flow.clone();
    let before = flow(&simulation);
    let whole = before.len();
    // The last one is along an edge that has a spring and a damper as well.
    let flown = [before[whole - 2], before[whole - 1]];
    assert!(flown[0] > 1e-4 && flown[1] > 1e-4, "{flown:?}");
    for (brace, count) in [(0.0, whole - 30), (0.01, whole), (0.0, whole - 30)] {
        let change = change(&simulation, "vessel", "brace", brace);
        step(&mut simulation, &[change]);
        let after = flow(&simulation);
        assert_eq!(after.len(), count);
        for (now, then) in after[count - 2..].iter().zip(flown) {
            assert!((now / then - 1.0).abs() < 0.05, "{now} {then}");
        }
        assert!(after[..count - 2].iter().all(|f| *f == 0.0));
    }
    // A snapshot knows how many there are, and whoever takes it up makes as many.
    let snapshot = simulation.snapshot();
    let mut fresh = built(text);
    fresh.restore(&snapshot).unwrap();
    assert_eq!(fresh.hash(), simulation.hash());
    run(&mut fresh, 20);
    run(&mut simulation, 20);
    assert_eq!(fresh.hash(), simulation.hash());
    // Back at the start all of them may yield again.
    simulation.reset();
    assert_eq!(flow(&simulation), vec![0.0; whole - 30]);
}

/// A ball that lies on a sheet, held at its edges; a tissue of its own beside it.
const BORNE: &str = r#"trocar = 1
[world]
step = 0.002
[[sheet]]
name = "sheet"
origin = [-0.1, 0, -0.1]
u = [0.2, 0, 0]
v = [0, 0, 0.2]
rows = 9
columns = 9
fixed = [{ ring = 0 }, { ring = 8 }]
material = { mass = 0.001, damping = 0.2, stiffness = 200MORE }
edit = { nodes = [NODES] }
[[pipe]]
name = "pipe"
path = [[0.3, 0.4, 0], [0.4, 0.4, 0]]
radii = [[0.01, 0.01]]
rings = 5
around = 6
fixed = [{ ring = 0 }]
material = { mass = 0.0005, damping = 0.05, stiffness = 40, memory = 5, centre_stiffness = 20, bending = 0.01 }
[[body]]
name = "ball"
mass = 0.01
form = { ball = 0.015 }
position = [0, 0.02, 0]
[[membrane]]
name = "film"
sheet = { u = [0.01, 0, 0], v = [0, 0, 0.01], rows = 4, columns = 4 }
position = [0.5, 0, 0]
film = { stiffness = 30, density = 1 }
damping = 20
"#;

fn borne(more: &str, nodes: &str, tables: &str) -> Simulation {
    let text = BORNE.replace("MORE", more).replace("NODES", nodes);
    built(&format!("{text}{tables}"))
}

fn ball(simulation: &Simulation) -> f64 {
    let bodies = simulation.model().bodies.unwrap();
    simulation.state().nodes[bodies.index()].position[0].y
}

fn told_by(simulation: &mut Simulation, steps: usize) -> Vec<String> {
    let input = simulation.idle_input();
    let mut told = Vec::new();
    for _ in 0..steps {
        let report = simulation.step(&input);
        told.extend(report.events.iter().map(|e| e.what.to_string()));
    }
    told
}

/// App. A.1 and `eladyn_geo_def`: bits by a word or a token, of one tissue or all, are the parameters they stand for.
#[test]
fn attribute_bits_are_set_by_word_and_token_while_it_runs() {
    use trocar_scene::{Flags, attributes::ALL};
    let mut simulation = borne(
        "",
        "",
        "[[command]]\nat = 0.2\nflags = [{ of = \"sheet\", token = \"INTER\", on = true }]\n\
         [[command]]\nat = 0.4\nflags = [{ of = \"ALL\", word = 0x200090 }]\n",
    );
    let words = |s: &Simulation| -> Vec<(String, u32)> {
        s.flag_words().map(|(n, w)| (n.to_owned(), w)).collect()
    };
    // MESD, gravity, centres that move; steps have a set length. A sheet has no centres.
    let usual = [("pipe".to_owned(), 0x2250), ("sheet".to_owned(), 0x2240)];
    assert_eq!(words(&simulation), usual);
    told_by(&mut simulation, 100);
    assert!(ball(&simulation) > -0.1, "the sheet bears it");
    let told = told_by(&mut simulation, 99);
    assert_eq!(told, ["sheet: touchable is now no"]);
    assert!(ball(&simulation) < -0.1, "it falls through");
    let snapshot = simulation.snapshot();
    let told = told_by(&mut simulation, 2).join("\n");
    for line in [
        "sheet: gravity is now no",
        "sheet: touchable is now yes",
        "sheet: integrator is now modified Runge-Kutta",
        "pipe: integrator is now modified Runge-Kutta",
        "pipe: on ground is now yes",
    ] {
        assert!(told.contains(line), "{line}: {told}");
    }
    // Held below its ground, the sheet can't have one at 0.
    assert!(told.contains("sheet: on ground stays as it was"), "{told}");
    assert_eq!(words(&simulation)[0].1, 0x20_0290);
    run(&mut simulation, 20);
    let mut again = borne("", "", "");
    assert!(again.restore(&snapshot).is_err(), "another scene");
    // What can't be, and why.
    let why = |of: &str, flags: Flags| simulation.flag_changes(of, &flags).unwrap_err();
    let token = |token: &str, on| Flags::Token(token.into(), on);
    assert!(why("sheet", token("MOVE", true)).contains("nothing that MOVE could say"));
    assert!(why("sheet", token("NURBSDRAW", true)).contains("drawn"));
    assert!(why("sheet", token("SLOWMOT", true)).contains("alike for all"));
    assert!(why(ALL, token("SLOWMOT", true)).contains("factor"));
    assert!(why("sheet", token("CALC_TIME", false)).contains("set length"));
    assert!(why("film", Flags::Word(0x40)).contains("no nodal net"));
    assert!(why("none", Flags::Word(0x40)).contains("no tissue called"));
    assert!(why(ALL, Flags::Word(0x2100)).contains("contradict"));
    // A scheme that is not the one it has is switched off already.
    assert_eq!(
        simulation.flag_changes("pipe", &token("QDYN", false)),
        Ok(vec![])
    );
    assert_eq!(
        simulation
            .flag_changes("pipe", &token("CALC_II", false))
            .unwrap()
            .len(),
        1
    );
}

/// What a command says later counts on what it says before.
#[test]
fn bits_of_one_command_are_set_one_after_the_other() {
    let off_again = "[[command]]\nat = 0.01\nset = [{ of = \"world\", what = \"slow motion\", to = 0.5 }]\n\
        flags = [{ of = \"pipe\", token = \"QDYN\", on = true }, { of = \"pipe\", token = \"QDYN\", on = false }, { of = \"ALL\", token = \"SLOWMOT\", on = false }]\n";
    let mut simulation = borne("", "", off_again);
    let before: Vec<f64> = simulation.parameters().iter().map(|p| p.value).collect();
    told_by(&mut simulation, 20);
    let after: Vec<f64> = simulation.parameters().iter().map(|p| p.value).collect();
    assert_eq!(before, after);
}

/// Time passes alike for all, so every word shows whether it is slow: who sends one back with another bit flipped says nothing of that.
#[test]
fn words_can_be_changed_in_slow_motion() {
    use trocar_scene::{Flags, attributes::ALL};
    let word = |s: &Simulation, name: &str| {
        let mut words = s.flag_words();
        words.find_map(|(n, w)| (n == name).then_some(w)).unwrap()
    };
    let factor = |s: &Simulation| {
        let slow = change(s, "world", "slow motion", 0.0).parameter;
        s.parameters()[slow as usize].value
    };
    let give = |s: &mut Simulation, of: &str, word: u32| {
        let changes = s.flag_changes(of, &Flags::Word(word)).unwrap();
        let told = step(s, &changes);
        let refused = |what: &Happening| matches!(what, Happening::Refused { .. });
        assert!(!told.iter().any(refused), "{told:?}");
    };
    let why = |s: &Simulation, of: &str, flags: Flags| s.flag_changes(of, &flags).unwrap_err();
    let mut simulation = borne("", "", "");
    let slow = change(&simulation, "world", "slow motion", 0.5);
    step(&mut simulation, &[slow]);
    assert_eq!(word(&simulation, "sheet"), 0x3240);
    give(&mut simulation, "sheet", 0x3200);
    assert_eq!(word(&simulation, "sheet"), 0x3200, "no gravity");
    assert_eq!(factor(&simulation), 0.5);
    // The scene does not say by what factor; it is slow as it is.
    give(&mut simulation, ALL, 0x3250);
    assert_eq!(word(&simulation, "sheet"), 0x3240, "gravity");
    assert_eq!(factor(&simulation), 0.5);
    let off = Flags::Token("SLOWMOT".into(), false);
    assert!(why(&simulation, "sheet", off).contains("alike for all"));
    give(&mut simulation, ALL, 0x2250);
    assert_eq!(factor(&simulation), 1.0);
    assert!(why(&simulation, "sheet", Flags::Word(0x3240)).contains("alike for all"));
    assert!(why(&simulation, ALL, Flags::Word(0x3250)).contains("factor"));
    // A scene that says so: its own factor if time was not slow, else what there is.
    let text = BORNE.replace("MORE", "").replace("NODES", "");
    let text = text.replace("step = 0.002", "step = 0.002\nslow_motion = 0.25");
    let mut simulation = built(&text);
    step(&mut simulation, &[slow]);
    for (word, wanted) in [(0x3250, 0.5), (0x2250, 1.0), (0x3250, 0.25)] {
        give(&mut simulation, ALL, word);
        assert_eq!(factor(&simulation), wanted);
    }
}

/// How high a ground is and whether it acts are judged together, as they will be.
#[test]
fn a_ground_may_be_moved_while_it_is_switched() {
    let text = r#"trocar = 1
[world]
step = 0.002
[[sheet]]
name = "sheet"
origin = [0, 0.05, 0]
u = [0.05, 0, 0]
v = [0, 0, 0.05]
rows = 5
columns = 5
fixed = [{ ring = 0 }]
material = { mass = 0.001, damping = 0.05, stiffness = 40, ground = 0.03 }
"#;
    let mut simulation = built(text);
    let matter = simulation.model().tissues[0].matter;
    let lowest = |s: &Simulation| {
        let places = s.state().nodes[matter.index()].position.iter();
        places.map(|p| p.y).fold(f64::INFINITY, f64::min)
    };
    let falls_below = |s: &mut Simulation, height: f64| {
        (0..500).any(|_| {
            run(s, 1);
            lowest(s) < height
        })
    };
    let ground = |s: &Simulation, height: f64, acts: f64| {
        [
            change(s, "sheet", "ground", height),
            change(s, "sheet", "on ground", acts),
        ]
    };
    let values = |s: &Simulation| {
        let numbers = ground(s, 0.0, 0.0);
        numbers.map(|c| s.parameters()[c.parameter as usize].value)
    };
    let off = change(&simulation, "sheet", "on ground", 0.0);
    step(&mut simulation, &[off]);
    // Above where the ground is, and below where it shall be.
    assert!(falls_below(&mut simulation, 0.042));
    let [height, acts] = ground(&simulation, 0.045, 1.0);
    for both in [[height, acts], [acts, height]] {
        assert!(lowest(&simulation) > 0.031);
        let told = step(&mut simulation, &both);
        let buried = |what: &&Happening| what.to_string().contains("lowest free node");
        assert_eq!(told.iter().filter(buried).count(), 2, "{told:?}");
        assert_eq!(values(&simulation), [0.03, 0.0]);
    }
    // Below where it is, and above where it shall be.
    assert!(falls_below(&mut simulation, 0.028));
    assert!(lowest(&simulation) > 0.015);
    let [height, acts] = ground(&simulation, 0.01, 1.0);
    let told = step(&mut simulation, &[acts, height]);
    assert_eq!(values(&simulation), [0.01, 1.0], "{told:?}");
    run(&mut simulation, 300);
    assert!(lowest(&simulation) > 0.01 - 1e-9);
    // Where it does not act any more it may be anywhere.
    let both = ground(&simulation, 0.04, 0.0);
    let told = step(&mut simulation, &both);
    assert_eq!(values(&simulation), [0.04, 0.0], "{told:?}");
}

#[test]
fn a_scene_may_say_it_by_bits() {
    for (flags, names) in [
        (", flags = 0x440", ", touchable = false"),
        (
            ", flags = [\"GRAV\", \"CALC_KUHN\"]",
            ", integrator = \"weighted\"",
        ),
        (", flags = 0x2000", ", gravity = false"),
    ] {
        let (mut bits, mut named) = (borne(flags, "", ""), borne(names, "", ""));
        run(&mut bits, 50);
        run(&mut named, 50);
        assert_eq!(bits.state().nodes, named.state().nodes, "{flags}");
    }
    for (flags, why) in [
        (", flags = 0x2100", "contradict"),
        (", flags = 0x60", "drawn"),
        (", flags = 0x40, gravity = false", "give either"),
        (", flags = [\"FLY\"]", "no attribute"),
    ] {
        let text = BORNE.replace("MORE", flags).replace("NODES", "");
        let scene = trocar_scene::Scene::from_text("test.toml", &text).unwrap();
        let error = Simulation::new(&scene, 1).err().unwrap().to_string();
        assert!(
            error.contains(why) && error.contains("test.toml:"),
            "{error}"
        );
    }
}

/// Node attribute bits (App. A.2), as far as they are not what is done to a node.
#[test]
fn nodes_become_untouchable_and_are_marked_while_it_runs() {
    let middle: Vec<String> = (2..7)
        .flat_map(|r| (2..7).map(move |c| r * 9 + c))
        .map(|n| format!("{{ node = {n}, touchable = true }}"))
        .collect();
    let nodes = format!(
        "{}, {{ node = 0, mark = 3, cut_mark = false }}, {{ node = 1, bits = 0x800 }}",
        middle.join(", ")
    );
    let mut simulation = borne("", &nodes, "");
    run(&mut simulation, 100);
    assert!(ball(&simulation) > -0.1, "the sheet bears it");
    let through: Vec<Change> = (2..7)
        .flat_map(|r| (2..7).map(move |c| r * 9 + c))
        .map(|n| change(&simulation, "sheet", &format!("node {n} touchable"), 0.0))
        .collect();
    let start = simulation.snapshot();
    step(&mut simulation, &through);
    let middle = simulation.snapshot();
    run(&mut simulation, 150);
    assert!(ball(&simulation) < -0.1, "it falls through");
    // Snapshots know it, either way.
    let mut other = borne("", &nodes, "");
    other.restore(&middle).unwrap();
    run(&mut other, 150);
    assert_eq!(other.hash(), simulation.hash());
    other.restore(&start).unwrap();
    run(&mut other, 151);
    assert!(ball(&other) > -0.1);
    let index = |s: &Simulation| {
        let tissues = s.model().tissues.iter();
        tissues.clone().position(|t| t.name == "sheet").unwrap()
    };
    let marks = [
        change(&other, "sheet", "node 0 mark", 9.0),
        change(&other, "sheet", "node 0 cut mark", 1.0),
        change(&other, "sheet", "node 1 bits", f64::from(0x7_1000)),
    ];
    step(&mut other, &marks);
    let t = index(&other);
    assert_eq!(other.flags(t, 0).unwrap().0 & 0xFFFF_0800, 0x9_0800);
    assert_eq!(other.flags(t, 1).unwrap().0 & 0xFFFF_1800, 0x7_1000);
    for (name, value, why) in [
        ("node 0 mark", 2.5, "whole number"),
        ("node 1 bits", 1.0, "what is being done to it"),
    ] {
        let wish = change(&other, "sheet", name, value);
        let told = step(&mut other, &[wish]);
        assert!(
            matches!(&told[..], [Happening::Refused { reason, .. }] if reason.contains(why)),
            "{told:?}"
        );
    }
}

/// Two sheets, one falling on the other: how thick they are to each other changes while they lie on each other.
#[test]
fn tissues_become_thicker_and_thinner_while_they_touch() {
    let film = |name: &str, height: f64, more: &str| {
        format!(
            "[[sheet]]\nname = \"{name}\"\norigin = [0.0, {height}, 0.0]\nu = [0.008, 0, 0]\nv = [0, 0, 0.008]\nrows = 6\ncolumns = 6\n\
             material = {{ mass = 0.0002, damping = 0.02, stiffness = 20, contact_thickness = THICK }}\n{more}"
        )
    };
    let all: Vec<String> = (0..36).map(|n| n.to_string()).collect();
    let fixed = format!("fixed = [{{ nodes = [{}] }}]\n", all.join(", "));
    let text = format!(
        "trocar = 1\n[world]\nstep = 0.002\ngravity = [0, -2, 0]\n{}{}",
        film("lower", 0.0, &fixed),
        film("upper", 0.0012, "")
    );
    let height = |s: &Simulation| {
        let upper = s.model().tissues.iter().find(|t| t.name == "upper");
        let nodes = &s.state().nodes[upper.unwrap().matter.index()];
        nodes.position.iter().map(|p| p.y).sum::<f64>() / nodes.len() as f64
    };
    let mut simulation = built(&text.replace("THICK", "0.0005"));
    run(&mut simulation, 200);
    let thin = height(&simulation);
    assert!((thin - 0.0005).abs() < 1e-4, "{thin}");
    let thicker =
        ["lower", "upper"].map(|name| change(&simulation, name, "contact thickness", 0.001));
    let told = step(&mut simulation, &thicker);
    assert_eq!(told.len(), 2, "{told:?}");
    let snapshot = simulation.snapshot();
    run(&mut simulation, 300);
    let thick = height(&simulation);
    assert!((thick - 0.001).abs() < 1.5e-4, "{thick}");
    let mut other = built(&text.replace("THICK", "0.0005"));
    other.restore(&snapshot).unwrap();
    run(&mut other, 300);
    assert_eq!(other.hash(), simulation.hash());
    // A reset keeps it, and what was changed at the start is what a scene that says so has.
    simulation.reset();
    run(&mut simulation, 200);
    assert!((height(&simulation) - 0.001).abs() < 1.5e-4);
    let mut changed = built(&text.replace("THICK", "0.0005"));
    let mut written = built(&text.replace("THICK", "0.001"));
    step(&mut changed, &thicker);
    step(&mut written, &[]);
    run(&mut changed, 100);
    run(&mut written, 100);
    assert_eq!(changed.state().nodes, written.state().nodes);
    let wish = change(&changed, "upper", "contact thickness", 1.0);
    let told = step(&mut changed, &[wish]);
    assert!(matches!(&told[..], [Happening::Refused { .. }]), "{told:?}");
}

//! Nets of any topology: fathers of any depth, elements between different things, nodes that copy others or that bodies
//! hold, nodes and elements of one's own (K37, K42–K57, K75, K76).

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::{built, is_sound};
use glam::DVec3;
use trocar_scene::{Insight, Scene, Simulation, Views, insight::NodeState};
use trocar_soft::NodeFlags;

fn refused(text: &str) -> String {
    let made = Scene::from_text("test.toml", text).and_then(|s| Simulation::new(&s, 1));
    made.err().map(|e| e.to_string()).unwrap_or_default()
}

fn run(simulation: &mut Simulation, seconds: f64) {
    let input = simulation.idle_input();
    let end = simulation.state().time + seconds - 1e-9;
    while simulation.state().time < end {
        simulation.step(&input);
    }
    assert!(is_sound(simulation, 10.0));
}

fn nodes<'a>(simulation: &'a Simulation, name: &str) -> &'a [DVec3] {
    let names = &simulation.model().names;
    let matter = names.iter().position(|n| n == name).unwrap();
    &simulation.state().nodes[matter].position
}

/// A great-grandfather, and points on the last of four generations of central nodes.
const DYNASTY: &str = r#"trocar = 1
[world]
gravity = [0, 0, 0]
[[net]]
name = "dynasty"
points = [[0.06, 0.01, 0], [0.06, -0.01, 0], [0.08, 0, 0.01], [0.08, 0, -0.01]]
facets = [[0, 1, 2], [0, 3, 1]]
fathers = [0, 0, 0, 0]
centres = [
  { name = "child", position = [0.06, 0, 0], father = "father", memory = 40 },
  { name = "father", position = [0.04, 0, 0], father = "grandfather", memory = 40 },
  { name = "grandfather", position = [0.02, 0, 0], father = "root", memory = 40 },
  { name = "root", position = [0, 0, 0] },
]
material = { mass = 0.001, damping = 0.05, stiffness = 20, memory = 10, torsion = 0.02, centre_mass = 0.01, centre_damping = 0.2 }
[[command]]
at = 0
push = [0.2, 0, 0]
on = { tissue = "dynasty", node = 2 }
until = 0.3
"#;

#[test]
fn fathers_of_any_depth_carry_and_are_moved() {
    let mut simulation = built(DYNASTY);
    let start = nodes(&simulation, "dynasty").to_vec();
    // Frames are sorted: fathers first.
    assert_eq!(start[0], DVec3::ZERO);
    assert_eq!(start[3], DVec3::new(0.06, 0.0, 0.0));
    run(&mut simulation, 0.3);
    let moved: Vec<f64> = nodes(&simulation, "dynasty")
        .iter()
        .zip(&start)
        .map(|(a, b)| a.x - b.x)
        .collect();
    // What was pushed drew every generation with it, and is ahead of the first.
    assert!(
        moved.iter().all(|m| *m > 0.05) && moved[6] > moved[0],
        "{moved:?}"
    );
    // Left alone, the shape comes back: distances are those of the start.
    run(&mut simulation, 6.0);
    let now = nodes(&simulation, "dynasty");
    for i in 0..now.len() {
        for j in 0..i {
            let (was, is) = (start[i].distance(start[j]), now[i].distance(now[j]));
            assert!((was - is).abs() < 1e-6, "{i} {j}: {was} {is}");
        }
    }
}

#[test]
fn fathers_in_a_cycle_are_refused_by_name() {
    let text = DYNASTY.replace(
        "{ name = \"root\", position = [0, 0, 0] }",
        "{ name = \"root\", position = [0, 0, 0], father = \"child\" }",
    );
    let why = refused(&text);
    assert!(
        why.contains("child → father → grandfather → root → child"),
        "{why}"
    );
    let why = refused(&DYNASTY.replace("father = \"root\"", "father = \"nobody\""));
    assert!(why.contains("no central node called \"nobody\""), "{why}");
    let why = refused(&DYNASTY.replace("fathers = [0, 0, 0, 0]", "fathers = [0, 0, 7, 0]"));
    assert!(why.contains("point 2 names central node 7"), "{why}");
    let why = refused(&DYNASTY.replace("[0.08, 0, 0.01]", "[0.06, 0.03, 0]"));
    assert!(why.contains("facet 0 has no area"), "{why}");
}

/// Two free sheets and a ball, joined by elements and by nothing else.
const JOINED: &str = r#"trocar = 1
[world]
gravity = [0, 0, 0]
[[sheet]]
name = "left"
origin = [0, 0, 0]
u = [0.04, 0, 0]
v = [0, 0, 0.04]
rows = 4
columns = 4
material = { mass = 0.001, damping = 0, stiffness = 20 }
[[sheet]]
name = "right"
origin = [0.1, 0, 0]
u = [0.04, 0, 0]
v = [0, 0, 0.04]
rows = 4
columns = 4
material = { mass = 0.002, damping = 0, stiffness = 20 }
[[body]]
name = "ball"
position = [0.2, 0, 0.02]
mass = 0.01
form = { ball = 0.01 }
collide = false
[[element]]
a = { tissue = "left", node = 7 }
b = { tissue = "right", node = 4 }
answer = { stiffness = 10 }
shorten = 0.5
[[element]]
a = { tissue = "right", node = 11 }
b = { body = "ball", at = [-0.005, 0.004, 0] }
answer = { stiffness = 8 }
rest_length = 0.03
[[element]]
a = { tissue = "right", node = 11 }
b = { body = "ball" }
answer = { damping = 0.02 }
"#;

#[test]
fn elements_between_different_things_keep_momentum() {
    let mut simulation = built(JOINED);
    let momentum = |simulation: &Simulation| -> DVec3 {
        let model = simulation.model();
        let list = simulation.state().nodes.iter().zip(&model.matters);
        list.filter(|(_, m)| !m.is_prescribed())
            .flat_map(|(nodes, m)| {
                let masses = m.masses().mass();
                nodes.velocity.iter().zip(masses).map(|(v, m)| *v * *m)
            })
            .sum()
    };
    run(&mut simulation, 0.2);
    let speeds = simulation.state().nodes.iter().flat_map(|n| &n.velocity);
    assert!(
        speeds.map(|v| v.length()).fold(0.0, f64::max) > 0.05,
        "they move"
    );
    assert!(
        momentum(&simulation).length() < 1e-12,
        "{}",
        momentum(&simulation)
    );
    // Off its centre the element turns the ball.
    let spin = simulation.state().nodes.iter().flat_map(|n| &n.spin);
    assert!(spin.map(|w| w.length()).fold(0.0, f64::max) > 0.1);
}

#[test]
fn a_weight_hangs_as_hooke_says() {
    let mut simulation = built(
        r#"trocar = 1
[[particle]]
name = "weight"
mass = 0.05
position = [0, 0, 0]
[[element]]
a = { particle = "weight" }
b = { world = [0, 0.1, 0] }
answer = { stiffness = 20 }
[[element]]
a = { particle = "weight" }
answer = { damping = 0.5 }
"#,
    );
    run(&mut simulation, 4.0);
    let sunk = -nodes(&simulation, "bodies")[0].y;
    assert!((sunk - 0.05 * 9.81 / 20.0).abs() < 1e-6, "{sunk}");
}

#[test]
fn too_stiff_an_element_makes_the_substeps_short_enough() {
    let stiff = JOINED.replace("stiffness = 8", "stiffness = 8000");
    let bound = |s: &Simulation| s.model().groups[0].bounds.safe;
    assert!(bound(&built(&stiff)) < 0.2 * bound(&built(JOINED)));
    let after = |text: &str| {
        let mut simulation = built(text);
        let before = simulation.energy().total();
        run(&mut simulation, 0.5);
        simulation.energy().total() / before
    };
    let near = after(&stiff.replace("rest_length = 0.03", "rest_length = 0.0555"));
    assert!(near < 1.1, "{near}");
    // Stretched by 2.5 cm it throws its ends past each other within a substep that is right for its stiffness, where its force turns round: no bound on
    // stiffness sees that, and the energy grows many times over. Short steps do not gain.
    let thrown = after(&stiff.replace("[world]", "[world]\nstep = 0.0001"));
    assert!(thrown < 1.1, "{thrown}");
    let why = refused(&JOINED.replace(
        "b = { body = \"ball\" }",
        "b = { tissue = \"right\", node = 11 }",
    ));
    assert!(why.contains("two different points"), "{why}");
}

#[test]
fn what_follows_keeps_the_pre_tension_it_was_given() {
    // Springs of the sheet are 5 % too short, one of its own a quarter; its first row moves onto another's last, whose nodes
    // are twice as far apart. The first node comes where the second was.
    let text = r#"trocar = 1
[[sheet]]
name = "leads"
origin = [0.01, 0, -0.01]
u = [0.04, 0, 0]
v = [0, 0, 0.01]
rows = 2
columns = 3
material = { mass = 0.001, damping = 0.05, stiffness = 20 }
[[sheet]]
name = "follows"
origin = [0, 0, 0]
u = [0.02, 0, 0]
v = [0, 0, 0.02]
rows = 2
columns = 3
material = { mass = 0.001, damping = 0.05, stiffness = 20, shorten = 0.05 }
[sheet.edit]
elements = [
  { a = 0, b = 1, answer = { stiffness = 5 }, shorten = 0.25 },
  { a = 0, b = 5, answer = { stiffness = 5 }, rest_length = 0.03 },
]
[[couple]]
master = { tissue = "leads", nodes = [3, 4, 5] }
slave = { tissue = "follows", nodes = [0, 1, 2] }
"#;
    let simulation = built(text);
    assert_eq!(nodes(&simulation, "follows")[0], DVec3::new(0.01, 0.0, 0.0));
    let mut insight = Insight::default();
    let elements = Views {
        elements: true,
        ..Views::default()
    };
    simulation.insight(elements, &mut insight);
    // Tension for every metre between the ends, k (1 − rest/length): of what leads, of the sheet's springs, of its own two.
    let written = 0.03 / DVec3::new(0.02, 0.0, 0.02).length();
    let expected = [0.0, 20.0 * 0.05, 5.0 * 0.25, 5.0 * (1.0 - written)];
    let mut counts = [0; 4];
    for e in &insight.elements {
        let pull = e.force / e.a.distance(e.b);
        let kind = expected.iter().position(|p| (pull - p).abs() < 1e-9);
        counts[kind.unwrap_or_else(|| panic!("{} {}: {pull} N/m", e.a, e.b))] += 1;
    }
    assert!(
        counts[0] == counts[1] && counts[2..] == [1, 1],
        "{counts:?}"
    );
}

/// A sheet whose edge a plate holds, and one that copies three nodes of it.
const HELD: &str = r#"trocar = 1
[[sheet]]
name = "sheet"
origin = [0, 0, 0]
u = [0.04, 0, 0]
v = [0, 0, 0.04]
rows = 4
columns = 4
material = { mass = 0.001, damping = 0.05, stiffness = 20 }
[[sheet]]
name = "other"
origin = [0, 0, 0.042]
u = [0.04, 0, 0]
v = [0, 0, 0.04]
rows = 3
columns = 3
material = { mass = 0.001, damping = 0.05, stiffness = 20 }
[[body]]
name = "plate"
position = [0.02, 0, 0]
half_extents = [0.03, 0.002, 0.004]
mass = 0.05
motion = "kinematic"
collide = false
[[couple]]
master = { body = "plate" }
slave = { tissue = "sheet", ring = 0 }
[[couple]]
master = { tissue = "sheet", nodes = [12, 13, 15] }
slave = { tissue = "other", nodes = [0, 1, 2] }
"#;

#[test]
fn bodies_hold_nodes_and_nodes_copy_nodes() {
    let text = HELD.replace("motion = \"kinematic\"\n", "");
    let text = format!(
        "{text}[[tie]]\na = {{ body = \"plate\" }}\nb = {{ world = [0.02, 0, 0] }}\n\
                 [[command]]\nat = 0.5\nset = [{{ of = \"sheet\", what = \"stiffness\", to = 21 }}]\n"
    );
    let mut simulation = built(&text);
    // One sees which nodes are held, and which copy: also after their net was made anew.
    let held = |simulation: &Simulation| {
        let mut insight = Insight::default();
        let nodes = Views {
            nodes: true,
            ..Views::default()
        };
        simulation.insight(nodes, &mut insight);
        [NodeState::Joined, NodeState::Hyper]
            .map(|state| insight.nodes.iter().filter(|n| n.state == state).count())
    };
    assert_eq!(held(&simulation), [4, 3]);
    run(&mut simulation, 1.5);
    assert_eq!(held(&simulation), [4, 3]);
    let sheet = nodes(&simulation, "sheet").to_vec();
    let other = nodes(&simulation, "other");
    for (master, slave) in [(12, 0), (13, 1), (15, 2)] {
        assert_eq!(sheet[master], other[slave], "a copy is a copy");
    }
    // The plate turned with what hangs at it; the nodes it holds kept their distances.
    assert!(sheet[12].y < -0.01, "{}", sheet[12]);
    for k in 1..4 {
        let apart = sheet[0].distance(sheet[k]);
        assert!((apart - 0.04 / 3.0 * k as f64).abs() < 1e-7, "{apart}");
    }
}

#[test]
fn what_can_not_be_coupled_is_refused() {
    let locked = HELD.replacen("rows = 4\n", "rows = 4\nfixed = [{ nodes = [2] }]\n", 1);
    let why = refused(&locked);
    assert!(why.contains("node 2 of sheet is locked"), "{why}");
    // Locked in part is locked, whether it was selected or edited.
    let partly = "rows = 4\nfixed = [{ nodes = [2], axes = [1, 0, 1] }]\n";
    let why = refused(&HELD.replacen("rows = 4\n", partly, 1));
    assert!(why.contains("node 2 of sheet is locked"), "{why}");
    let partly = "rows = 4\nedit = { nodes = [{ node = 3, axes = [1, 0.5, 1] }] }\n";
    let why = refused(&HELD.replacen("rows = 4\n", partly, 1));
    assert!(why.contains("node 3 of sheet is locked"), "{why}");
    // What a body holds does not copy another node, in whichever order the file says so, nor do two bodies hold it.
    let copies = "[[couple]]\nmaster = { tissue = \"other\", nodes = [8] }\nslave = { tissue = \"sheet\", nodes = [1] }\n";
    let holds =
        "[[couple]]\nmaster = { body = \"plate\" }\nslave = { tissue = \"other\", nodes = [1] }\n";
    for (more, node) in [(copies, "node 1 of sheet"), (holds, "node 1 of other")] {
        let why = refused(&format!("{HELD}{more}"));
        assert!(
            why.contains(node) && why.contains("follows something already"),
            "{why}"
        );
    }
    let twice = holds.replace("other", "sheet");
    let why = refused(&format!("{HELD}{twice}"));
    assert!(why.contains("follows something already"), "{why}");
    let why = refused(&HELD.replace("nodes = [0, 1, 2]", "nodes = [0, 1, 1]"));
    assert!(why.contains("named twice"), "{why}");
    let why = refused(&HELD.replace("body = \"plate\"", "body = \"nobody\""));
    assert!(why.contains("no body called"), "{why}");
    let why = refused(&HELD.replace(
        "slave = { tissue = \"other\", nodes = [0, 1, 2] }",
        "slave = { body = \"plate\" }",
    ));
    assert!(why.contains("a body does not follow"), "{why}");
}

/// Whether a node is coupled to a membrane or to another net, it follows one thing, and what follows does not lead.
#[test]
fn nodes_are_coupled_once_to_membranes_or_nets() {
    // A corner of the membrane lies at node 8 of the other sheet.
    let film = "[[membrane]]\nname = \"film\"\nsheet = { u = [0.01, 0, 0], v = [0, 0, 0.01], rows = 3, columns = 3 }\n\
        position = [0.04, 0, 0.082]\nfilm = { stiffness = 30, density = 1 }\ndamping = 20\n";
    let couple = |master: &str, slave: &str| {
        format!("[[couple]]\nmaster = {{ {master} }}\nslave = {{ {slave} }}\n")
    };
    let (membrane, place) = ("tissue = \"film\"", "world = [[0.04, 0, 0.082]]");
    let (node, copy) = (
        "tissue = \"other\", nodes = [8]",
        "tissue = \"other\", nodes = [0]",
    );
    let (free, plate) = ("tissue = \"sheet\", nodes = [5]", "body = \"plate\"");
    let (follows, leads) = (couple(membrane, node), couple(node, membrane));
    for fine in [&follows, &leads] {
        assert_eq!(refused(&format!("{HELD}{film}{fine}")), "");
    }
    for (first, then, why) in [
        (&follows, couple(free, node), "what follows does not lead"),
        (&follows, couple(node, free), "what follows does not lead"),
        (&follows, couple(plate, node), "follows something already"),
        (&follows, couple(place, node), "follows something already"),
        (&follows, couple(membrane, node), "follows or leads another"),
        (&follows, couple(node, membrane), "follows another already"),
        (&leads, couple(free, node), "what follows does not lead"),
        (&leads, couple(place, node), "leads another node already"),
        (&leads, couple(membrane, node), "follows or leads another"),
        (&leads, couple(copy, membrane), "follows another already"),
    ] {
        let said = refused(&format!("{HELD}{film}{first}{then}"));
        assert!(
            said.contains(why) && said.contains("test.toml:"),
            "{then}: {said}"
        );
    }
}

/// K54: a master may be a point in space: what follows it is moved there and stays, and its springs are at rest there.
#[test]
fn points_in_space_lead_nodes() {
    let more = "[[couple]]\nmaster = { world = [[0.1, 0.02, 0], [0.1, 0.02, 0.01]] }\nslave = { tissue = \"other\", nodes = [5, 8] }\n";
    let mut simulation = built(&format!("{HELD}{more}"));
    let places = [DVec3::new(0.1, 0.02, 0.0), DVec3::new(0.1, 0.02, 0.01)];
    let at = |s: &Simulation| [5, 8].map(|n| nodes(s, "other")[n]);
    assert_eq!(at(&simulation), places);
    run(&mut simulation, 0.5);
    assert_eq!(at(&simulation), places);
    let t = simulation.model().tissues.iter();
    let t = t.clone().position(|t| t.name == "other").unwrap();
    let flags = simulation.flags(t, 5).unwrap();
    assert!(flags.has(NodeFlags::FIXED) && flags.has(NodeFlags::SLAVE));
    for (master, why) in [
        ("world = [[0, 0, 0]]", "1 points lead 2 nodes"),
        ("world = [[0, 0, 0], [0, 0, nan]]", "not a finite number"),
        (
            "body = \"plate\", world = [[0, 0, 0], [0, 0, 1]]",
            "nothing leads beside them",
        ),
    ] {
        let places = "world = [[0.1, 0.02, 0], [0.1, 0.02, 0.01]]";
        let said = refused(&format!("{HELD}{}", more.replace(places, master)));
        assert!(said.contains(why), "{master}: {said}");
    }
    let said = refused(&format!("{HELD}{}", more.replace("[5, 8]", "[0, 8]")));
    assert!(said.contains("follows something already"), "{said}");
    // What leads is not taken from where its copies were put.
    let leads = more
        .replace("\"other\"", "\"sheet\"")
        .replace("[5, 8]", "[LEADS, 8]");
    let led = HELD
        .find("master = { tissue = \"sheet\", nodes = [")
        .unwrap();
    let led = HELD[led..].split(['[', ',']).nth(2).unwrap().trim();
    let said = refused(&format!("{HELD}{}", leads.replace("LEADS", led)));
    assert!(said.contains("leads another node already"), "{said}");
}

/// A sheet with a hole, a stiff strip, a heavy corner, an inner node and a muscle.
const EDITED: &str = r#"trocar = 1
[world]
gravity = [0, 0, 0]
[[signal]]
name = "beat"
pulse = { period = 6, rise = 0.1, hold = 0.2, fall = 0.1 }
[[sheet]]
name = "sheet"
origin = [0, 0, 0]
u = [0.04, 0, 0]
v = [0, 0, 0.04]
rows = 5
columns = 5
fixed = [{ ring = 0 }]
material = { mass = 0.001, damping = 0.05, stiffness = 20 }
[sheet.edit]
add_nodes = [{ position = [0.02, -0.02, 0.02], mass = 0.002 }]
nodes = [{ node = 24, mass = 0.02, mark = 7 }, { node = 4, position = [0.045, 0, 0] }]
elements = [
  { a = 25, b = 11, answer = { stiffness = 5 } },
  { a = 25, b = 13, answer = { stiffness = 5 } },
  { a = 0, b = 20, answer = { stiffness = 3, limit = [0, inf] }, drive = { signal = "beat", force = 0.01 } },
  { a = 0, b = 20, answer = { damping = 0.01 } },
]
without_elements = [[6, 7]]
without_nodes = [12]
"#;

#[test]
fn single_nodes_and_elements_can_be_different() {
    let plain = built(&EDITED[..EDITED.find("[sheet.edit]").unwrap()]);
    let mut simulation = built(EDITED);
    let model = simulation.model();
    let tissue = &model.tissues[0];
    let masses = model.matters[tissue.matter.index()].masses();
    assert_eq!(masses.len(), 26);
    assert_eq!(masses.mass()[24], 0.02);
    // Of 25 nodes: 8 springs less at the hole, one left out, four added.
    assert_eq!(
        tissue.elements,
        plain.model().tissues[0].elements - 8 - 1 + 4
    );
    assert_eq!(
        plain.model().tissues[0].triangles.len() - tissue.triangles.len(),
        6
    );
    assert_eq!(nodes(&simulation, "sheet")[4], DVec3::new(0.045, 0.0, 0.0));
    // The muscle pulls its corner in while the beat lasts, and lets it go.
    let start = nodes(&simulation, "sheet")[20];
    run(&mut simulation, 0.3);
    let pulled = nodes(&simulation, "sheet")[20];
    assert!(pulled.z < start.z - 5e-4, "{start} {pulled}");
    run(&mut simulation, 5.0);
    let free = nodes(&simulation, "sheet")[20];
    assert!(
        (free.z - start.z).abs() < 0.3 * (start.z - pulled.z),
        "{start} {pulled} {free}"
    );
    // What was left out stays where it was.
    assert_eq!(nodes(&simulation, "sheet")[12], DVec3::new(0.02, 0.0, 0.02));
}

#[test]
fn wrong_edits_are_refused_at_their_place() {
    for (from, to, what) in [
        ("[[6, 7]]", "[[6, 18]]", "no element between"),
        ("without_nodes = [12]", "without_nodes = [99]", "no node 99"),
        (
            "a = 25, b = 11",
            "a = 25, b = { centre = 0 }",
            "no central node 0",
        ),
        (
            "signal = \"beat\", force",
            "signal = \"boat\", force",
            "no signal called",
        ),
        (
            "{ stiffness = 3, limit",
            "{ stiffness = 3, damping = 1, limit",
            "a spring or a damper",
        ),
        (
            "damping = 0.01 }",
            "damping = 0.01, pieces = [[0, 1], [1, 1]] }",
            "law",
        ),
        ("rise = 0.1", "rise = 0", "jumps"),
    ] {
        let why = refused(&EDITED.replace(from, to));
        assert!(why.contains(what), "{what}: {why}");
    }
}

#[test]
fn a_pipe_pulsates_and_yielding_tissue_stays_drawn() {
    let mut vessel = built(
        r#"trocar = 1
[world]
gravity = [0, 0, 0]
[[signal]]
name = "heart"
sine = { rate = 1, phase = -0.25, mean = 0.5, amplitude = 0.5 }
[[pipe]]
name = "vessel"
path = [[0, 0, 0], [0.1, 0, 0]]
radii = [[0.01, 0.01]]
rings = 8
around = 8
fixed = [{ ring = 0 }, { ring = 7 }]
material = { mass = 0.0005, damping = 0.05, stiffness = 40, memory = 1, centre_damping = 2 }
[pipe.edit]
driven = [{ which = "around", rings = [2, 5], drive = { signal = "heart", length = 0.2 } }]
"#,
    );
    let radius = |s: &Simulation| {
        let p = nodes(s, "vessel")[8 + 4 * 8];
        p.y.hypot(p.z)
    };
    run(&mut vessel, 0.5);
    let wide = radius(&vessel);
    run(&mut vessel, 0.5);
    let narrow = radius(&vessel);
    assert!(wide > 0.0103 && narrow < 0.0102, "{wide} {narrow}");

    let drawn = |yields: &str, then: &str| {
        let mut simulation = built(&format!(
            r#"trocar = 1
[world]
gravity = [0, 0, 0]
[[sheet]]
name = "strip"
origin = [0, 0, 0]
u = [0.02, 0, 0]
v = [0, 0, 0.04]
rows = 5
columns = 3
fixed = [{{ ring = 0 }}]
material = {{ mass = 0.001, damping = 0.1, stiffness = 20{yields} }}
[[command]]
at = 0
push = [0, 0, 0.3]
on = {{ tissue = "strip", node = 13 }}
until = 1
{then}"#
        ));
        run(&mut simulation, 3.0);
        nodes(&simulation, "strip")[13].z - 0.04
    };
    assert!(drawn("", "").abs() < 1e-4);
    let yields = ", yields = { strain = 0.1, hardening = 0.5 }";
    let stays = drawn(yields, "");
    assert!(stays > 2e-3);
    let forgets = "[[command]]\nat = 1.5\nunyield = [\"strip\"]\n";
    let back = drawn(yields, forgets);
    // However far it is drawn, it does not yield once more on its way back.
    assert!(back.abs() < 1e-4, "{back} {stays}");
    // Under a load that goes on it yields again, from where it came back to.
    let laden = "[[command]]\nat = 1.5\nunyield = [\"strip\"]\n[[command]]\nat = 2\npush = [0, 0, 0.3]\n\
        on = { tissue = \"strip\", node = 13 }\nuntil = 2.5\n";
    let again = drawn(yields, laden);
    assert!((again / stays - 1.0).abs() < 0.05, "{again} {stays}");
    let said = refused(&format!("{ARM}{forgets}").replace("strip", "arm"));
    assert!(
        said.contains("no tissue called \"arm\" that yields"),
        "{said}"
    );
}

/// Three points in a row that a centre carries, the first fixed; nothing but what is added holds the others.
const ARM: &str = r#"trocar = 1
[world]
gravity = [0, 0, 0]
[[net]]
name = "arm"
points = [[0, 0, 0], [0.02, 0, 0], [0.04, 0, 0], [0.02, 0.02, 0]]
facets = [[0, 1, 3]]
springs = [[0, 1], [1, 2]]
fathers = [-1, -1, -1, 0]
centres = [{ position = [0.02, 0.02, 0.01], mass = 0.01, inertia = [1e-6, 1e-6, 1e-6] }]
fixed = [{ nodes = [0, 1] }]
material = { mass = 0.001, damping = 0.02, stiffness = 50, centre_damping = 0.2, turn_damping = 1e-6 }
[net.edit]
bends = [{ nodes = [0, 1, 2], stiffness = 0.2 }]
torsions = [{ centre = 0, stiffness = 0.002 }]
[[element]]
a = { tissue = "arm", node = { centre = 0 } }
b = { world = [0, 0.02, 0.01] }
answer = { stiffness = 5 }
[[command]]
at = 0
push = [0, 0.05, 0]
on = { tissue = "arm", node = 2 }
until = 20
[[command]]
at = 0
push = [0.1, 0, 0]
on = { tissue = "arm", node = { centre = 0 } }
until = 20
"#;

#[test]
fn single_elements_bend_and_twist_and_central_nodes_are_reached() {
    let mut simulation = built(ARM);
    run(&mut simulation, 8.0);
    let bent = simulation.state().nodes.last().unwrap();
    // The centre hangs on its element alone: Hooke's law.
    assert!(
        (bent.position[0].x - 0.02 - 0.1 / 5.0).abs() < 1e-6,
        "{}",
        bent.position[0]
    );
    // The tip stands where the moment of the push is that of the angle, which is small.
    let raised = bent.position[3].y;
    assert!(raised > 1e-3 && raised < 0.012, "{raised}");
    let mut loose = built(&ARM.replace("stiffness = 0.2 }", "stiffness = 0 }"));
    run(&mut loose, 8.0);
    let hung = loose.state().nodes.last().unwrap().position[3].y;
    assert!(hung > 1.5 * raised, "{hung} {raised}");
    let why = refused(&ARM.replace("nodes = [0, 1, 2]", "nodes = [0, 1, 0]"));
    assert!(why.contains("no angle"), "{why}");
    let why = refused(&ARM.replace("torsions = [{ centre = 0", "torsions = [{ centre = 7"));
    assert!(why.contains("no central node 7"), "{why}");
    let why = refused(&ARM.replace("node = { centre = 0 } }\nb", "node = { centre = 4 } }\nb"));
    assert!(why.contains("no central node 4"), "{why}");
}

#[test]
fn a_tissue_that_is_not_mobile_keeps_its_centres_where_they_are() {
    let text = r#"trocar = 1
[[organ]]
name = "organ"
path = [[0, 0, 0], [0.05, 0, 0]]
radii = [[0.02, 0.02]]
rings = 5
around = 8
material = { mass = 0.0005, damping = 0.05, stiffness = 30, memory = 10, mobile = false }
"#;
    let mut simulation = built(text);
    let before = simulation.state().nodes.last().unwrap().position.clone();
    run(&mut simulation, 1.0);
    let after = &simulation.state().nodes.last().unwrap().position;
    assert_eq!(before[0], after[0]);
    assert!(after[5].y < before[5].y - 1e-5, "its surface sags");
    let mut free = built(&text.replace("mobile = false", "mobile = true"));
    run(&mut free, 1.0);
    assert!(free.state().nodes.last().unwrap().position[0].y < -0.1);
}

/// Two sheets that nothing holds, the second coupled to the first; its mass doubles after a while.
const COUPLED: &str = r#"trocar = 1
[world]
step = 0.001
[[sheet]]
name = "leads"
origin = [0, 0, 0]
u = [0.05, 0, 0]
v = [0, 0, 0.05]
rows = 4
columns = 4
material = { mass = 0.0005, damping = 0.0, stiffness = 20 }
[[sheet]]
name = "follows"
origin = [0, 0, 0.05]
u = [0.05, 0, 0]
v = [0, 0, 0.05]
rows = 4
columns = 4
material = { mass = 0.002, damping = 0.0, stiffness = 20 }
[[couple]]
master = { tissue = "leads", ring = 3 }
slave = { tissue = "follows", ring = 0 }
[[command]]
at = 0.1
set = [{ of = "follows", what = "mass", to = 0.004 }]
"#;

#[test]
fn coupled_tissues_fall_like_a_stone_whatever_their_masses() {
    let mut simulation = built(COUPLED);
    let start = ["leads", "follows"].map(|name| nodes(&simulation, name).to_vec());
    run(&mut simulation, 0.2);
    let fallen = nodes(&simulation, "leads")[0].y - start[0][0].y;
    assert!((fallen + 0.5 * 9.81 * 0.04).abs() < 2e-3, "{fallen}");
    for (name, start) in ["leads", "follows"].into_iter().zip(&start) {
        for (i, (now, then)) in nodes(&simulation, name).iter().zip(start).enumerate() {
            let way = *now - *then;
            assert!(way.distance(DVec3::Y * fallen) < 1e-9, "{name} {i}: {way}");
        }
    }
    // The master bears the mass that its copy has now.
    let names = &simulation.model().names;
    let leads = names.iter().position(|n| n == "leads").unwrap();
    let masses = simulation.model().matters[leads].masses().mass();
    let heavy = masses
        .iter()
        .filter(|m| (**m - 0.0045).abs() < 1e-12)
        .count();
    let light = masses
        .iter()
        .filter(|m| (**m - 0.0005).abs() < 1e-12)
        .count();
    assert_eq!((heavy, light), (4, 12), "{masses:?}");
}

/// Two families, each with a central node; nothing but damping within them.
const CENTRED: &str = r#"trocar = 1
[world]
gravity = [0, 0, 0]
[[net]]
name = "left"
points = [[0, 0.01, 0], [0, -0.01, 0], [0.01, 0, 0.01], [0.01, 0, -0.01]]
facets = [[0, 1, 2], [0, 3, 1]]
fathers = [0, 0, 0, 0]
centres = [{ position = [0, 0, 0] }]
material = { mass = 0.001, damping = 0.05, stiffness = 20, memory = 10, centre_mass = 0.01, centre_damping = 0, turn_damping = 0 }
[[net]]
name = "right"
points = [[0.03, 0.01, 0], [0.03, -0.01, 0], [0.04, 0, 0.01], [0.04, 0, -0.01]]
facets = [[0, 1, 2], [0, 3, 1]]
fathers = [0, 0, 0, 0]
centres = [{ position = [0.03, 0, 0] }]
material = { mass = 0.002, damping = 0.05, stiffness = 20, memory = 10, centre_mass = 0.02, centre_damping = 0, turn_damping = 0 }
[[command]]
at = 0
push = [0.1, 0.05, 0]
on = { tissue = "right", node = 3 }
until = 0.2
"#;

/// Of all tissues; what follows has its mass at its leader.
fn momentum(simulation: &Simulation) -> DVec3 {
    let model = simulation.model();
    let mut sum = DVec3::ZERO;
    for tissue in &model.tissues {
        let matter = &model.matters[tissue.matter.index()];
        let share = &simulation.state().nodes[tissue.matter.index()];
        for i in (0..share.len()).filter(|i| matter.leader(*i as u32).is_none()) {
            sum += share.velocity[i] * matter.masses().mass()[i];
        }
    }
    sum
}

#[test]
fn couples_lead_to_and_from_central_nodes() {
    let mut apart = built(CENTRED);
    run(&mut apart, 0.5);
    let given = momentum(&apart);
    assert!(given.distance(DVec3::new(0.02, 0.01, 0.0)) < 3e-4);
    // Masters, slaves, which nodes these are, and how far they may come apart: copies not at all, ties by their tolerance.
    for (master, slave, pair, apart) in [
        ("centres = [0]", "nodes = [0]", [0, 1], 0.0),
        ("nodes = [2]", "centres = [0]", [3, 0], 1e-6),
        ("centres = [0]", "centres = [0]", [0, 0], 1e-6),
    ] {
        let text = format!(
            "{CENTRED}[[couple]]\nmaster = {{ tissue = \"left\", {master} }}\nslave = {{ tissue = \"right\", {slave} }}\n"
        );
        let mut simulation = built(&text);
        let together = |simulation: &Simulation| {
            nodes(simulation, "left")[pair[0]].distance(nodes(simulation, "right")[pair[1]])
        };
        // The slave was moved onto its master.
        assert!(together(&simulation) < 1e-15, "{master} {slave}");
        for _ in 0..5 {
            run(&mut simulation, 0.1);
            let now = together(&simulation);
            assert!(now <= apart, "{master} {slave}: {now}");
        }
        // All momentum that was given is there: what follows took its leader along.
        let there = momentum(&simulation);
        assert!(there.distance(given) < 1e-9, "{master} {slave}: {there}");
        assert!(nodes(&simulation, "left")[0].x > 1e-3);
        let slaves = (0..5).filter(|n| {
            let flags = simulation.flags(1, *n).unwrap();
            flags.has(trocar_soft::NodeFlags::SLAVE)
        });
        assert_eq!(slaves.count(), 1);
    }
    // A body holds one, too.
    let text = format!(
        "{CENTRED}[[body]]\nname = \"plate\"\nposition = [0.03, 0, 0]\nmotion = \"kinematic\"\nmass = 1\nhalf_extents = [0.005, 0.005, 0.005]\ncollide = false\n\
         [[couple]]\nmaster = {{ body = \"plate\" }}\nslave = {{ tissue = \"right\", centres = [0] }}\n"
    );
    let mut simulation = built(&text);
    run(&mut simulation, 0.5);
    let held = nodes(&simulation, "right")[0];
    assert!(held.distance(DVec3::X * 0.03) < 1e-6, "{held}");
}

#[test]
fn central_nodes_that_can_not_follow_are_refused() {
    let couple = |master: &str, slave: &str, more: &str| {
        format!(
            "{CENTRED}[[couple]]\nmaster = {{ tissue = \"left\", {master} }}\nslave = {{ tissue = \"right\", {slave} }}\n{more}"
        )
    };
    for (text, why) in [
        (
            couple("nodes = [0]", "centres = [0]", "force_factor = 0.5"),
            "gives all of its force",
        ),
        (
            couple("centres = [4]", "nodes = [0]", ""),
            "no central node 4",
        ),
        (
            couple("centres = [0, 0]", "nodes = [0, 1]", ""),
            "named twice",
        ),
        (
            couple("centres = [0]", "nodes = [0], centres = [0]", ""),
            "Give one of",
        ),
        (
            couple("nodes = [0]", "centres = [0]", "")
                .replace("centre_mass = 0.02,", "centre_mass = 0.02, mobile = false,"),
            "locked and can't follow",
        ),
    ] {
        let said = refused(&text);
        assert!(said.contains(why), "{why}: {said}");
    }
}

/// A sheet, of which single things are written as the source writes them.
const MARKED: &str = r#"trocar = 1
[world]
gravity = [0, -9.81, 0]
[[sheet]]
name = "sheet"
origin = [0, 0, 0]
u = [0.04, 0, 0]
v = [0, 0, 0.04]
rows = 5
columns = 5
fixed = [{ ring = 0 }]
material = { mass = 0.001, damping = 0.05, stiffness = 20, memory = 2 }
[sheet.edit]
nodes = [NODES]
elements = [ELEMENT]
[[element]]
a = { tissue = "sheet", node = 24 }
GLOBAL
[[command]]
at = 0
push = [0, 0, 0.001]
on = { tissue = "sheet", node = 8 }
until = 0.1
"#;

fn marked(nodes: &str, element: &str, global: &str) -> String {
    MARKED
        .replace("NODES", nodes)
        .replace("ELEMENT", element)
        .replace("GLOBAL", global)
}

#[test]
fn type_bits_of_the_source_say_what_words_say() {
    let words = marked(
        "",
        "{ a = 0, b = 20, answer = { stiffness = 30, dead = [0, 1e-5], limit = [0, inf] } }",
        "answer = { damping = 0.02 }",
    );
    let bits = marked(
        "",
        "{ a = 0, b = 20, answer = { bits = 0x51, constant = 30, parameter = 1e-5 } }",
        "answer = { bits = 0x101, constant = 0.02 }",
    );
    let (mut a, mut b) = (built(&words), built(&bits));
    run(&mut a, 0.5);
    run(&mut b, 0.5);
    assert_eq!(nodes(&a, "sheet"), nodes(&b, "sheet"));
    // They act: without them it hangs otherwise.
    let mut plain = built(&words.replace("stiffness = 30", "stiffness = 0"));
    run(&mut plain, 0.5);
    assert!(nodes(&plain, "sheet") != nodes(&a, "sheet"));
    for (answer, why) in [
        ("{ bits = 0x8, constant = 1 }", "no meaning"),
        ("{ bits = 0x3, constant = 1 }", "linear and quadratic"),
        ("{ bits = 0x1 }", "how strong"),
        ("{ bits = 0x1, constant = 1, stiffness = 2 }", "how strong"),
        ("{ bits = 0x200, constant = 1 }", "edit.torsions"),
        ("{ bits = 0x400, constant = 1 }", "edit.bends"),
        ("{ stiffness = 1, parameter = 1 }", "belong to `bits`"),
    ] {
        let element = format!("{{ a = 0, b = 20, answer = {answer} }}");
        let said = refused(&marked("", &element, "answer = { damping = 0.02 }"));
        assert!(
            said.contains(why) && said.contains("test.toml"),
            "{answer}: {said}"
        );
    }
}

#[test]
fn nodes_are_marked_and_tell_what_is_done_to_them() {
    use trocar_soft::NodeFlags;
    let global = "answer = { damping = 0.02 }";
    let text = marked(
        "{ node = 5, cut_mark = true }, { node = 6, bits = 0x30800 }, { node = 7, bits = 0x1000 }",
        "",
        global,
    );
    let mut simulation = built(&text);
    let flags = |simulation: &Simulation, node: u32| simulation.flags(0, node).unwrap();
    assert!(flags(&simulation, 5).has(NodeFlags::CUT_MARK));
    assert_eq!(flags(&simulation, 6).0, 0x30800);
    assert_eq!(flags(&simulation, 7), NodeFlags::NOT_INTERACTIVE);
    assert!(flags(&simulation, 24).has(NodeFlags::GLOBAL_ELEMENT));
    assert!(flags(&simulation, 0).has(NodeFlags::FIXED));
    assert_eq!(simulation.flags(0, 25), None);
    assert_eq!(simulation.flags(1, 0), None);
    // A force is put in while the command pushes, and no longer (K149).
    run(&mut simulation, 0.05);
    assert!(flags(&simulation, 8).has(NodeFlags::FORCE_INPUT));
    assert!(!flags(&simulation, 9).has(NodeFlags::FORCE_INPUT));
    let mut insight = Insight::default();
    let wanted = Views {
        nodes: true,
        ..Views::default()
    };
    simulation.insight(wanted, &mut insight);
    let count = |state| insight.nodes.iter().filter(|n| n.state == state).count();
    assert_eq!((count(NodeState::Marked), count(NodeState::Pulled)), (2, 1));
    run(&mut simulation, 0.1);
    assert!(!flags(&simulation, 8).has(NodeFlags::FORCE_INPUT));
    for (node, why) in [
        ("{ node = 5, bits = 0x1 }", "what is being done to it"),
        ("{ node = 5, bits = 0x800, mark = 3 }", "by name"),
        ("{ node = 5, bits = 0x2, clipped = true }", "by name"),
        ("{ node = 5, inertia = \"none\" }", "does not turn"),
    ] {
        let said = refused(&marked(node, "", global));
        assert!(said.contains(why), "{node}: {said}");
    }
}

/// Two points that nothing joins, at rest where weight and memory are in balance.
const ALONE: &str = r#"trocar = 1
[[net]]
name = "points"
points = [[0, 0, 0], [0.02, 0, 0]]
springs = []
edit = { nodes = [{ node = 0, EDIT }] }
material = { mass = 0.01, damping = 0.2, stiffness = 0, memory = 40 }
"#;

#[test]
fn single_nodes_remember_a_shape_of_their_own() {
    let weight = 0.01 * 9.81;
    let linear = DVec3::NEG_Y * (weight / 40.0);
    // Each edit alone, and by how far weight draws the node from where it was built.
    for (edit, wanted) in [
        ("memory = 40", linear),
        ("memory = 10", linear * 4.0),
        (
            "base = [0.004, 0.01, -0.002]",
            linear + DVec3::new(0.004, 0.01, -0.002),
        ),
        (
            "memory_law = \"quadratic\"",
            DVec3::NEG_Y * (weight / 40.0).sqrt(),
        ),
        (
            "memory = 900, memory_law = \"quadratic\", base = [0, 0.01, 0]",
            DVec3::Y * (0.01 - (weight / 900.0).sqrt()),
        ),
    ] {
        let mut simulation = built(&ALONE.replace("EDIT", edit));
        run(&mut simulation, 6.0);
        let now = nodes(&simulation, "points");
        assert!(
            now[0].distance(wanted) < 1e-7,
            "{edit}: {} {wanted}",
            now[0]
        );
        // The other one is as the material says.
        let other = DVec3::X * 0.02 + linear;
        assert!(now[1].distance(other) < 1e-7, "{edit}: {}", now[1]);
    }
    // The law can be changed while it runs.
    let own = built(&ALONE.replace("EDIT", "memory_law = \"quadratic\""));
    let law = own
        .parameters()
        .iter()
        .position(|p| p.name == "node 0 memory law");
    assert!(law.is_some());
}

/// K27: none, of a box by its mass, or three moments.
#[test]
fn a_central_node_has_the_inertia_it_is_given() {
    let inertia = |more: &str| {
        let text = format!("{CENTRED}\n").replacen(
            "material =",
            &format!("edit = {{ nodes = [{{ node = {{ centre = 0 }}{more} }}] }}\nmaterial ="),
            1,
        );
        let simulation = built(&text);
        let matter = simulation.model().tissues[0].matter;
        simulation.model().matters[matter.index()].masses().rigid()[0].inertia
    };
    let usual = inertia("").unwrap();
    assert!(usual.min_element() > 0.0);
    assert_eq!(inertia(", inertia = \"none\""), None);
    assert_eq!(inertia(", inertia = \"box\""), Some(usual));
    assert_eq!(
        inertia(", inertia = [1e-5, 2e-5, 3e-5]"),
        Some(DVec3::new(1e-5, 2e-5, 3e-5))
    );
    // Nor does it lose it when it is moved onto what it follows.
    let coupled = |inertia: &str| {
        let edit = format!(
            "edit = {{ nodes = [{{ node = {{ centre = 0 }}, inertia = {inertia} }}] }}\nmaterial ="
        );
        let text = CENTRED.replacen("material =", &edit, 1);
        let text = format!(
            "{text}[[couple]]\nmaster = {{ world = [[0.5, 0, 0]] }}\nslave = {{ tissue = \"left\", centres = [0] }}\n"
        );
        let simulation = built(&text);
        let matter = simulation.model().tissues[0].matter;
        simulation.model().matters[matter.index()].masses().rigid()[0].inertia
    };
    assert_eq!(coupled("[1e-5, 2e-5, 3e-5]").unwrap().y, 2e-5);
    assert_eq!(coupled("\"none\""), None);
    assert!(coupled("\"box\"").unwrap().max_element() > usual.max_element());
    // Given with the node itself, it stays as well.
    let arm = "[[couple]]\nmaster = { world = [[0.5, 0, 0]] }\nslave = { tissue = \"arm\", centres = [0] }\n";
    let simulation = built(&format!("{ARM}{arm}"));
    let matter = simulation.model().tissues[0].matter;
    let rigid = simulation.model().matters[matter.index()].masses().rigid()[0];
    assert_eq!(rigid.inertia, Some(DVec3::splat(1e-6)));
    // As heavy as three: the box resists three times as much.
    let heavy = inertia(", mass = 0.03").unwrap();
    assert!(heavy.distance(usual * 3.0) < 1e-12 * heavy.length());
}

/// K58: what matters less may be a net, a rigid body, or only places in space; the tissue that matters hangs alike.
#[test]
fn the_scene_may_be_modelled_in_grades_of_detail() {
    let text = |more: &str| {
        format!(
            r#"trocar = 1
[[sheet]]
name = "sheet"
origin = [0, 0, 0]
u = [0.04, 0, 0]
v = [0, 0, 0.04]
rows = 5
columns = 5
material = {{ mass = 0.001, damping = 0.05, stiffness = 20 }}
{more}"#
        )
    };
    let net = r#"[[sheet]]
name = "wall"
origin = [0, 0, -0.04]
u = [0.04, 0, 0]
v = [0, 0, 0.04]
rows = 5
columns = 5
fixed = [{ ring = 0 }, { ring = 1 }, { ring = 2 }, { ring = 3 }]
material = { mass = 0.01, damping = 0.5, stiffness = 2000, memory = 2000 }
[[couple]]
master = { tissue = "wall", ring = 4 }
slave = { tissue = "sheet", ring = 0 }
"#;
    let body = r#"[[body]]
name = "wall"
position = [0.02, 0, -0.02]
motion = "kinematic"
mass = 1
half_extents = [0.02, 0.005, 0.02]
collide = false
[[couple]]
master = { body = "wall" }
slave = { tissue = "sheet", ring = 0 }
"#;
    let places = text("").replace("material", "fixed = [{ ring = 0 }]\nmaterial");
    let mut sag = Vec::new();
    let mut masses = Vec::new();
    for text in [text(net), text(body), places] {
        let mut simulation = built(&text);
        run(&mut simulation, 4.0);
        let matters = simulation.model().matters.iter();
        masses.push(matters.map(|m| m.masses().len()).sum::<usize>());
        sag.push(nodes(&simulation, "sheet")[22].y);
    }
    // Each grade is simpler, and tells nearly the same of what matters.
    assert!(
        masses[0] > masses[1] && masses[1] >= masses[2],
        "{masses:?}"
    );
    assert!(sag[2] < -0.01, "{sag:?}");
    for y in &sag {
        assert!((y / sag[2] - 1.0).abs() < 0.05, "{sag:?}");
    }
}

/// K71: nets and copies alone are stepped without any iteration, however wildly they are pushed.
#[test]
fn nets_alone_never_iterate() {
    let text = format!(
        "{CENTRED}[[couple]]\nmaster = {{ tissue = \"left\", nodes = [2] }}\nslave = {{ tissue = \"right\", nodes = [0] }}\n"
    )
    .replace("push = [0.1, 0.05, 0]", "push = [9, -5, 7]");
    let mut simulation = built(&text);
    let input = simulation.idle_input();
    let substeps = simulation.step(&input).substeps;
    for _ in 0..200 {
        let report = simulation.step(&input);
        assert_eq!((report.aim.iterations, report.correct.iterations), (0, 0));
        assert_eq!((report.substeps, report.halvings), (substeps, 0));
    }
}

#[test]
fn what_is_too_stiff_is_named() {
    let global = "answer = { damping = 0.02 }";
    for (nodes, element, why) in [
        (
            "",
            "{ a = 6, b = 18, answer = { stiffness = 1e9 } }",
            "the stiffest part is element 72 of sheet, between node 6 and node 18",
        ),
        (
            "",
            "{ a = 6, b = 18, answer = { damping = 5e5 } }",
            "the stiffest part is element 72 of sheet, between node 6 and node 18",
        ),
        (
            "{ node = 11, memory = 1e9 }",
            "",
            "the stiffest part is the shape memory of node 11 of sheet",
        ),
    ] {
        let said = refused(&marked(nodes, element, global));
        assert!(said.contains(why), "{why}: {said}");
    }
    // An element that leads away is itself to blame, and stands where it is written.
    for answer in ["stiffness = 1e9", "damping = 5e5"] {
        let text = marked("", "", &format!("answer = {{ {answer} }}"));
        let said = refused(&text);
        assert!(
            said.contains("the stiffest part is [[element]] 0"),
            "{said}"
        );
        let line = text.lines().position(|l| l == "[[element]]").unwrap() + 1;
        assert!(said.starts_with(&format!("test.toml:{line}:")), "{said}");
    }
    for (soft, stiff, why) in [
        (
            "nodes = [0, 1, 2], stiffness = 0.2",
            "nodes = [0, 1, 2], stiffness = 1e7",
            "the stiffest part is bending element 0 of arm, at node 1",
        ),
        (
            "centre = 0, stiffness = 0.002",
            "centre = 0, stiffness = 1e6",
            "the stiffest part is torsion element 0 of arm, at central node 0",
        ),
    ] {
        let said = refused(&ARM.replace(soft, stiff));
        assert!(said.contains(why), "{why}: {said}");
    }
}

/// What was left out stays out, whatever `fixed` selects.
#[test]
fn a_node_that_is_left_out_does_not_come_alive_again() {
    let text = MARKED
        .replace(
            "fixed = [{ ring = 0 }]",
            "fixed = [{ ring = 0, axes = [1, 1, 0] }]",
        )
        .replace(
            "nodes = [NODES]\nelements = [ELEMENT]",
            "without_nodes = [0]",
        )
        .replace("GLOBAL", "answer = { damping = 0.02 }");
    let mut simulation = built(&text);
    let before = nodes(&simulation, "sheet")[0];
    run(&mut simulation, 0.5);
    let after = nodes(&simulation, "sheet");
    assert_eq!(after[0], before);
    assert!(
        after[1].y < before.y - 1e-3,
        "its neighbour falls as it may"
    );
    assert!(simulation.flags(0, 0).unwrap().has(NodeFlags::FIXED));
}

/// A node is fixed in space if nothing can move it, whoever said so (K26, K56).
#[test]
fn whatever_cannot_move_is_flagged_as_fixed() {
    let text = marked(
        "{ node = 11, axes = [0, 0, 0] }, { node = 12, axes = [1, 0, 0] }",
        "",
        "answer = { damping = 0.02 }",
    );
    let simulation = built(&text);
    let fixed = |n: u32| simulation.flags(0, n).unwrap().has(NodeFlags::FIXED);
    assert!(fixed(0) && fixed(4) && fixed(11) && !fixed(12) && !fixed(13));
}

/// Facets that edits or couples have flattened are refused as those that are flat in the file.
#[test]
fn facets_must_have_area_after_edits_and_couples() {
    let answer = "answer = { damping = 0.02 }";
    // Node 12 onto its neighbour 13.
    let said = refused(&marked(
        "{ node = 12, position = [0.03, 0, 0.02] }",
        "",
        answer,
    ));
    assert!(
        said.contains("of sheet, of nodes") && said.contains("no area"),
        "{said}"
    );
    let couple = "[[couple]]\nmaster = { world = [[0, 0, 0.04], [0, 0, 0.04], [0, 0, 0.04]] }\nslave = { tissue = \"sheet\", nodes = [20, 21, 15] }\n";
    let said = refused(&format!("{}{couple}", marked("", "", answer)));
    assert!(
        said.contains("of sheet, of nodes") && said.contains("no area"),
        "{said}"
    );
}

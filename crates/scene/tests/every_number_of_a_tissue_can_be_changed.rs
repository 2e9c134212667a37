//! Every number that a scene file may say of tissues, and of the world they are in, is a parameter that can be changed while the scene runs (K13), or stands in a list here with
//! the reason why not. New fields of the file are in neither, and are missed by these tests.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::built;
use trocar_scene::{Change, Simulation, event::Happening};

/// A scene in which everything is said that can be.
const SCENE: &str = r#"trocar = 1
[world]
step = 0.002
[[signal]]
name = "beat"
sine = { rate = 2.0, amplitude = 0.5 }
[[pipe]]
name = "pipe"
path = [[0, 0.1, 0], [0.06, 0.1, 0]]
radii = [[0.01, 0.01]]
rings = 4
around = 6
fixed = [{ ring = 0 }, { ring = 1, axes = [0.5, 1, 1] }]
material = { mass = 0.001, damping = 0.1, stiffness = 20, yields = { strain = 0.5 }, memory = 5, centre_mass = 0.01, centre_damping = 0.5, centre_stiffness = 10, torsion = 0.001, bending = 0.001, brace = 0.001, friction = [0.5, 0.4], ground = 0.0, contact_thickness = 0.002 }
[pipe.edit]
nodes = [
  { node = 3, clipped = false, cut = false, divided = false, coagulated = false, mass = 0.002, damping = 0.1, memory = 4, memory_law = "linear", axes = [1, 1, 1], touchable = true, mark = 3, cut_mark = false, base = [0, 0.101, 0.01] },
  { node = 4, bits = 0x800 },
  { node = { centre = 2 }, turn_damping = 0.001, inertia = [1e-6, 1e-6, 1e-6] },
]
[[pipe]]
name = "other"
path = [[0.06, 0.1, 0], [0.12, 0.1, 0]]
radii = [[0.01, 0.01]]
rings = 4
around = 6
material = { mass = 0.001, damping = 0.1, stiffness = 20, memory = 5, centre_stiffness = 10 }
[[couple]]
master = { tissue = "pipe", ring = 3 }
slave = { tissue = "other", ring = 0 }
[[element]]
a = { tissue = "other", node = 23 }
b = { world = [0.12, 0.2, 0] }
answer = { stiffness = 5 }
rest_length = 0.1
shorten = 0.1
drive = { signal = "beat", force = 0.01 }
[[body]]
name = "block"
half_extents = [0.01, 0.01, 0.01]
mass = 0.1
position = [0, -0.5, 0]
damping = 0.1
rest_stiffness = 5
"#;

/// The fields of one of the structures that a scene file consists of.
fn fields(of: &str) -> Vec<String> {
    let schema = serde_json::to_value(trocar_scene::file::schema()).unwrap();
    let found = schema["$defs"][of]["properties"].as_object();
    let found = found.unwrap_or_else(|| panic!("no {of} in the schema"));
    found.keys().cloned().collect()
}

/// Demands of every field of a structure that one of `names` says which parameter it is, or `never` why there is none.
fn every_field_is_known(
    of: &str,
    group: &str,
    prefix: &str,
    names: &[(&str, &str)],
    never: &[(&str, &str)],
) {
    every_field_is_known_in(SCENE, of, (group, prefix), names, never);
}

/// The same in a scene.
fn every_field_is_known_in(
    scene: &str,
    of: &str,
    (group, prefix): (&str, &str),
    names: &[(&str, &str)],
    never: &[(&str, &str)],
) {
    let simulation = built(scene);
    let known: Vec<&str> = simulation
        .parameters()
        .iter()
        .filter(|p| p.group == group)
        .map(|p| p.name.as_str())
        .collect();
    let fields = fields(of);
    for field in &fields {
        let said = names.iter().find(|n| n.0 == field.as_str());
        let usual = field.replace('_', " ");
        let name = format!("{prefix}{}", said.map_or(usual.as_str(), |n| n.1));
        let is_known = known.contains(&name.as_str());
        let reason = never.iter().find(|n| n.0 == field.as_str());
        assert_ne!(
            is_known,
            reason.is_some(),
            "{of}.{field}: the parameter \"{name}\" is {} among {known:?}, and the reason against it {reason:?}",
            if is_known { "" } else { "not" },
        );
    }
    for (field, _) in names.iter().chain(never) {
        assert!(fields.iter().any(|f| f == field), "{of} has no {field}");
    }
}

#[test]
fn of_a_material() {
    every_field_is_known(
        "MaterialSpec",
        "pipe",
        "",
        &[
            ("gain", "gain when shorter"),
            ("dead", "dead when longer"),
            ("limit", "greatest pull"),
            ("yields", "yield strain"),
            ("friction", "sliding friction"),
        ],
        &[
            ("net", "another net has other elements"),
            ("flags", "each of its bits is a parameter"),
            ("source", "a text"),
        ],
    );
}

#[test]
fn of_a_single_node() {
    every_field_is_known(
        "NodeSpec",
        "pipe",
        "node 3 ",
        &[("axes", "free along y"), ("base", "memory at y")],
        &[
            ("node", "says which"),
            ("father", "whom it belongs to"),
            ("position", "where it was built"),
            ("bits", "the same as the marks; see below"),
            // Of central nodes: see below.
            ("turn_damping", "not of a point"),
            ("inertia", "not of a point"),
        ],
    );
    let simulation = built(SCENE);
    let of_bits = |p: &trocar_scene::Parameter| p.name == "node 4 bits";
    assert!(simulation.parameters().iter().any(of_bits));
    for name in ["turn damping", "moment about x"] {
        let found = |p: &trocar_scene::Parameter| p.name.contains(name) && p.name.contains("centr");
        assert!(
            simulation.parameters().iter().any(found),
            "{name} of a central node"
        );
    }
}

#[test]
fn of_a_couple_an_element_and_the_world() {
    let never = [("master", "what is joined"), ("slave", "what is joined")];
    every_field_is_known("Couple", "couple 0", "", &[], &never);
    every_field_is_known(
        "GlobalSpec",
        "element 0",
        "",
        &[("answer", "stiffness"), ("drive", "drive force")],
        &[
            ("a", "what is joined"),
            ("b", "what is joined"),
            ("middle", "what is joined"),
            (
                "bend",
                "of one that bends: elements_of_every_kind_join_things",
            ),
            ("torsion", "of one that turns back: likewise"),
        ],
    );
    every_field_is_known(
        "World",
        "world",
        "",
        &[("gravity", "gravity y")],
        &[
            ("step", "recordings and commands count by it"),
            ("reach", "what was checked when the scene was built"),
            ("solver", "of joints and contacts"),
            ("tolerance", "of joints and contacts"),
            ("velocity_tolerance", "of joints and contacts"),
            ("correct_velocities", "of joints and contacts"),
            ("order", "of joints and contacts"),
            ("iterations", "of joints and contacts"),
            ("sweeps", "of joints and contacts"),
            ("contact_tolerance", "of joints and contacts"),
            ("contact_velocity_tolerance", "of joints and contacts"),
            ("shock", "of joints and contacts"),
            ("turning", "of bodies"),
            ("sleep", "of bodies"),
        ],
    );
}

fn step(simulation: &mut Simulation, changes: &[(&str, &str, f64)]) -> Vec<Happening> {
    let mut input = simulation.idle_input();
    for (group, name, value) in changes {
        let list = simulation.parameters();
        let found = list
            .iter()
            .position(|p| p.group == *group && p.name == *name);
        let parameter = found.unwrap_or_else(|| panic!("{group}: {name}")) as u32;
        input.changes.push(Change {
            parameter,
            value: *value,
        });
    }
    let report = simulation.step(&input);
    report.events.iter().map(|e| e.what.clone()).collect()
}

/// A box that slides down a slope of tissue; FRICTION and ADAPTIVE are said.
const SLOPE: &str = r#"trocar = 1
[world]
step = 0.002
gravity = [3, -9, 0]
adaptive = ADAPTIVE
[[sheet]]
name = "slope"
origin = [-0.1, 0, -0.05]
u = [0.3, 0, 0]
v = [0, 0, 0.1]
rows = 5
columns = 9
fixed = [{ ring = 0 }, { ring = 4 }]
material = { mass = 0.002, damping = 0.1, stiffness = 200, memory = 200, friction = FRICTION }
[[body]]
name = "box"
mass = 0.02
half_extents = [0.02, 0.005, 0.02]
position = [0, 0.0055, 0]
friction = [0.4, 0.4]
"#;

/// Where the box is after half a second, with changes before the first step, and where everything is.
fn slid(friction: &str, adaptive: &str, changes: &[(&str, &str, f64)]) -> (f64, Vec<glam::DVec3>) {
    let text = SLOPE
        .replace("FRICTION", friction)
        .replace("ADAPTIVE", adaptive);
    let mut simulation = built(&text);
    let told = step(&mut simulation, changes);
    let refused = |e: &Happening| matches!(e, Happening::Refused { .. });
    assert!(!told.iter().any(refused), "{told:?}");
    for _ in 0..249 {
        step(&mut simulation, &[]);
    }
    let bodies = simulation.model().bodies.unwrap();
    let x = simulation.state().nodes[bodies.index()].position[0].x;
    let all = simulation.state().nodes.iter().flat_map(|n| &n.position);
    (x, all.copied().collect())
}

#[test]
fn friction_and_adaptive_substeps_are_as_if_the_scene_said_so() {
    let rough = slid("[0.9, 0.9]", "false", &[]);
    let smooth = slid("[0.01, 0.01]", "false", &[]);
    assert!(smooth.0 > rough.0 + 0.05, "{} {}", smooth.0, rough.0);
    let changes = [
        ("slope", "static friction", 0.01),
        ("slope", "sliding friction", 0.01),
    ];
    assert_eq!(slid("[0.9, 0.9]", "false", &changes), smooth);
    let follows = slid("[0.01, 0.01]", "true", &[]);
    assert_eq!(
        slid("[0.01, 0.01]", "false", &[("world", "adaptive", 1.0)]),
        follows
    );
    // What slides more than it sticks is refused.
    let text = SLOPE
        .replace("FRICTION", "[0.5, 0.4]")
        .replace("ADAPTIVE", "true");
    let mut simulation = built(&text);
    let told = step(&mut simulation, &[("slope", "sliding friction", 0.6)]);
    assert!(matches!(&told[..], [Happening::Refused { .. }]), "{told:?}");
}

#[test]
fn of_what_holds_nodes() {
    every_field_is_known(
        "Select",
        "pipe",
        "fixed 1 ",
        &[("axes", "free along x")],
        &[
            ("ring", "says which"),
            ("nodes", "says which"),
            ("within", "says which"),
        ],
    );
    every_field_is_known(
        "Body",
        "body block",
        "",
        &[("friction", "static friction")],
        &[
            ("name", "a name"),
            ("motion", "what goes its own way can't be told its way"),
            ("position", "where it starts"),
            ("rotation", "as that"),
            ("velocity", "as that"),
            ("spin", "as that"),
            ("form", "its form"),
            ("half_extents", "its form"),
            ("grid", "worked out from its form at the start"),
            ("density", "its mass says it"),
            ("inertia", "grows with its mass"),
            ("colour", "a look"),
            ("collide", "the pairs that touch are found at the start"),
        ],
    );
}

/// A net in which everything is said of elements, signals, central nodes and added nodes.
const NET: &str = r#"trocar = 1
[world]
step = 0.002
[[signal]]
name = "beat"
sine = { rate = 2.0, amplitude = 0.5 }
[[signal]]
name = "pulse"
pulse = { period = 1.0, rise = 0.15, hold = 0.2, fall = 0.3 }
[[signal]]
name = "table"
table = [[0, 0], [1, 1]]
[[net]]
name = "net"
points = [[0, 0, 0], [0.02, 0, 0], [0.02, 0.02, 0], [0, 0.02, 0], [0.01, 0.01, 0.02]]
facets = [[0, 1, 2], [0, 2, 3]]
centres = [
  { position = [0.01, 0.01, -0.01], mass = 0.02, inertia = [1e-5, 1e-5, 1e-5] },
  { name = "upper", position = [0.01, 0.01, 0.01], father = "0", mass = 0.02, inertia = [1e-5, 1e-5, 1e-5], memory = 50 },
]
fathers = [0, 0, 0, 0, 1]
material = { mass = 0.001, damping = 0.1, stiffness = 20, memory = 5 }
[net.edit]
add_centres = [{ position = [0.01, 0, 0], mass = 0.02, inertia = [1e-5, 1e-5, 1e-5], father = "0", memory = 20 }]
add_nodes = [{ position = [0.01, 0.01, 0.005], mass = 0.001, damping = 0.1, memory = 1, father = 0 }]
elements = [
  { a = 0, b = 1, rest_length = 0.02, shorten = 0.1, answer = { stiffness = 5, gain = [1, 1], dead = [0.001, 0.001], limit = [1, 1] }, drive = { signal = "beat", force = 0.01 } },
  { a = 0, b = 4, answer = { damping = 0.01 } },
  { a = 1, b = 4, answer = { stiffness = 5, pieces = [[-0.01, -0.01], [0, 0], [0.01, 0.01]] }, drive = { signal = "pulse", length = 0.1 } },
  { a = 2, b = 4, answer = { bits = 0x51, constant = 5, parameter = 0.001 } },
  { a = 3, b = 4, answer = { stiffness = 5 }, drive = { signal = "table", stiffness = 0.5 } },
  { a = 5, b = 4, answer = { stiffness = 5, yields = { strain = 0.3, hardening = 0.2, most = 0.5 } } },
]
bends = [{ nodes = [0, 1, 2], stiffness = 0.001 }]
torsions = [{ centre = 0, stiffness = 0.0001 }]
"#;

#[test]
fn of_single_elements() {
    let known = |of: &str, prefix: &str, names: &[(&str, &str)], never: &[(&str, &str)]| {
        every_field_is_known_in(NET, of, ("net", prefix), names, never);
    };
    known(
        "ElementSpec",
        "element 0 ",
        &[("answer", "stiffness"), ("drive", "drive force")],
        &[("a", "what is joined"), ("b", "what is joined")],
    );
    known(
        "AnswerSpec",
        "",
        &[
            ("stiffness", "element 0 stiffness"),
            ("damping", "element 1 damping"),
            ("law", "element 0 law"),
            ("gain", "element 0 gain when shorter"),
            ("dead", "element 0 dead when longer"),
            ("limit", "element 0 greatest pull"),
            ("pieces", "element 2 piece 1 gives"),
            ("yields", "element 5 yield strain"),
            ("constant", "element 3 constant"),
            ("parameter", "element 3 parameter"),
        ],
        &[("bits", "which law it is: another one has other numbers")],
    );
    known("YieldSpec", "element 5 yield ", &[], &[]);
    known(
        "ActiveSpec",
        "",
        &[
            ("force", "element 0 drive force"),
            ("length", "element 2 drive length"),
            ("stiffness", "element 4 drive stiffness"),
        ],
        &[("signal", "what drives it")],
    );
    known("BendSpec", "bend 0 ", &[], &[("nodes", "says which")]);
    let never = [("centre", "says which"), ("along", "says which")];
    known("TorsionSpec", "torsion 0 ", &[], &never);
}

#[test]
fn of_signals() {
    let known = |of: &str, group: &str, names: &[(&str, &str)], never: &[(&str, &str)]| {
        every_field_is_known_in(NET, of, (group, ""), names, never);
    };
    known(
        "SignalSpec",
        "signal table",
        &[("table", "value 1")],
        &[
            ("name", "a name"),
            ("sine", "its numbers are below"),
            ("pulse", "its numbers are below"),
        ],
    );
    known("SineSpec", "signal beat", &[], &[]);
    known("PulseSpec", "signal pulse", &[], &[]);
}

#[test]
fn of_added_nodes_and_central_nodes() {
    let never = [
        ("position", "where it was built"),
        ("father", "whom it belongs to"),
    ];
    every_field_is_known_in(NET, "FreeNodeSpec", ("net", "added node 0 "), &[], &never);
    let never = [never[0], never[1], ("name", "a name")];
    for prefix in ["own centre 1 ", "added centre 0 "] {
        let names = [("inertia", "moment about y")];
        every_field_is_known_in(NET, "CentreSpec", ("net", prefix), &names, &never);
    }
}

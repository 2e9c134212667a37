//! Nodes that a file adds are nodes like others: they can be coupled (K22), and central nodes among them make families of any depth (K48, K76).

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::{built, is_sound};
use glam::DVec3;
use trocar_dynamics::{Lock, Matter};
use trocar_scene::{Scene, Simulation};
use trocar_soft::Net;

/// An organ of 8 rings of 8 and two poles (nodes 0 to 65) with one central node; EDIT is said of it, MORE is beside it.
const SCENE: &str = r#"trocar = 1
[world]
step = 0.002
gravity = [0, 0, 0]
[[organ]]
name = "organ"
path = [[-0.04, 0, 0], [0, 0, 0], [0.04, 0, 0]]
radii = [[0.02, 0.02]]
rings = 8
around = 8
material = { mass = 0.0005, damping = 0.02, stiffness = 20, memory = 20, centre_mass = 0.05, centre_damping = 0.1 }
[organ.edit]
EDIT
MORE
"#;

fn scene(edit: &str, more: &str) -> String {
    SCENE.replace("EDIT", edit).replace("MORE", more)
}

fn net<'a>(simulation: &'a Simulation, name: &str) -> (&'a Net, &'a trocar_dynamics::Nodes) {
    let model = simulation.model();
    let tissue = model.tissues.iter().find(|t| t.name == name).unwrap();
    let place = tissue.matter.index();
    let any: &dyn std::any::Any = &*model.matters[place];
    (
        any.downcast_ref().unwrap(),
        &simulation.state().nodes[place],
    )
}

fn run(simulation: &mut Simulation, steps: usize) {
    let input = simulation.idle_input();
    for _ in 0..steps {
        simulation.step(&input);
    }
}

fn problem(text: &str) -> String {
    let scene = Scene::from_text("test.toml", text);
    let refused = scene.and_then(|scene| Simulation::new(&scene, 1));
    refused.err().unwrap().to_string()
}

/// A node inside an organ, held by elements to its surface, leads another tissue, follows it, or is tied to a body.
#[test]
fn added_nodes_are_coupled() {
    let edit = "add_nodes = [{ position = [0, 0, 0.005] }]\n\
        elements = [{ a = 66, b = 0, answer = { stiffness = 10 } }, { a = 66, b = 40, answer = { stiffness = 10 } }]";
    let sheet = "[[sheet]]\nname = \"sheet\"\norigin = [0, 0, 0.005]\nu = [0.02, 0, 0]\nv = [0, 0.02, 0]\nrows = 3\ncolumns = 3\n\
        material = { mass = 0.0005, damping = 0.02, stiffness = 20 }\n\
        [[command]]\nat = 0.1\npush = [0.02, 0.01, 0]\non = { tissue = \"sheet\", node = 8 }\nuntil = 0.6\n";
    let couples = [("organ", "66", "sheet", "0"), ("sheet", "0", "organ", "66")];
    for (master, leads, slave, follows) in couples {
        let couple = format!(
            "{sheet}[[couple]]\nmaster = {{ tissue = \"{master}\", nodes = [{leads}] }}\nslave = {{ tissue = \"{slave}\", nodes = [{follows}] }}\n"
        );
        let mut simulation = built(&scene(edit, &couple));
        assert_eq!(simulation.model().hypers.len(), 1);
        run(&mut simulation, 250);
        let place = |name: &str, node: usize| {
            let (net, nodes) = net(&simulation, name);
            nodes.position[net.masses().frames() + node]
        };
        let [inside, corner] = [place("organ", 66), place("sheet", 0)];
        assert!(inside.distance(corner) < 1e-12, "{inside} {corner}");
        // What is pushed at the other end of the sheet is felt inside.
        let start = DVec3::new(0.0, 0.0, 0.005);
        assert!(inside.distance(start) > 1e-3, "{inside}");
        assert!(is_sound(&simulation, 1.0));
    }
    let body = "[[body]]\nname = \"block\"\nhalf_extents = [0.002, 0.002, 0.002]\nmass = 0.01\nposition = [0, 0, 0.2]\n\
        velocity = [0, 0, 0.1]\n[[couple]]\nmaster = { body = \"block\" }\nslave = { tissue = \"organ\", nodes = [66] }\n";
    let mut simulation = built(&scene(edit, body));
    let apart = |simulation: &Simulation| {
        let (net, nodes) = net(simulation, "organ");
        let bodies = simulation.model().bodies.unwrap();
        let block = &simulation.state().nodes[bodies.index()];
        let local = block.orientation[0].conjugate();
        local * (nodes.position[net.masses().frames() + 66] - block.position[0])
    };
    let before = apart(&simulation);
    run(&mut simulation, 100);
    assert!(apart(&simulation).distance(before) < 1e-6);
    // There is no 68th.
    let missing = "[[couple]]\nmaster = { world = [[0, 0, 0]] }\nslave = { tissue = \"organ\", nodes = [67] }\n";
    let told = problem(&scene(edit, missing));
    assert!(told.contains("Its nodes are 0 to 66"), "{told}");
}

/// Two regions between the middle and the surface: their children belong to them, and they to the middle.
fn regions() -> String {
    let nodes = (0..64).map(|n| {
        let father = if n < 32 { 1 } else { 2 };
        format!("{{ node = {n}, father = {father} }}")
    });
    let nodes: Vec<String> = nodes.collect();
    format!(
        "add_centres = [{{ name = \"left\", position = [-0.02, 0, 0], father = \"0\", memory = 200, mass = 0.02 }}, \
         {{ name = \"right\", position = [0.02, 0, 0], father = \"0\", memory = 200 }}]\nnodes = [{}]",
        nodes.join(", ")
    )
}

#[test]
fn an_organ_has_kuhns_three_levels() {
    let push = "[[command]]\nat = 0.0\npush = [0, 0.5, 0]\non = { tissue = \"organ\", node = { centre = 1 } }\nuntil = 0.4\n";
    let mut simulation = built(&scene(&regions(), push));
    let (organ, _) = net(&simulation, "organ");
    assert_eq!(organ.masses().frames(), 3);
    assert_eq!([0, 1, 2].map(|z| organ.father(z)), [None, Some(0), Some(0)]);
    let of = |father: usize| (3..69).filter(|n| organ.father(*n) == Some(father)).count();
    assert_eq!([of(0), of(1), of(2)], [2, 32, 32]);
    assert_eq!(organ.masses().mass()[1], 0.02);
    assert_eq!(organ.masses().mass()[2], 0.05);
    assert!(organ.masses().rigid()[1].inertia.unwrap().min_element() > 0.0);
    // The number of the file is a parameter like others.
    let named = |p: &trocar_scene::Parameter| p.name == "added centre 0 memory";
    assert!(simulation.parameters().iter().any(named));
    let rest = organ.rest().position.clone();
    run(&mut simulation, 200);
    let (organ, nodes) = net(&simulation, "organ");
    let mean = |father: usize| {
        let ours = (3..69).filter(|n| organ.father(*n) == Some(father));
        let moved: Vec<f64> = ours.map(|n| nodes.position[n].y - rest[n].y).collect();
        moved.iter().sum::<f64>() / moved.len() as f64
    };
    let moved = |z: usize| nodes.position[z].y - rest[z].y;
    // The region that is pushed takes its children along, the middle follows, and the other region after it.
    assert!(
        moved(1) > moved(0) && moved(0) > 0.0,
        "{} {}",
        moved(1),
        moved(0)
    );
    assert!(mean(1) > mean(2), "{} {}", mean(1), mean(2));
    assert!(is_sound(&simulation, 10.0));
    // Left alone it stays as it was built.
    let mut still = built(&scene(&regions(), ""));
    run(&mut still, 200);
    let (_, nodes) = net(&still, "organ");
    let worst = nodes
        .position
        .iter()
        .zip(&rest)
        .map(|(p, r)| p.distance(*r));
    assert!(worst.fold(0.0, f64::max) < 1e-12);
}

#[test]
fn fathers_come_first_whatever_the_order_of_the_file() {
    // The middle of the shape belongs to one that is added: that comes before it.
    let edit = "add_centres = [{ position = [0, 0, 0.001] }]\n\
        nodes = [{ node = { centre = 0 }, father = 1, memory = 30 }, { node = 7, father = -1 }]\ntorsions = [{ centre = 1, stiffness = 0.001 }]";
    let mut simulation = built(&scene(edit, ""));
    let (organ, nodes) = net(&simulation, "organ");
    assert_eq!(simulation.model().tissues[0].centres, [1, 0]);
    assert_eq!([0, 1].map(|z| organ.father(z)), [None, Some(0)]);
    assert_eq!(organ.memory(1), 30.0);
    assert_eq!(organ.torsions()[0].frame, 0);
    assert_eq!(nodes.position[0], DVec3::Z * 0.001);
    assert_eq!([9, 10].map(|n| organ.father(n)), [None, Some(1)]);
    // Elements, triangles and families are those of the shape.
    let plain = built(&scene("", ""));
    let (shape, _) = net(&plain, "organ");
    let shifted: Vec<[u32; 2]> = shape.elements().map(|e| e.nodes.map(|n| n + 1)).collect();
    let found: Vec<[u32; 2]> = organ.elements().map(|e| e.nodes).collect();
    assert_eq!(found, shifted);
    let shifted: Vec<[u32; 3]> = shape.triangles().iter().map(|t| t.map(|n| n + 1)).collect();
    assert_eq!(organ.triangles(), shifted);
    run(&mut simulation, 100);
    assert!(is_sound(&simulation, 1.0));
}

/// One that is added to a pipe changes nothing about which central node stands in which ring.
#[test]
fn rings_of_a_pipe_keep_their_centres() {
    let text = "trocar = 1\n[[pipe]]\nname = \"pipe\"\npath = [[0, 0, 0], [0.06, 0, 0]]\nradii = [[0.01, 0.01]]\nrings = 4\naround = 6\n\
        fixed = [{ ring = 3 }]\nmaterial = { mass = 0.001, damping = 0.1, stiffness = 20, memory = 5, centre_stiffness = 10 }\n\
        [pipe.edit]\nadd_centres = [{ position = [0.03, 0, 0] }]\n";
    let simulation = built(text);
    let (pipe, _) = net(&simulation, "pipe");
    let fixed = |z: usize| pipe.masses().lock(z) == Lock::Fixed;
    assert_eq!(
        [0, 1, 2, 3, 4].map(fixed),
        [false, false, false, true, false]
    );
}

#[test]
fn families_that_can_not_be_are_refused() {
    let cycle = "add_centres = [{ position = [0, 0, 0], father = \"0\" }]\nnodes = [{ node = { centre = 0 }, father = 1 }]";
    for (edit, why) in [
        (cycle, "in a cycle: 0 → 1"),
        (
            "add_centres = [{ position = [0, 0, 0], father = \"top\" }]",
            "no central node called \"top\"",
        ),
        (
            "nodes = [{ node = 3, father = 1 }]",
            "no central node 1 to belong to",
        ),
        (
            "nodes = [{ node = 3, father = -2 }]",
            "-2 is no central node",
        ),
        ("add_centres = [{ position = [0, 0, 0], mass = 0 }]", "mass"),
    ] {
        let told = problem(&scene(edit, ""));
        assert!(told.contains(why), "{told}");
    }
}

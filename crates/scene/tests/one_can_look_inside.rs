//! What a finger points at is found; what goes on inside is shown as it is.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::{FUNDUS, built, gallbladder, go, scenes, simulation};
use glam::DVec3;
use trocar_scene::{
    Insight, Pull, Scene, Simulation, Views,
    insight::{BoxInsight, NodeState},
};
use trocar_soft::NodeFlags;

const SCENE: &str = r#"trocar = 1
[world]
gravity = [0, 0, 0]
[[sheet]]
name = "sheet"
origin = [-0.05, 0, -0.05]
u = [0.1, 0, 0]
v = [0, 0, 0.1]
rows = 6
columns = 6
fixed = [{ ring = 0 }, { ring = 5, axes = [1, 0, 0] }]
material = { mass = 0.001, damping = 0.05, stiffness = 40 }
[[body]]
name = "box"
mass = 0.02
half_extents = [0.01, 0.01, 0.01]
position = [0, -0.1, 0]
rotation = [0, 0, 0.5]
[[particle]]
name = "bead"
mass = 0.005
position = [0.2, 0, 0]
[[tie]]
a = { body = "box", at = [0, -0.01, 0] }
b = { particle = "bead" }
length = 0.24
"#;

const ALL: Views = Views {
    nodes: true,
    elements: true,
    contacts: true,
    forces: true,
    anchors: true,
    frames: true,
    normals: true,
    boxes: true,
    depths: true,
    stress: true,
    displacement: true,
    adhesion: true,
    front: true,
};

#[test]
fn a_ray_finds_the_nearest_thing_and_an_anchor_on_it() {
    let simulation = built(SCENE);
    let pick = |from: DVec3, to: DVec3| simulation.pick(from, to - from);
    let down = pick(
        DVec3::new(0.013, 0.2, 0.007),
        DVec3::new(0.013, -1.0, 0.007),
    )
    .unwrap();
    assert_eq!(down.name, "sheet");
    assert!((down.point - DVec3::new(0.013, 0.0, 0.007)).length() < 1e-12);
    assert!((down.distance - 0.2).abs() < 1e-12);
    assert!((simulation.point(&down.anchor).unwrap() - down.point).length() < 1e-15);
    // From below the box is nearer.
    let up = pick(DVec3::new(0.0, -0.3, 0.0), DVec3::ZERO).unwrap();
    assert_eq!(up.name, "box");
    assert!((simulation.point(&up.anchor).unwrap() - up.point).length() < 1e-12);
    assert!(up.point.y < -0.1 && up.distance < 0.2);
    let bead = pick(DVec3::new(0.2, 0.1, 0.0), DVec3::new(0.2, 0.0, 0.002)).unwrap();
    assert_eq!(bead.name, "bead");
    assert!(pick(DVec3::new(0.5, 0.2, 0.0), DVec3::new(0.5, -1.0, 0.0)).is_none());
    assert!(simulation.pick(DVec3::ZERO, DVec3::ZERO).is_none());
    assert!(simulation.pick(DVec3::NAN, DVec3::X).is_none());
    assert!(simulation.pick(DVec3::ZERO, DVec3::NAN).is_none());
}

#[test]
fn nodes_elements_forces_anchors_and_frames_are_shown() {
    let mut simulation = built(SCENE);
    let grabbed = simulation
        .pick(DVec3::new(0.005, 0.1, 0.005), -DVec3::Y)
        .unwrap();
    let mut input = simulation.idle_input();
    input.pulls = vec![Pull {
        anchor: grabbed.anchor,
        target: grabbed.point + DVec3::Y * 0.01,
        force: 0.5,
    }];
    for _ in 0..500 {
        simulation.step(&input);
    }
    let mut insight = Insight::default();
    simulation.insight(ALL, &mut insight);
    let count = |state: NodeState| insight.nodes.iter().filter(|n| n.state == state).count();
    assert_eq!(insight.nodes.len(), 36);
    assert_eq!(
        (
            count(NodeState::Fixed),
            count(NodeState::Locked),
            count(NodeState::Free),
            // The corners of the triangle that the mouse pulls at.
            count(NodeState::Pulled)
        ),
        (6, 6, 21, 3)
    );
    assert_eq!(insight.normals.len(), 36);
    for (at, normal) in &insight.normals {
        assert!((normal.length() - 1.0).abs() < 1e-12, "{at}");
    }
    assert_eq!(
        insight.elements.len(),
        simulation.model().tissues[0].elements
    );
    for e in &insight.elements {
        // Plain springs of 40 N/m in a net of 2 cm.
        let rest = if e.a.distance(e.b) > 0.024 {
            0.02 * 2_f64.sqrt()
        } else {
            0.02
        };
        assert!((e.force - 40.0 * (e.a.distance(e.b) - rest)).abs() < 1e-9);
    }
    assert!(
        insight.elements.iter().any(|e| e.force > 0.01),
        "something is drawn"
    );
    // The tie of box and bead, and the pull.
    assert_eq!(insight.anchors.len(), 2);
    let (from, to) = insight.anchors[1];
    assert_eq!(
        (from, to),
        (
            simulation.point(&grabbed.anchor).unwrap(),
            input.pulls[0].target
        )
    );
    assert_eq!(insight.frames.len(), 1);
    assert_eq!(insight.forces.len(), 38);
    // Only what is asked for.
    simulation.insight(
        Views {
            frames: true,
            ..Views::default()
        },
        &mut insight,
    );
    assert!(insight.nodes.is_empty() && insight.anchors.is_empty() && insight.frames.len() == 1);
}

/// Two sheets, one `gap` (m) over the other, and two boxes as far apart.
fn layers(gap: f64) -> String {
    let mut text = "trocar = 1\n[world]\ngravity = [0, 0, 0]\n".to_string();
    for (name, height) in [("below", 0.0), ("above", gap)] {
        text += &format!(
            "[[membrane]]\nname = \"{name}\"\nposition = [0.0, {height}, 0.0]\n\
             sheet = {{ u = [0.0, 0.0, 0.006], v = [0.008, 0.0, 0.0], rows = 9, columns = 7 }}\n\
             film = {{ stiffness = 30, density = 1 }}\nbending = {{ rigidity = 1e-7 }}\ndamping = 20\ncontact_thickness = 0.0004\n\
             [[body]]\nname = \"box {name}\"\nmass = 0.02\nhalf_extents = [0.01, 0.01, 0.01]\n\
             position = [0.1, {}, 0.0]\n",
            if height > 0.0 { 0.02 + gap } else { 0.0 }
        );
    }
    text
}

#[test]
fn pairs_of_tissues_and_of_bodies_are_counted() {
    let counts = |gap: f64| {
        let mut simulation = built(&layers(gap));
        let input = simulation.idle_input();
        simulation.step(&input);
        let mut insight = Insight::default();
        simulation.insight(ALL, &mut insight);
        insight.search
    };
    let far = counts(0.02);
    assert_eq!((far.fold_pairs, far.folds, far.body_pairs), (0, 0, 0));
    // 96 triangles each: everyone has its twin and those around it, and none is counted twice. Each of the 63 nodes has its twin.
    let near = counts(0.0003);
    assert!((96..=96 * 14).contains(&near.fold_pairs), "{near:?}");
    assert!(near.folds >= 63, "{near:?}");
    assert_eq!(near.body_pairs, 1, "{near:?}");
}

#[test]
fn triangles_that_go_through_each_other_are_told_from_those_that_are_near() {
    // The upper sheet leans through the lower one.
    let askew = layers(0.0003).replacen(
        "position = [0.0, 0.0003, 0.0]\nsheet = { u = [0.0, 0.0, 0.006]",
        "position = [0.0, -0.001, 0.0]\nsheet = { u = [0.0, 0.002, 0.006]",
        1,
    );
    assert_ne!(askew, layers(0.0003));
    for (text, through) in [(layers(0.0003), false), (askew, true)] {
        let mut simulation = built(&text);
        let input = simulation.idle_input();
        simulation.step(&input);
        let mut insight = Insight::default();
        simulation.insight(ALL, &mut insight);
        let search = insight.search;
        assert_eq!(search.crossings > 0, through, "{search:?}");
        assert!(search.crossings < search.fold_pairs, "{search:?}");
        // The trees over both sheets are shown; those over each alone have nothing near.
        let small = |b: &&BoxInsight| b.is_near && (b.high - b.low).max_element() < 0.01;
        assert!(insight.boxes.iter().any(|b| small(&b)));
    }
}

#[test]
fn depths_and_the_points_of_a_grid_are_shown() {
    let scene = Scene::load(scenes().join("bowl.toml")).unwrap();
    let mut simulation = simulation(&scene, 1);
    let input = simulation.idle_input();
    let mut insight = Insight::default();
    simulation.insight(ALL, &mut insight);
    assert_eq!((insight.deepest, insight.search.overlaps), (0.0, 0));
    for _ in 0..200 {
        simulation.step(&input);
    }
    simulation.insight(ALL, &mut insight);
    let deep: Vec<f64> = insight.contacts.iter().map(|c| c.depth).collect();
    assert!(deep.len() > 20 && deep.iter().all(|d| *d <= insight.deepest));
    assert!(deep.contains(&insight.deepest), "{}", insight.deepest);
    assert!(insight.deepest > 0.0 && insight.deepest < 5e-4);
    let overlaps = deep.iter().filter(|d| **d > 0.0).count();
    assert_eq!(insight.search.overlaps as usize, overlaps);
    assert!((1000..=4000).contains(&insight.grids.len()));
    for (point, surface) in &insight.grids {
        // Between the inner and the outer wall, or at the rim; flat between its edges.
        let wall = |p: &DVec3| (0.0292..0.0342).contains(&p.length());
        assert!(wall(point) && wall(surface), "{point} {surface}");
        assert!(point.distance(*surface) < 0.0014);
    }
    // Boxes alone say how deep it is, and leave out the contacts.
    let boxes = Views {
        boxes: true,
        ..Views::default()
    };
    let deepest = insight.deepest;
    simulation.insight(boxes, &mut insight);
    assert_eq!(insight.deepest, deepest);
    assert!(insight.contacts.is_empty() && insight.grids.is_empty());
}

#[test]
fn what_a_needle_touches_is_among_the_contacts() {
    let scene = Scene::load(scenes().join("needle-sheet.toml")).unwrap();
    let mut simulation = simulation(&scene, 1);
    let input = simulation.idle_input();
    let mut insight = Insight::default();
    let touched = (0..1500).any(|_| {
        simulation.step(&input);
        simulation.insight(ALL, &mut insight);
        insight.contacts.iter().any(|c| c.force > 0.0)
    });
    assert!(touched, "the needle never touched the sheet");
    assert_eq!(insight.contacts.len(), simulation.report().contacts);
    assert_eq!(insight.search.contacts as usize, insight.contacts.len());
    for contact in &insight.contacts {
        assert!((contact.normal.length() - 1.0).abs() < 1e-9);
        assert!(contact.point.is_finite() && contact.force >= 0.0);
    }
    assert!(insight.contacts.iter().any(|c| c.depth > 0.0));
}

#[test]
fn contacts_and_grasped_nodes_are_shown() {
    let mut simulation = simulation(&gallbladder(), 1);
    go(
        &mut simulation,
        FUNDUS + DVec3::new(0.0, 0.03, 0.04),
        1.0,
        0.4,
    );
    go(&mut simulation, FUNDUS, 1.0, 0.4);
    let mut insight = Insight::default();
    simulation.insight(ALL, &mut insight);
    assert_eq!(insight.contacts.len(), simulation.report().contacts);
    let search = insight.search;
    assert_eq!(search.contacts as usize, insight.contacts.len());
    assert!(search.pairs >= search.contacts && search.boxes as usize == insight.boxes.len());
    for contact in &insight.contacts {
        let holds = |b: &&BoxInsight| {
            contact.point.cmpge(b.low - 1e-9).all() && contact.point.cmple(b.high + 1e-9).all()
        };
        assert!(
            insight.boxes.iter().filter(holds).any(|b| b.is_near),
            "what is touched is in a box that was looked into"
        );
        assert!(
            contact.depth.abs() < 2e-3,
            "hulls are not crossed: {}",
            contact.depth
        );
    }
    assert!(
        insight.boxes.iter().any(|b| !b.is_near),
        "the far end of the organ is left alone"
    );
    assert!(insight.contacts.iter().any(|c| c.force > 0.0), "pressed");
    for contact in &insight.contacts {
        assert!((contact.normal.length() - 1.0).abs() < 1e-9 && contact.force >= 0.0);
    }
    let hypers = simulation.model().hypers.len();
    let count = |insight: &Insight, state: NodeState| {
        insight.nodes.iter().filter(|n| n.state == state).count()
    };
    assert!(hypers > 0 && count(&insight, NodeState::Hyper) <= hypers);
    assert_eq!(count(&insight, NodeState::Grasped), 0);
    go(&mut simulation, FUNDUS, 0.0, 0.4);
    assert!(!simulation.grip(0).is_empty(), "something is held");
    simulation.insight(ALL, &mut insight);
    assert!(count(&insight, NodeState::Grasped) > 0);
    assert_eq!(
        insight.anchors.len(),
        simulation.model().ties.len() + simulation.grip(0).holds.len()
    );
    // Released, nothing is grasped any more (K26).
    go(&mut simulation, FUNDUS, 1.0, 0.3);
    assert!(simulation.grip(0).is_empty());
    simulation.insight(ALL, &mut insight);
    assert_eq!(count(&insight, NodeState::Grasped), 0);
    let marked = |simulation: &Simulation| -> usize {
        let tissues = simulation.model().tissues.iter().enumerate();
        let flags = tissues.flat_map(|(t, tissue)| {
            let count = simulation.state().nodes[tissue.matter.index()].len() as u32;
            (0..count).filter_map(move |n| simulation.flags(t, n))
        });
        flags.filter(|f| f.has(NodeFlags::GRASPED)).count()
    };
    assert_eq!(marked(&simulation), 0);
    // A reset lets go of what is held (K122).
    go(&mut simulation, FUNDUS, 0.0, 0.4);
    assert!(marked(&simulation) > 0);
    simulation.restart();
    assert!(simulation.grip(0).is_empty());
    assert_eq!(marked(&simulation), 0);
}

#[test]
fn forces_shown_are_real_by_every_scheme() {
    // A sheet that hangs still: what pulls at its free nodes sums to nothing, whatever a scheme keeps where forces are.
    let text = r#"trocar = 1
[[sheet]]
name = "sheet"
origin = [0, 0, 0]
u = [0.04, 0, 0]
v = [0, -0.04, 0]
rows = 4
columns = 4
fixed = [{ ring = 0 }]
material = { mass = 0.001, damping = 0.05, stiffness = 6, integrator = "SCHEME" }
"#;
    for scheme in ["mesd", "weighted", "euler", "heun", "quasi_dynamic"] {
        let mut simulation = built(&text.replace("SCHEME", scheme));
        let input = simulation.idle_input();
        let forces = |simulation: &trocar_scene::Simulation| {
            let mut insight = Insight::default();
            simulation.insight(ALL, &mut insight);
            insight.forces[4..].iter().map(|f| f.1).collect::<Vec<_>>()
        };
        // Straight after the start every free node is drawn by its weight alone, unless it moves as if it had no mass.
        simulation.step(&input);
        let heavy = scheme != "quasi_dynamic";
        for force in forces(&simulation).into_iter().filter(|_| heavy) {
            assert!(
                (force.y / (0.001 * 9.81) + 1.0).abs() < 0.1,
                "{scheme}: {force}"
            );
        }
        for _ in 0..20_000 {
            simulation.step(&input);
        }
        for force in forces(&simulation) {
            assert!(force.length() < 1e-5, "{scheme}: {force}");
        }
    }
}

#[test]
fn forces_shown_know_of_couples_elements_and_commands() {
    // A sheet of any scheme that carries one of any other by its lower edge and is drawn aside by an element and a command. What acts on its free nodes
    // sums to nothing once it hangs still, and what the other hangs on feels its weight.
    let text = r#"trocar = 1
[[sheet]]
name = "upper"
origin = [0, 0, 0]
u = [0.04, 0, 0]
v = [0, -0.04, 0]
rows = 4
columns = 4
fixed = [{ ring = 0 }]
material = { mass = 0.001, damping = 0.05, stiffness = 20, integrator = "UPPER" }
[[sheet]]
name = "lower"
origin = [0, -0.04, 0]
u = [0.04, 0, 0]
v = [0, -0.04, 0]
rows = 4
columns = 4
material = { mass = 0.001, damping = 0.05, stiffness = 20, integrator = "LOWER" }
[[couple]]
master = { tissue = "upper", nodes = [12, 13, 14, 15] }
slave = { tissue = "lower", nodes = [0, 1, 2, 3] }
[[element]]
a = { tissue = "upper", node = 7 }
b = { world = [0.1, -0.02, 0] }
answer = { stiffness = 1 }
shorten = 0.3
[[command]]
at = 0.0
push = [-0.02, 0, 0]
on = { tissue = "lower", node = 8 }
until = 1000.0
"#;
    let schemes = ["mesd", "weighted", "euler", "heun", "quasi_dynamic"];
    for (i, upper) in schemes.iter().enumerate() {
        let lower = schemes[(i + 2) % schemes.len()];
        let mut simulation = built(&text.replace("UPPER", upper).replace("LOWER", lower));
        let input = simulation.idle_input();
        for _ in 0..20_000 {
            simulation.step(&input);
        }
        let mut insight = Insight::default();
        simulation.insight(ALL, &mut insight);
        assert_eq!(insight.forces.len(), 32);
        let forces: Vec<DVec3> = insight.forces.iter().map(|f| f.1).collect();
        for force in forces[4..16].iter().chain(&forces[20..]) {
            assert!(force.length() < 1e-5, "{upper} over {lower}: {force}");
        }
        let hung: DVec3 = forces[16..20].iter().sum();
        let load = DVec3::new(-0.02, -16.0 * 0.001 * 9.81, 0.0);
        assert!(
            (hung - load).length() < 1e-5,
            "{upper} over {lower}: {hung}"
        );
    }
}

/// A central node that is turned by a quarter of a radian shows the torque that turns it back.
#[test]
fn torques_of_torsion_elements_are_shown() {
    let mut simulation = built(
        "trocar = 1\n[world]\ngravity = [0, 0, 0]\n[[net]]\nname = \"arm\"\n\
        points = [[0, 0, 0], [0.02, 0, 0], [0.02, 0.02, 0]]\nfacets = [[0, 1, 2]]\nsprings = [[0, 1]]\nfathers = [-1, -1, 0]\n\
        centres = [{ position = [0.02, 0.02, 0.01], mass = 0.01, inertia = [1e-6, 1e-6, 1e-6] }]\nfixed = [{ nodes = [0, 1] }]\n\
        material = { mass = 0.001, damping = 0.02, stiffness = 50, memory = 5, centre_damping = 0.2, turn_damping = 1e-6 }\n\
        edit = { torsions = [{ centre = 0, stiffness = 0.002 }] }\n\
        [[command]]\nat = 0\npush = [0.01, 0, 0]\non = { tissue = \"arm\", node = 2 }\nuntil = 1\n",
    );
    let mut insight = Insight::default();
    simulation.insight(ALL, &mut insight);
    assert_eq!(insight.torques.len(), 1);
    assert!(insight.torques[0].1.length() < 1e-12);
    let input = simulation.idle_input();
    let mut turned = 0.0_f64;
    for _ in 0..100 {
        simulation.step(&input);
        simulation.insight(ALL, &mut insight);
        let (position, rotation) = insight.frames[0];
        let turn = trocar_math::rotation::to_scaled_axis(rotation);
        let (at, torque) = insight.torques[0];
        assert_eq!(at, position);
        assert!((torque + turn * 0.002).length() < 1e-12, "{torque} {turn}");
        turned = turned.max(turn.length());
    }
    assert!(turned > 1e-3, "{turned}");
    let nodes = Views {
        nodes: true,
        ..Views::default()
    };
    simulation.insight(nodes, &mut insight);
    assert!(insight.torques.is_empty());
}

/// A film that does not tear, drawn tight or not, between two rims that are held.
fn film(prestress: f64) -> String {
    format!(
        r#"trocar = 1
[world]
gravity = [0, 0, 0]
[[membrane]]
name = "film"
sheet = {{ u = [0.0, 0.0, 0.012], v = [0.024, 0.0, 0.0], rows = 9, columns = 5 }}
film = {{ stiffness = 20, density = 1 }}
damping = 20
prestress = {prestress}
fixed = [{{ rim = true }}]
"#
    )
}

#[test]
fn what_a_membrane_bears_is_shown_though_it_does_not_tear() {
    let only = Views {
        stress: true,
        ..Views::default()
    };
    let seen = |prestress: f64| {
        let mut simulation = built(&film(prestress));
        let input = simulation.idle_input();
        for _ in 0..5 {
            simulation.step(&input);
        }
        let before = simulation.hash();
        let mut insight = Insight::default();
        simulation.insight(only, &mut insight);
        // To look on changes nothing.
        assert_eq!(simulation.hash(), before);
        let corners = insight.colours.iter().flat_map(|c| c.corners);
        let values: Vec<f64> = corners.map(|(_, value)| value).collect();
        assert!(values.len() > 100);
        let least = values.iter().copied().fold(1.0, f64::min);
        (least, values.iter().copied().fold(0.0, f64::max))
    };
    // Under tension alike everywhere, all of it bears as much as what bears most.
    let (least, most) = seen(0.98);
    assert!(most == 1.0 && least > 0.9, "{least} {most}");
    // What is rounding stays dark.
    let (_, most) = seen(1.0);
    assert!(most < 1e-3, "{most}");
}

//! The scene that everything starts from: counts of the source's Model 1, at rest and under the grasper.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use glam::DVec3;
use trocar_dynamics::Matter;
use trocar_scene::{Scene, Simulation, event::Happening};
use trocar_soft::{Net, NodeFlags};
use trocar_tools::Handle;

fn load() -> Simulation {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/gallbladder.toml");
    let scene = Scene::load(path).unwrap_or_else(|e| panic!("{e}"));
    Simulation::new(&scene, 1).unwrap_or_else(|e| panic!("{e}"))
}

fn net(simulation: &Simulation, tissue: usize) -> &Net {
    let matter = simulation.model().tissues[tissue].matter;
    let any: &dyn std::any::Any = &*simulation.model().matters[matter.index()];
    any.downcast_ref::<Net>().unwrap()
}

fn largest_displacement(simulation: &Simulation, tissue: usize) -> f64 {
    let matter = simulation.model().tissues[tissue].matter.index();
    let (now, start) = (
        &simulation.state().nodes[matter],
        &simulation.model().start[matter],
    );
    now.position
        .iter()
        .zip(&start.position)
        .map(|(a, b)| a.distance(*b))
        .fold(0.0, f64::max)
}

#[test]
fn it_has_the_nodes_and_elements_of_the_source() {
    let simulation = load();
    let model = simulation.model();
    let count = |t: usize| {
        (
            net(&simulation, t).masses().len(),
            net(&simulation, t).element_count(),
        )
    };
    assert_eq!(count(0), (195, 756), "gall bladder");
    assert_eq!(count(1), (130, 561), "duct");
    assert_eq!(model.hypers.len(), 12);
    assert_eq!(model.groups.len(), 1);
    let flagged = |t: usize, flag| {
        (0..count(t).0)
            .filter(|i| net(&simulation, t).flags(*i).has(flag))
            .count()
    };
    assert_eq!(flagged(0, NodeFlags::MASTER), 12);
    assert_eq!(flagged(1, NodeFlags::SLAVE), 12);
    assert!(flagged(0, NodeFlags::FIXED) >= 4);
}

#[test]
fn it_hangs_still() {
    let mut simulation = load();
    let input = simulation.idle_input();
    for _ in 0..5000 {
        simulation.step(&input);
        assert!(simulation.report().events.is_empty());
    }
    let before = simulation.state().clone();
    for _ in 0..400 {
        simulation.step(&input);
    }
    for t in 0..2 {
        let m = simulation.model().tissues[t].matter.index();
        let moved = before.nodes[m]
            .position
            .iter()
            .zip(&simulation.state().nodes[m].position);
        let most = moved.map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        assert!(most < 1e-5, "tissue {t} still moves by {most} m in 0.4 s");
        let sag = largest_displacement(&simulation, t);
        assert!(sag < 0.01, "tissue {t} sags by {sag} m");
    }
}

/// The handle that puts the tip of tool 0 at a point.
fn handle_to(simulation: &Simulation, point: DVec3, jaw: f64) -> Handle {
    let grasper = &simulation.model().tools[0].grasper;
    let local = grasper.trocar.local(point);
    Handle {
        yaw: trocar_math::real::atan2(local.x, local.z),
        pitch: trocar_math::real::atan2(local.y, trocar_math::real::hypot(local.x, local.z)),
        depth: local.length() - grasper.jaw_length,
        roll: 0.0,
        jaw,
    }
}

/// Holds the tip at `point` for some seconds; returns what happened.
fn go(simulation: &mut Simulation, point: DVec3, jaw: f64, seconds: f64) -> Vec<Happening> {
    let mut input = simulation.idle_input();
    input.handles[0] = handle_to(simulation, point, jaw);
    let mut events = Vec::new();
    for _ in 0..(seconds / input.dt) as usize {
        simulation.step(&input);
        events.extend(simulation.report().events.iter().map(|e| e.what.clone()));
    }
    events
}

#[test]
fn the_grasper_pushes_grips_lifts_and_lets_go() {
    let mut simulation = load();
    let fundus = DVec3::new(-0.032, -0.016, 0.016);
    let mut events = go(&mut simulation, DVec3::new(-0.035, 0.02, 0.06), 1.0, 1.2);
    assert!(events.is_empty(), "{events:?}");
    // Push: the open jaws dent the wall and feel it.
    events = go(&mut simulation, fundus, 1.0, 1.2);
    assert!(largest_displacement(&simulation, 0) > 2e-3);
    assert!(
        simulation.force(0).length() > 0.01,
        "force {}",
        simulation.force(0)
    );
    assert!(events.is_empty(), "{events:?}");
    // Grip.
    events = go(&mut simulation, fundus, 0.0, 0.8);
    assert!(
        matches!(events.first(), Some(Happening::Grasped { .. })),
        "{events:?}"
    );
    // Lift.
    let lifted = DVec3::new(-0.036, -0.012, 0.034);
    events = go(&mut simulation, lifted, 0.0, 2.0);
    assert!(events.is_empty(), "{events:?}");
    let held = simulation.grip(0).holds.len();
    assert!(held > 0);
    let near = simulation.state().nodes[simulation.model().tissues[0].matter.index()]
        .position
        .iter()
        .map(|p| p.distance(lifted))
        .fold(f64::INFINITY, f64::min);
    assert!(near < 0.012, "the tissue came along: {near}");
    assert!(simulation.force(0).length() > 0.05);
    // Let go.
    events = go(&mut simulation, lifted, 1.0, 0.3);
    assert!(
        matches!(events.first(), Some(Happening::Released { .. })),
        "{events:?}"
    );
    go(&mut simulation, DVec3::new(-0.05, 0.08, 0.1), 1.0, 6.0);
    assert!(simulation.force(0).length() < 1e-9);
    assert!(largest_displacement(&simulation, 0) < 0.01, "it goes back");
}

//! Ties hold between nodal nets, rigid bodies and particles, and what they give to one side they take from the other.

mod common;

use common::{built, is_sound, scenes, simulation};
use glam::DVec3;
use trocar_dynamics::TieKind;
use trocar_scene::{Scene, Simulation};

/// How far tied points of the scene are from where they should be, m.
fn apart(simulation: &Simulation) -> f64 {
    let state = simulation.state();
    let place = |anchor: &trocar_dynamics::Anchor| {
        let nodes = &state.nodes[anchor.matter.index()];
        match anchor.at {
            trocar_dynamics::Local::Node(n) => nodes.position[n as usize],
            trocar_dynamics::Local::Frame(n, offset) => {
                nodes.position[n as usize] + nodes.orientation[n as usize] * offset
            }
            other => panic!("{other:?}"),
        }
    };
    simulation
        .model()
        .ties
        .iter()
        .map(|tie| {
            let distance = place(&tie.a).distance(place(&tie.b));
            match tie.kind {
                TieKind::Point => distance,
                TieKind::Distance(length) => (distance - length).abs(),
            }
        })
        .fold(0.0, f64::max)
}

#[test]
fn a_box_on_a_tissue_and_a_bead_on_the_box() {
    let scene = Scene::load(scenes().join("pendulum.toml")).unwrap();
    let mut simulation = simulation(&scene, 1);
    let input = simulation.idle_input();
    assert!(
        apart(&simulation) < 1e-15,
        "it starts tied: {}",
        apart(&simulation)
    );
    assert_eq!(simulation.model().groups.len(), 1);
    let bodies = simulation.model().bodies.unwrap().index();
    let start = simulation.state().nodes[bodies].position[1];
    let mut farthest = 0.0_f64;
    for k in 0..1500 {
        simulation.step(&input);
        let report = simulation.report();
        assert!(
            report.aim.converged && report.aim.error < 1e-9,
            "step {k}: {:?}",
            report.aim
        );
        assert!(report.correct.converged, "step {k}: {:?}", report.correct);
        assert!(
            apart(&simulation) < 1e-9,
            "step {k}: {}",
            apart(&simulation)
        );
        farthest = farthest.max(simulation.state().nodes[bodies].position[1].distance(start));
    }
    assert!(farthest > 0.03, "the bead swings: {farthest}");
    assert!(is_sound(&simulation, 0.3));
}

/// Momentum, angular momentum about the origin, and the size of each (sums of the parts' absolute values).
struct Momentum {
    linear: DVec3,
    angular: DVec3,
    linear_size: f64,
    angular_size: f64,
}

/// Over bodies, particles and nets without fathers.
fn momentum(simulation: &Simulation, boxes: &[(f64, DVec3)]) -> Momentum {
    let model = simulation.model();
    let mut sum = Momentum {
        linear: DVec3::ZERO,
        angular: DVec3::ZERO,
        linear_size: 0.0,
        angular_size: 0.0,
    };
    for m in model.prescribed()..model.matters.len() {
        let nodes = &simulation.state().nodes[m];
        let masses = model.matters[m].masses();
        for i in 0..nodes.len() {
            assert_eq!(masses.father(i), None);
            let p = nodes.velocity[i] * masses.mass()[i];
            let l = nodes.position[i].cross(p);
            sum.linear += p;
            sum.angular += l;
            sum.linear_size += p.length();
            sum.angular_size += l.length();
        }
        for (z, (mass, half)) in boxes.iter().enumerate().take(nodes.frames()) {
            let s = *half * *half;
            let inertia = DVec3::new(s.y + s.z, s.z + s.x, s.x + s.y) * (mass / 3.0);
            let q = nodes.orientation[z];
            let l = q * (inertia * (q.conjugate() * nodes.spin[z]));
            sum.angular += l;
            sum.angular_size += l.length();
        }
    }
    sum
}

#[test]
fn what_ties_give_they_take() {
    // The pendulum adrift: no gravity, no damping, nothing fixed, no memory of place.
    let text = r#"
        trocar = 1
        world = { gravity = [0, 0, 0], step = 0.002 }
        [[sheet]]
        name = "sheet"
        origin = [-0.06, 0.0, -0.03]
        u = [0, 0, 0.06]
        v = [0.06, 0, 0]
        rows = 7
        columns = 7
        material = { mass = 0.0005, damping = 0, stiffness = 200, memory = 0 }
        [[body]]
        name = "box"
        mass = 0.02
        half_extents = [0.012, 0.008, 0.006]
        position = [0.0, -0.008, 0.0]
        velocity = [0.3, 0.1, -0.2]
        spin = [4, 7, -5]
        [[body]]
        name = "other box"
        mass = 0.01
        half_extents = [0.01, 0.01, 0.01]
        position = [0.0, -0.026, 0.0]
        [[particle]]
        name = "bead"
        mass = 0.004
        position = [0.04, -0.036, 0.0]
        velocity = [0, 0.2, 0.1]
        [[tie]]
        a = { tissue = "sheet", node = 45 }
        b = { body = "box", at = [0, 0.008, 0] }
        [[tie]]
        a = { body = "box", at = [0, -0.008, 0] }
        b = { body = "other box", at = [0, 0.01, 0] }
        [[tie]]
        a = { body = "other box", at = [0, -0.01, 0] }
        b = { particle = "bead" }
        length = 0.04
    "#;
    let mut simulation = built(text);
    let boxes = [
        (0.02, DVec3::new(0.012, 0.008, 0.006)),
        (0.01, DVec3::splat(0.01)),
    ];
    assert!(apart(&simulation) < 1e-15, "it starts tied");
    let input = simulation.idle_input();
    let start = momentum(&simulation, &boxes);
    let (mut linear, mut angular) = (0.0_f64, 0.0_f64);
    let mut moved = 0.0_f64;
    for k in 0..1500 {
        simulation.step(&input);
        assert!(
            simulation.report().aim.converged,
            "step {k}: {:?}",
            simulation.report().aim
        );
        let now = momentum(&simulation, &boxes);
        linear = linear.max((now.linear - start.linear).length() / start.linear_size);
        angular = angular.max((now.angular - start.angular).length() / start.angular_size);
        moved = moved.max(common::largest_displacement(&simulation, 1));
    }
    assert!(moved > 0.05, "it moves: {moved}");
    assert!(linear < 1e-12, "linear momentum: {linear:e}");
    // Two points that are tied to 5e-10 m, not to nothing, leave a small lever to the impulse.
    assert!(angular < 1e-7, "angular momentum: {angular:e}");
}

//! Chains of bodies and particles, light ones between heavy ones too, hang together to 1e-9 m and never fly apart.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use glam::DVec3;
use std::fmt::Write;
use trocar_scene::{Scene, Simulation};

/// A horizontal chain from the world; `mass(i)` kg, links of 0.1 m.
fn boxes(count: usize, step: f64, mass: impl Fn(usize) -> f64) -> String {
    let mut text = format!("trocar = 1\n[world]\nstep = {step}\n");
    for i in 0..count {
        let x = 0.05 + 0.1 * i as f64;
        let m = mass(i);
        writeln!(text, "[[body]]\nname = \"b{i}\"\nmass = {m}\nhalf_extents = [0.05, 0.01, 0.01]\nposition = [{x}, 0, 0]").unwrap();
        let before = if i == 0 {
            "{ world = [0, 0, 0] }".to_string()
        } else {
            format!("{{ body = \"b{}\", at = [0.05, 0, 0] }}", i - 1)
        };
        writeln!(
            text,
            "[[tie]]\na = {before}\nb = {{ body = \"b{i}\", at = [-0.05, 0, 0] }}"
        )
        .unwrap();
    }
    text
}

/// The same of particles on rods. The end of a falling chain cracks like a whip, so the step is short: a rod that turns by
/// a quarter within one can't be kept by an impulse along it.
fn beads(count: usize, mass: impl Fn(usize) -> f64) -> String {
    let mut text = "trocar = 1\n[world]\nstep = 0.0002\n".to_string();
    for i in 0..count {
        let (x, m) = (0.1 * (i + 1) as f64, mass(i));
        writeln!(
            text,
            "[[particle]]\nname = \"p{i}\"\nmass = {m}\nposition = [{x}, 0, 0]"
        )
        .unwrap();
        let before = if i == 0 {
            "{ world = [0, 0, 0] }".to_string()
        } else {
            format!("{{ particle = \"p{}\" }}", i - 1)
        };
        writeln!(
            text,
            "[[tie]]\na = {before}\nb = {{ particle = \"p{i}\" }}\nlength = 0.1"
        )
        .unwrap();
    }
    text
}

/// Runs for some seconds; the greatest tie error at any step.
fn worst(text: &str, seconds: f64) -> f64 {
    let mut simulation =
        Simulation::new(&Scene::from_text("chain.toml", text).unwrap(), 1).unwrap();
    let input = simulation.idle_input();
    let mut worst = 0.0_f64;
    for _ in 0..(seconds / input.dt) as usize {
        let report = simulation.step(&input);
        assert!(report.events.is_empty(), "{:?}", report.events);
        worst = worst.max(report.aim.error);
    }
    worst
}

/// The same for boxes, which touch each other as they fold: how far their ends are apart at any step, seen in poses, because
/// what the solver says is about contacts, too.
fn widest(text: &str, count: usize, seconds: f64) -> f64 {
    let mut simulation =
        Simulation::new(&Scene::from_text("chain.toml", text).unwrap(), 1).unwrap();
    let input = simulation.idle_input();
    let places: Vec<_> = (0..count)
        .map(|i| {
            let mut looks = simulation.model().looks.iter();
            looks.find(|l| l.name == format!("b{i}")).unwrap().at
        })
        .collect();
    let mut widest = 0.0_f64;
    for _ in 0..(seconds / input.dt) as usize {
        let report = simulation.step(&input);
        assert!(report.events.is_empty(), "{:?}", report.events);
        let mut end = DVec3::ZERO;
        for (matter, node) in &places {
            let nodes = &simulation.state().nodes[matter.index()];
            let i = *node as usize;
            let half = nodes.orientation[i] * (DVec3::X * 0.05);
            widest = widest.max(end.distance(nodes.position[i] - half));
            end = nodes.position[i] + half;
        }
    }
    widest
}

#[test]
fn of_equal_boxes() {
    for (count, seconds) in [(5, 5.0), (20, 3.0)] {
        let gap = widest(&boxes(count, 0.002, |_| 0.001), count, seconds);
        assert!(gap < 1e-9, "{gap}");
    }
}

#[test]
fn of_a_light_box_that_bears_a_heavy_one() {
    for step in [0.002, 0.0005] {
        assert!(worst(&boxes(2, step, |i| [0.001, 0.1][i]), 4.0) < 1e-9);
    }
}

#[test]
fn of_beads_on_rods() {
    assert!(worst(&beads(8, |_| 0.01), 1.5) < 1e-9);
    assert!(worst(&beads(5, |i| if i == 4 { 1.0 } else { 0.01 }), 1.5) < 1e-9);
}

#[test]
fn what_contradicts_itself_stays_finite_and_says_so() {
    let text = "trocar = 1\n[[particle]]\nname = \"p\"\nmass = 0.1\nposition = [0, 0, 0]\n\
                [[tie]]\na = { world = [-0.05, 0, 0] }\nb = { particle = \"p\" }\n\
                [[tie]]\na = { world = [0.05, 0, 0] }\nb = { particle = \"p\" }\n";
    let mut simulation = Simulation::new(&Scene::from_text("torn.toml", text).unwrap(), 1).unwrap();
    let input = simulation.idle_input();
    for _ in 0..1000 {
        let report = simulation.step(&input);
        assert!(!report.aim.converged && report.aim.error > 0.01);
        assert!(report.events.is_empty(), "{:?}", report.events);
    }
    let p = simulation.state().nodes[1].position[0];
    assert!(p.length() < 0.1, "{p}");
}

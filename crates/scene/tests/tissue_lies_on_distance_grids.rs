//! Tissue meets bodies with a distance grid where their surface is, whatever their form (F12–F20, F42, F43).

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::rigid::{Rig, body, vector, world};
use common::scenes;
use glam::DVec3;
use std::fmt::Write;
use trocar_collide::grid::Tree;
use trocar_mesh::Surface;
use trocar_scene::{Insight, Scene, Simulation, Views};

const G: f64 = 9.81;
const CELL: f64 = 0.0013;
const NODES: usize = 11;
const MASS: f64 = 0.0002;

/// A folder with the bowl of the house and this scene.
fn scene(text: &str) -> Result<Scene, String> {
    let folder = tempfile::tempdir().unwrap();
    let bowl = scenes().join("parts/bowl.obj");
    std::fs::copy(bowl, folder.path().join("bowl.obj")).unwrap();
    // The same without its last triangles: it has a hole.
    let whole = std::fs::read_to_string(folder.path().join("bowl.obj")).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let open = lines[..lines.len() - 200].join("\n");
    std::fs::write(folder.path().join("open.obj"), open).unwrap();
    std::fs::write(folder.path().join("scene.toml"), text).unwrap();
    Scene::load(folder.path().join("scene.toml")).map_err(|e| e.to_string())
}

fn rig(text: &str) -> Rig {
    Rig::of(&scene(text).unwrap_or_else(|e| panic!("{e}")), 1)
}

/// A sheet of `size` (m) that faces up, its middle at `middle`.
fn sheet(text: &mut String, middle: DVec3, size: f64) {
    writeln!(
        text,
        "[[sheet]]\nname = \"sheet\"\norigin = {}\nu = [0, 0, {size}]\nv = [{size}, 0, 0]\nrows = {NODES}\ncolumns = {NODES}\n\
         material = {{ mass = {MASS}, damping = 0.01, stiffness = 12 }}",
        vector(middle - DVec3::new(0.5, 0.0, 0.5) * size),
    )
    .unwrap();
}

/// A bowl, with `grid` or without, and a sheet above it.
fn bowl(says: &str, at: DVec3, grid: bool) -> String {
    let mut text = world("step = 0.004");
    let grid = match grid {
        true => format!("\ngrid = {{ cell = {CELL} }}"),
        false => String::new(),
    };
    let says = format!("{says}\nform = {{ mesh = {{ file = \"bowl.obj\" }} }}{grid}");
    body(&mut text, "bowl", at, &says);
    sheet(&mut text, DVec3::new(0.003, 0.002, 0.001), 0.034);
    text
}

/// How deep points are in the bowl at a place, exactly, m: nodes of the sheet and the middles of its triangles.
fn depths(simulation: &Simulation, at: DVec3) -> Vec<f64> {
    let surface: Surface = trocar_mesh::read(scenes().join("parts/bowl.obj")).unwrap();
    let corners: Vec<[DVec3; 3]> = surface
        .triangles
        .iter()
        .map(|t| t.map(|n| surface.positions[n as usize] + at))
        .collect();
    let tree = Tree::new(&corners);
    let tissue = &simulation.model().tissues[0];
    let positions = &simulation.state().nodes[tissue.matter.index()].position;
    let middles = tissue.triangles.iter().map(|t| {
        let [a, b, c] = t.map(|n| positions[n as usize]);
        (a + b + c) / 3.0
    });
    let points = positions.iter().copied().chain(middles);
    points
        .map(|p| {
            let far = tree.nearest(p).unwrap().distance_squared.sqrt();
            if tree.winding(p) > 0.5 { far } else { -far }
        })
        .collect()
}

/// What all contacts press with, N.
fn pressed(simulation: &Simulation) -> DVec3 {
    let mut insight = Insight::default();
    let views = Views {
        contacts: true,
        ..Views::default()
    };
    simulation.insight(views, &mut insight);
    let forces = insight.contacts.iter();
    forces.map(|c| c.normal * c.force + c.friction).sum()
}

#[test]
fn a_sheet_lies_in_a_bowl_where_the_mesh_is() {
    let mut lows = Vec::new();
    for (says, lift, grid) in [
        ("motion = \"static\"", 0.0, true),
        (
            "motion = \"kinematic\"\nvelocity = [0, 0.01, 0]",
            0.01,
            true,
        ),
        ("motion = \"static\"", 0.0, false),
    ] {
        let seconds = 2.0;
        let start = DVec3::Y * (-lift * seconds);
        let mut rig = rig(&bowl(says, start, grid));
        rig.run(seconds);
        let simulation = &rig.simulation;
        let depths = depths(simulation, DVec3::ZERO);
        let deepest = depths.iter().copied().fold(f64::MIN, f64::max);
        let touching = depths.iter().filter(|d| **d > -0.3 * CELL).count();
        assert!(deepest < 0.3 * CELL, "{says} {grid}: {deepest} m deep");
        assert!(touching > NODES * NODES / 4, "{says} {grid}: {touching}");
        let matter = simulation.model().tissues[0].matter;
        let heights = simulation.state().nodes[matter.index()].position.iter();
        let (low, sum) = heights.fold((f64::MAX, 0.0), |(l, s), p| (l.min(p.y), s + p.y));
        lows.push((low, sum / (NODES * NODES) as f64));
        // What is lifted moves through its own damping, too.
        let weight = (NODES * NODES) as f64 * (MASS * G + 0.01 * lift);
        let (mut force, mut steps) = (0.0, 0.0);
        rig.watch(0.2, |rig, _| {
            force += pressed(&rig.simulation).y;
            steps += 1.0;
        });
        let force = force / steps;
        assert!(
            (force - weight).abs() < 0.05 * weight,
            "{says} {grid}: {force} N for {weight} N"
        );
    }
    // As with a wedge behind each triangle.
    let [grid, _, shells] = lows[..] else {
        panic!("three scenes");
    };
    assert!((grid.0 - shells.0).abs() < 0.3 * CELL, "{lows:?}");
    assert!((grid.1 - shells.1).abs() < 0.5 * CELL, "{lows:?}");
}

#[test]
fn a_bowl_that_falls_on_a_sheet_is_hollow_to_it() {
    // Upside down over a sheet that is held: its convex hull would touch with a whole disc, it does with its rim.
    let mut text = world("step = 0.004\nsleep = false");
    let says = format!(
        "mass = 0.05\nrotation = [{:?}, 0, 0]\nform = {{ mesh = {{ file = \"bowl.obj\" }} }}\ngrid = {{ cell = {CELL} }}",
        std::f64::consts::PI
    );
    body(&mut text, "bowl", DVec3::Y * 0.003, &says);
    sheet(&mut text, DVec3::ZERO, 0.1);
    let text = text.replace(
        "material =",
        "fixed = [{ within = { centre = [0, 0, 0], radius = 1 } }]\nmaterial =",
    );
    let mut rig = rig(&text);
    rig.run(1.0);
    let mut insight = Insight::default();
    let views = Views {
        contacts: true,
        ..Views::default()
    };
    rig.simulation.insight(views, &mut insight);
    let loaded = insight.contacts.iter().filter(|c| c.force > 1e-4);
    let rims: Vec<f64> = loaded
        .map(|c| trocar_math::real::hypot(c.point.x, c.point.z))
        .collect();
    assert!(!rims.is_empty());
    assert!(
        rims.iter()
            .all(|r| (0.03 - 2.0 * CELL..0.034 + 2.0 * CELL).contains(r)),
        "{rims:?}"
    );
    let force = pressed(&rig.simulation).y;
    assert!((force + 0.05 * G).abs() < 0.05 * 0.05 * G, "{force} N");
    let low = rig.point_of_file("bowl", DVec3::ZERO).y;
    assert!(low.abs() < 0.5 * CELL, "its rim is at {low} m");
}

#[test]
fn what_is_flung_at_a_wall_does_not_pass_it() {
    // 4 mm of bowl, and up to 40 mm in a step.
    for speed in [2.0, 5.0, 10.0] {
        let mut text = bowl(
            &format!("motion = \"kinematic\"\nvelocity = [0, {speed}, 0]"),
            DVec3::new(0.0, -0.04 - 0.02 * speed, 0.0),
            true,
        );
        text = text.replace("gravity = [0, -9.81, 0]", "gravity = [0, 0, 0]");
        let mut rig = rig(&text);
        let seconds = 0.02 + 0.05 / speed;
        rig.run(seconds);
        let at = DVec3::Y * (-0.04 - 0.02 * speed + speed * rig.time());
        let matter = rig.simulation.model().tissues[0].matter;
        let positions = &rig.simulation.state().nodes[matter.index()].position;
        // None of it has come out below.
        let below = positions
            .iter()
            .filter(|p| (**p - at).length() > 0.0335 && p.y < at.y)
            .count();
        assert_eq!(below, 0, "{speed} m/s");
    }
}

#[test]
fn threads_and_snapshots_do_not_show() {
    let scene = scene(&bowl("motion = \"static\"", DVec3::ZERO, true)).unwrap();
    let mut one = Simulation::new(&scene, 1).unwrap();
    let mut two = Simulation::new(&scene, 2).unwrap();
    let input = one.idle_input();
    let mut kept = None;
    for k in 0..200 {
        one.step(&input);
        two.step(&input);
        assert_eq!(one.hash(), two.hash(), "step {k}");
        if k == 120 {
            assert!(one.report().contacts > 20);
            kept = Some(one.snapshot());
        }
    }
    let mut again = Simulation::new(&scene, 2).unwrap();
    again.restore(&kept.unwrap()).unwrap();
    for _ in 121..200 {
        again.step(&input);
    }
    assert_eq!(again.hash(), one.hash());
}

#[test]
fn what_has_no_grid_is_refused_with_its_place() {
    let whole = bowl("motion = \"static\"", DVec3::ZERO, true);
    let refused = |text: &str| {
        let scene = scene(text);
        let built = scene.and_then(|s| {
            Simulation::new(&s, 1)
                .map(|_| ())
                .map_err(|e| e.to_string())
        });
        built.expect_err("it should be refused")
    };
    for (from, to, says) in [
        ("bowl.obj", "open.obj", "open near"),
        ("cell = 0.0013", "cell = 0", "cells of 0 m"),
        ("cell = 0.0013", "cell = -1", "cells of -1 m"),
        ("cell = 0.0013", "cell = nan", "cells of NaN m"),
        ("cell = 0.0013", "cell = 1e-7", "blocks"),
        ("cell = 0.0013", "cell = 1e-4", "choose"),
        (
            "{ mesh = { file = \"bowl.obj\" } }",
            "{ ball = 0.01 }",
            "form is a mesh",
        ),
        (
            "motion = \"static\"",
            "motion = \"static\"\ncollide = false",
            "nothing touches",
        ),
    ] {
        let text = whole.replace(from, to);
        assert_ne!(text, whole);
        let error = refused(&text);
        assert!(error.contains(says), "{to}: {error}");
        assert!(error.contains("scene.toml:"), "{to}: {error}");
    }
}

//! `[world] order`: with 4 or 6 the error of a motion falls with the fourth or sixth power of the step, wherever joints alone act (B72);
//! elsewhere the step is what it is without.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::rigid::{Rig, body, joint, world};
use glam::DVec3;
use trocar_math::real;
use trocar_scene::Scene;

const TIGHT: &str = "tolerance = 1e-12\nvelocity_tolerance = 1e-12";

/// Two bars of three different moments on ball joints, thrown out of their plane.
fn double_pendulum(says: &str) -> String {
    let mut text = world(&format!("{TIGHT}\n{says}"));
    let bar = "mass = 1\nhalf_extents = [0.25, 0.02, 0.06]\ncollide = false";
    body(
        &mut text,
        "upper",
        DVec3::new(0.25, 0.0, 0.0),
        &format!("{bar}\nvelocity = [0, 0, 0.2]\nspin = [0.5, -0.8, 0]"),
    );
    body(
        &mut text,
        "lower",
        DVec3::new(0.75, 0.0, 0.0),
        &format!("{bar}\nvelocity = [0, 0, 0.6]\nspin = [-0.7, -0.8, 0]"),
    );
    joint(
        &mut text,
        "kind = \"ball\"\na = { world = [0, 0, 0] }\nb = { body = \"upper\", at = [-0.25, 0, 0] }",
    );
    joint(
        &mut text,
        "kind = \"ball\"\na = { body = \"upper\", at = [0.25, 0, 0] }\nb = { body = \"lower\", at = [-0.25, 0, 0] }",
    );
    text
}

/// A four-bar linkage of hinges: a loop, with rows that others determine.
fn four_bar(says: &str) -> String {
    let mut text = world(&format!("{TIGHT}\n{says}"));
    let bar =
        |x: f64, y: f64| format!("mass = 1\nhalf_extents = [{x}, {y}, 0.02]\ncollide = false");
    // Velocities that joints contradict would cost the first step its order.
    let rocks = "velocity = [0.45, 0, 0]\nspin = [0, 0, -2.25]";
    body(
        &mut text,
        "crank",
        DVec3::new(0.0, 0.15, 0.0),
        &format!(
            "{}\nvelocity = [0.45, 0, 0]\nspin = [0, 0, -3]",
            bar(0.01, 0.15)
        ),
    );
    body(
        &mut text,
        "coupler",
        DVec3::new(0.3, 0.3, 0.0),
        &format!("{}\nvelocity = [0.9, 0, 0]", bar(0.3, 0.01)),
    );
    body(
        &mut text,
        "rocker",
        DVec3::new(0.6, 0.1, 0.0),
        &format!("{}\n{rocks}", bar(0.01, 0.2)),
    );
    let hinge = |a: &str, b: &str| format!("kind = \"hinge\"\naxis = [0, 0, 1]\na = {a}\nb = {b}");
    for (a, b) in [
        (
            "{ world = [0, 0, 0] }",
            "{ body = \"crank\", at = [0, -0.15, 0] }",
        ),
        (
            "{ body = \"crank\", at = [0, 0.15, 0] }",
            "{ body = \"coupler\", at = [-0.3, 0, 0] }",
        ),
        (
            "{ body = \"coupler\", at = [0.3, 0, 0] }",
            "{ body = \"rocker\", at = [0, 0.2, 0] }",
        ),
        (
            "{ world = [0.6, -0.1, 0] }",
            "{ body = \"rocker\", at = [0, -0.2, 0] }",
        ),
    ] {
        joint(&mut text, &hinge(a, b));
    }
    text
}

/// Where a point of a body is after 0.4 s in steps of `h`.
fn end(scene: &dyn Fn(&str) -> String, name: &str, h: f64, says: &str) -> DVec3 {
    let mut rig = Rig::new(&scene(&format!("step = {h}\n{says}")));
    rig.run(0.4);
    assert!((rig.time() - 0.4).abs() < 1e-9);
    rig.point(name, DVec3::X * 0.25)
}

/// The power of the step that the error falls with, from `h` to half of it, and the error at `h`.
fn measured(
    scene: &dyn Fn(&str) -> String,
    name: &str,
    h: f64,
    says: &str,
    exact: DVec3,
) -> (f64, f64) {
    let [coarse, fine] = [h, 0.5 * h].map(|h| end(scene, name, h, says).distance(exact));
    (real::ln(coarse / fine) / real::ln(2.0), coarse)
}

#[test]
fn errors_fall_with_the_power_of_the_order() {
    let exact = end(&double_pendulum, "lower", 2.5e-4, "order = 6");
    for (order, h) in [(2, 0.004), (4, 0.01), (6, 0.0125)] {
        let (power, error) = measured(
            &double_pendulum,
            "lower",
            h,
            &format!("order = {order}"),
            exact,
        );
        println!("order {order}: error {error:e} m at {h} s, falls with the power {power:.2}");
        assert!((power - f64::from(order)).abs() < 0.2, "{order}: {power}");
    }
    // At the same step each order is much nearer.
    let at = |order: u32| {
        end(&double_pendulum, "lower", 0.01, &format!("order = {order}")).distance(exact)
    };
    let (two, four, six) = (at(2), at(4), at(6));
    println!("at 10 ms: {two:e}, {four:e}, {six:e} m");
    assert!(four < 0.02 * two && six < 0.1 * four);
}

#[test]
fn every_solver_has_it() {
    let exact = end(&double_pendulum, "lower", 5e-4, "order = 6");
    for solver in ["iterative", "system", "graph"] {
        let says = format!("order = 4\nsolver = \"{solver}\"\niterations = 1000");
        let (power, _) = measured(&double_pendulum, "lower", 0.008, &says, exact);
        println!("{solver}: {power}");
        assert!((power - 4.0).abs() < 0.4, "{solver}: {power}");
    }
}

#[test]
fn loops_have_it() {
    let exact = end(&four_bar, "coupler", 5e-4, "order = 6");
    for (order, h) in [(2, 0.004), (4, 0.008)] {
        let (power, error) = measured(&four_bar, "coupler", h, &format!("order = {order}"), exact);
        println!("order {order}: {power}, {error:e}");
        assert!((power - f64::from(order)).abs() < 0.4, "{order}: {power}");
    }
}

#[test]
fn joints_hold_and_momentum_is_kept() {
    // In free flight, at a step that is long for it.
    let mut text = world(&format!(
        "{TIGHT}\nstep = 0.01\norder = 4\ngravity = [0, 0, 0]"
    ));
    let bar = "mass = 1\nhalf_extents = [0.25, 0.02, 0.06]\ncollide = false";
    for i in 0..4 {
        let says = format!(
            "{bar}\nspin = [{i}, {}, 3]\nvelocity = [0, {}, 0]",
            i % 2,
            1.5 * f64::from(i)
        );
        body(
            &mut text,
            &format!("bar {i}"),
            DVec3::X * (0.5 * f64::from(i)),
            &says,
        );
        if i > 0 {
            joint(
                &mut text,
                &format!(
                    "kind = \"ball\"\na = {{ body = \"bar {}\", at = [0.25, 0, 0] }}\nb = {{ body = \"bar {i}\", at = [-0.25, 0, 0] }}",
                    i - 1
                ),
            );
        }
    }
    let mut rig = Rig::new(&text);
    let (linear, angular) = rig.momentum();
    rig.step();
    let energy = rig.energy();
    rig.watch(20.0, |rig, report| {
        assert!(report.aim.converged && rig.gap() < 2e-12, "{}", rig.gap());
    });
    let (linear_then, angular_then) = rig.momentum();
    assert!(linear.distance(linear_then) < 1e-9);
    assert!(angular.distance(angular_then) < 1e-9);
    let gained = rig.energy() / energy - 1.0;
    println!("energy changed by {gained:e} of itself in 20 s");
    assert!(gained.abs() < 1e-6, "{gained}");
}

#[test]
fn where_it_is_not_smooth_the_step_is_as_without() {
    // A stop that holds, a drive and a contact: the same bits as with order 2.
    let pendulum = |says: &str, bar: &str, control: &str, more: &str| {
        let mut text = world(says);
        body(
            &mut text,
            "bar",
            DVec3::new(0.25, 0.0, 0.0),
            &format!("mass = 1\nhalf_extents = [0.25, 0.02, 0.06]\n{bar}"),
        );
        joint(
            &mut text,
            &format!(
                "kind = \"hinge\"\naxis = [0, 0, 1]\na = {{ world = [0, 0, 0] }}\nb = {{ body = \"bar\", at = [-0.25, 0, 0] }}\n{control}"
            ),
        );
        text.push_str(more);
        text
    };
    let hashes = |order: u32, bar: &str, control: &str, more: &str, seconds: f64| {
        let mut rig = Rig::new(&pendulum(
            &format!("step = 0.005\norder = {order}"),
            bar,
            control,
            more,
        ));
        rig.run(seconds);
        (rig.simulation.hash(), rig.point("bar", DVec3::X * 0.25))
    };
    let floor = "[[body]]\nname = \"floor\"\nmotion = \"static\"\nhalf_extents = [2, 0.05, 2]\nposition = [0, -0.0701, 0]\n";
    for (bar, control, more) in [
        ("collide = false", "range = [0, 1]", ""),
        (
            "collide = false",
            "drive = { spring = { rest = 0.3, stiffness = 2, damping = 0.1 } }",
            "",
        ),
        ("", "", floor),
    ] {
        let [two, four] = [2, 4].map(|order| hashes(order, bar, control, more, 0.5));
        assert_eq!(two.0, four.0, "{control}{bar}{more}");
    }
    // A stop in the middle of a swing: the swing is of order 4, and the stop holds.
    let swing = |order: u32| hashes(order, "collide = false", "range = [-1, 0]", "", 0.35).1;
    let held = real::atan2(-swing(4).y, swing(4).x);
    assert!((held - 1.0).abs() < 1e-6, "{held}");
    assert!(swing(4).distance(swing(2)) < 1e-6);
}

#[test]
fn a_restored_snapshot_goes_the_same_way() {
    let text = double_pendulum("step = 0.01\norder = 4");
    let mut first = Rig::new(&text);
    first.run(0.5);
    let kept = first.simulation.snapshot();
    first.run(0.5);
    let mut second = Rig::with_threads(&text, 2);
    second.simulation.restore(&kept).unwrap();
    second.run(0.5);
    assert_eq!(first.simulation.hash(), second.simulation.hash());
}

#[test]
fn orders_that_do_not_exist_are_refused() {
    for (says, reason) in [
        ("order = 3", "no substeps of order 3"),
        (
            "order = 4\ncorrect_velocities = false",
            "needs right velocities",
        ),
        ("order = 6\nturning = \"runge_kutta\"", "runge_kutta"),
    ] {
        let scene = Scene::from_text("test.toml", &double_pendulum(says));
        let refused = match scene {
            Err(e) => e.to_string(),
            Ok(scene) => trocar_scene::Simulation::new(&scene, 1)
                .err()
                .unwrap()
                .to_string(),
        };
        assert!(refused.contains(reason), "{refused}");
    }
}

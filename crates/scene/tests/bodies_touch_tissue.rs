//! Rigid bodies, instruments and tissue push and rub each other, as mechanics says.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::rigid::{Rig, body, vector, world};
use common::{go, handle_to};
use glam::DVec3;
use std::fmt::Write;
use trocar_scene::{Insight, Views};

const G: f64 = 9.81;

/// A sheet in the x–z plane about the origin, turned about z by `angle`, that faces up.
fn sheet(text: &mut String, size: f64, count: usize, angle: f64, fixed: &str, material: &str) {
    let half = 0.5 * size;
    let (s, c) = trocar_math::real::sin_cos(angle);
    let along = DVec3::new(c, s, 0.0);
    let across = DVec3::Z;
    let origin = -(along + across) * half;
    writeln!(
        text,
        "[[sheet]]\nname = \"sheet\"\norigin = {}\nu = {}\nv = {}\nrows = {count}\ncolumns = {count}\n\
         fixed = {fixed}\nmaterial = {{ {material} }}",
        vector(origin),
        vector(across * size),
        vector(along * size),
    )
    .unwrap();
}

/// All of it.
const FIXED: &str = "[{ within = { centre = [0, 0, 0], radius = 10 } }]";

/// Its four edges.
fn edges(count: usize) -> String {
    let last = count - 1;
    let sides: Vec<String> = (1..last)
        .flat_map(|k| [k * count, k * count + last])
        .map(|n| n.to_string())
        .collect();
    format!(
        "[{{ ring = 0 }}, {{ ring = {last} }}, {{ nodes = [{}] }}]",
        sides.join(", ")
    )
}

/// Force of all contacts on what they push, N.
fn pressed(rig: &Rig) -> DVec3 {
    let mut insight = Insight::default();
    let views = Views {
        contacts: true,
        ..Views::default()
    };
    rig.simulation.insight(views, &mut insight);
    let forces = insight.contacts.iter();
    forces.map(|c| c.normal * c.force + c.friction).sum()
}

const FORMS: [&str; 6] = [
    "{ ball = 0.015 }",
    "{ box = [0.015, 0.01, 0.02] }",
    "{ capsule = { half_length = 0.01, radius = 0.012 } }",
    "{ cylinder = { half_length = 0.012, radius = 0.015 } }",
    "{ hull = [[-0.02, -0.01, -0.02], [0.02, -0.01, -0.02], [0, -0.01, 0.025], [0, 0.025, 0]] }",
    "{ compound = [{ form = { box = [0.02, 0.005, 0.01] } }, { form = { ball = 0.008 }, position = [0.0, 0.01, 0.0] }] }",
];

#[test]
fn a_box_on_a_slope_of_tissue_sticks_below_the_friction_angle_and_slides_above() {
    let friction: f64 = 0.5;
    let angle = trocar_math::real::atan2(friction, 1.0);
    for (slope, sticks) in [(angle - 0.02, true), (angle + 0.02, false)] {
        let mut text = world("step = 0.002\nsleep = false");
        let material = format!(
            "mass = 0.01, damping = 0.1, stiffness = 10, friction = [{friction}, {friction}]"
        );
        sheet(&mut text, 0.6, 13, slope, FIXED, &material);
        let (s, c) = trocar_math::real::sin_cos(slope);
        let (up, along) = (DVec3::new(-s, c, 0.0), DVec3::new(c, s, 0.0));
        body(
            &mut text,
            "box",
            up * 0.0200 + along * 0.1,
            &format!(
                "mass = 0.2\nhalf_extents = [0.04, 0.02, 0.03]\nrotation = [0, 0, {slope:?}]\n\
                 friction = [{friction}, {friction}]"
            ),
        );
        let mut rig = Rig::new(&text);
        // The surface yields a little: it is let settle.
        rig.run(0.3);
        let (start, before) = (rig.position("box"), rig.velocity("box"));
        let seconds = 0.5;
        rig.run(seconds);
        let way = -(rig.position("box") - start).dot(along);
        if sticks {
            assert!(way.abs() < 1e-5, "it slid {way} m");
        } else {
            let gained = -(rig.velocity("box") - before).dot(along) / seconds;
            let felt = (G * s - gained) / (G * c);
            assert!(
                (felt / friction - 1.0).abs() < 0.02,
                "friction of {felt} instead of {friction}"
            );
        }
    }
}

#[test]
fn what_is_laid_on_a_sheet_comes_to_rest_and_the_sheet_bears_its_weight() {
    for form in FORMS {
        let mut text = world("step = 0.002");
        let material = "mass = 0.0005, damping = 0.05, stiffness = 60, friction = [0.6, 0.5]";
        sheet(&mut text, 0.12, 13, 0.0, &edges(13), material);
        body(
            &mut text,
            "thing",
            DVec3::new(0.003, 0.03, 0.002),
            &format!("mass = 0.03\nform = {form}"),
        );
        let mut rig = Rig::new(&text);
        rig.run(4.0);
        let (mut force, mut steps) = (DVec3::ZERO, 0.0);
        let mut fastest = 0.0_f64;
        rig.watch(0.5, |rig, _| {
            force += pressed(rig);
            steps += 1.0;
            fastest = fastest.max(rig.velocity("thing").length());
        });
        let place = rig.position("thing");
        assert!(place.y > -0.05 && place.y < 0.03, "{form}: at {place}");
        assert!(fastest < 2e-3, "{form}: {fastest} m/s");
        let weight = force.y / steps;
        assert!(
            (weight + 0.03 * G).abs() < 0.02 * 0.03 * G,
            "{form}: {weight} N instead of {} N",
            -0.03 * G
        );
    }
}

#[test]
fn a_free_body_and_a_free_net_exchange_momentum_and_keep_its_sum() {
    for form in FORMS {
        let mut text = world("step = 0.001\ngravity = [0, 0, 0]");
        let material = "mass = 0.001, damping = 0, stiffness = 40, friction = [0.6, 0.5]";
        sheet(&mut text, 0.1, 9, 0.0, "[]", material);
        body(
            &mut text,
            "thing",
            DVec3::new(0.004, 0.04, -0.003),
            &format!("mass = 0.05\nform = {form}\nvelocity = [0.1, -0.5, 0.02]\nspin = [1, 2, 3]"),
        );
        let mut rig = Rig::new(&text);
        let before = rig.momentum();
        let own = rig.velocity("thing") * 0.05;
        rig.run(0.3);
        let after = rig.momentum();
        let given = (rig.velocity("thing") * 0.05 - own).length();
        assert!(given > 1e-3, "{form}: it did not touch: {given}");
        let lost = (after.0 - before.0).length();
        assert!(lost < 1e-9 * before.0.length(), "{form}: {lost} N·s");
        // Nodes move on while the impulse acts: angular momentum is kept to the order of the substep.
        let turned = (after.1 - before.1).length();
        assert!(turned < 2e-3 * given * 0.05, "{form}: {turned} N·m·s");
    }
}

#[test]
fn a_sheet_that_falls_on_a_floor_a_table_and_a_ball_lies_on_them() {
    let supports = [
        ("{ half_space = [0, 1, 0] }", "[0, -0.05, 0]", -0.05),
        ("{ box = [0.2, 0.02, 0.2] }", "[0, -0.07, 0]", -0.05),
        (
            "{ cylinder = { half_length = 0.02, radius = 0.2 } }",
            "[0, -0.07, 0]",
            -0.05,
        ),
    ];
    for (form, at, top) in supports {
        let mut text = world("step = 0.002");
        let material = "mass = 0.0005, damping = 0.01, stiffness = 30";
        sheet(&mut text, 0.1, 9, 0.0, "[]", material);
        writeln!(
            text,
            "[[body]]\nname = \"floor\"\nmotion = \"static\"\nposition = {at}\nform = {form}"
        )
        .unwrap();
        let mut rig = Rig::new(&text);
        rig.run(1.0);
        let matter = rig.simulation.model().tissues[0].matter;
        for p in &rig.simulation.state().nodes[matter.index()].position {
            assert!((p.y - top).abs() < 5e-5, "{form}: {p}");
        }
        let weight = 81.0 * 0.0005 * G;
        let force = -pressed(&rig).y;
        assert!((force + weight).abs() < 0.02 * weight, "{form}: {force} N");
    }
}

#[test]
fn what_starts_inside_tissue_is_put_out_of_it_gently() {
    let mut text = world("step = 0.002\ngravity = [0, 0, 0]");
    let material = "mass = 0.0005, damping = 0.02, stiffness = 30, memory = 5";
    sheet(&mut text, 0.1, 11, 0.0, &edges(11), material);
    body(
        &mut text,
        "box",
        DVec3::new(0.001, 0.001, 0.002),
        "mass = 0.02\nhalf_extents = [0.012, 0.006, 0.012]",
    );
    let mut rig = Rig::new(&text);
    let mut fastest = 0.0_f64;
    rig.watch(2.0, |rig, _| {
        fastest = fastest.max(rig.velocity("box").length());
    });
    assert!(fastest < 0.5, "thrown at {fastest} m/s");
    assert!(rig.position("box").is_finite());
    // Put out on one side, and the sheet back in its plane.
    let matter = rig.simulation.model().tissues[0].matter;
    let nodes = &rig.simulation.state().nodes[matter.index()].position;
    let farthest = nodes.iter().map(|p| p.y.abs()).fold(0.0, f64::max);
    assert!(farthest < 6.5e-3, "{farthest}");
}

#[test]
fn a_grasper_pushes_a_ball_along_a_table_and_feels_it() {
    let mut text = world("step = 0.001");
    body(
        &mut text,
        "table",
        DVec3::new(0.0, -0.02, 0.0),
        "motion = \"static\"\nhalf_extents = [0.2, 0.02, 0.2]",
    );
    body(
        &mut text,
        "ball",
        DVec3::new(0.0, 0.012, 0.0),
        "mass = 0.05\nform = { ball = 0.012 }",
    );
    text += "[[instrument]]\nname = \"grasper\"\ntrocar = [-0.15, 0.03, 0.0]\ntarget = [0, 0.012, 0]\ndepth = 0.08\n\
             speed = 0.1\njaw = 0.9\n";
    let mut rig = Rig::new(&text);
    rig.run(1.0);
    assert!(rig.position("ball").length() < 0.0121, "it lies still");
    let mut felt = DVec3::ZERO;
    let target = handle_to(&rig.simulation, 0, DVec3::new(0.03, 0.012, 0.0), 0.9);
    // The jaws beside each other: the ball lies between them.
    rig.input.handles[0] = trocar_tools::Handle {
        roll: std::f64::consts::FRAC_PI_2,
        ..target
    };
    rig.watch(1.0, |rig, _| {
        let force = rig.simulation.force(0);
        if force.length() > felt.length() {
            felt = force;
        }
    });
    let place = rig.position("ball");
    assert!(place.x > 0.015 && place.z.abs() < 2e-3, "pushed to {place}");
    assert!(
        (place.y - 0.012).abs() < 1e-3,
        "it rolls on the table: {place}"
    );
    assert!(felt.x < -0.005, "the tip is pushed back: {felt}");
}

#[test]
fn instruments_rub_only_where_the_tissue_says_so() {
    let shifted = |friction: &str| {
        let mut text = world("step = 0.001\ngravity = [0, 0, 0]");
        let material =
            format!("mass = 0.0005, damping = 0.05, stiffness = 20, memory = 4{friction}");
        sheet(&mut text, 0.1, 13, 0.0, &edges(13), &material);
        text += "[[instrument]]\nname = \"grasper\"\ntrocar = [0.0, 0.15, 0.0]\ntarget = [0, 0, 0]\ndepth = 0.11\n\
                 jaw = 0.5\nfriction = [0.8, 0.7]\n";
        let mut rig = Rig::new(&text);
        go(&mut rig.simulation, DVec3::new(0.0, -0.005, 0.0), 0.5, 0.5);
        go(
            &mut rig.simulation,
            DVec3::new(0.015, -0.005, 0.0),
            0.5,
            0.5,
        );
        let matter = rig.simulation.model().tissues[0].matter;
        let nodes = &rig.simulation.state().nodes[matter.index()].position;
        let start = &rig.simulation.model().start[matter.index()].position;
        let moved = nodes.iter().zip(start).map(|(a, b)| a.x - b.x);
        moved.fold(0.0, f64::max)
    };
    let (slips, rubs) = (shifted(""), shifted(", friction = [0.8, 0.7]"));
    assert!(rubs > slips + 5e-4, "{rubs} m against {slips} m");
}

#[test]
fn impossible_friction_and_timetables_are_refused_with_a_place() {
    let base = |material: &str, target: &str| {
        format!(
            "trocar = 1\n[[sheet]]\nname = \"sheet\"\norigin = [0, 0, 0]\nu = [0.1, 0, 0]\nv = [0, 0, 0.1]\nrows = 3\n\
             columns = 3\nmaterial = {{ mass = 0.01, damping = 0.1, stiffness = 10{material} }}\n\
             [[body]]\nname = \"box\"\nmass = 1\nhalf_extents = [0.1, 0.1, 0.1]\nposition = [0, 1, 0]\n\
             [[joint]]\nkind = \"slider\"\na = {{ world = [0, 1, 0] }}\nb = {{ body = \"box\" }}\n\
             drive = {{ servo = {{ target = {target}, stiffness = 1, most = 1 }} }}\n"
        )
    };
    let build = |text: &str| {
        let scene = trocar_scene::Scene::from_text("test.toml", text)?;
        trocar_scene::Simulation::new(&scene, 1).map(|_| ())
    };
    build(&base(", friction = [0.5, 0.4]", "[[0, 0], [1, 2]]")).unwrap();
    for (text, word) in [
        (base(", friction = [-0.1, -0.2]", "0"), "friction"),
        (base(", friction = [nan, 0.1]", "0"), "friction"),
        (base(", friction = [0.3, 0.4]", "0"), "friction"),
        (base(", friction = [1e9, 0.4]", "0"), "friction"),
        (base("", "[]"), "[time, target]"),
        (base("", "[[1, 0], [0, 1]]"), "[time, target]"),
        (base("", "[[0, 0], [0, 1]]"), "[time, target]"),
        (base("", "[[0, nan]]"), "drive"),
        (base("", "[[-1, 0]]"), "[time, target]"),
    ] {
        let error = build(&text)
            .err()
            .unwrap_or_else(|| panic!("{text}"))
            .to_string();
        assert!(
            error.contains(word) && error.contains("test.toml:"),
            "{error}"
        );
    }
}

#[test]
fn bodies_pass_through_what_is_not_touchable() {
    let fallen = |edit: &str| {
        let mut text = world("step = 0.002\nsleep = false");
        sheet(
            &mut text,
            0.2,
            9,
            0.0,
            &edges(9),
            "mass = 0.005, damping = 0.2, stiffness = 200",
        );
        text += edit;
        body(
            &mut text,
            "ball",
            DVec3::new(0.0, 0.02, 0.0),
            "mass = 0.01\nform = { ball = 0.015 }",
        );
        let mut rig = Rig::new(&text);
        rig.run(0.5);
        rig.position("ball").y
    };
    // The middle 5 by 5 nodes: what is left of the sheet is farther from the ball than its radius.
    let middle: Vec<String> = (2..7)
        .flat_map(|r| {
            (2..7).map(move |c| format!("{{ node = {}, touchable = WHETHER }}", r * 9 + c))
        })
        .collect();
    let edit = format!("[sheet.edit]\nnodes = [{}]\n", middle.join(", "));
    assert!(fallen("") > -0.1, "the sheet bears it");
    assert!(fallen(&edit.replace("WHETHER", "true")) > -0.1);
    assert!(fallen(&edit.replace("WHETHER", "false")) < -0.5, "it falls");
}

/// A weight presses for as long as the substep is: what contacts with tissue start from grows and shrinks with it. So one sweep
/// is enough for what lies still, although steps become shorter and longer.
#[test]
fn what_lies_on_tissue_does_not_notice_that_steps_change() {
    let mut text = world("step = 0.002\nsleep = false");
    let material = "mass = 0.0005, damping = 0.05, stiffness = 60, friction = [0.6, 0.5]";
    sheet(&mut text, 0.12, 13, 0.0, &edges(13), material);
    body(
        &mut text,
        "thing",
        DVec3::new(0.003, 0.015, 0.002),
        "mass = 0.03\nform = { box = [0.015, 0.01, 0.02] }",
    );
    let mut rig = Rig::new(&text);
    rig.run(6.0);
    for dt in [0.0005, 0.002] {
        rig.input.dt = dt;
        rig.input.iterations = 1;
        let mut fastest = 0.0_f64;
        for _ in 0..3 {
            rig.step();
            fastest = fastest.max(rig.velocity("thing").length());
        }
        assert!(fastest < 2e-3, "{fastest} m/s after steps of {dt} s began");
        rig.input.iterations = 60;
        rig.run(2.0);
    }
}

/// A ridged roof that is a mesh, not convex: three ridges and the valleys between them along z, open below.
fn ridges() -> String {
    let mut text = String::new();
    let count = 13;
    for k in 0..count {
        let x = -0.12 + 0.02 * f64::from(k);
        let y = if k % 4 == 2 { 0.01 } else { 0.0 };
        for z in [-0.12, 0.0, 0.12] {
            writeln!(text, "v {x} {y} {z}").unwrap();
        }
    }
    // A floor below, so that it is closed.
    for [x, z] in [[-0.12, -0.12], [-0.12, 0.12], [0.12, -0.12], [0.12, 0.12]] {
        writeln!(text, "v {x} -0.02 {z}").unwrap();
    }
    let top = |k: i32, row: i32| 3 * k + row + 1;
    let base = 3 * count;
    let mut face = |a: i32, b: i32, c: i32| writeln!(text, "f {a} {b} {c}").unwrap();
    for k in 0..count - 1 {
        for row in 0..2 {
            let (a, b) = (top(k, row), top(k, row + 1));
            let (c, d) = (top(k + 1, row), top(k + 1, row + 1));
            face(a, b, c);
            face(c, b, d);
        }
    }
    let [ll, lr, rl, rr] = [1, 2, 3, 4].map(|k| base + k);
    let last = count - 1;
    // Both ends, the two long sides and the bottom.
    face(ll, lr, top(0, 1));
    face(lr, top(0, 2), top(0, 1));
    face(ll, top(0, 1), top(0, 0));
    face(rr, rl, top(last, 1));
    face(rl, top(last, 0), top(last, 1));
    face(rr, top(last, 1), top(last, 2));
    for k in 0..last {
        face(ll, top(k, 0), top(k + 1, 0));
        face(lr, top(k + 1, 2), top(k, 2));
    }
    face(ll, top(last, 0), rl);
    face(lr, rr, top(last, 2));
    face(ll, rl, lr);
    face(lr, rl, rr);
    text
}

/// A sheet falls on a mesh that is not convex, and lies on it: nowhere below its surface, and borne in full. In the second
/// scene the mesh comes to the sheet from below and lifts it.
#[test]
fn a_sheet_lies_on_a_mesh() {
    for (says, from, lift) in [
        ("motion = \"static\"", -0.03, 0.0),
        (
            "motion = \"kinematic\"\nvelocity = [0, 0.05, 0]",
            -0.06,
            0.05,
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ridges.obj"), ridges()).unwrap();
        let mut text = world("step = 0.002");
        let material = "mass = 0.0005, damping = 0.02, stiffness = 30";
        sheet(&mut text, 0.1, 11, 0.0, "[]", material);
        let says = format!("{says}\nform = {{ mesh = {{ file = \"ridges.obj\" }} }}");
        body(&mut text, "ridges", DVec3::new(0.0, from, 0.0), &says);
        std::fs::write(folder.path().join("scene.toml"), text).unwrap();
        let scene = trocar_scene::Scene::load(folder.path().join("scene.toml"))
            .unwrap_or_else(|e| panic!("{e}"));
        let mut rig = Rig::of(&scene, 1);
        let seconds = 1.5;
        rig.run(seconds);
        let up = from + lift * seconds;
        let matter = rig.simulation.model().tissues[0].matter;
        let (mut lowest, mut highest) = (f64::INFINITY, f64::NEG_INFINITY);
        for p in &rig.simulation.state().nodes[matter.index()].position {
            let cell = (p.x + 0.12) / 0.02;
            let ridge = (1.0 - (cell.rem_euclid(4.0) - 2.0).abs()).max(0.0) * 0.01;
            lowest = lowest.min(p.y - up - ridge);
            highest = highest.max(p.y - up);
        }
        assert!(lowest > -1e-3, "{says}: {lowest} m below the surface");
        assert!(highest > 0.009 && highest < 0.012, "{says}: {highest}");
        // What is lifted moves through its own damping, too.
        let weight = 121.0 * (0.0005 * G + 0.02 * lift);
        let (mut force, mut steps) = (0.0, 0.0);
        rig.watch(0.3, |rig, _| {
            force -= pressed(rig).y;
            steps += 1.0;
        });
        let force = force / steps;
        assert!((force + weight).abs() < 0.05 * weight, "{says}: {force} N");
    }
}

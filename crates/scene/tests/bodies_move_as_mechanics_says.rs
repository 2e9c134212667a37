//! A body that nothing touches moves as mechanics says (B11–B19): it falls along its parabola, keeps its angular momentum and its
//! energy, and turns over about its middle axis; and its mass lies where its form says.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::rigid::{Rig, body, vector, world};
use glam::DVec3;
use trocar_math::{real, rotation};
use trocar_scene::Scene;

const TURNINGS: [&str; 2] = ["momentum", "runge_kutta"];

#[test]
fn what_is_thrown_flies_along_its_parabola() {
    for step in [0.001, 0.01, 0.05] {
        let mut text = world(&format!("step = {step:?}\ngravity = [0.5, -9.81, 0.2]"));
        let (at, v) = (DVec3::new(0.1, 0.2, 0.3), DVec3::new(1.0, 3.0, -0.5));
        body(
            &mut text,
            "box",
            at,
            &format!(
                "mass = 0.7\nhalf_extents = [0.01, 0.02, 0.03]\nvelocity = {}\nspin = [1, 2, 3]",
                vector(v)
            ),
        );
        text += &format!(
            "[[particle]]\nname = \"bead\"\nmass = 0.1\nposition = [-1, 0, 0]\nvelocity = {}\n",
            vector(v)
        );
        let mut rig = Rig::new(&text);
        let g = DVec3::new(0.5, -9.81, 0.2);
        rig.watch(1.0, |rig, _| {
            let t = rig.time();
            let way = v * t + g * (0.5 * t * t);
            assert!(
                rig.position("box").distance(at + way) < 1e-12,
                "step {step}, {t} s: {}",
                rig.position("box")
            );
            assert!(rig.position("bead").distance(DVec3::NEG_X + way) < 1e-12);
            assert!(rig.velocity("box").distance(v + g * t) < 1e-12);
        });
    }
}

#[test]
fn a_body_turns_evenly_about_a_principal_axis() {
    for turning in TURNINGS {
        let mut text = world(&format!(
            "step = 0.005\ngravity = [0, 0, 0]\nturning = \"{turning}\""
        ));
        body(
            &mut text,
            "box",
            DVec3::ZERO,
            "mass = 1\nhalf_extents = [0.02, 0.05, 0.1]\nspin = [0, 0, 7]",
        );
        let mut rig = Rig::new(&text);
        rig.run(2.0);
        let ideal = rotation::from_scaled_axis(DVec3::Z * 14.0);
        assert!(
            rig.orientation("box").dot(ideal).abs() > 1.0 - 1e-9,
            "{turning}: {} for {ideal}",
            rig.orientation("box")
        );
        assert!(rig.spin("box").distance(DVec3::Z * 7.0) < 1e-9);
    }
}

/// A book that nobody touches, spun about some axis; the spin in its own frame is looked at.
fn book(turning: &str, step: f64, spin: DVec3, seconds: f64, mut look: impl FnMut(&Rig, DVec3)) {
    let mut text = world(&format!(
        "step = {step:?}\ngravity = [0, 0, 0]\nturning = \"{turning}\""
    ));
    body(
        &mut text,
        "book",
        DVec3::ZERO,
        &format!(
            "mass = 1.2\nhalf_extents = [0.01, 0.07, 0.11]\nrotation = [0.3, -0.2, 0.5]\nspin = {}",
            { vector(rotation::from_scaled_axis(DVec3::new(0.3, -0.2, 0.5)) * spin) }
        ),
    );
    let mut rig = Rig::new(&text);
    let (energy, (_, momentum)) = (rig.energy(), rig.momentum());
    let keeps = if turning == "momentum" { 1e-12 } else { 1e-6 };
    rig.watch(seconds, |rig, _| {
        let (e, (_, l)) = (rig.energy(), rig.momentum());
        let turned = l.distance(momentum) / momentum.length();
        assert!(
            turned < keeps,
            "{turning}: L changes by {turned} at {} s",
            rig.time()
        );
        assert!(
            (e / energy - 1.0).abs() < 1e-4,
            "{turning}: E is {} at {} s",
            e / energy,
            rig.time()
        );
        look(rig, rig.orientation("book").conjugate() * rig.spin("book"));
    });
}

#[test]
fn a_spun_book_turns_over_about_its_middle_axis_only() {
    for turning in TURNINGS {
        // About y lies the middle moment: x has the greatest (the flat side), z the least.
        for (axis, flips) in [(DVec3::X, false), (DVec3::Y, true), (DVec3::Z, false)] {
            let mut least = f64::INFINITY;
            book(
                turning,
                0.001,
                axis * 12.0 + DVec3::new(0.03, 0.02, 0.03),
                5.0,
                |_, w| least = least.min(w.dot(axis)),
            );
            if flips {
                assert!(least < -11.0, "{turning}: it does not turn over: {least}");
            } else {
                assert!(least > 11.5, "{turning}, {axis}: {least}");
            }
        }
    }
}

/// An even top nods: its axis goes round L at L/I₁ (free precession).
#[test]
fn an_even_top_precesses_at_the_rate_of_the_closed_form() {
    for turning in TURNINGS {
        let mut text = world(&format!(
            "step = 0.001\ngravity = [0, 0, 0]\nturning = \"{turning}\""
        ));
        let spin = DVec3::new(2.0, 20.0, 0.0);
        body(
            &mut text,
            "top",
            DVec3::ZERO,
            &format!(
                "mass = 1\nform = {{ cylinder = {{ half_length = 0.02, radius = 0.1 }} }}\nspin = {}",
                vector(spin)
            ),
        );
        let (along, across) = (0.5 * 0.01, 0.25 * 0.01 + 0.0004 / 3.0);
        let l = DVec3::new(across * spin.x, along * spin.y, 0.0);
        let mut rig = Rig::new(&text);
        rig.run(1.0);
        let axis = rotation::from_scaled_axis(l / across) * DVec3::Y;
        let found = rig.orientation("top") * DVec3::Y;
        assert!(found.distance(axis) < 2e-4, "{turning}: {found} for {axis}");
    }
}

/// A fifteenth of a radian a step, for a minute: L is exact, and the energy hardly goes away.
#[test]
fn a_fast_top_keeps_its_energy_for_a_minute() {
    let mut text = world("step = 0.002\ngravity = [0, 0, 0]\nturning = \"momentum\"");
    body(
        &mut text,
        "top",
        DVec3::ZERO,
        "mass = 1\nhalf_extents = [0.01, 0.07, 0.11]\nspin = [3, 30, 1]",
    );
    let mut rig = Rig::new(&text);
    let (energy, (_, l)) = (rig.energy(), rig.momentum());
    rig.watch(60.0, |rig, _| {
        assert!(
            (rig.energy() / energy - 1.0).abs() < 0.05,
            "{} at {} s",
            rig.energy() / energy,
            rig.time()
        );
        assert!(rig.momentum().1.distance(l) < 1e-10);
    });
}

#[test]
fn a_compound_of_halves_moves_like_the_whole() {
    let start =
        "density = 800\nrotation = [0.2, 0.4, -0.3]\nvelocity = [0.1, 0.5, 0.2]\nspin = [3, 5, -2]";
    let whole = "form = { box = [0.06, 0.04, 0.02] }";
    // Cut across x, and the second half told from the other end.
    let halves = "form = { compound = [\n\
                  { form = { box = [0.03, 0.04, 0.02] }, position = [-0.03, 0, 0] },\n\
                  { form = { box = [0.03, 0.04, 0.02] }, position = [0.03, 0, 0], rotation = [0, 3.141592653589793, 0] }] }";
    // The same about another origin: the file speaks of a corner.
    let hull = "form = { hull = [[-0.06, -0.04, -0.02], [0.06, -0.04, -0.02], [-0.06, 0.04, -0.02], [0.06, 0.04, -0.02],\n\
                [-0.06, -0.04, 0.02], [0.06, -0.04, 0.02], [-0.06, 0.04, 0.02], [0.06, 0.04, 0.02]] }";
    let run = |form: &str| {
        let mut text = world("step = 0.002");
        body(
            &mut text,
            "box",
            DVec3::new(0.1, 0.2, 0.3),
            &format!("{start}\n{form}"),
        );
        let mut rig = Rig::new(&text);
        let first = (rig.momentum(), rig.energy());
        rig.run(1.0);
        (
            first,
            rig.position("box"),
            rig.point_of_file("box", DVec3::new(0.06, 0.04, 0.02)),
            rig.spin("box"),
        )
    };
    let ideal = run(whole);
    for form in [halves, hull] {
        let found = run(form);
        assert!(
            found.0.0.0.distance(ideal.0.0.0) < 1e-12 && found.0.0.1.distance(ideal.0.0.1) < 1e-12,
            "{form}: momentum"
        );
        assert!((found.0.1 - ideal.0.1).abs() < 1e-12, "{form}: energy");
        assert!(
            found.1.distance(ideal.1) < 1e-9,
            "{form}: {} for {}",
            found.1,
            ideal.1
        );
        assert!(
            found.2.distance(ideal.2) < 1e-6,
            "{form}: {} for {}",
            found.2,
            ideal.2
        );
        assert!(
            found.3.distance(ideal.3) < 1e-5,
            "{form}: {} for {}",
            found.3,
            ideal.3
        );
    }
}

/// A box as a mesh whose origin is a corner.
#[test]
fn a_mesh_has_its_mass_where_its_volume_is() {
    let folder = tempfile::tempdir().unwrap();
    let corners: String = (0..8)
        .map(|k| {
            format!(
                "v {} {} {}\n",
                0.2 * f64::from(k & 1),
                0.1 * f64::from(k >> 1 & 1),
                0.06 * f64::from(k >> 2)
            )
        })
        .collect();
    let faces = "f 1 3 4\nf 1 4 2\nf 5 6 8\nf 5 8 7\nf 1 2 6\nf 1 6 5\nf 3 7 8\nf 3 8 4\nf 1 5 7\nf 1 7 3\nf 2 4 8\nf 2 8 6\n";
    std::fs::write(folder.path().join("box.obj"), corners + faces).unwrap();
    let mut text = world("step = 0.002\ngravity = [0, 0, 0]");
    body(
        &mut text,
        "mesh",
        DVec3::ZERO,
        "density = 1000\nform = { mesh = { file = \"box.obj\" } }\nspin = [1, 2, 3]",
    );
    body(
        &mut text,
        "box",
        DVec3::new(1.1, 0.05, 0.03),
        "density = 1000\nhalf_extents = [0.1, 0.05, 0.03]\nspin = [1, 2, 3]",
    );
    std::fs::write(folder.path().join("scene.toml"), text).unwrap();
    let scene = Scene::load(folder.path().join("scene.toml")).unwrap_or_else(|e| panic!("{e}"));
    let mut rig = Rig::of(&scene, 1);
    assert!(
        rig.position("mesh").distance(DVec3::new(0.1, 0.05, 0.03)) < 1e-12,
        "{}",
        rig.position("mesh")
    );
    // The file's velocity is that of the corner.
    let v = DVec3::new(1.0, 2.0, 3.0).cross(DVec3::new(0.1, 0.05, 0.03));
    assert!(rig.velocity("mesh").distance(v) < 1e-12);
    rig.run(1.0);
    assert!(
        rig.spin("mesh").distance(rig.spin("box")) < 1e-6,
        "{} for {}",
        rig.spin("mesh"),
        rig.spin("box")
    );
}

/// An L of two boxes tilts as its off-diagonal moments say: spun about z, its angular momentum is not along z.
#[test]
fn a_body_askew_wobbles() {
    let mut text = world("step = 0.001\ngravity = [0, 0, 0]");
    let form = "form = { compound = [\n\
                { form = { box = [0.1, 0.02, 0.02] }, position = [0.1, 0, 0] },\n\
                { form = { box = [0.02, 0.02, 0.1] }, position = [0, 0, 0.1] }] }";
    body(
        &mut text,
        "angle",
        DVec3::ZERO,
        &format!("density = 1000\n{form}\nspin = [0, 0, 5]"),
    );
    let mut rig = Rig::new(&text);
    // Two equal boxes: the centre of mass is half way between theirs.
    assert!(
        rig.position("angle").distance(DVec3::new(0.05, 0.0, 0.05)) < 1e-12,
        "{}",
        rig.position("angle")
    );
    let mass = 1000.0 * 8.0 * 0.1 * 0.02 * 0.02;
    // −Σ m x z about the centre: each box is ±0.05 away in x and ∓0.05 in z.
    let product = 2.0 * mass * 0.05 * 0.05;
    let (p, l) = rig.momentum();
    let own = l - rig.position("angle").cross(p);
    assert!(
        (own.x - product * 5.0).abs() < 1e-9,
        "{own} for {}",
        product * 5.0
    );
    rig.run(1.0);
    let spin = rig.spin("angle");
    assert!(
        real::hypot(spin.x, spin.y) > 0.1,
        "it does not wobble: {spin}"
    );
    assert!(rig.momentum().1.distance(l) < 1e-9);
}

#[test]
fn a_dropped_book_comes_to_rest_flat() {
    for turning in TURNINGS {
        let mut text = world(&format!("step = 0.002\nturning = \"{turning}\""));
        body(
            &mut text,
            "floor",
            DVec3::ZERO,
            "motion = \"static\"\nform = { half_space = [0, 1, 0] }",
        );
        body(
            &mut text,
            "book",
            DVec3::new(0.0, 0.5, 0.0),
            "mass = 1.2\nhalf_extents = [0.01, 0.07, 0.11]\nrotation = [0.4, 0.1, 0.9]\nspin = [2, 1, -3]",
        );
        let mut rig = Rig::new(&text);
        rig.run(4.0);
        let up = rig.orientation("book").conjugate() * DVec3::Y;
        assert!(up.x.abs() > 0.999, "{turning}: it lies on {up}");
        assert!(
            (rig.position("book").y - 0.01).abs() < 1e-3,
            "{turning}: {}",
            rig.position("book")
        );
        assert!(rig.velocity("book").length() < 0.01 && rig.spin("book").length() < 0.05);
    }
}

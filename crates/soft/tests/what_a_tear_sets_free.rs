//! The energy that a tear sets free, against closed forms and against the energy itself.

#![allow(clippy::unwrap_used)]

use glam::{DVec3, Vec3Swizzles};
use trocar_dynamics::{Field, Matter, Nodes};
use trocar_math::{real, rotation};
use trocar_mesh::Surface;
use trocar_mesh::primitive::{HexagonalShape, SheetShape};
use trocar_mesh::sheet::{Kind, NodeId, Sheet};
use trocar_soft::membrane::tear::{Aim, Algorithm, Lengths, TearSettings, Thresholds};
use trocar_soft::membrane::{Material, Measure, Membrane, MembraneParts};

const STIFFNESS: f64 = 7500.0;
const POISSON: f64 = 0.3;
const LENGTH: f64 = 24e-3;
const HEIGHT: f64 = 6e-3;
const STRAIN: f64 = 0.04;
const REACH: f64 = 1.2e-3;

const STILL: Field = Field {
    time: 0.0,
    gravity: DVec3::ZERO,
};

const FILM: Material = Material::Sheet {
    stiffness: STIFFNESS,
    poisson: POISSON,
    density: 400.0,
};

/// A strip with squares of this size (m) that is held at its long sides, slit along its middle so far (m), and what else is held.
fn slit(edge: f64, depth: f64, also: impl Fn(DVec3) -> bool) -> (Membrane, Nodes) {
    let shape = SheetShape {
        origin: DVec3::ZERO,
        u: DVec3::X * LENGTH,
        v: DVec3::Y * HEIGHT,
        columns: (LENGTH / edge).round() as usize + 1,
        rows: (HEIGHT / edge).round() as usize + 1,
    };
    slit_of(&shape.surface().unwrap(), FILM, edge, depth, also)
}

/// The same of any strip as high.
fn slit_of(
    surface: &Surface,
    material: Material,
    edge: f64,
    depth: f64,
    also: impl Fn(DVec3) -> bool,
) -> (Membrane, Nodes) {
    let build = |fixed| {
        let sheet = Sheet::new(surface).unwrap();
        let mut parts = MembraneParts::new(sheet, material);
        parts.fixed = fixed;
        parts.measure = Measure::Tension { reach: REACH };
        parts.damping = 600.0;
        parts.tearing = Some(TearSettings {
            algorithm: Algorithm::Continuous,
            thresholds: Thresholds {
                tip: 1e6,
                edge: 1e6,
                inner: 1e6,
                fastest: 2e6,
            },
            lengths: Lengths {
                least: 1e-9,
                most: 1e-3,
                ..Lengths::of_edge(edge)
            },
        });
        let mut membrane = Membrane::new(parts).unwrap();
        let mut nodes = membrane.rest();
        let middle = DVec3::new(0.0, 0.5 * HEIGHT, 0.0);
        let far = |n: &NodeId| membrane.sheet().rest(*n).distance(middle);
        let start = membrane.sheet().nodes();
        let start = start.min_by(|a, b| far(a).total_cmp(&far(b))).unwrap();
        let along = Aim::Toward(DVec3::X);
        membrane.tear_at(&mut nodes, start, 1.0, along).unwrap();
        loop {
            let tip = tip(&membrane);
            let left = depth - membrane.sheet().rest(tip).x;
            if left < 1e-6 {
                break;
            }
            membrane
                .tear_at(&mut nodes, tip, left.min(0.1e-3), along)
                .unwrap();
        }
        (membrane, nodes)
    };
    // Nodes have the same numbers when some of them are held: those of the sides are far from the slit.
    let (membrane, _) = build(Vec::new());
    let held = membrane.sheet().nodes().filter(|n| {
        let rest = membrane.sheet().rest(*n);
        !(1e-6..=HEIGHT - 1e-6).contains(&rest.y) || also(rest)
    });
    let held = held.map(|n| n.slot());
    let whole = surface.positions.len();
    build(held.filter(|n| *n < whole).collect())
}

fn tip(membrane: &Membrane) -> NodeId {
    let sheet = membrane.sheet();
    let mut tips = sheet.nodes().filter(|n| sheet.kind(*n) == Some(Kind::Tip));
    tips.next().unwrap()
}

/// Draws the sides apart, but not what is held, and waits until all is at rest.
fn stretch(membrane: &Membrane, nodes: &mut Nodes, held: impl Fn(DVec3) -> bool) {
    let here = membrane.sheet().rest(tip(membrane)).x;
    for n in membrane.sheet().nodes() {
        let rest = membrane.sheet().rest(n);
        let off = rest.y - 0.5 * HEIGHT;
        let upwards = match membrane.sheet().triangles_around(n).next() {
            Some(t) => {
                let corners = membrane.sheet().rest_corners(t);
                corners.map(|p| p.y).into_iter().sum::<f64>() > 1.5 * HEIGHT
            }
            None => true,
        };
        let by = match rest.x < here {
            // Behind the tip nothing is stretched.
            true if upwards => 0.5 * HEIGHT,
            true => -0.5 * HEIGHT,
            false => off,
        };
        let by = if held(rest) { 0.0 } else { by };
        nodes.position[n.slot()] = rest + DVec3::Y * (STRAIN * by);
    }
    let h = 0.8 * membrane.stable_step();
    for _ in 0..(0.05 / h) as usize {
        membrane.force(nodes, &STILL);
        membrane.plan(nodes, h, None);
        assert!(membrane.advance(nodes, h));
    }
}

/// Energy in the strip far ahead of the tip, for each length of it, N: what the tear sets free as it goes on and leaves nothing behind (Rivlin and Thomas 1953).
const EXPECTED: f64 = HEIGHT * 0.5 * STIFFNESS / (1.0 - POISSON * POISSON) * STRAIN * STRAIN;

#[test]
fn a_tear_along_a_strip_sets_free_what_the_strip_holds() {
    for edge in [0.6e-3, 0.5e-3, 0.3e-3] {
        let (membrane, mut nodes) = slit(edge, 12e-3, |_| false);
        stretch(&membrane, &mut nodes, |_| false);
        let tip = tip(&membrane);
        for reach in [0.8e-3, REACH, 2e-3] {
            let release = membrane.release_at(&nodes, tip, reach);
            println!("edge {edge}, reach {reach}: {release} of {EXPECTED}");
            let most = if edge > reach / 2.0 { 0.05 } else { 0.025 };
            assert!((release.x / EXPECTED - 1.0).abs() < most, "{release}");
            assert!(release.yz().length() < 0.03 * EXPECTED, "{release}");
        }
        // What a tip's stress says: that of the field around a tear, K/√(2πr), on average over its reach.
        let stress = membrane.stress_now(&nodes)[tip.slot()];
        let factor = (EXPECTED * STIFFNESS).sqrt();
        let mean = mean_of_the_field() * factor / REACH.sqrt();
        assert!((stress / mean - 1.0).abs() < 0.03, "{stress} of {mean}");
    }
}

#[test]
fn a_net_of_springs_sets_free_what_it_holds() {
    for rows in [13, 25] {
        let edge = HEIGHT / (0.75_f64.sqrt() * (rows - 1) as f64);
        let shape = HexagonalShape {
            rows,
            columns: (LENGTH / edge).round() as usize,
            edge,
        };
        let constant = 6500.0;
        let net = Material::Springs {
            stiffness: constant,
            mass: 1e-3,
        };
        let surface = shape.surface().unwrap();
        let (membrane, mut nodes) = slit_of(&surface, net, edge, 12e-3, |_| false);
        stretch(&membrane, &mut nodes, |_| false);
        // Of equilateral triangles: c · 2/√3 with a contraction of 1/3 across.
        let modulus = constant * 2.0 / 3.0_f64.sqrt() / (1.0 - 1.0 / 9.0);
        let expected = HEIGHT * 0.5 * modulus * STRAIN * STRAIN;
        for reach in [REACH, 2e-3] {
            let release = membrane.release_at(&nodes, tip(&membrane), reach);
            println!("{rows} rows, reach {reach}: {release} of {expected}");
            assert!((release.x / expected - 1.0).abs() < 0.03, "{release}");
            assert!(release.yz().length() < 0.05 * expected, "{release}");
        }
    }
}

/// Mean of the tension across a tear around its tip, weighted with 1 − r², for K = 1 and a reach of 1.
fn mean_of_the_field() -> f64 {
    let (mut sum, mut weights) = (0.0, 0.0);
    for i in 0..2000 {
        let r = (f64::from(i) + 0.5) / 2000.0;
        for k in 0..400 {
            let half = 0.5 * std::f64::consts::PI * ((f64::from(k) + 0.5) / 200.0 - 1.0);
            let (sin, cos) = (real::sin(half), real::cos(half));
            let tension =
                cos * (1.0 + sin * real::sin(3.0 * half)) / (std::f64::consts::TAU * r).sqrt();
            sum += tension * (1.0 - r * r) * r;
            weights += (1.0 - r * r) * r;
        }
    }
    sum / weights
}

#[test]
fn what_is_set_free_turns_with_nothing() {
    let (membrane, mut nodes) = slit(0.5e-3, 12e-3, |_| false);
    stretch(&membrane, &mut nodes, |_| false);
    let tip = tip(&membrane);
    let before = membrane.release_at(&nodes, tip, REACH);
    let turn = rotation::from_scaled_axis(DVec3::new(0.4, -1.1, 0.7));
    for p in &mut nodes.position {
        *p = turn * *p + DVec3::new(0.1, 0.2, -0.3);
    }
    let after = membrane.release_at(&nodes, tip, REACH);
    assert!(
        (after - before).length() < 1e-9 * EXPECTED,
        "{after} {before}"
    );
    // A sheet that is drawn evenly sets nothing free, whatever its slit: nor does one that is slack.
    for by in [DVec3::new(1.05, 1.0, 1.0), DVec3::splat(0.9)] {
        let mut nodes = membrane.rest();
        nodes.position.iter_mut().for_each(|p| *p *= by);
        let release = membrane.release_at(&nodes, tip, REACH);
        assert!(release.length() < 1e-9 * EXPECTED, "{release}");
    }
}

#[test]
fn what_is_held_within_reach_changes_nothing() {
    // Points not far from the tip that something holds where they are at rest, however hard the sheet draws at them.
    let place = DVec3::new(12.9e-3, 0.5 * HEIGHT + 0.9e-3, 0.0);
    let held = |rest: DVec3| rest.distance(place) < 0.2e-3;
    let (membrane, mut nodes) = slit(0.3e-3, 12e-3, held);
    stretch(&membrane, &mut nodes, held);
    let tip = tip(&membrane);
    let near = membrane.release_at(&nodes, tip, 0.9e-3);
    let far = membrane.release_at(&nodes, tip, 2e-3);
    println!("{near} {far} {EXPECTED}");
    assert!((near - far).length() < 0.05 * EXPECTED, "{near} {far}");
}

/// A strip slit so far (m), at rest with its sides drawn apart, and the energy in it, J.
fn at_rest(edge: f64, depth: f64) -> (Membrane, Nodes, f64) {
    let (membrane, mut nodes) = slit(edge, depth, |_| false);
    stretch(&membrane, &mut nodes, |_| false);
    let energy = membrane.elastic_energy(&nodes);
    (membrane, nodes, energy)
}

#[test]
fn near_a_rim_it_is_what_the_sheet_loses() {
    const EDGE: f64 = 0.3e-3;
    // The tear has as far to go to the free end of the strip, or has come as far from the other.
    for left in [0.6e-3, 0.9e-3, 1.5e-3, LENGTH - 0.9e-3] {
        let [before, after] = [EDGE, -EDGE].map(|more| at_rest(EDGE, LENGTH - left - more).2);
        let lost = (before - after) / (2.0 * EDGE);
        let (membrane, nodes, _) = at_rest(EDGE, LENGTH - left);
        // However much farther than to the rim it looks, or beyond all of the sheet.
        for reach in [0.8e-3, REACH, 2e-3, 4e-3, 50e-3] {
            let release = membrane.release_at(&nodes, tip(&membrane), reach);
            println!("{left} left, reach {reach}: {release} of {lost}");
            // Three edges deep is little for a mesh to know what a tear loses.
            let most = if left > 0.5 * LENGTH { 0.12 } else { 0.04 };
            assert!((release.x / lost - 1.0).abs() < most, "{release} {lost}");
            assert!(release.y.abs() < 0.03 * lost, "{release} {lost}");
        }
    }
}

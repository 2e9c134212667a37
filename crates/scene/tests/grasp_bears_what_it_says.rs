//! The force at the tip is the load: what hangs still on a grasper weighs on it as much as it weighs. A grip slips above
//! its force and tears out above what the tissue bears.

mod common;

use common::built;
use glam::DVec3;
use trocar_scene::{Simulation, event::Happening};

const G: f64 = 9.81;

/// A strip of 21 × 5 nodes of 1 g, hanging from closed jaws; the strip is taken in the first step.
fn strip(trocar: &str, material: &str, instrument: &str) -> Simulation {
    built(&format!(
        "trocar = 1\n[world]\nstep = 0.001\n\
         [[sheet]]\nname = \"strip\"\norigin = [-0.002, 0.012, 0]\nu = [0.004, 0, 0]\nv = [0, -0.08, 0]\n\
         rows = 21\ncolumns = 5\n\
         material = {{ mass = 0.001, damping = 0.02, stiffness = 400{material} }}\n\
         [[instrument]]\nname = \"grasper\"\ntrocar = {trocar}\ntarget = [0, 0, 0]\ndepth = 0.18\njaw = 0.3\n{instrument}\n"
    ))
}

const ABOVE: &str = "[0, 0.2, 0]";
const WEIGHT: f64 = 105.0 * 0.001 * G;

/// Holds still for some seconds; returns what happened.
fn hold(simulation: &mut Simulation, seconds: f64) -> Vec<Happening> {
    let input = simulation.idle_input();
    let mut events = Vec::new();
    for _ in 0..(seconds / input.dt) as usize {
        simulation.step(&input);
        events.extend(simulation.report().events.iter().map(|e| e.what.clone()));
    }
    events
}

fn is_grasped(events: &[Happening]) -> bool {
    matches!(events, [Happening::Grasped { .. }])
}

#[test]
fn a_strip_weighs_what_it_weighs() {
    let mut simulation = strip(ABOVE, ", bears = 100", "");
    let events = hold(&mut simulation, 6.0);
    assert!(is_grasped(&events), "{events:?}");
    let force = simulation.force(0);
    assert!(
        (force + DVec3::Y * WEIGHT).length() < 0.01 * WEIGHT,
        "{force} for {WEIGHT} N"
    );
    // And the points held bear it among them.
    let pull: f64 = simulation
        .grip(0)
        .holds
        .iter()
        .map(|h| h.tie.impulse.y)
        .sum();
    let h = simulation.idle_input().dt / f64::from(simulation.report().substeps);
    assert!((pull / h - WEIGHT).abs() < 0.01 * WEIGHT, "{}", pull / h);
}

#[test]
fn an_organ_weighs_what_it_weighs() {
    let text = "trocar = 1\n[world]\nstep = 0.001\n\
         [[organ]]\nname = \"organ\"\npath = [[0, 0.01, 0], [0, -0.05, 0]]\nradii = [[0.003, 0.003], [0.015, 0.015]]\n\
         rings = 8\naround = 8\nup = [1, 0, 0]\n\
         material = { mass = 0.0005, damping = 0.05, stiffness = 150, memory = 30, centre_mass = 0.02, centre_damping = 0.3 }\n\
         [[instrument]]\nname = \"grasper\"\ntrocar = [0, 0.2, 0]\ntarget = [0, 0, 0]\ndepth = 0.18\njaw = 0.3\n";
    let mut simulation = built(text);
    let events = hold(&mut simulation, 8.0);
    assert!(is_grasped(&events), "{events:?}");
    let surface = simulation.state().nodes[simulation.model().tissues[0].matter.index()].len() - 1;
    let weight = (surface as f64 * 0.0005 + 0.02) * G;
    let force = simulation.force(0);
    assert!(
        (force + DVec3::Y * weight).length() < 0.01 * weight,
        "{force} for {weight} N"
    );
}

#[test]
fn a_slanting_instrument_feels_the_part_along_it_whole_and_the_part_across_by_the_lever() {
    let mut simulation = strip("[0.12, 0.16, 0]", ", bears = 100", "");
    let events = hold(&mut simulation, 6.0);
    assert!(is_grasped(&events), "{events:?}");
    let axis = DVec3::new(-0.12, -0.16, 0.0) / 0.2;
    let load = DVec3::NEG_Y * WEIGHT;
    let force = simulation.force(0);
    let along = force.dot(axis) / load.dot(axis);
    assert!((along - 1.0).abs() < 0.01, "{along}");
    let across =
        (force - axis * force.dot(axis)).length() / (load - axis * load.dot(axis)).length();
    // The jaws reach from 18 cm to 20 cm from the trocar; the tip is at 20 cm.
    assert!((0.9 * 0.99..1.01 * 1.01).contains(&across), "{across}");
}

#[test]
fn a_bead_on_the_strip_weighs_too() {
    let text = "trocar = 1\n[world]\nstep = 0.001\n\
         [[sheet]]\nname = \"strip\"\norigin = [-0.002, 0.012, 0]\nu = [0.004, 0, 0]\nv = [0, -0.04, 0]\n\
         rows = 11\ncolumns = 5\nmaterial = { mass = 0.0005, damping = 0.02, stiffness = 400, bears = 100 }\n\
         [[body]]\nname = \"box\"\nmass = 0.05\nhalf_extents = [0.005, 0.005, 0.005]\nposition = [0, -0.033, 0]\n\
         [[tie]]\na = { tissue = \"strip\", node = 52 }\nb = { body = \"box\", at = [0, 0.005, 0] }\n\
         [[instrument]]\nname = \"grasper\"\ntrocar = [0, 0.2, 0]\ntarget = [0, 0, 0]\ndepth = 0.18\njaw = 0.3\n";
    let mut simulation = built(text);
    let events = hold(&mut simulation, 3.0);
    assert!(is_grasped(&events), "{events:?}");
    let weight = (55.0 * 0.0005 + 0.05) * G;
    // The box swings on without friction; over a second that averages out.
    let input = simulation.idle_input();
    let mut mean = DVec3::ZERO;
    for _ in 0..2000 {
        simulation.step(&input);
        mean += simulation.force(0) / 2000.0;
    }
    assert!(
        (mean + DVec3::Y * weight).length() < 0.02 * weight,
        "{mean} for {weight} N"
    );
}

#[test]
fn jaws_slip_above_their_force() {
    // The first pull, as the strip falls into its springs, is more than its weight; hence the factors.
    let mut weak = strip(
        ABOVE,
        ", bears = 100",
        &format!("grip_force = {}", 0.9 * WEIGHT),
    );
    let events = hold(&mut weak, 3.0);
    assert!(
        matches!(
            events[..],
            [Happening::Grasped { .. }, Happening::Slipped { .. }]
        ),
        "{events:?}"
    );
    assert!(weak.grip(0).is_empty());
    assert_eq!(weak.force(0), DVec3::ZERO);
    let mut strong = strip(
        ABOVE,
        ", bears = 100",
        &format!("grip_force = {}", 3.0 * WEIGHT),
    );
    let events = hold(&mut strong, 3.0);
    assert!(is_grasped(&events), "{events:?}");
}

#[test]
fn tissue_tears_out_above_what_it_bears() {
    let mut calm = strip(ABOVE, ", bears = 100", "grip_force = 100");
    let input = calm.idle_input();
    let mut most = 0.0_f64;
    for _ in 0..3000 {
        calm.step(&input);
        most = calm
            .grip(0)
            .holds
            .iter()
            .map(|h| h.pull)
            .fold(most, f64::max);
    }
    assert!(most > 0.0);
    let mut firm = strip(
        ABOVE,
        &format!(", bears = {}", 1.01 * most),
        "grip_force = 100",
    );
    let events = hold(&mut firm, 3.0);
    assert!(is_grasped(&events), "{events:?}");
    let mut frail = strip(
        ABOVE,
        &format!(", bears = {}", 0.99 * most),
        "grip_force = 100",
    );
    let events = hold(&mut frail, 3.0);
    assert!(
        matches!(
            events[..2],
            [Happening::Grasped { .. }, Happening::TornOut { .. }]
        ),
        "{events:?}"
    );
}

#[test]
fn opening_jaws_let_go() {
    let mut simulation = strip(ABOVE, ", bears = 100", "");
    hold(&mut simulation, 1.0);
    let mut input = simulation.idle_input();
    input.handles[0].jaw = 1.0;
    let mut events = Vec::new();
    for _ in 0..300 {
        simulation.step(&input);
        events.extend(simulation.report().events.iter().map(|e| e.what.clone()));
    }
    assert!(
        matches!(events[..], [Happening::Released { .. }]),
        "{events:?}"
    );
    assert!(simulation.grip(0).is_empty());
}

/// Two tissues that are stepped with different substeps.
#[test]
fn two_tissues_in_one_grip_are_each_judged_by_their_own_pull() {
    let sheet = |name: &str, z: f64, stiffness: f64| {
        format!(
            "[[sheet]]\nname = \"{name}\"\norigin = [-0.002, 0.012, {z}]\nu = [0.004, 0, 0]\nv = [0, -0.04, 0]\n\
             rows = 11\ncolumns = 5\nmaterial = {{ mass = 0.001, damping = 0.05, stiffness = {stiffness}, bears = 100 }}\n"
        )
    };
    let mut simulation = built(&format!(
        "trocar = 1\n[world]\nstep = 0.002\n{}{}\
         [[instrument]]\nname = \"grasper\"\ntrocar = [0, 0.2, 0]\ntarget = [0, 0, 0]\ndepth = 0.18\njaw = 0.3\ngrip_force = 100\n",
        sheet("soft", 0.0005, 300.0),
        sheet("stiff", -0.0005, 30_000.0)
    ));
    hold(&mut simulation, 5.0);
    for tissue in &simulation.model().tissues {
        let holds = simulation.grip(0).holds.iter();
        let pull: f64 = holds
            .filter(|h| h.tie.b.matter == tissue.matter)
            .map(|h| h.pull * h.tie.impulse.normalize_or_zero().y)
            .sum();
        let weight = 55.0 * 0.001 * G;
        assert!(
            (pull - weight).abs() < 0.05 * weight,
            "{}: {pull} of {weight} N",
            tissue.name
        );
    }
}

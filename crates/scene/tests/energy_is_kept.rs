//! What is not damped keeps its energy, and energy is what the forces do work against.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::built;
use trocar_scene::Simulation;

fn sheet(springs: &str, step: f64) -> String {
    format!(
        "trocar = 1\n[world]\nstep = {step}\n[[sheet]]\nname = \"sheet\"\norigin = [0, 0, 0]\nu = [0.1, 0, 0]\n\
         v = [0, 0, 0.1]\nrows = 6\ncolumns = 6\nfixed = [{{ ring = 0 }}]\n\
         material = {{ mass = 0.001, damping = 0, memory = 2, {springs} }}\n"
    )
}

/// Greatest change of the total energy over `seconds`, and the greatest kinetic energy, J.
fn drift(simulation: &mut Simulation, seconds: f64) -> (f64, f64) {
    let input = simulation.idle_input();
    let start = simulation.energy().total();
    let (mut worst, mut kinetic) = (0.0_f64, 0.0_f64);
    for _ in 0..(seconds / input.dt) as usize {
        simulation.step(&input);
        let energy = simulation.energy();
        worst = worst.max((energy.total() - start).abs());
        kinetic = kinetic.max(energy.kinetic);
    }
    (worst, kinetic)
}

#[test]
fn an_undamped_sheet_keeps_its_energy_to_the_order_of_the_integrator() {
    for law in [
        "stiffness = 40",
        "stiffness = 40, gain = [0.3, 1.5]",
        "stiffness = 4000, law = \"quadratic\", memory_law = \"quadratic\"",
    ] {
        let text = |step| sheet(law, step);
        let (coarse, kinetic) = drift(&mut built(&text(1e-3)), 1.0);
        let (fine, _) = drift(&mut built(&text(2.5e-4)), 1.0);
        assert!(kinetic > 1e-4, "it moves: {kinetic}");
        assert!(fine < 0.02 * kinetic, "{law}: {fine} of {kinetic}");
        // First order: a quarter of the step, about a quarter of the error.
        assert!(fine < 0.35 * coarse, "{law}: {fine} {coarse}");
    }
}

#[test]
fn a_falling_spinning_body_keeps_its_energy() {
    let mut simulation = built(
        "trocar = 1\n[world]\nstep = 0.0005\n[[body]]\nname = \"box\"\nmass = 0.1\nhalf_extents = [0.01, 0.02, 0.03]\n\
         position = [0, 0, 0]\nvelocity = [0.2, 3, 0]\nspin = [3, 20, -5]\n",
    );
    let start = simulation.energy();
    let exact = 0.5 * 0.1 * (0.2 * 0.2 + 9.0);
    let inertia = [13e-4, 10e-4, 5e-4].map(|x: f64| 0.1 * x / 3.0);
    let turning = 0.5 * (inertia[0] * 9.0 + inertia[1] * 400.0 + inertia[2] * 25.0);
    assert!((start.kinetic - exact - turning).abs() < 1e-12);
    assert_eq!((start.gravity, start.elastic), (0.0, 0.0));
    let (worst, kinetic) = drift(&mut simulation, 0.5);
    assert!(worst < 5e-3 * kinetic, "{worst} {kinetic}");
}

#[test]
fn damping_only_takes() {
    let text = sheet("stiffness = 40", 1e-3).replace("damping = 0,", "damping = 0.02,");
    let mut simulation = built(&text);
    let input = simulation.idle_input();
    let mut last = simulation.energy().total();
    for k in 0..40 {
        for _ in 0..50 {
            simulation.step(&input);
        }
        let now = simulation.energy().total();
        assert!(now < last + 1e-6, "{k}: {now} {last}");
        last = now;
    }
    // At rest: what is left is the balance of springs and height, with next to nothing of motion.
    assert!(simulation.energy().kinetic < 1e-4 * simulation.energy().elastic);
}

/// An undamped ball that flies off against a spring that stiffens as it is drawn out; substeps follow the state.
fn on_a_stiffening_spring(step: f64, stiffness: f64, speed: f64) -> String {
    format!(
        "trocar = 1\n[world]\nstep = {step}\ngravity = [0, 0, 0]\nadaptive = true\n[[body]]\nname = \"ball\"\nmass = 0.01\nhalf_extents = [0.005, 0.005, 0.005]\n\
         position = [0.01, 0, 0]\nvelocity = [{speed}, {}, 0]\n[[element]]\na = {{ body = \"ball\", at = [0, 0, 0] }}\n\
         b = {{ world = [0, 0, 0] }}\nrest_length = 0.01\nanswer = {{ stiffness = {stiffness}, law = \"quadratic\" }}\n",
        0.1 * speed
    )
}

/// Swings by the hundred, with up to the thousand substeps that are ever taken. Judged once a step, or made longer as soon as the state allows it, substeps
/// give such a ball its energy many times over. What the scheme itself lends it within a swing, and it gets once when its first swing finds the
/// right length, is less than half.
#[test]
fn substeps_that_follow_the_state_give_nothing_to_what_stiffens() {
    for step in [0.001, 0.0025, 0.01] {
        for stiffness in [1e4, 1e5, 3e6] {
            for speed in [0.05, 0.3, 1.0, 5.0] {
                let mut simulation = built(&on_a_stiffening_spring(step, stiffness, speed));
                let input = simulation.idle_input();
                let start = simulation.energy().total();
                let mut most = [0.0_f64; 4];
                let count = (10.0 / step).min(4000.0) as usize;
                for k in 0..count {
                    let report = simulation.step(&input);
                    assert!(report.events.is_empty() && report.substeps_short == 0);
                    let most = &mut most[4 * k / count];
                    *most = most.max(simulation.energy().total() / start);
                }
                let case = format!("{step} s, {stiffness} N/m², {speed} m/s: {most:?}");
                assert!(most.iter().all(|m| *m < 1.5), "{case}");
                assert!(most[1..].iter().all(|m| *m < 1.02 * most[0]), "{case}");
            }
        }
    }
}

#[test]
fn the_length_of_substeps_is_part_of_a_snapshot() {
    let text = on_a_stiffening_spring(0.01, 1e5, 1.0);
    let (mut first, mut second) = (built(&text), built(&text));
    let input = first.idle_input();
    for _ in 0..37 {
        first.step(&input);
    }
    second.restore(&first.snapshot()).unwrap();
    for k in 0..300 {
        assert_eq!(first.hash(), second.hash(), "{k}");
        let counts = [&mut first, &mut second].map(|s| s.step(&input).substeps);
        assert_eq!(counts[0], counts[1], "{k}");
    }
}

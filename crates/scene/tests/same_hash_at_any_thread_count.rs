//! The same scene and inputs give the same hash after every step, whatever the number of threads, and again after a
//! restart.

mod common;

use common::{busy, simulation, theatre};
use trocar_scene::Simulation;

const STEPS: usize = 300;

fn hashes(simulation: &mut Simulation) -> Vec<u64> {
    (0..STEPS)
        .map(|k| {
            simulation.step(&busy(simulation, k));
            simulation.hash()
        })
        .collect()
}

#[test]
fn threads_do_not_show_in_the_hash() {
    let scene = theatre();
    let mut alone = simulation(&scene, 1);
    let nodes: usize = alone.state().nodes.iter().map(|n| n.len()).sum();
    assert!(nodes > 4000 && alone.model().groups.len() > 5, "{nodes}");
    let mut grasped = 0;
    let mut touched = 0;
    let expected: Vec<u64> = (0..STEPS)
        .map(|k| {
            alone.step(&busy(&alone, k));
            grasped += alone.report().events.len();
            touched += alone.report().contacts;
            alone.hash()
        })
        .collect();
    // Otherwise this would be a test of sheets that lie still.
    assert!(grasped > 0 && touched > 1000, "{grasped} {touched}");
    for threads in [2, 3] {
        let found = hashes(&mut simulation(&scene, threads));
        let first = found.iter().zip(&expected).position(|(a, b)| a != b);
        assert_eq!(first, None, "{threads} threads differ first at this step");
    }
}

#[test]
fn a_restart_is_a_fresh_start() {
    let scene = theatre();
    let mut simulation = simulation(&scene, 2);
    let first = hashes(&mut simulation);
    simulation.restart();
    assert_eq!(simulation.steps(), 0);
    assert_eq!(hashes(&mut simulation), first);
}

#[test]
fn the_hash_changes_with_every_step() {
    let scene = theatre();
    let found = hashes(&mut simulation(&scene, 1));
    let mut distinct = found.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), found.len());
}

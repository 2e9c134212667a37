//! A snapshot taken at any step and taken up by a fresh simulation goes on bit for bit; a bad one is refused and
//! changes nothing.

mod common;

use common::{Dice, built, busy, gallbladder, is_sound, operation, simulation, theatre};
use proptest::{prelude::*, test_runner::Config};
use std::sync::{Mutex, OnceLock, PoisonError};
use trocar_scene::{Input, Scene, Simulation, SnapshotError};

/// Head of a snapshot: magic word and checksum.
const HEAD: usize = 12;

#[test]
fn a_snapshot_at_any_step_of_an_operation_resumes_bit_for_bit() {
    let scene = gallbladder();
    let mut first = simulation(&scene, 1);
    let script = operation(&first);
    let end = script.len() + 1000;
    let input = |k: usize| &script[k.min(script.len() - 1)];

    let mut dice = Dice(7);
    // One in each part of the operation, and some anywhere; 900, 1000: in mid-grasp.
    let mut moments: Vec<usize> = (0..4).map(|_| dice.below(script.len())).collect();
    moments.extend([0, 1, 700, 900, 1000, 1300, 1650, 2100]);
    moments.sort_unstable();
    moments.dedup();

    let mut hashes = vec![first.hash()];
    let mut snapshots = Vec::new();
    let (mut held, mut touching) = (0, 0);
    for k in 0..end {
        if moments.contains(&k) {
            held += usize::from(!first.grip(0).is_empty());
            touching += usize::from(first.report().contacts > 0);
            snapshots.push((k, first.snapshot()));
        }
        first.step(input(k));
        hashes.push(first.hash());
    }
    assert!(
        held >= 2 && touching >= 2,
        "{held} {touching}: not much of an operation"
    );
    for (moment, snapshot) in snapshots {
        let mut second = simulation(&scene, 1);
        second.restore(&snapshot).unwrap();
        assert_eq!(second.steps(), moment as u64);
        assert_eq!(second.snapshot(), snapshot, "taken up as it was");
        for (k, hash) in hashes.iter().enumerate().skip(moment).take(1000) {
            assert_eq!(second.hash(), *hash, "snapshot at {moment}, step {k}");
            second.step(input(k));
        }
    }
}

#[test]
fn a_snapshot_resumes_in_a_simulation_that_has_been_elsewhere() {
    let scene = gallbladder();
    let mut first = simulation(&scene, 1);
    let script = operation(&first);
    script[..1000].iter().for_each(|i| {
        first.step(i);
    });
    let snapshot = first.snapshot();
    // Its own later state, another grasp, a quarantine: none of it may remain.
    script[1000..].iter().for_each(|i| {
        first.step(i);
    });
    let matter = first.model().tissues[0].matter;
    first.spoil(matter, 3);
    first.step(&script[0]);
    first.restore(&snapshot).unwrap();
    let mut second = simulation(&scene, 1);
    second.restore(&snapshot).unwrap();
    for input in &script[1000..1600] {
        first.step(input);
        second.step(input);
        assert_eq!(first.hash(), second.hash());
    }
}

#[test]
fn many_groups_with_ties_resume_too() {
    let scene = theatre();
    let mut first = simulation(&scene, 2);
    for k in 0..150 {
        first.step(&busy(&first, k));
    }
    let mut second = simulation(&scene, 1);
    second.restore(&first.snapshot()).unwrap();
    for k in 150..250 {
        first.step(&busy(&first, k));
        second.step(&busy(&second, k));
        assert_eq!(first.hash(), second.hash(), "step {k}");
    }
}

#[test]
fn frozen_matter_stays_frozen() {
    let scene = gallbladder();
    let mut first = simulation(&scene, 1);
    let input = first.idle_input();
    let matter = first.model().tissues[0].matter;
    for _ in 0..4 {
        first.spoil(matter, 5);
        first.step(&input);
    }
    let mut second = simulation(&scene, 1);
    second.restore(&first.snapshot()).unwrap();
    for _ in 0..50 {
        first.step(&input);
        second.step(&input);
        assert_eq!(first.hash(), second.hash());
    }
    assert_eq!(common::largest_displacement(&second, matter.index()), 0.0);
}

fn seal(bytes: &mut [u8]) {
    let sum = crc32fast::hash(&bytes[HEAD..]).to_le_bytes();
    bytes[8..HEAD].copy_from_slice(&sum);
}

/// A simulation in mid-operation, something held, and its snapshot.
fn operated() -> &'static (Scene, Vec<u8>, Vec<Input>) {
    static OPERATED: OnceLock<(Scene, Vec<u8>, Vec<Input>)> = OnceLock::new();
    OPERATED.get_or_init(|| {
        let scene = gallbladder();
        let mut simulation = simulation(&scene, 1);
        let script = operation(&simulation);
        for input in &script[..1200] {
            simulation.step(input);
        }
        assert!(!simulation.grip(0).is_empty());
        let snapshot = simulation.snapshot();
        (scene, snapshot, script[1200..1230].to_vec())
    })
}

/// Tries to take it up; on refusal nothing may have changed.
fn refused(simulation: &mut Simulation, bytes: &[u8]) -> Option<SnapshotError> {
    let before = (simulation.hash(), simulation.snapshot());
    let refused = simulation.restore(bytes).err();
    if refused.is_some() {
        assert_eq!((simulation.hash(), simulation.snapshot()), before);
    }
    refused
}

#[test]
fn bad_snapshots_are_refused_and_change_nothing() {
    let (scene, good, script) = operated();
    let mut simulation = simulation(scene, 1);
    script.iter().for_each(|i| {
        simulation.step(i);
    });
    let damaged = |e: Option<SnapshotError>| matches!(e, Some(SnapshotError::Damaged(_)));

    assert_eq!(refused(&mut simulation, b""), Some(SnapshotError::Foreign));
    assert_eq!(
        refused(&mut simulation, b"TROCSNP"),
        Some(SnapshotError::Foreign)
    );
    assert_eq!(
        refused(&mut simulation, b"TROCREC1 and more"),
        Some(SnapshotError::Foreign)
    );
    assert_eq!(
        refused(&mut simulation, &[0; 4096]),
        Some(SnapshotError::Foreign)
    );
    let mut dice = Dice(3);
    for _ in 0..200 {
        let length = dice.below(good.len() - 8) + 8;
        assert!(
            damaged(refused(&mut simulation, &good[..length])),
            "{length}"
        );
        let mut flipped = good.clone();
        let at = 8 + dice.below(good.len() - 8);
        flipped[at] ^= 1 << dice.below(8);
        assert!(damaged(refused(&mut simulation, &flipped)), "{at}");
    }
    // Cut short, with a checksum that fits.
    for _ in 0..50 {
        let mut short = good[..HEAD + dice.below(good.len() - HEAD)].to_vec();
        seal(&mut short);
        assert!(damaged(refused(&mut simulation, &short)));
    }
    let other =
        built("trocar = 1\n[[particle]]\nname = \"bead\"\nmass = 1\nposition = [0, 0, 0]\n");
    assert_eq!(
        refused(&mut simulation, &other.snapshot()),
        Some(SnapshotError::OtherScene)
    );
    // The same scene with one character more is another scene.
    let mut bundle = scene.bundle.clone();
    bundle.files[0].1.push(b'\n');
    let other = Scene::from_bundle(&bundle).unwrap();
    let other = Simulation::new(&other, 1).unwrap();
    assert_eq!(
        refused(&mut simulation, &other.snapshot()),
        Some(SnapshotError::OtherScene)
    );
    assert_eq!(refused(&mut simulation, good), None);
}

#[test]
fn numbers_that_are_none_are_refused() {
    let (scene, good, _) = operated();
    let mut simulation = simulation(scene, 1);
    // Every position, velocity, pull … of the snapshot stands there as eight bytes: write NaN over some.
    let mut dice = Dice(11);
    for _ in 0..300 {
        let mut bytes = good.clone();
        let at = HEAD + 64 + dice.below(good.len() - HEAD - 80);
        bytes[at..at + 16].copy_from_slice(&[0xFF; 16]);
        seal(&mut bytes);
        assert!(refused(&mut simulation, &bytes).is_some(), "{at}");
    }
}

proptest! {
    #![proptest_config(Config { cases: 500, failure_persistence: None, ..Config::default() })]

    #[test]
    fn a_tampered_snapshot_never_panics(
        changes in prop::collection::vec((any::<usize>(), any::<u8>(), prop::bool::weighted(0.3)), 1..4),
        cut in prop::option::weighted(0.1, any::<usize>()),
        sealed in prop::bool::weighted(0.9),
    ) {
        let (scene, good, script) = operated();
        let mut bytes = good.clone();
        for (at, byte, late) in &changes {
            // Grips, ties and sides stand at the end, where a change does more than move a node.
            let from = if *late { good.len() - 1500 } else { HEAD };
            let at = from + at % (good.len() - from);
            bytes[at] = *byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(HEAD + cut % (good.len() - HEAD));
        }
        if sealed {
            seal(&mut bytes);
        }
        // One for all cases: building it takes longer than the case.
        static SHARED: OnceLock<Mutex<Simulation>> = OnceLock::new();
        let shared = SHARED.get_or_init(|| Mutex::new(simulation(scene, 1)));
        let mut simulation = shared.lock().unwrap_or_else(PoisonError::into_inner);
        simulation.restore(good).unwrap();
        let before = simulation.hash();
        if refused(&mut simulation, &bytes).is_none() {
            // What the next step reads shows in the hash.
            let same = simulation.snapshot() == *good;
            prop_assert_eq!(simulation.hash() == before, same);
            for input in script {
                simulation.step(input);
                prop_assert!(is_sound(&simulation, 1e4 + 1.0));
            }
        }
    }
}

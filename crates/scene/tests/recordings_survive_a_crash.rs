//! A recording replays to the same hashes; one that breaks off or is damaged is read up to there; one that was
//! tampered with is found out.

// Tests may unwrap, and so may what helps them.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Dice, gallbladder, operation, simulation};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};
use trocar_scene::{
    Input, Scene, Simulation,
    recording::{BUILD, Block, Recording, RecordingError, Verdict, Writer},
};

/// Steps that are recorded; about a block for every 500.
const STEPS: usize = 2300;

struct Recorded {
    folder: tempfile::TempDir,
    bytes: Vec<u8>,
    inputs: Vec<Input>,
    hashes: Vec<u64>,
}

impl Recorded {
    /// Writes bytes to a file of their own.
    fn file(&self, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join("changed.rec");
        fs::write(&path, bytes).unwrap();
        path
    }

    /// The recording as it was written.
    fn whole(&self) -> Recording {
        Recording::read(self.file(&self.bytes)).unwrap()
    }
}

/// A recorded operation on the gall bladder, in a folder of the caller's own.
fn record() -> Recorded {
    static DONE: OnceLock<(Vec<u8>, Vec<Input>, Vec<u64>)> = OnceLock::new();
    let (bytes, inputs, hashes) = DONE.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("operation.rec");
        let scene = gallbladder();
        let mut simulation = simulation(&scene, 1);
        let mut inputs = operation(&simulation);
        inputs.resize(STEPS, inputs[inputs.len() - 1].clone());
        let mut writer = Writer::create(&path, &scene, &[]).unwrap();
        let mut hashes = Vec::new();
        for input in &inputs {
            simulation.step(input);
            writer.step(input, &simulation).unwrap();
            hashes.push(simulation.hash());
        }
        writer.finish().unwrap();
        (fs::read(&path).unwrap(), inputs, hashes)
    });
    Recorded {
        folder: tempfile::tempdir().unwrap(),
        bytes: bytes.clone(),
        inputs: inputs.clone(),
        hashes: hashes.clone(),
    }
}

/// Starts and ends of the blocks, their heads included.
fn blocks(bytes: &[u8]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = 8;
    while at < bytes.len() {
        let length = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        found.push((at, at + 8 + length));
        at += 8 + length;
    }
    assert_eq!(at, bytes.len());
    found
}

/// Replays in a simulation made from the recording alone.
fn replay(recording: &Recording) -> Verdict {
    let scene = Scene::from_bundle(&recording.scene).unwrap();
    recording.replay(&mut Simulation::new(&scene, 1).unwrap(), |_| true)
}

/// A block as it stands in a file, with a checksum that fits.
fn sealed(block: &Block) -> Vec<u8> {
    let body = postcard::to_stdvec(block).unwrap();
    let mut bytes = (body.len() as u32).to_le_bytes().to_vec();
    bytes.extend(crc32fast::hash(&body).to_le_bytes());
    bytes.extend(body);
    bytes
}

#[test]
fn a_recording_replays_to_the_same_hashes_from_itself_alone() {
    let recorded = record();
    let recording = recorded.whole();
    assert!(recording.complete);
    assert_eq!(recording.build, BUILD);
    assert!(recording.inputs().eq(&recorded.inputs));
    let hashes: Vec<u64> = recording
        .blocks
        .iter()
        .flat_map(|b| &b.hashes)
        .copied()
        .collect();
    assert_eq!(hashes, recorded.hashes);
    // Main file, include and meshes.
    assert!(recording.scene.files.len() > 2);
    assert_eq!(recording.scene, gallbladder().bundle);
    assert_eq!(replay(&recording), Verdict::Same { checked: STEPS });

    // It can be watched and stopped.
    let scene = Scene::from_bundle(&recording.scene).unwrap();
    let mut seen = 0;
    let verdict = recording.replay(&mut Simulation::new(&scene, 1).unwrap(), |_| {
        seen += 1;
        seen < 10
    });
    assert_eq!((verdict, seen), (Verdict::Same { checked: 10 }, 10));
}

#[test]
fn what_was_written_before_a_crash_is_read_and_replays() {
    let recorded = record();
    let blocks = blocks(&recorded.bytes);
    let whole = recorded.whole();
    assert!(blocks.len() > 5, "{blocks:?}");
    let header = blocks[0].1;
    // Every edge of every block with its neighbours, and lengths in between.
    let mut lengths: Vec<usize> = blocks
        .iter()
        .flat_map(|(a, b)| [*a, a + 1, a + 4, a + 7, a + 8, a + 9, b - 1, *b])
        .chain([0, 1, 7, 8])
        .collect();
    let mut dice = Dice(5);
    lengths.extend((0..200).map(|_| dice.below(recorded.bytes.len())));
    for length in lengths {
        let read = Recording::read(recorded.file(&recorded.bytes[..length]));
        match read {
            Err(RecordingError::Foreign { .. }) => assert!(length < 8, "{length}"),
            Err(RecordingError::Damaged { .. }) => assert!(length >= 8 && length < header),
            Err(other) => panic!("{length}: {other}"),
            Ok(recording) => {
                let left = blocks[1..].iter().filter(|b| b.1 <= length).count();
                assert_eq!(recording.blocks, whole.blocks[..left], "{length}");
                assert_eq!(recording.complete, length == recorded.bytes.len());
            }
        }
    }
    for left in [1, 2, blocks.len() - 2] {
        let cut = blocks[left].1 + 3;
        let recording = Recording::read(recorded.file(&recorded.bytes[..cut])).unwrap();
        let steps = recording.steps();
        assert!(steps > 0 && steps < STEPS);
        assert_eq!(replay(&recording), Verdict::Same { checked: steps });
    }
}

#[test]
fn a_writer_that_is_dropped_leaves_what_it_wrote() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dropped.rec");
    let scene = gallbladder();
    let mut simulation = simulation(&scene, 1);
    let mut writer = Writer::create(&path, &scene, &[]).unwrap();
    let input = simulation.idle_input();
    for _ in 0..1250 {
        simulation.step(&input);
        writer.step(&input, &simulation).unwrap();
    }
    drop(writer);
    let recording = Recording::read(&path).unwrap();
    assert!(!recording.complete);
    // A block closes after half a second of simulated time, sooner on a slow machine.
    assert!(recording.steps() >= 1000, "{}", recording.steps());
    assert_eq!(
        replay(&recording),
        Verdict::Same {
            checked: recording.steps()
        }
    );
}

#[test]
fn flipped_bits_end_a_recording_at_the_damaged_block() {
    let recorded = record();
    let blocks = blocks(&recorded.bytes);
    let whole = recorded.whole();
    let mut dice = Dice(9);
    let header = blocks[0].1;
    for k in 0..300 {
        // The header is by far the largest block; most flips go to the others.
        let from = if k % 4 == 0 { 0 } else { header };
        let at = from + dice.below(recorded.bytes.len() - from);
        let mut bytes = recorded.bytes.clone();
        bytes[at] ^= 1 << dice.below(8);
        match Recording::read(recorded.file(&bytes)) {
            Err(RecordingError::Foreign { .. }) => assert!(at < 8),
            Err(RecordingError::Damaged { .. }) => assert!(at >= 8 && at < header),
            Err(other) => panic!("{other}"),
            Ok(recording) => {
                let sound = blocks[1..].iter().filter(|b| b.1 <= at).count();
                assert_eq!(recording.blocks, whole.blocks[..sound], "{at}");
                assert!(!recording.complete);
            }
        }
    }
}

#[test]
fn a_forged_input_is_found_out_at_its_step() {
    let recorded = record();
    let whole = recorded.whole();
    let blocks = blocks(&recorded.bytes);
    let forge = |number: usize, change: &dyn Fn(&mut Block)| {
        let mut block = whole.blocks[number].clone();
        change(&mut block);
        let (start, end) = blocks[number + 1];
        let mut bytes = recorded.bytes[..start].to_vec();
        bytes.extend(sealed(&block));
        bytes.extend(&recorded.bytes[end..]);
        let recording = Recording::read(recorded.file(&bytes)).unwrap();
        assert!(recording.complete && recording.steps() == STEPS);
        let before: usize = whole.blocks[..number].iter().map(Block::steps).sum();
        (replay(&recording), before as u64)
    };
    // The hand moved a little less, in a step when it moved.
    let (verdict, before) = forge(1, &|block| {
        assert!(block.inputs[..20].iter().all(|i| i.1 == 1));
        block.inputs[11].0.handles[0].depth -= 1e-9;
    });
    assert!(
        matches!(verdict, Verdict::Differs { step, expected, found, .. }
            if step == before + 12 && expected != found),
        "{verdict:?} {before}"
    );
    let (verdict, before) = forge(2, &|block| block.hashes[40] ^= 1);
    assert!(
        matches!(verdict, Verdict::Differs { step, expected, found, time }
            if step == before + 41 && expected == found ^ 1 && (time - step as f64 * 1e-3).abs() < 1e-9),
        "{verdict:?} {before}"
    );
    let (verdict, _) = forge(0, &|_| ());
    assert_eq!(verdict, Verdict::Same { checked: STEPS });
}

#[test]
fn a_foreign_block_with_a_fitting_checksum_never_panics() {
    let recorded = record();
    let blocks = blocks(&recorded.bytes);
    let whole = recorded.whole();
    let mut dice = Dice(21);
    for _ in 0..300 {
        let (start, end) = blocks[dice.below(blocks.len())];
        let mut bytes = recorded.bytes[..end].to_vec();
        for _ in 0..3 {
            let at = start + 8 + dice.below((end - start - 8).min(4000));
            bytes[at] = dice.next() as u8;
        }
        let sum = crc32fast::hash(&bytes[start + 8..]).to_le_bytes();
        bytes[start + 4..start + 8].copy_from_slice(&sum);
        let Ok(recording) = Recording::read(recorded.file(&bytes)) else {
            continue;
        };
        // The scene may be broken too; that is an error, not a panic.
        if recording.scene != whole.scene {
            let _ =
                Scene::from_bundle(&recording.scene).map(|s| Simulation::new(&s, 1).map(|_| ()));
        }
    }
}

#[test]
fn wild_inputs_are_recorded_and_replayed_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("wild.rec");
    let scene = gallbladder();
    let mut simulation = simulation(&scene, 1);
    let mut writer = Writer::create(&path, &scene, &[]).unwrap();
    let numbers = [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-9, 0.003, 1e9];
    for k in 0..60 {
        let mut input = simulation.idle_input();
        input.dt = numbers[k % numbers.len()];
        input.iterations = (k % 5) as u32;
        input.handles[0].yaw = numbers[(k + 3) % numbers.len()];
        input.handles.resize(k % 4, input.handles[0]);
        simulation.step(&input);
        writer.step(&input, &simulation).unwrap();
    }
    writer.finish().unwrap();
    let recording = Recording::read(&path).unwrap();
    assert_eq!(replay(&recording), Verdict::Same { checked: 60 });
}

#[test]
fn an_existing_file_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("precious.rec");
    fs::write(&path, "precious").unwrap();
    let error = Writer::create(&path, &gallbladder(), &[]).err().unwrap();
    assert!(error.to_string().contains("precious.rec"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), b"precious");
}

#[test]
fn what_is_no_recording_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let gone = Recording::read(folder.path().join("gone.rec"))
        .err()
        .unwrap();
    assert!(matches!(gone, RecordingError::File { .. }) && gone.to_string().contains("gone.rec"));
    let scene = common::scenes().join("gallbladder.toml");
    let foreign = Recording::read(&scene).err().unwrap();
    assert!(matches!(foreign, RecordingError::Foreign { .. }));
    assert!(foreign.to_string().contains("gallbladder.toml"));
    assert!(Recording::read(Path::new("/")).is_err());
}

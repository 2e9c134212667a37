//! Whatever bytes a reader gets, it answers with a sound surface or an error: it never panics.

// What helps a test may unwrap as a test may; clippy only knows the latter.
#![allow(clippy::unwrap_used)]

mod samples;

use proptest::prelude::*;
use trocar_mesh::Format;
use trocar_mesh::read::parse;

const FORMATS: [Format; 8] = [
    Format::Stl,
    Format::Obj,
    Format::Ply,
    Format::Vtk,
    Format::Vtu,
    Format::Off,
    Format::Gmsh,
    Format::Inventor,
];

fn answers(bytes: &[u8]) {
    for format in FORMATS {
        match parse(bytes, format) {
            Ok(surface) => assert_eq!(surface.check(), Ok(()), "{format} let a bad surface pass"),
            Err(error) => assert!(!error.problem.is_empty() && !error.remedy.is_empty()),
        }
    }
    Format::of(bytes, "mesh".as_ref());
}

#[test]
fn every_truncation_of_every_sample() {
    for sample in samples::all() {
        for cut in 0..sample.bytes.len() {
            if let Ok(surface) = parse(&sample.bytes[..cut], sample.format) {
                assert_eq!(surface.check(), Ok(()), "{} cut at {cut}", sample.name);
            }
        }
    }
}

#[test]
fn every_byte_of_every_sample_replaced() {
    for sample in samples::all() {
        for at in 0..sample.bytes.len() {
            for byte in [0, b' ', b'\n', b'-', b'9', b'"', 0x7f, 0xff] {
                let mut bytes = sample.bytes.clone();
                bytes[at] = byte;
                if let Ok(surface) = parse(&bytes, sample.format) {
                    assert_eq!(
                        surface.check(),
                        Ok(()),
                        "{} with {byte} at {at}",
                        sample.name
                    );
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes(bytes: Vec<u8>) {
        answers(&bytes);
    }

    /// A sample in which a few stretches are replaced by others of the same or another sample, or by digits.
    #[test]
    fn spliced_samples(
        which in 0_usize..100,
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..12, any::<prop::sample::Index>(), 0_usize..12), 1..5),
        other in 0_usize..100,
        number in prop_oneof![Just("-1"), Just("4294967296"), Just("18446744073709551615"), Just("1e999"), Just("NaN"), Just("")],
    ) {
        let samples = samples::all();
        let mut bytes = samples[which % samples.len()].bytes.clone();
        let donor = &samples[other % samples.len()].bytes;
        for (at, length, from, taken) in cuts {
            let at = at.index(bytes.len());
            let end = (at + length).min(bytes.len());
            let from = from.index(donor.len());
            let mut patch = donor[from..(from + taken).min(donor.len())].to_vec();
            patch.extend(number.bytes());
            bytes.splice(at..end, patch);
        }
        answers(&bytes);
    }
}

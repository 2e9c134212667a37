//! Meshes that other projects made are read, or refused with a clear reason.
//!
//! They are not part of this project: where their folder is missing, this says so and checks nothing.

// What helps a test may unwrap as a test may; clippy only knows the latter.
#![allow(clippy::unwrap_used)]

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use trocar_mesh::{MeshError, Surface, read};

/// The files, in order, or nothing, said aloud.
fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/meshes");
    let Ok(entries) = folder.read_dir() else {
        // Past the test's own output, which nobody sees of a test that passes.
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED: {} is missing, so no real mesh was read",
            folder.display()
        );
        return Vec::new();
    };
    let mut files: Vec<_> = entries
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e != "md"))
        .collect();
    files.sort();
    files
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|n| n.to_str()).unwrap()
}

#[test]
fn every_file_is_read_repaired_or_refused_with_a_reason() {
    for path in files() {
        let broken = name(&path).contains("broken");
        match read(&path) {
            Err(error) => {
                eprintln!("{}: REFUSED: {error}", name(&path));
                assert!(broken, "a sound file was refused");
                assert!(matches!(error, MeshError::Malformed { .. }));
                assert!(error.to_string().contains(';'), "the error names no remedy");
            }
            Ok(mut surface) => {
                assert!(!broken, "the broken file was read as if it were sound");
                surface.check().unwrap();
                let closed_as_given = {
                    let mut welded = surface.clone();
                    welded.weld(0.0);
                    welded.topology().is_closed()
                };
                let report = surface.repair();
                surface.check().unwrap();
                let topology = surface.topology();
                let size = surface.bounds().unwrap().diagonal();
                eprintln!(
                    "{}: {topology}; diagonal {size:.4}, volume {:.4e}; {report}",
                    name(&path),
                    surface.volume()
                );
                assert!(
                    topology.is_closed() || !closed_as_given,
                    "repair opens nothing"
                );
                assert!(
                    topology.is_oriented() || report.unorientable > 0,
                    "repair orients"
                );
                assert!(
                    !topology.is_closed() || surface.volume() > 0.0,
                    "closed surfaces face outwards"
                );
                assert!(
                    surface.clone().repair().changed_nothing(),
                    "repair is done once"
                );
            }
        }
    }
}

/// Cutting a real file short anywhere gives an error or a surface, never a panic.
#[test]
fn real_files_cut_short_do_no_harm() {
    for path in files() {
        let bytes = std::fs::read(&path).unwrap();
        let Some(format) = trocar_mesh::Format::of(&bytes, &path) else {
            continue;
        };
        for cut in (0..40).map(|i| bytes.len() * i / 40) {
            let surface: Result<Surface, _> = trocar_mesh::read::parse(&bytes[..cut], format);
            assert!(surface.is_err() || surface.unwrap().check().is_ok());
        }
    }
}

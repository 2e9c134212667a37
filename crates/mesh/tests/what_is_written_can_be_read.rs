//! Every dialect gives the same surface, and what this crate writes comes back as it was.

// What helps a test may unwrap as a test may; clippy only knows the latter.
#![allow(clippy::unwrap_used)]

mod samples;

use glam::DVec3;
use proptest::prelude::*;
use trocar_mesh::export::{to_obj, to_stl, to_vtp, write_obj, write_stl};
use trocar_mesh::primitive::TubeShape;
use trocar_mesh::read::{parse, parse_obj, parse_stl, parse_vtu};
use trocar_mesh::{Format, Surface, read};

/// Triangles turned so that the lowest vertex is first, in ascending order: equal for equal surfaces.
fn sorted(surface: &Surface) -> Vec<[u32; 3]> {
    let turned = |t: &[u32; 3]| {
        let lowest = (0..3).min_by_key(|&i| t[i]).unwrap();
        [t[lowest], t[(lowest + 1) % 3], t[(lowest + 2) % 3]]
    };
    let mut triangles: Vec<_> = surface.triangles.iter().map(turned).collect();
    triangles.sort_unstable();
    triangles
}

#[test]
fn every_dialect_gives_the_same_surface() {
    let original = samples::surface();
    for sample in samples::all() {
        let surface = parse(&sample.bytes, sample.format)
            .unwrap_or_else(|error| panic!("{}: {error}", sample.name));
        assert_eq!(
            Format::of(&sample.bytes, "".as_ref()),
            Some(sample.format),
            "{}",
            sample.name
        );
        if sample.format == Format::Stl {
            // Soup: other vertices, same solid.
            let mut welded = surface.clone();
            assert_eq!(welded.repair().welded, 8);
            assert_eq!(welded.volume(), original.volume());
            continue;
        }
        assert_eq!(surface.positions, original.positions, "{}", sample.name);
        assert_eq!(sorted(&surface), sorted(&original), "{}", sample.name);
    }
}

#[test]
fn an_organ_survives_stl() {
    let path = vec![
        DVec3::ZERO,
        DVec3::new(0.01, 0.02, 0.05),
        DVec3::new(0.0, 0.0, 0.1),
    ];
    let organ = TubeShape {
        path,
        radii: vec![[0.02, 0.015]],
        up: DVec3::Y,
        rings: 16,
        around: 12,
    }
    .organ()
    .unwrap()
    .surface;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("organ.stl");
    write_stl(&file, &organ).unwrap();
    let mut back = read(&file).unwrap();
    assert_eq!(back.positions.len(), 3 * organ.triangles.len());
    let report = back.repair();
    assert_eq!(
        report.welded,
        3 * organ.triangles.len() - organ.positions.len()
    );
    assert!(back.topology().is_closed());
    assert!((back.volume() / organ.volume() - 1.0).abs() < 1e-6);

    let file = folder.path().join("organ.obj");
    write_obj(&file, &organ).unwrap();
    assert_eq!(read(&file).unwrap(), organ);
}

#[test]
fn read_says_which_file_and_why() {
    let folder = tempfile::tempdir().unwrap();
    let message = |name: &str, content: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        read(&path).unwrap_err().to_string()
    };
    assert!(message("a.obj", b"v 0 0 x\n").contains("a.obj: OBJ, line 1: `x` is no number"));
    assert!(message("picture.png", b"\x89PNG").contains("convert it to one of STL"));
    assert!(message("empty", b"").contains("no known format"));
    assert!(
        read(folder.path().join("missing.stl"))
            .unwrap_err()
            .to_string()
            .contains("missing.stl")
    );
    assert!(read(folder.path()).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_surface_comes_back_bit_for_bit(
        points in prop::collection::vec(prop::array::uniform3(-1e12..1e12_f64), 3..20),
        corners in prop::collection::vec(prop::array::uniform3(any::<prop::sample::Index>()), 1..30),
    ) {
        let positions: Vec<_> = points.into_iter().map(DVec3::from).collect();
        let triangles = corners.iter().map(|c| c.map(|i| i.index(positions.len()) as u32)).collect();
        let surface = Surface { positions, triangles };
        prop_assert_eq!(&parse_obj(to_obj(&surface).unwrap().as_bytes()).unwrap(), &surface);
        prop_assert_eq!(&parse_vtu(to_vtp(&(&surface).into()).unwrap().as_bytes()).unwrap(), &surface);
        let soup = parse_stl(&to_stl(&surface).unwrap()).unwrap();
        prop_assert_eq!(soup.triangles.len(), surface.triangles.len());
        for (corner, position) in surface.triangles.as_flattened().iter().zip(&soup.positions) {
            prop_assert_eq!(surface.positions[*corner as usize].as_vec3(), position.as_vec3());
        }
    }
}

//! The primitives have the node, spring and triangle counts of Kuhn's MESD (§3.6), the promised numbering, and close.

use glam::DVec3;
use proptest::prelude::*;
use trocar_mesh::primitive::{EdgeKind, ShapeError, TubeShape};

fn straight(rings: usize, around: usize) -> TubeShape {
    TubeShape {
        path: vec![DVec3::ZERO, 0.2 * DVec3::Z],
        radii: vec![[0.1, 0.1]],
        up: DVec3::Y,
        rings,
        around,
    }
}

#[test]
fn an_organ_of_16_rings_of_12() {
    let organ = straight(16, 12).organ().unwrap();
    assert_eq!(organ.lattice_edges().len(), 756);
    assert_eq!(organ.surface.positions.len(), 194);
    assert_eq!(organ.surface.triangles.len(), 384);
    let count = |kind| {
        organ
            .lattice_edges()
            .iter()
            .filter(|e| e.kind == kind)
            .count()
    };
    assert_eq!(count(EdgeKind::Around), 16 * 12);
    assert_eq!(count(EdgeKind::Along), 15 * 12);
    assert_eq!(count(EdgeKind::Diagonal), 2 * 15 * 12);
    assert_eq!(count(EdgeKind::Pole), 24);
    let topology = organ.surface.topology();
    assert!(topology.is_closed() && topology.is_manifold() && topology.is_oriented());
    assert_eq!((topology.euler(), topology.components), (2, 1));
    assert!(organ.surface.volume() > 0.0, "faces outwards");
    assert!(
        organ.surface.positions[192].abs_diff_eq(DVec3::ZERO, 1e-15),
        "start pole"
    );
    assert!(
        organ.surface.positions[193].abs_diff_eq(0.2 * DVec3::Z, 1e-15),
        "end pole"
    );
    // The triangles use only edges that carry a spring.
    let mut springs: Vec<_> = organ
        .lattice_edges()
        .iter()
        .map(|e| [e.nodes[0].min(e.nodes[1]), e.nodes[0].max(e.nodes[1])])
        .collect();
    springs.sort_unstable();
    assert!(
        organ
            .surface
            .edges()
            .iter()
            .all(|e| springs.binary_search(e).is_ok())
    );
}

#[test]
fn a_pipe_of_10_rings_of_12() {
    let pipe = straight(10, 12).pipe().unwrap();
    assert_eq!(pipe.lattice_edges().len(), 444);
    assert_eq!(pipe.surface.positions.len(), 120);
    assert_eq!(pipe.surface.triangles.len(), 216);
    assert_eq!(pipe.ring(3), 36..48);
    let topology = pipe.surface.topology();
    assert_eq!((topology.euler(), topology.boundary_edges), (0, 24));
    for (r, centre) in pipe.centres.iter().enumerate() {
        assert!(
            centre.abs_diff_eq(0.2 * r as f64 / 9.0 * DVec3::Z, 1e-15),
            "equally spaced from end to end"
        );
        assert!((pipe.frames[r] * DVec3::Z).abs_diff_eq(DVec3::Z, 1e-15));
        for vertex in pipe.ring(r) {
            assert!(
                (pipe.surface.positions[vertex as usize].distance(*centre) - 0.1).abs() < 1e-15
            );
        }
    }
    for (position, normal) in pipe.surface.positions.iter().zip(pipe.surface.normals()) {
        assert!(
            normal.dot(position.with_z(0.0).normalize()) > 0.9,
            "faces outwards"
        );
    }
}

#[test]
fn a_straight_organ_of_constant_radius_is_a_sphere() {
    let organ = straight(63, 128).organ().unwrap();
    for position in &organ.surface.positions {
        assert!((position.distance(0.1 * DVec3::Z) - 0.1).abs() < 1e-15);
    }
    let sphere = 4.0 / 3.0 * std::f64::consts::PI * 1e-3;
    assert!((organ.surface.volume() / sphere - 1.0).abs() < 2e-3);
}

#[test]
fn half_width_lies_across_up_and_half_height_along() {
    let pipe = TubeShape {
        radii: vec![[0.3, 0.1]],
        ..straight(2, 4)
    }
    .pipe()
    .unwrap();
    let first = &pipe.surface.positions[..4];
    assert!(first[0].abs_diff_eq(0.3 * DVec3::X, 1e-15));
    assert!(first[1].abs_diff_eq(0.1 * DVec3::Y, 1e-15));
}

#[test]
fn nonsense_is_refused_by_name() {
    let shape = straight(4, 6);
    let refused = |shape: TubeShape| {
        let (pipe, organ) = (shape.pipe().unwrap_err(), shape.organ().unwrap_err());
        assert_eq!(pipe.to_string(), organ.to_string());
        pipe
    };
    let cases = [
        (
            TubeShape {
                rings: 1,
                ..shape.clone()
            },
            "rings is 1",
        ),
        (
            TubeShape {
                around: 2,
                ..shape.clone()
            },
            "around is 2",
        ),
        (
            TubeShape {
                rings: usize::MAX,
                ..shape.clone()
            },
            "limit",
        ),
        (
            TubeShape {
                path: vec![DVec3::X],
                ..shape.clone()
            },
            "1 point",
        ),
        (
            TubeShape {
                path: vec![DVec3::X, DVec3::X],
                ..shape.clone()
            },
            "points 0 and 1",
        ),
        (
            TubeShape {
                path: vec![DVec3::X, DVec3::NAN],
                ..shape.clone()
            },
            "path point 1",
        ),
        (
            TubeShape {
                up: DVec3::INFINITY,
                ..shape.clone()
            },
            "up 0",
        ),
        (
            TubeShape {
                radii: vec![],
                ..shape.clone()
            },
            "0 radii",
        ),
        (
            TubeShape {
                radii: vec![[1.0, 1.0]; 3],
                ..shape.clone()
            },
            "3 radii for 2",
        ),
        (
            TubeShape {
                radii: vec![[1.0, 0.0]],
                ..shape.clone()
            },
            "radius 0",
        ),
        (
            TubeShape {
                radii: vec![[f64::NAN, 1.0]],
                ..shape.clone()
            },
            "radius 0",
        ),
    ];
    for (shape, expected) in cases {
        let error = refused(shape).to_string();
        assert!(error.contains(expected), "{error}");
    }
    let hairpin = vec![
        DVec3::ZERO,
        DVec3::Z,
        DVec3::new(0.1, 0.0, 1.1),
        DVec3::new(0.2, 0.0, 1.0),
        DVec3::new(0.2, 0.0, 0.0),
    ];
    let fat = TubeShape {
        path: hairpin,
        radii: vec![[0.5, 0.5]],
        rings: 40,
        ..shape
    };
    assert!(matches!(fat.pipe(), Err(ShapeError::Folded { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever a user writes, the answer is a sound surface or an error.
    #[test]
    fn any_path_gives_a_sound_tube_or_an_error(
        path in prop::collection::vec(prop::array::uniform3(-1.0..1.0_f64), 0..8),
        radius in prop_oneof![-0.1..0.3_f64, Just(f64::NAN), Just(1e300)],
        scale in prop_oneof![Just(1.0), Just(1e-300), Just(1e11), Just(0.0)],
        up in prop::array::uniform3(-1.0..1.0_f64),
        rings in 0_usize..30,
        around in 0_usize..10,
    ) {
        let path = path.into_iter().map(|p| scale * DVec3::from(p)).collect();
        let shape = TubeShape { path, radii: vec![[radius, 0.5 * radius]], up: DVec3::from(up), rings, around };
        for tube in [shape.pipe(), shape.organ()].into_iter().flatten() {
            prop_assert_eq!(tube.surface.check(), Ok(()));
            prop_assert!(tube.surface.topology().is_oriented() && tube.surface.topology().is_manifold());
            prop_assert!(tube.frames.iter().all(|q| q.is_normalized()));
        }
    }
}

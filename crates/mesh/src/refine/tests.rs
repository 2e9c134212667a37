use super::*;
use crate::primitive::{SheetShape, TubeShape};

/// A ball of triangles, from an octahedron that is divided and blown up.
fn ball(times: usize, radius: f64) -> Surface {
    let (x, y, z) = (DVec3::X * radius, DVec3::Y * radius, DVec3::Z * radius);
    let mut surface = Surface {
        positions: vec![x, y, z, -x, -y, -z],
        triangles: vec![
            [0, 1, 2],
            [1, 3, 2],
            [3, 4, 2],
            [4, 0, 2],
            [1, 0, 5],
            [3, 1, 5],
            [4, 3, 5],
            [0, 4, 5],
        ],
    };
    for _ in 0..times {
        let fine = Refinement::new(&surface.triangles, surface.positions.len(), 1).unwrap();
        let mut skin = fine.skin();
        fine.apply(&surface.positions, &mut skin);
        let out = |p: &Vec3A| p.as_dvec3().normalize() * radius;
        surface.positions = skin.positions().iter().map(out).collect();
        surface.triangles = fine.triangles().to_vec();
    }
    surface
}

fn refined(surface: &Surface, times: u32, bulge: f32) -> (Surface, Skin) {
    let fine = Refinement::new(&surface.triangles, surface.positions.len(), times)
        .unwrap()
        .with_bulge(bulge);
    let mut skin = fine.skin();
    fine.apply(&surface.positions, &mut skin);
    let positions = skin.positions().iter().map(|p| p.as_dvec3()).collect();
    let triangles = fine.triangles().to_vec();
    let surface = Surface {
        positions,
        triangles,
    };
    (surface, skin)
}

/// The greatest angle between neighbouring triangles, rad.
fn sharpest(surface: &Surface) -> f64 {
    let normal = |t: u32| {
        let [a, b, c] = surface
            .corners(surface.triangles[t as usize])
            .expect("a triangle");
        (b - a).cross(c - a).normalize()
    };
    let all = sides(surface);
    all.chunk_by(same_edge)
        .filter(|group| group.len() == 2)
        .map(|g| trocar_math::angle(normal(g[0].triangle), normal(g[1].triangle)))
        .fold(0.0, f64::max)
}

#[test]
fn the_middle_of_an_arc_is_on_the_circle() {
    // Small angles: 1/8 is exact to the fourth order of the angle.
    let (radius, half) = (0.02_f32, 0.05_f32);
    let at = |angle: f32| Vec3A::new(libm::sinf(angle), libm::cosf(angle), 0.0);
    let middle = middle(
        at(-half) * radius,
        at(half) * radius,
        at(-half),
        at(half),
        BULGE,
    );
    let sagitta = radius * (1.0 - libm::cosf(half));
    assert!((middle.length() - radius).abs() < 1e-2 * sagitta);
    assert!(middle.y > radius * libm::cosf(half), "outwards");
}

#[test]
fn what_has_no_direction_stays_on_the_edge() {
    let (a, b) = (Vec3A::ZERO, Vec3A::X);
    for (n, m) in [
        (Vec3A::Y, Vec3A::NEG_Y),
        (Vec3A::X, Vec3A::NEG_X),
        (Vec3A::ZERO, Vec3A::X),
        (Vec3A::ZERO, Vec3A::ZERO),
    ] {
        assert_eq!(middle(a, b, n, m, BULGE), Vec3A::X * 0.5, "{n} {m}");
    }
}

#[test]
fn coarse_vertices_stay_and_the_topology_is_that_of_the_coarse_surface() {
    let surface = ball(2, 0.03);
    let before = surface.topology();
    let (fine, _) = refined(&surface, 2, BULGE);
    for (now, then) in fine.positions.iter().zip(&surface.positions) {
        assert!(now.distance(*then) < 1e-8);
    }
    let after = fine.topology();
    assert!(after.is_closed() && after.is_manifold() && after.is_oriented());
    assert_eq!(after.euler(), before.euler());
    assert_eq!(after.triangles, 16 * before.triangles);
    let once = before.vertices + before.edges;
    assert_eq!(refined(&surface, 1, BULGE).0.positions.len(), once);
    assert_eq!(refined(&surface, 0, BULGE).0.triangles, surface.triangles);
}

#[test]
fn a_ball_becomes_rounder_and_a_dent_stays_a_dent() {
    let radius = 0.03;
    let surface = ball(2, radius);
    let away = |s: &Surface| {
        let off = s.positions.iter().map(|p| (p.length() - radius).abs());
        off.fold(0.0, f64::max)
    };
    let (flat, round) = (refined(&surface, 1, 0.0).0, refined(&surface, 1, BULGE).0);
    // Not all of it goes: where triangles are uneven, normals weighted by area are not quite those of the ball.
    assert!(
        away(&round) < away(&flat) / 3.0,
        "{} {}",
        away(&round),
        away(&flat)
    );
    assert!(sharpest(&round) < 0.7 * sharpest(&surface));
    let twice = refined(&surface, 2, BULGE).0;
    assert!(sharpest(&twice) < 0.45 * sharpest(&surface));
    // Inside out, the same surface is a hollow; it has the same shape.
    let mut hollow = surface.clone();
    hollow.flip();
    let hollow = refined(&hollow, 1, BULGE).0;
    for (a, b) in hollow.positions.iter().zip(&round.positions) {
        assert!(a.distance(*b) < 1e-8);
    }
}

#[test]
fn numbers_are_good_to_a_part_in_a_million() {
    let pipe = TubeShape {
        path: vec![DVec3::ZERO, DVec3::new(0.02, 0.0, 0.03), DVec3::Z * 0.09],
        radii: vec![[0.012, 0.008], [0.01, 0.013], [0.011, 0.011]],
        up: DVec3::Y,
        rings: 14,
        around: 11,
    };
    let surface = pipe.pipe().unwrap().surface;
    let (fine, skin) = refined(&surface, 1, BULGE);
    let normals = surface.normals();
    let edges = surface.edges();
    for (k, [a, b]) in edges.iter().map(|e| e.map(|v| v as usize)).enumerate() {
        let (p, q) = (surface.positions[a], surface.positions[b]);
        let lift = f64::from(BULGE) * (q - p).dot(normals[b] - normals[a]);
        let exact = 0.5 * (p + q) + lift * (normals[a] + normals[b]).normalize();
        let found = fine.positions[surface.positions.len() + k];
        assert!(
            found.distance(exact) < 1e-6 * 0.1,
            "{}",
            found.distance(exact)
        );
    }
    for (found, exact) in skin.normals().iter().zip(fine.normals()) {
        assert!(found.as_dvec3().distance(exact) < 1e-4);
    }
}

#[test]
fn a_flat_sheet_stays_flat_to_its_rim() {
    let sheet = SheetShape {
        origin: DVec3::ZERO,
        u: DVec3::X * 0.05,
        v: DVec3::Z * 0.05,
        rows: 5,
        columns: 6,
    };
    let surface = sheet.surface().unwrap();
    let (fine, _) = refined(&surface, 2, BULGE);
    assert!(fine.positions.iter().all(|p| p.y == 0.0));
    assert!((fine.area() - surface.area()).abs() < 1e-6 * surface.area());
    assert_eq!(
        fine.topology().boundary_edges,
        4 * surface.topology().boundary_edges
    );
}

#[test]
fn degenerate_triangles_give_numbers() {
    let mut surface = ball(1, 0.03);
    surface.triangles.push([0, 0, 0]);
    surface.triangles.push([0, 1, 1]);
    let (fine, skin) = refined(&surface, 2, BULGE);
    assert!(fine.positions.iter().all(|p| p.is_finite()));
    assert!(skin.normals().iter().all(|n| n.is_finite()));
    surface.positions.fill(DVec3::X);
    let (fine, _) = refined(&surface, 2, BULGE);
    assert!(fine.positions.iter().all(|p| *p == DVec3::X));
    let none = refined(&Surface::default(), 3, BULGE).0;
    assert_eq!(none, Surface::default());
}

#[test]
fn what_is_too_fine_or_names_nothing_is_refused() {
    let surface = ball(1, 0.03);
    let error = Refinement::new(&surface.triangles, 4, 1).unwrap_err();
    assert!(matches!(
        error,
        SurfaceError::MissingVertex { count: 4, .. }
    ));
    for times in [14, 64, u32::MAX] {
        let error = Refinement::new(&surface.triangles, surface.positions.len(), times);
        assert!(matches!(error, Err(SurfaceError::TooManyTriangles { .. })));
    }
}

#[test]
fn where_stages_are_cut_changes_no_bit_and_no_memory_is_taken() {
    let surface = ball(3, 0.03);
    let fine = Refinement::new(&surface.triangles, surface.positions.len(), 2).unwrap();
    let (mut whole, mut cut) = (fine.skin(), fine.skin());
    let before = cut.positions().as_ptr();
    fine.apply(&surface.positions, &mut whole);
    fine.apply_by(&surface.positions, &mut cut, &|items, work| {
        for (k, some) in items.chunks_mut(37).enumerate().collect::<Vec<_>>() {
            work(37 * k, some);
        }
    });
    assert_eq!(whole.positions(), cut.positions());
    assert_eq!(whole.normals(), cut.normals());
    assert_eq!(cut.positions().as_ptr(), before);
}

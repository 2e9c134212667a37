use super::*;
use proptest::prelude::*;
use std::io::Write;
use trocar_math::{real, rotation};

type Mesh = (Vec<DVec3>, Vec<[u32; 3]>);

/// A ball of radius 1, from an octahedron whose triangles are halved so many times.
fn ball(halvings: u32) -> Mesh {
    let mut points = vec![
        DVec3::X,
        -DVec3::X,
        DVec3::Y,
        -DVec3::Y,
        DVec3::Z,
        -DVec3::Z,
    ];
    let mut triangles = vec![
        [0, 2, 4],
        [2, 1, 4],
        [1, 3, 4],
        [3, 0, 4],
        [2, 0, 5],
        [1, 2, 5],
        [3, 1, 5],
        [0, 3, 5],
    ];
    for _ in 0..halvings {
        let mut finer = Vec::new();
        let mut known = std::collections::BTreeMap::new();
        for [a, b, c] in triangles {
            let mut middle = |a: u32, b: u32| {
                *known.entry((a.min(b), a.max(b))).or_insert_with(|| {
                    points.push((points[a as usize] + points[b as usize]).normalize());
                    points.len() as u32 - 1
                })
            };
            let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
            finer.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
        }
        triangles = finer;
    }
    (points, triangles)
}

/// Adds a box.
fn cuboid((points, triangles): &mut Mesh, low: DVec3, high: DVec3) {
    let first = points.len() as u32;
    for k in 0..8 {
        let pick = |bit: u32, axis: usize| {
            if k >> bit & 1 == 0 {
                low[axis]
            } else {
                high[axis]
            }
        };
        points.push(DVec3::new(pick(0, 0), pick(1, 1), pick(2, 2)));
    }
    for [a, b, c, d] in [
        [0, 4, 6, 2],
        [1, 3, 7, 5],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 2, 3, 1],
        [4, 5, 7, 6],
    ] {
        triangles.extend([[a, b, c], [a, c, d]].map(|t| t.map(|n: u32| n + first)));
    }
}

fn boxes(of: &[(DVec3, DVec3)]) -> Mesh {
    let mut mesh = (Vec::new(), Vec::new());
    for (low, high) in of {
        cuboid(&mut mesh, *low, *high);
    }
    mesh
}

fn winding((points, triangles): &Mesh, p: DVec3) -> f64 {
    let angles = triangles
        .iter()
        .map(|t| solid_angle(p, t.map(|n| points[n as usize])));
    angles.sum::<f64>() / (4.0 * std::f64::consts::PI)
}

fn corners((points, triangles): &Mesh) -> Vec<[DVec3; 3]> {
    let of = |t: &[u32; 3]| t.map(|n| points[n as usize]);
    triangles.iter().map(of).collect()
}

fn grid_of(mesh: &Mesh, cell: f64) -> Grid {
    Grid::new(&mesh.0, &mesh.1, cell).unwrap()
}

/// Some points in and about the unit box, always the same.
fn scatter(count: u32) -> impl Iterator<Item = DVec3> {
    (0..count).map(|k| {
        let any = |s: f64| 1.2 * real::sin(f64::from(k) * s + s * s);
        DVec3::new(any(12.9898), any(78.233), any(37.719))
    })
}

#[test]
fn the_tree_finds_the_nearest_point_and_winds_as_the_sum_does() {
    let mesh = ball(3);
    let all = corners(&mesh);
    let tree = Tree::new(&all);
    for p in scatter(500) {
        let nearest = tree.nearest(p).unwrap();
        let best = all
            .iter()
            .map(|t| {
                crate::closest::point(*t, crate::closest::on_triangle(p, *t)).distance_squared(p)
            })
            .fold(f64::INFINITY, f64::min);
        assert_eq!(nearest.distance_squared, best);
        assert!((tree.winding(p) - winding(&mesh, p)).abs() < 1e-2, "{p}");
    }
}

/// Far from a part of a surface its dipole stands for it: also where what is left of it beside other parts is what counts.
#[test]
fn dipoles_wind_as_the_sum_does_about_concave_thin_and_touching_bodies() {
    let v = DVec3::new;
    let bodies = [
        (
            "concave",
            boxes(&[
                (v(-1.0, -1.0, -1.0), v(1.0, -0.5, 1.0)),
                (v(-1.0, -0.5, -1.0), v(-0.5, 1.0, 1.0)),
            ]),
        ),
        ("thin", boxes(&[(v(-1.0, -0.01, -1.0), v(1.0, 0.01, 1.0))])),
        (
            "touching",
            boxes(&[
                (v(-1.0, -1.0, -1.0), v(0.0, 1.0, 1.0)),
                (v(0.0, -1.0, -1.0), v(1.0, 1.0, 1.0)),
            ]),
        ),
    ];
    for (name, mesh) in bodies {
        // So fine that most of it is far from most points.
        let fine = (0..4).fold(mesh, halved);
        let tree = Tree::new(&corners(&fine));
        let mut worst = 0.0_f64;
        for p in scatter(300).chain(scatter(300).map(|p| p * v(1.0, 0.02, 1.0))) {
            worst = worst.max((tree.winding(p) - winding(&fine, p)).abs());
        }
        assert!(worst < 2e-2, "{name}: {worst}");
    }
}

/// Each triangle in four.
fn halved((mut points, triangles): Mesh, _: u32) -> Mesh {
    let mut finer = Vec::new();
    for [a, b, c] in triangles {
        let mut middle = |a: u32, b: u32| {
            points.push(0.5 * (points[a as usize] + points[b as usize]));
            points.len() as u32 - 1
        };
        let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
        finer.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
    }
    (points, finer)
}

#[test]
fn in_a_ball_depth_normal_and_surface_are_those_of_a_ball() {
    let mesh = ball(5);
    let mut before = f64::INFINITY;
    for cell in [0.2, 0.1, 0.05] {
        let grid = grid_of(&mesh, cell);
        let mut worst = 0.0_f64;
        for p in scatter(4000).filter(|p| p.length() < 1.0 + cell) {
            let at = grid.at(p).unwrap();
            let error = (at.depth - (1.0 - p.length())).abs();
            // Deeper, blocks have their corners only, and about the centre nearest points are on all sides.
            assert!(error < 2.0 * cell, "{cell} {p} {at:?}");
            assert!(
                (at.surface.length() - 1.0).abs() < cell,
                "{cell} {p} {at:?}"
            );
            if p.length() > 0.6_f64.max(1.0 - 3.0 * cell) {
                worst = worst.max(error);
                assert!(at.normal.dot(p.normalize()) > 0.98, "{cell} {p} {at:?}");
                let surface = at.surface.distance(p.normalize());
                assert!(surface < 0.5 * cell, "{cell} {p} {at:?}");
            }
        }
        assert!(worst < 0.6 * before, "{cell}: {worst} after {before}");
        before = worst;
        assert!(grid.error() < 0.1 * cell, "{}", grid.error());
    }
}

#[test]
fn what_is_inside_is_what_the_surface_winds_about() {
    let v = DVec3::new;
    let shapes = [
        // Concave: an L.
        boxes(&[
            (v(-1.0, -1.0, -1.0), v(1.0, -0.5, 1.0)),
            (v(-1.0, -0.5, -1.0), v(-0.5, 1.0, 1.0)),
        ]),
        // Two that touch along a side, and two that overlap.
        boxes(&[
            (v(-1.0, -1.0, -1.0), v(0.0, 1.0, 1.0)),
            (v(0.0, -1.0, -1.0), v(1.0, 1.0, 1.0)),
        ]),
        boxes(&[
            (v(-1.0, -1.0, -1.0), v(0.3, 0.3, 0.3)),
            (v(-0.2, -0.2, -0.2), v(1.0, 1.0, 1.0)),
        ]),
        // Thin, but thicker than a cell.
        boxes(&[(v(-1.0, -0.07, -1.0), v(1.0, 0.07, 1.0))]),
        ball(2),
    ];
    for (k, mesh) in shapes.iter().enumerate() {
        let grid = grid_of(mesh, 0.1);
        let tree = Tree::new(&corners(mesh));
        let mut inside = 0;
        for p in scatter(3000) {
            let winds = winding(mesh, p) > 0.5;
            let found = grid.at(p).is_some_and(|at| at.depth >= 0.0);
            // Nearer than a third of a cell, interpolation may round a corner.
            let clear = tree.nearest(p).unwrap().distance_squared > 0.033 * 0.033;
            assert!(winds == found || !clear, "shape {k}: {p} {winds}");
            inside += usize::from(winds);
        }
        assert!(inside > 30, "shape {k}: {inside}");
    }
}

#[test]
fn thinner_than_a_cell_nothing_is_overlooked_within_the_error() {
    let v = DVec3::new;
    let forms = [
        v(1.0, 0.004, 1.0),
        v(0.5, 0.02, 0.7),
        v(0.9, 0.005, 0.005),
        v(0.6, 0.03, 0.01),
    ];
    for (k, half) in forms.into_iter().cycle().take(24).enumerate() {
        let turn = match k {
            0..4 => glam::DQuat::IDENTITY,
            _ => rotation::from_scaled_axis(v(0.7, 0.3 * k as f64, 1.1 - 0.2 * k as f64)),
        };
        let (mut points, triangles) = boxes(&[(-half, half)]);
        points.iter_mut().for_each(|p| *p = turn * *p);
        let grid = grid_of(&(points.clone(), triangles.clone()), 0.1);
        assert!(grid.error() < 0.09, "{}", grid.error());
        // Inside, and on the surface.
        let inside = scatter(500).map(|p| turn * (p / 1.2 * half));
        let weights = |p: DVec3| [p.x.abs(), p.y.abs(), p.z.abs() + 0.01];
        let on = scatter(600).enumerate().map(|(i, p)| {
            let corners = triangles[i % triangles.len()].map(|n| points[n as usize]);
            let [a, b, c] = weights(p);
            (corners[0] * a + corners[1] * b + corners[2] * c) / (a + b + c)
        });
        let all: Vec<DVec3> = inside.chain(on).collect();
        let mut out = Vec::new();
        grid.detect(&Pose::IDENTITY, &all, grid.error() * (1.0 + 1e-6), &mut out)
            .unwrap();
        assert_eq!(out.len(), all.len(), "form {k}");
    }
}

/// At the points that the grid keeps nothing is interpolated: depth, sign and way are those of comparing with all triangles, and of the whole sum of angles.
#[test]
fn kept_points_have_the_depth_and_the_sign_of_all_triangles() {
    let concave = boxes(&[
        (DVec3::new(-1.0, -0.5, -0.7), DVec3::new(-0.4, 0.5, 0.7)),
        (DVec3::new(0.4, -0.5, -0.7), DVec3::new(1.0, 0.5, 0.7)),
    ]);
    let thin = boxes(&[(DVec3::new(-1.0, -0.02, -0.7), DVec3::new(1.0, 0.02, 0.7))]);
    let touching = boxes(&[
        (DVec3::new(-1.0, -0.5, -0.7), DVec3::new(0.0, 0.5, 0.7)),
        (DVec3::new(0.0, -0.5, -0.7), DVec3::new(1.0, 0.5, 0.7)),
    ]);
    for mesh in [concave, thin, touching, ball(2)] {
        let grid = grid_of(&mesh, 0.11);
        let all = corners(&mesh);
        let bounds = grid.bounds();
        let counts = (bounds.size() / grid.cell()).round();
        let (mut inside, mut checked) = (0, 0);
        let whole = |n: f64| (0..=n as u32).map(f64::from);
        for x in whole(counts.x) {
            for y in whole(counts.y) {
                for z in whole(counts.z) {
                    let p = bounds.low + DVec3::new(x, y, z) * grid.cell();
                    let Some(found) = grid.at(p) else {
                        continue;
                    };
                    let distance = all
                        .iter()
                        .map(|t| {
                            let nearest = crate::closest::on_triangle(p, *t);
                            crate::closest::point(*t, nearest).distance(p)
                        })
                        .fold(f64::INFINITY, f64::min);
                    // Deep inside only the corners of blocks are kept.
                    if distance > 2.0 * grid.cell() {
                        continue;
                    }
                    checked += 1;
                    let error = (found.depth.abs() - distance).abs();
                    assert!(error < 1e-5, "{p}: {} {distance}", found.depth);
                    let winds = winding(&mesh, p) >= 0.5;
                    inside += usize::from(winds);
                    assert!(
                        (found.depth > 0.0) == winds || distance < 1e-5,
                        "{p}: {} {}",
                        found.depth,
                        winding(&mesh, p)
                    );
                    assert!((found.surface.distance(p) - distance).abs() < 1e-5, "{p}");
                }
            }
        }
        assert!(checked > 1000, "{inside} of {checked}");
    }
}

#[test]
fn three_stages_find_what_is_inside_at_any_pose() {
    let mesh = boxes(&[(DVec3::new(-1.0, -0.5, -0.7), DVec3::new(1.0, 0.5, 0.7))]);
    let grid = grid_of(&mesh, 0.1);
    let pose = Pose::new(
        DVec3::new(3.0, -2.0, 1.0),
        rotation::from_scaled_axis(DVec3::new(0.4, -1.0, 2.0)),
    );
    let mut out = vec![];
    let points: Vec<DVec3> = scatter(1000).map(|p| pose.point(p)).collect();
    grid.detect(&pose, &points, 0.0, &mut out).unwrap();
    for (k, p) in scatter(1000).enumerate() {
        let least = (DVec3::new(1.0, 0.5, 0.7) - p.abs()).min_element();
        let found = out.iter().find(|s| s.point as usize == k);
        assert!(
            found.is_some() == (least > 0.0) || least.abs() < 0.02,
            "{p}"
        );
        if let Some(sunk) = found {
            assert!((sunk.at.depth - least).abs() < 0.1, "{p}: {sunk:?} {least}");
        }
    }
    // On the surface counts (F20), in the box but outside does not (F19), far away nothing is asked.
    let on = pose.point(DVec3::new(0.2, 0.5, 0.1));
    grid.detect(&pose, &[on], 1e-6, &mut out).unwrap();
    assert_eq!(out.len(), 1);
    grid.detect(&pose, &[DVec3::ZERO], 0.0, &mut out).unwrap();
    assert!(out.is_empty());
}

#[test]
fn a_face_or_an_edge_is_found_with_all_corners_outside() {
    let grid = grid_of(&ball(4), 0.05);
    let pose = Pose::new(
        DVec3::new(0.3, -2.0, 1.0),
        rotation::from_scaled_axis(DVec3::new(0.4, -1.0, 2.0)),
    );
    // A face 0.6 above the middle of the ball, far larger than it; an edge at that height; and both 1.2 above, where nothing is.
    let face = |z: f64| [[-4.0, -4.0], [5.0, -3.0], [0.0, 6.0]].map(|[x, y]| DVec3::new(x, y, z));
    let edge = |z: f64| {
        let top = DVec3::new(0.1, 0.0, z + 3.0);
        [DVec3::new(-3.0, 0.0, z), DVec3::new(4.0, 0.0, z), top]
    };
    for triangle in [face(0.6), edge(0.6)] {
        let placed = triangle.map(|p| pose.point(p));
        let found = grid.deepest(&pose, &placed, 0.0, 0.01).unwrap().unwrap();
        // The precision, and what a ball of flat faces lacks.
        assert!((found.at.depth - 0.4).abs() < 0.03, "{found:?}");
        let up = pose.rotation * DVec3::Z;
        assert!(found.at.normal.dot(up) > 0.9, "{found:?}");
        let [a, b, c] = found.weights;
        let point = placed[0] * a + placed[1] * b + placed[2] * c;
        assert!(
            (pose.local(point) - DVec3::Z * 0.6).length() < 0.15,
            "{found:?}"
        );
    }
    for triangle in [face(1.2), edge(1.2)] {
        let placed = triangle.map(|p| pose.point(p));
        assert_eq!(grid.deepest(&pose, &placed, 0.0, 0.01), Ok(None));
    }
    // What is no number is refused, and so is a skin beyond the rim.
    let nowhere = [DVec3::ZERO, DVec3::X, DVec3::new(0.0, f64::NAN, 0.0)];
    assert_eq!(
        grid.deepest(&pose, &nowhere, 0.0, 0.01),
        Err(DetectError::Point { point: 2 })
    );
    let far = [DVec3::ZERO, DVec3::splat(1e200), DVec3::X];
    assert_eq!(
        grid.deepest(&pose, &far, 0.0, 0.01),
        Err(DetectError::Point { point: 1 })
    );
    let cell = grid.cell();
    for skin in [1.0, f64::INFINITY] {
        assert_eq!(
            grid.deepest(&pose, &face(0.6), skin, 0.01),
            Err(DetectError::Skin { skin, cell })
        );
    }
    assert!(grid.deepest(&pose, &face(0.6), f64::NAN, 0.01).is_err());
    assert_eq!(
        grid.deepest(&pose, &face(0.6), 0.0, f64::NAN),
        Err(DetectError::Precision)
    );
    let lost = Pose::new(DVec3::NAN, pose.rotation);
    assert_eq!(
        grid.deepest(&lost, &face(0.6), 0.0, 0.01),
        Err(DetectError::Pose)
    );
    // So large that the ball is smaller than its places can be told: it is never told to be outside.
    for size in [1e6, 1e10, 1e14, 1e18, 1e25, 1e60] {
        let large = face(0.6).map(|p| pose.point(DVec3::new(p.x * size, p.y * size, p.z)));
        let found = grid.deepest(&pose, &large, 0.0, 0.01).unwrap().unwrap();
        assert!(found.at.depth > 0.3, "{size}: {found:?}");
        assert!(size > 1e9 || found.at.depth < 0.45, "{size}: {found:?}");
    }
}

#[test]
fn no_point_of_a_triangle_is_deeper_than_the_deepest_by_more_than_the_precision() {
    // Concave, so that there are several bumps to lie on.
    let mesh = boxes(&[
        (DVec3::new(-1.0, -0.5, -0.7), DVec3::new(-0.4, 0.5, 0.7)),
        (DVec3::new(0.4, -0.5, -0.7), DVec3::new(1.0, 0.5, 0.7)),
    ]);
    let grid = grid_of(&mesh, 0.1);
    let precision = 0.02;
    let mut places = scatter(600).map(|p| p * 1.6);
    let mut dents = 0;
    while let (Some(a), Some(b), Some(c)) = (places.next(), places.next(), places.next()) {
        let found = grid
            .deepest(&Pose::IDENTITY, &[a, b, c], 0.0, precision)
            .unwrap();
        dents += usize::from(found.is_some());
        let depth = found.map_or(0.0, |dent| dent.at.depth);
        for i in 0..=40 {
            for j in 0..=40 - i {
                let [x, y] = [i, j].map(|n| f64::from(n) / 40.0);
                let p = a * x + b * y + c * (1.0 - x - y);
                let there = grid.at(p).map_or(-1.0, |at| at.depth);
                // Deep inside blocks do not quite agree where they meet.
                assert!(
                    there <= depth + precision + 0.02,
                    "{a} {b} {c}: {there} {depth}"
                );
            }
        }
    }
    assert!(dents > 20, "{dents}");
}

#[test]
fn a_point_that_is_no_number_is_named_and_hides_no_other() {
    let grid = grid_of(&ball(3), 0.1);
    let (deep, far) = (DVec3::splat(0.1), DVec3::splat(50.0));
    let mut out = vec![];
    for points in [[deep, DVec3::NAN, far], [far, DVec3::NAN, deep]] {
        let result = grid.detect(&Pose::IDENTITY, &points, 0.0, &mut out);
        assert_eq!(result, Err(DetectError::Point { point: 1 }));
        let found: Vec<DVec3> = out.iter().map(|s| points[s.point as usize]).collect();
        assert_eq!(found, [deep]);
    }
}

#[test]
fn a_skin_is_whole_or_refused() {
    let grid = grid_of(&ball(3), 0.1);
    // Points on all sides, just within a skin of a cell, and in front of the poles of the ball, where the grid's rim is.
    let poles = DVec3::AXES.into_iter().flat_map(|p| [p, -p]);
    let points: Vec<DVec3> = scatter(500)
        .map(|p| p.normalize())
        .chain(poles)
        .map(|p| p * 1.07)
        .collect();
    let mut out = vec![];
    grid.detect(&Pose::IDENTITY, &points, 0.1, &mut out)
        .unwrap();
    assert_eq!(out.len(), points.len());
    for skin in [0.3, f64::INFINITY, f64::NAN] {
        let result = grid.detect(&Pose::IDENTITY, &points, skin, &mut out);
        assert!(matches!(result, Err(DetectError::Skin { .. })), "{skin}");
        assert!(out.is_empty());
    }
}

#[test]
fn a_body_that_is_inside_out_is_refused_however_thin_it_is() {
    let v = DVec3::new;
    for half in [0.004, 0.07, 0.6] {
        let (points, mut triangles) = boxes(&[(v(-1.0, -half, -1.0), v(1.0, half, 1.0))]);
        assert!(Grid::new(&points, &triangles, 0.1).is_ok());
        triangles.iter_mut().for_each(|t| t.swap(0, 1));
        let refused = Grid::new(&points, &triangles, 0.1);
        let named = matches!(
            refused,
            Err(GridError::InsideOut { .. } | GridError::Inverted { .. })
        );
        assert!(named, "{half}");
    }
}

#[test]
fn small_holes_are_closed_and_large_ones_named() {
    let (points, mut triangles) = ball(4);
    triangles.remove(100);
    let grid = Grid::new(&points, &triangles, 0.1).unwrap();
    assert!(grid.at(DVec3::ZERO).unwrap().depth > 0.8);
    let mut open = triangles.clone();
    open.retain(|t| points[t[0] as usize].y < 0.3);
    match Grid::new(&points, &open, 0.1) {
        Err(GridError::Open {
            at,
            rim: Some((a, b)),
            ..
        }) => {
            assert!(at.is_finite());
            for n in [a, b] {
                assert!(
                    (points[n as usize].y - 0.3).abs() < 0.25,
                    "{}",
                    points[n as usize]
                );
            }
        }
        other => panic!("{:?}", other.map(|g| g.len())),
    }
}

#[test]
fn what_can_not_be_a_body_is_refused_with_the_place() {
    let (points, triangles) = ball(2);
    assert!(matches!(
        Grid::new(&points, &[], 0.1),
        Err(GridError::Empty)
    ));
    let mut bad = points.clone();
    bad[7].y = f64::NAN;
    assert!(matches!(
        Grid::new(&bad, &triangles, 0.1),
        Err(GridError::Vertex { vertex: 7, .. })
    ));
    let missing = [[0, 1, 9999]];
    let error = Grid::new(&points, &missing, 0.1).unwrap_err().to_string();
    assert!(
        error.contains("triangle 0") && error.contains("9999"),
        "{error}"
    );
    for cell in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-9] {
        assert!(
            matches!(
                Grid::new(&points, &triangles, cell),
                Err(GridError::Cell { .. })
            ),
            "{cell}"
        );
    }
    let turned: Vec<[u32; 3]> = triangles.iter().map(|[a, b, c]| [*a, *c, *b]).collect();
    assert!(matches!(
        Grid::new(&points, &turned, 0.1),
        Err(GridError::InsideOut { .. })
    ));
    // Triangles without area change nothing.
    let mut more = triangles.clone();
    more.extend([[0, 0, 0], [3, 3, 8]]);
    let [one, other] = [&more, &triangles].map(|t| Grid::new(&points, t, 0.1).unwrap());
    assert!(one == other);
    assert!(matches!(
        Grid::new(&points, &[[3, 3, 8]], 0.1),
        Err(GridError::Empty)
    ));
}

/// In front of a large triangle that counted twice the surface would wind backwards about what is outside.
#[test]
fn a_triangle_that_is_listed_again_counts_once() {
    let v = DVec3::new;
    let (points, triangles) = boxes(&[(v(-1.0, -1.0, -1.0), v(1.0, 1.0, 1.0))]);
    let whole = Grid::new(&points, &triangles, 2.0 / 11.0).unwrap();
    // One face once more, one three times more, all of it; named from another corner, too.
    let turned = |t: &[u32; 3]| [t[1], t[2], t[0]];
    for (faces, times) in [(2, 1), (2, 3), (12, 1), (12, 2)] {
        let mut more = triangles.clone();
        for _ in 0..times {
            more.extend(triangles[..faces].iter().map(turned));
        }
        let grid = Grid::new(&points, &more, 2.0 / 11.0).unwrap();
        // Whether a whole box is there once or twice, it is the same body.
        assert!(alike(&grid, &whole), "{faces} faces {times} times");
    }
    // With corners of its own, too.
    let mut own = (points.clone(), triangles.clone());
    own.0.extend([0, 4, 6, 2].map(|n| points[n]));
    own.1.extend([[8, 9, 10], [8, 10, 11]]);
    assert!(Grid::new(&own.0, &own.1, 2.0 / 11.0).unwrap() == whole);
    // Two bodies that have faces in common, the one within the other: closed, so that nothing is left out.
    let within = boxes(&[
        (v(-1.0, -1.0, -1.0), v(1.0, 1.0, 1.0)),
        (v(-1.0, -1.0, -1.0), v(1.0, 1.0, 1.0)),
    ]);
    let grid = Grid::new(&within.0, &within.1, 2.0 / 11.0).unwrap();
    assert!(alike(&grid, &whole));
    // So it is where something else is listed by mistake: the upper face belongs to both, the lower one of the larger body is there once more.
    let (points, mut triangles) = boxes(&[
        (v(-1.0, -1.0, -1.0), v(1.0, 1.0, 1.0)),
        (v(-1.0, -1.0, 0.0), v(1.0, 1.0, 1.0)),
    ]);
    let below = |t: &&[u32; 3]| t.iter().all(|n| points[*n as usize].z == -1.0);
    let more: Vec<[u32; 3]> = triangles.iter().filter(below).copied().collect();
    assert_eq!(more.len(), 2);
    triangles.extend(more);
    let grid = Grid::new(&points, &triangles, 2.0 / 11.0).unwrap();
    let without = Grid::new(&points, &triangles[..24], 2.0 / 11.0).unwrap();
    assert!(alike(&grid, &without));
}

/// True if places are as deep in the one as in the other.
fn alike(one: &Grid, other: &Grid) -> bool {
    scatter(500).all(|p| {
        let [a, b] = [one, other].map(|grid| grid.at(p).map_or(-1.0, |at| at.depth));
        (a - b).abs() < 1e-6
    })
}

/// At an edge with four triangles, two bodies that touch there, what is inside is still what the surface winds about.
#[test]
fn edges_with_more_than_two_triangles_divide_inside_from_outside() {
    // Boxes that share an edge, its two nodes included.
    let v = DVec3::new;
    let (points, mut triangles) = boxes(&[
        (v(-1.0, -1.0, -1.0), v(0.0, 0.0, 1.0)),
        (v(0.0, 0.0, -1.0), v(1.0, 1.0, 1.0)),
    ]);
    let same = |n: u32| points.iter().position(|p| *p == points[n as usize]);
    triangles
        .iter_mut()
        .for_each(|t| *t = t.map(|n| same(n).unwrap() as u32));
    let mesh = (points, triangles);
    let grid = grid_of(&mesh, 0.1);
    let mut inside = 0;
    for p in scatter(3000) {
        let winds = p.abs().max_element() < 1.0 && p.x * p.y > 0.0;
        let near = [p.x.abs(), p.y.abs(), (p.abs().max_element() - 1.0).abs()];
        let found = grid.at(p).is_some_and(|at| at.depth >= 0.0);
        assert!(winds == found || near.into_iter().any(|d| d < 0.05), "{p}");
        inside += usize::from(winds);
    }
    assert!(inside > 300, "{inside}");
    // A wall within that belongs to no body, seen from one side only, is no hole: both its sides are named.
    let (points, triangles) = &mesh;
    let mut with_wall = points.clone();
    with_wall.extend([v(-0.5, -1.0, -1.0), v(-0.5, 0.0, -1.0), v(-0.5, 0.0, 1.0)]);
    let n = points.len() as u32;
    let mut more = triangles.clone();
    more.extend([[n, n + 1, n + 2], [n, n + 2, n + 1]]);
    let grid = Grid::new(&with_wall, &more, 0.1).unwrap();
    assert!(grid.at(v(-0.4, -0.5, 0.0)).unwrap().depth > 0.0);
    // With one side it is a surface that is open.
    more.pop();
    let refused = Grid::new(&with_wall, &more, 0.05);
    assert!(matches!(refused, Err(GridError::Open { .. })));
}

#[test]
fn a_file_gives_the_same_grid_again() {
    let grid = grid_of(&ball(3), 0.07);
    assert!(Grid::from_bytes(&grid.to_bytes()).unwrap() == grid);
}

fn file() -> &'static [u8] {
    static FILE: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
    FILE.get_or_init(|| grid_of(&ball(2), 0.25).to_bytes())
}

/// With a right sum, so that what lies behind it is looked at.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    if let Some(end) = bytes.len().checked_sub(4) {
        let sum = crc32fast::hash(&bytes[..end]).to_le_bytes();
        bytes[end..].copy_from_slice(&sum);
    }
    bytes
}

proptest! {
    #[test]
    fn garbage_is_refused_or_harmless(
        hits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6), head in any::<bool>(), cut in any::<prop::sample::Index>(), keep in any::<bool>(),
    ) {
        let mut bytes = file().to_vec();
        for (place, value) in &hits {
            let within = if head { 80 } else { bytes.len() };
            bytes[place.index(within)] = *value;
        }
        if !keep {
            bytes.truncate(cut.index(bytes.len()));
        }
        for bytes in [sealed(bytes.clone()), bytes] {
            match Grid::from_bytes(&bytes) {
                Ok(grid) => for p in scatter(50) {
                    if let Some(at) = grid.at(p) {
                        prop_assert!(at.depth.is_finite() && at.surface.is_finite());
                    }
                },
                Err(error) => prop_assert!(error.at <= bytes.len() && error.to_string().contains("byte")),
            }
        }
    }

    #[test]
    fn any_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(Grid::from_bytes(&bytes).is_err());
    }
}

/// Bodies that nobody here made.
#[test]
fn real_organs_have_grids() {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../../shared/data/meshes"
    );
    let folders = [
        folder,
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/meshes"),
    ];
    let Some(folder) = folders.iter().find(|f| std::path::Path::new(f).is_dir()) else {
        // Past the test's own output, which nobody sees of a test that passes.
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED: there is no folder of real meshes"
        );
        return;
    };
    for name in [
        "openhelp-kidney_left.stl",
        "lapgym-gallbladder_collision.stl",
        "sofa-torus1.obj",
    ] {
        let surface = trocar_mesh::read(format!("{folder}/{name}")).unwrap();
        let bounds = Bounds::of(surface.positions.iter().copied());
        let cell = bounds.size().max_element() / 24.0;
        let grid = match Grid::new(&surface.positions, &surface.triangles, cell) {
            Ok(grid) => grid,
            Err(GridError::InsideOut { .. }) => {
                let turned: Vec<_> = surface
                    .triangles
                    .iter()
                    .map(|[a, b, c]| [*a, *c, *b])
                    .collect();
                Grid::new(&surface.positions, &turned, cell).unwrap()
            }
            Err(error) => panic!("{name}: {error}"),
        };
        let tree = Tree::new(&corners(&(
            surface.positions.clone(),
            surface.triangles.clone(),
        )));
        let (mut inside, mut worst) = (0, 0.0_f64);
        for p in scatter(2000).map(|p| bounds.centre() + p * bounds.size() * 0.45) {
            let distance = tree.nearest(p).unwrap().distance_squared.sqrt();
            let winds = tree.winding(p).abs() > 0.5;
            let at = grid.at(p);
            inside += usize::from(winds);
            if distance > 0.7 * cell {
                assert_eq!(winds, at.is_some_and(|at| at.depth >= 0.0), "{name}: {p}");
            }
            if winds && let Some(at) = at {
                worst = worst.max((at.depth - distance).abs());
            }
        }
        assert!(inside > 50, "{name}: {inside}");
        assert!(worst < cell, "{name}: {worst} in cells of {cell}");
    }
}

#[test]
fn another_version_is_told_from_another_file() {
    let grid = grid_of(&ball(1), 0.5);
    let mut bytes = grid.to_bytes();
    bytes[7] = b'9';
    let error = Grid::from_bytes(&bytes).unwrap_err();
    assert_eq!(error.at, 7);
    assert!(error.to_string().contains("another version"), "{error}");
    bytes[0] = b'X';
    let error = Grid::from_bytes(&bytes).unwrap_err();
    assert_eq!(error.at, 0);
    assert!(error.to_string().contains("mark"), "{error}");
}

#[test]
fn the_points_that_are_shown_are_just_inside_and_lead_to_the_surface() {
    let grid = grid_of(&ball(3), 0.2);
    let mut seen = Vec::new();
    grid.see_points(usize::MAX, |point, surface| seen.push((point, surface)));
    // About as many as the surface has cells.
    assert!((200..800).contains(&seen.len()), "{}", seen.len());
    for (point, surface) in &seen {
        let depth = grid.at(*point).unwrap().depth;
        assert!((-1e-6..=0.2 + 1e-6).contains(&depth), "{point} {depth}");
        assert!((point.distance(*surface) - depth).abs() < 1e-6, "{point}");
        assert!((surface.length() - 1.0).abs() < 0.05, "{surface}");
    }
    let mut places: Vec<[u64; 3]> = seen
        .iter()
        .map(|s| s.0.to_array().map(f64::to_bits))
        .collect();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), seen.len(), "each once");
    let mut few = 0;
    grid.see_points(50, |_, _| few += 1);
    assert!((25..=50).contains(&few), "{few}");
}

//! Contacts between rigid bodies are complete, exact where a closed form exists, and depend on nothing but the poses.

use glam::{DQuat, DVec3};
use proptest::prelude::*;
use trocar_collide::rigid::{
    Broad, Contacts, Deepest, Detector, Form, Manifold, Pair, Point, Regions, Scratch, Shape,
    ShapeError, World,
};
use trocar_math::{Pose, rotation};

const MARGIN: f64 = 1e-3;

fn shape(form: Form) -> Shape {
    Shape::new(&form).expect("a sound form")
}

fn cube(half: f64) -> Shape {
    shape(Form::Box {
        half: DVec3::splat(half),
    })
}

/// The same cube as a hull of its corners.
fn hull_cube(half: f64) -> Shape {
    let points = (0..8)
        .map(|i| {
            let sign = |bit: usize| if i >> bit & 1 == 1 { half } else { -half };
            DVec3::new(sign(0), sign(1), sign(2))
        })
        .collect();
    shape(Form::Hull { points })
}

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::new(DVec3::new(x, y, z), DQuat::IDENTITY)
}

fn turned(x: f64, y: f64, z: f64, axis: DVec3, degrees: f64) -> Pose {
    Pose::new(
        DVec3::new(x, y, z),
        rotation::from_axis_angle(axis.normalize(), degrees.to_radians()),
    )
}

fn contacts(a: (&Shape, Pose), b: (&Shape, Pose), margin: f64) -> Contacts {
    let mut found = Contacts::default();
    let world = World {
        shapes: &[a.0.clone(), b.0.clone()],
        poses: &[a.1, b.1],
        margins: &[0.5 * margin, 0.5 * margin],
    };
    Regions.narrow(
        &world,
        &[Pair { a: 0, b: 1 }],
        &mut Scratch::default(),
        &mut found,
    );
    check(&found, &world);
    found
}

/// What every contact promises: a unit normal, points that lie where they say, gaps that agree with them.
fn check(found: &Contacts, world: &World<'_>) {
    for (manifold, points) in found.iter() {
        assert!((manifold.normal.length() - 1.0).abs() < 1e-9);
        assert!(!points.is_empty());
        assert!(points.windows(2).all(|p| p[0].id < p[1].id), "{points:?}");
        let (pose_a, pose_b) = (
            &world.poses[manifold.pair.a as usize],
            &world.poses[manifold.pair.b as usize],
        );
        for point in points {
            let along = (pose_b.point(point.b) - pose_a.point(point.a)).dot(manifold.normal);
            assert!((along - point.gap).abs() < 1e-9, "{along} {point:?}");
            assert!(point.gap <= world.margin(manifold.pair) + 1e-12);
        }
    }
}

fn one(found: &Contacts) -> (Manifold, Point) {
    assert_eq!(
        (found.manifolds.len(), found.points.len()),
        (1, 1),
        "{found:?}"
    );
    (found.manifolds[0], found.points[0])
}

#[test]
fn a_cube_on_a_cube_touches_in_4_8_and_8_points() {
    let kinds = [cube(0.5), hull_cube(0.5)];
    for lower in &kinds {
        for upper in &kinds {
            for height in [0.9995, 1.0, 1.0005] {
                for (degrees, count) in [(0.0, 4), (10.0, 8), (45.0, 8)] {
                    let pose = turned(0.0, height, 0.0, DVec3::Y, degrees);
                    let found = contacts((lower, Pose::IDENTITY), (upper, pose), MARGIN);
                    assert_eq!(found.manifolds.len(), 1);
                    assert_eq!(found.points.len(), count, "{degrees}° at {height}");
                    assert!((found.manifolds[0].normal - DVec3::Y).length() < 1e-12);
                    for point in &found.points {
                        assert!((point.gap - (height - 1.0)).abs() < 1e-12);
                    }
                }
            }
        }
    }
}

#[test]
fn the_region_of_turned_cubes_is_the_octagon() {
    // Two squares of side 1, turned by 45°: a regular octagon with inradius 1/2.
    let found = contacts(
        (&cube(0.5), Pose::IDENTITY),
        (&cube(0.5), turned(0.0, 1.0, 0.0, DVec3::Y, 45.0)),
        MARGIN,
    );
    let radius = 0.5 / trocar_math::real::cos(std::f64::consts::PI / 8.0);
    for point in &found.points {
        let flat = DVec3::new(point.a.x, 0.0, point.a.z);
        assert!((flat.length() - radius).abs() < 1e-6);
    }
}

#[test]
fn a_small_cube_on_a_large_one_touches_with_its_own_corners_and_the_other_way_round() {
    for swap in [false, true] {
        let (small, large) = (cube(0.1), cube(0.5));
        let above = turned(0.1, 0.6, -0.2, DVec3::Y, 30.0);
        let found = if swap {
            contacts((&small, above), (&large, Pose::IDENTITY), MARGIN)
        } else {
            contacts((&large, Pose::IDENTITY), (&small, above), MARGIN)
        };
        assert_eq!(found.points.len(), 4);
        for point in &found.points {
            let on_small = if swap { point.a } else { point.b };
            assert!((on_small.abs() - 0.1).abs().max_element() < 1e-6);
        }
        let up = if swap { DVec3::NEG_Y } else { DVec3::Y };
        assert!((found.manifolds[0].normal - up).length() < 1e-12);
    }
}

#[test]
fn a_trembling_stack_keeps_the_names_of_its_contacts() {
    let cube = cube(0.5);
    let ids = |pose: Pose| -> Vec<_> {
        contacts((&cube, Pose::IDENTITY), (&cube, pose), MARGIN)
            .points
            .iter()
            .map(|p| p.id)
            .collect()
    };
    let rest = ids(at(0.0, 1.0, 0.0));
    assert_eq!(rest.len(), 4);
    for k in 0..50 {
        let noise = |n: i32| 1e-8 * f64::from((k * 37 + n * 11) % 17 - 8);
        let pose = Pose::new(
            DVec3::new(noise(0), 1.0 + noise(1), noise(2)),
            rotation::from_scaled_axis(DVec3::new(noise(3), noise(4), noise(5))),
        );
        assert_eq!(ids(pose), rest, "{k}");
    }
}

#[test]
fn normals_follow_the_features() {
    let tip = f64::sqrt(3.0) * 0.5;
    // The rotation that puts a corner of the cube straight down.
    let corner_down = DQuat::from_rotation_arc(DVec3::splat(-1.0).normalize(), DVec3::NEG_Y);
    for (lower, upper) in [(cube(0.5), cube(0.5)), (hull_cube(0.5), hull_cube(0.5))] {
        let base = (&lower, Pose::IDENTITY);

        // Face, vertex: the face's normal.
        let above = Pose::new(DVec3::new(0.1, 0.5 + tip + 5e-4, 0.1), corner_down);
        let (manifold, point) = one(&contacts(base, (&upper, above), MARGIN));
        assert!((manifold.normal - DVec3::Y).length() < 1e-9);
        assert!((point.gap - 5e-4).abs() < 1e-9);
        assert!((point.a - DVec3::new(0.1, 0.5, 0.1)).length() < 1e-9);

        // Face, edge: the face's normal, and both ends of the edge (cut where the face ends).
        let above = turned(0.0, 0.5 + 0.5_f64.sqrt() + 5e-4, 0.2, DVec3::Z, 45.0);
        let found = contacts(base, (&upper, above), MARGIN);
        assert_eq!(found.points.len(), 2);
        assert!((found.manifolds[0].normal - DVec3::Y).length() < 1e-9);

        // Edge, edge: their cross product. The upper edge runs along x, the lower along z at x = 0.5, y = 0.5.
        let lower_pose = turned(0.0, 0.0, 0.0, DVec3::Z, 45.0);
        let upper_pose = turned(0.0, 2.0 * 0.5_f64.sqrt() - 5e-4, 0.0, DVec3::X, 45.0);
        let (manifold, point) = one(&contacts(
            (&lower, lower_pose),
            (&upper, upper_pose),
            MARGIN,
        ));
        assert!(
            (manifold.normal - DVec3::Y).length() < 1e-9,
            "{}",
            manifold.normal
        );
        assert!((point.gap + 5e-4).abs() < 1e-9);

        // Edge, vertex: from the foot on the edge to the vertex.
        let outwards = DVec3::new(1.0, 1.0, 0.0).normalize();
        let turn = DQuat::from_rotation_arc(DVec3::splat(-1.0).normalize(), -outwards);
        let centre = DVec3::new(0.5, 0.5, 0.1) + outwards * (tip + 5e-4);
        let (manifold, point) = one(&contacts(base, (&upper, Pose::new(centre, turn)), MARGIN));
        assert!(
            (manifold.normal - outwards).length() < 1e-9,
            "{}",
            manifold.normal
        );
        assert!((point.gap - 5e-4).abs() < 1e-9);

        // Vertex, vertex: along the line between them.
        let outwards = DVec3::ONE.normalize();
        let centre = DVec3::splat(0.5) + outwards * (tip + 5e-4);
        let (manifold, point) = one(&contacts(
            base,
            (&upper, Pose::new(centre, DQuat::IDENTITY)),
            MARGIN,
        ));
        assert!(
            (manifold.normal - outwards).length() < 1e-9,
            "{}",
            manifold.normal
        );
        assert!((point.gap - 5e-4).abs() < 1e-9);
    }
}

#[test]
fn gaps_agree_with_closed_forms() {
    let ball = shape(Form::Ball { radius: 0.3 });
    let small = shape(Form::Ball { radius: 0.2 });
    let plane = shape(Form::HalfSpace {
        normal: DVec3::new(0.0, 3.0, 0.0),
    });
    for gap in [-0.05, -1e-6, 0.0, 9e-4] {
        let away = DVec3::new(1.0, 2.0, -0.5).normalize();
        let centre = Pose::new(
            away * (0.5 + gap),
            turned(0.0, 0.0, 0.0, DVec3::X, 20.0).rotation,
        );
        let (manifold, point) = one(&contacts((&ball, Pose::IDENTITY), (&small, centre), MARGIN));
        assert!((manifold.normal - away).length() < 1e-12);
        assert!((point.gap - gap).abs() < 1e-12);

        // A sloping plane with a ball on it, either way round.
        let slope = turned(1.0, 2.0, 3.0, DVec3::Z, 20.0);
        let up = slope.rotation * DVec3::Y;
        let centre = Pose::new(slope.position + up * (0.3 + gap), DQuat::IDENTITY);
        let (manifold, point) = one(&contacts((&plane, slope), (&ball, centre), MARGIN));
        assert!((manifold.normal - up).length() < 1e-12 && (point.gap - gap).abs() < 1e-12);
        let (manifold, point) = one(&contacts((&ball, centre), (&plane, slope), MARGIN));
        assert!((manifold.normal + up).length() < 1e-12 && (point.gap - gap).abs() < 1e-12);

        // A box on its face on the plane.
        let block = shape(Form::Box {
            half: DVec3::new(0.2, 0.1, 0.4),
        });
        let pose = Pose::new(slope.position + up * (0.1 + gap), slope.rotation);
        for found in [
            contacts((&plane, slope), (&block, pose), MARGIN),
            contacts((&block, pose), (&plane, slope), MARGIN),
        ] {
            assert_eq!(found.points.len(), 4);
            assert!(found.points.iter().all(|p| (p.gap - gap).abs() < 1e-12));
        }

        // Capsule and cylinder, lying and standing.
        let capsule = shape(Form::Capsule {
            half_length: 0.5,
            radius: 0.1,
        });
        let cylinder = shape(Form::Cylinder {
            half_height: 0.5,
            radius: 0.1,
        });
        for (body, degrees, height, count) in [
            (&capsule, 90.0, 0.1, 2),
            (&capsule, 0.0, 0.6, 1),
            (&cylinder, 90.0, 0.1, 2),
            (&cylinder, 0.0, 0.5, 4),
        ] {
            let pose = turned(0.0, height + gap, 0.0, DVec3::Z, degrees);
            let found = contacts((&plane, Pose::IDENTITY), (body, pose), MARGIN);
            assert_eq!(found.points.len(), count, "{degrees}");
            let least = found.points.iter().map(|p| p.gap).fold(f64::MAX, f64::min);
            assert!((least - gap).abs() < 1e-12);
        }
    }
    // Beyond the margin there is nothing.
    let found = contacts(
        (&ball, Pose::IDENTITY),
        (&small, at(0.5 + 2e-3, 0.0, 0.0)),
        MARGIN,
    );
    assert!(found.manifolds.is_empty() && found.points.is_empty());
}

#[test]
fn round_things_rest_on_boxes() {
    let table = shape(Form::Box {
        half: DVec3::new(2.0, 0.5, 2.0),
    });
    let base = (&table, Pose::IDENTITY);
    let cases = [
        (Form::Ball { radius: 0.2 }, 0.0, 0.2, 1),
        (
            Form::Capsule {
                half_length: 0.4,
                radius: 0.1,
            },
            90.0,
            0.1,
            2,
        ),
        (
            Form::Cylinder {
                half_height: 0.4,
                radius: 0.1,
            },
            0.0,
            0.4,
            4,
        ),
        (
            Form::Cylinder {
                half_height: 0.4,
                radius: 0.1,
            },
            90.0,
            0.1,
            2,
        ),
    ];
    for (form, degrees, height, count) in cases {
        let body = shape(form.clone());
        for gap in [-1e-4, 5e-4] {
            let pose = turned(0.3, 0.5 + height + gap, 0.1, DVec3::Z, degrees);
            let found = contacts(base, (&body, pose), MARGIN);
            assert!(
                (found.manifolds[0].normal - DVec3::Y).length() < 1e-6,
                "{form:?}"
            );
            assert!(found.points.len() >= count, "{form:?} {found:?}");
            let least = found.points.iter().map(|p| p.gap).fold(f64::MAX, f64::min);
            assert!((least - gap).abs() < 1e-6, "{form:?} {least}");
        }
    }
}

/// A square floor of two triangles a side of `cells`, facing up.
fn floor(cells: u32, size: f64) -> Shape {
    let mut vertices = Vec::new();
    for i in 0..=cells {
        for j in 0..=cells {
            let place = |k: u32| size * (f64::from(k) / f64::from(cells) - 0.5);
            vertices.push(DVec3::new(place(i), 0.0, place(j)));
        }
    }
    let mut triangles = Vec::new();
    for i in 0..cells {
        for j in 0..cells {
            let corner = i * (cells + 1) + j;
            triangles.push([corner, corner + 1, corner + cells + 1]);
            triangles.push([corner + 1, corner + cells + 2, corner + cells + 1]);
        }
    }
    shape(Form::Mesh {
        vertices,
        triangles,
    })
}

#[test]
fn everything_convex_rests_on_a_mesh() {
    let ground = floor(4, 4.0);
    let bodies = [
        (Form::Ball { radius: 0.2 }, 0.2),
        (
            Form::Box {
                half: DVec3::splat(0.2),
            },
            0.2,
        ),
        (
            Form::Capsule {
                half_length: 0.3,
                radius: 0.1,
            },
            0.4,
        ),
        (
            Form::Cylinder {
                half_height: 0.3,
                radius: 0.1,
            },
            0.3,
        ),
        (
            Form::Hull {
                points: vec![
                    DVec3::new(-0.3, 0.0, -0.3),
                    DVec3::new(0.3, 0.0, -0.3),
                    DVec3::new(0.0, 0.0, 0.3),
                    DVec3::new(0.0, 0.5, 0.0),
                ],
            },
            0.0,
        ),
    ];
    for (form, height) in bodies {
        let body = shape(form.clone());
        for gap in [-1e-3, 5e-4] {
            let pose = at(0.13, height + gap, 0.07);
            for swap in [false, true] {
                let found = if swap {
                    contacts((&body, pose), (&ground, Pose::IDENTITY), MARGIN)
                } else {
                    contacts((&ground, Pose::IDENTITY), (&body, pose), MARGIN)
                };
                assert!(!found.manifolds.is_empty(), "{form:?} {gap}");
                let up = if swap { DVec3::NEG_Y } else { DVec3::Y };
                for manifold in &found.manifolds {
                    assert!(
                        (manifold.normal - up).length() < 1e-6,
                        "{form:?} {manifold:?}"
                    );
                }
                let least = found.points.iter().map(|p| p.gap).fold(f64::MAX, f64::min);
                assert!((least - gap).abs() < 1e-6, "{form:?} {least} {gap}");
            }
        }
    }
    let found = contacts(
        (&ground, Pose::IDENTITY),
        (&ground, at(0.0, 0.0, 0.0)),
        MARGIN,
    );
    assert!(found.manifolds.is_empty());
}

#[test]
fn compounds_touch_part_by_part_in_the_frame_of_the_whole() {
    let legs = shape(Form::Compound(vec![
        (
            at(-1.0, -0.5, 0.0),
            Form::Box {
                half: DVec3::splat(0.1),
            },
        ),
        (at(1.0, -0.5, 0.0), Form::Ball { radius: 0.1 }),
        (
            turned(0.0, 3.0, 0.0, DVec3::Z, 90.0),
            Form::Capsule {
                half_length: 1.0,
                radius: 0.1,
            },
        ),
    ]));
    assert!(legs.can_be_dynamic());
    let table = shape(Form::Box {
        half: DVec3::new(3.0, 1.0, 3.0),
    });
    let pose = turned(0.2, 1.6, 0.0, DVec3::Y, 25.0);
    let found = contacts((&table, Pose::IDENTITY), (&legs, pose), MARGIN);
    let parts: Vec<_> = found.manifolds.iter().map(|m| (m.part, m.count)).collect();
    assert_eq!(parts, [((0, 0), 4), ((0, 1), 1)]);
    for point in &found.points {
        assert!((pose.point(point.b).y - 1.0).abs() < 1e-9);
        assert!((point.a.y - 1.0).abs() < 1e-9);
    }
    let single = shape(Form::Compound(vec![(
        at(0.0, 2.0, 0.0),
        Form::Ball { radius: 0.5 },
    )]));
    assert_eq!(
        single.ray(&Pose::IDENTITY, DVec3::ZERO, DVec3::Y),
        Some(1.5)
    );
}

/// Manifolds of compounds with meshes are told apart by their parts, in ascending order, and keep their own points.
#[test]
fn no_two_pieces_of_a_compound_are_taken_for_one() {
    let sheet = |x: f64| {
        let corner = |i: u32| DVec3::new(f64::from(i % 2) - 0.5, 0.0, f64::from(i / 2) - 0.5);
        let form = Form::Mesh {
            vertices: (0..4).map(corner).collect(),
            triangles: vec![[0, 2, 1], [1, 2, 3]],
        };
        (at(x, 0.0, 0.0), form)
    };
    let ground = shape(Form::Compound(vec![sheet(-0.5), sheet(0.5)]));
    let foot = |x: f64, z: f64| {
        let half = DVec3::splat(0.1);
        (at(x, 0.0, z), Form::Box { half })
    };
    // Each foot stands on a triangle of its own, one on both of a sheet; the last ones on the sheet of the first.
    let table = shape(Form::Compound(vec![
        foot(-0.8, -0.3),
        foot(0.8, 0.3),
        foot(0.5, 0.0),
        foot(-0.2, 0.3),
    ]));
    let pose = at(0.0, 0.099, 0.0);
    let found = contacts((&ground, Pose::IDENTITY), (&table, pose), MARGIN);
    let parts: Vec<_> = found.manifolds.iter().map(|m| m.part).collect();
    assert_eq!(parts, [(0, 0), (1, 3), (2, 2), (3, 1), (3, 2)]);
    for (manifold, points) in found.iter() {
        let middle = [-0.8, 0.8, 0.5, -0.2][manifold.part.1 as usize];
        for point in points {
            assert!((point.b.x - middle).abs() < 0.1 + 1e-9, "{manifold:?}");
            assert!((point.gap + 0.001).abs() < 1e-9, "{point:?}");
        }
    }
}

#[test]
fn the_deepest_detector_gives_one_point_a_pair() {
    let (table, block) = (cube(1.0), cube(0.2));
    let world = World {
        shapes: &[table, block],
        poses: &[Pose::IDENTITY, turned(0.0, 1.19, 0.0, DVec3::Z, 1.0)],
        margins: &[1e-2, 1e-2],
    };
    let pairs = [Pair { a: 0, b: 1 }];
    let (mut all, mut deepest) = (Contacts::default(), Contacts::default());
    let mut scratch = Scratch::default();
    Regions.narrow(&world, &pairs, &mut scratch, &mut all);
    Deepest.narrow(&world, &pairs, &mut scratch, &mut deepest);
    assert_eq!(all.points.len(), 4);
    let (_, point) = one(&deepest);
    assert!(all.points.iter().all(|p| p.gap >= point.gap));
    let detectors: [&dyn Detector; 2] = [&Regions, &Deepest];
    assert_eq!(detectors.len(), 2);
}

#[test]
fn rays_and_nearest_points() {
    let block = cube(0.5);
    let pose = at(3.0, 0.0, 0.0);
    assert_eq!(block.ray(&pose, DVec3::ZERO, DVec3::X), Some(2.5));
    assert_eq!(
        block.ray(&pose, DVec3::ZERO, DVec3::new(2.0, 0.0, 0.0)),
        Some(1.25)
    );
    assert_eq!(block.ray(&pose, DVec3::ZERO, DVec3::Y), None);
    assert_eq!(
        block.ray(&pose, DVec3::new(3.0, 0.0, 0.0), DVec3::Y),
        Some(0.0)
    );
    let nearest = block.closest(&pose, DVec3::ZERO);
    assert!(!nearest.inside && (nearest.point - DVec3::new(2.5, 0.0, 0.0)).length() < 1e-12);
    let nearest = block.closest(&pose, DVec3::new(3.4, 0.1, 0.0));
    assert!(nearest.inside && (nearest.point - DVec3::new(3.5, 0.1, 0.0)).length() < 1e-12);
    let plane = shape(Form::HalfSpace { normal: DVec3::Y });
    assert_eq!(
        plane.ray(&Pose::IDENTITY, DVec3::Y * 2.0, DVec3::NEG_Y),
        Some(2.0)
    );
    let ground = floor(3, 4.0);
    let hit = ground.ray(&Pose::IDENTITY, DVec3::new(0.1, 2.0, 0.3), DVec3::NEG_Y);
    assert!((hit.unwrap() - 2.0).abs() < 1e-12);
    assert_eq!((block.thickness(), ground.thickness()), (0.5, 0.0));
    assert!((hull_cube(0.5).thickness() - 0.5).abs() < 1e-12);
    assert!((block.radius() - 0.75_f64.sqrt()).abs() < 1e-15);
    assert!((block.reach(2.0, 4.0, 0.01) - (0.02 + 0.04 * block.radius())).abs() < 1e-15);
    assert_eq!(plane.reach(0.0, 0.0, 0.01), 0.0);
}

#[test]
fn bad_forms_are_refused_by_name() {
    let nan = f64::NAN;
    for bad in [0.0, -1.0, nan, f64::INFINITY, 1e-9, 1e9] {
        let forms = [
            Form::Ball { radius: bad },
            Form::Box {
                half: DVec3::new(1.0, bad, 1.0),
            },
            Form::Capsule {
                half_length: bad,
                radius: 1.0,
            },
            Form::Capsule {
                half_length: 1.0,
                radius: bad,
            },
            Form::Cylinder {
                half_height: bad,
                radius: 1.0,
            },
            Form::Cylinder {
                half_height: 1.0,
                radius: bad,
            },
        ];
        for form in forms {
            assert!(
                matches!(Shape::new(&form), Err(ShapeError::Size { .. })),
                "{form:?}"
            );
        }
    }
    let refused = |form: &Form| Shape::new(form).unwrap_err();
    let hull = |points: &[DVec3]| Form::Hull {
        points: points.to_vec(),
    };
    assert!(matches!(
        refused(&hull(&[DVec3::X; 3])),
        ShapeError::Count { count: 3 }
    ));
    assert!(matches!(
        refused(&hull(&[DVec3::X; 5])),
        ShapeError::Flat { .. }
    ));
    let square = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::new(1.0, 1.0, 0.0)];
    assert!(matches!(refused(&hull(&square)), ShapeError::Flat { .. }));
    let line = [DVec3::ZERO, DVec3::ONE, DVec3::ONE * 2.0, DVec3::ONE * 3.0];
    assert!(matches!(refused(&hull(&line)), ShapeError::Flat { .. }));
    let bad = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::new(nan, 0.0, 1.0)];
    assert!(matches!(
        refused(&hull(&bad)),
        ShapeError::Point { index: 3, .. }
    ));

    let mesh = |vertices: &[DVec3], triangles: &[[u32; 3]]| Form::Mesh {
        vertices: vertices.to_vec(),
        triangles: triangles.to_vec(),
    };
    assert_eq!(refused(&mesh(&[], &[])), ShapeError::Empty);
    assert_eq!(refused(&mesh(&square, &[])), ShapeError::Empty);
    let missing = refused(&mesh(&square, &[[0, 1, 4]]));
    assert!(matches!(
        missing,
        ShapeError::MissingVertex {
            triangle: 0,
            vertex: 4,
            count: 4
        }
    ));
    let thin = refused(&mesh(&line, &[[0, 1, 2]]));
    assert_eq!(thin, ShapeError::Degenerate { triangle: 0 });
    assert!(matches!(
        refused(&mesh(&bad, &[[0, 1, 2]])),
        ShapeError::Point { .. }
    ));

    for normal in [DVec3::ZERO, DVec3::NAN, DVec3::INFINITY] {
        assert!(matches!(
            refused(&Form::HalfSpace { normal }),
            ShapeError::Normal { .. }
        ));
    }
    let ball = Form::Ball { radius: 1.0 };
    assert_eq!(refused(&Form::Compound(vec![])), ShapeError::Empty);
    let crooked = Pose::new(DVec3::ZERO, DQuat::from_xyzw(1.0, 1.0, 0.0, 0.0));
    let compound = |pose: Pose, form: &Form| Form::Compound(vec![(pose, form.clone())]);
    assert_eq!(
        refused(&compound(crooked, &ball)),
        ShapeError::Pose { part: 0 }
    );
    assert_eq!(
        refused(&compound(at(nan, 0.0, 0.0), &ball)),
        ShapeError::Pose { part: 0 }
    );
    let inner = compound(Pose::IDENTITY, &ball);
    assert_eq!(
        refused(&compound(Pose::IDENTITY, &inner)),
        ShapeError::Nested { part: 0 }
    );
    assert!(!floor(1, 1.0).can_be_dynamic());
}

#[test]
fn a_hull_with_many_sided_faces_stands_on_all_its_corners() {
    let corners = 11;
    let mut points = Vec::new();
    for i in 0..corners {
        let (s, c) = trocar_math::real::sin_cos(
            2.0 * std::f64::consts::PI * f64::from(i) / f64::from(corners),
        );
        points.push(DVec3::new(0.3 * c, -0.2, 0.3 * s));
        points.push(DVec3::new(0.3 * c, 0.2, 0.3 * s));
    }
    let prism = shape(Form::Hull { points });
    let (plane, table) = (shape(Form::HalfSpace { normal: DVec3::Y }), cube(0.5));
    let on_plane = contacts(
        (&plane, Pose::IDENTITY),
        (&prism, at(0.0, 0.2, 0.0)),
        MARGIN,
    );
    assert_eq!(on_plane.points.len(), 11);
    let on_table = contacts(
        (&table, at(0.0, -0.5, 0.0)),
        (&prism, at(0.0, 0.2, 0.0)),
        MARGIN,
    );
    assert_eq!(on_table.points.len(), 11);
    let (points, triangles) = &prism.surfaces()[0];
    let volume: f64 = triangles
        .iter()
        .map(|t| t.map(|i| points[i as usize]))
        .map(|[a, b, c]| a.dot(b.cross(c)) / 6.0)
        .sum();
    let area = 0.5 * 11.0 * 0.09 * trocar_math::real::sin(2.0 * std::f64::consts::PI / 11.0);
    assert!((volume - 0.4 * area).abs() < 1e-12);
}

/// A heap of all kinds of bodies over a mesh and a plane, the same for the same seed.
fn heap(seed: u64, count: usize) -> (Vec<Shape>, Vec<Pose>) {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let kinds = [
        cube(0.2),
        hull_cube(0.15),
        shape(Form::Ball { radius: 0.2 }),
        shape(Form::Capsule {
            half_length: 0.2,
            radius: 0.1,
        }),
        shape(Form::Cylinder {
            half_height: 0.2,
            radius: 0.15,
        }),
        shape(Form::Compound(vec![
            (
                at(0.1, 0.0, 0.0),
                Form::Box {
                    half: DVec3::splat(0.1),
                },
            ),
            (at(-0.1, 0.0, 0.0), Form::Ball { radius: 0.1 }),
        ])),
    ];
    let mut shapes = vec![floor(6, 4.0), shape(Form::HalfSpace { normal: DVec3::Y })];
    let mut poses = vec![at(0.0, 0.1, 0.0), Pose::IDENTITY];
    for i in 0..count {
        shapes.push(kinds[i % kinds.len()].clone());
        poses.push(Pose::new(
            DVec3::new(2.0 * next() - 1.0, next(), 2.0 * next() - 1.0),
            rotation::from_scaled_axis(DVec3::new(next(), next(), next()) * 6.0 - 3.0),
        ));
    }
    (shapes, poses)
}

fn all(world: &World<'_>, broad: &mut Broad, scratch: &mut Scratch) -> Contacts {
    let (mut bounds, mut pairs, mut found) = (Vec::new(), Vec::new(), Contacts::default());
    world.bounds(&mut bounds);
    broad.update(&bounds, |a, b| b > 1 || a > 1, &mut pairs);
    Regions.narrow(world, &pairs, scratch, &mut found);
    found
}

#[test]
fn history_and_threads_leave_no_trace() {
    let (shapes, poses) = heap(7, 60);
    let (_, others) = heap(8, 60);
    let margins = vec![1e-3; shapes.len()];
    let world = World {
        shapes: &shapes,
        poses: &poses,
        margins: &margins,
    };
    let elsewhere = World {
        shapes: &shapes,
        poses: &others,
        margins: &margins,
    };
    let (mut broad, mut scratch) = (Broad::default(), Scratch::default());
    let first = all(&world, &mut broad, &mut scratch);
    assert!(first.manifolds.len() > 50);
    check(&first, &world);
    let sorted = |w: &[Manifold]| (w[0].pair, w[0].part) < (w[1].pair, w[1].part);
    assert!(first.manifolds.windows(2).all(sorted));
    // Something else in between, and back.
    let _ = all(&elsewhere, &mut broad, &mut scratch);
    assert_eq!(all(&world, &mut broad, &mut scratch), first);

    // In stretches, by several threads.
    let (mut bounds, mut pairs) = (Vec::new(), Vec::new());
    world.bounds(&mut bounds);
    broad.update(&bounds, |a, b| b > 1 || a > 1, &mut pairs);
    let stretches: Vec<Contacts> = std::thread::scope(|scope| {
        let threads: Vec<_> = pairs
            .chunks(17)
            .map(|stretch| {
                scope.spawn(move || {
                    let mut found = Contacts::default();
                    Regions.narrow(&world, stretch, &mut Scratch::default(), &mut found);
                    found
                })
            })
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    let mut together = Contacts::default();
    stretches.iter().for_each(|s| together.append(s));
    assert_eq!(together, first);
}

#[test]
fn no_numbers_no_panic() {
    let (shapes, mut poses) = heap(9, 30);
    for (k, pose) in poses.iter_mut().enumerate().skip(2) {
        match k % 4 {
            0 => pose.position.x = f64::NAN,
            1 => pose.position = DVec3::splat(1e300),
            2 => pose.rotation = DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0),
            _ => pose.position = DVec3::new(0.0, 0.3, 0.0),
        }
    }
    let margins = vec![1e-3; shapes.len()];
    let world = World {
        shapes: &shapes,
        poses: &poses,
        margins: &margins,
    };
    let _ = all(&world, &mut Broad::default(), &mut Scratch::default());
    let mut pairs = Vec::new();
    for a in 0..shapes.len() as u32 {
        pairs.extend((a + 1..shapes.len() as u32).map(|b| Pair { a, b }));
    }
    Regions.narrow(
        &world,
        &pairs,
        &mut Scratch::default(),
        &mut Contacts::default(),
    );
}

proptest! {
    #[test]
    fn exchanging_two_bodies_exchanges_their_points(seed in any::<u64>()) {
        let (shapes, poses) = heap(seed, 12);
        for i in 2..shapes.len() {
            for j in 2..i {
                let (a, b) = ((&shapes[i], poses[i]), (&shapes[j], poses[j]));
                let there = contacts(a, b, MARGIN);
                let back = contacts(b, a, MARGIN);
                let depth = |c: &Contacts| c.points.iter().map(|p| p.gap).fold(f64::MAX, f64::min);
                prop_assert_eq!(there.manifolds.is_empty(), back.manifolds.is_empty());
                if !there.manifolds.is_empty() {
                    // Which feature is preferred may differ, by as much as the preference.
                    prop_assert!((depth(&there) - depth(&back)).abs() < 2e-3, "{:?} {:?}", there, back);
                }
            }
        }
    }

    #[test]
    fn boxes_agree_with_themselves_as_hulls(
        place in prop::array::uniform3(-0.9..0.9_f64),
        turn in prop::array::uniform3(-2.0..2.0_f64),
    ) {
        let pose = Pose::new(DVec3::from_array(place), rotation::from_scaled_axis(DVec3::from_array(turn)));
        let boxes = contacts((&cube(0.5), Pose::IDENTITY), (&cube(0.3), pose), MARGIN);
        let hulls = contacts((&hull_cube(0.5), Pose::IDENTITY), (&hull_cube(0.3), pose), MARGIN);
        prop_assert_eq!(boxes.manifolds.is_empty(), hulls.manifolds.is_empty());
        let depth = |c: &Contacts| c.points.iter().map(|p| p.gap).fold(f64::MAX, f64::min);
        if !boxes.manifolds.is_empty() {
            prop_assert!((depth(&boxes) - depth(&hulls)).abs() < 2e-3, "{:?} {:?}", boxes, hulls);
        }
    }
}

use super::*;
use crate::rigid::{FacetScratch, Form, Nearness, Shape};
use proptest::prelude::*;
use trocar_math::{Pose, rotation};

/// A hundred times as many in the long run.
fn cases() -> u32 {
    match std::env::var_os("TROCAR_LONG") {
        Some(_) => 200_000,
        None => 2000,
    }
}

/// Moments at which the truth is looked at.
const SAMPLES: u32 = 400;

fn vector() -> impl Strategy<Value = DVec3> {
    // Small integers make parallel, touching and degenerate cases common.
    prop_oneof![
        3 => prop::array::uniform3(-1.0..1.0).prop_map(DVec3::from_array),
        1 => prop::array::uniform3(-1..2_i32).prop_map(|v| DVec3::from_array(v.map(f64::from))),
    ]
}

/// A point of a surgical scene: centimetres, and ways from nothing to metres in a step.
fn moving() -> impl Strategy<Value = Moving> {
    let speed = prop_oneof![Just(0.0), Just(0.01), Just(0.1), Just(3.0)];
    (vector(), vector(), speed).prop_map(|(from, way, speed)| Moving {
        from: from * 0.01,
        way: way * speed,
    })
}

fn radius() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(2.5e-4), Just(2e-3)]
}

/// So often the distance is asked for at most to find the moment at which it is first within a radius.
const QUESTIONS: u32 = 2000;

/// The first moment found at which things are within a radius. However fast they are, nothing is passed over: half a span of time away they can't be nearer than by what their
/// greatest speed to each other allows, and spans in which they could be are halved, down to a tenth of the tolerance. (What slides along just outside may use up all questions before.)
fn first_within(
    radius: f64,
    (one, other): (&[Moving], &[Moving]),
    distance: impl Fn(f64) -> f64,
) -> Option<f64> {
    let pairs = one.iter().flat_map(|p| other.iter().map(move |q| (p, q)));
    let speed = pairs.fold(0.0_f64, |most, (p, q)| most.max((q.way - p.way).length()));
    if distance(0.0) <= radius {
        return Some(0.0);
    }
    let mut open = vec![[0.0, 1.0]];
    let mut first = (distance(1.0) <= radius).then_some(1.0);
    for _ in 0..QUESTIONS {
        // The earliest comes first.
        let Some([start, end]) = open.pop() else {
            break;
        };
        let middle = 0.5 * (start + end);
        let far = distance(middle);
        let reach = 0.5 * (end - start) * speed;
        if far <= radius {
            first = Some(middle);
            // Only what is before can be earlier.
            open.clear();
        } else if far - reach > radius {
            continue;
        } else if reach > 0.1 * TOLERANCE {
            open.push([middle, end]);
        }
        if reach > 0.1 * TOLERANCE {
            open.push([start, middle]);
        }
    }
    first
}

/// Compares with the distance: never later than the first moment at which it is within the radius, never while they are
/// farther apart than the tolerance allows.
fn compare(
    found: Option<Impact>,
    radius: f64,
    things: (&[Moving], &[Moving]),
    distance: impl Fn(f64) -> f64,
) -> Result<(), TestCaseError> {
    let first = first_within(radius, things, &distance);
    match (found, first) {
        (None, Some(first)) => prop_assert!(false, "missed what meets at {first}"),
        (None, None) => {}
        (Some(impact), first) => {
            prop_assert!(impact.certain, "{impact:?}");
            prop_assert!(impact.time <= first.unwrap_or(1.0));
            let at = distance(impact.time);
            prop_assert!(at <= radius + TOLERANCE + 1e-12, "{at} at {impact:?}");
            if impact.time > 0.0 {
                prop_assert!((impact.normal.length() - 1.0).abs() < 1e-9);
            }
        }
    }
    Ok(())
}

/// The end of the first span of time in which what has no thickness is gone through: a volume changes its sign, and at that very moment the place lies inside.
fn gone_through(volume: impl Fn(f64) -> f64, inside: impl Fn(f64) -> bool) -> Option<f64> {
    let moments = (0..SAMPLES).map(|k| [k, k + 1].map(|k| f64::from(k) / f64::from(SAMPLES)));
    let crossed = |[a, b]: &[f64; 2]| {
        if volume(*a) * volume(*b) >= 0.0 {
            return false;
        }
        let (mut a, mut b) = (*a, *b);
        for _ in 0..60 {
            let middle = 0.5 * (a + b);
            if volume(a) * volume(middle) <= 0.0 {
                b = middle;
            } else {
                a = middle;
            }
        }
        inside(b)
    };
    moments.into_iter().find(crossed).map(|[_, after]| after)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn a_point_never_gets_through_a_triangle_unseen(
        p in moving(), t in prop::array::uniform3(moving()), r in radius(),
    ) {
        let found = point_triangle(p, t, r, TOLERANCE);
        compare(found, r, (&[p], &t), |time| {
            let (p, t) = (p.at(time), t.map(|c| c.at(time)));
            closest::point(t, closest::on_triangle(p, t)).distance(p)
        })?;
    }

    #[test]
    fn an_edge_never_gets_through_an_edge_unseen(
        a in prop::array::uniform2(moving()), b in prop::array::uniform2(moving()), r in radius(),
    ) {
        let found = edge_edge(a, b, r, TOLERANCE);
        compare(found, r, (&a, &b), |time| {
            let (a, b) = (a.map(|e| e.at(time)), b.map(|e| e.at(time)));
            let (s, t) = closest::segment_segment(a[0], a[1], b[0], b[1]);
            a[0].lerp(a[1], s).distance(b[0].lerp(b[1], t))
        })?;
    }

    #[test]
    fn a_capsule_never_gets_through_a_triangle_unseen(
        a in prop::array::uniform2(moving()), t in prop::array::uniform3(moving()), r in radius(),
    ) {
        let found = capsule_triangle(a, t, r, TOLERANCE);
        compare(found, r, (&a, &t), |time| {
            let (a, t) = (a.map(|e| e.at(time)), t.map(|c| c.at(time)));
            closest::segment_triangle(a[0], a[1], t).distance_squared.sqrt()
        })?;
    }

    // Sampling sees no point that crosses a face of no thickness between two moments; the sign of the volume does.
    #[test]
    fn what_changes_sides_within_a_face_has_met_it(
        p in moving(), t in prop::array::uniform3(moving()),
    ) {
        let height = |time: f64| {
            let (p, t) = (p.at(time), t.map(|c| c.at(time)));
            (t[1] - t[0]).cross(t[2] - t[0]).dot(p - t[0])
        };
        let inside = |time: f64| {
            let (p, t) = (p.at(time), t.map(|c| c.at(time)));
            closest::on_triangle(p, t).iter().all(|w| *w > 0.05)
        };
        if let Some(after) = gone_through(height, inside) {
            let found = point_triangle(p, t, 0.0, TOLERANCE);
            prop_assert!(found.is_some_and(|i| i.time <= after), "{found:?}");
            // As a needle without thickness does.
            let found = capsule_triangle([p, p], t, 0.0, TOLERANCE);
            prop_assert!(found.is_some_and(|i| i.time <= after), "{found:?}");
        }
    }

    // Nor one of two edges of no thickness that go through each other.
    #[test]
    fn edges_that_change_sides_have_met(
        a in prop::array::uniform2(moving()), b in prop::array::uniform2(moving()),
    ) {
        let ends = |time: f64| (a.map(|e| e.at(time)), b.map(|e| e.at(time)));
        let volume = |time: f64| {
            let ([p, q], [r, s]) = ends(time);
            (q - p).cross(s - r).dot(r - p)
        };
        let inside = |time: f64| {
            let ([p, q], [r, s]) = ends(time);
            let (along, across) = closest::segment_segment(p, q, r, s);
            [along, across].iter().all(|x| (0.05..=0.95).contains(x))
        };
        if let Some(after) = gone_through(volume, inside) {
            let found = edge_edge(a, b, 0.0, TOLERANCE);
            prop_assert!(found.is_some_and(|i| i.time <= after), "{found:?}");
        }
    }

    #[test]
    fn a_box_never_gets_through_a_triangle_unseen(
        from in vector(), way in vector(), turn in vector(), speed in 0.0..0.3,
        t in prop::array::uniform3(moving()),
    ) {
        let shape = Shape::new(&Form::Box { half: DVec3::new(4e-3, 1e-3, 2e-3) }).unwrap();
        let start = Pose::new(from * 0.02, rotation::from_scaled_axis(way));
        let end = Pose::new(start.position + way * speed, rotation::from_scaled_axis(turn) * start.rotation);
        let flight = Flight { piece: shape.piece(0, &start), end };
        let mut scratch = FacetScratch::default();
        let skin = 1e-5;
        let found = convex_triangle(&flight, t, skin, 1e-6, &mut scratch);
        let bare = |time: f64, scratch: &mut FacetScratch| {
            let piece = flight.piece.placed(start.interpolate(&end, time));
            match piece.nearest(t.map(|c| c.at(time)), 1.0, scratch) {
                Nearness::Near(p, q, n) => Some((q - p).dot(n)),
                Nearness::Far | Nearness::Unknown => None,
            }
        };
        for k in 0..=200 {
            let time = f64::from(k) / 200.0;
            if bare(time, &mut scratch).is_some_and(|gap| gap <= skin) {
                prop_assert!(found.is_some_and(|i| i.time <= time), "{found:?} {time}");
                break;
            }
        }
        if let Some(impact) = found && impact.certain {
            let gap = bare(impact.time, &mut scratch);
            prop_assert!(gap.is_some_and(|gap| gap <= skin + 2e-6), "{gap:?}");
        }
    }
}

fn still(points: [[f64; 3]; 3]) -> [Moving; 3] {
    points.map(|p| Moving::still(DVec3::from_array(p)))
}

const SHEET: [[f64; 3]; 3] = [[0.0, 0.0, 0.0], [3e-3, 0.0, 0.0], [0.0, 0.0, 3e-3]];

/// A needle of 0.5 mm against a cell of 3 mm, at speeds no hand has.
#[test]
fn a_fast_needle_meets_a_thin_sheet_when_it_should() {
    for way in [0.01, 1.0, 1000.0] {
        let tip = DVec3::new(1e-3, 5e-3, 1e-3);
        let axis = [tip + DVec3::Y * 0.3, tip].map(|p| Moving {
            from: p,
            way: DVec3::Y * -way,
        });
        let impact = capsule_triangle(axis, still(SHEET), 2.5e-4, TOLERANCE).unwrap();
        let expected = (5e-3 - 2.5e-4) / way;
        assert!((impact.time - expected).abs() <= 1.01 * TOLERANCE / way);
        assert!((impact.normal + DVec3::Y).length() < 1e-9 && impact.along == 1.0);
        let at = closest::point(SHEET.map(DVec3::from_array), impact.weights);
        assert!(at.distance(DVec3::new(1e-3, 0.0, 1e-3)) < 1e-9);
    }
}

#[test]
fn what_slides_along_at_a_small_distance_does_not_meet() {
    let axis = [DVec3::new(-0.3, 3e-4, 1e-3), DVec3::new(-0.01, 3e-4, 1e-3)].map(|p| Moving {
        from: p,
        way: DVec3::X * 2.0,
    });
    assert_eq!(
        capsule_triangle(axis, still(SHEET), 2.99e-4, TOLERANCE),
        None
    );
    assert!(capsule_triangle(axis, still(SHEET), 3e-4, TOLERANCE).is_some());
}

#[test]
fn what_touches_already_meets_at_once() {
    let tip = DVec3::new(1e-3, 1e-4, 1e-3);
    let needle = |end: DVec3| [Moving::still(end), Moving::new(tip, tip + DVec3::Y)];
    let impact = capsule_triangle(needle(tip + DVec3::Y), still(SHEET), 2.5e-4, TOLERANCE).unwrap();
    assert_eq!((impact.time, impact.normal), (0.0, -DVec3::Y));
    // Pierced: there is no way from the axis to the triangle.
    let impact = capsule_triangle(needle(tip - DVec3::Y), still(SHEET), 2.5e-4, TOLERANCE).unwrap();
    assert_eq!((impact.time, impact.normal), (0.0, DVec3::ZERO));
}

#[test]
fn triangles_without_area_and_tools_without_length_or_radius_are_met_as_what_they_are() {
    let ball = [Moving {
        from: DVec3::new(1e-3, 1.0, 0.0),
        way: DVec3::Y * -2.0,
    }; 2];
    let line = still([[0.0; 3], [1e-3, 0.0, 0.0], [3e-3, 0.0, 0.0]]);
    let point = still([[1e-3, 0.0, 0.0]; 3]);
    for triangle in [line, point] {
        for radius in [0.0, 1e-4] {
            let impact = capsule_triangle(ball, triangle, radius, TOLERANCE).unwrap();
            assert!(impact.certain && (impact.time - 0.5 * (1.0 - radius)).abs() < 1e-7);
        }
    }
    let aside = still([[2e-3, 0.0, 0.0]; 3]);
    assert_eq!(capsule_triangle(ball, aside, 1e-4, TOLERANCE), None);
}

/// Just before a direction that turns away and back again: gap + slope·t + bend·t² = 0.
#[test]
fn a_small_gap_that_widens_and_closes_again_closes_in_time() {
    let turn = DVec3::Y;
    for gap in [1e-20, 1e-15, 1e-9, 1e-3] {
        let way = DVec3::new(1.0, -10.0, 0.0);
        let time = free_time(DVec3::X * gap, way, DVec3::X, turn, 0.0);
        let expected = (1.0 + (1.0_f64 + 40.0 * gap).sqrt()) / 20.0;
        assert!((time - expected).abs() < 1e-12, "{gap}: {time}");
    }
}

#[test]
fn a_convex_piece_whose_distance_can_not_be_found_may_meet() {
    let flight = |form: &Form, from: DVec3, to: DVec3| Flight {
        piece: Shape::new(form)
            .unwrap()
            .piece(0, &Pose::new(from, glam::DQuat::IDENTITY)),
        end: Pose::new(to, glam::DQuat::IDENTITY),
    };
    let cube = Form::Box {
        half: DVec3::splat(1e-3),
    };
    let ball = Form::Ball { radius: 1e-3 };
    let up = DVec3::Y * 0.1;
    let gone = [Moving::still(DVec3::NAN); 3];
    let mut scratch = FacetScratch::default();
    for (flight, triangle) in [
        // Nobody asks a ball for its nearest points here; it goes right through.
        (flight(&ball, up, -up), still(SHEET)),
        (flight(&cube, up, -up), gone),
        (flight(&cube, DVec3::NAN, -up), still(SHEET)),
        (flight(&cube, up, DVec3::NAN), still(SHEET)),
    ] {
        let found = convex_triangle(&flight, triangle, 1e-5, 1e-6, &mut scratch);
        assert!(found.is_some_and(|i| !i.certain), "{found:?}");
    }
    let aside = flight(&cube, up, up * 2.0);
    assert_eq!(
        convex_triangle(&aside, still(SHEET), 1e-5, 1e-6, &mut scratch),
        None
    );
}

#[test]
fn what_is_no_number_may_meet() {
    let nan = Moving::still(DVec3::NAN);
    let axis = [Moving::still(DVec3::ONE); 2];
    for t in [
        [nan; 3],
        [nan, Moving::still(DVec3::X), Moving::still(DVec3::Z)],
    ] {
        let impact = capsule_triangle(axis, t, 1e-3, TOLERANCE).unwrap();
        assert!(!impact.certain);
    }
    let gone = [Moving {
        from: DVec3::ONE,
        way: DVec3::splat(f64::INFINITY),
    }; 2];
    let impact = capsule_triangle(gone, still(SHEET), 1e-3, TOLERANCE).unwrap();
    assert!(!impact.certain);
}

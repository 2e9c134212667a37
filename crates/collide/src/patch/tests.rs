use super::*;
use crate::closest;
use crate::rigid::{Form, Shape};
use crate::tree::Change;
use trocar_math::{Alone, Pose};

/// A flat sheet in the x–z plane facing up, cells of 8 mm.
fn sheet() -> (Patch, Vec<DVec3>) {
    let n = 9_u32;
    let positions = (0..n * n)
        .map(|i| DVec3::new(f64::from(i % n) * 8e-3, 0.0, f64::from(i / n) * 8e-3))
        .collect::<Vec<_>>();
    let mut triangles = Vec::new();
    for r in 0..n - 1 {
        for c in 0..n - 1 {
            let a = r * n + c;
            triangles.push([a, a + n, a + 1]);
            triangles.push([a + 1, a + n, a + n + 1]);
        }
    }
    (Patch::new(triangles, positions.len()).unwrap(), positions)
}

fn needle(tip: DVec3) -> Capsule {
    Capsule {
        a: tip + DVec3::Y * 0.1,
        b: tip,
        radius: 1e-3,
    }
}

fn touches(patch: &mut Patch, positions: &[DVec3], tool: Capsule) -> Vec<Touch> {
    touches_of(patch, positions, Hull::Capsule(tool))
}

fn touches_of(patch: &mut Patch, positions: &[DVec3], hull: Hull) -> Vec<Touch> {
    let mut out = Vec::new();
    let mut probe = Probe {
        hull,
        margin: 2e-3,
        ahead: None,
    };
    patch.gather(std::slice::from_ref(&probe), positions, f64::INFINITY);
    probe.margin = 1e-3;
    patch.touches(&[probe], positions, &|_| DVec3::ZERO, &mut out);
    out
}

fn cube(at: DVec3) -> Hull {
    let form = Form::Box {
        half: DVec3::new(0.012, 0.003, 0.012),
    };
    Hull::Convex(
        Shape::new(&form)
            .unwrap()
            .piece(0, &Pose::new(at, glam::DQuat::IDENTITY)),
    )
}

/// A thread of triangles without area has no neighbour that stands for it; and a sliver within a sheet has.
#[test]
fn a_box_touches_triangles_without_area_too() {
    let positions = [0.0, 0.02, 0.04, 0.06].map(|x| DVec3::new(x, 0.0, 0.03));
    let hull = |y: f64| cube(DVec3::new(0.03, y, 0.03));
    for thread in [vec![[0, 1, 2], [1, 2, 3]], vec![[0, 3, 3]], vec![[1, 1, 1]]] {
        let mut patch = Patch::new(thread.clone(), 4).unwrap();
        let found = touches_of(&mut patch, &positions, hull(0.0035));
        assert!(!found.is_empty(), "{thread:?}");
        for touch in &found {
            assert!(touch.normal.dot(-DVec3::Y) > 0.999, "{touch:?}");
            assert!((touch.at.y - 0.0005).abs() < 1e-9, "{touch:?}");
            let sum: f64 = touch.weights.iter().sum();
            assert!((sum - 1.0).abs() < 1e-12, "{touch:?}");
        }
        // A millimetre is the margin; what lies farther away is not touched.
        let mut patch = Patch::new(thread, 4).unwrap();
        assert!(touches_of(&mut patch, &positions, hull(0.0045)).is_empty());
    }
    let (mut whole, positions) = sheet();
    let wanted = touches_of(&mut whole, &positions, hull(0.0028));
    let mut triangles = whole.triangles.clone();
    triangles.push([40, 41, 41]);
    let mut patch = Patch::new(triangles, positions.len()).unwrap();
    assert_eq!(touches_of(&mut patch, &positions, hull(0.0028)), wanted);
}

#[test]
fn a_box_on_a_sheet_touches_every_node_below_it_once_and_its_own_corners() {
    let (mut patch, positions) = sheet();
    let found = touches_of(&mut patch, &positions, cube(DVec3::new(0.03, 0.0028, 0.03)));
    let below = positions
        .iter()
        .filter(|p| (**p - DVec3::new(0.03, 0.0, 0.03)).abs().max_element() < 0.012);
    let corners = found
        .iter()
        .filter(|t| t.weights.iter().any(|w| *w > 0.999_999));
    assert_eq!(corners.count(), below.count());
    for t in &found {
        assert!((t.normal + DVec3::Y).length() < 1e-9, "{t:?}");
    }
    for (x, z) in [
        (0.018, 0.018),
        (0.042, 0.018),
        (0.018, 0.042),
        (0.042, 0.042),
    ] {
        let corner = DVec3::new(x, -0.0002, z);
        assert!(
            found.iter().any(|t| t.at.distance(corner) < 1e-7),
            "{corner}"
        );
    }
    let mut keys: Vec<_> = found.iter().map(|t| t.key).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(
        keys.len(),
        found.len(),
        "every contact has a name of its own"
    );
}

#[test]
fn a_plate_that_has_gone_through_still_pushes_the_way_it_came() {
    let (mut patch, positions) = sheet();
    // 6 mm thick, from above until only its top is left above the sheet, and then not even that.
    for y in [3.5e-3, 1e-3, -1e-3, -2.9e-3, -3.5e-3] {
        let found = touches_of(&mut patch, &positions, cube(DVec3::new(0.03, y, 0.03)));
        assert!(!found.is_empty(), "{y}");
        assert!(
            found
                .iter()
                .all(|t| t.normal.y < 0.0 || t.normal.y.abs() < 0.5),
            "{y}: {found:?}"
        );
        assert!(
            found.iter().any(|t| (t.normal + DVec3::Y).length() < 1e-9),
            "{y}: {found:?}"
        );
    }
}

#[test]
fn below_a_plane_every_corner_is_pushed_out_once() {
    let (mut patch, positions) = sheet();
    let tilted = DVec3::new(0.1, 1.0, 0.0).normalize();
    let found = touches_of(&mut patch, &positions, Hull::Below(DVec3::X * 0.02, tilted));
    let below = positions
        .iter()
        .filter(|p| (**p - DVec3::X * 0.02).dot(tilted) <= 1e-3);
    assert_eq!(found.len(), below.count());
    assert!(found.iter().all(|t| t.normal == tilted));
}

#[test]
fn a_needle_thinner_than_a_cell_touches_between_the_nodes() {
    let (mut patch, positions) = sheet();
    let found = touches(
        &mut patch,
        &positions,
        needle(DVec3::new(0.0345, 0.5e-3, 0.0345)),
    );
    assert!(!found.is_empty());
    assert!(found.iter().all(|t| (t.normal + DVec3::Y).length() < 1e-9));
}

#[test]
fn far_away_nothing_is_gathered() {
    let (mut patch, positions) = sheet();
    let probe = Probe {
        hull: Hull::Capsule(needle(DVec3::new(0.03, 0.5, 0.03))),
        margin: 1e-3,
        ahead: None,
    };
    assert_eq!(patch.gather(&[probe], &positions, f64::INFINITY), 0);
    assert!(touches(&mut patch, &positions, needle(DVec3::new(0.2, 0.0, 0.0))).is_empty());
}

#[test]
fn a_needle_that_has_gone_through_still_pushes_the_way_it_came() {
    let (mut patch, positions) = sheet();
    for y in [0.8e-3, 0.2e-3, -0.4e-3, -1.0e-3, -1.4e-3] {
        let found = touches(&mut patch, &positions, needle(DVec3::new(0.034, y, 0.035)));
        assert!(
            found.iter().any(|t| (t.normal + DVec3::Y).length() < 1e-9),
            "{y}: {found:?}"
        );
    }
    // Lifted out, it is forgotten; from below it then pushes upwards.
    touches(
        &mut patch,
        &positions,
        needle(DVec3::new(0.034, 0.1, 0.035)),
    );
    assert!(patch.sides().is_empty());
    let below = Capsule {
        a: DVec3::new(0.034, -0.1, 0.035),
        b: DVec3::new(0.034, -0.5e-3, 0.035),
        radius: 1e-3,
    };
    let found = touches(&mut patch, &positions, below);
    assert!(found.iter().all(|t| (t.normal - DVec3::Y).length() < 1e-9) && !found.is_empty());
}

#[test]
fn a_corner_is_touched_once() {
    let (mut patch, positions) = sheet();
    let found = touches(
        &mut patch,
        &positions,
        needle(positions[40] + DVec3::Y * 0.5e-3),
    );
    let corners = found
        .iter()
        .filter(|t| t.weights.iter().any(|w| *w > 0.999))
        .count();
    assert_eq!(corners, 1, "{found:?}");
}

/// A sheet that is bent and shaken, and tools that jump about: a search that refits only what it reaches finds what one that
/// knows nothing finds, and that is what every triangle on its own says.
#[test]
fn a_lazy_search_finds_what_a_fresh_one_finds() {
    let n = 40_u32;
    let at = |i: u32, k: u32| {
        let (x, z) = (f64::from(i % n) * 3e-3, f64::from(i / n) * 3e-3);
        let phase = f64::from(k) * 0.07;
        let y = 4e-3 * trocar_math::real::sin(x * 90.0 + phase)
            + 3e-3 * trocar_math::real::sin(z * 70.0 - 2.0 * phase);
        DVec3::new(x + f64::from(k) * 1e-4, y, z)
    };
    let mut triangles = Vec::new();
    for r in 0..n - 1 {
        for c in 0..n - 1 {
            let a = r * n + c;
            triangles.push([a, a + n, a + 1]);
            triangles.push([a + 1, a + n, a + n + 1]);
        }
    }
    let nodes = (n * n) as usize;
    let mut lazy = Patch::new(triangles.clone(), nodes).unwrap();
    let mut followed = Patch::new(triangles.clone(), nodes).unwrap();
    let mut before: Vec<DVec3> = (0..n * n).map(|i| at(i, 0)).collect();
    let mut found = 0;
    for k in 0..400 {
        let positions: Vec<DVec3> = (0..n * n).map(|i| at(i, k)).collect();
        let ways = positions.iter().zip(&before).map(|(p, q)| p.distance(*q));
        let moved = ways.fold(0.0, f64::max);
        let phase = f64::from(k) * 0.9;
        let tip = DVec3::new(0.06, 0.0, 0.06)
            + DVec3::new(
                trocar_math::real::sin(phase),
                0.2,
                trocar_math::real::cos(1.3 * phase),
            ) * 0.05;
        let probes = [tip, tip * 0.5].map(|tip| Probe {
            hull: Hull::Capsule(needle(tip)),
            margin: 2e-3,
            ahead: None,
        });
        let mut fresh = Patch::new(triangles.clone(), nodes).unwrap();
        fresh.gather(&probes, &positions, f64::INFINITY);
        lazy.gather(&probes, &positions, moved);
        let own = followed.follow(&positions);
        followed.gather(&probes, &positions, own);
        assert_eq!(lazy.near, fresh.near, "{k}");
        assert_eq!(followed.near, fresh.near, "{k}");
        for (c, probe) in probes.iter().enumerate() {
            let Hull::Capsule(capsule) = &probe.hull else {
                unreachable!()
            };
            for (t, nodes) in triangles.iter().enumerate() {
                let corners = nodes.map(|n| positions[n as usize]);
                let pair = closest::segment_triangle(capsule.a, capsule.b, corners);
                let near = pair.distance_squared.sqrt() <= capsule.radius + probe.margin;
                let named = lazy.near.binary_search(&(c as u32, t as u32)).is_ok();
                assert!(named || !near, "{k}: {t} is near and was not found");
                found += usize::from(near);
            }
        }
        before = positions;
    }
    assert!(found > 500, "{found}");
}

#[test]
fn a_corner_that_is_no_number_is_named_and_hides_nothing() {
    let (mut patch, mut positions) = sheet();
    let probe = Probe {
        hull: Hull::Capsule(needle(DVec3::new(0.034, 0.5e-3, 0.035))),
        margin: 1e-3,
        ahead: None,
    };
    let probes = [probe];
    let all = patch.gather(&probes, &positions, f64::INFINITY);
    assert!(all > 0 && patch.broken().is_none());
    positions[0] = DVec3::new(f64::NAN, 0.0, 0.0);
    assert_eq!(patch.gather(&probes, &positions, f64::INFINITY), all);
    let broken = patch.broken().unwrap() as usize;
    assert!(patch.triangles[broken].contains(&0));
    // And it is found again when it is a number again, although the way from there can't be told.
    positions[0] = DVec3::ZERO;
    let moved = patch.follow(&positions);
    assert_eq!(patch.gather(&probes, &positions, moved), all);
    assert!(patch.broken().is_none());
}

/// A thread, and a thread so short that it is a point, touch as what they are; never is that no contact.
#[test]
fn a_capsule_without_radius_or_length_touches_where_it_is() {
    let (mut patch, positions) = sheet();
    let tip = DVec3::new(0.0305, -0.002, 0.0322);
    let thread = |length: f64, tip: DVec3| Capsule {
        a: tip + DVec3::Y * length,
        b: tip,
        radius: 0.0,
    };
    // Through the sheet, and on it.
    for (length, height) in [(0.01, -0.002), (0.01, 0.0), (0.0, 0.0), (1e-300, 0.0)] {
        let found = touches(&mut patch, &positions, thread(length, tip.with_y(height)));
        assert!(!found.is_empty(), "{length} {height}");
        for touch in found {
            let [x, z] = [touch.at.x - tip.x, touch.at.z - tip.z];
            assert!(x.hypot(z) < 1e-3, "{length} {height}: {touch:?}");
            assert!(
                touch.normal.is_finite() && touch.distance == 0.0,
                "{touch:?}"
            );
        }
    }
    assert_eq!(
        touches(&mut patch, &positions, thread(0.01, tip.with_y(0.004))),
        []
    );
}

#[test]
fn an_empty_surface_touches_nothing() {
    let mut patch = Patch::new(Vec::new(), 0).unwrap();
    let probe = Probe {
        hull: Hull::Capsule(needle(DVec3::ZERO)),
        margin: 1.0,
        ahead: None,
    };
    assert_eq!(patch.gather(&[probe], &[], f64::INFINITY), 0);
}

/// A plate flung at a sheet: it touches what it will meet, where it will meet it, however far that is; and nothing that it passes.
#[test]
fn what_flies_touches_what_it_will_meet_and_nothing_beside() {
    let (mut patch, positions) = sheet();
    let at = DVec3::new(0.03, 0.04, 0.03);
    let Hull::Convex(piece) = cube(at) else {
        unreachable!()
    };
    let mut look = |way: DVec3| {
        let turn = trocar_math::rotation::from_scaled_axis(DVec3::X * 0.1);
        let probe = Probe {
            hull: Hull::Convex(piece.clone()),
            margin: way.length() + 1e-3,
            ahead: Some(Ahead {
                way: Way::Pose(Pose::new(at + way, turn)),
                watch: 1e-3,
            }),
        };
        let probes = [probe];
        let mut out = Vec::new();
        patch.gather(&probes, &positions, f64::INFINITY);
        patch.touches(&probes, &positions, &|_| DVec3::ZERO, &mut out);
        out
    };
    let down = DVec3::Y * -0.1;
    let found = look(down);
    assert!(!found.is_empty());
    for touch in &found {
        // The two points come together within the way: what is between them is what the plate goes until then.
        let corners = touch.nodes.map(|n| positions[n as usize]);
        let apart = closest::point(corners, touch.weights) - touch.at;
        assert!((-0.04..-0.02).contains(&apart.y), "{touch:?}");
        assert!(touch.normal.y < -0.9, "{touch:?}");
        assert!((apart.x.abs() + apart.z.abs()) < 0.02, "{touch:?}");
    }
    // The lowest edge of the plate meets first, and that is found: 36 mm below its middle, less by what it turns.
    let first = found
        .iter()
        .map(|t| 0.04 - t.at.y)
        .fold(f64::NEG_INFINITY, f64::max);
    assert!((2e-3..5e-3).contains(&first), "{first}");
    // Along the sheet and away from it there is nothing to meet, although the sheet is within the margin.
    assert!(look(DVec3::X * 0.1).is_empty());
    assert!(look(-down).is_empty());
    // Too short to reach it.
    assert!(look(down * 0.3).is_empty());
}

/// Hulls of every kind that creep, jump and rest, on a sheet that swings, is carried away and is cut: what is near is always what a patch finds that has just
/// been made, although the tree is seldom asked.
#[test]
fn what_is_near_does_not_depend_on_when_the_tree_was_asked() {
    let (mut patch, plain) = sheet();
    let mut knows = patch.clone();
    let mut state = 5_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1_u64 << 30) as f64 - 1.0
    };
    let (mut at, mut carried) = (DVec3::new(0.03, 2e-3, 0.03), DVec3::ZERO);
    let mut before = plain.clone();
    let mut found = 0;
    for frame in 0..600_u32 {
        let calm = frame < 300;
        if !calm {
            carried += DVec3::new(2e-4, 1e-4, 0.0);
        }
        at += match frame % 50 {
            0 => DVec3::new(next(), 0.2 * next(), next()) * 0.01,
            1..30 => DVec3::new(next(), next(), next()) * 2e-4,
            _ => DVec3::ZERO,
        };
        let swing = |p: &DVec3| {
            let phase = 0.2 * f64::from(frame) + 90.0 * p.x;
            *p + carried + DVec3::Y * (1e-3 * trocar_math::real::sin(phase))
        };
        let positions: Vec<DVec3> = plain.iter().map(swing).collect();
        let moved = before
            .iter()
            .zip(&positions)
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f64::max);
        before.clone_from(&positions);
        let probe = |hull: Hull| Probe {
            hull,
            margin: 1e-3 + 5e-4 * f64::from(frame % 3),
            ahead: None,
        };
        let probes = [
            probe(Hull::Capsule(needle(at + carried))),
            probe(Hull::Below(carried - DVec3::Y * 5e-4, DVec3::Y)),
            probe(cube(at + carried)),
        ];
        if frame % 97 == 40 {
            // A cut, and what was cut is closed again elsewhere.
            let changes = [
                Change {
                    triangle: 60,
                    corners: (frame % 2 == 0).then_some([30, 39, 31]),
                },
                Change {
                    triangle: 61,
                    corners: Some([31, 39, 40]),
                },
            ];
            patch.edit(&changes, &positions).unwrap();
            knows.edit(&changes, &positions).unwrap();
        }
        let wants = |p: usize| p != 1 || frame % 40 < 30;
        let told = if frame == 0 { f64::INFINITY } else { moved };
        patch.gather_some(&probes, wants, &positions, told);
        let told = knows.follow(&positions);
        knows.gather_some(&probes, wants, &positions, told);
        let numbers = (0..).zip(patch.triangles.iter().copied());
        let mut fresh = Patch::over(numbers.filter(|t| t.1 != GONE), positions.len()).unwrap();
        fresh.gather_some(&probes, wants, &positions, f64::INFINITY);
        assert_eq!(patch.near, fresh.near, "frame {frame}");
        assert_eq!(knows.near, fresh.near, "frame {frame}");
        assert_eq!(patch.near_corners, fresh.near_corners, "frame {frame}");
        found += fresh.near.len();
    }
    assert!(found > 20_000, "{found}");
    // Three probes in 600 frames.
    let [some, few] = [patch.looks(), knows.looks()];
    assert!(some < 900 && few < 900, "{some} {few}");
}

/// Too few positions are told of, and hide nothing from those who ask again with all.
#[test]
fn a_patch_asked_too_early_is_whole_later() {
    let triangles = vec![[0, 1, 2], [1, 3, 2]];
    let positions = [DVec3::ZERO, DVec3::X, DVec3::Z, DVec3::new(1.0, 0.0, 1.0)];
    let probes = [Probe {
        hull: Hull::Capsule(Capsule {
            a: DVec3::new(0.7, 0.1, 0.7),
            b: DVec3::new(0.7, 0.5, 0.7),
            radius: 0.2,
        }),
        margin: 0.0,
        ahead: None,
    }];
    let mut patch = Patch::new(triangles, 4).unwrap();
    assert_eq!(patch.gather(&probes, &positions[..3], f64::INFINITY), 0);
    assert!(patch.broken().is_some());
    let mut edited = patch.clone();
    assert!(edited.edit(&[], &positions[..3]).is_err());
    assert!(patch.gather(&probes, &positions, f64::INFINITY) > 0);
    assert!(patch.broken().is_none());
}

/// What was gathered holds until probe and surface have used up the margin that it was gathered with, whichever of them moved, and what has come near then is not among it.
#[test]
fn what_was_gathered_holds_as_far_as_it_reached() {
    let (mut patch, mut positions) = sheet();
    let ball = |height: f64, margin: f64| Probe {
        hull: Hull::Capsule(Capsule {
            a: DVec3::new(0.03, height, 0.03),
            b: DVec3::new(0.031, height, 0.03),
            radius: 1e-3,
        }),
        margin,
        ahead: None,
    };
    assert!(
        !patch.holds(&[ball(0.01, 0.001)], 0.0),
        "nothing was gathered"
    );
    patch.follow(&positions);
    assert_eq!(
        patch.gather(&[ball(0.01, 0.004)], &positions, f64::INFINITY),
        0
    );
    for (height, margin, used, holds) in [
        (0.01, 0.004, 0.0, true),
        (0.01, 0.001, 0.0029, true),
        (0.01, 0.001, 0.0031, false),
        (0.008, 0.001, 0.0009, true),
        (0.008, 0.001, 0.0011, false),
        (0.01, 0.005, 0.0, false),
        (0.01, 0.001, f64::NAN, false),
        (f64::NAN, 0.001, 0.0, false),
    ] {
        let held = patch.holds(&[ball(height, margin)], used);
        assert_eq!(held, holds, "{height} {margin} {used}");
    }
    assert!(!patch.holds(&[], 0.0), "others");
    let cube = |height: f64, margin: f64| Probe {
        hull: cube(DVec3::new(0.03, height, 0.03)),
        margin,
        ahead: None,
    };
    patch.gather(&[cube(0.01, 0.004)], &positions, 0.0);
    assert!(patch.holds(&[cube(0.009, 0.001)], 0.0019));
    assert!(!patch.holds(&[cube(0.009, 0.001)], 0.0021));
    assert!(!patch.holds(&[ball(0.01, 0.001)], 0.0), "of another kind");
    let mut velocities = vec![DVec3::X; positions.len()];
    velocities[7] = DVec3::Y * -3.0;
    let strayed = |positions: &[DVec3]| patch.strayed(positions, &velocities, &Alone);
    assert_eq!(strayed(&positions), (0.0, 3.0));
    positions[40].y += 0.003;
    let (far, speed) = strayed(&positions);
    assert!((far - 0.003).abs() < 1e-12 && speed == 3.0);
    assert_eq!(strayed(&positions[1..]).0, f64::INFINITY);
    // Without velocities nobody asks for a speed; of others nobody knows how fast they are. As when it is followed.
    for (some, speed) in [(&velocities[..0], 0.0), (&velocities[1..], f64::INFINITY)] {
        let found = patch.strayed(&positions, some, &Alone);
        assert!((found.0 - 0.003).abs() < 1e-12 && found.1 == speed);
        let mut patch = patch.clone();
        assert_eq!(patch.follow_by(&positions, some, &Alone), found);
    }
}

/// As a list says that is gone through as a whole.
#[test]
fn what_is_inherited_and_edited_is_what_going_through_everything_gives() {
    let mut seed = 7_u32;
    let mut random = |below: u32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) % below
    };
    let (start, positions) = sheet();
    let all: Vec<[u32; 3]> = start.triangles().collect();
    let probes: Vec<Probe> = (0..3)
        .map(|k| Probe {
            hull: Hull::Capsule(Capsule {
                a: DVec3::new(0.005 + 0.02 * f64::from(k), 1e-3, 0.0),
                b: DVec3::new(0.01, 1e-3, 0.06),
                radius: 2e-3,
            }),
            margin: 6e-3,
            ahead: None,
        })
        .collect();
    let mut out = Vec::new();
    for _ in 0..300 {
        let mut patch = start.clone();
        let gone = [40, 41, 50].map(|triangle| Change {
            triangle,
            corners: None,
        });
        patch.edit(&gone, &positions).unwrap();
        patch.gather(&probes, &positions, f64::INFINITY);
        patch.touches(&probes, &positions, &|_| DVec3::ZERO, &mut out);
        let mut sides: Vec<Side> = patch.sides().to_vec();
        assert!(sides.len() > 60);
        let count = all.len() as u32 + 4;
        let mut list: Vec<[u32; 3]> = all.clone();
        list.resize(count as usize, GONE);
        gone.iter().for_each(|c| list[c.triangle as usize] = GONE);
        for _ in 0..2 {
            let origins: Vec<[u32; 2]> = (0..random(5))
                .map(|_| [random(count), random(count)])
                .collect();
            patch.inherit(&origins);
            let changed = || origins.iter().filter(|[new, from]| new != from);
            let mut now: Vec<Side> = sides.clone();
            now.retain(|s| !changed().any(|[new, _]| *new == s.1));
            for (probe, triangle, side) in &sides {
                let heirs = changed().filter(|[_, from]| from == triangle);
                now.extend(heirs.map(|[new, _]| (*probe, *new, *side)));
            }
            now.sort_unstable();
            now.dedup_by_key(|s| (s.0, s.1));
            sides = now;
            assert_eq!(patch.sides(), sides);
        }
        let change = |triangle: u32, gone: bool| Change {
            triangle,
            corners: (!gone).then_some(all[triangle as usize % all.len()]),
        };
        let changes: Vec<Change> = (0..random(6))
            .map(|_| change(random(count), random(3) == 0))
            .collect();
        patch.edit(&changes, &positions).unwrap();
        for change in &changes {
            list[change.triangle as usize] = change.corners.unwrap_or(GONE);
        }
        sides.retain(|s| list[s.1 as usize] != GONE);
        assert_eq!(patch.sides(), sides);
        let near: Vec<u32> = patch.near_nodes().collect();
        let expected = patch.near.iter().flat_map(|pair| list[pair.1 as usize]);
        assert!(expected.eq(near) && patch.near.is_sorted());
    }
}

#[test]
fn what_is_inherited_by_a_triangle_that_does_not_come_is_forgotten() {
    let (mut patch, positions) = sheet();
    let tool = needle(DVec3::new(0.03, 5e-4, 0.03));
    assert!(!touches(&mut patch, &positions, tool).is_empty());
    let (probe, from, _) = patch.sides()[0];
    patch.inherit(&[[9999, from]]);
    assert!(patch.sides().iter().any(|s| (s.0, s.1) == (probe, 9999)));
    patch.edit(&[], &positions).unwrap();
    assert!(patch.sides().iter().all(|s| s.1 != 9999));
}

#[test]
fn boxes_that_are_shown_hold_what_swings_in_them() {
    let count = 12_u32;
    let at = |r: u32, c: u32| r * count + c;
    let squares = (0..count - 1).flat_map(|r| (0..count - 1).map(move |c| (r, c)));
    let triangles: Vec<[u32; 3]> = squares
        .flat_map(|(r, c)| {
            let [p, q, s, t] = [at(r, c), at(r, c + 1), at(r + 1, c + 1), at(r + 1, c)];
            [[p, q, s], [p, s, t]]
        })
        .collect();
    let rest: Vec<DVec3> = (0..count * count)
        .map(|n| DVec3::new(f64::from(n % count), 0.0, f64::from(n / count)) * 0.01)
        .collect();
    let mut patch = Patch::new(triangles, rest.len()).unwrap();
    let probe = Probe {
        hull: Hull::Capsule(Capsule {
            a: DVec3::new(0.05, 0.02, 0.05),
            b: DVec3::new(0.05, 0.06, 0.05),
            radius: 0.003,
        }),
        margin: 0.01,
        ahead: None,
    };
    let moved = patch.follow(&rest);
    patch.gather(std::slice::from_ref(&probe), &rest, moved);
    // All of it swings up by less than the probe reaches.
    let up: Vec<DVec3> = rest.iter().map(|p| *p + DVec3::Y * 0.004).collect();
    let moved = patch.follow(&up);
    patch.gather(std::slice::from_ref(&probe), &up, moved);
    let mut all = Bounds::EMPTY;
    patch.see_boxes(&mut Vec::new(), |_, bounds, _| {
        all.add(bounds.low);
        all.add(bounds.high);
        assert!(bounds.high.y >= 0.004, "{bounds:?}");
    });
    assert!(
        up.iter()
            .all(|p| all.low.cmple(*p).all() && p.cmple(all.high).all())
    );
}

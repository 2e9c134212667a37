//! Points, edges and capsules that go straight: what is said not to meet is apart at many times on the way, and what is no number may meet.

#![no_main]

use arbitrary::Arbitrary;
use glam::DVec3;
use libfuzzer_sys::fuzz_target;
use trocar_collide::{
    closest, segment_triangle,
    sweep::{self, Impact, Moving},
};

#[derive(Arbitrary, Debug)]
struct Case {
    from: [[i8; 3]; 6],
    ways: [[i8; 3]; 6],
    /// Sixteenths of a unit.
    radius: u8,
    wild: Option<(u8, f64)>,
}

const TOLERANCE: f64 = 1e-7;

/// Checks what was found against the distance at many times.
fn check(found: Option<Impact>, sound: bool, radius: f64, distance: impl Fn(f64) -> f64) {
    let Some(impact) = found else {
        assert!(sound, "what is no number may meet");
        for k in 0..=64 {
            let time = f64::from(k) / 64.0;
            assert!(distance(time) > radius, "at {time}");
        }
        return;
    };
    assert!((0.0..=1.0).contains(&impact.time), "{impact:?}");
    if sound {
        let before = impact.time * 0.999;
        assert!(before == 0.0 || distance(before) > radius - 1e-9, "{impact:?}");
        if impact.certain {
            assert!(distance(impact.time) <= radius + 2.0 * TOLERANCE, "{impact:?}");
        }
    }
}

fuzz_target!(|case: Case| {
    let place = |p: [i8; 3]| DVec3::from(p.map(|x| f64::from(x) / 16.0));
    let mut all: [Moving; 6] = std::array::from_fn(|k| Moving {
        from: place(case.from[k]),
        way: place(case.ways[k]),
    });
    if let Some((at, number)) = case.wild {
        let point = &mut all[usize::from(at) % 6];
        let part = if at & 64 == 0 { &mut point.from } else { &mut point.way };
        part[usize::from(at) / 6 % 3] = number;
    }
    let fits = |p: DVec3| p.is_finite() && p.abs().max_element() < 100.0;
    let sound = all.iter().all(|m| fits(m.from) && fits(m.way));
    let finite = all.iter().all(|m| m.from.is_finite() && m.way.is_finite());
    let radius = f64::from(case.radius % 32) / 16.0;
    let [a, b, c, d, e, f] = all;
    let found = [
        sweep::point_triangle(a, [b, c, d], radius, TOLERANCE),
        sweep::edge_edge([a, b], [c, d], radius, TOLERANCE),
        sweep::capsule_triangle([a, b], [c, e, f], radius, TOLERANCE),
    ];
    if finite && !sound {
        // So large that rounding is: no panic, no endless loop.
        return;
    }
    let of = |used: &[Moving]| used.iter().all(|m| fits(m.from) && fits(m.way));
    check(found[0], of(&[a, b, c, d]), radius, |time| {
        let corners = [b, c, d].map(|m| m.at(time));
        closest::point(corners, closest::on_triangle(a.at(time), corners)).distance(a.at(time))
    });
    check(found[1], of(&[a, b, c, d]), radius, |time| {
        let [p, q, r, s] = [a, b, c, d].map(|m| m.at(time));
        let (x, y) = closest::segment_segment(p, q, r, s);
        p.lerp(q, x).distance(r.lerp(s, y))
    });
    check(found[2], of(&[a, b, c, e, f]), radius, |time| {
        let corners = [c, e, f].map(|m| m.at(time));
        segment_triangle(a.at(time), b.at(time), corners).distance_squared.sqrt()
    });
});

//! Whether two triangles touch, and how, does not depend on which comes first, on the order of corners, on where they are and how large.

#![no_main]

use arbitrary::Arbitrary;
use glam::DVec3;
use libfuzzer_sys::fuzz_target;
use trocar_collide::triangle::{Contact, contact, touch};

#[derive(Arbitrary, Debug)]
struct Case {
    /// Few different numbers, so that singular placements are frequent.
    corners: [[[i8; 3]; 3]; 2],
    narrow: u8,
    shift: [i16; 3],
    power: i8,
    wild: [[[f64; 3]; 3]; 2],
}

type Triangle = [DVec3; 3];

const ORDERS: [[usize; 3]; 6] = [
    [0, 1, 2],
    [1, 2, 0],
    [2, 0, 1],
    [0, 2, 1],
    [2, 1, 0],
    [1, 0, 2],
];

fn kind(a: &Triangle, b: &Triangle) -> u8 {
    let found = contact(a, b);
    assert_eq!(touch(a, b), found.exists(), "{a:?} {b:?}");
    match found {
        Contact::None => 0,
        Contact::Point(_) => 1,
        Contact::Segment(_) => 2,
        Contact::Polygon(_) => 3,
        Contact::Unknown => 4,
    }
}

fuzz_target!(|case: Case| {
    let narrow = case.narrow % 8;
    let [a, b] = case
        .corners
        .map(|t| t.map(|p| DVec3::from(p.map(|x| f64::from(x >> narrow)))));
    let wanted = kind(&a, &b);
    for i in ORDERS {
        for j in ORDERS {
            let (a, b) = (i.map(|k| a[k]), j.map(|k| b[k]));
            assert_eq!(kind(&a, &b), wanted, "{a:?} {b:?}");
            assert_eq!(kind(&b, &a), wanted, "{b:?} {a:?}");
        }
    }
    // Nothing of this rounds. Times a great odd number there are too many bits for what is quick where nothing is rounded.
    let shift = DVec3::from(case.shift.map(f64::from));
    let scale = (0..case.power.unsigned_abs()).fold(1.0, |s, _| if case.power < 0 { s * 0.5 } else { s * 2.0 });
    for factor in [1.0, 131_073.0, 33_554_431.0] {
        let moved = |t: Triangle| t.map(|p| (p + shift) * factor * scale);
        assert_eq!(kind(&moved(a), &moved(b)), wanted, "{a:?} {b:?} {factor}");
    }
    // Anything at all: no panic, and the same from both sides within what is promised.
    let [a, b] = case.wild.map(|t| t.map(DVec3::from));
    let fits = |p: &DVec3| {
        let all = p.to_array();
        all.iter().all(|x| *x == 0.0 || (1e-75..=1e75).contains(&x.abs()))
    };
    if a.iter().chain(&b).all(fits) {
        assert_eq!(kind(&a, &b), kind(&b, &a), "{a:?} {b:?}");
    } else {
        touch(&a, &b);
        contact(&a, &b);
    }
});

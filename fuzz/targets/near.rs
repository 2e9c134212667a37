//! Things and boxes of any numbers: no pair that may touch is missing, however seldom anybody looks.

#![no_main]

use arbitrary::Arbitrary;
use glam::DVec3;
use libfuzzer_sys::fuzz_target;
use trocar_collide::near::{Near, Thing, overlap};
use trocar_math::Bounds;

#[derive(Arbitrary, Debug)]
struct Case {
    frames: Vec<Vec<([i8; 3], [u8; 3], u8)>>,
    wild: Option<(u8, u8, f64)>,
    room: f64,
}

fuzz_target!(|case: Case| {
    let (mut near, mut boxes) = (Near::default(), Near::default());
    for (k, frame) in case.frames.iter().take(12).enumerate() {
        let mut things: Vec<Thing> = frame
            .iter()
            .take(16)
            .map(|(at, size, speed)| {
                let low = DVec3::from(at.map(f64::from));
                Thing {
                    bounds: Bounds {
                        low,
                        high: low + DVec3::from(size.map(f64::from)),
                    },
                    speed: f64::from(*speed),
                    margin: 0.5,
                }
            })
            .collect();
        if let Some((when, which, number)) = case.wild
            && usize::from(when) % 12 == k
            && !things.is_empty()
        {
            let count = things.len();
            let thing = &mut things[usize::from(which) % count];
            match which >> 6 {
                0 => thing.bounds.low.y = number,
                1 => thing.bounds.high.x = number,
                2 => thing.speed = number,
                _ => thing.margin = number,
            }
        }
        let found = near.update(&things, 0.1, |_, _| true);
        assert!(found.is_sorted());
        let bounds: Vec<Bounds> = things.iter().map(|t| t.bounds).collect();
        let left = bounds.iter().enumerate().any(|(k, b)| boxes.leaves(k, b));
        let may = boxes.of_bounds(&bounds, left, |_| case.room.abs(), |_, _| true);
        let out: Vec<_> = may.iter().filter(|p| overlap(&bounds, p)).copied().collect();
        let grown = |t: &Thing| t.bounds.grown(t.margin).certain();
        for a in 0..things.len() {
            for b in a + 1..things.len() {
                let has = |list: &[trocar_collide::rigid::Pair]| {
                    list.iter().any(|p| (p.a as usize, p.b as usize) == (a, b))
                };
                assert!(!grown(&things[a]).overlaps(&grown(&things[b])) || has(found), "{a} {b}");
                let wanted = bounds[a].certain().overlaps(&bounds[b].certain());
                assert_eq!(has(&out), wanted, "{a} {b}");
            }
        }
    }
});

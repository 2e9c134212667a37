//! Whatever is edited and moved, trees find the pairs that comparing all with all finds; what is refused changes nothing.

#![no_main]

use arbitrary::Arbitrary;
use glam::DVec3;
use libfuzzer_sys::fuzz_target;
use trocar_collide::{
    tree::{
        Change, Search, Side, Tree,
        hybrid::{Axis, Hybrid, Rules, Split, Tiers},
    },
    triangle::touch,
};

#[derive(Arbitrary, Debug)]
struct Case {
    places: Vec<[i8; 3]>,
    triangles: Vec<[u8; 3]>,
    rounds: Vec<Round>,
    tiers: [u8; 2],
    leaf: u8,
    levels: u8,
    mean: bool,
    slack: bool,
}

#[derive(Arbitrary, Debug)]
struct Round {
    changes: Vec<(u8, Option<[u8; 3]>)>,
    moves: Vec<(u8, [i8; 3])>,
    /// A node that is nowhere.
    lost: Option<u8>,
}

fn place(p: [i8; 3]) -> DVec3 {
    DVec3::from(p.map(|x| f64::from(x) / 16.0))
}

fuzz_target!(|case: Case| {
    let mut positions: Vec<DVec3> = case.places.iter().take(60).copied().map(place).collect();
    if positions.is_empty() {
        return;
    }
    let count = positions.len();
    let triangle = |t: &[u8; 3]| t.map(|n| u32::from(n) % count as u32);
    let triangles: Vec<[u32; 3]> = case.triangles.iter().take(80).map(triangle).collect();
    let rules = Rules {
        tiers: Tiers {
            upper: (case.tiers[0] % 8).into(),
            middle: (case.tiers[1] % 8).into(),
        },
        axis: [Axis::Extent, Axis::Variance, Axis::Volume][usize::from(case.leaf % 3)],
        split: if case.mean { Split::Mean } else { Split::Median },
        leaf: (case.leaf % 12).into(),
        levels: (case.levels % 16).into(),
        slack: if case.slack { 0.25 } else { 0.0 },
    };
    let (Ok(mut tree), Ok(mut hybrid)) = (
        Tree::new(&triangles, &positions),
        Hybrid::new(&triangles, &positions, rules),
    ) else {
        panic!("a sound mesh is refused");
    };
    let mut list: Vec<Option<[u32; 3]>> = triangles.iter().copied().map(Some).collect();
    let (mut search, mut out) = (Search::default(), Vec::new());
    for round in case.rounds.iter().take(8) {
        let changes: Vec<Change> = round
            .changes
            .iter()
            .take(60)
            .map(|(t, corners)| Change {
                triangle: u32::from(*t) % (list.len() as u32 + 9),
                corners: corners.as_ref().map(|t| {
                    // Now and then one that does not exist.
                    if t == &[255; 3] { [count as u32; 3] } else { triangle(t) }
                }),
            })
            .collect();
        let (done, also) = (
            tree.edit(&changes, &positions),
            hybrid.edit(&changes, &positions),
        );
        assert_eq!(done, also);
        if done.is_ok() {
            for Change { triangle, corners } in &changes {
                let at = *triangle as usize;
                if at >= list.len() {
                    list.resize(at + 1, None);
                }
                list[at] = *corners;
            }
        }
        let there: Vec<(u32, [u32; 3])> = (0..)
            .zip(&list)
            .filter_map(|(i, t)| t.map(|t| (i, t)))
            .collect();
        assert_eq!(tree.len(), there.len());
        assert_eq!(hybrid.len(), there.len());
        // A node that is nowhere is named by both or by neither, and what is elsewhere is found again when it is back.
        if let Some(lost) = round.lost {
            let at = usize::from(lost) % count;
            let sound = std::mem::replace(&mut positions[at], DVec3::NAN);
            assert_eq!(tree.refit(&positions), hybrid.refit(&positions).map(|_| ()));
            positions[at] = sound;
        }
        for (node, to) in round.moves.iter().take(20) {
            positions[usize::from(*node) % count] = place(*to);
        }
        assert!(tree.refit(&positions).is_ok() && hybrid.refit(&positions).is_ok());
        let corners = |t: [u32; 3]| t.map(|n| positions[n as usize]);
        let mut wanted = Vec::new();
        for (i, s) in &there {
            for (j, t) in &there {
                if touch(&corners(*s), &corners(*t)) {
                    wanted.push([*i, *j]);
                }
            }
        }
        let side = Side {
            tree: &tree,
            positions: &positions,
        };
        assert_eq!(search.between(side, side), &wanted[..]);
        hybrid.pairs(&positions, (&hybrid, &positions), touch, &mut out);
        assert_eq!(out, wanted);
        let apart = |pair: &[u32; 2]| {
            let [a, b] = pair.map(|t| list[t as usize].unwrap_or_default());
            pair[0] < pair[1] && !a.iter().any(|n| b.contains(n))
        };
        wanted.retain(apart);
        assert_eq!(search.within(side), &wanted[..]);
    }
});

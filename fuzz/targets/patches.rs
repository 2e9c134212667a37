//! A surface that moves and is edited, and tools and bodies of every kind at any place: what is gathered is what a surface made anew gathers; what capsules touch, and nodes in bodies with a grid, is
//! found by comparing with all; what is at no place is named.

#![no_main]

use arbitrary::Arbitrary;
use glam::DVec3;
use libfuzzer_sys::fuzz_target;
use std::sync::{Arc, LazyLock};
use trocar_collide::{
    Ahead, Capsule, Hull, Patch, Probe, Touch, Way, closest,
    grid::Grid,
    rigid::{Form, Shape},
    segment_triangle,
    tree::Change,
};
use trocar_math::{Bounds, Pose, rotation};

#[derive(Arbitrary, Debug)]
struct Case {
    places: Vec<[i8; 3]>,
    triangles: Vec<[u8; 3]>,
    frames: Vec<Frame>,
}

#[derive(Arbitrary, Debug)]
struct Frame {
    changes: Vec<(u8, Option<[u8; 3]>)>,
    /// Moved, by so much or to another place.
    moves: Vec<(u8, [i8; 3], bool)>,
    new: Option<[i8; 3]>,
    lost: Option<u8>,
    probes: Vec<Tool>,
    inherits: Vec<[u8; 2]>,
}

#[derive(Arbitrary, Debug)]
struct Tool {
    kind: u8,
    at: [i8; 3],
    to: [i8; 3],
    turn: [i8; 3],
    radius: u8,
    margin: u8,
    ahead: Option<([i8; 3], [i8; 3], u8)>,
    wild: Option<f64>,
}

fn place(p: [i8; 3]) -> DVec3 {
    DVec3::from(p.map(|x| f64::from(x) / 16.0))
}

/// A wedge with cells of a quarter.
static WEDGE: LazyLock<Option<Arc<Grid>>> = LazyLock::new(|| {
    let corners = [
        [-1.0, -1.0, -1.0],
        [1.0, -1.0, -1.0],
        [0.0, 1.0, -1.0],
        [-1.0, -1.0, 1.0],
        [1.0, -1.0, 1.0],
        [0.0, 1.0, 1.0],
    ];
    let faces = [
        [0, 2, 1],
        [3, 4, 5],
        [0, 1, 4],
        [0, 4, 3],
        [1, 2, 5],
        [1, 5, 4],
        [2, 0, 3],
        [2, 3, 5],
    ];
    let corners = corners.map(DVec3::from_array);
    Grid::new(&corners, &faces, 0.25).ok().map(Arc::new)
});

fn probe(tool: &Tool) -> Option<Probe> {
    let turned = |turn: [i8; 3]| rotation::from_scaled_axis(place(turn) * 0.4);
    let mut pose = Pose::new(place(tool.at), turned(tool.turn));
    let mut end = place(tool.to);
    let mut radius = f64::from(tool.radius) / 64.0;
    if let Some(number) = tool.wild {
        match tool.radius % 3 {
            0 => pose.position.y = number,
            1 => end.x = number,
            _ => radius = number.abs(),
        }
    }
    let hull = match tool.kind % 4 {
        0 => Hull::Capsule(Capsule {
            a: pose.position,
            b: end,
            radius,
        }),
        1 => Hull::Below(pose.position, pose.rotation * DVec3::Y),
        2 => {
            let half = DVec3::new(0.5, 0.25, 1.0);
            Hull::Convex(Shape::new(&Form::Box { half }).ok()?.piece(0, &pose))
        }
        _ => Hull::Grid(WEDGE.clone()?, pose),
    };
    let ahead = tool.ahead.as_ref().map(|(way, turn, watch)| Ahead {
        way: match hull {
            Hull::Capsule(_) => Way::Axis([place(*way), place(*turn)]),
            _ => Way::Pose(Pose::new(
                pose.position + place(*way),
                turned(*turn) * pose.rotation,
            )),
        },
        watch: f64::from(*watch) / 256.0,
    });
    Some(Probe {
        hull,
        margin: f64::from(tool.margin) / 32.0,
        ahead,
    })
}

/// The nodes that bear a touch.
fn bears(touch: &Touch) -> impl Iterator<Item = u32> {
    let borne = touch.nodes.into_iter().zip(touch.weights);
    borne.filter(|(_, w)| *w > 1e-9).map(|(n, _)| n)
}

fuzz_target!(|case: Case| {
    let mut positions: Vec<DVec3> = case.places.iter().take(24).copied().map(place).collect();
    if positions.is_empty() {
        return;
    }
    let on = |t: &[u8; 3], count: usize| t.map(|n| u32::from(n) % count as u32);
    let count = positions.len();
    let triangles = case.triangles.iter().take(30).map(|t| on(t, count));
    let mut list: Vec<Option<[u32; 3]>> = triangles.map(Some).collect();
    let Ok(mut patch) = Patch::over((0..).zip(list.iter().copied().flatten()), count) else {
        panic!("a sound surface is refused");
    };
    let mut out = Vec::new();
    for frame in case.frames.iter().take(6) {
        for (node, to, far) in frame.moves.iter().take(8) {
            let at = usize::from(*node) % positions.len();
            positions[at] = if *far { place(*to) } else { positions[at] + 0.02 * place(*to) };
        }
        if let Some(new) = frame.new {
            positions.push(place(new));
        }
        let origins = frame.inherits.iter().take(3);
        let origins: Vec<[u32; 2]> = origins.map(|pair| pair.map(|t| u32::from(t) % 40)).collect();
        patch.inherit(&origins);
        let mut changes = Vec::new();
        for (t, corners) in frame.changes.iter().take(12) {
            let at = usize::from(*t) % (list.len() + 2);
            if at >= list.len() {
                list.resize(at + 1, None);
            }
            list[at] = corners.as_ref().map(|t| on(t, positions.len()));
            changes.push(Change {
                triangle: at as u32,
                corners: list[at],
            });
        }
        if patch.edit(&changes, &positions).is_err() {
            panic!("a sound edit is refused");
        }
        let there: Vec<(u32, [u32; 3])> = (0..)
            .zip(&list)
            .filter_map(|(t, corners)| corners.map(|c| (t, c)))
            .collect();
        assert!(patch.triangles().eq(there.iter().map(|t| t.1)));
        let Ok(mut fresh) = Patch::over(there.iter().copied(), positions.len()) else {
            panic!("a sound surface is refused");
        };
        let probes: Vec<Probe> = frame.probes.iter().take(5).filter_map(probe).collect();
        let mut now = positions.clone();
        if let Some(lost) = frame.lost {
            let at = usize::from(lost) % now.len();
            now[at].z = f64::NAN;
        }
        let moved = patch.follow(&now);
        patch.gather(&probes, &now, moved);
        fresh.gather(&probes, &now, f64::INFINITY);
        let near: Vec<u32> = patch.near_nodes().collect();
        assert!(fresh.near_nodes().eq(near.iter().copied()));
        assert_eq!(patch.pairs(), fresh.pairs());
        let lost = probes.iter().position(|p| !p.is_placed());
        assert_eq!(patch.lost(), lost);
        let corners = |t: &[u32; 3]| t.map(|n| now[n as usize]);
        let sound = |t: &[u32; 3]| corners(t).iter().all(|p| p.is_finite());
        let nowhere = there.iter().find(|t| !sound(&t.1)).map(|t| t.0);
        if probes.iter().any(|p| p.is_placed()) {
            assert_eq!(patch.broken().is_some(), nowhere.is_some());
        }
        patch.touches(&probes, &now, &|_| DVec3::ZERO, &mut out);
        assert_eq!(patch.lost(), lost);
        for touch in &out {
            let finite = touch.at.is_finite() && touch.normal.is_finite();
            assert!(finite || !probes[touch.probe].is_placed(), "{touch:?}");
            assert!((touch.weights.iter().sum::<f64>() - 1.0).abs() < 1e-6);
        }
        let sound_ones = || there.iter().map(|t| &t.1).filter(|t| sound(t));
        for (c, probe) in probes.iter().enumerate().filter(|(_, p)| p.is_placed()) {
            let own = || out.iter().filter(|touch| touch.probe == c);
            match &probe.hull {
                Hull::Capsule(capsule) => {
                    // A tool that knows its way meets only what it watches, or what comes.
                    let reach = match probe.ahead {
                        None => capsule.radius + probe.margin,
                        Some(ahead) => capsule.radius + ahead.watch.min(probe.margin),
                    };
                    // What is metres long is as exact as its coordinates.
                    let size = capsule.a.abs().max(capsule.b.abs()).max_element();
                    let small = size < 1e3;
                    for t in sound_ones() {
                        let pair = segment_triangle(capsule.a, capsule.b, corners(t));
                        let far = pair.distance_squared.sqrt();
                        let on_it = |touch: &Touch| bears(touch).all(|n| t.contains(&n));
                        if small && far < reach - 1e-9 {
                            assert!(own().any(on_it), "{t:?} {far} {reach}");
                        }
                    }
                    let all = capsule.radius + probe.margin;
                    for touch in own().filter(|_| small && probe.ahead.is_none()) {
                        let place = closest::point(corners(&touch.nodes), touch.weights);
                        assert!(place.distance(touch.at) <= all * (1.0 + 1e-6) + 1e-6);
                    }
                }
                Hull::Below(point, normal) => {
                    for n in sound_ones().flatten() {
                        let height = (now[*n as usize] - *point).dot(*normal);
                        let touched = own().any(|t| bears(t).eq([*n]));
                        assert!(touched || height >= probe.margin - 1e-9, "{n} {height}");
                    }
                }
                Hull::Convex(_) => {}
                Hull::Grid(grid, pose) => {
                    let watch = probe.ahead.map_or(probe.margin, |ahead| ahead.watch);
                    let skin = watch.min(grid.cell()).min(probe.margin);
                    for n in sound_ones().flatten() {
                        let at = grid.at(pose.local(now[*n as usize]));
                        let deep = at.is_some_and(|at| at.depth >= -skin + 1e-4);
                        assert!(!deep || own().any(|t| bears(t).eq([*n])), "{n}");
                    }
                }
            }
            // Everything in its box is gathered, of bodies nothing else.
            if matches!(probe.hull, Hull::Convex(_) | Hull::Grid(..)) {
                let bounds = probe.bounds();
                for t in sound_ones() {
                    let is_near = near.chunks(3).any(|u| u == t);
                    assert!(is_near || !Bounds::of(corners(t)).overlaps(&bounds), "{t:?}");
                }
            }
        }
    }
});

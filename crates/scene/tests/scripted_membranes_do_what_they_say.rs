//! Scenes of membranes that have a script, left to themselves until it ends: what they are there to show has happened then.

#![allow(clippy::unwrap_used)]

mod common;

use common::{is_sound, scenes, simulation};
use glam::DVec3;
use trocar_dynamics::Nodes;
use trocar_scene::{Scene, Simulation, event::Happening};
use trocar_soft::membrane::Membrane;

/// A scene after so many seconds without a hand; `see` after every step.
fn played(name: &str, seconds: f64, mut see: impl FnMut(&Membrane, &Nodes, f64)) -> Simulation {
    let scene = Scene::load(scenes().join(name)).unwrap();
    let mut simulation = simulation(&scene, 1);
    let input = simulation.idle_input();
    let matter = simulation.model().films[0].matter;
    let mut time = 0.0;
    while time < seconds {
        simulation.step(&input);
        time += input.dt;
        for event in &simulation.report().events {
            let bad = matches!(event.what, Happening::Quarantined { .. });
            assert!(!bad, "{name}, {time} s: {}", event.what);
        }
        let membrane = simulation.model().membrane(matter).unwrap();
        see(membrane, &simulation.state().nodes[matter.index()], time);
    }
    assert!(is_sound(&simulation, 5.0), "{name}");
    simulation
}

#[test]
fn peeling_peels_and_nothing_sinks_into_the_ground() {
    let mut deepest = 0.0_f64;
    let mut before = 1.0;
    let simulation = played("peeling.toml", 9.5, |membrane, nodes, time| {
        for n in membrane.sheet().nodes() {
            // The ball below it is about the origin, and rests.
            deepest = deepest.max(0.012 - nodes.position[n.slot()].length());
        }
        if time < 1.4 {
            before = membrane.attachment(membrane.sheet().node_at(0).slot());
        }
    });
    assert_eq!(before, 1.0, "nothing comes off before it is taken");
    let torn = &simulation.torn()[0];
    let attached = torn.attached.unwrap();
    assert!(attached < 0.7, "{torn:?}");
    assert!((torn.area - 1.0).abs() < 1e-9, "{torn:?}");
    // A node is pressed into it by its springs for a moment, by less than a tenth of an edge.
    assert!(deepest < 5e-5, "{deepest}");
}

#[test]
fn the_strip_is_dragged_to_and_fro() {
    let mut ways = Vec::new();
    let simulation = played("strip.toml", 13.5, |membrane, nodes, time| {
        let all = membrane.sheet().nodes();
        let (sum, count) = all.fold((0.0, 0.0), |(sum, count), n| {
            let off = nodes.position[n.slot()].x - membrane.sheet().rest(n).x;
            (sum + off, count + 1.0)
        });
        ways.push((time, sum / count));
    });
    let at = |seconds: f64| {
        let place = ways.iter().position(|(t, _)| *t >= seconds).unwrap();
        ways[place].1
    };
    // The mean of all nodes, of which those at both ends are held. Friction draws it along on the way there, the other way on the way back, and lets go in the end.
    let (there, back, rest) = (at(4.0), at(9.0), at(13.4));
    assert!(there > 1e-6, "{there}");
    assert!(back < -1e-6, "{back}");
    assert!(rest.abs() < 0.5 * there, "{rest}");
    assert_eq!(simulation.torn()[0].pieces, 1);
}

#[test]
fn a_needle_in_a_slit_leads_the_tear_along_its_bow() {
    let simulation = played("needle-sheet.toml", 14.2, |_, _, _| {});
    let torn = &simulation.torn()[0];
    assert!(torn.tears > 30, "{torn:?}");
    // The slit was 1.9 mm; the way of the needle in the sheet is some 5 mm more.
    assert!(torn.length > 4.5e-3 && torn.length < 9e-3, "{torn:?}");
    assert!((torn.area - 1.0).abs() < 1e-9, "{torn:?}");
    let film = &simulation.model().films[0];
    let sheet = simulation.model().membrane(film.matter).unwrap().sheet();
    // It comes to where the needle ends, and no tip is far from the needle's way.
    let way = [
        DVec3::new(0.0, -0.0032, 0.0),
        DVec3::new(0.0, -0.0020, 0.0),
        DVec3::new(0.0004, -0.0008, 0.0),
        DVec3::new(0.0012, 0.0004, 0.0),
        DVec3::new(0.0024, 0.0012, 0.0),
    ];
    let far = |p: DVec3| {
        let parts = way.windows(2).map(|w| {
            let along = w[1] - w[0];
            let part = (p - w[0]).dot(along) / along.length_squared();
            p.distance(w[0] + along * part.clamp(0.0, 1.0))
        });
        parts.fold(f64::INFINITY, f64::min)
    };
    let tips = sheet
        .nodes()
        .filter(|n| sheet.kind(*n) == Some(trocar_mesh::sheet::Kind::Tip));
    for tip in tips {
        assert!(far(sheet.rest(tip)) < 1e-3, "{}", sheet.rest(tip));
    }
}

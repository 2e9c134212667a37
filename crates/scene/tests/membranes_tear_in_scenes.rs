//! A membrane in a scene tears where it is pulled; hands, ties and graspers keep what they hold, and everything can be stored, put back and done
//! again.

mod common;

use common::{built, scenes, simulation};
use glam::DVec3;
use trocar_dynamics::{Anchor, Local};
use trocar_mesh::sheet::Kind;
use trocar_scene::{Input, Pull, Scene, Simulation, event::Happening};

/// A sheet held at its upper rim, with a slit from below; gravity does not act.
fn sheet(more: &str, tables: &str) -> String {
    format!(
        "trocar = 1\n[world]\ngravity = [0.0, 0.0, 0.0]\nstep = 0.005\n\
         [[membrane]]\nname = \"sheet\"\nhexagonal = {{}}\nposition = [-0.00425, -0.00433, 0.0]\n\
         springs = {{ stiffness = 6500, mass = 0.01 }}\ndamping = 20\n\
         slit = [[[0.0, -0.00433, 0.0], [0.0, -0.0024, 0.0]]]\n\
         fixed = [{{ nodes = [350, 351, 352, 353, 354, 355, 356, 357, 358, 359, 360, 361, 362, 363, 364, 365, 366] }}]\n\
         tearing = {{ tip = 100, edge = 2000, inner = 4000, fastest = 500 }}\n{more}\n{tables}"
    )
}

/// Two corners drawn aside and to opposite faces, as with a pair of trousers.
const TROUSERS: &str = "[[command]]\nat = 0\nuntil = 7.5\npull = [[-0.003, -0.0042, 0.0], [-0.0045, -0.0025, 0.003], [-0.0045, 0.003, 0.004]]\n\
    on = { tissue = \"sheet\", at = [-0.003, -0.0042, 0.0] }\nforce = 1.2\n\
    [[command]]\nat = 0\nuntil = 7.5\npull = [[0.003, -0.0042, 0.0], [0.0045, -0.0025, -0.003], [0.0045, 0.003, -0.004]]\n\
    on = { tissue = \"sheet\", at = [0.003, -0.0042, 0.0] }\nforce = 1.2\n";

fn run(simulation: &mut Simulation, steps: usize) -> Vec<Happening> {
    let input = simulation.idle_input();
    let mut events = Vec::new();
    for _ in 0..steps {
        simulation.step(&input);
        events.extend(simulation.report().events.iter().map(|e| e.what.clone()));
    }
    events
}

fn torn(simulation: &Simulation) -> usize {
    let film = &simulation.model().films[0];
    let sheet = simulation.model().membrane(film.matter).unwrap().sheet();
    sheet.check().unwrap();
    assert_eq!(
        simulation.model().tissues[0].triangles.len(),
        sheet.triangle_count()
    );
    sheet.version() as usize
}

#[test]
fn it_tears_where_it_is_pulled_and_loses_no_area() {
    let mut simulation = built(&sheet("", TROUSERS));
    let film = simulation.model().films[0].matter;
    let area = |s: &Simulation| s.model().membrane(film).unwrap().sheet().rest_area();
    let (whole, before) = (area(&simulation), torn(&simulation));
    run(&mut simulation, 300);
    assert!(torn(&simulation) > before + 20, "{}", torn(&simulation));
    assert!((area(&simulation) / whole - 1.0).abs() < 1e-9);
    assert!(simulation.model().tissues[0].edits > 20);
    let positions = &simulation.state().nodes[film.index()].position;
    assert!(positions.iter().all(|p| p.length() < 0.02));
    // One tear, that went on from the slit.
    let sheet = simulation.model().membrane(film).unwrap().sheet();
    let tips = sheet.nodes().filter(|n| sheet.kind(*n) == Some(Kind::Tip));
    let tips: Vec<DVec3> = tips.map(|n| sheet.rest(n)).collect();
    assert_eq!(tips.len(), 1, "{tips:?}");
    let slit = DVec3::new(0.0, -0.0026, 0.0);
    assert!(tips[0].distance(slit) > 1e-3, "{tips:?}");
}

#[test]
fn a_restored_snapshot_goes_on_to_the_last_bit() {
    let scene = Scene::from_text("test.toml", &sheet("", TROUSERS)).unwrap();
    let mut one = simulation(&scene, 1);
    run(&mut one, 220);
    let (tears, bytes) = (torn(&one), one.snapshot());
    assert!(tears > 10);
    let mut two = simulation(&scene, 2);
    two.restore(&bytes).unwrap();
    assert_eq!(two.hash(), one.hash());
    for k in 0..200 {
        run(&mut one, 1);
        run(&mut two, 1);
        assert_eq!(two.hash(), one.hash(), "step {k}");
    }
    assert!(torn(&one) > tears + 10);
    // And back again from a later state.
    let end = one.hash();
    one.restore(&bytes).unwrap();
    run(&mut one, 200);
    assert_eq!(one.hash(), end);
    for cut in [9, 20, bytes.len() / 2, bytes.len() - 1] {
        assert!(two.restore(&bytes[..cut]).is_err(), "cut at {cut}");
    }
    assert_eq!(two.hash(), end);
}

#[test]
fn a_restart_and_a_reset_make_it_whole_again() {
    let mut simulation = built(&sheet("", TROUSERS));
    let whole = torn(&simulation);
    run(&mut simulation, 300);
    let (end, edits) = (simulation.hash(), simulation.model().tissues[0].edits);
    simulation.restart();
    assert_eq!(torn(&simulation), whole);
    // Whoever looks on is told by another number that the surface is another one.
    assert!(simulation.model().tissues[0].edits > edits);
    assert_eq!(simulation.state().nodes.last().unwrap().len(), 371);
    run(&mut simulation, 300);
    assert_eq!(simulation.hash(), end);
    simulation.reset();
    assert_eq!(torn(&simulation), whole);
}

/// A hand that took hold of a point and draws it somewhere: it goes on naming the point as it was.
fn drag(simulation: &Simulation, anchor: Anchor, target: DVec3) -> Input {
    let mut input = simulation.idle_input();
    input.pulls.push(Pull {
        anchor,
        target,
        force: 0.3,
    });
    input
}

#[test]
fn a_hand_keeps_hold_of_the_point_it_took() {
    let mut simulation = built(&sheet("", TROUSERS));
    let pick = simulation
        .pick(DVec3::new(0.0013, -0.0017, 0.01), DVec3::NEG_Z)
        .unwrap();
    let Local::Triangle(nodes, weights) = pick.anchor.at else {
        panic!("{:?}", pick.anchor);
    };
    let start = &simulation.model().start[pick.anchor.matter.index()];
    let place = (0..3).fold(DVec3::ZERO, |sum, k| {
        sum + start.position[nodes[k] as usize] * weights[k]
    });
    let input = drag(&simulation, pick.anchor, pick.point + DVec3::Z * 1e-4);
    let mut moved = false;
    for _ in 0..300 {
        simulation.step(&input);
        // What the step really pulled at.
        let Local::Triangle(nodes, weights) = simulation.pulled()[0].anchor.at else {
            panic!("it holds something else");
        };
        moved |= simulation.pulled()[0].anchor != pick.anchor;
        let start = &simulation.model().start[pick.anchor.matter.index()];
        let now = (0..3).fold(DVec3::ZERO, |sum, k| {
            sum + start.position[nodes[k] as usize] * weights[k]
        });
        assert!(now.distance(place) < 1e-9, "{now} {place}");
    }
    assert!(moved, "no tear came by");
    // Let go, it is forgotten.
    run(&mut simulation, 1);
    assert!(simulation.pulled().iter().all(|p| p.force > 1.0));
}

#[test]
fn ties_follow_tears() {
    let tie = "[[particle]]\nname = \"weight\"\nposition = [0.0003, -0.0012, 0.0]\nmass = 0.01\n\
        [[tie]]\na = { particle = \"weight\" }\nb = { tissue = \"sheet\", at = [0.0003, -0.0012, 0.0] }\n";
    let mut simulation = built(&sheet("", &format!("{TROUSERS}{tie}")));
    run(&mut simulation, 500);
    let error = simulation.report().aim.error;
    assert!(error < 1e-6, "{error}");
    let bodies = simulation.model().bodies.unwrap();
    let weight = simulation.state().nodes[bodies.index()].position[0];
    let film = &simulation.state().nodes[simulation.model().films[0].matter.index()];
    let near = film.position.iter().map(|p| p.distance(weight));
    assert!(near.fold(f64::INFINITY, f64::min) < 6e-4);
    let bytes = simulation.snapshot();
    run(&mut simulation, 20);
    let end = simulation.hash();
    simulation.restore(&bytes).unwrap();
    run(&mut simulation, 20);
    assert_eq!(simulation.hash(), end);
}

#[test]
fn it_peels_off_moving_ground_from_its_rim() {
    let ground = "[[body]]\nname = \"plate\"\nmotion = \"kinematic\"\nposition = [0.0, 0.0, -0.002]\nvelocity = [0.0, 0.0, 0.001]\nform = { box = [0.006, 0.006, 0.001] }\n";
    let text = "trocar = 1\n[world]\ngravity = [0.0, 0.0, 0.0]\nstep = 0.005\n\
        [[membrane]]\nname = \"film\"\ndisc = { radius = 0.004, rings = 8 }\nposition = [0.0, 0.0, -0.0009]\n\
        springs = { stiffness = 200, mass = 0.001 }\ndamping = 30\nfold_support = 0.1\n\
        adhesion = { node = 20, distance = 0.0004, release = 0.02, ground = \"plate\" }\n\
        [[command]]\nat = 0\nuntil = 2\npull = [[0.004, 0.0, 0.0], [0.0, 0.0, 0.006]]\non = { tissue = \"film\", at = [0.004, 0.0, 0.0] }\nforce = 1\n";
    let mut simulation = built(
        &format!("{ground}{}", &text["trocar = 1\n".len()..]).replacen(
            "[[body]]",
            "trocar = 1\n[[body]]",
            1,
        ),
    );
    run(&mut simulation, 400);
    let matter = simulation.model().films[0].matter;
    let film = simulation.model().membrane(matter).unwrap();
    let nodes = &simulation.state().nodes[matter.index()];
    let (mut off, mut on) = (0, 0);
    for n in 0..nodes.len() {
        match film.attachment(n) {
            0.0 => off += 1,
            1.0 => {
                on += 1;
                // It has gone up with the plate by two millimetres.
                let home = film.homing_position(n);
                assert!((home.z - 0.0011).abs() < 1e-5, "{home}");
                assert!(nodes.position[n].distance(home) < 5e-4);
            }
            _ => {}
        }
    }
    assert!(off > 20 && on > 20, "{off} came off, {on} stick");
}

#[test]
fn scenes_of_membranes_do_the_same_at_any_thread_count() {
    let scene = Scene::load(scenes().join("membrane-367.toml")).unwrap();
    let hashes: Vec<u64> = [1, 2, 3]
        .into_iter()
        .map(|threads| {
            let mut simulation = simulation(&scene, threads);
            run(&mut simulation, 600);
            assert!(torn(&simulation) > 10);
            simulation.hash()
        })
        .collect();
    assert!(hashes.iter().all(|h| *h == hashes[0]), "{hashes:x?}");
}

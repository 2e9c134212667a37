//! A membrane in a scene tears where it is pulled; hands, ties and graspers keep what they hold, and everything can be stored, put back and done
//! again.

#![allow(clippy::unwrap_used)]

mod common;

use common::{built, scenes, simulation};
use glam::DVec3;
use trocar_dynamics::{Anchor, Local};
use trocar_mesh::sheet::Kind;
use trocar_scene::{Input, Insight, Pull, Scene, Simulation, Views, event::Happening};

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
        .pick(DVec3::new(0.0001, -0.002, 0.01), DVec3::NEG_Z)
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

/// What bends and what yields ends on a membrane beside the way of a tear: it stays at the point that it was on.
#[test]
fn elements_of_every_kind_follow_tears() {
    let at = DVec3::new(0.0003, -0.0012, 0.0);
    let element = format!(
        "[[particle]]\nname = \"bead\"\nposition = [0.0003, -0.0012, 0.004]\nmass = 0.001\n\
         [[element]]\na = {{ particle = \"bead\" }}\nb = {{ tissue = \"sheet\", at = {at} }}\nanswer = {{ stiffness = 20, yields = {{ strain = 0.02, hardening = 0.5 }} }}\n\
         [[element]]\na = {{ particle = \"bead\" }}\nmiddle = {{ tissue = \"sheet\", at = {at} }}\nb = {{ world = [0.0003, -0.0012, -0.004] }}\nbend = 0.0002\n\
         [[command]]\nat = 0\nuntil = 0.5\npush = [0, 0, 0.01]\non = {{ particle = \"bead\" }}\n",
        at = "[0.0003, -0.0012, 0.0]"
    );
    let text = sheet("", &format!("{TROUSERS}{element}"));
    let mut simulation = built(&text);
    let film = simulation.model().films[0].matter;
    let before = torn(&simulation);
    let wanted = Views {
        elements: true,
        ..Views::default()
    };
    let mut insight = Insight::default();
    for _ in 0..300 {
        run(&mut simulation, 1);
        simulation.insight(wanted, &mut insight);
        // Where the three lines of both elements end is a place of the torn membrane that lay at theirs when it was whole.
        let bodies = simulation.model().bodies.unwrap();
        let bead = simulation.state().nodes[bodies.index()].position[0];
        let ends = insight.elements.iter().filter_map(|e| match () {
            () if e.a.distance(bead) < 1e-12 => Some(e.b),
            () if e.b.distance(bead) < 1e-12 => Some(e.a),
            () => None,
        });
        let ends: Vec<DVec3> = ends.collect();
        assert_eq!(ends.len(), 2);
        assert!(ends[0].distance(ends[1]) < 1e-12, "{ends:?}");
        let nodes = &simulation.state().nodes[film.index()].position;
        let rest = &simulation.model().start[film.index()].position;
        let near = simulation.model().tissues[0].triangles.iter().any(|t| {
            let [now, then] = [nodes, rest].map(|list| t.map(|n| list[n as usize]));
            let weights = trocar_collide::on_triangle(ends[0], now);
            let of = |corners: [DVec3; 3]| (0..3).map(|k| corners[k] * weights[k]).sum::<DVec3>();
            of(now).distance(ends[0]) < 1e-9 && of(then).distance(at) < 1e-8
        });
        assert!(near, "{ends:?}");
    }
    assert!(torn(&simulation) > before + 20, "it tore");
    // What has yielded on the way is in the snapshot, and what goes on from it is the same.
    let bytes = simulation.snapshot();
    let mut again = built(&text);
    again.restore(&bytes).unwrap();
    assert_eq!(again.hash(), simulation.hash());
    for s in [&mut simulation, &mut again] {
        run(s, 50);
    }
    assert_eq!(again.hash(), simulation.hash());
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

/// A sheet on a plate, above which a grasper stands; it is pushed, taken and lifted.
const GRASPED: &str = "trocar = 1\n[world]\ngravity = [0.0, 0.0, 0.0]\nstep = 0.004\n\
    [[membrane]]\nname = \"film\"\nsheet = { u = [0.1, 0.0, 0.0], v = [0.0, 0.0, -0.1], rows = 21, columns = 21 }\nposition = [-0.05, 0.0, 0.05]\n\
    film = { stiffness = 60, density = 2.0 }\nbending = { rigidity = 1e-6 }\ndamping = 20\nfixed = [{ rim = true }]\n\
    slit = [[[-0.05, 0.0, 0.0], [-0.02, 0.0, 0.0]]]\n\
    tearing = { tip = 8, edge = 200, inner = 400, fastest = 40 }\n\
    [[instrument]]\nname = \"grasper\"\ntrocar = [0.0, 0.15, 0.1]\ntarget = [0.0, 0.0, 0.0]\ndepth = 0.1\ngrip_force = 50\n";

#[test]
fn a_grasper_pushes_takes_and_tears_it() {
    let mut simulation = built(&GRASPED.replace(
        "fixed = [{ rim = true }]\n",
        "fixed = [{ within = { centre = [0.05, 0.0, 0.0], radius = 0.06 } }]\n",
    ));
    let before = simulation.torn()[0].length;
    let matter = simulation.model().films[0].matter;
    // Pushed from above it gives way, and the tool does not get through.
    let place = DVec3::new(-0.035, 0.0, 0.006);
    common::go(&mut simulation, place + DVec3::Y * 0.02, 0.0, 0.6);
    common::go(&mut simulation, place - DVec3::Y * 0.006, 0.0, 0.6);
    let low = |s: &Simulation| {
        let heights = s.state().nodes[matter.index()].position.iter().map(|p| p.y);
        heights.fold(f64::INFINITY, f64::min)
    };
    assert!(low(&simulation) < -0.003, "{}", low(&simulation));
    // Taken between the jaws and drawn away, the slit goes on.
    common::go(&mut simulation, place + DVec3::Y * 0.02, 1.0, 0.5);
    let mut taken = Vec::new();
    for depth in [0.0, 0.003, 0.006, 0.009] {
        let at = place - DVec3::Y * depth;
        common::go(&mut simulation, at, 1.0, 0.4);
        taken = common::go(&mut simulation, at, 0.0, 0.4);
        if !taken.is_empty() {
            break;
        }
    }
    assert!(
        taken.iter().any(|e| matches!(e, Happening::Grasped { .. })),
        "{taken:?}"
    );
    let held = simulation.grip(0).holds.len();
    assert!(held > 0);
    common::go(
        &mut simulation,
        place + DVec3::new(0.0, 0.04, 0.02),
        0.0,
        1.5,
    );
    let torn = simulation.torn()[0].length - before;
    assert!(torn > 1e-3, "{torn} m");
    assert!(!simulation.grip(0).holds.is_empty());
    assert!(simulation.force(0).length() > 1e-3);
}

#[test]
fn what_can_not_be_a_membrane_is_refused_with_its_place() {
    let good = sheet("", "");
    assert!(Scene::from_text("test.toml", &good).is_ok());
    let refused = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        let text = good.replacen(from, to, 1);
        let built =
            Scene::from_text("test.toml", &text).and_then(|s| Simulation::new(&s, 1).map(|_| ()));
        let Err(error) = built else {
            panic!("{to} was taken");
        };
        assert!(error.place.is_some(), "{to}: {error}");
        error.to_string()
    };
    for (from, to, says) in [
        (
            "tip = 100, edge = 2000",
            "tip = 3000, edge = 2000",
            "0 < tip",
        ),
        ("fastest = 500", "fastest = 50", "tip < fastest"),
        ("fastest = 500", "fastest = 500, near = 0.1", "least"),
        ("fastest = 500", "fastest = 500, calls = 0", "calls"),
        (
            "fastest = 500",
            "fastest = 500, measure = \"printed\", reach = -1",
            "reach",
        ),
        ("hexagonal = {}", "", "one shape"),
        (
            "hexagonal = {}",
            "hexagonal = {}\ndisc = { radius = 1, rings = 3 }",
            "one shape",
        ),
        ("hexagonal = {}", "hexagonal = { rows = 1 }", "rows"),
        ("hexagonal = {}", "hexagonal = { edge = 0.0 }", "area"),
        (
            "hexagonal = {}",
            "disc = { radius = -1, rings = 3 }",
            "round sheet",
        ),
        (
            "hexagonal = {}",
            "disc = { radius = 1, rings = 100000 }",
            "limit",
        ),
        ("hexagonal = {}", "mesh = \"missing.obj\"", "missing"),
        (
            "springs = { stiffness = 6500, mass = 0.01 }",
            "",
            "made of one thing",
        ),
        ("stiffness = 6500", "stiffness = -1", "stiffness"),
        ("mass = 0.01", "mass = 0", "mass"),
        ("stiffness = 6500", "stiffness = 1e12", "substeps"),
        ("damping = 20", "damping = -2", "damping"),
        ("damping = 20", "prestress = 0", "prestress"),
        ("damping = 20", "bending = {}", "one way"),
        ("damping = 20", "bending = { springs = -5 }", "bending"),
        ("damping = 20", "fold_support = -1", "fold_support"),
        (
            "damping = 20",
            "fold_support = 0.1\nbending = { rigidity = 1e-6 }",
            "fold_support",
        ),
        ("damping = 20", "adhesion = { distance = 0.001 }", "one way"),
        (
            "damping = 20",
            "adhesion = { node = -1, distance = 0.001 }",
            "hold",
        ),
        (
            "damping = 20",
            "adhesion = { node = 1, distance = 0.0 }",
            "distance",
        ),
        (
            "damping = 20",
            "adhesion = { node = 1, distance = 0.001, release = 0 }",
            "release",
        ),
        (
            "damping = 20",
            "adhesion = { node = 1, distance = 0.001, ground = \"nobody\" }",
            "nobody",
        ),
        ("damping = 20", "friction = [0.1, 0.9]", "friction"),
        ("damping = 20", "bears = 0", "bears"),
        ("damping = 20", "colour = [2, 0, 0]", "colour"),
        ("damping = 20", "path = {}", "one thing"),
        ("damping = 20", "path = { points = [[0, 0, 0]] }", "points"),
        (
            "damping = 20",
            "path = { circle = { centre = [0, 0, 0], radius = -1 } }",
            "circle",
        ),
        ("damping = 20", "scale = 2", "scaled"),
        ("nodes = [350,", "nodes = [3500,", "3500"),
        ("[0.0, -0.0024, 0.0]]]", "[0.0, -0.0043, 0.0]]]", "shorter"),
        (
            "slit = [[[0.0, -0.00433, 0.0], [0.0, -0.0024, 0.0]]]",
            "slit = [[[-0.004, -0.00433, 0.0], [0.004, -0.00433, 0.0]]]",
            "rim",
        ),
        (
            "slit = [[[0.0, -0.00433, 0.0], [0.0, -0.0024, 0.0]]]",
            "slit = [[[0.0, 0.0, 0.0]]]",
            "two points",
        ),
    ] {
        let error = refused(from, to);
        assert!(error.contains(says), "{to}: {error}");
    }
    // A mesh that is no sheet: three triangles at one edge.
    let mesh =
        "v 0 0 0\nv 0.01 0 0\nv 0 0.01 0\nv 0 -0.01 0\nv 0 0 0.01\nf 1 2 3\nf 2 1 4\nf 1 2 5\n";
    let bundle = trocar_scene::Bundle {
        files: vec![
            (
                "test.toml".into(),
                good.replacen("hexagonal = {}", "mesh = \"three.obj\"", 1)
                    .replace("fixed", "#")
                    .replace("slit", "#")
                    .into_bytes(),
            ),
            ("three.obj".into(), mesh.as_bytes().to_vec()),
        ],
    };
    let built = Scene::from_bundle(&bundle).and_then(|s| Simulation::new(&s, 1).map(|_| ()));
    let error = built.unwrap_err().to_string();
    assert!(error.contains("meet at the edge"), "{error}");
    // Dampers would ask for substeps that nobody knows.
    let joined = sheet(
        "",
        "[[particle]]\nname = \"bead\"\nmass = 0.01\nposition = [0, 0, 0]\n[[element]]\na = { particle = \"bead\" }\nb = { tissue = \"sheet\", at = [0, 0, 0] }\nanswer = { damping = 10 }\n",
    );
    let built =
        Scene::from_text("test.toml", &joined).and_then(|s| Simulation::new(&s, 1).map(|_| ()));
    let error = built.unwrap_err().to_string();
    assert!(error.contains("a damper can't end"), "{error}");
}

#[test]
fn a_tampered_membrane_never_panics() {
    let scene = Scene::from_text("test.toml", &sheet("", TROUSERS)).unwrap();
    let mut simulation = simulation(&scene, 1);
    run(&mut simulation, 200);
    let good = simulation.snapshot();
    let input = simulation.idle_input();
    let (mut seed, mut taken) = (7_u64, 0);
    for _ in 0..400 {
        let mut bytes = good.clone();
        for _ in 0..2 {
            seed = seed
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            let at = 12 + (seed >> 33) as usize % (good.len() - 12);
            bytes[at] = (seed >> 20) as u8;
        }
        let sum = crc32fast::hash(&bytes[12..]).to_le_bytes();
        bytes[8..12].copy_from_slice(&sum);
        if simulation.restore(&bytes).is_ok() {
            taken += 1;
            for _ in 0..3 {
                simulation.step(&input);
            }
        }
    }
    assert!(taken > 20 && taken < 400, "{taken}");
}

/// What the book says of this scene.
#[test]
fn a_hand_of_commands_opens_the_capsule_along_its_circle() {
    let scene = Scene::load(scenes().join("capsulorhexis.toml")).unwrap();
    let mut simulation = simulation(&scene, 1);
    run(&mut simulation, 7200);
    let found = &simulation.torn()[0];
    let path = found.path.unwrap();
    assert_eq!(found.pieces, 2, "{found:?}");
    assert!(path.mean < 1.3e-4 && path.worst < 3e-4, "{found:?}");
    assert!(path.done > 0.9, "{found:?}");
    assert!((found.area - 1.0).abs() < 1e-9, "{found:?}");
    assert!(found.turns[0] < 0.2, "{found:?}");
}

#[test]
fn a_reset_mends_before_anything_is_pushed() {
    // What is pushed is soon on triangles that the whole sheet does not have.
    let more = "[[command]]\nat = 0\nuntil = 7.5\npush = [0.0, 0.0, 0.0001]\non = { tissue = \"sheet\", at = [0.0004, -0.0028, 0.0] }\n\
        [[command]]\nat = 1.5\nreset = true\n";
    let mut simulation = built(&sheet("", &format!("{TROUSERS}{more}")));
    let whole = torn(&simulation);
    run(&mut simulation, 299);
    assert!(torn(&simulation) > whole + 20, "{}", torn(&simulation));
    let events = run(&mut simulation, 3);
    assert!(events.contains(&Happening::Reset), "{events:?}");
    assert!(torn(&simulation) < whole + 5, "{}", torn(&simulation));
    run(&mut simulation, 100);
    let positions = &simulation.state().nodes.last().unwrap().position;
    assert!(positions.iter().all(|p| p.length() < 0.02));
}

#[test]
fn a_hand_may_name_what_is_gone() {
    let mut simulation = built(&sheet("", TROUSERS));
    run(&mut simulation, 300);
    let film = simulation.model().films[0].matter;
    let newest = simulation.state().nodes[film.index()].len() as u32 - 1;
    assert!(newest > 371, "nodes were made");
    for node in [newest, 10_000_000] {
        simulation.reset();
        let before = torn(&simulation);
        let input = drag(&simulation, Anchor::node(film, node), DVec3::Z);
        for _ in 0..300 {
            simulation.step(&input);
        }
        assert!(torn(&simulation) > before + 20, "it tore");
    }
}

#[test]
fn a_reset_puts_it_onto_ground_that_has_moved_on() {
    let text = "trocar = 1\n[world]\ngravity = [0.0, 0.0, 0.0]\nstep = 0.005\n\
        [[body]]\nname = \"plate\"\nmotion = \"kinematic\"\nposition = [0.0, 0.0, -0.002]\nvelocity = [0.0, 0.0, 0.001]\nform = { box = [0.006, 0.006, 0.001] }\n\
        [[membrane]]\nname = \"film\"\ndisc = { radius = 0.004, rings = 8 }\nposition = [0.0, 0.0, -0.0009]\n\
        springs = { stiffness = 200, mass = 0.001 }\ndamping = 30\n\
        adhesion = { node = 20, distance = 0.0004, release = 0.02, ground = \"plate\" }\n";
    let mut simulation = built(text);
    run(&mut simulation, 400);
    simulation.reset();
    run(&mut simulation, 100);
    let matter = simulation.model().films[0].matter;
    let film = simulation.model().membrane(matter).unwrap();
    let nodes = &simulation.state().nodes[matter.index()];
    for n in 0..nodes.len() {
        assert_eq!(film.attachment(n), 1.0, "node {n}");
        let home = film.homing_position(n);
        assert!(nodes.position[n].distance(home) < 1e-4, "node {n}: {home}");
    }
}

#[test]
fn a_force_without_a_pull_is_refused() {
    let more = "[[command]]\nat = 0\nuntil = 1\npush = [0.0, 0.0, 0.1]\nforce = 2\non = { tissue = \"sheet\", at = [0.0, 0.0, 0.0] }\n";
    let scene = Scene::from_text("test.toml", &sheet("", more)).unwrap();
    let Err(error) = Simulation::new(&scene, 1) else {
        panic!("it was taken");
    };
    assert!(error.to_string().contains("`force`"), "{error}");
}

#[test]
fn false_colours_are_the_numbers_of_the_nodes() {
    // W140, in a sheet that is torn and partly off its ground.
    let sticks = "adhesion = { node = 30, distance = 0.0004, release = 0.05 }";
    let mut simulation = built(&sheet(sticks, TROUSERS));
    run(&mut simulation, 400);
    assert!(torn(&simulation) > 10);
    let film = &simulation.model().films[0];
    let membrane = simulation.model().membrane(film.matter).unwrap();
    let nodes = &simulation.state().nodes[film.matter.index()];
    let sheet = membrane.sheet();
    let stress = membrane.stress_now(nodes);
    let far = |n: trocar_mesh::sheet::NodeId| nodes.position[n.slot()].distance(sheet.rest(n));
    let farthest = sheet.nodes().map(far).fold(0.0, f64::max);
    let mut out = Insight::default();
    let (mut tips, mut edges, mut fronts, mut loose) = (0, 0, 0, 0);
    for which in 0..4 {
        let wanted = Views {
            stress: which == 0,
            displacement: which == 1,
            adhesion: which == 2,
            front: which == 3,
            ..Views::default()
        };
        simulation.insight(wanted, &mut out);
        assert_eq!(out.colours.len(), sheet.triangle_count());
        for (t, seen) in sheet.triangles().zip(&out.colours) {
            for (n, (place, value)) in sheet.corners(t).into_iter().zip(seen.corners) {
                assert_eq!(place, nodes.position[n.slot()]);
                let kind = sheet.kind(n).unwrap();
                let bears = match kind {
                    Kind::Tip => 100.0,
                    Kind::Edge => 2000.0,
                    Kind::Inner => 4000.0,
                };
                let off = |n: trocar_mesh::sheet::NodeId| membrane.attachment(n.slot()) == 0.0;
                let parted = sheet.siblings(n).next().is_some();
                let mut around = sheet.edges_around(n);
                let front = !off(n) && around.any(|(_, other)| off(other));
                let expected = match which {
                    0 => (stress[n.slot()] / bears).min(1.0),
                    1 => far(n) / farthest,
                    2 => membrane.attachment(n.slot()),
                    _ if kind == Kind::Tip => 1.0,
                    _ if kind == Kind::Edge && parted => 0.7,
                    _ if front => 0.4,
                    _ => 0.0,
                };
                assert!(
                    (value - expected).abs() < 1e-12,
                    "{which}: {value} {expected}"
                );
                if which == 3 {
                    tips += usize::from(value == 1.0);
                    edges += usize::from(value == 0.7);
                    fronts += usize::from(value == 0.4);
                }
                loose += usize::from(which == 2 && value == 0.0);
            }
        }
    }
    // All of them are to be seen.
    assert!(
        tips > 0 && edges > 5 && fronts > 5 && loose > 5,
        "{tips} {edges} {fronts} {loose}"
    );
}

/// A strip of tissue hung on the lower rim of the sheet, beside its slit, by its upper row (K54 towards another kind of matter).
fn strip(couple: &str) -> String {
    format!(
        "[[sheet]]\nname = \"strip\"\norigin = [-0.003, -0.0048, 0.0]\nu = [0.0, 0.0, 0.001]\nv = [0.0, -0.002, 0.0]\nrows = 3\ncolumns = 2\n\
         material = {{ mass = 0.001, damping = 0.05, stiffness = 50, memory = 0.1 }}\n{couple}"
    )
}

#[test]
fn nodes_of_a_net_hang_on_a_membrane_and_follow_it_when_it_tears() {
    let couple = "[[couple]]\nmaster = { tissue = \"sheet\", at = [[-0.003, -0.0043, 0.0], [-0.0025, -0.0043, 0.0]] }\n\
        slave = { tissue = \"strip\", nodes = [0, 1] }\n";
    let mut simulation = built(&sheet("", &format!("{}{TROUSERS}", strip(couple))));
    let tie = simulation.model().ties[0];
    assert!(matches!(tie.a.at, Local::Triangle(..)) && matches!(tie.b.at, Local::Node(_)));
    let apart = |s: &Simulation| {
        let mut insight = Insight::default();
        let views = Views {
            anchors: true,
            ..Views::default()
        };
        s.insight(views, &mut insight);
        let apart = insight.anchors.iter().take(2).map(|(a, b)| a.distance(*b));
        apart.fold(0.0, f64::max)
    };
    let torn = |s: &Simulation| {
        let film = s.model().films[0].matter;
        s.model().membrane(film).unwrap().sheet().version()
    };
    // The nodes that follow were moved onto the membrane.
    assert!(apart(&simulation) < 1e-9);
    let before = torn(&simulation);
    run(&mut simulation, 150);
    let snapshot = simulation.snapshot();
    run(&mut simulation, 150);
    assert!(torn(&simulation) > before + 20, "it tore");
    assert!(apart(&simulation) < 1e-5, "{}", apart(&simulation));
    let moved = simulation.state().nodes.iter().flat_map(|n| &n.position);
    assert!(moved.clone().all(|p| p.is_finite() && p.length() < 0.05));
    let mut again = built(&sheet("", &format!("{}{TROUSERS}", strip(couple))));
    again.restore(&snapshot).unwrap();
    run(&mut again, 150);
    assert_eq!(again.hash(), simulation.hash());
}

#[test]
fn a_membrane_follows_nets_bodies_and_places_where_it_lies_there() {
    // Nothing else acts: what is coupled moves as one and keeps its momentum.
    let film = "[[membrane]]\nname = \"film\"\nsheet = { u = [0.01, 0.0, 0.0], v = [0.0, 0.0, 0.01], rows = 3, columns = 3 }\n\
        film = { stiffness = 30, density = 1 }\ndamping = 0.0\n";
    let world = "trocar = 1\n[world]\ngravity = [0.0, 0.0, 0.0]\nstep = 0.002\n";
    let net = "[[net]]\nname = \"net\"\npoints = [[0.0, 0.0, 0.0], [0.01, 0.0, 0.0], [0.005, 0.01, 0.0]]\nfacets = [[0, 1, 2]]\n\
        material = { mass = 0.0001, damping = 0.0, stiffness = 10 }\n\
        [[command]]\nat = 0\nuntil = 0.019\npush = [0.0, 0.0, 0.001]\non = { tissue = \"net\", node = 2 }\n";
    let couple = "[[couple]]\nmaster = { tissue = \"net\", nodes = [0, 1] }\nslave = { tissue = \"film\" }\n";
    let mut simulation = built(&format!("{world}{film}{net}{couple}"));
    run(&mut simulation, 200);
    let momentum: DVec3 = (simulation
        .model()
        .matters
        .iter()
        .zip(&simulation.state().nodes))
    .skip(1)
    .map(|(matter, nodes)| {
        let masses = matter.masses();
        let parts = (0..nodes.len()).map(|i| masses.node_velocity(nodes, i) * masses.mass()[i]);
        parts.sum::<DVec3>()
    })
    .sum();
    assert!(
        (momentum - DVec3::Z * 2e-5).length() < 1e-8,
        "{momentum}: a thousandth of a newton for 20 ms"
    );
    let body = "[[body]]\nname = \"block\"\nmass = 0.01\nhalf_extents = [0.001, 0.001, 0.001]\nposition = [0.0, 0.02, 0.0]\n";
    let held = "[[couple]]\nmaster = { body = \"block\" }\nslave = { tissue = \"film\", nodes = [0, 2] }\n";
    let pushed = "[[command]]\nat = 0\nuntil = 0.019\npush = [0.0, 0.001, 0.0]\non = { body = \"block\", at = [0.0, 0.0, 0.0] }\n";
    let mut simulation = built(&format!("{world}{film}{body}{held}{pushed}"));
    assert_eq!(simulation.model().ties.len(), 2);
    let mut insight = Insight::default();
    for step in 0..40 {
        run(&mut simulation, 1);
        let views = Views {
            anchors: true,
            ..Views::default()
        };
        simulation.insight(views, &mut insight);
        assert!(insight.anchors.len() >= 2);
        for (block, film) in insight.anchors.iter().take(2) {
            let apart = block.distance(*film);
            assert!(apart < 1e-6, "step {step}: {apart} m apart");
        }
    }
    assert!(
        insight.anchors[0].1.y > 1e-5,
        "{:?}: the film goes along",
        insight.anchors
    );
    let pinned = "[[couple]]\nmaster = { world = [[0.0, 0.0, 0.0]] }\nslave = { tissue = \"film\", at = [[0.0, 0.0, 0.0]] }\n";
    // Drawn at the far corner, the one beside the place stays there; without the place it does not.
    let drawn = "[[command]]\nat = 0\nuntil = 0.019\npush = [0.00001, 0.0, 0.00001]\non = { tissue = \"film\", node = 8 }\n";
    let corner = |s: &Simulation| {
        let film = s.model().films[0].matter;
        s.state().nodes[film.index()].position[0]
    };
    let mut simulation = built(&format!("{world}{film}{pinned}{drawn}"));
    for step in 0..40 {
        run(&mut simulation, 1);
        let off = corner(&simulation).length();
        assert!(off < 1e-6, "step {step}: {off} m off");
    }
    let mut free = built(&format!("{world}{film}{drawn}"));
    run(&mut free, 40);
    assert!(corner(&free).length() > 1e-5, "{}", corner(&free));
    for (couple, why) in [
        (couple.replace("[0, 1]", "[1, 2]"), "m from each other"),
        (couple.replace("film\" }", "film\", ring = 0 }"), "neither rings"),
        (format!("{couple}force_factor = 0.5\n"), "all of the force"),
        (format!("{couple}{couple}"), "or two others"),
        (pinned.replace("0.0]] }\nslave", "0.0]], nodes = [0] }\nslave"), "the points themselves"),
        (
            "[[couple]]\nmaster = { tissue = \"film\" }\nslave = { tissue = \"net\", nodes = [0], at = [[0.0, 0.0, 0.0]] }\n".into(),
            "on membranes only",
        ),
        (
            "[[couple]]\nmaster = { tissue = \"film\", nodes = [99] }\nslave = { tissue = \"net\", nodes = [0] }\n".into(),
            "no node 99",
        ),
    ] {
        let text = format!("{world}{film}{net}{couple}");
        let scene = Scene::from_text("test.toml", &text).unwrap();
        let error = Simulation::new(&scene, 1).err().unwrap().to_string();
        assert!(error.contains(why) && error.contains("test.toml:"), "{why}: {error}");
    }
}

#[test]
fn one_of_several_nets_on_a_membrane_can_be_changed() {
    let hung = |name: &str, z: f64| {
        format!(
            "[[sheet]]\nname = \"{name}\"\norigin = [0.0, 0.0, {z:?}]\nu = [0.01, 0.0, 0.0]\nv = [0.0, -0.01, 0.0]\nrows = 3\ncolumns = 3\n\
             material = {{ mass = 0.001, damping = 0.05, stiffness = 50 }}\n\
             [[couple]]\nmaster = {{ tissue = \"film\" }}\nslave = {{ tissue = \"{name}\", nodes = [0, 1, 2] }}\n"
        )
    };
    let film = "trocar = 1\n[world]\ngravity = [0.0, 0.0, 0.0]\nstep = 0.002\n\
        [[membrane]]\nname = \"film\"\nsheet = { u = [0.01, 0.0, 0.0], v = [0.0, 0.0, 0.01], rows = 3, columns = 3 }\n\
        film = { stiffness = 30, density = 1 }\ndamping = 20\n";
    let mut simulation = built(&format!("{film}{}{}", hung("near", 0.0), hung("far", 0.01)));
    run(&mut simulation, 5);
    for name in ["near", "far"] {
        let mut list = simulation.parameters().iter();
        let parameter = list
            .position(|p| p.group == name && p.name == "stiffness")
            .unwrap();
        let mut input = simulation.idle_input();
        input.changes = vec![trocar_scene::Change {
            parameter: parameter as u32,
            value: 60.0,
        }];
        simulation.step(&input);
        let told = &simulation.report().events;
        assert!(
            matches!(&told[..], [event] if matches!(event.what, Happening::Changed { .. })),
            "{name}: {told:?}"
        );
        assert_eq!(simulation.parameters()[parameter].value, 60.0);
    }
    run(&mut simulation, 50);
    assert_eq!(simulation.model().ties.len(), 6);
    let nodes = simulation.state().nodes.iter().flat_map(|n| &n.position);
    assert!(nodes.clone().all(|p| p.is_finite() && p.length() < 0.05));
}

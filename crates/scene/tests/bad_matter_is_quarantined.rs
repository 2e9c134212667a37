//! Matter whose numbers go bad is put back to rest and reported; the rest goes on as if nothing had happened.

mod common;

use common::{
    busy, gallbladder, is_sound,
    rigid::{Rig, body, world},
    simulation, theatre,
};
use glam::DVec3;
use trocar_dynamics::MatterId;
use trocar_scene::{Simulation, event::Happening};

/// Names of what was quarantined in the last step, and whether it is frozen now.
fn quarantined(simulation: &Simulation) -> Vec<(String, bool)> {
    simulation
        .report()
        .events
        .iter()
        .filter_map(|e| match &e.what {
            Happening::Quarantined { matter, frozen } => Some((matter.clone(), *frozen)),
            _ => None,
        })
        .collect()
}

fn matter(simulation: &Simulation, name: &str) -> MatterId {
    let index = simulation.model().names.iter().position(|n| n == name);
    MatterId(index.unwrap_or_else(|| panic!("{name}")) as u32)
}

#[test]
fn what_goes_bad_is_reset_and_reported_and_others_do_not_notice() {
    let scene = theatre();
    for (name, threads) in [("sheet 1", 1), ("organ", 2), ("duct", 1)] {
        let (mut spoilt, mut sound) = (simulation(&scene, threads), simulation(&scene, 1));
        let bad = matter(&spoilt, name);
        let node = spoilt.state().nodes[bad.index()].len() / 2;
        for k in 0..200 {
            if k == 60 {
                spoilt.spoil(bad, node);
            }
            spoilt.step(&busy(&spoilt, k));
            sound.step(&busy(&sound, k));
            let expected = if k == 60 {
                vec![(name.to_string(), false)]
            } else {
                Vec::new()
            };
            assert_eq!(quarantined(&spoilt), expected, "step {k}");
            assert!(quarantined(&sound).is_empty());
            assert!(is_sound(&spoilt, 1.0), "{name}: step {k}");
            for (m, (a, b)) in spoilt
                .state()
                .nodes
                .iter()
                .zip(&sound.state().nodes)
                .enumerate()
            {
                assert!(
                    m == bad.index() || (a.position == b.position && a.velocity == b.velocity),
                    "{name}: {} differs in step {k}",
                    spoilt.model().names[m]
                );
            }
            if k == 60 {
                // Back at the start, but for what this step's remaining substeps did.
                assert!(common::largest_displacement(&spoilt, bad.index()) < 1e-4);
            }
        }
        // It lives again.
        let moves = spoilt.state().nodes[bad.index()]
            .velocity
            .iter()
            .any(|v| v.length() > 1e-6);
        assert!(moves, "{name}");
    }
}

#[test]
fn what_goes_bad_again_and_again_is_frozen() {
    let scene = theatre();
    let mut simulation = simulation(&scene, 2);
    let bad = matter(&simulation, "sheet 2");
    let mut told = Vec::new();
    for k in 0..120 {
        if k % 20 == 10 {
            simulation.spoil(bad, 7 * k);
        }
        simulation.step(&busy(&simulation, k));
        told.extend(quarantined(&simulation));
        assert!(is_sound(&simulation, 1.0), "step {k}");
    }
    let name = "sheet 2".to_string();
    assert_eq!(
        told,
        [(name.clone(), false), (name.clone(), false), (name, true)]
    );
    assert_eq!(common::largest_displacement(&simulation, bad.index()), 0.0);
    // A restart gives it another chance.
    simulation.restart();
    for k in 0..50 {
        simulation.step(&busy(&simulation, k));
    }
    assert!(common::largest_displacement(&simulation, bad.index()) > 1e-6);
}

#[test]
fn what_is_joined_to_bad_matter_stays_sound() {
    let scene = gallbladder();
    for tissue in 0..2 {
        let mut simulation = simulation(&scene, 1);
        let inputs = common::operation(&simulation);
        let bad = simulation.model().tissues[tissue].matter;
        let nodes = simulation.state().nodes[bad.index()].len();
        for (k, input) in inputs.iter().enumerate() {
            // Central nodes, hyper nodes, what is held and what is touched: all of them once.
            if k % 700 == 350 {
                simulation.spoil(bad, (k * 31) % nodes);
            }
            simulation.step(input);
            assert!(is_sound(&simulation, 1.0), "tissue {tissue}: step {k}");
        }
    }
}

#[test]
fn every_node_may_go_bad() {
    let scene = gallbladder();
    let mut simulation = simulation(&scene, 1);
    let input = simulation.idle_input();
    for tissue in 0..2 {
        let bad = simulation.model().tissues[tissue].matter;
        let name = simulation.model().names[bad.index()].clone();
        for node in 0..simulation.state().nodes[bad.index()].len() {
            simulation.restart();
            simulation.step(&input);
            simulation.spoil(bad, node);
            simulation.step(&input);
            assert!(is_sound(&simulation, 1.0), "{name}, node {node}");
            let told = quarantined(&simulation);
            // A node that is fixed or a copy of another does not read its own velocity.
            assert!(told.iter().all(|t| !t.1), "{name}, node {node}: {told:?}");
        }
    }
}

#[test]
fn bodies_and_particles_go_bad_and_come_back() {
    let scene = theatre();
    let mut simulation = simulation(&scene, 1);
    let bad = matter(&simulation, "bodies");
    for k in 0..100 {
        if k == 50 {
            simulation.spoil(bad, 0);
        }
        simulation.step(&busy(&simulation, k));
        let told = quarantined(&simulation);
        if k == 50 {
            assert!(told.contains(&("bodies".to_string(), false)), "{told:?}");
        }
        assert!(is_sound(&simulation, 1.0), "step {k}");
    }
    assert!(simulation.report().aim.converged, "its ties hold again");
}

/// What has yielded at matter that goes bad is as it was built, for that is put back; what has yielded at sound bodies stays longer.
#[test]
fn only_what_is_put_back_forgets_that_it_has_yielded() {
    let mut text = String::from("trocar = 1\n[world]\ngravity = [0, 0, 0]\n");
    for k in 0..2 {
        text += &format!(
            "[[body]]\nname = \"ball {k}\"\nposition = [{x:?}, 0, 0.02]\nmass = 0.01\nform = {{ ball = 0.005 }}\ncollide = false\ndamping = 2\n\
             [[element]]\na = {{ body = \"ball {k}\" }}\nb = {{ world = [{x:?}, 0, 0] }}\nanswer = {{ stiffness = 50, yields = {{ strain = 0.1, hardening = 0.5 }} }}\n\
             [[command]]\nat = 0\npush = [0, 0, 0.15]\non = {{ body = \"ball {k}\" }}\nuntil = 2\n",
            x = 0.1 * f64::from(k)
        );
    }
    text += "[[sheet]]\nname = \"sheet\"\norigin = [0.2, 0, 0]\nu = [0.02, 0, 0]\nv = [0, 0.02, 0]\nrows = 3\ncolumns = 3\nfixed = [{ ring = 0 }, { ring = 2 }]\n\
             material = { mass = 0.001, damping = 0.05, stiffness = 60, memory = 1 }\n\
             [[element]]\na = { tissue = \"sheet\", node = 4 }\nb = { world = [0.21, 0.01, -0.02] }\nanswer = { stiffness = 50, yields = { strain = 0.1, hardening = 0.5 } }\n\
             [[command]]\nat = 0\npush = [0, 0, 0.3]\non = { tissue = \"sheet\", node = 4 }\nuntil = 2\n";
    let mut simulation = common::built(&text);
    let (bodies, sheet) = (matter(&simulation, "bodies"), matter(&simulation, "sheet"));
    let run = |simulation: &mut Simulation, seconds: f64| {
        let input = simulation.idle_input();
        for _ in 0..(seconds / input.dt).round() as usize {
            simulation.step(&input);
        }
        let nodes = |m: MatterId| &simulation.state().nodes[m.index()].position;
        let (balls, middle) = (nodes(bodies), nodes(sheet)[4]);
        [balls[0].z - 0.02, balls[1].z - 0.02, middle.z]
    };
    let drawn = run(&mut simulation, 4.0);
    assert!(drawn.iter().all(|d| *d > 5e-4), "{drawn:?}");
    simulation.spoil(bodies, 0);
    let [first, second, third] = run(&mut simulation, 2.0);
    assert!(first.abs() < 1e-5, "{first}");
    assert!((second - drawn[1]).abs() < 1e-5, "{second} {drawn:?}");
    assert!((third - drawn[2]).abs() < 1e-5, "{third} {drawn:?}");
    simulation.spoil(sheet, 4);
    let [first, second, third] = run(&mut simulation, 2.0);
    assert!(first.abs() < 1e-5 && third.abs() < 1e-5, "{first} {third}");
    assert!((second - drawn[1]).abs() < 1e-5, "{second} {drawn:?}");
}

/// What sleeps on a body that goes bad, and is put back where it started, wakes and falls.
#[test]
fn what_slept_on_a_bad_body_wakes() {
    let mut text = world("step = 0.005");
    let floor = "motion = \"static\"\nform = { half_space = [0, 1, 0] }";
    body(&mut text, "floor", DVec3::ZERO, floor);
    let says = "mass = 1\nhalf_extents = [0.1, 0.1, 0.1]";
    body(&mut text, "below", DVec3::Y * 0.3, says);
    body(&mut text, "above", DVec3::Y * 0.55, says);
    let mut rig = Rig::new(&text);
    rig.run(3.0);
    let height = rig.position("above").y;
    assert!((height - 0.3).abs() < 1e-3, "{height}");
    assert_eq!(rig.velocity("above"), DVec3::ZERO, "it sleeps");
    let (matter, node) = rig.at("below");
    rig.simulation
        .tamper(matter, |n| n.velocity[node].x = f64::NAN);
    for _ in 0..400 {
        rig.simulation.step(&rig.input);
    }
    let [below, above] = ["below", "above"].map(|b| rig.position(b).y);
    assert!(above < 0.15 || below < 0.15, "{below}, {above}");
    assert!(above.max(below) < 0.35, "{below}, {above}");
}

/// Of two tissues that lie on each other one goes bad: the other is pushed by nothing that is no number.
#[test]
fn what_touches_bad_tissue_stays_sound() {
    let sheet = |name: &str, y: f64| {
        format!(
            "[[sheet]]\nname = \"{name}\"\norigin = [-0.02, {y:?}, -0.02]\nu = [0, 0, 0.04]\nv = [0.04, 0, 0]\nrows = 9\ncolumns = 9\n\
             fixed = [{{ ring = 0 }}]\nmaterial = {{ mass = 0.0005, damping = 0.02, stiffness = 30, contact_thickness = 0.002 }}\n"
        )
    };
    let text = format!(
        "trocar = 1\n[world]\nstep = 0.002\n{}{}",
        sheet("below", 0.0),
        sheet("above", 0.0025)
    );
    let mut simulation = common::built(&text);
    let (below, above) = (matter(&simulation, "below"), matter(&simulation, "above"));
    let input = simulation.idle_input();
    for k in 0..300 {
        if k == 150 {
            simulation.tamper(above, |nodes| nodes.position[40].x = f64::NAN);
        }
        simulation.step(&input);
        let expected = match k {
            150 => vec![("above".to_string(), false)],
            _ => Vec::new(),
        };
        assert_eq!(quarantined(&simulation), expected, "step {k}");
        let lower = &simulation.state().nodes[below.index()];
        assert!(lower.position.iter().all(|p| p.is_finite()), "step {k}");
        assert!(is_sound(&simulation, 1.0), "step {k}");
    }
}

//! The same scene and inputs give the same hash after every step, whatever the number of threads, and again after a
//! restart.

mod common;

use common::{busy, simulation, theatre};
use trocar_scene::Simulation;

const STEPS: usize = 300;

fn hashes(simulation: &mut Simulation) -> Vec<u64> {
    (0..STEPS)
        .map(|k| {
            simulation.step(&busy(simulation, k));
            simulation.hash()
        })
        .collect()
}

#[test]
fn threads_do_not_show_in_the_hash() {
    let scene = theatre();
    let mut alone = simulation(&scene, 1);
    let nodes: usize = alone.state().nodes.iter().map(|n| n.len()).sum();
    assert!(nodes > 4000 && alone.model().groups.len() > 5, "{nodes}");
    let mut grasped = 0;
    let mut touched = 0;
    let expected: Vec<u64> = (0..STEPS)
        .map(|k| {
            alone.step(&busy(&alone, k));
            grasped += alone.report().events.len();
            touched += alone.report().contacts;
            alone.hash()
        })
        .collect();
    // Otherwise this would be a test of sheets that lie still.
    assert!(grasped > 0 && touched > 1000, "{grasped} {touched}");
    for threads in [2, 3] {
        let found = hashes(&mut simulation(&scene, threads));
        let first = found.iter().zip(&expected).position(|(a, b)| a != b);
        assert_eq!(first, None, "{threads} threads differ first at this step");
    }
}

#[test]
fn a_restart_is_a_fresh_start() {
    let scene = theatre();
    let mut simulation = simulation(&scene, 2);
    let first = hashes(&mut simulation);
    simulation.restart();
    assert_eq!(simulation.steps(), 0);
    assert_eq!(hashes(&mut simulation), first);
}

#[test]
fn the_hash_changes_with_every_step() {
    let scene = theatre();
    let found = hashes(&mut simulation(&scene, 1));
    let mut distinct = found.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), found.len());
}

#[test]
fn threads_do_not_show_within_one_large_net() {
    // One group, one net of more nodes than a thread is given at once.
    let text = "trocar = 1\n[world]\nstep = 0.002\n\
        [[sheet]]\nname = \"sheet\"\norigin = [0, 0, 0]\nu = [0.2, 0, 0]\nv = [0, 0, 0.2]\nrows = 75\ncolumns = 75\n\
        fixed = [{ ring = 0 }]\n\
        material = { mass = 0.0001, damping = 0.002, stiffness = 20, memory = 0.0 }\n";
    let scene = trocar_scene::Scene::from_text("test.toml", text).unwrap_or_else(|e| panic!("{e}"));
    let run = |threads: usize| -> Vec<u64> {
        let mut simulation = simulation(&scene, threads);
        assert_eq!(simulation.model().groups.len(), 1);
        let input = simulation.idle_input();
        (0..50)
            .map(|_| {
                simulation.step(&input);
                simulation.hash()
            })
            .collect()
    };
    let alone = run(1);
    assert_ne!(alone[0], alone[49]);
    assert_eq!(alone, run(2));
    assert_eq!(alone, run(3));
}

#[test]
fn threads_do_not_show_in_many_chains() {
    // Trees of ball joints that nothing touches, each of another length; and one row of hinges, which is no such tree.
    let mut text = String::from("trocar = 1\n[world]\nstep = 0.01\nsolver = \"auto\"\n");
    let mut joints = 0;
    for chain in 0..40 {
        let kind = if chain == 20 { "hinge" } else { "ball" };
        for link in 0..2 + chain % 13 {
            let z = f64::from(chain) * 0.1;
            let x = 0.1 + 0.2 * f64::from(link);
            let a = match link {
                0 => format!("{{ world = [0, 0, {z}] }}"),
                _ => format!("{{ body = \"{chain} {}\", at = [0.1, 0, 0] }}", link - 1),
            };
            text += &format!(
                "[[body]]\nname = \"{chain} {link}\"\nform = {{ box = [0.1, 0.02, 0.02] }}\nmass = 0.5\ncollide = false\n\
                 position = [{x:?}, 0, {z:?}]\n\
                 [[joint]]\nkind = \"{kind}\"\naxis = [0, 0, 1]\na = {a}\nb = {{ body = \"{chain} {link}\", at = [-0.1, 0, 0] }}\n"
            );
            joints += 1;
        }
    }
    assert!(joints > 300, "{joints}: threads would not be asked");
    let scene =
        trocar_scene::Scene::from_text("test.toml", &text).unwrap_or_else(|e| panic!("{e}"));
    let run = |threads: usize| -> Vec<u64> {
        let mut simulation = simulation(&scene, threads);
        let input = simulation.idle_input();
        (0..80)
            .map(|_| {
                simulation.step(&input);
                simulation.hash()
            })
            .collect()
    };
    let alone = run(1);
    assert_ne!(alone[0], alone[79]);
    assert_eq!(alone, run(2));
    assert_eq!(alone, run(3));
}

/// Nets of a size that hang together, and one large one beside a small one: threads share the nets of the first, and the large one of the second.
#[test]
fn threads_do_not_show_among_nets_that_hang_together() {
    let sheet = |name: &str, x: f64, rows: usize| {
        format!(
            "[[sheet]]\nname = \"{name}\"\norigin = [{x}, 0, 0]\nu = [0.1, 0, 0]\nv = [0, 0, 0.1]\nrows = {rows}\ncolumns = {rows}\n\
            fixed = [{{ ring = 0 }}]\n\
            material = {{ mass = 0.0001, damping = 0.002, stiffness = 20, memory = 0.0 }}\n"
        )
    };
    let couple = "[[couple]]\nmaster = { tissue = \"a\", nodes = [1200] }\nslave = { tissue = \"b\", nodes = [1200] }\n\
        [[couple]]\nmaster = { tissue = \"a\", nodes = [1240] }\nslave = { tissue = \"c\", nodes = [1240] }\n";
    let together = [
        sheet("a", 0.0, 45),
        sheet("b", 0.2, 45),
        sheet("c", 0.4, 45),
    ]
    .concat();
    let beside = [sheet("a", 0.0, 75), sheet("b", 0.2, 5)].concat();
    for (tissues, groups) in [(format!("{together}{couple}"), 1), (beside, 2)] {
        let text = format!("trocar = 1\n[world]\nstep = 0.002\n{tissues}");
        let scene =
            trocar_scene::Scene::from_text("test.toml", &text).unwrap_or_else(|e| panic!("{e}"));
        let run = |threads: usize| -> Vec<u64> {
            let mut simulation = simulation(&scene, threads);
            assert_eq!(simulation.model().groups.len(), groups);
            let input = simulation.idle_input();
            let step = |_| {
                simulation.step(&input);
                simulation.hash()
            };
            (0..30).map(step).collect()
        };
        let alone = run(1);
        for threads in [2, 3] {
            assert_eq!(run(threads), alone, "{threads} threads");
        }
    }
}

/// A heap as broad as it is long, so that slabs have borders with two sides and bodies across, by more threads than there are borders; with stacks carried from
/// below and without.
#[test]
fn threads_do_not_show_in_a_heap() {
    let heap = |shock: &str| {
        let mut text = format!(
            "trocar = 1\n[world]\nstep = 0.005\n{shock}\n\
            [[body]]\nname = \"floor\"\nmotion = \"static\"\nform = {{ box = [2, 0.1, 2] }}\nposition = [0, -0.1, 0]\ncollide = true\n"
        );
        for i in 0..320 {
            let (x, y, z) = (i % 8, i / 64, i / 8 % 8);
            text += &format!(
                "[[body]]\nname = \"box {i}\"\nform = {{ box = [0.05, 0.05, 0.05] }}\nmass = 0.6\ncollide = true\n\
                position = [{}, {}, {}]\n",
                0.1005 * f64::from(x) + 0.03 * f64::from(y),
                0.0501 + 0.1001 * f64::from(y),
                0.1005 * f64::from(z) + 0.01 * f64::from(y),
            );
        }
        text
    };
    for shock in ["", "shock = 6"] {
        let scene = trocar_scene::Scene::from_text("test.toml", &heap(shock))
            .unwrap_or_else(|e| panic!("{e}"));
        let run = |threads: usize| -> (Vec<u64>, usize) {
            let mut simulation = simulation(&scene, threads);
            let input = simulation.idle_input();
            let mut most = 0;
            let step = |_| {
                most = simulation.step(&input).contacts.max(most);
                simulation.hash()
            };
            let hashes = (0..25).map(step).collect();
            (hashes, most)
        };
        let alone = run(1);
        // Enough for all slabs there may be.
        assert!(alone.1 > 8 * 192, "{}", alone.1);
        for threads in [2, 4, 8] {
            assert_eq!(run(threads), alone, "{threads} threads, {shock}");
        }
    }
}

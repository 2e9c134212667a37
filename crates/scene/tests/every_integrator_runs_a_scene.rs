//! Every integrator moves a tissue that hangs, is tied to a body and coupled to another tissue (K59–K67, KB9).

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::is_sound;
use glam::DVec3;
use trocar_scene::{
    Scene, SceneError, Simulation,
    build::substeps,
    recording::{Recording, Verdict, Writer},
};

const NAMES: [&str; 9] = [
    "mesd",
    "quasi_dynamic",
    "modified_runge_kutta",
    "modified_heun",
    "euler",
    "runge_kutta",
    "heun",
    "weighted",
    "midpoint",
];

/// A pipe on an organ, a sheet that holds a ball; the organ and the sheet go by the integrator named, the pipe by MESD.
fn scene(integrator: &str) -> String {
    format!(
        r#"trocar = 1
[world]
step = 0.002
[[organ]]
name = "organ"
path = [[0, 0, 0], [0.05, 0, 0], [0.1, 0, 0]]
radii = [[0.02, 0.02]]
rings = 6
around = 8
fixed = [{{ ring = 0 }}]
material = {{ mass = 0.0005, damping = 0.2, stiffness = 30, memory = 5, centre_damping = 5, turn_damping = 0.01, integrator = "{integrator}" }}
[[pipe]]
name = "pipe"
path = [[0.1, 0, 0], [0.2, 0, 0]]
radii = [[0.01, 0.01]]
rings = 5
around = 8
material = {{ mass = 0.0005, damping = 0.2, stiffness = 30, memory = 5, centre_stiffness = 20, centre_damping = 2 }}
[[couple]]
master = {{ tissue = "organ", ring = 5 }}
slave = {{ tissue = "pipe", ring = 0 }}
[[sheet]]
name = "sheet"
origin = [-0.05, -0.2, -0.05]
u = [0.1, 0, 0]
v = [0, 0, 0.1]
rows = 5
columns = 5
fixed = [{{ ring = 0 }}, {{ ring = 4 }}]
material = {{ mass = 0.001, damping = 0.1, stiffness = 40, integrator = "{integrator}" }}
[[body]]
name = "ball"
position = [0, -0.22, 0]
mass = 0.02
form = {{ ball = 0.01 }}
[[tie]]
a = {{ body = "ball", at = [0, 0.02, 0] }}
b = {{ tissue = "sheet", node = 12 }}
"#
    )
}

fn simulation(text: &str) -> Result<Simulation, SceneError> {
    Simulation::new(&Scene::from_text("scene.toml", text)?, 1)
}

fn run(simulation: &mut Simulation, seconds: f64) {
    let input = simulation.idle_input();
    while simulation.state().time < seconds {
        simulation.step(&input);
    }
}

#[test]
fn and_all_of_them_come_to_rest_at_the_same_place() {
    let mut places: Vec<(DVec3, DVec3)> = Vec::new();
    for name in NAMES {
        let mut simulation = simulation(&scene(name)).unwrap();
        run(&mut simulation, 5.0);
        assert!(is_sound(&simulation, 1.0), "{name}");
        assert!(simulation.report().aim.error < 1e-8, "{name}");
        let nodes = &simulation.state().nodes;
        let find = |what: &str| {
            let names = &simulation.model().names;
            names.iter().position(|n| n == what).unwrap()
        };
        let tip = *nodes[find("pipe")].position.last().unwrap();
        let middle = nodes[find("sheet")].position[12];
        places.push((tip, middle));
    }
    for (name, (tip, middle)) in NAMES.iter().zip(&places) {
        // The same equilibrium: where forces are in balance no scheme matters. What still moves at the tip is on its way there.
        let off = tip.distance(places[0].0);
        assert!(off < 1e-5, "{name}: {off} m");
        // Where a body is tied, schemes differ by up to a twentieth of what hangs through.
        let off = middle.distance(places[0].1);
        println!("{name}: {off:.1e} m at the tie");
        assert!(off < 1e-3, "{name}: {off} m");
        assert!(middle.y < -0.2005, "{name}: nothing hangs there");
    }
}

#[test]
fn a_snapshot_in_the_middle_goes_on_with_the_same_bits() {
    for name in ["modified_heun", "quasi_dynamic", "runge_kutta"] {
        let mut first = simulation(&scene(name)).unwrap();
        run(&mut first, 0.1);
        let kept = first.snapshot();
        let mut second = simulation(&scene(name)).unwrap();
        second.restore(&kept).unwrap();
        run(&mut first, 0.2);
        run(&mut second, 0.2);
        assert_eq!(first.hash(), second.hash(), "{name}");
    }
}

#[test]
fn what_a_scheme_can_not_do_is_refused() {
    let text = scene("quasi_dynamic").replace("damping = 0.1,", "damping = 0,");
    let refused = simulation(&text).err().unwrap().to_string();
    assert!(refused.contains("quasi-dynamics"), "{refused}");
    let text =
        scene("midpoint").replace("mass = 0.001, damping = 0.1,", "mass = 0.001, damping = 0,");
    let refused = simulation(&text).err().unwrap().to_string();
    assert!(refused.contains("at any step"), "{refused}");
    let text = scene("weighted").replace(
        "memory = 5, centre_damping",
        "memory = 5, velocity_weight = 0, centre_damping",
    );
    let refused = simulation(&text).err().unwrap().to_string();
    assert!(refused.contains("velocity_weight"), "{refused}");
}

#[test]
fn nothing_goes_below_the_ground() {
    let text = r#"trocar = 1
[[organ]]
name = "organ"
path = [[0, 0.05, 0], [0.05, 0.05, 0], [0.1, 0.05, 0]]
radii = [[0.02, 0.02]]
rings = 6
around = 8
material = { mass = 0.0005, damping = 0.2, stiffness = 30, memory = 5, ground = 0 }
"#;
    let mut simulation = simulation(text).unwrap();
    let mut lowest = 1.0_f64;
    let input = simulation.idle_input();
    for _ in 0..1000 {
        simulation.step(&input);
        let nodes = &simulation.state().nodes[1];
        lowest = nodes.position.iter().fold(lowest, |low, p| low.min(p.y));
    }
    assert!(lowest == 0.0, "{lowest}");
    let fastest = simulation.state().nodes[1]
        .velocity
        .iter()
        .fold(0.0, |v: f64, x| v.max(x.length()));
    assert!(fastest < 0.02, "it lies still: {fastest}");
}

#[test]
fn what_starts_below_the_ground_is_refused_unless_it_is_fixed() {
    let text = r#"trocar = 1
[[sheet]]
name = "sheet"
origin = [0, -0.01, 0]
u = [0.04, 0, 0]
v = [0, 0.04, 0]
rows = 3
columns = 3
fixed = [{ ring = 0 }]
material = { mass = 0.001, damping = 0.05, stiffness = 20, ground = 0 }
"#;
    let free = text.replace("fixed = [{ ring = 0 }]", "fixed = []");
    let refused = simulation(&free).err().unwrap().to_string();
    assert!(
        refused.contains("sheet starts below its ground") && refused.contains(":10:"),
        "{refused}"
    );
    let mut simulation = simulation(text).unwrap();
    run(&mut simulation, 0.2);
    let nodes = &simulation.state().nodes[1];
    for p in &nodes.position[..3] {
        assert_eq!(p.y, -0.01, "what is fixed stays");
    }
}

#[test]
fn slow_motion_takes_longer_to_the_same_place() {
    let mut usual = simulation(&scene("mesd")).unwrap();
    let slow_scene = scene("mesd").replace("step = 0.002", "step = 0.004\nslow_motion = 0.5");
    let mut slow = simulation(&slow_scene).unwrap();
    let input = slow.idle_input();
    for _ in 0..50 {
        slow.step(&input);
    }
    assert!((slow.state().time - 0.1).abs() < 1e-12);
    run(&mut usual, 0.1 - 1e-9);
    let nodes = |s: &Simulation| s.state().nodes.clone();
    for (a, b) in nodes(&usual).iter().zip(&nodes(&slow)) {
        for (p, q) in a.position.iter().zip(&b.position) {
            assert!(p.distance(*q) < 1e-12);
        }
    }
}

/// Springs that stiffen with the square of their stretch, pulled out far beyond twice their length.
const STIFFENING: &str = r#"trocar = 1
[world]
step = 0.005
adaptive = ADAPTIVE
[[sheet]]
name = "sheet"
origin = [0, 0, 0]
u = [0.05, 0, 0]
v = [0, 0, 0.05]
rows = 6
columns = 6
fixed = [{ ring = 0 }]
material = { mass = 0.0005, damping = 0.02, stiffness = 20000, law = "quadratic" }
"#;

#[test]
fn substeps_follow_the_state_and_are_the_same_again() {
    let adaptive = STIFFENING.replace("ADAPTIVE", "true");
    let counts = |text: &str| {
        let mut simulation = simulation(text).unwrap();
        let mut counts = Vec::new();
        let input = simulation.idle_input();
        for _ in 0..400 {
            let report = simulation.step(&input);
            assert!(report.events.is_empty(), "{:?}", report.events);
            counts.push(report.substeps);
        }
        assert!(is_sound(&simulation, 1.0));
        (counts, simulation.hash())
    };
    let (found, hash) = counts(&adaptive);
    let (least, most) = (found.iter().min().unwrap(), found.iter().max().unwrap());
    assert!(most > least, "{least} to {most}");
    assert_eq!(counts(&adaptive), (found.clone(), hash));
    let (fixed, _) = counts(&STIFFENING.replace("ADAPTIVE", "false"));
    // Hanging, it is stretched far less than what is allowed for.
    let sum = |list: &[u32]| list.iter().sum::<u32>();
    println!("{} substeps instead of {}", sum(&found), sum(&fixed));
    assert!(sum(&found) < sum(&fixed));
}

/// The dangerous case of substeps that follow the state: what stiffens is pulled hard, and needs more of them than the bound for how it is built
/// says. They are recorded by their inputs alone, and are the same again.
#[test]
fn a_hard_pull_needs_more_substeps_and_gets_them() {
    let pull = "[[command]]\nat = 0.1\npush = [0, -2.5, 1.5]\non = { tissue = \"sheet\", node = 35 }\nuntil = 0.25\n";
    let text = format!("{}{pull}", STIFFENING.replace("ADAPTIVE", "true"));
    let scene = Scene::from_text("scene.toml", &text).unwrap();
    let mut simulation = Simulation::new(&scene, 1).unwrap();
    let bounds = simulation.model().groups[0].bounds;
    let fixed = substeps(simulation.model().step, bounds.safe);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pull.trocar");
    let mut writer = Writer::create(&path, &scene, &[]).unwrap();
    let input = simulation.idle_input();
    let (mut hanging, mut pulled) = (0, 0);
    for i in 0..100 {
        let report = simulation.step(&input);
        assert!(report.events.is_empty(), "{:?}", report.events);
        let most = if i < 19 { &mut hanging } else { &mut pulled };
        *most = report.substeps.max(*most);
        writer.step(&input, &simulation).unwrap();
    }
    writer.finish().unwrap();
    assert!(is_sound(&simulation, 1.0));
    println!("{hanging} substeps hanging, {pulled} pulled, {fixed} fixed");
    assert!(
        pulled > 2 * hanging && pulled > fixed,
        "{hanging} {pulled} {fixed}"
    );
    let recording = Recording::read(&path).unwrap();
    let mut again = Simulation::new(&scene, 2).unwrap();
    let verdict = recording.replay(&mut again, |_| true);
    assert_eq!(verdict, Verdict::Same { checked: 100 });
    assert_eq!(again.hash(), simulation.hash());
}

/// The most substeps of any step, with and without the state being asked.
fn followed_and_fixed(scene: &str, steps: usize) -> [u32; 2] {
    ["true", "false"].map(|adaptive| {
        let text = scene.replace("ADAPTIVE", adaptive);
        let mut simulation = simulation(&text).unwrap();
        let input = simulation.idle_input();
        let most = (0..steps).map(|_| {
            let report = simulation.step(&input);
            assert_eq!(report.substeps_short, 0);
            report.substeps
        });
        most.max().unwrap()
    })
}

/// However fast linear springs are drawn and turned, and however short they become, they are no stiffer: following the state never costs more than not to.
#[test]
fn what_is_linear_needs_no_more_substeps_for_being_fast() {
    // A ball that flies through the very point its spring draws it to, which has no length of its own.
    let through = "trocar = 1\n[world]\nstep = 0.002\ngravity = [0, 0, 0]\nadaptive = ADAPTIVE\n[[body]]\nname = \"ball\"\nmass = 0.01\nhalf_extents = [0.005, 0.005, 0.005]\nposition = [0.001, 0, 0]\n[[element]]\na = { body = \"ball\", at = [0, 0, 0] }\nb = { world = [0, 0, 0] }\nrest_length = 0\nanswer = { stiffness = 500000 }\n";
    // A sheet that a command flings about.
    let flung = STIFFENING.replace("stiffness = 20000, law = \"quadratic\"", "stiffness = 40")
        + "[[command]]\nat = 0.1\npush = [0, 5, 8]\non = { tissue = \"sheet\", node = 35 }\nuntil = 0.15\n";
    // A centre that nothing moves may be as light as it likes.
    let held = "trocar = 1\n[world]\nstep = 0.002\nadaptive = ADAPTIVE\n[[organ]]\nname = \"organ\"\npath = [[-0.04, 0, 0], [0, 0, 0], [0.04, 0, 0]]\nradii = [[0.02, 0.02]]\nrings = 8\naround = 8\nmaterial = { mass = 0.0005, damping = 0.05, stiffness = 20, memory = 30, centre_mass = 1e-9, mobile = false }\n";
    // A node that nothing but a spring to a place holds, and one beside it that only a damper brakes.
    let lone = "trocar = 1\n[world]\nstep = 0.002\ngravity = [0, 0, 0]\nadaptive = ADAPTIVE\n[[net]]\nname = \"net\"\npoints = [[0, 0, 0], [0.02, 0, 0], [0, 0.02, 0]]\nfacets = [[0, 1, 2]]\n\
        material = { mass = 0.001, damping = 0, stiffness = 0.001, memory = 0 }\n[[element]]\na = { tissue = \"net\", node = 0 }\nb = { world = [0, 0, 0.01] }\nanswer = { ANSWER }\n\
        [[command]]\nat = 0\npush = [0, 0, 0.1]\non = { tissue = \"net\", node = 0 }\nuntil = 0.01\n";
    let (drawn, braked) = (
        lone.replace("ANSWER", "stiffness = 100000"),
        lone.replace("ANSWER", "damping = 10"),
    );
    // A central node that torsion turns back to space.
    let turned = "trocar = 1\n[world]\nstep = 0.002\ngravity = [0, 0, 0]\nadaptive = ADAPTIVE\n[[net]]\nname = \"net\"\npoints = [[0, 0, 0], [0.02, 0, 0], [0, 0.02, 0]]\nfacets = [[0, 1, 2]]\n\
        centres = [{ position = [0, 0, 0.01], mass = 0.01, inertia = [1e-6, 1e-6, 1e-6] }]\n\
        material = { mass = 0.001, damping = 0, stiffness = 0.001, memory = 0, centre_damping = 0, turn_damping = 0 }\n[[element]]\na = { tissue = \"net\", node = { centre = 0 } }\ntorsion = 100\n";
    for (scene, steps) in [
        (through, 2000),
        (&flung, 400),
        (held, 200),
        (&drawn, 200),
        (&braked, 200),
        (turned, 200),
    ] {
        let [followed, fixed] = followed_and_fixed(scene, steps);
        assert!(followed <= fixed, "{followed} {fixed}: {scene}");
        // Else there would be nothing to compare.
        assert!(
            scene == flung || scene == held || fixed >= 5,
            "{fixed}: {scene}"
        );
    }
}

/// One that stiffens and has no length of its own is looked at a millimetre around where it is, whatever it flies through.
#[test]
fn springs_without_a_length_do_not_ask_for_ever_shorter_substeps() {
    let text = "trocar = 1\n[world]\nstep = 0.002\ngravity = [0, 0, 0]\nadaptive = ADAPTIVE\n[[body]]\nname = \"ball\"\nmass = 0.01\nhalf_extents = [0.005, 0.005, 0.005]\nposition = [0.03, 0, 0]\n[[element]]\na = { body = \"ball\", at = [0, 0, 0] }\nb = { world = [0, 0, 0] }\nrest_length = 0\nanswer = { stiffness = 1000, law = \"quadratic\" }\n";
    let [followed, _] = followed_and_fixed(text, 2000);
    // At 0.8 m/s it takes 1.2 ms for that millimetre.
    assert!(followed <= 3, "{followed}");
}

/// Substeps become longer again when what needed them is over: within a second and a little.
#[test]
fn substeps_lengthen_again_after_a_hard_pull() {
    let pull = "[[command]]\nat = 0.1\npush = [0, -2.5, 1.5]\non = { tissue = \"sheet\", node = 35 }\nuntil = 0.25\n";
    let text = format!("{}{pull}", STIFFENING.replace("ADAPTIVE", "true"));
    let mut simulation = simulation(&text).unwrap();
    let input = simulation.idle_input();
    let counts: Vec<u32> = (0..1000)
        .map(|_| simulation.step(&input).substeps)
        .collect();
    let (pulled, after) = (counts[20..50].iter().max(), counts[950..].iter().max());
    let (pulled, after) = (*pulled.unwrap(), *after.unwrap());
    assert!(
        2 * after < pulled,
        "{pulled} pulled, {after} five seconds later"
    );
}

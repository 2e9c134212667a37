//! Bodies and joints that make no sense are refused with a place and a remedy, or run and say what is wrong. Nothing panics.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::is_sound;
use std::fs;
use trocar_scene::{Scene, SceneError, Simulation};

/// A sound scene. Cases replace one of its lines.
const GOOD: &str = r#"trocar = 1
[world]
step = 0.005
[[body]]
name = "floor"
motion = "static"
form = { half_space = [0, 1, 0] }
position = [0, -1, 0]
[[body]]
name = "box"
mass = 1
half_extents = [0.05, 0.05, 0.05]
position = [0.1, 0, 0]
rotation = [0, 0, 0.1]
velocity = [0, 0, 0]
spin = [0, 0, 0]
friction = [0.6, 0.5]
restitution = 0.2
[[body]]
name = "ball"
density = 500
form = { ball = 0.05 }
position = [0.3, 0, 0]
[[particle]]
name = "bead"
mass = 0.1
position = [0, 0.5, 0]
[[joint]]
kind = "hinge"
a = { world = [0, 0, 0] }
b = { body = "box" }
at = [0, 0, 0]
axis = [0, 0, 1]
range = [-1, 1]
drive = { servo = { target = 0.5, stiffness = 5, damping = 1, most = 3 } }
strength = 1000
[[joint]]
kind = "ball"
a = { body = "box" }
b = { body = "ball" }
at = [0.2, 0, 0]
[[joint]]
kind = "curve"
a = { world = [0, 0, 0] }
b = { particle = "bead" }
curve = { circle = 0.5 }
axis = [0, 0, 1]
[[joint]]
kind = "distance"
a = { body = "ball", at = [0, 0, 0] }
b = { particle = "bead" }
"#;

/// Reads and builds.
fn built(scene: Result<Scene, SceneError>) -> Result<Simulation, SceneError> {
    scene.and_then(|s| Simulation::new(&s, 1))
}

fn with_line(line: usize, new: &str) -> String {
    let mut lines: Vec<&str> = GOOD.lines().collect();
    lines[line - 1] = new;
    lines.join("\n") + "\n"
}

/// Line, what stands there instead, the line the error points to, what it says.
type Case = (usize, &'static str, usize, &'static str);

#[rustfmt::skip]
const CASES: &[Case] = &[
    // Masses.
    (11, "mass = 0", 11, "mass"),
    (11, "mass = -1", 11, "mass"),
    (11, "mass = nan", 11, "mass"),
    (11, "mass = inf", 11, "mass"),
    (11, "mass = 1e300", 11, "mass"),
    (11, "mass = 1e-300", 11, "mass"),
    (11, "", 9, "mass"),
    (11, "mass = 1\ndensity = 1000", 9, "mass"),
    (21, "density = 0", 21, "mass"),
    (21, "density = -5", 21, "mass"),
    (21, "density = inf", 21, "mass"),
    (26, "mass = 0", 26, "mass"),
    // Forms.
    (12, "half_extents = [0.05, 0, 0.05]", 12, "half_extents"),
    (12, "half_extents = [0.05, -0.05, 0.05]", 12, "half_extents"),
    (12, "half_extents = [0.05, nan, 0.05]", 12, "half_extents"),
    (12, "half_extents = [0.05, 1e-9, 0.05]", 12, "too small"),
    (12, "half_extents = [1e300, 0.05, 0.05]", 12, ""),
    (12, "", 9, "form"),
    (12, "form = { half_space = [0, 1, 0] }", 12, "mass"),
    (12, "form = { compound = [] }", 12, ""),
    (12, "form = { hull = [[0, 0, 0], [1, 0, 0], [0, 1, 0]] }", 12, ""),
    (12, "form = { hull = [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]] }", 12, ""),
    (12, "form = { hull = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [nan, 0, 1]] }", 12, ""),
    (12, "form = { hull = [] }", 12, ""),
    (12, "form = { box = [0, 0.1, 0.1] }", 12, ""),
    (12, "form = { box = [inf, 0.1, 0.1] }", 12, ""),
    (12, "form = { capsule = { half_length = -1, radius = 0.1 } }", 12, ""),
    (12, "form = { cylinder = { half_length = 0.1, radius = nan } }", 12, ""),
    (12, "form = { compound = [{ form = { ball = -1 } }] }", 12, ""),
    (12, "form = { compound = [{ form = { ball = 0.1 }, position = [nan, 0, 0] }] }", 12, ""),
    (12, "form = { compound = [{ form = { ball = 0.1 }, rotation = [inf, 0, 0] }] }", 12, ""),
    (12, "form = { compound = [{ form = { half_space = [0, 1, 0] } }] }", 12, ""),
    (12, "form = { mesh = { file = \"none.obj\" } }", 12, "missing"),
    (22, "form = { ball = 0 }", 22, ""),
    (22, "form = { ball = -0.1 }", 22, ""),
    (22, "form = { ball = inf }", 22, ""),
    (7, "form = { half_space = [0, 0, 0] }", 7, "direction"),
    (7, "form = { half_space = [nan, 1, 0] }", 7, ""),
    // Poses and motions.
    (13, "position = [nan, 0, 0]", 13, "finite"),
    (13, "position = [1e9, 0, 0]", 13, "farther"),
    (14, "rotation = [nan, 0, 0]", 9, "finite"),
    (15, "velocity = [inf, 0, 0]", 9, "finite"),
    (16, "spin = [0, -inf, 0]", 9, "finite"),
    (15, "velocity = [1e300, 0, 0]", 0, ""),
    (16, "spin = [1e300, 0, 0]", 0, ""),
    (14, "rotation = [1e300, 0, 0]", 0, ""),
    (6, "motion = \"kinematic\"\nvelocity = [1e200, 0, 0]", 0, ""),
    // Contact.
    (17, "friction = [0.5, 0.6]", 17, "friction"),
    (17, "friction = [-0.5, -0.6]", 17, "friction"),
    (17, "friction = [nan, 0.1]", 17, "friction"),
    (17, "friction = [1e9, 0.1]", 17, "friction"),
    (18, "restitution = 1.5", 18, "restitution"),
    (18, "restitution = nan", 18, "restitution"),
    (18, "restitution = -0.1", 18, "restitution"),
    // Sides of joints.
    (31, "b = { body = \"bax\" }", 31, "no body"),
    (31, "b = { world = [0, 0, 0] }", 31, "side"),
    (31, "b = { body = \"floor\" }", 31, "move"),
    (40, "b = { body = \"box\" }", 40, "same"),
    (40, "b = { particle = \"bid\" }", 40, "no particle"),
    (40, "b = { tissue = \"liver\", node = 3 }", 40, "no tissue"),
    (40, "b = { body = \"ball\", particle = \"bead\" }", 40, "one thing"),
    (40, "b = { body = \"ball\", at = [nan, 0, 0] }", 40, "finite"),
    (31, "b = { particle = \"bead\" }", 31, "axes"),
    // What they say.
    (29, "kind = \"hige\"", 29, "hige"),
    (32, "at = [nan, 0, 0]", 32, "finite"),
    (33, "axis = [0, 0, 0]", 33, "direction"),
    (33, "axis = [nan, 0, 0]", 33, "direction"),
    (33, "axis = [inf, 0, 0]", 33, "direction"),
    (33, "axis = [0, 0, 1]\nsecond_axis = [0, 0, 2]", 34, "same"),
    (34, "range = [1, -1]", 34, "range"),
    (34, "range = [nan, 1]", 34, "range"),
    (34, "range = [0, inf]", 34, "range"),
    (35, "drive = { servo = { target = nan, stiffness = 5, damping = 1, most = 3 } }", 35, ""),
    (35, "drive = { servo = { target = 0, stiffness = -5, damping = 1, most = 3 } }", 35, "negative"),
    (35, "drive = { servo = { target = 0, stiffness = 5, damping = 1, most = inf } }", 35, ""),
    (35, "drive = { force = inf }", 35, ""),
    (35, "drive = { force = nan }", 35, ""),
    (35, "drive = { pid = { proportional = 1, most = 1 } }", 35, "target"),
    (35, "drive = { pid = { place = 1, speed = 1, proportional = 1, most = 1 } }", 35, "target"),
    (35, "drive = { spring = { stiffness = inf } }", 35, ""),
    (36, "strength = 0", 36, "strength"),
    (36, "strength = -1", 36, "strength"),
    (36, "strength = inf", 36, "strength"),
    (43, "kind = \"surface\"", 43, "surface"),
    (46, "", 43, "curve"),
    (46, "curve = { circle = 0 }", 46, ""),
    (46, "curve = { circle = nan }", 46, ""),
    (46, "curve = { helix = [0.1, inf] }", 46, ""),
    (46, "curve = { through = [[0, 0, 0]] }", 46, ""),
    (46, "curve = { through = [[0, 0, 0], [0, 0, 0]] }", 46, ""),
    (46, "curve = { loop = [[0, 0, 0], [1, nan, 0]] }", 46, ""),
    (46, "curve = { loop = [[0.1, 0, 0], [-0.1, 0, 0]] }", 46, "three"),
    (46, "curve = { loop = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 0]] }", 46, "the same"),
    (46, "curve = { through = [[0, 0, 0], [1, 0, 0], [0, 0, 0]] }", 46, "turns back"),
    (46, "curve = { through = [[0, 0, 0], [1, 0, 0], [1.001, 0, 0], [2, 0, 0]] }", 46, "turns back"),
    (49, "kind = \"composed\"", 49, "bases"),
    (49, "kind = \"free\"", 49, "range or a drive"),
    (49, "kind = \"distance\"\nlength = 0", 50, "length"),
    (49, "kind = \"distance\"\nlength = -1", 50, "length"),
    (49, "kind = \"distance\"\nlength = inf", 50, "length"),
    (48, "[[joint]]\ndrive = { force = 1 }", 50, "to limit or drive"),
    // The world.
    (3, "step = 0.005\ntolerance = 0", 4, "tolerance"),
    (3, "step = 0.005\ntolerance = nan", 4, "tolerance"),
    (
        3,
        "step = 0.005\nvelocity_tolerance = 0",
        4,
        "velocity tolerance",
    ),
    (3, "step = 0.005\ncontact_tolerance = 0", 4, "contact tolerance"),
    (3, "step = 0.005\ncontact_velocity_tolerance = nan", 4, "contact velocity tolerance"),
    (3, "step = 0.005\niterations = 0", 4, "iterations"),
    (3, "step = 0.005\nsweeps = 100000000", 4, "sweeps"),
    (3, "step = 0.005\nreach = 1e9", 4, "reach"),
    (3, "step = 0.005\nreach = nan", 4, "reach"),
    (3, "step = 0.005\nsolver = \"magic\"", 4, "magic"),
];

#[test]
fn the_good_scene_runs() {
    let mut simulation =
        built(Scene::from_text("good.toml", GOOD)).unwrap_or_else(|e| panic!("{e}"));
    let input = simulation.idle_input();
    for _ in 0..200 {
        let report = simulation.step(&input);
        assert!(report.events.is_empty(), "{:?}", report.events);
    }
    assert!(is_sound(&simulation, 5.0));
}

#[test]
fn what_makes_no_sense_is_refused_with_a_place() {
    let mut wrong = Vec::new();
    for (line, new, place, problem) in CASES {
        match built(Scene::from_text("bad.toml", &with_line(*line, new))) {
            Ok(_) => wrong.push(format!("line {line}, {new}: not refused")),
            Err(error) => {
                let text = error.to_string();
                if !text.to_lowercase().contains(problem) {
                    wrong.push(format!(
                        "line {line}, {new}: \"{problem}\" is not in: {text}"
                    ));
                }
                if error.remedy.is_empty() {
                    wrong.push(format!("line {line}, {new}: no remedy in: {text}"));
                }
                if *place > 0 && !text.starts_with(&format!("bad.toml:{place}:")) {
                    wrong.push(format!("line {line}, {new}: not at {place} but {text}"));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        CASES.len(),
        wrong.join("\n")
    );
}

/// A cube, its faces as given.
fn cube(faces: &str) -> String {
    let corners: String = (0..8)
        .map(|k| format!("v {} {} {}\n", k & 1, k >> 1 & 1, k >> 2))
        .collect();
    corners + faces
}

const OUT: &str = "f 1 3 4\nf 1 4 2\nf 5 6 8\nf 5 8 7\nf 1 2 6\nf 1 6 5\nf 3 7 8\nf 3 8 4\nf 1 5 7\nf 1 7 3\nf 2 4 8\nf 2 8 6\n";

fn meshed(mesh: &str, motion: &str) -> Result<Simulation, SceneError> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mesh.obj"), mesh).unwrap();
    let text = format!(
        "trocar = 1\n[[body]]\nname = \"body\"\nposition = [0, 0, 0]\nmotion = \"{motion}\"\nmass = 1\nform = {{ mesh = {{ file = \"mesh.obj\", scale = 0.1 }} }}\n"
    );
    fs::write(folder.path().join("scene.toml"), text).unwrap();
    built(Scene::load(folder.path().join("scene.toml")))
}

#[test]
fn a_mesh_that_moves_is_closed_and_turned_outwards() {
    assert!(meshed(&cube(OUT), "dynamic").is_ok());
    let open: String = OUT.lines().skip(1).map(|l| format!("{l}\n")).collect();
    let inverted: String = OUT
        .lines()
        .map(|l| {
            let n: Vec<&str> = l.split(' ').collect();
            format!("f {} {} {}\n", n[1], n[3], n[2])
        })
        .collect();
    let mixed = OUT.replacen("f 1 3 4", "f 1 4 3", 1);
    let flat = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 1 3 2\n".to_string();
    // What faces the wrong way is turned when it is read.
    assert!(meshed(&cube(&inverted), "dynamic").is_ok());
    assert!(meshed(&cube(&mixed), "dynamic").is_ok());
    for (what, mesh) in [("open", cube(&open)), ("flat", flat)] {
        match meshed(&mesh, "dynamic") {
            Ok(_) => panic!("{what} was not refused"),
            Err(error) => {
                println!("{what}: {error}");
                assert!(
                    error.to_string().contains("scene.toml:7:"),
                    "{what}: {error}"
                );
                assert!(!error.remedy.is_empty());
            }
        }
    }
    // What stands still may be open.
    assert!(meshed(&cube(&open), "static").is_ok());
}

/// Allowed but absurd: it runs, stays finite, and says that it could not be solved if it could not.
#[test]
fn what_is_absurd_runs_and_stays_finite() {
    let body = |name: &str, at: &str, more: &str| {
        format!(
            "[[body]]\nname = \"{name}\"\nposition = {at}\nhalf_extents = [0.05, 0.05, 0.05]\n{more}\n"
        )
    };
    let head = "trocar = 1\n[world]\nstep = 0.005\nreach = 1000\n";
    let floor = "[[body]]\nname = \"floor\"\nmotion = \"static\"\nposition = [0, -0.05, 0]\nform = { half_space = [0, 1, 0] }\n";
    let ball = |a: &str, b: &str, more: &str| {
        format!("[[joint]]\nkind = \"ball\"\na = {{ {a} }}\nb = {{ {b} }}\n{more}\n")
    };
    let scenes = [
        (
            "light and heavy",
            format!(
                "{head}{}{}{}{}",
                body("a", "[0, 0, 0]", "mass = 1e-9"),
                body("b", "[1, 0, 0]", "mass = 1000"),
                ball("world = [-1, 0, 0]", "body = \"a\", at = [-1, 0, 0]", ""),
                ball(
                    "body = \"a\", at = [1, 0, 0]",
                    "body = \"b\", at = [0, 0, 0]",
                    ""
                )
            ),
        ),
        (
            "far apart",
            format!(
                "{head}{}{}{}",
                body("a", "[0, 0, 0]", "mass = 1"),
                body("b", "[500, 0, 0]", "mass = 1"),
                ball(
                    "body = \"a\", at = [0, 0, 0]",
                    "body = \"b\", at = [0, 0, 0]",
                    ""
                )
            ),
        ),
        (
            "spinning madly",
            format!(
                "{head}{}{}",
                body("a", "[0, 0, 0]", "mass = 1\nspin = [1e4, 2e4, -1e4]"),
                ball("world = [0, 0, 0]", "body = \"a\", at = [0.3, 0, 0]", "")
            ),
        ),
        (
            "flung at a floor",
            format!(
                "{head}{floor}{}",
                body(
                    "a",
                    "[0, 10, 0]",
                    "mass = 1\nvelocity = [0, -1e4, 0]\nspin = [100, 0, 0]"
                )
            ),
        ),
        (
            "all in one place",
            format!(
                "{head}{floor}{}",
                (0..8)
                    .map(|k| body(&format!("b{k}"), "[0, 0, 0]", "mass = 1"))
                    .collect::<String>()
            ),
        ),
        (
            "two fixtures",
            format!(
                "{head}{}{}{}",
                body("a", "[0, 0, 0]", "mass = 1"),
                "[[joint]]\nkind = \"fixed\"\na = { world = [0, 0, 0] }\nb = { body = \"a\", at = [0, 0, 0] }\n",
                "[[joint]]\nkind = \"fixed\"\na = { world = [1, 0, 0] }\nb = { body = \"a\", at = [0, 0, 0] }\n"
            ),
        ),
        (
            "a mighty motor",
            format!(
                "{head}{}{}",
                body("a", "[0, 0, 0]", "mass = 0.001"),
                "[[joint]]\nkind = \"hinge\"\na = { world = [0, 0, 0] }\nb = { body = \"a\" }\nat = [0, 0, 0]\ndrive = { force = 1e12 }\n"
            ),
        ),
        (
            "a mighty servo",
            format!(
                "{head}{}{}",
                body("a", "[0, 0, 0]", "mass = 0.001"),
                "[[joint]]\nkind = \"slider\"\na = { world = [0, 0, 0] }\nb = { body = \"a\" }\nat = [0, 0, 0]\ndrive = { servo = { target = 3, stiffness = 1e12, damping = 1e12, most = 1e12 } }\n"
            ),
        ),
        (
            "a mighty controller",
            format!(
                "{head}{}{}",
                body("a", "[0, 0, 0]", "mass = 0.001"),
                "[[joint]]\nkind = \"hinge\"\na = { world = [0, 0, 0] }\nb = { body = \"a\" }\nat = [0, 0, 0]\ndrive = { pid = { place = 1, proportional = 1e12, integral = 1e12, differential = 1e12, most = 1e12 } }\n"
            ),
        ),
        (
            "a range of nothing",
            format!(
                "{head}{}{}",
                body("a", "[0.2, 0, 0]", "mass = 1"),
                "[[joint]]\nkind = \"hinge\"\na = { world = [0, 0, 0] }\nb = { body = \"a\" }\nat = [0, 0, 0]\naxis = [0, 0, 1]\nrange = [0.5, 0.5]\n"
            ),
        ),
        (
            "a curve's middle",
            format!(
                "{head}[[particle]]\nname = \"p\"\nmass = 1\nposition = [0, 0, 0]\n{}",
                "[[joint]]\nkind = \"curve\"\na = { world = [0, 0, 0] }\nb = { particle = \"p\" }\ncurve = { circle = 0.5 }\n"
            ),
        ),
        (
            "a sphere's middle",
            format!(
                "{head}[[particle]]\nname = \"p\"\nmass = 1\nposition = [0, 0, 0]\n{}",
                "[[joint]]\nkind = \"surface\"\na = { world = [0, 0, 0] }\nb = { particle = \"p\" }\nsurface = { sphere = 0.5 }\n"
            ),
        ),
        (
            "a needle and a plate",
            format!(
                "{head}{floor}[[body]]\nname = \"n\"\nmass = 1e-6\nposition = [0, 0.5, 0]\nform = {{ box = [1e-6, 1e-6, 5] }}\n{}",
                body("a", "[0, 0, 0]", "mass = 1000")
            ),
        ),
    ];
    // Those that are no scenes at all, and why.
    let refused: [(&str, &str); 0] = [];
    for (what, text) in scenes {
        for solver in ["auto", "iterative", "system", "graph"] {
            let text = text.replace(
                "reach = 1000",
                &format!("reach = 1000\nsolver = \"{solver}\""),
            );
            let expected = refused.iter().find(|r| r.0 == what);
            let mut simulation = match built(Scene::from_text("absurd.toml", &text)) {
                Ok(simulation) => simulation,
                Err(error) => {
                    assert!(!error.remedy.is_empty(), "{what}: {error}");
                    let meant = expected.is_some_and(|r| error.to_string().contains(r.1));
                    assert!(meant, "{what} should load: {error}");
                    continue;
                }
            };
            assert_eq!(expected, None, "{what} should not load");
            let input = simulation.idle_input();
            for step in 0..200 {
                simulation.step(&input);
                assert!(is_sound(&simulation, 1e5), "{what}, {solver}, step {step}");
            }
            if what == "two fixtures" {
                assert!(!simulation.report().aim.converged, "{solver}");
            }
        }
    }
}

//! A broken scene is refused with an error that names the file, the line, the problem and what to do. Nothing panics.

mod common;

use common::{is_sound, scenes};
use proptest::{prelude::*, test_runner::Config};
use std::{fs, path::Path};
use trocar_scene::{Bundle, Scene, SceneError, Simulation};

/// A sound scene with a bit of everything. Cases replace one of its lines.
const GOOD: &str = r#"trocar = 1
[world]
step = 0.002
[[organ]]
name = "organ"
path = [[0, 0, 0], [0.05, 0, 0], [0.1, 0, 0]]
radii = [[0.02, 0.02]]
rings = 6
around = 8
fixed = [{ ring = 0 }]
[organ.material]
mass = 0.0005
damping = 0.1
stiffness = 60
memory = 10
[[pipe]]
name = "pipe"
path = [[0.1, 0, 0], [0.2, 0, 0]]
radii = [[0.01, 0.01]]
rings = 5
around = 8
material = { mass = 0.0002, damping = 0.05, stiffness = 30, memory = 5 }
[[couple]]
master = { tissue = "organ", ring = 5 }
slave = { tissue = "pipe", ring = 0 }
[[body]]
name = "box"
mass = 0.02
half_extents = [0.01, 0.01, 0.01]
position = [0.2, -0.05, 0]
[[particle]]
name = "bead"
mass = 0.005
position = [0.2, -0.1, 0]
[[tie]]
a = { body = "box", at = [0, -0.01, 0] }
b = { particle = "bead" }
length = 0.04
[[instrument]]
name = "grasper"
trocar = [0, 0.15, 0.1]
target = [0, 0, 0]
depth = 0.1
[camera]
eye = [0, 0.1, 0.3]
target = [0, 0, 0]
[[scenery]]
name = "vein"
tube = { path = [[0, 0.1, 0], [0.1, 0.1, 0]], radii = [[0.01, 0.01]] }
[[sheet]]
name = "sheet"
origin = [-0.1, -0.1, 0]
u = [0.1, 0, 0]
v = [0, 0, 0.1]
rows = 5
columns = 5
material = { mass = 0.001, damping = 0.1, stiffness = 20, memory = 5 }
[endoscope]
trocar = [0, 0.15, 0.2]
target = [0, 0, 0]
depth = 0.1
optics = 30
"#;

/// What the good one lacks: signals and what they drive, single nodes and elements, elements between things, bodies that are held.
const RICH: &str = r#"trocar = 1
[[signal]]
name = "beat"
sine = { mean = 0.5, amplitude = 0.5, rate = 2, phase = 0.25 }
[[signal]]
name = "pulse"
pulse = { start = 0.01, period = 0.5, rise = 0.1, hold = 0.1, fall = 0.1 }
[[signal]]
name = "table"
table = [[0, 0], [0.1, 1], [0.2, 0.5]]
[[net]]
name = "net"
points = [[0, 0, 0], [0.02, 0, 0], [0.01, 0.02, 0], [0.03, 0.02, 0]]
facets = [[0, 1, 2], [1, 3, 2]]
material = { mass = 0.001, damping = 0.05, stiffness = 20, memory = 5, gain = [1, 1], dead = [0, 0], limit = [10, 10], ground = -0.5, contact_thickness = 0.001, bears = 2, friction = [0.3, 0.2] }
[net.edit]
nodes = [{ node = 2, mass = 0.002, damping = 0.04, memory = 3, position = [0.01, 0.021, 0], axes = [1, 0.5, 1] }]
elements = [
  { a = 0, b = 3, answer = { stiffness = 5, yields = { strain = 0.1, hardening = 0.2, most = 0.5 } } },
  { a = 0, b = 3, answer = { stiffness = 2, dead = [0.001, 0.002] }, drive = { signal = "beat", length = 0.1 } },
]
bends = [{ nodes = [0, 1, 3], stiffness = 0.001 }]
[[sheet]]
name = "sheet"
origin = [0, 0.1, 0]
u = [0.04, 0, 0]
v = [0, 0, 0.04]
rows = 4
columns = 4
fixed = [{ ring = 0, axes = [0, 0.5, 0] }]
material = { mass = 0.001, damping = 0.05, stiffness = 20 }
[sheet.edit]
driven = [{ which = "along", drive = { signal = "pulse", force = 0.02 } }, { which = "around", drive = { signal = "table", stiffness = 0.5 } }]
[[body]]
name = "held"
mass = 0.05
half_extents = [0.01, 0.01, 0.01]
position = [0.02, -0.2, 0]
damping = 0.1
turn_damping = 0.001
rest_stiffness = 20
rest_torsion = 0.01
[[element]]
a = { tissue = "net", node = 3 }
b = { body = "held", at = [0, 0.01, 0] }
rest_length = 0.1
answer = { stiffness = 4, gain = [1, 2] }
drive = { signal = "table", force = 0.01 }
[[command]]
at = 0.004
set = [{ of = "net", what = "stiffness", to = 25 }]
[[command]]
at = 0.002
push = [0, 0.01, 0]
on = { tissue = "sheet", node = 9 }
until = 0.02
"#;

/// Reads and builds.
fn refused(scene: Result<Scene, SceneError>) -> SceneError {
    match scene.and_then(|s| Simulation::new(&s, 1).map(|_| ())) {
        Ok(()) => panic!("it was not refused"),
        Err(error) => error,
    }
}

/// The good scene with `line` (from 1) replaced.
fn with_line(line: usize, new: &str) -> String {
    let mut lines: Vec<&str> = GOOD.lines().collect();
    lines[line - 1] = new;
    lines.join("\n") + "\n"
}

fn check(what: &str, error: &SceneError, place: Option<(usize, usize)>, problem: &str) {
    let text = error.to_string();
    assert!(
        error.problem.contains(problem),
        "{what}: \"{problem}\" is not in: {text}"
    );
    assert!(!error.remedy.is_empty(), "{what}: no remedy in: {text}");
    let start = match place {
        None => format!("{}: ", error.file),
        Some((line, 0)) => format!("{}:{line}:", error.file),
        Some((line, column)) => format!("{}:{line}:{column}: ", error.file),
    };
    assert!(
        text.starts_with(&start),
        "{what}: not at {start} but {text}"
    );
}

/// Line, what stands there instead, where the error points (column 0: any), what it says.
type Case = (usize, &'static str, (usize, usize), &'static str);

#[rustfmt::skip]
const CASES: &[Case] = &[
    // Broken text, unknown keys, wrong types.
    (5, "name = \"organ", (5, 0), "invalid basic string"),
    (4, "[[organ]", (4, 0), ""),
    (3, "step = ", (3, 0), ""),
    (1, "trocar = 1\nscalpel = 3", (2, 1), "unknown field `scalpel`"),
    (3, "step = 0.002\nspeed = 1", (4, 1), "unknown field `speed`"),
    (15, "memroy = 10", (15, 1), "unknown field `memroy`"),
    (22, "material = { mass = 0.0002, damping = 0.05, stiffness = 30, mass2 = 5 }", (22, 61), "unknown field `mass2`"),
    (37, "b = { particle = \"bead\", knot = 1 }", (37, 26), "unknown field `knot`"),
    (3, "step = \"fast\"", (3, 8), "invalid type"),
    (8, "rings = 6.5", (8, 9), "invalid type"),
    (8, "rings = -6", (8, 9), "invalid value"),
    (6, "path = [[0, 0], [1, 0]]", (6, 0), "invalid length"),
    (12, "mass = true", (12, 8), "invalid type"),
    (13, "", (11, 1), "missing field `damping`"),
    (9, "around = 8\naround = 9", (10, 1), "duplicate key"),
    (4, "[organ]", (4, 0), "invalid type"),
    // Versions and names.
    (1, "trocar = 2", (1, 10), "version 2"),
    (1, "trocar = 0", (1, 10), "version 0"),
    (1, "", (1, 1), "missing field `trocar`"),
    (17, "name = \"organ\"", (17, 8), "the name \"organ\" is taken"),
    (32, "name = \"grasper\"", (40, 8), "the name \"grasper\" is taken"),
    (5, "name = \"  \"", (5, 8), "the name is empty"),
    // Counts.
    (8, "rings = 1", (8, 9), "rings is 1, but must be at least 2"),
    (8, "rings = 0", (8, 9), "must be at least 2"),
    (9, "around = 2", (9, 10), "around is 2, but must be at least 3"),
    (8, "rings = 9000000000", (8, 9), "more than the limit"),
    (8, "rings = 9223372036854775807", (8, 9), "more than the limit"),
    (55, "rows = 1", (55, 8), "rows is 1"),
    (56, "columns = 1000000", (55, 8), "more than the limit"),
    (7, "radii = [[0.02, 0.02], [0.01, 0.01]]", (7, 9), "there are 2 radii for 3 path points"),
    (7, "radii = []", (7, 9), "there are 0 radii"),
    (6, "path = [[0, 0, 0]]", (6, 8), "the path has 1 point"),
    (6, "path = [[0, 0, 0], [0, 0, 0], [0.1, 0, 0]]", (6, 8), "in the same place"),
    (54, "v = [0.2, 0, 0]", (54, 5), "span no area"),
    (21, "around = 9", (25, 9), "the rings have 8 and 9 nodes"),
    // Numbers that are none, or in the wrong unit.
    (3, "step = nan", (3, 8), "out of range"),
    (3, "step = 2", (3, 8), "out of range"),
    (3, "step = 0", (3, 8), "out of range"),
    (3, "step = 0.002\ngravity = [0, -9810, 0]", (4, 11), "gravity is out of range"),
    (3, "step = 0.002\ngravity = [0, nan, 0]", (4, 11), "gravity is out of range"),
    (6, "path = [[0, 0, 0], [0.05, nan, 0], [0.1, 0, 0]]", (6, 8), "not a finite number"),
    (6, "path = [[0, 0, 0], [0.05, inf, 0], [0.1, 0, 0]]", (6, 8), "not a finite number"),
    (6, "path = [[0, 0, 0], [50, 0, 0], [100, 0, 0]]", (6, 8), "farther than 10 m"),
    (7, "radii = [[20, 20]]", (7, 9), "longer than 10 m"),
    (7, "radii = [[0.02, -0.02]]", (7, 9), "must be positive"),
    (7, "radii = [[nan, 0.02]]", (7, 9), "must be positive"),
    (30, "position = [200, -50, 0]", (30, 12), "farther than 10 m"),
    (29, "half_extents = [10.5, 10, 10]", (29, 16), "longer than 10 m"),
    (29, "half_extents = [0.01, 0, 0.01]", (29, 16), "must be positive"),
    (29, "half_extents = [1e-200, 1e-200, 1e-200]", (29, 16), "too small"),
    (30, "position = [0.2, -0.05, 0]\nvelocity = [inf, 0, 0]", (26, 0), "must be finite"),
    (34, "position = [0.2, -100, 0]", (34, 12), "farther than 10 m"),
    (41, "trocar = [0, 150, 100]", (41, 10), "farther than 10 m"),
    (42, "target = [0, nan, 0]", (42, 10), "not a finite number"),
    (42, "target = [0, 0.15, 0.1]", (42, 10), "the same point"),
    (43, "depth = 100", (43, 9), "beyond the instrument's reach"),
    (43, "depth = nan", (43, 9), "beyond the instrument's reach"),
    (43, "depth = 0.1\njaw_length = 20", (44, 14), "longer than 10 m"),
    (43, "depth = 0.1\nshaft_radius = 0", (44, 16), "must be positive"),
    (43, "depth = 0.1\njaw_radius = 0.0", (44, 14), "must be positive"),
    (43, "depth = 130\ndepths = [20, 300]", (44, 10), "longer than 10 m"),
    (43, "depth = 0.1\nyaw = [1, -1]", (39, 0), "in that order"),
    (43, "depth = 0.1\ngrip_force = -1", (39, 0), "must be positive"),
    (43, "depth = 0.1\njaw = 9", (43, 9), "beyond the instrument's reach"),
    (45, "eye = [0, nan, 0.3]", (45, 7), "out of range"),
    (45, "eye = [0, 100, 300]", (45, 7), "out of range"),
    (45, "eye = [0, 0, 0]", (45, 7), "do not span a view"),
    (45, "eye = [0, 1, 0]", (45, 7), "do not span a view"),
    (46, "target = [0, 0, 0]\nfield_of_view = 200", (47, 17), "out of range"),
    (48, "name = \"vein\"\nscale = 0", (49, 9), "must be positive"),
    (48, "name = \"vein\"\nopacity = 7", (49, 11), "between 0 and 1"),
    (48, "name = \"vein\"\ncolour = [255, 0, 0]", (49, 10), "between 0 and 1"),
    (10, "fixed = []\ncolour = [1, 0, nan]", (11, 10), "between 0 and 1"),
    (49, "tube = { path = [[0, 100, 0], [100, 100, 0]], radii = [[10, 10]] }", (47, 0), "reaches"),
    (49, "tube = { path = [[0, nan, 0], [0.1, 0.1, 0]], radii = [[0.01, 0.01]] }", (49, 0), "not a usable position"),
    (49, "tube = { path = [[0, 0.1, 0]], radii = [[0.01, 0.01]] }", (49, 0), "the path has 1 point"),
    (49, "", (47, 0), "a mesh or a tube"),
    // The endoscope.
    (59, "trocar = [0, 150, 200]", (59, 10), "trocar is out of range"),
    (59, "trocar = [0, nan, 0.2]", (59, 10), "trocar is out of range"),
    (60, "target = [0, inf, 0]", (60, 10), "target is out of range"),
    (60, "target = [0, 0.15, 0.2]", (60, 10), "the same point"),
    (61, "depth = 100", (61, 9), "does not reach a depth of 100"),
    (61, "depth = nan", (61, 9), "does not reach"),
    (61, "depth = 0.1\ndepths = [0.02, 300]", (62, 10), "a depth of 300"),
    (61, "depth = 0.1\ndepths = [0.2, 0.1]", (58, 0), "in that order"),
    (61, "depth = 0.1\nyaw = [0.5, 1]", (61, 9), "does not reach"),
    (61, "depth = 0.1\npitch = [-2, 2]", (58, 0), "quarter turn"),
    (62, "optics = 90", (62, 10), "optics of 90"),
    (62, "optics = nan", (62, 10), "do not exist"),
    (62, "optics = \"steep\"", (62, 10), "invalid type"),
    (62, "field_of_view = 170", (62, 17), "out of range"),
    (62, "zoom = [3, 1]", (62, 8), "a zoom from 3.0 to 1.0"),
    (62, "zoom = [0.5, 2]", (62, 8), "out of range"),
    (62, "zoom = [1, nan]", (62, 8), "out of range"),
    (62, "radius = 5", (62, 10), "a radius of 5"),
    (62, "speed = -1", (62, 9), "a speed of -1"),
    (62, "sharpness = 2", (62, 1), "unknown field `sharpness`"),
    // Looks and sources.
    (10, "look = \"spleen\"", (10, 8), "unknown variant `spleen`"),
    (48, "name = \"vein\"\nlook = 3", (49, 0), ""),
    (15, "source = \" \"", (15, 10), "the source is empty"),
    // Materials.
    (12, "mass = -0.0005", (12, 8), "not between 1e-9 and 1000"),
    (12, "mass = 0", (12, 8), "not between 1e-9 and 1000"),
    (12, "mass = nan", (12, 8), "not between 1e-9 and 1000"),
    (28, "mass = 0", (28, 8), "not between 1e-9 and 1000"),
    (33, "mass = -1", (33, 8), "not between 1e-9 and 1000"),
    (33, "mass = inf", (33, 8), "not between 1e-9 and 1000"),
    (14, "stiffness = -1", (14, 13), "must be at least 0"),
    (14, "stiffness = nan", (14, 13), "must be at least 0"),
    (14, "stiffness = 1e300", (14, 13), "1e9"),
    (14, "stiffness = 1e9", (14, 13), "substeps"),
    (12, "mass = 1e4", (12, 8), "not between 1e-9 and 1000"),
    (28, "mass = 1e-308", (28, 8), "not between 1e-9 and 1000"),
    (57, "material = { mass = 0.001, damping = 0.1, stiffness = 1e8, memory = 5 }", (57, 55), "substeps"),
    (13, "damping = -0.1", (13, 11), "must be at least 0"),
    (15, "bears = 0", (15, 9), "must be positive"),
    // Names and places that are not there.
    (24, "master = { tissue = \"spleen\", ring = 5 }", (24, 10), "no tissue called \"spleen\""),
    (24, "master = { tissue = \"organ\", ring = 6 }", (24, 10), "has no ring 6"),
    (25, "slave = { tissue = \"organ\", ring = 1 }", (25, 9), "the rings have"),
    (25, "slave = { tissue = \"pipe\", ring = 0 }\nforce_factor = 2", (26, 16), "between 0 and 1"),
    (25, "slave = { tissue = \"pipe\", ring = 0 }\n[[couple]]\nmaster = { tissue = \"organ\", ring = 4 }\nslave = { tissue = \"pipe\", ring = 0 }", (28, 9), "follows one other"),
    (25, "slave = { tissue = \"pipe\", ring = 0 }\n[[couple]]\nmaster = { tissue = \"pipe\", ring = 0 }\nslave = { tissue = \"organ\", ring = 5 }", (28, 9), "follows one other"),
    (36, "a = { body = \"crate\" }", (36, 5), "no body called \"crate\""),
    (37, "b = { particle = \"pearl\" }", (37, 5), "no particle called \"pearl\""),
    (37, "b = { tissue = \"spleen\", node = 1 }", (37, 5), "no tissue called \"spleen\""),
    (37, "b = { tissue = \"sheet\", node = 25 }", (37, 5), "has no node 25"),
    (37, "b = { tissue = \"sheet\", node = 4294967295 }", (37, 5), "has no node 4294967295"),
    (37, "b = { tissue = \"sheet\" }", (37, 5), "a node or a place"),
    (37, "b = { tissue = \"sheet\", node = 1, at = [0, 0, 0] }", (37, 5), "a node or a place"),
    (37, "b = { tissue = \"sheet\", at = [0, nan, 0] }", (37, 5), "not a finite number"),
    (37, "b = {}", (37, 5), "a point is on one thing"),
    (37, "b = { particle = \"bead\", body = \"box\" }", (37, 5), "a point is on one thing"),
    (37, "b = { body = \"box\", at = [0, -0.01, 0] }", (37, 5), "both ends are the same"),
    (36, "a = { particle = \"bead\" }", (37, 5), "both ends are the same"),
    (35, "[[tie]]\na = { world = [0, 0, 0] }\nb = { world = [1, 0, 0] }\n[[tie]]", (37, 5), "both ends are fixed"),
    (38, "length = 0", (38, 10), "must be positive"),
    (38, "length = 40", (38, 10), "longer than 10 m"),
    // Selections.
    (10, "fixed = [{ ring = 6 }]", (10, 10), "no ring 6"),
    (10, "fixed = [{ ring = 0 }, { nodes = [50] }]", (10, 24), "no node 50"),
    (10, "fixed = [{ ring = 0, nodes = [1] }]", (10, 10), "one of `ring`, `nodes`, `within`"),
    (10, "fixed = [{}]", (10, 10), "one of `ring`, `nodes`, `within`"),
    (10, "fixed = [{ within = { centre = [1, 1, 1], radius = 0.1 } }]", (10, 10), "no node lies inside"),
    (10, "fixed = [{ within = { centre = [0, 0, 0], radius = -1 } }]", (10, 10), "radius is -1"),
    (10, "fixed = [{ within = { centre = [0, 0, 0], radius = nan } }]", (10, 10), "radius is NaN"),
    // Files that text alone can't have.
    (49, "mesh = \"liver.obj\"", (49, 8), "missing"),
    (1, "trocar = 1\ninclude = [\"parts.toml\"]", (2, 12), "missing"),
];

#[test]
fn the_good_scene_is_good() {
    for text in [GOOD, RICH] {
        let scene = Scene::from_text("good.toml", text).unwrap();
        let mut simulation = Simulation::new(&scene, 1).unwrap();
        for _ in 0..200 {
            let report = simulation.step(&simulation.idle_input());
            let told: Vec<String> = report.events.iter().map(|e| e.what.to_string()).collect();
            assert!(
                told.is_empty() || told == ["net: stiffness is now 25"],
                "{told:?}"
            );
        }
        assert!(is_sound(&simulation, 1.0));
    }
}

/// Signals and forces beyond all measure would sooner or later be no numbers.
#[test]
fn absurd_drives_are_refused() {
    for (was, is, why) in [
        ("rate = 2", "rate = 1e308", "no larger than 1e9"),
        ("phase = 0.25", "phase = 1e300", "no larger than 1e9"),
        ("[0.1, 1]", "[0.1, 1e308]", "no larger than 1e9"),
        ("force = 0.02", "force = 1e307", "no larger than 1e9 N"),
        ("force = 0.02", "force = 1e8", "substeps in every step"),
        (
            "stiffness = 4, gain = [1, 2]",
            "stiffness = 1e200, gain = [1, 1e200]",
            "[[element]] 0",
        ),
        (
            "nodes = [0, 1, 3], stiffness = 0.001",
            "nodes = [0, 1, 3], stiffness = 1e308",
            "substeps in every step",
        ),
        (
            "memory = 3",
            "memory = 1e308",
            "the shape memory of node 2 of net",
        ),
    ] {
        assert!(RICH.contains(was), "{was}");
        let text = RICH.replacen(was, is, 1);
        let made = Scene::from_text("broken.toml", &text).and_then(|s| Simulation::new(&s, 1));
        let error = made.err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains(why), "{is}: {error}");
        assert!(error.starts_with("broken.toml:"), "{error}");
    }
}

#[test]
fn every_broken_line_is_named() {
    for (line, new, place, problem) in CASES {
        let read = Scene::from_text("broken.toml", &with_line(*line, new));
        let error = match read.and_then(|s| Simulation::new(&s, 1).map(|_| ())) {
            Ok(()) => panic!("line {line}: {new}: it was not refused"),
            Err(error) => error,
        };
        assert_eq!(error.file, "broken.toml");
        check(
            &format!("line {line}: {new}"),
            &error,
            Some(*place),
            problem,
        );
    }
}

#[test]
fn a_file_that_is_no_text_is_refused_as_a_whole() {
    let read = |bytes: &[u8]| {
        refused(Scene::from_bundle(&Bundle {
            files: vec![("broken.toml".into(), bytes.to_vec())],
        }))
    };
    check(
        "latin-1",
        &read(b"trocar = 1\nname = \"\xe9\"\n"),
        None,
        "not UTF-8",
    );
    check("empty", &read(b""), Some((1, 1)), "missing field `trocar`");
    check("binary", &read(&[0; 64]), Some((1, 0)), "");
    let mut large = GOOD.to_string();
    large += &"# padding\n".repeat((65 << 20) / 10);
    check("large", &read(large.as_bytes()), None, "more than 67108864");
    let error = refused(Scene::from_bundle(&Bundle::default()));
    check("no file", &error, None, "no scene");
}

/// A folder with these files.
fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, contents) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
        fs::write(path, contents).expect("it can be written");
    }
    folder
}

/// Loads `main.toml` of a folder; the error must name a file in it as the user would.
fn from_folder(folder: &Path, file: &str) -> SceneError {
    let error = refused(Scene::load(folder.join("main.toml")));
    assert_eq!(error.file, folder.join(file).display().to_string());
    error
}

fn including(name: &str) -> String {
    format!("trocar = 1\ninclude = [\"{name}\"]\n")
}

#[test]
fn includes_stay_inside_the_folder() {
    let outside = folder(&[("secret.toml", GOOD.as_bytes())]);
    let secret = outside.path().join("secret.toml");
    for name in [
        "../x.toml",
        "a/../../x.toml",
        secret.to_str().unwrap(),
        "",
        ".",
        "a\\\\b.toml",
    ] {
        let inside = folder(&[("main.toml", including(name).as_bytes())]);
        let error = from_folder(inside.path(), "main.toml");
        check(
            name,
            &error,
            Some((2, 12)),
            "leads outside the scene's folder",
        );
    }
    #[cfg(unix)]
    {
        let inside = folder(&[("main.toml", including("link.toml").as_bytes())]);
        std::os::unix::fs::symlink(&secret, inside.path().join("link.toml")).unwrap();
        let error = from_folder(inside.path(), "main.toml");
        check(
            "symlink",
            &error,
            Some((2, 12)),
            "outside the scene's folder",
        );

        let inside = folder(&[("main.toml", including("parts/secret.toml").as_bytes())]);
        std::os::unix::fs::symlink(outside.path(), inside.path().join("parts")).unwrap();
        let error = from_folder(inside.path(), "main.toml");
        check(
            "linked folder",
            &error,
            Some((2, 12)),
            "outside the scene's folder",
        );
    }
}

#[test]
fn includes_that_cannot_be_read_are_the_includers_mistake() {
    let inside = folder(&[("main.toml", including("gone.toml").as_bytes())]);
    let error = from_folder(inside.path(), "main.toml");
    check(
        "missing",
        &error,
        Some((2, 12)),
        "gone.toml: it can't be read",
    );

    let inside = folder(&[
        ("main.toml", including("parts").as_bytes()),
        ("parts/x", b""),
    ]);
    let error = from_folder(inside.path(), "main.toml");
    check("a folder", &error, Some((2, 12)), "parts: it is not a file");

    let inside = folder(&[
        ("main.toml", including("latin.toml").as_bytes()),
        ("latin.toml", b"trocar = 1\nname = \"\xe9\""),
    ]);
    let error = from_folder(inside.path(), "main.toml");
    check(
        "latin-1",
        &error,
        Some((2, 12)),
        "latin.toml: it is not UTF-8",
    );

    let padding = vec![b'#'; 65 << 20];
    let inside = folder(&[
        ("main.toml", including("big.toml").as_bytes()),
        ("big.toml", &padding),
    ]);
    let error = from_folder(inside.path(), "main.toml");
    check(
        "large",
        &error,
        Some((2, 12)),
        "big.toml: it has 68157440 bytes",
    );

    // One that is wrong inside is its own mistake.
    let inside = folder(&[
        ("main.toml", including("parts/a.toml").as_bytes()),
        ("parts/a.toml", b"trocar = 1\n\n[world]\nstep = 5\n"),
    ]);
    let error = from_folder(inside.path(), "parts/a.toml");
    check("wrong inside", &error, Some((4, 8)), "out of range");

    let inside = folder(&[
        ("main.toml", including("old.toml").as_bytes()),
        ("old.toml", b"trocar = 7"),
    ]);
    let error = from_folder(inside.path(), "old.toml");
    check("version", &error, Some((1, 10)), "version 7");
}

#[test]
fn includes_do_not_go_round_in_circles() {
    let inside = folder(&[("main.toml", including("main.toml").as_bytes())]);
    let error = from_folder(inside.path(), "main.toml");
    check(
        "itself",
        &error,
        Some((2, 12)),
        "in a circle: main.toml → main.toml",
    );

    let inside = folder(&[
        ("main.toml", including("a/b.toml").as_bytes()),
        ("a/b.toml", including("./c.toml").as_bytes()),
        ("a/c.toml", including("../main.toml").as_bytes()),
    ]);
    let error = from_folder(inside.path(), "a/c.toml");
    check(
        "circle",
        &error,
        Some((2, 12)),
        "main.toml → a/b.toml → a/c.toml → main.toml",
    );

    // Twice the same file by two ways is no circle.
    let inside = folder(&[
        (
            "main.toml",
            b"trocar = 1\ninclude = [\"a.toml\", \"b.toml\"]",
        ),
        ("a.toml", including("b.toml").as_bytes()),
        ("b.toml", b"trocar = 1"),
    ]);
    assert_eq!(
        Scene::load(inside.path().join("main.toml"))
            .unwrap()
            .sources
            .len(),
        3
    );
}

#[test]
fn too_many_files_are_refused() {
    let names: Vec<String> = (0..70).map(|i| format!("\"p{i}.toml\"")).collect();
    let main = format!("trocar = 1\ninclude = [{}]", names.join(", "));
    let inside = folder(&[("main.toml", main.as_bytes())]);
    for i in 0..70 {
        fs::write(inside.path().join(format!("p{i}.toml")), "trocar = 1").unwrap();
    }
    let error = from_folder(inside.path(), "main.toml");
    check("wide", &error, Some((2, 0)), "more than 64 files");

    let inside = folder(&[("main.toml", including("p0.toml").as_bytes())]);
    for i in 0..70 {
        let next = including(&format!("p{}.toml", i + 1));
        fs::write(inside.path().join(format!("p{i}.toml")), next).unwrap();
    }
    let error = refused(Scene::load(inside.path().join("main.toml")));
    check("deep", &error, Some((2, 12)), "more than 64 files");
}

#[test]
fn two_included_worlds_contradict_each_other() {
    let inside = folder(&[
        (
            "main.toml",
            b"trocar = 1\ninclude = [\"a.toml\", \"b.toml\"]",
        ),
        ("a.toml", b"trocar = 1\n[world]\nstep = 0.001"),
        ("b.toml", b"trocar = 1\n[world]\nstep = 0.002"),
    ]);
    let error = from_folder(inside.path(), "b.toml");
    check("worlds", &error, Some((2, 0)), "a.toml says [world] too");
}

#[test]
fn broken_meshes_are_refused_where_they_are_named() {
    let scene =
        |mesh: &str| format!("trocar = 1\n[[scenery]]\nname = \"liver\"\nmesh = \"{mesh}\"\n");
    let nan = b"v 0 0 0\nv 1 0 nan\nv 0 1 0\nf 1 2 3\n";
    let far = b"v 0 0 0\nv 1e300 0 0\nv 0 1 0\nf 1 2 3\n";
    let meshes: [(&str, &[u8], &str); 9] = [
        ("noise.stl", &[0xA5; 300], "noise.stl"),
        ("noise.obj", &[0xFF; 300], "noise.obj"),
        ("noise.vtu", b"<VTKFile><", "noise.vtu"),
        ("short.stl", &[0; 20], "short.stl"),
        ("empty.obj", b"", "empty.obj"),
        ("points.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\n", "points.obj"),
        ("nan.obj", nan, "nan.obj"),
        ("far.obj", far, "far.obj"),
        ("index.obj", b"v 0 0 0\nf 1 2 3\n", "index.obj"),
    ];
    for (name, bytes, problem) in meshes {
        let inside = folder(&[("main.toml", scene(name).as_bytes()), (name, bytes)]);
        let error = from_folder(inside.path(), "main.toml");
        let text = error.to_string();
        assert_eq!(error.place, Some((4, 8)), "{name}: {text}");
        assert!(error.problem.contains(problem), "{name}: {text}");
        // The reader's own words hold the remedy, after a semicolon.
        assert!(
            !error.remedy.is_empty() || error.problem.contains(';'),
            "{name}: {text}"
        );
    }
    for (name, problem) in [
        ("gone.stl", "can't be read"),
        ("../liver.obj", "leads outside"),
    ] {
        let inside = folder(&[("main.toml", scene(name).as_bytes())]);
        let error = from_folder(inside.path(), "main.toml");
        check(name, &error, Some((4, 8)), problem);
    }
    let millimetres = b"v 0 0 0\nv 150 0 0\nv 0 150 0\nf 1 2 3\n";
    let inside = folder(&[
        ("main.toml", scene("mm.obj").as_bytes()),
        ("mm.obj", millimetres),
    ]);
    let error = from_folder(inside.path(), "main.toml");
    check(
        "millimetres",
        &error,
        Some((2, 0)),
        "the mesh reaches 150 m",
    );
    assert!(error.remedy.contains("scale = 0.001"));
}

#[test]
fn a_path_that_is_no_file_is_refused() {
    for path in ["", "/", "..", "/nowhere/at/all.toml"] {
        let error = refused(Scene::load(path));
        assert!(
            !error.remedy.is_empty() && error.place.is_none(),
            "{path}: {error}"
        );
    }
}

/// Nodes that a scene asks for; one that asks for very many is sound but takes long to build.
fn nodes(scene: &Scene) -> usize {
    let file = &scene.main().file;
    let tubes = file
        .organ
        .iter()
        .chain(&file.pipe)
        .map(|t| t.rings.saturating_mul(t.around));
    let sheets = file.sheet.iter().map(|s| s.rows.saturating_mul(s.columns));
    tubes.chain(sheets).fold(0, usize::saturating_add)
}

#[derive(Clone, Debug)]
enum Damage {
    Flip(usize, u8),
    Put(usize, u8),
    Delete(usize, usize),
    Copy(usize, usize, usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    // What matters to TOML and to numbers comes more often than by chance.
    let byte = prop_oneof![
        prop::sample::select(b"0123456789.-+e[]{}=,\"\n#naif ".to_vec()),
        any::<u8>(),
    ];
    prop_oneof![
        (any::<usize>(), 0..8_u8).prop_map(|(at, bit)| Damage::Flip(at, bit)),
        (any::<usize>(), byte).prop_map(|(at, byte)| Damage::Put(at, byte)),
        (any::<usize>(), 1..40_usize).prop_map(|(at, n)| Damage::Delete(at, n)),
        (any::<usize>(), any::<usize>(), 1..80_usize).prop_map(|(a, b, n)| Damage::Copy(a, b, n)),
    ]
}

fn apply(bytes: &mut Vec<u8>, damage: &Damage) {
    let size = bytes.len().max(1);
    if bytes.is_empty() {
        return;
    }
    match *damage {
        Damage::Flip(at, bit) => bytes[at % size] ^= 1 << bit,
        Damage::Put(at, byte) => bytes[at % size] = byte,
        Damage::Delete(at, n) => {
            let at = at % size;
            bytes.drain(at..(at + n).min(size));
        }
        Damage::Copy(from, to, n) => {
            let from = from % size;
            let piece = bytes[from..(from + n).min(size)].to_vec();
            let to = to % size;
            bytes.splice(to..to, piece);
        }
    }
}

/// Builds what can be built and runs it; an error must name the file.
fn try_out(bytes: &[u8]) -> Result<(), TestCaseError> {
    let parts = fs::read(scenes().join("parts/surroundings.toml")).expect("the scene's part");
    let bundle = Bundle {
        files: vec![
            ("scene.toml".into(), bytes.to_vec()),
            ("parts/surroundings.toml".into(), parts),
            (
                "parts/liver.obj".into(),
                b"v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nf 1 2 3\n".to_vec(),
            ),
        ],
    };
    let scene = match Scene::from_bundle(&bundle) {
        Ok(scene) => scene,
        Err(error) => {
            prop_assert!(!error.file.is_empty() && !error.problem.is_empty());
            return Ok(());
        }
    };
    if nodes(&scene) > 20_000 {
        return Ok(());
    }
    let Ok(mut simulation) = Simulation::new(&scene, 1) else {
        return Ok(());
    };
    let mut input = simulation.idle_input();
    for k in 0..20 {
        for handle in &mut input.handles {
            handle.depth += 0.002;
            handle.jaw = f64::from(k % 2);
        }
        simulation.step(&input);
        prop_assert!(is_sound(&simulation, 1e4 + 1.0), "after step {k}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(Config { cases: 400, failure_persistence: None, ..Config::default() })]

    #[test]
    fn a_damaged_scene_never_panics(damages in prop::collection::vec(damage(), 1..6)) {
        let mut bytes = fs::read(scenes().join("gallbladder.toml")).unwrap();
        damages.iter().for_each(|d| apply(&mut bytes, d));
        try_out(&bytes)?;
    }

    #[test]
    fn a_scene_with_any_number_in_any_place_never_panics(
        which in any::<usize>(),
        rich in any::<bool>(),
        number in prop_oneof![
            any::<f64>(),
            prop::sample::select(vec![0.0, -0.0, -1.0, 1e-300, 1e300, f64::NAN, f64::INFINITY, 1e-12, 1e6, 1e9]),
        ],
    ) {
        let scene = if rich { RICH } else { GOOD };
        let spans: Vec<(usize, usize)> = numbers(scene);
        let (start, end) = spans[which % spans.len()];
        let text = format!("{}{}{}", &scene[..start], written(number), &scene[end..]);
        try_out(text.as_bytes())?;
    }
}

fn written(number: f64) -> String {
    match number {
        x if x.is_nan() => "nan".into(),
        x if x.is_infinite() => {
            if x > 0.0 {
                "inf".into()
            } else {
                "-inf".into()
            }
        }
        x if x == x.trunc() && x.abs() < 1e15 => format!("{}", x as i64),
        x => format!("{x:e}"),
    }
}

/// Where numbers stand in a scene.
fn numbers(text: &str) -> Vec<(usize, usize)> {
    let part = |c: char| c.is_ascii_digit() || "-.e".contains(c);
    let bytes = text.as_bytes();
    let mut spans = Vec::new();
    let mut i = 0;
    while i < bytes.len() {
        let before = i.checked_sub(1).map_or(' ', |k| bytes[k] as char);
        if (bytes[i] as char).is_ascii_digit() && " [-".contains(before) {
            let start = if before == '-' { i - 1 } else { i };
            while i < bytes.len() && part(bytes[i] as char) {
                i += 1;
            }
            spans.push((start, i));
        }
        i += 1;
    }
    spans
}

#[test]
fn a_net_that_swings_up_at_any_step_is_refused() {
    let text = "trocar = 1\n[[pipe]]\nname = \"pipe\"\npath = [[0.05, 0, 0], [0.1, 0, 0]]\nradii = [[0.01, 0.01]]\n\
                rings = 6\naround = 12\nfixed = [{ ring = 0 }]\n[pipe.material]\nmass = 0.0005\ndamping = 0.0\n\
                stiffness = 20\nmemory = 5\ncentre_mass = 0.001\nintegrator = \"midpoint\"\n";
    let build = |text: &str| Simulation::new(&Scene::from_text("swing.toml", text).unwrap(), 1);
    let error = build(text).err().unwrap();
    assert!(
        error.problem.contains("at any step") && error.remedy.contains("damping"),
        "{error}"
    );
    assert_eq!(error.place.map(|p| p.0), Some(15), "{error}");
    // Damped where it moves, or by another scheme, it is stable: light centres that are damped more than what belongs to them are no harm.
    assert!(build(&text.replace("damping = 0.0\n", "damping = 0.05\n")).is_ok());
    let mut simulation = build(&text.replace("midpoint", "mesd")).unwrap();
    let input = simulation.idle_input();
    for _ in 0..500 {
        simulation.step(&input);
    }
    let tissue = simulation.state().nodes.iter().map(|n| n.velocity.iter());
    let speed = tissue.flatten().fold(0.0_f64, |m, v| m.max(v.length()));
    assert!(speed < 1.0, "{speed}");
}

//! Whatever is wrong with an exercise file is said with file, line, column and remedy.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use trocar_scene::Bundle;
use trocar_train::{Exercise, TrainError};

const SCENE: &str = "trocar = 1\n\
    [[sheet]]\nname = \"sheet\"\norigin = [-0.05, 0, -0.05]\nu = [0, 0, 0.1]\nv = [0.1, 0, 0]\nrows = 6\ncolumns = 6\n\
    material = { mass = 0.001, damping = 0.05, stiffness = 30, memory = 5 }\n\
    [[instrument]]\nname = \"grasper\"\ntrocar = [0, 0.2, 0.1]\ntarget = [0, 0, 0]\ndepth = 0.15\n";

const EXERCISE: &str = r#"trocar = 1
title = "Small"
about = "A small one."
scene = "../scenes/small.toml"
instrument = "grasper"
tissue = "sheet"
instructions = ["Do it."]
time_limit = 60
[limits]
force = 2.0
[[goal]]
id = "take"
kind = "grasp"
title = "Take it"
instruction = "Close the jaws."
tissue = "sheet"
at = [0, 0, 0]
radius = 0.01
[[goal]]
id = "lift"
kind = "carry"
title = "Lift it"
instruction = "Up."
centre = [0, 0.03, 0]
radius = 0.01
hold = 1.0
[[hint]]
when = "slipped"
text = "Again."
[[part]]
measure = "goals"
points = 50
best = 100
worst = 0
[[part]]
measure = "time"
points = 30
best = 10
worst = 60
[[part]]
measure = "drops"
costs = 20
best = 0
worst = 2
[[level]]
name = "one"
title = "One"
[[level]]
name = "two"
title = "Two"
time_limit = 30
[level.goal.lift]
hold = 2.0
[level.part.time]
best = 5
"#;

fn read(exercise: &str) -> Result<Exercise, TrainError> {
    let file = |name: &str, text: &str| (name.to_string(), text.as_bytes().to_vec());
    Exercise::from_bundle(&Bundle {
        files: vec![
            file("exercises/small.toml", exercise),
            file("scenes/small.toml", SCENE),
        ],
    })
}

/// The error after replacing `from`, which must be there, by `to`: where it is, and what it says.
fn wrong(from: &str, to: &str) -> (String, String) {
    assert!(EXERCISE.contains(from), "{from}");
    let text = EXERCISE.replacen(from, to, 1);
    match read(&text) {
        Err(TrainError::File(e)) => {
            let (line, column) = e.place.unwrap_or_else(|| panic!("no place: {e}"));
            assert!(!e.remedy.is_empty(), "no remedy: {e}");
            assert!(column >= 1);
            let line = text.lines().nth(line - 1).unwrap_or_default().to_string();
            (line, e.to_string())
        }
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("{from} → {to} was accepted"),
    }
}

#[test]
fn a_right_one_is_read_with_its_levels() {
    let exercise = read(EXERCISE).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(exercise.id, "small");
    assert_eq!(exercise.level("two"), Some(1));
    let [one, two] = &exercise.levels[..] else {
        panic!("{} levels", exercise.levels.len());
    };
    assert_eq!((one.time_limit, two.time_limit), (Some(60.0), Some(30.0)));
    assert_eq!(
        (one.goals[1].aim.hold(), two.goals[1].aim.hold()),
        (1.0, 2.0)
    );
    assert_eq!(one.goals[0].limits.force, Some(2.0));
    // Weights are scaled to 100 points; what errors cost is not.
    assert_eq!(one.score[0].points, 62.5);
    assert_eq!(one.score[2].points, 20.0);
    assert_eq!((one.score[1].best, two.score[1].best), (10.0, 5.0));
}

#[test]
fn every_mistake_has_its_place() {
    for (from, to, line, says) in [
        ("trocar = 1", "trocar = 7", "trocar = 7", "version 7"),
        (
            "about =",
            "abut =",
            "abut = \"A small one.\"",
            "unknown field",
        ),
        (
            "\"grasper\"",
            "\"gripper\"",
            "instrument = \"gripper\"",
            "no instrument called \"gripper\"",
        ),
        (
            "tissue = \"sheet\"\ninstr",
            "tissue = \"liver\"\ninstr",
            "tissue = \"liver\"",
            "no tissue called \"liver\"",
        ),
        (
            "scene = \"../scenes/small.toml\"",
            "scene = \"../../small.toml\"",
            "scene = \"../../small.toml\"",
            "near this file",
        ),
        (
            "scene = \"../scenes/small.toml\"",
            "scene = \"/etc/x.toml\"",
            "scene = \"/etc/x.toml\"",
            "near this file",
        ),
        (
            "scene = \"../scenes/small.toml\"",
            "scene = \"../scenes/other.toml\"",
            "scene = \"../scenes/other.toml\"",
            "missing",
        ),
        (
            "time_limit = 60",
            "time_limit = 0",
            "time_limit = 0",
            "time limit of 0",
        ),
        (
            "time_limit = 30",
            "time_limit = nan",
            "time_limit = nan",
            "time limit of NaN",
        ),
        (
            "time_limit = 60",
            "pass_mark = 0",
            "pass_mark = 0",
            "pass mark of 0",
        ),
        ("force = 2.0", "force = -2.0", "force = -2.0", "limit of -2"),
        (
            "radius = 0.01\n[[goal]]",
            "radius = 0\n[[goal]]",
            "radius = 0",
            "must be positive",
        ),
        (
            "radius = 0.01\n[[goal]]",
            "radius = 0.01\nhold = 1\n[[goal]]",
            "hold = 1",
            "means nothing",
        ),
        ("hold = 1.0", "hold = -1", "hold = -1", "out of range"),
        ("hold = 2.0", "hold = -1", "hold = -1", "out of range"),
        ("hold = 2.0", "radius = 300", "radius = 300", "metres"),
        (
            "[level.goal.lift]",
            "[level.goal.fly]",
            "[level.goal.fly]",
            "no goal \"fly\"",
        ),
        (
            "centre = [0, 0.03, 0]",
            "centre = [0, 30, 0]",
            "centre = [0, 30, 0]",
            "metres",
        ),
        (
            "id = \"lift\"",
            "id = \"take\"",
            "id = \"take\"",
            "two called \"take\"",
        ),
        (
            "id = \"lift\"",
            "id = \"li ft\"",
            "id = \"li ft\"",
            "can't be a id",
        ),
        (
            "kind = \"carry\"",
            "kind = \"throw\"",
            "kind = \"throw\"",
            "unknown variant",
        ),
        (
            "when = \"slipped\"",
            "when = \"slipped\"\nevery = 0.1",
            "every = 0.1",
            "every 0.1 s",
        ),
        (
            "when = \"slipped\"",
            "when = \"slipped\"\ngoal = \"fly\"",
            "goal = \"fly\"",
            "no goal \"fly\"",
        ),
        (
            "measure = \"time\"",
            "measure = \"goals\"",
            "measure = \"goals\"",
            "scored twice",
        ),
        (
            "measure = \"time\"",
            "measure = \"luck\"",
            "measure = \"luck\"",
            "unknown variant",
        ),
        (
            "points = 30",
            "points = 30\ncosts = 3",
            "points = 30",
            "neither gives nor costs",
        ),
        ("costs = 20", "costs = 0", "costs = 0", "out of range"),
        ("best = 10\n", "best = 70\n", "best = 70", "must be less"),
        ("best = 100", "best = -1", "best = -1", "must be more"),
        (
            "[level.part.time]\nbest = 5",
            "[level.part.time]\ncosts = 5",
            "costs = 5",
            "other kind",
        ),
        (
            "[level.part.time]",
            "[level.part.path]",
            "[level.part.path]",
            "no part",
        ),
        (
            "name = \"two\"",
            "name = \"two\"\nskip = [\"fly\"]",
            "skip = [\"fly\"]",
            "no goal \"fly\"",
        ),
        (
            "name = \"one\"",
            "name = \"one\"\nskip = [\"take\", \"lift\"]",
            "skip = [\"take\", \"lift\"]",
            "no goal is left",
        ),
        (
            "measure = \"drops\"",
            "measure = \"time_over_stretch\"",
            "measure = \"time_over_stretch\"",
            "no limit of stretch",
        ),
    ] {
        let (found, text) = wrong(from, to);
        assert_eq!(found, line, "{from} → {to}: {text}");
        assert!(text.contains(says), "{from} → {to}: {text}");
        assert!(text.starts_with("exercises/small.toml:"), "{text}");
    }
}

#[test]
fn what_is_carried_must_be_held() {
    let (_, text) = wrong("name = \"one\"", "name = \"one\"\nskip = [\"take\"]");
    assert!(
        text.contains("nothing is held when \"lift\" begins"),
        "{text}"
    );
}

#[test]
fn an_empty_bundle_and_files_that_are_none_are_refused() {
    assert!(Exercise::from_bundle(&Bundle::default()).is_err());
    for path in [".", "/nowhere/x.toml", "/dev/null", ".."] {
        let error = Exercise::load(path).err().unwrap().to_string();
        assert!(error.contains(path), "{error}");
    }
}

#[test]
fn every_exercise_of_the_repository_is_right_from_disk_and_from_memory() {
    for entry in std::fs::read_dir(common::file("exercises")).unwrap() {
        let path = entry.unwrap().path();
        let exercise = Exercise::load(&path).unwrap_or_else(|e| panic!("{e}"));
        // As the program carries it: the exercise, then its scenes with their parts.
        let mut files = vec![(
            format!("exercises/{}.toml", exercise.id),
            std::fs::read(&path).unwrap(),
        )];
        for level in &exercise.levels {
            for (name, bytes) in &level.scene.bundle.files {
                let name = format!("scenes/{name}");
                if files.iter().all(|f| f.0 != name) {
                    files.push((name, bytes.clone()));
                }
            }
        }
        let again = Exercise::from_bundle(&Bundle { files }).unwrap_or_else(|e| panic!("{e}"));
        for (a, b) in exercise.levels.iter().zip(&again.levels) {
            assert_eq!(a.scene.bundle.hash(), b.scene.bundle.hash());
            assert_eq!((&a.goals, &a.score), (&b.goals, &b.score));
        }
    }
}

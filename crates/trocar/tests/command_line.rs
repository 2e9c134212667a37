//! The program as its users meet it: what it prints, what it writes, how it fails.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

fn trocar(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_trocar"))
        .args(arguments)
        .output()
        .unwrap()
}

fn scene() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../scenes/gallbladder.toml")
        .display()
        .to_string()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Standard output of a run that must succeed.
fn said(arguments: &[&str]) -> String {
    let output = trocar(arguments);
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        text(&output.stderr)
    );
    text(&output.stdout)
}

fn hash(line: &str) -> String {
    let at = line
        .find("hash ")
        .unwrap_or_else(|| panic!("no hash in {line}"));
    line[at + 5..at + 21].to_string()
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

#[test]
fn check_tells_counts_bound_and_cost() {
    let out = said(&["check", &scene()]);
    for part in [
        "195 nodes, 756 elements",
        "130 nodes, 561 elements",
        "12 hyper nodes",
        "stable to",
        "step cost",
    ] {
        assert!(out.contains(part), "{part} is missing from\n{out}");
    }
}

/// One element of a net is two hundred times as stiff as the others: it is named, in words and in the report.
#[test]
fn what_asks_for_many_substeps_is_named() {
    let folder = Folder::new();
    let scene = "trocar = 1\n[world]\nstep = 0.002\n[[net]]\nname = \"three\"\npoints = [[0, 0, 0], [0.02, 0, 0], [0, 0.02, 0]]\n\
        facets = [[0, 1, 2]]\nsprings = [[0, 1], [1, 2]]\nfixed = [{ nodes = [0] }]\n\
        material = { mass = 0.0001, damping = 0.001, stiffness = 50 }\n\
        [net.edit]\nelements = [{ a = 0, b = 2, answer = { stiffness = STIFF } }]\n";
    let write = |stiffness: &str| {
        std::fs::write(folder.path("three.toml"), scene.replace("STIFF", stiffness)).unwrap();
        let file = folder.file("three.toml");
        let report = said(&["simulate", &file, "--seconds", "0.01", "--report", "-"]);
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        (said(&["check", &file]), report["stiff_groups"].clone())
    };
    let (out, report) = write("1e5");
    let part = "element 2 of three, between node 0 and node 2";
    let told = out.lines().find(|line| line.contains("warning")).unwrap();
    assert!(
        told.contains("substeps, because of") && told.contains(part),
        "{out}"
    );
    assert_eq!(report[0]["part"], part);
    assert_eq!(report[0]["group"], "three");
    assert!(report[0]["substeps"].as_u64().unwrap() > 20, "{report}");
    let (out, report) = write("50");
    assert!(!out.contains("warning"), "{out}");
    assert_eq!(report, serde_json::json!([]));
}

/// (3.96) for the one node that moves, and the exact bound, by hand.
#[test]
fn check_tells_kuhns_estimate() {
    let folder = Folder::new();
    let scene = "trocar = 1\n[world]\nstep = 0.002\n[[net]]\nname = \"two\"\npoints = [[0, 0, 0], [0.02, 0, 0], [0, 0.02, 0]]\n\
        facets = [[0, 1, 2]]\nsprings = [[0, 1]]\nfixed = [{ nodes = [0, 2] }]\n\
        material = { mass = 0.001, damping = 0.02, stiffness = 50 }\n";
    std::fs::write(folder.path("two.toml"), scene).unwrap();
    let out = said(&["check", &folder.file("two.toml")]);
    let (m, d, k) = (0.001_f64, 0.02_f64, 50.0_f64);
    let bound = |factor: f64| 1e3 * (d + (d * d + factor * m * k).sqrt()) / k;
    for (what, expected) in [("Kuhn's estimate ", bound(2.0)), ("exact ", bound(4.0))] {
        let told = out.split(what).nth(1).and_then(|s| s.split(" ms").next());
        let told: f64 = told.unwrap().parse().unwrap();
        assert!((told - expected).abs() < 1.5e-3, "{what}{told}: {expected}");
    }
}

/// K77: a mesh in millimetres, its nodes in a bad order, becomes a tissue that a scene can use.
#[test]
fn mesh_makes_a_mesh_ready() {
    let folder = Folder::new();
    // A box of 30 x 30 x 30 faces a side, numbered so that neighbours are far from each other.
    let (n, mut text) = (30, String::new());
    let mut faces = Vec::new();
    for (axis, side) in [(0, 0), (0, n), (1, 0), (1, n), (2, 0), (2, n)] {
        for i in 0..n {
            for j in 0..n {
                let at = |i: i32, j: i32| {
                    let mut p = [side; 3];
                    p[(axis + 1) % 3] = i;
                    p[(axis + 2) % 3] = j;
                    p
                };
                let square = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
                let turned = if side == 0 {
                    [0, 3, 2, 1]
                } else {
                    [0, 1, 2, 3]
                };
                faces.push(turned.map(|k: usize| square[k]));
            }
        }
    }
    let all: Vec<[i32; 3]> = (0..=n)
        .flat_map(|x| (0..=n).flat_map(move |y| (0..=n).map(move |z| [x, y, z])))
        .filter(|p| p.iter().any(|c| *c == 0 || *c == n))
        .collect();
    let number = |p: &[i32; 3]| all.iter().position(|q| q == p).unwrap();
    let count = all.len();
    let shuffled = |k: usize| k * 1009 % count;
    let mut places = vec![[0; 3]; count];
    for (k, p) in all.iter().enumerate() {
        places[shuffled(k)] = *p;
    }
    for [x, y, z] in &places {
        text += &format!("v {x} {y} {z}\n");
    }
    for face in &faces {
        let corners = face.map(|p| (shuffled(number(&p)) + 1).to_string());
        text += &format!("f {}\n", corners.join(" "));
    }
    std::fs::write(folder.path("box.obj"), text).unwrap();
    let reach = |out: &str| -> Vec<f64> {
        let told = out.split("an edge are ").skip(1);
        told.map(|s| s.split(' ').next().unwrap().parse().unwrap())
            .collect()
    };
    let whole = folder.file("whole.obj");
    let out = said(&["mesh", &folder.file("box.obj"), &whole, "--scale", "0.001"]);
    assert!(out.contains("0.0300 × 0.0300 × 0.0300 m"), "{out}");
    let [before, after] = reach(&out)[..] else {
        panic!("{out}");
    };
    assert!(before > 500.0 && after < 150.0, "{out}");
    let few = folder.file("few.stl");
    let out = said(&["mesh", &whole, &few, "--most-nodes", "200"]);
    assert!(out.contains("2.700e-5 m³"), "{out}");
    let scene = "trocar = 1\n[[surface]]\nname = \"box\"\nmesh = \"few.stl\"\n\
        material = { mass = 0.001, damping = 0.05, stiffness = 20, memory = 5 }\n";
    std::fs::write(folder.path("box.toml"), scene).unwrap();
    assert!(said(&["check", &folder.file("box.toml")]).contains("nodes"));
    for (arguments, why) in [
        (vec!["mesh", &whole, "--scale", "0"], "must be positive"),
        (vec!["mesh", &whole, "out.png"], ".obj or .stl"),
        (vec!["mesh", "nowhere.obj"], "nowhere.obj"),
        (vec!["mesh", &whole, "--most-nodes", "2"], "at least 4"),
    ] {
        let output = trocar(&arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        let error = self::text(&output.stderr);
        assert!(error.contains(why), "{arguments:?}: {error}");
    }
}

#[test]
fn check_names_file_line_column_and_remedy() {
    let folder = Folder::new();
    std::fs::write(
        folder.path("bad.toml"),
        "trocar = 1\n\n[[organ]]\nname = \"x\"\nrngs = 3\n",
    )
    .unwrap();
    let output = trocar(&["check", &folder.file("bad.toml")]);
    assert_eq!(output.status.code(), Some(1));
    let error = text(&output.stderr);
    assert!(
        error.contains("bad.toml:5:1") && error.contains("rngs") && error.contains("trocar schema"),
        "{error}"
    );
}

#[test]
fn a_recording_replays_to_the_same_hash_and_a_second_one_does_not_overwrite_it() {
    let folder = Folder::new();
    let record = folder.file("run.trocrec");
    let run = said(&[
        "simulate",
        &scene(),
        "--seconds",
        "0.7",
        "--record",
        &record,
    ]);
    let again = said(&["replay", &record, "--verify"]);
    assert_eq!(hash(&run), hash(&again));
    assert!(again.contains("700 hashes agree"), "{again}");
    let fed = said(&["simulate", &scene(), "--seconds", "5", "--input", &record]);
    assert_eq!(hash(&run), hash(&fed));
    assert!(
        !trocar(&[
            "simulate",
            &scene(),
            "--seconds",
            "0.1",
            "--record",
            &record
        ])
        .status
        .success()
    );
}

#[test]
fn a_snapshot_resumes_in_a_new_process() {
    let folder = Folder::new();
    let snapshot = folder.file("half.snap");
    let whole = said(&["simulate", &scene(), "--seconds", "1.25"]);
    said(&[
        "simulate",
        &scene(),
        "--seconds",
        "0.25",
        "--snapshot",
        &snapshot,
    ]);
    let rest = said(&[
        "simulate",
        &scene(),
        "--seconds",
        "1",
        "--resume",
        &snapshot,
    ]);
    assert_eq!(hash(&whole), hash(&rest));
}

#[test]
fn threads_do_not_change_the_result() {
    let one = said(&["simulate", &scene(), "--seconds", "0.3"]);
    let two = said(&["simulate", &scene(), "--seconds", "0.3", "--threads", "2"]);
    assert_eq!(hash(&one), hash(&two));
}

#[test]
fn a_killed_recording_is_readable_up_to_its_last_block() {
    let folder = Folder::new();
    let record = folder.path("killed.trocrec");
    let mut run = Command::new(env!("CARGO_BIN_EXE_trocar"))
        .args(["simulate", &scene(), "--seconds", "100000", "--record"])
        .arg(&record)
        .spawn()
        .unwrap();
    // Until there is more than the scene in it.
    let recorded =
        || trocar_scene::recording::Recording::read(&record).is_ok_and(|r| r.steps() > 0);
    for _ in 0..600 {
        if recorded() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    run.kill().unwrap();
    run.wait().unwrap();
    let output = trocar(&["replay", &record.display().to_string(), "--verify"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("breaks off"));
    assert!(text(&output.stdout).contains("hashes agree"));
}

#[test]
fn a_report_is_one_json_document() {
    let out = said(&["simulate", &scene(), "--seconds", "0.2", "--report", "-"]);
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["steps"], 200);
    for stage in [
        "input", "broad", "detect", "force", "aim", "advance", "correct", "edit", "observe", "step",
    ] {
        assert!(
            report["stage_microseconds"][stage]["p99"].is_number(),
            "{stage}"
        );
    }
    assert!(report["machine"]["threads"].is_number() && report["final_hash"].is_string());
}

#[test]
fn exports_open_elsewhere() {
    let folder = Folder::new();
    let out = said(&[
        "simulate",
        &scene(),
        "--seconds",
        "0.2",
        "--export",
        &folder.file("vtk"),
    ]);
    assert!(out.contains("gall-bladder.pvd"), "{out}");
    let index = std::fs::read_to_string(folder.path("vtk/gall-bladder.pvd")).unwrap();
    assert_eq!(index.matches("<DataSet").count(), 6, "{index}");
    said(&[
        "simulate",
        &scene(),
        "--seconds",
        "0.2",
        "--export",
        &folder.file("gltf"),
        "--export-format",
        "gltf",
    ]);
    let glb = std::fs::read(folder.path("gltf/cystic-duct.glb")).unwrap();
    assert_eq!(&glb[..4], b"glTF");
}

#[test]
fn exports_may_be_finer_than_the_net() {
    let folder = Folder::new();
    let triangles = |times: &str| -> usize {
        let to = format!("times-{times}");
        said(&[
            "simulate",
            &scene(),
            "--seconds",
            "0.02",
            "--export",
            &folder.file(&to),
            "--export-refinement",
            times,
        ]);
        let index = folder.path(&format!("{to}/gall-bladder.pvd"));
        let index = std::fs::read_to_string(index).unwrap();
        let first = index.split("file=\"").nth(1).unwrap();
        let first = first.split('"').next().unwrap();
        let frame = std::fs::read(folder.path(&format!("{to}/{first}"))).unwrap();
        let text = String::from_utf8_lossy(&frame).into_owned();
        let count = text.split("NumberOfPolys=\"").nth(1).unwrap();
        count.split('"').next().unwrap().parse().unwrap()
    };
    let coarse = triangles("0");
    assert!(coarse > 100);
    assert_eq!((triangles("1"), triangles("2")), (4 * coarse, 16 * coarse));
}

#[test]
fn the_schema_knows_every_table_and_its_units() {
    let schema: serde_json::Value = serde_json::from_str(&said(&["schema"])).unwrap();
    for table in [
        "world",
        "camera",
        "organ",
        "pipe",
        "sheet",
        "couple",
        "body",
        "particle",
        "tie",
        "instrument",
        "scenery",
    ] {
        assert!(schema["properties"][table].is_object(), "{table}");
    }
    let mass = schema["$defs"]["MaterialSpec"]["properties"]["mass"]["description"]
        .as_str()
        .unwrap();
    assert!(mass.contains("kg"), "{mass}");
}

#[test]
fn nonsense_fails_with_a_sentence() {
    let folder = Folder::new();
    std::fs::write(folder.path("no.trocrec"), b"nothing").unwrap();
    let record = folder.file("no.trocrec");
    let scene = scene();
    let cases: [(&[&str], &str); 5] = [
        (&["simulate", "nowhere.toml"], "nowhere.toml"),
        (&["simulate", &scene, "--seconds", "-1"], "seconds"),
        (&["simulate", &scene, "--threads", "0"], "threads"),
        (&["simulate", &scene, "--resume", &record], "snapshot"),
        (&["replay", &record], "not a Trocar recording"),
    ];
    for (arguments, word) in cases {
        let output = trocar(arguments);
        assert!(!output.status.success(), "{arguments:?}");
        let error = text(&output.stderr);
        assert!(
            error.contains(word) && !error.contains("panicked"),
            "{arguments:?}: {error}"
        );
    }
}

#[test]
fn a_damaged_recording_is_no_proof() {
    let folder = Folder::new();
    let record = folder.path("spoilt.trocrec");
    said(&[
        "simulate",
        &scene(),
        "--seconds",
        "2",
        "--record",
        &record.display().to_string(),
    ]);
    let mut bytes = std::fs::read(&record).unwrap();
    // In a block of inputs, well behind the scene and well before the end.
    let at = bytes.len() - 6000;
    bytes[at] ^= 0x10;
    std::fs::write(&record, bytes).unwrap();
    let output = trocar(&["replay", &record.display().to_string(), "--verify"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
    assert!(
        text(&output.stderr).contains("damaged after"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn a_run_that_resumes_is_not_recorded_as_if_it_began() {
    let folder = Folder::new();
    let output = trocar(&[
        "simulate",
        &scene(),
        "--resume",
        "x",
        "--record",
        &folder.file("r.trocrec"),
    ]);
    assert_eq!(output.status.code(), Some(2));
    assert!(!folder.path("r.trocrec").exists());
}

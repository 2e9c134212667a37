//! Closed meshes of real organs become surface nets (K28, K29) that hang, hold together and come to rest.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::is_sound;
use std::{fs, path::Path};
use trocar_scene::{Scene, SceneError, Simulation};

/// Meshes that the project does not own stand beside it, if at all.
fn folder() -> Option<std::path::PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/meshes");
    if !folder.is_dir() {
        println!("skipped: there is no {}", folder.display());
        return None;
    }
    Some(folder)
}

/// A scene in a folder of its own, with the mesh beside it.
fn organ(mesh: &Path, more: &str) -> Result<Simulation, SceneError> {
    let folder = tempfile::tempdir().unwrap();
    let name = mesh.file_name().unwrap().to_str().unwrap();
    fs::copy(mesh, folder.path().join(name)).unwrap();
    let text = format!(
        r#"trocar = 1
[world]
reach = 1000
[[surface]]
name = "organ"
mesh = "{name}"
{more}
"#
    );
    let path = folder.path().join("scene.toml");
    fs::write(&path, text).unwrap();
    Simulation::new(&Scene::load(path)?, 1)
}

#[test]
fn and_hang_together() {
    let Some(folder) = folder() else { return };
    // File, scale to metres, how many central nodes.
    for (file, scale, centres) in [
        ("lapgym-gallbladder_visual.stl", 0.001, 1),
        ("openhelp-kidney_left.stl", 0.001, 1),
        ("sofa-liver-smooth.obj", 0.02, 4),
    ] {
        let path = folder.join(file);
        if !path.is_file() {
            println!("skipped: there is no {}", path.display());
            continue;
        }
        let more = format!(
            r#"scale = {scale}
most_nodes = 400
density = 1000
centres = {centres}
material = {{ mass = 0.001, damping = 0.5, stiffness = 200, memory = 30, centre_damping = 20, turn_damping = 0.02 }}
"#
        );
        let mut simulation = match organ(&path, &more) {
            Ok(simulation) => simulation,
            Err(e) => panic!("{file}: {e}"),
        };
        let tissue = simulation.model().tissues[0].clone();
        let masses = simulation.model().matters[tissue.matter.index()].masses();
        let weight: f64 = (0..masses.len()).map(|i| masses.mass()[i]).sum();
        let bounds = simulation.model().groups[0].bounds;
        println!(
            "{file}: {} nodes, {} triangles, {} elements, {} centres, stable to {:.2} ms",
            masses.len(),
            tissue.triangles.len(),
            tissue.elements,
            tissue.first,
            bounds.safe * 1e3
        );
        assert!(
            masses.len() <= 400 + 5
                && tissue.first as usize == if centres == 1 { 1 } else { centres + 1 }
        );
        assert!(weight > 0.001, "{weight} kg");
        let start = simulation.state().nodes[tissue.matter.index()].clone();
        let input = simulation.idle_input();
        for _ in 0..500 {
            let report = simulation.step(&input);
            assert!(report.events.is_empty(), "{file}: {:?}", report.events);
        }
        assert!(is_sound(&simulation, 1e3), "{file}");
        // Nothing holds it: it falls as a whole, slowed by its damping, and keeps its shape.
        let now = &simulation.state().nodes[tissue.matter.index()];
        let size = |n: &trocar_dynamics::Nodes| {
            n.position[tissue.first as usize].distance(n.position[n.len() / 2])
        };
        assert!(
            (size(now) / size(&start) - 1.0).abs() < 0.1,
            "{file}: {} {}",
            size(now),
            size(&start)
        );
        assert!(now.position[0].y < start.position[0].y - 0.01, "{file}");
    }
}

#[test]
fn what_is_no_organ_is_refused() {
    let Some(folder) = folder() else { return };
    let path = folder.join("lapgym-gallbladder_visual.stl");
    if !path.is_file() {
        println!("skipped: there is no {}", path.display());
        return;
    }
    let material = "material = { mass = 0.001, damping = 0.2, stiffness = 200, memory = 20 }";
    for (more, what) in [
        ("centres = 65", "65 central nodes"),
        ("most_nodes = 2", "2 nodes are out of range"),
        ("density = 1\nsurface_density = 1", "Give one of them"),
        ("most_nodes = 40\ncentres = 30", "more than a mesh of"),
    ] {
        let why = organ(&path, &format!("scale = 0.001\n{more}\n{material}")).err();
        let why = why.map(|e| e.to_string()).unwrap_or_default();
        assert!(why.contains(what), "{what}: {why}");
    }
    // A sheet has no inside.
    let temporary = tempfile::tempdir().unwrap();
    let sheet = temporary.path().join("sheet.obj");
    fs::write(
        &sheet,
        "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\n",
    )
    .unwrap();
    let why = organ(&sheet, material).err().unwrap().to_string();
    assert!(why.contains("not a closed, manifold surface"), "{why}");
}

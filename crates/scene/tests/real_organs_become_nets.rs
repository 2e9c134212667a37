//! Closed meshes of real organs become surface nets (K28, K29) that hang, hold together and come to rest.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::is_sound;
use std::{fs, io::Write, path::Path};
use trocar_scene::{Scene, SceneError, Simulation};

/// Meshes that the project does not own stand beside it, if at all.
fn folder() -> Option<std::path::PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/meshes");
    if !folder.is_dir() {
        // Past the test's own output, which nobody sees of a test that passes.
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED: there is no {}",
            folder.display()
        );
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
        assert!(path.is_file(), "there is no {}", path.display());
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

/// Whatever its unit, a mesh is made ten centimetres large, held by its highest fifth, and hangs: it comes to rest, and nowhere is it strained much.
#[test]
fn and_come_to_rest_hanging_by_a_region() {
    let Some(folder) = folder() else { return };
    for (file, centres) in [
        ("lapgym-gallbladder_visual.stl", 1),
        ("lapgym-gallbladder_collision.stl", 2),
        ("openhelp-kidney_left.stl", 1),
        ("sofa-liver-smooth.obj", 4),
        ("sofa-torus1.obj", 3),
    ] {
        let path = folder.join(file);
        assert!(path.is_file(), "there is no {}", path.display());
        let text = |scale: f64, fixed: &str| {
            format!(
                r#"scale = {scale:?}
most_nodes = 200
density = 1000
centres = {centres}
cross_links = true
{fixed}
material = {{ mass = 0.001, damping = 0.5, stiffness = 400, memory = 60, centre_damping = 20, turn_damping = 0.02 }}
"#
            )
        };
        let made = |scale: f64, fixed: &str| {
            organ(&path, &text(scale, fixed)).unwrap_or_else(|e| panic!("{file}: {e}"))
        };
        let surface = |simulation: &Simulation| {
            let tissue = &simulation.model().tissues[0];
            let nodes = &simulation.state().nodes[tissue.matter.index()];
            nodes.position[tissue.first as usize..].to_vec()
        };
        let points = surface(&made(1.0, ""));
        let low = points.iter().copied().reduce(glam::DVec3::min).unwrap();
        let high = points.iter().copied().reduce(glam::DVec3::max).unwrap();
        let scale = 0.1 / low.distance(high);
        let top = points.iter().max_by(|a, b| a.y.total_cmp(&b.y)).unwrap();
        let fixed = format!(
            "fixed = [{{ within = {{ centre = {:?}, radius = 0.02 }} }}]",
            (*top * scale).to_array()
        );
        let mut simulation = made(scale, &fixed);
        let input = simulation.idle_input();
        while simulation.state().time < 4.0 {
            let report = simulation.step(&input);
            assert!(report.events.is_empty(), "{file}: {:?}", report.events);
        }
        assert!(is_sound(&simulation, 1.0), "{file}");
        let matter = simulation.model().tissues[0].matter;
        let any: &dyn std::any::Any = &*simulation.model().matters[matter.index()];
        let net = any.downcast_ref::<trocar_soft::Net>().unwrap();
        let nodes = &simulation.state().nodes[matter.index()];
        let speeds = nodes.velocity.iter().map(|v| v.length());
        let speed = speeds.fold(0.0, f64::max);
        let strain = |e: trocar_soft::Element| {
            let [a, b] = e.nodes.map(|n| nodes.position[n as usize]);
            (a.distance(b) / e.rest_length - 1.0).abs()
        };
        let strain = net.elements().map(strain).fold(0.0, f64::max);
        let rest = &net.rest().position;
        let sunk = rest.iter().zip(&nodes.position).map(|(a, b)| a.y - b.y);
        let sunk = sunk.fold(0.0, f64::max);
        println!("{file}: {speed:.1e} m/s, strains to {strain:.3}, sunk {sunk:.4} m");
        assert!(speed < 1e-4, "{file}: {speed} m/s");
        assert!(strain < 0.5, "{file}: {strain}");
        assert!((1e-5..0.05).contains(&sunk), "{file}: {sunk} m");
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

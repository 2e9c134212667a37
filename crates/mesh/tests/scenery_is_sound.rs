//! The meshes that the scenes share are what their maker (`examples/anatomy`) promises.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::path::Path;
use trocar_mesh::Surface;

fn parts() -> Vec<(String, Surface)> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/parts"));
    let mut parts: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "obj"))
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_string();
            (name, trocar_mesh::read(&path).unwrap())
        })
        .collect();
    parts.sort_by(|a, b| a.0.cmp(&b.0));
    parts
}

#[test]
fn they_are_smooth_manifolds_and_reading_changes_nothing() {
    let parts = parts();
    assert!(parts.len() >= 10, "{} meshes", parts.len());
    for (name, mut mesh) in parts {
        let topology = mesh.topology();
        assert!(
            topology.is_manifold() && topology.is_oriented(),
            "{name}: {topology}"
        );
        assert_eq!(topology.components, 1, "{name}");
        let repair = mesh.repair();
        assert!(
            repair.changed_nothing() && repair.slivers == 0,
            "{name}: {repair}"
        );
        match name.as_str() {
            // Turned inwards: closed, it would be turned outwards when a scene reads it.
            "wall" => assert!(
                topology.boundary_edges == 3 && mesh.volume() < 0.0,
                "{topology}"
            ),
            // Its underside lies on the wall and is left away.
            "omentum" => assert!(!topology.is_closed()),
            _ => assert!(
                topology.is_closed() && mesh.volume() > 0.0,
                "{name}: {topology}"
            ),
        }
    }
}

#[test]
fn they_are_small_enough_to_be_sent_and_drawn() {
    let triangles: usize = parts().iter().map(|(_, mesh)| mesh.triangles.len()).sum();
    assert!(triangles < 100_000, "{triangles} triangles");
}

#[test]
fn all_lies_within_the_wall_or_behind_it() {
    let wall = parts()
        .into_iter()
        .find(|p| p.0 == "wall")
        .unwrap()
        .1
        .bounds()
        .unwrap();
    for (name, mesh) in parts() {
        let bounds = mesh.bounds().unwrap();
        let beyond = (wall.min - bounds.min)
            .max(bounds.max - wall.max)
            .max_element();
        assert!(beyond < 0.03, "{name} reaches {beyond} m beyond the wall");
    }
}

//! What bending is there for: a sheet that is pressed together does not crumple (W64).

#![allow(clippy::unwrap_used)]

use glam::DVec3;
use trocar_dynamics::{Field, Matter, Nodes};
use trocar_mesh::primitive::HexagonalShape;
use trocar_mesh::sheet::{NodeId, Sheet};
use trocar_soft::membrane::{Bending, Material, Membrane, MembraneParts};

const STILL: Field = Field {
    time: 0.0,
    gravity: DVec3::ZERO,
};

const FRAME: f64 = 1.0 / 30.0;

fn parts() -> MembraneParts {
    let sheet = Sheet::new(&HexagonalShape::STANDARD.surface().unwrap()).unwrap();
    let springs = Material::Springs {
        stiffness: 6500.0,
        mass: 0.01,
    };
    let mut parts = MembraneParts::new(sheet, springs);
    parts.damping = 60.0;
    parts
}

fn frame(membrane: &Membrane, nodes: &mut Nodes) {
    let substeps = membrane.substeps(FRAME, membrane.stable_step());
    let h = FRAME / f64::from(substeps);
    for _ in 0..substeps {
        membrane.force(nodes, &STILL);
        assert!(membrane.advance(nodes, h));
    }
}

/// Mean angle between neighbouring triangles, degrees.
fn bend(membrane: &Membrane, nodes: &Nodes) -> f64 {
    let sheet = membrane.sheet();
    let normal = |t| {
        let [a, b, c] = sheet.corners(t).map(|n: NodeId| nodes.position[n.slot()]);
        (b - a).cross(c - a)
    };
    let inside = sheet.edges().filter_map(|e| match sheet.beside(e) {
        (one, Some(two)) => Some(trocar_math::angle(normal(one), normal(two))),
        _ => None,
    });
    let (sum, count) = inside.fold((0.0, 0.0), |(sum, count), a| (sum + a, count + 1.0));
    f64::to_degrees(sum / count)
}

#[test]
fn pressed_together_it_crumples_unless_it_resists_bending() {
    let crumpled = |bending: Bending| {
        let mut parts = parts();
        parts.bending = bending;
        let held = |n: &NodeId| !(0.3e-3..=8.2e-3).contains(&parts.sheet.rest(*n).x);
        let held: Vec<NodeId> = parts.sheet.nodes().filter(held).collect();
        parts.fixed = held.iter().map(|n| n.slot()).collect();
        let membrane = Membrane::new(parts).unwrap();
        let mut nodes = membrane.rest();
        // A little out of its plane everywhere, so that it has somewhere to go.
        for (n, p) in nodes.position.iter_mut().enumerate() {
            p.z += 1e-6 * ((n * 7919) % 101) as f64 / 101.0;
        }
        for _ in 0..90 {
            for n in &held {
                let middle = 4.25e-3;
                let p = &mut nodes.position[n.slot()];
                p.x = middle + (p.x - middle) * 0.994;
            }
            frame(&membrane, &mut nodes);
        }
        for _ in 0..30 {
            frame(&membrane, &mut nodes);
        }
        bend(&membrane, &nodes)
    };
    let free = crumpled(Bending::None);
    let springs = crumpled(Bending::Springs { stiffness: 650.0 });
    let hinges = crumpled(Bending::Hinges { rigidity: 2e-5 });
    // An arch that is clamped at both ends and that much shorter turns by about four times 1.7 rad in all, over 34 half columns: some 11° at each.
    assert!(hinges < 15.0 && hinges < 0.4 * free, "{hinges} {free}");
    assert!(springs < 0.7 * free, "{springs} {free}");
}

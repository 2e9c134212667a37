//! The force of a net is minus the gradient of its energy: springs of any law, shape memory with its reaction on the father,
//! and torsion. Bending is left out here: it has no energy in general (`element::bending_energy`).

#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use common::{MATERIAL, organ, pipe, shaken, sheet};
use glam::DVec3;
use trocar_dynamics::{Field, Matter, Nodes};
use trocar_math::rotation;
use trocar_soft::{Base, Material, Net};

#[test]
fn springs_memory_and_torsion() {
    for base in [Base::Linear, Base::Quadratic] {
        for gain in [[1.0, 1.0], [0.4, 2.0]] {
            let material = Material {
                base,
                memory_base: base,
                gain,
                torsion: 0.01,
                twist: 0.02,
                bending: 0.0,
                brace: 0.0,
                gravity: true,
                ..MATERIAL
            };
            for net in [
                organ(7, 8, &material),
                pipe(5, 6, &material),
                sheet(5, 5, &material),
            ] {
                check(&net);
            }
        }
    }
}

fn check(net: &Net) {
    let gravity = DVec3::new(0.3, -9.81, 1.0);
    let field = Field { time: 0.0, gravity };
    let mut nodes = shaken(net, 5e-3, 3);
    for q in &mut nodes.orientation {
        *q = rotation::from_scaled_axis(DVec3::new(0.3, -0.5, 0.2)) * *q;
    }
    net.force(&mut nodes, &field);
    let (force, torque) = (nodes.force.clone(), nodes.torque.clone());
    let energy =
        |nodes: &Nodes| net.elastic_energy(nodes, 0.0) + net.gravity_energy(nodes, gravity);
    let e = 1e-7;
    for i in (0..nodes.len()).step_by(3) {
        for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
            let at = nodes.position[i];
            let mut moved = |x: f64| {
                nodes.position[i] = at + axis * x;
                energy(&nodes)
            };
            let slope = (moved(e) - moved(-e)) / (2.0 * e);
            nodes.position[i] = at;
            let wrong = (slope + force[i].dot(axis)).abs();
            assert!(
                wrong < 1e-6 * (1.0 + force[i].length()),
                "node {i}: {wrong}"
            );
        }
    }
    for (z, torque) in torque.iter().enumerate() {
        for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
            let at = nodes.orientation[z];
            let mut turned = |x: f64| {
                nodes.orientation[z] = rotation::from_scaled_axis(axis * x) * at;
                energy(&nodes)
            };
            let slope = (turned(e) - turned(-e)) / (2.0 * e);
            nodes.orientation[z] = at;
            let wrong = (slope + torque.dot(axis)).abs();
            assert!(wrong < 1e-6 * (1.0 + torque.length()), "frame {z}: {wrong}");
        }
    }
}

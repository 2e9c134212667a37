//! Matter whose motion is prescribed: the world, and the parts of an instrument.

use crate::{Crew, Field, Masses, Matter, Nodes, Point};
use glam::{DMat3, DVec3};
use trocar_math::{Pose, rotation};

/// Frames that stand still or go where they are told (B9). A push does not move them; what pushes them feels it.
#[derive(Clone, Debug, Default)]
pub struct Kinematic {
    masses: Masses,
}

impl Kinematic {
    /// Prescribes that every frame of `nodes` moves from `start` to `end` in `h` seconds.
    pub fn lead(nodes: &mut Nodes, start: &[Pose], end: &[Pose], h: f64) {
        for (z, (start, end)) in start.iter().zip(end).enumerate() {
            Self::lead_one(nodes, z, start, end, h);
        }
    }

    /// Prescribes that one frame moves from `start` to `end` in `h` seconds.
    pub fn lead_one(nodes: &mut Nodes, z: usize, start: &Pose, end: &Pose, h: f64) {
        nodes.position[z] = start.position;
        nodes.orientation[z] = start.rotation;
        let turn = end.rotation * start.rotation.conjugate();
        nodes.velocity[z] = (end.position - start.position) / h;
        nodes.spin[z] = rotation::to_scaled_axis(turn) / h;
        let ahead = &mut nodes.ahead[z];
        ahead.position = end.position;
        ahead.orientation = end.rotation;
        ahead.velocity = nodes.velocity[z];
        ahead.spin = nodes.spin[z];
    }
}

impl Matter for Kinematic {
    fn masses(&self) -> &Masses {
        &self.masses
    }

    fn is_prescribed(&self) -> bool {
        true
    }

    fn force(&self, _: &mut Nodes, _: &Field) {}

    fn plan(&self, _: &mut Nodes, _: f64, _: Option<&Crew>) {}

    fn position(&self, nodes: &Nodes, at: &Point) -> DVec3 {
        let z = at.node as usize;
        nodes.position[z] + nodes.orientation[z] * at.offset
    }

    fn velocity(&self, nodes: &Nodes, at: &Point) -> DVec3 {
        let z = at.node as usize;
        nodes.velocity[z] + nodes.spin[z].cross(nodes.orientation[z] * at.offset)
    }

    fn preview(&self, nodes: &Nodes, at: &Point, _: f64) -> DVec3 {
        let ahead = &nodes.ahead[at.node as usize];
        ahead.position + ahead.orientation * at.offset
    }

    fn response(&self, _: &Nodes, _: &Point, _: &Point, _: f64) -> DMat3 {
        DMat3::ZERO
    }

    fn mobility(&self, _: &Nodes, _: &Point, _: &Point) -> DMat3 {
        DMat3::ZERO
    }

    fn push(&self, _: &mut Nodes, _: &Point, _: DVec3, _: f64) {}

    fn advance(&self, nodes: &mut Nodes, _: f64) -> bool {
        for z in 0..nodes.orientation.len() {
            nodes.position[z] = nodes.ahead[z].position;
            nodes.orientation[z] = nodes.ahead[z].orientation;
        }
        true
    }
}

//! Rigid bodies and free particles.

use crate::{Field, MassNode, Masses, Matter, Nodes, Turning, masses::BadNode};
use glam::DVec3;
use trocar_math::{Pose, rotation};

/// Draws a body back to a place and turns it back to how it was there: the springs of a global-dynamic object to its reference
/// frame (K55).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hold {
    /// Which body.
    pub body: u32,
    /// Where its centre of mass is drawn, m, and how it is turned.
    pub place: Pose,
    /// N/m, ≥ 0.
    pub stiffness: f64,
    /// N·m/rad, ≥ 0. It acts about the axis of the whole turn, by its angle, up to half a turn.
    pub torsion: f64,
}

impl Hold {
    /// How far the body is from its place, m, and by what it is turned there: the axis, its length the angle in rad.
    fn apart(&self, nodes: &Nodes) -> (DVec3, DVec3) {
        let i = self.body as usize;
        let turn = nodes.orientation[i] * self.place.rotation.conjugate();
        (
            nodes.position[i] - self.place.position,
            rotation::to_scaled_axis(turn),
        )
    }
}

/// A number of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyNumber {
    /// kg, > 0. Its moments of inertia grow with it.
    Mass,
    /// N·s/m.
    Damping,
    /// N·m·s/rad.
    TurnDamping,
    /// Of what holds it, N/m.
    HoldStiffness,
    /// Of what holds it, N·m/rad.
    HoldTorsion,
}

/// A set of rigid bodies (frames) and free particles (points) that only gravity, their holds and what they
/// are tied to or touched by can move.
#[derive(Clone, Debug)]
pub struct Bodies {
    masses: Masses,
    holds: Vec<Hold>,
}

impl Bodies {
    /// Bodies first, then particles. What is damped drifts by its new velocity alone.
    pub fn new(nodes: &[MassNode], turning: Turning) -> Result<Self, BadNode> {
        let mut masses = Masses::new(nodes)?.drifting_exactly();
        masses.set_turning(turning);
        for (i, node) in nodes.iter().enumerate() {
            if node.damping > 0.0 {
                masses.set_drawn(i);
            }
        }
        Ok(Self {
            masses,
            holds: Vec::new(),
        })
    }

    /// Draws a body to a place from now on (K55).
    pub fn hold(&mut self, hold: Hold) -> Result<(), BadNode> {
        let node = hold.body as usize;
        let sound = [hold.stiffness, hold.torsion]
            .iter()
            .all(|k| *k >= 0.0 && k.is_finite());
        if node >= self.masses.frames() || !sound {
            let reason = "what holds a body needs a body, and constants of at least 0";
            return Err(BadNode { node, reason });
        }
        self.masses.set_drawn(node);
        self.holds.push(hold);
        Ok(())
    }

    /// Gives a body or particle another number. Only what is held can be held otherwise.
    pub fn set(&mut self, node: usize, number: BodyNumber, value: f64) -> Result<(), BadNode> {
        let wrong = |reason| Err(BadNode { node, reason });
        let sound = value.is_finite() && value >= 0.0;
        if node >= self.masses.len() || !sound {
            return wrong("a number of a body needs a body, and is finite and at least 0");
        }
        let (mass, damping) = (self.masses.mass()[node], self.masses.damping()[node]);
        let held = self.holds.iter_mut().find(|h| h.body as usize == node);
        match (number, held) {
            (BodyNumber::Mass, _) => {
                self.masses.set_mass(node, value, damping)?;
                self.masses.scale_inertia(node, value / mass);
            }
            (BodyNumber::Damping, _) => {
                self.masses.set_mass(node, mass, value)?;
                if value > 0.0 {
                    self.masses.set_drawn(node);
                }
            }
            (BodyNumber::TurnDamping, _) => self.masses.set_turn_damping(node, value),
            (BodyNumber::HoldStiffness, Some(hold)) => hold.stiffness = value,
            (BodyNumber::HoldTorsion, Some(hold)) => hold.torsion = value,
            (BodyNumber::HoldStiffness | BodyNumber::HoldTorsion, None) => {
                return wrong("nothing holds it");
            }
        }
        Ok(())
    }

    /// Tells that springs from elsewhere draw a body or particle.
    pub fn draw(&mut self, node: usize) {
        self.masses.set_drawn(node);
    }

    /// What holds bodies at their places.
    pub fn holds(&self) -> &[Hold] {
        &self.holds
    }

    /// Energy of the springs that hold bodies, J.
    pub fn elastic_energy(&self, nodes: &Nodes) -> f64 {
        let energy = |hold: &Hold| {
            let (way, turn) = hold.apart(nodes);
            0.5 * (hold.stiffness * way.length_squared() + hold.torsion * turn.length_squared())
        };
        self.holds.iter().map(energy).sum()
    }
}

impl Matter for Bodies {
    fn masses(&self) -> &Masses {
        &self.masses
    }

    fn force(&self, nodes: &mut Nodes, field: &Field) {
        for (force, mass) in nodes.force.iter_mut().zip(self.masses.mass()) {
            *force = field.gravity * *mass;
        }
        nodes.torque.fill(DVec3::ZERO);
        for hold in &self.holds {
            let (way, turn) = hold.apart(nodes);
            nodes.force[hold.body as usize] -= way * hold.stiffness;
            nodes.torque[hold.body as usize] -= turn * hold.torsion;
        }
    }
}

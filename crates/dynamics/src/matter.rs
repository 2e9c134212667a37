//! What all matter can do.

use crate::{Crew, MatterId, Nodes, Point, masses::Masses};
use glam::{DMat3, DVec3};

/// What acts everywhere during a substep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field {
    /// Simulated time at the start of the substep, s.
    pub time: f64,
    /// Gravity, m/s².
    pub gravity: DVec3,
}

/// A kind of thing that has mass: a set of bodies, a nodal net, an instrument.
///
/// Whoever owns matter says how it integrates; nobody else moves it. The rest of the engine knows
/// it through points: where one is, where it will be, how it answers an impulse. A matter built
/// on [`Masses`] returns them from [`masses`](Self::masses) and inherits all of that.
pub trait Matter: std::any::Any + Send + Sync {
    /// The masses that carry this matter's momentum.
    fn masses(&self) -> &Masses;

    /// Clears and gathers the forces of the substep on every node.
    fn force(&self, nodes: &mut Nodes, field: &Field);

    /// [`force`](Self::force) with the help of a crew that has nothing else to do, for matter that is large enough. The
    /// result is the same to the last bit.
    fn force_by(&self, nodes: &mut Nodes, field: &Field, crew: &Crew) {
        let _ = crew;
        self.force(nodes, field);
    }

    /// The longest stable substep whatever the configuration, s; infinite if any step is stable.
    fn stable_step(&self) -> f64 {
        f64::INFINITY
    }

    /// True for matter whose motion is prescribed: it ignores pushes and may be shared by
    /// groups that do not touch each other.
    fn is_prescribed(&self) -> bool {
        false
    }

    /// The node that leads `node`, if it is only a copy of another one (K54).
    fn leader(&self, node: u32) -> Option<(MatterId, u32)> {
        let _ = node;
        None
    }

    /// Position of a point, m.
    fn position(&self, nodes: &Nodes, at: &Point) -> DVec3 {
        self.masses().position(nodes, at)
    }

    /// Velocity of a point, m/s.
    fn velocity(&self, nodes: &Nodes, at: &Point) -> DVec3 {
        self.masses().velocity(nodes, at)
    }

    /// After the forces are known: works out where every frame will be after `h` seconds.
    fn plan(&self, nodes: &mut Nodes, h: f64, crew: Option<&Crew>) {
        self.masses().plan(nodes, h, crew);
    }

    /// Where a point will be after `h` seconds if it is left alone. Valid after
    /// [`plan`](Self::plan) with the same `h`.
    fn preview(&self, nodes: &Nodes, at: &Point, h: f64) -> DVec3 {
        self.masses().preview(nodes, at, h)
    }

    /// ∂ preview(`a`) / ∂ impulse(`b`): the derivative of this matter's own integrator, m/(N·s).
    fn response(&self, nodes: &Nodes, a: &Point, b: &Point, h: f64) -> DMat3 {
        self.masses().response(nodes, a, b, h)
    }

    /// ∂ velocity(`a`) / ∂ impulse(`b`), 1/kg.
    fn mobility(&self, nodes: &Nodes, a: &Point, b: &Point) -> DMat3 {
        self.masses().mobility(nodes, a, b)
    }

    /// An impulse (N·s) on a point, at once. `h` is the substep that was planned, or 0
    /// if the impulse only corrects velocities.
    fn push(&self, nodes: &mut Nodes, at: &Point, impulse: DVec3, h: f64) {
        self.masses().push(nodes, at, impulse, h);
    }

    /// Moves everything by `h` seconds, as planned and pushed. False if the result is not finite
    /// or has left the world: the matter is then in quarantine.
    fn advance(&self, nodes: &mut Nodes, h: f64) -> bool {
        self.masses().advance(nodes, h)
    }

    /// [`advance`](Self::advance) with the help of a crew, like [`force_by`](Self::force_by).
    fn advance_by(&self, nodes: &mut Nodes, h: f64, crew: &Crew) -> bool {
        let _ = crew;
        self.advance(nodes, h)
    }

    /// After everything has moved and nodes that copy others are where these are: what follows from where they came to.
    fn settle(&self, nodes: &mut Nodes) {
        let _ = nodes;
    }
}

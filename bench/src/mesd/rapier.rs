//! Rapier's soft bodies on the same net: edges only, one substep, one sweep, no contact. Its edges are implicit and bear any step, which
//! ours don't; per simulated second it may need fewer of them.

use crate::measure::time;
use rapier3d_f64::prelude::{PhysicsWorld, SoftBodyBuilder, SpringCoefficients, Vector};
use trocar_soft::NetParts;

/// Elements worked on in one sample, at least.
const WORK: usize = 200_000;

/// A net as a soft body of Rapier's.
pub struct Edges {
    world: PhysicsWorld,
    edges: usize,
}

impl Edges {
    /// Of the points and springs of these parts.
    pub fn new(parts: &NetParts) -> Self {
        let points: Vec<Vector> = parts
            .points
            .iter()
            .map(|p| Vector::new(p.x, p.y, p.z))
            .collect();
        let edges: Vec<[u32; 2]> = parts.elements.iter().map(|e| e.nodes).collect();
        let count = edges.len();
        let body = SoftBodyBuilder::new(points)
            .particle_mass(parts.nodes[0].mass)
            .edges(edges)
            // About that of our springs: √(k/m) / 2π.
            .softness(SpringCoefficients::new(70.0, 0.1))
            .no_surface_collider()
            .can_sleep(false);
        let mut world = PhysicsWorld::new();
        world.gravity = Vector::new(0.0, -9.81, 0.0);
        world.integration_parameters.dt = 1e-3;
        world.integration_parameters.num_solver_iterations = 1;
        world.integration_parameters.num_internal_pgs_iterations = 1;
        world.insert_soft_body(body);
        Self {
            world,
            edges: count,
        }
    }

    /// ns per edge and step.
    pub fn sample(&mut self) -> f64 {
        let steps = WORK.div_ceil(self.edges);
        let seconds = time(|| (0..steps).for_each(|_| self.world.step()));
        seconds * 1e9 / (steps * self.edges) as f64
    }

    /// How fast a particle falls, m/s: to see that the body is simulated at all.
    #[cfg(test)]
    fn fall(&self) -> f64 {
        let bodies = self.world.soft_bodies.iter();
        bodies
            .filter_map(|(_, b)| b.particle_velocities().next())
            .map(|v| v.y)
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesd::swinging::sheet;

    #[test]
    fn the_sheet_falls() {
        let mut edges = Edges::new(&sheet(5).unwrap());
        edges.world.step();
        edges.world.step();
        assert!(
            (edges.fall() + 2.0 * 9.81e-3).abs() < 1e-3,
            "{}",
            edges.fall()
        );
    }
}

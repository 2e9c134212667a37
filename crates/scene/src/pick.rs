//! What lies under a finger: the nearest thing along a ray.

use crate::{Simulation, build::pose};
use glam::DVec3;
use trocar_collide::ray;
use trocar_dynamics::{Anchor, Local, anchor::Support};

/// Particles have no size; a finger that comes this near (m) means them.
const PARTICLE: f64 = 3e-3;

/// A point of something, found along a ray.
#[derive(Clone, Debug, PartialEq)]
pub struct Pick {
    /// The point, to pull on.
    pub anchor: Anchor,
    /// Where it is, m.
    pub point: DVec3,
    /// How far along the ray, m.
    pub distance: f64,
    /// Name of the tissue, body or particle.
    pub name: String,
}

impl Simulation {
    /// The nearest point of a tissue, body or particle that a ray from `origin` (m) meets. Instruments and scenery are looked
    /// through: nothing could pull on them.
    pub fn pick(&self, origin: DVec3, direction: DVec3) -> Option<Pick> {
        let direction = direction.try_normalize()?;
        if !origin.is_finite() {
            return None;
        }
        let mut nearest: Option<(f64, Anchor, &str)> = None;
        let mut offer = |distance: f64, anchor: Anchor, name| {
            if nearest.is_none_or(|n| distance < n.0) {
                nearest = Some((distance, anchor, name));
            }
        };
        for tissue in &self.model.tissues {
            let positions = &self.state.nodes[tissue.matter.index()].position;
            // What instruments pass through, a finger does, too.
            for (_, t) in self.model.touchable(tissue) {
                let corners = t.map(|n| positions[n as usize]);
                if let Some((distance, weights)) = ray::triangle(origin, direction, corners) {
                    let anchor = Anchor {
                        matter: tissue.matter,
                        at: Local::Triangle(t, weights),
                    };
                    offer(distance, anchor, tissue.name.as_str());
                }
            }
        }
        for look in &self.model.looks {
            let (matter, node) = look.at;
            let frame = pose(&self.state.nodes[matter.index()], node as usize);
            let (from, along) = (frame.local(origin), frame.rotation.conjugate() * direction);
            let surface = &look.surface;
            for triangle in &surface.triangles {
                let corners = triangle.map(|n| surface.positions[n as usize]);
                if let Some((distance, _)) = ray::triangle(from, along, corners)
                    && Some(matter) == self.model.bodies
                {
                    let anchor = Anchor::frame(matter, node, from + along * distance);
                    offer(distance, anchor, look.name.as_str());
                }
            }
        }
        if let Some(bodies) = self.model.bodies {
            let nodes = &self.state.nodes[bodies.index()];
            for (k, name) in self.model.particles.iter().enumerate() {
                let n = nodes.frames() + k;
                if let Some(distance) = ray::ball(origin, direction, nodes.position[n], PARTICLE) {
                    offer(distance, Anchor::node(bodies, n as u32), name.as_str());
                }
            }
        }
        let (distance, anchor, name) = nearest?;
        Some(Pick {
            anchor,
            point: self.point(&anchor)?,
            distance,
            name: name.into(),
        })
    }

    /// Where a point is now, m; none if there is no such point.
    pub fn point(&self, anchor: &Anchor) -> Option<DVec3> {
        self.model.has(anchor).then(|| {
            let support = Support::of(anchor);
            support
                .parts()
                .iter()
                .fold(DVec3::ZERO, |sum, (m, at, weight)| {
                    let matter = &self.model.matters[m.index()];
                    sum + matter.position(&self.state.nodes[m.index()], at) * *weight
                })
        })
    }
}

//! Contacts and how deep they are, and the distance grids of bodies (F26).

use super::{ContactInsight, Insight};
use crate::{Simulation, build::pose};
use glam::DVec3;

/// Most points of a body's grid that are shown: of larger ones every second, third … is.
const MOST_POINTS: usize = 4000;

impl Simulation {
    /// Adds all contacts, and how many overlap, and how far at most.
    pub(super) fn see_contacts(&self, out: &mut Insight) {
        for group in &self.groups {
            group.see_contacts(|contact, h| {
                if let (Some(at), Some(point)) = (self.point(&contact.a), self.point(&contact.b)) {
                    out.contacts.push(ContactInsight {
                        point,
                        normal: contact.normal,
                        depth: contact.distance - contact.normal.dot(point - at),
                        force: contact.impulse / h,
                        friction: contact.rub / h,
                    });
                }
            });
            group.see_needles(|matter, touched| {
                let positions = &self.state.nodes[matter.index()].position;
                let corners = touched.corners.map(|n| positions.get(n as usize));
                // A tear may have taken a corner away since.
                if let [Some(a), Some(b), Some(c)] = corners {
                    let [x, y, z] = touched.weights;
                    out.contacts.push(ContactInsight {
                        point: *a * x + *b * y + *c * z,
                        normal: touched.normal,
                        depth: touched.depth,
                        force: touched.force,
                        friction: DVec3::ZERO,
                    });
                }
            });
        }
        let depths = out.contacts.iter().map(|c| c.depth);
        out.search.overlaps = depths.clone().filter(|d| *d > 0.0).count() as u32;
        out.deepest = depths.fold(0.0, f64::max);
    }

    /// Adds points of the grids of bodies.
    pub(super) fn see_grids(&self, out: &mut Insight) {
        for collider in &self.model.colliders {
            let Some(grid) = &collider.grid else {
                continue;
            };
            let (matter, node) = collider.at;
            let place = pose(&self.state.nodes[matter.index()], node as usize);
            grid.see_points(MOST_POINTS, |point, surface| {
                out.grids.push((place.point(point), place.point(surface)));
            });
        }
    }
}

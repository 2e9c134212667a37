//! What a needle does to what it touches: it pushes, stops and rubs.

use super::super::Reaction;
use super::{Held, Hit, Leap, Needle, NeedleParts, Stick};
use glam::DVec3;
use trocar_collide::closest;
use trocar_collide::tool::needle::Sunk;
use trocar_dynamics::{Lock, Masses, Matter, Nodes};
use trocar_math::Pose;
use trocar_soft::membrane::Membrane;

/// Depth over which a contact comes to its full stiffness, in parts of the radius.
const RAMP: f64 = 0.05;

/// How deep a triangle may get by its speed and by what draws it, in parts of the radius: where the axis is, it could be on either side.
const DEEPEST: f64 = 0.8;

/// Most rounds in which triangles that share nodes are stopped, one after the other: a needle touches few.
const ROUNDS: usize = 16;

/// Another round is not worth it for less than this part of the radius in a substep.
const STOPPED: f64 = 1e-3;

impl Needle {
    /// Pushes, stops what would be beyond the axis, and rubs.
    pub(super) fn push(&mut self, membrane: &Membrane, nodes: &mut Nodes, before: &Pose, h: f64) {
        self.share(nodes);
        self.press(membrane, nodes, before, h);
        self.stop(membrane, nodes, h);
        self.rub(membrane, nodes, before, h);
        // Once more: what rubs also draws.
        self.stop(membrane, nodes, h);
        let Self {
            pose,
            near,
            hits,
            shares,
            reaction,
            ..
        } = self;
        for hit in hits.iter_mut() {
            hit.push += hit.stop;
            let corners = near.corners[hit.candidate].map(|n| n as usize);
            let here = closest::point(corners.map(|n| nodes.position[n]), hit.sunk.weights);
            reaction.take(here - pose.position, hit.sunk.normal * hit.push);
            corners.into_iter().for_each(|n| shares[n] = 0.0);
        }
    }

    /// Finds how much of itself every triangle gives to its nodes.
    fn share(&mut self, nodes: &Nodes) {
        let Self {
            parts,
            near,
            hits,
            shares,
            ..
        } = self;
        shares.resize(nodes.len(), 0.0);
        for hit in hits.iter() {
            // What sticks pulls elsewhere than where the push is.
            let held = near.candidates[hit.candidate].held.stuck;
            let other = held.map_or([0.0; 3], |(weights, _)| weights);
            for (k, n) in near.corners[hit.candidate].into_iter().enumerate() {
                let weight = hit.sunk.weights[k].max(other[k]);
                shares[n as usize] += parts.ramp(hit.sunk.depth) * weight;
            }
        }
    }

    /// Pushes every triangle by how deep it is, and says how fast it may go on.
    fn press(&mut self, membrane: &Membrane, nodes: &mut Nodes, before: &Pose, h: f64) {
        let Self {
            parts,
            pose,
            near,
            hits,
            shares,
            reaction,
            leap,
            ..
        } = self;
        *reaction = Reaction::default();
        let masses = membrane.masses();
        let passed = |hit: &Hit| near.candidates[hit.candidate].held.has_passed();
        for k in 0..hits.len() {
            let corners = near.corners[hits[k].candidate];
            let has_passed = passed(&hits[k]);
            // After a leap nobody is sure of the sides of what is pierced by its shape alone, nor of what hangs together with that.
            let doubtful = |other: &Hit| {
                let joined = near.corners[other.candidate];
                let pierced = other.sunk.pierced && !passed(other);
                pierced && corners.iter().any(|n| joined.contains(n))
            };
            let sure = match leap {
                Leap::None => true,
                Leap::Out => false,
                Leap::Back => !hits.iter().any(doubtful),
            };
            // What sticks from a depth on is held by springs, up to a limit: it would never be torn off if something else bore it.
            let held = near.candidates[hits[k].candidate].held.stuck.is_some();
            let springs = held && matches!(parts.stick, Stick::Deep { .. });
            let hit = &mut hits[k];
            let corners = corners.map(|n| n as usize);
            let Sunk {
                weights,
                depth,
                normal,
                ..
            } = hit.sunk;
            let stiffness = parts.stiffness * parts.ramp(depth) / crowd(shares, corners);
            // What has passed is there because time is cut into steps, not because somebody did the work to get it there: it is drawn back
            // with no more than a needle's thickness gives.
            hit.push = match has_passed {
                true => stiffness * depth.min(2.0 * parts.radius),
                false => stiffness * depth,
            };
            for (n, w) in corners.into_iter().zip(weights) {
                nodes.force[n] += normal * (hit.push * w);
            }
            hit.lightness = lightness(masses, corners, weights, h);
            let here = closest::point(corners.map(|n| nodes.position[n]), weights);
            let tool = (here - before.point(pose.local(here))) / h;
            let allowed = (DEEPEST * parts.radius - depth).max(0.0) / h;
            if sure && !springs {
                hit.least = tool.dot(normal) - allowed;
            } else if has_passed || *leap != Leap::Out {
                // Only slowed, each by itself, so that springs can sort it out.
                let velocity = closest::point(corners.map(|n| nodes.velocity[n]), weights);
                let too_fast = ((tool - velocity).dot(normal) - allowed).max(0.0);
                let own = lightness(masses, corners, weights, 0.0);
                if own > 0.0 {
                    let push = too_fast / (own * h * crowd(shares, corners));
                    hit.push += push;
                    for (n, w) in corners.into_iter().zip(weights) {
                        nodes.force[n] += normal * (push * w);
                    }
                }
            }
        }
    }

    /// Stops what comes so fast, or is drawn so hard, that it would be beyond the axis at the end of the substep; what is there goes no farther. Triangles that share nodes are stopped one
    /// after the other, until none of them is too fast: an impact without rebound, which adds no energy on a needle at rest.
    fn stop(&mut self, membrane: &Membrane, nodes: &mut Nodes, h: f64) {
        let Self {
            parts, near, hits, ..
        } = self;
        let masses = membrane.masses();
        for _ in 0..ROUNDS {
            let mut most = 0.0_f64;
            for hit in hits.iter_mut().filter(|hit| hit.lightness > 0.0) {
                let corners = near.corners[hit.candidate].map(|n| n as usize);
                let (weights, normal) = (hit.sunk.weights, hit.sunk.normal);
                // As it will be: by that what is pressed on for long is held, too.
                let next = corners.map(|n| next_velocity(masses, nodes, n, h));
                let missing = hit.least - closest::point(next, weights).dot(normal);
                let change = (missing / (hit.lightness * h)).max(-hit.stop);
                if change == 0.0 {
                    continue;
                }
                hit.stop += change;
                most = most.max(change.abs() * hit.lightness * h * h);
                for (n, w) in corners.into_iter().zip(weights) {
                    nodes.force[n] += normal * (change * w);
                }
            }
            if most <= STOPPED * parts.radius {
                break;
            }
        }
    }

    /// Rubs, and holds what sticks.
    fn rub(&mut self, membrane: &Membrane, nodes: &mut Nodes, before: &Pose, h: f64) {
        let Self {
            parts,
            pose,
            near,
            hits,
            shares,
            reaction,
            held,
            ..
        } = self;
        // A spring that holds a triangle: how far it is stretched along the skin.
        let strain_of =
            |position: &[DVec3], hit: &Hit, (anchor, home): ([f64; 3], DVec3)| -> DVec3 {
                let places = near.corners[hit.candidate].map(|n| position[n as usize]);
                let apart = pose.point(home) - closest::point(places, anchor);
                apart - hit.sunk.normal * hit.sunk.normal.dot(apart)
            };
        let stiffness_of = |hit: &Hit| {
            let corners = near.corners[hit.candidate].map(|n| n as usize);
            parts.stiffness * parts.ramp(hit.sunk.depth) / crowd(shares, corners)
        };
        let mut torn = false;
        *held = 0.0;
        if let Stick::Deep { beyond, limit } = parts.stick {
            for hit in hits.iter().filter(|hit| hit.sunk.depth > beyond) {
                if let Some(stuck) = near.candidates[hit.candidate].held.stuck {
                    *held += strain_of(&nodes.position, hit, stuck).length() * stiffness_of(hit);
                }
            }
            if *held > limit {
                // Torn off, all of it; it is held anew from where it is then.
                *held = 0.0;
                torn = true;
            }
        }
        let masses = membrane.masses();
        for hit in hits.iter() {
            let corners = near.corners[hit.candidate].map(|n| n as usize);
            let Sunk {
                weights,
                depth,
                normal,
                ..
            } = hit.sunk;
            let crowd = crowd(shares, corners);
            let stiffness = parts.stiffness * parts.ramp(depth) / crowd;
            // What friction goes by: how deep it is, and what stops. What has passed is drawn back gently, but held by all of its depth: let slip, it would come back elsewhere.
            let load = stiffness * depth + hit.stop;
            let places = corners.map(|n| nodes.position[n]);
            let place = |weights| closest::point(places, weights);
            let along_skin = |v: DVec3| v - normal * normal.dot(v);
            let force = &mut nodes.force;
            let mut give = |weights: [f64; 3], push: DVec3| {
                for (n, w) in corners.into_iter().zip(weights) {
                    force[n] += push * w;
                }
                reaction.take(place(weights) - pose.position, push);
            };
            let Held { stuck, slides, .. } = &mut near.candidates[hit.candidate].held;
            let bound = match parts.stick {
                Stick::Never => None,
                Stick::Cone(_) if *slides => Some(parts.friction * load),
                Stick::Cone(coefficient) => Some(coefficient * load),
                // All of them together are below the limit.
                Stick::Deep { beyond, .. } => (depth > beyond && !torn).then_some(f64::INFINITY),
            };
            if let Some(bound) = bound {
                let (anchor, home) =
                    *stuck.get_or_insert_with(|| (weights, pose.local(place(weights))));
                let strain = along_skin(pose.point(home) - place(anchor));
                let force = strain * stiffness;
                let size = force.length();
                *slides = size > bound;
                if !*slides {
                    give(anchor, force);
                    continue;
                }
                // It slides: the spring is drawn along at the length that friction holds.
                let left = parts.friction * load / size;
                let drawn = place(anchor) + strain * left;
                *stuck = Some((anchor, pose.local(drawn)));
                give(anchor, force * left);
                continue;
            }
            *slides = false;
            *stuck = None;
            let here = place(weights);
            let tool = (here - before.point(pose.local(here))) / h;
            let velocities = corners.map(|n| nodes.velocity[n]);
            let slip = along_skin(closest::point(velocities, weights) - tool);
            let speed = slip.length();
            if speed > 0.0 && parts.friction > 0.0 {
                // Never more than stops it (M18): the point's own mass, shared like the push.
                let stops = speed / (lightness(masses, corners, weights, 0.0) * h * crowd);
                let size = (parts.friction * load).min(stops);
                give(weights, slip * (-size / speed));
            }
        }
    }
}

impl NeedleParts {
    /// Part of its stiffness with which a needle acts at a depth (m).
    fn ramp(&self, depth: f64) -> f64 {
        (depth / (RAMP * self.radius)).min(1.0)
    }
}

/// By how much the pushes at a triangle's nodes are too many, ≥ 1.
fn crowd(shares: &[f64], corners: [usize; 3]) -> f64 {
    corners.into_iter().fold(1.0, |most, n| shares[n].max(most))
}

/// What resists a node's change of velocity in a substep of `h` seconds, kg: none if nothing moves it.
fn heft(masses: &Masses, n: usize, h: f64) -> Option<f64> {
    let moves = masses.lock(n) != Lock::Fixed;
    moves.then(|| masses.mass()[n] + h * masses.resistance()[n])
}

/// Speed that an impulse at a point of a triangle gives to that point, 1/kg. What is fixed takes none.
fn lightness(masses: &Masses, corners: [usize; 3], weights: [f64; 3], h: f64) -> f64 {
    let parts = corners.into_iter().zip(weights);
    let parts = parts.filter_map(|(n, w)| Some(w * w / heft(masses, n, h)?));
    // (A sum of nothing would be −0, and a speed over it −∞.)
    parts.fold(0.0, |sum, part| sum + part)
}

/// Velocity of a node after a substep of `h` seconds under the forces so far, m/s.
fn next_velocity(masses: &Masses, nodes: &Nodes, n: usize, h: f64) -> DVec3 {
    let (velocity, force) = (nodes.velocity[n], nodes.force[n]);
    match heft(masses, n, h) {
        Some(heft) => (velocity * masses.mass()[n] + force * h) / heft,
        None => velocity,
    }
}

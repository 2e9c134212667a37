//! What a needle touches, and on which side of it that is.

use super::{BULGE, Held, Hit, Needle, Side, bulge};
use glam::DVec3;
use trocar_collide::tool::needle::{Reach, Sunk, sunk_among, sunk_over};
use trocar_collide::{Capsule, closest, segment_triangle, sweep};
use trocar_dynamics::Nodes;
use trocar_math::{Four, Pose, four::LANES};

/// Most legs of a substep: what turns by so much more is swept as a thicker needle.
const MOST_LEGS: f64 = 1000.0;

impl Needle {
    /// Finds the triangles that the needle is in, four at a time first.
    pub(super) fn touch(&mut self, nodes: &Nodes, needle: &Capsule) {
        let at = |n: u32| &nodes.position[n as usize];
        let reach = Reach::new(needle);
        let Self { near, hits, .. } = self;
        hits.clear();
        let mut judge = |candidate: usize| {
            let triangle = near.corners[candidate].map(|n| *at(n));
            let open = near.candidates[candidate].open;
            if let Some(sunk) = sunk_among(needle, triangle, open) {
                hits.push(Hit::new(candidate, sunk));
            }
        };
        let (fours, rest) = near.corners.as_chunks::<LANES>();
        for (k, [p, q, r, s]) in fours.iter().enumerate() {
            let corner = |i: usize| Four::of(at(p[i]), at(q[i]), at(r[i]), at(s[i]));
            let mut bits = reach.may_touch([corner(0), corner(1), corner(2)]);
            while bits != 0 {
                judge(LANES * k + bits.trailing_zeros() as usize);
                bits &= bits - 1;
            }
        }
        let done = near.corners.len() - rest.len();
        (done..near.corners.len()).for_each(judge);
    }

    /// Lets what is pierced get out over the end that came through it, or through what it hangs together with. By its shape alone it would go over the nearer one, and a needle that is in by
    /// more than half its length would be through.
    pub(super) fn keep_ends(&mut self, nodes: &Nodes, needle: &Capsule) {
        let Self { near, hits, .. } = self;
        let over_end = |along: f64| along == 0.0 || along == 1.0;
        let is_through = |hit: &Hit| hit.sunk.pierced && over_end(hit.sunk.along);
        // Where it was met is remembered of the last substep.
        let known = |hit: &Hit| {
            let side = near.candidates[hit.candidate].held.side?;
            over_end(side.along).then_some(side.along)
        };
        for k in 0..hits.len() {
            let hit = hits[k];
            if !is_through(&hit) {
                continue;
            }
            let corners = near.corners[hit.candidate];
            let beside = || {
                let joined = |other: &&Hit| {
                    corners
                        .iter()
                        .any(|n| near.corners[other.candidate].contains(n))
                };
                hits.iter().filter(joined).find_map(known)
            };
            let Some(end) = known(&hit).or_else(beside) else {
                continue;
            };
            let triangle = corners.map(|n| nodes.position[n as usize]);
            if end != hit.sunk.along
                && let Some(sunk) = sunk_over(needle, triangle, end == 0.0)
            {
                hits[k].sunk = sunk;
            }
        }
    }

    /// Finds triangles that the needle met on its way from a pose to the one it has now, and remembers on which side it met them. What turns does not go straight: it is
    /// swept in legs that nearly do, and thicker by what is missing.
    pub(super) fn catch(&mut self, nodes: &Nodes, before: &Pose) {
        let (turn, arm) = self.turn(before, &self.pose);
        let legs = trocar_math::real::ceil((bulge(turn, arm) / (BULGE * self.parts.radius)).sqrt());
        let legs = legs.clamp(1.0, MOST_LEGS) as u32;
        let missing = match legs {
            1 => 0.0,
            _ => bulge(turn / f64::from(legs), arm),
        };
        let radius = self.parts.radius + missing;
        let mut start = *before;
        for leg in 1..=legs {
            let parts = [leg - 1, leg].map(|k| f64::from(k) / f64::from(legs));
            let end = match leg == legs {
                true => self.pose,
                false => before.interpolate(&self.pose, parts[1]),
            };
            self.catch_leg(nodes, [start, end], parts, radius);
            start = end;
        }
    }

    /// The same of a leg between two poses, which the needle is at after two parts of the substep.
    fn catch_leg(&mut self, nodes: &Nodes, [from, to]: [Pose; 2], parts: [f64; 2], radius: f64) {
        let (start, end) = (self.capsule(&from), self.capsule(&to));
        let axis = [
            sweep::Moving::new(start.a, end.a),
            sweep::Moving::new(start.b, end.b),
        ];
        for (candidate, corners) in self.near.candidates.iter_mut().zip(&self.near.corners) {
            if candidate.held.side.is_some() {
                continue;
            }
            let triangle = corners.map(|n| {
                let (now, velocity) = (nodes.position[n as usize], nodes.velocity[n as usize]);
                let [from, to] = parts.map(|part| now - velocity * (self.last * (1.0 - part)));
                sweep::Moving::new(from, to)
            });
            let impact = sweep::capsule_triangle(axis, triangle, radius, sweep::TOLERANCE);
            if let Some(impact) = impact {
                // Where nobody can tell how they meet, the side is the one on which the triangle was at the start.
                let normal = match impact.certain && impact.normal != DVec3::ZERO {
                    true => impact.normal,
                    false => {
                        let from = triangle.map(|corner| corner.from);
                        let then = segment_triangle(start.a, start.b, from);
                        let apart = closest::point(from, then.weights) - start.axis(then.along);
                        let Some(normal) = apart.try_normalize() else {
                            continue;
                        };
                        normal
                    }
                };
                // As it is in space: the sheet does not turn with the needle.
                let out = self.pose.rotation.conjugate() * normal;
                candidate.held.side = Some(Side {
                    out,
                    along: impact.along,
                    weights: impact.weights,
                    passed: false,
                });
            }
        }
    }

    /// Keeps triangles on the side on which they were met. What is in the needle by its shape alone may have come from any side; after a great motion,
    /// or as long as it has not come back, the remembered one decides.
    pub(super) fn keep_sides(&mut self, nodes: &Nodes, needle: &Capsule, moved: f64, swept: bool) {
        let mut next = 0;
        for (k, candidate) in self.near.candidates.iter_mut().enumerate() {
            let hit = self
                .hits
                .get(next)
                .filter(|hit| hit.candidate == k)
                .copied();
            let local = |v: DVec3| self.pose.rotation.conjugate() * v;
            let fresh = hit.map(|hit| Side {
                out: local(hit.sunk.normal),
                along: hit.sunk.along,
                weights: hit.sunk.weights,
                passed: false,
            });
            let remembered = candidate.held.side.and_then(|side| {
                let normal = self.pose.rotation * side.out;
                let agrees = hit.is_some_and(|hit| hit.sunk.normal.dot(normal) > 0.0);
                if agrees || !(swept || side.passed) {
                    return None;
                }
                let corners = self.near.corners[k].map(|n| nodes.position[n as usize]);
                let depth_at = |along: f64, weights| {
                    let apart = closest::point(corners, weights) - needle.axis(along);
                    needle.radius - normal.dot(apart)
                };
                // Put back to where it would just touch: what is farther from there than it can have moved it has gone around.
                let back = normal * (depth_at(side.along, side.weights) - 0.5 * needle.radius);
                let pair = segment_triangle(needle.a - back, needle.b - back, corners);
                let near = needle.radius + moved;
                let depth = depth_at(pair.along, pair.weights);
                // What the shape says it does not touch is beyond the axis, or it has left.
                let least = if hit.is_some() { 0.0 } else { needle.radius };
                (pair.distance_squared < near * near && depth > least).then_some(Sunk {
                    along: pair.along,
                    weights: pair.weights,
                    pierced: true,
                    depth,
                    normal,
                })
            });
            if let (Some(sunk), Some(side)) = (&remembered, &mut candidate.held.side) {
                (side.along, side.weights, side.passed) = (sunk.along, sunk.weights, true);
            }
            match (remembered, hit) {
                (Some(sunk), Some(_)) => {
                    self.hits[next].sunk = sunk;
                    next += 1;
                }
                (Some(sunk), None) => {
                    self.hits.insert(next, Hit::new(k, sunk));
                    next += 1;
                }
                (None, Some(_)) => {
                    candidate.held.side = fresh;
                    next += 1;
                }
                (None, None) => candidate.held = Held::default(),
            }
        }
    }

    /// Lets triangles that touch at a side or a corner of one that is pierced be pushed out to the same side as that. By its shape alone such a neighbour is beyond the
    /// needle's end, and would be pushed there: against the one that is pierced, so that the end would stay between them.
    pub(super) fn agree(&mut self) {
        let radius = self.parts.radius;
        let Self { near, hits, .. } = self;
        if !hits.iter().any(|hit| hit.sunk.pierced) {
            return;
        }
        for k in 0..hits.len() {
            let Hit {
                candidate, sunk, ..
            } = hits[k];
            // The place where it touches hangs on these corners alone.
            let touched = near.corners[candidate].into_iter().zip(sunk.weights);
            let touched = touched.filter(|(_, weight)| *weight > 0.0);
            if sunk.pierced || touched.clone().count() == 3 {
                continue;
            }
            let beside = hits.iter().find(|other| {
                let corners = near.corners[other.candidate];
                other.sunk.pierced && touched.clone().all(|(n, _)| corners.contains(&n))
            });
            let Some(out) = beside.map(|other| other.sunk.normal) else {
                continue;
            };
            // Mirrored, so that nothing jumps as the end goes through: there it points along the sheet.
            let against = sunk.normal.dot(out).min(0.0);
            let apart = radius - sunk.depth;
            hits[k].sunk.normal = sunk.normal - out * (2.0 * against);
            hits[k].sunk.depth = sunk.depth + 2.0 * apart * against * against;
        }
    }
}

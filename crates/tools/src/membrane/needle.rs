//! A needle against a membrane: a capsule that pushes triangles, rubs on them and holds them (W121–W138, M16–M19).
//!
//! **Where it pushes.** The thesis moves a triangle as a whole, and a node that several touched triangles share is pushed by all of them
//! (its trap 9). Here the nearest point of a triangle is pushed, its corners by their weights in it, and triangles
//! that touch beside each other share what they do: with the depth δ, its ramp φ = min(1, δ/ε) and the weights w,
//!
//! ```text
//! push   N = k s δ        share   s = φ / max(1, nᵢ)        nᵢ = Σ φ wᵢ   over all that touch node i
//! ```
//!
//! so that Σ s wᵢ ≤ 1 at every node: what a needle adds to its stiffness is at most 2 k (on the ramp), however the sheet is meshed, and
//! forces never jump when another triangle comes to touch.
//!
//! A capsule touches a triangle if any pair of their points is nearer than its radius, or if it pierces it (W122, W129): where, how deep and which way out (W37). It pushes by forces alone (W60, W123), without
//! friction, sliding or sticking as is chosen (W124, W125), and what it pushes ahead of it may tear (W126).
//!
//! **What would be beyond the axis** at the end of a substep is stopped before it is there. The velocities v′ = (m v + h f)/(m + h d) that nodes will have by mass m, damping d and the
//! forces f so far are known, and at the point of a triangle that is touched, with the needle's own speed u,
//!
//! ```text
//! least   n·v′ ≥ n·u − max(0, 0.8 r − δ)/h
//! ```
//!
//! is brought about by pushes that only push, one triangle after the other until all are content, or for 16 rounds: an impact without rebound. So a thin needle bears what springs of k r would not.
//!
//! **Friction** is Coulomb's, by how deep it is and what stops. What [sticks](Stick) hangs on a spring of the same stiffness between a point of the triangle and one of the tool.

use super::near::{Candidate, Near, fastest};
use super::{Reaction, Travel};
use glam::DVec3;
use serde::{Deserialize, Serialize};
use trocar_collide::tool::needle::{Reach, Sunk, sunk_among, sunk_over};
use trocar_collide::{Capsule, closest, segment_triangle, sweep};
use trocar_dynamics::{Lock, Masses, Matter, Nodes};
use trocar_math::{Four, Pose, four::LANES, rotation};
use trocar_mesh::sheet::{Event, Followed, Sheet, SheetAnchor};
use trocar_soft::membrane::Membrane;

/// Depth over which a contact comes to its full stiffness, in parts of the radius.
const RAMP: f64 = 0.05;

/// A needle that moves by more than this part of its radius between two looks is swept: less can't take it past a triangle's middle.
const UNSWEPT: f64 = 0.5;

/// How deep a triangle may get by its speed and by what draws it, in parts of the radius: where the axis is, it could be on either side.
const DEEPEST: f64 = 0.8;

/// Most rounds in which triangles that share nodes are stopped, one after the other: a needle touches few.
const ROUNDS: usize = 16;

/// Another round is not worth it for less than this part of the radius in a substep.
const STOPPED: f64 = 1e-3;

/// How far a needle that turns may leave the straight way of a leg that is swept, in parts of its radius.
const BULGE: f64 = 0.01;

/// Most legs of a substep: what turns by so much more is swept as a thicker needle.
const MOST_LEGS: f64 = 1000.0;

/// How far a point that turns by `turn` rad at a distance `arm` (m) from what it turns about leaves its chord at most, m.
fn bulge(turn: f64, arm: f64) -> f64 {
    0.125 * turn * turn * arm
}

/// When a triangle sticks to the needle (W133–W136).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Stick {
    /// Never.
    #[default]
    Never,
    /// As long as the force along the needle's skin is at most this times the push, ≥ 0: Coulomb's cone. Beyond it slides.
    Cone(f64),
    /// The source's: what is deeper than `beyond` (m, ≥ 0) sticks, until the forces along the skin are above `limit` (N, > 0), those of all triangles that
    /// stick added up: so that it does not hold more on a finer mesh. (In the source every triangle has the limit for itself.) All is torn off
    /// then, and may stick again in the next substep.
    Deep {
        /// Depth from which it sticks, m.
        beyond: f64,
        /// Sum of the forces along the skin that tears all off, N.
        limit: f64,
    },
}

/// What a needle is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NeedleParts {
    /// Ends of the axis of its tip in the tool's frame, m (W127).
    pub axis: [DVec3; 2],
    /// Radius, m, > 0.
    pub radius: f64,
    /// Force for each depth, N/m, > 0: in the source that of the membrane's springs (W132).
    pub stiffness: f64,
    /// Coefficient of sliding friction, ≥ 0 (W134).
    pub friction: f64,
    /// When it sticks.
    pub stick: Stick,
}

/// What a needle remembers of a triangle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Held {
    /// The point of the triangle that sticks, and where it sticks in the tool's frame, m.
    pub(super) stuck: Option<([f64; 3], DVec3)>,
    /// Whether that slides: then it is held by sliding friction alone, until it slides no more.
    pub(super) slides: bool,
    /// The side on which it touches.
    pub(super) side: Option<Side>,
}

impl Held {
    /// Whether the triangle is beyond the needle's axis, and has to come back.
    pub(super) fn has_passed(&self) -> bool {
        self.side.is_some_and(|s| s.passed)
    }
}

/// Whether a needle has leapt over something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Leap {
    /// All is on the side that it is known to be on.
    #[default]
    None,
    /// It has moved by more than half its radius in a substep, and what it has leapt over has not come back yet: all goes by the sides that are remembered of that.
    Out,
    /// That has come back, but something is pierced still.
    Back,
}

/// The side of a needle that a triangle is on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Side {
    /// The way out, in the tool's frame.
    pub(super) out: DVec3,
    /// Where on the axis, from 0 to 1.
    pub(super) along: f64,
    /// Where on the triangle.
    pub(super) weights: [f64; 3],
    /// Whether it is beyond the axis, and has to come back.
    pub(super) passed: bool,
}

impl Candidate {
    /// Lets what is remembered follow an edit of the sheet.
    pub(super) fn follow(&mut self, sheet: &Sheet, event: &Event) {
        let points = [
            self.held.stuck.map(|s| s.0),
            self.held.side.map(|s| s.weights),
        ];
        let mut to = self.triangle;
        for (k, weights) in points.into_iter().enumerate() {
            let Some(weights) = weights else {
                continue;
            };
            let triangle = self.triangle;
            let mut anchor = SheetAnchor { triangle, weights };
            let lost = event.follow(sheet, &mut anchor) == Followed::Lost;
            // The side is found anew if it went another way than what sticks.
            let apart = k == 1 && points[0].is_some() && anchor.triangle != to;
            match k {
                0 if lost => (self.held.stuck, self.held.slides) = (None, false),
                0 => {
                    to = anchor.triangle;
                    self.held.stuck = self.held.stuck.map(|s| (anchor.weights, s.1));
                }
                _ if lost || apart => self.held.side = None,
                _ => {
                    to = anchor.triangle;
                    let weights = anchor.weights;
                    self.held.side = self.held.side.map(|s| Side { weights, ..s });
                }
            }
        }
        self.triangle = to;
    }
}

/// A triangle that is touched.
#[derive(Clone, Copy, Debug)]
struct Hit {
    candidate: usize,
    sunk: Sunk,
    /// What pushes it out, N.
    push: f64,
    /// What of that stops it before it is beyond the axis, N.
    stop: f64,
    /// The least speed along its normal that keeps it on its side in the next substep, m/s.
    least: f64,
    /// Speed that an impulse along the normal gives to the point that is touched, 1/kg.
    lightness: f64,
}

impl Hit {
    fn new(candidate: usize, sunk: Sunk) -> Self {
        Self {
            candidate,
            sunk,
            push: 0.0,
            stop: 0.0,
            least: f64::NEG_INFINITY,
            lightness: 0.0,
        }
    }
}

/// A place where a needle touches a membrane, for those who look inside.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touched {
    /// The corners of the triangle, and their weights.
    pub corners: [u32; 3],
    /// Their sum is 1.
    pub weights: [f64; 3],
    /// From the needle to the membrane, unit length.
    pub normal: DVec3,
    /// How far the triangle has to go, m.
    pub depth: f64,
    /// What pushes it out, N.
    pub force: f64,
}

/// A needle; see the [module](self).
#[derive(Clone, Debug)]
pub struct Needle {
    parts: NeedleParts,
    travel: Travel,
    pose: Pose,
    /// Of the last substep, s.
    pub(super) last: f64,
    pub(super) leap: Leap,
    /// Least margin with which triangles are looked for, m.
    margin: f64,
    pub(super) near: Near,
    /// As it was before the substep at hand: pose, length of the substep before, and what it remembers.
    kept: (Pose, (f64, Leap), Near),
    hits: Vec<Hit>,
    /// Σ φ w of every node by place; zero between two substeps.
    shares: Vec<f64>,
    reaction: Reaction,
    /// Forces along the skin of what sticks deep, added up, N.
    held: f64,
}

impl Needle {
    /// Checks the parts; the reason why not, if they can't be used.
    pub fn new(parts: NeedleParts) -> Result<Self, &'static str> {
        check(&parts)?;
        Ok(Self {
            parts,
            travel: Travel::still(Pose::IDENTITY, 0.0),
            pose: Pose::IDENTITY,
            last: 0.0,
            leap: Leap::None,
            // A little, so that a still sheet is not looked for anew.
            margin: 0.25 * parts.radius,
            near: Near::default(),
            kept: (Pose::IDENTITY, (0.0, Leap::None), Near::default()),
            hits: Vec::new(),
            shares: Vec::new(),
            reaction: Reaction::default(),
            held: 0.0,
        })
    }

    /// Makes it another needle that remembers what it did; the reason why not, if the parts can't be used.
    pub fn set_parts(&mut self, parts: NeedleParts) -> Result<(), &'static str> {
        check(&parts)?;
        self.parts = parts;
        Ok(())
    }

    /// Forgets what it touched: the membrane is another one now.
    pub fn forget(&mut self) {
        self.near.candidates.clear();
        self.near.corners.clear();
        self.hits.clear();
        self.last = 0.0;
        self.leap = Leap::None;
        self.reaction = Reaction::default();
        self.held = 0.0;
    }

    /// Notes how it is before a substep that may have to be done again.
    pub fn keep(&mut self) {
        let (pose, last, near) = &mut self.kept;
        (*pose, *last) = (self.pose, (self.last, self.leap));
        near.copy_from(&self.near);
    }

    /// Is again as it was before the substep.
    pub fn go_back(&mut self) {
        let (pose, last, near) = &self.kept;
        (self.pose, (self.last, self.leap)) = (*pose, *last);
        self.near.copy_from(near);
    }

    /// What it is.
    pub fn parts(&self) -> &NeedleParts {
        &self.parts
    }

    /// The most that it adds to the stiffness of a node, N/m: for [`Membrane::expect_tools`].
    pub fn added_stiffness(&self) -> f64 {
        2.0 * self.parts.stiffness
    }

    /// Its capsule when the tool is at a pose.
    pub fn capsule(&self, pose: &Pose) -> Capsule {
        let [a, b] = self.parts.axis.map(|p| pose.point(p));
        let radius = self.parts.radius;
        Capsule { a, b, radius }
    }

    /// What the membrane did to it in the last substep.
    pub fn reaction(&self) -> Reaction {
        self.reaction
    }

    /// Triangles that it may reach, and those that it touched in the last substep.
    pub fn counts(&self) -> [usize; 2] {
        [self.near.candidates.len(), self.hits.len()]
    }

    /// Where it touched in the last substep; nodes are as they were numbered then.
    pub fn touches(&self) -> impl Iterator<Item = Touched> {
        self.hits.iter().filter_map(|hit| {
            Some(Touched {
                corners: *self.near.corners.get(hit.candidate)?,
                weights: hit.sunk.weights,
                normal: hit.sunk.normal,
                depth: hit.sunk.depth,
                force: hit.push,
            })
        })
    }

    /// Triangles that stick to it.
    pub fn sticking(&self) -> usize {
        let candidates = self.near.candidates.iter();
        candidates.filter(|c| c.held.stuck.is_some()).count()
    }

    /// Forces along its skin by which what sticks deep ([`Stick::Deep`]) was held in the last substep, added up, N: never above the limit.
    pub fn held(&self) -> f64 {
        self.held
    }

    /// Substeps that it takes for the needle to move by no more than half its radius in each.
    pub fn substeps(&self, travel: &Travel) -> u32 {
        let way = self.way(&travel.from, &travel.to);
        let count = trocar_math::real::ceil(way / (UNSWEPT * self.parts.radius));
        count.clamp(1.0, 1e6) as u32
    }

    /// The same for the frame that was begun, with the way of the fastest node that it may reach: so that nothing flies past it unseen.
    pub fn substeps_among(&self, nodes: &Nodes) -> u32 {
        let Travel { from, to, dt } = self.travel;
        let corners = self.near.corners.iter().flatten();
        let speeds = corners.map(|n| nodes.velocity[*n as usize].length_squared());
        let fastest = speeds.fold(0.0, f64::max).sqrt();
        let way = self.way(&from, &to) + fastest * dt;
        let count = trocar_math::real::ceil(way / (UNSWEPT * self.parts.radius));
        count.clamp(1.0, 1e6) as u32
    }

    /// The farthest that a point of the axis goes between two poses, m, as fast as it ever is on the way; with a turn that is more than how far it gets.
    fn way(&self, from: &Pose, to: &Pose) -> f64 {
        let (turn, arm) = self.turn(from, to);
        let straight = from.position.distance(to.position);
        let ways = self.parts.axis.map(|p| from.point(p).distance(to.point(p)));
        // It moves with t + ω × p: never faster than both together, and never off its mean by more than ω × p turns on half of the way.
        let (both, mean) = (straight + turn * arm, ways[0].max(ways[1]));
        match bulge(turn, arm) > BULGE * self.parts.radius {
            true => both.min(mean + 0.5 * turn * turn * arm),
            false => mean,
        }
    }

    /// The angle between two poses, rad, and how far the axis gets from the line that it turns about, m.
    fn turn(&self, from: &Pose, to: &Pose) -> (f64, f64) {
        let turn = rotation::to_scaled_axis(to.rotation * from.rotation.conjugate());
        let about = turn.normalize_or_zero();
        let arms = self.parts.axis.map(|p| {
            let arm = from.rotation * p;
            (arm - about * about.dot(arm)).length()
        });
        (turn.length(), arms[0].max(arms[1]))
    }

    /// Sets how far around its way it looks for triangles at least, m; a quarter of its radius unless told. With more it looks less often, at more of them.
    pub fn set_margin(&mut self, margin: f64) {
        self.margin = margin.max(0.0);
    }

    /// Begins a frame: finds what it may reach on its way. After a pause or a jump, `travel` begins where the needle is put.
    pub fn begin(&mut self, membrane: &Membrane, nodes: &Nodes, travel: Travel) {
        self.travel = travel;
        self.pose = travel.from;
        self.near.begin();
        self.look_around(membrane, nodes, 0.0);
    }

    /// Looks for triangles from a part of the frame (0 to 1) to its end.
    fn look_around(&mut self, membrane: &Membrane, nodes: &Nodes, part: f64) {
        let Travel { from, to, dt } = self.travel;
        let here = self.pose;
        let (turn, arm) = self.turn(&from, &to);
        let bulge = bulge(turn, arm);
        // W39: as far as nodes go until the end of the frame at their speed.
        let margin = fastest(nodes) * dt * (1.0 - part) + self.margin;
        let capsules = [self.capsule(&here), self.capsule(&to)];
        let [from, to] = &capsules;
        self.near.gather(membrane, nodes, [from, to], bulge, margin);
    }

    /// Lets what it remembers follow the membrane's last tear or cut. To be called after every one.
    pub fn follow(&mut self, membrane: &Membrane) {
        self.near.follow(membrane);
    }

    /// Adds its forces to those of the membrane, which must be there already as it goes by them, for the substep of `h` seconds that ends after a part (0 to 1) of the frame.
    pub fn act(&mut self, membrane: &Membrane, nodes: &mut Nodes, part: f64, h: f64) {
        let before = self.pose;
        let gone = self.last * fastest(nodes);
        if !self.near.still_knows(membrane, gone) {
            self.look_around(membrane, nodes, part);
        }
        self.pose = self.travel.at(part);
        let needle = self.capsule(&self.pose);
        let own = self.way(&before, &self.pose);
        let moved = own + gone;
        let swept = moved > UNSWEPT * needle.radius;
        self.touch(nodes, &needle);
        let mut candidates = self.near.candidates.iter();
        let is_out = own > UNSWEPT * needle.radius
            || (self.leap == Leap::Out && candidates.any(|c| c.held.has_passed()));
        self.leap = match self.leap {
            _ if is_out => Leap::Out,
            Leap::Out | Leap::Back if self.hits.iter().any(|hit| hit.sunk.pierced) => Leap::Back,
            _ => Leap::None,
        };
        if !is_out {
            self.keep_ends(nodes, &needle);
        }
        if swept {
            self.catch(nodes, &before);
        }
        self.keep_sides(nodes, &needle, moved, swept);
        if !is_out {
            self.agree();
        }
        self.push(membrane, nodes, &before, h);
        self.last = h;
    }

    /// Finds the triangles that the needle is in, four at a time first.
    fn touch(&mut self, nodes: &Nodes, needle: &Capsule) {
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
    fn keep_ends(&mut self, nodes: &Nodes, needle: &Capsule) {
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
    fn catch(&mut self, nodes: &Nodes, before: &Pose) {
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
    fn keep_sides(&mut self, nodes: &Nodes, needle: &Capsule, moved: f64, swept: bool) {
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
    fn agree(&mut self) {
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

    /// Pushes, stops what would be beyond the axis, and rubs.
    fn push(&mut self, membrane: &Membrane, nodes: &mut Nodes, before: &Pose, h: f64) {
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

/// Whether parts can be used, or the reason why not.
fn check(parts: &NeedleParts) -> Result<(), &'static str> {
    let positive = |x: f64| x > 0.0 && x < f64::INFINITY;
    if !parts.axis.iter().all(|p| p.is_finite()) || !positive(parts.radius) {
        return Err("a needle needs a finite axis and a radius above 0");
    }
    let rubs = parts.friction >= 0.0 && parts.friction.is_finite();
    if !(positive(parts.stiffness) && rubs) {
        return Err("a needle needs a stiffness above 0 and a friction of at least 0");
    }
    let sound = match parts.stick {
        Stick::Never => true,
        Stick::Cone(coefficient) => coefficient >= parts.friction && coefficient < f64::INFINITY,
        Stick::Deep { beyond, limit } => beyond >= 0.0 && positive(limit),
    };
    match sound {
        true => Ok(()),
        false => Err(
            "what sticks needs a coefficient of at least that of sliding, or a depth and a limit",
        ),
    }
}

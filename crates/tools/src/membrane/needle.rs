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

mod push;
mod sides;

use super::near::{Candidate, Near, fastest};
use super::{Reaction, Travel};
use glam::DVec3;
use serde::{Deserialize, Serialize};
use trocar_collide::Capsule;
use trocar_collide::tool::needle::Sunk;
use trocar_dynamics::Nodes;
use trocar_math::{Pose, rotation};
use trocar_mesh::sheet::{Event, Followed, Sheet, SheetAnchor};
use trocar_soft::membrane::Membrane;

/// A needle that moves by more than this part of its radius between two looks is swept: less can't take it past a triangle's middle.
const UNSWEPT: f64 = 0.5;

/// How far a needle that turns may leave the straight way of a leg that is swept, in parts of its radius.
const BULGE: f64 = 0.01;

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

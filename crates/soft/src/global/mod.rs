//! Global elements: between points of different matter, or a point of matter and one that is fixed in space (K53, K57).
//!
//! They are of every kind that elements inside a net are: springs and dampers of any law, which may yield, be driven or both side by side; bends at a point between
//! two others; and torsion of one thing against another. Their ends may be on anything: a node, a point of a surface, a body. What a slave of a hyper
//! node is given it hands on to its master, as it does with all forces. What they remember of having yielded is in themselves: whoever steps them holds it as state.

mod link;

pub use link::{Flow, Link};

use crate::element::{self, Bent, Input};
use glam::{DQuat, DVec3};
use link::Moving;
use trocar_dynamics::{Anchor, Local, Matter, MatterId, Nodes, anchor::Support};

/// An end of a global element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum End {
    /// On matter.
    On(Anchor),
    /// Fixed in space, m.
    At(DVec3),
    /// On something that is not looked at and may move, m: where it was at the start. Bounds of a part of what hangs together count with it.
    Away(DVec3),
}

impl End {
    /// What it is on; none if it is fixed in space.
    pub fn anchor(&self) -> Option<&Anchor> {
        match self {
            Self::On(anchor) => Some(anchor),
            Self::At(_) | Self::Away(_) => None,
        }
    }

    /// The same, to be moved.
    pub fn anchor_mut(&mut self) -> Option<&mut Anchor> {
        match self {
            Self::On(anchor) => Some(anchor),
            Self::At(_) | Self::Away(_) => None,
        }
    }

    /// The frame that it is on, if it is on one.
    pub fn frame(&self) -> Option<(MatterId, u32)> {
        match self.anchor()?.at {
            Local::Frame(node, _) => Some((self.anchor()?.matter, node)),
            _ => None,
        }
    }
}

/// An element between points of anything.
#[derive(Clone, Debug, PartialEq)]
pub struct Global {
    /// Only what bends has the third.
    ends: [End; 3],
    /// What it does.
    pub kind: Kind,
}

/// What an element does to its ends.
#[derive(Clone, Debug, PartialEq)]
#[allow(
    clippy::large_enum_variant,
    reason = "nearly all are links, and a box would put each in a second place"
)]
pub enum Kind {
    /// Draws or brakes two.
    Link(Link),
    /// Keeps the angle at the middle one of three (K41).
    Bend {
        /// N/rad, ≥ 0.
        constant: f64,
        /// How it was built.
        rest: Bent,
    },
    /// Turns the frame of its first end back to how it was built into that of its second (K40): a torque on both, and no force.
    Torsion {
        /// N·m/rad, ≥ 0.
        constant: f64,
        /// How both were turned when it was built; what is fixed in space stays so.
        rest: [DQuat; 2],
    },
}

/// How an element answers as it is now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Present {
    /// Along or across it, whichever is more: N/m of a spring, N·s/m of a damper.
    pub slope: f64,
    /// The force of a spring, either way, N; of a damper 0.
    pub pull: f64,
    /// What resists turning the frames at its ends by itself, N·m/rad.
    pub turn: f64,
    /// Step in which its ends stay near, s.
    pub step: f64,
}

/// The matter that global elements look at: all of it by name, the shares of the state, and where each one's is.
pub struct Sight<'a, F: Fn(MatterId) -> &'a dyn Matter> {
    /// A matter by its name.
    pub matter: F,
    /// For every matter the place of its share.
    pub slot: &'a [u32],
}

impl<'a, F: Fn(MatterId) -> &'a dyn Matter> Sight<'a, F> {
    fn share<'n>(&self, matter: MatterId, nodes: &'n [Nodes]) -> &'n Nodes {
        &nodes[self.slot[matter.index()] as usize]
    }

    /// Position and velocity of an end.
    fn see(&self, end: &End, nodes: &[Nodes]) -> Moving {
        let anchor = match end {
            End::At(point) | End::Away(point) => return (*point, DVec3::ZERO),
            End::On(anchor) => anchor,
        };
        let mut sum = (DVec3::ZERO, DVec3::ZERO);
        for (m, at, weight) in Support::of(anchor).parts() {
            let share = self.share(*m, nodes);
            let matter = (self.matter)(*m);
            sum.0 += matter.position(share, at) * *weight;
            sum.1 += matter.velocity(share, at) * *weight;
        }
        sum
    }

    /// How the frame at an end is turned; `rest` if there is none.
    fn turned(&self, end: &End, nodes: &[Nodes], rest: DQuat) -> DQuat {
        let turned = end.frame().and_then(|(matter, node)| {
            let share = self.share(matter, nodes);
            share.orientation.get(node as usize).copied()
        });
        turned.unwrap_or(rest)
    }

    /// Adds a force (N) to what an end rests on; matter whose motion is prescribed does not feel it.
    pub fn pull(&self, end: &End, nodes: &mut [Nodes], force: DVec3) {
        let Some(anchor) = self.felt(end) else { return };
        for (m, at, weight) in Support::of(anchor).parts() {
            let share = &mut nodes[self.slot[m.index()] as usize];
            let i = at.node as usize;
            share.force[i] += force * *weight;
            if let Some(q) = share.orientation.get(i) {
                share.torque[i] += (*q * at.offset).cross(force * *weight);
            }
        }
    }

    /// Adds a torque (N·m) to the frame at an end.
    fn twist(&self, end: &End, nodes: &mut [Nodes], torque: DVec3) {
        if let (Some(_), Some((matter, node))) = (self.felt(end), end.frame()) {
            let share = &mut nodes[self.slot[matter.index()] as usize];
            share.torque[node as usize] += torque;
        }
    }

    /// What an end is on, if that moves by forces.
    fn felt<'e>(&self, end: &'e End) -> Option<&'e Anchor> {
        end.anchor()
            .filter(|anchor| !(self.matter)(anchor.matter).is_prescribed())
    }
}

/// The torque (N·m) of torsion on the first of two frames that are `turned`, built as `rest`.
fn torsion(constant: f64, rest: &[DQuat; 2], turned: [DQuat; 2]) -> DVec3 {
    let reference = turned[1] * rest[1].conjugate() * rest[0];
    element::torsion_torque(turned[0], reference, constant)
}

impl Global {
    /// A spring or damper between two points.
    pub fn link([a, b]: [End; 2], link: Link) -> Self {
        let kind = Kind::Link(link);
        Self::new([a, b, End::At(DVec3::ZERO)], kind)
    }

    /// Keeps the angle at the second of three points (K41), `constant` in N/rad, as it is at `places`, m.
    pub fn bend(ends: [End; 3], constant: f64, [i, k, j]: [DVec3; 3]) -> Self {
        let rest = Bent::new(k - i, k - j);
        Self::new(ends, Kind::Bend { constant, rest })
    }

    /// Turns the frame of the first end back to how it was built into that of the second, or into space (K40), `constant` in N·m/rad; `rest` is how both are turned.
    pub fn torsion([a, b]: [End; 2], constant: f64, rest: [DQuat; 2]) -> Self {
        let kind = Kind::Torsion { constant, rest };
        Self::new([a, b, End::At(DVec3::ZERO)], kind)
    }

    fn new(ends: [End; 3], kind: Kind) -> Self {
        Self { ends, kind }
    }

    /// Its ends: two, or of what bends three, the middle one second.
    pub fn ends(&self) -> &[End] {
        match self.kind {
            Kind::Bend { .. } => &self.ends,
            _ => &self.ends[..2],
        }
    }

    /// The same, to be moved.
    pub fn ends_mut(&mut self) -> &mut [End] {
        match self.kind {
            Kind::Bend { .. } => &mut self.ends,
            _ => &mut self.ends[..2],
        }
    }

    /// What its ends are on.
    pub fn anchors(&self) -> impl Iterator<Item = &Anchor> {
        self.ends().iter().filter_map(End::anchor)
    }

    /// The same element with its ends elsewhere.
    pub fn with_ends(&self, mut place: impl FnMut(&End) -> End) -> Self {
        let mut moved = self.clone();
        moved.ends_mut().iter_mut().for_each(|e| *e = place(e));
        moved
    }

    /// True if one of its ends moves and the others never do.
    pub(crate) fn is_lone(&self) -> bool {
        let fixed = |end: &&End| matches!(end, End::At(_));
        self.ends().iter().filter(fixed).count() + 1 == self.ends().len()
    }

    /// True if it measures a velocity: it brakes and does not draw.
    pub fn damps(&self) -> bool {
        matches!(&self.kind, Kind::Link(link) if link.law.input == Input::Velocity)
    }

    /// What it remembers of having yielded.
    pub fn flow(&self) -> Flow {
        match &self.kind {
            Kind::Link(link) => link.flow,
            _ => Flow::default(),
        }
    }

    /// Goes on with what it once remembered; what can't yield remembers nothing.
    pub fn resume_flow(&mut self, flow: Flow) {
        let yields = self.yields();
        if let Kind::Link(link) = &mut self.kind {
            link.flow = if yields { flow } else { Flow::default() };
        }
    }

    /// True if it yields.
    pub fn yields(&self) -> bool {
        matches!(&self.kind, Kind::Link(link) if link.law.plastic.is_some())
    }

    /// The same element, as stiff for good as it is ever driven to be.
    pub(crate) fn stiffened(&self) -> Self {
        let kind = match &self.kind {
            Kind::Link(link) => Kind::Link(link.stiffened()),
            kind => kind.clone(),
        };
        Self::new(self.ends, kind)
    }

    /// A linear element that is above this one in any configuration: a spring without a length, a bend with arms as short as they act undiminished, torsion as if what is
    /// not looked at turned against it.
    pub(crate) fn stiffest(&self) -> Self {
        let kind = match &self.kind {
            Kind::Link(link) => Kind::Link(link.stiffest()),
            Kind::Bend { constant, rest } => Kind::Bend {
                constant: constant / element::FADES,
                rest: *rest,
            },
            // What it leads to and is not looked at may turn the other way as fast. Of what draws, rows say so.
            Kind::Torsion { constant, rest } => Kind::Torsion {
                constant: constant * if self.leads_away() { 2.0 } else { 1.0 },
                rest: *rest,
            },
        };
        Self::new(self.ends, kind)
    }

    /// True if one of its ends is on something that is not looked at.
    fn leads_away(&self) -> bool {
        self.ends().iter().any(|end| matches!(end, End::Away(_)))
    }

    fn see<'a, F: Fn(MatterId) -> &'a dyn Matter, const N: usize>(
        &self,
        sight: &Sight<'a, F>,
        nodes: &[Nodes],
    ) -> [Moving; N] {
        std::array::from_fn(|k| sight.see(&self.ends[k], nodes))
    }

    fn turned<'a, F: Fn(MatterId) -> &'a dyn Matter>(
        &self,
        sight: &Sight<'a, F>,
        nodes: &[Nodes],
        rest: &[DQuat; 2],
    ) -> [DQuat; 2] {
        [0, 1].map(|k| sight.turned(&self.ends[k], nodes, rest[k]))
    }

    /// Adds its forces to all ends.
    pub fn apply<'a, F: Fn(MatterId) -> &'a dyn Matter>(
        &self,
        sight: &Sight<'a, F>,
        nodes: &mut [Nodes],
        time: f64,
    ) {
        match &self.kind {
            Kind::Link(link) => {
                let force = link.force(self.see(sight, nodes), time);
                sight.pull(&self.ends[0], nodes, force);
                sight.pull(&self.ends[1], nodes, -force);
            }
            Kind::Bend { constant, rest } => {
                let [i, k, j] = self.see(sight, nodes).map(|end: Moving| end.0);
                let forces = element::bending_forces(k - i, k - j, *constant, rest);
                for (end, force) in self.ends.iter().zip(forces) {
                    sight.pull(end, nodes, force);
                }
            }
            Kind::Torsion { constant, rest } => {
                let torque = torsion(*constant, rest, self.turned(sight, nodes, rest));
                sight.twist(&self.ends[0], nodes, torque);
                sight.twist(&self.ends[1], nodes, -torque);
            }
        }
    }

    /// Shows its lines, each with its ends (m) and its force (N), positive if it draws them together, and its torques (N·m) with where they act. What bends has a line from its middle to
    /// each neighbour, and its force is what that takes.
    pub fn look<'a, F: Fn(MatterId) -> &'a dyn Matter>(
        &self,
        sight: &Sight<'a, F>,
        nodes: &[Nodes],
        time: f64,
        mut line: impl FnMut(DVec3, DVec3, f64),
        mut torque: impl FnMut(DVec3, DVec3),
    ) {
        match &self.kind {
            Kind::Link(link) => {
                let ends @ [(a, _), (b, _)] = self.see(sight, nodes);
                line(a, b, link.tension(ends, time));
            }
            Kind::Bend { constant, rest } => {
                let [i, k, j] = self.see(sight, nodes).map(|end: Moving| end.0);
                let [to_i, to_j] = element::bending_shares(k - i, k - j, *constant, rest);
                line(i, k, to_i);
                line(k, j, to_j);
            }
            Kind::Torsion { constant, rest } => {
                let turned = self.turned(sight, nodes, rest);
                let turns = torsion(*constant, rest, turned);
                let [(a, _), (b, _)] = self.see(sight, nodes);
                torque(a, turns);
                if self.ends[1].frame().is_some() {
                    torque(b, -turns);
                }
            }
        }
    }

    /// Energy of what draws or turns, J; of a damper none.
    pub fn energy<'a, F: Fn(MatterId) -> &'a dyn Matter>(
        &self,
        sight: &Sight<'a, F>,
        nodes: &[Nodes],
        time: f64,
    ) -> f64 {
        match &self.kind {
            Kind::Link(link) => link.energy(self.see(sight, nodes), time),
            Kind::Bend { constant, rest } => {
                let [i, k, j] = self.see(sight, nodes).map(|end: Moving| end.0);
                element::bending_energy(k - i, k - j, *constant, rest)
            }
            Kind::Torsion { constant, rest } => {
                let [a, b] = self.turned(sight, nodes, rest);
                element::torsion_energy(a, b * rest[1].conjugate() * rest[0], *constant)
            }
        }
    }

    /// Greatest slope along or across it: N/m of what draws, N·s/m of a damper. Torsion has none.
    pub fn slope(&self) -> f64 {
        match &self.kind {
            Kind::Link(link) => link.slope(),
            Kind::Bend { constant, rest } => element::bending_stiffness(*constant, rest.shortest()),
            Kind::Torsion { .. } => 0.0,
        }
    }

    /// What resists turning the frames at its ends by itself, N·m/rad.
    pub fn turning(&self) -> f64 {
        match self.kind {
            Kind::Torsion { constant, .. } => constant,
            _ => 0.0,
        }
    }

    /// True if what it does to a substep depends on nothing: neither length, speed nor time. At the end of an arm of a body it does: its pull turns that.
    pub fn is_even(&self) -> bool {
        match &self.kind {
            Kind::Link(link) => link.is_even() && !self.has_arm(),
            Kind::Bend { .. } => false,
            Kind::Torsion { .. } => true,
        }
    }

    /// True if it draws a frame at some way from where that is.
    pub(crate) fn has_arm(&self) -> bool {
        let arm = |anchor: &Anchor| matches!(anchor.at, Local::Frame(_, arm) if arm != DVec3::ZERO);
        self.anchors().any(arm)
    }

    /// Its slope as it is now, within the part `near` of its length or speed to either side, and the step in which its ends do not move
    /// farther than that against each other (KB9).
    pub fn present<'a, F: Fn(MatterId) -> &'a dyn Matter>(
        &self,
        sight: &Sight<'a, F>,
        nodes: &[Nodes],
        time: f64,
        near: f64,
    ) -> Present {
        match &self.kind {
            Kind::Link(link) => {
                let ends = self.see(sight, nodes);
                link.present(ends, (time, near), self.is_even())
            }
            Kind::Bend { constant, rest } => {
                let [(i, u), (k, v), (j, w)] = self.see(sight, nodes);
                let shortest = k.distance(i).min(k.distance(j)).max(rest.shortest());
                // Its arms may become shorter by so much before somebody looks again.
                let spacing = (1.0 - near) * shortest;
                let fast = v.distance(u).max(v.distance(w));
                Present {
                    slope: element::bending_stiffness(*constant, spacing.max(rest.shortest())),
                    pull: constant * std::f64::consts::PI,
                    turn: 0.0,
                    step: near * shortest / fast.max(1e-12),
                }
            }
            Kind::Torsion { constant, .. } => Present {
                slope: 0.0,
                pull: 0.0,
                turn: *constant,
                step: f64::INFINITY,
            },
        }
    }

    /// Lets flow what yields: once a substep, when everything has moved.
    pub fn settle<'a, F: Fn(MatterId) -> &'a dyn Matter>(
        &mut self,
        sight: &Sight<'a, F>,
        nodes: &[Nodes],
    ) {
        self.yield_at_length(sight, nodes, Link::settle);
    }

    /// Has it forget that it yielded: it draws back to how it was built.
    pub fn forget_flow<'a, F: Fn(MatterId) -> &'a dyn Matter>(
        &mut self,
        sight: &Sight<'a, F>,
        nodes: &[Nodes],
    ) {
        self.yield_at_length(sight, nodes, Link::forget);
    }

    /// Changes the flow of what yields by how long it is, m.
    fn yield_at_length<'a, F: Fn(MatterId) -> &'a dyn Matter>(
        &mut self,
        sight: &Sight<'a, F>,
        nodes: &[Nodes],
        change: impl FnOnce(&mut Link, f64),
    ) {
        if self.yields() {
            let [(a, _), (b, _)] = self.see(sight, nodes);
            if let Kind::Link(link) = &mut self.kind {
                change(link, a.distance(b));
            }
        }
    }

    /// Why it can't be used, if it can't.
    pub fn objection(&self) -> Option<&'static str> {
        let sound = |constant: f64| constant >= 0.0 && constant.is_finite();
        match &self.kind {
            Kind::Link(link) => link.objection(),
            Kind::Bend { constant, rest } => {
                if !sound(*constant) {
                    return Some("its constant must be at least 0 and finite");
                }
                let short = rest.arms.iter().any(|arm| *arm < element::NO_LENGTH);
                short
                    .then_some("what bends needs a neighbour on either side, apart from its middle")
            }
            Kind::Torsion { constant, .. } => {
                if !sound(*constant) {
                    return Some("its constant must be at least 0 and finite");
                }
                let frames = self.ends().iter().filter(|e| e.frame().is_some()).count();
                let told = self.anchors().count();
                (frames == 0 || frames != told).then_some(
                    "torsion turns bodies and central nodes; nothing else has a direction",
                )
            }
        }
    }
}

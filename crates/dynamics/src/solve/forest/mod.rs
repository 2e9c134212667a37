//! Trees of ball joints: chains, ropes, limbs, needles on threads.
//!
//! By far the most joints of a scene are ball joints between free bodies, without a loop. What [`Workspace`](super::Workspace) can do
//! with any joints costs it several times what such a tree needs, in reading and keeping what is general. So trees are found when joints
//! come or go, and each is solved apart as long as nothing touches it. The method is the same, and so are its guards; whatever
//! is out of the ordinary (a substep that was halved thrice, a joint that may give way, a torque, a contact) is left to the
//! general way.

mod limb;
mod tree;

use super::{Budget, Method, Outcome, Touches};
use crate::{
    Anchor, Bonds, Cast, Crew, Joint, Local, MatterId, Point, Turning,
    crew::even_share,
    joint::{Base, Kind},
};
use limb::{Limb, NONE};
use std::collections::VecDeque;
use tree::Tree;
use trocar_math::Sets;

/// A tree of fewer joints is no dearer the general way.
const LEAST_JOINTS: usize = 2;

/// With fewer limbs than this in all a second thread costs more than it saves.
const WORTH_SHARING: usize = 128;

/// Into so many parts trees are cut at most for threads to take.
const MOST_PARTS: usize = 64;

/// All trees of a group of matter.
#[derive(Debug, Default)]
pub struct Forest {
    version: Option<u64>,
    trees: Vec<Tree>,
    /// Of each joint in which section it is. The trees are sections, counted from 1, then all other joints that hang together, each
    /// lot of them one; 0 if a tie is among them, or nothing that moves.
    pub sections: Vec<u32>,
    /// Of each section but 0 one of its joints: they sleep and wake together.
    firsts: Vec<u32>,
    /// Of each section but 0 whether the general way has nothing to do with it now: it sleeps, or is a tree that is apart.
    pub idle: Vec<bool>,
    /// Of each share and node in which tree it is, counted from 1; 0 if in none.
    nodes: Vec<Vec<u32>>,
}

impl Forest {
    /// Finds the trees anew if the joints are others than last time; true if they were.
    pub fn update(&mut self, cast: &Cast<'_>, bonds: &Bonds<'_>) -> bool {
        if self.version == Some(bonds.version) {
            return false;
        }
        *self = Self {
            version: Some(bonds.version),
            sections: vec![0; bonds.joints.len()],
            ..Self::default()
        };
        self.find(cast, bonds);
        self.idle = vec![false; self.firsts.len()];
        true
    }

    /// Finds out what sleeps, and which trees can be solved apart at this instant.
    pub fn choose(
        &mut self,
        cast: &Cast<'_>,
        joints: &[Joint],
        touches: &Touches<'_>,
        budget: &Budget,
    ) {
        let may = matches!(budget.method, Method::Auto | Method::Graph)
            && budget.may_fail
            && budget.before.is_infinite();
        for (idle, first) in self.idle.iter_mut().zip(&self.firsts) {
            *idle = joints[*first as usize].asleep;
        }
        for (tree, asleep) in self.trees.iter_mut().zip(&self.idle) {
            tree.apart = may && !asleep;
        }
        if self.trees.is_empty() || !may {
            return;
        }
        let Self {
            trees, nodes, idle, ..
        } = self;
        let mut touch = |matter: MatterId, node: u32| {
            let slot = cast.slot[matter.index()] as usize;
            let tree = nodes.get(slot).and_then(|n| n.get(node as usize));
            if let Some(k) = tree.and_then(|k| k.checked_sub(1)) {
                trees[k as usize].apart = false;
            }
        };
        for contact in &*touches.bodies {
            touch(contact.a.0, contact.a.1);
            touch(contact.b.0, contact.b.1);
        }
        for anchor in touches.tissue.iter().flat_map(|c| [c.a, c.b]) {
            if let Local::Frame(node, _) | Local::Node(node) = anchor.at {
                touch(anchor.matter, node);
            }
        }
        for tree in trees.iter_mut().filter(|t| t.apart) {
            tree.apart = tree.is_ready(cast, joints);
        }
        for (idle, tree) in idle.iter_mut().zip(trees) {
            *idle |= tree.apart;
        }
    }

    /// Has `work` done on all trees that are apart, by a crew if there is one and it is worth it. Each writes to itself alone, so that no number of
    /// threads changes a bit.
    fn each_apart(
        &mut self,
        crew: Option<&Crew>,
        work: impl Fn(&mut Tree) -> Outcome + Sync,
    ) -> Outcome {
        let apart = self.trees.iter().filter(|t| t.apart);
        let limbs: usize = apart.map(|t| t.limbs.len()).sum();
        let crew = crew.filter(|_| limbs >= WORTH_SHARING);
        let size = even_share(self.trees.len(), 1, MOST_PARTS);
        Crew::spread(crew, &mut self.trees, size, |_, some| {
            for tree in some.iter_mut().filter(|t| t.apart) {
                tree.outcome = work(tree);
            }
        });
        let mut all = Outcome::RIGHT;
        for tree in self.trees.iter().filter(|t| t.apart) {
            all.join(&tree.outcome);
        }
        all
    }

    /// How many trees are solved apart now.
    pub fn count_apart(&self) -> u32 {
        self.trees.iter().filter(|t| t.apart).count() as u32
    }

    /// Solves the trees that are apart; nothing is given to any node yet.
    pub fn aim(
        &mut self,
        cast: &Cast<'_>,
        joints: &mut [Joint],
        (h, budget): (f64, &Budget),
        crew: Option<&Crew>,
    ) -> Outcome {
        for tree in self.trees.iter().filter(|t| t.apart) {
            tree.remember(joints);
        }
        let joints = &*joints;
        self.each_apart(crew, |tree| tree.aim(cast, joints, h, budget))
    }

    /// Gives the nodes what [`aim`](Self::aim) found.
    pub fn write(&self, cast: &mut Cast<'_>, joints: &mut [Joint], h: f64) {
        for tree in self.trees.iter().filter(|t| t.apart) {
            tree.write(cast, joints, h);
        }
    }

    /// Makes the velocities of the same trees right.
    pub fn correct(
        &mut self,
        cast: &mut Cast<'_>,
        joints: &mut [Joint],
        budget: &Budget,
        crew: Option<&Crew>,
    ) -> Outcome {
        let seen = &*cast;
        let all = self.each_apart(crew, |tree| tree.correct(seen, budget));
        for tree in self.trees.iter().filter(|t| t.apart) {
            tree.write_velocities(cast, joints);
        }
        all
    }

    fn find(&mut self, cast: &Cast<'_>, bonds: &Bonds<'_>) {
        let mut graph = Graph::new(cast);
        for tie in &*bonds.ties {
            graph.spoil(cast, &tie.a);
            graph.spoil(cast, &tie.b);
        }
        for (j, joint) in bonds.joints.iter().enumerate() {
            if !joint.open {
                graph.add(cast, j, joint);
            }
        }
        let mut reached = vec![false; graph.bodies.len()];
        for first in 0..graph.bodies.len() {
            if reached[first] || graph.bodies[first].joints.is_empty() {
                continue;
            }
            let members = graph.members(first, &mut reached);
            let Some(mut tree) = graph.tree(&members) else {
                continue;
            };
            tree.prepare(cast);
            let slot = cast.slot[tree.matter.index()] as usize;
            self.nodes
                .resize_with(self.nodes.len().max(slot + 1), Vec::new);
            let nodes = &mut self.nodes[slot];
            nodes.resize(cast.nodes[slot].len(), 0);
            let number = self.trees.len() as u32 + 1;
            for limb in &tree.limbs {
                nodes[limb.node as usize] = number;
                if let Some(section) = self.sections.get_mut(limb.joint as usize) {
                    *section = number;
                }
            }
            let joints = tree.limbs.iter().map(|l| l.joint);
            self.firsts.extend(joints.filter(|j| *j != NONE).take(1));
            self.trees.push(tree);
        }
        self.gather(cast, bonds, &mut graph);
    }

    /// Makes sections of all joints that are in no tree.
    fn gather(&mut self, cast: &Cast<'_>, bonds: &Bonds<'_>, graph: &mut Graph) {
        let mut moved = |anchor: &Anchor, bodies: &mut Vec<u32>| {
            let support = cast.support(anchor);
            let parts = support.parts().iter();
            let free = parts.filter(|p| !cast.matters[p.0.index()].is_prescribed());
            bodies.extend(free.map(|(matter, point, _)| graph.body(cast, *matter, point.node)));
        };
        let mut tied = Vec::new();
        for tie in &*bonds.ties {
            moved(&tie.a, &mut tied);
            moved(&tie.b, &mut tied);
        }
        // Of each joint the bodies that it joins.
        let (mut all, mut ends) = (Vec::new(), Vec::with_capacity(bonds.joints.len()));
        for joint in &*bonds.joints {
            let first = all.len();
            for anchor in joint.anchors().flatten().filter(|_| !joint.open) {
                moved(&anchor, &mut all);
            }
            ends.push(first..all.len());
        }
        let mut sets = Sets::of(graph.bodies.len());
        for bodies in ends.iter().map(|e| &all[e.clone()]).chain([&tied[..]]) {
            for pair in bodies.windows(2) {
                sets.join(pair[0], pair[1]);
            }
        }
        let held = tied.first().map(|b| sets.lowest(*b));
        let mut section = vec![0; graph.bodies.len()];
        for (j, ends) in ends.into_iter().enumerate() {
            let Some(body) = all[ends].first().filter(|_| self.sections[j] == 0) else {
                continue;
            };
            let lowest = sets.lowest(*body);
            if Some(lowest) == held {
                continue;
            }
            let section = &mut section[lowest as usize];
            if *section == 0 {
                self.firsts.push(j as u32);
                *section = self.firsts.len() as u32;
            }
            self.sections[j] = *section;
        }
    }
}

/// A body as the search for trees sees it.
#[derive(Clone, Debug, Default)]
struct Found {
    matter: MatterId,
    node: u32,
    /// Joints at it, and at which side of each it is.
    joints: Vec<(u32, usize)>,
    /// True if it can't be in a tree, and nothing that it is joined to.
    spoilt: bool,
}

/// A joint as the search sees it: its two sides, each a body of the graph or a point that no impulse moves.
#[derive(Clone, Debug)]
struct Edge {
    joint: u32,
    sides: [Side; 2],
}

#[derive(Clone, Copy, Debug)]
enum Side {
    Body(u32, Point),
    Still(MatterId, Point),
    /// Anything else.
    Other,
}

struct Graph {
    bodies: Vec<Found>,
    edges: Vec<Edge>,
    /// Of each share and node its body, or [`NONE`].
    of: Vec<Vec<u32>>,
}

impl Graph {
    fn new(cast: &Cast<'_>) -> Self {
        Self {
            bodies: Vec::new(),
            edges: Vec::new(),
            of: cast.nodes.iter().map(|n| vec![NONE; n.len()]).collect(),
        }
    }

    fn body(&mut self, cast: &Cast<'_>, matter: MatterId, node: u32) -> u32 {
        let place = &mut self.of[cast.slot[matter.index()] as usize][node as usize];
        if *place == NONE {
            *place = self.bodies.len() as u32;
            self.bodies.push(Found {
                matter,
                node,
                ..Found::default()
            });
        }
        *place
    }

    /// No tree holds what this anchor rests on.
    fn spoil(&mut self, cast: &Cast<'_>, anchor: &Anchor) {
        for (matter, point, _) in cast.support(anchor).parts() {
            if !cast.matters[matter.index()].is_prescribed() {
                let body = self.body(cast, *matter, point.node);
                self.bodies[body as usize].spoilt = true;
            }
        }
    }

    fn add(&mut self, cast: &Cast<'_>, j: usize, joint: &Joint) {
        let bases = joint.bases.iter();
        let controls = joint.controls.iter();
        if let (
            [
                Base {
                    a,
                    b,
                    kind: Kind::Point,
                },
            ],
            [],
        ) = (&joint.bases[..], &joint.controls[..])
        {
            let sides = [self.side(cast, a), self.side(cast, b)];
            let edge = self.edges.len() as u32;
            self.edges.push(Edge {
                joint: j as u32,
                sides,
            });
            let sound = match sides {
                [Side::Body(a, _), Side::Body(b, _)] => a != b,
                [Side::Body(..), Side::Still(..)] | [Side::Still(..), Side::Body(..)] => true,
                _ => false,
            };
            if sound {
                for (k, side) in sides.iter().enumerate() {
                    if let Side::Body(body, _) = side {
                        self.bodies[*body as usize].joints.push((edge, k));
                    }
                }
                return;
            }
        }
        let anchors = bases.flat_map(|b| [&b.a, &b.b]);
        for anchor in anchors.chain(controls.flat_map(|c| [&c.a, &c.b])) {
            self.spoil(cast, anchor);
        }
    }

    fn side(&mut self, cast: &Cast<'_>, anchor: &Anchor) -> Side {
        let support = cast.support(anchor);
        let [(matter, point, 1.0)] = support.parts() else {
            return Side::Other;
        };
        let (matter, point) = (*matter, *point);
        let kind = &cast.matters[matter.index()];
        if kind.is_prescribed() {
            return Side::Still(matter, point);
        }
        let masses = kind.masses();
        let rigid = masses.rigid().get(point.node as usize);
        let turns = rigid.is_some_and(|r| r.inertia.is_some() && r.turning == Turning::Momentum);
        if !turns || !masses.is_free(point.node as usize) {
            return Side::Other;
        }
        Side::Body(self.body(cast, matter, point.node), point)
    }

    /// All bodies that hang together with `first`.
    fn members(&self, first: usize, reached: &mut [bool]) -> Vec<u32> {
        let mut members = vec![first as u32];
        reached[first] = true;
        let mut next = 0;
        while let Some(body) = members.get(next).copied() {
            next += 1;
            for (edge, side) in &self.bodies[body as usize].joints {
                if let Side::Body(other, _) = self.edges[*edge as usize].sides[1 - side]
                    && !std::mem::replace(&mut reached[other as usize], true)
                {
                    members.push(other);
                }
            }
        }
        members
    }

    /// The tree that these bodies are; none if they are no tree, or hang on more than one point that no impulse moves.
    fn tree(&self, members: &[u32]) -> Option<Tree> {
        let bodies = || members.iter().map(|m| &self.bodies[*m as usize]);
        let matter = bodies().next()?.matter;
        if bodies().any(|b| b.spoilt || b.matter != matter) {
            return None;
        }
        let still = |edge: u32, side: usize| match self.edges[edge as usize].sides[1 - side] {
            Side::Still(matter, point) => Some((matter, point)),
            _ => None,
        };
        let ends = bodies().flat_map(|b| &b.joints);
        let hung = ends
            .clone()
            .filter(|(e, side)| still(*e, *side).is_some())
            .count();
        let between = (ends.count() - hung) / 2;
        if hung > 1 || between + 1 != members.len() || between + hung < LEAST_JOINTS {
            return None;
        }
        let is_hung = |m: &u32| {
            let joints = &self.bodies[*m as usize].joints;
            joints.iter().any(|(e, side)| still(*e, *side).is_some())
        };
        let first = members.iter().copied().find(is_hung).unwrap_or(members[0]);
        let mut tree = Tree::default();
        tree.matter = matter;
        // Body, limb it hangs on, and the joint through which it was reached.
        let mut queue = VecDeque::from([(first, NONE, NONE)]);
        while let Some((body, parent, through)) = queue.pop_front() {
            let me = tree.limbs.len() as u32;
            let found = &self.bodies[body as usize];
            let mut limb = Limb {
                node: found.node,
                parent,
                joint: NONE,
                side: 1.0,
                own: Default::default(),
                other: Default::default(),
                is_leaf: true,
            };
            for (edge, side) in &found.joints {
                let Edge { joint, sides } = &self.edges[*edge as usize];
                let holds = *edge == through || matches!(sides[1 - side], Side::Still(..));
                if !holds {
                    if let Side::Body(other, _) = sides[1 - side] {
                        limb.is_leaf = false;
                        queue.push_back((other, me, *edge));
                    }
                    continue;
                }
                limb.joint = *joint;
                limb.side = if *side == 1 { 1.0 } else { -1.0 };
                if let Side::Body(_, point) = sides[*side] {
                    limb.own = point.offset;
                }
                match sides[1 - side] {
                    Side::Body(_, point) => limb.other = point.offset,
                    Side::Still(matter, point) => tree.root = Some((matter, point)),
                    Side::Other => {}
                }
            }
            tree.limbs.push(limb);
        }
        Some(tree)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail")]

    use super::*;
    use crate::{BodyContact, Kinematic, MassNode, Matter, Nodes};
    use glam::{DQuat, DVec3};

    /// Two chains of two links each, that hang side by side on the world.
    fn two_chains() -> (Vec<Box<dyn Matter>>, Vec<Nodes>, Vec<Joint>) {
        let masses = [MassNode::body(1.0, DVec3::splat(0.01)); 4];
        let bodies = crate::Bodies::new(&masses, Turning::Momentum).unwrap();
        let place = |i: usize| DVec3::new((i / 2) as f64, -0.5 - (i % 2) as f64, 0.0);
        let frames: Vec<_> = (0..4).map(|i| (place(i), DQuat::IDENTITY)).collect();
        let matter = MatterId(1);
        let joints = (0..4).map(|i| {
            let top = DVec3::Y * 0.5;
            let own = Anchor::frame(matter, i as u32, top);
            let other = match i % 2 {
                0 => Anchor::world(place(i) + top),
                _ => Anchor::frame(matter, i as u32 - 1, -top),
            };
            Joint::ball(other, own)
        });
        (
            vec![Box::new(Kinematic::default()), Box::new(bodies)],
            vec![
                Nodes::at_rest(&[(DVec3::ZERO, DQuat::IDENTITY)], &[]),
                Nodes::at_rest(&frames, &[]),
            ],
            joints.collect(),
        )
    }

    #[test]
    fn a_tree_that_touches_leaves_the_others_apart() {
        let (matters, mut nodes, mut joints) = two_chains();
        let cast = Cast {
            matters: &matters,
            slot: &[0, 1],
            nodes: &mut nodes,
        };
        let mut forest = Forest::default();
        let bonds = Bonds {
            ties: &mut [],
            joints: &mut joints,
            version: 0,
        };
        forest.update(&cast, &bonds);
        let budget = Budget {
            may_fail: true,
            ..Budget::default()
        };
        let contact = BodyContact {
            a: (MatterId(1), 3),
            b: (MatterId(0), 0),
            at: [DVec3::ZERO; 2],
            seat: DVec3::ZERO,
            arms: [DVec3::ZERO; 2],
            normal: DVec3::Y,
            gap: 0.0,
            friction: 0.0,
            restitution: 0.0,
            recovery: 1.0,
            rebound: 0.0,
            impulse: DVec3::ZERO,
            relief: DVec3::ZERO,
            total: DVec3::ZERO,
            blow: DVec3::ZERO,
        };
        let mut apart = |contacts: &mut [BodyContact], budget: &Budget| -> Vec<bool> {
            let touches = Touches {
                bodies: contacts,
                ..Touches::default()
            };
            forest.choose(&cast, bonds.joints, &touches, budget);
            forest.trees.iter().map(|t| t.apart).collect()
        };
        assert_eq!(apart(&mut [], &budget), [true, true]);
        assert_eq!(apart(&mut [contact], &budget), [true, false]);
        assert_eq!(apart(&mut [], &budget), [true, true]);
        let last = Budget {
            may_fail: false,
            ..budget
        };
        assert_eq!(apart(&mut [], &last), [false, false]);
    }
}

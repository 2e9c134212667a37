//! In which order elements are worked on.
//!
//! Nodes are cut into chunks of neighbouring numbers. A chunk adds up the forces on its own nodes and on no others, so chunks can be worked
//! on by any thread in any order, and the sums are the same to the last bit. An element within a chunk is worked out once, for both
//! of its nodes; one that joins two chunks is worked out in each. Chunks depend on the net alone, never on threads. A crew works from
//! both ends to the middle; the chunks there are smaller, so that nobody waits long for the last one.
//!
//! Which elements a node has is found here, once (K80). Within a chunk, elements of one kind make blocks of four, a lane for each. Four that join neighbours in number to neighbours in number
//! are a strip: what they read and write lies side by side, nothing has to be gathered. Organs, pipes and sheets are made of little else. What is left
//! makes stars: elements that begin at one node. Which of its two nodes such an element begins
//! at is free: the one with fewer, so that few lanes stay empty. A linear damper beside a spring is worked out along with it.

use super::links::Links;
use crate::element::Input;
use std::ops::Range;
use trocar_math::four::LANES;

/// There are never more chunks: what a thread needs for each stands on the stack.
pub(super) const MOST_CHUNKS: usize = 64;

/// Nodes of a chunk, at least: what they need is half of a common second-level cache, and their rim is thin.
const CHUNK: usize = 2048;

/// Strips that begin at so many neighbouring nodes are worked on one length after the other before the next nodes are: so many that nobody waits for a sum that was just
/// written, so few that all of it stays in the first-level cache.
const TILE: u32 = 64;

/// What all elements of a run have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Kind {
    /// Their law.
    pub law: u32,
    /// What drives them.
    pub drive: Option<u32>,
    /// There is a damper beside each.
    pub damped: bool,
    /// Both ends are nodes of the chunk; otherwise only the force on the first is wanted.
    pub both: bool,
    /// Blocks are strips: both the nodes at which their elements begin and the other ends are neighbours in number.
    pub strip: bool,
}

/// Blocks of one kind.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub kind: Kind,
    pub blocks: Range<usize>,
    /// The constants of the elements and of the dampers beside them, if they are the same for all: then they need not be
    /// fetched for each.
    pub uniform: Option<[f64; 2]>,
}

/// The order.
#[derive(Clone, Debug, Default)]
pub(super) struct Schedule {
    /// The first node of each chunk, and of what would come after the last.
    pub bounds: Vec<usize>,
    /// Runs of each chunk, as ranges of `runs`.
    pub chunks: Vec<Range<usize>>,
    pub runs: Vec<Run>,
    /// For each block the node at which its elements begin, of a strip its first, counted from the first of its chunk.
    pub node: Vec<u32>,
    /// The other ends of its elements, counted likewise if both ends are of the chunk, else from the first of all. An empty lane has the node itself there, at no distance and with no
    /// velocity, so that nothing comes of it.
    pub other: Vec<[u32; LANES]>,
    /// Rest lengths, m.
    pub rest: Vec<[f64; LANES]>,
    /// Constants.
    pub constant: Vec<[f64; LANES]>,
    /// Constants of the dampers beside them, N·s/m.
    pub damping: Vec<[f64; LANES]>,
    /// Which elements they are; of an empty lane the first.
    pub source: Vec<[u32; LANES]>,
    /// True if some element asks for velocities.
    pub has_dampers: bool,
}

/// An element as one chunk sees it.
#[derive(Clone, Copy)]
struct Seen {
    kind: Kind,
    /// Of a strip: its tile, and how far its ends are apart in number.
    place: (u32, i64),
    node: u32,
    other: u32,
    element: u32,
    damping: f64,
}

impl Schedule {
    /// Of the elements of a net with `nodes` nodes.
    pub fn new(nodes: usize, links: &Links) -> Self {
        let bounds = cut(nodes);
        let mut chunk_of_node = vec![0_u8; nodes];
        for (c, pair) in bounds.windows(2).enumerate() {
            chunk_of_node[pair[0]..pair[1]].fill(c as u8);
        }
        let mut schedule = Self {
            bounds,
            has_dampers: links.laws.iter().any(|l| l.input == Input::Velocity),
            ..Self::default()
        };
        let chunk_of = |s: &Seen| usize::from(chunk_of_node[s.node as usize]);
        let mut seen = see(&chunk_of_node, links);
        seen.sort_by_key(|s| (chunk_of(s), s.kind, s.length(), s.node, s.element));
        find_strips(&mut seen, chunk_of);
        balance(nodes, &mut seen);
        seen.sort_by_key(|s| (chunk_of(s), s.kind, s.place, s.node, s.other, s.element));
        for c in 0..schedule.bounds.len() - 1 {
            let begin = schedule.runs.len();
            let ours = seen.partition_point(|s| chunk_of(s) < c)
                ..seen.partition_point(|s| chunk_of(s) <= c);
            for run in seen[ours].chunk_by(|a, b| a.kind == b.kind) {
                schedule.add_run(run, schedule.bounds[c] as u32, links);
            }
            schedule.chunks.push(begin..schedule.runs.len());
        }
        schedule
    }

    /// A run of the chunk whose first node is `near`.
    fn add_run(&mut self, run: &[Seen], near: u32, links: &Links) {
        let Some(first) = run.first() else {
            return;
        };
        let constants = |s: &Seen| [links.constant[s.element as usize], s.damping];
        let same = run.iter().all(|s| constants(s) == constants(first));
        let begin = self.node.len();
        for row in run.chunk_by(|a, b| a.kind.strip || a.node == b.node) {
            row.chunks(LANES)
                .for_each(|four| self.add_block(four, near, links));
        }
        self.runs.push(Run {
            kind: first.kind,
            blocks: begin..self.node.len(),
            uniform: same.then(|| constants(first)),
        });
    }

    fn add_block(&mut self, four: &[Seen], near: u32, links: &Links) {
        debug_assert!(
            !four[0].kind.strip
                || four.len() == LANES
                    && four
                        .windows(2)
                        .all(|w| { [w[0].node + 1, w[0].other + 1] == [w[1].node, w[1].other] }),
            "a strip has four elements side by side"
        );
        let far = if four[0].kind.both { near } else { 0 };
        let mut other = [four[0].node - far; LANES];
        let (mut rest, mut constant, mut damping) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
        let mut source = [four[0].element; LANES];
        for (lane, s) in four.iter().enumerate() {
            let e = s.element as usize;
            other[lane] = s.other - far;
            rest[lane] = links.rest_length[e];
            constant[lane] = links.constant[e];
            damping[lane] = s.damping;
            source[lane] = s.element;
        }
        self.node.push(four[0].node - near);
        self.other.push(other);
        self.rest.push(rest);
        self.constant.push(constant);
        self.damping.push(damping);
        self.source.push(source);
    }
}

/// Where chunks begin: of about the same size, but for the two in the middle, which are halved.
fn cut(nodes: usize) -> Vec<usize> {
    let size = trocar_dynamics::crew::even_share(nodes, CHUNK, MOST_CHUNKS - 2);
    let mut bounds: Vec<usize> = (0..nodes).step_by(size).collect();
    bounds.push(nodes);
    let count = bounds.len() - 1;
    if count > 1 {
        let middle = [count / 2 - 1, count / 2];
        let halves = middle.map(|c| bounds[c].midpoint(bounds[c + 1]));
        bounds.extend(halves);
        bounds.sort_unstable();
    }
    bounds
}

/// All elements, from the chunks that need them.
fn see(chunk: &[u8], links: &Links) -> Vec<Seen> {
    let beside = Beside::new(links);
    let mut seen = Vec::with_capacity(links.len());
    for i in (0..links.len()).filter(|i| !beside.joined[*i]) {
        let mut add = |node: u32, other: u32, both: bool| {
            seen.push(Seen {
                kind: Kind {
                    law: links.law[i],
                    drive: links.drive(i),
                    damped: beside.damping[i] > 0.0,
                    both,
                    strip: false,
                },
                place: (0, 0),
                node,
                other,
                element: i as u32,
                damping: beside.damping[i],
            });
        };
        let [a, b] = links.ends[i];
        if chunk[a as usize] != chunk[b as usize] {
            add(a, b, false);
            add(b, a, false);
            continue;
        }
        add(a.min(b), a.max(b), true);
    }
    seen
}

impl Seen {
    /// How far the other end is, in number.
    fn length(&self) -> i64 {
        i64::from(self.other) - i64::from(self.node)
    }
}

/// Makes strips of elements in the order of chunk, kind, length and node. A strip that led on into the next chunk would be torn apart.
fn find_strips(seen: &mut [Seen], chunk_of: impl Fn(&Seen) -> usize) {
    let follows = |a: &Seen, b: &Seen| {
        let alike = a.kind == b.kind && a.length() == b.length();
        alike && a.node + 1 == b.node && chunk_of(a) == chunk_of(b)
    };
    for row in seen.chunk_by_mut(follows) {
        for four in row.as_chunks_mut::<LANES>().0 {
            let place = (four[0].node / TILE, four[0].length());
            for s in four {
                s.kind.strip = true;
                s.place = place;
            }
        }
    }
}

/// Lets what is no strip begin at the end at which fewer begin.
fn balance(nodes: usize, seen: &mut [Seen]) {
    let mut begun = vec![0_u32; nodes];
    let stars = seen.iter_mut().filter(|s| s.kind.both && !s.kind.strip);
    for s in stars {
        if begun[s.other as usize] < begun[s.node as usize] {
            std::mem::swap(&mut s.node, &mut s.other);
        }
        begun[s.node as usize] += 1;
    }
}

/// Which linear dampers lie beside springs.
struct Beside {
    /// For each spring the constant of the damper beside it, or 0.
    damping: Vec<f64>,
    /// For each element, whether it is such a damper.
    joined: Vec<bool>,
}

impl Beside {
    fn new(links: &Links) -> Self {
        let sorted = |i: usize| {
            let [a, b] = links.ends[i];
            [a.min(b), a.max(b)]
        };
        let mut beside = Self {
            damping: vec![0.0; links.len()],
            joined: vec![false; links.len()],
        };
        let linear = |i: &usize| links.law_of(*i).linear_damping().is_some();
        let mut dampers: Vec<usize> = (0..links.len()).filter(linear).collect();
        if dampers.is_empty() {
            return beside;
        }
        dampers.sort_by_key(|i| (sorted(*i), *i));
        for i in 0..links.len() {
            if links.laws[links.law[i] as usize].input == Input::Velocity {
                continue;
            }
            let pair = sorted(i);
            let begin = dampers.partition_point(|d| sorted(*d) < pair);
            let mut same = dampers[begin..].iter().take_while(|d| sorted(**d) == pair);
            if let Some(d) = same.find(|d| !beside.joined[**d]) {
                beside.joined[*d] = true;
                beside.damping[i] = links.law_of(*d).linear_damping().unwrap_or(0.0);
            }
        }
        beside
    }
}

//! A deforming surface, arranged for the question which of its triangles a capsule or a rigid body touches.
//!
//! In three levels, as in K93: the whole surface, clusters of neighbouring triangles, single triangles.
//! The closest point is found on the triangle itself, not only at its nodes, so an instrument thinner
//! than a cell can't slip between them.

mod capsule;
mod convex;
mod deep;
mod edit;
#[cfg(test)]
mod edit_cost;
mod follow;
mod look;
mod probe;
mod star;

use crate::{
    rigid::{FacetScratch, Meeting},
    tree::{MAX_TRIANGLE, Tree, TreeError, build},
};
use capsule::Found;
use deep::Depths;
use glam::DVec3;
use look::Looks;
use star::Stars;
use trocar_math::{Alone, Bounds, Workers, four::LANES};

pub use probe::{Ahead, Capsule, Hull, Probe, Way};

/// Nearer than this (m) to a capsule's axis a point gives no reliable direction.
const NO_DIRECTION: f64 = 1e-7;

/// The corners of a triangle that is gone.
const GONE: [u32; 3] = [u32::MAX; 3];

/// So many touched triangles are made room for at once at most.
const MOST_ROOM: usize = 1024;

/// So many sides are made room for that triangles inherit in one edit: what is torn is torn at few places.
const INHERITED: usize = 64;

/// A place where something touches, or nearly touches, a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// Which probe.
    pub probe: usize,
    /// On the axis of a capsule, on the surface of anything else; in the world, m.
    pub at: DVec3,
    /// How far the surface has to stay from there along the normal, m: the radius of a capsule, else 0.
    pub distance: f64,
    /// The corners of the triangle.
    pub nodes: [u32; 3],
    /// Weights of the corners.
    pub weights: [f64; 3],
    /// The way out for the surface: from the probe to it, unit length.
    pub normal: DVec3,
    /// What names it from step to step, among those of its probe: the feature of the probe, and nodes of the surface.
    pub key: (u32, [u32; 3]),
}

/// Where the nodes of a surface are, and how far they go until the question is asked again, m.
struct Scene<'a> {
    positions: &'a [DVec3],
    way: &'a dyn Fn(u32) -> DVec3,
}

// One after the other: what `map` makes is copied once more as a whole, which waits for its parts.
impl Scene<'_> {
    /// Where the corners of a triangle are, m.
    #[inline(always)]
    fn corners(&self, [a, b, c]: [u32; 3]) -> [DVec3; 3] {
        let at = |n: u32| self.positions[n as usize];
        [at(a), at(b), at(c)]
    }

    /// How far they go, m.
    #[inline(always)]
    fn ways(&self, [a, b, c]: &[u32; 3]) -> [DVec3; 3] {
        [(self.way)(*a), (self.way)(*b), (self.way)(*c)]
    }
}

/// Which side of a triangle a probe came from: +1 the outer, −1 the inner.
pub type Side = (u32, u32, i8);

/// Weights below this are none: the point lies on an edge or a corner.
const NO_WEIGHT: f64 = 1e-9;

/// Below this (cosine) a triangle is met edge on.
const EDGE_ON: f64 = 0.25;

/// So much (sine) a normal may lean into the surface beside it: tissue is nowhere quite flat.
const AWRY: f64 = 0.05;

/// A triangle whose area squared (m⁴) is below this has no direction; its neighbours are touched instead.
const NO_AREA: f64 = 1e-24;

/// A surface of triangles over moving nodes.
#[derive(Clone, Debug, Default)]
pub struct Patch {
    /// By number; those that are gone are [`GONE`].
    triangles: Vec<[u32; 3]>,
    stars: Stars,
    /// Made when it is first known where nodes are.
    tree: Option<Tree>,
    /// A triangle with a corner that is no number, met by the last search.
    broken: Option<u32>,
    /// A probe that is at no place, met by the last question.
    lost: Option<u32>,
    /// Where the nodes were when they were last looked at, for [`follow`](Patch::follow).
    followed: Vec<DVec3>,
    /// Where they were when the whole tree was fitted, likewise.
    fitted: Vec<DVec3>,
    /// How far nodes are from there at most, m, if somebody said.
    drift: Option<f64>,
    /// A box around them then.
    extent: Option<Bounds>,
    looks: Looks,
    /// Probe and triangle of each pair that is near in this step, and the corners of the triangle beside it.
    near: Vec<(u32, u32)>,
    near_corners: Vec<[u32; 3]>,
    /// Sorted by probe and triangle. Remembers where a probe came from while it stays near, so
    /// that it can't come out on the other side (K96, K102).
    sides: Vec<Side>,
    sides_before: Vec<Side>,
    /// What triangles that will be new take over; kept only for its memory.
    inherited: Vec<Side>,
    /// How many of `sides_before` come before the pair that is looked at.
    passed: usize,
    /// Outer normals at edges and corners that were met in this question.
    outward: Vec<([u32; 3], DVec3)>,
    /// Corners and edges that a probe touches already, sorted.
    seen: Vec<u128>,
    /// What was found of the triangles near a capsule.
    fours: Vec<Found>,
    meetings: Vec<Meeting>,
    scratch: FacetScratch,
    deep: Depths,
}

impl Patch {
    /// A surface of `triangles` over `nodes` nodes. Refuses a corner that is none of them, with its place. Triangles without area, triangles that
    /// occur twice and edges with any number of triangles are all right.
    pub fn new(triangles: Vec<[u32; 3]>, nodes: usize) -> Result<Self, TreeError> {
        Self::over((0..).zip(triangles), nodes)
    }

    /// The same, of triangles with numbers of their own, each at most once.
    pub fn over(
        triangles: impl IntoIterator<Item = (u32, [u32; 3])>,
        nodes: usize,
    ) -> Result<Self, TreeError> {
        let mut list = Vec::new();
        for (number, corners) in triangles {
            if number > MAX_TRIANGLE {
                return Err(TreeError::TooManyTriangles { triangle: number });
            }
            build::exist(number, &corners, nodes)?;
            if list.len() <= number as usize {
                list.resize(number as usize + 1, GONE);
            }
            list[number as usize] = corners;
        }
        // What has never been touched must not wait for memory when it is.
        let room = list.len().min(MOST_ROOM);
        Ok(Self {
            stars: Stars::new(&list, nodes),
            triangles: list,
            near: Vec::with_capacity(room),
            near_corners: Vec::with_capacity(room),
            sides: Vec::with_capacity(room),
            sides_before: Vec::with_capacity(room),
            inherited: Vec::with_capacity(INHERITED),
            seen: Vec::with_capacity(room),
            outward: Vec::with_capacity(room),
            looks: Looks::with_capacity(room),
            fours: Vec::with_capacity(room.div_ceil(LANES)),
            ..Self::default()
        })
    }

    /// The corners of all triangles that are there.
    pub fn triangles(&self) -> impl Iterator<Item = [u32; 3]> {
        self.triangles.iter().copied().filter(|t| *t != GONE)
    }

    /// One more than the greatest number of a triangle.
    pub fn triangle_slots(&self) -> usize {
        self.triangles.len()
    }

    /// How many pairs of a probe and a triangle were near when last [gathered](Self::gather).
    pub fn pairs(&self) -> usize {
        self.near.len()
    }

    /// Shows the boxes over its triangles: how many levels are below each, and whether a triangle inside was near when last gathered. They hold what is in them
    /// wherever it has drifted since they were fitted.
    /// `near` is memory that is used again.
    pub fn see_boxes(&self, near: &mut Vec<u32>, mut see: impl FnMut(usize, &Bounds, bool)) {
        let slack = self.looks.slack();
        // One pass over what is near, whatever the number of probes.
        near.clear();
        near.extend(self.near.iter().map(|pair| pair.1));
        near.sort_unstable();
        near.dedup();
        let is_near = |t: u32| near.binary_search(&t).is_ok();
        if let Some(tree) = &self.tree {
            tree.see_boxes(is_near, |level, bounds, near| {
                see(level, &bounds.grown(slack), near);
            });
        }
    }

    /// What must be remembered from one step to the next.
    pub fn sides(&self) -> &[Side] {
        &self.sides
    }

    /// Takes up what was remembered elsewhere, as returned by [`sides`](Self::sides).
    pub fn set_sides(&mut self, sides: &[Side]) {
        self.sides.clear();
        self.sides.extend_from_slice(sides);
    }

    /// How far any node has moved since this was last asked, m: what [`gather`](Self::gather) wants to know. Infinite at first. For those who
    /// do not know it anyway; it looks at every node.
    pub fn follow(&mut self, positions: &[DVec3]) -> f64 {
        self.follow_by(positions, &[], &Alone).0
    }

    /// [`follow`](Self::follow), by several; and the greatest speed of any node, m/s, by their velocities.
    pub fn follow_by(
        &mut self,
        positions: &[DVec3],
        velocities: &[DVec3],
        workers: &impl Workers,
    ) -> (f64, f64) {
        let known = self.followed.len() == positions.len();
        if !known {
            self.followed.clear();
            self.followed.extend_from_slice(positions);
        }
        let fitted = self.fitted.len() == positions.len();
        let besides = [self.fitted.as_slice(), velocities];
        let gone = follow::follow(&mut self.followed, positions, besides, workers);
        self.extent = gone.map(|gone| gone.extent);
        let Some(gone) = gone else {
            return (f64::INFINITY, f64::INFINITY);
        };
        if fitted {
            self.drift = Some(gone.drift.sqrt());
        }
        let far = match known {
            true => gone.far.sqrt(),
            false => f64::INFINITY,
        };
        // Of others nobody knows how fast they are.
        let asked = velocities.is_empty() || velocities.len() == positions.len();
        (
            far,
            if asked {
                gone.speed.sqrt()
            } else {
                f64::INFINITY
            },
        )
    }

    /// How far any node is from where it was when last [followed](Self::follow), m, and the greatest speed of any, m/s; infinite if that is not known. No velocities ask
    /// for no speed, and it is 0. It looks at every node.
    pub fn strayed(
        &self,
        positions: &[DVec3],
        velocities: &[DVec3],
        workers: &impl Workers,
    ) -> (f64, f64) {
        if self.followed.len() != positions.len() {
            return (f64::INFINITY, f64::INFINITY);
        }
        let (far, speed) = follow::strayed(&self.followed, positions, velocities, workers);
        let asked = velocities.is_empty() || velocities.len() == positions.len();
        (far, if asked { speed } else { f64::INFINITY })
    }

    /// A box around all nodes where they were when last [followed](Self::follow), m; around everything if that is not known.
    pub fn extent(&self) -> Bounds {
        self.extent.unwrap_or(Bounds {
            low: DVec3::NEG_INFINITY,
            high: DVec3::INFINITY,
        })
    }

    /// A triangle with a corner that is no number, if the last [`gather`](Self::gather) met one. It touches nothing; whoever moves it has to
    /// be told.
    pub fn broken(&self) -> Option<u32> {
        self.broken
    }

    /// The first probe that is [at no place](Probe::is_placed), if the last [`gather`](Self::gather) or [`touches`](Self::touches) was given one that is wanted. What it touches nobody can
    /// tell, and what is told of it need not be all; whoever moves it has to be told.
    pub fn lost(&self) -> Option<usize> {
        self.lost.map(|probe| probe as usize)
    }

    /// The corners of the gathered triangles; some more than once.
    pub fn near_nodes(&self) -> impl Iterator<Item = u32> {
        self.near_corners.iter().copied().flatten()
    }

    /// Where the probes touch the gathered triangles or come within their margins of touching. Nodes are at `positions` and
    /// go `way` (m) until the question is asked again, which counts for probes that know their own way. A probe at no place is [named](Self::lost).
    /// `out` is cleared first; the order depends on the input alone.
    pub fn touches(
        &mut self,
        probes: &[Probe],
        positions: &[DVec3],
        way: &dyn Fn(u32) -> DVec3,
        out: &mut Vec<Touch>,
    ) {
        let scene = Scene { positions, way };
        self.lost = self.looks.lost(probes);
        self.outward.clear();
        out.clear();
        make_room(out, self.near.len());
        self.seen.clear();
        std::mem::swap(&mut self.sides, &mut self.sides_before);
        self.sides.clear();
        self.passed = 0;
        let mut n = 0;
        while n < self.near.len() {
            let (c, t) = self.near[n];
            let probe = &probes[c as usize];
            let mut end = n + 1;
            match &probe.hull {
                Hull::Capsule(capsule) => {
                    while self.near.get(end).is_some_and(|pair| pair.0 == c) {
                        end += 1;
                    }
                    self.touch_capsules((c, n..end), (capsule, probe), &scene, out);
                }
                Hull::Below(point, normal) => {
                    self.touch_plane((c, t), (*point, *normal), probe.margin, positions, out);
                }
                Hull::Convex(piece) => {
                    self.touch_convex((c, t), (piece, probe), &scene, out);
                }
                Hull::Grid(grid, pose) => {
                    while self.near.get(end).is_some_and(|pair| pair.0 == c) {
                        end += 1;
                    }
                    self.touch_grid((c, n..end), (grid, pose), probe, &scene, out);
                }
            }
            n = end;
        }
    }

    /// The side of a triangle that a probe came from, if it was near the last time. Pairs are asked for in ascending order.
    fn remembered(&mut self, key: (u32, u32)) -> Option<i8> {
        let rest = &self.sides_before[self.passed..];
        self.passed += rest.iter().take_while(|s| (s.0, s.1) < key).count();
        let found = self.sides_before.get(self.passed);
        found.filter(|s| (s.0, s.1) == key).map(|s| s.2)
    }

    /// The side of a triangle that a probe came from, and the one it is on now. Seen from the surface it lies against
    /// `along`: how far the way from it to the surface leads outwards. It is remembered from when it is `clear`.
    fn side(&mut self, (c, t): (u32, u32), along: f64, clear: bool) -> (i8, i8) {
        let now: i8 = if along > 0.0 { -1 } else { 1 };
        let before = self.remembered((c, t));
        let side = before.unwrap_or(now);
        if before.is_some() || clear {
            self.sides.push((c, t, side));
        }
        (side, now)
    }

    /// False if the same probe already touches the same corner, or with the same feature the same edge, through another
    /// triangle.
    fn is_new(&mut self, touch: &Touch) -> bool {
        let corners = bearing(touch.nodes, touch.weights);
        // Inside a face nothing can be there twice.
        if corners[2] != u32::MAX {
            return true;
        }
        // A corner is one point, whatever touches it.
        let feature = if corners[1] == u32::MAX {
            0
        } else {
            touch.key.0
        };
        let [probe, feature, a, b] =
            [touch.probe as u32, feature, corners[0], corners[1]].map(u128::from);
        let key = probe << 96 | feature << 64 | a << 32 | b;
        match self.seen.binary_search(&key) {
            Ok(_) => false,
            Err(place) => {
                self.seen.insert(place, key);
                true
            }
        }
    }

    /// Along the surface's outer normal at a point: that of the triangles that have the edge or the corner on which it lies, so that all of them have a
    /// say.
    fn outward(&mut self, nodes: [u32; 3], weights: [f64; 3], positions: &[DVec3]) -> DVec3 {
        let face = |t: [u32; 3]| {
            let [a, b, c] = t.map(|n| positions[n as usize]);
            (b - a).cross(c - a)
        };
        let corners = bearing(nodes, weights);
        if corners[2] != u32::MAX || corners[0] == u32::MAX {
            return face(nodes);
        }
        // The triangles beside it come to the same point soon after.
        let mut known = self.outward.iter().rev().take(RECENT);
        if let Some((_, sum)) = known.find(|known| known.0 == corners) {
            return *sum;
        }
        let mut sum = DVec3::ZERO;
        let [_, other, _] = corners;
        for t in self.stars.around(corners[0]) {
            let triangle @ [a, b, c] = self.triangles[t as usize];
            if other == u32::MAX || (a == other) | (b == other) | (c == other) {
                sum += face(triangle);
            }
        }
        self.outward.push((corners, sum));
        sum
    }
}

/// So many outer normals are looked through before one is worked out again.
const RECENT: usize = 8;

/// The tree over those triangles that are there; none if a corner is beyond the positions. One whose place is no number is nowhere in it.
fn grow(triangles: &[[u32; 3]], positions: &[DVec3]) -> Option<Tree> {
    let there =
        |(t, corners): (usize, &[u32; 3])| (*corners != GONE).then_some((t as u32, *corners));
    match Tree::over(triangles.iter().enumerate().filter_map(there), positions) {
        (tree, Ok(()) | Err(TreeError::NoPlace { .. })) => Some(tree),
        _ => None,
    }
}

/// Makes room for a few times as many as there are now, if there is none: what slides on or is pressed deeper soon has more, and
/// must not wait for memory in the middle of an operation.
fn make_room<T>(list: &mut Vec<T>, now: usize) {
    if list.capacity() < 2 * now {
        list.reserve(4 * now - list.len());
    }
}

/// The corners that bear a point, in ascending order; none is `u32::MAX`.
fn bearing(nodes: [u32; 3], weights: [f64; 3]) -> [u32; 3] {
    let of = |k: usize| match weights[k] > NO_WEIGHT {
        true => nodes[k],
        false => u32::MAX,
    };
    let [a, b, c] = [of(0), of(1), of(2)];
    let (low, high) = (a.min(b), a.max(b));
    [low.min(c), high.min(c).max(low), high.max(c)]
}

#[cfg(test)]
mod tests;

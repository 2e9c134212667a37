//! A deforming surface, arranged for the question which of its triangles a capsule or a rigid body touches.
//!
//! In three levels, as in K93: the whole surface, clusters of neighbouring triangles, single triangles.
//! The closest point is found on the triangle itself, not only at its nodes, so an instrument thinner
//! than a cell can't slip between them.

mod probe;
mod search;

use crate::{
    closest,
    rigid::{FacetScratch, Meeting, Nearness, Piece},
};
use glam::DVec3;
use search::Search;
use trocar_math::Bounds;

pub use probe::{Ahead, Capsule, Hull, Probe};

/// Nearer than this (m) to a capsule's axis a point gives no reliable direction.
const NO_DIRECTION: f64 = 1e-7;

/// So many touched triangles are made room for at once at most.
const MOST_ROOM: usize = 1024;

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

/// Where a capsule and a triangle meet, and the way from the axis to the triangle.
#[derive(Clone, Copy)]
struct Meet {
    along: f64,
    weights: [f64; 3],
    apart: DVec3,
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
    triangles: Vec<[u32; 3]>,
    /// Triangles around each node, as ranges of `around`.
    first: Vec<u32>,
    around: Vec<u32>,
    search: Search,
    /// Where the nodes were when they were last looked at, for [`follow`](Patch::follow).
    followed: Vec<DVec3>,
    /// Probe and triangle of each pair that is near in this step.
    near: Vec<(u32, u32)>,
    /// Sorted by probe and triangle. Remembers where a probe came from while it stays near, so
    /// that it can't come out on the other side (K96, K102).
    sides: Vec<Side>,
    sides_before: Vec<Side>,
    /// Corners and edges that a probe touches already, sorted.
    seen: Vec<(usize, u32, [u32; 3])>,
    meetings: Vec<Meeting>,
    scratch: FacetScratch,
}

impl Patch {
    /// A surface of `triangles` over `nodes` nodes.
    pub fn new(triangles: Vec<[u32; 3]>, nodes: usize) -> Self {
        let mut first = vec![0; nodes + 1];
        for t in &triangles {
            t.iter().for_each(|n| first[*n as usize + 1] += 1);
        }
        for i in 0..nodes {
            first[i + 1] += first[i];
        }
        let mut next = first.clone();
        let mut around = vec![0; 3 * triangles.len()];
        for (i, t) in triangles.iter().enumerate() {
            for n in t {
                around[next[*n as usize] as usize] = i as u32;
                next[*n as usize] += 1;
            }
        }
        // What has never been touched must not wait for memory when it is.
        let room = triangles.len().min(MOST_ROOM);
        Self {
            triangles,
            first,
            around,
            near: Vec::with_capacity(room),
            sides: Vec::with_capacity(room),
            sides_before: Vec::with_capacity(room),
            seen: Vec::with_capacity(room),
            ..Self::default()
        }
    }

    /// The triangles.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// How many pairs of a probe and a triangle were near when last [gathered](Self::gather).
    pub fn pairs(&self) -> usize {
        self.near.len()
    }

    /// Shows the boxes over its triangles that were looked at so far, and whether a triangle inside was near when last gathered.
    pub fn see_boxes(&self, see: impl FnMut(&Bounds, bool)) {
        self.search.see(&self.near, see);
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
        if self.followed.len() != positions.len() {
            self.followed.clear();
            self.followed.extend_from_slice(positions);
            return f64::INFINITY;
        }
        let mut far = 0.0_f64;
        let mut finite = true;
        for (before, now) in self.followed.iter_mut().zip(positions) {
            let way = before.distance_squared(*now);
            finite &= way.is_finite();
            far = far.max(way);
            *before = *now;
        }
        if finite { far.sqrt() } else { f64::INFINITY }
    }

    /// Once a step: which triangles may be touched within the margins of the probes. No node has moved farther than `moved` (m) since the last
    /// time; infinite if that is not known. Returns the number of pairs.
    pub fn gather(&mut self, probes: &[Probe], positions: &[DVec3], moved: f64) -> usize {
        self.near.clear();
        if self.triangles.is_empty() {
            return 0;
        }
        if self.search.is_for(self.triangles.len()) {
            self.search.moved(moved);
        } else {
            self.search = Search::new(&self.triangles, positions);
        }
        self.search.begin();
        for (c, probe) in probes.iter().enumerate() {
            self.search
                .find(probe, c as u32, &self.triangles, positions, &mut self.near);
        }
        let pairs = self.near.len();
        make_room(&mut self.near, pairs);
        make_room(&mut self.sides, pairs);
        make_room(&mut self.sides_before, pairs);
        make_room(&mut self.seen, pairs);
        pairs
    }

    /// A triangle with a corner that is no number, if the last [`gather`](Self::gather) met one. It touches nothing; whoever moves it has to
    /// be told.
    pub fn broken(&self) -> Option<u32> {
        self.search.broken()
    }

    /// The corners of the gathered triangles; some more than once.
    pub fn near_nodes(&self) -> impl Iterator<Item = u32> {
        self.near
            .iter()
            .flat_map(|(_, t)| self.triangles[*t as usize])
    }

    /// Where the probes touch the gathered triangles or come within their margins of touching. Nodes are at `positions` and
    /// go `way` (m) until the question is asked again, which counts for probes that know their own way.
    /// `out` is cleared first; the order depends on the input alone.
    pub fn touches(
        &mut self,
        probes: &[Probe],
        positions: &[DVec3],
        way: &dyn Fn(u32) -> DVec3,
        out: &mut Vec<Touch>,
    ) {
        let scene = Scene { positions, way };
        out.clear();
        make_room(out, self.near.len());
        self.seen.clear();
        std::mem::swap(&mut self.sides, &mut self.sides_before);
        self.sides.clear();
        for n in 0..self.near.len() {
            let (c, t) = self.near[n];
            let probe = &probes[c as usize];
            match &probe.hull {
                Hull::Capsule(capsule) => {
                    self.touch_capsule((c, t), capsule, probe, &scene, out);
                }
                Hull::Below(point, normal) => {
                    self.touch_plane((c, t), (*point, *normal), probe.margin, positions, out);
                }
                Hull::Convex(piece) => {
                    self.touch_convex((c, t), piece, probe.margin, positions, out);
                }
            }
        }
    }

    fn touch_capsule(
        &mut self,
        (c, t): (u32, u32),
        capsule: &Capsule,
        probe: &Probe,
        scene: &Scene<'_>,
        out: &mut Vec<Touch>,
    ) {
        let nodes = self.triangles[t as usize];
        let corners = nodes.map(|n| scene.positions[n as usize]);
        // A sphere around the triangle settles most pairs at a fraction of the cost.
        let centre = (corners[0] + corners[1] + corners[2]) / 3.0;
        let size = corners
            .iter()
            .fold(0.0_f64, |s, p| s.max(p.distance_squared(centre)))
            .sqrt();
        let axis = capsule.axis(closest::on_segment(centre, capsule.a, capsule.b));
        let ways = nodes.map(scene.way);
        let swept = match probe.ahead {
            Some(_) => ways
                .iter()
                .fold(0.0_f64, |s, w| s.max(w.length_squared()))
                .sqrt(),
            None => 0.0,
        };
        let range = capsule.radius + probe.margin + swept;
        if axis.distance_squared(centre) > (range + size) * (range + size) {
            return;
        }
        let pair = closest::segment_triangle(capsule.a, capsule.b, corners);
        if pair.distance_squared > range * range {
            return;
        }
        let meet = Meet {
            along: pair.along,
            weights: pair.weights,
            apart: closest::point(corners, pair.weights) - capsule.axis(pair.along),
        };
        let mut touch = self.touch((c, t), capsule, &meet, scene.positions);
        let Some(ahead) = &probe.ahead else {
            if self.is_new(&touch) {
                out.push(touch);
            }
            return;
        };
        let watched = capsule.radius + ahead.watch;
        if pair.distance_squared > watched * watched {
            let Some(impact) = ahead.meets(capsule, corners, ways) else {
                return;
            };
            touch.at = capsule.axis(impact.along);
            touch.weights = impact.weights;
            touch.normal = impact.normal;
        } else if pair.distance_squared > NO_DIRECTION * NO_DIRECTION {
            // As long as the axis does not pierce the triangle, the tool is on the side on which it is. What is remembered may
            // say otherwise where the surface is crumpled, and would then pull it through.
            touch.normal = meet.apart.normalize_or(touch.normal);
        }
        if self.is_new(&touch) {
            out.push(touch);
        }
        if let Some(other) = second(&touch, capsule, corners, watched)
            && self.is_new(&other)
        {
            out.push(other);
        }
    }

    fn touch(
        &mut self,
        (c, t): (u32, u32),
        capsule: &Capsule,
        meet: &Meet,
        positions: &[DVec3],
    ) -> Touch {
        let nodes = self.triangles[t as usize];
        let distance = meet.apart.length();
        let outward = self.outward(nodes, meet.weights, positions);
        let (side, now) = self.side((c, t), outward.dot(meet.apart), true);
        let normal = if side == now && distance > NO_DIRECTION {
            meet.apart / distance
        } else {
            // The axis is in the surface or beyond it: the way out is back to where it came from.
            outward * -f64::from(side)
        };
        Touch {
            probe: c as usize,
            at: capsule.axis(meet.along),
            distance: capsule.radius,
            nodes,
            weights: meet.weights,
            normal,
            key: (0, nodes),
        }
    }

    /// The side of a triangle that a probe came from, and the one it is on now. Seen from the surface it lies against
    /// `along`: how far the way from it to the surface leads outwards. It is remembered from when it is `clear`.
    fn side(&mut self, (c, t): (u32, u32), along: f64, clear: bool) -> (i8, i8) {
        let now: i8 = if along > 0.0 { -1 } else { 1 };
        let key = (c, t);
        let before = self
            .sides_before
            .binary_search_by_key(&key, |s| (s.0, s.1))
            .ok()
            .map(|i| self.sides_before[i].2);
        let side = before.unwrap_or(now);
        if before.is_some() || clear {
            self.sides.push((c, t, side));
        }
        (side, now)
    }

    /// What is below a plane is pushed out of it at the corners: between them a triangle is flat, as the plane is.
    fn touch_plane(
        &mut self,
        (c, t): (u32, u32),
        (point, normal): (DVec3, DVec3),
        margin: f64,
        positions: &[DVec3],
        out: &mut Vec<Touch>,
    ) {
        let nodes = self.triangles[t as usize];
        for (k, n) in nodes.into_iter().enumerate() {
            let corner = positions[n as usize];
            let height = (corner - point).dot(normal);
            if height > margin {
                continue;
            }
            let mut weights = [0.0; 3];
            weights[k] = 1.0;
            let touch = Touch {
                probe: c as usize,
                at: corner - normal * height,
                distance: 0.0,
                nodes,
                weights,
                normal,
                key: (0, bearing(nodes, weights)),
            };
            if self.is_new(&touch) {
                out.push(touch);
            }
        }
    }

    fn touch_convex(
        &mut self,
        (c, t): (u32, u32),
        piece: &Piece,
        margin: f64,
        positions: &[DVec3],
        out: &mut Vec<Touch>,
    ) {
        let nodes = self.triangles[t as usize];
        let corners = nodes.map(|n| positions[n as usize]);
        let face = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
        if face.length_squared() < NO_AREA {
            return;
        }
        let (p, q, normal) = match piece.nearest(corners, margin, &mut self.scratch) {
            Nearness::Near(p, q, normal) => (p, q, normal),
            Nearness::Far => return,
            // What can't be told may touch: what lies over the triangle does, from the side it was last seen on.
            Nearness::Unknown => {
                let middle = (corners[0] + corners[1] + corners[2]) / 3.0;
                let normal = (middle - piece.pose().position).normalize_or(DVec3::Y);
                (DVec3::NAN, middle, normal)
            }
        };
        let weights = closest::on_triangle(q, corners);
        let outward = self.outward(nodes, weights, positions);
        let along = outward.dot(normal);
        let (side, mut now) = self.side((c, t), along, along.abs() >= EDGE_ON);
        if along.abs() < EDGE_ON {
            // Met edge on, a triangle has no side that could have been left.
            now = side;
        }
        let back = face.normalize_or(DVec3::Y) * -f64::from(side);
        let mut meetings = std::mem::take(&mut self.meetings);
        meetings.clear();
        let nearest = if side == now && self.looks_out(nodes, weights, -normal, positions) {
            // Where the nearest points are not known, only what lies over the triangle is.
            (p, q, if p.is_nan() { back } else { normal })
        } else {
            // It has come through: the way out is back to where it came from. Or it meets the triangle from the side, where
            // an edge seems a wall; but behind it the surface goes on, and what slides over the surface must not stumble
            // there. In both cases only what lies over the triangle itself touches it.
            (DVec3::NAN, q, back)
        };
        piece.meet(corners, nearest, margin, &mut self.scratch, &mut meetings);
        // Deeper than it is thick, it has long passed, or the surface is crumpled and has no side there.
        let deepest = -4.0 * piece.thickness();
        let near = |m: &&Meeting| (m.triangle - m.piece).dot(m.normal) >= deepest;
        for meeting in meetings.iter().filter(near) {
            let weights = closest::on_triangle(meeting.triangle, corners);
            let touch = Touch {
                probe: c as usize,
                at: meeting.piece,
                distance: 0.0,
                nodes,
                weights,
                normal: meeting.normal,
                key: (meeting.feature, bearing(nodes, weights)),
            };
            if self.is_new(&touch) {
                out.push(touch);
            }
        }
        self.meetings = meetings;
    }

    /// True if the unit vector `out` may lead from the surface at a point to something that touches it there from outside:
    /// no triangle around the point lies in its way.
    fn looks_out(
        &self,
        nodes: [u32; 3],
        weights: [f64; 3],
        out: DVec3,
        positions: &[DVec3],
    ) -> bool {
        let at = |n: u32| positions[n as usize];
        let bears = bearing(nodes, weights);
        if bears[2] != u32::MAX {
            let [a, b, c] = nodes.map(at);
            return (b - a).cross(c - a).normalize_or_zero().dot(out).abs() > 1.0 - AWRY;
        }
        let corner = bears[0] as usize;
        let around = &self.around[self.first[corner] as usize..self.first[corner + 1] as usize];
        around.iter().all(|t| {
            let others = self.triangles[*t as usize];
            let edge = bears[1] != u32::MAX;
            if edge && !others.contains(&bears[1]) {
                return true;
            }
            let base = at(bears[0]);
            let along = if edge {
                (at(bears[1]) - base).normalize_or_zero()
            } else {
                DVec3::ZERO
            };
            let into = others.iter().filter(|n| !bears.contains(n)).map(|n| {
                let way = at(*n) - base;
                (way - along * along.dot(way)).normalize_or_zero()
            });
            into.fold(f64::NEG_INFINITY, |most, way| most.max(way.dot(out))) <= AWRY
        })
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
        let key = (touch.probe, feature, corners);
        match self.seen.binary_search(&key) {
            Ok(_) => false,
            Err(place) => {
                self.seen.insert(place, key);
                true
            }
        }
    }

    /// The surface's outer normal at a point: that of the triangles around the corners that bear it,
    /// so that at an edge or a corner all its triangles have a say.
    fn outward(&self, nodes: [u32; 3], weights: [f64; 3], positions: &[DVec3]) -> DVec3 {
        let face = |t: [u32; 3]| {
            let [a, b, c] = t.map(|n| positions[n as usize]);
            (b - a).cross(c - a)
        };
        if weights.iter().all(|w| *w > NO_WEIGHT) {
            return face(nodes).normalize_or(DVec3::Y);
        }
        let mut sum = DVec3::ZERO;
        for (n, w) in nodes.iter().zip(weights) {
            let (from, to) = (
                self.first[*n as usize] as usize,
                self.first[*n as usize + 1] as usize,
            );
            for t in &self.around[from..to] {
                sum += face(self.triangles[*t as usize]) * w;
            }
        }
        sum.normalize_or(DVec3::Y)
    }
}

/// Makes room for a few times as many as there are now, if there is none: what slides on or is pressed deeper soon has more, and
/// must not wait for memory in the middle of an operation.
fn make_room<T>(list: &mut Vec<T>, now: usize) {
    if list.capacity() < 2 * now {
        list.reserve(4 * now - list.len());
    }
}

/// Where a part of a tool that lies along a triangle touches it, too: held at one place alone, the triangle would turn about that
/// and cut into the axis beside it. The place farthest along the axis at which an end lies over the triangle, or the axis over
/// one of its sides, within `range` (m).
fn second(first: &Touch, capsule: &Capsule, corners: [DVec3; 3], range: f64) -> Option<Touch> {
    let length = capsule.a.distance(capsule.b);
    let from = first.at.distance(capsule.a);
    let mut best: Option<(f64, Touch)> = None;
    let mut consider = |feature: u32, along: f64, weights: [f64; 3]| {
        let at = capsule.axis(along);
        let apart = closest::point(corners, weights) - at;
        let aside = (along * length - from).abs();
        let farther = aside > 2.0 * capsule.radius && best.as_ref().is_none_or(|b| aside > b.0);
        let Some(normal) = apart.try_normalize() else {
            return;
        };
        // Behind the axis it would push the other way.
        if farther && apart.length_squared() <= range * range && normal.dot(first.normal) > 0.5 {
            let touch = Touch {
                at,
                weights,
                normal,
                key: (feature, first.nodes),
                ..*first
            };
            best = Some((aside, touch));
        }
    };
    consider(1, 0.0, closest::on_triangle(capsule.a, corners));
    consider(2, 1.0, closest::on_triangle(capsule.b, corners));
    for (feature, (i, j)) in [(3, (0, 1)), (4, (1, 2)), (5, (2, 0))] {
        let (along, s) = closest::segment_segment(capsule.a, capsule.b, corners[i], corners[j]);
        let mut weights = [0.0; 3];
        weights[i] = 1.0 - s;
        weights[j] = s;
        consider(feature, along, weights);
    }
    best.map(|(_, touch)| touch)
}

/// The corners that bear a point, in ascending order; none is `u32::MAX`.
fn bearing(nodes: [u32; 3], weights: [f64; 3]) -> [u32; 3] {
    let mut corners = [u32::MAX; 3];
    for (corner, (n, w)) in corners.iter_mut().zip(nodes.into_iter().zip(weights)) {
        if w > NO_WEIGHT {
            *corner = n;
        }
    }
    corners.sort_unstable();
    corners
}

#[cfg(test)]
mod tests;

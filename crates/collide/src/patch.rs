//! A deforming surface, arranged for the question which of its triangles a capsule or a rigid body touches.
//!
//! In three levels, as in K93: the whole surface, clusters of neighbouring triangles, single triangles.
//! The closest point is found on the triangle itself, not only at its nodes, so an instrument thinner
//! than a cell can't slip between them.

use crate::{
    closest::{self, SegmentPair},
    rigid::{FacetScratch, Meeting, Piece},
};
use glam::DVec3;
use trocar_math::Bounds;

/// Triangles in a cluster. Small enough that a cluster is about as wide as an instrument.
const CLUSTER: usize = 16;

/// Nearer than this (m) to a capsule's axis a point gives no reliable direction.
const NO_DIRECTION: f64 = 1e-7;

/// So many touched triangles are made room for at once at most.
const MOST_ROOM: usize = 1024;

/// A segment with a hull around it (K89, K90).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capsule {
    /// One end of the axis, m.
    pub a: DVec3,
    /// The other end, m.
    pub b: DVec3,
    /// Radius of the hull, m.
    pub radius: f64,
}

impl Capsule {
    /// The box around it.
    pub fn bounds(&self) -> Bounds {
        Bounds::of([self.a, self.b]).grown(self.radius)
    }

    /// A point of its axis, 0 ≤ `along` ≤ 1.
    pub fn axis(&self, along: f64) -> DVec3 {
        self.a.lerp(self.b, along)
    }
}

/// What may touch a surface.
#[derive(Clone, Debug)]
pub enum Hull {
    /// A capsule, or a ball.
    Capsule(Capsule),
    /// All that lies below a plane: a point of it (m), and the unit normal out of it.
    Below(DVec3, DVec3),
    /// Something else that is convex.
    Convex(Piece),
}

/// Something that may touch a surface, and how far it and the surface may move towards each other before the question is
/// asked again, m.
#[derive(Clone, Debug)]
pub struct Probe {
    /// What it is.
    pub hull: Hull,
    /// m.
    pub margin: f64,
}

impl Probe {
    /// The box around all it may touch.
    fn bounds(&self) -> Bounds {
        match &self.hull {
            Hull::Capsule(capsule) => capsule.bounds().grown(self.margin),
            Hull::Below(..) => Bounds {
                low: DVec3::NEG_INFINITY,
                high: DVec3::INFINITY,
            },
            Hull::Convex(piece) => piece.bounds().grown(self.margin),
        }
    }

    /// True if it may touch something in a box; `own` is its own.
    fn reaches(&self, own: &Bounds, other: &Bounds) -> bool {
        match &self.hull {
            Hull::Below(point, normal) => {
                let lowest = DVec3::select(normal.cmpge(DVec3::ZERO), other.low, other.high);
                (lowest - *point).dot(*normal) <= self.margin
            }
            _ => own.overlaps(other),
        }
    }
}

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
    /// Nodes of each cluster, each once, as ranges of `members`.
    cluster: Vec<u32>,
    members: Vec<u32>,
    boxes: Vec<Bounds>,
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
        let (mut cluster, mut members) = (vec![0], Vec::new());
        for of in triangles.chunks(CLUSTER) {
            let mut nodes: Vec<u32> = of.iter().flatten().copied().collect();
            nodes.sort_unstable();
            nodes.dedup();
            members.extend(nodes);
            cluster.push(members.len() as u32);
        }
        // What has never been touched must not wait for memory when it is.
        let room = triangles.len().min(MOST_ROOM);
        Self {
            boxes: vec![Bounds::EMPTY; cluster.len() - 1],
            triangles,
            first,
            around,
            cluster,
            members,
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

    /// Shows the boxes over its triangles as last gathered, and whether a triangle inside was near.
    pub fn see_boxes(&self, mut see: impl FnMut(&Bounds, bool)) {
        for (k, bounds) in self.boxes.iter().enumerate() {
            let inside = |pair: &(u32, u32)| pair.1 as usize / CLUSTER == k;
            see(bounds, self.near.iter().any(inside));
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

    /// Once a step: which triangles may be touched within the margins of the probes. Returns the number of pairs.
    pub fn gather(&mut self, probes: &[Probe], positions: &[DVec3]) -> usize {
        self.near.clear();
        let whole = Bounds::of(positions.iter().copied());
        if !probes.iter().any(|p| p.reaches(&p.bounds(), &whole)) {
            return 0;
        }
        for (k, b) in self.boxes.iter_mut().enumerate() {
            let range = self.cluster[k] as usize..self.cluster[k + 1] as usize;
            *b = Bounds::of(self.members[range].iter().map(|n| positions[*n as usize]));
        }
        for (c, probe) in probes.iter().enumerate() {
            let own = probe.bounds();
            if !probe.reaches(&own, &whole) {
                continue;
            }
            for (k, cluster) in self.boxes.iter().enumerate() {
                if !probe.reaches(&own, cluster) {
                    continue;
                }
                let start = k * CLUSTER;
                let end = (start + CLUSTER).min(self.triangles.len());
                for t in start..end {
                    let corners = self.triangles[t].map(|n| positions[n as usize]);
                    if probe.reaches(&own, &Bounds::of(corners)) {
                        self.near.push((c as u32, t as u32));
                    }
                }
            }
        }
        let pairs = self.near.len();
        make_room(&mut self.near, pairs);
        make_room(&mut self.sides, pairs);
        make_room(&mut self.sides_before, pairs);
        make_room(&mut self.seen, pairs);
        pairs
    }

    /// Where the probes touch the gathered triangles or come within their margins of touching.
    /// `out` is cleared first; the order depends on the input alone.
    pub fn touches(&mut self, probes: &[Probe], positions: &[DVec3], out: &mut Vec<Touch>) {
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
                    self.touch_capsule((c, t), capsule, probe.margin, positions, out);
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
        margin: f64,
        positions: &[DVec3],
        out: &mut Vec<Touch>,
    ) {
        let corners = self.triangles[t as usize].map(|n| positions[n as usize]);
        // A sphere around the triangle settles most pairs at a fraction of the cost.
        let centre = (corners[0] + corners[1] + corners[2]) / 3.0;
        let size = corners
            .iter()
            .fold(0.0_f64, |s, p| s.max(p.distance_squared(centre)))
            .sqrt();
        let axis = capsule.axis(closest::on_segment(centre, capsule.a, capsule.b));
        let range = capsule.radius + margin;
        if axis.distance_squared(centre) > (range + size) * (range + size) {
            return;
        }
        let pair = closest::segment_triangle(capsule.a, capsule.b, corners);
        if pair.distance_squared > range * range {
            return;
        }
        let touch = self.touch((c, t), capsule, &pair, positions);
        if self.is_new(&touch) {
            out.push(touch);
        }
    }

    fn touch(
        &mut self,
        (c, t): (u32, u32),
        capsule: &Capsule,
        pair: &SegmentPair,
        positions: &[DVec3],
    ) -> Touch {
        let nodes = self.triangles[t as usize];
        let corners = nodes.map(|n| positions[n as usize]);
        let at = capsule.axis(pair.along);
        let apart = closest::point(corners, pair.weights) - at;
        let distance = apart.length();
        let outward = self.outward(nodes, pair.weights, positions);
        let (side, now) = self.side((c, t), outward.dot(apart), true);
        let normal = if side == now && distance > NO_DIRECTION {
            apart / distance
        } else {
            // The axis is in the surface or beyond it: the way out is back to where it came from.
            outward * -f64::from(side)
        };
        Touch {
            probe: c as usize,
            at,
            distance: capsule.radius,
            nodes,
            weights: pair.weights,
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
        let Some((p, q, normal)) = piece.nearest(corners, margin, &mut self.scratch) else {
            return;
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
            (p, q, normal)
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
mod tests {
    use super::*;
    use crate::rigid::{Form, Shape};
    use trocar_math::Pose;

    /// A flat sheet in the x–z plane facing up, cells of 8 mm.
    fn sheet() -> (Patch, Vec<DVec3>) {
        let n = 9_u32;
        let positions = (0..n * n)
            .map(|i| DVec3::new(f64::from(i % n) * 8e-3, 0.0, f64::from(i / n) * 8e-3))
            .collect::<Vec<_>>();
        let mut triangles = Vec::new();
        for r in 0..n - 1 {
            for c in 0..n - 1 {
                let a = r * n + c;
                triangles.push([a, a + n, a + 1]);
                triangles.push([a + 1, a + n, a + n + 1]);
            }
        }
        (Patch::new(triangles, positions.len()), positions)
    }

    fn needle(tip: DVec3) -> Capsule {
        Capsule {
            a: tip + DVec3::Y * 0.1,
            b: tip,
            radius: 1e-3,
        }
    }

    fn touches(patch: &mut Patch, positions: &[DVec3], tool: Capsule) -> Vec<Touch> {
        touches_of(patch, positions, Hull::Capsule(tool))
    }

    fn touches_of(patch: &mut Patch, positions: &[DVec3], hull: Hull) -> Vec<Touch> {
        let mut out = Vec::new();
        let mut probe = Probe { hull, margin: 2e-3 };
        patch.gather(std::slice::from_ref(&probe), positions);
        probe.margin = 1e-3;
        patch.touches(&[probe], positions, &mut out);
        out
    }

    fn cube(at: DVec3) -> Hull {
        let form = Form::Box {
            half: DVec3::new(0.012, 0.003, 0.012),
        };
        Hull::Convex(
            Shape::new(&form)
                .unwrap()
                .piece(0, &Pose::new(at, glam::DQuat::IDENTITY)),
        )
    }

    #[test]
    fn a_box_on_a_sheet_touches_every_node_below_it_once_and_its_own_corners() {
        let (mut patch, positions) = sheet();
        let found = touches_of(&mut patch, &positions, cube(DVec3::new(0.03, 0.0028, 0.03)));
        let below = positions
            .iter()
            .filter(|p| (**p - DVec3::new(0.03, 0.0, 0.03)).abs().max_element() < 0.012);
        let corners = found
            .iter()
            .filter(|t| t.weights.iter().any(|w| *w > 0.999_999));
        assert_eq!(corners.count(), below.count());
        for t in &found {
            assert!((t.normal + DVec3::Y).length() < 1e-9, "{t:?}");
        }
        for (x, z) in [
            (0.018, 0.018),
            (0.042, 0.018),
            (0.018, 0.042),
            (0.042, 0.042),
        ] {
            let corner = DVec3::new(x, -0.0002, z);
            assert!(
                found.iter().any(|t| t.at.distance(corner) < 1e-7),
                "{corner}"
            );
        }
        let mut keys: Vec<_> = found.iter().map(|t| t.key).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(
            keys.len(),
            found.len(),
            "every contact has a name of its own"
        );
    }

    #[test]
    fn a_plate_that_has_gone_through_still_pushes_the_way_it_came() {
        let (mut patch, positions) = sheet();
        // 6 mm thick, from above until only its top is left above the sheet, and then not even that.
        for y in [3.5e-3, 1e-3, -1e-3, -2.9e-3, -3.5e-3] {
            let found = touches_of(&mut patch, &positions, cube(DVec3::new(0.03, y, 0.03)));
            assert!(!found.is_empty(), "{y}");
            assert!(
                found
                    .iter()
                    .all(|t| t.normal.y < 0.0 || t.normal.y.abs() < 0.5),
                "{y}: {found:?}"
            );
            assert!(
                found.iter().any(|t| (t.normal + DVec3::Y).length() < 1e-9),
                "{y}: {found:?}"
            );
        }
    }

    #[test]
    fn below_a_plane_every_corner_is_pushed_out_once() {
        let (mut patch, positions) = sheet();
        let tilted = DVec3::new(0.1, 1.0, 0.0).normalize();
        let found = touches_of(&mut patch, &positions, Hull::Below(DVec3::X * 0.02, tilted));
        let below = positions
            .iter()
            .filter(|p| (**p - DVec3::X * 0.02).dot(tilted) <= 1e-3);
        assert_eq!(found.len(), below.count());
        assert!(found.iter().all(|t| t.normal == tilted));
    }

    #[test]
    fn a_needle_thinner_than_a_cell_touches_between_the_nodes() {
        let (mut patch, positions) = sheet();
        let found = touches(
            &mut patch,
            &positions,
            needle(DVec3::new(0.0345, 0.5e-3, 0.0345)),
        );
        assert!(!found.is_empty());
        assert!(found.iter().all(|t| (t.normal + DVec3::Y).length() < 1e-9));
    }

    #[test]
    fn far_away_nothing_is_gathered() {
        let (mut patch, positions) = sheet();
        let probe = Probe {
            hull: Hull::Capsule(needle(DVec3::new(0.03, 0.5, 0.03))),
            margin: 1e-3,
        };
        assert_eq!(patch.gather(&[probe], &positions), 0);
        assert!(touches(&mut patch, &positions, needle(DVec3::new(0.2, 0.0, 0.0))).is_empty());
    }

    #[test]
    fn a_needle_that_has_gone_through_still_pushes_the_way_it_came() {
        let (mut patch, positions) = sheet();
        for y in [0.8e-3, 0.2e-3, -0.4e-3, -1.0e-3, -1.4e-3] {
            let found = touches(&mut patch, &positions, needle(DVec3::new(0.034, y, 0.035)));
            assert!(
                found.iter().any(|t| (t.normal + DVec3::Y).length() < 1e-9),
                "{y}: {found:?}"
            );
        }
        // Lifted out, it is forgotten; from below it then pushes upwards.
        touches(
            &mut patch,
            &positions,
            needle(DVec3::new(0.034, 0.1, 0.035)),
        );
        assert!(patch.sides().is_empty());
        let below = Capsule {
            a: DVec3::new(0.034, -0.1, 0.035),
            b: DVec3::new(0.034, -0.5e-3, 0.035),
            radius: 1e-3,
        };
        let found = touches(&mut patch, &positions, below);
        assert!(found.iter().all(|t| (t.normal - DVec3::Y).length() < 1e-9) && !found.is_empty());
    }

    #[test]
    fn a_corner_is_touched_once() {
        let (mut patch, positions) = sheet();
        let found = touches(
            &mut patch,
            &positions,
            needle(positions[40] + DVec3::Y * 0.5e-3),
        );
        let corners = found
            .iter()
            .filter(|t| t.weights.iter().any(|w| *w > 0.999))
            .count();
        assert_eq!(corners, 1, "{found:?}");
    }
}

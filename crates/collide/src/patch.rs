//! A deforming surface, arranged for the question which of its triangles a capsule touches.
//!
//! In three levels, as in K93: the whole surface, clusters of neighbouring triangles, single triangles.
//! The closest point is found on the triangle itself, not only at its nodes, so an instrument thinner
//! than a cell can't slip between them.

use crate::closest::{self, SegmentPair};
use glam::DVec3;
use trocar_math::Bounds;

/// Triangles in a cluster. Small enough that a cluster is about as wide as an instrument.
const CLUSTER: usize = 16;

/// Nearer than this (m) to a capsule's axis a point gives no reliable direction.
const NO_DIRECTION: f64 = 1e-7;

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

/// A place where a capsule touches, or nearly touches, a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// Which capsule.
    pub capsule: usize,
    /// Where on its axis, 0 to 1.
    pub along: f64,
    /// The corners of the triangle.
    pub nodes: [u32; 3],
    /// Weights of the corners.
    pub weights: [f64; 3],
    /// The way out for the surface: from the axis to it, unit length.
    pub normal: DVec3,
}

/// Which side of a triangle a capsule came from: +1 the outer, −1 the inner.
pub type Side = (u32, u32, i8);

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
    /// Capsule and triangle of each pair that is near in this step.
    near: Vec<(u32, u32)>,
    /// Sorted by capsule and triangle. Remembers where a capsule came from while it stays near, so
    /// that it can't come out on the other side (K96, K102).
    sides: Vec<Side>,
    sides_before: Vec<Side>,
    /// Corners and edges that a capsule touches already, sorted.
    seen: Vec<(usize, [u32; 3])>,
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
        Self {
            boxes: vec![Bounds::EMPTY; cluster.len() - 1],
            triangles,
            first,
            around,
            cluster,
            members,
            ..Self::default()
        }
    }

    /// The triangles.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
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

    /// Once a step: which triangles may be touched. `reach` (m) is how far capsules and surface may
    /// move towards each other before this is asked again. Returns the number of pairs.
    pub fn gather(&mut self, capsules: &[Capsule], positions: &[DVec3], reach: f64) -> usize {
        self.near.clear();
        let tool = capsules.iter().fold(Bounds::EMPTY, |mut all, c| {
            let b = c.bounds().grown(reach);
            all.add(b.low);
            all.add(b.high);
            all
        });
        if !Bounds::of(positions.iter().copied()).overlaps(&tool) {
            return 0;
        }
        for (k, b) in self.boxes.iter_mut().enumerate() {
            let range = self.cluster[k] as usize..self.cluster[k + 1] as usize;
            *b = Bounds::of(self.members[range].iter().map(|n| positions[*n as usize]));
        }
        for (c, capsule) in capsules.iter().enumerate() {
            let hull = capsule.bounds().grown(reach);
            for (k, cluster) in self.boxes.iter().enumerate() {
                if !cluster.overlaps(&hull) {
                    continue;
                }
                let start = k * CLUSTER;
                let end = (start + CLUSTER).min(self.triangles.len());
                for t in start..end {
                    let corners = self.triangles[t].map(|n| positions[n as usize]);
                    if Bounds::of(corners).overlaps(&hull) {
                        self.near.push((c as u32, t as u32));
                    }
                }
            }
        }
        self.near.len()
    }

    /// Where the capsules touch the gathered triangles or come within `margin` (m) of touching.
    /// `out` is cleared first; the order depends on the input alone.
    pub fn touches(
        &mut self,
        capsules: &[Capsule],
        positions: &[DVec3],
        margin: f64,
        out: &mut Vec<Touch>,
    ) {
        out.clear();
        self.seen.clear();
        std::mem::swap(&mut self.sides, &mut self.sides_before);
        self.sides.clear();
        for n in 0..self.near.len() {
            let (c, t) = self.near[n];
            let capsule = &capsules[c as usize];
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
                continue;
            }
            let pair = closest::segment_triangle(capsule.a, capsule.b, corners);
            if pair.distance_squared > range * range {
                continue;
            }
            let touch = self.touch((c, t), capsule, &pair, positions);
            if self.is_new(&touch) {
                out.push(touch);
            }
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
        let apart = closest::point(corners, pair.weights) - capsule.axis(pair.along);
        let distance = apart.length();
        let outward = self.outward(nodes, pair.weights, positions);
        // Seen from the surface the axis lies at −apart.
        let now: i8 = if outward.dot(apart) > 0.0 { -1 } else { 1 };
        let key = (c, t);
        let before = self
            .sides_before
            .binary_search_by_key(&key, |s| (s.0, s.1))
            .ok()
            .map(|i| self.sides_before[i].2);
        let side = before.unwrap_or(now);
        self.sides.push((c, t, side));
        let normal = if side == now && distance > NO_DIRECTION {
            apart / distance
        } else {
            // The axis is in the surface or beyond it: the way out is back to where it came from.
            outward * -f64::from(side)
        };
        Touch {
            capsule: c as usize,
            along: pair.along,
            nodes,
            weights: pair.weights,
            normal,
        }
    }

    /// False if the same capsule already touches the same corner, or the same edge, through another triangle.
    fn is_new(&mut self, touch: &Touch) -> bool {
        let mut corners = [u32::MAX; 3];
        for (corner, (n, w)) in corners
            .iter_mut()
            .zip(touch.nodes.iter().zip(touch.weights))
        {
            if w > 1e-9 {
                *corner = *n;
            }
        }
        corners.sort_unstable();
        // Inside a face nothing can be there twice.
        if corners[2] != u32::MAX {
            return true;
        }
        let key = (touch.capsule, corners);
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
        if weights.iter().all(|w| *w > 1e-9) {
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

#[cfg(test)]
mod tests {
    use super::*;

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
        let mut out = Vec::new();
        patch.gather(&[tool], positions, 2e-3);
        patch.touches(&[tool], positions, 1e-3, &mut out);
        out
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
        assert_eq!(
            patch.gather(&[needle(DVec3::new(0.03, 0.5, 0.03))], &positions, 1e-3),
            0
        );
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

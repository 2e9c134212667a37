//! One segment and four triangles at a time.

use super::{LEAST_PRODUCT, PARALLEL, segment_triangle};
use glam::DVec3;
use trocar_math::{Four, f64x4, four::LANES};

/// Closest points of a segment and four triangles, a lane for each; as in [`SegmentPair`](super::SegmentPair).
#[derive(Clone, Copy, Debug)]
pub struct FourPairs {
    /// Where on the segment, from 0 to 1.
    pub along: f64x4,
    /// Weights of the first corners, of the second, of the third.
    pub weights: [f64x4; 3],
    /// Squares of the distances, m².
    pub distance_squared: f64x4,
    /// Normals of the triangles, twice as long as their areas are large, m².
    pub faces: Four,
}

/// The best so far, in every lane.
#[derive(Clone, Copy)]
struct Best {
    along: f64x4,
    weights: [f64x4; 3],
    distance: f64x4,
}

impl Best {
    const NONE: Self = Self {
        along: f64x4::ZERO,
        weights: [f64x4::ONE, f64x4::ZERO, f64x4::ZERO],
        distance: f64x4::splat(f64::INFINITY),
    };

    /// Takes `along` and `weights` where `distance` is less.
    #[inline(always)]
    fn offer(&mut self, distance: f64x4, along: f64x4, weights: [f64x4; 3]) {
        let better = distance.simd_lt(self.distance);
        self.take(better, distance, along, weights);
    }

    #[inline(always)]
    fn take(&mut self, mask: f64x4, distance: f64x4, along: f64x4, weights: [f64x4; 3]) {
        self.distance = mask.bitselect(distance, self.distance);
        self.along = mask.bitselect(along, self.along);
        for (own, given) in self.weights.iter_mut().zip(weights) {
            *own = mask.bitselect(given, *own);
        }
    }
}

#[inline(always)]
pub(crate) fn dot(a: Four, b: Four) -> f64x4 {
    a.x * b.x + a.y * b.y + a.z * b.z
}

/// Between 0 and 1.
#[inline(always)]
fn clamped(x: f64x4) -> f64x4 {
    // What becomes of NaN differs between processors, and does not matter: it comes of places that are no numbers, or too far away to be squared. Such a lane has no area, no
    // sound side or no finite distance, and ends in `one_by_one`.
    f64x4::ONE.fast_min(f64x4::ZERO.fast_max(x))
}

#[inline(always)]
pub(crate) fn lerp(a: Four, b: Four, s: f64x4) -> Four {
    a.times(f64x4::ONE - s) + b.times(s)
}

/// The planes of four triangles, and what all questions about them need.
struct Faces {
    origin: Four,
    normal: Four,
    area: f64x4,
    /// One over it.
    part: f64x4,
    /// How the weights of the second and the third corners grow.
    rises: [Four; 2],
}

impl Faces {
    #[inline(always)]
    fn new([p, q, r]: [Four; 3]) -> Self {
        let (ab, ac) = (q - p, r - p);
        let normal = ab.cross(ac);
        let area = normal.length_squared();
        let part = f64x4::ONE / area;
        Self {
            origin: p,
            normal,
            area,
            part,
            rises: [ac.cross(normal).times(part), normal.cross(ab).times(part)],
        }
    }

    /// Weights of the second and third corner of the foot of a point, and whether it is in the triangle.
    #[inline(always)]
    fn under(&self, p: Four) -> (f64x4, f64x4, f64x4) {
        let from = p - self.origin;
        let (v, w) = (dot(from, self.rises[0]), dot(from, self.rises[1]));
        let zero = f64x4::ZERO;
        let inside = v.simd_ge(zero) & w.simd_ge(zero) & (v + w).simd_le(f64x4::ONE);
        (v, w, inside)
    }

    /// Offers an end of the segment that lies `height` times twice the area above the planes.
    #[inline(always)]
    fn offer(&self, best: &mut Best, end: Four, along: f64x4, height: f64x4) {
        let (v, w, inside) = self.under(end);
        let distance = height * height * self.part;
        let better = inside & distance.simd_lt(best.distance);
        best.take(better, distance, along, [f64x4::ONE - v - w, v, w]);
    }
}

/// A segment beside the sides of four triangles.
struct Beside {
    from: Four,
    way: Four,
    /// The square of its length, and one over it.
    square: f64x4,
    part: f64x4,
    /// Lanes that have to be done one by one.
    hard: f64x4,
}

impl Beside {
    /// Where it is nearest to the sides from `p` to `q`: the parts of both ways, and the square of the distance.
    #[inline(always)]
    fn nearest(&mut self, p: Four, q: Four) -> (f64x4, f64x4, f64x4) {
        let (d, dd) = (self.way, self.square);
        let (e, r) = (q - p, self.from - p);
        let ee = e.length_squared();
        let (de, dr, er) = (dot(d, e), dot(d, r), dot(e, r));
        let below = dd * ee - de * de;
        let product = below * ee;
        let sound = below.simd_gt(f64x4::splat(PARALLEL) * dd * ee)
            & product.simd_ge(f64x4::splat(LEAST_PRODUCT));
        self.hard |= !sound;
        let part = f64x4::ONE / product;
        let s = clamped((de * er - ee * dr) * (part * ee));
        let free = (de * s + er) * (part * below);
        let t = clamped(free);
        let again = clamped((de * t - dr) * self.part);
        let s = free.simd_eq(t).bitselect(s, again);
        let apart = r + d.times(s) - e.times(t);
        (s, t, apart.length_squared())
    }
}

/// Nearest points of segment `a`–`b` and the triangles whose first, second and third corners are `t`, with the bits of
/// [`segment_triangle`](super::segment_triangle) for all that lie within their `range` (m) of it; others only lie farther away than that. None if all do, as their
/// planes tell already. Lanes that are degenerate (no area, no length, a side along the segment) or no numbers are done one by one.
#[inline]
pub fn segment_triangles(a: DVec3, b: DVec3, t: [Four; 3], range: f64x4) -> Option<FourPairs> {
    let (zero, one) = (f64x4::ZERO, f64x4::ONE);
    let faces = Faces::new(t);
    let ends = [a, b].map(Four::splat);
    let [from, to] = ends.map(|end| dot(faces.normal, end - t[0]));
    let beside = (from * to).simd_gt(zero);
    // A hair more than the range, for what was rounded.
    let wide = range * range * faces.area * f64x4::splat(1.0 + 1e-9);
    let far = [from, to].map(|height| (height * height).simd_gt(wide));
    if (beside & far[0] & far[1]).all() {
        return None;
    }
    let mut best = Best::NONE;
    // Of a long needle one end is far from all that is near the other.
    if !far[0].all() {
        faces.offer(&mut best, ends[0], zero, from);
    }
    if !far[1].all() {
        faces.offer(&mut best, ends[1], one, to);
    }
    let square = (b - a).length_squared();
    let mut segment = Beside {
        from: ends[0],
        way: Four::splat(b - a),
        square: f64x4::splat(square),
        part: f64x4::splat(1.0 / square),
        hard: !(faces.area.simd_gt(zero)),
    };
    let (s, x, distance) = segment.nearest(t[0], t[1]);
    best.offer(distance, s, [one - x, x, zero]);
    let (s, x, distance) = segment.nearest(t[1], t[2]);
    best.offer(distance, s, [zero, one - x, x]);
    let (s, x, distance) = segment.nearest(t[2], t[0]);
    best.offer(distance, s, [x, zero, one - x]);
    if !beside.all() {
        let along = from / (from - to);
        let (v, w, inside) = faces.under(lerp(ends[0], ends[1], along));
        let through = inside & !beside & !(from.simd_eq(to));
        best.take(through, zero, along, [one - v - w, v, w]);
    }
    let hard = segment.hard | !best.distance.is_finite();
    let mut out = FourPairs {
        along: best.along,
        weights: best.weights,
        distance_squared: best.distance,
        faces: faces.normal,
    };
    let hard = hard.to_bitmask();
    if hard != 0 {
        one_by_one(a, b, t, hard, &mut out);
    }
    Some(out)
}

/// The lanes of a mask, each on its own.
#[cold]
fn one_by_one(a: DVec3, b: DVec3, t: [Four; 3], mask: u32, out: &mut FourPairs) {
    let corners = t.map(|corner| corner.vectors());
    let set = |list: &mut f64x4, lane: usize, value: f64| {
        let mut values = list.to_array();
        values[lane] = value;
        *list = f64x4::new(values);
    };
    for lane in (0..LANES).filter(|lane| mask & (1 << lane) != 0) {
        let pair = segment_triangle(a, b, corners.map(|c| c[lane]));
        set(&mut out.along, lane, pair.along);
        set(&mut out.distance_squared, lane, pair.distance_squared);
        for (list, weight) in out.weights.iter_mut().zip(pair.weights) {
            set(list, lane, weight);
        }
    }
}

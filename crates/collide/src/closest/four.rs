//! One segment and four triangles at a time.

use super::{PARALLEL, segment_triangle};
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
    pub normal: Four,
    /// For each side: where on the segment it is nearest, from 0 to 1, and the square of the distance there, m².
    pub sides: [(f64x4, f64x4); 3],
    /// How high the segment's ends are above the planes, times the lengths of the normals, m³.
    pub heights: [f64x4; 2],
    /// True where sides and heights tell something: where nothing is degenerate.
    pub plain: f64x4,
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
        self.distance = mask.select(distance, self.distance);
        self.along = mask.select(along, self.along);
        for (own, given) in self.weights.iter_mut().zip(weights) {
            *own = mask.select(given, *own);
        }
    }
}

#[inline(always)]
pub(crate) fn dot(a: Four, b: Four) -> f64x4 {
    a.x * b.x + a.y * b.y + a.z * b.z
}

/// Between 0 and 1; what is no number stays it.
#[inline(always)]
fn clamped(x: f64x4) -> f64x4 {
    // Of two of which one is none, and of two zeros, the second is given.
    f64x4::ONE.fast_min(f64x4::ZERO.fast_max(x))
}

#[inline(always)]
pub(crate) fn lerp(a: Four, b: Four, s: f64x4) -> Four {
    a.times(f64x4::ONE - s) + b.times(s)
}

/// Four triangles, and what all questions about them need.
struct Triangles {
    ab: Four,
    ac: Four,
    normal: Four,
    area: f64x4,
    /// One over it.
    part: f64x4,
    /// The ways along the sides, and the squares of their lengths.
    sides: [Four; 3],
    squares: [f64x4; 3],
}

impl Triangles {
    #[inline(always)]
    fn new(corners: [Four; 3]) -> Self {
        let [p, q, r] = corners;
        let sides = [q - p, r - q, p - r];
        let ac = r - p;
        let normal = sides[0].cross(ac);
        let area = normal.length_squared();
        Self {
            ab: sides[0],
            ac,
            normal,
            area,
            part: f64x4::ONE / area,
            sides,
            squares: sides.map(Four::length_squared),
        }
    }

    /// Weights of the second and third corner of the foot of a point, seen from the first corner, and whether it is in the triangle.
    #[inline(always)]
    fn over_face(&self, p: Four) -> (f64x4, f64x4, f64x4) {
        let v = dot(p.cross(self.ac), self.normal) * self.part;
        let w = dot(self.ab.cross(p), self.normal) * self.part;
        let zero = f64x4::ZERO;
        let inside = v.simd_ge(zero) & w.simd_ge(zero) & (v + w).simd_le(f64x4::ONE);
        (v, w, inside)
    }
}

/// Weights at a part of the way along side `k`.
#[inline(always)]
fn on_side(k: usize, s: f64x4) -> [f64x4; 3] {
    let mut weights = [f64x4::ZERO; 3];
    weights[k] = f64x4::ONE - s;
    weights[(k + 1) % 3] = s;
    weights
}

/// The square of the sine of the angle at a triangle's first corner, below which its plane tells nothing.
pub const LEAST_SINE_SQUARED: f64 = 1e-6;

/// A segment and four triangles, and on which sides of their planes its ends lie: what tells already which are far apart.
pub(crate) struct Question {
    a: DVec3,
    b: DVec3,
    t: [Four; 3],
    triangles: Triangles,
    ends: [Four; 2],
    heights: [f64x4; 2],
    /// True where both ends are on one side.
    beside: f64x4,
    /// True where the plane tells something. What is nearly a line has a normal of rounding alone.
    even: f64x4,
}

impl Question {
    #[inline(always)]
    pub fn new(a: DVec3, b: DVec3, t: [Four; 3]) -> Self {
        let zero = f64x4::ZERO;
        let triangles = Triangles::new(t);
        let Triangles { normal, area, .. } = triangles;
        let ends = [Four::splat(a), Four::splat(b)];
        let [from, to] = [dot(normal, ends[0] - t[0]), dot(normal, ends[1] - t[0])];
        let above = from.simd_gt(zero) & to.simd_gt(zero);
        let spanned = triangles.squares[0] * triangles.ac.length_squared();
        Self {
            a,
            b,
            t,
            triangles,
            ends,
            heights: [from, to],
            beside: above | (from.simd_lt(zero) & to.simd_lt(zero)),
            even: area.simd_gt(f64x4::splat(LEAST_SINE_SQUARED) * spanned),
        }
    }

    /// True if all lie farther than their `range` (m) from the segment as their planes tell already.
    #[inline(always)]
    pub fn all_beyond(&self, range: f64x4) -> bool {
        let [from, to] = self.heights;
        // A hair more than the range, for what was rounded.
        let wide = range * range * self.triangles.area * f64x4::splat(1.0 + 1e-9);
        let far = (from * from).fast_min(to * to).simd_gt(wide);
        (self.beside & far & self.even).all()
    }

    /// The nearest of an end and the faces, if that is nearer than the best so far or as near; `along` is 0 or 1.
    #[inline(always)]
    fn offer_end(&self, best: &mut Best, k: usize, along: f64x4) {
        let Self { t, triangles, .. } = self;
        let (end, height) = (self.ends[k], self.heights[k]);
        // What is higher above the plane than the best is far is no nearer. A good part more than what is rounded: of the height
        // by its own size and by that of the triangle.
        let size = triangles.squares[0] + triangles.squares[2];
        let least = best.distance * f64x4::splat(1.0 + 1e-6) + size * f64x4::splat(1e-12);
        if (self.even & (height * height).simd_gt(least * triangles.area)).all() {
            return;
        }
        let (v, w, inside) = triangles.over_face(end - t[0]);
        let weights = [f64x4::ONE - v - w, v, w];
        let point = t[0].times(weights[0]) + t[1].times(weights[1]) + t[2].times(weights[2]);
        let distance = (point - end).length_squared();
        let better = inside & distance.simd_le(best.distance);
        best.take(better, distance, along, weights);
    }

    /// The nearest points of the segment, which goes `d` (m), and of sides `k`, if they are nearer than the best so far. Where on the segment,
    /// and the square of the distance; `hard` where they are all but parallel.
    #[inline(always)]
    fn offer_side(
        &self,
        best: &mut Best,
        hard: &mut f64x4,
        k: usize,
        (d, dd): (Four, f64x4),
    ) -> (f64x4, f64x4) {
        let Self { t, ends, .. } = self;
        let (e, ee) = (self.triangles.sides[k], self.triangles.squares[k]);
        let r = ends[0] - t[k];
        let (de, dr, er) = (dot(d, e), dot(d, r), dot(e, r));
        let below = dd * ee - de * de;
        *hard |= !(below.simd_gt(f64x4::splat(PARALLEL) * dd * ee));
        let s = clamped((de * er - ee * dr) / below);
        let free = (de * s + er) / ee;
        let t_k = clamped(free);
        let again = clamped((de * t_k - dr) / dd);
        let s = free.simd_eq(t_k).select(s, again);
        let apart = lerp(ends[0], ends[1], s) - lerp(t[k], t[(k + 1) % 3], t_k);
        let distance = apart.length_squared();
        best.offer(distance, s, on_side(k, t_k));
        (s, distance)
    }

    /// Nearest points; see [`segment_triangles`].
    #[inline(always)]
    pub fn nearest(&self) -> FourPairs {
        let (zero, one) = (f64x4::ZERO, f64x4::ONE);
        let Self {
            t,
            triangles,
            ends,
            beside,
            ..
        } = self;
        let [from, to] = self.heights;
        let mut best = Best::NONE;
        let way = self.b - self.a;
        let d = Four::splat(way);
        let dd = f64x4::splat(way.length_squared());
        let mut hard = !(triangles.area.simd_gt(zero));
        let mut sides = [(zero, zero); 3];
        // Written out: where the place of a weight is a variable, it goes through memory.
        sides[0] = self.offer_side(&mut best, &mut hard, 0, (d, dd));
        sides[1] = self.offer_side(&mut best, &mut hard, 1, (d, dd));
        sides[2] = self.offer_side(&mut best, &mut hard, 2, (d, dd));
        // An end goes before a side that is as near, and the first end before the second: so they come last, in this order.
        self.offer_end(&mut best, 1, one);
        self.offer_end(&mut best, 0, zero);
        if !beside.all() {
            let along = from / (from - to);
            let (v, w, inside) = triangles.over_face(lerp(ends[0], ends[1], along) - t[0]);
            let through = inside & !*beside & !(from.simd_eq(to));
            best.take(through, zero, along, [one - v - w, v, w]);
        }
        hard |= !best.distance.is_finite();
        let mut out = FourPairs {
            along: best.along,
            weights: best.weights,
            distance_squared: best.distance,
            normal: triangles.normal,
            sides,
            heights: self.heights,
            plain: self.even & !hard,
        };
        let hard = hard.to_bitmask();
        if hard != 0 {
            one_by_one(self.a, self.b, *t, hard, &mut out);
        }
        out
    }
}

/// Nearest points of segment `a`–`b` and the triangles whose first, second and third corners are `t`, with the bits of
/// [`segment_triangle`](super::segment_triangle); none if all lie farther than their `range` (m) from it as their planes tell already. Lanes that are
/// degenerate (no area, no length, a side along the segment) or no numbers are done one by one.
#[inline]
pub fn segment_triangles(a: DVec3, b: DVec3, t: [Four; 3], range: f64x4) -> Option<FourPairs> {
    let question = Question::new(a, b, t);
    (!question.all_beyond(range)).then(|| question.nearest())
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

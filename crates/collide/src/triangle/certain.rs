//! Whether two triangles touch, if floating point can tell: most pairs end here.
//!
//! Both triangles are worked on at once, a lane for each, from boxes over planes to stretches on the common line; what is certain to be
//! apart leaves after boxes or after planes. There is one bound of the error for all determinants of a pair: each is a sum of products
//! of a difference of x, one of y and one of z, and no difference is greater than the box around both is wide.

use super::flat;
use glam::DVec3;
use trocar_math::orient::{LEAST_ERROR, ROUNDING};
use wide::{f64x2, f64x4};

/// A height over a plane is the sum of two determinants, of six products each. Each has three rounded differences in it and is rounded six times more in the second one and
/// nine times in the first, so 6 · 9 + 6 · 12 roundings bound the error; the rest is for the rounding of the bound, and for what is of the second order. (Where
/// sums and products are fused there are fewer.)
const HEIGHT_ERROR: f64 = 140.0 * ROUNDING;

/// Widths of which products of three, and of parts of them, are numbers with all their bits.
const RANGE: std::ops::RangeInclusive<f64> = 1e-75..=1e75;

/// The lanes the other way round.
#[inline(always)]
fn swapped(v: f64x2) -> f64x2 {
    let [a, b] = v.to_array();
    f64x2::new([b, a])
}

/// A vector for each lane.
type Pair = [f64x2; 3];

#[inline(always)]
fn pair(a: &DVec3, b: &DVec3) -> Pair {
    [[a.x, b.x], [a.y, b.y], [a.z, b.z]].map(f64x2::new)
}

#[inline(always)]
fn minus(a: &Pair, b: &Pair) -> Pair {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline(always)]
fn cross(a: &Pair, b: &Pair) -> Pair {
    let minor = |i: usize, j: usize| a[i].mul_sub(b[j], a[j] * b[i]);
    [minor(1, 2), minor(2, 0), minor(0, 1)]
}

/// a · b + c.
#[inline(always)]
fn dot_add(a: &Pair, b: &Pair, c: f64x2) -> f64x2 {
    a[0].mul_add(b[0], a[1].mul_add(b[1], a[2].mul_add(b[2], c)))
}

/// What is known about a pair of which each seems to reach the other's plane. The lane of a triangle is about that triangle.
struct Placement {
    /// Of the plane of the *other* one.
    normal: Pair,
    /// Of its corners over the plane of the other one.
    heights: [f64x2; 3],
    /// Not less than the box around both is wide, along each axis.
    width: Pair,
}

/// Whether they have a point in common; none if floating point can't tell.
#[inline(always)]
pub(super) fn touch(a: &[DVec3; 3], b: &[DVec3; 3]) -> Option<bool> {
    let p = [0, 1, 2].map(|i| pair(&a[i], &b[i]));
    let mut gap = f64x2::ZERO;
    let width = [0, 1, 2].map(|k| {
        let low = p[0][k].fast_min(p[1][k]).fast_min(p[2][k]);
        let high = p[0][k].fast_max(p[1][k]).fast_max(p[2][k]);
        gap |= low.simd_gt(swapped(high));
        // Where boxes overlap, the one around both is not wider than both together.
        let width = high - low;
        width + swapped(width)
    });
    if gap.to_bitmask() != 0 && sound(&p) {
        return Some(false);
    }
    let error = f64x2::splat(HEIGHT_ERROR)
        .mul_add(width[0] * width[1] * width[2], f64x2::splat(LEAST_ERROR));
    let (u, v) = (minus(&p[1], &p[0]), minus(&p[2], &p[0]));
    let normal = cross(&u, &v).map(swapped);
    let from = minus(&p[0], &p[0].map(swapped));
    let first = dot_add(&normal, &from, f64x2::ZERO);
    let heights = [
        first,
        dot_add(&normal, &u, first),
        dot_add(&normal, &v, first),
    ];
    // What is no number in any corner is in some height, and nothing is greater than an error that is none.
    let error = (heights[0] + heights[1] + heights[2]).mul_add(f64x2::ZERO, error);
    if one_side(&heights, error) {
        return Some(false);
    }
    let [h, i, j] = heights.map(f64x2::abs);
    if h.fast_min(i).fast_min(j).simd_gt(error).to_bitmask() != 3 {
        return Placement {
            normal,
            heights,
            width,
        }
        .touch(a, b);
    }
    let signs = heights.map(|h| h.to_bitmask());
    let order = &ORDERS[(signs[0] | signs[1] << 2 | signs[2] << 4) as usize % 64];
    let ends = ends(a, b, order);
    if ends.simd_gt(error).to_bitmask() != 0 {
        Some(false)
    } else if ends.simd_lt(-error).to_bitmask() == 3 {
        Some(true)
    } else {
        None
    }
}

/// True if all coordinates are numbers: least and greatest of three pass over one that is none.
#[inline(always)]
fn sound(p: &[Pair; 3]) -> bool {
    let sum = |k: usize| p[0][k] + p[1][k] + p[2][k];
    let sum = sum(0) + sum(1) + sum(2);
    sum.simd_eq(sum).to_bitmask() == 3
}

/// True if all corners of one are higher than `least`, or lower than its opposite.
#[inline(always)]
fn one_side(&[h, i, j]: &[f64x2; 3], least: f64x2) -> bool {
    let above = h.fast_min(i).fast_min(j).simd_gt(least);
    let below = h.fast_max(i).fast_max(j).simd_lt(-least);
    (above | below).to_bitmask() != 0
}

/// How the start of a's stretch on the common line lies to the end of b's, and the start of b's to the end of a's: not above zero if stretches overlap.
#[inline(always)]
fn ends<'a>(a: &'a [DVec3; 3], b: &'a [DVec3; 3], order: &[[u8; 3]; 2]) -> f64x2 {
    let pick = |t: &'a [DVec3; 3], order: &[u8; 3]| {
        let [i, j, k] = *order;
        [&t[usize::from(i)], &t[usize::from(j)], &t[usize::from(k)]]
    };
    let (a, b) = (pick(a, &order[0]), pick(b, &order[1]));
    let origin = pair(a[0], a[0]);
    let start = minus(&pair(a[1], b[1]), &origin);
    let apex = minus(&pair(b[0], b[0]), &origin);
    let end = minus(&pair(b[2], a[2]), &origin);
    dot_add(&cross(&start, &apex), &end, f64x2::ZERO)
}

impl Placement {
    /// Whether they touch, if all coordinates are whole multiples of some length and not too many of it: then nothing is rounded, so that zeros are zeros. Singular
    /// placements that are given and not computed are mostly of this kind. None for others.
    #[cold]
    #[inline(never)]
    fn touch(&self, a: &[DVec3; 3], b: &[DVec3; 3]) -> Option<bool> {
        if !self.is_coarse(a, b) {
            return None;
        }
        if one_side(&self.heights, f64x2::ZERO) {
            return Some(false);
        }
        let [h, i, j] = self.heights;
        let bits = |h: f64x2, i: f64x2, j: f64x2| {
            h.to_bitmask() | i.to_bitmask() << 2 | j.to_bitmask() << 4
        };
        let zero = f64x2::ZERO;
        let above = bits(h.simd_gt(zero), i.simd_gt(zero), j.simd_gt(zero)) as usize;
        let below = bits(h.simd_lt(zero), i.simd_lt(zero), j.simd_lt(zero)) as usize;
        // Bits of a triangle are every second one.
        const OF_A: usize = 0b01_0101;
        const OF_B: usize = 0b10_1010;
        let of_a = LONE[(above & OF_A | (below & OF_A) << 1) % 64];
        let of_b = LONE[((above & OF_B) >> 1 | below & OF_B) % 64];
        if (of_a | of_b) & FLAT != 0 {
            let found = self.touch_flat(a, b).or_else(|| self.touch_thin(a, b));
            return Some(found.unwrap_or_else(|| flat::touch(a, b)));
        }
        let order = [
            order(usize::from(of_a & 3), of_b & BELOW != 0),
            order(usize::from(of_b & 3), of_a & BELOW == 0),
        ];
        Some(ends(a, b, &order).simd_le(zero).to_bitmask() == 3)
    }

    /// True if coordinates are multiples of a length of which widths have at most 2¹⁶. The twelve products of three differences that a height is the
    /// sum of then have less than 53 bits.
    #[inline(always)]
    fn is_coarse(&self, a: &[DVec3; 3], b: &[DVec3; 3]) -> bool {
        let [x, y, z] = self.width;
        let [width, _] = x.fast_max(y).fast_max(z).to_array();
        let [h, i, j] = self.heights;
        // With widths, which pass over what is no number, heights, which do not.
        if !(x + y + z + h + i + j).to_array()[0].is_finite() || !RANGE.contains(&width) {
            return false;
        }
        // The next power of two, of a positive number; a sum with 1.5 · 2⁵² lengths is rounded to whole ones.
        const FRACTION: u64 = (1 << 52) - 1;
        let power = f64::from_bits((width.to_bits() + FRACTION) & !FRACTION);
        let round = f64x4::splat(power * (1.5 * (1_u64 << (52 - 16)) as f64));
        let off = |x: f64x4| ((x + round) - round).simd_ne(x);
        // As they lie in memory; what was just written in other portions would have to be waited for.
        let of = |[p, q, r]: &[DVec3; 3]| {
            off(f64x4::new([p.x, p.y, p.z, q.x])) | off(f64x4::new([q.y, q.z, r.x, r.y]))
        };
        let last = f64x4::new([a[2].z, b[2].z, a[2].z, b[2].z]);
        (of(a) | of(b) | off(last)).to_bitmask() == 0
    }

    /// In one plane: whether no edge of either has all corners of the other beyond it. None if one has no area.
    #[inline(always)]
    fn touch_flat(&self, a: &[DVec3; 3], b: &[DVec3; 3]) -> Option<bool> {
        let [x, y, z] = self.normal;
        let [of_x, of_y, of_z] = [x, y, z].map(|n| n.abs().to_array()[0]);
        let (i, j, turn) = if of_x >= of_y && of_x >= of_z {
            (1, 2, x)
        } else if of_y >= of_z {
            (2, 0, y)
        } else {
            (0, 1, z)
        };
        let turn = swapped(turn);
        if turn.simd_eq(f64x2::ZERO).to_bitmask() != 0 {
            return None;
        }
        Some(Flat::new(a, b, [i, j], turn).touch())
    }

    /// If one of them has no area. None if both have none, or if it is a segment in the plane of the other.
    fn touch_thin(&self, a: &[DVec3; 3], b: &[DVec3; 3]) -> Option<bool> {
        let lane = |v: &[f64x2; 3], k: usize| DVec3::from(v.map(|x| x.to_array()[k]));
        let (of_b, of_a) = (lane(&self.normal, 0), lane(&self.normal, 1));
        match (of_a == DVec3::ZERO, of_b == DVec3::ZERO) {
            (false, true) => thin(b, lane(&self.heights, 1), a, of_a),
            (true, false) => thin(a, lane(&self.heights, 0), b, of_b),
            _ => None,
        }
    }
}

/// Whether a segment or a point, given as three corners in a line with their heights over the plane of a triangle, touches that triangle, of which `normal` is
/// the normal; of coordinates of which no product is rounded. None for a segment in the plane.
fn thin(line: &[DVec3; 3], heights: DVec3, t: &[DVec3; 3], normal: DVec3) -> Option<bool> {
    let (low, high) = (heights.min_position(), heights.max_position());
    let (from, to) = (line[low], line[high]);
    let sides = if heights[low] < heights[high] {
        // In a line the lowest and the highest are the ends. The line goes by each side of the triangle on the same hand, or through it.
        let along = to - from;
        let [p, q, r] = t.map(|corner| corner - from);
        [p.cross(q), q.cross(r), r.cross(p)].map(|side| side.dot(along))
    } else if line[0] == line[1] && line[1] == line[2] {
        let axis = normal.abs().max_position();
        let (i, j) = ((axis + 1) % 3, (axis + 2) % 3);
        let [p, q, r] = t.map(|corner| corner - from);
        let turn = |p: DVec3, q: DVec3| p[i] * q[j] - p[j] * q[i];
        [turn(p, q), turn(q, r), turn(r, p)]
    } else {
        return None;
    };
    let [x, y, z] = sides;
    Some((x >= 0.0 && y >= 0.0 && z >= 0.0) || (x <= 0.0 && y <= 0.0 && z <= 0.0))
}

/// Corners of two triangles in one plane, seen along an axis, and those of the other one.
struct Flat {
    own: [[f64x2; 2]; 3],
    other: [[f64x2; 2]; 3],
    /// 1 if corners go round against the clock, -1 if with it.
    turn: f64x2,
}

impl Flat {
    #[inline(always)]
    fn new(a: &[DVec3; 3], b: &[DVec3; 3], axes: [usize; 2], turn: f64x2) -> Self {
        let of = |a: &DVec3, b: &DVec3, k: usize| f64x2::new([a[k], b[k]]);
        let [i, j] = axes;
        let corner = |k: usize| [of(&a[k], &b[k], i), of(&a[k], &b[k], j)];
        let other = |k: usize| [of(&b[k], &a[k], i), of(&b[k], &a[k], j)];
        Self {
            own: [corner(0), corner(1), corner(2)],
            other: [other(0), other(1), other(2)],
            turn: f64x2::ONE.copysign(turn),
        }
    }

    #[inline(always)]
    fn touch(&self) -> bool {
        let [p, q, r] = self.own;
        (self.beyond(p, q) | self.beyond(q, r) | self.beyond(r, p)).to_bitmask() == 0
    }

    /// Whether all corners of the other lie beyond an edge.
    #[inline(always)]
    fn beyond(&self, from: [f64x2; 2], to: [f64x2; 2]) -> f64x2 {
        let (x, y) = ((to[0] - from[0]) * self.turn, (to[1] - from[1]) * self.turn);
        let side = |p: [f64x2; 2]| x.mul_sub(p[1] - from[1], y * (p[0] - from[0]));
        let [p, q, r] = self.other;
        side(p)
            .fast_max(side(q))
            .fast_max(side(r))
            .simd_lt(f64x2::ZERO)
    }
}

/// All corners are in the plane of the other.
const FLAT: u8 = 8;
/// The lone corner is below it.
const BELOW: u8 = 4;

/// The lone corner of a triangle ([`Heights::lone`](super::crossing)), by bits 0, 2 and 4 for corners that are above the plane of the other, and 1, 3 and 5 for those below.
const LONE: [u8; 64] = lone_corners();

const fn lone_corners() -> [u8; 64] {
    let mut table = [0; 64];
    let mut code = 0;
    while code < 64 {
        let mut signs = 0;
        let mut k = 3;
        while k > 0 {
            k -= 1;
            signs = 3 * signs + 1 + (code >> (2 * k) & 1);
            // Both bits are never set; whatever comes out then is not used.
            signs -= if code >> (2 * k) & 1 == 0 {
                code >> (2 * k + 1) & 1
            } else {
                0
            };
        }
        table[code] = if signs == 1 + 3 + 9 {
            FLAT
        } else {
            super::crossing::LONE[signs]
        };
        code += 1;
    }
    table
}

/// By the sides of all six corners (those of a at bits 0, 2 and 4, set if below, those of b at 1, 3 and 5), the corners of both in the order that
/// [`Crossing`](super::crossing) wants.
const ORDERS: [[[u8; 3]; 2]; 64] = orders();

const fn orders() -> [[[u8; 3]; 2]; 64] {
    let mut table = [[[0; 3]; 2]; 64];
    let mut code = 0;
    while code < 64 {
        let ((lone_a, below_b), (lone_b, below_a)) = (lone(code), lone(code >> 1));
        table[code] = [order(lone_a, below_a), order(lone_b, !below_b)];
        code += 1;
    }
    table
}

/// The corner that is on its side alone, and whether that is below, of bits 0, 2 and 4.
const fn lone(code: usize) -> (usize, bool) {
    let below = [code & 1 != 0, code >> 2 & 1 != 0, code >> 4 & 1 != 0];
    let i = if below[1] == below[2] {
        0
    } else if below[0] == below[2] {
        1
    } else {
        2
    };
    (i, below[i])
}

/// A corner first and the others after it, the other way round if its plane is turned.
const fn order(lone: usize, turned: bool) -> [u8; 3] {
    let (next, last) = ((lone + 1) % 3, (lone + 2) % 3);
    if turned {
        [lone as u8, last as u8, next as u8]
    } else {
        [lone as u8, next as u8, last as u8]
    }
}

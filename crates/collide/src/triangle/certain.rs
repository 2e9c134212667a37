//! Whether two triangles touch, if floating point can tell: most pairs end here.
//!
//! Both triangles are worked on at once, a lane for each: heights over planes first, where most pairs that do not touch leave, then stretches on the common line. Nothing else is asked
//! on the way, not even boxes: nobody could guess the answers, and a wrong guess costs more than what it would save.
//! There is one bound of the error for all determinants of a pair, by the lengths of what they are made of.

use super::flat;
use glam::DVec3;
use trocar_math::orient::{LEAST_ERROR, ROUNDING};
use wide::{f64x2, f64x4};

/// Times S √S, where S is the sum of the squares of two sides of each triangle, those that meet in its first corner, and of the way between these corners: not less than the error of any
/// determinant here.
///
/// The products of |u|, |v| and |w| that make up a determinant are at most 2/√3 |u| |v| |w| together, and a product is rounded eight times: thrice in its differences, twice
/// in the normal, thrice in the sum. The vectors of a stretch are a side, of √(2 S) at most, and two ways from corner to corner, of √(3 S): that is 8 · 2/√3 · 3 √2 = 39.2. A height
/// is the sum of two determinants, of which one is rounded thrice more, but their vectors are in S themselves, so it is a tenth of that. The rest is for the rounding of
/// the bound, and for what is of the second order.
const ERROR: f64 = 44.0 * ROUNDING;

/// Of lengths up to two to the power of this, and down to one over it, products of three, and of parts of them, are numbers with all their bits.
const RANGE: u64 = 248;

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

/// What is known about a pair of which some corner may be in the other's plane. The lane of a triangle is about that triangle.
struct Placement {
    /// Of the plane of the *other* one.
    normal: Pair,
    /// Of its corners over the plane of the other one.
    heights: [f64x2; 3],
    error: f64x2,
    /// Not less than a third of the square of the way between any two corners.
    size: f64,
}

/// Whether they have a point in common; none if floating point can't tell.
#[inline(always)]
pub(super) fn touch(a: &[DVec3; 3], b: &[DVec3; 3]) -> Option<bool> {
    let p = [0, 1, 2].map(|i| pair(&a[i], &b[i]));
    let (u, v) = (minus(&p[1], &p[0]), minus(&p[2], &p[0]));
    let from = minus(&p[0], &p[0].map(swapped));
    let own = dot_add(&u, &u, dot_add(&v, &v, f64x2::ZERO));
    let size = dot_add(&from, &from, own + swapped(own));
    // What is no number in any corner is in here, and nothing is greater than an error that is none.
    let error = f64x2::splat(ERROR).mul_add(size * size.sqrt(), f64x2::splat(LEAST_ERROR));
    let normal = cross(&u, &v).map(swapped);
    let first = dot_add(&normal, &from, f64x2::ZERO);
    let heights = [
        first,
        dot_add(&normal, &u, first),
        dot_add(&normal, &v, first),
    ];
    let [h, i, j] = heights.map(f64x2::abs);
    if h.fast_min(i).fast_min(j).simd_gt(error).to_bitmask() != 3 {
        let place = Placement {
            normal,
            heights,
            error,
            size: size.to_array()[0],
        };
        return place.touch(a, b);
    }
    let below = lanes(heights) % 64;
    if CROSS >> below & 1 == 0 {
        return Some(false);
    }
    let ends = ends(a, b, &ORDERS[below]);
    if ends.abs().simd_gt(error).to_bitmask() == 3 {
        return Some(ends.to_bitmask() == 3);
    }
    let apart = ends.simd_gt(error).to_bitmask() != 0;
    apart.then_some(false)
}

/// The masks of three corners of both triangles, in bits: those of a corner side by side.
#[inline(always)]
fn lanes([h, i, j]: [f64x2; 3]) -> usize {
    (h.to_bitmask() | i.to_bitmask() << 2 | j.to_bitmask() << 4) as usize
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
    /// Whether they touch, if planes keep them apart, or if all coordinates are whole multiples of some length and not too many of it: then nothing is rounded, so that zeros are
    /// zeros. Singular placements that are given and not computed are mostly of this kind. None for others.
    #[inline(always)]
    fn touch(&self, a: &[DVec3; 3], b: &[DVec3; 3]) -> Option<bool> {
        if !self.is_coarse(a, b) {
            return one_side(&self.heights, self.error).then_some(false);
        }
        let below = lanes(self.heights);
        let level = lanes(self.heights.map(|h| h.simd_eq(f64x2::ZERO)));
        // Bits of a triangle are every second one.
        const OF_A: usize = 0b01_0101;
        const OF_B: usize = 0b10_1010;
        if level & OF_A == OF_A || level & OF_B == OF_B {
            return Some(touch_flat(a, b, self.normal, self.heights));
        }
        // A corner in the plane counts as above if another one is below, else as below: so that its triangle has corners on both sides.
        let sides = |mask: usize| match below & mask {
            0 => level & mask,
            some => some,
        };
        let sides = (sides(OF_A) | sides(OF_B)) % 64;
        let meet = ends(a, b, &ORDERS[sides]).simd_le(f64x2::ZERO).to_bitmask() == 3;
        Some((CROSS >> sides & 1 != 0) & meet)
    }

    /// True if coordinates are multiples of a length of which the size has at most 2¹⁶. The products of three differences that determinants are sums of then have so few bits that
    /// these have less than 53.
    #[inline(always)]
    fn is_coarse(&self, a: &[DVec3; 3], b: &[DVec3; 3]) -> bool {
        // Half of the exponent of the square, rounded up, is that of a power of two above the size. (What is no number has the greatest.)
        let half = (self.size.to_bits() >> 52).wrapping_add(1023 + 2) >> 1;
        if half.wrapping_sub(1023 - RANGE) > 2 * RANGE {
            return false;
        }
        // A sum with 1.5 · 2⁵² lengths, of which there are 2¹⁶ in that power, is rounded to whole ones.
        let round = f64x4::splat(f64::from_bits((half + 52 - 16) << 52 | 1 << 51));
        let off = |x: f64x4| ((x + round) - round).simd_ne(x);
        // As they lie in memory; what was just written in other portions would have to be waited for.
        let of = |[p, q, r]: &[DVec3; 3]| {
            off(f64x4::new([p.x, p.y, p.z, q.x])) | off(f64x4::new([q.y, q.z, r.x, r.y]))
        };
        let last = f64x4::new([a[2].z, b[2].z, a[2].z, b[2].z]);
        (of(a) | of(b) | off(last)).to_bitmask() == 0
    }
}

/// Whether two touch of which one lies in the plane of the other, or has no area, given the normals and heights of a [`Placement`] of which nothing is rounded.
#[cold]
#[inline(never)]
fn touch_flat(a: &[DVec3; 3], b: &[DVec3; 3], normal: Pair, heights: [f64x2; 3]) -> bool {
    let [x, y, z] = normal;
    let [of_x, of_y, of_z] = [x, y, z].map(|n| n.abs().to_array()[0]);
    // Seen along the greatest part of the normal.
    let apart = if of_x >= of_y && of_x >= of_z {
        Flat::new::<1, 2>(a, b, x).apart()
    } else if of_y >= of_z {
        Flat::new::<2, 0>(a, b, y).apart()
    } else {
        Flat::new::<0, 1>(a, b, z).apart()
    };
    if let Some(apart) = apart {
        return !apart;
    }
    touch_thin(a, b, normal, heights).unwrap_or_else(|| flat::touch(a, b))
}

/// If one of them has no area. None if both have none, or if it is a segment in the plane of the other.
fn touch_thin(a: &[DVec3; 3], b: &[DVec3; 3], normal: Pair, heights: [f64x2; 3]) -> Option<bool> {
    if one_side(&heights, f64x2::ZERO) {
        return Some(false);
    }
    let lane = |v: &[f64x2; 3], k: usize| DVec3::from(v.map(|x| x.to_array()[k]));
    let (of_b, of_a) = (lane(&normal, 0), lane(&normal, 1));
    match (of_a == DVec3::ZERO, of_b == DVec3::ZERO) {
        (false, true) => thin(b, lane(&heights, 1), a, of_a),
        (true, false) => thin(a, lane(&heights, 0), b, of_b),
        _ => None,
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

/// Corners of two triangles in one plane, seen along an axis and from a's first corner, and those of the other one.
struct Flat {
    own: [[f64x2; 2]; 3],
    other: [[f64x2; 2]; 3],
    /// Above zero if corners go round against the clock, below it if with it.
    turn: f64x2,
}

impl Flat {
    /// Along the axis that comes after `I` and `J`; `normal` is along it, each lane that of the other one.
    #[inline(always)]
    fn new<const I: usize, const J: usize>(a: &[DVec3; 3], b: &[DVec3; 3], normal: f64x2) -> Self {
        let corner = |k: usize| {
            let of = |axis: usize| f64x2::new([a[k][axis], b[k][axis]]) - f64x2::splat(a[0][axis]);
            [of(I), of(J)]
        };
        let own = [corner(0), corner(1), corner(2)];
        Self {
            own,
            other: own.map(|p| p.map(swapped)),
            turn: swapped(normal),
        }
    }

    /// Whether some edge has all corners of the other triangle beyond it. None if one has no area.
    #[inline(always)]
    fn apart(&self) -> Option<bool> {
        if self.turn.simd_eq(f64x2::ZERO).to_bitmask() != 0 {
            return None;
        }
        let [p, q, r] = self.own;
        let beyond = self.beyond(p, q) | self.beyond(q, r) | self.beyond(r, p);
        Some(beyond.to_bitmask() != 0)
    }

    /// Whether all corners of the other lie beyond an edge.
    #[inline(always)]
    fn beyond(&self, from: [f64x2; 2], to: [f64x2; 2]) -> f64x2 {
        let turn = self.turn & f64x2::splat(-0.0);
        let [x, y] = [to[0] - from[0], to[1] - from[1]].map(|way| way ^ turn);
        let least = x.mul_sub(from[1], y * from[0]);
        let [p, q, r] = self.other.map(|p| x.mul_sub(p[1], y * p[0]));
        p.fast_max(q).fast_max(r).simd_lt(least)
    }
}

/// By the sides of all six corners (those of a at bits 0, 2 and 4, set if below, those of b at 1, 3 and 5), the corners of both in the order that
/// [`Crossing`](super::crossing) wants. Means nothing where one has all corners on one side.
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

/// A bit for each of these sides, set where both triangles have corners on both sides.
const CROSS: u64 = crossings();

const fn crossings() -> u64 {
    let mut bits = 0;
    let mut code = 0;
    while code < 64 {
        if cross_plane(code) && cross_plane(code >> 1) {
            bits |= 1 << code;
        }
        code += 1;
    }
    bits
}

/// Whether bits 0, 2 and 4 are not alike.
const fn cross_plane(code: usize) -> bool {
    let of_one = code & 0b01_0101;
    of_one != 0 && of_one != 0b01_0101
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

//! Triangles in different planes.

use super::{
    Contact, certain, flat,
    range::{far_apart, fitted},
};
use glam::DVec3;
use trocar_math::orient::{LEAST_ERROR, TRIPLE_ERROR, orient3d, orient3d_slow, sign};

/// Heights of three points over a plane, times twice the area of the triangle that spans it.
struct Heights {
    values: [f64; 3],
    /// Exact, other than the values.
    signs: [i8; 3],
}

impl Heights {
    #[inline(always)]
    fn new(plane: &[DVec3; 3], points: &[DVec3; 3]) -> Self {
        let [a, b, c] = *plane;
        let (u, v) = (b - a, c - a);
        let normal = u.cross(v);
        let from = points.map(|p| p - a);
        let values = from.map(|w| normal.dot(w));
        let far = from[0].abs().max(from[1].abs()).max(from[2].abs());
        let size = u.abs().max_element() * v.abs().max_element() * far.max_element();
        let error = TRIPLE_ERROR * size + LEAST_ERROR;
        let mut signs = values.map(sign);
        let least = values[0].abs().min(values[1].abs()).min(values[2].abs());
        if least <= error {
            for i in 0..3 {
                if values[i].abs() <= error {
                    signs[i] = orient3d_slow(a, b, c, points[i]);
                }
            }
        }
        Self { values, signs }
    }

    /// All on one side, none in the plane.
    #[inline(always)]
    fn apart(&self) -> bool {
        let sum = self.signs[0] + self.signs[1] + self.signs[2];
        sum == 3 || sum == -3
    }

    #[inline(always)]
    fn all_zero(&self) -> bool {
        self.signs == [0; 3]
    }

    /// The corner whose two edges meet the plane: it is on one side, or in the plane, and the others are on the other or in
    /// the plane; not all are in it. And whether it is on the lower side, or in the plane with the others above.
    #[inline(always)]
    fn lone(&self) -> (usize, bool) {
        let [a, b, c] = self.signs.map(|s| (s + 1) as usize);
        let found = LONE[a + 3 * b + 9 * c];
        (usize::from(found & 3), found & 4 != 0)
    }
}

/// [`Heights::lone`] by the signs of the corners, one more than each times three to the power of its place: the lone corner, plus 4 if it is below.
pub(super) const LONE: [u8; 27] = lone_corners();

const fn lone_corners() -> [u8; 27] {
    let mut table = [0; 27];
    let mut code = 0;
    while code < 27 {
        let signs = [
            (code % 3) as i8 - 1,
            (code / 3 % 3) as i8 - 1,
            (code / 9) as i8 - 1,
        ];
        // Alone above comes last and so goes first: of a corner above, one in the plane and one below either would do.
        let mut i = 0;
        while i < 3 {
            let (p, q, r) = (signs[i], signs[(i + 1) % 3], signs[(i + 2) % 3]);
            if (p < 0 && q >= 0 && r >= 0) || (p == 0 && q > 0 && r > 0) {
                table[code] = i as u8 + 4;
            }
            i += 1;
        }
        i = 0;
        while i < 3 {
            let (p, q, r) = (signs[i], signs[(i + 1) % 3], signs[(i + 2) % 3]);
            if (p > 0 && q <= 0 && r <= 0) || (p == 0 && q < 0 && r < 0) {
                table[code] = i as u8;
            }
            i += 1;
        }
        code += 1;
    }
    table
}

/// A pair of which each reaches the other's plane. Corner 0 of each is the lone one, and both cut the line that the planes share along
/// one direction, from edge 0–1 to edge 0–2.
struct Crossing {
    a: [DVec3; 3],
    b: [DVec3; 3],
    heights_a: Heights,
    heights_b: Heights,
}

/// What the sides of planes say.
#[allow(
    clippy::large_enum_variant,
    reason = "it never leaves the function that makes it, so that it lives in registers"
)]
enum Sides {
    Apart,
    /// One plane, or a triangle without area.
    Flat,
    Crossing(Crossing),
}

#[inline(always)]
fn sides(a: &[DVec3; 3], b: &[DVec3; 3]) -> Sides {
    let heights_b = Heights::new(a, b);
    if heights_b.apart() {
        return Sides::Apart;
    }
    let heights_a = Heights::new(b, a);
    if heights_a.apart() {
        return Sides::Apart;
    }
    if heights_a.all_zero() || heights_b.all_zero() {
        return Sides::Flat;
    }
    let (lone_a, below_b) = heights_a.lone();
    let (lone_b, below_a) = heights_b.lone();
    // To turn a plane round, two corners of its triangle change places; and of two triangles that both have their lone corner above the
    // other, one goes along the common line from its edge 0–1 to its edge 0–2 and the other the other way.
    let order_a = order(lone_a, below_a);
    let order_b = order(lone_b, !below_b);
    Sides::Crossing(Crossing {
        a: order_a.map(|i| a[i]),
        b: order_b.map(|i| b[i]),
        heights_a: heights_a.ordered(order_a),
        heights_b: heights_b.ordered(order_b),
    })
}

#[inline(always)]
fn order(lone: usize, turned: bool) -> [usize; 3] {
    const NEXT: [usize; 5] = [0, 1, 2, 0, 1];
    let (next, last) = (NEXT[lone + 1], NEXT[lone + 2]);
    if turned {
        [lone, last, next]
    } else {
        [lone, next, last]
    }
}

impl Heights {
    #[inline(always)]
    fn ordered(&self, order: [usize; 3]) -> Self {
        Self {
            values: order.map(|i| self.values[i]),
            signs: order.map(|i| self.signs[i]),
        }
    }
}

impl Crossing {
    /// How the end of a's stretch on its edge 0–`i` lies to the end of b's on its edge 0–`j`, along the common line: -1 before, 0 at
    /// the same place, 1 behind.
    #[inline(always)]
    fn compare(&self, i: usize, j: usize) -> i8 {
        orient3d(self.a[0], self.a[i], self.b[0], self.b[j])
    }

    /// Where the edge 0–`i` of a triangle meets the other's plane, m.
    fn point(corners: &[DVec3; 3], heights: &Heights, i: usize) -> DVec3 {
        if heights.signs[0] == 0 {
            return corners[0];
        }
        if heights.signs[i] == 0 {
            return corners[i];
        }
        let (from, to) = (heights.values[0].abs(), heights.values[i].abs());
        let share = if from + to > 0.0 {
            from / (from + to)
        } else {
            0.5
        };
        corners[0] + (corners[i] - corners[0]) * share
    }
}

/// True if two triangles have a point in common. Exact; but where nobody can tell, as a corner is no number or coordinates span more
/// than 10⁻⁷⁵ to 10⁷⁵, they may, and it is true.
#[inline]
pub fn touch(a: &[DVec3; 3], b: &[DVec3; 3]) -> bool {
    certain::touch(a, b).unwrap_or_else(|| touch_slow(a, b))
}

/// [`touch`] for what floating point can't tell.
#[cold]
fn touch_slow(a: &[DVec3; 3], b: &[DVec3; 3]) -> bool {
    let Some((a, b, _)) = fitted(a, b) else {
        return !far_apart(a, b);
    };
    match sides(&a, &b) {
        Sides::Apart => false,
        Sides::Flat => flat::touch(&a, &b),
        Sides::Crossing(pair) => pair.compare(START, END) <= 0 && pair.compare(END, START) >= 0,
    }
}

/// The edge on which a stretch starts, and the one on which it ends.
const START: usize = 1;
const END: usize = 2;

/// What two triangles have in common. Its kind is exact; [`Contact::Unknown`] where nobody can tell.
pub fn contact(a: &[DVec3; 3], b: &[DVec3; 3]) -> Contact {
    if certain::touch(a, b) == Some(false) {
        return Contact::None;
    }
    match fitted(a, b) {
        None if far_apart(a, b) => Contact::None,
        None => Contact::Unknown,
        Some((a, b, None)) => exact(&a, &b),
        Some((a, b, Some(scale))) => exact(&a, &b).moved(|p| scale.undo(p)),
    }
}

/// [`contact`] for coordinates of sizes that fit.
fn exact(a: &[DVec3; 3], b: &[DVec3; 3]) -> Contact {
    let pair = match sides(a, b) {
        Sides::Apart => return Contact::None,
        Sides::Flat => return flat::contact(a, b),
        Sides::Crossing(pair) => pair,
    };
    let (early, late) = (pair.compare(START, END), pair.compare(END, START));
    if early > 0 || late < 0 {
        return Contact::None;
    }
    let of_a = |i| Crossing::point(&pair.a, &pair.heights_a, i);
    let of_b = |i| Crossing::point(&pair.b, &pair.heights_b, i);
    // Given corners are better than computed places, so a's end is taken only if b's is not as good.
    let start = match pair.compare(START, START) {
        1 => of_a(START),
        0 if pair.heights_b.signs[0] != 0 && pair.heights_b.signs[START] != 0 => of_a(START),
        _ => of_b(START),
    };
    let single =
        early == 0 || late == 0 || pair.heights_a.signs[0] == 0 || pair.heights_b.signs[0] == 0;
    if single {
        // One triangle's stretch may be a corner; the other's end may be at the same place.
        let point = if pair.heights_a.signs[0] == 0 {
            pair.a[0]
        } else if pair.heights_b.signs[0] == 0 {
            pair.b[0]
        } else if early == 0 {
            of_a(START)
        } else {
            of_a(END)
        };
        return Contact::Point(point);
    }
    let end = match pair.compare(END, END) {
        -1 => of_a(END),
        0 if pair.heights_b.signs[0] != 0 && pair.heights_b.signs[END] != 0 => of_a(END),
        _ => of_b(END),
    };
    Contact::Segment([start, end])
}

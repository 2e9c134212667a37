//! Whether triangles touch, and how, is what arithmetic with fractions says, for every input.

use glam::DVec3;
use num_bigint::BigInt;
use num_rational::{BigRational, Ratio};
use num_traits::{One, Signed, Zero};
use trocar_collide::triangle::{Contact, contact, touch};

/// Fractions.
trait Fraction: Clone + Zero + One + Signed + PartialOrd {
    fn of(value: f64) -> Self;
    fn rounded(&self) -> f64;
}

impl Fraction for BigRational {
    fn of(value: f64) -> Self {
        BigRational::from_float(value).unwrap_or_else(|| panic!("{value} is no fraction"))
    }

    fn rounded(&self) -> f64 {
        num_traits::ToPrimitive::to_f64(self).unwrap_or(f64::NAN)
    }
}

/// For small whole numbers: a hundred times faster.
impl Fraction for Ratio<i128> {
    fn of(value: f64) -> Self {
        assert_eq!(value.fract(), 0.0);
        Ratio::from_integer(value as i128)
    }

    fn rounded(&self) -> f64 {
        *self.numer() as f64 / *self.denom() as f64
    }
}

type Point<T> = [T; 3];

fn minus<T: Fraction>(a: &Point<T>, b: &Point<T>) -> Point<T> {
    [0, 1, 2].map(|i| a[i].clone() - b[i].clone())
}

fn cross<T: Fraction>(a: &Point<T>, b: &Point<T>) -> Point<T> {
    [(1, 2), (2, 0), (0, 1)].map(|(i, j)| a[i].clone() * b[j].clone() - a[j].clone() * b[i].clone())
}

fn dot<T: Fraction>(a: &Point<T>, b: &Point<T>) -> T {
    (0..3).fold(T::zero(), |s, i| s + a[i].clone() * b[i].clone())
}

fn is_zero<T: Fraction>(a: &Point<T>) -> bool {
    a.iter().all(T::is_zero)
}

/// Half spaces: normal · x ≥ offset.
struct Half<T>(Point<T>, T);

/// The triangle as what half spaces have in common.
fn halves<T: Fraction>(t: &[Point<T>; 3]) -> Vec<Half<T>> {
    let negative = |p: &Point<T>| [0, 1, 2].map(|i| -p[i].clone());
    let mut out = Vec::new();
    let mut both = |normal: Point<T>, at: &Point<T>| {
        let offset = dot(&normal, at);
        out.push(Half(negative(&normal), -offset.clone()));
        out.push(Half(normal, offset));
    };
    let normal = cross(&minus(&t[1], &t[0]), &minus(&t[2], &t[0]));
    if !is_zero(&normal) {
        both(normal.clone(), &t[0]);
        for i in 0..3 {
            let inwards = cross(&normal, &minus(&t[(i + 1) % 3], &t[i]));
            let offset = dot(&inwards, &t[i]);
            out.push(Half(inwards, offset));
        }
        return out;
    }
    let axes = [0, 1, 2].map(|i| [0, 1, 2].map(|j| if i == j { T::one() } else { T::zero() }));
    // Along the longest of the three edges.
    let edges = [0, 1, 2].map(|i| (i, minus(&t[(i + 1) % 3], &t[i])));
    let longest = edges.iter().fold(&edges[0], |l, e| {
        if dot(&e.1, &e.1) > dot(&l.1, &l.1) {
            e
        } else {
            l
        }
    });
    let (i, along) = (longest.0, &longest.1);
    if is_zero(along) {
        axes.into_iter().for_each(|a| both(a, &t[0]));
        return out;
    }
    for axis in axes {
        both(cross(along, &axis), &t[i]);
    }
    out.push(Half(along.clone(), dot(along, &t[i])));
    out.push(Half(negative(along), -dot(along, &t[(i + 1) % 3])));
    out
}

/// What is left of a convex polygon, perhaps without area, of corners that go round.
fn clip<T: Fraction>(polygon: &[Point<T>], half: &Half<T>) -> Vec<Point<T>> {
    let side: Vec<T> = polygon
        .iter()
        .map(|p| dot(&half.0, p) - half.1.clone())
        .collect();
    let mut out = Vec::new();
    for i in 0..polygon.len() {
        let j = (i + 1) % polygon.len();
        if !side[i].is_negative() {
            out.push(polygon[i].clone());
        }
        if (side[i].clone() * side[j].clone()).is_negative() {
            let share = side[i].clone() / (side[i].clone() - side[j].clone());
            let way = minus(&polygon[j], &polygon[i]);
            out.push([0, 1, 2].map(|k| polygon[i][k].clone() + way[k].clone() * share.clone()));
        }
    }
    out
}

/// The corners of what they have in common, each once (more than needed where they are in line).
fn common<T: Fraction>(a: &[DVec3; 3], b: &[DVec3; 3]) -> Vec<Point<T>> {
    let exact = |t: &[DVec3; 3]| t.map(|p| p.to_array().map(T::of));
    let (a, b) = (exact(a), exact(b));
    let mut left = a.to_vec();
    for half in halves(&b) {
        left = clip(&left, &half);
    }
    let mut distinct: Vec<Point<T>> = Vec::new();
    for p in left {
        if !distinct.contains(&p) {
            distinct.push(p);
        }
    }
    distinct
}

/// 0 none, 1 point, 2 segment, 3 polygon.
fn kind_of<T: Fraction>(points: &[Point<T>]) -> usize {
    let in_line = points.iter().skip(2).all(|p| {
        is_zero(&cross(
            &minus(p, &points[0]),
            &minus(&points[1], &points[0]),
        ))
    });
    match points.len() {
        0..=2 => points.len(),
        _ if in_line => 2,
        _ => 3,
    }
}

fn kind_found(contact: &Contact) -> usize {
    match contact {
        Contact::None => 0,
        Contact::Point(_) => 1,
        Contact::Segment(_) => 2,
        Contact::Polygon(_) => 3,
        Contact::Unknown => 4,
    }
}

/// Checks a pair; says of which kind it is.
fn check<T: Fraction>(a: &[DVec3; 3], b: &[DVec3; 3]) -> usize {
    let points = common::<T>(a, b);
    let wanted = kind_of(&points);
    for (a, b) in [(a, b), (b, a)] {
        let found = contact(a, b);
        assert_eq!(kind_found(&found), wanted, "{a:?} {b:?}");
        assert_eq!(touch(a, b), wanted != 0, "{a:?} {b:?}");
    }
    wanted
}

/// Checks the places, too, for coordinates of about 1 that are not far from whole numbers.
fn check_places<T: Fraction>(a: &[DVec3; 3], b: &[DVec3; 3]) {
    let places: Vec<DVec3> = common::<T>(a, b)
        .iter()
        .map(|p| DVec3::from([0, 1, 2].map(|i| p[i].rounded())))
        .collect();
    let found = contact(a, b);
    for p in found.points() {
        let near = places.iter().any(|q| p.distance(*q) < 1e-13);
        assert!(near, "{p} of {a:?} {b:?} is none of {places:?}");
    }
    // All that is a corner of the common part: no place further out than the points found.
    for q in &places {
        let direction = *q - places.iter().sum::<DVec3>() / places.len() as f64;
        let reach = found.points().iter().map(|p| direction.dot(*p - *q));
        assert!(
            reach.fold(f64::NEG_INFINITY, f64::max) > -1e-13,
            "{a:?} {b:?}"
        );
    }
}

fn repeats() -> usize {
    // `cargo xtask test --long`.
    if std::env::var_os("TROCAR_LONG").is_some() {
        250_000
    } else {
        2_500
    }
}

/// Numbers that are always the same (splitmix).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, count: u32) -> u32 {
        ((self.next() >> 32) as u32) % count
    }

    fn whole(&mut self, size: u32) -> DVec3 {
        DVec3::from([0; 3].map(|_| f64::from(self.below(2 * size + 1)) - f64::from(size)))
    }

    /// From 0 to 1, all bits random.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn point(&mut self) -> DVec3 {
        DVec3::from([0; 3].map(|_| 2.0 * self.unit() - 1.0))
    }
}

#[test]
fn on_a_grid_of_whole_numbers() {
    let mut random = Random(1);
    let mut seen = [0; 4];
    for n in 0..2 * repeats() {
        let size = 1 + (n % 3) as u32;
        let [a, b] = [0; 2].map(|_| [0; 3].map(|_| random.whole(size)));
        seen[check::<Ratio<i128>>(&a, &b)] += 1;
        check_places::<Ratio<i128>>(&a, &b);
    }
    // Few have one plane by chance; the next test is about them.
    assert!(
        seen[..3].iter().all(|n| *n > repeats() / 50) && seen[3] > 0,
        "{seen:?}"
    );
}

#[test]
fn in_one_plane() {
    let mut random = Random(2);
    let mut seen = [0; 4];
    for _ in 0..repeats() {
        // Whole numbers in a slanting plane.
        let [u, v] = [0; 2].map(|_| random.whole(2));
        let mut corner = || {
            let at = random.whole(2);
            u * at.x + v * at.y
        };
        let (a, b) = (
            [corner(), corner(), corner()],
            [corner(), corner(), corner()],
        );
        seen[check::<Ratio<i128>>(&a, &b)] += 1;
        check_places::<Ratio<i128>>(&a, &b);
    }
    assert!(seen.iter().all(|n| *n > repeats() / 50), "{seen:?}");
}

#[test]
fn anywhere() {
    let mut random = Random(3);
    let mut seen = [0; 2];
    for _ in 0..repeats() / 4 {
        let [a, b] = [0; 2].map(|_| [0; 3].map(|_| random.point()));
        seen[check::<BigRational>(&a, &b).min(1)] += 1;
    }
    assert!(seen.iter().all(|n| *n > repeats() / 50), "{seen:?}");
}

#[test]
fn a_hair_beside_the_singular_at_surgical_scale() {
    // Corners computed on corners, edges and faces of the other triangle, so that they are there but for rounding, 0.2 m from the
    // origin and millimetres in size.
    let mut random = Random(4);
    let mut seen = [0; 4];
    for _ in 0..repeats() / 2 {
        let centre = DVec3::splat(0.2);
        let a = [0; 3].map(|_| centre + random.point() * 1e-3);
        let corner = |random: &mut Random| {
            let weights = [0; 3].map(|_| match random.below(3) {
                0 => 0.0,
                1 => 0.5,
                _ => random.unit(),
            });
            let sum: f64 = weights.iter().sum();
            match random.below(4) {
                0 => centre + random.point() * 1e-3,
                1 => a[random.below(3) as usize],
                _ if sum > 0.0 => (a[0] * weights[0] + a[1] * weights[1] + a[2] * weights[2]) / sum,
                _ => a[0] + (a[1] - a[0]) * random.unit() * 2.0,
            }
        };
        let b = [
            corner(&mut random),
            corner(&mut random),
            corner(&mut random),
        ];
        seen[check::<BigRational>(&a, &b)] += 1;
    }
    assert!(seen[..3].iter().all(|n| *n > repeats() / 50), "{seen:?}");
}

#[test]
fn needles_and_crumbs() {
    // Long thin triangles and tiny ones, scaled by powers of two over a wide range.
    let mut random = Random(5);
    let mut seen = [0; 4];
    for _ in 0..repeats() / 4 {
        let scale = (0..random.below(120)).fold(1.0, |s, _| s * 0.5);
        let thin = random.unit() * 1e-9;
        let (from, way, side) = (random.point(), random.point(), random.point());
        let a = [from, from + way, from + way * random.unit() + side * thin];
        let at = from + way * random.unit();
        let b = [at, at + random.point() * thin, at + random.point()];
        let size = |t: [DVec3; 3]| t.map(|p| p * scale);
        seen[check::<BigRational>(&size(a), &size(b))] += 1;
    }
    assert!(seen[0] > 0 && seen[1] + seen[2] > 0, "{seen:?}");
}

#[test]
fn fractions_know_what_a_segment_is() {
    // The oracle itself, on a pair that can be worked out by hand.
    let a = [DVec3::ZERO, DVec3::X * 4.0, DVec3::Y * 4.0];
    let b = [
        DVec3::new(1.0, 1.0, 2.0),
        DVec3::new(1.0, 1.0, -2.0),
        DVec3::new(2.0, 1.0, -2.0),
    ];
    let points = common::<BigRational>(&a, &b);
    assert_eq!(kind_of(&points), 2);
    let half = BigRational::new(BigInt::from(3), BigInt::from(2));
    assert!(points.iter().any(|p| p[0] == half));
}

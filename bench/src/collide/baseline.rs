//! Triangle tests to compare with, in plain floating point without tolerances: Möller's, the original projection test, and the improved
//! one as Huang prints it. None of them is exact.

use glam::{DVec2, DVec3};
use trocar_math::orient::sign;

/// Möller's test by stretches on the line that two planes share (H68).
pub fn moller(a: &[DVec3; 3], b: &[DVec3; 3]) -> bool {
    let heights = |plane: &[DVec3; 3], points: &[DVec3; 3]| {
        let normal = (plane[1] - plane[0]).cross(plane[2] - plane[0]);
        let offset = normal.dot(plane[0]);
        (normal, points.map(|p| normal.dot(p) - offset))
    };
    let apart = |h: &[f64; 3]| h[0] * h[1] > 0.0 && h[0] * h[2] > 0.0;
    let (normal_a, of_b) = heights(a, b);
    if apart(&of_b) {
        return false;
    }
    let (normal_b, of_a) = heights(b, a);
    if apart(&of_a) {
        return false;
    }
    if of_b == [0.0; 3] || of_a == [0.0; 3] {
        return in_plane(a, b, normal_a);
    }
    let axis = normal_a.cross(normal_b).abs().max_position();
    let stretch = |t: &[DVec3; 3], h: &[f64; 3]| {
        let lone = if h[0] * h[1] > 0.0 {
            2
        } else if h[0] * h[2] > 0.0 {
            1
        } else if h[1] * h[2] > 0.0 || h[0] != 0.0 {
            0
        } else if h[1] != 0.0 {
            1
        } else {
            2
        };
        let (i, j) = ((lone + 1) % 3, (lone + 2) % 3);
        let end = |k: usize| {
            let (p, q) = (t[lone][axis], t[k][axis]);
            p + (q - p) * h[lone] / (h[lone] - h[k])
        };
        let (s, e) = (end(i), end(j));
        if s < e { (s, e) } else { (e, s) }
    };
    let (of_a, of_b) = (stretch(a, &of_a), stretch(b, &of_b));
    of_a.0 <= of_b.1 && of_b.0 <= of_a.1
}

/// Two triangles in one plane: edges against edges, then corners.
fn in_plane(a: &[DVec3; 3], b: &[DVec3; 3], normal: DVec3) -> bool {
    let axis = normal.abs().max_position();
    let flat = |p: DVec3| match axis {
        0 => DVec2::new(p.y, p.z),
        1 => DVec2::new(p.z, p.x),
        _ => DVec2::new(p.x, p.y),
    };
    flat_triangles(&a.map(flat), &b.map(flat))
}

fn side(a: DVec2, b: DVec2, p: DVec2) -> f64 {
    (b - a).perp_dot(p - a)
}

fn inside(t: &[DVec2; 3], p: DVec2) -> bool {
    let s = [0, 1, 2].map(|i| side(t[i], t[(i + 1) % 3], p));
    s.iter().all(|x| *x >= 0.0) || s.iter().all(|x| *x <= 0.0)
}

fn flat_triangles(a: &[DVec2; 3], b: &[DVec2; 3]) -> bool {
    let edge_meets = |i: usize| clip(a, b[i], b[(i + 1) % 3]);
    (0..3).any(edge_meets) || inside(b, a[0])
}

/// Whether a segment meets a triangle in its plane, by where its line cuts the edges (H71).
fn clip(t: &[DVec2; 3], from: DVec2, to: DVec2) -> bool {
    let e = t.map(|p| side(from, to, p));
    let mut hits = [DVec2::ZERO; 3];
    let mut count = 0;
    for i in 0..3 {
        let j = (i + 1) % 3;
        if e[i] == 0.0 && count < 3 {
            hits[count] = t[i];
            count += 1;
        }
        if e[i] * e[j] < 0.0 && count < 3 {
            hits[count] = t[i] + (t[j] - t[i]) * (e[i] / (e[i] - e[j]));
            count += 1;
        }
    }
    if count == 0 {
        return false;
    }
    // Along the longer side of the segment.
    let way = (to - from).abs();
    let axis = usize::from(way.y > way.x);
    let (low, high) = (from[axis].min(to[axis]), from[axis].max(to[axis]));
    let reach = hits[..count].iter().map(|h| h[axis]);
    let (first, last) = reach.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| {
        (l.min(x), h.max(x))
    });
    first <= high && low <= last
}

/// The frame of a triangle: along an edge, across it in the plane, and out of the plane. All of length 1, as printed.
struct Frame {
    origin: DVec3,
    axes: [DVec3; 3],
}

impl Frame {
    fn new(a: &[DVec3; 3]) -> Self {
        let along = (a[2] - a[1]).normalize_or_zero();
        let out = (a[2] - a[1]).cross(a[0] - a[1]).normalize_or_zero();
        Self {
            origin: a[1],
            axes: [along, out.cross(along).normalize_or_zero(), out],
        }
    }

    fn of(&self, p: DVec3) -> DVec3 {
        let p = p - self.origin;
        let [x, y, z] = self.axes;
        DVec3::new(x.dot(p), y.dot(p), z.dot(p))
    }
}

fn disjoint(a: [f64; 2], b: [f64; 2]) -> bool {
    let (a_low, a_high) = (a[0].min(a[1]), a[0].max(a[1]));
    let (b_low, b_high) = (b[0].min(b[1]), b[0].max(b[1]));
    a_high < b_low || b_high < a_low
}

/// The projection test before it was improved (H69): all three edges of one triangle are cut with the other's plane, and what is found
/// is sorted by how many cuts there are; one projection rejects.
pub fn original(a: &[DVec3; 3], b: &[DVec3; 3]) -> bool {
    let frame = Frame::new(a);
    let a = a.map(|p| frame.of(p));
    let b = b.map(|p| frame.of(p));
    let signs = b.map(|p| sign(p.z));
    if signs == [1; 3] || signs == [-1; 3] {
        return false;
    }
    let flat_a = a.map(|p| p.truncate());
    if signs == [0; 3] {
        return flat_triangles(&flat_a, &b.map(|p| p.truncate()));
    }
    let mut hits = [DVec2::ZERO; 6];
    let mut count = 0;
    for i in 0..3 {
        let (p, q) = (b[i], b[(i + 1) % 3]);
        let mut add = |at: DVec2| {
            if !hits[..count].contains(&at) {
                hits[count] = at;
                count += 1;
            }
        };
        if p.z == 0.0 {
            add(p.truncate());
        }
        if q.z == 0.0 {
            add(q.truncate());
        }
        if p.z * q.z < 0.0 {
            let share = p.z / (p.z - q.z);
            add(p.truncate() + (q.truncate() - p.truncate()) * share);
        }
    }
    match count {
        0 => false,
        1 => !disjoint([0.0, a[0].y], [hits[0].y; 2]) && inside(&flat_a, hits[0]),
        _ => !disjoint([0.0, a[0].y], [hits[0].y, hits[1].y]) && clip(&flat_a, hits[0], hits[1]),
    }
}

/// The improved projection test as printed (H70): sorted by signs, corners renamed, two projections reject.
pub fn improved(a: &[DVec3; 3], b: &[DVec3; 3]) -> bool {
    let frame = Frame::new(a);
    let b = b.map(|p| frame.of(p));
    let signs = b.map(|p| sign(p.z));
    if signs == [1; 3] || signs == [-1; 3] {
        return false;
    }
    let a = a.map(|p| frame.of(p));
    let flat_a = a.map(|p| p.truncate());
    let across = [0.0, a[0].y];
    let along = [a[0].x.min(0.0), a[0].x.max(a[2].x)];
    let flat = |i: usize| b[i].truncate();
    let cut = |i: usize, j: usize| {
        let (p, q) = (b[i], b[j]);
        let share = p.z.abs() / (p.z.abs() + q.z.abs());
        p.truncate() + (q.truncate() - p.truncate()) * share
    };
    let zeros = signs.iter().filter(|s| **s == 0).count();
    let sum: i8 = signs.iter().sum();
    let lone = |wanted: i8| signs.iter().position(|s| *s == wanted).unwrap_or(0);
    let (left, right) = match (zeros, sum) {
        (3, _) => return flat_triangles(&flat_a, &b.map(|p| p.truncate())),
        (2, _) => {
            let k = lone(sum);
            (flat((k + 1) % 3), flat((k + 2) % 3))
        }
        (1, 0) => {
            let k = lone(0);
            (flat(k), cut((k + 1) % 3, (k + 2) % 3))
        }
        (1, _) => {
            let at = flat(lone(0));
            return !disjoint(across, [at.y; 2])
                && !disjoint(along, [at.x; 2])
                && inside(&flat_a, at);
        }
        _ => {
            let k = lone(-sum.signum());
            (cut(k, (k + 1) % 3), cut(k, (k + 2) % 3))
        }
    };
    !disjoint(across, [left.y, right.y])
        && !disjoint(along, [left.x, right.x])
        && clip(&flat_a, left, right)
}

#[cfg(test)]
mod tests {
    use super::*;
    use trocar_collide::triangle::{
        suite::{Kind, PAIRS},
        touch,
    };

    #[test]
    fn the_forty_pairs_are_known_but_for_rounding() {
        let with_area = |p: &&trocar_collide::triangle::suite::Pair| {
            !p.name.contains("needle") && !p.name.contains("point inside")
        };
        let wrong = |test: fn(&[DVec3; 3], &[DVec3; 3]) -> bool| {
            let is_wrong = |p: &&trocar_collide::triangle::suite::Pair| {
                let [a, b] = p.corners();
                test(&a, &b) != (p.kind != Kind::None)
            };
            PAIRS.iter().filter(with_area).filter(is_wrong).count()
        };
        // Whole numbers are exact in Möller's test; the projections have square roots in them.
        assert_eq!(wrong(moller), 0);
        assert!(wrong(original) <= 2 && wrong(improved) <= 2);
    }

    #[test]
    fn all_agree_where_nothing_is_singular() {
        let mut state = 1_u64;
        let mut next = || {
            state = state
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (state >> 33) as f64 / (1_u64 << 30) as f64 - 1.0
        };
        let mut met = 0;
        for _ in 0..5000 {
            let [a, b] = [0; 2].map(|_| [0; 3].map(|_| DVec3::new(next(), next(), next())));
            let wanted = touch(&a, &b);
            met += usize::from(wanted);
            for test in [moller, original, improved] {
                assert_eq!(test(&a, &b), wanted, "{a:?} {b:?}");
            }
        }
        assert!(met > 500);
    }
}

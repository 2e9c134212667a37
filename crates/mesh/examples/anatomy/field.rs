//! Shapes as functions of space, in mm: negative inside. Distances are true near a tube and good enough elsewhere.

use glam::DVec3;

/// A point in mm.
pub const fn at(x: f64, y: f64, z: f64) -> DVec3 {
    DVec3::new(x, y, z)
}

/// From 0 below `from` to 1 above `to` without a kink; `from` may be the greater.
pub fn ramp(from: f64, to: f64, x: f64) -> f64 {
    let t = ((x - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// A hill of height 1 and the given half width.
pub fn hill(x: f64) -> f64 {
    libm::exp(-x * x)
}

/// The union of two solids with a fillet of about `width`.
pub fn join(a: f64, b: f64, width: f64) -> f64 {
    let h = (width - (a - b).abs()).max(0.0) / width;
    a.min(b) - 0.25 * h * h * width
}

/// What two solids have in common, its edge rounded over about `width`.
pub fn meet(a: f64, b: f64, width: f64) -> f64 {
    -join(-a, -b, width)
}

/// The first solid without the second, the rim rounded over about `width`.
pub fn carve(solid: f64, hollow: f64, width: f64) -> f64 {
    meet(solid, -hollow, width)
}

/// An ellipsoid with half axes along x, y, z.
pub fn ellipsoid(p: DVec3, centre: DVec3, half: DVec3) -> f64 {
    let (q, r) = ((p - centre) / half, (p - centre) / (half * half));
    let (near, far) = (q.length(), r.length());
    if far > 1e-9 {
        near * (near - 1.0) / far
    } else {
        -half.min_element()
    }
}

/// A tube of varying radius along a smooth path.
pub struct Tube {
    stations: Vec<Station>,
}

struct Station {
    centre: DVec3,
    radius: f64,
    /// Length of the path up to here.
    along: f64,
    /// Carried along the path without twisting, across it.
    up: DVec3,
}

/// A place as a tube sees it.
pub struct Place {
    /// Distance from the wall; negative inside.
    pub wall: f64,
    /// Radius of the tube here.
    pub radius: f64,
    /// Length of the path up to here.
    pub along: f64,
    /// Direction around the path, rad; 0 is up, π/2 is to the left of the way.
    pub around: f64,
}

impl Tube {
    /// Through points with radii (x, y, z, radius), as a Catmull–Rom curve.
    pub fn new(points: &[[f64; 4]]) -> Self {
        const PIECES: usize = 10;
        let get = |i: isize| {
            let last = points.len() as isize - 1;
            points[i.clamp(0, last) as usize]
        };
        let mut stations: Vec<Station> = Vec::new();
        let mut up = DVec3::Y;
        for span in 0..points.len() as isize - 1 {
            let [before, start, end, after] = [-1, 0, 1, 2].map(|k| get(span + k));
            let pieces = PIECES + usize::from(span + 2 == points.len() as isize);
            for piece in 0..pieces {
                let t = piece as f64 / PIECES as f64;
                let value: [f64; 4] = std::array::from_fn(|i| {
                    let (a, b, c, d) = (before[i], start[i], end[i], after[i]);
                    let (linear, square) = (c - a, 2.0 * a - 5.0 * b + 4.0 * c - d);
                    let cube = 3.0 * (b - c) + d - a;
                    b + 0.5 * t * (linear + t * (square + t * cube))
                });
                let centre = at(value[0], value[1], value[2]);
                let (along, way) = match stations.last() {
                    Some(last) => (
                        last.along + last.centre.distance(centre),
                        (centre - last.centre).normalize_or_zero(),
                    ),
                    None => (
                        0.0,
                        (at(end[0], end[1], end[2]) - centre).normalize_or_zero(),
                    ),
                };
                up = up.reject_from(way).normalize_or(DVec3::X);
                stations.push(Station {
                    centre,
                    radius: value[3],
                    along,
                    up,
                });
            }
        }
        Self { stations }
    }

    /// Where `p` is as seen from the nearest point of the path.
    pub fn place(&self, p: DVec3) -> Place {
        let mut best = (f64::INFINITY, 0, 0.0);
        for (i, pair) in self.stations.windows(2).enumerate() {
            let (a, b) = (&pair[0], &pair[1]);
            let way = b.centre - a.centre;
            let t = ((p - a.centre).dot(way) / way.length_squared()).clamp(0.0, 1.0);
            let radius = a.radius + t * (b.radius - a.radius);
            let wall = p.distance(a.centre + t * way) - radius;
            if wall < best.0 {
                best = (wall, i, t);
            }
        }
        let (wall, i, t) = best;
        let (a, b) = (&self.stations[i], &self.stations[i + 1]);
        let way = (b.centre - a.centre).normalize_or_zero();
        let up = a.up.lerp(b.up, t).reject_from(way).normalize_or_zero();
        let out = p - a.centre.lerp(b.centre, t);
        Place {
            wall,
            radius: a.radius + t * (b.radius - a.radius),
            along: a.along + t * (b.along - a.along),
            around: libm::atan2(out.dot(up.cross(way)), out.dot(up)),
        }
    }

    /// Distance from the wall; negative inside.
    pub fn wall(&self, p: DVec3) -> f64 {
        self.place(p).wall
    }
}

/// A number from 0 to 1 for every point of a lattice.
fn dice(x: i64, y: i64, z: i64, salt: u64) -> f64 {
    let mut h = salt
        .wrapping_add((x as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15))
        .wrapping_add((y as u64).wrapping_mul(0xC2B2_AE3D_27D4_EB4F))
        .wrapping_add((z as u64).wrapping_mul(0x1656_67B1_9E37_79F9));
    h = (h ^ (h >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    h = (h ^ (h >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((h ^ (h >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

/// Smooth noise from −1 to 1 with waves of about the given length.
pub fn noise(p: DVec3, length: f64, salt: u64) -> f64 {
    let q = p / length;
    let base = q.floor();
    let f = q - base;
    let s = f * f * (DVec3::splat(3.0) - 2.0 * f);
    let corner = |i: i64, j: i64, k: i64| {
        dice(
            base.x as i64 + i,
            base.y as i64 + j,
            base.z as i64 + k,
            salt,
        )
    };
    let mix = |a: f64, b: f64, t: f64| a + t * (b - a);
    let edge = |j, k| mix(corner(0, j, k), corner(1, j, k), s.x);
    let face = |k| mix(edge(0, k), edge(1, k), s.y);
    2.0 * mix(face(0), face(1), s.z) - 1.0
}

/// Rounded cells of about the given size, like lobules of fat: 1 in the middle of a cell, 0 at its border.
pub fn lobules(p: DVec3, size: f64, salt: u64) -> f64 {
    let q = p / size;
    let base = q.floor();
    let (mut first, mut second) = (f64::INFINITY, f64::INFINITY);
    for i in -1..=1 {
        for j in -1..=1 {
            for k in -1..=1 {
                let (x, y, z) = (base.x as i64 + i, base.y as i64 + j, base.z as i64 + k);
                let jitter = |salt| dice(x, y, z, salt);
                let seed = at(x as f64, y as f64, z as f64)
                    + at(jitter(salt + 1), jitter(salt + 2), jitter(salt + 3));
                let away = q.distance(seed);
                if away < first {
                    (first, second) = (away, first);
                } else {
                    second = second.min(away);
                }
            }
        }
    }
    let rim = (second - first).clamp(0.0, 1.0);
    1.0 - (1.0 - rim) * (1.0 - rim)
}

//! Surfaces that deform.

use glam::DVec3;
use trocar_math::real;

/// A closed surface and where its nodes are in a number of frames.
pub struct Mesh {
    /// Corners.
    pub triangles: Vec<[u32; 3]>,
    /// Positions by node, m, for each frame.
    pub frames: Vec<Vec<DVec3>>,
}

/// How many frames there are: enough for the branch predictor not to know them by heart.
pub const FRAMES: usize = 8;

/// An organ as large as a fist with about `2 * around * rows` triangles around `centre` (m) whose surface waves.
pub fn organ(around: u32, rows: u32, centre: DVec3) -> Mesh {
    let (triangles, directions) = sphere(around, rows);
    let frame = |k: usize| {
        let phase = k as f64 * 0.4;
        let place = |n: &DVec3| {
            let wave =
                real::sin(9.0 * n.x + phase) + real::sin(11.0 * n.y - phase) * real::cos(7.0 * n.z);
            centre + *n * (0.05 + 0.001 * wave)
        };
        directions.iter().map(place).collect()
    };
    Mesh {
        triangles,
        frames: (0..FRAMES).map(frame).collect(),
    }
}

/// A ball of radius 1 with `rows` rings of nodes between two poles.
fn sphere(around: u32, rows: u32) -> (Vec<[u32; 3]>, Vec<DVec3>) {
    let mut nodes = vec![DVec3::Z];
    for r in 1..=rows {
        let polar = std::f64::consts::PI * f64::from(r) / f64::from(rows + 1);
        for c in 0..around {
            let turn =
                std::f64::consts::TAU * (f64::from(c) + 0.5 * f64::from(r % 2)) / f64::from(around);
            nodes.push(DVec3::new(
                real::sin(polar) * real::cos(turn),
                real::sin(polar) * real::sin(turn),
                real::cos(polar),
            ));
        }
    }
    nodes.push(DVec3::NEG_Z);
    let at = |r: u32, c: u32| 1 + (r - 1) * around + c % around;
    let last = nodes.len() as u32 - 1;
    let mut triangles = Vec::new();
    for c in 0..around {
        triangles.push([0, at(1, c), at(1, c + 1)]);
        triangles.push([last, at(rows, c + 1), at(rows, c)]);
        for r in 1..rows {
            let (p, q) = (at(r, c), at(r, c + 1));
            // Every second row is turned by half a node.
            let (s, t) = (at(r + 1, c), at(r + 1, c + 1));
            if r % 2 == 0 {
                triangles.push([p, s, t]);
                triangles.push([p, t, q]);
            } else {
                triangles.push([p, s, q]);
                triangles.push([q, s, t]);
            }
        }
    }
    (triangles, nodes)
}

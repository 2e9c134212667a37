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

/// The same surface with a node in the middle of every triangle: twice as many triangles are around the others, twelve around most.
pub fn starred(mesh: &Mesh) -> Mesh {
    let first = mesh.frames.first().map_or(0, Vec::len) as u32;
    let fans = (first..)
        .zip(&mesh.triangles)
        .flat_map(|(m, [a, b, c])| [[*a, *b, m], [*b, *c, m], [*c, *a, m]]);
    let frame = |nodes: &Vec<DVec3>| {
        let middle = |t: &[u32; 3]| t.iter().map(|n| nodes[*n as usize]).sum::<DVec3>() / 3.0;
        let middles = mesh.triangles.iter().map(middle);
        nodes.iter().copied().chain(middles).collect()
    };
    Mesh {
        triangles: fans.collect(),
        frames: mesh.frames.iter().map(frame).collect(),
    }
}

/// A ball of radius 1 with `rows` rings of nodes between two poles.
pub fn sphere(around: u32, rows: u32) -> (Vec<[u32; 3]>, Vec<DVec3>) {
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

/// An instrument of 1248 triangles, 12 cm long and 8 mm thick, around the origin along x.
pub fn tool() -> (Vec<[u32; 3]>, Vec<DVec3>) {
    let (triangles, nodes) = sphere(24, 26);
    let place = |n: &DVec3| {
        // A rounded rod: mostly straight.
        let round = DVec3::new(0.0, n.x, n.y).normalize_or_zero();
        let thick = (1.0 - n.z * n.z * n.z * n.z).max(0.0).sqrt();
        round * 0.004 * thick + DVec3::X * 0.06 * n.z
    };
    (triangles, nodes.iter().map(place).collect())
}

/// All faces, inner ones too, of a ball of 6 · `cells`³ tetrahedra around `centre` (m): what Huang counted as the liver's 9313 triangles
/// were all faces of its 4230 tetrahedra. With 9 cells to a side there are 9234 faces of 4374.
pub fn lattice(cells: u32, centre: DVec3) -> (Vec<[u32; 3]>, Vec<DVec3>) {
    let side = cells + 1;
    let index = |p: [u32; 3]| (p[0] * side + p[1]) * side + p[2];
    let range = || 0..side;
    let points = range().flat_map(|x| range().flat_map(move |y| range().map(move |z| [x, y, z])));
    let place = |p: [u32; 3]| {
        let cube = DVec3::from(p.map(|x| 2.0 * f64::from(x) / f64::from(cells) - 1.0));
        // Cubes within cubes become balls within balls.
        let length = cube.length();
        let scale = if length > 0.0 {
            cube.abs().max_element() / length
        } else {
            0.0
        };
        centre + cube * (scale * 0.05)
    };
    let nodes: Vec<DVec3> = points.map(place).collect();
    // Each way from one corner of a cube to the opposite one along three edges is a tetrahedron.
    const WAYS: [[usize; 3]; 6] = [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ];
    let mut faces = Vec::new();
    let each = || 0..cells;
    for cube in each().flat_map(|x| each().flat_map(move |y| each().map(move |z| [x, y, z]))) {
        for way in WAYS {
            let mut at = cube;
            let mut corners = [index(at); 4];
            for (k, axis) in way.into_iter().enumerate() {
                at[axis] += 1;
                corners[k + 1] = index(at);
            }
            for left_out in 0..4 {
                let mut face = [0; 3];
                let kept = corners.iter().enumerate().filter(|(k, _)| *k != left_out);
                kept.zip(&mut face).for_each(|((_, c), f)| *f = *c);
                face.sort_unstable();
                faces.push(face);
            }
        }
    }
    faces.sort_unstable();
    faces.dedup();
    (faces, nodes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_have_the_triangles_of_the_source_or_nearly() {
        assert_eq!(lattice(9, DVec3::ZERO).0.len(), 9234);
        assert_eq!(tool().0.len(), 1248);
    }

    #[test]
    fn an_organ_is_closed() {
        for (around, rows) in [(70, 34), (24, 26)] {
            let (triangles, nodes) = sphere(around, rows);
            let mut edges: Vec<[u32; 2]> = triangles
                .iter()
                .flat_map(|t| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]])
                .collect();
            edges.sort_unstable();
            // Each edge is there once in each direction.
            assert!(edges.windows(2).all(|e| e[0] != e[1]));
            assert!(
                edges
                    .iter()
                    .all(|e| edges.binary_search(&[e[1], e[0]]).is_ok())
            );
            assert_eq!(nodes.len() + triangles.len(), edges.len() / 2 + 2);
        }
    }
}

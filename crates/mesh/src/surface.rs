//! The indexed triangle surface, and what can be measured on it.

use glam::DVec3;

use crate::limit::{MAX_COORDINATE, MAX_TRIANGLES, MAX_VERTICES};
use crate::normals::normals_into;
use crate::sides::sides;

/// An indexed triangle surface: organs, instruments, sheets.
///
/// Seen from outside, the corners of a triangle go round counter-clockwise. Anything may stand in the public fields;
/// every method is defined for all of it (a triangle that names a missing vertex counts as absent), and
/// [`Surface::check`] tells whether the surface is fit for use.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Surface {
    /// Vertex positions, m.
    pub positions: Vec<DVec3>,
    /// Three indices into `positions` for each triangle.
    pub triangles: Vec<[u32; 3]>,
}

/// The smallest axis-aligned box around something, m.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// The corner with the smallest coordinates, m.
    pub min: DVec3,
    /// The corner with the largest coordinates, m.
    pub max: DVec3,
}

impl Bounds {
    /// The length of the box's diagonal, m.
    pub fn diagonal(&self) -> f64 {
        (self.max - self.min).length()
    }

    /// The middle of the box, m.
    pub fn centre(&self) -> DVec3 {
        0.5 * (self.min + self.max)
    }
}

/// Why a surface is not fit for use.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SurfaceError {
    /// There is nothing to simulate.
    #[error("there are no triangles; {}", self.remedy())]
    Empty,
    /// More than [`MAX_VERTICES`].
    #[error("{count} vertices are more than the limit of {MAX_VERTICES}; {}", self.remedy())]
    TooManyVertices {
        /// How many there are.
        count: usize,
    },
    /// More than [`MAX_TRIANGLES`].
    #[error("{count} triangles are more than the limit of {MAX_TRIANGLES}; {}", self.remedy())]
    TooManyTriangles {
        /// How many there are.
        count: usize,
    },
    /// A coordinate is NaN, infinite, or beyond [`MAX_COORDINATE`].
    #[error("vertex {vertex} is at {position}, but coordinates must lie within ±{MAX_COORDINATE:e}; {}", self.remedy())]
    BadPosition {
        /// Which vertex, from 0.
        vertex: usize,
        /// Where it claims to be.
        position: DVec3,
    },
    /// A triangle names a vertex that does not exist.
    #[error("triangle {triangle} uses vertex {vertex}, but there are only {count} vertices; {}", self.remedy())]
    MissingVertex {
        /// Which triangle, from 0.
        triangle: usize,
        /// The vertex it names.
        vertex: u32,
        /// How many vertices there are.
        count: usize,
    },
}

impl SurfaceError {
    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            SurfaceError::Empty => {
                "export the surface as triangles or polygons, not as points or lines"
            }
            SurfaceError::TooManyVertices { .. } | SurfaceError::TooManyTriangles { .. } => {
                "decimate the mesh"
            }
            SurfaceError::BadPosition { .. } | SurfaceError::MissingVertex { .. } => {
                "export the mesh again, or repair it"
            }
        }
    }
}

/// Whether a position may be used: finite and within [`MAX_COORDINATE`].
pub(crate) fn usable(position: DVec3) -> bool {
    // A comparison with NaN is false, so this refuses NaN too.
    position.abs().cmple(DVec3::splat(MAX_COORDINATE)).all()
}

impl Surface {
    /// Is this surface fit for use: not empty, not too large, all numbers finite, all indices in range?
    ///
    /// Says nothing of holes or orientation; see [`Surface::topology`].
    pub fn check(&self) -> Result<(), SurfaceError> {
        check(&self.positions, &self.triangles)
    }

    /// The corner positions of `triangle`, m, or nothing if one of its vertices is missing.
    pub fn corners(&self, triangle: [u32; 3]) -> Option<[DVec3; 3]> {
        corners(&self.positions, triangle)
    }

    /// The box around all vertices, m, or nothing if there are none.
    pub fn bounds(&self) -> Option<Bounds> {
        let &first = self.positions.first()?;
        let start = Bounds {
            min: first,
            max: first,
        };
        Some(self.positions.iter().fold(start, |b, &p| Bounds {
            min: b.min.min(p),
            max: b.max.max(p),
        }))
    }

    /// Unit vertex normals, weighted by the area of the triangles around; zero where a vertex has no area around it.
    ///
    /// For a surface that deforms every step, use [`normals_into`], which reuses its memory.
    pub fn normals(&self) -> Vec<DVec3> {
        let mut normals = Vec::new();
        normals_into(&self.positions, &self.triangles, &mut normals);
        normals
    }

    /// The area of all triangles, m².
    pub fn area(&self) -> f64 {
        self.all_corners()
            .map(|[a, b, c]| 0.5 * (b - a).cross(c - a).length())
            .sum()
    }

    /// The signed volume enclosed, m³: positive if the triangles face outwards. Only a closed surface has one that does
    /// not depend on where the surface stands.
    pub fn volume(&self) -> f64 {
        // Measured from the middle of the surface: far from the origin, the cones would be huge and cancel badly.
        let centre = self.bounds().map_or(DVec3::ZERO, |b| b.centre());
        self.all_corners()
            .map(|[a, b, c]| (a - centre).dot((b - centre).cross(c - centre)) / 6.0)
            .sum()
    }

    /// Every edge once, the lower index first, in ascending order.
    pub fn edges(&self) -> Vec<[u32; 2]> {
        let mut edges: Vec<_> = sides(self).iter().map(|side| side.edge).collect();
        edges.dedup();
        edges
    }

    /// Turns all triangles over, so that what was outside is inside.
    pub fn flip(&mut self) {
        for triangle in &mut self.triangles {
            triangle.swap(1, 2);
        }
    }

    /// The same surface with every triangle cut into four through the middles of its sides. Vertices keep their numbers; those of the middles of
    /// [`edges`](Self::edges) come after them, in that order.
    pub fn quartered(&self) -> Self {
        let edges = self.edges();
        let first = self.positions.len() as u32;
        let at = |n: u32| self.positions.get(n as usize).copied();
        let middle = |edge: &[u32; 2]| match edge.map(at) {
            [Some(a), Some(b)] => 0.5 * (a + b),
            _ => DVec3::NAN,
        };
        let between = |a: u32, b: u32| {
            let place = edges.binary_search(&[a.min(b), a.max(b)]);
            place.map_or(u32::MAX, |k| first + k as u32)
        };
        let four = |&[a, b, c]: &[u32; 3]| {
            let [ab, bc, ca] = [between(a, b), between(b, c), between(c, a)];
            [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
        };
        Self {
            positions: self
                .positions
                .iter()
                .copied()
                .chain(edges.iter().map(middle))
                .collect(),
            triangles: self.triangles.iter().flat_map(four).collect(),
        }
    }

    fn all_corners(&self) -> impl Iterator<Item = [DVec3; 3]> {
        self.triangles.iter().filter_map(|&t| self.corners(t))
    }
}

/// See [`Surface::check`].
pub(crate) fn check(positions: &[DVec3], triangles: &[[u32; 3]]) -> Result<(), SurfaceError> {
    let count = positions.len();
    if triangles.is_empty() {
        return Err(SurfaceError::Empty);
    }
    if count > MAX_VERTICES {
        return Err(SurfaceError::TooManyVertices { count });
    }
    if triangles.len() > MAX_TRIANGLES {
        return Err(SurfaceError::TooManyTriangles {
            count: triangles.len(),
        });
    }
    check_positions(positions)?;
    for (triangle, corners) in triangles.iter().enumerate() {
        if let Some(&vertex) = corners.iter().find(|&&v| v as usize >= count) {
            return Err(SurfaceError::MissingVertex {
                triangle,
                vertex,
                count,
            });
        }
    }
    Ok(())
}

/// The part of [`Surface::check`] that a deformation can change.
pub(crate) fn check_positions(positions: &[DVec3]) -> Result<(), SurfaceError> {
    match positions.iter().position(|&p| !usable(p)) {
        Some(vertex) => Err(SurfaceError::BadPosition {
            vertex,
            position: positions[vertex],
        }),
        None => Ok(()),
    }
}

/// See [`Surface::corners`].
pub(crate) fn corners(positions: &[DVec3], [a, b, c]: [u32; 3]) -> Option<[DVec3; 3]> {
    let at = |i: u32| positions.get(i as usize).copied();
    Some([at(a)?, at(b)?, at(c)?])
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A tetrahedron with corners at the origin and one metre along each axis, facing outwards.
    pub(crate) fn tetrahedron() -> Surface {
        Surface {
            positions: vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z],
            triangles: vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]],
        }
    }

    #[test]
    fn a_corner_of_a_cube_has_known_measures() {
        let surface = tetrahedron();
        assert_eq!(surface.check(), Ok(()));
        assert!((surface.volume() - 1.0 / 6.0).abs() < 1e-15);
        assert!((surface.area() - (1.5 + 0.75_f64.sqrt())).abs() < 1e-15);
        assert_eq!(
            surface.bounds(),
            Some(Bounds {
                min: DVec3::ZERO,
                max: DVec3::ONE
            })
        );
        assert_eq!(
            surface.edges(),
            [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
        );
    }

    #[test]
    fn a_quartered_surface_is_the_same_with_four_times_the_triangles() {
        let whole = tetrahedron();
        let fine = whole.quartered();
        assert_eq!(fine.check(), Ok(()));
        assert_eq!((fine.triangles.len(), fine.positions.len()), (16, 10));
        assert_eq!(fine.positions[..4], whole.positions);
        assert!((fine.area() - whole.area()).abs() < 1e-15);
        assert!((fine.volume() - whole.volume()).abs() < 1e-15);
        let closed = fine.edges().len() * 2 == fine.triangles.len() * 3;
        assert!(closed);
        for (k, [a, b]) in whole.edges().into_iter().enumerate() {
            let middle = whole.positions[a as usize].midpoint(whole.positions[b as usize]);
            assert_eq!(fine.positions[4 + k], middle);
        }
        assert_eq!(Surface::default().quartered(), Surface::default());
    }

    #[test]
    fn volume_does_not_depend_on_place() {
        let mut surface = tetrahedron();
        surface
            .positions
            .iter_mut()
            .for_each(|p| *p += DVec3::splat(1e6));
        assert!((surface.volume() - 1.0 / 6.0).abs() < 1e-9);
        surface.flip();
        assert!((surface.volume() + 1.0 / 6.0).abs() < 1e-9);
    }

    #[test]
    fn check_names_the_place() {
        assert_eq!(Surface::default().check(), Err(SurfaceError::Empty));
        let mut surface = tetrahedron();
        surface.triangles[2][1] = 4;
        assert_eq!(
            surface.check(),
            Err(SurfaceError::MissingVertex {
                triangle: 2,
                vertex: 4,
                count: 4
            })
        );
        // Absent triangles do not disturb the measures.
        assert!(surface.area().is_finite() && surface.volume().is_finite());
        assert_eq!(surface.edges().len(), 6);

        for bad in [f64::NAN, f64::INFINITY, 1e13] {
            let mut surface = tetrahedron();
            surface.positions[3].y = bad;
            assert!(
                matches!(
                    surface.check(),
                    Err(SurfaceError::BadPosition { vertex: 3, .. })
                ),
                "{bad}"
            );
        }
    }
}

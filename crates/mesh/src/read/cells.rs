//! Volume meshes: the boundary of tetrahedra is the surface.

use glam::DVec3;

use super::error::ParseError;
use super::format::Format;
use super::polygons::{add_polygon, add_strip, finish};
use super::scan::Scan;
use crate::limit::MAX_TRIANGLES;
use crate::surface::Surface;

/// Points with polygons and tetrahedra, as volume formats have them.
#[derive(Debug, Default)]
pub(super) struct Cells {
    /// Points and polygons.
    pub surface: Surface,
    tetrahedra: Vec<[u32; 4]>,
}

impl Cells {
    /// Adds a cell of VTK's numbering. Points and lines are passed over; cells that are no simplices are refused.
    pub fn add(
        &mut self,
        vtk_type: i64,
        corners: &[i64],
        scan: &Scan<'_>,
    ) -> Result<(), ParseError> {
        match vtk_type {
            // Empty, points, lines.
            0..=4 => Ok(()),
            5 | 7 | 9 => add_polygon(&mut self.surface, corners, scan),
            6 => add_strip(&mut self.surface, corners, scan),
            8 => match *corners {
                // A pixel: a quad with its last two corners the other way round.
                [a, b, c, d] => add_polygon(&mut self.surface, &[a, b, d, c], scan),
                _ => Err(scan.broken("a pixel has not four corners")),
            },
            10 => self.add_tetrahedron(corners, scan),
            other => {
                let name = match other {
                    11 => " (voxel)",
                    12 => " (hexahedron)",
                    13 => " (wedge)",
                    14 => " (pyramid)",
                    21.. => " (curved)",
                    _ => "",
                };
                let remedy = "convert it to tetrahedra or triangles, for example with ParaView's Tetrahedralize filter";
                Err(scan.error(format!("cells of type {other}{name} are not read"), remedy))
            }
        }
    }

    fn add_tetrahedron(&mut self, corners: &[i64], scan: &Scan<'_>) -> Result<(), ParseError> {
        let count = self.surface.positions.len();
        let vertex = |&index: &i64| u32::try_from(index).ok().filter(|&v| (v as usize) < count);
        let vertices: Option<Vec<u32>> = corners.iter().map(vertex).collect();
        let Some(tetrahedron) = vertices.and_then(|v| <[u32; 4]>::try_from(v).ok()) else {
            let problem = format!(
                "a tetrahedron has the vertices {corners:?}, but needs four of the {count} there are"
            );
            return Err(scan.broken(problem));
        };
        self.tetrahedra.push(tetrahedron);
        if self.tetrahedra.len() > MAX_TRIANGLES {
            return Err(scan.error(
                format!("there are more than {MAX_TRIANGLES} tetrahedra"),
                "coarsen the mesh",
            ));
        }
        Ok(())
    }

    /// The polygons if there are no tetrahedra; else the boundary of the tetrahedra, facing outwards, without the
    /// vertices inside. Triangles beside tetrahedra are passed over: mesh generators write the boundary twice.
    pub fn into_surface(self, format: Format) -> Result<Surface, ParseError> {
        let mut surface = self.surface;
        if !self.tetrahedra.is_empty() {
            surface.triangles = boundary(&surface.positions, &self.tetrahedra);
            surface.remove_unreferenced();
        }
        finish(surface, format)
    }
}

/// The faces that belong to one tetrahedron only, in the order of the tetrahedra.
fn boundary(positions: &[DVec3], tetrahedra: &[[u32; 4]]) -> Vec<[u32; 3]> {
    let mut faces = Vec::with_capacity(4 * tetrahedra.len());
    for &[a, b, c, d] in tetrahedra {
        let [p, q, r, s] = [a, b, c, d].map(|v| positions[v as usize]);
        let inverted = (q - p).cross(r - p).dot(s - p) < 0.0;
        for [x, y, z] in [[a, c, b], [a, b, d], [b, c, d], [a, d, c]] {
            let face = if inverted { [x, z, y] } else { [x, y, z] };
            let mut key = face;
            key.sort_unstable();
            faces.push((key, faces.len(), face));
        }
    }
    faces.sort_unstable();
    let mut outer: Vec<_> = faces
        .chunk_by(|a, b| a.0 == b.0)
        .filter(|group| group.len() == 1)
        .map(|group| group[0])
        .collect();
    outer.sort_unstable_by_key(|face| face.1);
    outer.into_iter().map(|face| face.2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_tetrahedra_have_six_faces_outwards() {
        let scan = Scan::new(b"", Format::Vtk);
        let mut cells = Cells::default();
        cells.surface.positions = vec![
            DVec3::ZERO,
            DVec3::X,
            DVec3::Y,
            DVec3::Z,
            DVec3::ONE,
            DVec3::ONE,
        ];
        cells.add(10, &[0, 1, 2, 3], &scan).unwrap();
        cells.add(10, &[1, 3, 2, 4], &scan).unwrap();
        cells.add(5, &[1, 2, 3], &scan).unwrap();
        cells.add(1, &[1], &scan).unwrap();
        assert!(cells.add(10, &[1, 3, 2, 6], &scan).is_err());
        assert!(cells.add(10, &[1, 3, 2], &scan).is_err());
        assert!(
            cells
                .add(12, &[0; 8], &scan)
                .unwrap_err()
                .to_string()
                .contains("hexahedron")
        );
        let surface = cells.into_surface(Format::Vtk).unwrap();
        assert_eq!((surface.positions.len(), surface.triangles.len()), (5, 6));
        assert!(surface.topology().is_closed() && surface.topology().is_oriented());
        assert!((surface.volume() - 0.5).abs() < 1e-15);
    }
}

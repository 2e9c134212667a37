//! A flat sheet of equilateral triangles: what tears are tried on.

use glam::DVec3;

use super::shape::{MAX_NODES, ShapeError, all_usable, at_least};
use crate::surface::Surface;

/// A rectangle of equilateral triangles in the plane z = 0. Rows of nodes have alternately `columns` and one more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HexagonalShape {
    /// Rows of nodes, 2 or more.
    pub rows: usize,
    /// Nodes of the first row and every second after it, 1 or more.
    pub columns: usize,
    /// Length of every edge, m.
    pub edge: f64,
}

impl HexagonalShape {
    /// The sheet of the source's tests: 367 nodes, 1026 edges of half a millimetre, 660 triangles (B1).
    pub const STANDARD: Self = Self {
        rows: 21,
        columns: 17,
        edge: 0.5e-3,
    };

    /// The strip of the source's tests: 132 triangles (B8).
    pub const STRIP: Self = Self {
        rows: 5,
        columns: 17,
        edge: 0.5e-3,
    };

    /// The sheet, facing +z, row by row.
    pub fn surface(&self) -> Result<Surface, ShapeError> {
        let Self {
            rows,
            columns,
            edge,
        } = *self;
        at_least("rows", rows, 2)?;
        at_least("columns", columns, 1)?;
        if rows.saturating_mul(columns.saturating_add(1)) > MAX_NODES {
            return Err(ShapeError::TooManyNodes { rows, columns });
        }
        all_usable("edge", &[DVec3::splat(edge)])?;
        if edge <= 0.0 {
            let (u, v) = (DVec3::X * edge, DVec3::Y * edge);
            return Err(ShapeError::FlatSheet { u, v });
        }
        let height = 0.75_f64.sqrt() * edge;
        let mut surface = Surface::default();
        let mut start = 0_u32;
        for row in 0..rows {
            let wide = row % 2 == 1;
            let count = columns + usize::from(wide);
            let shift = if wide { 0.0 } else { 0.5 };
            surface.positions.extend((0..count).map(|column| {
                DVec3::new((column as f64 + shift) * edge, row as f64 * height, 0.0)
            }));
            if row + 1 < rows {
                let above = start + count as u32;
                for k in 0..columns as u32 {
                    if wide {
                        surface
                            .triangles
                            .push([start + k, start + k + 1, above + k]);
                        if k + 1 < columns as u32 {
                            surface
                                .triangles
                                .push([start + k + 1, above + k + 1, above + k]);
                        }
                    } else {
                        surface
                            .triangles
                            .push([start + k, above + k + 1, above + k]);
                        if k + 1 < columns as u32 {
                            surface
                                .triangles
                                .push([start + k, start + k + 1, above + k + 1]);
                        }
                    }
                }
            }
            start += count as u32;
        }
        Ok(surface)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_sheet_has_the_counts_of_the_source() {
        let surface = HexagonalShape::STANDARD.surface().unwrap();
        let topology = surface.topology();
        assert_eq!(
            (topology.vertices, topology.edges, topology.triangles),
            (367, 1026, 660)
        );
        assert_eq!((topology.boundary_edges, topology.euler()), (72, 1));
        assert!(topology.is_manifold() && topology.is_oriented());
        let size = surface.bounds().unwrap();
        assert!((size.max - DVec3::new(8.5e-3, 8.660_254e-3, 0.0)).length() < 1e-8);
        assert!(surface.normals().iter().all(|n| n.z > 0.99));
        let strip = HexagonalShape::STRIP.surface().unwrap().topology();
        assert_eq!(strip.triangles, 132);
    }
}

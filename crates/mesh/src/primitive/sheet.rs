//! The open sheet (K74): connective tissue, membranes, cloth.

use glam::DVec3;

use super::lattice::{Lattice, LatticeEdge};
use super::shape::{ShapeError, all_usable};
use crate::surface::Surface;

/// What a flat sheet should look like: a parallelogram of `rows` × `columns` nodes facing u × v.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SheetShape {
    /// Where node (0, 0) lies, m.
    pub origin: DVec3,
    /// From the first to the last column, m.
    pub u: DVec3,
    /// From the first to the last row, m.
    pub v: DVec3,
    /// Nodes along `v`, 2 or more.
    pub rows: usize,
    /// Nodes along `u`, 2 or more.
    pub columns: usize,
}

impl SheetShape {
    /// The sheet. Node (row, column) is vertex `row * columns + column`.
    pub fn surface(&self) -> Result<Surface, ShapeError> {
        let &SheetShape {
            origin,
            u,
            v,
            rows,
            columns,
        } = self;
        let lattice = self.lattice()?;
        all_usable("origin", &[origin])?;
        all_usable("side", &[u, v])?;
        // Sides less than a millionth of a radian apart are a mistake, not a sheet. "Not greater" also catches zero.
        let sine = u.normalize_or_zero().cross(v.normalize_or_zero()).length();
        if sine <= 1e-6 {
            return Err(ShapeError::FlatSheet { u, v });
        }
        let position = |node: usize| {
            let (row, column) = (node / columns, node % columns);
            origin
                + u * (column as f64 / (columns - 1) as f64)
                + v * (row as f64 / (rows - 1) as f64)
        };
        let positions = (0..rows * columns).map(position).collect();
        Ok(Surface {
            positions,
            triangles: lattice.triangles(),
        })
    }

    /// How its nodes hang together.
    pub fn lattice(&self) -> Result<Lattice, ShapeError> {
        Lattice::sheet(self.rows, self.columns)
    }

    /// Where its springs go: every edge of net C, with what it runs along.
    pub fn lattice_edges(&self) -> Result<Vec<LatticeEdge>, ShapeError> {
        Ok(self.lattice()?.edges())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHEET: SheetShape = SheetShape {
        origin: DVec3::ONE,
        u: DVec3::X,
        v: DVec3::new(0.0, 2.0, 0.0),
        rows: 5,
        columns: 4,
    };

    #[test]
    fn a_sheet_is_a_disc_facing_u_cross_v() {
        let surface = SHEET.surface().unwrap();
        assert_eq!(surface.check(), Ok(()));
        let topology = surface.topology();
        assert_eq!((topology.euler(), topology.boundary_edges), (1, 14));
        assert!(topology.is_manifold() && topology.is_oriented());
        assert!((surface.area() - 2.0).abs() < 1e-14);
        assert!(
            surface
                .normals()
                .iter()
                .all(|n| n.abs_diff_eq(DVec3::Z, 1e-15))
        );
        assert_eq!(surface.positions[4 * 4 + 3], DVec3::new(2.0, 3.0, 1.0));
        assert_eq!(
            SHEET.lattice_edges().unwrap().len(),
            5 * 3 + 4 * 4 + 2 * 4 * 3
        );
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(matches!(
            SheetShape { rows: 1, ..SHEET }.surface(),
            Err(ShapeError::TooFew { what: "rows", .. })
        ));
        assert!(matches!(
            SheetShape {
                rows: usize::MAX,
                ..SHEET
            }
            .surface(),
            Err(ShapeError::TooManyNodes { .. })
        ));
        assert!(matches!(
            SheetShape {
                v: DVec3::X,
                ..SHEET
            }
            .surface(),
            Err(ShapeError::FlatSheet { .. })
        ));
        assert!(matches!(
            SheetShape {
                v: DVec3::ZERO,
                ..SHEET
            }
            .surface(),
            Err(ShapeError::FlatSheet { .. })
        ));
        assert!(matches!(
            SheetShape {
                u: DVec3::NAN,
                ..SHEET
            }
            .surface(),
            Err(ShapeError::NotFinite { .. })
        ));
    }
}

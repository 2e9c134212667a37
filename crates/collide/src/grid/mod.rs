//! Distance grids: how deep a point is in a body that keeps its form, in a few nanoseconds and whatever its form (F12–F20).
//!
//! For a grid of points about the body, the signed depth and the nearest point of its surface are worked out beforehand: exactly, by a
//! tree over the triangles, and with the sign from how often the surface winds about the point (F25), so that sharp, concave, thin and touching
//! parts come out right. (The source takes the nearest centroid and its normal, and the winding by one point a triangle; both
//! are wrong where it matters.) A query interpolates the eight corners of a cell.
//!
//! Points are kept near the surface only, in blocks of 4³ cells. Deep inside there are eight for a whole block, far outside none. Near the
//! surface the error of a depth falls with the square of the cells; in the midst of a body, where nearest points are on all sides, it is up to two cells.
//!
//! Contact is found in three stages, each with an early exit (F12): boxes, points in the box, the grid. There is no
//! iteration (F16). A point that lies on the surface touches (F20).

mod build;
mod cell;
mod detect;
mod face;
mod file;
mod tree;

use cell::Block;
use glam::{DVec3, Vec4};
use trocar_math::{Bounds, f64x4};

pub use build::GridError;
pub use detect::{DetectError, Sunk};
pub use face::Dent;
pub use file::{DamagedGrid, MAGIC};
pub use tree::{Nearest, Tree, solid_angle};

/// Cells along the edge of a block.
const SIDE: usize = 4;
/// Points along it.
const POINTS: usize = SIDE + 1;
/// Points of a block with all its cells.
const FULL: usize = POINTS * POINTS * POINTS;
/// Points of a block that has only its corners.
const CORNERS: usize = 8;

/// The grid of a body, in the body's frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// Its least corner, m.
    low: DVec3,
    /// Edge of a cell, m.
    cell: f64,
    /// How far outside it puts points of the surface, m.
    error: f64,
    /// Blocks along each axis.
    size: [u32; 3],
    blocks: Vec<Block>,
    /// For each point: the way to the nearest point of the surface in cells, and the depth in cells, positive inside.
    values: Vec<Vec4>,
}

/// How a point lies to a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Depth {
    /// How deep it is, m; below 0 outside.
    pub depth: f64,
    /// The way out, unit length: against the gradient of the depth. Zero where all ways are equally long.
    pub normal: DVec3,
    /// The nearest point of the surface (F18), m.
    pub surface: DVec3,
}

impl Grid {
    /// The box of the grid in the body's frame, m. Outside of it nothing touches.
    pub fn bounds(&self) -> Bounds {
        let size = DVec3::from(self.size.map(|n| f64::from(n) * SIDE as f64));
        Bounds {
            low: self.low,
            high: self.low + size * self.cell,
        }
    }

    /// Edge of a cell, m.
    pub fn cell(&self) -> f64 {
        self.cell
    }

    /// The farthest that any of the body may seem to lie outside, m: small where its surface is smooth, 0.87 cells where something is sharp or thinner than a cell. As the skin of
    /// [`detect`](Self::detect) it makes sure that nothing is overlooked.
    pub fn error(&self) -> f64 {
        self.error
    }

    /// How many grid points are kept; those that blocks share count once for each.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// True if it keeps no point, which no grid of a body does.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// How a point of the body's frame lies to it; nothing if it is farther outside than the grid knows (F19).
    #[inline]
    pub fn at(&self, p: DVec3) -> Option<Depth> {
        let reader = self.reader();
        let q = (p - self.low) / self.cell;
        let (known, cell) = reader.locate(f64x4::new([q.x, q.y, q.z, 0.0]));
        known.then(|| {
            let mean = reader.mean(&cell);
            let found = reader.depth(&cell, mean);
            Depth {
                depth: f64::from(mean.w) * self.cell,
                normal: found.normal,
                surface: p + found.way * self.cell,
            }
        })
    }
}

#[cfg(test)]
mod tests;

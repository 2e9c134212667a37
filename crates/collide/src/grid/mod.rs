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
mod way;

use cell::Block;
use glam::{DMat3, DVec3, Vec4};
use trocar_math::{Bounds, Pose, f64x4};

pub use build::{GridError, Limits};
pub use detect::{DetectError, Sunk};
pub use face::Dent;
pub use file::{DamagedGrid, MAGIC};
pub use tree::{Nearest, Tree, solid_angle};

/// How much deeper a point may be than another one, for each unit of way between them: each of the three parts of the way to the surface changes by at most 1.
const STEEPEST: f64 = 1.732_050_807_568_877_3;

/// A part of a triangle: weights of its corners in the whole, or where they are.
pub(crate) type Part = [DVec3; 3];

/// A part cut across the edge that begins at one of its corners.
pub(crate) fn halves(part: &Part, from: usize) -> [Part; 2] {
    let (to, third) = ((from + 1) % 3, (from + 2) % 3);
    let middle = 0.5 * (part[from] + part[to]);
    [
        [part[from], middle, part[third]],
        [middle, part[to], part[third]],
    ]
}

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

    /// The box around that box where the body is at `pose`, along the world's axes, m.
    pub fn bounds_at(&self, pose: &Pose) -> Bounds {
        let own = self.bounds();
        let turn = DMat3::from_quat(pose.rotation);
        let half = 0.5 * own.size();
        let reach =
            turn.x_axis.abs() * half.x + turn.y_axis.abs() * half.y + turn.z_axis.abs() * half.z;
        let centre = pose.point(own.centre());
        Bounds {
            low: centre - reach,
            high: centre + reach,
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

    /// Shows the points that are kept and lie inside, up to a cell deep, with the nearest points of the surface, both in the body's frame, m (F26). If that are more than
    /// `most`, only every second of them, or third, and so on.
    pub fn see_points(&self, most: usize, mut see: impl FnMut(DVec3, DVec3)) {
        let count = self.shallow().count();
        let step = count.div_ceil(most.max(1)).max(1);
        for (place, value) in self.shallow().step_by(step) {
            let way = value.truncate().as_dvec3();
            see(
                self.low + place * self.cell,
                self.low + (place + way) * self.cell,
            );
        }
    }

    /// The points inside and up to a cell deep: their places in cells from the least corner, and their values. Each once.
    fn shallow(&self) -> impl Iterator<Item = (DVec3, Vec4)> {
        let [_, ny, nz] = self.size.map(|n| n as usize);
        let full = self.blocks.iter().enumerate().filter(|b| b.1.len() == FULL);
        full.flat_map(move |(b, block)| {
            let corner = [b / (ny * nz), b / nz % ny, b % nz];
            let values = &self.values[block.first()..][..FULL];
            values.iter().enumerate().filter_map(move |(k, value)| {
                let within = [k / (POINTS * POINTS), k / POINTS % POINTS, k % POINTS];
                // The next block has those on its far sides; about the surface there is one.
                let own = within.iter().all(|n| *n < SIDE);
                let near = (0.0..=1.0).contains(&value.w);
                let place = [0, 1, 2].map(|a| (corner[a] * SIDE + within[a]) as f64);
                (own && near).then_some((DVec3::from(place), *value))
            })
        })
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

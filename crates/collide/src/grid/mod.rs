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
mod file;
mod tree;

use glam::{DVec3, Vec4};
use trocar_math::{Bounds, Pose};

pub use build::GridError;
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

/// What a block knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    /// All of it is outside, farther than the band.
    Outside,
    /// Where its points begin.
    Full(u32),
    /// Where its corners begin: all of it is inside, deeper than the band.
    Corners(u32),
}

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

/// A point that is in a body, or on its skin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sunk {
    /// Which point.
    pub point: u32,
    /// How it lies, in the world.
    pub at: Depth,
}

/// What [`Grid::detect`] could not tell.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum DetectError {
    /// Points as far outside as the skin is thick need not be in the grid. Nothing was looked for.
    #[error(
        "a skin of {skin} m is thicker than the {cell} m of a cell, which is how far outside the grid knows: choose a thinner skin or larger cells"
    )]
    Skin {
        /// m.
        skin: f64,
        /// Edge of a cell, m.
        cell: f64,
    },
    /// A point is no number; it is the first of them. All others were looked at.
    #[error("point {point} is no place")]
    Point {
        /// Which one, from 0.
        point: u32,
    },
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

    /// The farthest that corners, sides and middles of the surface's triangles seem to lie outside, m: small where it is smooth, half a cell
    /// where something is thinner than a cell. As the skin of [`detect`](Self::detect) it makes sure that nothing is overlooked.
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
        let q = (p - self.low) / self.cell;
        let (corners, w, edge) = self.corners(q)?;
        let [a, b, c, d, e, f, g, h] = corners;
        // First along z, then y, then x; the depth is the last number of four.
        let (a, b, c, d) = (
            a + (b - a) * w[2],
            c + (d - c) * w[2],
            e + (f - e) * w[2],
            g + (h - g) * w[2],
        );
        let (low, high) = (a + (b - a) * w[1], c + (d - c) * w[1]);
        let mean = low + (high - low) * w[0];
        // The way to the surface is interpolated relative to the corners; so are their places, which sums up to the point's own.
        let rise = DVec3::new(
            f64::from(high.w - low.w),
            f64::from((b.w - a.w) + ((d.w - c.w) - (b.w - a.w)) * w[0]),
            f64::from(along_z(&corners, w)),
        );
        let depth = f64::from(mean.w) * self.cell;
        let normal = (-rise).try_normalize().unwrap_or(DVec3::ZERO);
        // Where corners have their nearest points on opposite sides, their mean is inside of the body: that of the nearest corner counts.
        let mean_way = mean.truncate();
        let way = if mean_way.length() + DISAGREE >= mean.w.abs() {
            mean_way.as_dvec3()
        } else {
            let [x, y, z] = w.map(|w| usize::from(w >= 0.5));
            let aside = [x, y, z].map(|n| n as f64);
            let aside = (DVec3::from(aside) - DVec3::from(w.map(f64::from))) * edge;
            aside + corners[4 * x + 2 * y + z].truncate().as_dvec3()
        };
        let surface = p + way * self.cell;
        Some(Depth {
            depth,
            normal,
            surface,
        })
    }

    /// The values at the corners of the cell about a point (in cells from the least corner), where in the cell it is, and the cell's edge in cells.
    #[inline]
    fn corners(&self, q: DVec3) -> Option<([Vec4; 8], [f32; 3], f64)> {
        let [nx, ny, nz] = self.size;
        let most = DVec3::new(f64::from(nx), f64::from(ny), f64::from(nz)) * SIDE as f64;
        // What is no number is not inside either way.
        if !(q.cmpge(DVec3::ZERO).all() && q.cmple(most).all()) {
            return None;
        }
        // On the far rim a point belongs to the last cell.
        let cell = |x: f64, n: u32| (x as u32).min(n * SIDE as u32 - 1);
        let (x, y, z) = (cell(q.x, nx), cell(q.y, ny), cell(q.z, nz));
        let side = SIDE as u32;
        let block = ((x / side) * ny + y / side) * nz + z / side;
        let take = |first: usize, points: usize| {
            let v = &self.values[first..];
            let (dx, dy) = (points * points, points);
            [
                v[0],
                v[1],
                v[dy],
                v[dy + 1],
                v[dx],
                v[dx + 1],
                v[dx + dy],
                v[dx + dy + 1],
            ]
        };
        match self.blocks[block as usize] {
            Block::Outside => None,
            Block::Full(first) => {
                let [i, j, k] = [x % side, y % side, z % side].map(|n| n as usize);
                let first = first as usize + (i * POINTS + j) * POINTS + k;
                let w = [q.x - f64::from(x), q.y - f64::from(y), q.z - f64::from(z)];
                Some((take(first, POINTS), w.map(|w| w as f32), 1.0))
            }
            Block::Corners(first) => {
                let base = [x, y, z].map(|n| f64::from(n / side * side));
                let w = [q.x - base[0], q.y - base[1], q.z - base[2]];
                let w = w.map(|w| (w / SIDE as f64) as f32);
                Some((take(first as usize, 2), w, SIDE as f64))
            }
        }
    }

    /// All points (world, m) that are in the body at `pose`, on its surface or within `skin` (m, at most a cell) of it, in three stages
    /// (F12–F15). `out` is cleared first. If a point is no number, that is the error, but the others are in `out`.
    pub fn detect(
        &self,
        pose: &Pose,
        points: &[DVec3],
        skin: f64,
        out: &mut Vec<Sunk>,
    ) -> Result<(), DetectError> {
        out.clear();
        // There is a rim of one cell about the surface.
        let cell = self.cell;
        if skin.is_nan() || skin > cell {
            return Err(DetectError::Skin { skin, cell });
        }
        let own = self.bounds();
        // The body's box in the world against the points' (F13).
        let corner = |k: u32| {
            let pick = |bit: u32, low: f64, high: f64| if k >> bit & 1 == 0 { low } else { high };
            pose.point(DVec3::new(
                pick(0, own.low.x, own.high.x),
                pick(1, own.low.y, own.high.y),
                pick(2, own.low.z, own.high.z),
            ))
        };
        let placed = Bounds::of((0..8).map(corner));
        if !placed.overlaps(&Bounds::of(points.iter().copied())) {
            return Ok(());
        }
        let mut lost = None;
        for (k, p) in points.iter().enumerate() {
            let local = pose.local(*p);
            if !local.is_finite() {
                lost.get_or_insert(k as u32);
                continue;
            }
            // Points outside of the box are refused before the grid is asked (F14).
            if let Some(at) = self.at(local)
                && at.depth >= -skin
            {
                out.push(Sunk {
                    point: k as u32,
                    at: Depth {
                        depth: at.depth,
                        normal: pose.rotation * at.normal,
                        surface: pose.point(at.surface),
                    },
                });
            }
        }
        lost.map_or(Ok(()), |point| Err(DetectError::Point { point }))
    }
}

/// If the mean way to the surface is so much (cells) shorter than the mean depth, corners disagree about where the surface is.
const DISAGREE: f32 = 0.25;

/// Rise of the depth along z.
#[inline]
fn along_z(v: &[Vec4; 8], w: [f32; 3]) -> f32 {
    let [a, b, c, d] = [0, 2, 4, 6].map(|k| v[k + 1].w - v[k].w);
    let (low, high) = (a + (b - a) * w[1], c + (d - c) * w[1]);
    low + (high - low) * w[0]
}

#[cfg(test)]
mod tests;

//! The cell about a point, and what its corners say.

use super::{CORNERS, FULL, Grid, POINTS, SIDE};
use glam::{DVec3, Vec4};
use trocar_math::f64x4;

/// If the mean way to the surface is so much (cells) shorter than the mean depth, corners disagree about where the surface is.
const DISAGREE: f32 = 0.25;

/// A sum with this has a whole number that is not below 0 in its last bits.
const WHOLE: f64 = (1_u64 << 52) as f64;

/// What a block knows, in the few bits that are read for every point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block(u32);

impl Block {
    /// All of it is outside, farther than the band.
    pub const OUTSIDE: Self = Self(u32::MAX);

    const COARSE: u32 = 1 << 31;

    /// All its points are there, from `first` on.
    pub fn full(first: u32) -> Self {
        Self(first)
    }

    /// Its corners are there, from `first` on: all of it is inside, deeper than the band.
    pub fn corners(first: u32) -> Self {
        Self(first | Self::COARSE)
    }

    /// Where its points begin among the values.
    pub fn first(self) -> usize {
        (self.0 & !Self::COARSE) as usize
    }

    /// How many points it has.
    pub fn len(self) -> usize {
        match self.0 {
            u32::MAX => 0,
            code if code & Self::COARSE != 0 => CORNERS,
            _ => FULL,
        }
    }
}

/// A cell, and where in it a point is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    /// Where its first corner is among the values.
    first: u32,
    /// How far it is from there to the next corners along x and y; along z it is 1.
    step: [u8; 2],
    /// Its edge in cells.
    edge: u8,
    /// From 0 to 1.
    at: [f32; 3],
}

impl Cell {
    pub const NONE: Self = Self {
        first: 0,
        step: [0; 2],
        edge: 0,
        at: [0.0; 3],
    };
}

/// What corners say about a point, in cells.
pub(super) struct Found {
    /// The way out, unit length, or zero.
    pub normal: DVec3,
    /// The way to the nearest point of the surface.
    pub way: DVec3,
}

/// Reads a grid.
pub(super) struct Reader<'a> {
    grid: &'a Grid,
    /// Cells along each axis.
    size: f64x4,
}

impl Grid {
    #[inline(always)]
    pub(super) fn reader(&self) -> Reader<'_> {
        let [x, y, z] = self.size.map(|n| f64::from(n) * SIDE as f64);
        Reader {
            grid: self,
            size: f64x4::new([x, y, z, 1.0]),
        }
    }
}

impl Reader<'_> {
    /// Cells along each axis.
    pub fn size(&self) -> DVec3 {
        let [x, y, z, _] = self.size.to_array();
        DVec3::new(x, y, z)
    }

    /// The cell about a point, given in cells from the least corner with a 0 behind it. False, and any cell, if nothing is known there.
    #[inline(always)]
    pub fn locate(&self, q: f64x4) -> (bool, Cell) {
        // What is no number is not inside either way.
        let inside = (q.simd_ge(f64x4::ZERO) & q.simd_le(self.size)).to_bitmask() == 15;
        // On the far rim a point belongs to the last cell.
        let corner = q.floor().fast_min(self.size - f64x4::ONE);
        let [x, y, z, _] = (corner + f64x4::splat(WHOLE))
            .to_array()
            .map(|x| x.to_bits() as u32);
        let [_, ny, nz] = self.grid.size;
        let side = SIDE as u32;
        let block = (x / side).wrapping_mul(ny).wrapping_add(y / side);
        let block = block.wrapping_mul(nz).wrapping_add(z / side) as usize;
        let code = self.grid.blocks[if inside { block } else { 0 }].0;
        let known = inside & (code != Block::OUTSIDE.0);
        let coarse = code & Block::COARSE != 0;
        let points = POINTS as u32;
        let within = ((x % side) * points + y % side) * points + z % side;
        let part = f64x4::splat(if coarse { 1.0 / SIDE as f64 } else { 1.0 });
        let edge = if coarse { SIDE as u8 } else { 1 };
        let base = (corner * part).floor();
        let [x, y, z, _] = q.mul_sub(part, base).to_array();
        let cell = Cell {
            first: (code & !Block::COARSE).wrapping_add(if coarse { 0 } else { within }),
            step: if coarse {
                [4, 2]
            } else {
                [(POINTS * POINTS) as u8, POINTS as u8]
            },
            edge,
            at: [x as f32, y as f32, z as f32],
        };
        (known, cell)
    }

    /// The values at the corners.
    #[inline(always)]
    fn corners(&self, cell: &Cell) -> [[Vec4; 2]; 4] {
        let [x, y] = cell.step.map(usize::from);
        [0, y, x, x + y].map(|step| {
            let row = &self.grid.values[cell.first as usize + step..][..2];
            [row[0], row[1]]
        })
    }

    /// The way to the surface and the depth, in cells, interpolated.
    #[inline(always)]
    pub fn mean(&self, cell: &Cell) -> Vec4 {
        let [x, y, z] = cell.at;
        // First along z, then y, then x.
        let [a, b, c, d] = self.corners(cell).map(|[low, high]| low + (high - low) * z);
        let (low, high) = (a + (b - a) * y, c + (d - c) * y);
        low + (high - low) * x
    }

    /// Which way is out, and where the surface is, of a point with that [mean](Self::mean).
    #[inline(always)]
    pub fn depth(&self, cell: &Cell, mean: Vec4) -> Found {
        let [x, y, z] = cell.at;
        let corners = self.corners(cell);
        let [a, b, c, d] = corners.map(|[low, high]| low.w + (high.w - low.w) * z);
        let between = |a: f32, b: f32, at: f32| a + (b - a) * at;
        let along_z = corners.map(|[low, high]| high.w - low.w);
        let rise = DVec3::new(
            (between(c, d, y) - between(a, b, y)).into(),
            between(b - a, d - c, x).into(),
            between(
                between(along_z[0], along_z[1], y),
                between(along_z[2], along_z[3], y),
                x,
            )
            .into(),
        );
        // Where corners have their nearest points on opposite sides, their mean is inside of the body: that of the nearest corner counts.
        let way = mean.truncate();
        let short = (mean.w.abs() - DISAGREE).max(0.0);
        let way = if way.length_squared() >= short * short {
            way.as_dvec3()
        } else {
            let nearest = cell.at.map(|w| usize::from(w >= 0.5));
            let [i, j, k] = nearest;
            let aside = [0, 1, 2].map(|n| nearest[n] as f64 - f64::from(cell.at[n]));
            let corner = corners[2 * i + j][k].truncate().as_dvec3();
            DVec3::from(aside) * f64::from(cell.edge) + corner
        };
        Found {
            normal: (-rise).try_normalize().unwrap_or(DVec3::ZERO),
            way,
        }
    }
}

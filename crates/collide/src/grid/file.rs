//! Grids as files: what they cost to work out is then paid once (F22).
//!
//! All numbers little-endian: the magic with the version, least corner (3 × f64), edge of a cell and error (2 × f64), blocks along each axis (3 × u32), number
//! of values (u32), one byte a block (0 outside, 1 all its points, 2 its corners), four f32 a value, and the CRC-32 of all that.

use super::{Block, CORNERS, FULL, Grid, build::MAX_BLOCKS, build::MAX_VALUES};
use glam::{DVec3, Vec4};

/// Begins every such file; the last letter is the version.
pub const MAGIC: &[u8; 8] = b"TROCGRD1";

/// Why bytes are no grid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is no distance grid: at byte {at}, {what}")]
pub struct DamagedGrid {
    /// Where it shows.
    pub at: usize,
    /// What is wrong.
    pub what: &'static str,
}

impl Grid {
    /// As the bytes of a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(60 + self.blocks.len() + 16 * self.values.len());
        bytes.extend(MAGIC);
        for x in self
            .low
            .to_array()
            .into_iter()
            .chain([self.cell, self.error])
        {
            bytes.extend(x.to_le_bytes());
        }
        for n in self.size.into_iter().chain([self.values.len() as u32]) {
            bytes.extend(n.to_le_bytes());
        }
        bytes.extend(self.blocks.iter().map(|block| match block.len() {
            FULL => 1,
            CORNERS => 2,
            _ => 0,
        }));
        for x in self.values.iter().flat_map(|v| v.to_array()) {
            bytes.extend(x.to_le_bytes());
        }
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        bytes
    }

    /// From the bytes of a file. Nothing of them is believed before it was checked.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DamagedGrid> {
        let mut reader = Reader { bytes, at: 0 };
        let mark = reader.take(MAGIC.len())?;
        if mark[..7] != MAGIC[..7] {
            return Err(DamagedGrid {
                at: 0,
                what: "it does not begin with the mark of a grid",
            });
        }
        if mark != MAGIC {
            return Err(DamagedGrid {
                at: 7,
                what: "it is of another version: make it again from its mesh",
            });
        }
        let mut number = || -> Result<f64, DamagedGrid> { Ok(f64::from_le_bytes(reader.array()?)) };
        let low = DVec3::new(number()?, number()?, number()?);
        let (cell, error) = (number()?, number()?);
        // Beyond this nothing of a size that bodies have could be told apart.
        let place = low.is_finite() && low.abs().max_element() < 1e9;
        let sizes = cell > 1e-9 && cell < 1e9 && (0.0..1e9).contains(&error);
        if !(place && sizes) {
            return Err(reader.damaged("its place or its cells are out of all proportion"));
        }
        let mut count = || -> Result<u32, DamagedGrid> { Ok(u32::from_le_bytes(reader.array()?)) };
        let size = [count()?, count()?, count()?];
        let values = u64::from(count()?);
        let blocks = size
            .iter()
            .try_fold(1_u64, |product, n| product.checked_mul(u64::from(*n)))
            .filter(|n| *n > 0 && *n <= MAX_BLOCKS);
        let Some(blocks) = blocks.filter(|_| values <= MAX_VALUES) else {
            return Err(reader.damaged("there are no blocks, or too many blocks or values"));
        };
        let body = reader.at as u64 + blocks + 16 * values;
        if bytes.len() as u64 != body + 4 {
            return Err(reader.damaged("its length is not what its sizes say"));
        }
        let (body, sum) = bytes.split_at(body as usize);
        if sum != crc32fast::hash(body).to_le_bytes() {
            return Err(reader.damaged("its sum is wrong"));
        }
        let mut grid = Self {
            low,
            cell,
            error,
            size,
            blocks: Vec::with_capacity(blocks as usize),
            values: Vec::with_capacity(values as usize),
        };
        let mut next = 0_u64;
        for _ in 0..blocks {
            let block = match reader.take(1)? {
                [0] => Block::OUTSIDE,
                [1] => Block::full(next as u32),
                [2] => Block::corners(next as u32),
                _ => return Err(reader.damaged("a block is of no known kind")),
            };
            grid.blocks.push(block);
            next += block.len() as u64;
        }
        if next != values {
            return Err(reader.damaged("its blocks have more or fewer values than it has"));
        }
        // No surface is farther from a point of the grid than the grid is wide, and a half more for the corners of the box.
        let widest = 8.0 * size.iter().map(|n| *n as f32).sum::<f32>();
        for _ in 0..values {
            let mut four = [0.0; 4];
            for x in &mut four {
                *x = f32::from_le_bytes(reader.array()?);
            }
            // Not a number fails every comparison.
            if !four.iter().all(|x| x.abs() <= widest) {
                return Err(reader.damaged("a value is out of all proportion"));
            }
            grid.values.push(Vec4::from_array(four));
        }
        Ok(grid)
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], DamagedGrid> {
        let taken = self.bytes[self.at..].get(..count);
        let taken = taken.ok_or_else(|| self.damaged("it ends"))?;
        self.at += count;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], DamagedGrid> {
        let taken = self.take(N)?;
        taken.try_into().map_err(|_| self.damaged("it ends"))
    }

    fn damaged(&self, what: &'static str) -> DamagedGrid {
        DamagedGrid { at: self.at, what }
    }
}

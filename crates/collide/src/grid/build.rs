//! Makes a grid from the surface of a body.

use super::{Block, CORNERS, FULL, Grid, POINTS, SIDE, Tree, face::OUT_WITHIN};
use glam::{DVec3, Vec4};
use std::collections::{BTreeMap, BTreeSet};
use trocar_math::Bounds;

/// Most blocks of a grid: one of 1000³ cells has 16 million.
pub(super) const MAX_BLOCKS: u64 = 16_000_000;

/// Most points that are kept: 2 GB.
pub(super) const MAX_VALUES: u64 = 1 << 27;

/// Cells about the surface that are kept with all their points.
const BAND: f64 = 2.0;

/// A winding between these is neither inside nor outside.
const UNCLEAR: [f64; 2] = [0.25, 0.75];

/// How large a grid may become. What it costs to work out is about 3 µs for each block and each point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most blocks of 4³ cells about the body.
    pub blocks: u64,
    /// Most points that are kept, 16 bytes each.
    pub values: u64,
}

impl Default for Limits {
    /// As large as grids can be.
    fn default() -> Self {
        Self {
            blocks: MAX_BLOCKS,
            values: MAX_VALUES,
        }
    }
}

/// Why there is no grid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GridError {
    /// There are no triangles with an area.
    #[error("there are no triangles that have an area")]
    Empty,
    /// A vertex is no number.
    #[error("vertex {vertex} is at {at}, which is no place")]
    Vertex {
        /// Which one, from 0.
        vertex: usize,
        /// Where it claims to be, m.
        at: DVec3,
    },
    /// A triangle names a vertex that does not exist.
    #[error("triangle {triangle} uses vertex {vertex}, but there are only {count} vertices")]
    MissingVertex {
        /// Which triangle, from 0.
        triangle: usize,
        /// The vertex it names.
        vertex: u32,
        /// How many there are.
        count: usize,
    },
    /// The cells are no size, or there would be too many of them.
    #[error(
        "cells of {cell} m make {blocks} blocks of 4³, but there may be 1 to {most}: choose others"
    )]
    Cell {
        /// m.
        cell: f64,
        /// How many blocks that are; 0 if it can't be told.
        blocks: u64,
        /// How many there may be.
        most: u64,
    },
    /// Too much would have to be kept.
    #[error(
        "more than {values} grid points would have to be kept, but at most {most} may be: choose larger cells"
    )]
    Large {
        /// How many points there were so far.
        values: u64,
        /// How many there may be.
        most: u64,
    },
    /// The surface has a hole that is wider than two cells, so that there is no inside.
    #[error(
        "the surface is open near {at} (it winds {winding:.2} times about it; inside would be 1, outside 0){}: close it, or choose larger cells",
        rim.map_or(String::new(), |(a, b)| format!("; the edge from vertex {a} to {b} has no second triangle"))
    )]
    Open {
        /// Where that shows, m.
        at: DVec3,
        /// How often the surface winds about that place.
        winding: f64,
        /// An edge of the hole, the one nearest to that place.
        rim: Option<(u32, u32)>,
    },
    /// The triangles face inwards.
    #[error(
        "the surface is inside out near {at} (it winds {winding:.2} times about it): turn its triangles"
    )]
    InsideOut {
        /// Where that shows, m.
        at: DVec3,
        /// How often the surface winds about that place.
        winding: f64,
    },
    /// The triangles face inwards, of a body so thin that no grid point shows it.
    #[error("the surface is inside out (it encloses {volume} m³): turn its triangles")]
    Inverted {
        /// m³.
        volume: f64,
    },
}

impl Grid {
    /// The grid of the body inside a surface, with cells of `cell` m. The triangles face outwards. Triangles without area are left out, and one that is listed twice counts once, unless
    /// the surface is closed by both. Holes of at most two cells are closed by the way the surface winds about them.
    pub fn new(positions: &[DVec3], triangles: &[[u32; 3]], cell: f64) -> Result<Self, GridError> {
        Self::within(positions, triangles, cell, Limits::default())
    }

    /// The same, refused as soon as it becomes larger than `limits` (and than grids can be).
    pub fn within(
        positions: &[DVec3],
        triangles: &[[u32; 3]],
        cell: f64,
        limits: Limits,
    ) -> Result<Self, GridError> {
        let most = Limits {
            blocks: limits.blocks.min(MAX_BLOCKS),
            values: limits.values.min(MAX_VALUES),
        };
        check(positions, triangles)?;
        let mut corners: Vec<[DVec3; 3]> = triangles
            .iter()
            .map(|t| t.map(|n| positions[n as usize]))
            .filter(|[a, b, c]| (*b - *a).cross(*c - *a) != DVec3::ZERO)
            .collect();
        if corners.is_empty() {
            return Err(GridError::Empty);
        }
        leave_out_repeats(&mut corners);
        let bounds = Bounds::of(corners.iter().flatten().copied());
        // One cell more on each side, so that the surface is nowhere on the rim.
        let extent = bounds.size() / (cell * SIDE as f64) + 2.0 / SIDE as f64;
        let size = extent
            .to_array()
            .map(|x| trocar_math::real::ceil(x).max(1.0));
        let blocks = size[0] * size[1] * size[2];
        if !(cell > 0.0 && cell.is_finite() && blocks <= most.blocks as f64) {
            let blocks = if blocks.is_finite() { blocks as u64 } else { 0 };
            let most = most.blocks;
            return Err(GridError::Cell { cell, blocks, most });
        }
        let middle = DVec3::from(size) * (0.5 * cell * SIDE as f64);
        let mut grid = Self {
            low: bounds.centre() - middle,
            cell,
            error: 0.0,
            size: size.map(|n| n as u32),
            blocks: Vec::with_capacity(blocks as usize),
            values: Vec::new(),
        };
        let maker = Maker {
            tree: Tree::new(&corners),
            low: grid.low,
            cell,
        };
        let [nx, ny, nz] = grid.size;
        for x in 0..nx {
            for y in 0..ny {
                for z in 0..nz {
                    let block = maker
                        .block([x, y, z], &mut grid.values)
                        .map_err(|error| near_rim(error, positions, triangles))?;
                    grid.blocks.push(block);
                    let values = grid.values.len() as u64;
                    if values > most.values {
                        let most = most.values;
                        return Err(GridError::Large { values, most });
                    }
                }
            }
        }
        // Of what is thinner than a few cells no point tells which side is the inner one.
        let middle = bounds.centre();
        let volume = corners.iter().fold(0.0, |sum, t| {
            let [a, b, c] = t.map(|p| p - middle);
            sum + a.dot(b.cross(c)) / 6.0
        });
        if volume < 0.0 {
            return Err(GridError::Inverted { volume });
        }
        let out = corners
            .iter()
            .fold(0.0, |most, t| match most + OUT_WITHIN > THIN {
                true => most,
                false => grid.farthest_out(t, most),
            });
        grid.error = cell
            * match out + OUT_WITHIN {
                // Where it is sharp, or thinner than a cell, what is inside may seem as far out as anything can that is not: the mean way to the corners of its cell.
                out if out > THIN => 0.75_f64.sqrt(),
                out => out,
            };
        Ok(grid)
    }
}

fn check(positions: &[DVec3], triangles: &[[u32; 3]]) -> Result<(), GridError> {
    if triangles.is_empty() {
        return Err(GridError::Empty);
    }
    if let Some(vertex) = positions.iter().position(|p| !p.is_finite()) {
        let at = positions[vertex];
        return Err(GridError::Vertex { vertex, at });
    }
    let count = positions.len();
    for (triangle, t) in triangles.iter().enumerate() {
        if let Some(vertex) = t.iter().copied().find(|n| *n as usize >= count) {
            return Err(GridError::MissingVertex {
                triangle,
                vertex,
                count,
            });
        }
    }
    Ok(())
}

/// Triangles that are there again, facing the same way, go: in front of them the surface would wind about places outside, so that a large one would seem inside out. What hangs together
/// of them stays if the surface is closed by it: two bodies, one of them within the other, may well have a triangle in common.
fn leave_out_repeats(corners: &mut Vec<[DVec3; 3]>) {
    // Both zeros are one place.
    let place = |p: DVec3| (p + 0.0).to_array().map(f64::to_bits);
    let mut known = BTreeSet::new();
    let again: Vec<usize> = (0..corners.len())
        .filter(|t| {
            let [a, b, c] = corners[*t].map(place);
            !known.insert([[a, b, c], [b, c, a], [c, a, b]].into_iter().min())
        })
        .collect();
    if again.is_empty() {
        return;
    }
    let sides = |t: usize| {
        let [a, b, c] = corners[t].map(place);
        [(a, b), (b, c), (c, a)].map(|(from, to)| {
            let edge = (from.min(to), from.max(to));
            (edge, if from < to { 1 } else { -1 })
        })
    };
    // Each edge as often as triangles have it one way, less the other.
    let mut open: BTreeMap<_, i32> = BTreeMap::new();
    for (edge, way) in (0..corners.len()).flat_map(sides) {
        *open.entry(edge).or_default() += way;
    }
    let mut beside: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (k, t) in again.iter().enumerate() {
        for (edge, _) in sides(*t) {
            beside.entry(edge).or_default().push(k);
        }
    }
    let mut goes = vec![false; corners.len()];
    let mut seen = vec![false; again.len()];
    for start in 0..again.len() {
        // What hangs together, and what it does to its edges.
        let mut part = Vec::new();
        let mut own: BTreeMap<_, i32> = BTreeMap::new();
        let mut waiting = vec![start];
        while let Some(k) = waiting.pop() {
            if std::mem::replace(&mut seen[k], true) {
                continue;
            }
            part.push(again[k]);
            for (edge, way) in sides(again[k]) {
                *own.entry(edge).or_default() += way;
                waiting.extend_from_slice(&beside[&edge]);
            }
        }
        let with: i32 = own.keys().map(|edge| open[edge].abs()).sum();
        let without: i32 = own.iter().map(|(edge, way)| (open[edge] - way).abs()).sum();
        if without < with {
            part.into_iter().for_each(|t| goes[t] = true);
        }
    }
    let mut goes = goes.into_iter();
    corners.retain(|_| !goes.next().unwrap_or(false));
}

/// Where some of the surface seems farther outside than this, in cells, there are sharp edges, or parts thinner than a cell.
const THIN: f64 = 0.25;

struct Maker {
    tree: Tree,
    low: DVec3,
    cell: f64,
}

impl Maker {
    /// A block, and its points at the end of `values`.
    fn block(&self, at: [u32; 3], values: &mut Vec<Vec4>) -> Result<Block, GridError> {
        let side = SIDE as f64;
        let base = DVec3::from(at.map(|n| f64::from(n) * side));
        // No point of it is farther from its middle than this.
        let half = 0.5 * side * 3.0_f64.sqrt();
        let middle = self.value(base + 0.5 * side)?;
        let depth = f64::from(middle.w);
        if depth < -(half + BAND) {
            return Ok(Block::OUTSIDE);
        }
        let first = values.len() as u32;
        if depth > half + BAND {
            for k in 0..CORNERS as u32 {
                let step = DVec3::new(
                    f64::from(k >> 2 & 1),
                    f64::from(k >> 1 & 1),
                    f64::from(k & 1),
                );
                values.push(self.value(base + step * side)?);
            }
            return Ok(Block::corners(first));
        }
        values.reserve(FULL);
        for i in 0..POINTS {
            for j in 0..POINTS {
                for k in 0..POINTS {
                    let step = DVec3::new(i as f64, j as f64, k as f64);
                    values.push(self.value(base + step)?);
                }
            }
        }
        Ok(Block::full(first))
    }

    /// The way to the surface and the depth, all in cells, at a place in cells.
    fn value(&self, at: DVec3) -> Result<Vec4, GridError> {
        let p = self.low + at * self.cell;
        let Some(nearest) = self.tree.nearest(p) else {
            return Err(GridError::Empty);
        };
        let winding = self.tree.winding(p);
        let distance = nearest.distance_squared.sqrt();
        // Just at the surface every winding occurs; two cells away only beside a hole.
        if distance > 2.0 * self.cell {
            if winding > UNCLEAR[0] && winding < UNCLEAR[1] {
                return Err(GridError::Open {
                    at: p,
                    winding,
                    rim: None,
                });
            }
            if winding < -UNCLEAR[0] {
                return Err(GridError::InsideOut { at: p, winding });
            }
        }
        let depth = if winding >= 0.5 { distance } else { -distance } / self.cell;
        let way = (nearest.point - p) / self.cell;
        Ok(way.as_vec3().extend(depth as f32))
    }
}

/// Names the edge of the hole that is nearest to where it shows.
fn near_rim(error: GridError, positions: &[DVec3], triangles: &[[u32; 3]]) -> GridError {
    let GridError::Open { at, winding, .. } = error else {
        return error;
    };
    // Each edge as often as triangles have it one way, less the other.
    let mut edges: BTreeMap<(u32, u32), i32> = BTreeMap::new();
    for t in triangles {
        for (a, b) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])] {
            *edges.entry((a.min(b), a.max(b))).or_default() += if a < b { 1 } else { -1 };
        }
    }
    let middle = |(a, b): (u32, u32)| 0.5 * (positions[a as usize] + positions[b as usize]);
    let far = |edge: &(u32, u32)| middle(*edge).distance_squared(at);
    let open = edges.into_iter().filter(|(_, n)| *n != 0).map(|(e, _)| e);
    let rim = open.min_by(|a, b| far(a).total_cmp(&far(b)));
    GridError::Open { at, winding, rim }
}

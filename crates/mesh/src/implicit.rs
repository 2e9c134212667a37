//! Surfaces of solids that are given as a function of space: negative inside, positive outside.
//!
//! Solids made of smooth unions, cuts and noise have no parametrisation, so their surface is found on a [`Grid`] by
//! surface nets (Gibson 1998): a vertex in every cell that the surface passes through, a quadrilateral across every edge
//! of the grid on which the sign changes. That leaves no slivers, and [`relax`] evens the triangles out.
//!
//! ```
//! use glam::DVec3;
//! use trocar_mesh::{Bounds, implicit::{Grid, relax, surface}};
//!
//! let ball = |p: DVec3| p.length() - 0.01;
//! let grid = Grid::even(Bounds { min: DVec3::splat(-0.012), max: DVec3::splat(0.012) }, 0.001)?;
//! let mut mesh = surface(&grid, ball);
//! relax(&mut mesh, ball, 3);
//! assert!(mesh.topology().is_closed());
//! # Ok::<(), trocar_mesh::implicit::GridError>(())
//! ```

use glam::DVec3;

use crate::surface::{Bounds, Surface, usable};

/// The most samples of a grid: half a gigabyte of values.
pub const MAX_SAMPLES: usize = 1 << 26;

/// Why a grid cannot be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum GridError {
    /// The box is empty, or not a usable box at all.
    #[error("a box from {min} to {max} holds no cells; give finite corners, the smaller first")]
    Box {
        /// One corner, m.
        min: DVec3,
        /// The other, m.
        max: DVec3,
    },
    /// The cells have no usable size.
    #[error(
        "cells of {fine} m that grow by {growth} m/m cannot fill a box; give a size above 0 and a growth of 0 or more"
    )]
    Cell {
        /// Size of the smallest cell, m.
        fine: f64,
        /// How much larger they get, m for every m of distance.
        growth: f64,
    },
    /// More than [`MAX_SAMPLES`].
    #[error("the grid has more than {MAX_SAMPLES} samples; use larger cells or a smaller box")]
    TooFine,
}

/// Planes across the three axes; where three of them meet, the solid is sampled.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    lines: [Vec<f64>; 3],
}

impl Grid {
    /// Cells of one size, m, that fill `bounds` and a little more.
    pub fn even(bounds: Bounds, cell: f64) -> Result<Self, GridError> {
        Self::around(bounds, bounds, cell, 0.0)
    }

    /// Cells that fill `bounds`: of size `fine`, m, within `focus`, and larger by `growth` for every metre away from it,
    /// along each axis by itself.
    pub fn around(
        bounds: Bounds,
        focus: Bounds,
        fine: f64,
        growth: f64,
    ) -> Result<Self, GridError> {
        let (min, max) = (bounds.min, bounds.max);
        if !usable(min) || !usable(max) || !min.cmplt(max).all() {
            return Err(GridError::Box { min, max });
        }
        if !(fine.is_finite() && fine > 0.0 && growth.is_finite() && growth >= 0.0) {
            return Err(GridError::Cell { fine, growth });
        }
        let mut lines = [const { Vec::new() }; 3];
        for (axis, line) in lines.iter_mut().enumerate() {
            let mut at = min[axis];
            line.push(at);
            while at < max[axis] {
                let away = (focus.min[axis] - at).max(at - focus.max[axis]);
                let next = at + fine + growth * away.max(0.0);
                // Steps that rounding swallows would never arrive.
                if next <= at || line.len() >= MAX_SAMPLES {
                    return Err(GridError::TooFine);
                }
                at = next;
                line.push(at);
            }
            // A surface needs an inside: three planes at least.
            while line.len() < 3 {
                at += fine;
                line.push(at);
            }
        }
        let samples = lines
            .iter()
            .try_fold(1_usize, |product, line| product.checked_mul(line.len()));
        match samples {
            Some(samples) if samples <= MAX_SAMPLES => Ok(Self { lines }),
            _ => Err(GridError::TooFine),
        }
    }

    fn count(&self) -> [usize; 3] {
        [0, 1, 2].map(|axis| self.lines[axis].len())
    }

    fn point(&self, [i, j, k]: [usize; 3]) -> DVec3 {
        DVec3::new(self.lines[0][i], self.lines[1][j], self.lines[2][k])
    }

    fn index(&self, [i, j, k]: [usize; 3]) -> usize {
        let [_, ny, nz] = self.count();
        (i * ny + j) * nz + k
    }

    /// All triples of indices below the given counts.
    fn each(count: [usize; 3]) -> impl Iterator<Item = [usize; 3]> {
        (0..count[0]).flat_map(move |i| {
            (0..count[1]).flat_map(move |j| (0..count[2]).map(move |k| [i, j, k]))
        })
    }

    /// The field at every sample. The outermost samples count as outside, so that the surface is always closed.
    fn sample(&self, field: impl Fn(DVec3) -> f64) -> Vec<f64> {
        let count = self.count();
        Self::each(count)
            .map(|at| {
                let outermost = (0..3).any(|axis| at[axis] == 0 || at[axis] + 1 == count[axis]);
                let value = field(self.point(at));
                // Not a number is outside.
                if outermost || value.is_nan() {
                    value.max(f64::MIN_POSITIVE)
                } else {
                    value
                }
            })
            .collect()
    }
}

/// The surface of the solid where `field` is negative, facing outwards; empty if no sample is inside.
///
/// Always closed: what reaches beyond the grid is cut off at its rim. Manifold as long as the solid is smooth at the
/// size of a cell; [`Surface::topology`] tells.
pub fn surface(grid: &Grid, field: impl Fn(DVec3) -> f64) -> Surface {
    let values = grid.sample(field);
    let inside = |at: [usize; 3]| values[grid.index(at)] < 0.0;
    let mut surface = Surface::default();
    let mut cells: Vec<[u32; 12]> = Vec::new();
    let mut cell_at = vec![u32::MAX; values.len()];
    for cell in Grid::each(grid.count().map(|n| n - 1)) {
        if let Some(vertices) = patches(grid, &values, cell, &mut surface.positions) {
            cell_at[grid.index(cell)] = cells.len() as u32;
            cells.push(vertices);
        }
    }
    for at in Grid::each(grid.count().map(|n| n - 1)) {
        for axis in 0..3 {
            let (b, c) = ((axis + 1) % 3, (axis + 2) % 3);
            let mut end = at;
            end[axis] += 1;
            let leaves = inside(at);
            // Edges on the rim are outside at both ends.
            if leaves == inside(end) || at[b] == 0 || at[c] == 0 {
                continue;
            }
            let vertex = |back_b: usize, back_c: usize| {
                let mut cell = at;
                cell[b] -= back_b;
                cell[c] -= back_c;
                cells[cell_at[grid.index(cell)] as usize][edge(axis, back_b << b | back_c << c)]
            };
            let mut quad = [vertex(1, 1), vertex(0, 1), vertex(0, 0), vertex(1, 0)];
            if !leaves {
                quad.reverse();
            }
            surface.triangles.extend(split(&surface.positions, quad));
        }
    }
    surface
}

/// The number, from 0 to 11, of the edge of a cell that goes along `axis` from the corner with these bits (bit 0 for x).
fn edge(axis: usize, corner: usize) -> usize {
    let (b, c) = ((axis + 1) % 3, (axis + 2) % 3);
    4 * axis + 2 * (corner >> b & 1) + (corner >> c & 1)
}

/// Adds a vertex for every patch of surface in a cell, in the middle of the points at which the patch crosses the cell's
/// edges, and tells which vertex each edge belongs to; nothing if the surface does not pass.
///
/// Two walls in one cell get a vertex each (as in dual marching cubes, Nielson 2004): with one for both they would be
/// pinched together.
fn patches(
    grid: &Grid,
    values: &[f64],
    cell: [usize; 3],
    positions: &mut Vec<DVec3>,
) -> Option<[u32; 12]> {
    let corner = |bits: usize| [0, 1, 2].map(|axis| cell[axis] + (bits >> axis & 1));
    let value: [f64; 8] = std::array::from_fn(|bits| values[grid.index(corner(bits))]);
    let inside = value.map(|v| v < 0.0);
    if inside == [inside[0]; 8] {
        return None;
    }
    // Edges of one patch point at each other; each starts as its own.
    let mut patch: [usize; 12] = std::array::from_fn(|e| e);
    for axis in 0..3 {
        for side in 0..2 {
            join_across(&mut patch, &inside, axis, side << axis);
        }
    }
    let mut vertices = [u32::MAX; 12];
    let mut sums = [(DVec3::ZERO, 0.0); 12];
    for start in 0..8 {
        for axis in (0..3).filter(|axis| start >> axis & 1 == 0) {
            let end = start | 1 << axis;
            if inside[start] == inside[end] {
                continue;
            }
            // An infinite field tells the side but not the distance.
            let part = value[start] / (value[start] - value[end]);
            let part = if part.is_finite() { part } else { 0.5 };
            let point = grid
                .point(corner(start))
                .lerp(grid.point(corner(end)), part.clamp(0.0, 1.0));
            let sum = &mut sums[patch[edge(axis, start)]];
            *sum = (sum.0 + point, sum.1 + 1.0);
        }
    }
    for (e, &patch) in patch.iter().enumerate() {
        let (sum, count) = sums[patch];
        if count == 0.0 {
            continue;
        }
        if vertices[patch] == u32::MAX {
            vertices[patch] = positions.len() as u32;
            positions.push(sum / count);
        }
        vertices[e] = vertices[patch];
    }
    Some(vertices)
}

/// Joins the edges between which the surface crosses the face of a cell across `axis` that holds the corner `base`.
fn join_across(patch: &mut [usize; 12], inside: &[bool; 8], axis: usize, base: usize) {
    let (b, c) = (1 << ((axis + 1) % 3), 1 << ((axis + 2) % 3));
    let corners = [base, base | b, base | b | c, base | c];
    let (along_b, along_c) = ((axis + 1) % 3, (axis + 2) % 3);
    // Edge i goes from corner i to corner i + 1, round the face.
    let edges = [
        edge(along_b, base),
        edge(along_c, base | b),
        edge(along_b, base | c),
        edge(along_c, base),
    ];
    let crossed: Vec<usize> = (0..4)
        .filter(|&i| inside[corners[i]] != inside[corners[(i + 1) % 4]])
        .collect();
    let mut join = |i: usize, j: usize| {
        let (kept, gone) = (patch[edges[i]], patch[edges[j]]);
        patch
            .iter_mut()
            .filter(|p| **p == gone)
            .for_each(|p| *p = kept);
    };
    match crossed[..] {
        [i, j] => join(i, j),
        // Both diagonals differ: every inner corner is cut off by itself, which both cells at the face agree upon.
        [_, _, _, _] => (0..4)
            .filter(|&i| inside[corners[i]])
            .for_each(|i| join((i + 3) % 4, i)),
        _ => {}
    }
}

/// A quadrilateral as two triangles, cut along its shorter diagonal.
fn split(positions: &[DVec3], [a, b, c, d]: [u32; 4]) -> [[u32; 3]; 2] {
    let length = |p: u32, q: u32| positions[p as usize].distance_squared(positions[q as usize]);
    if length(a, c) <= length(b, d) {
        [[a, b, c], [a, c, d]]
    } else {
        [[a, b, d], [b, c, d]]
    }
}

/// Evens out the triangles: every round moves each vertex half way to the middle of its neighbours and back onto the
/// surface of `field`. Nets have no slivers but uneven steps; three rounds take most of them away.
pub fn relax(surface: &mut Surface, field: impl Fn(DVec3) -> f64, rounds: usize) {
    let edges = surface.edges();
    let mut middle = vec![(DVec3::ZERO, 0.0); surface.positions.len()];
    for _ in 0..rounds {
        middle.fill((DVec3::ZERO, 0.0));
        for &[a, b] in &edges {
            for (at, other) in [(a, b), (b, a)] {
                let other = surface.positions[other as usize];
                if let Some(middle) = middle.get_mut(at as usize) {
                    *middle = (middle.0 + other, middle.1 + 1.0);
                }
            }
        }
        for (p, (sum, count)) in surface.positions.iter_mut().zip(&middle) {
            if *count > 0.0 {
                let middle = *sum / *count;
                // No farther than the neighbours are: at a crease the gradient points anywhere.
                let reach = 0.5 * p.distance(middle).max(1e-12);
                let moved = p.lerp(middle, 0.5);
                *p = moved + onto(&field, moved, reach).clamp_length_max(2.0 * reach);
            }
        }
    }
}

/// The step from `p` to the zero of `field` along its gradient, taken by differences over `width`, m.
fn onto(field: impl Fn(DVec3) -> f64, p: DVec3, width: f64) -> DVec3 {
    let slope = |axis: DVec3| (field(p + width * axis) - field(p - width * axis)) / (2.0 * width);
    let gradient = DVec3::new(slope(DVec3::X), slope(DVec3::Y), slope(DVec3::Z));
    let step = -field(p) * gradient / gradient.length_squared();
    if step.is_finite() { step } else { DVec3::ZERO }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    fn cube(half: f64) -> Bounds {
        Bounds {
            min: DVec3::splat(-half),
            max: DVec3::splat(half),
        }
    }

    fn ball(p: DVec3) -> f64 {
        p.length() - 0.9
    }

    fn torus(p: DVec3) -> f64 {
        (p.truncate().length() - 0.7).hypot(p.z) - 0.2
    }

    /// Least angle of any triangle, rad.
    fn least_angle(surface: &Surface) -> f64 {
        let corners = surface
            .triangles
            .iter()
            .map(|&t| surface.corners(t).unwrap());
        corners
            .flat_map(|[a, b, c]| [(a, b, c), (b, c, a), (c, a, b)])
            .map(|(a, b, c)| {
                let (u, v) = (b - a, c - a);
                libm::atan2(u.cross(v).length(), u.dot(v))
            })
            .fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn a_ball_is_closed_faces_outwards_and_has_its_volume() {
        let grid = Grid::even(cube(1.0), 0.05).unwrap();
        let mut mesh = surface(&grid, ball);
        relax(&mut mesh, ball, 4);
        assert_eq!(mesh.check(), Ok(()));
        let topology = mesh.topology();
        assert!(topology.is_closed() && topology.is_manifold() && topology.is_oriented());
        assert_eq!((topology.components, topology.euler()), (1, 2));
        let volume = 4.0 / 3.0 * PI * 0.9 * 0.9 * 0.9;
        assert!(
            (mesh.volume() / volume - 1.0).abs() < 5e-3,
            "{}",
            mesh.volume()
        );
        let off = mesh.positions.iter().map(|&p| ball(p).abs());
        assert!(off.fold(0.0, f64::max) < 1e-3);
        for (p, n) in mesh.positions.iter().zip(mesh.normals()) {
            assert!(p.normalize().dot(n) > 0.99);
        }
        let least = least_angle(&mesh).to_degrees();
        assert!(least > 10.0, "{least}°");
    }

    #[test]
    fn a_torus_keeps_its_hole_on_an_uneven_grid() {
        let focus = Bounds {
            min: DVec3::new(0.4, -0.2, -0.2),
            max: DVec3::new(1.0, 0.2, 0.2),
        };
        let grid = Grid::around(cube(1.0), focus, 0.03, 0.03).unwrap();
        let topology = surface(&grid, torus).topology();
        assert!(topology.is_closed() && topology.is_manifold() && topology.is_oriented());
        assert_eq!((topology.components, topology.euler()), (1, 0));
    }

    #[test]
    fn what_reaches_beyond_the_grid_is_cut_off_and_closed() {
        let grid = Grid::even(cube(0.5), 0.05).unwrap();
        for field in [ball as fn(DVec3) -> f64, |_| -1.0, |_| f64::NEG_INFINITY] {
            let mesh = surface(&grid, field);
            assert!(mesh.topology().is_closed() && mesh.topology().is_manifold());
            assert!(mesh.volume() > 0.7, "{}", mesh.volume());
        }
    }

    #[test]
    fn nothing_inside_gives_nothing() {
        let grid = Grid::even(cube(0.5), 0.1).unwrap();
        for field in [|_| 1.0, |_| f64::NAN, |_| f64::INFINITY] {
            assert_eq!(surface(&grid, field), Surface::default());
        }
        relax(&mut Surface::default(), ball, 2);
    }

    #[test]
    fn bad_grids_are_refused() {
        let turned = Bounds {
            min: DVec3::ONE,
            max: DVec3::ZERO,
        };
        assert!(matches!(
            Grid::even(turned, 0.1),
            Err(GridError::Box { .. })
        ));
        let endless = Bounds {
            min: DVec3::ZERO,
            max: DVec3::splat(f64::INFINITY),
        };
        assert!(matches!(
            Grid::even(endless, 0.1),
            Err(GridError::Box { .. })
        ));
        for bad in [0.0, -1.0, f64::NAN] {
            let error = Grid::even(cube(1.0), bad).unwrap_err();
            assert!(matches!(error, GridError::Cell { .. }), "{error}");
        }
        assert_eq!(Grid::even(cube(1.0), 1e-3), Err(GridError::TooFine));
        assert_eq!(Grid::even(cube(1.0), 1e-300), Err(GridError::TooFine));
    }
}

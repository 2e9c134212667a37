//! The same for matrices whose pattern is symmetric and whose numbers are not.

#![allow(
    clippy::needless_range_loop,
    reason = "formulas read as they are written, and the bounds are constants"
)]

use crate::for_size;
use crate::pattern::{Column, Entry, Pattern, Place};
use crate::small::{block, block_mut, head, head_mut};

/// Numbers over a [`Pattern`] that are not symmetric: first the matrix, then in its place `L U`.
///
/// For each node in the order of elimination stand its diagonal block, the blocks `U` of its rows with later nodes, and,
/// transposed and apart, the blocks `V` of its columns. After [`Skew::factor`] the diagonal block is the `L U` of itself,
/// with unit `L` and the inverse of its pivots on the diagonal, and `U` is `K⁻¹U`.
#[derive(Clone, Debug, Default)]
pub struct Skew {
    upper: Vec<f64>,
    /// As `upper` is laid out, without diagonal blocks: the transposes of the blocks below the diagonal.
    lower: Vec<f64>,
    redundant: Vec<u32>,
}

impl Skew {
    /// Makes the storage the pattern's, all zero; allocates only if the pattern is larger than any before.
    pub fn fit(&mut self, pattern: &Pattern) {
        for values in [&mut self.upper, &mut self.lower] {
            values.clear();
            values.resize(pattern.values, 0.0);
        }
        self.redundant.clear();
        self.redundant.reserve(pattern.rows);
    }

    /// Sets all blocks to zero.
    pub fn clear(&mut self) {
        self.upper.fill(0.0);
        self.lower.fill(0.0);
    }

    /// A diagonal block, row-major.
    pub fn diagonal_mut(&mut self, place: Place) -> &mut [f64] {
        &mut self.upper[place.range()]
    }

    /// Writes block `(i, j)` and block `(j, i)`, both row-major with the rows of `i`: the second is given transposed.
    pub fn set(&mut self, place: Place, there: &[f64], back: &[f64]) {
        let range = place.range();
        if place.transposed {
            // Stored with the rows of j.
            let transpose = |to: &mut [f64], from: &[f64]| {
                for_size!(place.columns, C => for_size!(place.rows, R => {
                    let (to, from): (&mut [[f64; C]; R], &[[f64; R]; C]) = (block_mut(to), block(from));
                    for r in 0..R {
                        for c in 0..C {
                            to[r][c] = from[c][r];
                        }
                    }
                }));
            };
            transpose(&mut self.upper[range.clone()], back);
            transpose(&mut self.lower[range], there);
        } else {
            let copy = |to: &mut [f64], from: &[f64]| {
                for_size!(place.columns, C => for_size!(place.rows, R => {
                    let (to, from): (&mut [[f64; C]; R], &[[f64; C]; R]) = (block_mut(to), block(from));
                    *to = *from;
                }));
            };
            copy(&mut self.upper[range.clone()], there);
            copy(&mut self.lower[range], back);
        }
    }

    /// Factorises in place and returns how many rows are redundant, as [`Factor::factor`](crate::Factor::factor) does.
    ///
    /// # Panics
    ///
    /// If `scale` or the storage does not fit the pattern.
    pub fn factor(&mut self, pattern: &Pattern, scale: &[f64], tolerance: f64) -> usize {
        assert_eq!(scale.len(), pattern.rows, "one scale for each row");
        assert_eq!(self.upper.len(), pattern.values, "storage fits the pattern");
        self.redundant.clear();
        for column in &pattern.columns {
            let (done, rest) = self.upper.split_at_mut(column.end as usize);
            let (below, rest_below) = self.lower.split_at_mut(column.end as usize);
            let work = Work {
                entries: &pattern.entries[column.entries()],
                products: &pattern.products[column.first_product as usize..],
                own: &mut done[column.start as usize..],
                below: &below[column.start as usize..],
                rest,
                rest_below,
                column: *column,
            };
            let scale = &scale[column.row as usize..];
            let redundant = for_size!(column.size, N => work.eliminate::<N>(scale, tolerance));
            if redundant != 0 {
                let rows = (0..u32::from(column.size)).filter(|row| redundant >> row & 1 == 1);
                self.redundant.extend(rows.map(|row| column.row + row));
            }
        }
        self.redundant.len()
    }

    /// The redundant rows that the last [`Skew::factor`] found, ascending places in a vector.
    pub fn redundant(&self) -> &[u32] {
        &self.redundant
    }

    /// Solves in place: right-hand side in, solution out.
    ///
    /// # Panics
    ///
    /// If `x` or the storage does not fit the pattern.
    pub fn solve(&self, pattern: &Pattern, x: &mut [f64]) {
        assert_eq!(x.len(), pattern.rows, "one value for each row");
        assert_eq!(self.upper.len(), pattern.values, "storage fits the pattern");
        for column in &pattern.columns {
            let range = column.start as usize..column.end as usize;
            let (own, below) = (&self.upper[range.clone()], &self.lower[range]);
            let entries = &pattern.entries[column.entries()];
            for_size!(column.size, N => forward::<N>(own, below, entries, x, column.row as usize));
        }
        for column in pattern.columns.iter().rev() {
            let own = &self.upper[column.start as usize..column.end as usize];
            let entries = &pattern.entries[column.entries()];
            for_size!(column.size, N => backward::<N>(own, entries, x, column.row as usize));
        }
    }
}

/// One node's elimination.
struct Work<'a> {
    column: Column,
    entries: &'a [Entry],
    products: &'a [u32],
    own: &'a mut [f64],
    below: &'a [f64],
    rest: &'a mut [f64],
    rest_below: &'a mut [f64],
}

impl Work<'_> {
    #[inline(always)]
    fn eliminate<const N: usize>(mut self, scale: &[f64], tolerance: f64) -> u8 {
        let (diagonal, blocks) = self.own.split_at_mut(N * N);
        let diagonal: &mut [[f64; N]; N] = block_mut(diagonal);
        let redundant = factor(diagonal, head(scale), tolerance);
        let mut at = 0;
        for entry in self.entries {
            let target = &mut self.rest[(entry.diagonal - self.column.end) as usize..];
            let (own, below) = (&mut blocks[at..], &self.below[N * N + at..]);
            for_size!(entry.size, M => {
                let upper: &mut [[f64; M]; N] = block_mut(own);
                solve_block(diagonal, upper);
                take::<N, M, M>(block(below), upper, block_mut(target));
            });
            at += N * usize::from(entry.size);
        }
        if self.entries.len() > 1 {
            self.take_products::<N>();
        }
        redundant
    }

    /// Takes the products of each two different blocks off the later nodes' blocks.
    #[inline(never)]
    fn take_products<const N: usize>(&mut self) {
        let (blocks, below) = (&self.own[N * N..], &self.below[N * N..]);
        let mut products = self.products.iter();
        let mut at = 0;
        for (place, first) in self.entries.iter().enumerate() {
            let (here, rows) = (at, usize::from(first.size));
            at += N * rows;
            let mut next = at;
            for (last, &target) in self.entries[place + 1..].iter().zip(&mut products) {
                let target = (target - self.column.end) as usize;
                for_size!(first.size, R => for_size!(last.size, C => {
                    // Row block of the earlier node with the later one, and, transposed, the other way round.
                    take::<N, R, C>(block(&below[here..]), block(&blocks[next..]), block_mut(&mut self.rest[target..]));
                    take::<N, R, C>(block(&blocks[here..]), block(&below[next..]), block_mut(&mut self.rest_below[target..]));
                }));
                next += N * usize::from(last.size);
            }
        }
    }
}

/// `target -= leftᵀ right`.
#[inline(always)]
fn take<const N: usize, const R: usize, const C: usize>(
    left: &[[f64; R]; N],
    right: &[[f64; C]; N],
    target: &mut [[f64; C]; R],
) {
    for r in 0..R {
        for j in 0..N {
            for c in 0..C {
                target[r][c] = (-left[j][r]).mul_add(right[j][c], target[r][c]);
            }
        }
    }
}

/// `L U` in place: unit `L` below the diagonal, inverse pivots on it.
#[inline(always)]
fn factor<const N: usize>(matrix: &mut [[f64; N]; N], scale: &[f64; N], tolerance: f64) -> u8 {
    let mut redundant = 0;
    for j in 0..N {
        let pivot = matrix[j][j];
        let inverse = if pivot.abs() <= tolerance * scale[j] {
            redundant |= 1 << j;
            0.0
        } else {
            1.0 / pivot
        };
        matrix[j][j] = inverse;
        for i in j + 1..N {
            let lower = matrix[i][j] * inverse;
            matrix[i][j] = lower;
            for k in j + 1..N {
                matrix[i][k] = (-lower).mul_add(matrix[j][k], matrix[i][k]);
            }
        }
    }
    redundant
}

/// `x ← K⁻¹ x` for `M` columns at once.
#[inline(always)]
fn solve_block<const N: usize, const M: usize>(own: &[[f64; N]; N], x: &mut [[f64; M]; N]) {
    for j in 0..N {
        for k in 0..j {
            for c in 0..M {
                x[j][c] = (-own[j][k]).mul_add(x[k][c], x[j][c]);
            }
        }
    }
    for j in (0..N).rev() {
        for k in j + 1..N {
            for c in 0..M {
                x[j][c] = (-own[j][k]).mul_add(x[k][c], x[j][c]);
            }
        }
        for c in 0..M {
            x[j][c] *= own[j][j];
        }
    }
}

#[inline(always)]
fn forward<const N: usize>(
    own: &[f64],
    below: &[f64],
    entries: &[Entry],
    x: &mut [f64],
    row: usize,
) {
    let mut mine: [[f64; 1]; N] = [[0.0]; N];
    for (to, from) in mine.iter_mut().zip(&x[row..]) {
        to[0] = *from;
    }
    solve_block(block(own), &mut mine);
    for (to, from) in x[row..].iter_mut().zip(&mine) {
        *to = from[0];
    }
    let mut blocks = &below[N * N..];
    for entry in entries {
        let theirs = &mut x[entry.row as usize..];
        for_size!(entry.size, M => {
            let lower: &[[f64; M]; N] = block(blocks);
            let theirs: &mut [f64; M] = head_mut(theirs);
            for j in 0..N {
                for c in 0..M {
                    theirs[c] = (-mine[j][0]).mul_add(lower[j][c], theirs[c]);
                }
            }
        });
        blocks = &blocks[N * usize::from(entry.size)..];
    }
}

#[inline(always)]
fn backward<const N: usize>(own: &[f64], entries: &[Entry], x: &mut [f64], row: usize) {
    let mut blocks = &own[N * N..];
    let mut mine: [f64; N] = *head(&x[row..]);
    for entry in entries {
        let theirs = &x[entry.row as usize..];
        for_size!(entry.size, M => {
            let upper: &[[f64; M]; N] = block(blocks);
            let theirs: &[f64; M] = head(theirs);
            for c in 0..M {
                for j in 0..N {
                    mine[j] = (-upper[j][c]).mul_add(theirs[c], mine[j]);
                }
            }
        });
        blocks = &blocks[N * usize::from(entry.size)..];
    }
    *head_mut(&mut x[row..]) = mine;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ring with a chord: trees, loops and fill.
    #[test]
    fn a_matrix_that_is_not_symmetric_is_solved() {
        let sizes = [6_u8, 3, 6, 2, 3, 5];
        let edges = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (1, 4)];
        let pattern = Pattern::new(&sizes, &edges, &[false; 6]);
        let rows = pattern.rows();
        let mut seed = 1_u64;
        let mut random = || {
            seed = seed
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (seed >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        };
        let mut dense = vec![0.0; rows * rows];
        let mut skew = Skew::default();
        skew.fit(&pattern);
        for i in 0..sizes.len() {
            let (n, at) = (pattern.size(i), pattern.offset(i));
            let place = pattern.place(i, i).expect("a diagonal");
            let own = skew.diagonal_mut(place);
            for r in 0..n {
                for c in 0..n {
                    let value = random() + if r == c { 6.0 } else { 0.0 };
                    own[r * n + c] = value;
                    dense[(at + r) * rows + at + c] = value;
                }
            }
        }
        for (i, j) in edges {
            let (i, j) = (i as usize, j as usize);
            let (n, m) = (pattern.size(i), pattern.size(j));
            let there: Vec<f64> = (0..n * m).map(|_| random()).collect();
            let back: Vec<f64> = (0..n * m).map(|_| random()).collect();
            skew.set(pattern.place(i, j).expect("an edge"), &there, &back);
            let (oi, oj) = (pattern.offset(i), pattern.offset(j));
            for r in 0..n {
                for c in 0..m {
                    dense[(oi + r) * rows + oj + c] = there[r * m + c];
                    dense[(oj + c) * rows + oi + r] = back[r * m + c];
                }
            }
        }
        let truth: Vec<f64> = (0..rows).map(|_| random()).collect();
        let mut x: Vec<f64> = (0..rows)
            .map(|r| (0..rows).map(|c| dense[r * rows + c] * truth[c]).sum())
            .collect();
        assert_eq!(skew.factor(&pattern, &vec![1.0; rows], 1e-12), 0);
        skew.solve(&pattern, &mut x);
        for (found, wanted) in x.iter().zip(&truth) {
            assert!((found - wanted).abs() < 1e-12, "{found} {wanted}");
        }
    }
}

//! The numbers of a factorisation.

#![allow(
    clippy::needless_range_loop,
    reason = "formulas read as they are written, and the bounds are constants"
)]

use crate::for_size;
use crate::pattern::{Column, Entry, Pattern, Place};
use crate::small::{self, block, block_mut, head, head_mut};

/// Numbers over a [`Pattern`]: first the matrix, then in its place `L D Lᵀ`.
///
/// For each node in the order of elimination stand its diagonal block `K` and its blocks `U` with later nodes, whose rows
/// are the node's own. After [`Factor::factor`], `K` is as [`small::factor`] leaves it, and `K⁻¹U` stands in place of `U`:
/// it is the transpose of a column of the block matrix `L`. So a solution is handed from node to node by one product, and
/// the triangles of `K` are worked beside, not between.
#[derive(Clone, Debug, Default)]
pub struct Factor {
    values: Vec<f64>,
    /// `U` of one node as it was.
    scratch: Vec<f64>,
    redundant: Vec<u32>,
}

impl Factor {
    /// Makes the storage the pattern's, all zero; allocates only if the pattern is larger than any before.
    pub fn fit(&mut self, pattern: &Pattern) {
        self.values.clear();
        self.values.resize(pattern.values, 0.0);
        self.scratch.clear();
        self.scratch.resize(pattern.widest, 0.0);
        self.redundant.clear();
        self.redundant.reserve(pattern.rows);
    }

    /// Sets all blocks to zero.
    pub fn clear(&mut self) {
        self.values.fill(0.0);
    }

    /// A node's own block, square and row-major; only its lower triangle need be written.
    pub fn diagonal_mut(&mut self, pattern: &Pattern, node: usize) -> &mut [f64] {
        let place = pattern
            .place(node, node)
            .expect("every node has a diagonal block");
        self.block_mut(place)
    }

    /// A block as stored: if `place` is transposed, its transpose.
    pub fn block_mut(&mut self, place: Place) -> &mut [f64] {
        &mut self.values[place.range()]
    }

    /// Writes a block given row-major as the caller named it, `(i, j)`.
    pub fn set(&mut self, place: Place, values: &[f64]) {
        let stored = &mut self.values[place.range()];
        if place.transposed {
            for_size!(place.columns, C => for_size!(place.rows, R => {
                let (to, from): (&mut [[f64; C]; R], &[[f64; R]; C]) = (block_mut(stored), block(values));
                for r in 0..R {
                    for c in 0..C {
                        to[r][c] = from[c][r];
                    }
                }
            }));
        } else {
            stored.copy_from_slice(values);
        }
    }

    /// Factorises in place and returns how many rows are redundant.
    ///
    /// `scale`, laid out like a vector, is the size that a row's pivot is measured by: a pivot no larger in magnitude than
    /// `tolerance * scale[row]` belongs to a redundant row. It counts as infinite, so that its unknown becomes zero.
    ///
    /// # Panics
    ///
    /// If `scale` or the storage does not fit the pattern.
    pub fn factor(&mut self, pattern: &Pattern, scale: &[f64], tolerance: f64) -> usize {
        assert_eq!(scale.len(), pattern.rows, "one scale for each row");
        assert_eq!(
            self.values.len(),
            pattern.values,
            "storage fits the pattern"
        );
        self.redundant.clear();
        for column in &pattern.columns {
            let (done, rest) = self.values.split_at_mut(column.end as usize);
            let work = Work {
                entries: &pattern.entries[column.entries()],
                products: &pattern.products[column.first_product as usize..],
                own: &mut done[column.start as usize..],
                rest,
                scratch: &mut self.scratch,
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

    /// The redundant rows that the last [`Factor::factor`] found, ascending places in a vector.
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
        assert_eq!(
            self.values.len(),
            pattern.values,
            "storage fits the pattern"
        );
        for column in &pattern.columns {
            let own = &self.values[column.start as usize..column.end as usize];
            let entries = &pattern.entries[column.entries()];
            for_size!(column.size, N => forward::<N>(own, entries, x, column.row as usize));
        }
        for column in pattern.columns.iter().rev() {
            let own = &self.values[column.start as usize..column.end as usize];
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
    /// The node's own values, and those of all later nodes.
    own: &'a mut [f64],
    rest: &'a mut [f64],
    scratch: &'a mut [f64],
}

impl Work<'_> {
    #[inline(always)]
    fn eliminate<const N: usize>(mut self, scale: &[f64], tolerance: f64) -> u8 {
        let (diagonal, blocks) = self.own.split_at_mut(N * N);
        let diagonal: &mut [[f64; N]; N] = block_mut(diagonal);
        let redundant = small::factor(diagonal, head(scale), tolerance);
        let several = self.entries.len() > 1;
        let mut at = 0;
        for entry in self.entries {
            let target = &mut self.rest[(entry.diagonal - self.column.end) as usize..];
            let own = &mut blocks[at..];
            let before = &mut self.scratch[at..];
            for_size!(entry.size, M => {
                let upper: &mut [[f64; M]; N] = block_mut(own);
                if several {
                    *block_mut(before) = *upper;
                }
                pass_on(diagonal, upper, block_mut(target));
            });
            at += N * usize::from(entry.size);
        }
        if several {
            self.take_products::<N>();
        }
        redundant
    }

    /// Takes the products of each two different blocks off the later nodes' blocks.
    #[inline(never)]
    fn take_products<const N: usize>(&mut self) {
        let blocks = &self.own[N * N..];
        let mut products = self.products.iter();
        let mut at = 0;
        for (place, first) in self.entries.iter().enumerate() {
            let rows = usize::from(first.size);
            let left = &blocks[at..at + N * rows];
            at += N * rows;
            let mut next = at;
            for (last, &target) in self.entries[place + 1..].iter().zip(&mut products) {
                let target = &mut self.rest[(target - self.column.end) as usize..];
                let right = &self.scratch[next..];
                for_size!(last.size, M => take_product::<N, M>(left, rows, block(right), target));
                next += N * usize::from(last.size);
            }
        }
    }
}

/// `U ← K⁻¹U`, where `K = L D Lᵀ` is the node's own block, and takes `UᵀK⁻¹U` off a later node's diagonal block.
///
/// The product is formed half way, `(L⁻¹U)ᵀ D⁻¹ (L⁻¹U)`, which is symmetric and does not wait for the rest. Its upper
/// triangle is not needed, but whole rows are quicker.
#[inline(always)]
fn pass_on<const N: usize, const M: usize>(
    own: &[[f64; N]; N],
    upper: &mut [[f64; M]; N],
    target: &mut [[f64; M]; M],
) {
    let mut half = *upper;
    let mut scaled = [[0.0; M]; N];
    for j in 0..N {
        for k in 0..j {
            for c in 0..M {
                half[j][c] = (-own[j][k]).mul_add(half[k][c], half[j][c]);
            }
        }
        for c in 0..M {
            scaled[j][c] = own[j][j] * half[j][c];
        }
    }
    for r in 0..M {
        for j in 0..N {
            for c in 0..M {
                target[r][c] = (-scaled[j][r]).mul_add(half[j][c], target[r][c]);
            }
        }
    }
    for j in (0..N).rev() {
        for k in j + 1..N {
            for c in 0..M {
                scaled[j][c] = (-own[k][j]).mul_add(scaled[k][c], scaled[j][c]);
            }
        }
    }
    *upper = scaled;
}

/// Takes `leftᵀ right` off a later block of `rows` by `M`; `left` is `N` by `rows`.
#[inline(always)]
fn take_product<const N: usize, const M: usize>(
    left: &[f64],
    rows: usize,
    right: &[[f64; M]; N],
    target: &mut [f64],
) {
    let (target, _) = target.as_chunks_mut::<M>();
    for (r, target) in target.iter_mut().take(rows).enumerate() {
        let mut sum = *target;
        for (left, right) in left.chunks_exact(rows).zip(right) {
            for c in 0..M {
                sum[c] = (-left[r]).mul_add(right[c], sum[c]);
            }
        }
        *target = sum;
    }
}

/// Takes one node's `(K⁻¹U)ᵀx` off later nodes, then `x ← K⁻¹x`, for which nothing waits; `row` is the node's first.
#[inline(always)]
fn forward<const N: usize>(own: &[f64], entries: &[Entry], x: &mut [f64], row: usize) {
    let (diagonal, mut blocks) = own.split_at(N * N);
    let mut mine: [f64; N] = *head(&x[row..]);
    for entry in entries {
        let theirs = &mut x[entry.row as usize..];
        for_size!(entry.size, M => {
            let upper: &[[f64; M]; N] = block(blocks);
            let theirs: &mut [f64; M] = head_mut(theirs);
            let mut sum = *theirs;
            for j in 0..N {
                for c in 0..M {
                    sum[c] = (-mine[j]).mul_add(upper[j][c], sum[c]);
                }
            }
            *theirs = sum;
        });
        blocks = &blocks[N * usize::from(entry.size)..];
    }
    small::solve(block(diagonal), &mut mine);
    *head_mut(&mut x[row..]) = mine;
}

/// `x ← x - K⁻¹U(x of later nodes)` for one node, whose first row is `row`.
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

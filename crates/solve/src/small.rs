//! `L D Lᵀ` of one symmetric block of one to six rows.

#![allow(
    clippy::needless_range_loop,
    reason = "formulas read as they are written, and the bounds are constants"
)]

use crate::for_size;

/// Factorises a symmetric matrix in place, reading only its lower triangle, and returns the set of redundant rows (bit
/// `i` for row `i`).
///
/// Below the diagonal stands unit lower `L`, on it the inverse of `D`. A pivot no larger in magnitude than `tolerance` times
/// `scale[row]` belongs to a redundant row: it counts as infinite, so its inverse and its column of `L` are zero and
/// [`solve`] gives zero for its unknown. A pivot that is not a number stays one.
#[inline(always)]
pub fn factor<const N: usize>(matrix: &mut [[f64; N]; N], scale: &[f64; N], tolerance: f64) -> u8 {
    let mut redundant = 0;
    for j in 0..N {
        let pivot = matrix[j][j];
        // A branch and not a selection: it is foreseen, and the next pivot need not wait for it.
        let inverse = if pivot.abs() <= tolerance * scale[j] {
            redundant |= 1 << j;
            0.0
        } else {
            1.0 / pivot
        };
        matrix[j][j] = inverse;
        for i in j + 1..N {
            let lower = matrix[i][j] * inverse;
            // Column j above row i already holds L; the entries from row i down are still L times the pivot.
            for k in i..N {
                matrix[k][i] = (-lower).mul_add(matrix[k][j], matrix[k][i]);
            }
            matrix[i][j] = lower;
        }
    }
    redundant
}

/// Solves with what [`factor`] left: right-hand side in, solution out.
#[inline(always)]
pub fn solve<const N: usize>(factor: &[[f64; N]; N], x: &mut [f64; N]) {
    forward(factor, x);
    for i in 0..N {
        x[i] *= factor[i][i];
    }
    backward(factor, x);
}

/// `x ← L⁻¹ x`.
#[inline(always)]
fn forward<const N: usize>(factor: &[[f64; N]; N], x: &mut [f64; N]) {
    for j in 0..N {
        for i in j + 1..N {
            x[i] = (-factor[i][j]).mul_add(x[j], x[i]);
        }
    }
}

/// `x ← L⁻ᵀ x`.
#[inline(always)]
fn backward<const N: usize>(factor: &[[f64; N]; N], x: &mut [f64; N]) {
    for i in (0..N).rev() {
        for j in 0..i {
            x[j] = (-factor[i][j]).mul_add(x[i], x[j]);
        }
    }
}

/// [`factor`] for a block whose size, `scale.len()` in `1..=6`, is known only at run time; `matrix` is row-major.
///
/// # Panics
///
/// If the size is out of range or `matrix` is not square.
pub fn factor_block(matrix: &mut [f64], scale: &[f64], tolerance: f64) -> u8 {
    assert_eq!(matrix.len(), scale.len() * scale.len(), "a square block");
    for_size!(scale.len(), N => factor::<N>(block_mut(matrix), head(scale), tolerance))
}

/// [`solve`] for a block whose size, `x.len()` in `1..=6`, is known only at run time.
///
/// # Panics
///
/// If the size is out of range or `factor` is not square.
pub fn solve_block(factor: &[f64], x: &mut [f64]) {
    assert_eq!(factor.len(), x.len() * x.len(), "a square block");
    for_size!(x.len(), N => solve::<N>(block(factor), head_mut(x)))
}

/// The first `R` rows of `C` columns of row-major storage.
#[inline(always)]
pub(crate) fn block<const R: usize, const C: usize>(values: &[f64]) -> &[[f64; C]; R] {
    values
        .as_chunks()
        .0
        .first_chunk()
        .expect("a block lies in its storage")
}

/// As [`block`], to write.
#[inline(always)]
pub(crate) fn block_mut<const R: usize, const C: usize>(values: &mut [f64]) -> &mut [[f64; C]; R] {
    values
        .as_chunks_mut()
        .0
        .first_chunk_mut()
        .expect("a block lies in its storage")
}

/// The first `N` of some values.
#[inline(always)]
pub(crate) fn head<const N: usize>(values: &[f64]) -> &[f64; N] {
    values.first_chunk().expect("a node lies in its vector")
}

/// As [`head`], to write.
#[inline(always)]
pub(crate) fn head_mut<const N: usize>(values: &mut [f64]) -> &mut [f64; N] {
    values.first_chunk_mut().expect("a node lies in its vector")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_indefinite_block_is_solved() {
        let full = [[4.0, 1.0, -2.0], [1.0, -3.0, 0.5], [-2.0, 0.5, 5.0]];
        let truth = [1.0, -2.0, 3.0];
        let mut x = full.map(|row| row.iter().zip(truth).map(|(a, b)| a * b).sum::<f64>());
        let mut factored = full;
        assert_eq!(factor(&mut factored, &[1.0; 3], 1e-12), 0);
        solve(&factored, &mut x);
        for (found, wanted) in x.iter().zip(truth) {
            assert!((found - wanted).abs() < 1e-14);
        }
    }

    #[test]
    fn a_redundant_row_is_dropped() {
        // The third row is the sum of the others, and so is its right-hand side.
        let full = [[2.0, 1.0, 3.0], [1.0, 3.0, 4.0], [3.0, 4.0, 7.0]];
        let mut factored = full.as_flattened().to_vec();
        let mut x = [3.0, 4.0, 7.0];
        assert_eq!(factor_block(&mut factored, &[2.0, 3.0, 7.0], 1e-12), 0b100);
        solve_block(&factored, &mut x);
        assert_eq!(x[2], 0.0);
        for (row, wanted) in full.iter().zip([3.0, 4.0, 7.0]) {
            let got: f64 = row.iter().zip(x).map(|(a, b)| a * b).sum();
            assert!((got - wanted).abs() < 1e-13);
        }
    }

    #[test]
    fn what_is_not_a_number_is_not_hidden() {
        let mut matrix = [[f64::NAN]];
        assert_eq!(factor(&mut matrix, &[1.0], 1e-12), 0);
        assert!(matrix[0][0].is_nan());
    }
}

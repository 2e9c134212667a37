//! Symmetric 3×3 matrices: eigenvalues and a right-handed frame of eigenvectors.

use glam::{DMat3, DQuat, DVec3};

/// More sweeps than Jacobi's method ever needs: it converges quadratically, and six are enough for all digits.
const SWEEPS: usize = 32;

/// The principal axes of the symmetric matrix `tensor`: its eigenvalues in ascending order, and the rotation whose x, y
/// and z axes are the eigenvectors that belong to them, so that `R · diag(values) · Rᵀ` is `tensor`.
///
/// Cyclic Jacobi rotations (Golub and Van Loan, 8.5): no closed form for the roots of a cubic is as exact when two or
/// all three of them are equal, as they are for most things that people build. A matrix that is diagonal already keeps
/// its axes up to their order. Only the upper triangle is read. Not finite in, not finite out.
pub fn principal(tensor: &DMat3) -> (DVec3, DQuat) {
    let t = tensor.to_cols_array_2d();
    let mut a = [
        [t[0][0], t[1][0], t[2][0]],
        [t[1][0], t[1][1], t[2][1]],
        [t[2][0], t[2][1], t[2][2]],
    ];
    // Columns of `v` are the eigenvectors: v[row][column].
    let mut v = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for _ in 0..SWEEPS {
        let off = a[0][1].abs() + a[0][2].abs() + a[1][2].abs();
        let on = a[0][0].abs() + a[1][1].abs() + a[2][2].abs();
        // Written so that NaN ends the loop too.
        if off.partial_cmp(&(f64::EPSILON * 1e-3 * on)) != Some(std::cmp::Ordering::Greater) {
            break;
        }
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            rotate(&mut a, &mut v, p, q);
        }
    }
    let mut order = [0, 1, 2];
    order.sort_by(|&i, &j| a[i][i].total_cmp(&a[j][j]));
    let values = DVec3::new(
        a[order[0]][order[0]],
        a[order[1]][order[1]],
        a[order[2]][order[2]],
    );
    let column = |k: usize| DVec3::new(v[0][k], v[1][k], v[2][k]);
    let (x, y) = (column(order[0]).normalize(), column(order[1]).normalize());
    let axes = DMat3::from_cols(x, y, x.cross(y));
    (values, DQuat::from_mat3(&axes).normalize())
}

/// One Jacobi rotation: makes a[p][q] zero.
fn rotate(a: &mut [[f64; 3]; 3], v: &mut [[f64; 3]; 3], p: usize, q: usize) {
    if a[p][q] == 0.0 {
        return;
    }
    // The smaller of the two angles that do it, without cancellation.
    let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    let tangent = if theta.abs() > 1e150 {
        // θ² would overflow.
        0.5 / theta
    } else {
        theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt())
    };
    let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
    let sine = tangent * cosine;
    a[p][p] -= tangent * a[p][q];
    a[q][q] += tangent * a[p][q];
    a[p][q] = 0.0;
    a[q][p] = 0.0;
    let r = 3 - p - q;
    let (rp, rq) = (a[r][p], a[r][q]);
    a[r][p] = cosine * rp - sine * rq;
    a[p][r] = a[r][p];
    a[r][q] = sine * rp + cosine * rq;
    a[q][r] = a[r][q];
    for row in v {
        let (vp, vq) = (row[p], row[q]);
        row[p] = cosine * vp - sine * vq;
        row[q] = sine * vp + cosine * vq;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rotation;

    fn built(values: DVec3, axes: DQuat) -> DMat3 {
        let r = DMat3::from_quat(axes);
        r * DMat3::from_diagonal(values) * r.transpose()
    }

    #[test]
    fn the_axes_put_the_matrix_back_together() {
        let turns = [
            DVec3::ZERO,
            DVec3::new(1e-9, 0.0, 0.0),
            DVec3::new(0.3, -1.2, 0.7),
            DVec3::new(3.0, 0.2, -0.1),
        ];
        let spectra = [
            DVec3::new(1.0, 2.0, 3.0),
            DVec3::new(1.0, 1.0, 1.0),
            DVec3::new(1.0, 1.0, 2.0),
            DVec3::new(1e-12, 1.0, 1.0 + 1e-12),
            DVec3::new(-2.0, 0.0, 5.0),
            DVec3::ZERO,
        ];
        for turn in turns {
            for values in spectra {
                let tensor = built(values, rotation::from_scaled_axis(turn));
                let (found, axes) = principal(&tensor);
                assert!((found - values).length() < 1e-14, "{found} {values}");
                assert!((axes.length() - 1.0).abs() < 1e-14);
                let error = built(found, axes) - tensor;
                assert!(error.to_cols_array().iter().all(|e| e.abs() < 1e-14));
            }
        }
    }

    #[test]
    fn scale_does_not_matter_and_bad_numbers_do_not_hang() {
        for scale in [1e-300, 1e-12, 1e12, 1e300] {
            let values = DVec3::new(1.0, 2.0, 3.0) * scale;
            let q = rotation::from_scaled_axis(DVec3::new(0.3, -1.2, 0.7));
            let (found, _) = principal(&built(values, q));
            assert!((found / scale - DVec3::new(1.0, 2.0, 3.0)).length() < 1e-13);
        }
        assert!(!principal(&(DMat3::IDENTITY * f64::NAN)).0.is_finite());
    }
}

//! Vertex normals.

use glam::DVec3;

/// Writes unit vertex normals into `normals`, weighted by the area of the triangles around each vertex.
///
/// `normals` is resized to `positions`; once it has been that long it is not reallocated, so a deforming surface may call
/// this every step. A vertex without area around it gets the zero vector, never NaN.
pub fn normals_into(positions: &[DVec3], triangles: &[[u32; 3]], normals: &mut Vec<DVec3>) {
    normals.clear();
    normals.resize(positions.len(), DVec3::ZERO);
    for &triangle in triangles {
        let Some([a, b, c]) = crate::surface::corners(positions, triangle) else {
            continue;
        };
        // Twice the area times the unit normal: the area weighting comes for free.
        let normal = (b - a).cross(c - a);
        for vertex in triangle {
            normals[vertex as usize] += normal;
        }
    }
    for normal in normals {
        *normal = normal.normalize_or_zero();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::tests::tetrahedron;

    #[test]
    fn normals_of_a_cube_corner() {
        let normals = tetrahedron().normals();
        assert!(normals[0].abs_diff_eq(-DVec3::ONE.normalize(), 1e-15));
        assert!(normals.iter().all(|n| (n.length() - 1.0).abs() < 1e-15));
    }

    #[test]
    fn memory_is_reused_and_flat_triangles_give_zero() {
        let surface = tetrahedron();
        let mut normals = surface.normals();
        let before = normals.as_ptr();
        normals_into(&[DVec3::ZERO; 4], &surface.triangles, &mut normals);
        assert_eq!(normals, [DVec3::ZERO; 4]);
        assert_eq!(normals.as_ptr(), before);
    }
}

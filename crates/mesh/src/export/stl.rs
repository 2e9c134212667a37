//! Binary STL: for printers and CAD. Rounds to `f32` and forgets which vertices are shared.

use std::path::Path;

use super::{ExportError, atomic};
use crate::surface::Surface;

/// Writes a surface as binary STL, rounded to `f32`.
pub fn write_stl(path: impl AsRef<Path>, surface: &Surface) -> Result<(), ExportError> {
    atomic::write(path.as_ref(), &to_stl(surface)?)
}

/// The bytes of a binary STL file.
pub fn to_stl(surface: &Surface) -> Result<Vec<u8>, ExportError> {
    surface.check()?;
    let mut bytes = Vec::with_capacity(84 + 50 * surface.triangles.len());
    // Not "solid", which would look like ASCII.
    bytes.extend(b"Trocar surface, in metres");
    bytes.resize(80, b' ');
    bytes.extend((surface.triangles.len() as u32).to_le_bytes());
    for [a, b, c] in surface.triangles.iter().filter_map(|&t| surface.corners(t)) {
        let normal = (b - a).cross(c - a).normalize_or_zero();
        for vector in [normal, a, b, c] {
            bytes.extend(
                vector
                    .to_array()
                    .iter()
                    .flat_map(|&x| (x as f32).to_le_bytes()),
            );
        }
        bytes.extend([0, 0]);
    }
    Ok(bytes)
}

//! Wavefront OBJ: exact, readable by everything.

use std::fmt::Write;
use std::path::Path;

use super::{ExportError, atomic};
use crate::surface::Surface;

/// Writes a surface as OBJ, with all digits: reading it back gives the same bits.
pub fn write_obj(path: impl AsRef<Path>, surface: &Surface) -> Result<(), ExportError> {
    atomic::write(path.as_ref(), to_obj(surface)?.as_bytes())
}

/// The text of an OBJ file.
pub fn to_obj(surface: &Surface) -> Result<String, ExportError> {
    surface.check()?;
    let mut text = String::from("# Trocar surface, in metres\n");
    // Writing into a string cannot fail.
    for p in &surface.positions {
        writeln!(text, "v {:?} {:?} {:?}", p.x, p.y, p.z).ok();
    }
    for &[a, b, c] in &surface.triangles {
        writeln!(
            text,
            "f {} {} {}",
            u64::from(a) + 1,
            u64::from(b) + 1,
            u64::from(c) + 1
        )
        .ok();
    }
    Ok(text)
}

//! Reading surfaces from files that others wrote.
//!
//! Files are hostile until checked: nothing is allocated on a count's word alone, every index and number is checked, and
//! what cannot be read is an error that names the place and a remedy. Nothing here panics, whatever the bytes.
//!
//! Readers give what the file says, in the file's unit. [`Surface::repair`] makes it usable: an STL file, for one, is a
//! soup of unconnected triangles until its vertices are welded. Polygons become fans of triangles; of tetrahedra, the
//! boundary is kept, facing outwards.

mod base64;
mod cells;
mod error;
mod format;
mod gmsh;
mod inventor;
mod obj;
mod off;
mod ply;
mod polygons;
mod scalar;
mod scan;
mod stl;
mod vtk;
mod vtu;
mod xml;

use std::fs::File;
use std::io::Read;
use std::path::Path;

pub(crate) use base64::encode as encode_base64;
pub use error::{MeshError, ParseError, Place};
pub use format::Format;
pub use gmsh::parse_gmsh;
pub use inventor::parse_inventor;
pub use obj::parse_obj;
pub use off::parse_off;
pub use ply::parse_ply;
pub use stl::parse_stl;
pub use vtk::parse_vtk;
pub use vtu::parse_vtu;

use crate::limit::MAX_FILE_BYTES;
use crate::surface::Surface;

/// Reads a surface from a file. What the file begins with decides the format; where that says nothing, its extension.
pub fn read(path: impl AsRef<Path>) -> Result<Surface, MeshError> {
    let path = path.as_ref();
    let unreadable = |source| MeshError::Unreadable {
        path: path.into(),
        source,
    };
    let file = File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    // One byte beyond the limit tells a file that is too large from one that just fits, and a pipe cannot lie about it.
    file.take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(MeshError::TooLarge { path: path.into() });
    }
    let format =
        Format::of(&bytes, path).ok_or_else(|| MeshError::UnknownFormat { path: path.into() })?;
    parse(&bytes, format).map_err(|source| MeshError::Malformed {
        path: path.into(),
        source,
    })
}

/// Reads a surface from the bytes of a file of the given format.
pub fn parse(bytes: &[u8], format: Format) -> Result<Surface, ParseError> {
    match format {
        Format::Stl => parse_stl(bytes),
        Format::Obj => parse_obj(bytes),
        Format::Ply => parse_ply(bytes),
        Format::Vtk => parse_vtk(bytes),
        Format::Vtu => parse_vtu(bytes),
        Format::Off => parse_off(bytes),
        Format::Gmsh => parse_gmsh(bytes),
        Format::Inventor => parse_inventor(bytes),
    }
}

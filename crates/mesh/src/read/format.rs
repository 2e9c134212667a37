//! Telling formats apart.

use std::fmt;
use std::path::Path;

/// A file format that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Stereolithography, binary or ASCII.
    Stl,
    /// Wavefront OBJ.
    Obj,
    /// Stanford polygon file, ASCII or binary.
    Ply,
    /// Legacy VTK: polydata or unstructured grid, ASCII or binary.
    Vtk,
    /// XML VTK: unstructured grid (`.vtu`) or polydata (`.vtp`), ASCII or inline base64.
    Vtu,
    /// Object file format, ASCII.
    Off,
    /// Gmsh `.msh` version 1, 2 or 4, ASCII.
    Gmsh,
    /// Open Inventor, ASCII.
    Inventor,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Stl => "STL",
            Format::Obj => "OBJ",
            Format::Ply => "PLY",
            Format::Vtk => "legacy VTK",
            Format::Vtu => "XML VTK",
            Format::Off => "OFF",
            Format::Gmsh => "Gmsh",
            Format::Inventor => "Open Inventor",
        })
    }
}

impl Format {
    /// What a file is, by how it begins, else by its extension, else by a guess at its content.
    pub fn of(bytes: &[u8], path: &Path) -> Option<Format> {
        Format::of_magic(bytes)
            .or_else(|| Format::of_extension(path))
            .or_else(|| Format::guess(bytes))
    }

    /// By beginnings that nothing else has.
    fn of_magic(bytes: &[u8]) -> Option<Format> {
        const MAGIC: [(&[u8], Format); 9] = [
            (b"# vtk DataFile", Format::Vtk),
            (b"<VTKFile", Format::Vtu),
            (b"<?xml", Format::Vtu),
            (b"ply\n", Format::Ply),
            (b"ply\r", Format::Ply),
            (b"$MeshFormat", Format::Gmsh),
            (b"$NOD", Format::Gmsh),
            (b"OFF", Format::Off),
            (b"#Inventor", Format::Inventor),
        ];
        let bytes = bytes.trim_ascii_start();
        MAGIC
            .iter()
            .find(|(magic, _)| bytes.starts_with(magic))
            .map(|&(_, format)| format)
    }

    fn of_extension(path: &Path) -> Option<Format> {
        Some(
            match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
                "stl" => Format::Stl,
                "obj" => Format::Obj,
                "ply" => Format::Ply,
                "vtk" => Format::Vtk,
                "vtu" | "vtp" => Format::Vtu,
                "off" => Format::Off,
                "msh" => Format::Gmsh,
                "iv" => Format::Inventor,
                _ => return None,
            },
        )
    }

    /// STL and OBJ have no magic number.
    fn guess(bytes: &[u8]) -> Option<Format> {
        if super::stl::looks_binary(bytes) || bytes.trim_ascii_start().starts_with(b"solid") {
            return Some(Format::Stl);
        }
        let mut lines = bytes.split(|&b| b == b'\n').take(1000);
        lines
            .any(|line| line.starts_with(b"v "))
            .then_some(Format::Obj)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_goes_before_extension() {
        let of = |bytes: &[u8], name: &str| Format::of(bytes, Path::new(name));
        assert_eq!(of(b"ply\nformat", "liver.obj"), Some(Format::Ply));
        assert_eq!(of(b"# a comment\n", "liver.OBJ"), Some(Format::Obj));
        assert_eq!(of(b"# made by hand\nv 0 0 0\n", "liver"), Some(Format::Obj));
        assert_eq!(of(b"solid liver\nfacet", "liver"), Some(Format::Stl));
        assert_eq!(of(b"\x89PNG", "liver.png"), None);
    }
}

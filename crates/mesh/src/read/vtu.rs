//! XML VTK: unstructured grids (`.vtu`) and polydata (`.vtp`), with numbers as text or inline base64.

use glam::DVec3;

use super::base64;
use super::cells::Cells;
use super::error::ParseError;
use super::format::Format;
use super::scalar::{Encoding, Number, Scalar};
use super::scan::Scan;
use super::vtk::Lists;
use super::xml::Tag;
use crate::surface::Surface;

const WRITE_PLAIN: &str =
    "write it uncompressed, as ASCII or inline binary (in ParaView: Data Mode, Compressor None)";

/// Reads XML VTK: the polygons and strips of a polydata file, or of an unstructured grid the boundary of its tetrahedra
/// (its polygons if it has none). Compressed and appended data are refused with advice.
pub fn parse_vtu(bytes: &[u8]) -> Result<Surface, ParseError> {
    let mut scan = Scan::new(bytes, Format::Vtu);
    let mut layout = None;
    let mut cells = Cells::default();
    let mut pieces = 0;
    // The section we are in (Points, Cells, Polys, …) and its arrays so far.
    let mut section = Section::default();
    while let Some(tag) = Tag::next(&mut scan)? {
        match (tag.name, &layout) {
            ("VTKFile", _) => layout = Some(Layout::of(&tag, &scan)?),
            ("Piece", _) => pieces += 1,
            ("Points" | "Cells" | "Polys" | "Strips", _) => {
                section = Section {
                    name: tag.name,
                    ..Section::default()
                }
            }
            ("DataArray", Some(layout)) => section.read(&tag, layout, &scan)?,
            ("/Points" | "/Cells" | "/Polys" | "/Strips", _) => {
                std::mem::take(&mut section).add(&mut cells, &scan)?
            }
            _ => {}
        }
        if pieces > 1 {
            return Err(scan.error(
                "it has more than one piece",
                "merge the pieces before writing it",
            ));
        }
    }
    if layout.is_none() {
        return Err(scan.error("there is no <VTKFile>", "check that it is an XML VTK file"));
    }
    cells.into_surface(Format::Vtu)
}

/// How numbers are laid out in this file.
struct Layout {
    encoding: Encoding,
    header: Scalar,
}

impl Layout {
    fn of(tag: &Tag<'_>, scan: &Scan<'_>) -> Result<Self, ParseError> {
        match tag.attribute("type") {
            Some("UnstructuredGrid" | "PolyData") => {}
            kind => {
                let problem = format!(
                    "a file of the type {} is not read",
                    kind.unwrap_or("(none)")
                );
                return Err(scan.error(
                    problem,
                    "export it as UnstructuredGrid (.vtu) or PolyData (.vtp)",
                ));
            }
        }
        if tag.attribute("compressor").is_some() {
            return Err(scan.error("it is compressed", WRITE_PLAIN));
        }
        let encoding = if tag.attribute("byte_order") == Some("BigEndian") {
            Encoding::Big
        } else {
            Encoding::Little
        };
        let header = if tag.attribute("header_type") == Some("UInt64") {
            Scalar::U64
        } else {
            Scalar::U32
        };
        Ok(Layout { encoding, header })
    }
}

/// An element that holds arrays of interest.
#[derive(Default)]
struct Section<'a> {
    name: &'a str,
    points: Vec<Number>,
    connectivity: Vec<Number>,
    offsets: Vec<Number>,
    types: Vec<Number>,
}

impl<'a> Section<'a> {
    fn read(&mut self, tag: &Tag<'a>, layout: &Layout, scan: &Scan<'a>) -> Result<(), ParseError> {
        let array = match (self.name, tag.attribute("Name").unwrap_or_default()) {
            ("Points", _) => &mut self.points,
            ("Cells" | "Polys" | "Strips", "connectivity") => &mut self.connectivity,
            ("Cells" | "Polys" | "Strips", "offsets") => &mut self.offsets,
            ("Cells", "types") => &mut self.types,
            _ => return Ok(()),
        };
        *array = numbers(tag, layout, scan)?;
        Ok(())
    }

    fn add(self, cells: &mut Cells, scan: &Scan<'_>) -> Result<(), ParseError> {
        if self.name == "Points" {
            let triples = self.points.chunks_exact(3);
            if !triples.remainder().is_empty() {
                return Err(scan.broken("the coordinates do not come in threes"));
            }
            cells.surface.positions = triples
                .map(|p| DVec3::new(p[0].real(), p[1].real(), p[2].real()))
                .collect();
            return Ok(());
        }
        let lists = Lists::ending(&self.offsets, &self.connectivity)
            .ok_or_else(|| scan.broken("the offsets do not cut up the connectivity"))?;
        match self.name {
            "Polys" => lists.add_all(cells, 7, scan),
            "Strips" => lists.add_all(cells, 6, scan),
            _ => lists.add_each(cells, &self.types, scan),
        }
    }
}

/// The numbers of a `DataArray`.
fn numbers(tag: &Tag<'_>, layout: &Layout, scan: &Scan<'_>) -> Result<Vec<Number>, ParseError> {
    let name = tag.attribute("type").unwrap_or_default();
    let scalar = type_of(name).ok_or_else(|| scan.broken(format!("`{name}` is no number type")))?;
    match tag.attribute("format") {
        Some("ascii") | None => {
            let mut text = scan.first(tag.text.len());
            let mut numbers = Vec::new();
            while text.peek().is_some() {
                numbers.push(text.scalar(scalar, Encoding::Ascii, "a number of an array")?);
            }
            Ok(numbers)
        }
        Some("binary") => {
            let bytes =
                base64::decode(tag.text).ok_or_else(|| scan.broken("an array is no base64"))?;
            let mut data = Scan::new(&bytes, Format::Vtu);
            let misplaced = |error: ParseError| {
                scan.error(format!("in an array: {}", error.problem), error.remedy)
            };
            let length = data
                .scalar(layout.header, layout.encoding, "the length of an array")
                .map_err(misplaced)?
                .whole();
            let count = usize::try_from(length).unwrap_or(usize::MAX) / scalar.size();
            data.scalars(count, scalar, layout.encoding, "numbers")
                .map_err(misplaced)
        }
        Some(other) => Err(scan.error(format!("an array has the format `{other}`"), WRITE_PLAIN)),
    }
}

fn type_of(name: &str) -> Option<Scalar> {
    Some(match name {
        "Int8" => Scalar::I8,
        "UInt8" => Scalar::U8,
        "Int16" => Scalar::I16,
        "UInt16" => Scalar::U16,
        "Int32" => Scalar::I32,
        "UInt32" => Scalar::U32,
        "Int64" => Scalar::I64,
        "UInt64" => Scalar::U64,
        "Float32" => Scalar::F32,
        "Float64" => Scalar::F64,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASCII: &str = r#"<?xml version="1.0"?>
<!-- <VTKFile> a > comment -->
<VTKFile type="UnstructuredGrid" version="0.1" byte_order='LittleEndian'>
  <UnstructuredGrid><Piece NumberOfPoints="4" NumberOfCells="1">
    <PointData><DataArray type="Float32" Name="u" format="ascii"> 1 2 3 4 </DataArray></PointData>
    <Points><DataArray type="Float64" NumberOfComponents="3" format="ascii"> 0 0 0 1 0 0 0 1 0
       0 0 1</DataArray></Points>
    <Cells>
      <DataArray type="Int32" Name="connectivity" format="ascii">0 1 2 3</DataArray>
      <DataArray type="Int32" Name="offsets" format="ascii">4</DataArray>
      <DataArray type="UInt8" Name="types" format="ascii">10</DataArray>
    </Cells>
  </Piece></UnstructuredGrid>
</VTKFile>"#;

    #[test]
    fn reads_ascii_tetrahedra() {
        let surface = parse_vtu(ASCII.as_bytes()).unwrap();
        assert!((surface.volume() - 1.0 / 6.0).abs() < 1e-15);
        assert!(surface.topology().is_closed());
    }

    #[test]
    fn errors_name_place_and_remedy() {
        let error = |text: String| parse_vtu(text.as_bytes()).unwrap_err().to_string();
        let appended = error(ASCII.replace(
            r#""offsets" format="ascii""#,
            r#""offsets" format="appended" offset="0""#,
        ));
        assert!(
            appended.contains("line 10") && appended.contains("Data Mode"),
            "{appended}"
        );
        assert!(
            error(ASCII.replace("version=", "compressor='vtkZLibDataCompressor' version="))
                .contains("compressed")
        );
        assert!(error(ASCII.replace("0 1 2 3<", "0 1 2 9<")).contains("tetrahedron"));
        assert!(error(ASCII.replace(">4<", ">5<")).contains("offsets"));
        assert!(error(ASCII.replace("0 0 1<", "0 0 x<")).contains("line 7"));
        assert!(error(ASCII.replace("</VTKFile>", "<VTKFile")).contains("no end"));
        assert!(error("<a>".into()).contains("VTKFile"));
    }
}

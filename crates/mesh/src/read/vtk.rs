//! Legacy VTK: polydata and unstructured grids, ASCII and binary, versions 1 to 5.

use glam::DVec3;

use super::cells::Cells;
use super::error::ParseError;
use super::format::Format;
use super::scalar::{Encoding, Number, Scalar};
use super::scan::{Scan, excerpt};
use crate::surface::Surface;

const POLYGON: i64 = 7;
const STRIP: i64 = 6;

/// Reads legacy VTK: the polygons and strips of `POLYDATA`, or of an `UNSTRUCTURED_GRID` the boundary of its tetrahedra
/// (its polygons if it has none). Data on points and cells is passed over.
pub fn parse_vtk(bytes: &[u8]) -> Result<Surface, ParseError> {
    let mut file = VtkFile::open(bytes)?;
    let mut cells = Cells::default();
    let mut lists: Option<Lists> = None;
    while let Some(keyword) = file.scan.word() {
        match keyword.to_ascii_uppercase().as_slice() {
            b"POINTS" => cells.surface.positions = file.points()?,
            b"POLYGONS" => file.lists()?.add_all(&mut cells, POLYGON, &file.scan)?,
            b"TRIANGLE_STRIPS" => file.lists()?.add_all(&mut cells, STRIP, &file.scan)?,
            b"VERTICES" | b"LINES" => drop(file.lists()?),
            b"CELLS" => lists = Some(file.lists()?),
            b"CELL_TYPES" => {
                let lists = lists
                    .take()
                    .ok_or_else(|| file.scan.broken("CELL_TYPES stands before CELLS"))?;
                let count = file.scan.count("cell types", 1)?;
                let types = file.array(count, Scalar::I32, "cell types")?;
                lists.add_each(&mut cells, &types, &file.scan)?;
            }
            b"METADATA" => {
                file.scan.line();
                while file.scan.line().is_some_and(|line| !line.is_empty()) {}
            }
            b"FIELD" => file.skip_field()?,
            // What follows is about points and cells, not where they are.
            b"POINT_DATA" | b"CELL_DATA" => break,
            other => {
                let problem = format!(
                    "`{}` stands where a section like POINTS or POLYGONS should begin",
                    excerpt(other)
                );
                return Err(file.scan.broken(problem));
            }
        }
    }
    if lists.is_some() {
        return Err(file.scan.broken("CELLS has no CELL_TYPES"));
    }
    cells.into_surface(Format::Vtk)
}

struct VtkFile<'a> {
    scan: Scan<'a>,
    encoding: Encoding,
    /// From version 5 on, lists come as offsets and connectivity.
    has_offsets: bool,
}

impl<'a> VtkFile<'a> {
    fn open(bytes: &'a [u8]) -> Result<Self, ParseError> {
        let mut scan = Scan::new(bytes, Format::Vtk);
        let first = scan.line().unwrap_or_default();
        let Some(version) = first.strip_prefix(b"# vtk DataFile Version ") else {
            return Err(scan.error(
                "it does not begin with `# vtk DataFile Version`",
                "check that it is a legacy VTK file",
            ));
        };
        let has_offsets = version
            .first()
            .is_some_and(|digit| (b'5'..=b'9').contains(digit));
        scan.line(); // The title.
        let encoding = match scan.word() {
            Some(b"ASCII") => Encoding::Ascii,
            Some(b"BINARY") => Encoding::Big,
            _ => return Err(scan.broken("the third line is neither ASCII nor BINARY")),
        };
        match (scan.word(), scan.word()) {
            (Some(b"DATASET"), Some(b"POLYDATA" | b"UNSTRUCTURED_GRID")) => {}
            (Some(b"DATASET"), Some(kind)) => {
                let problem = format!("a dataset of the kind {} is not read", excerpt(kind));
                return Err(scan.error(problem, "export it as POLYDATA or UNSTRUCTURED_GRID"));
            }
            _ => return Err(scan.broken("the fourth line names no DATASET")),
        }
        Ok(Self {
            scan,
            encoding,
            has_offsets,
        })
    }

    fn points(&mut self) -> Result<Vec<DVec3>, ParseError> {
        let count = self.scan.count("points", 3)?;
        let scalar = self.scalar_type()?;
        let numbers = self.array(count.saturating_mul(3), scalar, "coordinates")?;
        Ok(numbers
            .chunks_exact(3)
            .map(|p| DVec3::new(p[0].real(), p[1].real(), p[2].real()))
            .collect())
    }

    /// The lists of vertices of a section, in either form.
    fn lists(&mut self) -> Result<Lists, ParseError> {
        let first = self.scan.count("lists", 1)?;
        let second = self.scan.count("list entries", 1)?;
        if !self.has_offsets {
            let numbers = self.array(second, Scalar::I32, "list entries")?;
            return Lists::counted(&numbers, first).ok_or_else(|| {
                self.scan.broken(format!(
                    "{first} lists do not fill the {second} numbers that were announced for them"
                ))
            });
        }
        let offsets = self.named_array(b"OFFSETS", first)?;
        let entries = self.named_array(b"CONNECTIVITY", second)?;
        Lists::offset(&offsets, &entries).ok_or_else(|| {
            self.scan
                .broken("the offsets do not cut up the connectivity")
        })
    }

    fn named_array(&mut self, name: &[u8], count: usize) -> Result<Vec<Number>, ParseError> {
        if self.scan.word() != Some(name) {
            return Err(self
                .scan
                .broken(format!("the array {} is missing", excerpt(name))));
        }
        let scalar = self.scalar_type()?;
        self.array(count, scalar, "list entries")
    }

    fn array(
        &mut self,
        count: usize,
        scalar: Scalar,
        what: &str,
    ) -> Result<Vec<Number>, ParseError> {
        if self.encoding != Encoding::Ascii {
            // The numbers begin right after the end of the line; the first may look like white space.
            self.scan.line();
        }
        self.scan.scalars(count, scalar, self.encoding, what)
    }

    fn skip_field(&mut self) -> Result<(), ParseError> {
        self.scan.word(); // Its name.
        for _ in 0..self.scan.count("arrays", 1)? {
            self.scan.word(); // The array's name.
            let components = self.scan.count("components", 1)?;
            let tuples = self.scan.count("tuples", 1)?;
            if self.scan.peek() == Some(b"string") {
                return Err(self.scan.error(
                    "fields of strings are not read",
                    "export it without field data",
                ));
            }
            let scalar = self.scalar_type()?;
            self.array(components.saturating_mul(tuples), scalar, "field values")?;
        }
        Ok(())
    }

    fn scalar_type(&mut self) -> Result<Scalar, ParseError> {
        let word = self.scan.word().unwrap_or_default();
        Ok(match word.to_ascii_lowercase().as_slice() {
            b"float" => Scalar::F32,
            b"double" => Scalar::F64,
            b"char" => Scalar::I8,
            b"unsigned_char" => Scalar::U8,
            b"short" => Scalar::I16,
            b"unsigned_short" => Scalar::U16,
            b"int" => Scalar::I32,
            b"unsigned_int" => Scalar::U32,
            // A C++ long: eight bytes wherever VTK files are made today.
            b"long" | b"vtkidtype" | b"vtktypeint64" => Scalar::I64,
            b"unsigned_long" => Scalar::U64,
            other => {
                return Err(self
                    .scan
                    .broken(format!("`{}` is no number type", excerpt(other))));
            }
        })
    }
}

/// Lists of vertices, one after the other.
pub(super) struct Lists {
    entries: Vec<i64>,
    /// Where each list ends in `entries`.
    ends: Vec<usize>,
}

impl Lists {
    /// From numbers that each list begins with its length. Nothing if the lengths do not add up.
    fn counted(numbers: &[Number], count: usize) -> Option<Self> {
        let mut lists = Lists {
            entries: Vec::with_capacity(numbers.len()),
            ends: Vec::with_capacity(count),
        };
        let mut rest = numbers;
        for _ in 0..count {
            let (length, after) = rest.split_first()?;
            let (list, after) = after.split_at_checked(usize::try_from(length.whole()).ok()?)?;
            lists.entries.extend(list.iter().map(|n| n.whole()));
            lists.ends.push(lists.entries.len());
            rest = after;
        }
        rest.is_empty().then_some(lists)
    }

    /// From offsets that begin with 0 and end with the number of entries.
    fn offset(offsets: &[Number], entries: &[Number]) -> Option<Self> {
        match offsets.split_first() {
            Some((first, ends)) if first.whole() == 0 => Lists::ending(ends, entries),
            None if entries.is_empty() => Lists::ending(&[], &[]),
            _ => None,
        }
    }

    /// From where each list ends. Nothing if the ends go backwards or beyond the entries.
    pub fn ending(ends: &[Number], entries: &[Number]) -> Option<Self> {
        let ends: Option<Vec<usize>> = ends
            .iter()
            .map(|n| usize::try_from(n.whole()).ok())
            .collect();
        let ends =
            ends.filter(|e| e.is_sorted() && e.last().copied().unwrap_or(0) == entries.len())?;
        Some(Lists {
            entries: entries.iter().map(|n| n.whole()).collect(),
            ends,
        })
    }

    fn iter(&self) -> impl Iterator<Item = &[i64]> {
        let mut start = 0;
        self.ends
            .iter()
            .map(move |&end| &self.entries[std::mem::replace(&mut start, end)..end])
    }

    /// Adds every list as a cell of the same type, in VTK's numbering.
    pub fn add_all(
        &self,
        cells: &mut Cells,
        vtk_type: i64,
        scan: &Scan<'_>,
    ) -> Result<(), ParseError> {
        self.iter()
            .try_for_each(|list| cells.add(vtk_type, list, scan))
    }

    /// Adds every list as a cell of its own type.
    pub fn add_each(
        &self,
        cells: &mut Cells,
        types: &[Number],
        scan: &Scan<'_>,
    ) -> Result<(), ParseError> {
        if types.len() != self.ends.len() {
            return Err(scan.broken(format!(
                "there are {} cell types for {} cells",
                types.len(),
                self.ends.len()
            )));
        }
        self.iter()
            .zip(types)
            .try_for_each(|(list, kind)| cells.add(kind.whole(), list, scan))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASCII: &str = "# vtk DataFile Version 3.0\ntitle\nASCII\nDATASET POLYDATA\nPOINTS 4 float\n0 0 0 1 0 0\n1 1 0 0 1 0\n\
        METADATA\nINFORMATION 0\n\nVERTICES 1 2\n1 0\nPOLYGONS 1 5\n4 0 1 2 3\nTRIANGLE_STRIPS 1 5\n4 0 1 3 2\nPOINT_DATA 4\nwhatever";

    #[test]
    fn reads_ascii_polydata() {
        let surface = parse_vtk(ASCII.as_bytes()).unwrap();
        assert_eq!(
            surface.triangles,
            [[0, 1, 2], [0, 2, 3], [0, 1, 3], [3, 1, 2]]
        );
    }

    #[test]
    fn reads_version_5_with_offsets_and_fields() {
        let text = "# vtk DataFile Version 5.1\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nFIELD FieldData 1\nTIME 1 1 double\n0.5\n\
            POINTS 4 double\n0 0 0 1 0 0 0 1 0 0 0 1\nCELLS 2 4\nOFFSETS vtktypeint64\n0 4\nCONNECTIVITY vtktypeint64\n0 1 2 3\n\
            CELL_TYPES 1\n10\n";
        let surface = parse_vtk(text.as_bytes()).unwrap();
        assert!((surface.volume() - 1.0 / 6.0).abs() < 1e-15);
        assert!(
            parse_vtk(text.replace("0 4\n", "0 5\n").as_bytes())
                .unwrap_err()
                .to_string()
                .contains("offsets")
        );
    }

    #[test]
    fn reads_binary_whose_numbers_look_like_space() {
        let mut bytes =
            b"# vtk DataFile Version 2.0\nx\nBINARY\nDATASET POLYDATA\nPOINTS 14 float\n".to_vec();
        let points: Vec<f32> = (0..42).map(|i| i as f32).collect();
        bytes.extend(points.iter().flat_map(|x| x.to_be_bytes()));
        bytes.extend(b"\nPOLYGONS 1 4\n");
        bytes.extend(
            [3_i32, 0x0d, 0x0a, 0x09]
                .iter()
                .flat_map(|i| i.to_be_bytes()),
        );
        assert_eq!(parse_vtk(&bytes).unwrap().triangles, [[13, 10, 9]]);
        let error = parse_vtk(&bytes[..bytes.len() - 3]).unwrap_err();
        assert!(error.to_string().contains("byte"), "{error}");
    }

    #[test]
    fn errors_name_the_place() {
        let error = |text: String| parse_vtk(text.as_bytes()).unwrap_err().to_string();
        assert!(error(ASCII.replace("4 0 1 2 3\nT", "4 0 1 2 4\nT")).contains("vertex 4"));
        assert!(error(ASCII.replace("POLYGONS 1 5", "POLYGONS 1 99999")).contains("do not fit"));
        assert!(error(ASCII.replace("POLYGONS 1 5\n4", "POLYGONS 1 5\n3")).contains("do not fill"));
        assert!(
            error(ASCII.replace("POLYDATA", "STRUCTURED_GRID"))
                .contains("line 4: a dataset of the kind")
        );
        assert!(
            error(ASCII.replace("POINTS 4 float\n0", "POINTS 4 float\nhello"))
                .contains("line 6: `hello`")
        );
    }
}

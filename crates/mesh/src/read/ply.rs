//! PLY: the Stanford polygon format, ASCII and binary.

use glam::DVec3;

use super::error::ParseError;
use super::format::Format;
use super::polygons::{add_polygon, finish};
use super::scalar::{Encoding, Number, Scalar};
use super::scan::{Scan, excerpt};
use crate::surface::Surface;

/// Reads the vertices and faces of a PLY file, ASCII or binary of either byte order. Colours, normals and elements of
/// other kinds are passed over.
pub fn parse_ply(bytes: &[u8]) -> Result<Surface, ParseError> {
    let mut scan = Scan::new(bytes, Format::Ply);
    let header = Header::read(&mut scan)?;
    let mut surface = Surface::default();
    for element in &header.elements {
        // Even a number of one byte must be there; an element without properties takes no room, and no time.
        if element.properties.is_empty() {
            continue;
        }
        scan.fits(element.count, element.properties.len(), &element.name)?;
        match element.name.as_str() {
            "vertex" => element.read_vertices(&mut scan, header.encoding, &mut surface)?,
            "face" => element.read_faces(&mut scan, header.encoding, &mut surface)?,
            "tristrips" => {
                return Err(
                    scan.error("triangle strips are not read", "export it with plain faces")
                );
            }
            _ => (0..element.count)
                .try_for_each(|_| element.read_row(&mut scan, header.encoding, |_, _| {}))?,
        }
    }
    finish(surface, Format::Ply)
}

struct Header {
    encoding: Encoding,
    elements: Vec<Element>,
}

struct Element {
    name: String,
    count: usize,
    properties: Vec<Property>,
}

struct Property {
    name: String,
    /// The type of the length, if it is a list.
    length: Option<Scalar>,
    scalar: Scalar,
}

impl Header {
    fn read(scan: &mut Scan<'_>) -> Result<Self, ParseError> {
        if scan.line() != Some(b"ply") {
            return Err(scan.error(
                "it does not begin with `ply`",
                "check that it is a PLY file",
            ));
        }
        let mut encoding = None;
        let mut elements: Vec<Element> = Vec::new();
        loop {
            let here = scan.clone();
            let line = scan
                .line()
                .ok_or_else(|| here.broken("the header has no end"))?;
            let strange = || here.broken(format!("`{}` makes no sense in a header", excerpt(line)));
            let text = std::str::from_utf8(line).map_err(|_| strange())?;
            let words: Vec<&str> = text.split_ascii_whitespace().collect();
            match words.as_slice() {
                ["end_header"] => break,
                [] | ["comment" | "obj_info", ..] => {}
                ["format", "ascii", _] => encoding = Some(Encoding::Ascii),
                ["format", "binary_little_endian", _] => encoding = Some(Encoding::Little),
                ["format", "binary_big_endian", _] => encoding = Some(Encoding::Big),
                ["element", name, count] => {
                    let count = here.parse(count.as_bytes(), "the number of elements")?;
                    elements.push(Element {
                        name: (*name).into(),
                        count,
                        properties: Vec::new(),
                    });
                }
                ["property", rest @ ..] => {
                    let property = Property::read(rest).ok_or_else(strange)?;
                    elements
                        .last_mut()
                        .ok_or_else(strange)?
                        .properties
                        .push(property);
                }
                _ => return Err(strange()),
            }
        }
        let encoding = encoding.ok_or_else(|| scan.broken("the header names no format"))?;
        Ok(Header { encoding, elements })
    }
}

impl Property {
    fn read(words: &[&str]) -> Option<Self> {
        match words {
            ["list", length, scalar, name] => {
                let length = type_of(length).filter(|l| l.is_whole())?;
                Some(Property {
                    name: (*name).into(),
                    length: Some(length),
                    scalar: type_of(scalar)?,
                })
            }
            [scalar, name] => Some(Property {
                name: (*name).into(),
                length: None,
                scalar: type_of(scalar)?,
            }),
            _ => None,
        }
    }
}

fn type_of(name: &str) -> Option<Scalar> {
    Some(match name {
        "char" | "int8" => Scalar::I8,
        "uchar" | "uint8" => Scalar::U8,
        "short" | "int16" => Scalar::I16,
        "ushort" | "uint16" => Scalar::U16,
        "int" | "int32" => Scalar::I32,
        "uint" | "uint32" => Scalar::U32,
        "float" | "float32" => Scalar::F32,
        "double" | "float64" => Scalar::F64,
        _ => return None,
    })
}

impl Element {
    /// Reads one row and hands each property's index and numbers to `visit`.
    fn read_row(
        &self,
        scan: &mut Scan<'_>,
        encoding: Encoding,
        mut visit: impl FnMut(usize, &[Number]),
    ) -> Result<(), ParseError> {
        for (index, property) in self.properties.iter().enumerate() {
            let Some(length) = property.length else {
                visit(
                    index,
                    &[scan.scalar(property.scalar, encoding, &property.name)?],
                );
                continue;
            };
            let count = scan
                .scalar(length, encoding, "the length of a list")?
                .whole();
            let count = usize::try_from(count)
                .map_err(|_| scan.broken(format!("a list has {count} entries")))?;
            visit(
                index,
                &scan.scalars(count, property.scalar, encoding, &property.name)?,
            );
        }
        Ok(())
    }

    fn read_vertices(
        &self,
        scan: &mut Scan<'_>,
        encoding: Encoding,
        surface: &mut Surface,
    ) -> Result<(), ParseError> {
        let column = |name: &str| {
            let found = self
                .properties
                .iter()
                .position(|p| p.name == name && p.length.is_none());
            found.ok_or_else(|| scan.broken(format!("the vertices have no property `{name}`")))
        };
        let columns = [column("x")?, column("y")?, column("z")?];
        surface.positions.reserve(self.count);
        for _ in 0..self.count {
            let mut position = DVec3::NAN;
            self.read_row(scan, encoding, |index, numbers| {
                for axis in 0..3 {
                    if columns[axis] == index {
                        position[axis] = numbers[0].real();
                    }
                }
            })?;
            surface.positions.push(position);
        }
        Ok(())
    }

    fn read_faces(
        &self,
        scan: &mut Scan<'_>,
        encoding: Encoding,
        surface: &mut Surface,
    ) -> Result<(), ParseError> {
        let is_corners = |p: &Property| {
            p.length.is_some() && matches!(p.name.as_str(), "vertex_indices" | "vertex_index")
        };
        let Some(column) = self.properties.iter().position(is_corners) else {
            return Err(scan.broken("the faces have no list `vertex_indices`"));
        };
        let mut corners: Vec<i64> = Vec::new();
        for _ in 0..self.count {
            self.read_row(scan, encoding, |index, numbers| {
                if index == column {
                    corners.clear();
                    corners.extend(numbers.iter().map(|n| n.whole()));
                }
            })?;
            add_polygon(surface, &corners, scan)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(format: &str) -> String {
        format!(
            "ply\r\nformat {format} 1.0\ncomment x\nelement vertex 3\nproperty uchar red\nproperty float x\nproperty float y\n\
             property double z\nelement edge 1\nproperty int a\nelement face 1\nproperty list uchar int vertex_indices\n\
             property list uint8 float texcoord\nend_header\n"
        )
    }

    fn expected() -> Surface {
        Surface {
            positions: vec![DVec3::ZERO, DVec3::X, DVec3::Z],
            triangles: vec![[0, 1, 2]],
        }
    }

    #[test]
    fn reads_ascii() {
        let text = header("ascii") + "1 0 0 0\n2 1 0 0\n3 0 0 1\n7\n3 0 1 2 1 0.5\n";
        assert_eq!(parse_ply(text.as_bytes()).unwrap(), expected());
    }

    #[test]
    fn reads_both_byte_orders() {
        for big in [false, true] {
            let mut bytes = header(if big {
                "binary_big_endian"
            } else {
                "binary_little_endian"
            })
            .into_bytes();
            let mut put = |mut number: Vec<u8>| {
                if !big {
                    number.reverse();
                }
                bytes.extend(number);
            };
            for p in expected().positions {
                put(vec![9]);
                put((p.x as f32).to_be_bytes().into());
                put((p.y as f32).to_be_bytes().into());
                put(p.z.to_be_bytes().into());
            }
            put(7_i32.to_be_bytes().into());
            put(vec![3]);
            (0..3_i32).for_each(|i| put(i.to_be_bytes().into()));
            put(vec![1]);
            put(0.5_f32.to_be_bytes().into());
            assert_eq!(parse_ply(&bytes).unwrap(), expected());
            assert!(parse_ply(&bytes[..bytes.len() - 1]).is_err());
        }
    }

    #[test]
    fn errors_name_the_place() {
        let error = |text: String| parse_ply(text.as_bytes()).unwrap_err().to_string();
        let good = header("ascii") + "1 0 0 0\n2 1 0 0\n3 0 0 1\n7\n3 0 1 2 1 0.5\n";
        assert!(error(good.replace("3 0 1 2", "3 0 1 5")).contains("vertex 5"));
        assert!(error(good.replace("3 0 1 2", "-3 0 1 2")).contains("-3 entries"));
        assert!(error(good.replace("vertex 3", "vertex 999999999999")).contains("do not fit"));
        assert!(error(good.replace("float y", "float w")).contains("no property `y`"));
        assert!(error(good.replace("double z", "quaternion z")).contains("line 8"));
        assert!(error(good.replace("vertex_indices", "corners")).contains("vertex_indices"));
        assert!(
            error("ply\nelement edge 99999999999999\nformat ascii 1.0\nend_header\n".into())
                .contains("no triangles")
        );
    }
}

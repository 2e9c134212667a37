//! STL: a soup of triangles, binary or ASCII.

use glam::DVec3;

use super::error::ParseError;
use super::format::Format;
use super::polygons::{add_polygon, finish};
use super::scan::Scan;
use crate::surface::Surface;

const HEADER: usize = 80;
const RECORD: usize = 50;

/// Reads STL, binary or ASCII. Each triangle gets three vertices of its own, as in the file; [`Surface::repair`] welds them.
///
/// Some programs begin binary files with `solid`, the mark of ASCII: the length of the file decides.
pub fn parse_stl(bytes: &[u8]) -> Result<Surface, ParseError> {
    let surface = if looks_ascii(bytes) && !looks_binary(bytes) {
        ascii(bytes)
    } else {
        binary(bytes)
    }?;
    finish(surface, Format::Stl)
}

/// Whether the length is just what the number of triangles in a binary header asks for.
pub(super) fn looks_binary(bytes: &[u8]) -> bool {
    claimed_triangles(bytes).is_some_and(|count| bytes.len() == HEADER + 4 + RECORD * count)
}

fn looks_ascii(bytes: &[u8]) -> bool {
    bytes
        .trim_ascii_start()
        .get(..5)
        .is_some_and(|start| start.eq_ignore_ascii_case(b"solid"))
}

fn claimed_triangles(bytes: &[u8]) -> Option<usize> {
    let count = bytes.get(HEADER..)?.first_chunk()?;
    usize::try_from(u32::from_le_bytes(*count)).ok()
}

fn binary(bytes: &[u8]) -> Result<Surface, ParseError> {
    let mut scan = Scan::new(bytes, Format::Stl);
    scan.take(HEADER + 4, "a binary STL header")?;
    let count = claimed_triangles(bytes).unwrap_or(0);
    // What stands behind the last triangle is of no concern: some programs pad.
    scan.fits(count, RECORD, "triangles of 50 bytes")?;
    let mut surface = Surface::default();
    for _ in 0..count {
        let record = scan.take(RECORD, "a triangle")?;
        // The normal in front is often zero or wrong; the order of the corners says it better.
        let mut floats = record[12..]
            .chunks_exact(4)
            .map(|b| f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]])));
        let mut corner =
            || DVec3::from_array(std::array::from_fn(|_| floats.next().unwrap_or(f64::NAN)));
        add_triangle(&mut surface, [corner(), corner(), corner()], &scan)?;
    }
    Ok(surface)
}

fn ascii(bytes: &[u8]) -> Result<Surface, ParseError> {
    let mut scan = Scan::new(bytes, Format::Stl);
    let mut surface = Surface::default();
    let mut corners = Vec::with_capacity(3);
    while let Some(word) = scan.word() {
        match word.to_ascii_lowercase().as_slice() {
            // The name of the solid, or the normal, up to the end of the line.
            b"solid" | b"endsolid" | b"facet" => drop(scan.line()),
            b"vertex" => corners.push(scan.position()?),
            b"outer" | b"loop" | b"endloop" => {}
            b"endfacet" => {
                let Ok(triangle) = <[DVec3; 3]>::try_from(corners.as_slice()) else {
                    return Err(scan.broken(format!(
                        "a facet has {} vertices instead of 3",
                        corners.len()
                    )));
                };
                add_triangle(&mut surface, triangle, &scan)?;
                corners.clear();
            }
            other => {
                return Err(scan.broken(format!(
                    "`{}` is no word of ASCII STL",
                    super::scan::excerpt(other)
                )));
            }
        }
        if corners.len() > 3 {
            return Err(scan.broken("a facet has more than 3 vertices"));
        }
    }
    if corners.is_empty() {
        Ok(surface)
    } else {
        Err(scan.broken("the file ends within a facet"))
    }
}

fn add_triangle(
    surface: &mut Surface,
    corners: [DVec3; 3],
    scan: &Scan<'_>,
) -> Result<(), ParseError> {
    let first = surface.positions.len() as i64;
    surface.positions.extend(corners);
    add_polygon(surface, &[first, first + 1, first + 2], scan)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASCII: &str = "solid the vertex facet\n facet normal 0 0 1\n  outer loop\n   vertex 0 0 0\n   vertex 1 0 0\n   \
        VERTEX 0 1e0 0\n  endloop\n endfacet\nendsolid the vertex facet\n";

    #[test]
    fn reads_ascii() {
        let surface = parse_stl(ASCII.as_bytes()).unwrap();
        assert_eq!(surface.positions, [DVec3::ZERO, DVec3::X, DVec3::Y]);
        assert_eq!(surface.triangles, [[0, 1, 2]]);
    }

    #[test]
    fn reads_binary_that_begins_with_solid() {
        let mut bytes = b"solid made by a CAD program".to_vec();
        bytes.resize(HEADER, b' ');
        bytes.extend(1_u32.to_le_bytes());
        bytes.extend(
            [
                0.0_f32, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0,
            ]
            .iter()
            .flat_map(|x| x.to_le_bytes()),
        );
        bytes.extend([0, 0]);
        assert_eq!(
            parse_stl(&bytes).unwrap().positions,
            [DVec3::ZERO, DVec3::X, DVec3::Y]
        );
    }

    #[test]
    fn errors_name_the_place() {
        let error = parse_stl(ASCII.replace("1e0", "one").as_bytes()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "STL, line 6: `one` is no number where a coordinate should be; the file is damaged or cut short: copy or export it again"
        );
        let mut bytes = vec![0; HEADER];
        bytes.extend(u32::MAX.to_le_bytes());
        assert!(
            parse_stl(&bytes)
                .unwrap_err()
                .to_string()
                .contains("byte 84: 4294967295 triangles")
        );
        assert!(
            parse_stl(&ASCII.as_bytes()[..90])
                .unwrap_err()
                .to_string()
                .contains("within a facet")
        );
        assert!(parse_stl(b"").is_err());
    }
}

//! Wavefront OBJ: positions and faces; all else is passed over.

use super::error::{ParseError, Place};
use super::format::Format;
use super::polygons::{add_polygon, finish, refuse_too_many};
use super::scan::{EXPORT_AGAIN, Scan};
use crate::limit::MAX_VERTICES;
use crate::surface::Surface;

/// Reads the vertices (`v`) and faces (`f`, in any of the forms `v`, `v/vt`, `v//vn`, `v/vt/vn`, with positive or negative
/// indices) of an OBJ file. Groups, materials, texture coordinates and normals are passed over.
pub fn parse_obj(bytes: &[u8]) -> Result<Surface, ParseError> {
    let mut surface = Surface::default();
    let mut scan = Scan::new(bytes, Format::Obj);
    // The highest index used so far and where: a face may stand before its vertices, so only the end can tell.
    let mut highest = (0, 0);
    let mut corners: Vec<i64> = Vec::new();
    while !scan.rest().is_empty() {
        let line_number = scan.line_number();
        let here = scan.clone();
        let mut line = Scan::new(continued_line(&mut scan), Format::Obj);
        let place = |error: ParseError| ParseError {
            place: Place::Line(line_number),
            ..error
        };
        match line.word() {
            Some(b"v") => {
                surface.positions.push(line.position().map_err(place)?);
                if surface.positions.len() > MAX_VERTICES {
                    return Err(here.error(
                        format!("there are more than {MAX_VERTICES} vertices"),
                        "decimate the mesh",
                    ));
                }
            }
            Some(b"f") => {
                corners.clear();
                while let Some(word) = line.word() {
                    let word = word.strip_suffix(b"\\").unwrap_or(word);
                    if word.is_empty() {
                        continue;
                    }
                    let word = word.split(|&b| b == b'/').next().unwrap_or(word);
                    let index: i64 = line.parse(word, "a vertex index").map_err(place)?;
                    corners.push(resolve(index, surface.positions.len()).ok_or_else(|| {
                        let count = surface.positions.len();
                        here.broken(format!(
                            "a face uses vertex {index}, but {count} vertices stand before it"
                        ))
                    })?);
                }
                if let Some(&top) = corners.iter().max().filter(|&&top| top > highest.0) {
                    highest = (top, line_number);
                }
                add_face(&mut surface, &corners, &here)?;
            }
            _ => {}
        }
    }
    let count = surface.positions.len();
    if highest.0 >= count as i64 && !surface.triangles.is_empty() {
        let problem = format!(
            "a face uses vertex {}, but there are only {count} vertices",
            highest.0 + 1
        );
        return Err(ParseError {
            format: Format::Obj,
            place: Place::Line(highest.1),
            problem,
            remedy: EXPORT_AGAIN,
        });
    }
    finish(surface, Format::Obj)
}

/// The index from 0 for one from 1, or backwards from −1; nothing for 0 or what lies before the first vertex.
fn resolve(index: i64, count: usize) -> Option<i64> {
    let resolved = if index > 0 {
        index - 1
    } else {
        (count as i64).checked_add(index)?
    };
    let known = index > 0 || (index < 0 && resolved >= 0);
    (known && resolved <= i64::from(u32::MAX)).then_some(resolved)
}

/// Adds a face whose vertices may still be to come.
fn add_face(surface: &mut Surface, corners: &[i64], here: &Scan<'_>) -> Result<(), ParseError> {
    if corners
        .iter()
        .all(|&c| (c as usize) < surface.positions.len())
    {
        return add_polygon(surface, corners, here);
    }
    for pair in corners.windows(2).skip(1) {
        surface
            .triangles
            .push([corners[0], pair[0], pair[1]].map(|c| c as u32));
    }
    refuse_too_many(surface, here)
}

/// The next line, without its comment. A backslash at the end goes on in the next line: rare, and only for long faces,
/// so all are given as one piece of the file, with the backslashes in it.
fn continued_line<'a>(scan: &mut Scan<'a>) -> &'a [u8] {
    let start = scan.rest();
    let mut end = 0;
    while let Some(line) = scan.line() {
        end = start.len() - scan.rest().len();
        if !line.ends_with(b"\\") {
            break;
        }
    }
    let whole = &start[..end];
    whole.split(|&b| b == b'#').next().unwrap_or(whole)
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;

    #[test]
    fn reads_every_form_of_face() {
        let text = "# liver\nv 0 0 0\nv 1 0 0 # x\nv 1 1 0 1.0\nv 0 1 0\nvt 0 0\nvn 0 0 1\nusemtl red\n\
            f 1 2 3 4\nf 1/1 2/1 3/1\nf 1//1 2//1 3//1\nf 1/1/1 2/1/1 3/1/1\nf -4 -3 -2\nf 5 6 7\nv 0 0 1\nv 1 0 1\nv 0 1 1\n";
        let surface = parse_obj(text.as_bytes()).unwrap();
        assert_eq!(surface.positions.len(), 7);
        assert_eq!(surface.positions[2], DVec3::new(1.0, 1.0, 0.0));
        let first = [0, 1, 2];
        assert_eq!(
            surface.triangles,
            [first, [0, 2, 3], first, first, first, first, [4, 5, 6]]
        );
    }

    #[test]
    fn errors_name_the_line() {
        let error = |text: &str| parse_obj(text.as_bytes()).unwrap_err().to_string();
        let vertices = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
        assert!(
            error(&format!("{vertices}f 1 2 4\n")).starts_with("OBJ, line 4: a face uses vertex 4")
        );
        assert!(error(&format!("{vertices}f 1 2 0\n")).contains("line 4: a face uses vertex 0"));
        assert!(error(&format!("{vertices}f 1 2 -4\n")).contains("vertex -4"));
        assert!(error(&format!("{vertices}f 1 2 9223372036854775807\n")).contains("line 4"));
        assert!(error("v 0 0\nf 1 1 1").contains("line 1"));
        assert!(error("v 0 0 nan\nf 1 1 1").contains("vertex 0"));
        assert!(error("").contains("no triangles"));
    }

    #[test]
    fn long_lines_go_on_after_a_backslash() {
        let surface = parse_obj(b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 \\\n3\n");
        assert_eq!(surface.unwrap().triangles, [[0, 1, 2]]);
    }
}

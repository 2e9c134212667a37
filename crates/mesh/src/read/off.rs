//! OFF: the object file format of Geomview, ASCII.

use super::error::{ParseError, Place};
use super::format::Format;
use super::polygons::{add_polygon, finish};
use super::scan::Scan;
use crate::surface::Surface;

/// Reads OFF, also with colours or normals (`COFF`, `NOFF`, `CNOFF`, `STOFF`), which are passed over.
pub fn parse_off(bytes: &[u8]) -> Result<Surface, ParseError> {
    let mut scan = Scan::new(bytes, Format::Off);
    let mut surface = Surface::default();
    let mut counts = Line::next(&mut scan, "the header")?;
    if let Some(keyword) = counts.words.peek().filter(|word| word.ends_with(b"OFF")) {
        if keyword.starts_with(b"4") || keyword.contains(&b'n') {
            return Err(scan.error(
                "it has more than three dimensions",
                "export it as plain OFF",
            ));
        }
        counts.words.word();
        if counts.words.peek() == Some(b"BINARY") {
            return Err(scan.error(
                "binary OFF is not read",
                "export it as ASCII OFF, or as PLY",
            ));
        }
        if counts.words.peek().is_none() {
            counts = Line::next(&mut scan, "the counts of vertices and faces")?;
        }
    }
    let vertices: usize = counts.number("the number of vertices")?;
    let faces: usize = counts.number("the number of faces")?;
    scan.fits(vertices, 6, "vertices")?;
    scan.fits(faces, 2, "faces")?;
    surface.positions.reserve(vertices);
    for _ in 0..vertices {
        let mut line = Line::next(&mut scan, "a vertex")?;
        let position = line.words.position().map_err(|error| line.place(error))?;
        surface.positions.push(position);
    }
    let mut corners = Vec::new();
    for _ in 0..faces {
        let mut line = Line::next(&mut scan, "a face")?;
        let count: usize = line.number("the number of corners")?;
        line.words
            .fits(count, 2, "corners")
            .map_err(|error| line.place(error))?;
        corners.clear();
        for _ in 0..count {
            corners.push(line.number("a vertex index")?);
        }
        add_polygon(&mut surface, &corners, &scan).map_err(|error| line.place(error))?;
    }
    finish(surface, Format::Off)
}

/// A line that says something: neither empty nor a comment.
struct Line<'a> {
    words: Scan<'a>,
    number: usize,
}

impl<'a> Line<'a> {
    fn next(scan: &mut Scan<'a>, what: &str) -> Result<Self, ParseError> {
        loop {
            let number = scan.line_number();
            let Some(line) = scan.line() else {
                return Err(scan.broken(format!("the file ends where {what} should be")));
            };
            let text = line
                .split(|&b| b == b'#')
                .next()
                .unwrap_or(line)
                .trim_ascii();
            if !text.is_empty() {
                return Ok(Line {
                    words: Scan::new(text, Format::Off),
                    number,
                });
            }
        }
    }

    fn number<T: std::str::FromStr>(&mut self, what: &str) -> Result<T, ParseError> {
        self.words.number(what).map_err(|error| self.place(error))
    }

    fn place(&self, error: ParseError) -> ParseError {
        ParseError {
            place: Place::Line(self.number),
            ..error
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_polygons_comments_and_colours() {
        let text = "COFF\n# a pyramid\n5 2 0\n0 0 0 255 0 0\n1 0 0 1 1 1\n1 1 0 1 1 1\n\n0 1 0 1 1 1\n0 0 1 1 1 1\n4 0 1 2 3 255 0 0\n3 0 1 4\n";
        let surface = parse_off(text.as_bytes()).unwrap();
        assert_eq!(surface.triangles, [[0, 1, 2], [0, 2, 3], [0, 1, 4]]);
        assert!(parse_off(text.replace("COFF\n", "OFF ").as_bytes()).is_ok());
    }

    #[test]
    fn errors_name_the_line() {
        let error = |text: &str| parse_off(text.as_bytes()).unwrap_err().to_string();
        assert!(
            error("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n")
                .starts_with("OFF, line 6: a polygon uses vertex 3")
        );
        assert!(error("OFF\n999999999 1 0\n0 0 0\n").contains("do not fit"));
        assert!(error("OFF BINARY\n").contains("ASCII OFF"));
        assert!(error("4OFF\n1 1 1\n").contains("three dimensions"));
        assert!(error("OFF\n1 1 0\n").contains("fit"));
    }
}

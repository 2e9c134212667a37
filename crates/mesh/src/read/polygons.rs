//! Gathering the surface that a file describes.

use super::error::{ParseError, Place};
use super::format::Format;
use super::scan::Scan;
use crate::limit::MAX_TRIANGLES;
use crate::surface::Surface;

/// Adds a polygon of `corners` as a fan of triangles, checking indices against the positions read so far.
///
/// Polygons of less than three corners (points, lines) are passed over.
pub(super) fn add_polygon(
    surface: &mut Surface,
    corners: &[i64],
    scan: &Scan<'_>,
) -> Result<(), ParseError> {
    let count = surface.positions.len();
    let vertex = |index: i64| match u32::try_from(index) {
        Ok(vertex) if (vertex as usize) < count => Ok(vertex),
        _ => Err(scan.broken(format!(
            "a polygon uses vertex {index}, but there are only {count} vertices"
        ))),
    };
    if corners.len() < 3 {
        return Ok(());
    }
    let first = vertex(corners[0])?;
    let mut before = vertex(corners[1])?;
    for &corner in &corners[2..] {
        let next = vertex(corner)?;
        surface.triangles.push([first, before, next]);
        before = next;
    }
    refuse_too_many(surface, scan)
}

/// Adds a strip of triangles: each corner after the second makes one with the two before it, turning alternately.
pub(super) fn add_strip(
    surface: &mut Surface,
    corners: &[i64],
    scan: &Scan<'_>,
) -> Result<(), ParseError> {
    for (i, c) in corners.windows(3).enumerate() {
        let triangle = if i % 2 == 0 {
            [c[0], c[1], c[2]]
        } else {
            [c[1], c[0], c[2]]
        };
        add_polygon(surface, &triangle, scan)?;
    }
    Ok(())
}

/// Refuses more triangles than a surface may have, before they fill the memory.
pub(super) fn refuse_too_many(surface: &Surface, scan: &Scan<'_>) -> Result<(), ParseError> {
    if surface.triangles.len() > MAX_TRIANGLES {
        let problem = format!("there are more than {MAX_TRIANGLES} triangles");
        return Err(scan.error(problem, "decimate the mesh"));
    }
    Ok(())
}

/// The surface, if it is fit for use.
pub(super) fn finish(surface: Surface, format: Format) -> Result<Surface, ParseError> {
    match surface.check() {
        Ok(()) => Ok(surface),
        Err(error) => {
            let (text, remedy) = (error.to_string(), error.remedy());
            let problem = text
                .strip_suffix(remedy)
                .unwrap_or(&text)
                .trim_end_matches("; ")
                .into();
            Err(ParseError {
                format,
                place: Place::Whole,
                problem,
                remedy,
            })
        }
    }
}

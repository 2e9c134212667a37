//! One frame as VTK polydata (`.vtp`), exact.

use std::fmt::Write;

use glam::DVec3;

use super::ExportError;
use crate::read::encode_base64;
use crate::surface::{self, Surface};

/// A surface at one time, with whatever vectors its vertices carry.
#[derive(Debug, Clone, Copy)]
pub struct VtkFrame<'a> {
    /// Vertex positions, m.
    pub positions: &'a [DVec3],
    /// Three vertices for each triangle.
    pub triangles: &'a [[u32; 3]],
    /// Velocities, forces and the like; may be empty.
    pub vectors: &'a [PointVectors<'a>],
    /// Texture coordinates, a pair for each vertex; may be empty.
    pub texture: &'a [[f64; 2]],
}

/// A vector at each vertex.
#[derive(Debug, Clone, Copy)]
pub struct PointVectors<'a> {
    /// What ParaView shows in its list, best with the unit: `velocity m-s`. Letters, digits, `-`, `_` and spaces.
    pub name: &'a str,
    /// One for each vertex. Not checked: NaN is written as it is, since seeing it may be the point.
    pub values: &'a [DVec3],
}

impl<'a> From<&'a Surface> for VtkFrame<'a> {
    fn from(surface: &'a Surface) -> Self {
        VtkFrame {
            positions: &surface.positions,
            triangles: &surface.triangles,
            vectors: &[],
            texture: &[],
        }
    }
}

/// The text of a `.vtp` file: XML with the numbers as base64, in `f64`.
pub fn to_vtp(frame: &VtkFrame<'_>) -> Result<String, ExportError> {
    surface::check(frame.positions, frame.triangles)?;
    let (points, triangles) = (frame.positions.len(), frame.triangles.len());
    let mut text = String::from(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<PolyData>\n",
    );
    // Writing into a string cannot fail.
    writeln!(
        text,
        "<Piece NumberOfPoints=\"{points}\" NumberOfPolys=\"{triangles}\">"
    )
    .ok();
    if frame.texture.is_empty() {
        text.push_str("<PointData>\n");
    } else {
        ExportError::unless_matching("texture", frame.texture.len(), points)?;
        text.push_str("<PointData TCoords=\"texture\">\n");
        let numbers = frame.texture.as_flattened().iter();
        let bytes = numbers.flat_map(|x| x.to_le_bytes());
        add_array(&mut text, "Float64", "texture", 2, bytes);
    }
    for vectors in frame.vectors {
        ExportError::unless_plain(vectors.name)?;
        ExportError::unless_matching(vectors.name, vectors.values.len(), points)?;
        add_vectors(&mut text, vectors.name, vectors.values);
    }
    text.push_str("</PointData>\n<Points>\n");
    add_vectors(&mut text, "Points", frame.positions);
    text.push_str("</Points>\n<Polys>\n");
    let corners = frame
        .triangles
        .as_flattened()
        .iter()
        .flat_map(|&v| i64::from(v).to_le_bytes());
    add_array(&mut text, "Int64", "connectivity", 1, corners);
    add_array(
        &mut text,
        "Int64",
        "offsets",
        1,
        (1..=triangles as i64).flat_map(|i| (3 * i).to_le_bytes()),
    );
    text.push_str("</Polys>\n</Piece>\n</PolyData>\n</VTKFile>\n");
    Ok(text)
}

fn add_vectors(text: &mut String, name: &str, values: &[DVec3]) {
    let bytes = values
        .iter()
        .flat_map(|v| v.to_array())
        .flat_map(f64::to_le_bytes);
    add_array(text, "Float64", name, 3, bytes);
}

fn add_array(
    text: &mut String,
    scalar: &str,
    name: &str,
    components: usize,
    content: impl Iterator<Item = u8>,
) {
    let mut bytes = vec![0; 8];
    bytes.extend(content);
    let length = bytes.len() as u64 - 8;
    bytes[..8].copy_from_slice(&length.to_le_bytes());
    let attributes = format!(
        "type=\"{scalar}\" Name=\"{name}\" NumberOfComponents=\"{components}\" format=\"binary\""
    );
    writeln!(
        text,
        "<DataArray {attributes}>\n{}\n</DataArray>",
        encode_base64(&bytes)
    )
    .ok();
}

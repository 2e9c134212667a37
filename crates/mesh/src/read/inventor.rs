//! Open Inventor, ASCII (F21).
//!
//! A graph of nodes that is walked in order: coordinates, transforms and hints hold for the shapes after them, up to the end of
//! their separator. Faces and strips become triangles; which way corners go round says which side is outside.

use std::collections::BTreeMap;

use glam::{DAffine3, DMat4, DQuat, DVec3};
use trocar_math::rotation;

use super::error::ParseError;
use super::format::Format;
use super::polygons::{add_polygon, add_strip, finish};
use super::scan::{Scan, excerpt};
use crate::surface::Surface;

/// How deep nodes may lie in each other, and how often one may be used again: a few lines could describe more than fits anywhere.
const MAX_DEPTH: usize = 64;
const MAX_USES: usize = 10_000;

/// Forms that are described and not given as faces.
const FORMS: [&[u8]; 9] = [
    b"Cube",
    b"Sphere",
    b"Cone",
    b"Cylinder",
    b"QuadMesh",
    b"NurbsSurface",
    b"IndexedNurbsSurface",
    b"Text3",
    b"File",
];

/// Reads Open Inventor: faces and strips of triangles, indexed or not, under transforms and separators.
pub fn parse_inventor(bytes: &[u8]) -> Result<Surface, ParseError> {
    let mut scan = Scan::new(bytes, Format::Inventor);
    let header = scan.line().unwrap_or_default();
    if !header.starts_with(b"#Inventor") {
        return Err(scan.broken("it does not begin with `#Inventor`"));
    }
    if !header.ends_with(b"ascii") {
        return Err(scan.error(
            "binary Open Inventor is not read",
            "export it as ASCII (`ivcat`), or as OBJ or PLY",
        ));
    }
    let mut reader = Reader {
        scan,
        surface: Surface::default(),
        named: BTreeMap::new(),
        uses: 0,
        depth: 0,
        lists: 0,
        state: State::default(),
        placed: None,
    };
    while reader.node()? {}
    if let Some(token) = reader.token()? {
        return Err(reader.unexpected(token));
    }
    finish(reader.surface, Format::Inventor)
}

/// What holds for the shapes to come.
#[derive(Clone, Default)]
struct State {
    /// Which list of coordinates, counted from 1, and these.
    coordinates: (usize, Vec<DVec3>),
    transform: DAffine3,
    clockwise: bool,
}

struct Reader<'a> {
    scan: Scan<'a>,
    surface: Surface,
    /// Where nodes with a name begin.
    named: BTreeMap<&'a [u8], Scan<'a>>,
    uses: usize,
    depth: usize,
    /// Of coordinates, so far.
    lists: usize,
    state: State,
    /// Coordinates and transform that are in the surface, and from which vertex on: shapes often share them.
    placed: Option<(usize, DAffine3, usize)>,
}

/// Numbers of the fields of a node.
#[derive(Default)]
struct Fields<'a> {
    numbers: BTreeMap<&'a [u8], Vec<f64>>,
    words: BTreeMap<&'a [u8], &'a [u8]>,
}

impl Fields<'_> {
    fn vector(&self, name: &[u8]) -> Option<DVec3> {
        match self.numbers.get(name).map(Vec::as_slice) {
            Some(&[x, y, z]) => Some(DVec3::new(x, y, z)),
            _ => None,
        }
    }

    fn turn(&self, name: &[u8]) -> DQuat {
        match self.numbers.get(name).map(Vec::as_slice) {
            Some(&[x, y, z, angle]) => {
                let axis = DVec3::new(x, y, z).normalize_or_zero();
                rotation::from_scaled_axis(axis * angle)
            }
            _ => DQuat::IDENTITY,
        }
    }

    fn whole(&self, name: &[u8]) -> Vec<i64> {
        let list = self.numbers.get(name).map_or(&[][..], Vec::as_slice);
        list.iter().map(|x| *x as i64).collect()
    }
}

impl<'a> Reader<'a> {
    /// The next word, brace, bracket or text in quotes; nothing at the end.
    fn token(&mut self) -> Result<Option<&'a [u8]>, ParseError> {
        loop {
            let rest = self.scan.rest();
            let gap = rest.iter().position(|b| !is_gap(*b)).unwrap_or(rest.len());
            self.scan.step(gap);
            let rest = self.scan.rest();
            let length = match rest.first() {
                None => return Ok(None),
                Some(b'#') => {
                    self.scan.line();
                    continue;
                }
                Some(b'{' | b'}' | b'[' | b']') => 1,
                Some(b'"') => match rest[1..].iter().position(|b| *b == b'"') {
                    Some(end) => end + 2,
                    None => return Err(self.scan.broken("a text in quotes has no end")),
                },
                Some(_) => rest
                    .iter()
                    .position(|b| is_gap(*b) || b"{}[]#\"".contains(b))
                    .unwrap_or(rest.len()),
            };
            self.scan.step(length);
            return Ok(Some(&rest[..length]));
        }
    }

    fn peek(&mut self) -> Result<Option<&'a [u8]>, ParseError> {
        let before = self.scan.clone();
        let token = self.token();
        self.scan = before;
        token
    }

    fn unexpected(&self, token: &[u8]) -> ParseError {
        self.scan
            .broken(format!("`{}` is not expected here", excerpt(token)))
    }

    fn expect(&mut self, wanted: &str) -> Result<(), ParseError> {
        match self.token()? {
            Some(token) if token == wanted.as_bytes() => Ok(()),
            Some(token) => Err(self.unexpected(token)),
            None => Err(self
                .scan
                .broken(format!("the file ends where `{wanted}` should be"))),
        }
    }

    fn name(&mut self) -> Result<&'a [u8], ParseError> {
        match self.token()? {
            Some(token) if !b"{}[]".contains(&token[0]) => Ok(token),
            Some(token) => Err(self.unexpected(token)),
            None => Err(self.scan.broken("the file ends where a name should be")),
        }
    }

    /// Walks the next node; false if there is none before the end or a closing brace.
    fn node(&mut self) -> Result<bool, ParseError> {
        match self.peek()? {
            None | Some(b"}") => return Ok(false),
            Some(_) => {}
        }
        match self.name()? {
            b"DEF" => {
                let name = self.name()?;
                self.named.insert(name, self.scan.clone());
                self.node()
            }
            b"USE" => {
                let name = self.name()?;
                self.reuse(name)?;
                Ok(true)
            }
            kind => {
                self.deeper(|reader| reader.body(kind))?;
                Ok(true)
            }
        }
    }

    /// Walks a node with a name again, under what holds now.
    fn reuse(&mut self, name: &[u8]) -> Result<(), ParseError> {
        let Some(there) = self.named.get(name).cloned() else {
            let problem = format!("`{}` is used and not defined", excerpt(name));
            return Err(self.scan.broken(problem));
        };
        self.uses += 1;
        if self.uses > MAX_USES {
            let problem = format!("nodes are used again more than {MAX_USES} times");
            return Err(self
                .scan
                .error(problem, "export it without common nodes, or as OBJ or PLY"));
        }
        let here = std::mem::replace(&mut self.scan, there);
        self.deeper(|reader| reader.node().map(|_| ()))?;
        self.scan = here;
        Ok(())
    }

    fn deeper(
        &mut self,
        walk: impl FnOnce(&mut Self) -> Result<(), ParseError>,
    ) -> Result<(), ParseError> {
        if self.depth == MAX_DEPTH {
            let problem = format!("nodes lie more than {MAX_DEPTH} deep in each other");
            return Err(self.scan.error(problem, "export it flat, or as OBJ or PLY"));
        }
        self.depth += 1;
        walk(self)?;
        self.depth -= 1;
        Ok(())
    }

    /// What is between the braces of a node.
    fn body(&mut self, kind: &'a [u8]) -> Result<(), ParseError> {
        if FORMS.contains(&kind) {
            let problem = format!("`{}` is not a mesh", excerpt(kind));
            return Err(self
                .scan
                .error(problem, "export it as faces (IndexedFaceSet), or as OBJ"));
        }
        self.expect("{")?;
        let before = match kind {
            b"Separator" | b"TransformSeparator" | b"Annotation" => Some(self.state.clone()),
            _ => None,
        };
        let mut fields = Fields::default();
        while !matches!(self.peek()?, Some(b"}")) {
            self.part(&mut fields)?;
        }
        self.expect("}")?;
        self.apply(kind, &fields)?;
        if let Some(before) = before {
            self.state = before;
        }
        Ok(())
    }

    /// A field, or a node within a node.
    fn part(&mut self, fields: &mut Fields<'a>) -> Result<(), ParseError> {
        let start = self.scan.clone();
        let name = self.name()?;
        if matches!(name, b"DEF" | b"USE") || self.peek()? == Some(b"{") {
            self.scan = start;
            self.node()?;
            return Ok(());
        }
        let mut numbers = Vec::new();
        if self.peek()? == Some(b"[") {
            self.expect("[")?;
            loop {
                match self.token()? {
                    Some(b"]") => break,
                    Some(token) if b"{}[".contains(&token[0]) => {
                        return Err(self.unexpected(token));
                    }
                    Some(token) if is_number(token) => {
                        numbers.push(self.scan.parse(token, "a value")?)
                    }
                    // A text or a name: nothing that makes a mesh.
                    Some(_) => {}
                    None => return Err(self.scan.broken("a list has no end")),
                }
            }
        } else {
            while let Some(token) = self.peek()?.filter(|token| is_number(token)) {
                self.token()?;
                numbers.push(self.scan.parse(token, "a value")?);
            }
            if numbers.is_empty() {
                let word = self.name()?;
                fields.words.insert(name, word);
            }
        }
        fields.numbers.insert(name, numbers);
        Ok(())
    }

    /// What a node does to the state and the surface.
    fn apply(&mut self, kind: &[u8], fields: &Fields<'_>) -> Result<(), ParseError> {
        match kind {
            b"Coordinate3" => {
                let list = fields.numbers.get(&b"point"[..]);
                let list = list.map_or(&[][..], Vec::as_slice);
                let (points, rest) = list.as_chunks::<3>();
                if !rest.is_empty() {
                    return Err(self.scan.broken("a point has fewer than three numbers"));
                }
                self.lists += 1;
                let points = points.iter().map(|p| DVec3::from(*p)).collect();
                self.state.coordinates = (self.lists, points);
            }
            b"ShapeHints" => {
                let order = fields.words.get(&b"vertexOrdering"[..]);
                self.state.clockwise = order.is_some_and(|word| *word == b"CLOCKWISE");
            }
            b"Translation" | b"Rotation" | b"Scale" | b"Transform" | b"MatrixTransform" => {
                self.state.transform *= transform(fields);
            }
            b"IndexedFaceSet" | b"IndexedTriangleStripSet" => {
                let corners = fields.whole(b"coordIndex");
                for part in corners.split(|index| *index < 0) {
                    self.shape(part, kind == b"IndexedTriangleStripSet")?;
                }
            }
            b"FaceSet" | b"TriangleStripSet" => {
                let mut next = fields.whole(b"startIndex").first().copied().unwrap_or(0);
                for count in fields.whole(b"numVertices") {
                    let left = self.state.coordinates.1.len() as i64 - next;
                    // Below zero: all that are left.
                    let count = if count < 0 { left } else { count };
                    if next < 0 || count > left {
                        let problem = format!("{count} vertices from {next} on are not there");
                        return Err(self.scan.broken(problem));
                    }
                    let corners: Vec<i64> = (next..next + count).collect();
                    self.shape(&corners, kind == b"TriangleStripSet")?;
                    next += count;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Adds a face or a strip.
    fn shape(&mut self, corners: &[i64], strip: bool) -> Result<(), ParseError> {
        if corners.len() < 3 {
            return Ok(());
        }
        let (which, points) = &self.state.coordinates;
        let transform = self.state.transform;
        let first = match self.placed {
            Some((coordinates, at, first)) if coordinates == *which && at == transform => first,
            _ => {
                let first = self.surface.positions.len();
                let placed = points.iter().map(|p| transform.transform_point3(*p));
                self.surface.positions.extend(placed);
                self.placed = Some((*which, transform, first));
                first
            }
        };
        if let Some(index) = corners.iter().find(|i| **i >= points.len() as i64) {
            let problem = format!("a shape uses vertex {index} of {}", points.len());
            return Err(self.scan.broken(problem));
        }
        let corners: Vec<i64> = corners.iter().map(|i| i + first as i64).collect();
        let begin = self.surface.triangles.len();
        if strip {
            add_strip(&mut self.surface, &corners, &self.scan)?;
        } else {
            add_polygon(&mut self.surface, &corners, &self.scan)?;
        }
        // A mirror turns faces round, too.
        if self.state.clockwise != (transform.matrix3.determinant() < 0.0) {
            for t in &mut self.surface.triangles[begin..] {
                t.swap(1, 2);
            }
        }
        Ok(())
    }
}

/// Translation, turn and scale about a centre, or a matrix for row vectors.
fn transform(fields: &Fields<'_>) -> DAffine3 {
    if let Some(matrix) = fields.numbers.get(&b"matrix"[..])
        && let Ok(columns) = <&[f64; 16]>::try_from(matrix.as_slice())
    {
        return DAffine3::from_mat4(DMat4::from_cols_array(columns));
    }
    let shift = |name: &[u8]| DAffine3::from_translation(fields.vector(name).unwrap_or_default());
    let centre = fields.vector(b"center").unwrap_or_default();
    let turn = DAffine3::from_quat(fields.turn(b"rotation"));
    let stretch = fields.turn(b"scaleOrientation");
    let scale = fields.vector(b"scaleFactor").unwrap_or(DVec3::ONE);
    shift(b"translation")
        * DAffine3::from_translation(centre)
        * turn
        * DAffine3::from_quat(stretch)
        * DAffine3::from_scale(scale)
        * DAffine3::from_quat(stretch.conjugate())
        * DAffine3::from_translation(-centre)
}

/// Commas are as good as spaces.
fn is_gap(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == b',' || byte == 0x0b
}

fn is_number(token: &[u8]) -> bool {
    let digits = token.trim_ascii_start();
    let digits = digits
        .strip_prefix(b"-")
        .or(digits.strip_prefix(b"+"))
        .unwrap_or(digits);
    digits
        .first()
        .is_some_and(|b| b.is_ascii_digit() || *b == b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Result<Surface, ParseError> {
        parse_inventor(format!("#Inventor V2.1 ascii\n{body}").as_bytes())
    }

    const SQUARE: &str = "Coordinate3 { point [ 0 0 0, 1 0 0, 0 1 0, 1 1 0 ] }\n";

    #[test]
    fn strips_become_triangles_that_face_one_way() {
        let surface = read(&format!(
            "Separator {{ {SQUARE} TriangleStripSet {{ numVertices 4 }} }}"
        ))
        .unwrap();
        assert_eq!(surface.triangles, [[0, 1, 2], [2, 1, 3]]);
        let indexed = read(&format!(
            "{SQUARE} IndexedTriangleStripSet {{ coordIndex [ 0, 1, 2, 3, -1 ] }}"
        ));
        assert_eq!(indexed.unwrap().triangles, surface.triangles);
        let hint = "ShapeHints { vertexOrdering CLOCKWISE shapeType SOLID }";
        let turned = read(&format!(
            "{hint} {SQUARE} IndexedFaceSet {{ coordIndex [0,1,3,2,-1] }}"
        ));
        assert_eq!(turned.unwrap().triangles, [[0, 3, 1], [0, 2, 3]]);
    }

    #[test]
    fn transforms_hold_up_to_the_end_of_their_separator() {
        let face = "FaceSet { numVertices [ 3 ] }";
        let surface = read(&format!(
            "{SQUARE} Separator {{ Translation {{ translation 0 0 2 }} Rotation {{ rotation 0 0 1 1.5707963267948966 }} \
             Scale {{ scaleFactor 2 2 2 }} DEF face {face} }} USE face Scale {{ scaleFactor -1 1 1 }} {face}"
        ))
        .unwrap();
        assert_eq!(surface.triangles.len(), 3);
        let [a, b, c] =
            [0, 1, 2].map(|k| surface.triangles[k].map(|n| surface.positions[n as usize]));
        assert!((a[1] - DVec3::new(0.0, 2.0, 2.0)).length() < 1e-12, "{a:?}");
        assert_eq!(b, [DVec3::ZERO, DVec3::X, DVec3::Y]);
        // Mirrored, and still facing up.
        let normal = |t: [DVec3; 3]| (t[1] - t[0]).cross(t[2] - t[0]).z;
        assert!(normal(a) > 0.0 && normal(b) > 0.0 && normal(c) > 0.0);
        assert!(c.contains(&DVec3::NEG_X));
    }

    #[test]
    fn what_is_no_mesh_is_refused_with_place_and_remedy() {
        for (body, wanted) in [
            ("Sphere { radius 2 }", "`Sphere` is not a mesh"),
            ("USE nothing", "used and not defined"),
            ("Separator {", "the file ends"),
            ("FaceSet { numVertices 3 }", "are not there"),
            ("Coordinate3 { point [ 0 0 ] }", "fewer than three"),
            (
                "IndexedFaceSet { coordIndex [ 0 1 2 ] }",
                "uses vertex 0 of 0",
            ),
            ("DEF a Separator { USE a }", "deep"),
            ("}", "not expected"),
            ("Group { field [ 1 2 }", "not expected"),
        ] {
            let error = read(body).unwrap_err();
            assert!(error.problem.contains(wanted), "{body}: {}", error.problem);
        }
        assert!(parse_inventor(b"#Inventor V2.1 binary\n\0").is_err());
    }
}

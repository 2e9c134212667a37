//! A mesh as tissue meets it: a shell of convex wedges, one behind each triangle.
//!
//! A surface has no inside that could say how deep something is in it. Its wedges have: what comes to lie between their outer
//! and their inner sides is put out again where it came from.

use super::form::Form;
use super::shape::Shape;
use super::solid::Solid;
use glam::DVec3;
use trocar_math::Pose;

/// How thick the shell is at a corner, as a part of the shortest edge there: so thin that wedges do not reach through each other
/// where the surface is folded. What moves farther than that in one substep may pass.
const THICK: f64 = 0.5;

/// Where a corner looks elsewhere than its triangle (cosine), its wedge goes straight back: at the tip of a needle.
const ASTRAY: f64 = 0.3;

impl Shape {
    /// The wedges behind the triangles of a part that is a mesh, in the frame of the shape; none if it is no mesh. Triangles that
    /// are too thin to have a wedge have none: their neighbours' begin where they end.
    pub fn shell(&self, part: u32) -> Option<Self> {
        let part = &self.parts()[part as usize];
        let Solid::Mesh(mesh) = &part.solid else {
            return None;
        };
        let (points, triangles) = (mesh.triangles.vertices(), mesh.triangles.indices());
        let backs = backs(points, triangles);
        let place = part.place.unwrap_or(Pose::IDENTITY);
        let wedges = triangles.iter().map(|triangle| {
            let corners = triangle.map(|n| points[n as usize]);
            let [a, b, c] = corners;
            let face = (b - a).cross(c - a).normalize_or_zero();
            let behind = triangle.map(|n| {
                let (way, thick) = backs[n as usize];
                let way = if way.dot(face) < -ASTRAY { way } else { -face };
                points[n as usize] + way * thick
            });
            let points = corners.into_iter().chain(behind).collect();
            (place, Form::Hull { points })
        });
        let sound = wedges.filter(|(_, wedge)| Self::new(wedge).is_ok());
        Self::new(&Form::Compound(sound.collect())).ok()
    }
}

/// Of each corner of a mesh: the way into it, unit length, from the triangles around it, and how thick its shell is there, m.
fn backs(points: &[DVec3], triangles: &[[u32; 3]]) -> Vec<(DVec3, f64)> {
    let mut backs = vec![(DVec3::ZERO, f64::INFINITY); points.len()];
    for triangle in triangles {
        let [a, b, c] = triangle.map(|n| points[n as usize]);
        let area = (b - a).cross(c - a);
        let shortest = a.distance(b).min(b.distance(c)).min(c.distance(a));
        for n in triangle {
            let (way, thick) = &mut backs[*n as usize];
            *way -= area;
            *thick = thick.min(THICK * shortest);
        }
    }
    for (way, _) in &mut backs {
        *way = way.normalize_or_zero();
    }
    backs
}

#[cfg(test)]
mod tests {
    use super::super::Kind;
    use super::*;

    /// A pit: four walls that slope down to its bottom.
    fn pit() -> Form {
        let ring = |half: f64, y: f64| {
            [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]
                .map(|[x, z]| DVec3::new(x * half, y, z * half))
        };
        let mut triangles = vec![[4, 7, 6], [4, 6, 5]];
        for k in 0..4_u32 {
            let next = (k + 1) % 4;
            triangles.push([k, 4 + next, next]);
            triangles.push([k, 4 + k, 4 + next]);
        }
        Form::Mesh {
            vertices: [ring(0.2, 0.0), ring(0.1, -0.1)].concat(),
            triangles,
        }
    }

    #[test]
    fn a_shell_lies_behind_its_surface_and_has_no_hole() {
        let shape = Shape::new(&pit()).unwrap();
        let shell = shape.shell(0).unwrap();
        assert_eq!(shell.piece_count(), 10);
        for k in 0..10 {
            assert_eq!(shell.piece(k, &Pose::IDENTITY).kind(), Kind::Convex);
        }
        for i in -9..=9 {
            for k in -9..=9 {
                let (x, z) = (f64::from(i) * 0.02 + 1e-4, f64::from(k) * 0.02 + 2e-4);
                let down =
                    |shape: &Shape| shape.ray(&Pose::IDENTITY, DVec3::new(x, 1.0, z), -DVec3::Y);
                let (surface, wedges) = (down(&shape).unwrap(), down(&shell).unwrap());
                assert!((surface - wedges).abs() < 1e-9, "at {x} {z}");
            }
        }
    }

    #[test]
    fn what_is_no_mesh_has_no_shell() {
        let form = Form::Ball { radius: 0.1 };
        assert!(Shape::new(&form).unwrap().shell(0).is_none());
    }
}

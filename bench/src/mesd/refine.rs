//! What it costs to make a coarse surface smooth for the picture (K130), a frame at a time, beside the same mathematics as one would first
//! write it: a structure for each vertex, and every triangle by itself.

use crate::{
    measure::{Effort, Summary, interleave, time},
    row::Row,
};
use anyhow::{Result, ensure};
use glam::DVec3;
use std::hint::black_box;
use trocar_dynamics::Crew;
use trocar_mesh::{Refinement, Skin, Surface, primitive::TubeShape, refine::BULGE};

/// What we want of a refined facet, ns.
const AIM: f64 = 25.0;

/// Rings and nodes around: Kuhn's comparison of 220 triangles (B2), an organ of today, and more than any cache holds.
const SHAPES: [(usize, usize); 3] = [(11, 10), (60, 50), (400, 300)];

/// Refined facets worked on in one sample, at least.
const WORK: usize = 200_000;

/// Vertices that a thread takes at a time.
const STRETCH: usize = 4096;

/// The normal of every triangle is added to its corners; then each triangle finds the middles of its three sides, whether or not a neighbour
/// has found them already.
struct Plain {
    vertices: Vec<Vertex>,
    triangles: Vec<[u32; 3]>,
    finer: Vec<[u32; 3]>,
    coarse: usize,
}

#[derive(Clone, Copy, Default)]
struct Vertex {
    position: DVec3,
    normal: DVec3,
}

impl Plain {
    fn normals(vertices: &mut [Vertex], triangles: &[[u32; 3]]) {
        vertices.iter_mut().for_each(|v| v.normal = DVec3::ZERO);
        for triangle in triangles {
            let [a, b, c] = triangle.map(|v| vertices[v as usize].position);
            let normal = (b - a).cross(c - a);
            triangle
                .iter()
                .for_each(|v| vertices[*v as usize].normal += normal);
        }
        vertices
            .iter_mut()
            .for_each(|v| v.normal = v.normal.normalize_or_zero());
    }

    fn refine(&mut self, positions: &[DVec3]) {
        for (vertex, position) in self.vertices.iter_mut().zip(positions) {
            vertex.position = *position;
        }
        Self::normals(&mut self.vertices[..self.coarse], &self.triangles);
        for (triangle, finer) in self.triangles.iter().zip(self.finer.chunks_exact(4)) {
            // The last of the four is made of the three middles.
            for (k, new) in finer[3].into_iter().enumerate() {
                let [a, b] =
                    [triangle[k], triangle[(k + 1) % 3]].map(|v| self.vertices[v as usize]);
                let along = b.position - a.position;
                let lift = f64::from(BULGE) * along.dot(b.normal - a.normal);
                let direction = (a.normal + b.normal).normalize_or_zero();
                let middle = 0.5 * (a.position + b.position) + lift * direction;
                self.vertices[new as usize].position = middle;
            }
        }
        Self::normals(&mut self.vertices, &self.finer);
    }
}

/// A surface that is refined again and again.
struct Refined {
    surface: Surface,
    refinement: Refinement,
    skin: Skin,
    plain: Plain,
    frames: usize,
}

impl Refined {
    fn new(rings: usize, around: usize) -> Result<Self> {
        let shape = TubeShape {
            path: vec![DVec3::X * -0.045, DVec3::Y * 0.01, DVec3::X * 0.045],
            radii: vec![[0.017, 0.016], [0.02, 0.018], [0.015, 0.015]],
            up: DVec3::Y,
            rings,
            around,
        };
        let surface = shape.organ()?.surface;
        let refinement = Refinement::new(&surface.triangles, surface.positions.len(), 1)?;
        let plain = Plain {
            vertices: vec![Vertex::default(); refinement.vertices()],
            triangles: surface.triangles.clone(),
            finer: refinement.triangles().to_vec(),
            coarse: surface.positions.len(),
        };
        let mut refined = Self {
            frames: WORK.div_ceil(refinement.triangles().len()),
            skin: refinement.skin(),
            surface,
            refinement,
            plain,
        };
        // Both must come to the same before anything is timed.
        refined.ours(None);
        refined.naive();
        let apart = refined.skin.positions().iter().zip(&refined.plain.vertices);
        let apart = apart.map(|(a, b)| a.as_dvec3().distance(b.position));
        ensure!(
            apart.fold(0.0, f64::max) < 1e-7,
            "the plain loop refines to something else"
        );
        Ok(refined)
    }

    /// ns per refined facet.
    fn per_facet(&self, seconds: f64) -> f64 {
        1e9 * seconds / (self.frames * self.refinement.triangles().len()) as f64
    }

    fn ours(&mut self, crew: Option<&Crew>) -> f64 {
        let taken = time(|| {
            for _ in 0..self.frames {
                let coarse = black_box(&self.surface.positions);
                match crew {
                    None => self.refinement.apply(coarse, &mut self.skin),
                    Some(_) => {
                        self.refinement
                            .apply_by(coarse, &mut self.skin, &|items, work| {
                                Crew::spread(crew, items, STRETCH, work);
                            });
                    }
                }
                black_box(&self.skin);
            }
        });
        self.per_facet(taken)
    }

    fn naive(&mut self) -> f64 {
        let taken = time(|| {
            for _ in 0..self.frames {
                self.plain.refine(black_box(&self.surface.positions));
                black_box(&self.plain.vertices);
            }
        });
        self.per_facet(taken)
    }
}

/// All rows.
pub fn refine(effort: Effort) -> Result<Vec<Row>> {
    let crew = Crew::new(2);
    let mut rows = Vec::new();
    for (rings, around) in SHAPES {
        let refined = std::cell::RefCell::new(Refined::new(rings, around)?);
        let case = format!(
            "organ, {} refined facets",
            refined.borrow().refinement.triangles().len()
        );
        let mut one = || refined.borrow_mut().ours(None);
        let mut two = || refined.borrow_mut().ours(Some(&crew));
        let mut plain = || refined.borrow_mut().naive();
        let samples = interleave(
            "mesd/refine",
            effort.repeats(41, 9),
            &mut [&mut one, &mut two, &mut plain],
        );
        let [one, two, plain] = [0, 1, 2].map(|k: usize| Summary::of(samples[k].iter().copied()));
        rows.push(
            Row::new(&case, "refinement and normals per facet", one, "ns")
                .against("plain loop", plain.median)
                .at_most(AIM),
        );
        rows.push(
            Row::new(&case, "the same on two threads", two, "ns").against("one thread", one.median),
        );
    }
    Ok(rows)
}

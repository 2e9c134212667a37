//! Smooth pictures of coarse surfaces that deform (K130): each triangle becomes four, and the new vertices are lifted onto the curve
//! that the normals tell of. Only what is shown is refined; the vertices of the simulation stay where they are.
//!
//! What depends on the triangles alone is a [`Refinement`], made once. What depends on where the vertices are is a [`Skin`], filled in for
//! every frame without allocating. Every number of a stage is worked out from the stage before and written once, so that a
//! stage may be cut into stretches and given to threads, and no number of them changes a bit.
//!
//! Numbers are single: they are for the eye, and two of them fit where one double would. A test holds them to a part in a million of
//! the surface's size.

use crate::limit::{MAX_TRIANGLES, MAX_VERTICES};
use crate::sides::{same_edge, sides};
use crate::surface::{Surface, SurfaceError};
use glam::{DVec3, Vec3A};

/// How far the middle of an edge is lifted (k_I of 5.14): exact for the flat arc of a circle. The source takes about 0.2.
pub const BULGE: f32 = 0.125;

/// Shorter than this, the sum of two unit normals has no direction: they point against each other, as on the rim of a closed fold.
const OPPOSITE: f32 = 1e-3;

/// Where the middle of an edge from `p1` to `p2` (m) with unit normals `n1` and `n2` belongs (5.13–5.15):
///
/// P12 = (P1 + P2)/2 + k (p · (n2 − n1)) n12, with p = P2 − P1 and n12 = (n1 + n2)/|n1 + n2|.
///
/// The source prints the difference normalised, and the other way round. Then the bulge would not vanish with the curvature, and
/// convex surfaces would be dented. On a circle of radius R, n2 − n1 = p/R, and the arc stands |p|²/8R above its chord: `bulge` 1/8
/// is right for small angles. Where a normal is missing (zero) or both are opposite, the middle stays on the edge.
#[inline]
pub fn middle(p1: Vec3A, p2: Vec3A, n1: Vec3A, n2: Vec3A, bulge: f32) -> Vec3A {
    let sum = n1 + n2;
    let length = sum.length();
    let lift = bulge * (p2 - p1).dot(n2 - n1);
    // A vertex without a normal has nothing to say about how its edges curve.
    let known = n1.length_squared().min(n2.length_squared()) > 0.25 && length > OPPOSITE;
    let scale = if known { lift / length } else { 0.0 };
    0.5 * (p1 + p2) + scale * sum
}

/// How a surface is refined: what depends on its triangles alone.
#[derive(Debug, Clone)]
pub struct Refinement {
    /// From the coarsest to the finest.
    levels: Vec<Level>,
    bulge: f32,
}

#[derive(Debug, Clone)]
struct Level {
    vertices: usize,
    triangles: Vec<[u32; 3]>,
    /// The triangles around vertex v are `around[first[v]..first[v + 1]]`.
    first: Vec<u32>,
    around: Vec<u32>,
    /// Edge e gets the vertex `vertices + e` of the next level; none at the finest.
    edges: Vec<[u32; 2]>,
}

impl Refinement {
    /// Of `triangles` over `vertices` vertices, each divided `times` times.
    ///
    /// # Errors
    /// If a triangle names a missing vertex, or the finest level would have more than [`MAX_TRIANGLES`] triangles or
    /// [`MAX_VERTICES`] vertices.
    pub fn new(triangles: &[[u32; 3]], vertices: usize, times: u32) -> Result<Self, SurfaceError> {
        let missing = |t: &[u32; 3]| t.iter().copied().find(|v| *v as usize >= vertices);
        let found = triangles.iter().enumerate();
        if let Some((triangle, vertex)) =
            found.filter_map(|(i, t)| missing(t).map(|v| (i, v))).next()
        {
            return Err(SurfaceError::MissingVertex {
                triangle,
                vertex,
                count: vertices,
            });
        }
        let fold = 4_usize.checked_pow(times).unwrap_or(usize::MAX);
        let count = triangles.len().saturating_mul(fold);
        if count > MAX_TRIANGLES {
            return Err(SurfaceError::TooManyTriangles { count });
        }
        // A vertex is new for each edge, and no triangle has more than three of its own.
        let count = vertices.saturating_add(count.saturating_mul(3));
        if vertices > MAX_VERTICES || count > u32::MAX as usize {
            return Err(SurfaceError::TooManyVertices { count });
        }
        let mut levels = vec![Level::new(triangles.to_vec(), vertices)];
        for _ in 0..times {
            let finer = levels.last_mut().map(Level::divide);
            levels.extend(finer);
        }
        let bulge = BULGE;
        Ok(Self { levels, bulge })
    }

    /// The same with another k_I, 0 to 1; 0 leaves every new vertex on its edge.
    pub fn with_bulge(mut self, bulge: f32) -> Self {
        self.bulge = bulge.clamp(0.0, 1.0);
        self
    }

    /// Vertices of the finest level. The first are those of the coarse surface.
    pub fn vertices(&self) -> usize {
        self.levels.last().map_or(0, |level| level.vertices)
    }

    /// Triangles of the finest level: those of the coarse triangle t are the 4ⁿ from 4ⁿ t on.
    pub fn triangles(&self) -> &[[u32; 3]] {
        self.levels.last().map_or(&[], |level| &level.triangles)
    }

    /// Texture coordinates of all vertices, from those of the coarse surface: in the middle of each edge the mean of its ends. None if there is not a pair
    /// for each of those.
    pub fn texture(&self, coarse: &[[f64; 2]]) -> Vec<[f64; 2]> {
        if self.levels.first().map(|level| level.vertices) != Some(coarse.len()) {
            return Vec::new();
        }
        let mut all = coarse.to_vec();
        for level in &self.levels {
            for edge in &level.edges {
                let [a, b] = edge.map(|v| all[v as usize]);
                all.push([0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])]);
            }
        }
        all
    }

    /// Room for a frame.
    pub fn skin(&self) -> Skin {
        Skin {
            positions: vec![Vec3A::ZERO; self.vertices()],
            normals: vec![Vec3A::ZERO; self.vertices()],
            facets: vec![Vec3A::ZERO; self.triangles().len()],
        }
    }

    /// Refines a frame. `coarse` are the vertices of the coarse surface, m; if there are fewer than there should be, the last ones stay
    /// where they were. Allocates nothing.
    pub fn apply(&self, coarse: &[DVec3], skin: &mut Skin) {
        self.apply_by(coarse, skin, &|items, work| work(0, items));
    }

    /// The same, with `spread` to cut each stage into stretches: it is given all items of a stage and what to do with any
    /// stretch of them, beginning at a number. The result does not depend on where it cuts.
    pub fn apply_by(&self, coarse: &[DVec3], skin: &mut Skin, spread: &Spread<'_>) {
        let Some(coarsest) = self.levels.first() else {
            return;
        };
        if skin.positions.len() != self.vertices() || skin.facets.len() != self.triangles().len() {
            *skin = self.skin();
        }
        let vertices = skin.positions[..coarsest.vertices].iter_mut();
        vertices
            .zip(coarse)
            .for_each(|(to, from)| *to = from.as_vec3a());
        for level in &self.levels {
            let (old, new) = skin.positions.split_at_mut(level.vertices);
            let old: &[Vec3A] = old;
            let facets = &mut skin.facets[..level.triangles.len()];
            spread(facets, &|first, some| level.facets(first, some, old));
            let (facets, normals) = (&skin.facets, &mut skin.normals[..level.vertices]);
            spread(normals, &|first, some| level.normals(first, some, facets));
            let (normals, new) = (&skin.normals, &mut new[..level.edges.len()]);
            let bulge = self.bulge;
            spread(new, &|first, some| {
                level.middles(first, some, old, normals, bulge);
            });
        }
    }
}

/// What cuts a stage into stretches; see [`Refinement::apply_by`].
pub type Spread<'a> = dyn Fn(&mut [Vec3A], &(dyn Fn(usize, &mut [Vec3A]) + Sync)) + 'a;

impl Level {
    fn new(triangles: Vec<[u32; 3]>, vertices: usize) -> Self {
        let mut first = vec![0_u32; vertices + 1];
        for vertex in triangles.iter().flatten() {
            first[*vertex as usize + 1] += 1;
        }
        for v in 0..vertices {
            first[v + 1] += first[v];
        }
        let mut next = first.clone();
        let mut around = vec![0_u32; 3 * triangles.len()];
        for (t, triangle) in triangles.iter().enumerate() {
            for vertex in triangle {
                let place = &mut next[*vertex as usize];
                around[*place as usize] = t as u32;
                *place += 1;
            }
        }
        Self {
            vertices,
            triangles,
            first,
            around,
            edges: Vec::new(),
        }
    }

    /// Numbers the edges, in the order of their lower vertices so that neighbours stay near each other in memory, and makes the
    /// next level.
    fn divide(&mut self) -> Self {
        let surface = Surface {
            // Only how many there are is looked at.
            positions: vec![DVec3::ZERO; self.vertices],
            triangles: std::mem::take(&mut self.triangles),
        };
        // The vertex in the middle of each side of each triangle; side k goes from corner k to the next.
        let mut on = vec![[0_u32; 3]; surface.triangles.len()];
        for group in sides(&surface).chunk_by(same_edge) {
            let vertex = (self.vertices + self.edges.len()) as u32;
            self.edges.push(group[0].edge);
            for side in group {
                on[side.triangle as usize][side.start as usize] = vertex;
            }
        }
        self.triangles = surface.triangles;
        let corners = self.triangles.iter().zip(&on);
        let finer = corners
            .flat_map(|([a, b, c], [ab, bc, ca])| {
                [
                    [*a, *ab, *ca],
                    [*ab, *b, *bc],
                    [*ca, *bc, *c],
                    [*ab, *bc, *ca],
                ]
            })
            .collect();
        Self::new(finer, self.vertices + self.edges.len())
    }

    /// Twice the area times the unit normal of the triangles from `first` on, m².
    fn facets(&self, first: usize, facets: &mut [Vec3A], positions: &[Vec3A]) {
        for (facet, triangle) in facets.iter_mut().zip(&self.triangles[first..]) {
            let [a, b, c] = triangle.map(|v| positions[v as usize]);
            *facet = (b - a).cross(c - a);
        }
    }

    /// Unit normals of the vertices from `first` on, weighted by the areas around; zero where there is no area.
    fn normals(&self, first: usize, normals: &mut [Vec3A], facets: &[Vec3A]) {
        for (normal, range) in normals.iter_mut().zip(self.first[first..].windows(2)) {
            let around = &self.around[range[0] as usize..range[1] as usize];
            let sum: Vec3A = around.iter().map(|t| facets[*t as usize]).sum();
            *normal = sum.normalize_or_zero();
        }
    }

    /// The new vertices on the edges from `first` on.
    fn middles(
        &self,
        first: usize,
        middles: &mut [Vec3A],
        positions: &[Vec3A],
        normals: &[Vec3A],
        bulge: f32,
    ) {
        for (new, edge) in middles.iter_mut().zip(&self.edges[first..]) {
            let [a, b] = edge.map(|v| v as usize);
            *new = middle(positions[a], positions[b], normals[a], normals[b], bulge);
        }
    }
}

/// A refined surface as it is now.
#[derive(Debug, Clone, Default)]
pub struct Skin {
    /// Vertices of the finest level, m.
    positions: Vec<Vec3A>,
    /// Their unit normals.
    normals: Vec<Vec3A>,
    /// Room for normals of triangles.
    facets: Vec<Vec3A>,
}

impl Skin {
    /// Vertices of the finest level, m.
    pub fn positions(&self) -> &[Vec3A] {
        &self.positions
    }

    /// Their unit normals; zero where a vertex has no area around it.
    pub fn normals(&self) -> &[Vec3A] {
        &self.normals
    }
}

#[cfg(test)]
mod tests;

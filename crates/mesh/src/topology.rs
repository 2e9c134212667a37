//! What kind of surface it is: closed, manifold, oriented, in how many pieces.

use std::fmt;

use crate::sides::{same_edge, sides};
use crate::surface::Surface;

/// A count of everything that decides what a surface can be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Topology {
    /// Vertices that some triangle uses.
    pub vertices: usize,
    /// Edges, each counted once.
    pub edges: usize,
    /// Triangles whose vertices all exist.
    pub triangles: usize,
    /// Edges with one triangle: the rims of holes.
    pub boundary_edges: usize,
    /// Edges with three triangles or more: walls that meet.
    pub branching_edges: usize,
    /// Vertices at which two fans of triangles touch by nothing but the vertex.
    pub pinched_vertices: usize,
    /// Edges whose two triangles disagree about which side is outside.
    pub twisted_edges: usize,
    /// Pieces that share no vertex.
    pub components: usize,
}

impl Topology {
    /// Whether every point has a neighbourhood like a disc, or half a disc at a rim.
    pub fn is_manifold(&self) -> bool {
        self.branching_edges == 0 && self.pinched_vertices == 0
    }

    /// Whether there is no rim: the surface holds water.
    pub fn is_closed(&self) -> bool {
        self.triangles > 0 && self.boundary_edges == 0
    }

    /// Whether neighbouring triangles agree about which side is outside.
    pub fn is_oriented(&self) -> bool {
        self.twisted_edges == 0
    }

    /// Vertices − edges + triangles: 2 for a sphere, 1 for a disc, 0 for a torus or a pipe; summed over the pieces.
    pub fn euler(&self) -> i64 {
        self.vertices as i64 - self.edges as i64 + self.triangles as i64
    }
}

impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} vertices, {} triangles, ",
            self.vertices, self.triangles
        )?;
        write!(
            f,
            "{} component(s), Euler {}, ",
            self.components,
            self.euler()
        )?;
        let rim = if self.is_closed() {
            "closed".into()
        } else {
            format!("open ({} rim edges)", self.boundary_edges)
        };
        let manifold = if self.is_manifold() {
            "manifold".into()
        } else {
            format!(
                "not manifold ({} branching edges, {} pinched vertices)",
                self.branching_edges, self.pinched_vertices
            )
        };
        let oriented = if self.is_oriented() {
            "oriented".into()
        } else {
            format!("{} twisted edges", self.twisted_edges)
        };
        write!(f, "{rim}, {manifold}, {oriented}")
    }
}

impl Surface {
    /// Measures the topology. Costs a sort of all edges: for loading, not for every step.
    pub fn topology(&self) -> Topology {
        let mut topology = Topology::default();
        let mut pieces = Union::new(self.positions.len());
        // Corner k of triangle t is 3t + k. Corners that share an edge belong to one fan.
        let mut fans = Union::new(3 * self.triangles.len());

        for group in sides(self).chunk_by(same_edge) {
            topology.edges += 1;
            let [low, high] = group[0].edge;
            pieces.join(low as usize, high as usize);
            match group {
                [_] => topology.boundary_edges += 1,
                [a, b] => topology.twisted_edges += usize::from(a.forward == b.forward),
                _ => topology.branching_edges += 1,
            }
            for pair in group.windows(2) {
                let corner = |i: usize, end: usize| {
                    3 * pair[i].triangle as usize + pair[i].low_and_high()[end]
                };
                fans.join(corner(0, 0), corner(1, 0));
                fans.join(corner(0, 1), corner(1, 1));
            }
        }

        let mut fans_at = vec![0_u32; self.positions.len()];
        for (index, &triangle) in self.triangles.iter().enumerate() {
            if self.corners(triangle).is_none() {
                continue;
            }
            topology.triangles += 1;
            for (k, vertex) in triangle.into_iter().enumerate() {
                let corner = 3 * index + k;
                fans_at[vertex as usize] += u32::from(fans.root(corner) == corner);
            }
        }
        topology.vertices = fans_at.iter().filter(|&&n| n > 0).count();
        topology.pinched_vertices = fans_at.iter().filter(|&&n| n > 1).count();
        topology.components = (0..fans_at.len())
            .filter(|&v| fans_at[v] > 0 && pieces.root(v) == v)
            .count();
        topology
    }
}

/// Sets that grow together. The root of a set is its lowest member, so that the answer never depends on the order.
struct Union {
    parent: Vec<u32>,
}

impl Union {
    fn new(count: usize) -> Self {
        Self {
            parent: (0..count as u32).collect(),
        }
    }

    fn root(&mut self, mut member: usize) -> usize {
        while self.parent[member] as usize != member {
            // Halving the path keeps it short without a second pass.
            let grandparent = self.parent[self.parent[member] as usize];
            self.parent[member] = grandparent;
            member = grandparent as usize;
        }
        member
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b)] = a.min(b) as u32;
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::surface::tests::tetrahedron;

    fn with(positions: usize, triangles: &[[u32; 3]]) -> Topology {
        let positions = (0..positions).map(|i| DVec3::splat(i as f64)).collect();
        Surface {
            positions,
            triangles: triangles.to_vec(),
        }
        .topology()
    }

    #[test]
    fn a_tetrahedron_is_a_sphere() {
        let t = tetrahedron().topology();
        assert!(t.is_closed() && t.is_manifold() && t.is_oriented());
        assert_eq!((t.components, t.euler()), (1, 2));
    }

    #[test]
    fn a_turned_triangle_is_noticed() {
        let mut surface = tetrahedron();
        surface.triangles[1].swap(0, 1);
        assert_eq!(surface.topology().twisted_edges, 3);
    }

    #[test]
    fn a_book_branches_and_a_bow_tie_is_pinched() {
        let book = with(5, &[[0, 1, 2], [1, 0, 3], [0, 1, 4]]);
        assert_eq!((book.branching_edges, book.pinched_vertices), (1, 0));
        assert!(!book.is_manifold());

        let bow_tie = with(5, &[[0, 1, 2], [0, 3, 4]]);
        assert_eq!((bow_tie.branching_edges, bow_tie.pinched_vertices), (0, 1));
        assert_eq!(bow_tie.components, 1);
    }

    #[test]
    fn pieces_are_counted_without_stray_vertices() {
        let t = with(9, &[[0, 1, 2], [5, 6, 7], [0, 1, 900]]);
        assert_eq!(
            (t.components, t.vertices, t.triangles, t.boundary_edges),
            (2, 6, 2, 6)
        );
        assert!(!t.is_closed());
        assert!(!with(0, &[]).is_closed());
    }
}

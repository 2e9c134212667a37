//! The three sides of every triangle, sorted so that those on the same edge stand together.

use crate::surface::Surface;

/// One side of one triangle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Side {
    /// The edge it lies on, the lower vertex first.
    pub edge: [u32; 2],
    /// The triangle it belongs to.
    pub triangle: u32,
    /// Where in the triangle the side starts: 0, 1 or 2. It ends at the next corner.
    pub start: u8,
    /// Whether the triangle runs along the edge from the lower to the higher vertex.
    pub forward: bool,
}

impl Side {
    /// The positions within the triangle, 0 to 2, of the edge's lower and higher vertex.
    pub fn low_and_high(&self) -> [usize; 2] {
        let (start, end) = (self.start as usize, (self.start as usize + 1) % 3);
        if self.forward {
            [start, end]
        } else {
            [end, start]
        }
    }
}

/// All sides of all triangles whose vertices exist, sorted by edge, then triangle.
///
/// Group them with `chunk_by(same_edge)`: that is the whole neighbourhood of the surface, in an order that depends on
/// nothing but the surface.
pub(crate) fn sides(surface: &Surface) -> Vec<Side> {
    let mut sides = Vec::with_capacity(3 * surface.triangles.len());
    for (index, &triangle) in surface.triangles.iter().enumerate() {
        if surface.corners(triangle).is_none() {
            continue;
        }
        for start in 0..3_u8 {
            let (from, to) = (triangle[start as usize], triangle[(start as usize + 1) % 3]);
            let edge = [from.min(to), from.max(to)];
            sides.push(Side {
                edge,
                triangle: index as u32,
                start,
                forward: from < to,
            });
        }
    }
    sides.sort_unstable();
    sides
}

/// Whether two sides lie on the same edge.
pub(crate) fn same_edge(a: &Side, b: &Side) -> bool {
    a.edge == b.edge
}

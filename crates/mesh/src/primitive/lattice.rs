//! The node matrix of a primitive: which nodes are neighbours, and which triangles lie over them.

use super::shape::{MAX_NODES, ShapeError, at_least};

/// How the nodes of a primitive hang together (Kuhn's net C: edges and both diagonals of every quad).
///
/// Node (row, column) has the index `row * columns + column`. With poles, the start pole follows after all rows, then
/// the end pole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lattice {
    rows: usize,
    columns: usize,
    closed: bool,
    poles: bool,
}

/// What an edge of the lattice runs along.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EdgeKind {
    /// Within a ring or row.
    Around,
    /// From one ring or row to the next, in the same column.
    Along,
    /// Across a quad.
    Diagonal,
    /// From a pole to its ring.
    Pole,
}

/// An edge of the lattice: where a spring goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LatticeEdge {
    /// The two nodes.
    pub nodes: [u32; 2],
    /// What it runs along.
    pub kind: EdgeKind,
}

impl Lattice {
    /// The rows and columns of an open sheet, each 2 or more.
    pub fn sheet(rows: usize, columns: usize) -> Result<Self, ShapeError> {
        at_least("rows", rows, 2)?;
        at_least("columns", columns, 2)?;
        Lattice {
            rows,
            columns,
            closed: false,
            poles: false,
        }
        .unless_too_large()
    }

    /// The rings of a tube, 2 or more, of 3 nodes or more each; with or without poles.
    pub fn tube(rings: usize, around: usize, poles: bool) -> Result<Self, ShapeError> {
        at_least("rings", rings, 2)?;
        at_least("around", around, 3)?;
        Lattice {
            rows: rings,
            columns: around,
            closed: true,
            poles,
        }
        .unless_too_large()
    }

    fn unless_too_large(self) -> Result<Self, ShapeError> {
        let Lattice { rows, columns, .. } = self;
        match rows.checked_mul(columns) {
            Some(nodes) if nodes <= MAX_NODES => Ok(self),
            _ => Err(ShapeError::TooManyNodes { rows, columns }),
        }
    }

    /// Rings of a tube, rows of a sheet.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Nodes in each row.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// How many nodes there are, poles included.
    pub fn node_count(&self) -> usize {
        self.rows * self.columns + if self.poles { 2 } else { 0 }
    }

    /// The index of a node. Columns wrap round.
    fn node(&self, row: usize, column: usize) -> u32 {
        (row * self.columns + column % self.columns) as u32
    }

    /// All edges of net C, first those around, then along, diagonal, and to the poles; each kind in the order of rows.
    ///
    /// With r rows and c columns: organ rc + 3c(r−1) + 2c, pipe rc + 3c(r−1), sheet r(c−1) + c(r−1) + 2(r−1)(c−1).
    pub fn edges(&self) -> Vec<LatticeEdge> {
        use EdgeKind::{Along, Around, Diagonal, Pole};
        let mut edges = Vec::with_capacity(4 * self.node_count());
        let mut add = |kind, a, b| {
            edges.push(LatticeEdge {
                nodes: [a, b],
                kind,
            })
        };
        for row in 0..self.rows {
            for column in 0..self.gaps() {
                add(Around, self.node(row, column), self.node(row, column + 1));
            }
        }
        for row in 1..self.rows {
            for column in 0..self.columns {
                add(Along, self.node(row - 1, column), self.node(row, column));
            }
        }
        for [a, b, c, d] in self.quads() {
            add(Diagonal, a, c);
            add(Diagonal, b, d);
        }
        if let Some([start, end]) = self.pole_nodes() {
            for column in 0..self.columns {
                add(Pole, start, self.node(0, column));
            }
            for column in 0..self.columns {
                add(Pole, end, self.node(self.rows - 1, column));
            }
        }
        edges
    }

    /// All triangles, two for each quad and then one for each pole edge. Counter-clockwise if columns run
    /// counter-clockwise as seen from the far end of a tube, or to the right on a sheet whose rows run upwards.
    pub fn triangles(&self) -> Vec<[u32; 3]> {
        let mut triangles: Vec<_> = self
            .quads()
            .flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]])
            .collect();
        if let Some([start, end]) = self.pole_nodes() {
            triangles
                .extend((0..self.columns).map(|c| [start, self.node(0, c + 1), self.node(0, c)]));
            let last = self.rows - 1;
            triangles.extend(
                (0..self.columns).map(|c| [end, self.node(last, c), self.node(last, c + 1)]),
            );
        }
        triangles
    }

    /// The start and the end pole.
    pub fn pole_nodes(&self) -> Option<[u32; 2]> {
        let first = (self.rows * self.columns) as u32;
        self.poles.then_some([first, first + 1])
    }

    /// The quads between neighbouring rows, each counter-clockwise from its lowest row and column.
    fn quads(self) -> impl Iterator<Item = [u32; 4]> {
        (1..self.rows).flat_map(move |row| {
            (0..self.gaps()).map(move |column| {
                [
                    self.node(row - 1, column),
                    self.node(row - 1, column + 1),
                    self.node(row, column + 1),
                    self.node(row, column),
                ]
            })
        })
    }

    /// How many neighbouring pairs of columns there are.
    fn gaps(&self) -> usize {
        if self.closed {
            self.columns
        } else {
            self.columns - 1
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kuhn's §3.6, and his own counts.
    #[test]
    fn edges_are_counted_as_in_the_source() {
        let organ = Lattice::tube(16, 12, true).unwrap();
        assert_eq!(
            (
                organ.edges().len(),
                organ.node_count(),
                organ.triangles().len()
            ),
            (756, 194, 384)
        );
        let pipe = Lattice::tube(10, 12, false).unwrap();
        assert_eq!(
            (
                pipe.edges().len(),
                pipe.node_count(),
                pipe.triangles().len()
            ),
            (444, 120, 216)
        );
        for (r, c) in [(2, 2), (3, 5), (9, 4)] {
            let sheet = Lattice::sheet(r, c).unwrap();
            assert_eq!(
                sheet.edges().len(),
                r * (c - 1) + c * (r - 1) + 2 * (r - 1) * (c - 1)
            );
            assert_eq!(sheet.triangles().len(), 2 * (r - 1) * (c - 1));
        }
    }

    #[test]
    fn no_edge_comes_twice_even_on_the_thinnest_tube() {
        let organ = Lattice::tube(2, 3, true).unwrap();
        let mut edges: Vec<_> = organ
            .edges()
            .iter()
            .map(|e| [e.nodes[0].min(e.nodes[1]), e.nodes[0].max(e.nodes[1])])
            .collect();
        let count = edges.len();
        edges.sort_unstable();
        edges.dedup();
        assert_eq!(edges.len(), count);
    }
}

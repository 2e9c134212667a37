//! Which blocks a matrix has and where they are stored.

use std::ops::Range;

use crate::LARGEST;
use crate::order::{Elimination, eliminate};

/// What a matrix looks like: made once, kept until the topology changes.
///
/// Vectors over a pattern are in the order of elimination; [`Pattern::offset`] says where a node's unknowns begin.
#[derive(Clone, Debug, Default)]
pub struct Pattern {
    pub(crate) columns: Vec<Column>,
    pub(crate) entries: Vec<Entry>,
    /// For each column and each pair of its blocks, the first the earlier, where their product is taken off.
    pub(crate) products: Vec<u32>,
    pub(crate) rows: usize,
    pub(crate) values: usize,
    /// The longest list of blocks beside a diagonal block.
    pub(crate) widest: usize,
    /// Column of each node.
    column_of: Vec<u32>,
    fill: usize,
}

/// A node in the order of elimination: its diagonal block, and after it in memory its blocks with later nodes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    pub(crate) size: u8,
    /// First row in a vector.
    pub(crate) row: u32,
    /// First value of the diagonal block, one past the last value of the last block.
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) first_entry: u32,
    pub(crate) last_entry: u32,
    pub(crate) first_product: u32,
}

impl Column {
    pub(crate) fn entries(&self) -> Range<usize> {
        self.first_entry as usize..self.last_entry as usize
    }
}

/// A block beside the diagonal: the rows of its column's node, the columns of a later node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) size: u8,
    /// The later node: its column, its first row in a vector, its diagonal block.
    pub(crate) column: u32,
    pub(crate) row: u32,
    pub(crate) diagonal: u32,
    /// First value of this block.
    pub(crate) start: u32,
}

/// Where a block is stored, row-major.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// First value.
    pub start: usize,
    /// Rows as stored.
    pub rows: usize,
    /// Columns as stored.
    pub columns: usize,
    /// Whether what is stored for `(i, j)` is block `(j, i)`, its transpose.
    pub transposed: bool,
}

impl Place {
    /// The values of the block.
    pub fn range(&self) -> Range<usize> {
        self.start..self.start + self.rows * self.columns
    }
}

impl Pattern {
    /// The pattern of a matrix with `sizes[i]` unknowns in node `i`, one to six, and a block for each of the `edges`, pairs
    /// of different nodes in any order, with or without repetition.
    ///
    /// `after[i]` says that node `i` is a rigid joint: its own block is zero, and it is eliminated only once the nodes that
    /// are not `after` beside it, its bodies, have given it a sound pivot. That holds if the joint's rows, on each of its
    /// bodies alone, are independent, and if joints between the same two bodies depend on how these stand to one another
    /// alone. A joint beside one body only is tied to the ground.
    ///
    /// Trees with at most one joint to the ground have no fill-in. A loop, through the ground or not, fills in along itself.
    ///
    /// # Panics
    ///
    /// If a size is out of range, an edge names a node that is not there or joins a node to itself, or `after` is not as
    /// long as `sizes`.
    pub fn new(sizes: &[u8], edges: &[(u32, u32)], after: &[bool]) -> Self {
        Self::within(sizes, edges, after, usize::MAX).expect("no limit to the products")
    }

    /// As [`Pattern::new`], but `None` as soon as a factorisation would take more than `most` products of blocks: a body with
    /// thousands of joints to the ground couples each of them to each other, and a wide net couples all across it.
    ///
    /// # Panics
    ///
    /// As [`Pattern::new`].
    pub fn within(sizes: &[u8], edges: &[(u32, u32)], after: &[bool], most: usize) -> Option<Self> {
        assert_eq!(sizes.len(), after.len(), "one flag for each node");
        assert!(
            sizes
                .iter()
                .all(|&size| (1..=LARGEST).contains(&usize::from(size))),
            "a node has 1 to {LARGEST} unknowns"
        );
        let mut neighbours = vec![Vec::new(); sizes.len()];
        for &(a, b) in edges {
            assert_ne!(a, b, "an edge joins two nodes");
            neighbours[a as usize].push(b);
            neighbours[b as usize].push(a);
        }
        for list in &mut neighbours {
            list.sort_unstable();
            list.dedup();
        }
        let elimination = eliminate(sizes, neighbours, after, most)?;
        Some(Self::lay_out(sizes, elimination))
    }

    fn lay_out(sizes: &[u8], elimination: Elimination) -> Self {
        let Elimination {
            order,
            mut later,
            fill,
        } = elimination;
        let mut pattern = Self {
            column_of: vec![0; order.len()],
            fill,
            ..Self::default()
        };
        for (at, &node) in order.iter().enumerate() {
            pattern.column_of[node as usize] = at as u32;
        }
        for &node in &order {
            let size = usize::from(sizes[node as usize]);
            let later = &mut later[node as usize];
            later.sort_unstable_by_key(|&other| pattern.column_of[other as usize]);
            let start = pattern.values;
            let first_entry = pattern.entries.len() as u32;
            pattern.values += size * size;
            for &other in later.iter() {
                pattern.entries.push(Entry {
                    size: sizes[other as usize],
                    column: pattern.column_of[other as usize],
                    row: 0,
                    diagonal: 0,
                    start: pattern.values as u32,
                });
                pattern.values += size * usize::from(sizes[other as usize]);
            }
            pattern.widest = pattern.widest.max(pattern.values - start - size * size);
            pattern.columns.push(Column {
                size: size as u8,
                row: pattern.rows as u32,
                start: start as u32,
                end: u32::try_from(pattern.values).expect("a factor has fewer than 2^32 values"),
                first_entry,
                last_entry: pattern.entries.len() as u32,
                first_product: 0,
            });
            pattern.rows += size;
        }
        for entry in &mut pattern.entries {
            let column = pattern.columns[entry.column as usize];
            (entry.row, entry.diagonal) = (column.row, column.start);
        }
        pattern.find_products();
        pattern
    }

    fn find_products(&mut self) {
        for at in 0..self.columns.len() {
            self.columns[at].first_product =
                u32::try_from(self.products.len()).expect("fewer than 2^32 products");
            let entries = &self.entries[self.columns[at].entries()];
            for (place, earlier) in entries.iter().enumerate() {
                // Elimination made every later neighbour of this column one of the earlier neighbour, in the same order.
                let mut among =
                    self.entries[self.columns[earlier.column as usize].entries()].iter();
                for last in &entries[place + 1..] {
                    let target = among.find(|entry| entry.column == last.column);
                    let target = target.expect("neighbours of an eliminated node are neighbours");
                    self.products.push(target.start);
                }
            }
        }
    }

    /// Where block `(i, j)` is stored, if it may be other than zero.
    pub fn place(&self, i: usize, j: usize) -> Option<Place> {
        let transposed = self.column_of[i] > self.column_of[j];
        let (first, last) = if transposed { (j, i) } else { (i, j) };
        let column = self.columns[self.column_of[first] as usize];
        let rows = usize::from(column.size);
        let (start, columns) = if first == last {
            (column.start, rows)
        } else {
            let entries = &self.entries[column.entries()];
            let at = entries
                .binary_search_by_key(&self.column_of[last], |entry| entry.column)
                .ok()?;
            (entries[at].start, usize::from(entries[at].size))
        };
        Some(Place {
            start: start as usize,
            rows,
            columns,
            transposed,
        })
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> usize {
        self.columns.len()
    }

    /// How many unknowns there are, the length of a vector.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many unknowns a node has.
    pub fn size(&self, node: usize) -> usize {
        usize::from(self.columns[self.column_of[node] as usize].size)
    }

    /// Where a node's unknowns begin in a vector.
    pub fn offset(&self, node: usize) -> usize {
        self.columns[self.column_of[node] as usize].row as usize
    }

    /// Where a node's unknowns are in a vector.
    pub fn range(&self, node: usize) -> Range<usize> {
        let start = self.offset(node);
        start..start + self.size(node)
    }

    /// How many blocks there are that only elimination made.
    pub fn fill(&self) -> usize {
        self.fill
    }
}

//! Names of nodes, edges and triangles that outlive what they name.

use std::fmt;
use std::marker::PhantomData;

/// Says that an [`Id`] names a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeKey;
/// Says that an [`Id`] names an edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EdgeKey;
/// Says that an [`Id`] names a triangle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TriangleKey;

/// The name of a part of a sheet: a place in a list, and how often that place was given to another part before.
///
/// A name whose part is gone is not mistaken for the part that took its place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id<Key> {
    pub(super) slot: u32,
    pub(super) age: u32,
    pub(super) key: PhantomData<Key>,
}

/// Names a node of a sheet.
pub type NodeId = Id<NodeKey>;
/// Names an edge of a sheet.
pub type EdgeId = Id<EdgeKey>;
/// Names a triangle of a sheet.
pub type TriangleId = Id<TriangleKey>;

impl<Key> Id<Key> {
    /// The place in lists that run along with the sheet: below [`Sheet::node_slots`](super::Sheet::node_slots) and its like.
    pub fn slot(self) -> usize {
        self.slot as usize
    }

    /// The name as a number, to be stored.
    pub fn to_bits(self) -> u64 {
        u64::from(self.age) << 32 | u64::from(self.slot)
    }

    /// A number by which names stand in their order.
    pub(super) fn order(self) -> u64 {
        u64::from(self.slot) << 32 | u64::from(self.age)
    }

    /// The name that was stored; of nothing, if the number is none.
    pub fn from_bits(bits: u64) -> Self {
        Self {
            slot: bits as u32,
            age: (bits >> 32) as u32,
            key: PhantomData,
        }
    }
}

impl<Key> fmt::Debug for Id<Key> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.slot, self.age)
    }
}

impl<Key> fmt::Display for Id<Key> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

//! What a tree refuses.

use thiserror::Error;

/// Why a tree can't be made, refitted or changed. Names the place.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum TreeError {
    /// A corner of a triangle is no node.
    #[error("corner {corner} of triangle {triangle} is node {node}, but there are {nodes} nodes")]
    NoSuchNode {
        /// The triangle.
        triangle: u32,
        /// Which of its corners.
        corner: usize,
        /// The node it should be.
        node: u32,
        /// How many there are.
        nodes: usize,
    },
    /// A node is not a number, or further away than 10³⁰ m.
    #[error("node {node} is at no place: its coordinates must be finite numbers up to 1e30 m")]
    NoPlace {
        /// The node.
        node: u32,
    },
    /// There are fewer positions than corners want.
    #[error("there are {positions} positions for a tree over {nodes} nodes")]
    TooFewPositions {
        /// How many were given.
        positions: usize,
        /// How many it wants.
        nodes: usize,
    },
    /// A triangle's number is far beyond all others.
    #[error(
        "triangle {triangle} is far beyond the {known} that there have been: number them one after the other"
    )]
    Sparse {
        /// The number.
        triangle: u32,
        /// How many there have been, with those of the edit.
        known: usize,
    },
    /// A triangle's number is too great.
    #[error(
        "triangle {triangle} has too great a number: at most {}",
        super::MAX_TRIANGLE
    )]
    TooManyTriangles {
        /// The number.
        triangle: u32,
    },
}

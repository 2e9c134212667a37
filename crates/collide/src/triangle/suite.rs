//! Forty pairs of triangles in every singular placement (H73), for tests and benches.
//!
//! The thesis says that its forty pairs cover all of them and does not print them; these are ours. The first triangle is
//! mostly (0,0,0), (4,0,0), (0,4,0).

use glam::DVec3;

/// What a pair has in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing.
    None,
    /// One point.
    Point,
    /// A segment.
    Segment,
    /// A polygon.
    Polygon,
}

/// A pair and what is to be found.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// What is special about it.
    pub name: &'static str,
    /// One triangle, corners in whole numbers.
    pub a: [[i8; 3]; 3],
    /// The other.
    pub b: [[i8; 3]; 3],
    /// What they have in common.
    pub kind: Kind,
}

impl Pair {
    /// Both triangles, m.
    pub fn corners(&self) -> [[DVec3; 3]; 2] {
        [self.a, self.b].map(|t| t.map(|p| DVec3::from(p.map(f64::from))))
    }
}

const A: [[i8; 3]; 3] = [[0, 0, 0], [4, 0, 0], [0, 4, 0]];

const fn pair(name: &'static str, b: [[i8; 3]; 3], kind: Kind) -> Pair {
    Pair {
        name,
        a: A,
        b,
        kind,
    }
}

/// All forty.
pub const PAIRS: [Pair; 40] = {
    use Kind::{None, Point, Polygon, Segment};
    [
        // One plane (case a).
        pair(
            "in one plane, apart",
            [[5, 5, 0], [7, 5, 0], [5, 7, 0]],
            None,
        ),
        pair(
            "in one plane, apart along the long edge",
            [[3, 2, 0], [5, 2, 0], [3, 4, 0]],
            None,
        ),
        pair(
            "in one plane, boxes overlap but apart",
            [[4, 1, 0], [4, 4, 0], [1, 4, 0]],
            None,
        ),
        pair(
            "in one plane, overlapping",
            [[1, 1, 0], [5, 1, 0], [1, 5, 0]],
            Polygon,
        ),
        pair(
            "in one plane, a star of six corners",
            [[3, 3, 0], [-1, 3, 0], [3, -1, 0]],
            Polygon,
        ),
        pair(
            "in one plane, inside",
            [[1, 1, 0], [2, 1, 0], [1, 2, 0]],
            Polygon,
        ),
        pair(
            "in one plane, around",
            [[-4, -4, 0], [12, -4, 0], [-4, 12, 0]],
            Polygon,
        ),
        pair("the same", A, Polygon),
        pair(
            "the same, the other way round",
            [[0, 0, 0], [0, 4, 0], [4, 0, 0]],
            Polygon,
        ),
        pair(
            "in one plane, a shared edge",
            [[0, 0, 0], [4, 0, 0], [0, -4, 0]],
            Segment,
        ),
        pair(
            "in one plane, part of an edge",
            [[1, 0, 0], [6, 0, 0], [3, -4, 0]],
            Segment,
        ),
        pair(
            "in one plane, an edge within an edge",
            [[1, 0, 0], [2, 0, 0], [1, -1, 0]],
            Segment,
        ),
        pair(
            "in one plane, a shared corner",
            [[0, 0, 0], [-2, 0, 0], [0, -2, 0]],
            Point,
        ),
        pair(
            "in one plane, edges in line that meet in a corner",
            [[4, 0, 0], [8, 0, 0], [6, -2, 0]],
            Point,
        ),
        pair(
            "in one plane, a corner on an edge",
            [[2, 2, 0], [4, 2, 0], [2, 4, 0]],
            Point,
        ),
        pair(
            "in one plane, edges in line but apart",
            [[5, 0, 0], [8, 0, 0], [6, -2, 0]],
            None,
        ),
        // All on one side (case b).
        pair("parallel planes", [[0, 0, 1], [4, 0, 1], [0, 4, 1]], None),
        pair("above", [[1, 1, 1], [2, 1, 3], [1, 2, 2]], None),
        pair("below", [[1, 1, -1], [2, 1, -3], [1, 2, -2]], None),
        // A corner in the plane, the others on one side (case c).
        pair("a corner inside", [[1, 1, 0], [2, 1, 3], [1, 2, 3]], Point),
        pair(
            "a corner on an edge",
            [[2, 0, 0], [2, -1, 3], [2, 1, 3]],
            Point,
        ),
        pair(
            "a corner on a corner",
            [[0, 0, 0], [1, 0, 3], [0, 1, 3]],
            Point,
        ),
        pair(
            "a corner in the plane, outside",
            [[3, 3, 0], [1, 1, 3], [2, 1, 3]],
            None,
        ),
        pair(
            "a corner in line with an edge, outside",
            [[5, 0, 0], [5, 1, 3], [5, -1, 3]],
            None,
        ),
        // An edge in the plane (case d).
        pair("an edge inside", [[1, 1, 0], [2, 1, 0], [1, 1, 3]], Segment),
        pair(
            "an edge through",
            [[-1, 1, 0], [5, 1, 0], [1, 1, 3]],
            Segment,
        ),
        pair(
            "an edge on an edge",
            [[1, 0, 0], [3, 0, 0], [2, 0, 3]],
            Segment,
        ),
        pair(
            "an edge from corner to edge",
            [[0, 0, 0], [2, 2, 0], [1, 1, 3]],
            Segment,
        ),
        pair(
            "an edge that passes a corner",
            [[-1, 1, 0], [1, -1, 0], [0, 0, 3]],
            Point,
        ),
        pair(
            "an edge in the plane, outside",
            [[3, 2, 0], [3, 5, 0], [1, 1, 3]],
            None,
        ),
        // A corner in the plane, the others on both sides (case e).
        pair(
            "a corner inside, cut through",
            [[1, 1, 0], [2, 1, 2], [2, 1, -2]],
            Segment,
        ),
        pair(
            "a corner at a corner, cut outwards",
            [[0, 0, 0], [-2, -2, 2], [-2, -2, -2]],
            Point,
        ),
        pair(
            "a corner on an edge, cut along the edge",
            [[1, 0, 0], [3, 0, 2], [3, 0, -2]],
            Segment,
        ),
        pair(
            "a corner outside, cut outwards",
            [[3, 3, 0], [5, 5, 2], [5, 5, -2]],
            None,
        ),
        // One corner against two (case f).
        pair("a stab", [[1, 1, 2], [1, 1, -2], [2, 1, -2]], Segment),
        pair(
            "a stab that ends at an edge",
            [[-3, 1, 1], [-3, 1, -1], [3, 1, 0]],
            Segment,
        ),
        pair(
            "a stretch that touches a corner",
            [[-2, 0, 2], [-2, 0, -2], [2, 0, -2]],
            Point,
        ),
        pair(
            "crossing planes, stretches apart",
            [[6, 1, 2], [6, 1, -2], [9, 1, -2]],
            None,
        ),
        // Without area.
        Pair {
            name: "a needle through",
            a: A,
            b: [[1, 1, -1], [1, 1, 0], [1, 1, 1]],
            kind: Point,
        },
        Pair {
            name: "a point inside",
            a: A,
            b: [[1, 1, 0]; 3],
            kind: Point,
        },
    ]
};

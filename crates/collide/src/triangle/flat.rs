//! Triangles in one plane, and triangles without area: rare, so that whatever is simplest will do.

use super::{
    Contact, Polygon,
    shape::{AXES, Shape, along, area, in_line, order},
};
use glam::DVec3;
use std::cmp::Ordering;
use trocar_math::{orient2d, orient3d};

/// What two triangles have in common that lie in one plane, or of which one has no area. Right for others, too, but slow.
#[cold]
pub(super) fn contact(a: &[DVec3; 3], b: &[DVec3; 3]) -> Contact {
    of_shapes(Shape::new(a), Shape::new(b))
}

fn of_shapes(a: Shape, b: Shape) -> Contact {
    match (a, b) {
        (Shape::Triangle(a), Shape::Triangle(b)) => triangles(&a, &b),
        (Shape::Segment(s), Shape::Triangle(t)) | (Shape::Triangle(t), Shape::Segment(s)) => {
            segment_and_triangle(s, &t)
        }
        (Shape::Segment(a), Shape::Segment(b)) => segments(a, b),
        (Shape::Point(p), Shape::Triangle(t)) | (Shape::Triangle(t), Shape::Point(p)) => {
            let [x, y, z] = t;
            let axis = facing(&t);
            let inside = orient3d(x, y, z, p) == 0 && Flat::new(&t, axis).holds(p);
            one_if(inside, p)
        }
        (Shape::Point(p), Shape::Segment(s)) | (Shape::Segment(s), Shape::Point(p)) => {
            let between =
                order(s[0], p) != Ordering::Greater && order(p, s[1]) != Ordering::Greater;
            one_if(between && in_line(&[s[0], s[1], p]), p)
        }
        (Shape::Point(p), Shape::Point(q)) => one_if(p == q, p),
    }
}

/// Whether they have anything in common: the same without its corners.
#[cold]
pub(super) fn touch(a: &[DVec3; 3], b: &[DVec3; 3]) -> bool {
    let (a, b) = (Shape::new(a), Shape::new(b));
    if let (Shape::Triangle(a), Shape::Triangle(b)) = (&a, &b) {
        let axis = facing(a);
        let (a, b) = (Flat::new(a, axis), Flat::new(b, axis));
        return match between(&a, &b) {
            Between::Gap => false,
            Between::Line(edge) => on_line(&a, &b, edge).exists(),
            Between::Nothing => true,
        };
    }
    of_shapes(a, b).exists()
}

fn one_if(found: bool, point: DVec3) -> Contact {
    if found {
        Contact::Point(point)
    } else {
        Contact::None
    }
}

/// An axis along which a triangle with area is not seen edge-on.
fn facing(triangle: &[DVec3; 3]) -> usize {
    let [a, b, c] = *triangle;
    let normal = (b - a).cross(c - a).abs();
    // The best one first: the shape is then least distorted where places are computed.
    let best = normal.max_position();
    if area(triangle, best) != 0 {
        return best;
    }
    AXES.into_iter()
        .find(|axis| area(triangle, *axis) != 0)
        .unwrap_or(best)
}

/// A triangle, or a segment, seen along an axis.
#[derive(Clone, Copy)]
struct Flat<'a> {
    /// Three, or two.
    corners: &'a [DVec3],
    axis: usize,
    /// 1 if the corners go round against the clock, -1 with it, 0 for a segment.
    turn: i8,
}

/// What lies beyond the line through an edge.
#[derive(Clone, Copy, PartialEq)]
enum Beyond {
    /// All corners of the other shape.
    All,
    /// All of them but some that are on the line.
    Touching,
    /// Not all.
    Some,
}

impl<'a> Flat<'a> {
    fn new(triangle: &'a [DVec3; 3], axis: usize) -> Self {
        Self {
            corners: triangle,
            axis,
            turn: area(triangle, axis),
        }
    }

    fn segment(ends: &'a [DVec3; 2], axis: usize) -> Self {
        Self {
            corners: ends,
            axis,
            turn: 0,
        }
    }

    fn edges(&self) -> impl Iterator<Item = [DVec3; 2]> + use<'a> {
        let corners = self.corners;
        let count = if corners.len() == 3 { 3 } else { 1 };
        (0..count).map(move |i| [corners[i], corners[(i + 1) % corners.len()]])
    }

    /// Side of `p` from an edge: positive inside, for a triangle.
    fn side(&self, [a, b]: [DVec3; 2], p: DVec3) -> i8 {
        let side = orient2d(
            along(a, self.axis),
            along(b, self.axis),
            along(p, self.axis),
        );
        if self.turn == 0 {
            side
        } else {
            side * self.turn
        }
    }

    /// True if a triangle holds `p`.
    fn holds(&self, p: DVec3) -> bool {
        self.edges().all(|e| self.side(e, p) >= 0)
    }

    /// What lies beyond an edge; for a segment, on either side of it.
    fn beyond(&self, edge: [DVec3; 2], other: &Flat<'_>) -> Beyond {
        let sides = other.corners.iter().map(|p| self.side(edge, *p));
        let (low, high) = sides.fold((1, -1), |(l, h), s| (s.min(l), s.max(h)));
        let (low, high) = if self.turn == 0 && low >= 0 {
            (-high, -low)
        } else {
            (low, high)
        };
        match (low, high) {
            (_, -1) => Beyond::All,
            (_, 0) => Beyond::Touching,
            _ => Beyond::Some,
        }
    }
}

/// What keeps two shapes in one plane apart: a line through an edge of either.
enum Between {
    /// They lie apart.
    Gap,
    /// They touch at most in a line through this edge.
    Line([DVec3; 2]),
    /// They have inner points in common.
    Nothing,
}

fn between(a: &Flat<'_>, b: &Flat<'_>) -> Between {
    let mut found = Between::Nothing;
    for (one, other) in [(a, b), (b, a)] {
        for edge in one.edges() {
            match one.beyond(edge, other) {
                Beyond::All => return Between::Gap,
                Beyond::Touching => found = Between::Line(edge),
                Beyond::Some => {}
            }
        }
    }
    found
}

/// What two shapes have in common that touch at most in the line through `edge`.
fn on_line(a: &Flat<'_>, b: &Flat<'_>, edge: [DVec3; 2]) -> Contact {
    // What each has of the line; as it is on one side of the line or in it, corners bound it.
    let stretch = |flat: &Flat<'_>| {
        let on = flat.corners.iter().copied().filter(|p| {
            orient2d(
                along(edge[0], flat.axis),
                along(edge[1], flat.axis),
                along(*p, flat.axis),
            ) == 0
        });
        on.fold(None, |range: Option<[DVec3; 2]>, p| {
            Some(range.map_or([p, p], |[low, high]| [least(low, p), greatest(high, p)]))
        })
    };
    let (Some(of_a), Some(of_b)) = (stretch(a), stretch(b)) else {
        return Contact::None;
    };
    overlap(of_a, of_b)
}

fn least(p: DVec3, q: DVec3) -> DVec3 {
    if order(p, q) == Ordering::Greater {
        q
    } else {
        p
    }
}

fn greatest(p: DVec3, q: DVec3) -> DVec3 {
    if order(p, q) == Ordering::Less { q } else { p }
}

/// Of two stretches of one line, ends in order (H71).
fn overlap(a: [DVec3; 2], b: [DVec3; 2]) -> Contact {
    let (start, end) = (greatest(a[0], b[0]), least(a[1], b[1]));
    match order(start, end) {
        Ordering::Greater => Contact::None,
        Ordering::Equal => Contact::Point(start),
        Ordering::Less => Contact::Segment([start, end]),
    }
}

/// Where the segment `s` crosses the line through `t`, as seen along an axis, m.
fn crossing(s: [DVec3; 2], t: [DVec3; 2], axis: usize) -> DVec3 {
    let direction = along(t[1], axis) - along(t[0], axis);
    let [from, to] = s.map(|p| direction.perp_dot(along(p, axis) - along(t[0], axis)).abs());
    let share = if from + to > 0.0 {
        from / (from + to)
    } else {
        0.5
    };
    s[0] + (s[1] - s[0]) * share
}

/// Whether two edges cross at an inner point of both.
fn cross(s: [DVec3; 2], t: [DVec3; 2], axis: usize) -> bool {
    let side = |e: [DVec3; 2], p| orient2d(along(e[0], axis), along(e[1], axis), along(p, axis));
    side(s, t[0]) * side(s, t[1]) < 0 && side(t, s[0]) * side(t, s[1]) < 0
}

/// Both in one plane.
fn triangles(a: &[DVec3; 3], b: &[DVec3; 3]) -> Contact {
    let axis = facing(a);
    let (flat_a, flat_b) = (Flat::new(a, axis), Flat::new(b, axis));
    match between(&flat_a, &flat_b) {
        Between::Gap => return Contact::None,
        Between::Line(edge) => return on_line(&flat_a, &flat_b, edge),
        Between::Nothing => {}
    }
    // Corners of one within the other, each once, and crossings of edges.
    let mut corners = [DVec3::ZERO; 12];
    let mut count = 0;
    let mut add = |p: DVec3| {
        if count < corners.len() {
            corners[count] = p;
            count += 1;
        }
    };
    a.iter().filter(|p| flat_b.holds(**p)).for_each(|p| add(*p));
    let new = |p: &&DVec3| flat_a.holds(**p) && !a.contains(p);
    b.iter().filter(new).for_each(|p| add(*p));
    for s in flat_a.edges() {
        for t in flat_b.edges() {
            if cross(s, t, axis) {
                add(crossing(s, t, axis));
            }
        }
    }
    let normal = (a[1] - a[0]).cross(a[2] - a[0]);
    Contact::Polygon(Polygon::around(&corners[..count], normal))
}

fn segment_and_triangle(s: [DVec3; 2], t: &[DVec3; 3]) -> Contact {
    let [a, b, c] = *t;
    let sides = s.map(|p| orient3d(a, b, c, p));
    let axis = facing(t);
    let flat = Flat::new(t, axis);
    match sides {
        [0, 0] => {
            let line = Flat::segment(&s, axis);
            match between(&flat, &line) {
                Between::Gap => Contact::None,
                Between::Line(edge) => on_line(&flat, &line, edge),
                Between::Nothing => inner_part(s, &flat),
            }
        }
        [0, _] => one_if(flat.holds(s[0]), s[0]),
        [_, 0] => one_if(flat.holds(s[1]), s[1]),
        [from, to] if from == to => Contact::None,
        _ => {
            let turns = [[a, b], [b, c], [c, a]].map(|[p, q]| orient3d(p, q, s[0], s[1]));
            let inside = turns.iter().all(|t| *t >= 0) || turns.iter().all(|t| *t <= 0);
            let normal = (b - a).cross(c - a);
            let [from, to] = s.map(|p| normal.dot(p - a).abs());
            let share = if from + to > 0.0 {
                from / (from + to)
            } else {
                0.5
            };
            one_if(inside, s[0] + (s[1] - s[0]) * share)
        }
    }
}

/// The part of a segment within a triangle, of which it has inner points.
fn inner_part(s: [DVec3; 2], flat: &Flat<'_>) -> Contact {
    let mut ends = s;
    for edge in flat.edges() {
        let [from, to] = s.map(|p| flat.side(edge, p));
        if from * to < 0 {
            let at = crossing(s, edge, flat.axis);
            // Of all crossings at one end, the innermost.
            let inner =
                |old: DVec3, end: DVec3| at.distance_squared(end) > old.distance_squared(end);
            if from < 0 && inner(ends[0], s[0]) {
                ends[0] = at;
            } else if to < 0 && inner(ends[1], s[1]) {
                ends[1] = at;
            }
        }
    }
    Contact::Segment(ends)
}

fn segments(s: [DVec3; 2], t: [DVec3; 2]) -> Contact {
    if orient3d(s[0], s[1], t[0], t[1]) != 0 {
        return Contact::None;
    }
    let triples = [[s[0], s[1], t[0]], [s[0], s[1], t[1]], [t[0], t[1], s[0]]];
    let Some(triple) = triples.iter().find(|corners| !in_line(corners)) else {
        return overlap(s, t);
    };
    let axis = facing(triple);
    let (flat_s, flat_t) = (Flat::segment(&s, axis), Flat::segment(&t, axis));
    match between(&flat_s, &flat_t) {
        Between::Gap => Contact::None,
        Between::Line(edge) => on_line(&flat_s, &flat_t, edge),
        Between::Nothing => Contact::Point(crossing(s, t, axis)),
    }
}

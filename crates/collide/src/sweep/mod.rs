//! When things that move first meet: points, segments and triangles whose corners go straight through a step.
//!
//! What is asked is when two convex things come within a distance of each other: two edges or a point and a face for the
//! surfaces themselves (F43), a capsule and a triangle for a tool. One method answers all of it. Take the direction between the nearest points.
//! Along it the two lie apart, and each corner moves along it at a constant speed, so the time at which the first pair of
//! corners would overlap there is known exactly; until then nothing can meet. Go there and look again.
//!
//! **It never misses.** A step is only taken over time in which a direction was seen to separate the two; the direction need
//! not be a good one for that to be true. (Where none does, because a corner is metres away, by the speed.) Rounding is covered by half the tolerance. Where it can't decide (numbers that are
//! not finite, out of rounds) it answers that they may meet, and says that this is not certain.
//!
//! **It is quick.** The separation along a direction touches the distance with the same slope, so this is Newton's method from the
//! safe side: what slides past without touching takes one or two rounds, what hits a few. (Advancing by a bound of the speed alone takes thousands
//! when something slides at a small distance, which is what instruments on tissue do all the time.)

mod convex;

use crate::closest::{self, SegmentPair};
use glam::DVec3;

pub use convex::{Flight, convex_triangle};

/// The tolerance for surgical scales, m: a tenth of a micrometre, far above the rounding of coordinates of some metres and
/// far below a needle.
pub const TOLERANCE: f64 = 1e-7;

/// Most rounds. Few motions need more than ten; what runs into this is reported as uncertain.
const MOST_ROUNDS: u32 = 2000;

/// A point that goes straight from one place to another while the time goes from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moving {
    /// Where it starts, m.
    pub from: DVec3,
    /// How far it goes, m.
    pub way: DVec3,
}

impl Moving {
    /// From one place to another, m.
    pub fn new(from: DVec3, to: DVec3) -> Self {
        Self {
            from,
            way: to - from,
        }
    }

    /// A point that stands still.
    pub fn still(at: DVec3) -> Self {
        Self {
            from: at,
            way: DVec3::ZERO,
        }
    }

    /// Whether it starts and goes somewhere.
    #[inline]
    fn is_finite(&self) -> bool {
        self.from.is_finite() && self.way.is_finite()
    }

    /// Where it is at a time from 0 to 1, m.
    #[inline]
    pub fn at(&self, time: f64) -> DVec3 {
        self.from + self.way * time
    }
}

/// That two things meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impact {
    /// When, from 0 to 1. Before it they are farther apart than the distance asked for; at it they are within the tolerance of it.
    pub time: f64,
    /// Where on the first thing's segment at that time, from 0 to 1; 0 on a point.
    pub along: f64,
    /// Where on the second: weights of the corners of its triangle, or of the ends of its segment.
    pub weights: [f64; 3],
    /// From the first to the second at that time, unit length. Zero if their axes cross at the start already: then there is no such
    /// direction.
    pub normal: DVec3,
    /// False if it could not be decided that they meet. They do not before.
    pub certain: bool,
}

/// When a point comes within `radius` (m, 0 or more) of a triangle.
pub fn point_triangle(
    point: Moving,
    triangle: [Moving; 3],
    radius: f64,
    tolerance: f64,
) -> Option<Impact> {
    meet(&[point], &triangle, radius, tolerance, |[p], t| {
        let weights = closest::on_triangle(*p, *t);
        (0.0, weights, closest::point(*t, weights) - *p)
    })
}

/// When two segments come within `radius` (m, 0 or more) of each other.
pub fn edge_edge(
    one: [Moving; 2],
    other: [Moving; 2],
    radius: f64,
    tolerance: f64,
) -> Option<Impact> {
    meet(&one, &other, radius, tolerance, |[a, b], [c, d]| {
        let (s, t) = closest::segment_segment(*a, *b, *c, *d);
        (s, [1.0 - t, t, 0.0], c.lerp(*d, t) - a.lerp(*b, s))
    })
}

/// When a capsule (its axis and `radius`, m, 0 or more) touches a triangle. A ball is a capsule of no length.
pub fn capsule_triangle(
    axis: [Moving; 2],
    triangle: [Moving; 3],
    radius: f64,
    tolerance: f64,
) -> Option<Impact> {
    capsule_triangle_from(axis, triangle, radius, tolerance, None)
}

/// The same, if the nearest points of axis and triangle at the start are known.
pub(crate) fn capsule_triangle_from(
    axis: [Moving; 2],
    triangle: [Moving; 3],
    radius: f64,
    tolerance: f64,
    mut first: Option<&SegmentPair>,
) -> Option<Impact> {
    meet(&axis, &triangle, radius, tolerance, |[a, b], t| {
        let known = first.take().copied();
        let pair = known.unwrap_or_else(|| closest::segment_triangle(*a, *b, *t));
        let apart = closest::point(*t, pair.weights) - a.lerp(*b, pair.along);
        let pierced = pair.distance_squared == 0.0;
        let apart = if pierced { DVec3::ZERO } else { apart };
        (pair.along, pair.weights, apart)
    })
}

/// When the hulls of two sets of points come within `radius` of each other. `nearest` gives nearest points of the two, and the way from the
/// first to the second; it may be a little wrong, which costs rounds but not the truth.
fn meet<const P: usize, const Q: usize>(
    one: &[Moving; P],
    other: &[Moving; Q],
    radius: f64,
    tolerance: f64,
    mut nearest: impl FnMut(&[DVec3; P], &[DVec3; Q]) -> (f64, [f64; 3], DVec3),
) -> Option<Impact> {
    let mut time = 0.0;
    let finite = one.iter().chain(other).all(Moving::is_finite);
    let mut last: Option<(f64, DVec3)> = None;
    for round in 0..MOST_ROUNDS {
        let ps: [DVec3; P] = std::array::from_fn(|i| one[i].at(time));
        let qs: [DVec3; Q] = std::array::from_fn(|j| other[j].at(time));
        let (along, weights, apart) = nearest(&ps, &qs);
        let mut impact = Impact {
            time,
            along,
            weights,
            normal: apart.try_normalize().unwrap_or(DVec3::ZERO),
            certain: true,
        };
        let far = apart.length();
        if far <= radius + tolerance {
            return Some(impact);
        }
        // What is infinite, or too great for its square to be a number, can't be told to be far away from anything.
        if !far.is_finite() || !finite {
            impact.certain = false;
            return Some(impact);
        }
        let n = impact.normal;
        let distance = radius + 0.5 * tolerance;
        let corners = |turn: DVec3| {
            let mut free = f64::INFINITY;
            for (p, from) in one.iter().zip(&ps) {
                for (q, to) in other.iter().zip(&qs) {
                    free = free.min(free_time(*to - *from, q.way - p.way, n, turn, distance));
                }
            }
            free
        };
        let mut free = corners(DVec3::ZERO);
        // Seen along a fixed direction, a face that turns seems to come much nearer than it does. So the direction turns as it
        // turned since the last round; that is a guess, but what it separates is separate.
        if let Some((before, direction)) = last
            && free > 0.0
            && time + free <= 1.0
        {
            let turn = (n - direction) / (time - before);
            free = free.max(corners(turn - n * n.dot(turn)));
        }
        // Very near a long triangle the direction is too inexact to separate its far corners, though the distance is known: nothing comes
        // nearer faster than the fastest corners do.
        if free <= 0.0 {
            let speeds = one
                .iter()
                .flat_map(|p| other.iter().map(|q| (q.way - p.way).length()));
            free = (apart.length() - distance) / speeds.fold(0.0, f64::max);
        }
        // Something is no number, or it takes too long: it can't be told.
        if free.is_nan() || free <= 0.0 || round + 1 == MOST_ROUNDS {
            impact.certain = false;
            return Some(impact);
        }
        last = Some((time, n));
        time += free;
        if time > 1.0 {
            return None;
        }
    }
    None
}

/// For how long a corner of the second thing, seen from one of the first at `apart` (m) and moving by `way` (m per unit of time), stays farther than `distance` (m) away
/// along a direction that starts as the unit vector `n` and turns by `turn` (per unit of time, across `n`). 0 if it is not so far away; or if something is no number.
///
/// With n(t) = n + t·turn, of length at most 1 + t²·turn²/2, that is the first root of
/// (apart + t·way)·n(t) − distance·(1 + t²·turn²/2).
#[inline]
fn free_time(apart: DVec3, way: DVec3, n: DVec3, turn: DVec3, distance: f64) -> f64 {
    let gap = apart.dot(n) - distance;
    let slope = way.dot(n) + apart.dot(turn);
    let bend = way.dot(turn) - 0.5 * distance * turn.length_squared();
    if !(gap > 0.0 && slope.is_finite() && bend.is_finite()) {
        return 0.0;
    }
    let under = slope * slope - 4.0 * bend * gap;
    if under < 0.0 || (slope >= 0.0 && bend >= 0.0) {
        return f64::INFINITY;
    }
    if slope > 0.0 {
        // The same root: √under − slope would cancel where the gap is small.
        (slope + under.sqrt()) / (-2.0 * bend)
    } else {
        2.0 * gap / (under.sqrt() - slope)
    }
}

#[cfg(test)]
mod tests;

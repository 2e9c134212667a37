//! Boxes, cylinders and hulls that move and turn, against triangles whose corners go straight.

use super::{Impact, Moving};
use crate::{
    closest,
    rigid::{FacetScratch, Nearness, Piece},
};
use glam::DVec3;
use trocar_math::{Bounds, Pose, rotation};

/// More rounds than anything that really hits needs.
const MOST_ROUNDS: u32 = 200;

/// A convex piece on its way: its place on a line, its turn at a constant rate.
#[derive(Clone, Debug)]
pub struct Flight {
    /// The piece where it starts.
    pub piece: Piece,
    /// The pose it ends with.
    pub end: Pose,
}

impl Flight {
    /// How far the turning alone takes any of its points, m: an arc about the frame's origin.
    fn turning(&self) -> f64 {
        let turn = self.end.rotation * self.piece.pose().rotation.conjugate();
        rotation::to_scaled_axis(turn).length() * self.piece.reach()
    }

    /// The box around all places it goes through, m.
    pub fn bounds(&self) -> Bounds {
        let origin = self.piece.pose().position;
        let ball = |at: DVec3| Bounds::of([at]).grown(self.piece.reach());
        let (a, b) = (ball(origin), ball(self.end.position));
        Bounds::of([a.low, a.high, b.low, b.high])
    }
}

/// When a convex piece comes within `distance` (m, above 0) of a moving triangle; 0 if it is there already, and `normal` is then the shortest
/// way out. As in the other sweeps, along the direction of the nearest points nothing can meet before the gap closes; what
/// the piece turns counts with the whole arc of its farthest point. Where the nearest points can't be found, it says that they may meet and that this is
/// not certain.
pub fn convex_triangle(
    flight: &Flight,
    triangle: [Moving; 3],
    distance: f64,
    tolerance: f64,
    scratch: &mut FacetScratch,
) -> Option<Impact> {
    let (start, end) = (*flight.piece.pose(), flight.end);
    let turning = flight.turning();
    let way = end.position - start.position;
    // Farther than this they can't come together at all.
    let most = triangle.iter().map(|c| c.way.length());
    let span = way.length() + turning + most.fold(0.0, f64::max) + distance + 2.0 * tolerance;
    let mut time = 0.0;
    if !triangle.iter().all(Moving::is_finite) {
        return Some(uncertain(time));
    }
    for round in 0..MOST_ROUNDS {
        let piece = flight.piece.placed(start.interpolate(&end, time));
        let corners = triangle.map(|c| c.at(time));
        let (p, q, normal) = match piece.nearest(corners, span, scratch) {
            Nearness::Near(p, q, normal) => (p, q, normal),
            Nearness::Far => return None,
            Nearness::Unknown => return Some(uncertain(time)),
        };
        let gap = (q - p).dot(normal);
        let mut impact = Impact {
            time,
            along: 0.0,
            weights: closest::on_triangle(q, corners),
            normal,
            certain: true,
        };
        if gap <= distance + tolerance {
            return Some(impact);
        }
        // How far the piece reaches is asked anew: the points above are those of an iteration, and a little off.
        let high = piece.height(normal).unwrap_or(f64::NAN);
        let mut free = f64::INFINITY;
        for (corner, moving) in corners.iter().zip(&triangle) {
            let gap = corner.dot(normal) - high - distance - 0.5 * tolerance;
            let closing = way.dot(normal) + turning - moving.way.dot(normal);
            if !(gap > 0.0 && closing.is_finite()) {
                free = f64::NAN;
                break;
            }
            if closing > 0.0 {
                free = free.min(gap / closing);
            }
        }
        if free.is_nan() || free <= 0.0 || round + 1 == MOST_ROUNDS {
            impact.certain = false;
            return Some(impact);
        }
        time += free;
        if time > 1.0 {
            return None;
        }
    }
    None
}

fn uncertain(time: f64) -> Impact {
    Impact {
        time,
        along: 0.0,
        weights: [1.0, 0.0, 0.0],
        normal: DVec3::ZERO,
        certain: false,
    }
}

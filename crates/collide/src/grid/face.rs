//! Faces and edges against a grid, not only their corners (F42).
//!
//! A large triangle may lie on a small bump, or an edge on another, with no corner inside. Depth rises by no more than √3 for each unit of way (each of its three
//! parts by at most 1), so a part of a triangle about a point can't be deeper than that point by more than √3 times its radius. Parts that can't
//! be deeper than what has been found are left out, others are halved.

use super::{Depth, DetectError, Grid, Part, STEEPEST, cell::Reader, halves};
use glam::{DMat3, DVec3};
use trocar_math::{Pose, f64x4};

/// Where a triangle is deepest in a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dent {
    /// Of the corners; their sum is 1.
    pub weights: [f64; 3],
    /// How that point lies, in the world.
    pub at: Depth,
}

impl Grid {
    /// The deepest point of a triangle (world, m) in the body at `pose`, to within `precision` (m, at least a sixteenth of a cell): no other is deeper by more. None if all of it is
    /// outside, by more than `skin` (m, at most a cell) less that precision. What is no number, or too thick a skin, is refused.
    ///
    /// For whoever has to know how deep a triangle is for certain, and asks about few. A [`Patch`](crate::Patch) with a [`Hull::Grid`](crate::Hull::Grid), which is what scenes run on, looks at places about a cell
    /// apart instead, at a cost that does not depend on how flat the triangle lies: where all of it is about as deep, nothing can be left out here until parts are as small as the precision.
    ///
    /// A triangle so large that its places can't be told to that precision (some 10¹² cells) is at least as deep as any of it may be; its way out is not known then, and zero.
    pub fn deepest(
        &self,
        pose: &Pose,
        triangle: &[DVec3; 3],
        skin: f64,
        precision: f64,
    ) -> Result<Option<Dent>, DetectError> {
        let reader = self.reader();
        if !(pose.position.is_finite() && pose.rotation.is_finite()) {
            return Err(DetectError::Pose);
        }
        let corners = triangle.map(|p| (pose.local(p) - self.low) / self.cell);
        // Also squares of their distances have to be numbers.
        let lost = |p: &DVec3| !(p.length_squared() * 16.0).is_finite();
        if let Some(point) = corners.iter().position(lost) {
            let point = point as u32;
            return Err(DetectError::Point { point });
        }
        if precision.is_nan() {
            return Err(DetectError::Precision);
        }
        // There is a rim of one cell about the surface: what is not known is farther outside.
        if skin.is_nan() || skin > self.cell {
            let cell = self.cell;
            return Err(DetectError::Skin { skin, cell });
        }
        let enough = (precision / self.cell).max(1.0 / 16.0);
        let skin = skin / self.cell;
        let place = |w: DVec3| corners[0] * w.x + corners[1] * w.y + corners[2] * w.z;
        // By how much a place may be wrong.
        let far = corners.map(|p| p.length());
        let blur = ROUNDING * far[0].max(far[1]).max(far[2]);
        let mut best = Deepest {
            depth: -skin,
            at: None,
        };
        // Halves of halves: as many wait as there are levels, which are few as what is below the precision is not divided.
        let mut open: [Part; OPEN] = [[DVec3::ZERO; 3]; OPEN];
        open[0] = DVec3::AXES;
        let mut count = 1;
        while count > 0 {
            count -= 1;
            let part = open[count];
            let middle = (part[0] + part[1] + part[2]) / 3.0;
            let at = part.map(place);
            let centre = place(middle);
            let radius = at.map(|p| p.distance_squared(centre));
            let radius = radius[0].max(radius[1]).max(radius[2]).sqrt();
            let depth = height(&reader, centre);
            // A place of which nothing is known is no find, however thick the skin.
            if depth >= best.depth && depth > -1.0 {
                best.depth = depth;
                best.at = Some((middle, true));
            }
            let most = depth + STEEPEST * (radius + blur);
            if most <= best.depth.max(-skin) + enough {
                continue;
            }
            // Nothing is left to be halved, or no room to keep it: it may be as deep as it can be.
            if radius <= blur || count + 2 > OPEN {
                best.depth = most;
                best.at = Some((middle, false));
                continue;
            }
            let [a, b] = halves_by(&part, &at);
            (open[count], open[count + 1]) = (a, b);
            count += 2;
        }
        let Some((weights, known)) = best.at else {
            return Ok(None);
        };
        let point = triangle[0] * weights.x + triangle[1] * weights.y + triangle[2] * weights.z;
        let local = self.at(pose.local(point)).filter(|_| known);
        let turn = DMat3::from_quat(pose.rotation);
        let at = match local {
            Some(local) => Depth {
                depth: local.depth,
                normal: turn * local.normal,
                surface: pose.point(local.surface),
            },
            None => Depth {
                depth: best.depth * self.cell,
                normal: DVec3::ZERO,
                surface: point,
            },
        };
        Ok(Some(Dent {
            weights: weights.to_array(),
            at,
        }))
    }
}

/// How exactly it is found how far surfaces seem to lie outside, in cells.
pub(super) const OUT_WITHIN: f64 = 1.0 / 32.0;

impl Grid {
    /// How far outside a triangle of the surface itself (m, in the grid's frame) seems to lie where that is most, in cells, to within [`OUT_WITHIN`]; `most` if that is more.
    pub(super) fn farthest_out(&self, triangle: &[DVec3; 3], mut most: f64) -> f64 {
        let reader = self.reader();
        let mut open = vec![triangle.map(|p| (p - self.low) / self.cell)];
        while let Some(at) = open.pop() {
            let centre = (at[0] + at[1] + at[2]) / 3.0;
            let radius = at.map(|p| p.distance_squared(centre));
            let radius = radius[0].max(radius[1]).max(radius[2]).sqrt();
            let out = -height(&reader, centre);
            most = most.max(out);
            if out + STEEPEST * radius > most + OUT_WITHIN {
                let [a, b] = halves_by(&at, &at);
                open.extend([a, b]);
            }
        }
        most
    }
}

/// What was found so far.
struct Deepest {
    /// In cells.
    depth: f64,
    /// Weights of the corners, and whether it is there, or is only known to be nowhere deeper.
    at: Option<(DVec3, bool)>,
}

/// How far a sum of three weighted corners may be from where it should be, in parts of the farthest corner.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// Parts that may wait. Each halving leaves one more, and two make them shorter by half: enough for a triangle 10¹⁸ times as large as the precision.
const OPEN: usize = 128;

/// The depth at a place, in cells; where it is not known, what it is at most: the surface is a cell or more within the box of the grid.
fn height(reader: &Reader<'_>, at: DVec3) -> f64 {
    let (known, cell) = reader.locate(f64x4::new([at.x, at.y, at.z, 0.0]));
    if known {
        return f64::from(reader.mean(&cell).w);
    }
    let within = at.clamp(DVec3::ZERO, reader.size());
    -1.0 - at.distance(within)
}

/// A part cut across its longest edge, by where its corners are.
fn halves_by(part: &Part, at: &[DVec3; 3]) -> [Part; 2] {
    let length = |i: usize| at[(i + 1) % 3].distance_squared(at[i]);
    let longest = (0..3).fold(0, |best, i| if length(i) > length(best) { i } else { best });
    halves(part, longest)
}

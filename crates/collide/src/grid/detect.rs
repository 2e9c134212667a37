//! Many points at once, in three stages (F12–F15).
//!
//! Whether a point is in the box, in a block that knows anything, and in the body can't be guessed, and a wrong guess costs as much as
//! all the rest. So each stage goes over a handful of points, does the same for all of them, and passes on those that are left, without a branch.

use super::{Depth, Grid, cell::Cell};
use glam::{DMat3, DVec3, Vec4};
use trocar_math::{Bounds, Pose, f64x4};

/// How many points go through the stages together: what is known about them stays in the nearest cache.
const HANDFUL: usize = 64;

/// A point that is in a body, or on its skin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sunk {
    /// Which point.
    pub point: u32,
    /// How it lies, in the world.
    pub at: Depth,
}

/// What [`Grid::detect`] or [`Grid::deepest`] could not tell.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum DetectError {
    /// Points as far outside as the skin is thick need not be in the grid. Nothing was looked for.
    #[error(
        "a skin of {skin} m is thicker than the {cell} m of a cell, which is how far outside the grid knows: choose a thinner skin or larger cells"
    )]
    Skin {
        /// m.
        skin: f64,
        /// Edge of a cell, m.
        cell: f64,
    },
    /// Where the body is is no number. Nothing was looked for.
    #[error("the body is at no place: its position and its rotation must be finite numbers")]
    Pose,
    /// How precise it should be is no number. Nothing was looked for.
    #[error("a precision has to be a number")]
    Precision,
    /// A point is no number, or so far away that its square is none; it is the first of them. All others were looked at by [`Grid::detect`].
    #[error("point {point} is no place")]
    Point {
        /// Which one, from 0.
        point: u32,
    },
}

/// A point in a block that knows something.
#[derive(Clone, Copy)]
struct Near {
    point: u32,
    cell: Cell,
}

/// A point in the body.
#[derive(Clone, Copy)]
struct Hit {
    near: Near,
    /// Interpolated.
    mean: Vec4,
}

impl Grid {
    /// All points (world, m) that are in the body at `pose`, on its surface or within `skin` (m, at most a cell) of it, in three stages
    /// (F12–F15). `out` is cleared first. If a point is no number, that is the error, but the others are in `out`.
    pub fn detect(
        &self,
        pose: &Pose,
        points: &[DVec3],
        skin: f64,
        out: &mut Vec<Sunk>,
    ) -> Result<(), DetectError> {
        out.clear();
        // There is a rim of one cell about the surface.
        let cell = self.cell;
        if skin.is_nan() || skin > cell {
            return Err(DetectError::Skin { skin, cell });
        }
        if !(pose.position.is_finite() && pose.rotation.is_finite()) {
            return Err(DetectError::Pose);
        }
        let (around, sound) = bounds(points);
        // The body's box in the world against the points' (F13).
        if self.bounds_at(pose).overlaps(&around) {
            self.search(pose, points, skin, out);
        }
        if sound {
            return Ok(());
        }
        let lost = points.iter().position(|p| !p.is_finite());
        lost.map_or(Ok(()), |point| {
            Err(DetectError::Point {
                point: point as u32,
            })
        })
    }

    fn search(&self, pose: &Pose, points: &[DVec3], skin: f64, out: &mut Vec<Sunk>) {
        let reader = self.reader();
        let turn = DMat3::from_quat(pose.rotation);
        // From the world to cells, and from cells to the world.
        let into = turn.transpose() * (1.0 / self.cell);
        let start = -(into * pose.position) - self.low / self.cell;
        let back = turn * self.cell;
        let [into_x, into_y, into_z, start] = [into.x_axis, into.y_axis, into.z_axis, start]
            .map(|v| f64x4::new([v.x, v.y, v.z, 0.0]));
        let least = (-skin / self.cell) as f32;
        let mut near = [Near::NONE; HANDFUL];
        let mut hits = [Hit::NONE; HANDFUL];
        for (handful, some) in points.chunks(HANDFUL).enumerate() {
            let first = (handful * HANDFUL) as u32;
            let mut count = 0;
            for (k, p) in some.iter().enumerate() {
                let q = f64x4::splat(p.x).mul_add(into_x, start);
                let q = f64x4::splat(p.y).mul_add(into_y, q);
                let q = f64x4::splat(p.z).mul_add(into_z, q);
                // Points outside of the box are refused before the grid is asked (F14).
                let (known, cell) = reader.locate(q);
                let point = first + k as u32;
                near[count % HANDFUL] = Near { point, cell };
                count += usize::from(known);
            }
            let mut inside = 0;
            for near in &near[..count] {
                let mean = reader.mean(&near.cell);
                hits[inside % HANDFUL] = Hit { near: *near, mean };
                inside += usize::from(mean.w >= least);
            }
            out.extend(hits[..inside].iter().map(|hit| {
                let Near { point, cell } = hit.near;
                let found = reader.depth(&cell, hit.mean);
                let at = Depth {
                    depth: f64::from(hit.mean.w) * self.cell,
                    normal: turn * found.normal,
                    surface: points[point as usize] + back * found.way,
                };
                Sunk { point, at }
            }));
        }
    }
}

impl Near {
    const NONE: Self = Self {
        point: 0,
        cell: Cell::NONE,
    };
}

impl Hit {
    const NONE: Self = Self {
        near: Near::NONE,
        mean: Vec4::ZERO,
    };
}

/// A box around all points that are numbers, and whether all are finite.
fn bounds(points: &[DVec3]) -> (Bounds, bool) {
    // Three times four numbers are four points.
    let mut low = [f64x4::splat(f64::INFINITY); 3];
    let mut high = [f64x4::splat(f64::NEG_INFINITY); 3];
    let mut poison = f64x4::ZERO;
    let (fours, rest) = points.as_chunks::<4>();
    for [a, b, c, d] in fours {
        let numbers = [
            f64x4::new([a.x, a.y, a.z, b.x]),
            f64x4::new([b.y, b.z, c.x, c.y]),
            f64x4::new([c.z, d.x, d.y, d.z]),
        ];
        for k in 0..3 {
            // What is no number is passed over, if it comes first.
            low[k] = numbers[k].fast_min(low[k]);
            high[k] = numbers[k].fast_max(high[k]);
            poison = numbers[k].mul_add(f64x4::ZERO, poison);
        }
    }
    let mut all = Bounds::of(rest.iter().copied());
    let spread = |v: [f64x4; 3]| {
        let [[a, b, c, d], [e, f, g, h], [i, j, k, l]] = v.map(|v| v.to_array());
        [
            DVec3::new(a, b, c),
            DVec3::new(d, e, f),
            DVec3::new(g, h, i),
            DVec3::new(j, k, l),
        ]
    };
    for p in spread(low) {
        all.low = all.low.min(p);
    }
    for p in spread(high) {
        all.high = all.high.max(p);
    }
    let sound = poison.reduce_add() == 0.0 && rest.iter().all(|p| p.is_finite());
    (all, sound)
}

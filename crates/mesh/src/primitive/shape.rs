//! What is wrong with a shape that cannot be built.

use glam::DVec3;

use crate::surface::usable;

/// The most nodes a primitive may have.
pub const MAX_NODES: usize = 1_000_000;

/// Why a primitive cannot be built.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ShapeError {
    /// Too few rings, columns or rows to span a surface.
    #[error("{what} is {count}, but must be at least {least}")]
    TooFew {
        /// The parameter.
        what: &'static str,
        /// Its value.
        count: usize,
        /// The least it may be.
        least: usize,
    },
    /// More than [`MAX_NODES`] nodes.
    #[error(
        "{rows} × {columns} nodes are more than the limit of {MAX_NODES}; use fewer rings, rows or columns"
    )]
    TooManyNodes {
        /// Rings or rows.
        rows: usize,
        /// Nodes in each.
        columns: usize,
    },
    /// NaN, infinite, or beyond all measure.
    #[error("{what} {index} is {value}, which is not a usable position; give finite metres")]
    NotFinite {
        /// The parameter.
        what: &'static str,
        /// Which of them, from 0.
        index: usize,
        /// Its value.
        value: DVec3,
    },
    /// A path needs a start and an end.
    #[error("the path has {count} point(s), but needs at least two and at most {MAX_NODES}")]
    PathLength {
        /// How many points it has.
        count: usize,
    },
    /// Two path points in the same place leave the direction undefined.
    #[error("path points {first} and {second} are in the same place; remove one", second = first + 1)]
    PathStandsStill {
        /// The first of the two, from 0.
        first: usize,
    },
    /// Neither one radius nor one for each path point.
    #[error("there are {radii} radii for {points} path points; give one for all, or one for each")]
    RadiusCount {
        /// How many radii.
        radii: usize,
        /// How many path points.
        points: usize,
    },
    /// A half width or half height that is no length.
    #[error(
        "radius {index} is {radius:?}, but half width and half height must be finite and above 0 m"
    )]
    BadRadius {
        /// Which one, from 0.
        index: usize,
        /// Half width and half height, m.
        radius: [f64; 2],
    },
    /// The bend is tighter than the tube is wide.
    #[error("the tube folds into itself between rings {ring} and {next}; make it thinner there, or the bend wider", next = ring + 1)]
    Folded {
        /// The ring before the fold, from 0.
        ring: usize,
    },
    /// A disc without a radius, or with more than its sphere has room for.
    #[error(
        "a round sheet of {radius} m on a sphere of {sphere} m can't be made; give a radius above 0 m, below 2.9 times that of the sphere"
    )]
    NoDisc {
        /// From its middle to its rim, m.
        radius: f64,
        /// Radius of the sphere, m; infinite if it is flat.
        sphere: f64,
    },
    /// The two sides of a sheet are parallel or have no length.
    #[error(
        "the sheet's sides u = {u} and v = {v} span no area; give two directions that are not parallel"
    )]
    FlatSheet {
        /// First side, m.
        u: DVec3,
        /// Second side, m.
        v: DVec3,
    },
}

/// Refuses a count below `least`.
pub(super) fn at_least(what: &'static str, count: usize, least: usize) -> Result<(), ShapeError> {
    if count < least {
        Err(ShapeError::TooFew { what, count, least })
    } else {
        Ok(())
    }
}

/// Refuses vectors that are not finite positions.
pub(super) fn all_usable(what: &'static str, values: &[DVec3]) -> Result<(), ShapeError> {
    match values.iter().position(|&p| !usable(p)) {
        Some(index) => Err(ShapeError::NotFinite {
            what,
            index,
            value: values[index],
        }),
        None => Ok(()),
    }
}

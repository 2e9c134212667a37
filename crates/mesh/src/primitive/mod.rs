//! The three primitives of Kuhn's MESD (K72–K74): closed organ, open pipe, open sheet.
//!
//! [`HexagonalShape`] is the flat sheet of equilateral triangles that tears are tried on (Weber 2009), [`DiscShape`] a round one, flat or on a
//! sphere.
//!
//! The three of them are a matrix of nodes, so that the springs between them ([`Lattice`]) and the triangles over them come from
//! row and column alone.

mod curve;
mod disc;
mod frame;
mod hexagonal;
mod lattice;
mod profile;
mod shape;
mod sheet;
mod tube;

pub use disc::DiscShape;
pub use hexagonal::HexagonalShape;
pub use lattice::{EdgeKind, Lattice, LatticeEdge};
pub use shape::{MAX_NODES, ShapeError};
pub use sheet::SheetShape;
pub use tube::{Tube, TubeShape};

//! The three primitives of Kuhn's MESD (K72–K74): closed organ, open pipe, open sheet.
//!
//! All three are a matrix of nodes, so that the springs between them ([`Lattice`]) and the triangles over them come from
//! row and column alone.

mod curve;
mod frame;
mod lattice;
mod profile;
mod shape;
mod sheet;
mod tube;

pub use lattice::{EdgeKind, Lattice, LatticeEdge};
pub use shape::{MAX_NODES, ShapeError};
pub use sheet::SheetShape;
pub use tube::{Tube, TubeShape};

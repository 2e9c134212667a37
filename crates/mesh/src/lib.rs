//! Triangle surfaces: primitives, checks, repair, readers and writers.
//!
//! A [`Surface`] is what every other crate hangs its physics on. It comes from one of four places: the primitives of
//! Kuhn's MESD ([`primitive`]), a function of space ([`implicit`]), a file ([`mod@read`]), or code. [`Surface::check`]
//! says whether it may be used at all, [`Surface::topology`] what kind of thing it is, and [`Surface::repair`] makes the
//! best of what a file gave. A [`sheet`] is a surface that can be torn and cut, [`refine`] smooths what is shown of one that
//! deforms, and [`export`] writes surfaces, and surfaces over time, for ParaView and Blender.
//!
//! Lengths are metres. Readers do not scale: a file in millimetres gives a surface a thousand times too large, and
//! whoever loads it says so in the scene.
//!
//! ```
//! use glam::DVec3;
//! use trocar_mesh::primitive::TubeShape;
//!
//! let gall_bladder = TubeShape {
//!     path: vec![DVec3::ZERO, DVec3::new(0.01, 0.0, 0.04), DVec3::new(0.0, 0.0, 0.08)],
//!     radii: vec![[0.008, 0.008], [0.015, 0.013], [0.012, 0.012]],
//!     up: DVec3::Y,
//!     rings: 16,
//!     around: 12,
//! }
//! .organ()?;
//! assert!(gall_bladder.surface.topology().is_closed());
//! # Ok::<(), trocar_mesh::primitive::ShapeError>(())
//! ```

mod coarsen;
pub mod export;
pub mod implicit;
mod limit;
pub mod mass;
mod normals;
mod order;
pub mod primitive;
pub mod read;
pub mod refine;
mod repair;
pub mod sheet;
mod sides;
mod surface;
mod topology;
mod weld;

pub use limit::{MAX_COORDINATE, MAX_FILE_BYTES, MAX_TRIANGLES, MAX_VERTICES};
pub use mass::{MassError, MassProperties};
pub use normals::normals_into;
pub use read::{Format, MeshError, ParseError, read};
pub use refine::{Refinement, Skin};
pub use repair::Repair;
pub use surface::{Bounds, Surface, SurfaceError};
pub use topology::Topology;

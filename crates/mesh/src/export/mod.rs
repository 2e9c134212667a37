//! Writing surfaces, and surfaces over time, for other programs.
//!
//! A file appears whole or not at all: it is written under another name beside its place and then renamed.
//! [`VtkSeries`] writes a file for each frame, for ParaView, and may change topology between frames (tears, cuts);
//! [`GltfAnimation`] gathers frames of one topology into a single file that Blender plays.

mod atomic;
mod error;
mod glb;
mod gltf;
mod obj;
mod stl;
mod vtk_series;
mod vtp;

pub use error::ExportError;
pub use gltf::{GltfAnimation, Interpolation, MAX_FRAMES};
pub use obj::{to_obj, write_obj};
pub use stl::{to_stl, write_stl};
pub use vtk_series::VtkSeries;
pub use vtp::{PointVectors, VtkFrame, to_vtp};

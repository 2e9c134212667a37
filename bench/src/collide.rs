//! Triangles, trees and pairs, after Huang (2016) and beside other libraries.

mod edit;
mod meshes;
mod pairs;
mod peers;

pub use edit::edit;
pub use pairs::pairs;

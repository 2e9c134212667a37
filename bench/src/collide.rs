//! Triangles, trees and pairs, after Huang (2016) and beside other libraries.

mod baseline;
mod edit;
mod huang;
mod meshes;
mod pairs;
mod peers;

pub use edit::edit;
pub use huang::huang;
pub use pairs::pairs;

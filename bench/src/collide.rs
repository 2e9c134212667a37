//! Collision: triangles, trees and pairs after Huang (2016) and beside other libraries, needles against sheets (Weber 2009),
//! distance grids (Wienss et al.).

mod baseline;
mod edit;
mod grid;
mod huang;
mod kuhn;
mod meshes;
mod needle;
mod pairs;
mod peers;

pub use edit::edit;
pub use grid::grid;
pub use huang::huang;
pub use kuhn::kuhn;
pub use needle::needle;
pub use pairs::pairs;

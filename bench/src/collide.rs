//! Collision of tools and tissue: needles against sheets (Weber 2009), distance grids (Wienss et al.).

mod grid;
mod needle;

pub use grid::grid;
pub use needle::needle;

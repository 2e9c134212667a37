//! Membranes after Weber (2009): her scenes B1–B15, and what edits, tears and frames cost.

mod edit;
mod flap;
mod frame;
mod friction;
mod module;
mod needle;
mod path;
mod plain;
mod retina;
mod set;
mod tear;

pub use edit::edits;
pub use flap::flaps;
pub use frame::frames;
pub use friction::frictions;
pub use module::modules;
pub use needle::needles;
pub use path::paths;
pub use tear::tears;

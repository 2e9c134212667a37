//! Membranes after Weber (2009): what edits, tears and frames cost.

mod edit;
mod frame;
mod needle;
mod tear;

pub use edit::edits;
pub use frame::frames;
pub use needle::needles;
pub use tear::tears;

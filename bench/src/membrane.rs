//! Membranes after Weber (2009): what edits, tears and frames cost.

mod edit;
mod frame;
mod tear;

pub use edit::edits;
pub use frame::frames;
pub use tear::tears;

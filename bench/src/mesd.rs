//! The MESD method: nodal nets after Kuhn (1997), whose own times are the oldest we are held against.

mod growth;
mod kinds;
mod kuhn;
mod models;
mod rapier;
mod refine;
mod swinging;

pub use growth::growth;
pub use kinds::kinds;
pub use models::models;
pub use refine::refine;

//! Bodies, joints and contacts after Bender (2014), side by side with Rapier and with the methods the thesis compares.

mod baraff;
mod baseline;
mod chain;
mod claims;
mod direct;
mod engine;
mod finder;
mod funnel;
mod ours;
mod penalty;
mod pile;
mod plan;
mod rapier;
mod thesis;
mod wall;

pub use baseline::baselines;
pub use chain::{chain, chains, tree};
pub use claims::claims;
pub use funnel::funnel;
pub use thesis::thesis;
pub use wall::wall;

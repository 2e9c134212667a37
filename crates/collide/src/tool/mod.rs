//! How the sources judge a tool on tissue: Weber's needle (W127–W131), Kuhn's plausibility (K97–K100) and regions (K102), and both in his three levels with what goes on from step to step
//! (K89–K105).
//!
//! Pure functions, for those who want to compare or to build the originals. The engine's own contacts ([`Patch`](crate::Patch)) need
//! neither thresholds nor tables, because they know the motion between two looks.

pub mod interaction;
pub mod kuhn;
pub mod needle;

//! Scene files, the simulation and its step, snapshots, recordings and replay.
//!
//! [`Scene::load`] reads a scene file with everything it includes and checks it. [`Simulation::new`] makes
//! matter of it; [`Simulation::step`] is the engine's one step. A [`recording`] holds the scene and
//! every input, so that a replay gives the same hash, step for step.

pub mod attributes;
pub mod build;
mod collisions;
pub mod command;
pub mod energy;
pub mod event;
pub mod file;
mod films;
mod folds;
pub mod group;
mod hash;
pub mod insight;
pub mod lead;
pub mod load;
mod pace;
pub mod parameter;
pub mod pick;
pub mod player;
mod probes;
pub mod recording;
pub mod report;
pub mod simulation;
pub mod snapshot;
pub mod torn;
pub mod works;

pub use attributes::Flags;
pub use energy::Energy;
pub use event::Event;
pub use file::Look;
pub use insight::{Insight, Views};
pub use load::{Bundle, Scene, SceneError};
pub use parameter::{Change, Parameter};
pub use pick::Pick;
pub use player::Player;
pub use recording::Attachment;
pub use report::{Stage, StepReport, Timings};
pub use simulation::{Input, Simulation};
pub use snapshot::SnapshotError;
pub use trocar_dynamics::{JointForce, Pull};

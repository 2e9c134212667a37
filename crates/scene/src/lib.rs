//! Scene files, the simulation and its step, snapshots, recordings and replay.
//!
//! [`Scene::load`] reads a scene file with everything it includes and checks it. [`Simulation::new`] makes
//! matter of it; [`Simulation::step`] is the engine's one step. A [`recording`] holds the scene and
//! every input, so that a replay gives the same hash, step for step.

pub mod build;
pub mod event;
pub mod file;
pub mod group;
pub mod load;
pub mod recording;
pub mod report;
pub mod simulation;
pub mod snapshot;

pub use event::Event;
pub use load::{Bundle, Scene, SceneError};
pub use report::{Stage, StepReport, Timings};
pub use simulation::{Input, Simulation};
pub use snapshot::SnapshotError;

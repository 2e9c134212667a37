//! Exercises: goals, measures, scores, and the records of who did what.
//!
//! An [`Exercise`] is a scene plus goals, instructions, hints, measures and levels, all in TOML. A [`Run`] watches one
//! operation and makes a [`Performance`] of it, from the simulation's state and reports alone: the same recording always
//! gives the same score. [`Records`] keeps profiles, results and recordings in one folder.

pub mod exercise;
pub mod file;
pub mod measure;
pub mod performance;
pub mod records;
pub mod run;
pub mod score;
pub mod task;
pub mod trace;

mod place;
mod signal;

pub use exercise::{Exercise, Level, TrainError};
pub use measure::{Better, Measure, Measured};
pub use performance::{Ending, Marker, Notice, NoticeKind, Part, Performance};
pub use records::{Records, RecordsError};
pub use run::Run;
pub use task::{Mark, MarkKind, MarkState, Task};
pub use trace::Trace;

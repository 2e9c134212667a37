//! What a conductor can run: an exercise, a scene of the Lab, a replay.

mod exercise;
mod lab;
mod replay;

pub use exercise::{Book, Exercising};
pub use lab::Lab;
pub use replay::Replaying;

use crate::desk::Order;
use trocar_scene::Simulation;

/// What a conductor runs. All of it happens on the conductor's thread, so nothing in it may wait.
pub trait Play: Send {
    /// The simulation at this moment.
    fn simulation(&self) -> &Simulation;

    /// Does what was ordered. What it does not know it ignores; connections have been told already.
    fn obey(&mut self, order: Order);

    /// Makes a step, with this part (above 0, at most 1) of the sweeps that the scene allows. False if there is none to make.
    fn step(&mut self, part: f64) -> bool;

    /// Does what else is to be done in a turn, for a few milliseconds at most. True if there is more of it.
    fn turn(&mut self) -> bool {
        false
    }

    /// So much time has passed on the clock while the simulation ran, s.
    fn pass(&mut self, _wall: f64) {}

    /// A frame is shown.
    fn show(&mut self) {}

    /// It is over and won't go on: time stands still, whatever is ordered.
    fn is_over(&self) -> bool {
        false
    }

    /// It has been played to its end.
    fn is_at_end(&self) -> bool {
        false
    }

    /// The operation ends.
    fn close(&mut self) {}
}

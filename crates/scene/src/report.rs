//! What a step cost and achieved.

use crate::Event;
use serde::Serialize;
use std::time::Instant;
use trocar_dynamics::Outcome;
pub use trocar_dynamics::solve::Methods;

/// The stages of a step, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[repr(usize)]
pub enum Stage {
    /// Instruments follow their handles.
    Input,
    /// Which pairs may touch in this step.
    Broad,
    /// Contacts.
    Detect,
    /// Forces.
    Force,
    /// Impulses that make the end of the substep right.
    Aim,
    /// Everything moves.
    Advance,
    /// Velocities of ties.
    Correct,
    /// Grasp, release, quarantine.
    Edit,
    /// What is told to the outside.
    Observe,
}

impl Stage {
    /// How many there are.
    pub const COUNT: usize = 9;

    /// Names of all stages, in order.
    pub const NAMES: [&'static str; Self::COUNT] = [
        "input", "broad", "detect", "force", "aim", "advance", "correct", "edit", "observe",
    ];
}

/// Time spent in each stage, s. Summed over groups, so on several threads it is work, not wall time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Timings {
    /// By [`Stage`].
    pub stage: [f64; Stage::COUNT],
}

impl Timings {
    /// Adds the stages of `other`.
    pub fn add(&mut self, other: &Self) {
        for (a, b) in self.stage.iter_mut().zip(other.stage) {
            *a += b;
        }
    }

    /// All stages together, s.
    pub fn total(&self) -> f64 {
        self.stage.iter().sum()
    }

    /// The stage that took longest.
    pub fn costliest(&self) -> &'static str {
        let longest = (0..Stage::COUNT).max_by(|a, b| self.stage[*a].total_cmp(&self.stage[*b]));
        Stage::NAMES[longest.unwrap_or(0)]
    }
}

/// A stop watch with a hand for each stage. It reads the wall clock; nothing in the step reads it.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    timings: Timings,
    last: Instant,
}

impl Clock {
    /// Starts at zero.
    pub fn start() -> Self {
        Self {
            timings: Timings::default(),
            last: Instant::now(),
        }
    }

    /// Books the time since the last call to `stage`.
    pub fn lap(&mut self, stage: Stage) {
        let now = Instant::now();
        self.timings.stage[stage as usize] += (now - self.last).as_secs_f64();
        self.last = now;
    }

    /// Starts counting from now.
    pub fn resume(&mut self) {
        self.last = Instant::now();
    }

    /// What was booked, s.
    pub fn timings(&self) -> &Timings {
        &self.timings
    }

    /// Books what another clock measured.
    pub fn add(&mut self, other: &Timings) {
        self.timings.add(other);
    }
}

/// What one step did.
#[derive(Clone, Debug, Default)]
pub struct StepReport {
    /// Time spent in each stage.
    pub timings: Timings,
    /// Substeps of the group that needed most.
    pub substeps: u32,
    /// By how many the state of some group asked for more than are ever taken; 0 if none did. Beyond that nothing is promised.
    pub substeps_short: u32,
    /// Substeps that were halved because their joints could not be solved.
    pub halvings: u32,
    /// Points at which bodies struck each other and sprang back.
    pub blows: u32,
    /// Points that still struck each other when a blow had gone through so many bodies that no more passes were made: they were stopped
    /// instead. 0 if all were answered.
    pub blows_left: u32,
    /// Greatest overlap of two rigid bodies at the start of a substep, m, by their shapes and poses.
    pub penetration: f64,
    /// Greatest speed across the normal at the start of a substep, m/s, of points between rigid bodies that friction held in the one
    /// before: what solving has left.
    pub slip: f64,
    /// Bodies that went farther in a substep than contacts are looked for (5 m): they may have passed through others.
    pub too_fast: u32,
    /// Joints that were given up because they contradict each other, by their index in the model.
    pub lost_joints: Vec<u32>,
    /// Joints with rows that others already determine, likewise. Which of several that hold the same thing it is, is chance.
    pub redundant_joints: Vec<u32>,
    /// Which way joints were solved in the last substep.
    pub methods: Methods,
    /// Contacts in the last substep.
    pub contacts: usize,
    /// The worst outcome of `aim`: error in m.
    pub aim: Outcome,
    /// The worst outcome of `correct`: error in m/s.
    pub correct: Outcome,
    /// What happened.
    pub events: Vec<Event>,
}

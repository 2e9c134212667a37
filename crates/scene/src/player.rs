//! Plays a recording back and forth.

use crate::{
    Input, Scene, SceneError, Simulation, StepReport,
    pace::{Moment, Pace},
    recording::Recording,
};

/// Simulated time between keyframes at first, s.
const KEYFRAME_SECONDS: f64 = 1.0;

/// Keyframes take about this much memory at most, bytes.
const KEYFRAME_MEMORY: usize = 64 << 20;

/// A moment one can go back to.
struct Keyframe {
    step: usize,
    time: f64,
    snapshot: Vec<u8>,
}

/// Plays a recording back and forth. A replay is a simulation: to go back, it returns to a keyframe and steps from there, so
/// what is seen is always what was simulated.
pub struct Player {
    recording: Recording,
    simulation: Simulation,
    /// Block, input in it, and steps already made with it, of the next step.
    cursor: Cursor,
    /// First step of each block, and the recording's end.
    starts: Vec<usize>,
    /// The start of each block, and the end.
    moments: Vec<Moment>,
    position: usize,
    keyframes: Vec<Keyframe>,
    /// Simulated time between keyframes, s; grows when memory runs out.
    spacing: f64,
    /// Bytes that keyframes take, and may take.
    memory: usize,
    budget: usize,
    pace: Pace,
    differs: Option<u64>,
}

/// Which input comes next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Cursor {
    block: usize,
    input: usize,
    times: u32,
    /// Step within the block.
    step: usize,
}

impl Player {
    /// Builds the scene out of the recording; it will be stepped by at most `threads` threads (≥ 1).
    pub fn new(recording: Recording, threads: usize) -> Result<Self, SceneError> {
        let scene = Scene::from_bundle(&recording.scene)?;
        let simulation = Simulation::new(&scene, threads)?;
        let pace = Pace::new(&simulation);
        let (mut step, mut moment) = (0, pace.start());
        let (mut starts, mut moments) = (vec![step], vec![moment]);
        for block in &recording.blocks {
            step += block.steps();
            for (input, count) in &block.inputs {
                moment = pace.after(moment, input, *count as usize);
            }
            starts.push(step);
            moments.push(moment);
        }
        Ok(Self {
            recording,
            simulation,
            cursor: Cursor::default(),
            starts,
            moments,
            position: 0,
            keyframes: Vec::new(),
            spacing: KEYFRAME_SECONDS,
            memory: 0,
            budget: KEYFRAME_MEMORY,
            pace,
            differs: None,
        })
    }

    /// The operation at this moment.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// What is played.
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// How many steps there are.
    pub fn steps(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// How long the operation took, s of simulated time.
    pub fn duration(&self) -> f64 {
        self.moments.last().map_or(0.0, |m| m.time)
    }

    /// How many steps have been played: 0 at the start.
    pub fn position(&self) -> usize {
        self.position
    }

    /// The first step, counted from 1, after which the replay was not what was recorded; none so far.
    pub fn differs(&self) -> Option<u64> {
        self.differs
    }

    /// Simulated time after `step` steps, s.
    pub fn time_of(&self, step: usize) -> f64 {
        let step = step.min(self.steps());
        let block = self.starts.partition_point(|s| *s <= step).max(1) - 1;
        let (mut moment, mut left) = (self.moments[block], step - self.starts[block]);
        let inputs = self.recording.blocks.get(block).map(|b| &b.inputs);
        for (input, times) in inputs.into_iter().flatten() {
            let count = left.min(*times as usize);
            moment = self.pace.after(moment, input, count);
            left -= count;
            if left == 0 {
                break;
            }
        }
        moment.time
    }

    /// The number of steps after which `time` (s) has passed.
    pub fn step_at(&self, time: f64) -> usize {
        let (mut low, mut high) = (0, self.steps());
        while low < high {
            let middle = low + (high - low) / 2;
            // Sums of steps are rounded; a nanosecond is no step.
            if self.time_of(middle) + 1e-9 < time {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Plays one step and compares its hash; none at the end.
    pub fn advance(&mut self) -> Option<&StepReport> {
        if self.position >= self.steps() {
            return None;
        }
        self.keep();
        let input = self.next_input()?;
        let block = &self.recording.blocks[input.0];
        self.simulation.step(&block.inputs[input.1].0);
        self.position += 1;
        let (k, steps) = (input.2, self.starts[input.0 + 1] - self.starts[input.0]);
        let expected = if block.hashes.len() == steps {
            block.hashes.get(k)
        } else if k + 1 == steps {
            block.hashes.last()
        } else {
            None
        };
        if let Some(expected) = expected
            && self.differs.is_none()
            && *expected != self.simulation.hash()
        {
            self.differs = Some(self.position as u64);
        }
        Some(self.simulation.report())
    }

    /// Block, input and step in the block of the next step; moves the cursor past it.
    fn next_input(&mut self) -> Option<(usize, usize, usize)> {
        loop {
            let block = self.recording.blocks.get(self.cursor.block)?;
            match block.inputs.get(self.cursor.input) {
                None => {
                    self.cursor = Cursor {
                        block: self.cursor.block + 1,
                        ..Cursor::default()
                    };
                }
                Some((_, times)) if self.cursor.times >= *times => {
                    self.cursor.input += 1;
                    self.cursor.times = 0;
                }
                Some(_) => {
                    let next = (self.cursor.block, self.cursor.input, self.cursor.step);
                    self.cursor.times += 1;
                    self.cursor.step += 1;
                    return Some(next);
                }
            }
        }
    }

    /// Goes to the moment after `step` steps: from here, or from the nearest keyframe before it.
    pub fn seek(&mut self, step: usize) {
        let step = step.min(self.steps());
        let nearest = self.keyframes.partition_point(|k| k.step <= step);
        let keyframe = nearest.checked_sub(1).map(|k| &self.keyframes[k]);
        let from = keyframe.map_or(0, |k| k.step);
        if step < self.position || from > self.position {
            // A keyframe is a snapshot of this very scene; should one fail, the start never does.
            let restored = keyframe.is_some_and(|k| self.simulation.restore(&k.snapshot).is_ok());
            self.position = if restored { from } else { 0 };
            if !restored {
                self.simulation.restart();
            }
            self.cursor = self.cursor_at(self.position);
        }
        while self.position < step && self.advance().is_some() {}
    }

    fn cursor_at(&self, step: usize) -> Cursor {
        let block = self.starts.partition_point(|s| *s <= step).max(1) - 1;
        let mut cursor = Cursor {
            block,
            step: step - self.starts[block],
            ..Cursor::default()
        };
        let Some(inputs) = self.recording.blocks.get(block).map(|b| &b.inputs) else {
            return cursor;
        };
        let mut left = cursor.step;
        for (_, times) in inputs {
            if left < *times as usize {
                cursor.times = left as u32;
                break;
            }
            left -= *times as usize;
            cursor.input += 1;
        }
        cursor
    }

    /// Keeps a keyframe of this moment if the last one is long enough ago; thins them out when they take too much memory.
    fn keep(&mut self) {
        let last = self.keyframes.last();
        let time = self.simulation.state().time;
        let due = last.is_none_or(|k| self.position > k.step && time - k.time >= self.spacing);
        if !due {
            return;
        }
        let snapshot = self.simulation.snapshot();
        self.memory += snapshot.len();
        self.keyframes.push(Keyframe {
            step: self.position,
            time,
            snapshot,
        });
        // Two are always kept: the start, and one on the way.
        while self.memory > self.budget && self.keyframes.len() > 2 {
            let mut odd = false;
            // Every other one goes; the first, the start, stays.
            self.keyframes.retain(|_| {
                odd = !odd;
                odd
            });
            self.memory = self.keyframes.iter().map(|k| k.snapshot.len()).sum();
            self.spacing *= 2.0;
        }
    }

    /// The input of the step that comes next; none at the end.
    pub fn next(&self) -> Option<&Input> {
        let cursor = self.cursor_at(self.position);
        let block = self.recording.blocks.get(cursor.block)?;
        block.inputs.get(cursor.input).map(|i| &i.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::Block;

    #[test]
    fn keyframes_are_thinned_out_when_they_take_too_much_memory() {
        let text = "trocar = 1\n[[body]]\nname = \"box\"\nmass = 0.1\nhalf_extents = [0.01, 0.01, 0.01]\n\
                    position = [0, 0, 0]\nspin = [1, 2, 3]\n[world]\ngravity = [0, 0, 0]\nstep = 0.01\n";
        let scene = Scene::from_text("box.toml", text).unwrap();
        let input = Simulation::new(&scene, 1).unwrap().idle_input();
        let recording = Recording {
            build: String::new(),
            scene: scene.bundle.clone(),
            attachments: Vec::new(),
            blocks: vec![Block {
                inputs: vec![(input.clone(), 6000)],
                ..Block::default()
            }],
            complete: true,
            damaged: false,
        };
        let mut player = Player::new(recording, 1).unwrap();
        let size = player.simulation().snapshot().len();
        player.budget = 10 * size;
        player.seek(6000);
        assert!(player.memory <= player.budget + size);
        let count = player.keyframes.len();
        assert!((5..=11).contains(&count), "{count}");
        assert_eq!(player.keyframes[0].step, 0);
        // Evenly spread: no gap is more than twice another.
        let steps: Vec<usize> = player.keyframes.iter().map(|k| k.step).collect();
        let gaps: Vec<usize> = steps.windows(2).map(|w| w[1] - w[0]).collect();
        let (least, most) = (gaps.iter().min().unwrap(), gaps.iter().max().unwrap());
        assert!(most <= &(2 * least), "{steps:?}");
        let mut straight = Simulation::new(&scene, 1).unwrap();
        for _ in 0..2500 {
            straight.step(&input);
        }
        player.seek(2500);
        assert_eq!(player.simulation().hash(), straight.hash());
    }
}

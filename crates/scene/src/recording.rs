//! Recordings: a scene and everything its hands did, so that an operation can be replayed and proved.
//!
//! A file is the word `TROCREC2` and then blocks: length, checksum, contents. The first block holds the
//! build, the scene with all its files and what was attached, the others inputs and the hashes they led to. A block is
//! written whole at least twice a second, so a crash costs less than a second, and what was written
//! before it can be read.

use crate::{Bundle, Input, Scene, Simulation};
use serde::{Deserialize, Serialize};
use std::{
    fs::File,
    io::{BufReader, Read, Write},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};
use thiserror::Error;

const MAGIC: &[u8; 8] = b"TROCREC2";

/// Largest block, bytes: scenes carry their meshes.
const MAX_BLOCK: u32 = 1 << 30;

/// More steps than this are in no block.
const MAX_STEPS: usize = 1_000_000;

/// A block is closed after this much simulated time (s) or wall time.
const BLOCK_SECONDS: f64 = 0.5;

/// States larger than this (nodes) are hashed once a block instead of every step.
const HASH_EACH_STEP: usize = 20_000;

/// The build that records and replays: version, and a hash of the engine's sources. Another build may step
/// differently.
pub const BUILD: &str = concat!(
    "trocar ",
    env!("CARGO_PKG_VERSION"),
    "+",
    env!("TROCAR_SOURCES")
);

/// Why a recording can't be written or read.
#[derive(Debug, Error)]
pub enum RecordingError {
    /// The file can't be written or read.
    #[error("{}: {cause}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// Why.
        cause: std::io::Error,
    },
    /// It is no recording.
    #[error("{}: this is not a Trocar recording, or of a version this program does not know", path.display())]
    Foreign {
        /// Which file.
        path: PathBuf,
    },
    /// Its first block can't be read: there is nothing to replay.
    #[error("{}: the recording is damaged at its start: {reason}", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        reason: &'static str,
    },
}

#[derive(Serialize, Deserialize)]
struct Header {
    build: String,
    scene: Bundle,
    attachments: Vec<Attachment>,
}

/// Something kept with a recording: the exercise it was made for, the level.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// What it is called.
    pub name: String,
    /// What it says.
    pub bytes: Vec<u8>,
}

/// Inputs of consecutive steps and the hashes after them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// Each input and for how many steps it was given.
    pub inputs: Vec<(Input, u32)>,
    /// Hash after each step; in large scenes only after the last, and none if the block was cut short.
    pub hashes: Vec<u64>,
    /// True in the last block of a recording that was finished.
    pub last: bool,
}

impl Block {
    /// Number of steps.
    pub fn steps(&self) -> usize {
        self.inputs.iter().map(|i| i.1 as usize).sum()
    }
}

/// Writes a recording.
pub struct Writer {
    path: PathBuf,
    sink: Box<dyn Write + Send>,
    block: Block,
    seconds: f64,
    opened: Instant,
}

impl Writer {
    /// Starts a recording of `scene`, with what is attached to it; an existing file is not overwritten.
    pub fn create(
        path: impl AsRef<Path>,
        scene: &Scene,
        attachments: &[Attachment],
    ) -> Result<Self, RecordingError> {
        let path = path.as_ref();
        let file = File::create_new(path).map_err(|cause| RecordingError::File {
            path: path.to_path_buf(),
            cause,
        })?;
        Self::to(file, path, scene, attachments)
    }

    /// Starts a recording into anything that takes bytes; `name` is what errors call it. Every block arrives in one call
    /// of `write_all`.
    pub fn to(
        sink: impl Write + Send + 'static,
        name: &Path,
        scene: &Scene,
        attachments: &[Attachment],
    ) -> Result<Self, RecordingError> {
        let mut writer = Self {
            path: name.to_path_buf(),
            sink: Box::new(sink),
            block: Block::default(),
            seconds: 0.0,
            opened: Instant::now(),
        };
        let header = Header {
            build: BUILD.into(),
            scene: scene.bundle.clone(),
            attachments: attachments.to_vec(),
        };
        writer.put(MAGIC)?;
        writer.put_block(&header)?;
        Ok(writer)
    }

    /// Adds a step that `simulation` has just made with `input`.
    pub fn step(&mut self, input: &Input, simulation: &Simulation) -> Result<(), RecordingError> {
        match self.block.inputs.last_mut() {
            Some((last, times)) if last == input => *times += 1,
            _ => self.block.inputs.push((input.clone(), 1)),
        }
        self.seconds += input.dt;
        let nodes: usize = simulation
            .state()
            .nodes
            .iter()
            .map(trocar_dynamics::Nodes::len)
            .sum();
        let full = self.seconds >= BLOCK_SECONDS
            || self.opened.elapsed() >= Duration::from_secs_f64(BLOCK_SECONDS);
        if full || nodes <= HASH_EACH_STEP {
            self.block.hashes.push(simulation.hash());
        }
        if full {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes what is pending and marks the recording as complete. A recording that is dropped without
    /// this can still be read up to its last block.
    pub fn finish(mut self) -> Result<(), RecordingError> {
        self.block.last = true;
        self.flush()
    }

    fn flush(&mut self) -> Result<(), RecordingError> {
        let block = std::mem::take(&mut self.block);
        self.seconds = 0.0;
        self.opened = Instant::now();
        self.put_block(&block)
    }

    fn put_block(&mut self, contents: &impl Serialize) -> Result<(), RecordingError> {
        let body =
            postcard::to_stdvec(contents).map_err(|e| self.error(std::io::Error::other(e)))?;
        let mut bytes = Vec::with_capacity(body.len() + 8);
        bytes.extend((body.len() as u32).to_le_bytes());
        bytes.extend(crc32fast::hash(&body).to_le_bytes());
        bytes.extend(body);
        self.put(&bytes)
    }

    /// One write for each block, so that a reader never sees half of one that was announced.
    fn put(&mut self, bytes: &[u8]) -> Result<(), RecordingError> {
        self.sink.write_all(bytes).map_err(|e| self.error(e))
    }

    fn error(&self, cause: std::io::Error) -> RecordingError {
        RecordingError::File {
            path: self.path.clone(),
            cause,
        }
    }
}

/// A recording, read as far as it is whole.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The build that made it.
    pub build: String,
    /// The scene with all its files.
    pub scene: Bundle,
    /// What was attached.
    pub attachments: Vec<Attachment>,
    /// All complete blocks.
    pub blocks: Vec<Block>,
    /// True if it was finished; otherwise it breaks off after the last complete block.
    pub complete: bool,
    /// True if a block was there as a whole but is not what was written: no crash does that.
    pub damaged: bool,
}

impl Recording {
    /// Reads a recording up to its last complete block.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, RecordingError> {
        let path = path.as_ref().to_path_buf();
        let wrong = |cause| RecordingError::File {
            path: path.clone(),
            cause,
        };
        let mut file = BufReader::new(File::open(&path).map_err(wrong)?);
        let mut magic = [0; 8];
        if file.read_exact(&mut magic).is_err() || &magic != MAGIC {
            return Err(RecordingError::Foreign { path });
        }
        let damaged = |reason| RecordingError::Damaged {
            path: path.clone(),
            reason,
        };
        let Next::Block(header) = next_block(&mut file) else {
            return Err(damaged("its first block is incomplete"));
        };
        let header: Header = postcard::from_bytes(&header)
            .map_err(|_| damaged("its first block can't be understood"))?;
        let mut blocks: Vec<Block> = Vec::new();
        let damaged = loop {
            match next_block(&mut file) {
                Next::End => break false,
                Next::Damaged => break true,
                Next::Block(body) => match postcard::from_bytes::<Block>(&body) {
                    Ok(block) if block.steps() <= MAX_STEPS => blocks.push(block),
                    _ => break true,
                },
            }
        };
        let complete = blocks.last().is_some_and(|b| b.last);
        Ok(Self {
            build: header.build,
            scene: header.scene,
            attachments: header.attachments,
            blocks,
            complete,
            damaged,
        })
    }

    /// What was attached under `name`.
    pub fn attachment(&self, name: &str) -> Option<&[u8]> {
        let found = self.attachments.iter().find(|a| a.name == name)?;
        Some(&found.bytes)
    }

    /// Number of steps.
    pub fn steps(&self) -> usize {
        self.blocks.iter().map(Block::steps).sum()
    }

    /// All inputs, one for each step.
    pub fn inputs(&self) -> impl Iterator<Item = &Input> {
        self.blocks
            .iter()
            .flat_map(|b| &b.inputs)
            .flat_map(|(input, times)| std::iter::repeat_n(input, *times as usize))
    }

    /// Replays into `simulation`, which must be at the start of the same scene, and compares hashes. `each` is
    /// called after every step; it may end the replay by returning false.
    pub fn replay(
        &self,
        simulation: &mut Simulation,
        mut each: impl FnMut(&Simulation) -> bool,
    ) -> Verdict {
        let mut checked = 0;
        for block in &self.blocks {
            let steps = block.steps();
            let inputs = block
                .inputs
                .iter()
                .flat_map(|(i, n)| std::iter::repeat_n(i, *n as usize));
            let dense = block.hashes.len() == steps;
            for (k, input) in inputs.enumerate() {
                simulation.step(input);
                let expected = if dense {
                    block.hashes.get(k)
                } else if k + 1 == steps {
                    block.hashes.last()
                } else {
                    None
                };
                if let Some(expected) = expected {
                    checked += 1;
                    let found = simulation.hash();
                    if found != *expected {
                        return Verdict::Differs {
                            step: simulation.steps(),
                            time: simulation.state().time,
                            expected: *expected,
                            found,
                        };
                    }
                }
                if !each(simulation) {
                    return Verdict::Same { checked };
                }
            }
        }
        Verdict::Same { checked }
    }
}

/// What a replay found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// All hashes agree.
    Same {
        /// How many were compared.
        checked: usize,
    },
    /// The first hash that differs.
    Differs {
        /// After which step, counted from 1.
        step: u64,
        /// Simulated time, s.
        time: f64,
        /// What the recording says.
        expected: u64,
        /// What came out.
        found: u64,
    },
}

/// What comes next in a file.
enum Next {
    Block(Vec<u8>),
    /// Nothing, or a block that was not written to its end.
    End,
    /// A block that is not what was written.
    Damaged,
}

fn next_block(file: &mut impl Read) -> Next {
    let mut head = [0; 8];
    if file.read_exact(&mut head).is_err() {
        return Next::End;
    }
    let length = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
    let sum = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
    if length > MAX_BLOCK {
        return Next::Damaged;
    }
    // Grows as it is read: a length that lies about a short file costs nothing.
    let mut body = Vec::new();
    if file.take(u64::from(length)).read_to_end(&mut body).is_err() || body.len() < length as usize
    {
        return Next::End;
    }
    if crc32fast::hash(&body) == sum {
        Next::Block(body)
    } else {
        Next::Damaged
    }
}

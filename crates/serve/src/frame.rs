//! The binary half of the protocol: one message a frame, little endian, every field a multiple of four bytes.
//!
//! | what | as |
//! |---|---|
//! | magic `TRF1` | u32 |
//! | number of the frame | u32 |
//! | input sequence: the last one of the controller that a step has used | u32 |
//! | flags: bit 0 paused, bit 1 slow | u32 |
//! | simulated time, s | f64 |
//! | rate: simulated seconds per second | f32 |
//! | cost of a step, µs | f32 |
//! | stages: their number, µs per step of each | u32, f32 … |
//! | tissues: their number; of each the number of vertices and their positions, m | u32; u32, 3 f32 … |
//! | bodies: their number; of each position and quaternion x y z w | u32; 7 f32 … |
//! | instruments: their number; of each the poses of shaft and jaws, handle, force (N), points held | u32; 3·7 + 5 + 3 f32, u32 … |

use glam::{DQuat, DVec3};
use thiserror::Error;
use trocar_math::Pose;
use trocar_scene::{Simulation, Stage};

/// "TRF1", read as a little-endian u32.
pub const MAGIC: u32 = 0x3146_5254;

const PAUSED: u32 = 1;
const SLOW: u32 = 1 << 1;

/// Bytes of a pose, of an instrument, and of the least tissue.
const POSE: usize = 4 * 7;
const INSTRUMENT: usize = 3 * POSE + 4 * (5 + 3 + 1);
const TISSUE: usize = 4;

/// What a frame says beside the state of the simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Head {
    /// Number of the frame; rises by one.
    pub number: u32,
    /// The last sequence of the controller that a step has used.
    pub input_sequence: u32,
    /// Simulated time stands still on demand.
    pub paused: bool,
    /// The machine can't keep up: simulated time runs slower than the clock.
    pub slow: bool,
    /// Simulated seconds per second of the clock.
    pub rate: f32,
    /// Mean cost of recent steps, µs.
    pub step_cost: f32,
    /// Mean cost of each stage of recent steps, µs.
    pub stage_costs: [f32; Stage::COUNT],
}

/// Writes the frame of this moment into `out`, whose memory is reused.
pub fn encode(out: &mut Vec<u8>, head: &Head, simulation: &Simulation) {
    out.clear();
    let model = simulation.model();
    let state = simulation.state();
    let mut w = Writer { out };
    w.u32(MAGIC);
    w.u32(head.number);
    w.u32(head.input_sequence);
    w.u32(if head.paused { PAUSED } else { 0 } | if head.slow { SLOW } else { 0 });
    w.out.extend_from_slice(&state.time.to_le_bytes());
    w.f32(head.rate);
    w.f32(head.step_cost);
    w.count(head.stage_costs.len());
    head.stage_costs.iter().for_each(|c| w.f32(*c));
    w.count(model.tissues.len());
    for tissue in &model.tissues {
        let surface = &state.nodes[tissue.matter.index()].position[tissue.first as usize..];
        w.count(surface.len());
        surface.iter().for_each(|p| w.vector(*p));
    }
    w.count(model.looks.len());
    if let Some(bodies) = model.bodies {
        let nodes = &state.nodes[bodies.index()];
        for (position, orientation) in nodes
            .position
            .iter()
            .zip(&nodes.orientation)
            .take(model.looks.len())
        {
            w.pose(*position, *orientation);
        }
    }
    w.count(model.tools.len());
    for t in 0..model.tools.len() {
        for Pose {
            position, rotation, ..
        } in simulation.poses(t)
        {
            w.pose(position, rotation);
        }
        simulation
            .handle(t)
            .to_array()
            .into_iter()
            .for_each(|x| w.f32(x as f32));
        w.vector(simulation.force(t));
        w.count(simulation.grip(t).holds.len());
    }
}

struct Writer<'a> {
    out: &'a mut Vec<u8>,
}

impl Writer<'_> {
    fn u32(&mut self, x: u32) {
        self.out.extend_from_slice(&x.to_le_bytes());
    }

    fn count(&mut self, n: usize) {
        self.u32(n as u32);
    }

    fn f32(&mut self, x: f32) {
        self.out.extend_from_slice(&x.to_le_bytes());
    }

    fn vector(&mut self, v: DVec3) {
        v.to_array().into_iter().for_each(|x| self.f32(x as f32));
    }

    fn pose(&mut self, position: DVec3, rotation: DQuat) {
        self.vector(position);
        rotation
            .to_array()
            .into_iter()
            .for_each(|x| self.f32(x as f32));
    }
}

/// Position x y z and quaternion x y z w.
pub type WirePose = [f32; 7];

/// A frame as received; for tests, the bench and other clients in Rust.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// What it says beside the state. Stages beyond those this build knows are left out.
    pub head: Head,
    /// Simulated time, s.
    pub time: f64,
    /// Positions of the vertices of each tissue, m.
    pub tissues: Vec<Vec<[f32; 3]>>,
    /// Pose of each body.
    pub bodies: Vec<WirePose>,
    /// The instruments.
    pub instruments: Vec<InstrumentFrame>,
}

/// An instrument in a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct InstrumentFrame {
    /// Shaft and jaws.
    pub poses: [WirePose; 3],
    /// Handle as now reached: yaw, pitch, depth, roll, jaw.
    pub handle: [f32; 5],
    /// Force at the tip, N.
    pub force: [f32; 3],
    /// Points of tissue that it holds.
    pub grasped: u32,
}

/// What is wrong with a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FrameError {
    /// It does not begin with [`MAGIC`].
    #[error("this is not a frame: it begins with {0:#x}")]
    Foreign(u32),
    /// It ends too early.
    #[error("the frame is cut short at byte {0}")]
    Short(usize),
    /// It goes on after its end.
    #[error("the frame has {0} bytes too many")]
    Long(usize),
    /// A number in it is not finite.
    #[error("the frame has a number that is not finite before byte {0}")]
    NotFinite(usize),
}

/// Reads a frame, checking every length and that every number is finite.
pub fn decode(bytes: &[u8]) -> Result<Frame, FrameError> {
    let mut r = Reader { bytes, at: 0 };
    let magic = r.u32()?;
    if magic != MAGIC {
        return Err(FrameError::Foreign(magic));
    }
    let mut head = Head {
        number: r.u32()?,
        input_sequence: r.u32()?,
        ..Head::default()
    };
    let flags = r.u32()?;
    head.paused = flags & PAUSED != 0;
    head.slow = flags & SLOW != 0;
    let time = f64::from_le_bytes(r.take()?);
    r.check(time)?;
    [head.rate, head.step_cost] = r.floats()?;
    for i in 0..r.count(4)? {
        let [cost] = r.floats()?;
        if let Some(stage) = head.stage_costs.get_mut(i) {
            *stage = cost;
        }
    }
    let mut frame = Frame {
        head,
        time,
        ..Frame::default()
    };
    for _ in 0..r.count(TISSUE)? {
        let vertices = r.count(4 * 3)?;
        frame.tissues.push(
            (0..vertices)
                .map(|_| r.floats())
                .collect::<Result<_, _>>()?,
        );
    }
    for _ in 0..r.count(POSE)? {
        frame.bodies.push(r.floats()?);
    }
    for _ in 0..r.count(INSTRUMENT)? {
        frame.instruments.push(InstrumentFrame {
            poses: [r.floats()?, r.floats()?, r.floats()?],
            handle: r.floats()?,
            force: r.floats()?,
            grasped: r.u32()?,
        });
    }
    match bytes.len() - r.at {
        0 => Ok(frame),
        left => Err(FrameError::Long(left)),
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], FrameError> {
        let taken = self.bytes[self.at..]
            .first_chunk()
            .ok_or(FrameError::Short(self.bytes.len()))?;
        self.at += N;
        Ok(*taken)
    }

    fn u32(&mut self) -> Result<u32, FrameError> {
        self.take().map(u32::from_le_bytes)
    }

    /// A number of things of at least `size` bytes: never more than the rest can hold, so that no message makes
    /// us reserve more memory than it has bytes.
    fn count(&mut self, size: usize) -> Result<usize, FrameError> {
        let count = self.u32()? as usize;
        if count > (self.bytes.len() - self.at) / size {
            return Err(FrameError::Short(self.bytes.len()));
        }
        Ok(count)
    }

    fn floats<const N: usize>(&mut self) -> Result<[f32; N], FrameError> {
        let mut floats = [0.0; N];
        for x in &mut floats {
            *x = f32::from_le_bytes(self.take()?);
            self.check((*x).into())?;
        }
        Ok(floats)
    }

    fn check(&self, x: f64) -> Result<(), FrameError> {
        if x.is_finite() {
            Ok(())
        } else {
            Err(FrameError::NotFinite(self.at))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use proptest::prelude::*;

    fn frame_of(simulation: &Simulation) -> (Head, Vec<u8>) {
        let head = Head {
            number: 7,
            input_sequence: 3,
            paused: true,
            slow: true,
            rate: 0.5,
            step_cost: 120.0,
            stage_costs: std::array::from_fn(|i| i as f32),
        };
        let mut bytes = vec![1; 10];
        encode(&mut bytes, &head, simulation);
        (head, bytes)
    }

    #[test]
    fn a_frame_says_where_everything_is() {
        let mut simulation = sample::simulation();
        let input = simulation.idle_input();
        for _ in 0..20 {
            simulation.step(&input);
        }
        let (head, bytes) = frame_of(&simulation);
        let frame = decode(&bytes).unwrap();
        assert_eq!((frame.head, frame.time), (head, simulation.state().time));
        let model = simulation.model();
        assert_eq!(frame.tissues.len(), 1);
        let tissue = &model.tissues[0];
        let nodes = &simulation.state().nodes[tissue.matter.index()];
        assert!(tissue.first > 0);
        assert_eq!(frame.tissues[0].len(), nodes.len() - tissue.first as usize);
        let first = nodes.position[tissue.first as usize].as_vec3().to_array();
        assert_eq!(frame.tissues[0][0], first);
        assert_eq!(frame.bodies.len(), 1);
        assert_eq!(frame.instruments.len(), 1);
        let pose = simulation.poses(0)[2];
        assert_eq!(
            frame.instruments[0].poses[2][..3],
            pose.position.as_vec3().to_array()
        );
        assert_eq!(
            frame.instruments[0].poses[2][3..],
            pose.rotation.as_quat().to_array()
        );
        assert_eq!(
            f64::from(frame.instruments[0].handle[2]),
            f64::from(simulation.handle(0).depth as f32)
        );
    }

    #[test]
    fn a_damaged_frame_is_refused() {
        let (_, bytes) = frame_of(&sample::simulation());
        for end in 0..bytes.len() {
            assert!(decode(&bytes[..end]).is_err(), "cut at {end}");
        }
        let mut long = bytes.clone();
        long.push(0);
        assert_eq!(decode(&long), Err(FrameError::Long(1)));
        let mut nan = bytes;
        nan[24..28].copy_from_slice(&f32::NAN.to_le_bytes());
        assert_eq!(decode(&nan), Err(FrameError::NotFinite(28)));
    }

    proptest! {
        #[test]
        fn the_decoder_never_panics(mut bytes in proptest::collection::vec(any::<u8>(), 0..400), whole in any::<bool>()) {
            if whole && bytes.len() >= 4 {
                bytes[..4].copy_from_slice(&MAGIC.to_le_bytes());
            }
            let _ = decode(&bytes);
        }

        #[test]
        fn nor_on_frames_with_wrong_counts(at in 0usize..400, count in any::<u32>()) {
            static FRAME: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
            let mut bytes = FRAME.get_or_init(|| frame_of(&sample::simulation()).1).clone();
            let at = (at * 4).min(bytes.len() - 4);
            bytes[at..at + 4].copy_from_slice(&count.to_le_bytes());
            let _ = decode(&bytes);
        }
    }
}

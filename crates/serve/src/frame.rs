//! The binary half of the protocol: one message a frame, little endian, every field a multiple of four bytes.
//!
//! | what | as |
//! |---|---|
//! | magic `TRF3` | u32 |
//! | number of the frame | u32 |
//! | input sequence: the last one of the controller that a step has used | u32 |
//! | flags: 1 paused, 2 slow, 4 at the end of a replay | u32 |
//! | simulated time, s | f64 |
//! | rate: simulated seconds per second | f32 |
//! | cost of a step, µs | f32 |
//! | of the last step: error of `aim`, m; its iterations; error of `correct`, m/s | f32, u32, f32 |
//! | contacts, substeps | u32, u32 |
//! | energy, J: kinetic, gravity, elastic | 3 f32 |
//! | stages: their number, µs per step of each | u32, f32 … |
//! | eye: whether there is one (0 or 1); its pose, field of view, rad, and how the endoscope is held | u32; 7 + 1 + 6 f32 |
//! | tissues: their number | u32 |
//! | of each: number of vertices; edits of its surface since the scene was described | u32, u32 |
//! | of a tissue with edits: number of triangles and their corners; where each vertex is at rest, m | u32, 3 u32 …; 3 f32 … |
//! | of each: positions of its vertices, m | 3 f32 … |
//! | bodies: their number; of each position and quaternion x y z w | u32; 7 f32 … |
//! | instruments: their number; of each the poses of shaft and jaws, handle, force (N), points held | u32; 3·7 + 5 + 3 f32, u32 … |

use crate::binary::{Reader, Writer};
use trocar_math::Pose;
use trocar_scene::{Simulation, Stage};

pub use crate::binary::BinaryError;

/// "TRF3", read as a little-endian u32.
pub const MAGIC: u32 = 0x3346_5254;

const PAUSED: u32 = 1;
const SLOW: u32 = 1 << 1;
const AT_END: u32 = 1 << 2;

/// Bytes of a pose, of an instrument, and of the least tissue.
const POSE: usize = 4 * 7;
const INSTRUMENT: usize = 3 * POSE + 4 * (5 + 3 + 1);
const TISSUE: usize = 8;

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
    /// A replay has come to its end.
    pub at_end: bool,
    /// Simulated seconds per second of the clock.
    pub rate: f32,
    /// Mean cost of recent steps, µs.
    pub step_cost: f32,
    /// Mean cost of each stage of recent steps, µs.
    pub stage_costs: [f32; Stage::COUNT],
}

/// Writes the frame of this moment into `out`, whose memory is reused.
pub fn encode(out: &mut Vec<u8>, head: &Head, simulation: &Simulation) {
    let model = simulation.model();
    let state = simulation.state();
    let report = simulation.report();
    let energy = simulation.energy();
    let flag = |set: bool, bit: u32| if set { bit } else { 0 };
    let mut w = Writer::new(out, MAGIC);
    w.u32(head.number);
    w.u32(head.input_sequence);
    w.u32(flag(head.paused, PAUSED) | flag(head.slow, SLOW) | flag(head.at_end, AT_END));
    w.f64(state.time);
    w.f32(head.rate.into());
    w.f32(head.step_cost.into());
    w.f32(report.aim.error);
    w.count(report.aim.iterations as usize);
    w.f32(report.correct.error);
    w.count(report.contacts);
    w.u32(report.substeps);
    w.floats(&[energy.kinetic, energy.gravity, energy.elastic]);
    w.count(head.stage_costs.len());
    head.stage_costs.iter().for_each(|c| w.f32((*c).into()));
    match simulation.eye().zip(simulation.endoscope()) {
        None => w.u32(0),
        Some((eye, handle)) => {
            w.u32(1);
            w.pose(eye.pose.position, eye.pose.rotation);
            w.f32(eye.field_of_view);
            w.floats(&handle.to_array());
        }
    }
    w.count(model.tissues.len());
    for tissue in &model.tissues {
        let first = tissue.first as usize;
        let surface = &state.nodes[tissue.matter.index()].position[first..];
        w.count(surface.len());
        w.u32(tissue.edits);
        if tissue.edits > 0 {
            w.count(tissue.triangles.len());
            let corners = tissue.triangles.iter().flatten();
            corners.for_each(|n| w.u32(n - tissue.first));
            let rest = &model.start[tissue.matter.index()].position[first..];
            (0..surface.len()).for_each(|i| w.vector(rest.get(i).copied().unwrap_or(surface[i])));
        }
        surface.iter().for_each(|p| w.vector(*p));
    }
    w.count(model.looks.len());
    for look in &model.looks {
        let (matter, node) = look.at;
        let nodes = &state.nodes[matter.index()];
        w.pose(
            nodes.position[node as usize],
            nodes.orientation[node as usize],
        );
    }
    w.count(model.tools.len());
    for t in 0..model.tools.len() {
        for Pose {
            position, rotation, ..
        } in simulation.poses(t)
        {
            w.pose(position, rotation);
        }
        w.floats(&simulation.handle(t).to_array());
        w.vector(simulation.force(t));
        w.count(simulation.held(t));
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
    /// What the last step achieved.
    pub step: StepFrame,
    /// What the endoscope sees.
    pub eye: Option<EyeFrame>,
    /// The tissues.
    pub tissues: Vec<TissueFrame>,
    /// Pose of each body.
    pub bodies: Vec<WirePose>,
    /// The instruments.
    pub instruments: Vec<InstrumentFrame>,
}

/// A tissue in a frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TissueFrame {
    /// Positions of its vertices, m.
    pub positions: Vec<[f32; 3]>,
    /// Its surface if that was edited since the scene was described.
    pub surface: Option<SurfaceFrame>,
}

/// The surface of a tissue that was torn or cut.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SurfaceFrame {
    /// Edits since the scene was described.
    pub edits: u32,
    /// Corners of its triangles.
    pub triangles: Vec<[u32; 3]>,
    /// Where each vertex is at rest, m.
    pub rest: Vec<[f32; 3]>,
}

/// What the last step achieved, in a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepFrame {
    /// What `aim` left, m.
    pub aim_error: f32,
    /// How often it went round.
    pub aim_iterations: u32,
    /// What `correct` left, m/s.
    pub correct_error: f32,
    /// Contacts in the last substep.
    pub contacts: u32,
    /// Substeps of the group that needed most.
    pub substeps: u32,
    /// Kinetic, gravity, elastic, J.
    pub energy: [f32; 3],
}

/// What the endoscope sees, in a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EyeFrame {
    /// It looks along −z, and y is up in the picture.
    pub pose: WirePose,
    /// Whole angle of the round picture, rad.
    pub field_of_view: f32,
    /// Handle as now reached: yaw, pitch, depth, roll, horizon, zoom.
    pub handle: [f32; 6],
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

/// Reads a frame, checking every length and that every number is finite.
pub fn decode(bytes: &[u8]) -> Result<Frame, BinaryError> {
    let mut r = Reader::new(bytes, MAGIC)?;
    let mut head = Head {
        number: r.u32()?,
        input_sequence: r.u32()?,
        ..Head::default()
    };
    let flags = r.u32()?;
    head.paused = flags & PAUSED != 0;
    head.slow = flags & SLOW != 0;
    head.at_end = flags & AT_END != 0;
    let time = r.f64()?;
    [head.rate, head.step_cost] = r.floats()?;
    let mut step = StepFrame::default();
    [step.aim_error] = r.floats()?;
    step.aim_iterations = r.u32()?;
    [step.correct_error] = r.floats()?;
    step.contacts = r.u32()?;
    step.substeps = r.u32()?;
    step.energy = r.floats()?;
    for (i, [cost]) in r.rows()?.into_iter().enumerate() {
        if let Some(stage) = head.stage_costs.get_mut(i) {
            *stage = cost;
        }
    }
    let mut frame = Frame {
        head,
        time,
        step,
        ..Frame::default()
    };
    if r.u32()? != 0 {
        let pose = r.floats()?;
        let [field_of_view] = r.floats()?;
        frame.eye = Some(EyeFrame {
            pose,
            field_of_view,
            handle: r.floats()?,
        });
    }
    for _ in 0..r.count(TISSUE)? {
        let vertices = r.count(4 * 3)?;
        let rows = |r: &mut Reader<'_>| {
            let rows = (0..vertices).map(|_| r.floats());
            rows.collect::<Result<Vec<_>, BinaryError>>()
        };
        let surface = match r.u32()? {
            0 => None,
            edits => Some(SurfaceFrame {
                edits,
                triangles: (0..r.count(4 * 3)?)
                    .map(|_| Ok([r.u32()?, r.u32()?, r.u32()?]))
                    .collect::<Result<_, BinaryError>>()?,
                rest: rows(&mut r)?,
            }),
        };
        frame.tissues.push(TissueFrame {
            positions: rows(&mut r)?,
            surface,
        });
    }
    frame.bodies = r.rows()?;
    for _ in 0..r.count(INSTRUMENT)? {
        frame.instruments.push(InstrumentFrame {
            poses: [r.floats()?, r.floats()?, r.floats()?],
            handle: r.floats()?,
            force: r.floats()?,
            grasped: r.u32()?,
        });
    }
    r.end()?;
    Ok(frame)
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
            at_end: true,
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
        assert_eq!(frame.step.substeps, simulation.report().substeps);
        assert!(frame.step.substeps > 0);
        let eye = frame.eye.unwrap();
        let handle = simulation.endoscope().unwrap().to_array();
        assert_eq!(eye.handle, handle.map(|x| x as f32));
        assert!(eye.field_of_view > 0.5);
        let model = simulation.model();
        assert_eq!(frame.tissues.len(), 1);
        let tissue = &model.tissues[0];
        let nodes = &simulation.state().nodes[tissue.matter.index()];
        assert!(tissue.first > 0);
        assert_eq!(
            frame.tissues[0].positions.len(),
            nodes.len() - tissue.first as usize
        );
        let first = nodes.position[tissue.first as usize].as_vec3().to_array();
        assert_eq!(frame.tissues[0].positions[0], first);
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
        assert_eq!(decode(&long), Err(BinaryError::Long(1)));
        let mut nan = bytes;
        nan[24..28].copy_from_slice(&f32::NAN.to_le_bytes());
        assert_eq!(decode(&nan), Err(BinaryError::NotFinite(28)));
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

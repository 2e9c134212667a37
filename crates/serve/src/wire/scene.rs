//! What a page is told about a scene.

use serde::{Deserialize, Serialize};
#[cfg(test)]
use ts_rs::TS;

/// Three numbers: a point, a direction or a colour.
pub type Vector = [f64; 3];

/// Where the hand holds an instrument.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct Handle {
    /// Swing to the side.
    pub yaw: f64,
    /// Swing up and down.
    pub pitch: f64,
    /// From the trocar to the hinge of the jaws.
    pub depth: f64,
    /// Turn about the shaft.
    pub roll: f64,
    /// Angle between the jaws.
    pub jaw: f64,
}

impl From<trocar_tools::Handle> for Handle {
    fn from(handle: trocar_tools::Handle) -> Self {
        let [yaw, pitch, depth, roll, jaw] = handle.to_array();
        Self {
            yaw,
            pitch,
            depth,
            roll,
            jaw,
        }
    }
}

/// Where the camera hand holds the endoscope.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct EndoscopeHandle {
    /// Swing to the side.
    pub yaw: f64,
    /// Swing up and down.
    pub pitch: f64,
    /// From the trocar to the tip.
    pub depth: f64,
    /// Turn of the optics about the shaft; the picture stays upright.
    pub roll: f64,
    /// Turn of the camera head: that of the picture.
    pub horizon: f64,
    /// 1 is the whole picture.
    pub zoom: f64,
}

/// How far each degree of freedom reaches: least and greatest value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct Limits {
    /// Swing to the side.
    pub yaw: [f64; 2],
    /// Swing up and down.
    pub pitch: [f64; 2],
    /// Depth.
    pub depth: [f64; 2],
    /// Angle between the jaws.
    pub jaw: [f64; 2],
}

/// How far the endoscope reaches: least and greatest value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct EndoscopeLimits {
    /// Swing to the side.
    pub yaw: [f64; 2],
    /// Swing up and down.
    pub pitch: [f64; 2],
    /// Depth.
    pub depth: [f64; 2],
    /// Zoom.
    pub zoom: [f64; 2],
}

/// What something looks like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(TS))]
pub enum Look {
    /// Its colour, and no more.
    #[default]
    Plain,
    /// Liver.
    Liver,
    /// Gall bladder.
    GallBladder,
    /// A duct.
    Duct,
    /// A vein.
    Vein,
    /// An artery.
    Artery,
    /// Fat.
    Fat,
    /// Bowel.
    Bowel,
    /// Peritoneum.
    Peritoneum,
    /// A thin membrane.
    Membrane,
    /// Muscle.
    Muscle,
    /// Steel.
    Steel,
    /// Plastic.
    Plastic,
}

/// A tissue. Its vertices move with every frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct TissueDescription {
    /// Its name.
    pub name: String,
    /// Its colour.
    pub colour: Vector,
    /// What it looks like.
    pub look: Look,
    /// How many vertices it has.
    pub vertices: u32,
    /// Three vertices a triangle, counter-clockwise from outside.
    pub triangles: Vec<u32>,
    /// At rest, three numbers a vertex.
    pub positions: Vec<f32>,
    /// The curve that is drawn on it.
    pub path: Option<PathDescription>,
}

/// A curve that is drawn on a tissue where it lies at rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct PathDescription {
    /// A circle: all points at a distance from a middle; none if it is a line.
    pub circle: Option<CircleDescription>,
    /// A line through these points.
    pub points: Vec<Vector>,
    /// How wide it is drawn.
    pub width: f64,
    /// Its colour.
    pub colour: Vector,
}

/// All points at a distance from a middle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct CircleDescription {
    /// The middle.
    pub centre: Vector,
    /// The distance.
    pub radius: f64,
}

/// Something that is only seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct SceneryDescription {
    /// Its name.
    pub name: String,
    /// Its colour.
    pub colour: Vector,
    /// What it looks like.
    pub look: Look,
    /// 0 to 1.
    pub opacity: f64,
    /// Three numbers a vertex.
    pub positions: Vec<f32>,
    /// Three vertices a triangle.
    pub triangles: Vec<u32>,
}

/// A rigid body.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct BodyDescription {
    /// Its name.
    pub name: String,
    /// Its colour.
    pub colour: Vector,
    /// Three numbers a vertex, in its frame.
    pub positions: Vec<f32>,
    /// Three vertices a triangle.
    pub triangles: Vec<u32>,
}

/// What an instrument is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(TS))]
pub enum InstrumentKind {
    /// Two jaws that hold.
    #[default]
    Grasper,
    /// One tip.
    Needle,
    /// Two fine jaws that hold.
    Forceps,
    /// Two blades that cut.
    Scissors,
}

/// An instrument.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct InstrumentDescription {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: InstrumentKind,
    /// Angle at which the tip of a needle leaves the shaft; 0 for all others.
    pub bend: f64,
    /// Where it passes through the wall of the body.
    pub trocar: Vector,
    /// Radius of the shaft.
    pub shaft_radius: f64,
    /// Length of the shaft.
    pub shaft_length: f64,
    /// Length of a jaw, a blade or a tip.
    pub jaw_length: f64,
    /// Its radius.
    pub jaw_radius: f64,
    /// Its reach.
    pub limits: Limits,
    /// Where it is held at the start.
    pub handle: Handle,
}

/// The endoscope.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct EndoscopeDescription {
    /// Where it passes through the wall of the body.
    pub trocar: Vector,
    /// Radius of the shaft.
    pub radius: f64,
    /// Angle between the shaft and the line of sight.
    pub optics: f64,
    /// Whole angle of the round picture at zoom 1.
    pub field_of_view: f64,
    /// Its reach.
    pub limits: EndoscopeLimits,
    /// Where it is held at the start.
    pub handle: EndoscopeHandle,
}

/// Where one looks from if there is no endoscope, or without it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct CameraDescription {
    /// The eye.
    pub eye: Vector,
    /// What it looks at.
    pub target: Vector,
    /// Which way is up in the picture.
    pub up: Vector,
    /// Vertical, in degrees.
    pub field_of_view: f64,
}

/// What does not change during a simulation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct SceneDescription {
    /// Its name.
    pub name: String,
    /// What it is, in a sentence.
    pub about: String,
    /// Changes with any byte of the scene; 16 hexadecimal digits.
    pub hash: String,
    /// Every tissue names the source of its constants.
    pub calibrated: bool,
    /// Length of a step.
    pub step: f64,
    /// The tissues, in the order of a frame.
    pub tissues: Vec<TissueDescription>,
    /// What is only seen.
    pub scenery: Vec<SceneryDescription>,
    /// The bodies, in the order of a frame.
    pub bodies: Vec<BodyDescription>,
    /// The instruments, in the order of a frame.
    pub instruments: Vec<InstrumentDescription>,
    /// The endoscope, if there is one.
    pub endoscope: Option<EndoscopeDescription>,
    /// Where one looks from without it.
    pub camera: CameraDescription,
    /// Names of the stages of a step, in the order of a frame.
    pub stages: Vec<String>,
}

//! The JSON half of the protocol between the server and the page. `web/src/wire.ts` is made of this file:
//! `cargo xtask wire` writes it, and a test compares it.
//!
//! Lengths in m, angles in radians unless said otherwise, times in s. Colours are sRGB, 0 to 1.

#[cfg(test)]
mod typescript;

use serde::{Deserialize, Serialize};
#[cfg(test)]
use ts_rs::TS;

/// Version of the protocol, this half and [`frame`](crate::frame).
pub const PROTOCOL: u32 = 1;

/// Three numbers: a point, a direction or a colour.
pub type Vector = [f64; 3];

/// No number in a message is larger than this; a hand that turns a knob for hours stays below it.
const LARGEST: f64 = 1e6;

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

impl From<Handle> for trocar_tools::Handle {
    fn from(handle: Handle) -> Self {
        Self {
            yaw: handle.yaw,
            pitch: handle.pitch,
            depth: handle.depth,
            roll: handle.roll,
            jaw: handle.jaw,
        }
    }
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

/// A tissue. Its vertices move with every frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct TissueDescription {
    /// Its name.
    pub name: String,
    /// Its colour.
    pub colour: Vector,
    /// How many vertices it has.
    pub vertices: u32,
    /// Three vertices a triangle, counter-clockwise from outside.
    pub triangles: Vec<u32>,
    /// At rest, three numbers a vertex.
    pub positions: Vec<f32>,
}

/// Something that is only seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct SceneryDescription {
    /// Its name.
    pub name: String,
    /// Its colour.
    pub colour: Vector,
    /// 0 to 1.
    pub opacity: f64,
    /// Three numbers a vertex.
    pub positions: Vec<f32>,
    /// Three vertices a triangle.
    pub triangles: Vec<u32>,
}

/// A rigid box.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct BodyDescription {
    /// Its name.
    pub name: String,
    /// Its colour.
    pub colour: Vector,
    /// Half of its edges.
    pub half_extents: Vector,
}

/// An instrument.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(TS))]
pub struct InstrumentDescription {
    /// Its name.
    pub name: String,
    /// Where it passes through the wall of the body.
    pub trocar: Vector,
    /// Radius of the shaft.
    pub shaft_radius: f64,
    /// Length of the shaft.
    pub shaft_length: f64,
    /// Length of a jaw.
    pub jaw_length: f64,
    /// Radius of a jaw.
    pub jaw_radius: f64,
    /// Its reach.
    pub limits: Limits,
    /// Where it is held at the start.
    pub handle: Handle,
}

/// Where one looks from.
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
    /// Where one looks from.
    pub camera: CameraDescription,
    /// Names of the stages of a step, in the order of a frame.
    pub stages: Vec<String>,
}

/// What a connection may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(TS))]
pub enum Role {
    /// Holds the instruments, pauses, resumes, restarts.
    Controller,
    /// Looks on.
    Viewer,
}

/// What the server says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[cfg_attr(test, derive(TS))]
pub enum ServerMessage {
    /// The first message of a connection.
    Hello {
        /// Version of the protocol.
        protocol: u32,
        /// What this connection may do.
        role: Role,
        /// The scene.
        scene: Box<SceneDescription>,
    },
    /// The client did something wrong.
    Error {
        /// What.
        message: String,
    },
    /// Something happened in the simulation.
    Event {
        /// When, in simulated time.
        time: f64,
        /// What.
        text: String,
    },
}

impl ServerMessage {
    /// As JSON.
    pub fn to_json(&self) -> String {
        // Only strings and numbers, in vectors and structs: they can always be written.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// What a client says.
// The variants without fields have braces so that unknown fields are refused in them, too.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[cfg_attr(test, derive(TS))]
pub enum ClientMessage {
    /// Where the hand now holds an instrument.
    Handle {
        /// Rises with every message; comes back in the frames once a step has used it.
        sequence: u32,
        /// Which instrument, counted from 0.
        instrument: u32,
        /// Swing to the side.
        yaw: f64,
        /// Swing up and down.
        pitch: f64,
        /// From the trocar to the hinge of the jaws.
        depth: f64,
        /// Turn about the shaft.
        roll: f64,
        /// Angle between the jaws.
        jaw: f64,
    },
    /// Simulated time stands still.
    Pause {},
    /// It goes on.
    Resume {},
    /// Back to the start.
    Restart {},
}

impl ClientMessage {
    /// Reads and checks what a client sent about a scene with this many instruments. The error is a sentence for
    /// its user.
    pub fn parse(text: &str, instruments: usize) -> Result<Self, String> {
        let message: Self = serde_json::from_str(text)
            .map_err(|e| format!("this message is not one of the protocol: {e}"))?;
        if let Self::Handle {
            instrument,
            yaw,
            pitch,
            depth,
            roll,
            jaw,
            ..
        } = message
        {
            if instrument as usize >= instruments {
                return Err(format!(
                    "there is no instrument {instrument}: the scene has {instruments}, counted from 0"
                ));
            }
            let sound = |x: f64| x.is_finite() && x.abs() <= LARGEST;
            if ![yaw, pitch, depth, roll, jaw].into_iter().all(sound) {
                return Err(format!(
                    "a handle is made of numbers from -{LARGEST} to {LARGEST}"
                ));
            }
        }
        Ok(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> Result<ClientMessage, String> {
        ClientMessage::parse(text, 2)
    }

    #[test]
    fn what_the_page_sends_is_understood() {
        let text = r#"{"type":"handle","sequence":7,"instrument":1,"yaw":0.1,"pitch":-0.2,"depth":0.15,"roll":3,"jaw":0.5}"#;
        let handle = ClientMessage::Handle {
            sequence: 7,
            instrument: 1,
            yaw: 0.1,
            pitch: -0.2,
            depth: 0.15,
            roll: 3.0,
            jaw: 0.5,
        };
        assert_eq!(parse(text), Ok(handle));
        assert_eq!(parse(r#"{"type":"pause"}"#), Ok(ClientMessage::Pause {}));
        assert_eq!(parse(r#"{"type":"resume"}"#), Ok(ClientMessage::Resume {}));
        assert_eq!(
            parse(r#"{"type":"restart"}"#),
            Ok(ClientMessage::Restart {})
        );
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let handle = |inner: &str| format!(r#"{{"type":"handle",{inner}}}"#);
        let rest = r#""pitch":0,"depth":0.1,"roll":0,"jaw":0"#;
        for bad in [
            String::new(),
            "null".into(),
            "{".into(),
            r#"{"type":"stop"}"#.into(),
            r#"{"type":"pause","really":true}"#.into(),
            r#"{"type":"pause","type":"resume"}"#.into(),
            "[".repeat(4000),
            handle(&format!(r#""sequence":1,"instrument":0,{rest}"#)),
            handle(&format!(r#""sequence":1,"instrument":0,"yaw":NaN,{rest}"#)),
            handle(&format!(r#""sequence":1,"instrument":0,"yaw":null,{rest}"#)),
            handle(&format!(
                r#""sequence":1,"instrument":0,"yaw":1e999,{rest}"#
            )),
            handle(&format!(r#""sequence":1,"instrument":0,"yaw":-1e9,{rest}"#)),
            handle(&format!(r#""sequence":-1,"instrument":0,"yaw":0,{rest}"#)),
            handle(&format!(r#""sequence":1,"instrument":2,"yaw":0,{rest}"#)),
            handle(&format!(
                r#""sequence":1,"instrument":0,"yaw":0,"x":0,{rest}"#
            )),
        ] {
            assert!(parse(&bad).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn the_parser_never_panics(text in ".{0,200}") {
            let _ = parse(&text);
        }

        #[test]
        fn nor_on_what_almost_is_a_message(
            kind in "handle|pause|resume|restart|x",
            key in "sequence|instrument|yaw|jaw|type|\\PC{0,4}",
            value in "-?[0-9]{0,30}(\\.[0-9]{0,9})?(e-?[0-9]{1,4})?|null|\"\"|\\[\\]|\\{\\}",
        ) {
            let text = format!(
                r#"{{"type":"{kind}","sequence":1,"instrument":0,"yaw":0,"pitch":0,"depth":0,"roll":0,"{key}":{value}}}"#
            );
            if let Ok(ClientMessage::Handle { yaw, jaw, instrument, .. }) = parse(&text) {
                prop_assert!(yaw.is_finite() && jaw.is_finite() && instrument < 2);
            }
        }
    }
}

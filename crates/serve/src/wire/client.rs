//! What a client says on a WebSocket, and how it is checked.

use super::Vector;
use serde::{Deserialize, Serialize};
#[cfg(test)]
use ts_rs::TS;

/// No number in a message is larger than this; a hand that turns a knob for hours stays below it.
const LARGEST: f64 = 1e6;

/// The largest value that a parameter may be changed to; its own bounds are checked by the simulation.
const LARGEST_VALUE: f64 = 1e12;

/// How fast time may run, simulated seconds per second.
pub const SPEEDS: [f64; 2] = [0.05, 8.0];

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
    /// Where the camera hand now holds the endoscope.
    Endoscope {
        /// Counted together with those of the instruments.
        sequence: u32,
        /// Swing to the side.
        yaw: f64,
        /// Swing up and down.
        pitch: f64,
        /// From the trocar to the tip.
        depth: f64,
        /// Turn of the optics about the shaft.
        roll: f64,
        /// Turn of the picture.
        horizon: f64,
        /// 1 is the whole picture.
        zoom: f64,
    },
    /// Simulated time stands still.
    Pause {},
    /// It goes on.
    Resume {},
    /// Back to the start. In an exercise the run so far is kept as given up and a new one begins.
    Restart {},
    /// Exercise: end it now and score it.
    Finish {},
    /// Lab: take hold of what is under the mouse.
    Grab {
        /// Where the ray begins.
        origin: Vector,
        /// Which way it goes.
        direction: Vector,
    },
    /// Lab: pull what is held to where the mouse is now, at the distance at which it was taken hold of.
    Drag {
        /// Where the ray begins.
        origin: Vector,
        /// Which way it goes.
        direction: Vector,
    },
    /// Lab: let go.
    Drop {},
    /// Lab: change a parameter.
    Change {
        /// Which one, counted from 0.
        parameter: u32,
        /// Its new value.
        value: f64,
    },
    /// Lab: give a tissue other attribute bits.
    Flags {
        /// Which one, counted from 0 among the nets; null for all.
        tissue: Option<u32>,
        /// All its bits.
        word: u32,
    },
    /// What this connection wants to see of the inside.
    Watch {
        /// Nodes and what they are.
        nodes: bool,
        /// Elements and their forces.
        elements: bool,
        /// Contacts.
        contacts: bool,
        /// Forces on nodes.
        forces: bool,
        /// Both ends of what is tied or held.
        anchors: bool,
        /// Frames of bodies and central nodes.
        frames: bool,
        /// Normals of surfaces.
        #[serde(default)]
        normals: bool,
        /// Boxes around what may touch.
        #[serde(default)]
        boxes: bool,
        /// How deep contacts are, and the distance grids of bodies.
        #[serde(default)]
        depths: bool,
        /// Membranes: how near they are to tearing.
        #[serde(default)]
        stress: bool,
        /// Membranes: how far they are from rest.
        #[serde(default)]
        displacement: bool,
        /// Membranes: how much of their hold is left.
        #[serde(default)]
        adhesion: bool,
        /// Membranes: tears, and where they come off.
        #[serde(default)]
        front: bool,
    },
    /// Replay: go there.
    Seek {
        /// Simulated time.
        time: f64,
    },
    /// Replay and Lab: how fast time runs.
    Speed {
        /// Simulated seconds per second, 0.05 to 8.
        factor: f64,
    },
}

/// What a scene has of the things that messages may name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// How many instruments.
    pub instruments: usize,
    /// How many parameters.
    pub parameters: usize,
    /// Whether there is an endoscope.
    pub endoscope: bool,
}

impl ClientMessage {
    /// Reads and checks what a client sent about a scene. The error is a sentence for its user.
    pub fn parse(text: &str, extent: &Extent) -> Result<Self, String> {
        let message: Self = serde_json::from_str(text)
            .map_err(|e| format!("this message is not one of the protocol: {e}"))?;
        message.check(extent)?;
        Ok(message)
    }

    fn check(&self, extent: &Extent) -> Result<(), String> {
        let sound = |x: &f64| x.is_finite() && x.abs() <= LARGEST;
        let numbers = |what: &str, xs: &[f64]| {
            if xs.iter().all(sound) {
                Ok(())
            } else {
                Err(format!(
                    "{what} is made of numbers from -{LARGEST} to {LARGEST}"
                ))
            }
        };
        match *self {
            Self::Handle {
                instrument,
                yaw,
                pitch,
                depth,
                roll,
                jaw,
                ..
            } => {
                let count = extent.instruments;
                if instrument as usize >= count {
                    return Err(format!(
                        "there is no instrument {instrument}: the scene has {count}, counted from 0"
                    ));
                }
                numbers("a handle", &[yaw, pitch, depth, roll, jaw])
            }
            Self::Endoscope {
                yaw,
                pitch,
                depth,
                roll,
                horizon,
                zoom,
                ..
            } => {
                if !extent.endoscope {
                    return Err("the scene has no endoscope".into());
                }
                numbers("a handle", &[yaw, pitch, depth, roll, horizon, zoom])
            }
            Self::Grab { origin, direction } | Self::Drag { origin, direction } => {
                numbers("a ray", &origin)?;
                numbers("a ray", &direction)?;
                if direction.iter().all(|x| x.abs() < 1e-9) {
                    return Err("a ray needs a direction".into());
                }
                Ok(())
            }
            Self::Change { parameter, value } => {
                let count = extent.parameters;
                if parameter as usize >= count {
                    return Err(format!(
                        "there is no parameter {parameter}: the scene has {count}, counted from 0"
                    ));
                }
                if !value.is_finite() || value.abs() > LARGEST_VALUE {
                    return Err("a parameter is a number".into());
                }
                Ok(())
            }
            Self::Seek { time } => {
                numbers("a time", &[time])?;
                if time < 0.0 {
                    return Err("time begins at 0".into());
                }
                Ok(())
            }
            Self::Speed { factor } => {
                let [least, greatest] = SPEEDS;
                if !(least..=greatest).contains(&factor) {
                    return Err(format!("time runs {least} to {greatest} times as fast"));
                }
                Ok(())
            }
            Self::Pause {}
            | Self::Resume {}
            | Self::Restart {}
            | Self::Finish {}
            | Self::Drop {}
            // Which tissues there are, and which bits can be, the simulation knows.
            | Self::Flags { .. }
            | Self::Watch { .. } => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const EXTENT: Extent = Extent {
        instruments: 2,
        parameters: 3,
        endoscope: true,
    };

    fn parse(text: &str) -> Result<ClientMessage, String> {
        ClientMessage::parse(text, &EXTENT)
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
        for (text, message) in [
            (r#"{"type":"pause"}"#, ClientMessage::Pause {}),
            (r#"{"type":"resume"}"#, ClientMessage::Resume {}),
            (r#"{"type":"restart"}"#, ClientMessage::Restart {}),
            (r#"{"type":"finish"}"#, ClientMessage::Finish {}),
            (r#"{"type":"drop"}"#, ClientMessage::Drop {}),
            (
                r#"{"type":"change","parameter":2,"value":9e9}"#,
                ClientMessage::Change {
                    parameter: 2,
                    value: 9e9,
                },
            ),
            (
                r#"{"type":"flags","tissue":1,"word":8272}"#,
                ClientMessage::Flags {
                    tissue: Some(1),
                    word: 0x2050,
                },
            ),
            (
                r#"{"type":"flags","tissue":null,"word":80}"#,
                ClientMessage::Flags {
                    tissue: None,
                    word: 0x50,
                },
            ),
            (
                r#"{"type":"seek","time":3}"#,
                ClientMessage::Seek { time: 3.0 },
            ),
            (
                r#"{"type":"speed","factor":8}"#,
                ClientMessage::Speed { factor: 8.0 },
            ),
            (
                r#"{"type":"grab","origin":[0,0,1],"direction":[0,0,-1]}"#,
                ClientMessage::Grab {
                    origin: [0.0, 0.0, 1.0],
                    direction: [0.0, 0.0, -1.0],
                },
            ),
        ] {
            assert_eq!(parse(text), Ok(message), "{text}");
            assert_eq!(
                parse(&serde_json::to_string(&message).unwrap()),
                Ok(message)
            );
        }
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
            r#"{"type":"change","parameter":3,"value":1}"#.into(),
            r#"{"type":"change","parameter":-1,"value":1}"#.into(),
            r#"{"type":"change","parameter":0,"value":1e13}"#.into(),
            r#"{"type":"seek","time":-1}"#.into(),
            r#"{"type":"seek","time":1e7}"#.into(),
            r#"{"type":"speed","factor":0}"#.into(),
            r#"{"type":"speed","factor":9}"#.into(),
            r#"{"type":"grab","origin":[0,0,1],"direction":[0,0,0]}"#.into(),
            r#"{"type":"grab","origin":[0,0,1e9],"direction":[0,0,1]}"#.into(),
            r#"{"type":"drag","origin":[0,0],"direction":[0,0,1]}"#.into(),
            r#"{"type":"watch","nodes":true}"#.into(),
            r#"{"type":"endoscope","sequence":1,"yaw":0,"pitch":0,"depth":0,"roll":0,"horizon":0,"zoom":1e9}"#
                .into(),
        ] {
            assert!(parse(&bad).is_err(), "{bad}");
        }
        let endoscope = r#"{"type":"endoscope","sequence":1,"yaw":0,"pitch":0,"depth":0,"roll":0,"horizon":0,"zoom":1}"#;
        assert!(parse(endoscope).is_ok());
        assert!(ClientMessage::parse(endoscope, &Extent::default()).is_err());
    }

    proptest! {
        #[test]
        fn the_parser_never_panics(text in ".{0,200}") {
            let _ = parse(&text);
        }

        #[test]
        fn nor_on_what_almost_is_a_message(
            kind in "handle|endoscope|pause|resume|restart|grab|change|seek|speed|x",
            key in "sequence|instrument|yaw|jaw|type|time|factor|value|\\PC{0,4}",
            value in "-?[0-9]{0,30}(\\.[0-9]{0,9})?(e-?[0-9]{1,4})?|null|\"\"|\\[\\]|\\{\\}",
        ) {
            let whole = format!(
                r#"{{"type":"{kind}","sequence":1,"instrument":0,"yaw":0,"pitch":0,"depth":0,"roll":0,"{key}":{value}}}"#
            );
            let short = format!(r#"{{"type":"{kind}","{key}":{value}}}"#);
            for text in [whole, short] {
                match parse(&text) {
                    Ok(ClientMessage::Handle { yaw, jaw, instrument, .. }) => {
                        prop_assert!(yaw.is_finite() && jaw.is_finite() && instrument < 2);
                    }
                    Ok(ClientMessage::Speed { factor }) => prop_assert!((0.05..=8.0).contains(&factor)),
                    Ok(ClientMessage::Seek { time }) => prop_assert!((0.0..=LARGEST).contains(&time)),
                    _ => {}
                }
            }
        }
    }
}

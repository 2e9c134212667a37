//! What happened in a step that somebody may want to know.

use serde::{Deserialize, Serialize};

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// When, s of simulated time.
    pub time: f64,
    /// What.
    pub what: Happening,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Happening {
    /// An instrument took hold of a tissue.
    Grasped {
        /// Which instrument.
        instrument: String,
        /// Which tissue.
        tissue: String,
        /// At how many points.
        points: usize,
    },
    /// Jaws opened and let go.
    Released {
        /// Which instrument.
        instrument: String,
    },
    /// The pull was more than the jaws hold.
    Slipped {
        /// Which instrument.
        instrument: String,
    },
    /// The pull was more than the tissue bears at some of the points held.
    TornOut {
        /// Which instrument.
        instrument: String,
    },
    /// Numbers of a matter went bad; it was put back to rest.
    Quarantined {
        /// Which tissue or set of bodies.
        matter: String,
        /// True if this was once too often: it stays frozen.
        frozen: bool,
    },
    /// A membrane began to tear.
    TearBegan {
        /// Which membrane.
        membrane: String,
    },
    /// A tear reached a rim, or another tear.
    TearEnded {
        /// Which membrane.
        membrane: String,
        /// In how many pieces it is now.
        pieces: usize,
    },
    /// Scissors cut a membrane.
    Cut {
        /// Which instrument.
        instrument: String,
        /// Which membrane.
        membrane: String,
        /// In how many pieces it is now.
        pieces: usize,
    },
    /// Everything went back to where it began; parameters stay.
    Reset,
    /// A parameter was changed.
    Changed {
        /// Which: its group and its name.
        parameter: String,
        /// Its value now.
        value: f64,
        /// What that means, if it is one of a few.
        #[serde(default)]
        choice: Option<String>,
    },
    /// A parameter was to be changed and was not.
    Refused {
        /// Which: its group and its name.
        parameter: String,
        /// Why.
        reason: String,
    },
    /// A change makes a group of connected things need many more substeps: it is done, and costs time.
    Stiffened {
        /// The names of the group's members.
        group: String,
        /// Substeps in a step before.
        before: u32,
        /// Substeps in a step from now on.
        substeps: u32,
        /// What asks for them.
        part: String,
    },
}

impl std::fmt::Display for Happening {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Grasped {
                instrument,
                tissue,
                points,
            } => {
                write!(f, "{instrument} grasped {tissue} at {points} points")
            }
            Self::Released { instrument } => write!(f, "{instrument} let go"),
            Self::Slipped { instrument } => write!(f, "{instrument} slipped: pulled too hard"),
            Self::TornOut { instrument } => write!(f, "tissue tore out of {instrument}"),
            Self::TearBegan { membrane } => write!(f, "{membrane} begins to tear"),
            Self::TearEnded {
                membrane,
                pieces: 1,
            } => write!(f, "a tear in {membrane} reached its end"),
            Self::TearEnded { membrane, pieces } => {
                write!(f, "{membrane} is in {pieces} pieces")
            }
            Self::Cut {
                instrument,
                membrane,
                pieces: 1,
            } => write!(f, "{instrument} cut {membrane}"),
            Self::Cut {
                instrument,
                membrane,
                pieces,
            } => write!(f, "{instrument} cut {membrane}: it is in {pieces} pieces"),
            Self::Reset => write!(f, "everything is back where it began"),
            Self::Changed {
                parameter,
                choice: Some(choice),
                ..
            } => write!(f, "{parameter} is now {choice}"),
            Self::Changed {
                parameter, value, ..
            } => write!(f, "{parameter} is now {value}"),
            Self::Refused { parameter, reason } => {
                write!(f, "{parameter} stays as it was: {reason}")
            }
            Self::Stiffened {
                group,
                before,
                substeps,
                part,
            } => write!(
                f,
                "{group} needs {substeps} substeps now instead of {before}, because of {part}"
            ),
            Self::Quarantined {
                matter,
                frozen: false,
            } => {
                write!(f, "{matter} became unstable and was put back to rest")
            }
            Self::Quarantined {
                matter,
                frozen: true,
            } => {
                write!(
                    f,
                    "{matter} became unstable again and again and is now frozen"
                )
            }
        }
    }
}

//! What can go wrong while writing.

use std::path::PathBuf;

use super::gltf::MAX_FRAMES;
use crate::surface::SurfaceError;

/// Why something was not written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The system would not take it.
    #[error("cannot write {}: {source}; check that the folder exists, may be written to and has room", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The surface itself is not fit for use.
    #[error(transparent)]
    Surface(#[from] SurfaceError),
    /// A name that would break a file name or an index.
    #[error("`{name}` cannot name a file; use letters, digits, `-`, `_` and spaces")]
    BadName {
        /// The name.
        name: String,
    },
    /// Frames must follow one another.
    #[error(
        "a frame at {time} s cannot follow one at {before} s; give frames finite, increasing times"
    )]
    BadTime {
        /// The time of the refused frame, s.
        time: f64,
        /// The time of the frame before it, s; −∞ if there is none.
        before: f64,
    },
    /// A list that does not match the vertices.
    #[error("{what} has {count} entries for {vertices} vertices; give one for each")]
    WrongCount {
        /// The list.
        what: String,
        /// How long it is.
        count: usize,
        /// How long it should be.
        vertices: usize,
    },
    /// More frames or bytes than one glTF file takes.
    #[error(
        "the animation is too long: at most {MAX_FRAMES} frames and 2 GiB fit into one file; write fewer frames, or a VTK series"
    )]
    TooLong,
    /// An animation without frames.
    #[error("the animation has no frames; add at least one")]
    NoFrames,
}

impl ExportError {
    /// Refuses a list that has not one entry for each vertex.
    pub(super) fn unless_matching(
        what: &str,
        count: usize,
        vertices: usize,
    ) -> Result<(), ExportError> {
        if count == vertices {
            return Ok(());
        }
        Err(ExportError::WrongCount {
            what: what.into(),
            count,
            vertices,
        })
    }

    /// Refuses a time that is not finite or not after the one before.
    pub(super) fn unless_after(before: Option<f64>, time: f64) -> Result<(), ExportError> {
        let before = before.unwrap_or(f64::NEG_INFINITY);
        if time.is_finite() && time > before {
            Ok(())
        } else {
            Err(ExportError::BadTime { time, before })
        }
    }

    /// Refuses a name that would need escaping somewhere.
    pub(super) fn unless_plain(name: &str) -> Result<(), ExportError> {
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ' ');
        if !name.is_empty() && name.len() <= 200 && name.chars().all(plain) {
            return Ok(());
        }
        Err(ExportError::BadName { name: name.into() })
    }
}

//! What can go wrong while reading.

use std::fmt;
use std::path::PathBuf;

use super::format::Format;
use crate::limit::MAX_FILE_BYTES;

/// Why a file gave no surface.
#[derive(Debug, thiserror::Error)]
pub enum MeshError {
    /// The system would not hand it over.
    #[error("cannot read {}: {source}; check that it exists and may be read", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// More than [`MAX_FILE_BYTES`].
    #[error("{} is larger than {MAX_FILE_BYTES} bytes; decimate the mesh, or write it in a binary format", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// Neither content nor extension says what it is.
    #[error("{} is in no known format; convert it to one of STL, OBJ, PLY, VTK, VTU, VTP, OFF or Gmsh MSH", path.display())]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// It is broken, or uses what this reader does not know.
    #[error("{}: {source}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Where and why.
        source: ParseError,
    },
}

/// Where in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A line of text, from 1.
    Line(usize),
    /// A byte of binary data, from 0.
    Byte(usize),
    /// The file as a whole.
    Whole,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(line) => write!(f, ", line {line}"),
            Place::Byte(byte) => write!(f, ", byte {byte}"),
            Place::Whole => Ok(()),
        }
    }
}

/// What is wrong inside a file, where, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{format}{place}: {problem}; {remedy}")]
pub struct ParseError {
    /// What it was read as.
    pub format: Format,
    /// Where.
    pub place: Place,
    /// What is wrong.
    pub problem: String,
    /// What to do.
    pub remedy: &'static str,
}

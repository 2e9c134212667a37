//! Why records can't be kept or read: where, why, and what to do.

use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why records can't be kept or read.
#[derive(Debug, Error)]
#[error("{}: {problem}\n  {remedy}", path.display())]
pub struct RecordsError {
    /// The file or folder.
    pub path: PathBuf,
    /// What kind of failure it is.
    pub kind: RecordsErrorKind,
    /// What is wrong.
    pub problem: String,
    /// What to do.
    pub remedy: String,
}

/// What kind of failure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordsErrorKind {
    /// A file or folder can't be made, read or written.
    Folder,
    /// Another program has the folder open.
    Busy,
    /// The disk is full.
    Full,
    /// The database is of a newer program.
    Newer,
    /// The database or the backup is not one of Trocar's, or damaged.
    Damaged,
    /// There is no such profile or result.
    Missing,
    /// The name of a profile can't be used, or is taken.
    Name,
    /// Anything else the database said.
    Database,
}

impl RecordsError {
    /// An error about `path`.
    pub fn new(
        path: &Path,
        kind: RecordsErrorKind,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self {
            path: path.into(),
            kind,
            problem: problem.into(),
            remedy: remedy.into(),
        }
    }

    /// There is no room for `path`.
    fn full(path: &Path) -> Self {
        Self::new(
            path,
            RecordsErrorKind::Full,
            "the disk is full",
            "Make room on the disk, or choose another folder. Nothing that was stored is lost.",
        )
    }

    /// What the file system said about `path`.
    pub fn file(path: &Path, cause: &std::io::Error) -> Self {
        use std::io::ErrorKind;
        let (kind, remedy) = match cause.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                return Self::full(path);
            }
            ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => (
                RecordsErrorKind::Folder,
                "Allow this user to write there, or choose another folder.",
            ),
            ErrorKind::NotADirectory | ErrorKind::AlreadyExists => (
                RecordsErrorKind::Folder,
                "There is a file where a folder should be: choose another folder.",
            ),
            _ => (RecordsErrorKind::Folder, "Check the path and its rights."),
        };
        Self::new(path, kind, cause.to_string(), remedy)
    }

    /// What the database said.
    pub fn database(path: &Path, cause: &sqlx::Error) -> Self {
        // The low byte of SQLite's extended result codes is the plain code (https://www.sqlite.org/rescode.html).
        let code = match cause {
            sqlx::Error::Database(e) => e.code().and_then(|c| c.parse::<i32>().ok()),
            sqlx::Error::Io(e) => return Self::file(path, e),
            _ => None,
        };
        // 4874: no room for the index of the log, which is how a full disk looks when a database is opened.
        let plain = code.map(|c| if c == 4874 { 13 } else { c & 0xff });
        let (kind, problem, remedy) = match plain {
            Some(5 | 6) => (
                RecordsErrorKind::Busy,
                "another program is writing to it".into(),
                "Close the other program, or try again.",
            ),
            Some(8) => (
                RecordsErrorKind::Folder,
                "it can't be written".into(),
                "Allow this user to write there, or choose another folder.",
            ),
            Some(13) => return Self::full(path),
            Some(11 | 26) => (
                RecordsErrorKind::Damaged,
                format!("it is damaged, or not a database ({cause})"),
                "Restore a backup (`trocar restore`), or move the file away to start anew. It was left as it is.",
            ),
            Some(10 | 14) => (
                RecordsErrorKind::Folder,
                format!("it can't be read or written ({cause})"),
                "Check the disk, the path and its rights.",
            ),
            _ => (
                RecordsErrorKind::Database,
                cause.to_string(),
                "Please report this; a copy of the folder helps.",
            ),
        };
        Self::new(path, kind, problem, remedy)
    }
}

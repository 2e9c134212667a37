//! Files that appear whole or not at all.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use super::error::ExportError;

/// Writes `bytes` beside `path` and renames them into place, so that a reader, or a run that is killed, never sees half
/// a file.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), ExportError> {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    // The process number: two programs that write the same file must not write into each other's draft.
    name.push(format!(".{}.part", std::process::id()));
    let draft = path.with_file_name(name);
    fs::write(&draft, bytes)
        .and_then(|()| fs::rename(&draft, path))
        .map_err(|source| {
            // Of the two failures the first is worth telling.
            fs::remove_file(&draft).ok();
            ExportError::Unwritable {
                path: path.into(),
                source,
            }
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        write(&folder.path().join("a.obj"), b"one").unwrap();
        write(&folder.path().join("a.obj"), b"two").unwrap();
        assert_eq!(fs::read(folder.path().join("a.obj")).unwrap(), b"two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let error = write(&folder.path().join("missing/a.obj"), b"x").unwrap_err();
        assert!(error.to_string().contains("missing"));
        // A folder stands in the way: the draft must go.
        fs::create_dir(folder.path().join("b.obj")).unwrap();
        assert!(write(&folder.path().join("b.obj"), b"x").is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}

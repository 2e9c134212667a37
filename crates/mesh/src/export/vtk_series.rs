//! A surface over time as files for ParaView.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use super::vtp::{VtkFrame, to_vtp};
use super::{ExportError, atomic};

/// Writes `name.000000.vtp`, `name.000001.vtp`, … and `name.pvd`, which ParaView opens as one film.
///
/// The index is rewritten with every frame, so a run that is killed leaves a readable series of what it got to.
#[derive(Debug)]
pub struct VtkSeries {
    folder: PathBuf,
    name: String,
    /// The lines of the index so far.
    entries: String,
    frames: usize,
    last_time: Option<f64>,
}

impl VtkSeries {
    /// Starts a series in `folder`, which is made if need be. `name` may hold letters, digits, `-`, `_` and spaces.
    ///
    /// An index of that name from an earlier run is replaced at once, so that it never speaks of frames of two runs.
    pub fn create(folder: impl Into<PathBuf>, name: &str) -> Result<Self, ExportError> {
        ExportError::unless_plain(name)?;
        let folder = folder.into();
        fs::create_dir_all(&folder).map_err(|source| ExportError::Unwritable {
            path: folder.clone(),
            source,
        })?;
        let series = Self {
            folder,
            name: name.into(),
            entries: String::new(),
            frames: 0,
            last_time: None,
        };
        series.write_index(&series.entries)?;
        Ok(series)
    }

    /// Adds a frame at `time`, s, later than the one before, and returns the file it is in.
    ///
    /// Vertices and triangles may change from frame to frame. A refused frame leaves the series as it was.
    pub fn push<'a>(
        &mut self,
        time: f64,
        frame: impl Into<VtkFrame<'a>>,
    ) -> Result<PathBuf, ExportError> {
        ExportError::unless_after(self.last_time, time)?;
        let text = to_vtp(&frame.into())?;
        let file = format!("{}.{:06}.vtp", self.name, self.frames);
        let path = self.folder.join(&file);
        atomic::write(&path, text.as_bytes())?;
        let mut entries = self.entries.clone();
        // Writing into a string cannot fail.
        writeln!(
            entries,
            "<DataSet timestep=\"{time:?}\" part=\"0\" file=\"{file}\"/>"
        )
        .ok();
        self.write_index(&entries)?;
        self.entries = entries;
        self.frames += 1;
        self.last_time = Some(time);
        Ok(path)
    }

    /// The file to open in ParaView.
    pub fn index(&self) -> PathBuf {
        self.folder
            .join(Path::new(&self.name))
            .with_extension("pvd")
    }

    /// How many frames there are.
    pub fn frames(&self) -> usize {
        self.frames
    }

    fn write_index(&self, entries: &str) -> Result<(), ExportError> {
        let text = format!(
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"LittleEndian\">\n<Collection>\n\
             {entries}</Collection>\n</VTKFile>\n"
        );
        atomic::write(&self.index(), text.as_bytes())
    }
}

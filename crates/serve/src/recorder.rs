//! Keeps a recording of the operation while it runs.

use crate::ServeError;
use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};
use trocar_scene::{
    Input, Scene, Simulation,
    recording::{RecordingError, Writer},
};

/// Writes recordings, one from each start to the next restart.
pub struct Recorder {
    scene: Scene,
    /// Folder and first part of the name of every recording; none if nothing is kept.
    place: Option<(PathBuf, String)>,
    state: State,
}

enum State {
    /// At the start: the file is made with the first step, so that none is empty.
    Ready,
    Writing(Writer),
    /// It failed; a restart tries again.
    Failed,
}

impl Recorder {
    /// Records `scene` in a folder inside `data_dir`, which is made if it is missing; or not at all.
    pub fn new(scene: Scene, data_dir: Option<&Path>) -> Result<Self, ServeError> {
        let name = plain_name(Path::new(&scene.main().name));
        let place = data_dir
            .map(|dir| folder(dir).map(|f| (f, name)))
            .transpose()?;
        Ok(Self {
            scene,
            place,
            state: State::Ready,
        })
    }

    /// Adds a step that has just been made. An error means that the rest of this operation is not recorded.
    pub fn step(&mut self, input: &Input, simulation: &Simulation) -> Result<(), RecordingError> {
        let Some((folder, name)) = &self.place else {
            return Ok(());
        };
        let done = match &mut self.state {
            State::Failed => Ok(()),
            State::Writing(writer) => writer.step(input, simulation),
            State::Ready => create(folder, name, &self.scene).and_then(|mut writer| {
                writer.step(input, simulation)?;
                self.state = State::Writing(writer);
                Ok(())
            }),
        };
        if done.is_err() {
            self.state = State::Failed;
        }
        done
    }

    /// Completes the recording; the next step begins another.
    pub fn finish(&mut self) -> Result<(), RecordingError> {
        match std::mem::replace(&mut self.state, State::Ready) {
            State::Writing(writer) => writer.finish(),
            State::Ready | State::Failed => Ok(()),
        }
    }
}

fn create(folder: &Path, name: &str, scene: &Scene) -> Result<Writer, RecordingError> {
    // A clock before 1970 is wrong, and as good as any other name.
    let seconds = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |t| t.as_secs());
    let mut file = folder.join(format!("{name}-{seconds}.trocrec"));
    let mut more = 2;
    loop {
        match Writer::create(&file, scene) {
            Err(RecordingError::File { cause, .. })
                if cause.kind() == io::ErrorKind::AlreadyExists =>
            {
                file = folder.join(format!("{name}-{seconds}-{more}.trocrec"));
                more += 1;
            }
            Ok(writer) => {
                tracing::info!("recording to {}", file.display());
                return Ok(writer);
            }
            Err(error) => return Err(error),
        }
    }
}

/// The folder of recordings, made and tried.
fn folder(data_dir: &Path) -> Result<PathBuf, ServeError> {
    let folder = data_dir.join("recordings");
    let wrong = |cause| ServeError::DataDir {
        path: folder.clone(),
        cause,
    };
    fs::create_dir_all(&folder).map_err(wrong)?;
    let probe = folder.join(format!(".probe-{}", std::process::id()));
    fs::write(&probe, [])
        .and_then(|()| fs::remove_file(&probe))
        .map_err(wrong)?;
    Ok(folder)
}

/// The scene's name as part of a file's name on any system.
fn plain_name(scene: &Path) -> String {
    let stem = scene
        .file_stem()
        .map(|s| s.to_string_lossy())
        .unwrap_or_default();
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || c == '-' || c == '_' {
            c
        } else {
            '-'
        }
    };
    let name: String = stem.chars().take(64).map(plain).collect();
    if name.is_empty() {
        "scene".into()
    } else {
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn each_operation_has_its_file() {
        let dir = tempfile::tempdir().unwrap();
        let mut recorder = Recorder::new(sample::scene(), Some(dir.path())).unwrap();
        let folder = dir.path().join("recordings");
        let mut simulation = sample::simulation();
        let input = simulation.idle_input();
        recorder.finish().unwrap();
        assert!(names(&folder).is_empty());
        for _ in 0..2 {
            simulation.restart();
            for _ in 0..3 {
                simulation.step(&input);
                recorder.step(&input, &simulation).unwrap();
            }
            recorder.finish().unwrap();
        }
        let names = names(&folder);
        assert_eq!(names.len(), 2, "{names:?}");
        assert!(
            names
                .iter()
                .all(|n| n.starts_with("Bench-top-") && n.ends_with(".trocrec"))
        );
    }

    #[test]
    fn a_failure_is_told_once_and_stops_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let mut recorder = Recorder::new(sample::scene(), Some(dir.path())).unwrap();
        fs::remove_dir(dir.path().join("recordings")).unwrap();
        let mut simulation = sample::simulation();
        let input = simulation.idle_input();
        simulation.step(&input);
        assert!(recorder.step(&input, &simulation).is_err());
        assert!(recorder.step(&input, &simulation).is_ok());
        assert!(recorder.finish().is_ok());
    }

    #[test]
    fn a_folder_that_can_not_be_made_is_an_error_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        let error = Recorder::new(sample::scene(), Some(&file)).err().unwrap();
        assert!(error.to_string().contains("recordings"), "{error}");
    }
}

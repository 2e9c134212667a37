//! Keeps a recording of an operation while it runs.
//!
//! The simulation's thread only makes blocks of bytes; another thread writes them. Between the two is a queue with a
//! bound: a disk that can't keep up ends the recording, aloud, and never delays a step.

use std::{
    fs::File,
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    },
    thread,
};
use tokio::sync::oneshot;
use trocar_scene::{
    Attachment, Input, Scene, Simulation,
    recording::{RecordingError, Writer},
};

/// Blocks that may wait for the disk. There are about two a second.
const QUEUE: usize = 32;

/// Says whether a recording is wanted at all, once that is known.
pub type Permission = oneshot::Sender<bool>;

/// How the recording ended: a sentence if it is not whole.
pub type Outcome = oneshot::Receiver<Result<(), String>>;

/// Writes one recording.
pub struct Recorder {
    /// Or why it has failed.
    writer: Result<Writer, String>,
    outcome: Outcome,
}

impl Recorder {
    /// Begins a recording of `scene` at `path`. The file is made only once the permission has been given.
    pub fn start(
        path: PathBuf,
        scene: &Scene,
        attachments: &[Attachment],
    ) -> Result<(Self, Permission), RecordingError> {
        let (blocks, queue) = sync_channel(QUEUE);
        let (permission, permitted) = oneshot::channel();
        let (ended, outcome) = oneshot::channel();
        let failure = Arc::new(Mutex::new(None));
        let sink = Sink {
            blocks,
            failure: Arc::clone(&failure),
        };
        let file = path.clone();
        let write = move || {
            let done = write(&file, &queue, permitted).map_err(|error| match error.kind() {
                kind @ (ErrorKind::StorageFull | ErrorKind::QuotaExceeded) => {
                    io::Error::new(kind, "the disk is full")
                }
                _ => error,
            });
            if let Err(error) = &done {
                let mut failure = failure.lock().unwrap_or_else(PoisonError::into_inner);
                *failure = Some((error.kind(), error.to_string()));
            }
            // Only now: who sends a block from here on finds out why it can't.
            drop(queue);
            // It fails only if nobody wants to know.
            let _ = ended.send(done.map_err(|e| e.to_string()));
        };
        thread::Builder::new()
            .name("recorder".into())
            .spawn(write)
            .map_err(|cause| RecordingError::File {
                path: path.clone(),
                cause,
            })?;
        let writer = Writer::to(sink, &path, scene, attachments)?;
        let recorder = Self {
            writer: Ok(writer),
            outcome,
        };
        Ok((recorder, permission))
    }

    /// Adds a step that has just been made. An error is told once, and means that the rest is not recorded.
    pub fn step(&mut self, input: &Input, simulation: &Simulation) -> Result<(), RecordingError> {
        let Ok(writer) = &mut self.writer else {
            return Ok(());
        };
        let done = writer.step(input, simulation);
        if let Err(error) = &done {
            self.writer = Err(error.to_string());
        }
        done
    }

    /// Completes the recording; waits for nothing.
    pub fn finish(self) -> Outcome {
        let finished = self
            .writer
            .and_then(|writer| writer.finish().map_err(|e| e.to_string()));
        match finished {
            Ok(()) => self.outcome,
            Err(problem) => {
                let (tell, outcome) = oneshot::channel();
                // Whoever asks finds it at once.
                let _ = tell.send(Err(problem));
                outcome
            }
        }
    }
}

/// Writes blocks until there are no more.
fn write(
    path: &Path,
    queue: &Receiver<Vec<u8>>,
    permitted: oneshot::Receiver<bool>,
) -> io::Result<()> {
    crate::priority::lower();
    if !permitted.blocking_recv().unwrap_or(false) {
        return Err(io::Error::other("it was not wanted"));
    }
    let mut file = File::create_new(path)?;
    tracing::debug!("recording to {}", path.display());
    for block in queue {
        file.write_all(&block)?;
    }
    file.sync_all()
}

/// Takes blocks of a recording, each in one piece.
struct Sink {
    blocks: SyncSender<Vec<u8>>,
    failure: Arc<Mutex<Option<(ErrorKind, String)>>>,
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.blocks.try_send(bytes.to_vec()) {
            Ok(()) => Ok(bytes.len()),
            Err(TrySendError::Full(_)) => Err(io::Error::other("the disk is too slow to take it")),
            Err(TrySendError::Disconnected(_)) => {
                let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
                Err(match &*failure {
                    Some((kind, text)) => io::Error::new(*kind, text.clone()),
                    None => io::Error::other("nobody writes it"),
                })
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use std::time::{Duration, Instant};
    use trocar_scene::recording::Recording;

    fn start(path: &Path) -> (Recorder, Permission, Simulation, Input) {
        let attached = [Attachment {
            name: "level".into(),
            bytes: b"easy".to_vec(),
        }];
        let (recorder, permission) =
            Recorder::start(path.into(), &sample::scene(), &attached).unwrap();
        let simulation = sample::simulation();
        let input = simulation.idle_input();
        (recorder, permission, simulation, input)
    }

    #[test]
    fn a_recording_is_written_once_it_is_permitted() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.trocrec");
        let (mut recorder, permission, mut simulation, input) = start(&path);
        for _ in 0..600 {
            simulation.step(&input);
            recorder.step(&input, &simulation).unwrap();
        }
        assert!(!path.exists());
        permission.send(true).unwrap();
        assert_eq!(recorder.finish().blocking_recv(), Ok(Ok(())));
        let recording = Recording::read(&path).unwrap();
        assert!(recording.complete && recording.steps() == 600);
        assert_eq!(recording.attachment("level"), Some(&b"easy"[..]));
    }

    #[test]
    fn one_that_is_not_permitted_leaves_no_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.trocrec");
        let (recorder, permission, ..) = start(&path);
        drop(permission);
        assert!(recorder.finish().blocking_recv().unwrap().is_err());
        assert!(!path.exists());
    }

    /// Steps until it fails, and gives the error.
    fn failure(recorder: &mut Recorder, simulation: &mut Simulation, input: &Input) -> String {
        let began = Instant::now();
        loop {
            simulation.step(input);
            if let Err(error) = recorder.step(input, simulation) {
                return error.to_string();
            }
            assert!(began.elapsed() < Duration::from_secs(60), "it never fails");
        }
    }

    #[test]
    fn a_disk_that_fails_is_told_once_and_stops_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("missing/a.trocrec");
        let (mut recorder, permission, mut simulation, input) = start(&path);
        permission.send(true).unwrap();
        let told = failure(&mut recorder, &mut simulation, &input);
        assert!(told.contains("a.trocrec"), "{told}");
        assert!(recorder.step(&input, &simulation).is_ok());
        assert!(recorder.finish().blocking_recv().unwrap().is_err());
    }

    #[test]
    fn a_disk_that_is_too_slow_ends_the_recording() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.trocrec");
        // Never permitted: nothing is written.
        let (mut recorder, _permission, mut simulation, input) = start(&path);
        let told = failure(&mut recorder, &mut simulation, &input);
        assert!(told.contains("too slow"), "{told}");
        assert!(simulation.state().time > 5.0);
    }
}

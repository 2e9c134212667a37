//! The house: all operations of a server, and what they are made of.

mod plan;

use crate::{
    Options,
    catalogue::{Catalogue, Gallery},
    clerk, conductor,
    operation::Operation,
    play::Book,
    wire::{NewOperation, OperationInfo, Problem, SceneDescription, SceneInfo},
};
use axum::http::StatusCode;
use plan::{Built, Plan, Started};
use std::{
    collections::BTreeMap,
    hash::{BuildHasher, Hasher, RandomState},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::{
    sync::{OwnedSemaphorePermit, RwLock, Semaphore, watch},
    task::JoinHandle,
    time::{MissedTickBehavior, interval},
};
use trocar_scene::Scene;
use trocar_train::{Records, RecordsError, records::RecordsErrorKind};

/// Most operations at a time.
pub const OPERATIONS: usize = 16;

/// Most connections that look on or operate, in all.
pub const SEATS: usize = 64;

/// Why something asked for is not done.
#[derive(Debug)]
pub struct Refusal {
    /// As a number of HTTP.
    pub status: StatusCode,
    /// What went wrong, and what to do.
    pub problem: Problem,
}

impl Refusal {
    /// With a sentence for the user.
    pub fn new(status: StatusCode, error: impl Into<String>) -> Self {
        Self {
            status,
            problem: Problem {
                error: error.into(),
            },
        }
    }

    /// There is no such thing.
    pub fn missing(what: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, what)
    }

    fn fault(what: impl std::fmt::Display) -> Self {
        tracing::error!("{what}");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, what.to_string())
    }
}

impl From<RecordsError> for Refusal {
    fn from(error: RecordsError) -> Self {
        let status = match error.kind {
            RecordsErrorKind::Missing => StatusCode::NOT_FOUND,
            RecordsErrorKind::Name => StatusCode::UNPROCESSABLE_ENTITY,
            RecordsErrorKind::Full => StatusCode::INSUFFICIENT_STORAGE,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        if status.is_server_error() {
            tracing::error!("{error}");
        }
        // The path is for those who can do something about it.
        Self::new(
            status,
            format!("{} {}", sentence(&error.problem), error.remedy).trim(),
        )
    }
}

fn sentence(problem: &str) -> String {
    let mut letters = problem.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string());
    let mut text = first.unwrap_or_default() + letters.as_str();
    if !text.ends_with(['.', '!', '?']) {
        text.push('.');
    }
    text
}

/// All operations, and what they are made of.
pub struct House {
    /// Scenes and exercises.
    pub catalogue: Catalogue,
    /// Profiles and results.
    pub records: Records,
    /// Free seats.
    pub seats: Arc<Semaphore>,
    /// True when the server closes.
    pub closing: watch::Receiver<bool>,
    /// A page that does not take a message in this time is given up.
    pub patience: Duration,
    gallery: Gallery,
    threads: usize,
    grace: Duration,
    rooms: Arc<Semaphore>,
    operations: Mutex<BTreeMap<String, Arc<Operation>>>,
    /// Read while an operation comes or goes, written while a profile is deleted: so none comes for somebody who goes, and
    /// no recording is written after it was to be deleted.
    doors: RwLock<()>,
    /// Whoever still writes for operations that have ended.
    clerks: Mutex<Vec<(String, JoinHandle<()>)>>,
}

impl House {
    /// A house without operations.
    pub fn new(options: Options, records: Records, closing: watch::Receiver<bool>) -> Self {
        Self {
            gallery: Gallery::new(&options.catalogue),
            catalogue: options.catalogue,
            records,
            seats: Arc::new(Semaphore::new(SEATS)),
            closing,
            patience: options.patience,
            threads: options.threads.max(1),
            grace: options.grace,
            rooms: Arc::new(Semaphore::new(OPERATIONS)),
            operations: Mutex::new(BTreeMap::new()),
            doors: RwLock::new(()),
            clerks: Mutex::new(Vec::new()),
        }
    }

    /// The operations that run.
    pub fn operations(&self) -> Vec<Arc<Operation>> {
        let operations = self.lock();
        operations
            .values()
            .filter(|o| o.is_alive())
            .cloned()
            .collect()
    }

    /// The operation with this id, if it runs.
    pub fn operation(&self, id: &str) -> Option<Arc<Operation>> {
        self.lock().get(id).filter(|o| o.is_alive()).cloned()
    }

    /// The Lab's scenes. Those that can't be built are told and left out. Takes a moment, the first time.
    pub fn scenes(&self) -> Vec<SceneInfo> {
        let list = |(id, scene): (&str, &Scene)| match self.gallery.describe(scene) {
            Ok(described) => Some(SceneInfo {
                id: id.into(),
                ..described.info.clone()
            }),
            Err(error) => {
                tracing::warn!("a scene is left out: {error}");
                None
            }
        };
        self.catalogue.scenes().filter_map(list).collect()
    }

    /// A scene of the Lab or of an exercise. Takes a moment, the first time.
    pub fn describe(&self, id: &str) -> Result<SceneDescription, Refusal> {
        let scene = self
            .catalogue
            .any_scene(id)
            .ok_or_else(|| Refusal::missing(format!("There is no scene \"{id}\".")))?;
        let described = self.gallery.describe(scene).map_err(Refusal::fault)?;
        Ok(described.scene.clone())
    }

    /// Opens an operation. Building it takes a moment, on a thread that may wait.
    pub async fn open(self: &Arc<Self>, new: NewOperation) -> Result<OperationInfo, Refusal> {
        let full = || {
            Refusal::new(
                StatusCode::SERVICE_UNAVAILABLE,
                format!(
                    "{OPERATIONS} operations are running, and more would slow them down. End one of them first."
                ),
            )
        };
        let room = Arc::clone(&self.rooms)
            .try_acquire_owned()
            .map_err(|_| full())?;
        let _door = self.doors.read().await;
        let plan = self.plan(new).await?;
        let threads = self.threads;
        let start = move || plan.build(threads).and_then(Built::start);
        let started = tokio::task::spawn_blocking(start).await;
        let fault = |_| Refusal::fault("The operation can't be built by a fault of the program.");
        Ok(self.admit(started.map_err(fault)??, room))
    }

    /// Looks up what is asked for.
    async fn plan(&self, new: NewOperation) -> Result<Plan, Refusal> {
        match new {
            NewOperation::Lab { scene } => {
                let found = self
                    .catalogue
                    .scene(&scene)
                    .ok_or_else(|| Refusal::missing(format!("There is no scene \"{scene}\".")))?;
                Ok(Plan::Lab {
                    scene: found.clone(),
                    id: scene,
                })
            }
            NewOperation::Exercise {
                exercise,
                level,
                profile,
            } => {
                let found = self.catalogue.exercise(&exercise).ok_or_else(|| {
                    Refusal::missing(format!("There is no exercise \"{exercise}\"."))
                })?;
                let level = found.level(&level).ok_or_else(|| {
                    Refusal::missing(format!("\"{exercise}\" has no level \"{level}\"."))
                })?;
                let profiles = self.records.profiles().await?;
                let who = profiles
                    .into_iter()
                    .find(|p| p.id == profile)
                    .ok_or_else(|| Refusal::missing("There is no such profile any more."))?;
                let book = Book {
                    exercise: Arc::clone(found),
                    level,
                    profile,
                    recordings: self.records.keeps().then(|| self.records.recordings()),
                    operation: new_id(),
                };
                Ok(Plan::Exercise {
                    book,
                    profile: who.name,
                })
            }
            NewOperation::Replay { result } => {
                let detail = self
                    .records
                    .result(result)
                    .await?
                    .ok_or_else(|| Refusal::missing("There is no such result any more."))?;
                let path = self
                    .records
                    .recording_path(result)
                    .await?
                    .ok_or_else(|| Refusal::missing("This result has no recording."))?;
                Ok(Plan::Replay {
                    path,
                    detail: Box::new(detail),
                })
            }
        }
    }

    /// Takes in what has been started.
    fn admit(&self, started: Started, room: OwnedSemaphorePermit) -> OperationInfo {
        let Started {
            mut info,
            set,
            profile,
            outlet,
            work,
            show,
        } = started;
        let (sender, shown) = watch::channel(conductor::Shown::default());
        tokio::spawn(show.relay(sender));
        info.id = new_id();
        let id = info.id.clone();
        let clerk = clerk::work(self.records.clone(), outlet.clone(), work);
        self.clerks().push((id.clone(), tokio::spawn(clerk)));
        let operation = Operation::new(info, profile, set, shown, outlet, room);
        let told = operation.info();
        self.lock().insert(id, Arc::new(operation));
        told
    }

    /// Ends an operation, and waits until what it did is kept. False if there is none.
    pub async fn end(&self, id: &str, farewell: &'static str) -> bool {
        let _door = self.doors.read().await;
        self.end_now(id, farewell).await
    }

    async fn end_now(&self, id: &str, farewell: &'static str) -> bool {
        let Some(operation) = self.lock().remove(id) else {
            return false;
        };
        operation.end(farewell);
        // Whoever still looks on keeps the operation a moment longer; its room is free now.
        operation.vacate();
        let clerk = {
            let mut clerks = self.clerks();
            let at = clerks.iter().position(|c| c.0 == id);
            at.map(|at| clerks.swap_remove(at).1)
        };
        if let Some(clerk) = clerk {
            let _ = clerk.await;
        }
        true
    }

    /// Deletes a profile with its results and recordings; its operations are ended first.
    pub async fn delete_profile(&self, profile: i64) -> Result<(), Refusal> {
        let _doors = self.doors.write().await;
        let all: Vec<_> = self.lock().values().cloned().collect();
        for operation in all.iter().filter(|o| o.profile == Some(profile)) {
            let reason = "the profile of this operation has been deleted";
            self.end_now(&operation.info.id, reason).await;
        }
        Ok(self.records.delete_profile(profile).await?)
    }

    /// Ends all operations, and closes the records.
    pub async fn close(&self) {
        let all: Vec<_> = self.lock().values().cloned().collect();
        // All at once, then one after another waited for.
        all.iter()
            .for_each(|o| o.end("the server has been stopped"));
        for operation in all {
            self.end(&operation.info.id, "").await;
        }
        self.records.close().await;
    }

    /// Ends operations that nobody has looked at for long, until the server closes.
    pub async fn tidy(self: Arc<Self>) {
        let mut closing = self.closing.clone();
        let mut tick =
            interval((self.grace / 10).clamp(Duration::from_millis(20), Duration::from_secs(1)));
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = tick.tick() => {}
                _ = closing.wait_for(|c| *c) => return,
            }
            let all: Vec<_> = self.lock().values().cloned().collect();
            for operation in all {
                if !operation.is_alive() || operation.is_deserted(self.grace) {
                    let house = Arc::clone(&self);
                    // Not waited for: a disk that hangs must not keep the others.
                    tokio::spawn(async move {
                        let reason = "nobody was here for long, so the operation has been ended";
                        house.end(&operation.info.id, reason).await;
                    });
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Operation>>> {
        self.operations
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn clerks(&self) -> MutexGuard<'_, Vec<(String, JoinHandle<()>)>> {
        self.clerks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A name that no other operation has, of this server or of one before it.
fn new_id() -> String {
    // The keys of a new hasher are random.
    format!("{:016x}", RandomState::new().build_hasher().finish())
}

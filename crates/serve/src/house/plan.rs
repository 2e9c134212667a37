//! How operations are made: what is asked for is looked up, built and started.

use crate::{
    clerk, conductor, describe,
    house::Refusal,
    operation::Set,
    outlet::{Now, Outlet},
    play::{Book, Exercising, Lab, Play, Replaying},
    wire::{OperationInfo, OperationKind, Replay},
};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};
use tokio::sync::mpsc;
use trocar_scene::{
    Player, Scene, Simulation,
    recording::{BUILD, Recording},
};
use trocar_train::records::ResultDetail;

/// An operation that is to be built.
pub enum Plan {
    Lab {
        id: String,
        scene: Scene,
    },
    Exercise {
        book: Book,
        profile: String,
    },
    Replay {
        path: PathBuf,
        detail: Box<ResultDetail>,
    },
}

/// An operation that only has to be started.
pub struct Built {
    info: OperationInfo,
    set: Set,
    now: Now,
    /// Whose it is.
    profile: Option<i64>,
    make: Make,
}

/// Makes what is run; what is to be kept goes to the sender.
type Make = Box<
    dyn FnOnce(Outlet, mpsc::UnboundedSender<clerk::Deed>) -> Result<Box<dyn Play>, Refusal> + Send,
>;

/// An operation that runs, and nobody knows of it yet.
pub struct Started {
    pub info: OperationInfo,
    pub set: Set,
    pub profile: Option<i64>,
    pub outlet: Outlet,
    /// What is to be kept of it.
    pub work: mpsc::UnboundedReceiver<clerk::Deed>,
    pub show: conductor::Show,
}

impl Built {
    /// Starts it.
    pub fn start(self) -> Result<Started, Refusal> {
        let outlet = Outlet::new(self.now);
        let (deeds, work) = mpsc::unbounded_channel();
        let play = (self.make)(outlet.clone(), deeds)?;
        let show = conductor::start(play, Arc::clone(&self.set.desk)).map_err(|error| {
            Refusal::fault(format!("The system gives no thread for it: {error}"))
        })?;
        Ok(Started {
            info: self.info,
            set: self.set,
            profile: self.profile,
            outlet,
            work,
            show,
        })
    }
}

fn info(kind: OperationKind, title: &str, subject: &str) -> OperationInfo {
    OperationInfo {
        id: String::new(),
        kind,
        title: title.into(),
        subject: subject.into(),
        level: None,
        profile: None,
        result: None,
        watching: 0,
        controlled: false,
    }
}

impl Plan {
    /// Builds the matter of it; takes a moment.
    pub fn build(self, threads: usize) -> Result<Built, Refusal> {
        match self {
            Self::Lab { id, scene } => lab(&id, &scene, threads),
            Self::Exercise { book, profile } => exercise(book, profile, threads),
            Self::Replay { path, detail } => replay(&path, *detail, threads),
        }
    }
}

fn lab(id: &str, scene: &Scene, threads: usize) -> Result<Built, Refusal> {
    let simulation = Simulation::new(scene, threads).map_err(Refusal::fault)?;
    let set = Set::of(&simulation, scene.main().file.about.trim(), false);
    let desk = Arc::clone(&set.desk);
    Ok(Built {
        info: info(OperationKind::Lab, scene.name(), id),
        set,
        now: Now {
            parameters: describe::parameters(&simulation),
            bounds: describe::bounds(&simulation),
            flags: describe::flags(&simulation),
            ..Now::default()
        },
        profile: None,
        make: Box::new(|outlet, _| Ok(Box::new(Lab::new(simulation, desk, outlet)))),
    })
}

fn exercise(book: Book, who: String, threads: usize) -> Result<Built, Refusal> {
    let exercise = Arc::clone(&book.exercise);
    let level = &exercise.levels[book.level];
    let simulation = Simulation::new(&level.scene, threads).map_err(Refusal::fault)?;
    // It waits for whoever operates.
    let set = Set::of(&simulation, &exercise.about, true);
    let desk = Arc::clone(&set.desk);
    Ok(Built {
        info: OperationInfo {
            level: Some(level.name.clone()),
            profile: Some(who),
            ..info(OperationKind::Exercise, &exercise.title, &exercise.id)
        },
        set,
        now: Now::default(),
        profile: Some(book.profile),
        make: Box::new(|outlet, deeds| {
            let play = Exercising::new(book, simulation, desk, outlet, deeds);
            Ok(Box::new(play.map_err(Refusal::fault)?))
        }),
    })
}

fn replay(path: &Path, detail: ResultDetail, threads: usize) -> Result<Built, Refusal> {
    let recording = Recording::read(path).map_err(Refusal::fault)?;
    let replay = |player: &Player| Replay {
        duration: player.duration(),
        differs_at: None,
        same_build: player.recording().build == BUILD,
        complete: player.recording().complete,
        events: detail
            .events
            .iter()
            .cloned()
            .map(describe::marker)
            .collect(),
    };
    let scout = Player::new(recording.clone(), 1).map_err(Refusal::fault)?;
    let player = Player::new(recording, threads).map_err(Refusal::fault)?;
    Ok(Built {
        info: OperationInfo {
            level: Some(detail.row.level.clone()),
            profile: Some(detail.profile_name.clone()),
            result: Some(detail.row.id),
            ..info(
                OperationKind::Replay,
                &detail.row.exercise_title,
                &detail.row.exercise,
            )
        },
        set: Set::of(player.simulation(), "", false),
        now: Now {
            replay: Some(replay(&player)),
            ..Now::default()
        },
        profile: None,
        make: Box::new(|outlet, _| Ok(Box::new(Replaying::new(player, scout, outlet)))),
    })
}

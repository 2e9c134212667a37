//! An exercise as read and checked.

mod check;

use crate::{
    file::{ExerciseFile, LevelFile, Trigger},
    measure::Measure,
    place::{Key, Page},
};
use glam::DVec3;
use std::path::{Component, Path};
use thiserror::Error;
use trocar_scene::{
    Bundle, Scene, SceneError,
    recording::{Attachment, Recording},
};

/// Largest exercise file, bytes. It is text that people write.
const MAX_FILE: u64 = 1 << 20;

/// Name of the attachment of a recording that holds the exercise file.
const EXERCISE: &str = "exercise";

/// Name of the attachment of a recording that names the level.
const LEVEL: &str = "level";

/// Why an exercise can't be read or run.
#[derive(Debug, Error)]
pub enum TrainError {
    /// A file is wrong: where, why, and what to do.
    #[error(transparent)]
    File(#[from] SceneError),
    /// The exercise has no such level.
    #[error("the exercise \"{exercise}\" has no level {level}")]
    NoLevel {
        /// The exercise's title.
        exercise: String,
        /// What was asked for.
        level: String,
    },
    /// The simulation is not of the level's scene, or the scene can't be built.
    #[error("the simulation does not fit the exercise: {0}")]
    Unfit(String),
}

/// An exercise.
#[derive(Clone, Debug)]
pub struct Exercise {
    /// Its short name: that of its file without ".toml".
    pub id: String,
    /// What it is called.
    pub title: String,
    /// What it is about.
    pub about: String,
    /// What it trains.
    pub skills: Vec<String>,
    /// What the trainee reads before the start, a paragraph each.
    pub instructions: Vec<String>,
    /// The instrument that is watched.
    pub instrument: String,
    /// The tissue whose stretch is measured.
    pub tissue: Option<String>,
    /// What is said when something goes wrong.
    pub hints: Vec<Hint>,
    /// The levels, easiest first; at least one.
    pub levels: Vec<Level>,
    /// The exercise file: its name and its text.
    file: (String, String),
}

/// A level of an exercise.
#[derive(Clone, Debug)]
pub struct Level {
    /// Its short name, such as "easy".
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// What makes it different.
    pub about: String,
    /// Its scene.
    pub scene: Scene,
    /// Score from which it is passed, 0 to 100.
    pub pass_mark: f64,
    /// Time after which it ends, s.
    pub time_limit: Option<f64>,
    /// What is to be done, in order; at least one goal.
    pub goals: Vec<Goal>,
    /// What the score is made of.
    pub score: Vec<ScorePart>,
}

/// What must not be exceeded while a goal is worked on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// Greatest force at the tip, N.
    pub force: Option<f64>,
    /// Greatest stretch; 0.5 is half as long again as at rest.
    pub stretch: Option<f64>,
}

/// Something to be done.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    /// Its short name.
    pub id: String,
    /// A few words.
    pub title: String,
    /// What to do.
    pub instruction: String,
    /// What has to come about.
    pub aim: Aim,
    /// What must not be exceeded meanwhile.
    pub limits: Limits,
}

/// A ball in space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ball {
    /// Its centre, m.
    pub centre: DVec3,
    /// Its radius, m.
    pub radius: f64,
}

/// A point of a tissue: the closest one of its surface at rest to `at` (m).
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// The tissue.
    pub tissue: String,
    /// Where, at rest.
    pub at: DVec3,
}

/// What has to come about for a goal to be reached.
#[derive(Clone, Debug, PartialEq)]
pub enum Aim {
    /// The tissue is held, within `radius` (m) of the point if there is one.
    Grasp {
        /// The tissue.
        tissue: String,
        /// The marked spot: its centre at rest, and its radius, m.
        spot: Option<(DVec3, f64)>,
    },
    /// Something stays in a ball.
    Carry {
        /// What: a point of a tissue; or, if none, what is held.
        what: Option<Material>,
        /// The ball.
        ball: Ball,
        /// How long, s.
        hold: f64,
    },
    /// The tip stays somewhere.
    Touch {
        /// Where.
        place: Place,
        /// How long, s.
        hold: f64,
    },
    /// What is held is let go gently.
    Release {
        /// What has to be inside the ball: a point of a tissue; or, if none, what is held.
        what: Option<Material>,
        /// Inside this ball.
        ball: Option<Ball>,
        /// Greatest force, N.
        force: Option<f64>,
        /// Greatest speed of the tip, m/s.
        speed: Option<f64>,
    },
    /// The endoscope looks at something.
    Look {
        /// At what.
        at: Sight,
        /// Greatest angle from the middle of the picture, rad.
        angle: f64,
        /// How long, s.
        hold: f64,
    },
}

impl Aim {
    /// How long it has to last, s.
    pub fn hold(&self) -> f64 {
        match self {
            Self::Carry { hold, .. } | Self::Touch { hold, .. } | Self::Look { hold, .. } => *hold,
            Self::Grasp { .. } | Self::Release { .. } => 0.0,
        }
    }
}

/// Where a tip may have to be.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// In a ball.
    Ball(Ball),
    /// Within a distance (m) of a point of a tissue.
    Point(Material, f64),
    /// Within a distance (m) of the surface of a tissue.
    Surface(String, f64),
}

/// What an endoscope may have to look at.
#[derive(Clone, Debug, PartialEq)]
pub enum Sight {
    /// A point in space, m.
    Point(DVec3),
    /// A point of a tissue.
    Material(Material),
}

/// A part of the score.
#[derive(Clone, Debug, PartialEq)]
pub struct ScorePart {
    /// The measure.
    pub measure: Measure,
    /// Points it gives at most, of 100; or what it costs at most, in % of what was got.
    pub points: f64,
    /// True if it is an error that costs points.
    pub costs: bool,
    /// Value that gets all points, or costs none.
    pub best: f64,
    /// Value that gets no points, or costs all.
    pub worst: f64,
    /// What to do better, if the exercise says it in words of its own.
    pub advice: Option<String>,
}

/// What is said when something goes wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Hint {
    /// When.
    pub when: Trigger,
    /// What.
    pub text: String,
    /// How long a condition has to last, s.
    pub after: f64,
    /// After what time it may be said again, s.
    pub every: f64,
    /// Only while this goal is worked on.
    pub goal: Option<String>,
}

impl Exercise {
    /// Reads an exercise file and its scenes, and checks what it says.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, TrainError> {
        let path = path.as_ref();
        let shown = path.display().to_string();
        let whole = |problem: String, remedy: &str| SceneError {
            file: shown.clone(),
            place: None,
            problem,
            remedy: remedy.into(),
        };
        let name = path.file_name().and_then(|n| n.to_str()).ok_or_else(|| {
            whole(
                "this is not the name of a file".into(),
                "Name an exercise file, such as exercises/grasp-and-lift.toml.",
            )
        })?;
        let unreadable = |e: std::io::Error| {
            whole(
                format!("it can't be read: {e}"),
                "Check the name and the file's rights.",
            )
        };
        let metadata = std::fs::metadata(path).map_err(unreadable)?;
        // Reading a pipe or a device might never end.
        if !metadata.is_file() {
            return Err(whole("it is not a file".into(), "Name an exercise file.").into());
        }
        if metadata.len() > MAX_FILE {
            return Err(whole(
                format!("it has {} bytes, more than {MAX_FILE}", metadata.len()),
                "Make it smaller.",
            )
            .into());
        }
        let text = String::from_utf8(std::fs::read(path).map_err(unreadable)?)
            .map_err(|_| whole("it is not UTF-8 text".into(), "Save the file as UTF-8."))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Self::read(name, &shown, text, |scene| Scene::load(folder.join(scene)))
    }

    /// Reads an exercise from memory: the exercise file first, in a folder such as `exercises`, then the files of its scenes
    /// in theirs.
    pub fn from_bundle(bundle: &Bundle) -> Result<Self, TrainError> {
        let missing = |file: &str| SceneError {
            file: file.into(),
            place: None,
            problem: "the file is missing".into(),
            remedy: "Put the exercise first, and all files of its scenes after it.".into(),
        };
        let (path, bytes) = bundle.files.first().ok_or_else(|| missing("(empty)"))?;
        let text = String::from_utf8(bytes.clone()).map_err(|_| SceneError {
            file: path.clone(),
            place: None,
            problem: "it is not UTF-8 text".into(),
            remedy: "Save the file as UTF-8.".into(),
        })?;
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        Self::read(name, path, text, |scene| {
            let scene = joined(folder, scene).ok_or_else(|| missing(scene))?;
            let (folder, main) = scene.rsplit_once('/').unwrap_or(("", &scene));
            // A scene knows the files of its own folder only, and itself is the first.
            let mut files: Vec<(String, Vec<u8>)> = bundle
                .files
                .iter()
                .filter_map(|(name, bytes)| {
                    let inner = match folder {
                        "" => Some(name.as_str()),
                        _ => name.strip_prefix(folder)?.strip_prefix('/'),
                    };
                    Some((inner?.to_string(), bytes.clone()))
                })
                .collect();
            let first = files
                .iter()
                .position(|f| f.0 == main)
                .ok_or_else(|| missing(&scene))?;
            files.swap(0, first);
            Scene::from_bundle(&Bundle { files })
        })
    }

    /// The exercise of a recording, with the one level that was operated and the scene as it was then; none if the
    /// recording is of no exercise.
    pub fn from_recording(recording: &Recording) -> Result<Option<Self>, TrainError> {
        let text = |name: &str| {
            let found = recording.attachments.iter().find(|a| a.name == name)?;
            Some(String::from_utf8_lossy(&found.bytes).into_owned())
        };
        let (Some(exercise), Some(wanted)) = (text(EXERCISE), text(LEVEL)) else {
            return Ok(None);
        };
        // The name of the file stands in the first line, its text in the others.
        let (name, body) = exercise.split_once('\n').unwrap_or(("exercise.toml", ""));
        let scene = Scene::from_bundle(&recording.scene)?;
        let mut exercise = Self::read(name, name, body.into(), |_| Ok(scene.clone()))?;
        exercise.levels.retain(|l| l.name == wanted);
        if exercise.levels.is_empty() {
            return Err(TrainError::NoLevel {
                exercise: exercise.title,
                level: wanted,
            });
        }
        Ok(Some(exercise))
    }

    /// What a recording of `level` has to carry so that it can be scored again. Its scene it carries anyway.
    pub fn attachments(&self, level: usize) -> Vec<Attachment> {
        let attachment = |name: &str, text: String| Attachment {
            name: name.into(),
            bytes: text.into_bytes(),
        };
        let (name, text) = &self.file;
        let level = self.levels.get(level).map_or("", |l| &l.name);
        vec![
            attachment(EXERCISE, format!("{name}\n{text}")),
            attachment(LEVEL, level.into()),
        ]
    }

    /// Index of the level called `name`.
    pub fn level(&self, name: &str) -> Option<usize> {
        self.levels.iter().position(|l| l.name == name)
    }

    /// Reads the text of an exercise; `load` gives its scenes.
    fn read(
        name: &str,
        shown: &str,
        text: String,
        load: impl Fn(&str) -> Result<Scene, SceneError>,
    ) -> Result<Self, TrainError> {
        let page = Page { shown, text: &text };
        let file = parse(&page)?;
        check::exercise(&page, &file)?;
        let mut levels = Vec::new();
        for (index, level) in file.level.iter().enumerate() {
            let at: [Key<'_>; 3] = ["level".into(), index.into(), "scene".into()];
            let (scene, at) = match &level.scene {
                Some(scene) => (scene, &at[..]),
                None => (&file.scene, &[Key::Name("scene")][..]),
            };
            check::scene_path(&page, at, scene)?;
            let loaded = load(scene).map_err(|e| {
                // A scene that can't be read is this file's mistake; one that is wrong inside is its own.
                if e.place.is_none() {
                    page.error(at, format!("{scene}: {}", e.problem), e.remedy)
                } else {
                    e
                }
            })?;
            levels.push(Self::level_of(&page, &file, index, level, loaded)?);
        }
        Ok(Self {
            id: name.strip_suffix(".toml").unwrap_or(name).into(),
            title: file.title,
            about: file.about,
            skills: file.skills,
            instructions: file.instructions,
            instrument: file.instrument,
            tissue: file.tissue,
            hints: file
                .hint
                .into_iter()
                .map(|h| Hint {
                    when: h.when,
                    text: h.text,
                    after: h.after,
                    every: h.every,
                    goal: h.goal,
                })
                .collect(),
            levels,
            file: (name.into(), text),
        })
    }

    fn level_of(
        page: &Page<'_>,
        file: &ExerciseFile,
        index: usize,
        level: &LevelFile,
        scene: Scene,
    ) -> Result<Level, SceneError> {
        let check = check::Checker {
            page,
            file,
            level,
            index,
        };
        check.names(&scene)?;
        Ok(Level {
            name: level.name.clone(),
            title: level.title.clone(),
            about: level.about.clone(),
            scene,
            pass_mark: check.pass_mark()?,
            time_limit: check.time_limit()?,
            goals: check.goals()?,
            score: check.score()?,
        })
    }
}

fn parse(page: &Page<'_>) -> Result<ExerciseFile, SceneError> {
    toml::from_str(page.text).map_err(|e| SceneError {
        file: page.shown.into(),
        place: e.span().map(|s| page.place(s.start)),
        problem: e.message().trim_end().to_string(),
        remedy: "`trocar exercise schema` prints what an exercise file may contain.".into(),
    })
}

/// `name` as seen from `folder`; none if it leaves everything.
fn joined(folder: &str, name: &str) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    for part in Path::new(folder).join(name).components() {
        match part {
            Component::Normal(part) => parts.push(part.to_str()?.into()),
            Component::CurDir => {}
            Component::ParentDir => {
                parts.pop()?;
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(parts.join("/"))
}

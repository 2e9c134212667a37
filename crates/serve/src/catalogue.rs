//! The scenes and exercises that a server has.

use crate::{
    describe,
    wire::{ExerciseInfo, SceneDescription, SceneInfo},
};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};
use trocar_scene::{Bundle, Scene, SceneError, Simulation};
use trocar_train::{Exercise, TrainError};

/// Scenes for the Lab, and exercises.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    scenes: Vec<(String, Scene)>,
    exercises: Vec<Arc<Exercise>>,
}

impl Catalogue {
    /// With this scene alone; its id is `scene`.
    pub fn of_scene(scene: Scene) -> Self {
        let mut catalogue = Self::default();
        catalogue.add_scene("scene", scene);
        catalogue
    }

    /// Adds a scene to the Lab. Gives its id: `id`, or if another has it, one like it.
    pub fn add_scene(&mut self, id: &str, scene: Scene) -> String {
        let id = free(id, |id| self.scene(id).is_some());
        self.scenes.push((id.clone(), scene));
        id
    }

    /// Adds an exercise, unless it is there already.
    pub fn add_exercise(&mut self, exercise: Exercise) -> Result<(), String> {
        if self.exercise(&exercise.id).is_some() {
            return Err(format!(
                "there is another exercise called \"{}\"; rename the file",
                exercise.id
            ));
        }
        self.exercises.push(Arc::new(exercise));
        Ok(())
    }

    /// Adds all scenes that lie in `folder`. What can't be read is left out; gives what is wrong with it.
    pub fn read_scenes(&mut self, folder: &Path) -> Vec<String> {
        let mut problems = Vec::new();
        for file in files(folder, &mut problems) {
            match Scene::load(&file) {
                Ok(scene) => {
                    self.add_scene(&stem(&file), scene);
                }
                Err(error) => problems.push(error.to_string()),
            }
        }
        problems
    }

    /// Adds all exercises that lie in `folder`. What can't be read is left out; gives what is wrong with it.
    pub fn read_exercises(&mut self, folder: &Path) -> Vec<String> {
        let mut problems = Vec::new();
        for file in files(folder, &mut problems) {
            let added = Exercise::load(&file)
                .map_err(|e| e.to_string())
                .and_then(|e| {
                    self.add_exercise(e)
                        .map_err(|problem| format!("{}: {problem}", file.display()))
                });
            problems.extend(added.err());
        }
        problems
    }

    /// Adds all scenes and exercises of files in memory: names such as `scenes/pendulum.toml`,
    /// `scenes/parts/liver.obj` and `exercises/grasp-and-lift.toml`. Gives what is wrong with those that are left out.
    pub fn add_files(&mut self, files: &[(&str, &[u8])]) -> Vec<String> {
        let mut problems = Vec::new();
        let owned = |f: &(&str, &[u8])| (f.0.to_string(), f.1.to_vec());
        for (name, _) in files.iter().filter(|f| in_folder(f.0, "scenes/")) {
            let inside = |f: &&(&str, &[u8])| f.0.starts_with("scenes/");
            let mut bundle = Bundle {
                files: files.iter().filter(inside).map(owned).collect(),
            };
            let short = |name: &str| name.trim_start_matches("scenes/").to_string();
            bundle.files.iter_mut().for_each(|f| f.0 = short(&f.0));
            first(&mut bundle, &short(name));
            match Scene::from_bundle(&bundle) {
                Ok(scene) => {
                    self.add_scene(&stem(Path::new(name)), scene);
                }
                Err(error) => problems.push(error.to_string()),
            }
        }
        for (name, _) in files.iter().filter(|f| in_folder(f.0, "exercises/")) {
            let mut bundle = Bundle {
                files: files.iter().map(owned).collect(),
            };
            first(&mut bundle, name);
            let added = Exercise::from_bundle(&bundle)
                .map_err(|e: TrainError| e.to_string())
                .and_then(|e| self.add_exercise(e));
            problems.extend(added.err());
        }
        problems
    }

    /// The exercises.
    pub fn exercises(&self) -> Vec<ExerciseInfo> {
        self.exercises
            .iter()
            .map(|e| describe::exercise(e))
            .collect()
    }

    /// The exercise with this id.
    pub fn exercise(&self, id: &str) -> Option<&Arc<Exercise>> {
        self.exercises.iter().find(|e| e.id == id)
    }

    /// The Lab's scene with this id.
    pub fn scene(&self, id: &str) -> Option<&Scene> {
        self.scenes.iter().find(|s| s.0 == id).map(|s| &s.1)
    }

    /// The Lab's scenes.
    pub fn scenes(&self) -> impl Iterator<Item = (&str, &Scene)> {
        self.scenes.iter().map(|s| (s.0.as_str(), &s.1))
    }

    /// A scene of the Lab, or one of an exercise, as `exercise:level`.
    pub fn any_scene(&self, id: &str) -> Option<&Scene> {
        if let Some((exercise, level)) = id.split_once(':') {
            let exercise = self.exercise(exercise)?;
            return Some(&exercise.levels.get(exercise.level(level)?)?.scene);
        }
        self.scene(id)
    }
}

/// What is known of a scene once it has been built.
pub struct Described {
    /// How it is listed.
    pub info: SceneInfo,
    /// How it is drawn.
    pub scene: SceneDescription,
}

/// Descriptions of scenes, made when they are first asked for. Scenes with the same files share one.
pub struct Gallery {
    known: BTreeMap<u64, OnceLock<Result<Arc<Described>, SceneError>>>,
}

impl Gallery {
    /// Of all scenes of a catalogue.
    pub fn new(catalogue: &Catalogue) -> Self {
        let levels = catalogue.exercises.iter().flat_map(|e| &e.levels);
        let scenes = catalogue.scenes.iter().map(|s| &s.1);
        let known = scenes
            .chain(levels.map(|l| &l.scene))
            .map(|s| (s.bundle.hash(), OnceLock::new()))
            .collect();
        Self { known }
    }

    /// Describes a scene. This may take a moment, the first time.
    pub fn describe(&self, scene: &Scene) -> Result<Arc<Described>, SceneError> {
        let describe = || {
            let simulation = Simulation::new(scene, 1)?;
            Ok(Arc::new(described(&simulation, scene)))
        };
        match self.known.get(&scene.bundle.hash()) {
            Some(known) => known.get_or_init(describe).clone(),
            None => describe(),
        }
    }
}

fn described(simulation: &Simulation, scene: &Scene) -> Described {
    let model = simulation.model();
    let about = scene.main().file.about.trim();
    let nodes = model.start.iter().map(trocar_dynamics::Nodes::len);
    Described {
        info: SceneInfo {
            id: String::new(),
            name: model.name.clone(),
            about: about.into(),
            tissues: model.tissues.len() as u32,
            nodes: nodes.sum::<usize>() as u32,
            elements: model.tissues.iter().map(|t| t.elements).sum::<usize>() as u32,
            instruments: model.tools.len() as u32,
        },
        scene: describe::scene(simulation, about),
    }
}

/// The TOML files that lie in `folder`, by name.
fn files(folder: &Path, problems: &mut Vec<String>) -> Vec<PathBuf> {
    let read = || -> std::io::Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|e| e == "toml") {
                files.push(path);
            }
        }
        files.sort();
        Ok(files)
    };
    read().unwrap_or_else(|error| {
        problems.push(format!("{}: {error}", folder.display()));
        Vec::new()
    })
}

fn stem(file: &Path) -> String {
    file.file_stem()
        .map(|s| s.to_string_lossy().into_owned())
        .unwrap_or_default()
}

/// True for TOML files that lie in `folder` itself.
fn in_folder(name: &str, folder: &str) -> bool {
    name.strip_prefix(folder)
        .is_some_and(|rest| !rest.contains('/') && rest.ends_with(".toml"))
}

/// Puts the file called `name` first.
fn first(bundle: &mut Bundle, name: &str) {
    if let Some(at) = bundle.files.iter().position(|f| f.0 == name) {
        bundle.files[..=at].rotate_right(1);
    }
}

/// `wish`, or with a number behind it if that is taken. Colons are what levels are named with.
fn free(wish: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let wish = wish.replace([':', '/'], "-");
    let mut id = wish.clone();
    let mut more = 2;
    while is_taken(&id) || id.is_empty() {
        id = format!("{wish}-{more}");
        more += 1;
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use std::fs;

    #[test]
    fn broken_files_are_left_out_and_told_with_their_place() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        put("good.toml", include_str!("../tests/common/scene.toml"));
        put("broken.toml", "trocar = 1\nthis is = no toml");
        put("notes.txt", "not a scene");
        fs::create_dir(folder.path().join("folder.toml")).unwrap();
        let mut catalogue = Catalogue::default();
        let problems = catalogue.read_scenes(folder.path());
        assert_eq!(
            catalogue.scenes().map(|s| s.0).collect::<Vec<_>>(),
            ["good"]
        );
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(problems[0].contains("broken.toml:2:"), "{problems:?}");
        assert_eq!(catalogue.read_exercises(folder.path()).len(), 3);
        assert!(catalogue.exercises().is_empty());
        assert_eq!(catalogue.read_scenes(Path::new("/nowhere")).len(), 1);
    }

    #[test]
    fn two_scenes_of_one_name_are_both_there() {
        let mut catalogue = Catalogue::of_scene(sample::scene());
        assert_eq!(catalogue.add_scene("scene", sample::scene()), "scene-2");
        assert_eq!(catalogue.add_scene("a:b", sample::scene()), "a-b");
        assert!(catalogue.any_scene("scene-2").is_some());
        assert!(catalogue.any_scene("scene:2").is_none());
        let gallery = Gallery::new(&catalogue);
        let described = gallery.describe(&sample::scene()).unwrap();
        assert_eq!(described.info.name, "Bench top");
        assert!(described.info.nodes > 40 && described.info.elements > 40);
        let again = gallery.describe(&sample::scene()).unwrap();
        assert!(Arc::ptr_eq(&described, &again));
    }

    #[test]
    fn scenes_in_memory_keep_their_parts() {
        let text = include_bytes!("../tests/common/scene.toml");
        let mut catalogue = Catalogue::default();
        let problems = catalogue.add_files(&[
            ("scenes/b.toml", b"trocar = 1\ninclude = [\"parts/x.toml\"]"),
            ("scenes/a.toml", text),
            ("scenes/parts/x.toml", b"trocar = 1"),
            ("exercises/bad.toml", b"nonsense"),
        ]);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].contains("bad.toml"), "{problems:?}");
        let ids: Vec<&str> = catalogue.scenes().map(|s| s.0).collect();
        assert_eq!(ids, ["b", "a"]);
    }
}

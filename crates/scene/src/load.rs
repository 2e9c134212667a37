//! Reading a scene file with everything it includes.

use crate::file::{FormSpec, SceneFile, World};
use serde::{Deserialize, Serialize};
use std::{
    fmt,
    path::{Component, Path, PathBuf},
};
use toml::de::DeValue;
use trocar_mesh::{Format, Surface};
use xxhash_rust::xxh3::xxh3_64;

/// Largest scene file, bytes. A scene is text that people write.
const MAX_SCENE: u64 = 64 << 20;

/// Largest mesh a scene may include, bytes.
const MAX_MESH: u64 = 256 << 20;

/// The largest world, m.
const MAX_REACH: f64 = 1e4;

/// Most scene files in one scene.
const MAX_FILES: usize = 64;

/// One step of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A key of a table.
    Name(&'static str),
    /// An index of an array.
    Index(usize),
}

impl From<&'static str> for Key {
    fn from(name: &'static str) -> Self {
        Self::Name(name)
    }
}

impl From<usize> for Key {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

/// What is wrong with a scene, where, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SceneError {
    /// The file, as it was named.
    pub file: String,
    /// Line and column, counted from 1; none if the file as a whole is meant.
    pub place: Option<(usize, usize)>,
    /// What is wrong.
    pub problem: String,
    /// What to do.
    pub remedy: String,
}

impl fmt::Display for SceneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if let Some((line, column)) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.problem)?;
        if !self.remedy.is_empty() {
            write!(f, "\n  {}", self.remedy)?;
        }
        Ok(())
    }
}

impl std::error::Error for SceneError {}

impl SceneError {
    fn whole(file: &str, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            place: None,
            problem: problem.into(),
            remedy: remedy.into(),
        }
    }
}

/// All files of a scene, the scene itself first: what a recording keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bundle {
    /// Name, relative to the scene's folder, and contents.
    pub files: Vec<(String, Vec<u8>)>,
}

impl Bundle {
    /// An error of the scene as a whole: a surface that nothing could touch.
    pub(crate) fn refused(&self, error: &trocar_collide::tree::TreeError) -> SceneError {
        let name = self.files.first().map_or("scene", |f| f.0.as_str());
        SceneError::whole(
            name,
            format!("a tissue's surface can't be touched: {error}"),
            "give every triangle corners that exist",
        )
    }

    /// A number that changes with any byte of any file.
    pub fn hash(&self) -> u64 {
        let mut bytes = Vec::new();
        for (name, contents) in &self.files {
            bytes.extend((name.len() as u64).to_le_bytes());
            bytes.extend(name.as_bytes());
            bytes.extend((contents.len() as u64).to_le_bytes());
            bytes.extend(contents);
        }
        xxh3_64(&bytes)
    }

    fn get(&self, name: &str) -> Option<&[u8]> {
        self.files
            .iter()
            .find(|f| f.0 == name)
            .map(|f| f.1.as_slice())
    }
}

/// Where files come from.
enum Shelf<'a> {
    /// A folder; nothing outside it is read.
    Folder(PathBuf),
    /// Memory.
    Bundle(&'a Bundle),
}

/// One scene file of a scene.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its name, relative to the scene's folder.
    pub name: String,
    /// Its name as the user would type it.
    shown: String,
    text: String,
    /// What it says.
    pub file: SceneFile,
    /// How far coordinates of the scene may lie from its origin, m.
    pub reach: f64,
}

impl Source {
    /// An error at a place of this file.
    pub fn error(
        &self,
        at: &[Key],
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> SceneError {
        SceneError {
            file: self.shown.clone(),
            place: locate(&self.text, at),
            problem: problem.into(),
            remedy: remedy.into(),
        }
    }
}

/// A scene as read: its files, and what they say. [`Model::build`](crate::build::Model::build) checks what
/// they mean.
#[derive(Clone, Debug)]
pub struct Scene {
    /// All files, to be kept with a recording.
    pub bundle: Bundle,
    /// The scene files: included ones first, the scene itself last.
    pub sources: Vec<Source>,
    /// Meshes that scenery includes, by name.
    pub meshes: Vec<(String, Surface)>,
}

impl Scene {
    /// The same scene with the triangles of every membrane cut into four once more: what depends on the mesh comes out otherwise. It can't be recorded, as it is in no file.
    pub fn with_finer_membranes(&self) -> Self {
        let mut finer = self.clone();
        for source in &mut finer.sources {
            for membrane in &mut source.file.membrane {
                membrane.refine = membrane.refine.saturating_add(1);
            }
        }
        finer
    }

    /// Reads a scene file with all it includes.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, SceneError> {
        let path = path.as_ref();
        let shown = path.display().to_string();
        let name = path.file_name().and_then(|n| n.to_str()).ok_or_else(|| {
            SceneError::whole(
                &shown,
                "this is not the name of a file",
                "Name a scene file, such as scenes/gallbladder.toml.",
            )
        })?;
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let folder = folder.canonicalize().map_err(|e| {
            SceneError::whole(
                &shown,
                format!("its folder can't be opened: {e}"),
                "Check the path.",
            )
        })?;
        // Names inside the scene are relative to its folder; show them as the user would type them.
        let shown = |name: &str| path.with_file_name(name).display().to_string();
        let mut scene = Self::read(&Shelf::Folder(folder), name).map_err(|mut error| {
            error.file = shown(&error.file);
            error
        })?;
        for source in &mut scene.sources {
            source.shown = shown(&source.name);
        }
        Ok(scene)
    }

    /// Reads a scene from memory.
    pub fn from_bundle(bundle: &Bundle) -> Result<Self, SceneError> {
        let Some((name, _)) = bundle.files.first() else {
            return Err(SceneError::whole(
                "(empty)",
                "there is no scene in it",
                "Put the scene file first.",
            ));
        };
        Self::read(&Shelf::Bundle(bundle), name)
    }

    /// Reads a scene from text without includes; for tests and tools.
    pub fn from_text(name: &str, text: &str) -> Result<Self, SceneError> {
        Self::from_bundle(&Bundle {
            files: vec![(name.into(), text.as_bytes().to_vec())],
        })
    }

    fn read(shelf: &Shelf<'_>, name: &str) -> Result<Self, SceneError> {
        let mut scene = Self {
            bundle: Bundle::default(),
            sources: Vec::new(),
            meshes: Vec::new(),
        };
        scene.add(shelf, name, &mut Vec::new())?;
        let worlds = scene.sources.iter().filter_map(|s| s.file.world);
        // What is no number must not hide behind one that is.
        let larger = |a: f64, b: f64| if b.is_nan() || b > a { b } else { a };
        let reach = worlds.map(|w| w.reach).fold(World::default().reach, larger);
        if reach.is_nan() || reach > MAX_REACH {
            return Err(scene.main().error(
                &[Key::Name("world"), Key::Name("reach")],
                format!("a reach of {reach} m is too far"),
                format!("Choose at most {MAX_REACH} m."),
            ));
        }
        scene.sources.iter_mut().for_each(|s| s.reach = reach);
        scene.read_meshes(shelf)?;
        Ok(scene)
    }

    /// The main file.
    pub fn main(&self) -> &Source {
        // `read` has added at least the main file, and adds it last.
        &self.sources[self.sources.len() - 1]
    }

    /// The scene's name; that of its file if it has none.
    pub fn name(&self) -> &str {
        let main = self.main();
        if main.file.name.is_empty() {
            &main.name
        } else {
            &main.file.name
        }
    }

    fn add(
        &mut self,
        shelf: &Shelf<'_>,
        name: &str,
        open: &mut Vec<String>,
    ) -> Result<(), SceneError> {
        if self.bundle.files.len() >= MAX_FILES {
            return Err(SceneError::whole(
                name,
                format!("the scene has more than {MAX_FILES} files"),
                "Merge some of them.",
            ));
        }
        let bytes = shelf
            .read(name, MAX_SCENE)
            .map_err(|p| SceneError::whole(name, p.0, p.1))?;
        self.bundle.files.push((name.into(), bytes.clone()));
        let text = String::from_utf8(bytes).map_err(|_| {
            SceneError::whole(name, "it is not UTF-8 text", "Save the file as UTF-8.")
        })?;
        let file = parse(name, &text)?;
        let source = Source {
            name: name.into(),
            shown: name.into(),
            text,
            file,
            reach: World::default().reach,
        };
        open.push(name.into());
        for (i, include) in source.file.include.iter().enumerate() {
            let at = [Key::Name("include"), Key::Index(i)];
            let inner = joined(name, include).ok_or_else(|| outside(&source, &at, include))?;
            if open.contains(&inner) {
                let circle = open.join(" → ");
                return Err(source.error(
                    &at,
                    format!("files include each other in a circle: {circle} → {inner}"),
                    "Remove one of the includes.",
                ));
            }
            if !self.sources.iter().any(|s| s.name == inner) {
                self.add(shelf, &inner, open).map_err(|e| {
                    // A file that can't be read is the includer's mistake; one that is wrong inside is its own.
                    if e.place.is_none() && e.file == inner {
                        source.error(&at, format!("{inner}: {}", e.problem), e.remedy)
                    } else {
                        e
                    }
                })?;
            }
        }
        open.pop();
        self.sources.push(source);
        Ok(())
    }

    fn read_meshes(&mut self, shelf: &Shelf<'_>) -> Result<(), SceneError> {
        for source in &self.sources {
            let of_scenery = source.file.scenery.iter().enumerate().filter_map(|(i, s)| {
                let at = vec![Key::Name("scenery"), Key::Index(i), Key::Name("mesh")];
                Some((at, s.mesh.as_ref()?))
            });
            let of_bodies = source.file.body.iter().enumerate().flat_map(|(i, body)| {
                let at = vec![Key::Name("body"), Key::Index(i), Key::Name("form")];
                let forms = body.form.as_ref().map(FormSpec::meshes).unwrap_or_default();
                forms.into_iter().map(move |mesh| (at.clone(), mesh))
            });
            let of_tissues = source.file.surface.iter().enumerate().map(|(i, tissue)| {
                let at = vec![Key::Name("surface"), Key::Index(i), Key::Name("mesh")];
                (at, &tissue.mesh)
            });
            let of_membranes = source.file.membrane.iter().enumerate();
            let of_membranes = of_membranes.filter_map(|(i, membrane)| {
                let at = vec![Key::Name("membrane"), Key::Index(i), Key::Name("mesh")];
                Some((at, membrane.mesh.as_ref()?))
            });
            let all = of_scenery.chain(of_bodies).chain(of_tissues);
            for (at, mesh) in all.chain(of_membranes) {
                let name = joined(&source.name, mesh).ok_or_else(|| outside(source, &at, mesh))?;
                if self.meshes.iter().any(|m| m.0 == name) {
                    continue;
                }
                let wrong =
                    |(problem, remedy): (String, String)| source.error(&at, problem, remedy);
                let bytes = shelf.read(&name, MAX_MESH).map_err(wrong)?;
                let surface = read_mesh(&name, &bytes).map_err(wrong)?;
                self.bundle.files.push((name.clone(), bytes));
                self.meshes.push((name, surface));
            }
        }
        Ok(())
    }

    /// A mesh that scenery or a body of `source` includes as `mesh`.
    pub fn mesh(&self, source: &Source, mesh: &str) -> Option<&Surface> {
        let name = joined(&source.name, mesh)?;
        self.meshes.iter().find(|m| m.0 == name).map(|m| &m.1)
    }
}

impl Shelf<'_> {
    /// Contents of a file of at most `limit` bytes, or a problem and its remedy.
    fn read(&self, name: &str, limit: u64) -> Result<Vec<u8>, (String, String)> {
        match self {
            Self::Bundle(bundle) => {
                let bytes = bundle.get(name).ok_or_else(|| {
                    (
                        "the file is missing".to_string(),
                        "Check the name, or add the file.".to_string(),
                    )
                })?;
                small(bytes.len() as u64, limit)?;
                Ok(bytes.to_vec())
            }
            Self::Folder(folder) => {
                let wrong = |e: std::io::Error| {
                    (
                        format!("it can't be read: {e}"),
                        "Check the name and the file's rights.".into(),
                    )
                };
                let path = folder.join(name).canonicalize().map_err(wrong)?;
                if !path.starts_with(folder) {
                    return Err((
                        "it lies outside the scene's folder".into(),
                        "Copy it into the folder of the scene.".into(),
                    ));
                }
                let metadata = std::fs::metadata(&path).map_err(wrong)?;
                // Reading a pipe or a device might never end.
                if !metadata.is_file() {
                    return Err((
                        "it is not a file".into(),
                        "Name a file, not a folder or a device.".into(),
                    ));
                }
                small(metadata.len(), limit)?;
                std::fs::read(path).map_err(wrong)
            }
        }
    }
}

/// Refuses a file of more than `limit` bytes.
fn small(size: u64, limit: u64) -> Result<(), (String, String)> {
    if size <= limit {
        return Ok(());
    }
    Err((
        format!("it has {size} bytes, more than {limit}"),
        "Make it smaller.".into(),
    ))
}

fn read_mesh(name: &str, bytes: &[u8]) -> Result<Surface, (String, String)> {
    let format = Format::of(bytes, Path::new(name)).ok_or_else(|| {
        (
            format!("{name}: its format is not known"),
            "Use STL, OBJ, PLY, OFF, VTK, VTU, MSH or IV.".to_string(),
        )
    })?;
    let mut surface = trocar_mesh::read::parse(bytes, format)
        .map_err(|e| (format!("{name}: {e}"), String::new()))?;
    surface.repair();
    surface
        .check()
        .map_err(|e| (format!("{name}: {e}"), e.remedy().to_string()))?;
    if surface.triangles.is_empty() {
        return Err((
            format!("{name}: there is no triangle in it"),
            "Export the mesh as triangles.".into(),
        ));
    }
    Ok(surface)
}

fn outside(source: &Source, at: &[Key], name: &str) -> SceneError {
    source.error(
        at,
        format!("\"{name}\" leads outside the scene's folder"),
        "Use a path relative to this file, without \"..\" beyond the scene's folder.",
    )
}

/// `name` as seen from the folder of `file`, both relative to the scene's folder; none if it leaves it.
fn joined(file: &str, name: &str) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    // A backslash would be a separator on one system and part of a name on another.
    if name.contains('\\') || name.is_empty() {
        return None;
    }
    for part in folder.join(name).components() {
        match part {
            Component::Normal(part) => parts.push(part.to_str()?.into()),
            Component::CurDir => {}
            Component::ParentDir => {
                parts.pop()?;
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

fn parse(name: &str, text: &str) -> Result<SceneFile, SceneError> {
    toml::from_str(text).map_err(|e| SceneError {
        file: name.into(),
        place: e.span().map(|s| line_and_column(text, s.start)),
        problem: e.message().trim_end().to_string(),
        remedy: "`trocar schema` prints what a scene file may contain; docs/scenes.md explains it."
            .into(),
    })
}

fn line_and_column(text: &str, byte: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(byte.min(text.len()))];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |l| l.chars().count()) + 1;
    (line, column)
}

/// Line and column of the deepest part of `at` that the file has.
fn locate(text: &str, at: &[Key]) -> Option<(usize, usize)> {
    let root = toml::de::DeTable::parse(text).ok()?;
    let mut span = None;
    let mut value: Option<&DeValue<'_>> = None;
    for key in at {
        let next = match (key, value) {
            (Key::Name(name), None) => root.get_ref().get(*name),
            (Key::Name(name), Some(inner)) => inner.get(*name),
            (Key::Index(i), Some(inner)) => inner.get(*i),
            (Key::Index(_), None) => None,
        };
        let Some(next) = next else { break };
        span = Some(next.span());
        value = Some(next.get_ref());
    }
    Some(line_and_column(text, span?.start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_inside_the_folder() {
        assert_eq!(joined("a.toml", "b.toml").as_deref(), Some("b.toml"));
        assert_eq!(
            joined("parts/a.toml", "../b.toml").as_deref(),
            Some("b.toml")
        );
        assert_eq!(
            joined("parts/a.toml", "./b/c.obj").as_deref(),
            Some("parts/b/c.obj")
        );
        for bad in ["../b.toml", "/etc/passwd", "x/../../y", "", ".", "..\\b"] {
            assert_eq!(joined("a.toml", bad), None, "{bad}");
        }
    }

    #[test]
    fn places_are_lines_and_columns() {
        let text = "trocar = 1\n\n[[organ]]\nname = \"é\"\n  rings = 3\n";
        assert_eq!(
            locate(text, &["organ".into(), 0.into(), "rings".into()]),
            Some((5, 11))
        );
        assert_eq!(
            locate(text, &["organ".into(), 0.into(), "missing".into()]).map(|p| p.0),
            Some(3)
        );
        assert_eq!(locate(text, &["nothing".into()]), None);
    }
}

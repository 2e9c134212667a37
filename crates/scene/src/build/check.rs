//! Checks on the numbers and names of a scene, with errors that say where.

use crate::load::{Key, Scene, SceneError, Source};
use std::collections::HashMap;

/// Coordinates beyond this (m) are no operating theatre; most likely they are millimetres.
pub const MAX_COORDINATE: f64 = 10.0;

/// Lightest and heaviest mass, kg. Lighter than a microgram, impulses of ties would make speeds that are no numbers.
pub const MASSES: std::ops::RangeInclusive<f64> = 1e-9..=1e3;

/// Smallest half extent of a body, m: the moments of inertia are its squares.
pub const LEAST_EXTENT: f64 = 1e-6;

/// No tissue is thicker than this to others, m.
pub(crate) const MOST_THICKNESS: f64 = 0.05;

/// Most friction: more is glue.
const MOST_FRICTION: f64 = 100.0;

/// Checks the numbers of one table of an array.
pub struct Checker<'a> {
    /// The file it stands in.
    pub source: &'a Source,
    /// The array.
    pub table: &'static str,
    /// Which one.
    pub index: usize,
}

impl Checker<'_> {
    /// An error at a key of the table.
    pub fn error(
        &self,
        at: &[Key],
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> SceneError {
        let mut path = vec![Key::Name(self.table), Key::Index(self.index)];
        path.extend_from_slice(at);
        self.source.error(&path, problem, remedy)
    }

    /// Points lie within reach.
    pub fn points(&self, points: &[[f64; 3]], key: &'static str) -> Result<(), SceneError> {
        for p in points.iter().flatten() {
            if !p.is_finite() {
                return Err(self.error(
                    &[key.into()],
                    "a coordinate is not a finite number",
                    "Correct it.",
                ));
            }
            if p.abs() > self.source.reach {
                return Err(self.error(
                    &[key.into()],
                    format!("a coordinate of {p} m is farther than {} m", self.source.reach),
                    "Trocar measures in metres: 85 mm is 0.085. A larger world says so: [world] reach.",
                ));
            }
        }
        Ok(())
    }

    /// A number from 0 to 1.
    pub fn share(&self, values: &[f64], key: &'static str) -> Result<(), SceneError> {
        match values.iter().find(|x| !(0.0..=1.0).contains(*x)) {
            None => Ok(()),
            Some(x) => Err(self.error(
                &[key.into()],
                format!("{key} has {x}; it must lie between 0 and 1"),
                "Correct the number.",
            )),
        }
    }

    /// Vectors are finite.
    pub fn finite(&self, vectors: &[[f64; 3]], what: &str) -> Result<(), SceneError> {
        if vectors.iter().flatten().all(|x| x.is_finite()) {
            return Ok(());
        }
        Err(self.error(&[], format!("{what} must be finite"), "Correct the number."))
    }

    /// A positive number.
    pub fn positive(&self, value: f64, key: &'static str) -> Result<(), SceneError> {
        if value > 0.0 && value.is_finite() {
            return Ok(());
        }
        Err(self.error(
            &[key.into()],
            format!("{key} is {value}; it must be positive"),
            "Correct the number.",
        ))
    }

    /// A mass that something in an operating theatre may have.
    pub fn mass(&self, value: f64, at: &[Key]) -> Result<(), SceneError> {
        if MASSES.contains(&value) {
            return Ok(());
        }
        let (least, most) = (MASSES.start(), MASSES.end());
        Err(self.error(
            at,
            format!("a mass of {value:?} kg is not between {least:e} and {most}"),
            "Masses are in kg: a gram is 0.001.",
        ))
    }

    /// Static and dynamic coefficient of friction.
    pub fn friction(&self, [sticking, sliding]: [f64; 2], at: &[Key]) -> Result<(), SceneError> {
        if (0.0..=MOST_FRICTION).contains(&sticking) && (0.0..=sticking).contains(&sliding) {
            return Ok(());
        }
        Err(self.error(
            at,
            format!("friction of {sticking} and {sliding} is impossible"),
            "Give static and dynamic friction: 0 to 100, the second no greater than the first.",
        ))
    }

    /// How thick a surface is to others.
    pub fn thickness(&self, value: f64, at: &[Key]) -> Result<(), SceneError> {
        if value > 0.0 && value <= MOST_THICKNESS {
            return Ok(());
        }
        Err(self.error(
            at,
            format!(
                "a contact thickness of {value:?} m is not above 0 and at most {MOST_THICKNESS}"
            ),
            "Give a part of the length of its edges, in m: a millimetre is 0.001.",
        ))
    }

    /// A positive length that fits an operating theatre.
    pub fn size(&self, value: f64, key: &'static str) -> Result<(), SceneError> {
        self.positive(value, key)?;
        if value <= MAX_COORDINATE {
            return Ok(());
        }
        Err(self.error(
            &[key.into()],
            format!("{key} of {value} m is longer than {MAX_COORDINATE} m"),
            "Trocar measures in metres: 85 mm is 0.085.",
        ))
    }
}

/// Where something with a name stands: its file, its array, its index there.
pub fn find<'a>(scene: &'a Scene, name: &str) -> Option<(&'a Source, &'static str, usize)> {
    scene.sources.iter().find_map(|source| {
        let (table, index, _) = named(source).into_iter().find(|n| n.2 == name)?;
        Some((source, table, index))
    })
}

/// Version and names of the whole scene.
pub fn scene(scene: &Scene) -> Result<(), SceneError> {
    let mut names: HashMap<&str, &Source> = HashMap::new();
    for source in &scene.sources {
        if source.file.trocar != 1 {
            return Err(source.error(
                &[Key::Name("trocar")],
                format!("this is version {} of the format", source.file.trocar),
                "This program reads version 1; a newer program may read it.",
            ));
        }
        for (table, index, name) in named(source) {
            let at = [Key::Name(table), Key::Index(index), Key::Name("name")];
            if name.trim().is_empty() {
                return Err(source.error(&at, "the name is empty", "Give it a name."));
            }
            if let Some(other) = names.insert(name, source) {
                return Err(source.error(
                    &at,
                    format!("the name \"{name}\" is taken (in {})", other.name),
                    "Names are unique in a scene.",
                ));
            }
        }
    }
    Ok(())
}

/// Everything in a file that has a name: its array, its index there, the name.
fn named(source: &Source) -> Vec<(&'static str, usize, &str)> {
    let f = &source.file;
    let lists: [(&'static str, Vec<&str>); 10] = [
        ("organ", f.organ.iter().map(|x| x.name.as_str()).collect()),
        ("pipe", f.pipe.iter().map(|x| x.name.as_str()).collect()),
        ("sheet", f.sheet.iter().map(|x| x.name.as_str()).collect()),
        ("net", f.net.iter().map(|x| x.name.as_str()).collect()),
        (
            "surface",
            f.surface.iter().map(|x| x.name.as_str()).collect(),
        ),
        (
            "membrane",
            f.membrane.iter().map(|x| x.name.as_str()).collect(),
        ),
        ("body", f.body.iter().map(|x| x.name.as_str()).collect()),
        (
            "particle",
            f.particle.iter().map(|x| x.name.as_str()).collect(),
        ),
        (
            "instrument",
            f.instrument.iter().map(|x| x.name.as_str()).collect(),
        ),
        (
            "scenery",
            f.scenery.iter().map(|x| x.name.as_str()).collect(),
        ),
    ];
    let mut all = Vec::new();
    for (table, names) in lists {
        all.extend(
            names
                .into_iter()
                .enumerate()
                .map(|(i, name)| (table, i, name)),
        );
    }
    all
}

//! Numbers of membranes that can be changed while a scene runs: what they are made of, how they stick, tear and rub (K13).

use super::{Range, Subject};
use crate::{
    Simulation,
    build::Retuned,
    file::{MeasureName, MembraneTissue},
};

/// A membrane that bears this force at a point, N, lets none slip.
const BEARS_ALL: f64 = 1e3;

/// A number of a membrane.
pub(super) struct FilmNumber {
    pub name: &'static str,
    pub unit: fn(&MembraneTissue) -> &'static str,
    pub about: &'static str,
    pub range: Range,
    /// Where it stands; none if the membrane has no such number.
    pub place: fn(&mut MembraneTissue) -> Option<&mut f64>,
}

/// Unit of thresholds.
fn of_stress(film: &MembraneTissue) -> &'static str {
    match film.tearing.map(|t| t.measure) {
        Some(MeasureName::Printed | MeasureName::Pulled) => "N",
        _ => "N/m",
    }
}

/// Every number of a membrane.
pub(super) const FILM_NUMBERS: [FilmNumber; 17] = [
    FilmNumber {
        name: "stiffness",
        unit: |_| "N/m",
        about: "Of every spring, or of the film: Young's modulus times thickness.",
        range: Range::Tenfold,
        place: |m| match (&mut m.springs, &mut m.film) {
            (Some(springs), _) => Some(&mut springs.stiffness),
            (None, Some(film)) => Some(&mut film.stiffness),
            (None, None) => None,
        },
    },
    FilmNumber {
        name: "mass",
        unit: |_| "kg",
        about: "Mass of every node.",
        range: Range::Tenfold,
        place: |m| m.springs.as_mut().map(|s| &mut s.mass),
    },
    FilmNumber {
        name: "density",
        unit: |_| "kg/m²",
        about: "Mass for each area.",
        range: Range::Tenfold,
        place: |m| m.film.as_mut().map(|f| &mut f.density),
    },
    FilmNumber {
        name: "Poisson's ratio",
        unit: |_| "",
        about: "How much narrower it gets when it is drawn longer.",
        range: Range::Within(0.5),
        place: |m| m.film.as_mut().map(|f| &mut f.poisson),
    },
    FilmNumber {
        name: "damping",
        unit: |_| "1/s",
        about: "Rate at which motion dies out.",
        range: Range::UpTo(100.0),
        place: |m| Some(&mut m.damping),
    },
    FilmNumber {
        name: "prestress",
        unit: |_| "",
        about: "How much smaller it is at rest than it lies; below 1 it is under tension.",
        range: Range::Around(0.05),
        place: |m| Some(&mut m.prestress),
    },
    FilmNumber {
        name: "bending",
        unit: |m| match m.bending {
            Some(bending) if bending.springs.is_some() => "N/m",
            _ => "N·m",
        },
        about: "What resists bending: springs between neighbours, or flexural rigidity.",
        range: Range::Tenfold,
        place: |m| {
            let bending = m.bending.as_mut()?;
            bending.springs.as_mut().or(bending.rigidity.as_mut())
        },
    },
    FilmNumber {
        name: "hold",
        unit: |m| match &m.adhesion {
            Some(adhesion) if adhesion.node.is_some() => "N/m",
            _ => "N/m³",
        },
        about: "How firmly it sticks to what is below it, for each node or each area.",
        range: Range::Tenfold,
        place: |m| {
            let adhesion = m.adhesion.as_mut()?;
            adhesion.node.as_mut().or(adhesion.area.as_mut())
        },
    },
    FilmNumber {
        name: "comes off at",
        unit: |_| "m",
        about: "Distance from where it sticks at which it begins to come off.",
        range: Range::Tenfold,
        place: |m| m.adhesion.as_mut().map(|a| &mut a.distance),
    },
    FilmNumber {
        name: "comes off in",
        unit: |_| "s",
        about: "Time in which what comes off loses its hold.",
        range: Range::Tenfold,
        place: |m| m.adhesion.as_mut().map(|a| &mut a.release),
    },
    FilmNumber {
        name: "tip tears at",
        unit: of_stress,
        about: "Stress above which a tear goes on.",
        range: Range::Tenfold,
        place: |m| m.tearing.as_mut().map(|t| &mut t.tip),
    },
    FilmNumber {
        name: "tip is fastest at",
        unit: of_stress,
        about: "Stress at a tip from which it runs as fast as it can; above that at which it tears.",
        range: Range::Tenfold,
        place: |m| m.tearing.as_mut().map(|t| &mut t.fastest),
    },
    FilmNumber {
        name: "rim tears at",
        unit: of_stress,
        about: "Stress above which a rim tears; at least that of a tip.",
        range: Range::Tenfold,
        place: |m| m.tearing.as_mut().map(|t| &mut t.edge),
    },
    FilmNumber {
        name: "inside tears at",
        unit: of_stress,
        about: "Stress above which it tears inside; at least that of a rim.",
        range: Range::Tenfold,
        place: |m| m.tearing.as_mut().map(|t| &mut t.inner),
    },
    FilmNumber {
        name: "static friction",
        unit: |_| "",
        about: "How it sticks to what touches it; at least that of sliding.",
        range: Range::Within(2.0),
        place: |m| m.friction.as_mut().map(|f| &mut f[0]),
    },
    FilmNumber {
        name: "sliding friction",
        unit: |_| "",
        about: "How it rubs on what slides along it.",
        range: Range::Within(2.0),
        place: |m| m.friction.as_mut().map(|f| &mut f[1]),
    },
    FilmNumber {
        name: "bears",
        unit: |_| "N",
        about: "Force at which a grasped point slips out of the jaws.",
        range: Range::Tenfold,
        place: |m| (m.bears < BEARS_ALL).then_some(&mut m.bears),
    },
];

impl Simulation {
    /// Membranes as they would be with other values of their numbers; the reason why not, if they can't be. Nothing changes.
    pub(crate) fn retuned(&self, values: &[(usize, f64)]) -> Result<Vec<Retuned>, String> {
        let mut specs: Vec<(usize, MembraneTissue)> = Vec::new();
        for (p, value) in values {
            let Some(Subject::Film(k, n)) = self.subjects.get(*p).copied() else {
                continue;
            };
            let place = match specs.iter().position(|s| s.0 == k) {
                Some(place) => place,
                None => {
                    let Some(spec) = self.model.film_spec(k).cloned() else {
                        continue;
                    };
                    specs.push((k, spec));
                    specs.len() - 1
                }
            };
            if let Some(number) = (FILM_NUMBERS[n].place)(&mut specs[place].1) {
                *number = *value;
            }
        }
        let made = specs
            .into_iter()
            .map(|(k, spec)| self.model.retune(k, spec));
        made.collect()
    }

    /// Takes over membranes with other numbers.
    pub(crate) fn take_retuned(&mut self, films: Vec<Retuned>) {
        if films.is_empty() {
            return;
        }
        for film in films {
            let matter = self.model.take_retuned(film);
            let friction = self.model.tissues.iter().find(|t| t.matter == matter);
            let friction = friction.and_then(|t| t.friction);
            for group in &mut self.groups {
                let ours = group.skins.iter_mut().filter(|s| s.matter == matter);
                ours.for_each(|skin| skin.friction = friction);
            }
        }
        self.renew_works();
        self.note_film_steps();
    }

    /// Needles and forceps take over numbers that have changed.
    pub(crate) fn renew_works(&mut self) {
        let works = self.groups.iter_mut().flat_map(|g| &mut g.works);
        works.for_each(|work| work.renew(&self.model));
    }
}

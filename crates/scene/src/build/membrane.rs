//! Membranes of a scene: from what the file says to sheets that tear.

use super::{
    Item, Model, Tissue,
    check::Checker,
    film::{build, path_of},
    items,
    path::Path,
};
use crate::{
    file::MembraneTissue,
    load::{Scene, SceneError},
};
use glam::DVec3;
use trocar_dynamics::MatterId;
use trocar_mesh::sheet::Sheet;
use trocar_soft::membrane::Membrane;

/// A membrane of the model, beside what it has in common with other tissues.
#[derive(Clone, Debug)]
pub struct Film {
    /// Which tissue it is.
    pub tissue: usize,
    /// Its matter.
    pub matter: MatterId,
    /// The body of prescribed motion that it sticks to, by its node; none if that does not move.
    pub ground: Option<u32>,
    /// How often it may tear in a step.
    pub calls: u32,
    /// Mean length of its edges as it was built, m.
    pub edge: f64,
    /// The curve that is drawn on it.
    pub path: Option<Path>,
    /// Ends at rest of the edges that were open from the start, m.
    pub slits: Vec<[DVec3; 2]>,
    /// As the scene has it.
    pub(crate) whole: Membrane,
}

impl Model {
    /// The membrane of a matter, if it is one.
    pub fn membrane(&self, matter: MatterId) -> Option<&Membrane> {
        let any: &dyn std::any::Any = &**self.matters.get(matter.index())?;
        any.downcast_ref()
    }

    pub(crate) fn membrane_mut(&mut self, matter: MatterId) -> Option<&mut Membrane> {
        let any: &mut dyn std::any::Any = &mut **self.matters.get_mut(matter.index())?;
        any.downcast_mut()
    }

    /// The longest substep that the membranes among `members` bear as they are now, s: a tenth below their bound, on which a mode neither
    /// grows nor dies.
    pub(crate) fn film_step(&self, members: &[MatterId]) -> f64 {
        let films = members.iter().filter_map(|m| self.membrane(*m));
        films
            .map(|film| 0.9 * trocar_dynamics::Matter::stable_step(film))
            .fold(f64::INFINITY, f64::min)
    }

    pub(super) fn add_membranes(&mut self, scene: &Scene) -> Result<(), SceneError> {
        for item in items(scene, |s| &s.file.membrane) {
            let (check, spec) = (checker(&item), item.item);
            let built = build(scene, &check, spec, self.step)?;
            let ground = match spec.adhesion.as_ref().and_then(|a| a.ground.as_ref()) {
                None => None,
                Some(name) => Some(self.ground_of(&check, name)?),
            };
            let path = match &spec.path {
                None => None,
                Some(path) => Some(path_of(&check, path)?),
            };
            let start = built.membrane.rest();
            let whole = built.membrane;
            let edge = built.edge;
            let elements = whole.sheet().edge_count() + whole.bending_springs();
            let tissue = self.tissues.len();
            let matter = self.add(&spec.name, Box::new(whole.copy_with_room()), start);
            let film = Film {
                tissue,
                matter,
                ground,
                calls: spec.tearing.map_or(1, |t| t.calls),
                edge,
                path,
                slits: built.slits,
                whole,
            };
            let triangles = numbered(film.whole.sheet()).map(|(_, t)| t).collect();
            self.tissues.push(Tissue {
                name: spec.name.clone(),
                matter,
                colour: spec.colour,
                look: spec.look,
                source: spec.source.clone(),
                bears: spec.bears,
                friction: spec.friction,
                contact_thickness: spec.contact_thickness,
                touchable: true,
                first: 0,
                centres: Vec::new(),
                triangles,
                edits: 0,
                elements,
                texture: Vec::new(),
            });
            self.films.push(film);
        }
        self.expect_all();
        Ok(())
    }

    /// What the files say of a membrane now.
    pub(crate) fn film_spec(&self, film: usize) -> Option<&MembraneTissue> {
        let item = items(self.plan(), |s| &s.file.membrane).nth(film)?;
        Some(item.item)
    }

    /// A membrane with other numbers, whole and as it is now; the reason why not, if it can't be.
    pub(crate) fn retune(&self, film: usize, spec: MembraneTissue) -> Result<Retuned, String> {
        let item = items(self.plan(), |s| &s.file.membrane).nth(film);
        let item = item.ok_or("there is no such membrane")?;
        let built = build(self.plan(), &checker(&item), &spec, self.step).map_err(|e| e.problem)?;
        let mut whole = built.membrane;
        let before = &self.films[film];
        whole.expect_tools(self.added_stiffness(before, &whole));
        let now = self.membrane(before.matter).unwrap_or(&before.whole);
        let now = whole
            .from_record(
                now.record()
                    .retuned(before.whole.material(), whole.material()),
            )
            .map_err(|e| e.to_string())?;
        let step = [&whole, &now].map(|m| 0.9 * trocar_dynamics::Matter::stable_step(m));
        let substeps = super::substeps(self.step, step[0].min(step[1]));
        if substeps > super::MAX_SUBSTEPS {
            return Err(format!("it would need {substeps} substeps in every step"));
        }
        Ok(Retuned {
            film,
            spec,
            whole,
            now,
        })
    }

    /// Takes over a membrane with other numbers; which matter it is.
    pub(crate) fn take_retuned(&mut self, new: Retuned) -> MatterId {
        let film = &mut self.films[new.film];
        film.calls = new.spec.tearing.map_or(1, |t| t.calls);
        film.whole = new.whole;
        let matter = film.matter;
        self.matters[matter.index()] = Box::new(new.now);
        let tissue = &mut self.tissues[film.tissue];
        (tissue.bears, tissue.friction) = (new.spec.bears, new.spec.friction);
        let lists = self.plan.sources.iter_mut().map(|s| &mut s.file.membrane);
        if let Some(place) = lists.flatten().nth(new.film) {
            *place = new.spec;
        }
        matter
    }

    /// Instruments push and hold a membrane, and elements pull at it: its substeps have to bear that.
    pub(crate) fn expect_all(&mut self) {
        for k in 0..self.films.len() {
            let film = &self.films[k];
            let stiffness = self.added_stiffness(film, &film.whole);
            let matter = film.matter;
            self.films[k].whole.expect_tools(stiffness);
            if let Some(now) = self.membrane_mut(matter) {
                now.expect_tools(stiffness);
            }
        }
    }

    /// The node of a body of prescribed motion.
    fn ground_of(&self, check: &Checker<'_>, name: &str) -> Result<u32, SceneError> {
        let look = self.looks.iter().find(|look| look.name == name);
        match look {
            Some(look) if Some(look.at.0) == self.fixtures => Ok(look.at.1),
            Some(_) => Err(check.error(
                &["adhesion".into(), "ground".into()],
                format!("{name} moves by itself: what sticks to it would have to pull it"),
                "Give it `motion = \"kinematic\"` or `\"static\"`.",
            )),
            None => Err(check.error(
                &["adhesion".into(), "ground".into()],
                format!("there is no body called \"{name}\""),
                "Check the name.",
            )),
        }
    }

    /// Puts a membrane back to how the scene has it.
    pub(crate) fn mend(&mut self, film: usize) {
        let film = &mut self.films[film];
        let m = film.matter.index();
        let tissue = &mut self.tissues[film.tissue];
        let rest = film.whole.rest();
        let shown = std::mem::take(&mut tissue.triangles);
        list_triangles(film.whole.sheet(), &mut tissue.triangles);
        if shown != tissue.triangles || self.start[m].position != rest.position {
            // Never the same number for another surface: whoever looks on compares numbers.
            tissue.edits += 1;
        }
        self.matters[m] = Box::new(film.whole.copy_with_room());
        self.start[m] = rest;
    }
}

/// The corners of a sheet's triangles.
pub(crate) fn list_triangles(sheet: &Sheet, triangles: &mut Vec<[u32; 3]>) {
    triangles.clear();
    triangles.extend(numbered(sheet).map(|(_, corners)| corners));
}

/// The triangles of a sheet, by number, and their corners.
pub(crate) fn numbered(sheet: &Sheet) -> impl Iterator<Item = (u32, [u32; 3])> {
    let corners = |t| sheet.corners(t).map(|n| n.slot() as u32);
    sheet
        .triangles()
        .map(move |t| (t.slot() as u32, corners(t)))
}

fn checker<'a>(item: &Item<'a, MembraneTissue>) -> Checker<'a> {
    Checker {
        source: item.source,
        table: "membrane",
        index: item.index,
    }
}

/// A membrane with other numbers.
pub(crate) struct Retuned {
    /// Which one.
    pub film: usize,
    spec: MembraneTissue,
    /// As the scene has it.
    pub whole: Membrane,
    now: Membrane,
}

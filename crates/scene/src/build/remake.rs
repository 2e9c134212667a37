//! Tissues, and what joins them, made anew while a scene runs (K13).

use super::{Model, answer, items, tissue};
use crate::{
    file::{EditSpec, MaterialSpec},
    load::Scene,
    parameter::single::{self, Touches},
};
use trocar_dynamics::{Matter, MatterId};
use trocar_soft::{Global, Hyper, Net, StepBounds};

/// What the scene says, as far as it can be changed.
#[derive(Default)]
pub(crate) struct Original {
    materials: Vec<MaterialSpec>,
    singles: Vec<f64>,
    bounds: Vec<StepBounds>,
}

/// What is wanted to be different.
#[derive(Default)]
pub(crate) struct Wish {
    /// Tissues and what they shall be made of.
    pub materials: Vec<(usize, MaterialSpec)>,
    /// Single numbers, by their place among all, their values, and what follows from them.
    pub singles: Vec<(usize, f64, Touches)>,
}

impl Wish {
    fn touches(&self, what: Touches) -> bool {
        self.singles.iter().any(|s| s.2 == what)
    }
}

/// New nets, and whose they are.
type Nets = Vec<(usize, Box<dyn Matter>)>;

/// What is put in place of what there was; done twice, nothing has changed.
struct Renewed {
    nets: Nets,
    hypers: Option<Vec<Hyper>>,
    globals: Option<Vec<Global>>,
}

impl Renewed {
    fn swap(&mut self, model: &mut Model) {
        for (t, net) in &mut self.nets {
            std::mem::swap(&mut model.matters[model.tissues[*t].matter.index()], net);
        }
        if let Some(hypers) = &mut self.hypers {
            std::mem::swap(&mut model.hypers, hypers);
        }
        if let Some(globals) = &mut self.globals {
            std::mem::swap(&mut model.globals, globals);
        }
    }
}

impl Model {
    /// What a tissue is made of now.
    pub(crate) fn material(&self, tissue: usize) -> Option<&MaterialSpec> {
        tissue::material_of(&self.plan, tissue)
    }

    /// The scene files as they are now.
    pub(crate) fn plan(&self) -> &Scene {
        &self.plan
    }

    /// True if a tissue is a pipe: central nodes one after the other.
    pub(crate) fn is_pipe(&self, tissue: usize) -> bool {
        let organs = items(&self.plan, |s| &s.file.organ).count();
        let pipes = items(&self.plan, |s| &s.file.pipe).count();
        (organs..organs + pipes).contains(&tissue)
    }

    /// Notes what the scene says, before anything is changed.
    pub(super) fn note_original(&mut self) {
        self.original = Original {
            materials: (0..self.tissues.len())
                .filter_map(|t| self.material(t).cloned())
                .collect(),
            singles: single::values(&mut self.plan),
            bounds: self.groups.iter().map(|g| g.bounds).collect(),
        };
    }

    /// Changes what is wished, with everything that depends on it: masses, elements, bounds. What a scene could not
    /// be built of is refused with a reason; then nothing has changed. Only the tissues concerned are made anew.
    ///
    /// Which numbers come out depends on the scene and the parameters alone, not on what they were before.
    pub(crate) fn remake(&mut self, wish: &Wish) -> Result<(), String> {
        let before: Vec<Option<MaterialSpec>> = wish
            .materials
            .iter()
            .map(|(t, _)| self.material(*t).cloned())
            .collect();
        let files = self.plan.sources.clone();
        for (t, material) in &wish.materials {
            tissue::set_material(&mut self.plan, *t, material);
        }
        single::write(&mut self.plan, &wish.singles);
        let stir = wish.materials.iter().zip(&before);
        let moved: Vec<usize> = stir
            .filter(|((_, now), then)| then.as_ref().is_none_or(|then| still(now) != still(then)))
            .map(|((t, _), _)| *t)
            .collect();
        let done = self.renew(wish, &moved);
        if done.is_err() {
            self.plan.sources = files;
        }
        done
    }

    /// Nets, copies and elements as the plan has them, and then the bounds of their groups. `moved` are tissues whose new material has a part in
    /// stability.
    fn renew(&mut self, wish: &Wish, moved: &[usize]) -> Result<(), String> {
        let mut concerned: Vec<usize> = wish.materials.iter().map(|m| m.0).collect();
        let mut stirred: Vec<usize> = moved.to_vec();
        for (_, _, touches) in &wish.singles {
            if let Touches::Tissue(t) | Touches::Ground(t) = touches {
                concerned.push(*t);
                stirred.push(*t);
            }
        }
        let signals = wish.touches(Touches::Signals);
        if signals {
            let driven = (0..self.tissues.len())
                .filter(|t| tissue::edit_of(&self.plan, *t).is_some_and(EditSpec::is_driven));
            concerned.extend(driven.clone());
            stirred.extend(driven);
        }
        // Who leads bears the mass of those that follow.
        let first = self.matters.len() - self.tissues.len();
        let follows = |t: usize| {
            let hypers = self.hypers.iter();
            let led = hypers.filter(move |h| h.slave.0.index() == first + t);
            led.map(|h| h.master.0.index() - first)
        };
        let mut leaders: Vec<usize> = match wish.touches(Touches::Copies) {
            true => (0..self.tissues.len()).collect(),
            false => concerned.clone(),
        };
        leaders = leaders.into_iter().flat_map(follows).collect();
        concerned.extend(&leaders);
        stirred.extend(&leaders);
        concerned.sort_unstable();
        concerned.dedup();
        let mut new = Renewed {
            nets: self.nets(&concerned)?,
            hypers: None,
            globals: None,
        };
        if wish.touches(Touches::Copies) {
            let all = tissue::drafts(&self.plan, first as u32).map_err(|e| e.problem)?;
            new.hypers = Some(all.hypers);
        }
        if signals || wish.touches(Touches::Elements) {
            let signals = answer::signals(&self.plan).map_err(|e| e.problem)?;
            let elements = items(&self.plan, |s| &s.file.element);
            let made = elements.map(|item| self.element(&item, &signals).map_err(|e| e.problem));
            new.globals = Some(made.collect::<Result<_, _>>()?);
        }
        let everywhere = new.hypers.is_some() || new.globals.is_some();
        new.swap(self);
        let changed: Vec<MatterId> = stirred.iter().map(|t| self.tissues[*t].matter).collect();
        let mut found: Vec<(usize, StepBounds)> = Vec::new();
        let singles = single::values(&mut self.plan);
        for (g, group) in self.groups.iter().enumerate() {
            if !everywhere && !group.members.iter().any(|m| changed.contains(m)) {
                continue;
            }
            let bounds = match self.original.bounds.get(g) {
                Some(bounds)
                    if singles == self.original.singles && self.is_original(&group.members) =>
                {
                    *bounds
                }
                _ => self.bounds(&group.members),
            };
            if let Some(trouble) = self.trouble(&group.members, &bounds) {
                new.swap(self);
                return Err(trouble.problem);
            }
            found.push((g, bounds));
        }
        for (g, bounds) in found {
            self.groups[g].bounds = bounds;
        }
        self.mark_joined();
        for (t, material) in &wish.materials {
            self.tissues[*t].bears = material.bears;
            self.tissues[*t].friction = material.friction;
        }
        for t in concerned {
            let matter = self.tissues[t].matter;
            self.tissues[t].elements = self.net(matter).map_or(0, Net::element_count);
        }
        Ok(())
    }

    /// The nets of some tissues as the plan has them.
    fn nets(&self, concerned: &[usize]) -> Result<Nets, String> {
        if concerned.is_empty() {
            return Ok(Vec::new());
        }
        let first = self.matters.len() - self.tissues.len();
        let wanted = |name: &str| concerned.iter().any(|t| self.tissues[*t].name == name);
        let drafts = tissue::drafts_of(&self.plan, first as u32, &wanted).map_err(|e| e.problem)?;
        let made = concerned.iter().map(|t| {
            let matter = MatterId((first + t) as u32);
            let net = drafts.list[*t].net(matter, &drafts);
            let net: Box<dyn Matter> = Box::new(net.map_err(|e| e.problem)?);
            Ok((*t, net))
        });
        made.collect()
    }

    /// True if all of `members` are made of what the scene says.
    fn is_original(&self, members: &[MatterId]) -> bool {
        let first = self.original.materials.iter().enumerate();
        let ours = first.filter(|(t, _)| members.contains(&self.tissues[*t].matter));
        ours.fold(true, |same, (t, material)| {
            same && self.material(t) == Some(material)
        })
    }
}

/// A material without what has no part in stability.
fn still(material: &MaterialSpec) -> MaterialSpec {
    MaterialSpec {
        bears: 0.0,
        friction: None,
        contact_thickness: None,
        gravity: false,
        source: None,
        ..material.clone()
    }
}

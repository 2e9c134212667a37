//! Tissues, and what joins them, made anew while a scene runs (K13).

use super::{Model, answer, items, tissue};
use crate::{
    file::MaterialSpec,
    load::Scene,
    parameter::single::{self, Touches},
};
use trocar_dynamics::{Bodies, BodyNumber, Matter, MatterId};
use trocar_soft::{Global, Hyper, Net, StepBounds};

/// What the scene says, as far as it can be changed.
#[derive(Default)]
pub(crate) struct Original {
    materials: Vec<MaterialSpec>,
    singles: Vec<f64>,
    bounds: Vec<StepBounds>,
    /// The bodies.
    bodies: Option<Bodies>,
    /// True while bodies are others than these.
    others: bool,
}

/// What is wanted to be different.
#[derive(Default)]
pub(crate) struct Wish {
    /// Tissues and what they shall be made of.
    pub materials: Vec<(usize, MaterialSpec)>,
    /// Single numbers, by their place among all, their values, and what follows from them.
    pub singles: Vec<(usize, f64, Touches)>,
    /// What bodies are other than the scene says, if they change: node, number, value.
    pub bodies: Option<Vec<(usize, BodyNumber, f64)>>,
}

impl Wish {
    /// True if nothing is wished.
    pub fn is_empty(&self) -> bool {
        self.materials.is_empty() && self.singles.is_empty() && self.bodies.is_none()
    }

    /// What follows from the single numbers, as far as `which` picks it out.
    fn touched<T>(&self, which: impl Fn(Touches) -> Option<T>) -> Vec<T> {
        self.singles.iter().filter_map(|s| which(s.2)).collect()
    }
}

/// New nets, and whose they are.
type Nets = Vec<(usize, Box<dyn Matter>)>;

/// Matter made anew, and which it is.
type Made = (MatterId, Box<dyn Matter>);

/// What is put in place of what there was; done twice, nothing has changed.
struct Renewed {
    nets: Nets,
    hypers: Option<Vec<Hyper>>,
    globals: Option<Vec<Global>>,
    bodies: Option<Made>,
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
        if let Some((matter, bodies)) = &mut self.bodies {
            std::mem::swap(&mut model.matters[matter.index()], bodies);
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
            bodies: self.bodies.and_then(|m| self.bodies_of(m)).cloned(),
            others: false,
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
        let written = single::write(&mut self.plan, &wish.singles);
        let differs = |which: fn(&MaterialSpec) -> MaterialSpec| -> Vec<usize> {
            let both = wish.materials.iter().zip(&before);
            both.filter(|((_, now), then)| {
                then.as_ref().is_none_or(|then| which(now) != which(then))
            })
            .map(|((t, _), _)| *t)
            .collect()
        };
        let done = match written {
            Ok(()) => self.renew(wish, differs(of_net), differs(of_bounds)),
            Err(reason) => Err(reason),
        };
        if done.is_err() {
            self.plan.sources = files;
        }
        done
    }

    /// Nets, copies and elements as the plan has them, and then the bounds of their groups. `concerned` are tissues whose new material is part of
    /// their nets, `stirred` those of them where it has a part in stability.
    fn renew(
        &mut self,
        wish: &Wish,
        mut concerned: Vec<usize>,
        mut stirred: Vec<usize>,
    ) -> Result<(), String> {
        let mut single = wish.touched(|touches| match touches {
            Touches::Tissue(t) | Touches::Ground(t) | Touches::Skin(t) => Some(t),
            _ => None,
        });
        let signals = wish.touched(|touches| match touches {
            Touches::Signal(i) => items(&self.plan, |s| &s.file.signal).nth(i),
            _ => None,
        });
        let names: Vec<&str> = signals.iter().map(|s| s.item.name.as_str()).collect();
        single.extend((0..self.tissues.len()).filter(|t| {
            let edit = tissue::edit_of(&self.plan, *t);
            edit.is_some_and(|edit| names.iter().any(|name| edit.is_driven_by(name)))
        }));
        concerned.extend(&single);
        stirred.extend(&single);
        // Who leads bears the mass of those that follow, as far as these give it back.
        let first = self.matters.len() - self.tissues.len();
        let follows = |t: usize| {
            let hypers = self.hypers.iter();
            let led = hypers.filter(move |h| h.slave.0.index() == first + t);
            led.map(|h| h.master.0.index() - first)
        };
        let coupled = wish.touched(|touches| match touches {
            Touches::Couple(i) => items(&self.plan, |s| &s.file.couple).nth(i),
            _ => None,
        });
        let slaves = coupled.iter().filter_map(|couple| {
            let name = couple.item.slave.tissue.as_deref();
            self.tissues
                .iter()
                .position(|t| Some(t.name.as_str()) == name)
        });
        let slaves: Vec<usize> = slaves.collect();
        let leaders: Vec<usize> = (concerned.iter().chain(&slaves))
            .flat_map(|t| follows(*t))
            .collect();
        concerned.extend(&leaders);
        stirred.extend(&leaders);
        concerned.sort_unstable();
        concerned.dedup();
        let mut changed: Vec<MatterId> = stirred.iter().map(|t| self.tissues[*t].matter).collect();
        let elements = wish.touched(|touches| match touches {
            Touches::Element(i) => Some(i),
            _ => None,
        });
        let mut new = Renewed {
            nets: self.nets(&concerned)?,
            hypers: self.copies(&slaves)?,
            globals: self.elements_again(&elements, &names, &mut changed)?,
            bodies: self.bodies_again(wish)?,
        };
        changed.extend(new.bodies.iter().map(|b| b.0));
        let bodies = wish.bodies.as_ref();
        let others = bodies.map_or(self.original.others, |b| !b.is_empty());
        new.swap(self);
        let mut found: Vec<(usize, StepBounds)> = Vec::new();
        let singles = single::values(&mut self.plan);
        for (g, group) in self.groups.iter().enumerate() {
            if !group.members.iter().any(|m| changed.contains(m)) {
                continue;
            }
            let bounds = match self.original.bounds.get(g) {
                Some(bounds)
                    if !others
                        && singles == self.original.singles
                        && self.is_original(&group.members) =>
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
        self.original.others = others;
        self.mark_joined();
        for (t, material) in &wish.materials {
            self.tissues[*t].bears = material.bears;
            self.tissues[*t].friction = material.friction;
            self.tissues[*t].touchable = material.touchable;
        }
        for t in &single {
            let friction = tissue::material_of(&self.plan, *t).and_then(|m| m.friction);
            self.tissues[*t].friction = friction;
        }
        for t in concerned {
            let matter = self.tissues[t].matter;
            self.tissues[t].elements = self.net(matter).map_or(0, Net::element_count);
        }
        Ok(())
    }

    /// The bodies as the scene says, but for what is wished of them; none if they do not change.
    fn bodies_again(&self, wish: &Wish) -> Result<Option<Made>, String> {
        let (Some(matter), Some(numbers)) = (self.bodies, &wish.bodies) else {
            return Ok(None);
        };
        let Some(mut bodies) = self.original.bodies.clone() else {
            return Ok(None);
        };
        for (node, number, value) in numbers {
            let changed = bodies.set(*node, *number, *value);
            changed.map_err(|bad| bad.reason.to_string())?;
        }
        Ok(Some((matter, Box::new(bodies))))
    }

    /// All copies, those of these tissues as the plan has them; none if there are no such tissues.
    fn copies(&self, slaves: &[usize]) -> Result<Option<Vec<Hyper>>, String> {
        if slaves.is_empty() {
            return Ok(None);
        }
        let mut hypers = self.hypers.clone();
        for pair in self.drafts(slaves)?.hypers {
            let same = |h: &&mut Hyper| (h.master, h.slave) == (pair.master, pair.slave);
            if let Some(old) = hypers.iter_mut().find(same) {
                *old = pair;
            }
        }
        Ok(Some(hypers))
    }

    /// All elements between things, those of these numbers and those that these signals drive as the plan has them; none if there are no such.
    /// What they join is `changed`.
    fn elements_again(
        &self,
        numbers: &[usize],
        signals: &[&str],
        changed: &mut Vec<MatterId>,
    ) -> Result<Option<Vec<Global>>, String> {
        let known = answer::signals(&self.plan).map_err(|e| e.problem)?;
        let mut globals = self.globals.clone();
        let mut any = false;
        for (i, item) in items(&self.plan, |s| &s.file.element).enumerate() {
            let drive = item.item.drive.as_ref();
            let driven = drive.is_some_and(|d| signals.contains(&d.signal.as_str()));
            if !(driven || numbers.contains(&i)) {
                continue;
            }
            let element = self.element(&item, &known).map_err(|e| e.problem)?;
            changed.extend(element.anchors().map(|a| a.matter));
            globals[i] = element;
            any = true;
        }
        Ok(any.then_some(globals))
    }

    /// Some tissues, and those coupled to them, as the plan has them.
    fn drafts(&self, tissues: &[usize]) -> Result<tissue::Drafts<'_>, String> {
        let first = self.matters.len() - self.tissues.len();
        let wanted = |name: &str| tissues.iter().any(|t| self.tissues[*t].name == name);
        tissue::drafts_of(&self.plan, first as u32, &wanted).map_err(|e| e.problem)
    }

    /// The nets of some tissues as the plan has them.
    fn nets(&self, concerned: &[usize]) -> Result<Nets, String> {
        let first = self.matters.len() - self.tissues.len();
        let drafts = self.drafts(concerned)?;
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

/// A material without what is no part of its net.
fn of_net(material: &MaterialSpec) -> MaterialSpec {
    MaterialSpec {
        bears: 0.0,
        friction: None,
        contact_thickness: None,
        touchable: true,
        source: None,
        ..material.clone()
    }
}

/// A material without what has no part in stability.
fn of_bounds(material: &MaterialSpec) -> MaterialSpec {
    MaterialSpec {
        gravity: false,
        ..of_net(material)
    }
}

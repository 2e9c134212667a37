//! Tissues made anew of another material while a scene runs (K13).

use super::{Model, tissue};
use crate::file::MaterialSpec;
use trocar_dynamics::{Matter, MatterId};
use trocar_soft::{Net, StepBounds};

/// A tissue as the scene made it.
pub(crate) struct Original {
    tissue: usize,
    material: MaterialSpec,
    net: Net,
}

/// New nets, and whose they are.
type Nets = Vec<(usize, Box<dyn Matter>)>;

impl Model {
    /// What a tissue is made of now.
    pub(crate) fn material(&self, tissue: usize) -> Option<&MaterialSpec> {
        tissue::material_of(&self.plan, tissue)
    }

    /// Makes tissues of other materials, with everything that depends on them: masses, elements, bounds. What a scene could not
    /// be built of is refused with a reason; then nothing has changed.
    ///
    /// Which numbers come out depends on the scene and the materials alone, not on what they were before.
    pub(crate) fn remake(&mut self, wanted: &[(usize, MaterialSpec)]) -> Result<(), String> {
        let before: Vec<(usize, MaterialSpec)> = wanted
            .iter()
            .filter_map(|(t, _)| Some((*t, self.material(*t)?.clone())))
            .collect();
        self.write(wanted);
        match self.renew(wanted, &before) {
            Ok(()) => Ok(()),
            Err(reason) => {
                self.write(&before);
                Err(reason)
            }
        }
    }

    fn write(&mut self, materials: &[(usize, MaterialSpec)]) {
        for (t, material) in materials {
            tissue::set_material(&mut self.plan, *t, material);
        }
    }

    /// The nets for the materials in the plan, and then the bounds of their groups.
    fn renew(
        &mut self,
        wanted: &[(usize, MaterialSpec)],
        before: &[(usize, MaterialSpec)],
    ) -> Result<(), String> {
        let mut nets = self.nets(wanted)?;
        self.keep_originals(before);
        // Puts the new nets in and takes the old ones out; done again, it undoes itself.
        let swap = |model: &mut Self, nets: &mut [(usize, Box<dyn Matter>)]| {
            for (t, net) in nets {
                std::mem::swap(&mut model.matters[model.tissues[*t].matter.index()], net);
            }
        };
        swap(self, &mut nets);
        let moved = |t: usize| {
            let ours = |list: &[(usize, MaterialSpec)]| {
                list.iter().find(|x| x.0 == t).map(|x| still(&x.1))
            };
            ours(wanted) != ours(before)
        };
        let changed: Vec<MatterId> = wanted
            .iter()
            .filter(|(t, _)| moved(*t))
            .map(|(t, _)| self.tissues[*t].matter)
            .collect();
        let mut found: Vec<(usize, StepBounds)> = Vec::new();
        for (g, group) in self.groups.iter().enumerate() {
            if !group.members.iter().any(|m| changed.contains(m)) {
                continue;
            }
            let bounds = if self.is_original(&group.members) {
                self.original_bounds[g]
            } else {
                self.bounds(&group.members)
            };
            if let Some(trouble) = self.trouble(&group.members, &bounds) {
                swap(self, &mut nets);
                return Err(trouble.problem);
            }
            found.push((g, bounds));
        }
        for (g, bounds) in found {
            self.groups[g].bounds = bounds;
        }
        self.mark_joined();
        for (t, material) in wanted {
            self.tissues[*t].bears = material.bears;
            self.tissues[*t].friction = material.friction;
            let matter = self.tissues[*t].matter;
            self.tissues[*t].elements = self.net(matter).map_or(0, Net::element_count);
        }
        Ok(())
    }

    fn nets(&self, wanted: &[(usize, MaterialSpec)]) -> Result<Nets, String> {
        let original = |t: usize, material: &MaterialSpec| {
            self.originals
                .iter()
                .find(|o| o.tissue == t && o.material == *material)
        };
        let first = self.matters.len() - self.tissues.len();
        let mut drafted = None;
        let mut nets = Nets::new();
        for (t, material) in wanted {
            let net = match original(*t, material) {
                Some(original) => original.net.clone(),
                None => {
                    let drafts = match &drafted {
                        Some(drafted) => drafted,
                        None => drafted.insert(
                            tissue::drafts(&self.plan, first as u32).map_err(|e| e.problem)?,
                        ),
                    };
                    let matter = MatterId((first + t) as u32);
                    drafts.list[*t]
                        .net(matter, &drafts.hypers)
                        .map_err(|e| e.problem)?
                }
            };
            nets.push((*t, Box::new(net)));
        }
        Ok(nets)
    }

    fn keep_originals(&mut self, before: &[(usize, MaterialSpec)]) {
        for (t, material) in before {
            if self.originals.iter().any(|o| o.tissue == *t) {
                continue;
            }
            if let Some(net) = self.net(self.tissues[*t].matter).cloned() {
                self.originals.push(Original {
                    tissue: *t,
                    material: material.clone(),
                    net,
                });
            }
        }
    }

    /// True if all of `members` are made of what the scene says.
    fn is_original(&self, members: &[MatterId]) -> bool {
        self.originals.iter().all(|o| {
            !members.contains(&self.tissues[o.tissue].matter)
                || self.material(o.tissue) == Some(&o.material)
        })
    }
}

/// A material without what has no part in stability.
fn still(material: &MaterialSpec) -> MaterialSpec {
    MaterialSpec {
        bears: 0.0,
        friction: None,
        gravity: false,
        source: None,
        ..material.clone()
    }
}

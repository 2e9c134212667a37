//! Which matter is connected, and how long its substeps may be.

use super::{Connected, MAX_SUBSTEPS, Model, check, demand::Blamed, items, substeps};
use crate::load::{Key, Scene, SceneError};
use trocar_dynamics::{Joint, MatterId};
use trocar_math::Sets;
use trocar_soft::{Hyper, Net, StepBounds, stability};

impl Model {
    /// Finds connected matter and its bounds.
    pub(super) fn connect(&mut self) {
        let first = self.prescribed();
        let mut sets = Sets::of(self.matters.len());
        let ends = self
            .ties
            .iter()
            .map(|t| (t.a.matter.index(), t.b.matter.index()));
        let ends = ends.chain(
            self.hypers
                .iter()
                .map(|h| (h.master.0.index(), h.slave.0.index())),
        );
        // All ends of an element that move, in the order they have: between two of them may be one that goes its own way.
        let pulled = self.globals.iter().flat_map(|g| {
            let mut moving = g
                .anchors()
                .map(|a| a.matter.index())
                .filter(|m| *m >= first);
            let lead = moving.next();
            moving.filter_map(move |m| Some((lead?, m)))
        });
        let ends = ends.chain(pulled);
        let joined = self.joints.iter().flat_map(Joint::anchors);
        let ends = ends.chain(joined.map(|[a, b]| (a.matter.index(), b.matter.index())));
        // What may touch is stepped together: each pushes the other.
        let touching = self
            .bodies
            .filter(|m| self.colliders.iter().any(|c| c.at.0 == *m));
        let tissues = self.tissues.iter().map(|t| t.matter.index());
        let ends = ends.chain(tissues.filter_map(|t| touching.map(|bodies| (bodies.index(), t))));
        let thick = self
            .tissues
            .iter()
            .filter(|t| t.contact_thickness.is_some());
        let thick: Vec<usize> = thick.map(|t| t.matter.index()).collect();
        let ends = ends.chain(thick.windows(2).map(|pair| (pair[0], pair[1])));
        for (a, b) in ends.filter(|(a, b)| *a >= first && *b >= first) {
            sets.join(a as u32, b as u32);
        }
        for root in first..self.matters.len() {
            let members: Vec<MatterId> = (root as u32..self.matters.len() as u32)
                .filter(|i| sets.lowest(*i) as usize == root)
                .map(MatterId)
                .collect();
            if !members.is_empty() {
                let bounds = self.bounds(&members);
                self.groups.push(Connected { members, bounds });
            }
        }
    }

    pub(super) fn bounds(&self, members: &[MatterId]) -> StepBounds {
        let nets: Vec<(MatterId, &Net)> = members
            .iter()
            .filter_map(|m| Some((*m, self.net(*m)?)))
            .collect();
        let local = |m: MatterId| {
            nets.iter()
                .position(|n| n.0 == m)
                .map(|i| MatterId(i as u32))
        };
        let hypers: Vec<Hyper> = self
            .hypers
            .iter()
            .filter_map(|h| {
                Some(Hyper {
                    master: (local(h.master.0)?, h.master.1),
                    slave: (local(h.slave.0)?, h.slave.1),
                    factor: h.factor,
                })
            })
            .collect();
        let names: Vec<MatterId> = nets.iter().map(|n| n.0).collect();
        let nets: Vec<&Net> = nets.iter().map(|n| n.1).collect();
        let mut bounds = stability::bounds_with(&nets, &hypers, &self.globals_of(&names));
        // Bodies at the ends of elements have bounds of their own.
        let bodies = self.body_step(members);
        bounds.exact = bounds.exact.min(bodies);
        bounds.safe = bounds.safe.min(0.9 * bodies);
        bounds
    }

    /// Bounds on the substep of connected matter with its membranes as they are now.
    pub fn bounds_now(&self, group: &Connected) -> StepBounds {
        let films = self.film_step(&group.members);
        StepBounds {
            exact: group.bounds.exact.min(films / 0.9),
            safe: group.bounds.safe.min(films),
            ..group.bounds
        }
    }

    pub(super) fn check_substeps(&self, scene: &Scene) -> Result<(), SceneError> {
        for group in &self.groups {
            let Some(trouble) = self.trouble(&group.members, &self.bounds_now(group)) else {
                continue;
            };
            let mut elements = items(scene, |s| &s.file.element);
            if let Some(item) = trouble.element.and_then(|i| elements.nth(i)) {
                let at: [Key; 2] = ["element".into(), item.index.into()];
                return Err(item.source.error(&at, trouble.problem, trouble.remedy));
            }
            // The stiffest member is to blame; bodies alone need no substeps.
            let member = group
                .members
                .iter()
                .min_by(|a, b| {
                    let bound = |m: &MatterId| self.matters[m.index()].stable_step();
                    bound(a).total_cmp(&bound(b))
                })
                .and_then(|m| check::find(scene, &self.names[m.index()]));
            let (source, table, index) = member.unwrap_or((scene.main(), "world", 0));
            let material = match table {
                "membrane" if source.file.membrane[index].film.is_some() => "film",
                "membrane" => "springs",
                _ => "material",
            };
            let at = [
                Key::Name(table),
                Key::Index(index),
                Key::Name(material),
                Key::Name(trouble.key),
            ];
            return Err(source.error(&at, trouble.problem, trouble.remedy));
        }
        Ok(())
    }

    /// Why connected matter with such bounds can't be stepped; none if it can.
    pub(super) fn trouble(&self, members: &[MatterId], bounds: &StepBounds) -> Option<Trouble> {
        let substeps = substeps(self.step, bounds.safe);
        if substeps <= MAX_SUBSTEPS && !bounds.flutters {
            return None;
        }
        let names: Vec<&str> = members
            .iter()
            .map(|m| self.names[m.index()].as_str())
            .collect();
        let names = names.join(", ");
        let stiffest = self.stiffest(members, bounds.safe);
        // What is stiffer than numbers can say is no matter of the scheme.
        let endless = stiffest.as_ref().is_some_and(|(_, rate)| !rate.is_finite());
        Some(if bounds.flutters && !endless {
            Trouble {
                element: None,
                key: "integrator",
                problem: format!("{names} would swing up at any step by this integrator"),
                remedy: "Raise `damping`, or choose \"mesd\".",
            }
        } else {
            let part = stiffest.as_ref().map_or_else(String::new, |(part, _)| {
                format!("; the stiffest part is {}", self.called(part))
            });
            Trouble {
                element: match stiffest {
                    Some((Blamed::Element(i), _)) => Some(i),
                    _ => None,
                },
                key: "stiffness",
                problem: format!(
                    "{names} would need {substeps} substeps in every step of {} s{part}",
                    self.step,
                ),
                remedy: "Make its springs softer, its nodes heavier or its damping greater.",
            }
        })
    }
}

/// Why matter can't be stepped.
pub(super) struct Trouble {
    /// The element between things that is to blame, by its number, if one is.
    element: Option<usize>,
    /// Which number of its material is most to blame.
    key: &'static str,
    /// What is wrong.
    pub problem: String,
    /// What to do.
    pub remedy: &'static str,
}

//! A scene to play with: the mouse pulls on things, and parameters change while it runs.

use super::Play;
use crate::{
    describe,
    desk::{Desk, Order, Ray},
    outlet::Outlet,
    wire::{NoticeKind, ServerMessage},
};
use std::{collections::BTreeMap, sync::Arc};
use trocar_dynamics::Anchor;
use trocar_scene::{Change, Flags, Input, Pull, Simulation, attributes::ALL, event::Happening};

/// The mouse never pulls harder than this, N: what a strong hand can do with an instrument.
const GREATEST_PULL: f64 = 10.0;

/// A scene of the Lab.
pub struct Lab {
    simulation: Simulation,
    input: Input,
    desk: Arc<Desk>,
    outlet: Outlet,
    held: Option<Held>,
    /// To be changed with the next step.
    pending: BTreeMap<u32, f64>,
    /// What differs from the scene: a restart keeps it (K122).
    kept: BTreeMap<u32, f64>,
}

/// What the mouse holds.
struct Held {
    anchor: Anchor,
    /// From the eye, m: the mouse moves it in a plane around the eye.
    distance: f64,
    ray: Ray,
}

impl Lab {
    /// A scene to play with.
    pub fn new(simulation: Simulation, desk: Arc<Desk>, outlet: Outlet) -> Self {
        Self {
            input: simulation.idle_input(),
            simulation,
            desk,
            outlet,
            held: None,
            pending: BTreeMap::new(),
            kept: BTreeMap::new(),
        }
    }

    fn grab(&mut self, ray: Ray) {
        let picked = self.simulation.pick(ray.origin, ray.direction);
        let name = picked.as_ref().map(|p| p.name.clone());
        self.held = picked.map(|p| Held {
            anchor: p.anchor,
            distance: p.distance,
            ray,
        });
        self.outlet.tell(&ServerMessage::Picked { name });
    }

    /// Gives a net, or all of them, other attribute bits with the next step; or tells why not.
    fn flag(&mut self, tissue: Option<u32>, word: u32) {
        let mut nets = self.simulation.flag_words();
        let name = match tissue {
            None => Some(ALL.to_owned()),
            Some(i) => nets.nth(i as usize).map(|(name, _)| name.to_owned()),
        };
        drop(nets);
        let wanted = name
            .ok_or_else(|| "there is no such tissue".to_owned())
            .and_then(|name| self.simulation.flag_changes(&name, &Flags::Word(word)));
        match wanted {
            Ok(changes) => {
                let wishes = changes.iter().map(|c| (c.parameter, c.value));
                self.pending.extend(wishes);
            }
            Err(reason) => {
                let text = format!("flags stay as they were: {reason}");
                let time = self.simulation.state().time;
                self.outlet.event(time, NoticeKind::Error, text);
            }
        }
    }

    /// Notes what was changed, and tells everybody.
    fn changed(&mut self) {
        for change in &self.input.changes {
            let Some(parameter) = self.simulation.parameters().get(change.parameter as usize)
            else {
                continue;
            };
            if parameter.value == parameter.start {
                self.kept.remove(&change.parameter);
            } else {
                self.kept.insert(change.parameter, parameter.value);
            }
        }
        self.input.changes.clear();
        self.tell_parameters();
    }

    fn tell_parameters(&self) {
        let parameters = describe::parameters(&self.simulation);
        let bounds = describe::bounds(&self.simulation);
        let flags = describe::flags(&self.simulation);
        self.outlet.note(|now| {
            now.parameters.clone_from(&parameters);
            now.bounds.clone_from(&bounds);
            now.flags.clone_from(&flags);
        });
        let message = ServerMessage::Parameters {
            parameters,
            bounds,
            flags,
        };
        self.outlet.tell(&message);
    }
}

impl Play for Lab {
    fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Restart => {
                self.simulation.restart();
                self.held = None;
                self.pending.clone_from(&self.kept);
            }
            Order::Grab(ray) => self.grab(ray),
            Order::Drag(ray) => {
                if let Some(held) = &mut self.held {
                    held.ray = ray;
                }
            }
            Order::Drop => self.held = None,
            Order::Change(parameter, value) => {
                self.pending.insert(parameter, value);
            }
            Order::Flags(tissue, word) => self.flag(tissue, word),
            Order::Finish | Order::Seek(_) => {}
        }
    }

    fn step(&mut self, part: f64) -> bool {
        self.desk.take(&mut self.input);
        self.input.iterations = self.simulation.iterations(part);
        self.input.pulls.clear();
        self.input.pulls.extend(self.held.as_ref().map(|held| Pull {
            anchor: held.anchor,
            target: held.ray.origin + held.ray.direction * held.distance,
            force: GREATEST_PULL,
        }));
        let change = |(parameter, value)| Change { parameter, value };
        let pending = std::mem::take(&mut self.pending);
        self.input.changes.extend(pending.into_iter().map(change));
        let report = self.simulation.step(&self.input);
        // Commands of the scene change parameters as well.
        let commanded = report
            .events
            .iter()
            .any(|e| matches!(e.what, Happening::Changed { .. }));
        for event in &report.events {
            let kind = match event.what {
                Happening::Refused { .. } | Happening::Quarantined { .. } => NoticeKind::Error,
                _ => NoticeKind::Info,
            };
            self.outlet.event(event.time, kind, event.what.to_string());
        }
        if !self.input.changes.is_empty() {
            self.changed();
        } else if commanded {
            self.tell_parameters();
        }
        true
    }
}

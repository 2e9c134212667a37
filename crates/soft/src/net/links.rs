//! The elements between two nodes, as they were built.

use super::parts::NetParts;
use crate::element::{Active, Drive, Driven, Element, Input, Law, Signal};
use std::collections::BTreeMap;
use trocar_dynamics::Nodes;

/// Elements in the order in which they were built. Their laws are kept once each, without their constants:
/// these are every element's own (K45).
#[derive(Clone, Debug, Default)]
pub(super) struct Links {
    pub ends: Vec<[u32; 2]>,
    pub rest_length: Vec<f64>,
    pub constant: Vec<f64>,
    /// For each element, which of `laws` it has.
    pub law: Vec<u32>,
    pub laws: Vec<Law>,
    pub signals: Vec<Signal>,
    pub actives: Vec<Active>,
    drives: Vec<Option<u32>>,
    /// Elements that yield.
    pub plastic: Vec<u32>,
}

impl Links {
    pub fn new(parts: &NetParts) -> Self {
        let elements = &parts.elements;
        let mut links = Self {
            ends: elements.iter().map(|e| e.nodes).collect(),
            rest_length: elements.iter().map(|e| e.rest_length).collect(),
            constant: elements.iter().map(|e| e.law.constant).collect(),
            signals: parts.signals.clone(),
            actives: parts.actives.clone(),
            ..Self::default()
        };
        let mut known = BTreeMap::new();
        for (i, element) in elements.iter().enumerate() {
            let law = Law {
                constant: 1.0,
                ..element.law
            };
            // Most have the law of the one before.
            let last = links.law.last().copied();
            let index = match last.filter(|l| links.laws[*l as usize] == law) {
                Some(index) => index,
                None => *known.entry(key(&law)).or_insert_with(|| {
                    links.laws.push(law);
                    links.laws.len() as u32 - 1
                }),
            };
            links.law.push(index);
            if law.plastic.is_some() {
                links.plastic.push(i as u32);
            }
        }
        links.drives = links.find_drives();
        links
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn get(&self, i: usize) -> Element {
        Element {
            nodes: self.ends[i],
            rest_length: self.rest_length[i],
            law: self.law_of(i),
        }
    }

    pub fn law_of(&self, i: usize) -> Law {
        Law {
            constant: self.constant[i],
            ..self.laws[self.law[i] as usize]
        }
    }

    /// For each element what drives it: the first of `actives` that does the same. Empty if nothing is driven.
    fn find_drives(&self) -> Vec<Option<u32>> {
        if self.actives.is_empty() {
            return Vec::new();
        }
        let mut drives = vec![None; self.len()];
        let mut known = BTreeMap::new();
        for (a, active) in self.actives.iter().enumerate() {
            let does = match active.drive {
                Drive::Force(newtons) => (active.signal, 0, newtons.to_bits()),
                Drive::Length(part) => (active.signal, 1, part.to_bits()),
                Drive::Stiffness(part) => (active.signal, 2, part.to_bits()),
            };
            drives[active.element as usize] = Some(*known.entry(does).or_insert(a as u32));
        }
        drives
    }

    /// What drives an element: the first of `actives` that does the same.
    pub fn drive(&self, i: usize) -> Option<u32> {
        self.drives.get(i).copied().flatten()
    }

    /// Stretch (m) of a spring at `time` s as its law sees it, and what it is driven to be.
    pub fn stretch(&self, nodes: &Nodes, i: usize, time: f64) -> (f64, Driven) {
        let [a, b] = self.ends[i].map(|n| nodes.position[n as usize]);
        let driven = self.drive(i).map_or(Driven::NOT, |a| self.driven(a, time));
        let flow = match self.laws[self.law[i] as usize].plastic {
            Some(_) => nodes.flow.get(i).copied().unwrap_or(0.0),
            None => 0.0,
        };
        let rest = self.rest_length[i] * driven.length;
        (a.distance(b) - rest - flow, driven)
    }

    /// What an active element is driven to be at `time` s.
    pub fn driven(&self, active: u32, time: f64) -> Driven {
        let active = &self.actives[active as usize];
        let signal = &self.signals[active.signal as usize];
        active.drive.by(signal.at(time))
    }

    /// The most that an element is ever driven to be.
    pub fn extremes(&self, i: usize) -> Driven {
        self.drive(i).map_or(Driven::NOT, |a| self.most_driven(a))
    }

    /// The most that an active element is ever driven to be.
    pub fn most_driven(&self, active: u32) -> Driven {
        let active = &self.actives[active as usize];
        active.drive.extremes(&self.signals[active.signal as usize])
    }

    /// Energy of all springs, J, as they are driven at `time` s and as far as they have flown.
    pub fn energy(&self, nodes: &Nodes, time: f64) -> f64 {
        let springs = (0..self.len()).filter(|i| self.law_of(*i).input == Input::Distance);
        let energy = |i: usize| {
            let (stretch, driven) = self.stretch(nodes, i, time);
            driven.law(&self.law_of(i)).energy(stretch) + driven.tension * stretch
        };
        springs.map(energy).sum()
    }

    /// Ends, input and greatest slope (N/m, N·s/m) of every element.
    pub fn slopes(&self) -> impl Iterator<Item = ([u32; 2], Input, f64)> + '_ {
        (0..self.len()).map(|i| {
            let law = self.law_of(i);
            let slope = match law.input {
                Input::Velocity => law.damping(),
                Input::Distance => self.spring_slope(i, &law),
            };
            (self.ends[i], law.input, slope)
        })
    }

    fn spring_slope(&self, i: usize, law: &Law) -> f64 {
        let most = self.extremes(i);
        let law = most.law(law);
        law.spring_slope(self.rest_length[i], most.length, most.tension)
    }
}

/// Two laws are the same if all their bits are.
fn key(law: &Law) -> Vec<u64> {
    let mut key = vec![law.input as u64, law.base as u64];
    let numbers = [law.gain, law.dead, law.limit];
    key.extend(numbers.as_flattened().iter().map(|x| x.to_bits()));
    if let Some(p) = &law.plastic {
        key.extend([p.yield_strain, p.hardening, p.most].map(f64::to_bits));
    }
    if let Some(pieces) = &law.pieces {
        let numbers = pieces.list().iter().flat_map(|p| [p.from, p.gain, p.shift]);
        // Marks them, so that three numbers can't be taken for a yield.
        key.push(u64::MAX);
        key.extend(numbers.map(f64::to_bits));
    }
    key
}

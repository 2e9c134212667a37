//! Single nodes and elements of a tissue that are different from what its shape makes of it (K42, K43, K76).

use super::{
    answer::{self, Signals},
    tissue::Draft,
};
use crate::{
    file::{
        CentreName, EditSpec, ElementSpec, InertiaName, InertiaSpec, NodeName, NodeSpec,
        WhichSprings,
    },
    load::{Key, SceneError},
};
use trocar_dynamics::{Lock, MassNode};
use trocar_soft::{
    Active, Element, Input, NodeFlags, OwnMemory,
    net::{Bend, Torsion, Twist},
};

impl Draft<'_> {
    /// Changes what the file says is different.
    pub fn edit(&mut self, edit: &EditSpec, signals: &Signals) -> Result<(), SceneError> {
        self.parts.signals = signals.iter().map(|s| s.1.clone()).collect();
        let springs = self.parts.elements.len();
        self.found_families(edit)?;
        self.add_nodes(edit)?;
        for (i, node) in edit.nodes.iter().enumerate() {
            self.change_node(i, node)?;
        }
        for (i, spec) in edit.driven.iter().enumerate() {
            let at = [Key::Name("edit"), Key::Name("driven"), Key::Index(i)];
            let (signal, drive) = answer::drive(&self.check, &at, &spec.drive, signals)?;
            let mut found = false;
            for e in 0..springs {
                if self.is_driven(&self.parts.elements[e], spec.which, spec.rings) {
                    found = true;
                    self.parts.actives.push(Active {
                        element: e as u32,
                        signal: signal as u32,
                        drive,
                    });
                }
            }
            if !found {
                return Err(self.check.error(
                    &at,
                    "no spring of the surface is one of these",
                    "Name rings it has; meshes and explicit nets have none.",
                ));
            }
        }
        for (i, spec) in edit.elements.iter().enumerate() {
            self.add_element(i, spec, signals)?;
        }
        self.add_extended(edit)?;
        self.leave_out(edit)
    }

    /// Single elements that bend and twist (K39–K41).
    fn add_extended(&mut self, edit: &EditSpec) -> Result<(), SceneError> {
        for (i, spec) in edit.bends.iter().enumerate() {
            let at = [Key::Name("edit"), Key::Name("bends"), Key::Index(i)];
            let mut nodes = [0; 3];
            for (place, name) in nodes.iter_mut().zip(spec.nodes) {
                *place = self.node(name, &at)? as u32;
            }
            let [a, k, b] = nodes;
            let apart = |n: u32| self.at(n).distance(self.at(k)) > 0.0;
            if a == b || !apart(a) || !apart(b) {
                return Err(self.check.error(
                    &at,
                    "there is no angle between these nodes",
                    "Name three different ones, the one that bends in the middle.",
                ));
            }
            let constant = spec.stiffness;
            self.parts.bends.push(Bend { nodes, constant });
        }
        for (i, spec) in edit.torsions.iter().enumerate() {
            let at = [Key::Name("edit"), Key::Name("torsions"), Key::Index(i)];
            let central = |centre: u32| {
                let name = NodeName::Central(CentreName { centre });
                self.node(name, &at).map(|node| node as u32)
            };
            let (frame, constant) = (central(spec.centre)?, spec.stiffness);
            match spec.along {
                None => self.parts.torsions.push(Torsion { frame, constant }),
                Some([a, b]) => {
                    let along = [central(a)?, central(b)?];
                    self.parts.twists.push(Twist {
                        frame,
                        along,
                        constant,
                    });
                }
            }
        }
        Ok(())
    }

    /// Index of a node among all nodes of the net.
    pub fn node(&self, name: NodeName, at: &[Key]) -> Result<usize, SceneError> {
        let first = self.parts.frames.len();
        match name {
            NodeName::Surface(n) if (n as usize) < self.parts.points.len() => {
                Ok(first + n as usize)
            }
            NodeName::Surface(n) => {
                let last = self.parts.points.len().saturating_sub(1);
                Err(self.check.error(
                    at,
                    format!("there is no node {n}"),
                    format!("Surface nodes are counted from 0 to {last}."),
                ))
            }
            NodeName::Central(c) => self.centre(c.centre as usize).ok_or_else(|| {
                self.check.error(
                    at,
                    format!("there is no central node {}", c.centre),
                    format!("It has {first} of them, counted from 0."),
                )
            }),
        }
    }

    fn add_nodes(&mut self, edit: &EditSpec) -> Result<(), SceneError> {
        for (i, spec) in edit.add_nodes.iter().enumerate() {
            let at = [Key::Name("edit"), Key::Name("add_nodes"), Key::Index(i)];
            self.check.points(&[spec.position], "edit")?;
            let usual = self.material;
            let mass = spec.mass.unwrap_or(usual.mass);
            self.check.mass(mass, &at)?;
            let father = match spec.father {
                None => None,
                Some(f) => Some(self.centre(f as usize).ok_or_else(|| {
                    let problem = format!("there is no central node {f} to carry it");
                    self.check.error(&at, problem, "Name one it has.")
                })? as u32),
            };
            self.parts
                .points
                .push(self.frame.point(spec.position.into()));
            self.parts.nodes.push(MassNode {
                damping: spec.damping.unwrap_or(usual.damping),
                father,
                ..MassNode::point(mass)
            });
            self.parts.memory.push(spec.memory);
            self.parts.flags.push(NodeFlags::FREE);
        }
        Ok(())
    }

    fn change_node(&mut self, i: usize, spec: &NodeSpec) -> Result<(), SceneError> {
        let at = [Key::Name("edit"), Key::Name("nodes"), Key::Index(i)];
        let node = self.node(spec.node, &at)?;
        if let Some(mass) = spec.mass {
            self.check.mass(mass, &at)?;
            let node = &mut self.parts.nodes[node];
            if let Some(inertia) = node.rigid.as_mut().and_then(|r| r.inertia.as_mut()) {
                *inertia *= mass / node.mass;
            }
            node.mass = mass;
        }
        if let Some(position) = spec.position {
            self.check.points(&[position], "edit")?;
            let position = self.frame.point(position.into());
            self.place_nodes(&[(node, position)]);
            self.turn_anew(node);
        }
        if let Some(damping) = spec.damping {
            self.parts.nodes[node].damping = damping;
        }
        self.change_turning(node, spec, &at)?;
        if let Some(memory) = spec.memory {
            self.parts.memory[node] = memory;
        }
        self.change_memory(node, spec)?;
        if let Some(axes) = spec.axes {
            self.check.share(&axes, "edit")?;
            self.parts.nodes[node].lock = match axes {
                [0.0, 0.0, 0.0] => Lock::Fixed,
                [1.0, 1.0, 1.0] => Lock::Free,
                _ => Lock::Axes(axes.into(), self.frame.rotation),
            };
        }
        self.change_flags(node, spec, &at)
    }

    /// What a node is marked as (K26).
    fn change_flags(&mut self, node: usize, spec: &NodeSpec, at: &[Key]) -> Result<(), SceneError> {
        let flags = &mut self.parts.flags[node];
        if let Some(touchable) = spec.touchable {
            flags.set(NodeFlags::NOT_INTERACTIVE, !touchable);
        }
        if let Some(mark) = spec.mark {
            flags.0 = flags.0 & 0xFFFF | u32::from(mark) << 16;
        }
        let named = [
            (NodeFlags::CUT_MARK, spec.cut_mark),
            (NodeFlags::CLIPPED, spec.clipped),
            (NodeFlags::CUT, spec.cut),
            (NodeFlags::DIVIDED, spec.divided),
            (NodeFlags::COAGULATED, spec.coagulated),
        ];
        for (bit, on) in named {
            if let Some(on) = on {
                flags.set(bit, on);
            }
        }
        let Some(bits) = spec.bits else {
            return Ok(());
        };
        if spec.touchable.is_some()
            || spec.mark.is_some()
            || named.iter().any(|(_, on)| on.is_some())
        {
            return Err(self.check.error(
                at,
                "attribute bits say whether it is touchable, what marks it has and what was done to it",
                "Give `bits`, or what they stand for by name.",
            ));
        }
        if bits & !NodeFlags::WRITABLE.0 != 0 {
            return Err(self.check.error(
                at,
                format!("{bits:#x} has bits that tell what a node is or what is being done to it"),
                "Only 0x2, 0x4, 0x8, 0x800, 0x1000, 0x2000 and 0x10000 and above are for a file to say.",
            ));
        }
        flags.0 = flags.0 & !NodeFlags::WRITABLE.0 | bits;
        Ok(())
    }

    /// How a central node resists turning (K23, K27).
    fn change_turning(
        &mut self,
        node: usize,
        spec: &NodeSpec,
        at: &[Key],
    ) -> Result<(), SceneError> {
        if spec.turn_damping.is_none() && spec.inertia.is_none() {
            return Ok(());
        }
        if spec.inertia == Some(InertiaSpec::Named(InertiaName::Box)) {
            self.turn_by_box(node);
        }
        let Some(rigid) = self.parts.nodes[node].rigid.as_mut() else {
            return Err(self.check.error(
                at,
                "a surface node does not turn",
                "Name a central node: `node = { centre = 0 }`.",
            ));
        };
        if let Some(damping) = spec.turn_damping {
            rigid.damping = damping;
        }
        if let Some(inertia) = spec.inertia {
            self.turning.retain(|z| *z != node);
            if inertia != InertiaSpec::Named(InertiaName::Box) {
                self.turning.push(node);
            }
        }
        match spec.inertia {
            Some(InertiaSpec::Moments(moments)) => rigid.inertia = Some(moments.into()),
            Some(InertiaSpec::Named(InertiaName::None)) => rigid.inertia = None,
            Some(InertiaSpec::Named(InertiaName::Box)) | None => {}
        }
        Ok(())
    }

    /// How a node's shape memory grows, and where it draws the node (K25).
    fn change_memory(&mut self, node: usize, spec: &NodeSpec) -> Result<(), SceneError> {
        if spec.memory_law.is_none() && spec.base.is_none() {
            return Ok(());
        }
        if let Some(base) = spec.base {
            self.check.points(&[base], "edit")?;
        }
        let place = spec.base.map(|p| self.frame.point(p.into()));
        let law = spec.memory_law.map_or(self.parts.memory_base, answer::base);
        let list = &mut self.parts.own_memory;
        match list.iter_mut().find(|own| own.node as usize == node) {
            Some(own) => {
                own.base = spec.memory_law.map_or(own.base, answer::base);
                own.place = place.or(own.place);
            }
            None => list.push(OwnMemory {
                node: node as u32,
                base: law,
                place,
            }),
        }
        Ok(())
    }

    /// The moments of inertia of a central node by its mass and a box around what it carries, from where it is now (K27).
    fn turn_by_box(&mut self, node: usize) {
        let Some(pose) = self.parts.frames.get(node) else {
            return;
        };
        let carried = self.parts.nodes.iter().enumerate();
        let children = carried
            .filter(|(_, child)| child.father == Some(node as u32))
            .map(|(i, _)| self.at(i as u32));
        let made = self.material.frame(pose, children);
        let node = &mut self.parts.nodes[node];
        let heavier = node.mass / made.mass;
        if let (Some(rigid), Some(box_like)) = (node.rigid.as_mut(), made.rigid) {
            rigid.inertia = box_like
                .inertia
                .filter(|j| j.min_element() > 0.0)
                .map(|j| j * heavier)
                .or(rigid.inertia);
        }
    }

    /// The same for a node that was moved, unless the file says how it resists turning.
    pub(super) fn turn_anew(&mut self, node: usize) {
        if !self.turning.contains(&node) {
            self.turn_by_box(node);
        }
    }

    fn add_element(
        &mut self,
        i: usize,
        spec: &ElementSpec,
        signals: &Signals,
    ) -> Result<(), SceneError> {
        let at = [Key::Name("edit"), Key::Name("elements"), Key::Index(i)];
        let nodes = [
            self.node(spec.a, &at)? as u32,
            self.node(spec.b, &at)? as u32,
        ];
        let apart = self.at(nodes[0]).distance(self.at(nodes[1]));
        let law = answer::law(&self.check, &at, &spec.answer)?;
        let rest = rest_length(spec.rest_length, spec.shorten, apart)
            .map_err(|problem| self.check.error(&at, problem, "Correct the number."))?;
        self.parts.elements.push(Element {
            nodes,
            rest_length: if law.input == Input::Distance {
                rest
            } else {
                0.0
            },
            law,
        });
        if let Some(active) = &spec.drive {
            let (signal, drive) = answer::drive(&self.check, &at, active, signals)?;
            self.parts.actives.push(Active {
                element: self.parts.elements.len() as u32 - 1,
                signal: signal as u32,
                drive,
            });
        }
        Ok(())
    }

    fn is_driven(&self, e: &Element, which: WhichSprings, rings: Option<[usize; 2]>) -> bool {
        let first = self.parts.frames.len();
        let surface = e.nodes.iter().all(|n| *n as usize >= first);
        if !surface || e.law.input != Input::Distance {
            return false;
        }
        let [a, b] = e.nodes.map(|n| self.ring_of(n as usize - first));
        let within = |ring: Option<(usize, usize)>| match (rings, ring) {
            (None, _) => true,
            (Some([from, to]), Some((r, _))) => (from..=to).contains(&r),
            (Some(_), None) => false,
        };
        let shape = match (which, a, b) {
            (WhichSprings::All, ..) => true,
            (WhichSprings::Around, Some(a), Some(b)) => a.0 == b.0,
            (WhichSprings::Along, Some(a), Some(b)) => a.1 == b.1,
            _ => false,
        };
        shape && within(a) && within(b)
    }

    /// Takes elements and nodes out. A node that is left out stays as a fixed point that nothing touches, so that the numbers of
    /// the others mean what the file says.
    fn leave_out(&mut self, edit: &EditSpec) -> Result<(), SceneError> {
        let mut gone = vec![false; self.parts.elements.len()];
        for (i, pair) in edit.without_elements.iter().enumerate() {
            let at = [
                Key::Name("edit"),
                Key::Name("without_elements"),
                Key::Index(i),
            ];
            let ends = [
                self.node(pair[0], &at)? as u32,
                self.node(pair[1], &at)? as u32,
            ];
            let mut found = false;
            for (e, gone) in self.parts.elements.iter().zip(&mut gone) {
                if e.nodes == ends || e.nodes == [ends[1], ends[0]] {
                    (found, *gone) = (true, true);
                }
            }
            if !found {
                return Err(self.check.error(
                    &at,
                    "there is no element between these nodes",
                    "Check their numbers.",
                ));
            }
        }
        for (i, node) in edit.without_nodes.iter().enumerate() {
            let at = [Key::Name("edit"), Key::Name("without_nodes"), Key::Index(i)];
            let node = self.node(NodeName::Surface(*node), &at)?;
            for (e, gone) in self.parts.elements.iter().zip(&mut gone) {
                *gone |= e.nodes.contains(&(node as u32));
            }
            self.parts.triangles.retain(|t| !t.contains(&(node as u32)));
            self.parts
                .bends
                .retain(|b| !b.nodes.contains(&(node as u32)));
            let inert = &mut self.parts.nodes[node];
            inert.lock = Lock::Fixed;
            inert.father = None;
            self.left_out.push(node);
            self.parts.memory[node] = 0.0;
            self.parts.flags[node].set(NodeFlags::NOT_INTERACTIVE, true);
        }
        // Numbers of elements change, so what drives them is told.
        let mut new = vec![u32::MAX; gone.len()];
        let mut count = 0;
        for (new, gone) in new.iter_mut().zip(&gone) {
            if !*gone {
                *new = count;
                count += 1;
            }
        }
        let mut left = gone.iter();
        self.parts
            .elements
            .retain(|_| !left.next().is_some_and(|g| *g));
        self.parts.actives.retain_mut(|active| {
            active.element = new[active.element as usize];
            active.element != u32::MAX
        });
        Ok(())
    }
}

/// How long an element is at rest, m: as given, or as far as its ends are `apart`, less what it is shortened by (K43).
pub fn rest_length(given: Option<f64>, shorten: f64, apart: f64) -> Result<f64, String> {
    if !(0.0..=1.0).contains(&shorten) {
        return Err(format!("shorten is {shorten}; it must lie between 0 and 1"));
    }
    let length = given.unwrap_or(apart);
    if !(0.0..=10.0).contains(&length) {
        return Err(format!("a rest length of {length} m is out of range"));
    }
    Ok(length * (1.0 - shorten))
}

//! Central nodes that a file adds to a shape, and nodes that belong to others than the shape says: families of any depth (K48, K76).

use super::tissue::Draft;
use crate::{
    file::{CentreSpec, EditSpec},
    load::{Key, SceneError},
};
use trocar_math::Pose;
use trocar_soft::NodeFlags;

impl Draft<'_> {
    /// Adds central nodes and has nodes change their fathers, before anything else is edited: fathers come before their children, so numbers change.
    pub(super) fn found_families(&mut self, edit: &EditSpec) -> Result<(), SceneError> {
        let moved = edit.nodes.iter().any(|node| node.father.is_some());
        if edit.add_centres.is_empty() && !moved {
            return Ok(());
        }
        let shape = self.parts.frames.len();
        if self.centres.is_empty() {
            self.centres = (0..shape).collect();
        }
        self.make_room(edit.add_centres.len());
        for (i, spec) in edit.add_centres.iter().enumerate() {
            self.add_centre(shape + i, i, spec)?;
        }
        let mut stirred: Vec<usize> = (shape..self.parts.frames.len()).collect();
        for (i, spec) in edit.add_centres.iter().enumerate() {
            let Some(name) = &spec.father else { continue };
            let at = [
                Key::Name("edit"),
                Key::Name("add_centres"),
                Key::Index(i),
                Key::Name("father"),
            ];
            let named = |spec: &CentreSpec| spec.name.as_ref() == Some(name);
            let added = edit.add_centres.iter().position(named);
            let added = added.and_then(|k| self.centre(shape + k));
            let number = || name.parse().ok().and_then(|n| self.centre(n));
            let father = added.or_else(number).ok_or_else(|| {
                let problem = format!("there is no central node called \"{name}\"");
                let remedy = "Use the name of an added one, or a number: added ones are counted after those of the shape.";
                self.check.error(&at, problem, remedy)
            })?;
            self.parts.nodes[shape + i].father = Some(father as u32);
            stirred.push(father);
        }
        for (i, spec) in edit.nodes.iter().enumerate() {
            let Some(number) = spec.father else { continue };
            let at = [Key::Name("edit"), Key::Name("nodes"), Key::Index(i)];
            let node = self.node(spec.node, &at)?;
            let father = match usize::try_from(number) {
                Ok(f) => Some(self.centre(f).ok_or_else(|| {
                    let problem = format!("there is no central node {f} to belong to");
                    self.check.error(
                        &at,
                        problem,
                        "They are counted from 0, added ones after those of the shape; −1 is none.",
                    )
                })?),
                Err(_) if number == -1 => None,
                Err(_) => {
                    let problem = format!("{number} is no central node");
                    return Err(self.check.error(&at, problem, "−1 is none."));
                }
            };
            let before = self.parts.nodes[node].father;
            stirred.extend(before.map(|f| f as usize));
            stirred.extend(father);
            self.parts.nodes[node].father = father.map(|f| f as u32);
        }
        stirred.sort_unstable();
        stirred.dedup();
        // What is around them is other than it was.
        stirred.into_iter().for_each(|z| self.turn_anew(z));
        self.order_fathers()
    }

    /// Makes room for so many central nodes after those there are.
    fn make_room(&mut self, more: usize) {
        let first = self.parts.frames.len();
        self.renumber(|n| {
            if (n as usize) < first {
                n
            } else {
                n + more as u32
            }
        });
        self.centres.extend(first..first + more);
        let parts = &mut self.parts;
        parts.frames.resize(first + more, Pose::IDENTITY);
        let room = |_| self.material.frame(&Pose::IDENTITY, std::iter::empty());
        parts.nodes.splice(first..first, (0..more).map(room));
        let flags = std::iter::repeat_n(NodeFlags::default(), more);
        parts.flags.splice(first..first, flags);
        let memory = std::iter::repeat_n(0.0, more);
        parts.memory.splice(first..first, memory);
    }

    /// The `i`-th central node that is added, in the place kept for it.
    fn add_centre(&mut self, z: usize, i: usize, spec: &CentreSpec) -> Result<(), SceneError> {
        let at = [Key::Name("edit"), Key::Name("add_centres"), Key::Index(i)];
        self.check.points(&[spec.position], "edit")?;
        self.parts.frames[z] =
            Pose::new(self.frame.point(spec.position.into()), self.frame.rotation);
        self.parts.memory[z] = spec.memory;
        let node = &mut self.parts.nodes[z];
        if let Some(mass) = spec.mass {
            self.check.mass(mass, &at)?;
            node.mass = mass;
        }
        if let Some(rigid) = &mut node.rigid {
            // One that carries nothing has nothing to be measured by: it does not turn.
            rigid.inertia = spec.inertia.map(Into::into);
        }
        if spec.inertia.is_some() {
            self.turning.push(z);
        }
        Ok(())
    }

    /// Puts fathers before their children. Fathers in a cycle are refused by their numbers.
    fn order_fathers(&mut self) -> Result<(), SceneError> {
        let count = self.parts.frames.len();
        let father = |z: usize| self.parts.nodes[z].father.map(|f| f as usize);
        let mut order = vec![usize::MAX; count];
        let mut next = 0;
        for start in 0..count {
            let mut way = Vec::new();
            let mut at = Some(start);
            while let Some(z) = at.filter(|z| order[*z] == usize::MAX) {
                if let Some(begin) = way.iter().position(|w| *w == z) {
                    let number = |z: &usize| self.centres.iter().position(|c| c == z);
                    let names = way[begin..].iter().filter_map(number);
                    let names: Vec<String> = names.map(|n| n.to_string()).collect();
                    return Err(self.check.error(
                        &["edit".into()],
                        format!("fathers carry each other in a cycle: {}", names.join(" → ")),
                        "One of them must have no father.",
                    ));
                }
                way.push(z);
                at = father(z);
            }
            for z in way.into_iter().rev() {
                order[z] = next;
                next += 1;
            }
        }
        self.renumber(|n| match order.get(n as usize) {
            Some(place) => *place as u32,
            None => n,
        });
        let parts = &mut self.parts;
        permute(&mut parts.frames, &order);
        permute(&mut parts.nodes[..count], &order);
        permute(&mut parts.flags[..count], &order);
        permute(&mut parts.memory[..count], &order);
        self.centres.iter_mut().for_each(|z| *z = order[*z]);
        Ok(())
    }

    /// Gives nodes other numbers, wherever one is named.
    fn renumber(&mut self, place: impl Fn(u32) -> u32) {
        let parts = &mut self.parts;
        let elements = parts.elements.iter_mut().flat_map(|e| &mut e.nodes);
        let bends = parts.bends.iter_mut().flat_map(|b| &mut b.nodes);
        let torsions = parts.torsions.iter_mut().map(|t| &mut t.frame);
        let twists = parts.twists.iter_mut();
        let twists = twists.flat_map(|t| t.along.iter_mut().chain([&mut t.frame]));
        let triangles = parts.triangles.iter_mut().flatten();
        let memory = parts.own_memory.iter_mut().map(|own| &mut own.node);
        let fathers = parts.nodes.iter_mut().filter_map(|n| n.father.as_mut());
        let all = elements.chain(bends).chain(torsions).chain(twists);
        let all = all.chain(triangles).chain(memory).chain(fathers);
        all.for_each(|n| *n = place(*n));
        let ours = self.turning.iter_mut().chain(&mut self.left_out);
        ours.for_each(|n| *n = place(*n as u32) as usize);
    }
}

/// Puts what is in the k-th place into that which `order` says.
fn permute<T: Clone>(list: &mut [T], order: &[usize]) {
    let before = list.to_vec();
    for (item, place) in before.into_iter().zip(order) {
        list[*place] = item;
    }
}

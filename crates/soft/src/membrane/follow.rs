//! What follows from the sheet, found anew where it has changed.

use super::creases::Creases;
use super::division::{Kind as Part, NOBODY, PartsOf};
use super::kernel::{Flat, flat_hinge, hinge, hinge_stiffness};
use super::stress::dyad;
use super::weave::{Strand, Weave};
use super::{Bending, Hinge, Hold, Homing, Line, Material, Membrane, NOWHERE, Spring};
use glam::DVec3;
use trocar_dynamics::Nodes;
use trocar_math::f64x4;
use trocar_mesh::sheet::{EdgeId, Event, Kind, NodeId, NodeStep, TriangleId};

/// A sheet whose triangles meet at less than this at rest, rad, is flat there: a thousandth of what can be seen.
const FLAT: f64 = 1e-6;

impl Membrane {
    pub(super) fn refresh_all(&mut self) {
        self.size();
        let edges: Vec<_> = self.sheet.edges().collect();
        let triangles: Vec<_> = self.sheet.triangles().collect();
        let nodes: Vec<_> = self.sheet.nodes().collect();
        triangles.into_iter().for_each(|t| self.refresh_triangle(t));
        edges.into_iter().for_each(|e| self.refresh_edge(e, None));
        nodes.iter().for_each(|n| self.refresh_node(*n));
        for place in 0..self.bends.springs.len() {
            self.place_bend(place);
        }
        self.judge_step(&nodes);
    }

    /// The nodes of everything that forces come of.
    pub(super) fn parts_of(&self) -> PartsOf {
        let there = |is: bool, nodes: [u32; 2]| if is { nodes } else { [NOBODY; 2] };
        let springs = self.springs.iter();
        let bends = self.bends.springs.iter();
        let hinges = self.hinges.iter().map(|h| match h.stiffness > 0.0 {
            true => h.nodes,
            false => [NOBODY; 4],
        });
        PartsOf {
            springs: springs
                .map(|s| there(s.rest_length > 0.0, s.ends))
                .collect(),
            hinges: hinges.collect(),
            triangles: match self.material {
                Material::Springs { .. } => Vec::new(),
                Material::Sheet { .. } => self.corners.clone(),
            },
            bends: bends.map(|b| there(b.is_there(), b.nodes)).collect(),
        }
    }

    /// Seats for all springs and hinges in the spans that there are now, and all of them put there.
    pub(super) fn weave_all(&mut self) {
        let all = self.parts_of();
        let weave = |list: Vec<[u32; 2]>, stiffness: f64| {
            let there = |nodes: [u32; 2]| (nodes[0] != NOBODY).then_some(nodes);
            let springs: Vec<_> = list.into_iter().map(there).collect();
            Weave::new(stiffness, &self.spans, &springs)
        };
        let of_edges = match self.material {
            Material::Springs { stiffness, .. } => stiffness,
            Material::Sheet { .. } => 0.0,
        };
        let of_bends = match self.bending {
            Bending::Springs { stiffness } => stiffness,
            Bending::None | Bending::Hinges { .. } => 0.0,
        };
        let creases = Creases::new(&self.spans, &self.hinges);
        (self.woven, self.woven_bends) = (weave(all.springs, of_edges), weave(all.bends, of_bends));
        self.creases = creases;
        self.seat_all();
    }

    /// Puts all springs and hinges to their seats.
    pub(super) fn seat_all(&mut self) {
        self.make_room();
        (0..self.springs.len()).for_each(|place| self.place_spring(place));
        (0..self.bends.springs.len()).for_each(|place| self.place_bend(place));
        (0..self.hinges.len()).for_each(|place| self.place_hinge(place));
    }

    /// Every spring that fold support weakens is a stray until it is as stiff as the others again: there is room for all of them, so that none allocates in the step.
    fn make_room(&mut self) {
        if self.fold_support.is_some() {
            self.division.make_room(self.springs.capacity());
        }
    }

    pub(super) fn place_spring(&mut self, place: usize) {
        let spring = self.springs[place];
        let there = spring.rest_length > 0.0;
        let strand = there.then_some(Strand {
            ends: spring.ends,
            rest_length: spring.rest_length,
            stiffness: spring.stiffness,
        });
        let seated = self.woven.set(&self.spans, place, strand);
        self.division.set_stray(Part::Spring, place, !seated);
    }

    fn place_bend(&mut self, place: usize) {
        let Bending::Springs { stiffness } = self.bending else {
            return;
        };
        let bend = self.bends.springs[place];
        let strand = bend.is_there().then_some(Strand {
            ends: bend.nodes,
            rest_length: self.prestress * bend.rest_length,
            stiffness,
        });
        let seated = self.woven_bends.set(&self.spans, place, strand);
        self.division.set_stray(Part::Bend, place, !seated);
    }

    /// Room for what the usual tears make (K79): one that fits costs its neighbourhood, and moves no list.
    pub(super) fn reserve(&mut self) {
        let more = self.sheet.node_slots() / 4 + 256;
        self.sheet.reserve(more);
        fn room<T>(list: &mut Vec<T>, count: usize) {
            list.reserve_exact(count.saturating_sub(list.len()));
        }
        let nodes = self.sheet.node_slots() + more;
        let edges = self.sheet.edge_slots() + 3 * more;
        let triangles = self.sheet.triangle_slots() + 2 * more;
        room(&mut self.springs, edges);
        room(&mut self.lines, edges);
        room(&mut self.suspicious, edges);
        room(&mut self.hinges, edges);
        room(&mut self.flats, triangles);
        room(&mut self.corners, triangles);
        let Homing {
            home,
            hold,
            left,
            coming,
            before,
        } = &mut self.homing;
        room(home, nodes);
        for list in [hold, left, before] {
            room(list, nodes);
        }
        room(coming, nodes);
        room(&mut self.fixed, nodes);
        room(&mut self.live, nodes);
        room(&mut self.kinds, nodes);
        room(&mut self.headings, nodes);
        room(&mut self.stress, nodes);
        if self.tearing.is_some() {
            self.gauge.reserve([nodes, edges, triangles]);
        }
        self.masses.reserve(more);
        self.crest.size(nodes);
        self.make_room();
    }

    fn size(&mut self) {
        let (nodes, edges, triangles) = (
            self.sheet.node_slots(),
            self.sheet.edge_slots(),
            self.sheet.triangle_slots(),
        );
        self.division.size(nodes);
        self.spans.resize(nodes);
        self.springs.resize(edges, Spring::default());
        self.make_room();
        self.lines.resize(edges, Line::default());
        self.suspicious.resize(edges, f64::INFINITY);
        self.hinges.resize(edges, Hinge::default());
        self.flats.resize(triangles, Flat::default());
        self.corners.resize(triangles, NOWHERE);
        self.homing.home.resize(nodes, DVec3::ZERO);
        self.homing.hold.resize(nodes, 0.0);
        self.homing.left.resize(nodes, 0.0);
        self.homing.coming.resize(nodes, false);
        self.fixed.resize(nodes, false);
        self.live.resize(nodes, false);
        self.kinds.resize(nodes, Kind::Edge);
        self.headings.resize(nodes, None);
        self.stress.resize(nodes, 0.0);
    }

    fn refresh_triangle(&mut self, triangle: TriangleId) {
        let corners = self
            .sheet
            .rest_corners(triangle)
            .map(|p| p * self.prestress);
        self.flats[triangle.slot()] = Flat::new(corners);
        let corners = self.sheet.corners(triangle).map(|n| n.slot() as u32);
        self.corners[triangle.slot()] = corners;
        if let Material::Sheet { .. } = self.material {
            let slot = triangle.slot();
            self.division.place_triangle(slot, Some(corners));
        }
    }

    /// Finds an edge's spring and hinge anew; after an edit, `left` is the part of its constant that fold support has left its spring.
    fn refresh_edge(&mut self, edge: EdgeId, left: Option<f64>) {
        if let Material::Springs { stiffness, .. } = self.material {
            let ends = self.sheet.ends(edge);
            let [from, to] = ends.map(|n| self.sheet.rest(n));
            let apart = to - from;
            let length = apart.length();
            let rest_length = self.prestress * length;
            let strength = left.map_or(1.0, |_| self.strength_of(edge, rest_length));
            self.springs[edge.slot()] = Spring {
                ends: ends.map(|n| n.slot() as u32),
                rest_length,
                stiffness: stiffness * strength * left.unwrap_or(1.0),
                full: stiffness * strength,
            };
            let along = if length > 0.0 {
                apart / length
            } else {
                DVec3::ZERO
            };
            let share = if self.sheet.is_rim(edge) { 1.0 } else { 0.5 };
            self.lines[edge.slot()] = dyad(along).map(|part| part * f64x4::splat(share));
            self.suspicious[edge.slot()] = self.suspicious_square(edge);
            self.place_spring(edge.slot());
        }
        if let Bending::Hinges { rigidity } = self.bending {
            self.put_hinge(edge, self.hinge_at(edge, rigidity));
        }
    }

    fn put_hinge(&mut self, edge: EdgeId, hinge: Hinge) {
        self.hinges[edge.slot()] = hinge;
        self.place_hinge(edge.slot());
    }

    fn place_hinge(&mut self, place: usize) {
        let seated = self.creases.set(place, &self.hinges[place]);
        self.division.set_stray(Part::Hinge, place, !seated);
    }

    fn hinge_at(&self, edge: EdgeId, rigidity: f64) -> Hinge {
        let ((left, Some(right)), Some([one, two])) =
            (self.sheet.beside(edge), self.sheet.apexes(edge))
        else {
            return Hinge::default();
        };
        let [from, to] = self.sheet.ends(edge);
        let nodes = [from, to, one, two];
        let areas = trocar_mesh::sheet::area(self.sheet.rest_corners(left))
            + trocar_mesh::sheet::area(self.sheet.rest_corners(right));
        let rest = nodes.map(|n| self.sheet.rest(n));
        let rest_bend = hinge(rest).0;
        let is_flat = rest_bend.abs() < FLAT;
        Hinge {
            nodes: nodes.map(|n| n.slot() as u32),
            rest_bend: if is_flat { 0.0 } else { rest_bend },
            stiffness: hinge_stiffness(rigidity, self.sheet.rest_length(edge), areas),
            slopes: if is_flat { flat_hinge(rest) } else { [0.0; 4] },
        }
    }

    fn refresh_node(&mut self, node: NodeId) {
        let n = node.slot();
        self.live[n] = true;
        self.kinds[n] = self.sheet.kind(node).unwrap_or(Kind::Edge);
        if let Some(adhesion) = self.adhesion {
            self.homing.hold[n] = match adhesion.hold {
                Hold::Node(hold) => hold,
                Hold::Area(hold) => hold * self.area_of(node),
            };
        }
        if let Material::Sheet { .. } = self.material {
            let built = self.mass_node(node);
            // A node of a sound sheet has area, so its mass is one.
            let _ = self.masses.set_mass(n, built.mass, built.damping);
        }
    }

    /// Nodes that came or moved hold by as much as the sheet did where they are now. They come off only if what they were most of does: a node between one
    /// that sticks and one that is off has lost a part of its hold, but nobody pulls at it yet.
    fn carry_hold(&mut self, event: &Event) {
        let Homing { left, coming, .. } = &mut self.homing;
        for step in &event.steps {
            let (NodeStep::Made(node, blend) | NodeStep::Moved(node, blend)) = step else {
                continue;
            };
            let mut parts = blend.parts().iter();
            let most = parts.clone().map(|(_, weight)| *weight).fold(0.0, f64::max);
            let first = parts.find(|(_, weight)| *weight == most);
            let is_coming = first.is_some_and(|(n, _)| coming[n.slot()]);
            let held = blend.of(left);
            // Roundings of none and of all.
            let held = match held {
                held if held > 1.0 - 1e-9 => 1.0,
                held if held < 1e-9 => 0.0,
                held => held,
            };
            left[node.slot()] = held;
            coming[node.slot()] = is_coming && held > 0.0 && held < 1.0;
        }
    }

    /// Lets everything follow the event of an edit, the nodes included.
    pub(super) fn follow(&mut self, nodes: &mut Nodes) {
        let event = std::mem::take(&mut self.event);
        let mut patch = std::mem::take(&mut self.patch);
        self.begin_patch(&event, &mut patch, nodes);
        event.carry(&self.sheet, &mut nodes.position, DVec3::ZERO);
        event.carry(&self.sheet, &mut nodes.velocity, DVec3::ZERO);
        event.carry(&self.sheet, &mut self.homing.home, DVec3::ZERO);
        self.size();
        self.carry_hold(&event);
        for step in &event.steps {
            match step {
                NodeStep::Made(node, blend) => {
                    let all_fixed = blend.parts().iter().all(|(n, _)| self.fixed[n.slot()]);
                    self.fixed[node.slot()] = all_fixed;
                    // One that took a free place has its lock, too.
                    if node.slot() < self.masses.len() {
                        let _ = self.masses.set_lock(node.slot(), self.lock_of(node.slot()));
                    }
                }
                NodeStep::Moved(..) => {}
                NodeStep::Removed(node) => {
                    let n = node.slot();
                    self.live[n] = false;
                    self.stress[n] = 0.0;
                    self.crest.set(n, 0.0);
                    // Somebody else may have taken its place since, who keeps the velocity it was made with.
                    if !self.sheet.has_node(self.sheet.node_at(n)) {
                        nodes.velocity[n] = DVec3::ZERO;
                    }
                }
            }
        }
        nodes.make_ready();
        for triangle in event.before.iter().map(|old| old.triangle) {
            if !self.sheet.has_triangle(triangle) {
                self.flats[triangle.slot()] = Flat::default();
                self.corners[triangle.slot()] = NOWHERE;
                let slot = triangle.slot();
                self.division.place_triangle(slot, None);
            }
        }
        for edge in &event.edges_gone {
            self.springs[edge.slot()] = Spring::default();
            self.suspicious[edge.slot()] = f64::INFINITY;
            self.place_spring(edge.slot());
            self.put_hinge(*edge, Hinge::default());
        }
        for triangle in &event.after {
            self.refresh_triangle(*triangle);
        }
        for edge in &event.edges {
            let spring = self.springs[edge.slot()];
            let ends = self.sheet.ends(*edge).map(|n| n.slot() as u32);
            let left = match spring.ends == ends && spring.full > 0.0 {
                true => spring.stiffness / spring.full,
                false => 1.0,
            };
            self.refresh_edge(*edge, Some(left));
        }
        // A place may have been taken and left again within the same edit.
        for n in self.masses.len()..self.sheet.node_slots() {
            let built = self.mass_node(self.sheet.node_at(n));
            let _ = self.masses.grow(&built);
        }
        for node in &event.nodes {
            self.refresh_node(*node);
        }
        let mut touched = std::mem::take(&mut self.touched);
        touched.clone_from(&event.nodes);
        match self.bending {
            Bending::None => {}
            Bending::Springs { .. } => {
                // Springs reach one node farther than what changed.
                self.bends.follow(&self.sheet, &event, &mut touched);
                for k in 0..self.bends.changed.len() {
                    self.place_bend(self.bends.changed[k]);
                }
            }
            Bending::Hinges { .. } => {
                // So do hinges: their apexes.
                let hinges = event.edges.iter().map(|e| &self.hinges[e.slot()]);
                let apexes = hinges.filter(|h| h.stiffness > 0.0).flat_map(|h| h.nodes);
                touched.extend(apexes.map(|n| self.sheet.node_at(n as usize)));
            }
        }
        touched.sort_unstable();
        touched.dedup();
        self.balance(&event, &mut patch, nodes);
        self.judge_step(&touched);
        self.touched = touched;
        self.patch = patch;
        self.event = event;
    }
}

#[cfg(test)]
mod tests {
    use super::super::MembraneParts;
    use super::*;
    use trocar_mesh::primitive::HexagonalShape;
    use trocar_mesh::sheet::{Refusal, Sheet};

    #[test]
    fn momentum_outlives_a_collapse_and_a_split_in_one_transaction() {
        let sheet = Sheet::new(&HexagonalShape::STANDARD.surface().unwrap()).unwrap();
        let material = Material::Sheet {
            density: 0.5,
            stiffness: 20.0,
            poisson: 0.3,
        };
        let mut membrane = Membrane::new(MembraneParts::new(sheet, material)).unwrap();
        let mut nodes = membrane.rest();
        let velocity = DVec3::new(0.1, -0.2, 0.3);
        nodes.velocity.fill(velocity);
        let momentum = |membrane: &Membrane, nodes: &Nodes| {
            let live = membrane.sheet.nodes();
            live.fold(DVec3::ZERO, |sum, n| {
                sum + nodes.velocity[n.slot()] * membrane.mass_node(n).mass
            })
        };
        let before = momentum(&membrane, &nodes);
        let Membrane { sheet, event, .. } = &mut membrane;
        let inner = |sheet: &Sheet, n: NodeId| sheet.kind(n) == Some(Kind::Inner);
        let (gone, made) = sheet
            .edit(event, |edit| {
                let sheet = edit.sheet();
                let whole = sheet.edges().find(|e| {
                    let ends = sheet.ends(*e);
                    ends.iter().all(|n| inner(sheet, *n))
                });
                let [gone, into] = sheet.ends(whole.ok_or(Refusal::OutOfRange)?);
                edit.collapse(gone, into)?;
                let sheet = edit.sheet();
                let long = sheet.edges().last().ok_or(Refusal::OutOfRange)?;
                Ok::<_, Refusal>((gone, edit.split_edge(long, 0.5)?))
            })
            .unwrap();
        // The new node is in the place of the one that is gone: else this would show nothing.
        assert_eq!(gone.slot(), made.slot());
        membrane.follow(&mut nodes);
        let after = momentum(&membrane, &nodes);
        assert!(
            (after - before).length() < 1e-12 * before.length(),
            "{before} {after}"
        );
        assert!((nodes.velocity[made.slot()] - velocity).length() < 1e-12);
    }
}

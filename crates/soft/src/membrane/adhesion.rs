//! Sticking, coming off, and folding over (W65–W75).

use super::{Material, Membrane};
use glam::DVec3;
use trocar_dynamics::Nodes;
use trocar_math::Pose;
use trocar_mesh::sheet::{Kind, NodeId};

impl Membrane {
    /// Where what it sticks to is now (W66).
    pub fn set_ground(&mut self, ground: Pose) {
        self.ground = ground;
    }

    /// Where a node by place wants to be, m.
    pub fn homing_position(&self, node: usize) -> DVec3 {
        self.ground.point(self.homing.home[node])
    }

    /// Moves where a node wants to be, in the frame of what is below, m: for ground that deforms (W66).
    pub fn set_home(&mut self, node: NodeId, home: DVec3) {
        if self.sheet.has_node(node) {
            self.homing.home[node.slot()] = home;
        }
    }

    /// Part of its hold that a node by place has: 1 if it sticks, 0 if it has come off.
    pub fn attachment(&self, node: usize) -> f64 {
        self.homing.left[node]
    }

    /// True if it was built to stick to something.
    pub fn sticks(&self) -> bool {
        self.adhesion.is_some()
    }

    /// Lets a node go, or stick again, at once.
    pub fn set_attachment(&mut self, node: NodeId, left: f64) {
        if self.sheet.has_node(node) {
            self.homing.left[node.slot()] = left.clamp(0.0, 1.0);
            self.homing.coming[node.slot()] = false;
        }
    }

    /// Lets nodes come off that are too far from their homes (W67–W71, M8); how many started to. Once a frame.
    ///
    /// Only nodes on a rim or beside one that has come off may start (W69), and each then loses its hold bit by bit (W68). A node that a tear has moved to where
    /// the sheet held less has less hold, but does not come off by that. All of
    /// them are judged by how things stood before the call, so that the order of nodes does not show.
    pub fn detach(&mut self, nodes: &Nodes) -> usize {
        let Some(adhesion) = self.adhesion else {
            return 0;
        };
        let mut started = 0;
        let mut before = std::mem::take(&mut self.homing.before);
        before.clone_from(&self.homing.left);
        for n in 0..before.len() {
            let left = before[n];
            if !self.live[n] || left == 0.0 {
                continue;
            }
            if !self.homing.coming[n] {
                let far = nodes.position[n].distance_squared(self.homing_position(n));
                if far <= adhesion.distance * adhesion.distance {
                    continue;
                }
                let node = self.sheet.node_at(n);
                let mut neighbours = self.sheet.edges_around(node);
                let at_front = self.kinds[n] != Kind::Inner
                    || neighbours.any(|(_, other)| before[other.slot()] == 0.0);
                if !at_front || self.fixed[n] {
                    continue;
                }
                started += 1;
            }
            let next = (left - adhesion.decrement).max(0.0);
            self.homing.left[n] = next;
            self.homing.coming[n] = next > 0.0;
        }
        self.homing.before = before;
        started
    }

    /// Switches off springs that are compressed at the front of what has come off, and brings others back bit by bit (W73,
    /// W74, M9). Once a frame, after [`Membrane::detach`]. A spring that comes back while it is strained brings energy that nobody gave: it is owed, and taken out of
    /// the motion of the membrane.
    pub fn support_folds(&mut self, nodes: &mut Nodes) {
        let (Some(increment), Material::Springs { .. }) = (self.fold_support, self.material) else {
            return;
        };
        for slot in 0..self.springs.len() {
            let edge = self.sheet.edge_at(slot);
            if !self.sheet.has_edge(edge) {
                continue;
            }
            let [a, b] = self.sheet.ends(edge);
            let left = &self.homing.left;
            let front = |n: NodeId| {
                let mut around = self.sheet.edges_around(n);
                left[n.slot()] > 0.0 && around.any(|(_, o)| left[o.slot()] == 0.0)
            };
            let length = nodes.position[a.slot()].distance(nodes.position[b.slot()]);
            let spring = &mut self.springs[slot];
            let compressed = length < spring.rest_length;
            let next = if compressed && (front(a) || front(b)) {
                0.0
            } else {
                (spring.stiffness + increment * spring.full).min(spring.full)
            };
            // Most stay as they are, and where they are.
            if next == spring.stiffness {
                continue;
            }
            let strain = length - spring.rest_length;
            self.debt += 0.5 * (next - spring.stiffness).max(0.0) * strain * strain;
            spring.stiffness = next;
            self.place_spring(slot);
        }
        self.pay(nodes);
    }

    /// Part of its constant that the spring along an edge by place has left.
    pub fn spring_strength(&self, edge: usize) -> f64 {
        match self.material {
            Material::Springs { .. } => self.springs[edge].stiffness / self.springs[edge].full,
            Material::Sheet { .. } => 1.0,
        }
    }
}

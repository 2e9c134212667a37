//! How long a substep may be.
//!
//! Every part of the energy resists by x·K x ≤ λ Σ |xᵢ|² over its own nodes, with the greatest principal value λ of its own small matrix. So
//! the greatest frequency is bounded by what meets at a node: ω² ≤ max Σ λ / mᵢ, whatever the configuration. Parts are
//! taken as large as can be, because what cancels within one need not be bounded: for springs they are triangles, with half of each spring that two of them share.
//! On a sheet of equilateral triangles that gives 9 c/m, which is exact if the sheet is laid onto a line; flat it is 6 c/m.

use super::{Bending, Material, Membrane};
use glam::{DMat3, DVec2, DVec3};
use trocar_dynamics::Nodes;
use trocar_math::{rotation::outer, symmetric::principal};
use trocar_mesh::sheet::{Kind, NodeId};

/// Tension adds to the stiffness across itself. A sheet stretched by half as much again is far past tearing.
const STRETCH: f64 = 1.5;

/// The greatest of many numbers that change one at a time: a tree of the greater of each two.
#[derive(Clone, Debug, Default)]
pub(super) struct Crest {
    /// The greatest of all at 1, those of its halves at 2 and 3, and so on; the numbers themselves in the second half.
    tree: Vec<f64>,
}

impl Crest {
    /// Makes room for `count` numbers; new ones are 0.
    pub(super) fn size(&mut self, count: usize) {
        let leaves = count.next_power_of_two();
        if self.tree.len() >= 2 * leaves {
            return;
        }
        let numbers = self.tree.split_off(self.tree.len() / 2);
        self.tree.clear();
        self.tree.resize(2 * leaves, 0.0);
        self.tree[leaves..leaves + numbers.len()].copy_from_slice(&numbers);
        for k in (1..leaves).rev() {
            self.tree[k] = self.tree[2 * k].max(self.tree[2 * k + 1]);
        }
    }

    /// Sets a number.
    pub(super) fn set(&mut self, index: usize, value: f64) {
        self.size(index + 1);
        let mut k = self.tree.len() / 2 + index;
        self.tree[k] = value;
        while k > 1 {
            k /= 2;
            let greater = self.tree[2 * k].max(self.tree[2 * k + 1]);
            if std::mem::replace(&mut self.tree[k], greater) == greater {
                // Nothing changes above, either.
                return;
            }
        }
    }

    /// The greatest; 0 of none.
    pub(super) fn top(&self) -> f64 {
        self.tree.get(1).copied().unwrap_or(0.0)
    }
}

/// Greatest principal value of Σ g gᵀ, the most that ∇u = Σ u gᵀ can be of Σ |u|².
fn sum_of_squares(gradients: [DVec2; 3]) -> f64 {
    let part = |of: fn(DVec2) -> f64| gradients.into_iter().map(of).sum::<f64>();
    let (xx, yy, xy) = (
        part(|g| g.x * g.x),
        part(|g| g.y * g.y),
        part(|g| g.x * g.y),
    );
    let half = 0.5 * (xx - yy);
    0.5 * (xx + yy) + (half * half + xy * xy).sqrt()
}

impl Membrane {
    /// Prepares for tools that add so much to the stiffness of a node at most, N/m: the stable step counts it.
    pub fn expect_tools(&mut self, stiffness: f64) {
        self.tool_stiffness = stiffness.max(0.0);
        let nodes: Vec<_> = self.sheet.nodes().collect();
        self.judge_step(&nodes);
    }

    /// Finds anew what `nodes` ask of the substep.
    pub(super) fn judge_step(&mut self, nodes: &[NodeId]) {
        for node in nodes {
            // What does not move does not swing.
            let square = if self.fixed[node.slot()] {
                0.0
            } else {
                self.stiffness_at(*node) / self.masses.mass()[node.slot()]
            };
            self.crest.set(node.slot(), square);
        }
    }

    /// What holds a node by place against the world, N/m: tools, its home, and the ground below it.
    fn held_by(&self, n: usize) -> f64 {
        let floor = self.floor.map_or(0.0, |floor| floor.stiffness);
        self.tool_stiffness + self.homing.hold[n] + floor
    }

    /// Σ λ at a node, N/m.
    pub(super) fn stiffness_at(&self, node: NodeId) -> f64 {
        let n = node.slot() as u32;
        let mut sum = self.held_by(node.slot());
        match self.material {
            Material::Springs { stiffness, .. } => {
                // Three springs of a triangle along one line have 3 c; half of each is 1.5 c. A rim's spring has another half, of 2 c/2.
                let triangles = self.sheet.triangles_around(node).count() as f64;
                let rims = if self.kinds[node.slot()] == Kind::Inner {
                    0.0
                } else {
                    2.0
                };
                sum += stiffness * (1.5 * triangles + rims);
            }
            Material::Sheet {
                stiffness, poisson, ..
            } => {
                let modulus = STRETCH * stiffness / (1.0 - poisson);
                for triangle in self.sheet.triangles_around(node) {
                    let flat = &self.flats[triangle.slot()];
                    let [b, c] = flat.gradients;
                    sum += flat.area * modulus * sum_of_squares([-(b + c), b, c]);
                }
            }
        }
        match self.bending {
            Bending::None => {}
            Bending::Springs { stiffness } => {
                sum += 2.0 * stiffness * f64::from(self.bends.at(node.slot()));
            }
            Bending::Hinges { .. } => {
                // Those it is an end of, and those it is an apex of.
                let ends = self.sheet.edges_around(node).map(|(edge, _)| edge);
                let across = self.sheet.triangles_around(node).flat_map(|t| {
                    let sides = self.sheet.sides(t).into_iter();
                    sides.filter(|side| !self.sheet.ends(*side).contains(&node))
                });
                for edge in ends.chain(across) {
                    let hinge = &self.hinges[edge.slot()];
                    if hinge.stiffness == 0.0 {
                        continue;
                    }
                    let slopes = if hinge.is_flat() {
                        hinge.slopes.map(f64::abs)
                    } else {
                        let place = |k: u32| self.sheet.rest(self.sheet.node_at(k as usize));
                        super::kernel::hinge(hinge.nodes.map(place))
                            .1
                            .map(|g| g.length())
                    };
                    let own = hinge.nodes.iter().position(|k| *k == n);
                    let own = own.map_or(0.0, |k| slopes[k]);
                    sum += hinge.stiffness * slopes.iter().sum::<f64>() * own;
                }
            }
        }
        sum
    }

    /// The longest stable substep in the configuration at hand, s, for membranes of springs: 2 c (n nᵀ + (1 − l₀/l)(1 − n nᵀ)) of all
    /// springs at a node, its greatest principal value over the mass. On a flat sheet of equilateral triangles that is exact
    /// (6 c/m). For sheets, [`Matter::stable_step`](trocar_dynamics::Matter::stable_step).
    pub fn stable_step_now(&self, nodes: &Nodes) -> f64 {
        if matches!(self.material, Material::Sheet { .. }) {
            return trocar_dynamics::Matter::stable_step(self);
        }
        let mut sums: Vec<_> = (0..nodes.len())
            .map(|n| DMat3::from_diagonal(DVec3::splat(self.held_by(n))))
            .collect();
        let mut add = |ends: [u32; 2], rest_length: f64, stiffness: f64| {
            let [a, b] = ends.map(|n| n as usize);
            let apart = nodes.position[b] - nodes.position[a];
            let length = apart.length();
            let along = apart.normalize_or_zero();
            let across = (1.0 - rest_length / length.max(1e-300)).max(0.0);
            let line = outer(along, along);
            let matrix = (line + (DMat3::IDENTITY - line) * across) * (2.0 * stiffness);
            sums[a] += matrix;
            sums[b] += matrix;
        };
        for s in self.springs.iter().filter(|s| s.stiffness > 0.0) {
            add(s.ends, s.rest_length, s.stiffness);
        }
        if let Bending::Springs { stiffness } = self.bending {
            for bend in self.bends.springs.iter().filter(|b| b.is_there()) {
                add(bend.nodes, self.prestress * bend.rest_length, stiffness);
            }
        }
        for h in self.hinges.iter().filter(|h| h.stiffness > 0.0) {
            let nodes_of = h.nodes.map(|n| n as usize);
            let slopes = super::kernel::hinge(nodes_of.map(|n| nodes.position[n])).1;
            let sum: f64 = slopes.iter().map(|g| g.length()).sum();
            for (n, slope) in nodes_of.into_iter().zip(slopes) {
                let part = h.stiffness * sum;
                // g gᵀ |g|⁻¹: across the sheet, where springs hardly act.
                let size = slope.length();
                if size > 0.0 {
                    sums[n] += outer(slope, slope) * (part / size);
                }
            }
        }
        let mut most = 0.0_f64;
        for (n, sum) in sums.iter().enumerate().filter(|(n, _)| self.live[*n]) {
            most = most.max(principal(sum).0.max_element() / self.masses.mass()[n]);
        }
        2.0 / most.sqrt()
    }

    /// Substeps that `dt` seconds need.
    pub fn substeps(&self, dt: f64, step: f64) -> u32 {
        // A tenth below the bound: on it a mode neither grows nor dies.
        let count = trocar_math::real::ceil(dt / (0.9 * step));
        count.clamp(1.0, 1e6) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crest_is_the_greatest_of_what_was_set() {
        let mut crest = Crest::default();
        let mut plain: Vec<f64> = Vec::new();
        assert_eq!(crest.top(), 0.0);
        for k in 0..500_usize {
            let (index, value) = ((k * 37) % (k / 3 + 1), ((k * 7919) % 1000) as f64);
            crest.set(index, value);
            plain.resize(plain.len().max(index + 1), 0.0);
            plain[index] = value;
            assert_eq!(crest.top(), plain.iter().copied().fold(0.0, f64::max));
        }
    }
}

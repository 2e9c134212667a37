//! A membrane as one would write it down first, to hold ours against: one loop over all parts, one over all nodes.

use glam::DVec3;
use trocar_dynamics::Matter;
use trocar_soft::membrane::kernel::{hinge, hinge_stiffness, spring};
use trocar_soft::membrane::{Bending, Material, Membrane};

/// A membrane of springs, and of what resists bending, in plain lists.
pub struct Naive {
    position: Vec<DVec3>,
    velocity: Vec<DVec3>,
    force: Vec<DVec3>,
    mass: Vec<f64>,
    moves: Vec<bool>,
    /// Ends, length at rest, stiffness.
    springs: Vec<([usize; 2], f64, f64)>,
    /// Ends and apexes, stiffness.
    hinges: Vec<([usize; 4], f64)>,
}

impl Naive {
    /// The same springs as those of `membrane`, at rest.
    pub fn new(membrane: &Membrane, bending: Bending) -> Self {
        let sheet = membrane.sheet();
        let stiffness = match membrane.material() {
            Material::Springs { stiffness, .. } | Material::Sheet { stiffness, .. } => *stiffness,
        };
        let mut springs: Vec<_> = sheet
            .edges()
            .map(|e| {
                let ends = sheet.ends(e).map(|n| n.slot());
                (ends, sheet.rest_length(e), stiffness)
            })
            .collect();
        let mut hinges = Vec::new();
        let apexes = |edge| {
            let (left, Some(right)) = sheet.beside(edge) else {
                return None;
            };
            let ends = sheet.ends(edge);
            let apex = |t| sheet.corners(t).into_iter().find(|n| !ends.contains(n));
            Some((ends, [apex(left)?, apex(right)?]))
        };
        match bending {
            Bending::None => {}
            Bending::Springs { stiffness } => {
                // Two neighbours of a node that share no triangle (W63).
                let mut pairs = Vec::new();
                for node in sheet.nodes() {
                    let around: Vec<_> = sheet.edges_around(node).map(|(_, n)| n).collect();
                    for (k, a) in around.iter().enumerate() {
                        for b in &around[k + 1..] {
                            if sheet.edge_between(*a, *b).is_err() {
                                pairs.push([*a.min(b), *a.max(b)]);
                            }
                        }
                    }
                }
                pairs.sort_unstable();
                pairs.dedup();
                springs.extend(pairs.into_iter().map(|[a, b]| {
                    let length = sheet.rest(a).distance(sheet.rest(b));
                    ([a.slot(), b.slot()], length, stiffness)
                }));
            }
            Bending::Hinges { rigidity } => {
                for edge in sheet.edges() {
                    if let Some(([a, b], [c, d])) = apexes(edge) {
                        let length = sheet.rest_length(edge);
                        let areas = 2.0 * 0.25 * 3.0_f64.sqrt() * length * length;
                        let nodes = [a, b, c, d].map(|n| n.slot());
                        hinges.push((nodes, hinge_stiffness(rigidity, length, areas)));
                    }
                }
            }
        }
        let rest = membrane.rest();
        let count = rest.len();
        let inner = |n: usize| sheet.kind_at(n) == Some(trocar_mesh::sheet::Kind::Inner);
        Self {
            position: rest.position,
            velocity: vec![DVec3::ZERO; count],
            force: vec![DVec3::ZERO; count],
            mass: membrane.masses().mass().to_vec(),
            moves: (0..count).map(inner).collect(),
            springs,
            hinges,
        }
    }

    /// `dt` seconds in as many substeps.
    pub fn frame(&mut self, dt: f64, substeps: u32) {
        let h = dt / f64::from(substeps);
        for _ in 0..substeps {
            self.force.fill(DVec3::ZERO);
            for ([a, b], length, stiffness) in &self.springs {
                let apart = self.position[*b] - self.position[*a];
                let (pull, _) = spring(apart, *length, *stiffness);
                self.force[*a] += pull;
                self.force[*b] -= pull;
            }
            for (nodes, stiffness) in &self.hinges {
                let (bent, slopes) = hinge(nodes.map(|n| self.position[n]));
                for (n, slope) in nodes.iter().zip(slopes) {
                    self.force[*n] -= slope * (stiffness * bent);
                }
            }
            for n in 0..self.position.len() {
                if self.moves[n] {
                    self.velocity[n] += self.force[n] * (h / self.mass[n]);
                    self.velocity[n] *= 1.0 / (1.0 + 50.0 * h);
                    self.position[n] += self.velocity[n] * h;
                }
            }
        }
    }
}

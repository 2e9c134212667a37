//! Bodies and particles with joints, without a scene, and what tests ask of them.

// Every test file is a program of its own and uses only some of this.
#![allow(dead_code)]
#![allow(clippy::unwrap_used, reason = "a test may fail")]

use glam::{DMat3, DQuat, DVec3};
use trocar_dynamics::{
    Bodies, Bonds, Budget, Cast, Field, Joint, Kinematic, MassNode, Matter, MatterId, Nodes,
    Outcome, Turning,
    solve::{self, Solver, Touches},
};
use trocar_math::rotation;

/// The matter that holds all bodies (frames) and then all particles (points).
pub const BODIES: MatterId = MatterId(1);

/// Bodies, particles, and joints between them.
pub struct Shop {
    pub matters: Vec<Box<dyn Matter>>,
    pub nodes: Vec<Nodes>,
    pub joints: Vec<Joint>,
    pub gravity: DVec3,
    /// Another number whenever joints come, go or change places.
    pub version: u64,
    solver: Solver,
}

/// A body: mass, principal moments, place and orientation.
#[derive(Clone, Copy, Debug)]
pub struct Body {
    pub mass: f64,
    pub moments: DVec3,
    pub place: DVec3,
    pub turn: DQuat,
}

impl Shop {
    pub fn new(bodies: &[Body], particles: &[(f64, DVec3)], joints: Vec<Joint>) -> Self {
        let mut masses: Vec<MassNode> = bodies
            .iter()
            .map(|b| MassNode::body(b.mass, b.moments))
            .collect();
        masses.extend(particles.iter().map(|p| MassNode::point(p.0)));
        let frames: Vec<(DVec3, DQuat)> = bodies.iter().map(|b| (b.place, b.turn)).collect();
        let points: Vec<DVec3> = particles.iter().map(|p| p.1).collect();
        let matter = Bodies::new(&masses, Turning::Momentum).unwrap();
        let mut world = Nodes::at_rest(&[(DVec3::ZERO, DQuat::IDENTITY)], &[]);
        world.ahead[0].orientation = DQuat::IDENTITY;
        Self {
            matters: vec![Box::new(Kinematic::default()), Box::new(matter)],
            nodes: vec![world, Nodes::at_rest(&frames, &points)],
            joints,
            gravity: DVec3::ZERO,
            version: 0,
            solver: Solver::default(),
        }
    }

    /// The bodies' and particles' share of the state.
    pub fn state(&mut self) -> &mut Nodes {
        &mut self.nodes[1]
    }

    /// Gathers forces, adds what `act` does to them, and plans a substep.
    pub fn plan(&mut self, h: f64, act: impl FnOnce(&mut Nodes)) {
        let field = Field {
            time: 0.0,
            gravity: self.gravity,
        };
        for (matter, nodes) in self.matters.iter().zip(&mut self.nodes) {
            matter.force(nodes, &field);
        }
        act(&mut self.nodes[1]);
        for (matter, nodes) in self.matters.iter().zip(&mut self.nodes) {
            matter.plan(nodes, h, None);
        }
        self.nodes[0].ahead[0].orientation = DQuat::IDENTITY;
    }

    /// Impulses of a planned substep.
    pub fn aim(&mut self, h: f64, budget: &Budget) -> Outcome {
        let mut cast = Cast {
            matters: &self.matters,
            slot: &[0, 1],
            nodes: &mut self.nodes,
        };
        let mut bonds = Bonds {
            ties: &mut [],
            joints: &mut self.joints,
            version: self.version,
        };
        let touches = &mut Touches::default();
        solve::aim(&mut cast, &mut bonds, touches, h, budget, &mut self.solver)
    }

    /// Moves everything as planned and pushed.
    pub fn advance(&mut self, h: f64) {
        for (matter, nodes) in self.matters.iter().zip(&mut self.nodes) {
            assert!(matter.advance(nodes, h));
        }
    }

    /// Makes velocities right.
    pub fn correct(&mut self, budget: &Budget) -> Outcome {
        let mut cast = Cast {
            matters: &self.matters,
            slot: &[0, 1],
            nodes: &mut self.nodes,
        };
        let mut bonds = Bonds {
            ties: &mut [],
            joints: &mut self.joints,
            version: self.version,
        };
        let touches = &mut Touches::default();
        solve::correct(&mut cast, &mut bonds, touches, budget, &mut self.solver)
    }

    /// The same without remembering any substep: velocities come from elsewhere.
    pub fn correct_afresh(&mut self, budget: &Budget) -> Outcome {
        let kept = std::mem::take(&mut self.solver);
        let outcome = self.correct(budget);
        self.solver = kept;
        outcome
    }

    /// One substep.
    pub fn step(&mut self, h: f64, budget: &Budget) -> (Outcome, Outcome) {
        self.plan(h, |_| {});
        let aim = self.aim(h, budget);
        self.advance(h);
        let correct = if budget.correct {
            self.correct(budget)
        } else {
            Outcome::default()
        };
        (aim, correct)
    }

    /// Momentum, and angular momentum about the origin.
    pub fn momentum(&self) -> (DVec3, DVec3) {
        let (mut linear, mut angular) = (DVec3::ZERO, DVec3::ZERO);
        let masses = self.matters[1].masses();
        let nodes = &self.nodes[1];
        for (i, mass) in masses.mass().iter().enumerate() {
            let p = nodes.velocity[i] * *mass;
            linear += p;
            angular += nodes.position[i].cross(p);
            if let Some(rigid) = masses.rigid().get(i) {
                let q = nodes.orientation[i];
                angular += q * (rigid.inertia.unwrap() * (q.conjugate() * nodes.spin[i]));
            }
        }
        (linear, angular)
    }

    /// Of motion and of height, J.
    pub fn energy(&self) -> f64 {
        let masses = self.matters[1].masses();
        let nodes = &self.nodes[1];
        let mut energy = 0.0;
        for (i, mass) in masses.mass().iter().enumerate() {
            let v = nodes.velocity[i];
            energy += mass * (0.5 * v.length_squared() - self.gravity.dot(nodes.position[i]));
            if let Some(rigid) = masses.rigid().get(i) {
                let spin = nodes.orientation[i].conjugate() * nodes.spin[i];
                energy += 0.5 * (rigid.inertia.unwrap() * spin).dot(spin);
            }
        }
        energy
    }

    /// All velocities in a row: of each body its velocity and spin, of each particle its velocity.
    pub fn velocities(&self) -> Vec<f64> {
        let nodes = &self.nodes[1];
        let mut all = Vec::new();
        for (i, v) in nodes.velocity.iter().enumerate() {
            all.extend(v.to_array());
            if let Some(w) = nodes.spin.get(i) {
                all.extend(w.to_array());
            }
        }
        all
    }

    /// Sets them.
    pub fn set_velocities(&mut self, all: &[f64]) {
        let nodes = &mut self.nodes[1];
        let mut at = 0;
        for i in 0..nodes.velocity.len() {
            nodes.velocity[i] = DVec3::from_slice(&all[at..]);
            at += 3;
            if i < nodes.spin.len() {
                nodes.spin[i] = DVec3::from_slice(&all[at..]);
                at += 3;
            }
        }
        assert_eq!(at, all.len());
    }

    /// The matrix of masses that belongs to these velocities.
    pub fn masses(&self) -> Vec<Vec<f64>> {
        let (masses, nodes) = (self.matters[1].masses(), &self.nodes[1]);
        let size = self.velocities().len();
        let mut matrix = vec![vec![0.0; size]; size];
        let mut at = 0;
        for (i, mass) in masses.mass().iter().enumerate() {
            for k in 0..3 {
                matrix[at + k][at + k] = *mass;
            }
            at += 3;
            if let Some(rigid) = masses.rigid().get(i) {
                let axes = DMat3::from_quat(nodes.orientation[i]);
                let inertia =
                    axes * DMat3::from_diagonal(rigid.inertia.unwrap()) * axes.transpose();
                put(&mut matrix, at, at, inertia);
                at += 3;
            }
        }
        matrix
    }
}

/// Writes three rows of a matrix.
pub fn put(matrix: &mut [Vec<f64>], row: usize, column: usize, block: DMat3) {
    for r in 0..3 {
        for c in 0..3 {
            matrix[row + r][column + c] = block.col(c)[r];
        }
    }
}

pub fn multiplied(a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let columns = b.first().map_or(0, Vec::len);
    let entry = |row: &Vec<f64>, c: usize| row.iter().zip(b).map(|(x, r)| x * r[c]).sum();
    a.iter()
        .map(|row| (0..columns).map(|c| entry(row, c)).collect())
        .collect()
}

pub fn transposed(a: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let columns = a.first().map_or(0, Vec::len);
    (0..columns)
        .map(|c| a.iter().map(|row| row[c]).collect())
        .collect()
}

/// The greatest difference of two matrices.
pub fn apart(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    let pairs = a.iter().flatten().zip(b.iter().flatten());
    pairs.map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}

/// X with A X = B, by Gauss with pivots.
pub fn solved(a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let n = a.len();
    let mut rows: Vec<Vec<f64>> = a
        .iter()
        .zip(b)
        .map(|(a, b)| a.iter().chain(b).copied().collect())
        .collect();
    for k in 0..n {
        let best = (k..n).max_by(|i, j| rows[*i][k].abs().total_cmp(&rows[*j][k].abs()));
        rows.swap(k, best.unwrap());
        let pivot = rows[k].clone();
        for (i, row) in rows.iter_mut().enumerate() {
            if i != k {
                let factor = row[k] / pivot[k];
                row.iter_mut()
                    .zip(&pivot)
                    .for_each(|(x, p)| *x -= factor * p);
            }
        }
    }
    rows.iter()
        .enumerate()
        .map(|(k, row)| row[n..].iter().map(|x| x / row[k]).collect())
        .collect()
}

/// Random numbers that are the same in every run.
pub struct Dice(pub u64);

impl Dice {
    /// From -1 to 1 (SplitMix64).
    pub fn number(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        (z >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    pub fn vector(&mut self) -> DVec3 {
        DVec3::new(self.number(), self.number(), self.number())
    }

    pub fn turn(&mut self) -> DQuat {
        rotation::from_scaled_axis(self.vector() * 3.0)
    }

    /// A body somewhere.
    pub fn body(&mut self) -> Body {
        // Any three edges make possible moments.
        let edges = (self.vector() + DVec3::splat(1.5)) * 0.1;
        let square = edges * edges;
        let mass = 1.0 + 0.8 * self.number();
        let moments = DVec3::new(
            square.y + square.z,
            square.z + square.x,
            square.x + square.y,
        ) * (mass / 12.0);
        Body {
            mass,
            moments,
            place: self.vector() * 0.2,
            turn: self.turn(),
        }
    }
}

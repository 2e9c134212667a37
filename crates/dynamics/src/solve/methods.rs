//! Which way joints are really solved.

use super::{Method, Solver};
use serde::Serialize;

/// How many sets of joints that hang together are solved in which way. What sleeps is solved in none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Methods {
    /// Trees of ball joints in a room of their own.
    pub trees: u32,
    /// Along the graph of bodies and joints.
    pub graph: u32,
    /// As one system of impulses.
    pub system: u32,
    /// By sweeps: lone joints, and all if that was wished for.
    pub sweeps: u32,
    /// By sweeps although a direct method was wished for: too tangled for a factorisation.
    pub tangled: u32,
}

impl Methods {
    /// Takes in those of another solver.
    pub fn add(&mut self, other: &Self) {
        self.trees += other.trees;
        self.graph += other.graph;
        self.system += other.system;
        self.sweeps += other.sweeps;
        self.tangled += other.tangled;
    }
}

impl Solver {
    /// Which way joints were solved in the last substep.
    pub fn methods(&self) -> Methods {
        let mut all = Methods {
            trees: self.forest.count_apart(),
            ..Methods::default()
        };
        for component in self.room.plan.components.iter().filter(|c| !c.idle) {
            let count = match component.method {
                _ if component.is_tangled() => &mut all.tangled,
                Some(Method::Graph) => &mut all.graph,
                Some(Method::System) => &mut all.system,
                _ => &mut all.sweeps,
            };
            *count += 1;
        }
        all
    }
}

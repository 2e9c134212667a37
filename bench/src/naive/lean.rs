//! The leanest loop over springs with dampers that one writes without vector instructions: a list for each quantity, short indices, nothing that a
//! sheet does not need. Machines are measured by it, as [`Plain`] carries all that a net may have.

use super::Plain;
use glam::DVec3;
use trocar_dynamics::Nodes;

/// A spring and the damper beside it.
struct Spring {
    ends: [u32; 2],
    rest_length: f64,
    constant: f64,
    damping: f64,
}

/// A net of springs alone.
pub struct Lean {
    position: Vec<DVec3>,
    velocity: Vec<DVec3>,
    force: Vec<DVec3>,
    mass: Vec<f64>,
    damping: Vec<f64>,
    springs: Vec<Spring>,
}

impl Lean {
    /// The same net; none if it has more than springs with dampers beside them.
    pub fn of(plain: &Plain) -> Option<Self> {
        let simple = plain
            .nodes
            .iter()
            .all(|n| n.memory == 0.0 && n.father.is_none() && !n.fixed);
        let springs_alone = plain.frames.is_empty()
            && plain.dampers.is_empty()
            && plain.bends.is_empty()
            && plain.torsions.is_empty();
        let spring = |s: &super::Spring| Spring {
            ends: [s.a, s.b].map(|n| n as u32),
            rest_length: s.rest_length,
            constant: s.constant,
            damping: s.damping,
        };
        let of = |what: fn(&super::Node) -> DVec3| plain.nodes.iter().map(what).collect();
        (simple && springs_alone).then(|| Self {
            position: of(|n| n.position),
            velocity: of(|n| n.velocity),
            force: vec![DVec3::ZERO; plain.nodes.len()],
            mass: plain.nodes.iter().map(|n| n.mass).collect(),
            damping: plain.nodes.iter().map(|n| n.damping).collect(),
            springs: plain.springs.iter().map(spring).collect(),
        })
    }

    /// Takes over where everything is and how it moves.
    pub fn copy_from(&mut self, nodes: &Nodes) {
        self.position.copy_from_slice(&nodes.position);
        self.velocity.copy_from_slice(&nodes.velocity);
    }

    /// A step of `h` seconds.
    #[inline(never)]
    pub fn step(&mut self, h: f64) {
        let Self {
            position,
            velocity,
            force,
            ..
        } = self;
        for spring in &self.springs {
            let [a, b] = spring.ends.map(|n| n as usize);
            let apart = position[a] - position[b];
            let pull = spring.constant * (spring.rest_length / apart.length() - 1.0);
            let push = apart * pull - (velocity[a] - velocity[b]) * spring.damping;
            force[a] += push;
            force[b] -= push;
        }
        let nodes = position.iter_mut().zip(velocity).zip(force);
        let nodes = nodes.zip(&self.mass).zip(&self.damping);
        for ((((position, velocity), force), mass), damping) in nodes {
            *velocity = (*velocity * *mass + *force * h) / (mass + damping * h);
            *position += *velocity * h;
            *force = DVec3::ZERO;
        }
    }

    /// How far a node lies from where another net has it at most, m.
    pub fn apart(&self, nodes: &Nodes) -> f64 {
        let pairs = self.position.iter().zip(&nodes.position);
        pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
    }
}

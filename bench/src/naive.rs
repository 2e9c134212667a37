//! The same net as one would first write it: a structure for each node and each element, and one loop after the
//! other over them in the order they were built. The mathematics is that of the engine, and so are the
//! results, to rounding: [`Plain::apart`] is asked before anything is timed.

mod lean;

use anyhow::{Result, bail};
use glam::{DMat3, DQuat, DVec3};
use std::collections::HashMap;
use trocar_dynamics::{Lock, Matter, Nodes, Rigid};
use trocar_math::{Pose, skew};
use trocar_soft::{Base, Input, Net, element};

pub use lean::Lean;

/// All about a node.
#[derive(Clone, Copy)]
struct Node {
    position: DVec3,
    velocity: DVec3,
    force: DVec3,
    mass: f64,
    damping: f64,
    memory: f64,
    /// In the frame of the father.
    base: DVec3,
    father: Option<usize>,
    fixed: bool,
}

/// What a frame has beside what a node has.
#[derive(Clone, Copy)]
struct Frame {
    orientation: DQuat,
    spin: DVec3,
    torque: DVec3,
    rigid: Rigid,
}

/// A spring, with the damper beside it.
#[derive(Clone, Copy)]
struct Spring {
    a: usize,
    b: usize,
    rest_length: f64,
    constant: f64,
    damping: f64,
}

/// A damper alone.
#[derive(Clone, Copy)]
struct Damper {
    a: usize,
    b: usize,
    constant: f64,
}

/// Three nodes, the constant, and how it is bent at rest.
type Bend = ([usize; 3], f64, element::Bent);

/// A net, plainly.
#[derive(Clone)]
pub struct Plain {
    nodes: Vec<Node>,
    frames: Vec<Frame>,
    springs: Vec<Spring>,
    dampers: Vec<Damper>,
    bends: Vec<Bend>,
    /// True if some spring has a damper beside it.
    damped: bool,
    /// Frame, constant, orientation at rest.
    torsions: Vec<(usize, f64, DQuat)>,
}

impl Plain {
    /// A copy of `net`, its elements in the order in which `built` names their ends; those that it does not name
    /// come last. Refuses what the loops below don't know.
    pub fn new(net: &Net, built: impl IntoIterator<Item = [u32; 2]>) -> Result<Self> {
        let (rest, masses) = (net.rest(), net.masses());
        if (0..net.masses().len()).any(|i| net.memory_base(i) != Base::Linear) {
            bail!("the naive net knows only linear shape memory");
        }
        let mut nodes = Vec::new();
        for i in 0..rest.len() {
            let father = net.father(i);
            if father.is_some() && i < rest.frames() {
                bail!("the naive net knows no fathers of fathers");
            }
            let fixed = match masses.lock(i) {
                Lock::Free => false,
                Lock::Fixed => true,
                Lock::Axes(..) => bail!("the naive net knows no locked axes"),
            };
            let place = |f: usize| Pose::new(rest.position[f], rest.orientation[f]);
            nodes.push(Node {
                position: rest.position[i],
                velocity: DVec3::ZERO,
                force: DVec3::ZERO,
                mass: masses.mass()[i],
                damping: masses.damping()[i],
                memory: net.memory(i),
                base: father.map_or(rest.position[i], |f| place(f).local(rest.position[i])),
                father,
                fixed,
            });
        }
        let frames = (0..rest.frames())
            .map(|z| Frame {
                orientation: rest.orientation[z],
                spin: DVec3::ZERO,
                torque: DVec3::ZERO,
                rigid: masses.rigid()[z],
            })
            .collect();
        let sorted = |mut ends: [u32; 2]| {
            ends.sort_unstable();
            ends
        };
        let order: HashMap<[u32; 2], usize> = built
            .into_iter()
            .enumerate()
            .map(|(i, ends)| (sorted(ends), i))
            .collect();
        let mut elements: Vec<_> = net.elements().collect();
        elements.sort_by_key(|e| order.get(&sorted(e.nodes)).copied().unwrap_or(usize::MAX));
        let (mut springs, mut dampers): (Vec<Spring>, Vec<Damper>) = Default::default();
        let mut known = HashMap::new();
        for element in &elements {
            if !element.law.is_plain() {
                bail!("the naive net knows only plain elements");
            }
            let [a, b] = element.nodes.map(|n| n as usize);
            let (rest_length, constant) = (element.rest_length, element.law.constant);
            if element.law.input == Input::Distance {
                known.insert(sorted(element.nodes), springs.len());
                springs.push(Spring {
                    a,
                    b,
                    rest_length,
                    constant,
                    damping: 0.0,
                });
            }
        }
        for element in elements.iter().filter(|e| e.law.input == Input::Velocity) {
            let [a, b] = element.nodes.map(|n| n as usize);
            let constant = element.law.constant;
            match known.get(&sorted(element.nodes)) {
                Some(spring) => springs[*spring].damping += constant,
                None => dampers.push(Damper { a, b, constant }),
            }
        }
        let damped = springs.iter().any(|s| s.damping > 0.0);
        let bends = net
            .bends()
            .map(|bend| {
                let nodes = bend.nodes.map(|n| n as usize);
                let [i, k, j] = nodes.map(|n| rest.position[n]);
                (nodes, bend.constant, element::Bent::new(k - i, k - j))
            })
            .collect();
        let torsions = net
            .torsions()
            .iter()
            .map(|t| {
                let z = t.frame as usize;
                (z, t.constant, rest.orientation[z])
            })
            .collect();
        Ok(Self {
            nodes,
            frames,
            springs,
            dampers,
            damped,
            bends,
            torsions,
        })
    }

    /// Takes over where everything is and how it moves; clears the forces.
    pub fn copy_from(&mut self, nodes: &Nodes) {
        for (i, node) in self.nodes.iter_mut().enumerate() {
            node.position = nodes.position[i];
            node.velocity = nodes.velocity[i];
            node.force = DVec3::ZERO;
        }
        for (z, frame) in self.frames.iter_mut().enumerate() {
            frame.orientation = nodes.orientation[z];
            frame.spin = nodes.spin[z];
            frame.torque = DVec3::ZERO;
        }
    }

    /// The element block.
    #[inline(never)]
    pub fn element_forces(&mut self) {
        let nodes = &mut self.nodes;
        for spring in &self.springs {
            let apart = nodes[spring.a].position - nodes[spring.b].position;
            let length = apart.length();
            let mut force = apart * (spring.constant * (spring.rest_length / length - 1.0));
            if self.damped {
                let relative = velocity(&nodes[spring.a]) - velocity(&nodes[spring.b]);
                force -= relative * spring.damping;
            }
            nodes[spring.a].force += force;
            nodes[spring.b].force -= force;
        }
        for damper in &self.dampers {
            let relative = velocity(&nodes[damper.a]) - velocity(&nodes[damper.b]);
            let force = relative * -damper.constant;
            nodes[damper.a].force += force;
            nodes[damper.b].force -= force;
        }
        for ([i, k, j], constant, rest) in &self.bends {
            let to = |n: usize| nodes[*k].position - nodes[n].position;
            let forces = element::bending_forces(to(*i), to(*j), *constant, rest);
            for (n, force) in [i, k, j].into_iter().zip(forces) {
                nodes[*n].force += force;
            }
        }
        for (z, constant, rest) in &self.torsions {
            let frame = &mut self.frames[*z];
            frame.torque += element::torsion_torque(frame.orientation, *rest, *constant);
        }
    }

    /// One whole step of `h` seconds without gravity: clear, elements, shape memory, motion.
    pub fn step(&mut self, h: f64) {
        for node in &mut self.nodes {
            node.force = DVec3::ZERO;
        }
        for frame in &mut self.frames {
            frame.torque = DVec3::ZERO;
        }
        self.element_forces();
        self.memory_forces();
        self.brake(h);
        self.advance(h);
    }

    fn memory_forces(&mut self) {
        let axes: Vec<DMat3> = self.axes();
        for i in 0..self.nodes.len() {
            let node = self.nodes[i];
            let origin = node.father.map_or(DVec3::ZERO, |f| self.nodes[f].position);
            let base = node.father.map_or(node.base, |f| axes[f] * node.base);
            let arm = node.position - origin;
            let force = (arm - base) * -node.memory;
            self.nodes[i].force += force;
            if let Some(f) = node.father {
                self.nodes[f].force -= force;
                self.frames[f].torque -= arm.cross(force);
            }
        }
    }

    /// Damps children against their fathers, as both will move at the end of the step: six equations for each father.
    fn brake(&mut self, h: f64) {
        for f in 0..self.frames.len() {
            let (father, frame) = (self.nodes[f], self.frames[f]);
            let axes = DMat3::from_quat(frame.orientation);
            let inertia = frame.rigid.inertia.unwrap_or_default();
            let inertia = axes * DMat3::from_diagonal(inertia) * axes.transpose();
            let mut weight = father.mass + h * father.damping;
            let mut turning = inertia + DMat3::from_diagonal(DVec3::splat(h * frame.rigid.damping));
            let mut lever = DMat3::ZERO;
            let mut push = father.velocity * father.mass + father.force * h;
            let mut twist = inertia * frame.spin + frame.torque * h;
            let mut children = Vec::new();
            for (i, node) in self.nodes.iter().enumerate() {
                if node.father != Some(f) {
                    continue;
                }
                let arm = node.position - father.position;
                let (g, loose) = loose(node, h);
                let cross = skew(arm);
                weight += g;
                lever += cross * g;
                turning -= cross * cross * g;
                push += loose * g;
                twist += arm.cross(loose * g);
                children.push((i, arm, g, loose));
            }
            if children.is_empty() {
                continue;
            }
            let (moves, turns) = (!father.fixed, frame.rigid.inertia.is_some());
            let part = if moves { 1.0 / weight } else { 0.0 };
            let spin = match turns {
                true => {
                    let whole = turning + lever * lever * part;
                    whole.inverse() * (twist - lever * push * part)
                }
                false => DVec3::ZERO,
            };
            let velocity = (push + lever * spin) * part;
            for (i, arm, g, loose) in children {
                let force = (velocity + spin.cross(arm) - loose) * (g / h);
                if !self.nodes[i].fixed {
                    self.nodes[i].force += force;
                }
                self.nodes[f].force -= force;
                self.frames[f].torque -= arm.cross(force);
            }
        }
    }

    fn axes(&self) -> Vec<DMat3> {
        let axes = |f: &Frame| DMat3::from_quat(f.orientation);
        self.frames.iter().map(axes).collect()
    }

    fn advance(&mut self, h: f64) {
        for frame in &mut self.frames {
            let turned = frame
                .rigid
                .turned(frame.orientation, frame.spin, frame.torque, h);
            (frame.orientation, frame.spin) = turned;
        }
        for node in &mut self.nodes {
            node.velocity = match node.fixed {
                true => DVec3::ZERO,
                false => slowed(node, h),
            };
            node.position += node.velocity * h;
        }
    }

    /// Greatest difference to what the engine has: of forces (N) and of positions (m).
    pub fn apart(&self, nodes: &Nodes) -> [f64; 2] {
        let mut most = [0.0_f64; 2];
        for (i, node) in self.nodes.iter().enumerate() {
            most[0] = most[0].max(node.force.distance(nodes.force[i]));
            most[1] = most[1].max(node.position.distance(nodes.position[i]));
        }
        most
    }
}

/// New velocity of a node. What is damped against its father has been.
fn slowed(node: &Node, h: f64) -> DVec3 {
    let drag = if node.father.is_some() {
        0.0
    } else {
        node.damping
    };
    (node.velocity * node.mass + node.force * h) / (node.mass + drag * h)
}

/// How hard a child is held by its father in a step of `h` seconds, kg, and how it would move without.
fn loose(node: &Node, h: f64) -> (f64, DVec3) {
    let drag = h * node.damping;
    if node.fixed {
        return (drag, DVec3::ZERO);
    }
    let alone = node.velocity + node.force * (h / node.mass);
    (drag * node.mass / (node.mass + drag), alone)
}

/// Velocity of a node.
fn velocity(node: &Node) -> DVec3 {
    if node.fixed {
        DVec3::ZERO
    } else {
        node.velocity
    }
}

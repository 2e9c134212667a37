//! Nets at random.

use glam::{DQuat, DVec3};
use trocar_dynamics::{Anchor, Integrator, Lock, MassNode, MatterId, Rigid};
use trocar_math::{Pose, real};
use trocar_soft::{
    Active, Base, Drive, Element, Global, Law, Link, NetParts, NodeFlags, Pieces, Plastic, Signal,
    element::Input,
    global::End,
    net::{Bend, Torsion, Twist},
};

/// Numbers at random that depend on a seed alone.
pub struct Dice(pub u64);

impl Dice {
    pub fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let mut x = self.0;
        x ^= x >> 33;
        x = x.wrapping_mul(0xff51_afd7_ed55_8ccd);
        x ^= x >> 33;
        (x >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.next()
    }

    /// As often small as large.
    pub fn scale(&mut self, low: f64, high: f64) -> f64 {
        real::exp(self.between(real::ln(low), real::ln(high)))
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() * n as f64) as usize
    }

    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn vector(&mut self, size: f64) -> DVec3 {
        DVec3::from_array([0; 3].map(|_| self.between(-size, size)))
    }
}

/// A law of any kind. `stiff` in N/m, `cell` the length of an element, m.
pub fn law(dice: &mut Dice, stiff: f64, cell: f64) -> Law {
    let mut law = Law::spring(stiff);
    if dice.once_in(4) {
        law = Law {
            constant: stiff / cell,
            ..law.squared()
        };
    }
    match dice.below(8) {
        0 => law.gain = [dice.between(0.0, 1.0), dice.between(0.5, 2.0)],
        1 => law.dead = [dice.between(0.0, 0.3 * cell), dice.between(0.0, 0.3 * cell)],
        2 => {
            law.limit = [
                dice.between(0.0, stiff * cell),
                dice.between(0.0, stiff * cell),
            ]
        }
        3 => law = law.pulling(),
        4 => law = law.pushing(),
        5 => {
            let toe = [
                (-cell, -cell),
                (0.0, 0.0),
                (0.2 * cell, 0.05 * cell),
                (cell, cell),
            ];
            law.pieces = Pieces::through(&toe);
        }
        6 => {
            law.plastic = Some(Plastic::new(
                dice.between(0.02, 0.4),
                dice.between(0.0, 1.0),
            ));
        }
        _ => {}
    }
    law
}

/// A net at random: a few nodes around perhaps a father, each joined to its neighbours by one to three elements.
pub fn net(dice: &mut Dice) -> Made {
    let (points, cell) = (4 + dice.below(5), dice.scale(2e-3, 3e-2));
    let stiff = dice.scale(0.1, 300.0);
    let mass = dice.scale(1e-4, 1e-2);
    let father = dice.once_in(32);
    let frames = usize::from(father);
    // As primitives have it: linear and the same for all.
    let even_memory = dice.once_in(2);
    let mut parts = NetParts {
        memory_base: if dice.once_in(4) && !(father && even_memory) {
            Base::Quadratic
        } else {
            Base::Linear
        },
        // Weak nets are not hung up: they would be drawn far beyond what they are judged for. Nor do nets fall that
        // only hang on their father.
        gravity: dice.once_in(2) && !father && mass * 9.81 < 0.2 * stiff * cell,
        mobile: true,
        ..NetParts::default()
    };
    // Enough damping that what is excited dies away: a tenth of the critical one and more.
    let damping = dice.scale(0.1, 2.0) * (mass * stiff).sqrt();
    if father {
        // In the middle of what it carries, or at one end.
        let middle = DVec3::new(0.5 * (points - 1) as f64, 0.5, 0.0) * cell;
        let place = middle * f64::from(u8::from(dice.once_in(2)));
        parts.frames.push(Pose::new(place, DQuat::IDENTITY));
        parts.nodes.push(MassNode {
            damping,
            rigid: Some(Rigid {
                inertia: Some(DVec3::splat(mass * cell * cell * points as f64)),
                damping: damping * cell * cell,
                ..Rigid::default()
            }),
            ..MassNode::point(mass * points as f64)
        });
        parts.memory.push(0.0);
    }
    for i in 0..points {
        // Along a wavy line, so that no two are in one place.
        let along = DVec3::new(i as f64, f64::from(u8::from(i % 2 == 0)), 0.0) * cell;
        parts.points.push(along + dice.vector(0.3 * cell));
        let lock = match dice.below(10) {
            0 => Lock::Fixed,
            1 => Lock::Axes(DVec3::new(dice.next(), dice.next(), 1.0), DQuat::IDENTITY),
            _ => Lock::Free,
        };
        parts.nodes.push(MassNode {
            damping,
            lock,
            father: father.then_some(0),
            ..MassNode::point(mass)
        });
        let even = if father && even_memory {
            0.5
        } else {
            dice.next()
        };
        let constant = match parts.memory_base {
            Base::Linear => stiff * even,
            Base::Quadratic => stiff * even / cell,
        };
        parts.memory.push(constant);
    }
    parts.flags = vec![NodeFlags::default(); frames + points];
    for i in 0..points {
        for j in (i + 1)..points.min(i + 3) {
            let rest_length = parts.points[i].distance(parts.points[j]);
            let nodes = [i, j].map(|n| (frames + n) as u32);
            for _ in 0..=dice.below(2) {
                let element = Element {
                    nodes,
                    rest_length,
                    law: law(dice, stiff, cell),
                };
                let shorter = if dice.once_in(5) {
                    dice.between(0.0, 0.3)
                } else {
                    0.0
                };
                parts.elements.push(element.shortened(shorter));
            }
            if dice.once_in(3) {
                let mut damper = Law::damper(0.2 * damping * dice.next());
                if dice.once_in(3) {
                    damper.limit[1] = dice.between(0.0, damping);
                }
                parts.elements.push(Element {
                    nodes,
                    rest_length,
                    law: damper,
                });
            }
        }
    }
    if points > 4 && dice.once_in(3) {
        let nodes = [0, 1, 2].map(|n| (frames + n) as u32);
        parts.bends.push(Bend {
            nodes,
            constant: 0.1 * stiff * cell,
        });
    }
    if father && dice.once_in(2) {
        parts.torsions.push(Torsion {
            frame: 0,
            constant: 0.1 * stiff * cell * cell,
        });
    }
    drive(dice, &mut parts, stiff * cell);
    if dice.once_in(2) {
        parts.integrator = Integrator::ALL[dice.below(Integrator::ALL.len())];
    }
    let mut globals = Vec::new();
    if dice.once_in(12) {
        for _ in 0..=dice.below(2) {
            let place = |node: usize| match node.checked_sub(frames) {
                Some(point) => parts.points[point],
                None => parts.frames[node].position,
            };
            let on = |node: usize| End::On(Anchor::node(MatterId(0), node as u32));
            let node = dice.below(frames + points);
            let at = place(node);
            let to = at + dice.vector(2.0 * cell);
            globals.push(match dice.below(4) {
                0 => {
                    let damper = Law::damper(dice.scale(0.1, 10.0) * damping);
                    Global::link([on(node), End::At(to)], Link::new(0.0, damper))
                }
                1 => {
                    // The node bends between another one and a place.
                    let other = (node + 1 + dice.below(frames + points - 1)) % (frames + points);
                    let constant = dice.scale(0.1, 3.0) * stiff * cell;
                    let ends = [on(other), on(node), End::At(to)];
                    Global::bend(ends, constant, [place(other), at, to])
                }
                2 if frames > 0 => {
                    let frame = dice.below(frames);
                    let constant = dice.scale(0.1, 3.0) * stiff * cell * cell;
                    let turned = End::On(Anchor::frame(MatterId(0), frame as u32, DVec3::ZERO));
                    let rest = [parts.frames[frame].rotation, DQuat::IDENTITY];
                    Global::torsion([turned, End::At(to)], constant, rest)
                }
                _ => {
                    let law = law(dice, stiff, cell);
                    Global::link([on(node), End::At(to)], Link::new(at.distance(to), law))
                }
            });
        }
    }
    // About the main axis of the father, which two of its children mark (K40).
    if father && dice.once_in(2) {
        parts.twists.push(Twist {
            frame: 0,
            along: [frames as u32, (frames + points - 1) as u32],
            constant: 0.1 * stiff * cell * cell,
        });
    }
    // A little below everything, so that what falls or is pushed lands on it (K67).
    if dice.once_in(8) {
        let free = parts
            .points
            .iter()
            .chain(parts.frames.iter().map(|f| &f.position));
        let lowest = free.map(|p| p.y).fold(f64::INFINITY, f64::min);
        parts.ground = Some(lowest - dice.between(0.0, 0.2) * cell);
    }
    Made {
        parts,
        globals,
        cell,
        stiff,
        mass,
    }
}

/// A net at random, and of what size its numbers are.
pub struct Made {
    pub parts: NetParts,
    /// From its nodes to fixed points.
    pub globals: Vec<Global>,
    /// Length of an element, m.
    pub cell: f64,
    /// Stiffness of a spring, N/m.
    pub stiff: f64,
    /// Mass of a node, kg.
    pub mass: f64,
}

/// Drives some springs, with up to `force` N.
fn drive(dice: &mut Dice, parts: &mut NetParts, force: f64) {
    if !dice.once_in(3) {
        return;
    }
    parts.signals = vec![
        Signal::Sine {
            mean: 0.0,
            amplitude: 1.0,
            rate: dice.scale(0.5, 20.0),
            phase: dice.next(),
        },
        Signal::Pulse {
            start: 0.01,
            period: 0.2,
            rise: 0.03,
            hold: 0.05,
            fall: 0.06,
        },
        Signal::Table(vec![[0.0, 0.0], [0.02, 1.0], [0.3, -1.0]]),
    ];
    for (e, element) in parts.elements.iter().enumerate() {
        let free = element.law.input == Input::Distance && element.law.plastic.is_none();
        if free && dice.once_in(3) {
            let drive = if dice.once_in(2) {
                Drive::Force(dice.between(-0.1, 0.3) * force)
            } else {
                let part = dice.between(-0.3, 0.3);
                match e % 2 {
                    0 => Drive::Length(part),
                    _ => Drive::Stiffness(3.0 * part),
                }
            };
            parts.actives.push(Active {
                element: e as u32,
                signal: dice.below(3) as u32,
                drive,
            });
        }
    }
}

//! Small motions of a group about rest.

use crate::{Global, Hyper, Net, global::Sight};
use glam::{DQuat, DVec3};
use trocar_dynamics::{Field, Integrator, Lock, Matter, MatterId, Nodes, Stages, integrator::Mode};
use trocar_math::rotation;

/// Small motions of a group about rest: shifts of all nodes and turns of all frames.
pub(super) struct Probe<'a> {
    pub(super) nets: &'a [&'a Net],
    pub(super) hypers: &'a [Hyper],
    pub(super) globals: &'a [Global],
    pub(super) work: Vec<Nodes>,
    pub(super) stages: Stages,
    /// The stiffest mode found.
    pub(super) stiffest: Mode,
    /// What each unknown is: mass or moments of inertia, damping, and how far it may move.
    pub(super) unknowns: Vec<Unknown>,
}

pub(super) struct Unknown {
    pub(super) net: usize,
    pub(super) node: usize,
    pub(super) turns: bool,
    /// Along the axes of its lock, or moments about those of its frame; none by a scheme without mass.
    pub(super) mass: DVec3,
    /// Against the world; what acts within families is none of its own.
    pub(super) damping: f64,
    /// How freely it moves along the axes of a frame, 0 to 1 (K24).
    pub(super) gains: DVec3,
    pub(super) axes: DQuat,
}

/// An axis with the gain b moves by v' = (m v + h f)/(m + d h), x' = x + b h v': as if its mass were m/b and its damping d/b. A locked axis has neither.
impl Unknown {
    /// The force or torque on it.
    pub(super) fn of(&self, nodes: &Nodes) -> DVec3 {
        if self.turns {
            nodes.torque[self.node]
        } else {
            nodes.force[self.node]
        }
    }

    /// Mass along the three axes of the lock, each times the square of `x` there; locked axes count for nothing.
    pub(super) fn heavy(&self, x: DVec3) -> f64 {
        let along = self.axes.conjugate() * x;
        let open = |k: &usize| self.gains[*k] > 0.0;
        let of = |k: usize| self.mass[k] / self.gains[k] * along[k] * along[k];
        (0..3).filter(open).map(of).sum()
    }

    /// The velocity by which it moves with `x`: along the three axes of the lock divided by their gains; nothing along locked ones.
    pub(super) fn freed(&self, x: DVec3) -> DVec3 {
        let along = self.axes.conjugate() * x;
        let open = |k: usize| {
            if self.gains[k] > 0.0 {
                along[k] / self.gains[k]
            } else {
                0.0
            }
        };
        self.axes * DVec3::new(open(0), open(1), open(2))
    }

    /// (4 M + 2 h D)⁻¹ `pushed`, where D is its own damping.
    pub(super) fn yields(&self, pushed: DVec3, h: f64) -> DVec3 {
        let along = self.axes.conjugate() * pushed;
        let held = self.mass * 4.0 + DVec3::splat(2.0 * self.damping * h);
        self.axes * (along * self.gains / held.max(DVec3::splat(1e-300)))
    }
}

impl<'a> Probe<'a> {
    pub(super) fn new(nets: &'a [&'a Net], hypers: &'a [Hyper], globals: &'a [Global]) -> Self {
        let mut unknowns = Vec::new();
        for (n, net) in nets.iter().enumerate() {
            let masses = net.masses();
            // Without mass what moves by q f/d is damped as if by d/q.
            let (heavy, factor) = match masses.integrator() {
                Integrator::QuasiDynamic(factor) => (0.0, factor),
                _ => (1.0, 1.0),
            };
            for i in 0..masses.len() {
                let own = f64::from(u8::from(masses.father(i).is_none())) / factor;
                let slave = hypers
                    .iter()
                    .any(|h| (h.slave.0.index(), h.slave.1 as usize) == (n, i));
                let (gains, axes) = match masses.lock(i) {
                    Lock::Axes(gains, axes) => (gains, axes),
                    _ => (DVec3::ONE, DQuat::IDENTITY),
                };
                // What stays where it is may turn there all the same.
                if !slave && masses.lock(i) != Lock::Fixed {
                    unknowns.push(Unknown {
                        net: n,
                        node: i,
                        turns: false,
                        mass: DVec3::splat(masses.mass()[i]) * heavy,
                        damping: masses.damping()[i] * own,
                        gains,
                        axes,
                    });
                }
                if let Some(rigid) = masses.rigid().get(i)
                    && let Some(inertia) = rigid.inertia
                {
                    unknowns.push(Unknown {
                        net: n,
                        node: i,
                        turns: true,
                        mass: inertia * heavy,
                        damping: masses.turn_damping()[i] * own,
                        gains: DVec3::ONE,
                        axes: net.rest().orientation[i],
                    });
                }
            }
        }
        Self {
            nets,
            hypers,
            globals,
            work: nets.iter().map(|net| net.rest().clone()).collect(),
            stages: Stages::default(),
            stiffest: Mode {
                mass: 1.0,
                damping: 0.0,
                drag: 0.0,
                stiffness: 0.0,
            },
            unknowns,
        }
    }

    /// Works out all forces where everything is now; copies do not hand on theirs.
    pub(super) fn feel(&mut self) {
        let nets = self.nets;
        let slot: Vec<u32> = (0..nets.len() as u32).collect();
        let sight = Sight {
            matter: |m: MatterId| nets[m.index()] as &dyn Matter,
            slot: &slot,
        };
        for (net, nodes) in nets.iter().zip(&mut self.work) {
            net.force(nodes, &NOWHERE);
        }
        let globals = self.globals.iter();
        globals.for_each(|g| g.apply(&sight, &mut self.work, 0.0));
    }

    /// Forces and torques on all unknowns when they are displaced by `shifted · x` from rest and move
    /// with `moving · x`.
    pub(super) fn force(&mut self, x: &[DVec3], shifted: f64, moving: f64) -> Vec<DVec3> {
        let mut shift: Vec<Vec<DVec3>> = self
            .nets
            .iter()
            .map(|n| vec![DVec3::ZERO; n.masses().len()])
            .collect();
        let mut turn = shift.clone();
        for (unknown, x) in self.unknowns.iter().zip(x) {
            let list = if unknown.turns { &mut turn } else { &mut shift };
            list[unknown.net][unknown.node] = *x * shifted;
            let nodes = &mut self.work[unknown.net];
            let list = if unknown.turns {
                &mut nodes.spin
            } else {
                &mut nodes.velocity
            };
            list[unknown.node] = unknown.freed(*x) * moving;
        }
        for (n, net) in self.nets.iter().enumerate() {
            place(net, &mut self.work[n], &shift[n], &turn[n]);
        }
        for h in self.hypers {
            let (leader, i) = (&self.work[h.master.0.index()], h.master.1 as usize);
            let masses = self.nets[h.master.0.index()].masses();
            let (position, velocity) = (leader.position[i], masses.node_velocity(leader, i));
            let (copy, j) = (&mut self.work[h.slave.0.index()], h.slave.1 as usize);
            (copy.position[j], copy.velocity[j]) = (position, velocity);
        }
        self.feel();
        let slot: Vec<u32> = (0..self.nets.len() as u32).collect();
        for h in self.hypers {
            h.give_back(&mut self.work, &slot);
        }
        let unknowns = self.unknowns.iter();
        unknowns.map(|u| u.of(&self.work[u.net])).collect()
    }

    /// Minus the derivative of the forces along `x`, by central differences: K x, or C x of the dampers.
    pub(super) fn slope(&mut self, x: &[DVec3], shifted: f64, moving: f64) -> Vec<DVec3> {
        let ahead = self.force(x, shifted, moving);
        let back = self.force(x, -shifted, -moving);
        let scale = 2.0 * (shifted + moving);
        ahead
            .iter()
            .zip(&back)
            .map(|(a, b)| (*b - *a) / scale)
            .collect()
    }

    /// Everything at rest, and no forces.
    pub(super) fn clear(&mut self) {
        for (net, nodes) in self.nets.iter().zip(&mut self.work) {
            nodes.copy_from(net.rest());
            nodes.force.fill(DVec3::ZERO);
            nodes.torque.fill(DVec3::ZERO);
        }
    }
}

/// A field without gravity, at no special time.
pub(super) const NOWHERE: Field = Field {
    time: 0.0,
    gravity: DVec3::ZERO,
};

/// A vector that depends on `i` alone and has a share of every mode.
pub(super) fn rough(i: usize) -> DVec3 {
    // Whatever has a pattern misses modes with another one; bits that are stirred well (SplitMix64) have none.
    let stirred = |k: u64| {
        let mut x = (3 * i as u64 + k + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((x ^ (x >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    DVec3::new(stirred(0), stirred(1), stirred(2))
}

/// Puts the nodes of a net where shifts and turns take them.
fn place(net: &Net, nodes: &mut Nodes, shift: &[DVec3], turn: &[DVec3]) {
    let rest = net.rest();
    for i in 0..rest.len() {
        nodes.position[i] = rest.position[i] + shift[i];
        if i < rest.frames() {
            nodes.orientation[i] = rotation::from_scaled_axis(turn[i]) * rest.orientation[i];
        }
    }
}

//! Hyper nodes: rigid pointwise coupling of nets (K54).

use crate::Net;
use glam::DVec3;
use serde::{Deserialize, Serialize};
use trocar_dynamics::{Masses, MatterId, Nodes};

/// A node of one net that leads a node of another: the slave copies the master's position and
/// velocity and gives back the force it feels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hyper {
    /// The node that is integrated.
    pub master: (MatterId, u32),
    /// The node that copies it.
    pub slave: (MatterId, u32),
    /// How much of the slave's force the master takes, 0 to 1. Below 1 momentum is lost.
    pub factor: f64,
}

impl Hyper {
    /// Before the nodes move: hands the slave's force to the master.
    pub fn give_back(&self, nodes: &mut [Nodes], slot: &[u32]) {
        let force = nodes[place(slot, self.slave.0)].force[self.slave.1 as usize];
        nodes[place(slot, self.master.0)].force[self.master.1 as usize] += force * self.factor;
    }

    /// After the nodes have moved: puts the slave where the master is, with the master's velocity.
    pub fn copy<'a>(
        &self,
        masses: impl Fn(MatterId) -> &'a Masses,
        nodes: &mut [Nodes],
        slot: &[u32],
    ) {
        let ((a, i), (b, j)) = (self.master, self.slave);
        let (i, j) = (i as usize, j as usize);
        let leading = &nodes[place(slot, a)];
        let position = leading.position[i];
        let velocity = masses(a).node_velocity(leading, i);
        let following = &mut nodes[place(slot, b)];
        following.position[j] = position;
        following.velocity[j] = velocity;
    }
}

fn place(slot: &[u32], matter: MatterId) -> usize {
    slot[matter.index()] as usize
}

/// Pairs the nodes of two rings of equal size so that together they lie as near as possible, turned
/// and, if need be, run through backwards. Returns for each slave its master.
pub fn matching(master: &[DVec3], slave: &[DVec3]) -> Vec<usize> {
    let n = slave.len();
    let candidate = |turn: usize, backwards: bool| -> Vec<usize> {
        (0..n)
            .map(|i| {
                if backwards {
                    (turn + n - i) % n
                } else {
                    (turn + i) % n
                }
            })
            .collect()
    };
    let cost = |pairs: &[usize]| -> f64 {
        pairs
            .iter()
            .zip(slave)
            .map(|(m, s)| master[*m].distance_squared(*s))
            .sum()
    };
    let mut best = candidate(0, false);
    for turn in 0..n {
        for backwards in [false, true] {
            let pairs = candidate(turn, backwards);
            if cost(&pairs) < cost(&best) {
                best = pairs;
            }
        }
    }
    best
}

/// Marks the node of a pair that is in `net`, whose name is `matter`.
pub fn mark(hyper: &Hyper, matter: MatterId, net: &mut Net) {
    if hyper.master.0 == matter {
        net.set_flags(hyper.master.1 as usize, crate::NodeFlags::MASTER, true);
    }
    if hyper.slave.0 == matter {
        net.follow(hyper.slave.1 as usize, hyper.master);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trocar_math::real::sin_cos;

    #[test]
    fn rings_are_matched_however_they_are_turned() {
        let ring = |turn: f64, sign: f64| -> Vec<DVec3> {
            (0..12)
                .map(|i| {
                    let (s, c) = sin_cos(turn + sign * f64::from(i) * std::f64::consts::TAU / 12.0);
                    DVec3::new(c, s, 0.0)
                })
                .collect()
        };
        let master = ring(0.0, 1.0);
        for (turn, sign) in [(0.0, 1.0), (1.7, 1.0), (4.0, -1.0)] {
            let slave = ring(turn, sign);
            let pairs = matching(&master, &slave);
            let worst = pairs
                .iter()
                .zip(&slave)
                .map(|(m, s)| master[*m].distance(*s))
                .fold(0.0, f64::max);
            assert!(worst < 0.27, "{worst}");
            let mut sorted = pairs.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..12).collect::<Vec<_>>());
        }
    }
}

//! What a grasper holds (K116).

use crate::{Grasper, Part};
use glam::DVec3;
use serde::{Deserialize, Serialize};
use trocar_collide::{Patch, on_triangle};
use trocar_dynamics::{Anchor, Local, MatterId, Tie};
use trocar_math::Pose;

/// Time over which the pull on a grip is averaged before it may fail, s. A jolt of one step is no
/// pull; a hand's pull lasts longer.
const PULL_TIME: f64 = 0.02;

/// Surface points this near (m) to a held node add nothing to its hold.
const CROWDED: f64 = 2e-3;

/// One point of tissue held between the jaws.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hold {
    /// Tie of the tissue (`b`) to the instrument's shaft frame (`a`).
    pub tie: Tie,
    /// Where it was taken, in the shaft's frame, m.
    pub taken: DVec3,
    /// Force on it in the last substep, N.
    pub force: DVec3,
    /// Averaged pull on it, N.
    pub pull: f64,
}

/// All that one instrument holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Grip {
    /// The points held.
    pub holds: Vec<Hold>,
    /// Jaw angle at which they were taken, rad.
    pub jaw: f64,
    /// True once the jaws have opened far enough to take something anew.
    pub armed: bool,
    /// Averaged sum of the forces on all points, N.
    pub load: DVec3,
}

/// How a grip failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The pull was more than the jaws can hold: all is let go.
    Slipped,
    /// The pull on some points was more than the tissue bears there: they came loose.
    TornOut,
}

/// The space between the jaws of a grasper.
pub struct Zone<'a> {
    grasper: &'a Grasper,
    shaft: Pose,
    jaw: f64,
}

impl<'a> Zone<'a> {
    /// The zone for a pose of the shaft and a jaw angle.
    pub fn new(grasper: &'a Grasper, shaft: Pose, jaw: f64) -> Self {
        Self {
            grasper,
            shaft,
            jaw,
        }
    }

    /// Where a point lies in the shaft's frame, if it is between the jaws or within `reach` (m) of that.
    fn inside(&self, point: DVec3, reach: f64) -> Option<DVec3> {
        let g = self.grasper;
        let p = self.shaft.local(point);
        let gap =
            p.z.max(0.0) * trocar_math::real::tan(0.5 * self.jaw) + g.jaw_radius + 0.5 * reach;
        let within = p.z > 0.1 * g.jaw_length
            && p.z < g.jaw_length + g.jaw_radius
            && p.x.abs() < 2.0 * g.jaw_radius + reach
            && p.y.abs() < gap;
        within.then_some(p)
    }

    /// Points of a surface between the jaws: its nodes, and on nets coarser than the jaws the closest
    /// surface points along the middle line.
    pub fn capture(
        &self,
        instrument: MatterId,
        tissue: MatterId,
        patch: &Patch,
        positions: &[DVec3],
    ) -> Vec<Hold> {
        // What lies between the nodes of a net moves with them: the coarser it is, the farther jaws reach (K95).
        let reach = 0.4 * spacing(patch, positions);
        let mut found: Vec<(Local, DVec3)> = Vec::new();
        let mut nodes: Vec<u32> = patch.triangles().flatten().collect();
        nodes.sort_unstable();
        nodes.dedup();
        for node in nodes {
            if let Some(p) = self.inside(positions[node as usize], reach) {
                found.push((Local::Node(node), p));
            }
        }
        for sample in 1..=5 {
            let z = self.grasper.jaw_length * f64::from(sample) / 5.0;
            let at = self.shaft.point(DVec3::Z * z);
            let mut best: Option<(f64, Local, DVec3)> = None;
            for t in patch.triangles() {
                let corners = t.map(|n| positions[n as usize]);
                let weights = on_triangle(at, corners);
                let point = trocar_collide::closest::point(corners, weights);
                let distance = point.distance_squared(at);
                if best.is_none_or(|b| distance < b.0) {
                    best = Some((distance, Local::Triangle(t, weights), point));
                }
            }
            let near = best.and_then(|(_, local, point)| Some((local, self.inside(point, reach)?)));
            if let Some((local, p)) = near
                && found
                    .iter()
                    .all(|(other, q)| q.distance(p) > CROWDED && !shares_node(other, &local))
            {
                found.push((local, p));
            }
        }
        found
            .into_iter()
            .map(|(at, taken)| Hold {
                tie: Tie::point(
                    Anchor::frame(instrument, Part::Shaft as u32, taken),
                    Anchor { matter: tissue, at },
                ),
                taken,
                force: DVec3::ZERO,
                pull: 0.0,
            })
            .collect()
    }
}

/// Mean length of a triangle's first side, m.
fn spacing(patch: &Patch, positions: &[DVec3]) -> f64 {
    let sides = patch
        .triangles()
        .map(|t| positions[t[0] as usize].distance(positions[t[1] as usize]));
    sides.sum::<f64>() / patch.triangles().count().max(1) as f64
}

/// True if two points rest on a common node: holding both would hold it twice.
fn shares_node(a: &Local, b: &Local) -> bool {
    let nodes = |local: &Local| match *local {
        Local::Node(n) => [n; 3],
        Local::Triangle(nodes, _) => nodes,
        Local::Frame(..) | Local::Tetrahedron(..) => [u32::MAX; 3],
    };
    nodes(a).iter().any(|n| nodes(b).contains(n))
}

impl Grip {
    /// Nothing is held.
    pub fn is_empty(&self) -> bool {
        self.holds.is_empty()
    }

    /// Lets go of everything.
    pub fn let_go(&mut self) {
        self.holds.clear();
        self.load = DVec3::ZERO;
    }

    /// Closing jaws draw what they hold to the middle.
    pub fn squeeze(&mut self, jaw: f64) {
        let opening = |angle: f64| trocar_math::real::sin(0.5 * angle);
        let ratio = if self.jaw > 0.0 {
            (opening(jaw) / opening(self.jaw)).clamp(0.0, 1.0)
        } else {
            0.0
        };
        for hold in &mut self.holds {
            let p = hold.taken;
            hold.tie.a.at = Local::Frame(Part::Shaft as u32, DVec3::new(p.x, p.y * ratio, p.z));
        }
    }

    /// Averages the pull of the last step, `dt` seconds long, and lets go what can't be held: all of it if the
    /// jaws bear less than the sum, single points where the tissue (`bears`, N) bears less.
    pub fn strain(
        &mut self,
        dt: f64,
        grip_force: f64,
        bears: impl Fn(MatterId) -> f64,
    ) -> Option<Failure> {
        let share = (dt / PULL_TIME).min(1.0);
        // Forces cancel where the tissue is only squeezed: what the jaws have to hold is their sum.
        let sum: DVec3 = self.holds.iter().map(|h| h.force).sum();
        self.load += (sum - self.load) * share;
        for hold in &mut self.holds {
            hold.pull += (hold.force.length() - hold.pull) * share;
        }
        if self.load.length() > grip_force {
            self.let_go();
            return Some(Failure::Slipped);
        }
        let before = self.holds.len();
        self.holds
            .retain(|hold| hold.pull <= bears(hold.tie.b.matter));
        (self.holds.len() < before).then_some(Failure::TornOut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Handle, grasper::tests::sample};

    /// A sheet of `n` × `n` nodes, `cell` m wide cells, through `centre`, across z of the shaft.
    fn sheet(n: u32, cell: f64, shaft: &Pose, z: f64) -> (Patch, Vec<DVec3>) {
        let half = f64::from(n - 1) * 0.5;
        let positions = (0..n * n)
            .map(|i| {
                let (x, y) = (f64::from(i % n) - half, f64::from(i / n) - half);
                shaft.point(DVec3::new(x * cell, y * cell, z))
            })
            .collect::<Vec<_>>();
        let mut triangles = Vec::new();
        for r in 0..n - 1 {
            for c in 0..n - 1 {
                let a = r * n + c;
                triangles.push([a, a + 1, a + n]);
                triangles.push([a + 1, a + n + 1, a + n]);
            }
        }
        (Patch::new(triangles, positions.len()).unwrap(), positions)
    }

    fn captured(cell: f64, z: f64) -> Vec<Hold> {
        let g = sample();
        let [shaft, ..] = g.poses(&Handle {
            depth: 0.1,
            jaw: 0.4,
            ..Handle::default()
        });
        let (patch, positions) = sheet(20, cell, &shaft, z);
        Zone::new(&g, shaft, 0.4).capture(MatterId(1), MatterId(2), &patch, &positions)
    }

    #[test]
    fn fine_and_coarse_nets_are_both_caught() {
        assert!(captured(1e-3, 0.015).len() > 10);
        let coarse = captured(0.02, 0.015);
        assert!(!coarse.is_empty());
        assert!(
            coarse
                .iter()
                .all(|h| matches!(h.tie.b.at, Local::Triangle(..)))
        );
        assert!(captured(1e-3, 0.05).is_empty(), "beyond the tip");
        assert!(captured(1e-3, -0.01).is_empty(), "behind the hinge");
    }

    #[test]
    fn closing_jaws_draw_what_they_hold_to_the_middle() {
        let mut grip = Grip {
            holds: captured(1e-3, 0.015),
            jaw: 0.4,
            ..Grip::default()
        };
        grip.squeeze(0.0);
        for hold in &grip.holds {
            assert!(
                matches!(hold.tie.a.at, Local::Frame(0, p) if p.y == 0.0 && p.x == hold.taken.x)
            );
        }
    }

    #[test]
    fn a_grip_holds_up_to_its_force_and_tissue_up_to_its_own() {
        let pulled = |newton: f64, grip_force: f64, bears: f64| {
            let mut grip = Grip {
                holds: captured(1e-3, 0.015),
                jaw: 0.4,
                ..Grip::default()
            };
            let n = grip.holds.len() as f64;
            let mut failure = None;
            for _ in 0..100 {
                for hold in &mut grip.holds {
                    hold.force = DVec3::X * (newton / n);
                }
                failure = failure.or(grip.strain(1e-3, grip_force, |_| bears / n));
            }
            failure
        };
        assert_eq!(pulled(4.9, 5.0, 100.0), None);
        assert_eq!(pulled(5.1, 5.0, 100.0), Some(Failure::Slipped));
        assert_eq!(pulled(4.9, 5.0, 4.0), Some(Failure::TornOut));
    }

    #[test]
    fn a_jolt_of_one_step_does_not_break_a_grip() {
        let mut grip = Grip {
            holds: captured(1e-3, 0.015),
            jaw: 0.4,
            ..Grip::default()
        };
        for hold in &mut grip.holds {
            hold.force = DVec3::X;
        }
        assert_eq!(grip.strain(1e-3, 5.0, |_| 0.5), None);
    }
}

//! A rod against a membrane: a chain of capsules that pushes points of the sheet out, without friction (W55–W59, M5).
//!
//! For shafts it is enough to test nodes (W58). Tests of nodes, midpoints of edges and of triangles are how an older scraper worked (W142); it is kept to
//! compare with, and shows why a tip has to test whole triangles: what is smaller than the gaps between its points slips through.

use super::{Reaction, Travel};
use glam::DVec3;
use trocar_collide::Capsule;
use trocar_dynamics::Nodes;
use trocar_math::{Bounds, Pose};
use trocar_soft::membrane::Membrane;

/// Which points of a sheet are tested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sampling {
    /// Nodes (W58).
    #[default]
    Nodes,
    /// Nodes, midpoints of edges and of triangles (W142).
    Midpoints,
}

/// What a rod is.
#[derive(Clone, Debug, PartialEq)]
pub struct RodParts {
    /// Axes of its capsules in the tool's frame, m; both ends the same: a ball (W55).
    pub chain: Vec<[DVec3; 2]>,
    /// Radius of all of them, m, > 0.
    pub radius: f64,
    /// Force for each depth, N/m, > 0.
    pub stiffness: f64,
    /// What it tests.
    pub sampling: Sampling,
}

/// A point of the sheet: up to three nodes that share alike, the last ones the same if there are fewer.
type Sample = [u32; 3];

/// A rod; see the [module](self).
#[derive(Clone, Debug)]
pub struct Rod {
    parts: RodParts,
    travel: Travel,
    /// Points that the broad phase has found.
    near: Vec<Sample>,
    touched: usize,
    reaction: Reaction,
}

impl Rod {
    /// Checks the parts; the reason why not, if they can't be used.
    pub fn new(parts: RodParts) -> Result<Self, &'static str> {
        let positive = |x: f64| x > 0.0 && x < f64::INFINITY;
        if parts.chain.is_empty() || !parts.chain.iter().flatten().all(|p| p.is_finite()) {
            return Err("a rod needs at least one finite axis");
        }
        if !positive(parts.radius) || !positive(parts.stiffness) {
            return Err("a rod needs a radius and a stiffness above 0");
        }
        Ok(Self {
            parts,
            travel: Travel::still(Pose::IDENTITY, 0.0),
            near: Vec::new(),
            touched: 0,
            reaction: Reaction::default(),
        })
    }

    /// The most that it adds to the stiffness of a node, N/m: for [`Membrane::expect_tools`].
    pub fn added_stiffness(&self) -> f64 {
        // A point of n nodes gives each of them 1/n of a third: with eight edges and triangles at a node, 7.7 thirds.
        let points = match self.parts.sampling {
            Sampling::Nodes => 1.0,
            Sampling::Midpoints => 2.6,
        };
        points * self.parts.stiffness * self.parts.chain.len() as f64
    }

    /// Points that it may reach, and those that it touched in the last substep.
    pub fn counts(&self) -> [usize; 2] {
        [self.near.len(), self.touched]
    }

    /// What the membrane did to it in the last substep.
    pub fn reaction(&self) -> Reaction {
        self.reaction
    }

    fn capsules(&self, pose: Pose) -> impl Iterator<Item = Capsule> + '_ {
        let radius = self.parts.radius;
        self.parts.chain.iter().map(move |axis| {
            let [a, b] = axis.map(|p| pose.point(p));
            Capsule { a, b, radius }
        })
    }

    /// Begins a frame: finds points that it may reach (W56, W57), in boxes around each capsule's way, grown by its radius and `margin` (m), which must cover the
    /// way that nodes go in the frame.
    pub fn begin(&mut self, membrane: &Membrane, nodes: &Nodes, travel: Travel, margin: f64) {
        self.travel = travel;
        let ways = self.capsules(travel.from).zip(self.capsules(travel.to));
        let boxes: Vec<Bounds> = ways
            .map(|(from, to)| {
                let way = Bounds::of([from.a, from.b, to.a, to.b]);
                way.grown(from.radius + margin)
            })
            .collect();
        let mut near = std::mem::take(&mut self.near);
        near.clear();
        let is_near = |sample: Sample| {
            let point = middle(sample, &nodes.position);
            boxes.iter().any(|b| {
                let inside = b.low.cmple(point) & b.high.cmpge(point);
                inside.all()
            })
        };
        let sheet = membrane.sheet();
        near.extend(
            sheet
                .nodes()
                .map(|n| [n.slot() as u32; 3])
                .filter(|sample| is_near(*sample)),
        );
        if self.parts.sampling == Sampling::Midpoints {
            let edges = sheet.edges().map(|e| {
                let [a, b] = sheet.ends(e).map(|n| n.slot() as u32);
                [a, b, b]
            });
            let triangles = membrane.triangles().map(|(_, corners)| corners);
            near.extend(edges.chain(triangles).filter(|sample| is_near(*sample)));
        }
        self.near = near;
    }

    /// Adds its forces to those of the membrane, for the substep that ends after a part (0 to 1) of the frame: the shortest way out of every capsule, by its
    /// depth (W59).
    pub fn act(&mut self, nodes: &mut Nodes, part: f64) {
        let pose = self.travel.at(part);
        let stiffness = match self.parts.sampling {
            Sampling::Nodes => self.parts.stiffness,
            Sampling::Midpoints => self.parts.stiffness / 3.0,
        };
        let (mut touched, mut reaction) = (0, Reaction::default());
        for capsule in self.capsules(pose) {
            for sample in &self.near {
                let point = middle(*sample, &nodes.position);
                let away = point - nearest(&capsule, point);
                let distance = away.length();
                // On the axis itself no way is the shortest.
                if distance >= capsule.radius || distance == 0.0 {
                    continue;
                }
                let push = away * (stiffness * (capsule.radius - distance) / distance);
                let owners = distinct(sample);
                for n in owners {
                    nodes.force[*n as usize] += push / owners.len() as f64;
                }
                reaction.take(point - pose.position, push);
                touched += 1;
            }
        }
        (self.touched, self.reaction) = (touched, reaction);
    }
}

/// The nodes of a point, each once.
fn distinct(sample: &Sample) -> &[u32] {
    let [a, b, c] = sample;
    match (a == b, b == c) {
        (true, true) => &sample[..1],
        (_, true) => &sample[..2],
        _ => sample,
    }
}

fn middle(sample: Sample, positions: &[DVec3]) -> DVec3 {
    let owners = distinct(&sample);
    let sum: DVec3 = owners.iter().map(|n| positions[*n as usize]).sum();
    sum / owners.len() as f64
}

/// The point of a capsule's axis that is nearest to a point.
fn nearest(capsule: &Capsule, point: DVec3) -> DVec3 {
    let along = capsule.b - capsule.a;
    let square = along.length_squared();
    if square == 0.0 {
        return capsule.a;
    }
    let part = (point - capsule.a).dot(along) / square;
    capsule.a + along * part.clamp(0.0, 1.0)
}

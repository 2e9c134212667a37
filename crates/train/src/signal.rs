//! What is seen of an operation, at 50 samples a second whatever the simulation's step.

use crate::{measure::kernel, trace::RATE};
use glam::{DQuat, DVec3};
use trocar_dynamics::{Anchor, Local, State};
use trocar_math::rotation;
use trocar_scene::{Simulation, build::Tissue};

/// One sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Time from the start, s.
    pub time: f64,
    /// The tip, m.
    pub tip: DVec3,
    /// Orientation of the shaft.
    pub shaft: DQuat,
    /// Speed of the tip since the sample before, m/s.
    pub speed: f64,
    /// Amount of the force at the tip, mean since the sample before, N.
    pub force: f64,
    /// Greatest stretch of the tissue.
    pub stretch: f64,
    /// The tip is seen.
    pub seen: bool,
    /// Something is held.
    pub holding: bool,
}

/// A tissue whose stretch is measured.
#[derive(Debug)]
struct Skin {
    /// Index of its matter.
    matter: usize,
    /// Its edges and their lengths at rest, m.
    edges: Vec<([u32; 2], f64)>,
}

/// Makes samples of steps.
#[derive(Debug)]
pub struct Sampler {
    tool: usize,
    /// The tissue whose stretch is measured.
    skin: Option<Skin>,
    start: f64,
    /// The last step: time from the start, tip, shaft.
    last: (f64, DVec3, DQuat),
    /// Force times time since the last sample, and that time.
    push: (f64, f64),
    /// The tip in the last sample.
    tip: DVec3,
    count: u64,
}

impl Sampler {
    /// Watches instrument `tool`, and the stretch of `tissue`.
    pub fn new(simulation: &Simulation, tool: usize, tissue: Option<&Tissue>) -> Self {
        let (tip, shaft) = tip(simulation, tool);
        let skin = tissue.map(|t| {
            let rest = &simulation.model().start[t.matter.index()].position;
            let mut pairs: Vec<[u32; 2]> = t
                .triangles
                .iter()
                .flat_map(|[a, b, c]| [[*a, *b], [*b, *c], [*c, *a]])
                .map(|[a, b]| [a.min(b), a.max(b)])
                .collect();
            pairs.sort_unstable();
            pairs.dedup();
            let length = |[a, b]: [u32; 2]| rest[a as usize].distance(rest[b as usize]);
            let edges = pairs
                .into_iter()
                .map(|pair| (pair, length(pair)))
                .filter(|e| e.1 > 1e-9)
                .collect();
            Skin {
                matter: t.matter.index(),
                edges,
            }
        });
        Self {
            tool,
            skin,
            start: simulation.state().time,
            last: (0.0, tip, shaft),
            push: (0.0, 0.0),
            tip,
            count: 0,
        }
    }

    /// Time from the start, s.
    pub fn elapsed(&self) -> f64 {
        self.last.0
    }

    /// Takes in a step; `each` is given the samples that fall into it, mostly none or one.
    pub fn step(&mut self, simulation: &Simulation, mut each: impl FnMut(Sample)) {
        let now = simulation.state().time - self.start;
        let (tip, shaft) = tip(simulation, self.tool);
        let (before, from, turned) = self.last;
        let dt = now - before;
        let force = simulation.force(self.tool).length();
        self.push.0 += force * dt;
        self.push.1 += dt;
        let turn = rotation::to_scaled_axis(shaft * turned.conjugate());
        loop {
            let time = self.count as f64 / RATE;
            // A step that ends a rounding error before a sample's time reaches it.
            if time > now + 1e-9 {
                break;
            }
            let share = if dt > 0.0 {
                ((time - before) / dt).clamp(0.0, 1.0)
            } else {
                1.0
            };
            let at = from.lerp(tip, share);
            let stretch = self.skin.as_ref().map_or(0.0, |skin| {
                let now = &simulation.state().nodes[skin.matter].position;
                kernel::greatest_stretch(now, &skin.edges)
            });
            each(Sample {
                time,
                tip: at,
                shaft: rotation::from_scaled_axis(turn * share) * turned,
                speed: at.distance(self.tip) * if self.count == 0 { 0.0 } else { RATE },
                force: if self.push.1 > 0.0 {
                    self.push.0 / self.push.1
                } else {
                    force
                },
                stretch,
                seen: sees(simulation, at),
                holding: simulation.held(self.tool) > 0,
            });
            self.push = (0.0, 0.0);
            self.tip = at;
            self.count += 1;
        }
        self.last = (now, tip, shaft);
    }
}

/// The tip of an instrument and the orientation of its shaft.
pub fn tip(simulation: &Simulation, tool: usize) -> (DVec3, DQuat) {
    let shaft = simulation.poses(tool)[0];
    let grasper = &simulation.model().tools[tool].grasper;
    (grasper.tip(&shaft), shaft.rotation)
}

/// True if `point` is in the endoscope's picture; without endoscope, in a round picture as high as the camera's.
pub fn sees(simulation: &Simulation, point: DVec3) -> bool {
    if let Some(eye) = simulation.eye() {
        return eye.sees(point);
    }
    let camera = &simulation.model().camera;
    let eye = DVec3::from(camera.eye);
    let angle = trocar_math::angle(DVec3::from(camera.target) - eye, point - eye);
    angle <= 0.5 * camera.field_of_view.to_radians()
}

/// Where an anchor is, m.
pub fn position(state: &State, anchor: &Anchor) -> DVec3 {
    let nodes = &state.nodes[anchor.matter.index()];
    match anchor.at {
        Local::Node(n) => nodes.position[n as usize],
        Local::Frame(n, offset) => {
            nodes.position[n as usize] + nodes.orientation[n as usize] * offset
        }
        Local::Triangle(corners, weights) => weigh(&nodes.position, &corners, &weights),
        Local::Tetrahedron(corners, weights) => weigh(&nodes.position, &corners, &weights),
    }
}

fn weigh(positions: &[DVec3], corners: &[u32], weights: &[f64]) -> DVec3 {
    corners
        .iter()
        .zip(weights)
        .map(|(n, w)| positions[*n as usize] * *w)
        .sum()
}

/// Which way the surface faces at an anchor; up where it has no surface.
pub fn normal(state: &State, anchor: &Anchor) -> DVec3 {
    let Local::Triangle(corners, _) = anchor.at else {
        return DVec3::Y;
    };
    let [a, b, c] = corners.map(|n| state.nodes[anchor.matter.index()].position[n as usize]);
    (b - a).cross(c - a).normalize_or(DVec3::Y)
}

/// The point of a tissue's surface at rest that is closest to `point`.
pub fn on_surface(simulation: &Simulation, tissue: &Tissue, point: DVec3) -> Anchor {
    let rest = &simulation.model().start[tissue.matter.index()].position;
    let (at, _) = closest(tissue, rest, point);
    Anchor {
        matter: tissue.matter,
        at,
    }
}

/// Distance from `point` to a tissue's surface as it is now, m.
pub fn distance(simulation: &Simulation, tissue: &Tissue, point: DVec3) -> f64 {
    let now = &simulation.state().nodes[tissue.matter.index()].position;
    closest(tissue, now, point).1
}

fn closest(tissue: &Tissue, positions: &[DVec3], point: DVec3) -> (Local, f64) {
    let mut best = (Local::Node(tissue.first), f64::INFINITY);
    for triangle in &tissue.triangles {
        let corners = triangle.map(|n| positions[n as usize]);
        let weights = trocar_collide::on_triangle(point, corners);
        let distance = trocar_collide::closest::point(corners, weights).distance(point);
        if distance < best.1 {
            best = (Local::Triangle(*triangle, weights), distance);
        }
    }
    best
}

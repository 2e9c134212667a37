//! What may touch tissue: the hulls of instruments, the convex pieces of bodies, and bodies with distance grids.

use crate::build::{Model, pose};
use glam::DVec3;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use trocar_collide::{
    Ahead, Capsule, Hull, Probe, Touch, Way,
    grid::Grid,
    near::{Near, Thing},
    rigid::{Kind, Pair, Shape},
};
use trocar_dynamics::{Anchor, Budget, Contact, Local, MatterId, Nodes};
use trocar_math::{Bounds, Pose, rotation};

/// Tissue this near (m) to a hull is watched although the hull alone would not reach it in the substep: tissue moves as
/// well.
pub const WATCH: f64 = 1e-3;

/// The same around fine instruments on membranes, in their radii.
const WATCHED_RADII: f64 = 4.0;

/// Nothing is looked for farther than this, m, however fast it moves.
pub const FARTHEST: f64 = 0.2;

/// Share of an overlap with a body that is undone in one substep. The rest follows: undone at once, it would be a blow.
const RECOVERY: f64 = 0.05;

/// How far the surface of a tissue yields at a point, m/N: a tenth of a millimetre under a fifth of a newton.
const GIVE: f64 = 5e-4;

/// Faster than this, m/s, a point slides.
const SLIDING: f64 = 5e-4;

/// A contact of the last substep. One that goes on starts from its impulses; without that, contacts that share nodes would
/// take many sweeps to agree anew, and friction would forget what it holds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Warm {
    /// Which contact: tissue, probe, feature of the probe, nodes of the tissue.
    pub key: Key,
    /// Impulse along the normal, N·s.
    pub impulse: f64,
    /// Impulse of friction, N·s.
    pub rub: DVec3,
    /// How long the substep was, s: a weight presses for as long as it is.
    pub h: f64,
}

/// Which contact it is: tissue, probe, feature of the probe, nodes of the tissue.
pub type Key = (MatterId, u32, u32, [u32; 3]);

/// A convex piece of a collider, or all of it.
#[derive(Clone, Debug)]
struct Piece {
    collider: u32,
    is: Is,
}

/// What tissue meets.
#[derive(Clone, Debug)]
enum Is {
    /// A part of a shape: the collider's, or the shell of a mesh.
    Part(Shape, u32),
    /// The body inside a mesh, by its distance grid (F12–F20).
    Solid(Arc<Grid>),
}

/// All that may touch the tissues of a group: the instruments' hulls first, in their order, then pieces of bodies.
#[derive(Default)]
pub struct Probes {
    /// Where they are now.
    pub list: Vec<Probe>,
    tools: usize,
    pieces: Vec<Piece>,
    /// Which of them may touch which surface, for as long as that is right (W39): surfaces first, then probes.
    near: Near,
    things: Vec<Thing>,
    pairs: Vec<Pair>,
    surfaces: usize,
    matters: Vec<MatterId>,
    before: Vec<Bounds>,
    /// Margins before they were widened, m.
    margins: Vec<f64>,
}

/// Room is made for so many pairs at once at most.
const MOST_ROOM: usize = 4096;

/// Pairs are looked for with room for so many steps at the speeds of now.
const LASTING: f64 = 8.0;

/// How a body moves.
struct Motion<'a> {
    nodes: &'a Nodes,
    node: usize,
}

impl Probes {
    /// Of a group that holds the bodies that move by themselves, or does not. `parts` is the number of hulls of an
    /// instrument.
    pub fn new(model: &Model, with_bodies: bool, parts: usize) -> Self {
        let mut pieces = Vec::new();
        for (c, collider) in model.colliders.iter().enumerate() {
            let matter = Some(collider.at.0);
            if matter == model.fixtures || (with_bodies && matter == model.bodies) {
                if let Some(grid) = &collider.grid {
                    pieces.push(Piece {
                        collider: c as u32,
                        is: Is::Solid(grid.clone()),
                    });
                    continue;
                }
                for part in 0..collider.shape.piece_count() {
                    // A mesh has no inside that could say how deep something is in it; its shell has.
                    let shell = collider.shape.shell(part);
                    let parts = shell
                        .as_ref()
                        .map_or(part..part + 1, |s| 0..s.piece_count());
                    let shape = shell.as_ref().unwrap_or(&collider.shape);
                    pieces.extend(parts.map(|part| Piece {
                        collider: c as u32,
                        is: Is::Part(shape.clone(), part),
                    }));
                }
            }
        }
        Self {
            list: Vec::new(),
            tools: model.tools.len() * parts,
            pieces,
            ..Self::default()
        }
    }

    /// Finds which of them may touch which surface in this step: matter, box around its nodes (m), and how far they moved in the last step (m). The pairs of an
    /// earlier step are right until something leaves the room it was given then.
    pub fn look(
        &mut self,
        model: &Model,
        surfaces: impl Iterator<Item = (MatterId, Bounds, f64)>,
        dt: f64,
    ) {
        self.things.clear();
        self.matters.clear();
        for (matter, bounds, moved) in surfaces {
            self.matters.push(matter);
            self.things.push(Thing {
                bounds,
                speed: if moved.is_finite() { moved / dt } else { 0.0 },
                margin: 0.0,
            });
        }
        self.surfaces = self.things.len();
        self.before.resize(self.list.len(), Bounds::EMPTY);
        for (probe, before) in self.list.iter().zip(&mut self.before) {
            let bounds = probe.bounds();
            let way = (before.low - bounds.low).max(bounds.high - before.high);
            let way = way.max_element().max(0.0);
            self.things.push(Thing {
                bounds,
                // What has just come, or reaches everywhere, has no speed.
                speed: if way.is_finite() { way / dt } else { 0.0 },
                margin: 0.0,
            });
            *before = bounds;
        }
        // What comes near for the first time must not wait for memory.
        let most = (self.surfaces * self.list.len()).min(MOST_ROOM);
        if self.pairs.capacity() < most {
            self.pairs.reserve(most);
            self.near.reserve(self.things.len(), most);
        }
        let (things, matters, surfaces) = (&self.things, &self.matters, self.surfaces);
        let (tools, pieces) = (self.tools, &self.pieces);
        let may = |a: u32, b: u32| {
            let (a, b) = (a as usize, b as usize);
            a < surfaces
                && b >= surfaces
                && !is_apart(model, (tools, pieces), b - surfaces, matters[a])
        };
        let found = self.near.update(things, LASTING * dt, may);
        self.pairs.clear();
        self.pairs.extend_from_slice(found);
    }

    /// Has all of them reach farther, m, until they are [narrowed](Self::narrow).
    pub fn widen(&mut self, by: f64) {
        self.margins.clear();
        self.margins.extend(self.list.iter().map(|p| p.margin));
        self.list.iter_mut().for_each(|probe| probe.margin += by);
    }

    /// Has them reach again as far as before they were widened.
    pub fn narrow(&mut self) {
        for (probe, margin) in self.list.iter_mut().zip(&self.margins) {
            probe.margin = *margin;
        }
    }

    /// Whether a probe may touch a surface in this step.
    pub fn may_touch(&self, surface: usize, probe: usize) -> bool {
        let pair = Pair::new(surface as u32, (self.surfaces + probe) as u32);
        self.pairs.binary_search(&pair).is_ok()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.tools + self.pieces.len()
    }

    /// Puts all where they are; `motion` is how far instruments move at most (m) before the next time and `ahead` where they are then, bodies
    /// move for `seconds`. If there are `only_films`, less around fine instruments is watched.
    pub fn place<'n>(
        &mut self,
        model: &Model,
        (capsules, ahead): (&[Capsule], &[Capsule]),
        (motion, only_films): (f64, bool),
        share: impl Fn(MatterId) -> &'n Nodes,
        seconds: f64,
    ) {
        self.list.clear();
        for (now, then) in capsules.iter().zip(ahead) {
            // Membranes are worked with fine instruments, whose least motion is smaller than what is watched around thick ones.
            let watch = match only_films {
                true => WATCH.min(WATCHED_RADII * now.radius),
                false => WATCH,
            };
            self.list.push(Probe {
                hull: Hull::Capsule(*now),
                margin: motion + watch,
                ahead: Some(Ahead {
                    way: Way::Axis([then.a - now.a, then.b - now.b]),
                    watch,
                }),
            });
        }
        let fall = model.gravity.length() * seconds;
        for piece in &self.pieces {
            let collider = &model.colliders[piece.collider as usize];
            let (matter, node) = collider.at;
            let moves = Motion {
                nodes: share(matter),
                node: node as usize,
            };
            let falls = if Some(matter) == model.bodies {
                fall
            } else {
                0.0
            };
            let margin = moves.reach(&collider.shape, falls, seconds) + WATCH;
            let hull = match &piece.is {
                Is::Part(shape, part) => hull(shape, *part, &moves.pose()),
                Is::Solid(grid) => Hull::Grid(grid.clone(), moves.pose()),
            };
            let gravity = if falls > 0.0 {
                model.gravity * seconds
            } else {
                DVec3::ZERO
            };
            self.list.push(Probe {
                ahead: moves.ahead(&hull, gravity, seconds),
                hull,
                margin,
            });
        }
    }

    /// Instrument and part of a probe; none if it belongs to a body.
    pub fn tool(&self, probe: usize, parts: usize) -> Option<(usize, usize)> {
        (probe < self.tools).then(|| (probe / parts, probe % parts))
    }

    /// True if a probe does not touch a tissue, because a joint joins them.
    pub fn is_apart(&self, model: &Model, probe: usize, tissue: MatterId) -> bool {
        is_apart(model, (self.tools, &self.pieces), probe, tissue)
    }

    /// Matter and node of a probe, and its coefficients of friction.
    pub fn owner(&self, model: &Model, probe: usize, parts: usize) -> ((MatterId, u32), [f64; 2]) {
        match self.tool(probe, parts) {
            Some((tool, part)) => {
                let tool = &model.tools[tool];
                ((tool.matter, part as u32), tool.friction)
            }
            None => {
                let piece = &self.pieces[probe - self.tools];
                let collider = &model.colliders[piece.collider as usize];
                (collider.at, collider.friction)
            }
        }
    }
}

impl Motion<'_> {
    fn pose(&self) -> Pose {
        pose(self.nodes, self.node)
    }

    /// Where its hull goes in a time if nothing stops it; `gained` is the velocity that it gains until then, m/s.
    fn ahead(&self, hull: &Hull, gained: DVec3, seconds: f64) -> Option<Ahead> {
        let centre = self.nodes.position[self.node];
        let way = (self.nodes.velocity[self.node] + gained) * seconds;
        let turn = rotation::from_scaled_axis(self.nodes.spin[self.node] * seconds);
        let moved = |p: DVec3| centre + way + turn * (p - centre);
        let way = match hull {
            Hull::Capsule(capsule) => {
                Way::Axis([moved(capsule.a) - capsule.a, moved(capsule.b) - capsule.b])
            }
            Hull::Convex(piece) => {
                let pose = piece.pose();
                Way::Pose(Pose::new(moved(pose.position), turn * pose.rotation))
            }
            Hull::Grid(_, pose) => Way::Pose(Pose::new(moved(pose.position), turn * pose.rotation)),
            Hull::Below(..) => return None,
        };
        Some(Ahead { way, watch: WATCH })
    }

    fn reach(&self, shape: &Shape, fall: f64, seconds: f64) -> f64 {
        let speed = self.nodes.velocity[self.node].length() + fall;
        let spin = self.nodes.spin[self.node].length();
        shape.reach(speed, spin, seconds).min(FARTHEST)
    }
}

fn is_apart(
    model: &Model,
    (tools, pieces): (usize, &[Piece]),
    probe: usize,
    tissue: MatterId,
) -> bool {
    let Some(piece) = probe.checked_sub(tools).map(|p| &pieces[p]) else {
        return false;
    };
    let key = (piece.collider, tissue);
    model.apart_from_tissue.binary_search(&key).is_ok()
}

/// What a piece of a shape is to a surface.
fn hull(shape: &Shape, part: u32, at: &Pose) -> Hull {
    let piece = shape.piece(part, at);
    match piece.kind() {
        Kind::Capsule { a, b, radius } => Hull::Capsule(Capsule { a, b, radius }),
        Kind::Below { point, normal } => Hull::Below(point, normal),
        Kind::Convex | Kind::Surface => Hull::Convex(piece),
    }
}

/// What touches where, and how fast.
pub struct Place<'a> {
    /// Where it touches.
    pub touch: &'a Touch,
    /// The tissue.
    pub tissue: MatterId,
    /// The touched point, m, and its velocity, m/s.
    pub point: DVec3,
    /// m/s.
    pub velocity: DVec3,
}

impl Place<'_> {
    /// The contact of a body, or of an instrument that rubs. It acts on both at the touched point, so that no impulse turns
    /// anything that it should not. `friction` is static and dynamic; `h` the substep, s.
    pub fn contact(
        &self,
        (matter, node): (MatterId, u32),
        nodes: &Nodes,
        friction: [f64; 2],
        h: f64,
        is_body: bool,
    ) -> Contact {
        let (touch, i) = (self.touch, node as usize);
        let n = touch.normal;
        let gap = n.dot(self.point - touch.at) - touch.distance;
        let arm = self.point - nodes.position[i];
        let u = self.velocity - nodes.velocity[i] - nodes.spin[i].cross(arm);
        let slides = (u - n * n.dot(u)).length_squared() > SLIDING * SLIDING;
        let most = Budget::default().recovery;
        Contact {
            a: Anchor::frame(matter, node, pose(nodes, i).local(self.point)),
            b: Anchor {
                matter: self.tissue,
                at: Local::Triangle(touch.nodes, touch.weights),
            },
            normal: n,
            distance: -gap,
            friction: friction[usize::from(slides)],
            recovery: if is_body {
                (-gap * RECOVERY / h).clamp(0.0, most)
            } else {
                most
            },
            give: if is_body { GIVE } else { 0.0 },
            impulse: 0.0,
            rub: DVec3::ZERO,
        }
    }
}

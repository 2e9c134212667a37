//! The primitives organ, pipe and sheet (K72–K74).

use crate::{
    element::{Base, Element, Law, Plastic},
    net::{Bend, NetParts, NodeFlags, Torsion, Twist},
};
use glam::DVec3;
use trocar_dynamics::{Integrator, Lock, MassNode, Rigid};
use trocar_math::Pose;
use trocar_mesh::{
    Surface,
    primitive::{EdgeKind, LatticeEdge, Tube},
};

/// Which neighbours of the node matrix springs join (K51).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NetKind {
    /// Along the edges only: shears without resistance.
    A,
    /// And along one diagonal of every cell.
    B,
    /// And along both: the standard, without implausible shear.
    #[default]
    C,
}

/// What a primitive is made of: one set of constants for all its nodes and elements (K42).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Mass of a surface node, kg.
    pub mass: f64,
    /// Damping of a surface node, N·s/m.
    pub damping: f64,
    /// Springs between surface nodes, N/m (linear) or N/m² (quadratic).
    pub stiffness: f64,
    /// Law of those springs.
    pub base: Base,
    /// Gain of those springs below and above their rest length (K33); (1, 1) is Hooke's.
    pub gain: [f64; 2],
    /// Dead zones of those springs below and above their rest length, m (K34).
    pub dead: [f64; 2],
    /// Greatest push and pull of those springs, N (K36).
    pub limit: [f64; 2],
    /// By what part those springs are shorter at rest than built, 0 to below 1 (K43).
    pub shorten: f64,
    /// How those springs yield.
    pub plastic: Option<Plastic>,
    /// Which neighbours they join.
    pub net: NetKind,
    /// Shape memory, N/m or N/m².
    pub memory: f64,
    /// Law of the shape memory.
    pub memory_base: Base,
    /// Mass of a central node, kg.
    pub centre_mass: f64,
    /// Damping of a central node, N·s/m.
    pub centre_damping: f64,
    /// Rotational damping of a central node, N·m·s/rad.
    pub turn_damping: f64,
    /// Springs between central nodes, N/m.
    pub centre_stiffness: f64,
    /// Torsion of a central node against its orientation at rest, N·m/rad (K40).
    pub torsion: f64,
    /// Torsion of a central node of a pipe against the pipe's own main axis, N·m/rad (K40); 0 leaves it out.
    pub twist: f64,
    /// Bending at a central node of a pipe, N/rad (K41); 0 leaves it out.
    pub bending: f64,
    /// Dampers along a pipe, from ring to ring, N·s/m (K32).
    pub brace: f64,
    /// Gravity acts.
    pub gravity: bool,
    /// By which scheme it moves (K59–K64).
    pub integrator: Integrator,
    /// Height below which none of its nodes goes, m (K67).
    pub ground: Option<f64>,
}

impl Material {
    /// The law of springs between surface nodes.
    pub fn law(&self) -> Law {
        Law {
            base: self.base,
            gain: self.gain,
            dead: self.dead,
            limit: self.limit,
            plastic: self.plastic,
            ..Law::spring(self.stiffness)
        }
    }

    /// A spring between the surface nodes `a` and `b`, which are `length` m apart.
    pub fn spring(&self, nodes: [u32; 2], length: f64) -> Element {
        Element {
            nodes,
            rest_length: length * (1.0 - self.shorten),
            law: self.law(),
        }
    }

    pub(crate) fn point(&self, father: Option<u32>) -> MassNode {
        MassNode {
            damping: self.damping,
            father,
            ..MassNode::point(self.mass)
        }
    }

    /// A central node with the inertia of a box around its children (K27).
    pub fn frame(&self, pose: &Pose, children: impl Iterator<Item = DVec3>) -> MassNode {
        let half = children.fold(DVec3::ZERO, |half, p| half.max(pose.local(p).abs()));
        let square = half * half;
        let inertia = DVec3::new(
            square.y + square.z,
            square.z + square.x,
            square.x + square.y,
        );
        MassNode {
            mass: self.centre_mass,
            damping: self.centre_damping,
            lock: Lock::Free,
            father: None,
            rigid: Some(Rigid {
                // A flat ring still resists turning about its diameter.
                inertia: Some(
                    inertia.max(DVec3::splat(1e-3 * inertia.max_element()))
                        * (self.centre_mass / 3.0),
                ),
                damping: self.turn_damping,
                ..Rigid::default()
            }),
        }
    }

    pub(crate) fn parts(
        &self,
        frames: Vec<(Pose, MassNode)>,
        points: &[DVec3],
        father: impl Fn(u32) -> Option<u32>,
    ) -> NetParts {
        let count = frames.len() + points.len();
        let mut parts = NetParts {
            nodes: frames.iter().map(|f| f.1).collect(),
            memory: vec![0.0; frames.len()],
            frames: frames.into_iter().map(|f| f.0).collect(),
            points: points.to_vec(),
            flags: vec![NodeFlags::default(); count],
            memory_base: self.memory_base,
            gravity: self.gravity,
            mobile: true,
            integrator: self.integrator,
            ground: self.ground,
            ..NetParts::default()
        };
        for i in 0..points.len() as u32 {
            parts.nodes.push(self.point(father(i)));
            parts.memory.push(self.memory);
        }
        parts
    }

    /// Springs over the surface; `first` is the index of the first surface node.
    fn weave(&self, parts: &mut NetParts, surface: &Surface, edges: &[LatticeEdge], first: u32) {
        // The two diagonals of a cell follow each other.
        let mut diagonals = 0;
        for edge in edges {
            if edge.kind == EdgeKind::Diagonal {
                diagonals += 1;
                if self.net == NetKind::A || (self.net == NetKind::B && diagonals % 2 == 0) {
                    continue;
                }
            }
            let [a, b] = edge.nodes;
            let length = surface.positions[a as usize].distance(surface.positions[b as usize]);
            parts
                .elements
                .push(self.spring([first + a, first + b], length));
        }
        parts.triangles = surface
            .triangles
            .iter()
            .map(|t| t.map(|v| first + v))
            .collect();
    }
}

/// ORGAN (K72): closed in both directions, one central node as father of all surface nodes, net C.
pub fn organ(tube: &Tube, material: &Material) -> NetParts {
    let points = &tube.surface.positions;
    let centre = points.iter().sum::<DVec3>() / points.len().max(1) as f64;
    let middle = tube.frames.get(tube.rings / 2).copied().unwrap_or_default();
    let pose = Pose::new(centre, middle);
    let frame = material.frame(&pose, points.iter().copied());
    let mut parts = material.parts(vec![(pose, frame)], points, |_| Some(0));
    material.weave(&mut parts, &tube.surface, &tube.lattice_edges(), 1);
    if material.torsion > 0.0 {
        parts.torsions.push(Torsion {
            frame: 0,
            constant: material.torsion,
        });
    }
    parts
}

/// PIPE (K73): rings of surface nodes, each with a central node as father; the central nodes are
/// joined by springs, with torsion at each and bending at all but the ends.
pub fn pipe(tube: &Tube, material: &Material) -> NetParts {
    let points = &tube.surface.positions;
    let (rings, around) = (tube.rings as u32, tube.around as u32);
    let frames = tube
        .centres
        .iter()
        .zip(&tube.frames)
        .enumerate()
        .map(|(r, (centre, frame))| {
            let pose = Pose::new(*centre, *frame);
            let ring = tube.ring(r).map(|v| points[v as usize]);
            (pose, material.frame(&pose, ring))
        })
        .collect();
    let mut parts = material.parts(frames, points, |v| Some(v / around));
    let edges = tube.lattice_edges();
    material.weave(&mut parts, &tube.surface, &edges, rings);
    if material.brace > 0.0 {
        for edge in edges.iter().filter(|e| e.kind == EdgeKind::Along) {
            parts.elements.push(Element {
                nodes: edge.nodes.map(|v| rings + v),
                rest_length: 0.0,
                law: Law::damper(material.brace),
            });
        }
    }
    for r in 1..rings {
        parts.elements.push(Element {
            nodes: [r - 1, r],
            rest_length: tube.centres[r as usize - 1].distance(tube.centres[r as usize]),
            law: Law::spring(material.centre_stiffness),
        });
        if material.bending > 0.0 && r + 1 < rings {
            parts.bends.push(Bend {
                nodes: [r - 1, r, r + 1],
                constant: material.bending,
            });
        }
    }
    if material.torsion > 0.0 {
        parts.torsions.extend((0..rings).map(|frame| Torsion {
            frame,
            constant: material.torsion,
        }));
    }
    if material.twist > 0.0 && rings > 1 {
        // The main axis at a ring leads from the one before it to the one after it, as far as there are any.
        parts.twists.extend((0..rings).map(|frame| Twist {
            frame,
            along: [frame.saturating_sub(1), (frame + 1).min(rings - 1)],
            constant: material.twist,
        }));
    }
    parts
}

/// SHEET (K74): an open net without central nodes; its shape memory, if any, ties it to where it was
/// built.
pub fn sheet(surface: &Surface, edges: &[LatticeEdge], material: &Material) -> NetParts {
    let mut parts = material.parts(Vec::new(), &surface.positions, |_| None);
    material.weave(&mut parts, surface, edges, 0);
    parts
}

/// Nodes of an explicit object (K75): central nodes with what resists them, points, and to whom each point belongs. Springs and
/// facets are the caller's.
pub fn explicit(
    frames: Vec<(Pose, MassNode)>,
    points: &[DVec3],
    father: impl Fn(u32) -> Option<u32>,
    material: &Material,
) -> NetParts {
    let mut parts = material.parts(frames, points, father);
    if material.torsion > 0.0 {
        parts.torsions = (0..parts.frames.len() as u32)
            .map(|frame| Torsion {
                frame,
                constant: material.torsion,
            })
            .collect();
    }
    parts
}

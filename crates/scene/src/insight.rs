//! What goes on inside: nodes, elements, contacts, forces, anchors and frames, to be looked at (K134).

mod deep;
mod films;
mod nets;

pub use films::ColourInsight;

use crate::Simulation;
use glam::{DQuat, DVec3};
use nets::{element, state};
use trocar_dynamics::{Field, Integrator, Local, Matter, MatterId, Nodes};
use trocar_math::Bounds;
use trocar_soft::{Global, Net, NodeFlags, global::End};

/// Which insights are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Views {
    /// Nodes of tissues.
    pub nodes: bool,
    /// Their elements.
    pub elements: bool,
    /// Contacts.
    pub contacts: bool,
    /// Forces on nodes.
    pub forces: bool,
    /// Ties, holds and pulls.
    pub anchors: bool,
    /// Central nodes and bodies.
    pub frames: bool,
    /// Normals of surfaces.
    pub normals: bool,
    /// Boxes around what may touch, and how many pairs they leave.
    pub boxes: bool,
    /// How deep contacts are, and the points of distance grids near the surface (F26).
    pub depths: bool,
    /// How near the nodes of membranes are to tearing.
    pub stress: bool,
    /// How far they are from where they lie at rest.
    pub displacement: bool,
    /// How much of their hold is left.
    pub adhesion: bool,
    /// Tips and edges of tears, and where membranes come off.
    pub front: bool,
}

/// What a node is, or what has been done to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[repr(u8)]
pub enum NodeState {
    /// It moves freely.
    Free,
    /// Some of its axes are locked.
    Locked,
    /// It does not move.
    Fixed,
    /// An instrument holds it.
    Grasped,
    /// It copies a node of another tissue.
    Hyper,
    /// It carries others.
    Centre,
    /// It has no geometry: it lies inside (K22).
    Inner,
    /// An element leads from it to something else (K53), or a body holds it (K55).
    Joined,
    /// The mouse or a command pulls at it (K149).
    Pulled,
    /// It is marked for cutting (K26).
    Marked,
    /// Nodes of another tissue copy it (K54).
    Leader,
    /// Instruments and bodies pass through it.
    Passive,
    /// A clip is on it (K26).
    Clipped,
    /// It is on the lip of a cut (K26).
    Cut,
    /// It was coagulated (K26).
    Coagulated,
}

/// A node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeInsight {
    /// Where it is, m.
    pub position: DVec3,
    /// What it is.
    pub state: NodeState,
}

/// An element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ElementInsight {
    /// One end, m.
    pub a: DVec3,
    /// The other end, m.
    pub b: DVec3,
    /// Its force, N; positive draws the ends together.
    pub force: f64,
}

/// A contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactInsight {
    /// Where the tissue is touched, m.
    pub point: DVec3,
    /// From the instrument to the tissue, unit length.
    pub normal: DVec3,
    /// How far the two overlap along the normal, m; negative where they are still apart.
    pub depth: f64,
    /// Force on the tissue along the normal, N.
    pub force: f64,
    /// Friction on it, N.
    pub friction: DVec3,
}

/// A box that a search for contacts looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoxInsight {
    /// Its lowest corner, m.
    pub low: DVec3,
    /// Its highest corner, m.
    pub high: DVec3,
    /// True if something that may touch came near enough to look inside.
    pub is_near: bool,
    /// How many levels of boxes are inside it.
    pub level: u32,
}

impl BoxInsight {
    /// Of a box.
    pub fn new(bounds: &Bounds, is_near: bool, level: u32) -> Self {
        Self {
            low: bounds.low,
            high: bounds.high,
            is_near,
            level,
        }
    }
}

/// What the search for contacts did in the last step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Search {
    /// Hulls of instruments and bodies that may touch a tissue.
    pub probes: u32,
    /// Boxes over the triangles of all tissues.
    pub boxes: u32,
    /// Pairs of a probe and a triangle that were looked at closely.
    pub pairs: u32,
    /// Pairs of bodies whose boxes overlap.
    pub body_pairs: u32,
    /// Contacts in the last substep.
    pub contacts: u32,
    /// Pairs of triangles of tissues that touch themselves or each other, looked at closely.
    pub fold_pairs: u32,
    /// Places where they are within their thickness, or about to be.
    pub folds: u32,
    /// Those of these pairs that go through each other (H10).
    pub crossings: u32,
    /// Contacts whose two sides overlap.
    pub overlaps: u32,
}

/// What goes on inside. Only what was asked for is filled; its memory is used again.
#[derive(Clone, Debug, Default)]
pub struct Insight {
    /// Nodes of all tissues.
    pub nodes: Vec<NodeInsight>,
    /// Elements of all tissues.
    pub elements: Vec<ElementInsight>,
    /// Position of a frame (m) and the torque (N·m) that a torsion element has on it; with elements.
    pub torques: Vec<(DVec3, DVec3)>,
    /// Contacts of the last substep.
    pub contacts: Vec<ContactInsight>,
    /// Position of a node (m) and the force on it (N): of its matter, elements, commands and the nodes that copy it, not of contacts and ties.
    pub forces: Vec<(DVec3, DVec3)>,
    /// Both ends of every tie, hold and pull, m.
    pub anchors: Vec<(DVec3, DVec3)>,
    /// Central nodes and bodies.
    pub frames: Vec<(DVec3, DQuat)>,
    /// Surface nodes (m) and their normals, unit length, outwards.
    pub normals: Vec<(DVec3, DVec3)>,
    /// Boxes that the search for contacts looked at.
    pub boxes: Vec<BoxInsight>,
    /// Triangles of membranes in false colours.
    pub colours: Vec<ColourInsight>,
    /// Points of distance grids just inside their bodies, and the points of the surface nearest to them, m (F26).
    pub grids: Vec<(DVec3, DVec3)>,
    /// What that search did, if boxes or depths are wanted.
    pub search: Search,
    /// The deepest overlap of all contacts, m, if contacts, depths or boxes are wanted; 0 if there is none.
    pub deepest: f64,
    /// Memory for forces that are worked out anew.
    gathered: Gathered,
    /// Memory for triangles that are near others.
    pub(crate) near: Vec<u32>,
}

/// Forces worked out anew, of the matter that needs it. Everything is in the place that its matter has in the state.
#[derive(Clone, Debug, Default)]
struct Gathered {
    /// Empty where nobody ever needed it.
    nodes: Vec<Nodes>,
    need: Vec<Need>,
}

/// For what a matter is needed when forces are worked out anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Need {
    /// For nothing.
    Nothing,
    /// An element leads to it: where it is.
    Place,
    /// It hands forces on to others, or its own are asked for: all that acts on it.
    Forces,
}

impl Simulation {
    /// True of tissues whose schemes keep something else where forces are: those with two stages the sum of both, others what impulses
    /// are reckoned with, and those with central nodes the damping within their families.
    fn hides_forces(&self, m: usize) -> bool {
        let net = self.model.net(MatterId(m as u32));
        net.is_some_and(|net| {
            net.masses().integrator() != Integrator::Mesd || net.masses().has_families()
        })
    }

    /// Forces on the nodes of tissues that hide them, from where everything is now: all that a substep gathers. What ties, contacts and
    /// the mouse add are impulses, and not among them.
    fn gather_forces(&self, gathered: &mut Gathered) {
        let (count, model) = (self.state.nodes.len(), &self.model);
        let Gathered { nodes, need } = gathered;
        need.clear();
        need.extend((0..count).map(|m| match self.hides_forces(m) {
            true => Need::Forces,
            false => Need::Nothing,
        }));
        if !need.contains(&Need::Forces) {
            return;
        }
        // A master feels what its slaves feel, whatever their scheme; those may be masters of others.
        let feels = |need: &[Need], m: MatterId| need[m.index()] == Need::Forces;
        let mut grown = true;
        while grown {
            grown = false;
            for hyper in &model.hypers {
                if feels(need, hyper.master.0) && !feels(need, hyper.slave.0) {
                    need[hyper.slave.0.index()] = Need::Forces;
                    grown = true;
                }
            }
        }
        let pulls = |need: &[Need], g: &Global| g.anchors().any(|a| feels(need, a.matter));
        for global in self.globals() {
            if !pulls(need, global) {
                continue;
            }
            for m in global.anchors().map(|a| a.matter) {
                need[m.index()] = need[m.index()].max(Need::Place);
            }
        }
        nodes.resize_with(count, Nodes::default);
        let field = Field {
            time: self.state.time,
            gravity: model.gravity,
        };
        for (m, need) in need.iter().enumerate() {
            if *need == Need::Nothing {
                continue;
            }
            let share = &mut nodes[m];
            share.copy_from(&self.state.nodes[m]);
            if *need == Need::Forces {
                model.matters[m].force(share, &field);
                let id = MatterId(m as u32);
                if self.groups.iter().any(|g| g.is_frozen(id)) {
                    share.force.fill(DVec3::ZERO);
                }
            }
        }
        // In the order of the substep: slaves hand on what elements and commands do to them.
        let sight = self.sight();
        for global in self.globals().filter(|g| pulls(need, g)) {
            global.apply(&sight, nodes, field.time);
        }
        for (anchor, force) in self.pushes.iter().filter(|p| feels(need, p.0.matter)) {
            sight.pull(&End::On(*anchor), nodes, *force);
        }
        for hyper in model.hypers.iter().filter(|h| feels(need, h.master.0)) {
            hyper.give_back(nodes, sight.slot);
        }
    }

    /// Fills `out` with what is wanted and empties the rest.
    pub fn insight(&self, wanted: Views, out: &mut Insight) {
        out.nodes.clear();
        out.elements.clear();
        out.torques.clear();
        out.contacts.clear();
        out.forces.clear();
        out.anchors.clear();
        out.frames.clear();
        out.normals.clear();
        out.boxes.clear();
        out.colours.clear();
        out.grids.clear();
        out.search = Search::default();
        out.deepest = 0.0;
        for tissue in &self.model.tissues {
            let Some(net) = self.model.net(tissue.matter) else {
                self.see_film(tissue, wanted, out);
                continue;
            };
            let nodes = &self.state.nodes[tissue.matter.index()];
            if wanted.nodes {
                let seen = (0..nodes.len()).map(|i| NodeInsight {
                    position: nodes.position[i],
                    state: state(net, nodes, i, self.node_flags(net, tissue.matter, i as u32)),
                });
                out.nodes.extend(seen);
            }
            if wanted.elements {
                let time = self.state.time;
                let seen = net.elements().enumerate();
                let seen = seen.map(|(i, e)| element(net, nodes, i, &e, time));
                out.elements.extend(seen);
                nets::see_bends(net, nodes, out);
                let turned = net.torques(nodes);
                let turned = turned.map(|(z, torque)| (nodes.position[z], torque));
                out.torques.extend(turned);
            }
            if wanted.normals {
                let from = out.normals.len();
                let surface = tissue.first as usize..nodes.len();
                let points = nodes.position[surface].iter();
                out.normals.extend(points.map(|p| (*p, DVec3::ZERO)));
                for t in &tissue.triangles {
                    let [a, b, c] = t.map(|n| nodes.position[n as usize]);
                    let normal = (b - a).cross(c - a);
                    for n in t {
                        out.normals[from + (*n - tissue.first) as usize].1 += normal;
                    }
                }
                for (_, normal) in &mut out.normals[from..] {
                    *normal = normal.normalize_or_zero();
                }
            }
        }
        if wanted.elements {
            let sight = self.sight();
            for global in self.globals() {
                let line = |a, b, force| out.elements.push(ElementInsight { a, b, force });
                let torque = |at, torque| out.torques.push((at, torque));
                global.look(&sight, &self.state.nodes, self.state.time, line, torque);
            }
            self.see_holds(out);
        }
        if wanted.contacts || wanted.depths || wanted.boxes {
            self.see_contacts(out);
            if !(wanted.contacts || wanted.depths) {
                out.contacts.clear();
            }
        }
        if wanted.depths {
            self.see_grids(out);
        }
        if wanted.boxes || wanted.depths {
            for group in &self.groups {
                group.see_search(out);
            }
            if !wanted.boxes {
                out.boxes.clear();
            }
        }
        if wanted.forces {
            self.gather_forces(&mut out.gathered);
        }
        for m in self.model.prescribed()..self.state.nodes.len() {
            let nodes = &self.state.nodes[m];
            if wanted.forces {
                let forces = match self.hides_forces(m) {
                    true => &out.gathered.nodes[m].force,
                    false => &nodes.force,
                };
                let pairs = nodes.position.iter().zip(forces);
                out.forces.extend(pairs.map(|(at, force)| (*at, *force)));
            }
            if wanted.frames {
                let pairs = nodes.position.iter().zip(&nodes.orientation);
                out.frames.extend(pairs.map(|(at, turn)| (*at, *turn)));
            }
        }
        if wanted.anchors {
            let held = self.grips.iter().flat_map(|g| &g.holds).map(|h| &h.tie);
            // Those of the groups follow tears.
            let ties = self.groups.iter().flat_map(|g| &g.ties[..g.scene_ties]);
            for tie in ties.chain(held) {
                let ends = (self.point(&tie.a), self.point(&tie.b));
                if let (Some(a), Some(b)) = ends {
                    out.anchors.push((a, b));
                }
            }
            for pull in self.pulls.iter().filter(|p| p.target.is_finite()) {
                let from = self.point(&pull.anchor);
                out.anchors.extend(from.map(|from| (from, pull.target)));
            }
        }
    }
}

impl Simulation {
    /// What a node of a tissue is, and what is being done to it (K26); none if the tissue is no net or has no such node.
    pub fn flags(&self, tissue: usize, node: u32) -> Option<NodeFlags> {
        let matter = self.model.tissues.get(tissue)?.matter;
        let net = self.model.net(matter)?;
        let known = (node as usize) < net.masses().len();
        known.then(|| self.node_flags(net, matter, node))
    }

    /// The flags of a node; whether a force is put in there is known to the step alone (K149).
    fn node_flags(&self, net: &Net, matter: MatterId, node: u32) -> NodeFlags {
        let mut flags = net.flags(node as usize);
        flags.set(NodeFlags::FORCE_INPUT, self.is_pulled(matter, node));
        flags
    }

    /// True if the mouse or a command pulls at a node.
    fn is_pulled(&self, matter: MatterId, node: u32) -> bool {
        let pulls = self.pulls.iter().map(|p| &p.anchor);
        let pushes = self.pushes.iter().map(|p| &p.0);
        pulls
            .chain(pushes)
            .filter(|a| a.matter == matter)
            .any(|a| match a.at {
                Local::Node(n) | Local::Frame(n, _) => n == node,
                Local::Triangle(nodes, _) => nodes.contains(&node),
                Local::Tetrahedron(nodes, _) => nodes.contains(&node),
            })
    }
}

//! Membranes that stick, peel, fold and tear (Weber 2009, W41–W119).
//!
//! A [`Membrane`] is a [`Sheet`] with mass that resists stretching ([`Material`]) and bending
//! ([`Bending`]), sticks to what is below it ([`Adhesion`]) and tears ([`tear`]). It is [`Matter`](trocar_dynamics::Matter): forces in
//! [`Matter::force`](trocar_dynamics::Matter::force), motion by the engine's masses. Nodes have a place at rest and one in space (W31); forces of all kinds add up in them, in every
//! substep anew (W29, W30, W53), and nothing moves them but these (W60). What is drawn are the triangles that are simulated (W48).
//!
//! **Integration.** MESD's step, explicit force and the new velocity moves the node, is Verlet's in staggered form: positions obey
//! x(t+h) = 2 x(t) − x(t−h) + h² a(t) (W49), of the second order. A damping rate r multiplies every new velocity by 1/(1 + r h): a
//! factor below 1, as in the source (W50), but one that means the same at any substep.
//!
//! **Substeps** come from [`Membrane::stable_step`](trocar_dynamics::Matter::stable_step), never from a number that once was right.
//!
//! Once a frame, in this order (W71, W75): [`Membrane::detach`], [`Membrane::support_folds`], [`Membrane::tear`].

mod adhesion;
mod balance;
mod bends;
mod bound;
mod creases;
mod cut;
mod division;
mod follow;
mod forces;
pub mod kernel;
mod parts;
mod record;
mod release;
mod search;
mod spans;
mod stress;
pub mod tear;
mod weave;

pub use parts::{
    Adhesion, Bending, Floor, FloorShape, Hold, Material, Measure, MembraneError, MembraneParts,
};
pub use record::{Damaged, MembraneRecord};

use balance::Patch;
use bends::Bends;
use bound::Crest;
use creases::Creases;
use division::{Division, NOBODY};
use glam::DVec3;
use kernel::Flat;
use spans::Spans;
use stress::Gauge;
use tear::TearSettings;
use trocar_dynamics::{Lock, MassNode, Masses, Nodes};
use trocar_math::{Pose, f64x4};
use trocar_mesh::sheet::{Event, Kind, NodeId, Sheet};
use weave::Weave;

/// Corners of no triangle.
const NOWHERE: [u32; 3] = [u32::MAX; 3];

/// A spring along an edge, by the edge's place.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Spring {
    ends: [u32; 2],
    rest_length: f64,
    /// N/m; 0 if there is no edge.
    stiffness: f64,
    /// What it is where no fold is supported, N/m.
    full: f64,
}

/// How a spring lies at rest: what it is along itself, n nᵀ, times the part of it that each triangle beside it has: a half, or all of it on a rim.
type Line = Tensor;

/// A symmetric tensor: xx, yy, zz and, in the last place, whatever goes along with it; xy, xz, yz.
type Tensor = [f64x4; 2];

/// A hinge at an edge, by the edge's place.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Hinge {
    nodes: [u32; 4],
    /// 2 sin(θ/2).
    rest_bend: f64,
    /// N·m; 0 if there is no edge inside.
    stiffness: f64,
    /// By how much each node bends it, 1/m, where it is flat at rest; zeros where it is not.
    slopes: [f64; 4],
}

impl Hinge {
    /// Whether it is flat at rest, so that [`kernel::flat_hinge`] serves.
    fn is_flat(&self) -> bool {
        self.slopes[2] != 0.0
    }
}

/// How the nodes stick, by place.
#[derive(Clone, Debug, Default)]
struct Homing {
    /// Where each node wants to be, m, in the frame of what is below.
    home: Vec<DVec3>,
    /// Hold of a node that sticks, N/m.
    hold: Vec<f64>,
    /// Part of the hold that is left: 1 if it sticks, 0 if it has come off.
    left: Vec<f64>,
    /// Whether it is coming off: what has lost a part of its hold to a tear beside it does not go on losing it by itself.
    coming: Vec<bool>,
    /// The parts before the call of detach at hand.
    before: Vec<f64>,
}

/// A membrane; see the [module](self).
#[derive(Clone, Debug)]
pub struct Membrane {
    sheet: Sheet,
    masses: Masses,
    material: Material,
    bending: Bending,
    damping: f64,
    prestress: f64,
    adhesion: Option<Adhesion>,
    floor: Option<Floor>,
    fold_support: Option<f64>,
    measure: Measure,
    tearing: Option<TearSettings>,
    gravity: bool,
    /// Pose of what it sticks to.
    ground: Pose,
    springs: Vec<Spring>,
    /// The same as forces are worked out.
    woven: Weave,
    /// Of every spring, by place: for the measure of stress.
    lines: Vec<Line>,
    /// Of every spring, by place: the square of the length from which on somebody beside it might fail, m².
    suspicious: Vec<f64>,
    flats: Vec<Flat>,
    /// Corners of every triangle, by its place; [`NOWHERE`] where there is none.
    corners: Vec<[u32; 3]>,
    hinges: Vec<Hinge>,
    /// The same as forces are worked out.
    creases: Creases,
    bends: Bends,
    /// The springs of these as forces are worked out.
    woven_bends: Weave,
    spans: Spans,
    division: Division,
    homing: Homing,
    fixed: Vec<bool>,
    live: Vec<bool>,
    kinds: Vec<Kind>,
    headings: Vec<Option<NodeId>>,
    stress: Vec<f64>,
    gauge: Gauge,
    event: Event,
    /// Energy that edits have added and that is still to be taken out of the motion, J.
    debt: f64,
    /// What the last edit changed, for the balance of its energy.
    patch: Patch,
    /// Nodes that an edit may have made stiffer or softer.
    touched: Vec<NodeId>,
    /// Stiffness that tools may add at a node, N/m.
    tool_stiffness: f64,
    /// Greatest stiffness over mass at each node, 1/s².
    crest: Crest,
}

impl Membrane {
    /// Checks the parts and puts them together.
    pub fn new(parts: MembraneParts) -> Result<Self, MembraneError> {
        parts.check()?;
        let MembraneParts {
            sheet,
            material,
            bending,
            damping,
            prestress,
            adhesion,
            floor,
            fold_support,
            measure,
            tearing,
            fixed,
            gravity,
        } = parts;
        let count = sheet.node_slots();
        let mut membrane = Self {
            masses: Masses::default(),
            material,
            bending,
            damping,
            prestress,
            adhesion,
            floor,
            fold_support,
            measure,
            tearing,
            gravity,
            ground: Pose::default(),
            springs: Vec::new(),
            woven: Weave::default(),
            lines: Vec::new(),
            suspicious: Vec::new(),
            flats: Vec::new(),
            debt: 0.0,
            corners: Vec::new(),
            hinges: Vec::new(),
            creases: Creases::default(),
            bends: match bending {
                Bending::Springs { .. } => Bends::new(&sheet),
                _ => Bends::default(),
            },
            woven_bends: Weave::default(),
            spans: Spans::default(),
            division: Division::default(),
            homing: Homing {
                home: (0..count).map(|n| sheet.rest(sheet.node_at(n))).collect(),
                hold: vec![0.0; count],
                left: vec![1.0; count],
                coming: vec![false; count],
                before: Vec::new(),
            },
            fixed: (0..count).map(|n| fixed.contains(&n)).collect(),
            live: (0..count).map(|n| sheet.has_live_node(n)).collect(),
            kinds: (0..count)
                .map(|n| sheet.kind_at(n).unwrap_or(Kind::Edge))
                .collect(),
            headings: Vec::new(),
            stress: vec![0.0; count],
            gauge: Gauge::default(),
            event: Event::default(),
            patch: Patch::default(),
            touched: Vec::new(),
            tool_stiffness: 0.0,
            crest: Crest::default(),
            sheet,
        };
        let nodes: Vec<_> = (0..count)
            .map(|n| membrane.mass_node(membrane.sheet.node_at(n)))
            .collect();
        membrane.masses =
            Masses::new(&nodes).map_err(|bad| MembraneError::Mass(bad.node, bad.reason))?;
        membrane.reserve();
        membrane.refresh_all();
        let parts = membrane.parts_of();
        membrane.division = Division::new(count, &parts);
        let hinges = parts
            .hinges
            .iter()
            .flat_map(|[a, b, c, d]| [[*a, *b], [*c, *d]]);
        let joined = parts.springs.iter().chain(&parts.bends).copied();
        let joined = joined.chain(hinges).filter(|nodes| nodes[0] != NOBODY);
        membrane.spans = Spans::new(count, joined);
        membrane.weave_all();
        Ok(membrane)
    }

    /// The nodes at rest, where the sheet lies.
    pub fn rest(&self) -> Nodes {
        let places: Vec<_> = (0..self.sheet.node_slots())
            .map(|n| self.sheet.rest(self.sheet.node_at(n)))
            .collect();
        let mut nodes = Nodes::at_rest(&[], &places);
        nodes.reserve(self.room());
        nodes
    }

    /// So many nodes more are found room for before lists are moved to other memory.
    pub fn room(&self) -> usize {
        self.fixed.capacity() - self.fixed.len()
    }

    /// A copy that has room to be torn; one that is merely cloned has none.
    pub fn copy_with_room(&self) -> Self {
        let mut copy = self.clone();
        copy.reserve();
        copy
    }

    /// What it is made of.
    pub fn material(&self) -> &Material {
        &self.material
    }

    /// Its sheet.
    pub fn sheet(&self) -> &Sheet {
        &self.sheet
    }

    /// Its triangles, by place, with the places of their corners.
    pub fn triangles(&self) -> impl Iterator<Item = (usize, [u32; 3])> + '_ {
        let all = self.corners.iter().copied().enumerate();
        all.filter(|(_, corners)| *corners != NOWHERE)
    }

    /// Places of the corners of the triangle at a place; none if there is none.
    pub fn corners_at(&self, slot: usize) -> Option<[u32; 3]> {
        let corners = self.corners.get(slot)?;
        (*corners != NOWHERE).then_some(*corners)
    }

    /// What the last tear or change did to the sheet.
    pub fn event(&self) -> &Event {
        &self.event
    }

    /// How it tears.
    pub fn tearing(&self) -> Option<&TearSettings> {
        self.tearing.as_ref()
    }

    /// Lets it tear otherwise, or not at all.
    pub fn set_tearing(&mut self, tearing: Option<TearSettings>) -> Result<(), MembraneError> {
        if let Some(settings) = &tearing {
            settings.check()?;
        }
        self.tearing = tearing;
        self.suspect_springs();
        Ok(())
    }

    /// Number of springs that resist bending.
    pub fn bending_springs(&self) -> usize {
        self.bends.count()
    }

    fn mass_node(&self, node: NodeId) -> MassNode {
        let mass = match self.material {
            Material::Springs { mass, .. } => mass,
            // A free place has no area; nothing acts on it, but it must have some mass.
            Material::Sheet { density, .. } => match self.sheet.has_live_node(node.slot()) {
                true => density * self.area_of(node),
                false => density,
            },
        };
        MassNode {
            damping: self.damping * mass,
            lock: self.lock_of(node.slot()),
            ..MassNode::point(mass)
        }
    }

    /// Lock of the node at a place.
    fn lock_of(&self, slot: usize) -> Lock {
        match self.fixed[slot] {
            true => Lock::Fixed,
            false => Lock::Free,
        }
    }

    /// A node's share of the sheet at rest, m²: a third of every triangle around it.
    fn area_of(&self, node: NodeId) -> f64 {
        let triangles = self.sheet.triangles_around(node);
        triangles
            .map(|t| trocar_mesh::sheet::area(self.sheet.rest_corners(t)))
            .sum::<f64>()
            / 3.0
    }
}

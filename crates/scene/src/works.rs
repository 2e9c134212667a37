//! Needles and forceps at work on membranes (W121–W138, W152): what each instrument does to each membrane, substep by substep.

use crate::{
    build::{Film, Model, Tool},
    file::InstrumentKind,
    group::{Group, Stage, Sub},
};
use glam::DVec3;
use serde::{Deserialize, Serialize};
use trocar_dynamics::{MatterId, Nodes};
use trocar_math::{Pose, real};
use trocar_soft::{
    Global,
    membrane::{Material, Membrane},
};
use trocar_tools::{
    Part,
    membrane::{
        Forceps, ForcepsParts, ForcepsRecord, Needle, NeedleParts, NeedleRecord, Reaction, Stick,
        Touched, Travel,
    },
};

/// Part of the jaws, from their tips, that holds.
const BITE: f64 = 0.6;

/// An instrument at work on a membrane.
pub struct Work {
    /// Which instrument.
    pub tool: usize,
    /// Which membrane.
    pub matter: MatterId,
    /// What it does there.
    pub effect: Effect,
    /// Substeps that the motion of this step asks for.
    pub substeps: u32,
}

/// What an instrument does to a membrane.
pub enum Effect {
    /// It pushes, rubs and holds.
    Needle(Box<Needle>),
    /// They hold.
    Forceps(Box<Forceps>),
}

/// What an instrument remembers of a membrane.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum WorkRecord {
    /// Of a needle.
    Needle(NeedleRecord),
    /// Of forceps.
    Forceps(ForcepsRecord),
}

/// What an instrument is to a membrane.
enum Parts {
    Needle(NeedleParts),
    Forceps(ForcepsParts),
}

impl Parts {
    /// None if it is nothing special: it only touches, as it touches everything.
    fn new(model: &Model, tool: &Tool, film: &Film, membrane: &Membrane) -> Option<Self> {
        let grasper = &tool.grasper;
        let (length, radius) = (grasper.jaw_length, grasper.jaw_radius);
        let own = match membrane.material() {
            Material::Springs { stiffness, .. } | Material::Sheet { stiffness, .. } => *stiffness,
        };
        let stiffness = tool.stiffness.unwrap_or(own);
        let tissue = &model.tissues[film.tissue];
        match tool.kind {
            InstrumentKind::Needle => {
                // A membrane that does not say how it rubs lets instruments slip.
                let of_film = tissue.friction.unwrap_or([0.0; 2]);
                let [sticking, sliding] = [0, 1].map(|k| (tool.friction[k] * of_film[k]).sqrt());
                Some(Self::Needle(NeedleParts {
                    axis: [DVec3::Z * radius, DVec3::Z * (length - radius)],
                    radius,
                    stiffness,
                    friction: sliding,
                    stick: match tool.stick {
                        Some([beyond, limit]) => Stick::Deep { beyond, limit },
                        None if sticking > 0.0 => Stick::Cone(sticking),
                        None => Stick::Never,
                    },
                }))
            }
            InstrumentKind::Forceps => {
                // As far as the jaws stand open at their tips when they take hold.
                let gap = length * real::sin(0.5 * grasper.capture_angle);
                Some(Self::Forceps(ForcepsParts {
                    axis: [DVec3::Z * ((1.0 - BITE) * length), DVec3::Z * length],
                    reach: radius + gap,
                    stiffness,
                    slip: grasper.grip_force,
                    bears: tissue.bears,
                }))
            }
            InstrumentKind::Grasper | InstrumentKind::Scissors => None,
        }
    }

    fn effect(self) -> Result<Effect, &'static str> {
        Ok(match self {
            Self::Needle(parts) => Effect::Needle(Box::new(Needle::new(parts)?)),
            Self::Forceps(parts) => Effect::Forceps(Box::new(Forceps::new(parts)?)),
        })
    }
}

impl Model {
    /// The most that instruments and elements may add to the stiffness of a membrane's nodes, N/m.
    pub(crate) fn added_stiffness(&self, film: &Film, membrane: &Membrane) -> f64 {
        let on_it = |g: &&Global| g.anchors().any(|anchor| anchor.matter == film.matter);
        // Whatever is at the other end may come towards it as fast.
        let elements = self.globals.iter().filter(on_it);
        let elements: f64 = elements.map(|g| 2.0 * g.slope()).sum();
        let works = self.tools.iter().filter_map(|tool| {
            let parts = Parts::new(self, tool, film, membrane)?;
            Some(match parts.effect().ok()? {
                Effect::Needle(needle) => needle.added_stiffness(),
                Effect::Forceps(forceps) => forceps.added_stiffness(),
            })
        });
        elements + works.sum::<f64>()
    }

    /// What instruments do to membranes among `members`.
    pub(crate) fn works(&self, members: &[MatterId]) -> Vec<Work> {
        let films = self.films.iter().filter(|f| members.contains(&f.matter));
        let pairs = films.flat_map(|film| (0..self.tools.len()).map(move |t| (film, t)));
        let works = pairs.filter_map(|(film, tool)| {
            let membrane = self.membrane(film.matter)?;
            let parts = Parts::new(self, &self.tools[tool], film, membrane)?;
            Some(Work {
                tool,
                matter: film.matter,
                // Numbers of a scene are checked when it is built.
                effect: parts.effect().ok()?,
                substeps: 1,
            })
        });
        works.collect()
    }
}

impl Work {
    /// The part of the instrument in whose frame it works.
    fn part(&self) -> usize {
        match self.effect {
            Effect::Needle(_) => Part::JawA as usize,
            Effect::Forceps(_) => Part::Shaft as usize,
        }
    }

    /// Takes over numbers of instrument and membrane that have changed.
    pub fn renew(&mut self, model: &Model) {
        let film = model.films.iter().find(|f| f.matter == self.matter);
        let membrane = model.membrane(self.matter);
        let (Some(film), Some(membrane)) = (film, membrane) else {
            return;
        };
        let parts = Parts::new(model, &model.tools[self.tool], film, membrane);
        // What can't be is not taken over; ranges of parameters see to it that everything can.
        let _ = match (&mut self.effect, parts) {
            (Effect::Needle(needle), Some(Parts::Needle(parts))) => needle.set_parts(parts),
            (Effect::Forceps(forceps), Some(Parts::Forceps(parts))) => forceps.set_parts(parts),
            _ => Ok(()),
        };
    }

    fn begin(&mut self, membrane: &Membrane, nodes: &Nodes, travel: Travel) {
        match &mut self.effect {
            Effect::Needle(needle) => {
                // By its own way alone: with that of the nodes, forceps that thrash about beside it would ask for all there are.
                self.substeps = needle.substeps(&travel);
                needle.begin(membrane, nodes, travel);
            }
            Effect::Forceps(forceps) => forceps.begin(travel),
        }
    }

    fn act(&mut self, membrane: &Membrane, nodes: &mut Nodes, sub: Sub) {
        match &mut self.effect {
            Effect::Needle(needle) => needle.act(membrane, nodes, sub.to, sub.h),
            Effect::Forceps(forceps) => forceps.act(membrane, nodes, sub.to),
        }
    }

    fn keep(&mut self) {
        match &mut self.effect {
            Effect::Needle(needle) => needle.keep(),
            Effect::Forceps(forceps) => forceps.keep(),
        }
    }

    fn go_back(&mut self) {
        match &mut self.effect {
            Effect::Needle(needle) => needle.go_back(),
            Effect::Forceps(forceps) => forceps.go_back(),
        }
    }

    fn reaction(&self) -> Reaction {
        match &self.effect {
            Effect::Needle(needle) => needle.reaction(),
            Effect::Forceps(forceps) => forceps.reaction(),
        }
    }

    /// Lets what it remembers follow the membrane's last tear or cut.
    pub fn follow(&mut self, membrane: &Membrane) {
        match &mut self.effect {
            Effect::Needle(needle) => needle.follow(membrane),
            Effect::Forceps(forceps) => forceps.follow(membrane),
        }
    }

    /// Forgets the membrane: it was put back to rest.
    pub fn forget(&mut self) {
        match &mut self.effect {
            Effect::Needle(needle) => needle.forget(),
            Effect::Forceps(forceps) => forceps.forget(),
        }
    }

    /// Jaws let go.
    pub fn open(&mut self) {
        if let Effect::Forceps(forceps) = &mut self.effect {
            forceps.open();
        }
    }

    /// Whether jaws are amid the membrane.
    pub fn is_amid(&self) -> bool {
        match &self.effect {
            Effect::Needle(_) => false,
            Effect::Forceps(forceps) => forceps.is_amid(),
        }
    }

    /// Jaws are clear of the membrane.
    pub fn get_clear(&mut self) {
        if let Effect::Forceps(forceps) = &mut self.effect {
            forceps.get_clear();
        }
    }

    /// Draws what jaws hold together as they close: `part` of its way to the middle is left.
    pub fn draw_together(&mut self, part: f64) {
        if let Effect::Forceps(forceps) = &mut self.effect {
            forceps.draw_together(part);
        }
    }

    /// Closes jaws at a pose of the shaft: how many points they hold.
    pub fn close(&mut self, membrane: &Membrane, nodes: &Nodes, shaft: &Pose) -> usize {
        match &mut self.effect {
            Effect::Needle(_) => 0,
            Effect::Forceps(forceps) => forceps.close(membrane, nodes, shaft),
        }
    }

    /// Adds instrument and nodes of everything that jaws hold.
    pub fn see_held(&self, membrane: &Membrane, held: &mut Vec<(usize, u32)>) {
        if let Effect::Forceps(forceps) = &self.effect {
            held.extend(forceps.held_nodes(membrane).map(|n| (self.tool, n)));
        }
    }

    /// Points that jaws hold.
    pub fn held(&self) -> usize {
        match &self.effect {
            Effect::Needle(_) => 0,
            Effect::Forceps(forceps) => forceps.held(),
        }
    }

    /// Triangles that stick to a needle.
    pub fn sticking(&self) -> usize {
        match &self.effect {
            Effect::Needle(needle) => needle.sticking(),
            Effect::Forceps(_) => 0,
        }
    }

    /// Triangles that a needle touched in the last substep.
    fn touched(&self) -> usize {
        match &self.effect {
            Effect::Needle(needle) => needle.counts()[1],
            Effect::Forceps(_) => 0,
        }
    }

    /// What is to be remembered.
    pub fn record(&self) -> WorkRecord {
        match &self.effect {
            Effect::Needle(needle) => WorkRecord::Needle(needle.record()),
            Effect::Forceps(forceps) => WorkRecord::Forceps(forceps.record()),
        }
    }

    /// Whether a record fits it and a membrane, wherever it came from.
    pub fn can_resume(&self, membrane: &Membrane, record: &WorkRecord) -> bool {
        match (&self.effect, record) {
            (Effect::Needle(_), WorkRecord::Needle(r)) => Needle::can_resume(membrane, r),
            (Effect::Forceps(_), WorkRecord::Forceps(r)) => Forceps::can_resume(membrane, r),
            _ => false,
        }
    }

    /// Takes up what was remembered.
    pub fn resume(&mut self, membrane: &Membrane, record: &WorkRecord) {
        match (&mut self.effect, record) {
            (Effect::Needle(needle), WorkRecord::Needle(r)) => needle.resume(membrane, r),
            (Effect::Forceps(forceps), WorkRecord::Forceps(r)) => forceps.resume(membrane, r),
            _ => {}
        }
    }

    /// Shows every number that the next step reads.
    pub fn see(&self, see: impl FnMut(u64)) {
        match &self.effect {
            Effect::Needle(needle) => needle.see(see),
            Effect::Forceps(forceps) => forceps.see(see),
        }
    }
}

impl Group {
    /// Tells needles and forceps where they go in this step (W54), and lets them look for what they may reach (W57).
    pub(crate) fn begin_works(&mut self, stage: &Stage<'_>) {
        for work in &mut self.works {
            let (tool, moves) = (&stage.model.tools[work.tool], &stage.motions[work.tool]);
            let part = work.part();
            let [from, to] = [&moves.from, &moves.to].map(|h| tool.grasper.poses(h)[part]);
            let dt = stage.dt;
            if let Some(membrane) = stage.model.membrane(work.matter) {
                let nodes = &self.nodes[stage.slot[work.matter.index()] as usize];
                work.begin(membrane, nodes, Travel { from, to, dt });
            }
        }
    }

    /// Adds the forces of needles and forceps to those of the membranes (W53, W123). Once a substep, however many stages others have.
    pub(crate) fn act_works(&mut self, stage: &Stage<'_>, sub: Sub) {
        let may_fail = self.may_be_refused();
        for k in 0..self.works.len() {
            let matter = self.works[k].matter;
            if self.is_frozen(matter) {
                continue;
            }
            let work = &mut self.works[k];
            if may_fail {
                work.keep();
            }
            if let Some(membrane) = stage.model.membrane(matter) {
                let nodes = &mut self.nodes[stage.slot[matter.index()] as usize];
                work.act(membrane, nodes, sub);
            }
        }
    }

    /// What needles and forceps did in a substep that is done again counts no more.
    pub(crate) fn go_back_with_works(&mut self) {
        if self.may_be_refused() {
            self.works.iter_mut().for_each(Work::go_back);
        }
    }

    /// Whether there is something to be solved that may ask for half a substep.
    fn may_be_refused(&self) -> bool {
        !self.joints.is_empty() || !self.ties.is_empty() || self.collisions.is_some()
    }

    /// What instruments feel of membranes in a substep that stands.
    pub(crate) fn feel_works(&mut self, stage: &Stage<'_>, sub: Sub) {
        for k in 0..self.works.len() {
            let work = &self.works[k];
            if !self.is_frozen(work.matter) {
                // It acts at the tip, or next to it.
                let force = work.reaction().force;
                self.reactions[work.tool] += force * (sub.h / stage.dt);
            }
        }
    }

    /// Shows where needles touched membranes in the last substep: which membrane, and where.
    pub(crate) fn see_needles(&self, mut see: impl FnMut(MatterId, &Touched)) {
        for work in &self.works {
            if let Effect::Needle(needle) = &work.effect {
                needle.touches().for_each(|t| see(work.matter, &t));
            }
        }
    }

    /// Triangles that needles touched in the last substep.
    pub(crate) fn touched_by_needles(&self) -> usize {
        self.works.iter().map(Work::touched).sum()
    }
}

//! What became of a membrane, as plain data: for snapshots.

use super::bends::Bends;
use super::bound::Crest;
use super::{Bending, Material, Membrane};
use glam::DVec3;
use serde::{Deserialize, Serialize};
use trocar_dynamics::{MassNode, Masses};
use trocar_mesh::sheet::{Fault, NodeId, Sheet, SheetRecord};

/// Everything of a membrane that tears, peels and folds have made. The rest follows from it and from how it was built.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MembraneRecord {
    sheet: SheetRecord,
    /// By place.
    home: Vec<DVec3>,
    left: Vec<f64>,
    coming: Vec<bool>,
    fixed: Vec<bool>,
    headings: Vec<Option<u64>>,
    /// Constants of the springs by place of the edge, N/m: fold support weakens some.
    stiffness: Vec<f64>,
    /// The same where no fold is supported: tears make some weaker.
    full: Vec<f64>,
    /// Energy that is still to be taken out of the motion, J.
    debt: f64,
    bends: Vec<[u32; 2]>,
}

/// Why a record can't be taken up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damaged {
    /// The sheet is none.
    #[error("its sheet is none: {0}")]
    Sheet(Fault),
    /// Lists of the wrong length, or numbers out of range.
    #[error("its lists do not fit the sheet")]
    Lists,
}

impl MembraneRecord {
    /// The same for a membrane that is now made of something else: what tears and folds have weakened stays weakened by the same part.
    pub fn retuned(mut self, from: &Material, to: &Material) -> Self {
        if let (Material::Springs { stiffness: was, .. }, Material::Springs { stiffness: is, .. }) =
            (from, to)
        {
            for stiffness in self.stiffness.iter_mut().chain(&mut self.full) {
                let part = *stiffness / was;
                *stiffness = if part < 1.0 { part * is } else { *is };
            }
        }
        self
    }
}

impl Membrane {
    /// What became of it.
    pub fn record(&self) -> MembraneRecord {
        MembraneRecord {
            sheet: self.sheet.record(),
            home: self.homing.home.clone(),
            left: self.homing.left.clone(),
            coming: self.homing.coming.clone(),
            fixed: self.fixed.clone(),
            headings: self
                .headings
                .iter()
                .map(|h| h.map(NodeId::to_bits))
                .collect(),
            stiffness: self.springs.iter().map(|s| s.stiffness).collect(),
            full: self.springs.iter().map(|s| s.full).collect(),
            debt: self.debt,
            bends: self.bends.order().collect(),
        }
    }

    /// Shows every number that the next step reads and that is not how it was built: for a hash.
    pub fn see(&self, mut see: impl FnMut(u64)) {
        see(self.sheet.version());
        for triangle in self.sheet.triangles() {
            let corners = self.sheet.corners(triangle);
            corners.iter().for_each(|n| see(n.to_bits()));
        }
        for node in self.sheet.nodes() {
            let n = node.slot();
            let (rest, home) = (self.sheet.rest(node), self.homing.home[n]);
            for x in rest.to_array().into_iter().chain(home.to_array()) {
                see(x.to_bits());
            }
            see(self.homing.left[n].to_bits());
            see(u64::from(self.homing.coming[n]));
            see(u64::from(self.fixed[n]));
            see(self.headings[n].map_or(u64::MAX, NodeId::to_bits));
        }
        for spring in &self.springs {
            see(spring.stiffness.to_bits());
            see(spring.full.to_bits());
        }
        for [a, b] in self.bends.order() {
            see(u64::from(a) << 32 | u64::from(b));
        }
        see(self.debt.to_bits());
        see(self.crest.top().to_bits());
    }

    /// This membrane, whole, as a record says it became. What does not fit is refused, wherever it came from.
    pub fn from_record(&self, record: MembraneRecord) -> Result<Self, Damaged> {
        let sheet = Sheet::from_record(record.sheet).map_err(Damaged::Sheet)?;
        let count = sheet.node_slots();
        // Edits leave places free, but never take them away; and windows and hubs are those of the membrane as it was built.
        let fewer = count < self.sheet.node_slots()
            || sheet.edge_slots() < self.sheet.edge_slots()
            || sheet.triangle_slots() < self.sheet.triangle_slots();
        if fewer {
            return Err(Damaged::Lists);
        }
        let springs = match self.material {
            Material::Springs { stiffness, .. } => {
                let of_all = record.stiffness.iter().zip(&record.full);
                let known = |(s, full): (&f64, &f64)| *s >= 0.0 && s <= full && *full <= stiffness;
                record.stiffness.len() == sheet.edge_slots()
                    && record.full.len() == sheet.edge_slots()
                    && of_all.into_iter().all(known)
            }
            Material::Sheet { .. } => true,
        };
        let fits = (0.0..f64::INFINITY).contains(&record.debt)
            && record.home.len() == count
            && record.home.iter().all(|home| home.is_finite())
            && record.left.len() == count
            && record.left.iter().all(|left| (0.0..=1.0).contains(left))
            && record.coming.len() == count
            && record.fixed.len() == count
            && record.headings.len() <= count
            && springs;
        if !fits {
            return Err(Damaged::Lists);
        }
        let mut bends = match self.bending {
            Bending::Springs { .. } => Bends::new(&sheet),
            _ => Bends::default(),
        };
        if !bends.reorder(&record.bends) {
            return Err(Damaged::Lists);
        }
        let mut membrane = Self {
            sheet,
            bends,
            masses: Masses::default(),
            fixed: record.fixed,
            springs: Vec::new(),
            lines: Vec::new(),
            suspicious: Vec::new(),
            flats: Vec::new(),
            corners: Vec::new(),
            hinges: Vec::new(),
            crest: Crest::default(),
            live: vec![false; count],
            ..self.clone()
        };
        membrane.event.clear();
        membrane.division.forget_strays();
        membrane.woven.clear(&membrane.spans);
        membrane.woven_bends.clear(&membrane.spans);
        membrane.homing.home = record.home;
        membrane.homing.left = record.left;
        membrane.homing.coming = record.coming;
        membrane.homing.hold.clear();
        membrane.stress.clear();
        membrane.headings = record
            .headings
            .iter()
            .map(|h| h.map(NodeId::from_bits))
            .collect();
        let nodes: Vec<MassNode> = (0..count)
            .map(|n| membrane.mass_node(membrane.sheet.node_at(n)))
            .collect();
        membrane.masses = Masses::new(&nodes).map_err(|_| Damaged::Lists)?;
        membrane.reserve();
        membrane.refresh_all();
        let constants = record.stiffness.iter().zip(&record.full);
        for (spring, (stiffness, full)) in membrane.springs.iter_mut().zip(constants) {
            // What is not there stays without force.
            if spring.rest_length > 0.0 {
                (spring.stiffness, spring.full) = (*stiffness, *full);
            }
        }
        membrane.suspect_springs();
        membrane.seat_all();
        membrane.debt = record.debt;
        Ok(membrane)
    }
}

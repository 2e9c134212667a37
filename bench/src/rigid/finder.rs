//! Where things touch, from their poses alone.

use super::plan::{Moment, Plan};
use anyhow::Result;
use trocar_collide::rigid::{Broad, Contacts, Detector, Pair, Regions, Scratch, Shape, World};
use trocar_math::{Bounds, Pose};

/// Finds the contacts of a plan's things, for whoever wants to know them: always with the same detector.
pub struct Finder {
    shapes: Vec<Shape>,
    fixed: Vec<bool>,
    margins: Vec<f64>,
    pub poses: Vec<Pose>,
    bounds: Vec<Bounds>,
    broad: Broad,
    pairs: Vec<Pair>,
    scratch: Scratch,
    pub contacts: Contacts,
}

impl Finder {
    pub fn new(plan: &Plan) -> Result<Self> {
        let shapes = plan.things.iter().map(|t| t.solid.shape());
        Ok(Self {
            shapes: shapes.collect::<Result<_, _>>()?,
            fixed: plan.things.iter().map(|t| t.mass.is_none()).collect(),
            margins: vec![0.0; plan.things.len()],
            poses: Vec::new(),
            bounds: Vec::new(),
            broad: Broad::default(),
            pairs: Vec::new(),
            scratch: Scratch::default(),
            contacts: Contacts::default(),
        })
    }

    /// Finds those of this moment.
    pub fn find(&mut self, moments: &[Moment]) {
        self.poses.clear();
        self.poses.extend(moments.iter().map(|m| m.pose));
        let world = World {
            shapes: &self.shapes,
            poses: &self.poses,
            margins: &self.margins,
        };
        world.bounds(&mut self.bounds);
        let fixed = &self.fixed;
        let keep = |a: u32, b: u32| !(fixed[a as usize] && fixed[b as usize]);
        self.broad.update(&self.bounds, keep, &mut self.pairs);
        self.contacts.clear();
        Regions.narrow(&world, &self.pairs, &mut self.scratch, &mut self.contacts);
    }
}

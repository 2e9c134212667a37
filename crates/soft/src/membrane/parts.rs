//! What a membrane is made of.

use super::tear::{SettingsError, TearSettings};
use glam::DVec3;
use trocar_mesh::sheet::Sheet;

/// What resists stretching.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Material {
    /// The source's: every edge a spring of equal constant, every node of equal mass (W41). Plausible, and bound to its mesh.
    Springs {
        /// Constant of every spring, N/m, > 0.
        stiffness: f64,
        /// Mass of every node, kg, > 0.
        mass: f64,
    },
    /// A thin sheet that can be pulled but not pushed: the same whatever its mesh.
    Sheet {
        /// Young's modulus times thickness, N/m, > 0.
        stiffness: f64,
        /// Poisson's ratio, 0 to 0.5.
        poisson: f64,
        /// Mass for each area, kg/m², > 0.
        density: f64,
    },
}

/// What resists bending (W62).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Bending {
    /// Nothing.
    #[default]
    None,
    /// Springs between neighbours of a node (W63); they stiffen the sheet against stretching, too.
    Springs {
        /// Constant of every one, N/m, > 0.
        stiffness: f64,
    },
    /// The angle at every edge.
    Hinges {
        /// Flexural rigidity E t³ / 12 (1 − ν²), N·m, > 0.
        rigidity: f64,
    },
}

/// How a membrane sticks to what is below it (W65–W72).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adhesion {
    /// How it holds.
    pub hold: Hold,
    /// Distance from its homing position at which a node starts to come off, m, > 0.
    pub distance: f64,
    /// Part of its hold that a node that comes off loses at each call of detach, above 0, at most 1 (W68).
    pub decrement: f64,
}

/// How firmly a node is held.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hold {
    /// The same for every node, N/m, > 0 (W65).
    Node(f64),
    /// For each area, N/m³, > 0. The energy to peel it off, κ δ²/2 for each area with the distance δ, is then that of the material and
    /// not of the mesh.
    Area(f64),
}

/// The ground that a membrane lies on, as something it can't sink into: a flap that is folded over lies on it. It pushes on nodes, from one side, and moves with what
/// the membrane sticks to ([`Membrane::set_ground`](super::Membrane::set_ground)).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Floor {
    /// Where it is.
    pub shape: FloorShape,
    /// Force on a node for each depth, N/m, > 0.
    pub stiffness: f64,
}

/// Shape of a ground, in its own frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FloorShape {
    /// All that is below a plane.
    Plane {
        /// A point of it, m.
        point: DVec3,
        /// Upwards; its length does not count, but it must have one.
        normal: DVec3,
    },
    /// A ball.
    Ball {
        /// Its middle, m.
        centre: DVec3,
        /// m, > 0.
        radius: f64,
    },
}

impl Floor {
    /// How deep a point in the ground's frame (m) is below it, m, and the way out; below 0 it is above.
    #[inline]
    pub fn depth(&self, point: DVec3) -> (f64, DVec3) {
        match self.shape {
            FloorShape::Plane {
                point: foot,
                normal,
            } => {
                let up = normal.normalize_or(DVec3::Z);
                ((foot - point).dot(up), up)
            }
            FloorShape::Ball { centre, radius } => {
                let arm = point - centre;
                let far = arm.length();
                let up = if far > 0.0 { arm / far } else { DVec3::Z };
                (radius - far, up)
            }
        }
    }

    fn check(&self) -> Result<(), MembraneError> {
        positive("floor", self.stiffness, f64::INFINITY)?;
        let sound = match self.shape {
            FloorShape::Plane { point, normal } => {
                point.is_finite() && normal.is_finite() && normal.length() > 0.0
            }
            FloorShape::Ball { centre, radius } => {
                centre.is_finite() && radius > 0.0 && radius.is_finite()
            }
        };
        if sound {
            Ok(())
        } else {
            Err(MembraneError::Floor)
        }
    }
}

/// How the stress of a node is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Measure {
    /// Σ (c/2) |l − l₀| over its springs, N, as in the source (W88): counts compression and grows with the number of springs.
    Printed,
    /// The same without what is compressed, N.
    Pulled,
    /// The greatest principal tension, N/m, weighted by area. At a tip, where tension grows without bound as the mesh is refined, what the field of a tear that sets free as much
    /// energy bears on average within `reach` (m) at rest ([`release_at`](super::Membrane::release_at)).
    Tension {
        /// How far a tip looks around, m.
        reach: f64,
    },
    /// [`Measure::Tension`] of the triangles at the node alone.
    #[default]
    Local,
}

/// What a membrane is made of.
#[derive(Clone, Debug)]
pub struct MembraneParts {
    /// The sheet, at rest where it lies.
    pub sheet: Sheet,
    /// What resists stretching.
    pub material: Material,
    /// What resists bending.
    pub bending: Bending,
    /// Rate at which motion dies out, 1/s, ≥ 0: each substep of h seconds multiplies velocities by 1/(1 + rate h) (W50).
    pub damping: f64,
    /// Rest positions are scaled by this for all lengths and areas (W47): below 1 the membrane is under tension where it lies.
    pub prestress: f64,
    /// How it sticks to what is below it; none if it does not.
    pub adhesion: Option<Adhesion>,
    /// What it can't sink into; none if there is no such thing.
    pub floor: Option<Floor>,
    /// Weakens springs that are compressed at the front of what has come off, so that a folded flap lies flat (W73–W75): part of
    /// its constant that a spring gains back at each call; none if not wanted.
    pub fold_support: Option<f64>,
    /// How stress is measured.
    pub measure: Measure,
    /// How it tears; none if it does not.
    pub tearing: Option<TearSettings>,
    /// Nodes that do not move by themselves, by place (W146).
    pub fixed: Vec<usize>,
    /// Whether gravity acts on it.
    pub gravity: bool,
}

impl MembraneParts {
    /// A membrane of `material` that neither bends, sticks nor tears.
    pub fn new(sheet: Sheet, material: Material) -> Self {
        Self {
            sheet,
            material,
            bending: Bending::None,
            damping: 0.0,
            prestress: 1.0,
            adhesion: None,
            floor: None,
            fold_support: None,
            measure: Measure::Local,
            tearing: None,
            fixed: Vec::new(),
            gravity: false,
        }
    }

    /// Whether every number is one that can be used.
    pub fn check(&self) -> Result<(), MembraneError> {
        let above = |name, value: f64| positive(name, value, f64::INFINITY);
        match self.material {
            Material::Springs { stiffness, mass } => {
                above("stiffness", stiffness)?;
                above("mass", mass)?;
            }
            Material::Sheet {
                stiffness,
                poisson,
                density,
            } => {
                above("stiffness", stiffness)?;
                above("density", density)?;
                if !(0.0..=0.5).contains(&poisson) {
                    return Err(MembraneError::Number(
                        "poisson",
                        poisson,
                        "between 0 and 0.5",
                    ));
                }
            }
        }
        match self.bending {
            Bending::None => {}
            Bending::Springs { stiffness } => above("bending stiffness", stiffness)?,
            Bending::Hinges { rigidity } => above("rigidity", rigidity)?,
        }
        if !(self.damping >= 0.0 && self.damping.is_finite()) {
            return Err(MembraneError::Number("damping", self.damping, "at least 0"));
        }
        positive("prestress", self.prestress, 10.0)?;
        if let Some(adhesion) = self.adhesion {
            let (Hold::Node(hold) | Hold::Area(hold)) = adhesion.hold;
            above("hold", hold)?;
            above("distance", adhesion.distance)?;
            positive("decrement", adhesion.decrement, 1.0)?;
        }
        if let Some(floor) = &self.floor {
            floor.check()?;
        }
        if let Some(increment) = self.fold_support {
            positive("fold_support", increment, 1.0)?;
            if !matches!(self.bending, Bending::None)
                || !matches!(self.material, Material::Springs { .. })
            {
                return Err(MembraneError::Fold);
            }
        }
        if let Measure::Tension { reach } = self.measure {
            above("reach", reach)?;
        }
        if matches!(self.measure, Measure::Printed | Measure::Pulled)
            && !matches!(self.material, Material::Springs { .. })
        {
            return Err(MembraneError::Measure);
        }
        if let Some(tearing) = self.tearing {
            tearing.check()?;
        }
        if let Some(missing) = self.fixed.iter().find(|n| **n >= self.sheet.node_slots()) {
            return Err(MembraneError::Fixed(*missing));
        }
        Ok(())
    }
}

fn positive(name: &'static str, value: f64, most: f64) -> Result<(), MembraneError> {
    if value > 0.0 && value <= most && value.is_finite() {
        return Ok(());
    }
    Err(MembraneError::Number(
        name,
        value,
        "above 0 and finite; parts at most 1",
    ))
}

/// Why a membrane can't be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MembraneError {
    /// A number is not one that can be used.
    #[error("{0} is {1}, but must be {2}")]
    Number(&'static str, f64, &'static str),
    /// A floor without place or direction.
    #[error("a floor needs a finite place, and a direction or a radius above 0")]
    Floor,
    /// Fold support is for membranes of springs without bending.
    #[error("fold_support weakens springs: it needs material springs, and no bending (W75)")]
    Fold,
    /// A measure of springs where there are none.
    #[error("this measure of stress sums up springs: choose tension for a sheet")]
    Measure,
    /// Thresholds or lengths of tears.
    #[error(transparent)]
    Tearing(#[from] SettingsError),
    /// A fixed node that is not there.
    #[error("node {0} is to be fixed, but there is no such node")]
    Fixed(usize),
    /// A node's mass could not be used.
    #[error("node {0}: {1}")]
    Mass(usize, &'static str),
}

//! Tools that work a membrane (Weber 2009, W121–W138, W152): a [`Needle`] that pushes, holds and tears, [`Forceps`] that grasp and
//! [`Scissors`] that cut.
//!
//! Needle and forceps act by forces alone (W123): they add theirs to those of the membrane, in every substep, between
//! [`Matter::force`](trocar_dynamics::Matter::force) and [`Matter::advance`](trocar_dynamics::Matter::advance). What they
//! remember of the sheet are points on its triangles, which follow its tears.
//!
//! Once a frame a tool is told where it comes from and where it goes ([`Travel`]); in between it moves straight and turns evenly,
//! whatever the number of substeps (W54).

mod carrier;
mod forceps;
mod near;
mod needle;
mod record;
mod rod;
mod scissors;

pub use carrier::{Carrier, ToolBox};
pub use forceps::{Forceps, ForcepsParts};
pub use needle::{Needle, NeedleParts, Stick, Touched};
pub use record::{ForcepsRecord, NeedleRecord};
pub use rod::{Rod, RodParts, Sampling};
pub use scissors::{Blades, Scissors, Stroke};

use glam::DVec3;
use trocar_math::Pose;

/// The way of a tool through a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Travel {
    /// Where it comes from.
    pub from: Pose,
    /// Where it goes.
    pub to: Pose,
    /// Time it takes, s.
    pub dt: f64,
}

impl Travel {
    /// A tool that stands still for `dt` seconds.
    pub fn still(at: Pose, dt: f64) -> Self {
        Self {
            from: at,
            to: at,
            dt,
        }
    }

    /// Where it is after a part (0 to 1) of the time.
    pub fn at(&self, part: f64) -> Pose {
        self.from.interpolate(&self.to, part)
    }
}

/// What a tool feels: the sum of what the membrane does to it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reaction {
    /// N.
    pub force: DVec3,
    /// About the origin of the tool's pose, N·m.
    pub torque: DVec3,
}

impl Reaction {
    /// Takes note that the tool pushes with `force` (N) at a point whose way from the origin of its pose is `arm` (m).
    fn take(&mut self, arm: DVec3, force: DVec3) {
        self.force -= force;
        self.torque -= arm.cross(force);
    }
}

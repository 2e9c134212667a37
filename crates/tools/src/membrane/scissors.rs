//! Scissors that cut a membrane and take nothing away (W80, M22).

use super::Travel;
use glam::DVec3;
use serde::{Deserialize, Serialize};
use trocar_dynamics::Nodes;
use trocar_math::{Pose, rotation};
use trocar_mesh::sheet::Refusal;
use trocar_soft::membrane::Membrane;

/// A blade that turns by more than this, rad, sweeps a surface of several strips.
const STRIP: f64 = 0.2;

/// Scissors, by the blade that moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scissors {
    /// Ends of the blade in the tool's frame, m.
    pub blade: [DVec3; 2],
}

impl Scissors {
    /// The triangles that the blade sweeps on its way, m.
    pub fn swept(&self, travel: &Travel) -> Vec<[DVec3; 3]> {
        let turn = travel.to.rotation * travel.from.rotation.conjugate();
        let angle = rotation::to_scaled_axis(turn).length();
        let strips = trocar_math::real::ceil(angle / STRIP).clamp(1.0, 64.0) as u32;
        let blade = |k: u32| {
            let pose = travel.at(f64::from(k) / f64::from(strips));
            self.blade.map(|p| pose.point(p))
        };
        (0..strips)
            .flat_map(|k| {
                let ([a, b], [c, d]) = (blade(k), blade(k + 1));
                [[a, b, d], [a, d, c]]
            })
            // A blade that turns about its own end sweeps no second triangle.
            .filter(|[a, b, c]| (*b - *a).cross(*c - *a) != DVec3::ZERO)
            .collect()
    }

    /// Cuts the membrane where the blade goes through it; how many edges were opened. [`Membrane::event`] says what became of the
    /// sheet, for tools that hold it.
    pub fn cut(
        &self,
        membrane: &mut Membrane,
        nodes: &mut Nodes,
        travel: &Travel,
    ) -> Result<usize, Refusal> {
        membrane.cut(nodes, &self.swept(travel))
    }
}

/// Blades that close by less than this, rad, cut nothing: a hand trembles.
const LEAST_CLOSING: f64 = 0.05;

/// A bite is this many edges of the sheet long: a cut within one triangle is too small to be made.
const BITE: f64 = 1.5;

/// The next bite begins so many edges before the end of the last: the sheet has moved since.
const OVERLAP: f64 = 0.5;

/// A stroke of scissors whose two blades turn about a hinge: closing, they cut what is between them, from the hinge towards their tips.
///
/// Where blades cross, they are past each other; that point goes from hinge to tips while they close from how far they were open. What lies
/// between them there is cut in the plane in which they move, in bites.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stroke {
    /// Angle between the blades when they began to close, rad.
    pub open: f64,
    /// The same now.
    pub jaw: f64,
    /// Where the last bite ended: pose of the shaft, and the way along the blades, m. None before the first.
    pub bitten: Option<(Pose, f64)>,
}

/// Where the blades of scissors are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blades {
    /// The shaft before and now: z along it, the blades turn about x at its origin.
    pub shaft: [Pose; 2],
    /// Angle between the blades now, rad, and when they are shut.
    pub jaw: f64,
    /// rad.
    pub shut: f64,
    /// Length of a blade, m.
    pub length: f64,
}

impl Stroke {
    /// Blades that stand open at an angle (rad).
    pub fn at(jaw: f64) -> Self {
        Self {
            open: jaw,
            jaw,
            bitten: None,
        }
    }

    /// Follows the blades through a frame: the surface along which they cut in it, m, if a bite is due. `edge` is the mean length of the sheet's edges, m.
    pub fn follow(&mut self, blades: &Blades, edge: f64) -> Option<[[DVec3; 3]; 2]> {
        let Blades {
            shaft: [before, now],
            jaw,
            shut,
            length,
        } = *blades;
        let was = std::mem::replace(&mut self.jaw, jaw);
        if jaw > was {
            *self = Self::at(jaw);
        }
        let way = self.open - shut;
        // Also true for what is no number.
        if !(jaw < was && way > LEAST_CLOSING) {
            return None;
        }
        let (from, bitten) = *self.bitten.get_or_insert((before, 0.0));
        let reached = length * ((self.open - jaw) / way).clamp(0.0, 1.0);
        let is_shut = jaw <= shut;
        if reached - bitten < BITE * edge && !is_shut {
            return None;
        }
        self.bitten = Some((now, reached));
        let angle = 0.5 * self.open;
        let point = |pose: &Pose, sign: f64, way: f64| {
            pose.point(rotation::from_axis_angle(DVec3::X, sign * angle) * DVec3::Z * way)
        };
        let start = (bitten - OVERLAP * edge).max(0.0);
        let [a, b] = [-1.0, 1.0].map(|sign| point(&from, sign, start));
        let [c, d] = [-1.0, 1.0].map(|sign| point(&now, sign, reached));
        Some([[a, b, d], [a, d, c]])
    }

    /// Whether a record of it is sound, wherever it came from.
    pub fn is_sound(&self) -> bool {
        let angle = |x: f64| (0.0..=7.0).contains(&x);
        angle(self.open)
            && angle(self.jaw)
            && self.bitten.is_none_or(|(pose, way)| {
                pose.position.is_finite()
                    && (pose.rotation.length() - 1.0).abs() < 1e-6
                    && way >= 0.0
                    && way.is_finite()
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trocar_mesh::primitive::HexagonalShape;
    use trocar_mesh::sheet::Sheet;
    use trocar_soft::membrane::{Material, MembraneParts};

    #[test]
    fn a_stroke_cuts_between_the_blades_bite_by_bite_and_loses_nothing() {
        let sheet = Sheet::new(&HexagonalShape::STANDARD.surface().unwrap()).unwrap();
        let material = Material::Springs {
            stiffness: 100.0,
            mass: 1e-4,
        };
        let mut membrane = Membrane::new(MembraneParts::new(sheet, material)).unwrap();
        let mut nodes = membrane.rest();
        let area = membrane.sheet().rest_area();
        // Along x, from beyond the left rim; the blades open up and down.
        let turn = rotation::from_z_axis(DVec3::X, DVec3::Y);
        let shaft = Pose::new(DVec3::new(-0.5e-3, 4.4e-3, 0.05e-3), turn);
        let mut stroke = Stroke::at(0.8);
        let (mut bites, mut opened) = (0, 0);
        let mut jaw = 0.8;
        while jaw > 0.0 {
            jaw = f64::max(jaw - 0.02, 0.0);
            let blades = Blades {
                shaft: [shaft; 2],
                jaw,
                shut: 0.0,
                length: 4e-3,
            };
            if let Some(surface) = stroke.follow(&blades, 0.5e-3) {
                bites += 1;
                opened += membrane.cut(&mut nodes, &surface).unwrap();
            }
        }
        let sheet = membrane.sheet();
        assert!((4..=6).contains(&bites), "{bites}");
        assert!(opened >= 7, "{opened}");
        assert!((sheet.rest_area() - area).abs() < 1e-12 * area);
        assert_eq!((sheet.check(), sheet.pieces()), (Ok(()), 1));
        // Shut, they cut nothing; nor do they while they open.
        let still = |jaw: f64| Blades {
            shaft: [shaft; 2],
            jaw,
            shut: 0.0,
            length: 4e-3,
        };
        assert_eq!(stroke.follow(&still(0.0), 0.5e-3), None);
        assert_eq!(stroke.follow(&still(0.4), 0.5e-3), None);
        assert_eq!((stroke.open, stroke.bitten), (0.4, None));
        assert_eq!(stroke.follow(&still(f64::NAN), 0.5e-3), None);
        assert!(!stroke.is_sound());
    }
}

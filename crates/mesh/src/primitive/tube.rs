//! Tubes: the pipe (K73), open at both ends, and the organ (K72), closed by poles.

use std::f64::consts::PI;
use std::ops::Range;

use glam::{DQuat, DVec3};

use super::curve::Curve;
use super::frame::{Frame, carry};
use super::lattice::{Lattice, LatticeEdge};
use super::profile::Profile;
use super::shape::{MAX_NODES, ShapeError, all_usable};
use crate::surface::Surface;

/// What a tube should look like: rings of nodes around a smooth centre line.
#[derive(Debug, Clone, PartialEq)]
pub struct TubeShape {
    /// Points the centre line goes through, m; two or more, neighbours in different places. Two give a straight line.
    pub path: Vec<DVec3>,
    /// Half width (across `up`) and half height (along `up`) at each path point, m, above 0; or one pair for all. Between
    /// the points they change smoothly, without overshoot.
    pub radii: Vec<[f64; 2]>,
    /// Which way is up at the start of the path. Need not be a unit vector nor orthogonal to the path; if it is parallel
    /// to it, another axis is taken.
    pub up: DVec3,
    /// How many rings, 2 or more.
    pub rings: usize,
    /// How many nodes in each ring, 3 or more.
    pub around: usize,
}

/// A tube that has been built. Node (ring, column) is vertex `ring * around + column`; column 0 lies on the side of the
/// frame's x axis, and columns go counter-clockwise about its z axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Tube {
    /// Its surface, facing outwards.
    pub surface: Surface,
    /// How many rings.
    pub rings: usize,
    /// How many nodes in each ring.
    pub around: usize,
    /// Whether poles close it: vertex `rings * around` at the start of the path and the one after it at the end.
    pub capped: bool,
    /// The centre of each ring, m.
    pub centres: Vec<DVec3>,
    /// The orientation of each ring: z along the path, y up, x across.
    pub frames: Vec<DQuat>,
    /// Kept apart from the counts above, which anyone may overwrite.
    lattice: Lattice,
}

impl Tube {
    /// The vertices of `ring`, from 0 to `rings` − 1.
    pub fn ring(&self, ring: usize) -> Range<u32> {
        let start = ring.saturating_mul(self.around) as u32;
        start..start.saturating_add(self.around as u32)
    }

    /// How its nodes hang together.
    pub fn lattice(&self) -> Lattice {
        self.lattice
    }

    /// Where its springs go: every edge of net C, with what it runs along.
    pub fn lattice_edges(&self) -> Vec<LatticeEdge> {
        self.lattice.edges()
    }
}

impl TubeShape {
    /// A tube open at both ends, its rings equally spaced along the path, the first and the last at its ends.
    pub fn pipe(&self) -> Result<Tube, ShapeError> {
        self.build(false, |fraction| (fraction, 1.0), 0)
    }

    /// A tube closed by a pole at each end of the path.
    ///
    /// Ring r stands at s = L(1 − cos θ)/2 and is sin θ times the given radius, θ = π(r+1)/(rings+1): a straight path
    /// of length 2R with constant radius R gives a sphere.
    pub fn organ(&self) -> Result<Tube, ShapeError> {
        self.build(
            true,
            |fraction| {
                (
                    0.5 * (1.0 - libm::cos(PI * fraction)),
                    libm::sin(PI * fraction),
                )
            },
            1,
        )
    }

    /// `station` gives place on the path (part of its length) and scale of the radius, for a fraction from 0 to 1 of the
    /// way through the rings; `margin` is how many ring distances are left free at each end for the poles.
    fn build(
        &self,
        capped: bool,
        station: impl Fn(f64) -> (f64, f64),
        margin: usize,
    ) -> Result<Tube, ShapeError> {
        let lattice = Lattice::tube(self.rings, self.around, capped)?;
        self.check()?;
        let curve = Curve::through(&self.path);
        let gaps = (self.rings - 1 + 2 * margin) as f64;
        let stations: Vec<(f64, f64)> = (0..self.rings)
            .map(|ring| station((ring + margin) as f64 / gaps))
            .map(|(part, scale)| (part * curve.length(), scale))
            .collect();
        let places: Vec<f64> = stations.iter().map(|s| s.0).collect();
        let frames = carry(&curve, self.up, &places);
        let [width, height] = [0, 1].map(|axis| self.profile(&curve, axis));

        let mut positions = Vec::with_capacity(lattice.node_count());
        for (frame, (s, scale)) in frames.iter().zip(&stations) {
            let (width, height) = (scale * width.value(*s), scale * height.value(*s));
            positions.extend((0..self.around).map(|column| {
                let (sin, cos) = libm::sincos(2.0 * PI * column as f64 / self.around as f64);
                frame.centre + width * cos * frame.axes.x_axis + height * sin * frame.axes.y_axis
            }));
        }
        self.refuse_folds(&positions, &frames)?;
        if capped {
            positions.extend([curve.at(0.0).0, curve.at(curve.length()).0]);
        }
        Ok(Tube {
            surface: Surface {
                positions,
                triangles: lattice.triangles(),
            },
            rings: self.rings,
            around: self.around,
            capped,
            centres: frames.iter().map(|f| f.centre).collect(),
            frames: frames.iter().map(Frame::rotation).collect(),
            lattice,
        })
    }

    fn check(&self) -> Result<(), ShapeError> {
        if !(2..=MAX_NODES).contains(&self.path.len()) {
            return Err(ShapeError::PathLength {
                count: self.path.len(),
            });
        }
        all_usable("path point", &self.path)?;
        all_usable("up", &[self.up])?;
        // Points a part in 1e12 of their coordinates apart are the same point, but for rounding.
        let near = |w: &[DVec3]| {
            w[0].distance(w[1]) <= 1e-12 * w[0].length().max(w[1].length()) || w[0] == w[1]
        };
        if let Some(first) = self.path.windows(2).position(near) {
            return Err(ShapeError::PathStandsStill { first });
        }
        if self.radii.len() != 1 && self.radii.len() != self.path.len() {
            return Err(ShapeError::RadiusCount {
                radii: self.radii.len(),
                points: self.path.len(),
            });
        }
        let good = |r: f64| r > 0.0 && r <= crate::MAX_COORDINATE;
        match self.radii.iter().position(|r| !r.iter().all(|&r| good(r))) {
            Some(index) => Err(ShapeError::BadRadius {
                index,
                radius: self.radii[index],
            }),
            None => Ok(()),
        }
    }

    fn profile(&self, curve: &Curve, axis: usize) -> Profile {
        let at = if self.radii.len() == 1 {
            vec![0.0]
        } else {
            curve.places()
        };
        Profile::new(at, self.radii.iter().map(|r| r[axis]).collect())
    }

    /// Every node must lie further along the path than the one before it in its column, or the skin runs backwards.
    fn refuse_folds(&self, positions: &[DVec3], frames: &[Frame]) -> Result<(), ShapeError> {
        for (ring, pair) in frames.windows(2).enumerate() {
            let forward = pair[0].axes.z_axis + pair[1].axes.z_axis;
            let [here, next] =
                [ring, ring + 1].map(|r| &positions[r * self.around..(r + 1) * self.around]);
            if here
                .iter()
                .zip(next)
                .any(|(a, b)| (b - a).dot(forward) <= 0.0)
            {
                return Err(ShapeError::Folded { ring });
            }
        }
        Ok(())
    }
}

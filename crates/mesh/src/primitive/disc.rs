//! A round sheet, flat or bulging: the capsule of a lens, a layer on the back of the eye.

use glam::DVec3;
use trocar_math::real;

use super::shape::{MAX_NODES, ShapeError, all_usable, at_least};
use crate::surface::Surface;

/// A round sheet of rings of nodes about its middle, six more in each than in the one within: triangles are nearly equilateral everywhere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DiscShape {
    /// From the middle to the rim along the sheet, m.
    pub radius: f64,
    /// Rings of nodes around the one in the middle, 1 or more.
    pub rings: usize,
    /// Radius of the sphere it is a part of, m, at least `radius` / π; none if it is flat.
    pub bulge: Option<f64>,
}

impl DiscShape {
    /// The sheet, facing +z, from the middle outwards. Flat, it lies in the plane z = 0 about the origin; bulging, on the sphere about the origin
    /// with its middle at +z.
    pub fn surface(&self) -> Result<Surface, ShapeError> {
        let Self {
            radius,
            rings,
            bulge,
        } = *self;
        at_least("rings", rings, 1)?;
        if rings > MAX_NODES || 1 + 3 * rings * (rings + 1) > MAX_NODES {
            let (rows, columns) = (rings, rings.saturating_mul(6));
            return Err(ShapeError::TooManyNodes { rows, columns });
        }
        let sphere = bulge.unwrap_or(f64::INFINITY);
        all_usable("radius", &[DVec3::splat(radius)])?;
        // A whole sphere would close upon itself.
        let widest = 2.9 * sphere;
        if radius.is_nan() || radius <= 0.0 || sphere.is_nan() || radius > widest {
            return Err(ShapeError::NoDisc { radius, sphere });
        }
        let mut surface = Surface::default();
        for ring in 0..=rings {
            let along = radius * ring as f64 / rings as f64;
            let (out, height) = match bulge {
                Some(bulge) => (
                    bulge * real::sin(along / bulge),
                    bulge * real::cos(along / bulge),
                ),
                None => (along, 0.0),
            };
            let count = (6 * ring).max(1);
            surface.positions.extend((0..count).map(|k| {
                let turn = std::f64::consts::TAU * k as f64 / count as f64;
                DVec3::new(out * real::cos(turn), out * real::sin(turn), height)
            }));
        }
        // First node of a ring.
        let first = |ring: usize| {
            if ring == 0 {
                0
            } else {
                1 + 3 * ring * (ring - 1)
            }
        };
        for ring in 1..=rings {
            let (inner, outer) = ((6 * (ring - 1)).max(1), 6 * ring);
            let within = |k: usize| (first(ring - 1) + k % inner) as u32;
            let without = |k: usize| (first(ring) + k % outer) as u32;
            for sector in 0..6 {
                for k in 0..ring {
                    let (a, b) = (sector * (ring - 1) + k, sector * ring + k);
                    surface
                        .triangles
                        .push([within(a), without(b), without(b + 1)]);
                    if k + 1 < ring {
                        surface
                            .triangles
                            .push([within(a), without(b + 1), within(a + 1)]);
                    }
                }
            }
        }
        Ok(surface)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disc_is_one_round_sheet_that_faces_up() {
        for bulge in [None, Some(6e-3)] {
            let disc = DiscShape {
                radius: 5e-3,
                rings: 10,
                bulge,
            };
            let surface = disc.surface().unwrap();
            let topology = surface.topology();
            assert_eq!((topology.vertices, topology.triangles), (331, 600));
            assert_eq!((topology.boundary_edges, topology.euler()), (60, 1));
            assert!(topology.is_manifold() && topology.is_oriented());
            let normals = surface.normals();
            assert!(normals[0].z > 0.999, "{}", normals[0]);
            let rim = surface.positions[330];
            let (out, height) = (rim.truncate().length(), rim.z);
            match bulge {
                None => {
                    assert!((out - 5e-3).abs() < 1e-12 && height == 0.0);
                    assert!(normals.iter().all(|n| n.z > 0.999));
                }
                Some(bulge) => {
                    assert!((rim.length() - bulge).abs() < 1e-12);
                    // An arc of 5 mm on a sphere of 6 mm turns by 5/6 rad.
                    assert!((real::atan2(out, height) - 5.0 / 6.0).abs() < 1e-12);
                    let mut outwards = surface.positions.iter().zip(&normals);
                    assert!(outwards.all(|(p, n)| p.dot(*n) > 0.0));
                }
            }
        }
    }

    #[test]
    fn nonsense_is_refused() {
        let good = DiscShape {
            radius: 5e-3,
            rings: 10,
            bulge: None,
        };
        for bad in [
            DiscShape { rings: 0, ..good },
            DiscShape {
                radius: 0.0,
                ..good
            },
            DiscShape {
                radius: f64::NAN,
                ..good
            },
            DiscShape {
                bulge: Some(1e-3),
                ..good
            },
            DiscShape {
                bulge: Some(f64::NAN),
                ..good
            },
            DiscShape {
                rings: usize::MAX,
                ..good
            },
        ] {
            assert!(bad.surface().is_err(), "{bad:?}");
        }
    }
}
